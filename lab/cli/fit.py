"""`desdemona lab fit`: fits calibrated models, and the prior of the people model, to analysed games."""

import json
import shlex
import sys
from dataclasses import asdict
from enum import StrEnum
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from bot.base.files import write_whole
from bot.cli.common import ShowFormat, UsageError, note, print_json
from engine.decision import ModelInfo
from engine.human.model import MAIA, BadModel
from lab.cli.study import (
    AnalysisId,
    DatabaseUrl,
    Elo,
    FromYear,
    Half,
    ModelId,
    PersonHalf,
    ReplyMaxRating,
    ReplyMinRating,
    ResamplesOption,
    Seed,
    StudyGameOption,
    ToYear,
    calibrated_of,
    print_lines,
    read_people,
    report_step,
    require_extra,
    results_of,
)

# Importing these takes a second, which other commands should not pay.
if TYPE_CHECKING:
    from lab.analysis.elo import RatedResult
    from lab.analysis.fitting import Fitted
    from lab.analysis.person_fitting import BaseOdds
    from lab.analysis.population import Population, Portion


class TiltedModel(StrEnum):
    """The model that the prior of the people model tilts."""

    CALIBRATED = "calibrated"
    """The calibrated model, with the human-move model's predictions."""
    ALONE = "alone"
    """The calibrated model without them."""
    HUMAN = "human"
    """The human-move model."""


_LEAST, _LEAST_MAIA = 1e-5, 1e-4
"""Least probability of a base model that counts (`engine.human.person_prior.BasePrior.least`)."""


def fit_command(
    context: typer.Context,
    game: StudyGameOption,
    out: Annotated[
        Path,
        typer.Option(
            help="The model's file (*.onnx); its card (*.json) goes beside it.  With --person the card "
            "(*.json), whose priors over other base models stay."
        ),
    ],
    person: Annotated[
        bool,
        typer.Option(
            "--person",
            help="Fit the prior of the people model, which tilts a base model by rating and speed.",
        ),
    ] = False,
    base: Annotated[
        TiltedModel,
        typer.Option(help="With --person: the model to tilt."),
    ] = TiltedModel.CALIBRATED,
    calibrated: Annotated[
        Path | None, typer.Option(help="With --person: the calibrated model; by default the bundled one.")
    ] = None,
    elo: Elo = False,
    truth_alone: Annotated[
        bool,
        typer.Option(
            "--truth-alone",
            help="With --person: people differ in the truth they see alone, not in how closely they follow "
            "the base model; for few replies a person.",
        ),
    ] = False,
    analysis: AnalysisId = None,
    human: ModelId = None,
    own: Annotated[
        bool,
        typer.Option("--own", help="Fit to the bot's own games with people instead of the analysed games."),
    ] = False,
    against: Annotated[
        Path | None,
        typer.Option(help="The model to beat; by default the bundled one."),
    ] = None,
    first: Annotated[
        bool, typer.Option("--first", help="The model only has to beat the human-move model, or chance.")
    ] = False,
    half: Half = None,
    person_half: PersonHalf = None,
    seed: Seed = 1,
    from_year: FromYear = None,
    to_year: ToYear = None,
    min_rating: ReplyMinRating = None,
    max_rating: ReplyMaxRating = None,
    resamples: ResamplesOption = 1000,
    name: Annotated[str | None, typer.Option(help="The model's name.")] = None,
    database: DatabaseUrl = None,
    output: Annotated[ShowFormat, typer.Option("--format", help="How to write it.")] = ShowFormat.TABLE,
) -> None:
    """Fit a calibrated model, or the people model's prior.

    Its inputs are the replies' profiles, a human-move model's predictions, the rating, the clock and the
    stage of the game.  The command rejects a model, with the numbers, unless it beats the current one in
    cross-validation by game and is not worse without a human-move model; it also rejects too little data.
    Needs the extra `lab`.

    With --person it fits the prior of the people model instead: how people of a rating, at a speed, depart
    from a base model.  One half of the persons, drawn by --seed, teaches it and the other half judges it.
    """
    from lab.analysis.population import Portion

    portion = Portion(
        half=half,
        person_half=person_half,
        seed=seed,
        from_year=from_year,
        to_year=to_year,
        min_rating=min_rating,
        max_rating=max_rating,
    )
    if person:
        if first or against is not None or name is not None or person_half is not None:
            raise UsageError("--person cannot go with --first, --against, --name or --person-half")
        _require_writable(out, ".json")
        known = _known_card(out)
        people, about, model, _ = read_people(context, database, game, analysis, human, portion, own, elo=elo)
        note(about)
        results = results_of(context, database, game) if elo else None
        over = _base_of(people, model, base, calibrated)
        _fit_person(
            people,
            over,
            results,
            truth_alone,
            known,
            out,
            _about(people, about, seed, portion),
            resamples,
            output,
        )
        return
    if calibrated is not None or truth_alone or base is not TiltedModel.CALIBRATED:
        raise UsageError("--base, --calibrated and --truth-alone go with --person")
    require_extra("lab fit", "sklearn")
    from engine.human.onnx import LONGEST_NAME
    from lab.analysis.fitting import fit
    from lab.analysis.report import fitted_text
    from lab.training.calibrated import NoScikit

    if name is not None and not (name.isprintable() and len(name) <= LONGEST_NAME):
        raise UsageError(f"--name: {name!r} is not at most {LONGEST_NAME} printable characters")
    if first and against is not None:
        raise UsageError("--first and --against exclude each other")
    _require_writable(out, ".onnx")
    other = None if first else calibrated_of(against, game)
    people, about, _, _ = read_people(context, database, game, analysis, human, portion, own, elo=elo)
    note(about)
    try:
        fitted = fit(
            people,
            name=name or f"calibrated-{game}",
            against=other,
            seed=seed,
            resamples=resamples,
            on_step=report_step,
        )
    except NoScikit as error:
        raise UsageError(str(error)) from None
    card = fitted.card(_about(people, about, seed, portion))
    _write(out, fitted, card)
    if output is ShowFormat.JSON:
        print_json(card)
    else:
        print_lines(f"{about}\n{fitted_text(fitted)}{out}: sha256 {fitted.model.info.sha256}\n")


def _about(people: "Population", about: str, seed: int, portion: "Portion") -> dict[str, Any]:
    return {
        "game": people.game.name,
        "data": about,
        "portion": {key: value for key, value in asdict(portion).items() if value is not None},
        "seed": seed,
        "command": shlex.join(["desdemona", *sys.argv[1:]]),
    }


def _require_writable(out: Path, suffix: str) -> None:
    """Check as much as possible before the long fit."""
    if out.suffix != suffix:
        raise UsageError(f"--out: {out} does not end in {suffix}")
    if not out.parent.is_dir():
        raise UsageError(f"--out: {out.parent} is no folder")
    for path in (out, _card_of(out)):
        if path.exists() and not path.is_file():
            raise UsageError(f"--out: {path} is no regular file")


def _card_of(out: Path) -> Path:
    return out.with_suffix(".json")


def _write(out: Path, fitted: "Fitted", card: dict[str, Any]) -> None:
    text = json.dumps(card, indent=2, ensure_ascii=False) + "\n"
    try:
        write_whole({out: fitted.data, _card_of(out): text.encode()})
    except OSError as error:
        raise UsageError(f"--out: {out}: {error.strerror}") from None


# --- The people model -----------------------------------------------------------------------------------


def _base_of(
    people: "Population", human: ModelInfo | None, base: TiltedModel, calibrated: Path | None
) -> "BaseOdds":
    from engine.human.person_prior import base_key
    from lab.analysis.person_fitting import BaseOdds
    from lab.analysis.study import model_odds

    if human is None and base is not TiltedModel.ALONE:
        raise UsageError(f"--base {base}: there are no predictions of a human-move model for these positions")
    if base is TiltedModel.HUMAN and human is not None:
        if calibrated is not None:
            raise UsageError("--calibrated cannot go with --base human")
        least = _LEAST_MAIA if human.kind == MAIA else _LEAST
        return BaseOdds(human.name, base_key(human), people.models[human.name], least)
    model = calibrated_of(calibrated, people.game.name)
    if model is None:
        raise UsageError(f"there is no calibrated model of {people.game.name}; name one with --calibrated")
    beside = None if base is TiltedModel.ALONE else human
    name = model.info.name if beside is None else f"{model.info.name} beside {beside.name}"
    odds = model_odds(people, model, beside is not None)
    return BaseOdds(name, base_key(model.info, beside), odds, _LEAST)


def _known_card(out: Path) -> dict[str, Any] | None:
    """The card to extend; None: there is none."""
    from engine.human.person_prior import PersonPrior

    if not out.exists():
        return None
    try:
        data = out.read_bytes()
        PersonPrior.parse(data, str(out))
    except OSError as error:
        raise UsageError(f"--out: {out}: {error.strerror}") from None
    except BadModel as error:
        raise UsageError(f"--out: {error}") from None
    content: dict[str, Any] = json.loads(data)
    return content


def _fit_person(
    people: "Population",
    base: "BaseOdds",
    results: "list[RatedResult] | None",
    truth_alone: bool,
    known: dict[str, Any] | None,
    out: Path,
    about: dict[str, Any],
    resamples: int,
    output: ShowFormat,
) -> None:
    from engine.human.person_prior import PersonPrior, RatingScale
    from lab.analysis.elo import SETTLED_GAMES, games_before, standings
    from lab.analysis.games import year_of
    from lab.analysis.person_fitting import (
        TILTS,
        TRUTH_ALONE,
        fit_person_prior,
        merged_card,
        replies_of,
    )
    from lab.analysis.report import person_text

    game = people.game.name
    depth = max(len(reply.scores_centi) + 1 for each in people.positions for reply in each.found.replies)
    years = [year for each in people.positions if (year := year_of(each.date)) is not None]
    report_step("costs and ratings")
    data = replies_of(
        people,
        base.odds,
        depth,
        None if results is None else standings(results),
        None if results is None or not years else games_before(results, min(years)),
    )
    scale = (
        RatingScale("the site's own", 1600.0, 400.0, 2.0, 0)
        if results is None
        else RatingScale("Elo over the results of the imported games", 1600.0, 200.0, 3.0, SETTLED_GAMES)
    )
    grid = TRUTH_ALONE if truth_alone else TILTS
    fitted = fit_person_prior(
        game,
        data,
        base,
        depth,
        grid,
        scale,
        seed=about["seed"],
        resamples=resamples,
        on_step=report_step,
    )
    card = merged_card(
        game, known, fitted.record({key: about[key] for key in ("data", "portion", "seed", "command")})
    )
    text = json.dumps(card, indent=2, ensure_ascii=False) + "\n"
    try:
        write_whole({out: text.encode()})
    except OSError as error:
        raise UsageError(f"--out: {out}: {error.strerror}") from None
    if output is ShowFormat.JSON:
        print_json(card)
    else:
        version = PersonPrior.parse(text.encode(), str(out)).version
        print_lines(f"{about['data']}\n{person_text(fitted)}{out}: sha256 {version}\n")
