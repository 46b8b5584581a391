"""Counts false alarms of a trial without effect, looked at after each of 2,000 games: at most 5 %.

    python -m bench.statistics.peeking [--runs 1000] [--games 2000] [--seed 1]

Persons return in proportion to their games and differ in strength; traps work against some and fail against
others, by nothing on average.  The exit status is 1 if the intervals of
`storage.evidence.inference.any_time` exclude
0 in more trials than 5 % and chance explain.
"""

import argparse

import numpy as np

from bench.statistics.simulated import GamePlan, play_games
from bench.statistics.verdicts import Rates, rates, verdict
from storage.evidence.inference.any_time import PlannedN, SequenceDesign
from storage.evidence.inference.defaults import ALPHA
from storage.evidence.intervals import share

PLAN = GamePlan(effect_sd=0.3, chances=(0.6, 0.4))


def false_alarms(runs: int, games: int, seed: int) -> Rates:
    """How often 0 is excluded at some look."""
    rng = np.random.default_rng(seed)
    design = SequenceDesign(PlannedN.GAMES)
    return rates([verdict(play_games(PLAN, games, rng), design) for _ in range(runs)])


def main() -> int:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--runs", type=int, default=1000)
    parser.add_argument("--games", type=int, default=2000)
    parser.add_argument("--seed", type=int, default=1)
    options = parser.parse_args()
    if options.runs < 1 or options.games < 100:
        parser.error("--runs must be 1 or more, --games 100 or more")
    found = false_alarms(options.runs, options.games, options.seed)
    print(f"{options.runs} trials without effect, a look after each of {options.games} games; false alarms:")
    print(f"  ordinary 95 % intervals  {found.ordinary:6.1%}")
    print(f"  first variance alone     {found.first_variance:6.1%}")
    print(f"  confidence sequence      {found.ours:6.1%}  (asked: at most {ALPHA:.0%})")
    low = share(round(found.ours * found.runs), found.runs).low
    return int(low is not None and low > ALPHA)


if __name__ == "__main__":
    raise SystemExit(main())
