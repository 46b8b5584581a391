"""Builds an opening book for Othello: `python -m lab.training.othello_book --out FILE`.

A book grows from the start position by search.  Every legal move of a book position is searched to the same
depth; the positions after moves within a given width of the best are added to the book, up to a given number
of discs placed. The scores of the leaves are backed up by minimax, so each move's score comes from the
deepest search below it. A drop in the best score can bring more moves within the width; the positions after
them are added, too, until nothing changes. Positions that are equal up to symmetry or transposition share
an entry.

With ``--from-games``, the book has the moves that were played often enough in the given games and are not
much worse than the best move; their scores are computed in the same way.

An interruption loses nothing: each searched position is saved as a line of ``FILE.part``, and running the
same command again continues from there. Searches can be reused for another width, number of plies or set
of games. Exact searches limited only by depth produce the same book every time.
"""

import argparse
import gzip
import hashlib
import json
import shlex
import sys
import time
from collections import defaultdict
from collections.abc import Callable, Iterable, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path
from typing import Any, NamedTuple

from bot.base.files import write_atomically
from engine import ENGINE_VERSION
from engine._native import othello_moves_mask
from engine.game import Move
from engine.games.othello import SQUARES, Othello, OthelloPosition, flips_mask
from engine.games.othello_evaluation import turned, weight_bytes
from engine.lookup.othello_book import (
    FORMAT,
    VERSION,
    BadBook,
    BookKey,
    BookMove,
    canonical,
    parse_board,
)
from engine.search.reference import exact_score
from engine.search.searchers import NativeOthelloSearcher
from engine.stop import StopFlag, Stopped
from lab.training.given_games import BadGameFile, TrainingGame, read_games
from lab.training.othello_patterns import natural, positive, say

SEARCHES = "desdemona book searches"
CONFIDENCES = (73, 87, 95, 99, 100)
_EXACT = 100
_PROGRESS_INTERVAL_S = 10.0


class Child(NamedTuple):
    """The position after a move."""

    key: BookKey
    """The position in which the next disc is placed, in canonical orientation."""
    sign: int
    """Multiply scores of `key` by this to get the mover's: -1, or 1 if the other side had to pass."""
    plies: int
    """Number of plies between the positions: 1, or 2 if the other side had to pass."""


@dataclass(slots=True)
class SearchedPosition:
    """A position with all its moves searched to one depth."""

    depth: int
    """Search depth in plies from the position."""
    scores: dict[Move, int]
    """Score of each move, in centidiscs for the side to move, in the game's move order."""
    children: dict[Move, Child] = field(default_factory=dict)
    """Position after each move that does not end the game."""


class MoveCounts(NamedTuple):
    """How often a move was played, and the results of those games."""

    played: int
    finished: int
    points: float
    """Points of the side to move in the finished games: 1 for a win, 1/2 for a draw."""


Scorer = Callable[[OthelloPosition], tuple[int, dict[Move, int]]]
"""Searches all moves of a position; returns the depth in plies and each move's score for the side to move."""


Measure = Callable[[OthelloPosition, int, StopFlag], int]
"""Searches a position to a given depth and returns the score for the side to move; may raise `Stopped`."""


def make_measure(searcher: NativeOthelloSearcher, confidence_percent: int) -> Measure:
    """Return the exact search for a confidence of 100, otherwise the strong search, which is selective.

    Raises:
        ValueError: The confidence is not one of the valid levels.
    """
    if confidence_percent == _EXACT:
        return partial(exact_score, searcher)
    if confidence_percent not in CONFIDENCES:
        raise ValueError(
            f"confidence must be one of {', '.join(map(str, CONFIDENCES))}, not {confidence_percent}"
        )
    game = Othello()

    def measure(position: OthelloPosition, plies: int, stop: StopFlag) -> int:
        if not game.legal_moves(position):
            return game.result_centi(position)
        result = searcher.think(position, plies, None, stop, confidence_percent=confidence_percent)
        if stop.is_set():  # the answer may be from a shallower search
            raise Stopped("the search was stopped")
        return result.score_centi

    return measure


def make_scorer(
    measure: Measure, depth: int, node_limit: int | None = None, time_s: float | None = None
) -> Scorer:
    """Return a scorer that deepens iteratively, two plies at a time, so that all depths have the same parity.

    Args:
        measure: Searches one position to a given depth.
        depth: Maximum search depth in plies, at least 2.
        node_limit: Node limit per position; None means no limit.  The first depth is always completed.
        time_s: Time limit per position in seconds; None means no limit.
    """
    game = Othello()

    def score(position: OthelloPosition) -> tuple[int, dict[Move, int]]:
        stop, unhurried = StopFlag(), StopFlag()
        if node_limit is not None:
            stop.set_node_limit(node_limit)
        if time_s is not None:
            stop.set_deadline(time_s)
        after = {move: game.play(position, move) for move in game.legal_moves(position)}
        reached, found = 0, dict[Move, int]()
        with suppress(Stopped):
            for plies in range(2 + depth % 2, depth + 1, 2):
                flag = stop if found else unhurried
                latest = {move: -measure(to, plies - 1, flag) for move, to in after.items()}
                reached, found = plies, latest
        return reached, found

    return score


def child_of(key: BookKey, move: Move) -> Child | None:
    """Return the position after a move and any forced pass; None if the game is then over."""
    mover, waiter = key
    flipped = flips_mask(mover, waiter, move)
    mover, waiter = mover | flipped | 1 << move, waiter & ~flipped
    if othello_moves_mask(waiter, mover):
        return Child(canonical(waiter, mover)[0], -1, 1)
    if othello_moves_mask(mover, waiter):
        return Child(canonical(mover, waiter)[0], 1, 2)
    return None


def discs(key: BookKey) -> int:
    return (key[0] | key[1]).bit_count()


class Searches:
    """Stores all search results, in memory and in a file.

    A line is written for each position as soon as its search ends; an incomplete last line, left by a killed
    process, is dropped.
    """

    def __init__(self, path: Path, settings: Mapping[str, Any], scorer: Scorer) -> None:
        """
        Args:
            path: The file, which is created if missing.
            settings: The settings that the scores depend on. An existing file must match them.
            scorer: See `Scorer`.

        Raises:
            BadBook: The file was written with other settings, or is damaged.
            OSError: The file cannot be read or written.
        """
        self._scorer = scorer
        self._known: dict[BookKey, SearchedPosition] = {}
        header = json.dumps({"format": SEARCHES, "version": 1, **settings}, sort_keys=True)
        content = path.read_bytes() if path.exists() else b""
        whole = content[: content.rfind(b"\n") + 1]
        for number, line in enumerate(whole.splitlines(), start=1):
            if number > 1:
                self._read(path, number, line)
            elif line.decode("ascii", "replace") != header:
                raise BadBook(
                    f"{path}: its searches were not made with the settings {header}; use its own settings, "
                    "or remove the file"
                )
        self._file = path.open("ab")
        self._file.truncate(len(whole))
        if not whole:
            self._write(header)

    def __enter__(self) -> "Searches":
        return self

    def __exit__(self, *_: object) -> None:
        self._file.close()

    def __len__(self) -> int:
        return len(self._known)

    def __contains__(self, key: BookKey) -> bool:
        return key in self._known

    def __getitem__(self, key: BookKey) -> SearchedPosition:
        """Return the search result for a position, after searching the position if necessary."""
        if key not in self._known:
            depth, scores = self._scorer(OthelloPosition(*key, 0))
            self._add(key, depth, scores)
            self._write(json.dumps([board_text(key), depth, {SQUARES[m]: s for m, s in scores.items()}]))
        return self._known[key]

    def _write(self, line: str) -> None:
        self._file.write(line.encode("ascii") + b"\n")
        self._file.flush()  # from here on only a failure of the machine can lose it

    def _read(self, path: Path, number: int, line: bytes) -> None:
        try:
            board, depth, scores = json.loads(line)
            key = parse_board(board)
            self._add(key, int(depth), {SQUARES.index(name): int(s) for name, s in scores.items()})
        except (ValueError, TypeError, AttributeError) as error:
            raise BadBook(f"{path}, line {number}: damaged: {error}") from None

    def _add(self, key: BookKey, depth: int, scores: dict[Move, int]) -> None:
        legal = othello_moves_mask(*key)
        if not legal or sum(1 << move for move in scores) != legal:
            raise BadBook(f"not the legal moves of {board_text(key)}")
        children = {move: child for move in scores if (child := child_of(key, move)) is not None}
        self._known[key] = SearchedPosition(depth, scores, children)


def search_all(keys: Iterable[BookKey], searches: Searches, told: str) -> None:
    """Search the positions that have no result yet, in a fixed order, and report progress."""
    missing = sorted((key for key in keys if key not in searches), key=lambda key: (discs(key), key))
    began = last = time.monotonic()
    for number, key in enumerate(missing):
        if time.monotonic() - last >= _PROGRESS_INTERVAL_S:
            last = time.monotonic()
            each = (last - began) / number
            say(
                f"  {number} of {len(missing)} searched, {each:.2f} s each,"
                f" {each * (len(missing) - number) / 60:.0f} min left"
            )
        _ = searches[key]
    if missing:
        took = time.monotonic() - began
        say(f"{told}: {len(missing)} positions searched, {len(searches)} in total, {took:.0f} s")


def backed_up(tree: Iterable[BookKey], searches: Searches) -> dict[BookKey, dict[Move, tuple[int, int]]]:
    """Return each move's score and depth, backed up from the tree where it continues below the move."""
    backed_up: dict[BookKey, dict[Move, tuple[int, int]]] = {}
    for key in sorted(tree, key=discs, reverse=True):
        searched = searches[key]
        moves = {move: (score, searched.depth) for move, score in searched.scores.items()}
        for move, child in searched.children.items():
            if child.key in backed_up:
                score, depth = max(backed_up[child.key].values())
                moves[move] = (child.sign * score, child.plies + depth)
        backed_up[key] = moves
    return backed_up


def best_score(moves: Mapping[Move, tuple[int, int]]) -> int:
    return max(score for score, _ in moves.values())


def grown(
    start: BookKey, searches: Searches, plies: int, width_centi: int, total_centi: int
) -> dict[BookKey, dict[Move, tuple[int, int]]]:
    """Grow the tree by search alone; return the backed-up score and depth of every move.

    Args:
        start: Root of the tree.
        searches: The results so far, to which new searches are added.
        plies: Depth of the book, as the number of discs placed after its last moves.
        width_centi: The tree continues after moves that lose at most this much compared with the best move.
        total_centi: The tree includes positions in which both sides together have lost at most this much.
    """
    tree = {start}
    while True:
        search_all(tree, searches, f"{len(tree)} positions in the book")
        moves = backed_up(tree, searches)
        lost = {start: 0}
        more: set[BookKey] = set()
        for key in sorted(tree, key=discs):
            if key not in lost or discs(key) + 1 >= discs(start) + plies:
                continue
            best = best_score(moves[key])
            for move, child in searches[key].children.items():
                loss = best - moves[key][move][0]
                if loss <= width_centi and lost[key] + loss <= total_centi:
                    lost[child.key] = min(lost.get(child.key, lost[key] + loss), lost[key] + loss)
                    more.add(child.key)
        if more <= tree:
            return moves
        tree |= more


def counted(records: Iterable[TrainingGame], plies: int) -> dict[BookKey, dict[Move, MoveCounts]]:
    """Count how often each move was played in each position, merging moves to equivalent positions.

    Raises:
        ValueError: A game contains an illegal move; the message names the game.
    """
    tallies: dict[BookKey, dict[Move, list[float]]] = defaultdict(lambda: defaultdict(lambda: [0, 0, 0.0]))
    for number, record in enumerate(records, start=1):
        position = Othello().initial()
        for ply, square in enumerate(record.squares[:plies], start=1):
            if not othello_moves_mask(position.mover, position.waiter):
                position = OthelloPosition(position.waiter, position.mover, 1 - position.side)
            flipped = flips_mask(position.mover, position.waiter, square)
            if not flipped:
                raise ValueError(f"game {number}: disc {ply} cannot be placed on {SQUARES[square]}")
            key, symmetries = canonical(position.mover, position.waiter)
            for twin in {turned(square, symmetry) for symmetry in symmetries}:
                tally = tallies[key][twin]
                tally[0] += 1
                if record.margin is not None:
                    ours = record.margin if position.side == 0 else -record.margin
                    tally[1] += 1
                    tally[2] += 1.0 if ours > 0 else 0.5 if ours == 0 else 0.0
            mover = position.mover | flipped | 1 << square
            position = OthelloPosition(position.waiter & ~flipped, mover, 1 - position.side)
    return {
        key: {
            move: MoveCounts(int(n), int(ended), points) for move, (n, ended, points) in sorted(moves.items())
        }
        for key, moves in tallies.items()
    }


def entries_of(
    moves: Mapping[BookKey, Mapping[Move, tuple[int, int]]],
    width_centi: int,
    games: Mapping[BookKey, Mapping[Move, MoveCounts]] | None,
) -> dict[BookKey, list[BookMove]]:
    """Return the book's entries: the moves within the width; with games, only those played in them."""
    entries: dict[BookKey, list[BookMove]] = {}
    for key, found in moves.items():
        least = best_score(found) - width_centi
        book_moves: list[BookMove] = []
        for move, (score, depth) in found.items():
            if score < least:
                continue
            if games is None:
                book_moves.append(BookMove(move, score, depth))
            elif move in games[key]:
                n, ended, points = games[key][move]
                book_moves.append(BookMove(move, score, depth, n, points / ended if ended else None))
        if book_moves:
            entries[key] = sorted(book_moves, key=lambda move: (-move.score_centi, move.move))
    return entries


def often_played(
    records: Iterable[TrainingGame], plies: int, least: int
) -> dict[BookKey, dict[Move, MoveCounts]]:
    """Return the moves that were played in at least `least` games, by position."""
    often: dict[BookKey, dict[Move, MoveCounts]] = {}
    for key, moves in counted(records, plies).items():
        book_moves = {move: games for move, games in moves.items() if games.played >= least}
        if book_moves:
            often[key] = book_moves
    return often


def records_of(paths: Sequence[Path]) -> Iterable[TrainingGame]:
    for path in paths:
        count = 0
        for record in read_games(path):
            count += 1
            yield record
        say(f"{path}: {count} games")


def parser() -> argparse.ArgumentParser:
    p = argparse.ArgumentParser(
        prog="python -m lab.training.othello_book",
        description="Build an Othello opening book.  After an interruption, run the same command again to "
        "continue.",
    )
    p.add_argument(
        "--out",
        type=Path,
        required=True,
        metavar="FILE",
        help="output file for the book; searches are saved in FILE.part",
    )
    p.add_argument(
        "--plies",
        type=positive,
        default=12,
        metavar="N",
        help="depth of the book, as the number of discs placed (default: 12)",
    )
    p.add_argument(
        "--width-centi", type=natural, default=300, metavar="N",
        help="include moves that lose at most N hundredths of a disc compared with the best (default: 300)",
    )  # fmt: skip
    p.add_argument(
        "--total-centi", type=natural, default=400, metavar="N",
        help="include positions in which both sides together have lost at most N in total (default: 400)",
    )  # fmt: skip
    p.add_argument(
        "--depth", type=int, default=12, metavar="N",
        help="search depth of each position, in plies (default: 12)",
    )  # fmt: skip
    p.add_argument(
        "--confidence", type=int, choices=CONFIDENCES, default=_EXACT, metavar="PERCENT",
        help="73, 87, 95 or 99: use the strong search, which sees deeper in the same time but can be wrong;"
        " 100: exact (default)",
    )  # fmt: skip
    p.add_argument("--nodes", type=positive, metavar="N", help="node limit for each position")
    p.add_argument("--time", type=float, metavar="SECONDS", help="time limit for each position")
    p.add_argument(
        "--table-mb", type=positive, default=64, metavar="N", help="size of the transposition table"
    )
    p.add_argument(
        "--from-games", type=Path, nargs="+", metavar="FILE",
        help="use the moves of these games: .wtb files, or text files with one game per line",
    )  # fmt: skip
    p.add_argument(
        "--min-games", type=positive, default=10, metavar="N",
        help="with --from-games: use moves that were played at least N times (default: 10)",
    )  # fmt: skip
    return p


def make(options: argparse.Namespace) -> dict[BookKey, list[BookMove]]:
    """Make the book's entries, by search or from games.

    Raises:
        BadBook: The saved searches are damaged or were made with other settings.
        BadGameFile, ValueError: The games are invalid.
        OSError: A file cannot be read or written.
    """
    settings = {
        "engine": ENGINE_VERSION,
        "evaluation": hashlib.sha256(weight_bytes()).hexdigest()[:16],
        "confidence": options.confidence,
        "depth": options.depth,
        "nodes": options.nodes,
        "time_s": options.time,
    }
    measure = make_measure(NativeOthelloSearcher(options.table_mb), options.confidence)
    scorer = make_scorer(measure, options.depth, options.nodes, options.time)
    start = Othello().initial()
    root = canonical(start.mover, start.waiter)[0]
    games = None
    if options.from_games:
        games = often_played(records_of(options.from_games), options.plies, options.min_games)
    with Searches(part_of(options.out), settings, scorer) as searches:
        if len(searches):
            say(f"{part_of(options.out)}: continuing after {len(searches)} positions")
        if games is None:
            moves = grown(root, searches, options.plies, options.width_centi, options.total_centi)
        else:
            search_all(games, searches, f"{len(games)} positions in the games")
            moves = backed_up(games, searches)
    return entries_of(moves, options.width_centi, games)


def write_book(path: Path, entries: Mapping[BookKey, Sequence[BookMove]], made: Mapping[str, Any]) -> None:
    """Write a book atomically; the same entries give the same file.

    Args:
        path: The file; an existing one is replaced.
        entries: Moves of each canonical position.
        made: How the book was generated, as JSON.
    """
    header = {"format": FORMAT, "version": VERSION, "game": "othello", "entries": len(entries), "made": made}
    lines = [json.dumps(header)]
    for key in sorted(entries):
        moves = [
            [SQUARES[m.move], m.score_centi, m.depth]
            + ([m.games, None if m.mean_result is None else round(m.mean_result, 4)] if m.games else [])
            for m in entries[key]
        ]
        lines.append(json.dumps([board_text(key), moves], separators=(",", ":")))
    text = "".join(line + "\n" for line in lines)
    write_atomically({path: gzip.compress(text.encode("ascii"), mtime=0)})


def board_text(key: BookKey) -> str:
    """Return the 64 squares, starting with a1: X for the side to move, O for the opponent, - for empty."""
    mover, waiter = key
    return "".join("X" if mover >> i & 1 else "O" if waiter >> i & 1 else "-" for i in range(64))


def part_of(path: Path) -> Path:
    """Return the path of a book's file of searches; the file exists until the book is finished."""
    return path.with_name(path.name + ".part")


def main(arguments: Sequence[str] | None = None) -> None:
    arguments = sys.argv[1:] if arguments is None else arguments
    p = parser()
    options = p.parse_args(arguments)
    if not options.out.parent.is_dir():
        p.error(f"{options.out.parent} is not a folder")
    if not 2 <= options.depth <= 60:
        p.error("--depth must be 2 .. 60")
    if options.time is not None and not 0 < options.time < float("inf"):
        p.error("--time must be greater than 0")
    try:
        entries = make(options)
        metadata = {"command": shlex.join(["python", "-m", "lab.training.othello_book", *arguments])}
        write_book(options.out, entries, {**metadata, "engine": ENGINE_VERSION})
    except (BadBook, BadGameFile, ValueError, OSError) as error:
        p.error(str(error))
    except KeyboardInterrupt:
        p.exit(130, "interrupted; run the same command again to continue\n")
    part_of(options.out).unlink()
    moves = sum(len(moves) for moves in entries.values())
    say(f"{options.out}: {len(entries)} positions, {moves} moves, {options.out.stat().st_size / 1000:.0f} kB")


if __name__ == "__main__":
    main()
