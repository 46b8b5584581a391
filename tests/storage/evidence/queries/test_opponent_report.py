"""One opponent: names, results, ratings, visits; and every number recomputed from an export."""

import random
from collections import Counter, defaultdict
from collections.abc import Sequence
from dataclasses import replace
from datetime import UTC, date, datetime, timedelta
from itertools import pairwise
from typing import Any

import pytest
from sqlalchemy import select, text, update

from storage.database import Database
from storage.evidence.exports.rows import What
from storage.evidence.inference.suspects import SuspectFlag
from storage.evidence.queries.opponent_report import (
    LastTerms,
    OpponentReport,
    Visit,
    find_opponents,
    get_opponent,
    opponent_report,
)
from storage.evidence.statistics.reply_progress import (
    BLOCK_GAMES,
    GameReplies,
    ProgressBlock,
    ReplyQuality,
    reply_quality,
)
from storage.evidence.statistics.suspect_rows import suspect_games
from storage.filters import Filters
from storage.ledger.blocks import add_block
from storage.ledger.events import OPPONENT_RENAMED, list_events
from storage.ledger.games import finish_game
from storage.records import MATCH_SITE, GameResult, GameStatus
from storage.tables.games import GameRow, OpponentRow
from tests.storage.evidence.exports.test_rows import exported
from tests.storage.evidence.statistics.drawn_database import fill
from tests.storage.samples import opened

NOON = datetime(2026, 11, 25, 12, tzinfo=UTC)


async def report(database: Database, filters: Filters | None = None, key: str = "anna") -> OpponentReport:
    async with database.read() as session:
        found = await opponent_report(session, "arena", key, filters)
    assert found is not None
    return found


async def test_names_and_blocks(database: Database) -> None:
    async with database.write() as session:
        for number, name in enumerate(("Anna", "Anna", "ANNA", "Anna", "anna_k")):
            await opened(session, f"g{number}", opponent_name=name, at=NOON + timedelta(days=number))
        await opened(session, "g1", opponent_name="late")  # known already: no new game, no new name
    found = (await report(database)).account
    assert (found.name, found.former_names) == ("anna_k", ("Anna", "ANNA"))
    assert (found.site, found.site_id, found.is_bot, found.first_seen_at) == ("arena", "anna", False, NOON)
    assert found.blocked_as is None
    async with database.write() as session:
        events = await list_events(session, kind=OPPONENT_RENAMED)
        assert [event.detail for event in reversed(events)] == [
            {"name": "Anna", "new_name": "ANNA"},
            {"name": "ANNA", "new_name": "Anna"},
            {"name": "Anna", "new_name": "anna_k"},
        ]
        assert [event.game_id for event in reversed(events)] == [3, 4, 5]
        await add_block(session, "elsewhere", "anna")
        assert (await get_opponent(session, "arena", "anna")).blocked_as is None  # type: ignore[union-attr]
        await add_block(session, "arena", "ANNA_K")
    assert (await report(database)).account.blocked_as == "anna_k"
    async with database.write() as session:
        await opened(session, "back", opponent_name="Anna")
    assert (await report(database)).account.former_names == ("ANNA", "anna_k")  # not the one it has again


async def test_who_has_not_been_met(database: Database) -> None:
    async with database.write() as session:
        await opened(session, "g1")
    async with database.read() as session:
        assert await opponent_report(session, "lichess", "anna") is None
        assert await opponent_report(session, "arena", "Anna") is None  # keys are exact


async def test_finding_by_name_or_key(database: Database) -> None:
    async with database.write() as session:
        await opened(session, "g1", opponent_id="anna", opponent_name="Zoe")
        await opened(session, "g2", opponent_id="zoe", opponent_name="Ben", site="lichess")
        await opened(session, "g3", opponent_id="x", opponent_name="zoë")
    async with database.read() as session:
        assert await find_opponents(session, "ZOE") == [("arena", "anna"), ("lichess", "zoe")]
        assert await find_opponents(session, "ZOE", "lichess") == [("lichess", "zoe")]
        assert await find_opponents(session, "Anna") == [("arena", "anna")]
        assert await find_opponents(session, "zoë") == [("arena", "x")]
        assert await find_opponents(session, "nobody") == []


async def test_visits_ratings_and_terms(database: Database) -> None:
    hours = (0, 3, 11.9, 12.1, 24 * 9)
    async with database.write() as session:
        for number, hour in enumerate(hours):
            await opened(
                session,
                f"g{number}",
                at=NOON + timedelta(hours=hour),
                opponent_rating=None if number == 1 else 1600 + number,
                speed="rapid" if number == 3 else "blitz",
                clock_initial_s=None if number == 4 else 180,
            )
        aborted = await opened(session, "aborted", at=NOON + timedelta(days=30))
        await session.execute(
            update(GameRow).where(GameRow.id == aborted.id).values(state=GameStatus.ABORTED)
        )
        await opened(session, "ben", opponent_id="ben", at=NOON + timedelta(days=31))
    found = await report(database)
    day = date(2026, 11, 25)
    assert found.visits == (
        Visit(day, 3, None),
        Visit(day + timedelta(days=1), 1, 1),
        Visit(day + timedelta(days=9), 1, 8),
    )
    assert found.gaps == [1, 8]
    assert [(each.game, each.speed, [point.rating for point in each.points]) for each in found.ratings] == [
        ("othello", "blitz", [1600, 1602, 1604]),
        ("othello", "rapid", [1603]),
    ]
    assert found.last_terms == LastTerms("othello", True, None, 2)
    assert found.line is not None
    assert (found.line.games, found.line.days) == (5, 3)
    rapid = await report(database, Filters(speed="rapid", opponent_id="ben", site="lichess"))
    assert [visit.games for visit in rapid.visits] == [1]  # the page's opponent, whatever the filters say
    nothing = await report(database, Filters(game="chess"))
    assert (nothing.line, nothing.visits, nothing.progress, nothing.last_terms) == (None, (), (), None)
    assert nothing.to_json()["games"] == 0


async def test_flags_with_their_reasons(database: Database) -> None:
    async with database.write() as session:
        for number, moves in enumerate((1, 1, 12)):
            game = await opened(session, f"g{number}", at=NOON + timedelta(days=number))
            played = [f"m{ply}" for ply in range(moves)]
            await finish_game(session, game.id, result=GameResult.WIN, end_reason="left", moves=played)
    found = await report(database)
    assert [(each.game_id, each.flags) for each in found.suspects] == [
        (2, (SuspectFlag.LEFT_EARLY,)),
        (1, (SuspectFlag.LEFT_EARLY,)),
    ]
    assert found.flags == {SuspectFlag.LEFT_EARLY: 2}
    first = await report(database, Filters(until=NOON + timedelta(hours=1)))
    assert [each.game_id for each in first.suspects] == [1]
    assert first.to_json()["suspect_games"] == [
        {"game_id": 1, "at": "2026-11-25T12:00:00+00:00", "game": "othello", "flags": ["left early"]}
    ]


# --- From an export ----------------------------------------------------------------------------------------


@pytest.mark.parametrize("seed", range(3))
async def test_every_number_is_that_of_an_export(database: Database, seed: int) -> None:
    async with database.write() as session:
        await fill(session, random.Random(seed), 60)
        keys = list(await session.execute(select(OpponentRow.id, OpponentRow.site, OpponentRow.site_id)))
        for row in keys:  # as it is in life: games are where their opponents are
            theirs = update(GameRow).where(GameRow.opponent_id == row.id)
            await session.execute(theirs.values(site=row.site, our_side=row.id % 2))
        # The rules of judging are no columns of an export.
        for table in ("decisions", "outcomes", "forecasts"):
            most = await session.scalar(text(f"SELECT max(rule) FROM {table}"))
            await session.execute(
                text(f"UPDATE {table} SET rule = :most WHERE rule IS NOT NULL"), {"most": most}
            )
        set_odds = "UPDATE forecasts SET bait_odds = 0.2, bait_cost = 2000 WHERE bait IS NOT NULL"
        await session.execute(text(set_odds))
    for chosen in (Filters(), Filters(player="trappy", rated=True), Filters(game="chess")):
        assert sum([await _check(database, site, key, chosen) for _, site, key in keys]) > 5


async def _check(database: Database, site: str, key: str, chosen: Filters) -> int:
    """Check the report on one opponent, and return how many games it has."""
    narrowed = replace(chosen, site=site, opponent_id=key)
    games = await exported(database, What.GAMES, narrowed)
    outcomes = await exported(database, What.OUTCOMES, narrowed)
    baits = await exported(database, What.BAITS, narrowed)
    async with database.read() as session:
        found = await opponent_report(session, site, key, chosen)
        flags = {} if site == MATCH_SITE else await suspect_games(session)
    assert found is not None
    told = sorted(
        (each for each in games if each["state"] != "aborted"),
        key=lambda each: (each["started_at"], each["game_id"]),
    )
    _check_results(found, told, outcomes, baits)
    _check_course(found, told)
    _check_progress(found, told, outcomes)
    assert {each.game_id: each.flags for each in found.suspects} == {
        each["game_id"]: flags[each["game_id"]] for each in told if each["game_id"] in flags
    }
    return len(told)


def _check_results(
    found: OpponentReport,
    games: Sequence[dict[str, Any]],
    outcomes: Sequence[dict[str, Any]],
    baits: Sequence[dict[str, Any]],
) -> None:
    if not games:
        assert found.line is None
        return
    keys = {each["game_id"] for each in games}
    line = found.line
    assert line is not None
    points = [each["points"] for each in games if each["points"] is not None]
    ratings = [each["opponent_rating"] for each in games if each["opponent_rating"] is not None]
    met = [each for each in baits if each["game_id"] in keys]
    slips = [
        each
        for each in outcomes
        if each["game_id"] in keys
        and each["is_error"]
        and each["is_decided"] is not None
        and not (each["is_bait_taken"] and each["is_decided"] == 0)
    ]
    assert (line.games, line.days, line.decided, line.points, line.best_rating) == (
        len(games),
        len({each["day"] for each in games}),
        len(points),
        len(points) - sum(points),
        max(ratings, default=None),
    )
    assert (line.baits_set, line.baits_taken, line.slips) == (
        len(met),
        sum(each["is_taken"] or 0 for each in met),
        len(slips),
    )
    expected = Counter((each["game"], each["player"], each["our_side"], each["result"]) for each in games)
    assert {
        (each.game, each.player, each.our_side, result): number
        for each in found.tallies
        for result, number in (
            ("win", each.wins),
            ("draw", each.draws),
            ("loss", each.losses),
            (None, each.without_result),
        )
        if number
    } == expected


def _check_course(found: OpponentReport, games: Sequence[dict[str, Any]]) -> None:
    days = sorted({date.fromisoformat(each["day"]) for each in games})
    gaps = [None, *((later - earlier).days for earlier, later in pairwise(days))]
    counts = Counter(each["day"] for each in games)
    assert [(each.day, each.games, each.days_since) for each in found.visits] == [
        (day, counts[day.isoformat()], gap) for day, gap in zip(days, gaps, strict=False)
    ]
    ratings: dict[tuple[str, str], list[tuple[int, int]]] = defaultdict(list)
    for each in games:
        if each["opponent_rating"] is not None:
            ratings[each["game"], each["speed"]].append((each["game_id"], each["opponent_rating"]))
    assert {
        (each.game, each.speed): [(point.game_id, point.rating) for point in each.points]
        for each in found.ratings
    } == ratings


def _check_progress(
    found: OpponentReport, games: Sequence[dict[str, Any]], outcomes: Sequence[dict[str, Any]]
) -> None:
    by_game: dict[tuple[int, int], list[dict[str, Any]]] = defaultdict(list)
    for each in outcomes:
        counts = each["reply"] is not None and each["reply_count"] is not None and each["reply_count"] > 1
        if counts and each["is_decided"] == 0 and each["expected_error"] is not None:
            by_game[each["game_id"], each["has_bait"]].append(each)

    def check(block: ProgressBlock, some: Sequence[dict[str, Any]]) -> None:
        assert f"{block.since:%Y-%m-%d %H:%M:%S}" == some[0]["started_at"]
        assert f"{block.until:%Y-%m-%d %H:%M:%S}" == some[-1]["started_at"]
        for has_bait, told in ((1, block.tempting), (0, block.elsewhere)):
            check_quality(told, [by_game[each["game_id"], has_bait] for each in some])

    def check_quality(told: ReplyQuality, replies: list[list[dict[str, Any]]]) -> None:
        of_games = [
            GameReplies(len(some), sum(each["is_error"] for each in some), sum(each["cost"] for each in some))
            for some in replies
        ]
        assert told.replies == sum(each.replies for each in of_games)
        assert told.errors == sum(each.errors for each in of_games)
        assert told.games == sum(each.replies > 0 for each in of_games)
        if told.is_shown:
            assert told.error_share == pytest.approx(told.errors / told.replies)
            assert told.cost == pytest.approx(sum(each.cost for each in of_games) / told.replies)
        expected = reply_quality(of_games)
        for name in ("error_low", "error_high", "cost_low", "cost_high", "effective_games"):
            value = getattr(expected, name)
            assert getattr(told, name) == (None if value is None else pytest.approx(value))

    kinds = {each["game"] for each in games}
    assert {each.game for each in found.progress} == kinds
    for told in found.progress:
        some = [each for each in games if each["game"] == told.game]
        check(told.everything, some)
        assert len(told.blocks) == -(-len(some) // BLOCK_GAMES)
        for number, block in enumerate(told.blocks):
            assert (block.first, block.last) == (
                number * BLOCK_GAMES + 1,
                min(len(some), (number + 1) * BLOCK_GAMES),
            )
            check(block, some[block.first - 1 : block.last])
