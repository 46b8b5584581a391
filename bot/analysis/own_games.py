"""The bot's own games with people: what one human-move model predicts for every reply in them.

What was recorded when they were played does not serve: only some players ask a human-move model, and not
always the same one, so what they recorded is of a selection of games.
"""

from collections.abc import Callable, Sequence
from contextlib import suppress
from dataclasses import replace
from typing import Any

from engine.decision import ReplyProfile
from engine.formats.record import BadGame, GameRecord, steps
from engine.game import Game
from engine.games import get_game
from engine.human.model import HumanModel, PredictionQuery, predicted
from storage.analysis import AnalysedPosition, StoredPosition


def with_words(
    model: HumanModel,
    given: Sequence[tuple[StoredPosition, GameRecord]],
    on_count: Callable[[int], None] = lambda _: None,
) -> list[StoredPosition]:
    """Positions with what a model says of their replies, told as much of each game as it wants.

    Args:
        given: Positions with their games, which are asked about one after the other.
        on_count: Told how many more are done.

    Returns:
        In the same order; without a word where the rules no longer allow the replies that were stored.

    Raises:
        BadModel: The model gives no answer.
    """
    game = get_game(model.game)
    found = [stored for stored, _ in given]
    by_game: dict[str, list[int]] = {}
    for at, stored in enumerate(found):
        by_game.setdefault(stored.game_key, []).append(at)
    for places in by_game.values():
        played = _positions(given[places[0]][1])
        asks = [_ask(model, game, played, found[at].found) for at in places]
        for at, ask, odds in zip(places, asks, predicted(model, game, asks), strict=True):
            found[at] = replace(found[at], human=_by_reply(game, ask, odds, found[at].found.replies))
        on_count(len(places))
    return found


def _positions(record: GameRecord) -> list[Any]:
    """Those in which a move was made, as far as the rules allow the moves that were stored."""
    found = []
    with suppress(BadGame):
        for position, _ in steps(record):
            found.append(position)
    return found


def _ask(model: HumanModel, game: Game[Any], played: list[Any], found: AnalysedPosition) -> PredictionQuery:
    """The question of a position, without the game before it where the stored moves lead elsewhere."""
    root = game.parse_position(found.position)
    after = game.play(root, game.parse_move(root, found.move))
    known = played[: found.ply + 1]
    if len(known) <= found.ply or game.board_text(known[-1]) != game.board_text(after):
        known = [root, after]
    return PredictionQuery(tuple(known[-model.plies_wanted :]), found.person)


def _by_reply(
    game: Game[Any], ask: PredictionQuery, odds: tuple[float, ...], replies: tuple[ReplyProfile, ...]
) -> tuple[float, ...] | None:
    """The odds in the order of the profile, which a player's questions may have changed."""
    position = ask.positions[-1]
    of = dict(zip(map(game.move_text, game.legal_moves(position)), odds, strict=True))
    if of.keys() != {each.reply for each in replies}:
        return None
    return tuple(of[each.reply] for each in replies)
