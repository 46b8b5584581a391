"""What docs/sql.md tells of the views, written from the code by ``make map``, and its example questions."""

import re
from pathlib import Path

from storage.evidence.exports.rows import EXPORTS, ExportName
from storage.sql.views import VIEWS, AskView

PAGE = Path(__file__).parents[3] / "docs" / "sql.md"


def _views() -> str:
    parts = [f"### {name}\n\n{view.about}\n\n{_columns(name, view)}\n" for name, view in VIEWS.items()]
    return "\n".join(parts)


def example_questions() -> dict[str, str]:
    """The page's example questions, each with its SQL."""
    part = PAGE.read_text().partition("<!-- questions:")[2]
    return dict(re.findall(r"^\d+\. ([^\n]+)\n\n```sql\n(.+?)\n```$", part, re.MULTILINE | re.DOTALL))


def _columns(name: str, view: AskView) -> str:
    """A table of the columns; those that the export of that name has too are only said to be there."""
    what = name.removeprefix("ask_")
    exported = {each.name for each in EXPORTS[ExportName(what)].columns} if what in set(ExportName) else set()
    told = ""
    if exported:
        lacking = sorted(exported - set(view.columns))
        without = f", without {', '.join(f'`{column}`' for column in lacking)}" if lacking else ""
        told = f"Same columns as the export [`{what}`](formats.md#{what}){without}."
    own = {column: meaning for column, meaning in view.columns.items() if column not in exported}
    rows = "\n".join(f"| `{column}` | {meaning} |" for column, meaning in own.items())
    table = f"| Column | Meaning |\n|---|---|\n{rows}" if own else ""
    return "\n\n".join(filter(None, (told, table)))


def page_text() -> str:
    """The page as it should be: its own words, with the generated part written again."""
    text = PAGE.read_text()
    begin, end = "<!-- views: written by make map -->\n", "<!-- end of views -->\n"
    before, _, rest = text.partition(begin)
    _, found, after = rest.partition(end)
    if not found:
        raise ValueError(f"{PAGE} lacks the marks of its views")
    return f"{before}{begin}\n{_views()}\n{end}{after}"


if __name__ == "__main__":
    PAGE.write_text(page_text())
