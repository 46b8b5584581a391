"""Parses player specifications: ``strong:time=0.1``, ``uci:stockfish; option.Threads=1``."""

import shlex
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace
from enum import Enum, auto
from typing import Any

from bot.base.errors import DesdemonaError
from engine.errors import BadSettings
from engine.games import ENGINE_GAMES, GAMES
from engine.human.registry import ModelSettings
from engine.human.shallow import ShallowOptions
from engine.lookup.registry import ROOT_SOURCES
from engine.params import Assessment, Decided, Scale, TrapParams, ValueParams, ValueScale
from engine.protocols.score_settings import PROTOCOLS, UCI_GAMES, EngineSettings, MoveLimit
from engine.protocols.settings import PROTOCOL_GAMES, STOPPABLE
from engine.strategies.registry import STRATEGIES, strategy_named
from engine.strategies.strategy import Strategy

HUMAN = "human"
"""Simulated people: not one of our players, but one to play against."""

_OURS_EXAMPLE = "trappy:depth=8,assessment=last"
_ENGINE_EXAMPLE = "standard_uci:engine=stockfish,depth=12,option.Threads=1"
_UCCI_GAME = "xiangqi"
_OTHERS_EXAMPLE = "uci:PROGRAM ARGUMENTS; option.Threads=1; time=0.1"


class MatchError(DesdemonaError):
    """A match cannot be played as requested, or cannot go on; the message says why."""


@dataclass(frozen=True, slots=True, kw_only=True)
class OurSpec:
    """One of our own players."""

    text: str
    """The text as typed, without surrounding blanks."""
    kind: Strategy
    depth: int | None = None
    """Deepest search in plies; replaces the match's limits."""
    move_s: float | None = None
    """Seconds for a move; replaces the match's limits."""
    cpu_s: float | None = None
    """Seconds of processor time for a move, all threads together; likewise."""
    nodes: int | None = None
    """Positions to visit for a move; likewise."""
    params: TrapParams = field(default_factory=TrapParams)
    table_mb: int = 64
    confidence_percent: int = 73
    threads: int = 1
    contempt_centi: int = 0
    sources: tuple[tuple[str, str], ...] = ()
    """The strong player's books and tables: names in `ROOT_SOURCES`, and paths."""
    people: ModelSettings = field(default_factory=ModelSettings)
    """Models of people, and the risk limits for relying on them."""
    rating: int | None = None
    """The opponent's rating that the models receive; None: unknown."""
    engine: EngineSettings | None = None
    """The other engine of a player that needs one, as if for chess (`engine_for`)."""

    def engine_for(self, game_name: str) -> EngineSettings | None:
        """The settings of the other engine for a game.

        Raises:
            BadSettings: The engine cannot play it.
        """
        return None if self.engine is None else replace(self.engine, game=game_name)


@dataclass(frozen=True, slots=True, kw_only=True)
class OtherSpec:
    """Another program."""

    text: str
    """The text as typed, without surrounding blanks."""
    kind: str
    """The protocol, one of `PROTOCOL_GAMES`."""
    command: tuple[str, ...]
    depth: int | None = None
    move_s: float | None = None
    cpu_s: float | None = None
    nodes: int | None = None
    name: str | None = None
    """The opponent's name in the database; None: the text."""
    directory: str | None = None
    """The program's working directory; None: the current one."""
    silence_s: float = 30.0
    """Without a time limit: seconds without output after which the program counts as hung."""
    longest_s: float = 3600.0
    """Without a time limit: seconds after which the program counts as hung, whatever it prints."""
    options: tuple[tuple[str, str], ...] = ()
    """Names and values of the options to set."""


@dataclass(frozen=True, slots=True, kw_only=True)
class HumanSpec:
    """Simulated people: each move is drawn from the predictions of a human-move model."""

    text: str
    """The text as typed, without surrounding blanks."""
    kind: str = HUMAN
    model: str | None = None
    """The model's file or folder; None: the bundled model, or the shallow guess."""
    rating: int | None = None
    """The simulated people's rating, for models that use ratings."""
    temperature: float = 1.0
    """Probabilities are raised to 1 / temperature: below 1 the likeliest moves become likelier still; at 0
    only the likeliest is played."""
    shallow: ShallowOptions | None = None
    """The shallow search of these people when no model predicts their moves (`engine.human.shallow`); None: a
    model does,
    or the estimate with its defaults."""
    name: str | None = None
    """The opponent's name in the database; None: the text."""
    depth: int | None = None
    move_s: float | None = None
    cpu_s: float | None = None
    nodes: int | None = None
    """These four are ignored: there is no search."""


PlayerSpec = OurSpec | OtherSpec | HumanSpec


def known_kinds() -> tuple[str, ...]:
    """Players of our own; a level belongs to a game with people."""
    return tuple(name for name, strategy in STRATEGIES.items() if not strategy.has_level)


def parse_spec(text: str) -> PlayerSpec:
    """Parse a player's specification.

    ::

        KIND[:KEY=VALUE,KEY=VALUE...]           KIND: standard, trappy, strong, opponent_model, calibrated,
                                                tempting
        KIND:engine=COMMAND[,KEY=VALUE...]      KIND: trappy_uci, standard_uci, opponent_model_uci, ...
        human[:KEY=VALUE,KEY=VALUE...]
        PROTOCOL:COMMAND[; KEY=VALUE]...        PROTOCOL: nboard, gtp, uci, ucci

    The command is split by a shell's rules but without a shell; a semicolon ends it.  docs/matches.md lists
    the keys.

    Raises:
        MatchError: The text is not a specification; the message says what is wrong.
    """
    text = text.strip()
    kind, _, rest = text.partition(":")
    if kind in known_kinds():
        return _ours(text, strategy_named(kind), rest)
    if kind == HUMAN:
        return _human(text, rest)
    if kind in PROTOCOL_GAMES:
        return _other(text, kind, rest)
    known = ", ".join((*known_kinds(), HUMAN, *PROTOCOL_GAMES))
    raise MatchError(
        f"player {text!r}: {kind!r} is not known; known: {known}; write {_OURS_EXAMPLE!r} or "
        f"{_OTHERS_EXAMPLE!r}, for instance"
    )


def game_of(a: PlayerSpec, b: PlayerSpec, wanted: str | None) -> str:
    """The name of the game that two players play.

    Args:
        wanted: The requested game; None: the default game of the other programs' protocols, else Othello.

    Raises:
        MatchError: The two players cannot both play it.
    """
    others = [spec for spec in (a, b) if isinstance(spec, OtherSpec)]
    engines = [spec.engine for spec in (a, b) if isinstance(spec, OurSpec) and spec.engine is not None]
    usual = UCI_GAMES[0] if engines else "othello"
    name = wanted or next((PROTOCOL_GAMES[spec.kind][0] for spec in others), usual)
    protocols = [spec.kind for spec in others] + [engine.protocol for engine in engines]
    if wanted is None and "ucci" in protocols:
        name = _UCCI_GAME  # UCCI, unlike the other protocols, leaves no choice
    if name not in GAMES:
        raise MatchError(f"no game named {name!r}; known: {', '.join(GAMES)}")
    for spec in others:
        games = PROTOCOL_GAMES[spec.kind]
        if name not in games:
            raise MatchError(
                f"player {spec.text!r}: {spec.kind} is for {' and '.join(games)}, not for {name}"
            )
    if len(others) < 2 and name in ENGINE_GAMES:
        raise MatchError(f"{name} needs another engine's scores and is not available in matches")
    for ours in (a, b):
        if isinstance(ours, OurSpec):
            try:
                ours.engine_for(name)
            except BadSettings as error:
                raise MatchError(f"player {ours.text!r}: {error}") from None
            for key, _ in ours.sources:
                known = ROOT_SOURCES[key][0]
                if known != name:
                    raise MatchError(f"player {ours.text!r}: {key} is for {known}, not for {name}")
    return name


def _ours(text: str, kind: Strategy, rest: str) -> OurSpec:
    values = _values(text, rest.split(",") if rest.strip() else [])
    parts: dict[_Part, dict[str, Any]] = {part: {} for part in _Part}
    for key, value in values.items():
        setting = _field_of(kind, key)
        if setting is None:
            raise MatchError(f"player {text!r}: {key!r} is not known; known: {', '.join(_known(kind))}")
        parts[setting.part][setting.name] = _read(text, key, value, setting.read)
    spec = parts[_Part.SPEC]
    try:
        params, valued = TrapParams(**parts[_Part.PARAMS]), ValueParams(**parts[_Part.VALUE])
    except BadSettings as error:
        raise MatchError(f"player {text!r}: {error}") from None
    _check_limits(text, spec)
    if kind.asks_engine and "cpu_s" in spec:
        raise MatchError(
            f"player {text!r}: cpu cannot limit a player on another engine, which must finish its searches; "
            "give depth, and the result says what its moves cost"
        )
    for key in values:
        if key in _OUR_FIELDS and not _OUR_FIELDS[key].audience.fits(kind):
            raise MatchError(f"player {text!r}: {key} is for {_OUR_FIELDS[key].audience.text}")
    engine = {**parts[_Part.ENGINE], "options": tuple(parts[_Part.OPTIONS].items())}
    return OurSpec(
        text=text,
        kind=kind,
        params=params,
        sources=tuple(parts[_Part.SOURCES].items()),
        people=ModelSettings(**parts[_Part.PEOPLE], value=valued),
        engine=_engine(text, engine, spec.get("depth")) if kind.asks_engine else None,
        **spec,
    )


def _field_of(kind: Strategy, key: str) -> "_Field | None":
    """The setting behind a key for a player of this kind; None: unknown."""
    if kind.asks_engine and key.startswith("option."):
        return _Field(_Part.OPTIONS, key.removeprefix("option."), str)
    if kind.asks_engine and key in _ENGINE_KEYS:
        return _Field(_Part.ENGINE, *_ENGINE_KEYS[key])
    return _OUR_FIELDS.get(key)


def _known(kind: Strategy) -> list[str]:
    """The keys of players of this kind."""
    known = [key for key, each in _OUR_FIELDS.items() if each.audience.fits(kind)]
    if kind.asks_engine:
        known = [key for key in known if key not in _STOPPABLE_KEYS]
        known += [*_ENGINE_KEYS, "option.NAME"]
    return known


def _engine(text: str, found: dict[str, Any], depth: int | None) -> EngineSettings:
    if "command" not in found:
        raise MatchError(f"player {text!r}: engine is missing; write {_ENGINE_EXAMPLE!r}, for instance")
    game = _UCCI_GAME if found.get("protocol") == "ucci" else UCI_GAMES[0]
    given = dict(found)
    if depth is not None:
        given["depth"] = depth
    try:
        return EngineSettings(game=game, **given)
    except BadSettings as error:
        raise MatchError(f"player {text!r}: {error}") from None


def _human(text: str, rest: str) -> HumanSpec:
    found, shallow = {}, {}
    for key, value in _values(text, rest.split(",") if rest.strip() else []).items():
        if key in _SHALLOW_KEYS:
            shallow[key] = _read(text, key, value, _SHALLOW_KEYS[key])
        elif key in _HUMAN_KEYS:
            found[key] = _read(text, key, value, _HUMAN_KEYS[key])
        else:
            known = ", ".join((*_HUMAN_KEYS, *_SHALLOW_KEYS))
            raise MatchError(f"player {text!r}: {key!r} is not known; known: {known}")
    if not shallow:
        return HumanSpec(text=text, **found)
    if "model" in found:
        raise MatchError(f"player {text!r}: {next(iter(shallow))} is for people without a model")
    try:
        return HumanSpec(text=text, shallow=ShallowOptions(**shallow), **found)
    except BadSettings as error:
        raise MatchError(f"player {text!r}: {error}") from None


def _other(text: str, kind: str, rest: str) -> OtherSpec:
    command, *parts = rest.split(";")
    try:
        words = tuple(shlex.split(command))
    except ValueError as error:
        raise MatchError(f"player {text!r}: the command cannot be read: {error}") from None
    if not words or not words[0]:
        raise MatchError(f"player {text!r}: there is no command; write {_OTHERS_EXAMPLE!r}, for instance")
    found: dict[str, Any] = {}
    options: list[tuple[str, str]] = []
    for key, value in _values(text, parts).items():
        if key.startswith("option."):
            options.append((key.removeprefix("option."), value))
        elif key in _OTHER_KEYS:
            name, read = _OTHER_KEYS[key]
            found[name] = _read(text, key, value, read)
        else:
            raise MatchError(
                f"player {text!r}: {key!r} is not known; known: {', '.join(_OTHER_KEYS)}, option.NAME"
            )
    if options and kind not in ("uci", "ucci"):
        raise MatchError(f"player {text!r}: {kind} has no options; give them to the program as arguments")
    _check_limits(text, found)
    for key, name in _STOPPABLE_KEYS.items():
        if name in found and kind not in STOPPABLE:
            raise MatchError(
                f"player {text!r}: {kind} cannot limit {_LIMITS[key]}: it has neither a limit of nodes nor a "
                "command that ends a search with a move; give time or depth, and the result says what its "
                "moves cost"
            )
    return OtherSpec(text=text, kind=kind, command=words, options=tuple(options), **found)


def _check_limits(text: str, found: dict[str, Any]) -> None:
    """Check that at most one limit was given, except for a time with a depth.

    Raises:
        MatchError: Two were given that exclude each other.
    """
    given = [key for key in _LIMITS if _OTHER_KEYS[key][0] in found]
    if len(given) > 1 and given != ["depth", "time"]:
        raise MatchError(f"player {text!r}: {' and '.join(given)} limit the same move; give one of them")


def _values(text: str, parts: list[str]) -> dict[str, str]:
    values: dict[str, str] = {}
    for part in parts:
        key, sign, value = part.partition("=")
        key, value = key.strip(), value.strip()
        if not sign or not key or (not value and not key.startswith("option.")):
            raise MatchError(f"player {text!r}: {part.strip()!r} is not KEY=VALUE")
        if key in values:
            raise MatchError(f"player {text!r}: {key} is given twice")
        values[key] = value
    return values


def _read(text: str, key: str, value: str, read: Callable[[str], Any]) -> Any:
    try:
        return read(value)
    except ValueError as error:
        raise MatchError(f"player {text!r}: {key} is {value!r}: {error}") from None


def _whole(least: int, most: int) -> Callable[[str], int]:
    def read(value: str) -> int:
        if not value.isdecimal() or not least <= int(value) <= most:
            raise ValueError(f"it must be a whole number from {least} to {most}")
        return int(value)

    return read


def _seconds(value: str) -> float:
    try:
        seconds = float(value)
    except ValueError:
        seconds = 0.0
    if not 0 < seconds <= 86_400:
        raise ValueError("it must be a number of seconds above 0")
    return seconds


def _number(value: str) -> float:
    try:
        return float(value)
    except ValueError:
        raise ValueError("it must be a number") from None


def _temperature(value: str) -> float:
    if not 0 <= _number(value) <= 100:  # nor NaN
        raise ValueError("it must be 0 to 100")
    return _number(value)


def _command(value: str) -> tuple[str, ...]:
    words = tuple(shlex.split(value))
    if not words or not words[0]:
        raise ValueError("there is no command")
    return words


def _protocol(value: str) -> str:
    if value not in PROTOCOLS:
        raise ValueError(f"it must be one of {', '.join(PROTOCOLS)}")
    return value


def _confidence(value: str) -> int:
    if value not in ("73", "87", "95", "99", "100"):
        raise ValueError("it must be 73, 87, 95, 99 or 100")
    return int(value)


_LARGE = 10**6
_nodes = _whole(1, 10**12)
_LIMITS = {"depth": "depth", "time": "time", "cpu": "processor time", "nodes": "nodes"}
"""Keys that limit a move, with their fields."""
_STOPPABLE_KEYS = {"cpu": "cpu_s", "nodes": "nodes"}
"""Those that not every protocol has, with their fields."""
_OUR_KEYS: dict[str, tuple[str, Callable[[str], Any]]] = {
    "depth": ("depth", _whole(2, 120)),
    "time": ("move_s", _seconds),
    "cpu": ("cpu_s", _seconds),
    "nodes": ("nodes", _nodes),
    "table_mb": ("table_mb", _whole(1, 65_536)),
    "confidence": ("confidence_percent", _confidence),
    "threads": ("threads", _whole(1, 64)),
    "contempt_centi": ("contempt_centi", _whole(0, 1000)),
    "rating": ("rating", _whole(0, 5000)),
}
_TRAP_KEYS: dict[str, Callable[[str], Any]] = {
    "assessment": Assessment,
    "margin_centi": _whole(0, _LARGE),
    "decided": Decided,
    "threshold_percent": _number,
    "scale": Scale,
    "risk_percent": _number,
    "risk_share_percent": _number,
}
_MODEL_KEYS = {"model": "models", "calibrated": "calibrated"}
_VALUE_KEYS: dict[str, tuple[str, Callable[[str], Any]]] = {
    "budget_percent": ("budget_percent", _number),
    "share_percent": ("share_percent", _number),
    "least_percent": ("least_percent", _number),
    "value_scale": ("scale", ValueScale),
    "checkmate_centi": ("checkmate_centi", _whole(1, _LARGE)),
}
_ENGINE_KEYS: dict[str, tuple[str, Callable[[str], Any]]] = {
    "engine": ("command", _command),
    "protocol": ("protocol", _protocol),
    "limit": ("limit", MoveLimit),
    "nodes": ("nodes", _nodes),
    "window_centi": ("window_centi", _whole(0, 10_000)),
    "candidates": ("candidates", _whole(1, 500)),
}
_HUMAN_KEYS: dict[str, Callable[[str], Any]] = {
    "model": str,
    "rating": _whole(0, 5000),
    "temperature": _temperature,
    "name": str,
}
_SHALLOW_KEYS: dict[str, Callable[[str], Any]] = {
    "plies": _whole(0, 10),
    "percent": _number,
    "share_percent": _number,
}
_OTHER_KEYS: dict[str, tuple[str, Callable[[str], Any]]] = {
    "depth": ("depth", _whole(1, 1000)),
    "time": ("move_s", _seconds),
    "cpu": ("cpu_s", _seconds),
    "nodes": ("nodes", _nodes),
    "name": ("name", str),
    "dir": ("directory", str),
    "silence": ("silence_s", _seconds),
    "longest": ("longest_s", _seconds),
}


class _Part(Enum):
    """The parts of an `OurSpec` that keys set."""

    SPEC = auto()
    """A field of its own."""
    PARAMS = auto()
    PEOPLE = auto()
    VALUE = auto()
    """Of the people settings."""
    SOURCES = auto()
    ENGINE = auto()
    OPTIONS = auto()
    """Of the engine."""


@dataclass(frozen=True, slots=True)
class _Audience:
    """The kinds of players that have a key."""

    text: str
    fits: Callable[[Strategy], bool]


_ALL = _Audience("all players", lambda _kind: True)
_STRONG = _Audience("the strong player", lambda kind: kind.searches_selectively)
_LOOKING_UP = _Audience("the strong player and standard_uci", lambda kind: kind.looks_up)
_MODELLING = _Audience("players that model the opponent", lambda kind: kind.models_opponent)


@dataclass(frozen=True, slots=True)
class _Field:
    """The setting behind a key."""

    part: _Part
    name: str
    read: Callable[[str], Any]
    """Reads the value; raises ValueError."""
    audience: _Audience = _ALL


_AUDIENCES = {
    **dict.fromkeys(("confidence", "threads", "contempt_centi"), _STRONG),
    **dict.fromkeys(("rating", *_MODEL_KEYS, *_VALUE_KEYS), _MODELLING),
    **dict.fromkeys(ROOT_SOURCES, _LOOKING_UP),
}
_KEYS: Mapping[_Part, Mapping[str, tuple[str, Callable[[str], Any]]]] = {
    _Part.SPEC: _OUR_KEYS,
    _Part.PARAMS: {key: (key, read) for key, read in _TRAP_KEYS.items()},
    _Part.PEOPLE: {key: (name, lambda value: (value,)) for key, name in _MODEL_KEYS.items()},
    _Part.VALUE: _VALUE_KEYS,
    _Part.SOURCES: {key: (key, str) for key in ROOT_SOURCES},
}
_OUR_FIELDS = {
    key: _Field(part, name, read, _AUDIENCES.get(key, _ALL))
    for part, keys in _KEYS.items()
    for key, (name, read) in keys.items()
}
"""The keys of our players, except those for another engine."""
