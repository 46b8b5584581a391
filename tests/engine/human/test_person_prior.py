"""The people model: one position's numbers, and cards that are what they say."""

import hashlib
import json
import math
from collections.abc import Callable
from dataclasses import replace
from itertools import permutations
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from engine.decision import Candidate, ModelInfo, ReplyProfile
from engine.errors import IncompleteProfile
from engine.expected import expected_score
from engine.human.model import BadModel
from engine.human.person_prior import (
    BULLET,
    CONSTANT,
    FEATURES,
    NEW,
    RAPID,
    RATING,
    BasePrior,
    Gaussian,
    PersonPrior,
    PriorGrid,
    RatingScale,
    base_key,
    costs_of,
    estimated_side_time_s,
    features_of,
    read_card,
    tilted_rows,
)
from lab.analysis.person_fitting import base_record

BASE = "b" * 64
SCALE = RatingScale("a site's", 1600.0, 400.0, 2.0, 20)
GRID = PriorGrid((-0.4, 0.0, 0.4), (-4.0, 0.0, 4.0, 8.0))
RATED = Gaussian(
    (CONSTANT, RATING, BULLET, RAPID),
    np.array([[-0.1, 1.5], [0.05, 1.25], [0.0, -1.0], [0.0, 0.5]]),
    np.array([[0.04, 0.15], [0.15, 4.0]]),
)
UNRATED = Gaussian((CONSTANT,), np.array([[-0.2, 1.0]]), np.array([[0.09, 0.2], [0.2, 9.0]]))
PRIOR = BasePrior(BASE, 6, 1e-5, GRID, SCALE, RATED, UNRATED)
ODDS, COSTS = (0.5, 0.3, 0.15, 0.05), (0.0, 0.02, 0.25, 0.6)
FIXED_RATED = (0.5198580, 0.3066709, 0.1261500, 0.0473212)
FIXED_UNRATED = (0.4832388, 0.2949834, 0.1370805, 0.0846972)
"""By a script of its own, from the formula alone: rated 1900 at bullet, unrated at blitz."""


def card(*bases: BasePrior, **others: Any) -> dict[str, Any]:
    records = [base_record(each) for each in bases or (PRIOR,)]
    return {"game": "othello", "uniform": 0.003, "forgetting": 0.05, "bases": records, **others}


def parsed(content: dict[str, Any] | None = None) -> PersonPrior:
    return PersonPrior.parse(json.dumps(content or card()).encode(), "person_othello.json")


def one_point(x: float, k: float, uniform: float = 0.0) -> list[float]:
    found = tilted_rows(
        np.array([[x, k]]), np.array(ODDS), np.array(COSTS), np.zeros(1, np.int64), 1e-5, uniform
    )
    column: list[float] = found[:, 0].tolist()
    return column


def by_hand(weights: list[float], probabilities: tuple[float, ...] = ODDS) -> list[float]:
    """The formula of the module, point by point."""
    found = [0.0] * len(probabilities)
    points = [(x, k) for x in GRID.x for k in GRID.k]
    for weight, (x, k) in zip(weights, points, strict=True):
        powers = [
            max(p, 1e-5) ** math.exp(x) * math.exp(-k * c) for p, c in zip(probabilities, COSTS, strict=True)
        ]
        for at, power in enumerate(powers):
            found[at] += weight * (0.997 * power / sum(powers) + 0.003 / len(probabilities))
    return found


def test_neither_tilt_leaves_the_base_model() -> None:
    assert one_point(0.0, 0.0) == pytest.approx(ODDS, abs=1e-15)
    assert one_point(0.0, 0.0, 0.003) == pytest.approx([0.997 * p + 0.003 / 4 for p in ODDS], abs=1e-15)


def test_what_the_two_numbers_do() -> None:
    assert one_point(math.log(2.0), 0.0) == pytest.approx([p * p / 0.365 for p in ODDS])
    probabilities = one_point(0.0, 3.0)
    for p, q, c in zip(ODDS, probabilities, COSTS, strict=True):
        assert q / probabilities[0] == pytest.approx(p / ODDS[0] * math.exp(-3.0 * c))


def test_the_mean_over_the_prior_is_that_of_the_formula() -> None:
    prior = parsed()
    for rating, seconds in ((None, None), (1900, 60.0), (1100, 600.0), (2000, None)):
        weights: list[float] = prior.prior_weights(BASE, rating, seconds).tolist()
        assert math.fsum(weights) == pytest.approx(1.0, abs=1e-12)
        found = prior.tilted(BASE, ODDS, COSTS, rating, seconds)
        assert found == pytest.approx(by_hand(weights), abs=1e-12)


def test_a_fixed_example() -> None:
    prior = parsed()
    found = prior.tilted(BASE, ODDS, COSTS, 1900, 60.0)
    assert found == pytest.approx(FIXED_RATED, abs=1e-6)
    assert prior.tilted(BASE, ODDS, COSTS, None, 300.0) == pytest.approx(FIXED_UNRATED, abs=1e-6)


def test_the_prior_is_gaussian_at_the_points() -> None:
    """One-dimensional, where the weights are known."""
    grid = PriorGrid((0.0,), (-2.0, 0.0, 2.0))
    unrated = Gaussian((CONSTANT,), np.array([[7.0, 1.0]]), np.array([[0.0, 0.0], [0.0, 4.0]]))
    prior = parsed(card(replace(PRIOR, grid=grid, rated=None, unrated=unrated)))
    powers = [math.exp(-((k - 1.0) ** 2) / 8.0) for k in grid.k]
    found = prior.prior_weights(BASE, 2000, 60.0)  # without a prior for rated people, theirs is that of all
    assert found == pytest.approx([power / sum(powers) for power in powers], abs=1e-12)


@given(st.permutations(range(4)))
def test_the_order_of_the_replies_does_not_matter(order: list[int]) -> None:
    prior = parsed()
    found = prior.tilted(BASE, ODDS, COSTS, 1500, 60.0)
    turned = prior.tilted(BASE, [ODDS[at] for at in order], [COSTS[at] for at in order], 1500, 60.0)
    assert turned == pytest.approx([found[at] for at in order], abs=1e-12)


@given(
    st.lists(st.tuples(st.floats(0, 1), st.floats(0, 1)), min_size=2, max_size=40).filter(
        lambda rows: sum(p for p, _ in rows) > 0.01
    ),
    st.none() | st.integers(0, 4000),
    st.none() | st.floats(0, math.inf),
)
def test_answers_are_probabilities(
    rows: list[tuple[float, float]], rating: int | None, seconds: float | None
) -> None:
    total = sum(p for p, _ in rows)
    found = parsed().tilted(BASE, [p / total for p, _ in rows], [c for _, c in rows], rating, seconds)
    assert math.fsum(found) == pytest.approx(1.0, abs=1e-12)
    assert all(p >= 0.0029 / len(rows) for p in found)


def test_unknown_models_and_single_replies_stay() -> None:
    prior = parsed()
    assert prior.tilted("c" * 64, ODDS, COSTS, 1900, None) == ODDS
    assert prior.tilted(BASE, (1.0,), (0.0,), 1900, None) == (1.0,)
    with pytest.raises(ValueError, match="4 probabilities and 3 costs"):
        prior.tilted(BASE, ODDS, COSTS[:3], 1900, None)


def test_better_people_err_less() -> None:
    prior = parsed()
    worst = [prior.tilted(BASE, ODDS, COSTS, rating, None)[3] for rating in (1000, 1400, 1600, 2000, 2300)]
    assert worst == sorted(worst, reverse=True)
    assert worst[0] > worst[1] > worst[-1]
    bullet, blitz, rapid = (prior.tilted(BASE, ODDS, COSTS, 1600, s)[3] for s in (60.0, 180.0, 480.0))
    assert bullet > blitz > rapid
    assert prior.tilted(BASE, ODDS, COSTS, 1600, None)[3] == blitz


def test_features() -> None:
    def of(rating: float | None, seconds: float | None, games: int | None = None) -> list[float]:
        return features_of(FEATURES, SCALE, rating, seconds, games)

    assert of(1800, 179.9) == [1.0, 0.5, 0.0, 1.0, 0.0]
    assert of(1800, 180.0) == [1.0, 0.5, 0.0, 0.0, 0.0]
    assert of(1400, 480.0, 5) == [1.0, -0.125, 0.75, 0.0, 1.0]
    assert of(1400, None, 20) == of(1400, None) == [1.0, -0.5, 0.0, 0.0, 0.0]
    assert (of(9000, None)[1], of(0, None)[1]) == (2.0, -2.0)
    assert of(None, 479.9) == [1.0, 0.0, 0.0, 0.0, 0.0]
    assert features_of((RATING, NEW), replace(SCALE, games=0), 1800, None, 0) == [0.5, 0.0]


def test_the_speed_of_a_game() -> None:
    assert estimated_side_time_s(180, 2) == 260.0
    assert estimated_side_time_s(60, None) == 60.0
    assert estimated_side_time_s(None, None) == math.inf


def test_costs() -> None:
    rows = {"d6": (50, 300, -100), "f4": (-20, -30, 40), "f6": (-400, -500, 600)}
    replies = tuple(ReplyProfile(text, row) for text, row in rows.items())
    move = Candidate("f5", -100, False, -100.0, replies=replies, complete=True)

    def expected(column: int) -> tuple[float, ...]:
        ours = [expected_score(row[column], 200.0) for row in rows.values()]
        return tuple((each - min(ours)) / 10_000 for each in ours)

    assert costs_of(move, 200.0, 4) == costs_of(move, 200.0, 9) == expected(2)
    assert costs_of(move, 200.0, 3) == expected(1)
    assert costs_of(move, 200.0, 2) == expected(0)
    assert costs_of(replace(move, replies=()), 200.0, 4) == ()
    for wrong in (replace(move, complete=False), replace(move, replies=(ReplyProfile("d6", (), 5),))):
        with pytest.raises(IncompleteProfile, match="the profile of f5 is incomplete"):
            costs_of(wrong, 200.0, 4)


def test_base_models_are_known_by_their_files() -> None:
    model, human = ModelInfo("calibrated", "one", "1" * 64), ModelInfo("maia", "two", "2" * 64)
    assert base_key(human) == "2" * 64
    assert base_key(model, human) == "1" * 64 + "+" + "2" * 64
    assert len({base_key(model), base_key(human), base_key(model, human), base_key(human, model)}) == 4


# --- Cards ----------------------------------------------------------------------------------------------


def test_a_card_is_read_as_it_was_written(tmp_path: Path) -> None:
    other = replace(PRIOR, base="c" * 64 + "+" + BASE, rated=None, depth=4)
    path = tmp_path / "person_othello.json"
    path.write_text(json.dumps(card(PRIOR, other, date="2026-11-25")))
    found = read_card(path)
    assert (found.game, found.uniform, found.forgetting) == ("othello", 0.003, 0.05)
    assert [base_record(each) for each in found.bases.values()] == [base_record(PRIOR), base_record(other)]
    assert found.bases[other.base].rated is None
    assert read_card(path) is found, "read once"


def test_the_version_is_the_checksum_of_the_file() -> None:
    data = json.dumps(card()).encode()
    found = PersonPrior.parse(data, "card")
    assert found.version == hashlib.sha256(data).hexdigest()
    forged = data.replace(b"1.25", b"1.26")
    assert forged != data
    assert PersonPrior.parse(forged, "card").version != found.version


def change(*path: str | int, to: Any = ...) -> Callable[[dict[str, Any]], None]:
    """Set a field of a card, or remove it."""

    def work(content: dict[str, Any]) -> None:
        part: Any = content
        for step in path[:-1]:
            part = part[step]
        if to is ...:
            del part[path[-1]]
        else:
            part[path[-1]] = to

    return work


@pytest.mark.parametrize(
    ("forge", "message"),
    [
        (change("game"), "KeyError: 'game'"),
        (change("game", to=7), "7 is not of the type str"),
        (change("uniform", to=0.7), "0.7 is out of range"),
        (change("uniform", to=math.nan), "nan is out of range"),
        (change("forgetting", to=True), "True is not of the type float"),
        (change("bases", to=[]), "bases: none"),
        (change("bases", to=[1]), "TypeError"),
        (change("bases", 0, "base", to="b" * 63), "base: not one or two SHA-256 in hexadecimal"),
        (change("bases", 0, "base", to="B" * 64), "base: not one or two SHA-256 in hexadecimal"),
        (change("bases", 0, "depth", to=1), "1 is out of range"),
        (change("bases", 0, "depth", to=6.0), "6.0 is not of the type int"),
        (change("bases", 0, "least", to=0), "0 is out of range"),
        (change("bases", 0, "grid", "x", to=[0, 0]), "the numbers of an axis are not ascending"),
        (change("bases", 0, "grid", "k", to=[3, 2]), "the numbers of an axis are not ascending"),
        (change("bases", 0, "grid", "k", to="8"), "k: '8' is not a list"),
        (change("bases", 0, "grid", "k", to=[]), "0 points"),
        (change("bases", 0, "grid", to={"x": [0], "k": [0]}), "1 points"),
        (change("bases", 0, "grid", "k", to=[at / 10 for at in range(4000)]), "12000 points, not 2 to 10000"),
        (change("bases", 0, "rating", "unit", to=0.0), "unit: 0.0 is out of range"),
        (change("bases", 0, "rating", "games", to=-1), "games: -1 is out of range"),
        (change("bases", 0, "rated"), "KeyError: 'rated'"),
        (change("bases", 0, "unrated", to=None), "TypeError"),
        (change("bases", 0, "rated", "mean", to={}), "mean: "),
        (
            change("bases", 0, "rated", "mean", "mood", to={"x": 0, "k": 0}),
            "mean: .*mood are not all in constant",
        ),
        (change("bases", 0, "rated", "mean", RATING, "k"), "k is missing"),
        (change("bases", 0, "rated", "covariance", to=[[1, 0]]), "shorter"),
        (change("bases", 0, "rated", "covariance", to=[[1, 2], [2, 1]]), "covariance: not symmetric"),
        (change("bases", 0, "unrated", "covariance", to=[[1, 0], [0.5, 1]]), "covariance: not symmetric"),
    ],
)
def test_forged_cards_are_refused(forge: Callable[[dict[str, Any]], None], message: str) -> None:
    content = json.loads(json.dumps(card()))
    forge(content)
    with pytest.raises(BadModel, match=rf"^person_othello.json: .*{message}"):
        parsed(content)


def test_files_that_are_no_cards(tmp_path: Path) -> None:
    with pytest.raises(BadModel, match="two for the same base"):
        parsed(card(PRIOR, PRIOR))
    with pytest.raises(BadModel, match=r"^x: not JSON: "):
        PersonPrior.parse(b"{", "x")
    with pytest.raises(BadModel, match=r"^x: not JSON: "):
        PersonPrior.parse(b"\xff", "x")
    with pytest.raises(BadModel, match=r"^x: not a card: TypeError"):
        PersonPrior.parse(b"[]", "x")
    with pytest.raises(BadModel, match=r"person_chess\.json: No such file"):
        read_card(tmp_path / "person_chess.json")
    large = tmp_path / "large.json"
    large.write_bytes(b" " * (1 << 20) + b"{}")
    with pytest.raises(BadModel, match=r"large\.json: longer than 1 MiB"):
        read_card(large)


def test_all_orders_of_features_mean_the_same() -> None:
    found = parsed().tilted(BASE, ODDS, COSTS, 1900, 60.0)
    for order in permutations(range(4)):
        names = tuple(RATED.features[at] for at in order)
        turned = Gaussian(names, RATED.coefficients[list(order)], RATED.covariance)
        prior = parsed(card(replace(PRIOR, rated=turned)))
        assert prior.tilted(BASE, ODDS, COSTS, 1900, 60.0) == pytest.approx(found, abs=1e-12)
