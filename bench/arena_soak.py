"""Plays many games at once with every kind of fault, and checks the bot's ledger at the end.

    python -m bench.arena_soak [--games 1000] [--at-once 20] [--seed 1] [--kills 20]

The real program plays at a real arena through a proxy that corrupts requests and streams at random, with
every kind of fault in turn; ``kill -9`` ends it at random times in the first two thirds of the run. Simulated
people play bullet and blitz games of every chess variant and of Othello with random moves; some resign, offer
draws or request takebacks. At the end the ledger is compared with the arena's records, move by move. The
report counts the faults of each kind, and the verdict checks every claim: no game was lost on time or left
open because of the bot, no move was duplicated, no decision is missing or duplicated, and memory is flat.

A loss on time counts against the bot unless faults used up a third of its last turn or half of its clock.
"""

import argparse
import asyncio
import logging
import os
import random
import sys
import time
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path

from bench.claims import Claim, Findings, memory_flat, none_found, processor_s, working_folder
from bot.arena import export
from bot.arena.game import ReplayedGame, replay_record
from bot.arena.server import Arena
from bot.arena.variants import VARIANTS
from bot.base.config import ArenaConfig
from bot.base.dialects import DIALECTS
from bot.base.events import Clock
from bot.threads.cores import available_cores
from storage.arena import accounts as arena_store
from storage.arena.accounts import ArenaGameRecord
from storage.database import Database
from storage.ledger.events import list_events
from storage.records import AccountKey
from tests.faults.proxy import NO_FAULTS, Chance, Fault, FaultProxy, Outage
from tests.system.daemon import Daemon
from tests.system.ledger import log_lines, troubles, unsettled_games, wait_until_settled
from tests.system.person import Habits, Person, Wish

BOT = "desdemona"
OWNER = AccountKey("arena", BOT)
CLOCKS = (Clock(60, 0), Clock(0, 1), Clock(60, 1), Clock(180, 2))
"""Mostly bullet."""
# Kinds of games, and their weights; those that the bot does not support are left out.
VARIANTS_PLAYED = {"standard": 4, "othello": 5, "chess960": 1, "fromPosition": 1}
POSITION = "r1bqk2r/ppp2ppp/2np1n2/2b1p3/2B1P3/2NP1N2/PPP2PPP/R1BQK2R w KQkq - 0 6"
REQUEST_FAULT_PROBABILITY, LINE_FAULT_PROBABILITY = 0.015, 0.01
SLOW_S, STALL_S = 1.0, 2.0
MAX_THINKING_S = 2.0
"""Maximum thinking time of simulated people; twenty people who move instantly would overload a small PC."""
KILL_UNTIL = 0.67
LISTEN_TIMEOUT_S = 60.0
MAX_STREAM_GAP_S = 15.0
"""Limit on the time to reopen a lost event stream, in seconds."""
COVERING_GAMES = 1000
"""A run of at least this many games must include every kind of fault."""
MIN_STEADY_S = 300
"""Minimum duration of the program's last process, in seconds, for a verdict on its memory use."""
BROKEN_EVENT_KINDS = (
    "decision_unjudged",
    "event_failed",
    "game_crashed",
    "game_given_up",
    "game_unknown",
    "profile_impossible",
)
"""Events in the bot's ledger that indicate a bug in the bot."""


@dataclass
class Summary(Findings):
    """The results of a run."""

    games: int = 0
    results: Counter[str] = field(default_factory=Counter)
    endings: Counter[str] = field(default_factory=Counter)
    lost_on_time: list[str] = field(default_factory=list)
    """Games lost on time because of the bot itself."""
    excused: list[str] = field(default_factory=list)
    """Games lost on time, or not begun, because of injected faults."""
    not_begun: list[str] = field(default_factory=list)
    """Games aborted because the bot did not make its first move."""
    hanging: list[str] = field(default_factory=list)
    """Games still open at the arena or in the ledger at the end."""
    duplicates: int = 0
    """Moves that were played without a decision."""
    resent: int = 0
    """Moves that were sent again, and refused, after the server had accepted them."""
    troubles: list[str] = field(default_factory=list)
    broken: list[str] = field(default_factory=list)
    """Crashes, and errors in the log."""
    rss_mb: list[tuple[int, float]] = field(default_factory=list)
    """Memory of the bot over time; each value comes with its process's sequence number."""
    kills: int = 0
    faults: Counter[Fault] = field(default_factory=Counter)
    deaf_s: list[float] = field(default_factory=list)
    plies: int = 0
    seconds: float = 0.0
    processor_s: tuple[float, float] = (0.0, 0.0)
    """Processor time of the bot over all its processes, and of the arena, proxy and people together."""
    status: int | None = None
    """Final exit status of the bot."""

    @property
    def claims(self) -> list[Claim]:
        """Return each claim of the verdict, and whether the run met the claim."""
        late = sum(s > MAX_STREAM_GAP_S for s in self.deaf_s)
        return [
            none_found("no game lost on time because of the bot", self.lost_on_time),
            none_found("no game left hanging", self.hanging),
            none_found("no game left without the bot's first move", self.not_begun),
            Claim("no duplicate move", not self.duplicates, f"{self.duplicates} without a decision"),
            none_found("no decision missing, duplicated or wrong", self.troubles),
            memory_flat(self.rss_mb, MIN_STEADY_S),
            none_found("no crash and no error in the log", self.broken),
            Claim(
                f"never without an event stream for more than {MAX_STREAM_GAP_S:g} s",
                not late,
                f"{late} of {len(self.deaf_s)}",
            ),
            Claim("the bot stopped on request", self.status == 0, f"exit status {self.status}"),
            self._coverage(),
        ]

    def _coverage(self) -> Claim:
        missing = [fault.value for fault in Fault if not self.faults[fault]]
        text = f"{len(Fault) - len(missing)} of {len(Fault)}"
        if missing:
            text += f"; never: {', '.join(missing)}"
        holds = True if not missing else False if self.games >= COVERING_GAMES else None
        return Claim("every kind of fault", holds, text)

    def lines(self) -> Iterator[str]:
        """The report."""
        yield f"games: {self.games}; " + _counted(self.results) + "; ended by " + _counted(self.endings)
        yield f"games lost on time: {len(self.lost_on_time)} by the bot, {len(self.excused)} due to faults"
        yield f"not begun: {len(self.not_begun)}; hanging: {len(self.hanging)}"
        yield f"moves without a decision: {self.duplicates}; sent again unnecessarily: {self.resent}"
        yield f"missing, duplicated or wrong decisions, other problems in the ledger: {len(self.troubles)}"
        yield from (f"  {each}" for each in [*self.lost_on_time, *self.not_begun, *self.hanging][:20])
        yield from (f"  {each}" for each in [*self.troubles, *self.broken][:40])
        yield f"kills: {self.kills}; faults: {sum(self.faults.values())}, by kind:"
        for fault in Fault:
            yield f"  {self.faults[fault]:5} {fault.value}"
        deaf = sorted(self.deaf_s)
        if deaf:
            yield (
                f"without an event stream {len(deaf)} times; median {deaf[len(deaf) // 2]:.1f} s, "
                f"longest {deaf[-1]:.1f} s"
            )
        yield f"{self.plies} plies in {self.seconds:.0f} s: {self.plies / self.seconds:.0f} per second"
        bot_s, rest_s = self.processor_s
        yield (
            f"processor time: bot {bot_s:.0f} s, arena, proxy and people {rest_s:.0f} s; "
            f"machine load at the end {os.getloadavg()[1]:.1f} on {available_cores()} cores"
        )
        yield from self.verdict()


def _counted(counts: Counter[str]) -> str:
    return ", ".join(f"{count} {what}" for what, count in counts.most_common())


class Soak:
    """Runs the soak test once, in its own folder."""

    def __init__(
        self,
        folder: Path,
        *,
        games: int,
        at_once: int,
        seed: int,
        kills: int,
        clocks: Sequence[Clock] = CLOCKS,
        thinks_s: float = MAX_THINKING_S,
        of_requests: float = REQUEST_FAULT_PROBABILITY,
        of_lines: float = LINE_FAULT_PROBABILITY,
    ) -> None:
        self._folder = folder
        self._wanted = games
        self._at_once = at_once
        self._kills = kills
        self._clocks = clocks
        self._thinks_s = thinks_s
        self._faults = {"of_requests": of_requests, "of_lines": of_lines}
        self._rng = random.Random(seed)
        self.summary = Summary()
        self._ids: list[str] = []
        self._over: asyncio.Queue[int] = asyncio.Queue()
        """Receives the number of finished games each time a game ends."""
        self._taken_back: set[tuple[str, int, str]] = set()
        self._proxy: FaultProxy
        self._bot: Daemon

    async def run(self) -> Summary:
        """Play all games, and summarise the results."""
        database = await Database.open(f"sqlite:///{self._folder / 'arena.db'}")
        try:
            arena = Arena(ArenaConfig(port=0, games_per_opponent=1000), database)
            async with arena.running([BOT.capitalize()]) as url:
                plan = Chance(self._rng, **self._faults)
                # Down for about one request per game; a client that backs off takes minutes for twenty.
                self._proxy = FaultProxy(
                    url, plan, slow_s=SLOW_S, down_requests=self._at_once, stall_s=STALL_S
                )
                async with self._proxy.running() as address:
                    self._bot = self._program(address, arena.bot_tokens[BOT.capitalize()])
                    async with self._bot:
                        await self._play(url)
                        self._proxy.plan = NO_FAULTS
                        await wait_until_settled(self._folder)
                        # It may have been killed after the last game: while it starts, SIGTERM just kills it.
                        async with asyncio.timeout(LISTEN_TIMEOUT_S):
                            await self._proxy.listens.wait()
                        self.summary.status, _ = await self._bot.stop()
            await self._look(database)
        finally:
            await database.close()
        return self.summary

    def _program(self, address: str, token: str) -> Daemon:
        return Daemon(
            self._folder,
            has_arena=False,
            server__url=address,
            server__token=token,
            engine__max_depth=3,
            engine__table_mb=1,
            challenges__min_initial_s=0,
            challenges__max_games=2 * self._at_once,
            manners__takebacks=1,
            selection__seed=2006,
        )

    # --- While it runs ----------------------------------------------------------------------------------

    async def _play(self, url: str) -> None:
        began = time.monotonic()
        wishes = [self._wish() for _ in range(self._wanted)]
        seeds = [self._rng.getrandbits(32) for _ in range(self._at_once)]
        async with asyncio.TaskGroup() as tasks:
            watching, striking = tasks.create_task(self._watch()), tasks.create_task(self._strike())
            people = [
                tasks.create_task(self._sit(Person(Anywhere(url), f"person{n}", seed), wishes))
                for n, seed in enumerate(seeds)
            ]
            await asyncio.wait([*people, striking])
            watching.cancel()
        self.summary.seconds = time.monotonic() - began

    def _wish(self) -> Wish:
        rng = self._rng
        known = {key: n for key, n in VARIANTS_PLAYED.items() if key in DIALECTS["arena"].variants}
        (variant,) = rng.choices(list(known), list(known.values()))
        habits = Habits(
            resign_at=rng.randrange(10, 90) if rng.random() < 0.4 else None,
            offers_draws=0.02,
            asks_back=0.02,
            says=0.02,
            thinks_s=self._thinks_s,
        )
        return Wish(
            variant=variant,
            clock=rng.choice(self._clocks),
            rated=VARIANTS[variant].is_rated and rng.random() < 0.5,
            fen=POSITION if variant == "fromPosition" else "",
            habits=habits,
        )

    async def _sit(self, person: Person, wishes: list[Wish]) -> None:
        try:
            while wishes:
                self._ids.append(await person.play(wishes.pop()))
                self._over.put_nowait(len(self._ids))
                self._taken_back |= person.taken_back
        finally:
            await person.close()

    async def _strike(self) -> None:
        """Kill the bot at random times during the first two thirds of the games."""
        at = sorted(self._rng.uniform(0.02, KILL_UNTIL) * self._wanted for _ in range(self._kills))
        for games in at:
            while await self._over.get() < games:
                pass
            await asyncio.sleep(self._rng.uniform(0.0, 0.5))
            self._proxy.program_killed()
            await self._bot.kill()
            await self._bot.start()
            self.summary.kills += 1

    async def _watch(self) -> None:
        """Measure memory, and report progress."""
        began = time.monotonic()
        while True:
            await asyncio.sleep(1.0)
            if self._bot.has_ended:
                raise RuntimeError(f"the bot has exited unexpectedly: {await self._bot.last_words()}")
            if (mb := rss_mb(self._bot.pid)) is not None:
                self.summary.rss_mb.append((self._bot.starts, mb))
            seconds = round(time.monotonic() - began)
            if seconds % 30 == 0:
                print(f"{seconds} s: {len(self._ids)} games", file=sys.stderr)

    # --- Afterwards -------------------------------------------------------------------------------------

    async def _look(self, arena: Database) -> None:
        summary, proxy = self.summary, self._proxy
        summary.processor_s = processor_s()
        summary.games = len(self._ids)
        summary.faults = Counter(proxy.faults)
        summary.deaf_s, summary.resent = proxy.deaf_s, proxy.resent
        records = {}
        for game_id in self._ids:
            match = await match_of(arena, game_id)
            records[game_id] = export.export(match)
            self._judge(match)
        async with arena.read() as session:
            summary.hanging += [f"{each}: at the arena" for each in await arena_store.list_open_ids(session)]
        ledger = await Database.open(f"sqlite:///{self._folder / 'data' / 'desdemona.db'}")
        try:
            summary.hanging += [f"{each}: in the ledger" for each in await unsettled_games(ledger)]
            summary.troubles = await troubles(ledger, records, taken_back=self._taken_back, bot=BOT)
            async with ledger.read() as session:
                summary.duplicates = len(await list_events(session, kind="undecided_move"))
                for kind in BROKEN_EVENT_KINDS:
                    summary.broken += [f"{kind}: {e.detail}" for e in await list_events(session, kind=kind)]
        finally:
            await ledger.close()
        summary.broken += log_lines(self._bot.log, "ERROR", "CRITICAL")

    def _judge(self, match: ReplayedGame) -> None:
        summary, record = self.summary, match.record
        side = record.players.index(BOT)
        summary.plies += len(record.moves)
        summary.endings[record.status] += 1
        if record.status != "aborted":
            result = "draws" if record.winner is None else "wins" if record.winner == side else "losses"
            summary.results[result] += 1
        bots_turn = match.to_move == side
        if record.status == "outoftime" and record.winner == 1 - side:
            told = summary.excused if is_lost_by_faults(match, self._proxy.outages) else summary.lost_on_time
        elif record.status == "aborted" and bots_turn:
            told = summary.excused if is_lost_by_faults(match, self._proxy.outages) else summary.not_begun
        else:
            return
        told.append(_told(match, self._proxy))


def rss_mb(pid: int) -> float | None:
    """Resident memory of a process; None if it has just been killed."""
    try:
        status = Path(f"/proc/{pid}/status").read_text(encoding="utf-8")
    except OSError:
        return None
    lines = [line for line in status.splitlines() if line.startswith("VmRSS")]
    return int(lines[0].split()[1]) / 1024 if lines else None


class Anywhere:
    """An arena that is always up, because this run never restarts it."""

    def __init__(self, url: str) -> None:
        self.url = url
        self.up = asyncio.Event()
        self.up.set()


async def match_of(database: Database, game_id: str) -> ReplayedGame:
    async with database.read() as session:
        record = await arena_store.load_game(session, game_id)
        assert record is not None
        first, second = [await arena_store.get_account(session, each) for each in record.players]
    assert first is not None
    assert second is not None
    return replay_record(record, VARIANTS[record.variant], (first, second), 0.0)


def _overlap(outages: list[Outage], game_id: str, since_s: float, until_s: float) -> float:
    """Number of seconds within an interval for which faults prevented play in a game."""
    covered, end = 0.0, since_s
    for each in sorted(outages, key=lambda each: each.since_s):
        if each.game in (None, game_id):
            begin = max(end, each.since_s)
            end = max(end, min(until_s, each.until_s))
            covered += max(0.0, end - begin)
    return covered


def _turn(record: ArenaGameRecord) -> tuple[float, float]:
    assert record.ended_at is not None
    return record.last_move_at.timestamp(), record.ended_at.timestamp()


def is_lost_by_faults(match: ReplayedGame, outages: list[Outage]) -> bool:
    record, clock = match.record, match.clock
    since_s, until_s = _turn(record)
    if _overlap(outages, match.id, since_s, until_s) >= (until_s - since_s) / 3:
        return True
    if clock is None:
        return False
    budget_s = max(3, clock.initial_s) + clock.increment_s * len(record.moves) / 2
    return _overlap(outages, match.id, record.created_at.timestamp(), until_s) >= budget_s / 2


def _told(match: ReplayedGame, proxy: FaultProxy) -> str:
    record = match.record
    since_s, until_s = _turn(record)
    faults = [
        f"{fault.value} at {call.place.value} {at - until_s:+.1f} s"
        for at, fault, call in proxy.strikes
        if call.game in (None, match.id) and since_s - 5 < at < until_s
    ]
    lost_s = _overlap(proxy.outages, match.id, since_s, until_s)
    return (
        f"{match.id} {record.variant} {record.initial_s}+{record.increment_s}: {record.status} at ply "
        f"{len(record.moves)}, last turn {until_s - since_s:.1f} s, of which faults took {lost_s:.1f} s; "
        f"faults before the end: {', '.join(faults) or 'none'}"
    )


def main() -> int:
    """Run the soak test, and return the exit status."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawTextHelpFormatter)
    parser.add_argument("--games", type=int, default=1000)
    parser.add_argument("--at-once", type=int, default=20)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--kills", type=int, default=20)
    parser.add_argument("--folder", type=Path, help="folder to use and keep (default: a temporary folder)")
    given = vars(parser.parse_args())
    logging.basicConfig(level=logging.ERROR)
    with working_folder(given.pop("folder")) as folder:
        summary = asyncio.run(Soak(folder, **given).run())
    for line in summary.lines():
        print(line)
    return 1 if summary.complaints else 0


if __name__ == "__main__":
    sys.exit(main())
