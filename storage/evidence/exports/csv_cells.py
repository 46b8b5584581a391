"""Escapes CSV cells that a spreadsheet would run as formulas, because names and chat come from strangers.

A text that begins like a formula gets an apostrophe before it, as OWASP advises ("CSV Injection"); numbers
are unchanged. A text that begins with apostrophes before such a character gets one more, so that a program
can restore the original by removing one (`text_of`).
"""

import csv
import io
import re
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

_FORMULA = re.compile("'*[=+\\-@\t\r\n\uff1d\uff0b\uff0d\uff20]")
"""Includes full-width forms, which some spreadsheets treat alike."""


def cell(value: object) -> object:
    """A value as a cell."""
    return f"'{value}" if isinstance(value, str) and _FORMULA.match(value) else value


def cells(row: Iterable[object]) -> list[object]:
    """The cells of a row."""
    return [cell(value) for value in row]


def text_of(written: str) -> str:
    """The original text of a cell."""
    return written[1:] if written.startswith("'") and _FORMULA.match(written) else written


def csv_text(rows: Sequence[Mapping[str, Any]], line_end: str = "\n") -> str:
    """Rows as CSV with a header; empty if there are none.  Lines end in CR LF over HTTP (RFC 4180)."""
    out = io.StringIO()
    if rows:
        writer = csv.DictWriter(out, list(rows[0]), lineterminator=line_end)
        writer.writeheader()
        writer.writerows({name: cell(value) for name, value in row.items()} for row in rows)
    return out.getvalue()
