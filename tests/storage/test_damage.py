"""What says that a row is damaged, and what else goes wrong with a database."""

import sqlite3
from typing import Any

import pytest
from sqlalchemy.exc import InvalidRequestError, OperationalError

from engine.errors import RecordError
from storage.damage import (
    Unreadable,
    decode_json,
    decoding,
    read_json,
    require_damage,
    require_number,
)


def driver_error(message: str) -> OperationalError:
    return OperationalError("SELECT 1", {}, sqlite3.OperationalError(message))


NOT_UTF_8 = "Could not decode to UTF-8 column 'record' with text 'x'"


@pytest.mark.parametrize(
    ("error", "reason"),
    [
        (RecordError("no\n  draw"), "no draw"),
        (KeyError("chances"), "KeyError: 'chances'"),
        (driver_error(NOT_UTF_8), NOT_UTF_8),
        (ValueError("x" * 500), f"ValueError: {'x' * 188}"),
    ],
)
def test_a_reason_is_one_line(error: Exception, reason: str) -> None:
    found = Unreadable.because("decision", 812, error)
    assert found == Unreadable("decision", 812, reason)
    assert found.to_json() == {"what": "decision", "id": 812, "reason": reason}


@pytest.mark.parametrize(
    ("error", "reason"),
    [
        (OverflowError("date\nvalue"), "game 7: OverflowError: date value"),
        (RecordError("no draw"), "game 7: no draw"),
    ],
)
def test_a_record_is_named(error: Exception, reason: str) -> None:
    with pytest.raises(RecordError) as told, decoding("game 7"):
        raise error
    assert str(told.value) == reason


@pytest.mark.parametrize("error", [driver_error("database is locked"), OSError(), TimeoutError()])
def test_other_failures_are_no_damage(error: Exception) -> None:
    with pytest.raises(type(error)), decoding("game 7"):
        raise error


@pytest.mark.parametrize("value", [None, "1", True, b"1", float("nan"), float("inf"), -0.1, 2.1])
def test_what_is_no_number_in_a_range(value: object) -> None:
    with pytest.raises(RecordError, match=r"cost is .*, not a number from 0 to 2"):
        require_number("cost", value, 0, 2)


@pytest.mark.parametrize("value", [0, 2, 0.0, 2.0])
def test_numbers_in_a_range(value: object) -> None:
    require_number("cost", value, 0, 2)


def test_json_objects() -> None:
    assert read_json('{"a": [1]}') == {"a": [1]}


@pytest.mark.parametrize(
    ("text", "reason"),
    [
        ("", "no JSON: Expecting value"),
        ("[" * 100_000, "no JSON: maximum recursion depth exceeded"),
        (None, "no JSON: the JSON object must be str"),
        ("[]", "no JSON object, but list"),
        ("null", "no JSON object, but NoneType"),
    ],
)
def test_what_is_no_record(text: Any, reason: str) -> None:
    with pytest.raises(RecordError, match=reason):
        read_json(text)


def test_json_of_any_kind() -> None:
    assert decode_json("[1, null]") == [1, None]
    with pytest.raises(RecordError, match="JSONDecodeError: Expecting property name"):
        decode_json("{")


@pytest.mark.parametrize("error", [RecordError("x"), driver_error(NOT_UTF_8)])
def test_damage(error: Exception) -> None:
    require_damage(error)


@pytest.mark.parametrize(
    "error",
    [driver_error("database is locked"), OSError(), InvalidRequestError(), ValueError("a bug of ours")],
)
def test_other_failures_are_raised_again(error: Exception) -> None:
    with pytest.raises(type(error)):
        require_damage(error)
