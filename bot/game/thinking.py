"""Runs one game's searches in a pool thread, within clock limits, and ponders on the opponent's time.

A search may begin before our turn, for the position after the expected reply (pondering). The search is the
same as after the reply, with the same limits, but it starts earlier. If the opponent plays this reply, the
search continues or has already finished; otherwise we drop the search, which leaves only its entries in the
thread's transposition table. Nothing is recorded before our turn.

Strategies with an opponent model get the moves so far and the opponent's rating and clock. A search
that began before the reply cannot know the opponent's clock after the reply, so its record has no clock. The
search is used nevertheless, because the clock has the least influence on the models. Against persons these
strategies also get what is known of them.
"""

import asyncio
import logging
import math
import random
from collections.abc import Mapping, Sequence
from contextlib import ExitStack
from dataclasses import dataclass, replace
from typing import Any

from bot.base.dialects import Capability
from bot.game.assignment import imitated_rating
from bot.game.repetition import Paths, recent_paths
from bot.game.services import GameServices
from bot.threads.exploit_facts import ExploitMemory
from bot.threads.fair_queue import JobRank
from bot.threads.search_pool import JobStop
from engine.decision import Decision, Person
from engine.errors import BadSettings
from engine.game import Game, positions, starting_position
from engine.human.opponent_model_search import Background
from engine.human.person_prior import estimated_side_time_s
from engine.lookup.source import LookupMove, SingleMoveSource
from engine.move_chooser import MoveChooser, fallback_decision
from engine.opponents.exploit_value import given_up
from engine.opponents.pair_value import PairRatings
from engine.opponents.trust import ExploitFacts
from engine.params import ExploitParams, RandomisedParams
from engine.person.choice import ReplyAdapter
from engine.person.pace import max_thinking_time_s, thinking_time_s
from engine.person.state import KnownPerson
from engine.protocols.score_settings import MoveLimit
from engine.search.reference import Searcher
from engine.stop import Stopped
from engine.strategies.registry import strategy_named
from engine.strategies.strategy import Strategy
from engine.time_management import MIN_TIME_S, Limits, engine_clock, limits_from_clock
from engine.variety import LEVELS, Level, RepetitionAvoidance
from storage.ledger.decisions import list_seeds
from storage.records import StoredGame

logger = logging.getLogger(__name__)

LATE_MOVE_GRACE_S = 1.0
"""A move counts as late this many seconds after the planned time, which excludes starting and storing."""

HOLD_MARGIN_S = 0.1
"""The search of a held move ends this many seconds before the move is sent (after three quarters of a shorter
time), so that storing the decision does not delay the move."""

_CASUAL = ExploitParams(bait_percent=10)
"""In casual games a bait counts in itself."""
_MAX_THREADS = 8
"""Maximum threads of one strong search on idle cores: more threads gain little, and each costs every
thread of the pool several MB."""


@dataclass(frozen=True, slots=True)
class Turn:
    """Our clock as the server reported it."""

    remaining_s: float | None
    """Time left when the turn began; None without a clock."""
    received_at: float | None
    """When the report arrived, by the services' clock; None while the turn is only expected and the
    clock is stopped."""


@dataclass(frozen=True, slots=True)
class PositionToMove:
    """A position of a game in which we are to move."""

    stored: StoredGame
    """The game as stored in the ledger."""
    game: Game[Any]
    position: Any
    moves: Sequence[str] = ()
    """The game's moves before the position."""

    @property
    def text(self) -> str:
        """The position in the game's notation."""
        return self.game.position_text(self.position)

    @property
    def level(self) -> Level | None:
        """The level that the game began with; None if its strategy has no levels."""
        number = self.stored.selection.get("level")
        return LEVELS[number - 1] if isinstance(number, int) and 1 <= number <= len(LEVELS) else None

    def is_low_priority(self, services: GameServices) -> bool:
        """Whether the move can wait; if so, its search yields to others."""
        return self.stored.clock_initial_s is None and services.server.supports(Capability.CORRESPONDENCE)


class MoveSearch:
    """The search for one move: a job of the pool that may be paused and restarted.

    Its decision reports the depth reached and the total time and nodes, including those before a pause or on
    the opponent's time.
    """

    def __init__(
        self,
        services: GameServices,
        at: PositionToMove,
        avoidance: RepetitionAvoidance | None = None,
        their_remaining_s: float | None = None,
        found: LookupMove | None = None,
        *,
        known: KnownPerson | None = None,
        seed: int | None = None,
        facts: ExploitFacts | None = None,
    ) -> None:
        self._services = services
        self._strong = services.strong
        if found is not None:
            local = services.strong.sources.get(at.game.name, ())
            sources = {**services.strong.sources, at.game.name: (*local, SingleMoveSource(found))}
            self._strong = replace(services.strong, sources=sources)
        self._at = at
        self._person = Person(at.stored.opponent_rating, their_remaining_s, at.stored.our_rating)
        self._known = known
        self._facts = facts
        self._text = at.text
        self._avoidance = avoidance
        if level := at.level:
            self._avoidance = (
                level.avoidance if avoidance is None else replace(avoidance, within_centi=level.within_centi)
            )
        self._seed = seed  # given, not drawn here: searches of one position draw the same
        self._turn = Turn(None, None)
        # Sums over the runs that have ended:
        self._time_s, self._nodes = 0.0, 0
        self._spent_s = 0.0
        """Time by the stop flags' clocks: while other threads use the core, they stand still."""
        self._clock_spent_s = 0.0
        """Time for which the game's clock ran, in seconds."""
        self.release_at: float | None = None
        """When to send the move of a game whose moves are held, by the services' clock; None if moves are not
        held, or before the search begins. Depends only on the clock, the position and the wait for a thread.
        """
        self._best: Decision | None = None
        # While it runs: when it began by its stop flag's clock, and this flag.
        self._running: tuple[float, JobStop] | None = None

    @property
    def at(self) -> PositionToMove:
        """The position to search."""
        return self._at

    def is_same_turn(self, at: PositionToMove) -> bool:
        """Whether the search is for exactly this position of this game."""
        return at.game.name == self._at.game.name and at.text == self._text

    def begin(self, turn: Turn) -> None:
        """Set the turn's clock; for an expected turn, call this method again when the turn begins."""
        self._turn = turn
        if self._running is not None:
            began_s, stop = self._running
            limits = self._limits(stop.queue_per_thread)
            if limits is None:
                stop.set_deadline(0)
            elif limits.longest_s is not None:
                spent_s = stop.now_s() - began_s
                stop.set_most_stretch(limits.stretch)
                rest_s = min(limits.longest_s - spent_s, self._held_rest_s(limits))
                stop.set_deadline(max(0.0, rest_s))

    def __call__(self, searcher: Searcher, stop: JobStop) -> Decision:
        """Search until the time is used up or the stop flag is set.

        Raises:
            Stopped: The search was paused.
        """
        limits = self._limits(stop.queue_per_thread)
        if limits is None:  # nearly all the time was spent before a pause
            assert self._best is not None, "the time is used up and no move was found"  # noqa: S101
            return self._best
        rest_s = self._held_rest_s(limits)
        if limits.time_s is not None and rest_s < limits.time_s:
            limits = replace(limits, time_s=max(MIN_TIME_S, rest_s))
        began_s, began_at = stop.now_s(), self._services.clock()
        self._running = began_s, stop
        try:
            decision = self._choose(searcher, limits, stop)
        except Stopped:
            raise
        except Exception as error:
            if self._turn.received_at is None:  # there will be another search when the turn begins
                raise
            decision = self._fall_back(limits, stop, error)
        finally:
            self._running = None
        self._spent_s += stop.now_s() - began_s
        if self._turn.received_at is not None:
            self._clock_spent_s += self._services.clock() - max(began_at, self._turn.received_at)
        self._time_s += decision.time_s
        self._nodes += decision.nodes
        if self._best is None or _reached_depths(decision) >= _reached_depths(self._best):
            self._best = decision
        self._best = replace(self._best, time_s=self._time_s, nodes=self._nodes)
        # A held move keeps its time: whether a search is still there to be paused depends on the strategy.
        if stop.is_paused and self.release_at is None and self._limits(stop.queue_per_thread) is not None:
            raise Stopped
        return self._best

    def _fall_back(self, limits: Limits, stop: JobStop, error: Exception) -> Decision:
        """Choose by a smaller search, and log the error once."""
        at, text = self._at, f"{type(error).__name__}: {error}"
        if text not in self._services.search_errors:
            self._services.search_errors.add(text)
            logger.error(
                "game %s: the search failed; a smaller one decides this move, and later ones that fail the "
                "same way: %s",
                at.stored.site_game_id,
                text,
                exc_info=error,
            )
        return fallback_decision(at.game, at.position, at.stored.params, limits, stop)

    def _choose(self, searcher: Searcher, limits: Limits, stop: JobStop) -> Decision:
        services, stored, game = self._services, self._at.stored, self._at.game
        kind = strategy_named(stored.strategy)
        with ExitStack() as lent:
            source = models = background = None
            if kind.asks_engine:
                source = lent.enter_context(services.engines.lend(game.name))
            if kind.uses_people_models:
                models = lent.enter_context(services.models.lend(game.name))
                background = self._background(kind)
            strong = self._strong
            if kind.searches_selectively and services.config.engine.threads == 0:
                strong = replace(strong, threads=1 + stop.borrow(_MAX_THREADS - 1))
            elif not kind.searches_selectively:
                strong = replace(strong, threads=1)
            player = MoveChooser(
                kind,
                game,
                stored.params,
                searcher,
                strong,
                source=source,
                models=models,
                randomised=_randomised(services, stored),
                wins_plainly=True,
                proves=services.config.trap.proof,
                ratings=PairRatings.of(stored.our_rating, stored.opponent_rating),
                exploit=None if stored.rated else _CASUAL,
            )
            if not kind.asks_engine:  # another engine's processor time is not this thread's
                stop.follow_thread(limits.stretch)
            return player.choose(self._at.position, limits, stop, self._avoidance, background, self._seed)

    def _background(self, kind: Strategy) -> Background:
        game, stored = self._at.game, self._at.stored
        start = starting_position(game, stored.initial_position)
        *before, _ = positions(game, self._at.moves, start)
        side_time_s = estimated_side_time_s(stored.clock_initial_s, stored.clock_increment_s)
        if not kind.imitates_people:
            adapter = None
            if self._known is not None:
                reply_at = len(self._at.moves) + 1
                adapter = ReplyAdapter(replace(self._known, ply=reply_at), side_time_s)
            facts = self._facts or ExploitFacts(0.0, 0.0)
            return Background(tuple(before), self._person, adapter, trust=facts.trust, spent=facts.spent)
        imitated = Person(imitated_rating(stored), self._turn.remaining_s)
        return Background(tuple(before), self._person, imitated=imitated, side_time_s=side_time_s)

    def _limits(self, queue_per_thread: float) -> Limits | None:
        """The limits according to the clock, minus the time spent; None if too little time is left."""
        services, turn, at = self._services, self._turn, self._at
        left_s = turn.remaining_s
        if left_s is not None and turn.received_at is not None:
            # The clock ran on while the job was waiting; time searched since then is counted as spent.
            waited_s = services.clock() - turn.received_at - self._clock_spent_s
            left_s = max(0.0, left_s - waited_s)
        is_held = services.holds_moves(at.stored)
        limits = _clock_limits(services, at, left_s, 0.0 if is_held else queue_per_thread)
        if is_held:  # a busy machine gives a slow strategy no more time than a fast one
            limits = replace(limits, stretch=1.0)
        elif left_s is not None and _engine_manages_clock(services, at):
            plan_s = _plan_s(services, at, left_s)
            rest = Limits(limits.depth, plan_s / (1 + queue_per_thread)).after(self._spent_s)
            if rest is None or rest.time_s is None:
                return None
            # An engine divides the clock that it sees: for a part of the plan it sees this part of the clock.
            clock = engine_clock(
                rest.time_s / plan_s * left_s,
                self._person.clock_s,
                at.stored.clock_increment_s or 0,
                services.config.engine.overhead_s,
                services.server.lag_s,
            )
            return replace(limits, engine_clock=clock)
        return limits.after(self._spent_s)

    def _held_rest_s(self, limits: Limits) -> float:
        """Seconds that a held move's search has left; infinite if the move is not held or the turn has not
        begun.

        A search that had to wait for a thread gets at least half of the planned time: its move is sent at the
        next multiple of half of it. So the time tells how long the search waited, but not how long it took.
        """
        turn, now = self._turn, self._services.clock()
        plan_s = held_time_s(self._services, self._at, turn.remaining_s)
        if plan_s is None or turn.received_at is None or limits.time_s is None:
            return math.inf
        if self.release_at is None:
            waited_s, half_s = now - turn.received_at, plan_s / 2
            slot_s = max(plan_s, math.ceil((waited_s + half_s) / half_s) * half_s)
            self.release_at = turn.received_at + min(slot_s, waited_s + limits.time_s)
        return self.release_at - min(HOLD_MARGIN_S, plan_s / 4) - now


@dataclass(frozen=True, slots=True)
class _PonderSearch:
    """A search for an expected turn."""

    search: MoveSearch
    task: "asyncio.Task[Decision | None]"


class GameThinker:
    """Runs one game's searches.

    Args:
        services: The services that all games share.
        tasks: The task group in which to ponder.
    """

    def __init__(self, services: GameServices, tasks: asyncio.TaskGroup) -> None:
        self._services = services
        self._tasks = tasks
        self._turn: Turn | None = None
        """The turn of the latest decision."""
        self._held: tuple[tuple[int, str], float | None] | None = None
        """Ply and position of our turn, and when its move may be sent, by the services' clock (None: at
        once)."""
        self._ahead: _PonderSearch | None = None
        self._paths: Paths | None = None
        """Openings to avoid; None until they are looked up."""
        self._seeds: dict[tuple[int, str], int] | None = None
        """Random bits for randomised decisions, keyed by ply and position; None until looked up."""

        self._exploit: ExploitMemory | None = None
        self._facts: ExploitFacts | None = None

    async def decide(
        self,
        at: PositionToMove,
        remaining_s: float | None,
        received_at: float,
        their_remaining_s: float | None = None,
        known: KnownPerson | None = None,
    ) -> Decision:
        """Find a move; cancelling this call stops the search.

        Args:
            at: The position to search.
            remaining_s: Time on our clock when the turn began; None without a clock.
            received_at: When the turn was reported, by the services' clock.
            their_remaining_s: Time on the opponent's clock; None without a clock.
            known: What is known of the person who replies, for a strategy that models them; None for nothing.
        """
        pool, stored = self._services.pool, at.stored
        if self._paths is None:
            varies = self._services.config.engine.variety_centi > 0
            self._paths = await recent_paths(self._services.database, at.game, stored) if varies else {}
            if varies:
                await self._services.non_wins.load(self._services.database, stored.owner, at.game.name)
        if self._seeds is None:
            self._seeds = await self._known_seeds(stored)
        if strategy_named(stored.strategy).weighs_errors:
            if self._exploit is None:
                self._exploit = ExploitMemory(self._services.database, stored)
            self._facts = await self._exploit.facts(at.moves)
        avoidance = self._avoidance(at)
        online = await self._look_up(at, remaining_s, avoidance)
        turn = Turn(remaining_s, received_at)
        elapsed_s = self._services.clock() - received_at
        left_s = None if remaining_s is None else max(0.0, remaining_s - elapsed_s)
        plan_s = held_time_s(self._services, at, left_s) or _plan_s(self._services, at, left_s)
        rank = JobRank.SLOW if at.is_low_priority(self._services) else JobRank.LIVE
        decision = None
        ahead, self._ahead = self._ahead, None
        if ahead is not None and online is None and ahead.search.is_same_turn(at):
            search = ahead.search
            search.begin(turn)
            pool.promote(search, rank, plan_s)
            decision = await ahead.task
        elif ahead is not None:
            ahead.task.cancel()
        if decision is None:
            search = MoveSearch(
                self._services,
                at,
                avoidance,
                their_remaining_s,
                online,
                known=known,
                seed=self._seed(at),
                facts=self._facts,
            )
            search.begin(turn)
            decision = await self._run(search, at, rank, plan_s)
        if search.release_at is not None:
            self._held = (len(at.moves), at.text), search.release_at
        elif strategy_named(stored.strategy).imitates_people:
            self._held = (len(at.moves), at.text), received_at + _persons_time_s(at, remaining_s, decision)
        self._turn = turn
        return decision

    def max_move_time_s(self, at: PositionToMove, remaining_s: float | None) -> float:
        """Maximum time for a move, in seconds; the operator's page reports a slower move as late.

        The limit is the planned time, extended by at least `LATE_MOVE_GRACE_S` in case the machine is busy.
        """
        limits = _clock_limits(self._services, at, remaining_s)
        planned_s = limits.time_s or 0.0
        if _engine_manages_clock(self._services, at):
            planned_s = max(planned_s, remaining_s or 0.0)  # the engine may take what it likes of its clock
        elif strategy_named(at.stored.strategy).imitates_people:
            planned_s = max(planned_s, max_thinking_time_s(remaining_s))
        return max(planned_s * limits.stretch, planned_s + LATE_MOVE_GRACE_S)

    def begin_turn(self, at: PositionToMove, remaining_s: float | None, received_at: float) -> None:
        """Plan when the move of a held game may be sent; no change if the turn is already known.

        After a restart, a stored move is held like one that has yet to be found.
        """
        key = len(at.moves), at.text
        if self._held is None or self._held[0] != key:
            plan_s = held_time_s(self._services, at, remaining_s)
            self._held = key, None if plan_s is None else received_at + plan_s

    async def hold_move(self) -> None:
        """Wait until the turn's move may be sent; no search thread waits."""
        release_at = None if self._held is None else self._held[1]
        if release_at is not None and (rest_s := release_at - self._services.clock()) > 0:
            await self._services.sleep(rest_s)

    async def _look_up(
        self, at: PositionToMove, remaining_s: float | None, avoidance: RepetitionAvoidance | None
    ) -> LookupMove | None:
        """A move found online; None if the strategy plays no such moves or a local source has the position.

        Strategies that look up no other moves win the tables' won games.
        """
        online, game, position = self._services.online, at.game, at.position
        kind = strategy_named(at.stored.strategy)
        if online is None or not (kind.looks_up or kind.wins_plainly):
            return None
        root, rng = game.for_search(position), random.Random(0)  # noqa: S311 - the move itself does not matter
        for source in self._services.strong.sources.get(game.name, ()):
            if await asyncio.to_thread(source.choose, root, rng) is not None:
                return None
        avoid = () if avoidance is None else avoidance.avoid
        if kind.looks_up:
            return await online.find(game.name, position, remaining_s, avoid)
        move = await online.find(game.name, position, remaining_s, avoid, tables_only=True)
        return move if move is not None and (move.pick.score_centi or 0) > 0 else None

    def _avoidance(self, at: PositionToMove) -> RepetitionAvoidance | None:
        """How to avoid repeating earlier games; None if there are none to avoid or repetition is allowed."""
        within_centi = self._services.config.engine.variety_centi
        if within_centi == 0:
            return None
        avoid = (self._paths or {}).get(at.text, ())
        return self._services.non_wins.avoidance(at.stored, at.moves, avoid, within_centi)

    def start_pondering(
        self, after: PositionToMove, decision: Decision, known: KnownPerson | None = None
    ) -> None:
        """Start searching our next move on the opponent's time, if enabled (`engine.ponder`).

        Args:
            after: The position after our move; the opponent has not replied yet.
            decision: The decision behind our move, with as complete a profile as possible.
            known: See `decide`, for our next move.
        """
        self.forget()
        turn, clock = self._turn, self._services.clock
        if not self._services.config.engine.ponder or turn is None:
            return
        if turn.remaining_s is None or turn.received_at is None:
            return
        reply = expected_reply(decision)
        if reply is None:
            return
        game = after.game
        position = game.play(after.position, game.parse_move(after.position, reply))
        if not game.legal_moves(position):
            return
        at = PositionToMove(after.stored, game, position, (*after.moves, reply))
        facts = self._facts  # without the reply that is expected
        if facts is not None and decision.exploit is not None:
            facts = facts._replace(spent=facts.spent + given_up(decision.exploit, decision.move))
        search = MoveSearch(
            self._services,
            at,
            self._avoidance(at),
            known=known,
            seed=self._seed(at),
            facts=facts,
        )
        left_s = turn.remaining_s - (clock() - turn.received_at) + (at.stored.clock_increment_s or 0)
        search.begin(Turn(max(0.0, left_s - self._services.server.lag_s), None))
        self._ahead = _PonderSearch(search, self._tasks.create_task(self._ponder(search, at)))

    async def _known_seeds(self, stored: StoredGame) -> dict[tuple[int, str], int]:
        """The seeds of the game's earlier random choices, so that a restarted program uses them again."""
        if not stored.draws_decisions:
            return {}
        async with self._services.database.read() as session:
            return await list_seeds(session, stored.id)

    def _seed(self, at: PositionToMove) -> int | None:
        """The random bits for a position of the game; None if nothing is randomised.

        The bits are the same for every search of the position, so a takeback causes no new random choice.
        """
        seed = self._services.decision_seed(at.stored, at.text)
        known = {} if self._seeds is None else self._seeds
        return None if seed is None else known.setdefault((len(at.moves), at.text), seed)

    def forget(self) -> None:
        """Drop the search for an expected turn that will not come."""
        if self._ahead is not None:
            self._ahead.task.cancel()
            self._ahead = None

    async def _run(
        self, search: MoveSearch, at: PositionToMove, rank: JobRank, plan_s: float = math.inf
    ) -> Decision:
        services = self._services
        return await services.pool.run(
            search,
            at.game.name,
            rank=rank,
            plan_s=plan_s,
            account=services.owner,
            is_preemptible=not services.holds_moves(at.stored),
        )

    async def _ponder(self, search: MoveSearch, at: PositionToMove) -> Decision | None:
        try:
            return await self._run(search, at, JobRank.SPARE)
        except Exception:  # no caller waits for it yet: the search for the move itself will report it
            logger.exception("pondering failed")
            return None


def _randomised(services: GameServices, stored: StoredGame) -> RandomisedParams:
    """The randomisation settings that the game began with.

    If the recorded settings are missing or not supported by this version, the game uses the current settings.
    """
    known = stored.selection.get("randomised")
    if isinstance(known, Mapping):
        try:
            return RandomisedParams(**known)
        except (TypeError, BadSettings):
            logger.warning("game %s: cannot use the recorded settings %r", stored.site_game_id, known)
    return services.config.randomised.params()


def _persons_time_s(at: PositionToMove, remaining_s: float | None, decision: Decision) -> float:
    """The time that a person would take for a move, in seconds."""
    draw = decision.person_draw
    if draw is None:  # the models failed: the move is late already
        return 0.0
    return thinking_time_s(
        int(draw.seed, 16),
        remaining_s,
        at.stored.clock_increment_s or 0,
        len(at.moves) // 2,
        len(decision.candidates),
    )


def held_time_s(services: GameServices, at: PositionToMove, remaining_s: float | None) -> float | None:
    """The time of each move of a game whose moves are held, whatever the strategy; None in other games.

    Args:
        services: The services that all games share.
        at: The position in which we are to move.
        remaining_s: Time on our clock when the turn began; None without a clock.
    """
    if not services.holds_moves(at.stored):
        return None
    hold_s = services.config.trial.hold_s
    return min(_clock_limits(services, at, remaining_s).time_s or hold_s, hold_s)


def _clock_limits(
    services: GameServices,
    at: PositionToMove,
    left_s: float | None,
    queue_per_thread: float = 0.0,
    max_time_s: float | None = None,
) -> Limits:
    """The limits of a search, from our remaining time in seconds (None without a clock)."""
    engine, level = services.config.engine, at.level
    if max_time_s is None:
        max_time_s = engine.slow_time_s if at.is_low_priority(services) else engine.max_time_s
    return limits_from_clock(
        left_s,
        at.stored.clock_increment_s or 0,
        at.game.plies_left(at.position),
        at.game.most_plies_left(at.position),
        max_depth=engine.max_depth if level is None else min(level.depth, engine.max_depth),
        max_time_s=max_time_s,
        overhead_s=engine.overhead_s,
        lag_s=services.server.lag_s,
        queue_per_thread=queue_per_thread,
    )


def _plan_s(services: GameServices, at: PositionToMove, left_s: float | None) -> float:
    """The time for a move while none waits, in seconds; for an engine that manages its clock, an estimate."""
    is_engines = left_s is not None and _engine_manages_clock(services, at)
    return _clock_limits(services, at, left_s, max_time_s=math.inf if is_engines else None).time_s or 0.0


def _engine_manages_clock(services: GameServices, at: PositionToMove) -> bool:
    """Whether an external engine plays and manages its own time."""
    settings = services.engines.settings(at.game.name)
    is_asked = strategy_named(at.stored.strategy).plays_engine_moves
    return is_asked and settings is not None and settings.limit is MoveLimit.CLOCK


def expected_reply(decision: Decision) -> str | None:
    """The most probable reply according to the decision's model, or otherwise the reply with the best score.

    None if neither is known or the move ends the game. Among equal replies, choose the one in the principal
    variation, or else the first in the record.
    """
    probabilities = {reply.reply: reply.probability or 0.0 for reply in decision.chosen.replies}
    if decision.model is not None and any(probabilities.values()):
        return max(probabilities, key=lambda reply: probabilities[reply])
    line = decision.principal_variation
    if len(line) > 1 and line[0] == decision.move:
        return line[1]
    known = [reply for reply in decision.chosen.replies if reply.scores_centi]
    return min(known, key=lambda reply: reply.final_centi).reply if known else None


def _reached_depths(decision: Decision) -> tuple[int, int]:
    """The depths that a search reached: for the move it chose (0 if it chose none), and for its scores."""
    return (decision.pick.depth if decision.pick is not None else 0, decision.depth)
