"""How well a trial's games reveal their strategies when one strategy's searches take twice as long.

    python -m bench.sites.blind_load [--games 60]

In virtual time, with one game at a time and with six games on two threads, without and with held moves; see
`tests.bot.simulated_load`. Prints the program's own classifier's AUC and e-value (`desdemona stats --trial`).
"""

import argparse
import tempfile
from pathlib import Path

from tests.bot.simulated_load import simulate


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--games", type=int, default=60)
    options = parser.parse_args()
    for people, threads in ((1, 1), (6, 2)):
        for hold_s in (0, 60):
            with tempfile.TemporaryDirectory() as folder:
                load = simulate(
                    Path(folder), games=options.games, people=people, threads=threads, hold_s=hold_s
                )
            report, longest_s = load.report, max(map(max, filter(None, load.waits_s)))
            print(
                f"{people} games, {threads} threads, trial.hold_s {hold_s:>2}: AUC {report.auc or 0.5:.2f}, "
                f"e-value {report.e_value:.3g}, longest wait {longest_s:.1f} s, lost on time {load.lost}",
                flush=True,
            )


if __name__ == "__main__":
    main()
