"""The sentences of a verdict."""

from dataclasses import replace

import pytest

from bot.text.verdict_text import evidence, headline, label, outlook_text, sentences, warning
from storage.evidence.inference.verdict import IntervalFinding, TrialOutcome, TrialVerdict

MORE = TrialVerdict(
    outcome=TrialOutcome.SCORE,
    is_planned=True,
    finding=IntervalFinding.MORE,
    first="trappy",
    second="standard",
    unit="game",
    n=1240,
    n_first=700,
    n_second=540,
    unjudged=0,
    n_needed=100,
    persons=388,
    effective_persons=141.3,
    persons_needed=30.0,
    mean=0.059,
    low=0.007,
    high=0.11,
    e_value=74.0,
    alpha=0.05,
    more=0,
    more_to_narrow=1500,
    broken=(),
)
EARLY = replace(
    MORE, finding=IntervalFinding.TOO_EARLY, mean=None, low=None, high=None, more=None, more_to_narrow=None
)


def test_a_decided_trial() -> None:
    assert sentences(MORE) == [
        "Trappy scores 5.9 points more per 100 games.",
        "The difference is between +0.7 and +11.0 points per 100 games (95 %, valid at any time), from "
        "1,240 games with 388 people.",
        "About 1,500 more games would make the interval a third narrower.",
    ]
    less = replace(MORE, finding=IntervalFinding.LESS, mean=-0.059, low=-0.11, high=-0.007)
    assert headline(less) == "Standard scores 5.9 points more per 100 games."


def test_an_undecided_trial_states_no_difference() -> None:
    open_ = replace(MORE, finding=IntervalFinding.NOT_CLEAR, low=-0.02, more=17000)
    assert headline(open_) == "Not decided yet."
    assert outlook_text(open_) == "At this rate the trial needs about 17,000 more games."
    assert (
        outlook_text(replace(open_, more=None)) == "At this rate, not even a million more games would decide."
    )
    none = replace(MORE, finding=IntervalFinding.NO_DIFFERENCE, mean=0.001, low=-0.02, high=0.02)
    assert headline(none) == "No difference that matters."


@pytest.mark.parametrize(
    ("n", "persons", "effective", "text"),
    [
        (60, 60, 60.0, "60 games with 60 people so far. The interval appears at 100 games."),
        (1, 1, 1.0, "1 game with 1 person so far. The interval appears at 100 games with 30 people."),
        (
            260,
            40,
            27.4,
            "260 games with 40 people so far. Most are from a few people, so they count like 27 people. The "
            "interval appears at 30 people.",
        ),
    ],
)
def test_before_the_interval(n: int, persons: int, effective: float, text: str) -> None:
    early = replace(EARLY, n=n, persons=persons, effective_persons=effective)
    assert sentences(early) == ["Too early to say.", text]


def test_nothing_to_compare() -> None:
    told = evidence(replace(EARLY, n_second=0))
    assert told == (
        "1,240 games with 388 people so far, none of them with standard: there is nothing to compare."
    )


def test_numbers_that_must_not_be_used_say_so_first() -> None:
    assert sentences(replace(MORE, broken=("draw", "missing")))[0] == (
        "DO NOT USE: the random assignment differs from the recorded probabilities by more than chance "
        "allows and outcomes are missing from one of the two groups more often than chance allows."
    )
    assert warning(MORE) == ""


@pytest.mark.parametrize(
    ("outcome", "more", "less", "says"),
    [
        (
            TrialOutcome.COST,
            "Trappy costs people more",
            "Standard costs people more",
            "Trappy costs people 5.90 points more per reply.",
        ),
        (
            TrialOutcome.REPLY_COST,
            "A trap costs people more",
            "A trap costs people less",
            "A trap costs people 5.90 points more.",
        ),
        (
            TrialOutcome.EARNED,
            "A trap earns more than it gives up",
            "A trap earns less than it gives up",
            "A trap earns 5.90 points more than it gives up.",
        ),
    ],
)
def test_other_outcomes(outcome: TrialOutcome, more: str, less: str, says: str) -> None:
    verdict = replace(MORE, outcome=outcome)
    assert [label(verdict, each) for each in (IntervalFinding.MORE, IntervalFinding.LESS)] == [more, less]
    assert headline(verdict) == says


def test_what_is_still_being_judged_is_named() -> None:
    cost = replace(MORE, outcome=TrialOutcome.COST, unjudged=12)
    assert evidence(cost).endswith(
        "from 1,240 games with 388 people. 12 games are still being judged; the costs end before the first."
    )
    early = replace(EARLY, outcome=TrialOutcome.REPLY_COST, unit="decision", n=3, unjudged=1)
    assert evidence(early).endswith(
        "The interval appears at 100 decisions. 1 decision is still being judged; the costs end before the "
        "first."
    )
