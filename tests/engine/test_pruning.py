from dataclasses import replace

import pytest

from engine.decision import Decision, SearchMode
from engine.errors import IncompleteProfile, PrunedRecord, RecordError
from engine.pruning import pruned, require_unpruned
from engine.verification import verify
from tests.storage.samples import decision, drawn_decision


def test_only_the_chosen_move_keeps_replies() -> None:
    made = drawn_decision(trap=False)
    plain = replace(made, trial_draw=None, search_mode=SearchMode.EXACT)
    assert sum(bool(each.replies) for each in plain.candidates) > 1
    found = pruned(plain)
    assert [each.move for each in found.candidates if each.replies] == [plain.move]
    assert found.chosen == plain.chosen


def test_the_move_of_the_standard_player_keeps_its_value() -> None:
    made = decision(quality=100)
    found = pruned(made)
    assert [each.move for each in found.candidates] == ["f5", "e6"]  # f5 is the move, and e6 is worth more
    assert found.candidates[1] == replace(made.candidates[3], replies=(), complete=False)
    best = replace(made, candidates=made.candidates[:3])
    assert [each.move for each in pruned(best).candidates] == ["f5"]


def test_without_exact_values_there_is_no_standard_move() -> None:
    made = decision()
    bounds = tuple(replace(each, raw_is_bound=True) for each in made.candidates)
    assert [each.move for each in pruned(replace(made, candidates=bounds)).candidates] == ["f5"]


def test_a_draw_keeps_both_moves() -> None:
    made = drawn_decision(trap=True)
    assert made.trial_draw is not None
    kept = {each.move for each in pruned(made).candidates if each.replies}
    assert kept == {made.trial_draw.trap, made.trial_draw.control}


def test_the_rest_of_the_record_stays() -> None:
    made = decision(quality=100)
    found = pruned(made)
    assert found.is_pruned
    assert replace(found, candidates=made.candidates, is_pruned=False) == made


def test_the_record_says_so_and_is_read_again() -> None:
    found = pruned(decision())
    assert found.to_record()["is_pruned"] is True
    assert Decision.from_record(found.to_record()) == found
    assert "is_pruned" not in decision().to_record()
    with pytest.raises(RecordError, match="is_pruned: 1 is not of the type bool"):
        Decision.from_record({**decision().to_record(), "is_pruned": 1})


def test_an_incomplete_profile_is_not_pruned() -> None:
    with pytest.raises(IncompleteProfile, match="the profile of f5 is not complete"):
        pruned(decision(complete=False))


def test_verifying_says_that_it_is_pruned() -> None:
    for made in (decision(quality=100), drawn_decision(trap=True), drawn_decision(trap=False)):
        with pytest.raises(PrunedRecord, match=f"the record of {made.move} is pruned"):
            verify(pruned(made))
    require_unpruned(decision())


@pytest.mark.parametrize(
    ("changes", "told"),
    [
        ({"move": "a1"}, "a1 was played, but occurs 0 times among the candidates"),
        ({"move": "e6"}, "the profile of e6 is incomplete"),
    ],
)
def test_what_is_left_is_checked(changes: dict[str, str], told: str) -> None:
    with pytest.raises(RecordError, match=told):
        verify(replace(pruned(decision()), **changes))  # type: ignore[arg-type]


def test_the_value_of_the_chosen_move_is_checked() -> None:
    found = pruned(decision())
    forged = found.with_chosen(replace(found.chosen, raw_centi=99))
    with pytest.raises(RecordError, match="raw 99 is not the least of its replies, 100"):
        verify(forged)


def test_the_draw_is_checked() -> None:
    found = pruned(drawn_decision(trap=True))
    assert found.trial_draw is not None
    with pytest.raises(RecordError, match="checksum"):
        verify(replace(found, trial_draw=replace(found.trial_draw, trap_value=1)))
