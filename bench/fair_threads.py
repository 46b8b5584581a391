"""Simulates games on a few search threads in virtual time, and prints how long moves wait for a thread.

    python -m bench.fair_threads [--hours 24] [--threads 2]

The simulation uses the queue of the search pool and the time management; only searches, opponents and
networks are simulated. Waits are in multiples of the planned time of the move that waits. The first two
lines are days of three accounts with 1-, 3-, 10- and 30-minute games, without and with increments, below the
capacity of the threads; in the next, more games want to start than the threads can carry. The last two are
four 1+1 games and a 30-minute game on one thread: in the order of the clocks, as up to release 0.3, and now.
"""

import argparse
import sys

from bot.threads.fair_queue import FairQueue
from tests.bot.threads.crowd import Crowd, MoveJob, Row, Seen, ServedByFlag
from tests.bot.threads.days import INCREMENTS, SPEEDS, day_rows

MAX_RELATIVE_WAIT = 2.0
"""Below the threads' capacity no move may wait for longer, in multiples of its plan."""


def main() -> int:
    """Simulate; return 1 if a move waited too long below the capacity."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("--hours", type=float, default=24.0, help="simulated time (default: 24)")
    parser.add_argument("--threads", type=int, default=2, help="search threads (default: 2)")
    arguments = parser.parse_args()
    end_s, threads = 3600 * arguments.hours, arguments.threads
    longest = 0.0
    for name, speeds in (("no increments", SPEEDS), ("increments", INCREMENTS)):
        crowd = Crowd(day_rows(speeds), threads, end_s).play()
        longest = max(longest, _print_waits(f"day, {name}", crowd, list(crowd.seen.values())))
    crowd = Crowd(day_rows(INCREMENTS, games=6), threads, end_s / 6).play()
    _print_waits(f"above capacity, {crowd.refused} refusals", crowd, list(crowd.seen.values()))
    rows = [*(Row(0, 60, 1, 0.3, number=number) for number in range(4)), Row(0, 1800, 0, 5.0)]
    orders: list[tuple[str, type[FairQueue[MoveJob]]]] = [("before", ServedByFlag), ("now", FairQueue)]
    for name, queue in orders:
        crowd = Crowd(rows, 1, 3600, queue=queue, is_refusing=False).play()
        _print_waits(f"the 30-minute game beside four 1+1 games, {name}", crowd, [crowd.seen[rows[-1]]])
    sys.stdout.write(f"longest wait below the capacity: {longest:.2f} of the planned time; ")
    sys.stdout.write(f"{longest / MAX_RELATIVE_WAIT:.2f} of the limit\n")
    return 1 if longest > MAX_RELATIVE_WAIT else 0


def _print_waits(name: str, crowd: Crowd, rows: list[Seen]) -> float:
    """Print a line about some rows of games; return their longest relative wait."""
    waits = sorted(wait for seen in rows for wait in seen.waits)
    shares = [share for seen in rows for share in seen.shares]
    longest_s = max(wait_s for seen in rows for wait_s in seen.waits_s)
    sys.stdout.write(
        f"{name}: load {crowd.load:.2f}, {len(waits)} moves; wait: median {waits[len(waits) // 2]:.2f}, 99 % "
        f"{waits[len(waits) * 99 // 100]:.2f}, longest {waits[-1]:.2f} ({longest_s:.1f} s); mean time "
        f"{sum(shares) / len(shares):.2f} of the plan; lost on time: {sum(seen.lost for seen in rows)}\n"
    )
    sys.stdout.flush()
    return waits[-1]


if __name__ == "__main__":
    sys.exit(main())
