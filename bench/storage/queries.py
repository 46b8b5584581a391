"""How long reports take on a large database, and whether the database reads whole tables for them.

    python -m bench.storage.queries --url sqlite:////tmp/large.db [--repeat 20] [--sample 1000] [--groups]

`bench.storage.generate` makes such a database; games that lack a summary get one first.  Measured is each
grouping of `desdemona stats --by`, whole and with usual filters: reading and arithmetic, without the start
of the program and without the table that it prints.  *cold*: on a new connection, on SQLite also with the
file's pages dropped from the system's cache.  p50 and p95 are of the runs after that, with what one run used
of this process's processor time.  Then follow the other readers of many games.  Each statement that was sent
is explained (EXPLAIN); a scan of a whole table with a row for each decision is printed, and unless the
reader needs each reply, the exit status is 1.  At last the first games, `--sample` of them, are added up
from their single replies, as all were before there were summaries.
"""

import argparse
import asyncio
import os
import statistics
import time
from collections.abc import Awaitable, Callable
from dataclasses import dataclass
from datetime import UTC, datetime

from sqlalchemy import func, select
from sqlalchemy.ext.asyncio import AsyncEngine, AsyncSession

from bench.storage.plans import full_scans, recorded
from bot.base.game_summaries import make_summaries
from storage.database import Database, create_engine, parse_url
from storage.filters import Filters
from storage.games import count_bot_games, count_by_player, list_games, list_open_games
from storage.records import AccountKey
from storage.statistics.calibrations import group_calibrations
from storage.statistics.encounters import encounters
from storage.statistics.facts import count_outdated, game_facts, reply_facts
from storage.statistics.game_costs import mean_costs
from storage.statistics.group_rows import read_groups
from storage.statistics.group_sums import group_statistics
from storage.statistics.groups import By
from storage.statistics.lots import lot_traffic
from storage.statistics.suspect_rows import suspect_games
from storage.statistics.trial_rows import trial_decisions, trial_games
from storage.tables.games import GameRow, OpponentRow
from storage.trials import list_trials

Work = Callable[[AsyncSession], Awaitable[object]]
FILTERS = {
    "a player": Filters(player="trappy"),
    "a site's blitz": Filters(site="arena", speed="blitz"),
    "the last months": Filters(since=datetime(2025, 9, 1, tzinfo=UTC)),
    "rated 1400 to 1800": Filters(min_opponent_rating=1400, max_opponent_rating=1800, rated=True),
}
ACCOUNT = AccountKey("arena", "desdemona")


@dataclass(frozen=True, slots=True)
class Reader:
    """Something that reads many games."""

    name: str
    work: Work
    needs_replies: bool = False
    """It needs each reply, so it may read whole tables."""


def groups(by: tuple[By, ...], filters: Filters | None = None) -> Work:
    """`desdemona stats --by`."""

    async def work(session: AsyncSession) -> object:
        return (await read_groups(session, filters, by)).statistics()

    return work


async def busiest(session: AsyncSession) -> str:
    """The opponent with the most games at the arena."""
    found = await session.scalar(
        select(OpponentRow.site_id)
        .join(GameRow, GameRow.opponent_id == OpponentRow.id)
        .where(OpponentRow.site == ACCOUNT.site)
        .group_by(OpponentRow.site_id)
        .order_by(func.count().desc())
        .limit(1)
    )
    assert found is not None
    return found


async def _calibration(session: AsyncSession) -> object:
    return group_calibrations(await game_facts(session), await reply_facts(session))


async def _trial(session: AsyncSession) -> object:
    (trial,) = await list_trials(session)
    filters = Filters(trial=trial.name)
    facts = await game_facts(session, filters, aborted=True)
    return await trial_games(session, trial, "trappy", "standard", facts, await mean_costs(session, filters))


async def _trial_lots(session: AsyncSession) -> object:
    (trial,) = await list_trials(session)
    return await trial_decisions(session, trial, Filters(trial=trial.name))


def others(opponent: str) -> list[Reader]:
    """All other readers of many games; `opponent` has the most."""
    met = Filters(site=ACCOUNT.site, account=ACCOUNT.name, opponent_id=opponent)
    return [
        Reader("encounters: the chat's greeting", lambda session: encounters(session, met)),
        Reader("encounters: everybody", lambda session: encounters(session, Filters())),
        Reader("count_outdated", count_outdated),
        Reader("suspect_games", suspect_games),
        Reader("games", lambda session: list_games(session, limit=20)),
        Reader("games --opponent", lambda session: list_games(session, met, limit=20)),
        Reader("games that are open", lambda session: list_open_games(session, ACCOUNT)),
        Reader("selection: count_by_player", lambda session: count_by_player(session, ACCOUNT, "chess")),
        Reader(
            "matchmaking: count_bot_games",
            lambda session: count_bot_games(session, ACCOUNT, datetime(2025, 11, 1, tzinfo=UTC)),
        ),
        Reader("trial list", list_trials),
        Reader("stats --trial: games", _trial),
        Reader("stats --trial: lots", _trial_lots, needs_replies=True),
        Reader("stats --plan: lots", lot_traffic, needs_replies=True),
        Reader("stats --calibration", _calibration, needs_replies=True),
    ]


async def timed(engine: AsyncEngine, work: Work) -> tuple[float, float]:
    """Seconds by the clock, and of this process's processor time."""
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


async def measure(url: str, reader: Reader, repeat: int) -> bool:
    """Print a line about a reader; False if it reads whole tables and should not."""
    engine = create_engine(parse_url(url))
    try:
        drop_pages(engine)
        with recorded(engine) as statements:
            cold, _ = await timed(engine, reader.work)
        runs = [await timed(engine, reader.work) for _ in range(repeat)]
        scans = []
        async with engine.connect() as connection:
            for statement in statements:
                scans += await full_scans(connection, statement)
    finally:
        await engine.dispose()
    walls = sorted(wall for wall, _ in runs)
    p95 = walls[min(len(walls) - 1, round(0.95 * len(walls)))]
    used = statistics.median(used for _, used in runs)
    verdict = (
        f"scans: {'; '.join(dict.fromkeys(scans))}" if scans else f"no scan ({len(statements)} statements)"
    )
    print(
        f"{reader.name:<44} cold {1e3 * cold:6.0f}  p50 {1e3 * statistics.median(walls):6.0f}"
        f"  p95 {1e3 * p95:6.0f}  processor {1e3 * used:6.0f} ms  {verdict}",
        flush=True,
    )
    return not scans or reader.needs_replies


async def sample(database: Database, games: int) -> None:
    """Print how long the first games take from their single replies."""
    async with database.read() as session:
        begins = select(GameRow.started_at).order_by(GameRow.started_at).offset(games).limit(1)
        filters = Filters(until=await session.scalar(begins))
        wall, used = time.perf_counter(), time.process_time()
        facts, replies = await game_facts(session, filters), await reply_facts(session, filters)
        group_statistics(facts, replies)
        slow = time.perf_counter() - wall, time.process_time() - used
        wall, used = time.perf_counter(), time.process_time()
        (await read_groups(session, filters)).statistics()
        fast = time.perf_counter() - wall, time.process_time() - used
    print(
        f"the first {len(facts):,} games, {len(replies):,} replies: from the replies {slow[0]:.2f} s "
        f"(processor {slow[1]:.2f}), from summaries {fast[0]:.2f} s ({fast[1]:.2f})"
    )


async def run(url: str, repeat: int, games: int, *, all_readers: bool = True) -> bool:
    """Measure everything; False if something reads whole tables and should not."""
    database = await Database.open(url)
    try:
        wall = time.perf_counter()
        made = await make_summaries(database)
        print(f"summaries made: {made:,} in {time.perf_counter() - wall:.0f} s")
        async with database.read() as session:
            opponent = await busiest(session)
        readers = [Reader(f"--by {by.value}", groups((by,))) for by in By]
        readers.append(
            Reader("--by player,site,speed,month", groups((By.PLAYER, By.SITE, By.SPEED, By.MONTH)))
        )
        readers += [
            Reader(f"--by {by.value}, {name}", groups((by,), filters))
            for name, filters in FILTERS.items()
            for by in (By.PLAYER, By.PHASE)
        ]
        is_right = [await measure(url, reader, repeat) for reader in readers]
        some = others(opponent) if all_readers else []
        is_right += [await measure(url, reader, min(repeat, 3)) for reader in some]
        if games:
            await sample(database, games)
        return all(is_right)
    finally:
        await database.close()


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--url", required=True, help="as [storage] url in config.toml")
    parser.add_argument("--repeat", type=int, default=20)
    parser.add_argument("--sample", type=int, default=1000, help="games; 0: none")
    parser.add_argument("--groups", action="store_true", help="only the groupings, not the other readers")
    options = parser.parse_args()
    if not asyncio.run(run(options.url, options.repeat, options.sample, all_readers=not options.groups)):
        raise SystemExit(1)


if __name__ == "__main__":
    main()
