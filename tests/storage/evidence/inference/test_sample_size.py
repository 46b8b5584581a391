import json
from dataclasses import asdict

import pytest

from storage.evidence.inference.any_time import AnyTimeEstimate, PlannedN, SequenceDesign
from storage.evidence.inference.sample_size import (
    any_time_sample_size,
    elo_effect,
    fixed_sample_size,
    game_sd,
    plan_decisions,
    plan_games,
    plan_traps,
    usual_draws,
    values_needed,
)

DESIGN = SequenceDesign(PlannedN.GAMES)


def test_games_by_score_and_elo() -> None:
    """Fixed and any-time numbers for 20, 50 and 100 Elo, a fair coin, power 80 %."""
    assert [(round(row.fixed), round(row.any_time)) for row in plan_games()] == [
        *((9271, 20719), (1487, 2940), (374, 720)),
        *((12490, 28512), (1998, 4018), (499, 956)),
        *((22651, 53911), (3615, 7557), (895, 1731)),
    ]
    printed = [
        *((9_300, 20_700), (1_490, 2_940), (370, 720)),
        *((12_500, 28_500), (2_000, 4_020), (500, 960)),
        *((22_700, 53_900), (3_610, 7_560), (900, 1_730)),
    ]
    for row, numbers in zip(plan_games(), printed, strict=True):
        assert (row.fixed_games, row.any_time_games) == (row.fixed, row.any_time)
        for found, number in zip((row.fixed, row.any_time), numbers, strict=True):
            assert abs(found - number) <= (50 if number > 9_000 else 5.1)


def test_decisions_in_games_of_six() -> None:
    printed = [
        *((2_090, 4_220), (520, 1_000), (130, 275)),
        *((3_700, 7_750), (930, 1_790), (230, 460)),
    ]
    for row, numbers in zip(plan_decisions(6.0), printed, strict=True):
        assert row.fixed_games == pytest.approx(numbers[0], abs=5)
        assert row.any_time_games == pytest.approx(numbers[1], abs=5)
        assert row.any_time_games == pytest.approx(row.any_time / 6)


def test_decisions_in_games_as_measured() -> None:
    """A third of a lot a game: as many decisions as ever, in three times as many games."""
    assumed = plan_decisions()
    measured = plan_decisions(decisions_per_game=1 / 3, measured_in=30)
    for one, other in zip(assumed, measured, strict=True):
        assert (one.per_game, one.measured_in) == (1.0, None)
        assert (other.per_game, other.measured_in) == (1 / 3, 30)
        assert (one.fixed, one.any_time) == (other.fixed, other.any_time)
        assert (other.fixed_games, other.any_time_games) == pytest.approx((3 * one.fixed, 3 * one.any_time))


def test_games_without_draws_never_do() -> None:
    for row in plan_decisions(decisions_per_game=0.0, measured_in=30):
        assert (row.fixed_games, row.any_time_games) == (None, None)
        assert row.fixed > 0
    with pytest.raises(ValueError, match="there are -1 decisions a game"):
        plan_decisions(decisions_per_game=-1)
    with pytest.raises(ValueError, match="there are inf decisions a game"):
        plan_decisions(decisions_per_game=float("inf"))


def test_fixed_numbers_are_785_variances() -> None:
    assert fixed_sample_size(0.1, 1.0) == pytest.approx(784.9, abs=0.1)


def test_the_least_number_for_looks_at_any_time() -> None:
    n = any_time_sample_size(0.05, 0.9, DESIGN)
    left = 0.9 * (float(DESIGN.width(n)) + 0.8416212 / n**0.5)
    assert left == pytest.approx(0.05, rel=1e-6)
    assert any_time_sample_size(100.0, 1.0, DESIGN) == 1
    assert any_time_sample_size(0.05, 0.9, DESIGN, power=0.9) > n


def test_traps_of_persons_who_are_alike() -> None:
    """Ten traps a person whose falls are alike by .09; two traps a game."""
    rows = plan_traps()
    assert [(row.given, row.effect) for row in rows[:4]] == [
        *(("20% of baits taken, 10 traps per person", effect) for effect in (0.02, 0.05, 0.1)),
        ("30% of baits taken, 10 traps per person", 0.02),
    ]
    row = rows[4]
    assert row.sd**2 == pytest.approx(0.3 * 0.7 * 1.81)
    assert row.fixed == pytest.approx(7.849 * 0.3801 / 0.0025, rel=1e-3)
    assert row.any_time == pytest.approx(any_time_sample_size(0.05, row.sd, SequenceDesign(4000)))
    assert row.fixed_games == pytest.approx(row.fixed / 2)


def test_effect_and_variance_of_a_game() -> None:
    assert elo_effect(0.5, 400) == pytest.approx(2 / (1 + 10**-0.5) - 1)
    assert game_sd(0.5, 1 / 3) ** 2 == pytest.approx(4 * (0.25 - 1 / 12))
    assert (usual_draws(0.89), usual_draws(0.9)) == (0.1, 0.05)


def found(n: int, sd: float | None) -> AnyTimeEstimate:
    return AnyTimeEstimate(
        n=n,
        persons=n,
        effective_persons=n,
        mean=0.0,
        sd=sd,
        low=None,
        high=None,
        e_value=None,
        too_early=None,
        alpha=0.05,
    )


def test_how_many_more() -> None:
    """At 65 % 50 Elo need 2,940 games with this standard deviation."""
    sd, effect = game_sd(0.65, 0.1), elo_effect(0.65, 50)
    assert values_needed(found(1000, sd), effect, DESIGN) == 2940 - 1000
    assert values_needed(found(5000, sd), effect, DESIGN) == 0
    assert values_needed(found(99, sd), effect, DESIGN) is None
    assert values_needed(found(100, sd), effect, DESIGN) == 2840
    assert values_needed(found(200, 0.0), effect, DESIGN) is None


def test_what_cannot_be() -> None:
    with pytest.raises(ValueError, match="the effect is 0"):
        fixed_sample_size(0.0, 1.0)
    with pytest.raises(ValueError, match="the standard deviation is -1"):
        any_time_sample_size(0.1, -1.0, DESIGN)
    with pytest.raises(ValueError, match="the power is 1"):
        fixed_sample_size(0.1, 1.0, power=1.0)
    with pytest.raises(ValueError, match="more than 1e\\+12 values"):
        any_time_sample_size(1e-6, 1.0, DESIGN)
    with pytest.raises(ValueError, match="expected score is 1"):
        elo_effect(1.0, 20)
    with pytest.raises(ValueError, match=r"cannot have a share of 0.8 draws"):
        game_sd(0.9, 0.8)


def test_json() -> None:
    rows = json.loads(json.dumps([asdict(row) for row in plan_games()]))
    assert rows[0]["given"] == "score 65%"
