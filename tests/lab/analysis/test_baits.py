"""Baits in made-up positions: which there are, who is expected to take them, and who did."""

from collections.abc import Sequence
from dataclasses import replace
from itertools import permutations
from typing import Any

import numpy as np
import pytest

from engine.decision import ModelInfo
from engine.game import WIN_CENTI
from engine.human.model import PEOPLE
from engine.judge import JUDGE_VERSION, ReplyCosts
from lab.analysis.analysed_games import StoredPosition
from lab.analysis.baits import (
    RANK_MODEL_NAME,
    BaitTable,
    Forecaster,
    bait_table,
    forecasters,
    judge_tasks,
    judged,
)
from lab.analysis.population import Population, population
from tests.engine.human.test_reply_probabilities import prior_over
from tests.lab.analysis.samples import REPLIES, costs_of, position
from tests.lab.analysis.test_study import TRAP, calibrated

NET = ModelInfo(PEOPLE, "net", "e" * 64)
HUMAN = (0.5, 0.3, 0.2)
PLAIN = ([0, 0, 0], [10, 10, 10], [20, 20, 20])  # nothing looks better than the best
BEST, BAIT, WORST = range(3)
"""The replies of `TRAP`, of which the second looks better than the first."""
COSTS = (0, 1900, 2300)


def people_of(scores: Sequence[Sequence[Sequence[int]]], played: Sequence[int], **changes: Any) -> Population:
    given = [
        replace(position(3 * at, each, reply, HUMAN), **changes)  # each of another game
        for at, (each, reply) in enumerate(zip(scores, played, strict=True))
    ]
    return population("othello", given, "net")


def table_of(people: Population, given: Sequence[Forecaster], *costs: ReplyCosts | None) -> BaitTable:
    """The table if replies cost this in each position, or in all of them."""
    each = list(costs) * (len(people.positions) if len(costs) == 1 else 1)
    return bait_table(people, judged(people, given, each), each)


def test_a_forecast_in_each_way_that_there_is() -> None:
    people = people_of([TRAP], [1])
    (looks,) = forecasters(people, None, None, None)
    assert looks.name == RANK_MODEL_NAME
    assert [made.name for made in forecasters(people, None, NET, None)] == ["net", RANK_MODEL_NAME]
    both = forecasters(people, calibrated(ln_p=1.0), NET, None)
    assert [made.name for made in both] == ["calibrated model", "net", RANK_MODEL_NAME]
    assert both[1].probabilities == pytest.approx(HUMAN)
    assert both[0].probabilities == pytest.approx(HUMAN, abs=1e-5)
    made = both[1].forecasts[0]
    assert made is not None
    assert made.baits == ()
    after = judged(people, both, [costs_of(*COSTS)])[1].forecasts[0]
    assert after is not None
    assert [(each.reply, each.p_reply, each.cost.cost) for each in after.baits] == [("f4", 0.3, 1900)]


def test_the_tilt_and_what_it_changes() -> None:
    people = people_of([TRAP], [1], time_control="180+2")
    found = forecasters(people, None, NET, prior_over(NET.sha256))
    assert [made.name for made in found] == ["net, tilted", "net", RANK_MODEL_NAME]
    assert [made.is_tilted for made in found] == [True, False, False]
    assert found[0].probabilities is not None
    assert found[0].probabilities.sum() == pytest.approx(1, abs=1e-5)
    assert found[0].probabilities.tolist() != pytest.approx(HUMAN, abs=1e-3)


@pytest.mark.parametrize("order", list(permutations(range(3))))
def test_replies_in_another_order_keep_their_own_probabilities(order: tuple[int, ...]) -> None:
    given = position(0, TRAP, 1, HUMAN)
    replies = tuple(given.found.replies[at] for at in order)
    human = tuple(HUMAN[at] for at in order)
    turned = replace(given, found=replace(given.found, replies=replies), human=human)
    (made, _) = forecasters(population("othello", [turned], "net"), None, NET, None)
    assert made.probabilities == pytest.approx(human)


def test_replies_that_the_rules_no_longer_allow() -> None:
    given = position(0, TRAP, 1, HUMAN)
    replies = given.found.replies
    illegal = replace(replies[0], reply="a1")
    odd = replace(given, found=replace(given.found, replies=(illegal, *replies[1:])))
    assert forecasters(population("othello", [odd], "net"), None, NET, None)[0].probabilities is None


def test_baits_offered_and_played() -> None:
    people = people_of([TRAP, TRAP, TRAP, PLAIN, TRAP], [BAIT, BEST, WORST, BAIT, BEST])
    table = table_of(people, forecasters(people, None, NET, None), costs_of(*COSTS))
    row = table.primary
    assert (row.model, row.people) == ("net", "all")
    assert (row.offered.count, row.offered.of, row.offered.persons) == (4, 5, 5)
    assert (row.played.count, row.played.of) == (1, 4)
    assert row.predicted == pytest.approx(0.3)
    assert row.ratio.value == pytest.approx(4 * 0.3 / 1)
    assert row.fell.count == 1
    assert {each.model for each in table.rows} == {"net", RANK_MODEL_NAME}
    assert (table.decided, table.judge_version) == (0, JUDGE_VERSION)
    assert (table.errors.count, table.errors.of) == (3, 5)
    assert table.mean_cost.value == pytest.approx((0.19 + 0.23 + 0.19) / 5)


@pytest.mark.parametrize(("cost", "is_bait"), [(1000, True), (999, False), (0, False)])
def test_what_a_bait_costs_is_the_judge_s_word(cost: int, is_bait: bool) -> None:
    """The scores alone say a fifth."""
    people = people_of([TRAP], [BAIT])
    table = table_of(people, forecasters(people, None, NET, None), costs_of(0, cost, 2300))
    assert table.primary.offered.count == is_bait


def test_the_bait_is_the_reply_of_the_greatest_probability_times_cost() -> None:
    both = ([-500, -500, 900], [-300, -400, 400], [0, 0, 0])
    people = people_of([both, both], [0, 1])
    forecasts = forecasters(people, None, NET, None)
    row = table_of(people, forecasts, costs_of(1000, 2000, 0)).primary  # .5 x .10 against .3 x .20
    assert (row.played.count, row.fell.count, row.predicted) == (1, 2, 0.3)
    row = table_of(people, forecasts, costs_of(1900, 2000, 0)).primary
    assert (row.played.count, row.fell.count, row.predicted) == (1, 2, 0.5)


def test_each_position_is_judged_once_for_all_forecasters() -> None:
    lost = ([-WIN_CENTI - 1] * 3, [-300, -400, 400], [500, 500, 500])
    people = people_of([TRAP, TRAP, lost], [BAIT, WORST, BAIT])
    tasks = judge_tasks(people, forecasters(people, None, NET, None))
    first, second, third = tasks
    assert third is None, "decided"
    assert first is not None
    assert second is not None
    assert (first.number, first.replies[0], set(first.replies)) == (0, "f4", {"d6", "f4"})
    assert (second.replies[0], set(second.replies)) == ("f6", set(REPLIES))
    assert first.decision.move == people.positions[0].found.move
    alone = judge_tasks(people, [])[0]
    assert alone is not None
    assert alone.replies == ("f4",)


def test_decided_positions_and_bands_of_ratings() -> None:
    lost = ([-WIN_CENTI - 1] * 3, [-300, -400, 400], [500, 500, 500])
    given = [
        replace(stored, found=replace(stored.found, rating=rating))
        for rating, stored in zip(
            (1000, 1400, None, 1400),
            people_of([TRAP, TRAP, PLAIN, lost], [1, 0, 0, 1]).positions,
            strict=True,
        )
    ]
    people = population("othello", given, "net")
    known = costs_of(*COSTS)
    table = table_of(people, forecasters(people, None, None, None), known, known, known, None)
    assert table.decided == 1
    assert table.errors.of == 3
    assert [(row.people, row.offered.count, row.offered.of) for row in table.rows] == [
        ("all", 2, 3),
        ("rated under 1300", 1, 1),
        ("rated 1300-1699", 1, 1),
        ("without a rating", 0, 1),
    ]
    assert table.rows[-1].predicted is None
    assert table.rows[-1].played.share is None


def test_nothing_is_said_of_decided_positions_alone() -> None:
    lost = ([-WIN_CENTI - 1] * 3, [-300, -400, 400], [500, 500, 500])
    people = people_of([lost], [0])
    table = table_of(people, forecasters(people, None, None, None), None)
    assert (table.primary.offered.share, table.errors.share) == (None, None)
    assert np.isnan(table.mean_cost.value)


def test_intervals_are_by_person() -> None:
    """Two persons who always do the same are two observations, however often they play: too few."""
    given: list[StoredPosition] = [
        replace(stored, name="Ann" if at % 2 else "Bob")
        for at, stored in enumerate(people_of([TRAP] * 40, [at % 2 for at in range(40)]).positions)
    ]
    people = population("othello", given, "net")
    row = table_of(people, forecasters(people, None, NET, None), costs_of(*COSTS)).primary
    assert (row.played.share, row.played.persons) == (0.5, 2)
    assert (row.played.low, row.played.high) == (None, None)
    alone = population("othello", [replace(each, name="") for each in given], "net")
    by_game = table_of(alone, forecasters(alone, None, NET, None), costs_of(*COSTS)).primary
    assert by_game.played.persons == 40
    assert by_game.played.low == pytest.approx(0.5 - 2.02 * 0.5 / np.sqrt(39), abs=0.01)
