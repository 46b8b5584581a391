"""`desdemona lab fit`: fits calibrated models to analysed games."""

from pathlib import Path
from typing import Annotated

import typer

from bot.cli.common import ShowFormat, UsageError, print_json
from lab.cli.lab_common import print_lines, report_step, require_extra, require_writable, write_model
from lab.cli.study_data import PersonHalf, StudyOptions, calibrated_of, with_options


@with_options
def fit_command(
    options: StudyOptions,
    out: Annotated[
        Path, typer.Option(help="Model file to write (*.onnx); the model card (*.json) is written beside it.")
    ],
    against: Annotated[
        Path | None,
        typer.Option(help="The model that the new one must beat; by default, the bundled model."),
    ] = None,
    first: Annotated[
        bool,
        typer.Option(
            "--first", help="Compare only with the human-move model, or else chance, not an earlier model."
        ),
    ] = False,
    person_half: PersonHalf = None,
    name: Annotated[str | None, typer.Option(help="The model's name.")] = None,
) -> None:
    """Fit a calibrated model.

    Its inputs are the replies' profiles, a human-move model's predictions, the rating, the clock and the
    stage of the game. The command reports the numbers and rejects the new model unless it beats the current
    one in cross-validation by game and, with no human-move model, is not worse. It also fails if
    there is too little data. Needs the extra `lab`.
    """
    require_extra("lab fit", "sklearn")
    from engine.human.onnx import MAX_NAME_LENGTH
    from lab.analysis.fitting import fit
    from lab.analysis.study_report import fitted_text

    if name is not None and not (name.isprintable() and len(name) <= MAX_NAME_LENGTH):
        raise UsageError(f"--name: {name!r} is not at most {MAX_NAME_LENGTH} printable characters")
    if first and against is not None:
        raise UsageError("--first and --against cannot be combined")
    require_writable(out, ".onnx")
    other = None if first else calibrated_of(against, options.game)
    data = options.read(person_half)
    fitted = fit(
        data.people,
        name=name or f"calibrated-{options.game}",
        against=other,
        seed=options.seed,
        resamples=options.resamples,
        on_step=report_step,
    )
    card = fitted.card(data.card)
    write_model(out, card, fitted.data)
    if options.output is ShowFormat.JSON:
        print_json(card)
    else:
        print_lines(f"{data.description}\n{fitted_text(fitted)}{out}: sha256 {fitted.model.info.sha256}\n")
