"""Chess games: a move of ours that tempts people, and one whose costly replies tempt nobody."""

from dataclasses import replace

from sqlalchemy.ext.asyncio import AsyncSession

from bot.text.trap_report import DecisionReport, JudgedReply, ReplyReport, shown_cost
from engine.bait_rule import ExpectedReplies, forecast, with_costs
from engine.decision import Candidate, Decision, ModelInfo, ReplyProfile
from engine.figure_9 import classify_by_figure_9, expected_scale_centi
from engine.forecasts import own_costs
from engine.human.reply_forecast import ReplyForecast
from engine.judge import ReplyCost
from engine.params import TrapParams
from storage.ledger.games import finish_game, load_game
from storage.ledger.judgements import store_judgements
from storage.ledger.outcomes import record_outcome
from storage.records import GameResult, StoredGame
from tests.storage.samples import ARENA, commit_decision, opened, store_forecast

Replies = dict[str, tuple[tuple[int, ...], float]]

OPENING = "rnbqkbnr/pppppppp/8/8/8/8/PPPPPPPP/RNBQKBNR w KQkq - 0 1"
AFTER_E5 = "rnbqkbnr/pppp1ppp/8/4p3/4P3/8/PPPP1PPP/RNBQKBNR w KQkq - 0 2"

PEOPLE = ModelInfo("maia", "club players", "0")

TEMPTS: Replies = {
    "e7e5": ((10, 20, 25, 30), 0.35),
    "d7d5": ((-40, -30, 60, 180), 0.30),  # looks better than e5 two and three plies ahead
    "g8f6": ((30, 40, 15, 190), 0.15),  # and this one four plies ahead, but few play it
    "a7a6": ((30, 40, 60, 90), 0.20),
}
"""The replies to 1 e4: our score after 2 .. 5 plies, and how likely people play them."""

PLAIN: Replies = {
    "b8c6": ((10, 20, 25, 30), 0.30),
    "d8f6": ((700, 800, 600, 900), 0.28),  # loses the queen at every depth
    "d7d6": ((20, 30, 35, 45), 0.10),
    "g8f6": ((20, 30, 40, 50), 0.10),
    "f8c5": ((30, 40, 40, 55), 0.10),
    "d8h4": ((900, 600, 500, 880), 0.10),  # looks better than it is, and worse than Nc6 at every depth
    "a7a6": ((60, 70, 90, 95), 0.01),
    "f7f6": ((90, 90, 95, 120), 0.01),
}
"""The eight replies to 2 Nf3."""


LOST: Replies = {
    "e7e5": ((10, 20, 25, -100_050), 0.35),  # the reply that mates us
    "d7d5": ((-40, -30, 60, 180), 0.35),
    "a7a6": ((30, 40, 60, 90), 0.30),
}
"""Replies to 1 e4 in a position that was lost before it: a bait, and a costly reply beside it."""


def decided(position: str, move: str, table: Replies) -> Decision:
    """A move of the trappy player with these replies, to depth 5."""
    replies = tuple(ReplyProfile(reply, scores) for reply, (scores, _) in table.items())
    raw = min(reply.final_centi for reply in replies)
    played = Candidate(move, raw, False, float(raw), replies=replies, complete=True)
    return Decision(
        game="chess",
        position=position,
        strategy="trappy",
        params=TrapParams(),
        move=move,
        candidates=(played,),
        depth=5,
        principal_variation=(move,),
        nodes=1,
        time_s=0.1,
        profile_source="reference",
        engine_version="1",
    )


async def tempting_game(
    session: AsyncSession, reply: str = "d7d5", *, judged: bool = True, key: str = "game0001"
) -> StoredGame:
    """A game of one move, 1 e4 with the replies `TEMPTS`, and its reply.

    Args:
        judged: Whether the judge has found the baits, and judged the reply.
    """
    return await _game(session, OPENING, "e2e4", TEMPTS, reply, judged, key)


async def lost_game(session: AsyncSession, reply: str, *, key: str = "lost") -> StoredGame:
    """A game of one move, 1 e4 with the replies `LOST`, and its reply."""
    return await _game(session, OPENING, "e2e4", LOST, reply, True, key)


async def plain_game(session: AsyncSession, reply: str = "d8f6") -> StoredGame:
    """A game of one move, 2 Nf3 with the replies `PLAIN`, and its reply."""
    return await _game(session, AFTER_E5, "g1f3", PLAIN, reply, True, "game0001")


async def _game(
    session: AsyncSession, position: str, move: str, table: Replies, reply: str, judged: bool, key: str
) -> StoredGame:
    game = await opened(session, key, game="chess", variant="fromPosition", initial_position=position)
    made = decided(position, move, table)
    decision_id = await commit_decision(session, game.id, 0, made)
    await record_outcome(session, decision_id, classify_by_figure_9(made, reply))
    probabilities = ExpectedReplies(tuple(p for _, p in table.values()), PEOPLE)
    found = forecast(made.chosen, expected_scale_centi(made), probabilities)
    if judged:
        found = judged_by_own_costs(made, found)
    await store_forecast(session, decision_id, made, found)
    moves = [move, reply]
    await finish_game(session, game.id, result=GameResult.WIN, end_reason="normal", moves=moves)
    if judged:
        costs = own_costs(made, [reply])
        await store_judgements(session, game.id, {decision_id: (reply, costs)})
    stored = await load_game(session, ARENA, game.site_game_id)
    assert stored is not None
    return stored


def judged_by_own_costs(made: Decision, found: ReplyForecast) -> ReplyForecast:
    """The forecast with its baits, if the judge agrees with the decision's own scores."""
    costs = own_costs(made, found.likeliest)
    return with_costs(found, made.chosen, expected_scale_centi(made), costs)


def judged_reply(reply: ReplyReport, cost: int, *, depth: int = 14, is_solved: bool = False) -> JudgedReply:
    """A verdict of the judge on a reply; its score in pawns is minus a thousandth of the cost."""
    score_centi = -cost // 10
    made = ReplyCost(reply.reply, score_centi, cost, depth - 1, is_solved)
    return JudgedReply(
        reply=reply.reply,
        name=reply.name,
        squares=reply.squares,
        word=made.word,
        is_best=made.is_best,
        cost=cost,
        shown_cost=shown_cost(made),
        cost_text="" if made.is_best else f"{-score_centi / 100:.2f}",
        score_centi=score_centi,
        score_text=f"{score_centi / 100:+.2f}",
        judge_depth=depth,
        is_solved=is_solved,
    )


def with_verdict(told: DecisionReport, reply: str, cost: int | None, best: str) -> DecisionReport:
    """The report on a move as if this reply had been played, and had cost this.

    Args:
        told: The report.
        reply: The reply.
        cost: Its cost by the judge; None if it is not judged.
        best: The judge's best reply.
    """
    replies = {each.reply: each for each in told.replies}
    best_reply = judged_reply(replies[best], 0)
    judged = None if cost is None else judged_reply(replies[reply], cost)
    judged = best_reply if judged is not None and reply == best else judged
    verdicts = {each.reply: each for each in (best_reply, judged) if each is not None}
    forecast = told.forecast
    if forecast is not None:
        baits = {each.reply for each in forecast.baits}
        forecast = replace(forecast, is_taken=reply in baits if baits else None)
    return replace(
        told,
        replies=tuple(replace(each, judged=verdicts.get(each.reply)) for each in told.replies),
        forecast=forecast,
        reply=reply,
        reply_name=replies[reply].name,
        best=best_reply,
        judged=judged,
        cost=cost,
        cost_text=None if judged is None else judged.cost_text,
    )
