"""Baits in made-up positions: who is expected to take them, who did, and which are confirmed."""

from collections.abc import Sequence
from dataclasses import replace
from itertools import permutations
from typing import Any

import numpy as np
import pytest

from engine.decision import ModelInfo
from engine.game import WIN_CENTI
from engine.games import get_rules
from engine.human.model import OTHELLO
from engine.stop import StopFlag, Stopped
from lab.analysis.analysed_games import StoredPosition
from lab.analysis.population import Population, population
from lab.analysis.tempting_replies import RANK_MODEL_NAME, bait_table, confirm_all, forecasters
from tests.engine.human.test_reply_probabilities import prior_over
from tests.lab.analysis.samples import MOVE, REPLIES, ROOT, position
from tests.lab.analysis.test_study import TRAP, calibrated

GAME = get_rules("othello")
AFTER = GAME.play(GAME.parse_position(ROOT), GAME.parse_move(GAME.parse_position(ROOT), MOVE))
CHILDREN = [GAME.play(AFTER, GAME.parse_move(AFTER, text)) for text in REPLIES]
NET = ModelInfo(OTHELLO, "net", "e" * 64)
HUMAN = (0.5, 0.3, 0.2)
PLAIN = ([0, 0, 0], [10, 10, 10], [20, 20, 20])  # nothing costs 10 %


def people_of(scores: Sequence[Sequence[Sequence[int]]], played: Sequence[int], **changes: Any) -> Population:
    given = [
        replace(position(3 * at, each, reply, HUMAN), **changes)  # each of another game
        for at, (each, reply) in enumerate(zip(scores, played, strict=True))
    ]
    return population("othello", given, "net")


class Scripted:
    """A searcher with a score for each position, which remembers the depths it was asked for."""

    source = "native"

    def __init__(self, after: int, *children: int) -> None:
        self.scores = dict(zip([AFTER, *CHILDREN], [after, *children], strict=True))
        self.nodes = 0
        self.depths: list[int] = []

    def search(self, position: Any, depth: int, alpha: int, beta: int, stop: StopFlag) -> int:
        assert alpha < beta
        assert isinstance(stop, StopFlag)
        self.nodes += 1
        self.depths.append(depth)
        score: int = self.scores[position]
        return score


class Endless(Scripted):
    """A searcher that reaches every limit."""

    def search(self, position: Any, depth: int, alpha: int, beta: int, stop: StopFlag) -> int:
        super().search(position, depth, alpha, beta, stop)
        self.nodes += 10**9
        raise Stopped


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
    assert [(each.reply, each.p_reply) for each in made.tempting] == [("f4", 0.3)]


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
    people = people_of([TRAP, TRAP, TRAP, PLAIN, TRAP], [1, 0, 2, 1, 0])
    table = bait_table(people, forecasters(people, None, NET, None), "not asked")
    row = table.primary
    assert (row.model, row.people, row.is_confirmed) == ("net", "all", False)
    assert (row.offered.count, row.offered.of, row.offered.persons) == (4, 5, 5)
    assert (row.played.count, row.played.of) == (1, 4)
    assert row.predicted == pytest.approx(0.3)
    assert row.ratio.value == pytest.approx(4 * 0.3 / 1)
    assert row.fell.count == 1
    assert {each.model for each in table.rows} == {"net", RANK_MODEL_NAME}
    assert (table.unconfirmed, table.unsearched, table.decided) == ("not asked", 0, 0)


def test_the_bait_is_the_reply_of_the_greatest_probability_times_cost() -> None:
    both = ([0, 0, 0], [-300, -400, 400], [-500, -500, 900])  # .3 x .19 against .2 x .36
    people = people_of([both, both], [1, 2])
    row = bait_table(people, forecasters(people, None, NET, None), "no").primary
    assert (row.played.count, row.fell.count, row.predicted) == (1, 2, 0.2)


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
    table = bait_table(people, forecasters(people, None, None, None), "no")
    assert table.decided == 1
    assert [(row.people, row.offered.count, row.offered.of) for row in table.rows] == [
        ("all", 2, 3),
        ("rated under 1300", 1, 1),
        ("rated 1300-1699", 1, 1),
        ("without a rating", 0, 1),
    ]
    assert table.rows[-1].predicted is None
    assert table.rows[-1].played.share is None


@pytest.mark.parametrize(("child", "is_confirmed"), [(400, True), (0, False)])
def test_baits_are_confirmed_two_plies_deeper(child: int, is_confirmed: bool) -> None:
    people = people_of([TRAP, PLAIN], [1, 0])
    searcher, done = Scripted(0, 0, child, 0), list[int]()
    found = confirm_all(people, forecasters(people, None, NET, None), searcher, done.append)
    assert searcher.depths == [5, 4]  # D is 4; once for both forecasters, and nothing where there is no bait
    assert sum(done) == 2
    table = bait_table(people, found, "")
    assert (table.primary.is_confirmed, table.primary.offered.count) == (True, int(is_confirmed))
    assert [(row.model, row.is_confirmed) for row in table.rows] == [
        ("net", True),
        (RANK_MODEL_NAME, True),
        ("net", False),
        (RANK_MODEL_NAME, False),
    ]
    loose = next(row for row in table.rows if not row.is_confirmed and row.model == "net")
    assert (loose.offered.count, loose.played.count) == (1, 1)
    assert table.unsearched == 0


def test_a_search_without_an_end_confirms_nothing() -> None:
    people = people_of([TRAP], [1])
    found = confirm_all(people, forecasters(people, None, NET, None), Endless(0, 0, 400, 0))
    table = bait_table(people, found, "")
    assert (table.unsearched, table.primary.offered.count) == (1, 0)


def test_intervals_are_by_person() -> None:
    """Two persons who always do the same are two observations, however often they play: too few."""
    given: list[StoredPosition] = [
        replace(stored, name="Ann" if at % 2 else "Bob")
        for at, stored in enumerate(people_of([TRAP] * 40, [at % 2 for at in range(40)]).positions)
    ]
    people = population("othello", given, "net")
    row = bait_table(people, forecasters(people, None, NET, None), "no").primary
    assert (row.played.share, row.played.persons) == (0.5, 2)
    assert (row.played.low, row.played.high) == (None, None)
    alone = population("othello", [replace(each, name="") for each in given], "net")
    by_game = bait_table(alone, forecasters(alone, None, NET, None), "no").primary
    assert by_game.played.persons == 40
    assert by_game.played.low == pytest.approx(0.5 - 2.02 * 0.5 / np.sqrt(39), abs=0.01)
