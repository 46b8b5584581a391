"""Trust: which replies speak for the model of people, and how fast the trust follows."""

import math
import random
from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from engine.decision import Contender, ExploitUse, WeighedReply
from engine.expected import expected_score
from engine.opponents.exploit_value import MIN_ANALYSIS_TRUST, MIN_TRUST
from engine.opponents.trust import (
    MAX_EVIDENCE,
    MAX_UNCERTAIN,
    MIN_P,
    MIN_UNCERTAIN,
    OTHERS,
    TEMPERATURES,
    UNKNOWN,
    reply_evidence,
    trust_after,
)
from engine.params import ExploitParams

SCALE = 100.0
GOOD, BAD = 0, 150
"""Our scores after the best reply and after an error."""
USE = ExploitUse(ExploitParams(), 1.0, 0.0, SCALE, 0, reply_depth=4)


def weighed(*replies: tuple[str, float, int]) -> ExploitUse:
    return replace(USE, contenders=(Contender("m", 0, tuple(WeighedReply(*each) for each in replies), 0.0),))


def evidence(use: ExploitUse, reply: str) -> float:
    found = reply_evidence(use, "m", reply)
    assert found is not None
    return found


TRAP = weighed(("good", 0.3, GOOD), ("bad", 0.6, BAD))


def test_an_expected_error_speaks_for_the_model_and_the_best_reply_against_it() -> None:
    assert evidence(TRAP, "bad") > 1
    assert evidence(TRAP, "good") < -0.5
    assert evidence(TRAP, "other") == pytest.approx(math.log(0.1 / OTHERS))


def test_evidence_by_hand() -> None:
    lost = expected_score(BAD, SCALE) - expected_score(GOOD, SCALE)
    shares = [1 / (1 + math.exp(lost / temperature)) for temperature in TEMPERATURES]
    q = (1 - OTHERS) * sum(shares) / len(shares)
    assert evidence(TRAP, "bad") == pytest.approx(min(MAX_EVIDENCE, math.log(0.6 / max(MIN_P, q))))
    # Within the limits: a small error; good players hardly ever make it, others do.
    small = weighed(("good", 0.3, GOOD), ("worse", 0.6, GOOD + 20))
    lost = expected_score(GOOD + 20, SCALE) - expected_score(GOOD, SCALE)
    shares = [1 / (1 + math.exp(abs(lost) / temperature)) for temperature in (20, 100, 300, 1000)]
    p = {"good": 0.3, "worse": 0.6}
    of_worse = sum(shares) / len(shares)
    for reply, share in (("good", 1 - of_worse), ("worse", of_worse)):
        expected = math.log(p[reply] / ((1 - OTHERS) * share))
        assert abs(expected) < MAX_EVIDENCE
        assert evidence(small, reply) == pytest.approx(expected)


@pytest.mark.parametrize("lead", [-1300, -600, 0, 900])
def test_evidence_is_the_same_far_ahead_and_behind(lead: int) -> None:
    """A difference of expected scores would vanish there, and every reply seem to be played well."""
    at_odds = weighed(("good", 0.3, lead + GOOD), ("bad", 0.6, lead + BAD))
    for reply in ("good", "bad", "other"):
        assert evidence(at_odds, reply) == evidence(TRAP, reply)


def test_no_evidence() -> None:
    assert reply_evidence(weighed(("only", 1.0, GOOD)), "m", "only") is None
    assert reply_evidence(USE, "m", "bad") is None
    assert reply_evidence(TRAP, "other", "bad") is None
    assert reply_evidence(replace(TRAP, reply_depth=3), "m", "bad") is None


@given(st.lists(st.floats(-0.1, 0.1), max_size=20), st.floats(0.5, 0.8))
def test_the_trust_is_a_posterior(some: list[float], prior: float) -> None:
    ratio = prior / (1 - prior) * math.exp(math.fsum(some))
    assert trust_after(prior, some) == pytest.approx(ratio / (1 + ratio), rel=1e-6, abs=1e-9)


@given(st.lists(st.floats(-MAX_EVIDENCE, MAX_EVIDENCE), max_size=60), st.floats(0.01, 0.99))
def test_two_replies_may_change_the_trust_at_any_time(some: list[float], prior: float) -> None:
    before = trust_after(prior, some)
    assert MIN_TRUST < MIN_UNCERTAIN <= before <= MAX_UNCERTAIN < 1
    assert trust_after(before, 2 * [MAX_EVIDENCE]) > 0.9
    assert trust_after(before, 2 * [-MAX_EVIDENCE]) < MIN_ANALYSIS_TRUST


@pytest.mark.parametrize("prior", [0.0, 1.0])
def test_certainty_stays(prior: float) -> None:
    assert trust_after(prior, [3.0, -3.0, -3.0]) == prior


@pytest.mark.parametrize(("is_person", "least", "most"), [(True, 0.9, 1.0), (False, 0.0, 0.1)])
def test_persons_and_programs_are_told_apart_within_a_game(
    is_person: bool, least: float, most: float
) -> None:
    """Twenty replies of somebody who plays as the model says, and of somebody who plays well."""
    trusts = []
    for seed in range(40):
        rng = random.Random(seed)
        some = []
        for _ in range(20):
            scores = [0, *sorted(rng.randrange(0, 400) for _ in range(5))]
            weights = [rng.random() for _ in scores]
            p = [each / sum(weights) for each in weights]
            made = weighed(*((str(at), p[at], scores[at]) for at in range(len(scores))))
            reply = rng.choices(range(len(scores)), p)[0] if is_person else rng.choices([0, 1], [9, 1])[0]
            some.append(evidence(made, str(reply)))
        trusts.append(trust_after(UNKNOWN, some))
    assert least <= sorted(trusts)[len(trusts) // 2] <= most
