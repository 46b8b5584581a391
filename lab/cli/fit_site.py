"""`desdemona lab fit-site`: learns how a site's people differ from the model's, and what its ratings mean."""

from dataclasses import asdict
from pathlib import Path
from typing import Annotated

import typer

from bot.cli.common import ShowFormat, UsageError, print_json
from engine.human.model import BadModel
from lab.cli.fit_person import TiltedModel, base_probabilities
from lab.cli.lab_common import print_lines, report_step, require_writable
from lab.cli.study_data import StudyOptions, with_options


@with_options
def fit_site_command(
    options: StudyOptions,
    out: Annotated[Path, typer.Option(help="File to write with the state of the site.")],
    base: Annotated[
        TiltedModel, typer.Option(help="The model whose predictions to use.")
    ] = TiltedModel.HUMAN,
    card: Annotated[
        Path | None, typer.Option(help="Card of the people model; default: the bundled one.")
    ] = None,
) -> None:
    """Learn a site's tilt and its scale of ratings.

    It learns from one half of the persons, selected with --seed, and counts the errors of the other half.
    """
    require_writable(out, out.suffix)
    # Importing these takes a second, which other commands should not pay.
    from engine.human.person_prior import card_path, read_card
    from engine.person.site import SiteModel
    from lab.analysis.person_fitting import replies_of
    from lab.analysis.persons import is_person
    from lab.cli.site_fitting import fit_site, site_games

    data = options.read()
    game = data.people.game.name
    try:
        prior = read_card(card or card_path(game))
    except BadModel as error:
        raise UsageError(str(error)) from None
    model = base_probabilities(data.people, data.human, base, None)
    if model.base not in prior.bases:
        raise UsageError(f"the people model has no prior for {model.name}")
    report_step("costs and ratings")
    replies = replies_of(data.people, model.probabilities, prior.bases[model.base].depth, None, None)
    games = site_games(replies, [each.game_key for each in data.people.positions if is_person(each.name)])
    fitted = fit_site(prior, model.base, games, options.seed)
    out.write_bytes(fitted.state.to_bytes())
    site, state, errors = SiteModel(prior, model.base), fitted.state, fitted.errors
    shift, curve = site.shift(state), site.curve(state)
    ratings = list(zip(curve.site, curve.model, strict=True))
    if options.output is ShowFormat.JSON:
        print_json(
            {
                "games": state.games,
                "replies": state.replies,
                "shift": shift,
                "curve": ratings,
                "errors": asdict(errors),
            }
        )
        return
    of_happened = [each / max(1, errors.happened) for each in (errors.expected_before, errors.expected_after)]
    print_lines(
        f"{data.description}\n"
        f"Learned from {state.replies} replies in {state.games} games of people at the site: "
        f"shift x {shift[0]:+.2f}, k {shift[1]:+.2f}\n"
        f"Ratings on the model's scale: {', '.join(f'{a:g}: {b:g}' for a, b in ratings) or 'none'}\n"
        f"Errors expected for each of {errors.happened} by {errors.persons} other persons: "
        f"{of_happened[0]:.2f} before, {of_happened[1]:.2f} after\n"
    )
