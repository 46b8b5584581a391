"""Decides the encoding of a text file and turns its bytes into lines.  No I/O."""

import codecs
from collections.abc import Iterable, Iterator
from itertools import chain

from engine.formats.record import MAX_GAME_TEXT_LENGTH, BadGame

_UTF16_BOMS = {codecs.BOM_UTF16_LE: "utf-16-le", codecs.BOM_UTF16_BE: "utf-16-be"}
_SAMPLE_BYTES = 4096
_BOM = "\ufeff"


def text_lines(blocks: Iterable[bytes]) -> Iterator[str]:
    """Yield a file's lines as text; each ends with ``\\n``, except perhaps the last.

    A line ends with LF, CR or both; byte order marks at its beginning are removed.  UTF-16 is recognised at
    the beginning of the file.  Otherwise a line is UTF-8 if it can be; all other lines are in the encoding
    that `legacy_encoding` finds.

    Args:
        blocks: The file's bytes, cut anywhere.

    Raises:
        BadGame: A line is longer than `MAX_GAME_TEXT_LENGTH`.
    """
    blocks = iter(blocks)
    first = next(blocks, b"")
    blocks = chain([first], blocks)
    if (utf16 := _utf16(first)) is not None:
        blocks = (text.encode() for text in codecs.iterdecode(blocks, utf16, "replace"))
    rest, legacy = b"", ""
    for block in chain(blocks, [None]):
        data = rest + (block or b"")
        if block is not None:
            # The CR at the end may be half of a line end.
            cut = max(data.rfind(b"\n"), data.rfind(b"\r", 0, -1)) + 1
            data, rest = data[:cut], data[cut:]
        lines = data.replace(b"\r\n", b"\n").replace(b"\r", b"\n").split(b"\n")
        try:
            texts = b"\n".join(lines).decode().split("\n")
        except UnicodeDecodeError:
            legacy = legacy or legacy_encoding(b"\n".join(line for line in lines if not _is_utf8(line)))
            texts = [line.decode() if _is_utf8(line) else line.decode(legacy, "replace") for line in lines]
        yield from (f"{text.lstrip(_BOM)}\n" for text in texts[:-1])
        if texts[-1]:
            yield texts[-1].lstrip(_BOM)
        if len(rest) > MAX_GAME_TEXT_LENGTH:
            raise BadGame(f"more than {MAX_GAME_TEXT_LENGTH} bytes without a line break")


def legacy_encoding(sample: bytes) -> str:
    """The encoding of lines that are not UTF-8: Python's name of a codec in which ASCII stands for itself.

    Args:
        sample: Lines of a file that are not UTF-8; each holds a byte above 127.
    """
    del sample
    return "latin-1"


def decode(data: bytes) -> str:
    """Decode a text of unknown encoding; see `text_lines`.

    Raises:
        BadGame: A line is longer than `MAX_GAME_TEXT_LENGTH`.
    """
    return "".join(text_lines([data]))


def _utf16(head: bytes) -> str | None:
    """The kind of UTF-16 in which a file begins; None if it begins in another encoding."""
    if head[:2] in _UTF16_BOMS:
        return _UTF16_BOMS[head[:2]]
    sample = head[:_SAMPLE_BYTES]
    for zeros, encoding in ((sample[1::2].count(0), "utf-16-le"), (sample[::2].count(0), "utf-16-be")):
        # Without a mark: half of the bytes of tags and moves are zero, whatever the names between them.
        if zeros == sample.count(0) and zeros * 4 > len(sample):
            return encoding
    return None


def _is_utf8(line: bytes) -> bool:
    try:
        line.decode()
    except UnicodeDecodeError:
        return False
    return True
