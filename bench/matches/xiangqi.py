"""Our strong xiangqi search against a UCCI program (ElephantEye, say) at equal time: paired games.

    python -m bench.matches.xiangqi --engine PATH [--seconds 0.1] [--pairs 20] [--seed 2006]

Each pair starts from the same nearly balanced position after six random plies, once with either colour.
Games end by the rules, or when both have agreed for some moves that one side is far ahead.  Times are
wall-clock times, so the machine should be idle.  For complete players use `desdemona match`.
"""

import argparse

from bench.matches.chess import FAR_AHEAD
from bench.matches.duel import BareSearch, duel, program

GAME = "xiangqi"


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--engine", required=True, metavar="PATH", help="a UCCI program")
    parser.add_argument("--seconds", type=float, default=0.1, help="per move, for both")
    parser.add_argument("--pairs", type=int, default=20)
    parser.add_argument("--seed", type=int, default=2006)
    options = parser.parse_args()
    theirs = program(GAME, "ucci", [options.engine])
    print(
        duel(
            GAME,
            BareSearch(GAME),
            theirs,
            pairs=options.pairs,
            seconds=options.seconds,
            seed=options.seed,
            adjudication=FAR_AHEAD,
        )
    )


if __name__ == "__main__":
    main()
