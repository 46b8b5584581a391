"""Boards and legal moves prepared for the page, so that its scripts need not know the rules.  No I/O."""

from collections import Counter
from typing import Any

from bot.arena.fairness.rating_rules import unrated_text
from bot.arena.game import ReplayedGame
from bot.arena.public.downloads import ENDINGS, formats_of
from bot.arena.variants import ArenaVariant
from bot.arena.wire import Json, variant_json
from bot.text.chinese_names import with_chinese_names
from engine.game import Game


def with_view(message: Json, game: ReplayedGame, side: int, *, are_clocks_stopped: bool = False) -> Json:
    """Extend a `gameFull` or `gameState` message with the view that the page draws.

    Args:
        message: The `gameFull` or `gameState` message.
        game: The game.
        side: The side of the player who sees the page.
        are_clocks_stopped: Whether an outage stops the clocks.
    """
    shown = view(game, side) | ({"clocksStand": True} if are_clocks_stopped else {})
    if message["type"] == "gameFull":
        return message | {"state": message["state"] | {"view": shown}}
    return message | {"view": shown}


def view(game: ReplayedGame, side: int) -> Json:
    """The view of a game that the page of the player on `side` draws."""
    rules, record = game.variant.rules, game.record
    legal: list[Json] = []
    if not game.is_over and game.to_move == side:
        legal = legal_moves(rules, game.position)
    shown = public_view(game) | {
        "you": rules.sides[side],
        "lastMove": record.moves[-1] if record.moves else None,
        "legal": legal,
    }
    if game.is_over:
        shown["winner"] = None if record.winner is None else rules.sides[record.winner]
        shown["unrated"] = unrated_text(record.unrated)
        shown["files"] = [ENDINGS[form] for form in formats_of(game)]
    return shown


def public_view(game: ReplayedGame) -> Json:
    """The part of the view that is the same for players and spectators."""
    rules, diffs = game.variant.rules, game.record.rating_diffs
    shown: Json = {
        **board(game.variant, game.position),
        "game": rules.name,
        "sides": list(rules.sides),
        "lastSquares": list(game.last_squares),
        "moves": list(game.record.moves),
        **with_chinese_names({"names": game.names}),
    }
    if game.is_over:
        shown |= {
            "toMove": None,
            "ending": game.ending,
            "ratingDiffs": None if diffs is None else dict(zip(rules.sides, diffs, strict=True)),
        }
    return shown


def legal_moves(rules: Game[Any], position: Any) -> list[Json]:
    """Every legal move with the squares that the player clicks to make it.

    Moves with the same squares (promotions) also have a name and the board after the move.
    """
    moves = rules.legal_moves(position)
    touched = Counter(rules.move_squares(move) for move in moves)
    shown: list[Json] = []
    for move in moves:
        squares = rules.move_squares(move)
        legal: Json = {"move": rules.move_text(move), "squares": list(squares)}
        if touched[squares] > 1:
            legal |= {
                "name": rules.move_name(position, move),
                "rows": list(rules.board_rows(rules.play(position, move))),
            }
        shown.append(legal)
    return shown


def board(variant: ArenaVariant, position: Any) -> Json:
    """A position for drawing: rows from the top, side to move, highlights, and piece counts."""
    rules = variant.rules
    rows = rules.board_rows(position)
    pieces = "".join(rows).replace(".", "")
    letters = {name: name[0] for name in rules.sides}
    # A count makes sense only where each side has one kind of piece, named by the side's first letter.
    is_countable = set(pieces) <= set(letters.values())
    return {
        "rows": list(rows),
        "toMove": rules.sides[rules.side_to_move(position)],
        "highlights": [
            {"kind": each.kind, "squares": list(each.squares), "text": each.text}
            for each in rules.highlights(position)
        ],
        "counts": {name: pieces.count(letter) for name, letter in letters.items()} if is_countable else None,
    }


def replay_json(game: ReplayedGame) -> Json:
    """All positions of a game, so that a page can step through the game."""
    rules = game.variant.rules
    position = game.variant.start(game.record.initial_fen)
    steps: list[Json] = [{**board(game.variant, position), "move": None, "name": None, "squares": []}]
    for text, name in zip(game.record.moves, game.names, strict=True):
        move = rules.parse_move(position, text)
        position = rules.play(position, move)
        drawn = board(game.variant, position)
        named = with_chinese_names({"name": name})
        steps.append({**drawn, "move": text, **named, "squares": list(rules.move_squares(move))})
    return {
        "id": game.id,
        "variant": variant_json(game.variant),
        "game": rules.name,
        "rated": game.record.rated,
        "status": game.record.status,
        "winner": None if game.record.winner is None else rules.sides[game.record.winner],
        "sides": list(rules.sides),
        "colours": dict(zip(rules.sides, game.variant.colours, strict=True)),
        "players": {
            name: {"id": account.id, "name": account.name, "bot": account.is_bot, "rating": rating}
            for name, account, rating in zip(rules.sides, game.players, game.record.ratings, strict=True)
        },
        "steps": steps,
    }
