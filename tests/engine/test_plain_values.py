"""Dataclasses come back from JSON as they went, and nothing else does."""

import json
import math
from dataclasses import asdict, dataclass, field
from enum import StrEnum
from typing import Annotated, Any

import pytest

from engine.plain_values import OLD_NAMES, Range, reader


class Mood(StrEnum):
    GOOD = "good"


@dataclass(frozen=True)
class Part:
    size: Annotated[int, Range(0, 9)]
    after: "Part | None" = None


@dataclass(frozen=True)
class Whole:
    name: str
    is_true: bool
    count: int
    weight: float
    mood: Mood
    pair: tuple[str, int]
    parts: tuple[Part, ...] = ()
    new: str | None = field(default=None, metadata={OLD_NAMES: ("old",)})


WHOLE = Whole("a", True, -(2**31) + 1, 0.5, Mood.GOOD, ("b", 2), (Part(0), Part(9, Part(1))), "c")


def record(**changes: Any) -> dict[str, Any]:
    made: dict[str, Any] = json.loads(json.dumps(asdict(WHOLE)))
    return {**made, **changes}


def test_a_value_comes_back_as_it_went() -> None:
    assert reader(Whole)(record()) == WHOLE
    found = reader(Whole)(record(weight=1))
    assert type(found.weight) is int  # a checksum of the record must not change


def test_old_names_and_absent_fields() -> None:
    old = record(old="c")
    del old["new"], old["parts"]
    assert reader(Whole)(old) == Whole("a", True, -(2**31) + 1, 0.5, Mood.GOOD, ("b", 2), (), "c")


@pytest.mark.parametrize(
    ("field", "value"),
    [
        ("name", 1), ("name", None), ("is_true", 1), ("count", True), ("count", 1.0), ("count", "1"),
        ("count", 2**31), ("count", -(2**31)), ("weight", True), ("weight", "1"), ("weight", math.nan),
        ("weight", math.inf), ("mood", "bad"), ("mood", None), ("pair", ["b"]), ("pair", ["b", 2, 3]),
        ("pair", "b2"), ("parts", {}), ("parts", [1]), ("parts", [{}]), ("parts", [{"size": 10}]),
        ("parts", [{"size": -1}]), ("parts", [{"size": 1, "after": {"size": 10}}]), ("new", 3), ("more", 1),
    ],
)  # fmt: skip
def test_other_values_are_refused(field: str, value: Any) -> None:
    with pytest.raises((AttributeError, KeyError, TypeError, ValueError)):
        reader(Whole)(record(**{field: value}))


def test_a_lacking_field_is_refused() -> None:
    short = record()
    del short["name"]
    with pytest.raises(TypeError, match="name"):
        reader(Whole)(short)
