"""The options that select games, the same for every command that lists, counts or exports them."""

import inspect
from collections.abc import Callable, Mapping
from functools import wraps
from typing import TYPE_CHECKING, Annotated, Any, NamedTuple

import typer

from bot.cli.common import MAX_OPTION_VALUE, UsageError
from engine.strategies.registry import STRATEGIES

if TYPE_CHECKING:
    from storage.filters import Filters

PHASE_REFUSAL = (
    "--phase: selects moves, but only whole games can be selected here; `stats`, `export --what` of moves, "
    "and the pages traps and results accept it"
)
Suspects = Annotated[
    bool | None,
    typer.Option("--suspect/--without-suspects", help="Include only suspect games, or exclude them."),
]
"""Whether to select suspect games; this is not a filter, because finding suspect games requires all games."""


class _Option(NamedTuple):
    """An option that selects games."""

    field: str
    """Field of the filter language (`storage.evidence.queries.filter_language`)."""
    help: str
    names: tuple[str, ...] = ()
    """Names of the option on the command line; empty if it has the field's name."""
    metavar: str | None = None
    words: tuple[str, str] | None = None
    """The field's value for each of a switch's two names; None if the option is not a switch."""
    is_number: bool = False


OPTIONS = {
    "strategy": _Option("strategy", f"Only {' or '.join(STRATEGIES)}.", ("--strategy", "--engine")),
    "version": _Option("version", "Only games of this version of the engine."),
    "settings": _Option("settings", "Only games with these settings, as shown by `stats --by settings`."),
    "site": _Option("site", "Only games at this site, for instance arena."),
    "account": _Option("account", "Only games of our account with this name, ignoring case."),
    "game": _Option("game", "Only this game, for instance othello."),
    "speed": _Option("speed", "Only games at this speed, for instance blitz."),
    "opponent": _Option("opponent", "Only games against the opponent with exactly this name, ignoring case."),
    "programs": _Option(
        "opponents",
        "Only games against programs, or only games against people.",
        ("--programs/--people",),
        words=("programs", "people"),
    ),
    "first": _Option(
        "side",
        "Only games in which we moved first, or only games in which we moved second.",
        ("--first/--second",),
        words=("first", "second"),
    ),
    "match": _Option("match", "Only games from the match with this name.", metavar="ID"),
    "trial": _Option("trial", "Only games of this trial; `stats` then reports on the trial.", metavar="NAME"),
    "since": _Option("since", "Only games begun at or after this date or time (ISO 8601)."),
    "until": _Option("until", "Only games begun before this time, or on or before this date."),
    "min_rating": _Option("min-rating", "Only games against opponents rated at least this.", is_number=True),
    "max_rating": _Option("max-rating", "Only games against opponents rated at most this.", is_number=True),
    "rated": _Option(
        "rated", "Only rated games, or only casual ones.", ("--rated/--casual",), words=("rated", "casual")
    ),
    "odds": _Option(
        "odds",
        "Only games at odds, or only the others.",
        ("--odds/--even",),
        words=("odds", "even"),
    ),
    "opening": _Option(
        "opening", 'Only games that begin with these moves, as recorded: "e2e4 e7e5".', metavar="MOVES"
    ),
    "phase": _Option(
        "phase", "Only replies in this phase, 1-20, 21-40, ...; does not select games.", metavar="PLIES"
    ),
}
"""The options, keyed by the command's parameter name."""


def filters_of(given: Mapping[str, Any]) -> "Filters":
    """Build filters from the values of `OPTIONS`; None means that an option was not used.

    Raises:
        UsageError: A name is unknown, or a value is invalid.
    """
    from storage.errors import FilterError
    from storage.evidence.queries.filter_language import parse_filters

    texts = {}
    for name, option in OPTIONS.items():
        if (value := given.get(name)) is not None:
            words = option.words
            texts[option.field] = str(value) if words is None else words[0] if value else words[1]
    try:
        return parse_filters(texts)
    except FilterError as error:
        raise UsageError(f"--{error}") from None


def _parameter(name: str, option: _Option) -> inspect.Parameter:
    kind: Any = bool if option.words is not None else int if option.is_number else str
    most = MAX_OPTION_VALUE if option.is_number else None
    shown = typer.Option(
        *option.names or (f"--{option.field}",), help=option.help, metavar=option.metavar, max=most
    )
    return inspect.Parameter(
        name, inspect.Parameter.POSITIONAL_OR_KEYWORD, default=None, annotation=Annotated[kind | None, shown]
    )


def game_filter_options(command: Callable[..., None]) -> Callable[..., None]:
    """Replace a command's parameter `filters` with the options that select games; the command receives the
    filters.

    Raise a UsageError for options that select moves.
    """

    @wraps(command)
    def run(*given: Any, filters: "Filters", **more: Any) -> None:
        if filters.phase is not None:
            raise UsageError(PHASE_REFUSAL)
        command(*given, filters=filters, **more)

    return move_filter_options(run)


def move_filter_options(command: Callable[..., None]) -> Callable[..., None]:
    """Replace `filters` as `game_filter_options` does, but also accept options that select moves."""
    own = inspect.signature(command).parameters
    options = [_parameter(name, option) for name, option in OPTIONS.items()]

    @wraps(command)
    def run(**given: Any) -> None:
        filters = filters_of({name: given.pop(name) for name in OPTIONS})
        command(**given, filters=filters)

    shown = [each for name in own for each in (options if name == "filters" else (own[name],))]
    run.__signature__ = inspect.Signature(shown)  # type: ignore[attr-defined] # what typer reads
    run.__annotations__ = {each.name: each.annotation for each in shown}
    return run
