"""The kinds of players: what each chooses by, and everything else that tells them apart.

Records, settings and messages carry a player's name.  Code never compares names: it asks the kind of that
name (`kind_named`).  So a new kind takes one value here, and a new way to choose one case in `engine.choice`.
"""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from enum import StrEnum
from types import MappingProxyType


class Choosing(StrEnum):
    """What a player goes by when it chooses, and so how its choice is verified (`engine.choice`)."""

    RAW = "raw"
    """The raw value: minimax by alpha-beta."""
    ADJUSTED = "adjusted"
    """The raw value adjusted for the best trap: trappy minimax."""
    EXPECTED = "expected"
    """The expected value over the replies that a model of the opponent gives (`engine.human.value`)."""
    SELECTIVE = "selective"
    """Books, tables and a selective search, as good as the time allows; the raw value where there is none."""


@dataclass(frozen=True, slots=True, kw_only=True)
class PlayerKind:
    """What tells one kind of player from the others."""

    name: str
    """In records, settings and messages."""
    choosing: Choosing
    """What it goes by."""
    asks_engine: bool = False
    """Its scores are another engine's (UCI, UCCI); while there is no engine, those of our own search."""
    is_calibrated: bool = False
    """It counts on odds of the replies that were learned from recorded games (`engine.human.calibrated`)."""
    plays_engine_games: bool = False
    """It plays the games that need another engine, too (`engine.games.ENGINE_GAMES`)."""
    is_compared: bool = False
    """It takes part in the comparison, unless the settings name other players."""

    @property
    def sets_traps(self) -> bool:
        """Whether it means the traps that it sets; the others set them by accident only."""
        return self.choosing in (Choosing.ADJUSTED, Choosing.EXPECTED)

    @property
    def models_opponent(self) -> bool:
        """Whether it needs a model of the opponent."""
        return self.choosing is Choosing.EXPECTED

    @property
    def searches_selectively(self) -> bool:
        """Whether it uses the selective search, books and tables."""
        return self.choosing is Choosing.SELECTIVE


STANDARD = PlayerKind(name="standard", choosing=Choosing.RAW, is_compared=True)
"""Minimax by alpha-beta."""

TRAPPY = PlayerKind(name="trappy", choosing=Choosing.ADJUSTED, is_compared=True)
"""Trappy minimax."""

STRONG = PlayerKind(name="strong", choosing=Choosing.SELECTIVE)
"""The best move that the time allows, by selective search, with openings from books, and endings solved or
from tables."""

OPPONENT_MODEL = PlayerKind(name="opponent_model", choosing=Choosing.EXPECTED)
"""The move that is worth most over the replies that a model of people expects."""

CALIBRATED = PlayerKind(name="calibrated", choosing=Choosing.EXPECTED, is_calibrated=True)
"""The same with odds of the replies that were learned from recorded games."""

TRAPPY_UCI = PlayerKind(
    name="trappy_uci", choosing=Choosing.ADJUSTED, asks_engine=True, plays_engine_games=True
)
"""`TRAPPY` on another engine's scores."""

OPPONENT_MODEL_UCI = PlayerKind(name="opponent_model_uci", choosing=Choosing.EXPECTED, asks_engine=True)
"""`OPPONENT_MODEL` on another engine's scores."""

CALIBRATED_UCI = PlayerKind(
    name="calibrated_uci", choosing=Choosing.EXPECTED, asks_engine=True, is_calibrated=True
)
"""`CALIBRATED` on another engine's scores."""

PLAYER_KINDS: Mapping[str, PlayerKind] = MappingProxyType(
    {
        kind.name: kind
        for kind in (
            STANDARD,
            TRAPPY,
            STRONG,
            OPPONENT_MODEL,
            CALIBRATED,
            TRAPPY_UCI,
            OPPONENT_MODEL_UCI,
            CALIBRATED_UCI,
        )
    }
)
"""Every kind by its name, in the order of help texts."""


def _names(belongs: Callable[[PlayerKind], bool]) -> tuple[str, ...]:
    return tuple(name for name, kind in PLAYER_KINDS.items() if belongs(kind))


OWN_KINDS = _names(lambda kind: not kind.asks_engine)
"""Names of the players that need nothing but ourselves."""

COMPARED_KINDS = _names(lambda kind: kind.is_compared)
"""Names of the players of the papers, which differ in nothing but the traps."""

ENGINE_GAME_KINDS = _names(lambda kind: kind.plays_engine_games)
"""Names of the players of games that need another engine."""


def kind_named(name: str) -> PlayerKind:
    """The kind of that name.

    Raises:
        ValueError: There is none; the message lists those there are.
    """
    try:
        return PLAYER_KINDS[name]
    except KeyError:
        raise ValueError(f"no player named {name!r}; known: {', '.join(PLAYER_KINDS)}") from None
