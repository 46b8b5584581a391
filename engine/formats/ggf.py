"""GGF, the Generic Game Format: the format in which GGS, NBoard and their archives write Othello games.

A game is ``(;`` tags ``;)``, a tag is ``NAME[value]``, and no value contains a ``]``. Archives have one match
per line, which begins with its number of games: ``1 (;...;)``, or ``2 (;...;)(;...;)`` for a synchro pair.
The format is that of https://skatgame.net/mburo/ggsa/ggf, as servers and programs write it in practice.
"""

import math
import re
from collections.abc import Iterator
from dataclasses import dataclass
from decimal import Decimal

from engine.formats.clock import GgfClock
from engine.formats.record import (
    AGREED,
    RESIGNED,
    TIMEOUT,
    BadGame,
    GameRecord,
    black_margin,
    clean,
    is_margin,
    margin_points,
    played,
    values_or_empty,
)
from engine.game import BadPosition
from engine.games.othello import PASS, Othello, OthelloPosition

_GAME = Othello()
_START = _GAME.position_text(_GAME.initial())
_ENDINGS = {"r": RESIGNED, "t": TIMEOUT, "s": AGREED}
_TAG = re.compile(r"\s*([A-Za-z][A-Za-z0-9]*)\s*\[([^\]]{0,10000})\]")
_END = re.compile(r"\s*;\s*\)")
_MAX_MOVES = 400
"""Maximum number of moves accepted; no legal game has more than 120, and `replay` reports illegal moves."""
_MAX_NUMBER = 1e9
"""Largest value accepted for any number in a game."""
_HEADER = frozenset(
    ("GM", "PC", "DT", "PB", "PW", "RB", "RW", "TI", "TB", "TW", "TY", "RE", "BO", "KB", "KW", "KM")
)
_MAX_REPEATED_TAGS = 20
_OWN_TAGS = _HEADER | {"B", "W"}


class BadGgf(BadGame):
    """The text is not a GGF game of Othello on 8 x 8 squares; the message states the problem."""


@dataclass(frozen=True)
class GgfMove:
    """A move with its annotations."""

    move: str
    """A square such as ``f5``, or ``pass``, in lower case."""
    evaluation: float | None = None
    """The final result that the mover expects, in discs, from its point of view.  GGS omits a zero."""
    time_s: float | None = None
    """Thinking time in seconds.  GGS omits a time that rounds to zero."""


@dataclass(frozen=True)
class GgfGame:
    """One game.  The moves are not checked here; `replay` checks them against the rules."""

    black: str
    white: str
    kind: str = "8"
    """Type of the game as written (TY): ``8``, ``s8r18``, ``8k``, ..."""
    start: str = _START
    """Position before the first move, as `Othello.position_text` writes it, including the side to move."""
    moves: tuple[GgfMove, ...] = ()
    """All moves, including passes, beginning with the side to move in `start`."""
    result: str | None = None
    """Result as written (RE), black's discs minus white's minus the komi: ``+12.000``, ``-64.000:r``;
    `stated_result` reads it. None if the game is unfinished (``?``)."""
    date: str = ""
    """Date as written (DT); GGS puts the time of printing here, not the time of the game."""
    place: str = ""
    """Place of the game (PC), for instance ``GGS/os``."""
    black_rating: float | None = None
    white_rating: float | None = None
    black_clock: str = ""
    """Clock as written (TB, or TI for both): ``05:00//02:00``."""
    white_clock: str = ""
    komi: float | None = None
    """Discs deducted from black's result (KM); None if there is no komi or it is not fixed yet."""
    black_komi_move: GgfMove | None = None
    """Bid of a komi game: the first move and its value (KB)."""
    white_komi_move: GgfMove | None = None
    other: tuple[tuple[str, str], ...] = ()
    """All tags without a field of their own, in their original order."""


@dataclass(frozen=True)
class GgfResult:
    """The content of a game's RE tag."""

    discs: float
    """Black's discs minus white's; empty squares count for the winner, and the komi is deducted."""
    how: str = ""
    """``r`` for resignation, ``t`` for a loss on time, ``s`` for agreement; empty if played to the end."""


def parse(text: str) -> GgfGame:
    """Parse the text of one game; line breaks between tags are ignored.

    Raises:
        BadGgf: The text is not a GGF game of Othello. Illegal moves are not detected here; see `replay`.
    """
    game, end = _parse_at(text, 0)
    if text[end:].strip():
        raise BadGgf(f"after the game there is {text[end:].strip()[:60]!r}")
    return game


def parse_line(text: str) -> tuple[GgfGame, ...]:
    """Parse a match in the form of archives and the server's ``look``: ``2 (;...;)(;...;)``.

    Raises:
        BadGgf: The text is not a match, or the count at its beginning differs from the number of games.
    """
    counted = re.match(r"\s*([0-9]{1,3})(?=[\s(])", text)
    at = counted.end() if counted else 0
    games: list[GgfGame] = []
    end = len(text.rstrip())
    while at == 0 or at < end or not games:
        game, at = _parse_at(text, at)
        games.append(game)
    if counted and int(counted[1]) != len(games):
        raise BadGgf(f"{counted[1]} games are announced, but {len(games)} follow")
    return tuple(games)


def find(text: str) -> Iterator[GgfGame | BadGgf]:
    """Yield each game of an archive in order, or the reason why that game is unreadable.

    Anything between games (counts, comments) is skipped.
    """
    at, behind, again = text.find("(;"), 0, 0
    while at >= 0:
        try:
            game, end = _parse_at(text, at)
        except BadGgf as error:
            yield error
            # Where a bracket is missing, the next game is among the tags of this one; but resuming there each
            # time would make malformed text quadratic to read.
            if at >= behind:
                behind, again = _behind(text, at), 0
            again += 1
            end = at + 2 if again <= _MAX_REPEATED_TAGS else behind
        else:
            yield game
        at = text.find("(;", end)


def _behind(text: str, at: int) -> int:
    """The offset after the tags that follow the start of a game, even if the game is invalid."""
    at += 2
    while tag := _TAG.match(text, at):
        at = tag.end()
    return at


def write(game: GgfGame) -> str:
    """The game on one line, as GGS prints it.

    A ``]`` in a value becomes ``)``, because the format cannot represent it.  See `clean` for the rest.
    """
    tags = [("GM", "Othello"), ("PC", game.place), ("DT", game.date), ("PB", game.black), ("PW", game.white)]
    tags += [("RB", _number_text(game.black_rating)), ("RW", _number_text(game.white_rating))]
    if game.black_clock == game.white_clock:
        tags += [("TI", game.black_clock)]
    else:
        tags += [("TB", game.black_clock), ("TW", game.white_clock)]
    tags += [("TY", game.kind)]
    for tag, bid in (("KB", game.black_komi_move), ("KW", game.white_komi_move)):
        tags += [(tag, move_text(bid) if bid else "")]
    tags += [("KM", "" if game.komi is None else _decimals(game.komi, 3))]
    tags = [(tag, value) for tag, value in tags if value or tag in ("PB", "PW")]
    tags += [("RE", game.result or "?"), ("BO", board_text(_GAME.parse_position(game.start))), *game.other]
    side = _GAME.parse_position(game.start).side
    tags += [("BW"[(side + ply) % 2], move_text(move)) for ply, move in enumerate(game.moves)]
    return "(;" + "".join(f"{tag}[{_clean(value)}]" for tag, value in tags) + ";)"


def replay(game: GgfGame) -> OthelloPosition:
    """Return the position after the last move.

    Raises:
        BadGgf: A move is illegal; the message includes the move and its number.
    """
    try:
        return played((move.move for move in game.moves), _GAME.parse_position(game.start))
    except (BadPosition, BadGame) as error:
        raise BadGgf(str(error)) from None


def stated_result(game: GgfGame) -> GgfResult | None:
    """The result that the game states; None if the game is unfinished.

    Raises:
        BadGgf: The result is invalid.
    """
    if game.result is None:
        return None
    match = re.fullmatch(r"([-+]?[0-9.]+)\s*(?::\s*([rts]))?", game.result.strip())
    if not match:
        raise BadGgf(f"{game.result[:60]!r} is not a result")
    return GgfResult(_number(match[1], "result"), match[2] or "")


def played_result(game: GgfGame) -> float | None:
    """Black's disc margin after the moves (the winner gets empty squares) minus komi; None if unfinished.

    Raises:
        BadGgf: See `replay`.
    """
    margin = black_margin(replay(game))
    return None if margin is None else margin - (game.komi or 0)


def to_record(game: GgfGame) -> GameRecord:
    """Convert the game to a format-independent record.

    The moves determine the result if they reach the end and the game states no other ending: on GGS, a side
    that runs out of time loses regardless of the board.

    Raises:
        BadGgf: A move is illegal, or the result is invalid or exceeds the number of discs.
    """
    stated, margin = stated_result(game), played_result(game)
    if stated and (margin is None or stated.how):
        margin = stated.discs
    if margin is not None and not is_margin(margin, game.komi or 0):
        raise BadGgf(f"a result of {margin:+g} discs is impossible")
    tags = [("TY", game.kind), ("KM", "" if game.komi is None else _decimals(game.komi, 3))]
    for tag, bid in (("KB", game.black_komi_move), ("KW", game.white_komi_move)):
        tags += [(tag, move_text(bid) if bid else "")]
    other = dict(game.other)
    return GameRecord(
        game="othello",
        players=(game.black, game.white),
        start=None if game.start == _START else game.start,
        moves=tuple(move.move for move in game.moves),
        points=margin_points(margin),
        margin=margin,
        ending=_ENDINGS.get(stated.how, "") if stated else "",
        event=other.pop("EV", ""),
        place=game.place,
        round=other.pop("RO", ""),
        date=game.date,
        ratings=(game.black_rating, game.white_rating),
        clocks=(game.black_clock, game.white_clock),
        evaluations=values_or_empty(move.evaluation for move in game.moves),
        times_s=values_or_empty(move.time_s for move in game.moves),
        tags=(*((name, value) for name, value in tags if value), *other.items()),
    )


def from_record(record: GameRecord) -> GgfGame:
    """Convert a record to a GGF game.

    The event and the round become tags (EV, RO), and the names of other tags are written in capitals; tags
    that GGF cannot represent are dropped.

    Raises:
        BadGgf: The record is not a game of Othello.
    """
    if record.game != "othello":
        raise BadGgf(f"GGF is for Othello, not for {record.game}")
    tags = dict(record.tags)
    evaluations = record.evaluations or (None,) * len(record.moves)
    times_s = record.times_s or (None,) * len(record.moves)
    start = record.start or _START
    discs = sum(start.partition(" ")[0].count(disc) for disc in "bw")
    how = next((how for how, ending in _ENDINGS.items() if ending == record.ending), "")
    margin = record.margin
    if margin is None and record.points is not None:
        margin = (record.points - 0.5) * 128  # as if resigned, whatever ended the game
        how = how or ("r" if margin else "")
    extra = [("EV", record.event), ("RO", record.round), *record.tags]
    return GgfGame(
        black=record.players[0],
        white=record.players[1],
        kind=tags.get("TY") or ("8" if record.start is None else f"8r{discs}"),
        start=start,
        moves=tuple(map(GgfMove, record.moves, evaluations, times_s)),
        result=None if margin is None else f"{margin:+.3f}" + (f":{how}" if how else ""),
        date=record.date,
        place=record.place,
        black_rating=record.ratings[0],
        white_rating=record.ratings[1],
        black_clock=_clock(record.clocks[0]),
        white_clock=_clock(record.clocks[1]),
        komi=_number(tags["KM"], "komi") if tags.get("KM") else None,
        black_komi_move=parse_move(tags["KB"]) if tags.get("KB") else None,
        white_komi_move=parse_move(tags["KW"]) if tags.get("KW") else None,
        other=tuple(
            (name.upper(), value)
            for name, value in extra
            if value and name.upper() not in _OWN_TAGS and re.fullmatch("[A-Za-z][A-Za-z0-9]*", name)
        ),
    )


def parse_move(text: str) -> GgfMove:
    """Parse a move as GGS, NBoard and GGF write it: ``F5``, ``f5/1.45``, ``F5//0.04``, ``PA/-3.00/0.10``.

    Raises:
        BadGgf: The text is not a move.
    """
    move, *values = (part.strip() for part in text.split("/"))
    move = move.lower()
    if move.startswith("pa"):
        move = "pass"
    elif not re.fullmatch(r"[a-h][1-8]", move):
        raise BadGgf(f"{text[:60]!r} is not a move")
    if len(values) > 2:
        raise BadGgf(f"{text[:60]!r} has more than an evaluation and a time")
    evaluation, time_s = [_number(part, "number") if part else None for part in [*values, "", ""][:2]]
    return GgfMove(move, evaluation, time_s)


def move_text(move: GgfMove) -> str:
    """The move in GGF notation: ``F5/1.45/0.04``, ``PA``."""
    square = "PA" if move.move == "pass" else move.move.upper()
    evaluation, time_s = (
        "" if value is None else _decimals(value, 2) for value in (move.evaluation, move.time_s)
    )
    return "/".join([square, evaluation, time_s]).rstrip("/")


def parse_board(text: str) -> OthelloPosition:
    """Parse a BO tag's position, with or without blanks between the rows: ``8 -------- ... -------- *``.

    Raises:
        BadGgf: The position is invalid, or its size is not 8 x 8.
    """
    size, _, cells = text.strip().partition(" ")
    if size != "8":
        raise BadGgf(f"a board of size {size[:20]!r}")
    match = re.fullmatch(r"([-.*XO]{64})([*XO])", "".join(cells.split()).upper())
    if not match:
        raise BadGgf(f"{text[:100]!r} is not 64 squares and a side to move")
    try:
        return _GAME.parse_position(f"{match[1]} {match[2]}")
    except BadPosition as error:
        raise BadGgf(str(error)) from None


def board_text(position: OthelloPosition) -> str:
    """The position in the notation of the BO tag, as GGS writes it."""
    rows = " ".join(_GAME.board_rows(position)).translate(str.maketrans("bw.", "*O-"))
    return f"8 {rows} {'*O'[position.side]}"


def _parse_at(text: str, at: int) -> tuple[GgfGame, int]:
    """Parse the game at this offset (after blanks); return the game and the offset of its end."""
    begun = re.compile(r"\s*\(\s*;").match(text, at)
    if not begun:
        raise BadGgf(f"a game begins with '(;', not with {text[at : at + 60].strip()!r}")
    at = begun.end()
    header: dict[str, str] = {}
    other: list[tuple[str, str]] = []
    played: list[tuple[int, GgfMove]] = []
    while tag := _TAG.match(text, at):
        at = tag.end()
        name, value = tag[1].upper(), _clean(tag[2])
        if name in ("B", "W"):
            played.append((int(name == "W"), parse_move(value)))
            if len(played) > _MAX_MOVES:
                raise BadGgf(f"more than {_MAX_MOVES} moves")
        elif name in _HEADER:
            header[name] = value
        else:
            other.append((name, value))
    ended = _END.match(text, at)
    if not ended:
        raise BadGgf(f"expected a tag or the end ';)', got {text[at : at + 60].strip()!r}")
    return _game(header, played, tuple(other)), ended.end()


def _game(
    header: dict[str, str], played: list[tuple[int, GgfMove]], other: tuple[tuple[str, str], ...]
) -> GgfGame:
    if header.get("GM", "Othello").lower() not in ("othello", "reversi"):
        raise BadGgf(f"a game of {header['GM'][:60]!r}")
    if "BO" not in header:
        raise BadGgf("the start position (BO) is missing")
    start = parse_board(header["BO"])
    bids = [parse_move(header[tag]) if header.get(tag) else None for tag in ("KB", "KW")]
    result = header.get("RE", "?")
    ratings = [_rating(header.get(tag, "")) for tag in ("RB", "RW")]
    both = header.get("TI", "")
    return GgfGame(
        black=header.get("PB", ""),
        white=header.get("PW", ""),
        kind=header.get("TY") or "8",
        start=_GAME.position_text(start),
        moves=_with_omitted_passes(start.side, played),
        result=None if result in ("?", "") else result,
        date=header.get("DT", ""),
        place=header.get("PC", ""),
        black_rating=ratings[0],
        white_rating=ratings[1],
        black_clock=header.get("TB", both),
        white_clock=header.get("TW", both),
        komi=_number(header["KM"], "komi") if header.get("KM") else None,
        black_komi_move=bids[0],
        white_komi_move=bids[1],
        other=other,
    )


def _with_omitted_passes(side: int, played: list[tuple[int, GgfMove]]) -> tuple[GgfMove, ...]:
    """Insert the passes that a writer omitted: one between two consecutive moves of the same side."""
    moves: list[GgfMove] = []
    for mover, move in played:
        if (side + len(moves)) % 2 != mover:
            moves.append(GgfMove(_GAME.move_text(PASS)))
        moves.append(move)
    return tuple(moves)


def _clock(text: str) -> str:
    """Convert a clock from PGN's ``300+2`` to GGS notation; leave any other text unchanged."""
    match = re.fullmatch(r"(\d{1,6})\+(\d{1,6})", text)
    if not match:
        return text
    return GgfClock(int(match[1]), int(match[2]), 0).text()


def _rating(text: str) -> float | None:
    """Parse a rating; return None if it is missing or not a number."""
    try:
        return _number(text, "rating")
    except BadGgf:
        return None


def _number(text: str, what: str) -> float:
    try:
        number = float(text)
    except ValueError:
        number = math.nan
    if not abs(number) <= _MAX_NUMBER:  # NaN fails too
        raise BadGgf(f"{text[:60]!r} is not a {what}")
    return number


def _decimals(number: float, least: int) -> str:
    """Format a number with at least this many decimals, and with more if rounding would change it."""
    text = f"{number:.{least}f}"
    return text if float(text) == number else format(Decimal(repr(number)), "f")


def _number_text(number: float | None) -> str:
    return "" if number is None else format(Decimal(repr(number)).normalize(), "f")


def _clean(value: str) -> str:
    return clean(value.replace("]", ")"))
