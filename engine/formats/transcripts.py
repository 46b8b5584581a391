"""Plain transcripts: a game's moves on one line, as people type and print them.

Othello has many formats: ``f5d6c3``, ``1. F5 d6 2. c3 --``, lists of plies. Numbers are skipped. Passes may
be written (``--``, ``pa``, ``ps``, ``pass``) or omitted; the rules insert them. For other games the line has
the moves in this program's notation, separated by blanks. The lines do not name the players.
"""

import re

from engine.formats.record import (
    NULL_MOVE,
    BadGame,
    GameRecord,
    black_margin,
    margin_points,
    squares_to_moves,
    steps,
)
from engine.games import GAMES
from engine.games.othello import SQUARES

_RUN = re.compile(r"(?<![a-z0-9])(?:[a-h][1-8]|pass|pa|ps|--)+(?![a-z0-9])")
_SQUARE = re.compile(r"[a-h][1-8]")


class BadTranscript(BadGame):
    """The line is not a game from the standard starting position; the message says what is wrong."""


def parse(line: str, game: str = "othello") -> GameRecord:
    """Parse a line as a game from the standard starting position.

    Raises:
        BadTranscript: The line contains no move, or an illegal one.
    """
    try:
        record = _othello(line) if game == "othello" else _other(line, game)
    except BadGame as error:
        raise BadTranscript(str(error)) from None
    if not record.moves:
        raise BadTranscript(f"no move in {line.strip()!r:.60}")
    return record


def write(record: GameRecord) -> str:
    """Return the moves on one line; for Othello, blanks and passes are omitted.

    Raises:
        BadTranscript: The game does not begin at the standard position, which a transcript implies.
    """
    if record.start is not None:
        raise BadTranscript("a transcript begins at the usual start, but this game does not")
    if NULL_MOVE in record.moves:
        raise BadTranscript("a transcript has no null moves, but this game does")
    if record.game == "othello":
        return "".join(move for move in record.moves if move != "pass")
    return " ".join(record.moves)


def is_remark(line: str) -> bool:
    """Whether a line contains no game because it is empty, a comment (``#``) or a tag (``[``)."""
    return not line.strip() or line.lstrip()[0] in "#["


def first_unparsed_word(line: str) -> str:
    """The first word of an Othello line that is neither a move nor a number; empty if there is none."""
    rest = re.sub(r"\b\d+\b|[^\w\s]", " ", _RUN.sub(" ", line.lower()))
    return next(iter(rest.split()), "")


def _othello(line: str) -> GameRecord:
    squares = [square for run in _RUN.findall(line.lower()) for square in _SQUARE.findall(run)]
    moves, end = squares_to_moves(SQUARES.index(square) for square in squares)
    margin = black_margin(end)
    return GameRecord(game="othello", moves=moves, margin=margin, points=margin_points(margin))


def _other(line: str, game: str) -> GameRecord:
    rules = GAMES[game]
    if NULL_MOVE in line.split():
        raise BadTranscript("a transcript has no null moves")
    played = list(steps(GameRecord(game=game, moves=tuple(line.split()))))
    end = rules.play(*played[-1]) if played else rules.initial()
    points = None
    if not rules.legal_moves(end):
        score = rules.result_centi(end)
        points = margin_points(score if rules.side_to_move(end) == 0 else -score)
    # In the game's own notation, whichever of several the line uses.
    return GameRecord(game=game, moves=tuple(rules.move_text(move) for _, move in played), points=points)
