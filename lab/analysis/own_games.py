"""The bot's own games with people: their positions, and a human-move model's prediction of every reply.

The predictions recorded during play are unsuitable: only some strategies query a human-move model, and not
always the same model, so those predictions cover a biased selection of games.
"""

from collections.abc import AsyncIterator, Callable, Sequence
from contextlib import suppress
from dataclasses import replace
from typing import Any

from sqlalchemy import select
from sqlalchemy.ext.asyncio import AsyncSession

from engine.decision import Decision, ReplyProfile
from engine.formats.record import BadGame, GameRecord, steps
from engine.game import Game
from engine.games import get_rules
from engine.human.model import HumanModel, PredictionQuery, predictions_of
from lab.analysis.analysed_games import AnalysedPosition, StoredPosition
from storage.tables.games import DecisionRow, GameRow, OpponentRow, OutcomeRow

_MAX_DECISIONS = 500
"""Maximum number of decisions read by one SQL statement."""


def with_predictions(
    model: HumanModel,
    given: Sequence[tuple[StoredPosition, GameRecord]],
    on_count: Callable[[int], None] = lambda _: None,
) -> list[StoredPosition]:
    """Add a model's predictions to positions; the model receives as much of the game history as it uses.

    Args:
        given: The positions with their games; the model is queried once per game.
        on_count: Called after each query with the number of positions in it.

    Returns:
        The positions in the same order; a position whose stored replies are outdated has no prediction.

    Raises:
        BadModel: The model fails to answer.
    """
    game = get_rules(model.game)
    positions = [stored for stored, _ in given]
    by_game: dict[str, list[int]] = {}
    for at, stored in enumerate(positions):
        by_game.setdefault(stored.game_key, []).append(at)
    for indexes in by_game.values():
        played = _positions(given[indexes[0]][1])
        queries = [_query(model, game, played, positions[at].found) for at in indexes]
        for at, query, human in zip(indexes, queries, predictions_of(model, game, queries), strict=True):
            positions[at] = replace(
                positions[at], human=_by_reply(game, query, human, positions[at].found.replies)
            )
        on_count(len(indexes))
    return positions


def _positions(record: GameRecord) -> list[Any]:
    """The positions before each stored move, up to the first move that is illegal by the current rules."""
    positions = []
    with suppress(BadGame):
        for position, _ in steps(record):
            positions.append(position)
    return positions


def _query(model: HumanModel, game: Game[Any], played: list[Any], found: AnalysedPosition) -> PredictionQuery:
    """Build the query for a position; omit the history if the stored moves do not lead to the position."""
    root = game.parse_position(found.position)
    after = game.play(root, game.parse_move(root, found.move))
    known = played[: found.ply + 1]
    if len(known) <= found.ply or game.board_text(known[-1]) != game.board_text(after):
        known = [root, after]
    return PredictionQuery(tuple(known[-model.max_history_positions :]), found.person)


def _by_reply(
    game: Game[Any],
    query: PredictionQuery,
    probabilities: tuple[float, ...],
    replies: tuple[ReplyProfile, ...],
) -> tuple[float, ...] | None:
    """Put the probabilities in the profile's order; None if its replies differ from the legal moves."""
    position = query.positions[-1]
    of = dict(zip(map(game.move_text, game.legal_moves(position)), probabilities, strict=True))
    if of.keys() != {each.reply for each in replies}:
        return None
    return tuple(of[each.reply] for each in replies)


async def own_positions(session: AsyncSession, game: str) -> AsyncIterator[tuple[StoredPosition, GameRecord]]:
    """Yield the bot's moves that have a complete profile and a person's reply, in the order of play.

    Each position comes with the record of its game and has no predictions. Games against bots are left out.
    """
    last = 0
    while True:
        statement = (
            select(DecisionRow, GameRow, OpponentRow.name, OutcomeRow.reply)
            .join(GameRow, GameRow.id == DecisionRow.game_id)
            .join(OpponentRow, OpponentRow.id == GameRow.opponent_id)
            .join(OutcomeRow, OutcomeRow.decision_id == DecisionRow.id)
            .where(
                GameRow.game == game,
                OpponentRow.is_bot.is_(False),
                DecisionRow.takeback == 0,
                DecisionRow.is_complete.is_(True),
                OutcomeRow.reply.is_not(None),
                DecisionRow.id > last,
            )
            .order_by(DecisionRow.id)
            .limit(_MAX_DECISIONS)
        )
        rows = (await session.execute(statement)).all()
        if not rows:
            return
        for row, stored, name, reply in rows:
            own = _own(row, stored, name, reply)
            if own is not None:
                moves = tuple(stored.moves.split())
                yield own, GameRecord(game=game, start=stored.initial_position, moves=moves)
        last = rows[-1][0].id
        session.expunge_all()


def _own(row: DecisionRow, stored: GameRow, name: str, reply: str | None) -> StoredPosition | None:
    decision = Decision.from_record(row.record)
    replies = decision.chosen.replies
    if len(replies) < 2 or reply not in {each.reply for each in replies}:
        return None
    game: Game[Any] = get_rules(decision.game)
    scale = game.expected_scale_centi(game.parse_position(decision.position))
    model_use = decision.model_use
    initial_s, increment_s = stored.clock_initial_s, stored.clock_increment_s
    return StoredPosition(
        id=row.id,
        game_key=f"{stored.site}/{stored.site_game_id}",
        date=str(stored.started_at.date()),
        found=AnalysedPosition(
            game_id=stored.id,
            ply=row.ply + 1,
            side=1 - stored.our_side,
            position=decision.position,
            move=decision.move,
            reply=reply,
            rating=stored.opponent_rating,
            clock_s=None if model_use is None else model_use.person.clock_s,
            logistic_centi=scale,
            replies=replies,
            nodes=row.nodes,
            time_s=row.time_s,
        ),
        human=None,
        name=name,
        time_control="" if initial_s is None else f"{initial_s}+{increment_s or 0}",
    )
