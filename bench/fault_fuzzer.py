"""Runs the bot against a simulated Lichess or GGS under many random schedules of faults, on virtual time.

    python -m bench.fault_fuzzer [--server acts | ggs] [--schedules 2000] [--seed 0] [--show]

At ``acts``, opponents stay away, leave, return, and ask for draws and takebacks; the bot also resigns, aborts
and claims; and some answers are false.  The seed alone determines a schedule.  For each violation
(`tests.fuzz.play`, `tests.fuzz.ggs_play`) the report gives the seed and a log reduced to as few faults as
possible; the report ends with counts of faults and calls.
"""

import argparse
import logging
import sys
import time
from collections import Counter
from enum import StrEnum

from tests.fuzz import faults, ggs_faults, ggs_play, play
from tests.fuzz.harness import Outcome, Play, shortest

SERVERS: dict[str, tuple[Play, type[StrEnum], type[StrEnum]]] = {
    "lichess": (play.play, faults.Place, faults.Kind),
    "acts": (play.play_acts, faults.Place, faults.Kind),
    "ggs": (ggs_play.play, ggs_faults.Place, ggs_faults.Kind),
}
"""For each server: the function that plays a schedule, the call sites of its faults, and their kinds."""


def main() -> int:
    """Run the schedules; return 1 if any led to a violation, otherwise 0."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("--server", choices=SERVERS, default="lichess", help="default: lichess")
    parser.add_argument("--schedules", type=int, default=2000, help="number of schedules (default: 2000)")
    parser.add_argument("--seed", type=int, default=0, help="seed of the first schedule (default: 0)")
    parser.add_argument("--show", action="store_true", help="print the log of every schedule")
    arguments = parser.parse_args()
    logging.getLogger("bot").setLevel(logging.CRITICAL + 1 if not arguments.show else logging.WARNING)
    began = time.monotonic()
    run, places, kinds = SERVERS[arguments.server]
    injected: Counter[tuple[str, str]] = Counter()
    calls: Counter[str] = Counter()
    games = 0
    violated: list[int] = []
    for seed in range(arguments.seed, arguments.seed + arguments.schedules):
        outcome = run(seed, None)
        injected += outcome.injected
        calls += outcome.calls
        games += outcome.games
        if outcome.violations:
            violated.append(seed)
            _tell(shortest(outcome, run))
        elif arguments.show:
            _tell(outcome)
    _say(f"{arguments.schedules} schedules, {games} games, {time.monotonic() - began:.0f} s")
    for place in places:
        by_kind = ", ".join(f"{kind} {n}" for kind in kinds if (n := injected[kind, place]))
        _say(f"{place:8s} {calls[place]:7d} calls; faults: {by_kind or 'none'}")
    _say(f"violated by {len(violated)} schedules: {violated}")
    return 1 if violated else 0


def _tell(outcome: Outcome) -> None:
    _say(f"--- seed {outcome.seed}")
    for line in (*outcome.faults, *outcome.story):
        _say(str(line))


def _say(line: str) -> None:
    sys.stdout.write(line + "\n")
    sys.stdout.flush()


if __name__ == "__main__":
    sys.exit(main())
