"""The parts of a view as frozen values: their makers compute and word everything, faces only render."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from bot.charts.bars import StackedBars
from bot.charts.boards import BoardMark
from bot.charts.intervals import IntervalChart
from bot.charts.lines import LineChart

Rows = Sequence[Mapping[str, Any]]
"""Plain values for CSV and JSON."""
Chart = LineChart | IntervalChart | StackedBars


@dataclass(frozen=True, slots=True)
class TableCell:
    """A cell of a table."""

    text: str
    small: str = ""
    """Small print below it."""
    link: str = ""
    """An address of the dashboard; empty: none."""
    more: tuple[str, str] = ("", "")
    """A link after the small print: its words and its address."""
    tone: str | None = None
    """The colour of a tag around the text: ``good``, ``trap``, ``slip`` or none; None: no tag."""
    tag: str = ""
    """A tag after the text: ``program``."""
    bar: tuple[float | None, float | None] | None = None
    """A bar before the text: its share, and the share that was expected; None: no bar."""


@dataclass(frozen=True, slots=True)
class Column:
    """A column of a table."""

    head: str
    is_text: bool = False
    """Its cells are words, aligned to the left; otherwise numbers."""
    is_long: bool = False
    """Its cells are sentences, which are broken between lines."""
    label: str = ""
    """Its name on a narrow screen, where there are no heads; empty: the head."""


@dataclass(frozen=True, slots=True)
class TablePart:
    """A table with its heading; the first cell of a row names it."""

    title: str
    """Empty: the view's heading is its title."""
    columns: tuple[Column, ...]
    rows: tuple[tuple[TableCell | str, ...], ...]
    note: str = ""
    """An explanation below it."""
    aside: str = ""
    """A few words beside the title."""
    nothing: str = "No game passes these filters."
    """The text in place of an empty table."""
    link: tuple[str, str] = ("", "")
    """A link beside the title: its words and its address."""
    records: str = ""
    """The name of the rows for CSV that it shows; empty: none."""
    style: str = "stacked"
    """Its class on a page: ``stacked``, ``stacked compact``, ``games`` or ``facts``."""
    key: str = ""
    """Its anchor on the page; empty: made from the title."""


@dataclass(frozen=True, slots=True)
class ChartPart:
    """A chart with its heading."""

    title: str
    chart: Chart
    before: str = ""
    """A sentence before the chart."""
    note: str = ""
    """An explanation below it."""
    aside: str = ""
    records: str = ""
    """As of `TablePart`."""


@dataclass(frozen=True, slots=True)
class Board:
    """A position with marks."""

    game: str
    """Name of the game."""
    rows: tuple[str, ...]
    title: str
    side: int
    """Whose view it is."""
    last_move: tuple[str, ...] = ()
    marks: tuple[BoardMark, ...] = ()


@dataclass(frozen=True, slots=True)
class Card:
    """A board with its story."""

    name: str
    """Of the opponent."""
    name_link: str
    detail: str
    """Beside the name: a rating."""
    tag: str
    """The outcome, in a word or two."""
    mood: str
    """``fell``, ``slip`` or ``held``; empty: nobody answered."""
    board: Board | None
    """None: it cannot be read."""
    link: str
    """The moment in its game."""
    played: str
    """Our move; empty: `damage` says why it is not known."""
    damage: str
    story: str
    reply: str
    """The opponent's reply. The opponent's name is its subject, unless it is a sentence of its own."""
    is_named: bool
    """Whether the name stands before `reply`."""
    before_reply: str
    is_alarming: bool
    """The reply took a bait."""
    about: str
    when: str


@dataclass(frozen=True, slots=True)
class Gallery:
    """Baits as cards, and the same as a table for the terminal."""

    cards: tuple[Card, ...]
    table: TablePart


@dataclass(frozen=True, slots=True)
class BoardsPart:
    """Positions with a line or two below each."""

    title: str
    boards: tuple[tuple[Board, str, str], ...]
    """The position, what happened, and where."""
    nothing: str


@dataclass(frozen=True, slots=True)
class Pill:
    """A fact in a few words."""

    strong: str
    after: str = ""
    before: str = ""
    mood: str = "quiet"
    """``quiet``, ``good``, ``warn`` or ``bad``."""

    @property
    def text(self) -> str:
        """All its words."""
        return " ".join(filter(None, (self.before, self.strong, self.after)))


@dataclass(frozen=True, slots=True)
class Heading:
    """The first sentence of a view."""

    text: str
    emphasis: str = ""
    """The words before it, emphasised."""
    lead: str = ""
    """More about it."""


@dataclass(frozen=True, slots=True)
class Note:
    """A paragraph of explanation."""

    text: str
    title: str = ""
    """Its heading; empty: none."""
    is_card: bool = False
    """It stands in a frame, as in place of a list."""
    link: tuple[str, str] = ("", "")
    """A link beside the title: its words and its address."""


@dataclass(frozen=True, slots=True)
class Choice:
    """A choice of one parameter of the address."""

    title: str
    options: tuple[tuple[str, str, bool], ...]
    """Words, address, and whether it is chosen."""


@dataclass(frozen=True, slots=True)
class Pager:
    """The way to the neighbouring pages of a list."""

    page: int
    pages: int | None
    """None: not known."""
    earlier: str
    """An address; empty if there is none."""
    later: str
    words: tuple[str, str] = ("Earlier", "Later")


@dataclass(frozen=True, slots=True)
class Beside:
    """Parts beside each other where there is room."""

    parts: "tuple[Part, ...]"


@dataclass(frozen=True, slots=True)
class VerdictPart:
    """The verdict on a trial, with its evidence."""

    findings: tuple[tuple[str, bool], ...]
    """All possible findings in words, each with whether it is this verdict's."""
    warning: str
    """Why the results are invalid; empty: they are valid."""
    headline: str
    evidence: tuple[str, ...]
    others: tuple[str, ...]
    """Sentences about other outcomes, which are exploratory."""
    chart: LineChart | None
    about: str
    """A sentence about the trial."""


Part = TablePart | ChartPart | Gallery | BoardsPart | Heading | Note | Choice | Pager | Beside | VerdictPart


@dataclass(frozen=True, slots=True)
class PartsView:
    """A view that consists of these parts."""

    parts: tuple[Part, ...]
    json: Mapping[str, Any]
    records: Mapping[str, Rows]

    def to_json(self) -> Mapping[str, Any]:
        """See `bot.views.page.View.to_json`."""
        return self.json

    def tables(self) -> Mapping[str, Rows]:
        """See `bot.views.page.View.tables`."""
        return self.records
