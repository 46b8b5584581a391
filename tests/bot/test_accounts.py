"""Several accounts in one program: each plays, none harms the others, and the operator can talk to them."""

import asyncio
import os
import signal
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import aiohttp
import pytest
from sqlalchemy import text as sql

from bot.arena.server import Arena
from bot.base.config import ArenaConfig, load_config
from bot.base.errors import AuthError, ConfigError
from bot.control.control_socket import ControlError, ask
from bot.daemon.program import play
from storage.database import Database
from storage.filters import Filters
from storage.ledger.games import list_games
from storage.records import AccountKey, GameStatus
from tests.bot.daemon.test_program import is_there, person
from tests.patience import PATIENCE_S
from tests.storage.postgres import create_database
from tests.system.daemon import free_port
from tests.system.person import Habits, Wish

COMMON = """
[storage]
url = "sqlite:///{folder}/desdemona.db"
[arena]
port = {port}
first_move_s = 0
[engine]
max_depth = 3
workers = 1
table_mb = 1
[assignment]
method = "balanced"
[shutdown]
drain_s = 20
"""
HOME = """
[[accounts]]
name = "home"
login = "Desdemona"
dialect = "arena"
"""
IAGO = """
[[accounts]]
name = "iago"
dialect = "arena"
[accounts.assignment]
method = "fixed"
strategy = "standard"
"""
ABROAD = """
[[accounts]]
name = "abroad"
dialect = "lichess"
url = "{url}"
token_file = "{token}"
"""


class Program:
    """The program in this process, with a settings file of its own."""

    def __init__(self, folder: Path, *accounts: str) -> None:
        self.folder = folder
        self.path = folder / "config.toml"
        self.port = free_port()
        self.url = f"http://127.0.0.1:{self.port}"
        self.write(*accounts)
        self._running: asyncio.Task[None] | None = None

    def write(self, *accounts: str, more: str = "") -> None:
        self.path.write_text(COMMON.format(folder=self.folder, port=self.port) + more + "".join(accounts))

    async def __aenter__(self) -> "Program":
        self._running = asyncio.create_task(play(load_config(self.path), self.path))
        return self

    async def __aexit__(self, *_: object) -> None:
        assert self._running is not None
        if not self._running.done():
            os.kill(os.getpid(), signal.SIGTERM)
        try:
            async with asyncio.timeout(PATIENCE_S):
                await self._running
        finally:
            self._running.cancel()

    async def ask(self, command: str, **request: Any) -> list[str]:
        path = self.folder / "desdemona.db.control"
        return await asyncio.to_thread(lambda: list(ask(path, {"command": command, **request})))

    async def shows(self, *words: str) -> None:
        """Wait until `status` has each of these texts."""
        async with asyncio.timeout(PATIENCE_S):
            while True:
                assert self._running is not None
                assert not self._running.done(), self._running
                try:
                    lines = "\n".join(await self.ask("status"))
                except ControlError:
                    lines = ""
                if all(word in lines for word in words):
                    return
                await asyncio.sleep(0.01)

    async def games(self, owner: AccountKey) -> dict[str, GameStatus]:
        database = await Database.open(f"sqlite:///{self.folder}/desdemona.db")
        try:
            async with database.read() as session:
                found = await list_games(session, Filters(site=owner.site, account=owner.name))
        finally:
            await database.close()
        return {game.site_game_id: game.state for game in found}


async def online(*urls: str) -> None:
    """Wait until the bot takes challenges at each site."""
    async with aiohttp.ClientSession() as http, asyncio.timeout(PATIENCE_S):
        for url in urls:
            while not await is_there(http, url):
                pass


async def test_two_sites_at_once(tmp_path: Path) -> None:
    site = await Database.open(f"sqlite:///{tmp_path / 'site.db'}")
    arena = Arena(ArenaConfig(port=0, first_move_s=0), site)
    async with arena.running(["Desdemona"]) as url:
        token = tmp_path / "token"
        token.write_text(arena.bot_tokens["Desdemona"])
        async with Program(tmp_path, HOME, ABROAD.format(url=url, token=token)) as program:
            await program.shows("home: playing as desdemona at arena")
            await program.shows("abroad: playing as desdemona at lichess")
            await online(program.url, url)
            anna, ben = person(program.url, 1), person(url, 2)
            async with asyncio.timeout(PATIENCE_S):
                game_ids = await asyncio.gather(
                    anna.play(), ben.play(Wish("standard", habits=Habits(resign_at=6)))
                )
            await anna.close()
            await ben.close()
    await site.close()
    for place, game_id in zip(("arena", "lichess"), game_ids, strict=True):
        assert await program.games(AccountKey(place, "desdemona")) == {game_id: GameStatus.FINISHED}


async def test_an_account_that_is_refused_harms_no_other(
    tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    token = tmp_path / "token"
    token.write_text("wrong")
    program = Program(tmp_path)
    program.write(HOME, ABROAD.format(url=program.url, token=token))
    async with program:
        await program.shows("home: playing", "abroad: accounts.abroad.token: lichess does not accept it")
        await online(program.url)
        anna = person(program.url, 1)
        async with asyncio.timeout(PATIENCE_S):
            game_id = await anna.play()
        await anna.close()
    assert await program.games(AccountKey("arena", "desdemona")) == {game_id: GameStatus.FINISHED}
    assert caplog.text.count("does not accept it") == 1


async def test_one_that_is_refused_alone_ends_the_program(tmp_path: Path) -> None:
    site = await Database.open(f"sqlite:///{tmp_path / 'site.db'}")
    async with Arena(ArenaConfig(port=0), site).running() as url:
        token = tmp_path / "token"
        token.write_text("wrong")
        program = Program(tmp_path, HOME, ABROAD.format(url=url, token=token))
        with pytest.raises(AuthError, match="does not accept it"):
            await play(load_config(program.path), program.path, only=("abroad",))
    await site.close()


async def test_two_of_our_accounts_play_each_other(tmp_path: Path) -> None:
    async with Program(tmp_path, HOME, IAGO) as program:
        await program.shows("home: playing", "iago: playing")
        terms = {"name": "iago", "variant": "connect4", "clock": "10+0", "rated": True, "account": "Home"}
        said = await program.ask("challenge", **terms, colour="second", games=2)
        with pytest.raises(ControlError, match="choose one with --account"):
            await program.ask("challenge", **{**terms, "account": None})
        with pytest.raises(ControlError, match="no account 'cassio'; known: home, iago"):
            await program.ask("challenge", **{**terms, "account": "cassio"})
        with pytest.raises(ControlError, match="arena has no variant 'go'"):
            await program.ask("challenge", **{**terms, "variant": "go"})
        with pytest.raises(ControlError, match="clock '3' is not of the form"):
            await program.ask("challenge", **{**terms, "clock": "3"})
        for odd in ("..", "a b", "\udcff", "x" * 65):
            with pytest.raises(ControlError, match="is no name: at most 64 ASCII characters"):
                await program.ask("challenge", **{**terms, "name": odd})
        unknown = "arena refused the challenge to cassio: There is no player with that name"
        with pytest.raises(ControlError, match=f"^{unknown}$"):
            await program.ask("challenge", **{**terms, "name": "cassio"})
        program.write(HOME, IAGO, more="[challenges]\nrated = false\n")
        await program.ask("reload")
        with pytest.raises(ControlError, match="Desdemona did not accept: declined"):
            await program.ask("challenge", **{**terms, "name": "Desdemona", "account": "iago"})
    assert [line.split()[0] for line in said] == ["challenging", "game"] * 2
    home = await program.games(AccountKey("arena", "desdemona"))
    assert len(home) == 2
    assert home == await program.games(AccountKey("arena", "iago"))
    assert set(home.values()) == {GameStatus.FINISHED}
    database = await Database.open(f"sqlite:///{tmp_path}/desdemona.db")
    async with database.read() as session:
        latest, first = await list_games(session, Filters(account="Desdemona"))
    await database.close()
    assert (first.our_side, latest.our_side) == (1, 0)


async def test_settings_are_read_again(tmp_path: Path, caplog: pytest.LogCaptureFixture) -> None:
    caplog.set_level("INFO")
    async with Program(tmp_path, HOME, IAGO) as program:
        await program.shows("home: playing", "iago: playing")
        assert await program.ask("reload") == ["settings reloaded; changed: nothing"]
        program.write(HOME, IAGO, more="[chat]\ngreeting = 'Hello'\n")
        assert await program.ask("reload") == ["settings reloaded; changed: chat.greeting"]
        refused: Mapping[str, str] = {
            "[trap]\nmargin_centi = 7\n": "trap.margin_centi: a change needs a restart; nothing was changed",
            "[chat]\ngreeting = 'Hi'\n[log]\nlevel = 'DEBUG'\n[trap]\nmargin_centi = 7\n": (
                "trap.margin_centi, log.level: a change needs a restart"
            ),
            "[chat]\ngreting = 'x'\n": "chat.greting is not a setting",
        }
        for more, message in refused.items():
            program.write(HOME, IAGO, more=more)
            with pytest.raises(ControlError, match=message):
                await program.ask("reload")
        program.write(HOME)
        with pytest.raises(ControlError, match="a change to the list of accounts needs a restart"):
            await program.ask("reload")
        program.write(HOME, IAGO.replace('"arena"', '"arena"\nlogin = "other"'))
        with pytest.raises(ControlError, match="account iago: login: a change needs a restart"):
            await program.ask("reload")
        os.kill(os.getpid(), signal.SIGHUP)
        await program.shows("home: playing")
        program.write(HOME, IAGO)
        assert await program.ask("reload") == ["settings reloaded; changed: chat.greeting"]
    assert "the settings are unchanged: account iago: login: " in caplog.text


async def test_a_restart_of_the_database_server_is_survived(
    postgres: str, postgres_template: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The connections that hold the roles are lost; the arena and its account are there again soon."""
    monkeypatch.setattr("storage.database.ROLE_CHECK_INTERVAL_S", 0.1)
    url = await create_database(postgres, "restarted", postgres_template)
    program = Program(tmp_path)
    text = COMMON.replace("sqlite:///{folder}/desdemona.db", "{database}")
    control = f"[control]\nsocket = '{tmp_path}/desdemona.db.control'\n"
    program.path.write_text(text.format(database=url, port=program.port) + control + HOME)
    database = await Database.open(url)
    async with program:
        await program.shows("home: playing")
        async with database.write() as session:
            await session.execute(
                sql("SELECT pg_terminate_backend(pid, 60000) FROM pg_locks WHERE locktype = 'advisory'")
            )
        await program.shows("home: the ")  # its trouble: a role was lost
        await program.shows("home: playing")
        await online(program.url)
        anna = person(program.url, 1)
        async with asyncio.timeout(PATIENCE_S):
            game_id = await anna.play()
        await anna.close()
    async with database.read() as session:
        (game,) = await list_games(session, Filters(account="desdemona"))
    await database.close()
    assert (game.site_game_id, game.state) == (game_id, GameStatus.FINISHED)


async def test_an_account_that_is_not_there(tmp_path: Path) -> None:
    program = Program(tmp_path, HOME)
    with pytest.raises(ConfigError, match="no such account; known: home"):
        await play(load_config(program.path), program.path, only=("iago",))
