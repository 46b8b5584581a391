"""Endgames: how many random won starts each strategy wins against the best defence of `strong`.

    python -m bench.endings [--strategies trappy tempting] [--endings KQK KRK] [--starts 20] [--nodes 30000]
    python -m bench.endings --endings othello --starts 60 --nodes 3000000

A start is a random placement of the pieces, attacker to move, that the selective search sees as a clear
advantage. At Othello, it is a position of a recorded game with 14 to 17 empty squares that the side to move
wins narrowly by exact play, and one move is made, which must keep the win. Each move of both sides gets the
same number of nodes; with `--bare`, as in experiments, won games are played like others.
"""

import argparse
import random
import re
from collections.abc import Sequence
from typing import Any

from bench.judge import FILES
from bench.suites import native_searcher
from engine.formats.record import steps
from engine.game import WIN_CENTI, Game
from engine.games import get_rules
from engine.games.othello import Othello, OthelloPosition
from engine.move_chooser import MoveChooser
from engine.params import Assessment, TrapParams
from engine.search.searchers import NativeOthelloSearcher
from engine.stop import StopFlag
from engine.strategies.registry import own_strategies, strategy_named
from engine.time_management import Limits
from lab.analysis.recorded_games import read_games

MIN_LEAD_CENTI, PROBE_DEPTH, TABLE_MB = 250, 10, 16
CHESS = {name: name[:-1] + "k" for name in ("KQK", "KRK", "KBBK", "KBNK", "KRPK", "KQPK")}
OTHELLO, EMPTY_SQUARES, MOST_LEAD = "othello", range(14, 18), 10
XIANGQI = {f"xiangqi {name}": name[:-1] + "k" for name in ("KRK", "KNK", "KPK", "KCAK", "KNPK")}


def starts(game: Game[Any], pieces: str, count: int) -> list[Any]:
    """Random positions of these pieces, the attacker's in capitals, that the side to move wins."""
    rng, searcher, found = random.Random(47), native_searcher(game.name, TABLE_MB), list[Any]()
    width, height = (8, 8) if game.name == "chess" else (9, 10)
    while len(found) < count:
        squares = ["."] * (width * height)
        for piece, square in zip(pieces, rng.sample(range(width * height), len(pieces)), strict=True):
            squares[square] = piece
        rows = ("".join(squares[i : i + width]) for i in range(0, width * height, width))
        board = "/".join(re.sub(r"\.+", lambda run: str(len(run[0])), row) for row in rows)
        try:
            position = game.parse_position(f"{board} w - - 0 1")
        except ValueError:
            continue
        colours = {sum(divmod(square, width)) % 2 for square, piece in enumerate(squares) if piece == "B"}
        if not game.legal_moves(position) or ("BB" in pieces and len(colours) < 2):
            continue
        if searcher.think(position, PROBE_DEPTH, None, StopFlag()).score_centi >= MIN_LEAD_CENTI:
            found.append(position)
    return found


def outcome(game: Game[Any], strategy: str, start: Any, nodes: int, bare: bool) -> tuple[bool, int, str]:
    """Whether the strategy wins, after how many plies, and the rule that ended the game."""
    position, plies = start, 0
    players = [
        MoveChooser(
            strategy_named(name),
            game,
            TrapParams(),
            native_searcher(game.name, TABLE_MB),
            wins_plainly=not bare,
        )
        for name in (strategy, "strong")
    ]
    while game.legal_moves(position):
        decision = players[plies % 2].choose(position, Limits(60, nodes=nodes), StopFlag())
        position, plies = game.play(position, game.parse_move(position, decision.move)), plies + 1
    ending = game.ending(position)
    return plies % 2 == 1 and game.result_centi(position) < 0, plies, ending.text or ending.kind


def othello_starts(count: int) -> list[OthelloPosition]:
    """Narrowly won positions of recorded games."""
    game, solver, found = Othello(), NativeOthelloSearcher(TABLE_MB), list[OthelloPosition]()
    paths, rng = FILES[OTHELLO], random.Random(47)
    games = list(read_games(paths, OTHELLO))
    while len(found) < count:
        places = [position for position, _ in steps(rng.choice(games).record)]
        position = rng.choice(places)
        empty = 64 - (position.mover | position.waiter).bit_count()
        if empty in EMPTY_SQUARES and len(game.legal_moves(position)) > 1:
            _, score_centi = solver.solve(position, StopFlag())
            if 0 < score_centi - WIN_CENTI <= 100 * MOST_LEAD:
                found.append(position)
    return found


def kept_wins(strategy: str, positions: Sequence[OthelloPosition], nodes: int, bare: bool) -> str:
    """How many wins the strategy's moves keep, and its move of each position that loses one."""
    game, solver, lost = Othello(), NativeOthelloSearcher(TABLE_MB), list[str]()
    for position in positions:
        searcher = native_searcher(game.name, TABLE_MB)
        kind, params = strategy_named(strategy), TrapParams(assessment=Assessment.LAST)
        player = MoveChooser(kind, game, params, searcher, wins_plainly=not bare)
        move = player.choose(position, Limits(60, nodes=nodes), StopFlag()).move
        after = game.play(position, game.parse_move(position, move))
        if not game.legal_moves(after):
            worth = -game.result_centi(after)
        else:
            worth = -solver.solve(after, StopFlag())[1]
        if worth <= 0:
            lost.append(f"{game.position_text(position)}: {move}")
    return f"kept {len(positions) - len(lost)} of {len(positions)} wins  {'; '.join(lost)}"


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--strategies", nargs="+", default=own_strategies())
    parser.add_argument("--endings", nargs="+", default=[*CHESS, *XIANGQI])
    parser.add_argument("--starts", type=int, default=20)
    parser.add_argument("--nodes", type=int, default=30_000)
    parser.add_argument("--bare", action="store_true")
    args = parser.parse_args()
    for name in args.endings:
        if name == OTHELLO:
            narrow = othello_starts(args.starts)
            for strategy in args.strategies:
                print(
                    f"{name:<12} {strategy:<15} {kept_wins(strategy, narrow, args.nodes, args.bare)}",
                    flush=True,
                )
            continue
        game, pieces = get_rules("chess" if name in CHESS else "xiangqi"), (CHESS | XIANGQI)[name]
        positions = starts(game, pieces, args.starts)
        for strategy in args.strategies:
            games = [outcome(game, strategy, start, args.nodes, args.bare) for start in positions]
            won = sorted(plies for is_won, plies, _ in games if is_won)
            others = "; ".join(sorted({why for is_won, _, why in games if not is_won}))
            lengths = f"plies {won[len(won) // 2]}, most {won[-1]}" if won else ""
            print(
                f"{name:<12} {strategy:<15} won {len(won)} of {len(games)}  {lengths}  {others}", flush=True
            )


if __name__ == "__main__":
    main()
