"""Fits what a position is worth when two players of known ratings meet (`engine.opponents.pair_value`).

Positions are drawn from people's games, a few from each, and searched with `NODES` positions; those with a
forced result are left out. Games without ratings get Elo ratings from the results before them, and count from
`SETTLED_GAMES` games of both players on. The held-out games measure the log-loss of four predictions of the
result: the game's own scale, ratings alone (Elo's formula), the fit with equal ratings, and the fit.
"""

import hashlib
import random
from collections.abc import Callable, Iterator, Sequence
from dataclasses import asdict, dataclass, fields
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from engine import SEARCH_REVISION
from engine.expected import WHOLE
from engine.formats.record import GameRecord, steps
from engine.game import WIN_CENTI
from engine.games import get_rules
from engine.opponents.pair_value import (
    MAX_VALUE,
    MIN_VALUE,
    POINTS,
    Coefficients,
    PairFeatures,
    pair_features,
    stage_of,
)
from engine.search.searchers import NativeSearcher, make_searcher
from engine.stop import StopFlag
from lab.analysis.elo import SETTLED_GAMES, rated_result, standings
from lab.analysis.persons import is_person
from lab.analysis.recorded_games import first_copies, half_of, read_games, year_of
from lab.analysis.reply_profiles import AnalysisError
from lab.training.people.elo import expected_result
from storage.evidence.inference.fixed import fixed_mean
from storage.research.archive import content_key, draw_key

NODES = 8_000
PER_GAME = 3
FROM_PLY = 6
_STEPS = 50
_SUFFIXES = {"othello": (".wtb", ".jou", ".trn"), "chess": (".pgn",), "xiangqi": (".tsv.gz",)}
_COUNT = len(fields(Coefficients))
_RIDGE, _SMALL_STEP = 1e-6, 1e-9
OWN_SCALE, PAIR = "the game's scale", "the pair"

Floats = NDArray[np.float64]


@dataclass(frozen=True, slots=True)
class RatedRecord:
    """A game between two players of known ratings."""

    record: GameRecord
    key: str
    ratings: tuple[float, float]
    points: float
    """The first player's points: 1, 1/2 or 0."""
    year: int | None


@dataclass(frozen=True, slots=True)
class PairSample:
    """A position with the game's result, from the point of view of the side to move."""

    game: str
    """The game's key."""
    features: PairFeatures
    points: float


def rated_games(game: str, folder: Path, on_bad: Callable[[str], None] = lambda _: None) -> list[RatedRecord]:
    """The games of people in a folder in which both ratings are known.

    Raises:
        AnalysisError: A file cannot be read, or there are none.
    """
    paths = sorted(
        path for path in folder.rglob("*") if path.name.lower().endswith(_SUFFIXES.get(game, (".pgn",)))
    )
    given = [each.record for each in first_copies(list(read_games(paths, game, on_bad=on_bad)))]
    if not given:
        raise AnalysisError(f"{folder}: no games of {game}")
    results = [result for record in given if (result := rated_result(record)) is not None]
    known = standings(results)
    found = []
    for record in given:
        if record.points is None or not all(map(is_person, record.players)):
            continue
        key = content_key(record)
        first, second = record.ratings
        if first is None or second is None:
            both = known.get(key)
            if both is None or min(each.games for each in both) < SETTLED_GAMES:
                continue
            first, second = (each.rating for each in both)
        found.append(
            RatedRecord(record, draw_key(record), (first, second), record.points, year_of(record.date))
        )
    return found


def is_tested(game: RatedRecord, learn_to: int | None, seed: int) -> bool:
    """Whether a game is held out: it is later than the year or, without one, in the second half of all."""
    if learn_to is None:
        return half_of(game.key, seed) == 1
    return game.year is not None and game.year > learn_to


def samples(
    games: Sequence[RatedRecord],
    count: int,
    seed: int,
    nodes: int = NODES,
    per_game: int = PER_GAME,
    on_step: Callable[[int], None] = lambda _: None,
) -> list[PairSample]:
    """Search positions of a random sample of the games, `per_game` of each, until there are `count`."""
    if not games:
        return []
    name = games[0].record.game
    searcher = make_searcher(name, 16)
    if not isinstance(searcher, NativeSearcher):
        raise AnalysisError(f"the core does not play {name}")
    ordered = sorted(games, key=lambda each: hashlib.blake2b(f"{seed} {each.key}".encode()).digest())
    found: list[PairSample] = []
    for each in ordered:
        found += _of_game(each, seed, searcher, nodes, per_game)
        on_step(len(found))
        if len(found) >= count:
            break
    return found[:count]


def _of_game(
    each: RatedRecord, seed: int, searcher: NativeSearcher, nodes: int, per_game: int
) -> Iterator[PairSample]:
    rules, record = get_rules(each.record.game), each.record
    rng = random.Random(f"{seed} {each.key}")  # noqa: S311 - a sample
    plies = range(FROM_PLY, len(record.moves))
    wanted = set(rng.sample(plies, min(per_game, len(plies))))
    if not wanted:
        return
    for ply, (position, _) in enumerate(steps(record)):
        if ply not in wanted:
            continue
        root = rules.for_search(rules.parse_position(rules.position_text(rules.for_search(position))))
        if len(rules.legal_moves(root)) < 2:
            continue
        result = searcher.think(root, rules.deepest_search, None, StopFlag(), nodes=nodes)
        if result.solved or abs(result.score_centi) >= WIN_CENTI:
            continue
        side = rules.side_to_move(root)
        features = pair_features(
            result.score_centi,
            rules.expected_scale_centi(root),
            stage_of(rules, root),
            each.ratings[side] - each.ratings[1 - side],
        )
        yield PairSample(each.key, features, each.points if side == 0 else 1 - each.points)


# --- Fitting and measuring ------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class Loss:
    """A mean log-loss in nats per position, with its 95 % interval clustered by game."""

    value: float
    low: float | None
    high: float | None


@dataclass(frozen=True, slots=True)
class PairFit:
    """Coefficients, and how well they predict the results of games that were held out."""

    coefficients: Coefficients
    learned: tuple[int, int]
    """Numbers of positions and games behind the coefficients."""
    tested: tuple[int, int]
    losses: dict[str, Loss]
    """Log-loss of each prediction; see the module's docstring."""
    gain: Loss
    """Log-loss of the game's own scale minus that of the fit."""
    decided: dict[str, dict[str, float]]
    """For the positions that the game's scale, or the fit, calls decided: their share of all, the mean
    prediction for the side that is ahead, and its mean points."""

    def card(self, about: dict[str, Any]) -> dict[str, Any]:
        """The card as plain JSON values."""
        return {
            **about,
            "coefficients": {name: round(each, 6) for name, each in asdict(self.coefficients).items()},
            "learned": dict(zip(("positions", "games"), self.learned, strict=True)),
            "held_out": {
                **dict(zip(("positions", "games"), self.tested, strict=True)),
                "log_loss": {name: asdict(each) for name, each in self.losses.items()},
                "gain_over_own_scale": asdict(self.gain),
                "decided": self.decided,
            },
            "search_revision": SEARCH_REVISION,
            "fitted": datetime.now(UTC).date().isoformat(),
        }


def fit(learned: Sequence[PairSample]) -> Coefficients:
    """The coefficients with the least log-loss, by Newton's method.

    Raises:
        AnalysisError: The positions do not determine them.
    """
    inputs, points = _inputs(learned), np.array([each.points for each in learned])
    found = np.zeros(_COUNT)
    for _ in range(_STEPS):
        expected = _logistic(inputs @ found)
        gradient = inputs.T @ (expected - points) + _RIDGE * found
        hessian = (inputs * (expected * (1 - expected))[:, None]).T @ inputs + _RIDGE * np.eye(_COUNT)
        step = np.linalg.solve(hessian, gradient)
        found -= step
        if np.abs(step).max() < _SMALL_STEP:
            break
    named = dict(zip((each.name for each in fields(Coefficients)), map(float, found), strict=True))
    if min(named["score"], named["score"] + named["score_stage"]) <= 0:
        raise AnalysisError(f"{len(learned)} positions do not determine the coefficients")
    return Coefficients(**named)


def measure(
    coefficients: Coefficients, learned: Sequence[PairSample], tested: Sequence[PairSample]
) -> PairFit:
    """Predict the results of held-out games.

    Args:
        coefficients: From `fit`.
        learned: The positions that they were fitted to.
        tested: Positions of other games.
    """
    points = np.array([each.points for each in tested])
    names = {name: at for at, name in enumerate(dict.fromkeys(each.game for each in tested))}
    games = np.array([names[each.game] for each in tested])
    features = [each.features for each in tested]
    predictions = {
        OWN_SCALE: np.array([_own(each) for each in features]),
        "ratings": np.array([expected_result(POINTS * each.difference, 0.0) for each in features]),
        "equal ratings": np.array([coefficients.value(each._replace(difference=0.0)) for each in features]),
        PAIR: np.array([coefficients.value(each) for each in features]),
    }
    losses = {name: _losses(each, points) for name, each in predictions.items()}
    return PairFit(
        coefficients,
        (len(learned), len({each.game for each in learned})),
        (len(tested), len(names)),
        {name: _mean(each, games) for name, each in losses.items()},
        _mean(losses[OWN_SCALE] - losses[PAIR], games),
        {name: _decided(predictions[name], points) for name in (OWN_SCALE, PAIR)},
    )


def fit_text(found: PairFit) -> str:
    """The measurement in words, one line each."""
    lines = [
        f"learned from {found.learned[0]:,} positions of {found.learned[1]:,} games, "
        f"tested on {found.tested[0]:,} of {found.tested[1]:,}"
    ]
    for name, loss in {**found.losses, f"{OWN_SCALE} minus {PAIR}": found.gain}.items():
        interval = "" if loss.low is None else f" ({loss.low:.4f} to {loss.high:.4f})"
        lines.append(f"log-loss, {name}: {loss.value:.4f}{interval}")
    for name, each in found.decided.items():
        lines.append(
            f"decided by {name}: {100 * each['share']:.1f} % of positions, {100 * each['expected']:.1f} % "
            f"expected, {100 * each['points']:.1f} % scored"
        )
    return "\n".join(lines) + "\n"


def _inputs(given: Sequence[PairSample]) -> Floats:
    columns = np.array([each.features for each in given])
    x, stage, difference = columns.T
    return np.stack([np.ones(len(x)), x, stage, x * stage, difference, difference * stage], axis=1)


def _logistic(values: Floats) -> Floats:
    return np.asarray(1 / (1 + np.exp(-values)), np.float64)


def _own(features: PairFeatures) -> float:
    return float(_logistic(np.array(features.x)))


def _losses(predicted: Floats, points: Floats) -> Floats:
    return np.asarray(-points * np.log(predicted) - (1 - points) * np.log1p(-predicted), np.float64)


def _mean(values: Floats, games: NDArray[np.int64]) -> Loss:
    found = fixed_mean(values, games, 0.05)
    return Loss(float(values.mean()), found.low, found.high)


def _decided(predicted: Floats, points: Floats) -> dict[str, float]:
    is_decided = (predicted * WHOLE < MIN_VALUE) | (predicted * WHOLE > MAX_VALUE)
    is_ahead = predicted > 0.5
    expected = np.where(is_ahead, predicted, 1 - predicted)[is_decided]
    scored = np.where(is_ahead, points, 1 - points)[is_decided]
    return {
        "share": float(is_decided.mean()),
        "expected": float(expected.mean()) if len(expected) else 0.0,
        "points": float(scored.mean()) if len(scored) else 0.0,
    }
