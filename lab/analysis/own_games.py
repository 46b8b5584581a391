"""The bot's own games with people: one human-move model's predictions of every reply.

The predictions recorded during play are unsuitable: only some strategies query a human-move model, and not
always the same one, so those predictions cover a biased selection of games.
"""

from collections.abc import Callable, Sequence
from contextlib import suppress
from dataclasses import replace
from typing import Any

from engine.decision import ReplyProfile
from engine.formats.record import BadGame, GameRecord, steps
from engine.game import Game
from engine.games import get_rules
from engine.human.model import HumanModel, PredictionQuery, predicted
from lab.analysis.analysed_games import AnalysedPosition, StoredPosition


def with_predictions(
    model: HumanModel,
    given: Sequence[tuple[StoredPosition, GameRecord]],
    on_count: Callable[[int], None] = lambda _: None,
) -> list[StoredPosition]:
    """Add a model's predictions to positions; the model receives as much of each game as it uses.

    Args:
        given: Positions with their games; the model is queried game by game.
        on_count: Called with the number of positions just done.

    Returns:
        The positions in the same order; without a prediction where the rules no longer allow the stored
        replies.

    Raises:
        BadModel: The model gives no answer.
    """
    game = get_rules(model.game)
    positions = [stored for stored, _ in given]
    by_game: dict[str, list[int]] = {}
    for at, stored in enumerate(positions):
        by_game.setdefault(stored.game_key, []).append(at)
    for indexes in by_game.values():
        played = _positions(given[indexes[0]][1])
        queries = [_query(model, game, played, positions[at].found) for at in indexes]
        for at, query, human in zip(indexes, queries, predicted(model, game, queries), strict=True):
            positions[at] = replace(
                positions[at], human=_by_reply(game, query, human, positions[at].found.replies)
            )
        on_count(len(indexes))
    return positions


def _positions(record: GameRecord) -> list[Any]:
    """Positions before each stored move, up to the first move that the rules no longer allow."""
    positions = []
    with suppress(BadGame):
        for position, _ in steps(record):
            positions.append(position)
    return positions


def _query(model: HumanModel, game: Game[Any], played: list[Any], found: AnalysedPosition) -> PredictionQuery:
    """The query for a position, without its history if the stored moves lead elsewhere."""
    root = game.parse_position(found.position)
    after = game.play(root, game.parse_move(root, found.move))
    known = played[: found.ply + 1]
    if len(known) <= found.ply or game.board_text(known[-1]) != game.board_text(after):
        known = [root, after]
    return PredictionQuery(tuple(known[-model.plies_wanted :]), found.person)


def _by_reply(
    game: Game[Any],
    query: PredictionQuery,
    probabilities: tuple[float, ...],
    replies: tuple[ReplyProfile, ...],
) -> tuple[float, ...] | None:
    """The probabilities in the profile's order, which may differ from the game's move order."""
    position = query.positions[-1]
    of = dict(zip(map(game.move_text, game.legal_moves(position)), probabilities, strict=True))
    if of.keys() != {each.reply for each in replies}:
        return None
    return tuple(of[each.reply] for each in replies)
