from datetime import UTC, datetime, timedelta, timezone
from types import SimpleNamespace
from typing import Any

import pytest
from sqlalchemy import LargeBinary, select, type_coerce, update
from sqlalchemy.dialects import postgresql, sqlite

from engine.errors import RecordError
from storage.database import Database
from storage.packing.records import unpack
from storage.records import GameResult, GameStatus
from storage.tables.games import DecisionRow
from storage.tables.types import (
    EnumText,
    JsonType,
    PackedRecord,
    RepliesType,
    UtcDateTime,
    as_stored,
    render_item,
)
from tests.storage.samples import commit_decision, decision, opened


async def test_a_damaged_record_can_be_read_around(database: Database) -> None:
    async with database.write() as session:
        game = await opened(session)
        key = await commit_decision(session, game.id, 0, decision())
        raw = select(as_stored(DecisionRow.record))
        assert unpack(await session.scalar(raw)) == await session.scalar(select(DecisionRow.record))
        damaged = update(DecisionRow).where(DecisionRow.id == key)
        await session.execute(damaged.values(record=type_coerce(b"\x07", LargeBinary)))
        assert await session.scalar(raw) == b"\x07"
        with pytest.raises(RecordError, match="packed in format 7"):
            await session.scalar(select(DecisionRow.record))


def test_migrations_get_plain_types() -> None:
    context = SimpleNamespace(imports=set())
    assert render_item("type", PackedRecord(), context) == "sa.LargeBinary()"
    assert render_item("type", RepliesType, context) == "sa.JSON()"
    assert (
        render_item("type", JsonType, context) == "sa.JSON().with_variant(postgresql.JSONB(), 'postgresql')"
    )


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
        (EnumText(GameResult), "odd", "LookupError: 'odd' is not among the defined enum values"),
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
    assert EnumText(GameResult)._static_cache_key != EnumText(GameStatus)._static_cache_key
    assert EnumText(GameResult)._static_cache_key == EnumText(GameResult)._static_cache_key
