"""What callers have used lately: it fades, and those without use for longest are forgotten."""

from math import e

import pytest

from bot.base import rate_limiter
from bot.base.rate_limiter import RecentUse
from tests.bot.arena.conftest import FakeClock


def test_use_fades() -> None:
    clock = FakeClock()
    used = RecentUse(10.0, clock)
    assert used.of("anna") == 0
    used.add("anna", 4.0)
    used.add("anna", 2.0)
    used.add("bert", 1.0)
    assert (used.of("anna"), used.of("bert")) == (6.0, 1.0)
    clock.advance(10.0)
    assert used.of("anna") == pytest.approx(6 / e)
    used.add("anna", 1.0)
    assert used.of("anna") == pytest.approx(6 / e + 1)


def test_steady_use_is_told_by_what_is_used_a_second() -> None:
    clock = FakeClock()
    used = RecentUse(10.0, clock)
    for _ in range(1000):
        used.add("anna", 0.3)
        clock.advance(0.1)
    assert used.of("anna") == pytest.approx(10 * 3, rel=0.01)


def test_who_has_used_nothing_for_longest_is_forgotten(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(rate_limiter, "_MAX_CALLERS", 2)
    used = RecentUse(10.0, FakeClock())
    for caller in ("anna", "bert", "anna", "carl"):
        used.add(caller, 1.0)
    assert [used.of(caller) for caller in ("anna", "bert", "carl")] == [2.0, 0.0, 1.0]
