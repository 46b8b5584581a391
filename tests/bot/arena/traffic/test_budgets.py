"""Points: a crowd that asks for much leaves enough for those who ask for little."""

from collections.abc import Callable

import pytest

from bot.arena.traffic.budgets import Budgets, LimitReached
from bot.base.config import ArenaConfig
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
