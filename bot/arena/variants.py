"""The table of the variants that can be played at the arena."""

import secrets
from dataclasses import dataclass
from typing import Any, Literal

import chess

from engine.game import Game, Move, starting_position
from engine.games import get_rules

ColourName = Literal["white", "black"]


@dataclass(frozen=True, slots=True)
class ArenaVariant:
    """A variant in the Lichess API."""

    key: str
    """Key in requests and responses, for instance ``othello``."""
    name: str
    """Display name in the API; pages show the game's own title."""
    short: str
    game_name: str
    """Name of the rules in `engine.games`."""
    colours: tuple[ColourName, ColourName]
    """The API's colours for the side that moves first and for the other side."""
    is_offered: bool = True
    """Whether the page offers the variant; programs may request any variant."""
    is_rated: bool = True
    """Whether games of the variant may be rated."""

    @property
    def rating_key(self) -> str:
        """Key of the variant whose ratings the players have; chess from any position has those of chess."""
        return USUAL if self.key == FROM_POSITION else self.key

    @property
    def rules(self) -> Game[Any]:
        return get_rules(self.game_name)

    def side(self, colour: str) -> int:
        """The side (0 or 1) that has this colour in the API."""
        return self.colours.index(colour)

    def start(self, initial_fen: str | None) -> Any:
        """Return the position that a FEN describes, or the variant's standard position if the FEN is None."""
        return starting_position(self.rules, initial_fen)

    def api_move(self, position: Any, move: Move) -> str:
        """Write a legal move in the API's notation; castling in chess is written as "king takes own rook"."""
        text = self.rules.move_text(move)
        if self.game_name != "chess":
            return text
        board: chess.Board = position.board
        return board.uci(chess.Move.from_uci(text), chess960=True)


FROM_POSITION = "fromPosition"
"""Chess from a position that the challenger has set up."""
CHESS960 = "chess960"
USUAL = "standard"
"""The default variant of a challenge, as on lichess.org."""


def random_start() -> str:
    """Choose a random starting position of Chess960, and return it as a FEN."""
    return chess.Board.from_chess960_pos(secrets.randbelow(960)).fen()


VARIANTS: dict[str, ArenaVariant] = {
    variant.key: variant
    for variant in (
        # Black moves first: in this variant btime belongs to side 0.
        ArenaVariant(
            key="othello", name="Othello", short="Oth", game_name="othello", colours=("black", "white")
        ),
        ArenaVariant(
            key="standard", name="Standard", short="Std", game_name="chess", colours=("white", "black")
        ),
        # Red moves first and is white in the API.
        ArenaVariant(
            key="xiangqi", name="Xiangqi", short="Xia", game_name="xiangqi", colours=("white", "black")
        ),
        ArenaVariant(
            key="connect4", name="Connect Four", short="C4", game_name="connect4", colours=("white", "black")
        ),
        ArenaVariant(
            key=CHESS960,
            name="Chess960",
            short="960",
            game_name="chess",
            colours=("white", "black"),
            is_offered=False,
        ),
        ArenaVariant(
            key=FROM_POSITION,
            name="From Position",
            short="FEN",
            game_name="chess",
            colours=("white", "black"),
            is_offered=False,
            is_rated=False,
        ),
    )
}
