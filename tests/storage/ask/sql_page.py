"""What docs/sql.md tells of the views and the questions, written from the code: ``make map``."""

from pathlib import Path

from storage.ask.examples import EXAMPLES
from storage.ask.views import VIEWS

PAGE = Path(__file__).parents[3] / "docs" / "sql.md"


def _views() -> str:
    parts = []
    for name, view in VIEWS.items():
        rows = "\n".join(f"| `{column}` | {meaning} |" for column, meaning in view.columns.items())
        parts.append(f"### {name}\n\n{view.about}\n\n| Column | Meaning |\n|---|---|\n{rows}\n")
    return "\n".join(parts)


def _questions() -> str:
    parts = [f"{question}\n\n```sql\n{sql}\n```\n" for question, sql in EXAMPLES.items()]
    return "\n".join(f"{number}. {part}" for number, part in enumerate(parts, 1))


def page_text() -> str:
    """The page as it should be: its own words, with the generated parts anew."""
    text = PAGE.read_text()
    for name, part in (("views", _views()), ("questions", _questions())):
        begin, end = f"<!-- {name}: written by make map -->\n", f"<!-- end of {name} -->\n"
        before, _, rest = text.partition(begin)
        _, found, after = rest.partition(end)
        if not found:
            raise ValueError(f"{PAGE} lacks the marks of its {name}")
        text = f"{before}{begin}\n{part}\n{end}{after}"
    return text


if __name__ == "__main__":
    PAGE.write_text(page_text())
