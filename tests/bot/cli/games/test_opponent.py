"""`desdemona page opponent`: who is meant, and the same numbers as the dashboard's page."""

import json
import shutil
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest

from storage.database import Database
from storage.ledger.blocks import add_block
from storage.ledger.games import finish_game
from storage.records import GameResult
from tests.bot.cli.test_main import in_database
from tests.bot.conftest import Command
from tests.bot.views.test_opponent import regular
from tests.storage.samples import opened

NOON = datetime(2026, 11, 1, 12, tzinfo=UTC)


@pytest.fixture(scope="module")
def filled(template: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    async def fill(database: Database) -> None:
        await regular(database, 22)
        async with database.write() as session:
            await opened(session, "far", site="lichess", opponent_name="ANNA", opponent_id="other")
            await opened(session, "bad", opponent_id="x\x1b[31m", opponent_name="\x1b[31mred")
            for number, name in enumerate(("Ben", "Benno")):
                game = await opened(
                    session, name, opponent_id="ben", opponent_name=name, at=NOON + timedelta(days=number)
                )
                await finish_game(session, game.id, result=GameResult.WIN, end_reason="left", moves=["f5"])
            await add_block(session, "arena", "ben")

    path = Path(shutil.copy(template, tmp_path_factory.mktemp("filled") / "desdemona.db"))
    in_database(path, fill)
    return path


@pytest.fixture
def met(migrated_file: Path, filled: Path) -> None:
    shutil.copy(filled, migrated_file)


@pytest.mark.usefixtures("met")
def test_a_person(desdemona: Command) -> None:
    status, told, notes = desdemona("page", "opponent", "BEN")
    assert (status, notes) == (0, "")
    lines = [" ".join(line.split()) for line in told.splitlines()]
    assert " ".join(lines).startswith(
        "Opponents · arena · ben Benno person; 2 games; they score 0 % of 2; 0 of 0 baits taken; 0 slips; "
        "best rating 1600; blocked; left early 2 games Formerly Ben. First seen 01 Nov 2026, last 02 Nov"
    )
    assert "Othello (trappy) 2 · 0 · 0 (2 games) \N{EN DASH}" in lines
    assert "Came on 2 days, the last one 02 Nov 2026; a median of 1 day between visits, at most 1" in told
    assert "Rating: Othello, blitz, rating: ▁▁ 1600 (1600 to 1600)" in lines
    assert any(line.startswith("Othello, 2026-11-02 12:00 left early") for line in lines)
    assert "too few" in told


@pytest.mark.usefixtures("met")
def test_progress(desdemona: Command) -> None:
    _, told, _ = desdemona("page", "opponent", "anna", "--site", "arena")
    (block,) = [line for line in told.splitlines() if "1 to 20" in line]
    assert "60" in block
    assert "21.7 % (" in block
    assert "21 to 22" in told
    assert "Numbers need 20 replies that count like 10 games or more." in " ".join(told.split())


@pytest.mark.usefixtures("met")
def test_json(desdemona: Command) -> None:
    status, told, _ = desdemona("page", "opponent", "anna", "--site", "arena", "--format", "json")
    found = json.loads(told)
    assert status == 0
    assert (found["name"], found["games"], len(found["visits"])) == ("Anna", 22, 22)
    assert [block["first"] for block in found["progress"][0]["blocks"]] == [1, 21]


@pytest.mark.usefixtures("met")
def test_control_characters_do_not_reach_the_terminal(desdemona: Command) -> None:
    _, told, _ = desdemona("page", "opponent", "x\x1b[31m")
    assert "\x1b" not in told
    assert told.splitlines()[:2] == [r"Opponents · arena · x\x1b[31m", r"\x1b[31mred"]


@pytest.mark.usefixtures("met")
@pytest.mark.parametrize(
    ("arguments", "complaint"),
    [
        (("nobody",), "we have met no opponent 'nobody'"),
        (("ben", "--site", "lichess"), "we have met no opponent 'ben' at lichess"),
        (
            ("ANNA",),
            "several accounts have the name 'ANNA': 'anna' at arena, 'other' at lichess; "
            "give the key, or --site",
        ),
    ],
)
def test_who_is_not_found(desdemona: Command, arguments: tuple[str, ...], complaint: str) -> None:
    assert desdemona("page", "opponent", *arguments) == (2, "", f"desdemona: {complaint}\n")


@pytest.mark.usefixtures("met")
def test_a_whole_key_goes_before_names(desdemona: Command) -> None:
    _, told, _ = desdemona("page", "opponent", "anna", "--format", "json")
    assert json.loads(told)["site"] == "arena"
