"""Our selective Othello search against the exact one at equal time: paired games, score and Elo difference.

    python -m bench.matches.strong [--pairs 50] [--seconds 0.05 | --nodes 500000] [--against PERCENT]

Each pair of games starts from the same nearly balanced position after ten random plies, once with either
colour.  A side is the strong search (`think`) or iterative deepening of the exact one (`search`); with
--against PERCENT the second side is the strong search as well, at that confidence.  Times are
wall-clock times, so the machine should be idle, and the result says when moves had no time for a search;
with --nodes that does not matter, but the nodes of the two searches do not cost the same.  For complete
players use `desdemona match`.
"""

import argparse

from bench.matches.duel import BareSearch, duel

GAME = "othello"


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawTextHelpFormatter)
    parser.add_argument("--pairs", type=int, default=50)
    parser.add_argument("--seconds", type=float, default=0.05, help="per move")
    parser.add_argument("--nodes", type=int, help="per move, instead of seconds")
    parser.add_argument("--confidence", type=int, default=73)
    parser.add_argument("--against", default="exact", help="exact, or a confidence in percent")
    parser.add_argument("--seed", type=int, default=2006)
    options = parser.parse_args()
    against = None if options.against == "exact" else int(options.against)
    sides = [BareSearch(GAME, percent, nodes=options.nodes) for percent in (options.confidence, against)]
    print(duel(GAME, *sides, pairs=options.pairs, seconds=options.seconds, seed=options.seed))


if __name__ == "__main__":
    main()
