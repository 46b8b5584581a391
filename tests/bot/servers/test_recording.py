"""What is recorded of the traffic, and what is masked in it."""

import json
import os
import stat
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from bot.base.config import Config, ServersConfig
from bot.base.dialects import DIALECTS
from bot.base.errors import ConfigError, RefusedError, TransientError
from bot.base.events import DeclineReason
from bot.servers import recording
from bot.servers.adapters import make_server
from bot.servers.ggs.wire import GgsPlayer, PlayerList
from bot.servers.recording import NameMask, Recorder, Recording
from tests.bot.servers.test_lichess import GAME, TOKEN, Peer, answer, full, hang_up, peer, state, stream

__all__ = ["peer"]


def recorder(folder: Path) -> Recorder:
    return Recorder(str(folder), "arena", "Desdemona", NameMask(TOKEN), clock=lambda: 0.0)


def lines(folder: Path) -> list[dict[str, Any]]:
    (path,) = folder.iterdir()
    assert stat.S_IMODE(path.stat().st_mode) == 0o600
    return [json.loads(line) for line in path.read_text().splitlines()]


def test_names_are_masked_by_their_keys() -> None:
    """Alike everywhere; a player may have the name of a colour, and the protocol goes on."""
    mask = NameMask(TOKEN, ("lichess",))
    told = {
        "url": "https://x.example/@/Anna",
        "challenger": {"id": "anna", "name": "Anna", "rating": 1500},
        "white": {"name": "White"},
        "variant": {"key": "standard", "name": "Standard"},
        "color": "white",
        "text": f"anna and hannah, {TOKEN}",
        "createdBy": "anna",
        "email": "a@b.example",
        "fullId": "abcdefghijkl",
        "players": [{"user": {"id": "anna", "name": "Anna"}}],
        "fen": "8/8 white - 0",
        "number": 5,
    }
    assert json.loads(mask.data(json.dumps(told))) == told | {
        "url": "https://x.example/@/User1",
        "challenger": {"id": "user1", "name": "User1", "rating": 1500},
        "white": {"name": "User2"},
        "text": "user1 and hannah, ***",
        "createdBy": "user1",
        "email": "***",
        "fullId": "***",
        "players": [{"user": {"id": "user1", "name": "User1"}}],
        "fen": "8/8 user2 - 0",
    }
    line = json.loads(mask.data('{"type":"chatLine","username":"lichess","text":"Takeback sent"}'))
    assert line["username"] == "lichess"
    assert mask.data("<html>Anna</html>") == "<html>User1</html>"
    assert mask.data("7") == "7"


def test_names_and_the_token_where_only_some_answers_have_them() -> None:
    """In a tournament's tables, and in what a site says about tokens."""
    mask = NameMask(TOKEN)
    told = {
        "standing": {"players": [{"name": "Anna", "rank": 1}]},
        "podium": [{"name": "Bert"}],
        "duels": [{"p": [{"n": "Anna"}, {"n": "Carla"}]}],
        TOKEN: {"scopes": "bot:play", "userId": "bert"},
    }
    assert json.loads(mask.data(json.dumps(told))) == {
        "standing": {"players": [{"name": "User1", "rank": 1}]},
        "podium": [{"name": "User2"}],
        "duels": [{"p": [{"n": "User1"}, {"n": "User3"}]}],
        "***": {"scopes": "bot:play", "userId": "user2"},
    }


async def test_a_request_whose_body_is_no_form(peer: Peer, tmp_path: Path) -> None:
    """The token itself, when `desdemona check` asks what it permits."""
    config = Config(servers=ServersConfig(record=str(tmp_path / "new")))
    server = make_server(config, DIALECTS["lichess"], peer.url, TOKEN)
    told = {TOKEN: {"userId": "desdemona", "scopes": "bot:play", "expires": None}}
    peer.script("/api/token/test", answer(200, told))
    try:
        ((_, check),) = server.checks(may_challenge=False)
        assert "bot:play" in await check()
    finally:
        await server.close()
    (path,) = (tmp_path / "new").iterdir()
    assert TOKEN not in path.read_text()
    assert Recording.read(path).exchanges[0].form == {"": "***"}


@pytest.mark.parametrize(
    ("path", "masked"),
    [
        ("/api/challenge/Anna", "/api/challenge/User1"),
        ("/api/challenge/abcdefgh/accept", "/api/challenge/abcdefgh/accept"),
        (f"/api/games/user/anna?since=1&t={TOKEN}", "/api/games/user/user1?since=1&t=***"),
        ("/api/account", "/api/account"),
    ],
)
def test_names_in_paths(path: str, masked: str) -> None:
    assert NameMask(TOKEN).path(path) == masked


def test_text_of_ggs_comes_in_whole_lines(tmp_path: Path) -> None:
    """A name that is cut in two is masked; a prompt waits for no line's end."""
    made = recorder(tmp_path)
    exchange = made.begin("connect")
    exchange.received_text(b": Enter login : ", [])
    exchange.sent("Desdemona")
    exchange.received_text(b"READY\r\nfrom An", [])
    exchange.received_text(b"na: hello\nREA", [PlayerList((GgsPlayer("Anna", True, 1500.0, 50.0),))])
    exchange.ended("lost Anna")
    made.close()
    assert lines(tmp_path)[2:] == [
        {"s": 0.0, "n": 1, "received": ": Enter login : "},
        {"s": 0.0, "n": 1, "sent": "User1"},
        {"s": 0.0, "n": 1, "received": "READY\r\n"},
        {"s": 0.0, "n": 1, "received": "from User2: hello\n"},
        {"s": 0.0, "n": 1, "end": "lost User2"},
    ]


async def test_both_directions_are_recorded(peer: Peer, tmp_path: Path) -> None:
    """Requests with their forms, answers and streams line by line; without the token, whoever repeats it."""
    config = Config(servers=ServersConfig(record=str(tmp_path / "new")))
    server = make_server(config, DIALECTS["arena"], peer.url, TOKEN)
    peer.script(f"/api/bot/game/stream/{GAME}", stream(full(), b"\n", state("e2e4"), end="broken"))
    peer.script("/api/challenge/c1/decline", answer(400, {"error": f"no {TOKEN}"}))
    peer.script("/api/challenge/c2/accept", hang_up)
    try:
        await server.account()
        with pytest.raises(TransientError):
            async for _ in server.game_events(GAME):
                pass
        with pytest.raises(RefusedError):
            await server.decline("c1", DeclineReason.LATER)
        with pytest.raises(TransientError):
            await server.accept("c2")
    finally:
        await server.close()
    (path,) = (tmp_path / "new").iterdir()
    text = path.read_text()
    assert TOKEN not in text
    assert "desdemona" not in text.lower()
    found = Recording.read(path)
    account, game, decline, accept = found.exchanges
    assert (found.site, account.request, account.status) == ("arena", "GET /api/account", 200)
    assert json.loads(account.body) == {"id": "user1", "username": "User1", "title": "BOT"}
    kinds = [kind for _, _, kind, _ in game.parts]
    assert (kinds[:3], kinds[-1]) == (["received", "received", "received"], "end")
    assert json.loads(game.parts[2][3])["moves"] == "e2e4"
    assert game.parts[-1][3].startswith("ClientPayloadError: ")
    assert (decline.request, decline.form) == ("POST /api/challenge/c1/decline", {"reason": "later"})
    assert (decline.status, json.loads(decline.body)) == (400, {"error": "no ***"})
    assert (accept.status, accept.parts[0][2]) == (0, "end")


async def test_without_the_setting_nothing_is_recorded(peer: Peer, tmp_path: Path, monkeypatch: Any) -> None:
    monkeypatch.chdir(tmp_path)
    server = make_server(Config(), DIALECTS["arena"], peer.url, TOKEN)
    await server.account()
    await server.close()
    assert os.listdir(tmp_path) == []


def full_disk(_: Path, monkeypatch: pytest.MonkeyPatch) -> str:
    monkeypatch.setattr(recording, "MAX_RECORDING_BYTES", 50)
    return "has 0 MiB"


def no_folder(folder: Path, _: pytest.MonkeyPatch) -> str:
    folder.touch()
    return "File exists"


@pytest.mark.parametrize("trouble", [full_disk, no_folder])
def test_a_recording_that_fails_costs_nothing(
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    caplog: pytest.LogCaptureFixture,
    trouble: Callable[[Path, pytest.MonkeyPatch], str],
) -> None:
    """It is logged once."""
    folder = tmp_path / "recordings"
    reason = trouble(folder, monkeypatch)
    made = recorder(folder)
    for _ in range(3):
        made.begin("GET /api/account").ended()
    (record,) = caplog.records
    assert "servers.record: the recording ends: " in record.message
    assert reason in record.message


def test_recordings_of_one_second_have_names_of_their_own(tmp_path: Path) -> None:
    for _ in range(3):
        made = recorder(tmp_path)
        made.begin("GET /api/account")
        made.close()
    assert len(list(tmp_path.iterdir())) == 3


HEAD = '{"recording": 1, "site": "arena", "login": ""}\n'


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("", "is not a recording, or an empty one"),
        (HEAD, "is not a recording, or an empty one"),
        ('{"recording": 2}\n', "line 1: .*its format is 2, not 1"),
        ("[]\n", "line 1: not a line"),
        (HEAD + '{"s": 0, "n": 1, "received": ""}\n\n', "line 2: not a line"),
        (HEAD + '{"s": 0, "n": 1, "request": "GET /"}\n{"s": 0, "n": 1}\n', "line 3: not a line"),
        (HEAD + '{"s": 0, "n": 1, "request": "GET /"}\nhello\n', "line 3: not a line"),
    ],
)
def test_what_is_no_recording(tmp_path: Path, text: str, message: str) -> None:
    path = tmp_path / "file.jsonl"
    path.write_text(text)
    with pytest.raises(ConfigError, match=message):
        Recording.read(path)
    with pytest.raises(ConfigError, match="cannot read the recording"):
        Recording.read(tmp_path / "none")
