"""The options that select games, the same for every command that lists, counts or exports them."""

import inspect
from collections.abc import Callable
from functools import wraps
from typing import TYPE_CHECKING, Annotated, Any

import typer

from bot.cli.common import MOST, UsageError, moment_of, require_known
from engine.strategies.registry import STRATEGIES

if TYPE_CHECKING:
    from storage.filters import Filters, GamePhase, TrapSettings

WHOLE_GAMES = (
    "--phase: selects moves, and this is about whole games; `stats`, `export --what` of moves, and the pages "
    "traps and results have it"
)
Suspects = Annotated[
    bool | None,
    typer.Option("--suspect/--without-suspects", help="Only suspect games, or only the others."),
]
"""Whether suspect games are selected; no part of the filters, because it takes all games to find them."""


def filters_of(
    strategy: Annotated[
        str | None, typer.Option("--strategy", "--engine", help=f"Only {' or '.join(STRATEGIES)}.")
    ] = None,
    version: Annotated[
        str | None, typer.Option("--version", help="Only games of this version of the engine.")
    ] = None,
    settings: Annotated[
        str | None,
        typer.Option(metavar="TEXT", help="Only games with these settings, as `stats --by settings` shows."),
    ] = None,
    site: Annotated[str | None, typer.Option(help="Only games on this site, for instance arena.")] = None,
    account: Annotated[
        str | None, typer.Option(help="Only games of our account of this name, in any case.")
    ] = None,
    game: Annotated[str | None, typer.Option("--game", help="Only this game, for instance othello.")] = None,
    speed: Annotated[str | None, typer.Option(help="Only games of this speed, for instance blitz.")] = None,
    opponent: Annotated[
        str | None, typer.Option(help="Only games against the opponent of exactly this name, in any case.")
    ] = None,
    programs: Annotated[
        bool | None, typer.Option("--programs/--people", help="Only games against programs, or people.")
    ] = None,
    first: Annotated[
        bool | None, typer.Option("--first/--second", help="Only games in which we moved first, or second.")
    ] = None,
    match: Annotated[
        str | None, typer.Option("--match", metavar="ID", help="Only games of the match of this name.")
    ] = None,
    trial: Annotated[
        str | None, typer.Option(metavar="NAME", help="Only games of this trial; `stats` reports on it.")
    ] = None,
    since: Annotated[
        str | None, typer.Option(help="Only games begun at or after this date or time (ISO 8601).")
    ] = None,
    until: Annotated[
        str | None, typer.Option(help="Only games begun before this time, or up to the end of this date.")
    ] = None,
    min_rating: Annotated[
        int | None, typer.Option(max=MOST, help="Only opponents rated at least this.")
    ] = None,
    max_rating: Annotated[
        int | None, typer.Option(max=MOST, help="Only opponents rated at most this.")
    ] = None,
    rated: Annotated[
        bool | None, typer.Option("--rated/--casual", help="Only rated games, or only casual ones.")
    ] = None,
    opening: Annotated[
        str | None,
        typer.Option(
            metavar="MOVES", help='Only games that began with these moves as recorded, "e2e4 e7e5".'
        ),
    ] = None,
    phase: Annotated[
        str | None,
        typer.Option(
            metavar="PLIES", help="Only replies in this phase, 1-20, 21-40, ...; not of whole games."
        ),
    ] = None,
) -> "Filters":
    """Make filters from the options, whose only list this is.

    Raises:
        UsageError: A name is unknown, or a value cannot be read.
    """
    from engine.games import GAMES
    from storage.filters import Filters

    require_known("--strategy", strategy, STRATEGIES)
    require_known("--game", game, GAMES)
    return Filters(
        strategy=strategy,
        version=version,
        settings=None if settings is None else _settings_of(settings),
        site=site,
        account=account,
        game=game,
        speed=speed,
        opponent=opponent,
        opponent_is_bot=programs,
        our_side=None if first is None else 0 if first else 1,
        match=match,
        trial=trial,
        since=None if since is None else moment_of("--since", since),
        until=None if until is None else moment_of("--until", until, end_of_day=True),
        min_opponent_rating=min_rating,
        max_opponent_rating=max_rating,
        rated=rated,
        opening=None if opening is None else " ".join(opening.split()),
        phase=None if phase is None else _phase_of(phase),
    )


def _settings_of(text: str) -> "TrapSettings":
    from storage.filters import TrapSettings

    try:
        return TrapSettings.parse(text)
    except ValueError as error:
        raise UsageError(f"--settings: {error}") from None


def _phase_of(text: str) -> "GamePhase":
    from storage.filters import GamePhase

    try:
        return GamePhase.parse(text.strip())
    except ValueError as error:
        raise UsageError(f"--phase: {error}") from None


def selects_games(command: Callable[..., None]) -> Callable[..., None]:
    """Give a command the options of `filters_of` in place of its parameter `filters`: their result.

    An option that selects moves is refused.
    """

    @wraps(command)
    def run(*given: Any, filters: "Filters", **more: Any) -> None:
        if filters.phase is not None:
            raise UsageError(WHOLE_GAMES)
        command(*given, filters=filters, **more)

    return selects_moves(run)


def selects_moves(command: Callable[..., None]) -> Callable[..., None]:
    """The same for a command that is about moves, or knows by itself which options it has no use for."""
    options = inspect.signature(filters_of).parameters
    own = inspect.signature(command).parameters

    @wraps(command)
    def run(**given: Any) -> None:
        filters = filters_of(**{name: given.pop(name) for name in options})
        command(**given, filters=filters)

    shown = [each for name in own for each in (options.values() if name == "filters" else (own[name],))]
    run.__signature__ = inspect.Signature(shown)  # type: ignore[attr-defined] # what typer reads
    run.__annotations__ = {each.name: each.annotation for each in shown}
    return run
