"""`desdemona lab fit-pair`: fits what a position is worth between two players of known ratings."""

import shlex
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Annotated

import typer

from bot.cli.common import ShowFormat, UsageError, print_json, print_note
from lab.cli.lab_common import print_lines, report_step, require_writable, write_model

_EVERY = 1_000
"""Positions between two notes of progress."""


def fit_pair_command(
    folder: Annotated[
        Path, typer.Argument(help="Folder with people's games: .wtb with .jou, .pgn, or .tsv.gz of xiangqi.")
    ],
    out: Annotated[Path, typer.Option(help="Card to write (*.json).")],
    game: Annotated[str, typer.Option(help="The game.")] = "othello",
    learn_to: Annotated[
        int | None,
        typer.Option(help="Last year to learn from; later years measure. Default: halves of the games."),
    ] = None,
    positions: Annotated[
        int, typer.Option(min=100, help="Positions to learn from, and to test on.")
    ] = 12_000,
    nodes: Annotated[int, typer.Option(min=100, help="Positions visited by each search.")] = 8_000,
    per_game: Annotated[int, typer.Option(min=1, help="Positions from each game.")] = 3,
    source: Annotated[str, typer.Option(help="Where the games come from, for the card.")] = "",
    seed: Annotated[int, typer.Option(help="Seed of the sample.")] = 1,
    output: Annotated[ShowFormat, typer.Option(help="Output format.")] = ShowFormat.TABLE,
) -> None:
    """Fit what a position is worth between two players.

    Prints its log-loss on games that were held out, beside that of the game's own scale.
    """
    from lab.analysis.pair_values import fit, fit_text, is_tested, measure, rated_games, samples
    from lab.analysis.reply_profiles import AnalysisError

    require_writable(out, ".json")
    try:
        report_step("games and ratings")
        games = rated_games(game, folder, on_bad=print_note)
        parts = [
            [each for each in games if is_tested(each, learn_to, seed) is tested] for tested in (False, True)
        ]
        found = []
        for name, part in zip(("to learn", "to test"), parts, strict=True):
            report_step(f"{len(part):,} games {name}")
            found.append(samples(part, positions, seed, nodes, per_game, _progress()))
        if not all(found):
            raise UsageError(f"{folder}: no games of {game} to learn from, or none to test on")
        learned, tested = found
        result = measure(fit(learned), learned, tested)
    except AnalysisError as error:
        raise UsageError(str(error)) from None
    about = {
        "game": game,
        "source": source or folder.name,
        "split": "halves of the games" if learn_to is None else f"games to {learn_to} learn, later ones test",
        "nodes": nodes,
        "per_game": per_game,
        "seed": seed,
        "command": shlex.join(["desdemona", *sys.argv[1:]]),
    }
    card = result.card(about)
    write_model(out, card)
    if output is ShowFormat.JSON:
        print_json(card)
    else:
        print_lines(fit_text(result))


def _progress() -> Callable[[int], None]:
    """Report the number of positions searched, once in `_EVERY`."""
    reported = 0

    def on_step(count: int) -> None:
        nonlocal reported
        if count - reported >= _EVERY:
            reported = count
            report_step(f"{count:,} positions")

    return on_step
