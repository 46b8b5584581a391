"""Remembers the moves of recent games, so that we avoid playing the same game twice.

lichess.org does not rate a game with a program if one of the last two games between the same
players had the same first 20 plies and the same winner. Moreover, an opponent who has found a weak line
would repeat it, and so would other opponents, because games are public.
"""

import logging
from collections import Counter
from collections.abc import Mapping, Sequence
from typing import Any

from engine.game import BadPosition, Game, IllegalMove, continued_position, starting_position
from engine.variety import RepetitionAvoidance
from storage.database import Database
from storage.errors import StorageError
from storage.filters import Filters
from storage.ledger.games import list_games, list_non_win_lines
from storage.records import AccountKey, GameResult, NonWinLine, StoredGame

logger = logging.getLogger(__name__)

AVOIDED_RECENT_GAMES = 2
"""How many of the latest games against an opponent must not be repeated."""
WINDOW_PLIES = 20
"""A game counts as different if it deviates within this many plies."""

MIN_COPIED_PLIES = 8
"""A game counts as a copy of an earlier non-win if at least this many initial plies are equal."""
MAX_NON_WINS = 300
"""How many of the latest lost or drawn games must not be repeated, per kind of game and account."""
MAX_LOSS_DOUBLINGS = 3
"""The loss allowed to avoid a line doubles each time the line is repeated, at most this many times."""

Paths = Mapping[str, tuple[str, ...]]
"""Recently played moves, keyed by the text of the position in which they were played."""


async def recent_paths(database: Database, game: Game[Any], stored: StoredGame) -> Paths:
    """Return the openings of the latest games against this opponent; empty if the database fails.

    Games without a result do not count, as on the server; otherwise two aborted games would displace the
    games that must not be repeated.
    """
    filters = Filters(
        site=stored.site,
        account=stored.account,
        game=stored.game,
        opponent_id=stored.opponent_id,
        has_result=True,
    )
    try:
        async with database.read() as session:
            latest = await list_games(session, filters, limit=AVOIDED_RECENT_GAMES)
    except StorageError as error:  # finding a move matters more
        logger.warning("game %s: %s; it may repeat an opening", stored.site_game_id, error)
        return {}
    return paths(game, latest)


def paths(game: Game[Any], games: Sequence[StoredGame]) -> Paths:
    """Return the moves in the first `WINDOW_PLIES` plies of the given games, keyed by position."""
    paths: dict[str, tuple[str, ...]] = {}
    for stored in games:
        try:
            position = starting_position(game, stored.initial_position)
            for move in stored.moves[:WINDOW_PLIES]:
                here = game.position_text(position)
                paths[here] = tuple(dict.fromkeys((*paths.get(here, ()), move)))
                position = continued_position(game, game.play(position, game.parse_move(position, move)))
        except (BadPosition, IllegalMove) as error:
            logger.warning("game %s can no longer be read: %s", stored.site_game_id, error)
    return paths


class NonWins:
    """An account's latest losses and draws, to be avoided because people could repeat them.

    The games are read once, and each new game is added as soon as it ends, so that a concurrent game a few
    moves behind cannot repeat it.
    """

    def __init__(self) -> None:
        self._lines: dict[str, dict[int, tuple[NonWinLine, str]]] = {}
        """The lines, each with its moves in normal form as text, keyed by kind of game, then by game id."""
        self._read: set[str] = set()
        """Kinds of games whose lines have been read."""

    async def load(self, database: Database, owner: AccountKey, game: str) -> None:
        """Read the lines of a kind of game unless they have been read; if this fails, there are none."""
        if game in self._read:
            return
        try:
            async with database.read() as session:
                lines = await list_non_win_lines(session, owner, game, MAX_NON_WINS)
        except StorageError as error:  # finding a move matters more
            logger.warning("%s; games may be repeated", error)
            return
        self._read.add(game)
        for line in lines:
            self._keep(game, line)

    def add(self, stored: StoredGame, moves: Sequence[str], result: GameResult | None) -> None:
        """Remember a game that has just ended, unless we won it or it has no result."""
        if result in (GameResult.LOSS, GameResult.DRAW):
            line = NonWinLine(stored.id, stored.initial_position, stored.our_side, tuple(moves))
            self._keep(stored.game, line)

    def _keep(self, game: str, line: NonWinLine) -> None:
        known = self._lines.setdefault(game, {})
        known[line.game_id] = line, _joined(_normal_form(game, line.initial_position, line.moves))
        if len(known) > MAX_NON_WINS:
            del known[min(known)]

    def avoidance(
        self, stored: StoredGame, moves: Sequence[str], avoid: Sequence[str], within_centi: int
    ) -> RepetitionAvoidance | None:
        """Return the moves to avoid so that no earlier game is repeated; None if there are none.

        Args:
            stored: The game in the database.
            moves: Its moves so far.
            avoid: Further moves to avoid.
            within_centi: Maximum loss of a move compared with the best. It doubles if the next 20 plies were
                repeated once, quadruples if they were repeated twice, and so on.
        """
        nexts: Counter[tuple[str, ...]] = Counter()
        if len(moves) >= MIN_COPIED_PLIES:
            now = _joined(_normal_form(stored.game, stored.initial_position, moves))
            for line, text in self._lines.get(stored.game, {}).values():
                is_alike = (line.initial_position, line.our_side) == (
                    stored.initial_position,
                    stored.our_side,
                )
                if is_alike and len(text) > len(now) and text.startswith(now):
                    nexts[tuple(text[len(now) :].split(maxsplit=WINDOW_PLIES)[:WINDOW_PLIES])] += 1
        turned = [_normal_form(stored.game, stored.initial_position, moves, (each[0],))[0] for each in nexts]
        avoided = tuple(dict.fromkeys((*avoid, *turned)))
        if not avoided:
            return None
        doublings = min(max(nexts.values(), default=1) - 1, MAX_LOSS_DOUBLINGS)
        return RepetitionAvoidance(avoided, within_centi, within_centi << doublings)


def _joined(moves: Sequence[str]) -> str:
    return "".join(f"{move} " for move in moves)


_FIRST_MOVES = {"f5": (False, False), "e6": (True, False), "c4": (False, True), "d3": (True, True)}
"""For each first move of Othello, whether to swap rows and columns, and whether to turn the board by 180
degrees, so that the move becomes f5. Each of these changes is its own inverse."""


def _normal_form(
    game: str, start: str | None, moves: Sequence[str], after: Sequence[str] | None = None
) -> tuple[str, ...]:
    """Convert moves to normal form: every Othello game begins with f5, as the first moves are equivalent.

    Args:
        game: The game's name.
        start: Its initial position; None for the standard one.
        moves: Moves of the game, beginning with the first.
        after: Moves of the same game to convert to or from normal form; None to convert `moves`.
    """
    turned = tuple(moves if after is None else after)
    is_usual = game == "othello" and start is None
    swap, turn = _FIRST_MOVES.get(moves[0], (False, False)) if is_usual and moves else (False, False)
    return tuple(_normal_form_move(move, swap, turn) for move in turned) if swap or turn else turned


def _normal_form_move(move: str, swap: bool, turn: bool) -> str:
    if len(move) != 2:  # a pass
        return move
    column, row = ord(move[0]) - ord("a"), ord(move[1]) - ord("1")
    if swap:
        column, row = row, column
    if turn:
        column, row = 7 - column, 7 - row
    return chr(ord("a") + column) + chr(ord("1") + row)
