"""Two programs at one account and one PostgreSQL database: one plays, the other waits."""

import asyncio
import time
from contextlib import AsyncExitStack
from pathlib import Path
from types import SimpleNamespace
from typing import Any

from tests.patience import PATIENCE_S
from tests.system.daemon import Daemon
from tests.system.person import Habits, Person, Wish

PEOPLE = 2
PLAYS, WAITS = "playing the account", ", next try in"
"""What a program logs when it has taken the account over, and when another program plays it."""


def standby(folder: Path, url: str, address: str, token: str) -> Daemon:
    """A program that is not yet started.

    Args:
        folder: Its working directory, which is made.
        url: The database.
        address: The site.
        token: Of the account.
    """
    folder.mkdir()
    return Daemon(
        folder,
        has_arena=False,
        options=("--standby",),
        storage__url=url,
        server__url=address,
        server__token=token,
        engine__max_depth=3,
        engine__workers=1,
        assignment__seed=7,
    )


async def play_through_kills(
    address: str, programs: list[Daemon], kills: int
) -> tuple[list[str], list[float]]:
    """Let people play while the program that plays is killed again and again.

    Returns:
        The games, and the seconds from each kill until the other program plays.
    """
    place: Any = SimpleNamespace(url=address, up=asyncio.Event())
    place.up.set()
    game_ids: list[str] = []
    took_s: list[float] = []
    enough = asyncio.Event()

    async def sit(number: int) -> None:
        person = Person(place, f"person{number}", seed=number)
        try:
            while not enough.is_set():
                game_ids.append(await person.play(Wish(habits=Habits(16 if number else None))))
        finally:
            await person.close()

    active, other = programs
    async with active, AsyncExitStack() as stack:
        await has_taken_over(active, 1)
        await stack.enter_async_context(other)
        async with asyncio.TaskGroup() as tasks:
            for number in range(PEOPLE):
                tasks.create_task(sit(number))
            for _ in range(kills):
                turns = turns_of(other)
                began = time.monotonic()
                await active.kill()
                await has_taken_over(other, turns + 1)
                took_s.append(time.monotonic() - began)
                waits = _lines(active, WAITS)
                await active.start()
                await _has_logged(active, WAITS, waits + 1)  # before that, a SIGTERM finds no handler
                active, other = other, active
            enough.set()
        for program in programs:
            status, said = await program.stop()
            assert status == 0, said
    return game_ids, took_s


def turns_of(program: Daemon) -> int:
    """How often it has taken the account over."""
    return _lines(program, PLAYS)


async def has_taken_over(program: Daemon, turns: int) -> None:
    await _has_logged(program, PLAYS, turns)


def _lines(program: Daemon, text: str) -> int:
    return program.log.read_text().count(text) if program.log.exists() else 0


async def _has_logged(program: Daemon, text: str, times: int) -> None:
    async with asyncio.timeout(PATIENCE_S):
        while _lines(program, text) < times:  # noqa: ASYNC110 - it happens in another program
            await asyncio.sleep(0.02)
