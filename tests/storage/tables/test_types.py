from datetime import UTC, datetime, timedelta, timezone
from typing import Any

import pytest
from sqlalchemy.dialects import postgresql, sqlite

from engine.errors import RecordError
from storage.records import GameResult, GameStatus
from storage.tables.types import UtcDateTime, enum_column


def test_a_time_without_a_zone_is_refused() -> None:
    naive = datetime(2026, 1, 1)  # noqa: DTZ001
    with pytest.raises(ValueError, match="has no time zone"):
        UtcDateTime().process_bind_param(naive, sqlite.dialect())


def test_any_zone_becomes_utc() -> None:
    noon = datetime(2026, 1, 1, 12, tzinfo=timezone(timedelta(hours=2)))
    utc = datetime(2026, 1, 1, 10, tzinfo=UTC)
    kind = UtcDateTime()
    for dialect in (sqlite.dialect(), postgresql.dialect()):  # type: ignore[no-untyped-call]
        bound = kind.process_bind_param(noon, dialect)
        assert kind.process_result_value(bound, dialect) == utc
    assert kind.process_bind_param(None, sqlite.dialect()) is None
    assert kind.process_result_value(None, sqlite.dialect()) is None


@pytest.mark.parametrize(
    ("kind", "value", "reason"),
    [
        (enum_column(GameResult), "odd", "LookupError: 'odd' is not among the defined enum values"),
        (UtcDateTime(), "x", "ValueError: Invalid isoformat string: 'x'"),
        (UtcDateTime(), 5, "TypeError: "),
    ],
)
def test_a_value_that_its_column_cannot_have_is_damage(kind: Any, value: object, reason: str) -> None:
    read = kind._cached_result_processor(sqlite.dialect(), None)
    with pytest.raises(RecordError) as told:
        read(value)
    assert str(told.value).startswith(reason)
    assert read(None) is None


def test_types_of_different_enumerations_are_told_apart_in_the_cache() -> None:
    assert enum_column(GameResult)._static_cache_key != enum_column(GameStatus)._static_cache_key
    assert enum_column(GameResult)._static_cache_key == enum_column(GameResult)._static_cache_key
