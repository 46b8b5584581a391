"""What is said about a person: only from a hundred replies on, and only what their games show."""

from dataclasses import replace
from datetime import UTC, datetime
from typing import Any

import numpy as np
import pytest

from bot.text import person_report
from bot.text.person_data import load_person
from bot.text.person_report import MIN_REPLIES, PersonGameReport, model_of_version, person_game_report
from engine.decision import PersonUse
from engine.errors import RecordError
from engine.human.person_prior import card_path, read_card
from engine.human.reply_forecast import ReplyForecast
from engine.person.card import PersonModel, person_model
from engine.person.error_rate import ErrorRate
from engine.person.site import SiteGame, SiteModel, SiteReply
from engine.person.state import PersonState, fold_games
from storage.database import Database
from storage.evidence.queries.person_report import ReportedReply
from storage.ledger.persons import StoredState
from storage.ledger.sites import SiteOfPerson
from storage.packing.records import pack
from tests.bot.text.known_persons import learn
from tests.engine.person.samples import empty, game, model
from tests.storage.conftest import backend, database, url
from tests.storage.ledger.test_forecasts import made_forecast

__all__ = ["backend", "database", "url"]  # fixtures


def sentences(report: PersonGameReport) -> list[str]:
    return [str(each.text) for each in report.statements]


async def report_of(database: Database, key: int) -> PersonGameReport:
    (report,) = (await load_person(database, key)).games
    return report


async def test_a_repeated_error_is_shown_with_its_game(database: Database) -> None:
    report = await report_of(database, await learn(database))
    assert sentences(report) == [
        "3 times you made the same error in the same position: d6, which cost 15 % of the game.",
        "Your replies in positions that you had met before: 3. The same as the time before: 1.",
    ]
    first, second = report.statements
    assert first.error is not None
    assert (first.error.game, first.error.ply, first.error.times) == ("game3", 0, 3)
    assert second.error is None
    assert (report.games, report.replies, report.rating) == (4, 120, 1600)


async def test_nothing_is_said_before_a_hundred_replies(database: Database) -> None:
    report = await report_of(database, await learn(database, replies=MIN_REPLIES - 1))
    assert report.statements == ()
    assert report.to_json()["statements"] == []
    assert len(report.repeated) == 1


async def test_the_download_has_everything(database: Database) -> None:
    told = (await load_person(database, await learn(database))).to_json()
    assert (told["site"], told["name"], told["forgotten_at"]) == ("arena", "Anna", None)
    (game,) = told["games"]
    assert game["state"] == {
        "version": model().version,
        "tilt": None,
        "tilts": [],
        "vector": None,
        "memory": [],
    }
    assert game["statements"][0]["error"]["move"] == "d6"
    assert game["statements"][0]["text"]["places"]["n"] == 3


REPORT = PersonGameReport("othello", "Othello", 9, 212, None, 1500, 0, 0, (), {})


@pytest.mark.parametrize(
    ("errors", "rating", "said"),
    [
        (
            ErrorRate(212, 0.09, 0.08, 0.12, 0.13),
            1500,
            "You err less often than others rated 1500: about 9 in 100 replies, they 13 "
            "(95 %: 8 to 12; 212 replies).",
        ),
        (
            ErrorRate(212, 0.2, 0.15, 0.25, 0.1),
            1500,
            "You err more often than others rated 1500: about 20 in 100 replies, they 10 "
            "(95 %: 15 to 25; 212 replies).",
        ),
        (
            ErrorRate(212, 0.09, 0.08, 0.12, 0.13),
            None,
            "You err less often than others: about 9 in 100 replies, they 13 (95 %: 8 to 12; 212 replies).",
        ),
        (
            ErrorRate(212, 0.2, 0.15, 0.25, 0.1),
            None,
            "You err more often than others: about 20 in 100 replies, they 10 (95 %: 15 to 25; 212 replies).",
        ),
        (ErrorRate(212, 0.09, 0.08, 0.14, 0.13), 1500, None),
    ],
)
def test_errors_are_compared_only_beyond_the_interval(
    errors: ErrorRate, rating: int | None, said: str | None
) -> None:
    assert sentences(replace(REPORT, errors=errors, rating=rating)) == [said] * (said is not None)


def played_by(of: PersonModel, k: float) -> tuple[StoredState, list[ReportedReply]]:
    """The state of a person with this k, and their replies."""
    rng = np.random.default_rng(1)
    played = [game(rng, 0.0, k) for _ in range(6)]
    state = fold_games(empty(of), played, of)
    stored = StoredState(state.version, 6, 120, (datetime(2026, 1, 1, tzinfo=UTC), 1), b"", state.to_bytes())
    replies = [
        ReportedReply(
            at,
            at,
            f"game{at}",
            1600,
            0,
            "d6",
            0,
            pack(recorded(of.version, each.replies, each.base, each.costs)),
            None,
            "f5 d6",
        )
        for at, each in enumerate(reply for one in played for reply in one.replies)
    ]
    return stored, replies


def test_a_person_is_compared_with_the_people_of_their_site(monkeypatch: pytest.MonkeyPatch) -> None:
    """Who errs as others there do is not told that they err more often than others."""
    of = model(has_vector=False)
    monkeypatch.setattr(person_report, "model_of_version", lambda *_: of)
    stored, replies = played_by(of, -5.0)
    site, rng = SiteModel.of(of), np.random.default_rng(2)
    state = site.new_state()
    for _ in range(20):
        played = game(rng, 0.0, -5.0).replies
        told = tuple(SiteReply(each.base, each.costs, each.index) for each in played)
        state = site.fold(state, SiteGame(told))
    alone, there = (
        person_game_report("othello", stored, replies, known).errors
        for known in (None, SiteOfPerson(state.to_bytes(), None))
    )
    assert alone is not None
    assert there is not None
    assert alone.differs
    assert alone.own > 1.3 * alone.others
    assert not there.differs
    assert there.own == pytest.approx(alone.own, rel=0.1)
    damaged = person_game_report("othello", stored, replies, SiteOfPerson(b"?", None)).errors
    assert damaged == alone


def test_the_site_counts_beside_a_base_without_a_prior_of_its_own() -> None:
    """As the calibrated models are; the report does not open them."""
    of = person_model("othello", None, "a calibrated model's")
    of = replace(of, card=replace(of.card, vector=None))
    stored, replies = played_by(of, -5.0)
    site, rng = SiteModel.of(of), np.random.default_rng(2)
    state = site.new_state()
    for _ in range(20):
        played = game(rng, 0.0, -5.0).replies
        state = site.fold(state, SiteGame(tuple(SiteReply(e.base, e.costs, e.index) for e in played)))
    alone, there = (
        person_game_report("othello", stored, replies, known).errors
        for known in (None, SiteOfPerson(state.to_bytes(), None))
    )
    assert alone is not None
    assert there is not None
    assert there.others > 1.2 * alone.others


def test_errors_are_counted_from_the_forecasts(monkeypatch: pytest.MonkeyPatch) -> None:
    of = model(has_vector=False)
    monkeypatch.setattr(person_report, "model_of_version", lambda *_: of)
    stored, replies = played_by(of, 14.0)
    found = person_game_report("othello", stored, replies)
    assert found.errors is not None
    assert found.errors.replies == 120
    assert found.errors.own < found.errors.others
    assert found.state["tilt"]["k"] > 5
    assert found.state["tilts"][0].keys() == {"x", "k", "millionths"}
    assert found.state["memory"]
    few = person_game_report(
        "othello", stored, [*replies[:20], *(replace(each, forecast=None) for each in replies[20:])]
    )
    assert few.errors is None


@pytest.mark.parametrize(
    "damage",
    [
        lambda stored, replies: (replace(stored, state="text"), replies),
        lambda stored, replies: (replace(stored, state=stored.state[:-1]), replies),
        lambda stored, replies: (
            replace(
                stored,
                state=replace(PersonState.from_bytes(stored.state), tilts=((10**6, 10**6),)).to_bytes(),
            ),
            replies,
        ),
    ],
)
def test_damaged_records_of_a_person_are_named(damage: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    of = model(has_vector=False)
    monkeypatch.setattr(person_report, "model_of_version", lambda *_: of)
    with pytest.raises(RecordError, match="damaged"):
        person_game_report("othello", *damage(*played_by(of, 3.0)))


def recorded(version: str, replies: Any, base: Any, costs: Any) -> dict[str, Any]:
    use = PersonUse(version, 1, (), (), tuple(costs), (), 1.0, "")
    made: ReplyForecast = replace(
        made_forecast(None), replies=replies, base=base, probabilities=base, person=use
    )
    return made.to_record()


def test_the_model_of_a_state_is_found_by_its_version() -> None:
    prior = read_card(card_path("othello"))
    known = person_model("othello", prior, next(iter(prior.bases)))
    assert model_of_version("othello", known.version) == known
    shared = person_model("othello", prior, "of a base without a prior of its own")
    found = model_of_version("othello", shared.version)
    assert (found.version, found.tilt) == (shared.version, shared.tilt)
    assert model_of_version("tictactoe", "?").tilt.grid.points.shape == (143, 2)
