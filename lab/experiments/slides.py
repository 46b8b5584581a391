"""Tests each idea in Charles Rich's slides "Minimax Search" with this program on a position chosen for it.

Each idea has one job, and the job's numbers determine the verdict (docs/research/slides.md).
"""

import math
import random
import tempfile
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, ClassVar

import numpy as np

from bot.match.openings import position_after, random_opening
from bot.match.participants import OurPlayer
from bot.match.player_specs import OurSpec, parse_spec
from engine._native import chess_perft
from engine.game import WIN_CENTI, Move
from engine.games import get_rules
from engine.params import TrapParams
from engine.protocols.settings import Allowance
from engine.search.profiles import Profiler
from engine.search.reference import exact_score, minimax
from engine.search.result import SearchResult
from engine.search.searchers import NativeSearcher, make_searcher
from engine.stop import StopFlag
from lab.experiments.estimates_text import above_zero, mean_of, share_percent, with_interval
from lab.experiments.experiment import Experiment, Job, Result, Size
from lab.experiments.experiment_report import ClaimVerdict, PaperClaim, Report, Table
from lab.experiments.slide_search import (
    Count,
    best_moves,
    material_centi,
    search,
    tree_alpha_beta,
    tree_minimax,
)
from storage.evidence.intervals import share

TABLE_MB = 16
SLIDE_10 = ((3, 9), (5, 6, 7))
"""The leaf values that the slide prints."""
BAGS = ((100, 5, 20), (-10, 500, 300))
"""Values of the items in two bags: tickets, sandwich, money; fish, money, tickets. The opponent picks the
item."""
SCHOLAR = "r1bqkbnr/pppp1ppp/2n5/4p2Q/2B1P3/8/PPPP1PPP/RNB1K1NR b KQkq - 3 3"
HORIZON = "8/B1kr2p1/1p4p1/p3P1P1/P5P1/8/8/7K w - - 0 1"
EXCHANGE = "4k3/2p5/3p4/8/8/8/3Q4/4K3 w - - 0 1"
PAWN_DOWN = "rnbqkbnr/1ppppppp/8/8/8/8/PPPPPPPP/RNBQKBNR w KQkq - 0 1"
TO_AND_FRO = ("g1f3", "g8f6", "f3g1", "f6g8", "g1f3", "g8f6", "f3g1")
ATOMS = 80
"""Number of atoms in the observable universe, as a power of ten."""
_START_KEY, _E2E4 = 0x463B96181691FC9C, 796
"""The standard starting position and the move 1. e4, in Polyglot's encoding."""
_ARGUMENTS: Mapping[Size, Mapping[str, Mapping[str, Any]]] = {
    Size.SMALL: {
        "alpha-beta": {"depth": 4},
        "move order": {"depth": 4},
        "branches": {"positions": 2, "depth": 4},
        "iterative deepening": {"positions": 1, "depth": 5},
        "transpositions": {"depth": 10},
        "fewest discs": {"games": 4},
    },
    Size.FULL: {
        "alpha-beta": {"depth": 6},
        "move order": {"depth": 6},
        "branches": {"positions": 20, "depth": 8},
        "iterative deepening": {"positions": 20, "depth": 6},
        "transpositions": {"depth": 14},
        "fewest discs": {"games": 400},
    },
}
"""Arguments of the ideas whose workload depends on the size of the run."""
_LATE_EMPTIES = 20


@dataclass(frozen=True, slots=True)
class Idea:
    """One idea from the slides."""

    name: str
    slide: str
    says: str
    where: str
    """The position that demonstrates the idea."""
    measure: Callable[[Mapping[str, Any], int], Result]
    """Computes the numbers from the job's arguments and the seed."""
    judge: Callable[[Result], tuple[ClaimVerdict, str]]


class Slides(Experiment):
    """Measures every idea."""

    name: ClassVar = "slides"
    title: ClassVar = "The ideas of minimax search, demonstrated one by one"
    source: ClassVar = "Charles Rich, Minimax Search (slides)"
    version: ClassVar = "1"

    def jobs(self, size: Size) -> Sequence[Job]:
        """See `Experiment.jobs`."""
        given = _ARGUMENTS[size]
        return [Job(idea.name, {"idea": idea.name, **given.get(idea.name, {})}) for idea in IDEAS]

    def run(self, arguments: Mapping[str, Any], seed: int) -> Result:
        """Measure one idea."""
        return next(idea for idea in IDEAS if idea.name == arguments["idea"]).measure(arguments, seed)

    def report(self, results: Mapping[str, Result], size: Size) -> Report:  # noqa: ARG002
        """See `Experiment.report`."""
        known = [idea for idea in IDEAS if idea.name in results]
        claims = tuple(PaperClaim(idea.says, *idea.judge(results[idea.name])) for idea in known)
        rows = tuple((idea.name, idea.slide, idea.where) for idea in known)
        return Report(
            claims, (Table("Where each idea is demonstrated", ("idea", "slide", "position"), rows),)
        )


def _verdict(holds: bool) -> ClaimVerdict:
    return ClaimVerdict.HOLDS if holds else ClaimVerdict.FAILS


def _same(holds: bool) -> str:
    return "the same" if holds else "a different"


def _thought(searcher: NativeSearcher, position: Any, depth: int, **limits: int) -> SearchResult:
    """Result of the strong search with one thread and no time limit."""
    return searcher.think(position, depth, None, StopFlag(), confidence_percent=100, threads=1, **limits)


def _chess(fen: str) -> Any:
    game = get_rules("chess")
    return game.for_search(game.parse_position(fen))


# --- Minimax --------------------------------------------------------------------------------------------


def _minimax(_: Mapping[str, Any], __: int) -> Result:
    game, core = get_rules("tictactoe"), make_searcher("tictactoe", TABLE_MB)
    scores = []
    for reply in ("b1", "b2"):  # a side next to the corner, and the centre
        position = game.for_search(game.initial())
        for move in ("a1", reply):
            position = game.play(position, game.parse_move(position, move))
        scores += [minimax(game, position, 9), exact_score(core, position, 9, StopFlag())]
    return {"slide": tree_minimax(SLIDE_10, True), "scores": scores}


def _judge_minimax(found: Result) -> tuple[ClaimVerdict, str]:
    side, core_side, centre, core_centre = found["scores"]
    holds = found["slide"] == 5 and side == core_side >= WIN_CENTI and centre == core_centre == 0
    agrees = side == core_side and centre == core_centre
    return _verdict(holds), (
        f"slide 10: {found['slide']}; after a corner move, the reply on a side "
        f"{'loses by force' if side >= WIN_CENTI else f'is worth {side}'} and the centre "
        f"{'draws (0)' if centre == 0 else f'is worth {centre}'}; the program's search says "
        + ("the same" if agrees else f"{core_side} and {core_centre}")
    )


def _negamax(_: Mapping[str, Any], seed: int) -> Result:
    game = get_rules("othello")
    _, found = position_after(game, random_opening("othello", seed, 0))
    position, core = game.for_search(found), make_searcher("othello", TABLE_MB)
    after = [game.play(position, move) for move in game.legal_moves(position)]
    ours = exact_score(core, position, 4, StopFlag())
    return {"score": ours, "children": max(-exact_score(core, each, 3, StopFlag()) for each in after)}


def _judge_negamax(found: Result) -> tuple[ClaimVerdict, str]:
    return _verdict(found["score"] == found["children"]), (
        f"{found['score'] / 100:+.2f} discs at depth 4; the maximum of the moves' negated scores at depth 3 "
        f"is {found['children'] / 100:+.2f}"
    )


# --- Alpha-beta -----------------------------------------------------------------------------------------


def _bags(_: Mapping[str, Any], __: int) -> Result:
    seen: list[int] = []
    return {"value": tree_alpha_beta(BAGS, True, seen), "plain": tree_minimax(BAGS, True), "seen": seen}


def _judge_bags(found: Result) -> tuple[ClaimVerdict, str]:
    same = found["value"] == found["plain"]
    holds = same and found["seen"] == [*BAGS[0], BAGS[1][0]]
    return _verdict(holds), f"{len(found['seen'])} of 6 items examined, {_same(same)} choice"


def _connect4(depth: int, order: int | None, *, prunes: bool = True) -> list[int]:
    """Score, positions and cut-offs; `order` is 1 for best moves first, -1 for worst first, None for left to
    right.
    """
    game, core = get_rules("connect4"), make_searcher("connect4", 1)
    start = game.for_search(game.initial())
    position = game.play(start, game.legal_moves(start)[3])

    def ordered(at: Any, moves: Sequence[Move], left: int) -> Sequence[Move]:
        return sorted(
            moves,
            key=lambda move: (order or 0) * exact_score(core, game.play(at, move), left - 1, StopFlag()),
        )

    count = Count()
    score = search(
        game,
        position,
        depth,
        game.evaluate_centi,
        count,
        prunes=prunes,
        order=None if order is None else ordered,
    )
    return [score, count.nodes, count.cuts]


def _alpha_beta(arguments: Mapping[str, Any], _: int) -> Result:
    depth = arguments["depth"]
    return {"plain": _connect4(depth, None, prunes=False), "pruned": _connect4(depth, None)}


def _judge_alpha_beta(found: Result) -> tuple[ClaimVerdict, str]:
    (score, all_nodes, _), (same, nodes, cuts) = found["plain"], found["pruned"]
    return _verdict(score == same and nodes < all_nodes), (
        f"{all_nodes:,} positions without pruning, {nodes:,} with {cuts:,} cut-offs; {_same(score == same)} "
        "score"
    )


def _order(arguments: Mapping[str, Any], _: int) -> Result:
    orders = {"best": 1, "given": None, "worst": -1}
    return {name: _connect4(arguments["depth"], order) for name, order in orders.items()}


def _judge_order(found: Result) -> tuple[ClaimVerdict, str]:
    best, given, worst = (found[name][1] for name in ("best", "given", "worst"))
    same = len({found[name][0] for name in found}) == 1
    return _verdict(same and best < given < worst), (
        f"{best:,} positions with the best moves first, {given:,} from left to right, {worst:,} with the "
        f"worst first ({found['worst'][2]:,} cut-offs{'' if same else '; the scores differ'})"
    )


def _branches(arguments: Mapping[str, Any], seed: int) -> Result:
    game, depth = get_rules("chess"), arguments["depth"]
    widths, factors = [], []
    for number in range(arguments["positions"]):
        _, found = position_after(game, random_opening("chess", seed, number))
        widths.append(chess_perft(game.position_text(found), 4) ** 0.25)
        core = make_searcher("chess", 64)
        row = []
        for plies in range(2, depth + 1, 2):
            before = core.nodes
            exact_score(core, game.for_search(found), plies, StopFlag())
            row.append((core.nodes - before) ** (1 / plies))
        factors.append(row)
    return {"widths": widths, "factors": factors, "depth": depth}


def _judge_branches(found: Result) -> tuple[ClaimVerdict, str]:
    factors = np.array(found["factors"])
    width, last = mean_of(np.array(found["widths"])), mean_of(factors[:, -1])
    rows = ", ".join(f"{each:.1f} at depth {2 * at}" for at, each in enumerate(factors.mean(axis=0), start=1))
    verdict = ClaimVerdict.INCONCLUSIVE if last.low <= 6.5 <= last.high else _verdict(last.high < 6.5)
    return verdict, (
        f"{with_interval(width, 1, 1)} branches, reduced to {with_interval(last, 1, 1)} at depth "
        f"{found['depth']} ({rows}); the square root, which is the minimum, would be "
        f"{math.sqrt(width.value):.1f}"
    )


def _negascout(_: Mapping[str, Any], seed: int) -> Result:
    game = get_rules("chess")
    _, found = position_after(game, random_opening("chess", seed, 0))
    counts, best = [], []
    for is_scout in (False, True):
        core = make_searcher("chess", TABLE_MB)
        profiler = Profiler(game, core, found, TrapParams(), StopFlag())
        if is_scout:
            scores = [each.raw_centi for each in profiler.raw_candidates(5)]
        else:
            scores = [profiler.raw_value(move, 5) for move in profiler.moves]
        counts.append(core.nodes)
        best.append(max(scores))
    return {"nodes": counts, "best": best}


def _judge_negascout(found: Result) -> tuple[ClaimVerdict, str]:
    (plain, scout), (one, other) = found["nodes"], found["best"]
    return _verdict(one == other and scout < plain), (
        f"{plain:,} positions with a full window for every move, {scout:,} with a null window for all but "
        f"the first; {_same(one == other)} score"
    )


def _deepening(arguments: Mapping[str, Any], seed: int) -> Result:
    game, depth = get_rules("chess"), arguments["depth"]
    direct = steps = 0
    for at in range(arguments["positions"]):
        _, found = position_after(game, random_opening("chess", seed, at))
        position = game.for_search(found)
        core = make_searcher("chess", TABLE_MB)
        exact_score(core, position, depth, StopFlag())
        direct += core.nodes
        core = make_searcher("chess", TABLE_MB)
        for plies in range(1, depth + 1):
            exact_score(core, position, plies, StopFlag())
        steps += core.nodes
    selective = make_searcher("chess", TABLE_MB)
    assert isinstance(selective, NativeSearcher)  # noqa: S101 - the core plays chess
    stopped = [_thought(selective, game.initial(), 60, nodes=nodes).depth for nodes in (2_000, 20_000)]
    return {"direct": direct, "steps": steps, "depth": depth, "stopped": stopped}


def _judge_deepening(found: Result) -> tuple[ClaimVerdict, str]:
    ratio = found["steps"] / found["direct"]
    shallow, deep = found["stopped"]
    return _verdict(0 < shallow < deep), (
        f"stopped after 2,000 positions, the search has a move from depth {shallow}; after 20,000, from "
        f"depth {deep}; depths 1 to {found['depth']} together visit {ratio:.2f} times as many positions as "
        "the last depth alone"
    )


# --- Evaluation and look-ahead --------------------------------------------------------------------------


def _look_ahead(_: Mapping[str, Any], __: int) -> Result:
    game, core = get_rules("chess"), make_searcher("chess", TABLE_MB)
    assert isinstance(core, NativeSearcher)  # noqa: S101 - the core plays chess
    position = _chess(SCHOLAR)
    moves = game.legal_moves(position)
    scores = [[-score for score in row] for row in core.scores_after(position, moves, 0, 5, StopFlag())]
    best, chosen = max(row[-1] for row in scores), []
    for depth in (1, 3):
        at = max(range(len(moves)), key=lambda move: scores[move][depth - 1])
        chosen.append([game.move_text(moves[at]), best - scores[at][-1]])
    return {"chosen": chosen}


def _judge_look_ahead(found: Result) -> tuple[ClaimVerdict, str]:
    (first, cost), (second, less) = found["chosen"]
    return _verdict(less < cost), (
        f"the move with the best static evaluation, {first}, costs {cost / 100:.2f} pawns in a search of "
        f"six plies; a search of three plies chooses {second}, which costs {less / 100:.2f}"
    )


def _exchange(_: Mapping[str, Any], __: int) -> Result:
    game, position = get_rules("chess"), _chess(EXCHANGE)
    plain, score = best_moves(game, position, 1, material_centi)
    quiet, quiet_score = best_moves(game, position, 1, material_centi, is_quiet=True)
    ours = make_searcher("chess", TABLE_MB)
    assert isinstance(ours, NativeSearcher)  # noqa: S101 - the core plays chess
    core = _thought(ours, position, 1).move
    return {"plain": plain, "score": score, "quiet": quiet, "quiet_score": quiet_score, "core": core}


def _judge_exchange(found: Result) -> tuple[ClaimVerdict, str]:
    holds = found["plain"] == ["d2d6"] and "d2d6" not in found["quiet"] and found["core"] != "d2d6"
    return _verdict(holds), (
        f"d2d6 takes a protected pawn; the best move by material at depth 1 is {_some(found['plain'])} "
        f"({found['score'] / 100:+.0f}), with a quiescence search {_some(found['quiet'])} "
        f"({found['quiet_score'] / 100:+.0f}); our strong search plays {found['core']}"
    )


def _some(moves: Sequence[str]) -> str:
    """Format equally good moves; only the first three are named."""
    more = len(moves) - 3
    return ", ".join(moves[:3]) + (f" and {more} more" if more > 0 else "")


def _horizon(_: Mapping[str, Any], __: int) -> Result:
    game, position = get_rules("chess"), _chess(HORIZON)
    plain = best_moves(game, position, 4, material_centi)[0]
    quiet = best_moves(game, position, 4, material_centi, is_quiet=True)[0]
    core = make_searcher("chess", TABLE_MB)
    costs = []
    for depth in (4, 8, 10):
        scores = {
            game.move_text(move): -exact_score(core, game.play(position, move), depth - 1, StopFlag())
            for move in game.legal_moves(position)
        }
        costs.append(max(scores.values()) - scores["e5e6"])
    return {"plain": plain, "quiet": len(quiet), "costs": costs}


def _judge_horizon(found: Result) -> tuple[ClaimVerdict, str]:
    shallow, middle, deep = found["costs"]
    return _verdict(found["plain"] == ["e5e6"] and shallow == 0 < middle), (
        f"the best move by material at depth 4 is {_some(found['plain'])}; with a quiescence search, "
        f"{found['quiet']} moves are equally good. Our exact search finds that e6 costs {shallow / 100:.2f} "
        f"pawns at depth 4, {middle / 100:.2f} at depth 8, "
        f"{deep / 100:.2f} at depth 10"
    )


def _fewest(arguments: Mapping[str, Any], seed: int) -> Result:
    return {"margins": [_disc_game(seed, at) for at in range(arguments["games"])]}


def _disc_game(seed: int, at: int) -> int:
    """Final margin, in discs, of a player who keeps few discs until late over one who maximises flips."""
    game, rng = get_rules("othello"), random.Random(f"{seed} {at}")  # noqa: S311 - needs no secrecy
    position, few = game.initial(), at % 2
    while moves := game.legal_moves(position):
        mover = game.side_to_move(position)
        wants_few = mover == few and _empties(position) > _LATE_EMPTIES
        worth = [
            (_discs(game.play(position, move), mover) * (-1 if wants_few else 1), rng.random(), move)
            for move in moves
        ]
        position = game.play(position, max(worth)[2])
    return _discs(position, few)


def _discs(position: Any, side: int) -> int:
    """One side's number of discs minus the other's."""
    text = get_rules("othello").position_text(position)
    return 0 if not text else _count(text, "bw"[side]) - _count(text, "wb"[side])


def _empties(position: Any) -> int:
    text = get_rules("othello").position_text(position)
    return 64 - _count(text, "b") - _count(text, "w")


def _count(text: str, colour: str) -> int:
    return text.partition(" ")[0].count(colour)


def _judge_fewest(found: Result) -> tuple[ClaimVerdict, str]:
    margins = np.array(found["margins"], float)
    mean, wins = mean_of(margins), share(int((margins > 0).sum()), len(margins))
    return above_zero(mean), (
        f"a player who keeps the fewest discs until {_LATE_EMPTIES} squares are empty, against one who "
        "always "
        f"takes the most: {with_interval(mean, 1, 1, '+')} discs, {share_percent(wins)} % wins in {mean.n} "
        "games"
    )


def _numbers(_: Mapping[str, Any], __: int) -> Result:
    return {"power": 40 * math.log10(35)}


def _judge_numbers(found: Result) -> tuple[ClaimVerdict, str]:
    power = found["power"]
    return _verdict(power > ATOMS), (
        f"35^40 is 10^{power:.1f}, and there are about 10^{ATOMS} atoms; 40 moves by each side are 80 "
        f"plies, 10^{2 * power:.1f}"
    )


# --- What a program adds --------------------------------------------------------------------------------


def _joins(arguments: Mapping[str, Any], _: int) -> Result:
    four, game = get_rules("connect4"), get_rules("chess")
    lines = [four.initial()]
    for _ply in range(4):
        lines = [four.play(each, move) for each in lines for move in four.legal_moves(each)]
    back = game.initial()
    for move in TO_AND_FRO[:4]:
        back = game.play(back, game.parse_move(back, move))
    nodes = []
    for table_mb in (1, 16):
        core = make_searcher("connect4", table_mb)
        exact_score(core, four.for_search(four.initial()), arguments["depth"], StopFlag())
        nodes.append(core.nodes)
    return {
        "lines": len(lines),
        "positions": len({four.position_text(each) for each in lines}),
        "is_cycle": back.board.board_fen() == game.initial().board.board_fen(),
        "depth": arguments["depth"],
        "nodes": nodes,
    }


def _judge_joins(found: Result) -> tuple[ClaimVerdict, str]:
    small, large = found["nodes"]
    joins = found["positions"] < found["lines"]
    return _verdict(joins and not found["is_cycle"]), (
        f"joins: {'yes' if joins else 'no'}, {found['lines']:,} lines of four plies lead to "
        f"{found['positions']:,} positions of Connect Four (a search of {found['depth']} plies visits "
        f"{small:,} positions with a table of 1 MB, {large:,} with 16). Cycles: four knight moves in chess "
        + ("lead" if found["is_cycle"] else "do not lead")
        + " back to the start"
    )


def _library(_: Mapping[str, Any], __: int) -> Result:
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "book.bin"
        path.write_bytes(_START_KEY.to_bytes(8, "big") + _E2E4.to_bytes(2, "big") + bytes((0, 1)) + bytes(4))
        spec = parse_spec(f"strong:depth=4,polyglot={path}")
        assert isinstance(spec, OurSpec)  # noqa: S101 - it is one of ours
        player = OurPlayer(spec, "chess", "1")
        player.new_game()
        known, unknown = (
            player.choose(moves, Allowance(depth=4), StopFlag()) for moves in ((), ("e2e4", "e7e5"))
        )
        player.close()
    return {"move": known.move, "depths": [known.depth, unknown.depth], **_ending()}


def _ending() -> Result:
    """A late Othello position, solved by the core and by the slides' alpha-beta."""
    game, rng = get_rules("othello"), random.Random(1)  # noqa: S311 - needs no secrecy
    position = game.initial()
    while _empties(position) > 7:
        position = game.play(position, rng.choice(game.legal_moves(position)))
    core = make_searcher("othello", TABLE_MB)
    assert isinstance(core, NativeSearcher)  # noqa: S101 - the core plays Othello
    solved = _thought(core, position, _empties(position))
    plain = search(game, game.for_search(position), 60, game.evaluate_centi, Count())
    return {"solved": [solved.score_centi, plain], "is_solved": solved.solved}


def _judge_library(found: Result) -> tuple[ClaimVerdict, str]:
    known, unknown = found["depths"]
    ours, plain = found["solved"]
    holds = found["move"] == "e2e4" and known == 0 < unknown and found["is_solved"] and ours == plain
    return _verdict(holds), (
        f"with a book that contains only e2e4, the player plays {found['move']} at depth {known}; out of "
        f"book, the search reaches depth {unknown}; an Othello ending with seven empty squares is "
        f"{'' if found['is_solved'] else 'not '}solved, with {_same(ours == plain)} score "
        f"{'as' if ours == plain else 'than'} a search to the end"
    )


def _contempt(_: Mapping[str, Any], __: int) -> Result:
    game = get_rules("chess")
    position = game.parse_position(PAWN_DOWN)
    for move in TO_AND_FRO:
        position = game.play(position, game.parse_move(position, move))
    chosen = []
    for contempt in (0, 200):
        core = make_searcher("chess", TABLE_MB)
        assert isinstance(core, NativeSearcher)  # noqa: S101 - the core plays chess
        found = _thought(core, game.for_search(position), 6, contempt_centi=contempt)
        chosen.append([found.move, found.score_centi])
    return {"chosen": chosen}


def _judge_contempt(found: Result) -> tuple[ClaimVerdict, str]:
    (draws, score), (plays_on, lower) = found["chosen"]
    return _verdict(draws == "f6g8" != plays_on), (
        f"a pawn down, Black {_repeats(draws)} ({draws}, {score / 100:+.2f}); with a contempt of two pawns, "
        f"he {_repeats(plays_on)} ({plays_on}, {lower / 100:+.2f})"
    )


def _repeats(move: str) -> str:
    return "repeats" if move == "f6g8" else "plays on"


IDEAS = (
    Idea("minimax", "6, 10-12", "Each side plays its best move against the other's best replies",
         "tic-tac-toe after a corner move and a reply", _minimax, _judge_minimax),
    Idea("negamax", "13-14", "One evaluation serves both players, with its sign changed",
         "a balanced opening of Othello", _negamax, _judge_negamax),
    Idea("size", "5", "The 35^40 lines of a chess game outnumber the atoms in the universe", "-", _numbers,
         _judge_numbers),
    Idea("bags", "15-16", "Pruning skips items without changing the choice", "two bags of three items", _bags,
         _judge_bags),
    Idea("alpha-beta", "17-19", "Alpha-beta finds the same score as minimax",
         "Connect Four after a move in the middle column, 6 plies", _alpha_beta, _judge_alpha_beta),
    Idea("move order", "20", "The benefit depends on the move order; in the worst order nothing is pruned",
         "the same", _order, _judge_order),
    Idea("branches", "20", "In chess, pruning reduces 35 branches to 6", "balanced openings of chess",
         _branches, _judge_branches),
    Idea("negascout", "21", "Earlier results narrow the window (negascout)", "a balanced opening of chess, 5 "
         "plies", _negascout, _judge_negascout),
    Idea("iterative deepening", "23", "Search one ply, check the clock, search two plies",
         "the usual start, and balanced openings of chess", _deepening, _judge_deepening),
    Idea("look-ahead", "9-10", "An imperfect evaluation without look-ahead plays badly", SCHOLAR, _look_ahead,
         _judge_look_ahead),
    Idea("exchanges", "23", "Minimax to a fixed depth misjudges exchanges; searching captures fixes this",
         EXCHANGE, _exchange, _judge_exchange),
    Idea("horizon", "23", "A fixed depth pushes a loss beyond its horizon (not in the slides)", HORIZON,
         _horizon, _judge_horizon),
    Idea("transpositions", "4", "The game tree is a graph with joins but without cycles",
         "the start positions of Connect Four and chess", _joins, _judge_joins),
    Idea("library", "23", "Openings and endings come from a library",
         "the usual start; Othello with seven empty squares", _library, _judge_library),
    Idea("contempt", "22", "A contempt factor sets the value of a draw", f"{PAWN_DOWN}, then "
         f"{' '.join(TO_AND_FRO)}", _contempt, _judge_contempt),
    Idea("fewest discs", "8", "In Reversi it is best to have the fewest discs in the middlegame",
         "whole games", _fewest, _judge_fewest),
)  # fmt: skip
"""The ideas, in the order of docs/research/slides.md."""
