"""Measures the processor time of recording one decision in the bot's ledger (`bot.game.ledger`).

    python -m bench.storage.bookkeeping [--postgres] [--url URL] [--game othello] [--depth 6]
                                        [--games 4] [--at-once 8] [--pause 0]

Before timing starts, trappy plays the games against itself, and the replies are forecast. Each game is then
recorded as if a server had sent it: each decision is looked up and committed, its move is marked as sent and
later as confirmed, its completed profile and the forecast are stored, and its outcome is recorded when the
reply arrives. Times include all threads of this process, but not the PostgreSQL server. For comparison, the
same run measures the bare `sqlite3` module with the same rows in four transactions.

With `--at-once N`, N games are recorded concurrently, and the time from a decision to its commit is also
reported. With `--pause`, the games wait before each decision, as real games do, so that processor caches
become cold. `--postgres` also starts a temporary PostgreSQL server and measures on it.
"""

import argparse
import asyncio
import json
import random
import sqlite3
import tempfile
import time
from collections import defaultdict
from collections.abc import AsyncIterator, Iterator, Sequence
from contextlib import ExitStack, asynccontextmanager, contextmanager
from dataclasses import dataclass
from pathlib import Path
from statistics import median, quantiles

from bench.suites import native_searcher
from bot.base.events import Clock, EndReason, GameEnd, GameSnapshot, GameState, Opponent, Speed
from bot.game.assignment import Assignment
from bot.game.ledger import GameLedger
from engine.completion import complete
from engine.decision import UNKNOWN_PERSON, Decision, Outcome
from engine.figure_9 import classify_by_figure_9
from engine.forecasts import forecast_replies
from engine.games import get_rules
from engine.human.registry import ModelRegistry, ModelSettings
from engine.human.reply_forecast import ReplyForecast
from engine.move_chooser import MoveChooser
from engine.params import TrapParams
from engine.search.searchers import NATIVE_GAMES
from engine.stop import StopFlag
from engine.strategies.registry import strategy_named
from engine.time_management import Limits
from storage.database import Database, Role
from storage.records import AccountKey, ReplyTime, TimeSource
from tests.storage.postgres import running_postgres

OWNER = AccountKey("bench", "bookkeeping")
TABLE_MB = 16
PLIES = 60
REPLY = ReplyTime(2.5, TimeSource.SERVER)
STEPS = ("commit", "sent", "confirmed", "outcome")
"""Steps that together may take at most 3 ms per decision."""
OTHERS = ("find", "profile", "forecast")


@dataclass(frozen=True, slots=True)
class Made:
    """One decision of a game, with all data that the ledger stores for it."""

    ply: int
    chosen: Decision
    """The decision as committed; its profile may be incomplete."""
    whole: Decision
    forecast: ReplyForecast
    outcome: Outcome


@dataclass(frozen=True, slots=True)
class Opened:
    """A database, and the role that entitles the ledger to write to it."""

    database: Database
    role: Role


@asynccontextmanager
async def opened_at(url: str) -> AsyncIterator[Opened]:
    database = await Database.open(url)
    try:
        async with database.hold_role("bench") as role:
            yield Opened(database, role)
    finally:
        await database.close()


class Watch:
    """Sums the process's processor time for each step."""

    def __init__(self) -> None:
        self.spent_s: defaultdict[str, float] = defaultdict(float)

    @contextmanager
    def step(self, name: str) -> Iterator[None]:
        began = time.process_time()
        yield
        self.spent_s[name] += time.process_time() - began


def play(name: str, depth: int) -> tuple[tuple[str, ...], list[Made]]:
    """Play trappy against itself for one game; return all moves, and the decisions of the first player."""
    game, searcher = get_rules(name), native_searcher(name, TABLE_MB)
    player = MoveChooser(strategy_named("trappy"), game, TrapParams(), searcher)
    position, moves, decisions = game.initial(), list[str](), list[Decision]()
    while game.legal_moves(position) and len(moves) < PLIES:
        decision = player.choose(position, Limits(depth), StopFlag())
        decisions.append(decision)
        moves.append(decision.move)
        position = game.play(position, game.parse_move(position, decision.move))
    made = []
    with ModelRegistry(ModelSettings()).lend(name) as models:
        for ply in range(0, len(moves), 2):
            whole = complete(decisions[ply], searcher, StopFlag())
            forecast = forecast_replies(whole, (), models, UNKNOWN_PERSON, None, StopFlag())
            reply = moves[ply + 1] if ply + 1 < len(moves) else None
            made.append(Made(ply, decisions[ply], whole, forecast, classify_by_figure_9(whole, reply)))
    return tuple(moves), made


def shown(name: str, key: str) -> GameSnapshot:
    """Return the server's first message about a game."""
    return GameSnapshot(
        game_id=key,
        game=name,
        variant=name,
        initial_position=None,
        our_side=0,
        rated=True,
        speed=Speed.BLITZ,
        clock=Clock(180, 2),
        opponent=Opponent("anna", "Anna", 1600, False),
        our_rating=1500,
        state=GameState((), None, (False, False), (False, False), None),
    )


async def record_game(
    opened: Opened,
    name: str,
    key: str,
    moves: tuple[str, ...],
    made: Sequence[Made],
    watch: Watch,
    pause_s: float = 0.0,
) -> list[float]:
    """Record a game, and return the seconds from each decision to its commit."""
    ledger = GameLedger(opened.database, OWNER, opened.role, key)
    chosen = Assignment("trappy", {"method": "only"})
    await ledger.open(shown(name, key), lambda _: chosen, TrapParams())
    await ledger.record_moves((), 0)
    waits_s, rng = [], random.Random(key)
    for each in made:
        ply, before = each.ply, moves[: each.ply]
        if pause_s:
            await asyncio.sleep(rng.uniform(0, 2 * pause_s))
        with watch.step("find"):
            await ledger.find_committed_decision(ply, each.chosen.position)
        began = time.perf_counter()
        with watch.step("commit"):
            stored = await ledger.commit_decision(before, each.chosen)
        waits_s.append(time.perf_counter() - began)
        assert stored is not None
        with watch.step("sent"):
            await ledger.mark_sent(stored)
        with watch.step("confirmed"):
            await ledger.record_moves(moves[: ply + 1], ply)
        if not each.chosen.is_complete:
            with watch.step("profile"):
                await ledger.store_profile(stored, each.whole)
        with watch.step("forecast"):
            await ledger.store_forecast(stored, each.whole, each.forecast)
        if ply + 1 < len(moves):
            with watch.step("outcome"):
                await ledger.record_moves(moves[: ply + 2], ply + 1, times={ply + 1: REPLY})
    end = GameEnd(EndReason.RESIGNATION, 0, "resign")
    await ledger.record_moves(moves, 0, end)
    await ledger.finish_game(end)
    return waits_s


def bare_sqlite(path: Path, moves: tuple[str, ...], made: Sequence[Made]) -> float:
    """Measure the processor seconds of each decision's four transactions, with the `sqlite3` module alone."""
    connection = sqlite3.connect(path, isolation_level=None)
    for setting in ("journal_mode = WAL", "synchronous = FULL", "foreign_keys = ON"):
        connection.execute(f"PRAGMA {setting}")
    connection.executescript(
        "CREATE TABLE games (id INTEGER PRIMARY KEY, moves TEXT NOT NULL);"
        "INSERT INTO games VALUES (1, '');"
        "CREATE TABLE decisions (id INTEGER PRIMARY KEY, game_id INTEGER NOT NULL REFERENCES games (id),"
        " ply INTEGER NOT NULL, state TEXT NOT NULL, move TEXT NOT NULL, sent_at TEXT, confirmed_at TEXT,"
        " record TEXT NOT NULL, UNIQUE (game_id, ply));"
        "CREATE TABLE outcomes (decision_id INTEGER PRIMARY KEY REFERENCES decisions (id),"
        " kind TEXT NOT NULL, reply TEXT);"
    )
    records = [json.dumps(each.chosen.to_record()) for each in made]
    began = time.process_time()
    for each, record in zip(made, records, strict=True):
        ply = each.ply
        connection.execute("BEGIN IMMEDIATE")
        key = connection.execute(
            "INSERT INTO decisions (game_id, ply, state, move, record) VALUES (1, ?, 'committed', ?, ?)",
            (ply, each.chosen.move, record),
        ).lastrowid
        connection.execute("COMMIT")
        connection.execute("BEGIN IMMEDIATE")
        connection.execute("UPDATE decisions SET state = 'sent', sent_at = 'now' WHERE id = ?", (key,))
        connection.execute("COMMIT")
        connection.execute("BEGIN IMMEDIATE")
        connection.execute("UPDATE games SET moves = ? WHERE id = 1", (" ".join(moves[: ply + 1]),))
        connection.execute(
            "UPDATE decisions SET state = 'confirmed', confirmed_at = 'now' WHERE id = ?", (key,)
        )
        connection.execute("COMMIT")
        connection.execute("BEGIN IMMEDIATE")
        connection.execute("UPDATE games SET moves = ? WHERE id = 1", (" ".join(moves[: ply + 2]),))
        outcome = each.outcome
        connection.execute("INSERT INTO outcomes VALUES (?, ?, ?)", (key, outcome.kind.value, outcome.reply))
        connection.execute("COMMIT")
    spent_s = time.process_time() - began
    connection.close()
    return spent_s


async def measure(
    opened: Opened,
    options: argparse.Namespace,
    moves: tuple[str, ...],
    made: Sequence[Made],
    bare_ms: float,
) -> None:
    """Print the times measured with one database."""
    prefix = f"{time.time_ns():x}"  # the database may contain games of earlier runs
    # The first game compiles the statements.
    await record_game(opened, options.game, f"{prefix}-first", moves, made, Watch())
    watch = Watch()
    for number in range(options.games):
        await record_game(opened, options.game, f"{prefix}-{number}", moves, made, watch)
    decisions = options.games * len(made)
    spent_ms = {name: 1000 * watch.spent_s[name] / decisions for name in (*STEPS, *OTHERS)}
    for name in (*STEPS, *OTHERS):
        print(f"  {name:9} {spent_ms[name]:6.3f} ms")
    four = sum(spent_ms[name] for name in STEPS)
    print(f"  {' + '.join(STEPS)}: {four:.3f} ms, {four / bare_ms:.1f} times bare sqlite3's")
    print(f"  all: {sum(spent_ms.values()):.3f} ms", flush=True)
    if options.at_once > 1:
        began, began_cpu = time.perf_counter(), time.process_time()
        async with asyncio.TaskGroup() as tasks:
            running = [
                tasks.create_task(
                    record_game(
                        opened,
                        options.game,
                        f"{prefix}-at-once-{number}",
                        moves,
                        made,
                        Watch(),
                        options.pause,
                    )
                )
                for number in range(options.at_once)
            ]
        waits_ms = [1000 * wait_s for task in running for wait_s in task.result()]
        took_s, spent_s = time.perf_counter() - began, time.process_time() - began_cpu
        print(
            f"  {options.at_once} games at once: {1000 * spent_s / len(waits_ms):.3f} ms of processor time "
            f"per decision, {len(waits_ms) / took_s:.0f} decisions per second; commit: median "
            f"{median(waits_ms):.2f} ms,"
            f" 95 % within {quantiles(waits_ms, n=20)[-1]:.2f} ms",
            flush=True,
        )


async def run(options: argparse.Namespace, folder: Path) -> None:
    moves, decisions = play(options.game, options.depth)
    sizes = [len(json.dumps(each.chosen.to_record())) for each in decisions]
    size = f"{median(sizes):.0f} bytes each"
    print(f"{options.game}: {len(decisions)} decisions in a game of {len(moves)} plies, {size}")
    bare_s = [bare_sqlite(folder / f"bare{number}.db", moves, decisions) for number in range(options.games)]
    bare_ms = 1000 * median(bare_s) / len(decisions)
    print(f"bare sqlite3: {bare_ms:.3f} ms of processor time for four transactions")
    for url in [f"sqlite:///{folder / 'bench.db'}", *options.url]:
        print(url.partition(":")[0])
        async with opened_at(url) as opened:
            await measure(opened, options, moves, decisions, bare_ms)


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--url", action="append", default=[], help="another database to measure")
    parser.add_argument(
        "--postgres", action="store_true", help="also start a temporary PostgreSQL server and measure on it"
    )
    parser.add_argument("--game", default="othello", choices=list(NATIVE_GAMES))
    parser.add_argument("--depth", type=int, default=6)
    parser.add_argument("--games", type=int, default=4, help="games timed one after another")
    parser.add_argument(
        "--at-once", type=int, default=8, help="games recorded at the same time; 1: skip this measurement"
    )
    parser.add_argument(
        "--pause", type=float, default=0.0, help="with --at-once: mean seconds before each decision"
    )
    options = parser.parse_args()
    with ExitStack() as stack:
        folder = Path(stack.enter_context(tempfile.TemporaryDirectory(prefix="bookkeeping-")))
        if options.postgres:
            socket = stack.enter_context(running_postgres())
            options.url.append(f"postgresql://postgres@/postgres?host={socket}")
        asyncio.run(run(options, folder))


if __name__ == "__main__":
    main()
