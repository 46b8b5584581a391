"""The commands of the control socket in the whole program, and requests that are not as they should be."""

import json
from pathlib import Path
from typing import Any
from unittest.mock import Mock

import aiohttp
import pytest

from bot.control.actions import OperatorActions
from bot.control.arena_actions import ArenaActions
from bot.control.commands import operator_commands, parse_minutes
from bot.control.control_socket import ControlError
from storage.database import Database
from storage.ledger.events import list_events
from tests.bot.test_accounts import HOME, Program, online


async def test_the_whole_program(tmp_path: Path) -> None:
    program = Program(tmp_path, HOME)
    async with program:
        await program.shows(
            "home: playing as desdemona at arena", "link: up", "New games may start.", "arena: http"
        )
        await online(program.url)
        status = json.loads((await program.ask("status", json=True))[0])
        assert status["admission"]["state"] == "open"
        assert status["accounts"][0]["link"]["is_up"]
        assert status["database"]["trouble"] == ""
        assert status["arena"]["games"] == 0
        assert await program.ask("pause", minutes=5) == ["paused for 5 minutes; running games: 0"]
        await program.shows("Paused by socket 0 s ago, for another ")
        async with aiohttp.ClientSession(program.url) as http:
            async with http.post("/api/person", json={"name": "Anna"}) as answer:
                token = (await answer.json())["token"]
            headers = {"Authorization": f"Bearer {token}"}
            terms = {"clock.limit": 180, "clock.increment": 2, "keepAliveStream": "true"}
            async with http.post("/api/challenge/desdemona", data=terms, headers=headers) as answer:
                lines = (await answer.text()).split()
            assert '{"done":"declined"}' in "".join(lines)
            assert await program.ask("resume") == ["New games may start."]
            assert (await program.ask("snooze", alarm="disk", minutes=5)) == [
                "alarm disk: snoozed for 5 minutes"
            ]
            with pytest.raises(ControlError, match="alarm disk is not firing"):
                await program.ask("ack", alarm="disk")
            with pytest.raises(ControlError, match="minutes is missing"):
                await program.ask("snooze", alarm="disk")
            assert await program.ask("block", name="Ben") == ["Ben is blocked at arena"]
            listed = json.loads((await program.ask("arena_accounts"))[0])
            assert [(each["name"], each["access"]) for each in listed] == [
                ("Anna", "active"),
                ("Desdemona", "active"),
            ]
            banned = await program.ask("arena_account", action="ban", name="anna")
            assert banned == ["Anna is banned; games ended: 0"]
            async with http.get("/api/account", headers=headers) as answer:
                assert answer.status == 401
        with pytest.raises(ControlError, match="Desdemona is one of our accounts"):
            await program.ask("arena_account", action="delete", name="desdemona")
        with pytest.raises(ControlError, match="no such action: 'explode'; known: approve, ban"):
            await program.ask("arena_account", action="explode", name="anna")
        deleted = await program.ask("arena_account", action="delete", name="anna")
        assert deleted == ["the account is deleted; its games are now under deleted-1; games ended: 0"]
        assert await program.ask("drain") == ["the program will stop after its games; running games: 0"]
        assert program._running is not None
        await program._running
    database = await Database.open(f"sqlite:///{tmp_path}/desdemona.db")
    async with database.read() as session:
        events = await list_events(session, kind="operator_action")
    await database.close()
    assert [event.detail["action"] for event in reversed(events)] == [
        "pause",
        "resume",
        "snooze",
        "ack",
        "block",
        "arena-account ban",
        "arena-account delete",
        "arena-account delete",
        "drain",
    ]
    assert "anna" not in json.dumps([event.detail for event in events]).lower()


CHALLENGE = {"command": "challenge", "name": "a", "variant": "x", "clock": "3+2"}


@pytest.mark.parametrize(
    ("request_", "why"),
    [
        ({"command": "abort"}, "game is missing"),
        ({"command": "abort", "game": ["a"]}, "game: Input should be a valid string"),
        ({"command": "resign", "game": None}, "game is missing"),
        ({"command": "say", "game": "a"}, "text is missing"),
        ({"command": "say", "game": "a", "text": 5}, "text: Input should be a valid string"),
        ({"command": "pause", "minutes": "5"}, "minutes: Input should be a"),
        ({"command": "pause", "minutes": True}, "minutes: Input should be a"),
        ({"command": "pause", "minutes": 10**400}, "minutes: Input should be a"),
        ({"command": "pause", "minutes": float("nan")}, "minutes: Input should be a"),
        ({"command": "block", "name": {}}, "name: Input should be a valid string"),
        ({"command": "block", "name": "a", "account": 1}, "account: Input should be a valid string"),
        ({"command": "log"}, "level is missing"),
        ({"command": "status", "json": "yes"}, "json: Input should be a valid boolean"),
        ({"command": "challenge", "name": "a", "variant": "x"}, "clock is missing"),
        (
            {"command": "challenge", "name": "a", "variant": "x", "clock": "3", "games": 1},
            r"clock '3' is not of the form 3\+2",
        ),
        (CHALLENGE | {"games": 0}, "games: Input should be"),
        (
            CHALLENGE | {"games": 1.5},
            "games: Input should be",
        ),
        (
            CHALLENGE | {"games": 1001},
            "games: Input should be",
        ),
        ({"command": "tournament"}, "id is missing"),
        ({"command": "arena_account", "action": "ban"}, "name is missing"),
    ],
)
async def test_requests_that_cannot_be_meant(request_: dict[str, Any], why: str) -> None:
    """No action is carried out."""
    nothing = Mock()
    actions, arena = OperatorActions(nothing), ArenaActions(nothing, nothing)
    command = operator_commands(actions, arena)[request_["command"]]
    with pytest.raises(ControlError, match=why):
        await command(request_, lambda _: None)
    assert nothing.mock_calls == []


def test_a_clock_in_minutes() -> None:
    assert parse_minutes("0.5+3").initial_s == 30
