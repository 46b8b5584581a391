"""Files as people and programs leave them: what each game is, and what a damaged one costs."""

import time

import pytest
from hypothesis import given
from hypothesis import strategies as st

from engine.formats import files, pgn_splitter
from engine.formats.encodings import text_lines
from engine.formats.files import GameFormat
from engine.formats.pgn_splitter import NumberedText, PgnText, split
from engine.formats.record import BadGame
from tests.shared_data import shared_path

GAMES = """[Event "one"]
[White "A1"]
[Black "B1"]

1. e4 e5 {} 2. Nf3 Nc6 1-0

[Event "two"]
[White "A2"]
[Black "B2"]

1. d4 d5 0-1
"""


def shown(text: str | bytes) -> list[str]:
    """Each game as ``event white plies`` or ``bad: reason``, and each skipped text."""
    found: list[str] = []
    lines = text.split("\n") if isinstance(text, str) else text_lines([text])
    for game in files.read(lines, GameFormat.PGN, None, lambda text: found.append(f"skipped {text.line}")):
        if isinstance(game, BadGame):
            found.append(f"bad: {game}")
        else:
            found.append(f"{game.event} {game.players[0]} {len(game.moves)}")
    return found


BOTH = ["one A1 4", "two A2 2"]


@pytest.mark.parametrize(
    ("before", "after"),
    [
        ("{} 2.", "; smile :-{\n2."),
        ("{} 2.", "; 1-0\n2."),
        ("{} 2.", "\n% export {v2\n2."),
        ("{} 2.", "(1... c5 1-0\n) (1... c6 (1... d5) *\n) 2."),
        ("{} 2.", '{ text\n[Event "inner"]\nmore } 2.'),
        ("{} 2.", "{a\n\n\nb} 2."),
        ("{} 2.", "\n\n2."),
        ("{} 2.", "2. {\n[%csl Ge4] [Event } "),
        ("1. e4 e5 {} 2.", "1.e4$1 e5$6\n\n2."),
        ("1. e4 e5 {} 2.", "1. ♙e4 1…e5 2."),
        ("Nc6 1-0\n", "Nc6\n\n1-0"),
        ("Nc6 1-0\n", "Nc6"),
        ("Nc6 1-0\n", "Nc6 1–0"),  # noqa: RUF001
        ("Nc6 1-0\n", "Nc6 1-0 {White\nresigned}\n"),
        ("Nc6 1-0\n", "Nc6 1-0\n\n{White resigned}"),
        ("Nc6 1-0\n", "Nc6 1-0\n1-0"),
        ("Nc6 1-0\n\n", "Nc6 1-0"),
        ('[White "A1"]\n', '\n[White "A1"]\n\n'),
        ('\n[White "A1"]\n[Black "B1"]', ' [White "A1"][Black "B1"]'),
        ('[White "A1"]\n', '[White "A1"]\n[White-Team "x"]\n[ECO "B1"]\n[ECO "B1"]\n'),
        ('[White "A1"]', '[ White  "A1" ]'),
        ('[Event "one"]', '; a remark\n% another\n[Event "one"]'),
        ('[Event "one"]', '\ufeff[Event "one"]'),
        ('[Event "two"]', '\ufeff\x1a[Event "two"]'),
        ('[Event "two"]', '{the next game}\n\n[Event "two"]'),
        ("0-1\n", "0-1\n\x1a"),
        ("\n\n1. d4", " 1. d4"),
        ("\n\n1. d4", "\n1. d4"),
    ],
)
def test_valid_and_nearly_valid_files(before: str, after: str) -> None:
    assert before in GAMES
    text = GAMES.replace(before, after, 1)
    assert shown(text) == BOTH
    assert shown(text.replace("\n", "\r\n").encode()) == BOTH
    assert shown(text.replace("\n", "\r").encode("utf-16")) == BOTH


@pytest.mark.parametrize(
    ("before", "after", "found"),
    [
        ("{} 2.", "{ 2.", ["bad: line 1: the comment that begins in line 5 has no end", "two A2 2"]),
        ("{} 2.", "( 2.", ["skipped 5", "one A1 2", "two A2 2"]),
        ("0-1", "{", ["one A1 4", "bad: line 7: the comment that begins in line 11 has no end"]),
        ("Nc6 1-0\n\n", "N", ["bad: line 1: cut off in line 5, where another game begins", "two A2 2"]),
        (
            '"B1"]\n\n1. e4 e5 {} 2. Nf3 Nc6 1-0\n\n',
            '"B',
            ["bad: line 1: cut off in line 3, where another game begins", "two A2 2"],
        ),
        (
            '[Black "B1"]\n\n1. e4 e5 {} 2. Nf3 Nc6 1-0\n\n',
            "[Bl",
            ["bad: line 1: cut off in line 3, where another game begins", "two A2 2"],
        ),
        ("1. e4 e5 {} 2. Nf3 Nc6 1-0\n\n", "", ["one A1 0", "two A2 2"]),
        ("\n1. e4 e5 {} 2. Nf3 Nc6 1-0\n\n", "", ["one A1 0", "two A2 2"]),
        ("1. e4 e5 {} 2. Nf3 Nc6 1-0", "{ late }\n\n1-0", ["one A1 0", "two A2 2"]),
        ("Nc6 1-0", "Nc6 White wins 1-0", ["skipped 5", "skipped 5", *BOTH]),
        ("Nc6 1-0", "Nc6 1-0 White wins", ["skipped 5", "skipped 5", *BOTH]),
        ("Nc6 1-0", "Nc6 1-0\nWhite wins\non time", ["one A1 4", "skipped 6", "skipped 7", "two A2 2"]),
        ("{} 2.", "{twice {nested} end} 2.", ["skipped 5", *BOTH]),
        ('[White "A1"]', '[White "A1"]\n[Site "open]', ["skipped 3", *BOTH]),
        ('[White "A1"]', '[White "A1"]\n[Round 1]', ["skipped 3", *BOTH]),
        ('[White "A1"]', '[White "A1"]]', BOTH),
        (
            '[White "A1"]',
            "Some words\n[White 'x']\n[White \"A1\"]",
            ["skipped 3", "skipped 2", "skipped 2", *BOTH],
        ),
        ('[Event "two"]', '[Round 1]\n[Event "two"]', ["one A1 4", "skipped 7", "two A2 2"]),
        ('[Event "one"]', 'Games of 2021\n[Event "one"]', ["skipped 1", *BOTH]),
        ('[Event "one"]', 'ï»¿[Event "one"]', ["skipped 1", *BOTH]),
        ('[Event "one"]', '<Games>\n\n[Event "one"]', ["skipped 1", *BOTH]),
        ("0-1", "0-1 1. c4 *\n1. g3\n\n1. b3 d5", [*BOTH, "  1", "  1", "  2"]),
        ("0-1", "0-1\n2. c4", ["one A1 4", "two A2 3"]),
        ("0-1", "0-1\n\n2. c4", [*BOTH, "  1"]),
    ],
)
def test_what_damage_costs(before: str, after: str, found: list[str]) -> None:
    assert before in GAMES
    assert shown(GAMES.replace(before, after, 1)) == found


def test_what_one_game_says_is_not_said_of_the_next() -> None:
    tags = '[Event "one"]\n[WhiteElo "2596"]\n[TimeControl "60"]\n[FEN "8/8/8/8/8/8/8/K1k5 w - - 0 1"]\n'
    one, two, _ = split((tags + "\n" + GAMES).split("\n"))
    assert isinstance(one, PgnText)
    assert isinstance(two, PgnText)
    assert (len(one.tags), one.lines, one.line) == (4, [], 1)
    assert (list(two.tags), two.line) == (["Event", "White", "Black"], 6)


def test_a_repeated_tag_begins_a_game() -> None:
    """A tag of the seven, the header's first, or any after an empty line; others are written twice."""
    for text, games in [
        ('[White "a"]\n[White "b"]\n', 2),
        ('[ECO "A00"]\n[White "b"]\n[ECO "B00"]', 2),
        ('[White "b"]\n[ECO "A00"]\n\n[ECO "B00"]', 2),
        ('[White "b"]\n[ECO "A00"]\n[ECO "B00"]', 1),
        ('[White "a"] [White "b"]', 2),
    ]:
        assert len(list(split(text.split("\n")))) == games, text


def test_a_game_that_is_too_long_ends_with_the_next_tags(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(pgn_splitter, "MAX_GAME_TEXT_LENGTH", 200)
    for long in ("( Nf3\n", "{\n", "Nf3 Nf6\n", '[X "1"]\n', '[X "\n'):
        text = GAMES.replace("\n1. e4", f"{long * 200}1. e4", 1)
        assert shown(text) == ["bad: line 1: more than 200 characters, and no game ends", "two A2 2"]


@given(
    st.lists(st.sampled_from(["\n", "{", "}", ";", "(", ")", "1-0", " ", "1.", "e4", '[A "b"]', '[B "', "x"]))
)
def test_nothing_is_lost(parts: list[str]) -> None:
    """Each word is in a game's movetext or tags, in a comment or escape, or is reported as skipped."""
    text = "".join(parts)
    kept = 0
    for part in split(text.split("\n")):
        if isinstance(part, NumberedText):
            kept += part.text.count("x")
        else:
            kept += part.movetext.count("x") + sum(each.text.count("x") for each in part.skipped)
            if part.skipped and part.skipped[-1].text.startswith("("):  # also in the movetext
                kept -= part.skipped[-1].text.count("x")
    after_semicolons = sum(line.count("x") for line in text.split("\n") if ";" in line)
    assert text.count("x") - after_semicolons <= kept <= text.count("x")


@pytest.mark.parametrize(
    ("name", "found"),
    [
        (
            "01",
            [
                "bad: line 1: the comment that begins in line 6 has no end",
                "two A2 4",
                "three A3 3",
                "four A4 2",
            ],
        ),
        ("02_", ["one A1 4", "two A2 4"]),
        ("02b", ["g1 A1 8", "g2 A2 4"]),
        ("02c", ["g1 A1 6", "g2 A2 4", "g3 A3 2"]),
        ("03", ["one A1 4", "two A2 4"]),
        ("04", ["one A1 4", "two A2 4"]),
        ("05", ["one A1 0", "two A2 4"]),
        ("06_", ["one A1 6", "two A2 4"]),
        ("06b", ["g1 A1 4", "g2 A2 4"]),
        ("07", ["one A1 7"]),
        ("08", ["960 friendly A1 10"]),
        ("09", ["960 friendly A1 10"]),
        ("11", ["one A1 4", "two A2 4"]),
        ("12", ["one A1 4", "two A2 4"]),
        ("13", ["one A1 4", "two A2 4"]),
        ("14", ["one A1 4", "two A2 4", "one C1 4", "two C2 4"]),
        ("15", ["one A1 6", "two A2 4", "three A2 4", "four A2 5", "five A2 4"]),
        ("16", ["one A1 6", "two A2 2", "three A3 2"]),
        ("18", ["g1 A1 4", "g2 A2 2"]),
        ("19", ["skipped 6", "g1 A1 5", "g2 A2 2"]),
        ("20", ["skipped 6", "g1 A1 2", "g2 A2 4"]),
        ("21", ["g1 A1 4", "g2 A2 2"]),
        ("23", ["skipped 7", 'A "quoted" \\ name A [x] 2']),
        ("26", ["x a 2"]),
        ("28", ["one A1 0", "two A2 2"]),
        (
            "29",
            [
                "Batch 1 A1 2",
                "bad: line 8: cut off in line 11, where another game begins",
                "Batch 2 A3 2",
                "Batch 2 A4 2",
            ],
        ),
        ("30", ["bad: line 1: cut off in line 6, where another game begins", "two A2 2", "three A3 2"]),
        ("31", ["Rated Classical game A1 6"]),
        ("38", ["Rated Blitz game A1 7", "Rated Blitz game A1 7"]),
        ("39", ["x A1 4"]),
    ],
)
def test_files_that_users_reported(name: str, found: list[str]) -> None:
    (path,) = shared_path("inputs/pgn").glob(f"{name}*.pgn")
    assert shown(path.read_bytes()) == found


def test_an_open_comment_before_the_first_game_is_named() -> None:
    lost = "bad: line 1: the comment that begins in line 1 has no end"
    assert shown("{ intro\n" + GAMES.replace("{} ", "")) == [lost, "two A2 2"]


@pytest.mark.parametrize("part", ["{", "1. e4 1-0 ", "1. e4 \0"], ids=["comments", "games", "unknown words"])
def test_long_lines_take_time_in_proportion(part: str) -> None:
    def seconds(parts: int) -> float:
        began = time.process_time()
        shown(f'[Event "one"]\n\n{part * parts}\n')
        return time.process_time() - began

    few = 5_000
    assert seconds(8 * few) < 20 * seconds(few) + 0.5
