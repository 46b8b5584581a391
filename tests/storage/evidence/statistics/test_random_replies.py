"""Somebody who replies at random: randomised decisions show a trap's difficulty, and nothing beyond it."""

import random
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from fractions import Fraction
from functools import cache
from math import lcm
from typing import Any

import pytest

from engine.decision import Decision
from engine.expected import WHOLE, expected_score
from engine.figure_9 import decision_verdicts, expected_scale_centi
from engine.games import get_rules
from engine.move_chooser import MoveChooser
from engine.params import RandomisedParams, TrapParams
from engine.randomised import MIN_REPLIES
from engine.search.searchers import make_searcher
from engine.stop import StopFlag
from engine.strategies.registry import strategy_named
from engine.time_management import Limits
from engine.verification import verify
from storage.evidence.inference.decisions import TrialDecision, decisions_report
from storage.evidence.inference.trial import Exclusion, TrialTerms
from storage.evidence.statistics.trial_rows import trial_decision

NOON = datetime(2026, 11, 25, 12, tzinfo=UTC)
MINUTE = timedelta(minutes=1)


@cache
def searched_draws() -> tuple[tuple[Decision, Decision], ...]:
    """randomised decisions at random positions of Othello, each drawn for the trap and against it."""
    rng, rules, found = random.Random(5), get_rules("othello"), []
    trap, params = TrapParams(threshold_percent=1), RandomisedParams(budget_percent=5)
    player = MoveChooser(
        strategy_named("randomised"), rules, trap, make_searcher("othello", 1), randomised=params
    )
    for _ in range(150):
        position: Any = rules.initial()
        for _ in range(rng.randrange(8, 34)):
            moves = rules.legal_moves(position)
            position = rules.play(position, rng.choice(moves)) if moves else position
        if not rules.legal_moves(position):
            continue
        for_trap = player.choose(position, Limits(4), StopFlag(), seed=0)
        if for_trap.trial_draw is not None:
            against = player.choose(position, Limits(4), StopFlag(), seed=(1 << 64) - 1)
            found.append((for_trap, against))
    return tuple(found)


def row_of(made: Decision, reply: str) -> TrialDecision:
    """The judge agrees with our search."""
    return trial_decision(
        made,
        None,
        reply,
        decision_verdicts(made).of(reply).cost / WHOLE,
        is_unjudged=False,
        decision_id=1,
        game_id=1,
        person=1,
        games_before=0,
        drawn_at=NOON,
        settled_at=NOON + MINUTE,
        excluded=Exclusion.NONE,
    )


def exact(number: float, denominator: int) -> Fraction:
    """The fraction with at most this denominator that a float stands for."""
    found = Fraction(number).limit_denominator(denominator)
    assert float(found) == pytest.approx(number, rel=1e-14)
    return found


def by_hand(made: Decision) -> list[Fraction]:
    """The cost of each reply, from the scores alone."""
    scale = expected_scale_centi(made)
    best = min(reply.final_centi for reply in made.chosen.replies)
    ours = expected_score(best, scale)
    return [Fraction(expected_score(each.final_centi, scale) - ours, WHOLE) for each in made.chosen.replies]


def test_whoever_moves_at_random_shows_nothing_beyond_difficulty_in_either_arm() -> None:
    """Over all replies, equally likely, in whole numbers: no sampling and no rounding."""
    pairs = searched_draws()
    assert len(pairs) >= 5
    for pair in pairs:
        assert [made.move for made in pair] == [pair[0].trial_draw.trap, pair[0].trial_draw.control]  # type: ignore[union-attr]
        assert len({len(reply.scores_centi) for made in pair for reply in made.chosen.replies}) == 1
        for made, is_trap in zip(pair, (True, False), strict=True):
            verify(made)
            rows = [row_of(made, reply.reply) for reply in made.chosen.replies]
            assert {row.treated for row in rows} == {is_trap}
            (mean,) = {row.mean_trap if is_trap else row.mean_control for row in rows}
            difficulty = exact(mean, WHOLE * len(rows))
            costs = [exact(row.own_cost, WHOLE) for row in rows if row.own_cost is not None]
            assert costs == by_hand(made)
            assert len(costs) >= MIN_REPLIES
            assert sum(cost - difficulty for cost in costs) == 0
            assert max(costs) > difficulty


def test_a_report_on_somebody_who_moves_at_random() -> None:
    """Both arms of every decision, each reply as often as any other: a trap is harder, and that is all."""
    rows: list[TrialDecision] = []
    harder = []
    for pair in searched_draws():
        times = lcm(*(len(made.chosen.replies) for made in pair))
        for made in pair:
            for reply in made.chosen.replies:
                row = row_of(made, reply.reply)
                for _ in range(times // len(made.chosen.replies)):
                    key = len(rows)
                    rows.append(replace(row, decision_id=key, game_id=key, person=key))
        harder += [row.mean_trap - row.mean_control] * times
    terms = TrialTerms(least_values=10, least_persons=2.0)
    report = decisions_report(rows, terms, NOON + timedelta(days=1))
    assert report.counted == len(rows) == 2 * len(harder)
    beyond = report.beyond_difficulty
    assert (beyond.any_time.estimate.mean, beyond.fixed.value) == pytest.approx((0, 0), abs=1e-12)
    assert report.cost.any_time.estimate.mean == pytest.approx(sum(harder) / len(harder), abs=1e-12)
    assert sum(harder) / len(harder) > 0.001
