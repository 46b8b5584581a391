"""When a position is shown again: one that was missed after 1 day, then after 3 and after 7.  No I/O."""

from dataclasses import replace
from datetime import datetime, timedelta

from storage.arena.puzzles.solvers import ReviewRecord

WAITS = (timedelta(days=1), timedelta(days=3), timedelta(days=7))
"""From a miss, and from each right answer on its day, to the next time; then it is done."""


def after_answer(
    review: ReviewRecord, *, is_right: bool, now: datetime, is_free: bool = False
) -> ReviewRecord:
    """What follows an answer; a look at the solution counts as a wrong one.

    A right answer brings a position on only on its day: not a second try, nor one ahead of time.

    Args:
        review: What was before.
        is_right: Whether the reply is sound.
        now: The time.
        is_free: The answer could not be rated: it is no first one, and tells as much as a hint.
    """
    if is_free:
        answered = replace(review, has_hint=review.has_hint or review.answers == 0)
    else:
        answered = replace(review, answers=review.answers + 1)
    if not is_right:
        return _missed(answered, now)
    if review.due_at is None or review.due_at > now:
        return answered
    if review.stage is None or review.stage + 1 == len(WAITS):
        return replace(answered, due_at=None)
    stage = review.stage + 1
    return replace(answered, stage=stage, due_at=now + WAITS[stage])


def after_hint(review: ReviewRecord, now: datetime) -> ReviewRecord:
    """What follows a hint: the position comes again, as if it had been missed."""
    return _missed(replace(review, has_hint=review.has_hint or review.answers == 0), now)


def after_skip(review: ReviewRecord, now: datetime) -> ReviewRecord:
    """What follows a skip: the position comes again tomorrow, and nothing else has changed."""
    if review.due_at is not None and review.due_at > now:
        return review
    return replace(review, due_at=now + WAITS[0])


def _missed(review: ReviewRecord, now: datetime) -> ReviewRecord:
    return replace(review, stage=0, due_at=now + WAITS[0])
