import json

from storage.database import Database
from storage.decisions import commit_decision
from storage.games import finish_game, set_moves
from storage.outcomes import record_outcome
from storage.records import GameResult
from storage.report import game_report
from tests.storage.samples import FELL, decision, opened


async def test_there_is_none_of_an_unknown_game(database: Database) -> None:
    async with database.read() as session:
        assert await game_report(session, "arena", "nothing") is None


async def test_a_game_is_told_move_by_move(database: Database) -> None:
    async with database.write() as session:
        game = await opened(session)
        decision_id = await commit_decision(session, game.id, 0, decision(quality=225.0))
        await record_outcome(session, decision_id, FELL)
        await finish_game(
            session, game.id, result=GameResult.WIN, end_reason="normal", moves=["f5", "d6", "c3"]
        )
        report = await game_report(session, "arena", "game0001")
    assert report is not None
    (told,) = report.decisions
    assert (told.number, told.move, told.squares, told.depth) == (1, "f5", ("f5",), 4)
    assert told.rows_before[3:5] == ("...wb...", "...bw...")
    assert told.rows_after[3:5] == ("...wb...", "...bbb..")
    assert (told.standard.move, told.standard.raw_text) == ("e6", "+1.10")
    assert (told.chosen.raw_text, told.chosen.adjusted_text) == ("+1.00", "+1.25")
    assert [(c.move, c.raw_is_bound) for c in told.candidates] == [
        ("d3", True), ("c4", True), ("f5", False), ("e6", False)
    ]  # fmt: skip
    assert told.trap is not None
    assert (told.is_trap, told.trap.reply, told.trap.quality_text) == (True, "d6", "2.25")
    assert (told.reply, told.outcome, told.fell_for_best) == ("d6", "fell", True)
    assert (told.cost_centi, told.cost_text) == (300, "3.00")
    best, bait, _ = told.replies
    assert (bait.reply, bait.their_text, bait.our_text) == ("d6", "-4.00", "+4.00")
    # It looked best to the opponent after two plies, where our score was -300.
    assert (bait.glance_text, bait.glance_plies) == ("+3.00", 2)
    assert best.quality_centi == 0
    assert bait.quality_centi > 0


async def test_it_is_plain_json(database: Database) -> None:
    async with database.write() as session:
        game = await opened(session)
        await commit_decision(session, game.id, 0, decision(quality=225.0))
        report = await game_report(session, "arena", "game0001")
    assert report is not None
    told = json.loads(json.dumps(report.to_json()))
    assert (told["site_game_id"], told["player"], told["sides"]) == ("game0001", "trappy", ["black", "white"])
    assert told["params"]["assessment"] == "median"
    assert told["started_at"].endswith("+00:00")
    assert told["ended_at"] is None
    assert told["decisions"][0]["trap"]["reply"] == "d6"
    assert told["decisions"][0]["outcome"] is None


async def test_a_profile_that_is_not_there_yet(database: Database) -> None:
    async with database.write() as session:
        game = await opened(session)
        await commit_decision(session, game.id, 0, decision(complete=False))
        await set_moves(session, game.id, ["f5", "f6"])
        report = await game_report(session, "arena", "game0001")
    assert report is not None
    (told,) = report.decisions
    assert (told.is_complete, told.is_trap, told.outcome, told.reply) == (False, None, None, "f6")
