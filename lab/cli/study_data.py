"""Selects and loads the replies that `lab study`, `lab fit` and `lab fit-person` use."""

import re
import shlex
import sys
from collections.abc import Callable, Sequence
from dataclasses import MISSING, asdict, dataclass, fields
from inspect import Parameter, Signature, signature
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from bot.base.rounding import plural
from bot.cli.common import (
    MAX_OPTION_VALUE,
    ShowFormat,
    UsageError,
    ask_database,
    config_of,
    print_note,
    require_known,
)
from bot.cli.progress import show_progress
from engine.decision import ModelInfo
from engine.formats.record import GameRecord
from engine.games import GAMES
from engine.human.model import SHALLOW, BadModel
from engine.human.reply_model import default_path
from lab.analysis.analysed_games import (
    AnalysisCount,
    AnalysisSettings,
    StoredPosition,
    count_analyses,
    list_models,
    predictions,
)
from storage.database import Database

# Importing these takes a second, which other commands should not pay.
if TYPE_CHECKING:
    from engine.human.calibrated import CalibratedModel
    from lab.analysis.elo import RatedResult
    from lab.analysis.population import Population, Portion

PersonHalf = Annotated[
    int | None,
    typer.Option(
        min=0,
        max=1,
        help="Use only half 0 or 1 of the persons, as split by --seed.  "
        "Bundled models whose cards contain person_half were fitted to half 0 with seed 1.",
    ),
]


@dataclass(frozen=True, slots=True, kw_only=True)
class StudyOptions:
    """Selects people's replies and the output format; each field is an option of the commands."""

    context: typer.Context
    game: Annotated[str, typer.Option("--game", help="Game, for instance chess or othello.")]
    elo: Annotated[
        bool,
        typer.Option(
            "--elo",
            help="Compute ratings from the results of all imported games, for sources without ratings.",
        ),
    ] = False
    analysis: Annotated[
        int | None,
        typer.Option(
            "--analysis",
            metavar="NUMBER",
            help="Number of the analysis to use; by default, the one with the most positions.",
        ),
    ] = None
    human: Annotated[
        str | None,
        typer.Option(
            "--human",
            metavar="NAME",
            help="Name of the human-move model whose predictions are used, or at least the first six digits "
            "of its SHA-256; by default, the newest model.",
        ),
    ] = None
    own: Annotated[
        bool, typer.Option("--own", help="Use the bot's own games with people instead of the analysed games.")
    ] = False
    half: Annotated[
        int | None,
        typer.Option(min=0, max=1, help="Use only half 0 or 1 of the games, as split by --seed."),
    ] = None
    seed: Annotated[
        int, typer.Option(min=0, max=2**31 - 1, help="Random seed for the halves, folds and resamples.")
    ] = 1
    from_year: Annotated[int | None, typer.Option(help="Use only games from this year or later.")] = None
    to_year: Annotated[int | None, typer.Option(help="Use only games from this year or earlier.")] = None
    min_rating: Annotated[
        int | None,
        typer.Option(max=MAX_OPTION_VALUE, help="Use only replies by people with at least this rating."),
    ] = None
    max_rating: Annotated[
        int | None,
        typer.Option(max=MAX_OPTION_VALUE, help="Use only replies by people with at most this rating."),
    ] = None
    resamples: Annotated[
        int, typer.Option(min=20, max=100_000, help="Number of bootstrap resamples for the intervals.")
    ] = 1000
    database: Annotated[
        str | None,
        typer.Option("--database", metavar="URL", help="Database to use instead of the configured one."),
    ] = None
    output: Annotated[ShowFormat, typer.Option("--format", help="Output format.")] = ShowFormat.TABLE

    def read(self, person_half: int | None = None) -> "StudyData":
        """Load the data and describe it on standard error.

        Args:
            person_half: Only replies of half 0 or 1 of the persons; None: all persons.

        Raises:
            UsageError: No replies are selected.
        """
        from lab.analysis.population import Portion

        portion = Portion(
            half=self.half,
            person_half=person_half,
            seed=self.seed,
            from_year=self.from_year,
            to_year=self.to_year,
            min_rating=self.min_rating,
            max_rating=self.max_rating,
        )
        data = read_people(self, portion)
        print_note(data.description)
        return data

    def results(self) -> "list[RatedResult]":
        """The results of all imported games, in import order."""
        from lab.analysis.elo import results_of

        results = ask_database(self.context, lambda database: results_of(database, self.game), self.database)
        print_note(f"{len(results)} imported games with a result")
        return results


@dataclass(frozen=True, slots=True)
class StudyData:
    """People's replies, with the source of the data."""

    people: "Population"
    human: ModelInfo | None
    """The human-move model with predictions for the replies, if any."""
    analysis: AnalysisSettings | None
    """Settings of the analysis; None for the bot's own games, which were searched during play."""
    description: str
    portion: "Portion"
    analysis_id: int | None
    """Key of the analysis; None for the bot's own games."""

    @property
    def card(self) -> dict[str, Any]:
        """A description of the data for a model's card, as plain JSON values."""
        portion = {key: value for key, value in asdict(self.portion).items() if value is not None}
        return {
            "game": self.people.game.name,
            "data": self.description,
            "portion": portion,
            "seed": self.portion.seed,
            "command": shlex.join(["desdemona", *sys.argv[1:]]),
        }


def with_options(command: Callable[..., None]) -> Callable[..., None]:
    """Convert a command for typer: each field of its first parameter, `StudyOptions`, becomes an option."""
    own = list(signature(command).parameters.values())[1:]
    parameters = [each.replace(kind=Parameter.KEYWORD_ONLY) for each in own] + [
        Parameter(
            each.name,
            Parameter.KEYWORD_ONLY,
            default=Parameter.empty if each.default is MISSING else each.default,
            annotation=each.type,
        )
        for each in fields(StudyOptions)
    ]

    # Any: values of options, which typer has checked.
    def run(**given: Any) -> None:
        shared = {each.name: given.pop(each.name) for each in fields(StudyOptions)}
        command(StudyOptions(**shared), **given)

    run.__signature__ = Signature(parameters)  # type: ignore[attr-defined]  # what `inspect` reads
    run.__annotations__ = {each.name: each.annotation for each in parameters}
    run.__doc__ = command.__doc__
    return run


def calibrated_of(path: Path | None, game: str) -> "CalibratedModel | None":
    """Load a calibrated model from a file, by default the bundled one; None if no model is bundled."""
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


def read_people(options: StudyOptions, portion: "Portion") -> StudyData:
    """Load the requested positions; with `StudyOptions.elo`, people who have played enough imported games
    get ratings from the results of all imported games (`lab.analysis.elo`).

    Raises:
        UsageError: No position is selected.
    """
    from lab.analysis.elo import standings, with_ratings
    from lab.analysis.population import population

    game = options.game
    require_known("--game", game, GAMES)
    if options.elo and (options.own or portion.min_rating is not None or portion.max_rating is not None):
        raise UsageError("--elo cannot be combined with --own, --min-rating or --max-rating")
    others: dict[str, dict[int, tuple[float, ...]]] = {}
    way = analysis_id = None
    if options.own:
        if options.analysis is not None or options.human is not None:
            raise UsageError(
                "--analysis and --human are for analysed games and cannot be combined with --own"
            )
        positions, model = _own(options, portion)
        about = f"{game}: the bot's own games with people"
    else:
        chosen, positions, model, others = _analysed(options, portion)
        way, analysis_id = chosen.analysis, chosen.id
        about = f"{game}: {way.source}, depth {way.depth}"
    if not positions:
        raise UsageError(f"{about}: no position passes the filters")
    if options.elo:
        positions = with_ratings(positions, standings(options.results()))
        about += ", rated by results"
    with show_progress("positions", len(positions)) as on_count:
        people = population(game, positions, "" if model is None else model.name, others, on_count)
    if model is None or not people.has_human:
        model_text = "no human-move model"
    else:
        model_text = f"human-move model {model_identity(model)}"
    games = int(people.games.max()) + 1
    left_out = (
        f", {people.left_out} others left out because they lack its prediction" if people.left_out else ""
    )
    used = f"{plural(len(people.positions), 'position')} of {plural(games, 'game')}"
    about = f"{about}; {model_text}; {used}{left_out}"
    return StudyData(people, model if people.has_human else None, way, about, portion, analysis_id)


def _own(options: StudyOptions, portion: "Portion") -> tuple[list[StoredPosition], ModelInfo | None]:
    """The bot's own positions, and the human-move network that predicts all of them, if any."""
    from lab.analysis.own_games import own_positions, with_predictions

    async def read(database: Database) -> list[tuple[StoredPosition, GameRecord]]:
        async with database.read() as session:
            return [each async for each in own_positions(session, options.game) if portion.holds(each[0])]

    given = ask_database(options.context, read, options.database)
    try:
        model = config_of(options.context).human.model_registry().models(options.game).human
        if model.info.kind == SHALLOW:
            return [stored for stored, _ in given], None
        with show_progress(model.info.name, len(given)) as on_count:
            return with_predictions(model, given, on_count), model.info
    except BadModel as error:
        raise UsageError(f"human.models: {error}") from None


def _analysed(
    options: StudyOptions, portion: "Portion"
) -> tuple[AnalysisCount, list[StoredPosition], ModelInfo | None, dict[str, dict[int, tuple[float, ...]]]]:
    """The analysis, its positions, their human-move model, and other models' probabilities."""
    from lab.analysis.population import load

    async def read(
        database: Database,
    ) -> tuple[AnalysisCount, list[StoredPosition], ModelInfo | None, dict[str, Any]]:
        async with database.read() as session:
            chosen = _choose(await count_analyses(session, options.game), options)
            known = await list_models(session, chosen.id)
            first = _first(known, options.human)
            others = {} if first is None else _others(known, first)
            probabilities = {
                name: await predictions(session, chosen.id, number) for name, number in others.items()
            }
        found = await load(database, chosen.id, None if first is None else first[0], portion)
        return chosen, found, None if first is None else first[1], probabilities

    return ask_database(options.context, read, options.database)


def _choose(known: list[AnalysisCount], options: StudyOptions) -> AnalysisCount:
    game, wanted = options.game, options.analysis
    found = [each for each in known if wanted in (None, each.id)]
    if not found:
        which = "" if wanted is None else f" with number {wanted}"
        listed = ", ".join(str(each.id) for each in known)
        raise UsageError(
            f"there is no {game} analysis{which}"
            + (f"; known: {listed}" if known else ": run `desdemona lab analyse`")
        )
    return found[0]


Known = tuple[int, ModelInfo]


def _first(known: Sequence[Known], wanted: str | None) -> Known | None:
    """The human-move model with the wanted name or SHA-256, by default the newest; None if there is none."""
    found = [each for each in known if wanted in (None, each[1].name)]
    if not found and wanted is not None and re.fullmatch("[0-9a-fA-F]{6,64}", wanted):
        found = [each for each in known if each[1].sha256.startswith(wanted.lower())]
    if not found and wanted is not None:
        names = ", ".join(model_identity(info) for _, info in known) or "none"
        raise UsageError(f"--human: no predictions of {wanted!r} for these positions; models: {names}")
    return found[0] if found else None


def _others(known: Sequence[Known], first: Known) -> dict[str, int]:
    """Maps unique names to the keys of all models except `first`, from oldest to newest."""
    names = [info.name for _, info in known]
    return {
        info.name if names.count(info.name) == 1 else model_identity(info): number
        for number, info in reversed(known)
        if number != first[0]
    }


def model_identity(info: ModelInfo) -> str:
    """Name and first digits of the SHA-256; --human accepts either."""
    return f"{info.name} {info.sha256[:6]}"
