"""The report for people who must not learn which player they met."""

import json
from dataclasses import replace
from typing import Any

import pytest

from bot.arena.blind_report import blind_report, plain_share
from bot.arena.referee import NotFound
from bot.arena.server import stored_report
from bot.text.trap_report import game_report
from engine.forecasts import own_costs
from storage.database import Database
from storage.ledger.decisions import list_decisions
from storage.ledger.games import finish_game, load_game, settle_game
from storage.ledger.judgements import store_judgements
from storage.ledger.outcomes import record_outcome
from storage.records import GameResult
from tests.bot.tempted import tempting_game
from tests.storage.samples import ARENA, FELL, commit_decision, decision, drawn_decision, opened

DRAWN = {"method": "balanced", "chances": {"standard": 0.4, "trappy": 0.6}, "number": "0" * 16}
PRIVATE = {
    *("strategy", "params", "engine_version", "selection", "trial_id", "sets_traps", "search_mode", "pick"),
    *("source", "model", "trouble", "depth", "time_s", "standard", "chosen", "scores_centi", "draw"),
    *("raw_centi", "adjusted_centi", "our_text", "value", "error_probability"),
}


async def written(database: Database, player: str = "trappy", *, ended: bool = True, **changes: Any) -> None:
    """A judged game with one trap, whose bait was taken."""
    new = {"selection": DRAWN, "strategy": player} | changes
    async with database.write() as session:
        game = await opened(session, **new)
        made = replace(decision(quality=225.0), strategy=player)
        key = await commit_decision(session, game.id, 0, made)
        await record_outcome(session, key, FELL)
        await store_judgements(session, game.id, {key: ("d6", own_costs(made, ["d6"]))})
        if ended:
            moves = ["f5", "d6", "c3"]
            await finish_game(session, game.id, result=GameResult.WIN, end_reason="normal", moves=moves)


def keys_of(value: Any) -> set[str]:
    match value:
        case dict():
            return set(value).union(*map(keys_of, value.values()))
        case list():
            return set().union(*map(keys_of, value))
    return set()


@pytest.mark.parametrize("player", ["standard", "trappy", "strong"])
async def test_it_shows_the_trap_whoever_set_it(database: Database, player: str) -> None:
    await written(database, player)
    told = await stored_report(database)("game0001")
    told = json.loads(json.dumps(told))
    assert told["blind"] is True
    assert not keys_of(told) & PRIVATE
    assert player not in json.dumps(told)
    (made,) = told["decisions"]
    assert (made["move"], made["is_trap"], made["trap"]["reply"]) == ("f5", True, "d6")
    assert (made["outcome"], made["reply"], made["cost_text"]) == ("fell", "d6", "3.00")
    assert [each["move"] for each in made["candidates"]] == ["c4", "d3", "e6", "f5"]
    assert [set(each) for each in made["candidates"]] == [{"move", "name", "squares"}] * 4
    # Best for the opponent first, whatever the order of the search.
    assert [each["reply"] for each in made["replies"]] == ["f6", "f4", "d6"]
    assert [each["final_centi"] for each in made["replies"]] == [100, 200, 400]
    assert made["replies"][2]["score_texts"] == ["+3.00", "+2.50", "-4.00"]
    # The judge is the same for all players.
    assert made["judged"] == made["replies"][2]["judged"]
    assert (made["judged"]["word"], made["judged"]["judge_depth"], made["best"]["reply"]) == (
        "small",
        4,
        "f6",
    )
    assert made["replies"][2]["shown_centi"] == [-300, -250, 400]
    assert made["forecast"] is None
    assert made["replies"][2]["probability"] is None


async def test_the_reports_of_all_players_are_the_same(database: Database) -> None:
    told = []
    for player in ("standard", "trappy"):
        await written(database, player, key=f"of_{player}")
        report = await stored_report(database)(f"of_{player}")
        assert report is not None
        told.append(report | {"site_game_id": ""})
    assert told[0] == told[1]
    assert told[0]["plain_share"] == 0.5


def test_the_share_of_games_without_traps() -> None:
    shares = {("standard", "trappy", "tempting"): 1 / 3, ("trappy", "tempting"): 0.0, (): 0.0}
    for players, share in shares.items():
        assert plain_share(players) == share


async def test_it_waits_until_the_game_is_settled(database: Database) -> None:
    await written(database, ended=False)
    assert await stored_report(database)("game0001") is None
    revealed = await stored_report(database, reveal=True)("game0001")
    assert revealed is not None
    assert revealed["strategy"] == "trappy"


@pytest.mark.parametrize(
    ("reveal", "selection", "is_blind"),
    [(False, DRAWN, True), (True, DRAWN, False), (False, {"method": "fixed"}, False)],
)
async def test_when_it_is_blind(
    database: Database, reveal: bool, selection: dict[str, Any], is_blind: bool
) -> None:
    await written(database, selection=selection)
    told = await stored_report(database, reveal=reveal)("game0001")
    assert told is not None
    assert ("blind" in told, "strategy" in told) == (is_blind, not is_blind)
    with pytest.raises(NotFound):  # not only not ready yet
        await stored_report(database, reveal=reveal)("unknown")


async def test_a_trap_too_small_to_count_is_not_mentioned(database: Database) -> None:
    async with database.write() as session:
        game = await opened(session)
        await commit_decision(session, game.id, 0, decision(quality=25.0))
        stored = await load_game(session, ARENA, "game0001")
        assert stored is not None
        assert [made.is_trap for made in await list_decisions(session, game.id)] == [False]
        told = blind_report(await game_report(session, stored))
    assert told["decisions"][0]["trap"] is None


async def test_how_a_bait_looks_is_told_at_two_and_three_plies(database: Database) -> None:
    async with database.write() as session:
        report = await game_report(session, await tempting_game(session))
    (open_report,) = report.to_json()["decisions"]
    (made,) = blind_report(report)["decisions"]
    assert {each["reply"]: each["shown_centi"] for each in made["replies"]} == {
        "e7e5": [10, 20, 30], "a7a6": [30, 40, 90], "d7d5": [-40, -30, 180], "g8f6": [30, 40, 190]
    }  # fmt: skip
    assert made["replies"][2]["score_texts"] == ["+0.40", "+0.30", "-1.80"]
    (bait,) = made["forecast"]["baits"]
    assert bait.items() >= {"reply": "d7d5", "probability": 0.3, "cost": 2399, "judge_depth": 5}.items()
    assert made["forecast"]["is_taken"]
    assert [each["probability"] for each in made["replies"]] == [0.35, 0.2, 0.3, 0.15]
    assert len(open_report["replies"][0]["score_texts"]) == 4


async def test_a_players_own_model_is_not_told(database: Database) -> None:
    """Without a forecast the probabilities are those of the player that chose the move."""
    async with database.write() as session:
        report = await game_report(session, await tempting_game(session))
    (made,) = report.decisions
    assert made.replies[0].probability == 0.35
    (told,) = blind_report(replace(report, decisions=(replace(made, forecast=None),)))["decisions"]
    assert {each["probability"] for each in told["replies"]} == {None}


async def test_replies_without_scores_have_no_looks(database: Database) -> None:
    async with database.write() as session:
        report = await game_report(session, await tempting_game(session))
    (made,) = report.decisions
    first, second, *_ = made.replies
    bound = replace(second, scores_centi=(), score_texts=())
    for replies in ((first, bound), (bound,)):
        (told,) = blind_report(replace(report, decisions=(replace(made, replies=replies),)))["decisions"]
        shown = {each["reply"]: len(each["score_texts"]) for each in told["replies"]}
        assert shown == {each.reply: 3 if each is first else 0 for each in replies}


DRAW_WORDS = ("draw", "seed", "search_mode", "chance", "randomised", "lot")


@pytest.mark.parametrize("trap", [True, False])
async def test_of_a_draw_between_two_moves_nothing_is_told_while_it_is_blind(
    database: Database, trap: bool
) -> None:
    made = drawn_decision(trap=trap)
    async with database.write() as session:
        selection = {"method": "fixed", "blind": True}
        game = await opened(
            session, strategy="randomised", selection=selection, initial_position=made.position, our_side=1
        )
        await commit_decision(session, game.id, 0, made)
        await finish_game(
            session, game.id, result=GameResult.WIN, end_reason="resign", moves=[made.move], settled=False
        )
    # How long it takes to judge the game may depend on the player.
    assert await stored_report(database)("game0001") is None
    async with database.write() as session:
        await settle_game(session, game.id)
    told = await stored_report(database)("game0001")
    assert told is not None
    assert told["blind"] is True
    assert not [word for word in DRAW_WORDS if f'"{word}"' in json.dumps(told)]
    (shown,) = told["decisions"]
    assert [set(each) for each in shown["candidates"]] == [{"move", "name", "squares"}] * len(made.candidates)
    revealed = await stored_report(database, reveal=True)("game0001")
    assert revealed is not None
    draw = revealed["decisions"][0]["draw"]
    assert (draw["trap"], draw["control"], draw["chance"]) == ("f7", "d3", 0.5)
    assert (draw["trap_value"], draw["control_value"]) == (6236, 6079)
    assert draw["other_name"] == ("d3" if trap else "f7")
    assert draw["seed"] == ("0" if trap else "f") * 16
