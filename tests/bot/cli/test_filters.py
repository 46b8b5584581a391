"""The options that select games, and suspect games in the commands that have them."""

import csv
import io
import json
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest

from bot.cli.filters import OPTIONS, filters_of
from engine.params import TrapParams
from storage.database import Database
from storage.evidence.queries.filter_language import FIELDS
from storage.evidence.trials import NewTrial, start_trial
from storage.filters import Filters, GamePhase, TrapSettings
from storage.ledger.games import finish_game
from storage.records import GameResult
from tests.bot.cli.test_main import in_database
from tests.bot.conftest import Command
from tests.storage.samples import opened

NOON = datetime(2026, 11, 25, 12, tzinfo=UTC)
MOVES = ["f5", "d6", "c3", "d3", "c4", "f4", "f6", "f3", "e6", "e7", "d7"]


@pytest.fixture
def three_games(migrated_file: Path) -> None:
    """Two that the opponent left at once, in a trial with a third, which was played on."""

    async def fill(database: Database) -> None:
        async with database.write() as session:
            plan: dict[str, dict[str, str]] = {"standard": {}, "trappy": {}}
            trial = await start_trial(
                session, NewTrial(name="t1", arms=("standard", "trappy"), configurations=plan), at=NOON
            )
            for number, plies in enumerate((3, 11, 2)):
                game = await opened(
                    session,
                    f"game{number}",
                    strategy=("trappy", "standard", "trappy")[number],
                    trial_id=trial.id,
                    selection={"chances": {"trappy": 0.5, "standard": 0.5}},
                    at=NOON + timedelta(hours=number + 1),
                )
                await finish_game(
                    session,
                    game.id,
                    result=GameResult.WIN,
                    end_reason="resignation",
                    moves=MOVES[:plies],
                    at=NOON + timedelta(hours=number + 2),
                )

    in_database(migrated_file, fill)


def test_options_become_filters() -> None:
    assert filters_of({}) == Filters()
    settings = TrapSettings("median", "paper", 25, "value", 5.0, 10.0, 5.0)
    found = filters_of(
        {
            "version": "1",
            "settings": settings.text,
            "speed": "blitz",
            "programs": False,
            "first": False,
            "trial": "t1",
            "since": "2026-11-25",
        }
    )
    assert found == Filters(
        version="1",
        settings=settings,
        speed="blitz",
        opponent_is_bot=False,
        our_side=1,
        trial="t1",
        since=datetime(2026, 11, 25).astimezone(),
    )
    assert (filters_of({"first": True}).our_side, filters_of({"programs": True}).opponent_is_bot) == (0, True)
    assert filters_of({"opening": " f5  d6"}) == Filters(opening="f5 d6")
    assert filters_of({"phase": "21-40"}) == Filters(phase=GamePhase(1))


def test_what_pages_can_filter_by_commands_can_too() -> None:
    texts = {"settings": TrapSettings("median", "paper", 25, "value", 5.0, 10.0, 5.0).text, "phase": "1-20"}
    texts |= {"strategy": "trappy", "game": "chess", "since": "2026-11-25", "until": "2026-11-25"}
    texts |= {"min_rating": "1", "max_rating": "2"}
    found = filters_of({name: texts.get(name, name) for name in OPTIONS})
    assert [each.name for each in FIELDS.values() if getattr(found, each.attribute) is None] == []


@pytest.mark.usefixtures("three_games")
def test_a_phase_is_of_moves_alone(desdemona: Command) -> None:
    for words in (
        ("games",),
        ("page", "month"),
        ("export",),
        ("export", "--format", "csv", "--what", "events"),
    ):
        status, _, err = desdemona(*words, "--phase", "1-20")
        assert (status, "--phase: selects moves, but only whole games" in err) == (2, True), words
    for option, reason in (("--plan", "a plan is for"), ("--trial=t1", "a trial compares")):
        status, _, err = desdemona("stats", option, "--phase", "1-20")
        assert (status, f"--phase: {reason} whole games" in err) == (2, True)
    status, _, err = desdemona("page", "works", "--phase", "1-20")
    assert (status, "'phase' is not a filter of this page; available: account" in err) == (2, True)
    status, _, err = desdemona("stats", "--phase", "20")
    assert (status, "--phase: '20' is not a phase; phases are 1-20, 21-40" in err) == (2, True)
    assert desdemona("stats", "--phase", "21-40")[2] == "No games match these filters.\n"
    assert desdemona("export", "--format=csv", "--what=outcomes", "--phase=1-20")[2] == "0 rows written\n"


@pytest.mark.usefixtures("three_games")
def test_commands_pass_their_options_on(desdemona: Command) -> None:
    for option, count in (("--first", 3), ("--second", 0), ("--people", 3), ("--programs", 0)):
        _, out, _ = desdemona("games", option, "--format", "json")
        assert len(json.loads(out)) == count, option
        assert f"{count} games written" in desdemona("export", option)[2]
    _, out, _ = desdemona("stats", "--by", "game,settings", "--format", "json")
    (row,) = json.loads(out)
    _, out, _ = desdemona("stats", "--settings", row["group"]["settings"], "--format", "json", "--by", "game")
    assert json.loads(out)[0]["games"] == 3
    assert desdemona("games", "--trial", "t2")[2] == "No games match these filters.\n"
    status, _, err = desdemona("games", "--settings", "bold")
    assert (status, "--settings: 'bold' is not a value that" in err) == (2, True)


@pytest.mark.usefixtures("three_games")
def test_suspect_games_are_listed_with_the_reasons(desdemona: Command) -> None:
    _, out, _ = desdemona("games", "--suspect")
    assert ("game2" in out, "game1" in out, "game0" in out) == (True, False, True)
    assert out.count("left early") == 2
    _, out, _ = desdemona("games", "--suspect", "--limit", "1", "--format", "json")
    assert [(row["game_id"], row["suspect"]) for row in json.loads(out)] == [("game2", ["left early"])]
    _, out, _ = desdemona("games", "--without-suspects", "--format", "csv")
    assert [(row["game_id"], row["suspect"]) for row in csv.DictReader(io.StringIO(out))] == [("game1", "")]
    _, out, _ = desdemona("games", "--format", "json")
    assert [row["suspect"] for row in json.loads(out)] == [["left early"], [], ["left early"]]
    assert "suspect" not in desdemona("games")[1]
    assert desdemona("games", "--suspect", "--strategy", "strong")[2] == "No games match these filters.\n"


@pytest.mark.usefixtures("three_games")
def test_suspect_games_are_exported_with_the_reasons(desdemona: Command) -> None:
    _, out, _ = desdemona("export")
    assert out.count('[Suspect "left early"]') == 2
    _, out, err = desdemona("export", "--without-suspects")
    assert ("Suspect" in out, "1 game written" in err) == (False, True)
    assert "SUSPECT[left early]" in desdemona("export", "--suspect", "--format", "ggf")[1]
    assert desdemona("export", "--imported", "--suspect")[0] == 2


@pytest.mark.usefixtures("three_games")
def test_statistics_with_and_without_them(desdemona: Command) -> None:
    def games(*options: str) -> dict[str, int]:
        rows = json.loads(desdemona("stats", *options, "--format", "json")[1])
        return {row["group"]["strategy"]: row["games"] for row in rows}

    assert games() == {"trappy": 2, "standard": 1}
    assert games("--without-suspects") == {"standard": 1}
    assert games("--suspect") == {"trappy": 2}
    assert desdemona("stats", "--suspect", "--strategy", "standard")[2] == "No games match these filters.\n"


@pytest.mark.usefixtures("three_games")
def test_a_trials_report_has_both(desdemona: Command) -> None:
    _, out, _ = desdemona("stats", "--trial", "t1")
    assert "without suspect games" in out
    assert "too early (left early 2)" in out
    report = json.loads(desdemona("stats", "--trial", "t1", "--format", "json")[1])
    score = report["score"]
    assert (score["flagged"], score["flagged_for"]) == (2, {"left early": 2})
    assert (score["estimate"]["n"], score["without_flagged"]["n"]) == (3, 1)
    for option in ("--suspect", "--without-suspects"):
        status, _, err = desdemona("stats", "--trial", "t1", option)
        assert (status, f"{option}: a trial's report has every line with and without" in err) == (2, True)


def test_the_usual_settings_have_a_text() -> None:
    usual = TrapParams()
    settings = TrapSettings(
        usual.assessment,
        usual.scale,
        usual.margin_centi,
        usual.decided,
        usual.risk_percent,
        usual.risk_share_percent,
        usual.threshold_percent,
    )
    assert TrapSettings.parse(settings.text) == settings
