"""`desdemona match`: plays two players against each other, unattended."""

import asyncio
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Annotated

import typer
from rich.console import Console
from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeRemainingColumn

from bot.base.config import Config
from bot.base.files import read_regular
from bot.base.rounding import plural
from bot.cli.common import UsageError, config_of, print_json, print_note, stop_on_signals
from bot.match.conditions import DEFAULT_MOVE_S, Terms, parse_adjudication, parse_clock, parse_id
from bot.match.match_report import game_line, result_json, result_text, short_text
from bot.match.match_runner import Match, MatchStanding, OnGame, run_match
from bot.match.openings import Opening, fingerprint, read_openings, require_odds, shuffle_openings
from bot.match.play import FinishedGame
from bot.match.player_specs import game_of, parse_spec
from bot.match.sprt import parse_sprt
from bot.workers.pools import ClusterWorkers, LocalWorkers, Workers
from storage.database import LONG_BUSY_TIMEOUT_S, Database

_MAX_OPENINGS_BYTES = 64 << 20
"""Maximum size of an openings file, in bytes."""


def match_command(
    context: typer.Context,
    a: Annotated[str, typer.Argument(metavar="A", help="First player, for instance strong:time=0.1.")],
    b: Annotated[str, typer.Argument(metavar="B", help="The opponent, for instance 'uci:stockfish'.")],
    games: Annotated[int, typer.Option(min=2, max=1_000_000, help="Even number of games.")] = 100,
    game: Annotated[
        str | None,
        typer.Option("--game", help="Game; by default, the one the players' protocols imply, or othello."),
    ] = None,
    openings: Annotated[
        Path | None,
        typer.Option(
            help="File of positions, move lists, GGF or PGN; by default, --seed selects balanced openings."
        ),
    ] = None,
    opening_plies: Annotated[
        int | None, typer.Option(min=0, max=10_000, help="Use at most this many plies of each opening.")
    ] = None,
    odds: Annotated[
        str | None,
        typer.Option(help="Material that A gives in every game, such as queen+knight, 2-corners or horse."),
    ] = None,
    time: Annotated[
        float | None, typer.Option(help=f"Seconds per move; {DEFAULT_MOVE_S} if no limit is given.")
    ] = None,
    depth: Annotated[int | None, typer.Option(min=2, max=1000, help="Search depth, in plies.")] = None,
    tc: Annotated[str | None, typer.Option(help="Base time + increment in seconds, such as 60+0.6.")] = None,
    grace: Annotated[
        float, typer.Option(min=0, max=3600, help="Tolerance in seconds for moves that exceed --time.")
    ] = 1.0,
    adjudicate: Annotated[
        str | None,
        typer.Option(help="End a game if both players agree on a CENTI lead for PLIES plies: CENTI,PLIES."),
    ] = None,
    sprt: Annotated[
        str | None, typer.Option(help="End the match early by SPRT: ELO0,ELO1 or ELO0,ELO1,ALPHA,BETA.")
    ] = None,
    seed: Annotated[
        int, typer.Option(min=0, max=2**63 - 1, help="Seed for the openings and for random moves.")
    ] = 1,
    concurrency: Annotated[
        int | None,
        typer.Option(min=1, max=1024, help="Concurrent games; by default, 1 or the cluster's capacity."),
    ] = None,
    cluster: Annotated[
        str | None, typer.Option(help="Address of a Dask scheduler whose workers play the games.")
    ] = None,
    name: Annotated[
        str | None, typer.Option("--id", help="Name of the match; by default, derived from its settings.")
    ] = None,
    cpu: Annotated[str | None, typer.Option(hidden=True)] = None,
    nodes: Annotated[str | None, typer.Option(hidden=True)] = None,
    as_json: Annotated[bool, typer.Option("--json", help="Write the result as JSON.")] = False,
) -> None:
    """Play a match between any two players.

    A player is one of ours (standard, trappy, strong, exploit, trappy_strong, opponent_model, calibrated,
    tempting, like or human) or another program (nboard:, gtp:, uci: or ucci:).

    Every opening is played with both colours.  Games are stored under the site "match"; the same command
    resumes a stopped match.  If a signal stops the match, the exit status is 128 plus the signal's number.
    """
    for option, value in (("cpu", cpu), ("nodes", nodes)):
        if value is not None:
            raise UsageError(
                f"--{option}: this limit belongs to a player, for instance strong:{option}={value}"
            )
    config = config_of(context)
    if games % 2:
        raise UsageError(f"--games is {games}; it must be even: each opening is played with both colours")
    if time is not None and not 0 < time <= 86_400:
        raise UsageError(f"--time is {time:g}; it must be above 0")
    spec_a, spec_b = parse_spec(a), parse_spec(b)
    game_name = game_of(spec_a, spec_b, game)
    if odds is not None and openings is not None:
        raise UsageError("--odds and --openings cannot be combined")
    given = None if openings is None else _read_openings(openings, game_name, opening_plies)
    if given is None and opening_plies is not None:
        raise UsageError("--opening-plies needs --openings")
    if odds is not None:
        require_odds(game_name, odds)
    clock = None if tc is None else parse_clock(tc)
    terms = Terms(
        game=game_name,
        a=spec_a,
        b=spec_b,
        clock=clock,
        move_s=DEFAULT_MOVE_S if (time, depth, clock) == (None, None, None) else time,
        depth=depth,
        grace_s=grace,
        adjudication=None if adjudicate is None else parse_adjudication(adjudicate),
        openings=f"seed {seed}" if given is None else f"{fingerprint(given)} seed {seed}",
        odds=odds or "",
    )
    match = Match(
        id=terms.match_id() if name is None else parse_id(name),
        terms=terms,
        games=games,
        seed=seed,
        openings=None if given is None else shuffle_openings(given, seed),
        sprt=None if sprt is None else parse_sprt(sprt),
    )
    if given is not None and 2 * len(given) < games:
        print_note(f"{openings} has {len(given)} openings for {games // 2} pairs: some are repeated")
    workers = LocalWorkers(concurrency or 1) if cluster is None else ClusterWorkers(cluster, concurrency)
    try:
        standing, number = asyncio.run(_run(config, match, workers))
    finally:
        workers.close()
    if as_json:
        print_json(result_json(standing))
    else:
        typer.echo(result_text(standing))
    if number is not None and not standing.is_over:
        print_note("stopped; the same command resumes the match")
        raise typer.Exit(128 + number)


async def _run(config: Config, match: Match, workers: Workers) -> tuple[MatchStanding, int | None]:
    """Return the final standing, and the signal that ended the match, if any."""
    stop, received = stop_on_signals()
    database = await Database.open(config.storage.url, busy_timeout_s=LONG_BUSY_TIMEOUT_S)
    try:
        with _progress(match.games) as on_game:
            standing = await run_match(match, database, workers, on_game, stop)
    finally:
        await database.close()
    return standing, received[0] if received else None


def _read_openings(path: Path, game: str, max_plies: int | None) -> list[Opening]:
    try:
        data = read_regular(path, _MAX_OPENINGS_BYTES)
    except OSError as error:
        raise UsageError(f"--openings: {path} cannot be read: {error.strerror}") from None
    return read_openings(data, game, str(path), max_plies)


@contextmanager
def _progress(games: int) -> Iterator[OnGame]:
    """Show progress on standard error: a bar on a terminal, otherwise a line for each game."""
    console = Console(stderr=True, markup=False, highlight=False)
    if not console.is_terminal:
        yield _report_lines
        return
    columns = (BarColumn(bar_width=12), MofNCompleteColumn(), TextColumn("{task.description}", markup=False))
    with Progress(*columns, TimeRemainingColumn(), console=console, transient=True) as bar:
        task = bar.add_task("", total=games)

        def show(game: FinishedGame | None, now: MatchStanding) -> None:
            if game is not None and game.is_forfeit:
                bar.console.print(game_line(game, now))
            bar.update(task, completed=now.result.games, description=short_text(now))

        yield show


def _report_lines(game: FinishedGame | None, now: MatchStanding) -> None:
    if game is not None:
        print_note(game_line(game, now))
    elif now.resumed:
        have = "has" if now.resumed == 1 else "have"
        print_note(f"match {now.match.id}: {plural(now.resumed, 'game')} {have} been played already")
