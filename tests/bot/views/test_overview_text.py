"""The state in words."""

from dataclasses import replace
from datetime import timedelta
from typing import Any

import pytest

from bot.alarms.evaluator import AlarmStatus
from bot.alarms.lifecycle import AlarmState
from bot.base.log import LoggedError
from bot.control.status import (
    AccountStatus,
    Admission,
    AdmissionStatus,
    DatabaseStatus,
    Status,
)
from bot.parts.values import Pill
from bot.threads.fair_queue import ThreadWaits
from bot.threads.search_pool import PoolLoad
from bot.views.overview_text import headline, number_word, pills, sites_and_uptime_text
from tests.bot.dashboard.desk_samples import NOW, live_game, sample_status


def alarm(name: str, said: str, state: AlarmState = AlarmState.FIRING) -> AlarmStatus:
    return AlarmStatus(name, state, NOW, said, f"text of {name}", "cure", "", None)


def sentence(status: Status) -> str:
    found = headline(status)
    return f"{found.state[0]} {found.emphasis} {found.text}"


def health(mood: str, name: str, text: str, link: str = "") -> Pill:
    return Pill(name, text, mood=mood, link=link, is_health=True)


OVER = live_game("othello", our_turn=None, is_over=True)
FIRST, SECOND, THIRD = alarm("disk", "The disk is full."), alarm("slow", "Slow."), alarm("stuck", "Stuck.")


@pytest.mark.parametrize(
    ("changes", "said"),
    [
        ({}, "All is well. Four games are on, two traps are armed."),
        ({"games": ()}, "All is well. No game is on."),
        ({"games": (live_game("othello"),)}, "All is well. One game is on."),
        ({"games": sample_status().games[:1]}, "All is well. One game is on, one trap is armed."),
        ({"games": (live_game("othello"),) * 11}, "All is well. 11 games are on."),
        ({"games": (OVER, OVER)}, "All is well. No game is on; two are being closed."),
        (
            {"games": (OVER, *sample_status().games[:1])},
            "All is well. One game is on, one trap is armed; one is being closed.",
        ),
        ({"games": (), "alarms": (FIRST,)}, "The disk is full. No game is on."),
        ({"games": (), "alarms": (FIRST, SECOND)}, "The disk is full. One more alarm fires. No game is on."),
        (
            {"games": (), "alarms": (FIRST, SECOND, THIRD)},
            "The disk is full. Two more alarms fire. No game is on.",
        ),
        (
            {"games": (), "alarms": (replace(FIRST, state=AlarmState.PENDING),)},
            "All is well. No game is on.",
        ),
        (
            {"games": (), "database": DatabaseStatus("x", None, "no answer")},
            "The database does not answer. No game is on.",
        ),
        ({"games": (), "admission": AdmissionStatus(Admission.PAUSED)}, "Paused. No game is on."),
        (
            {"games": (), "admission": AdmissionStatus(Admission.DRAINING)},
            "The program is stopping. No game is on.",
        ),
        (
            {"games": (), "accounts": (AccountStatus("ggs", "", "", None, "no answer", 0, 0),)},
            "ggs is not connected. No game is on.",
        ),
    ],
)
def test_headlines(changes: dict[str, Any], said: str) -> None:
    assert sentence(sample_status(**changes)) == said


def test_several_accounts_away() -> None:
    away = tuple(AccountStatus(name, "", "", None, "", 0, 0) for name in ("a", "b", "c"))
    assert sentence(sample_status(accounts=away, games=())) == "a, b and c are not connected. No game is on."


def test_where_it_plays() -> None:
    assert (
        sites_and_uptime_text(sample_status()) == "Playing at lichess, playstrategy and arena; up for 12 d."
    )
    assert sites_and_uptime_text(sample_status(accounts=())) == "No account is active; up for 12 d."


def test_pills_when_all_is_well() -> None:
    assert pills(sample_status()) == [
        health("good", "lichess", "112 ms"),
        health("good", "playstrategy", "112 ms"),
        health("good", "arena", "up"),
        health("good", "database", "4 ms"),
        health("good", "workers", "3 of 4 busy"),
        health("good", "arena server", "6 games"),
    ]


def test_pills_in_trouble() -> None:
    acknowledged = replace(SECOND, acknowledged_by="socket")
    status = sample_status(
        accounts=(AccountStatus("ggs", "", "", None, "", 0, 0),),
        database=DatabaseStatus("x", None, "no answer in 2 s"),
        workers=PoolLoad(2, 2, 2, 4, 3),
        arena=None,
        alarms=(FIRST, acknowledged),
        last_error=LoggedError(NOW - timedelta(minutes=5), "", "it broke"),
    )
    assert pills(status) == [
        health("bad", "ggs", "signing in"),
        health("bad", "database", "no answer in 2 s"),
        health("warn", "workers", "2 of 2 busy, 3 moves wait, 1 analysis waits"),
        health("bad", "disk", "text of disk", "/dash/events#alarms"),
        health("warn", "slow", "text of slow", "/dash/events#alarms"),
        health("warn", "last error", "5 min ago", "/dash/events"),
    ]
    analysing = replace(status, workers=PoolLoad(2, 2, 0, 163, 1))
    assert health("good", "workers", "2 of 2 busy, 1 move waits, 162 analyses wait") in pills(analysing)
    old = replace(status, last_error=LoggedError(NOW - timedelta(hours=1), "", "it broke"))
    assert all(pill.strong != "last error" for pill in pills(old))


def test_pills_say_how_long_moves_wait_for_threads() -> None:
    home, *others = sample_status().accounts
    busy = replace(home, thread_waits=ThreadWaits(0.125, 1.5, 50))
    status = sample_status(
        accounts=(busy, replace(others[-1], thread_waits=ThreadWaits(0.0, 0.0, 1))),
        workers=PoolLoad(2, 2, 2, 1, 1, is_full=True),
    )
    assert pills(status)[:2] == [
        health("good", "lichess", "112 ms, thread wait 0.12 s (longest 1.50 s)"),
        health("good", "arena", "up, thread wait 0.00 s (longest 0.00 s)"),
    ]
    assert health("warn", "workers", "2 of 2 busy, 1 move waits, too busy for new games") in pills(status)


def test_a_slow_database_is_said_once_and_in_proportion() -> None:
    slow = replace(alarm("database_slow", "The database is slow."), is_warning=True)
    status = sample_status(alarms=(slow,))
    said = headline(status)
    assert said.state == ("The database is slow.", "warn")
    found = [pill for pill in pills(status) if "database" in pill.strong]
    assert found == [health("warn", "database slow", "text of database_slow", "/dash/events#alarms")]
    worse = headline(sample_status(alarms=(slow, FIRST)))
    assert worse.state == ("The disk is full. One more alarm fires.", "bad")
    assert headline(sample_status()).state[1] == "good"


def test_numbers() -> None:
    assert [number_word(n) for n in (0, 10, 11)] == ["no", "ten", "11"]
