"""Parts of pages that follow from data or code: ``make map`` writes them, and a test compares them."""

import tomllib
from collections.abc import Callable, Mapping
from itertools import groupby
from pathlib import Path
from typing import Any

from storage.evidence.exports.rows import EXPORTS
from tests.docs.pages import DOCS, with_part

DATA = DOCS / "data" / "numbers.toml"
NUMBERS = DOCS / "numbers.md"
FORMATS = DOCS / "formats.md"


def numbers() -> str:
    """The tables of measurements, one for each area."""
    data = tomllib.loads(DATA.read_text())
    machines: Mapping[str, str] = data["machines"]
    parts = [f"Machine {key}: {machine}." for key, machine in machines.items()]
    for area, rows in groupby(data["number"], key=lambda row: str(row["area"])):
        lines = [_number(row, machines) for row in rows]
        head = "| what | measured | compared with | date | command |\n|---|---|---|---|---|"
        parts.append(f"## {area}\n\n{head}\n" + "\n".join(lines))
    return "\n\n".join(parts) + "\n"


def _number(row: Mapping[str, Any], machines: Mapping[str, str]) -> str:
    if row.get("machine", "A") not in machines:
        raise ValueError(f"{row['what']}: no such machine")
    date = row["date"].isoformat() + ("" if "machine" not in row else f", {row['machine']}")
    cells = (row["what"], row["value"], row.get("compared", ""), date, _command(row.get("command", "")))
    return "| " + " | ".join(str(cell).replace("|", "\\|") for cell in cells) + " |"


def _command(given: str | list[str]) -> str:
    parts = [given] if isinstance(given, str) else given
    programs = ("python", "make", "taskset", "desdemona")
    return "; ".join(f"`{part}`" if part.startswith(programs) else part for part in parts)


def export_columns() -> str:
    """The columns of each export, with their types and meanings."""
    parts = []
    for what, export in EXPORTS.items():
        rows = "\n".join(f"| `{each.name}` | {each.kind} | {each.about} |" for each in export.columns)
        parts.append(
            f"### `{what}`\n\n{export.about}\n\n| column | type | meaning |\n|---|---|---|\n{rows}\n"
        )
    return "\n".join(parts)


GENERATED: Mapping[Path, tuple[str, Callable[[], str]]] = {
    NUMBERS: ("numbers", numbers),
    FORMATS: ("columns", export_columns),
}
"""For each page the name of its marked part, and what writes it."""


def page_texts() -> dict[Path, str]:
    """The pages as they should be."""
    return {page: with_part(page, name, write()) for page, (name, write) in GENERATED.items()}


if __name__ == "__main__":
    for page, text in page_texts().items():
        page.write_text(text)
