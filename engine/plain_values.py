"""Reads frozen dataclasses from plain JSON values, as `dataclasses.asdict` produces them."""

import sys
from collections.abc import Callable
from dataclasses import MISSING, fields, is_dataclass
from enum import StrEnum
from functools import cache
from types import NoneType
from typing import Annotated, Any, NamedTuple, get_args, get_origin, get_type_hints

OLD_NAMES = "old names"
"""Metadata key of a field; its value lists other names that records use for the field."""


class Range(NamedTuple):
    """The allowed range of a number, as an argument of an ``Annotated`` type."""

    least: float
    most: float


_WHOLE = Range(1 - 2**31, 2**31 - 1)  # the database's usual integers
_FINITE = Range(-sys.float_info.max, sys.float_info.max)

Read = Callable[[Any], Any]


@cache
def reader(kind: Any) -> Read:
    """Return a function that reads values of a type.

    The function raises TypeError for a value of another type and for a dataclass that lacks a field, KeyError
    for an unknown field, and ValueError for a number that is out of range or not finite and for an unknown
    member of an enumeration.  The message begins with the names of the enclosing fields.

    Args:
        kind: A dataclass, a `StrEnum`, a tuple, `str`, `bool`, `int`, `float`, or an optional or annotated
            form of these.
    """
    of = get_args(kind)
    if get_origin(kind) is Annotated:
        return _scalar_reader(_kinds(of[0]), of[1])
    if get_origin(kind) is tuple:
        return _tuple([reader(each) for each in of if each is not ...], is_any_length=... in of)
    if NoneType in of:
        read = reader(next(each for each in of if each is not NoneType))
        return lambda value: None if value is None else read(value)
    if is_dataclass(kind):
        return _dataclass(kind)
    if issubclass(kind, StrEnum):
        member: Read = kind
        return member
    return _scalar_reader(_kinds(kind), {int: _WHOLE, float: _FINITE}.get(kind))


@cache
def _fields(kind: Any) -> dict[str, tuple[str, Read]]:
    """A dataclass's fields with their readers, keyed by each name that a record may use."""
    hints = get_type_hints(kind, include_extras=True)
    return {
        name: (field.name, reader(hints[field.name]))
        for field in fields(kind)
        for name in (field.name, *field.metadata.get(OLD_NAMES, ()))
    }


def _dataclass(kind: Any) -> Read:
    def read(value: Any) -> Any:
        known, values = _fields(kind), {}
        for name, each in value.items():
            field, read_field = known[name]
            try:
                values[field] = read_field(each)
            except (TypeError, ValueError) as error:
                raise type(error)(f"{name}: {error}") from None
        try:
            return kind(**values)
        except TypeError:
            for each in fields(kind):
                if each.name not in values and each.default is MISSING and each.default_factory is MISSING:
                    raise TypeError(f"{each.name} is missing") from None
            raise

    return read


def _tuple(readers: list[Read], *, is_any_length: bool) -> Read:
    def read(value: Any) -> Any:
        if not isinstance(value, list | tuple):
            raise TypeError(f"{value!r:.60} is not a list")
        if is_any_length:
            return tuple(map(readers[0], value))
        return tuple(each(part) for each, part in zip(readers, value, strict=True))

    return read


def _kinds(kind: type) -> tuple[type, ...]:
    return (int, float) if kind is float else (kind,)


def _scalar_reader(kinds: tuple[type, ...], within: Range | None) -> Read:
    def read(value: Any) -> Any:
        if type(value) not in kinds:  # True is not a number
            raise TypeError(f"{value!r:.60} is not of the type {kinds[-1].__name__}")
        if within is not None and not within.least <= value <= within.most:  # nor NaN
            raise ValueError(f"{value} is out of range")
        return value

    return read
