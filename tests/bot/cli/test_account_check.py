"""`desdemona check` contacts the site, tests what playing needs, and says what it did not try."""

from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import pytest
from aiohttp import web
from pydantic import SecretStr

from bot.account.account_runner import role_of
from bot.base.config import ArenaConfig, Config, MatchmakingConfig, ServerConfig, StorageConfig
from bot.cli.account_check import Finding, check_account, check_arena
from storage.database import Database
from tests.bot.base.network.sites import clean_environment, site
from tests.ggs.server import FakeGgs

__all__ = ["clean_environment"]  # a fixture, used by name

TOKEN = "lip_VerySecretToken42"
UNKNOWN = "not tried: lichess does not say what the token permits: "
GOOD = "bot:play,challenge:write"
ACCOUNT = {"id": "desdemona", "username": "Desdemona", "title": "BOT"}
Handler = Callable[[web.Request], Awaitable[web.StreamResponse]]


class Site:
    """A scripted lichess.org."""

    def __init__(self, **account: Any) -> None:
        self.account = ACCOUNT | account
        self.token: Any = {TOKEN: {"userId": "desdemona", "scopes": GOOD, "expires": None}}
        """The answer to a token test; None if the site has none."""
        self.headers: dict[str, str] = {}
        self.stream: int | str = "\n"
        """What the stream says, or the status of its refusal."""
        self.opened = 0

    async def handle(self, request: web.Request) -> web.StreamResponse:
        if request.path == "/api/account":
            return web.json_response(self.account, headers=self.headers)
        if request.path == "/api/token/test" and self.token is not None:
            assert (request.method, await request.text()) == ("POST", TOKEN)
            return web.json_response(self.token)
        if request.path == "/api/stream/event":
            self.opened += 1
            if isinstance(self.stream, int):
                return web.json_response({"error": "Missing scope"}, status=self.stream)
            response = web.StreamResponse(headers={"Content-Type": "application/x-ndjson"})
            await response.prepare(request)
            await response.write(self.stream.encode())
            return response
        raise web.HTTPNotFound

    async def check(self, folder: Path, **changes: Any) -> list[Finding]:
        async with site(self.handle, "") as port:
            server = ServerConfig(dialect="lichess", url=f"http://127.0.0.1:{port}", token=SecretStr(TOKEN))
            return await check_account(settings(folder, server=server, **changes))


def settings(folder: Path, **changes: Any) -> Config:
    storage = StorageConfig(url=f"sqlite:///{folder / 'desdemona.db'}")
    return Config.model_validate({"storage": storage} | changes)


def of(findings: list[Finding], what: str) -> tuple[bool | None, str]:
    (found,) = [finding for finding in findings if finding.what == what]
    return found.is_good, found.text


async def test_all_is_well(tmp_path: Path) -> None:
    findings = await Site().check(tmp_path)
    assert [(each.what, each.is_good) for each in findings] == [
        ("games", True), ("account", True), ("token", True), ("others", None), ("event stream", True),
    ]  # fmt: skip
    assert of(findings, "account")[1].startswith("signed in as Desdemona at http://127.0.0.1:")
    assert of(findings, "token")[1] == "has the scopes bot:play, challenge:write"
    assert of(findings, "others")[1] == "not tried: challenges, moves and chat"
    assert of(findings, "event stream")[1].startswith("opened, and answered after ")
    assert not any(TOKEN in finding.line for finding in findings)
    assert [finding.line[:6] for finding in findings] == ["ok    "] * 3 + ["--    "] + ["ok    "]


@pytest.mark.parametrize(
    ("account", "said"),
    [
        (
            {"title": "GM"},
            "server.token: the account Desdemona is not a bot account; run",
        ),
        ({"disabled": True}, "server.token: the site has closed the account Desdemona"),
    ],
)
async def test_an_account_that_cannot_play(account: dict[str, Any], said: str, tmp_path: Path) -> None:
    there = Site(**account)
    findings = await there.check(tmp_path)
    assert (findings[-1].what, findings[-1].is_good) == ("account", False)
    assert findings[-1].text.startswith(said)
    assert there.opened == 0


async def test_a_marked_account_is_named(tmp_path: Path) -> None:
    findings = await Site(tosViolation=True).check(tmp_path)
    assert of(findings, "account")[1].endswith("; marked by the site for breaking its rules")


@pytest.mark.parametrize(
    ("token", "is_good", "said"),
    [
        ({"scopes": "board:play"}, False, "the token lacks the scope bot:play; create one that "),
        ({"scopes": ""}, False, "the token lacks the scope bot:play"),
        ({"scopes": "bot:play", "expires": 4 * 10**12}, True, "has the scopes bot:play; it expires on 2096-"),
        ({"scopes": 5}, None, UNKNOWN),
        ({"scopes": GOOD, "expires": 10**30}, None, UNKNOWN),
    ],
)  # fmt: skip
async def test_scopes(token: dict[str, Any], is_good: bool | None, said: str, tmp_path: Path) -> None:
    there = Site()
    there.token = {TOKEN: token}
    found = of(await there.check(tmp_path), "token")
    assert (found[0], found[1][: len(said)]) == (is_good, said)


async def test_a_time_in_the_past_is_not_shown(tmp_path: Path) -> None:
    """PyChess gives the same one for every token."""
    there = Site()
    there.token = {TOKEN: {"scopes": "bot:play", "expires": 1358509698620}}
    assert of(await there.check(tmp_path), "token") == (True, "has the scopes bot:play")


async def test_a_token_that_nobody_knows(tmp_path: Path) -> None:
    there = Site()
    there.token = {TOKEN: None}
    assert of(await there.check(tmp_path), "token") == (False, "lichess does not know the token")
    there.token = {"another": None}
    assert of(await there.check(tmp_path), "token")[0] is None


async def test_matchmaking_needs_another_scope(tmp_path: Path) -> None:
    there = Site()
    there.token = {TOKEN: {"scopes": "bot:play"}}
    matchmaking = MatchmakingConfig(enabled=True, variants=("standard",))
    found = of(await there.check(tmp_path, matchmaking=matchmaking), "token")
    assert found[0] is False
    assert found[1].startswith("matchmaking.enabled: the token lacks the scope challenge:write")


@pytest.mark.parametrize(
    ("scopes", "is_good"), [("bot:play, challenge:write", True), ("puzzle:read", False), (None, None)]
)
async def test_sites_without_a_token_test(scopes: str | None, is_good: bool | None, tmp_path: Path) -> None:
    """Their answers may have a header with the scopes."""
    there = Site()
    there.token = None
    there.headers = {} if scopes is None else {"X-OAuth-Scopes": scopes}
    assert of(await there.check(tmp_path), "token")[0] is is_good


@pytest.mark.parametrize(
    ("stream", "said"),
    [
        (403, "GET /api/stream/event: HTTP 403: Missing scope"),
        ("", "GET /api/stream/event: the stream ended at once"),
        ("garbage\n", ""),
    ],
)
async def test_a_stream_that_does_not_work(stream: int | str, said: str, tmp_path: Path) -> None:
    there = Site()
    there.stream = stream
    is_good, text = of(await there.check(tmp_path), "event stream")
    assert is_good is False
    assert said in text


async def test_a_running_bot_keeps_its_stream(tmp_path: Path) -> None:
    database, there = await Database.open(f"sqlite:///{tmp_path / 'desdemona.db'}"), Site()
    async with database.hold_role(role_of("Desdemona", "lichess")):
        findings = await there.check(tmp_path)
    await database.close()
    assert of(findings, "account")[0]
    assert of(findings, "event stream") == (
        None,
        "not tried: the bot is running as Desdemona, and a second stream would end or rob the first",
    )
    assert there.opened == 0


async def test_the_service_of_ggs(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("bot.servers.ggs.server.ANSWER_S", 0.2)
    ggs = FakeGgs()
    ggs.central.register("desde", "secret")
    async with ggs.running() as port:
        server = ServerConfig(
            dialect="ggs", url=f"ggs://127.0.0.1:{port}", name="desde", token=SecretStr("secret")
        )
        findings = await check_account(settings(tmp_path, server=server))
        assert of(findings, "account")[0]
        assert of(findings, "service") == (True, "/os answers: registered")
        assert of(findings, "others") == (None, "not tried: challenges, moves and chat")
        assert not [finding for finding in findings if finding.what == "event stream"]


@asynccontextmanager
async def _arena_role(folder: Path) -> AsyncIterator[None]:
    database = await Database.open(f"sqlite:///{folder / 'desdemona.db'}")
    async with database.hold_role("arena"):
        yield
    await database.close()


async def _unknown(_: web.Request) -> web.StreamResponse:
    return web.json_response({"error": "No such token"}, status=401)


async def _another(_: web.Request) -> web.StreamResponse:
    return web.Response()


async def test_the_arenas_port(tmp_path: Path) -> None:
    assert "0 is free" in await check_arena(settings(tmp_path, arena=ArenaConfig(port=0)))
    async with site(_unknown, "") as port:
        config = settings(tmp_path, arena=ArenaConfig(port=port))
        with pytest.raises(Exception, match=f"arena.port: cannot listen on 127.0.0.1:{port}: "):
            await check_arena(config)
        async with _arena_role(tmp_path):
            assert await check_arena(config) == f"it is open and answers at http://127.0.0.1:{port}"
    async with _arena_role(tmp_path):
        with pytest.raises(Exception, match=f"is running, but not at http://127.0.0.1:{port}: "):
            await check_arena(config)
    async with site(_another, "") as port, _arena_role(tmp_path):
        with pytest.raises(Exception, match="another program seems to answer"):
            await check_arena(settings(tmp_path, arena=ArenaConfig(port=port)))
