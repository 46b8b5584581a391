"""The same games have the same verdict in every command, page, report and export."""

import asyncio
import html
import json
import re
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest

from bot.dashboard.page_cache import PageCache
from bot.dashboard.page_renderer import OutputFormat, PageRenderer, PageRequest
from bot.dashboard.rendering import environment
from bot.views import trial_verdict
from bot.views.page import Query
from storage.database import Database
from storage.evidence.trials import NewTrial, start_trial
from storage.ledger.games import finish_game
from storage.records import GameResult
from tests.bot.cli.test_main import in_database
from tests.bot.conftest import Command
from tests.storage.samples import opened

START = datetime(2026, 11, 1, tzinfo=UTC)
EVEN = {"method": "balanced", "blind": True, "chances": {"standard": 0.5, "trappy": 0.5}}
WIN, DRAW, LOSS = GameResult.WIN, GameResult.DRAW, GameResult.LOSS
LABELS = {
    "too_early": "Too early to say",
    "not_clear": "Not decided yet",
    "no_difference": "No difference that matters",
    "more": "Trappy scores more",
    "less": "Standard scores more",
}


@dataclass(frozen=True)
class Case:
    """A trial's games, in turn with trappy and with standard, and what they say."""

    games: int
    trappy: tuple[GameResult, ...]
    """Results with trappy, over and over."""
    standard: tuple[GameResult, ...]
    says: str
    persons: int = 60


CASES = {
    "no game": Case(0, (WIN,), (LOSS,), "too_early"),
    "few games": Case(12, (WIN,), (LOSS,), "too_early"),
    "few people": Case(120, (WIN,), (LOSS,), "too_early", persons=20),
    "more after 100": Case(100, (WIN, WIN, WIN, LOSS), (LOSS, LOSS, LOSS, WIN), "more"),
    "less after 100": Case(100, (LOSS, LOSS, LOSS, WIN), (WIN, WIN, WIN, LOSS), "less"),
    "alike after 100": Case(100, (WIN, LOSS), (LOSS, WIN), "not_clear"),
    "draws alone": Case(100, (DRAW,), (DRAW,), "no_difference"),
}


async def _play(database: Database, case: Case) -> None:
    plan = NewTrial(name="t1", arms=("standard", "trappy"), configurations={"standard": {}, "trappy": {}})
    async with database.write() as session:
        trial = await start_trial(session, plan, at=START)
        for number in range(case.games):
            is_trappy = number % 2 == 0
            results = case.trappy if is_trappy else case.standard
            at, person = START + timedelta(minutes=number), f"person{number // 2 % case.persons}"
            game = await opened(
                session,
                f"g{number}",
                strategy="trappy" if is_trappy else "standard",
                selection=EVEN,
                trial_id=trial.id,
                at=at,
                opponent_id=person,
                opponent_name=person,
                opponent_rating=None,
            )
            result = results[number // 2 % len(results)]
            await finish_game(session, game.id, result=result, end_reason="normal", at=at)


def _page(path: Path, form: OutputFormat) -> str:
    async def made() -> str:
        database = await Database.open(f"sqlite:///{path}")
        try:
            page = trial_verdict.PAGE
            cache = PageCache(database, lambda: 0.0)
            maker = PageRenderer([page], environment(), cache)
            made = await maker.answer(PageRequest("works", Query(), form))
            await cache.close()
            return made.text
        finally:
            await database.close()

    return asyncio.run(made())


def _labels_in(text: str) -> list[str]:
    """Every verdict on the score that a text has."""
    words = " ".join(html.unescape(re.sub(r"<[^>]+>", " ", text)).split()).casefold()
    found = []
    for name, label in LABELS.items():
        who = label.split()[0]
        by = rf"{who} scores (?:[0-9.]+ points )?more" if "scores" in label else label
        if re.search(by.casefold(), words):
            found.append(name)
    return found


@pytest.mark.parametrize("case", CASES.values(), ids=CASES)
def test_every_face_says_the_same(case: Case, desdemona: Command, migrated_file: Path) -> None:
    in_database(migrated_file, lambda database: _play(database, case))

    def told(*command: str) -> str:
        status, out, err = desdemona(*command)
        assert (status, err) == (0, ""), command
        return out

    page = _page(migrated_file, OutputFormat.HTML)
    report = told("page", "month", "--month", "2026-11").split(">t1: ")[1].split("</p>")[0]
    texts = {
        "stats": told("stats", "--trial", "t1").split("Cost (")[0],
        "page works": told("page", "works").split("Cost (")[0],
        "report": report,
        "chips": re.findall(r'aria-current="true">([^<]+)</li>', page)[0],
        "headline": re.findall(r'<h1 id="verdict">([^<]+)<', page)[0],
    }
    for name, text in texts.items():
        assert _labels_in(text) == [case.says], name
        assert case.says in ("more", "less") or not re.search(r"points (?:more|less)", text), name
    plain = {
        "stats": json.loads(told("stats", "--trial", "t1", "--format", "json")),
        "page": json.loads(told("page", "works", "--format", "json"))["trial"],
        "address": json.loads(_page(migrated_file, OutputFormat.JSON))["trial"],
    }
    assert {name: each["verdict"] for name, each in plain.items()} == dict.fromkeys(plain, case.says)
    verdicts = [each["verdicts"] for each in plain.values()]
    assert verdicts[0] == verdicts[1] == verdicts[2]
    assert (verdicts[0][0]["mean"] is None) == (case.says == "too_early")
