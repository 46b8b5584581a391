"""A small trial against people whose replies are known: the report counts them rightly."""

import pytest

from bench.statistics.played import KINDS, OUTCOMES, TrialResult, holds, people, play_trial


@pytest.fixture(scope="module", params=("random", "shallow"))
def played(request: pytest.FixtureRequest) -> tuple[str, TrialResult]:
    return request.param, play_trial(people(request.param), persons=12, games=10, depth=4, seed=3)


def test_a_small_trial_holds_the_truth(played: tuple[str, TrialResult]) -> None:
    kind, found = played
    report = found.report
    assert 10 <= report.counted == report.drawn
    assert not report.guard.broken
    assert all(holds(found, outcome, any_time=True) is None for outcome in OUTCOMES), "too early for those"
    assert [holds(found, outcome, any_time=False) for outcome in OUTCOMES] == [True] * 3
    cost, beyond, earned = found.truth
    assert cost > 0, "positions with a trap are harder"
    if kind == "random":
        assert beyond == pytest.approx(0, abs=1e-12)
    else:
        assert beyond != pytest.approx(0, abs=1e-3)
    fixed = report.earned.fixed.value
    assert fixed is not None
    assert (earned - cost) * (fixed - (report.cost.fixed.value or 0)) > 0, "what is given up counts"


def test_unknown_people() -> None:
    assert {people(kind).info.kind for kind in KINDS} == {"shallow", "othello"}
    with pytest.raises(ValueError, match="nobody are no people"):
        people("nobody")
