"""A program made up for the tests: plays by NBoard, GTP, UCI or UCCI, with as many faults as are asked for.

Run as a program: ``fake_external.py GAME PROTOCOL [FAULT ...]``.  It plays the first legal move and thinks it
worth 1.5.  Faults:

====================  ==================================================================================
``silent``            never answers the greeting
``dies``              ends at once, complaining
``crash=N``           ends when it is asked for the Nth move
``hang=N``            says nothing when it is asked for the Nth move, until it is told to stop
``thinks``            is told to stop before it plays its move (UCI and UCCI)
``deaf``              reads nothing more when it is asked for a move
``flood=N``           prints without end instead of the Nth move
``stubborn``          does not listen to its farewell
``illegal``           plays a1 (or a1a1), legal or not
``nonsense``          answers with something that is no move
``resigns``           gives up
``digits``            plays a move with a rank of 5000 digits
``noise``             prints nonsense before each answer, on both pipes, with a line of 100,000 signs
``refuses=COMMAND``   answers a GTP command with an error
``edax``              writes as Edax does: ``=== d6 -1.00 0.0``
``ranks=N``           counts xiangqi's ranks from N
``dawdles``           is told to stop before it answers the handshake's search
``shouts``            writes its moves in capitals
``tabs``              puts tabs where others put blanks
``child``             leaves all work to a child process
``once=FILE``         has its faults only until a process of it has made the file
``begun=FILE``        makes the file when it is asked for a move
``log=FILE``          writes down what it is told
``hold=FIFO``         keeps the pipe open for as long as it lives
====================  ==================================================================================
"""

import os
import subprocess
import sys
from pathlib import Path
from typing import Any

from engine.game import continued_position
from engine.games import get_rules
from engine.protocols.uci import shift_ranks

NAME = "Made-up 1.0"


class Player:
    """What all protocols share."""

    def __init__(self, game: str, protocol: str, faults: dict[str, str]) -> None:
        self.game: Any = get_rules(game)
        self.protocol = protocol
        self.faults = faults
        self.position: Any = self.game.initial()
        self.asked = 0

    def say(self, *lines: str) -> None:
        text = "".join(f"{line}\n" for line in lines)
        sys.stdout.write(text.replace(" ", " \t") if "tabs" in self.faults else text)
        sys.stdout.flush()

    def run(self) -> None:
        if "dies" in self.faults:
            sys.stderr.write("cannot find my weights\n")
            sys.exit(3)
        for line in sys.stdin:
            if "log" in self.faults:
                with Path(self.faults["log"]).open("a") as log:
                    log.write(line)
            words = line.split()
            if words and words[-1] == "quit":
                if "stubborn" in self.faults:
                    continue
                return
            if words and "silent" not in self.faults:
                self.obey(words)

    def obey(self, words: list[str]) -> None:
        raise NotImplementedError

    def is_due(self, fault: str) -> bool:
        return self.faults.get(fault) == str(self.asked)

    def move(self) -> str:
        """The first legal move, in the game's notation, or some fault."""
        self.asked += 1
        if "begun" in self.faults:
            Path(self.faults["begun"]).touch()
        if self.is_due("crash"):
            sys.stderr.write("out of luck\n")
            sys.exit(9)
        if self.is_due("hang") or "deaf" in self.faults:
            self.hang()
        while self.is_due("flood"):
            self.say("info string so much to tell", "search", "noise")
        if "noise" in self.faults:
            self.say("", "info", "search", "search xx yy", "hello", "x" * 100_000, "pong", "info score cp")
            sys.stdout.buffer.write(b"\xff\xfe info \x80\n")
            sys.stderr.write("y" * 200_000 + "\n")
        if "illegal" in self.faults:
            return "a1" if self.game.name == "othello" else "a1a1"
        if "nonsense" in self.faults:
            return "perhaps"
        if "digits" in self.faults:
            return f"h{'1' * 5000}e2"
        if "resigns" in self.faults:
            return "resign"
        position = continued_position(self.game, self.position)
        text: str = self.game.move_text(self.game.legal_moves(position)[0])
        return text

    def hang(self) -> None:
        while True:
            line = "" if "deaf" in self.faults else sys.stdin.readline()
            if "deaf" in self.faults:
                os.read(os.open(self.faults["hold"], os.O_RDONLY), 1)  # for ever
            if not line:
                sys.exit(0)
            if line.split()[:1] in (["stop"], ["ping"]):
                self.stopped(line.split())
                break

    def stopped(self, words: list[str]) -> None:
        raise NotImplementedError


class NBoard(Player):
    def obey(self, words: list[str]) -> None:
        match words[0]:
            case "nboard":
                self.say("---- Heights ----", "set myname Made-up")
            case "set" if words[1] == "game":
                # Only here: it takes as long as all the rest of the program's start.
                from engine.formats.ggf import parse, replay

                self.position = replay(parse(" ".join(words[2:])))
            case "ping":
                self.say(f"pong {words[1]}")
            case "go":
                self.go()

    def go(self) -> None:
        move = self.move()
        if self.is_due("hang"):
            return
        move = "PA" if move == "pass" else move.upper()
        self.say("status Thinking", f"search {move} +0.25 0 1", f"search {move} +1.50 0 8", "nodestats 9 0.1")
        self.say(
            f"=== {move.lower()} 1.50 0.1" if "edax" in self.faults else f"=== {move}/1.50/0.1", "status"
        )

    def stopped(self, words: list[str]) -> None:
        self.say(f"pong {words[1]}")


class Gtp(Player):
    commands = ("list_commands", "name", "version", "boardsize", "clear_board", "play", "genmove", "quit")
    times = ("time_settings", "time_left")

    def obey(self, words: list[str]) -> None:
        if self.faults.get("refuses") == words[0]:
            self.say("? I will not", "")
            return
        match words[0]:
            case "list_commands":
                self.say("noise", "= " + "\n".join([*self.commands, *self.times]), "")
            case "name":
                self.say("= Made-up", "")
            case "version":
                self.say("= 1.0", "")
            case "clear_board":
                self.position = self.game.initial()
                self.say("= ", "")
            case "play":
                self.play(words[2])
                self.say("= ", "")
            case "genmove":
                move = self.move()
                if move not in ("perhaps", "resign") and "illegal" not in self.faults:
                    self.play(move)
                self.say(f"= {move}", "")
            case _:
                self.say("= ", "")

    def play(self, move: str) -> None:
        self.position = self.game.play(self.position, self.game.parse_move(self.position, move))


class Uci(Player):
    has_game = False

    @property
    def shift(self) -> int:
        return int(self.faults.get("ranks", "0" if self.protocol == "ucci" else "1")) - 1

    def obey(self, words: list[str]) -> None:
        match words[0]:
            case "uci" | "ucci":
                name = "" if self.protocol == "ucci" else "name "
                options = ["Hash type spin default 16 min 1 max 64", "UCI_Chess960 type check default false"]
                self.say(f"id name {NAME}", *(f"option {name}{text}" for text in options))
                self.say(f"{words[0]}ok")
            case "isready":
                self.say("readyok")
            case "ucinewgame" | "uccinewgame":
                self.has_game = True
            case "go" if not self.has_game:  # the handshake asks how it counts ranks
                if "dawdles" in self.faults:
                    self.await_stop()
                self.say("bestmove " + shift_ranks("b1c3", self.shift))
            case "position":
                words = [shift_ranks(word, -self.shift) for word in words[2:]]
                self.position = self.game.parse_position(" ".join(words))
            case "go":
                self.go()

    def go(self) -> None:
        move = shift_ranks(self.move(), self.shift)
        if "shouts" in self.faults:
            move = move.upper()
        if self.is_due("hang"):
            return
        score = "150" if self.protocol == "ucci" else "cp 150"
        self.say(f"info depth 8 score {score} nodes 9 pv {move} z9z9")
        if "thinks" in self.faults:
            self.await_stop()
        if move == "resign":
            self.say("bestmove a1a1 resign")
        else:
            self.say(f"bestmove {move}")

    def await_stop(self) -> None:
        self.faults.pop("thinks", None)  # once
        for line in sys.stdin:
            if "log" in self.faults:
                with Path(self.faults["log"]).open("a") as log:
                    log.write(line)
            if line.strip() == "stop":
                return

    def stopped(self, words: list[str]) -> None:
        if words == ["stop"]:
            self.say("bestmove 0000")


def main() -> None:
    game, protocol, *words = sys.argv[1:]
    faults = {name: value for name, _, value in (word.partition("=") for word in words)}
    if "child" in faults:
        words.remove("child")
        subprocess.run([sys.executable, __file__, game, protocol, *words], check=False)
        return
    if "once" in faults:
        try:
            Path(faults["once"]).touch(exist_ok=False)
        except FileExistsError:
            faults = {}
    kind = {"nboard": NBoard, "gtp": Gtp}.get(protocol, Uci)
    with Path(faults.get("hold", os.devnull)).open("w"):
        kind(game, protocol, faults).run()


if __name__ == "__main__":
    main()
