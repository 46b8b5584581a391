"""`desdemona db prune` as the operator types it, and what other commands say of pruned records."""

import asyncio
import json
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest
from sqlalchemy import select, update

from bot.game.game_runner import GameRunner
from storage.database import Database
from storage.evidence.summaries import summarise
from storage.tables.games import GameRow
from tests.bot.conftest import Command
from tests.bot.fakes import GAME_ID, FakeServer, picker, services


@pytest.fixture
def played(migrated_file: Path) -> Path:
    """A database with a game that ended 400 days ago."""

    async def fill() -> None:
        database = await Database.open(f"sqlite:///{migrated_file}")
        server = FakeServer(pick=picker(1))
        async with services(server, database) as given:
            await GameRunner(GAME_ID, given).run()
        async with database.write() as session:
            await session.execute(update(GameRow).values(ended_at=datetime.now(UTC) - timedelta(days=400)))
            await summarise(session, list(await session.scalars(select(GameRow.id))))
        await database.close()

    asyncio.run(fill())
    return migrated_file


def test_without_yes_nothing_changes(desdemona: Command, played: Path) -> None:
    before = played.read_bytes()
    status, told, _ = desdemona("db", "prune", "--keep-profiles", "1y")
    assert status == 0
    assert "decisions would be pruned" in told
    assert told.endswith("nothing was changed; --yes makes the change, which cannot be undone\n")
    assert played.read_bytes() == before


def test_younger_games_are_left(desdemona: Command, played: Path) -> None:
    assert played.exists()
    for time in ("2y", "401d", "58w", "14m"):
        assert ": 0 decisions pruned" in desdemona("db", "prune", "--keep-profiles", time, "--yes")[1]


def test_recheck_says_pruned_and_not_damaged(desdemona: Command, played: Path) -> None:
    assert played.exists()
    _, told, _ = desdemona("db", "recheck", "--format", "json")
    before = json.loads(told)
    shown = desdemona("show", GAME_ID)[1]
    stats = desdemona("stats", "--format", "json")[1]
    status, told, _ = desdemona("db", "prune", "--keep-profiles", "1y", "--yes")
    assert status == 0
    assert f": {before['verified']} decisions pruned" in told
    assert "`desdemona db vacuum` returns the space to the disk" in told
    status, told, _ = desdemona("db", "recheck", "--format", "json")
    assert status == 0
    assert json.loads(told) == {**before, "verified": 0, "pruned": before["verified"], "games_judged": 0}
    assert f"decisions verified: 0, wrong: 0, pruned: {before['verified']}\n" in desdemona("db", "recheck")[1]
    assert desdemona("stats", "--format", "json")[1] == stats
    again = desdemona("show", GAME_ID)
    assert again[0] == 0
    assert again[1].splitlines()[:5] == shown.splitlines()[:5]


@pytest.mark.parametrize("time", ["1", "y", "-1d", "1 y", "1.5y", "999999d"])
def test_an_odd_time_is_refused(desdemona: Command, migrated_file: Path, time: str) -> None:
    assert migrated_file.exists()
    status, _, told = desdemona("db", "prune", "--keep-profiles", time)
    assert status == 2
    assert f"--keep-profiles: {time!r} is not an age; write 90d, 12w, 6m or 1y" in told
    assert "--keep-profiles: 99999y is too long" in desdemona("db", "prune", "--keep-profiles", "99999y")[2]
