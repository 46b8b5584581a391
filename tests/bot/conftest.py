"""Fixtures: a SQLite database, migrated once and then copied, and the commands."""

import asyncio
import shutil
import sys
from collections.abc import AsyncIterator, Callable, Iterator
from pathlib import Path
from unittest.mock import patch

import pytest

from bot import __main__ as program
from storage.database import Database

Command = Callable[..., tuple[int, str, str]]
"""Runs a command; returns exit status, output and errors."""


async def _migrate(url: str) -> None:
    await (await Database.open(url)).close()


@pytest.fixture(scope="session", autouse=True)
def _no_freezing() -> Iterator[None]:
    """A program that starts in a test's process does not collect and freeze what all tests have made."""
    with patch("bot.daemon.program._freeze_garbage_collector"):
        yield


@pytest.fixture(scope="session")
def template(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """An empty database with the newest schema."""
    path = tmp_path_factory.mktemp("template") / "template.db"
    asyncio.run(_migrate(f"sqlite:///{path}"))
    return path


@pytest.fixture
async def database(template: Path, tmp_path: Path) -> AsyncIterator[Database]:
    """An open, real database."""
    shutil.copy(template, tmp_path / "desdemona.db")
    opened = await Database.open(f"sqlite:///{tmp_path / 'desdemona.db'}")
    try:
        yield opened
    finally:
        await opened.close()


@pytest.fixture
def database_file(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The path at which the commands look for the database; no file is there yet."""
    path = tmp_path / "data" / "desdemona.db"
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("DESDEMONA_STORAGE__URL", f"sqlite:///{path}")
    return path


@pytest.fixture
def migrated_file(database_file: Path, template: Path) -> Path:
    """The same path, with an empty database of the newest schema."""
    database_file.parent.mkdir()
    return Path(shutil.copy(template, database_file))


@pytest.fixture
def shallow_check(monkeypatch: pytest.MonkeyPatch) -> None:
    """`desdemona check` tries the players at small depth, in an environment without network settings."""
    monkeypatch.delenv("SSL_CERT_FILE", raising=False)
    monkeypatch.setattr("bot.cli.check.SELF_TEST_DEPTH", 3)


@pytest.fixture
def desdemona(
    database_file: Path,  # noqa: ARG001 - no command may ever meet the real one
    monkeypatch: pytest.MonkeyPatch,
    capfd: pytest.CaptureFixture[str],
) -> Command:
    """Runs a command; returns exit status, output and errors."""

    def command(*arguments: str) -> tuple[int, str, str]:
        monkeypatch.setattr(sys, "argv", ["desdemona", *arguments])
        with pytest.raises(SystemExit) as leaving:
            program.main()
        told = capfd.readouterr()
        code = leaving.value.code
        return (code if isinstance(code, int) else 0), told.out, told.err

    return command
