"""Reads game files from disk or standard input: text in any format, WTHOR databases with the names beside
them, and both in compressed files and ZIP archives.
"""

import bz2
import gzip
import io
import sys
import zipfile
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass
from functools import partial
from itertools import chain
from pathlib import Path
from typing import IO, TYPE_CHECKING, Protocol

from bot.base.files import open_regular, read_regular
from engine.formats import files, wthor
from engine.formats.encodings import text_lines
from engine.formats.files import GameFormat
from engine.formats.pgn_splitter import NumberedText
from engine.formats.record import BadGame, GameRecord

if TYPE_CHECKING:
    from _typeshed import WriteableBuffer

STDIN = Path("-")
"""Stands for standard input."""
_BLOCK_BYTES = 1 << 18
_MAX_WTHOR_BYTES = 64 << 20
"""Maximum size of a WTHOR file, in bytes; it allows for nearly a million games, seven times WTHOR's total."""
_MAX_EXPANSION = 200
"""Maximum ratio of a compressed file's content to its size; PGN reaches 30."""
_FREE_EXPANSION_BYTES = 64 << 20
"""Content that any compressed file may have."""
_MAGIC = {
    b"\x28\xb5\x2f\xfd": "zstd",
    b"\x1f\x8b": "gzip",
    b"BZh": "bzip2",
    b"PK\x03\x04": "zip",
    b"7z\xbc\xaf": "7-Zip",
    b"Rar!": "RAR",
    b"\xfd7zXZ": "xz",
}


@dataclass
class GameSource:
    """The games of one file, or of one file in an archive, and an account of all its text.

    Iteration yields each game, or the reason why it is refused.
    """

    name: str
    """Name of the file, for messages."""
    form: GameFormat
    games: Iterable[GameRecord | BadGame]
    refused: int = 0
    """Number of games that were found but are not valid."""
    skipped_bytes: int = 0
    """Length as UTF-8 of the text that no game uses, in bytes."""
    first_skipped: NumberedText | None = None

    def __iter__(self) -> Iterator[GameRecord | BadGame]:
        for game in self.games:
            self.refused += isinstance(game, BadGame)
            yield game

    def skip(self, text: NumberedText) -> None:
        """Count text that no game uses."""
        self.skipped_bytes += len(text.text.encode())
        self.first_skipped = self.first_skipped or text

    @property
    def skipped_text(self) -> str:
        """What was skipped and where, for people; empty if nothing was."""
        if (first := self.first_skipped) is None:
            return ""
        return f"{self.skipped_bytes} bytes of text skipped, first in line {first.line}: {first.text!r:.60}"


def game_sources(
    path: Path,
    form: GameFormat | None = None,
    game: str | None = None,
    *,
    names: Iterable[Path] = (),
    on_note: Callable[[str], None] = lambda _: None,
    advance: Callable[[int], None] = lambda _: None,
) -> Iterator[GameSource]:
    """Open a file of games; yield one source, or one for each file in a ZIP archive.

    A source must be read before the next one is taken.

    Args:
        path: The file; `STDIN` for standard input.
        form: The format; None to detect it from the contents.
        game: Name in `engine.games`, for texts that do not name their game.
        names: The .jou and .trn files chosen by the user; by default, those beside a .wtb file are used.
        on_note: Called with a one-line message if a .jou or .trn file is missing, or a .wtb file is too long.
        advance: Called with the number of bytes read from the file, as often as some are read.

    Raises:
        BadGame: The file, its compression or its format cannot be read; the games yielded before are valid.
        OSError: The file cannot be read.
    """
    with open(sys.stdin.fileno(), "rb", closefd=False) if path == STDIN else open_regular(path) as raw:
        counted = _CountedReader(raw, advance)
        file = io.BufferedReader(counted, _BLOCK_BYTES)
        head = file.peek(8)
        kind = next((kind for magic, kind in _MAGIC.items() if head.startswith(magic)), "")
        given = {str(name): partial(read_regular, name, _MAX_WTHOR_BYTES) for name in names}
        if kind == "zip":
            yield from _zipped(str(path), file, counted, form, game, given, on_note)
            return
        if kind in ("7-Zip", "RAR", "xz"):
            raise BadGame(f"{kind} archives cannot be read; unpack it first")
        content: IO[bytes] = file
        if kind:
            content = io.BufferedReader(_LimitedReader(_expanded(file, kind), counted), _BLOCK_BYTES)
        beside = given
        if not given and path != STDIN:
            beside = {
                str(name): partial(read_regular, name, _MAX_WTHOR_BYTES) for name in path.parent.iterdir()
            }
        yield _source(str(path), content, form, game, beside, on_note)


def _zipped(
    path: str,
    file: IO[bytes],
    counted: "_CountedReader",
    form: GameFormat | None,
    game: str | None,
    given: Mapping[str, Callable[[], bytes]],
    on_note: Callable[[str], None],
) -> Iterator[GameSource]:
    if not file.seekable():
        raise BadGame("a ZIP archive cannot be read from a pipe")
    errors = []
    try:
        archive = zipfile.ZipFile(file)
    except OSError:
        raise
    except Exception as error:  # of many kinds
        raise BadGame(f"damaged: {error}") from None
    with archive:
        members = [each for each in archive.infolist() if not each.is_dir()]

        def read(member: zipfile.ZipInfo) -> bytes:
            content = _LimitedReader(archive.open(member), counted).read(_MAX_WTHOR_BYTES + 1)
            return content or b""

        within = given or {each.filename: partial(read, each) for each in members}
        for member in members:
            name = f"{path}/{member.filename}"
            if member.filename.startswith("__MACOSX/") or name.lower().endswith((".jou", ".trn")):
                continue
            try:
                content = io.BufferedReader(_LimitedReader(archive.open(member), counted), _BLOCK_BYTES)
                yield _source(name, content, form, game, within, on_note)
            except OSError:
                raise
            except Exception as error:  # the other files may be sound
                errors.append(f"{member.filename}: {error}")
    if errors:
        raise BadGame("; ".join(errors[:3]) + (f"; and {len(errors) - 3} more" if errors[3:] else ""))


def _source(
    name: str,
    content: IO[bytes],
    form: GameFormat | None,
    game: str | None,
    beside: Mapping[str, Callable[[], bytes]],
    on_note: Callable[[str], None],
) -> GameSource:
    head = content.read(files.FORMAT_DETECTION_BYTES)
    if form is GameFormat.WTHOR or b"\0" in head:
        head += content.read(_MAX_WTHOR_BYTES + 1 - len(head))
    form = form or files.detect_format(head[: files.FORMAT_DETECTION_BYTES], len(head))
    if form is None:
        raise BadGame("cannot detect the format; specify it with --format")
    if form is GameFormat.WTHOR:
        if len(head) > _MAX_WTHOR_BYTES:
            raise BadGame(f"larger than {_MAX_WTHOR_BYTES >> 20} MiB")
        return GameSource(name, form, _wthor_games(name, head, beside, on_note))
    blocks = chain([head], iter(partial(content.read, _BLOCK_BYTES), b""))
    source = GameSource(name, form, ())
    source.games = files.read(text_lines(blocks), form, game, source.skip)
    return source


def _wthor_games(
    path: str, data: bytes, beside: Mapping[str, Callable[[], bytes]], on_note: Callable[[str], None]
) -> Iterator[GameRecord | BadGame]:
    """Yield the games of a .wtb file; for an invalid game, yield the reason.

    Raises:
        BadGame: A file has the wrong format, or several files of names could be the right one.
        OSError: A file cannot be read.
    """
    base = wthor.parse_games(data)
    if base.trailing_bytes:
        on_note(f"{path}: {base.trailing_bytes} bytes after the last game; ignored")
    players, tournaments = (_names(path, suffix, beside, on_note) for suffix in (".jou", ".trn"))
    for game in base.games():
        try:
            yield game if isinstance(game, BadGame) else wthor.to_record(game, base, players, tournaments)
        except BadGame as error:
            yield error


def _names(
    path: str, suffix: str, beside: Mapping[str, Callable[[], bytes]], on_note: Callable[[str], None]
) -> tuple[str, ...]:
    """Read a WTHOR file's names from the only file with this suffix among those chosen or beside it.

    Raises:
        BadGame: Several files of names could be the right one, or the file has the wrong format.
        OSError: The file of names cannot be read.
    """
    found = [name for name in beside if name.lower().endswith(suffix)]
    if len(found) > 1:
        raise BadGame(f"several {suffix} files beside it: {', '.join(sorted(found))}; choose one")
    if not found:
        on_note(f"{path}: no {suffix} file beside it; using numbers instead of names")
        return ()
    try:
        return wthor.parse_names(beside[found[0]](), suffix)
    except BadGame as error:
        raise BadGame(f"{found[0]}: {error}") from None


class _Readable(Protocol):
    def read(self, size: int, /) -> bytes: ...


def _expanded(file: IO[bytes], kind: str) -> _Readable:
    if kind == "gzip":
        return gzip.GzipFile(fileobj=file)
    if kind == "bzip2":
        return bz2.BZ2File(file)
    if sys.version_info >= (3, 14):
        from compression import zstd
    else:
        from backports import zstd
    found: _Readable = zstd.ZstdFile(file)
    return found


class _CountedReader(io.RawIOBase):
    """Reads a file, and counts its bytes."""

    def __init__(self, file: IO[bytes], advance: Callable[[int], None]) -> None:
        self.count = 0
        self.expanded = 0
        """Number of bytes that its content has expanded to so far; all of an archive's files together."""
        self._file = file
        self._advance = advance

    def readable(self) -> bool:
        return True

    def seekable(self) -> bool:
        return self._file.seekable()

    def seek(self, offset: int, whence: int = 0) -> int:
        return self._file.seek(offset, whence)

    def readinto(self, buffer: "WriteableBuffer") -> int:
        view = memoryview(buffer)
        data = self._file.read(len(view))
        view[: len(data)] = data
        self.count += len(data)
        self._advance(len(data))
        return len(data)


class _LimitedReader(io.RawIOBase):
    """Reads what a compressed file contains, within limits.

    Raises:
        BadGame: The compressed file is damaged, or expands too much.
    """

    def __init__(self, content: _Readable, compressed: _CountedReader) -> None:
        self._content = content
        self._compressed = compressed

    def readable(self) -> bool:
        return True

    def readinto(self, buffer: "WriteableBuffer") -> int:
        view = memoryview(buffer)
        try:
            data = self._content.read(len(view))
        except Exception as error:  # each compression has its own
            raise BadGame(f"damaged: {error}") from None
        view[: len(data)] = data
        compressed = self._compressed
        compressed.expanded += len(data)
        if compressed.expanded > max(_FREE_EXPANSION_BYTES, _MAX_EXPANSION * compressed.count):
            raise BadGame(f"expands to more than {_MAX_EXPANSION} times its size")
        return len(data)
