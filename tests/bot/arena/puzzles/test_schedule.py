"""A miss comes back after 1, 3 and 7 days, each time on its day, and is then done."""

from datetime import UTC, datetime, timedelta

from bot.arena.puzzles.schedule import after_answer, after_hint, after_skip
from storage.arena.puzzles.solvers import ReviewRecord

NOW = datetime(2026, 3, 1, 12, tzinfo=UTC)
DAY = timedelta(days=1)


def test_a_miss_is_done_after_three_right_answers_on_their_days() -> None:
    review = after_answer(ReviewRecord(), is_right=False, now=NOW)
    assert review == ReviewRecord(1, stage=0, due_at=NOW + DAY)
    now = NOW
    for wait in (1, 3, 7):
        now += wait * DAY
        assert review.due_at == now
        assert after_answer(review, is_right=True, now=now - timedelta(seconds=1)).due_at == now  # too early
        review = after_answer(review, is_right=True, now=now)
    assert review == ReviewRecord(4, stage=2, due_at=None)


def test_a_further_miss_begins_anew() -> None:
    review = ReviewRecord(3, stage=2, due_at=NOW)
    assert after_answer(review, is_right=False, now=NOW) == ReviewRecord(4, stage=0, due_at=NOW + DAY)


def test_a_second_try_does_not_bring_it_on() -> None:
    review = after_answer(ReviewRecord(), is_right=False, now=NOW)
    assert after_answer(review, is_right=True, now=NOW) == ReviewRecord(2, stage=0, due_at=NOW + DAY)


def test_what_was_found_at_once_is_done() -> None:
    assert after_answer(ReviewRecord(), is_right=True, now=NOW) == ReviewRecord(1)


def test_a_hint_is_a_miss() -> None:
    hinted = after_hint(ReviewRecord(), NOW)
    assert hinted == ReviewRecord(0, has_hint=True, stage=0, due_at=NOW + DAY)
    assert after_answer(hinted, is_right=True, now=NOW).due_at == NOW + DAY
    later = after_hint(ReviewRecord(2, stage=2, due_at=NOW), NOW)
    assert later == ReviewRecord(2, has_hint=False, stage=0, due_at=NOW + DAY)


def test_a_skip_puts_off_and_no_more() -> None:
    skipped = after_skip(ReviewRecord(), NOW)
    assert skipped == ReviewRecord(0, stage=None, due_at=NOW + DAY)
    assert after_answer(skipped, is_right=True, now=NOW + DAY) == ReviewRecord(1)
    assert after_skip(ReviewRecord(2, stage=1, due_at=NOW), NOW) == ReviewRecord(2, stage=1, due_at=NOW + DAY)
    waiting = ReviewRecord(2, stage=2, due_at=NOW + 7 * DAY)
    assert after_skip(waiting, NOW) == waiting
