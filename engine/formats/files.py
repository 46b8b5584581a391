"""Detects the format of a game file and splits it into games.  No I/O."""

import re
from collections.abc import Iterable, Iterator
from enum import StrEnum
from itertools import chain

from engine.formats import ggf, pgn, transcripts, wthor
from engine.formats.encodings import decode
from engine.formats.record import MAX_GAME_TEXT_LENGTH, BadGame, GameRecord, split_lines

FORMAT_DETECTION_BYTES = 4096
"""Number of bytes from the start of a file that `detect_format` needs."""


class GameFormat(StrEnum):
    """A file format for games."""

    GGF = "ggf"
    PGN = "pgn"
    TRANSCRIPT = "transcript"
    WTHOR = "wthor"


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
    if any(pgn.is_tag(line) for line in lines[:1]):
        return GameFormat.PGN
    if any(_is_transcript(line) for line in lines[:1]):
        return GameFormat.TRANSCRIPT
    return GameFormat.PGN if any(re.match(r"\s*1\.", line) for line in lines[:1]) else None


def read(lines: Iterable[str], form: GameFormat, game: str | None = None) -> Iterator[GameRecord | BadGame]:
    """Yield each game of a text in order; for an unreadable game, yield the reason instead.

    Args:
        form: A format in `TEXTS`.
        game: Name in `engine.games`, for texts that do not name their game (see `engine.formats.pgn.parse`).
            The default for a transcript is Othello.

    Raises:
        BadGame: A game does not end within the size limit; everything yielded before remains valid.
    """
    if form is GameFormat.GGF:
        yield from _each_ggf(lines)
        return
    texts = pgn.split(lines) if form is GameFormat.PGN else (x for x in lines if not transcripts.is_remark(x))
    for text in texts:
        try:
            if form is GameFormat.PGN:
                yield pgn.parse(text, game)
            else:
                yield transcripts.parse(text, game or "othello")
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


def _each_ggf(lines: Iterable[str]) -> Iterator[GameRecord | BadGame]:
    waiting: list[str] = []
    length = 0
    for line in chain(lines, [None]):
        if line is not None:
            waiting.append(line)
            length += len(line)
            if length > MAX_GAME_TEXT_LENGTH:
                raise BadGame(f"more than {MAX_GAME_TEXT_LENGTH} characters, and no game ends")
            if not re.search(r";\s*\)\s*$", line):
                continue  # a game may take several lines
        for game in ggf.find("\n".join(waiting)):
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
