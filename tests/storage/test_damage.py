"""What says that a row is damaged, and what else goes wrong with a database."""

import sqlite3
from typing import Any

import pytest
from sqlalchemy.exc import InvalidRequestError, OperationalError

from engine.errors import RecordError
from storage.damage import Unreadable, read_json, require_damage


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


@pytest.mark.parametrize(
    "error", [LookupError("x"), ValueError("x"), TypeError("x"), driver_error(NOT_UTF_8)]
)
def test_damage(error: Exception) -> None:
    require_damage(error)


@pytest.mark.parametrize("error", [driver_error("database is locked"), OSError(), InvalidRequestError()])
def test_other_failures_are_raised_again(error: Exception) -> None:
    with pytest.raises(type(error)):
        require_damage(error)
