"""Generates config.toml from the settings, so that the file and the program always agree."""

import ast
import inspect
import sys
import textwrap
from itertools import pairwise
from typing import Any

from bot.base.config import EXAMPLE_ACCOUNT, EXAMPLE_VARIABLE, AccountConfig, sections


def render() -> str:
    """Return the text of config.toml: every setting with its default, range and meaning."""
    lines = [
        "# Desdemona's settings, each with its default.  `python -m bot.base.config_text` prints this file.",
        f"# Environment variables ({EXAMPLE_VARIABLE}=8) override this file.",
        "# Unknown keys are errors.  Never put secrets here.",
    ]
    for section, model in sections().items():
        lines += ["", f"# {_line(model.__doc__)}", f"[{section}]"]
        meanings = _field_docstrings(model)
        for key, field in model.model_fields.items():
            if field.exclude:
                continue
            meaning = _line(meanings[key]) + _range_text(field.metadata)
            lines += _comment(meaning)
            lines.append(f"{key} = {_toml_value(field.get_default(call_default_factory=True))}")
    return "\n".join([*lines, *_accounts()]) + "\n"


def _accounts() -> list[str]:
    """Describe an account in comments, because the list of accounts is empty by default."""
    meanings = _field_docstrings(AccountConfig)
    lines = ["", *_comment(_line(AccountConfig.__doc__)), "# [[accounts]]"]
    for key in AccountConfig.model_fields:
        if key in meanings:
            lines += _comment(f"{key}: {_line(meanings[key])}")
    return [*lines, "# For instance:", *(f"# {line}" for line in EXAMPLE_ACCOUNT)]


def _field_docstrings(model: type) -> dict[str, str]:
    """The docstrings of a model's own fields.  (If Pydantic read them, every start would be slower.)"""
    definition: Any = ast.parse(textwrap.dedent(inspect.getsource(model))).body[0]
    meanings = {}
    for field, below in pairwise(definition.body):
        match field, below:
            case ast.AnnAssign(target=ast.Name(id=name)), ast.Expr(value=ast.Constant(value=str(text))):
                meanings[name] = text
    return meanings


def _toml_value(value: object) -> str:
    match value:
        case bool():
            return "true" if value else "false"
        case str():
            return '"' + value.replace("\\", "\\\\").replace('"', '\\"') + '"'
        case tuple():
            return "[" + ", ".join(_toml_value(item) for item in value) + "]"
        case dict():
            return "{ " + ", ".join(f"{key} = {_toml_value(item)}" for key, item in value.items()) + " }"
        case _:
            return str(value)


def _range_text(metadata: list[Any]) -> str:
    """The range of a number, such as `(2 to 60)`."""
    low = next((f"{m.ge}" for m in metadata if hasattr(m, "ge")), None)
    low = low or next((f"above {m.gt}" for m in metadata if hasattr(m, "gt")), None)
    high = next((f"{m.le}" for m in metadata if hasattr(m, "le")), None)
    if low is None:
        return ""
    return f" ({low} to {high})" if high else f" ({low} or more)"


def _line(text: str | None) -> str:
    """Join the lines of a text into one line."""
    return " ".join((text or "").split())


def _comment(text: str) -> list[str]:
    return textwrap.wrap(text, width=110, initial_indent="# ", subsequent_indent="# ")


if __name__ == "__main__":
    sys.stdout.write(render())
