"""An engine made up for the tests: speaks UCI or UCCI and has as many faults as are asked for.

Run as a program: ``fake_uci.py GAME PROTOCOL [FAULT ...]``.  Its scores are made up from position, move and
depth (`fake_score`), so tests know what to expect.  Faults:

====================  ==================================================================================
``silent``            never answers the greeting
``dies``              ends at once, complaining
``nomultipv``         has no option MultiPV
``novariants``        has no option UCI_Variant
``knows=NAME``        and in UCI_Variant nothing but chess and that
``crash=N``           ends in the middle of the Nth search
``hang=N``            says nothing in the Nth search until it is told to stop
``deaf``              in such a search does not even listen to that
``endless=N``         does not end the Nth search until it is told to stop
``garbage``           prints nonsense between the lines
``illegal``           begins its lines with moves that the rules forbid
``illegalbest``       ends its searches with such a move
``boasts``            prints depths and numbers of nodes that cannot be true, after the lines
``ranks=N``           counts xiangqi's ranks from N
``bounds``            prints bounds between the scores
``mates``             tells every score as a distance to mate
``gaps``              leaves out depth 1, and depth 3 of every other move
``early``             ends each search after depth 1
``missing``           leaves out one move
``reprint``           prints the whole list again after each line, as Stockfish does after three seconds
``log=FILE``            writes its commands to search there
``options=FILE``      offers options of Stockfish's, and writes there what they are set to
``once=FILE``         has its faults only until a process of it has made the file
``begun=FILE``        makes the file when it waits to be told to stop
``hold=FIFO``         keeps the pipe open for as long as it lives
====================  ==================================================================================
"""

import os
import sys
import zlib
from pathlib import Path
from typing import Any

import chess
from chess.variant import find_variant

from engine.games import get_rules
from engine.protocols.scores import split_position_text
from engine.protocols.uci import shift_ranks

NAME = "Fake 1.0"


def fake_score(board: str, move: str, depth: int) -> int:
    """Centi-units, side to move's view; the board is the first two words of its FEN before the move."""
    return zlib.crc32(f"{board} {move} {depth}".encode()) % 401 - 200


def fake_mate(score: int) -> int:
    """The same as a distance to mate."""
    return score // 20 or 1


def fake_moves(game: str, words: list[str]) -> tuple[str, list[str]]:
    """Board and legal moves from what stands behind ``position``, in UCI's notation."""
    words = ["fen", *chess.STARTING_FEN.split(), *words[1:]] if words[0] == "startpos" else words
    fields, made = split_position_text(" ".join(words[1:]))
    fen = " ".join(fields)
    if game != "xiangqi":
        board = find_variant(game)(fen)
        for move in made:
            board.push_uci(move)
        return " ".join(board.fen().split()[:2]), [move.uci() for move in board.legal_moves]
    xiangqi: Any = get_rules(game)
    position = xiangqi.parse_position(fen)
    for move in made:
        position = xiangqi.play(position, xiangqi.parse_move(position, move))
    moves = [xiangqi.move_text(move) for move in xiangqi.legal_moves(position)]
    return " ".join(xiangqi.board_text(position).split()[:2]), moves


class FakeEngine:
    """The engine, line by line."""

    def __init__(self, game: str, protocol: str, faults: dict[str, str]) -> None:
        self.game = game
        variant = game if game == "xiangqi" else find_variant(game).uci_variant
        self.knows = faults.get("knows", variant)
        self.shift = int(faults.get("ranks", "0" if protocol == "ucci" else "1")) - 1
        self.has_game = game != "xiangqi"
        self.protocol = protocol
        self.faults = faults
        self.position: list[str] = []
        self.multipv = 1
        self.searches = 0

    def say(self, *lines: str) -> None:
        sys.stdout.write("".join(f"{line}\n" for line in lines))
        sys.stdout.flush()

    def run(self) -> None:
        if "dies" in self.faults:
            sys.stderr.write("cannot find my network\n")
            sys.exit(3)
        for line in sys.stdin:
            words = line.split()
            if not words:
                continue
            match words[0]:
                case "uci" | "ucci":
                    self.greet()
                case "isready":
                    self.say("readyok")
                case "setoption":
                    if "MultiPV" in words:
                        self.multipv = int(words[-1])
                    elif "options" in self.faults:
                        with Path(self.faults["options"]).open("a") as file:
                            file.write(f"{words[2]} {words[4]}\n")
                case "position":
                    self.position = words[1:]
                case "ucinewgame" | "uccinewgame":
                    self.has_game = True
                case "go" if not self.has_game:  # the handshake asks how it counts ranks
                    self.say("bestmove " + shift_ranks("b1c3", self.shift))
                case "go":
                    self.go(words)
                case "quit":
                    return

    def greet(self) -> None:
        if "silent" in self.faults:
            return
        name = "" if self.protocol == "ucci" else "name "
        offered = ["Hash type spin default 16 min 1 max 1024", "Slow Mover type check default false"]
        if "options" in self.faults:
            offered += [f"UCI_{what} type check default false" for what in ("Chess960", "AnalyseMode")]
        if "nomultipv" not in self.faults:
            offered.append("MultiPV type spin default 1 min 1 max 500")
        if self.game != "chess" and "novariants" not in self.faults:
            offered.append(f"UCI_Variant type combo default chess var chess var {self.knows}")
        self.say(f"id name {NAME}", *(f"option {name}{text}" for text in offered), f"{self.protocol}ok")

    def is_due(self, fault: str) -> bool:
        return self.faults.get(fault) == str(self.searches)

    def go(self, words: list[str]) -> None:
        self.searches += 1
        self.told(words)
        depth = int(words[words.index("depth") + 1]) if "depth" in words else 4
        only = words[words.index("searchmoves") + 1 :] if "searchmoves" in words else []
        only = [shift_ranks(word, -self.shift) for word in only]
        if self.is_due("hang"):
            self.wait_for_stop()
            return
        board, legal = fake_moves(self.game, [shift_ranks(word, -self.shift) for word in self.position])
        moves = [move for move in legal if move in only or not only]
        if "missing" in self.faults:
            moves = moves[1:]
        printed: list[str] = []
        for d in range(1, 2 if "early" in self.faults else depth + 1):
            ranked = sorted(moves, key=lambda move: -fake_score(board, move, d))[: self.multipv]
            for number, move in enumerate(ranked):
                if "gaps" in self.faults and (d == 1 or (d == 3 and number % 2)):
                    continue
                if self.is_due("crash") and d == 2 and number == 1:
                    sys.exit(9)
                line = self.info(board, move, d, number + 1)
                self.noise(shift_ranks(move, self.shift), d)
                self.say(line)
                printed.append(line)
                if "reprint" in self.faults:
                    self.say(*printed[-2 * len(ranked) :])
        none = "nobestmove" if self.protocol == "ucci" else "bestmove (none)"
        strongest = max(moves, key=lambda move: fake_score(board, move, depth), default="")
        best = f"bestmove {shift_ranks(strongest, self.shift)}" if moves else none
        best = "bestmove a1a1" if "illegalbest" in self.faults else best
        if "boasts" in self.faults:
            move = shift_ranks(moves[0], self.shift)
            for deep, nodes in (("-5", "-7"), ("9" * 400, "9" * 400), ("1000", str(10**15 + 1))):
                self.say(f"info depth {deep} score cp 77 pv {move}", f"info depth 1 nodes {nodes}")
        if self.is_due("endless"):
            self.wait_for_stop(best)
            return
        self.say(best)

    def told(self, words: list[str]) -> None:
        """Write down a command to search, if there is a file for it."""
        if "log" in self.faults:
            with Path(self.faults["log"]).open("a") as file:
                file.write(" ".join(words) + "\n")

    def info(self, board: str, move: str, depth: int, number: int) -> str:
        score = fake_score(board, move, depth)
        kind, value = ("mate", fake_mate(score)) if "mates" in self.faults else ("cp", score)
        told = f"{value}" if self.protocol == "ucci" and kind == "cp" else f"{kind} {value}"
        if "illegal" in self.faults and number == 2:
            move = "a1a1"
        move = shift_ranks(move, self.shift)
        return (
            f"info depth {depth} seldepth {depth} multipv {number} score {told} "
            f"nodes {100 * depth + number} nps 1 time 1 pv {move}"
        )

    def noise(self, move: str, depth: int) -> None:
        if "bounds" in self.faults:
            self.say(
                f"info depth {depth} score cp 9000 lowerbound nodes 5 pv {move}",
                f"info depth {depth} multipv 1 score cp -9000 upperbound nodes 5 pv {move}",
            )
        if "garbage" in self.faults:
            self.say("", "info", "info depth", "info depth x score cp y pv z", "hello", "info string pv a9a9")
            self.say(f"info depth {depth} currmove {move} currmovenumber 1", "x" * 100_000, "info score cp")
            self.say(
                "info depth 0 score cp 77 pv " + move, f"info depth {depth} score cp {'9' * 5000} pv {move}"
            )
            sys.stdout.buffer.write(b"\xff\xfe info \x80\n")

    def wait_for_stop(self, best: str = "bestmove (none)") -> None:
        if "begun" in self.faults:
            Path(self.faults["begun"]).touch()
        for line in sys.stdin:
            if line.split() == ["stop"] and "deaf" not in self.faults:
                self.say(best)
                return
        sys.exit(0)


def main() -> None:
    game, protocol, *words = sys.argv[1:]
    faults = {name: value for name, _, value in (word.partition("=") for word in words)}
    if "once" in faults:
        try:
            Path(faults["once"]).touch(exist_ok=False)
        except FileExistsError:
            faults = {}
    with Path(faults.get("hold", os.devnull)).open("w"):
        FakeEngine(game, protocol, faults).run()


if __name__ == "__main__":
    main()
