"""Simulates months of use: many short games while the program is killed, stopped, backed up and pruned.

    python -m bench.endurance.run [--games 10000] [--at-once 16] [--seed 1] [--kills 10] [--stops 10]
                                  [--upkeep 20] [--minutes M] [--folder FOLDER]

`desdemona run` plays at its own arena against scripted people over HTTP, with a shallow search and short
games: people resign, abort, leave, lose on time, drop out, come back, or send invalid requests. A trial runs.
Meanwhile a separate process fetches each page of the dashboard in turn, and two connections listen for its
changes.

In the first half of the games the program is repeatedly killed by ``kill -9`` and stopped by SIGTERM; in the
second half one process runs to the end, and its memory, descriptors, threads and tasks must not grow. Log
rotations with SIGHUP, backups and `db vacuum` are spread over all games, and `db prune` over the first half.

All people pause briefly at three points: after a tenth of the games, when the last process has warmed up, and
at the end. Resource use and page times are compared between these pauses only, so the load between them does
not matter.

At the end the bot's records are compared with the arena's, game by game and move by move, `desdemona db
recheck` recomputes them, and all log files are searched for errors.
"""

import argparse
import asyncio
import json
import logging
import os
import random
import signal
import sys
import time
from bisect import bisect_right
from collections.abc import Awaitable, Callable, Sequence
from contextlib import suppress
from pathlib import Path
from typing import Any

import aiohttp
from sqlalchemy import func, select

from bench.arena_soak import BOT, BROKEN_EVENT_KINDS, match_of
from bench.claims import processor_s, working_folder
from bench.endurance.people import draw_wish
from bench.endurance.report import EnduranceReport, Fetch
from bench.endurance.samples import Sample, take_sample
from bot.arena import export
from storage.arena import accounts as arena_store
from storage.database import Database
from storage.ledger.events import list_events
from storage.tables.arena import ArenaGame
from storage.tables.games import DecisionRow
from tests.system.daemon import Daemon, free_port
from tests.system.ledger import log_lines, troubles, unsettled_games, wait_until_settled
from tests.system.person import Person, Wish

PEOPLE_PER_GAME = 0.1
"""Number of accounts divided by the number of games: each person plays about ten games."""
SAMPLE_INTERVAL_S, TELL_S = 2.0, 30.0
"""Seconds between samples of the program and between progress lines."""
LISTENERS = 2
BACKUPS = 3
MIN_CLOCK_S = 60
"""Clocks shorter than this many seconds may run out while the program restarts."""
REST_S = 45.0
"""Seconds to wait without games before sampling: enough to close idle connections and fetch each page several
times."""
RESTS = (0.1, 0.6)
"""Fractions of the run at which all people pause: near the start, and when the last process has warmed up.
They also pause at the end."""
SETTINGS: dict[str, Any] = {
    "engine__max_depth": 2,
    "engine__table_mb": 1,
    "challenges__min_initial_s": 0,
    "manners__takebacks": 1,
    "trial__hold_s": 0,
    "trial__report_delay_s": 0,
    "chat__spectator_commands": True,
    "arena__gone_s": 2,
    "arena__first_move_s": 120,
    "arena__trusted_proxies": '["127.0.0.1"]',
    "shutdown__drain_s": 1,
}


class Endurance:
    """One run of the endurance test.

    Args:
        folder: Folder for the database, the log, backups, and the output of the page reader.
        games: Number of games.
        at_once: Number of people at the arena at the same time.
        seed: Seed for people, games and the order of faults.
        kills: Number of kills by ``kill -9``, in the first half.
        stops: Number of stops by SIGTERM, in the first half.
        upkeep: Number of log rotations; backups are half as many, `db vacuum` and `db prune` a quarter each.
        rest_s: Duration of each rest, in seconds.
        limit_s: Time limit in seconds; no game starts after it. Faults are spread over this time.
    """

    def __init__(
        self,
        folder: Path,
        *,
        games: int,
        at_once: int,
        seed: int,
        kills: int,
        stops: int,
        upkeep: int,
        limit_s: float = float("inf"),
        rest_s: float = REST_S,
    ) -> None:
        self._folder = folder
        self._wanted = games
        self._at_once = at_once
        self._limit_s = limit_s
        self._rest_s = rest_s
        self._began = 0.0
        self._rng = random.Random(seed)
        self._dashboard = f"http://127.0.0.1:{(port := free_port())}"
        self._bot = Daemon(folder, dashboard__port=port, challenges__max_games=2 * at_once, **SETTINGS)
        self._database = folder / "data" / "desdemona.db"
        self._fetched = folder / "pages.jsonl"
        self._ids: list[str] = []
        self._over_at: list[float] = []
        """Times at which games ended, in seconds since 1970."""
        self._over: asyncio.Queue[None] = asyncio.Queue()
        self._taken_back: set[tuple[str, int, str]] = set()
        self._begun = self._playing = 0
        self._may_begin = asyncio.Event()
        self._may_begin.set()
        self._rotated: list[Path] = []
        self._rested: list[tuple[float, float]] = []
        """Start and end of each rest, in seconds since 1970."""
        self._plan = self._planned(kills, stops, upkeep)
        self.found = EnduranceReport(at_once=at_once)

    @property
    def _progress(self) -> float:
        """Progress of the run from 0 to 1: the share of the games played or of the time used, whichever is
        greater.
        """
        return max(len(self._ids) / self._wanted, (time.monotonic() - self._began) / self._limit_s)

    def _planned(self, kills: int, stops: int, upkeep: int) -> list[tuple[float, str]]:
        """The kills, stops, maintenance and pauses, each with its time as a fraction of the run."""

        def spread(number: int, first: float, last: float) -> list[float]:
            """Evenly spaced fractions, so that no process runs much longer than another."""
            step = (last - first) / max(1, number)
            return [first + step * (at + 0.5) for at in range(number)]

        ends = ["kill -9"] * kills + ["SIGTERM, start"] * stops
        self._rng.shuffle(ends)
        plan = [
            *zip(spread(len(ends), 0.02, 0.5), ends, strict=True),
            *((at, "log rotated") for at in spread(upkeep, 0.0, 1.0)),
            *((at, "db backup") for at in spread(-(-upkeep // 2), 0.05, 1.0)),
            *((at, "db vacuum") for at in spread(-(-upkeep // 4), 0.1, 0.95)),
            *((at, "db prune") for at in spread(-(-upkeep // 4), 0.1, 0.5)),
            *((at, "rest") for at in RESTS),
        ]
        return sorted(plan)

    async def run(self) -> EnduranceReport:
        """Play all games, then check the results."""
        (self._folder / "backups").mkdir(exist_ok=True)
        async with self._bot:
            await self._command("trial", "trial", "start", "endurance")
            self._began = time.monotonic()
            async with asyncio.TaskGroup() as tasks:
                helpers = [
                    tasks.create_task(self._watch()),
                    tasks.create_task(self._read_pages()),
                    *(tasks.create_task(self._listen()) for _ in range(LISTENERS)),
                ]
                acting = tasks.create_task(self._act())
                people = [tasks.create_task(self._sit(seat)) for seat in range(self._at_once)]
                await asyncio.wait(people)
                await acting
                self.found.seconds = time.monotonic() - self._began
                await self._rest()
                for helper in helpers:
                    helper.cancel()
            await wait_until_settled(self._folder)
            status, said = await self._bot.stop()
            if status:
                self.found.failed.append(f"the last SIGTERM: exit status {status}: {said[-300:]}")
        await self._judge()
        return self.found

    # --- While it runs ----------------------------------------------------------------------------------

    async def _sit(self, seat: int) -> None:
        """Play one game after another, each as a random member of this seat's group of people."""
        rng = random.Random(self._rng.getrandbits(32) + seat)
        mine = max(1, round(self._wanted * PEOPLE_PER_GAME / self._at_once))
        people: dict[int, Person] = {}
        try:
            while True:
                await self._may_begin.wait()
                if self._begun >= self._wanted or self._progress >= 1:
                    break
                self._begun += 1
                self._playing += 1
                number = rng.randrange(mine)
                if number not in people:
                    address = f"10.{seat}.{number >> 8}.{number & 255}"
                    people[number] = Person(
                        self._bot, f"p{seat}-{number}", rng.getrandbits(32), address=address
                    )
                await self._play(people[number], draw_wish(rng))
                self._playing -= 1
        finally:
            self.found.people += len(people)
            for person in people.values():
                await person.close()

    async def _play(self, person: Person, wish: Wish) -> None:
        self._ids.append(await person.play(wish))
        self._over_at.append(time.time())
        self._over.put_nowait(None)
        self._taken_back |= person.taken_back
        person.taken_back.clear()

    async def _act(self) -> None:
        """Carry out the planned kills, stops, maintenance and pauses, one after another."""
        acts: dict[str, Callable[[], Awaitable[None]]] = {
            "rest": self._rest,
            "kill -9": self._kill,
            "SIGTERM, start": self._restart,
            "log rotated": self._rotate,
            "db backup": self._backup,
            "db vacuum": lambda: self._command("db vacuum", "db", "vacuum", "--force"),
            "db prune": lambda: self._command("db prune", "db", "prune", "--keep-profiles", "0d", "--yes"),
        }
        for share, name in self._plan:
            while self._progress < share:
                await self._over.get()
            began = time.monotonic()
            await acts[name]()
            self.found.acts[name] += 1
            self.found.act_s[name].append(time.monotonic() - began)

    async def _rest(self) -> None:
        """Sample the program when no game is running and no game's connection is left open."""
        self._may_begin.clear()
        while self._playing:
            await self._over.get()
        began = time.time()
        await asyncio.sleep(self._rest_s)
        if (seen := await self._look()) is not None:
            self.found.rests.append(seen)
        self._rested.append((began, time.time()))
        self._may_begin.set()

    async def _kill(self) -> None:
        await self._bot.kill()
        await self._bot.start()

    async def _restart(self) -> None:
        status, said = await self._bot.stop()
        if status:
            self.found.failed.append(f"SIGTERM: exit status {status}: {said[-300:]}")
        await self._bot.start()

    async def _rotate(self) -> None:
        old = self._bot.log.with_name(f"desdemona.log.{len(self._rotated) + 1}")
        self._bot.log.rename(old)
        self._rotated.append(old)
        os.kill(self._bot.pid, signal.SIGHUP)

    async def _backup(self) -> None:
        await self._command(
            "db backup", "db", "backup", str(self._folder / "backups"), "--keep", str(BACKUPS)
        )

    async def _command(self, name: str, *arguments: str) -> None:
        status, out, err = await self._bot.ask(*arguments)
        if status:
            self.found.failed.append(f"{name}: exit status {status}: {(out + err)[-300:]}")

    async def _watch(self) -> None:
        """Sample the program every few seconds and report progress."""
        told = 0.0
        while True:
            await asyncio.sleep(SAMPLE_INTERVAL_S)
            if self._bot.has_ended:
                raise RuntimeError(f"the bot has exited unexpectedly: {await self._bot.last_words()}")
            seen = await self._look()
            if seen is None:
                continue
            self.found.samples.append(seen)
            passed = time.monotonic() - self._began
            if passed - told >= TELL_S:
                told = passed
                print(
                    f"{passed:.0f} s: {seen.games} games, {seen.games / passed:.1f} a second; "
                    f"{seen.rss_mb:.0f} MB, {seen.descriptors} descriptors, {seen.tasks} tasks",
                    file=sys.stderr,
                )

    async def _look(self) -> Sample | None:
        """A sample of the program; None if the program is not running."""
        metrics = ""
        async with aiohttp.ClientSession(self._dashboard) as http:
            with suppress(aiohttp.ClientError, TimeoutError):
                async with http.get("/metrics", timeout=aiohttp.ClientTimeout(10)) as answer:
                    metrics = await answer.text()
        if not (self._bot.up.is_set() and metrics):
            return None
        return take_sample(self._bot.pid, self._database, len(self._ids), self._bot.starts, metrics)

    async def _read_pages(self) -> None:
        """Run the process that fetches the pages; end it by closing its input."""
        command = (sys.executable, "-m", "bench.endurance.pages", self._dashboard, str(self._fetched))
        process = await asyncio.create_subprocess_exec(
            *command, stdin=asyncio.subprocess.PIPE, cwd=Path(__file__).parents[2]
        )
        assert process.stdin is not None
        try:
            status = await process.wait()
            raise RuntimeError(f"the page reader has exited with status {status}")
        finally:
            process.stdin.close()
            await process.wait()

    async def _listen(self) -> None:
        """Keep a stream of changes open, as a dashboard page does."""
        quiet = aiohttp.ClientTimeout(total=None, sock_read=60)
        async with aiohttp.ClientSession(self._dashboard, timeout=quiet) as http:
            while True:
                with suppress(aiohttp.ClientError, TimeoutError):
                    async with http.get("/dash/stream") as stream:
                        async for _ in stream.content:
                            pass
                await self._bot.up.wait()
                await asyncio.sleep(0.5)

    # --- Afterwards -------------------------------------------------------------------------------------

    async def _judge(self) -> None:
        found = self.found
        found.processor_s = processor_s()
        found.games = len(self._ids)
        found.fetches = read_fetches(self._fetched, self._over_at, self._rested)
        await self._hold_against_the_arena()
        # It also judges what is not judged yet, so it comes last.
        status, out, err = await self._bot.ask("db", "recheck", "--format", "json")
        fields = json.loads(out) if out.startswith("{") else {}
        if status or not fields:
            found.wrong.append(f"db recheck: exit status {status}: {(err or out)[-500:]}")
        for name in ("judged", "forecast", "completed", "summaries", "left"):
            if fields.get(name):
                found.wrong.append(f"db recheck: {name}: {fields[name]}")
        for path in (*self._rotated, self._bot.log):
            found.logged += log_lines(path, "ERROR", "CRITICAL")
            found.logged += [line for line in path.read_text().splitlines() if "Traceback" in line]

    async def _hold_against_the_arena(self) -> None:
        found = self.found
        database = await Database.open(f"sqlite:///{self._database}")
        try:
            async with database.read() as session:
                keys = list(await session.scalars(select(ArenaGame.id).order_by(ArenaGame.created_at)))
            records = {}
            # All games of the arena: after a kill, a person may not know that a challenge became a game.
            for game_id in keys:
                match = await match_of(database, game_id)
                record = match.record
                records[game_id] = export.export(match)
                found.results[record.status] += 1
                found.plies += len(record.moves)
                if record.status == "outoftime" and record.winner == 1 - record.players.index(BOT):
                    told = found.lost_on_time if (record.initial_s or 0) >= MIN_CLOCK_S else found.excused
                    told.append(f"{game_id}: lost on time at ply {len(record.moves)}")
            async with database.read() as session:
                found.hanging += [
                    f"{each}: at the arena" for each in await arena_store.list_open_ids(session)
                ]
                found.decisions = await session.scalar(select(func.count(DecisionRow.id))) or 0
                for kind in (*BROKEN_EVENT_KINDS, "undecided_move"):
                    found.lost += [f"{kind}: {e.detail}" for e in await list_events(session, kind=kind)]
            found.hanging += [f"{each}: in the records" for each in await unsettled_games(database)]
            found.lost += await troubles(database, records, taken_back=self._taken_back, bot=BOT)
        finally:
            await database.close()


def read_fetches(path: Path, over_at: Sequence[float], rested: Sequence[tuple[float, float]]) -> list[Fetch]:
    """Read the page reader's output and add to each request the number of games that had ended by then.

    Args:
        path: File with the output; the file's last line may be incomplete.
        over_at: Times at which games ended, in seconds since 1970, in order.
        rested: Start and end of each rest, in seconds since 1970.
    """
    fetches = []
    for line in path.read_text(encoding="utf-8").splitlines():
        try:
            each = json.loads(line)
        except ValueError:
            continue
        began = each["at"] - each["ms"] / 1000
        rest = next((at for at, (since, until) in enumerate(rested) if since <= began < until), None)
        fetches.append(Fetch(each["page"], each["ms"], each["status"], bisect_right(over_at, began), rest))
    return fetches


def main() -> int:
    """Parse the options and run; return the exit status."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawTextHelpFormatter)
    parser.add_argument("--games", type=int, default=10_000)
    parser.add_argument("--at-once", type=int, default=16)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--kills", type=int, default=10)
    parser.add_argument("--stops", type=int, default=10)
    parser.add_argument(
        "--upkeep", type=int, default=20, help="number of log rotations; scales other maintenance as well"
    )
    parser.add_argument("--minutes", type=float, default=float("inf"), help="time limit for the games")
    parser.add_argument("--folder", type=Path, help="folder to use and keep (default: a temporary folder)")
    given = vars(parser.parse_args())
    logging.basicConfig(level=logging.ERROR)
    with working_folder(given.pop("folder")) as folder:
        run = Endurance(folder, limit_s=60 * given.pop("minutes"), **given)
        found = asyncio.run(run.run())
    for line in found.lines():
        print(line)
    return 1 if found.complaints else 0


if __name__ == "__main__":
    sys.exit(main())
