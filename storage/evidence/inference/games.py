"""Outcomes of a trial's games: the differences in score and cost between two strategies.

Each game is assigned at random. With A = 1 for the strategy that sets traps, pi its recorded probability, Y
the outcome, e its expectation before the game and m a prediction from earlier games of the stratum::

    m   = clip(e + k / (N + 10), 0, 1);   k, N: sum and count of (Y - e) over earlier games of the stratum
    psi = (Y - m) (A / pi - (1 - A) / (1 - pi))

For any m, the mean M of psi estimates the difference between A = 1 and A = 0; a good m reduces its variance.
The difference in Elo is M / mean(m (1 - m) ln(10) / 400).
"""

from collections.abc import Sequence
from dataclasses import asdict, dataclass
from datetime import datetime
from math import log
from types import MappingProxyType
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from storage.evidence.inference.any_time import (
    AnyTimeEstimate,
    InterimAnalyses,
    SequenceDesign,
    estimate,
    estimates,
    interim_analyses,
)
from storage.evidence.inference.persons import (
    Codes,
    Floats,
    codes_of,
    earlier_counts,
    earlier_sums,
)
from storage.evidence.inference.suspects import Flags
from storage.evidence.inference.trial import (
    TRIAL_UNIT,
    CountedRows,
    EndpointReport,
    RandomisationCheck,
    TrialCounts,
    TrialTerms,
    Units,
    check_draws,
    contrast,
    drawn_rows,
    endpoint,
    hide_early,
    randomisation_check,
    refuse,
)
from storage.evidence.rating_bands import BAND_WIDTH

_PRIOR_GAMES = 10.0
"""Number of additional games with residual 0 by which a stratum's mean residual is shrunk towards 0."""
_ELO_PER_LOGIT = 400 / log(10)
_UNRATED = 1_000
"""Value that stands for a missing rating band."""


TRIAL_GAME = np.dtype(
    [
        *TRIAL_UNIT.descr,
        *((name, "<f8") for name in ("rating", "our_rating", "score", "cost")),
        ("kind", "<i4"),
    ]
)
"""The layout of a game whose strategy is assigned at random; A = 1 for the one that sets traps.

In addition to the columns of `TRIAL_UNIT`: the person's rating and ours before the game, on the same scale;
our score (1, 1/2 or 0); the mean cost of the person's replies by the judge, in expected score from 0 to 1
(each of these is NaN if missing); and the game's index in `TrialGames.kinds`.
"""


class GameKind(NamedTuple):
    """The properties that distinguish kinds of games."""

    game: str
    """The game, for instance othello."""
    site: str
    speed: str
    """The speed class as the site names it, for instance bullet or blitz."""


@dataclass(frozen=True, slots=True, eq=False)
class TrialGames:
    """Games of a trial, in any order."""

    rows: Units
    """Rows with the columns of `TRIAL_GAME`."""
    kinds: Sequence[GameKind]

    def __post_init__(self) -> None:
        check_draws(self.rows, "game")
        check_outcomes(self.rows)


def check_outcomes(games: Units) -> None:
    """Reject games with an impossible score or cost.

    Raises:
        ValueError: A score or cost is impossible; the message names the game.
    """
    score, cost = games["score"], games["cost"]
    is_score = np.isnan(score) | np.isin(score, (0, 0.5, 1))
    refuse("game", games[~is_score], "the score is {score}, not 0, 1/2 or 1")
    refuse("game", games[(cost < 0) | (cost > 1)], "the cost is {cost}, not from 0 to 1")


NO_GAMES = TrialGames(np.zeros(0, TRIAL_GAME), ())


@dataclass(frozen=True, slots=True)
class Stratum:
    """A group of games with the same properties, all known before the games begin."""

    game: str
    site: str
    speed: str
    rating_from: int | None
    """The lowest rating of the person's `RatingBand`; None if unrated."""


@dataclass(frozen=True, slots=True)
class StratumResult:
    """The differences in score and cost within one stratum."""

    stratum: Stratum
    score: AnyTimeEstimate
    cost: AnyTimeEstimate


@dataclass(frozen=True, slots=True)
class EloDifference:
    """A difference in score converted to a difference in Elo."""

    value: float | None
    """The difference; None without games, or if all expected scores m are 0 or 1."""
    low: float | None
    """Lower limit of the interval; None while it is too early for an interval."""
    high: float | None
    """Upper limit of the interval; None while it is too early for an interval."""
    score_per_elo: float
    """Score per point of Elo in these games, mean(m (1 - m) ln(10) / 400)."""


@dataclass(frozen=True, slots=True, kw_only=True)
class GamesReport(TrialCounts):
    """Results of a trial's games: the differences in outcome, with traps minus without."""

    guard: RandomisationCheck
    """The randomisation check for the games' results."""
    score: EndpointReport
    """The endpoint of our score (1, 1/2 or 0)."""
    elo: EloDifference
    unjudged: int
    """Number of games that the judge has yet to judge; the costs end before the first of them."""
    cost_guard: RandomisationCheck
    """The randomisation check for games with a judged reply."""
    cost: EndpointReport
    """The endpoint of the mean cost per judged reply."""
    strata: tuple[StratumResult, ...]
    """The strata, the largest first; the intervals are not simultaneous."""

    def to_json(self) -> dict[str, Any]:
        """The results as plain JSON values; premature estimates are hidden
        (`storage.evidence.inference.trial`)."""
        fields = asdict(self)
        for guard, of, outcome in (("guard", self.guard, "score"), ("cost_guard", self.cost_guard, "cost")):
            fields[guard]["broken"] = list(of.broken)
            why = of.no_comparison
            hide_early(fields[outcome], why)
            for stratum in fields["strata"]:
                hide_early(stratum[outcome], why)
            hide_early(fields[guard])
        fields["elo"]["too_early"] = is_early = fields["score"]["estimate"]["too_early"]
        if is_early:
            fields["elo"] |= dict.fromkeys(("value", "low", "high"))
        return fields


def prediction(outcome: Floats, expected: Floats, strata: Codes) -> Floats:
    """Return m, the expected outcome corrected by the mean residual of earlier games in the stratum.

    Args:
        outcome: Y in the order of random assignment, shape (n,).
        expected: e, shape (n,).
        strata: Each game's stratum, shape (n,).

    Returns:
        The predictions m, from 0 to 1, shape (n,).
    """
    residual = earlier_sums(outcome - expected, strata)
    return np.clip(expected + residual / (earlier_counts(strata) + _PRIOR_GAMES), 0.0, 1.0)


def expected_score(rating: Floats, our_rating: Floats) -> Floats:
    """Our expected score by Elo's formula from the ratings before each game (1/2 if unrated), shape (n,)."""
    expected = 1 / (1 + 10 ** ((rating - our_rating) / 400))
    return np.where(np.isnan(expected), 0.5, expected)


def games_report_and_interim(
    games: TrialGames, terms: TrialTerms, at: datetime, flags: Flags = MappingProxyType({})
) -> tuple[GamesReport, InterimAnalyses]:
    """The current results of a trial's games, and the difference in score after each game that counts.

    Games are in the order of their random assignment; the last interim analysis agrees with the report.

    Args:
        games: All games randomly assigned to one of the trial's two strategies.
        terms: The trial's design.
        at: The current time, with a time zone.
        flags: Flags of suspect games; flagged games count, but a separate line of the report excludes them.

    Raises:
        ValueError: `at` has no time zone.
    """
    drawn = drawn_rows(games.rows, terms, at)
    scored, costed = drawn.for_outcome("score"), drawn.judged().for_outcome("cost")
    design = terms.design(terms.planned_games)
    score_rows, cost_rows = (_Counted.of(each.counted, games.kinds) for each in (scored, costed))
    guess, score_psi = _score_values(score_rows)
    cost_psi = _cost_values(cost_rows)
    score = endpoint(score_psi, score_rows.games, _is_first(scored), flags, design)
    report = GamesReport(
        **scored.counts,
        guard=randomisation_check(scored, design),
        score=score,
        elo=_elo(score.estimate, guess),
        unjudged=drawn.unjudged,
        cost_guard=randomisation_check(costed, design),
        cost=endpoint(cost_psi, cost_rows.games, _is_first(costed), flags, design),
        strata=_strata(score_rows, score_psi, cost_rows, cost_psi, design),
    )
    return report, interim_analyses(score_psi, score_rows.games["person"], design)


@dataclass(frozen=True, slots=True)
class _Counted:
    """The games that count for an endpoint."""

    games: Units
    strata: Codes
    """Index of each game's stratum."""
    names: Sequence[Stratum]
    """The strata."""

    @classmethod
    def of(cls, games: Units, kinds: Sequence[GameKind]) -> "_Counted":
        bands = np.where(np.isnan(games["rating"]), _UNRATED, games["rating"] // BAND_WIDTH)
        pairs = games["kind"] + len(kinds) * bands.astype(np.int64)
        names = []
        for pair in np.unique(pairs).tolist():
            band, kind = divmod(pair, len(kinds))
            least = None if band == _UNRATED else band * BAND_WIDTH
            names.append(Stratum(**kinds[kind]._asdict(), rating_from=least))
        return cls(games, codes_of(pairs), names)


def _score_values(rows: _Counted) -> tuple[Floats, Floats]:
    """The predictions m and the values psi for the score."""
    games = rows.games
    guess = prediction(games["score"], expected_score(games["rating"], games["our_rating"]), rows.strata)
    return guess, (games["score"] - guess) * contrast(games["treated"], games["probability"])


def _cost_values(rows: _Counted) -> Floats:
    """The values psi for the cost. Ratings do not predict a cost, so the expectation e is the mean cost of
    earlier games in all strata."""
    games = rows.games
    everywhere = np.zeros(len(games), np.intp)
    expected = prediction(games["cost"], np.zeros(len(games)), everywhere)
    guess = prediction(games["cost"], expected, rows.strata)
    return np.asarray((games["cost"] - guess) * contrast(games["treated"], games["probability"]))


def _is_first(selection: CountedRows) -> NDArray[np.bool_]:
    """For each row that counts, whether it is the first row of its person."""
    is_first = earlier_counts(codes_of(selection.rows["person"])) == 0
    return np.asarray(is_first[~selection.missing])


def _elo(score: AnyTimeEstimate, guess: Floats) -> EloDifference:
    per_elo = float((guess * (1 - guess)).mean()) / _ELO_PER_LOGIT if len(guess) else 0.0
    if per_elo == 0:
        return EloDifference(None, None, None, 0.0)
    value, low, high = (
        None if limit is None else limit / per_elo for limit in (score.mean, score.low, score.high)
    )
    return EloDifference(value, low, high, per_elo)


def _strata(
    score_rows: _Counted, score_psi: Floats, cost_rows: _Counted, cost_psi: Floats, design: SequenceDesign
) -> tuple[StratumResult, ...]:
    def results(rows: _Counted, psi: Floats) -> dict[Stratum, AnyTimeEstimate]:
        estimates_of = estimates(psi, codes_of(rows.games["person"]), rows.strata, len(rows.names), design)
        return dict(zip(rows.names, estimates_of, strict=True))

    nothing = estimate([], [], design)
    scored, costed = results(score_rows, score_psi), results(cost_rows, cost_psi)
    both = [
        StratumResult(stratum, scored.get(stratum, nothing), costed.get(stratum, nothing))
        for stratum in scored | costed
    ]
    return tuple(sorted(both, key=lambda result: (-result.score.n, str(result.stratum))))
