"""What is said of each site's people."""

from pathlib import Path

import pytest

from bench.people.site import SITES, People
from bot.text.site_text import site_texts
from engine.human.model import BadModel
from engine.human.person_prior import card_path, read_card
from engine.person.card import person_model
from engine.person.site import SiteModel
from engine.person.site_state import SiteState
from storage.database import Database
from storage.inserts import insert_new
from storage.ledger.sites import SiteKey
from storage.tables.persons import SiteStateRow
from tests.bot.cli.test_main import in_database
from tests.bot.conftest import Command
from tests.bot.text.known_persons import learn

PRIOR = read_card(card_path("othello"))
MODEL = SiteModel.of(person_model("othello", PRIOR, next(iter(PRIOR.bases))))
ARENA, LICHESS = SiteKey("arena", "othello"), SiteKey("lichess", "chess")
CARELESS = SiteState("another", 50, 1250, 40_000, errors=190_000, expected=100_000)
SAID = "Othello at arena (50 judged games): people err 1.9 times as often as the model's people."


def test_people_err_more_often() -> None:
    assert site_texts({ARENA: CARELESS}, None, None) == [SAID]


def test_ratings_are_mapped() -> None:
    people, state = People(1, SITES[2]), MODEL.new_state()
    for number in range(40):
        state = MODEL.fold(state, people.game(1200.0 + 10 * number, 1600.0 + 10 * number))
    (said,) = site_texts({ARENA: state}, None, None)
    middle, mapped = (int(each) for each in said.split() if each.isdigit() and len(each) == 4)
    assert said.endswith(f"; a rating of {middle} there is {mapped} on the model's scale.")
    assert middle == 1800
    assert 1250 <= mapped <= 1550


def test_too_little_is_known() -> None:
    early = SiteState("another", 9, 90, 9_999, errors=190_000, expected=100_000)
    said = "Chess at lichess (9 judged games): too early to say how its people differ from the model's."
    assert site_texts({LICHESS: early, ARENA: SiteState("another")}, None, None) == [said]
    nothing = SiteState("another", 1, 9, 99_000)
    assert "1 judged game): too early" in site_texts({LICHESS: nothing}, None, None)[0]


def test_sites_and_games_are_selected() -> None:
    states = {ARENA: CARELESS, LICHESS: CARELESS}
    assert len(site_texts(states, None, None)) == 2
    assert site_texts(states, "arena", None) == site_texts(states, None, "othello") == [SAID]
    assert site_texts(states, "arena", "chess") == []


def test_a_damaged_card_costs_only_the_curve(monkeypatch: pytest.MonkeyPatch) -> None:
    def fail(_: Path) -> None:
        raise BadModel("damaged")

    monkeypatch.setattr("bot.text.site_text.read_card", fail)
    assert site_texts({ARENA: CARELESS}, None, None) == [SAID]


async def _fill(database: Database) -> None:
    await learn(database)
    values = {"version": "another", "games": 50, "state": CARELESS.to_bytes()}
    async with database.write() as session:
        for site in ("arena", "lichess"):
            await insert_new(session, SiteStateRow, site=site, game="othello", **values)


def test_the_operator_is_told_beside_a_person_and_the_calibration(
    desdemona: Command, migrated_file: Path
) -> None:
    in_database(migrated_file, _fill)
    _, told, _ = desdemona("person", "show", "arena", "Anna")
    assert told.splitlines()[-1] == SAID
    assert "lichess" not in told
    _, told, _ = desdemona("person", "show", "arena", "Anna", "--format", "json")
    assert "1.9 times" not in told
