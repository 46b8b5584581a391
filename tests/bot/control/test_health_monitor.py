"""The watch: what is sampled, what it records, and that no failure stops it."""

import asyncio
import logging
import math
import os
from contextlib import suppress
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from bot.alarms.evaluator import AlarmEvaluator, AlarmNotice
from bot.base.config import AlarmsConfig
from bot.base.metrics import Metrics
from bot.control.health_monitor import (
    ALARM_EVENT,
    RECENT_RESULTS_MAX_AGE_S,
    HealthMonitor,
    MonitoredParts,
    backup_age,
    disk_sample,
    plain_readiness,
)
from bot.control.status import AccountStatus, DatabaseStatus
from bot.threads.search_pool import PoolLoad
from engine.human.registry import ModelRegistry
from storage.database import Database
from storage.errors import StorageError
from storage.ledger.events import list_events
from tests.bot.dashboard.desk_samples import FakeActions, live_game, sample_status
from tests.bot.times import FakeTime
from tests.patience import PATIENCE_S


class Told:
    """Hooks that remember."""

    def __init__(self) -> None:
        self.notices: list[AlarmNotice] = []
        self.came = asyncio.Event()

    async def notify(self, notice: AlarmNotice) -> None:
        self.notices.append(notice)
        self.came.set()


class Rig:
    """A watch over a made-up program and a real database."""

    def __init__(self, database: Database, folder: Path, config: AlarmsConfig | None = None) -> None:
        self.time = FakeTime()
        self.actions = FakeActions()
        self.metrics = Metrics()
        self.board = AlarmEvaluator(config or AlarmsConfig())
        self.hooks = Told()
        self.pings = 0
        watched = MonitoredParts(
            self.actions.status, database, f"sqlite:///{folder / 'x.db'}", ModelRegistry(), self.metrics
        )
        (folder / "x.db").write_bytes(b"x" * 1000)
        hooks: Any = self.hooks
        self.watch = HealthMonitor(watched, self.board, hooks, self.time.clock, self._ping)

    def _ping(self) -> None:
        self.pings += 1

    def firing(self) -> list[str]:
        return [name for name, fires in self.board.firing.items() if fires]


async def test_a_program_that_is_well(database: Database, tmp_path: Path) -> None:
    rig = Rig(database, tmp_path)
    await rig.watch.check()
    assert (rig.watch.trouble, rig.pings, rig.board.alarms) == ("", 1, ())
    assert rig.watch.recent is not None


async def test_a_standby_has_no_links_that_could_be_down(database: Database, tmp_path: Path) -> None:
    rig = Rig(database, tmp_path)
    for is_standby in (True, False):
        account = AccountStatus("a", "", "", None, "another program plays it", 0, 0, is_standby)
        rig.actions.now = sample_status(accounts=(account,))
        rig.time.now += 15
        await rig.watch.check()
        rig.time.now += 61
        await rig.watch.check()
        assert rig.firing() == ([] if is_standby else ["link_down"])


async def test_a_late_move_fires_is_recorded_and_told_of(database: Database, tmp_path: Path) -> None:
    rig = Rig(database, tmp_path)
    rig.actions.now = sample_status(games=(live_game("othello", our_turn=True, overdue_s=11.0),))
    ticks = 0

    async def sleep(_seconds: float) -> None:
        nonlocal ticks
        ticks += 1
        async with asyncio.timeout(PATIENCE_S):
            await rig.hooks.came.wait()
        if ticks == 2:
            raise asyncio.CancelledError

    with suppress(asyncio.CancelledError):
        await rig.watch.run(sleep)
    assert [notice.name for notice in rig.hooks.notices] == ["stuck"]
    async with database.read() as session:
        (event,) = await list_events(session, kind=ALARM_EVENT)
    assert event.detail == {
        "alarm": "stuck",
        "state": "firing",
        "reason": "game othello1234: our move is 11 s overdue",
    }
    assert rig.metrics.registry.get_sample_value("desdemona_events_total", {"kind": ALARM_EVENT}) == 1


async def test_what_is_wrong_for_a_moment_is_no_event(database: Database, tmp_path: Path) -> None:
    """As a link that is not yet there when the program starts."""
    rig = Rig(database, tmp_path)
    down = (AccountStatus("a", "", "", None, "", 0, 0),)
    for accounts, seconds in ((down, 15), (down, 15), ((), 15), (down, 15), (down, 61), ((), 15), ((), 301)):
        rig.actions.now = sample_status(accounts=accounts)
        rig.time.now += seconds
        await rig.watch.check()
    async with database.read() as session:
        events = await list_events(session, kind=ALARM_EVENT)
    assert [(event.detail["state"], event.detail["reason"]) for event in reversed(events)] == [
        ("firing", "a: signing in"),
        ("recovering", "the problem is gone"),
        ("ok", "no problem for 5 minutes"),
    ]


async def test_a_database_that_cannot_be_written(
    database: Database, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    rig = Rig(database, tmp_path)
    await rig.watch.check()

    async def fail() -> None:
        raise StorageError("cannot write to the database x.db: disk I/O error")

    monkeypatch.setattr(database, "try_writing", fail)
    rig.time.now += 60
    await rig.watch.check()
    assert (rig.watch.trouble, rig.firing(), rig.pings) == ("", ["database"], 2)
    rig.time.now += 1
    await rig.watch.check()
    assert rig.pings == 2  # the watchdog will bite
    assert rig.watch.trouble == (
        "the database has not been writable for 61 s: cannot write to the database x.db: disk I/O error"
    )
    monkeypatch.undo()
    await rig.watch.check()
    assert (rig.watch.trouble, rig.pings) == ("", 3)
    assert [r.message for r in caplog.records if r.levelno == logging.WARNING] == [
        "alarm database: firing: cannot write to the database x.db: disk I/O error"
    ]


async def test_what_cannot_be_found_out_stops_nothing(
    database: Database, tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    rig = Rig(database, tmp_path)
    (tmp_path / "x.db").unlink()

    async def crash() -> Any:
        raise ValueError("odd")

    rig.watch._observed = replace(rig.watch._observed, status=crash)
    await rig.watch.check()
    await rig.watch.check()
    errors = [record.message for record in caplog.records if record.levelno == logging.ERROR]
    assert errors[0] == "health: cannot determine the status: ValueError('odd')"
    assert errors[1].startswith("health: cannot determine the disk: FileNotFoundError")
    assert len(errors) == 2  # once each
    rig.time.now += 300
    await rig.watch.check()
    assert rig.firing() == ["link_down", "stuck", "disk"]  # for want of data


async def test_the_form_is_read_when_a_game_has_ended(database: Database, tmp_path: Path) -> None:
    rig = Rig(database, tmp_path)
    await rig.watch.check()
    first = rig.watch.recent
    rig.time.now += RECENT_RESULTS_MAX_AGE_S - 1
    await rig.watch.check()
    assert rig.watch.recent is first
    rig.time.now += 1
    await rig.watch.check()
    second = rig.watch.recent
    assert second is not first
    rig.metrics.count_game("arena", "chess", "trappy", "win", is_lost_on_time=False)
    await rig.watch.check()
    assert rig.watch.recent is not second


def test_the_disk(tmp_path: Path) -> None:
    file = tmp_path / "d.db"
    file.write_bytes(b"x" * 1000)
    (tmp_path / "d.db-wal").write_bytes(b"x" * 500)
    found = disk_sample(f"sqlite:///{file}")
    assert found.database_bytes == 1500
    assert found.free_bytes > 0
    assert disk_sample("postgresql://host/name").database_bytes == 0


def test_backups(tmp_path: Path) -> None:
    assert backup_age(str(tmp_path)) == math.inf
    for name, at_s in (("a", 1000), ("b", 5000), ("c", 2000)):
        (tmp_path / name).write_text("")
        os.utime(tmp_path / name, (at_s, at_s))
    (tmp_path / "folder").mkdir()
    for killed in ("d.db.new", "d.db.new-journal"):
        (tmp_path / killed).write_text("")
    assert backup_age(str(tmp_path), now=lambda: 6000.0) == 1000
    assert backup_age(str(tmp_path), now=lambda: 4000.0) == 0
    with pytest.raises(FileNotFoundError):
        backup_age(str(tmp_path / "none"))


def test_links() -> None:
    up = sample_status().accounts[0]
    assert up.link is not None
    assert up.link_trouble == ""
    assert replace(up, link=replace(up.link, is_up=False, trouble="cut off")).link_trouble == "cut off"
    assert replace(up, link=replace(up.link, is_up=False)).link_trouble == "not up yet"
    assert AccountStatus("a", "", "", None, "refused", 0, 0).link_trouble == "refused"
    assert AccountStatus("a", "", "", None, "", 0, 0).link_trouble == "signing in"


@pytest.mark.parametrize(
    ("changes", "failures", "part", "reason"),
    [
        ({"database": DatabaseStatus("x", None, "away")}, {}, "database", "away"),
        ({"workers": PoolLoad(2, 2, 2, 9, 5)}, {}, "workers", "5 moves waiting for 2 threads"),
        ({}, {"chess": (7, 1), "othello": (3, 0)}, "models", "the model of chess fails"),
        ({"accounts": (AccountStatus("a", "", "", None, "x", 0, 0),)}, {}, "account a", "x"),
    ],
)
def test_what_is_not_ready(
    changes: dict[str, Any], failures: dict[str, tuple[int, int]], part: str, reason: str
) -> None:
    said = plain_readiness(sample_status(**changes), failures)
    assert said["ok"] is False
    assert {name: each["reason"] for name, each in said["parts"].items() if not each["ok"]} == {part: reason}
    assert plain_readiness(sample_status(workers=PoolLoad(2, 2, 2, 163, 4)), {})["ok"] is True
