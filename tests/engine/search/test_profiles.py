"""The native analysis against the whole table: 300 random positions, deep enough for every pruning to bite.

The examples of test_players.py are Hypothesis's, small and many; these are fixed, and go deeper.
"""

import random
from dataclasses import replace

import pytest

from engine.completion import complete
from engine.decision import Decision
from engine.games.othello import Othello, OthelloPosition
from engine.move_chooser import MoveChooser
from engine.params import Assessment, Scale, TrapParams
from engine.search.profiles import Profiler
from engine.search.searchers import NativeOthelloSearcher
from engine.stop import StopFlag
from engine.strategies.registry import strategy_named
from engine.strategies.trappy import TRAPPY
from engine.time_management import Limits
from engine.trappy import utility, with_trap
from engine.verification import verify
from tests.engine.positions import random_position
from tests.shared_data import shared_path

othello = Othello()
# Two searchers, so that neither finds the other's work in its table.
lazy = NativeOthelloSearcher(table_mb=16)
naive = NativeOthelloSearcher(table_mb=16)
BATCHES = 2
POSITIONS = {4: 40, 5: 40, 6: 40, 7: 20, 8: 10}
"""How many at each depth: 150."""


def assert_same_choice(position: OthelloPosition, depth: int, params: TrapParams) -> Decision:
    decision = MoveChooser(strategy_named("trappy"), othello, params, lazy).choose(
        position, Limits(depth), StopFlag()
    )
    verify(decision)
    params = decision.params  # with the game's own logistic function
    table = Profiler(othello, naive, position, params, StopFlag()).naive_candidates(decision.depth)
    assert decision.move == TRAPPY.best_move(table, params)
    whole = next(candidate for candidate in table if candidate.move == decision.move)
    assert decision.chosen.raw_centi == whole.raw_centi
    assert decision.chosen.adjusted_centi <= whole.adjusted_centi
    full = complete(decision, lazy, StopFlag())
    assert full.chosen.adjusted_centi == whole.adjusted_centi
    return full


@pytest.mark.parametrize("batch", range(BATCHES))
def test_lazy_equals_naive_on_random_positions(batch: int) -> None:
    """Each position on the paper's scale, with and without a margin, and the other; assessments in turn."""
    assessments = list(Assessment)
    bonuses = {Scale.PAPER: 0, Scale.EXPECTED: 0}
    limited = 0
    for depth, count in POSITIONS.items():
        for number in range(batch, count, BATCHES):
            rng = random.Random(1000 * depth + number)
            position = random_position(othello, rng, plies=rng.randrange(4, 48))
            assessment = assessments[number % len(assessments)]
            for trap in (
                TrapParams(assessment),
                TrapParams(assessment, margin_centi=300),
                TrapParams(
                    assessment,
                    scale=Scale.EXPECTED,
                    risk_percent=rng.choice((0.5, 5, 20)),
                    risk_share_percent=rng.choice((10, 25, 100)),
                ),
            ):
                decision = assert_same_choice(position, depth, trap)
                chosen, params = decision.chosen, decision.params
                bonuses[trap.scale] += chosen.adjusted_centi != utility(chosen.raw_centi, params)
                flat = with_trap(chosen, replace(params, risk_share_percent=100))
                limited += chosen.adjusted_centi < flat.adjusted_centi
    assert bonuses[Scale.PAPER] > 20  # traps were there to be found
    assert bonuses[Scale.EXPECTED] > 20
    assert limited > 0


@pytest.mark.parametrize("assessment", Assessment)
def test_lazy_equals_naive_on_middle_games(assessment: Assessment) -> None:
    """One scale on one position, the other on the next."""
    lines = shared_path("suites/othello_midgame_20.obf").read_text().splitlines()
    positions = [line for line in lines if line[:1] in "-XO"]
    assert len(positions) == 20
    for line, scale in zip(positions[:6], 3 * list(Scale), strict=True):
        assert_same_choice(othello.parse_position(line), 8, TrapParams(assessment, scale=scale))
