"""Reports on experiments: the paper's claims with our results, tables, and charts."""

from collections.abc import Sequence
from dataclasses import asdict, dataclass
from enum import StrEnum
from typing import Any


class ClaimVerdict(StrEnum):
    """The possible verdicts on a claim of the paper."""

    HOLDS = "holds"
    FAILS = "does not hold"
    INCONCLUSIVE = "cannot be told"
    """The results are compatible with both the claim and its opposite, or there are too few results."""

    @property
    def text(self) -> str:
        """The verdict in words."""
        return self.name.lower() if self is ClaimVerdict.INCONCLUSIVE else self.value


@dataclass(frozen=True, slots=True)
class PaperClaim:
    """A claim of the paper, with our result."""

    says: str
    verdict: ClaimVerdict
    found: str
    """The results on which the verdict is based, as text."""


@dataclass(frozen=True, slots=True)
class Table:
    """A table of a report; all cells are strings."""

    title: str
    columns: tuple[str, ...]
    rows: tuple[tuple[str, ...], ...]
    note: str = ""


@dataclass(frozen=True, slots=True)
class Line:
    """A line of a chart, with an optional interval around each point."""

    name: str
    marks: tuple[tuple[float, float, float | None, float | None], ...]
    """The points, each as x, y and the lower and upper limit of its interval (None if it has no interval)."""


@dataclass(frozen=True, slots=True)
class Chart:
    """A chart of several lines with common axes."""

    name: str
    """Name of the chart, used in its file name."""
    title: str
    x: str
    y: str
    lines: tuple[Line, ...]


@dataclass(frozen=True, slots=True)
class Report:
    """The results of an experiment."""

    claims: tuple[PaperClaim, ...] = ()
    tables: tuple[Table, ...] = ()
    charts: tuple[Chart, ...] = ()


def report_json(report: Report) -> dict[str, Any]:
    """The report as plain JSON values."""
    return asdict(report)


def report_text(report: Report) -> str:
    """The report as Markdown, for the terminal and for docs/research/papers.md."""
    parts = []
    if report.claims:
        rows = [(claim.says, claim.verdict.text, claim.found) for claim in report.claims]
        parts.append(_table(("claim", "verdict", "result"), rows))
    for table in report.tables:
        note = f"\n\n{table.note}" if table.note else ""
        parts.append(f"**{table.title}**\n\n{_table(table.columns, table.rows)}{note}")
    return "\n\n".join(parts)


def _table(columns: Sequence[str], rows: Sequence[Sequence[str]]) -> str:
    lines = [columns, ["---"] * len(columns), *rows]
    return "\n".join(f"| {' | '.join(cells)} |" for cells in lines)
