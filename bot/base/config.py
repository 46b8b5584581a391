"""Every setting in one place: its type, default, range and meaning.

Precedence: environment (``DESDEMONA_<SECTION>__<KEY>``, lists as JSON) over file over default.  Unknown keys
are errors, in the file and in the environment.  Secrets come from the environment or from a separate file,
never from config.toml.  ``python -m bot.base.config_text`` prints config.toml with every setting, its default
and its meaning.
"""

import os
import re
import tomllib
import unicodedata
from collections import Counter
from collections.abc import Callable, Collection, Mapping, Sequence
from enum import StrEnum
from functools import partial
from ipaddress import ip_address, ip_network
from pathlib import Path
from string import Formatter
from typing import Annotated, Any, Literal
from urllib.parse import urlsplit

from pydantic import (
    AfterValidator,
    BaseModel,
    ConfigDict,
    Field,
    PrivateAttr,
    SecretStr,
    StringConstraints,
    ValidationError,
    ValidationInfo,
    field_validator,
    model_validator,
)
from pydantic_core import ErrorDetails
from pydantic_settings import (
    BaseSettings,
    EnvSettingsSource,
    PydanticBaseSettingsSource,
    SettingsConfigDict,
    SettingsError,
)

from bot.base.dialects import DIALECTS
from bot.base.errors import ConfigError
from bot.base.events import CHESS960, FROM_POSITION, MAX_CHAT_LENGTH, OTHELLO_RANDOM, Clock, Speed, speed_of
from bot.base.files import read_regular
from bot.base.old_names import rename_notice, rename_settings, rename_variables
from engine.games import ENGINE_GAMES, GAMES
from engine.games.chess_variants import CHESS_VARIANTS
from engine.human.model import BadModel
from engine.human.registry import ModelRegistry, ModelSettings
from engine.lookup.polyglot import BookChoice, BookMoveChoice, PolyglotBook
from engine.lookup.registry import ROOT_SOURCES
from engine.lookup.source import BadSource, RootSource
from engine.opponents.odds import NAMES as ODDS_NAMES
from engine.params import (
    Assessment,
    DecidedScores,
    OpponentParams,
    OpponentScale,
    RandomisedParams,
    Scale,
    TrapParams,
)
from engine.protocols.score_settings import EngineSettings, MoveLimit
from engine.strategies.full_strength.exploit import EXPLOIT
from engine.strategies.gentle import GENTLE
from engine.strategies.like import LIKE
from engine.strategies.move_context import StrongOptions
from engine.strategies.registry import strategies_for, strategies_in_comparison, strategy_named
from engine.strategies.strong import STRONG
from engine.variety import LEVELS

ENV_PREFIX = "DESDEMONA_"

GREETING_PLACEHOLDERS = ("opponent", "bot", "game")
FAREWELL_PLACEHOLDERS = (*GREETING_PLACEHOLDERS, "result", "traps", "fell", "slips")

LIKE_GREETING = "Good luck, {opponent}! I am a program that plays as people rated {rating} do."
"""Greeting of a bot that imitates people; {rating} is their rating."""

TOKEN_PREFIX = f"{ENV_PREFIX}TOKEN_"
"""Prefix of the environment variables for account tokens; the account's name follows it."""
EXAMPLE_VARIABLE = f"{ENV_PREFIX}ENGINE__MAX_DEPTH"
_TRAP = TrapParams()
_VALUE = OpponentParams()
_RANDOMISED = RandomisedParams()

MAX_CONFIG_BYTES = 1 << 20
"""Maximum size of a settings or token file, in bytes."""
MIN_TOKEN_LENGTH = 16
"""Minimum length of the dashboard's token, in characters."""

Name = Annotated[str, StringConstraints(strip_whitespace=True, min_length=1)]
"""Name of an account or variant in a list; never empty, because an empty name could mean "everybody"."""


StrategyName = Annotated[str, AfterValidator(lambda name: strategy_named(name).name)]


def _web_address(url: str) -> str:
    """
    Raises:
        ValueError: The text is not a URL, or its port is invalid; the message does not repeat the text.
    """
    if url and not re.fullmatch(r"https?://[!-~]+", url):
        raise ValueError("must begin with http:// or https://, or be empty")
    try:
        parts = urlsplit(url)
        is_one = not url or (bool(parts.hostname) and parts.port != 0)
    except ValueError:
        is_one = False
    if not is_one:
        raise ValueError("must have a host, and any port must be from 1 to 65535")
    return url


WebAddress = Annotated[str, AfterValidator(_web_address), AfterValidator(lambda url: url.rstrip("/"))]


def _server_address(url: str) -> str:
    if url and not re.match(r"(https?|ggs)://.", url):
        raise ValueError("must begin with http://, https:// or ggs://, or be empty")
    return url.rstrip("/")


ServerAddress = Annotated[str, AfterValidator(_server_address)]


def _network(text: str) -> str:
    ip_network(text)  # its ValueError explains the problem
    return text


AllowedNetwork = Annotated[str, AfterValidator(_network)]


def _check_game_name(name: str) -> str:
    if name not in GAMES:
        raise ValueError(f"no game named {name!r}; known: {', '.join(GAMES)}")
    return name


def _is_safe_line(text: str) -> bool:
    """Whether a text is a single line of characters that are safe in displays, messages and file names."""
    return not any(unicodedata.category(char) in ("Cc", "Cs", "Zl", "Zp") for char in text)


DialectName = Literal["arena", "lichess", "playstrategy", "pychess", "ggs"]


class AssignmentMethod(StrEnum):
    """Method of choosing the strategy for a game."""

    FULL_STRENGTH = "full_strength"
    BALANCED = "balanced"
    FIXED = "fixed"
    RULES = "rules"


class BotPolicy(StrEnum):
    """Which challengers to accept."""

    ACCEPT = "accept"
    DECLINE = "decline"
    ONLY = "only"


class Claim(StrEnum):
    """What to claim when the opponent has left."""

    VICTORY = "victory"
    DRAW = "draw"
    NOTHING = "nothing"


class Section(BaseModel):
    """A table of config.toml."""

    model_config = ConfigDict(extra="forbid", frozen=True, allow_inf_nan=False)

    @field_validator("*")
    @classmethod
    def _texts_are_plain(cls, value: object) -> object:
        for text in value if isinstance(value, tuple) else (value,):
            if isinstance(text, str) and not _is_safe_line(text):
                raise ValueError("control characters and line breaks are not allowed")
        return value


class StorageConfig(Section):
    """The database."""

    url: str = "sqlite:///data/desdemona.db"
    """Database URL: sqlite:///path (relative to the working directory) or postgresql://user@host/name. Set a
    URL with a password in the environment: DESDEMONA_STORAGE__URL."""
    games_folder: str = ""
    """Folder for finished games, each saved as a file (PGN, or GGF for Othello) in a monthly subfolder;
    empty: no files. The database stores every game regardless."""

    @field_validator("url")
    @classmethod
    def _url_is_known(cls, url: str) -> str:
        if not re.match(r"(sqlite:///|postgresql://).", url):
            raise ValueError("must look like sqlite:///path or postgresql://user@host/name")
        if url.startswith("sqlite:") and "?" in url:
            raise ValueError("a SQLite URL takes no options: remove what follows the question mark")
        return url


class ArenaConfig(Section):
    """The embedded game server (the arena) and its page."""

    enabled: bool = True
    """Whether `desdemona run` starts the arena."""
    host: str = Field(default="127.0.0.1", min_length=1)
    """Address to listen on: 127.0.0.1 for this machine only, 0.0.0.0 for all network interfaces."""
    port: int = Field(default=8765, ge=0, le=65535)
    """Port to listen on; 0 means any free port."""
    public_url: WebAddress = ""
    """Public URL of the players' page if it is behind a proxy; empty: http://host:port."""
    trusted_proxies: tuple[AllowedNetwork, ...] = ()
    """Addresses or networks of the proxies whose X-Forwarded-For header we trust for per-address limits, such
    as "127.0.0.1" or "10.1.0.0/16". Empty: trust no header."""
    public_games: bool = True
    """Whether anybody may list games, watch running ones and replay finished ones; otherwise, only a game's
    players may."""
    keep_alive_s: float = Field(default=7.0, gt=0, le=60)
    """Seconds between keep-alive lines in a stream."""
    approve_accounts: bool = False
    """Whether the owner must approve people's new accounts, with `desdemona arena-account approve NAME`."""
    open_bots: bool = False
    """Whether anybody may turn an account that has not played yet into a bot account; otherwise only the
    server's owner can create bot accounts, with `desdemona arena-account add-bot NAME`."""
    bots_per_address: int = Field(default=3, ge=1, le=1000)
    """Maximum number of new bot accounts per address and day, if `open_bots` is true."""
    challenge_expiry_s: float = Field(default=20.0, gt=0, le=3600)
    """Seconds after which an unanswered challenge expires."""
    first_move_s: float = Field(default=30.0, ge=0, le=3600)
    """Seconds that each side has for its first move before the game is aborted; 0 means no limit."""
    gone_s: float = Field(default=120.0, gt=0, le=3600)
    """A player without an open stream for this many seconds counts as gone, so the opponent may claim the
    game."""
    accounts_per_day: int = Field(default=50, ge=1, le=100_000)
    """Maximum number of new accounts for people, per address and day. Here and below, all IPv6 addresses of
    one /64 network count as one address, a /56 as two, and a /48 or an IPv4 /24 as four. The bot in the
    arena's own process is exempt from these limits."""
    games_per_account: int = Field(default=20, ge=1, le=10_000)
    """Maximum number of concurrent games and unanswered challenges of one account, counted together."""
    games_per_address: int = Field(default=40, ge=1, le=10_000)
    """Maximum number of concurrent games and unanswered challenges of all accounts at one address."""
    games_per_opponent: int = Field(default=3, ge=1, le=10_000)
    """Maximum number of games and open challenges between a player and a bot, so that others get slots."""
    streams_per_account: int = Field(default=16, ge=1, le=1000)
    """Maximum number of open streams of one account; each browser tab with the page uses at most two."""
    streams_per_address: int = Field(default=64, ge=1, le=10_000)
    """Maximum number of open streams of all accounts at one address."""
    work_per_address: float = Field(default=200.0, gt=0, le=100_000)
    """Maximum sustained requests per second from one address; a burst may contain ten times as many. An
    expensive request counts as several."""
    work_per_s: float = Field(default=500.0, gt=0, le=100_000)
    """Maximum sustained requests per second from all addresses together. Beyond this limit, clients with the
    fewest recent requests are served first."""
    rated_plies: int = Field(default=10, ge=0, le=200)
    """A rated game changes ratings only if the two sides together have made at least this many moves."""
    rating_window_h: float = Field(default=24.0, ge=0, le=24 * 31)
    """Number of hours for which earlier games between the same two players, and addresses that they shared,
    affect rating changes."""
    full_games: int = Field(default=5, ge=1, le=1000)
    """Number of rated games between two players in one variant within `rating_window_h` that count in full.
    Each further game counts half as much as the one before, down to 1/16; later games do not count."""
    levels: tuple[Annotated[int, Field(ge=1, le=len(LEVELS))], ...] = ()
    """Levels at which the arena runs bots, each with its own account and rating; for instance, 3 creates the
    bot Level-3, which plays the strategy gentle at level 3. Example: [1, 2, 3, 4, 5, 6]"""
    like: tuple[Annotated[int, Field(ge=600, le=2600)], ...] = ()
    """Ratings of the people whom further bots imitate, each with its own account; for instance, 1300 creates
    the bot Like-1300, which plays the strategy like at the games for which there is a network of people's
    moves. Example: [1100, 1500, 1900]"""
    outage_grace_s: float = Field(default=10.0, ge=0, le=300)
    """Seconds for which all clocks remain stopped after an outage of the arena or its database."""


class ServerConfig(Section):
    """The game server that the bot plays on."""

    dialect: DialectName = "arena"
    """The site's protocol: arena, lichess (lichess.org), playstrategy (playstrategy.org), pychess
    (www.pychess.org) or ggs (skatgame.net, Othello)."""
    url: ServerAddress = ""
    """Address of the server; empty: the site's usual address or, for arena, the embedded server."""
    name: str = Field(default="Desdemona", pattern=r"^[A-Za-z0-9_-]{2,20}$")
    """The bot's account name at the embedded arena or on GGS; on GGS, at most 8 characters."""
    token_file: str = ""
    """File that contains the account's token (on GGS, its password); not needed for the embedded arena.
    Alternatively, set the environment variable DESDEMONA_SERVER__TOKEN."""
    token: SecretStr = Field(default=SecretStr(""), exclude=True)
    """The account's token; never in config.toml."""
    _account: str = PrivateAttr(default="")

    @property
    def token_setting(self) -> str:
        """Name of the setting that holds the token, for use in messages."""
        return f"accounts.{self._account}.token" if self._account else "server.token"

    @property
    def token_variable(self) -> str:
        """The environment variable that may hold the token."""
        return token_variable(self._account) if self._account else _variable("server", "token")


class ServersConfig(Section):
    """All game servers."""

    record: str = ""
    """Folder for recordings of the traffic with Lichess-like sites and GGS, for `desdemona replay`; names,
    tokens and passwords are masked, chat is not; empty: none."""


class AccountConfig(Section):
    """One account of a bot that has several, on one or more sites; these tables replace [server]. For this
    account only, its subtables override settings in the top-level tables of the same names."""

    name: str = Field(pattern=r"^[A-Za-z0-9_-]{2,20}$")
    """Name in the log, for `check` and for `run --only`; at the arena and on GGS, also the account's name."""
    dialect: DialectName
    """The site's protocol, as in [server]."""
    url: ServerAddress = ""
    """Address of the server, as in [server]."""
    login: str = Field(default="", pattern=r"^([A-Za-z0-9_-]{2,20})?$")
    """The account's name at the arena or on GGS, if it differs from `name`."""
    token_file: str = ""
    """Token file, as in [server]. Or set the environment variable DESDEMONA_TOKEN_NAME, where NAME is the
    account's name in capitals, with _ for each -."""
    challenges: dict[str, Any] = Field(default_factory=dict)
    assignment: dict[str, Any] = Field(default_factory=dict)
    manners: dict[str, Any] = Field(default_factory=dict)
    matchmaking: dict[str, Any] = Field(default_factory=dict)
    ggs: dict[str, Any] = Field(default_factory=dict)
    chat: dict[str, Any] = Field(default_factory=dict)

    def server(self) -> ServerConfig:
        """The account's server settings."""
        server = ServerConfig(
            dialect=self.dialect,
            url=self.url,
            name=self.login or self.name,
            token_file=self.token_file,
            token=SecretStr(os.environ.get(token_variable(self.name), "")),
        )
        server._account = self.name
        return server


EXAMPLE_ACCOUNT = (
    "[[accounts]]",
    'name = "lichess"',
    'dialect = "lichess"',
    'token_file = "lichess.token"',
    "[accounts.challenges]",
    "max_games = 4",
)
"""Example of an account for config.toml, which has no accounts by default."""
ACCOUNT_SECTIONS = ("challenges", "assignment", "manners", "matchmaking", "ggs", "chat")
"""The tables that an account may override."""
RELOADABLE = ("challenges", "assignment", "manners", "matchmaking", "chat")
"""The tables that can be reloaded while the program plays."""


class OpeningBook(Section):
    """A Polyglot opening book, and when to use it."""

    file: str = Field(min_length=1)
    """The book."""
    game: str = "chess"
    """The book's game: chess or one of its variants."""
    colour: Literal["white", "black", "both"] = "both"
    """The side that uses the book."""
    choose: BookChoice = BookChoice.WEIGHTED
    """How to choose among the book's moves."""
    max_ply: int = Field(default=0, ge=0, le=1000)
    """Number of plies at the start of a game during which the book is used; 0: no limit."""
    min_weight: int = Field(default=1, ge=1, le=65_535)
    """Minimum weight of a move; moves with a lower weight are ignored."""

    @field_validator("game")
    @classmethod
    def _game_is_chess(cls, game: str) -> str:
        known = ("chess", *(variant.name for variant in CHESS_VARIANTS))
        if game not in known:
            raise ValueError(f"there are no books for this game; known: {', '.join(known)}")
        return game

    def use(self) -> BookMoveChoice:
        """Convert the section to the engine's own type."""
        return BookMoveChoice(
            game=self.game,
            side={"white": 0, "black": 1}.get(self.colour),
            choice=self.choose,
            max_ply=self.max_ply or None,
            min_weight=self.min_weight,
        )


class EngineConfig(Section):
    """Time management and search."""

    max_depth: int = Field(default=10, ge=2, le=60)
    """Maximum depth of a full search, in plies."""
    max_time_s: float = Field(default=2.0, gt=0, le=3600)
    """Maximum time for a move, in seconds of processor time; the clock may allow less. On a busy machine, a
    move can take up to three times as long in real time, or ten times as long in games without a clock."""
    overhead_s: float = Field(default=0.3, ge=0, le=60)
    """Seconds reserved on each move for network lag until the lag has been measured; after that, the minimum
    reserve when little time is left."""
    ponder: bool = True
    """Whether to think about the expected reply while the opponent thinks."""
    slow_time_s: float = Field(default=10.0, gt=0, le=86_400)
    """Maximum time per move, in seconds, in games without a real-time clock (such as correspondence games).
    These games use only idle threads."""
    table_mb: int = Field(default=64, ge=1, le=65536)
    """Size of each transposition table (one per worker and game), in MiB."""
    workers: int = Field(default=0, ge=0, le=1024)
    """Maximum number of concurrent searches; 0: one per core that CPU affinity and container limits allow."""
    strong_depth: int = Field(default=60, ge=2, le=120)
    """Maximum depth, in plies, of the selective search that the strategy strong uses."""
    strong_confidence: Literal[73, 87, 95, 99, 100] = 73
    """ProbCut's confidence level in the strategy strong, in per cent: 73, 87, 95, 99, or 100 (full width)."""
    max_games: int = Field(default=0, ge=0, le=1000)
    """Maximum number of concurrent games with a real-time clock, over all accounts; 0: only each account's
    own limits apply."""
    threads: int = Field(default=0, ge=0, le=64)
    """Threads per search of the strategy strong. 0: use the workers that are idle when the search starts, at
    most eight, until it ends."""
    variety_centi: int = Field(default=40, ge=0, le=1000)
    """To avoid repeating a game, the bot may play a random move that loses at most this many hundredths of a
    disc or pawn; 0: never. A game counts as repeated if its first 20 plies equal those of one of the last two
    games with the opponent, or if its plies so far, at least eight, are the start of any lost or drawn game.
    lichess.org does not rate repeated games, and people could win again by repeating a won game."""
    contempt_centi: int = Field(default=10, ge=0, le=1000)
    """Contempt of the strategy strong: the score it gives up to avoid a draw, in hundredths of a pawn."""
    book: str = ""
    """Opening book of the strategy strong for Othello; empty: none."""
    books: tuple[OpeningBook, ...] = ()
    """Opening books in Polyglot's format for strong and standard_uci; the first book with a move for the
    position is used. Required key: file. Optional: game (chess or a variant of it), colour (both, white or
    black), choose (weighted: at random by weight; best: the largest weight; even: uniformly at random),
    max_ply (0: no limit), min_weight (1). Example: [{ file = "white.bin", colour = "white", choose = "best"
    }, { file = "all.bin", max_ply = 16 }]"""
    polyglot: str = ""
    """A Polyglot book for chess, used before `books`; moves are chosen at random by weight; empty: none."""
    syzygy: str = ""
    """Folder of Syzygy tablebases (*.rtbw, *.rtbz) for chess games of the strategy strong; empty: none."""

    def strong_options(self) -> StrongOptions:
        """Open books and tablebases; return the strong player's options (one thread if `threads` is 0).

        Raises:
            ConfigError: A book or tablebase cannot be read.
        """
        return StrongOptions(
            depth=self.strong_depth,
            confidence_percent=self.strong_confidence,
            threads=self.threads or 1,
            contempt_centi=self.contempt_centi,
            sources=self._sources(),
        )

    def _sources(self) -> dict[str, tuple[RootSource, ...]]:
        """The opened books and tablebases, keyed by game, in order of precedence."""
        sources: dict[str, list[RootSource]] = {}
        wanted: list[tuple[str, str, Callable[[], RootSource]]] = [
            (key, game, partial(opened, Path(path)))
            for key, (game, opened) in ROOT_SOURCES.items()
            if (path := getattr(self, key))
        ]
        wanted += [
            (f"books.{number}", book.game, partial(PolyglotBook.open, Path(book.file), book.use()))
            for number, book in enumerate(self.books)
        ]
        for key, game, opened in wanted:
            try:
                sources.setdefault(game, []).append(opened())
            except BadSource as error:
                raise ConfigError(f"engine.{key}: {error}") from error
        return {game: tuple(found) for game, found in sources.items()}


class TrapConfig(Section):
    """Parameters of the trap arithmetic (Gordon & Reda 2006), which docs/engine.md explains."""

    assessment: Assessment = _TRAP.assessment
    """How the opponent is assumed to judge a reply from its scores at shallower depths: median (models
    people), best (models optimistic people) or last (models programs that search one ply less)."""
    margin_centi: int = Field(default=_TRAP.margin_centi, ge=0, le=10_000)
    """Scores of smaller magnitude are treated as if they had this magnitude, so that level positions get a
    bonus. 0 in the paper; must be 0 with scale expected."""
    decided: DecidedScores = _TRAP.decided
    """How to play decided games: swindle (forced wins get no bonus; if every move is a forced loss, set the
    trap that is hardest to see) or paper (the paper's rule)."""
    threshold_percent: float = Field(default=_TRAP.threshold_percent, gt=0, le=100)
    """A move sets a trap if its best trap has at least this quality (as defined in the paper), in points of
    expected score out of 100."""
    scale: Scale = _TRAP.scale
    """Unit of the arithmetic: paper (the game's own scores; traps are weighed against the size of the score)
    or expected (points of expected score; traps are weighed against risk_percent)."""
    risk_percent: float = Field(default=_TRAP.risk_percent, gt=0, le=100)
    """With scale expected: maximum expected score to give up for a trap, in points out of 100."""
    risk_share_percent: float = Field(default=_TRAP.risk_share_percent, gt=0, le=100)
    """With scale expected: maximum percentage of the best move's expected score to give up; 100: no limit."""
    proof: bool = True
    """Whether to play a move that the strategy prefers to the best one only if a selective search of both, in
    a tenth of the move's time, confirms that it costs at most half of the strategy's budget (risk_percent
    with either scale). Matches between programs, the lab and engine protocols play without this check."""

    @model_validator(mode="after")
    def _params_are_sound(self) -> "TrapConfig":
        self.params()  # raises ValueError with the name of the bad one
        return self

    def params(self) -> TrapParams:
        """Convert the section to the engine's own type."""
        return TrapParams(**self.model_dump(exclude={"proof"}))


class HumanConfig(Section):
    """Settings of the strategies opponent_model and calibrated: models of replies, and limits on risk."""

    models: tuple[str, ...] = ()
    """Human-move models, at most one per game: files written by `desdemona lab import-model`, or a folder of
    such files for different ratings. By default, Othello uses a built-in model, and other games use shallow
    searches. Example: ["data/models"]"""
    calibrated: tuple[str, ...] = ()
    """Calibrated models (files written by `desdemona lab fit`), at most one per game, replacing the
    built-in ones; in games without such a model, calibrated plays like opponent_model."""
    budget_percent: float = Field(default=_VALUE.budget_percent, ge=0, le=100)
    """Maximum loss of a move against best play, in points of expected score out of 100."""
    share_percent: float = Field(default=_VALUE.share_percent, gt=0, le=100)
    """Maximum loss in per cent of the best move's expected score; moves that lead to a forced loss are also
    excluded, unless every move does. 100: neither limit applies."""
    min_reply_percent: float = Field(default=_VALUE.least_percent, ge=0, le=50)
    """Replies less probable than this, in per cent, are not searched; each counts as if it were the best
    reply. With a calibrated model, all replies are searched."""
    scale: OpponentScale = _VALUE.scale
    """Unit of a move's value: expected (points of expected score) or pawns (hundredths of a pawn or disc, at
    most checkmate_centi)."""
    checkmate_centi: int = Field(default=_VALUE.checkmate_centi, ge=1, le=100_000)
    """With scale pawns: value of a won game, in the same unit, and maximum magnitude of any score."""

    def opponent_params(self) -> OpponentParams:
        """Convert the valuation of moves to the engine's own type."""
        return OpponentParams(
            scale=self.scale,
            budget_percent=self.budget_percent,
            share_percent=self.share_percent,
            least_percent=self.min_reply_percent,
            checkmate_centi=self.checkmate_centi,
        )

    def model_registry(self) -> ModelRegistry:
        """Open the models named in these settings, and return their registry.

        Raises:
            ConfigError: A model cannot be used.
        """
        try:
            return ModelRegistry(
                ModelSettings(models=self.models, calibrated=self.calibrated, value=self.opponent_params())
            )
        except BadModel as error:
            raise ConfigError(f"human.models or human.calibrated: {error}") from None


class RandomisedConfig(Section):
    """The strategy randomised, which plays like trappy but, against people, decides at random on some moves
    whether to set the trap (docs/trials.md)."""

    probability: float = Field(default=_RANDOMISED.chance, ge=0.1, le=0.9)
    """Probability of choosing the move that sets the trap."""
    budget_percent: float = Field(default=_RANDOMISED.budget_percent, gt=0, le=5)
    """Randomise only if the move that sets the trap and the best move that sets none differ by at most this
    much, in points of expected score out of 100."""
    max_profiles: int = Field(default=_RANDOMISED.most_profiles, ge=1, le=100)
    """Maximum number of moves to examine, best first, when looking for one that sets no trap."""
    by_pair: bool = True
    """Whether to randomise while the game is undecided between the two players by their ratings, if both are
    known. A trial keeps what it was planned with; a trial of an older version, the game's own scale."""

    def params(self) -> RandomisedParams:
        """Convert the section to the engine's own type."""
        return RandomisedParams(self.probability, self.budget_percent, self.max_profiles, self.by_pair)


class UciEngine(Section):
    """An external engine for one kind of game."""

    game: str
    """A game that an external engine can play (see `UciConfig.engines`)."""
    command: tuple[str, ...]
    """Program and arguments."""
    protocol: str = "uci"
    """The engine's protocol: uci, or ucci for xiangqi."""
    options: dict[str, str | int | bool] = Field(default_factory=dict)
    """Engine options to set, keyed by name."""
    depth: int = Field(default=10, ge=2, le=60)
    """Search depth at the root, in plies; replies are searched one ply less deeply."""
    window_centi: int = Field(default=50, ge=0, le=10_000)
    """Moves that score at most this many centipawns below the best are analysed."""
    candidates: int = Field(default=8, ge=1, le=500)
    """Maximum number of moves to analyse."""
    max_lines: int = Field(default=0, ge=0, le=500)
    """Maximum number of MultiPV lines per search; 0: as many as the engine allows."""
    limit: MoveLimit = MoveLimit.DEPTH
    """The limit that ends a search by standard_uci."""
    nodes: int = Field(default=100_000, ge=1, le=10**12)
    """Number of positions to visit per search if `limit` is "nodes"."""

    @field_validator("command", mode="before")
    @classmethod
    def _command_is_a_list(cls, command: object) -> object:
        if isinstance(command, str):
            raise ValueError('must be a list of program and arguments, such as ["stockfish"]')
        return command

    @model_validator(mode="after")
    def _settings_are_sound(self) -> "UciEngine":
        self.settings(1.0, 1.0)  # raises ValueError with the name of the bad one
        return self

    def settings(self, start_s: float, silence_s: float) -> EngineSettings:
        """Convert the section to the engine's own type."""
        options = tuple(
            (name, str(value).lower() if isinstance(value, bool) else str(value))
            for name, value in self.options.items()
        )
        values: dict[str, Any] = {**dict(self), "options": options}
        return EngineSettings(**values, start_s=start_s, response_timeout_s=silence_s)


class UciConfig(Section):
    """External engines; the strategies whose names end in _uci use their scores or moves. The engines must
    support MultiPV."""

    engines: tuple[UciEngine, ...] = ()
    """At most one per game. Required keys: game (chess, xiangqi, crazyhouse, antichess, atomic, horde,
    kingOfTheHill, racingKings, threeCheck) and command (program and arguments). Optional: protocol (uci,
    ucci), options, depth (10), window_centi (50: analyse only moves at most this far below the best),
    candidates (8: analyse at most this many), max_lines (0: as many MultiPV lines as the engine allows); and
    for standard_uci, limit (what ends a search: depth, nodes, or clock for the engine's own time management)
    and nodes (100000). Only trappy_uci and standard_uci play the variants of chess, whatever `assignment`
    says. Example: [{ game = "chess", command = ["stockfish"], depth = 12, options = { Hash = 64 } }]"""
    start_s: float = Field(default=10.0, gt=0, le=600)
    """Timeout for starting an engine, in seconds."""
    silence_s: float = Field(default=30.0, gt=0, le=3600)
    """An engine that is silent for this many seconds during a search is restarted (sooner if the clock
    requires it)."""

    @model_validator(mode="after")
    def _games_differ(self) -> "UciConfig":
        games = [engine.game for engine in self.engines]
        if len(set(games)) != len(games):
            raise ValueError("engines has two entries for one game")
        return self

    def settings(self) -> tuple[EngineSettings, ...]:
        """Convert the external engines to the engine package's own type."""
        return tuple(engine.settings(self.start_s, self.silence_s) for engine in self.engines)


class OnlineConfig(Section):
    """Look-ups at lichess.org for chess games of the strategies strong and standard_uci, within the move's
    time, if your own books and tablebases have no move."""

    explorer: Literal["", "masters", "lichess"] = ""
    """Opening explorer: masters or lichess (games between the site's users); empty: none. The explorer needs
    the token of a lichess.org account; a bot that plays there uses its own."""
    explorer_max_ply: int = Field(default=20, ge=1, le=200)
    """Number of plies at the start of a game during which the explorer is used."""
    explorer_min_games: int = Field(default=20, ge=1, le=1_000_000)
    """Ignore moves played in fewer games than this; choose among the others in proportion to their games."""
    explorer_url: WebAddress = "https://explorer.lichess.org"
    """Address of the explorer."""
    tablebase: bool = False
    """Whether to use the endgame tablebase (for positions with up to seven pieces)."""
    tablebase_url: WebAddress = "https://tablebase.lichess.org"
    """Address of the tablebase."""
    timeout_s: float = Field(default=1.0, gt=0, le=10)
    """Timeout of a look-up, in seconds, but never more than a twentieth of the time left on the clock."""

    @property
    def is_used(self) -> bool:
        """Whether any online look-up is enabled."""
        return bool(self.explorer) or self.tablebase


FULL_STRENGTH_PAIR = (EXPLOIT.name, STRONG.name)
"""The strategies of the method full_strength: the first plays the person, the second the board alone."""


class AssignmentRule(Section):
    """A rule that chooses a strategy; a missing key matches every game."""

    strategy: StrategyName
    game: Annotated[str, AfterValidator(_check_game_name)] | None = None
    site: DialectName | None = None
    speed: Speed | None = None
    min_rating: int | None = None
    max_rating: int | None = None


class AssignmentConfig(Section):
    """How the bot chooses its strategy for each game."""

    method: AssignmentMethod = AssignmentMethod.FULL_STRENGTH
    """full_strength (rated games against people: exploit or strong, at random, equally often; casual games:
    exploit; programs, and games without a model of people: strong), balanced (all games: `strategies`, at
    random, equally often, for a fair comparison), fixed (`strategy`) or rules (`rules`). If only `strategies`
    is given, the method is balanced."""
    strategy: StrategyName = "trappy"
    """The strategy for `fixed`, and for `rules` when no rule matches: standard, trappy, strong, exploit,
    trappy_strong, opponent_model, calibrated, tempting, randomised, gentle, like, or trappy_uci,
    standard_uci, opponent_model_uci, calibrated_uci (which need an external engine for every game they play:
    see uci.engines)."""
    strategies: tuple[StrategyName, ...] = Field(default=strategies_in_comparison(), min_length=1)
    """The strategies that `balanced` compares; by default those of the paper."""
    rules: tuple[AssignmentRule, ...] = ()
    """Rules for the method `rules`; the first rule that matches a game sets its strategy. Keys: strategy, and
    any of game, site, speed, min_rating, max_rating. Example: [{ strategy = "standard", speed = "bullet" }, {
    strategy = "trappy", min_rating = 1600 }]"""
    level: int = Field(default=3, ge=1, le=len(LEVELS))
    """Level at which the strategy gentle plays; higher levels are stronger."""
    like_rating: int = Field(default=1500, ge=600, le=2600)
    """Rating of the people whom the strategy like imitates: on Lichess at chess, on the scale of its network
    at other games."""
    seed: int = Field(default=0, ge=0)
    """Random seed of these choices, for tests only: people who know the seed can predict the strategy. 0: use
    the operating system's cryptographic generator, as a trial requires."""

    @property
    def drawn_from(self) -> tuple[str, ...]:
        """The strategies among which the method chooses at random; empty: no random choice."""
        match self.method:
            case AssignmentMethod.FULL_STRENGTH:
                return FULL_STRENGTH_PAIR
            case AssignmentMethod.BALANCED if len(self.strategies) > 1:
                return self.strategies
            case _:
                return ()

    @property
    def draws_casual_games(self) -> bool:
        """Whether the strategies of casual games, too, are chosen at random."""
        return bool(self.drawn_from) and self.method is not AssignmentMethod.FULL_STRENGTH

    @model_validator(mode="before")
    @classmethod
    def _strategies_alone_are_balanced(cls, values: Any) -> Any:
        """Let settings of earlier versions, whose default method was balanced, keep their strategies."""
        if isinstance(values, Mapping) and "strategies" in values and "method" not in values:
            return {**values, "method": AssignmentMethod.BALANCED}
        return values

    @model_validator(mode="after")
    def _strategies_differ(self) -> "AssignmentConfig":
        if len(set(self.strategies)) != len(self.strategies):
            raise ValueError("strategies has a duplicate")
        kinds = [strategy_named(each) for each in self.strategies]
        if weak := [each.name for each in kinds if each.has_level or each.imitates_people]:
            raise ValueError(f"strategies lists {weak[0]}, a weakened player that cannot be compared")
        return self

    @model_validator(mode="after")
    def _check_strategy_setting(self) -> "AssignmentConfig":
        fields, method = type(self).model_fields, self.method
        draws = method in (AssignmentMethod.BALANCED, AssignmentMethod.FULL_STRENGTH)
        if draws and self.strategy != fields["strategy"].default:
            raise ValueError(
                f"strategy is {self.strategy}, but method {method.value} does not use it: "
                'set method = "fixed", or "balanced" and add it to strategies'
            )
        if method is AssignmentMethod.FULL_STRENGTH and self.strategies != fields["strategies"].default:
            raise ValueError('method full_strength does not use strategies: set method = "balanced"')
        return self


class TrialConfig(Section):
    """Blind trials: what opponents may learn about the strategy that they face (docs/trials.md)."""

    reveal: bool = False
    """Whether chat, reports and pages reveal strategies that `assignment` chose at random, and random choices
    of single moves. `desdemona trial start` requires false, because only a blind trial is fair."""
    hold_s: float = Field(default=60.0, ge=0, le=3600)
    """In trial games, each move takes its planned time, at most this many seconds: the search ends by then,
    and a move found earlier waits. Otherwise, thinking times would reveal the strategy. 0: send moves at
    once."""
    report_delay_s: float = Field(default=10.0, ge=0, le=600)
    """In trial games, the farewell and the report come this many seconds after the end, or at the next
    multiple if some replies are not judged by then. 0: they come once all replies are judged, which may
    reveal the strategy."""


CHALLENGER_SETTINGS = (
    *("rated", "casual", "clocks", "unlimited"),
    *("min_initial_s", "max_initial_s", "min_increment_s", "max_increment_s", "min_days", "max_days"),
    *("min_rating", "max_rating", "max_rating_difference"),
)
"""Settings of `ChallengesConfig` that can differ between people and bots."""


REST_AFTER_S = 10.0
"""Seconds of the opponent's thinking after which a game at our arena rests: it then needs no computing time,
and does not count as one of `max_games`."""
MAX_GAMES_PER_SLOT = 4
"""Maximum number of games with a clock at our arena, resting ones included, relative to `max_games`."""


class ChallengesConfig(Section):
    """Which challenges to accept."""

    variants: tuple[str, ...] = (
        *("othello", "othello_random", "chess", "chess960", "from_position", "xiangqi", "connect4"),
    )
    """Games to play, by their names in engine/games; also chess960, othello_random (on GGS, pairs of games
    from a random position) and from_position (any listed game, from a position that the challenger set up).
    The variants of chess need an external engine: see uci.engines."""
    rated: bool = True
    """Accept rated games."""
    casual: bool = True
    """Accept casual games."""
    bots: BotPolicy = BotPolicy.ACCEPT
    """How to answer challenges from bots: accept, decline, or only (accept bots and decline people)."""
    min_initial_s: int = Field(default=30, ge=0, le=10_800)
    """Minimum initial time on the clock, in seconds."""
    max_initial_s: int = Field(default=3600, ge=0, le=10_800)
    """Maximum initial time on the clock, in seconds."""
    min_increment_s: int = Field(default=0, ge=0, le=180)
    """Minimum increment, in seconds."""
    max_increment_s: int = Field(default=60, ge=0, le=180)
    """Maximum increment, in seconds."""
    clocks: tuple[str, ...] = ()
    """Accept only these clocks, regardless of the ranges above: initial seconds and increment, such as 180+2,
    or a speed (bullet, blitz, rapid, classical); empty: use the ranges."""
    unlimited: bool = True
    """Accept games without a clock."""
    min_days: int = Field(default=0, ge=0, le=14)
    """Minimum days per move in correspondence games; 0: decline correspondence games."""
    max_days: int = Field(default=14, ge=0, le=14)
    """Maximum days per move in correspondence games."""
    bots_need_increment: bool = False
    """Accept bullet games against bots only if the clock has an increment."""
    min_rating: int = Field(default=0, ge=0, le=5000)
    """Minimum rating of the opponent; an opponent whose rating is unknown is accepted."""
    max_rating: int = Field(default=4000, ge=0, le=5000)
    """Maximum rating of the opponent; an opponent whose rating is unknown is accepted."""
    max_rating_difference: int = Field(default=5000, ge=0, le=5000)
    """Maximum difference between the opponent's rating and ours; ignored if either rating is unknown."""
    max_games: int = Field(default=8, ge=1, le=1000)
    """Maximum concurrent games with a real-time clock. At our own arena, a game in which the opponent has
    thought for 10 seconds does not count until they move; at most four times as many games may run."""
    reserved_for_humans: int = Field(default=0, ge=0, le=1000)
    """How many of the `max_games` slots are reserved for people."""
    max_slow_games: int = Field(default=16, ge=1, le=1000)
    """Maximum concurrent games without a real-time clock."""
    max_waiting: int = Field(default=8, ge=0, le=1000)
    """Maximum number of challenges waiting for a slot (people get slots first); others are declined."""
    max_games_per_opponent: int = Field(default=2, ge=1, le=1000)
    """Maximum number of concurrent games with one opponent."""
    max_games_per_bot_per_day: int = Field(default=100, ge=0, le=1000)
    """Maximum number of games with any one bot in 24 hours."""
    max_bot_games_per_day: int = Field(default=100, ge=0, le=10_000)
    """Maximum number of games with bots in 24 hours, over all bots; lichess.org allows 100."""
    allow: tuple[Name, ...] = ()
    """Accept only these opponents, by name or id; empty: everybody."""
    block: tuple[Name, ...] = ()
    """Decline these opponents, by name or id."""
    block_file: str = ""
    """File with further opponents to decline, one per line, reloaded when it changes; empty: none."""
    block_urls: tuple[WebAddress, ...] = ()
    """URLs of further block lists (one opponent per line, or a JSON list), fetched at startup and once a
    day."""
    for_people: dict[str, Any] = Field(default_factory=dict)
    """Overrides for people. Keys: rated, casual, clocks, unlimited, max_rating_difference, and min_ or max_
    followed by initial_s, increment_s, days or rating. Example: { casual = true, min_initial_s = 60 }"""
    for_bots: dict[str, Any] = Field(default_factory=dict)
    """Overrides for bots, with the same keys as `for_people`."""

    @field_validator("clocks")
    @classmethod
    def _clocks_are_known(cls, clocks: tuple[str, ...]) -> tuple[str, ...]:
        speeds = [speed.value for speed in Speed if speed is not Speed.CORRESPONDENCE]
        for text in clocks:
            if text not in speeds and not re.fullmatch(r"\d{1,5}\+\d{1,3}", text):
                raise ValueError(f"{text!r} is neither like 180+2, in seconds, nor {', '.join(speeds)}")
        return clocks

    @field_validator("for_people", "for_bots")
    @classmethod
    def _overrides_are_known(cls, changes: dict[str, Any]) -> dict[str, Any]:
        if unknown := [key for key in changes if key not in CHALLENGER_SETTINGS]:
            raise ValueError(f"{unknown[0]} cannot differ; known here: {', '.join(CHALLENGER_SETTINGS)}")
        return changes

    def of(self, *, is_bot: bool) -> "ChallengesConfig":
        """The settings for challenges from bots (`is_bot`) or from people."""
        changes = self.for_bots if is_bot else self.for_people
        if not changes:
            return self
        return ChallengesConfig.model_validate({**dict(self), "for_people": {}, "for_bots": {}, **changes})

    @field_validator("variants")
    @classmethod
    def _variants_are_known(cls, variants: tuple[str, ...]) -> tuple[str, ...]:
        known = (*GAMES, CHESS960, OTHELLO_RANDOM, FROM_POSITION)
        if unknown := [name for name in variants if name not in known]:
            raise ValueError(f"no game named {unknown[0]!r}; known: {', '.join(known)}")
        if not any(name in (*GAMES, CHESS960, OTHELLO_RANDOM) for name in variants):
            raise ValueError("from_position also needs a game")
        return variants

    @property
    def games(self) -> tuple[str, ...]:
        """The games of `variants`, by their names in engine/games."""
        of = {CHESS960: "chess", OTHELLO_RANDOM: "othello"}
        named = (of.get(name, name) for name in self.variants if name != FROM_POSITION)
        return tuple(dict.fromkeys(named))

    @model_validator(mode="after")
    def _ranges(self) -> "ChallengesConfig":
        for what in ("initial_s", "increment_s", "rating", "days"):
            if getattr(self, f"min_{what}") > getattr(self, f"max_{what}"):
                raise ValueError(f"min_{what} is above max_{what}")
        if not (self.rated or self.casual):
            raise ValueError("rated and casual are both off: no game could be accepted")
        for is_bot in (False, True):
            self.of(is_bot=is_bot)  # raises ValueError
        return self


class MannersConfig(Section):
    """Draws, resignation, takebacks, rematches, and games that do not start."""

    draws: bool = True
    """Whether to offer and accept draws in games that allow draws by agreement. With both ratings known, we
    do not agree to a draw if one of the two players is expected to score 95 % or more."""
    draw_score_centi: int = Field(default=15, ge=0, le=10_000)
    """Agree to a draw only if our scores are at most this far from 0, in hundredths of a pawn or disc."""
    draw_moves: int = Field(default=8, ge=1, le=100)
    """Agree to a draw only after this many consecutive moves with scores within `draw_score_centi` of 0."""
    draw_ply: int = Field(default=60, ge=0, le=1000)
    """Minimum length of a game, in plies, before we agree to a draw."""
    draw_min_rating: int = Field(default=0, ge=0, le=5000)
    """Agree to a draw with a person only if their rating is unknown or at least this; bots are exempt."""
    resign: bool = False
    """Whether to resign; off by default, because games that end early yield less data. With both ratings
    known, we resign only if we are expected to score less than 5 % against this opponent."""
    resign_score_centi: int = Field(default=900, ge=1, le=100_000)
    """Resign only if our scores are at least this far below 0, in hundredths of a pawn or disc."""
    resign_moves: int = Field(default=5, ge=1, le=100)
    """Resign only after this many consecutive moves with scores that meet `resign_score_centi`."""
    resign_min_rating: int = Field(default=0, ge=0, le=5000)
    """Resign only if the opponent's rating is unknown or at least this."""
    takebacks: int = Field(default=5, ge=0, le=1000)
    """Maximum number of takebacks granted to a person per casual game. We grant none to bots, in trial games,
    or in games whose strategy or moves are chosen at random."""
    takebacks_rated: bool = False
    """Whether to grant takebacks in rated games, too."""
    abort_after_s: float = Field(default=60.0, ge=0, le=3600)
    """Abort a real-time game if the opponent makes no first move within this many seconds; 0: never."""
    rematches: int = Field(default=0, ge=0, le=100)
    """Maximum number of consecutive rematches to offer a person after games with a clock; colours alternate.
    None are offered at the arena, whose page does not show challenges."""
    odds: tuple[str, ...] = ()
    """Odds that our own casual challenges and rematches may give when the ratings call for them, such as
    ["knight", "queen"]. For chess pawn, knight, rook, queen, queen+knight; for Othello 1-corner, 2-corners,
    3-corners; for xiangqi horse, cannon, 2-horses, chariot. Empty: none."""
    claim: Claim = Claim.VICTORY
    """What to claim when the opponent has left the game: victory, draw, or nothing."""

    @field_validator("odds")
    @classmethod
    def _known_odds(cls, odds: tuple[str, ...]) -> tuple[str, ...]:
        if unknown := sorted(set(odds) - set(ODDS_NAMES)):
            raise ValueError(f"{unknown[0]!r} is not known; known: {', '.join(ODDS_NAMES)}")
        return odds


class MatchmakingConfig(Section):
    """Challenges that our bot sends to other bots while idle."""

    enabled: bool = False
    """Whether to challenge other bots."""
    idle_s: float = Field(default=300.0, ge=10, le=86_400)
    """Seconds to wait without a game before sending a challenge, and between challenges."""
    variants: tuple[Name, ...] = ("standard",)
    """Variants to propose, named as on the site; one is chosen at random."""
    clocks: tuple[str, ...] = ("180+2", "300+3")
    """Clocks to propose, as initial seconds and increment; one is chosen at random."""
    rated: bool = True
    """Whether to propose rated games."""
    min_rating: int = Field(default=0, ge=0, le=5000)
    """Minimum rating of the other bot."""
    max_rating: int = Field(default=5000, ge=0, le=5000)
    """Maximum rating of the other bot."""
    max_rating_difference: int = Field(default=5000, ge=0, le=5000)
    """Maximum difference between the other bot's rating and ours."""
    per_day: int = Field(default=30, ge=1, le=200)
    """Maximum number of challenges in 24 hours; lichess.org allows about 200 challenges to other bots."""
    pause_after_decline_s: float = Field(default=86_400.0, ge=0, le=2_592_000)
    """Minimum number of seconds before we challenge a bot again after it declined or did not answer."""
    block: tuple[Name, ...] = ()
    """Bots that we never challenge, by name or id."""

    @field_validator("clocks")
    @classmethod
    def _clocks_are_known(cls, clocks: tuple[str, ...]) -> tuple[str, ...]:
        for clock in clocks:
            parse_clock(clock)
        return clocks

    @model_validator(mode="after")
    def _something_to_ask_for(self) -> "MatchmakingConfig":
        if self.min_rating > self.max_rating:
            raise ValueError("min_rating is above max_rating")
        if not (self.variants and self.clocks):
            raise ValueError("variants or clocks is empty: there is nothing to propose")
        return self


def parse_clock(text: str) -> Clock:
    """Parse a clock of seconds and increment, for instance ``180+2``.

    Raises:
        ValueError: lichess.org does not allow this clock in a challenge.
    """
    match = re.fullmatch(r"(\d{1,5})\+(\d{1,2})", text)
    if match is None:
        raise ValueError(f"{text!r} is not of the form 180+2, in seconds")
    clock = Clock(int(match[1]), int(match[2]))
    is_usual = clock.initial_s in (0, 15, 30, 45, 60, 90) or clock.initial_s % 60 == 0
    if not is_usual or clock.initial_s > 10_800 or clock.increment_s > 60:
        raise ValueError(f"{text!r}: must begin with 0, 15, 30, 45, 60, 90 or full minutes up to 10800 s")
    if speed_of(clock) is Speed.ULTRABULLET:
        raise ValueError(f"{text!r} is too fast for bots")
    return clock


class GgsConfig(Section):
    """Settings for GGS only; `matchmaking` chooses opponents and games, as on other sites."""

    bots: tuple[Name, ...] = ()
    """Names of the GGS accounts that are bots; list them here because the site does not mark bots. They count
    as bots in the limits of `challenges`, and `matchmaking` challenges them."""
    public: bool = False
    """Whether `matchmaking` sends public requests when none of `bots` can be challenged."""
    extension_s: int = Field(default=120, ge=0, le=3600)
    """Overtime in games that we request, in seconds; a side that uses it loses by at least 2 discs."""


class ChatConfig(Section):
    """The bot's chat; placeholders: {opponent}, {bot}, {game}, {result}, {traps}, {fell}, {slips}."""

    enabled: bool = True
    """Whether the bot chats."""
    greeting: str = Field(default="Good luck, {opponent}! I am a program.", max_length=MAX_CHAT_LENGTH)
    """Message at the start of a game; empty: none. {result}, {traps}, {fell} and {slips} work only in the
    farewell."""
    farewell: str = Field(
        default="Good game, {opponent}! Traps set: {traps}, baits taken: {fell}; slips: {slips}.",
        max_length=MAX_CHAT_LENGTH,
    )
    """Message after a game, unless it was aborted; empty: none. {result} is won, lost, drawn or over
    (unknown), from the bot's point of view. Sentences with {traps} or {fell} are omitted if the strategy is
    not secret (see `trial.reveal`) and sets no traps."""
    spectators: str = Field(default="", max_length=MAX_CHAT_LENGTH)
    """Message to spectators at the start of a game; empty: none."""
    commands: bool = True
    """Whether to answer !help, !engine, !eval, !trap and !stats. During a game, !engine does not reveal the
    strategy, and !eval and !trap answer only spectators, and only if `spectator_commands` is true. While the
    strategy is secret (see `trial.reveal`), !eval and !trap reveal nothing to anybody."""
    spectator_commands: bool = False
    """Whether spectators may use !eval and !trap during a game. A spectator could be the opponent."""

    @field_validator("greeting", "farewell", "spectators")
    @classmethod
    def _placeholders_are_known(cls, text: str, info: ValidationInfo) -> str:
        known = FAREWELL_PLACEHOLDERS if info.field_name == "farewell" else GREETING_PLACEHOLDERS
        try:
            # No format specs either: "{opponent:>999999999}" would fill the memory.
            ok = all(
                name is None or (name in known and not form and not conversion)
                for _, name, form, conversion in Formatter().parse(text)
            )
        except ValueError:
            ok = False
        if not ok:
            names = ", ".join(f"{{{name}}}" for name in known)
            raise ValueError(f"the only placeholders here are {names}")
        return text


class ShutdownConfig(Section):
    """Shutdown on SIGINT or SIGTERM."""

    drain_s: float = Field(default=5.0, ge=0, le=86_400)
    """Seconds to wait for running games to end; unfinished games resume at the next start."""


class ControlConfig(Section):
    """Commands to the running program, such as `desdemona status` and `desdemona control reload`."""

    socket: str = ""
    """Path of the Unix socket for commands; empty: next to the SQLite database, or data/control.sock with
    PostgreSQL."""


class DashboardConfig(Section):
    """The operator's page, which shows what the bot is doing and whether its traps work, and has controls."""

    enabled: bool = True
    """Whether `desdemona run` serves the page."""
    host: str = Field(default="127.0.0.1", min_length=1)
    """Address to listen on. Any address other than 127.0.0.1, ::1 and localhost requires a token."""
    port: int = Field(default=8766, ge=0, le=65535)
    """Port to listen on; 0 means any free port. If the port is in use, the bot plays without the page."""
    public_url: WebAddress = ""
    """Public URL if the page is behind a proxy; requests for that host are also accepted. Empty: no proxy."""
    token_file: str = ""
    """File with the token (at least 16 characters) required to open the page; `openssl rand -hex 16` creates
    one. Or set the environment variable DESDEMONA_DASHBOARD__TOKEN. Without a token, anybody on this machine
    can open the page."""
    token: SecretStr = Field(default=SecretStr(""), exclude=True)
    """The token that opens the page; never in config.toml."""
    ask: bool = Field(default=False, exclude=True)
    """Ignored since 0.3.0: the page no longer answers questions in SQL; run `desdemona sql` instead."""
    ask_url: str = Field(default="", exclude=True)
    """Ignored, like `ask`."""


class AlarmsConfig(Section):
    """Alarms and how to notify the operator."""

    webhook: Annotated[str, AfterValidator(_web_address)] = ""
    """URL to which each alarm is sent as JSON when it starts to fire, every four hours while it fires, and
    when it clears; empty: none. Set a URL with a secret in the environment: DESDEMONA_ALARMS__WEBHOOK."""
    command: tuple[str, ...] = ()
    """Program and arguments, run without a shell when an alarm starts to fire, every four hours while it
    fires, and when it clears. The program receives the alarm as JSON on standard input, and its fields in the
    environment variables ALARM_NAME, ALARM_STATE, ALARM_SINCE, ALARM_TEXT, ALARM_CURE and ALARM_URL."""
    backup_folder: str = ""
    """Folder of backups; an alarm fires if the newest is older than `max_backup_age_h`; empty: no alarm."""
    max_backup_age_h: float = Field(default=26.0, gt=0, le=8784)
    """Maximum age of the newest backup, in hours."""
    losing_streak: int = Field(default=0, ge=0, le=1000)
    """An alarm fires when an account has lost this many games in a row; 0: never."""
    rating_drop: int = Field(default=0, ge=0, le=3000)
    """An alarm fires when a rating is at least this many points below its 30-day maximum; 0: never."""

    @field_validator("command")
    @classmethod
    def _command_names_a_program(cls, command: tuple[str, ...]) -> tuple[str, ...]:
        if command and not command[0]:
            raise ValueError("the program's name is empty")
        return command


class LogConfig(Section):
    """Logging."""

    level: Literal["DEBUG", "INFO", "WARNING", "ERROR"] = "INFO"
    """Minimum level of the messages to log."""
    format: Literal["text", "json"] = "text"
    """How to log each message: as a line of text, or as a JSON object."""
    file: str = ""
    """Log file to append to; empty: standard error."""


class Config(BaseSettings):
    """All settings."""

    model_config = SettingsConfigDict(
        extra="forbid", frozen=True, env_prefix=ENV_PREFIX, env_nested_delimiter="__", env_ignore_empty=True
    )

    storage: StorageConfig = StorageConfig()
    arena: ArenaConfig = ArenaConfig()
    server: ServerConfig = ServerConfig()
    servers: ServersConfig = ServersConfig()
    engine: EngineConfig = EngineConfig()
    trap: TrapConfig = TrapConfig()
    human: HumanConfig = HumanConfig()
    randomised: RandomisedConfig = RandomisedConfig()
    uci: UciConfig = UciConfig()
    online: OnlineConfig = OnlineConfig()
    assignment: AssignmentConfig = AssignmentConfig()
    trial: TrialConfig = TrialConfig()
    challenges: ChallengesConfig = ChallengesConfig()
    manners: MannersConfig = MannersConfig()
    matchmaking: MatchmakingConfig = MatchmakingConfig()
    ggs: GgsConfig = GgsConfig()
    chat: ChatConfig = ChatConfig()
    shutdown: ShutdownConfig = ShutdownConfig()
    control: ControlConfig = ControlConfig()
    dashboard: DashboardConfig = DashboardConfig()
    alarms: AlarmsConfig = AlarmsConfig()
    log: LogConfig = LogConfig()
    accounts: tuple[AccountConfig, ...] = ()
    """Empty: `server` is the only account."""
    _old_names: tuple[str, ...] = PrivateAttr(default=())

    @property
    def notices(self) -> tuple[str, ...]:
        """A notice, with the new name, for each setting in use under its name from the previous release."""
        return self._old_names

    @classmethod
    def settings_customise_sources(
        cls,
        settings_cls: type[BaseSettings],  # noqa: ARG003  (the signature is pydantic's)
        init_settings: PydanticBaseSettingsSource,
        env_settings: PydanticBaseSettingsSource,
        dotenv_settings: PydanticBaseSettingsSource,  # noqa: ARG003
        file_secret_settings: PydanticBaseSettingsSource,  # noqa: ARG003
    ) -> tuple[PydanticBaseSettingsSource, ...]:
        """The environment takes precedence over the file, whose values are the constructor's arguments."""
        if isinstance(env_settings, EnvSettingsSource):
            env_settings.env_vars, _ = rename_variables(env_settings.env_vars, ENV_PREFIX)
        return env_settings, init_settings

    def by_account(self) -> dict[str, "Config"]:
        """The settings of each account, as if it were the only account, keyed by name.

        Raises:
            ConfigError: A table has an unknown or invalid setting, or an account has the name of a bot of
                `arena.levels` or `arena.like`.
        """
        accounts = {account.name: self._of(account) for account in self.accounts}
        accounts = accounts or {self.server.dialect: self}
        partners = self._partners()
        names = {name.casefold(): name for name in partners}
        for account, config in accounts.items():
            for name in (account, config.server.name if config.uses_arena else ""):
                if taken := names.get(name.casefold()):
                    setting = "levels" if taken in self._levels() else "like"
                    raise ConfigError(
                        f"account {account}: a bot of arena.{setting} already has the name {taken}; "
                        "choose another name, or remove that number"
                    )
        return accounts | partners

    @property
    def partner_names(self) -> tuple[str, ...]:
        """Names of the accounts of the bots that `arena.levels` and `arena.like` add."""
        return tuple(self._partners())

    def _partners(self) -> dict[str, "Config"]:
        return self._levels() | self._likes()

    def _levels(self) -> dict[str, "Config"]:
        """The settings of the arena's level bots, keyed by name."""
        return {
            f"Level-{number}": self._partner(f"Level-{number}", strategy=GENTLE.name, level=number)
            for number in self.arena.levels
        }

    def _likes(self) -> dict[str, "Config"]:
        """The settings of the bots that imitate people, keyed by name; their greeting says so."""
        partners = {}
        for rating in self.arena.like:
            name = f"Like-{rating}"
            partner = self._partner(name, strategy=LIKE.name, like_rating=rating)
            chat = self.chat.model_copy(update={"greeting": LIKE_GREETING.replace("{rating}", str(rating))})
            partners[name] = partner.model_copy(update={"chat": chat})
        return partners

    def _partner(self, name: str, **assignment: Any) -> "Config":
        fixed = AssignmentConfig(method=AssignmentMethod.FIXED, **assignment)
        update = {
            "server": ServerConfig(name=name),
            "accounts": (),
            "assignment": fixed,
            "matchmaking": MatchmakingConfig(),
        }
        return self.model_copy(update=update)

    def _of(self, account: AccountConfig) -> "Config":
        changes: dict[str, Any] = {"server": account.server(), "accounts": ()}
        for name in ACCOUNT_SECTIONS:
            common: Section = getattr(self, name)
            try:
                known = {key: getattr(common, key) for key in common.model_fields_set}
                changes[name] = type(common).model_validate({**known, **getattr(account, name)})
            except ValidationError as error:
                first = error.errors()[0]
                problem = _error_text({**first, "loc": (name, *first["loc"])})
                raise ConfigError(f"account {account.name}: {problem}") from None
        return self.model_copy(update=changes)

    @property
    def control_socket(self) -> Path:
        """Path of the socket on which the running program listens for commands."""
        if self.control.socket:
            return Path(self.control.socket)
        sqlite = "sqlite:///"
        if self.storage.url.startswith(sqlite):
            return Path(self.storage.url.removeprefix(sqlite) + ".control")
        return Path("data/control.sock")

    @property
    def uses_arena(self) -> bool:
        """Whether the bot plays at the embedded arena; only for one account's settings (see `by_account`)."""
        return self.server.dialect == "arena" and not self.server.url


def token_variable(account: str) -> str:
    """The environment variable that may hold the token of one of several accounts."""
    return TOKEN_PREFIX + account.upper().replace("-", "_")


def choose_accounts(config: Config, only: Collection[str]) -> dict[str, Config]:
    """The settings of the chosen accounts, keyed by name.

    Args:
        config: All settings.
        only: Names of the accounts, ignoring case; empty for all accounts.

    Raises:
        ConfigError: A name matches no account.
    """
    configs = config.by_account()
    wanted = {name.casefold() for name in only}
    chosen = {name: each for name, each in configs.items() if not only or name.casefold() in wanted}
    if len(chosen) < len(wanted):
        raise ConfigError(f"no such account; known: {', '.join(configs)}")
    return chosen


def config_source(path: Path | None) -> str:
    """Describe for the operator what `load_config` reads when called with this path."""
    if path is None and not Path("config.toml").exists():
        return f"defaults (no config.toml in {Path.cwd()}) and environment"
    return f"{(path or Path('config.toml')).absolute()} and environment"


def load_config(path: Path | None = None) -> Config:
    """Read all settings.

    Args:
        path: The file; None for config.toml in the working directory, or the defaults if it is missing.

    Raises:
        ConfigError: A setting is invalid; the one-line message has its name, source and allowed values.
    """
    if path is None and Path("config.toml").exists():
        path = Path("config.toml")
    values = {} if path is None else _read_config_file(path)
    try:
        values, used = rename_settings(values)
    except ValueError as error:
        raise ConfigError(f"{path}: {error}") from None
    given = values.get("accounts")
    tables = [each for each in given if isinstance(each, Mapping)] if isinstance(given, list) else []
    if any("token" in each for each in tables):
        raise ConfigError(
            f"{path}: accounts: a token does not belong in this file; set {TOKEN_PREFIX}NAME or token_file"
        )
    for section in ("server", "dashboard"):
        if "token" in _table(values, section):
            raise ConfigError(
                f"{path}: {section}.token does not belong in this file; "
                f"set {_variable(section, 'token')} or {section}.token_file"
            )
    _refuse_unknown_environment_variables()
    try:
        config = Config(**values)
    except SettingsError as error:
        raise ConfigError(f"environment: {error.__cause__ or error} (lists are written as JSON)") from error
    except ValidationError as error:
        first = error.errors()[0]
        raise ConfigError(f"{_setting_source(first['loc'], path)}: {_error_text(first)}") from None
    _refuse_unknown_tokens(config)
    _refuse_equal_accounts(config)
    try:
        accounts = config.by_account()
    except ConfigError as error:
        raise ConfigError(f"{path}: {error}") from None
    for name, each in accounts.items():
        try:
            _check_account_config(each)
        except ConfigError as error:
            raise ConfigError(f"account {name}: {error}" if config.accounts else str(error)) from None
    used |= rename_variables(os.environ, ENV_PREFIX)[1]
    config._old_names = tuple(map(rename_notice, sorted(used)))
    return config


def _check_account_config(config: Config) -> None:
    """Check the consistency of one account's settings."""
    if config.uses_arena and not config.arena.enabled:
        raise ConfigError("server.url is empty and arena.enabled is false: there is no server to play on")
    _refuse_missing_engines(config)
    _refuse_unknown_variants(config)


def _refuse_missing_engines(config: Config) -> None:
    assignment, games = config.assignment, config.challenges.games
    chosen: list[tuple[str, str, Sequence[str]]] = []
    if assignment.method is AssignmentMethod.BALANCED:
        chosen += [("assignment.strategies", each, games) for each in assignment.strategies]
    elif assignment.method is not AssignmentMethod.FULL_STRENGTH:
        chosen += [("assignment.strategy", assignment.strategy, games)]
    if assignment.method is AssignmentMethod.RULES:
        for number, rule in enumerate(assignment.rules):
            if rule.game and rule.strategy not in (kinds := strategies_for(rule.game)):
                players = " and ".join(kinds)
                raise ConfigError(f"assignment.rules.{number}: only {players} can play {rule.game}")
            chosen += [(f"assignment.rules.{number}", rule.strategy, [rule.game] if rule.game else games)]
    known = {engine.game for engine in config.uci.engines}
    wanted = [("challenges.variants", game) for game in games]
    if config.matchmaking.enabled:
        rows = DIALECTS[config.server.dialect].variants
        requested = [rows[key].game for key in config.matchmaking.variants if key in rows]
        wanted += [("matchmaking.variants", game) for game in requested]
    for key, game in wanted:
        if game in ENGINE_GAMES and game not in known:
            raise ConfigError(f"{key}: {game} needs another engine, and uci.engines has none for it")
    for key, player, of in chosen:
        missing = [game for game in of if game not in known]
        if strategy_named(player).asks_engine and missing:
            raise ConfigError(
                f"{key}: {player} needs an engine for {missing[0]}, and uci.engines has none; "
                "use assignment.rules to choose it only for games that have one"
            )


def _refuse_unknown_variants(config: Config) -> None:
    """Check the variants for matchmaking, if it is on."""
    # Excludes games from a position, because a challenge would need the position, too.
    variants = DIALECTS[config.server.dialect].variants
    known = [key for key, variant in variants.items() if variant.kind != FROM_POSITION]
    unknown = [key for key in config.matchmaking.variants if key not in known]
    if config.matchmaking.enabled and unknown:
        raise ConfigError(
            f"matchmaking.variants: {config.server.dialect} allows no challenges in {unknown[0]!r}; "
            f"known: {', '.join(known)}"
        )
    for key in config.matchmaking.variants if config.matchmaking.enabled else ():
        if variants[key].boards > config.challenges.max_games:
            raise ConfigError(
                f"matchmaking.variants: {key} is {variants[key].boards} simultaneous games, but "
                f"challenges.max_games is {config.challenges.max_games}"
            )


def read_token(config: ServerConfig) -> str:
    """Return the token for a server other than the embedded arena.

    Raises:
        ConfigError: There is no token, or its file cannot be read.
    """
    if token := config.token.get_secret_value().strip():
        return token
    if not config.token_file:
        raise ConfigError(
            f"{config.url or config.dialect} needs a token: "
            f"set {config.token_variable} or {config.token_setting}_file"
        )
    return _read_token_file(config.token_file, f"{config.token_setting}_file")


def read_dashboard_token(config: DashboardConfig) -> str:
    """Return the token that opens the dashboard; empty if there is none.

    Raises:
        ConfigError: The token's file cannot be read or is empty, the token is too short, or there is no
            token although other machines can reach the dashboard.
    """
    token = config.token.get_secret_value().strip()
    if not token and config.token_file:
        token = _read_token_file(config.token_file, "dashboard.token_file")
    if not token.isprintable():  # a byte in the environment that is no UTF-8, for instance
        raise ConfigError("dashboard.token: contains characters that cannot be sent")
    if token and len(token) < MIN_TOKEN_LENGTH:
        raise ConfigError(f"dashboard.token: a token needs at least {MIN_TOKEN_LENGTH} characters")
    remedy = "set DESDEMONA_DASHBOARD__TOKEN or dashboard.token_file"
    if not token and not is_loopback(config.host):
        raise ConfigError(
            f"dashboard.host: {config.host} is not a loopback address, so the page needs a token: {remedy}"
        )
    if not token and config.public_url:
        raise ConfigError(f"dashboard.public_url: a page for other machines needs a token: {remedy}")
    return token


def is_loopback(host: str) -> bool:
    """Whether an address can be reached only from this machine."""
    if host.lower() == "localhost":
        return True
    try:
        return ip_address(host).is_loopback
    except ValueError:
        return False


def _read_token_file(file: str, setting: str) -> str:
    try:
        token = read_regular(Path(file), MAX_CONFIG_BYTES).decode("utf-8-sig").strip()
    except (OSError, ValueError) as error:
        raise ConfigError(f"{setting}: cannot read {file}: {error}") from None
    if not token:
        raise ConfigError(f"{setting}: {file} is empty")
    return token


def _read_config_file(path: Path) -> dict[str, Any]:
    try:
        return tomllib.loads(read_regular(path, MAX_CONFIG_BYTES).decode("utf-8-sig"))
    except OSError as error:
        raise ConfigError(f"cannot read the configuration {path}: {error.strerror}") from None
    except (ValueError, RecursionError) as error:
        raise ConfigError(f"{path}: not a TOML file: {error}") from None


def _table(values: Mapping[str, Any], section: str) -> Mapping[str, Any]:
    table = values.get(section, {})
    return table if isinstance(table, Mapping) else {}


def _variable(*loc: object) -> str:
    return ENV_PREFIX + "__".join(str(part) for part in loc).upper()


def sections() -> dict[str, type[Section]]:
    """All tables of config.toml in order, keyed by name."""
    return {
        name: field.annotation
        for name, field in Config.model_fields.items()
        if isinstance(field.annotation, type) and issubclass(field.annotation, Section)
    }


NOT_SETTINGS = {f"{ENV_PREFIX}UNIT"}
"""Environment variables with our prefix that are not settings; UNIT selects the C++ core's instructions."""


def _refuse_unknown_environment_variables() -> None:
    known = (
        NOT_SETTINGS
        | {_variable(section) for section in Config.model_fields}
        | {_variable(section, key) for section, model in sections().items() for key in model.model_fields}
    )
    for name in sorted(os.environ):
        if name.upper().startswith(TOKEN_PREFIX):
            continue  # `_refuse_unknown_tokens`
        new = [each.upper() for each in rename_variables({name: ""}, ENV_PREFIX)[0]]
        if name.upper().startswith(ENV_PREFIX) and not known.issuperset(new):
            raise ConfigError(
                f"environment: {name} is not a setting; settings look like {_variable('engine', 'max_depth')}"
            )


def _refuse_unknown_tokens(config: Config) -> None:
    known = [token_variable(account.name) for account in config.accounts]
    for name in sorted(os.environ):
        if name.upper().startswith(TOKEN_PREFIX) and name not in known:
            raise ConfigError(f"environment: {name}: no such account; known: {', '.join(known) or 'none'}")


def _refuse_equal_accounts(config: Config) -> None:
    if config.accounts and config.server != ServerConfig():
        raise ConfigError("[server] and [[accounts]] cannot be combined: make [server] one of the accounts")
    # As in the names of environment variables, which know neither case nor hyphens.
    names = Counter(token_variable(account.name) for account in config.accounts)
    logins = Counter(_login_of(account) for account in config.accounts)
    for account in config.accounts:
        if names[token_variable(account.name)] > 1 or logins[_login_of(account)] > 1:
            raise ConfigError(f"accounts: {account.name} occurs twice")


def _login_of(account: AccountConfig) -> tuple[str, str, str]:
    """Return the settings that identify an account; no two accounts may share all of them."""
    names_account = account.dialect in ("arena", "ggs")
    name = (account.login if names_account else "") or account.name
    return account.dialect, account.url, name.casefold()


def _error_text(error: ErrorDetails) -> str:
    loc = error["loc"]
    key = ".".join(str(part) for part in loc)
    if error["type"] == "extra_forbidden":
        return f"{key} is not a setting; known here: {', '.join(_known_settings(loc))}"
    message = error["msg"].removeprefix("Value error, ")
    given = error["input"]
    is_secret = key in ("storage.url", "server.token", "dashboard.ask_url")
    shown = "" if is_secret or not isinstance(given, (str, int, float)) else f" (it is {given!r})"
    return f"{key}: {message}{shown}"


def _setting_source(loc: tuple[int | str, ...], path: Path | None) -> str:
    """The source of a value; names both the file and the variables if the value combines them."""
    set_here = {name.upper() for name in os.environ}
    for variable in (_variable(*loc[:2]), _variable(loc[0])):
        if variable in set_here:
            return f"environment variable {variable}"
    file = str(path or "the defaults")
    if len(loc) > 1:
        return file
    return ", ".join([file, *sorted(name for name in set_here if name.startswith(f"{_variable(loc[0])}__"))])


def _known_settings(loc: tuple[int | str, ...]) -> list[str]:
    if len(loc) == 1:
        return list(Config.model_fields)
    if loc[0] == "accounts":
        return list(AccountConfig.model_fields)
    rows: dict[str, type[Section]] = {"assignment": AssignmentRule, "uci": UciEngine, "engine": OpeningBook}
    model = rows[str(loc[0])] if len(loc) > 2 else sections()[str(loc[0])]
    return [key for key, field in model.model_fields.items() if not field.exclude]
