"""Parts of a view as HTML."""

from dataclasses import replace

from bot.parts.html import html_of
from bot.parts.values import (
    Choice,
    Column,
    Heading,
    Note,
    Pager,
    Part,
    Pill,
    TableCell,
    TablePart,
    VerdictPart,
)

COLUMNS = (Column("Name", is_text=True), Column("Games", label="games played"), Column("Why", is_text=True))


def html(part: Part) -> str:
    """Without the breaks of lines between elements."""
    return html_of(part, lambda table: f"/api.csv?table={table}").replace("\n", "")


def test_a_table_names_its_rows_and_its_cells() -> None:
    rows = (
        (
            TableCell("<Anna>", "arena", "/who?a=1&b=2"),
            TableCell("1", "2 (0 to 3)"),
            TableCell("won", tone="good"),
        ),
    )
    page = html(TablePart("Who plays?", COLUMNS, rows, "Note.", records="people"))
    for part in (
        'aria-labelledby="who-plays"',
        '<h2 id="who-plays">Who plays?</h2><a href="/api.csv?table=people">CSV</a>',
        '<th scope="col" class="num">Games</th>',
        '<th scope="row"><a class="game-link" href="/who?a=1&amp;b=2"><bdi>&lt;Anna&gt;</bdi></a>',
        '<td class="num wraps" data-head="games played">1<small>2 <span class="nobreak">(0 to 3)</span>',
        '<td data-head="Why"><span class="tag good">won</span></td>',
        '<p class="note">Note.</p>',
    ):
        assert part in page, part


def test_an_empty_table_says_so() -> None:
    page = html(TablePart("Who", COLUMNS, (), nothing="Nobody <here>."))
    assert "Nobody &lt;here&gt;." in page
    assert "<table" not in page


def test_a_bar_shows_a_share_and_what_was_expected() -> None:
    row = ("a", TableCell("40 %", "5 to 9 %", bar=(0.4, 1.0)), "b")
    page = html(TablePart("Shares", COLUMNS, (row,), style="shares"))
    assert '<rect class="share-taken" width="40.0"' in page
    assert 'd="M99.5 0V10"' in page
    assert '<span class="share-words">40 %<small>5 to 9 %</small></span>' in page


def test_sentences() -> None:
    assert "<em>2</em> games" in html(Heading("games", "2"))
    assert html(Note("run `a <b>`")) == '<p class="note">run <code>a &lt;b&gt;</code></p>'
    card = html(Note("None.", "Baits", link=("All", "/all")))
    assert '<h2 id="baits">Baits</h2><a href="/all">All</a>' in card
    assert '<a href="?by=a" aria-current="true">one</a>' in html(Choice("By", (("one", "?by=a", True),)))
    pill = Pill("3", "games", "they won", "warn")
    shown = html(Heading("Anna", pills=(pill, replace(pill, is_health=True)), pills_name="Facts"))
    assert '<li class="pill warn">they won <strong>3</strong> games</li>' in shown
    assert '<span class="visually-hidden">look:</span> they won' in shown
    assert '<h2 id="how-long-our-moves-took">' in html(Note("x", "How long our moves took?"))


def test_a_pager_links_to_its_neighbours() -> None:
    page = html(Pager(2, 3, "?page=1", "?page=3"))
    assert 'rel="prev" href="?page=1">Earlier</a>' in page
    assert "page 2 of 3" in page
    assert 'rel="next" href="?page=3">Later</a>' in page
    assert html(Pager(1, 1, "", "")) == html(Pager(1, None, "", "")) == ""
    assert "page" not in html(Pager(1, None, "", "?number=2", ("Newer", "Older"))).replace(
        "Pages", ""
    ).replace("pager", "")


def test_a_verdict_marks_its_finding() -> None:
    page = html(
        VerdictPart((("Early", True), ("More", False)), "BAD", "Nobody knows.", ("a", "b"), (), None, "T")
    )
    assert '<li class="is-it" aria-current="true">Early</li><li>More</li>' in page
    assert '<p class="error" role="alert">BAD</p><h1 id="verdict">Nobody knows.</h1>' in page
    assert '<p class="lead">a b</p>' in page
