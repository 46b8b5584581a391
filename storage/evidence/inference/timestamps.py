"""Conversion of datetimes to microseconds since 1970, for the columns of arrays."""

from datetime import UTC, datetime, timedelta

_EPOCH = datetime(1970, 1, 1, tzinfo=UTC)
_MICROSECOND = timedelta(microseconds=1)


def microseconds(at: datetime) -> int:
    """Microseconds since the beginning of 1970 (UTC)."""
    return (at - _EPOCH) // _MICROSECOND


def time_of(at_us: int) -> datetime:
    """Convert microseconds since the beginning of 1970 (UTC) to a time in UTC."""
    return _EPOCH + timedelta(microseconds=at_us)
