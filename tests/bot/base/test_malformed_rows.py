"""A row is corrupted on the disk: the program starts, and pages, statistics and exports go on without it."""

import sqlite3
from contextlib import closing

import aiohttp
import pytest
from sqlalchemy import text

from bot.base.config import DashboardConfig
from bot.base.malformed_rows import MIN_CHECK_INTERVAL_S, MalformedRows, check_at_start
from bot.dashboard.server import Dashboard
from bot.views.menu import pages
from storage.database import Database
from storage.evidence.exports.rows import EXPORTS, ExportName, export_rows
from storage.evidence.statistics.group_rows import count_outdated
from storage.filters import Filters
from storage.ledger.games import finish_game, list_unsettled_games
from storage.records import GameResult
from tests.storage.conftest import backend, database, url
from tests.storage.samples import ARENA, FELL, decision, opened, settled

__all__ = ["backend", "database", "url"]  # fixtures

MOVES = ["f5", "d6", "c3", "d3"]


async def filled(database: Database) -> tuple[int, int]:
    """A game that is over and one that is open, each with a decision; our keys of both."""
    async with database.write() as session:
        over = await opened(session)
        await settled(session, over.id, 0, decision(quality=225.0), FELL)
        await finish_game(session, over.id, result=GameResult.WIN, end_reason="resign", moves=MOVES)
        going = await opened(session, "second", opponent_id="bert")
        await settled(session, going.id, 0, decision(), None)
    return over.id, going.id


async def corrupt(database: Database, url: str, statement: str) -> None:
    """Change the file as a fault of the disk may: past the constraints.  PostgreSQL has its own checksums."""
    if database.dialect == "postgresql":
        async with database.write() as session:
            await session.execute(text(statement))
        return
    path = url.removeprefix("sqlite:///")
    with closing(sqlite3.connect(path)) as connection, connection:
        connection.execute("PRAGMA ignore_check_constraints = ON")
        connection.execute(statement.replace("'\\x01ff'", "x'01ff'"))


BROKEN = "UPDATE decisions SET record = '\\x01ff' WHERE game_id = {}"
"""No packed record; of either database."""


async def quarantined(database: Database) -> list[tuple[str, str]]:
    async with database.read() as session:
        rows = await session.execute(text("SELECT table_name, row_key FROM quarantine ORDER BY id"))
        return [(row.table_name, row.row_key.strip("'")) for row in rows]


async def test_the_start_names_a_row_that_it_moves(
    database: Database, url: str, caplog: pytest.LogCaptureFixture
) -> None:
    _, going = await filled(database)
    await corrupt(database, url, BROKEN.format(going))
    await check_at_start(database)
    (record,) = caplog.records
    assert record.message.startswith("moved to the quarantine: row 2 of decisions: not a packed record: ")
    assert await quarantined(database) == [("decisions", "2")]
    async with database.read() as session:
        assert [game.id for game in await list_unsettled_games(session, ARENA)] == [going]
    caplog.clear()
    await check_at_start(database)
    assert caplog.records == []


async def test_a_page_that_meets_one_moves_it_and_goes_on(
    database: Database, url: str, caplog: pytest.LogCaptureFixture
) -> None:
    over, _ = await filled(database)
    await corrupt(database, url, BROKEN.format(over))
    await check_at_start(database)  # which reads no games that are over
    assert await quarantined(database) == []
    async with Dashboard(DashboardConfig(port=0), database, pages()).running() as address:
        site = address.removesuffix("/dash")
        async with aiohttp.ClientSession() as http:
            for path in (
                f"/dash/games/{over}/download?format=pgn",
                "/dash",
                f"/dash/games/{over}",
                "/dash/traps",
            ):
                async with http.get(f"{site}{path}") as answer:
                    assert answer.status == 200, (path, await answer.text())
    assert "moved to the quarantine: row 1 of decisions, with 1 dependent row: not a packed" in caplog.text
    assert await quarantined(database) == [("outcomes", "1"), ("decisions", "1")]
    async with database.snapshot() as connection:
        exported = {
            what: [row async for some in export_rows(connection, export, Filters()) for row in some]
            for what, export in EXPORTS.items()
        }
    assert (len(exported[ExportName.GAMES]), len(exported[ExportName.RECORDS])) == (2, 1)
    async with database.read() as session:
        await count_outdated(session, Filters())


async def test_all_rows_are_checked_once_an_hour(database: Database, url: str) -> None:
    now = 0.0
    over, _ = await filled(database)
    rows = MalformedRows(database, lambda: now)
    assert await rows.move() is False
    await corrupt(database, url, BROKEN.format(over))
    now = MIN_CHECK_INTERVAL_S - 1
    assert await rows.move() is False
    now = MIN_CHECK_INTERVAL_S
    assert await rows.move() is True
    assert ("decisions", "1") in await quarantined(database)
