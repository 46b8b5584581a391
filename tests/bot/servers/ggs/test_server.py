"""The adapter to GGS against a fake server: whole games by the whole bot, on virtual time."""

import asyncio
from collections.abc import AsyncIterator, Callable, Collection
from contextlib import asynccontextmanager, suppress
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path
from typing import Any

import pytest

from bot.account.lobby import Lobby
from bot.base.config import Config, GgsConfig, MatchmakingConfig
from bot.base.dialects import DIALECTS, Capability
from bot.base.errors import AuthError, ConfigError, RefusedError, TransientError
from bot.base.events import Clock, Proposal
from bot.daemon.games_to_resume import games_to_resume
from bot.servers.ggs.server import (
    MAX_HANG_UP_WAIT_S,
    MIN_HANG_UP_WAIT_S,
    GgsServer,
    HangUpBackoff,
    read_address,
)
from storage.database import Database
from storage.ledger.games import list_games
from storage.records import AccountKey, GameResult, GameStatus, StoredGame
from tests.bot.fakes import config, services
from tests.bot.virtual_time import run
from tests.ggs.client import Client, Habits
from tests.ggs.faults import Fault, MoveCodec, Strike, holding
from tests.ggs.server import FakeGgs
from tests.system.daemon import free_port

BOT, PASSWORD = "desdemon", "secret"


@dataclass
class Site:
    """A fake server, and a database for the bot."""

    server: FakeGgs
    port: int
    database: Database

    @asynccontextmanager
    async def bot(self, **settings: Any) -> AsyncIterator[GgsServer]:
        """The whole bot, until the block ends; then it is gone without a word."""
        loop = asyncio.get_running_loop()
        given = config(**settings)
        async with (
            adapter_of(self, given) as server,
            services(server, self.database, sleep=asyncio.sleep, settings=given) as shared,
        ):
            shared = replace(shared, clock=loop.time, bot_name=BOT)
            listening = asyncio.create_task(Lobby(shared).listen())
            try:
                await until(lambda: server._state.is_settled or listening.done())
                yield server
            finally:
                listening.cancel()
                with suppress(asyncio.CancelledError):
                    await listening

    async def games(self) -> list[StoredGame]:
        async with self.database.read() as session:
            return await list_games(session)

    async def ended(self, count: int = 1) -> list[StoredGame]:
        """The games, when so many have closed books."""
        async with asyncio.timeout(1000):
            while True:
                games = await self.games()
                if sum(game.is_settled for game in games) >= count:
                    return games
                await asyncio.sleep(0.5)


@asynccontextmanager
async def adapter_of(site: Site, given: Config) -> AsyncIterator[GgsServer]:
    server = GgsServer(
        DIALECTS["ggs"],
        f"ggs://127.0.0.1:{site.port}",
        BOT,
        PASSWORD,
        recall=partial(games_to_resume, site.database, AccountKey("ggs", BOT.lower())),
        programs=given.ggs.bots,
        public=given.ggs.public,
        clock=asyncio.get_running_loop().time,
    )
    server.set_challenge_rules(given.challenges, lambda _: True)
    try:
        yield server
    finally:
        await server.close()


async def until(is_so: Callable[[], bool], every_s: float = 0.1) -> None:
    """Look again and again, in virtual time."""
    for _ in range(10_000):
        if is_so():
            return
        await asyncio.sleep(every_s)
    raise TimeoutError


def play(
    template: Path,
    tmp_path: Path,
    story: Callable[[Site], Any],
    *,
    registered: Collection[str] = (BOT, "alice"),
    **faults: Any,
) -> None:
    """Run a story on a fake server with one client, alice, and the bot's account."""

    path = tmp_path / "desdemona.db"
    path.write_bytes(template.read_bytes())

    async def work() -> None:
        database = await Database.open(f"sqlite:///{path}")
        try:
            server = FakeGgs(**faults)
            for name in registered:
                server.central.register(name, PASSWORD if name == BOT else "apw")
            async with server.running() as port:
                await story(Site(server, port, database))
        finally:
            await database.close()

    run(work())


async def alice(site: Site, habits: Habits | None = None, *, rated: bool = True) -> Client:
    client = Client("alice", "apw", habits)
    sign = "+" if rated else "-"
    return await client.connect(
        site.port, commands=("tell /os open 5", f"tell /os rated {sign}", "tell /os stored +")
    )


def test_a_whole_rated_game(template: Path, tmp_path: Path) -> None:
    async def story(site: Site) -> None:
        async with site.bot():
            client = await alice(site)
            await client.play(f"8b 05:00//02:00 {BOT}", patience_s=1000)
            [game] = await site.ended()
            await client.close()
        assert game.opponent_name == "alice"
        assert game.rated
        assert game.state is GameStatus.FINISHED
        assert game.end_reason == "normal"
        assert game.our_side == 1
        assert len(game.moves) >= 40

    play(template, tmp_path, story)


def test_an_unrated_game_and_its_end_by_resignation(template: Path, tmp_path: Path) -> None:
    async def story(site: Site) -> None:
        async with site.bot():
            client = await alice(site, Habits(resigns_at=10), rated=False)
            await client.play(f"8w 05:00//02:00 {BOT}", patience_s=1000)
            [game] = await site.ended()
            await client.close()
        assert not game.rated
        assert (game.end_reason, game.result) == ("resignation", GameResult.WIN)
        assert game.our_side == 0

    play(template, tmp_path, story)


def test_a_synchro_match_from_a_random_position(template: Path, tmp_path: Path) -> None:
    async def story(site: Site) -> None:
        async with site.bot():
            client = await alice(site)
            over = await client.play(f"s8r18 05:00//02:00 {BOT}", patience_s=1000)
            games = await site.ended(2)
            await client.close()
        assert {game.our_side for game in games} == {0, 1}
        assert {game.variant for game in games} == {"s8r18"}
        assert {game.end_reason for game in games} == {"normal"}
        assert len({game.initial_position for game in games}) == 1
        assert sum(game.rating_diff is not None for game in games) == 1
        assert over.outcome

    play(template, tmp_path, story)


def test_an_opponent_who_stops_loses_on_time(template: Path, tmp_path: Path) -> None:
    async def story(site: Site) -> None:
        async with site.bot():
            client = await alice(site, Habits(stops_at=8))
            await client.play(f"8b 01:00//00:30 {BOT}", patience_s=1000)
            [game] = await site.ended()
            await client.close()
        assert (game.end_reason, game.result) == ("time", GameResult.WIN)
        assert game.rating_diff is not None
        assert game.rating_diff > 0

    play(template, tmp_path, story)


def test_a_rated_game_goes_on_after_the_opponent_has_left(template: Path, tmp_path: Path) -> None:
    async def story(site: Site) -> None:
        async with site.bot() as server:
            client = await alice(site, Habits(leaves_at=12))
            with suppress(ConnectionError):
                await client.play(f"8b 05:00//02:00 {BOT}", patience_s=1000)
            await until(lambda: not server._state.games.playing)
            [game] = await site.games()
            assert game.state is GameStatus.OPEN
            client = await alice(site)
            await client.until(lambda: bool(client.over), 1000)
            [game] = await site.ended()
            await client.close()
        assert game.end_reason == "normal"
        assert game.state is GameStatus.FINISHED

    play(template, tmp_path, story)


def test_an_unrated_game_ends_as_aborted_when_the_opponent_has_left(template: Path, tmp_path: Path) -> None:
    async def story(site: Site) -> None:
        async with site.bot():
            client = await alice(site, Habits(leaves_at=12), rated=False)
            with suppress(ConnectionError):
                await client.play(f"8b 05:00//02:00 {BOT}", patience_s=1000)
            [game] = await site.ended()
        assert game.state is GameStatus.ABORTED

    play(template, tmp_path, story)


def test_a_game_goes_on_after_the_bot_was_killed(template: Path, tmp_path: Path) -> None:
    async def story(site: Site) -> None:
        client = await alice(site)
        async with site.bot():
            client.os(f"ask 8b 05:00//02:00 {BOT}")
            await client.until(lambda: any(len(seat.moves) >= 12 for seat in client.seats.values()), 1000)
        await client.until(lambda: bool(client.over), 1000)
        assert client.over[0].outcome == f"{BOT} left"
        async with site.bot():
            await client.until(lambda: len(client.over) == 2, 1000)
            [game] = await site.ended()
        await client.close()
        assert game.end_reason == "normal"
        assert [move.lower().split("/")[0] for move in client.over[1].seats[0].moves] == [
            "pa" if move == "pass" else move for move in game.moves
        ]

    play(template, tmp_path, story)


def test_an_unrated_game_is_aborted_when_the_bot_comes_back(template: Path, tmp_path: Path) -> None:
    async def story(site: Site) -> None:
        client = await alice(site, rated=False)
        async with site.bot():
            client.os(f"ask 8b 05:00//02:00 {BOT}")
            await client.until(lambda: any(len(seat.moves) >= 12 for seat in client.seats.values()), 1000)
        async with site.bot():
            [game] = await site.ended()
        await client.close()
        assert game.state is GameStatus.ABORTED

    play(template, tmp_path, story)


def test_a_game_goes_on_after_the_service_was_away(template: Path, tmp_path: Path) -> None:
    async def story(site: Site) -> None:
        client = await alice(site)
        async with site.bot():
            client.os(f"ask 8b 05:00//02:00 {BOT}")
            await client.until(lambda: any(len(seat.moves) >= 12 for seat in client.seats.values()), 1000)
            await site.server.restart()
            client.os("open 5")
            [game] = await site.ended()
        await client.close()
        assert game.end_reason == "normal"

    play(template, tmp_path, story)


def test_what_is_not_played_is_declined(template: Path, tmp_path: Path) -> None:
    async def story(site: Site) -> None:
        client = await alice(site)
        async with site.bot():
            for kind in ("8k", "8a", "10", "s8a", "8kr18"):
                client.os(f"ask {kind} 05:00//02:00 {BOT}")
            client.os(f"ask 8 00:05//02:00 {BOT}")
            await client.until(lambda: sum("/os: -" in line for line in client.lines) == 6, 1000)
            assert not client.requests
            assert not await site.games()
        await client.close()

    play(template, tmp_path, story)


def test_offers_of_any_kind_go_unanswered(template: Path, tmp_path: Path) -> None:
    async def story(site: Site) -> None:
        async with site.bot():
            client = await alice(site, Habits(undoes_at=6, aborts_at=9, chats_at=5))
            await client.play(f"8b 05:00//02:00 {BOT}", patience_s=1000)
            [game] = await site.ended()
            await client.close()
        assert game.end_reason == "normal"
        assert any("Hello alice" in line for line in client.lines)

    play(template, tmp_path, story)


def test_the_bot_asks_a_program_for_a_game(template: Path, tmp_path: Path) -> None:
    matchmaking = MatchmakingConfig(enabled=True, idle_s=10, variants=("8",), clocks=("300+0",))

    async def story(site: Site) -> None:
        client = await alice(site)
        async with site.bot(matchmaking=matchmaking, ggs=GgsConfig(bots=("alice",))):
            await client.until(lambda: bool(client.over), 1000)
            games = await site.ended()
        await client.close()
        assert games[-1].end_reason == "normal"
        assert games[-1].opponent_is_bot

    play(template, tmp_path, story)


def test_an_unregistered_bot_plays_and_asks(template: Path, tmp_path: Path) -> None:
    matchmaking = MatchmakingConfig(enabled=True, idle_s=10, variants=("8",), clocks=("300+0",), rated=False)

    async def story(site: Site) -> None:
        client = await alice(site, Habits(resigns_at=10), rated=False)
        async with site.bot(matchmaking=matchmaking, ggs=GgsConfig(bots=("alice",))):
            await client.play(f"8b 05:00//02:00 {BOT}", patience_s=1000)
            await client.until(lambda: len(client.over) == 2, 1000)
            games = await site.ended(2)
        await client.close()
        assert [(game.end_reason, game.rated) for game in games] == [("resignation", False)] * 2

    play(template, tmp_path, story, registered=["alice"])


# --- The connection -------------------------------------------------------------------------------------


def test_signing_in_again_opens_another_connection(template: Path, tmp_path: Path) -> None:
    async def story(site: Site) -> None:
        server = GgsServer(DIALECTS["ggs"], f"ggs://127.0.0.1:{site.port}", BOT, PASSWORD)
        with pytest.raises(TransientError, match="hung up") as caught:
            await server.account()
        assert caught.value.retry_after_s == MIN_HANG_UP_WAIT_S
        assert (await server.account()).about.startswith("registered")
        assert site.server.connections == 2
        await server.close()

    play(template, tmp_path, story, plan=MoveCodec(Strike(Fault.CLOSE, needs=holding("/os: finger"))))


def test_a_lost_connection_is_no_answer(template: Path, tmp_path: Path) -> None:
    """Neither to a question nor to a request, and nobody waits for one any longer."""
    plan = MoveCodec()

    async def story(site: Site) -> None:
        client = Client("alice", "apw", accepts=lambda _: False)
        await client.connect(site.port, commands=("tell /os open 5", "tell /os rated +"))
        async with site.bot() as server:
            proposal = Proposal("8", True, Clock(300, 0))
            asking = asyncio.create_task(server.challenge("alice", proposal))
            await client.until(lambda: bool(client.requests))
            site.server.drop(BOT)
            with pytest.raises(TransientError, match=r"the connection was lost|has hung up"):
                await asking
            await until(lambda: server._state.is_settled)
            await asyncio.sleep(1)  # the lobby has asked what it wants to know
            plan.left.append(Strike(Fault.CLOSE, needs=holding("match 0/0")))
            with pytest.raises(TransientError, match="the connection was lost"):
                await server.running_game_ids()
        await client.close()

    play(template, tmp_path, story, plan=plan)


def test_a_wrong_password(template: Path, tmp_path: Path) -> None:
    async def story(site: Site) -> None:
        server = GgsServer(DIALECTS["ggs"], f"ggs://127.0.0.1:{site.port}", BOT, "wrong")
        with pytest.raises(AuthError, match="Password is incorrect"):
            await server.account()
        await server.close()

    play(template, tmp_path, story)


def test_what_the_operator_is_told_of_the_account(template: Path, tmp_path: Path) -> None:
    async def story(site: Site) -> None:
        for name, about in ((BOT, "registered"), ("newcomer", "not registered, so only unrated games")):
            server = GgsServer(DIALECTS["ggs"], f"ggs://127.0.0.1:{site.port}", name, PASSWORD)
            account = await server.account()
            await server.close()
            assert (account.name, account.is_bot) == (name, True)
            assert account.about.startswith(about)

    play(template, tmp_path, story)


async def test_nobody_listens_there() -> None:
    server = GgsServer(DIALECTS["ggs"], f"ggs://127.0.0.1:{free_port()}", BOT, PASSWORD)
    with pytest.raises(TransientError, match=r"no connection to 127\.0\.0\.1:"):
        await server.account()
    with pytest.raises(TransientError, match="there is no connection"):
        await server.running_game_ids()
    await server.close()


async def test_tournaments_are_their_directors_business() -> None:
    server = GgsServer(DIALECTS["ggs"], "ggs://127.0.0.1", BOT, PASSWORD)
    assert not server.supports(Capability.TOURNAMENTS)
    for ask in (server.tournament("t"), server.join_tournament("t"), server.leave_tournament("t")):
        with pytest.raises(RefusedError, match="ggs has no tournaments to join"):
            await ask
    await server.close()


def test_who_is_thrown_out_keeps_away_for_a_while(template: Path, tmp_path: Path) -> None:
    async def story(site: Site) -> None:
        async with site.bot() as server:
            other = Client(BOT, PASSWORD)
            loop = asyncio.get_running_loop()
            evicted_at = loop.time()
            await other.connect(site.port)
            await until(lambda: not server._state.is_settled)
            await until(lambda: server._state.is_settled)
            assert loop.time() - evicted_at >= MIN_HANG_UP_WAIT_S
            assert not other.is_connected
            await other.close()

    play(template, tmp_path, story)


def test_a_dead_connection_is_noticed(template: Path, tmp_path: Path) -> None:
    async def story(site: Site) -> None:
        async with site.bot() as server:
            before = site.server.connections
            await until(lambda: site.server.connections > before, 5)
            await until(lambda: server._state.is_settled)

    play(
        template, tmp_path, story, plan=MoveCodec(Strike(Fault.SILENCE, needs=holding("match 0/0"), after=1))
    )


def test_how_long_to_keep_away() -> None:
    away = HangUpBackoff()
    assert [away.record_hang_up(1) for _ in range(2)] == [30, 60]
    assert away.record_hang_up(150) == MAX_HANG_UP_WAIT_S == 120  # not long for who has kept away for 60 s
    assert max(away.record_hang_up(0) for _ in range(20)) == MAX_HANG_UP_WAIT_S
    assert away.record_hang_up(4 * 120) == 30


@pytest.mark.parametrize(
    "url",
    ["https://skatgame.net", "ggs://", "ggs://host:0", "ggs://host:x", "ggs://host/path", "ggs://a@host"],
)
def test_addresses_that_are_none(url: str) -> None:
    with pytest.raises(ConfigError, match=r"server\.url"):
        read_address(url)


def test_an_address_may_leave_out_the_port() -> None:
    assert read_address("ggs://skatgame.net") == ("skatgame.net", 5000)
    assert read_address("ggs://localhost:4000") == ("localhost", 4000)


@pytest.mark.parametrize(
    ("name", "password"), [("Desdemona", "x"), (".bot", "x"), ("a,b", "x"), ("bot", "a b"), ("bot", "")]
)
def test_names_and_passwords_that_cannot_be(name: str, password: str) -> None:
    with pytest.raises(ConfigError, match=r"server\.(name|token)"):
        GgsServer(DIALECTS["ggs"], "ggs://host", name, password)
