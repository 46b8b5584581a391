"""What can be played at the arena: one row for each variant."""

from dataclasses import dataclass
from typing import Any, Literal

from engine.game import Game
from engine.games import get_game

Colour = Literal["white", "black"]


@dataclass(frozen=True, slots=True)
class Variant:
    """A game as the Lichess API names it."""

    key: str
    """In requests and answers, for instance ``othello``."""
    name: str
    """For people, in the API's words; pages show the game's own title."""
    short: str
    game_name: str
    """Name of the rules in `engine.games`."""
    colours: tuple[Colour, Colour]
    """What the API calls the side that moves first, and the other."""

    @property
    def game(self) -> Game[Any]:
        return get_game(self.game_name)

    def side(self, colour: str) -> int:
        """0 or 1: the side that the API calls by this colour."""
        return self.colours.index(colour)


VARIANTS: dict[str, Variant] = {
    variant.key: variant
    for variant in (
        # Black moves first: in this variant btime belongs to side 0.
        Variant(key="othello", name="Othello", short="Oth", game_name="othello", colours=("black", "white")),
        Variant(key="standard", name="Standard", short="Std", game_name="chess", colours=("white", "black")),
        # Red moves first, and is what the API calls white.
        Variant(key="xiangqi", name="Xiangqi", short="Xia", game_name="xiangqi", colours=("white", "black")),
        Variant(
            key="connect4", name="Connect Four", short="C4", game_name="connect4", colours=("white", "black")
        ),
    )
}
