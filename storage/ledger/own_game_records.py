"""Converts the bot's own games to `GameRecord`s, which can be written in any format."""

import re
from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

from engine.decision import Decision
from engine.formats.clock import GgfClock
from engine.formats.record import (
    AGREED,
    RESIGNED,
    TIMEOUT,
    BadGame,
    GameRecord,
    black_margin,
    margin_points,
    played,
    start_position,
    values_or_empty,
)
from engine.game import WIN_CENTI, margin_centi
from storage.records import MATCH_SITE, GameResult, StoredDecision, StoredGame

_POINTS = {GameResult.WIN: 1.0, GameResult.DRAW: 0.5, GameResult.LOSS: 0.0}
_ENDINGS = {"resignation": RESIGNED, "time": TIMEOUT, "agreement": AGREED}
_OTHER_ENDS = {
    "left": "abandoned",
    "crash": "abandoned",
    "illegal move": "rules infraction",
    "adjudicated": "adjudication",
}
"""PGN's terms for end reasons that only PGN can express, keyed by reason."""
_CENTI = 100
_WITHOUT_CORRESPONDENCE = frozenset({"arena"})
"""Sites that label games without a clock as correspondence but have no correspondence games."""

_OWN_LIMIT = re.compile(r"[:,;] *(depth|time|cpu|nodes) *= *([0-9.]+)")
"""Pattern for a limit in a match player's description; this limit overrides the match's limit."""
_ON_AN_ENGINE = re.compile(r"[a-z_]+_uci:")
"""Pattern for a player whose node limit is a setting of the player's engine."""


def record_of(
    game: StoredGame, our_name: str, decisions: Sequence[StoredDecision] = (), suspect: Sequence[str] = ()
) -> GameRecord:
    """Convert one of our games.

    Args:
        our_name: Our name in the game; a stored game contains only the opponent's name.
        decisions: The game's decisions that were not taken back; they provide our evaluations and times.
        suspect: Why the game is suspect, for its tag "Suspect".
    """
    points = None if game.result is None else _POINTS[game.result]
    by_ply = {record.ply: record.decision for record in decisions}
    plies = range(len(game.moves))
    ours_first = game.our_side == 0
    tags = {
        "UTCTime": f"{game.started_at:%H:%M:%S}",
        "GameId": game.site_game_id,
        "Engine": f"{game.strategy} {game.engine_version}",
    }
    if suspect:
        tags["Suspect"] = ", ".join(suspect)
    if (end := _OTHER_ENDS.get(game.end_reason or "")) is not None:
        tags["Termination"] = end
    clock = "" if game.clock_initial_s is None else f"{game.clock_initial_s}+{game.clock_increment_s or 0}"
    kind = "rated" if game.rated else "casual"
    is_clockless = game.clock_initial_s is None and game.site in _WITHOUT_CORRESPONDENCE
    event = f"{kind} game without a clock" if is_clockless else f"{kind} {game.speed} game"
    if (match := match_of(game)) is not None:
        event, clock = f"match {match}", str(_terms(game).get("clock") or "")
        tags |= _match_tags(game)
    if game.game == "othello" and re.fullmatch(r"s?8[bw]?(r\d+)?", game.variant):
        tags["TY"] = game.variant  # GGS's type; its s marks one game of a synchro pair
        if game.clock_initial_s is not None:  # the extension time is not stored
            clock = GgfClock(game.clock_initial_s, game.clock_increment_s or 0).text(with_extension=False)
    ratings = (game.our_rating, game.opponent_rating)
    record = GameRecord(
        game=game.game,
        players=(our_name, game.opponent_name) if ours_first else (game.opponent_name, our_name),
        start=game.initial_position,
        moves=game.moves,
        points=points if points is None or ours_first else 1 - points,
        ending=_ENDINGS.get(game.end_reason or "", ""),
        event=event,
        place=game.site,
        date=f"{game.started_at:%Y.%m.%d}",
        ratings=ratings if ours_first else ratings[::-1],
        clocks=(clock, clock),
        evaluations=values_or_empty(_evaluation(by_ply.get(ply), game.moves[ply]) for ply in plies),
        times_s=values_or_empty(_time_s(by_ply.get(ply), game.moves[ply]) for ply in plies),
        tags=tuple(tags.items()),
    )
    return replace(record, margin=_margin(record))


def match_of(game: StoredGame) -> str | None:
    """The name of the match that a game belongs to, or None."""
    return game.selection.get("match") if game.site == MATCH_SITE else None


def match_limits(game: StoredGame) -> str:
    """The limits of a match's players: ``60+0.6``, or ``A depth 8, B 0.1 s a move``."""
    a, b = _limits(game, "a"), _limits(game, "b")
    return a if a == b else f"A {a}, B {b}"


def _match_tags(game: StoredGame) -> dict[str, str]:
    """Tags for the players and their limits."""
    terms = _terms(game)
    tags = {
        "PlayerA": str(terms.get("a", "")),
        "PlayerB": str(terms.get("b", "")),
        "LimitA": _limits(game, "a"),
        "LimitB": _limits(game, "b"),
    }
    return {name: value for name, value in tags.items() if value}


def _limits(game: StoredGame, player: str) -> str:
    """A player's clock if any, otherwise the limits in the player's description, otherwise the match's."""
    terms = _terms(game)
    text = str(terms.get(player, ""))
    own = dict(_OWN_LIMIT.findall(text))
    if _ON_AN_ENGINE.match(text):
        own.pop("nodes", None)
    clock, time_s, depth = (str(terms.get(key) or "") for key in ("clock", "time_s", "depth"))
    if clock:
        depth = own.get("depth", depth)
    elif own:
        time_s, depth = own.get("time", ""), own.get("depth", "")
    cpu_s, nodes = own.get("cpu", ""), own.get("nodes", "")
    parts = (
        clock,
        time_s and f"{time_s} s a move",
        cpu_s and f"{cpu_s} s of processor time a move",
        nodes and f"{nodes} nodes a move",
        depth and f"depth {depth}",
    )
    return ", ".join(part for part in parts if part)


def _terms(game: StoredGame) -> Mapping[str, Any]:
    terms = game.selection.get("terms")
    return terms if isinstance(terms, Mapping) else {}


def _margin(record: GameRecord) -> float | None:
    """The disc margin of an Othello game that was played to the end; None for other games.

    Also None if the site's result contradicts the board.
    """
    if record.game != "othello" or record.points is None or record.ending in (RESIGNED, TIMEOUT):
        return None
    try:
        margin = black_margin(played(record.moves, start_position(record)))
    except BadGame:
        return None
    return margin if margin_points(margin) == record.points else None


def _evaluation(decision: Decision | None, move: str) -> float | None:
    """The player's score for its move, in discs or pawns; for a forced win in Othello, the margin.

    None if the game continued with another move, the move has no score, or the score is a mate.
    """
    if decision is None or decision.move != move:
        return None
    score = decision.chosen.raw_centi if decision.pick is None else decision.pick.score_centi
    if score is None:
        return None
    if abs(score) < WIN_CENTI:
        return score / _CENTI
    if decision.game != "othello" or abs(score) == WIN_CENTI:
        return None
    return margin_centi(score) / _CENTI


def _time_s(decision: Decision | None, move: str) -> float | None:
    return None if decision is None or decision.move != move else round(decision.time_s, 3)
