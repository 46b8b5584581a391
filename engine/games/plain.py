"""Base class for games whose positions need no history."""

from typing import Protocol, TypeVar

from engine.game import Game, Highlight, IllegalMove, Move

P = TypeVar("P")


class PlainGame(Game[P], Protocol[P]):
    """A game without repetition rules or move counters, with one notation for moves and one for positions."""

    def for_search(self, position: P) -> P:
        return position

    def without_rule_ending(self, position: P) -> P:
        return position

    def is_repeated(self, position: P) -> bool:  # noqa: ARG002
        return False

    def move_name(self, position: P, move: Move) -> str:  # noqa: ARG002
        return self.move_text(move)

    def parse_move(self, position: P, text: str) -> Move:
        for move in self.legal_moves(position):
            if self.move_text(move) == text:
                return move
        raise IllegalMove(text, self.position_text(position))

    def board_text(self, position: P) -> str:
        return self.position_text(position)

    def highlights(self, position: P) -> tuple[Highlight, ...]:  # noqa: ARG002
        return ()

    def plies_left(self, position: P) -> int:
        return max(1, self.most_plies_left(position))
