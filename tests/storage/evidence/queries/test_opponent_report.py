"""One opponent: names, ratings, visits, flags.

`tests.bot.dashboard.numbers.test_opponent` computes every number again from exports.
"""

from datetime import UTC, date, datetime, timedelta

from sqlalchemy import update

from storage.database import Database
from storage.evidence.inference.suspects import SuspectFlag
from storage.evidence.queries.opponent_report import (
    LastTerms,
    OpponentReport,
    Visit,
    find_opponents,
    get_opponent,
    opponent_report,
)
from storage.filters import Filters
from storage.ledger.blocks import add_block
from storage.ledger.events import OPPONENT_RENAMED, list_events
from storage.ledger.games import finish_game
from storage.records import GameResult, GameStatus
from storage.tables.games import GameRow
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
