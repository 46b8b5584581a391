"""Defines the parts of a view as frozen values; views compute the content, and renderers only render it."""

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from bot.charts.bars import StackedBars
from bot.charts.boards import BoardMark
from bot.charts.intervals import IntervalChart
from bot.charts.lines import LineChart
from bot.charts.sparkline import Sparkline
from engine.game import move_count

Rows = Sequence[Mapping[str, Any]]
"""Plain values for CSV and JSON."""
Chart = LineChart | IntervalChart | StackedBars


@dataclass(frozen=True, slots=True)
class TableCell:
    """A cell of a table."""

    text: str
    small: str = ""
    """Small print below the text."""
    link: str = ""
    """URL on the dashboard, or empty for no link."""
    more: tuple[str, str] = ("", "")
    """A link after the small print: text and URL."""
    tone: str | None = None
    """Colour of the text's tag: ``good``, ``trap``, ``slip`` or ``""`` (neutral); None for no tag."""
    tags: tuple[tuple[str, str], ...] = ()
    """Tags after the text, such as ``program``, each with its colour (see `tone`)."""
    bar: tuple[float | None, float | None] | None = None
    """The shares that a bar before the text shows, actual and expected; None for no bar."""


def as_cell(content: TableCell | str) -> TableCell:
    """Return a cell; plain text becomes a cell without extras."""
    return content if isinstance(content, TableCell) else TableCell(content)


@dataclass(frozen=True, slots=True)
class Column:
    """A column of a table."""

    head: str
    is_text: bool = False
    """Whether the cells are words (left-aligned) rather than numbers."""
    is_long: bool = False
    """Whether the cells are sentences, whose lines can wrap."""
    label: str = ""
    """Name of the column on narrow screens, which show no column headings; empty to use `head`."""


@dataclass(frozen=True, slots=True)
class TablePart:
    """A table with its heading; the first cell of each row names the row."""

    title: str
    """Title of the table; empty if the view's heading serves as the title."""
    columns: tuple[Column, ...]
    rows: tuple[tuple[TableCell | str, ...], ...]
    note: str = ""
    """An explanation below the table."""
    aside: str = ""
    """Short text beside the title."""
    nothing: str = "No games match these filters."
    """The text shown instead of an empty table."""
    link: tuple[str, str] = ("", "")
    """A link beside the title: text and URL."""
    records: str = ""
    """Name of the table's CSV rows, or empty if it has none."""
    style: str = "stacked"
    """CSS classes: ``stacked``, ``stacked compact``, ``stacked games``, ``shares``, ``long`` or ``facts``."""
    key: str = ""
    """The table's anchor on the page; empty to derive it from the title."""


@dataclass(frozen=True, slots=True)
class ChartPart:
    """A chart with its heading."""

    title: str
    chart: Chart
    before: str = ""
    """A sentence before the chart."""
    note: str = ""
    """An explanation below the chart."""
    aside: str = ""
    records: str = ""
    """As in `TablePart`."""


@dataclass(frozen=True, slots=True)
class Board:
    """A position on a board, with marks."""

    game: str
    """Name of the game."""
    rows: tuple[str, ...]
    title: str
    side: int
    """The side from which the board is viewed."""
    last_move: tuple[str, ...] = ()
    marks: tuple[BoardMark, ...] = ()


@dataclass(frozen=True, slots=True)
class FormField:
    """A field of a form."""

    name: str
    label: str
    value: str = ""
    choices: tuple[tuple[str, str], ...] = ()
    """The options, each with its value and label; empty for a free-text field."""
    longest: int = 140
    """Maximum length of the text, in characters."""
    kind: str = "text"
    """Kind of text field: ``text``, ``number`` or ``date``."""


@dataclass(frozen=True, slots=True)
class ActionForm:
    """A button that triggers an action of the running program (`bot.dashboard.controls.ACTIONS`)."""

    action: str
    button: str
    fixed: Mapping[str, str] = field(default_factory=dict)
    """Hidden fields and their values."""
    style: str = "small"
    """Style of the button: ``small``, ``danger`` or ``primary``."""
    fields: tuple[FormField, ...] = ()


@dataclass(frozen=True, slots=True)
class ShownClock:
    """One side's clock."""

    text: str
    left_s: int
    is_running: bool
    is_low: bool


@dataclass(frozen=True, slots=True)
class Card:
    """A board with a description of the game on it."""

    name: str
    """Name of the opponent."""
    name_link: str
    """URL of the opponent's page, or empty if unknown."""
    detail: str
    """The rating, shown beside the name."""
    board: Board | None
    """The board, or None if it is unknown."""
    said: tuple[tuple[str, str], ...]
    """Sentences, each with its CSS class: ``""``, ``saying``, ``saying trap`` or ``saying late``."""
    about: str
    tag: tuple[str, str] = ("", "")
    """The text of a tag (the outcome in a word or two, or our strategy) and its colour."""
    mood: str = ""
    """The kind of reply, ``taken``, ``slip`` or ``held``; empty if there was no reply."""
    link: tuple[str, str] = ("", "")
    """A link to the move in its game: text and URL."""
    clocks: tuple[ShownClock | None, ShownClock | None] = (None, None)
    """The opponent's clock and ours; None for a side without a clock."""
    forms: tuple[ActionForm, ...] = ()
    key: str = ""
    """Anchor of the card's forms on the page."""


@dataclass(frozen=True, slots=True)
class Cards:
    """Boards with their descriptions."""

    cards: tuple[Card, ...]
    title: str = ""
    has_keys: bool = False
    """Whether to explain the marks on the boards."""
    nothing: str = ""
    back: str = ""
    """As in `ControlsPart`."""


@dataclass(frozen=True, slots=True)
class Pill:
    """A short fact, shown as a pill."""

    strong: str
    after: str = ""
    before: str = ""
    mood: str = "quiet"
    """The pill's colour: ``quiet``, ``good``, ``warn`` or ``bad``."""
    link: str = ""
    is_health: bool = False
    """Whether the pill states a part's health; it then also has a mark and, for screen readers, a word."""

    @property
    def text(self) -> str:
        """The pill's whole text."""
        return " ".join(filter(None, (self.before, self.strong, self.after)))


@dataclass(frozen=True, slots=True)
class Heading:
    """The sentence at the top of a view."""

    text: str
    emphasis: str = ""
    """Emphasised words that start the sentence."""
    lead: str = ""
    """Further explanation after the sentence."""
    state: tuple[str, str] = ("", "")
    """Words before the sentence, and their colour: ``good``, ``warn`` or ``bad``."""
    crumbs: tuple[tuple[str, str], ...] = ()
    """Breadcrumbs: texts with their URLs; an empty URL means no link."""
    link: str = ""
    """URL of the opponent's page if `text` is an opponent's name."""
    detail: str = ""
    """The rating, shown beside the name."""
    pills: tuple[Pill, ...] = ()
    pills_name: str = ""


@dataclass(frozen=True, slots=True)
class Links:
    """A row or list of links."""

    title: str
    links: tuple[tuple[str, str], ...]
    """Texts and URLs."""
    is_list: bool = False
    """Whether the links form a numbered list of sentences rather than one line."""


@dataclass(frozen=True, slots=True)
class Tiles:
    """Today's numbers, shown side by side."""

    title: str
    tiles: tuple[tuple[str, str, Sparkline], ...]
    """The number, its label, and its values over the last few days."""


@dataclass(frozen=True, slots=True)
class Note:
    """An explanatory paragraph."""

    text: str
    title: str = ""
    """Heading of the paragraph, or empty."""
    is_card: bool = False
    """Whether to draw a frame around the paragraph, for instance if it replaces a list."""
    link: tuple[str, str] = ("", "")
    """A link beside the title: text and URL."""


@dataclass(frozen=True, slots=True)
class Choice:
    """A choice of values for one query parameter."""

    title: str
    options: tuple[tuple[str, str, bool], ...]
    """Label and URL of each option, and whether it is selected."""


@dataclass(frozen=True, slots=True)
class Pager:
    """Links to the neighbouring pages of a list."""

    page: int
    pages: int | None
    """Number of pages, or None if unknown."""
    earlier: str
    """URL of the previous page; empty if there is none."""
    later: str
    words: tuple[str, str] = ("Earlier", "Later")
    text: str = ""
    """Text between the two links; empty to show the page number."""


@dataclass(frozen=True, slots=True)
class Beside:
    """Parts that are shown side by side if there is room for them."""

    parts: "tuple[Part, ...]"
    style: str = "two"
    """The container's CSS class on a page."""
    key: str = ""
    """The container's anchor on the page."""


@dataclass(frozen=True, slots=True)
class BoardPart:
    """A large board with links to the previous and next boards."""

    board: Board | None
    """The board, or None if it is unknown."""
    pager: Pager


@dataclass(frozen=True, slots=True)
class Story:
    """A description of one of our moves and its consequences."""

    before: str
    """A line above the title."""
    title: str
    mood: str
    """The description's colour: ``trap``, ``good`` or ``slip``; empty for none."""
    paragraphs: tuple[str, ...]
    facts: tuple[tuple[str, str, str, str], ...] = ()
    """Relevant replies: the kind, term, move and text of each `bot.text.moment_text.MomentFact`."""
    chart: LineChart | None = None
    """The replies' scores by depth."""


@dataclass(frozen=True, slots=True)
class ListedMove:
    """One move of a game."""

    name: str
    link: str = ""
    """URL of our decision on this move or, for a reply, on our preceding move; empty if there is none."""
    is_ours: bool = False
    is_shown: bool = False
    marks: tuple[str, ...] = ()
    """Keys in `MOVE_MARKS` of the marks on one of our moves: on its bait, and on a slip."""


MOVE_MARKS = {
    "taken": "bait taken",
    "held": "bait left alone",
    "unanswered": "bait not answered",
    "slip": "a slip",
}
"""Explanations of the marks in the list of moves."""


@dataclass(frozen=True, slots=True)
class ListedMoves:
    """All moves of a game."""

    moves: tuple[ListedMove, ...]
    records: str = ""
    """As in `TablePart`."""
    is_numbered_in_pairs: bool = True
    """See `engine.game.Game`."""

    @property
    def rows(self) -> Iterator[tuple[int, tuple[ListedMove, ...]]]:
        """Two moves to a row, with the number of the first."""
        names = [move.name for move in self.moves]
        for ply in range(0, len(names), 2):
            number = ply // 2 + 1 if self.is_numbered_in_pairs else move_count(names, ply - 1) + 1
            yield number, self.moves[ply : ply + 2]


@dataclass(frozen=True, slots=True)
class Control:
    """A part of the running program that the operator can control, with its buttons."""

    forms: tuple[ActionForm, ...] = ()
    text: str = ""
    """Its state."""
    tag: tuple[str, str] = ("", "")
    """The text of a tag before the name, and its colour."""
    name: str = ""
    small: str = ""
    note: str = ""


@dataclass(frozen=True, slots=True)
class ControlsPart:
    """The controls of the running program."""

    title: str
    controls: tuple[Control, ...]
    back: str
    """The page to return to after an action."""
    note: str = ""
    """An explanation shown below the controls, or instead of them."""
    key: str = ""
    """As in `TablePart`."""


@dataclass(frozen=True, slots=True)
class VerdictPart:
    """The verdict on a trial, with its evidence."""

    findings: tuple[tuple[str, bool], ...]
    """Every possible verdict in words, with a flag that says whether it applies."""
    warning: str
    """Reasons why the results are invalid; empty if they are valid."""
    headline: str
    evidence: tuple[str, ...]
    others: tuple[str, ...]
    """Sentences about the other outcomes, which are exploratory."""
    chart: LineChart | None
    about: str
    """A sentence about the trial."""


Part = (
    TablePart
    | ChartPart
    | Cards
    | Heading
    | Note
    | Choice
    | Pager
    | Beside
    | VerdictPart
    | Links
    | Tiles
    | BoardPart
    | Story
    | ListedMoves
    | ControlsPart
)


@dataclass(frozen=True, slots=True)
class PartsView:
    """A view built from parts."""

    parts: tuple[Part, ...]
    json: Callable[[], Mapping[str, Any]]
    """Computes the view's JSON on demand."""
    records: Callable[[], Mapping[str, Rows]]
    """Computes the view's CSV tables."""
    title: str = ""
    """See `bot.views.page.View.title`."""

    def to_json(self) -> Mapping[str, Any]:
        """See `bot.views.page.View.to_json`."""
        return self.json()

    def tables(self) -> Mapping[str, Rows]:
        """See `bot.views.page.View.tables`."""
        return self.records()
