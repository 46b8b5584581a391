"""What the dashboard, open in ten browsers, costs each move of the bot.

    python -m bench.endurance.browsers [--browsers 10] [--block 40] [--blocks 4] [--people 2] [--depth 4]
                                       [--decisions 100000] [--database FILE] [--folder FOLDER]

`desdemona run` plays scripted people at its own arena to a fixed depth, without thinking ahead, on a database
with many games.  Blocks of time without browsers and with them alternate in one run: on a shared machine
only such neighbours can be compared.  A browser loads a page, listens to the stream of changes, and fetches
the page again as its script does (`bench.endurance.viewers`).

The delay of a move is the time from a person's move until the person has the bot's answer, seen from outside,
less the search: the arena, the bot's bookkeeping, and whatever was in their way.  The search, which may slow
down too, is reported beside it.  The first seconds of each block count for nothing.
"""

import argparse
import asyncio
import logging
import os
import random
import shutil
import sys
import tempfile
import time
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from sqlalchemy import select

from bench.storage.generate import OPEN_GAMES, World, generate
from bot.base.events import Clock
from storage.database import Database
from storage.tables.games import DecisionRow, GameRow
from tests.system.daemon import Daemon, free_port
from tests.system.person import Habits, Person, Wish

MOST_MS = 5.0
"""The target: so much more may a move take, at each of `QUANTILES`."""
QUANTILES = (50, 95, 99)
DRAWS = 1000
SETTLING_S = 3.0
"""At the beginning of each block: pages open or close."""
THINKS_S = 0.6
BOT = "hal"
"""Not the account whose games the database has: some of them are open."""
VARIANTS = ("othello", "standard", "connect4", "xiangqi")


@dataclass(frozen=True, slots=True)
class Answer:
    """A move of the bot, as the person saw it."""

    game: str
    """The arena's key."""
    ply: int
    at: float
    """Seconds of a monotonic clock."""
    took_s: float
    """Since the person sent a move."""


@dataclass(frozen=True, slots=True)
class Block:
    """A span of time with or without browsers."""

    has_browsers: bool
    since: float
    until: float
    fetched: int
    """Pages that the browsers fetched."""
    processor_s: float
    """Of the program, without the processes that make its pages."""


@dataclass(frozen=True, slots=True)
class Delays:
    """The moves of all blocks of a kind, in milliseconds."""

    delay_ms: tuple[float, ...]
    """Less the search."""
    search_ms: tuple[float, ...]


class Timed(Person):
    """A person who notes when each answer came."""

    def __init__(self, *given: Any, **more: Any) -> None:
        super().__init__(*given, **more)
        self.answers: list[Answer] = []

    async def _move(self, game_id: str, state: dict[str, Any], habits: Habits) -> None:
        at, before = time.monotonic(), len(self.answers_s)
        await super()._move(game_id, state, habits)
        if len(self.answers_s) > before:
            self.answers.append(Answer(game_id, len(state["moves"].split()) - 1, at, self.answers_s[-1]))


class Run:
    """One run.

    Args:
        daemon: The program, running.
        dashboard: Address of its page.
        browsers: How many.
        block_s: Seconds of each block.
        pairs: Blocks of each kind.
        people: Who play at the same time.
    """

    def __init__(
        self, daemon: Daemon, dashboard: str, *, browsers: int, block_s: float, pairs: int, people: int
    ) -> None:
        self._daemon = daemon
        self._dashboard = dashboard
        self._browsers = browsers
        self._block_s = block_s
        self._pairs = pairs
        self._people = [Timed(daemon, f"visitor{number}", number, BOT) for number in range(people)]

    async def play(self) -> tuple[list[Block], list[Answer]]:
        """Play through all blocks."""
        async with asyncio.TaskGroup() as tasks:
            playing = [tasks.create_task(self._sit(person)) for person in self._people]
            try:
                blocks = await self._watch()
            finally:
                for task in playing:
                    task.cancel()
        for person in self._people:
            await person.close()
        return blocks, [answer for person in self._people for answer in person.answers]

    async def _sit(self, person: Person) -> None:
        rng = random.Random(person.name)
        while True:
            habits = Habits(thinks_s=THINKS_S)
            await person.play(Wish(rng.choice(VARIANTS), Clock(600, 5), rated=False, habits=habits))

    async def _watch(self) -> list[Block]:
        """Let the browsers open and close the pages."""
        command = (sys.executable, "-m", "bench.endurance.viewers", self._dashboard)
        process = await asyncio.create_subprocess_exec(
            *command,
            f"--number={self._browsers}",
            stdin=asyncio.subprocess.PIPE,
            stdout=asyncio.subprocess.PIPE,
            cwd=Path(__file__).parents[2],
        )
        assert process.stdin is not None
        assert process.stdout is not None
        blocks = []
        try:
            for number in range(2 * self._pairs):
                has_browsers = number % 4 in (1, 2)  # without, with, with, without: a drift hits both alike
                if has_browsers:
                    process.stdin.write(b"open\n")
                await asyncio.sleep(SETTLING_S)
                since, used = time.monotonic(), processor_s(self._daemon.pid)
                await asyncio.sleep(self._block_s - SETTLING_S)
                until, used = time.monotonic(), processor_s(self._daemon.pid) - used
                fetched = 0
                if has_browsers:
                    process.stdin.write(b"close\n")
                    fetched = int(await process.stdout.readline())
                blocks.append(Block(has_browsers, since, until, fetched, used))
        finally:
            process.stdin.close()
            await process.wait()
        return blocks


def processor_s(pid: int) -> float:
    """Processor time of a process so far, in seconds."""
    fields = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()
    return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")


async def searches(database: Path) -> dict[tuple[str, int], float]:
    """Seconds of search of each of our standing decisions, by the arena's game and ply."""
    opened = await Database.open(f"sqlite:///{database}", upgrade=False)
    try:
        async with opened.read() as session:
            rows = await session.execute(
                select(GameRow.site_game_id, DecisionRow.ply, DecisionRow.time_s)
                .join(DecisionRow, DecisionRow.game_id == GameRow.id)
                .where(GameRow.account == BOT, DecisionRow.takeback == 0)
            )
            return {(game, ply): time_s for game, ply, time_s in rows}
    finally:
        await opened.close()


def delays(
    blocks: Sequence[Block],
    answers: Sequence[Answer],
    searched_s: dict[tuple[str, int], float],
    *,
    has_browsers: bool,
) -> Delays:
    """The moves whose answer came in blocks of a kind."""
    mine = [each for each in blocks if each.has_browsers == has_browsers]
    found = [
        (answer.took_s, searched_s[answer.game, answer.ply])
        for answer in answers
        if (answer.game, answer.ply) in searched_s
        and any(block.since <= answer.at - answer.took_s and answer.at <= block.until for block in mine)
    ]
    return Delays(
        tuple(1000 * (took_s - search_s) for took_s, search_s in found),
        tuple(1000 * search_s for _, search_s in found),
    )


def quantile(values: Sequence[float], percent: int) -> float:
    """The percentile of some values (nearest rank).

    Raises:
        ValueError: There is no value.
    """
    if not values:
        raise ValueError("no moves")
    ordered = sorted(values)
    return ordered[min(len(ordered) - 1, len(ordered) * percent // 100)]


def difference(without: Sequence[float], with_them: Sequence[float], percent: int) -> tuple[float, float]:
    """The 95 % interval of the difference of a quantile, by bootstrap over the moves."""
    rng = random.Random(2006)
    found = sorted(
        quantile(rng.choices(with_them, k=len(with_them)), percent)
        - quantile(rng.choices(without, k=len(without)), percent)
        for _ in range(DRAWS)
    )
    return found[DRAWS // 40], found[-1 - DRAWS // 40]


def lines(blocks: Sequence[Block], without: Delays, with_them: Delays, browsers: int) -> Iterator[str]:
    """The report."""
    yield f"{'':26} {'no browser':>12} {f'{browsers} browsers':>12} {'difference, 95 % interval':>30}"
    verdicts = []
    for name, first, second in (
        ("delay, ms", without.delay_ms, with_them.delay_ms),
        ("search, ms", without.search_ms, with_them.search_ms),
    ):
        for percent in QUANTILES:
            one, other = quantile(first, percent), quantile(second, percent)
            low, high = difference(first, second, percent)
            told = f"{other - one:+.2f} ({low:+.2f} to {high:+.2f})"
            yield f"{f'{name}: p{percent}':26} {one:12.2f} {other:12.2f} {told:>30}"
            if first is without.delay_ms:
                verdicts.append(
                    "passed" if high <= MOST_MS else "NOT PASSED" if low > MOST_MS else "not clear"
                )
    yield f"{'moves':26} {len(without.delay_ms):12} {len(with_them.delay_ms):12}"
    rates = {kind: _rates([each for each in blocks if each.has_browsers is kind]) for kind in (False, True)}
    for number, word in enumerate(("pages fetched a second", "program's processor, %")):
        yield f"{word:26} {rates[False][number]:12.1f} {rates[True][number]:12.1f}"
    told = ", ".join(f"p{percent} {verdict}" for percent, verdict in zip(QUANTILES, verdicts, strict=True))
    yield f"verdict (at most {MOST_MS:g} ms more a move): {told}"


def _rates(blocks: Sequence[Block]) -> tuple[float, float]:
    """Pages fetched a second, and processor time of the program in per cent of one."""
    seconds = sum(each.until - each.since for each in blocks)
    return (
        sum(each.fetched for each in blocks) / seconds,
        100 * sum(each.processor_s for each in blocks) / seconds,
    )


async def measure(folder: Path, given: argparse.Namespace) -> None:
    """Make the database unless there is one, run the program on it, and print the report."""
    path = folder / "data" / "desdemona.db"
    path.parent.mkdir(parents=True, exist_ok=True)
    if given.database is not None and not path.exists():
        shutil.copyfile(given.database, path)
    elif not path.exists():
        games = max(OPEN_GAMES + 1, given.decisions * 3 // 100)
        await generate(f"sqlite:///{path}", World(given.decisions, games, max(2, games // 10), 1))
    port = free_port()
    daemon = Daemon(
        folder,
        dashboard__port=port,
        server__name=BOT.capitalize(),
        engine__max_depth=given.depth,
        engine__ponder=False,
        engine__table_mb=4,
        chat__enabled=False,
        trial__hold_s=0,
        shutdown__drain_s=0,
    )
    status, out, err = await daemon.ask("db", "upgrade")  # makes the summaries of all games
    if status:
        raise SystemExit(f"db upgrade: {out}{err}")
    async with daemon:
        run = Run(
            daemon,
            f"http://127.0.0.1:{port}",
            browsers=given.browsers,
            block_s=given.block,
            pairs=given.blocks,
            people=given.people,
        )
        blocks, answers = await run.play()
        await daemon.stop()
    searched_s = await searches(path)
    without, with_them = (delays(blocks, answers, searched_s, has_browsers=kind) for kind in (False, True))
    print(f"database: {path.stat().st_size / 1e6:,.0f} MB; load of the machine {os.getloadavg()[0]:.1f}")
    for line in lines(blocks, without, with_them, given.browsers):
        print(line)


def main() -> None:
    """Read the arguments, and measure."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawTextHelpFormatter)
    parser.add_argument("--browsers", type=int, default=10)
    parser.add_argument("--block", type=float, default=40.0, help="seconds")
    parser.add_argument("--blocks", type=int, default=4, help="of each kind")
    parser.add_argument("--people", type=int, default=2)
    parser.add_argument("--depth", type=int, default=4)
    parser.add_argument("--decisions", type=int, default=100_000, help="in the database")
    parser.add_argument("--database", type=Path, help="copied instead of making one (SQLite)")
    parser.add_argument("--folder", type=Path, help="not deleted afterwards; default: a temporary one")
    given = parser.parse_args()
    logging.basicConfig(level=logging.ERROR)
    with tempfile.TemporaryDirectory() as temporary:
        folder = given.folder or Path(temporary)
        folder.mkdir(parents=True, exist_ok=True)
        asyncio.run(measure(folder, given))


if __name__ == "__main__":
    main()
