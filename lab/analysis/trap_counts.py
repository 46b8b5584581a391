"""Counts replies as in Figure 9, and compares how often traps and equally bad replies are played."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import pairwise

import numpy as np
from numpy.typing import NDArray

from engine.decision import Candidate, Decision, OutcomeKind
from engine.figure_9 import ReplyVerdicts, classify_by_figure_9, reply_verdicts
from engine.params import Assessment, Scale, TrapParams
from engine.trappy import reply_quality
from lab.analysis.measures import Estimate, PersonShare, estimate_of, person_share
from lab.analysis.population import Population
from storage.evidence.inference.fixed import fixed_ratio

LOSS_STEPS = (0.05, 0.10, 0.20, 0.40, 1.0 + 1e-9)


@dataclass(frozen=True, slots=True)
class Figure9:
    """People's replies to the traps in the positions, whether or not the traps were intended."""

    trap: str
    """Name of the trap definition (`trap_kinds`)."""
    set: int
    optimal: PersonShare
    fell: PersonShare
    fell_for_best: PersonShare
    elsewhere: PersonShare
    plain_optimal: PersonShare
    """The base rate: share of optimal replies to moves that set no trap."""
    expected: dict[str, Estimate]
    """Expected falls divided by actual falls, keyed by model name."""


@dataclass(frozen=True, slots=True)
class Temptation:
    """How often traps and other replies of about the same cost are played."""

    low: float
    high: float
    """Upper bound on the cost, in expected score; `low` is the lower bound."""
    trap: PersonShare
    other: PersonShare


def trap_kinds(threshold_percent: float) -> dict[str, TrapParams]:
    """The trap definitions, keyed by their names in the reports."""
    kinds = {
        f"paper, {kind.value}": TrapParams(assessment=kind, threshold_percent=threshold_percent)
        for kind in Assessment
    }
    kinds["expected score, median"] = TrapParams(scale=Scale.EXPECTED, threshold_percent=threshold_percent)
    return kinds


def _filled(people: Population, params: TrapParams) -> list[TrapParams]:
    """The trap parameters for each position, with its own logistic function if the scale requires one."""
    return [params.for_position(stored.found.logistic_centi) for stored in people.positions]


def trap_qualities(people: Population, params: TrapParams) -> NDArray[np.float64]:
    """The quality of each reply as a trap."""
    found: list[float] = []
    for stored, filled in zip(people.positions, _filled(people, params), strict=True):
        raw = stored.found.candidate.raw_centi
        found += [reply_quality(reply.scores_centi, raw, filled) for reply in stored.found.replies]
    return np.array(found)


def verdicts_of(people: Population, params: TrapParams) -> list[ReplyVerdicts]:
    """The verdicts on the replies in each position."""
    return [
        reply_verdicts(each.found.candidate, params, each.found.logistic_centi) for each in people.positions
    ]


def falls(judged: Sequence[ReplyVerdicts]) -> NDArray[np.bool_]:
    """Whether each reply counts as falling into a trap."""
    return np.array([each.is_paper_trap(reply) for each in judged for reply in each.replies], np.bool_)


def figure9(
    people: Population,
    name: str,
    params: TrapParams,
    judged: Sequence[ReplyVerdicts],
    probabilities: Mapping[str, NDArray[np.float64]],
) -> Figure9:
    """The counts of Figure 9 under one trap definition.

    Args:
        name: Name of the trap definition.
        judged: The verdicts of every position under that definition.
        probabilities: Each model's probabilities for the replies, keyed by model name.
    """
    outcomes = []
    for stored, filled in zip(people.positions, _filled(people, params), strict=True):
        decision = decision_of(people.game.name, stored.found.position, stored.found.candidate, filled)
        outcomes.append(classify_by_figure_9(decision, stored.found.reply))
    is_set = np.array([each.is_trap for each in judged], np.bool_)
    persons = people.persons

    def count(hits: Sequence[bool], among: NDArray[np.bool_]) -> PersonShare:
        return person_share(np.array(hits, np.bool_)[among], persons[among])

    is_optimal = [outcome.kind is OutcomeKind.OPTIMAL for outcome in outcomes]
    fell = [outcome.kind is OutcomeKind.FELL_FOR_PAPER_TRAP for outcome in outcomes]
    elsewhere = [outcome.kind is OutcomeKind.ERRED_ELSEWHERE for outcome in outcomes]
    could_fall = falls(judged)
    return Figure9(
        name,
        int(is_set.sum()),
        count(is_optimal, is_set),
        count(fell, is_set),
        count([outcome.fell_for_best for outcome in outcomes], is_set),
        count(elsewhere, is_set),
        count(is_optimal, ~is_set),
        {
            model: estimate_of(fixed_ratio(people.sums(np.where(could_fall, p, 0.0)), fell, persons))
            for model, p in probabilities.items()
            if any(fell)
        },
    )


def decision_of(game: str, position: str, candidate: Candidate, params: TrapParams) -> Decision:
    """Create a decision for this move, as input to `classify_by_figure_9`."""
    return Decision(
        game=game,
        position=position,
        strategy="standard",
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


def temptation(people: Population, is_trap: NDArray[np.bool_]) -> tuple[Temptation, ...]:
    """How often traps and other replies of about the same cost are played, by cost.

    Args:
        is_trap: Whether each reply is a trap.
    """
    played, persons = people.is_played, people.persons[people.of_position]
    tempted = []
    for low, high in pairwise(LOSS_STEPS):
        inside = (people.loss >= low) & (people.loss < high)
        traps, others = (
            person_share(played[some], persons[some]) for some in (inside & is_trap, inside & ~is_trap)
        )
        tempted.append(Temptation(low, min(high, 1.0), traps, others))
    return tuple(tempted)
