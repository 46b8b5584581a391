"""Points: a crowd that asks for much leaves enough for those who ask for little."""

from collections.abc import Callable

import pytest

from bot.arena.traffic.budgets import Budgets, LimitReached
from bot.arena.traffic.nested_limits import NestedRateLimiter
from bot.base.config import ArenaConfig
from bot.base.rate_limiter import Rate
from tests.bot.arena.conftest import FakeClock

SECONDS, EVERY_S = 60, 0.25


def _refused(charge: Callable[..., None], who: str, cost: float, **options: bool) -> str:
    """The name of the limit that is reached, or nothing."""
    try:
        charge(who, cost, **options)
    except LimitReached as error:
        return error.key
    return ""


def test_a_crowd_leaves_enough_for_the_others() -> None:
    clock, config = FakeClock(), ArenaConfig()
    budgets = Budgets(config.work_per_address, config.work_per_s, clock)
    answered, refused = 0, {"visitor": 0, "player": 0}
    for step in range(int(SECONDS / EVERY_S)):
        for address in range(30):
            for _ in range(6):
                answered += not _refused(budgets.charge_address, f"mallory{address}", 5.0, is_playing=False)
        if step % 4 == 0:  # somebody looks around, and somebody plays
            refused["visitor"] += bool(_refused(budgets.charge_address, "anna", 3.0, is_playing=False))
            refused["player"] += bool(_refused(budgets.charge_address, "bert", 1.0, is_playing=True))
        clock.advance(EVERY_S)
    assert refused == {"visitor": 0, "player": 0}
    most = config.work_per_s * (SECONDS + 10)
    assert 0.9 * most * 0.6 < 5.0 * answered <= most, "the crowd gets what the others leave"
    # The player goes on even when all of the crowd are in a game.
    for address in range(20):
        for _ in range(400):
            _refused(budgets.charge_address, f"crowd{address}", 1.0, is_playing=True)
    assert not _refused(budgets.charge_address, "bert", 1.0, is_playing=True)


@pytest.mark.parametrize("attackers", [3, 30])
def test_a_crowd_in_games_leaves_players_their_moves(attackers: int) -> None:
    """Each of the crowd gets less than its own bucket gains, so that bucket stays full."""
    clock, config = FakeClock(), ArenaConfig()
    budgets = Budgets(config.work_per_address, config.work_per_s, clock)
    answered, refused = 0, 0
    for step in range(int(SECONDS / EVERY_S)):
        for address in range(attackers):
            for _ in range(500 // attackers):  # together four times what there is
                answered += not _refused(budgets.charge_address, f"mallory{address}", 1.0, is_playing=True)
        costs = [1.0] * (step % 2) + [5.0, 3.0, 3.0] * (step % 100 == 0)  # moves, and a game begins
        refused += sum(
            bool(_refused(budgets.charge_address, "anna", cost, is_playing=True)) for cost in costs
        )
        clock.advance(EVERY_S)
    assert refused == 0
    assert answered > 0.9 * SECONDS * config.work_per_s, "nothing is kept that nobody asks for"


def test_an_account_pays_whichever_address_it_has() -> None:
    budgets = Budgets(200, 500, FakeClock())
    paid = [_refused(budgets.charge_account, "anna", 100.0, is_bot=False) for _ in range(11)]
    assert paid == [""] * 10 + ["account.requests"]
    budgets.charge_account("iago", 1000.0, is_bot=True)


def test_what_was_refused_is_not_held_against_an_address() -> None:
    clock = FakeClock()
    budgets = Budgets(200, 500, clock)
    for number in range(40):  # until the common bucket is used up
        while not _refused(budgets.charge_address, f"mallory{number}", 10.0, is_playing=True):
            pass
    for _ in range(1000):
        assert _refused(budgets.charge_address, "anna", 400.0, is_playing=True)
    clock.advance(2.0)
    assert not _refused(budgets.charge_address, "anna", 1.0, is_playing=True)


def test_one_large_request_passes_while_there_is_enough() -> None:
    budgets = Budgets(200, 500, FakeClock())
    assert not _refused(budgets.charge_address, "anna", 1900.0, is_playing=True)
    assert not _refused(budgets.charge_address, "anna", 50.0, is_playing=True)


SOURCES = {
    "many /64s of one /48": lambda n: f"2001:db8:7:{n % 65_536:x}::/64",
    "many addresses of one /24": lambda n: f"203.0.113.{n % 256}",
    "three networks": lambda n: f"2001:db8:{n % 3}:{n // 3 % 65_536:x}::/64",
}
NEWCOMER = (0.3, *[0.3] * 20, 5.0, 5.0, 3.0, 3.0, 1.0)
"""Costs of the page with its files, the lobby, an account, the stream, a challenge, and the first move."""


@pytest.mark.parametrize("source", SOURCES.values(), ids=SOURCES)
def test_a_network_of_fresh_addresses_leaves_enough_for_newcomers(source: Callable[[int], str]) -> None:
    """Fresh /64s of one /48 looked like newcomers: of 45 others, 27 were served, of 144 in peace 144."""
    clock, config = FakeClock(), ArenaConfig()
    budgets = Budgets(config.work_per_address, config.work_per_s, clock)
    sent, answered, served, came = 0, 0, 0, 0
    for step in range(int(SECONDS / EVERY_S)):
        for _ in range(200):  # 4,000 points a second: eight times what there is
            answered += not _refused(budgets.charge_address, source(sent), 5.0, is_playing=False)
            sent += 1
        if step % 4 == 0:
            who = f"198.51.{step // 4}.7"
            came += 1
            served += not any(
                _refused(budgets.charge_address, who, cost, is_playing=False) for cost in NEWCOMER
            )
        clock.advance(EVERY_S)
    assert (served, came) == (SECONDS, SECONDS)
    assert 5.0 * answered > 0.4 * config.work_per_s * SECONDS, "what the others leave is used"


def test_a_network_has_the_limits_of_a_few_addresses() -> None:
    clock = FakeClock()
    limiter = NestedRateLimiter(Rate("few", burst=3, per_s=1 / 60), clock)
    allowed = [not limiter.wait_s(f"2001:db8:0:{n:x}::/64") for n in range(300)]
    assert (sum(allowed[:256]), sum(allowed)) == (6, 12), "a /56 has two shares, and a /48 four"
    assert limiter.wait_s("2001:db8:1::/64") == 0
    assert sum(not limiter.wait_s(f"203.0.113.{n}") for n in range(256)) == 12
    assert sum(not limiter.wait_s("anna") for _ in range(5)) == 3
    limiter.refund("203.0.113.5")
    assert [limiter.wait_s("203.0.113.5") for _ in range(2)] == [0, 15], "it refilled four times as fast"
    assert all(limiter.wait_s("203.0.113.200") for _ in range(3))
    clock.advance(60)
    # What a wider network refuses has cost the narrower ones nothing.
    assert [limiter.wait_s("203.0.113.200") > 0 for _ in range(5)] == [False] * 3 + [True] * 2
