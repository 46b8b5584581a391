"""Measures the disk space of trappy's decisions, in bytes a decision.

    python -m bench.decisions.disk_size [--games othello chess xiangqi] [--positions 100]
                                        [--times 10] [--databases sqlite postgresql]

Each decision is stored as in a game, in the same transactions: chosen, sent, confirmed, with its profile, its
forecast, the reply, and its time. All their rows and indices count, including SQLite's games. "in use" is the
growth of SQLite's file after a checkpoint, or of PostgreSQL's tables with a VACUUM before each game, in place
of autovacuum's over months; "at best" is the same rewritten without gaps. The positions are those of
`bench.decisions.exactness`, each game's at its depth.

Also measures the time to pack and to unpack a record with its profile, each the best of several.
"""

import argparse
import asyncio
import math
import sqlite3
import statistics
import time
from collections.abc import Awaitable, Callable, Iterable
from contextlib import ExitStack
from dataclasses import dataclass
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import asyncpg  # type: ignore[import-untyped]

from bench.decisions.exactness import TABLE_MB, random_position
from bench.suites import native_searcher
from engine.bait_rule import forecast
from engine.completion import complete
from engine.decision import Decision
from engine.forecasts import expectations_of
from engine.games import get_rules
from engine.human.reply_forecast import ReplyForecast
from engine.judgement import classify_reply, expected_scale_centi, judge_profile
from engine.move_chooser import MoveChooser
from engine.params import TrapParams
from engine.stop import StopFlag
from engine.strategies.registry import strategy_named
from engine.time_management import Limits
from storage.database import Database
from storage.ledger.decisions import commit_decision, mark_confirmed, mark_sent, store_profile
from storage.ledger.forecasts import store_forecast
from storage.ledger.games import open_game
from storage.ledger.outcomes import record_outcome, record_reply_time
from storage.packing.records import pack, unpack
from storage.records import NewGame, ReplyTime, TimeSource
from tests.storage.postgres import running_postgres

GAME_LENGTH = 30
"""Decisions of one stored game."""
TABLES = ("decisions", "outcomes", "forecasts", "reply_times")
DEPTHS = {"othello": 10, "chess": 6, "xiangqi": 6}
"""The default depth, or one that the default time usually allows."""


@dataclass(frozen=True)
class StoredSample:
    """The stored data of one decision."""

    chosen: Decision
    whole: Decision
    foreseen: ReplyForecast


def samples(name: str, count: int) -> list[StoredSample]:
    """Decisions of the trappy player at its usual depth, with a forecast by shallow scores."""
    game, searcher = get_rules(name), native_searcher(name, TABLE_MB)
    samples = []
    for number in range(count):
        position = random_position(game, searcher, number)
        player = MoveChooser(strategy_named("trappy"), game, TrapParams(), searcher)
        chosen = player.choose(position, Limits(DEPTHS[name]), StopFlag())
        whole = complete(chosen, searcher, StopFlag())
        samples.append(StoredSample(chosen, whole, forecast(whole.chosen, expected_scale_centi(whole))))
    return samples


async def store(
    database: Database, made: list[StoredSample], between: Callable[[], Awaitable[object]]
) -> None:
    """Store decisions as running games do.

    Args:
        database: Where to.
        made: The decisions.
        between: Called before each game.
    """
    for number, sample in enumerate(made):
        if number % GAME_LENGTH == 0:
            await between()
            async with database.write() as session:
                game = await open_game(session, _new_game(sample.whole.game, number))
        async with database.write() as session:
            judged = judge_profile(sample.chosen) if sample.chosen.is_complete else None
            ply = 2 * (number % GAME_LENGTH)
            key = (await commit_decision(session, game.id, ply, sample.chosen, judged)).id
        async with database.write() as session:
            await mark_sent(session, key)
        async with database.write() as session:
            await mark_confirmed(session, key)
        async with database.write() as session:
            await store_profile(session, key, sample.whole, judge_profile(sample.whole))
        async with database.write() as session:
            await store_forecast(
                session, key, sample.foreseen, expectations_of(sample.whole, sample.foreseen)
            )
        replies = sample.whole.chosen.replies
        reply = replies[number % len(replies)].reply if replies else None
        async with database.write() as session:
            await record_outcome(session, key, classify_reply(sample.whole, reply))
            if reply is not None:
                await record_reply_time(session, key, ReplyTime(1.5 + number / 7, TimeSource.SERVER))


def _new_game(name: str, number: int) -> NewGame:
    return NewGame(
        site="lichess", account="desdemona", site_game_id=f"{name[:3]}{number:05}", game=name, variant=name,
        initial_position=None, our_side=0, rated=True, speed="blitz", clock_initial_s=180,
        clock_increment_s=2, opponent_id=f"person{number}", opponent_name=f"Person {number}",
        opponent_is_bot=False, our_rating=1500, opponent_rating=1600, strategy="trappy", params=TrapParams(),
        engine_version="1", selection={"method": "balanced", "p": 0.5},
    )  # fmt: skip


async def sizes(
    url: str,
    run: Callable[[str], Awaitable[int]],
    statements: tuple[str, str],
    made: list[StoredSample],
) -> list[float]:
    """Bytes a decision: in use, and at best.

    Args:
        url: URL of an empty database.
        run: Runs a statement and gives the database's size in bytes afterwards.
        statements: The one that leaves the size as it is in use, and the one that rewrites everything.
        made: What is stored.
    """
    tidy, rewrite = statements
    database = await Database.open(url)
    await database.close()
    empty = await run(rewrite)  # migrations leave free pages behind
    database = await Database.open(url)
    await store(database, made, lambda: run(tidy))
    await database.close()
    return [(await run(statement) - empty) / len(made) for statement in statements]


async def on_sqlite(folder: Path, name: str, made: list[StoredSample]) -> list[float]:
    path = folder / f"{name}.db"

    async def run(statement: str) -> int:
        connection = sqlite3.connect(path, isolation_level=None)
        connection.execute(statement)
        connection.execute("PRAGMA wal_checkpoint(TRUNCATE)")
        connection.close()
        return path.stat().st_size

    return await sizes(f"sqlite:///{path}", run, ("PRAGMA wal_checkpoint(TRUNCATE)", "VACUUM"), made)


async def on_postgresql(folder: str, name: str, made: list[StoredSample]) -> list[float]:
    connection = await asyncpg.connect(host=folder, user="postgres", database="postgres")
    await connection.execute(f"CREATE DATABASE {name}")
    await connection.close()

    async def run(statement: str) -> int:
        connection = await asyncpg.connect(host=folder, user="postgres", database=name)
        await connection.execute(statement)
        size = "SELECT pg_total_relation_size($1::text::regclass)"
        found = [await connection.fetchval(size, table) for table in TABLES]
        await connection.close()
        return sum(found)

    url = f"postgresql://postgres@/{name}?host={folder}"
    return await sizes(url, run, ("VACUUM", "VACUUM FULL"), made)


def best_us(function: Callable[[Any], object], values: Iterable[Any]) -> float:
    """Microseconds a call: for each value the best of sixty, and the mean of these."""
    runs = []
    for value in values:
        best = math.inf
        for _ in range(60):
            began = time.perf_counter()
            function(value)
            best = min(best, time.perf_counter() - began)
        runs.append(best)
    return statistics.mean(runs) * 1e6


async def measure(names: list[str], databases: list[str], positions: int, times: int) -> None:
    everything: list[StoredSample] = []
    with ExitStack() as stack:
        folder = Path(stack.enter_context(TemporaryDirectory()))
        server = stack.enter_context(running_postgres()) if "postgresql" in databases else ""
        for name in names:
            stored = samples(name, positions)
            everything += stored * times
            records = [each.whole.to_record() for each in stored]
            packed = [pack(record) for record in records]
            foreseen = [len(pack(each.foreseen.to_record())) for each in stored]
            print(
                f"{name}, depth {DEPTHS[name]}, {positions} positions: packed record"
                f" {statistics.mean(map(len, packed)):.0f} bytes, forecast"
                f" {statistics.mean(foreseen):.0f}; to pack takes"
                f" {best_us(pack, records):.0f} us, to unpack {best_us(unpack, packed):.0f} us",
                flush=True,
            )
            for kind in databases:
                place = folder if kind == "sqlite" else server
                _print_sizes(kind, await _KINDS[kind](place, name, stored * times))
        for kind in databases:
            place = folder if kind == "sqlite" else server
            _print_sizes(
                f"all games in one database, {kind}", await _KINDS[kind](place, "all_games", everything)
            )


_KINDS: dict[str, Callable[[Any, str, list[StoredSample]], Awaitable[list[float]]]] = {
    "sqlite": on_sqlite,
    "postgresql": on_postgresql,
}


def _print_sizes(what: str, bytes_each: list[float]) -> None:
    in_use, best = bytes_each
    print(f"{what}: {in_use:.0f} bytes a decision in use, {best:.0f} at best", flush=True)


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    names, kinds = ["othello", "chess", "xiangqi"], ["sqlite", "postgresql"]
    parser.add_argument("--games", nargs="+", default=names, choices=names)
    parser.add_argument("--databases", nargs="+", default=kinds, choices=kinds)
    parser.add_argument("--positions", type=int, default=100)
    parser.add_argument("--times", type=int, default=10, help="how often each decision is stored")
    options = parser.parse_args()
    asyncio.run(measure(options.games, options.databases, options.positions, options.times))


if __name__ == "__main__":
    main()
