"""The books of a game on PostgreSQL, where transactions run side by side, and not every text is taken."""

import asyncio
import random
from collections.abc import AsyncIterator

import pytest

from bot.base.errors import RefusedError, TransientError
from bot.game.game_runner import MAX_NOT_FOUND_RETRIES, GameRunner
from storage.database import Database
from storage.ledger.events import list_events
from tests.bot.fakes import GAME_ID, FakeServer, Killer, services
from tests.bot.game.test_player_kill import make_server, play
from tests.bot.ledger_samples import check_books
from tests.patience import PATIENCE_S
from tests.storage.conftest import emptied_database


@pytest.fixture
async def database(postgres: str, postgres_template: str) -> AsyncIterator[Database]:
    opened = await Database.open(await emptied_database(postgres, postgres_template))
    try:
        yield opened
    finally:
        await opened.close()


@pytest.mark.parametrize("seed", range(5))
async def test_killed_again_and_again(database: Database, seed: int) -> None:
    rng = random.Random(seed)
    server = make_server(rng.choice(["tictactoe", "othello"]), rng.randrange(2), seed)
    while not await play(server, database, Killer(rng.randrange(60))):
        pass
    await check_books(database, server)


async def test_words_that_no_database_takes(database: Database) -> None:
    """They must not end a game, nor keep its books open for ever."""
    words = "gone\x00\ud800"
    server = FakeServer()
    async with services(server, database) as given:
        running = asyncio.create_task(GameRunner(GAME_ID, given).run())
        await server.until(lambda: len(server.moves) == 1)
        server.faults["stream"] = [
            TransientError(words),
            *[RefusedError(words, 404)] * (MAX_NOT_FOUND_RETRIES + 1),
        ]
        server.cut()
        async with asyncio.timeout(PATIENCE_S):
            await running
    async with database.read() as session:
        told = {event.kind: event.detail for event in await list_events(session)}
    assert told["game_unknown"]["reason"] == "gone\\x00\\ud800"
