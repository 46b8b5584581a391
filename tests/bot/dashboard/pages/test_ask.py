import csv
import io
from collections.abc import AsyncIterator
from pathlib import Path
from typing import Any
from urllib.parse import quote

import aiohttp
import pytest
from markupsafe import escape

from bot.base.config import DashboardConfig, load_config
from bot.base.errors import ConfigError
from bot.dashboard.menu import pages
from bot.dashboard.pages import ask as ask_module
from bot.dashboard.server import Dashboard
from storage.ask.examples import EXAMPLES
from storage.ask.views import VIEWS
from storage.database import Database
from tests.bot.dashboard.pages.conftest import Visitor
from tests.bot.dashboard.samples import NAMES, met_bait

ENDLESS = "with recursive n(i) as (select 1 union all select i + 1 from n) select max(i) from n"


@pytest.fixture
async def asker(database: Database) -> AsyncIterator[Visitor]:
    """A visitor of a dashboard with the page."""
    async with database.write() as session:
        for number, name in enumerate(NAMES):
            await met_bait(session, f"g{number}", opponent=name)
    config = DashboardConfig(port=0, ask=True)
    dashboard = Dashboard(config, database, pages(config, f"sqlite:///{database.url}"))
    async with dashboard.running() as address, aiohttp.ClientSession() as session:
        yield Visitor(address.removesuffix("/dash"), session)


def _path(sql: str, kind: str = "") -> str:
    where = "/dash/ask" if not kind else f"/dash/api/ask{kind.removeprefix('json')}"
    return f"{where}?sql={quote(sql)}"


async def test_there_is_no_such_page_by_default(visitor: Visitor) -> None:
    for path in ("/dash/ask", "/dash/ask?sql=select+1", "/dash/api/ask?sql=select+1", "/dash/api/ask.csv"):
        assert "select 1" not in await visitor.text(path, status=404)
    assert "/dash/ask" not in await visitor.text("/dash")


def test_on_postgresql_it_needs_a_login_of_its_own() -> None:
    def has_page(database_url: str, **settings: Any) -> bool:
        return any(page.name == "ask" for page in pages(DashboardConfig(**settings), database_url))

    own, whole = "postgresql://asking@/x", "postgresql://desdemona@/x"
    assert not has_page(whole)
    assert not has_page(whole, ask=True)
    assert not has_page(whole, ask_url=own)
    assert has_page(whole, ask=True, ask_url=own)
    assert has_page("sqlite:///x.db", ask=True)
    assert not has_page("sqlite:///x.db")


def test_a_wrong_url_is_told_without_its_password(tmp_path: Path) -> None:
    path = tmp_path / "config.toml"
    path.write_text('[dashboard]\nask_url = "mysql://asking:secret@host/x"\n')
    with pytest.raises(ConfigError, match=r"dashboard\.ask_url: start it with sqlite:///") as told:
        load_config(path)
    assert "secret" not in str(told.value)


async def test_an_empty_page_offers_questions_and_views(asker: Visitor) -> None:
    page = await asker.text("/dash/ask")
    assert all(str(escape(question)) in page for question in EXAMPLES)
    assert all(f"<code>{name}</code>" in page for name in VIEWS)
    assert 'id="answer"' not in page
    assert 'role="alert"' not in page
    assert "/dash/ask" in await asker.text("/dash")


async def test_hostile_cells_stay_text(asker: Visitor) -> None:
    sql = "select opponent, '<b>' \"<i>\" from ask_opponents order by opponent_id"
    page = await asker.text(_path(sql))
    answer = page[page.index('id="answer"') : page.index('id="examples"')]
    for name in NAMES:
        assert str(escape(name)) in answer
    assert "<img" not in answer
    assert "<b>" not in answer
    assert "<i>" not in page
    assert "&lt;i&gt;" in answer
    assert (await asker.json(_path(sql, "json")))["rows"][0] == {"opponent": "Anna", "<i>": "<b>"}
    assert "</textarea><script>" not in await asker.text(_path("select '</textarea><script>'"))


async def test_every_example_can_be_followed(asker: Visitor) -> None:
    for sql in EXAMPLES.values():
        told = await asker.json(_path(sql, "json"))
        assert (told["error"], told["question"]) == ("", sql)


@pytest.mark.parametrize(
    ("sql", "told"),
    [
        ("selec 1", "near &#34;selec&#34;: syntax error"),
        ("delete from games", "only the views can be read: ask_games"),
        ("select * from arena_accounts", "only the views can be read: ask_games"),
        ("selec 1 -- " + "+" * 19_989, "near &#34;selec&#34;: syntax error"),
        ("select 1 -- " + "+" * 19_989, "the question is longer than 20,000 characters"),
    ],
)
async def test_mistakes_are_told_in_words(asker: Visitor, sql: str, told: str) -> None:
    page = await asker.text(_path(sql))
    alert = page[page.index('role="alert"') :]
    assert told in alert[: alert.index("</p>")]
    assert 'id="answer"' not in page
    found = await asker.json(_path(sql, "json"))
    assert found["rows"] is None
    assert found["error"]


async def test_a_slow_question_is_stopped(asker: Visitor, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(ask_module, "LIMIT_S", 0.1)
    assert "the question takes longer than 0.1 s; narrow it" in await asker.text(_path(ENDLESS))


async def test_a_thousand_rows_at_most(asker: Visitor) -> None:
    def numbers(count: int) -> str:
        more = f"select i + 1 from n where i < {count}"
        return f"with recursive n(i) as (select 1 union all {more}) select i from n"

    page = await asker.text(_path(numbers(1001)))
    assert "1,000 rows, and more that are not shown" in " ".join(page.split())
    assert '<th scope="col" class="num">i</th>' in page
    assert '<td class="num">1000</td>' in page
    assert '<td class="num">1001</td>' not in page
    rows = list(csv.reader(io.StringIO(await asker.text(_path(numbers(1001), "json.csv")))))
    assert (rows[0], len(rows)) == (["i"], 1001)
    page = await asker.text(_path(numbers(1000)))
    assert "1,000 rows<" in page
    page = await asker.text(_path("select 1/3.0 one, 'x' text"))
    assert '<td class="num">0.333333</td>' in page
    assert '<th scope="col">text</th>' in page
    assert "1 row<" in page
    assert "No rows." in await asker.text(_path("select 1 where 0"))
