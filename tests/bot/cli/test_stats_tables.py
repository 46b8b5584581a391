"""A trial's report as text: its warnings, its order, and what it says of each number."""

import re
from collections.abc import Sequence
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from itertools import pairwise
from typing import Any

import pytest
from rich.console import Console

from bot.cli.stats.calibration import calibration_view
from bot.cli.stats.tables import decisions_view, groups_view, trial_view
from storage.evidence.inference.decisions import decisions_report
from storage.evidence.inference.games import GamesReport
from storage.evidence.inference.plan import any_time_needed
from storage.evidence.inference.suspects import SuspectFlag
from storage.evidence.inference.trial import TrialTerms
from storage.evidence.trials import StoredTrial
from storage.records import Endpoint
from tests.storage.evidence.inference.samples import (
    NOW,
    Game,
    decision,
    game,
    games_of,
    games_report,
    played_games,
)

ARMS = ("trappy", "standard")


def trial(**changes: Any) -> StoredTrial:
    plan = StoredTrial(
        name="t1",
        arms=ARMS,
        configurations={arm: {} for arm in (*ARMS, "randomised")},
        id=1,
        started_at=datetime(2026, 1, 1, tzinfo=UTC),
        ended_at=None,
        games=0,
        open_games=0,
    )
    return replace(plan, **changes)


def lines_of(view: Any) -> list[str]:
    console = Console(width=160, markup=False)
    with console.capture() as capture:
        console.print(view)
    return [" ".join(line.split()) for line in capture.get().splitlines()]


def report_of(games: Sequence[Game], alpha: float = 0.05) -> GamesReport:
    return games_report(games_of(games), TrialTerms(alpha=alpha), NOW + timedelta(days=100))


def lines(report: GamesReport, **changes: Any) -> list[str]:
    return lines_of(trial_view(trial(**changes), ARMS, report))


def one(found: list[str], start: str) -> str:
    (line,) = (line for line in found if line.startswith(start))
    return line


def is_fifth_of_trappy(row: Game) -> bool:
    return row.treated and row.game_id % 5 == 0


@pytest.fixture(scope="module")
def even() -> list[Game]:
    """1,200 games without an effect."""
    return played_games(1200, 0.0, 1)


def test_games_more_for_a_difference_in_elo_are_those_of_these_games(even: list[Game]) -> None:
    """By the score that an Elo point is worth here, not at 65 %."""
    report = report_of(even)
    sd = report.score.estimate.sd
    assert sd is not None
    effect = 50 * report.elo.score_per_elo
    more = -(-any_time_needed(effect, sd, TrialTerms().design(1000)) // 1) - report.score.estimate.n
    assert more > 500
    assert f"For a difference of 50 Elo about {more:,.0f} games more." in lines(report)
    strong = replace(report, elo=replace(report.elo, score_per_elo=report.elo.score_per_elo / 2))
    assert one(lines(strong), "For a difference") != one(lines(report), "For a difference")
    enough = replace(report, elo=replace(report.elo, score_per_elo=report.elo.score_per_elo * 9))
    assert "There are enough games for a difference of 50 Elo." in lines(enough)


def test_games_more_where_none_are_known(even: list[Game]) -> None:
    report = report_of(even)
    for nothing in (report_of([]), replace(report, elo=replace(report.elo, score_per_elo=0.0))):
        assert "For a difference of 50 Elo: `desdemona stats --plan` says how many games." in lines(nothing)
    tiny = replace(report, elo=replace(report.elo, score_per_elo=1e-9))
    assert "For a difference of 50 Elo more than 10^12 games are needed, at scores like these." in lines(tiny)


def test_games_more_are_of_the_score_alone(even: list[Game]) -> None:
    assert not any("50 Elo" in line for line in lines(report_of(even), endpoint=Endpoint.COST))


def test_the_planned_endpoint_stands_first(even: list[Game]) -> None:
    report = report_of(even)
    for endpoint, (first, second) in (
        (Endpoint.SCORE, ("score", "cost")),
        (Endpoint.COST, ("cost", "score")),
    ):
        found = lines(report, endpoint=endpoint)
        planned, other = (
            one(found, f"{first} (planned endpoint): "),
            one(found, f"{second} (second, exploratory): "),
        )
        assert found.index(planned) < found.index(other)
        assert ("Elo" in planned) == (endpoint is Endpoint.SCORE)


def test_both_endpoints_have_a_colon_and_four_decimals(even: list[Game]) -> None:
    found = lines(report_of(even))
    number = r"[+-]0\.\d{4}"
    for start in ("score (planned endpoint)", "cost (second, exploratory)"):
        assert re.match(rf"{re.escape(start)}: {number} \({number} to {number}\) ", one(found, start))


def test_a_player_without_games_has_no_estimate() -> None:
    """Five games of one of the two: their number and no result, and the draw cannot be tested."""
    report = report_of([game(number, treated=True) for number in range(5)])
    found = lines(report)
    assert found[1] == (
        "5 games drawn: trappy 5, standard 0; 5 counted, 5 persons (P 5). "
        "Randomisation: too early to test. Missing 0 / 0."
    )
    assert one(found, "score (") == (
        "score (planned endpoint): too early to say. 5 games with 5 people so far. "
        "The interval appears at 100 games with 30 people."
    )
    assert one(found, "cost (") == (
        "cost (second, exploratory): too early to say. 5 games with 5 people so far. "
        "The interval appears at 100 games with 30 people."
    )
    told = " ".join(found)
    assert not re.search(r" [+-]\d|Elo [+-]|largest person|first games of each", told)
    json = report.to_json()
    assert (json["drawn"], json["drawn_treated"], json["drawn_untreated"]) == (5, 5, 0)


@pytest.mark.parametrize(("only", "empty"), [(True, "standard"), (False, "trappy")])
def test_many_games_of_one_player_are_no_comparison_either(only: bool, empty: str) -> None:
    """Drawn with a chance near to certain; the draw is in order, the other's only game has no result."""
    rows = [
        game(number, treated=only, chance=0.999 if only else 0.001, person=number % 60)
        for number in range(200)
    ]
    rows.append(game(200, treated=not only, chance=0.999 if only else 0.001, score=None, person=3))
    found = lines(report_of(rows))
    assert "Randomisation ok. " in found[1]
    assert one(found, "score (") == (
        "score (planned endpoint): too early to say. 200 games with 60 people so far, and none of them "
        f"with {empty}: there is nothing to compare."
    )
    assert " to +" in one(found, "cost (")


def test_flagged_games_are_named_while_it_is_too_early() -> None:
    rows = [game(number) for number in range(6)]
    report = games_report(games_of(rows), TrialTerms(), NOW, {2: (SuspectFlag.COPIED,)})
    found = lines(report)
    assert found.count("without 1 flagged (copied 1) -") == 2


def test_a_small_stratum_has_no_point_estimate(even: list[Game]) -> None:
    small = [replace(row, site="ggs", game_id=10_000 + row.game_id) for row in even[:5]]
    row = next(line for line in lines(report_of([*even, *small])) if "ggs" in line)
    assert row.count("too early") == 2
    assert "+" not in row


def test_an_empty_move_of_the_draw_has_no_estimate() -> None:
    rows = [decision(n, person=n % 60, treated=True, chance=0.999) for n in range(600)]
    alone = trial(arms=("randomised",), endpoint=Endpoint.COST)
    found = lines_of(decisions_view(alone, decisions_report(rows, TrialTerms(planned_decisions=500), NOW)))
    assert one(found, "600 decisions").startswith(
        "600 decisions drawn: trap 600, no trap 0; 600 counted, 60 persons (P 60). "
    )
    assert one(found, "earned") == (
        "earned (exploratory): too early to say. 600 decisions with 60 people so far, and none of them "
        "with no trap: there is nothing to compare."
    )
    assert not any(line.startswith("at one look") for line in found)


def test_no_warning_while_the_draw_is_in_order(even: list[Game]) -> None:
    found = lines(report_of(even))
    assert found[0].startswith("Trial t1: trappy less standard")
    assert "Randomisation ok. Missing 0 / 0." in found[1]
    assert "DO NOT USE" not in " ".join(found)


def test_costs_that_one_player_lacks_are_not_to_be_used(even: list[Game]) -> None:
    """The warning stands on top and where the cost is read; the score may be used."""
    rows = [replace(row, cost=None) if is_fifth_of_trappy(row) else row for row in even]
    report = report_of(rows)
    assert (report.guard.broken, report.cost_guard.broken) == ((), ("missing",))
    missing = report.cost_guard.missing_treated
    warning = (
        f"DO NOT USE THE COST: one player's games lack judged replies more often. Missing {missing} / 0."
    )
    found = lines(report)
    assert found[0] == warning
    assert found.count(warning) == 2
    assert found[found.index(one(found, "cost (second")) - 1] == warning
    assert "Randomisation ok. Missing 0 / 0." in found[2]


def test_a_trial_whose_draw_is_broken_says_so_first(even: list[Game]) -> None:
    biased = report_of([row for row in even if row.treated])
    assert biased.guard.broken == ("draw",)
    found = lines(biased)
    assert found[0] == "DO NOT USE: the draws do not follow the recorded chances. Missing 0 / 0."
    assert found[2].startswith("Trial t1")
    assert "Randomisation ok" not in " ".join(found)


def test_a_trial_in_which_one_player_lacks_results_says_so_first(even: list[Game]) -> None:
    gone = report_of([replace(row, score=None) if is_fifth_of_trappy(row) else row for row in even])
    assert gone.guard.broken == ("missing",)
    found = lines(gone)
    missing = gone.guard.missing_treated
    assert found[0] == f"DO NOT USE: one player's games lack a result more often. Missing {missing} / 0."
    assert found[2].endswith(f" Missing {missing} / 0.")


def test_the_level_of_the_intervals_is_the_trials(even: list[Game]) -> None:
    assert lines(report_of(even))[-1] == "95 % intervals, right at any time, by person."
    report = report_of(even, alpha=0.1)
    assert lines(report, alpha=0.1)[-1] == "90 % intervals, right at any time, by person."
    found = lines(report, alpha=0.001)
    assert found[-1] == "99.9 % intervals, right at any time, by person."
    decisions = decisions_report([], TrialTerms(), NOW)
    told = " ".join(lines_of(decisions_view(trial(alpha=0.1), decisions)))
    assert told.endswith("90 % intervals, right at any time, by person.")


def drawn(*, cost: float, value: float, planned_n: int = 500, persons: int = 60) -> list[str]:
    """600 decisions: a trap makes the reply cost so much more, and gives up 1/2 less `value`."""
    rows = [
        decision(
            number,
            person=number // 2 % persons,
            expected_trap=0.05 + number % 3 / 100,
            cost=0.3 + number % 7 / 100 + (cost if number % 2 else 0.0),
            value_trap=value,
            value_control=0.5,
            mean_trap=0.1,
            mean_control=0.1,
        )
        for number in range(600)
    ]
    report = decisions_report(rows, TrialTerms(planned_decisions=planned_n), NOW)
    alone = trial(arms=("randomised",), endpoint=Endpoint.COST)
    return lines_of(decisions_view(alone, report))


MORE = ("a trap costs people more", "a trap costs people more, beyond difficulty")
LESS = ("a trap costs people less", "a trap costs people less, beyond difficulty")


@pytest.mark.parametrize(
    ("cost", "value", "verdicts"),
    [
        (0.2, 0.5, (*MORE, "a trap earns more than it gives up")),
        (0.2, 0.1, (*MORE, "a trap earns less than it gives up")),
        (-0.2, 0.5, (*LESS, "a trap earns less than it gives up")),
        (0.0, 0.5, ("not decided yet",) * 3),
    ],
)
def test_each_outcome_of_a_decision_has_its_own_verdict(
    cost: float, value: float, verdicts: tuple[str, str, str]
) -> None:
    found = drawn(cost=cost, value=value)
    names = ("cost (planned endpoint): ", "beyond difficulty (exploratory): ", "earned (exploratory): ")
    for name, verdict in zip(names, verdicts, strict=True):
        assert one(found, name).endswith(f" {verdict}")


@pytest.mark.parametrize(
    ("planned_n", "persons", "shown"), [(600, 30, True), (601, 30, False), (600, 29, False), (600, 300, True)]
)
def test_the_interval_for_one_look_waits_for_the_planned_number(
    planned_n: int, persons: int, shown: bool
) -> None:
    """And for 30 persons; the legend does not call it right at any time."""
    found = drawn(cost=0.2, value=0.5, planned_n=planned_n, persons=persons)
    start = "at one look planned beforehand, by another estimator (weighted least squares): "
    fixed = [line.removeprefix(start) for line in found if line.startswith("at one look")]
    assert len(fixed) == (3 if shown else 0)
    told = " ".join(found)
    if shown:
        assert fixed[0].startswith("+0.2")
        assert fixed[0].endswith(")")
        assert told.endswith(
            "right at any time, by person; those at one look planned beforehand are right only there."
        )
    else:
        assert told.endswith(" 95 % intervals, right at any time, by person.")


def test_what_one_look_cannot_determine_is_said() -> None:
    """A covariate that no second person varies."""
    rows = [
        decision(number, person=number % 60, expected_trap=0.5 if number == 3 else 0.08, cost=number % 7 / 10)
        for number in range(600)
    ]
    report = decisions_report(rows, TrialTerms(planned_decisions=600), NOW)
    found = lines_of(decisions_view(trial(arms=("randomised",), endpoint=Endpoint.COST), report))
    fixed = [line for line in found if line.startswith("at one look")]
    assert len(fixed) == 3
    assert all(line.endswith(": not determined without one of the persons") for line in fixed)


def test_decisions_beside_games_are_exploratory() -> None:
    report = decisions_report([decision(1)], TrialTerms(), NOW)
    found = lines_of(decisions_view(trial(arms=("randomised", "standard")), report))
    assert one(found, "cost (exploratory): ")


def test_decisions_whose_draw_is_broken_say_so_first() -> None:
    rows = [decision(n, person=n // 10, cost=None if n % 4 == 1 else 0.1) for n in range(600)]
    found = lines_of(decisions_view(trial(arms=("randomised",), endpoint=Endpoint.COST),
                                    decisions_report(rows, TrialTerms(), NOW)))  # fmt: skip
    assert found[0] == "DO NOT USE: replies to one of the two moves are missing more often. Missing 150 / 0."


def test_the_scores_verdict_names_the_first_player() -> None:
    rows = [game(number, person=number // 10) for number in range(600)]
    assert one(lines(report_of(rows)), "score (planned").endswith(" trappy scores more")
    worse = [replace(row, score=1.0 - (row.score or 0.0)) for row in rows]
    assert one(lines(report_of(worse)), "score (planned").endswith(" standard scores more")


def test_the_costs_verdict_is_of_people() -> None:
    rows = [game(number, person=number // 10, cost=0.2 if number % 2 else 0.05) for number in range(600)]
    assert one(lines(report_of(rows)), "cost (second").endswith(" trappy costs people more")
    cheaper = [replace(row, cost=0.25 - (row.cost or 0.0)) for row in rows]
    assert one(lines(report_of(cheaper)), "cost (second").endswith(" standard costs people more")


@pytest.mark.parametrize("width", [60, 80, 100])
def test_legends_are_wrapped_once(width: int) -> None:
    """No word of a line would have fitted on the one before."""
    for view in (groups_view([]), calibration_view([])):
        console = Console(width=width, markup=False)
        with console.capture() as capture:
            console.print(view)
        shown = [line.rstrip() for line in capture.get().splitlines()]
        assert len(shown) > 3
        assert all(len(line) + 1 + len(after.split()[0]) > width for line, after in pairwise(shown))
