"""The options of `desdemona lab fit` and `lab fit-person` that choose the data, and the card."""

import shlex
import sys
from collections.abc import Callable
from dataclasses import MISSING, asdict, dataclass, fields
from inspect import Parameter, Signature, signature
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from bot.cli.common import ShowFormat, UsageError, note
from engine.decision import ModelInfo
from lab.cli.study import (
    AnalysisId,
    DatabaseUrl,
    Elo,
    FromYear,
    Half,
    ModelId,
    ReplyMaxRating,
    ReplyMinRating,
    ResamplesOption,
    Seed,
    StudyGameOption,
    ToYear,
    read_people,
)

# Importing it takes a second, which other commands should not pay.
if TYPE_CHECKING:
    from lab.analysis.population import Population


@dataclass(frozen=True, slots=True, kw_only=True)
class FitOptions:
    """The data to fit a model to, and the form of the result; each field is an option of both commands."""

    context: typer.Context
    game: StudyGameOption
    elo: Elo = False
    analysis: AnalysisId = None
    human: ModelId = None
    own: Annotated[
        bool,
        typer.Option("--own", help="Fit to the bot's own games with people instead of the analysed games."),
    ] = False
    half: Half = None
    seed: Seed = 1
    from_year: FromYear = None
    to_year: ToYear = None
    min_rating: ReplyMinRating = None
    max_rating: ReplyMaxRating = None
    resamples: ResamplesOption = 1000
    database: DatabaseUrl = None
    output: Annotated[ShowFormat, typer.Option("--format", help="Output format.")] = ShowFormat.TABLE

    def read(self, person_half: int | None = None) -> "FitData":
        """The data; a note on standard error describes them.

        Args:
            person_half: Only replies of one half of the persons, 0 or 1; None: of all.

        Raises:
            UsageError: There are none.
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
        people, description, model, _ = read_people(
            self.context,
            self.database,
            self.game,
            self.analysis,
            self.human,
            portion,
            self.own,
            elo=self.elo,
        )
        note(description)
        card = {
            "game": people.game.name,
            "data": description,
            "portion": {key: value for key, value in asdict(portion).items() if value is not None},
            "seed": self.seed,
            "command": shlex.join(["desdemona", *sys.argv[1:]]),
        }
        return FitData(people, model, description, card)


@dataclass(frozen=True, slots=True)
class FitData:
    """The data of a fit."""

    people: "Population"
    human: ModelInfo | None
    """The human-move model with predictions for them."""
    description: str
    card: dict[str, Any]
    """Their description for a model's card, as plain JSON values."""


def with_options(command: Callable[..., None]) -> Callable[..., None]:
    """The command for typer: its first parameter, `FitOptions`, becomes an option for each field."""
    own = list(signature(command).parameters.values())[1:]
    parameters = [each.replace(kind=Parameter.KEYWORD_ONLY) for each in own] + [
        Parameter(
            each.name,
            Parameter.KEYWORD_ONLY,
            default=Parameter.empty if each.default is MISSING else each.default,
            annotation=each.type,
        )
        for each in fields(FitOptions)
    ]

    # Any: values of options, which typer has checked.
    def run(**given: Any) -> None:
        shared = {each.name: given.pop(each.name) for each in fields(FitOptions)}
        command(FitOptions(**shared), **given)

    run.__signature__ = Signature(parameters)  # type: ignore[attr-defined]  # what `inspect` reads
    run.__annotations__ = {each.name: each.annotation for each in parameters}
    run.__doc__ = command.__doc__
    return run


def require_writable(out: Path, suffix: str) -> None:
    """Check as much as possible before the long fit."""
    if out.suffix != suffix:
        raise UsageError(f"--out: {out} does not end in {suffix}")
    if not out.parent.is_dir():
        raise UsageError(f"--out: {out.parent} is no folder")
    for path in (out, card_of(out)):
        if path.exists() and not path.is_file():
            raise UsageError(f"--out: {path} is not a regular file")


def card_of(out: Path) -> Path:
    """Path of a model's card."""
    return out.with_suffix(".json")
