from datetime import UTC, datetime, timedelta

import pytest

from bot.base.rounding import NO_VALUE
from bot.text.values_text import ago

NOW = datetime(2026, 11, 25, 12, tzinfo=UTC)


@pytest.mark.parametrize(
    ("elapsed_s", "text"), [(-5, "just now"), (0.9, "just now"), (1, "1.0 s ago"), (7200, "2 h ago")]
)
def test_how_long_ago_something_was(elapsed_s: float, text: str) -> None:
    assert ago(NOW - timedelta(seconds=elapsed_s), NOW) == text


def test_what_never_was() -> None:
    assert ago(None, NOW) == NO_VALUE
