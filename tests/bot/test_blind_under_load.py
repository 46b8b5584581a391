"""In a trial, the times of moves tell how long the queue was, and nothing of the search."""

from pathlib import Path

import pytest

from tests.bot.simulated_load import simulate

GAMES = 6


@pytest.mark.parametrize(("people", "threads"), [(1, 1), (6, 1)])
def test_a_held_move_is_sent_at_a_multiple_of_half_its_plan(
    tmp_path: Path, people: int, threads: int
) -> None:
    load = simulate(tmp_path, games=GAMES, people=people, threads=threads, hold_s=60)
    waits_s = sorted(wait_s for game in load.waits_s for wait_s in game)
    assert len(waits_s) > 5 * GAMES
    assert waits_s == pytest.approx([float(round(wait_s)) for wait_s in waits_s], abs=1e-3)
    assert waits_s[0] == pytest.approx(2.0)
    assert (waits_s[-1] > 2.5) is (people > threads)  # it had to wait for a thread
    assert load.lost == 0


def test_a_move_that_is_not_held_is_sent_when_its_search_ends(tmp_path: Path) -> None:
    load = simulate(tmp_path, games=2, people=1, threads=1, hold_s=0)
    assert len({round(wait_s, 3) for game in load.waits_s for wait_s in game}) > 10
