"""Trap profiles from another engine: the root, the moves within a window, and the replies to each.

An engine is a third-party program: it may end, hang or send invalid output at any moment. `EngineSource` then
logs the failure once and returns nothing, so its caller chooses the move without the engine. The engine is
restarted for a later move, with increasing back-off.
"""

import logging
import math
import threading
import time
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import Future
from concurrent.futures import TimeoutError as FutureTimeoutError
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from functools import partial
from typing import Any, TypeVar

from engine.decision import Candidate, DirectMove, ReplyProfile, SourceInfo
from engine.game import Game, legal_prefix
from engine.games import get_rules
from engine.human.opponent_model_search import OpponentModelSearch
from engine.params import TrapParams
from engine.protocols.link import BestMoveRequest, EngineOutput, Link, SearchRequest
from engine.protocols.process import STOP_POLL_INTERVAL_S, EngineError, WaitLimit
from engine.protocols.score_settings import EngineSettings, MoveLimit
from engine.protocols.scores import plies_played, score_to_centi, scores_by_depth
from engine.protocols.uci_scores import UciLink
from engine.stop import StopFlag, Stopped
from engine.time_management import MIN_TIME_S, EngineClock, Limits
from engine.trappy import is_swindle, with_trap

logger = logging.getLogger(__name__)

T = TypeVar("T")

# With a clock: first profiles that take hardly any time, then some as deep as the remaining time allows.
_FIRST_DEPTH = 4
_FIRST_TIME_SHARE = 0.5  # of the time; if they take longer, the move is better decided without the engine
_COST_GROWTH_PER_PLY = 2.0  # cost of a profile relative to that of one ply less
_FORECAST_SAFETY_SHARE = 0.8  # share of the remaining time, in case the forecast is too optimistic
_REPLY_PROFILE_TIME_SHARE = 0.2  # of the time, for the profile of an engine's own move
_MIN_RESPONSE_TIMEOUT_S = 0.5  # on a busy machine an engine may take this long to print anything
_RESTART_BACKOFF_S = (0.0, 1.0, 5.0, 15.0, 60.0)  # before the next start, by failures in a row


@dataclass(frozen=True, slots=True)
class EngineAnalysis:
    """An engine's analysis of a position."""

    candidates: tuple[Candidate, ...]
    """Every legal move in the game's move order; the analysed ones have complete profiles."""
    depth: int
    info: SourceInfo
    variation: tuple[str, ...]
    """The line that the engine expects."""


@dataclass(frozen=True, slots=True)
class EngineMove:
    """The best move of an engine's own search."""

    move: str
    pick: DirectMove
    variation: tuple[str, ...]
    """The line that the engine expects."""
    info: SourceInfo
    replies: tuple[ReplyProfile, ...] | None
    """The engine's profiles of all replies, or None if there was no time for them."""
    raw_centi: int
    """The replies' lowest final score; without profiles, the engine's own score, or 0 if it gave none."""
    depth: int
    """Depth of the profiles, in plies."""


@dataclass(frozen=True, slots=True)
class MoveScores:
    """An engine's scores for the best move and some others, at one depth and from the mover's point of
    view."""

    name: str
    """The engine's own name."""
    best_centi: int
    scores_centi: tuple[int, ...]
    """The score of each move; no score is above the best move's."""


class EngineHealth:
    """The recent failures of an engine, over all its processes; decides when to log and to restart."""

    def __init__(self, clock: Callable[[], float] = time.monotonic) -> None:
        self._clock = clock
        self._lock = threading.Lock()
        self._failures = 0
        self._not_before = -math.inf
        self.trouble: EngineError | None = None
        """The latest failure, or None if the engine is working."""

    @property
    def may_start(self) -> bool:
        """Whether the back-off is over."""
        return self._clock() >= self._not_before

    def record_failure(self, settings: EngineSettings, error: EngineError) -> None:
        """Count a failure: log it if it is the first in a row, and delay the next start."""
        with self._lock:
            wait_s = _RESTART_BACKOFF_S[min(self._failures, len(_RESTART_BACKOFF_S) - 1)]
            self._failures += 1
            self.trouble = error
            self._not_before = self._clock() + wait_s
            level = logging.ERROR if self._failures == 1 else logging.DEBUG
        logger.log(
            level, "%s engine: %s; moves are decided without it until it works again", settings.game, error
        )

    def record_success(self, settings: EngineSettings) -> None:
        """Log the recovery if the engine's previous query failed."""
        with self._lock:
            had_failed, self._failures, self._not_before = self._failures > 0, 0, -math.inf
            self.trouble = None
        if had_failed:
            logger.info("%s engine: works again", settings.game)


class EngineSource:
    """One process of an engine, started when first needed; used by one thread at a time.

    Args:
        settings: The engine, and the limits of its searches.
        health: Shared by all processes of one engine.
        connect: A function that starts the engine.
        game: The game's rules; by default those of `settings.game`.
        clock: A monotonic clock, in seconds.
    """

    def __init__(
        self,
        settings: EngineSettings,
        health: EngineHealth | None = None,
        connect: Callable[[EngineSettings], Link] = UciLink,
        game: Game[Any] | None = None,
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        self.settings = settings
        self._clock = clock
        self._health = health or EngineHealth(clock)
        self._connect = connect
        self._game = game or get_rules(settings.game)
        self._link: Link | None = None
        self._starting: Future[Link] | None = None

    @property
    def trouble(self) -> EngineError | None:
        """The engine's latest failure, or None if it is working."""
        return self._health.trouble

    @property
    def name(self) -> str | None:
        """The engine's own name, or None if it is not running."""
        return None if self._link is None else self._link.name

    def processor_time_s(self) -> float | None:
        """Processor time that the running engine has used; None if unknown or if it is not running."""
        return None if self._link is None else self._link.processor_time_s()

    def open(self) -> None:
        """Start the engine and wait for it.

        Raises:
            EngineError: The engine does not start; the message says why.
        """
        if self._link is None:
            self._link = self._connect(self.settings)

    def analyse(
        self,
        position: Any,
        params: TrapParams,
        limits: Limits,
        stop: StopFlag,
        om_search: OpponentModelSearch | None = None,
    ) -> EngineAnalysis | None:
        """Profiles of the moves within the window, as deep as the settings and limits allow.

        Args:
            position: An unfinished game.
            params: Parameters of the trap arithmetic.
            limits: With a clock, the depth is the greatest that can be completed in time; `depth` is used
                only without a clock.
            stop: Ends the analysis early.  The caller sets the flag's deadline to that of `limits`.
            om_search: For strategies with an opponent model: values the moves and selects the replies to
                search. None if all moves within the window need complete profiles.

        Returns:
            None if the engine had no result in time or failed (the failure is logged).

        Raises:
            BadModel: A model cannot predict the replies.
        """
        began = self._clock()
        until = math.inf if limits.time_s is None else began + limits.time_s
        first_until = until if limits.time_s is None else began + _FIRST_TIME_SHARE * limits.time_s

        def analysed(link: Link) -> EngineAnalysis:
            root = self._root(position, params, om_search)
            return self._deepen(link, partial(self._at_depth, root=root), limits, stop, first_until, until)

        analysis = self._run_with_engine(analysed, stop, first_until)
        if analysis is not None and self._link is not None:  # otherwise it failed at a greater depth
            self._health.record_success(self.settings)
        return analysis

    def play(self, position: Any, limits: Limits, stop: StopFlag) -> EngineMove | None:
        """The best move of the engine's own search and the profiles of the replies to it.

        Args:
            position: An unfinished game.
            limits: See `analyse`; in addition, the clocks that the engine manages itself
                (`EngineSettings.limit`).
            stop: Ends the search early; the result is then the best move so far.

        Returns:
            None if the engine had no move in time or failed (the failure is logged).
        """
        began = self._clock()
        clock, longest_s = limits.engine_clock, limits.longest_s
        until = move_until = math.inf if longest_s is None else began + longest_s
        if clock is None and longest_s is not None:
            move_until = began + (1 - _REPLY_PROFILE_TIME_SHARE) * longest_s

        def chosen(link: Link) -> EngineMove:
            left = clock
            if left is not None:
                left_s = left.remaining_s - (self._clock() - began)
                left = replace(left, remaining_s=max(MIN_TIME_S, left_s))
            request = self._move_request(self._game.position_text(position), limits, left)
            answer = link.search(
                request, self._wait_limit(stop, self.settings.response_timeout_s, move_until)
            )
            return self._own_move(link, position, answer)

        move = self._run_with_engine(chosen, stop, move_until)
        if clock is not None:
            now = self._clock()
            until = min(until, now + _REPLY_PROFILE_TIME_SHARE * (now - began))
        return None if move is None else self._with_reply_profiles(position, move, limits, stop, until)

    def score_moves(
        self, position: Any, moves: Sequence[str], depth: int, stop: StopFlag, longest_s: float
    ) -> MoveScores | None:
        """Scores of some moves and of the best move.

        Args:
            position: The position in which the moves are legal.
            moves: One or more moves.
            depth: Depth of both searches, in plies.
            stop: Ends the searches early.
            longest_s: Total time limit of the searches, in seconds.

        Returns:
            None if the engine had no result in time or failed (the failure is logged).

        Raises:
            Stopped: The flag was set before the work was done.
        """
        until = self._clock() + longest_s

        def compared(link: Link) -> MoveScores:
            searches = self._searches(link, self._wait_limit(stop, self.settings.response_timeout_s, until))
            best = self._best_score(searches, position, depth)
            known = self._scores(searches, position, tuple(moves), depth, is_part=True)
            scores = tuple(known[move][-1] for move in moves)
            # The search of a few moves may see more than that of all.
            return MoveScores(link.name, max(best, *scores), scores)

        found = self._run_with_engine(compared, stop, until)
        if found is not None:
            self._health.record_success(self.settings)
        elif stop.is_set():
            raise Stopped("the comparison was stopped")
        return found

    def close(self) -> None:
        """End the engine's process, if it is running; a later query starts a new one."""
        link, self._link = self._link, None
        starting, self._starting = self._starting, None
        if starting is not None:
            starting.add_done_callback(_discard)
        if link is not None:
            link.close()

    # --- Starting and failing ---------------------------------------------------------------------------

    def _run_with_engine(self, work: Callable[[Link], T], stop: StopFlag, start_until: float) -> T | None:
        """The result of `work`; None if it was stopped, or if the engine failed or is not running.

        Args:
            work: May raise `EngineError` and `Stopped`.
            stop: Ends the wait for the engine's start; the wait also ends at the clock time `start_until`.
        """
        try:
            link = self._running_link(self._wait_limit(stop, math.inf, start_until))
            return None if link is None else work(link)
        except EngineError as error:
            self._fail(error)
        except Stopped:
            pass
        return None

    def _running_link(self, wait: WaitLimit) -> Link | None:
        """The running engine, or None if its back-off is not over.

        If the wait ends early, the start continues, so the engine may be ready for the next move.

        Raises:
            Stopped: `stop` was set, or the time limit passed.
            EngineError: The engine does not start.
        """
        if self._link is not None:
            return self._link
        if self._starting is None:
            if not self._health.may_start:
                return None
            self._starting = _in_background(lambda: self._connect(self.settings))
        while not self._starting.done():
            wait.check(self.settings.command[0], self._clock())
            try:
                self._starting.exception(STOP_POLL_INTERVAL_S)
            except FutureTimeoutError:
                continue
        starting, self._starting = self._starting, None
        self._link = starting.result()
        return self._link

    def _fail(self, error: EngineError) -> None:
        self._health.record_failure(self.settings, error)
        link, self._link = self._link, None
        if link is not None:
            link.close(quickly=True)

    # --- Searching --------------------------------------------------------------------------------------

    def _deepen(
        self,
        link: Link,
        at_depth: "Callable[[_EngineSearches, int], T]",
        limits: Limits,
        stop: StopFlag,
        first_until: float,
        until: float,
    ) -> T:
        """The deepest profiles completed in time.

        Raises:
            Stopped: Not even the first profiles were completed.
            EngineError: The engine failed.
        """
        response_timeout_s = self.settings.response_timeout_s
        if limits.time_s is None:
            wait = self._wait_limit(stop, response_timeout_s)
            depth = min(self.settings.depth, limits.depth)
            return at_depth(self._searches(link, wait), depth)
        # An engine that hangs must not use up the time of every move.
        response_timeout_s = min(
            response_timeout_s, max(_MIN_RESPONSE_TIMEOUT_S, 0.9 * _FIRST_TIME_SHARE * limits.time_s)
        )
        depth = min(_FIRST_DEPTH, self.settings.depth)
        began = self._clock()
        wait = self._wait_limit(stop, response_timeout_s, first_until)
        found = at_depth(self._searches(link, wait), depth)
        while depth < self.settings.depth:
            took_s, left_s = max(1e-3, self._clock() - began), until - self._clock()
            further = int(math.log(max(1.0, _FORECAST_SAFETY_SHARE * left_s / took_s), _COST_GROWTH_PER_PLY))
            if further == 0:
                break
            depth = min(self.settings.depth, depth + further)
            began = self._clock()
            wait = self._wait_limit(stop, response_timeout_s, until)
            try:
                found = at_depth(self._searches(link, wait), depth)
            except Stopped:
                break  # the last completed profiles count
            except EngineError as error:
                self._fail(error)  # here, too; the next move gets another process
                break
        return found

    def _wait_limit(self, stop: StopFlag, response_timeout_s: float, until: float = math.inf) -> WaitLimit:
        return WaitLimit(stop, until, response_timeout_s, late=None, clock=self._clock)

    def _searches(self, link: Link, wait: WaitLimit) -> "_EngineSearches":
        return _EngineSearches(link, wait, self.settings.max_lines or link.max_lines)

    def _root(
        self, position: Any, params: TrapParams, om_search: OpponentModelSearch | None
    ) -> "_RootPosition":
        game = self._game
        after = {game.move_text(move): game.play(position, move) for move in game.legal_moves(position)}
        over = {
            move: -game.result_centi(there) for move, there in after.items() if not game.legal_moves(there)
        }
        return _RootPosition(position, params, after, over, om_search)

    def _at_depth(self, searches: "_EngineSearches", depth: int, root: "_RootPosition") -> EngineAnalysis:
        settings = self.settings
        scores = self._scores(searches, root.position, tuple(root.after), depth)
        # For a move that ends the game, the result by the rules replaces the engine's score.
        values = {move: root.over.get(move, scores[move][-1]) for move in root.after}
        if root.om_search is not None:
            candidates, floor_centi = root.om_search.from_engine(
                values,
                root.over,
                lambda move, replies: self._replies(searches, root.after[move], depth, replies),
                settings.candidates,
            )
        else:
            candidates, floor_centi = self._whole_profiles(searches, root, values, depth)
        info = self._info(searches.link, settings.window_centi, floor_centi, searches.nodes)
        best = max(values, key=lambda move: values[move])  # ties go to the first
        line = legal_prefix(self._game, root.position, searches.variations.get(best, (best,)))
        return EngineAnalysis(tuple(candidates), depth, info, line)

    def _info(self, link: Link, window_centi: int, floor_centi: int, nodes: int) -> SourceInfo:
        return SourceInfo(
            name=link.name,
            protocol=self.settings.protocol,
            options=self.settings.options,
            window_centi=window_centi,
            floor_centi=floor_centi,
            nodes=nodes,
        )

    def _whole_profiles(
        self, searches: "_EngineSearches", root: "_RootPosition", values: dict[str, int], depth: int
    ) -> tuple[list[Candidate], int]:
        """The candidates, with complete profiles for those within the window, and the lowest root score
        within the window."""
        settings = self.settings
        best_first = sorted(values, key=lambda move: -values[move])  # stable: ties in the game's order
        profiles = {
            move: Candidate(move, value, raw_is_bound=True, adjusted_centi=0.0)
            for move, value in values.items()
        }
        best = values[best_first[0]]
        looked_into = 0
        for move in best_first[: settings.candidates]:
            if values[move] < best - settings.window_centi:
                break
            looked_into += 1
            replies = () if move in root.over else self._replies(searches, root.after[move], depth)
            raw = min((reply.final_centi for reply in replies), default=values[move])
            profiles[move] = Candidate(move, raw, False, 0.0, replies=replies, complete=True)
            # If the replies show that the root score was too high, moves further below may be as good.
            best = min(best, max(c.raw_centi for c in profiles.values() if c.complete))
        candidates = tuple(profiles.values())
        swindle = is_swindle(candidates, root.params)
        judged = [with_trap(candidate, root.params, swindle) for candidate in candidates]
        return judged, values[best_first[looked_into - 1]]

    # --- The engine's own move --------------------------------------------------------------------------

    def _move_request(self, text: str, limits: Limits, clock: EngineClock | None) -> BestMoveRequest:
        settings = self.settings
        match settings.limit:
            case MoveLimit.NODES:
                return BestMoveRequest(text, nodes=settings.nodes)
            case MoveLimit.CLOCK if clock is not None:
                return BestMoveRequest(text, clock=clock)
            case MoveLimit.CLOCK if limits.time_s is not None:
                return BestMoveRequest(text)
        depth = settings.depth if limits.time_s is not None else min(settings.depth, limits.depth)
        return BestMoveRequest(text, depth=depth)

    def _own_move(self, link: Link, position: Any, answer: EngineOutput) -> EngineMove:
        """The move in an answer, without profiles of its replies.

        Raises:
            EngineError: The answer has no move, or an illegal one.
        """
        game = self._game
        move = answer.best
        if move is None or move not in map(game.move_text, game.legal_moves(position)):
            raise EngineError(f"{link.name} plays {(move or 'no move')[:40]}, which is not legal")
        lines = [line for line in answer.lines if line.variation[0] == move]
        after = game.play(position, game.parse_move(position, move))
        score_centi = None
        if not game.legal_moves(after):
            score_centi = -game.result_centi(after)  # by the rules
        elif lines:
            ply = plies_played(game.position_text(position))
            score_centi = score_to_centi(lines[-1].value, lines[-1].is_mate, ply)
        variation = legal_prefix(game, position, lines[-1].variation) if lines else (move,)
        return EngineMove(
            move=move,
            pick=DirectMove(score_centi, lines[-1].depth if lines else 0, confidence=0, solved=False),
            variation=variation,
            info=self._info(link, 0, score_centi or 0, answer.nodes),
            replies=None,
            raw_centi=score_centi or 0,
            depth=0,
        )

    def _with_reply_profiles(
        self, position: Any, found: EngineMove, limits: Limits, stop: StopFlag, until: float
    ) -> EngineMove:
        """Add the profiles of all replies to the move, if there is time."""
        game = self._game
        after = game.play(position, game.parse_move(position, found.move))
        if not game.legal_moves(after):
            return replace(found, replies=(), depth=self.settings.depth)

        def profiles(searches: _EngineSearches, depth: int) -> tuple[tuple[ReplyProfile, ...], int, int]:
            return self._replies(searches, after, depth), depth, searches.nodes

        left_s = None if until == math.inf else max(MIN_TIME_S, until - self._clock())
        timed = Limits(limits.depth, left_s)
        judged = self._run_with_engine(
            lambda link: self._deepen(link, profiles, timed, stop, until, until), stop, until
        )
        if judged is None:
            return found
        replies, depth, nodes = judged
        if self._link is not None:  # otherwise it failed at a greater depth
            self._health.record_success(self.settings)
        raw_centi = min(reply.final_centi for reply in replies)
        score_centi = raw_centi if found.pick.score_centi is None else found.pick.score_centi
        info = replace(found.info, floor_centi=score_centi, nodes=found.info.nodes + nodes)
        return replace(found, replies=replies, raw_centi=raw_centi, depth=depth, info=info)

    def _replies(
        self, searches: "_EngineSearches", after: Any, depth: int, wanted: Sequence[str] | None = None
    ) -> tuple[ReplyProfile, ...]:
        """Replies' s_2 .. s_D: the opponent's scores at depths 1 .. D-1, seen from our side.

        Args:
            wanted: The replies to search, or None for all.
        """
        legal = tuple(self._game.move_text(move) for move in self._game.legal_moves(after))
        replies = legal if wanted is None else tuple(wanted)
        scores = self._scores(searches, after, replies, depth - 1, is_part=len(replies) < len(legal))
        return tuple(ReplyProfile(reply, tuple(-score for score in scores[reply])) for reply in replies)

    def _best_score(self, searches: "_EngineSearches", position: Any, depth: int) -> int:
        """The score of a position at a depth, from the side to move's point of view.

        Raises:
            EngineError: The engine gave no score.
        """
        text = self._game.position_text(position)
        answer = searches.link.search(SearchRequest(text, depth, 1), searches.wait)
        lines = [line for line in answer.lines if line.depth <= depth]
        if not lines:
            raise EngineError(f"{searches.link.name} gave a position no score")
        last = max(enumerate(lines), key=lambda each: (each[1].depth, each[0]))[1]
        return score_to_centi(last.value, last.is_mate, plies_played(text))

    def _scores(
        self,
        searches: "_EngineSearches",
        position: Any,
        moves: tuple[str, ...],
        depth: int,
        *,
        is_part: bool = False,
    ) -> dict[str, tuple[int, ...]]:
        """Each move's scores at depths 1 .. `depth`, from the side to move's point of view."""
        text = self._game.position_text(position)
        lines = searches.run(text, moves, depth, is_part=is_part)
        return scores_by_depth(lines, moves, depth, plies_played(text))


@dataclass(frozen=True, slots=True)
class _RootPosition:
    """The position in which we move."""

    position: Any
    params: TrapParams
    after: dict[str, Any]
    """The position after each legal move, in the game's move order."""
    over: dict[str, int]
    """The score of each move that ends the game, from our point of view."""
    om_search: OpponentModelSearch | None
    """Values the moves; None if their profiles must be complete instead."""


@dataclass(slots=True)
class _EngineSearches:
    """The engine's searches for one set of profiles."""

    link: Link
    wait: WaitLimit
    max_lines: int
    nodes: int = 0
    variations: dict[str, tuple[str, ...]] = field(default_factory=dict)
    """Each move's deepest line; only for the first position searched."""

    def run(self, position: str, moves: tuple[str, ...], depth: int, *, is_part: bool = False) -> list[Any]:
        most = min(self.link.max_lines, self.max_lines)
        answers: list[EngineOutput] = []
        for at in range(0, len(moves), most):
            part = moves[at : at + most] if is_part or len(moves) > most else ()
            ask = SearchRequest(position, depth, len(part) or len(moves), part)
            answers.append(self.link.search(ask, self.wait))
        self.nodes += sum(answer.nodes for answer in answers)
        lines = [line for answer in answers for line in answer.lines]
        if not self.variations:
            self.variations = {line.variation[0]: line.variation for line in lines}
        return lines


class EnginePool:
    """The program's engines, by game; each concurrent user of an engine gets a separate process."""

    def __init__(
        self,
        settings: Sequence[EngineSettings] = (),
        connect: Callable[[EngineSettings], Link] = UciLink,
    ) -> None:
        self._settings = {each.game: each for each in settings}
        self._health = {each.game: EngineHealth() for each in settings}
        self._connect = connect
        self._lock = threading.Lock()
        self._idle: dict[str, list[EngineSource]] = {each.game: [] for each in settings}
        self._is_closed = False

    def settings(self, game_name: str) -> EngineSettings | None:
        """The settings of a game's engine, or None if the game has no engine."""
        return self._settings.get(game_name)

    @contextmanager
    def lend(self, game_name: str) -> Iterator[EngineSource | None]:
        """Lend a game's engine for the duration of the context; None if the game has no engine."""
        settings = self._settings.get(game_name)
        if settings is None:
            yield None
            return
        with self._lock:
            idle = self._idle[game_name]
            source = idle.pop() if idle else None
        if source is None:
            source = EngineSource(settings, self._health[game_name], self._connect)
        try:
            yield source
        finally:
            with self._lock:
                is_closed = self._is_closed
                if not is_closed:
                    self._idle[game_name].append(source)
            if is_closed:
                source.close()

    def close(self) -> None:
        """End all processes; a process on loan ends when it is returned."""
        with self._lock:
            self._is_closed = True
            sources = [source for idle in self._idle.values() for source in idle]
            for idle in self._idle.values():
                idle.clear()
        for source in sources:
            source.close()


def _in_background(work: Callable[[], Link]) -> Future[Link]:
    future: Future[Link] = Future()

    def run() -> None:
        try:
            future.set_result(work())
        except BaseException as error:  # raised where the future is awaited
            future.set_exception(error)

    threading.Thread(target=run, name="engine-start", daemon=True).start()
    return future


def _discard(starting: Future[Link]) -> None:
    if starting.exception() is None:
        starting.result().close()
