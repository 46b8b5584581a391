"""The tempting player without the C++ core, and where every move's exact score is shown."""

import random

from engine.games import get_rules
from engine.move_chooser import MoveChooser
from engine.params import TemptingParams, TrapParams
from engine.search.profiles import Profiler
from engine.search.reference import ReferenceSearcher
from engine.search.searchers import NativeSearcher, make_searcher
from engine.stop import StopFlag
from engine.strategies.registry import strategy_named
from engine.strategies.tempting import Tempting
from engine.time_management import Limits
from engine.verification import verify
from tests.engine.positions import random_position


def test_without_a_core_the_player_is_the_same() -> None:
    game, looked = get_rules("connect4"), 0
    for number in (0, 1, 2, 76):
        rng = random.Random(f"connect4 decided {number}" if number == 76 else number)
        position = random_position(game, rng, rng.randint(16, 38) if number == 76 else rng.randint(10, 30))
        fast, slow = (
            MoveChooser(strategy_named("tempting"), game, TrapParams(), searcher).choose(
                position, Limits(5), StopFlag()
            )
            for searcher in (make_searcher("connect4", 1), ReferenceSearcher(game))
        )
        verify(slow)
        assert (fast.move, fast.depth) == (slow.move, slow.depth)
        for one, other in zip(fast.candidates, slow.candidates, strict=True):
            assert one.raw_is_bound == other.raw_is_bound
            assert one.raw_is_bound or one.raw_centi == other.raw_centi
            assert other.is_whole or not one.replies
            looked += bool(one.replies)
    assert looked > 0


def test_every_move_has_its_exact_score() -> None:
    """As a protocol's driver shows them; what the choice depends on is the same."""
    game, trap = get_rules("othello"), TrapParams()
    position = random_position(game, random.Random(3), 20)
    settings = TemptingParams().for_position(game.expected_scale_centi(position))
    core = make_searcher("othello", 1)
    assert isinstance(core, NativeSearcher)
    profiler = Profiler(game, core, position, trap, StopFlag())
    player = Tempting(name="tempting", settings=settings)
    found = player.rank_candidates(profiler, 5, trap)
    assert [(each.raw_centi, each.raw_is_bound) for each in found] == [
        (profiler.raw_value(move, 5), False) for move in profiler.moves
    ]
    lazy = core.tempting_candidates(profiler.position, 5, trap, settings, StopFlag())
    assert [each.replies for each in found] == [each.replies for each in lazy]
    assert any(each.replies for each in found)
    assert player.best_move(found, trap) == player.best_move(lazy, trap)
    assert not any(each.replies for each in player.rank_candidates(profiler, 3, trap))
