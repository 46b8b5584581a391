"""Random, greedy and perfect people through the judge, and whether the judge's words stand.

    python -m bench.judged_people [--game chess] [--positions 100] [--seed 1]
    python -m bench.judged_people --words [--game xiangqi] [--positions 200]

Strategies choose a move in recorded positions. A random person, a greedy one (the best reply after two plies)
and a perfect one (the best reply by a search of eight times the judge's nodes) reply; the benchmark prints
what their replies cost by the judge, and by the scores of the decision's own search. With `--words` it judges
those recorded replies that were not good again, with eight times as many nodes: how often the best reply that
was named is still good, and how often the cost that was named vanishes.
"""

import argparse
import math
import random
import statistics
from collections.abc import Sequence
from typing import Any

from bench.judge import MORE, replies_of
from bench.suites import native_searcher
from engine.completion import complete
from engine.figure_9 import decision_verdicts
from engine.game import Game, continued_position
from engine.games import get_rules
from engine.judge import ReplyCosts, ReplyWord, nodes_for, position_value, reply_costs
from engine.move_chooser import MoveChooser
from engine.params import TrapParams
from engine.search.reference import exact_score
from engine.stop import StopFlag
from engine.strategies.registry import strategy_named
from engine.time_management import Limits
from lab.analysis.recorded_games import AnsweredMove

PEOPLE = ("random", "greedy", "perfect")
PLAYERS = {"othello": (("standard", 4), ("standard", 8), ("trappy", 4), ("trappy", 8), ("tempting", 8))}
OTHER_PLAYERS = (("standard", 4), ("standard", 6), ("trappy", 4), ("trappy", 6), ("tempting", 6))
GREEDY_PLIES, BATCH = 2, 25


def greedy(game: Game[Any], after: Any, searcher: Any) -> str:
    """The best reply to a search of two plies."""
    moves = game.legal_moves(after)
    scores = [-exact_score(searcher, game.play(after, move), GREEDY_PLIES - 1, StopFlag()) for move in moves]
    return game.move_text(moves[max(range(len(moves)), key=scores.__getitem__)])


def people(found: Sequence[AnsweredMove], game: Game[Any], seed: int) -> None:
    searcher = native_searcher(game.name, 16)
    players = PLAYERS.get(game.name, OTHER_PLAYERS)
    costs: dict[tuple[str, int, str], list[tuple[int, int]]] = {}
    best: dict[str, str] = {}
    for at, each in enumerate(found, 1):
        position = game.parse_position(each.position)
        for name, depth in players:
            chooser = MoveChooser(strategy_named(name), game, TrapParams(), searcher)
            decision = complete(chooser.choose(position, Limits(depth), StopFlag()), searcher, StopFlag())
            root = game.for_search(position)
            after = continued_position(game, game.play(root, game.parse_move(root, decision.move)))
            replies = [game.move_text(move) for move in game.legal_moves(after)]
            if len(replies) < 2:
                continue
            rng = random.Random(f"{seed} {at}")
            text = game.position_text(after)
            if text not in best:  # several players may choose the same move
                best[text] = position_value(game, after, StopFlag(), MORE * nodes_for(game.name)).best or ""
            chosen = {
                "random": rng.choice(replies),
                "greedy": greedy(game, after, searcher),
                "perfect": best[text],
            }
            judged = reply_costs(game.name, after, chosen.values(), StopFlag())
            own = decision_verdicts(decision)
            for person, reply in chosen.items():
                pair = judged.of(reply).cost, own.of(reply).cost
                costs.setdefault((name, depth, person), []).append(pair)
        if at % BATCH == 0 or at == len(found):
            print(f"  after {at} positions:", flush=True)
            for name, depth in players:
                cells = [
                    f"{person} {_mean([judge for judge, _ in costs[name, depth, person]])}"
                    f" (own search {_mean([own for _, own in costs[name, depth, person]])})"
                    for person in PEOPLE
                ]
                print(f"    {name}, depth {depth}: {'; '.join(cells)}", flush=True)


def words(found: Sequence[AnsweredMove], game: Game[Any]) -> None:
    """Judge the replies, and those that were not the best again with more nodes."""
    pairs: list[tuple[ReplyCosts, ReplyCosts, str]] = []
    for at, each in enumerate(found, 1):
        position = game.parse_position(each.position)
        after = game.play(position, game.parse_move(position, each.move))
        first = reply_costs(game.name, after, [each.reply], StopFlag())
        if first.of(each.reply).word is not ReplyWord.GOOD:
            both = [each.reply, first.best.reply]
            nodes = MORE * nodes_for(game.name)
            pairs.append((first, reply_costs(game.name, after, both, StopFlag(), nodes), each.reply))
        if at % BATCH == 0 or at == len(found):
            print(f"  after {at} replies: {_words(pairs)}", flush=True)


def _words(pairs: Sequence[tuple[ReplyCosts, ReplyCosts, str]]) -> str:
    told = []
    for word in (ReplyWord.SMALL, ReplyWord.ERROR):
        some = [(first, more, reply) for first, more, reply in pairs if first.of(reply).word is word]
        still = sum(more.of(first.best.reply).word is ReplyWord.GOOD for first, more, _ in some)
        same = sum(more.best.reply == first.best.reply for first, more, _ in some)
        vanished = sum(more.of(reply).word is ReplyWord.GOOD for _, more, reply in some)
        told.append(
            f"{len(some)} {word}: the best reply is still good in {still}, is still the first in"
            f" {same}; the cost vanishes in {vanished}"
        )
    return "; ".join(told)


def _mean(costs: Sequence[int]) -> str:
    if len(costs) < 2:
        return "-"
    error = statistics.stdev(costs) / math.sqrt(len(costs))
    return f"{statistics.mean(costs) / 100:.2f} +- {1.96 * error / 100:.2f} %"


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--game", choices=("othello", "chess", "xiangqi"), default="chess")
    parser.add_argument("--positions", type=int, default=100)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--words", action="store_true")
    arguments = parser.parse_args()
    game = get_rules(arguments.game)
    found = replies_of(arguments.game, arguments.positions, arguments.seed)
    print(f"{arguments.game}: {len(found)} recorded positions, seed {arguments.seed}", flush=True)
    if arguments.words:
        words(found, game)
    else:
        people(found, game, arguments.seed)


if __name__ == "__main__":
    main()
