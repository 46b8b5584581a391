"""Boards and legal moves prepared for the page, so that its scripts need no rules.  No I/O."""

from collections import Counter
from typing import Any

from bot.arena.fairness.rating_rules import text_of
from bot.arena.game import ReplayedGame
from bot.arena.public.downloads import ENDINGS, formats_of
from bot.arena.variants import ArenaVariant
from bot.arena.wire import Json, variant_json
from engine.game import Game


def with_view(message: Json, match: ReplayedGame, side: int, *, is_standing: bool = False) -> Json:
    """Extend a `gameFull` or `gameState` with the view that a page draws.

    Args:
        message: One of the two.
        match: The game.
        side: The side of the page's player.
        is_standing: Whether an outage stops the clocks.
    """
    shown = view(match, side) | ({"clocksStand": True} if is_standing else {})
    if message["type"] == "gameFull":
        return message | {"state": message["state"] | {"view": shown}}
    return message | {"view": shown}


def view(match: ReplayedGame, side: int) -> Json:
    """The view of one player's page."""
    game, record = match.variant.game, match.record
    legal: list[Json] = []
    if not match.is_over and match.to_move == side:
        legal = legal_moves(game, match.position)
    shown: Json = {
        **board(match.variant, match.position),
        "game": game.name,
        "sides": list(game.sides),
        "you": game.sides[side],
        "lastMove": record.moves[-1] if record.moves else None,
        "lastSquares": list(match.last_squares),
        "legal": legal,
        "moves": list(record.moves),
        "names": list(match.names),
    }
    if match.is_over:
        shown["toMove"] = None
        shown["winner"] = None if record.winner is None else game.sides[record.winner]
        shown["ending"] = match.ending
        diffs = record.rating_diffs
        shown["unrated"] = text_of(record.unrated)
        shown["files"] = [ENDINGS[form] for form in formats_of(match)]
        shown["ratingDiffs"] = None if diffs is None else dict(zip(game.sides, diffs, strict=True))
    return shown


def legal_moves(game: Game[Any], position: Any) -> list[Json]:
    """Every legal move with the squares that the player clicks to make it.

    Moves with the same squares (promotions) also carry their name and the board after them.
    """
    moves = game.legal_moves(position)
    touched = Counter(game.move_squares(move) for move in moves)
    shown: list[Json] = []
    for move in moves:
        squares = game.move_squares(move)
        legal: Json = {"move": game.move_text(move), "squares": list(squares)}
        if touched[squares] > 1:
            legal |= {
                "name": game.move_name(position, move),
                "rows": list(game.board_rows(game.play(position, move))),
            }
        shown.append(legal)
    return shown


def board(variant: ArenaVariant, position: Any) -> Json:
    """A position for drawing: rows from the top, side to move, highlights, and piece counts."""
    game = variant.game
    rows = game.board_rows(position)
    pieces = "".join(rows).replace(".", "")
    letters = {name: name[0] for name in game.sides}
    # A count makes sense only where each side has one kind of piece, named by the side's first letter.
    is_countable = set(pieces) <= set(letters.values())
    return {
        "rows": list(rows),
        "toMove": game.sides[game.side_to_move(position)],
        "highlights": [
            {"kind": each.kind, "squares": list(each.squares), "text": each.text}
            for each in game.highlights(position)
        ],
        "counts": {name: pieces.count(letter) for name, letter in letters.items()} if is_countable else None,
    }


def replay_json(match: ReplayedGame) -> Json:
    """All positions of a game, for stepping through it."""
    game = match.variant.game
    position = match.variant.start(match.record.initial_fen)
    steps: list[Json] = [{**board(match.variant, position), "move": None, "name": None, "squares": []}]
    for text, name in zip(match.record.moves, match.names, strict=True):
        move = game.parse_move(position, text)
        position = game.play(position, move)
        drawn = board(match.variant, position)
        steps.append({**drawn, "move": text, "name": name, "squares": list(game.move_squares(move))})
    return {
        "id": match.id,
        "variant": variant_json(match.variant),
        "game": game.name,
        "rated": match.record.rated,
        "status": match.record.status,
        "winner": None if match.record.winner is None else game.sides[match.record.winner],
        "sides": list(game.sides),
        "colours": dict(zip(game.sides, match.variant.colours, strict=True)),
        "players": {
            name: {"id": account.id, "name": account.name, "bot": account.is_bot, "rating": rating}
            for name, account, rating in zip(game.sides, match.players, match.record.ratings, strict=True)
        },
        "steps": steps,
    }
