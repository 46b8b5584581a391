"""Measures the speed of reports on a large database and detects full table scans.

    python -m bench.storage.queries --url sqlite:////tmp/large.db [--repeat 20]
        [--only groups pages others measures] [--plans 3]

`bench.storage.generate` creates such a database; missing game summaries are created first. Measures each
grouping of `desdemona stats --by`, unfiltered and with typical filters. The times include reading and
arithmetic, but not starting the program or printing the table. *cold* is the time on a new connection, with
SQLite after dropping the file's pages from the system's cache. p50 and p95 describe the later runs, with the
processor time per run in this process (garbage collection is as rare as in the page processes); the ratio is
p50 divided by the p50 of a reference, which reads eight columns of all games. The benchmark also measures
other readers of many games, and the dashboard's pages as of the start of the last game, with cached replies
but without cached views. It prints the query plan for the slowest statement of each of the slowest `--plans`
readers. It runs EXPLAIN on every statement, prints full scans of tables with one row per decision, and exits
with 1 if a reader that does not need every reply makes a full scan. Finally, it prints the processor time of
reading all replies, with and without cached sums, and of each grouping of the replies after reading.
"""

import argparse
import asyncio
import os
import statistics
import time
from collections.abc import Awaitable, Callable, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime, tzinfo
from functools import lru_cache
from typing import Self

import numpy as np
from sqlalchemy import func, select
from sqlalchemy.ext.asyncio import AsyncEngine, AsyncSession

from bench.storage.plans import Statement, full_scans, plan_of, recorded
from bot.base.game_summaries import make_summaries
from bot.dashboard.page_workers import reduce_garbage_collection
from bot.views import events, games, opponents, overview, ratings, traps, trial_verdict
from bot.views.page import Page
from storage.database import Database, create_engine, parse_url
from storage.evidence.measures import Cells, cells_of
from storage.evidence.reading import enable_reply_cache, played_game_conditions, read_replies
from storage.evidence.replies import GameRows
from storage.evidence.statistics.calibrations import read_calibrations
from storage.evidence.statistics.draws import read_draw_rate
from storage.evidence.statistics.encounters import encounters
from storage.evidence.statistics.group_rows import GroupRows, count_outdated, read_groups, read_sources
from storage.evidence.statistics.groups import GroupKey, complete_keys
from storage.evidence.statistics.suspect_rows import suspect_games
from storage.evidence.statistics.trial_rows import trial_decisions, trial_games
from storage.evidence.trials import list_trials
from storage.filters import Filters, GamePhase
from storage.ledger.games import count_bot_games, count_drawn, list_games, list_open_games
from storage.records import AccountKey
from storage.tables.games import GameRow, OpponentRow

Work = Callable[[AsyncSession], Awaitable[object]]
FILTERS = {
    "a player": Filters(strategy="trappy"),
    "a site's blitz": Filters(site="arena", speed="blitz"),
    "the last months": Filters(since=datetime(2025, 9, 1, tzinfo=UTC)),
    "rated 1400 to 1800": Filters(min_opponent_rating=1400, max_opponent_rating=1800, rated=True),
    "plies 21-40": Filters(phase=GamePhase(1)),
}
ACCOUNT = AccountKey("arena", "desdemona")


@dataclass(frozen=True, slots=True)
class Reader:
    """A query that reads many games."""

    name: str
    work: Work
    needs_replies: bool = False
    """Whether the query needs every reply; if so, full table scans are allowed."""


def groups(by: tuple[GroupKey, ...], filters: Filters | None = None) -> Work:
    """Return the work of a reader that groups games as `desdemona stats --by` does."""

    async def work(session: AsyncSession) -> object:
        return (await read_groups(session, filters, by)).statistics()

    return work


async def busiest(session: AsyncSession) -> str:
    """The opponent with the most games at the arena."""
    key = await session.scalar(
        select(OpponentRow.site_id)
        .join(GameRow, GameRow.opponent_id == OpponentRow.id)
        .where(OpponentRow.site == ACCOUNT.site)
        .group_by(OpponentRow.site_id)
        .order_by(func.count().desc())
        .limit(1)
    )
    assert key is not None
    return key


async def _calibration(session: AsyncSession) -> object:
    return (await read_calibrations(session)).calibrations()


async def _trial(session: AsyncSession) -> object:
    (trial,) = await list_trials(session)
    filters = Filters(trial=trial.name)
    return await trial_games(session, trial, "trappy", "standard", filters)


async def _trial_draws(session: AsyncSession) -> object:
    (trial,) = await list_trials(session)
    return await trial_decisions(session, trial, Filters(trial=trial.name))


def others(opponent: str) -> list[Reader]:
    """All other readers of many games; `opponent` is the opponent with the most games."""
    met = Filters(site=ACCOUNT.site, account=ACCOUNT.name, opponent_id=opponent)
    return [
        Reader("encounters: the chat's greeting", lambda session: encounters(session, met)),
        Reader("encounters: everybody", lambda session: encounters(session, Filters())),
        Reader("count_outdated", count_outdated),
        Reader("suspect_games", suspect_games),
        Reader("games", lambda session: list_games(session, limit=20)),
        Reader("games --opponent", lambda session: list_games(session, met, limit=20)),
        Reader("games that are open", lambda session: list_open_games(session, ACCOUNT)),
        Reader("selection: count_drawn", lambda session: count_drawn(session, ACCOUNT, "chess")),
        Reader(
            "matchmaking: count_bot_games",
            lambda session: count_bot_games(session, ACCOUNT, datetime(2025, 11, 1, tzinfo=UTC)),
        ),
        Reader("trial list", list_trials),
        Reader("stats --trial: games", _trial),
        Reader("stats --trial: draws", _trial_draws),
        Reader("stats --plan: draws", read_draw_rate),
        Reader("stats --calibration", _calibration),
    ]


def pages_at(at: datetime) -> list[tuple[str, Page, dict[str, str]]]:
    """The pages of the dashboard with their usual queries, as of this time."""

    class Then(datetime):
        @classmethod
        def now(cls, tz: tzinfo | None = None) -> Self:
            return cls.fromtimestamp(at.timestamp(), tz)

    for module in (overview, events, trial_verdict, opponents, ratings):
        module.datetime = Then  # type: ignore[attr-defined]
    pages: tuple[tuple[Page, tuple[dict[str, str], ...]], ...] = (
        (overview.now_page(), ({},)),
        (trial_verdict.PAGE, ({}, {"since": "2001-01-01"})),
        (
            traps.PAGE,
            (
                *({"sort": sort} for sort in traps.ORDERS),
                {"outcome": "taken"},
                {"outcome": "held", "strategy": "strong"},
                *({"sort": sort, "phase": "21-40"} for sort in traps.ORDERS),
                {"phase": "101-120"},
            ),
        ),
        (opponents.PAGE, ({}, {"sort": "baits-taken"})),
        (games.PAGE, tuple({"sort": sort} for sort in games.ORDERS)),
        (events.events_page(), ({}, {"days": "365"})),
        (ratings.PAGE, ({},)),
    )
    return [(page.name, page, query) for page, queries in pages for query in queries]


def page_work(page: Page, given: dict[str, str]) -> Work:
    """Load a page without a cache."""

    async def work(session: AsyncSession) -> object:
        assert isinstance(session.bind, AsyncEngine)
        return await page.load(page_database(session.bind), page.query(given, {}))

    return work


@lru_cache(maxsize=1)
def page_database(engine: AsyncEngine) -> Database:
    """Open the database as page processes do, with the cache of replies."""
    database = Database(engine.url, engine)
    enable_reply_cache(database)
    return database


async def _reference(session: AsyncSession) -> object:
    row = GameRow.__table__.c
    columns = (row.id, row.opponent_id, row.site, row.game, row.strategy, row.speed, row.opponent_rating)
    return (await (await session.connection()).execute(select(*columns, row.started_at))).all()


async def timed(engine: AsyncEngine, work: Work) -> tuple[float, float]:
    """Wall-clock seconds, and processor seconds of this process."""
    wall, used = time.perf_counter(), time.process_time()
    async with AsyncSession(engine) as session:
        await work(session)
    return time.perf_counter() - wall, time.process_time() - used


def drop_pages(engine: AsyncEngine) -> None:
    """Drop a SQLite file's pages from the system's cache."""
    if engine.dialect.name == "sqlite" and engine.url.database:
        file = os.open(engine.url.database, os.O_RDONLY)
        try:
            os.posix_fadvise(file, 0, 0, os.POSIX_FADV_DONTNEED)
        finally:
            os.close(file)


@dataclass(frozen=True, slots=True)
class Measured:
    """The measured times of a reader."""

    name: str
    p50: float
    """Seconds."""
    is_right: bool
    """False if the reader makes a forbidden full scan of a large table."""
    slowest: Statement | None


async def measure(url: str, reader: Reader, repeat: int, reference_s: float | None) -> Measured:
    """Measure a reader, print a line with its times, and return them."""
    engine = create_engine(parse_url(url))
    try:
        drop_pages(engine)
        with recorded(engine) as statements:
            cold, _ = await timed(engine, reader.work)
        runs = [await timed(engine, reader.work) for _ in range(repeat)]
        scans = []
        slowest: tuple[float, Statement | None] = (-1.0, None)
        async with engine.connect() as connection:
            for statement in statements:
                scans += await full_scans(connection, statement)
                began = time.perf_counter()
                (await connection.exec_driver_sql(*statement)).all()
                slowest = max(slowest, (time.perf_counter() - began, statement), key=lambda each: each[0])
    finally:
        await engine.dispose()
    walls = sorted(wall for wall, _ in runs)
    p50, p95 = statistics.median(walls), walls[min(len(walls) - 1, round(0.95 * len(walls)))]
    used = statistics.median(used for _, used in runs)
    ratio = "" if reference_s is None else f"  ratio {p50 / reference_s:5.1f}"
    verdict = (
        f"scans: {'; '.join(dict.fromkeys(scans))}" if scans else f"no scan ({len(statements)} statements)"
    )
    print(
        f"{reader.name:<44} cold {1e3 * cold:6.0f}  p50 {1e3 * p50:6.0f}  p95 {1e3 * p95:6.0f}{ratio}"
        f"  processor {1e3 * used:6.0f} ms  {verdict}",
        flush=True,
    )
    return Measured(reader.name, p50, not scans or reader.needs_replies, slowest[1])


async def print_plans(url: str, found: list[Measured]) -> None:
    """Print the query plan for the slowest statement of each reader."""
    engine = create_engine(parse_url(url))
    try:
        async with engine.connect() as connection:
            for each in found:
                if each.slowest is not None:
                    print(f"\n{each.name}: {' '.join(each.slowest[0].split())[:200]}")
                    for line in await plan_of(connection, each.slowest):
                        print(f"    {line}")
    finally:
        await engine.dispose()


async def print_measures(database: Database) -> None:
    """Print the processor time of reading all replies uncached, and of summing them by each grouping."""
    async with database.read() as session:
        used = time.process_time()
        parts = [part async for part in read_replies(session, *played_game_conditions(None))]
        reading = time.process_time() - used
        sources = await read_sources(session, list(GroupKey))
    replies = sum(len(part.replies) for part in parts)
    size = sum(part.replies.nbytes + part.of.games.nbytes for part in parts)
    print(f"{replies:,} replies, {size / 1e6:.0f} MB, read in {1e3 * reading:.0f} ms of processor time")
    games = GameRows.joined([part.of for part in parts])
    before = np.cumsum([0, *(len(part.of) for part in parts)]).tolist()
    for by in GroupKey:
        for part in parts:
            part.derived.clear()
        used = time.process_time()
        cells = [cells_of(part) for part in parts]
        joined = Cells.joined([*zip(cells, before, strict=False)])
        adding = time.process_time() - used
        keys = complete_keys((by,))
        GroupRows(by=keys, games=games, cells=joined, sources=sources, outdated=0).statistics()
        whole = time.process_time() - used
        print(
            f"--by {by.value:<14} {1e3 * whole:4.0f} ms of processor time, {1e3 * (whole - adding):4.0f} "
            f"with cached sums; ratio to reading {whole / reading:.2f}"
        )


async def run(url: str, repeat: int, only: Sequence[str], plans: int) -> bool:
    """Run the requested measurements; return False if a reader makes a forbidden full scan."""
    database = await Database.open(url)
    try:
        wall = time.perf_counter()
        summaries = await make_summaries(database)
        print(f"summaries created: {summaries:,} in {time.perf_counter() - wall:.0f} s")
        async with database.read() as session:
            opponent = await busiest(session)
            last = await session.scalar(select(func.max(GameRow.started_at)))
        assert last is not None
        reference = await measure(
            url, Reader("reference: eight columns of all games", _reference), repeat, None
        )
        readers = []
        if "groups" in only:
            readers += [Reader(f"--by {by.value}", groups((by,))) for by in GroupKey]
            readers.append(
                Reader(
                    "--by strategy,site,speed,month",
                    groups((GroupKey.STRATEGY, GroupKey.SITE, GroupKey.SPEED, GroupKey.MONTH)),
                )
            )
            readers += [
                Reader(f"--by {by.value}, {name}", groups((by,), filters))
                for name, filters in FILTERS.items()
                for by in (GroupKey.STRATEGY, GroupKey.PHASE)
            ]
        if "pages" in only:
            readers += [
                Reader(f"page {name} {' '.join(query.values())}", page_work(page, query))
                for name, page, query in pages_at(last)
            ]
        results = [await measure(url, reader, repeat, reference.p50) for reader in readers]
        some = others(opponent) if "others" in only else []
        results += [await measure(url, reader, min(repeat, 3), reference.p50) for reader in some]
        if "measures" in only:
            await print_measures(database)
        await print_plans(url, sorted(results, key=lambda each: -each.p50)[:plans])
        return all(each.is_right for each in results)
    finally:
        await database.close()


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--url", required=True, help="database, as for [storage] url in config.toml")
    parser.add_argument("--repeat", type=int, default=20)
    kinds = ("groups", "pages", "others", "measures")
    parser.add_argument("--only", nargs="+", choices=kinds, default=kinds, help="what to measure")
    parser.add_argument(
        "--plans", type=int, default=3, help="number of slowest readers whose query plan is printed"
    )
    options = parser.parse_args()
    reduce_garbage_collection()
    if not asyncio.run(run(options.url, options.repeat, options.only, options.plans)):
        raise SystemExit(1)


if __name__ == "__main__":
    main()
