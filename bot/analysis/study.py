"""Computes a study: Figure 9 for a population of players, and how well each predictor foresees errors."""

from collections.abc import Callable, Sequence
from dataclasses import asdict, dataclass
from itertools import pairwise
from typing import Any

import numpy as np
from numpy.typing import NDArray

from bot.analysis.measures import Bin, Estimate, Resamples, as_probabilities, reliability
from bot.analysis.population import BAD, Population
from engine.decision import Candidate, Decision, OutcomeKind
from engine.human.calibrated import FEATURES, CalibratedModel
from engine.judgement import Judgement, classify_reply, judge
from engine.params import Assessment, Scale, TrapParams
from engine.trappy import reply_quality
from storage.intervals import Share, share

CALIBRATED, ALONE = "calibrated model", "calibrated, no human-move model"
PAPER = "trappiness, median"
"""The paper's own predictor."""
LOSS_STEPS = (0.05, 0.10, 0.20, 0.40, 1.0 + 1e-9)

Odds = dict[str, NDArray[np.float64]]


@dataclass(frozen=True, slots=True)
class Figure9:
    """What people did with the traps in the positions, whether or not they were set on purpose."""

    trap: str
    """Name of the trap definition (`trap_kinds`)."""
    set: int
    optimal: Share
    fell: Share
    fell_for_best: Share
    elsewhere: Share
    plain_optimal: Share
    """Share of optimal replies to moves that set no trap: the base rate."""
    expected: dict[str, Estimate]
    """By model name: expected falls per actual fall."""


@dataclass(frozen=True, slots=True)
class Temptation:
    """For replies of about the same cost, how often traps and others are played."""

    low: float
    high: float
    """Bounds on the cost, in expected score."""
    trap: Share
    other: Share


@dataclass(frozen=True, slots=True)
class Judged:
    """Quality of a predictor."""

    name: str
    auc: Estimate
    above: dict[str, Estimate]
    """Difference of its AUC from those of the human-move models and of the paper's trappiness."""
    is_probability: bool
    """Whether it predicts probabilities; if not, a logistic curve fitted on other games supplies them."""
    brier: Estimate
    log_loss: Estimate
    curve: tuple[Bin, ...]


@dataclass(frozen=True, slots=True)
class Study:
    """The complete result of a study."""

    game: str
    positions: int
    games: int
    replies: int
    bad_replies: int
    errors: Share
    """Replies played that were bad."""
    mean_loss: Estimate
    nll: dict[str, Estimate]
    """By model name: mean negative log-likelihood of the replies played."""
    top1: dict[str, Estimate]
    """By model name: how often its likeliest reply was played."""
    figure9: tuple[Figure9, ...]
    human_models: tuple[str, ...]
    """Names of the human-move models among the predictors; the first one's odds feed the calibrated model."""
    temptation: dict[str, tuple[Temptation, ...]]
    """By trap definition (`trap_kinds`)."""
    bad_reply: tuple[Judged, ...]
    """Predictors of "this bad reply is played", over all bad replies."""
    error: tuple[Judged, ...]
    """Predictors of "this position provokes an error", over all positions with a bad reply."""

    def to_json(self) -> dict[str, Any]:
        """Plain JSON values."""
        return asdict(self)


def trap_kinds(threshold_percent: float) -> dict[str, TrapParams]:
    """Trap definitions, by their names in the tables."""
    kinds = {
        f"paper, {kind.value}": TrapParams(assessment=kind, threshold_percent=threshold_percent)
        for kind in Assessment
    }
    kinds["expected score, median"] = TrapParams(scale=Scale.EXPECTED, threshold_percent=threshold_percent)
    return kinds


def study(
    people: Population,
    calibrated: CalibratedModel | None,
    *,
    threshold_percent: float = TrapParams().threshold_percent,
    resamples: int = 1000,
    seed: int = 1,
    on_step: Callable[[str], None] = lambda _: None,
) -> Study:
    """Run the study on a population.

    Args:
        calibrated: A model that was not fitted to these games; None: no model.
        threshold_percent: Least quality of a trap that counts as set (`TrapParams.threshold_percent`).
        resamples: Number of resamples of the games, for the intervals.
        on_step: Called with the name of each step before it begins.
    """
    on_step("models")
    odds = _odds(people, calibrated)
    on_step("traps")
    kinds = trap_kinds(threshold_percent)
    qualities = {name: _qualities(people, params) for name, params in kinds.items()}
    judged = {name: _judgements(people, params) for name, params in kinds.items()}
    by_position = Resamples(people.games, resamples, seed)
    figures = tuple(
        _figure9(people, name, params, judged[name], odds, by_position) for name, params in kinds.items()
    )
    temptation = {name: _temptation(people, _falls(judged[name])) for name in kinds}
    bad = people.loss >= BAD
    on_step("bad replies")
    of_replies = _reply_predictors(people, qualities, odds)
    bad_reply = _judge(
        {name: scores[bad] for name, scores in of_replies.items()},
        people,
        odds,
        people.is_played[bad],
        people.games[people.of_position[bad]],
        resamples,
        seed,
    )
    on_step("positions")
    has_bad = people.most(bad) > 0
    of_positions = _position_predictors(people, qualities, odds, bad)
    lost = people.loss[people.rows.played]
    error = _judge(
        {name: scores[has_bad] for name, scores in of_positions.items()},
        people,
        odds,
        lost[has_bad] >= BAD,
        people.games[has_bad],
        resamples,
        seed,
    )
    return Study(
        game=people.game.name,
        positions=len(people.positions),
        games=int(people.games.max()) + 1,
        replies=len(people.loss),
        bad_replies=int(bad.sum()),
        errors=share(int((lost >= BAD).sum()), len(lost)),
        mean_loss=by_position.mean(lost).estimate,
        nll={
            name: by_position.mean(-np.log(np.maximum(p[people.rows.played], 1e-12))).estimate
            for name, p in odds.items()
        },
        top1={name: by_position.mean(_is_top(people, p)).estimate for name, p in odds.items()},
        figure9=figures,
        human_models=tuple(people.models),
        temptation=temptation,
        bad_reply=bad_reply,
        error=error,
    )


def model_odds(people: Population, model: CalibratedModel, has_human: bool) -> NDArray[np.float64]:
    """A calibrated model's odds of each reply."""
    starts, counts = people.rows.starts, people.rows.counts
    return np.concatenate(
        [
            model.probabilities(people.rows.features[start : start + count], has_human)
            for start, count in zip(starts, counts, strict=True)
        ]
    )


def _odds(people: Population, calibrated: CalibratedModel | None) -> Odds:
    odds: Odds = dict(people.models)
    if calibrated is not None:
        if people.has_human:
            odds[CALIBRATED] = model_odds(people, calibrated, True)
        odds[ALONE] = model_odds(people, calibrated, False)
    return odds


def _is_top(people: Population, odds: NDArray[np.float64]) -> NDArray[np.float64]:
    return (odds[people.rows.played] >= people.most(odds) - 1e-12).astype(np.float64)


# --- Predictors -----------------------------------------------------------------------------------------


def _column(people: Population, name: str) -> NDArray[np.float64]:
    return people.rows.features[:, FEATURES.index(name)].astype(np.float64)


def _reply_predictors(
    people: Population, qualities: dict[str, NDArray[np.float64]], odds: Odds
) -> dict[str, NDArray[np.float64]]:
    """Scores of each reply: the higher, the likelier it is to be played."""
    return {
        **{f"trappiness, {kind}": _column(people, f"trappiness_{kind}") for kind in Assessment},
        **{f"trappiness x profit ({name})": quality for name, quality in qualities.items()},
        "shallow score, 2 plies": -_column(people, "gap_first"),
        "shallow score, median": -_column(people, "gap_median"),
        "shallow score, best": -_column(people, "gap_best"),
        "score at full depth": -people.loss,
        **odds,
    }


def _position_predictors(
    people: Population,
    qualities: dict[str, NDArray[np.float64]],
    odds: Odds,
    bad: NDArray[np.bool_],
) -> dict[str, NDArray[np.float64]]:
    """Scores of each position: the higher, the likelier an error."""
    never = -1e9
    return {
        **{
            f"trappiness, {kind}": people.most(np.where(bad, _column(people, f"trappiness_{kind}"), never))
            for kind in Assessment
        },
        **{f"trappiness x profit ({name})": people.most(quality) for name, quality in qualities.items()},
        **{
            f"shallow score, {text}": people.most(np.where(bad, -_column(people, name), never))
            for text, name in (("2 plies", "gap_first"), ("median", "gap_median"), ("best", "gap_best"))
        },
        "bad replies' share": people.sums(bad) / people.rows.counts,
        **{name: people.sums(np.where(bad, p, 0.0)) for name, p in odds.items()},
    }


def _judge(
    predictors: dict[str, NDArray[np.float64]],
    people: Population,
    probabilities: Odds,
    hits: NDArray[np.bool_],
    groups: NDArray[np.int64],
    count: int,
    seed: int,
) -> tuple[Judged, ...]:
    if not len(hits) or hits.all() or not hits.any():
        return ()
    groups = np.unique(groups, return_inverse=True)[1].astype(np.int64)
    resamples = Resamples(groups, count, seed)
    areas = {name: resamples.auc(scores, hits) for name, scores in predictors.items()}
    found = []
    for name, scores in predictors.items():
        odds = scores if name in probabilities else as_probabilities(scores, hits, groups)
        above = {
            other: areas[name].minus(areas[other]).estimate
            for other in (*people.models, PAPER)
            if other != name
        }
        found.append(
            Judged(
                name,
                areas[name].estimate,
                above,
                name in probabilities,
                resamples.brier(odds, hits).estimate,
                resamples.log_loss(odds, hits).estimate,
                tuple(reliability(odds, hits)),
            )
        )
    return tuple(found)


# --- Traps ----------------------------------------------------------------------------------------------


def _filled(people: Population, params: TrapParams) -> list[TrapParams]:
    """The parameters for each position, with its own logistic function if the scale needs one."""
    return [params.for_position(stored.found.logistic_centi) for stored in people.positions]


def _qualities(people: Population, params: TrapParams) -> NDArray[np.float64]:
    """Quality of each reply as a trap."""
    found: list[float] = []
    for stored, filled in zip(people.positions, _filled(people, params), strict=True):
        raw = stored.found.candidate.raw_centi
        found += [reply_quality(reply.scores_centi, raw, filled) for reply in stored.found.replies]
    return np.array(found)


def _judgements(people: Population, params: TrapParams) -> list[Judgement]:
    """Every position's replies, judged."""
    return [judge(each.found.candidate, params, each.found.logistic_centi) for each in people.positions]


def _falls(judged: Sequence[Judgement]) -> NDArray[np.bool_]:
    """Whether each reply falls into a trap."""
    return np.array([each.is_fall(reply) for each in judged for reply in each.replies], np.bool_)


def _figure9(
    people: Population,
    name: str,
    params: TrapParams,
    judged: Sequence[Judgement],
    odds: Odds,
    resamples: Resamples,
) -> Figure9:
    outcomes = []
    for stored, filled in zip(people.positions, _filled(people, params), strict=True):
        decision = _decision(people.game.name, stored.found.position, stored.found.candidate, filled)
        outcomes.append(classify_reply(decision, stored.found.reply))
    is_set = [each.is_trap for each in judged]
    traps = [outcome for outcome, trap in zip(outcomes, is_set, strict=True) if trap]
    plain = [outcome for outcome, trap in zip(outcomes, is_set, strict=True) if not trap]

    def count(kind: OutcomeKind) -> Share:
        return share(sum(outcome.kind is kind for outcome in traps), len(traps))

    fell = np.array([outcome.kind is OutcomeKind.FELL for outcome in outcomes], np.float64)
    could_fall = _falls(judged)
    return Figure9(
        name,
        len(traps),
        count(OutcomeKind.OPTIMAL),
        count(OutcomeKind.FELL),
        share(sum(outcome.fell_for_best for outcome in traps), len(traps)),
        count(OutcomeKind.ERRED_ELSEWHERE),
        share(sum(outcome.kind is OutcomeKind.OPTIMAL for outcome in plain), len(plain)),
        {
            model: resamples.ratio(people.sums(np.where(could_fall, p, 0.0)), fell).estimate
            for model, p in odds.items()
            if fell.any()
        },
    )


def _decision(game: str, position: str, candidate: Candidate, params: TrapParams) -> Decision:
    """A decision for the move, as `classify_reply` needs it."""
    return Decision(
        game=game,
        position=position,
        player="standard",
        params=params,
        move=candidate.move,
        candidates=(candidate,),
        depth=len(candidate.replies[0].scores_centi) + 1,
        principal_variation=(candidate.move,),
        nodes=0,
        time_s=0.0,
        profile_source="",
        engine_version="",
    )


def _temptation(people: Population, is_trap: NDArray[np.bool_]) -> tuple[Temptation, ...]:
    played = people.is_played
    found = []
    for low, high in pairwise(LOSS_STEPS):
        inside = (people.loss >= low) & (people.loss < high)
        traps, others = inside & is_trap, inside & ~is_trap
        found.append(
            Temptation(
                low,
                min(high, 1.0),
                share(int(played[traps].sum()), int(traps.sum())),
                share(int(played[others].sum()), int(others.sum())),
            )
        )
    return tuple(found)
