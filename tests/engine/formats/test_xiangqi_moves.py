"""Records of xiangqi as their users have them: in four notations, from either rank, in three encodings."""

import unicodedata

import pytest

from engine.formats import files
from engine.formats.encodings import text_lines
from engine.formats.files import GameFormat
from engine.formats.record import BadGame, GameRecord, start_position, steps
from engine.formats.xiangqi_moves import moves_of_words
from engine.game import replay
from engine.games.xiangqi import Xiangqi
from tests.shared_data import shared_path

game = Xiangqi()
MOVES = ("h3e3", "h10g8", "h1g3", "i10h10")
SHORT = """[Game "Chinese Chess"]
[Event "全國個人賽"]
[Red "呂欽"]
[Black "許銀川"]
[Result "1/2-1/2"]

1. 炮二平五 馬８進７ {象 1-0}
2. 馬二進三 車９平８
1/2-1/2
"""
ONE_FOR_ALL = str.maketrans("马傌车俥进后帅将砲包", "馬馬車車進後帥將炮炮")


def read(data: bytes) -> list[GameRecord | BadGame]:
    return list(files.read(text_lines([data]), GameFormat.PGN))


def read_one(data: bytes) -> GameRecord:
    (record,) = read(data)
    assert isinstance(record, GameRecord), record
    return record


@pytest.mark.parametrize(
    "words",
    [
        "炮二平五 馬8進7 馬二進三 車9平8",
        "炮二平五 马８进７ 马二进三 车９平８",
        "C2=5 H8+7 H2+3 R9=8",
        "c2.5 n8+7 n2+3 r9.8",
        "H2-E2 H9-G7 H0-G2 I9-H9",
        "h2e2 h9g7 h0g2 i9h9",
        "H3E3 H10G8 H1G3 I10H10",
        "Che2 Hg7 Hg2 Rh9",
        "Che3 Ng8 Nhg3 Rih10",
        "Ch2-e2 Hh9-g7 Hh0-g2 Ri9-h9",
    ],
)
def test_one_game_in_many_notations(words: str) -> None:
    assert moves_of_words(game.initial(), words.split()) == MOVES


def test_the_first_word_that_cannot_be_read_is_named() -> None:
    with pytest.raises(BadGame, match="move 3: '馬二進四' is not a legal move"):
        moves_of_words(game.initial(), ["炮二平五", "馬8進7", "馬二進四"])
    with pytest.raises(BadGame, match="move 3: 'h9g7' is not a legal move"):
        moves_of_words(game.initial(), ["h2e2", "h9g7", "h9g7"])  # so ranks count from 0
    assert moves_of_words(game.initial(), []) == ()


def test_a_game_goes_on_after_a_third_occurrence() -> None:
    there_and_back = ["車一進一", "車9進1", "車一退一", "車9退1"]
    words = [*there_and_back * 2, "炮二平五"]
    assert moves_of_words(game.initial(), words)[-1] == "h3e3"


@pytest.mark.parametrize("encoding", ["utf-8", "cp950", "gb18030", "utf-16"])
def test_names_and_moves_in_every_encoding(encoding: str) -> None:
    record = read_one(SHORT.encode(encoding))
    assert (record.game, record.players, record.event) == ("xiangqi", ("呂欽", "許銀川"), "全國個人賽")
    assert (record.moves, record.points) == (MOVES, 0.5)


def test_red_may_be_called_white() -> None:
    text = SHORT.replace("[Red ", '[WhiteElo "2100"]\n[White ')
    record = read_one(text.encode())
    assert (record.players, record.ratings, record.tags) == (("呂欽", "許銀川"), (2100, None), ())


def test_a_start_by_other_letters() -> None:
    fen = "rheakaehr/9/1c5c1/p1p1p1p1p/9/9/P1P1P1P1P/1C5C1/9/RHEAKAEHR r"
    assert read_one(SHORT.replace("[Result", f'[FEN "{fen}"]\n[Result').encode()).start is None


def in_one_hand(word: str) -> str:
    """A move in traditional characters, with digits of one width."""
    return unicodedata.normalize("NFKC", word).translate(ONE_FOR_ALL)


@pytest.mark.parametrize("number", range(24))
def test_records_of_an_archive(number: int) -> None:
    """Each move, as we would write it, is what the file has."""
    data = shared_path(f"inputs/xiangqi-big5/{number:02}.pgn").read_bytes()
    text = data.decode("cp950")
    record = read_one(data)
    for player in record.players:
        assert f'"{player}"' in text
    written = [in_one_hand(game.move_name(position, move).chinese) for position, move in steps(record)]
    words = [in_one_hand(word) for line in text.splitlines() if line[:1] != "[" for word in line.split()]
    moves = [word for word in words if word[-2:-1] in ("進", "退", "平")]
    for ours, theirs in zip(written, moves, strict=True):
        # Of two pieces on a file, some writers leave it open which one moves, where only one can.
        assert ours == theirs or (ours[0] in "前後" and ours[1:2] + ours[2:] == theirs[:1] + theirs[2:])
    assert words[-1] == {1.0: "1-0", 0.0: "0-1", 0.5: "1/2-1/2", None: "*"}[record.points]


@pytest.mark.parametrize(
    ("name", "moves"),
    [
        ("32_xq_iccs", "h3e3 b10c8 h1g3 h10g8 i1h1 i10h10"),
        ("33_xq_fen_short_r", "h3e3 b10c8 h1g3 h10g8 i1h1 i10h10"),
        ("34_xq_winboard", "b3e3 h10g8 b1c3"),
        ("35_xq_chinese", "h3e3 h10g8 h1g3 i10h10"),
        ("36_xq_gb18030", "h3e3 h10g8 h1g3 i10h10"),
        ("37_xq_iccs_gbk_names", "h3e3 h10g8"),
    ],
)
def test_files_that_users_reported(name: str, moves: str) -> None:
    record = read_one(shared_path(f"inputs/pgn/{name}.pgn").read_bytes())
    assert (record.game, record.moves) == ("xiangqi", tuple(moves.split()))
    assert replay(game, record.moves, start_position(record)) == replay(game, moves.split())
    if name[:2] in ("35", "36", "37"):
        assert (record.players, record.event) == (("甲", "乙"), "杯")
