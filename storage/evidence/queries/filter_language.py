"""The filter language: one text notation for filters, used in URLs, links and JSON.

Each selectable field of `storage.filters.Filters` has one name and one textual form: ``game=chess``,
``opponents=people``, ``since=2026-11-01``, ``min-rating=1400``. Parsing these texts returns the same filters.
"""

import re
from collections.abc import Callable, Collection, Mapping
from dataclasses import dataclass, replace
from datetime import UTC, datetime, time, timedelta
from typing import Any

from engine.games import GAMES
from engine.strategies.registry import STRATEGIES
from storage.errors import FilterError
from storage.filters import Filters, GamePhase, TrapSettings

MAX_FILTER_LENGTH = 200
"""Maximum number of characters in a value."""


@dataclass(frozen=True, slots=True)
class FilterField:
    """One selectable filter."""

    name: str
    """The filter's name in URLs and links."""
    attribute: str
    """Name of the attribute of `Filters`."""
    title: str
    """The filter's name on pages."""
    read: Callable[[str], Any]
    """Parses the text; raises a ValueError that states the allowed values."""
    write: Callable[[Any], str] = str
    choices: tuple[str, ...] = ()
    """All allowed values if there are few, otherwise common ones."""


def parse_time(text: str, *, end_of_day: bool = False) -> datetime:
    """Parse an ISO 8601 time; if it states no time zone, this machine's time zone applies.

    Args:
        text: A date or a time.
        end_of_day: Whether a date without a time means the end of that day.

    Raises:
        ValueError: The text is neither a date nor a time.
    """
    try:
        at = datetime.fromisoformat(text)
        if end_of_day and len(text) <= 10 and at.time() == time():
            at += timedelta(days=1)
        at = at.astimezone()
        at.astimezone(UTC)  # as the database requires
    except (ValueError, OverflowError):  # OverflowError: at the ends of the calendar
        raise ValueError(f"{text!r} is not a date or time; write 2026-11-30 or 2026-11-30T18:00") from None
    return at


def _write_time(at: datetime, *, end_of_day: bool = False) -> str:
    local = at.astimezone()
    if local.time() != time():
        return at.isoformat()
    return (local - timedelta(days=1) if end_of_day else local).date().isoformat()


def _of(names: Collection[str]) -> Callable[[str], str]:
    def read(text: str) -> str:
        if text not in names:
            raise ValueError(f"{text!r} is not known; known: {', '.join(names)}")
        return text

    return read


def _text(text: str) -> str:
    if len(text) > MAX_FILTER_LENGTH or not text.isprintable():
        raise ValueError(f"not a line of at most {MAX_FILTER_LENGTH} characters")
    return text


def _number(text: str) -> int:
    if not re.fullmatch(r"-?[0-9]{1,9}", text):
        raise ValueError(f"{text!a:.40} is not a whole number")
    return int(text)


def _pair(attribute: str, name: str, title: str, values: dict[str, Any]) -> FilterField:
    """A filter with two possible values, each written as a word."""
    words = {value: word for word, value in values.items()}
    check = _of(tuple(values))

    def read(text: str) -> Any:
        return values[check(text)]

    return FilterField(name, attribute, title, read, words.__getitem__, tuple(values))


_MAX_OFFERED_PHASES = 8
"""Number of phases offered for selection; later phases can be typed."""
_GAMES, _STRATEGIES = tuple(GAMES), tuple(STRATEGIES)

FIELDS: dict[str, FilterField] = {
    field.name: field
    for field in (
        FilterField("game", "game", "Game", _of(_GAMES), choices=_GAMES),
        FilterField("strategy", "strategy", "Strategy", _of(_STRATEGIES), choices=_STRATEGIES),
        _pair("opponent_is_bot", "opponents", "Opponents", {"people": False, "programs": True}),
        FilterField("opponent", "opponent", "Opponent", _text),
        FilterField("site", "site", "Site", _text),
        FilterField("account", "account", "Account", _text),
        FilterField("speed", "speed", "Speed", _text),
        FilterField("min-rating", "min_opponent_rating", "Rated at least", _number),
        FilterField("max-rating", "max_opponent_rating", "Rated at most", _number),
        _pair("rated", "rated", "Rated", {"rated": True, "casual": False}),
        _pair("at_odds", "odds", "Odds", {"odds": True, "even": False}),
        _pair("our_side", "side", "We move", {"first": 0, "second": 1}),
        FilterField("since", "since", "Since", parse_time, _write_time),
        FilterField(
            "until",
            "until",
            "Until",
            lambda text: parse_time(text, end_of_day=True),
            lambda at: _write_time(at, end_of_day=True),
        ),
        FilterField("opening", "opening", "Opening", lambda text: " ".join(_text(text).split())),
        FilterField("trial", "trial", "Trial", _text),
        FilterField("match", "match", "Match", _text),
        FilterField("version", "version", "Version", _text),
        FilterField("settings", "settings", "Settings", TrapSettings.parse, lambda value: value.text),
        FilterField(
            "phase",
            "phase",
            "Phase, in plies",
            GamePhase.parse,
            lambda phase: phase.text,
            choices=tuple(GamePhase(number).text for number in range(_MAX_OFFERED_PHASES)),
        ),
    )
}
"""All filters by name, in the order in which pages show them."""
OLD_FILTERS = {"player": "strategy"}
"""Filter names from version 0.2, each with its current name; they remain valid until 0.4.0."""
OF_MOVES = ("phase",)
"""Filters that select moves; all other filters select games."""
OF_GAMES = tuple(name for name in FIELDS if name not in OF_MOVES)


def parse_filters(given: Mapping[str, str]) -> Filters:
    """Parse filters given as named strings; empty strings are ignored.

    Raises:
        FilterError: A name is unknown or a value cannot be read.
    """
    chosen: dict[str, Any] = {}
    for name, text in given.items():
        field = FIELDS.get(OLD_FILTERS.get(name, name))
        if field is None:
            raise FilterError(f"{name!a:.40} is not a filter; known: {', '.join(FIELDS)}")
        if not text.strip():
            continue
        try:
            chosen[field.attribute] = field.read(text.strip())
        except ValueError as error:
            raise FilterError(f"{name}: {error}") from None
    return replace(Filters(), **chosen)


def filter_texts(filters: Filters) -> dict[str, str]:
    """The filters in use as named strings, in the order of `FIELDS`; the inverse of `parse_filters`."""
    return {
        field.name: field.write(value)
        for field in FIELDS.values()
        if (value := getattr(filters, field.attribute)) is not None
    }
