"""The bot under random schedules of faults: ``python -m bench.fault_fuzzer --schedules 2000``.

On virtual time, the whole bot plays at a simulated Lichess whose calls and streams fail, hang, come late or
out of order, or are cut, for up to a minute each.  `tests.fuzz.play` says what must hold.  Prints how often
each fault struck, and for each violation its seed and story with as few of its faults as show it; the seed
alone repeats the run.
"""

import argparse
import os
import sys
import time
from collections import Counter
from concurrent.futures import ProcessPoolExecutor

from tests.fuzz.play import Outcome, play, shortest


def main() -> int:
    """Parse the options, run the schedules and print the report."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--schedules", type=int, default=2000)
    parser.add_argument("--seed", type=int, default=0, help="of the first schedule; the others follow")
    parser.add_argument("--processes", type=int, default=os.cpu_count() or 1)
    options = parser.parse_args()
    began, broken = time.monotonic(), list[Outcome]()
    injected: Counter[str] = Counter()
    calls: Counter[str] = Counter()
    games = 0
    seeds = range(options.seed, options.seed + options.schedules)
    with ProcessPoolExecutor(options.processes) as pool:
        for outcome in pool.map(play, seeds, chunksize=8):
            games += outcome.games
            calls.update({str(place): count for place, count in outcome.calls.items()})
            for (kind, _), count in outcome.injected.items():
                injected[str(kind)] += count
            if outcome.violations:
                broken.append(outcome)
    print(f"{len(seeds)} schedules, {games} games, {time.monotonic() - began:.0f} s")
    print("calls:", ", ".join(f"{name} {count}" for name, count in calls.most_common()))
    print("faults struck:", ", ".join(f"{name} {count}" for name, count in injected.most_common()))
    for outcome in broken[:20]:
        least = shortest(outcome)
        print(f"seed {outcome.seed}: {len(outcome.violations)} violations")
        for line in (*map(str, least.faults), *least.story):
            print(f"    {line}")
    print(f"schedules with a violation: {len(broken)}")
    return 1 if broken else 0


if __name__ == "__main__":
    sys.exit(main())
