"""The people model's prior, learned from analysed positions of persons whose skill is known."""

import json
import math
from dataclasses import replace
from itertools import accumulate

import numpy as np
import pytest

from engine.games import get_rules
from engine.human.person_prior import (
    BULLET,
    CONSTANT,
    NEW,
    RATING,
    PersonPrior,
    RatingScale,
    costs_of,
)
from lab.analysis import person_fitting
from lab.analysis.analysed_games import StoredPosition
from lab.analysis.elo import EloStanding
from lab.analysis.fitting import FitRefused
from lab.analysis.person_fitting import (
    TILTS,
    TRUTH_ALONE,
    BaseProbabilities,
    FittedPrior,
    fit_person_prior,
    merged_card,
    replies_of,
    with_most_k,
)
from lab.analysis.persons import seconds_of
from lab.analysis.population import Population, population
from lab.analysis.recorded_games import half_of_person
from lab.analysis.study_report import person_text
from tests.lab.analysis.samples import MOVE, ROOT, position

KEY = "a" * 64
OWN = RatingScale("the site's own", 1600.0, 400.0, 2.0, 0)


def made_up(persons: int, replies: int, per_rating: float = 3.0, seed: int = 1) -> list[StoredPosition]:
    """Persons who see the more of the replies' cost the higher their rating, and less of it at bullet."""
    rng = np.random.default_rng(seed)
    game, found = get_rules("othello"), []
    scale = game.expected_scale_centi(
        game.play(game.parse_position(ROOT), game.parse_move(game.initial(), MOVE))
    )
    for person in range(persons):
        rating, is_bullet = int(rng.integers(1000, 2200)), person % 3 == 0
        for number in range(replies):
            scores = rng.integers(-800, 800, (3, 5))
            probabilities = rng.dirichlet(np.ones(3) * 2)
            k = 3.0 + per_rating * (rating - 1600) / 400 - 2.0 * is_bullet
            worth = 1 / (1 + np.exp(scores[:, -1] / scale))
            tilted = probabilities * np.exp(k * (worth - worth.max()))
            played = int(rng.choice(3, p=tilted / tilted.sum()))
            given = position(person * replies + number, scores.tolist(), played, probabilities.tolist())
            found.append(
                replace(
                    given,
                    game_key=f"game {person} {number // 10}",
                    name=f"person {person}",
                    time_control="60+0" if is_bullet else "180+2",
                    found=replace(given.found, rating=rating),
                )
            )
    return found


def fitted(people: Population, **others: object) -> FittedPrior:
    base = BaseProbabilities("net", KEY, people.models["net"], 1e-5)
    data = replies_of(people, base.probabilities, 6, None, None)
    given = {"grid": TRUTH_ALONE, "resamples": 100, **others}
    return fit_person_prior("othello", data, base, 6, given.pop("grid"), OWN, **given)  # type: ignore[arg-type]


@pytest.fixture(scope="module")
def people() -> Population:
    return population("othello", made_up(120, 30), "net")


def test_skill_is_learned_by_rating_and_speed(people: Population) -> None:
    steps: list[str] = []
    found = fitted(people, on_step=steps.append)
    assert steps == [
        "learning the prior without ratings",
        "learning the prior with ratings",
        "evaluating on the other persons",
    ]
    rated = found.prior.rated
    assert rated is not None
    assert rated.features == (CONSTANT, RATING, BULLET)
    assert found.prior.unrated.features == (CONSTANT, BULLET)
    assert rated.coefficients[:, 0].tolist() == [0.0, 0.0, 0.0]
    constant, rating, bullet = rated.coefficients[:, 1]
    assert constant == pytest.approx(3.0, abs=0.6)
    assert bullet == pytest.approx(-2.0, abs=1.0)
    assert rating == pytest.approx(3.0, abs=1.0)
    everybody = found.bands[0]
    assert everybody.name == "all"
    assert everybody.gains["rated"].low > everybody.gains["unrated"].value > 0
    assert everybody.ratio.value > 1.1
    assert everybody.ratios["rated"].value == pytest.approx(1.0, abs=0.1)
    names = [band.name for band in found.bands]
    assert names == ["all", "rated under 1300", "rated 1300-1699", "rated 1700-2099", "rated from 2100"]
    assert sum(band.replies for band in found.bands[1:]) == everybody.replies
    assert sum(band.errors for band in found.bands[1:]) == everybody.errors
    half = {stored.name for stored in people.positions if half_of_person(stored.name, 1) == 0}
    assert (found.persons, everybody.persons) == (len(half), 120 - len(half))


def test_the_card_has_what_was_measured(people: Population) -> None:
    found = fitted(people, seed=2)
    card = merged_card("othello", None, found.record({"command": "desdemona lab fit", "seed": 2}))
    data = json.dumps(card, allow_nan=False).encode()
    read = PersonPrior.parse(data, "card")
    base = people.models["net"]
    data_of = replies_of(people, base, 6, None, None)
    replies = data_of.replies
    starts = [*replies.starts.tolist(), len(replies.costs)]
    rated_gain, errors, expected = 0.0, 0, 0.0
    mine = [at for at, who in enumerate(data_of.persons) if half_of_person(data_of.names[who], 2) == 1]
    for at in mine:
        inside = slice(starts[at], starts[at + 1])
        probabilities, costs = base[inside].tolist(), replies.costs[inside].tolist()
        tilted = read.tilted(KEY, probabilities, costs, data_of.ratings[at], data_of.seconds[at])
        played = int(replies.played[at]) - starts[at]
        rated_gain += float(np.log(tilted[played]) - np.log(probabilities[played])) / len(mine)
        errors += costs[played] >= 0.10
        expected += sum(p for p, c in zip(tilted, costs, strict=True) if c >= 0.10)
    everybody = card["bases"][0]["measured"][0]
    assert everybody["gain"]["rated"][0] == pytest.approx(rated_gain, abs=1e-4)
    assert everybody["errors"] == errors
    assert everybody["expected_per_error_tilted"]["rated"][0] == pytest.approx(expected / errors, abs=1e-4)
    assert card["bases"][0]["command"] == "desdemona lab fit"
    text = person_text(found)
    assert "rated, k:" in text
    assert "rated 1300-1699" in text


def test_cards_keep_what_others_learned(people: Population) -> None:
    record = fitted(people).record({"seed": 1})
    card = merged_card("othello", None, record)
    assert merged_card("othello", card, record) == card, "the same base model is replaced"
    other = {**record, "base": "c" * 64}
    assert [each["base"] for each in merged_card("othello", card, other)["bases"]] == [KEY, "c" * 64]
    with pytest.raises(FitRefused, match=r"the existing card is for .*othello.*, not for .*chess"):
        merged_card("chess", card, record)


def test_costs_are_those_of_the_position_after_our_move(people: Population) -> None:
    data = replies_of(people, people.models["net"], 4, None, None)
    game = get_rules("othello")
    found = people.positions[7].found
    root = game.parse_position(found.position)
    after = game.play(root, game.parse_move(root, found.move))
    costs = costs_of(found.candidate, game.expected_scale_centi(after), 4)
    assert tuple(data.replies.costs[21:24]) == costs
    assert data.replies.played.tolist() == people.rows.played.tolist()


def test_programs_and_nameless_people_are_left_out() -> None:
    given = made_up(4, 3)
    names = ["Ann", "???", "", "Bob"]
    given = [replace(each, name=names[at // 3]) for at, each in enumerate(given)]
    people = population("othello", given, "net")
    probabilities = np.arange(36.0)
    data = replies_of(people, probabilities, 6, None, None)
    assert data.names == ("Ann", "Bob")
    assert data.persons.tolist() == [0, 0, 0, 1, 1, 1]
    assert data.replies.probabilities.tolist() == [*range(9), *range(27, 36)]
    played = people.rows.played.tolist()
    assert data.replies.played.tolist() == [*played[:3], *(at - 18 for at in played[9:])]
    nobody = population("othello", [replace(each, name="") for each in given], "net")
    with pytest.raises(FitRefused, match="no position has a person's name"):
        replies_of(nobody, probabilities, 6, None, None)


def test_reconstructed_ratings_replace_those_of_the_source() -> None:
    given = [replace(each, game_key=f"game {at}") for at, each in enumerate(made_up(1, 2))]
    people = population("othello", given, "net")
    standings = {"game 1": (EloStanding(1400.0, 3), EloStanding(1700.0, 9))}
    data = replies_of(people, people.models["net"], 6, standings, {"person 0": 17})
    assert data.ratings == (None, 1700.0)
    assert data.games == (None, 9)
    assert data.experience == (17,)
    scale = replace(OWN, games=12)
    assert data.features((RATING, NEW), scale)[1].tolist() == pytest.approx([0.75 * 0.25, 0.25])
    assert replies_of(people, people.models["net"], 6, {}, {}).experience == (0,)


def test_experience_has_bands_of_its_own() -> None:
    given = made_up(160, 25)
    people = population("othello", given, "net")
    games = (0, 30, 31, 5000)
    standings = {each.game_key: (EloStanding(1500.0, 0), EloStanding(1600.0, 9)) for each in given}
    experience = {each.name: games[int(each.name.split()[1]) % 4] for each in given}
    data = replies_of(people, people.models["net"], 6, standings, experience)
    base = BaseProbabilities("net", KEY, people.models["net"], 1e-5)
    scale = RatingScale("Elo", 1600.0, 200.0, 3.0, 20)
    found = fit_person_prior("othello", data, base, 6, TILTS, scale, resamples=50)
    assert [band.name for band in found.bands] == [
        "all",
        "rated 1300-1699",
        "games before: 0",
        "games before: 1-30",
        "games before: 31-200",
        "games before: from 201",
    ]
    persons = [band.persons for band in found.bands]
    assert sum(persons[2:]) == persons[0] == persons[1]
    assert found.prior.rated is not None
    assert NEW in found.prior.rated.features


def test_a_grid_reaches_the_greatest_k_at_its_own_distances() -> None:
    assert with_most_k(TRUTH_ALONE, 25.0).k[-3:] == (22.0, 24.0, 26.0)
    assert with_most_k(TRUTH_ALONE, 4.0).k == (-4.0, -2.0, 0.0, 2.0, 4.0)
    assert with_most_k(TRUTH_ALONE, 20.0) == TRUTH_ALONE


def test_a_prior_may_be_wider_than_its_persons(people: Population) -> None:
    narrow, wide = (fitted(people, least_spread_k=least).prior for least in (0.1, 4.0))
    for one, other in ((narrow.unrated, wide.unrated), (narrow.rated, wide.rated)):
        assert one is not None
        assert other is not None
        assert math.sqrt(one.covariance[1, 1]) < 3.5
        assert math.sqrt(other.covariance[1, 1]) == pytest.approx(4.0, abs=1e-5)


def test_too_little_is_refused(people: Population, monkeypatch: pytest.MonkeyPatch) -> None:
    few = population("othello", made_up(30, 5), "net")
    with pytest.raises(FitRefused, match=r"too little to learn from: \d+ replies by \d+ persons in one half"):
        fitted(few)
    monkeypatch.setattr(person_fitting, "MIN_FIT_PERSONS", 200)
    with pytest.raises(FitRefused, match="at least 1000 replies by 200 persons are needed"):
        fitted(people)


def test_a_prior_that_gains_nothing_is_refused() -> None:
    """Persons who all play by the base model."""
    rng = np.random.default_rng(3)
    given = []
    for stored in made_up(100, 25):
        assert stored.human is not None
        at = rng.random()
        drawn = sum(at > part for part in accumulate(stored.human[:2]))
        reply = stored.found.replies[drawn].reply
        given.append(replace(stored, found=replace(stored.found, reply=reply)))
    with pytest.raises(FitRefused, match=r"the prior \(rated\) over net is not significantly better"):
        fitted(population("othello", given, "net"))


@pytest.mark.parametrize(
    ("text", "seconds"),
    [
        ("180+2", 260.0),
        ("60", 60.0),
        ("05:00/00:12/02:00", 780.0),
        ("", None),
        ("-", None),
        ("1/86400", None),
        ("x:y", None),
    ],
)
def test_time_controls(text: str, seconds: float | None) -> None:
    assert seconds_of(text) == seconds
