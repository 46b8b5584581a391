"""Interrupts a program while it learns of persons."""

import asyncio
import signal
import subprocess
import sys
from typing import Any

import pytest

from bot.threads import person_fold
from engine.human.registry import ModelRegistry
from storage.ledger import persons

_SCRIPT = """
import asyncio, os, signal, sys
from bot.threads import person_fold
from storage.database import Database
from {module} import {models}

store, calls = person_fold.store_state, 0

async def die(*given):
    global calls
    calls += 1
    stored = await store(*given)
    if calls == 2:
        os.kill(os.getpid(), signal.SIGKILL)
    return stored

async def main():
    person_fold.store_state = die
    database = await Database.open(sys.argv[1])
    await person_fold.fold_persons(database, {models}())

asyncio.run(main())
"""


class InterruptedFold(Exception):
    """Ends a fold; unlike a cancellation, it leaves no connection of PostgreSQL half closed."""


def interrupt_folds(monkeypatch: pytest.MonkeyPatch) -> list[bool]:
    """End every other transaction that stores a state before it is committed.

    Returns:
        What `storage.ledger.persons.store_state` returned so far.
    """
    stored: list[bool] = []

    async def die(*given: Any) -> bool:
        stored.append(await persons.store_state(*given))
        if len(stored) % 2:
            raise InterruptedFold
        return stored[-1]

    monkeypatch.setattr(person_fold, "store_state", die)
    return stored


async def fold_and_die(url: str, models: type[ModelRegistry]) -> None:
    """Learn from a database's games with these models, and end by kill -9 within the second transaction."""
    script = _SCRIPT.format(module=models.__module__, models=models.__name__)
    died = await asyncio.to_thread(subprocess.run, [sys.executable, "-c", script, url], check=False)
    assert died.returncode == -signal.SIGKILL
