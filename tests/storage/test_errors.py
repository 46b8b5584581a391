"""What says that a row has an invalid value, and what else goes wrong with a database."""

import sqlite3

import pytest
from sqlalchemy.exc import InvalidRequestError, OperationalError

from engine.errors import RecordError
from storage.errors import decoding, is_damage, reason_of


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
    assert reason_of(error) == reason


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


@pytest.mark.parametrize("error", [RecordError("x"), driver_error(NOT_UTF_8)])
def test_damage(error: Exception) -> None:
    assert is_damage(error)


@pytest.mark.parametrize(
    "error",
    [driver_error("database is locked"), OSError(), InvalidRequestError(), ValueError("a bug of ours")],
)
def test_other_failures_are_told_apart(error: Exception) -> None:
    assert not is_damage(error)
