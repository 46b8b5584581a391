"""Who is told of what and when; acknowledging and snoozing."""

from datetime import timedelta

import pytest

from bot.alarms.evaluator import MAX_SNOOZE_MIN, AlarmError
from bot.alarms.lifecycle import AlarmState
from tests.bot.alarms.rig import START, WELL, Life

HOUR_S = 3600.0
LATE = {"abc": 60.0}


def told(life: Life) -> list[tuple[float, str]]:
    return [(at_s, notice.state) for at_s, notice in life.notices]


def test_notices_at_firing_every_four_hours_and_at_the_end() -> None:
    life = Life()
    life.live(60)
    life.live(9 * HOUR_S, overdue_s=LATE)
    life.live(600, overdue_s={})
    fired, end = 60, 60 + 9 * HOUR_S
    assert told(life) == [
        (fired, "firing"),
        (fired + 4 * HOUR_S, "firing"),
        (fired + 8 * HOUR_S, "firing"),
        (end + 300, "over"),
    ]
    first, last = life.notices[0][1], life.notices[-1][1]
    assert first.since == last.since == START + timedelta(seconds=1060)
    assert (first.name, first.text) == ("stuck", "game abc: our move is 60 s overdue")
    assert first.cure


def test_a_clock_that_was_set_back_keeps_nothing_silent() -> None:
    life = Life()
    life.live(60, overdue_s=LATE)
    life.set_back_s = 365 * 24 * HOUR_S
    life.live(5 * HOUR_S)
    assert told(life) == [(0, "firing"), (60, "firing"), (60 + 4 * HOUR_S, "firing")]
    life.board.snooze("stuck", 60)
    life.set_back_s *= 2
    assert life.board.alarms[0].is_unacknowledged


def test_an_acknowledged_alarm_is_told_of_once_more_when_it_ends() -> None:
    life = Life()
    life.live(60, overdue_s=LATE)
    assert life.board.acknowledge("stuck", "socket") == "alarm stuck: acknowledged until it clears"
    (alarm,) = life.board.alarms
    assert (alarm.acknowledged_by, alarm.is_unacknowledged, alarm.is_active) == ("socket", False, True)
    life.live(9 * HOUR_S)
    life.live(600, overdue_s={})
    assert [state for _, state in told(life)] == ["firing", "over"]
    life.live(60, overdue_s=LATE)  # a new one
    assert [state for _, state in told(life)] == ["firing", "over", "firing"]
    assert life.board.alarms[0].is_unacknowledged


def test_a_snoozed_alarm_is_told_of_later() -> None:
    life = Life()
    life.look()
    assert life.board.snooze("stuck", 60) == "alarm stuck: snoozed for 60 minutes"
    (alarm,) = life.board.alarms
    assert (alarm.state, alarm.snoozed_until) == (AlarmState.OK, START + timedelta(seconds=1000 + 3600))
    life.live(2 * HOUR_S, overdue_s=LATE)
    assert told(life) == [(HOUR_S, "firing")]


def test_an_alarm_that_ends_while_snoozed_is_never_told_of() -> None:
    life = Life()
    life.look()
    life.board.snooze("stuck", 60)
    life.live(60, overdue_s=LATE)
    life.live(HOUR_S, overdue_s={})
    assert told(life) == []
    assert life.board.alarms == ()


def test_a_repeat_waits_for_the_end_of_the_snooze() -> None:
    life = Life()
    life.live(60, overdue_s=LATE)
    life.board.snooze("stuck", 5 * 60)
    life.live(6 * HOUR_S)
    assert told(life) == [(0, "firing"), (60 + 5 * HOUR_S, "firing")]


@pytest.mark.parametrize("minutes", [0, -1, float("nan"), MAX_SNOOZE_MIN + 1])
def test_impossible_snoozes(minutes: float) -> None:
    life = Life()
    life.look()
    with pytest.raises(AlarmError, match="minutes must be more than 0 and at most 10080"):
        life.board.snooze("stuck", minutes)


def test_alarms_that_are_not_there() -> None:
    life = Life()
    with pytest.raises(AlarmError, match="no alarm 'stuck'; known: none yet"):
        life.board.snooze("stuck", 1)
    life.look()
    with pytest.raises(AlarmError, match=r"no alarm 'x\\x1b'; known: link_down, stuck, "):
        life.board.acknowledge("x\x1b", "socket")
    with pytest.raises(AlarmError, match="alarm stuck is not firing"):
        life.board.acknowledge("stuck", "socket")


def test_those_that_fire_come_first() -> None:
    life = Life()
    life.live(30, links={"lichess": "away"}, overdue_s=LATE, database_trouble="full")
    life.live(15, database_trouble="")
    assert [(alarm.name, alarm.state.value) for alarm in life.board.alarms] == [
        ("stuck", "firing"),
        ("database", "recovering"),
        ("link_down", "pending"),
    ]
    assert life.board.firing["database"]
    assert not life.board.firing["link_down"]
    assert WELL.links
