"""Two programs and one PostgreSQL: when one is killed, the other takes the account over, games included."""

import asyncio
import os
from contextlib import AsyncExitStack
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

from bot.arena.server import Arena
from bot.base.config import ArenaConfig
from storage.database import Database
from tests.patience import PATIENCE_S
from tests.storage.conftest import create_database, postgres, postgres_template
from tests.system.daemon import Daemon
from tests.system.ledger import exported, log_lines, troubles
from tests.system.person import Person

__all__ = ["postgres", "postgres_template"]  # fixtures, used by name

KILLS = int(os.environ.get("KILLS", "4"))
PEOPLE = 2
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
        game_ids = await play_through_kills(address, programs)
        records = await exported(address, game_ids)
    assert await troubles(books, records) == []
    await site.close()
    await books.close()
    for program in programs:
        assert "Traceback" not in program.log.read_text()
        assert log_lines(program.log, "ERROR", "CRITICAL") == []


def standby(folder: Path, url: str, address: str, token: str) -> Daemon:
    folder.mkdir()
    return Daemon(
        folder,
        has_arena=False,
        options=("--standby",),
        storage__url=url,
        server__url=address,
        server__token=token,
        engine__max_depth=4,
        engine__workers=1,
        selection__seed=7,
    )


async def play_through_kills(address: str, programs: list[Daemon]) -> list[str]:
    """Let people play while the program that plays is killed again and again; returns the games."""
    place: Any = SimpleNamespace(url=address, up=asyncio.Event())
    place.up.set()
    game_ids: list[str] = []
    enough = asyncio.Event()

    async def sit(number: int) -> None:
        person = Person(place, f"person{number}", seed=number)
        try:
            while not enough.is_set():
                game_ids.append(await person.play())
        finally:
            await person.close()

    active, other = programs
    async with active, AsyncExitStack() as stack:
        await has_taken_over(active, 1)
        await stack.enter_async_context(other)
        async with asyncio.TaskGroup() as tasks:
            for number in range(PEOPLE):
                tasks.create_task(sit(number))
            for _ in range(KILLS):
                turns = turns_of(other)
                await active.kill()
                await has_taken_over(other, turns + 1)
                await active.start()
                active, other = other, active
            enough.set()
        for program in programs:
            status, said = await program.stop()
            assert status == 0, said
    return game_ids


def turns_of(program: Daemon) -> int:
    """How often it has taken the account over."""
    return program.log.read_text().count("playing the account") if program.log.exists() else 0


async def has_taken_over(program: Daemon, turns: int) -> None:
    async with asyncio.timeout(PATIENCE_S):
        while turns_of(program) < turns:  # noqa: ASYNC110 - it happens in another program
            await asyncio.sleep(0.05)
