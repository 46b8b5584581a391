"""`desdemona lab import-model` and `show-model`: convert and inspect human-move models."""

from pathlib import Path
from typing import Annotated, Any

import typer
from rich.table import Table

from bot.base.files import write_atomically
from bot.base.log import printable
from bot.cli.common import ShowFormat, UsageError, console, print_json, print_note
from engine.games import get_rules
from engine.human.model import BadModel, HumanModel, PredictionQuery, predictions_of

_MAX_SHOWN_LENGTH = 2000
_MOVES_SHOWN = 5


def import_model(
    files: Annotated[
        list[Path], typer.Argument(help="Published Maia network files, for instance maia-1500.pb.gz.")
    ],
    out: Annotated[Path, typer.Option(help="Folder in which to write the models.")] = Path("data/models"),
) -> None:
    """Convert published Maia networks to models for the bot.

    Before a model is written, its network is tested: it must prefer legal moves, and a network known to this
    program must predict its recorded first moves.
    """
    from engine.human.onnx import read_model_file
    from lab.training.lc0 import MAX_MODEL_BYTES
    from lab.training.maia_onnx import import_network

    for file in files:
        try:
            imported = import_network(read_model_file(file, MAX_MODEL_BYTES), file.name)
        except BadModel as error:
            text = str(error)
            raise UsageError(text if text.startswith(str(file)) else f"{file}: {text}") from None
        target = out / f"{imported.name}.onnx"
        try:
            out.mkdir(parents=True, exist_ok=True)
            write_atomically({target: imported.data})
        except OSError as error:
            raise UsageError(f"{target}: {error.strerror}") from None
        print(printable(f"{target}: sha256 {imported.sha256}"))
        source = (
            "as published at CSSLab/maia-chess"
            if imported.is_published
            else "not one of the published networks"
        )
        rating = "unknown rating" if imported.rating is None else f"rating {imported.rating}"
        print_note(
            f"{file.name}: {source}, sha256 {imported.source_sha256}; {rating}; licence {imported.licence}; "
            f"legal moves get at least {imported.legal_mass:.4f} of its probability"
        )


def show(
    file: Annotated[
        Path, typer.Argument(help="A model (*.onnx), or a folder with Maia models for several ratings.")
    ],
    output: Annotated[ShowFormat, typer.Option("--format", help="Output format.")] = ShowFormat.TABLE,
) -> None:
    """Show a model's metadata and its first-move predictions."""
    try:
        card = _card(file)
    except BadModel as error:
        raise UsageError(str(error)) from None
    if output is ShowFormat.JSON:
        print_json(card)
        return
    table = Table(show_header=False, box=None)
    table.add_column(no_wrap=True)
    table.add_column(overflow="fold")
    for key, value in card.items():
        text = ", ".join(f"{k} {v:.3f}" for k, v in value.items()) if isinstance(value, dict) else str(value)
        table.add_row(key, printable(text))
    console().print(table)


def _card(file: Path) -> dict[str, Any]:
    from engine.human.model_files import HUMAN_MODEL_KINDS, open_model
    from engine.human.onnx import OnnxNetwork

    if file.is_dir():
        opened = open_model(file)
        return {**_identity(opened), "first_moves": _first_moves(opened)}
    network = OnnxNetwork.open(file)
    card: dict[str, Any] = {**network.metadata, "sha256": network.sha256, "card": network.card}
    card = {key: _shortened(value) for key, value in card.items() if value}
    if network.kind in HUMAN_MODEL_KINDS:
        card["first_moves"] = _first_moves(open_model(file))
    return card


def _shortened(value: Any) -> Any:
    """Return a value to show; a long machine-readable text is replaced by its length."""
    is_long = isinstance(value, str) and len(value) > _MAX_SHOWN_LENGTH
    return f"{len(value)} characters, machine-readable" if is_long else value


def _identity(opened: HumanModel) -> dict[str, str]:
    info = opened.info
    return {"kind": info.kind, "game": opened.game, "name": info.name, "sha256": info.sha256}


def _first_moves(opened: HumanModel) -> dict[str, float]:
    game = get_rules(opened.game)
    start = game.initial()
    (found,) = predictions_of(opened, game, [PredictionQuery((start,))])
    likely = sorted(zip(found, game.legal_moves(start), strict=True), reverse=True)[:_MOVES_SHOWN]
    return {game.move_text(move): round(p, 4) for p, move in likely}
