"""An archive that an earlier version has filled recognises its games."""

from collections.abc import Iterator
from dataclasses import replace

import pytest
from alembic import command
from sqlalchemy import select

from engine.formats.record import GameRecord
from storage import migrate
from storage.database import Database, create_engine, parse_url
from storage.research.archive import add_imported_games, content_key, draw_key, each_game
from storage.tables.archive import ImportedGameRow
from tests import migrated_once

LICHESS = GameRecord(
    game="chess",
    players=("A1", "B1"),
    moves=("e2e4",),
    points=1.0,
    place="https://lichess.example/aaaaaaaa",
    date="2013.01.01",
    tags=(("UTCDate", "2013.01.01"),),
)
OTHER_DAY = replace(LICHESS, date="2013.02.02", tags=(("UTCDate", "2013.02.02"),))
GAMES = (
    LICHESS,
    replace(LICHESS, place="", players=("A2", "B2"), round="3", margin=0.0, tags=()),
    replace(LICHESS, place="", players=("A3", "B3"), date="", tags=()),
)


@pytest.fixture(autouse=True)
def _migrations() -> Iterator[None]:
    with migrated_once.migrations(wanted=True):
        yield


async def test_games_of_the_twenty_eighth_schema_are_recognised(url: str) -> None:
    database = await Database.open(url)
    async with database.write() as session:
        assert await add_imported_games(session, GAMES, source="a.pgn", source_format="pgn") == 3
        for row in await session.scalars(select(ImportedGameRow)):
            # As stored then: without the date of UTCDate.
            row.date = "" if row.first_player == "A1" else row.date
    await database.close()
    engine = create_engine(parse_url(url))
    async with engine.begin() as connection:
        await connection.run_sync(lambda sync: command.downgrade(migrate._config(sync), "0029-1"))
        keys = list(
            await connection.scalars(select(ImportedGameRow.content_key).order_by(ImportedGameRow.id))
        )
    await engine.dispose()
    assert keys == [draw_key(replace(GAMES[0], date="")), *map(draw_key, GAMES[1:])]

    database = await Database.open(url)  # upgrades
    async with database.write() as session:
        assert [game async for game in each_game(session)] == list(GAMES)
        found = list(await session.scalars(select(ImportedGameRow.content_key).order_by(ImportedGameRow.id)))
        assert found == list(map(content_key, GAMES))
        assert await add_imported_games(session, [*GAMES, OTHER_DAY], source="a", source_format="pgn") == 1
    await database.close()


async def test_a_game_that_was_stored_with_and_without_its_date_stays_twice(url: str) -> None:
    """Analyses may refer to either."""
    database = await Database.open(url)
    undated = replace(LICHESS, date="")
    async with database.write() as session:
        assert await add_imported_games(session, [undated, LICHESS], source="a", source_format="pgn") == 2
    await database.close()
    engine = create_engine(parse_url(url))
    async with engine.begin() as connection:
        await connection.run_sync(lambda sync: command.downgrade(migrate._config(sync), "0029-1"))
    await engine.dispose()
    database = await Database.open(url)  # upgrades
    async with database.write() as session:
        assert len([game async for game in each_game(session)]) == 2
        assert await add_imported_games(session, [LICHESS], source="a", source_format="pgn") == 0
    await database.close()
