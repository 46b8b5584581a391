"""Does it work? The verdict, and every number of a trial as its own arithmetic has it."""

import random
import re
from datetime import UTC, datetime, timedelta
from types import SimpleNamespace

import pytest

from bot.views import trial_verdict
from storage.database import Database
from storage.evidence.inference.decisions import decisions_report
from storage.evidence.inference.trial import TrialTerms
from storage.evidence.queries.trial_report import TrialReport, trial_report
from storage.evidence.statistics.groups import RULES
from storage.evidence.trials import NewTrial, start_trial
from storage.filters import Filters
from storage.ledger.games import finish_game
from storage.records import Endpoint, GameResult
from tests.bot.dashboard.numbers.recount import signed
from tests.bot.views.conftest import Visitor
from tests.storage.evidence.inference.samples import NOW, decision
from tests.storage.samples import opened

NOON = datetime(2026, 11, 25, 12, tzinfo=UTC)
EVEN = {"method": "balanced", "blind": True, "chances": {"standard": 0.5, "trappy": 0.5}}
GAMES = 480


async def play(database: Database, games: int = GAMES) -> None:
    """A trial of 60 people in which trappy wins two games of three and standard one."""
    rng = random.Random(1)
    plan = NewTrial(name="t1", arms=("standard", "trappy"), configurations={"standard": {}, "trappy": {}})
    async with database.write() as session:
        trial = await start_trial(session, plan, at=NOON)
        for number in range(games):
            player = rng.choice(["standard", "trappy"])
            wins = rng.random() < (0.67 if player == "trappy" else 0.33)
            person = f"person{number % 60}"
            game = await opened(
                session,
                f"g{number}",
                strategy=player,
                selection=EVEN,
                trial_id=trial.id,
                at=NOON + timedelta(minutes=number),
                opponent_id=person,
                opponent_name=person,
            )
            result = GameResult.WIN if wins else GameResult.LOSS
            at = NOON + timedelta(minutes=number, seconds=30)
            await finish_game(session, game.id, result=result, end_reason="normal", at=at)


async def test_without_a_trial_nobody_knows(visitor: Visitor) -> None:
    assert "Nobody knows yet." in await visitor.text("/dash/works")
    told = await visitor.json("/dash/api/works")
    assert told == {"trial": None, "groups": [], "unjudged_games": 0, "rules": RULES}


async def test_the_numbers_are_those_of_the_trial(database: Database, visitor: Visitor) -> None:
    await play(database)
    report = await trial_report(database, "t1", None, Filters(), datetime.now(UTC))
    assert report is not None
    assert report.arms == ("trappy", "standard")
    assert report.games is not None
    score = report.games.score.estimate
    assert score.low is not None
    assert score.low > 0
    told = (await visitor.json("/dash/api/works"))["trial"]
    assert (told["name"], told["verdict"]) == ("t1", "more")
    assert told["games"]["score"]["estimate"]["mean"] == pytest.approx(score.mean)
    page = await visitor.text("/dash/works")
    assert score.mean is not None
    assert f"Trappy scores {100 * score.mean:.1f} points more per 100 games." in page
    assert report.interim_analyses is not None
    assert report.interim_analyses.mean[-1] == pytest.approx(score.mean)
    last = (await visitor.text("/dash/api/works.csv?table=funnel")).splitlines()[-1].split(",")
    assert [float(each) for each in last] == pytest.approx([GAMES, score.mean, score.low, score.high])


@pytest.mark.parametrize("arms", [("randomised",), ("randomised", "standard")])
async def test_a_trial_that_draws_single_decisions(
    database: Database, visitor: Visitor, arms: tuple[str, ...]
) -> None:
    plan = NewTrial(name="t1", arms=arms, configurations={arm: {} for arm in arms}, endpoint=Endpoint.COST)
    async with database.write() as session:
        await start_trial(session, plan, at=NOON)
    assert "Single decisions: with and without a trap" in await visitor.text("/dash/works")


async def test_the_numbers_of_single_decisions(
    database: Database, visitor: Visitor, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Those of the report, of enough decisions to be shown."""
    rng = random.Random(3)
    rows = [
        decision(number, person=number % 80, treated=(trap := rng.random() < 0.5), cost=0.2 + 0.05 * trap)
        for number in range(400)
    ]
    report = decisions_report(rows, TrialTerms(), NOW)
    plan = NewTrial(
        name="t1", arms=("randomised",), configurations={"randomised": {}}, endpoint=Endpoint.COST
    )
    async with database.write() as session:
        trial = await start_trial(session, plan, at=NOON)

    async def read(*_: object) -> SimpleNamespace:
        found = TrialReport(trial, plan.arms, None, None, (), report, ())
        return SimpleNamespace(report=lambda _: found)

    monkeypatch.setattr(trial_verdict, "read_trial", read)
    page = " ".join(re.sub(r"<[^>]+>", " ", await visitor.text("/dash/works")).split())
    outcomes = {
        "cost (planned)": report.cost,
        "beyond difficulty (exploratory)": report.beyond_difficulty,
        "earned (exploratory)": report.earned,
    }
    for name, outcome in outcomes.items():
        found = outcome.any_time.estimate
        assert found.mean is not None
        assert found.low is not None
        assert found.high is not None
        mean, low, high = (signed(100 * number) for number in (found.mean, found.low, found.high))
        assert f"{name} 400 80 people {mean} {low} to {high}" in page
    assert "A trap costs people " in page


async def test_too_few_games_show_no_number(database: Database, visitor: Visitor) -> None:
    await play(database, 40)
    page = await visitor.text("/dash/works")
    assert "Too early to say." in page
    assert "40 games with 40 people so far. The interval appears at 100 games." in page


@pytest.mark.parametrize(
    ("query", "words"),
    [
        ("trial=other", "no trial &#39;other&#39; is known; known: t1"),
        ("arms=trappy", "does not name two of the trial"),
    ],
)
async def test_what_there_is_not_is_named(
    database: Database, visitor: Visitor, query: str, words: str
) -> None:
    await play(database, 2)
    assert words in await visitor.text(f"/dash/works?{query}", 400)
