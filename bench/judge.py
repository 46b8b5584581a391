"""Measures whether the judge's verdicts stand when it searches eight times as many positions.

    python -m bench.judge [--game chess] [--replies 1000] [--nodes 200000 100000] [--seed 1]

Recorded replies of people are judged with each number of nodes and with eight times the largest. For each
number the benchmark prints the share of verdicts that stay the same ("an error or not"; of errors, those that
remain; "good", "small" or "error"), the mean cost both ways, and the processor time of a reply; the totals
are printed after every hundred replies.
"""

import argparse
import csv
import gzip
import statistics
import time
from collections.abc import Iterator, Sequence
from concurrent.futures import ProcessPoolExecutor
from pathlib import Path

from engine.formats.record import GameRecord
from engine.formats.xiangqi_moves import moves_of_words
from engine.games import get_rules
from engine.judge import ReplyCost, ReplyWord, nodes_for, reply_costs
from engine.stop import StopFlag
from lab.analysis.recorded_games import AnsweredMove, GivenGame, MoveFilter, read_games, select_moves
from storage.research.archive import content_key

DATA = Path(__file__).parents[2] / "shared" / "data"
FILES = {
    "othello": [DATA / "wthor" / name for name in ("WTH_2018.wtb", "WTH.JOU", "WTH.TRN")],
    "chess": [DATA / "chess-games" / "lichess_2021-10-01.pgn"],
    "xiangqi": [DATA / "xiangqi-games" / "masters_to_2008.tsv.gz"],
}
MORE, BATCH = 8, 100
XIANGQI_GAMES = 4000  # every n-th of the file's games, for speed


def judged(found: AnsweredMove, nodes: int) -> tuple[ReplyCost, float]:
    game = get_rules(found.game.record.game)
    began = time.process_time()
    position = game.parse_position(found.position)
    after = game.play(position, game.parse_move(position, found.move))
    cost = reply_costs(game.name, after, [found.reply], StopFlag(), nodes).of(found.reply)
    return cost, time.process_time() - began


def xiangqi_games(path: Path) -> Iterator[GivenGame]:
    """Some of the games of a compressed table with the columns year, red, black, result, record and moves."""
    rules = get_rules("xiangqi")
    with gzip.open(path, "rt", encoding="utf-8", newline="") as file:
        rows = list(csv.DictReader(file, delimiter="\t", quoting=csv.QUOTE_NONE))
    for row in rows[:: -(-len(rows) // XIANGQI_GAMES)]:
        moves = moves_of_words(rules.initial(), row["moves"].split())
        players = row["red"], row["black"]
        record = GameRecord(game="xiangqi", players=players, moves=moves, date=row["year"] or "")
        yield GivenGame(record, content_key(record), path.name, "")


def replies_of(game: str, count: int, seed: int) -> list[AnsweredMove]:
    paths = FILES[game]
    games = list(xiangqi_games(paths[0]) if game == "xiangqi" else read_games(paths, game))
    return select_moves(games, MoveFilter(sample=count, seed=seed))


def report(
    nodes: int, some: Sequence[tuple[ReplyCost, float]], deep: Sequence[tuple[ReplyCost, float]]
) -> None:
    pairs = [(one.word, other.word) for (one, _), (other, _) in zip(some, deep, strict=True)]

    def share(of: Sequence[bool]) -> str:
        return f"{sum(of) / len(of):.1%} of {len(of)}" if of else "none"

    error = ReplyWord.ERROR
    costs, deep_costs = ([each.cost / 100 for each, _ in judged] for judged in (some, deep))
    times_ms = sorted(1e3 * spent_s for _, spent_s in some)
    agree = share([(one == error) == (other == error) for one, other in pairs])
    print(
        f"  {nodes:,} nodes: error or not {agree};"
        f" errors that remain {share([other == error for one, other in pairs if one == error])};"
        f" same word {share([one == other for one, other in pairs])};"
        f" mean cost {statistics.mean(costs):.2f} %, {statistics.mean(deep_costs):.2f} % with more nodes;"
        f" mean difference {statistics.mean(abs(a - b) for a, b in zip(costs, deep_costs, strict=True)):.2f};"
        f" processor time {statistics.mean(times_ms):.0f} ms a reply,"
        f" p95 {times_ms[len(times_ms) * 95 // 100]:.0f}",
        flush=True,
    )


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawTextHelpFormatter)
    parser.add_argument("--game", choices=FILES, default="chess")
    parser.add_argument("--replies", type=int, default=1000)
    parser.add_argument("--nodes", type=int, nargs="+", help="default: the judge's own number")
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--processes", type=int, default=2)
    arguments = parser.parse_args()
    counts = arguments.nodes or [nodes_for(arguments.game)]
    found = replies_of(arguments.game, arguments.replies, arguments.seed)
    print(f"{arguments.game}: {len(found)} recorded replies, seed {arguments.seed}", flush=True)
    deep = list[tuple[ReplyCost, float]]()
    by_nodes: dict[int, list[tuple[ReplyCost, float]]] = {nodes: [] for nodes in counts}
    with ProcessPoolExecutor(arguments.processes) as pool:
        for first in range(0, len(found), BATCH):
            batch = found[first : first + BATCH]
            deep += pool.map(judged, batch, [MORE * max(counts)] * len(batch), chunksize=4)
            print(f" {len(deep)} replies", flush=True)
            for nodes, some in by_nodes.items():
                some += pool.map(judged, batch, [nodes] * len(batch), chunksize=4)
                report(nodes, some, deep)


if __name__ == "__main__":
    main()
