"""Games in other processes: on this machine, and on a cluster."""

import asyncio
import multiprocessing
import os
import signal
from collections.abc import Iterator
from typing import Any

import pytest

from bot.match.game_storage import load
from bot.match.match_runner import run_match
from bot.match.openings import Opening
from bot.match.play import GameTask, play
from bot.workers import pools as working
from bot.workers.pools import ClusterWorkers, LocalWorkers, WorkersError
from storage.database import Database
from tests.bot.match.samples import match, terms

GAMES = 24
LONG_S = 600.0
"""A match that takes longer hangs."""


@pytest.fixture
def backend() -> str:
    return "sqlite"


@pytest.fixture
def local() -> Iterator[LocalWorkers]:
    workers = LocalWorkers(2)
    yield workers
    workers.close()


def test_games_in_processes(local: LocalWorkers) -> None:
    given = terms("standard", "trappy", game="tictactoe")
    futures = [local.run(play, GameTask(given, number, 1, Opening(None, ()))) for number in range(4)]
    assert [future.result(LONG_S).finished.number for future in futures] == [0, 1, 2, 3]


async def test_processes_that_are_killed(database: Database, local: LocalWorkers) -> None:
    """Their games are played again; nothing is lost or doubled."""
    killed = 0

    def on_game(*_: Any) -> None:
        nonlocal killed
        victims = multiprocessing.active_children()
        if killed < 2 and victims:
            killed += 1
            os.kill(victims[0].pid or 0, signal.SIGKILL)

    given = match(terms("standard", "trappy", game="tictactoe"), 6)
    async with asyncio.timeout(LONG_S):
        end = await run_match(given, database, local, on_game, asyncio.Event())
    assert killed == 2
    assert end.result.games == 6
    assert sorted(await load(database, given.id, given.terms)) == list(range(6))


@pytest.mark.filterwarnings("default")  # of Dask and Tornado, for which we are not to blame
async def test_a_cluster_one_of_whose_workers_is_killed(database: Database) -> None:
    """Two worker processes; one dies half-way: no game is lost or doubled."""
    distributed = pytest.importorskip("distributed", reason="needs the extra `cluster`")
    given = match(terms("standard:depth=3", "trappy:depth=3", game="connect4"), GAMES)
    victims: list[int] = []

    with distributed.LocalCluster(
        n_workers=2, threads_per_worker=1, processes=True, dashboard_address=None
    ) as cluster:
        workers = await asyncio.to_thread(ClusterWorkers, cluster.scheduler_address)

        def on_game(_: Any, now: Any) -> None:
            if now.result.games == GAMES // 2 and not victims:
                victims.append(next(iter(cluster.workers.values())).pid)
                os.kill(victims[0], signal.SIGKILL)

        try:
            assert workers.capacity() == 2
            async with asyncio.timeout(LONG_S):
                end = await run_match(given, database, workers, on_game, asyncio.Event())
        finally:
            await asyncio.to_thread(workers.close)
    assert victims
    assert end.result.games == GAMES
    assert sorted(await load(database, given.id, given.terms)) == list(range(GAMES))


@pytest.mark.filterwarnings("default")
async def test_a_cluster_that_goes_away(database: Database) -> None:
    """The match ends, and can go on with another one."""
    distributed = pytest.importorskip("distributed", reason="needs the extra `cluster`")
    given = match(terms("standard", "trappy", game="tictactoe"), 500)
    with distributed.LocalCluster(
        n_workers=1, threads_per_worker=1, processes=False, dashboard_address=None
    ) as cluster:
        workers = await asyncio.to_thread(ClusterWorkers, cluster.scheduler_address)

        def on_game(_: Any, now: Any) -> None:
            if now.result.games == 2:
                cluster.close()

        try:
            with pytest.raises(WorkersError, match="gone; run the command again to resume"):
                await run_match(given, database, workers, on_game, asyncio.Event())
        finally:
            await asyncio.to_thread(workers.close)
    assert sorted(await load(database, given.id, given.terms))[:2] == [0, 1]


def test_without_the_extra(monkeypatch: pytest.MonkeyPatch) -> None:
    def missing(name: str) -> Any:
        raise ModuleNotFoundError(f"No module named {name!r}")

    monkeypatch.setattr("importlib.import_module", missing)
    with pytest.raises(
        WorkersError, match=r"install the extra 'cluster', `pip install 'desdemona\[cluster\]'`"
    ):
        ClusterWorkers("tcp://127.0.0.1:1")


@pytest.mark.filterwarnings("default")
@pytest.mark.parametrize("address", ["tcp://127.0.0.1:1", "nonsense://x", "127.0.0.1:port"])
def test_no_scheduler(address: str, monkeypatch: pytest.MonkeyPatch) -> None:
    pytest.importorskip("distributed", reason="needs the extra `cluster`")
    monkeypatch.setattr(working, "_CONNECT_TIMEOUT_S", 0.5)
    with pytest.raises(WorkersError, match="there is no scheduler at"):
        ClusterWorkers(address)
