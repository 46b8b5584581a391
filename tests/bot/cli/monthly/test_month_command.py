"""`desdemona page month` as the operator types it."""

import asyncio
import re
from datetime import UTC, datetime, timedelta
from html.parser import HTMLParser
from pathlib import Path

import pytest
from sqlalchemy import update

from bot.cli.monthly import month_command as command
from storage.database import Database
from storage.records import GameResult, GameStatus
from storage.tables.games import GameRow
from tests.bot.conftest import Command
from tests.storage.evidence.statistics.test_monthly import SINCE, game
from tests.storage.samples import opened


class _Page(HTMLParser):
    """What a page holds: its tags with their attributes, and its headings."""

    def __init__(self, text: str) -> None:
        super().__init__()
        self.tags: list[tuple[str, dict[str, str | None]]] = []
        self.headings: list[str] = []
        self._in_heading = False
        self.feed(text)

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.tags.append((tag, dict(attrs)))
        self._in_heading = tag in ("h1", "h2")

    def handle_data(self, data: str) -> None:
        if self._in_heading:
            self.headings.append(data)
        self._in_heading = False

    def count(self, tag: str) -> int:
        return sum(name == tag for name, _ in self.tags)


@pytest.fixture
def november(migrated_file: Path) -> Path:
    """A database with two games in November 2026 whose baits were taken, and one in December."""

    async def fill() -> None:
        database = await Database.open(f"sqlite:///{migrated_file}")
        first, second = (SINCE + timedelta(days=days) for days in (3, 4))
        await game(database, "one", first, GameResult.WIN, judged=True, opponent_name="<b>Anna</b>")
        other = {"strategy": "standard", "opponent_id": "b"}
        await game(database, "two", second, GameResult.DRAW, judged=True, **other)
        async with database.write() as session:
            stored = await opened(
                session, "three", at=SINCE + timedelta(days=31), opponent_id="c", game="chess"
            )
            changes = {"state": GameStatus.FINISHED, "result": GameResult.LOSS}
            await session.execute(update(GameRow).where(GameRow.id == stored.id).values(**changes))
        await database.close()

    asyncio.run(fill())
    return migrated_file


def test_a_month(desdemona: Command, november: Path) -> None:
    assert november.exists()
    status, told, _ = desdemona("page", "month", "--month", "2026-11")
    assert status == 0
    page = _Page(told)
    assert page.headings[:4] == ["Desdemona: November 2026", "Games by day", "Score", "Games"]
    assert "Rating: Othello, desdemona at arena" in page.headings
    assert "Most costly baits" in page.headings
    assert "2 games, score 1.5 of 2 (75.0 %). All games." in told
    assert "Othello, trappy" in told
    assert "chess" not in told
    assert sum(tag == "svg" and "board" in str(each.get("class")).split() for tag, each in page.tags) == 2


def test_the_file_needs_nothing_else(desdemona: Command, november: Path) -> None:
    assert november.exists()
    _, told, _ = desdemona("page", "month", "--month", "2026-11")
    page = _Page(told)
    assert page.count("script") == page.count("link") == page.count("img") == page.count("iframe") == 0
    for _, attributes in page.tags:
        for name in ("src", "href", "xlink:href"):
            assert (attributes.get(name) or "#").startswith("#")
    assert not re.search(r"https?:|url\((?!\"?#)|@import", told)
    assert "@media print" in told
    assert "default-src 'none'" in told


def test_names_are_text(desdemona: Command, november: Path) -> None:
    assert november.exists()
    _, told, _ = desdemona("page", "month", "--month", "2026-11")
    assert "&lt;b&gt;Anna&lt;/b&gt;" in told
    assert "<b>" not in told


def test_filters_are_those_of_all_commands(desdemona: Command, november: Path) -> None:
    assert november.exists()
    _, told, _ = desdemona("page", "month", "--month", "2026-11", "--strategy", "standard", "--people")
    assert "1 game, score 0.5 of 1 (50.0 %). Only strategy standard, opponents people." in told


def test_a_month_without_games(desdemona: Command, november: Path) -> None:
    assert november.exists()
    status, told, _ = desdemona("page", "month", "--month", "2020-02")
    assert status == 0
    assert "0 games. All games." in told
    assert "No bait was taken." in told
    assert "There were no events." in told
    assert "nan" not in told.partition("<body>")[2]


def test_another_time(desdemona: Command, november: Path) -> None:
    assert november.exists()
    times = ("--since", "2026-01-01T00:00+00:00", "--until", "2027-01-01T00:00+00:00")
    _, told, _ = desdemona("page", "month", *times)
    assert ">Desdemona: 2026-01-01 00:00 to 2027-01-01 00:00</h1>" in told
    assert "3 games" in told


def test_this_month_is_the_default(desdemona: Command, migrated_file: Path) -> None:
    assert migrated_file.exists()
    before, (_, told, _), after = datetime.now(UTC), desdemona("page", "month"), datetime.now(UTC)
    assert any(f">Desdemona: {now:%B %Y}</h1>" in told for now in (before, after))


def test_a_file(desdemona: Command, november: Path, tmp_path: Path) -> None:
    assert november.exists()
    path = tmp_path / "report.html"
    status, told, notes = desdemona("page", "month", "--month", "2026-12", "--out", str(path))
    assert (status, told) == (0, "")
    assert notes == f"{path}: {path.stat().st_size:,} bytes\n"
    assert path.read_text().startswith("<!doctype html>")
    status, _, notes = desdemona(
        "page", "month", "--month", "2026-12", "--out", str(tmp_path / "no" / "where")
    )
    assert status == 2
    assert "cannot be written" in notes


def test_a_terminal_is_not_flooded(
    desdemona: Command, november: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    assert november.exists()
    monkeypatch.setattr(command, "is_terminal", lambda: True)
    status, told, notes = desdemona("page", "month", "--month", "2026-11")
    assert (status, told) == (2, "")
    assert "--out: name a file" in notes


@pytest.mark.parametrize(
    ("arguments", "told"),
    [
        (("--month", "2026-13"), "--month: '2026-13' is not a month; use the form YYYY-MM"),
        (("--month", "11-2026"), "--month: '11-2026' is not a month; use the form YYYY-MM"),
        (("--month", "0000-01"), "--month: '0000-01' is not a month"),
        (("--month", "2026-11", "--since", "2026-11-05"), "--month: not with --since or --until"),
        (("--until", "2026-11-05"), "--until: give --since, too"),
        (("--since", "2026-11-05", "--until", "2026-11-03"), "--until is before --since"),
    ],
)
def test_odd_times_are_refused(
    desdemona: Command, migrated_file: Path, arguments: tuple[str, ...], told: str
) -> None:
    assert migrated_file.exists()
    status, _, notes = desdemona("page", "month", *arguments)
    assert status == 2
    assert told in notes
