"""Reads game files from disk: text in any format, and WTHOR databases with the name files beside them."""

from collections.abc import Callable, Iterator
from pathlib import Path
from typing import IO

from bot.base.files import read_regular
from engine.formats import wthor
from engine.formats.encodings import text_lines
from engine.formats.record import BadGame, GameRecord

_BLOCK_BYTES = 1 << 18
_MAX_WTHOR_BYTES = 64 << 20
"""Maximum size of a WTHOR file, in bytes; it allows for nearly a million games, seven times WTHOR's total."""


def read_lines(file: IO[bytes], advance: Callable[[int], None] = lambda _: None) -> Iterator[str]:
    """Yield the lines of a file of games; `advance` is called with the number of bytes of each block read.

    Raises:
        BadGame: A line is longer than `MAX_GAME_TEXT_LENGTH`.
    """

    def blocks() -> Iterator[bytes]:
        while block := file.read(_BLOCK_BYTES):
            advance(len(block))
            yield block

    return text_lines(blocks())


def read_wthor_games(
    path: Path, names: list[Path], on_bad: Callable[[str], None]
) -> Iterator[GameRecord | BadGame]:
    """Yield the games of a .wtb file; for an unreadable game, yield the reason.

    Args:
        path: The .wtb file.
        names: The .jou and .trn files chosen by the user; by default, those beside the .wtb file are used.
        on_bad: Called with a one-line message if a .jou or .trn file is missing.

    Raises:
        BadGame: A file has the wrong format, or several files of names could be the right one.
        OSError: A file cannot be read.
    """
    base = wthor.parse_games(read_regular(path, _MAX_WTHOR_BYTES))
    players = _names(path, ".jou", names, on_bad)
    tournaments = _names(path, ".trn", names, on_bad)
    for game in base.games():
        try:
            yield game if isinstance(game, BadGame) else wthor.to_record(game, base, players, tournaments)
        except BadGame as error:
            yield error


def _names(path: Path, suffix: str, names: list[Path], on_bad: Callable[[str], None]) -> tuple[str, ...]:
    """Read a WTHOR file's names from the file chosen by the user, or else from the file in its folder.

    Raises:
        BadGame: Several files of names could be the right one, or the file has the wrong format.
        OSError: The file of names cannot be read.
    """
    given = [name for name in names if name.suffix.lower() == suffix]
    found = given or [name for name in path.parent.iterdir() if name.suffix.lower() == suffix]
    if len(found) > 1:
        raise BadGame(f"several {suffix} files beside it: {', '.join(sorted(map(str, found)))}; choose one")
    if not found:
        on_bad(f"{path}: no {suffix} file beside it; using numbers instead of names")
        return ()
    try:
        return wthor.parse_names(read_regular(found[0], _MAX_WTHOR_BYTES), suffix)
    except BadGame as error:
        raise BadGame(f"{found[0]}: {error}") from None
