"""Replies that fall for traps (Figure 9), compared with other replies of the same cost."""

from bisect import bisect_right
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import lru_cache
from typing import Any, NamedTuple, Self

import numpy as np
from numpy.typing import NDArray

from bot.match.conditions import Terms
from bot.match.openings import random_opening
from bot.match.play import GameTask, MatchGameRecord, play
from engine.decision import Decision, OutcomeKind
from engine.expected import WHOLE
from engine.figure_9 import MIN_ERROR_COST, ReplyVerdict, classify_by_figure_9, decision_verdicts
from engine.params import TrapParams
from lab.analysis.analysis_runner import analysed
from lab.analysis.measures import PersonShare, person_share
from lab.analysis.persons import is_person
from lab.analysis.recorded_games import AnsweredMove
from lab.analysis.reply_profiles import ProfileTask, profile
from lab.analysis.trap_counts import decision_of
from lab.experiments.estimates_text import MeanEstimate, without_interval
from lab.experiments.experiment import Result
from lab.experiments.given_games import DEPTHS, given_games, sample_of
from storage.evidence.inference.calibration import hide_with_few_persons
from storage.evidence.inference.fixed import FixedInterval, fixed_mean, leave_one_out

Floats = NDArray[np.float64]
Bools = NDArray[np.bool_]

KINDS = tuple(OutcomeKind)
MIN_TRAP_COST = TrapParams().threshold_percent / 100
"""Minimum cost, in expected score, of a reply that counts as a trap."""
BAND_MIN_COSTS = tuple(MIN_TRAP_COST * 2 ** (step / 2) for step in range(9))
"""Lower bounds of the cost bands; each is 1.41 times the previous one."""
_DIGITS = 6


class TrapReply(NamedTuple):
    """A reply to one of our moves that left at least two legal replies; fractions and costs are in [0, 1]."""

    kind: int
    """Index into `KINDS`."""
    is_trap: int
    """1 if our move set a trap."""
    is_decided: int
    """1 if our move led to a forced win or loss."""
    fell_for_best: int
    erred: int
    """1 if the reply cost a tenth of expected score or more."""
    random_optimal: float
    """A random mover's rate of optimal replies; the next two fields are analogous."""
    random_fell: float
    random_erred: float
    band: int
    """Index into `BAND_MIN_COSTS` of the reply's cost band; -1 if the reply cost too little for any band."""
    traps: int
    """Number of traps and number of other replies in this band; 0 if there is no band."""
    others: int
    traps_cost: float
    """Mean costs of the traps and of the other replies in this band; 0 if there are none."""
    others_cost: float
    traps_by_band: list[int]
    """For each band, the numbers of traps and of other replies among all legal replies."""
    others_by_band: list[int]


def trap_reply(decision: Decision, reply: str | None) -> TrapReply | None:
    """Judge a reply in the same way as in the bot's own games; None if there was only one reply, or the
    profile is incomplete.

    Args:
        reply: The reply played; None if the game ended before a reply.
    """
    if not decision.chosen.is_whole or len(decision.chosen.replies) < 2:
        return None
    outcome, verdicts = classify_by_figure_9(decision, reply), decision_verdicts(decision)
    by_band = [_in_band(verdicts.replies, band) for band in range(len(BAND_MIN_COSTS))]
    traps = [[each for each in some if verdicts.is_paper_trap(each)] for some in by_band]
    others = [[each for each in some if not verdicts.is_paper_trap(each)] for some in by_band]
    band = -1 if outcome.reply is None else _band(verdicts.of(outcome.reply))
    count = len(verdicts.replies)
    return TrapReply(
        kind=KINDS.index(outcome.kind),
        is_trap=int(verdicts.is_trap),
        is_decided=int(verdicts.is_decided),
        fell_for_best=int(outcome.fell_for_best),
        erred=int(outcome.cost >= MIN_ERROR_COST),
        random_optimal=round(sum(each.is_best for each in verdicts.replies) / count, _DIGITS),
        random_fell=round(sum(map(verdicts.is_paper_trap, verdicts.replies)) / count, _DIGITS),
        random_erred=round(sum(each.cost >= MIN_ERROR_COST for each in verdicts.replies) / count, _DIGITS),
        band=band,
        traps=len(traps[band]) if band >= 0 else 0,
        others=len(others[band]) if band >= 0 else 0,
        traps_cost=_mean_cost(traps[band]) if band >= 0 else 0.0,
        others_cost=_mean_cost(others[band]) if band >= 0 else 0.0,
        traps_by_band=[len(some) for some in traps],
        others_by_band=[len(some) for some in others],
    )


def _band(judged: ReplyVerdict) -> int:
    return bisect_right(BAND_MIN_COSTS, judged.cost / WHOLE) - 1


def _in_band(replies: Sequence[ReplyVerdict], band: int) -> list[ReplyVerdict]:
    return [each for each in replies if _band(each) == band]


def _mean_cost(replies: Sequence[ReplyVerdict]) -> float:
    costs = [each.cost / WHOLE for each in replies]
    return round(sum(costs) / len(costs), _DIGITS) if costs else 0.0


# --- Finding them ---------------------------------------------------------------------------------------


def recorded(game: str, folder: str, seed: int, first: int, count: int, most: int) -> Result:
    """Judge the replies to some of the sampled moves of recorded games; both players' moves are sampled.

    Args:
        folder: Folder with human games (`lab.experiments.given_games`).
        first: Index, within the sample, of the first move to judge.
        most: Size of the sample.

    Returns:
        One entry per reply: ``replies``, its `TrapReply`; ``groups``, who made it; ``games``, its game.
    """
    replies, groups, games = [], [], []
    for at, each in enumerate(_sample(game, folder, seed, most)[first : first + count]):
        task = ProfileTask(at, game, each.position, each.move, DEPTHS[game], None)
        candidate = analysed(0, each, profile(task)).candidate
        judged = trap_reply(decision_of(game, each.position, candidate, TrapParams()), each.reply)
        if judged is not None:
            replies.append(list(judged))
            groups.append(each.game.record.players[each.side])
            games.append(each.game.key)
    return {"replies": replies, "groups": groups, "games": games}


@lru_cache(maxsize=2)
def _sample(game: str, folder: str, seed: int, most: int) -> Sequence[AnsweredMove]:
    """The sampled moves; excludes games by programs, which WTHOR also contains."""
    games = [each for each in given_games(game, folder) if all(map(is_person, each.record.players))]
    return sample_of(games, game, most, seed)


def of_game(played: MatchGameRecord) -> list[TrapReply]:
    """Judge the replies to player A's moves."""
    moves = played.moves
    found = [
        trap_reply(decision, moves[ply + 1] if ply + 1 < len(moves) else None)
        for ply, decision in played.decisions
        if ply < len(moves) and moves[ply] == decision.move
    ]
    return [each for each in found if each is not None]


def of_pairs(terms: Terms, seed: int, first: int, pairs: int) -> Result:
    """Play pairs of games from random openings.

    Args:
        terms: The players, `a` being ours, and their limits.
        seed: Of the openings and the players.
        first: Index of the first pair.
        pairs: Number of pairs.

    Returns:
        ``replies``: the fields of each `TrapReply`; ``groups``: the index of each reply's opening;
        ``points``: our points in each game.
    """
    replies, groups, scores = [], [], []
    for at in range(2 * first, 2 * (first + pairs)):
        played = play(GameTask(terms, at, seed, random_opening(terms.game, seed, at // 2)))
        some = of_game(played)
        replies += [list(each) for each in some]
        groups += [at // 2] * len(some)
        scores.append(played.finished.points)
    return {"replies": replies, "groups": groups, "points": scores}


# --- Sums -----------------------------------------------------------------------------------------------


class TrapReplies:
    """Judged replies as columns, without replies in decided positions.

    Args:
        replies: The fields of each `TrapReply`, as a list.
        groups: The person or the opening of each reply, for clustering.
        games: Number of games.
    """

    def __init__(self, replies: Sequence[Sequence[Any]], groups: Sequence[Any], games: int) -> None:
        rows = [TrapReply(*each) for each in replies]
        self.kept = [at for at, each in enumerate(rows) if not each.is_decided]
        """Indices of the replies that are not in decided positions."""
        self.games = games
        self.rows = [rows[at] for at in self.kept]
        groups = [groups[at] for at in self.kept]
        numbers = {name: number for number, name in enumerate(dict.fromkeys(groups))}
        self.groups = np.array([numbers[name] for name in groups], np.int64)
        self.is_answered = self.column(lambda each: KINDS[each.kind] is not OutcomeKind.UNANSWERED) > 0
        self.is_trap = (self.column(lambda each: each.is_trap) > 0) & self.is_answered
        self.is_plain = ~self.is_trap & self.is_answered
        """Whether the reply answered a move that set no trap."""
        self.erred = self.column(lambda each: each.erred)
        self.random_erred = self.column(lambda each: each.random_erred)

    @classmethod
    def of_results(cls, parts: Sequence[Result]) -> Self:
        """Collect all replies from results of `recorded`."""
        return cls(
            [each for part in parts for each in part["replies"]],
            [each for part in parts for each in part["groups"]],
            len({each for part in parts for each in part["games"]}),
        )

    def column(self, value: Callable[[TrapReply], float]) -> Floats:
        """Return the values of one column, with one value per reply."""
        return np.array([value(each) for each in self.rows], np.float64)

    def is_kind(self, kind: OutcomeKind) -> Bools:
        """Mask of the replies of one kind."""
        return np.asarray(self.column(lambda each: KINDS[each.kind] is kind) > 0)

    @property
    def unanswered(self) -> int:
        """Number of our moves that set a trap and got no reply."""
        return int((self.column(lambda each: each.is_trap) * ~self.is_answered).sum())

    def share(self, hits: Bools, among: Bools) -> PersonShare:
        """A proportion with an interval clustered by group."""
        return person_share(hits[among], self.groups[among])

    def mean(self, values: Floats, among: Bools, alpha: float = 0.05) -> MeanEstimate:
        """A mean with an interval clustered by group."""
        return estimate(fixed_mean(values[among], self.groups[among], alpha))


@dataclass(frozen=True, slots=True)
class EqualCost:
    """How often an error was a trap, in positions with traps and other replies in the error's cost band."""

    fell: PersonShare
    random: float
    """Mean fraction of traps among the replies in the error's cost band."""
    beyond: MeanEstimate
    costlier: float
    """Mean cost of the traps minus mean cost of the other replies."""


def equal_cost(found: TrapReplies, alpha: float) -> EqualCost:
    """Compare traps with equally bad replies in the same positions.

    A player who chooses by cost alone plays replies of equal cost equally often, regardless of the position
    and of the number of such replies.

    Args:
        alpha: Error probability of the interval for `EqualCost.beyond`.
    """
    traps, others = found.column(lambda each: each.traps), found.column(lambda each: each.others)
    both = (traps > 0) & (others > 0) & found.is_answered
    fell = found.is_kind(OutcomeKind.FELL_FOR_PAPER_TRAP)
    chance = traps / np.maximum(1, traps + others)
    more = found.column(lambda each: each.traps_cost - each.others_cost)
    return EqualCost(
        found.share(fell, both),
        float(chance[both].mean()) if both.any() else 0.0,
        found.mean(fell - chance, both, alpha),
        float(more[both].mean()) if both.any() else 0.0,
    )


def by_band(found: TrapReplies) -> list[tuple[PersonShare, PersonShare]]:
    """For each cost band, how often traps and other replies in that band were played."""
    played_band = found.column(lambda each: each.band)
    fell = found.is_kind(OutcomeKind.FELL_FOR_PAPER_TRAP)
    rows = []
    for band in range(len(BAND_MIN_COSTS)):
        pair = []
        for name, of_kind in (("traps_by_band", fell), ("others_by_band", ~fell)):
            counts = np.array([getattr(each, name)[band] for each in found.rows], np.int64)
            counts = counts * found.is_answered
            hits = (played_band == band) & of_kind & (counts > 0)
            # One value for each legal reply in the band; at most one of them was played.
            ends = np.cumsum(counts)
            played = np.zeros(int(counts.sum()), bool)
            played[ends[hits] - 1] = True
            pair.append(person_share(played, np.repeat(found.groups, counts)))
        rows.append((pair[0], pair[1]))
    return rows


def estimate(found: FixedInterval) -> MeanEstimate:
    """Convert a `FixedInterval` for reports; below 30 effective groups there is no interval."""
    found = hide_with_few_persons(found)
    if found.value is None:
        return without_interval(0.0, 0)
    if found.low is None or found.high is None:
        return without_interval(found.value, found.n)
    return MeanEstimate(found.value, found.low, found.high, found.n)


def ratios_apart(above: Floats, below: Floats, alpha: float = 0.05) -> MeanEstimate:
    """The difference of two ratios of sums, with an interval from a jackknife over the openings.

    Args:
        above: Sums in the numerator, by opening and strategy, shape (openings, 2).
        below: Sums in the denominator, same shape.

    Returns:
        The second strategy's ratio minus the first's.
    """
    top, bottom = above.sum(axis=0), below.sum(axis=0)
    counts = below.sum(axis=1)
    if not bottom.all():
        return estimate(leave_one_out(None, counts[:0], counts[:0], alpha))
    with np.errstate(invalid="ignore", divide="ignore"):
        without = (top - above) / (bottom - below)
    value = top / bottom
    return estimate(leave_one_out(float(value[1] - value[0]), without[:, 1] - without[:, 0], counts, alpha))
