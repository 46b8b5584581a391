"""Checks and output shared by the commands under `desdemona lab`."""

import json
from importlib.util import find_spec
from pathlib import Path
from typing import Any

from bot.base.files import write_atomically
from bot.base.log import printable
from bot.cli.common import UsageError, print_note


def require_extra(option: str, module: str) -> None:
    """Report a missing dependency before long work starts."""
    if find_spec(module) is None:
        raise UsageError(f"{option} needs the extra `lab`: `pip install 'desdemona[lab]'`")


def require_writable(out: Path, suffix: str, option: str = "--out") -> None:
    """Check the output paths before a long fit, so that writing the files is unlikely to fail."""
    if out.suffix != suffix:
        raise UsageError(f"{option}: {out} does not end in {suffix}")
    if not out.parent.is_dir():
        raise UsageError(f"{option}: {out.parent} is not a folder")
    for path in (out, card_of(out)):
        if path.exists() and not path.is_file():
            raise UsageError(f"{option}: {path} is not a regular file")


def card_of(out: Path) -> Path:
    """The path of a model's card."""
    return out.with_suffix(".json")


def write_model(out: Path, card: dict[str, Any], model: bytes | None = None, option: str = "--out") -> bytes:
    """Write the card, and the model if there is one; on failure, write neither. Returns the card.

    Raises:
        UsageError: The files cannot be written.
    """
    content = (json.dumps(card, indent=2, ensure_ascii=False) + "\n").encode()
    try:
        write_atomically(({} if model is None else {out: model}) | {card_of(out): content})
    except OSError as error:
        raise UsageError(f"{option}: {out}: {error.strerror}") from None
    return content


def print_lines(text: str) -> None:
    """Print lines, escaping unprintable characters, because names of models and files may contain them."""
    for line in text.removesuffix("\n").split("\n"):
        print(printable(line))


def report_step(what: str) -> None:
    """Print the name of a step to standard error."""
    print_note(f"... {what}")
