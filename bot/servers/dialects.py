"""How the sites that speak the Lichess Bot API differ: data, not branches.

A new site is a new row.  What a row cannot say yet (clock units, its own notation of moves, endpoints
that it lacks, ...) becomes a field when the first site needs it.
"""

from collections.abc import Mapping
from dataclasses import dataclass

from bot.errors import ConfigError


@dataclass(frozen=True, slots=True)
class Colour:
    """What a site calls one of the two players."""

    key: str
    """Key of the player in ``gameFull``, and value of ``winner``."""
    letter: str
    """First letter of the player's fields in ``gameState``: ``wtime``, ``wdraw``, ``wtakeback``."""


@dataclass(frozen=True, slots=True)
class Variant:
    """One kind of game at a site."""

    game: str
    """Its name in `engine.games`."""
    sides: tuple[Colour, Colour]
    """The colours of sides 0 and 1: the one that moves first is in front."""


@dataclass(frozen=True, slots=True)
class Dialect:
    """One site."""

    name: str
    """Name of the site in configuration, database and logs."""
    keep_alive_s: float
    """The server sends a line at least this often, in seconds."""
    variants: Mapping[str, Variant]
    """By the site's key."""


WHITE = Colour("white", "w")
BLACK = Colour("black", "b")

DIALECTS: Mapping[str, Dialect] = {
    dialect.name: dialect
    for dialect in (
        Dialect(
            name="arena",
            keep_alive_s=7.0,
            variants={
                "othello": Variant("othello", (BLACK, WHITE)),
                "standard": Variant("chess", (WHITE, BLACK)),
                "xiangqi": Variant("xiangqi", (WHITE, BLACK)),
                "connect4": Variant("connect4", (WHITE, BLACK)),
            },
        ),
    )
}


def get_dialect(name: str) -> Dialect:
    """The site of that name.

    Raises:
        ConfigError: No such site; the message lists those there are.
    """
    try:
        return DIALECTS[name]
    except KeyError:
        raise ConfigError(f"no server dialect named {name!r}; known: {', '.join(DIALECTS)}") from None
