"""Playouts: how a game goes on if a person replies as the model predicts, and we play quick moves.

One reply shows only the errors that a person makes at once; most come later, after replies that are sound one
by one. A playout goes through several replies: each is drawn from the model of people, with the person's own
memory of the position, and answered by the best move of a short search. The score of its last position says
what became of the first move. Many playouts advance together, because a network predicts thirty-two positions
in the time of four single ones.

The first replies of a move's playouts are spread evenly over their probabilities (stratified sampling), so
that the mean depends less on them.
"""

import random
from collections.abc import Sequence
from itertools import accumulate
from typing import Any, NamedTuple

from engine.game import WIN_CENTI, Game
from engine.human.model import PredictionQuery, predictions_of
from engine.human.opponent_model_search import Background, GameModels, query_model
from engine.search.searchers import NativeSearcher, make_searcher
from engine.stop import StopFlag, Stopped

REPLIES = 3
"""The number of replies in a playout: fewer show less, more add variance."""


class Costs(NamedTuple):
    """What a playout's steps take, in positions visited by a search."""

    move: int
    """Limit of the search for one of our moves: in chess some four plies, in .2 ms."""
    prediction: int
    """What a prediction, with the moves, counts in a limit of nodes: a search visits as many in its time."""


COSTS = {"othello": Costs(4_000, 4_000)}
OTHER_COSTS = Costs(1_000, 800)
_AT_ONCE = 32
"""Predictions between two looks at the stop flag: 8 ms with Maia's networks."""
_TABLE_MB = 2
"""Size of the hash table of the short searches: a greater one costs more time than it saves."""


class Start(NamedTuple):
    """Where playouts of a move begin."""

    after: Any
    """The position after the move, with the earlier positions of its game."""
    move: str
    probabilities: Sequence[float]
    """The probability of each reply, in the game's order."""


class PlayoutEnd(NamedTuple):
    """The last position of a playout."""

    position: Any
    score_centi: int
    """Our score: of a finished game its result, else by the short search."""
    is_over: bool = False
    """Whether the game is over."""


class _Line:
    """One playout on its way."""

    def __init__(self, start: Start, before: tuple[Any, ...], quantile: float) -> None:
        self.positions = [*before, start.after]
        self.move, self.quantile = start.move, quantile
        """Our latest move, and the quantile of the next reply among the cumulative probabilities."""
        self.probabilities: Sequence[float] | None = start.probabilities
        self.end: PlayoutEnd | None = None


class PlayoutSampler:
    """Plays on from a position; the same arguments give the same playouts.

    Args:
        game: The rules of a game with a selective search.
        models: The models of people.
        background: The earlier positions, and the person who replies.
        position: The position before our move.
    """

    def __init__(
        self,
        game: Game[Any],
        models: GameModels,
        background: Background,
        position: Any,
    ) -> None:
        searcher = make_searcher(game.name, _TABLE_MB)
        if not isinstance(searcher, NativeSearcher):
            raise TypeError(f"{game.name} has no selective search")
        self._game, self._searcher, self._models = game, searcher, models
        self._known, self._person = background.known, background.person
        self._wanted = max(1, models.human.max_history_positions)
        self._before = (*background.before, position)[-self._wanted :]
        self._rng = random.Random(game.position_text(position))  # noqa: S311 - needs no secrecy
        self._costs = COSTS.get(game.name, OTHER_COSTS)
        self._predictions = 0

    @property
    def visited(self) -> int:
        """Positions visited so far."""
        return self._searcher.nodes

    @property
    def nodes(self) -> int:
        """`visited`, and the positions for which the predictions count."""
        return self.visited + self._costs.prediction * self._predictions

    def play_out(self, starts: Sequence[Start], number: int, stop: StopFlag) -> list[list[PlayoutEnd]]:
        """Play every start out equally often.

        Args:
            starts: Moves that do not end the game.
            number: The number of playouts of each.
            stop: Ends all of them; those that end early would be no fair sample.

        Returns:
            The last positions of each start's playouts.

        Raises:
            BadModel: A model gives no valid answer.
            Stopped: The flag was set before all playouts were complete.
        """
        lines = [
            [_Line(start, self._before, (at + self._rng.random()) / number) for at in range(number)]
            for start in starts
        ]
        going = [line for some in lines for line in some]
        for replies_left in range(REPLIES - 1, -1, -1):
            for at in range(0, len(going), _AT_ONCE):
                some = going[at : at + _AT_ONCE]
                self._predict(some, stop)
                for line in some:
                    self._advance(line, stop, is_last=replies_left == 0)
            going = [line for line in going if line.end is None]
        return [[line.end for line in some if line.end is not None] for some in lines]

    def _predict(self, lines: Sequence[_Line], stop: StopFlag) -> None:
        """Find the probabilities of the next reply wherever they are not known."""
        new = [line for line in lines if line.probabilities is None]
        if stop.is_set() or stop.spend(self._costs.prediction * len(new)):
            raise Stopped("the search was stopped during a playout")
        if not new:
            return
        self._predictions += len(new)
        model, game = self._models.human, self._game
        asks = [
            PredictionQuery(tuple(line.positions[-self._wanted :]), self._person, is_quick=True)
            for line in new
        ]
        found = query_model(model.info.name, lambda: predictions_of(model, game, asks))
        for line, base in zip(new, found, strict=True):
            line.probabilities = self._adapted(line, base)

    def _adapted(self, line: _Line, base: Sequence[float]) -> Sequence[float]:
        """The probabilities with the person's own replies in the same position, which may be remembered."""
        if self._known is None or len(base) < 2:
            return base
        faced = line.positions[-2:]
        found = self._known.adapted(self._game, faced, self._models, self._person, line.move, base, None)
        return base if found is None else found.probabilities

    def _advance(self, line: _Line, stop: StopFlag, *, is_last: bool) -> None:
        """Play a reply, and our next move unless the playout ends here."""
        game, after = self._game, line.positions[-1]
        cumulative = list(accumulate(line.probabilities or ()))
        quantile = line.quantile * cumulative[-1]
        reply = next((at for at, p in enumerate(cumulative) if quantile < p), len(cumulative) - 1)
        position = game.play(after, game.legal_moves(after)[reply])
        if not game.legal_moves(position):
            line.end = PlayoutEnd(position, game.result_centi(position), is_over=True)
            return
        root = game.for_search(position)
        found = self._searcher.think(root, game.deepest_search, None, stop, nodes=self._costs.move)
        if is_last or found.score_centi >= WIN_CENTI:  # a lost game may be saved by an error
            line.end = PlayoutEnd(position, found.score_centi)
            return
        after = game.play(position, game.parse_move(root, found.move))
        if not game.legal_moves(after):
            line.end = PlayoutEnd(after, -game.result_centi(after), is_over=True)
        line.positions = [*line.positions, position, after][-self._wanted - 1 :]
        line.move, line.quantile, line.probabilities = found.move, self._rng.random(), None
