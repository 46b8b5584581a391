"""`desdemona lab study`: reports on analysed games."""

from collections import Counter
from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from bot.base.rounding import plural
from bot.cli.common import ShowFormat, UsageError, ask_database, print_json, print_note, require_known
from bot.cli.progress import show_progress
from engine import SEARCH_REVISION
from engine.games import GAMES
from engine.human.model import BadModel
from engine.params import TrapParams
from lab.analysis.analysed_games import AnalysisCount, count_analyses, list_models
from lab.cli.analyse import Source
from lab.cli.lab_common import print_lines, report_step, require_extra
from lab.cli.study_data import (
    PersonHalf,
    StudyData,
    StudyOptions,
    calibrated_of,
    model_identity,
    with_options,
)
from storage.database import Database
from storage.research.archive import each_game

# Importing these takes a second, which other commands should not pay.
if TYPE_CHECKING:
    from engine.human.calibrated import CalibratedModel
    from lab.analysis.tempting_replies import Forecaster

_TABLE_MB = 64


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
    confirm: Annotated[
        bool,
        typer.Option(
            help="Confirm candidate baits by a search two plies deeper. Takes seconds per position; requires "
            "profiles from our own search."
        ),
    ] = True,
    plots: Annotated[
        Path | None,
        typer.Option(metavar="FOLDER", help="Also write plots of the curves to this folder, as SVG files."),
    ] = None,
    list_them: Annotated[
        bool,
        typer.Option(
            "--list", help="Only list the analyses, largest first, and the models with stored predictions."
        ),
    ] = False,
) -> None:
    """Study traps in analysed games between humans.

    Reports which replies were tempting, how often these baits were played and their expected frequency
    (the primary endpoint); errors by the number of games previously played; Figure 9 for this population; how
    often traps and other replies of equal cost are played; and how well each predictor identifies which bad
    reply is played (one that costs at least 10 % of expected score) and which position provokes an error:
    AUC, Brier score, log-loss and reliability.
    """
    if list_them:
        if options.own or plots is not None or options.analysis is not None or options.human is not None:
            raise UsageError("--list can be combined only with --game, --database and --format")
        _list(options)
        return
    if plots is not None:
        require_extra("--plots", "matplotlib")
    from lab.analysis.study import study
    from lab.analysis.study_report import study_text
    from lab.analysis.tempting_replies import bait_table

    model = calibrated_of(calibrated, options.game)
    data = options.read(person_half)
    people = data.people
    try:
        forecasts, unconfirmed = _forecasts(data, model, confirm)
    except BadModel as error:
        raise UsageError(str(error)) from None
    found = study(
        people,
        model,
        baits=bait_table(people, forecasts, unconfirmed),
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
    if plots is not None:  # last, so that a failure does not lose the report
        from lab.analysis.plots import draw

        try:
            for path in draw(found, plots, options.game):
                print_note(f"{path} written")
        except OSError as error:
            raise UsageError(f"--plots: {plots}: {error.strerror}") from None


def _forecasts(
    data: StudyData, calibrated: "CalibratedModel | None", is_asked: bool
) -> "tuple[tuple[Forecaster, ...], str]":
    """The forecasts of the replies, and why no confirming searches were made (empty if they were).

    Raises:
        BadModel: The card of the people model is broken.
    """
    from engine.human.person_prior import card_path, read_card
    from engine.search.searchers import make_searcher
    from lab.analysis.tempting_replies import confirm_all, forecasters

    people, way = data.people, data.analysis
    game, count = people.game.name, len(people.positions)
    path = card_path(game)
    with show_progress("forecasts", count) as on_count:
        forecast_sets = forecasters(
            people, calibrated, data.human, read_card(path) if path.exists() else None, on_count
        )
    if not is_asked:
        return forecast_sets, "--no-confirm"
    if way is None:
        return forecast_sets, "for our own games, `desdemona stats` reports confirmed baits"
    if way.source != Source.NATIVE or way.engine_version != SEARCH_REVISION:
        return forecast_sets, "the profiles are not from this version's search"
    with show_progress("confirmed", count) as on_count:
        return confirm_all(people, forecast_sets, make_searcher(game, _TABLE_MB), on_count), ""


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
