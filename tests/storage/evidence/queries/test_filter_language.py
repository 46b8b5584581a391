"""Filters as texts: what was written reads as the same filters, and mistakes are named."""

from dataclasses import fields
from datetime import UTC, datetime, timedelta
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from engine.games import GAMES
from engine.strategies.registry import STRATEGIES
from storage.errors import FilterError
from storage.evidence.queries.filter_language import (
    FIELDS,
    MAX_FILTER_LENGTH,
    filter_texts,
    parse_filters,
    parse_time,
)
from storage.filters import Filters, GamePhase, TrapSettings

TEXTS = st.text(st.characters(exclude_categories=("C", "Z")), min_size=1, max_size=20)
MOMENTS = st.datetimes(
    datetime(1990, 1, 1),  # noqa: DTZ001 - the strategy adds the zone
    datetime(2100, 1, 1),  # noqa: DTZ001
    timezones=st.just(UTC),
)
VALUES: dict[str, st.SearchStrategy[Any]] = {
    "game": st.sampled_from(list(GAMES)),
    "strategy": st.sampled_from(list(STRATEGIES)),
    "opponent_is_bot": st.booleans(),
    "rated": st.booleans(),
    "at_odds": st.booleans(),
    "our_side": st.sampled_from([0, 1]),
    "min_opponent_rating": st.integers(-3000, 5000),
    "max_opponent_rating": st.integers(-3000, 5000),
    "since": MOMENTS,
    "until": MOMENTS,
    "settings": st.just(TrapSettings("best", "expected", 1, "keep", 2.5, 5.0, 3.0)),
    "phase": st.builds(GamePhase, st.integers(0, 1000)),
    **dict.fromkeys(("opponent", "site", "account", "speed", "opening", "trial", "match", "version"), TEXTS),
}


@given(st.fixed_dictionaries({}, optional=VALUES))
def test_filters_read_as_they_were_written(chosen: dict[str, Any]) -> None:
    filters = Filters(**chosen)

    assert parse_filters(filter_texts(filters)) == filters


def test_every_filter_that_people_choose_has_a_name() -> None:
    named = {field.attribute for field in FIELDS.values()}
    internal = {"opponent_id", "ended_before", "has_result"}

    assert named | internal == {field.name for field in fields(Filters)}
    assert set(VALUES) == named


def test_a_date_until_means_its_end() -> None:
    whole = parse_filters({"since": "2026-11-01", "until": "2026-11-30"})

    assert whole.since == parse_time("2026-11-01")
    assert whole.until == parse_time("2026-11-30") + timedelta(days=1)
    assert filter_texts(whole) == {"since": "2026-11-01", "until": "2026-11-30"}


def test_an_empty_text_says_nothing() -> None:
    assert parse_filters({"game": "", "site": "  "}) == Filters()


@pytest.mark.parametrize(
    ("given_texts", "message"),
    [
        ({"game": "go"}, "game: 'go' is not known; known: othello"),
        ({"colour": "red"}, "'colour' is not a filter; known: game, strategy"),
        ({"opponents": "cats"}, "opponents: 'cats' is not known; known: people, programs"),
        ({"min-rating": "many"}, "min-rating: 'many' is not a whole number"),
        ({"min-rating": "9" * 10}, "min-rating: '9999999999' is not a whole number"),
        ({"since": "yesterday"}, "since: 'yesterday' is not a date or time; write 2026-11-30"),
        ({"since": "0001-01-01"}, "since: '0001-01-01' is not a date or time"),
        (
            {"opponent": "x" * (MAX_FILTER_LENGTH + 1)},
            f"opponent: not a line of at most {MAX_FILTER_LENGTH} characters",
        ),
        ({"opponent": "a\nb"}, "opponent: not a line of at most"),
        ({"settings": "none"}, "settings: 'none' is not a value that"),
        (
            {"phase": "21-41"},
            "phase: '21-41' is not a phase; phases are 1-20, 21-40, 41-60 and so on, in plies",
        ),
        ({"phase": "021-040"}, "phase: '021-040' is not a phase"),
        ({"phase": "0-19"}, "phase: '0-19' is not a phase"),
        ({"phase": "late"}, "phase: 'late' is not a phase"),
    ],
)
def test_a_mistake_is_named(given_texts: dict[str, str], message: str) -> None:
    with pytest.raises(FilterError) as found:
        parse_filters(given_texts)

    assert str(found.value).startswith(message)
