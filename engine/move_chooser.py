"""`MoveChooser`: runs a strategy under limits to get a `Decision` for a position."""

import logging
import random
import time
from dataclasses import replace
from typing import Any

from engine.decision import Decision
from engine.game import Game
from engine.human.model import within_move
from engine.human.opponent_model_search import Background, GameModels
from engine.opponents.pair_value import PairRatings
from engine.params import ExploitParams, RandomisedParams, TrapParams
from engine.protocols.engine_source import EngineSource
from engine.search.reference import ReferenceSearcher, Searcher
from engine.search.searchers import make_searcher
from engine.stop import StopFlag
from engine.strategies.move_context import MoveContext, Resources, StrongOptions
from engine.strategies.standard import STANDARD
from engine.strategies.strategy import Strategy
from engine.time_management import Limits
from engine.variety import RepetitionAvoidance

logger = logging.getLogger(__name__)

_FALLBACK_DEPTH = 6
"""Maximum depth of `fallback_decision`, in plies."""
_FALLBACK_TABLE_MB = 1


def fallback_decision(
    game: Game[Any], position: Any, params: TrapParams, limits: Limits, stop: StopFlag
) -> Decision:
    """Choose a move by a small plain search, after a better search has failed with an exception.

    It needs no model, book, engine or large table; if the core fails, too, it uses the reference search at
    depth 2.

    Args:
        game: The rules.
        position: An unfinished game.
        params: Parameters of the trap arithmetic, for the record.
        limits: The limits of the search that failed; half of the time is left for this one.
        stop: Flag that ends the search early.
    """
    depth, time_s = min(limits.depth, _FALLBACK_DEPTH), limits.time_s and limits.time_s / 2
    try:
        searcher = make_searcher(game.name, _FALLBACK_TABLE_MB)
        return MoveChooser(STANDARD, game, params, searcher).choose(position, Limits(depth, time_s), stop)
    except Exception:
        logger.exception("the core failed; the reference search decides this move")
        searcher = ReferenceSearcher(game)
        return MoveChooser(STANDARD, game, params, searcher).choose(position, Limits(2), StopFlag())


class MoveChooser:
    """Chooses moves with one strategy; only one thread at a time may use it or its searcher.

    Args:
        strategy: The strategy that chooses the moves.
        game: The game to play.
        params: Parameters of the trap arithmetic.
        searcher: Finds the scores.
        strong: Settings of the strong strategy; None for the defaults.
        rng: Random generator that chooses among a book's moves; if None, the operating system seeds one.
        source: An external engine for the same game, for strategies that need one.
        models: Human-move models, for strategies that use them; if None, shallow searches replace them.
        randomised: Settings of the randomised strategy; None for the defaults.
        wins_plainly: See `Resources`; experiments compare the strategies without it.
        proves: See `Resources`; experiments compare the strategies without it.
        ratings: Our rating and the opponent's; None if one is unknown.
        exploit: Settings of the strategy exploit; None for the defaults.
    """

    def __init__(
        self,
        strategy: Strategy,
        game: Game[Any],
        params: TrapParams,
        searcher: Searcher,
        strong: StrongOptions | None = None,
        rng: random.Random | None = None,
        source: EngineSource | None = None,
        models: GameModels | None = None,
        randomised: RandomisedParams | None = None,
        wins_plainly: bool = False,
        proves: bool = False,
        ratings: PairRatings | None = None,
        exploit: ExploitParams | None = None,
    ) -> None:
        self.strategy = strategy
        self._use = Resources(
            game,
            params,
            searcher,
            strong or StrongOptions(),
            rng or random.Random(),  # noqa: S311 - which opening is played is no secret
            source if strategy.asks_engine else None,
            models,
            randomised or RandomisedParams(),
            wins_plainly,
            proves,
            exploit,
            ratings,
        )

    def choose(
        self,
        position: Any,
        limits: Limits,
        stop: StopFlag,
        avoidance: RepetitionAvoidance | None = None,
        background: Background | None = None,
        seed: int | None = None,
    ) -> Decision:
        """Search by iterative deepening and choose a move; see `Strategy.choose`.

        Args:
            position: An unfinished game.
            limits: Limits of the search; time and nodes are set as limits of `stop`, which measures the time.
            stop: Flag that ends the search early; each call needs its own.
            avoidance: How to choose at random among the nearly best moves; None to choose as usual.
            background: The earlier positions, and the person who will reply; None if unknown. Only strategies
                with an opponent model use it.
            seed: 64 random bits for a strategy that randomises decisions; None if this decision is not
                randomised, because the opponent is a program. The search for the alternative move uses
                the remaining time and nodes.

        Raises:
            ValueError: The game is over.
        """
        use = self._use
        if not use.game.legal_moves(position):
            raise ValueError(f"the game is over: {use.game.position_text(position)}")
        asked_at, began_s, nodes_before = time.monotonic(), stop.now_s(), use.searcher.nodes
        if use.engine is None:
            limits = replace(limits, engine_clock=None)
        if limits.longest_s is not None:
            stop.set_deadline(limits.longest_s)
        if limits.nodes is not None:
            stop.set_node_limit(limits.nodes)
        root = use.game.for_search(position)
        scale_centi = use.game.expected_scale_centi(root)
        context = MoveContext(
            use,
            self.strategy.name,
            position,
            root,
            use.params.for_position(scale_centi),
            limits,
            stop,
            began_s,
            avoidance,
            background or Background(),
            seed,
        )
        with within_move(limits.longest_s):
            decision = self.strategy.for_position(scale_centi).choose(context)
        nodes = decision.nodes or use.searcher.nodes - nodes_before
        return replace(decision, nodes=nodes, time_s=time.monotonic() - asked_at)
