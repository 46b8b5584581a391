"""What the ledger remembers of its decisions, and what it must forget."""

from dataclasses import replace
from datetime import UTC, datetime

import pytest

from bot.game.current_decisions import MAX_CACHED_DECISIONS, CurrentDecisions
from engine.bait_rule import forecast
from engine.figure_9 import expected_scale_centi
from storage.records import DecisionState, StoredDecision
from tests.storage.samples import decision

MADE = decision()
FORECAST = forecast(MADE.chosen, expected_scale_centi(MADE))


def stored(ply: int, key: int | None = None) -> StoredDecision:
    """A committed decision; its key is the ply unless told."""
    made_at = datetime(2026, 11, 25, tzinfo=UTC)
    number = ply if key is None else key
    return StoredDecision(
        number, 1, ply, DecisionState.COMMITTED, MADE, True, False, None, made_at, None, None
    )


def test_nothing_is_known_at_first() -> None:
    known = CurrentDecisions()
    known.add(stored(4))
    assert known.knows_ply(4)
    assert not known.knows_ply(2)  # whether one stands there, nobody has said


def test_all_plies_are_known_and_the_latest_decisions() -> None:
    known = CurrentDecisions()
    known.remember_all([stored(ply) for ply in (8, 0, 2, 6, 4)])
    assert sorted(known.latest) == [2, 4, 6, 8]
    assert [ply for ply in range(10) if known.knows_ply(ply)] == [1, 2, 3, 4, 5, 6, 7, 8, 9]
    assert known.latest.get(3) is None


def test_only_the_latest_are_kept_with_their_forecasts() -> None:
    known = CurrentDecisions()
    known.remember_all([])
    for ply in range(0, 2 * MAX_CACHED_DECISIONS + 2, 2):
        known.add(stored(ply))
        known.add_forecast(stored(ply), FORECAST)
    assert sorted(known.latest) == sorted(known.forecasts) == [2, 4, 6, 8]
    assert not known.knows_ply(0)


def test_what_is_taken_back_is_forgotten() -> None:
    known = CurrentDecisions()
    known.remember_all([stored(0), stored(2), stored(4)])
    known.add_forecast(stored(2), FORECAST)
    known.forget_from(2)
    assert (sorted(known.latest), known.forecasts) == ([0], {})
    assert known.knows_ply(2)
    assert known.latest.get(2) is None
    unknown = CurrentDecisions()
    unknown.forget_from(0)
    assert not unknown.knows_ply(0)


@pytest.mark.parametrize("key", [2, 77])
def test_another_decision_of_the_same_ply_changes_nothing(key: int) -> None:
    known = CurrentDecisions()
    known.remember_all([stored(2)])
    changed = replace(stored(2, key), state=DecisionState.SENT)
    is_same = key == 2
    assert known.current(changed) == (stored(2) if is_same else changed)
    known.update(changed)
    known.add_forecast(changed, FORECAST)
    assert known.latest == {2: changed if is_same else stored(2)}
    assert known.forecasts == ({2: FORECAST} if is_same else {})


def test_a_change_of_a_forgotten_decision_does_not_bring_it_back() -> None:
    known = CurrentDecisions()
    known.remember_all([])
    known.update(stored(2))
    assert known.latest == {}


def test_a_copy_is_apart() -> None:
    known = CurrentDecisions()
    known.remember_all([stored(0)])
    draft = known.copy()
    draft.add(stored(2))
    draft.add_forecast(stored(0), FORECAST)
    assert (sorted(known.latest), known.plies, known.forecasts) == ([0], frozenset({0}), {})
