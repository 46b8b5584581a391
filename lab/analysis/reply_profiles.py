"""The jobs of workers: the profile of every reply to one move, and what replies cost by the judge."""

import threading
import time
import weakref
from dataclasses import dataclass
from typing import Any

from bot.base.errors import DesdemonaError
from engine.decision import Decision, ReplyProfile
from engine.forecasts import decision_costs
from engine.games import get_rules
from engine.judge import ReplyCosts
from engine.params import TrapParams
from engine.protocols.link import SearchRequest
from engine.protocols.process import EngineError, WaitLimit
from engine.protocols.score_settings import EngineSettings
from engine.protocols.scores import plies_played, scores_by_depth
from engine.protocols.uci_scores import UciLink
from engine.search.profiles import Profiler
from engine.search.reference import Searcher
from engine.search.searchers import make_searcher
from engine.stop import StopFlag

_TABLE_MB = 16
_per_thread = threading.local()  # searchers and engines are for one thread at a time


class AnalysisError(DesdemonaError):
    """An analysis cannot begin or continue; the message says why."""


class _Engine:
    """A running engine, which is closed when its thread ends so that it does not keep the process alive."""

    def __init__(self, settings: EngineSettings) -> None:
        self.link = UciLink(settings)
        weakref.finalize(self, self.link.close, quickly=True)


@dataclass(frozen=True, slots=True)
class ProfileTask:
    """One move to analyse."""

    number: int
    game: str
    position: str
    """Position before the move."""
    move: str
    depth: int
    engine: EngineSettings | None
    """The external engine to use; None for our native search."""


@dataclass(frozen=True, slots=True)
class ProfiledMove:
    """The result of a worker's `ProfileTask`."""

    number: int
    replies: tuple[ReplyProfile, ...]
    nodes: int
    time_s: float


@dataclass(frozen=True, slots=True)
class JudgeTask:
    """Replies to one move, for the judge."""

    number: int
    decision: Decision
    """Our move with its complete profile."""
    replies: tuple[str, ...]
    known: ReplyCosts | None = None
    """What some of them cost; they are not searched again."""


def judge_replies(task: JudgeTask) -> ReplyCosts:
    """What the replies cost by the judge (`engine.forecasts.decision_costs`)."""
    return decision_costs(task.decision, task.replies, StopFlag(), task.known)


def profile(task: ProfileTask) -> ProfiledMove:
    """Every reply's scores at depths 2 .. D, from our point of view.

    Raises:
        AnalysisError: The engine failed; the next task restarts the engine.
    """
    began = time.perf_counter()
    replies, nodes = _native(task) if task.engine is None else _engine(task, task.engine)
    return ProfiledMove(task.number, replies, nodes, time.perf_counter() - began)


def _native(task: ProfileTask) -> tuple[tuple[ReplyProfile, ...], int]:
    game = get_rules(task.game)
    searchers: dict[str, Searcher] = _per_thread.__dict__.setdefault("searchers", {})
    if task.game not in searchers:
        searchers[task.game] = make_searcher(task.game, _TABLE_MB)
    searcher = searchers[task.game]
    before = searcher.nodes
    position = game.parse_position(task.position)
    profiler = Profiler(game, searcher, position, TrapParams(), StopFlag())
    move = game.parse_move(game.for_search(position), task.move)
    return profiler.all_replies(move, task.depth), searcher.nodes - before


def _engine(task: ProfileTask, settings: EngineSettings) -> tuple[tuple[ReplyProfile, ...], int]:
    """Profile the replies with another engine at depths 1 .. D-1 after our move; scores are from our side."""
    game = get_rules(task.game)
    position = game.parse_position(task.position)
    after: Any = game.play(position, game.parse_move(position, task.move))
    text = game.position_text(after)
    moves = tuple(game.move_text(move) for move in game.legal_moves(after))
    engines: dict[EngineSettings, _Engine] = _per_thread.__dict__.setdefault("engines", {})
    depth = task.depth - 1
    try:
        if settings not in engines:
            engines[settings] = _Engine(settings)
        link = engines[settings].link
        patience = WaitLimit(StopFlag(), response_timeout_s=settings.response_timeout_s)
        most = link.max_lines
        parts = [moves[at : at + most] for at in range(0, len(moves), most)]
        answers = [
            link.search(SearchRequest(text, depth, len(part), part if len(parts) > 1 else ()), patience)
            for part in parts
        ]
        lines = [line for answer in answers for line in answer.lines]
        scores = scores_by_depth(lines, moves, depth, plies_played(text))
    except EngineError as error:
        engines.pop(settings, None)
        raise AnalysisError(f"{task.position}: {error}") from None
    replies = tuple(ReplyProfile(move, tuple(-score for score in scores[move])) for move in moves)
    return replies, sum(answer.nodes for answer in answers)
