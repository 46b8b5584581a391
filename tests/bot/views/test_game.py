import csv
import io
import json
import re

import pytest
from sqlalchemy import LargeBinary, select, type_coerce, update

from bot.base.rounding import percent
from bot.parts.values import Heading
from bot.text.trap_report import game_report
from bot.views.game_decisions import report_parts
from storage.database import Database
from storage.ledger.decisions import list_decisions
from storage.ledger.exploit_facts import exploit_facts
from storage.ledger.forecasts import forecasts_of_game
from storage.ledger.games import finish_game, load_game, load_game_by_id, set_moves
from storage.ledger.persons import forget_person
from storage.records import GameResult
from storage.tables.games import DecisionRow, ForecastRow, GameRow
from tests.bot.dashboard.samples import met_bait
from tests.bot.tempted import lost_game, plain_game
from tests.bot.views.conftest import Visitor, without_old_keys
from tests.storage.ledger.test_exploit_facts import WEIGHED
from tests.storage.samples import ARENA, FELL, commit_decision, decision, drawn_decision, opened, settled


async def test_the_story_is_the_report_of_the_game(database: Database, visitor: Visitor) -> None:
    async with database.write() as session:
        game = await met_bait(session, "one", "d7d5", opponent="Anna")
    async with database.read() as session:
        stored = await load_game_by_id(session, game.id)
        assert stored is not None
        whole = json.loads(json.dumps((await game_report(session, stored)).to_json(), default=str))
    told = await visitor.json(f"/dash/api/game/{game.id}")
    assert told["decision"] == without_old_keys(whole["decisions"][0])
    assert told["names"] == whole["names"]
    assert told["verdict"]["kind"] == "fell"
    page = await visitor.text(f"/dash/games/{game.id}")
    for part in (
        "Anna took the bait",
        "A trap: one player in three plays d5 here.",
        "our move 1 of 1",
        'class="arrow-bait"',
        "a model of people (club players)",
        "Our legal moves",
        "Scores of the replies by depth",
    ):  # fmt: skip
        assert part in page, part


async def test_every_reply_is_in_the_table(database: Database, visitor: Visitor) -> None:
    async with database.write() as session:
        game = await met_bait(session, "one", "a7a6")
    async with database.read() as session:
        (made,) = await list_decisions(session, game.id)
        (forecast,) = (await forecasts_of_game(session, game.id)).values()
    rows = list(
        csv.DictReader(io.StringIO(await visitor.text(f"/dash/api/game/{game.id}.csv?table=replies")))
    )
    finals = {reply.reply: reply.final_centi for reply in made.decision.chosen.replies}
    assert [row["reply"] for row in rows] == sorted(finals, key=lambda each: finals[each])
    for row in rows:
        assert float(row["probability"]) == forecast.probability_of(row["reply"])
        assert row["is_bait"] == str(forecast.takes_bait(row["reply"]))
        assert row["is_played"] == str(row["reply"] == "a7a6")
        # A spreadsheet must not take a score for a formula, so it has an apostrophe.
        shown = row["at_full_depth"].removeprefix("'")
        assert float(shown) == pytest.approx(-finals[row["reply"]] / 100)


async def _othello(database: Database) -> int:
    """A game of three moves of ours: 1 f5 d6 2 c3 f4 3 f6."""
    async with database.write() as session:
        game = await opened(session)
        await settled(session, game.id, 0, decision(quality=225.0), FELL)
        await settled(session, game.id, 2, decision(), None)
        moves = ["f5", "d6", "c3", "f4", "f6"]
        await finish_game(session, game.id, result=GameResult.LOSS, end_reason="resignation", moves=moves)
    return game.id


async def test_links_step_through_our_decisions(database: Database, visitor: Visitor) -> None:
    key = await _othello(database)
    first = await visitor.text(f"/dash/games/{key}?ply=0")
    assert f'rel="next" href="/dash/games/{key}?ply=2#moment"' in first
    assert 'rel="prev"' not in first
    second = await visitor.text(f"/dash/games/{key}?ply=2")
    assert f'rel="prev" href="/dash/games/{key}?ply=0#moment"' in second
    assert 'rel="next"' not in second
    for name in ("f5", "d6", "c3", "f4", "f6"):
        assert f">{name}" in second
    other = await visitor.text(f"/dash/games/{key}?ply=5")
    assert "We made no decision here" in other
    assert "after 5 moves" in other
    assert 'class="board large"' in other


async def test_it_opens_at_the_bait_that_was_taken(database: Database, visitor: Visitor) -> None:
    key = await _othello(database)
    assert (await visitor.json(f"/dash/api/game/{key}"))["ply"] == 0
    async with database.write() as session:
        game = await met_bait(session, "one")
        await session.execute(update(DecisionRow).where(DecisionRow.game_id == game.id).values(ply=1))
    assert (await visitor.json(f"/dash/api/game/{game.id}"))["ply"] == 1


async def test_a_draw_is_told(database: Database, visitor: Visitor) -> None:
    async with database.write() as session:
        game = await opened(session)
        await settled(session, game.id, 0, drawn_decision(trap=True), None)
    page = await visitor.text(f"/dash/games/{game.id}?ply=0")
    assert "A random draw decided between f7, which sets a trap" in page
    assert "drawn: f7." in page


async def test_a_slip_and_a_won_game_thrown_away(database: Database, visitor: Visitor) -> None:
    async with database.write() as session:
        slip = await plain_game(session, "d8f6")
        lost = await lost_game(session, "d7d5")
    page = await visitor.text(f"/dash/games/{slip.id}")
    assert "A slip" in page
    assert "There was no bait here. Qf6 cost" in page
    assert "<strong>1</strong> slip<" in page
    thrown = await visitor.text(f"/dash/games/{lost.id}")
    assert "A slip" in thrown
    assert "Anna could win by force here. d5 cost" in thrown
    assert "<strong>1</strong> slip<" in thrown


async def test_a_slip_that_left_a_bait_alone_has_both_marks(database: Database, visitor: Visitor) -> None:
    async with database.write() as session:
        game = await met_bait(session, "one", "g8f6")
    page = await visitor.text(f"/dash/games/{game.id}")
    marks = re.findall(r'<i class="dot dot-(\w+)"></i><span class="visually-hidden">, ([^<]+)<', page)
    assert marks == [("held", "bait left alone"), ("slip", "a slip")]


async def test_a_damaged_decision_leaves_the_others(database: Database, visitor: Visitor) -> None:
    key = await _othello(database)
    async with database.write() as session:
        unreadable = type_coerce(b"\x1b", LargeBinary)
        await session.execute(update(DecisionRow).where(DecisionRow.ply == 0).values(record=unreadable))
    page = await visitor.text(f"/dash/games/{key}?ply=0")
    assert "The record of this move is damaged" in page
    assert "db recheck" in page
    assert "The record of this move is damaged" not in await visitor.text(f"/dash/games/{key}?ply=2")
    assert "[Event " in await visitor.text(f"/dash/games/{key}/download?format=pgn")  # without it


async def test_a_damaged_forecast_is_named(database: Database, visitor: Visitor) -> None:
    async with database.write() as session:
        game = await met_bait(session, "one")
        await session.execute(update(ForecastRow).values(record={"rule": "none"}))
    assert "not the record of a forecast" in await visitor.text(f"/dash/games/{game.id}")


async def test_moves_against_the_rules_are_shown_as_recorded(database: Database, visitor: Visitor) -> None:
    key = await _othello(database)
    async with database.write() as session:
        await session.execute(update(GameRow).values(moves="f5 d6 a1 h8"))
    told = await visitor.json(f"/dash/api/game/{key}")
    assert told["names"] == ["f5", "d6", "a1", "h8"]
    assert told["damage"]
    assert "cannot be replayed to the end" in await visitor.text(f"/dash/games/{key}")


async def test_rules_that_nobody_knows(database: Database, visitor: Visitor) -> None:
    key = await _othello(database)
    async with database.write() as session:
        await session.execute(update(GameRow).values(game="hex"))
    page = await visitor.text(f"/dash/games/{key}?ply=1")
    assert "does not know the rules" in page
    assert "d6" in page


async def test_a_game_that_has_just_begun(database: Database, visitor: Visitor) -> None:
    async with database.write() as session:
        game = await opened(session)
    page = await visitor.text(f"/dash/games/{game.id}")
    assert "No decision of ours is recorded" in page
    assert "The game has just begun." in page
    assert "No move has been played yet." in page


async def test_the_trust_is_shown_with_its_reason(database: Database, visitor: Visitor) -> None:
    async with database.write() as session:
        game = await opened(session, strategy="exploit")
        await commit_decision(session, game.id, 0, WEIGHED)
        await set_moves(session, game.id, ("f5", "f6"))
        other = await opened(session, "plain", strategy="strong")
    says = "over 1 reply the moves fit good play better than the model of a person rated"
    told = await visitor.json(f"/dash/api/game/{game.id}")
    assert (told["trust"]["before"], told["trust"]["replies"]) == (0.5, 1)
    said = (
        f"rust {percent(told['trust']['after'])} (50 % before): {says} {game.opponent_rating}. "
        "Below 70 % the bot plays the best moves, whatever the model says."
    )
    assert f"T{said}" in await visitor.text(f"/dash/games/{game.id}")
    assert f"Othello: t{said}" in await visitor.text("/dash/opponent?site=arena&id=anna")
    assert "Trust" not in await visitor.text(f"/dash/games/{other.id}")
    async with database.read() as session:
        stored = await load_game_by_id(session, game.id)
        assert stored is not None
        report, facts = await game_report(session, stored), await exploit_facts(session, stored)
    (heading, *_) = report_parts(report, (), facts)  # as `desdemona show` prints it
    assert isinstance(heading, Heading)
    assert heading.lead == f"T{said}"
    async with database.write() as session:
        opponent = await session.scalar(select(GameRow.opponent_id).where(GameRow.id == game.id))
        assert opponent is not None
        await forget_person(session, opponent)
    page = await visitor.text("/dash/opponent?site=arena&id=anna")
    assert "Trust 50 %: nothing is known of this person yet." in page
    assert said not in page


@pytest.mark.parametrize("form", ["pgn", "ggf", "transcript"])
async def test_downloads_are_what_export_writes(database: Database, visitor: Visitor, form: str) -> None:
    key = await _othello(database)
    assert f"download?format={form}" in await visitor.text(f"/dash/games/{key}")
    written = await visitor.text(f"/dash/games/{key}/download?format={form}")
    assert "d6" in written.lower()
    headers = await visitor.headers(f"/dash/games/{key}/download?format={form}")
    ending = {"transcript": "txt"}.get(form, form)
    assert headers["Content-Disposition"] == f'attachment; filename="game-{key}.{ending}"'
    async with database.read() as session:
        stored = await load_game(session, ARENA, "game0001")
    assert stored is not None
    if form == "pgn":
        assert stored.opponent_name in written


async def test_a_format_that_cannot_say_it(database: Database, visitor: Visitor) -> None:
    async with database.write() as session:
        game = await met_bait(session, "one")
    page = await visitor.text(f"/dash/games/{game.id}")
    assert ("format=pgn" in page, "format=ggf" in page) == (True, False)
    assert "cannot express this game" in await visitor.text(f"/dash/games/{game.id}/download?format=ggf", 400)
    assert "known: pgn, ggf, transcript" in await visitor.text(
        f"/dash/games/{game.id}/download?format=x", 400
    )


@pytest.mark.parametrize(
    ("path", "status", "part"),
    [
        ("/dash/games/77", 404, "There is no game"),
        ("/dash/games/seven", 404, "There is no game"),
        ("/dash/games/99999999999999999999999", 404, "There is no game"),
        ("/dash/games/1?ply=-1", 400, "not a whole number"),
        ("/dash/games/1?ply=900", 400, "beyond the game"),
        ("/dash/games/1?game=chess", 400, "not a filter of this page"),
    ],
)
async def test_what_there_is_not_is_said(
    database: Database, visitor: Visitor, path: str, status: int, part: str
) -> None:
    await _othello(database)
    assert part in await visitor.text(path, status)
