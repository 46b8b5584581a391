"""What commands say of themselves in lists, and what they import."""

import inspect
import subprocess
import sys
from importlib import import_module
from pathlib import Path

import pytest

from bot.cli.lazy import LazyCommand
from bot.cli.main import COMMANDS, DATABASE_COMMANDS, MODEL_COMMANDS
from tests.bot.conftest import Command

ALL: dict[tuple[str, ...], LazyCommand] = {
    **{(name,): command for name, command in COMMANDS.items()},
    **{("db", name): command for name, command in DATABASE_COMMANDS.items()},
    **{("model", name): command for name, command in MODEL_COMMANDS.items()},
}

# Hardly one of these takes less than a twentieth of a second to import.
HEAVY = {
    "aiohttp", "alembic", "asyncio", "asyncpg", "berserk", "chess", "numpy", "onnx", "onnxruntime",
    "pydantic", "pydantic_settings", "requests", "rich", "sqlalchemy",
}  # fmt: skip
FOR_SETTINGS_AND_RULES = {"asyncio", "chess", "pydantic", "pydantic_settings"}

PROGRAM = """
import sys

from bot.__main__ import main

try:
    main()
finally:
    print(*sys.modules, file=sys.stderr)
"""


def imported(tmp_path: Path, *arguments: str, typed: str = "") -> set[str]:
    """The modules that a command has imported by its end; it must not fail."""
    done = subprocess.run(
        [sys.executable, "-c", PROGRAM, *arguments],
        cwd=tmp_path,
        input=typed,
        capture_output=True,
        text=True,
        check=True,
    )
    assert done.stdout
    return set(done.stderr.split())


@pytest.mark.parametrize("command", ALL.values(), ids=map(" ".join, ALL))
def test_lists_say_what_the_commands_say(command: LazyCommand) -> None:
    function = getattr(import_module(command.module), command.function)
    first_paragraph = (inspect.getdoc(function) or "").split("\n\n")[0]
    assert command.help == " ".join(first_paragraph.split())


@pytest.mark.parametrize("typed", ALL, ids=" ".join)
def test_every_command_has_its_own_help(desdemona: Command, typed: tuple[str, ...]) -> None:
    status, out, err = desdemona(*typed, "--help")
    assert (status, err) == (0, "")
    assert f"desdemona {' '.join(typed)} [OPTIONS]" in out.partition("\n")[0]
    assert ALL[typed].help.split()[0] in out


def test_a_command_that_there_is_not(desdemona: Command) -> None:
    for group in ((), ("db",), ("model",)):
        status, _, err = desdemona(*group, "stat")
        assert status == 2
        assert "No such command 'stat'" in err


@pytest.mark.parametrize(
    ("arguments", "needed"),
    [
        (("--help",), set[str]()),
        (("--version",), set[str]()),
        (("db", "--help"), {"pydantic"}),  # typer reads parameters with it
        (("engine", "--help"), {"pydantic"}),
        (("stats", "--help"), {"pydantic"}),
    ],
)
def test_help_waits_for_nothing_heavy(tmp_path: Path, arguments: tuple[str, ...], needed: set[str]) -> None:
    assert imported(tmp_path, *arguments) & HEAVY <= needed


def test_the_list_of_commands_imports_none(tmp_path: Path) -> None:
    found = imported(tmp_path, "--help")
    assert "bot.cli.main" in found
    assert not found & {command.module for command in ALL.values()}


@pytest.mark.parametrize("player", ["standard", "trappy", "strong"])
def test_the_engine_loads_no_database_and_no_network(tmp_path: Path, player: str) -> None:
    typed = "name\nclear_board\nplay black f5\ngenmove white\nquit\n"
    found = imported(tmp_path, "engine", "--protocol", "gtp", "--player", player, "--depth", "2", typed=typed)
    spoken = {f"bot.protocols.{protocol}" for protocol in ("gtp", "nboard", "uci")}
    assert found & spoken == {"bot.protocols.gtp"}
    assert found & HEAVY <= FOR_SETTINGS_AND_RULES
