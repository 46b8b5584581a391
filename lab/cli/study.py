"""`desdemona lab study`: reports on analysed games; also reads the data of `desdemona lab fit`."""

import re
from collections import Counter
from collections.abc import Sequence
from dataclasses import asdict
from importlib.util import find_spec
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from bot.base.log import printable
from bot.base.rounding import counted
from bot.cli.common import (
    MAX_INT,
    ShowFormat,
    UsageError,
    ask_database,
    config_of,
    note,
    print_json,
    require_known,
)
from bot.cli.progress import counting
from engine import SEARCH_REVISION
from engine.decision import ModelInfo
from engine.formats.record import GameRecord
from engine.games import GAMES
from engine.human.model import SHALLOW, BadModel
from engine.human.reply_model import default_path
from engine.params import TrapParams
from lab.analysis.analysed_games import (
    AnalysisCount,
    AnalysisSettings,
    StoredPosition,
    count_analyses,
    list_models,
    own_positions,
    predictions,
)
from lab.cli.analyse import Source
from storage.database import Database
from storage.research.archive import each_game, list_players

# Importing these takes a second, which other commands should not pay.
if TYPE_CHECKING:
    from engine.human.calibrated import CalibratedModel
    from lab.analysis.elo import RatedResult
    from lab.analysis.population import Population, Portion
    from lab.analysis.tempting_replies import Forecaster

_TABLE_MB = 64

StudyGameOption = Annotated[str, typer.Option("--game", help="Game, for instance chess or othello.")]
AnalysisId = Annotated[
    int | None,
    typer.Option(
        "--analysis", metavar="NUMBER", help="Analysis to use; by default the one with the most positions."
    ),
]
ModelId = Annotated[
    str | None,
    typer.Option(
        "--human",
        metavar="NAME",
        help="Human-move model whose predictions to use: a name, or at least six leading digits of a "
        "SHA-256; by default the newest model's.",
    ),
]
Half = Annotated[
    int | None, typer.Option(min=0, max=1, help="Only one half of the games, drawn by --seed: 0 or 1.")
]
PersonHalf = Annotated[
    int | None,
    typer.Option(
        min=0,
        max=1,
        help="Only replies of one half of the persons, drawn by --seed: 0 or 1.  "
        "The bundled models of people were learned from half 0 of seed 1, if their cards say so.",
    ),
]
Elo = Annotated[
    bool,
    typer.Option(
        "--elo",
        help="Ratings reconstructed from the results of all imported games, for sources without ratings.",
    ),
]
Seed = Annotated[int, typer.Option(min=0, max=2**31 - 1, help="Seed of halves, folds and resamples.")]
FromYear = Annotated[int | None, typer.Option(help="Only games of this year or later.")]
ToYear = Annotated[int | None, typer.Option(help="Only games of this year or earlier.")]
ReplyMinRating = Annotated[
    int | None, typer.Option(max=MAX_INT, help="Only replies of people rated this or more.")
]
ReplyMaxRating = Annotated[
    int | None, typer.Option(max=MAX_INT, help="Only replies of people rated this or less.")
]
DatabaseUrl = Annotated[
    str | None,
    typer.Option("--database", metavar="URL", help="Database to use instead of the configured one."),
]
ResamplesOption = Annotated[
    int, typer.Option(min=20, max=100_000, help="Number of resamples, for the intervals.")
]


def study_command(
    context: typer.Context,
    game: StudyGameOption,
    analysis: AnalysisId = None,
    human: ModelId = None,
    calibrated: Annotated[
        Path | None, typer.Option(help="A calibrated model; by default the bundled one.")
    ] = None,
    own: Annotated[
        bool, typer.Option("--own", help="The bot's own games with people instead of the analysed games.")
    ] = False,
    half: Half = None,
    person_half: PersonHalf = None,
    elo: Elo = False,
    seed: Seed = 1,
    from_year: FromYear = None,
    to_year: ToYear = None,
    min_rating: ReplyMinRating = None,
    max_rating: ReplyMaxRating = None,
    threshold: Annotated[
        float,
        typer.Option(
            min=0.01,
            max=100,
            help="Minimum quality of a trap that counts, in points of expected score out of 100.",
        ),
    ] = TrapParams().threshold_percent,
    resamples: ResamplesOption = 1000,
    confirm: Annotated[
        bool,
        typer.Option(
            help="Search positions with a candidate bait two plies deeper: takes seconds each; only for "
            "profiles of our own search."
        ),
    ] = True,
    plots: Annotated[
        Path | None, typer.Option(metavar="FOLDER", help="Also draw the curves, as SVG files in this folder.")
    ] = None,
    list_them: Annotated[
        bool,
        typer.Option(
            "--list", help="Only list the analyses, the largest first, and the models with predictions."
        ),
    ] = False,
    database: DatabaseUrl = None,
    output: Annotated[ShowFormat, typer.Option("--format", help="How to write it.")] = ShowFormat.TABLE,
) -> None:
    """Study traps in analysed games of people.

    Reports which replies tempted, how often these baits were played and how often that was expected (the
    primary endpoint); errors by the number of games that people had played before; Figure 9 for this
    population; how often replies of equal cost are played, traps and others; and how well each predictor
    foresees which bad reply is played (one that costs 10 % of expected score or more) and which position
    provokes an error: AUC, Brier score, log-loss, reliability.
    """
    if list_them:
        if own or plots is not None or analysis is not None or human is not None:
            raise UsageError("--list goes with --game, --database and --format alone")
        _list(context, database, game, output)
        return
    if plots is not None:
        require_extra("--plots", "matplotlib")
    from lab.analysis.population import Portion
    from lab.analysis.study import study
    from lab.analysis.study_report import study_text
    from lab.analysis.tempting_replies import bait_table

    portion = Portion(
        half=half,
        person_half=person_half,
        seed=seed,
        from_year=from_year,
        to_year=to_year,
        min_rating=min_rating,
        max_rating=max_rating,
    )
    model = calibrated_of(calibrated, game)
    people, about, human_model, way = read_people(
        context, database, game, analysis, human, portion, own, elo=elo
    )
    note(about)
    try:
        forecasts, unconfirmed = _forecasts(people, model, human_model, way, confirm)
    except BadModel as error:
        raise UsageError(str(error)) from None
    found = study(
        people,
        model,
        baits=bait_table(people, forecasts, unconfirmed),
        tilted={
            each.name: p for each in forecasts if each.is_tilted and (p := each.probabilities) is not None
        },
        games_before=None if own else _games_before(context, database, people),
        threshold_percent=threshold,
        resamples=resamples,
        seed=seed,
        on_step=report_step,
    )
    if output is ShowFormat.JSON:
        print_json({"about": about, **found.to_json()})
    else:
        print_lines(f"{about}\n\n{study_text(found)}")
    if plots is not None:  # last, so that a failure does not lose the report
        from lab.analysis.plots import draw
        from lab.analysis.svg_files import NoPlots

        try:
            for path in draw(found, plots, game):
                note(f"{path} written")
        except NoPlots as error:
            raise UsageError(f"--plots: {error}") from None
        except OSError as error:
            raise UsageError(f"--plots: {plots}: {error.strerror}") from None


def _forecasts(
    people: "Population",
    calibrated: "CalibratedModel | None",
    human: ModelInfo | None,
    way: AnalysisSettings | None,
    is_asked: bool,
) -> "tuple[tuple[Forecaster, ...], str]":
    """The forecasts of the replies, and why no candidate bait is confirmed (empty: they are).

    Raises:
        BadModel: The card of the people model is broken.
    """
    from engine.human.person_prior import card_path, read_card
    from engine.search.searchers import make_searcher
    from lab.analysis.tempting_replies import confirm_all, forecasters

    game, count = people.game.name, len(people.positions)
    path = card_path(game)
    with counting("forecasts", count) as on_count:
        forecast_sets = forecasters(
            people, calibrated, human, read_card(path) if path.exists() else None, on_count
        )
    if not is_asked:
        return forecast_sets, "--no-confirm"
    if way is None:
        return forecast_sets, "of our own games `desdemona stats` has the confirmed ones"
    if way.source != Source.NATIVE or way.engine_version != SEARCH_REVISION:
        return forecast_sets, "the profiles are not of this program's present search"
    with counting("confirmed", count) as on_count:
        return confirm_all(people, forecast_sets, make_searcher(game, _TABLE_MB), on_count), ""


def _games_before(context: typer.Context, url: str | None, people: "Population") -> Counter[str] | None:
    """Imported games of each person before the year of the first position; None if there are none."""
    from lab.analysis.recorded_games import year_of

    first = min((year for each in people.positions if (year := year_of(each.date)) is not None), default=None)
    if first is None:
        return None

    async def read(database: Database) -> Counter[str]:
        async with database.read() as session:
            played = await list_players(session, people.game.name)
        return Counter(
            name
            for date, *names in played
            if (year := year_of(date)) is not None and year < first
            for name in names
        )

    return ask_database(context, read, url) or None


def results_of(context: typer.Context, url: str | None, game: str) -> "list[RatedResult]":
    """The results of all imported games, in the order of their import."""
    from lab.analysis.elo import rated_result

    async def read(database: Database) -> "list[RatedResult]":
        async with database.read() as session:
            results = [rated_result(record) async for record in each_game(session, game=game)]
        return [each for each in results if each is not None]

    results = ask_database(context, read, url)
    note(f"{len(results)} imported games with a result")
    return results


def _list(context: typer.Context, url: str | None, game: str, output: ShowFormat) -> None:
    """Print a game's analyses, the largest first, and their models, the newest first."""
    require_known("--game", game, GAMES)

    async def read(database: Database) -> list[tuple[AnalysisCount, list[str]]]:
        async with database.read() as session:
            return [
                (each, [_identity(info) for _, info in await list_models(session, each.id)])
                for each in await count_analyses(session, game)
            ]

    found = ask_database(context, read, url)
    if output is ShowFormat.JSON:
        print_json([{**asdict(each), "models": models} for each, models in found])
        return
    for each, models in found:
        what = "".join(f", {key} {value}" for key, value in each.analysis.settings.items() if value)
        print_lines(
            f"{each.id}: {each.analysis.source}, depth {each.analysis.depth}, "
            f"{each.analysis.engine_version}{what}: "
            f"{counted(each.positions, 'position')} of {counted(each.games, 'game')}; "
            f"models: {', '.join(models) or 'none'}"
        )
    if not found:
        note(f"there is no analysis of {game}: `desdemona lab analyse` makes one")


def require_extra(option: str, module: str) -> None:
    """Report a missing dependency at once rather than after long work."""
    if find_spec(module) is None:
        raise UsageError(f"{option} needs the extra `lab`: `pip install 'desdemona[lab]'`")


def calibrated_of(path: Path | None, game: str) -> "CalibratedModel | None":
    """The calibrated model in a file; without a path the bundled one, None if the game has none."""
    from engine.human.calibrated import open_calibrated

    require_known("--game", game, GAMES)
    if path is None and not default_path(game).exists():
        return None
    try:
        model = open_calibrated(path or default_path(game))
    except BadModel as error:
        raise UsageError(str(error)) from None
    if model.game != game:
        raise UsageError(f"{path} is for {model.game}, not for {game}")
    return model


def read_people(
    context: typer.Context,
    url: str | None,
    game: str,
    analysis: int | None,
    human: str | None,
    portion: "Portion",
    own: bool,
    *,
    elo: bool = False,
) -> "tuple[Population, str, ModelInfo | None, AnalysisSettings | None]":
    """The requested positions, a description of them, the human-move model with predictions for them, and how
    they were analysed (None: in play).

    Args:
        elo: Rate people by the results of all imported games, once they have played enough of them
            (`lab.analysis.elo`).

    Raises:
        UsageError: There are none.
    """
    from lab.analysis.elo import standings, with_ratings
    from lab.analysis.population import population

    require_known("--game", game, GAMES)
    if elo and (own or portion.min_rating is not None or portion.max_rating is not None):
        raise UsageError("--elo cannot go with --own, --min-rating or --max-rating")
    others: dict[str, dict[int, tuple[float, ...]]] = {}
    way = None
    if own:
        if analysis is not None or human is not None:
            raise UsageError("--analysis and --human are for analysed games and cannot go with --own")
        positions, model = _own(context, url, game, portion)
        about = f"{game}: the bot's own games with people"
    else:
        way, positions, model, others = _analysed(context, url, game, analysis, human, portion)
        about = f"{game}: {way.source}, depth {way.depth}"
    if not positions:
        raise UsageError(f"{about}: no position passes these filters")
    if elo:
        positions = with_ratings(positions, standings(results_of(context, url, game)))
        about += ", rated by results"
    with counting("positions", len(positions)) as on_count:
        people = population(game, positions, "" if model is None else model.name, others, on_count)
    if model is None or not people.has_human:
        model_text = "no human-move model"
    else:
        model_text = f"human-move model {_identity(model)}"
    games = int(people.games.max()) + 1
    left_out = f", {people.left_out} more without its prediction left out" if people.left_out else ""
    used = f"{counted(len(people.positions), 'position')} of {counted(games, 'game')}"
    about = f"{about}; {model_text}; {used}{left_out}"
    return people, about, model if people.has_human else None, way


def _own(
    context: typer.Context, url: str | None, game: str, portion: "Portion"
) -> tuple[list[StoredPosition], ModelInfo | None]:
    """The bot's own positions, and the model queried about all of them; None: only the shallow guess."""
    from lab.analysis.own_games import with_predictions

    async def read(database: Database) -> list[tuple[StoredPosition, GameRecord]]:
        async with database.read() as session:
            return [each async for each in own_positions(session, game) if portion.holds(each[0])]

    given = ask_database(context, read, url)
    try:
        model = config_of(context).human.model_registry().models(game).human
        if model.info.kind == SHALLOW:
            return [stored for stored, _ in given], None
        with counting(model.info.name, len(given)) as on_count:
            return with_predictions(model, given, on_count), model.info
    except BadModel as error:
        raise UsageError(f"human.models: {error}") from None


def _analysed(
    context: typer.Context,
    url: str | None,
    game: str,
    analysis: int | None,
    human: str | None,
    portion: "Portion",
) -> tuple[AnalysisSettings, list[StoredPosition], ModelInfo | None, dict[str, dict[int, tuple[float, ...]]]]:
    """The description of the analysis, its positions, their human-move model, and other models'
    probabilities.
    """
    from lab.analysis.population import load

    async def read(
        database: Database,
    ) -> tuple[AnalysisSettings, list[StoredPosition], ModelInfo | None, dict[str, Any]]:
        async with database.read() as session:
            chosen = _choose(await count_analyses(session, game), analysis, game)
            known = await list_models(session, chosen.id)
            first = _first(known, human)
            others = {} if first is None else _others(known, first)
            probabilities = {
                name: await predictions(session, chosen.id, number) for name, number in others.items()
            }
        found = await load(database, chosen.id, None if first is None else first[0], portion)
        return chosen.analysis, found, None if first is None else first[1], probabilities

    return ask_database(context, read, url)


def _choose(known: list[AnalysisCount], wanted: int | None, game: str) -> AnalysisCount:
    found = [each for each in known if wanted in (None, each.id)]
    if not found:
        which = "" if wanted is None else f" of number {wanted}"
        listed = ", ".join(str(each.id) for each in known)
        raise UsageError(
            f"there is no analysis of {game}{which}"
            + (f": there are {listed}" if known else ": `desdemona lab analyse` makes one")
        )
    return found[0]


Known = tuple[int, ModelInfo]


def _first(known: Sequence[Known], wanted: str | None) -> Known | None:
    """The requested human-move model, by name or SHA-256, by default the newest; None if there is none."""
    found = [each for each in known if wanted in (None, each[1].name)]
    if not found and wanted is not None and re.fullmatch("[0-9a-fA-F]{6,64}", wanted):
        found = [each for each in known if each[1].sha256.startswith(wanted.lower())]
    if not found and wanted is not None:
        names = ", ".join(_identity(info) for _, info in known) or "none"
        raise UsageError(f"--human: no predictions of {wanted!r} for these positions; models: {names}")
    return found[0] if found else None


def _others(known: Sequence[Known], first: Known) -> dict[str, int]:
    """The keys of the models other than the first, the oldest first, by unique names."""
    names = [info.name for _, info in known]
    return {
        info.name if names.count(info.name) == 1 else _identity(info): number
        for number, info in reversed(known)
        if number != first[0]
    }


def _identity(info: ModelInfo) -> str:
    """Name and first digits of the SHA-256, which --human accepts."""
    return f"{info.name} {info.sha256[:6]}"


def print_lines(text: str) -> None:
    """Print lines that contain names of models and files, with unprintable characters escaped."""
    for line in text.removesuffix("\n").split("\n"):
        print(printable(line))


def report_step(what: str) -> None:
    """Show the name of a step on standard error."""
    note(f"... {what}")
