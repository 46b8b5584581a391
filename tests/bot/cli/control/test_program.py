"""The operator's commands on the command line: what they ask of the running program, and print."""

import asyncio
import json
from collections.abc import Iterator, Mapping
from io import StringIO
from pathlib import Path
from typing import Any

import pytest

from bot.arena.accounts import add_bot
from bot.control.audit import OPERATOR_ACTION_EVENT
from bot.control.control_socket import NotRunning
from storage.database import Database
from storage.ledger.blocks import list_blocks
from storage.ledger.events import list_events
from tests.bot.conftest import Command


def test_a_block_needs_no_running_program(desdemona: Command, database_file: Path, tmp_path: Path) -> None:
    one = desdemona("control", "block", "Ben")
    assert one[:2] == (0, "Ben is blocked at arena, from the next start of the program\n")
    assert "Ben was blocked already" in desdemona("block", "Ben")[1]
    assert desdemona("control", "block", "a b")[0] == 2
    assert "ben may play again at arena" in desdemona("control", "unblock", "ben")[1]
    status, _, told = desdemona("control", "unblock", "ben")
    assert (status, "ben was not blocked at arena by command" in told) == (2, True)
    accounts = "".join(
        f"[[accounts]]\nname = '{name}'\ndialect = '{name}'\n" for name in ("arena", "lichess")
    )
    (tmp_path / "config.toml").write_text(accounts)
    assert "choose one with --account" in desdemona("control", "block", "ben")[2]
    assert "ben is blocked at lichess" in desdemona("control", "block", "ben", "--account", "Lichess")[1]

    async def stored() -> list[list[str]]:
        database = await Database.open(f"sqlite:///{database_file}")
        async with database.read() as session:
            events = await list_events(session, kind=OPERATOR_ACTION_EVENT)
            blocks = [await list_blocks(session, site) for site in ("arena", "lichess")]
        await database.close()
        return [*blocks, [event.detail["result"] for event in events]]

    arena, lichess, results = asyncio.run(stored())
    assert (arena, lichess, len(results)) == ([], ["ben"], 7)


@pytest.fixture
def requests(monkeypatch: pytest.MonkeyPatch) -> list[Mapping[str, Any]]:
    """What the commands ask of the running program, which answers with one line."""
    seen: list[Mapping[str, Any]] = []

    def ask(_path: Path, request: Mapping[str, Any], _timeout_s: float | None) -> Iterator[str]:
        seen.append(request)
        yield '{"a": [1]}' if request.get("json") else "done \x1b[2J"

    monkeypatch.setattr("bot.control.control_socket.ask", ask)
    return seen


@pytest.mark.parametrize(
    ("arguments", "request_"),
    [
        (["status"], {"command": "status"}),
        (["pause"], {"command": "pause", "minutes": None}),
        (["pause", "7.5"], {"command": "pause", "minutes": 7.5}),
        (["resume"], {"command": "resume"}),
        (["drain"], {"command": "drain"}),
        (["reload"], {"command": "reload"}),
        (["log", "DEBUG"], {"command": "log", "level": "DEBUG"}),
        (["ack", "disk"], {"command": "ack", "alarm": "disk"}),
        (["snooze", "disk"], {"command": "snooze", "alarm": "disk", "minutes": 60.0}),
        (["snooze", "disk", "5"], {"command": "snooze", "alarm": "disk", "minutes": 5.0}),
        (["abort", "ab"], {"command": "abort", "game": "ab", "account": None}),
        (["resign", "ab", "--account", "x"], {"command": "resign", "game": "ab", "account": "x"}),
        (["say", "ab", "hello"], {"command": "say", "game": "ab", "text": "hello", "account": None}),
        (["block", "ben"], {"command": "block", "name": "ben", "account": None}),
        (["unblock", "ben", "--account", "x"], {"command": "unblock", "name": "ben", "account": "x"}),
        (
            ["arena-account", "rename", "ben", "Bert"],
            {"command": "arena_account", "action": "rename", "name": "ben", "new_name": "Bert"},
        ),
        (
            ["arena-account", "delete", "ben", "--yes"],
            {"command": "arena_account", "action": "delete", "name": "ben", "new_name": ""},
        ),
    ],
)
def test_what_is_asked(
    desdemona: Command, requests: list[Mapping[str, Any]], arguments: list[str], request_: dict[str, Any]
) -> None:
    status, out, _ = desdemona(*arguments)
    assert (status, out) == (0, "done \\x1b[2J\n")  # the terminal is safe
    assert requests == [request_]


def test_status_for_scripts(desdemona: Command, requests: list[Mapping[str, Any]]) -> None:
    status, out, _ = desdemona("status", "--json")
    assert (status, json.loads(out)) == (0, {"a": [1]})
    assert requests == [{"command": "status", "json": True}]


@pytest.fixture
def alone(monkeypatch: pytest.MonkeyPatch) -> None:
    def ask(*_: object) -> Iterator[str]:
        raise NotRunning("no running program")
        yield ""

    monkeypatch.setattr("bot.control.control_socket.ask", ask)


@pytest.mark.usefixtures("alone")
def test_the_arenas_owner_without_a_running_program(desdemona: Command, migrated_file: Path) -> None:
    async def add() -> None:
        database = await Database.open(f"sqlite:///{migrated_file}")
        await add_bot(database, "Robot")
        await database.close()

    assert desdemona("arena-account", "list")[2] == "The arena has no accounts yet.\n"
    asyncio.run(add())
    for action, said in (
        ("ban", "Robot is banned; games ended: 0"),
        ("unban", "Robot may play again, with its old token"),
        ("revoke", "the token of Robot is no longer valid"),
    ):
        assert desdemona("arena-account", action, "robot")[:2] == (0, f"{said}\n")
    status, _, err = desdemona("arena-account", "approve", "robot")
    assert status == 2
    assert "Robot is not waiting for approval" in err
    assert "Robot" in desdemona("arena-account", "list")[1]
    (account,) = json.loads(desdemona("arena-account", "list", "--json")[1])
    assert (account["name"], account["access"]) == ("Robot", "active")
    assert desdemona("arena-account", "delete", "Robot", "--yes")[0] == 0
    assert json.loads(desdemona("arena-account", "list", "--json")[1]) == []


@pytest.mark.usefixtures("alone", "migrated_file")
def test_a_deletion_is_confirmed(desdemona: Command, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("sys.stdin", StringIO("n\n"))
    status, out, _ = desdemona("arena-account", "delete", "ben")
    assert status != 0
    assert out.strip() == ""
