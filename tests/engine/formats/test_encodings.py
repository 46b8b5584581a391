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
