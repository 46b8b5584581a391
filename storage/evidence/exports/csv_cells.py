"""Escapes CSV cells that a spreadsheet would run as formulas, since names and chat come from strangers.

Text that begins like a formula gets a leading apostrophe, as OWASP advises ("CSV Injection"); numbers are
unchanged. A formula that already has leading apostrophes gets another apostrophe, so that a program can
restore the original by removing one apostrophe (`text_of`).
"""

import csv
import io
import re
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

_FORMULA = re.compile("'*[=+\\-@\t\r\n\uff1d\uff0b\uff0d\uff20]")
"""The start of a formula; some spreadsheets also accept full-width characters."""


def cell(value: object) -> object:
    """The value, escaped if necessary."""
    return f"'{value}" if isinstance(value, str) and _FORMULA.match(value) else value


def cells(row: Iterable[object]) -> list[object]:
    """The values of a row, escaped if necessary."""
    return [cell(value) for value in row]


def text_of(written: str) -> str:
    """Return the original text of an escaped cell."""
    return written[1:] if written.startswith("'") and _FORMULA.match(written) else written


def csv_text(rows: Sequence[Mapping[str, Any]], line_end: str = "\n") -> str:
    """Format rows as CSV with a header; empty if there are no rows. For HTTP, pass CR LF as `line_end`."""
    out = io.StringIO()
    if rows:
        writer = csv.DictWriter(out, list(rows[0]), lineterminator=line_end)
        writer.writeheader()
        writer.writerows({name: cell(value) for name, value in row.items()} for row in rows)
    return out.getvalue()
