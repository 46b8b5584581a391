from datetime import UTC, datetime, timedelta, timezone

import pytest
from sqlalchemy.dialects import postgresql, sqlite

from storage.tables.types import UtcDateTime


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
