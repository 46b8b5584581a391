import codecs

import pytest
from hypothesis import given
from hypothesis import strategies as st

from engine.formats import encodings
from engine.formats.encodings import decode, text_lines
from engine.formats.record import BadGame


def test_texts_of_every_age() -> None:
    assert decode("\ufeffé".encode()) == decode("é".encode("latin-1")) == "é"
    assert decode("é\n".encode() + "ä".encode("latin-1")) == "é\nä"


SIMPLIFIED = "1999年全国象棋个人锦标赛 吕钦 许银川 1. 炮二平五 马8进7"
TRADITIONAL = "1999年全國象棋個人錦標賽 呂欽 許銀川 1. 炮二平五 馬８進７"


@pytest.mark.parametrize(
    ("text", "encoding"),
    [
        (SIMPLIFIED, "gb18030"),
        (TRADITIONAL, "gb18030"),
        (TRADITIONAL, "cp950"),
        ('[White "甲"]\n[Black "王嘉良"]', "gb18030"),
        ('[White "胡榮華"]\n[Black "楊官璘"]', "cp950"),
        ("José Raúl Capablanca, Éric, Åke, Ângela, Müller, Bogoljubów", "latin-1"),
        ("ÄÖÜ", "latin-1"),
    ],
)
def test_which_encoding_it_is(text: str, encoding: str) -> None:
    assert decode(text.encode(encoding)) == text
    # Once decided, it holds for the rest of the file, and for the lines before that are ASCII.
    blocks = [b'[Event "?"]\n', f"{text}\n".encode(encoding), "é 卒".encode(encoding, "replace")]
    assert "".join(text_lines(blocks)).endswith("é 卒".encode(encoding, "replace").decode(encoding))


@pytest.mark.parametrize(
    ("text", "encoding"), [("Каспаров", "cp1251"), ("Крамник", "cp1251"), ("Łuków", "cp1250")]
)
def test_other_alphabets_are_no_chinese(text: str, encoding: str) -> None:
    assert decode(text.encode(encoding)) == text.encode(encoding).decode("latin-1")


def test_marks_within_a_file_are_none_of_its_text() -> None:
    """Files are often joined as they are."""
    assert list(text_lines(["\ufeffa\n\ufeff\ufeffb".encode()])) == ["a\n", "b"]


@pytest.mark.parametrize("end", ["\n", "\r\n", "\r"])
@pytest.mark.parametrize("encoding", ["utf-8", "utf-16", "utf-16-le", "utf-16-be", "utf-8-sig", "latin-1"])
def test_lines_are_cut_alike_wherever_the_blocks_end(end: str, encoding: str) -> None:
    lines = ['[White "é"]', "", "1. e4 e5", "2. Nf3\x85 \x0b1-0"]
    data = end.join(lines).encode(encoding)
    for size in (1, 2, 3, 7, len(data)):
        blocks = [data[:4], *(data[at : at + size] for at in range(4, len(data), size))]
        assert list(text_lines(blocks)) == [*(f"{line}\n" for line in lines[:-1]), lines[-1]]


def test_nothing_is_no_line() -> None:
    assert list(text_lines([])) == list(text_lines([b""])) == []
    assert list(text_lines([b"\r"])) == ["\n"]


def test_half_a_sign_is_told_apart() -> None:
    assert decode(codecs.BOM_UTF16_LE + "ab".encode("utf-16-le")[:3]) == "a\ufffd"


def test_binary_data_are_no_utf16() -> None:
    assert "\0" in decode(b"\x7fELF\0\0\0")
    assert "\0" in decode(bytes(100))


def test_a_line_without_an_end(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(encodings, "MAX_GAME_TEXT_LENGTH", 10)
    assert list(text_lines([b"a" * 10])) == ["a" * 10]
    lines = text_lines([b"b\n", b"a" * 6, b"a" * 5])
    assert next(lines) == "b\n"
    with pytest.raises(BadGame, match="more than 10 bytes without a line break"):
        next(lines)


@given(st.lists(st.binary(max_size=9)))
def test_no_bytes_raise_an_error(blocks: list[bytes]) -> None:
    assert "".join(text_lines(blocks)).count("\r") == 0
