"""Builds the arena's JSON in the formats of lichess.org.  No I/O."""

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any

from bot.arena import glicko
from bot.arena.challenges import OFFERED_CLOCKS, ArenaChallenge, ChallengeStatus, show
from bot.arena.game import ReplayedGame
from bot.arena.variants import VARIANTS, ArenaVariant
from bot.base.events import Clock, speed_of
from engine.opponents.odds import ODDS, odds_for, odds_from_start
from storage.arena.accounts import AccountRecord, ChatRecord, RatingRecord

Json = dict[str, Any]

UNLIMITED_MS = 2_147_483_647
"""Lichess's value for the time left in a game without a clock."""

CHESS_SPEEDS = ("bullet", "blitz", "rapid", "classical")
"""Lichess's keys for chess ratings; here all speeds share one rating."""

# lila's numbers for the statuses.
STATUS_IDS = {
    "started": 20, "aborted": 25, "mate": 30, "resign": 31, "stalemate": 32, "timeout": 33, "draw": 34,
    "outoftime": 35, "variantEnd": 60,
}  # fmt: skip


def millis(at: datetime) -> int:
    return round(at.timestamp() * 1000)


# --- Accounts -------------------------------------------------------------------------------------------


def rating_in(account: AccountRecord, variant: str) -> glicko.Rating:
    """An account's rating in a variant, or a newcomer's rating if it has no games."""
    stored = account.ratings.get(variant)
    if stored is None:
        return glicko.Rating()
    return glicko.Rating(stored.rating, stored.deviation, stored.volatility)


def title(account: AccountRecord) -> Json:
    return {"title": "BOT"} if account.is_bot else {}


def perfs(account: AccountRecord) -> Json:
    """Ratings by variant; the chess rating is repeated under the speeds, where programs look for it."""
    lists = {key: key for key in VARIANTS} | dict.fromkeys(CHESS_SPEEDS, "standard")
    return {name: _perf(rating_in(account, key), account.ratings.get(key)) for name, key in lists.items()}


def _perf(rating: glicko.Rating, stored: RatingRecord | None) -> Json:
    perf: Json = {
        "games": 0 if stored is None else stored.games,
        "rating": round(rating.rating),
        "rd": round(rating.deviation),
        "prog": 0,
    }
    return perf | ({"prov": True} if rating.is_provisional else {})


def user(account: AccountRecord, base_url: str) -> Json:
    """An account in the format of `/api/account`."""
    return {
        "id": account.id,
        "username": account.name,
        **title(account),
        "perfs": perfs(account),
        "createdAt": millis(account.created_at),
        "url": f"{base_url}/@/{account.name}",
    }


# --- Variants, clocks, players --------------------------------------------------------------------------


def variant_json(variant: ArenaVariant) -> Json:
    return {"key": variant.key, "name": variant.name, "short": variant.short}


def _player(game: ReplayedGame, side: int) -> Json:
    account = game.players[side]
    player: Json = {
        "id": account.id,
        "name": account.name,
        "title": "BOT" if account.is_bot else None,
        "rating": game.record.ratings[side],
    }
    return player | ({"provisional": True} if game.record.provisional[side] else {})


# --- The stream of a game -------------------------------------------------------------------------------


def game_full(game: ReplayedGame, now: float, first_move_s: float) -> Json:
    """The first line of every game stream."""
    clock = game.clock
    full: Json = {
        "type": "gameFull",
        "id": game.id,
        "variant": variant_json(game.variant),
        "speed": speed_of(clock).value,
        "perf": {"name": game.variant.name},
        "rated": game.record.rated,
        "createdAt": millis(game.record.created_at),
        "white": _player(game, game.variant.side("white")),
        "black": _player(game, game.variant.side("black")),
        "initialFen": game.record.initial_fen or "startpos",
        **_odds(game.variant, game.record.initial_fen),
        "state": game_state(game, now, first_move_s),
    }
    if clock is not None:
        full["clock"] = {"initial": clock.initial_s * 1000, "increment": clock.increment_s * 1000}
    if game.record.rematch_of:
        full["rematchOf"] = game.record.rematch_of
    return full


def _odds(variant: ArenaVariant, initial_fen: str | None) -> Json:
    """The odds of a game, and the colour that gives them; empty if no side does."""
    if (given := odds_from_start(variant.game_name, initial_fen)) is None:
        return {}
    odds, side = given
    return {"odds": {"name": odds.name, "color": variant.colours[side]}}


def game_state(game: ReplayedGame, now: float, first_move_s: float) -> Json:
    """The full state of a game."""
    record, clock = game.record, game.clock
    left = game.remaining_ms(now) or (UNLIMITED_MS, UNLIMITED_MS)
    increment_ms = 0 if clock is None else clock.increment_s * 1000
    white, black = game.variant.side("white"), game.variant.side("black")
    state: Json = {
        "type": "gameState",
        "moves": " ".join(game.api_moves),
        "wtime": left[white],
        "btime": left[black],
        "winc": increment_ms,
        "binc": increment_ms,
        "status": record.status,
    }
    if record.winner is not None:
        state["winner"] = game.variant.colours[record.winner]
    offers = {
        "wdraw": record.draw_offers[white],
        "bdraw": record.draw_offers[black],
        "wtakeback": record.takeback_offers[white],
        "btakeback": record.takeback_offers[black],
    }
    state |= {key: True for key, stands in offers.items() if stands}
    if game.is_abortable and not game.is_over and first_move_s:
        state["expiration"] = {
            "idleMillis": max(0, round((now - game.turn_began) * 1000)),
            "millisToMove": round(first_move_s * 1000),
        }
    return state


def chat_line(line: ChatRecord) -> Json:
    return {"type": "chatLine", "room": line.room, "username": line.name, "text": line.text}


def opponent_gone(gone: bool) -> Json:
    """The event `opponentGone`. It is sent only once a win can be claimed, so its wait is always 0."""
    return {"type": "opponentGone", "gone": True, "claimWinInSeconds": 0} if gone else {
        "type": "opponentGone", "gone": False
    }  # fmt: skip


# --- The stream of an account ---------------------------------------------------------------------------


def game_event(kind: str, game: ReplayedGame, side: int, now: float) -> Json:
    """The event `gameStart` or `gameFinish` for one of the players."""
    return {"type": kind, "game": _game_info(game, side, now)}


def _game_info(game: ReplayedGame, side: int, now: float) -> Json:
    record = game.record
    info = _playing_fields(game, side, now)
    info |= {
        "id": game.id,
        "status": {"id": STATUS_IDS[record.status], "name": record.status},
        "rating": record.ratings[side],
        "compat": {"bot": True, "board": True},
    }
    if record.winner is not None:
        info["winner"] = game.variant.colours[record.winner]
    if record.rating_diffs is not None:
        info["ratingDiff"] = record.rating_diffs[side]
        info["opponent"]["ratingDiff"] = record.rating_diffs[1 - side]
    return info


def playing(game: ReplayedGame, side: int, now: float) -> Json:
    """One row of `/api/account/playing`."""
    return _playing_fields(game, side, now) | {"status": game.record.status}


def _playing_fields(game: ReplayedGame, side: int, now: float) -> Json:
    record, other = game.record, game.players[1 - side]
    colour = game.variant.colours[side]
    left = game.remaining_ms(now)
    fields: Json = {
        "fullId": f"{game.id}{colour[:4]}",
        "gameId": game.id,
        "fen": game.variant.rules.board_text(game.position),
        "color": colour,
        "lastMove": game.api_moves[-1] if game.api_moves else "",
        "source": "friend",
        "variant": variant_json(game.variant),
        "speed": speed_of(game.clock).value,
        "perf": game.variant.key,
        "rated": record.rated,
        "hasMoved": len(record.moves) > side,
        "opponent": {
            "id": other.id,
            "username": f"BOT {other.name}" if other.is_bot else other.name,
            "rating": record.ratings[1 - side],
        },
        "isMyTurn": not game.is_over and game.to_move == side,
        "secondsLeft": (UNLIMITED_MS if left is None else left[side]) // 1000,
    }
    return fields


# --- Challenges and the page's lists --------------------------------------------------------------------


DECLINE_TEXTS = {
    "generic": "I'm not accepting challenges at the moment.",
    "later": "This is not the right time for me, please ask again later.",
    "tooFast": "This time control is too fast for me, please challenge again with a slower game.",
    "tooSlow": "This time control is too slow for me, please challenge again with a faster game.",
    "timeControl": "I'm not accepting challenges with this time control.",
    "rated": "Please send me a rated challenge instead.",
    "casual": "Please send me a casual challenge instead.",
    "standard": "I'm not accepting variant challenges right now.",
    "variant": "I'm not willing to play this variant right now.",
    "noBot": "I'm not accepting challenges from bots.",
    "onlyBot": "I'm only accepting challenges from bots.",
}


def challenge(what: ArenaChallenge, viewer: str, base_url: str, online: tuple[bool, bool]) -> Json:
    """A challenge from the point of view of one of its two players.

    Args:
        what: The challenge to describe.
        viewer: Id of the account that receives the description.
        base_url: The arena's public URL.
        online: Whether the challenger and the opponent are online.
    """
    waits = what.status is ChallengeStatus.CREATED
    shown: Json = {
        "id": what.id,
        "url": f"{base_url}/game/{what.id}",
        "status": "offline" if waits and not online[1] else what.status.value,
        "challenger": _challenge_user(what.challenger, what.variant.rating_key, online[0]),
        "destUser": _challenge_user(what.opponent, what.variant.rating_key, online[1]),
        "variant": variant_json(what.variant),
        "rated": what.rated,
        "speed": speed_of(what.clock).value,
        "timeControl": {"type": "unlimited"} if what.clock is None else _time_control(what.clock),
        "color": what.colour,
        "finalColor": what.variant.colours[what.challenger_side],
        "perf": {"icon": "", "name": what.variant.name},
        "direction": "out" if viewer == what.challenger.id else "in",
    }
    if what.initial_fen is not None:
        shown["initialFen"] = what.initial_fen
        shown |= _odds(what.variant, what.initial_fen)
    if what.rematch_of:
        shown["rematchOf"] = what.rematch_of
    if what.reason is not None:
        shown["declineReason"] = DECLINE_TEXTS[what.reason]
        shown["declineReasonKey"] = what.reason.lower()
    return shown


def challenge_event(kind: str, shown: Json) -> Json:
    """A challenge's event: `challenge`, `challengeCanceled` or `challengeDeclined`."""
    return {"type": kind, "challenge": shown, "compat": {"bot": True, "board": True}}


def _challenge_user(account: AccountRecord, variant: str, online: bool) -> Json:
    rating = rating_in(account, variant)
    shown: Json = {"id": account.id, "name": account.name, **title(account), "rating": round(rating.rating)}
    if rating.is_provisional:
        shown["provisional"] = True
    return shown | ({"online": True} if online else {})


def _time_control(clock: Clock) -> Json:
    return {"type": "clock", "limit": clock.initial_s, "increment": clock.increment_s, "show": show(clock)}


def status(account: AccountRecord, online: bool, is_playing: bool) -> Json:
    """One row of `/api/users/status`."""
    shown: Json = {"id": account.id, "name": account.name, **title(account)}
    return shown | ({"online": True} if online else {}) | ({"playing": True} if is_playing else {})


def ratings(account: AccountRecord) -> Json:
    """Ratings in the page's format."""
    shown = {}
    for key in VARIANTS:
        rating, stored = rating_in(account, key), account.ratings.get(key)
        shown[key] = {
            "rating": round(rating.rating),
            "provisional": rating.is_provisional,
            "games": 0 if stored is None else stored.games,
        }
    return shown


def suggested_odds(bot: AccountRecord, you: AccountRecord) -> Json:
    """The names of the odds that make the expected score nearly even, keyed by variant.

    A variant is missing if a rating in it is provisional, or no odds are nearer to even than a normal game.
    """
    suggested: Json = {}
    for variant in VARIANTS.values():
        own, yours = (rating_in(account, variant.key) for account in (bot, you))
        if variant.is_offered and not (own.is_provisional or yours.is_provisional):
            odds = odds_for(variant.game_name, own.rating, yours.rating)
            suggested |= {} if odds is None else {variant.key: odds.name}
    return suggested


@dataclass(frozen=True, slots=True)
class LikeBots:
    """Our bots that imitate people."""

    ratings: Mapping[str, int]
    """The rating of the people whom each bot imitates, keyed by the bot's id."""
    games: Collection[str]
    """The games that these bots play."""


def lobby(
    bots: Sequence[tuple[AccountRecord, bool]],
    you: AccountRecord | None,
    keep_alive_s: float,
    no_takebacks: Collection[str] = (),
    likes: LikeBots | None = None,
) -> Json:
    """The lobby: variants, programs with their online states, clocks, and the viewer's own account.

    Args:
        bots: The programs, each with its online state.
        you: The viewer's account, or None for a visitor without an account.
        keep_alive_s: Seconds between keep-alives on a quiet stream.
        no_takebacks: Ids of the programs that never allow a takeback.
        likes: The programs that imitate people; None if there are none.
    """
    imitated = {} if likes is None else likes.ratings
    return {
        "variants": [
            {
                "key": variant.key,
                "name": variant.rules.title,
                "game": variant.game_name,
                "sides": list(variant.rules.sides),
                "colours": dict(zip(variant.rules.sides, variant.colours, strict=True)),
                "odds": [odds.name for odds in ODDS.get(variant.game_name, ())],
            }
            for variant in VARIANTS.values()
            if variant.is_offered
        ],
        "bots": [
            {
                "id": bot.id,
                "name": bot.name,
                "online": online,
                "ratings": ratings(bot),
                "takebacks": bot.id not in no_takebacks,
                "like": imitated.get(bot.id),
                "odds": {} if you is None else suggested_odds(bot, you),
            }
            for bot, online in bots
        ],
        "clocks": [
            {"limit": clock.initial_s, "increment": clock.increment_s, "show": show(clock)}
            for clock in OFFERED_CLOCKS
        ],
        "likeGames": sorted(() if likes is None else likes.games),
        # Seconds between the keep-alives of a quiet stream, so that the page can detect a dead one.
        "keepAlive": keep_alive_s,
        "you": None
        if you is None
        else {"id": you.id, "name": you.name, "bot": you.is_bot, "ratings": ratings(you)},
    }
