"""What docs/sql.md tells of the views, written from the code by ``make map``, and its example questions."""

import re
from pathlib import Path

from storage.ask.views import VIEWS

PAGE = Path(__file__).parents[3] / "docs" / "sql.md"


def _views() -> str:
    parts = []
    for name, view in VIEWS.items():
        rows = "\n".join(f"| `{column}` | {meaning} |" for column, meaning in view.columns.items())
        parts.append(f"### {name}\n\n{view.about}\n\n| Column | Meaning |\n|---|---|\n{rows}\n")
    return "\n".join(parts)


def example_questions() -> dict[str, str]:
    """The page's example questions, each with its SQL."""
    part = PAGE.read_text().partition("<!-- questions:")[2]
    return dict(re.findall(r"^\d+\. (.+)\n\n```sql\n(.+?)\n```$", part, re.MULTILINE | re.DOTALL))


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
