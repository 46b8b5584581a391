"""Plays one match game from its opening to its end."""

import logging
import time
from collections.abc import Mapping
from contextlib import ExitStack
from dataclasses import asdict, dataclass, field, fields, replace
from datetime import UTC, datetime
from enum import StrEnum
from typing import Any

from bot.match.conditions import AdjudicationRule, Terms, player_label
from bot.match.human_players import HumanPlayer
from bot.match.openings import Opening, odds_opening, position_after, random_opening
from bot.match.participants import OurPlayer, Participant, make_player
from bot.match.player_specs import MatchError
from bot.match.processor_use import game_in_process
from engine import SEARCH_REVISION
from engine.decision import Decision
from engine.formats.record import clean
from engine.game import Game, IllegalMove, margin_centi
from engine.games import get_rules
from engine.human.reply_forecast import ReplyForecast
from engine.protocols.process import EngineError, EngineTimeout, IllegalAnswer, Resigned
from engine.protocols.settings import ChosenMove
from engine.stop import StopFlag

logger = logging.getLogger(__name__)

_MAX_START_ATTEMPTS = 2
"""Maximum number of attempts to begin a game with a program."""
_MAX_REASON_LENGTH = 400
_LATE_FACTOR, _LATE_TOLERANCE_S = 1.1, 0.02
"""A move is late if it takes longer than `_LATE_FACTOR` times its limit plus `_LATE_TOLERANCE_S` seconds."""


class End(StrEnum):
    """How a game ended."""

    RULES = "normal"
    RESIGNATION = "resignation"
    TIME = "time"
    """A move took longer than its limit plus the grace time, or a clock ran out."""
    CRASH = "crash"
    """A player exited, refused a command, or failed in another way."""
    ILLEGAL = "illegal move"
    ADJUDICATED = "adjudicated"
    """Both players' evaluations agreed for long enough that one side is far ahead."""


FORFEITS = frozenset({End.TIME, End.CRASH, End.ILLEGAL})
"""Ends that say nothing about how well the loser plays."""


@dataclass(frozen=True, slots=True)
class GameTask:
    """One game to play, with all the data that a worker needs."""

    terms: Terms
    number: int
    """The game's number in its match, from 0.  A moves first in even games, B in odd ones."""
    seed: int
    opening: Opening | None
    """The opening; None for a random opening generated from the seed."""
    keeps_decisions: bool = True
    """Whether the output includes A's decisions, each with its complete profile."""


@dataclass(frozen=True, slots=True)
class ResourceUse:
    """A player's time, search depths and nodes over one or more moves."""

    moves: int = 0
    """Number of moves requested from the player."""
    time_s: float = 0.0
    longest_s: float = 0.0
    late: int = 0
    """Number of moves that clearly exceeded their time limit, even if within the grace time."""
    depths: int = 0
    """Sum of the depths that the player reported."""
    told_depths: int = 0
    """Number of moves with a reported depth; not every player reports one."""
    cpu_s: float = 0.0
    """Processor time in seconds, summed over all threads."""
    told_cpu: int = 0
    """Number of moves with known processor time."""
    nodes: int = 0
    told_nodes: int = 0
    """Number of moves with a reported node count."""

    def __add__(self, other: "ResourceUse") -> "ResourceUse":
        sums = (getattr(self, each.name) + getattr(other, each.name) for each in fields(self))
        return replace(ResourceUse(*sums), longest_s=max(self.longest_s, other.longest_s))

    @property
    def mean_s(self) -> float:
        """Mean time per move, in seconds."""
        return self.time_s / self.moves if self.moves else 0.0

    @property
    def mean_depth(self) -> float | None:
        """Mean depth per move; None if the player never reported a depth."""
        return self.depths / self.told_depths if self.told_depths else None

    @property
    def mean_cpu_s(self) -> float | None:
        """Mean processor time per move, summed over all threads, in seconds; None if unknown."""
        return self.cpu_s / self.told_cpu if self.told_cpu else None

    @property
    def mean_nodes(self) -> float | None:
        """Mean number of nodes per move; None if the player never reported nodes."""
        return self.nodes / self.told_nodes if self.told_nodes else None


def resource_use_of_move(time_s: float, choice: ChosenMove | None, *, late: bool) -> ResourceUse:
    """The resources used for one move; `choice` is None if the player failed to choose a move."""
    depth, cpu_s, nodes = (choice.depth, choice.cpu_s, choice.nodes) if choice else (None, None, None)
    return ResourceUse(
        moves=1,
        time_s=time_s,
        longest_s=time_s,
        late=int(late),
        depths=depth or 0,
        told_depths=int(depth is not None),
        cpu_s=cpu_s or 0.0,
        told_cpu=int(cpu_s is not None),
        nodes=nodes or 0,
        told_nodes=int(nodes is not None),
    )


@dataclass(frozen=True, slots=True, kw_only=True)
class FinishedGame:
    """The parts of a finished game's result that the match uses."""

    number: int
    points: float
    """A's points: 1, 1/2 or 0."""
    margin: int | None
    """A's discs minus B's; None unless the game is Othello and ended by the rules."""
    end: End
    loser: int | None
    """The player, 0 (A) or 1 (B), who lost by time, crash, illegal move or resignation; otherwise None."""
    reason: str
    """An explanation in words; empty if `end` suffices."""
    used: tuple[ResourceUse, ResourceUse]
    """Resources used by A and B."""
    names: tuple[str, str]
    """Names that A and B report."""

    @property
    def is_forfeit(self) -> bool:
        """Whether a player lost by time, crash or illegal move."""
        return self.end in FORFEITS


@dataclass(frozen=True, slots=True, kw_only=True)
class MatchGameRecord:
    """The full record of a game."""

    finished: FinishedGame
    opening: Opening
    a_side: int
    moves: tuple[str, ...]
    """All moves, including the opening."""
    decisions: tuple[tuple[int, Decision], ...]
    """A's decisions, each with the number of moves before it, if A is our player. A decision made too late
    comes after the last move."""
    forecasts: Mapping[int, ReplyForecast] = field(default_factory=dict)
    """Forecasts of simulated people's replies to A's moves, keyed by ply, with confirmed baits; empty if B is
    a program."""
    began: datetime
    ended: datetime


def play(task: GameTask) -> MatchGameRecord:
    """Play one game with new players, so that other games cannot influence it.

    Raises:
        MatchError: The game cannot be played, for instance because a player does not start.
    """
    terms = task.terms
    if terms.engine_version != SEARCH_REVISION:
        raise MatchError(
            f"this worker has search revision {SEARCH_REVISION}, but the match uses {terms.engine_version}"
        )
    pair = task.number // 2
    opening = task.opening
    if opening is None and terms.odds:
        opening = odds_opening(terms.game, terms.odds, task.seed, task.number)
    opening = opening or random_opening(terms.game, task.seed, pair)
    with ExitStack() as closing:
        if not closing.enter_context(game_in_process()) and terms.limits_our_cpu:
            raise MatchError(
                "a process that plays several games cannot limit the processor time of one: start the "
                "cluster's workers with --nthreads 1"
            )
        participants = [make_player(terms, which, f"{task.seed} {task.number} {which}") for which in (0, 1)]
        for player in participants:
            closing.callback(player.close)
        return play_game(
            terms,
            task.number,
            opening,
            (participants[0], participants[1]),
            keeps_decisions=task.keeps_decisions,
        )


def play_game(
    terms: Terms,
    number: int,
    opening: Opening,
    players: tuple[Participant, Participant],
    *,
    keeps_decisions: bool = True,
) -> MatchGameRecord:
    """Play one game between existing players.

    Args:
        players: Players A and B; A moves first in games with even numbers.
        keeps_decisions: See `GameTask.keeps_decisions`.

    Raises:
        MatchError: A player cannot begin.
    """
    began = datetime.now(UTC)
    table = _GameInPlay(terms, opening, number % 2, players)
    verdict = table.play()
    ours = players[0]
    decisions: list[tuple[int, Decision]] = []
    forecasts: dict[int, ReplyForecast] = {}
    if keeps_decisions and isinstance(ours, OurPlayer):
        decisions = ours.complete_decisions()
        if isinstance(people := players[1], HumanPlayer):
            forecasts = ours.forecast_replies(decisions, people)
    finished = FinishedGame(
        number=number,
        **asdict(verdict),
        used=(table.used[0], table.used[1]),
        names=(clean(players[0].name), clean(players[1].name)),
    )
    return MatchGameRecord(
        finished=finished,
        opening=opening,
        a_side=table.a_side,
        moves=tuple(table.moves),
        decisions=tuple(decisions),
        forecasts=forecasts,
        began=began,
        ended=datetime.now(UTC),
    )


@dataclass(frozen=True, slots=True)
class _Verdict:
    points: float
    end: End
    margin: int | None = None
    loser: int | None = None
    reason: str = ""


@dataclass(slots=True)
class _Adjudicator:
    """Tracks for how long both players have agreed that the same side is far ahead."""

    terms: AdjudicationRule | None
    leader: int = 0
    """The leading side: 1 if it moved first, -1 if it moved second, 0 for neither."""
    plies: int = 0

    def add(self, side: int, evaluation_centi: int | None) -> bool:
        """Record a side's evaluation of its position; return whether to end the game."""
        if self.terms is None:
            return False
        score = (evaluation_centi or 0) * (1 if side == 0 else -1)
        leader = (score >= self.terms.centi) - (score <= -self.terms.centi)
        self.plies = self.plies + 1 if leader == self.leader else 1
        self.leader = leader
        return leader != 0 and self.plies >= self.terms.plies


@dataclass(slots=True)
class _GameInPlay:
    """A game in progress."""

    terms: Terms
    opening: Opening
    a_side: int
    players: tuple[Participant, Participant]
    moves: list[str] = field(default_factory=list)
    used: list[ResourceUse] = field(default_factory=lambda: [ResourceUse(), ResourceUse()])

    def play(self) -> _Verdict:
        game = get_rules(self.terms.game)
        start, position = position_after(game, self.opening)
        self.moves = list(self.opening.moves)
        for which, player in enumerate(self.players):
            _begin(player, start, player_label(self.terms.spec(which), which))
        initial_s = 0.0 if self.terms.clock is None else self.terms.clock.initial_s
        clocks_s = [initial_s, initial_s]
        agreement = _Adjudicator(self.terms.adjudication)
        while legal := game.legal_moves(position):
            side = game.side_to_move(position)
            which = 0 if side == self.a_side else 1
            is_ours = isinstance(self.players[which], OurPlayer)
            if len(legal) == 1 and not game.move_squares(legal[0]) and not is_ours:
                # A forced pass: not every program accepts the request for one.
                self.moves.append(game.move_text(legal[0]))
                position = game.play(position, legal[0])
                continue
            chosen = self._request_move(which, side, clocks_s)
            if isinstance(chosen, _Verdict):
                return chosen
            try:
                move = game.parse_move(position, chosen.move)
            except IllegalMove as error:  # by our own player; other programs' moves are already checked
                return self._loss_verdict(which, End.ILLEGAL, str(error))
            self.moves.append(game.move_text(move))
            position = game.play(position, move)
            if agreement.add(side, chosen.evaluation_centi) and game.legal_moves(position):
                won = (agreement.leader > 0) == (self.a_side == 0)
                return _Verdict(float(won), End.ADJUDICATED, reason="both agreed that the game is decided")
        return self._verdict_by_rules(game, position)

    def _request_move(self, which: int, side: int, clocks_s: list[float]) -> ChosenMove | _Verdict:
        """Return a player's move, or how the player lost the game."""
        terms = self.terms
        allowance = terms.allowance(terms.spec(which), (clocks_s[0], clocks_s[1]))
        began = time.perf_counter()
        failed: _Verdict | None = None
        choice: ChosenMove | None = None
        try:
            stop = StopFlag(processor_time=allowance.cpu_s is not None)
            choice = self.players[which].choose(self.moves, allowance, stop)
        except EngineTimeout as error:
            failed = self._loss_verdict(which, End.TIME, str(error))
        except IllegalAnswer as error:
            failed = self._loss_verdict(which, End.ILLEGAL, str(error))
        except Resigned as error:
            failed = self._loss_verdict(which, End.RESIGNATION, str(error))
        except EngineError as error:
            failed = self._loss_verdict(which, End.CRASH, str(error))
        except Exception as error:  # a bug in our own player: log it and go on with the match
            logger.exception("one of our own players failed")
            failed = self._loss_verdict(which, End.CRASH, f"{type(error).__name__}: {error}")
        took_s = time.perf_counter() - began
        limit_s, spent_s, what = allowance.limit_s(side), took_s, "s"
        if allowance.cpu_s is not None and choice is not None and choice.cpu_s is not None:
            limit_s, spent_s, what = allowance.cpu_s, choice.cpu_s, "s of processor time"
        is_late = limit_s is not None and spent_s > _LATE_FACTOR * limit_s + _LATE_TOLERANCE_S
        self.used[which] += resource_use_of_move(took_s, choice, late=is_late)
        if failed is not None:
            return failed
        grace_s = 0.0 if terms.clock else terms.grace_s
        if limit_s is not None and spent_s > limit_s + grace_s:
            return self._loss_verdict(which, End.TIME, f"took {spent_s:.3f} {what} of {limit_s:.3f} allowed")
        if terms.clock is not None:
            clocks_s[side] += terms.clock.increment_s - took_s
        assert choice is not None  # noqa: S101 - otherwise `failed` is set
        return choice

    def _loss_verdict(self, which: int, end: End, reason: str) -> _Verdict:
        return _Verdict(float(which), end, loser=which, reason=clean(reason)[:_MAX_REASON_LENGTH])

    def _verdict_by_rules(self, game: Game[Any], position: Any) -> _Verdict:
        sign = 1 if game.side_to_move(position) == self.a_side else -1
        result = sign * game.result_centi(position)
        points = 0.5 if result == 0 else float(result > 0)
        margin = None
        if game.name == "othello":
            margin = margin_centi(result) // 100
        return _Verdict(points, End.RULES, margin, reason=game.ending(position).text)


def _begin(player: Participant, start: Any, name: str) -> None:
    failure: EngineError | None = None
    for _ in range(_MAX_START_ATTEMPTS):
        try:
            player.new_game(start)
        except EngineError as error:
            failure = error
            continue
        if failure is not None:
            logger.warning("player %s began a game only at the second attempt: %s", name, failure)
        return
    # A player that does not even begin has not lost: something is wrong with the match.
    raise MatchError(f"player {name} cannot begin a game: {failure}") from None
