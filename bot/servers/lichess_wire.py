"""The wire format of the Lichess Bot API: converts JSON lines and answers to events. No I/O.

The readers skip unknown fields and event types, because sites extend the protocol without warning. If a
required field is missing or of the wrong type, they raise a `ProtocolError` that quotes the message.

Sources: the OpenAPI description of lichess-org/api, and the observed behaviour of its servers.
"""

import json
import math
import re
from collections.abc import Mapping
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from typing import Any, TypeVar

from bot.base.dialects import Dialect, SiteVariant
from bot.base.errors import ProtocolError
from bot.base.events import (
    FROM_POSITION,
    AccountEvent,
    Bot,
    Challenge,
    ChallengeGone,
    ChallengeReceived,
    ChatLine,
    Clock,
    EndReason,
    GameEnd,
    GameEvent,
    GameFinished,
    GameSnapshot,
    GameStarted,
    GameState,
    ListedGame,
    Opponent,
    OpponentGone,
    Room,
    Speed,
    Tournament,
    speed_of,
)
from bot.base.game_server import Account, UnplayableGame
from bot.base.notation import MoveCodec
from engine.game import BadPosition
from engine.games import get_rules

_UNLIMITED_MS = 2**31 - 1
"""The protocol's value for a clock that never runs out."""
_MAX_S = _UNLIMITED_MS // 1000
"""Cap on times, in seconds."""
_MAX_TIME_MS = 10**14
"""Cap on times since 1970; in the year 5138."""
_MAX_RATING = 10_000
"""Maximum absolute value of a rating or rating change; larger values are treated as missing."""
_MAX_FEN_LENGTH = 500
"""Maximum length of a starting position, in characters; none of our games needs a longer one."""
_MAX_MOVE_NUMBER = 1000
"""Cap on the full-move number of a starting position. Mate scores depend on the move number: beyond a few
thousand (`engine.game.MAX_PLIES`) all mates would score the same."""
_MAX_NAME_LENGTH = 64
"""Names are cut to this many characters, the size of the database column; no site allows longer
names."""
MAX_MOVES = 2000
"""Maximum number of moves; lichess.org ends games after 600, and reading more would delay other games."""

MAX_BRACKETS = 500
"""Maximum number of opening brackets per line. More deeply nested JSON can be parsed, but logging it may
fail."""
_MAX_RECEIVED_CHAT_LENGTH = 1000
"""Maximum number of characters kept of a chat message."""
_MAX_DAYS = 14
"""Cap on the days per move."""

_RUNNING_STATUSES = frozenset({"created", "started"})
_END_REASONS = {
    "mate": EndReason.NORMAL,
    "stalemate": EndReason.NORMAL,
    "variantEnd": EndReason.NORMAL,
    "perpetualCheck": EndReason.NORMAL,
    # By the rules or by agreement: the protocol does not distinguish them.
    "draw": EndReason.NORMAL,
    "resign": EndReason.RESIGNATION,
    "timeout": EndReason.LEFT,
    "outoftime": EndReason.TIME,
    "insufficientMaterialClaim": EndReason.AGREEMENT,
    "aborted": EndReason.ABORTED,
    "noStart": EndReason.ABORTED,
}
"""End reasons by status; any other status not in `_RUNNING_STATUSES` means `EndReason.OTHER`."""

T = TypeVar("T")


def read_line(line: bytes, most_brackets: int = MAX_BRACKETS) -> Mapping[str, Any] | None:
    """Parse one line of an ND-JSON stream; return None for a keep-alive.

    Args:
        line: The line without its line break.
        most_brackets: Maximum number of opening brackets.

    Raises:
        ProtocolError: The line is not a JSON object, or it has too many brackets.
    """
    if not line.strip():
        return None
    if line.count(b"[") + line.count(b"{") > most_brackets:
        raise ProtocolError(f"more than {most_brackets} brackets", line)
    try:
        message = json.loads(line, parse_constant=_refuse_constant)
    except ValueError:
        raise ProtocolError("not JSON", line) from None
    if not isinstance(message, dict):
        raise ProtocolError("not a JSON object", message)
    return message


def _refuse_constant(word: str) -> None:
    raise ValueError(f"{word} is not JSON")


def is_ok(answer: bytes) -> bool:
    """Whether an answer says that an action was accepted: a JSON object with ``"ok": true``."""
    try:
        message = read_line(answer)
    except ProtocolError:
        return False
    return message is not None and message.get("ok") is True


def read_account(message: object) -> Account:
    """Parse an ``/api/account`` answer."""
    raw = as_object(message)
    count = raw.get("count")
    return Account(
        id=need(raw, "id", str),
        name=_clean(need(raw, "username", str)),
        is_bot=raw.get("title") == "BOT",
        games=_number(count, "all") if isinstance(count, dict) else None,
        about="marked by the site for breaking its rules" if raw.get("tosViolation") is True else "",
        is_closed=raw.get("disabled") is True,
    )


@dataclass(frozen=True, slots=True)
class TokenInfo:
    """What a site says about a token."""

    scopes: frozenset[str]
    expires_at: datetime | None
    """None if it does not expire."""

    def expiry_text(self) -> str:
        """When it expires, as the end of a sentence.

        Empty for a time in the past, as PyChess gives for every token: sites refuse expired tokens.
        """
        is_known = self.expires_at is not None and self.expires_at > datetime.now(UTC)
        return f"; it expires on {self.expires_at:%Y-%m-%d}" if is_known else ""


def split_scopes(text: str) -> frozenset[str]:
    """Parse a list of scopes, separated by commas."""
    return frozenset(each.strip() for each in text.split(",")) - {""}


def read_token_info(answer: bytes, token: str) -> TokenInfo | None:
    """Parse the answer of ``/api/token/test`` for one token; None if the site does not know the token."""
    raw = read_line(answer) or {}
    if token not in raw:
        raise ProtocolError("an answer about other tokens")
    if raw[token] is None:
        return None
    info = as_object(raw[token])
    expires_ms = _number(info, "expires")
    try:
        expires_at = None if expires_ms is None else datetime.fromtimestamp(expires_ms / 1000, UTC)
    except (OverflowError, OSError, ValueError) as error:
        raise ProtocolError("an impossible time", info) from error
    return TokenInfo(split_scopes(need(info, "scopes", str)), expires_at)


def read_playing(message: object) -> list[str]:
    """The game ids in ``nowPlaying`` of an ``/api/account/playing`` answer."""
    if not isinstance(message, list):
        raise ProtocolError("nowPlaying is not a list", message)
    return [_identifier(as_object(game), "gameId") for game in message]


def read_online_bot(message: Mapping[str, Any]) -> Bot:
    """Parse one line of an ``/api/bot/online`` answer."""
    perfs = _optional(message, "perfs", dict) or {}
    return Bot(
        id=_identifier(message, "id"),
        name=_clean(need(message, "username", str)),
        ratings={
            key: rating
            for key, perf in perfs.items()
            if isinstance(perf, dict) and not perf.get("prov")
            if (rating := _rating(perf, "rating")) is not None
        },
    )


def read_listed_game(message: Mapping[str, Any], account: Account) -> ListedGame | None:
    """Parse one line of an ``/api/games/user`` answer; None if the game is still running."""
    if message.get("status") in ("created", "started"):
        return None
    at = _number(message, "createdAt")
    if at is None or not 0 <= at <= _MAX_TIME_MS:
        raise ProtocolError("createdAt is no time", message)
    players = _optional(message, "players", dict) or {}
    users = [as_object(as_object(player).get("user") or {}) for player in players.values()]
    others = [user for user in users if user and user.get("id") != account.id]
    return ListedGame(
        _game_id(message),
        _clean(need(others[0], "name", str)) if others else "",
        datetime.fromtimestamp(at / 1000, UTC),
    )


def read_tournament(message: object, dialect: Dialect) -> Tournament:
    """Parse an ``/api/tournament/{id}`` answer."""
    raw = as_object(message)
    short = raw.get("variant")  # the key alone, or an object as everywhere else
    key = _clean(short) if isinstance(short, str) else _variant_key(raw)
    variant = dialect.variants.get(key)
    return Tournament(
        name=_clean(need(raw, "fullName", str)),
        game=variant.game if variant else None,
        variant=key,
        is_over=raw.get("isFinished") is True,
    )


def read_account_event(message: Mapping[str, Any], dialect: Dialect, our_id: str) -> AccountEvent | None:
    """Parse one message of the account's event stream; return None for unknown types."""
    match message.get("type"):
        case "challenge":
            return ChallengeReceived(_challenge(need(message, "challenge", dict), dialect, our_id))
        case "challengeCanceled" | "challengeDeclined":
            return ChallengeGone(_identifier(need(message, "challenge", dict), "id"))
        case "gameStart":
            raw = need(message, "game", dict)
            variant = dialect.variants.get(_variant_key(raw))
            # A site that does not name the variant starts only accepted games.
            is_played_here = variant is not None or "variant" not in raw
            return GameStarted(
                _game_id(raw),
                is_played_here,
                game=variant.game if variant else "",
                is_tournament=_is_tournament(raw),
            )
        case "gameFinish":
            raw = need(message, "game", dict)
            return GameFinished(_game_id(raw), _rating(raw, "ratingDiff"))
        case _:
            return None


@dataclass(frozen=True, slots=True)
class ChallengeMade:
    """The site confirms that our challenge exists."""

    id: str


@dataclass(frozen=True, slots=True)
class ChallengeDone:
    """The final outcome of our challenge."""

    word: str
    """The site's answer: ``accepted`` or the reason for refusal."""

    @property
    def accepted(self) -> bool:
        return self.word == "accepted"


def read_challenge_answer(message: Mapping[str, Any]) -> ChallengeMade | ChallengeDone:
    """Parse one line of the answer to a new challenge."""
    if "done" in message:
        return ChallengeDone(_clean(need(message, "done", str)))
    challenge = message.get("challenge")  # older sites wrap it
    return ChallengeMade(_identifier(challenge if isinstance(challenge, dict) else message, "id"))


class GameReader:
    """Converts the messages of one game's stream to events.

    Keeps data from the first message that later messages omit: the colour that moves first, whether there
    is a clock, our side, and the state of the game.
    """

    def __init__(self, dialect: Dialect, our_id: str) -> None:
        self.dialect = dialect
        self._our_id = our_id
        self._variant: SiteVariant | None = None
        self._has_clock = False
        self.game_id = ""
        self.last: GameState | None = None
        """The latest state, or None before the snapshot."""
        self.script: MoveCodec | None = None
        """The codec for the game's moves, or None before the snapshot."""

    @property
    def started(self) -> bool:
        """Whether the snapshot has arrived."""
        return self.last is not None

    @property
    def is_over(self) -> bool:
        """Whether the game has ended."""
        return self.last is not None and self.last.end is not None

    def read(self, message: Mapping[str, Any]) -> GameEvent | None:
        """Convert one message; return None for unused types and for states before the snapshot."""
        match message.get("type"):
            case "gameFull":
                return self.snapshot(message)
            case "gameState":
                if self._variant is None or self.script is None:
                    return None
                return self._state(message, self._variant, self.script)
            case "gameEnd":
                return self.ended("gameEnd")
            case "opponentGone":
                in_s = _number(message, "claimWinInSeconds")
                gone = need(message, "gone", bool)
                return OpponentGone(gone, None if in_s is None else _clamp(in_s, _MAX_S))
            case "chatLine":
                return _chat_line(message, self.dialect)
            case _:
                return None

    def ended(self, word: str) -> GameState | None:
        """End the game without a reported result; return its last state, or None before the snapshot."""
        if self.last is None or self.is_over:
            return self.last
        self.last = replace(self.last, end=GameEnd(EndReason.UNKNOWN, None, word))
        return self.last

    def finish(self, moves: str, status: str, winner: int | None) -> GameState | None:
        """End the game according to the site's record; return its last state, or None before the snapshot.

        Args:
            moves: All moves, in the stream's format.
            status: The status, in the stream's format.
            winner: The side that won; None if neither side won.

        Raises:
            ProtocolError: A move is illegal.
        """
        if self.last is None or self.script is None:
            return None
        moves_read = self.script.read(_moves({"moves": moves}))
        self.last = replace(self.last, moves=moves_read, end=_end_of(status, winner))
        return self.last

    def snapshot(self, raw: Mapping[str, Any]) -> GameSnapshot:
        """Convert the first message.

        Raises:
            ProtocolError: The message is malformed, the game is not ours, or we do not support its rules.
        """
        key = _variant_key(raw)
        variant = self.dialect.variants.get(key)
        if variant is None:
            raise ProtocolError(f"a game of variant {key!r}, which this program does not play", raw)
        players = [need(raw, side.key, dict) for side in variant.sides]
        ids = [_player_id(player, self.dialect) for player in players]
        if self._our_id not in ids:
            raise ProtocolError("a game between other players", raw)
        our_side = ids.index(self._our_id)
        known = GameSnapshot(
            game_id=_identifier(raw, "id"),
            game=variant.game,
            variant=key,
            initial_position=None,
            our_side=our_side,
            rated=raw.get("rated") is True,
            speed=Speed.CORRESPONDENCE,
            clock=None,
            opponent=_opponent(players[1 - our_side], self.dialect),
            our_rating=_rating(players[our_side], "rating"),
            state=GameState((), None, (False, False), (False, False), None),
            is_tournament=_is_tournament(raw),
        )
        try:
            snapshot, script = self._with_details(known, raw, variant)
        except BadPosition as error:
            raise UnplayableGame(f"a bad starting position: {error}", raw, known) from error
        except ProtocolError as error:
            raise UnplayableGame(str(error), raw, known) from error
        self._variant, self.script, self.game_id = variant, script, snapshot.game_id
        return snapshot

    def _with_details(
        self, known: GameSnapshot, raw: Mapping[str, Any], variant: SiteVariant
    ) -> tuple[GameSnapshot, MoveCodec]:
        """Add terms, position and moves to what is known of a game; return the codec of its moves, too.

        Raises:
            BadPosition: The starting position is invalid.
            ProtocolError: A field is missing or malformed, or a move is illegal.
        """
        state = need(raw, "state", dict)
        clock = self._clock(raw, state)
        self._has_clock = clock is not None
        start = _start(raw, variant)
        script = MoveCodec(variant.notation, get_rules(variant.game), start)
        snapshot = replace(
            known,
            initial_position=start,
            rated=need(raw, "rated", bool) if self.dialect.rated is None else self.dialect.rated,
            speed=_speed(raw, clock),
            clock=clock,
            state=self._state(state, variant, script),
            days_per_turn=_days(raw),
        )
        return snapshot, script

    def _clock(self, raw: Mapping[str, Any], state: Mapping[str, Any]) -> Clock | None:
        unit_s = self.dialect.increment_unit_s
        if unit_s is not None:
            # The site does not report the initial times; at the start of a game they are the current ones.
            left_s = max(_seconds(state, "wtime"), _seconds(state, "btime"))
            return Clock(round(left_s), round(_seconds(state, "winc") * 1000 * unit_s))
        clock = _optional(raw, "clock", dict)
        if clock is None:
            return None
        # A delay before the clock runs is worth as much as an increment.
        more = "increment" if clock.get("increment") is not None or "delay" not in clock else "delay"
        return Clock(round(_seconds(clock, "initial")), round(_seconds(clock, more)))

    def _state(self, raw: Mapping[str, Any], variant: SiteVariant, script: MoveCodec) -> GameState:
        first, second = variant.sides
        state = GameState(
            # On sites with such games, commas join several actions of one turn.
            moves=script.read(_moves(raw)),
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
        self.last = state
        return state


def _chat_line(raw: Mapping[str, Any], dialect: Dialect) -> ChatLine | None:
    """Parse a chat message; return None for rooms that we do not use."""
    name, room, text = (need(raw, key, str) for key in ("username", "room", "text"))
    if room not in tuple(Room):
        return None
    by_site = name.casefold() == dialect.speaker
    return ChatLine(_clean(name), Room(room), _clean(text, _MAX_RECEIVED_CHAT_LENGTH), by_site)


def _end(raw: Mapping[str, Any], variant: SiteVariant) -> GameEnd | None:
    status = need(raw, "status", str)
    if status in _RUNNING_STATUSES:
        return None
    colours = [side.key for side in variant.sides]
    winner = _optional(raw, "winner", str)
    if winner is not None and winner not in colours:
        raise ProtocolError(f"winner {winner!r}", raw)
    return _end_of(status, None if winner is None else colours.index(winner))


def _end_of(status: str, winner: int | None) -> GameEnd:
    reason = _END_REASONS.get(status, EndReason.OTHER)
    return GameEnd(reason, None if reason is EndReason.ABORTED else winner, _clean(status))


def _challenge(raw: Mapping[str, Any], dialect: Dialect, our_id: str) -> Challenge:
    key = _variant_key(raw)
    variant = dialect.variants.get(key)
    if dialect.shuffled_key and raw.get(dialect.shuffled_key) is True:
        key, variant = f"{key} {dialect.shuffled_key}", None
    start = _optional(raw, "initialFen", str)
    try:
        start = _start(raw, variant)
    except BadPosition:
        variant = None  # not playable
    control = need(raw, "timeControl", dict)
    clock = None
    if control.get("type") == "clock":
        clock = Clock(*(_clamp(need(control, key, int), _MAX_S) for key in ("limit", "increment")))
    raw_challenger, challenged = _optional(raw, "challenger", dict), _optional(raw, "destUser", dict)
    challenger = _opponent(raw_challenger, dialect) if raw_challenger else None
    return Challenge(
        id=_identifier(raw, "id"),
        challenger=challenger,
        game=variant.game if variant else None,
        variant=key,
        kind="" if variant is None else variant.kind or (variant.game if start is None else FROM_POSITION),
        rated=need(raw, "rated", bool),
        speed=_speed(raw, clock),
        clock=clock,
        days_per_turn=_days(control),
        initial_position=start,
        is_ours=challenger is not None and challenger.id == our_id,
        our_rating=None if challenged is None else _rating(challenged, "rating"),
        can_abort="noAbort" not in (_optional(raw, "rules", list) or ()),
    )


def _opponent(raw: Mapping[str, Any], dialect: Dialect) -> Opponent:
    player_id = _player_id(raw, dialect)
    return Opponent(
        id=player_id,
        name=_clean(_optional(raw, "name", str) or player_id),
        rating=_rating(raw, "rating"),
        is_bot=raw.get("title") == "BOT" or "aiLevel" in raw,
    )


def _player_id(raw: Mapping[str, Any], dialect: Dialect) -> str:
    level = _number(raw, "aiLevel")
    if level is not None:
        return _clean(f"ai-level-{level}")
    return _clean(_optional(raw, dialect.player_key, str) or "anonymous")


def _variant_key(raw: Mapping[str, Any]) -> str:
    """Return the variant's key, or its name on sites without keys; empty if the message has neither."""
    variant = raw.get("variant")
    key = variant.get("key", variant.get("name")) if isinstance(variant, dict) else None
    return _clean(key) if isinstance(key, str) else ""


def _is_tournament(raw: Mapping[str, Any]) -> bool:
    """Whether a tournament paired the game; only some messages name the game's source."""
    return raw.get("tournamentId") is not None or raw.get("source") == "arena"


def _start(raw: Mapping[str, Any], variant: SiteVariant | None) -> str | None:
    """Return the starting position in our notation; None for the standard starting position.

    Raises:
        BadPosition: The text is not a position of the game.
    """
    fen = _optional(raw, "initialFen", str)
    # PyChess writes "None" for games that it has loaded from its database again.
    if fen is None or fen in ("", "startpos", "None"):
        return None
    if len(fen) > _MAX_FEN_LENGTH or not fen.isprintable():
        raise BadPosition(f"{fen[:100]!r} is not a position")
    if variant is None:
        return fen
    game = get_rules(variant.game)
    start = _cap_move_number(variant.notation.start(fen))
    return None if game.parse_position(start) == game.initial() else start


def _cap_move_number(start: str) -> str:
    """The position with its full-move number (the second counter) capped at `_MAX_MOVE_NUMBER`."""
    return re.sub(
        r"(?<!\S)([0-9]+) ([0-9]+)(?!\S)",
        lambda counts: f"{counts[1]} {min(int(counts[2]), _MAX_MOVE_NUMBER)}",
        start,
        count=1,
    )


def _days(raw: Mapping[str, Any]) -> int | None:
    days = _number(raw, "daysPerTurn")
    return None if days is None else max(1, _clamp(days, _MAX_DAYS))


def _speed(raw: Mapping[str, Any], clock: Clock | None) -> Speed:
    """The speed that the site gives, or else Lichess's speed class for the clock."""
    word = raw.get("speed")
    if word in tuple(Speed):
        return Speed(word)
    return speed_of(clock)


def read_rating_diff(record: Mapping[str, Any], name: str) -> int | None:
    """Return an account's rating change from the exported record of a finished game.

    Args:
        record: The site's JSON from ``/game/export``.
        name: Name of the account; case is ignored.
    """
    players = record.get("players")
    for player in players.values() if isinstance(players, dict) else ():
        user = player.get("user") if isinstance(player, dict) else None
        if isinstance(user, dict) and str(user.get("name")).lower() == name.lower():
            return _rating(player, "ratingDiff")
    return None


# --- Fields ---------------------------------------------------------------------------------------------


def as_object(value: object) -> Mapping[str, Any]:
    """Return the value, which must be a JSON object.

    Raises:
        ProtocolError: The value is not an object.
    """
    if not isinstance(value, dict):
        raise ProtocolError("not a JSON object", value)
    return value


def _moves(raw: Mapping[str, Any]) -> list[str]:
    moves = need(raw, "moves", str).replace(",", " ").split()
    if len(moves) > MAX_MOVES:
        raise ProtocolError(f"{len(moves)} moves, more than {MAX_MOVES}", raw)
    return moves


def need(raw: Mapping[str, Any], key: str, kind: type[T]) -> T:
    """Return a required field of a message.

    Raises:
        ProtocolError: The field is missing or of the wrong type.
    """
    value = raw.get(key)
    # JSON's true is not a number, though Python's True is an int.
    if not isinstance(value, kind) or (isinstance(value, bool) and kind is not bool):
        raise ProtocolError(f"field {key!r} is missing or of the wrong type", raw)
    return value


def _optional(raw: Mapping[str, Any], key: str, kind: type[T]) -> T | None:
    return None if raw.get(key) is None else need(raw, key, kind)


def _number(raw: Mapping[str, Any], key: str) -> int | None:
    """Return an integer field; None if it is missing or not an integer."""
    value = raw.get(key)
    return value if isinstance(value, int) and not isinstance(value, bool) else None


def _seconds(raw: Mapping[str, Any], key: str) -> float:
    """Convert a time in milliseconds (not necessarily an integer) to seconds."""
    value = raw.get(key)
    if isinstance(value, float) and not math.isnan(value):
        return max(0.0, min(value, _UNLIMITED_MS)) / 1000
    return _clamp(need(raw, key, int), _UNLIMITED_MS) / 1000


def _clamp(time: int, longest: int) -> int:
    return max(0, min(time, longest))


def _rating(raw: Mapping[str, Any], key: str) -> int | None:
    """Return a rating or rating change; None if it is missing or exceeds `_MAX_RATING`."""
    value = _number(raw, key)
    return None if value is None or abs(value) > _MAX_RATING else value


def _clean(text: str, longest: int = _MAX_NAME_LENGTH) -> str:
    """Shorten text, and replace unprintable characters, such as lone surrogates, which cannot be encoded."""
    return "".join(char if char.isprintable() else "\ufffd" for char in text[:longest])


def _identifier(raw: Mapping[str, Any], key: str) -> str:
    """Return a field that must be an id and is therefore safe in a URL's path."""
    value = need(raw, key, str)
    if not re.fullmatch(r"[A-Za-z0-9_-]{1,64}", value):
        raise ProtocolError(f"field {key!r} is not an id", raw)
    return value


def _game_id(raw: Mapping[str, Any]) -> str:
    """Return the game id in an account event; the name of its field depends on the site."""
    return _identifier(raw, "gameId" if "gameId" in raw else "id")
