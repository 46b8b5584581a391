"""Detects the format of a game file and splits it into games.  No I/O."""

import re
from collections.abc import Callable, Iterable, Iterator
from enum import StrEnum
from itertools import chain

from engine.formats import ggf, pgn, tables, transcripts, wthor
from engine.formats.encodings import decode
from engine.formats.pgn_splitter import NumberedText, is_tag, split
from engine.formats.record import MAX_GAME_TEXT_LENGTH, BadGame, GameRecord, split_lines

FORMAT_DETECTION_BYTES = 4096
"""Number of bytes from the start of a file that `detect_format` needs."""


class GameFormat(StrEnum):
    """A file format for games."""

    GGF = "ggf"
    PGN = "pgn"
    TABLE = "table"
    """Tab-separated games of xiangqi; see `engine.formats.tables`."""
    TRANSCRIPT = "transcript"
    WTHOR = "wthor"


_BEFORE_GGF = re.compile(r"\s*(?:#.*|\d+\s*)?")
"""What may stand before a game: remarks, and the number of games that follow."""

TEXTS = (GameFormat.GGF, GameFormat.PGN, GameFormat.TRANSCRIPT)
"""The text formats, which this program can also write."""


def detect_format(head: bytes, length: int) -> GameFormat | None:
    """The format of a file, given its first `FORMAT_DETECTION_BYTES` and its length; None if unknown."""
    if wthor.is_wthor(head, length):
        return GameFormat.WTHOR
    text = decode(head if length <= len(head) else head.rpartition(b"\n")[0] or head)
    if "\0" in text:
        return None
    if re.search(r"\(\s*;\s*[A-Za-z]+\s*\[", text):
        return GameFormat.GGF
    lines = [line for line in split_lines(text) if line.strip() and line.lstrip()[0] not in "#%"]
    if any(is_tag(line) for line in lines[:1]):
        return GameFormat.PGN
    if any(map(tables.is_header, lines[:1])):
        return GameFormat.TABLE
    if any(_is_transcript(line) for line in lines[:1]):
        return GameFormat.TRANSCRIPT
    # Some files begin with a remark or with half a game.
    is_pgn = any(re.match(r"\s*1\.", line) for line in lines[:1]) or any(map(is_tag, lines))
    return GameFormat.PGN if is_pgn else None


def read(
    lines: Iterable[str],
    form: GameFormat,
    game: str | None = None,
    on_skipped: Callable[[NumberedText], None] = lambda _: None,
) -> Iterator[GameRecord | BadGame]:
    """Yield each game of a text in order; for an unreadable game, yield the reason instead.

    Args:
        form: Any format but WTHOR's.
        game: Name in `engine.games`, for texts that do not name their game (see `engine.formats.pgn.read`).
            The default for a transcript is Othello.
        on_skipped: Called with text that belongs to no game or that its game's reader could not use.

    Raises:
        BadGame: A game in GGF does not end within the size limit, or a table has no header; everything
            yielded before remains valid.
    """
    if form is GameFormat.GGF:
        yield from _each_ggf(lines, on_skipped)
    elif form is GameFormat.PGN:
        yield from _each_pgn(lines, game, on_skipped)
    elif form is GameFormat.TABLE:
        yield from tables.read(lines)
    else:
        for line in lines:
            if transcripts.is_remark(line):
                continue
            try:
                yield transcripts.parse(line, game or "othello")
            except BadGame as error:
                yield error


def write(record: GameRecord, form: GameFormat) -> str:
    """The game as text, with a final line break.

    Raises:
        BadGame: The format cannot represent this game.
    """
    if form is GameFormat.PGN:
        return pgn.write(record)
    if form is GameFormat.GGF:
        return f"1 {ggf.write(ggf.from_record(record))}\n"
    return f"{transcripts.write(record)}\n"


def _each_pgn(
    lines: Iterable[str], game: str | None, on_skipped: Callable[[NumberedText], None]
) -> Iterator[GameRecord | BadGame]:
    for part in split(lines):
        if isinstance(part, NumberedText):
            on_skipped(part)
            continue
        try:
            found = pgn.read(part, game)
        except BadGame as error:
            yield pgn.BadPgn(f"line {part.line}: {error}")
            continue
        for text in found.skipped:
            on_skipped(text)
        yield found.record


def _each_ggf(
    lines: Iterable[str], on_skipped: Callable[[NumberedText], None]
) -> Iterator[GameRecord | BadGame]:
    waiting: list[str] = []
    length = 0
    for number, line in enumerate(chain(lines, [None]), start=1):
        if line is not None:
            waiting.append(line)
            length += len(line)
            if length > MAX_GAME_TEXT_LENGTH:
                raise BadGame(f"more than {MAX_GAME_TEXT_LENGTH} characters, and no game ends")
            if not re.search(r";\s*\)\s*$", line):
                continue  # a game may take several lines
        text = "\n".join(each.rstrip("\n") for each in waiting)
        before = text.partition("(;")[0].split("\n")
        if skipped := [each for each in before if not _BEFORE_GGF.fullmatch(each)]:
            on_skipped(NumberedText(number - len(waiting) + before.index(skipped[0]), "\n".join(skipped)))
        for game in ggf.find(text):
            try:
                yield game if isinstance(game, BadGame) else ggf.to_record(game)
            except BadGame as error:
                yield error
        waiting.clear()
        length = 0


def _is_transcript(line: str) -> bool:
    if re.match(r"\s*(?:[a-h][1-8]){2}", line, re.IGNORECASE):
        return True  # the legality of its moves is checked later
    try:
        transcripts.parse(line)
    except BadGame:
        return False
    return True
