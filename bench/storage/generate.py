"""Fills an empty database with the games of several years, to measure how reports scale.

    python -m bench.storage.generate --url sqlite:////tmp/large.db [--decisions 1000000] [--games N]
        [--opponents N] [--seed 1]

By default there are one game per 33 decisions and one opponent per 10 games; some opponents play
hundreds of games. The games vary in rules (four kinds of game), players, engines, sites, speeds and months;
one fifth belong to a trial. Some were aborted, a few are still open, some replies were taken back, some
decisions lack a profile or a forecast, and some were randomised. Decisions, outcomes and forecasts are real,
from a few positions of each game (`bench.storage.sample_decisions`), so rows have realistic sizes; players
and results are random. No game summaries are stored; `bench.storage.queries` creates them.
"""

import argparse
import asyncio
import random
import time
from collections.abc import Iterator, Mapping, Sequence
from datetime import UTC, datetime, timedelta
from itertools import accumulate, islice, pairwise
from typing import Any

import sqlalchemy as sa
from sqlalchemy.engine import Connection

from bench.storage.sample_decisions import DEPTHS, Sample, drawn_samples, samples
from engine.judge import JUDGE_VERSION
from engine.params import TrapParams
from storage.database import Database, create_engine, parse_url
from storage.records import DecisionState, Endpoint, GameResult, GameStatus, TimeSource
from storage.tables.base import Base
from storage.tables.games import (
    DecisionRow,
    EngineConfigRow,
    EventRow,
    ForecastRow,
    GameRow,
    JudgedGameRow,
    JudgementRow,
    OpponentRow,
    OutcomeRow,
    ReplyTimeRow,
    TrialRow,
)

SAMPLES = 10
"""Number of distinct decisions for each kind of game, which all rows of that kind reuse."""
BATCH = 100
"""Number of games held in memory at a time, with their decisions."""
START = datetime(2024, 1, 1, tzinfo=UTC)
MONTHS = timedelta(days=690)
GAMES = {"othello": 0.45, "chess": 0.25, "xiangqi": 0.2, "connect4": 0.1}
MOVES = {"othello": 30, "chess": 38, "xiangqi": 42, "connect4": 17}
"""Mean number of our moves per game."""
STRATEGIES = {"trappy": 0.4, "standard": 0.3, "tempting": 0.2, "strong": 0.1}
SITES = {"arena": 0.55, "lichess": 0.3, "ggs": 0.15}
SPEEDS = {"bullet": 0.2, "blitz": 0.5, "rapid": 0.25, "classical": 0.05}
VERSIONS = ("0.1.0+3", "0.2.0+4", "0.3.0+5")
ABORTED, TAKEN_BACK, INCOMPLETE, UNFORESEEN, TIMED = 0.03, 0.003, 0.005, 0.003, 0.95
OPEN_GAMES = 20
"""Number of games still being played; they are the latest games."""
TRIAL_SHARE = 0.2
Row = dict[str, Any]
_TABLES: tuple[type[Base], ...] = (
    GameRow,
    DecisionRow,
    OutcomeRow,
    ForecastRow,
    JudgementRow,
    JudgedGameRow,
    ReplyTimeRow,
    EventRow,
)
"""The tables of games, in the order of insertion."""


class World:
    """Generates random opponents, and games with their contents; the same arguments give the same rows.

    Args:
        decisions: Total number of decisions.
        games: Number of games.
        opponents: Number of accounts that play the games.
        seed: Seed of the random choices.
    """

    def __init__(self, decisions: int, games: int, opponents: int, seed: int) -> None:
        self._rng = random.Random(seed)
        self._samples = {game: samples(game, SAMPLES, seed) for game in DEPTHS}
        self._drawn = drawn_samples()
        self._kinds = self._rng.choices([*GAMES], [*GAMES.values()], k=games)
        self._counts = self._decisions_of_games(decisions)
        self._opponents = opponents
        # A few return very often: Zipf's law, flattened at the top.
        self._weights = [*accumulate(1 / (rank + 20) for rank in range(opponents))]
        self._decision_id = 0

    def opponents(self) -> Iterator[Row]:
        """Rows of `OpponentRow`, with keys from 1."""
        for key in range(1, self._opponents + 1):
            site = self._pick(SITES)
            yield {
                "id": key,
                "site": site,
                "site_id": f"player{key}",
                "name": f"Player {key}",
                "is_bot": self._rng.random() < 0.08,
                "first_seen_at": START,
            }

    def configurations(self) -> Iterator[Row]:
        """Rows of `EngineConfigRow`, one for each combination of strategy and engine version."""
        params = TrapParams()
        for key, (strategy, version) in enumerate(
            ((strategy, version) for strategy in (*STRATEGIES, "randomised") for version in VERSIONS), start=1
        ):
            yield {
                "id": key,
                "strategy": strategy,
                "engine_version": version,
                "assessment": params.assessment.value,
                "margin_centi": params.margin_centi,
                "decided": params.decided.value,
                "threshold_centi": 0,
                "scale": params.scale.value,
                "risk_percent": params.risk_percent,
                "risk_share_percent": params.risk_share_percent,
                "logistic_centi": params.logistic_centi,
                "threshold_percent": params.threshold_percent,
            }

    def trial(self) -> Row:
        """The one row of `TrialRow`."""
        return {
            "id": 1,
            "name": "large",
            "arms": ["standard", "trappy"],
            "configurations": {"standard": {}, "trappy": {}},
            "strata": {"by": ["game", "site", "speed", "rating_band"], "rating_band": 200},
            "planned_n": 1000,
            "alpha": 0.05,
            "cap": 50,
            "endpoint": Endpoint.SCORE,
            "started_at": self._time_at(1 - TRIAL_SHARE),
            "ended_at": None,
            "open_slot": 1,
        }

    def games(self, opponents: Sequence[Row]) -> Iterator[dict[type[Base], list[Row]]]:
        """The rows of each game, by table, in the order of insertion."""
        skills = [self._rng.random() for _ in opponents]
        total = len(self._counts)
        for number, (kind, count) in enumerate(zip(self._kinds, self._counts, strict=True)):
            who = self._rng.choices(range(len(opponents)), cum_weights=self._weights)[0]
            is_open = number >= total - OPEN_GAMES
            game = self._game(number + 1, number / total, kind, opponents[who], count, is_open=is_open)
            yield {GameRow: [game], **self._decisions(game, count, skills[who])}

    def _game(
        self, key: int, when: float, kind: str, opponent: Mapping[str, Any], count: int, *, is_open: bool
    ) -> Row:
        in_trial = when >= 1 - TRIAL_SHARE
        arms = {"trappy": 0.5, "standard": 0.5} if in_trial else STRATEGIES
        strategy = self._pick(arms)
        if kind == "othello" and not in_trial and self._rng.random() < 0.1:
            strategy = "randomised"
        version = min(int(when * len(VERSIONS)), len(VERSIONS) - 1)
        began = self._time_at(when)
        is_aborted = not is_open and count <= 2
        result = None if is_open or is_aborted else self._rng.choice([*GameResult, GameResult.WIN])
        plies = 2 * count
        return {
            "id": key,
            "site": opponent["site"],
            "account": "desdemona",
            "site_game_id": f"game{key:08}",
            "game": kind,
            "variant": "standard",
            "initial_position": None,
            "our_side": self._rng.randrange(2),
            "rated": self._rng.random() < 0.8,
            "speed": self._pick(SPEEDS),
            "clock_initial_s": 180,
            "clock_increment_s": 2,
            "opponent_id": opponent["id"],
            "our_rating": 1900 + self._rng.randrange(-150, 150),
            "opponent_rating": None
            if self._rng.random() < 0.1
            else 1000 + 400 * (opponent["id"] % 3) + self._rng.randrange(300),
            "engine_config_id": [*STRATEGIES, "randomised"].index(strategy) * len(VERSIONS) + version + 1,
            "strategy": strategy,
            "state": GameStatus.OPEN
            if is_open
            else GameStatus.ABORTED
            if is_aborted
            else GameStatus.FINISHED,
            "is_settled": not is_open,
            "result": result,
            "end_reason": None if is_open else "normal",
            "rating_diff": None,
            "started_at": began,
            "ended_at": None if is_open else began + timedelta(seconds=8 * plies + 5),
            "selection": {
                "method": "balanced",
                "p": 0.5,
                "chances": arms,
                "seed": self._rng.randrange(1 << 60),
            },
            "trial_id": 1 if in_trial and strategy in arms else None,
            "moves": " ".join(self._rng.choices(_SQUARES, k=plies)),
        }

    def _decisions(self, game: Row, count: int, skill: float) -> dict[type[Base], list[Row]]:
        rows: dict[type[Base], list[Row]] = {table: [] for table in _TABLES[1:]}
        if game["state"] is not GameStatus.OPEN:
            rows[JudgedGameRow].append({"game_id": game["id"], "version": JUDGE_VERSION})
        ply, at, takebacks = game["our_side"], game["started_at"], 0
        rows[EventRow] += [self._event(game, "game_started"), self._event(game, "game_finished")]
        for number in range(count):
            is_taken_back = self._rng.random() < TAKEN_BACK and number < count - 1
            is_drawn = game["strategy"] == "randomised" and self._rng.random() < 0.05
            found = self._rng.choice(self._drawn if is_drawn else self._samples[game["game"]])
            takebacks = takebacks + 1 if is_taken_back else 0
            self._decision(rows, game, ply, at, found, skill, takebacks, is_last=number == count - 1)
            at += timedelta(seconds=8)
            ply += 0 if is_taken_back else 2
        return rows

    def _decision(
        self,
        rows: dict[type[Base], list[Row]],
        game: Row,
        ply: int,
        at: datetime,
        found: Sample,
        skill: float,
        takeback: int,
        *,
        is_last: bool,
    ) -> None:
        self._decision_id += 1
        key, rng = self._decision_id, self._rng
        is_complete = rng.random() >= INCOMPLETE
        nothing = dict.fromkeys(found.columns)
        rows[DecisionRow].append(
            {
                "id": key,
                "game_id": game["id"],
                "ply": ply,
                "takeback": takeback,
                "state": DecisionState.CONFIRMED,
                "move": found.decision.move,
                "depth": found.decision.depth,
                "nodes": found.decision.nodes,
                "time_s": found.decision.time_s,
                "is_complete": is_complete,
                **(found.columns if is_complete else nothing),
                "created_at": at,
                "sent_at": at,
                "confirmed_at": at,
                "record": found.record,
            }
        )
        if not is_complete or (is_last and game["state"] is GameStatus.OPEN):
            return
        weights = found.probabilities if rng.random() < skill else None
        (outcome,) = rng.choices(found.outcomes, weights)
        is_unanswered = is_last and rng.random() < 0.5
        rows[OutcomeRow].append(
            {
                "decision_id": key,
                "kind": "unanswered" if is_unanswered else outcome.kind,
                "reply": None if is_unanswered else outcome.reply,
                "fell_for_best": outcome.fell_for_best and not is_unanswered,
                "quality": 0.0 if is_unanswered else outcome.quality,
                "cost_centi": 0 if is_unanswered else outcome.cost_centi,
                "cost": 0 if is_unanswered else outcome.cost,
                "rule": outcome.rule,
                "at": at,
            }
        )
        if not is_unanswered and game["state"] is not GameStatus.OPEN:
            rows[JudgementRow].append({"decision_id": key, **found.judgements[outcome.reply or ""]})
        if rng.random() >= UNFORESEEN:
            reply = outcome.reply or ""
            which = [each.reply for each in found.decision.chosen.replies].index(reply)
            settled = (
                {"is_taken": None, "reply_probability": None}
                if is_unanswered
                else {"is_taken": reply in found.baits, "reply_probability": found.probabilities[which]}
            )
            rows[ForecastRow].append({"decision_id": key, **found.forecast, **settled, "at": at})
        if not is_unanswered and rng.random() < TIMED:
            took = {"time_s": rng.lognormvariate(1.5, 1), "source": TimeSource.SERVER}
            rows[ReplyTimeRow].append({"decision_id": key, **took})

    def _event(self, game: Row, kind: str) -> Row:
        return {
            "at": game["started_at"],
            "site": game["site"],
            "account": game["account"],
            "kind": kind,
            "game_id": game["id"],
            "detail": {"site_game_id": game["site_game_id"], "strategy": game["strategy"]},
        }

    def _decisions_of_games(self, decisions: int) -> list[int]:
        """Number of decisions in each game; their sum is exactly the total."""
        rng = self._rng
        lengths = [
            rng.randrange(3) if rng.random() < ABORTED else max(3.0, rng.gauss(MOVES[kind], MOVES[kind] / 4))
            for kind in self._kinds
        ]
        scale = decisions / sum(lengths)
        ends = [round(scale * each) for each in accumulate(lengths)]
        return [high - low for low, high in pairwise([0, *ends])]

    def _time_at(self, when: float) -> datetime:
        return START + when * MONTHS

    def _pick(self, shares: Mapping[str, float]) -> str:
        return self._rng.choices([*shares], [*shares.values()])[0]


_SQUARES = [f"{column}{row}" for column in "abcdefgh" for row in range(1, 9)]


class Writer:
    """Inserts rows of plain values, converting each distinct record only once.

    Args:
        connection: Connection with an open transaction.
    """

    def __init__(self, connection: Connection) -> None:
        self._connection = connection
        self._known: dict[tuple[str, int], Any] = {}

    def insert(self, table: type[Base], rows: Sequence[Row]) -> None:
        """Insert rows that all have the same columns."""
        if not rows:
            return
        columns = {column.key: column for column in table.__table__.columns if column.key in rows[0]}
        # Without types: the values are converted for the driver here, once for each record.
        raw = sa.table(table.__tablename__, *(sa.column(column.name) for column in columns.values()))
        convert = {
            name: column.type.dialect_impl(self._connection.dialect).bind_processor(self._connection.dialect)
            for name, column in columns.items()
        }
        values = [
            {column.name: self._value(convert[name], name, row[name]) for name, column in columns.items()}
            for row in rows
        ]
        self._connection.execute(sa.insert(raw), values)

    def _value(self, convert: Any, name: str, value: object) -> object:
        if convert is None:
            return value
        if not isinstance(value, dict):
            return convert(value)
        key = name, id(value)
        if name != "record":
            return convert(value)
        if key not in self._known:
            self._known[key] = convert(value)
        return self._known[key]


def fill(connection: Connection, world: World) -> None:
    """Write all rows to an empty database."""
    writer = Writer(connection)
    opponents = list(world.opponents())
    writer.insert(OpponentRow, opponents)
    writer.insert(EngineConfigRow, list(world.configurations()))
    writer.insert(TrialRow, [world.trial()])
    games = world.games(opponents)
    while batch := list(islice(games, BATCH)):
        for table in _TABLES:
            writer.insert(table, [row for each in batch for row in each[table]])
        connection.commit()  # or SQLite's log would grow as large as the database
    numbered: tuple[type[Base], ...] = (OpponentRow, EngineConfigRow, TrialRow, GameRow, DecisionRow)
    if connection.dialect.name == "postgresql":  # keys were given, so the sequences have not moved
        for name in (table.__tablename__ for table in numbered):
            highest = f"(SELECT max(id) FROM {name})"
            connection.execute(sa.text(f"SELECT setval(pg_get_serial_sequence('{name}', 'id'), {highest})"))


def bytes_of(connection: Connection) -> dict[str, int]:
    """Size of the database in bytes, and on PostgreSQL of each table with its indices."""
    if connection.dialect.name == "sqlite":
        pages = connection.exec_driver_sql("PRAGMA page_count").scalar_one()
        return {"database": pages * connection.exec_driver_sql("PRAGMA page_size").scalar_one()}
    whole = connection.exec_driver_sql("SELECT pg_database_size(current_database())").scalar_one()
    tables = connection.exec_driver_sql(
        "SELECT relname, pg_total_relation_size(relid) FROM pg_stat_user_tables ORDER BY 2 DESC LIMIT 5"
    )
    return {"database": whole, **{row[0]: row[1] for row in tables}}


async def generate(url: str, world: World) -> dict[str, int]:
    """Create the tables, fill them, and return the bytes used.

    Raises:
        SystemExit: The database already contains games.
    """
    await (await Database.open(url)).close()
    engine = create_engine(parse_url(url))
    try:
        async with engine.connect() as connection:
            if (await connection.execute(sa.select(sa.func.count()).select_from(GameRow))).scalar_one():
                raise SystemExit("--url: the database already contains games")
            await connection.run_sync(fill, world)
            await connection.commit()
        async with engine.connect() as connection:
            await connection.execution_options(isolation_level="AUTOCOMMIT")
            if engine.dialect.name == "postgresql":  # as its own housekeeping would within minutes
                await connection.execute(sa.text("VACUUM ANALYZE"))
            return await connection.run_sync(bytes_of)
    finally:
        await engine.dispose()


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--url", required=True, help="database, as for [storage] url in config.toml")
    parser.add_argument("--decisions", type=int, default=1_000_000)
    parser.add_argument("--games", type=int)
    parser.add_argument("--opponents", type=int)
    parser.add_argument("--seed", type=int, default=1)
    options = parser.parse_args()
    games = options.games or max(OPEN_GAMES + 1, options.decisions * 3 // 100)
    began = time.perf_counter()
    world = World(options.decisions, games, options.opponents or max(2, games // 10), options.seed)
    searched = time.perf_counter()
    sizes = asyncio.run(generate(options.url, world))
    print(f"{options.decisions:,} decisions in {games:,} games: {time.perf_counter() - searched:.0f} s")
    print(f"searching the different decisions: {searched - began:.0f} s")
    for name, size in sizes.items():
        print(f"{name}: {size:,} bytes")


if __name__ == "__main__":
    main()
