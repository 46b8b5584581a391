"""A trial's report: its warnings, its order, and what it says of each number."""

from collections.abc import Iterable, Sequence
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from typing import Any

import pytest
from rich.console import Console

from bot.parts.terminal import terminal
from bot.parts.values import Part, TablePart, VerdictPart
from bot.views.statistics.trial import interim_analyses, robustness, trial_parts
from storage.evidence.inference.any_time import InterimAnalyses
from storage.evidence.inference.decisions import DecisionsReport, decisions_report
from storage.evidence.inference.games import games_report_and_interim
from storage.evidence.inference.sample_size import any_time_sample_size
from storage.evidence.inference.suspects import Flags, SuspectFlag
from storage.evidence.inference.trial import TrialTerms
from storage.evidence.queries.trial_report import TrialReport
from storage.evidence.statistics.trial_rows import Unreadable
from storage.evidence.trials import StoredTrial
from storage.records import Endpoint
from tests.storage.evidence.inference.samples import (
    NOW,
    Game,
    decision,
    game,
    games_of,
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


LATER = NOW + timedelta(days=100)


def report_of(games: Sequence[Game], flags: Flags | None = None, **changes: Any) -> TrialReport:
    terms = TrialTerms(alpha=changes.get("alpha", 0.05))
    given = () if flags is None else (flags,)
    found, looks = games_report_and_interim(games_of(games), terms, LATER, *given)
    return TrialReport(trial(**changes), ARMS, found, looks, (), None, ())


def of_decisions(report: DecisionsReport) -> TrialReport:
    alone = trial(arms=("randomised",), endpoint=Endpoint.COST)
    return TrialReport(alone, ("randomised",), None, None, (), report, ())


def lines_of(parts: Iterable[Part]) -> list[str]:
    console = Console(width=400, markup=False)
    with console.capture() as capture:
        for part in terminal(parts):
            console.print(part)
    return [" ".join(line.split()) for line in capture.get().splitlines()]


def one(found: list[str], start: str) -> str:
    (line,) = (line for line in found if line.startswith(start))
    return line


def rows_of(parts: Iterable[Part], title: str) -> dict[str, tuple[str, ...]]:
    """The rows of a table by their names; of each cell its text."""
    (table,) = (part for part in parts if isinstance(part, TablePart) and part.title == title)
    texts = [[each if isinstance(each, str) else each.text for each in row] for row in table.rows]
    return {name: tuple(others) for name, *others in texts}


def verdict_of(report: TrialReport) -> VerdictPart:
    first = trial_parts(report, {})[0]
    assert isinstance(first, VerdictPart)
    return first


def is_fifth_of_trappy(row: Game) -> bool:
    return row.treated and row.game_id % 5 == 0


@pytest.fixture(scope="module")
def even() -> list[Game]:
    """1,200 games without an effect."""
    return played_games(1200, 0.0, 1)


def test_games_more_for_a_difference_in_elo_are_those_of_these_games(even: list[Game]) -> None:
    """By the score that an Elo point is worth here, not at 65 %."""
    report = report_of(even)
    assert report.games is not None
    sd, worth = report.games.score.estimate.sd, report.games.elo.score_per_elo
    assert sd is not None
    more = -(-any_time_sample_size(50 * worth, sd, TrialTerms().design(1000)) // 1) - len(even)
    assert more > 500
    assert f"To detect a difference of 50 Elo: about {more:,.0f} more games." in lines_of(robustness(report))
    said = {
        9 * worth: "There are already enough games to detect a difference of 50 Elo.",
        0.0: "`desdemona stats --plan` shows how many games are needed to detect a difference of 50 Elo.",
        1e-9: "With scores like these, a difference of 50 Elo needs more than 10^12 games.",
    }
    for score_per_elo, words in said.items():
        games = replace(report.games, elo=replace(report.games.elo, score_per_elo=score_per_elo))
        assert words in lines_of(robustness(replace(report, games=games)))
    assert not any("50 Elo" in line for line in lines_of(robustness(report_of(even, endpoint=Endpoint.COST))))


def test_the_planned_endpoint_stands_first(even: list[Game]) -> None:
    for endpoint, names in (
        (Endpoint.SCORE, ["score (planned)", "cost (exploratory)"]),
        (Endpoint.COST, ["cost (planned)", "score (exploratory)"]),
    ):
        report = report_of(even, endpoint=endpoint)
        assert list(rows_of(robustness(report), "Robustness")) == names
        assert verdict_of(report).others[0].lower().startswith(names[1])


def test_a_player_without_games_has_no_estimate() -> None:
    """Five games of one of the two: their number and no result, and the draw cannot be tested."""
    report = report_of([game(number, treated=True) for number in range(5)])
    found = lines_of((*trial_parts(report, {}), *robustness(report)))
    assert found[:2] == [
        "Too early to say.",
        "5 games with 5 people so far. The interval appears at 100 games with 30 people.",
    ]
    assert "assigned trappy, standard 5, 0" in found
    assert "It is too early to check the random choices." in found
    assert interim_analyses(report) is None
    assert not any("Elo" in line for line in found if "50 Elo" not in line)


@pytest.mark.parametrize(("only", "empty"), [(True, "standard"), (False, "trappy")])
def test_many_games_of_one_player_are_no_comparison_either(only: bool, empty: str) -> None:
    """Drawn with a chance near to certain; the draw is in order, the other's only game has no result."""
    rows = [
        game(number, treated=only, probability=0.999 if only else 0.001, person=number % 60)
        for number in range(200)
    ]
    rows.append(game(200, treated=not only, probability=0.999 if only else 0.001, score=None, person=3))
    said = verdict_of(report_of(rows))
    assert said.headline == "Too early to say."
    assert said.evidence == (
        f"200 games with 60 people so far, none of them with {empty}: there is nothing to compare.",
    )
    assert "The random choices fit the recorded probabilities." in lines_of(trial_parts(report_of(rows), {}))


def test_flagged_games_are_named_while_it_is_too_early() -> None:
    report = report_of([game(number) for number in range(6)], {2: (SuspectFlag.COPIED,)})
    found = lines_of(robustness(report))
    assert "score (planned) too early too early (copied 1)" in found


def test_a_small_stratum_has_no_estimate(even: list[Game]) -> None:
    small = [replace(row, site="ggs", game_id=10_000 + row.game_id) for row in even[:5]]
    row = next(line for line in lines_of(trial_parts(report_of([*even, *small]), {})) if ", ggs," in line)
    assert row.rpartition(", ")[2].split()[3:] == ["4"]
    assert "+" not in row


def test_warnings_stand_above_the_headline(even: list[Game]) -> None:
    assert verdict_of(report_of(even)).warning == ""
    biased = verdict_of(report_of([row for row in even if row.treated]))
    assert biased.warning.startswith("DO NOT USE: the random assignment differs")
    gone = report_of([replace(row, score=None) if is_fifth_of_trappy(row) else row for row in even])
    assert verdict_of(gone).warning.startswith("DO NOT USE: outcomes are missing from one of")
    assert rows_of(trial_parts(gone, {})[-1].parts, "Random assignment")["without a result"][0] != "0, 0"  # type: ignore[union-attr]
    dear = report_of([replace(row, cost=None) if is_fifth_of_trappy(row) else row for row in even])
    assert verdict_of(dear).warning.startswith("Cost (exploratory): DO NOT USE: outcomes are missing")


def test_the_level_of_the_intervals_is_the_trials(even: list[Game]) -> None:
    for alpha, level in ((0.05, "95 %"), (0.1, "90 %"), (0.001, "99.9 %")):
        report = report_of(even, alpha=alpha)
        assert any(
            f"the {level} intervals are valid at any time" in line for line in lines_of(robustness(report))
        )


def test_damaged_records_are_named(even: list[Game]) -> None:
    damaged = tuple(Unreadable("game", number, "why", number) for number in range(1, 6))
    report = replace(report_of(even[:5]), damaged_games=damaged)
    said = (
        "5 games cannot be read (game 1: why; game 2: why; game 3: why; 2 more): not counted here; a backup"
    )
    assert any(line.startswith(said) for line in lines_of(trial_parts(report, {})))


def drawn(*, cost: float, value: float, planned_n: int = 500, persons: int = 60) -> TrialReport:
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
    return of_decisions(report)


MORE = ("A trap costs people more", "A trap costs people more, beyond difficulty")
LESS = ("A trap costs people less", "A trap costs people less, beyond difficulty")
TITLE = "Single decisions: with and without a trap"


@pytest.mark.parametrize(
    ("cost", "value", "verdicts"),
    [
        (0.2, 0.5, (*MORE, "A trap earns more than it gives up")),
        (0.2, 0.1, (*MORE, "A trap earns less than it gives up")),
        (-0.2, 0.5, (*LESS, "A trap earns less than it gives up")),
        (0.0, 0.5, ("Not decided yet",) * 3),
    ],
)
def test_each_outcome_of_a_decision_has_its_own_verdict(
    cost: float, value: float, verdicts: tuple[str, str, str]
) -> None:
    found = rows_of(trial_parts(drawn(cost=cost, value=value), {}), TITLE)
    assert list(found) == ["cost (planned)", "beyond difficulty (exploratory)", "earned (exploratory)"]
    assert tuple(row[-1] for row in found.values()) == verdicts


@pytest.mark.parametrize(
    ("planned_n", "persons", "shown"), [(600, 30, True), (601, 30, False), (600, 29, False), (600, 300, True)]
)
def test_the_interval_for_one_look_waits_for_the_planned_number(
    planned_n: int, persons: int, shown: bool
) -> None:
    """And for 30 persons."""
    report = drawn(cost=0.2, value=0.5, planned_n=planned_n, persons=persons)
    rows = rows_of(robustness(report), "Robustness").values()
    fixed = [row[-1] for row in rows if row[-1]]
    assert len(fixed) == (3 if shown else 0)
    assert all(text.endswith(")") for text in fixed)
    assert not shown or fixed[0].startswith("+2")


def test_what_one_look_cannot_determine_is_said() -> None:
    """A covariate that no second person varies."""
    rows = [
        decision(number, person=number % 60, expected_trap=0.5 if number == 3 else 0.08, cost=number % 7 / 10)
        for number in range(600)
    ]
    report = of_decisions(decisions_report(rows, TrialTerms(planned_decisions=600), NOW))
    found = rows_of(robustness(report), "Robustness").values()
    assert {row[-1] for row in found} == {"not determined if one of the persons is left out"}


def test_decisions_whose_draw_is_broken_say_so_first() -> None:
    rows = [decision(n, person=n // 10, cost=None if n % 4 == 1 else 0.1) for n in range(600)]
    report = of_decisions(decisions_report(rows, TrialTerms(), NOW))
    assert verdict_of(report).warning.startswith("DO NOT USE: outcomes are missing from one of")


def test_verdicts_name_the_player() -> None:
    rows = [game(number, person=number // 10) for number in range(600)]
    assert verdict_of(report_of(rows)).headline.startswith("Trappy scores ")
    worse = [replace(row, score=1.0 - (row.score or 0.0)) for row in rows]
    assert verdict_of(report_of(worse)).headline.startswith("Standard scores ")
    rows = [game(number, person=number // 10, cost=0.2 if number % 2 else 0.05) for number in range(600)]
    assert verdict_of(report_of(rows)).others[0].startswith("Cost (exploratory): trappy costs people ")


def test_the_course_of_the_difference(even: list[Game]) -> None:
    assert isinstance(report_of(even).interim_analyses, InterimAnalyses)
    assert verdict_of(report_of(even)).chart is not None
