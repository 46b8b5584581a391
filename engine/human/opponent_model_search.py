"""Opponent-model search: which moves and replies to look into, and what the moves are worth against a person.

One `OpponentModelSearch` serves one decision.  It returns moves with values (`engine.human.value`), whatever
search their scores come from: `from_profiler` takes those of our own, `from_engine` those of another program,
which is asked about nothing that cannot count.
"""

import logging
import threading
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any, TypeVar

from engine.decision import Candidate, ModelInfo, OpponentModelUse, Person, ReplyProfile
from engine.game import WIN_CENTI, Game
from engine.human.model import SHALLOW, BadModel, HumanModel, PredictionQuery, predicted
from engine.human.odds import ReplyOdds, checked_odds
from engine.human.value import NOBODY_LOOKED, choose_by_value, floor_centi, is_won, value_of
from engine.params import TrapParams, ValueParams
from engine.search.profiles import Profiler
from engine.trappy import with_trap

logger = logging.getLogger(__name__)

T = TypeVar("T")

FindProfiles = Callable[[str, Sequence[str]], Sequence[ReplyProfile]]
"""Profiles of some replies to a move of ours, by another program."""


@dataclass(frozen=True, slots=True)
class Background:
    """What a player may know beside the position."""

    before: tuple[Any, ...] = ()
    """The game's latest positions before it, oldest first."""
    person: Person = field(default_factory=Person)
    """Who will reply."""


class ModelHealth:
    """Whether a game's models give answers, for all threads that ask them: what to log."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._failures = 0

    def failed(self, game: str, error: Exception) -> None:
        """Log the first failure in a row."""
        with self._lock:
            self._failures += 1
            level = logging.ERROR if self._failures == 1 else logging.DEBUG
        logger.log(
            level,
            "human-move model of %s: %s; moves are decided without it until it works again",
            game,
            error,
        )

    def worked(self, game: str) -> None:
        """Log that it works again, if it did not."""
        with self._lock:
            was_away, self._failures = self._failures > 0, 0
        if was_away:
            logger.info("human-move model of %s: works again", game)


@dataclass(frozen=True, slots=True)
class Models:
    """What may be asked about the people who play a game; for one thread at a time."""

    human: HumanModel
    odds: ReplyOdds | None = None
    """For the players that count on calibrated odds; without it they take the human-move model's."""
    value: ValueParams = field(default_factory=ValueParams)
    health: ModelHealth = field(default_factory=ModelHealth)


class OpponentModelSearch:
    """What one decision knows of the replies that a person may choose.

    Args:
        game: The rules.
        position: The game goes on in it.
        models: Of that game.
        is_calibrated: Whether the replies' odds are those of `Models.odds`, if there is one.
        params: Of the trap arithmetic, with the game's own logistic function.
        background: What led to the position, and who will reply.
    """

    def __init__(
        self,
        game: Game[Any],
        position: Any,
        models: Models,
        is_calibrated: bool,
        params: TrapParams,
        background: Background,
    ) -> None:
        self._game = game
        self._models = models
        self._odds = models.odds if is_calibrated else None
        # Calibrated odds know better than a guess, and were learned without one.
        self._asks_human = self._odds is None or models.human.info.kind != SHALLOW
        self._params = params
        self._background = background
        root = game.for_search(position)
        # Calibrated odds go by whole profiles, so there every reply has its scores.
        value = models.value if self._odds is None else replace(models.value, least_percent=0.0)
        self.value = value.for_position(game.expected_scale_centi(root))
        wanted = max(1, models.human.plies_wanted)
        self._past = (*background.before, position)[-wanted:]
        self._moves = {game.move_text(move): move for move in game.legal_moves(position)}
        self._after: dict[str, Any] = {}
        self._predicted: dict[str, tuple[float, ...]] = {}

    @property
    def needs_all_replies(self) -> bool:
        """Whether odds go by whole profiles; else only the likely replies are looked into."""
        return self._odds is not None

    def failed(self, error: BadModel) -> str:
        """What to write down of a model's failure; the log tells of it once."""
        self._models.health.failed(self._game.name, error)
        return str(error)

    def reckoning(self, trouble: str = "") -> OpponentModelUse:
        """For the record of a decision.

        Args:
            trouble: Why no model was counted on; empty: nothing went wrong.
        """
        human = self._models.human.info if self._predicted and not trouble else None
        return OpponentModelUse(self.value, self._background.person, human, trouble)

    def model(self, candidates: Iterable[Candidate]) -> ModelInfo | None:
        """Whose the probabilities of the replies are; None: there are none."""
        if all(reply.probability is None for c in candidates for reply in c.replies):
            return None
        self._models.health.worked(self._game.name)
        return self._models.human.info if self._odds is None else self._odds.info

    # --- Scores of our own search -----------------------------------------------------------------------

    def from_profiler(self, profiler: Profiler, depth: int) -> list[Candidate]:
        """Candidates with the values of all moves within the budget, by exact scores.

        Raises:
            BadModel: A model has no answer that can be counted on.
            Stopped: The search was stopped.
        """
        return self.with_values(profiler.plain_above(depth, self._floor), profiler, depth)

    def with_values(self, found: list[Candidate], profiler: Profiler, depth: int) -> list[Candidate]:
        """The same from plain candidates, of which all within the budget are exact.

        Raises:
            BadModel: See `from_profiler`.
            Stopped: See `from_profiler`.
        """
        if is_won(found):
            return found
        floor = self._floor(_best(found))
        within = [c.move for c in found if not c.raw_is_bound and c.raw_centi >= floor]
        self._ask(within)

        return [self._looked_into(c, profiler, depth) if c.move in within else c for c in found]

    def _looked_into(self, candidate: Candidate, profiler: Profiler, depth: int) -> Candidate:
        move, after = self._moves[candidate.move], self._position_after(candidate.move)
        replies = {self._game.move_text(reply): reply for reply in self._game.legal_moves(after)}
        found: dict[str, ReplyProfile] = {}
        if replies and not self._game.stood_before(after):
            wanted = [replies[text] for text in self._wanted(candidate.move)]
            found = {profile.reply: profile for profile in profiler.reply_profiles(move, wanted, depth)}
        return self._with_value(candidate, found)

    # --- Scores of another program ----------------------------------------------------------------------

    def from_engine(
        self, values: Mapping[str, int], over: Collection[str], search: FindProfiles, most: int
    ) -> tuple[list[Candidate], int]:
        """Candidates with the values of all moves within the budget; the best one with its whole profile.

        A program is asked about the likely replies to each move within the budget.  Only of the move that is
        to be played it is then asked about the others, which may show it to be worse, so that another move is
        to be played.

        Args:
            values: Every legal move's score at the root, our view, or the result of one that ends the game;
                in the game's order.
            over: The moves that end the game.
            search: Asks the program.
            most: So many moves are looked into at most, the best ones.

        Returns:
            And the least score at the root of a move that was looked into.

        Raises:
            BadModel: A model has no answer that can be counted on.
            Exception: What `search` raises.
        """
        best_first = sorted(values, key=lambda move: -values[move])[:most]  # stable: ties in the game's order
        looked: dict[str, dict[str, ReplyProfile]] = {}

        def look(move: str, wanted: Sequence[str]) -> None:
            known = looked.setdefault(move, {})
            new = [reply for reply in wanted if reply not in known]
            known |= {profile.reply: profile for profile in (search(move, new) if new else ())}

        while True:
            known = {move: self._known(move, values[move], move in over, looked[move]) for move in looked}
            won = is_won(list(known.values()))
            floor = self._floor(max((c.raw_centi for c in known.values()), default=values[best_first[0]]))
            following = best_first[len(looked)] if len(looked) < len(best_first) else None
            if following is not None and values[following] >= floor and not won:
                look(following, self._first_wanted(following, values[following], is_over=following in over))
                continue
            if not won:
                within = [move for move, candidate in known.items() if candidate.raw_centi >= floor]
                known |= {move: self._with_value(known[move], looked[move]) for move in within}
            chosen = known[choose_by_value([known[move] for move in values if move in known])]
            if chosen.complete:
                break
            look(chosen.move, self._reply_texts(chosen.move))
        found = [
            with_trap(known.get(move, Candidate(move, value, True, 0.0)), self._params, swindle=True)
            for move, value in values.items()
        ]
        return found, min(values[move] for move in looked)

    def _first_wanted(self, move: str, value_centi: int, *, is_over: bool) -> Sequence[str]:
        """The replies to ask another program about at first."""
        if is_over or (value_centi < WIN_CENTI and self._game.stood_before(self._position_after(move))):
            return ()
        return self._reply_texts(move) if value_centi >= WIN_CENTI else self._wanted(move)

    def _known(
        self, move: str, value_centi: int, is_over: bool, looked: Mapping[str, ReplyProfile]
    ) -> Candidate:
        replies = tuple(looked[text] for text in self._reply_texts(move) if text in looked)
        is_whole = is_over or len(replies) == len(self._reply_texts(move))
        finals = [reply.final_centi for reply in replies]
        # When all replies are known they say what the move is worth, whatever was seen of it from the root.
        raw = min(finals) if is_whole and finals else min([value_centi, *finals])
        return Candidate(move, raw, False, 0.0, replies=replies, complete=is_whole)

    # --- Values -----------------------------------------------------------------------------------------

    def _reply_texts(self, move: str) -> list[str]:
        after = self._position_after(move)
        return [self._game.move_text(reply) for reply in self._game.legal_moves(after)]

    def _wanted(self, move: str) -> list[str]:
        """The replies whose scores a value needs: calibrated odds need them all, else the likely ones do."""
        texts = self._reply_texts(move)
        if self.needs_all_replies:
            return texts
        self._ask([move])
        odds = self._predicted[move]
        return [text for text, p in zip(texts, odds, strict=True) if p >= self.value.least]

    def _with_value(self, candidate: Candidate, looked: Mapping[str, ReplyProfile]) -> Candidate:
        """The candidate with the odds of its replies, and what it is worth by them.

        Args:
            looked: Replies that were looked into, by their text.  None: nothing is to be expected of a move
                that ends the game or repeats a position.
        """
        move, after = candidate.move, self._position_after(candidate.move)
        texts = self._reply_texts(move)
        if texts and not self._game.stood_before(after):
            self._ask([move])
            replies = tuple(looked.get(text, ReplyProfile(text, (), NOBODY_LOOKED)) for text in texts)
            candidate = replace(candidate, replies=replies, complete=len(looked) == len(texts))
            odds = self._odds_of(candidate, after)
            replies = tuple(replace(reply, probability=p) for reply, p in zip(replies, odds, strict=True))
            candidate = replace(candidate, replies=replies)
        judged = with_trap(candidate, self._params, swindle=True)
        return replace(judged, value=value_of(judged, self.value))

    def _odds_of(self, candidate: Candidate, after: Any) -> Sequence[float]:
        """How likely each reply is; calibrated odds go by the candidate's whole profile."""
        human, person, model = self._predicted.get(candidate.move), self._background.person, self._odds
        if model is None:
            return human or ()
        odds = query_model(
            model.info.name, lambda: checked_odds(model, self._game, after, candidate, human, person)
        )
        return [odds[reply.reply] for reply in candidate.replies]

    def _floor(self, best_centi: int) -> int:
        return floor_centi(best_centi, self.value)

    # --- The models -------------------------------------------------------------------------------------

    def _position_after(self, move: str) -> Any:
        if move not in self._after:
            self._after[move] = self._game.play(self._past[-1], self._moves[move])
        return self._after[move]

    def _ask(self, moves: Iterable[str]) -> None:
        """Ask the human-move model about the replies to these moves, all at once, unless it has been."""
        new = [move for move in moves if move not in self._predicted]
        if not new or not self._asks_human:
            return
        most, model = max(1, self._models.human.plies_wanted), self._models.human
        asks = [
            PredictionQuery((*self._past, self._position_after(move))[-most:], self._background.person)
            for move in new
        ]
        answers = query_model(model.info.name, lambda: predicted(model, self._game, asks))
        self._predicted |= dict(zip(new, answers, strict=True))


def _best(candidates: Iterable[Candidate]) -> int:
    return max(c.raw_centi for c in candidates if not c.raw_is_bound)


def query_model(name: str, answer: Callable[[], T]) -> T:
    """A model's answer; whatever goes wrong in it is its own fault.

    Raises:
        BadModel: There is none.
    """
    try:
        return answer()
    except BadModel:
        raise
    except Exception as error:  # a network of somebody else's, which must not end a game
        raise BadModel(f"{name}: {type(error).__name__}: {error}") from error
