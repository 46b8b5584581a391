"""The bot's own games as records that can be written in any format."""

from collections.abc import Sequence

from engine.decision import Decision
from engine.formats.record import AGREED, RESIGNED, TIMEOUT, GameRecord, told
from engine.game import WIN_CENTI
from storage.records import GameResult, StoredDecision, StoredGame

_POINTS = {GameResult.WIN: 1.0, GameResult.DRAW: 0.5, GameResult.LOSS: 0.0}
_ENDINGS = {"resignation": RESIGNED, "time": TIMEOUT, "agreement": AGREED}
_CENTI = 100


def record_of(game: StoredGame, our_name: str, decisions: Sequence[StoredDecision] = ()) -> GameRecord:
    """A game of ours.

    Args:
        our_name: What our side is called; a stored game knows only the opponent's name.
        decisions: Its standing decisions: our evaluations and times.
    """
    points = None if game.result is None else _POINTS[game.result]
    by_ply = {found.ply: found.decision for found in decisions}
    plies = range(len(game.moves))
    ours_first = game.our_side == 0
    tags = {
        "UTCTime": f"{game.started_at:%H:%M:%S}",
        "GameId": game.site_game_id,
        "Engine": f"{game.player} {game.engine_version}",
    }
    clock = "" if game.clock_initial_s is None else f"{game.clock_initial_s}+{game.clock_increment_s or 0}"
    ratings = (game.our_rating, game.opponent_rating)
    return GameRecord(
        game=game.game,
        players=(our_name, game.opponent_name) if ours_first else (game.opponent_name, our_name),
        start=game.initial_position,
        moves=game.moves,
        points=points if points is None or ours_first else 1 - points,
        ending=_ENDINGS.get(game.end_reason or "", ""),
        event=f"{'rated' if game.rated else 'casual'} {game.speed} game",
        place=game.site,
        date=f"{game.started_at:%Y.%m.%d}",
        ratings=ratings if ours_first else ratings[::-1],
        clocks=(clock, clock),
        evaluations=told(_evaluation(by_ply.get(ply), game.moves[ply]) for ply in plies),
        times_s=told(_time_s(by_ply.get(ply), game.moves[ply]) for ply in plies),
        tags=tuple(tags.items()),
    )


def _evaluation(decision: Decision | None, move: str) -> float | None:
    """What the player thought of its move, in discs or pawns; of a forced win in Othello its margin.

    None where the move came about otherwise, where nobody gave a score, and for mates.
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
    return (score - WIN_CENTI if score > 0 else score + WIN_CENTI) / _CENTI


def _time_s(decision: Decision | None, move: str) -> float | None:
    return None if decision is None or decision.move != move else round(decision.time_s, 3)
