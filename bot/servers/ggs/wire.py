"""The wire format of GGS, the server for Othello programs: bytes to immutable messages and back. No I/O.

Three layers. `LineSplitter` splits bytes into lines, `BlockSplitter` groups lines into blocks, `read` parses
a block. A block begins, after an empty line, with ``sender: text`` (a message from a user, usually the
Othello service ``/os``; further lines begin with ``|``) or with ``: text`` (the central server; further lines
are plain). A block ends at READY or where the next block begins. Answers have no id; only their first words
identify them.

On any input, this module raises only `ProtocolError` and uses bounded memory.
"""

import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from enum import StrEnum
from typing import TypeVar

from bot.base.errors import ProtocolError
from bot.base.events import Clock
from engine.formats.clock import BadClock, GgfClock
from engine.formats.ggf import BadGgf, GgfGame, GgfMove, move_text, parse, parse_move

SERVICE = "/os"
"""The Othello service's user name."""
ENCODING = "latin-1"
MAX_LINE_BYTES = 1 << 14
"""Maximum number of bytes kept per line; the server's own lines are less than a tenth as long."""
MAX_BLOCK_LINES = 2000
"""Maximum number of lines kept per block; a list of all users has about a hundred."""
MAX_BLOCK_CHARACTERS = 1 << 18
"""Maximum number of characters kept per block."""
MAX_GGS_CHAT_LENGTH = 400
"""Maximum length of our chat messages, in characters; the server accepts more."""

_NAME = r"[^\s:|]+"
T = TypeVar("T")

_ID = r"\.\d{1,9}"
_GAME_ID = rf"{_ID}(?:\.\d)?"
_NUMBER = r"[-+]?\d{1,9}(?:\.\d{1,6})?"


# --- The server's messages ------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class Ready:
    """READY: marks the end of some server output, which is not necessarily the answer to a single command."""


@dataclass(frozen=True, slots=True)
class Alert:
    """The server has dropped messages because we read too slowly, so we must request everything again."""


@dataclass(frozen=True, slots=True)
class LoginPrompt:
    """The server requests a login name."""


@dataclass(frozen=True, slots=True)
class PasswordPrompt:
    """The server requests the password."""


@dataclass(frozen=True, slots=True)
class CentralError:
    """The central server rejected a command, name or password."""

    text: str

    @property
    def is_login(self) -> bool:
        """Whether the server refuses our name or password."""
        return self.text.startswith(("Password ", "Login "))

    @property
    def is_service_away(self) -> bool:
        """Whether the Othello service is currently absent."""
        return self.text.startswith(f"user '{SERVICE}' not found")


@dataclass(frozen=True, slots=True)
class Presence:
    """A user that we follow, such as the service, is present or has left."""

    name: str
    is_here: bool
    level: int | None = None
    """Level of the account: 0 unregistered, 1 user, 2 admin, 3 root; None if not stated."""


@dataclass(frozen=True, slots=True)
class OtherMessage:
    """Any other answer, or a message that we ignore."""

    sender: str
    """Name of the sender; empty for the central server."""
    word: str
    lines: tuple[str, ...]
    """Lines of the answer; the first line still begins with its keyword."""


class Flag(StrEnum):
    """Kind of game or request: rated, unrated, resumption of an adjourned game, or tournament."""

    RATED = "R"
    UNRATED = "U"
    STORED = "S"
    """The request resumes an adjourned game, which is always rated."""
    TOURNAMENT = "T"


@dataclass(frozen=True, slots=True)
class GgsClock(GgfClock):
    """The clock settings of a game (GGS_PROTOCOL 3)."""

    @property
    def clock(self) -> Clock:
        """The clock without the grace time, which our time planning ignores."""
        return Clock(self.initial_s, self.increment_s)


@dataclass(frozen=True, slots=True)
class GameType:
    """A type of game: ``8``, ``8b``, ``s8r18``, ``8k``, ``10a``, ... (GGS_PROTOCOL 4)."""

    size: int
    is_synchro: bool = False
    """Whether a match consists of two simultaneous games with the colours swapped."""
    is_komi: bool = False
    discs: int | None = None
    """Number of discs in the random starting position; None for the standard starting position."""
    is_anti: bool = False
    """Whether the side with fewer discs wins."""
    colour: str = ""
    """``b`` or ``w`` if the requester plays black or white; empty for random colours."""

    @property
    def is_acceptable(self) -> bool:
        """Whether this program accepts requests for this type of game."""
        return self.is_supported and not self.is_komi

    @property
    def is_supported(self) -> bool:
        """Whether this program plays this type of game; it plays komi games only in tournaments."""
        return self.size == 8 and not self.is_anti

    @property
    def boards(self) -> int:
        return 2 if self.is_synchro else 1


@dataclass(frozen=True, slots=True)
class Request:
    """A request for a game appears or disappears."""

    is_new: bool
    id: str
    asker: str
    asker_rating: float
    asker_clock: GgsClock
    type_text: str
    flag: Flag
    other: str | None
    """The requested opponent; None if the request is open to everybody."""
    other_rating: float | None
    other_clock: GgsClock
    stored_id: str
    """Id of the adjourned game to resume; empty for a new game."""


@dataclass(frozen=True, slots=True)
class MatchBegan:
    """A match begins or is running. The requester's name comes first, regardless of colour."""

    id: str
    names: tuple[str, str]
    type_text: str
    flag: Flag


@dataclass(frozen=True, slots=True)
class MatchEnded:
    """All games of a match have ended or been adjourned."""

    id: str
    names: tuple[str, str]
    type_text: str
    flag: Flag
    result: float | None
    """Mean result from the first player's point of view, in discs; None if no game has a result."""
    left_by: str = ""
    """The player whose departure adjourned the match (aborted it, if unrated); empty if nobody left."""
    stored_id: str = ""
    """Id of the match in the store (if adjourned) or in the archive (if finished); otherwise empty."""

    def result_of(self, name: str) -> float | None:
        """Return the result from one player's point of view, in discs; None if there is no result."""
        return _for_player(name, self.names, self.result)


@dataclass(frozen=True, slots=True)
class Joined:
    """The current state of a game, sent at its start, when it is resumed, and on request."""

    id: str
    """Id of the game; in synchro matches it ends with the board number: ``.3.0``."""
    game: GgfGame | None
    """The game, or None if this program cannot read it, for instance because of its board size."""


@dataclass(frozen=True, slots=True)
class Moved:
    """A move in a game, made by either side."""

    id: str
    move: GgfMove


@dataclass(frozen=True, slots=True)
class BoardShown:
    """A game or move as a diagram for humans; we request no diagrams."""

    id: str


@dataclass(frozen=True, slots=True)
class BoardEnded:
    """One of the two games of a match has ended."""

    id: str
    names: tuple[str, str]
    result: float | None
    """Result from the first player's point of view, in discs; None if there is no result."""

    def result_of(self, name: str) -> float | None:
        """Return the result from one player's point of view, in discs; None if there is no result."""
        return _for_player(name, self.names, self.result)


def _for_player(name: str, names: tuple[str, str], result: float | None) -> float | None:
    return result if result is None or names[0] == name else -result


@dataclass(frozen=True, slots=True)
class RatingsChanged:
    id: str
    """Id of the match."""
    changes: tuple[tuple[str, float, float], ...]
    """The name, rating change and new rating of each player."""


@dataclass(frozen=True, slots=True)
class TimedOut:
    id: str
    name: str
    is_fatal: bool
    """Whether the player's grace time has run out too, which ends the game."""


@dataclass(frozen=True, slots=True)
class GgsGameError:
    """The service refuses one of our game actions."""

    id: str
    text: str


@dataclass(frozen=True, slots=True)
class ServiceError:
    """The service refuses one of our commands."""

    text: str

    @property
    def match_id(self) -> str:
        """Id of the match that the service could not find; empty for other errors."""
        match = re.match(rf"match '({_GAME_ID})' not found", self.text)
        return match[1] if match else ""


@dataclass(frozen=True, slots=True)
class AdjournedMatch:
    """An adjourned match."""

    id: str
    names: tuple[str, str]
    type_text: str


@dataclass(frozen=True, slots=True)
class StoredList:
    name: str
    """The player whose adjourned games are listed."""
    games: tuple[AdjournedMatch, ...]
    is_whole: bool = True
    """Whether every row could be parsed."""


@dataclass(frozen=True, slots=True)
class StoredOpponent:
    """An opponent in one of our adjourned games is present or has left."""

    name: str
    is_here: bool


@dataclass(frozen=True, slots=True)
class MatchList:
    """All running matches on the server."""

    matches: tuple[MatchBegan, ...]
    is_whole: bool = True
    """Whether every row could be parsed."""


@dataclass(frozen=True, slots=True)
class GgsPlayer:
    """A player in the answer to ``who``."""

    name: str
    is_open: bool
    """Whether the player is open to new games."""
    rating: float
    deviation: float


@dataclass(frozen=True, slots=True)
class PlayerList:
    players: tuple[GgsPlayer, ...]


@dataclass(frozen=True, slots=True)
class Said:
    """A chat message: to us, on a channel, or in a game."""

    name: str
    text: str
    channel: str = ""
    """Channel such as ``.chat`` or ``_group``; empty if the message is private or belongs to a game."""
    id: str = ""
    """Id of the game or match; empty outside a game."""
    to: str = ""
    """Audience in a game: ``A`` (everybody), ``P`` (the players) or ``O`` (the observers)."""


@dataclass(frozen=True, slots=True)
class UnknownBlock:
    """A block that the parser does not recognise."""

    sender: str
    lines: tuple[str, ...]


GgsMessage = (
    Ready
    | Alert
    | LoginPrompt
    | PasswordPrompt
    | CentralError
    | Presence
    | OtherMessage
    | Request
    | MatchBegan
    | MatchEnded
    | Joined
    | Moved
    | BoardShown
    | BoardEnded
    | RatingsChanged
    | TimedOut
    | GgsGameError
    | ServiceError
    | StoredList
    | StoredOpponent
    | MatchList
    | PlayerList
    | Said
    | UnknownBlock
)


# --- Bytes to lines, lines to blocks --------------------------------------------------------------------


class LineSplitter:
    """Splits bytes into lines, regardless of packet boundaries.

    Unprintable characters, which users can put in names and chat, are replaced, because they could control
    a terminal that shows the log.
    """

    def __init__(self) -> None:
        self._rest = b""

    def feed(self, data: bytes) -> Iterator[str]:
        """Yield each completed line, without its line ending."""
        *lines, rest = data.split(b"\n")
        for line in lines:
            whole, self._rest = self._rest + line[:MAX_LINE_BYTES], b""
            yield _clean(whole[:MAX_LINE_BYTES].removesuffix(b"\r").decode(ENCODING))
        self._rest = (self._rest + rest[:MAX_LINE_BYTES])[:MAX_LINE_BYTES]


def _clean(line: str) -> str:
    """Replace each tab with a space, and each unprintable character with U+FFFD."""
    line = line.replace("\t", " ")
    return line if line.isprintable() else "".join(char if char.isprintable() else "\ufffd" for char in line)


@dataclass(frozen=True, slots=True)
class RawMessage:
    """One unparsed message from the server."""

    sender: str
    """Name of the sender; empty for the central server."""
    lines: tuple[str, ...]
    """Lines without their leading markers (sender, ``|``)."""


@dataclass(slots=True)
class _Open:
    sender: str
    lines: list[str]
    is_help: bool = False
    """Whether the message is free text that ends at READY and may contain empty lines."""
    length: int = 0


_BEGIN = re.compile(rf"((?:[._]{_NAME} {_NAME})|(?:{_NAME})?): ?(.*)", re.DOTALL)
_PROMPTS: Mapping[str, LoginPrompt | PasswordPrompt] = {
    "Enter login": LoginPrompt(),
    "Enter your password": PasswordPrompt(),
}
_ENDS: Mapping[str, Ready | Alert] = {"READY": Ready(), "ALERT": Alert()}


@dataclass(slots=True)
class BlockSplitter:
    """Groups lines into blocks."""

    _open: _Open | None = field(default=None)
    _after_empty: bool = False

    def feed(self, line: str) -> Iterator[RawMessage | Ready | Alert | LoginPrompt | PasswordPrompt]:
        """Yield, in order, the blocks that this line completes."""
        opened, after_empty = self._open, self._after_empty
        self._after_empty = line == ""
        if line in _ENDS:
            yield from self._close()
            yield _ENDS[line]
        elif opened is not None and opened.is_help and len(opened.lines) < MAX_BLOCK_LINES:
            self._add(line)
        elif line == "":
            yield from self._close()
        elif line.startswith("|"):
            if opened is not None and opened.sender:
                self._add(line[1:])
        elif (begun := _BEGIN.match(line)) and (
            not begun[1] or after_empty or opened is None or bool(opened.sender)
        ):
            yield from self._close()
            for words, prompt in _PROMPTS.items():
                if not begun[1] and begun[2].startswith(words):
                    yield prompt
                    return
            self._open = _Open(begun[1], [begun[2]], not begun[1] and begun[2].startswith("help "))
        elif opened is not None and not opened.sender:
            self._add(line)
        else:
            yield from self._close()

    def _add(self, line: str) -> None:
        if self._open is not None and len(self._open.lines) < MAX_BLOCK_LINES:
            self._open.length += len(line)
            if self._open.length <= MAX_BLOCK_CHARACTERS:
                self._open.lines.append(line)

    def _close(self) -> Iterator[RawMessage]:
        if self._open is not None:
            yield RawMessage(self._open.sender, tuple(self._open.lines))
            self._open = None


class Reader:
    """Parses bytes into messages, through all layers."""

    def __init__(self) -> None:
        self._lines = LineSplitter()
        self._blocks = BlockSplitter()

    def feed(self, data: bytes) -> Iterator[GgsMessage]:
        """Yield each completed message; an unparsable message is yielded as an `UnknownBlock`."""
        for line in self._lines.feed(data):
            for block in self._blocks.feed(line):
                if not isinstance(block, RawMessage):
                    yield block
                    continue
                try:
                    yield read(block)
                except ProtocolError:
                    yield UnknownBlock(block.sender, block.lines)


# --- Blocks to messages ---------------------------------------------------------------------------------


def read(block: RawMessage) -> GgsMessage:
    """Parse a block.

    Raises:
        ProtocolError: The block begins like a known message but is malformed.
    """
    if block.sender == "":
        return _central(block.lines)
    if block.sender == SERVICE:
        return _service(block.lines)
    channel, _, name = block.sender.rpartition(" ")
    return Said(name, " ".join(block.lines), channel)


_CENTRAL_WORDS = frozenset(
    (
        *("+ack:", "alias", "bell", "chann", "email", "finger", "group", "hear", "help", "history", "ignore"),
        *("info", "name", "notify", "passw", "quit", "repeat", "sleep", "var", "verbose", "vt100", "who"),
    )
)


def _central(lines: tuple[str, ...]) -> GgsMessage:
    first = lines[0]
    if first.startswith("ERR "):
        return CentralError(first[4:])
    if match := re.fullmatch(rf"([-+]) ({_NAME})(?: (\d))?\s*", first):
        return Presence(match[2], match[1] == "+", int(match[3]) if match[3] else None)
    word = first.partition(" ")[0]
    if word in _CENTRAL_WORDS:
        return OtherMessage("", word, lines)
    return UnknownBlock("", lines)


_ANSWERS = frozenset(
    (
        *(
            "aform",
            "assess",
            "bell",
            "client",
            "dform",
            "finger",
            "hear",
            "help",
            "history",
            "ignore",
            "look",
        ),
        *("notify", "open", "play", "rank", "rated", "request", "top", "track", "trust", "vt100", "watch"),
        *("group", "tdtype", "tdstart"),  # news for a tournament's director
    )
)
NOTICES = frozenset({"abort", "score", "trust-violation", "undo"})
"""Game messages that we only log: offers by a player, and charges for more time than was reported."""
_BARE_ERRORS = (
    "illegal board type",
    "random games must be komi or synchro",
    "no preferred color in komi or rand games",
    "synchro+komi not supported",
)


def _service(lines: tuple[str, ...]) -> GgsMessage:
    first, rest = lines[0], lines[1:]
    word, _, args = first.partition(" ")
    match word:
        case "+" | "-":
            return _announcement(word == "+", args)
        case "ERR":
            return ServiceError(args)
        case "error":
            id_, _, text = args.partition(" ")
            return GgsGameError(_checked(_GAME_ID, id_), text)
        case "join":
            return _joined(args, rest)
        case "update":
            return _moved(args, rest)
        case "end":
            return _board_ended(args)
        case "rating_update":
            return RatingsChanged(_checked(_ID, args.strip()), tuple(map(_change, rest)))
        case "timeout" | "fatal-timeout":
            match = _matched(rf"({_GAME_ID}) ({_NAME}) \([*O?]\)", args)
            return TimedOut(match[1], match[2], word == "fatal-timeout")
        case "stored":
            return _stored(args, rest)
        case "match" if re.match(r"\d+/\d+", args):
            matches = _rows(_match_row, rest)
            return MatchList(matches, len(matches) == len(rest))
        case "who":
            return PlayerList(_rows(_player_row, rest))
    chat = re.fullmatch(rf"({_GAME_ID}) ([APO]) +(-?\d+) ({_NAME}): ?(.*)", first)
    if chat is not None:
        return Said(chat[4], " ".join([chat[5], *rest]), id=chat[1], to=chat[2])
    if args.startswith(("ERR ", "+ ERR ", "- ERR ")) or first.startswith(_BARE_ERRORS):
        return ServiceError(first)
    if word in _ANSWERS | NOTICES:
        return OtherMessage(SERVICE, word, lines)
    return UnknownBlock(SERVICE, lines)


def _announcement(is_new: bool, args: str) -> GgsMessage:
    words = args.split()
    if words[:1] == ["match"]:
        return _match(is_new, words[1:])
    if len(words) == 2 and words[1] == "stored":
        return StoredOpponent(words[0], is_new)
    if words and re.fullmatch(_ID, words[0]):
        return _request(is_new, words)
    if words and len(words) <= 3:  # a player has come, left, or is watching
        return Presence(words[0], is_new)
    raise ProtocolError("an unknown announcement", args)


def _match(is_new: bool, words: list[str]) -> MatchBegan | MatchEnded:
    if len(words) < 7:
        raise ProtocolError("a match without players", words)
    id_, rating, one, other_rating, other, type_text, flag, *rest = words
    _checked(_ID, id_)
    for each in (rating, other_rating):
        _checked(_NUMBER, each)
    if is_new:
        return MatchBegan(id_, (one, other), type_text, _flag(flag))
    ended = MatchEnded(id_, (one, other), type_text, _flag(flag), None)
    match rest:
        case []:
            return ended
        case ["aborted", *_]:
            return ended
        case [name, "left", *stored_ids]:
            stored_id = _checked(_ID, stored_ids[0]) if stored_ids else ""
            return MatchEnded(id_, ended.names, type_text, ended.flag, None, name, stored_id)
        case [result, *stored_ids]:
            stored_id = _checked(_ID, stored_ids[0]) if stored_ids else ""
            return MatchEnded(id_, ended.names, type_text, ended.flag, _number(result), "", stored_id)
    raise ProtocolError("an unknown end of a match", rest)


def _request(is_new: bool, words: list[str]) -> Request:
    if len(words) < 8:
        raise ProtocolError("an incomplete request", words)
    id_, rating, asker, clock, type_text, flag, other_rating, other, *rest = words
    stored_id = rest.pop() if rest and re.fullmatch(_ID, rest[-1]) else ""
    asker_clock = parse_clock(clock)
    return Request(
        is_new,
        id_,
        asker,
        _number(rating),
        asker_clock,
        type_text,
        _flag(flag),
        None if other == "*" else other,
        None if other_rating == "*" else _number(other_rating),
        parse_clock(rest[0]) if rest else asker_clock,
        stored_id,
    )


def _joined(args: str, rest: tuple[str, ...]) -> Joined | BoardShown:
    id_, _, text = args.partition(" ")
    _checked(_GAME_ID, id_)
    if not text.startswith("(;"):
        return _shown(id_, text)
    try:
        return Joined(id_, parse("\n".join([text, *rest])))
    except BadGgf:
        if "GM[" not in text:
            raise ProtocolError("not a game", text[:100]) from None
        return Joined(id_, None)


def _moved(args: str, rest: tuple[str, ...]) -> Moved | BoardShown:
    id_, _, text = args.partition(" ")
    _checked(_GAME_ID, id_)
    if rest:
        return _shown(id_, text)
    try:
        return Moved(id_, parse_move(text))
    except BadGgf as error:
        raise ProtocolError(str(error), text) from error


def _shown(id_: str, text: str) -> BoardShown:
    """Parse the first line of a diagram for humans (GGS_PROTOCOL 6.2), which gives the type and komi."""
    _matched(r"\S+ +K\S+ *", text)
    return BoardShown(id_)


def _board_ended(args: str) -> BoardEnded:
    match = _matched(rf"({_GAME_ID}) \( *({_NAME}) vs\. ({_NAME}) *\) +(.+)", args)
    result = _number(match[4]) if re.fullmatch(_NUMBER, match[4].strip()) else None
    return BoardEnded(match[1], (match[2], match[3]), result)


def _change(line: str) -> tuple[str, float, float]:
    number = rf"({_NUMBER})"
    match = _matched(rf"({_NAME}) +{number} @ +{number} +{number} -> +{number} @ +{number} *", line)
    return match[1], _number(match[4]), _number(match[5])


def _stored(args: str, rest: tuple[str, ...]) -> GgsMessage:
    match = re.fullmatch(rf"(\d+) ({_NAME}) *", args)
    if match is None:
        return (
            ServiceError(f"stored {args}")
            if args.startswith("ERR")
            else OtherMessage(SERVICE, "stored", (args,))
        )
    games = _rows(_stored_row, rest)
    return StoredList(match[2], games, len(games) == len(rest))


def _rows(read: Callable[[str], T], lines: Sequence[str]) -> tuple[T, ...]:
    """Parse the rows of a list; unreadable rows are skipped."""
    rows = []
    for line in lines:
        with suppress(ProtocolError):
            rows.append(read(line))
    return tuple(rows)


def _stored_row(line: str) -> AdjournedMatch:
    words = line.split()
    if len(words) < 8:
        raise ProtocolError("an incomplete adjourned game", line)
    return AdjournedMatch(_checked(_ID, words[0]), (words[5], words[6]), words[7].partition(":")[0])


def _match_row(line: str) -> MatchBegan:
    words = line.split()
    if len(words) < 7:
        raise ProtocolError("an incomplete match", line)
    id_, _, one, _, other, type_text, flag, *_ = words
    return MatchBegan(_checked(_ID, id_), (one, other), type_text, _flag(flag))


def _player_row(line: str) -> GgsPlayer:
    match = _matched(rf"({_NAME}) +([-+x]) +({_NUMBER})@ *({_NUMBER}).*", line)
    return GgsPlayer(match[1], match[2] == "+", _number(match[3]), _number(match[4]))


def _flag(text: str) -> Flag:
    try:
        return Flag(text)
    except ValueError:
        raise ProtocolError(f"{text[:20]!r} is neither R, U, S nor T", text) from None


def _matched(pattern: str, text: str) -> re.Match[str]:
    match = re.fullmatch(pattern, text, re.DOTALL)
    if match is None:
        raise ProtocolError("an unexpected line", text)
    return match


def _checked(pattern: str, text: str) -> str:
    return _matched(pattern, text)[0]


def _number(text: str) -> float:
    return float(_checked(_NUMBER, text.strip()))


def fields_of(lines: Sequence[str]) -> dict[str, str]:
    """Return the fields of a ``finger`` answer, whose lines have the form ``key : value``."""
    split = (line.partition(":") for line in lines)
    return {key.strip(): value.strip() for key, colon, value in split if colon}


# --- Clocks and types -----------------------------------------------------------------------------------

DEFAULT_CLOCK = GgsClock()
"""15:00//02:00"""


def parse_clock(text: str) -> GgsClock:
    """Parse a clock from a request or game record; the clock may be running.

    Raises:
        ProtocolError: The text is not a clock.
    """
    try:
        return GgsClock.parse(text)
    except BadClock as error:
        raise ProtocolError(str(error), text) from None


def parse_type(text: str) -> GameType:
    """Parse a game type.

    Raises:
        ProtocolError: The text is not a game type.
    """
    match = re.fullmatch(r"(s?)(\d{1,2})(k?)(?:r(\d{1,3}))?(a?)([bw]?)(?:\+.*|-.*)?", text)
    if match is None:
        raise ProtocolError(f"{text[:20]!r} is not a type of game", text)
    discs = int(match[4]) if match[4] else None
    return GameType(int(match[2]), bool(match[1]), bool(match[3]), discs, bool(match[5]), match[6])


# --- Our commands ---------------------------------------------------------------------------------------


def command(text: str) -> bytes:
    """Encode a line for the server; unprintable characters, such as line breaks, become spaces."""
    return _plain(text).encode(ENCODING, errors="replace") + b"\r\n"


def tell_service(*words: object) -> str:
    """Build a command for the Othello service."""
    return " ".join(["tell", SERVICE, *map(str, words)])


def write_move(move: str, evaluation: float | None, time_s: float | None) -> str:
    """Format a move for ``play``, for example ``F5/1.45/0.04`` or ``PA``."""
    move_with_info = GgfMove(
        move,
        None if evaluation is None else max(-999.0, min(999.0, evaluation)),
        None if time_s is None else round(max(0.0, min(99_999.0, time_s)), 2),
    )
    return move_text(move_with_info)


def write_bid(move: str, value_discs: float) -> str:
    """Format the bid of a komi game for ``play``; the value must be present even if it is 0."""
    return f"{move.upper()}/{value_discs:.2f}"


def clean_chat(text: str) -> str:
    """Prepare text for chat: one line without backslashes, because a backslash would break the message."""
    return _plain(text).replace("\\", "/").strip()[:MAX_GGS_CHAT_LENGTH]


def _plain(text: str) -> str:
    return "".join(char if char.isprintable() else " " for char in text)
