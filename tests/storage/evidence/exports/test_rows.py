import json
import re
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from itertools import chain
from pathlib import Path
from typing import Any

import pytest
from sqlalchemy import insert, update

from engine.bait_rule import FORECAST_RULE
from engine.judge import JUDGE_VERSION, ReplyCost, ReplyCosts
from storage.database import Database
from storage.errors import FilterError
from storage.evidence.exports import rows as exports
from storage.evidence.exports.columns import ColumnKind, timestamp_text
from storage.evidence.exports.rows import EXPORTS, ExportName, export_rows
from storage.filters import Filters, GamePhase
from storage.ledger.decisions import mark_confirmed, mark_dropped, mark_sent, mark_taken_back
from storage.ledger.events import record_event
from storage.ledger.judgements import store_judgements
from storage.ledger.outcomes import record_reply_time
from storage.records import GameResult, GameStatus, ReplyTime, TimeSource
from storage.tables.games import DecisionRow, ForecastRow, GameRow
from tests.storage.samples import (
    ARENA,
    FELL,
    OPTIMAL,
    commit_decision,
    decision,
    judge_replies,
    opened,
    settled,
)

SUNDAY = datetime(2026, 11, 29, 23, 30, 5, 999999, UTC)


async def exported(
    database: Database, what: ExportName, filters: Filters | None = None, **selected: Any
) -> list[dict[str, Any]]:
    export = EXPORTS[what]
    names = [column.name for column in export.columns]
    async with database.snapshot() as connection:
        selected = {"with_names": True, **selected}
        found = [some async for some in export_rows(connection, export, filters or Filters(), **selected)]
    return [dict(zip(names, row, strict=True)) for row in chain.from_iterable(found)]


async def test_a_game(database: Database) -> None:
    async with database.write() as session:
        stored = await opened(session, "one", our_rating=1500, opponent_rating=1700, at=SUNDAY)
        changes = {
            "state": GameStatus.FINISHED,
            "result": GameResult.DRAW,
            "ended_at": SUNDAY + timedelta(seconds=61.5),
            "moves": "f5 d6 c3",
            "end_reason": "draw",
            "rating_diff": 3,
            "selection": {"chances": {"trappy": 0.25}},
        }
        await session.execute(update(GameRow).where(GameRow.id == stored.id).values(**changes))
        await opened(session, "two", our_rating=None, opponent_rating=None, at=SUNDAY)
    first, second = await exported(database, ExportName.GAMES)
    assert first == {
        "game_id": 1,
        "site": "arena",
        "game": "othello",
        "player": "trappy",
        "opponent_id": 1,
        "opponent": "Anna",
        "is_program": 0,
        "opponent_rating": 1700,
        "account": "desdemona",
        "site_game_id": "one",
        "variant": "othello",
        "speed": "blitz",
        "rated": 1,
        "our_side": 0,
        "engine_version": "1",
        "trial": None,
        "chance": 0.25,
        "our_rating": 1500,
        "rating_band": "1600-1799",
        "state": "finished",
        "result": "draw",
        "points": 0.5,
        "expected": pytest.approx(0.2402530),
        "end_reason": "draw",
        "rating_diff": 3,
        "started_at": "2026-11-29 23:30:05",
        "ended_at": "2026-11-29 23:31:07",
        "day": "2026-11-29",
        "week": "2026-11-23",
        "month": "2026-11",
        "hour": 23,
        "duration_s": 61.5,
        "plies": 3,
        "baits_set": 0,
        "baits_taken": 0,
        "slips": None,
        "moves": "f5 d6 c3",
        "initial_position": None,
        "clock_initial_s": 180,
        "clock_increment_s": 2,
        "opponent_site_id": "anna",
        "strategy": "trappy",
        "probability": 0.25,
    }
    missing = {
        "initial_position",
        *("chance", "probability"),
        "our_rating",
        "opponent_rating",
        "expected",
        "points",
        "result",
        "ended_at",
    }
    missing |= {"trial", "end_reason", "rating_diff", "duration_s", "baits_set", "baits_taken", "slips"}
    assert {name for name, value in second.items() if value is None} == missing
    assert (second["rating_band"], second["plies"], second["state"]) == ("unrated", 0, "open")


async def baited(database: Database) -> tuple[int, int]:
    """A finished game with two moves of ours: the first has a bait, which is taken; keys of both."""
    async with database.write() as session:
        stored = await opened(session, "one", at=SUNDAY)
        first = await settled(session, stored.id, 0, decision(quality=100), FELL)
        second = await settled(session, stored.id, 2, decision(), replace(OPTIMAL, cost=1200, reply="d6"))
        for key, bait in ((first, "d6"), (second, None)):
            made = {"bait": bait, "bait_probability": 0.4, "bait_cost": 922} if bait else {}
            await session.execute(
                insert(ForecastRow).values(
                    **dict.fromkeys(("model_sha256", "prior"), ""),
                    **dict.fromkeys(("fall_uniform", "fall_expected", "bait_uniform", "bait_expected"), 0),
                    **made,
                    decision_id=key,
                    rule=1,
                    model_kind="looks",
                    model_name="looks 1",
                    error_uniform=0.5,
                    error_expected=0.25,
                    cost_uniform=500,
                    cost_expected=250,
                    confirm_depth=6,
                    is_taken=bait == "d6",
                    reply_probability=0.4,
                    at=SUNDAY,
                    record={},
                )
            )
        await record_reply_time(session, first, ReplyTime(2.5, TimeSource.SERVER))
        await session.execute(
            update(DecisionRow).values(created_at=SUNDAY, sent_at=SUNDAY + timedelta(seconds=0.25),
                                       confirmed_at=SUNDAY + timedelta(seconds=1.5))
        )  # fmt: skip
        await session.execute(update(GameRow).values(state=GameStatus.FINISHED))
    return first, second


async def test_decisions(database: Database) -> None:
    first, _ = await baited(database)
    found = await exported(database, ExportName.DECISIONS)
    assert len(found) == 2
    assert found[0] == {
        "decision_id": first,
        "game_id": 1,
        "ply": 0,
        "move": "f5",
        "state": "committed",
        "depth": 4,
        "nodes": 1234,
        "time_s": 0.25,
        "is_complete": 1,
        "is_decided": 0,
        "is_trap": 1,
        "trap_quality": pytest.approx(found[0]["trap_quality"]),
        "reply_count": 3,
        "at": "2026-11-29 23:30:05",
        "send_s": 0.25,
        "confirm_s": 1.25,
    }
    assert 0 < found[0]["trap_quality"] < 100


async def test_outcomes(database: Database) -> None:
    first, second = await baited(database)
    async with database.write() as session:
        await judge_replies(session, 1, {first: 1234}, JUDGE_VERSION - 1)
    assert {row["cost"] for row in await exported(database, ExportName.OUTCOMES)} == {None}
    async with database.write() as session:
        best = ReplyCost("f6", -40, 0, 12, is_solved=False)
        costs = ReplyCosts(JUDGE_VERSION, best, (ReplyCost("d6", -900, 1234, 12, is_solved=False),))
        await store_judgements(session, 1, {first: ("d6", costs)})
    found = await exported(database, ExportName.OUTCOMES)
    at = found[0].pop("at")
    assert re.fullmatch(r"\d{4}-\d\d-\d\d \d\d:\d\d:\d\d", at)
    assert found[0] == {
        "decision_id": first,
        "game_id": 1,
        "ply": 0,
        "kind": "fell",
        "reply": "d6",
        "fell_for_best": 1,
        "cost": 0.1234,
        "is_error": 1,
        "is_decided": 0,
        "reply_count": 3,
        "random_error": 0.5,
        "expected_error": 0.25,
        "random_cost": 0.05,
        "expected_cost": 0.025,
        "has_bait": 1,
        "is_bait_taken": 1,
        "probability": 0.4,
        "reply_time_s": 2.5,
        "is_trap": 1,
        "random_bait": 0.0,
        "expected_bait": 0.0,
        "random_fall": 0.0,
        "expected_fall": 0.0,
        "expected_optimal": None,
        "model": "looks 1",
        "is_current": 1,
        "is_forecast_current": int(FORECAST_RULE == 1),
        "best": "f6",
        "judge_version": JUDGE_VERSION,
    }
    assert {found[1][name] for name in ("cost", "is_error", "best", "judge_version")} == {None}
    assert (found[1]["decision_id"], found[1]["has_bait"]) == (second, 0)
    assert (found[1]["is_bait_taken"], found[1]["reply_time_s"]) == (0, None)


async def test_baits(database: Database) -> None:
    first, second = await baited(database)
    async with database.write() as session:
        await judge_replies(session, 1, {first: 1234})
    (found,) = await exported(database, ExportName.BAITS)
    assert found == {
        "decision_id": first,
        "game_id": 1,
        "ply": 0,
        "move": "f5",
        "bait": "d6",
        "probability": 0.4,
        "cost": 0.0922,
        "surprise": pytest.approx(0.4 * 0.0922),
        "model": "looks 1",
        "reply": "d6",
        "is_taken": 1,
        "reply_cost": 0.1234,
        "site": "arena",
        "game": "othello",
        "player": "trappy",
        "opponent_id": 1,
        "opponent": "Anna",
        "is_program": 0,
        "opponent_rating": 1600,
        "at": "2026-11-29 23:30:05",
        "expected": 0.0,
        "is_current": int(FORECAST_RULE == 1),
        "expected_loss": pytest.approx(0.4 * 0.0922),
        "strategy": "trappy",
    }
    async with database.write() as session:
        await session.execute(update(DecisionRow).where(DecisionRow.id == first).values(is_decided=True))
    assert await exported(database, ExportName.BAITS) == []
    assert second


async def test_what_a_game_adds_up_to(database: Database) -> None:
    first, second = await baited(database)
    (found,) = await exported(database, ExportName.GAMES)
    # By the rules of these samples; those of other versions count nowhere.
    async with database.write() as session:
        await session.execute(update(ForecastRow).values(rule=FORECAST_RULE))
    (found,) = await exported(database, ExportName.GAMES)
    assert (found["baits_set"], found["baits_taken"], found["slips"]) == (1, 1, None)
    async with database.write() as session:
        await judge_replies(session, 1)
    (found,) = await exported(database, ExportName.GAMES)
    assert (found["baits_set"], found["baits_taken"], found["slips"]) == (1, 1, 1)
    async with database.write() as session:
        await session.execute(update(DecisionRow).where(DecisionRow.id == second).values(is_decided=True))
        await session.execute(
            update(ForecastRow).where(ForecastRow.decision_id == first).values(is_taken=None)
        )
    (found,) = await exported(database, ExportName.GAMES)
    assert (found["baits_set"], found["baits_taken"], found["slips"]) == (1, 0, 1)


async def test_replies(database: Database) -> None:
    first, _ = await baited(database)
    found = [row for row in await exported(database, ExportName.REPLIES) if row["decision_id"] == first]
    keys = {"decision_id": first, "game_id": 1, "ply": 0}
    names = ("reply", "is_played", "first_centi", "glance_centi", "final_centi", "cost_centi", "rank_first")
    rows = [
        ("f6", 0, -50, -60, -100, 0, 3),
        ("d6", 1, 300, 250, -400, 300, 1),
        ("f4", 0, 0, -50, -200, 100, 2),
    ]
    assert found == [
        {**keys, **dict(zip(names, row, strict=True)), "rank_final": rank, "shallow_centi": row[3]}
        for row, rank in zip(rows, (1, 3, 2), strict=True)
    ]


async def test_equal_replies_have_one_rank(database: Database) -> None:
    async with database.write() as session:
        stored = await opened(session)
        key = await commit_decision(session, stored.id, 0, decision())
        same = [["f6", 1, 2, 30], ["d6", 1, 2, 30], ["f4", 5, 2, 40]]
        await session.execute(update(DecisionRow).where(DecisionRow.id == key).values(replies=same))
    found = await exported(database, ExportName.REPLIES)
    assert [(row["rank_first"], row["rank_final"]) for row in found] == [(1, 1), (1, 1), (3, 3)]


async def test_moves_that_count_nowhere_are_in_none(database: Database) -> None:
    async with database.write() as session:
        stored = await opened(session)
        await settled(session, stored.id, 0, decision(), FELL)
        await mark_taken_back(session, stored.id, 0)
        dropped = await settled(session, stored.id, 2, decision(), None)
        await mark_dropped(session, dropped)
        sent = await settled(session, stored.id, 4, decision(complete=False), None)
        await mark_sent(session, sent)
        await mark_confirmed(session, sent)
    assert [row["decision_id"] for row in await exported(database, ExportName.DECISIONS)] == [sent]
    assert await exported(database, ExportName.OUTCOMES) == []
    assert await exported(database, ExportName.REPLIES) == []


@pytest.mark.parametrize("what", ExportName)
async def test_games_are_selected(
    database: Database, what: ExportName, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(exports, "EXPORT_BATCH_ROWS", 2)
    await baited(database)
    async with database.write() as session:
        other = await opened(session, "two", site="lichess")
        await settled(session, other.id, 0, decision(quality=100), FELL)
        for game, site in ((1, "arena"), (other.id, "lichess")):
            await record_event(session, replace(ARENA, site=site), "alarm", {}, game_id=game)
    everything = await exported(database, what)
    on_arena = await exported(database, what, Filters(site="arena"))
    assert on_arena == [row for row in everything if row["game_id"] == 1]
    assert on_arena
    assert await exported(database, what, only_games={1}) == on_arena
    assert await exported(database, what, without_games={1}) == [
        row for row in everything if row not in on_arena
    ]
    assert await exported(database, what, only_games=set()) == []
    key = {ExportName.GAMES: "game_id", ExportName.EVENTS: "event_id"}.get(what, "decision_id")
    assert [row[key] for row in everything] == sorted(row[key] for row in everything)


async def test_batches_follow_each_other(database: Database, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(exports, "EXPORT_BATCH_ROWS", 2)
    async with database.write() as session:
        stored = await opened(session)
        for ply in range(5):
            await commit_decision(session, stored.id, 2 * ply, decision())
    async with database.snapshot() as connection:
        found = export_rows(connection, EXPORTS[ExportName.DECISIONS], Filters())
        assert [len(some) async for some in found] == [2, 2, 1]


async def test_what_is_written_meanwhile_is_not_in_it(
    database: Database, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(exports, "EXPORT_BATCH_ROWS", 1)
    async with database.write() as session:
        stored = await opened(session)
        for ply in range(4):
            await commit_decision(session, stored.id, ply, decision())
    seen = 0
    async with database.snapshot() as connection:
        async for some in export_rows(connection, EXPORTS[ExportName.DECISIONS], Filters()):
            seen += len(some)
            async with database.write() as session:
                await commit_decision(session, stored.id, 10 + seen, decision())
                await session.execute(update(DecisionRow).values(move="a1"))
            assert some[0][3] == "f5"
    assert seen == 4


def test_half_a_character_stays_an_escape() -> None:
    """A site may send it, in the reason of an event for instance; no format could write it."""
    told = {"reason": "\ud800 \u00e9"}
    event = (9, None, 9, SUNDAY, "arena", "desdemona", "declined", None, told)
    ((*_, detail),) = EXPORTS[ExportName.EVENTS].rows(event)
    assert detail == '{"reason": "\\ud800 \u00e9"}'
    assert json.loads(str(detail)) == told


async def test_what_selected_a_game_may_be_anything(database: Database) -> None:
    async with database.write() as session:
        await opened(session, selection={"chances": [1]})
        await opened(session, "two", selection={"chances": {"trappy": None}})
    assert [row["chance"] for row in await exported(database, ExportName.GAMES)] == [None, None]


def test_columns_are_told_and_named_once() -> None:
    for export in EXPORTS.values():
        names = [column.name for column in export.columns]
        assert len(set(names)) == len(names)
        assert all(column.about and column.kind in ColumnKind for column in export.columns)


def test_timestamps() -> None:
    assert timestamp_text(datetime.fromisoformat("2026-11-30T01:00:00+02:00")) == "2026-11-29 23:00:00"
    assert timestamp_text(None) is None


def test_every_column_is_in_the_docs() -> None:
    page = Path("docs/formats.md").read_text()
    for what, export in EXPORTS.items():
        section = page.partition(f"### `{what}`\n")[2].partition("\n##")[0]
        listed = [line for line in section.splitlines() if line.startswith("| `")]
        assert listed == [f"| `{each.name}` | {each.kind} | {each.about} |" for each in export.columns]


async def test_a_phase_selects_moves_by_their_replies(database: Database) -> None:
    async with database.write() as session:
        game = await opened(session, "one")
        for ply in (18, 19, 38, 39):
            await settled(session, game.id, ply, decision(), OPTIMAL)
    second = Filters(phase=GamePhase(1), game="othello")
    for what in (ExportName.DECISIONS, ExportName.OUTCOMES, ExportName.RECORDS):
        assert [row["decision_id"] for row in await exported(database, what, second)] == [2, 3]
    assert {row["ply"] for row in await exported(database, ExportName.REPLIES, second)} == {19, 38}
    assert await exported(database, ExportName.BAITS, second) == []
    for what in (ExportName.GAMES, ExportName.EVENTS):
        with pytest.raises(FilterError, match="phase: selects moves"):
            await exported(database, what, second)


async def test_people_are_named_only_on_request(database: Database) -> None:
    async with database.write() as session:
        person = await opened(session, "one")
        await opened(session, "two", opponent_id="engine", opponent_name="Engine", opponent_is_bot=True)
        detail = {"challenge": "x", "challenger": "anna", "why": "late"}
        await record_event(session, ARENA, "challenge_queued", detail, person.id)
    games = await exported(database, ExportName.GAMES, with_names=False)
    assert [(each["opponent_id"], each["opponent"], each["opponent_site_id"]) for each in games] == [
        (1, None, None),
        (2, "Engine", "engine"),
    ]
    (event,) = await exported(database, ExportName.EVENTS, with_names=False)
    assert json.loads(event["detail"]) == {"challenge": "x", "why": "late"}
    (event,) = await exported(database, ExportName.EVENTS)
    assert json.loads(event["detail"]) == detail
