"""Exports finished games as JSON and as text.  No I/O."""

from bot.arena.game import ReplayedGame
from bot.arena.wire import Json, millis, title
from bot.base.events import speed_of


def export(game: ReplayedGame) -> Json:
    """A game in the format of `/game/export/{id}`, with moves in the game's own notation."""
    record, clock = game.record, game.clock
    data: Json = {
        "id": game.id,
        "rated": record.rated,
        "variant": game.variant.key,
        "speed": speed_of(clock).value,
        "perf": game.variant.key,
        "createdAt": millis(record.created_at),
        "lastMoveAt": millis(record.ended_at or record.last_move_at),
        "status": record.status,
        "source": "friend",
        "players": {
            colour: _exported_player(game, game.variant.side(colour)) for colour in ("white", "black")
        },
        "moves": " ".join(record.moves),
    }
    if record.initial_fen is not None:
        data["initialFen"] = record.initial_fen
    if record.unrated is not None:
        data["unrated"] = record.unrated
    if record.winner is not None:
        data["winner"] = game.variant.colours[record.winner]
    if clock is not None:
        total_s = clock.initial_s + 40 * clock.increment_s
        data["clock"] = {"initial": clock.initial_s, "increment": clock.increment_s, "totalTime": total_s}
    return data


def _exported_player(game: ReplayedGame, side: int) -> Json:
    account, record = game.players[side], game.record
    player: Json = {
        "user": {"id": account.id, "name": account.name, **title(account)},
        "rating": record.ratings[side],
    }
    if record.provisional[side]:
        player["provisional"] = True
    if record.rating_diffs is not None:
        player["ratingDiff"] = record.rating_diffs[side]
    return player


def export_text(game: ReplayedGame, base_url: str) -> str:
    """A game as text with PGN-like tags; the sides have the API's colour names."""
    record, clock = game.record, game.clock
    white, black = game.variant.side("white"), game.variant.side("black")
    result = "*"
    if record.winner is not None:
        result = "1-0" if record.winner == white else "0-1"
    elif game.is_over and record.status != "aborted":
        result = "1/2-1/2"
    tags = {
        "Event": f"{'rated' if record.rated else 'casual'} {game.variant.name} game",
        "Site": f"{base_url}/game/{game.id}",
        "Date": f"{record.created_at:%Y.%m.%d}",
        "White": game.players[white].name,
        "Black": game.players[black].name,
        "Result": result,
        "GameId": game.id,
        "UTCTime": f"{record.created_at:%H:%M:%S}",
        "WhiteElo": str(record.ratings[white]),
        "BlackElo": str(record.ratings[black]),
        "Variant": game.variant.name,
        "TimeControl": "-" if clock is None else f"{clock.initial_s}+{clock.increment_s}",
        "Termination": record.status,
    }
    if record.rating_diffs is not None:
        tags["WhiteRatingDiff"] = f"{record.rating_diffs[white]:+d}"
        tags["BlackRatingDiff"] = f"{record.rating_diffs[black]:+d}"
    if record.initial_fen is not None:
        tags |= {"SetUp": "1", "FEN": record.initial_fen}
    pairs = (record.moves[i : i + 2] for i in range(0, len(record.moves), 2))
    moves = " ".join(f"{number}. {' '.join(pair)}" for number, pair in enumerate(pairs, start=1))
    return (
        "\n".join(f'[{key} "{value}"]' for key, value in tags.items())
        + f"\n\n{moves} {result}".rstrip()
        + "\n"
    )
