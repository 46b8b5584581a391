"""Pages that are made in another process."""

import os
import signal
from collections.abc import AsyncIterator
from pathlib import Path
from typing import cast

import aiohttp
import pytest

from bot.base.config import DashboardConfig
from bot.base.errors import DesdemonaError
from bot.control.actions import OperatorActions
from bot.dashboard.page_renderer import OutputFormat, PageRequest
from bot.dashboard.page_workers import PageWorkers
from bot.dashboard.server import Dashboard
from bot.views.menu import pages
from bot.views.page import BadQuery, PageNotFound, Query
from storage.database import Database
from storage.errors import FilterError, StorageError
from tests.bot.dashboard.desk_samples import FakeActions, desk_of, sample_status

CONFIG = DashboardConfig(port=0)


@pytest.fixture
async def workers(database: Database) -> AsyncIterator[PageWorkers]:
    made = PageWorkers(f"sqlite:///{database.url}")
    yield made
    await made.close()


async def test_every_page_is_the_same_as_in_this_process(database: Database, workers: PageWorkers) -> None:
    """The numbers are compared; the HTML has times in it."""
    actions = FakeActions(sample_status())
    shown = pages(cast(OperatorActions, actions))
    here = Dashboard(CONFIG, database, shown, desk_of(actions))
    there = Dashboard(CONFIG, database, shown, desk_of(actions), workers=workers)
    async with here.running() as first, there.running() as second, aiohttp.ClientSession() as http:
        for page in shown:
            if "{" in page.path:
                continue
            found = []
            for address in (first, second):
                origin = address.removesuffix("/dash")
                async with http.get(f"{origin}/dash/api/{page.name}") as answer:
                    found.append((answer.status, answer.content_type, await answer.json()))
                async with http.get(f"{origin}{page.path}") as answer:
                    found.append((answer.status, answer.content_type, "<main" in await answer.text()))
            assert found[:2] == found[2:], page.name
        async with http.get(f"{second}") as answer:
            text = await answer.text()
    assert sample_status().games[0].opponent in text  # what only this process knows


async def test_errors_come_back(workers: PageWorkers) -> None:
    with pytest.raises(PageNotFound):
        await workers.answer(PageRequest("game", Query(own={"id": "7"}), OutputFormat.HTML, {"id": "7"}))
    with pytest.raises(BadQuery, match="table: 'odd' is not known"):
        await workers.answer(PageRequest("games", Query(), OutputFormat.CSV, table="odd"))
    made = await workers.answer(PageRequest("now", Query(), OutputFormat.CSV))
    assert (made.table, made.text.splitlines()[0].split(",")[0]) == ("days", "day")


async def test_a_process_that_dies_fails_its_page_and_no_other(workers: PageWorkers) -> None:
    await workers.answer(PageRequest("games", Query(), OutputFormat.JSON))
    (process,) = workers._pool._alive
    assert process._process.pid is not None
    os.kill(process._process.pid, signal.SIGKILL)
    process._process.join()
    made = await workers.answer(PageRequest("games", Query(), OutputFormat.JSON))
    assert '"games": []' in made.text


async def test_a_database_that_is_not_there(tmp_path: Path) -> None:
    workers = PageWorkers(f"sqlite:///{tmp_path}/none.db")
    with pytest.raises(StorageError, match=r"none\.db"):
        await workers.answer(PageRequest("games", Query(), OutputFormat.JSON))
    await workers.close()
    with pytest.raises((DesdemonaError, FilterError, RuntimeError)):
        await workers.answer(PageRequest("games", Query(), OutputFormat.JSON))
