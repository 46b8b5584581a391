"""Renders the parts of a view as HTML for the dashboard."""

import re
from collections.abc import Callable, Iterable

from markupsafe import Markup, escape

from bot.charts.bars import StackedBars, stacked_bars
from bot.charts.boards import board_shapes, board_svg
from bot.charts.intervals import IntervalChart, interval_rows
from bot.charts.line_chart import line_chart
from bot.charts.markup import joined, tag
from bot.parts.values import (
    Beside,
    Board,
    BoardsPart,
    Card,
    Chart,
    ChartPart,
    Choice,
    Column,
    Gallery,
    Heading,
    Note,
    Pager,
    Part,
    Pill,
    TableCell,
    TablePart,
    VerdictPart,
)

_MARKS = {"bait": "the bait", "good": "the good reply", "played": "played instead"}
_MARK_KEYS = tag(
    "p",
    *(tag("span", tag("i", class_=f"key key-{kind}"), words) for kind, words in _MARKS.items()),
    class_="mark-keys",
)


def html_of(part: Part, csv: Callable[[str], str]) -> Markup:
    """A part of a page.

    Args:
        part: The part.
        csv: The address of rows for CSV, by their name.
    """
    match part:
        case TablePart():
            return _table(part, csv)
        case ChartPart():
            before = tag("p", part.before) if part.before else ""
            address = csv(part.records) if part.records else ""
            return _card(part.title, part.aside, address, before, drawn(part.chart), _note(part.note))
        case Gallery():
            shapes = board_shapes({card.board.game for card in part.cards if card.board is not None})
            cards = map(_trap_card, part.cards)
            return joined(shapes, _MARK_KEYS, tag("div", *cards, class_="gallery"))
        case BoardsPart():
            return _boards(part)
        case Heading():
            words = (tag("em", part.emphasis), " ") if part.emphasis else ()
            lead = tag("p", with_code(part.lead), class_="lead") if part.lead else ""
            return tag(
                "section",
                tag("h1", *words, part.text, id="headline"),
                lead,
                class_="headline",
                aria_labelledby="headline",
            )
        case Note():
            text = tag("p", with_code(part.text), class_="card note" if part.is_card else "note")
            return _card(part.title, "", "", text, link=part.link) if part.title else text
        case Choice():
            return tag("div", _choice(part), class_="list-head")
        case Pager():
            return _pager(part)
        case Beside():
            return tag("div", *(html_of(each, csv) for each in part.parts), class_="two")
        case VerdictPart():
            return _verdict(part)


def drawn(chart: Chart) -> Markup:
    """A chart as SVG with its table."""
    match chart:
        case IntervalChart():
            return interval_rows(chart)
        case StackedBars():
            return stacked_bars(chart)
        case _:
            return line_chart(chart)


def board_of(board: Board, *, is_large: bool = False) -> Markup:
    """A position as SVG."""
    return board_svg(
        board.game,
        board.rows,
        title=board.title,
        side=board.side,
        last_move=board.last_move,
        marks=board.marks,
        is_large=is_large,
    )


def pills_of(pills: Iterable[Pill], name: str) -> Markup:
    """Facts in a few words, as a list with a name for screen readers."""
    items = []
    for pill in pills:
        before, after = (f"{pill.before} " if pill.before else ""), (f" {pill.after}" if pill.after else "")
        items.append(tag("li", before, tag("strong", pill.strong), after, class_=f"pill {pill.mood}"))
    return tag("ul", *items, class_="pills", aria_label=name)


def with_code(text: str) -> Markup:
    """A text with code between backticks."""
    parts = enumerate(text.split("`"))
    return Markup().join(tag("code", part) if number % 2 else escape(part) for number, part in parts)


def key_of(title: str) -> str:
    """An anchor made from a title."""
    return re.sub(r"[^a-z0-9]+", "-", title.lower()).strip("-")


def _card(
    title: str, aside: str, csv: str, *content: str, key: str = "", link: tuple[str, str] = ("", "")
) -> Markup:
    if not title:  # no landmark: it has no name
        return tag("div", *content, class_="card")
    key = key or key_of(title)
    head = tag(
        "div",
        tag("h2", title, id=key),
        tag("span", aside, class_="note") if aside else "",
        tag("a", link[0], href=link[1]) if link[0] else "",
        tag("a", "CSV", href=csv) if csv else "",
        class_="panel-head",
    )
    return tag("section", head, *content, class_="card", aria_labelledby=key)


def _note(text: str) -> Markup:
    return tag("p", text, class_="note") if text else Markup()


def _table(part: TablePart, csv: Callable[[str], str]) -> Markup:
    if not part.rows:
        return _card(part.title, part.aside, "", _note(part.nothing), key=part.key, link=part.link)
    key = part.key or key_of(part.title) or "headline"
    heads = (
        tag("th", each.head, scope="col", class_=None if each.is_text else "num") for each in part.columns
    )
    body = (
        tag(
            "tr",
            *(
                _cell(each, column, is_first=at == 0)
                for at, (each, column) in enumerate(zip(row, part.columns, strict=True))
            ),
        )
        for row in part.rows
    )
    has_heads = any(each.head for each in part.columns)
    table = tag(
        "table",
        tag("thead", tag("tr", *heads)) if has_heads else "",
        tag("tbody", *body),
        class_=part.style,
    )
    if part.style not in ("games", "facts"):  # which fit any screen
        table = tag("div", table, class_="scroll", tabindex="0", role="group", aria_labelledby=key)
    address = csv(part.records) if part.records else ""
    return _card(part.title, part.aside, address, table, _note(part.note), key=key, link=part.link)


def _cell(content: TableCell | str, column: Column, *, is_first: bool) -> Markup:
    cell = content if isinstance(content, TableCell) else TableCell(content)
    text: str = with_code(cell.text) if column.is_long else _unbroken(cell.text)
    if is_first and cell.link:
        text = tag("bdi", cell.text)
    if cell.tone is not None:
        text = tag("span", text, class_=f"tag {cell.tone}".strip())
    if cell.link:
        text = tag("a", text, href=cell.link, class_="game-link" if is_first else None)
    small: tuple[str, ...] = (_unbroken(cell.small),)
    if words := cell.more[0]:
        small += (" · ", tag("a", words, href=cell.more[1], aria_label=f"{words.capitalize()} {cell.text}"))
    inside: tuple[str, ...] = (
        text,
        joined(" ", tag("span", cell.tag, class_="tag")) if cell.tag else "",
        tag("small", *small) if any(small) else "",
    )
    if is_first:
        return tag("th", *inside, scope="row")
    if cell.bar is not None:
        inside = (_share_bar(*cell.bar), tag("span", *inside, class_="share-words"))
    kind: str | None = "num wraps" if "(" in cell.text + cell.small else "num"
    if column.is_text:
        kind = "wrap" if column.is_long else None
    return tag("td", *inside, class_=kind, data_head=column.label or column.head or None)


def _unbroken(text: str) -> str:
    """A text whose interval in brackets is not broken between lines."""
    number, bracket, interval = text.partition(" (")
    if not bracket or not interval.endswith(")"):
        return text
    return joined(number, " ", tag("span", f"({interval}", class_="nobreak"))


def _share_bar(share: float | None, expected: float | None) -> Markup:
    def rect(kind: str, width: float) -> Markup:
        return tag("rect", class_=kind, width=width, height=10, rx=3)

    return tag(
        "svg",
        rect("share-all", 100),
        "" if share is None else rect("share-taken", 100 * share),
        ""
        if expected is None
        else tag("path", class_="share-expected", d=f"M{min(100 * expected, 99.5):.1f} 0V10"),
        class_="share-bar",
        viewBox="0 0 100 10",
        preserveAspectRatio="none",
        aria_hidden="true",
    )


def _trap_card(card: Card) -> Markup:
    """A board with its story, and what the opponent replied."""
    detail = joined(" ", tag("span", card.detail, class_="when")) if card.detail else ""
    name = tag("a", tag("bdi", card.name), class_="opponent-link", href=card.name_link)
    tone = {"fell": "trap", "slip": "slip", "held": "good"}.get(card.mood, "")
    if card.board is None:
        said = f"The record of this move cannot be read: {card.damage}. `db recheck` lists such records."
        top = tag("p", with_code(said), class_="saying trap")
    else:
        board = board_of(card.board)
        link = tag("a", board, class_="board-link", href=card.link, aria_label="The moment in its game")
        top = joined(link, tag("p", "We played ", tag("strong", card.played), ".", class_="trap-move"))
    who = (tag("bdi", card.name, class_="who"), " ") if card.is_named else ()
    return tag(
        "article",
        tag(
            "header",
            tag("span", name, detail, class_="name"),
            " ",
            tag("span", card.tag, class_=f"tag {tone}".strip()),
            class_="board-row",
        ),
        top,
        tag("p", card.story),
        tag("p", card.before_reply, *who, card.reply, class_="saying trap" if card.is_alarming else "saying"),
        tag(
            "footer",
            tag("span", card.about, class_="name"),
            tag("a", card.when, href=card.link),
            class_="board-row when",
        ),
        class_=" ".join(
            filter(
                None, ("card trap-card", f"is-{card.mood}" * bool(card.mood), "damaged" * bool(card.damage))
            )
        ),
    )


def _boards(part: BoardsPart) -> Markup:
    if not part.boards:
        return _card(part.title, "", "", _note(part.nothing))
    shapes = board_shapes({board.game for board, _, _ in part.boards})
    boards = (
        tag("div", board_of(board), tag("p", caption), tag("p", where, class_="note"))
        for board, caption, where in part.boards
    )
    return _card(part.title, "", "", shapes, tag("div", *boards, class_="boards"))


def _choice(part: Choice) -> Markup:
    links = (
        tag("a", words, href=address, aria_current="true" if is_chosen else None)
        for words, address, is_chosen in part.options
    )
    title = tag("span", part.title, class_="segments-title")
    return tag(
        "div",
        title,
        " ",
        *(joined(link, " ") for link in links),
        class_="segments",
        role="group",
        aria_label=part.title,
    )


def _pager(part: Pager) -> Markup:
    if not part.earlier and not part.later and part.pages in (1, None):
        return Markup()
    count = "" if part.pages is None else f"page {part.page:,} of {part.pages:,}"

    def button(address: str, rel: str, words: str) -> str:
        return tag("a", words, class_="button small", rel=rel, href=address) if address else ""

    return tag(
        "nav",
        button(part.earlier, "prev", part.words[0]),
        tag("span", count, class_="note"),
        " ",
        button(part.later, "next", part.words[1]),
        class_="pager",
        aria_label="Pages of this list",
    )


def _verdict(part: VerdictPart) -> Markup:
    chips = (
        tag("li", text, class_="is-it" if is_it else None, aria_current="true" if is_it else None)
        for text, is_it in part.findings
    )
    return tag(
        "section",
        tag("ul", *chips, class_="verdicts"),
        tag("p", part.warning, class_="error", role="alert") if part.warning else "",
        tag("h1", part.headline, id="verdict"),
        tag("p", " ".join(part.evidence), class_="lead"),
        _note(" ".join(part.others)),
        drawn(part.chart) if part.chart is not None else "",
        _note(part.about),
        class_="card top-line",
        aria_labelledby="verdict",
    )
