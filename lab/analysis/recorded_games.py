"""Reads games from files and selects the moves that have a reply."""

import hashlib
import heapq
import re
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from bot.base.game_files import game_sources
from engine.formats.files import GameFormat
from engine.formats.record import BadGame, GameRecord, steps
from engine.game import Game
from engine.games import first_side, get_rules
from lab.analysis.reply_profiles import AnalysisError
from storage.research.archive import content_key, draw_key

_MAX_REPORTED = 5


@dataclass(frozen=True, slots=True)
class GivenGame:
    """A game read from a file."""

    record: GameRecord
    key: str
    """The game's key: the `storage.research.archive.content_key` of its record."""
    source: str
    """Name of the file."""
    source_format: str

    @property
    def year(self) -> int | None:
        """Year of the game; None if unknown."""
        return year_of(self.record.date)


@dataclass(frozen=True, slots=True, kw_only=True)
class MoveFilter:
    """Selects the moves to analyse."""

    from_year: int | None = None
    to_year: int | None = None
    players: tuple[str, ...] = ()
    """Only replies of players whose names contain one of these strings, ignoring case; empty: all players."""
    min_rating: int | None = None
    max_rating: int | None = None
    """Limits on the rating of the person who replies; if either is set, unrated people are excluded."""
    from_ply: int = 1
    """Only replies after at least this many moves."""
    to_ply: int | None = None
    every: int = 1
    """Only every n-th move of a game, with an offset that varies from game to game."""
    sample: int | None = None
    """Maximum number of moves to select at random; a larger sample contains every smaller one."""
    seed: int = 1


@dataclass(frozen=True, slots=True)
class AnsweredMove:
    """A move and the reply to it; at least two replies were legal."""

    game: GivenGame
    ply: int
    """Ply of the reply, that is, the number of moves before it."""
    position: str
    """Position before the move, as the root of a search."""
    move: str
    reply: str
    side: int
    """Side of the person who replied."""
    logistic_centi: float
    """`Game.expected_scale_centi` of the position."""

    @property
    def rating(self) -> int | None:
        """Rating of the person who replied."""
        found = self.game.record.ratings[self.side]
        return None if found is None else round(found)

    @property
    def clock_s(self) -> float | None:
        """The person's remaining time before the reply, as recorded after their previous move."""
        clocks = self.game.record.clocks_s
        return clocks[self.ply - 2] if clocks and self.ply >= 2 else None


def year_of(date: str) -> int | None:
    """The year in a date as written in game files; None if the date has no year."""
    match = re.search(r"(?<!\d)(1[5-9]\d\d|20\d\d)(?!\d)", date)
    return None if match is None else int(match[1])


def is_within(number: float | None, least: int | None, most: int | None) -> bool:
    """Whether a year or rating is within the limits (None: no limit); an unknown value fails any limit."""
    if least is None and most is None:
        return True
    return number is not None and (least is None or number >= least) and (most is None or number <= most)


def half_of(key: str, seed: int) -> int:
    """Assign a game to half 0 or 1 of all games, so that one half can be used to learn and the other to test.

    Args:
        key: The game's `storage.research.archive.draw_key`; it makes the halves the same in every database.
    """
    return _draw(seed, key, "half") & 1


def half_of_person(name: str, seed: int) -> int:
    """Assign a person to half 0 or 1 of all people."""
    return _draw(seed, name, "person") & 1


def read_games(
    paths: Sequence[Path],
    game: str,
    form: GameFormat | None = None,
    on_bad: Callable[[str], None] = lambda _: None,
) -> Iterator[GivenGame]:
    """Read the records of one game (such as chess) from files, in order, skipping records of other games.

    Args:
        form: The files' format; None to detect it from each file's contents.
        on_bad: Called with a one-line message for each of the first few unreadable games of a file.

    Raises:
        AnalysisError: A file cannot be read.
    """
    names = [path for path in paths if path.suffix.lower() in (".jou", ".trn")]
    for path in paths:
        if path in names:
            continue
        try:
            for source in game_sources(path, form, game, names=names, on_note=on_bad):
                for record in source:
                    if not isinstance(record, BadGame):
                        if record.game == game and record.moves:
                            name = Path(source.name).name
                            yield GivenGame(record, content_key(record), name, source.form)
                    elif source.refused <= _MAX_REPORTED:
                        on_bad(f"{source.name}: {record}")
                if source.refused > _MAX_REPORTED:
                    on_bad(f"{source.name}: and {source.refused - _MAX_REPORTED} more bad games")
                if source.skipped_text:
                    on_bad(f"{source.name}: {source.skipped_text}")
        except (OSError, BadGame) as error:
            text = error.strerror if isinstance(error, OSError) else error
            raise AnalysisError(f"{path}: {text}") from None


def first_copies(games: Sequence[GivenGame]) -> list[GivenGame]:
    """Keep the first game with each `GivenGame.key`, because files may overlap or be given twice."""
    found: dict[str, GivenGame] = {}
    for given in games:
        found.setdefault(given.key, given)
    return list(found.values())


def select_moves(
    games: Sequence[GivenGame], choice: MoveFilter, on_batch: Callable[[int], None] = lambda _: None
) -> list[AnsweredMove]:
    """The moves to analyse, in the order of the games (for a random sample, in the order of sampling).

    Args:
        games: The games; only the first copy of each counts.
        on_batch: Called with the number of moves found so far.
    """
    games = first_copies(games)
    wanted = [(at, ply) for at, given in enumerate(games) for ply in _plies(given, choice)]
    keys = [draw_key(given.record) for given in games]
    sample = choice.sample
    if sample is None:
        return list(_answered(games, wanted, len(wanted), on_batch))
    drawn = sample + sample // 8 + 64  # some leave no choice of replies
    while True:
        draws = ((_draw(choice.seed, keys[at], ply), at, ply) for at, ply in wanted)
        first = [(at, ply) for _, at, ply in heapq.nsmallest(drawn, draws)]
        answered = list(_answered(games, first, sample, on_batch))
        if len(answered) == sample or drawn >= len(wanted):
            return answered
        drawn *= 2


def _plies(given: GivenGame, choice: MoveFilter) -> Iterator[int]:
    record = given.record
    if not is_within(given.year, choice.from_year, choice.to_year):
        return
    wanted = [_passes_player_filter(record, side, choice) for side in (0, 1)]
    if not any(wanted):
        return
    first = _draw(0, draw_key(given.record), "every") % choice.every
    start_side = first_side(record.game, record.start)
    last = len(record.moves) - 1 if choice.to_ply is None else min(choice.to_ply, len(record.moves) - 1)
    for ply in range(max(1, choice.from_ply), last + 1):
        # Passes are moves, so sides alternate.
        if ply % choice.every == first and wanted[(start_side + ply) % 2]:
            yield ply


def _passes_player_filter(record: GameRecord, side: int, choice: MoveFilter) -> bool:
    name, rating = record.players[side].casefold(), record.ratings[side]
    if choice.players and not any(part.casefold() in name for part in choice.players):
        return False
    return is_within(rating, choice.min_rating, choice.max_rating)


def _answered(
    games: Sequence[GivenGame],
    wanted: Sequence[tuple[int, int]],
    most: int,
    on_batch: Callable[[int], None],
) -> Iterator[AnsweredMove]:
    """The first `most` of the wanted moves that allow at least two replies."""
    plies: dict[int, list[int]] = {}
    for at, ply in wanted:
        plies.setdefault(at, []).append(ply)
    known: dict[tuple[int, int], AnsweredMove] = {}
    count = 0
    for at, ply in wanted:
        if count == most:
            return
        if at in plies:
            known |= {(at, each.ply): each for each in _of_game(games[at], set(plies.pop(at)))}
        found = known.pop((at, ply), None)
        if found is not None:
            count += 1
            on_batch(count)
            yield found


def _of_game(given: GivenGame, plies: set[int]) -> Iterator[AnsweredMove]:
    record = given.record
    game: Game[Any] = get_rules(record.game)
    before = None
    for ply, (position, move) in enumerate(steps(record)):
        if ply in plies and before is not None and before[1]:  # not after a null move
            root, ours = before
            root = game.for_search(root)
            after = game.play(root, ours)
            replies = game.legal_moves(after)
            if len(replies) > 1 and move in replies:
                yield AnsweredMove(
                    given,
                    ply,
                    game.position_text(root),
                    game.move_text(ours),
                    game.move_text(move),
                    game.side_to_move(after),
                    game.expected_scale_centi(root),
                )
        before = position, move


def _draw(seed: int, key: str, what: object) -> int:
    digest = hashlib.blake2b(f"{seed} {key} {what}".encode(), digest_size=8).digest()
    return int.from_bytes(digest, "big")
