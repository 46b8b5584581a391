"""What says that a row is damaged, and what else goes wrong with a database."""

import sqlite3
from collections.abc import Sequence
from types import SimpleNamespace
from typing import Any

import pytest
from sqlalchemy.exc import InvalidRequestError, OperationalError

from engine.errors import RecordError
from storage.damage import (
    Unreadable,
    decode_json,
    decoding,
    read_batch,
    read_json,
    read_rows,
    require_damage,
    require_number,
    require_texts,
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
    def read(row: Any) -> int:
        if row.id == 7:
            raise error
        return int(row.id)

    with pytest.raises(RecordError) as told, decoding("game 7"):
        raise error
    assert str(told.value) == reason
    rows = [SimpleNamespace(id=number) for number in (6, 7, 8)]
    with pytest.raises(RecordError) as told:
        read_rows("game", rows, read)
    assert str(told.value) == reason
    assert read_rows("game", rows[::2], read) == [6, 8]


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


def test_what_is_no_text() -> None:
    row = SimpleNamespace(site="arena", name=b"x")
    require_texts(row, "site")
    with pytest.raises(RecordError, match="name is b'x', not text"):
        require_texts(row, "site", "name")


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


@pytest.mark.parametrize(
    ("damaged", "batches", "found"),
    [
        ((), [[3, 1, 2]], ["row 3", "row 1", "row 2"]),
        ((1,), [[3, 1, 2], [3], [1], [2]], ["row 3", "1: odd", "row 2"]),
        ((3, 1, 2), [[3, 1, 2], [3], [1], [2]], ["3: odd", "1: odd", "2: odd"]),
    ],
)
async def test_a_damaged_row_does_not_hide_its_batch(
    damaged: tuple[int, ...], batches: list[list[int]], found: list[str]
) -> None:
    asked = []

    async def read(keys: Sequence[int]) -> list[str]:
        asked.append(list(keys))
        if set(keys) & set(damaged):
            raise RecordError("odd")
        return [f"row {key}" for key in keys]

    assert await read_batch([3, 1, 2], read, lambda key, error: f"{key}: {error}") == found
    assert asked == batches


@pytest.mark.parametrize("first_works", [False, True])
async def test_a_lost_database_is_no_damaged_row(first_works: bool) -> None:
    class Lost(OSError):
        pass

    async def read(keys: Sequence[int]) -> list[str]:
        raise Lost if len(keys) == 1 or not first_works else RecordError("odd")

    with pytest.raises(Lost):
        await read_batch([1, 2], read, lambda _key, _error: "")
