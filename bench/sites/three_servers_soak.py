"""Runs one program at three servers at once, with injected faults and `kill -9`.

    python -m bench.sites.three_servers_soak [--games 1000] [--kills 20] [--outage 300] [--seed 1]

The program plays at its own arena, at a second arena (a stand-in for lichess.org, behind a proxy that
corrupts requests and streams), and at the fake GGS server, which loses and truncates its own messages. The
program is killed repeatedly, together with its own arena. At the end, each account's records are compared
with those of its server. Then the second arena fails, first by refusing connections and then by not
responding, and the bot's response times at its own arena are compared with those before the failure.
"""

import argparse
import asyncio
import logging
import random
import sys
import tempfile
import time
from collections.abc import AsyncIterator, Sequence
from contextlib import AsyncExitStack, asynccontextmanager
from pathlib import Path
from statistics import median, quantiles
from urllib.parse import urlsplit

from bench.arena_soak import (
    LINE_FAULT_PROBABILITY,
    REQUEST_FAULT_PROBABILITY,
    SLOW_S,
    STALL_S,
    Anywhere,
    is_lost_by_faults,
    match_of,
    rss_mb,
)
from bench.claims import Claim, claim_lines, memory_flat, none_found
from bot.arena.server import Arena
from bot.base.config import ArenaConfig
from bot.base.events import Clock, EndReason
from storage.database import Database
from storage.filters import Filters
from storage.ledger.events import list_events
from storage.ledger.games import list_games
from storage.records import AccountKey, GameResult
from tests.faults.proxy import NO_FAULTS, Chance, FaultProxy
from tests.ggs.client import Client
from tests.ggs.client import Habits as GgsHabits
from tests.ggs.faults import Chance as GgsChance
from tests.ggs.faults import Fault as GgsFault
from tests.ggs.outside import Outside
from tests.ggs.server import FakeGgs
from tests.ggs.table import BOT as GGS_BOT
from tests.ggs.table import PASSWORD
from tests.ggs.table import troubles as ggs_troubles
from tests.system.daemon import Daemon
from tests.system.ledger import exported, log_lines, troubles, unsettled_games, wait_until_settled
from tests.system.person import Habits, Person, Place, Wish

BOT = "desdemona"
HOME, ABROAD, GGS = AccountKey("arena", BOT), AccountKey("lichess", BOT), AccountKey("ggs", GGS_BOT.lower())
PROBABILITIES = {
    GgsFault.SPLIT: 0.05,
    GgsFault.GATHER: 0.03,
    GgsFault.SLOW: 0.01,
    GgsFault.LATE: 0.02,
    GgsFault.ALERT: 0.01,
    GgsFault.CUT: 0.0005,
    GgsFault.CLOSE: 0.0005,
}
"""Probabilities of faults; links are rarely cut, because the program waits 30 s or more to reconnect."""
GGS_KINDS = ("8 05:00", "8b 05:00", "8w 05:00", "s8r14 05:00", "s8r18 05:00")
AT_ONCE = 3
"""Number of people at each arena."""
GGS_PEOPLE = ("anna", "bella", "carl")
MIN_STEADY_S = 80
CONFIG = """
[engine]
max_depth = 3
table_mb = 1
max_games = 12
[challenges]
max_games = 8
min_initial_s = 0
max_games_per_bot_per_day = 1000
[chat]
enabled = false
[assignment]
seed = 2006
[[accounts]]
name = "home"
login = "Desdemona"
dialect = "arena"
[[accounts]]
name = "abroad"
dialect = "lichess"
url = "{abroad}"
token_file = "abroad.token"
[[accounts]]
name = "othello"
login = "{bot}"
dialect = "ggs"
url = "ggs://127.0.0.1:{port}"
token_file = "ggs.token"
"""


class ThreeServersSoak:
    """One run.

    Args:
        folder: Folder for the databases and the log.
        games: Number of games at all three servers together.
        kills: Number of times to kill the program.
        outage_s: Duration of the second arena's outage at the end.
        seed: Seed for people, faults and kills.
    """

    def __init__(self, folder: Path, *, games: int, kills: int, outage_s: float, seed: int) -> None:
        self._folder = folder
        self._each = games // 3
        self._kills = kills
        self._outage_s = outage_s
        self._rng = random.Random(seed)
        self._seed = seed
        self._home: list[str] = []
        self._abroad: list[str] = []
        self._rss_mb: list[tuple[int, float]] = []

    async def run(self) -> bool:
        """Play, print the report, and return whether the run passed."""
        site = await Database.open(f"sqlite:///{self._folder / 'abroad.db'}")
        arena = Arena(ArenaConfig(port=0, games_per_opponent=1000), site)
        ggs_plan = GgsChance(self._seed, PROBABILITIES, [GGS_BOT])
        server = FakeGgs(ggs_plan, slow_s=1.0, late_s=1.0)
        for name in (GGS_BOT, *GGS_PEOPLE):
            server.central.register(name, PASSWORD)
        plan = Chance(self._rng, of_requests=REQUEST_FAULT_PROBABILITY, of_lines=LINE_FAULT_PROBABILITY)
        async with (
            arena.running([BOT.capitalize()]) as url,
            server.running() as port,
            AsyncExitStack() as front,
        ):
            proxy = FaultProxy(url, plan, slow_s=SLOW_S, down_requests=AT_ONCE, stall_s=STALL_S)
            address = await front.enter_async_context(proxy.running())
            self._write(address, arena.bot_tokens[BOT.capitalize()], port)
            daemon = Daemon(self._folder)
            outside = Outside(self._folder, port, daemon=daemon)
            async with daemon:
                began = time.monotonic()
                await self._play(daemon, url, proxy, outside)
                took_s = time.monotonic() - began
                proxy.plan, server.plan = NO_FAULTS, GgsChance(1, {}, [])
                await wait_until_settled(self._folder)
                claims = [
                    *await self._judge(site, proxy),
                    *await self._books(daemon, url, outside),
                    await self._own_games(),
                ]
                if self._outage_s:
                    claims.append(await self._without_abroad(daemon, front, address))
                status, _ = await daemon.stop()
        await site.close()
        claims += [
            memory_flat(self._rss_mb, MIN_STEADY_S),
            none_found("no crash and no error in the log", log_lines(daemon.log, "ERROR", "CRITICAL")),
            Claim("the program stopped on request", status == 0, f"exit status {status}"),
        ]
        games = f"{len(self._home)} at home, {len(self._abroad)} abroad, {len(outside.over)} matches at GGS"
        print(f"games: {games}, in {took_s:.0f} s; kills: {self._kills}")
        print(f"faults: {sum(proxy.faults.values())} abroad, {ggs_plan.struck.total()} at GGS")
        for line in claim_lines(claims):
            print(line)
        return all(claim.holds is not False for claim in claims)

    def _write(self, abroad: str, token: str, port: int) -> None:
        (self._folder / "abroad.token").write_text(token)
        (self._folder / "ggs.token").write_text(PASSWORD)
        text = CONFIG.format(abroad=abroad, bot=GGS_BOT, port=port)
        (self._folder / "config.toml").write_text(text)

    # --- Playing ----------------------------------------------------------------------------------------

    async def _play(self, daemon: Daemon, url: str, proxy: FaultProxy, outside: Outside) -> None:
        async with asyncio.TaskGroup() as tasks:
            watching = tasks.create_task(self._watch(daemon))
            striking = tasks.create_task(self._strike(daemon, proxy, outside))
            people = [
                tasks.create_task(self._sit(place, f"person{number}", variants, games))
                for place, variants, games in (
                    (daemon, ("othello", "standard", "connect4"), self._home),
                    (Anywhere(url), ("standard", "chess960"), self._abroad),
                )
                for number in range(AT_ONCE)
            ]
            people += [tasks.create_task(self._sit_at_ggs(outside, name)) for name in GGS_PEOPLE]
            await asyncio.wait([*people, striking])
            watching.cancel()

    async def _sit(self, place: Place, name: str, variants: Sequence[str], games: list[str]) -> None:
        person = Person(place, name, self._rng.getrandbits(32))
        try:
            while len(games) < self._each:
                await person_plays(person, self._rng, variants, games)
        finally:
            await person.close()

    async def _sit_at_ggs(self, outside: Outside, name: str) -> None:
        client = Client(name, PASSWORD, GgsHabits(seed=self._seed))
        while len(outside.over) < self._each:
            resigns_at = self._rng.randrange(10, 50) if self._rng.random() < 0.67 else None
            client.habits = GgsHabits(seed=self._rng.getrandbits(30), resigns_at=resigns_at)
            await outside.play(client, self._rng.choice(GGS_KINDS))
        await client.close()

    async def _strike(self, daemon: Daemon, proxy: FaultProxy, outside: Outside) -> None:
        """Kill the program at random moments during the first two thirds of the games."""
        total = 3 * self._each
        for at in sorted(self._rng.uniform(0.02, 0.67) * total for _ in range(self._kills)):
            while len(self._home) + len(self._abroad) + len(outside.over) < at:  # noqa: ASYNC110
                await asyncio.sleep(0.1)
            proxy.program_killed()
            await daemon.kill()
            await daemon.start()

    async def _watch(self, daemon: Daemon) -> None:
        while True:
            await asyncio.sleep(1.0)
            if daemon.has_ended:
                raise RuntimeError(f"the program has exited unexpectedly: {await daemon.last_words()}")
            if daemon.up.is_set() and (mb := rss_mb(daemon.pid)) is not None:
                self._rss_mb.append((daemon.starts, mb))

    # --- Judging ----------------------------------------------------------------------------------------

    @asynccontextmanager
    async def _ledger(self) -> AsyncIterator[Database]:
        database = await Database.open(f"sqlite:///{self._folder / 'data' / 'desdemona.db'}", upgrade=False)
        try:
            yield database
        finally:
            await database.close()

    async def _judge(self, site: Database, proxy: FaultProxy) -> list[Claim]:
        """Check that the program lost no game on time and left no game unfinished."""
        lost, excused = [], 0
        async with self._ledger() as ledger:
            for database, game_ids, outages in (
                (ledger, self._home, []),
                (site, self._abroad, proxy.outages),
            ):
                for game_id in game_ids:
                    match = await match_of(database, game_id)
                    side = match.record.players.index(BOT)
                    if match.record.status == "outoftime" and match.record.winner == 1 - side:
                        if is_lost_by_faults(match, outages):
                            excused += 1
                        else:
                            lost.append(game_id)
            hanging = await unsettled_games(ledger)
            async with ledger.read() as session:
                at_ggs = await list_games(session, Filters(site=GGS.site, account=GGS.name), limit=100_000)
            lost += [
                game.site_game_id
                for game in at_ggs
                if game.end_reason == EndReason.TIME.value and game.result is GameResult.LOSS
            ]
        return [
            none_found(f"no game lost on time because of the program ({excused} because of faults)", lost),
            none_found("no game left hanging", hanging),
        ]

    async def _books(self, daemon: Daemon, url: str, outside: Outside) -> list[Claim]:
        """Compare each account's records with those of its server."""
        async with self._ledger() as ledger:
            home = await troubles(ledger, await exported(daemon.url, self._home), bot=BOT, site=HOME.site)
            abroad = await troubles(ledger, await exported(url, self._abroad), bot=BOT, site=ABROAD.site)
            ggs = [line async for line in ggs_troubles(ledger, outside.over, GGS_BOT)]
            async with ledger.read() as session:
                doubled = len(await list_events(session, kind="undecided_move"))
        return [
            none_found("records right: home", home),
            none_found("records right: abroad", abroad),
            none_found("records right: GGS", ggs),
            Claim("no move duplicated", not doubled, f"{doubled} without a decision"),
        ]

    async def _own_games(self) -> Claim:
        async with self._ledger() as ledger, ledger.read() as session:
            counts = [
                len(await list_games(session, Filters(site=owner.site, account=owner.name), limit=100_000))
                for owner in (HOME, ABROAD, GGS)
            ]
            total = len(await list_games(session, limit=100_000))
        known = counts[:2] == [len(self._home), len(self._abroad)]
        return Claim("each account has its own games", known and sum(counts) == total, f"{counts} of {total}")

    # --- A server that is away --------------------------------------------------------------------------

    async def _without_abroad(self, daemon: Daemon, front: AsyncExitStack, address: str) -> Claim:
        """Compare the bot's response times at its own arena before and during the other arena's outage."""
        before = await self._answers(daemon, self._outage_s / 2)
        await front.aclose()
        refused = await self._answers(daemon, self._outage_s / 2)
        port = urlsplit(address).port
        silent = await asyncio.start_server(_say_nothing, "127.0.0.1", port)
        async with silent:
            away = refused + await self._answers(daemon, self._outage_s / 2)
            silent.close()
        ratio = median(away) / median(before)
        return Claim(
            f"our own arena's responses do not wait for a server that is down for {self._outage_s:.0f} s",
            ratio <= 1.2,
            f"{_shown(before)} before, {_shown(away)} during the outage; median {ratio:.2f} x",
        )

    async def _answers(self, daemon: Daemon, seconds: float) -> list[float]:
        """Let two people play for the given time; return the bot's response times in seconds."""
        until = time.monotonic() + seconds
        people = [Person(daemon, f"timer{number}", number) for number in range(2)]

        async def sit(person: Person) -> None:
            while time.monotonic() < until:
                self._home.append(await person.play(Wish("othello")))

        async with asyncio.TaskGroup() as tasks:
            for person in people:
                tasks.create_task(sit(person))
        for person in people:
            await person.close()
        return [each for person in people for each in person.answers_s]


async def person_plays(person: Person, rng: random.Random, variants: Sequence[str], games: list[str]) -> None:
    """Play one game as a person who sometimes resigns, offers draws or requests takebacks."""
    habits = Habits(
        resign_at=rng.randrange(10, 90) if rng.random() < 0.4 else None,
        offers_draws=0.02,
        asks_back=0.02,
        thinks_s=0.2,
    )
    games.append(await person.play(Wish(rng.choice(variants), Clock(180, 2), habits=habits)))


def _shown(seconds: Sequence[float]) -> str:
    *_, high = quantiles(seconds, n=20)
    return f"{1000 * median(seconds):.0f} ms (95 %: {1000 * high:.0f} ms, {len(seconds)} moves)"


async def _say_nothing(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
    try:
        while await reader.read(65_536):
            pass
    finally:
        writer.close()


def main() -> int:
    """Run the test in the given folder or a temporary one; return the exit status."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawTextHelpFormatter)
    parser.add_argument("--games", type=int, default=1000)
    parser.add_argument("--kills", type=int, default=20)
    parser.add_argument(
        "--outage", type=float, default=300.0, help="duration of the second arena's outage, in seconds"
    )
    parser.add_argument("--seed", type=int, default=1)
    given = parser.parse_args()
    logging.basicConfig(level=logging.ERROR)
    with tempfile.TemporaryDirectory() as folder:
        run = ThreeServersSoak(
            Path(folder), games=given.games, kills=given.kills, outage_s=given.outage, seed=given.seed
        )
        return 0 if asyncio.run(run.run()) else 1


if __name__ == "__main__":
    sys.exit(main())
