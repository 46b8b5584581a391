"""Compressed files, archives and standard input; and what an import accounts for."""

import bz2
import gzip
import io
import os
import sys
import zipfile
from collections.abc import Callable
from pathlib import Path

import pytest

from bot.base import game_files
from bot.base.game_files import STDIN, game_sources
from engine.formats.record import BadGame
from tests.bot.conftest import Command
from tests.engine.formats.test_wthor import header, names, record

GAMES = b'[Event "one"]\n[White "A"]\n\n1. e4 e5 1-0\n\n[Event "two"]\n[White "B"]\n\n1. d4 e9 0-1\n'


def zstd(data: bytes) -> bytes:
    if sys.version_info >= (3, 14):
        from compression import zstd as module
    else:
        from backports import zstd as module
    # Two frames, as several threads write them.
    return bytes(module.compress(data[:40]) + module.compress(data[40:]))


def zipped(contents: dict[str, bytes]) -> bytes:
    with zipfile.ZipFile(written := io.BytesIO(), "w", zipfile.ZIP_DEFLATED) as archive:
        for name, data in contents.items():
            archive.writestr(name, data)
    return written.getvalue()


def shown(path: Path) -> list[str]:
    return [
        f"{source.name} {'bad' if isinstance(found, BadGame) else found.players[0]}"
        for source in game_sources(path)
        for found in source
    ]


@pytest.mark.parametrize("compress", [zstd, gzip.compress, bz2.compress, bytes])
def test_compressed_files(tmp_path: Path, compress: Callable[[bytes], bytes]) -> None:
    """By their contents, whatever their names are."""
    path = tmp_path / "games"
    path.write_bytes(compress(GAMES))
    assert shown(path) == [f"{path} A", f"{path} bad"]
    path.write_bytes(compress(GAMES.decode().encode("utf-16")))
    assert shown(path) == [f"{path} A", f"{path} bad"]
    wthor = header(games=1) + record()
    path.write_bytes(compress(wthor))
    assert shown(path) == [f"{path} #1"]


@pytest.mark.parametrize("compress", [zstd, gzip.compress, bz2.compress])
def test_half_a_compressed_file_is_told(tmp_path: Path, compress: Callable[[bytes], bytes]) -> None:
    path = tmp_path / "games"
    data = compress(GAMES)
    path.write_bytes(data[: len(data) - 12])
    with pytest.raises(BadGame, match="damaged: "):
        shown(path)


def test_archives(tmp_path: Path) -> None:
    path = tmp_path / "games.zip"
    base = header(games=1) + record()
    contents = {
        "a/one.pgn": GAMES,
        "base.wtb": base,
        "p.jou": names(20, b"x", b"y", b"z"),
        "__MACOSX/x": b"\0",
    }
    path.write_bytes(zipped(contents))
    assert shown(path)[:2] == [f"{path}/a/one.pgn A", f"{path}/a/one.pgn bad"]
    assert shown(path)[2:] == [f"{path}/base.wtb y"]
    path.write_bytes(zipped({"readme": b"Read me.\n", "one.pgn": GAMES, "b": b"?"}))
    found = game_sources(path)
    assert len(list(next(found))) == 2
    with pytest.raises(BadGame, match=r"^readme: cannot detect the format; .*; b: cannot detect the format"):
        next(found)
    path.write_bytes(zipped({"one.pgn": GAMES})[:-8])
    with pytest.raises(BadGame, match="damaged: "):
        shown(path)


@pytest.mark.parametrize("at", [b"PK\1\2", b"PK\3\4"])
def test_an_archive_with_a_damaged_name(tmp_path: Path, at: bytes) -> None:
    path, data = tmp_path / "games.zip", zipped({"ä.pgn": GAMES, "b.pgn": GAMES})
    path.write_bytes(data.replace("ä".encode(), b"\xff\xff", 1 if at == b"PK\3\4" else -1))
    found = game_sources(path)
    if at == b"PK\3\4":
        assert len(list(next(found))) == 2
    with pytest.raises(BadGame, match="codec can't decode"):
        next(found)


def test_the_files_of_an_archive_expand_together(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(game_files, "_FREE_EXPANSION_BYTES", 1 << 20)
    path = tmp_path / "games"
    path.write_bytes(zipped({str(number): GAMES + b"\n" * (1 << 19) for number in range(8)}))
    with pytest.raises(BadGame, match="expands to more than 200 times its size"):
        shown(path)


@pytest.mark.parametrize("pack", [zstd, gzip.compress, bz2.compress, lambda data: zipped({"a": data})])
def test_what_expands_without_measure(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, pack: Callable[[bytes], bytes]
) -> None:
    monkeypatch.setattr(game_files, "_FREE_EXPANSION_BYTES", 1 << 20)
    path = tmp_path / "games"
    path.write_bytes(pack(GAMES + b"\n" * (4 << 20)))
    with pytest.raises(BadGame, match="expands to more than 200 times its size"):
        shown(path)
    monkeypatch.setattr(game_files, "_FREE_EXPANSION_BYTES", 8 << 20)
    assert len(shown(path)) == 2


@pytest.mark.parametrize("head", [b"7z\xbc\xaf\x27\x1c", b"Rar!\x1a\x07", b"\xfd7zXZ\0"])
def test_archives_that_cannot_be_read_are_named(tmp_path: Path, head: bytes) -> None:
    (tmp_path / "a").write_bytes(head + bytes(100))
    with pytest.raises(BadGame, match="archives cannot be read; unpack it first"):
        shown(tmp_path / "a")


def test_standard_input(monkeypatch: pytest.MonkeyPatch) -> None:
    for data in (GAMES, zstd(GAMES)):
        reading, writing = os.pipe()
        os.write(writing, data)
        os.close(writing)
        with os.fdopen(reading, "rb") as stream:
            monkeypatch.setattr(sys, "stdin", stream)
            assert shown(STDIN) == ["- A", "- bad"]
    reading, writing = os.pipe()
    os.write(writing, zipped({"a": GAMES}))
    os.close(writing)
    with os.fdopen(reading, "rb") as stream:
        monkeypatch.setattr(sys, "stdin", stream)
        with pytest.raises(BadGame, match="a ZIP archive cannot be read from a pipe"):
            shown(STDIN)


def test_a_base_with_a_byte_too_many(tmp_path: Path) -> None:
    path = tmp_path / "a.wtb"
    path.write_bytes(header(games=1) + record() + b"\x1a")
    notes: list[str] = []
    (source,) = game_sources(path, on_note=notes.append)
    assert len(list(source)) == 1
    assert f"{path}: 1 bytes after the last game; ignored" in notes
    path.write_bytes(header(games=1) + record() * 2)
    with pytest.raises(BadGame, match="cannot detect the format"):
        shown(path)


def test_an_import_accounts_for_everything(desdemona: Command, tmp_path: Path) -> None:
    text = b"Preamble \xc3\xa9\n\n" + GAMES.replace(b"e5 1-0", b"e5 White wins 1-0") + GAMES[:41]
    (tmp_path / "a.pgn").write_bytes(text)
    status, out, err = desdemona("import", "a.pgn")
    assert status == 1
    assert out == (
        "a.pgn (pgn): 3 games seen: 1 new, 1 already known, 1 refused; "
        "20 bytes of text skipped, first in line 1: 'Preamble é'\n"
    )
    assert err == "a.pgn: game 2: line 8: move 2: 'e9' is not a move\n"
    status, out, _ = desdemona("import", "a.pgn")
    assert (status, "3 games seen: 0 new, 2 already known, 1 refused" in out) == (1, True)
    (tmp_path / "b.zip").write_bytes(zipped({"c.pgn": GAMES[:41], "d.pgn": GAMES[:41]}))
    status, out, _ = desdemona("import", "b.zip")
    assert (status, out.splitlines()[-1]) == (0, "2 files: 2 games seen: 0 new, 2 already known, 0 refused")
