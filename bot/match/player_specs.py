"""Parses player specifications: ``strong:time=0.1``, ``uci:stockfish; option.Threads=1``."""

import shlex
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from enum import Enum, auto
from typing import Any

from bot.base.errors import DesdemonaError
from engine.games import ENGINE_GAMES, GAMES
from engine.human.registry import ModelSettings
from engine.human.shallow import ShallowOptions
from engine.lookup.registry import ROOT_SOURCES
from engine.params import (
    Assessment,
    DecidedScores,
    ExploitParams,
    OpponentParams,
    OpponentScale,
    Scale,
    TrapParams,
)
from engine.protocols.score_settings import PROTOCOLS, UCI_GAMES, EngineSettings, MoveLimit
from engine.protocols.settings import PROTOCOL_GAMES, STOPPABLE_PROTOCOLS
from engine.strategies.registry import STRATEGIES, strategy_named
from engine.strategies.strategy import Strategy

HUMAN = "human"
"""The kind of player that simulates people; it is not one of our strategies."""

_OUR_PLAYER_EXAMPLE = "trappy:depth=8,assessment=last"
_ENGINE_EXAMPLE = "standard_uci:engine=stockfish,depth=12,option.Threads=1"
_UCCI_GAME = "xiangqi"
_EXTERNAL_PLAYER_EXAMPLE = "uci:PROGRAM ARGUMENTS; option.Threads=1; time=0.1"
_OPTION, _ANY_OPTION = "option.", "option.NAME"


class MatchError(DesdemonaError):
    """A match cannot be played as requested, or cannot continue; the message says why."""


@dataclass(frozen=True, slots=True, kw_only=True)
class OurSpec:
    """One of our own players."""

    text: str
    """The specification as typed, without surrounding blanks."""
    kind: Strategy
    depth: int | None = None
    """Maximum search depth in plies; replaces the match's limits."""
    move_s: float | None = None
    """Seconds per move; replaces the match's limits."""
    cpu_s: float | None = None
    """Seconds of processor time per move, over all threads; replaces the match's limits."""
    nodes: int | None = None
    """Number of positions to visit per move; replaces the match's limits."""
    params: TrapParams = field(default_factory=TrapParams)
    table_mb: int = 64
    confidence_percent: int = 73
    threads: int = 1
    contempt_centi: int = 0
    sources: tuple[tuple[str, str], ...] = ()
    """Books and tables for the strategy `strong`, as pairs of a name in `ROOT_SOURCES` and a path."""
    people: ModelSettings = field(default_factory=ModelSettings)
    """Models of people, and the risk limits for relying on them."""
    rating: int | None = None
    """The rating of the opponent or, for the strategy like, of the people it imitates, as an input to the
    models; None if unknown."""
    our_rating: int | None = None
    """Our rating, on the same scale: with both, exploit knows what a score is worth between the two."""
    exploit: ExploitParams = field(default_factory=ExploitParams)
    trust: float = 1.0
    """How far the strategy exploit believes its model of the opponent, from 0 to 1."""
    engine: EngineSettings | None = None
    """Settings of the player's external engine (see `engine_for`); None if the player needs no engine."""

    def engine_for(self, game_name: str) -> EngineSettings | None:
        """The settings of the external engine for a game.

        Raises:
            BadSettings: The engine cannot play the game.
        """
        return None if self.engine is None else replace(self.engine, game=game_name)


@dataclass(frozen=True, slots=True, kw_only=True)
class ExternalSpec:
    """Another program."""

    text: str
    """The specification as typed, without surrounding blanks."""
    kind: str
    """The protocol, one of `PROTOCOL_GAMES`."""
    command: tuple[str, ...]
    depth: int | None = None
    move_s: float | None = None
    cpu_s: float | None = None
    nodes: int | None = None
    name: str | None = None
    """The player's name in the database; `text` if None."""
    directory: str | None = None
    """The program's working directory; None for the current one."""
    response_timeout_s: float = 30.0
    """Seconds without output after which the program counts as hung; used only without a time limit."""
    longest_s: float = 3600.0
    """Seconds after which the program counts as hung despite output; used only without a time limit."""
    options: tuple[tuple[str, str], ...] = ()
    """Names and values of the options to set."""


@dataclass(frozen=True, slots=True, kw_only=True)
class HumanSpec:
    """Simulated people: each move is chosen at random with a human-move model's probabilities."""

    text: str
    """The specification as typed, without surrounding blanks."""
    kind: str = HUMAN
    model: str | None = None
    """The model's file or folder; None: the bundled model, or else an estimate from shallow searches."""
    rating: int | None = None
    """The simulated people's rating, for models that use ratings."""
    temperature: float = 1.0
    """Probabilities are raised to the power of 1 / temperature: temperatures below 1 favour probable moves;
    at 0, only the most probable move is played."""
    shallow: ShallowOptions | None = None
    """Options of the estimate that predicts these people's moves if there is no model
    (`engine.human.shallow`); None for the default options."""
    name: str | None = None
    """The player's name in the database; `text` if None."""
    depth: int | None = None
    move_s: float | None = None
    cpu_s: float | None = None
    nodes: int | None = None
    """Ignored, as are depth, move_s and cpu_s, because there is no search."""


PlayerSpec = OurSpec | ExternalSpec | HumanSpec


def known_kinds() -> tuple[str, ...]:
    """Our strategies that match players can use; strategies with levels are only for games with people."""
    return tuple(name for name, strategy in STRATEGIES.items() if not strategy.has_level)


def parse_spec(text: str) -> PlayerSpec:
    """Parse a player's specification.

    ::

        KIND[:KEY=VALUE,KEY=VALUE...]           KIND: standard, trappy, strong, exploit, trappy_strong,
                                                opponent_model, calibrated, tempting, like
        KIND:engine=COMMAND[,KEY=VALUE...]      KIND: trappy_uci, standard_uci, opponent_model_uci, ...
        human[:KEY=VALUE,KEY=VALUE...]
        PROTOCOL:COMMAND[; KEY=VALUE]...        PROTOCOL: nboard, gtp, uci, ucci

    The command is split into words as in a shell, but no shell runs; a semicolon ends the command.
    docs/matches.md lists the keys.

    Raises:
        MatchError: The specification is invalid; the message says what is wrong.
    """
    text = text.strip()
    kind, _, rest = text.partition(":")
    if kind in known_kinds():
        return _parse_our_spec(text, strategy_named(kind), rest)
    if kind == HUMAN:
        return _parse_human_spec(text, rest)
    if kind in PROTOCOL_GAMES:
        return _parse_external_spec(text, kind, rest)
    known = ", ".join((*known_kinds(), HUMAN, *PROTOCOL_GAMES))
    raise MatchError(
        f"player {text!r}: {kind!r} is not known; known: {known}; write {_OUR_PLAYER_EXAMPLE!r} or "
        f"{_EXTERNAL_PLAYER_EXAMPLE!r}, for instance"
    )


def game_of(a: PlayerSpec, b: PlayerSpec, wanted: str | None) -> str:
    """Choose the game for two players, and return its name.

    Args:
        wanted: The requested game; None for the default of the external engine's protocol, or else Othello.

    Raises:
        MatchError: The two players cannot both play the game.
    """
    others = [spec for spec in (a, b) if isinstance(spec, ExternalSpec)]
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
            with _spec_errors(ours.text):
                ours.engine_for(name)
            for key, _ in ours.sources:
                known = ROOT_SOURCES[key][0]
                if known != name:
                    raise MatchError(f"player {ours.text!r}: {key} is for {known}, not for {name}")
    return name


@contextmanager
def _spec_errors(text: str, key: str = "") -> Iterator[None]:
    """Report invalid values as a `MatchError` that names the player, and the key if there is one."""
    try:
        yield
    except ValueError as error:
        raise MatchError(f"player {text!r}: {f'{key}: ' * bool(key)}{error}") from None


class _Part(Enum):
    """The parts of a specification that keys can set."""

    SPEC = auto()
    """A field of the specification itself."""
    PARAMS = auto()
    PEOPLE = auto()
    VALUE = auto()
    """A field of `OpponentParams`."""
    EXPLOIT = auto()
    """A field of `ExploitParams`."""
    SOURCES = auto()
    SHALLOW = auto()
    ENGINE = auto()
    OPTIONS = auto()
    """An option of the external engine."""


@dataclass(frozen=True, slots=True)
class _Audience:
    """The kinds of players that accept a key."""

    text: str
    fits: Callable[[Strategy], bool]


@dataclass(frozen=True, slots=True)
class _Key:
    """The setting that a key changes."""

    read: Callable[[str], Any]
    """Parses the value; raises ValueError."""
    name: str = ""
    """Name of the field; empty if the field is named like the key."""
    part: _Part = _Part.SPEC
    audience: _Audience | None = None
    """Players that accept the key; None for all players."""


def _parse_our_spec(text: str, kind: Strategy, rest: str) -> OurSpec:
    settings = _settings(text, rest.split(","), _keys_of(kind), _OUR_KEYS)
    spec, engine = settings[_Part.SPEC], settings[_Part.ENGINE]
    if kind.asks_engine and "command" not in engine:
        raise MatchError(f"player {text!r}: engine is missing; write {_ENGINE_EXAMPLE!r}, for instance")
    engine |= {"depth": spec["depth"]} if "depth" in spec else {}
    game = _UCCI_GAME if engine.get("protocol") == "ucci" else UCI_GAMES[0]
    with _spec_errors(text):
        return OurSpec(
            text=text,
            kind=kind,
            params=TrapParams(**settings[_Part.PARAMS]),
            exploit=ExploitParams(**settings[_Part.EXPLOIT]),
            sources=tuple(settings[_Part.SOURCES].items()),
            people=ModelSettings(**settings[_Part.PEOPLE], value=OpponentParams(**settings[_Part.VALUE])),
            engine=EngineSettings(game=game, options=tuple(settings[_Part.OPTIONS].items()), **engine)
            if kind.asks_engine
            else None,
            **spec,
        )


def _parse_human_spec(text: str, rest: str) -> HumanSpec:
    settings = _settings(text, rest.split(","), _HUMAN_KEYS)
    shallow = settings[_Part.SHALLOW]
    if shallow and "model" in settings[_Part.SPEC]:
        raise MatchError(f"player {text!r}: {next(iter(shallow))} is only for people without a model")
    with _spec_errors(text):
        options = ShallowOptions(**shallow) if shallow else None
        return HumanSpec(text=text, shallow=options, **settings[_Part.SPEC])


def _parse_external_spec(text: str, kind: str, rest: str) -> ExternalSpec:
    command, *parts = rest.split(";")
    with _spec_errors(text):
        words = _command(command)
    settings = _settings(text, parts, _EXTERNAL_KEYS)
    spec, options = settings[_Part.SPEC], tuple(settings[_Part.OPTIONS].items())
    if options and kind not in ("uci", "ucci"):
        raise MatchError(f"player {text!r}: {kind} has no options; give them to the program as arguments")
    for name, limited in (("cpu_s", "processor time"), ("nodes", "nodes")):
        if name in spec and kind not in STOPPABLE_PROTOCOLS:
            raise MatchError(
                f"player {text!r}: {kind} cannot limit {limited}: it has neither a node limit nor a "
                "command that makes a search return its move; set time or depth; the result then reports "
                "how much its moves cost"
            )
    return ExternalSpec(text=text, kind=kind, command=words, options=options, **spec)


def _keys_of(kind: Strategy) -> Mapping[str, _Key]:
    """The keys that our players of a kind accept."""
    own = {key: each for key, each in _OUR_KEYS.items() if each.audience is None or each.audience.fits(kind)}
    return {**own, **_ENGINE_KEYS} if kind.asks_engine else own


def _settings(
    text: str, parts: Sequence[str], keys: Mapping[str, _Key], of_others: Mapping[str, _Key] | None = None
) -> dict[_Part, dict[str, Any]]:
    """Parse ``KEY=VALUE`` texts into values, keyed by part and field.

    Args:
        text: The whole specification, for messages.
        parts: The ``KEY=VALUE`` texts; a single blank string means that there are none.
        keys: The keys that the player accepts.
        of_others: Keys of all strategies, for error messages that say which strategy accepts a key.

    Raises:
        MatchError: A key is unknown or repeated, a value is invalid, or two limits exclude each other.
    """
    settings: dict[_Part, dict[str, Any]] = {part: {} for part in _Part}
    given: dict[str, str] = {}
    for part in parts if any(map(str.strip, parts)) else ():
        key, sign, value = (each.strip() for each in part.partition("="))
        is_option = key.startswith(_OPTION)
        if not sign or not key or (not value and not is_option):
            raise MatchError(f"player {text!r}: {part.strip()!r} is not KEY=VALUE")
        if key in given:
            raise MatchError(f"player {text!r}: {key} is set twice")
        given[key] = value
        if is_option and _ANY_OPTION in keys:
            settings[_Part.OPTIONS][key.removeprefix(_OPTION)] = value
            continue
        if key not in keys:
            other = (of_others or {}).get(key)
            if other is not None and other.audience is not None:
                raise MatchError(f"player {text!r}: {key} is for {other.audience.text}")
            raise MatchError(f"player {text!r}: {key!r} is not known; known: {', '.join(keys)}")
        with _spec_errors(text, f"{key} is {value!r}"):
            settings[keys[key].part][keys[key].name or key] = keys[key].read(value)
    limits = [key for key in _LIMITS if key in given and keys[key].part is _Part.SPEC]
    if len(limits) > 1 and limits != ["depth", "time"]:
        raise MatchError(f"player {text!r}: {' and '.join(limits)} limit the same move; set only one of them")
    return settings


def _parse_integer_range(least: int, most: int) -> Callable[[str], int]:
    def read(value: str) -> int:
        if not value.isdecimal() or not least <= int(value) <= most:
            raise ValueError(f"it must be a whole number from {least} to {most}")
        return int(value)

    return read


def _number(value: str) -> float:
    try:
        return float(value)
    except ValueError:
        raise ValueError("it must be a number") from None


def _seconds(value: str) -> float:
    if not 0 < (seconds := _number(value)) <= 86_400:  # nor NaN
        raise ValueError("it must be a number of seconds above 0")
    return seconds


def _temperature(value: str) -> float:
    if not 0 <= (temperature := _number(value)) <= 100:  # nor NaN
        raise ValueError("it must be 0 to 100")
    return temperature


def _share(value: str) -> float:
    if not 0 <= (share := _number(value)) <= 1:  # nor NaN
        raise ValueError("it must be 0 to 1")
    return share


def _command(value: str) -> tuple[str, ...]:
    try:
        words = tuple(shlex.split(value))
    except ValueError as error:
        raise ValueError(f"the command cannot be read: {error}") from None
    if not words or not words[0]:
        raise ValueError(f"the command is missing; write {_EXTERNAL_PLAYER_EXAMPLE!r}, for instance")
    return words


def _parse_choice(*known: str) -> Callable[[str], str]:
    def read(value: str) -> str:
        if value not in known:
            raise ValueError(f"it must be one of {', '.join(known)}")
        return value

    return read


_STRONG = _Audience("the strong player", lambda kind: kind.searches_selectively)
_LOOKING_UP = _Audience("the strong player and standard_uci", lambda kind: kind.looks_up)
_MODELLING = _Audience(
    "opponent_model and calibrated", lambda kind: kind.models_opponent and not kind.weighs_errors
)
_EXPLOITING = _Audience("exploit", lambda kind: kind.weighs_errors)
_WITH_MODELS = _Audience(
    "players that model the opponent or play as people do", lambda kind: kind.uses_people_models
)
_SEARCHING = _Audience(
    "players with a search of their own; with another engine, set depth instead; the result then "
    "reports how much its moves cost",
    lambda kind: not kind.asks_engine,
)
_MAX_CENTI = 10**6
_LIMITS = ("depth", "time", "cpu", "nodes")
"""Keys that limit the search for a move."""
_OUR_KEYS: Mapping[str, _Key] = {
    "depth": _Key(_parse_integer_range(2, 120)),
    "time": _Key(_seconds, "move_s"),
    "cpu": _Key(_seconds, "cpu_s", audience=_SEARCHING),
    "nodes": _Key(_parse_integer_range(1, 10**12), audience=_SEARCHING),
    "table_mb": _Key(_parse_integer_range(1, 65_536)),
    "confidence": _Key(
        lambda value: int(_parse_choice("73", "87", "95", "99", "100")(value)),
        "confidence_percent",
        audience=_STRONG,
    ),
    "threads": _Key(_parse_integer_range(1, 64), audience=_STRONG),
    "contempt_centi": _Key(_parse_integer_range(0, 1000), audience=_STRONG),
    "rating": _Key(_parse_integer_range(0, 5000), audience=_WITH_MODELS),
    "our_rating": _Key(_parse_integer_range(0, 5000), audience=_EXPLOITING),
    "assessment": _Key(Assessment, part=_Part.PARAMS),
    "margin_centi": _Key(_parse_integer_range(0, _MAX_CENTI), part=_Part.PARAMS),
    "decided": _Key(DecidedScores, part=_Part.PARAMS),
    "threshold_percent": _Key(_number, part=_Part.PARAMS),
    "scale": _Key(Scale, part=_Part.PARAMS),
    "risk_percent": _Key(_number, part=_Part.PARAMS),
    "risk_share_percent": _Key(_number, part=_Part.PARAMS),
    "model": _Key(lambda value: (value,), "models", _Part.PEOPLE, _WITH_MODELS),
    "calibrated": _Key(lambda value: (value,), "", _Part.PEOPLE, _WITH_MODELS),
    "budget_percent": _Key(_number, "", _Part.VALUE, _MODELLING),
    "share_percent": _Key(_number, "", _Part.VALUE, _MODELLING),
    "least_percent": _Key(_number, "", _Part.VALUE, _MODELLING),
    "value_scale": _Key(OpponentScale, "scale", _Part.VALUE, _MODELLING),
    "checkmate_centi": _Key(_parse_integer_range(1, _MAX_CENTI), "", _Part.VALUE, _MODELLING),
    "trust": _Key(_share, audience=_EXPLOITING),
    "exploit_percent": _Key(_number, "budget_percent", _Part.EXPLOIT, _EXPLOITING),
    "bank_percent": _Key(_number, "", _Part.EXPLOIT, _EXPLOITING),
    "margin_percent": _Key(_number, "", _Part.EXPLOIT, _EXPLOITING),
    "cap_percent": _Key(_number, "", _Part.EXPLOIT, _EXPLOITING),
    "cost_factor": _Key(_number, "", _Part.EXPLOIT, _EXPLOITING),
    "prior_percent": _Key(_number, "", _Part.EXPLOIT, _EXPLOITING),
    "bait_percent": _Key(_number, "", _Part.EXPLOIT, _EXPLOITING),
    **{key: _Key(str, "", _Part.SOURCES, _LOOKING_UP) for key in ROOT_SOURCES},
}
_ENGINE_KEYS: Mapping[str, _Key] = {
    "engine": _Key(_command, "command", _Part.ENGINE),
    "protocol": _Key(_parse_choice(*PROTOCOLS), part=_Part.ENGINE),
    "limit": _Key(MoveLimit, part=_Part.ENGINE),
    "nodes": _Key(_parse_integer_range(1, 10**12), part=_Part.ENGINE),
    "window_centi": _Key(_parse_integer_range(0, 10_000), part=_Part.ENGINE),
    "candidates": _Key(_parse_integer_range(1, 500), part=_Part.ENGINE),
    _ANY_OPTION: _Key(str, part=_Part.OPTIONS),
}
_HUMAN_KEYS: Mapping[str, _Key] = {
    "model": _Key(str),
    "rating": _Key(_parse_integer_range(0, 5000)),
    "temperature": _Key(_temperature),
    "name": _Key(str),
    "plies": _Key(_parse_integer_range(0, 10), part=_Part.SHALLOW),
    "percent": _Key(_number, part=_Part.SHALLOW),
    "share_percent": _Key(_number, part=_Part.SHALLOW),
}
_EXTERNAL_KEYS: Mapping[str, _Key] = {
    "depth": _Key(_parse_integer_range(1, 1000)),
    "time": _Key(_seconds, "move_s"),
    "cpu": _Key(_seconds, "cpu_s"),
    "nodes": _Key(_parse_integer_range(1, 10**12)),
    "name": _Key(str),
    "dir": _Key(str, "directory"),
    "silence": _Key(_seconds, "response_timeout_s"),
    "longest": _Key(_seconds, "longest_s"),
    _ANY_OPTION: _Key(str, part=_Part.OPTIONS),
}
