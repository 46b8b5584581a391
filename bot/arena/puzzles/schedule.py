"""Spaced repetition: a missed position is shown again after 1 day, then 3 days, then 7 days.  No I/O."""

from dataclasses import replace
from datetime import datetime, timedelta

from storage.arena.puzzles.solvers import ReviewRecord

REVIEW_INTERVALS = (timedelta(days=1), timedelta(days=3), timedelta(days=7))
"""Review intervals: the first follows a miss, each later one a right answer; reviews end after the last."""


def after_answer(
    review: ReviewRecord, *, is_right: bool, now: datetime, is_free: bool = False
) -> ReviewRecord:
    """Return the schedule after an answer; viewing the solution counts as a wrong answer.

    A right answer advances a position only if the position is due and this answer is the first try.

    Args:
        review: The previous state.
        is_right: Whether the answer is right.
        now: The current time.
        is_free: Whether the answer counts as a hint, because it cannot be rated.
    """
    if is_free:
        answered = replace(review, has_hint=review.has_hint or review.answers == 0)
    else:
        answered = replace(review, answers=review.answers + 1)
    if not is_right:
        return _restart_review(answered, now)
    if review.due_at is None or review.due_at > now:
        return answered
    if review.stage is None or review.stage + 1 == len(REVIEW_INTERVALS):
        return replace(answered, due_at=None)
    stage = review.stage + 1
    return replace(answered, stage=stage, due_at=now + REVIEW_INTERVALS[stage])


def after_hint(review: ReviewRecord, now: datetime) -> ReviewRecord:
    """Return the schedule after a hint: the position is shown again, as after a miss."""
    return _restart_review(replace(review, has_hint=review.has_hint or review.answers == 0), now)


def after_skip(review: ReviewRecord, now: datetime) -> ReviewRecord:
    """Return the schedule after a skip: the position is shown again tomorrow; nothing else changes."""
    if review.due_at is not None and review.due_at > now:
        return review
    return replace(review, due_at=now + REVIEW_INTERVALS[0])


def _restart_review(review: ReviewRecord, now: datetime) -> ReviewRecord:
    return replace(review, stage=0, due_at=now + REVIEW_INTERVALS[0])
