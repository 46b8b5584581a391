"""`desdemona lab fit-person`: fits the prior of the people model to analysed games."""

import json
from enum import StrEnum
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from bot.cli.common import ShowFormat, UsageError, print_json
from engine.decision import ModelInfo
from engine.human.model import MAIA, BadModel
from lab.cli.lab_common import print_lines, report_step, require_writable, write_model
from lab.cli.study_data import StudyData, StudyOptions, calibrated_of, with_options

# Importing these takes a second, which other commands should not pay.
if TYPE_CHECKING:
    from lab.analysis.elo import RatedResult
    from lab.analysis.person_fitting import BaseProbabilities
    from lab.analysis.population import Population


class TiltedModel(StrEnum):
    """The base model to be tilted by the prior."""

    CALIBRATED = "calibrated"
    """The calibrated model, with the human-move model's predictions."""
    ALONE = "alone"
    """The calibrated model without the human-move model's predictions."""
    HUMAN = "human"
    """The human-move model."""


_MIN_PROBABILITY, _MIN_PROBABILITY_MAIA = 1e-5, 1e-4
"""Lower bound on a base model's probabilities (`engine.human.person_prior.BasePrior.least`)."""


@with_options
def fit_person_command(
    options: StudyOptions,
    out: Annotated[Path, typer.Option(help="Card to write (*.json); priors for other base models are kept.")],
    base: Annotated[TiltedModel, typer.Option(help="The model to tilt.")] = TiltedModel.CALIBRATED,
    calibrated: Annotated[
        Path | None, typer.Option(help="Calibrated model; default: the bundled model.")
    ] = None,
    truth_alone: Annotated[
        bool,
        typer.Option(
            "--truth-alone",
            help="Assume that people differ only in how well they see true values, not in how closely they "
            "follow the base model; use this for data with few replies per person.",
        ),
    ] = False,
    most_k: Annotated[
        float | None,
        typer.Option(
            min=4.0,
            max=100.0,
            help="Greatest k of the grid, if the fitted k lies at the grid's edge (default: 16, or 20 with "
            "--truth-alone).",
        ),
    ] = None,
    least_spread: Annotated[
        float,
        typer.Option(
            min=0.1,
            max=20.0,
            help="Minimum standard deviation of k; raise it if the prior is for people who differ more than "
            "those of the data.",
        ),
    ] = 0.1,
) -> None:
    """Fit the people model's prior.

    The prior tilts a base model: it describes how people of a given rating and speed depart from that model.
    It is fitted on one half of the persons, selected with --seed, and evaluated on the other half.
    """
    require_writable(out, ".json")
    known = _known_card(out)
    data = options.read()
    results = options.results() if options.elo else None
    _fit_person(
        options,
        data,
        base_probabilities(data.people, data.human, base, calibrated),
        results,
        truth_alone,
        most_k,
        least_spread,
        known,
        out,
    )


def base_probabilities(
    people: "Population", human: ModelInfo | None, base: TiltedModel, calibrated: Path | None
) -> "BaseProbabilities":
    """The probabilities of a population's replies by a base model.

    Args:
        people: The population.
        human: The human-move model whose predictions it has; None if there is none.
        base: The kind of the base model.
        calibrated: A calibrated model's file; None for the bundled one.

    Raises:
        UsageError: There is no such model, or it needs predictions that are missing.
    """
    from engine.human.person_prior import base_key
    from lab.analysis.person_fitting import BaseProbabilities
    from lab.analysis.study import model_probabilities

    if human is None and base is not TiltedModel.ALONE:
        raise UsageError(f"--base {base}: there are no predictions of a human-move model for these positions")
    if base is TiltedModel.HUMAN and human is not None:
        if calibrated is not None:
            raise UsageError("--calibrated cannot be combined with --base human")
        least = _MIN_PROBABILITY_MAIA if human.kind == MAIA else _MIN_PROBABILITY
        return BaseProbabilities(human.name, base_key(human), people.models[human.name], least)
    model = calibrated_of(calibrated, people.game.name)
    if model is None:
        raise UsageError(
            f"there is no bundled calibrated model for {people.game.name}; pass one with --calibrated"
        )
    beside = None if base is TiltedModel.ALONE else human
    name = model.info.name if beside is None else f"{model.info.name} beside {beside.name}"
    probabilities = model_probabilities(people, model, beside is not None)
    return BaseProbabilities(name, base_key(model.info, beside), probabilities, _MIN_PROBABILITY)


def _known_card(out: Path) -> dict[str, Any] | None:
    """The existing card, to which the prior is added; None if there is no card yet."""
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
    options: StudyOptions,
    data: StudyData,
    base: "BaseProbabilities",
    results: "list[RatedResult] | None",
    truth_alone: bool,
    most_k: float | None,
    least_spread: float,
    known: dict[str, Any] | None,
    out: Path,
) -> None:
    from engine.human.person_prior import PersonPrior, RatingScale
    from lab.analysis.elo import SETTLED_GAMES, games_before, standings
    from lab.analysis.person_fitting import (
        TILTS,
        TRUTH_ALONE,
        fit_person_prior,
        merged_card,
        replies_of,
        with_most_k,
    )
    from lab.analysis.recorded_games import year_of
    from lab.analysis.study_report import person_text

    people, game = data.people, data.people.game.name
    depth = max(len(reply.scores_centi) + 1 for each in people.positions for reply in each.found.replies)
    years = [year for each in people.positions if (year := year_of(each.date)) is not None]
    report_step("costs and ratings")
    replies = replies_of(
        people,
        base.probabilities,
        depth,
        None if results is None else standings(results),
        None if results is None or not years else games_before(results, min(years)),
    )
    scale = (
        RatingScale("the site's own", 1600.0, 400.0, 2.0, 0)
        if results is None
        else RatingScale("Elo from the results of the imported games", 1600.0, 200.0, 3.0, SETTLED_GAMES)
    )
    grid = TRUTH_ALONE if truth_alone else TILTS
    if most_k is not None:
        grid = with_most_k(grid, most_k)
    fitted = fit_person_prior(
        game,
        replies,
        base,
        depth,
        grid,
        scale,
        least_spread_k=least_spread,
        seed=options.seed,
        resamples=options.resamples,
        on_step=report_step,
    )
    about = {key: value for key, value in data.card.items() if key != "game"}
    card = merged_card(game, known, fitted.record(about))
    content = write_model(out, card)
    if options.output is ShowFormat.JSON:
        print_json(card)
    else:
        version = PersonPrior.parse(content, str(out)).version
        print_lines(f"{data.description}\n{person_text(fitted)}{out}: sha256 {version}\n")
