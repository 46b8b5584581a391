"""Falls reach the trainer: all old ones once, and those of each game as soon as it is settled."""

import asyncio
import logging
from typing import Any

import pytest
from sqlalchemy import func, select, update

from bot.arena.puzzles import puzzle_importer as module
from bot.arena.puzzles.puzzle_importer import IMPORT_POLL_INTERVAL_S, PuzzleImporter
from storage.arena.puzzles import positions
from storage.database import Database
from storage.errors import StorageError
from storage.tables.games import GameRow
from storage.tables.puzzles import PuzzleMistake, PuzzlePosition, SearchedGame
from tests.bot.arena.puzzles.samples import add_mistake


async def count(database: Database, table: Any) -> int:
    async with database.read() as session:
        return await session.scalar(select(func.count()).select_from(table)) or 0


async def add(database: Database, *keys: str, **options: Any) -> None:
    async with database.write() as session:
        for number, key in enumerate(keys):
            await add_mistake(session, "othello", key, "Anna", ply=options.pop("ply", 2 * number), **options)


async def test_old_games_once(database: Database, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(module, "MAX_GAMES_PER_READ", 2)
    monkeypatch.setattr(module, "MAX_POSITIONS_PER_COMMIT", 1)
    await add(database, *[f"game{number}" for number in range(5)])
    assert await PuzzleImporter(database, "arena").poll() == 5
    assert await count(database, SearchedGame) == 5
    monkeypatch.setattr(positions, "list_baits", None)  # what is done is not read again
    assert await PuzzleImporter(database, "arena").poll() == 0
    assert (await count(database, PuzzleMistake), await count(database, PuzzlePosition)) == (5, 5)
    assert await PuzzleImporter(database, "elsewhere").poll() == 0


async def test_new_games_as_they_are_settled(database: Database) -> None:
    await add(database, "old")
    importer = PuzzleImporter(database, "arena")
    await importer.poll()
    assert await importer.poll() == 0
    await add(database, "going", settled=False)
    assert await importer.poll() == 0
    await add(database, "quick", ply=6)
    assert await importer.poll() == 1
    async with database.write() as session:
        await session.execute(update(GameRow).values(is_settled=True))
    assert await importer.poll() == 1
    assert await importer.poll() == 0
    assert await count(database, PuzzleMistake) == await count(database, SearchedGame) == 3
    assert await count(database, PuzzlePosition) == 2  # old and going are the same position


async def test_a_game_that_was_going_on_at_the_start(database: Database) -> None:
    await add(database, "going", settled=False)
    await add(database, "old", ply=2)
    importer = PuzzleImporter(database, "arena")
    assert await importer.poll() == 1
    async with database.write() as session:
        await session.execute(update(GameRow).values(is_settled=True))
    assert await importer.poll() == 1
    assert await count(database, PuzzleMistake) == await count(database, SearchedGame) == 2


async def test_games_that_begin_while_old_ones_are_taken_up(
    database: Database, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The later one of them is over first."""
    await add(database, "old")
    importer, list_pending = PuzzleImporter(database, "arena"), positions.list_pending

    async def slow(*arguments: Any) -> Any:
        monkeypatch.undo()
        await add(database, "going", ply=2, settled=False)
        await add(database, "quick", ply=4)
        return await list_pending(*arguments)

    monkeypatch.setattr(positions, "list_pending", slow)
    await importer.poll()
    async with database.write() as session:
        await session.execute(update(GameRow).values(is_settled=True))
    await importer.poll()
    assert await count(database, PuzzleMistake) == await count(database, SearchedGame) == 3


async def test_it_outlives_failures(database: Database, caplog: pytest.LogCaptureFixture) -> None:
    await add(database, "first", "second", "third")
    slept: list[float] = []
    failures = [StorageError("gone"), StorageError("still gone"), ValueError("a bug")]

    async def sleep(seconds: float) -> None:
        if seconds and len(slept) == 5:
            raise asyncio.CancelledError
        if seconds:
            slept.append(seconds)

    importer = PuzzleImporter(database, "arena", sleep)
    poll = importer.poll

    async def failing() -> int:
        if failures:
            raise failures.pop(0)
        return await poll()

    importer.poll = failing  # type: ignore[method-assign]
    with caplog.at_level(logging.INFO), pytest.raises(asyncio.CancelledError):
        await importer.run()
    assert slept == [IMPORT_POLL_INTERVAL_S] * 5
    assert await count(database, PuzzleMistake) == 3
    assert [record.levelname for record in caplog.records] == ["WARNING", "ERROR", "INFO"]
