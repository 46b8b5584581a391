"""Conversion of datetimes to microseconds since 1970, for the columns of arrays."""

from datetime import UTC, datetime, timedelta

_EPOCH = datetime(1970, 1, 1, tzinfo=UTC)
_MICROSECOND = timedelta(microseconds=1)


def microseconds(at: datetime) -> int:
    """Microseconds from 1970 (UTC) to a time."""
    return (at - _EPOCH) // _MICROSECOND


def time_of(at_us: int) -> datetime:
    """The time (UTC) that is this many microseconds after the Unix epoch."""
    return _EPOCH + timedelta(microseconds=at_us)
