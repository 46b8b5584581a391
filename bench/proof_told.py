"""What came of the matches of `bench.proof_in_play`: scores, plies to win, errors provoked, falls expected.

Every number of a player stands beside its difference from the control, the first player.  Intervals hold the
middle 95 % of 2,000 resamples of pairs of games, drawn alike for all players, within each of the people: a
pair's two games share an opening, and players share pairs.
"""

import json
import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sqlalchemy import select
from sqlalchemy.ext.asyncio import AsyncSession

from bot.analyse.population import BAD
from bot.match.score import elo_of
from engine.games import get_game
from engine.human.calibrated import expected
from engine.params import TrapParams
from engine.trappy import reply_quality
from storage.database import Database
from storage.games import list_games
from storage.models import DecisionRow
from storage.records import MATCH_SITE, Filters, StoredGame

RESAMPLES = 2000
TRAP = TrapParams()
"""What counts as a trap for all players: the paper's median, quality of 100 or more."""

Floats = NDArray[np.float64]

_POINTS = {"win": 1.0, "draw": 0.5, "loss": 0.0}


@dataclass
class Tally:
    """Sums over a pair's two games."""

    games: int = 0
    points: float = 0.0
    wins: int = 0
    plies_to_win: int = 0
    discs: float = 0.0
    judged: int = 0
    """Moves of ours that were answered and whose whole profile is known."""
    errors: int = 0
    """Replies that cost `BAD` or more of expected score."""
    lost: float = 0.0
    """Expected score that replies cost."""
    traps: int = 0
    """Moves that set a trap."""
    falls: int = 0
    """Replies that are traps, of those moves."""
    told: int = 0
    """Judged moves whose replies have odds; the following are of these."""
    told_errors: int = 0
    expected_errors: float = 0.0
    told_falls: int = 0
    expected_falls: float = 0.0


@dataclass
class Arm:
    """A player's pairs: rows of `Tally` by people, then by the pair's number."""

    name: str
    pairs: dict[str, list[Tally]] = field(default_factory=dict)


async def tell(part: str, players: Sequence[str], each: int, url: str) -> None:
    """Print the tables of a part.

    Args:
        part: Its name.
        players: The control first.
        each: Games with each of the people; of longer matches the first.
    """
    database = await Database.open(url, upgrade=False)
    try:
        arms = [await _arm(database, part, player, each) for player in players]
    finally:
        await database.close()
    print("\n".join(_tables(arms)))


async def _arm(database: Database, part: str, player: str, each: int) -> Arm:
    arm, dashed = Arm(player), player.replace("_", "-")
    async with database.read() as session:
        games = await list_games(session, Filters(site=MATCH_SITE))
        for game in games:
            match, number = game.selection["match"], game.selection["number"]
            people = match.removeprefix(f"{part}.{dashed}.")
            if people == match or number >= each:
                continue
            pairs = arm.pairs.setdefault(people, [Tally() for _ in range(each // 2)])
            await _add(session, game, pairs[number // 2])
    for people, pairs in arm.pairs.items():
        arm.pairs[people] = [pair if pair.games == 2 else Tally() for pair in pairs]  # whole ones count
    return arm


async def _add(session: AsyncSession, game: StoredGame, tally: Tally) -> None:
    points = _POINTS[game.result.value] if game.result is not None else 0.0
    tally.games += 1
    tally.points += points
    if points == 1:
        tally.wins += 1
        tally.plies_to_win += len(game.moves)
    tally.discs += game.selection["margin"] or 0
    rows = await session.execute(
        select(DecisionRow.ply, DecisionRow.record).where(
            DecisionRow.game_id == game.id, DecisionRow.is_complete.is_(True)
        )
    )
    for ply, record in rows:
        if ply + 1 < len(game.moves):
            _judge(record if isinstance(record, dict) else json.loads(record), game.moves[ply + 1], tally)


def _judge(record: dict[str, Any], reply: str, tally: Tally) -> None:
    chosen = next(each for each in record["candidates"] if each["move"] == record["move"])
    replies = chosen["replies"]
    at = next((index for index, each in enumerate(replies) if each["reply"] == reply), None)
    if at is None or len(replies) < 2:
        return
    game, raw = get_game(record["game"]), chosen["raw_centi"]
    logistic = game.expected_scale_centi(game.parse_position(record["position"]))
    finals = np.array([each["scores_centi"][-1] for each in replies], np.float64)
    cost = expected(finals, logistic) - expected(np.array([raw]), logistic)
    quality = np.array([reply_quality(each["scores_centi"], raw, TRAP) for each in replies])
    is_set = quality.max() >= TRAP.threshold_centi
    falls = (quality > 0) & (finals > raw) & is_set
    errs = cost >= BAD
    tally.judged += 1
    tally.errors += bool(errs[at])
    tally.lost += float(cost[at])
    tally.traps += bool(is_set)
    tally.falls += bool(falls[at])
    odds = [each["probability"] for each in replies]
    if None not in odds:
        tally.told += 1
        tally.told_errors += bool(errs[at])
        tally.told_falls += bool(falls[at])
        tally.expected_errors += float(np.array(odds)[errs].sum())
        tally.expected_falls += float(np.array(odds)[falls].sum())


# --- Tables ---------------------------------------------------------------------------------------------


class _Drawn:
    """Sums of every field over all pairs of an arm: themselves, then those of each resample."""

    def __init__(self, arm: Arm, seed: int = 1) -> None:
        self._sums: dict[str, Floats] = {}
        rng = np.random.default_rng(seed)
        columns: dict[str, list[Floats]] = {name: [] for name in Tally.__dataclass_fields__}
        for people in sorted(arm.pairs):
            pairs = arm.pairs[people]
            count = len(pairs)
            drawn = rng.multinomial(count, np.full(count, 1 / count), RESAMPLES)
            weights = np.concatenate([np.ones((1, count)), drawn])
            for name, column in columns.items():
                column.append(weights @ np.array([getattr(pair, name) for pair in pairs], np.float64))
        for name, column in columns.items():
            self._sums[name] = np.sum(column, axis=0)

    def ratio(self, above: str, below: str) -> Floats:
        """One sum over another."""
        top, bottom = self._sums[above], self._sums[below]
        found: Floats = np.divide(top, bottom, out=np.full(len(top), math.nan), where=bottom > 0)
        return found

    def total(self, name: str) -> int:
        """Over all pairs."""
        return round(float(self._sums[name][0]))


def _tables(arms: Sequence[Arm]) -> list[str]:
    drawn = {arm.name: _Drawn(arm) for arm in arms if arm.pairs}
    control = next(iter(drawn.values()))
    lines = [
        "| player | games, + = - | score | less control | Elo | less control | plies to win | less control "
        "| discs | less control |",
        "|---|---|---|---|---|---|---|---|---|---|",
    ]
    for name, each in drawn.items():
        points, games, wins = each.ratio("points", "games"), each.total("games"), each.total("wins")
        drawn_games = round(2 * (float(points[0]) * games - wins))
        plies, discs = each.ratio("plies_to_win", "wins"), each.ratio("discs", "games")
        elos, control_elos = _elo(points), _elo(control.ratio("points", "games"))
        has_discs = each.total("discs") != 0
        lines.append(
            f"| {name} | {games}: +{wins} ={drawn_games} -{games - wins - drawn_games} "
            f"| {_told(100 * points, 1)} % "
            f"| {_less(each, control, lambda d: 100 * d.ratio('points', 'games'), 1)} "
            f"| {_told(elos, 0)} | {'' if each is control else _told(elos - control_elos, 0, signed=True)} "
            f"| {_told(plies, 1)} | {_less(each, control, lambda d: d.ratio('plies_to_win', 'wins'), 1)} "
            f"| {_told(discs, 1, signed=True) if has_discs else ''} "
            f"| {_less(each, control, lambda d: d.ratio('discs', 'games'), 1) if has_discs else ''} |"
        )
    lines += [
        "",
        "| player | errors a game | less control | errors per 100 replies | less control "
        "| cost of a reply, % | less control | moves that set a trap | fell |",
        "|---|---|---|---|---|---|---|---|---|",
    ]
    for name, each in drawn.items():
        lines.append(
            f"| {name} | {_told(each.ratio('errors', 'games'), 2)} "
            f"| {_less(each, control, lambda d: d.ratio('errors', 'games'), 2)} "
            f"| {_told(100 * each.ratio('errors', 'judged'), 2)} "
            f"| {_less(each, control, lambda d: 100 * d.ratio('errors', 'judged'), 2)} "
            f"| {_told(100 * each.ratio('lost', 'judged'), 2)} "
            f"| {_less(each, control, lambda d: 100 * d.ratio('lost', 'judged'), 2)} "
            f"| {100 * each.ratio('traps', 'judged')[0]:.1f} % of {each.total('judged')} "
            f"| {_told(100 * each.ratio('falls', 'traps'), 1)} % |"
        )
    lines += [
        "",
        "| player | errors: expected, happened | expected for one that happened | falls: expected, happened "
        "| expected for one that happened |",
        "|---|---|---|---|---|",
    ]
    for name, each in drawn.items():
        if each.total("told"):
            lines.append(
                f"| {name} | {each.total('expected_errors')}, {each.total('told_errors')} "
                f"| {_told(each.ratio('expected_errors', 'told_errors'), 2)} "
                f"| {each.total('expected_falls')}, {each.total('told_falls')} "
                f"| {_told(each.ratio('expected_falls', 'told_falls'), 2)} |"
            )
    return lines


def _elo(shares: Floats) -> Floats:
    found = (elo_of(float(each)) for each in shares)
    return np.array([math.nan if each is None else each for each in found])


def _less(each: _Drawn, control: _Drawn, value: Callable[[_Drawn], Floats], digits: int) -> str:
    return "" if each is control else _told(value(each) - value(control), digits, signed=True)


def _told(values: Floats, digits: int, *, signed: bool = False) -> str:
    """A value with its interval; nothing where it is not defined."""
    form = f"{'+' if signed else ''}.{digits}f"
    value, draws = float(values[0]), values[1:]
    if math.isnan(value):
        return "none"
    if np.isnan(draws).any():
        return f"{value:{form}}"
    low, high = np.quantile(draws, [0.025, 0.975])
    return f"{value:{form}} ({low:{form}} to {high:{form}})"
