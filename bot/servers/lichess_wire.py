"""The wire format of the Lichess Bot API: JSON lines and answers to events.  No I/O.

Fields and event types that are not known are skipped, because sites add to the protocol without warning; what
is missing or of the wrong type where it is needed is a `ProtocolError` that keeps the message.

Sources: the OpenAPI description of lichess-org/api, and what its servers were seen to do.
"""

import json
import math
import re
from collections.abc import Mapping
from dataclasses import dataclass, replace
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
    Opponent,
    OpponentGone,
    Room,
    Speed,
    speed_of,
)
from bot.base.notation import Script
from bot.servers import Account
from engine.game import BadPosition
from engine.games import get_game

_UNLIMITED_MS = 2**31 - 1
"""What the protocol writes for a clock that never runs out."""
_LONGEST_S = _UNLIMITED_MS // 1000
"""Any longer time is read as this one, in seconds."""
_MAX_RATING = 10_000
"""A rating or change of one beyond this, up or down, is garbage, read as none."""
_MAX_START = 500
"""Characters of a position that a game begins from; more than any of our games needs."""
_LATEST_START = 1000
"""No game begins later than in this full move, whatever its start says: the score of a mate counts the game's
moves, and beyond some thousands (`engine.game.MOST_PLIES`) all mates would be worth the same."""
_MAX_NAME = 64
"""Characters of a name that are kept: more than any site allows, and what the books have room for."""
_MOST_MOVES = 2000
"""lichess.org ends a game after 600; to read so many takes long enough to be late in other games."""

_MOST_BRACKETS = 500
"""That open something in a line; more make it garbage.  What is nested deeply may just be read, and then not
be shown in the log without an error that nobody expects."""
_MAX_TEXT = 1000
"""Characters of a line of chat that are kept."""
_MAX_DAYS = 14
"""Days for a move, at most; sites that allow more are read as this."""

_GOING_ON = frozenset({"created", "started"})
_END_REASONS = {
    "mate": EndReason.NORMAL,
    "stalemate": EndReason.NORMAL,
    "variantEnd": EndReason.NORMAL,
    "perpetualCheck": EndReason.NORMAL,
    # By the rules, or by agreement: the wire does not tell one from the other.
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
    if line.count(b"[") + line.count(b"{") > _MOST_BRACKETS:
        raise ProtocolError(f"more than {_MOST_BRACKETS} brackets", line)
    try:
        message = json.loads(line, parse_constant=_refuse_constant)
    except ValueError:
        raise ProtocolError("not JSON", line) from None
    if not isinstance(message, dict):
        raise ProtocolError("not a JSON object", message)
    return message


def _refuse_constant(word: str) -> None:
    raise ValueError(f"{word} is no JSON")


def read_account(message: object) -> Account:
    """The answer of ``/api/account``."""
    raw = _object(message)
    count = raw.get("count")
    return Account(
        id=_need(raw, "id", str),
        name=_clean(_need(raw, "username", str)),
        is_bot=raw.get("title") == "BOT",
        games=_number(count, "all") if isinstance(count, dict) else None,
    )


def read_playing(message: object) -> list[str]:
    """Game ids from ``nowPlaying`` of ``/api/account/playing``."""
    if not isinstance(message, list):
        raise ProtocolError("nowPlaying is not a list", message)
    return [_identifier(_object(game), "gameId") for game in message]


def read_online_bot(message: Mapping[str, Any]) -> Bot:
    """One line of ``/api/bot/online``."""
    perfs = _optional(message, "perfs", dict) or {}
    return Bot(
        id=_identifier(message, "id"),
        name=_clean(_need(message, "username", str)),
        ratings={
            key: rating
            for key, perf in perfs.items()
            if isinstance(perf, dict) and not perf.get("prov")
            if (rating := _rating(perf, "rating")) is not None
        },
    )


def read_account_event(message: Mapping[str, Any], dialect: Dialect, our_id: str) -> AccountEvent | None:
    """One message of the account's event stream; None when it is of a type that is not known."""
    match message.get("type"):
        case "challenge":
            return ChallengeReceived(_challenge(_need(message, "challenge", dict), dialect, our_id))
        case "challengeCanceled" | "challengeDeclined":
            return ChallengeGone(_identifier(_need(message, "challenge", dict), "id"))
        case "gameStart":
            raw = _need(message, "game", dict)
            # A site that does not name the variant starts nothing but what was accepted.
            return GameStarted(_game_id(raw), "variant" not in raw or _variant_key(raw) in dialect.variants)
        case "gameFinish":
            raw = _need(message, "game", dict)
            return GameFinished(_game_id(raw), _rating(raw, "ratingDiff"))
        case _:
            return None


@dataclass(frozen=True, slots=True)
class ChallengeMade:
    """A challenge of ours is on its way."""

    id: str


@dataclass(frozen=True, slots=True)
class ChallengeDone:
    """What became of it."""

    word: str
    """The site's: ``accepted``, or why not."""

    @property
    def accepted(self) -> bool:
        return self.word == "accepted"


def read_challenge_answer(message: Mapping[str, Any]) -> ChallengeMade | ChallengeDone:
    """A line of the answer to a new challenge."""
    if "done" in message:
        return ChallengeDone(_clean(_need(message, "done", str)))
    made = message.get("challenge")  # older sites wrap it
    return ChallengeMade(_identifier(made if isinstance(made, dict) else message, "id"))


class GameReader:
    """Messages of one game's stream to events.

    It remembers from the first message what the later ones leave out: which colour begins, whether there is
    a clock, which of the players is us, and where the game stands.
    """

    def __init__(self, dialect: Dialect, our_id: str) -> None:
        self._dialect = dialect
        self._our_id = our_id
        self._variant: SiteVariant | None = None
        self._has_clock = False
        self._last: GameState | None = None
        self.script: Script | None = None
        """The game's moves; None before the snapshot."""

    @property
    def started(self) -> bool:
        """Whether the snapshot has been read."""
        return self._last is not None

    @property
    def is_over(self) -> bool:
        """Whether the site has told the game's end."""
        return self._last is not None and self._last.end is not None

    def read(self, message: Mapping[str, Any]) -> GameEvent | None:
        """One message; None when it is of a type that nothing needs, or a state too early."""
        match message.get("type"):
            case "gameFull":
                return self._snapshot(message)
            case "gameState":
                if self._variant is None or self.script is None:
                    return None
                return self._state(message, self._variant, self.script)
            case "gameEnd":
                return self.ended("gameEnd")
            case "opponentGone":
                in_s = _number(message, "claimWinInSeconds")
                gone = _need(message, "gone", bool)
                return OpponentGone(gone, None if in_s is None else _clamp(in_s, _LONGEST_S))
            case "chatLine":
                return _chat_line(message, self._dialect)
            case _:
                return None

    def ended(self, word: str) -> GameState | None:
        """The last state with an end of which the site tells nothing; None: before the snapshot."""
        if self._last is None or self.is_over:
            return self._last
        self._last = replace(self._last, end=GameEnd(EndReason.UNTOLD, None, word))
        return self._last

    @property
    def longest_turn_s(self) -> float | None:
        """No turn can last longer, on a site whose ``status`` does not tell the end; None: not to be said."""
        if self._dialect.tells_end or self._last is None or self._last.remaining_s is None or self.is_over:
            return None
        return max(self._last.remaining_s)

    def _snapshot(self, raw: Mapping[str, Any]) -> GameSnapshot:
        key = _variant_key(raw)
        variant = self._dialect.variants.get(key)
        if variant is None:
            raise ProtocolError(f"a game of variant {key!r}, which is not played here", raw)
        players = [_need(raw, side.key, dict) for side in variant.sides]
        ids = [_player_id(player, self._dialect) for player in players]
        if self._our_id not in ids:
            raise ProtocolError("a game that we do not take part in", raw)
        our_side = ids.index(self._our_id)
        state = _need(raw, "state", dict)
        clock = self._clock(raw, state)
        self._has_clock = clock is not None
        try:
            start = _start(raw, variant)
            script = Script(variant.notation, get_game(variant.game), start)
        except BadPosition as error:
            raise ProtocolError(f"a game that begins nowhere: {error}", raw) from error
        snapshot = GameSnapshot(
            game_id=_identifier(raw, "id"),
            game=variant.game,
            variant=key,
            initial_position=start,
            our_side=our_side,
            rated=_need(raw, "rated", bool) if self._dialect.rated is None else self._dialect.rated,
            speed=_speed(raw, clock),
            clock=clock,
            opponent=_opponent(players[1 - our_side], self._dialect),
            our_rating=_rating(players[our_side], "rating"),
            state=self._state(state, variant, script),
            days_per_turn=_days(raw),
        )
        self._variant, self.script = variant, script
        return snapshot

    def _clock(self, raw: Mapping[str, Any], state: Mapping[str, Any]) -> Clock | None:
        unit_s = self._dialect.increment_unit_s
        if unit_s is not None:
            # What both had at first, nobody tells: at the start of a game it is what they have now.
            left_s = max(_seconds(state, "wtime"), _seconds(state, "btime"))
            return Clock(round(left_s), round(_seconds(state, "winc") * 1000 * unit_s))
        clock = _optional(raw, "clock", dict)
        if clock is None:
            return None
        # A delay before the clock runs gives as much time as an increment, and is as good as one.
        more = "increment" if clock.get("increment") is not None or "delay" not in clock else "delay"
        return Clock(round(_seconds(clock, "initial")), round(_seconds(clock, more)))

    def _state(self, raw: Mapping[str, Any], variant: SiteVariant, script: Script) -> GameState:
        first, second = variant.sides
        state = GameState(
            # Several actions of one turn are joined by commas, on sites that know such games.
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
        self._last = state
        return state


def _chat_line(raw: Mapping[str, Any], dialect: Dialect) -> ChatLine | None:
    """None: in a room that nobody here listens to."""
    name, room, text = (_need(raw, key, str) for key in ("username", "room", "text"))
    if room not in tuple(Room):
        return None
    by_site = name.casefold() == dialect.speaker
    return ChatLine(_clean(name), Room(room), _clean(text, _MAX_TEXT), by_site)


def _end(raw: Mapping[str, Any], variant: SiteVariant) -> GameEnd | None:
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
    if dialect.shuffled_key and raw.get(dialect.shuffled_key) is True:
        key, variant = f"{key} {dialect.shuffled_key}", None
    start = _optional(raw, "initialFen", str)
    try:
        start = _start(raw, variant)
    except BadPosition:
        variant = None  # nothing that could be played
    control = _need(raw, "timeControl", dict)
    clock = None
    if control.get("type") == "clock":
        clock = Clock(*(_clamp(_need(control, key, int), _LONGEST_S) for key in ("limit", "increment")))
    raw_challenger, challenged = _optional(raw, "challenger", dict), _optional(raw, "destUser", dict)
    challenger = _opponent(raw_challenger, dialect) if raw_challenger else None
    return Challenge(
        id=_identifier(raw, "id"),
        challenger=challenger,
        game=variant.game if variant else None,
        variant=key,
        kind="" if variant is None else variant.kind or (variant.game if start is None else FROM_POSITION),
        rated=_need(raw, "rated", bool),
        speed=_speed(raw, clock),
        clock=clock,
        days_per_turn=_days(control),
        initial_position=start,
        is_ours=challenger is not None and challenger.id == our_id,
        our_rating=None if challenged is None else _rating(challenged, "rating"),
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
    """Its key; its name on a site that knows no keys."""
    variant = raw.get("variant")
    key = variant.get("key", variant.get("name")) if isinstance(variant, dict) else None
    return _clean(key) if isinstance(key, str) else ""


def _start(raw: Mapping[str, Any], variant: SiteVariant | None) -> str | None:
    """Where a game begins, in our words; None: as usual.

    Raises:
        BadPosition: The game does not know such a position.
    """
    told = _optional(raw, "initialFen", str)
    if told is None or told in ("", "startpos"):
        return None
    if len(told) > _MAX_START or not told.isprintable():
        raise BadPosition(f"{told[:100]!r} is no position")
    if variant is None:
        return told
    game = get_game(variant.game)
    start = _early(variant.notation.start(told))
    return None if game.parse_position(start) == game.initial() else start


def _early(start: str) -> str:
    """A start whose second count, the number of the full move, is `_LATEST_START` at most."""
    return re.sub(
        r"(?<!\S)([0-9]+) ([0-9]+)(?!\S)",
        lambda counts: f"{counts[1]} {min(int(counts[2]), _LATEST_START)}",
        start,
        count=1,
    )


def _days(raw: Mapping[str, Any]) -> int | None:
    days = _number(raw, "daysPerTurn")
    return None if days is None else max(1, _clamp(days, _MAX_DAYS))


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


def _moves(raw: Mapping[str, Any]) -> list[str]:
    moves = _need(raw, "moves", str).replace(",", " ").split()
    if len(moves) > _MOST_MOVES:
        raise ProtocolError(f"{len(moves)} moves; a game of more than {_MOST_MOVES} is not followed", raw)
    return moves


def _need(raw: Mapping[str, Any], key: str, kind: type[T]) -> T:
    value = raw.get(key)
    # JSON's true is no number, though Python's True is one.
    if not isinstance(value, kind) or (isinstance(value, bool) and kind is not bool):
        raise ProtocolError(f"field {key!r} is missing or not of its type", raw)
    return value


def _optional(raw: Mapping[str, Any], key: str, kind: type[T]) -> T | None:
    return None if raw.get(key) is None else _need(raw, key, kind)


def _number(raw: Mapping[str, Any], key: str) -> int | None:
    """One that the game can do without: None for anything else too."""
    value = raw.get(key)
    return value if isinstance(value, int) and not isinstance(value, bool) else None


def _seconds(raw: Mapping[str, Any], key: str) -> float:
    """A time in milliseconds, whole or not, as seconds."""
    value = raw.get(key)
    if isinstance(value, float) and not math.isnan(value):
        return max(0.0, min(value, _UNLIMITED_MS)) / 1000
    return _clamp(_need(raw, key, int), _UNLIMITED_MS) / 1000


def _clamp(time: int, longest: int) -> int:
    return max(0, min(time, longest))


def _rating(raw: Mapping[str, Any], key: str) -> int | None:
    """A rating or its change; JSON's integers have no end, a database's have."""
    value = _number(raw, key)
    return None if value is None or abs(value) > _MAX_RATING else value


def _clean(text: str, longest: int = _MAX_NAME) -> str:
    """Text that every database and chat can take; half a surrogate pair, for one, cannot be written."""
    return "".join(sign if sign.isprintable() else "\ufffd" for sign in text[:longest])


def _identifier(raw: Mapping[str, Any], key: str) -> str:
    """An id that is safe to put into a URL's path."""
    value = _need(raw, key, str)
    if not re.fullmatch(r"[A-Za-z0-9_-]{1,64}", value):
        raise ProtocolError(f"field {key!r} is not an id", raw)
    return value


def _game_id(raw: Mapping[str, Any]) -> str:
    """Of the account's events; some sites call it by another name."""
    return _identifier(raw, "gameId" if "gameId" in raw else "id")
