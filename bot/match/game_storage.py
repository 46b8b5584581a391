"""Stores match games, each in one transaction, and loads them again."""

import hashlib
from collections.abc import Mapping
from dataclasses import asdict
from typing import Any

from sqlalchemy.ext.asyncio import AsyncSession

from bot.base.events import Clock, speed_of
from bot.base.log import printable
from bot.match.conditions import Terms, opponent_name
from bot.match.play import End, FinishedGame, MatchGameRecord, ResourceUse
from bot.match.player_specs import MatchError, OurSpec
from engine import ENGINE_VERSION
from engine.bait_rule import forecast
from engine.figure_9 import classify_by_figure_9, expected_scale_centi, profile_verdict
from engine.forecasts import decision_expectations
from engine.params import TrapParams
from storage.database import Database
from storage.evidence.summaries import summarise
from storage.filters import Filters
from storage.ledger.decisions import commit_decision, mark_confirmed, mark_dropped
from storage.ledger.forecasts import store_forecast
from storage.ledger.games import finish_game, list_games, open_game, set_moves
from storage.ledger.outcomes import record_outcome
from storage.records import MATCH_SITE, GameResult, GameStatus, NewGame, StoredGame

_MAX_NAME_LENGTH = 200  # of the column
_RESULTS = {1.0: GameResult.WIN, 0.5: GameResult.DRAW, 0.0: GameResult.LOSS}
_POINTS = {result: points for points, result in _RESULTS.items()}


async def load(database: Database, match_id: str, terms: Terms) -> dict[int, FinishedGame]:
    """Return the finished games of a match, keyed by number.

    Raises:
        MatchError: The database already has a match with this name but different terms.
    """
    async with database.read() as session:
        stored = await list_games(session, Filters(site=MATCH_SITE, match=match_id))
    for game in stored:
        wrong = _difference(game.selection["terms"], terms.to_json())
        if wrong:
            raise MatchError(f"match {match_id} was begun with other terms: {wrong}; choose another --id")
    return {game.selection["number"]: _finished(game) for game in stored}


async def store_game(database: Database, match_id: str, terms: Terms, played: MatchGameRecord) -> None:
    """Store a game with A's decisions and their outcomes, in one transaction.

    Raises:
        MatchError: The game is stored already.
    """
    async with database.write() as session:
        game = await open_game(session, _new_game(match_id, terms, played), at=played.began)
        if game.state is not GameStatus.OPEN:
            raise MatchError(f"game {game.site_game_id} is stored already: the match is running twice")
        await set_moves(session, game.id, played.moves)
        await _store_decisions(session, game.id, played)
        await finish_game(
            session,
            game.id,
            result=_RESULTS[played.finished.points],
            end_reason=played.finished.end.value,
            moves=played.moves,
            at=played.ended,
        )
        await summarise(session, [game.id])


async def _store_decisions(session: AsyncSession, game_id: int, played: MatchGameRecord) -> None:
    moves = played.moves
    for ply, decision in played.decisions:
        judged = profile_verdict(decision) if decision.is_complete else None
        decision_id = (await commit_decision(session, game_id, ply, decision, judged)).id
        if ply >= len(moves) or moves[ply] != decision.move:
            await mark_dropped(session, decision_id)
            continue
        await mark_confirmed(session, decision_id)
        reply = moves[ply + 1] if ply + 1 < len(moves) else None
        if decision.is_complete or reply is None:
            await record_outcome(session, decision_id, classify_by_figure_9(decision, reply))
        if decision.is_complete:
            reply_forecast = played.forecasts.get(ply)
            if reply_forecast is None:  # programs take no baits, so none is confirmed
                reply_forecast = forecast(decision.chosen, expected_scale_centi(decision))
            await store_forecast(
                session, decision_id, reply_forecast, decision_expectations(decision, reply_forecast)
            )


def _new_game(match_id: str, terms: Terms, played: MatchGameRecord) -> NewGame:
    a, b, finished = terms.a, terms.b, played.finished
    clock = terms.clock
    whole = None if clock is None else Clock(round(clock.initial_s), round(clock.increment_s))
    return NewGame(
        site=MATCH_SITE,
        site_game_id=f"{match_id}-{finished.number + 1:04}",
        game=terms.game,
        variant="standard" if played.opening.start is None else "fromPosition",
        initial_position=played.opening.start,
        our_side=played.a_side,
        rated=False,
        speed=speed_of(whole).value,
        clock_initial_s=None if whole is None else whole.initial_s,
        clock_increment_s=None if whole is None else whole.increment_s,
        opponent_id=_short(b.text),
        opponent_name=_short(opponent_name(b)),
        opponent_is_bot=True,
        our_rating=None,
        opponent_rating=None,
        strategy=a.kind.name if isinstance(a, OurSpec) else a.kind,
        params=a.params if isinstance(a, OurSpec) else TrapParams(),
        engine_version=ENGINE_VERSION,
        selection={
            "method": "match",
            "match": match_id,
            "number": finished.number,
            "terms": terms.to_json(),
            "opening_plies": len(played.opening.moves),
            "margin": finished.margin,
            "loser": finished.loser,
            "reason": printable(finished.reason),
            "names": [printable(name) for name in finished.names],
            "used": [asdict(used) for used in finished.used],
        },
    )


def _finished(game: StoredGame) -> FinishedGame:
    known = game.selection
    if game.result is None:
        raise MatchError(f"game {game.site_game_id} is in the database without a result")
    a_used, b_used = (ResourceUse(**used) for used in known["used"])
    a_name, b_name = known["names"]
    return FinishedGame(
        number=known["number"],
        points=_POINTS[game.result],
        margin=known["margin"],
        end=End(game.end_reason or ""),
        loser=known["loser"],
        reason=known["reason"],
        used=(a_used, b_used),
        names=(a_name, b_name),
    )


def _difference(known: Mapping[str, Any], wanted: Mapping[str, Any]) -> str:
    """Describe the first term that differs; empty if no term differs."""
    for key, value in wanted.items():
        if known.get(key) != value:
            return f"{key} was {known.get(key)!r} and is {value!r}"
    return ""


def _short(text: str) -> str:
    """Shorten a string to the column's length; different strings remain different."""
    text = printable(text)
    if len(text) <= _MAX_NAME_LENGTH:
        return text
    digest = hashlib.sha256(text.encode()).hexdigest()[:12]
    return f"{text[: _MAX_NAME_LENGTH - 16]}... {digest}"
