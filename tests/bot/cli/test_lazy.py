"""What commands say of themselves in lists, and what they import."""

import subprocess
import sys
from pathlib import Path

import pytest

from bot.cli.lazy import LazyCommand
from bot.cli.main import COMMANDS, GROUPS, OLD_NAMES, PANELS
from tests.bot.conftest import Command

ALL: dict[tuple[str, ...], LazyCommand] = {
    **{(name,): command for name, command in COMMANDS.items()},
    **{(group, name): each for group, (commands, _) in GROUPS.items() for name, each in commands.items()},
}
MAX_AT_THE_TOP = 25
COLUMNS = 80

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


@pytest.mark.parametrize("typed", ALL, ids=" ".join)
def test_every_command_has_its_own_help(desdemona: Command, typed: tuple[str, ...]) -> None:
    status, out, err = desdemona(*typed, "--help")
    assert (status, err) == (0, "")
    assert f"desdemona {' '.join(typed)} [OPTIONS]" in out.partition("\n")[0]


def test_the_root_lists_few_commands_under_headings_in_order(desdemona: Command) -> None:
    assert list(PANELS) == ["Play", "Watch", "Data", "Trial", "Arena", "Lab"]
    listed = [name for names in PANELS.values() for name in names]
    assert listed[0] == "run"
    assert sorted(listed) == sorted([*COMMANDS, *GROUPS])
    assert len(listed) <= MAX_AT_THE_TOP
    lines = desdemona("--help")[1].splitlines()
    headings = [line[:-1] for line in lines if line.endswith(":") and not line.startswith(" ")]
    assert headings == ["Options", *PANELS]
    assert [line.split()[0] for line in lines[lines.index("Play:") :] if line.startswith("  ")] == listed


@pytest.mark.parametrize("group", ["", *GROUPS])
def test_each_line_is_one_whole_sentence_that_fits(desdemona: Command, group: str) -> None:
    commands = GROUPS[group][0] if group else {**COMMANDS, **dict.fromkeys(GROUPS)}
    texts = [GROUPS[name][1] if each is None else each.help for name, each in commands.items()]
    lines = desdemona(*([group] if group else []), "--help")[1].splitlines()
    for text in texts:
        assert text[0].isupper()
        assert text.endswith(".")
        assert text.count(". ") == 0
        assert sum(line.endswith(f"  {text}") and len(line) < COLUMNS for line in lines) == 1, text


@pytest.mark.parametrize("old", OLD_NAMES)
def test_old_names_work_and_say_what_to_write(desdemona: Command, old: str) -> None:
    status, out, err = desdemona(*old.split(), "--help")
    assert (status, out) == (0, desdemona(*OLD_NAMES[old].split(), "--help")[1])
    assert (
        err
        == f"desdemona: `{old}` is now `{OLD_NAMES[old]}`; the old name will be removed in the next release\n"
    )
    assert f"\n  {old} " not in desdemona("--help")[1]


def test_arguments_follow_an_old_name(desdemona: Command) -> None:
    old, new = desdemona("experiment", "tell", "no-such"), desdemona("lab", "tell", "no-such")
    assert old[:2] == new[:2] == (2, "")
    assert old[2].endswith(new[2])


def test_a_page_is_named_or_the_questions_are_listed(desdemona: Command) -> None:
    assert desdemona("page")[:2] == desdemona("page", "questions")[:2]
    assert "desdemona page works" in desdemona("page")[1]


def test_options_may_stand_before_a_pages_name(desdemona: Command) -> None:
    before, after = ("--format", "csv", "traps", "--table", "x"), ("traps", "--format", "csv", "--table", "x")
    assert desdemona("page", *before) == desdemona("page", *after)
    assert desdemona("page", "--format", "json")[:2] == desdemona("page")[:2]
    assert "No such command 'moon'" in desdemona("page", "moon")[2]


def test_what_a_command_of_the_lab_lacks_is_said_in_one_line(
    desdemona: Command, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.setitem(sys.modules, "onnx", None)  # as if it were not installed
    monkeypatch.delitem(sys.modules, "lab.training.maia_onnx", raising=False)
    (tmp_path / "maia.pb.gz").write_bytes(b"")
    status, out, err = desdemona("lab", "import-model", str(tmp_path / "maia.pb.gz"))
    assert (status, out) == (2, "")
    assert err == "desdemona: this needs onnx: pip install 'desdemona[lab]'\n"


OF_THE_LAB = {"lab", "matplotlib", "onnx", "sklearn", "torch"}


def test_the_bot_loads_nothing_of_the_lab(tmp_path: Path) -> None:
    program = "import sys; import bot.daemon.program, bot.daemon.commands; print(*sys.modules)"
    done = subprocess.run(
        [sys.executable, "-c", program], cwd=tmp_path, capture_output=True, text=True, check=True
    )
    loaded = set(done.stdout.split())
    assert "bot.daemon.program" in loaded
    assert not {name.partition(".")[0] for name in loaded} & OF_THE_LAB


def test_a_command_that_there_is_not(desdemona: Command) -> None:
    for group in ((), ("db",), ("lab",)):
        status, _, err = desdemona(*group, "stat")
        assert status == 2
        assert "No such command 'stat'" in err


@pytest.mark.parametrize(
    ("arguments", "needed"),
    [
        (("--help",), set[str]()),
        (("--version",), set[str]()),
        (("db", "--help"), {"pydantic"}),  # typer reads parameters with it
        # The names of the players are those of their strategies, which know the games.
        (("engine", "--help"), {"pydantic", "chess"}),
        (("stats", "--help"), {"pydantic", "chess"}),
    ],
)
def test_help_waits_for_nothing_heavy(tmp_path: Path, arguments: tuple[str, ...], needed: set[str]) -> None:
    assert imported(tmp_path, *arguments) & HEAVY <= needed


def test_the_list_of_commands_imports_none(tmp_path: Path) -> None:
    found = imported(tmp_path, "--help")
    assert "bot.cli.main" in found
    assert not found & {command.module for command in ALL.values()}


def test_the_list_of_experiments_needs_no_extra(tmp_path: Path) -> None:
    assert not imported(tmp_path, "lab", "list") & {"onnx", "sklearn", "matplotlib", "torch"}


@pytest.mark.parametrize("player", ["trappy", "strong"])
def test_the_engine_loads_no_database_and_no_network(tmp_path: Path, player: str) -> None:
    typed = "name\nclear_board\nplay black f5\ngenmove white\nquit\n"
    found = imported(
        tmp_path, "engine", "--protocol", "gtp", "--strategy", player, "--depth", "2", typed=typed
    )
    spoken = {f"bot.protocols.{protocol}" for protocol in ("gtp", "nboard", "uci")}
    assert found & spoken == {"bot.protocols.gtp"}
    assert found & HEAVY <= FOR_SETTINGS_AND_RULES
