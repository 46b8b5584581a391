"""What docs/sql.md tells of the views and the questions, written from the code: ``make map``."""

from pathlib import Path

from storage.ask.examples import EXAMPLES
from storage.ask.views import VIEWS, AskView
from storage.evidence.exports.rows import EXPORTS, What

PAGE = Path(__file__).parents[3] / "docs" / "sql.md"


def _views() -> str:
    parts = [f"### {name}\n\n{view.about}\n\n{_columns(name, view)}\n" for name, view in VIEWS.items()]
    return "\n".join(parts)


def _columns(name: str, view: AskView) -> str:
    """A table of the columns; those that the export of that name has too are only said to be there."""
    what = name.removeprefix("ask_")
    exported = {each.name for each in EXPORTS[What(what)].columns} if what in set(What) else set()
    told = ""
    if exported:
        lacking = sorted(exported - set(view.columns))
        without = f", without {', '.join(f'`{column}`' for column in lacking)}" if lacking else ""
        told = f"The columns of the export [`{what}`](formats.md#{what}){without}."
    own = {column: meaning for column, meaning in view.columns.items() if column not in exported}
    rows = "\n".join(f"| `{column}` | {meaning} |" for column, meaning in own.items())
    table = f"| Column | Meaning |\n|---|---|\n{rows}" if own else ""
    return "\n\n".join(filter(None, (told, table)))


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
