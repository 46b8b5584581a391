"""Measures how much each part of the trap arithmetic, as a covariate, helps to predict recorded replies."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from bot.match.human_players import open_human_models
from engine.figure_9 import MIN_BAIT_P
from engine.games import get_rules
from engine.human.calibrated import FEATURES, CalibratedModel, open_calibrated
from engine.human.model import HumanModel, predictions_of
from engine.human.registry import ModelSettings
from engine.human.reply_model import default_path
from engine.params import Assessment, Scale, TrapParams
from engine.trappy import reply_trappiness
from lab.analysis.added_value import FOLDS, folds_by_person, held_out
from lab.analysis.analysed_games import StoredPosition
from lab.analysis.analysis_runner import analysed, query_of
from lab.analysis.persons import is_person, person_key
from lab.analysis.population import MIN_ERROR_SCORE_LOSS, population
from lab.analysis.recorded_games import AnsweredMove, half_of, half_of_person
from lab.analysis.reply_profiles import ProfileTask, profile
from lab.experiments.estimates_text import MeanEstimate
from lab.experiments.experiment import Result
from lab.experiments.given_games import DEPTHS, given_games, sample_of
from lab.training.calibrated import ReplyRows
from storage.evidence.inference.fixed import fixed_mean
from storage.research.archive import draw_key

Floats = NDArray[np.float64]

KNOWN = ("ln p", "cost", "look 2", "look median", "look best", "look last")
"""Covariates of the baseline logit: the model's ln p, the reply's cost, and its shallow scores."""
PRIMARY = "trappiness, median"
"""The paper's trappiness; its gain is the primary endpoint."""
PARTS: Mapping[str, Sequence[str]] = {
    PRIMARY: (PRIMARY,),
    "assessment: best": ("trappiness, best",),
    "assessment: last": ("trappiness, last",),
    "profit: trappiness x cost": (PRIMARY, "trappiness x cost"),
    "scale: expected score": ("trappiness, expected scale",),
    "margin: a disc or pawn": ("trappiness, margin",),
    "temptation: error": ("error",),
    "temptation: likely": ("likely",),
    "temptation: deceptive": ("deceptive",),
    "temptation: all three": ("tempting",),
    "rank at depth 2": ("rank",),
}
"""The columns that each row of the report's table adds to `KNOWN`."""
COLUMNS = tuple(dict.fromkeys([*KNOWN, *(name for names in PARTS.values() for name in names)]))
_MARGIN_CENTI = 100
_DIGITS = 4
_HALF = 1
"""The half of the games (chess) or persons (Othello) that was not used to fit the calibrated models."""
_SPLIT_SEED = 1


# --- Finding them ---------------------------------------------------------------------------------------


def replies(game: str, folder: str, seed: int, first: int, count: int, most: int) -> Result:
    """Compute the covariates of all replies to some of the sampled moves.

    Args:
        folder: Folder with human games and networks (`Ablation.needs`).
        first: Index in the sample of the first move to process.
        most: Size of the sample.

    Returns:
        ``persons`` and ``counts``: for each position, the person who replied and the number of replies;
        ``played``: the index of the reply played; ``columns``: covariates of each reply, keyed by `COLUMNS`.
    """
    wanted = _sample(game, folder, seed, most)[first : first + count]
    found = [_stored(at, each, _human(game, folder)) for at, each in enumerate(wanted)]
    if not found:
        return {"persons": [], "counts": [], "played": [], "columns": {name: [] for name in COLUMNS}}
    people = population(game, found, "human")
    probabilities = _calibrated(game).probabilities
    p = np.concatenate(
        [
            probabilities(people.rows.features[start : start + size], True)
            for start, size in zip(people.rows.starts, people.rows.counts, strict=True)
        ]
    )
    features = {name: people.rows.features[:, at] for at, name in enumerate(FEATURES)}
    error, likely = people.loss >= MIN_ERROR_SCORE_LOSS, p >= MIN_BAIT_P
    deceives = np.concatenate([_deceives(each) for each in people.positions])
    columns = {
        "ln p": np.log(np.maximum(p, 1e-5)),
        "cost": people.loss,
        "look 2": features["gap_first"],
        "look median": features["gap_median"],
        "look best": features["gap_best"],
        "look last": features["gap_last"],
        **{f"trappiness, {kind}": _trappiness(people.positions, assessment=kind) for kind in Assessment},
        "trappiness x cost": _trappiness(people.positions) * people.loss,
        "trappiness, expected scale": _trappiness(people.positions, scale=Scale.EXPECTED),
        "trappiness, margin": _trappiness(people.positions, margin_centi=_MARGIN_CENTI),
        "error": error,
        "likely": likely,
        "deceptive": deceives,
        "tempting": error & likely & deceives,
        "rank": np.concatenate([_ranks(each) for each in people.positions]),
    }
    return {
        "persons": [person_key(each) for each in people.positions],
        "counts": people.rows.counts.tolist(),
        "played": (people.rows.played - people.rows.starts).tolist(),
        "columns": {name: [round(float(value), _DIGITS) for value in columns[name]] for name in COLUMNS},
    }


@lru_cache(maxsize=2)
def _sample(game: str, folder: str, seed: int, most: int) -> Sequence[AnsweredMove]:
    """The sampled moves, all from games or persons that were not used to fit a model."""
    games = given_games(game, folder)
    if game == "chess":
        games = [each for each in games if half_of(draw_key(each.record), _SPLIT_SEED) == _HALF]
        return sample_of(games, game, most, seed)
    others = [each for each in sample_of(games, game, 3 * most, seed) if _is_other_half(_name(each))]
    return others[:most]


def _name(each: AnsweredMove) -> str:
    return each.game.record.players[each.side]


def _is_other_half(name: str) -> bool:
    return is_person(name) and half_of_person(name, _SPLIT_SEED) == _HALF


@lru_cache(maxsize=2)
def _human(game: str, folder: str) -> HumanModel:
    """The human-move model: for chess, the mean of the folder's networks; for Othello, the bundled model."""
    models = (str(Path(folder) / "maia"),) if game == "chess" else ()
    return open_human_models("ablation", ModelSettings(models=models), game).human


@lru_cache(maxsize=2)
def _calibrated(game: str) -> CalibratedModel:
    return open_calibrated(default_path(game))


def _stored(at: int, each: AnsweredMove, human: HumanModel) -> StoredPosition:
    record = each.game.record
    found = profile(ProfileTask(at, record.game, each.position, each.move, DEPTHS[record.game], None))
    position = analysed(0, each, found)
    [probabilities] = predictions_of(human, get_rules(record.game), [query_of(human, position, record)])
    return StoredPosition(
        id=at,
        game_key=each.game.key,
        date=record.date,
        found=position,
        human=tuple(probabilities),
        name=_name(each),
    )


def _trappiness(positions: Sequence[StoredPosition], **settings: Any) -> Floats:
    found = []
    for each in positions:
        params = TrapParams(**settings, logistic_centi=each.found.logistic_centi)
        found += [reply_trappiness(reply.scores_centi, params) for reply in each.found.replies]
    return np.array(found)


def _scores(each: StoredPosition) -> Floats:
    """Scores of every reply at each depth, from the point of view of the person who replies."""
    return -np.array([reply.scores_centi for reply in each.found.replies], float)


def _deceives(each: StoredPosition) -> NDArray[np.bool_]:
    """For each reply, whether it scores, at some shallower depth, at least as high as every reply that is
    best at full depth.
    """
    scores = _scores(each)
    best = scores[:, -1] == scores[:, -1].max()
    return np.asarray((scores[:, :-1] >= scores[best, :-1].max(axis=0)).any(axis=1))


def _ranks(each: StoredPosition) -> Floats:
    """For each reply, ln(1 + number of replies with a higher sum of scores at depths 2 and 3)."""
    glances = _scores(each)[:, :2].sum(axis=1)
    return np.asarray(np.log1p((glances[None, :] > glances[:, None]).sum(axis=1)))


# --- What each adds -------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class PartGains:
    """The gain from each part over the baseline {ln p, cost, shallow scores}, in nats per reply."""

    positions: int
    persons: int
    nats: float
    """Mean -ln p(reply) of the baseline logit."""
    of: Mapping[str, MeanEstimate]
    """Gain in nats per reply, keyed by `PARTS`."""


def gains(parts: Sequence[Result], seed: int, alpha: float) -> PartGains | None:
    """Cross-validate each logit: fit it on four fifths of the persons and evaluate it on the rest.

    Args:
        alpha: Error probability of the interval for `PRIMARY`; the other intervals use 5 %.

    Returns:
        The gains; None if there are too few persons.
    """
    names = [name for part in parts for name in part["persons"]]
    numbers = {name: at for at, name in enumerate(dict.fromkeys(names))}
    if len(numbers) < FOLDS:
        return None
    persons = np.array([numbers[name] for name in names])
    counts = np.array([count for part in parts for count in part["counts"]])
    starts = np.concatenate([[0], np.cumsum(counts)[:-1]]).astype(np.int64)
    played = starts + np.array([at for part in parts for at in part["played"]])
    columns = {
        name: np.array([value for part in parts for value in part["columns"][name]]) for name in COLUMNS
    }
    rows = ReplyRows(np.zeros((int(counts.sum()), 1), np.float32), starts, played, persons)
    folds = folds_by_person(persons, seed)

    def losses(more: Sequence[str]) -> Floats:
        return held_out(np.stack([columns[name] for name in (*KNOWN, *more)], axis=1), rows, folds)

    before = losses(())
    of = {}
    for name, more in PARTS.items():
        found = fixed_mean(before - losses(more), persons, alpha if name == PRIMARY else 0.05)
        low = float("-inf") if found.low is None else found.low
        high = float("inf") if found.high is None else found.high
        of[name] = MeanEstimate(found.value or 0.0, low, high, len(persons))
    return PartGains(len(persons), len(numbers), float(before.mean()), of)
