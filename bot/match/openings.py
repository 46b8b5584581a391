"""Openings for matches, either from a file or random and nearly balanced; each is played with both colours.

If one side starts far ahead, a pair of games says little about the players; and from the standard position,
deterministic players would repeat the same game. In odds games, however, the same player gives odds with both
colours.
"""

import hashlib
import random
from dataclasses import dataclass, replace
from functools import lru_cache
from typing import Any

from bot.match.player_specs import MatchError
from engine.formats import files, transcripts
from engine.formats.encodings import decode
from engine.formats.files import GameFormat
from engine.formats.record import BadGame, GameRecord, start_position
from engine.game import BadPosition, Game, IllegalMove, replay, starting_position
from engine.games import get_rules
from engine.opponents.odds import ODDS, Odds, odds_named
from engine.search.reference import exact_score
from engine.search.searchers import NativeSearcher, make_searcher
from engine.stop import StopFlag

_TABLE_MB = 16
_MAX_OPENING_TRIES = 1000
_SURE_PERCENT = 73
_FEWER_PLIES = 2  # fewer in odds games, where most random moves change the lead
_BAR = "|"


@dataclass(frozen=True, slots=True)
class Opening:
    """The opening of a game: a starting position, and moves from it."""

    start: str | None
    """Starting position in the format of `Game.position_text`; None for the standard position."""
    moves: tuple[str, ...]
    """Moves played from `start`, in the game's notation."""
    second: "Opening | None" = None
    """Opening of the game in which A moves second; None if both games have the same opening."""

    def of_game(self, number: int) -> "Opening":
        """Return the opening of the game with this number; A moves first in games with even numbers."""
        return self if number % 2 == 0 or self.second is None else self.second


@dataclass(frozen=True, slots=True)
class _BalanceBounds:
    """Bounds for a game's random openings."""

    plies: tuple[int, int]
    """Minimum and maximum number of random moves."""
    within_centi: int
    """Maximum lead of either side, in centi-units."""
    depth: int
    """Depth in plies of the search that measures the lead."""


_BALANCE_BOUNDS = {
    "othello": _BalanceBounds((10, 10), 300, 8),
    "chess": _BalanceBounds((6, 8), 60, 10),
    "xiangqi": _BalanceBounds((6, 6), 60, 8),
    "connect4": _BalanceBounds((4, 6), 60, 12),
    "tictactoe": _BalanceBounds((1, 2), 0, 9),
}
_DEFAULT_BALANCE_BOUNDS = _BalanceBounds((6, 8), 100, 4)


@lru_cache(maxsize=64)  # both games of a pair call this
def random_opening(game_name: str, seed: int, index: int, plies: int | None = None) -> Opening:
    """The opening of a pair of games: random moves to a position in which neither side is far ahead.

    Args:
        seed: The match's seed.
        index: The pair's number; openings of different pairs are independent.
        plies: Number of moves; None for a random number in the game's default range.

    Raises:
        MatchError: No balanced opening was found.
    """
    game = get_rules(game_name)
    return Opening(None, _random_moves(game, game.initial(), 0, f"{seed} {index}", plies))


def odds_opening(game_name: str, odds: str, seed: int, number: int) -> Opening:
    """The opening of a game in which A gives odds: a few random moves that hardly change the lead.

    Args:
        odds: Name of the odds (`engine.opponents.odds`).
        seed: The match's seed.
        number: The game's number; A moves first in games with even numbers.

    Raises:
        MatchError: The game has no such odds, or no such opening was found.
    """
    game, side = get_rules(game_name), number % 2
    start = require_odds(game_name, odds).starts[side]
    position = game.parse_position(start)
    plies = _BALANCE_BOUNDS.get(game_name, _DEFAULT_BALANCE_BOUNDS).plies[0] - _FEWER_PLIES
    lead_centi = _lead_centi(game, position)
    return Opening(start, _random_moves(game, position, lead_centi, f"{seed} {number // 2} {side}", plies))


def require_odds(game_name: str, name: str) -> Odds:
    """The game's odds with this name.

    Raises:
        MatchError: There are none.
    """
    if (odds := odds_named(game_name, name)) is None:
        known = ", ".join(each.name for each in ODDS.get(game_name, ())) or "none"
        raise MatchError(f"{game_name} has no odds {name!r}; known: {known}")
    return odds


def _random_moves(
    game: Game[Any], start: Any, lead_centi: int, seed: str, plies: int | None
) -> tuple[str, ...]:
    """Random moves from a position that lead to about the same lead of the first side."""
    balance = _BALANCE_BOUNDS.get(game.name, _DEFAULT_BALANCE_BOUNDS)
    rng = random.Random(seed)  # noqa: S311 - needs no secrecy
    for _ in range(_MAX_OPENING_TRIES):
        position, moves = start, list[str]()
        for _ in range(rng.randint(*(balance.plies if plies is None else (plies, plies)))):
            legal = game.legal_moves(position)
            if not legal:
                break
            move = rng.choice(legal)
            moves.append(game.move_text(move))
            position = game.play(position, move)
        if not game.legal_moves(position):
            continue
        if abs(_lead_centi(game, position) - lead_centi) <= balance.within_centi:
            return tuple(moves)
    raise MatchError(f"none of {_MAX_OPENING_TRIES} random openings of {game.name} is balanced")


def _lead_centi(game: Game[Any], position: Any) -> int:
    """By how much the first side leads, according to a search."""
    # With a fresh table, a selective search gives a position the same score each time.
    depth = _BALANCE_BOUNDS.get(game.name, _DEFAULT_BALANCE_BOUNDS).depth
    root, judge = game.for_search(position), make_searcher(game.name, _TABLE_MB)
    if isinstance(judge, NativeSearcher):
        result = judge.think(root, depth, None, StopFlag(), confidence_percent=_SURE_PERCENT, threads=1)
        score = result.score_centi
    else:
        score = exact_score(judge, root, min(depth, game.most_plies_left(root)), StopFlag())
    return score if game.side_to_move(position) == 0 else -score


def read_openings(data: bytes, game_name: str, where: str, max_plies: int | None = None) -> list[Opening]:
    """Read openings from a file: positions or move lists, one per line, or games (GGF, PGN).

    A line with two openings, separated by a bar, is for odds games: the first opening is for the game in
    which A moves first, the second for the game in which A moves second.

    Args:
        data: The file's contents.
        where: The file's name for error messages.
        max_plies: Maximum number of moves to take from each game; None for no limit.

    Raises:
        MatchError: The file has no openings, or one of them ends the game; the message gives the reason.
    """
    game = get_rules(game_name)
    form = files.detect_format(data[: files.FORMAT_DETECTION_BYTES], len(data))
    if form in (GameFormat.TABLE, GameFormat.WTHOR):
        raise MatchError(
            f"{where}: openings are not read from {form} files; export them as transcripts first"
        )
    try:
        lines = decode(data).split("\n")
    except BadGame as error:
        raise MatchError(f"{where}: {error}") from None
    if form in (GameFormat.GGF, GameFormat.PGN):
        try:
            records = [
                (f"{where}: game {number}", record)
                for number, record in enumerate(files.read(lines, form, game_name), start=1)
            ]
        except BadGame as error:
            raise MatchError(f"{where}: {error}") from None
        openings = [_from_record(game, record, what, max_plies) for what, record in records]
    else:
        openings = [
            _parse_whole_line(game, line, f"{where}: line {number}", max_plies)
            for number, line in enumerate(lines, start=1)
            if line.strip() and not line.lstrip().startswith("#")
        ]
    if not openings:
        raise MatchError(f"{where}: the file has no openings")
    return openings


def shuffle_openings(openings: list[Opening], seed: int) -> list[Opening]:
    """Shuffle the openings with a seed; otherwise a match that stops early may play only similar openings."""
    shuffled = list(openings)
    random.Random(seed).shuffle(shuffled)  # noqa: S311
    return shuffled


def fingerprint(openings: list[Opening]) -> str:
    """Return a hash of a list of openings; equal lists have equal hashes."""
    text = "\n".join(_fingerprint_text(opening) for opening in openings)
    return hashlib.sha256(text.encode()).hexdigest()[:16]


def _fingerprint_text(opening: Opening) -> str:
    text = f"{opening.start}|{' '.join(opening.moves)}"
    return text if opening.second is None else f"{text}|{_fingerprint_text(opening.second)}"


def position_after(game: Game[Any], opening: Opening) -> tuple[Any, Any]:
    """Return the starting position and the position after the opening.

    Raises:
        BadPosition, IllegalMove: The opening is not legal.
    """
    start = starting_position(game, opening.start)
    return start, replay(game, opening.moves, start)


def _parse_whole_line(game: Game[Any], line: str, what: str, max_plies: int | None) -> Opening:
    parts = line.split(_BAR)
    if len(parts) > 2:
        raise MatchError(f"{what}: more than two openings on a line")
    if not all(part.strip() for part in parts):
        side = "before" if not parts[0].strip() else "after"
        raise MatchError(f"{what}: nothing {side} the bar")
    first, *others = (_parse_line(game, part, what, max_plies) for part in parts)
    return replace(first, second=others[0]) if others else first


def _parse_line(game: Game[Any], line: str, what: str, max_plies: int | None) -> Opening:
    try:
        position = game.parse_position(line.strip())
    except BadPosition as error:
        record = next(files.read([line], GameFormat.TRANSCRIPT, game.name), None)
        if not isinstance(record, GameRecord):
            raise MatchError(f"{what}: neither a position ({error}) nor moves ({record})") from None
        if game.name == "othello" and (word := transcripts.first_unparsed_word(line)):
            raise MatchError(f"{what}: {word!r} is not a move") from None
        return _from_record(game, record, what, max_plies)
    return _check_opening(game, Opening(_start_text(game, position), ()), what)


def _from_record(game: Game[Any], record: GameRecord | BadGame, what: str, max_plies: int | None) -> Opening:
    if isinstance(record, BadGame):
        raise MatchError(f"{what}: {record}")
    if record.game != game.name:
        raise MatchError(f"{what}: this is a game of {record.game}, not of {game.name}")
    try:
        start = _start_text(game, start_position(record))
    except BadGame as error:
        raise MatchError(f"{what}: {error}") from None
    return _check_opening(game, Opening(start, record.moves[:max_plies]), what)


def _start_text(game: Game[Any], position: Any) -> str | None:
    """Return the position's text; None for the standard position; some protocols support no other."""
    text = game.position_text(position)
    return None if text == game.position_text(game.initial()) else text


def _check_opening(game: Game[Any], opening: Opening, what: str) -> Opening:
    try:
        _, position = position_after(game, opening)
    except (BadPosition, IllegalMove) as error:
        raise MatchError(f"{what}: {error}") from None
    if not game.legal_moves(position):
        raise MatchError(f"{what}: the game is already over; use --opening-plies to take fewer moves")
    return opening
