"""Compares our PGN reader with python-chess's: the games that both find in generated and damaged files, with
a reason for every difference; and the speed of both.

    python -m bench.pgn_reader --games 100000
"""

import argparse
import io
import logging
import random
import re
import time
from collections import Counter
from collections.abc import Callable

import chess
import chess.pgn

from engine.formats import files
from engine.formats.files import GameFormat
from engine.formats.record import BadGame, GameRecord

PIECES = (
    "{",
    "}",
    "(",
    ")",
    ";",
    "%",
    "\n",
    "\n\n",
    '"',
    "]",
    "[",
    " ",
    "x",
    "1-0",
    "*",
    "e4",
    "1.",
    "--",
    "$1",
)
_TAG = r'[ \t]*\[[ \t]*[A-Za-z0-9_][\w+#=:-]*[ \t]+"'
_MOVETEXT = rf"^(?!{_TAG})[ \t]*\S.*"
_PATTERNS = {
    "an empty line within movetext ends a game of python-chess": rf"{_MOVETEXT}\n\s*\n(?!\s*({_TAG}|\Z))",
    "python-chess joins the tags of games without moves": rf'^\[.*"\][ \t]*\n\s*\n\s*{_TAG}',
    "a tag that repeats begins a game": r"^\[(\w+) .*\n(?:\[.*\n)*\[\1 ",
    "python-chess reads only tags that have a line each": (
        rf'^{_TAG}[^"\n]*"\][ \t]*\S|^[^\n]*\S[^\n]*{_TAG}|^[ \t]+\[|^\[[ \t]|^\[\w*[^\w\s]|'
        r'^\[(?:[^"\n]*")?[^"\n]*$|^\[(?:[^"\n]*"){3,}|^\[.*[^\]\n]$'
    ),
    "python-chess needs an empty line before a game's tags": rf"{_MOVETEXT}\n{_TAG}",
    "a comment that never ends": r"\{[^}]*(?:\Z|\n\s*\n\s*\[)",
    "python-chess reads on after a result": r"(?:1-0|0-1|1/2-1/2|\*)(?=[\s)])[\s)]*(?![\s)]*\[)\S",
    "python-chess takes any text for a game": r"\A(?![^\[]*\[)|\n\s*\n(?!\[)",
}
_REASONS: dict[str, Callable[[str], object]] = {
    **{name: re.compile(pattern, re.MULTILINE).search for name, pattern in _PATTERNS.items()},
    "a variation without an end or a beginning": lambda text: text.count("(") != text.count(")"),
}
"""Why the readers may find other games in a text, and where each reason applies."""


class MainLine(chess.pgn.BaseVisitor[tuple[str, ...] | None]):
    """The main line as python-chess reads it; None after an error."""

    def __init__(self) -> None:
        self._moves: list[str] = []
        self._is_bad = False

    def begin_variation(self) -> chess.pgn.SkipType:
        return chess.pgn.SKIP

    def visit_move(self, board: chess.Board, move: chess.Move) -> None:
        self._moves.append(board.uci(move))

    def handle_error(self, error: Exception) -> None:  # noqa: ARG002
        self._is_bad = True

    def result(self) -> tuple[str, ...] | None:
        return None if self._is_bad else tuple(self._moves)


def generated(rng: random.Random) -> str:
    """A file of one to three games with comments, variations, NAGs and line breaks."""
    return "\n\n".join(_game(rng, number) for number in range(rng.randint(1, 3))) + "\n"


def damaged(text: str, rng: random.Random) -> str:
    """The text after up to three small changes."""
    for _ in range(rng.choice((0, 1, 1, 2, 3))):
        at = rng.randrange(len(text) + 1)
        length = rng.choice((0, 0, 1, 1, 2, 8, 40))
        text = text[:at] + rng.choice(("", *PIECES)) + text[at + length :]
    return text


def difference(text: str) -> str:
    """Why the readers differ on a text; empty if they find the same games.

    They find the same if the main lines of all games are equal; a game with an error at python-chess is the
    same as one that we refuse.
    """
    ours = [
        found.moves if isinstance(found, GameRecord) else None
        for found in files.read(text.split("\n"), GameFormat.PGN, "chess")
    ]
    theirs: list[tuple[str, ...] | None] = []
    handle = io.StringIO(text)
    before = 0
    while True:
        found = chess.pgn.read_game(handle, Visitor=MainLine)
        if handle.tell() == before:
            break
        before = handle.tell()
        theirs.append(found)
    if ours == theirs:
        return ""
    if len(ours) == len(theirs) and all(
        mine is None or mine == other for mine, other in zip(ours, theirs, strict=True)
    ):
        return "a word that could be a move, which python-chess ignores, or damage"
    return next((name for name, where in _REASONS.items() if where(text)), "not explained")


def _game(rng: random.Random, number: int) -> str:
    tags = [f'[Event "e{number}"]', f'[White "w{rng.randint(1, 9)}"]', '[Black "b"]', f'[ECO "A{number}"]']
    board = chess.Board()
    words = []
    for ply in range(rng.randint(0, 16)):
        legal = list(board.legal_moves)
        if not legal:
            break
        if not ply % 2 or rng.random() < 0.1:
            words.append(f"{ply // 2 + 1}." + ".." * (ply % 2))
        move = rng.choice(legal)
        words.append(board.san(move) if rng.random() < 0.9 else board.lan(move))
        if rng.random() < 0.2:
            words.append(
                rng.choice(("{ a remark }", "{[%clk 0:01:00]}", "$3", "; rest\n", "{two\nlines}", "!?"))
            )
        if rng.random() < 0.1:
            words.append(f"({board.san(rng.choice(legal))} {{ or }} (-- $1) 1-0)")
        board.push(move)
    words.append(rng.choice(("1-0", "0-1", "1/2-1/2", "*")))
    text = "".join(word + rng.choice((" ", " ", " ", "\n")) for word in words).rstrip()
    return "\n".join(tags) + "\n\n" + re.sub(r"\n+", "\n", text)


def _speed(text: str) -> tuple[float, float]:
    """Positions a second of our reader and of python-chess's."""
    began, count = time.process_time(), 0
    for found in files.read(text.split("\n"), GameFormat.PGN):
        count += 0 if isinstance(found, BadGame) else len(found.moves)
    ours = count / (time.process_time() - began)
    began, count, handle = time.process_time(), 0, io.StringIO(text)
    while (game := chess.pgn.read_game(handle)) is not None:
        count += sum(1 for _ in game.mainline_moves())
    return ours, count / (time.process_time() - began)


def main() -> None:
    """Compare the readers and print the counts of each difference, and the speeds."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--games", type=int, default=2000)
    parser.add_argument("--seed", type=int, default=1)
    options = parser.parse_args()
    logging.getLogger("chess.pgn").setLevel(logging.CRITICAL)
    rng, count, reasons, unexplained = random.Random(options.seed), 0, Counter[str](), list[str]()
    while count < options.games:
        text = damaged(generated(rng), rng)
        count += max(1, text.count("[Event "))
        reason = difference(text)
        reasons[reason or "the same games"] += 1
        if reason == "not explained":
            unexplained.append(text)
    print(f"{count} games in {reasons.total()} files, seed {options.seed}")
    for reason, files_ in reasons.most_common():
        print(f"{files_:8} {reason}")
    for text in unexplained[:3]:
        print("-" * 40, text, sep="\n")
    sample = "\n\n".join(_game(rng, number) for number in range(1500))
    ours, theirs = _speed(sample)
    print(f"{ours:.0f} positions a second; python-chess {theirs:.0f}; ratio {ours / theirs:.2f}")


if __name__ == "__main__":
    main()
