"""The whole program in this process: a person plays over HTTP, signals stop it, a restart resumes."""

import asyncio
import json
import math
import os
import random
import signal
import socket
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import aiohttp
import pytest
from pydantic import SecretStr
from sqlalchemy import select

from bot.account.account_runner import sign_in
from bot.arena.accounts import Accounts
from bot.arena.server import Arena
from bot.arena.traffic.bot_slots import BotSlots
from bot.base.config import (
    ArenaConfig,
    Config,
    EngineConfig,
    ServerConfig,
    ShutdownConfig,
    StorageConfig,
    load_config,
)
from bot.base.errors import AuthError, ConfigError, ProtocolError, RefusedError, TransientError
from bot.daemon import program
from bot.daemon.program import ArenaHost, LiveSettings, drop_taken_partners, open_server, play, run
from bot.game.shared_game_limit import SharedGameLimit
from bot.servers.lichess import LichessServer
from bot.threads.fair_queue import FairQueue
from storage.database import Database, Role
from storage.errors import RoleLost, RoleTaken, StorageError
from storage.ledger.decisions import list_decisions
from storage.ledger.games import load_game
from storage.records import DecisionState, GameStatus, TimeSource
from storage.tables.games import ReplyTimeRow
from tests.bot.fakes import BALANCED, FakeServer
from tests.patience import PATIENCE_S
from tests.storage.samples import ARENA
from tests.system.daemon import Daemon, free_port
from tests.system.person import Person


def settings(folder: Path, **changes: Any) -> Config:
    known: dict[str, Any] = {
        "storage": StorageConfig(url=f"sqlite:///{folder / 'desdemona.db'}"),
        "arena": ArenaConfig(port=free_port(), games_per_opponent=1000),  # all people have one address
        "engine": EngineConfig(max_depth=3, workers=1, table_mb=1),
        "assignment": BALANCED.model_copy(update={"seed": 1}),
        "shutdown": ShutdownConfig(drain_s=20),
    }
    return Config(**(known | changes))


@asynccontextmanager
async def running(config: Config) -> AsyncIterator[str]:
    """Run the program until SIGTERM; yield the arena's address once it answers."""
    url = f"http://{config.arena.host}:{config.arena.port}"
    program = asyncio.create_task(play(config))
    try:
        async with aiohttp.ClientSession() as http, asyncio.timeout(PATIENCE_S):
            while not await is_there(http, url):
                assert not program.done(), program
        yield url
        os.kill(os.getpid(), signal.SIGTERM)
        async with asyncio.timeout(PATIENCE_S):
            await program
    finally:
        program.cancel()
        await asyncio.wait([program])


async def is_there(http: aiohttp.ClientSession, url: str) -> bool:
    """Whether the bot is listening for challenges."""
    try:
        async with http.get(f"{url}/api/bot/online") as answer:
            return b"desdemona" in (await answer.read()).lower()
    except aiohttp.ClientConnectionError:
        await asyncio.sleep(0.01)
        return False


def person(url: str, seed: int) -> Person:
    daemon: Any = SimpleNamespace(url=url, up=asyncio.Event())
    daemon.up.set()
    return Person(daemon, f"person{seed}", seed)


async def settled(folder: Path, game_id: str) -> int:
    """Check that a game's record is closed; return its number of decisions."""
    database = await Database.open(f"sqlite:///{folder / 'desdemona.db'}")
    try:
        async with database.read() as session:
            game = await load_game(session, ARENA, game_id)
            assert game is not None
            assert (game.state, game.is_settled) == (GameStatus.FINISHED, True)
            decisions = await list_decisions(session, game.id)
            assert all(d.outcome is not None or d.state is DecisionState.DROPPED for d in decisions)
            assert all(d.decision.move == game.moves[d.ply] for d in decisions)
            return len(decisions)
    finally:
        await database.close()


async def test_a_game_to_its_end(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    async with running(settings(tmp_path)) as url:
        anna = person(url, 1)
        game_id = await anna.play()
        await anna.close()
    assert capsys.readouterr().out == f"Desdemona plays at {url}\n"
    decisions = await settled(tmp_path, game_id)
    assert decisions > 20
    times = await reply_times(tmp_path)
    assert len(times) >= decisions - 1  # the last move may have ended the game
    assert TimeSource.SERVER in {row.source for row in times}


async def test_busy_search_threads_leave_no_room_for_games(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    made: list[SharedGameLimit] = []

    class Recorded(SharedGameLimit):
        def __init__(self, *arguments: Any) -> None:
            super().__init__(*arguments)
            made.append(self)

    monkeypatch.setattr(program, "SharedGameLimit", Recorded)
    async with running(settings(tmp_path)):
        (limit,) = made
        assert limit.capacity("arena").max_games == math.inf
        monkeypatch.setattr(FairQueue, "is_full", lambda *_: True)
        assert limit.capacity("arena").max_games == 0


async def reply_times(folder: Path) -> list[ReplyTimeRow]:
    database = await Database.open(f"sqlite:///{folder / 'desdemona.db'}")
    try:
        async with database.read() as session:
            return list(await session.scalars(select(ReplyTimeRow)))
    finally:
        await database.close()


async def test_a_game_goes_on_after_a_restart(tmp_path: Path) -> None:
    config = settings(tmp_path)
    async with running(config.model_copy(update={"shutdown": ShutdownConfig(drain_s=0)})) as url:
        anna = person(url, 2)
        game = asyncio.create_task(anna.play())
        async with aiohttp.ClientSession(url) as http, asyncio.timeout(PATIENCE_S):
            while not await moves_made(http, anna):  # noqa: ASYNC110 - it happens in another program
                await asyncio.sleep(0.01)
        anna._place.up.clear()
    assert not game.done()
    async with running(config):
        anna._place.up.set()
        async with asyncio.timeout(PATIENCE_S):
            game_id = await game
        await anna.close()
    assert await settled(tmp_path, game_id) > 20


async def moves_made(http: aiohttp.ClientSession, who: Person) -> bool:
    if not who._token:
        return False
    async with http.get("/api/account/playing", headers=who._headers) as answer:
        return any(game["lastMove"] for game in (await answer.json())["nowPlaying"])


async def test_one_program_plays_an_account(tmp_path: Path) -> None:
    config = settings(tmp_path)
    database = await Database.open(config.storage.url)
    async with database.hold_role("account desdemona at arena"):
        with pytest.raises(StorageError, match="already runs the account desdemona at arena"):
            await play(config)
    await database.close()


async def test_a_port_in_use(tmp_path: Path) -> None:
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))
        taken.listen()
        port: int = taken.getsockname()[1]
        with pytest.raises(ConfigError, match=f"cannot listen on 127.0.0.1:{port}: port in use"):
            await play(settings(tmp_path, arena=ArenaConfig(port=port)))


async def test_another_server(database: Database, tmp_path: Path) -> None:
    arena = Arena(ArenaConfig(port=0), database)
    async with arena.running() as url, aiohttp.ClientSession(url) as http:
        async with http.post("/api/person", json={"name": "anna"}) as answer:
            persons_token = (await answer.json())["token"]

        def playing_with(token: str) -> Config:
            server = ServerConfig(url=url, token=SecretStr(token))
            return settings(tmp_path, arena=ArenaConfig(enabled=False), server=server)

        with pytest.raises(AuthError, match="401"):
            await play(playing_with("wrong"))
        with pytest.raises(
            ConfigError, match="anna is not a bot account; run `desdemona upgrade-account` to make it one"
        ):
            await play(playing_with(persons_token))
        with pytest.raises(ConfigError, match="needs a token"):
            await play(playing_with(""))


@pytest.mark.parametrize(
    ("dialect", "url"),
    [
        ("lichess", "https://lichess.org"),
        ("playstrategy", "https://playstrategy.org"),
        ("pychess", "https://www.pychess.org"),
    ],
)
async def test_sites_have_their_own_address(
    database: Database, tmp_path: Path, dialect: Any, url: str
) -> None:
    config = settings(
        tmp_path,
        arena=ArenaConfig(enabled=False),
        server=ServerConfig(dialect=dialect, token=SecretStr("lip_token")),
    )
    arena = ArenaHost(config, {}, database, is_standby=False)
    async with open_server(config, database=database, arena=arena) as server:
        assert isinstance(server, LichessServer)
        assert (server.site, server._url) == (dialect, url)


class Openings:
    """Arenas in turn, each of which opens, or ends with its error."""

    def __init__(self, *errors: Exception) -> None:
        self.errors = list(errors)
        self.tokens: list[Any] = []
        self.bot_tokens = {"Desdemona": "first"}
        self.plain_share = 0.0

    def __call__(self, *_: Any, plain_share: float, **__: Any) -> "Openings":
        self.plain_share = plain_share
        return self

    @asynccontextmanager
    async def running(self, _: Any, tokens: Any) -> AsyncIterator[str]:
        self.tokens.append(dict(tokens))
        if not isinstance(self.errors[0], RoleLost):
            raise self.errors.pop(0)
        yield "http://127.0.0.1:1"

    @property
    def role(self) -> Any:
        async def watch() -> None:
            raise self.errors.pop(0)

        return SimpleNamespace(watch=watch)


async def test_once_open_the_arena_waits_for_what_it_lacks(
    database: Database, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    """Its end would be that of all accounts, those at other sites too."""
    caplog.set_level("INFO")
    lacking = [RoleTaken("another program runs it"), ConfigError("port in use"), StorageError("no database")]
    openings = Openings(RoleLost("no longer ours"), *lacking, RoleLost("again"), ZeroDivisionError("at last"))
    monkeypatch.setattr("bot.daemon.program.Arena", openings)
    monkeypatch.setattr("bot.daemon.program.STANDBY_POLL_INTERVAL_S", 0.0)
    config = settings(tmp_path)
    host = ArenaHost(config, {"home": config}, database, is_standby=False)
    with pytest.raises(ZeroDivisionError):
        await host.run()
    assert openings.tokens == [{}, *[{"Desdemona": "first"}] * 5]
    assert openings.plain_share == 0.5  # of standard and trappy, between which a draw decides
    assert caplog.text.count("waiting") == 1
    assert not host.opened.is_set()


async def test_a_standby_says_who_has_the_arena_until_it_opens(
    database: Database, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Its account is told at once, not left to wait: it is a standby, too."""
    told = asyncio.Event()

    class Takeover(Openings):
        @asynccontextmanager
        async def running(self, *_: Any) -> AsyncIterator[str]:
            if self.errors:
                raise self.errors.pop()
            await told.wait()
            yield "http://127.0.0.1:1"

        @property
        def role(self) -> Any:
            return SimpleNamespace(watch=asyncio.Event().wait)

    monkeypatch.setattr("bot.daemon.program.Arena", Takeover(RoleTaken("another program runs it")))
    monkeypatch.setattr("bot.daemon.program.STANDBY_POLL_INTERVAL_S", 0.0)
    host = ArenaHost(settings(tmp_path), {}, database, is_standby=True)
    running = asyncio.create_task(host.run())
    try:
        async with asyncio.timeout(PATIENCE_S):
            with pytest.raises(RoleTaken, match="another program runs it"):
                await host.address("Desdemona")
            told.set()
            await host.opened.wait()
            assert await host.address("Desdemona") == ("http://127.0.0.1:1", "first")
    finally:
        running.cancel()
        await asyncio.wait([running])


@pytest.mark.parametrize("error", [RoleTaken("another runs it"), ConfigError("port"), StorageError("gone")])
async def test_an_arena_that_cannot_open_at_the_start_ends_the_program(
    database: Database, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, error: Exception
) -> None:
    monkeypatch.setattr("bot.daemon.program.Arena", Openings(error))
    config = settings(tmp_path)
    with pytest.raises(type(error)):
        await ArenaHost(config, {"home": config}, database, is_standby=False).run()


def test_run_tells_in_one_line(tmp_path: Path) -> None:
    (tmp_path / "desdemona.db").mkdir()
    with pytest.raises(Exception, match="it is a folder") as caught:
        run(settings(tmp_path))
    assert "\n" not in str(caught.value)


async def test_signing_in_waits_for_the_server(caplog: pytest.LogCaptureFixture) -> None:
    server, stop = FakeServer(), asyncio.Event()
    server.faults["account"] = [
        TransientError("HTTP 502"),
        ProtocolError("the answer is not JSON"),
        RefusedError("HTTP 404: Not found.", 404),
    ]
    account = await sign_in(server, stop, random.Random(1))
    assert account is not None
    assert account.name == "Desdemona"
    assert server.calls == ["account"] * 4
    assert "cannot sign in at arena: the answer is not JSON (2 failed attempts in" in caplog.text
    assert "cannot sign in at arena: HTTP 404: Not found. (3 failed attempts in" in caplog.text


async def test_a_wrong_token_ends_it_at_once() -> None:
    server = FakeServer()
    server.faults["account"] = [AuthError("GET /api/account: HTTP 401: No such token")]
    with pytest.raises(AuthError, match=r"^server\.token: arena does not accept it: .*: No such token$"):
        await sign_in(server, asyncio.Event(), random.Random(1))
    assert server.calls == ["account"]


async def test_a_signal_while_signing_in() -> None:
    server, stop = FakeServer(), asyncio.Event()
    server.faults["account"] = [TransientError("HTTP 429", retry_after_s=1000.0)]
    waiting = asyncio.create_task(sign_in(server, stop, random.Random(1)))
    await server.until(lambda: "account" in server.calls)
    stop.set()
    async with asyncio.timeout(PATIENCE_S):
        assert await waiting is None


async def test_a_second_signal_leaves_at_once(tmp_path: Path) -> None:
    async with Daemon(tmp_path, engine__max_depth=3, shutdown__drain_s=3600) as daemon:
        anna = Person(daemon, "anna", 1)
        game = asyncio.create_task(anna.play())
        async with aiohttp.ClientSession(daemon.url) as http, asyncio.timeout(PATIENCE_S):
            while not await moves_made(http, anna):  # noqa: ASYNC110 - it happens in another program
                await asyncio.sleep(0.01)
        game.cancel()
        await asyncio.wait([game])
        await anna.close()
        program = daemon._process
        assert program is not None
        program.send_signal(signal.SIGTERM)
        async with asyncio.timeout(PATIENCE_S):
            while "stopping; running games: 1" not in daemon.log.read_text():  # noqa: ASYNC110
                await asyncio.sleep(0.01)
        program.send_signal(signal.SIGINT)
        async with asyncio.timeout(PATIENCE_S):
            assert await program.wait() == 128 + signal.SIGINT
        assert "Traceback" not in daemon.log.read_text()


async def test_a_level_whose_name_a_person_has_is_left_out(
    database: Database, caplog: pytest.LogCaptureFixture
) -> None:
    config = Config(arena=ArenaConfig(levels=(1, 3, 4)))
    configs = config.by_account()
    accounts = Accounts(database)
    await accounts.ensure_bot("Level-1")
    await accounts.add_person("LEVEL-3")
    await accounts.add_person("Level-2")
    assert list(await drop_taken_partners(config, configs, database)) == ["arena", "Level-1", "Level-4"]
    (line,) = caplog.messages
    assert "arena.levels: Level-3 cannot play, because a person at the arena has that name" in line
    await accounts.add_person("Like-1300")
    config = Config(arena=ArenaConfig(like=(1300,)))
    assert list(await drop_taken_partners(config, config.by_account(), database)) == ["arena"]
    assert "arena.like: Like-1300 cannot play" in caplog.messages[-1]


async def ask_arena(port: int, path: str, accept: str = "*/*") -> tuple[int, str]:
    """The status and text of an answer at a port of the loopback."""
    url, headers = f"http://127.0.0.1:{port}{path}", {"Accept": accept}
    async with aiohttp.ClientSession() as http, http.get(url, headers=headers) as answer:
        assert answer.status != 503 or answer.headers["Retry-After"] == "5"
        return answer.status, await answer.text()


async def test_without_its_database_the_arena_keeps_its_port(
    database: Database, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """When PostgreSQL dropped a connection, the port was closed, and visitors saw no page."""
    lost, back, refused = asyncio.Event(), asyncio.Event(), asyncio.Event()
    errors: list[StorageError] = []
    hold_role = database.hold_role

    async def watch(_role: Role) -> None:
        await lost.wait()
        lost.clear()
        raise RoleLost("the arena role was lost with the connection to the database")

    @asynccontextmanager
    async def hold(name: str) -> AsyncIterator[Role]:
        if errors:
            refused.set()
            raise errors[-1]
        back.set()
        async with hold_role(name) as role:
            yield role

    monkeypatch.setattr(Role, "watch", watch)
    monkeypatch.setattr(database, "hold_role", hold)
    monkeypatch.setattr("bot.daemon.program.STANDBY_POLL_INTERVAL_S", 0.0)
    config = settings(tmp_path, arena=ArenaConfig(port=0))
    host = ArenaHost(config, {}, database, is_standby=False)
    running = asyncio.create_task(host.run())
    try:
        async with asyncio.timeout(PATIENCE_S):
            await host.opened.wait()
            port = int(host._url.rpartition(":")[2])
            assert (await ask_arena(port, "/"))[0] == 200
            errors.append(StorageError("cannot use the database"))
            lost.set()
            await refused.wait()
            status, page = await ask_arena(port, "/game/abcdefgh", "text/html")
            assert (status, "Back soon" in page) == (503, True)
            status, text = await ask_arena(port, "/api/arena")
            assert (status, json.loads(text)["error"][:35]) == (503, "The server cannot reach its databas")
            assert (await ask_arena(port, "/static/style.css"))[0] == 200
            back.clear()
            errors.clear()
            await back.wait()
            await host.opened.wait()
            assert int(host._url.rpartition(":")[2]) == port
            assert (await ask_arena(port, "/"))[0] == 200
            # Another program that has the arena may need the port.
            refused.clear()
            errors.append(RoleTaken("another program already runs the arena"))
            lost.set()
            await refused.wait()
            refused.clear()
            await refused.wait()  # the second time: after the first one was dealt with
            with pytest.raises(aiohttp.ClientConnectorError):
                await ask_arena(port, "/")
    finally:
        running.cancel()
        await asyncio.wait([running])


def test_reloaded_limits_reach_the_arena(tmp_path: Path, database: Database) -> None:
    file = tmp_path / "config.toml"
    start = f'[storage]\nurl = "sqlite:///{tmp_path / "desdemona.db"}"\n'
    file.write_text(start)
    config = load_config(file)
    host = ArenaHost(config, config.by_account(), database, is_standby=False)
    assert host._slots == {"desdemona": BotSlots(8, 16)}
    file.write_text(f"{start}[challenges]\nmax_games = 5\n")
    assert LiveSettings(config, file, {}, host.set_slots).reload() == "challenges.max_games"
    assert host._slots == {"desdemona": BotSlots(5, 16)}
