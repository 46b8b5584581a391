"""Two programs and one PostgreSQL: when one is killed, the other takes the account over, games included."""

import os
from pathlib import Path

import pytest

from bot.arena.server import Arena
from bot.base.config import ArenaConfig
from storage.database import Database
from tests.storage.postgres import create_database
from tests.system.ledger import exported, log_lines, troubles
from tests.system.standby import play_through_kills, standby

KILLS = int(os.environ.get("KILLS", "2"))
BOT = "Desdemona"


@pytest.fixture
async def url(postgres: str, postgres_template: str) -> str:
    """The database of both programs."""
    return await create_database(postgres, "standby", postgres_template)


async def test_killed_in_turn(url: str, tmp_path: Path) -> None:
    """Games go on without a move lost or doubled, whichever program plays."""
    site, books = await Database.open(f"sqlite:///{tmp_path / 'site.db'}"), await Database.open(url)
    arena = Arena(ArenaConfig(port=0, first_move_s=0), site)
    async with arena.running([BOT]) as address:
        programs = [standby(tmp_path / name, url, address, arena.bot_tokens[BOT]) for name in ("one", "two")]
        game_ids, _ = await play_through_kills(address, programs, KILLS)
        records = await exported(address, game_ids)
    assert await troubles(books, records) == []
    await site.close()
    await books.close()
    for program in programs:
        assert "Traceback" not in program.log.read_text()
        assert log_lines(program.log, "ERROR", "CRITICAL") == []
