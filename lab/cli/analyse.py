"""`desdemona lab analyse`: profiles the replies in recorded games between humans."""

import asyncio
import shlex
from collections import Counter
from enum import StrEnum
from pathlib import Path
from typing import Annotated

import typer

from bot.base.log import printable
from bot.base.rounding import plural
from bot.cli.common import (
    MAX_OPTION_VALUE,
    UsageError,
    config_of,
    print_json,
    print_note,
    require_known,
    stop_on_signals,
)
from bot.cli.progress import show_progress
from bot.workers.pools import ClusterWorkers, LocalWorkers
from engine import SEARCH_REVISION
from engine.errors import BadSettings
from engine.formats.files import GameFormat
from engine.games import GAMES, get_rules
from engine.human.model import BadModel, HumanModel
from engine.protocols.process import EngineError
from engine.protocols.score_settings import EngineSettings
from engine.protocols.uci_scores import UciLink
from lab.analysis.analysed_games import AnalysisSettings
from lab.analysis.analysis_runner import AnalysisTally, predict, run_analysis
from lab.analysis.elo import results_of, standings
from lab.analysis.recorded_games import AnsweredMove, MoveFilter, read_games, select_moves
from lab.analysis.reply_profiles import AnalysisError
from storage.database import LONG_BUSY_TIMEOUT_S, Database


class Source(StrEnum):
    """The engine that computes the profiles' scores."""

    NATIVE = "native"
    UCI = "uci"


def analyse_command(
    context: typer.Context,
    game: Annotated[str, typer.Option("--game", help="Game, for example chess or othello.")],
    paths: Annotated[
        list[Path] | None,
        typer.Argument(metavar="[FILE]...", help="Game files; optional with --model."),
    ] = None,
    source: Annotated[
        Source, typer.Option(help="Source of the scores: our own search, or another engine.")
    ] = Source.NATIVE,
    engine: Annotated[str, typer.Option(help="The other engine's command and arguments.")] = "stockfish",
    option: Annotated[
        list[str] | None, typer.Option(metavar="NAME=VALUE", help="An option to set in the other engine.")
    ] = None,
    depth: Annotated[
        int, typer.Option(min=3, max=64, help="Maximum search depth in plies, including the move itself.")
    ] = 8,
    model: Annotated[
        Path | None,
        typer.Option(
            help="Also store the predictions of this human-move model, or of all models in this folder."
        ),
    ] = None,
    narrow: Annotated[
        bool,
        typer.Option(
            "--narrow", help="If --model is a folder, use only the models nearest to the person's rating."
        ),
    ] = False,
    elo: Annotated[
        bool,
        typer.Option(
            "--elo", help="With --model: rate people by the results of all imported games (for WTHOR)."
        ),
    ] = False,
    sample: Annotated[
        int | None,
        typer.Option(min=1, max=MAX_OPTION_VALUE, help="Number of moves to select at random (see --seed)."),
    ] = None,
    seed: Annotated[int, typer.Option(min=0, max=2**63 - 1, help="Random seed of the sample.")] = 1,
    every: Annotated[int, typer.Option(min=1, max=1000, help="Only every Nth move of each game.")] = 1,
    from_ply: Annotated[
        int, typer.Option(min=1, max=MAX_OPTION_VALUE, help="Only replies after at least this many moves.")
    ] = 1,
    to_ply: Annotated[
        int | None,
        typer.Option(min=1, max=MAX_OPTION_VALUE, help="Only replies after at most this many moves."),
    ] = None,
    from_year: Annotated[int | None, typer.Option(help="Only games from this year or later.")] = None,
    to_year: Annotated[int | None, typer.Option(help="Only games from this year or earlier.")] = None,
    players: Annotated[
        list[str] | None,
        typer.Option(metavar="NAME", help="Only replies by people whose name contains this text."),
    ] = None,
    min_rating: Annotated[
        int | None,
        typer.Option(max=MAX_OPTION_VALUE, help="Only replies by people with at least this rating."),
    ] = None,
    max_rating: Annotated[
        int | None,
        typer.Option(max=MAX_OPTION_VALUE, help="Only replies by people with at most this rating."),
    ] = None,
    form: Annotated[
        GameFormat | None,
        typer.Option("--format", help="Format of the files (default: detected from their contents)."),
    ] = None,
    concurrency: Annotated[
        int | None,
        typer.Option(
            min=1,
            max=1024,
            help="Number of moves to analyse at once (default: 1, or the cluster's capacity).",
        ),
    ] = None,
    cluster: Annotated[
        str | None, typer.Option(help="Address of a Dask scheduler whose workers run the searches.")
    ] = None,
    as_json: Annotated[bool, typer.Option("--json", help="Write the tally as JSON.")] = False,
) -> None:
    """Analyse recorded games between humans from files.

    For every move with a reply, the command searches all legal replies to every depth from 2 to --depth plies
    and stores the scores with the reply played; `study` reports on them. The same command resumes a stopped
    run; with --model it also adds the model's predictions to all positions of the same analysis. If a signal
    stops the command, the exit status is 128 plus the signal's number.
    """
    config = config_of(context)
    require_known("--game", game, GAMES)
    if depth > get_rules(game).deepest_search:
        raise UsageError(f"--depth is {depth}, searches of {game} go {get_rules(game).deepest_search} deep")
    human = None if model is None else _open(model, game, narrow)
    settings = _settings(game, engine, option or [], depth) if source is Source.UCI else None
    if source is Source.NATIVE and option:
        raise UsageError("--option requires --source uci")
    analysis = AnalysisSettings(
        game,
        "native" if settings is None else _name_of(settings),
        depth,
        SEARCH_REVISION,
        {} if settings is None else {"protocol": "uci", "options": dict(settings.options)},
    )
    choice = MoveFilter(
        from_year=from_year,
        to_year=to_year,
        players=tuple(players or ()),
        min_rating=min_rating,
        max_rating=max_rating,
        from_ply=from_ply,
        to_ply=to_ply,
        every=every,
        sample=sample,
        seed=seed,
    )
    if not paths and human is None:
        raise UsageError("pass game files, or --model to add predictions to games that are already analysed")
    wanted = _wanted(paths, game, form, choice) if paths else []
    workers = LocalWorkers(concurrency or 1) if cluster is None else ClusterWorkers(cluster, concurrency)
    try:
        tally, predicted, number = asyncio.run(
            _run(config.storage.url, analysis, settings, human, elo, wanted, workers)
        )
    except BadModel as error:
        raise UsageError(f"--model: {error}") from None
    finally:
        workers.close()
    if as_json:
        print_json({"known": tally.known, "new": tally.new, "failed": tally.failed, "predicted": predicted})
    else:
        predictions = "" if human is None else f"; {predicted} predicted by {human.info.name}"
        failed = f", {tally.failed} failed" if tally.failed else ""
        text = f"{plural(tally.new, 'move')} analysed, {tally.known} already known{failed}{predictions}"
        typer.echo(printable(f"{analysis.source}, depth {depth}: {text}"))
    if number is not None:
        print_note("stopped; run the same command again to resume")
        raise typer.Exit(128 + number)


async def _run(
    url: str,
    analysis: AnalysisSettings,
    settings: EngineSettings | None,
    human: HumanModel | None,
    elo: bool,
    wanted: list[AnsweredMove],
    workers: LocalWorkers | ClusterWorkers,
) -> tuple[AnalysisTally, int, int | None]:
    """Return the tally, the number of positions predicted, and the signal that ended the run, if any."""
    stop, received = stop_on_signals()
    database = await Database.open(url, busy_timeout_s=LONG_BUSY_TIMEOUT_S)
    predicted = 0
    try:
        with show_progress("profiles", len(wanted)) as on_count:
            analysis_id, tally = await run_analysis(
                analysis, settings, wanted, database, workers, on_count, stop
            )
        if human is not None:
            known = standings(await results_of(database, analysis.game)) if elo else {}
            with show_progress(human.info.name, None) as on_count:
                predicted = await predict(analysis_id, human, database, on_count, stop, known)
    finally:
        await database.close()
    return tally, predicted, received[0] if received else None


def _wanted(paths: list[Path], game: str, form: GameFormat | None, choice: MoveFilter) -> list[AnsweredMove]:
    with show_progress("games", None) as on_count:
        given = []
        try:
            for each in read_games(paths, game, form, print_note):
                given.append(each)
                on_count(1)
        except AnalysisError as error:
            raise UsageError(str(error)) from None
    if not given:
        raise UsageError(f"no {game} game in {', '.join(map(str, paths))}")
    copies = Counter(each.key for each in given)
    if again := sum(count > 1 for count in copies.values()):
        print_note(f"number of games found more than once (only the first copy counts): {again}")
    with show_progress("moves", choice.sample) as on_count:
        wanted = select_moves(given, choice, lambda _: on_count(1))
    if not wanted:
        raise UsageError(f"none of the {len(copies)} games has a move with a reply that passes the filters")
    print_note(f"{plural(len(copies), 'game')}, {plural(len(wanted), 'move')} with a reply")
    return wanted


def _open(path: Path, game: str, narrow: bool) -> HumanModel:
    from engine.human.model_files import open_model  # slow to import

    try:
        model = open_model(path, narrow=narrow)
    except BadModel as error:
        raise UsageError(f"--model: {error}") from None
    if model.game != game:
        raise UsageError(f"--model: {path} is for {model.game}, not for {game}")
    return model


def _settings(game: str, engine: str, options: list[str], depth: int) -> EngineSettings:
    pairs = []
    for text in options:
        name, sign, value = text.partition("=")
        if not sign:
            raise UsageError(f"--option: {text!r} is not NAME=VALUE")
        pairs.append((name.strip(), value.strip()))
    try:
        command = tuple(shlex.split(engine))
    except ValueError as error:
        raise UsageError(f"--source uci: {error}") from None
    try:
        return EngineSettings(game=game, command=command, options=tuple(pairs), depth=depth)
    except BadSettings as error:
        raise UsageError(f"--source uci: {error}") from None


def _name_of(settings: EngineSettings) -> str:
    try:
        link = UciLink(settings)
    except EngineError as error:
        raise UsageError(f"--engine: {error}") from None
    link.close()
    return link.name
