"""`desdemona lab study`: reports on analysed games."""

import asyncio
import hashlib
import json
from collections import Counter
from collections.abc import Sequence
from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from bot.base.rounding import plural
from bot.cli.common import (
    ShowFormat,
    UsageError,
    ask_database,
    config_of,
    print_json,
    print_note,
    require_known,
    stop_on_signals,
)
from bot.cli.progress import show_progress
from bot.workers.pools import LocalWorkers
from engine.games import GAMES
from engine.human.model import BadModel
from engine.human.reply_model import default_path
from engine.params import TrapParams
from lab.analysis.analysed_games import AnalysisCount, costs_of_analysis, count_analyses, list_models
from lab.cli.lab_common import (
    card_of,
    print_lines,
    report_step,
    require_extra,
    require_writable,
    write_model,
)
from lab.cli.study_data import (
    PersonHalf,
    StudyData,
    StudyOptions,
    calibrated_of,
    model_identity,
    with_options,
)
from storage.database import LONG_BUSY_TIMEOUT_S, Database
from storage.research.archive import each_game

# Importing these takes a second, which other commands should not pay.
if TYPE_CHECKING:
    from engine.human.calibrated import CalibratedModel
    from engine.human.reply_forecast import ReplyForecast
    from engine.judge import ReplyCosts
    from lab.analysis.baits import Forecaster
    from lab.analysis.reply_profiles import JudgeTask


@with_options
def study_command(
    options: StudyOptions,
    calibrated: Annotated[
        Path | None, typer.Option(help="Calibrated model to use (default: the bundled model).")
    ] = None,
    person_half: PersonHalf = None,
    threshold: Annotated[
        float,
        typer.Option(
            min=0.01,
            max=100,
            help="Count only traps of at least this quality, in points of expected score out of 100.",
        ),
    ] = TrapParams().threshold_percent,
    concurrency: Annotated[
        int, typer.Option(min=1, max=1024, help="Number of positions to judge at once.")
    ] = 1,
    plots: Annotated[
        Path | None,
        typer.Option(metavar="FOLDER", help="Also write plots of the curves to this folder, as SVG files."),
    ] = None,
    tilt_to: Annotated[
        Path | None,
        typer.Option(
            metavar="FILE",
            help="File (*.onnx) for the calibrated model with the judge's costs fitted to these replies.",
        ),
    ] = None,
    list_them: Annotated[
        bool,
        typer.Option(
            "--list", help="Only list the analyses, largest first, and the models with stored predictions."
        ),
    ] = False,
) -> None:
    """Study traps in analysed games between humans.

    Reports the baits, how often they were played and their expected frequency (the primary endpoint); errors
    by the number of games previously played; Figure 9 for this population; how often traps and other replies
    of equal cost are played; and how well each predictor identifies which bad reply is played (one that costs
    at least 10 % of expected score) and which position provokes an error: AUC, Brier score, log-loss and
    reliability. First the judge values the likeliest replies in every position; the database keeps what it
    finds, so the same command resumes a stopped run.
    """
    if list_them:
        others = (plots, tilt_to, calibrated, options.analysis, options.human)
        if options.own or any(each is not None for each in others):
            raise UsageError("--list can be combined only with --game, --database and --format")
        _list(options)
        return
    if plots is not None:
        require_extra("--plots", "matplotlib")
    from lab.analysis.baits import bait_table, judge_tasks, judged
    from lab.analysis.study import study
    from lab.analysis.study_report import study_text

    if tilt_to is not None:
        require_extra("--tilt-to", "sklearn")
        require_writable(tilt_to, ".onnx", "--tilt-to")
    model = calibrated_of(calibrated, options.game)
    if tilt_to is not None:
        _read_card(calibrated or default_path(options.game))  # before the long study
    data = options.read(person_half)
    people = data.people
    try:
        forecasts = _forecasts(data, model)
    except BadModel as error:
        raise UsageError(str(error)) from None
    costs = _costs(options, data, judge_tasks(people, forecasts), concurrency)
    found = study(
        people,
        model,
        baits=bait_table(people, judged(people, forecasts, costs), costs),
        tilted={
            each.name: p for each in forecasts if each.is_tilted and (p := each.probabilities) is not None
        },
        games_before=None if options.own else _games_before(options, data),
        threshold_percent=threshold,
        resamples=options.resamples,
        seed=options.seed,
        on_step=report_step,
    )
    if options.output is ShowFormat.JSON:
        print_json({"about": data.description, **found.to_json()})
    else:
        print_lines(f"{data.description}\n\n{study_text(found)}")
    # Last, so that a failure does not lose the report.
    if tilt_to is not None:
        _write_tilt(tilt_to, calibrated, data, forecasts[0].forecasts, costs)
    if plots is not None:
        from lab.analysis.plots import draw

        try:
            for path in draw(found, plots, options.game):
                print_note(f"{path} written")
        except OSError as error:
            raise UsageError(f"--plots: {plots}: {error.strerror}") from None


def _write_tilt(
    out: Path,
    calibrated: Path | None,
    data: StudyData,
    forecasts: "Sequence[ReplyForecast | None]",
    costs: "Sequence[ReplyCosts | None]",
) -> None:
    """Write the calibrated model, and its card, with how the judge's costs change its probabilities.

    The model may have been fitted to these replies: its probabilities come from models that were not.
    """
    import onnx
    from onnx import helper

    from engine.human.calibrated import JUDGE_TILT
    from engine.human.onnx import PREFIX
    from lab.training.judge_tilt import fit_judge_tilt, held_out

    people = data.people
    source = calibrated or default_path(people.game.name)
    played = [each.found.reply for each in people.positions]
    if fit_judge_tilt(forecasts, costs, played) is None or not source.exists():
        raise UsageError("--tilt-to: needs a calibrated model and more moves")
    fitted = fit_judge_tilt(held_out(people.rows, forecasts), costs, played)
    if fitted is None:
        raise UsageError("--tilt-to: needs more moves")
    model = onnx.load(source)
    properties = {each.key: each.value for each in model.metadata_props}
    helper.set_model_props(model, properties | {PREFIX + JUDGE_TILT: json.dumps(asdict(fitted.tilt))})
    content = model.SerializeToString()
    card = _read_card(source)
    card |= {"sha256": hashlib.sha256(content).hexdigest()}
    card[JUDGE_TILT] = {**asdict(fitted.tilt), "moves": fitted.moves, **data.card}
    write_model(out, card, content, "--tilt-to")


def _read_card(model: Path) -> dict[str, Any]:
    """The card of a calibrated model; empty if there is no model.

    Raises:
        UsageError: The model has no readable card.
    """
    path = card_of(model)
    try:
        card = json.loads(path.read_bytes()) if model.exists() else {}
    except (OSError, ValueError) as error:
        raise UsageError(f"--tilt-to: the model's card {path} cannot be read: {error}") from None
    if not isinstance(card, dict):
        raise UsageError(f"--tilt-to: the model's card {path} is not a JSON object")
    return card


def _forecasts(data: StudyData, calibrated: "CalibratedModel | None") -> "tuple[Forecaster, ...]":
    """The forecasts of the replies; their baits are not known yet.

    Raises:
        BadModel: The card of the people model is broken.
    """
    from engine.human.person_prior import card_path, read_card
    from lab.analysis.baits import forecasters

    people = data.people
    path = card_path(people.game.name)
    with show_progress("forecasts", len(people.positions)) as on_count:
        return forecasters(
            people, calibrated, data.human, read_card(path) if path.exists() else None, on_count
        )


def _costs(
    options: StudyOptions, data: StudyData, tasks: "Sequence[JudgeTask | None]", concurrency: int
) -> "list[ReplyCosts | None]":
    """What the replies cost, in the order of the tasks; None where there is no task."""
    from lab.analysis.analysis_runner import judge_positions

    wanted = [task for task in tasks if task is not None]

    async def run() -> "tuple[dict[int, ReplyCosts], int | None]":
        stop, received = stop_on_signals()
        url = options.database or config_of(options.context).storage.url
        database = await Database.open(url, upgrade=False, busy_timeout_s=LONG_BUSY_TIMEOUT_S)
        workers = LocalWorkers(concurrency)
        try:
            known: dict[int, ReplyCosts] = {}
            if data.analysis_id is not None:
                async with database.read() as session:
                    known = await costs_of_analysis(session, data.analysis_id)
            kept_in = None if data.analysis_id is None else database
            with show_progress("judged", len(wanted)) as on_count:
                found = await judge_positions(wanted, known, kept_in, workers, on_count, stop)
        finally:
            workers.close()
            await database.close()
        return found, received[0] if received else None

    found, number = asyncio.run(run())
    if number is not None:
        print_note("stopped; run the same command again to resume")
        raise typer.Exit(128 + number)
    return [None if task is None else found[task.number] for task in tasks]


def _games_before(options: StudyOptions, data: StudyData) -> Counter[str] | None:
    """Number of imported games per person before the earliest position's year; None if no year is known."""
    from lab.analysis.recorded_games import year_of

    first = min(
        (year for each in data.people.positions if (year := year_of(each.date)) is not None), default=None
    )
    if first is None:
        return None

    async def read(database: Database) -> Counter[str]:
        counts: Counter[str] = Counter()
        async with database.read() as session:
            async for record in each_game(session, game=options.game):
                year = year_of(record.date)
                if year is not None and year < first:
                    counts.update(record.players)
        return counts

    return ask_database(options.context, read, options.database) or None


def _list(options: StudyOptions) -> None:
    """Print a game's analyses, largest first, each with its models, newest first."""
    game = options.game
    require_known("--game", game, GAMES)

    async def read(database: Database) -> list[tuple[AnalysisCount, list[str]]]:
        async with database.read() as session:
            return [
                (each, [model_identity(info) for _, info in await list_models(session, each.id)])
                for each in await count_analyses(session, game)
            ]

    found = ask_database(options.context, read, options.database)
    if options.output is ShowFormat.JSON:
        print_json([{**asdict(each), "models": models} for each, models in found])
        return
    for each, models in found:
        what = "".join(f", {key} {value}" for key, value in each.analysis.settings.items() if value)
        print_lines(
            f"{each.id}: {each.analysis.source}, depth {each.analysis.depth}, "
            f"{each.analysis.engine_version}{what}: "
            f"{plural(each.positions, 'position')} of {plural(each.games, 'game')}; "
            f"models: {', '.join(models) or 'none'}"
        )
    if not found:
        print_note(f"there is no {game} analysis: run `desdemona lab analyse`")
