"""Points: a crowd that asks for much leaves enough for those who ask for little."""

import pytest

from bot.arena.traffic.budgets import Budgets
from bot.base.config import ArenaConfig
from tests.bot.arena.conftest import FakeClock

SECONDS, EVERY_S = 60, 0.25


def test_a_crowd_leaves_enough_for_the_others() -> None:
    clock, config = FakeClock(), ArenaConfig()
    budgets = Budgets(config.work_per_address, config.work_per_s, clock)
    answered, refused = 0, {"visitor": 0, "player": 0}
    for step in range(int(SECONDS / EVERY_S)):
        for address in range(30):
            for _ in range(6):
                answered += budgets.of_address(f"mallory{address}", 5.0, is_playing=False)[1] == 0
        if step % 4 == 0:  # somebody looks around, and somebody plays
            refused["visitor"] += budgets.of_address("anna", 3.0, is_playing=False)[1] > 0
            refused["player"] += budgets.of_address("bert", 1.0, is_playing=True)[1] > 0
        clock.advance(EVERY_S)
    assert refused == {"visitor": 0, "player": 0}
    most = config.work_per_s * (SECONDS + 10)
    assert 0.9 * most * 0.6 < 5.0 * answered <= most, "the crowd gets what the others leave"
    # The player goes on even when all of the crowd are in a game.
    for address in range(20):
        for _ in range(400):
            budgets.of_address(f"crowd{address}", 1.0, is_playing=True)
    assert budgets.of_address("bert", 1.0, is_playing=True)[1] == 0


@pytest.mark.parametrize("attackers", [3, 10, 30])
def test_a_crowd_in_games_leaves_players_their_moves(attackers: int) -> None:
    """Each of the crowd gets less than its own bucket gains, so that bucket stays full."""
    clock, config = FakeClock(), ArenaConfig()
    budgets = Budgets(config.work_per_address, config.work_per_s, clock)
    answered, refused = 0, 0
    for step in range(int(SECONDS / EVERY_S)):
        for address in range(attackers):
            for _ in range(100):
                answered += budgets.of_address(f"mallory{address}", 1.0, is_playing=True)[1] == 0
        costs = [1.0] * (step % 2) + [5.0, 3.0, 3.0] * (step % 100 == 0)  # moves, and a game begins
        refused += sum(budgets.of_address("anna", cost, is_playing=True)[1] > 0 for cost in costs)
        clock.advance(EVERY_S)
    assert refused == 0
    assert answered > 0.9 * SECONDS * config.work_per_s, "nothing is kept that nobody asks for"


def test_an_account_pays_whichever_address_it_has() -> None:
    budgets = Budgets(200, 500, FakeClock())
    paid = [budgets.of_account("anna", 100.0, is_bot=False) for _ in range(11)]
    assert paid == [("account.requests", 0)] * 10 + [("account.requests", 1)]
    assert budgets.of_account("iago", 1000.0, is_bot=True) == ("bot.requests", 0)


def test_what_was_refused_is_not_held_against_an_address() -> None:
    clock = FakeClock()
    budgets = Budgets(200, 500, clock)
    for number in range(40):  # until the common bucket is used up
        while budgets.of_address(f"mallory{number}", 10.0, is_playing=True)[1] == 0:
            pass
    for _ in range(1000):
        assert budgets.of_address("anna", 400.0, is_playing=True)[1] > 0
    clock.advance(2.0)
    assert budgets.of_address("anna", 1.0, is_playing=True)[1] == 0


def test_one_large_request_passes_while_there_is_enough() -> None:
    budgets = Budgets(200, 500, FakeClock())
    assert budgets.of_address("anna", 1900.0, is_playing=True)[1] == 0
    assert budgets.of_address("anna", 50.0, is_playing=True)[1] == 0
