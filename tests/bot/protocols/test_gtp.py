"""Our engine by GTP: every command, the clocks, passes, and one answer to each line."""

import os
import re
from collections.abc import Sequence
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from bot.protocols.gtp import Gtp, GtpClock
from engine.formats import transcripts
from tests.bot.protocols.driver import Driver, driver, said_to

PASSING = transcripts.parse("F5D6C6F6E6D7C5B5C7F4A4E7D8B7C8B6E8A5A8A7A6B8F7G8B4F8H8").moves
"""A recorded game, after which white has to pass."""
ALL = (
    *("protocol_version", "name", "version", "known_command", "list_commands", "quit", "boardsize"),
    *("clear_board", "komi", "play", "genmove", "reg_genmove", "undo", "time_settings", "time_left"),
    *("showboard", "final_score", "loadsgf"),
)


class Asking:
    """One command, one answer."""

    def __init__(self, gui: Driver) -> None:
        self._gui = gui

    def __call__(self, command: str) -> str:
        self._gui.tell(command)
        lines = [self._gui.hear()]
        while line := self._gui.hear():
            lines.append(line)
        return "\n".join(lines)

    def play(self, moves: Sequence[str]) -> None:
        for ply, move in enumerate(moves):
            assert self(f"play {'bw'[ply % 2]} {move}") == "= "


@pytest.mark.parametrize("player", ["standard", "strong"])
def test_the_end_of_input_ends_a_search(player: str) -> None:
    """And that of a command that still waits."""
    with Driver(Gtp, driver("othello", player, full_depth=60)) as gui:
        gui.tell("time_settings 999999 0 0", "name", "genmove b", "2 genmove w")
        assert [gui.hear() for _ in range(4)] == ["= ", "", "= Desdemona", ""]
        moves = gui.end()
    assert [bool(re.fullmatch(r"=2? [a-h][1-8]", line)) for line in moves] == [True, False, True, False]


def test_every_command(tmp_path: Path) -> None:
    with Driver(Gtp, driver("othello")) as gui:
        ask = Asking(gui)
        assert ask("protocol_version") == "= 2"
        assert ask("12 name") == "=12 Desdemona"
        assert re.match(r"= \d", ask("version"))
        assert set(ALL) <= set(ask("list_commands").removeprefix("= ").split())
        assert ask("known_command genmove") == "= true"
        assert ask("known_command fly") == "= false"
        assert ask("boardsize 8") == ask("clear_board") == ask("komi 6.5") == "= "
        assert ask("play BLACK F5") == "= "
        assert ask("showboard").splitlines()[1:] == [
            "  a b c d e f g h",
            "1 . . . . . . . .",
            "2 . . . . . . . .",
            "3 . . . . . . . .",
            "4 . . . O X . . .",
            "5 . . . X X X . .",
            "6 . . . . . . . .",
            "7 . . . . . . . .",
            "8 . . . . . . . .",
            "white to move",
        ]
        chosen = ask("reg_genmove w")
        assert re.fullmatch("= [a-h][1-8]", chosen)
        assert ask("genmove white") == chosen, "and this time it plays it"
        assert ask("play w a1").startswith("? illegal move")
        assert ask("undo") == ask("undo") == "= "
        assert ask("undo") == "? cannot undo"
        assert ask("time_settings 60 0 0") == ask("time_left b 12.5 0") == "= "
        assert ask("final_score") == "? cannot score: the game is not over"
        file = tmp_path / "a game.sgf"
        file.write_text("(;GM[2]PB[x];B[f5];W[aa];B[c3])")
        assert ask(f"loadsgf {file}") == "? cannot load file: illegal move"
        file.write_text("(;GM[2]PB[x];B[f5];W[df]\n;B[c3];W[d3])")  # both ways to write a square
        assert ask(f"loadsgf {file} 4") == "= "
        assert ask("play w d3") == "= "
        assert ask(f"loadsgf {file}") == "= "
        assert ask("play w c5").startswith("? illegal move: it is the other")
        assert ask(f"loadsgf {tmp_path / 'none'}") == "? cannot load file: No such file or directory"
        before = ask("showboard")
        os.mkfifo(tmp_path / "pipe")
        for endless in (tmp_path / "pipe", "/dev/zero"):
            assert ask(f"loadsgf {endless}") == "? cannot load file: not a regular file"
        file.write_bytes(b" " * ((1 << 20) + 1))
        assert ask(f"loadsgf {file}") == "? cannot load file: larger than 1 MiB"
        assert ask("showboard") == before
        gui.tell("quit")
        assert gui.end() == ["= ", ""]


@pytest.mark.parametrize(
    ("command", "answer"),
    [
        ("fly", "? unknown command"),
        ("7 fly", "?7 unknown command"),
        ("boardsize 19", "? unacceptable size"),
        ("boardsize x", "? syntax error: x is not a number"),
        ("boardsize", "? syntax error: boardsize needs an argument"),
        ("play", "? syntax error: play needs a colour and a square"),
        ("play red f5", "? invalid color red"),
        ("play b j5", "? invalid color or coordinate"),
        ("play b a1", "? illegal move"),
        ("play b pass", "? illegal move"),
        ("genmove", "? syntax error: genmove needs an argument"),
        ("genmove w", "? illegal move: it is the other colour's turn"),
        ("time_settings 1 2", "? syntax error: time_settings needs three numbers"),
        ("time_left b", "? syntax error: time_left needs a colour, a time and stones"),
        ("loadsgf", "? syntax error: loadsgf needs a file"),
        ("loadsgf /", "? cannot load file: not a regular file"),
        ("set_game Go", "? unsupported game"),
        ("  5\tname\x07 # a comment", "=5 Desdemona"),
    ],
)
def test_refusals(command: str, answer: str) -> None:
    assert said_to(Gtp, driver("othello"), f"# begin\n\n3\n{command}\n".encode()) == [answer, ""]


def test_passes() -> None:
    """Ours, told, and put in."""
    with Driver(Gtp, driver("othello")) as gui:
        ask = Asking(gui)
        ask.play(PASSING)
        assert ask("reg_genmove w") == "= pass"
        assert ask("genmove w") == "= pass"
        assert ask("undo") == "= "
        assert ask("play w PASS") == "= "
        assert ask("undo") == "= "
        assert re.fullmatch("= [a-h][1-8]", ask("genmove b")), "white's pass goes without saying"
        assert ask("undo") == ask("undo") == "= "
        assert ask("play b d3") == "= "
        assert ask("undo") == "= "
        assert ask("play w pass") == "= ", "said once more by who knows of it"


def test_a_whole_game() -> None:
    with Driver(Gtp, driver("othello", full_depth=2)) as gui:
        ask, colours = Asking(gui), "bw"
        for ply in range(120):
            if ask("final_score").startswith("="):
                break
            assert re.fullmatch("= ([a-h][1-8]|pass)", ask(f"genmove {colours[ply % 2]}"))
        assert re.fullmatch(r"= ([BW]\+\d+|0)", ask("final_score"))
        assert ask("genmove b") == "= pass"


@pytest.mark.parametrize(
    "commands",
    [
        ("time_settings 0 0 0",),
        ("time_settings 1 0 0", "time_left b 0 0"),
        ("time_settings 0 1 1",),
        ("time_settings 0 1 25", "time_left b 0.5 25"),
        ("time_settings 10 5 0",),
        ("time_left b -3 0",),
    ],
)
def test_clocks_of_all_kinds(commands: tuple[str, ...]) -> None:
    with Driver(Gtp, driver("othello")) as gui:
        ask = Asking(gui)
        for command in commands:
            assert ask(command) == "= "
        for colour in "bwbw":
            assert re.fullmatch("= [a-h][1-8]", ask(f"genmove {colour}"))


def test_what_the_clock_does() -> None:
    clock = GtpClock()
    clock.set(10, 5, 2)
    clock.spend(0, 4)
    assert clock.left == [(6, 0), (10, 0)]
    clock.spend(0, 7)
    assert clock.left[0] == (5, 2), "byo-yomi begins"
    clock.spend(0, 3)
    assert clock.left[0] == (2, 1)
    clock.spend(0, 1)
    assert clock.left[0] == (5, 2), "and again"
    clock.set(0, 5, 1)
    assert clock.left[1] == (5, 1)
    clock.set(10, 5, 0)
    assert clock.settings is None
    clock.set(0, 0, 0)
    assert clock.left[0] == (0, 0)


@settings(max_examples=30, deadline=None)
@given(
    st.lists(
        st.one_of(
            st.text(st.characters(exclude_characters="\r\n"), max_size=30),
            st.lists(st.sampled_from((*ALL, "b", "w", "f5", "pass", "8", "-1", "0.5", "x")), max_size=4).map(
                " ".join
            ),
        ),
        max_size=12,
    )
)
def test_one_answer_to_each_command(lines: list[str]) -> None:
    lines = [line for line in lines if "quit" not in line]
    said = said_to(
        Gtp, driver("othello", full_depth=2), "\n".join([*lines, "99 name"]).encode("utf-8", "replace")
    )
    assert said[-2:] == ["=99 Desdemona", ""]
    answers = "\n".join(said).split("\n\n")
    assert all(answer[:1] in "=?" for answer in answers)
