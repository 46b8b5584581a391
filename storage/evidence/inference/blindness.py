"""Whether what people can see of a trial's games reveals which strategy plays.

A classifier predicts each game's strategy from its visible features, after training on earlier games only, in
the order of the random assignment. Let q be its probability of the treatment and pi the recorded probability.
If nothing that is visible depends on the strategy, the likelihood ratio::

    e = product of q / pi over treated games, times product of (1 - q) / (1 - pi) over the others

has expectation 1 after every game, so the probability that it ever reaches 1/alpha is at most alpha (Ville's
inequality), however good or bad the classifier is and however often one looks.

The classifier is a Bayesian mixture of ridge regressions of A - pi: one on each feature alone, and one on
all. A feature counts by its rank among the earlier games of the same kind, so that neither its scale nor
outliers matter; a missing feature counts as the median.
"""

from collections.abc import Iterator, Sequence
from dataclasses import asdict, dataclass
from datetime import datetime
from typing import Any

import numpy as np
from numpy.typing import NDArray

from storage.evidence.inference.any_time import AnyTimeEstimate, estimate
from storage.evidence.inference.games import TrialGames
from storage.evidence.inference.persons import Codes, Floats, earlier_counts, earlier_sums
from storage.evidence.inference.trial import TrialTerms, contrast, drawn_rows, hide_early

FALSE_ALARM_RATE = 0.001
"""Maximum probability that a trial that reveals nothing is ever said to reveal its strategies."""
_MIN_TRAINING_GAMES = 10
"""Number of games before the first prediction, and of games of a kind before its features count."""
_RETRAINING_GROWTH = 1.1
"""The classifier is trained again when the number of games has grown by this factor."""
_RIDGE = 2.0
"""Penalty on the squared coefficients; each game adds about 1/12 to a feature's sum of squared ranks."""
_MIN_PREDICTION = 0.02
"""Minimum probability of either strategy in a prediction, which limits what one game can cost."""


@dataclass(frozen=True, slots=True, eq=False)
class VisibleFeatures:
    """What people can see of a trial's games, except the play itself."""

    names: Sequence[str]
    """The names of the features, in words."""
    games: NDArray[np.int64]
    """Keys of the games, ascending, shape (n,)."""
    values: Floats
    """The features, shape (n, features); NaN if unknown."""
    mean_wait_s: Floats
    """The mean wait for our moves, in seconds, shape (n,); NaN if unknown."""


@dataclass(frozen=True, slots=True, kw_only=True)
class BlindnessReport:
    """How well people could tell the strategies of a trial's games apart."""

    games: int
    """Number of games whose strategy was predicted."""
    wait: AnyTimeEstimate
    """The difference in the mean wait for our moves, treated minus untreated, in seconds."""
    auc: float | None
    """Probability that the classifier ranks a treated game above an untreated one; None without games of both
    strategies."""
    e_value: float
    """The largest value of e so far."""
    best_feature: str
    """The feature that predicts best by itself; empty if none predicts better than chance."""

    @property
    def is_revealed(self) -> bool:
        """Whether the classifier beats chance at `FALSE_ALARM_RATE`."""
        return self.e_value >= 1 / FALSE_ALARM_RATE

    def to_json(self) -> dict[str, Any]:
        """The report as plain JSON values; a premature estimate is hidden."""
        fields = {**asdict(self), "is_revealed": self.is_revealed, "false_alarm_rate": FALSE_ALARM_RATE}
        hide_early(fields["wait"])
        return fields


def blindness_report(
    games: TrialGames, visible: VisibleFeatures, terms: TrialTerms, at: datetime
) -> BlindnessReport:
    """Compare what people can see of the games of two strategies.

    Args:
        games: The games, as for the trial's report.
        visible: Features of these games; games without features are left out.
        terms: The trial's design.
        at: The current time, with a time zone.
    """
    rows = drawn_rows(games.rows, terms, at).counted
    rows = rows[np.isin(rows["id"], visible.games)]
    place = np.searchsorted(visible.games, rows["id"])
    kinds, treated = rows["kind"].astype(np.intp), rows["treated"]
    waits_s = visible.mean_wait_s[place]
    has = ~np.isnan(waits_s)
    psi = _centred(waits_s[has], kinds[has]) * contrast(treated[has], rows["probability"][has])
    wait = estimate(psi, rows["person"][has], terms.design(terms.planned_games))
    first = min(_MIN_TRAINING_GAMES, len(rows))
    each = _predictions(visible.values[place], kinds, treated, rows["probability"])
    gains = np.log(np.where(treated, each.T / rows["probability"], (1 - each.T) / (1 - rows["probability"])))
    wealth = np.cumsum(np.pad(gains, ((0, 0), (1, 0))), axis=1)
    weights = np.exp(wealth - wealth.max(axis=0))[:, :-1]
    mixed = (weights * each.T).sum(axis=0) / weights.sum(axis=0) - rows["probability"]
    evidence = np.logaddexp.reduce(wealth, axis=0) - np.log(len(wealth))
    alone = wealth[: len(visible.names), -1]
    return BlindnessReport(
        games=len(rows) - first,
        wait=wait,
        auc=_auc(mixed[first:], treated[first:]),
        e_value=float(np.exp(min(evidence.max(initial=0.0), 700.0))),
        best_feature=visible.names[int(alone.argmax())] if alone.max() > 0 else "",
    )


def _centred(values: Floats, kinds: Codes) -> Floats:
    """Subtract from each value the mean of the earlier values of the same kind; the first of a kind is 0."""
    counts = earlier_counts(kinds)
    return np.where(counts > 0, values - earlier_sums(values, kinds) / np.maximum(counts, 1), 0.0)


def _predictions(x: Floats, kinds: Codes, treated: NDArray[np.bool_], probability: Floats) -> Floats:
    """Each regression's probability of treatment, from earlier games; shape (n, features + 1)."""
    y = treated - probability
    added = np.zeros((len(x), x.shape[1] + 1))
    for start, end in _blocks(len(x)):
        ranks = _ranks(x[:end], kinds[:end], start)
        known, new = ranks[:start], ranks[start:]
        products, sums = known.T @ known, known.T @ y[:start]
        added[start:end, :-1] = new * (sums / (np.diag(products) + _RIDGE))
        added[start:end, -1] = new @ np.linalg.solve(products + _RIDGE * np.eye(len(sums)), sums)
    low = np.minimum(_MIN_PREDICTION, probability)[:, None]
    high = np.maximum(1 - _MIN_PREDICTION, probability)[:, None]
    return np.asarray(np.clip(probability[:, None] + added, low, high))


def _blocks(n: int) -> Iterator[tuple[int, int]]:
    """Ranges of games predicted by one training; a larger n only continues the list."""
    start = _MIN_TRAINING_GAMES
    while start < n:
        end = max(start + 1, int(start * _RETRAINING_GROWTH))
        yield start, min(end, n)
        start = end


def _ranks(x: Floats, kinds: Codes, known: int) -> Floats:
    """Replace each value by its rank, from -1/2 to 1/2, among the first `known` games of its kind."""
    ranks = np.zeros_like(x)
    for kind in np.unique(kinds):
        is_kind = kinds == kind
        for column, values in enumerate(x.T):
            of_kind = values[is_kind]
            sample = np.sort(values[:known][is_kind[:known]])
            sample = sample[~np.isnan(sample)]
            if len(sample) >= _MIN_TRAINING_GAMES:
                below = sample.searchsorted(of_kind) + sample.searchsorted(of_kind, "right")
                ranks[is_kind, column] = np.where(np.isnan(of_kind), 0.0, below / (2 * len(sample)) - 0.5)
    return ranks


def _auc(scores: Floats, treated: NDArray[np.bool_]) -> float | None:
    """The probability that a treated score exceeds an untreated one; ties count half."""
    ours, others = scores[treated], np.sort(scores[~treated])
    if not len(ours) or not len(others):
        return None
    below = others.searchsorted(ours) + others.searchsorted(ours, "right")
    return float(below.mean() / (2 * len(others)))
