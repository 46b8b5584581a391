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
from collections.abc import Iterable, Iterator, Mapping, Sequence
from decimal import Decimal
from typing import Any, NamedTuple

import chess
import chess.pgn

from engine.formats.record import (
    AGREED,
    MAX_GAME_TEXT_LENGTH,
    RESIGNED,
    TIMEOUT,
    BadGame,
    GameRecord,
    black_margin,
    clean,
    margin_points,
    played,
    split_lines,
    squares_to_moves,
    start_position,
    steps,
    values_or_empty,
)
from engine.formats.xiangqi_moves import moves_of_words
from engine.game import BadPosition, Game
from engine.games import GAMES
from engine.games.othello import PASS, SQUARES, OthelloPosition
from engine.games.standard_chess import StandardChess

_TAG = re.compile(r'\s*\[\s*([A-Za-z0-9_]+)\s+"(.*)"\s*\]\s*')
_RESULT = r"(?!0-0\b)(?:1/2-1/2|\d+-\d+|\*)"
_LAST_LINE = re.compile(rf"(?:.*\s)?{_RESULT}\s*")
_TOKEN = re.compile(
    rf"""
    \{{(?P<comment>[^}}]*)(?:\}}|$) | ;[^\n]* | ^%[^\n]* | (?P<open>\() | (?P<close>\)) | \$\d+
    | (?P<result>{_RESULT})(?=[\s{{(;)]|$) | \d+(?:\.+|(?=\s|$)) | (?P<move>[^\s{{}}();]+)
    """,
    re.VERBOSE | re.MULTILINE,
)
_EVAL = re.compile(r"\[%eval\s+([-+]?\d{1,6}(?:\.\d{1,20})?)\b")
_EMT = re.compile(r"\[%emt\s+(\d{1,5}):(\d{1,2}):(\d{1,2}(?:\.\d{1,20})?)\]")
_POINTS = {"1-0": 1.0, "0-1": 0.0, "1/2-1/2": 0.5}
_POINTS_TEXT = {points: text for text, points in _POINTS.items()} | {None: "*"}
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


class _Movetext(NamedTuple):
    moves: tuple[str, ...]
    evaluations: tuple[float | None, ...]
    """Evaluation from the first side's point of view."""
    times_s: tuple[float | None, ...]
    result: str


def split(lines: Iterable[str]) -> Iterator[str]:
    """Split a file's lines into the texts of its games.

    Raises:
        BadPgn: A game does not end within the size limit.
    """
    game: list[str] = []
    length = 0
    in_comment = has_moves = is_over = False
    for line in lines:
        is_tag = not in_comment and _TAG.fullmatch(line) is not None
        if (is_tag and has_moves) or (is_over and line.strip()):
            yield "".join(game)
            game, length, has_moves, is_over = [], 0, False, False
        game.append(line if line.endswith("\n") else f"{line}\n")
        length += len(line)
        if length > MAX_GAME_TEXT_LENGTH:
            raise BadPgn(f"more than {MAX_GAME_TEXT_LENGTH} characters, and no game ends")
        if is_tag or not line.strip():
            continue
        has_moves = True
        for brace in re.findall(r"[{}]", line):
            in_comment = brace == "{"
        is_over = not in_comment and _LAST_LINE.fullmatch(line) is not None
    if "".join(game).strip():
        yield "".join(game)


def is_tag(line: str) -> bool:
    """Whether a line is a tag, ``[Name "value"]``."""
    return _TAG.fullmatch(line) is not None


def parse(text: str, game: str | None = None) -> GameRecord:
    """Parse the text of one game, as `split` yields it.

    Args:
        game: Name in `engine.games`, for texts that do not name their game; texts without a decisive tag or
            result are read as chess, or as Othello if they are not valid chess games.

    Raises:
        BadPgn: The text is not a valid game; the message names the illegal move, if any.
    """
    tags, body = _tags_and_body(text)
    moves = _movetext(body)
    if not tags and not moves.moves:
        raise BadPgn(f"neither tags nor moves in {text.strip()!r:.60}")
    named = game or _game_from_tags_or_result(tags, moves)
    try:
        if named:
            return _record(named, tags, moves)
        try:
            return _record(_chess_variant(tags), tags, moves)
        except BadGame:
            if not all(re.fullmatch("[a-hA-H][1-8]|--", move) for move in moves.moves):
                raise
            try:
                return _record("othello", tags, moves)
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
    start_side = GAMES[record.game].side_to_move(start_position(record))
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


def _tags_and_body(text: str) -> tuple[dict[str, str], str]:
    tags: dict[str, str] = {}
    lines = split_lines(text)
    for number, line in enumerate(lines):
        if match := _TAG.fullmatch(line):
            tags[match[1]] = clean(re.sub(r"\\(.)", r"\1", match[2]))
        elif line.strip() and not line.startswith("%"):
            return tags, "\n".join(lines[number:])
    return tags, ""


def _movetext(body: str) -> _Movetext:
    """Parse the main line; a comment belongs to the move before it."""
    moves: list[str] = []
    evaluations: list[float | None] = []
    times_s: list[float | None] = []
    result, depth = "*", 0
    for token in _TOKEN.finditer(body):
        if token["open"]:
            depth += 1
        elif token["close"]:
            depth = max(0, depth - 1)
        elif depth:
            continue
        elif token["move"]:
            move = token["move"].rstrip("!?")
            if move and move != "e.p.":
                moves.append(move)
                evaluations.append(None)
                times_s.append(None)
        elif token["result"]:
            result = token["result"]
        elif token["comment"] and moves:
            if match := _EVAL.search(token["comment"]):
                evaluations[-1] = float(match[1])
            if match := _EMT.search(token["comment"]):
                times_s[-1] = float(Decimal(match[1]) * 3600 + Decimal(match[2]) * 60 + Decimal(match[3]))
    return _Movetext(tuple(moves), values_or_empty(evaluations), values_or_empty(times_s), result)


def _game_from_tags_or_result(tags: Mapping[str, str], moves: _Movetext) -> str | None:
    """The game according to the tags or the form of the result; None if it is chess or not stated."""
    for tag in ("Game", "GameType", "Variant"):
        if named := _NAMES.get(tags.get(tag, "").lower()):
            return named
    if "Red" in tags:
        return "xiangqi"
    result = tags.get("Result", moves.result)
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


def _record(name: str, tags: Mapping[str, str], text: _Movetext) -> GameRecord:
    game, sides = GAMES[name], _sides(name)
    left = dict(tags)

    def take(*names: str) -> str:
        """Return the value of the first of these tags that has one; mark all of them as used."""
        required = [left.pop(name, "") for name in names]
        return next((value for value in required if value not in _UNKNOWN_TAG_VALUES), "")

    try:
        start = (
            game.initial()
            if not (fen := take("FEN"))
            else game.parse_position(_standard_fen(fen, game, tags))
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
    clock, result = take("TimeControl"), take("Result") or text.result
    moves, points, margin = _played(name, start, text, result, bool(ending))
    first = game.side_to_move(start)
    return GameRecord(
        game=name,
        players=(take(sides[0]), take(sides[1])),
        start=None if start_text == game.position_text(game.initial()) else start_text,
        moves=moves.moves,
        points=points,
        margin=margin,
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
        evaluations=_flip_evaluations(moves.evaluations, first),
        times_s=moves.times_s,
        tags=tuple((name, value) for name, value in left.items() if value),
    )


def _played(
    name: str, start: Any, text: _Movetext, result: str, is_forfeit: bool
) -> tuple[_Movetext, float | None, float | None]:
    """The moves in the game's notation, with points and margin from the moves or else from the stated result.

    Args:
        is_forfeit: Whether something other than the moves ended the game; if so, the stated result counts.

    Raises:
        BadGame: A move is illegal.
    """
    if name == "othello":
        return _played_othello(start, text, result, is_forfeit)
    game = GAMES[name]
    if isinstance(game, StandardChess):
        names = _chess_moves(start.board, text.moves)
    else:
        names = moves_of_words(start, text.moves)
    return text._replace(moves=names), _POINTS.get(result), None


def _chess_moves(start: chess.Board, words: Sequence[str]) -> tuple[str, ...]:
    board = start.copy(stack=False)
    moves: list[str] = []
    for number, word in enumerate(words, start=1):
        try:
            try:
                move = board.parse_san(word)
            except ValueError:
                move = board.parse_uci(word)
        except ValueError:
            move = chess.Move.null()
        if not move:
            raise BadPgn(f"move {number}: {word[:20]!r} is not a legal move in {board.fen()!r}")
        moves.append(board.uci(move))
        board.push(move)
    return tuple(moves)


def _played_othello(
    start: OthelloPosition, text: _Movetext, result: str, is_forfeit: bool
) -> tuple[_Movetext, float | None, float | None]:
    words = [_PASSES.get(word.lower(), word.lower()) for word in text.moves]
    for number, word in enumerate(words, start=1):
        if word != "pass" and word not in SQUARES:
            raise BadPgn(f"move {number}: {word[:20]!r} is not a square")
    moves, end = squares_to_moves((SQUARES.index(word) for word in words if word != "pass"), start)
    if words[-1:] == ["pass"] and GAMES["othello"].legal_moves(end) == (PASS,):
        moves = (*moves, "pass")
    # Annotations belong to the moves as written, whichever passes those include.
    evaluations: list[float | None] = []
    times_s: list[float | None] = []
    at = 0
    for move in moves:
        while move != "pass" and words[at] == "pass":
            at += 1
        is_written = at < len(words) and words[at] == move
        evaluations.append(text.evaluations[at] if is_written and text.evaluations else None)
        times_s.append(text.times_s[at] if is_written and text.times_s else None)
        at += is_written
    margin: float | None = None if is_forfeit else black_margin(end)
    if margin is None and result not in _POINTS and (discs := re.fullmatch(r"(\d+)-(\d+)", result)):
        black, white = (int(count[:9]) for count in discs.groups())
        if black + white > len(SQUARES):
            raise BadPgn(f"a result of {result:.40} discs is impossible")
        margin = float(black - white)
    points = _POINTS.get(result) if margin is None else margin_points(margin)
    return _Movetext(moves, values_or_empty(evaluations), values_or_empty(times_s), result), points, margin


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
