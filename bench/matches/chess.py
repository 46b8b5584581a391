"""Our strong chess search against another engine at equal time: paired games, score and Elo difference.

    python -m bench.matches.chess [--engine "gnuchess -u"] [--seconds 0.1] [--pairs 50]

Each pair of games starts from the same nearly balanced position after six to eight random plies, once with
either colour.  Games that are not over by the rules end when both engines have agreed for some moves on who
is far ahead.  Times are wall-clock times, so the machine should be idle.  For complete players use
`desdemona match`.
"""

import argparse
import shlex

from bench.matches.duel import BareSearch, duel, program
from bot.match.conditions import Adjudication

GAME = "chess"
FAR_AHEAD = Adjudication(900, 6)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawTextHelpFormatter)
    parser.add_argument("--engine", default="gnuchess -u", help="its command line; it speaks UCI")
    parser.add_argument("--seconds", type=float, default=0.1, help="per move, for both")
    parser.add_argument("--pairs", type=int, default=50)
    parser.add_argument("--threads", type=int, default=1, help="of our search")
    parser.add_argument("--table-mb", type=int, default=64, help="of our search")
    parser.add_argument("--seed", type=int, default=2006)
    options = parser.parse_args()
    ours = BareSearch(GAME, threads=options.threads, table_mb=options.table_mb)
    theirs = program(GAME, "uci", shlex.split(options.engine))
    print(
        duel(
            GAME,
            ours,
            theirs,
            pairs=options.pairs,
            seconds=options.seconds,
            seed=options.seed,
            adjudication=FAR_AHEAD,
        )
    )


if __name__ == "__main__":
    main()
