"""Gives all kinds of match players the interface of `engine.protocols.external_engine.ExternalEngine`."""

import logging
import os
import random
import time
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any, Protocol

from bot.game.offer_policy import score_centi
from bot.match.conditions import Terms
from bot.match.human_players import HumanPlayer, open_human_models
from bot.match.move_list import MoveList
from bot.match.player_specs import HumanSpec, MatchError, OurSpec
from bot.match.processor_use import processor_time_s, used_s
from engine.completion import complete
from engine.decision import Decision, Person
from engine.errors import DamagedFile
from engine.forecasts import forecast_replies
from engine.game import continued_position
from engine.games import get_rules
from engine.human.opponent_model_search import Background, GameModels
from engine.human.reply_forecast import ReplyForecast
from engine.lookup.registry import ROOT_SOURCES
from engine.lookup.source import BadSource
from engine.move_chooser import MoveChooser
from engine.opponents.trust import WeighedMove, facts_of
from engine.protocols.engine_source import EngineSource
from engine.protocols.external_engine import ExternalEngine
from engine.protocols.process import EngineError
from engine.protocols.process import processor_time_s as program_time_s
from engine.protocols.score_settings import MoveLimit
from engine.protocols.settings import Allowance, ChosenMove, ExternalSettings
from engine.search.searchers import make_searcher
from engine.stop import StopFlag, Stopped
from engine.strategies.move_context import StrongOptions
from engine.time_management import Limits, engine_clock, limits_from_clock

logger = logging.getLogger(__name__)

_MOVE_OVERHEAD_S = 0.02
"""Seconds reserved per move in a game with a clock; small, because there is no network lag."""
_MIN_RESPONSE_TIMEOUT_S = 0.5
"""Extra seconds to wait for a program's move in a game with a clock; the clock decides if it is late."""
_MAX_PROFILE_NODE_FACTOR = 20
"""Maximum ratio of positions visited for a game's profiles to those visited to choose its moves."""
_MIN_PROFILE_NODE_LIMIT = 5_000_000
"""Number of positions that a game's profiles can always visit, whatever `_MAX_PROFILE_NODE_FACTOR` allows."""


class Participant(Protocol):
    """Plays one side of a match, game after game."""

    @property
    def name(self) -> str:
        """The name that the player reports."""

    def new_game(self, start: Any = None) -> None:
        """See `ExternalEngine.new_game`."""

    def choose(self, moves: Sequence[str], allowance: Allowance, stop: StopFlag) -> ChosenMove:
        """See `ExternalEngine.choose`."""

    def close(self) -> None:
        """Release the player's resources."""


class OurPlayer:
    """One of our own players, which records its decisions.

    Args:
        spec: The player's specification.
        game_name: The game to play.
        seed: Seeds the random choice among book moves.
        models: Models of people instead of the specification's.

    Raises:
        MatchError: A book, a table, a model or the program's own weights cannot be read, or the player's
            engine does not start.
    """

    def __init__(self, spec: OurSpec, game_name: str, seed: str, models: GameModels | None = None) -> None:
        self.name = spec.text
        self.decisions: list[tuple[int, Decision]] = []
        """Decisions of this game, each with the number of moves before it."""
        self._game = get_rules(game_name)
        self._line = MoveList(self._game)
        try:
            self._searcher = make_searcher(game_name, spec.table_mb)
            sources = [ROOT_SOURCES[key][1](Path(path)) for key, path in spec.sources]
        except (BadSource, DamagedFile) as error:
            raise MatchError(f"player {spec.text!r}: {error}") from None
        strong = StrongOptions(
            confidence_percent=spec.confidence_percent,
            threads=spec.threads,
            contempt_centi=spec.contempt_centi,
            sources={game_name: sources},
        )
        self._source = _engine_source(spec, game_name)
        rng = random.Random(seed)  # noqa: S311 - needs no secrecy
        self._rating, self._our_rating, self._trust = spec.rating, spec.our_rating, spec.trust
        self._player = MoveChooser(
            spec.kind,
            self._game,
            spec.params,
            self._searcher,
            strong,
            rng,
            source=self._source,
            models=models or open_models(spec, game_name),
            exploit=spec.exploit,
        )

    def new_game(self, start: Any = None) -> None:
        """Begin a game from a position; None for the standard starting position."""
        self._line.begin(start)
        self.decisions = []

    def choose(self, moves: Sequence[str], allowance: Allowance, stop: StopFlag) -> ChosenMove:
        """Search for a move and record the decision.

        Args:
            moves: See `ExternalEngine.choose`.
            allowance: Likewise.
            stop: A new stop flag; if processor time is limited, the flag also measures that time.

        Raises:
            ValueError: The game is over.
        """
        began, before_s = time.monotonic(), self._processor_time_s()
        game = self._game
        *before, last = self._line.positions(moves)
        position = continued_position(game, last)
        clocks_s = allowance.remaining_s
        side = game.side_to_move(position)
        ours_s, their_s = (None, None) if clocks_s is None else (clocks_s[side], clocks_s[1 - side])
        if self._player.strategy.imitates_people:
            background = Background(tuple(before), imitated=Person(self._rating, ours_s))
        else:
            weighed = [
                WeighedMove(ply, decision.move, decision.exploit)
                for ply, decision in self.decisions
                if decision.exploit is not None
            ]
            facts = facts_of(self._trust, weighed, moves)
            person = Person(self._rating, their_s, self._our_rating)
            background = Background(tuple(before), person, trust=facts.trust, spent=facts.spent)
        limits = self._limits(position, allowance)
        decision = self._player.choose(position, limits, stop, background=background)
        self.decisions.append((len(moves), decision))
        depth = decision.pick.depth if decision.pick is not None else decision.depth
        return ChosenMove(
            move=decision.move,
            evaluation_centi=score_centi(decision),
            variation=decision.principal_variation,
            depth=depth,
            time_s=time.monotonic() - began,
            cpu_s=used_s(before_s, self._processor_time_s()),
            nodes=decision.nodes,
        )

    def _processor_time_s(self) -> float | None:
        """Processor time used so far, including that of the external engine, if there is one."""
        ours_s = processor_time_s()
        if self._source is None or ours_s is None:
            return ours_s
        theirs_s = self._source.processor_time_s()
        return None if theirs_s is None else ours_s + theirs_s

    def close(self) -> None:
        """End the external engine, if there is one."""
        if self._source is not None:
            self._source.close()

    def complete_decisions(self) -> list[tuple[int, Decision]]:
        """Return the decisions with completed profiles, so that every reply can be judged.

        With few pieces left, a search within a node limit may reach a depth at which a profile would never
        finish. Therefore `_MAX_PROFILE_NODE_FACTOR` limits the search; some profiles stay incomplete.
        """
        stop = StopFlag()
        searched = sum(decision.nodes for _, decision in self.decisions)
        stop.set_node_limit(max(_MIN_PROFILE_NODE_LIMIT, _MAX_PROFILE_NODE_FACTOR * searched))
        return [(ply, self._completed(ply, decision, stop)) for ply, decision in self.decisions]

    def _completed(self, ply: int, decision: Decision, stop: StopFlag) -> Decision:
        try:
            return complete(decision, self._searcher, stop)
        except Stopped:  # `desdemona db recheck` has more patience
            return decision
        except Exception:  # the game counts all the same, and `desdemona db recheck` judges the move later
            logger.exception("cannot judge ply %d", ply)
            return decision

    def forecast_replies(
        self, decisions: Sequence[tuple[int, Decision]], people: HumanPlayer
    ) -> dict[int, ReplyForecast]:
        """Forecast simulated people's replies to the moves with complete profiles, and find the baits.

        Returns:
            Forecasts by ply; a move whose forecast fails has none.
        """
        made = {}
        for ply, decision in decisions:
            if not decision.is_complete:
                continue
            try:
                made[ply] = forecast_replies(decision, (), people.models, people.person, None, StopFlag())
            except Exception:  # the game counts all the same
                logger.exception("cannot forecast the replies at ply %d", ply)
        return made

    def _limits(self, position: Any, allowance: Allowance) -> Limits:
        game = self._game
        depth = allowance.depth or game.deepest_search
        if allowance.remaining_s is None:
            time_s = allowance.move_s if allowance.cpu_s is None else allowance.cpu_s
            return Limits(depth, time_s, nodes=allowance.nodes)
        remaining_s = allowance.remaining_s[game.side_to_move(position)]
        limits = limits_from_clock(
            remaining_s,
            allowance.increment_s,
            game.plies_left(position),
            game.most_plies_left(position),
            max_depth=depth,
            max_time_s=remaining_s,
            overhead_s=_MOVE_OVERHEAD_S,
        )
        if self._source is None or self._source.settings.limit is not MoveLimit.CLOCK:
            return limits
        theirs_s = allowance.remaining_s[1 - game.side_to_move(position)]
        clock = engine_clock(remaining_s, theirs_s, allowance.increment_s, _MOVE_OVERHEAD_S, lag_s=0.0)
        return replace(limits, engine_clock=clock)


def _engine_source(spec: OurSpec, game_name: str) -> EngineSource | None:
    """Start the player's external engine; None if the player needs none."""
    settings = spec.engine_for(game_name)
    if settings is None:
        return None
    source = EngineSource(settings)
    try:
        source.open()
    except EngineError as error:
        raise MatchError(f"player {spec.text!r}: {error}") from None
    return source


def open_models(spec: OurSpec, game_name: str) -> GameModels | None:
    """Models for a player that models the opponent or imitates people; None for any other player."""
    return open_human_models(spec.text, spec.people, game_name) if spec.kind.uses_people_models else None


def make_player(terms: Terms, which: int, seed: str) -> Participant:
    """Create player 0 (A) or 1 (B) of a match; an external program starts with its first game.

    Raises:
        MatchError: The player cannot be created.
    """
    spec = terms.spec(which)
    if isinstance(spec, OurSpec):
        return OurPlayer(spec, terms.game, seed)
    if isinstance(spec, HumanSpec):
        return HumanPlayer(spec, terms.game, seed)
    allowance = terms.allowance(spec, (1.0, 1.0))
    if allowance.cpu_s is not None and program_time_s(os.getpid()) is None:
        raise MatchError(f"player {spec.text!r}: this system does not report the processor time of programs")
    response_timeout_s = spec.response_timeout_s
    if allowance.remaining_s is not None:
        response_timeout_s = _MIN_RESPONSE_TIMEOUT_S
    elif allowance.move_s is not None:
        response_timeout_s = max(terms.grace_s, _MIN_RESPONSE_TIMEOUT_S)
    settings = ExternalSettings(
        game=terms.game,
        protocol=spec.kind,
        command=spec.command,
        options=spec.options,
        directory=spec.directory,
        response_timeout_s=response_timeout_s,
        longest_s=spec.longest_s,
    )
    return ExternalEngine(settings)
