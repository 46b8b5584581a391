"""The commands of the ten questions answer them, on a small database whose answers are known."""

import csv
import io
import json
import random
import re
import shutil
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest

from bot.views.questions import QUESTIONS, Question, questions
from storage.database import Database
from storage.evidence.trials import NewTrial, start_trial
from storage.ledger.events import record_event
from storage.ledger.games import finish_game
from storage.records import GameResult
from tests.bot.cli.test_main import in_database
from tests.bot.conftest import Command
from tests.bot.dashboard.samples import met_bait
from tests.storage.samples import ARENA, decision, opened, settled

START = (datetime.now(UTC) - timedelta(hours=2)).replace(minute=0, second=0, microsecond=0)
"""When the games begin, all within one day."""
EVEN = {"method": "balanced", "blind": True, "chances": {"standard": 0.5, "trappy": 0.5}}
GUIDE = Path(__file__).parents[4] / "docs" / "operator" / "monitor.md"
GAMES = 300


@pytest.fixture(scope="module")
def answered() -> dict[str, Question]:
    return {question.text: question for question in questions(START.astimezone())}


@pytest.fixture(scope="module")
def filled(template: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A trial of 60 people in which trappy wins all games and standard loses all; three met the same bait."""

    async def fill(database: Database) -> None:
        rng = random.Random(1)
        plan = NewTrial(name="t1", arms=("standard", "trappy"), configurations={"standard": {}, "trappy": {}})
        async with database.write() as session:
            trial = await start_trial(session, plan, at=START - timedelta(hours=1))
            for number in range(GAMES):
                player, person = rng.choice(plan.arms), f"person{number % 60}"
                at = START + timedelta(seconds=number)
                game = await opened(
                    session,
                    f"g{number}",
                    strategy=player,
                    selection=EVEN,
                    trial_id=trial.id,
                    our_rating=1500 + number,
                    opponent_id=person,
                    opponent_name=person,
                    at=at,
                )
                if number == 0:
                    await settled(session, game.id, 0, decision(), None)
                result = GameResult.WIN if player == "trappy" else GameResult.LOSS
                reason = "time" if number < 3 else "normal"
                await finish_game(session, game.id, result=result, end_reason=reason, at=at)
            for number, reply in enumerate(("d7d5", "d7d5", "e7e5")):
                await met_bait(session, f"bait{number}", reply, opponent=f"Bo{number}", rated=False)
            await record_event(session, ARENA, "challenge_declined", {"reason": "tooFast"})

    path = Path(shutil.copy(template, tmp_path_factory.mktemp("filled") / "desdemona.db"))
    in_database(path, fill)
    return path


@pytest.fixture
def played(migrated_file: Path, filled: Path) -> None:
    """The same database, where the commands look for it."""
    shutil.copy(filled, migrated_file)


@pytest.mark.usefixtures("played")
def test_each_question_has_an_answer(desdemona: Command, answered: dict[str, Question]) -> None:
    told = {}
    for question in answered.values():
        if question.command == "status":
            continue
        status, out, err = desdemona(*question.command.split())
        assert (status, err) == (0, ""), question
        told[question.text] = [" ".join(line.split()) for line in out.splitlines()]

    works = told["Do traps work this month?"]
    start, points, end = re.split(r"([0-9]+\.[0-9])", works[0])
    assert (start, end) == ("Trappy scores ", " points more per 100 games.")
    assert float(points) == pytest.approx(100, abs=5)
    assert works[1].startswith("The difference is between +9")
    assert f"from {GAMES} games with 60 people." in " ".join(works)

    traps = told["Which trap works best against people rated 1500 to 1700?"]
    assert traps[0] == "2 of 3 baits fooled somebody."
    assert "2 of 3 took it: We played e4. A trap: one player in three plays d5 here." in " ".join(traps)

    opponents = told["Which opponents take baits, and which return?"]
    assert opponents[0] == "63 opponents, 0 came back."
    assert any(line.startswith("person59 (arena) 5 ") for line in opponents)

    results = told["What are the results by week, game and rating band?"]
    monday = START - timedelta(days=START.weekday())
    group = f"{monday:%Y-%m-%d} Othello arena 1600 to 1799"
    (othello,) = [line for line in results if line.startswith(group)]
    wins, losses = (int(othello.split()[at]) for at in (7, 11))
    assert wins + losses == GAMES

    events = told["Which errors, time-outs and declines were there?"]
    assert any(line.startswith("challenge declined arena tooFast 1 ") for line in events)
    assert sum(int(line.split()[3]) for line in events if line.split()[1:3] == ["time", "arena"]) == 3
    times = told["How long do moves take, and how much lag is there?"]
    assert any(line.startswith("Othello arena 1 ") for line in times)

    ratings = told["How did our ratings develop?"]
    assert any(line.startswith("Othello, desdemona at arena 1799 ") for line in ratings)
    known = told["How many more games until we know?"]
    assert any(line.endswith(" would make the interval a third narrower.") for line in known)


@pytest.mark.usefixtures("played")
def test_json_and_csv_are_the_pages(desdemona: Command) -> None:
    _, out, _ = desdemona("page", "traps", "--outcome", "fell", "--format", "json")
    assert json.loads(out)["all"]["taken"] == 2
    assert len(json.loads(out)["baits"]) == 2
    _, out, _ = desdemona("page", "events", "--format", "csv", "--table", "endings")
    rows = list(csv.DictReader(io.StringIO(out)))
    assert sum(int(row["count"]) for row in rows if row["reason"] == "time") == 3


@pytest.mark.parametrize(
    ("arguments", "complaint"),
    [
        (("results", "--by", "moon"), "page results: by: 'moon' is not known; known: strategy, game"),
        (
            ("ratings", "--sort", "games"),
            "page ratings: 'sort' is not a filter of this page; available: account,",
        ),
        (("traps", "--format", "csv", "--table", "x"), "--table: 'x' is not known; known: baits, phases"),
        (("events", "--days", "8"), "page events: days: '8' is not known; known: 30, 1, 7, 90, 365"),
        (("opponents", "--page", "0"), "page opponents: page: '0' is not a whole number from 1"),
    ],
)
@pytest.mark.usefixtures("migrated_file")
def test_what_there_is_not_is_named(desdemona: Command, arguments: tuple[str, ...], complaint: str) -> None:
    status, out, err = desdemona("page", *arguments)
    assert (status, out) == (2, "")
    assert err.startswith(f"desdemona: {complaint}")


@pytest.mark.usefixtures("migrated_file")
def test_an_empty_database_has_answers_too(desdemona: Command) -> None:
    for name in ("works", "results", "traps", "opponents", "events", "ratings"):
        assert desdemona("page", name)[0] == 0


def test_questions_are_listed_with_this_month(desdemona: Command) -> None:
    _, out, _ = desdemona("page")
    lines = out.splitlines()
    assert len(lines) == 3 * len(QUESTIONS) == 30
    first = f"{datetime.now().astimezone():%Y-%m}-01"
    assert lines[:3] == [
        " 1. Do traps work this month?",
        f"    desdemona page works --since {first}",
        f"    /dash/works?since={first}",
    ]


def test_the_guide_has_each_question_with_its_command_and_page() -> None:
    guide = GUIDE.read_text(encoding="utf-8")
    section = guide[guide.index("## Ten questions") :]
    for number, question in enumerate(QUESTIONS, 1):
        assert f"### {number}. {question.text}" in section
        assert f"desdemona {question.command}".replace("MONTH", "2026-11-01") in section
        assert question.link.replace("MONTH", "2026-11-01") in section
