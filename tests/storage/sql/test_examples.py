from math import isclose
from typing import Any

import pytest

from tests.storage.sql.conftest import asked
from tests.storage.sql.sql_page import example_questions

EXAMPLES = example_questions()


def _are_close(one: Any, other: Any) -> bool:
    if isinstance(one, (int, float)) and isinstance(other, (int, float)):
        return isclose(one, other, rel_tol=1e-9, abs_tol=1e-9)
    return bool(one == other)


@pytest.mark.parametrize("question", EXAMPLES)
def test_both_databases_give_the_same_answer(
    question: str, filled_sqlite: str, filled_postgresql: str
) -> None:
    found = [asked(url, EXAMPLES[question]) for url in (filled_sqlite, filled_postgresql)]
    assert [each.get("error") for each in found] == [None, None]
    assert found[0]["columns"] == found[1]["columns"]
    # Rows that tie come in any order.
    first, second = (sorted(map(tuple, each["rows"]), key=_in_any_type) for each in found)
    assert len(first) == len(second) > 0
    unequal = [
        (one, other) for one, other in zip(first, second, strict=True) if not all(map(_are_close, one, other))
    ]
    assert unequal == []


def _in_any_type(row: tuple[Any, ...]) -> str:
    """An order that does not tell 1 from 1.0."""
    return repr([float(cell) if isinstance(cell, (int, float)) else cell for cell in row])


def test_there_are_twenty() -> None:
    assert len(EXAMPLES) == 20
