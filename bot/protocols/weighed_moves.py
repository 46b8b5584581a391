"""What a strategy that weighs errors has learned of the opponent in a protocol's game."""

from collections.abc import Sequence
from typing import Any, NamedTuple

from engine.decision import Decision
from engine.game import Game
from engine.opponents.trust import ExploitFacts, WeighedMove, facts_of


class _Made(NamedTuple):
    before: str
    after: str
    weighed: WeighedMove


class WeighedMoves:
    """The decisions that weighed errors, by their plies.

    The other program may take moves back or begin another game without a word: a decision counts as long as
    the game has its position, and then its move.

    Args:
        game: The game.
    """

    def __init__(self, game: Game[Any]) -> None:
        self._game = game
        self._made: dict[int, _Made] = {}

    def add(self, positions: Sequence[Any], decision: Decision) -> None:
        """Remember a decision, instead of an earlier one at its ply, if it weighed errors.

        Args:
            positions: Those of the game, up to the one in which the move was chosen.
            decision: The decision.
        """
        game, position, ply = self._game, positions[-1], len(positions) - 1
        self._made.pop(ply, None)
        if decision.exploit is not None:
            after = game.play(position, game.parse_move(position, decision.move))
            weighed = WeighedMove(ply, decision.move, decision.exploit)
            self._made[ply] = _Made(game.position_text(position), game.position_text(after), weighed)

    def facts(self, prior: float, positions: Sequence[Any]) -> ExploitFacts:
        """What is known before our next move.

        Args:
            prior: The trust at the game's start.
            positions: Those of the game, the present one last.
        """
        moves, standing = [""] * (len(positions) - 1), list[WeighedMove]()
        for ply, made in sorted(self._made.items()):
            texts = [self._game.position_text(each) for each in positions[ply : ply + 2]]
            if texts == [made.before, made.after]:
                standing.append(made.weighed)
                moves[ply] = made.weighed.move
                if ply + 2 < len(positions):
                    moves[ply + 1] = self._move_between(*positions[ply + 1 : ply + 3])
        return facts_of(prior, standing, moves)

    def _move_between(self, before: Any, after: Any) -> str:
        """The move that leads from one position to the next; empty if there is none."""
        game, wanted = self._game, self._game.position_text(after)
        for move in game.legal_moves(before):
            if game.position_text(game.play(before, move)) == wanted:
                return game.move_text(move)
        return ""
