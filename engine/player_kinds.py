"""The kinds of players: how each chooses, and all other differences between them.

Records, settings and messages carry a player's name.  Code never compares names: it looks up the kind of that
name (`kind_named`).  So a new kind takes one value here, and a new way to choose one case in `engine.choice`.
"""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from enum import StrEnum
from types import MappingProxyType

from engine.errors import BadSettings


class Choosing(StrEnum):
    """How a player chooses its move, and thus how its choice is verified (`engine.choice`)."""

    RAW = "raw"
    """The raw value: minimax by alpha-beta."""
    ADJUSTED = "adjusted"
    """The raw value adjusted for the best trap: trappy minimax."""
    EXPECTED = "expected"
    """The expected value over the replies that a model of the opponent predicts (`engine.human.value`)."""
    TEMPTING = "tempting"
    """The raw value plus what replies that tempt at a glance would cost the opponent (`engine.tempting`)."""
    SELECTIVE = "selective"
    """Books, tables and a time-limited selective search; the raw value for games without that search."""


@dataclass(frozen=True, slots=True, kw_only=True)
class PlayerKind:
    """The properties of one kind of player."""

    name: str
    """The player's name in records, settings and messages."""
    choosing: Choosing
    """How it chooses."""
    asks_engine: bool = False
    """It uses another engine's scores (UCI, UCCI); our own search's while no engine is available."""
    is_calibrated: bool = False
    """It uses reply odds that were learned from recorded games (`engine.human.calibrated`)."""
    plays_engine_games: bool = False
    """It also plays the games that need another engine (`engine.games.ENGINE_GAMES`)."""
    draws_decisions: bool = False
    """Against people it plays some of its moves by lot, instead of one that sets a trap
    (`engine.randomised`)."""
    has_level: bool = False
    """It plays below its strength, as weakly as its level says (`engine.variety.LEVELS`)."""
    is_compared: bool = False
    """It takes part in the comparison, unless the settings name other players."""

    @property
    def sets_traps(self) -> bool:
        """Whether it sets traps on purpose; other players set them only by accident."""
        return self.choosing in (Choosing.ADJUSTED, Choosing.EXPECTED, Choosing.TEMPTING)

    @property
    def models_opponent(self) -> bool:
        """Whether it needs a model of the opponent."""
        return self.choosing is Choosing.EXPECTED

    @property
    def searches_selectively(self) -> bool:
        """Whether it uses the selective search."""
        return self.choosing is Choosing.SELECTIVE

    @property
    def plays_engine_moves(self) -> bool:
        """Whether it plays the best move of the other engine's own search."""
        return self.asks_engine and self.choosing is Choosing.RAW

    @property
    def looks_up(self) -> bool:
        """Whether it uses books and tables (`engine.lookup`)."""
        return self.searches_selectively or self.plays_engine_moves


STANDARD = PlayerKind(name="standard", choosing=Choosing.RAW, is_compared=True)
"""Minimax by alpha-beta."""

TRAPPY = PlayerKind(name="trappy", choosing=Choosing.ADJUSTED, is_compared=True)
"""Trappy minimax."""

STRONG = PlayerKind(name="strong", choosing=Choosing.SELECTIVE)
"""The best move in the time available: selective search, opening books, endgames solved or from tables."""

OPPONENT_MODEL = PlayerKind(name="opponent_model", choosing=Choosing.EXPECTED)
"""The move of the highest expected value over the replies that a model of people predicts."""

CALIBRATED = PlayerKind(name="calibrated", choosing=Choosing.EXPECTED, is_calibrated=True)
"""`OPPONENT_MODEL` with reply odds that were learned from recorded games."""

TEMPTING = PlayerKind(name="tempting", choosing=Choosing.TEMPTING)
"""The move whose replies tempt most at a glance, in exact integers and without a model of people."""

RANDOMISED = PlayerKind(name="randomised", choosing=Choosing.ADJUSTED, draws_decisions=True)
"""`TRAPPY`, but in some decisions a lot decides whether it sets the trap: a micro-randomised trial."""

GENTLE = PlayerKind(name="gentle", choosing=Choosing.RAW, has_level=True)
"""`STANDARD` made weaker: it looks few plies ahead, and draws a move from those that look nearly as good."""

TRAPPY_UCI = PlayerKind(
    name="trappy_uci", choosing=Choosing.ADJUSTED, asks_engine=True, plays_engine_games=True
)
"""`TRAPPY` on another engine's scores."""

STANDARD_UCI = PlayerKind(
    name="standard_uci", choosing=Choosing.RAW, asks_engine=True, plays_engine_games=True
)
"""The best move of another engine's own search; sets no traps."""

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
            TEMPTING,
            RANDOMISED,
            GENTLE,
            TRAPPY_UCI,
            STANDARD_UCI,
            OPPONENT_MODEL_UCI,
            CALIBRATED_UCI,
        )
    }
)
"""Every kind by its name, in the order of help texts."""


def _names(belongs: Callable[[PlayerKind], bool]) -> tuple[str, ...]:
    return tuple(name for name, kind in PLAYER_KINDS.items() if belongs(kind))


OWN_KINDS = _names(lambda kind: not (kind.asks_engine or kind.draws_decisions or kind.has_level))
"""Names of the players that need neither another engine, nor a person as their opponent, nor a level."""

COMPARED_KINDS = _names(lambda kind: kind.is_compared)
"""Names of the players that the papers compare, which differ only in the traps."""

ENGINE_GAME_KINDS = _names(lambda kind: kind.plays_engine_games)
"""Names of the players of games that need another engine."""


def kind_named(name: str) -> PlayerKind:
    """The kind of that name.

    Raises:
        BadSettings: There is no such kind; the message lists the known ones.
    """
    try:
        return PLAYER_KINDS[name]
    except KeyError:
        raise BadSettings(f"no player named {name!r}; known: {', '.join(PLAYER_KINDS)}") from None
