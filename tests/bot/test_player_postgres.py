"""The books of a game on PostgreSQL, where transactions really run side by side."""

import random
from collections.abc import AsyncIterator

import pytest

from storage.database import Database
from tests.bot.books import check_books
from tests.bot.fakes import Killer
from tests.bot.test_player_kill import make_server, play
from tests.storage.conftest import create_database, postgres, postgres_template

__all__ = ["postgres", "postgres_template"]  # fixtures, used by name


@pytest.fixture
async def database(
    request: pytest.FixtureRequest, postgres: str, postgres_template: str
) -> AsyncIterator[Database]:
    name = "player" + "".join(filter(str.isdigit, request.node.name))
    opened = await Database.open(await create_database(postgres, name, postgres_template))
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
