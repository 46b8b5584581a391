"""The Lichess Bot API as data: lines and answers in, events out.  No I/O.

Fields and event types that are not known are skipped, because sites add to the protocol without warning; what
is missing or of the wrong type where it is needed is a `ProtocolError` that keeps the message.

Sources: the OpenAPI description of lichess-org/api, and what its servers were seen to do.
"""

import json
import re
from collections.abc import Mapping
from typing import Any, TypeVar

from bot.errors import ProtocolError
from bot.events import (
    FROM_POSITION,
    AccountEvent,
    Challenge,
    ChallengeGone,
    ChallengeReceived,
    Clock,
    EndReason,
    GameEnd,
    GameEvent,
    GameFinished,
    GameSnapshot,
    GameStarted,
    GameState,
    Opponent,
    OpponentGone,
    Speed,
    speed_of,
)
from bot.servers import Account
from bot.servers.dialects import Dialect, Variant

_UNLIMITED_MS = 2**31 - 1
"""What the protocol writes for a clock that never runs out."""
_LONGEST_S = _UNLIMITED_MS // 1000
"""Any longer time is read as this one, in seconds."""
_MAX_RATING = 10_000
"""A rating or change of one beyond this, up or down, is garbage."""
_MAX_NAME = 64
"""Characters of a name that are kept: more than any site allows, and what the books have room for."""

_GOING_ON = frozenset({"created", "started"})
_END_REASONS = {
    "mate": EndReason.NORMAL,
    "stalemate": EndReason.NORMAL,
    "variantEnd": EndReason.NORMAL,
    # The wire does not tell a draw by the rules from an agreed one, and this program never agrees to one.
    "draw": EndReason.NORMAL,
    "resign": EndReason.RESIGNATION,
    "timeout": EndReason.LEFT,
    "outoftime": EndReason.TIME,
    "insufficientMaterialClaim": EndReason.AGREEMENT,
    "aborted": EndReason.ABORTED,
    "noStart": EndReason.ABORTED,
}
"""Any other word that is not in `_GOING_ON` ends a game too, with `EndReason.OTHER`."""

T = TypeVar("T")


def read_line(line: bytes) -> Mapping[str, Any] | None:
    """One line of an ND-JSON stream; None for a keep-alive.

    Raises:
        ProtocolError: Not a JSON object.
    """
    if not line.strip():
        return None
    try:
        message = json.loads(line, parse_constant=_refuse_constant)
    except (ValueError, RecursionError):
        raise ProtocolError("not JSON", line) from None
    if not isinstance(message, dict):
        raise ProtocolError("not a JSON object", message)
    return message


def _refuse_constant(word: str) -> None:
    raise ValueError(f"{word} is no JSON")


def read_account(message: object) -> Account:
    """The answer of ``/api/account``."""
    raw = _object(message)
    return Account(
        id=_need(raw, "id", str),
        name=_clean(_need(raw, "username", str)),
        is_bot=raw.get("title") == "BOT",
    )


def read_playing(message: object) -> list[str]:
    """Game ids from ``nowPlaying`` of ``/api/account/playing``."""
    if not isinstance(message, list):
        raise ProtocolError("nowPlaying is not a list", message)
    return [_identifier(_object(game), "gameId") for game in message]


def read_account_event(message: Mapping[str, Any], dialect: Dialect, our_id: str) -> AccountEvent | None:
    """One message of the account's event stream; None when it is of a type that is not known."""
    match message.get("type"):
        case "challenge":
            return ChallengeReceived(_challenge(_need(message, "challenge", dict), dialect, our_id))
        case "challengeCanceled" | "challengeDeclined":
            return ChallengeGone(_identifier(_need(message, "challenge", dict), "id"))
        case "gameStart":
            raw = _need(message, "game", dict)
            return GameStarted(_identifier(raw, "gameId"), _variant_key(raw) in dialect.variants)
        case "gameFinish":
            raw = _need(message, "game", dict)
            return GameFinished(_identifier(raw, "gameId"), _rating(raw, "ratingDiff"))
        case _:
            return None


class GameReader:
    """Messages of one game's stream to events.

    It remembers from the first message what the later ones leave out: which colour begins, whether there is
    a clock, and which of the players is us.
    """

    def __init__(self, dialect: Dialect, our_id: str) -> None:
        self._dialect = dialect
        self._our_id = our_id
        self._variant: Variant | None = None
        self._has_clock = False

    @property
    def started(self) -> bool:
        """Whether the snapshot has been read."""
        return self._variant is not None

    def read(self, message: Mapping[str, Any]) -> GameEvent | None:
        """One message; None when it is of a type that nothing needs (chat), or a state too early."""
        match message.get("type"):
            case "gameFull":
                return self._snapshot(message)
            case "gameState":
                return self._state(message, self._variant) if self._variant else None
            case "opponentGone":
                in_s = _optional(message, "claimWinInSeconds", int)
                gone = _need(message, "gone", bool)
                return OpponentGone(gone, None if in_s is None else _clamp(in_s, _LONGEST_S))
            case _:
                return None

    def _snapshot(self, raw: Mapping[str, Any]) -> GameSnapshot:
        key = _variant_key(raw)
        variant = self._dialect.variants.get(key)
        if variant is None:
            raise ProtocolError(f"a game of variant {key!r}, which is not played here", raw)
        players = [_need(raw, side.key, dict) for side in variant.sides]
        ids = [_player_id(player) for player in players]
        if self._our_id not in ids:
            raise ProtocolError("a game that we do not take part in", raw)
        our_side = ids.index(self._our_id)
        clock_ms = _optional(raw, "clock", dict)
        clock = None
        if clock_ms is not None:
            clock = Clock(round(_seconds(clock_ms, "initial")), round(_seconds(clock_ms, "increment")))
        self._has_clock = clock is not None
        snapshot = GameSnapshot(
            game_id=_identifier(raw, "id"),
            game=variant.game,
            variant=key,
            initial_position=_start(raw),
            our_side=our_side,
            rated=_need(raw, "rated", bool),
            speed=_speed(raw, clock),
            clock=clock,
            opponent=_opponent(players[1 - our_side]),
            our_rating=_rating(players[our_side], "rating"),
            state=self._state(_need(raw, "state", dict), variant),
        )
        self._variant = variant
        return snapshot

    def _state(self, raw: Mapping[str, Any], variant: Variant) -> GameState:
        first, second = variant.sides
        return GameState(
            moves=tuple(_need(raw, "moves", str).split()),
            remaining_s=(
                (_seconds(raw, f"{first.letter}time"), _seconds(raw, f"{second.letter}time"))
                if self._has_clock
                else None
            ),
            draw_offered_by=(raw.get(f"{first.letter}draw") is True, raw.get(f"{second.letter}draw") is True),
            takeback_offered_by=(
                raw.get(f"{first.letter}takeback") is True,
                raw.get(f"{second.letter}takeback") is True,
            ),
            end=_end(raw, variant),
        )


def _end(raw: Mapping[str, Any], variant: Variant) -> GameEnd | None:
    status = _need(raw, "status", str)
    if status in _GOING_ON:
        return None
    reason = _END_REASONS.get(status, EndReason.OTHER)
    colours = [side.key for side in variant.sides]
    winner = _optional(raw, "winner", str)
    if winner is not None and winner not in colours:
        raise ProtocolError(f"winner {winner!r}", raw)
    if winner is None or reason is EndReason.ABORTED:
        return GameEnd(reason, None, _clean(status))
    return GameEnd(reason, colours.index(winner), _clean(status))


def _challenge(raw: Mapping[str, Any], dialect: Dialect, our_id: str) -> Challenge:
    key = _variant_key(raw)
    variant = dialect.variants.get(key)
    control = _need(raw, "timeControl", dict)
    clock = None
    if control.get("type") == "clock":
        clock = Clock(*(_clamp(_need(control, key, int), _LONGEST_S) for key in ("limit", "increment")))
    start = _start(raw)
    raw_challenger = _optional(raw, "challenger", dict)
    challenger = _opponent(raw_challenger) if raw_challenger else None
    return Challenge(
        id=_identifier(raw, "id"),
        challenger=challenger,
        game=variant.game if variant else None,
        variant=key,
        kind="" if variant is None else variant.game if start is None else FROM_POSITION,
        rated=_need(raw, "rated", bool),
        speed=_speed(raw, clock),
        clock=clock,
        days_per_turn=_optional(control, "daysPerTurn", int),
        initial_position=start,
        is_ours=challenger is not None and challenger.id == our_id,
    )


def _opponent(raw: Mapping[str, Any]) -> Opponent:
    player_id = _player_id(raw)
    return Opponent(
        id=player_id,
        name=_clean(_optional(raw, "name", str) or player_id),
        rating=_rating(raw, "rating"),
        is_bot=raw.get("title") == "BOT" or "aiLevel" in raw,
    )


def _player_id(raw: Mapping[str, Any]) -> str:
    level = _optional(raw, "aiLevel", int)
    return _clean(f"ai-level-{level}" if level is not None else _optional(raw, "id", str) or "anonymous")


def _variant_key(raw: Mapping[str, Any]) -> str:
    variant = raw.get("variant")
    key = variant.get("key") if isinstance(variant, dict) else None
    return _clean(key) if isinstance(key, str) else ""


def _start(raw: Mapping[str, Any]) -> str | None:
    """Where a game begins; None: as usual."""
    start = _optional(raw, "initialFen", str)
    return None if start in ("", "startpos") else start


def _speed(raw: Mapping[str, Any], clock: Clock | None) -> Speed:
    """The site's own word, else the class that Lichess would put the clock in."""
    word = raw.get("speed")
    if word in tuple(Speed):
        return Speed(word)
    return speed_of(clock)


def read_rating_diff(record: Mapping[str, Any], name: str) -> int | None:
    """Change of an account's rating, from the exported record of a finished game.

    Args:
        record: The site's JSON of ``/game/export``.
        name: Of the account, in any case.
    """
    players = record.get("players")
    for player in players.values() if isinstance(players, dict) else ():
        user = player.get("user") if isinstance(player, dict) else None
        if isinstance(user, dict) and str(user.get("name")).lower() == name.lower():
            return _rating(player, "ratingDiff")
    return None


# --- Fields ---------------------------------------------------------------------------------------------


def _object(value: object) -> Mapping[str, Any]:
    if not isinstance(value, dict):
        raise ProtocolError("not a JSON object", value)
    return value


def _need(raw: Mapping[str, Any], key: str, kind: type[T]) -> T:
    value = raw.get(key)
    # JSON's true is no number, though Python's True is one.
    if not isinstance(value, kind) or (isinstance(value, bool) and kind is not bool):
        raise ProtocolError(f"field {key!r} is missing or not of its type", raw)
    return value


def _optional(raw: Mapping[str, Any], key: str, kind: type[T]) -> T | None:
    return None if raw.get(key) is None else _need(raw, key, kind)


def _seconds(raw: Mapping[str, Any], key: str) -> float:
    return _clamp(_need(raw, key, int), _UNLIMITED_MS) / 1000


def _clamp(time: int, longest: int) -> int:
    return max(0, min(time, longest))


def _rating(raw: Mapping[str, Any], key: str) -> int | None:
    """A rating or its change; JSON's integers have no end, a database's have."""
    value = _optional(raw, key, int)
    if value is not None and abs(value) > _MAX_RATING:
        raise ProtocolError(f"field {key!r} is out of range", raw)
    return value


def _clean(text: str) -> str:
    """Text that every database and chat can take; half a surrogate pair, for one, cannot be written."""
    return "".join(sign if sign.isprintable() else "\ufffd" for sign in text[:_MAX_NAME])


def _identifier(raw: Mapping[str, Any], key: str) -> str:
    """An id that is safe to put into a URL's path."""
    value = _need(raw, key, str)
    if not re.fullmatch(r"[A-Za-z0-9_-]{1,64}", value):
        raise ProtocolError(f"field {key!r} is not an id", raw)
    return value
