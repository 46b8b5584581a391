"""The array of judged replies: what is put in comes out."""

from datetime import UTC, datetime, timedelta

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from engine.expected import WHOLE
from storage.evidence.inference.timestamps import time_of
from storage.evidence.replies import (
    EXPECTATIONS,
    GAME,
    REPLY,
    REPLY_COUNTS,
    GameRows,
    Labels,
    ReplyFlag,
    ReplyTable,
    SharedTexts,
    days_of,
    expected,
    has,
    labels_of,
    model_text,
    packed_expectations,
)

TEXT = st.text()


def test_the_rows_are_as_small_as_they_are_said_to_be() -> None:
    assert REPLY.itemsize == 70


@given(st.tuples(TEXT, TEXT, TEXT, TEXT, TEXT), st.lists(TEXT))
def test_labels(texts: tuple[str, str, str, str, str], models: list[str]) -> None:
    labels = Labels(*texts, tuple(models))
    assert labels_of(labels.text) == labels


def test_a_model_is_named_with_what_made_it() -> None:
    assert model_text("looks 6.5", "", "") == "looks 6.5"
    assert model_text("people", "0123456789ab", "") == "people 01234567"
    assert model_text("people", "0123456789ab", "fedcba9876") == "people 01234567, tilted by fedcba98"


@given(st.datetimes(datetime(1900, 1, 1), datetime(2200, 1, 1), timezones=st.just(UTC)))  # noqa: DTZ001
def test_moments_and_their_days(at: datetime) -> None:
    at_us = (at - datetime(1970, 1, 1, tzinfo=UTC)) // timedelta(microseconds=1)
    assert time_of(at_us) == at
    (day,) = days_of(np.array([at_us])).tolist()
    assert datetime(1970, 1, 1, tzinfo=UTC).date() + timedelta(days=day) == at.date()


@given(st.data(), st.integers(2, 300))
def test_what_was_expected_is_exact(data: st.DataObject, replies: int) -> None:
    counts = {name: data.draw(st.integers(0, replies)) for name in REPLY_COUNTS}
    millionths = {name: data.draw(st.integers(0, 10**6)) for name in REPLY_COUNTS}
    cost = data.draw(st.integers(0, WHOLE * replies))
    expected_cost = data.draw(st.floats(0, 1))
    values = {f"{name}_uniform": count / replies for name, count in counts.items()}
    values |= {f"{name}_expected": number / 10**6 for name, number in millionths.items()}
    values |= {"cost_uniform": cost / replies / WHOLE, "cost_expected": expected_cost}
    rows = np.zeros(1, REPLY)
    rows["reply_count"] = replies
    for name, value in packed_expectations(values, replies).items():
        rows[name] = value
    for name in EXPECTATIONS:
        (found,) = expected(rows, name).tolist()
        assert found == pytest.approx(values[name], rel=1e-15, abs=0), name


def test_a_text_is_no_probability() -> None:
    """Multiplied like a number, it would take 4 GB."""
    values = dict.fromkeys(EXPECTATIONS, 0.5)
    with pytest.raises(ValueError, match="could not convert"):
        packed_expectations({**values, "fall_expected": "x"}, 2)  # type: ignore[dict-item]


def test_flags() -> None:
    rows = np.zeros(4, REPLY)
    rows["flags"] = [ReplyFlag.JUDGED, ReplyFlag.JUDGED | ReplyFlag.DECIDED, ReplyFlag.BAIT, 0]
    assert has(rows, ReplyFlag.JUDGED).tolist() == [True, True, False, False]
    assert has(rows, ReplyFlag.JUDGED, ReplyFlag.DECIDED).tolist() == [True, False, False, False]
    assert has(rows, ReplyFlag.JUDGED | ReplyFlag.DECIDED).tolist() == [False, True, False, False]


def test_shared_texts() -> None:
    joined = SharedTexts.joined([SharedTexts.of(["a", "b", "a"]), SharedTexts.of(["b", "c"])])
    assert [joined.texts[code] for code in joined.codes.tolist()] == ["a", "b", "a", "b", "c"]
    some = joined.where(np.array([False, True, False, False, True]))
    assert [some.texts[code] for code in some.codes.tolist()] == ["b", "c"]


def rows(*models: tuple[str, ...]) -> ReplyTable:
    """A game with each of these lists of models, and a reply by each model."""
    games = np.zeros(len(models), GAME)
    games["id"] = np.arange(len(models))
    labels = [Labels("trappy", "othello", "arena", "blitz", "", each).text for each in models]
    replies = [np.zeros(len(each), REPLY) for each in models]
    for its in replies:
        its["model"] = np.arange(len(its))
    packed = GameRows.of(labels, [game.tobytes() for game in games])
    return ReplyTable.unpacked(packed, [each.tobytes() for each in replies])


def test_the_models_of_replies() -> None:
    found = rows(("b", "c"), (), ("a", "b")).models()
    assert [found.texts[code] for code in found.codes.tolist()] == ["b", "c", "a", "b"]


def test_rows_are_joined_game_by_game() -> None:
    joined = ReplyTable.joined([rows(("b", "c"), ()), rows(("a",))])
    assert joined.game.tolist() == [0, 0, 2]
    assert joined.of.label("strategy").texts[0] == "trappy"
    found = joined.where(np.array([False, True, True])).models()
    assert [found.texts[code] for code in found.codes.tolist()] == ["c", "a"]
    assert len(ReplyTable.joined([]).replies) == 0
