import json
from dataclasses import asdict, replace
from datetime import datetime, timedelta
from math import nan
from typing import Any

import numpy as np
import pytest

from storage.evidence.inference.any_time import estimate
from storage.evidence.inference.suspects import SuspectFlag
from storage.evidence.inference.trial import (
    CountedRows,
    Exclusion,
    TrialTerms,
    contrast,
    drawn_rows,
    endpoint,
    exclusion_of,
    hide_early,
    randomisation_check,
)
from tests.storage.evidence.inference.samples import NOW, START, Game, game, games_of

TERMS = TrialTerms()
NUMBERS = ("mean", "value", "sd", "low", "high", "e_value")
"""What an estimate says that is no count."""


def selected(rows: list[Game], at: datetime = NOW, terms: TrialTerms = TERMS) -> CountedRows:
    return drawn_rows(games_of(rows).rows, terms, at).for_outcome("score")


def ids(selection: CountedRows) -> list[int]:
    found: list[int] = selection.rows["id"].tolist()
    return found


def test_the_order_is_that_of_the_draw_not_of_the_end() -> None:
    late = game(1, settled_at=START + timedelta(days=5))
    assert ids(selected([game(2), late, game(3)])) == [1, 2, 3]
    same = START + timedelta(days=1)
    twins = [game(n, drawn_at=same, settled_at=NOW) for n in (9, 4)]
    assert ids(selected(twins, terms=TrialTerms(max_open_days=1000))) == [9, 4]


def test_nothing_counts_from_the_oldest_open_game_on() -> None:
    rows = [game(1), game(2, settled_at=None, score=None), game(3)]
    now = selected(rows, START + timedelta(days=2))
    assert ids(now) == [1]
    assert now.left_out["waiting"] == 2
    assert not now.missing.any()


def test_a_game_open_for_over_14_days_is_missing_and_stays_so() -> None:
    drawn = START + timedelta(hours=2)
    rows = [game(1), game(2, settled_at=None, score=None), game(3)]
    assert selected(rows, drawn + timedelta(days=14)).left_out["waiting"] == 2
    after = selected(rows, drawn + timedelta(days=14, seconds=1))
    assert ids(after) == [1, 2, 3]
    assert after.missing.tolist() == [False, True, False]
    late = [game(1), game(2, settled_at=drawn + timedelta(days=14, seconds=1)), game(3)]
    assert selected(late).missing.tolist() == [False, True, False]
    in_time = [game(1), game(2, settled_at=drawn + timedelta(days=14)), game(3)]
    assert not selected(in_time).missing.any()


def test_a_game_without_a_result_is_missing() -> None:
    found = selected([game(1), game(2, score=None)])
    assert found.missing.tolist() == [False, True]
    assert found.counted["id"].tolist() == [1]


def test_the_first_games_of_a_person_count_missing_ones_included() -> None:
    rows = [game(n, person=1, score=None if n == 1 else 1.0) for n in range(5)] + [game(9)]
    found = selected(rows, terms=TrialTerms(cap_games=3))
    assert ids(found) == [0, 1, 2, 9]
    assert found.left_out["over_cap"] == 2


def test_games_over_the_cap_and_excluded_ones_neither_count_nor_hold_up() -> None:
    rows = [
        game(1, person=1),
        game(2, person=1, settled_at=None, score=None),
        game(3, excluded=Exclusion.PROGRAM, settled_at=None, score=None),
        game(4, excluded=Exclusion.OWN_POSITION),
        game(5, excluded=Exclusion.PROGRAM),
        game(6),
    ]
    found = selected(rows, START + timedelta(days=1), TrialTerms(cap_games=1))
    assert ids(found) == [1, 6]
    excluded = {"own position": 1, "program": 2}
    assert found.left_out == {"excluded": excluded, "over_cap": 1, "waiting": 0}


def test_excluded_games_do_not_use_up_the_cap() -> None:
    rows = [game(1, person=1, excluded=Exclusion.OWN_POSITION), game(2, person=1)]
    assert ids(selected(rows, terms=TrialTerms(cap_games=1))) == [2]


def test_the_first_reason_that_applies_excludes_a_row() -> None:
    programs, own = np.array([True, False, False, False]), np.array([True, True, False, False])
    found = exclusion_of(programs, own, np.array([True, True, True, False]))
    assert [Exclusion(each).text for each in found] == ["program", "own position", "repeated draw", "none"]
    assert exclusion_of(is_program=False, is_challenger_position=True) == Exclusion.OWN_POSITION


def test_contrast() -> None:
    found = contrast(np.array([True, False, True]), np.array([0.5, 0.75, 0.25]))
    assert found.tolist() == pytest.approx([2, -4, 4])


def test_the_check_of_a_fair_draw() -> None:
    guard = randomisation_check(selected([game(n) for n in range(400)]), TERMS.design(1000))
    assert guard.broken == ()
    assert guard.draw.mean == pytest.approx(0)
    assert guard.missing.mean == 0


def test_a_draw_that_is_not_as_recorded() -> None:
    rows = [game(n, treated=n % 10 < 7) for n in range(1000)]
    guard = randomisation_check(selected(rows), TERMS.design(1000))
    assert guard.broken == ("draw",)
    assert guard.draw.mean == pytest.approx(0.2)
    as_recorded = [replace(row, probability=0.7) for row in rows]
    assert randomisation_check(selected(as_recorded), TERMS.design(1000)).broken == ()


def test_an_arm_that_loses_games() -> None:
    rows = [game(n, score=None if n % 6 == 1 else 1.0) for n in range(1200)]
    guard = randomisation_check(selected(rows), TERMS.design(1000))
    assert guard.broken == ("missing",)
    assert (guard.missing_treated, guard.missing_untreated) == (200, 0)
    assert guard.missing.mean == pytest.approx(1 / 3)
    assert json.loads(json.dumps(asdict(guard)))["missing_treated"] == 200


def test_the_counts_of_a_selection() -> None:
    rows = [game(n, treated=n % 10 < 3, score=None if n % 10 == 9 else 1.0) for n in range(100)]
    counts = selected([*rows, game(100, excluded=Exclusion.PROGRAM)]).counts
    assert (counts["drawn"], counts["drawn_treated"], counts["drawn_untreated"]) == (100, 30, 70)
    assert counts["counted"] == 90
    assert json.loads(json.dumps(counts)) == counts  # plain numbers, for reports


@pytest.mark.parametrize(("treated", "untreated"), [(3, 0), (0, 2), (0, 0)])
def test_without_an_outcome_in_both_arms_there_is_nothing_to_compare(treated: int, untreated: int) -> None:
    missing = [game(n, score=None) for n in range(4)]
    played = [game(10 + n, treated=True) for n in range(treated)]
    played += [game(20 + n, treated=False) for n in range(untreated)]
    selection = selected(missing + played)
    guard = randomisation_check(selection, TERMS.design(1000))
    why = guard.no_comparison
    assert why == f"no comparison: {treated} treated, {untreated} untreated"


def test_an_outcome_in_each_arm_is_a_comparison() -> None:
    selection = selected([game(1), game(2)])
    guard = randomisation_check(selection, TERMS.design(1000))
    assert guard.no_comparison is None


def test_the_lines_of_an_endpoint() -> None:
    design = TERMS.design(1000)
    rows = [game(n, person=n % 50) for n in range(200)]
    psi = np.arange(200) / 100.0
    first = np.arange(200) < 50
    found = endpoint(
        psi,
        games_of(rows).rows,
        first,
        {
            3: (SuspectFlag.COPIED,),
            4: (
                SuspectFlag.COPIED,
                SuspectFlag.LEFT_EARLY,
            ),
            777: (SuspectFlag.COPIED,),
        },
        design,
    )
    persons = [n % 50 for n in range(200)]
    assert found.estimate == estimate(psi, persons, design)
    assert found.flagged == 2
    assert found.flagged_for == {"copied": 2, "left early": 1}
    kept = [n for n in range(200) if n not in (3, 4)]
    assert found.without_flagged == estimate(psi[kept], [persons[n] for n in kept], design)
    assert found.first_games == estimate(psi[:50], persons[:50], design)
    assert found.later_games == estimate(psi[50:], persons[50:], design)
    assert found.largest is not None
    assert found.largest.without.n == 196


def test_terms_and_their_designs() -> None:
    terms = TrialTerms(alpha=0.1, least_values=50, least_persons=10)
    design = terms.design(700)
    assert (design.planned_n, design.alpha, design.least_values, design.least_persons) == (700, 0.1, 50, 10)
    with pytest.raises(ValueError, match="cap_games is 0"):
        TrialTerms(cap_games=0)
    with pytest.raises(ValueError, match="max_open_days is 0"):
        TrialTerms(max_open_days=0)


def test_what_cannot_be() -> None:
    with pytest.raises(ValueError, match="no time zone"):
        selected([game(1)], NOW.replace(tzinfo=None))
    for changes, why in (
        ({"probability": 1.0}, "the probability of treatment is 1.0, not between 0 and 1"),
        ({"probability": nan}, "the probability of treatment is nan, not between"),
        ({"settled_at": START}, "it was settled before it was randomised"),
    ):
        with pytest.raises(ValueError, match=f"game 7: {why}"):
            games_of([game(6), game(7, **changes)])
    with pytest.raises(ValueError, match="game 7: it occurs twice"):
        games_of([game(7), game(6), game(7)])


def test_what_is_early_is_hidden_wherever_it_stands() -> None:
    def early(why: str | None) -> dict[str, Any]:
        return {"n": 7, **dict.fromkeys(NUMBERS, 0.5), "too_early": why}

    found: Any = {"score": early("30 of 100 games"), "by": [{"cost": early(None)}], "drawn": 7}
    hide_early(found)
    hidden = {"n": 7, **dict.fromkeys(NUMBERS)}
    assert found["score"] == {**hidden, "too_early": True, "why_too_early": "30 of 100 games"}
    shown = {"n": 7, **dict.fromkeys(NUMBERS, 0.5), "too_early": False, "why_too_early": None}
    assert found["by"] == [{"cost": shown}]
    assert found["drawn"] == 7
    whole: Any = {"cost": early(None)}
    hide_early(whole, "the trial runs")
    assert whole["cost"] == {**hidden, "too_early": True, "why_too_early": "the trial runs"}
