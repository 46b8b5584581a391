"""Exports a finished game as a file, in the usual formats for its rules.  No I/O."""

from bot.arena.game import ReplayedGame
from bot.base.events import Clock, speed_of
from engine.formats import files
from engine.formats.clock import GgfClock
from engine.formats.files import GameFormat
from engine.formats.record import AGREED, RESIGNED, TIMEOUT, GameRecord, black_margin

_FORMATS = {
    "chess": (GameFormat.PGN, GameFormat.TRANSCRIPT),
    "xiangqi": (GameFormat.PGN, GameFormat.TRANSCRIPT),
    "othello": (GameFormat.GGF, GameFormat.TRANSCRIPT),
}
"""Available formats, keyed by the name of the rules; for other rules, only transcripts are available."""
ENDINGS = {GameFormat.PGN: "pgn", GameFormat.GGF: "ggf", GameFormat.TRANSCRIPT: "txt"}
"""File extensions."""
_ENDED_BY = {"resign": RESIGNED, "outoftime": TIMEOUT, "draw": AGREED}


def formats_of(game: ReplayedGame) -> tuple[GameFormat, ...]:
    """The formats available for a game; none until it is over, and none if it has no moves."""
    if not (game.is_over and game.record.moves):
        return ()
    formats = _FORMATS.get(game.variant.game_name, (GameFormat.TRANSCRIPT,))
    # A transcript implies the usual start.
    return formats if game.record.initial_fen is None else formats[:1]


def _kind(clock: Clock | None) -> str:
    """Describe a game's speed in words. Other sites use the speed "correspondence" for games without a clock,
    but the arena has no such speed."""
    return "game without a clock" if clock is None else f"{speed_of(clock).value} game"


def as_file(game: ReplayedGame, form: GameFormat, base_url: str) -> str:
    """Convert a finished game to text in a given format.

    Args:
        game: The game.
        form: A format from `formats_of`.
        base_url: The arena's public URL.
    """
    return files.write(_record(game, base_url), form)


def _record(game: ReplayedGame, base_url: str) -> GameRecord:
    record, clock, rules = game.record, game.clock, game.variant.rules
    is_othello = game.variant.game_name == "othello"
    clock_text = ""
    if clock is not None:
        plain = f"{clock.initial_s}+{clock.increment_s}"
        ggf = GgfClock(clock.initial_s, clock.increment_s)
        clock_text = ggf.text(with_extension=False) if is_othello else plain
    points = None
    if record.status != "aborted":
        points = 0.5 if record.winner is None else 1.0 - record.winner
    is_by_rules = not rules.legal_moves(game.position)
    start = (
        None if record.initial_fen is None else rules.position_text(game.variant.start(record.initial_fen))
    )
    return GameRecord(
        game=game.variant.game_name,
        players=(game.players[0].name, game.players[1].name),
        start=start,
        moves=record.moves,
        points=points,
        margin=black_margin(game.position) if is_othello and is_by_rules else None,
        ending="" if is_by_rules or game.is_drawn_by_length else _ENDED_BY.get(record.status, ""),
        event=f"{'rated' if record.rated else 'casual'} {_kind(clock)}",
        place=f"{base_url}/game/{game.id}",
        date=f"{record.created_at:%Y.%m.%d}",
        ratings=(float(record.ratings[0]), float(record.ratings[1])),
        clocks=(clock_text, clock_text),
        tags=(("UTCTime", f"{record.created_at:%H:%M:%S}"), ("GameId", game.id)),
    )
