"""Differences between sites with the Lichess Bot API, as data instead of branches.

To add a site, add a row.  To support a new kind of difference, add a field when the first site needs it.
"""

import json
from collections.abc import Collection, Mapping
from dataclasses import dataclass
from enum import StrEnum

from bot.base.errors import ConfigError
from bot.base.events import CHESS960, FROM_POSITION, OTHELLO_RANDOM, Proposal, speed_of
from bot.base.notation import DROP_NOTATION, PLAIN_NOTATION, ROOK_CASTLING, Notation
from engine.games.chess_variants import CHESS_VARIANTS


class Capability(StrEnum):
    """A feature that some sites lack."""

    DRAW = "draw"
    """Offering, accepting and declining draws."""
    TAKEBACK = "takeback"
    """Answering requests for a takeback."""
    TAKEBACK_REQUESTS = "takeback_requests"
    """Moves are only taken back after a request, which the game's states show. On sites without this feature,
    opponents take moves back at will, and each game has only one stream."""
    CLAIM = "claim"
    """Claims against an opponent who left."""
    CHALLENGE = "challenge"
    """Challenges by bots, and the list of bots online."""
    EXPORT = "export"
    """Records of finished games."""
    GAME_LIST = "game_list"
    """The list of an account's finished games."""
    UPGRADE = "upgrade"
    """Upgrading a person's account to a bot account."""
    TOURNAMENTS = "tournaments"
    """Tournaments that programs can join."""
    CORRESPONDENCE = "correspondence"
    """Correspondence games (days per move). On sites without this feature, opponents stay at the board even
    in games without a clock."""


@dataclass(frozen=True, slots=True)
class SiteColour:
    """A site's names for one of the two colours."""

    key: str
    """Key of the player in ``gameFull``, and value of ``winner``."""
    letter: str
    """First letter of the player's fields in ``gameState``: ``wtime``, ``wdraw``, ``wtakeback``."""


@dataclass(frozen=True, slots=True)
class SiteVariant:
    """A variant at a site."""

    game: str
    """Name of the game in `engine.games`."""
    sides: tuple[SiteColour, SiteColour]
    """The colours of side 0, which moves first, and side 1."""
    notation: Notation = PLAIN_NOTATION
    kind: str = ""
    """`bot.base.events.Challenge.kind` of the variant; if empty, the game's name, or `FROM_POSITION` for a
    custom starting position."""
    boards: int = 1
    """Number of simultaneous games that a challenge to this variant starts."""


@dataclass(frozen=True, slots=True)
class Dialect:
    """One site."""

    name: str
    """Name of the site in configuration, database and logs."""
    home: str
    """The site's address; if empty, the operator must set one."""
    keep_alive_s: float
    """Maximum time between two lines from the server, in seconds."""
    variants: Mapping[str, SiteVariant]
    """Variants, keyed by the site's key."""
    capabilities: frozenset[Capability] = frozenset(Capability)
    """The site's features."""
    player_key: str = "id"
    """Field of a player's JSON object that identifies the account."""
    variants_header: str = ""
    """Header in which a bot must list the variants that it accepts; empty if the site needs no header."""
    shuffled_key: str = ""
    """Field of a challenge that is true for shuffled games; empty if those games are a separate variant."""
    rated: bool | None = None
    """Whether all games are rated; None if ``gameFull`` states this for each game."""
    increment_unit_s: float | None = None
    """Unit of ``winc`` and ``binc`` in seconds, if every game has a clock but ``gameFull`` does not state the
    clock; otherwise None."""
    limits_stream_opens: bool = True
    """Whether the site limits how often the account's stream is opened (`STREAM_OPENING_RATE`)."""
    from_positions: bool = True
    """Whether games of variants other than `FROM_POSITION` may also begin from a custom position."""
    set_positions: frozenset[str] = frozenset()
    """Keys of the variants in which our challenges may set the starting position (``fen``); always casual."""
    protocol: str = "lichess"
    """The site's protocol: ``lichess`` or ``ggs``; most other fields do not apply to ``ggs``."""
    ends_on_page: bool = False
    """Whether a game's stream may omit how the game ended; if so, we read the ending from the game's page at
    ``/{id}`` (`bot.servers.pychess`)."""
    speaker: str = "lichess"
    """Name, in lower case, of the account that the site uses for its own messages in a game's chat."""
    shows_challenges: bool = True
    """Whether the site's page shows people the challenges that they receive."""
    unanswered_s: float = 60.0
    """Seconds after which we withdraw our challenge if it is unanswered."""
    needs_login: bool = False
    """Whether the account's name must be in the settings, because no token names it."""
    tokens_at: str = ""
    """Page on which the account's owner can create a token; empty if there is none."""
    rated_by_speed: frozenset[str] = frozenset({"standard"})
    """Keys of variants with one rating per speed; any other variant has one rating for all speeds."""

    def headers(self, kinds: Collection[str]) -> dict[str, str]:
        """Additional headers that the site requires in every request.

        Args:
            kinds: Games and variants that we accept (`challenges.variants`).
        """
        if not self.variants_header:
            return {}
        accepted = [key for key, each in self.variants.items() if (each.kind or each.game) in kinds]
        return {self.variants_header: json.dumps({"version": 1, "variants": accepted})}

    def variant_of(self, name: str) -> str | None:
        """The site's key for a variant, from that key or from a name in `challenges.variants`; None: none."""
        if name in self.variants:
            return name
        single = (key for key, each in self.variants.items() if each.boards == 1)
        return next(
            (key for key in single if name == (self.variants[key].kind or self.variants[key].game)), None
        )

    def rating_list(self, proposal: Proposal) -> str:
        """The site's rating category for the proposed game."""
        key = proposal.variant
        return speed_of(proposal.clock).value if key in self.rated_by_speed else key


WHITE = SiteColour("white", "w")
BLACK = SiteColour("black", "b")
P1 = SiteColour("p1", "w")
P2 = SiteColour("p2", "b")

_CHESS = SiteVariant("chess", (WHITE, BLACK), ROOK_CASTLING)
_CHESS_VARIANTS = {
    "standard": _CHESS,
    "chess960": SiteVariant("chess", (WHITE, BLACK), ROOK_CASTLING, kind=CHESS960),
    "fromPosition": SiteVariant("chess", (WHITE, BLACK), ROOK_CASTLING, kind=FROM_POSITION),
}
_GGS_VARIANTS = {
    **{key: SiteVariant("othello", (BLACK, WHITE)) for key in ("8", "8b", "8w")},
    "s8": SiteVariant("othello", (BLACK, WHITE), boards=2),
    # Random positions exist only as synchro pairs, one type per number of discs.
    **{
        f"s8r{n}": SiteVariant("othello", (BLACK, WHITE), kind=OTHELLO_RANDOM, boards=2) for n in range(5, 61)
    },
}
_PYCHESS_VARIANTS = {
    "xiangqi": SiteVariant("xiangqi", (WHITE, BLACK)),
    # The site uses one name in challenges, the other in games.
    "standard": SiteVariant("chess", (WHITE, BLACK)),
    "chess": SiteVariant("chess", (WHITE, BLACK)),
}

DIALECTS: Mapping[str, Dialect] = {
    dialect.name: dialect
    for dialect in (
        Dialect(
            name="arena",
            home="",
            keep_alive_s=7.0,
            variants={
                "othello": SiteVariant("othello", (BLACK, WHITE)),
                **_CHESS_VARIANTS,
                "xiangqi": SiteVariant("xiangqi", (WHITE, BLACK)),
                "connect4": SiteVariant("connect4", (WHITE, BLACK)),
            },
            capabilities=frozenset(Capability)
            - {Capability.TOURNAMENTS, Capability.CORRESPONDENCE, Capability.GAME_LIST},
            limits_stream_opens=False,
            set_positions=frozenset({"standard", "othello", "xiangqi"}),
            rated_by_speed=frozenset(),
            shows_challenges=False,
            unanswered_s=20.0,
        ),
        Dialect(
            name="lichess",
            home="https://lichess.org",
            tokens_at=(
                "https://lichess.org/account/oauth/token/create?scopes[]=bot:play"
                "&scopes[]=challenge:read&scopes[]=challenge:write&description=Desdemona"
            ),
            keep_alive_s=7.0,
            set_positions=frozenset({"standard"}),
            variants={
                **_CHESS_VARIANTS,
                **{
                    game.name: SiteVariant(game.name, (WHITE, BLACK), ROOK_CASTLING)
                    for game in CHESS_VARIANTS
                },
            },
        ),
        Dialect(
            name="playstrategy",
            home="https://playstrategy.org",
            tokens_at="https://playstrategy.org/account/oauth/token",
            keep_alive_s=6.0,
            variants={
                "flipello": SiteVariant("othello", (P1, P2), DROP_NOTATION),
                "xiangqi": SiteVariant("xiangqi", (P1, P2)),
            },
            capabilities=frozenset(Capability)
            - {Capability.TAKEBACK, Capability.CLAIM, Capability.TOURNAMENTS},
            speaker="playstrategy",  # User.playstrategyId of its source
        ),
        Dialect(
            name="pychess",
            home="https://www.pychess.org",
            keep_alive_s=6.0,
            variants=_PYCHESS_VARIANTS,
            capabilities=frozenset({Capability.UPGRADE}),
            player_key="name",
            variants_header="X-PyChess-Bot-Capabilities",
            shuffled_key="chess960",
            rated=False,
            rated_by_speed=frozenset(),
            increment_unit_s=1.0,
            ends_on_page=True,
        ),
        Dialect(
            name="ggs",
            home="ggs://skatgame.net:5000",
            keep_alive_s=60.0,
            variants=_GGS_VARIANTS,
            capabilities=frozenset({Capability.CHALLENGE, Capability.TAKEBACK_REQUESTS}),
            from_positions=False,
            protocol="ggs",
            needs_login=True,
            rated_by_speed=frozenset(),
        ),
    )
}


def rating_list_of(site: str, variant: str, speed: str) -> str:
    """Which of its ratings a site changes after a game (`RatingCurve.speed`).

    Returns:
        The speed, also at unknown sites. For a rating of all speeds, the variant's kind: empty for the usual
        variants of a game.
    """
    dialect = DIALECTS.get(site)
    if dialect is None or variant not in dialect.variants or variant in dialect.rated_by_speed:
        return speed
    return dialect.variants[variant].kind


def get_dialect(name: str) -> Dialect:
    """The dialect of a site.

    Raises:
        ConfigError: No site has this name; the message lists the known sites.
    """
    try:
        return DIALECTS[name]
    except KeyError:
        raise ConfigError(f"no server dialect named {name!r}; known: {', '.join(DIALECTS)}") from None
