"""Who runs next on a few threads, and what becomes of many games on them."""

import math

import pytest

from bot.threads.fair_queue import FairQueue, JobRank, QueuedJob, ThreadWaits
from tests.bot.threads.crowd import Crowd, Row, ServedByFlag
from tests.bot.threads.days import INCREMENTS, SPEEDS, Clocks, day_rows


def a_job(plan_s: float = 1.0, account: object = "a", rank: JobRank = JobRank.LIVE) -> QueuedJob:
    return QueuedJob(rank=rank, plan_s=plan_s, account=account, queued_at=math.nan)


def queue_of(threads: int, *jobs: QueuedJob, now: float = 0.0) -> FairQueue[QueuedJob]:
    queue = FairQueue[QueuedJob](threads)
    for job in jobs:
        queue.add(job, now)
    return queue


def begin(queue: FairQueue[QueuedJob], now: float = 0.0) -> list[QueuedJob]:
    """Start a job on each thread."""
    started = [queue.start(thread, (), now) for thread in range(queue.threads)]
    return [job for job in started if job is not None]


# --- Who comes next -------------------------------------------------------------------------------------


def test_who_has_waited_longest_in_multiples_of_its_plan() -> None:
    queue = queue_of(1)
    for at, plan_s in ((0.0, 30.0), (0.0, 10.0), (1.0, 2.0), (2.0, math.inf), (2.0, 0.0)):
        queue.add(a_job(plan_s), at)
    order = [queue.start(0, (), 4.0) for _ in range(5)]
    assert [job.plan_s for job in order if job is not None] == [0.0, 2.0, 10.0, 30.0, math.inf]
    assert queue.start(0, (), 4.0) is None


def test_time_on_a_thread_is_no_time_waited() -> None:
    job, other = a_job(2.0), a_job(8.0)
    queue = queue_of(1, job)
    assert queue.start(0, (), 1.0) is job
    assert job.relative_wait(50.0) == 0.5
    queue.add(other, 50.0)
    job.is_paused = True
    queue.add(job, 51.0)
    assert (job.is_paused, job.is_running, queue.running) == (False, False, [])
    assert job.relative_wait(53.0) == 1.5
    assert queue.by_urgency(queue.waiting, 53.0) == [job, other]


def test_equal_jobs_in_order_of_arrival_even_after_a_pause() -> None:
    first, second = a_job(), a_job()
    queue = queue_of(1, first, second)
    assert begin(queue) == [first]
    queue.add(first, 0.0)
    assert queue.by_urgency(queue.waiting, 0.0) == [first, second]


def test_a_paused_job_goes_back_to_its_thread_if_that_is_idle() -> None:
    job, later = a_job(), a_job()
    queue = queue_of(2, job)
    assert queue.start(1, (0,), 0.0) is job
    queue.add(job, 1.0)
    queue.add(later, 2.0)
    assert queue.start(0, (0, 1), 3.0) is later
    assert queue.start(1, (1,), 3.0) is job
    queue.add(job, 4.0)
    assert queue.start(0, (0,), 5.0) is job  # the other one is busy
    assert job.thread == 0


# --- Who is paused --------------------------------------------------------------------------------------


def test_half_a_plan_of_waiting_pauses_who_has_waited_least() -> None:
    patient, spoilt, waiting = a_job(10.0), a_job(10.0), a_job(2.0)
    queue = queue_of(2, patient)
    assert queue.start(0, (), 2.0) is patient
    queue.add(spoilt, 2.0)
    assert queue.start(1, (), 2.0) is spoilt
    queue.add(waiting, 2.0)
    assert queue.preempted_by_wait(waiting, 2.9) is None
    assert queue.preempted_by_wait(waiting, 3.0) is spoilt
    spoilt.is_paused = True
    assert queue.preempted_by_wait(waiting, 9.0) is None  # a thread becomes free
    spoilt.is_paused, spoilt.is_cancelled = False, True
    assert queue.preempted_by_wait(waiting, 9.0) is None


def test_who_has_waited_nearly_as_long_is_not_paused() -> None:
    running, waiting = a_job(10.0), a_job(2.0)
    queue = queue_of(1, running)
    assert queue.start(0, (), 5.0) is running
    queue.add(waiting, 5.0)
    assert queue.preempted_by_wait(waiting, 6.5) is None
    assert queue.preempted_by_wait(waiting, 6.6) is running
    assert queue.preempted_by_wait(running, 6.6) is None


@pytest.mark.parametrize("rank", [JobRank.SLOW, JobRank.BACKGROUND])
def test_only_live_jobs_pause_each_other_for_waiting(rank: JobRank) -> None:
    slow, live = a_job(1.0, rank=rank), a_job(1.0)
    queue = queue_of(1, live)
    assert begin(queue) == [live]
    queue.add(slow, 0.0)
    assert queue.preempted_by_wait(slow, 99.0) is None
    slow, live = a_job(1.0, rank=rank), a_job(1.0)
    other = queue_of(1, slow)
    assert begin(other) == [slow]
    other.add(live, 0.0)
    assert other.preempted_by_wait(live, 99.0) is None  # it is outranked
    assert other.preempted_by_rank(0.0) == [slow]
    other.promote(slow, JobRank.LIVE, 5.0, 0.0)
    assert other.preempted_by_rank(0.0) == []
    assert other.preempted_by_wait(live, 99.0) is slow


def test_who_does_not_yield_is_paused_only_by_better_ranks() -> None:
    fixed, other, waiting = a_job(), a_job(), a_job()
    fixed.is_preemptible = False
    queue = queue_of(2, fixed)
    assert queue.start(0, (), 0.0) is fixed
    queue.add(other, 0.0)
    assert queue.start(1, (), 1.0) is other
    queue.add(waiting, 1.0)
    assert queue.preempted_by_wait(waiting, 9.0) is other
    fixed.rank = JobRank.SPARE
    assert queue.preempted_by_rank(9.0) == [fixed]


# --- How much time each gets ----------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("threads", "running", "waiting", "of_a"),
    [
        (1, "a", "", 0),
        (2, "aa", "aaa", 1.5),
        (1, "a", "aab", 2 * 2 + 1),  # a thread is half the share of an account
        (2, "ab", "aa", 2 * 2 / 2),
        (2, "ac", "aabbb", (2 * 3 + 1) / 2),
        (1, "a", "bcdef", 5),  # many accounts of one game
        (2, "ab", "cdef", 4 / 2),
        (1, "a", "bbbbbbbb", 1),
    ],
)
def test_the_queue_for_each_thread_of_an_accounts_share(
    threads: int, running: str, waiting: str, of_a: float
) -> None:
    queue = queue_of(threads, *(a_job(account=account) for account in running))
    begin(queue)
    for account in waiting:
        queue.add(a_job(account=account), 0.0)
    for rank in (JobRank.SLOW, JobRank.BACKGROUND, JobRank.FORECAST, JobRank.SPARE):
        queue.add(a_job(account="x", rank=rank), 0.0)
        queue.add(a_job(account="a", rank=rank), 0.0)
    assert queue.queue_per_thread("a") == of_a


# --- Load -----------------------------------------------------------------------------------------------


def test_the_queue_is_full_after_half_a_minute_and_not_for_ever() -> None:
    running = a_job()
    queue = queue_of(1, running)
    begin(queue)
    waiting = [a_job(account=number) for number in range(4)]
    for job in [*waiting, *(a_job(rank=JobRank.SLOW) for _ in range(9))]:
        queue.add(job, 0.0)
    assert not queue.is_full(20.0)
    assert queue.is_full(21.0)  # 4 (1 - exp(-t / 30)) = 2 at 20.8 s
    for job in waiting:
        queue.cancel(job, 21.0)
    assert queue.is_full(21.1)
    assert not queue.is_full(22.0)


def test_a_burst_of_games_fills_the_queue_before_their_moves_wait() -> None:
    queue = queue_of(2)
    assert not queue.is_full(0.0, 7)
    assert queue.is_full(0.0, 8)


def test_two_waiting_jobs_for_each_thread_never_fill_the_queue_of_three() -> None:
    queue = queue_of(3, *(a_job() for _ in range(3)))
    begin(queue)
    for _ in range(5):
        queue.add(a_job(), 0.0)
    assert not queue.is_full(1e6)
    for _ in range(2):
        queue.add(a_job(), 1e6)
    assert queue.is_full(1e6 + 200)


def test_the_waits_of_each_accounts_moves() -> None:
    queue = queue_of(1)

    def search(account: str, waited_s: float, rank: JobRank = JobRank.LIVE) -> QueuedJob:
        job = a_job(account=account, rank=rank)
        queue.add(job, 0.0)
        assert queue.start(0, (), waited_s) is job
        return job

    for account, waited_s in (("a", 1.0), ("a", 3.0), ("b", 0.5)):
        queue.finish(search(account, waited_s), 9.0)
    queue.finish(search("b", 1.5, JobRank.SLOW), 9.0)
    for rank in (JobRank.BACKGROUND, JobRank.FORECAST, JobRank.SPARE):
        queue.finish(search("c", 7.0, rank), 9.0)
    cancelled = search("a", 50.0)
    queue.cancel(cancelled, 60.0)
    assert queue.running == [cancelled]
    queue.finish(cancelled, 60.0)
    assert queue.waits == {"a": ThreadWaits(2.0, 3.0, 2), "b": ThreadWaits(1.0, 1.5, 2)}
    for _ in range(50):
        queue.finish(search("a", 4.0), 9.0)
    assert queue.waits["a"] == ThreadWaits(4.0, 4.0, 50)


# --- Days -----------------------------------------------------------------------------------------------


def mean(values: list[float]) -> float:
    return sum(values) / len(values)


@pytest.mark.parametrize(("speeds", "hours"), [(SPEEDS, 24), (INCREMENTS, 4)])
def test_below_its_capacity_no_move_waits_for_twice_its_plan(speeds: Clocks, hours: int) -> None:
    crowd = Crowd(day_rows(speeds), 2, 3600 * hours).play()
    assert 0.7 < crowd.load < 1
    assert max(max(seen.waits) for seen in crowd.seen.values()) < 2
    assert all(mean(seen.shares) > 0.8 for seen in crowd.seen.values())
    assert (crowd.lost, crowd.refused) == (0, 0)


@pytest.mark.parametrize("is_refusing", [False, True])
def test_above_its_capacity_waits_grow_in_proportion_to_plans(is_refusing: bool) -> None:
    crowd = Crowd(day_rows(INCREMENTS, games=6), 2, 3600, is_refusing=is_refusing).play()
    assert crowd.load > 2.5
    waits = [mean(seen.waits) for seen in crowd.seen.values() if seen.waits]
    shares = [mean(seen.shares) for seen in crowd.seen.values() if seen.shares]
    assert 0.6 < min(waits) < max(waits) < 1.4 * min(waits)
    assert max(shares) < 2 * min(shares)
    assert crowd.lost == 0
    # Refusing keeps what a move gets at a third of its plan.
    assert (0.25 < mean(shares) < 0.5) is is_refusing
    assert (crowd.refused > 0) is is_refusing


def test_four_bullet_games_and_a_long_one_on_one_thread() -> None:
    """The long one once made no move in 58 s."""
    rows = [*(Row(0, 60, 1, 0.3, number=number) for number in range(4)), Row(0, 1800, 0, 5.0)]
    before = Crowd(rows, 1, 3600, queue=ServedByFlag, is_refusing=False).play().seen[rows[-1]]
    after = Crowd(rows, 1, 3600, is_refusing=False).play()
    long = after.seen[rows[-1]]
    assert (max(before.waits_s) > 58, len(before.waits) < 100) == (True, True)
    assert (max(long.waits_s) < 4, len(long.waits) > 400, after.lost) == (True, True, 0)


def test_an_account_has_its_share_whatever_another_takes() -> None:
    """Twenty bullet games at one account, one slow game at each of two others."""
    crowd_rows = [Row(0, 60, 1, 0.3, number=number) for number in range(20)]
    rows = [Row(1, 600, 5, 10.0), Row(2, 1800, 0, 10.0)]
    crowd = Crowd([*crowd_rows, *rows], 2, 3600, is_refusing=False).play()
    for row in rows:
        assert max(crowd.seen[row].waits) < 1
        assert mean(crowd.seen[row].shares) > 0.6  # two threads for three accounts
    assert mean(crowd.seen[crowd_rows[0]].shares) < 0.2


@pytest.mark.parametrize("initial_s", [60, 180])
@pytest.mark.parametrize(("accounts", "threads"), [(6, 1), (8, 2), (16, 2)])
def test_many_accounts_of_one_game_shorten_their_moves_and_lose_none_on_time(
    accounts: int, threads: int, initial_s: int
) -> None:
    rows = [Row(account, initial_s, 0, 0.5, empties=60) for account in range(accounts)]
    crowd = Crowd(rows, threads, 3600, is_refusing=False).play()
    assert crowd.load > 1.5
    assert crowd.lost == 0
    assert max(max(seen.waits) for seen in crowd.seen.values()) < 2.2
    assert all(mean(seen.waits) < 1.1 for seen in crowd.seen.values())
