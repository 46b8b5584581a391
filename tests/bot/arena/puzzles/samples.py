"""Traps into which scripted people fell in real games, made anew by the search in hundredths of a second."""

from dataclasses import dataclass, replace
from functools import cache

from sqlalchemy.ext.asyncio import AsyncSession

from engine.bait_rule import forecast
from engine.completion import complete
from engine.decision import Decision
from engine.figure_9 import classify_by_figure_9, expected_scale_centi
from engine.forecasts import own_costs
from engine.games import get_rules
from engine.human.reply_forecast import ReplyForecast
from engine.judge import ReplyCosts
from engine.move_chooser import MoveChooser
from engine.params import TrapParams
from engine.search.searchers import make_searcher
from engine.stop import StopFlag
from engine.strategies.registry import strategy_named
from engine.time_management import Limits
from storage.arena import accounts as arena
from storage.ledger.games import finish_game
from storage.ledger.judgements import store_judgements
from storage.ledger.outcomes import record_outcome
from storage.records import GameResult
from storage.tables.types import now_utc
from tests.storage.arena.test_accounts import game as arena_game
from tests.storage.samples import commit_decision, opened, store_forecast

_DEPTH = 4


@dataclass(frozen=True)
class Trap:
    """A position before our move, and what there is to find after it."""

    game: str
    variant: str
    position: str
    move: str
    bait: str
    good: tuple[str, ...]
    """The best one first."""
    poor: str
    """Neither sound nor a bait."""


TRAPS = {
    trap.game: trap
    for trap in (
        Trap(
            "othello", "othello", "8/5w2/wwwb1w2/1wwwbbb1/1wwbb3/w2bb3/8/8 w", "e2", "d1", ("f1",), "d2"
        ),
        Trap(
            "chess", "standard", "r2qkb1r/1b1n1pp1/p3pn1p/2pP4/2N2P2/2NP3P/PPP1B2R/R1BQK3 b Qkq - 0 16",
            "e6d5", "c4d2", ("c4e5", "e2f3"), "c4a3",
        ),
        Trap(
            "xiangqi", "xiangqi",
            "r1bakab2/4n4/4c4/pRp1C1p1p/9/6P2/2P1cr2P/N5N2/3R5/2BAKAB2 w - - 0 12 moves d2d4", "e4c4",
            "g3e2", ("g3e4", "d4e4"), "f1e2",
        ),
        Trap(
            "connect4", "connect4", "......./...y.../...r.../...y.../...r.../..rry.y r", "c2", "e2",
            ("c3",), "b1",
        ),
    )
}  # fmt: skip


@cache
def analysed(game: str) -> tuple[Decision, ReplyForecast, ReplyCosts]:
    """The decision of the game's trap, its forecast with the bait, and the costs of all replies.

    The judge agrees with the decision's own scores, but that all good replies are among the best.
    """
    trap, rules, searcher = TRAPS[game], get_rules(game), make_searcher(game, 1)
    player = MoveChooser(strategy_named("trappy"), rules, TrapParams(), searcher)
    made = player.choose(rules.parse_position(trap.position), Limits(_DEPTH), StopFlag())
    made = complete(made, searcher, StopFlag())
    found = forecast(made.chosen, expected_scale_centi(made))
    own = own_costs(made, found.replies)
    replies = (replace(each, cost=100) if each.reply in trap.good[1:] else each for each in own.replies)
    costs = replace(own, replies=tuple(replies))
    bait = replace(costs, replies=(costs.of(trap.bait),))
    return made, replace(found, costs=bait, bait_replies=(trap.bait,)), costs


async def add_mistake(
    session: AsyncSession,
    game: str,
    key: str,
    person: str,
    *,
    reply: str | None = None,
    rating: int | None = 1500,
    ply: int = 0,
    settled: bool = True,
) -> None:
    """A game of the arena and of our records in which a person met the game's trap.

    Args:
        session: The transaction.
        game: The game's name.
        key: The arena's id of the game.
        person: Who met it; gets an account if there is none.
        reply: What they replied; None: the bait.
        rating: Theirs.
        ply: Moves before: another number makes another position of it.
        settled: Whether its analysis is finished.
    """
    trap = TRAPS[game]
    for name in (person, "Desdemona"):
        if await arena.get_account(session, name.lower()) is None:
            await arena.add_account(
                session,
                account_id=name.lower(),
                name=name,
                is_bot=name == "Desdemona",
                token_hash=f"hash of {name}",
                created_at=now_utc(),
            )
    players = (person.lower(), "desdemona")
    await arena.add_game(
        session,
        arena_game(key, variant=trap.variant, players=players, ended_at=now_utc(), status="resign"),
    )
    stored = await opened(
        session,
        key,
        game=game,
        variant=trap.variant,
        initial_position=trap.position,
        opponent_id=person.lower(),
        opponent_name=person,
        opponent_rating=rating,
    )
    made, found, costs = analysed(game)
    reply = trap.bait if reply is None else reply
    decision_id = await commit_decision(session, stored.id, ply, made)
    await record_outcome(session, decision_id, classify_by_figure_9(made, reply))
    await store_forecast(session, decision_id, made, found)
    await store_judgements(session, stored.id, {decision_id: (reply, costs)})
    moves = [*["pass"] * ply, made.move, reply]
    await finish_game(
        session, stored.id, result=GameResult.WIN, end_reason="resign", settled=settled, moves=moves
    )
