"""Every command on terminals that are not UTF-8."""

import asyncio
import json
import sys
from pathlib import Path

import pytest

from bot import __main__ as program
from bot.cli.main import COMMANDS, GROUPS, PAGES
from storage.database import Database
from storage.ledger.games import finish_game
from storage.records import GameResult
from tests.storage.samples import FELL, decision, opened, settled

NAME = "Ążań 第\N{RIGHTWARDS ARROW}é"
GAMES = [
    ["games"],
    ["show", "first"],
    ["stats"],
    ["stats", "--by", "week"],
    *(["page", name] for name in PAGES),
    ["page", "opponent", "a"],
    ["sql", "SELECT opponent FROM ask_games"],
    ["export"],
    ["db", "current"],
    ["status"],
]
READ = {"ascii": "utf-8", "latin-1": "latin-1", "utf-8": "utf-8"}
"""How to read the output: exports are UTF-8 wherever they go."""
HELP = [
    ["--help"],
    *([name, "--help"] for name in COMMANDS),
    *([group, name, "--help"] for group, (commands, _) in GROUPS.items() for name in commands),
]


@pytest.fixture
def a_game(migrated_file: Path) -> None:
    async def fill() -> None:
        database = await Database.open(f"sqlite:///{migrated_file}")
        async with database.write() as session:
            game = await opened(session, "first", opponent_id="a", opponent_name=NAME)
            await settled(session, game.id, 0, decision(quality=225.0), FELL)
            await finish_game(session, game.id, result=GameResult.WIN, end_reason="time", moves=["f5", "d6"])
        await database.close()

    asyncio.run(fill())


def run(monkeypatch: pytest.MonkeyPatch, encoding: str, *arguments: str) -> tuple[object, str, str]:
    """Exit status, output and errors."""
    with open("out", "w", encoding=encoding) as out, open("errors", "w", encoding=encoding) as errors:
        monkeypatch.setattr(sys, "argv", ["desdemona", *arguments])
        monkeypatch.setattr(sys, "stdout", out)
        monkeypatch.setattr(sys, "stderr", errors)
        with pytest.raises(SystemExit) as leaving:
            program.main()
    said, why = (Path(name).read_bytes().decode(READ[encoding]) for name in ("out", "errors"))
    return leaving.value.code, said, why


@pytest.mark.usefixtures("a_game")
@pytest.mark.parametrize("encoding", ["ascii", "latin-1"])
def test_every_command_prints_what_it_can(monkeypatch: pytest.MonkeyPatch, encoding: str) -> None:
    for arguments in [*GAMES, *HELP]:
        status, out, errors = run(monkeypatch, encoding, *arguments)
        assert "Traceback" not in errors, arguments
        assert status in (0, None) or (arguments == ["status"] and errors), (arguments, errors)
        assert out or errors
    told = run(monkeypatch, encoding, "sql", "SELECT opponent FROM ask_games", "--format", "json")[1]
    assert json.loads(told)[0]["opponent"] == NAME
    table = run(monkeypatch, encoding, "games")[1]
    assert (r"\u7b2c->" in table, "é" in table) == (True, encoding == "latin-1")


@pytest.mark.usefixtures("a_game")
def test_utf_8_is_left_as_it_is(monkeypatch: pytest.MonkeyPatch) -> None:
    assert NAME in run(monkeypatch, "utf-8", "games")[1]
