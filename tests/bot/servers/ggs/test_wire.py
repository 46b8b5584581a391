"""The language of GGS: real dialogues, lines of its documentation, and nonsense."""

import json
import random
from collections.abc import Iterator
from contextlib import suppress
from dataclasses import replace
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from bot.base.errors import ProtocolError
from bot.servers.ggs.wire import (
    MAX_BLOCK_CHARACTERS,
    MAX_BLOCK_LINES,
    MAX_LINE_BYTES,
    NOTICES,
    AdjournedMatch,
    Alert,
    BlockSplitter,
    BoardEnded,
    BoardShown,
    CentralError,
    Flag,
    GameType,
    GgsClock,
    GgsGameError,
    GgsMessage,
    GgsPlayer,
    Joined,
    LineSplitter,
    LoginPrompt,
    MatchBegan,
    MatchEnded,
    MatchList,
    Moved,
    OtherMessage,
    PasswordPrompt,
    PlayerList,
    Presence,
    RatingsChanged,
    RawMessage,
    Reader,
    Ready,
    Request,
    Said,
    ServiceError,
    StoredList,
    StoredOpponent,
    TimedOut,
    UnknownBlock,
    clean_chat,
    command,
    parse_clock,
    parse_type,
    read,
    write_move,
)
from engine.formats.ggf import GgfMove
from tests.shared_data import SHARED_DATA, shared_path

TRANSCRIPTS = sorted((SHARED_DATA / "ggs-transcripts").glob("*.jsonl")) or [Path("01_login.jsonl")]

DIALOGUE = r"""

Generic Game Server (GGS)
located somewhere

Multiplexors on:
opal (129.128.4.58) @ 5000/1/2

: Enter login (yours, or one you'd like to use).
: ERR Login (2-8 chars) can not start with '.' or '_' chars and can not contain ',' or '\' chars.
: Enter login (yours, or one you'd like to use).
: Enter your password.
READY
: help news
GGS News ( also "help old.news" )

** To REGISTER: ask
/os: not a message
READY

: + /os 1
: + bob 1

/os: + bob stored
READY
: who    2        idle      online         ip-addr hostname
/os      +    00:00:05    00:00:05
alice    -    00:00:00    00:00:02 127.000.000.001  <=
READY
: ERR user '/os' not found.
READY

/os: +   .0 1720.0 alice    05:00//02:00        8 R 1720.0 bob
READY

/os: +  .10 1842.4 alice    05:00//02:00        8 U 1597.6 bob      03:00//02:00
READY

/os: +   .2 1720.0 alice    05:00//02:00        8 R *      *
READY

/os: -   .8 2016.0 alice    01:00//00:30       8b S 1424.0 bob      .4
READY

/os: + match .0 1720 alice 1720 bob 8 R
READY

/os: join .1 (;GM[Othello]PC[GGS/os]DT[2026.11.21_09:33:36.UTC]
|PB[bob]PW[alice]
|RB[2006.26]RW[1433.74]
|TI[03:00/00:05/01:00]
|TY[8w]RE[?]
|BO[8 -------- -------- -------- ---O*--- ---*O--- -------- -------- -------- *]
|B[f5/0.50/0.30]W[f6//0.20]
|;)
READY

/os: update .1 F5/1.45/0.04
READY

/os: update .3.0 pa//0.52
ALERT

/os: update .0 8 K?
|  1: E6/1.46
|alice    (1720.0 *) 04:59,1:0//02:00,0:0
|bob      (1720.0 O) 05:00,0:0//02:00,0:0
|
|   A B C D E F G H
| 5 - - - * O - - - 5
|
|O to move
READY

/os: rating_update .0
|alice    1720.00 @ 350.00  -286.26 -> 1433.74 @ 290.23
|bob      1720.00 @ 350.00  +286.26 -> 2006.26 @ 290.23
READY

/os: - match .0 1434 alice 2006 bob 8 R -10.00  .0
READY

/os: - match .1 1434 alice 2006 bob 8w U -2.00
READY

/os: - match .6 2016 alice 1424 bob 8 R aborted
READY

/os: - match .5 2016 alice 1424 bob 8b R alice left .4
READY

/os: - match .7 2016 alice 1424 bob 8 U alice left
READY

/os: end .14.0 ( alice vs. bob ) +64.00
READY

/os: timeout .12 alice (*)
READY

/os: fatal-timeout .12 alice (*)
READY

/os: trust-violation .2 alice (*) delta= 4 + 1.3 secs
READY

/os: abort .6 alice is asking
READY

/os: error .2 not your turn
READY

/os: ERR match '.77' not found.
READY

/os: decline ERR not found: .1
READY

/os: illegal board type
READY

/os: stored 1 alice
|.4       21 Nov 2026 09:36:07 alice    bob      8b:l
READY

/os: match 1/1
|  .9 2020 alice    1420 bob             8  R 1
READY

/os: who     4      change:    win    draw    loss         match(es)
|bob      + 2006.3@290.2 ->  +588.8  +268.3   -52.1 @275.1
READY

/os: .9 A 1720 carol: hello all
READY

.chat alice: hello room
READY

alice: line1
|line2
READY
"""

NAMES = ("alice", "bob")


def heard(data: bytes) -> list[GgsMessage]:
    return list(Reader().feed(data))


def told(text: str) -> list[GgsMessage]:
    """Messages of a text without its READYs."""
    return [message for message in heard(text.replace("\n", "\r\n").encode("latin-1")) if message != Ready()]


def test_every_kind_of_message() -> None:
    five, three = GgsClock(300, 0, 120), GgsClock(180, 0, 120)
    messages = told(DIALOGUE)
    joined = messages.pop(next(i for i, message in enumerate(messages) if isinstance(message, Joined)))
    assert isinstance(joined, Joined)
    assert joined.game is not None
    assert (joined.id, joined.game.black, joined.game.white) == (".1", "bob", "alice")
    assert joined.game.moves == (GgfMove("f5", 0.5, 0.3), GgfMove("f6", None, 0.2))
    login = "Login (2-8 chars) can not start with '.' or '_' chars and can not contain ',' or '\\' chars."
    notices = [each.word for each in messages if isinstance(each, OtherMessage) and each.word in NOTICES]
    assert notices == ["trust-violation", "abort"]
    assert [message for message in messages if not isinstance(message, OtherMessage)] == [
        LoginPrompt(),
        CentralError(login),
        LoginPrompt(),
        PasswordPrompt(),
        Presence("/os", True, 1),
        Presence("bob", True, 1),
        StoredOpponent("bob", True),
        CentralError("user '/os' not found."),
        Request(True, ".0", "alice", 1720, five, "8", Flag.RATED, "bob", 1720, five, ""),
        Request(True, ".10", "alice", 1842.4, five, "8", Flag.UNRATED, "bob", 1597.6, three, ""),
        Request(True, ".2", "alice", 1720, five, "8", Flag.RATED, None, None, five, ""),
        Request(
            *(False, ".8", "alice", 2016, GgsClock(60, 0, 30), "8b", Flag.STORED, "bob", 1424),
            *(GgsClock(60, 0, 30), ".4"),
        ),
        MatchBegan(".0", NAMES, "8", Flag.RATED),
        Moved(".1", GgfMove("f5", 1.45, 0.04)),
        Moved(".3.0", GgfMove("pass", None, 0.52)),
        Alert(),
        BoardShown(".0"),
        RatingsChanged(".0", (("alice", -286.26, 1433.74), ("bob", 286.26, 2006.26))),
        MatchEnded(".0", NAMES, "8", Flag.RATED, -10, "", ".0"),
        MatchEnded(".1", NAMES, "8w", Flag.UNRATED, -2),
        MatchEnded(".6", NAMES, "8", Flag.RATED, None),
        MatchEnded(".5", NAMES, "8b", Flag.RATED, None, "alice", ".4"),
        MatchEnded(".7", NAMES, "8", Flag.UNRATED, None, "alice"),
        BoardEnded(".14.0", NAMES, 64),
        TimedOut(".12", "alice", False),
        TimedOut(".12", "alice", True),
        GgsGameError(".2", "not your turn"),
        ServiceError("match '.77' not found."),
        ServiceError("decline ERR not found: .1"),
        ServiceError("illegal board type"),
        StoredList("alice", (AdjournedMatch(".4", NAMES, "8b"),)),
        MatchList((MatchBegan(".9", NAMES, "8", Flag.RATED),)),
        PlayerList((GgsPlayer("bob", True, 2006.3, 290.2),)),
        Said("carol", "hello all", id=".9", to="A"),
        Said("alice", "hello room", ".chat"),
        Said("alice", "line1 line2"),
    ]


def test_which_errors_matter() -> None:
    assert CentralError("Password is incorrect.").is_login
    assert CentralError("Login (2-8 chars) can not start with").is_login
    assert not CentralError("command 'foo' not recognized.").is_login
    assert CentralError("user '/os' not found.").is_service_away
    assert ServiceError("match '.3.0' not found.").match_id == ".3.0"
    assert ServiceError("request '.3' not found.").match_id == ""


def test_packets_may_begin_and_end_anywhere() -> None:
    data = DIALOGUE.replace("\n", "\r\n").encode("latin-1")
    whole, rng = heard(data), random.Random(1)
    for size in (1, 2, 7, 100):
        reader, at, messages = Reader(), 0, list[GgsMessage]()
        while at < len(data):
            end = at + rng.randint(1, size)
            messages += reader.feed(data[at:end])
            at = end
        assert messages == whole


@pytest.mark.parametrize("path", TRANSCRIPTS, ids=lambda path: path.stem)
def test_real_dialogues_hold_nothing_unknown(path: Path) -> None:
    for _, messages in dialogue(shared_path(f"ggs-transcripts/{path.name}")):
        assert [message for message in messages if isinstance(message, UnknownBlock)] == []
        assert all(message.game is not None for message in messages if isinstance(message, Joined))


def dialogue(path: Path) -> Iterator[tuple[str, list[GgsMessage]]]:
    """What each of those in a recording heard."""
    said: dict[str, bytes] = {}
    for line in path.read_text().splitlines()[1:]:
        entry = json.loads(line)
        if entry["dir"] == "<":
            said[entry["who"]] = said.get(entry["who"], b"") + entry["raw"].encode("latin-1")
    for who, data in said.items():
        yield who, heard(data)


# --- Nonsense -------------------------------------------------------------------------------------------

LINES = DIALOGUE.splitlines()
PIECES = st.sampled_from(
    [*LINES, "", "READY", "ALERT", "|", ": ", "/os: ", "/os: + ", "\xff\x00", "(;", "[", "]"]
)


@given(st.lists(st.one_of(PIECES, st.text(max_size=40)), max_size=30), st.randoms(use_true_random=False))
def test_nonsense_is_only_not_understood(lines: list[str], rng: random.Random) -> None:
    data = bytearray("\n".join(lines).encode("latin-1", "replace") + b"\nREADY\n")
    for _ in range(rng.randint(0, 5)):
        data[rng.randrange(len(data))] = rng.randrange(256)
    heard(bytes(data))


@given(st.binary(max_size=400))
def test_noise_is_only_not_understood(data: bytes) -> None:
    heard(b"\n/os: " + data + b"\nREADY\n")


@given(st.sampled_from([block for block in DIALOGUE.split("\n\n") if block.startswith("/os: ")]), st.data())
def test_a_changed_block_raises_nothing_but_its_own_error(text: str, data: st.DataObject) -> None:
    words = text.removeprefix("/os: ").removesuffix("READY").split(" ")
    at = data.draw(st.integers(0, len(words) - 1))
    words[at] = data.draw(
        st.one_of(st.text(max_size=12), st.sampled_from(["", ".", "-", "9" * 30, "(;)", "*"]))
    )
    lines = " ".join(words).split("\n")
    with suppress(ProtocolError):
        read(RawMessage("/os", tuple(lines)))


def test_what_cannot_be_printed_does_not_get_in() -> None:
    [said, _] = heard(b"\na\x1b[2Jb: \x1b]0;gotcha\x07\thello \xe9\r\nREADY\r\n")
    assert said == Said("a\ufffd[2Jb", "\ufffd]0;gotcha\ufffd hello \xe9")


def test_a_line_that_never_ends() -> None:
    lines = LineSplitter()
    assert [line for _ in range(5) for line in lines.feed(b"x" * MAX_LINE_BYTES)] == []
    assert len(lines._rest) <= MAX_LINE_BYTES
    assert list(lines.feed(b"y\nnext\n")) == ["x" * MAX_LINE_BYTES, "next"]


def test_nothing_grows_without_bound() -> None:
    reader = Reader()
    assert list(reader.feed(b"\nalice: " + b"x" * 10 * MAX_LINE_BYTES)) == []
    [said, _] = reader.feed(b"\nREADY\n")
    assert isinstance(said, Said)
    assert len(said.text) <= MAX_LINE_BYTES
    assert list(reader.feed(b"\nalice: long\n" + b"|x\n" * 3 * MAX_BLOCK_LINES)) == []
    [said, _] = reader.feed(b"READY\n")
    assert isinstance(said, Said)
    assert len(said.text) <= 2 * MAX_BLOCK_LINES + 4
    list(reader.feed(b"\nalice: wide\n" + (b"|" + b"x" * 1000 + b"\n") * MAX_BLOCK_LINES))
    [said, _] = reader.feed(b"READY\n")
    assert isinstance(said, Said)
    assert len(said.text) <= MAX_BLOCK_CHARACTERS + 1000
    list(reader.feed(b": help faq\n" + b"x\n" * 3 * MAX_BLOCK_LINES))
    assert list(reader.feed(b"READY\n\n/os: update .0 f5\nREADY\n"))[-2:] == [
        Moved(".0", GgfMove("f5")),
        Ready(),
    ]


def test_a_block_may_have_just_so_many_characters() -> None:
    blocks = BlockSplitter()
    lines = ["alice: ", *(["|" + "x" * (MAX_BLOCK_CHARACTERS // 2)] * 2), "|y", ""]
    [block] = [block for line in lines for block in blocks.feed(line)]
    assert isinstance(block, RawMessage)
    assert [len(line) for line in block.lines] == [0, MAX_BLOCK_CHARACTERS // 2, MAX_BLOCK_CHARACTERS // 2]


def test_a_block_may_have_just_so_many_lines() -> None:
    blocks = BlockSplitter()
    lines = ["alice: ", *(["|x"] * MAX_BLOCK_LINES), ""]
    [block] = [block for line in lines for block in blocks.feed(line)]
    assert isinstance(block, RawMessage)
    assert len(block.lines) == MAX_BLOCK_LINES


def test_a_text_of_help_ends_at_its_limit() -> None:
    """Up to there empty lines are part of it."""
    blocks = BlockSplitter()
    told = [": help faq", *([""] * (MAX_BLOCK_LINES - 1))]
    assert [block for line in told for block in blocks.feed(line)] == []
    [block] = blocks.feed("")
    assert isinstance(block, RawMessage)
    assert len(block.lines) == MAX_BLOCK_LINES


# --- Clocks, types, what we say ------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("text", "clock"),
    [
        ("05:00//02:00", GgsClock(300, 0, 120)),
        ("03:00/00:05/01:00", GgsClock(180, 5, 60)),
        ("05:00/12/00:30", GgsClock(300, 720, 30)),
        ("90", GgsClock(5400, 0, 120)),
        ("", GgsClock(900, 0, 120)),
        ("05:00//0", GgsClock(300, 0, 0)),
        ("04:59,0:0//02:00,0:0", GgsClock(299, 0, 120, is_plain=False)),
        ("05:00,20/01:00,20/02:00", GgsClock(300, 60, 120, is_plain=False)),
    ],
)
def test_clocks(text: str, clock: GgsClock) -> None:
    assert parse_clock(text) == clock


@pytest.mark.parametrize("text", ["x", "1:2:3:4", "05:00/////", "05:00,x", ":"])
def test_what_is_no_clock(text: str) -> None:
    with pytest.raises(ProtocolError):
        parse_clock(text)


@pytest.mark.parametrize(
    ("text", "type_", "is_acceptable", "boards"),
    [
        ("8", GameType(8), True, 1),
        ("8b", GameType(8, colour="b"), True, 1),
        ("s8", GameType(8, is_synchro=True), True, 2),
        ("s8r18", GameType(8, is_synchro=True, discs=18), True, 2),
        ("8kr18", GameType(8, is_komi=True, discs=18), False, 1),
        ("8a", GameType(8, is_anti=True), False, 1),
        ("10", GameType(10), False, 1),
        ("88", GameType(88), False, 1),
    ],
)
def test_types(text: str, type_: GameType, is_acceptable: bool, boards: int) -> None:
    assert parse_type(text) == type_
    assert (type_.is_acceptable, type_.boards) == (is_acceptable, boards)


def test_what_we_say_is_one_line() -> None:
    assert command("tell bob a\r\nquit") == b"tell bob a  quit\r\n"
    assert command("gr\u00fc\u00df \u2603") == b"gr\xfc\xdf ?\r\n"
    assert clean_chat("a\\b\nc ") == "a/b c"
    assert len(clean_chat("x" * 5000)) <= 400


def test_moves_are_written_with_what_we_think() -> None:
    assert write_move("f5", 1.45, 0.0391283) == "F5/1.45/0.04"
    assert write_move("pass", None, None) == "PA"
    assert write_move("f5", None, 0.04) == "F5//0.04"
    assert write_move("f5", 5000.0, 1e9) == "F5/999.00/99999.00"
    assert write_move("f5", -5000.0, -1.0) == "F5/-999.00/0.00"


def messages(told: str) -> list[GgsMessage]:
    return list(Reader().feed(f"\r\n/os: {told}\r\nREADY\r\n".encode()))


def test_rows_with_nothing_behind_what_counts() -> None:
    matches = messages("match 1/1\r\n|  .1 1720 bob 1800 desdemon 8 R")[0]
    assert matches == MatchList((MatchBegan(".1", ("bob", "desdemon"), "8", Flag.RATED),))
    began = messages("+ match .1 1720 bob 1800 desdemon 8 R")[0]
    assert began == MatchBegan(".1", ("bob", "desdemon"), "8", Flag.RATED)
    stored = messages("stored 1 desdemon\r\n|.4 21 Nov 2026 09:36:07 bob desdemon 8")[0]
    assert stored == StoredList("desdemon", (AdjournedMatch(".4", ("bob", "desdemon"), "8"),))


def test_a_game_without_an_id() -> None:
    for told in ("join x (;GM[Othello]", "update x f5", "error x what"):
        [unknown, _] = messages(told)
        assert unknown == UnknownBlock("/os", (told,))


@pytest.mark.parametrize(
    "told",
    [
        "illegal board type 11",
        "random games must be komi or synchro",
        "no preferred color in komi or rand games",
        "synchro+komi not supported",
    ],
)
def test_errors_without_a_word_in_front(told: str) -> None:
    assert messages(told)[0] == ServiceError(told)


def test_a_move_that_is_none() -> None:
    assert messages("update .1 z9")[0] == UnknownBlock("/os", ("update .1 z9",))


def test_a_result_is_told_from_the_view_of_each() -> None:
    ended = BoardEnded(".1.0", ("alice", "bob"), 6.0)
    assert (ended.result_of("alice"), ended.result_of("bob")) == (6.0, -6.0)
    assert replace(ended, result=None).result_of("bob") is None


@pytest.mark.parametrize(
    "word",
    [
        *("+ack:", "alias", "bell", "chann", "email", "finger", "group", "hear", "history", "ignore"),
        *("info", "name", "notify", "passw", "quit", "repeat", "sleep", "var", "verbose", "vt100", "who"),
    ],
)
def test_answers_of_the_central_server_are_known(word: str) -> None:
    assert heard(f"\n: {word} 1\n\nREADY\n".encode())[0] == OtherMessage("", word, (f"{word} 1",))


def test_the_central_server_says_something_else() -> None:
    assert heard(b"\n: what is this\n\n") == [UnknownBlock("", ("what is this",))]


def test_a_row_that_cannot_be_read_does_not_cost_the_others() -> None:
    told = "match 2/2\r\n|  .1 1720 bob    1800 desdemon             8  R 1\r\n|  what is this"
    matches = messages(told)[0]
    assert isinstance(matches, MatchList)
    assert ([match.id for match in matches.matches], matches.is_whole) == ([".1"], False)
    told = "stored 2 desdemon\r\n|?\r\n|.4       21 Nov 2026 09:36:07 bob    desdemon      8:l"
    stored = messages(told)[0]
    assert isinstance(stored, StoredList)
    assert ([game.id for game in stored.games], stored.is_whole) == ([".4"], False)


@pytest.mark.parametrize(
    "text", ["group _td      1 : root", "tdtype 7 8k 64 -", "tdstart 7 .1", "tdtype 7 s8r18\r\n|more"]
)
def test_what_a_tournament_director_hears_is_known(text: str) -> None:
    (message,) = (each for each in Reader().feed(f"\r\n/os: {text}\r\nREADY\r\n".encode()) if each != Ready())
    assert isinstance(message, OtherMessage)
    assert message.word == text.split()[0]
