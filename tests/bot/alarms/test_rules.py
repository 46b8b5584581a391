"""Each alarm's condition: what makes it fire, and what just does not."""

import math
from typing import Any

import pytest

from bot.alarms.rules import RULES
from bot.alarms.samples import DiskSample, RatingSample
from bot.base.config import AlarmsConfig
from storage.evidence.inference.any_time import estimate
from storage.evidence.inference.blindness import BlindnessReport
from storage.evidence.inference.trial import TrialTerms
from tests.bot.alarms.rig import ALL_RULES, Life

HOUR_S = 3600.0


def blindness(e_value: float) -> BlindnessReport:
    wait = estimate([], [], TrialTerms().design(1000))
    return BlindnessReport(games=200, wait=wait, auc=0.84, e_value=e_value, best_feature="longest waits")


def test_a_healthy_program_has_no_alarm() -> None:
    life = Life()
    life.count(
        decisions=500, slow_decisions=20, commits=900, slow_commits=40, answered=30, declined=20, games=9
    )
    life.live(2 * HOUR_S)
    assert life.states == []
    assert set(life.board.firing) == {rule.name for rule in RULES}
    assert not any(life.board.firing.values())


@pytest.mark.parametrize(
    ("changes", "name", "text"),
    [
        ({"overdue_s": {"abc": 10.5, "d": 10.0}}, "stuck", "game abc: our move is 10 s overdue"),
        ({"database_trouble": "the disk is full"}, "database", "the disk is full"),
        ({"model_failures": {"chess": 3, "othello": 2}}, "model_silent", "model of chess failed 3 times"),
        ({"disk": DiskSample(10**9 - 1, 0)}, "disk", "1.0 GB are free"),
        ({"backup_age_s": 26.5 * HOUR_S}, "backup_old", "26 hours old"),
        ({"backup_age_s": math.inf}, "backup_old", "there is no backup in backups"),
        ({"losses": {"a at b": 5, "c at b": 4}}, "losing_streak", "a at b: the last 5 games were lost"),
        ({"ratings": {"r": RatingSample(1500, 1600)}}, "rating_drop", "r: 1500, from 1600 within 30 days"),
        ({"blindness": {"t1": blindness(1000.0)}}, "trial_revealed", "trial t1: People can recognise"),
    ],
)
def test_what_fires_at_once(changes: dict[str, Any], name: str, text: str) -> None:
    life = Life()
    life.look()
    life.live(15, **changes)
    assert life.firing() == [name]
    (alarm,) = life.board.alarms
    assert text in alarm.text
    assert alarm.cure


@pytest.mark.parametrize(
    "changes",
    [
        {"overdue_s": {"abc": 10.0}},
        {"model_failures": {"chess": 2}},
        {"disk": DiskSample(10**9, 10**9)},
        {"backup_age_s": 26 * HOUR_S},
        {"losses": {"a": 4}},
        {"ratings": {"r": RatingSample(1501, 1600)}},
        {"blindness": {"t1": blindness(999.0)}},
        {"links": {}},
    ],
)
def test_what_just_does_not_fire(changes: dict[str, Any]) -> None:
    life = Life()
    life.look()
    life.live(15, **changes)
    assert life.states == []


@pytest.mark.parametrize(
    ("bad", "fine", "name"),
    [
        ({"lost_on_time": 1}, {"games": 1}, "lost_on_time"),
        ({"decisions": 20, "slow_decisions": 2}, {"decisions": 20, "slow_decisions": 1}, "slow"),
        ({"decisions": 20, "slow_decisions": 2}, {"decisions": 19, "slow_decisions": 19}, "slow"),
        ({"failed_commits": 1}, {"commits": 1}, "database"),
        ({"commits": 20, "slow_commits": 2}, {"commits": 40, "slow_commits": 2}, "database_slow"),
        ({"commits": 20, "slow_commits": 2}, {"commits": 19, "slow_commits": 9}, "database_slow"),
        (
            {"commits": 20, "slow_commits": 2, "late_commits": 2},
            {"commits": 40, "slow_commits": 2, "late_commits": 2},
            "database",
        ),
        ({"answered": 20, "declined": 19}, {"answered": 20, "declined": 18}, "declining"),
        ({"answered": 20, "declined": 20}, {"answered": 19, "declined": 19}, "declining"),
    ],
)
def test_totals_that_grow(bad: dict[str, int], fine: dict[str, int], name: str) -> None:
    well, ill = Life(), Life()
    for life, more in ((well, fine), (ill, bad)):
        life.live(60)
        life.count(**more)
        life.look()
    assert well.states == []
    assert ill.firing() == [name]


@pytest.mark.parametrize(
    ("more", "window_s"),
    [
        ({"lost_on_time": 1}, 3600),
        ({"decisions": 30, "slow_decisions": 30}, 900),
        ({"failed_commits": 1}, 300),
        ({"answered": 30, "declined": 30}, 3600),
    ],
)
def test_a_window_forgets(more: dict[str, int], window_s: float) -> None:
    life = Life()
    life.live(7200)
    life.count(**more)
    life.live(window_s)  # the last of these samples is 15 s before its end
    assert len(life.firing()) == 1
    life.look()
    assert life.firing() == []


def test_failures_of_a_model_count_in_one_hour_only() -> None:
    life = Life()
    for failures in (1, 2, 3):
        life.live(1801, model_failures={"chess": failures})
    assert life.states == []


def test_a_disk_that_will_be_full_in_two_weeks() -> None:
    life, day_s = Life(), 86_400
    for hour in range(7):
        used = 10**9 + hour * 10**9 // 24  # 1 GB a day
        life.look()
        life.live(HOUR_S, disk=DiskSample(15 * 10**9, used))
        if hour < 6:
            assert life.states == []
    life.live(15, disk=DiskSample(11 * 10**9, used))
    assert life.firing() == ["disk"]
    assert "11.0 GB are free, enough for 13 days of growth by 0.9 GB a day" in life.board.alarms[0].text
    life.live(day_s, disk=DiskSample(13 * 10**9, 10**9 - 1))  # it shrinks
    assert life.firing() == []


def test_settings_leave_rules_out() -> None:
    life = Life(AlarmsConfig())
    life.look()
    names = set(life.board.firing)
    everything = {rule.name for rule in RULES}
    assert everything - names == {"backup_old", "losing_streak", "rating_drop"}
    assert {rule.name for rule in RULES if rule.is_on(ALL_RULES)} == everything


def test_names_and_cures_are_told_apart() -> None:
    for field in ("name", "headline", "cure"):
        assert len({getattr(rule, field) for rule in RULES}) == len(RULES)
