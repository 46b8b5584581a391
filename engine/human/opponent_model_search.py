"""Opponent-model search: selects moves and replies to search, and computes the moves' expected values.

One `OpponentModelSearch` serves one decision. It returns moves with values (`engine.human.opponent_value`).
`from_profiler` takes the scores from our own search; `from_engine` takes them from another program, which
searches only the moves that can be chosen.
"""

import logging
import threading
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any, NamedTuple, Protocol, TypeVar

from engine.decision import (
    AdaptedReplies,
    Candidate,
    Decision,
    ModelInfo,
    OpponentModelUse,
    Person,
    ReplyProfile,
    StateUse,
)
from engine.game import WIN_CENTI, Game
from engine.human.model import (
    SHALLOW,
    BadModel,
    HumanModel,
    PlanesModel,
    PredictionQuery,
    predictions_of,
)
from engine.human.opponent_value import UNSEARCHED, choose_by_value, is_won, risk_floor_centi, value_of
from engine.human.reply_model import ReplyModel, checked_probabilities
from engine.params import OpponentParams, TrapParams
from engine.search.profiles import Profiler
from engine.stop import StopFlag, Stopped
from engine.trappy import with_trap

if TYPE_CHECKING:  # it loads numpy, which takes a while: only when used
    from engine.human.person_prior import PersonPrior

logger = logging.getLogger(__name__)

T = TypeVar("T")

_QUERIES_PER_STOP_CHECK = 16
"""Network queries per batch; the stop flag is checked between batches (4 ms). Single queries cost more."""

_Key = tuple[str, tuple[tuple[int, ...], ...]]

FindProfiles = Callable[[str, Sequence[str]], Sequence[ReplyProfile]]
"""A function that uses another program to find the profiles of some replies to our move."""


class AdaptedPrediction(NamedTuple):
    """A prediction of a person's replies to one move."""

    probabilities: tuple[float, ...]
    use: AdaptedReplies


class PersonAdapter(Protocol):
    """Adapts predictions for one decision to the person who replies (`engine.person.choice`)."""

    @property
    def version(self) -> str:
        """See `StateUse`."""

    @property
    def games(self) -> int:
        """See `StateUse`."""

    def adapted(
        self,
        game: Game[Any],
        positions: Sequence[Any],
        models: "GameModels",
        person: Person,
        move: str,
        base: Sequence[float],
        profile: Candidate | None,
    ) -> AdaptedPrediction | None:
        """Adapt the probabilities of the replies to a move; return None if the person's state says nothing.

        Args:
            game: The rules.
            positions: The position before our move, and the one after it.
            models: The game's models.
            person: The person who replies.
            move: Our move, which has two replies or more.
            base: The probability of each reply by the model of people, in the game's order.
            profile: Our move with its complete profile. None if it is not known; then only the person's own
                replies in the same position count.
        """


@dataclass(frozen=True, slots=True)
class Background:
    """What a strategy knows about a decision in addition to the position."""

    before: tuple[Any, ...] = ()
    """The game's latest positions before this one, oldest first."""
    person: Person = field(default_factory=Person)
    """The person who will reply."""
    known: PersonAdapter | None = None
    """What is known of this person from earlier games; None for nothing."""
    imitated: Person | None = None
    """The person whose play a strategy imitates: rating on the model's scale, and our own clock; None: no
    strategy imitates anybody."""
    trust: float = field(default=0.5, kw_only=True)
    """How far the model of the person is believed, from 0 to 1 (`engine.opponents.trust`)."""
    spent: float = field(default=0.0, kw_only=True)
    """What the strategy exploit has given up in the game (`engine.opponents.exploit_value.given_up`)."""
    side_time_s: float | None = field(default=None, kw_only=True)
    """`engine.human.person_prior.estimated_side_time_s` of the game; None if unknown."""


class ModelHealth:
    """Logs when a game's models fail and recover; shared by all threads that query them."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._failures = 0
        self._total = 0

    @property
    def failures(self) -> tuple[int, int]:
        """Number of failures since the program started, and number since the last successful query."""
        with self._lock:
            return self._total, self._failures

    def record_failure(self, game: str, error: Exception) -> None:
        """Log a failure, as an error only if it is the first in a row."""
        with self._lock:
            self._failures += 1
            self._total += 1
            level = logging.ERROR if self._failures == 1 else logging.DEBUG
        logger.log(
            level,
            "human-move model of %s: %s; moves are decided without it until it works again",
            game,
            error,
        )

    def record_success(self, game: str) -> None:
        """Log a recovery, if the last query failed."""
        with self._lock:
            was_away, self._failures = self._failures > 0, 0
        if was_away:
            logger.info("human-move model of %s: works again", game)


@dataclass(frozen=True, slots=True)
class GameModels:
    """The models of people for one game; used by one thread at a time."""

    human: HumanModel
    calibrated: ReplyModel | None = None
    """The model for strategies that use a calibrated model; if None, they use the human-move model."""
    value: OpponentParams = field(default_factory=OpponentParams)
    health: ModelHealth = field(default_factory=ModelHealth)
    person_prior: "PersonPrior | None" = None
    """Tilts predictions by rating and speed (`engine.human.reply_probabilities`); None for no tilt."""
    planes: PlanesModel | None = None
    """For the vectors of known persons (`engine.person.vector`); None if the game has no such network."""


class OpponentModelSearch:
    """Predicts replies and computes expected values of moves for one decision.

    Args:
        game: The rules.
        position: A position in which the game is not over.
        models: The models for that game.
        is_calibrated: Whether to take the replies' probabilities from `GameModels.calibrated`, if there is
            one.
        params: Parameters of the trap arithmetic, with the game's own logistic function.
        background: The earlier positions, and the person who will reply.
        stop: Flag that stops the decision; checked before each batch of model queries.
    """

    def __init__(
        self,
        game: Game[Any],
        position: Any,
        models: GameModels,
        is_calibrated: bool,
        params: TrapParams,
        background: Background,
        stop: StopFlag,
    ) -> None:
        self._game = game
        self._models = models
        self._calibrated = models.calibrated if is_calibrated else None
        # Calibrated probabilities are better than the shallow guess, and were learned without it.
        self._asks_human = self._calibrated is None or models.human.info.kind != SHALLOW
        self._params = params
        self._background = background
        self._stop = stop
        root = game.for_search(position)
        # Calibrated probabilities need complete profiles, so every reply is searched.
        value = models.value if self._calibrated is None else replace(models.value, least_percent=0.0)
        self.value = value.for_position(game.expected_scale_centi(root))
        wanted = max(1, models.human.max_history_positions)
        self._past = (*background.before, position)[-wanted:]
        self._moves = {game.move_text(move): move for move in game.legal_moves(position)}
        self._after: dict[str, Any] = {}
        self._predicted: dict[str, tuple[float, ...]] = {}
        self._uses: dict[_Key, AdaptedReplies] = {}

    @property
    def needs_all_replies(self) -> bool:
        """Whether the probabilities need complete profiles; if not, only the likely replies are searched."""
        return self._calibrated is not None

    def record_failure(self, error: BadModel) -> str:
        """Log a model's failure (only the first in a row) and return the text for the record."""
        self._models.health.record_failure(self._game.name, error)
        return str(error)

    def model_use(self, decision: Decision, trouble: str = "") -> OpponentModelUse:
        """Describe the use of the models, for the record of a decision.

        Args:
            decision: The decision.
            trouble: Why no model was used; empty if there was no problem.
        """
        human = self._models.human.info if self._predicted and not trouble else None
        state = None if trouble else self._state_use(decision)
        return OpponentModelUse(self.value, self._background.person, human, trouble, state)

    def _state_use(self, decision: Decision) -> StateUse | None:
        known, valued = self._background.known, [c for c in decision.candidates if self._is_valued(c)]
        uses = {c.move: use for c in valued if (use := self._uses.get(self._key(c))) is not None}
        if known is None or not uses:
            return None
        best = max(valued, key=lambda c: c.raw_centi)
        playable = dict.fromkeys((decision.move, best.move))
        return StateUse(known.version, known.games, tuple(uses[move] for move in playable if move in uses))

    def _is_valued(self, candidate: Candidate) -> bool:
        return candidate.value is not None or self._key(candidate) in self._uses

    def model(self, candidates: Iterable[Candidate]) -> ModelInfo | None:
        """The model that predicted the replies' probabilities; None if no reply has a probability."""
        if all(reply.probability is None for c in candidates for reply in c.replies):
            return None
        self._models.health.record_success(self._game.name)
        return self._models.human.info if self._calibrated is None else self._calibrated.info

    # --- Scores of our own search -----------------------------------------------------------------------

    def from_profiler(self, profiler: Profiler, depth: int) -> list[Candidate]:
        """Return the candidates; moves within the risk budget have values, computed from exact scores.

        Raises:
            BadModel: A model gives no valid answer.
            Stopped: The search was stopped.
        """
        return self.with_values(profiler.raw_candidates_above(depth, self._floor), profiler, depth)

    def with_values(self, found: list[Candidate], profiler: Profiler, depth: int) -> list[Candidate]:
        """Like `from_profiler`, but for given candidates; raw values within the risk budget must be exact.

        Raises:
            BadModel: See `from_profiler`.
            Stopped: See `from_profiler`.
        """
        if is_won(found):
            return found
        floor = self._floor(_best(found))
        within = [c.move for c in found if not c.raw_is_bound and c.raw_centi >= floor]
        self._query_human_model(within)

        return [self._with_replies_searched(c, profiler, depth) if c.move in within else c for c in found]

    def with_probabilities(self, moves: Sequence[Candidate]) -> list[Candidate]:
        """The given moves with the probabilities of all replies, of which none is searched.

        Raises:
            BadModel: See `from_profiler`.
            Stopped: See `from_profiler`.
        """
        self._query_human_model([each.move for each in moves])
        found = []
        for each in moves:
            texts = self._reply_texts(each.move)
            replies = tuple(
                ReplyProfile(text, (), UNSEARCHED, probability=p)
                for text, p in zip(texts, self._predicted[each.move], strict=True)
            )
            known = replace(each, replies=replies, complete=False)
            found.append(with_trap(known, self._params, swindle=True))
        return found

    def with_replies(self, moves: Sequence[Candidate], profiler: Profiler, depth: int) -> list[Candidate]:
        """The given moves with the probabilities of all replies; their raw values must be exact.

        Raises:
            BadModel: See `from_profiler`.
            Stopped: See `from_profiler`.
        """
        self._query_human_model([each.move for each in moves])
        return [self._with_replies_searched(each, profiler, depth) for each in moves]

    def _with_replies_searched(self, candidate: Candidate, profiler: Profiler, depth: int) -> Candidate:
        self._check_stop()
        move, after = self._moves[candidate.move], self._position_after(candidate.move)
        replies = {self._game.move_text(reply): reply for reply in self._game.legal_moves(after)}
        profiles: dict[str, ReplyProfile] = {}
        if replies and not self._game.is_repeated(after):
            wanted = [replies[text] for text in self._replies_to_search(candidate.move)]
            profiles = {profile.reply: profile for profile in profiler.reply_profiles(move, wanted, depth)}
        return self._with_value(candidate, profiles)

    # --- Scores of another program ----------------------------------------------------------------------

    def from_engine(
        self, values: Mapping[str, int], over: Collection[str], search: FindProfiles, most: int
    ) -> tuple[list[Candidate], int]:
        """Return the candidates: moves within the risk budget have values; the best has a complete profile.

        The program searches the likely replies to each move within the budget.  It searches the remaining
        replies only for the chosen move; if these lower the move's value, another move may be chosen.

        Args:
            values: Every legal move's score at the root, from our point of view, or the result if the move
                ends the game; in the game's move order.
            over: Moves that end the game.
            search: Searches replies with the other program.
            most: Maximum number of moves to search, in descending order of root score.

        Returns:
            The candidates, and the lowest root score of a move that was searched.

        Raises:
            BadModel: A model gives no valid answer.
            Stopped: The decision was stopped.
            Exception: Any exception of `search`.
        """
        best_first = sorted(values, key=lambda move: -values[move])[:most]  # stable: ties in the game's order
        looked: dict[str, dict[str, ReplyProfile]] = {}

        def search_replies(move: str, wanted: Sequence[str]) -> None:
            known = looked.setdefault(move, {})
            new = [reply for reply in wanted if reply not in known]
            known |= {profile.reply: profile for profile in (search(move, new) if new else ())}

        while True:
            known = {move: self._partial(move, values[move], move in over, looked[move]) for move in looked}
            won = is_won(list(known.values()))
            floor = self._floor(max((c.raw_centi for c in known.values()), default=values[best_first[0]]))
            following = best_first[len(looked)] if len(looked) < len(best_first) else None
            if following is not None and values[following] >= floor and not won:
                search_replies(
                    following, self._first_replies(following, values[following], is_over=following in over)
                )
                continue
            if not won:
                within = [move for move, candidate in known.items() if candidate.raw_centi >= floor]
                known |= {move: self._with_value(known[move], looked[move]) for move in within}
            chosen = known[choose_by_value([known[move] for move in values if move in known])]
            if chosen.complete:
                break
            search_replies(chosen.move, self._reply_texts(chosen.move))
        candidates = [
            with_trap(known.get(move, Candidate(move, value, True, 0.0)), self._params, swindle=True)
            for move, value in values.items()
        ]
        return candidates, min(values[move] for move in looked)

    def _first_replies(self, move: str, value_centi: int, *, is_over: bool) -> Sequence[str]:
        """The replies that the other program searches first."""
        if is_over or (value_centi < WIN_CENTI and self._game.is_repeated(self._position_after(move))):
            return ()
        return self._reply_texts(move) if value_centi >= WIN_CENTI else self._replies_to_search(move)

    def _partial(
        self, move: str, value_centi: int, is_over: bool, looked: Mapping[str, ReplyProfile]
    ) -> Candidate:
        replies = tuple(looked[text] for text in self._reply_texts(move) if text in looked)
        is_whole = is_over or len(replies) == len(self._reply_texts(move))
        finals = [reply.final_centi for reply in replies]
        # Once all replies are known, they decide the move's raw value, whatever its score at the root.
        raw = min(finals) if is_whole and finals else min([value_centi, *finals])
        return Candidate(move, raw, False, 0.0, replies=replies, complete=is_whole)

    # --- Values -----------------------------------------------------------------------------------------

    def _reply_texts(self, move: str) -> list[str]:
        after = self._position_after(move)
        return [self._game.move_text(reply) for reply in self._game.legal_moves(after)]

    def _replies_to_search(self, move: str) -> list[str]:
        """The replies that a move's value requires: all for a calibrated model, otherwise the likely ones."""
        texts = self._reply_texts(move)
        if self.needs_all_replies:
            return texts
        self._query_human_model([move])
        probabilities = self._predicted[move]
        return [text for text, p in zip(texts, probabilities, strict=True) if p >= self.value.min_reply_p]

    def _with_value(self, candidate: Candidate, looked: Mapping[str, ReplyProfile]) -> Candidate:
        """Return the candidate with its replies' probabilities and the resulting expected value.

        Args:
            looked: The searched replies, keyed by move text; empty for a move that ends the game or repeats a
                position and so needs no prediction.
        """
        move, after = candidate.move, self._position_after(candidate.move)
        texts = self._reply_texts(move)
        if texts and not self._game.is_repeated(after):
            self._query_human_model([move])
            replies = tuple(looked.get(text, ReplyProfile(text, (), UNSEARCHED)) for text in texts)
            candidate = replace(candidate, replies=replies, complete=len(looked) == len(texts))
            probabilities = self._probabilities_of(candidate, after)
            replies = tuple(
                replace(reply, probability=p) for reply, p in zip(replies, probabilities, strict=True)
            )
            candidate = replace(candidate, replies=replies)
        judged = with_trap(candidate, self._params, swindle=True)
        return replace(judged, value=value_of(judged, self.value))

    def _probabilities_of(self, candidate: Candidate, after: Any) -> Sequence[float]:
        """Probability of each reply; calibrated probabilities use the candidate's complete profile."""
        human, person, model = self._predicted.get(candidate.move), self._background.person, self._calibrated
        if model is None:
            return human or ()
        probabilities = query_model(
            model.info.name, lambda: checked_probabilities(model, self._game, after, candidate, human, person)
        )
        return self._adapted(candidate, [probabilities[reply.reply] for reply in candidate.replies])

    def _adapted(self, candidate: Candidate, base: Sequence[float]) -> Sequence[float]:
        """The probabilities of the replies to a move, adapted to the person if anything is known of them.

        Args:
            candidate: The move; its profile must be complete if the probabilities are calibrated.
            base: The probabilities by the model of people.
        """
        known, move = self._background.known, candidate.move
        if known is None or len(base) < 2:
            return base
        found = known.adapted(
            self._game,
            (self._past[-1], self._position_after(move)),
            self._models,
            self._background.person,
            move,
            base,
            candidate if self.needs_all_replies else None,
        )
        if found is None:
            return base
        self._uses[self._key(candidate)] = found.use
        return found.probabilities

    def _key(self, candidate: Candidate) -> _Key:
        """What the adapted probabilities of a move depend on, apart from the position."""
        scores = tuple(reply.scores_centi for reply in candidate.replies) if self.needs_all_replies else ()
        return candidate.move, scores

    def _floor(self, best_centi: int) -> int:
        return risk_floor_centi(best_centi, self.value)

    # --- The models -------------------------------------------------------------------------------------

    def _position_after(self, move: str) -> Any:
        if move not in self._after:
            self._after[move] = self._game.play(self._past[-1], self._moves[move])
        return self._after[move]

    def _query_human_model(self, moves: Iterable[str]) -> None:
        """Predict the replies to the given moves, except those already predicted, a few moves at a time."""
        new = [move for move in moves if move not in self._predicted]
        if not self._asks_human:
            return
        at_once = 1 if self._models.human.info.kind == SHALLOW else _QUERIES_PER_STOP_CHECK
        for start in range(0, len(new), at_once):
            self._check_stop()
            some = new[start : start + at_once]
            for move, base in zip(some, self._answers(some), strict=True):
                is_final = self._calibrated is None  # or else an input of the calibrated model
                adapted = self._adapted(Candidate(move, 0, True, 0.0), base) if is_final else base
                self._predicted[move] = tuple(adapted)

    def _answers(self, moves: Sequence[str]) -> list[tuple[float, ...]]:
        most, model = max(1, self._models.human.max_history_positions), self._models.human
        asks = [
            PredictionQuery(
                (*self._past, self._position_after(move))[-most:],
                self._background.person,
                is_quick=self._calibrated is None,  # the calibrated model learned from precise ones
            )
            for move in moves
        ]
        return query_model(model.info.name, lambda: predictions_of(model, self._game, asks))

    def _check_stop(self) -> None:
        if self._stop.is_set():
            raise Stopped("the decision was stopped")


def _best(candidates: Iterable[Candidate]) -> int:
    return max(c.raw_centi for c in candidates if not c.raw_is_bound)


def query_model(name: str, answer: Callable[[], T]) -> T:
    """Query a model; convert any exception to `BadModel`.

    Raises:
        BadModel: The model gives no answer.
    """
    try:
        return answer()
    except BadModel:
        raise
    except Exception as error:  # a third party's network must not end a game
        raise BadModel(f"{name}: {type(error).__name__}: {error}") from error
