"""Summaries made and checked in batches, and in the background."""

import logging
import random

import pytest
from sqlalchemy import func, select, update

from bot.base import game_summaries
from bot.base.game_summaries import check_summaries, make_summaries, summarise_in_background
from storage.database import Database
from storage.errors import StorageError
from storage.evidence.summaries import list_finished_games
from storage.tables.summaries import GameSummaryRow
from tests.storage.conftest import backend, database, url
from tests.storage.evidence.statistics.drawn_database import fill

__all__ = ["backend", "database", "url"]  # fixtures


async def filled(database: Database) -> int:
    """How many games are over in a drawn database."""
    async with database.write() as session:
        await fill(session, random.Random(1), games=20)
        return len(await list_finished_games(session, 0, 100))


async def count(database: Database) -> int:
    async with database.read() as session:
        return await session.scalar(select(func.count()).select_from(GameSummaryRow)) or 0


@pytest.mark.parametrize("batch", [1, 3, 100])
async def test_what_is_missing_is_made_once(database: Database, batch: int) -> None:
    games = await filled(database)
    assert await make_summaries(database, batch) == games > 10
    assert await count(database) == games
    assert await make_summaries(database, batch) == 0


async def test_what_is_wrong_is_counted_and_mended(
    database: Database, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(game_summaries, "SUMMARY_BATCH_GAMES", 4)
    games = await filled(database)
    assert await check_summaries(database) == 0
    assert await count(database) == games
    async with database.write() as session:
        await session.execute(update(GameSummaryRow).values(slips=99))
    assert await check_summaries(database) == games
    assert await check_summaries(database) == 0


async def test_in_the_background_nothing_is_raised(
    database: Database, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    caplog.set_level(logging.INFO)
    games = await filled(database)
    for error in (StorageError("no space"), ValueError("a bug")):

        async def fail(*_: object, error: Exception = error) -> int:
            raise error

        with monkeypatch.context() as patched:
            patched.setattr(game_summaries, "summarise", fail)
            await summarise_in_background(database)
        assert str(error) in caplog.text
    assert await count(database) == 0
    await summarise_in_background(database)
    assert await count(database) == games
    assert f"missing summaries created: {games}" in caplog.text
