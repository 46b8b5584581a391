"""`desdemona export --format csv|jsonl|parquet` as the operator types it."""

import asyncio
import json
from pathlib import Path

import pytest
from pyarrow import parquet

from storage.database import Database
from storage.evidence.exports.rows import EXPORTS, ExportName
from tests.bot.conftest import Command
from tests.storage.samples import FELL, decision, opened, settled


@pytest.fixture
def two_games(migrated_file: Path) -> Path:
    """A database with a game on each of two sites, and a decision in each."""

    async def fill() -> None:
        database = await Database.open(f"sqlite:///{migrated_file}")
        async with database.write() as session:
            for site in ("arena", "lichess"):
                stored = await opened(session, site, site=site)
                await settled(session, stored.id, 0, decision(quality=100), FELL)
        await database.close()

    asyncio.run(fill())
    return migrated_file


def test_games_are_the_default(desdemona: Command, two_games: Path) -> None:
    assert two_games.exists()
    status, told, notes = desdemona("export", "--format", "csv")
    assert status == 0
    assert told.splitlines()[0] == ",".join(column.name for column in EXPORTS[ExportName.GAMES].columns)
    assert len(told.splitlines()) == 3
    assert notes == "2 rows written\n"


def test_filters_are_those_of_all_commands(desdemona: Command, two_games: Path) -> None:
    assert two_games.exists()
    _, told, _ = desdemona("export", "--format", "jsonl", "--what", "replies", "--site", "arena")
    rows = [json.loads(line) for line in told.splitlines()]
    assert [row["reply"] for row in rows] == ["f6", "d6", "f4"]
    assert {row["game_id"] for row in rows} == {1}


def test_suspect_games_are_selected(desdemona: Command, two_games: Path) -> None:
    assert two_games.exists()
    assert desdemona("export", "--format", "csv", "--suspect")[2] == "0 rows written\n"
    assert desdemona("export", "--format", "csv", "--without-suspects")[2] == "2 rows written\n"


@pytest.mark.parametrize("what", ExportName)
def test_a_parquet_file(desdemona: Command, two_games: Path, tmp_path: Path, what: ExportName) -> None:
    assert two_games.exists()
    path = tmp_path / "rows.parquet"
    arguments = ("--format", "parquet", "--what", what, "--output", str(path))
    status, told, _ = desdemona("export", *arguments)
    assert (status, told) == (0, "")
    with path.open("rb") as file:
        names = parquet.ParquetFile(file).read().column_names
    assert names == [column.name for column in EXPORTS[what].columns]


def test_options_that_do_not_go_together(desdemona: Command, two_games: Path) -> None:
    assert two_games.exists()
    status, _, told = desdemona("export", "--what", "games")
    assert status == 2
    assert "--what is for csv, jsonl and parquet, not for pgn" in told
    status, _, told = desdemona("export", "--format", "csv", "--imported")
    assert status == 2
    assert "--imported games cannot be written as csv" in told


def test_a_failure_leaves_the_earlier_file(desdemona: Command, two_games: Path, tmp_path: Path) -> None:
    path = tmp_path / "rows.csv"
    path.write_text("old")
    two_games.write_bytes(b"no database")
    assert desdemona("export", "--format", "csv", "--output", str(path))[0] != 0
    assert path.read_text() == "old"
