"""PGN, Portable Game Notation: chess and its variants, xiangqi, and Othello in PGN's form.

* Chess is in SAN, or in UCI notation as some programs write it; variants have their usual names (tag
  ``Variant``); the tag ``FEN`` gives other start positions. python-chess supplies rules and SAN.
* Othello moves are squares, and a pass is ``--`` or omitted; the result is black's discs, then white's:
  ``34-30``. Move numbers are skipped (some sites number plies); moves take precedence over the stated result.
* Xiangqi has ``Game "Chinese Chess"``, the tag ``Red``, and moves in ICCS notation, ``H2-E2``; all notations
  of `engine.games.xiangqi_notation` are read.

Variations, annotations and comments are skipped, except ``[%eval]`` and ``[%emt]``: evaluations (from the
first side's point of view, in discs or pawns; no mates) and seconds per move.
(https://www.saremba.de/chessgml/standards/pgn/pgn-complete.htm)
"""

import re
import textwrap
from collections.abc import Callable, Iterator, Mapping, Sequence
from decimal import Decimal
from functools import cache
from typing import Any, NamedTuple

import chess
import chess.pgn

from engine.formats.pgn_chess import find_unread_words, is_read_whole, read_moves
from engine.formats.pgn_splitter import TOKEN, NumberedText, PgnText, plain_signs, split
from engine.formats.record import (
    AGREED,
    RESIGNED,
    TIMEOUT,
    BadGame,
    GameRecord,
    black_margin,
    clean,
    margin_points,
    played,
    squares_to_moves,
    start_position,
    steps,
    values_or_empty,
)
from engine.formats.xiangqi_moves import moves_of_words
from engine.game import BadPosition, Game
from engine.games import GAMES, first_side
from engine.games.othello import PASS, SQUARES, OthelloPosition
from engine.games.standard_chess import StandardChess

_EVAL = re.compile(r"\[%eval\s+([-+]?\d{1,6}(?:\.\d{1,20})?)\b")
_EMT = re.compile(r"\[%emt\s+(\d{1,5}):(\d{1,2}):(\d{1,2}(?:\.\d{1,20})?)\]")
_CLOCK = re.compile(r"\[%clk\s+(\d{1,5}):(\d{1,2}):(\d{1,2}(?:\.\d{1,20})?)\]")
_POINTS = {"1-0": 1.0, "0-1": 0.0, "1/2-1/2": 0.5, "1/2": 0.5}
_POINTS_TEXT = {1.0: "1-0", 0.0: "0-1", 0.5: "1/2-1/2", None: "*"}
_ENDINGS = ((RESIGNED, "resignation"), (TIMEOUT, "time forfeit"), (AGREED, "agreement"))
_PASSES = {"--": "pass", "pa": "pass", "ps": "pass", "pass": "pass"}
_SIDES = {"othello": ("Black", "White"), "xiangqi": ("Red", "Black")}
_NAMES = {
    "othello": "othello",
    "reversi": "othello",
    "xot": "othello",
    "flipello": "othello",
} | dict.fromkeys(("chinese chess", "xiangqi"), "xiangqi")
_CHESS = {game.board_type: game for game in GAMES.values() if isinstance(game, StandardChess)}
_UNKNOWN_TAG_VALUES = frozenset({"", "?", "-", "????.??.??"})
_SOURCE_DATE = "SourceDate"
"""Tag for a date that PGN's ``Date`` tag cannot represent."""


class BadPgn(BadGame):
    """A text is not a PGN game, or a game cannot be written as PGN; the message says why."""


class PgnGame(NamedTuple):
    """A game as read from PGN."""

    record: GameRecord
    skipped: list[NumberedText]
    """Text within the game that is not used."""


class _MainLine(NamedTuple):
    """The main line as written."""

    words: list[str]
    """Moves and remarks, without move numbers."""
    offsets: list[int]
    """Where in the movetext each word begins."""
    comments: list[str]
    """The comments that follow each word."""
    result: str


class _Played(NamedTuple):
    """The game that a main line describes."""

    moves: Sequence[str]
    """In the game's notation."""
    comments: Sequence[str]
    """The comments that follow each move."""
    points: float | None
    margin: float | None = None


def parse(text: str, game: str | None = None) -> GameRecord:
    """Parse the text of one game; see `read`.

    Raises:
        BadPgn: The text is not one valid game; the message names the illegal move, if any.
    """
    games = [part for part in split(text.split("\n")) if isinstance(part, PgnText)]
    if len(games) > 1:
        raise BadPgn(f"{len(games)} games instead of one")
    if not games:
        raise BadPgn(f"neither tags nor moves in {text.strip()!r:.60}")
    return read(games[0], game).record


def read(text: PgnText, game: str | None = None) -> PgnGame:
    """Read one game.

    Args:
        game: Name in `engine.games`, for texts that do not name their game; texts without a decisive tag or
            result are read as chess, or as Othello if they are not valid chess games.

    Raises:
        BadPgn: The text is not a valid game; the message names the illegal move, if any.
    """
    if text.damage:
        raise BadPgn(text.damage)
    line = cache(lambda: _main_line(text.movetext))
    tags = {name: plain_signs(value) if name == "Result" else value for name, value in text.tags.items()}
    named = game or _game_from_tags_or_result(tags, line)
    try:
        if named:
            return _read_as(named, tags, text, line)
        try:
            return _read_as(_chess_variant(tags), tags, text, line)
        except BadGame:
            if not all(re.fullmatch("[a-hA-H][1-8]|--", word) for word in line().words):
                raise
            try:
                return _read_as("othello", tags, text, line)
            except BadGame:
                pass
            raise
    except BadGame as error:
        raise BadPgn(str(error)) from None


def write(record: GameRecord) -> str:
    """Write the game as PGN: its tags, lines of at most 80 characters, and an empty line at the end.

    Raises:
        BadPgn: PGN cannot represent this game, or a move is illegal.
    """
    try:
        names, tags = _moves_as_written(record), _tags(record)
    except BadGame as error:
        raise BadPgn(str(error)) from None
    start_side = first_side(record.game, record.start)
    words: list[str] = []
    for ply, name in enumerate(names):
        number, second = divmod(ply + start_side, 2)
        if not second:
            words.append(f"{number + 1}.")
        elif not ply or _comment(record, ply - 1, start_side):
            words.append(f"{number + 1}...")
        words.append(name)
        if comment := _comment(record, ply, start_side):
            words.append(comment)
    words.append(dict(tags)["Result"])
    body = textwrap.fill(" ".join(words), 80, break_long_words=False, break_on_hyphens=False)
    return "\n".join(f'[{name} "{_escaped(value)}"]' for name, value in tags) + f"\n\n{body}\n\n"


def _main_line(movetext: str) -> _MainLine:
    line = _MainLine([], [], [], "*")
    depth = 0
    for token in TOKEN.finditer(movetext):
        kind = token.lastgroup
        if kind == "open":
            depth += 1
        elif kind == "close":
            depth = max(0, depth - 1)
        elif depth or kind is None:
            continue
        elif kind == "word":
            line.words.append(token[0])
            line.offsets.append(token.start())
            line.comments.append("")
        elif kind == "result":
            line = line._replace(result=token[0])
        elif kind == "comment" and line.words:
            line.comments[-1] += token[0]
    return line


def _game_from_tags_or_result(tags: Mapping[str, str], line: Callable[[], _MainLine]) -> str | None:
    """The game according to the tags or the form of the result; None if it is chess or not stated."""
    for tag in ("Game", "GameType", "Variant"):
        if named := _NAMES.get(tags.get(tag, "").lower()):
            return named
    if "Red" in tags:
        return "xiangqi"
    result = tags.get("Result") or line().result
    return "othello" if re.fullmatch(r"\d+-\d+", result) and result not in _POINTS else None


def _chess_variant(tags: Mapping[str, str]) -> str:
    try:
        board_type = chess.pgn.Headers(dict(tags)).variant()
    except ValueError:
        raise BadPgn(f"unknown variant {tags.get('Variant', '')!r:.60}") from None
    if board_type not in _CHESS:
        raise BadPgn(f"unknown variant {tags.get('Variant', '')!r:.60}")
    return _CHESS[board_type].name


def _standard_fen(fen: str, game: Game[Any], tags: Mapping[str, str]) -> str:
    """The FEN, with castling rights in Shredder-FEN notation if the tags name Chess960.

    Raises:
        BadPosition: The text is not a FEN.
    """
    if not (isinstance(game, StandardChess) and chess.pgn.Headers(dict(tags)).is_chess960()):
        return fen
    try:
        return chess.Board(fen, chess960=True).fen(shredder=True)
    except ValueError as error:
        raise BadPosition(str(error)) from None


def _read_as(name: str, tags: Mapping[str, str], text: PgnText, line: Callable[[], _MainLine]) -> PgnGame:
    game, sides = GAMES[name], _sides(name)
    usual_start, usual_start_text = _usual_start(name)
    left = dict(tags)
    if name == "xiangqi" and "Red" not in tags:  # WinBoard and PyChess write White
        left = {re.sub("^White", "Red", tag): value for tag, value in tags.items()}

    def take(*names: str) -> str:
        """Return the value of the first of these tags that has one; mark all of them as used."""
        required = [left.pop(name, "") for name in names]
        return next((value for value in required if value not in _UNKNOWN_TAG_VALUES), "")

    try:
        start = (
            usual_start if not (fen := take("FEN")) else game.parse_position(_standard_fen(fen, game, tags))
        )
    except BadPosition as error:
        raise BadPgn(f"FEN: {error}") from None
    start_text = game.position_text(start)
    ending = next((kind for kind, word in _ENDINGS if word == left.get("Termination", "").lower()), "")
    take("SetUp", *(["Termination"] if ending else []))
    if left.get("Game", "").lower() in _NAMES:
        take("Game", "Format")
    if isinstance(game, StandardChess) or left.get("Variant", "").lower() == name:
        take("Variant")  # the game and its start imply it
    date, source_date = take("Date"), take(_SOURCE_DATE)
    if not date and (utc_date := tags.get("UTCDate", "")) not in _UNKNOWN_TAG_VALUES:
        date = utc_date  # lichess.org's first years have no other
    clock, result = take("TimeControl"), take("Result") or line().result
    skipped = text.skipped
    if isinstance(game, StandardChess):
        if not is_read_whole(text.movetext):
            skipped = [*skipped, *_unread(text, line())]
        moves, comments = read_moves(start, text.movetext)
        played = _Played(moves, comments, _POINTS.get(result))
    elif name == "othello":
        played = _played_othello(start, line(), result, is_forfeit=bool(ending))
    else:
        words, comments = _words_of_moves(line())
        played = _Played(moves_of_words(start, words), comments, _POINTS.get(result))
    first = game.side_to_move(start)
    evaluations, times_s, clocks_s = _annotations(played.comments)
    record = GameRecord(
        game=name,
        players=(take(sides[0]), take(sides[1])),
        start=None if start_text == usual_start_text else start_text,
        moves=tuple(played.moves),
        points=played.points,
        margin=played.margin,
        ending=ending,
        event=take("Event"),
        place=take("Site"),
        round=take("Round"),
        date=source_date or date,
        ratings=(
            _rating(take(f"{sides[0]}Elo", f"{sides[0]}Rating")),
            _rating(take(f"{sides[1]}Elo", f"{sides[1]}Rating")),
        ),
        clocks=(take(f"{sides[0]}TimeControl") or clock, take(f"{sides[1]}TimeControl") or clock),
        evaluations=_flip_evaluations(evaluations, first),
        times_s=times_s,
        clocks_s=clocks_s,
        tags=tuple((name, value) for name, value in left.items() if value),
    )
    return PgnGame(record, skipped)


@cache
def _usual_start(name: str) -> tuple[Any, str]:
    """A game's usual start, as a position and as text."""
    position = GAMES[name].initial()
    return position, GAMES[name].position_text(position)


def _unread(text: PgnText, line: _MainLine) -> list[NumberedText]:
    """The words of a game of chess that are neither moves nor usual remarks.

    Raises:
        BadGame: Such a word could be a move.
    """
    found = []
    movetext, row, at = text.movetext, 0, 0
    for index in find_unread_words(line.words):
        row, at = row + movetext.count("\n", at, line.offsets[index]), line.offsets[index]
        found.append(NumberedText(text.lines[row].line, line.words[index]))
    return found


def _words_of_moves(line: _MainLine) -> tuple[list[str], list[str]]:
    """The words without signs such as ``!?``, and their comments; a word of nothing else is left out."""
    stripped = [(word.rstrip("!?"), comment) for word, comment in zip(line.words, line.comments, strict=True)]
    return [word for word, _ in stripped if word], [comment for word, comment in stripped if word]


def _played_othello(start: OthelloPosition, line: _MainLine, result: str, *, is_forfeit: bool) -> _Played:
    """The moves with all passes; points and margin are those of the board, else the stated ones.

    Args:
        is_forfeit: Whether something other than the moves ended the game; if so, the stated result counts.

    Raises:
        BadGame: A move is illegal.
    """
    names, remarks = _words_of_moves(line)
    words = [_PASSES.get(word.lower(), word.lower()) for word in names]
    for number, word in enumerate(words, start=1):
        if word != "pass" and word not in SQUARES:
            raise BadPgn(f"move {number}: {word[:20]!r} is not a square")
    moves, end = squares_to_moves((SQUARES.index(word) for word in words if word != "pass"), start)
    if words[-1:] == ["pass"] and GAMES["othello"].legal_moves(end) == (PASS,):
        moves = (*moves, "pass")
    # Comments belong to the moves as written, whichever passes those include.
    comments = []
    at = 0
    for move in moves:
        while move != "pass" and words[at] == "pass":
            at += 1
        is_written = at < len(words) and words[at] == move
        comments.append(remarks[at] if is_written else "")
        at += is_written
    margin: float | None = None if is_forfeit else black_margin(end)
    if margin is None and result not in _POINTS and (discs := re.fullmatch(r"(\d+)-(\d+)", result)):
        black, white = (int(count[:9]) for count in discs.groups())
        if black + white > len(SQUARES):
            raise BadPgn(f"a result of {result:.40} discs is impossible")
        margin = float(black - white)
    return _Played(moves, comments, _POINTS.get(result) if margin is None else margin_points(margin), margin)


def _annotations(comments: Sequence[str]) -> Iterator[tuple[float | None, ...]]:
    """The evaluations, thinking times and clocks in the moves' comments; the last of each move counts."""
    for name, pattern in (("%eval", _EVAL), ("%emt", _EMT), ("%clk", _CLOCK)):
        values: list[float | None] = []
        for comment in comments:
            found = pattern.findall(comment) if name in comment else ()
            values.append(_number(found[-1]) if found else None)
        yield values_or_empty(values)


def _number(written: str | tuple[str, str, str]) -> float:
    """An evaluation, or hours, minutes and seconds."""
    if isinstance(written, str):
        return float(written)
    hours, minutes, seconds = written
    return float(int(hours) * 3600 + int(minutes) * 60 + Decimal(seconds))


def _sides(name: str) -> tuple[str, str]:
    """Tag names of the two sides."""
    return _SIDES.get(name, ("White", "Black"))


def _flip_evaluations(evaluations: Sequence[float | None], first: int) -> tuple[float | None, ...]:
    """Convert evaluations between the mover's and the first side's points of view."""
    return tuple(
        value if value is None or (first + ply) % 2 == 0 else 0 - value
        for ply, value in enumerate(evaluations)
    )


def _rating(text: str) -> float | None:
    """Parse a rating; return None if the text is not a rating."""
    return float(text) if re.fullmatch(r"\d{1,5}(?:\.\d{1,9})?", text) else None


def _moves_as_written(record: GameRecord) -> list[str]:
    """Convert moves to PGN notation: SAN, squares or ICCS.

    Raises:
        BadGame: A move is illegal, or PGN cannot represent the game.
    """
    game = GAMES[record.game]
    start = start_position(record)
    if isinstance(game, StandardChess):
        board, names = start.board.copy(stack=False), []
        for number, text in enumerate(record.moves, start=1):
            try:
                move = board.parse_uci(text)
            except ValueError:
                raise BadPgn(f"move {number}: {text[:20]!r} is not a legal move in {board.fen()!r}") from None
            names.append(board.san(move))
            board.push(move)
        return names
    if record.game == "othello":
        played(record.moves, start)
        return ["--" if move == "pass" else move for move in record.moves]
    if record.game == "xiangqi":
        return [
            "-".join(f"{square[0].upper()}{int(square[1:]) - 1}" for square in game.move_squares(move))
            for _, move in steps(record)
        ]
    raise BadPgn(f"there is no PGN form of {game.title}")


def _tags(record: GameRecord) -> list[tuple[str, str]]:
    game, sides = GAMES[record.game], _sides(record.game)
    date = re.match(r"(\d{4})(?:[-./](\d\d)[-./](\d\d))?", record.date)
    tags = {
        "Event": record.event or "?",
        "Site": record.place or "?",
        "Date": ".".join([date[1], date[2] or "??", date[3] or "??"]) if date else "????.??.??",
        "Round": record.round or "?",
        sides[0]: record.players[0] or "?",
        sides[1]: record.players[1] or "?",
        "Result": _result_text(record),
    }
    if record.date and tags["Date"] != record.date:
        tags[_SOURCE_DATE] = record.date
    if record.game == "othello":
        own = dict(record.tags).get("Variant", "")
        tags["Variant"] = own if own.lower() in _NAMES else game.title
    elif record.game == "xiangqi":
        tags |= {"Game": "Chinese Chess", "Format": "ICCS"}
    elif record.game != "chess":
        tags["Variant"] = game.title
    elif start_position(record).board.chess960:
        tags["Variant"] = "Chess960"
    if record.start is not None:
        tags |= {"SetUp": "1", "FEN": game.board_text(start_position(record))}
    for side, rating in zip(sides, record.ratings, strict=True):
        if rating is not None:
            tags[f"{side}Elo"] = format(Decimal(repr(rating)).normalize(), "f")
    if record.clocks[0] == record.clocks[1]:
        tags["TimeControl"] = record.clocks[0]
    else:
        tags |= {f"{side}TimeControl": clock for side, clock in zip(sides, record.clocks, strict=True)}
    if record.ending:
        tags["Termination"] = dict(_ENDINGS)[record.ending]
    for name, value in record.tags:
        if re.fullmatch("[A-Za-z0-9_]+", name):
            tags.setdefault(name, value)
    return [(name, value) for name, value in tags.items() if value]


def _result_text(record: GameRecord) -> str:
    if record.game == "othello" and record.margin is not None:
        black = (64 + record.margin) / 2
        if black.is_integer() and 0 <= black <= 64:
            return f"{black:.0f}-{64 - black:.0f}"
    return _POINTS_TEXT.get(record.points, "*")


def _comment(record: GameRecord, ply: int, start_side: int) -> str:
    """The comment with a move's evaluation and time."""
    evaluation = record.evaluations[ply] if record.evaluations else None
    time_s = record.times_s[ply] if record.times_s else None
    parts = []
    if evaluation is not None:
        first_view = evaluation if (start_side + ply) % 2 == 0 else 0 - evaluation
        parts.append(f"[%eval {format(Decimal(repr(first_view)), 'f')}]")
    if time_s is not None and time_s >= 0:
        minutes, seconds = divmod(Decimal(repr(time_s)), 60)
        hours, minutes = divmod(minutes, 60)
        whole, _, part = format(seconds, "f").partition(".")
        parts.append(f"[%emt {hours:f}:{int(minutes):02}:{int(whole):02}{part and '.' + part}]")
    return f"{{ {' '.join(parts)} }}" if parts else ""


def _escaped(value: str) -> str:
    return clean(value).replace("\\", r"\\").replace('"', r"\"")
