"""Simulates persons, results and replies of trials; persons with many games are more likely to play again.

The true effect in the population is known exactly in every simulation: effects that differ by person are
symmetric about 0, or are averaged by quadrature.
"""

from collections.abc import Callable
from dataclasses import dataclass
from enum import StrEnum
from math import log, pi, sqrt
from typing import Any

import numpy as np
from numpy.typing import NDArray

from storage.evidence.inference.decisions import predicted_cost
from storage.evidence.inference.defaults import CAP_GAMES
from storage.evidence.inference.games import prediction
from storage.evidence.inference.persons import Codes, Floats, codes_of, earlier_counts
from storage.evidence.inference.trial import contrast
from storage.evidence.rating_bands import BAND_WIDTH

NEW_SHARE = 0.3
"""Probability that a game is a person's first."""
DRAWS = 0.1
RATING_NOISE = 80.0
"""Standard deviation of a rating around the person's true strength, in rating points."""
_ELO_PER_LOGIT = 400 / log(10)


def returning(
    games: int, rng: np.random.Generator, new_share: float = NEW_SHARE, most: int | None = None
) -> Codes:
    """Randomly choose the person of each game: a new person, or an earlier one weighted by number of games.

    Args:
        games: Number of games.
        rng: Random generator.
        new_share: Probability of a new person; if it is 1, each person plays one game.
        most: Maximum number of persons.
    """
    new = rng.random(games) < new_share
    earlier = (rng.random(games) * np.arange(games)).astype(int).tolist()
    who: list[int] = []
    persons = 0
    for game, is_new in enumerate(new.tolist()):
        if game == 0 or (is_new and (most is None or persons < most)):
            who.append(persons)
            persons += 1
        else:
            who.append(who[earlier[game]])
    return np.array(who, np.intp)


def within_cap(persons: Codes, cap: int | None = CAP_GAMES) -> NDArray[np.bool_]:
    """Mask of the games that count: the first `cap` games of each person, or all games if `cap` is None."""
    return np.ones(len(persons), bool) if cap is None else earlier_counts(persons) < cap


@dataclass(frozen=True, slots=True, kw_only=True)
class GamePlan:
    """A trial of games in which trappy and standard score equally on average."""

    score: float = 0.65
    """Our expected score against a person of mean strength."""
    skill_sd: float = 0.7
    """Standard deviation of persons' strengths, in logits."""
    effect_sd: float = 0.0
    """Standard deviation, in logits, of the effect of traps on a person; the mean effect is 0."""
    probabilities: tuple[float, ...] = (0.5,)
    """Possible probabilities of assignment to trappy; each game draws one of them uniformly."""
    new_share: float = NEW_SHARE
    most_persons: int | None = None
    cap: int | None = CAP_GAMES
    adjusted: bool = True
    """If true, the prediction m depends on ratings and earlier games, as in the program; else it is 1/2."""


@dataclass(frozen=True, slots=True)
class Values:
    """The values of one endpoint and their persons, as arrays of shape (n,), and the true value."""

    psi: Floats
    persons: Codes
    truth: float


def play_games(plan: GamePlan, games: int, rng: np.random.Generator) -> Values:
    """Simulate games and compute their psi, as defined in `storage.evidence.inference.games`."""
    persons = returning(games, rng, plan.new_share, plan.most_persons)
    persons = persons[within_cap(persons, plan.cap)]
    n, count = len(persons), int(persons.max()) + 1
    skill, effect = rng.normal(0, plan.skill_sd, count), rng.normal(0, plan.effect_sd, count)
    probability = rng.choice(plan.probabilities, n)
    treated = rng.random(n) < probability
    # Half of the effect for trappy and half, reversed, for standard: its mean is 0 at every score.
    mean_logit = log(plan.score / (1 - plan.score))
    logit = mean_logit - skill[persons] + np.where(treated, 0.5, -0.5) * effect[persons]
    expected = 1 / (1 + np.exp(-logit))
    draws = np.minimum(DRAWS, np.minimum(expected, 1 - expected))
    uniform = rng.random(n)
    wins = expected - draws / 2
    outcome = np.where(uniform < wins, 1.0, np.where(uniform < wins + draws, 0.5, 0.0))
    guess = np.full(n, 0.5)
    if plan.adjusted:
        rating = 1500 + _ELO_PER_LOGIT * skill + rng.normal(0, RATING_NOISE, count)
        above = 1500 + _ELO_PER_LOGIT * mean_logit - rating[persons]
        by_rating = 1 / (1 + np.exp(-above / _ELO_PER_LOGIT))
        guess = prediction(outcome, by_rating, codes_of(rating[persons] // BAND_WIDTH))
    return Values((outcome - guess) * contrast(treated, probability), persons, 0.0)


@dataclass(frozen=True, slots=True, kw_only=True)
class FallPlan:
    """Traps answered by persons who fall more or less often than the people model predicts."""

    person_sd: float
    """Standard deviation of persons' differences from the model, in logits."""
    shift: float = 0.0
    """Mean of persons' differences from the model, in logits."""
    traps_per_game: float = 5.0
    """Mean number of answered traps per game, Poisson distributed."""
    cap: int | None = CAP_GAMES


@dataclass(frozen=True, slots=True)
class Falls:
    """Answered traps as arrays of shape (n,), in order, and the true values in the population."""

    fell: NDArray[np.bool_]
    model: Floats
    persons: Codes
    share: float
    """True proportion of falls."""
    beyond: float
    """True proportion of falls minus the proportion that the model predicts."""


_MODEL_FALLS = np.array([0.05, 0.1, 0.2, 0.3, 0.45, 0.6])
"""Possible values of the model's probability of a fall; each decision draws one uniformly."""


def falls(plan: FallPlan, games: int, rng: np.random.Generator) -> Falls:
    """Simulate answers to traps."""
    played = returning(games, rng)
    played = played[within_cap(played, plan.cap)]
    persons = np.repeat(played, rng.poisson(plan.traps_per_game, len(played)))
    model = rng.choice(_MODEL_FALLS, len(persons))
    own = rng.normal(plan.shift, plan.person_sd, int(played.max()) + 1)[persons]
    probability = 1 / (1 + np.exp(-np.log(model / (1 - model)) - own))
    share = mean_over_persons(
        lambda off: float((1 / (1 + np.exp(-np.log(_MODEL_FALLS / (1 - _MODEL_FALLS)) - off))).mean()),
        plan.shift,
        plan.person_sd,
    )
    fell = rng.random(len(persons)) < probability
    return Falls(fell, model, persons, share, share - float(_MODEL_FALLS.mean()))


def mean_over_persons(of: Callable[[float], float], mean: float, sd: float) -> float:
    """The mean of a function of a normal variable, by Gauss-Hermite quadrature with 40 points."""
    points, weights = np.polynomial.hermite_e.hermegauss(40)
    values = np.array([of(mean + sd * point) for point in points])
    return float((weights * values).sum() / sqrt(2 * pi))


class Kind(StrEnum):
    """How simulated persons choose a reply."""

    UNIFORM = "uniform-random"
    """All replies are equally likely."""
    GREEDY = "greedy"
    """The reply with the best shallow score."""
    SHALLOW = "shallow"
    """Replies with good shallow scores are more likely."""
    MODEL = "model"
    """A bait is taken with a probability equal to the susceptibility; otherwise the people model chooses."""


_REPLIES = 8
_PAIRS = 400
_GLANCE_ERROR = 0.08
_SHALLOW_SCALE = 0.05
_MODEL_SCALE = 0.06
SUSCEPTIBILITY = 0.2
"""Mean probability that persons of kind `MODEL` take a bait, regardless of its cost."""


@dataclass(frozen=True, slots=True, eq=False)
class Pairs:
    """Pairs of positions: after the move that sets a trap (index 1) and after the other move (index 0).

    Arrays have the shape (pairs, 2, replies) unless stated otherwise.
    """

    cost: Floats
    """Cost of each reply; the best costs 0."""
    kinds: dict[Kind, Floats]
    """Probability of each reply for each kind of person; the probabilities for `MODEL` ignore
    susceptibility.
    """
    bait: NDArray[np.bool_]
    """Mask of the reply that takes the bait; all False after the move without a trap."""
    given_up: Floats
    """The other move's value minus the value of the move that sets a trap, shape (pairs,)."""

    @property
    def expected(self) -> Floats:
        """The people model's expected cost at mean susceptibility, shape (pairs, 2)."""
        return mean_cost(self, self.probabilities(Kind.MODEL, SUSCEPTIBILITY))

    def probabilities(self, kind: Kind, susceptibility: float = 0.0) -> Floats:
        """Each reply's probability for persons of a kind and susceptibility."""
        p = self.kinds[kind]
        if kind is not Kind.MODEL:
            return p
        taken = np.where(self.bait.any(axis=2, keepdims=True), susceptibility, 0.0)
        return np.asarray((1 - taken) * p + taken * self.bait)


def mean_cost(pairs: Pairs, probabilities: Floats) -> Floats:
    """The mean cost of a reply, shape (pairs, 2)."""
    return np.asarray((pairs.cost * probabilities).sum(axis=2))


def make_pairs(rng: np.random.Generator) -> Pairs:
    """Generate random positions; after a trap, replies cost more and the bait has the best shallow score."""
    shape = (_PAIRS, 2, _REPLIES)
    cost = np.minimum(rng.exponential(0.12, shape), 0.9)
    cost[:, 1] = np.minimum(cost[:, 1] * 1.4, 0.9)
    cost[:, :, 0] = 0.0
    bait = np.zeros(shape, bool)
    bait[:, 1, 1] = True
    cost[:, 1, 1] = rng.uniform(0.1, 0.4, _PAIRS)
    interim_analyses = -cost + rng.normal(0, _GLANCE_ERROR, shape)
    interim_analyses[:, 1, 1] = interim_analyses[:, 1].max(axis=1) + 0.01
    kinds = {
        Kind.UNIFORM: np.full(shape, 1 / _REPLIES),
        Kind.GREEDY: (interim_analyses == interim_analyses.max(axis=2, keepdims=True)).astype(np.float64),
        Kind.SHALLOW: _softmax(interim_analyses / _SHALLOW_SCALE),
        Kind.MODEL: _softmax(-cost / _MODEL_SCALE),
    }
    return Pairs(cost, kinds, bait, rng.uniform(-0.02, 0.02, _PAIRS))


def _softmax(utilities: Floats) -> Floats:
    probabilities = np.exp(utilities - utilities.max(axis=2, keepdims=True))
    return np.asarray(probabilities / probabilities.sum(axis=2, keepdims=True))


@dataclass(frozen=True, slots=True, kw_only=True)
class DecisionPlan:
    """A micro-randomised trial."""

    kind: Kind = Kind.MODEL
    susceptibility_sd: float = 0.0
    """Standard deviation of susceptibility, which has a beta distribution with mean `SUSCEPTIBILITY`."""
    decisions_per_game: int = 6
    cap: int | None = CAP_GAMES


@dataclass(frozen=True, slots=True)
class Decisions:
    """Values of the three outcomes of `storage.evidence.inference.decisions`, and of falls beyond chance."""

    cost: Values
    beyond_difficulty: Values
    earned: Values
    fell_beyond_chance: Values


def decide(plan: DecisionPlan, pairs: Pairs, games: int, rng: np.random.Generator) -> Decisions:
    """Simulate decisions and the replies to them."""
    played = returning(games, rng)
    persons = np.repeat(played[within_cap(played, plan.cap)], plan.decisions_per_game)
    n, count = len(persons), int(persons.max()) + 1
    susceptibility = _susceptibilities(plan, count, rng)[persons]
    at = rng.integers(0, _PAIRS, n)
    treated = rng.random(n) < 0.5
    arm = treated.astype(int)
    reply = _draw(pairs.kinds[plan.kind][at, arm], rng)
    if plan.kind is Kind.MODEL:
        reply = np.where(treated & (rng.random(n) < susceptibility), 1, reply)
    cost = pairs.cost[at, arm, reply]
    fell = pairs.bait[at, arm, reply]
    x, everyone = pairs.expected[at].mean(axis=1), pairs.cost.mean(axis=2)[at]
    gap, mean_everyone = pairs.given_up[at], everyone.mean(axis=1)
    guess = predicted_cost(cost, x, persons)
    weight = contrast(treated, np.full(n, 0.5))
    # The beta distribution has this mean, and what a person does is linear in their susceptibility.
    truth = mean_cost(pairs, pairs.probabilities(plan.kind, SUSCEPTIBILITY))
    effect = float((truth[:, 1] - truth[:, 0]).mean())
    difficulty = pairs.cost.mean(axis=2)
    harder = float((difficulty[:, 1] - difficulty[:, 0]).mean())
    falling = float(pairs.probabilities(plan.kind, SUSCEPTIBILITY)[pairs.bait].mean())
    return Decisions(
        Values((cost - guess) * weight, persons, effect),
        Values(
            (cost - np.where(treated, everyone[:, 1], everyone[:, 0]) - guess + mean_everyone) * weight,
            persons,
            effect - harder,
        ),
        Values(
            (cost - treated * gap - guess + gap / 2) * weight, persons, effect - float(pairs.given_up.mean())
        ),
        Values(fell[treated] - 1 / _REPLIES, persons[treated], falling - 1 / _REPLIES),
    )


def _susceptibilities(plan: DecisionPlan, count: int, rng: np.random.Generator) -> Floats:
    if plan.susceptibility_sd == 0:
        return np.full(count, SUSCEPTIBILITY)
    spread = SUSCEPTIBILITY * (1 - SUSCEPTIBILITY) / plan.susceptibility_sd**2 - 1
    return rng.beta(SUSCEPTIBILITY * spread, (1 - SUSCEPTIBILITY) * spread, count)


def _draw(probabilities: Floats, rng: np.random.Generator) -> NDArray[Any]:
    """Choose one index at random for each row of probabilities."""
    below = np.cumsum(probabilities, axis=1) < rng.random(len(probabilities))[:, None]
    return np.asarray(np.minimum(below.sum(axis=1), probabilities.shape[1] - 1))
