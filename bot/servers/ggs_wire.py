"""The wire format of GGS, the server for Othello programs: bytes to frozen messages and back.  No I/O.

Three layers.  `Lines` cuts bytes into lines, `Blocks` gathers lines into blocks, `read` tells what a block
means.  A block begins with ``sender: text`` after an empty line (what somebody says, the Othello service
``/os`` above all; further lines begin with ``|``) or with ``: text`` (the central server; further lines are
plain), and ends at READY or wherever the next one begins.  Answers carry no id: they are known by their first
words only.

Nothing here raises anything but `ProtocolError`, whatever is fed in, and nothing grows without bound.
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
"""The Othello service's name among the users."""
ENCODING = "latin-1"
LINE_LIMIT = 1 << 14
"""Of a longer line the rest is dropped, in bytes; the server itself sends no line of a tenth of this."""
BLOCK_LIMIT = 2000
"""Of a longer block the rest is dropped, in lines; a list of all users has some hundred."""
TEXT_LIMIT = 1 << 18
"""Of a longer block the rest is dropped, in characters, as well."""
SAY_LIMIT = 400
"""Longest thing that we say to somebody, in characters; the server takes more."""

_NAME = r"[^\s:|]+"
T = TypeVar("T")

_ID = r"\.\d{1,9}"
_GAME_ID = rf"{_ID}(?:\.\d)?"
_NUMBER = r"[-+]?\d{1,9}(?:\.\d{1,6})?"


# --- What the server tells ------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class Ready:
    """The server has said what it had to say; it pairs with nothing."""


@dataclass(frozen=True, slots=True)
class Alert:
    """The server has dropped something that we were too slow to take: read everything again."""


@dataclass(frozen=True, slots=True)
class LoginPrompt:
    """Whoever is there is to say a name."""


@dataclass(frozen=True, slots=True)
class PasswordPrompt:
    """... and the password."""


@dataclass(frozen=True, slots=True)
class CentralError:
    """The central server does not take a command, a name or a password."""

    text: str

    @property
    def is_login(self) -> bool:
        """The name or password that we gave is refused."""
        return self.text.startswith(("Password ", "Login "))

    @property
    def is_service_away(self) -> bool:
        """There is no Othello service just now."""
        return self.text.startswith(f"user '{SERVICE}' not found")


@dataclass(frozen=True, slots=True)
class Presence:
    """Somebody that we follow is there, or has gone; the service, for instance."""

    name: str
    is_here: bool
    level: int | None = None
    """0: unregistered, 1: user, 2: admin, 3: root; None: not told."""


@dataclass(frozen=True, slots=True)
class OtherMessage:
    """Something else that was asked for, or that has no meaning for us."""

    sender: str
    """Empty: the central server."""
    word: str
    lines: tuple[str, ...]
    """The first one with the word in front."""


class Flag(StrEnum):
    """What a game counts as."""

    RATED = "R"
    UNRATED = "U"
    STORED = "S"
    """It takes up an adjourned game, which was rated."""
    TOURNAMENT = "T"


@dataclass(frozen=True, slots=True)
class GgsClock(GgfClock):
    """A clock (GGS_PROTOCOL 3)."""

    @property
    def clock(self) -> Clock:
        """Without the grace: it is not for use."""
        return Clock(self.initial_s, self.increment_s)


@dataclass(frozen=True, slots=True)
class GameType:
    """What is played: ``8``, ``8b``, ``s8r18``, ``8k``, ``10a``, ... (GGS_PROTOCOL 4)."""

    size: int
    is_synchro: bool = False
    """Two games at once, with the colours swapped."""
    is_komi: bool = False
    discs: int | None = None
    """It begins in a random position with so many discs; None: as usual."""
    is_anti: bool = False
    """Fewest discs win."""
    colour: str = ""
    """``b`` or ``w``: the one who asks plays black or white; empty: by lot."""

    @property
    def is_played(self) -> bool:
        """Whether it is Othello as this program plays it."""
        return self.size == 8 and not self.is_komi and not self.is_anti

    @property
    def boards(self) -> int:
        return 2 if self.is_synchro else 1


@dataclass(frozen=True, slots=True)
class Request:
    """Somebody asks for a game, or does not any more."""

    is_new: bool
    id: str
    asker: str
    asker_rating: float
    asker_clock: GgsClock
    type_text: str
    flag: Flag
    other: str | None
    """None: whoever wants."""
    other_rating: float | None
    other_clock: GgsClock
    stored_id: str
    """Of the adjourned game that it takes up; empty: a new one."""


@dataclass(frozen=True, slots=True)
class MatchBegan:
    """A match begins, or goes on.  The names do not tell the colours: who asked stands in front."""

    id: str
    names: tuple[str, str]
    type_text: str
    flag: Flag


@dataclass(frozen=True, slots=True)
class MatchEnded:
    """The end, or an adjournment, of all the games of a match."""

    id: str
    names: tuple[str, str]
    type_text: str
    flag: Flag
    result: float | None
    """Of the one named first, in discs; of two games the mean; None: there is none."""
    left_by: str = ""
    """Somebody has left: the match is adjourned, or given up when it was not rated."""
    stored_id: str = ""
    """Where an adjourned match is kept, or a finished one archived; empty: nowhere."""


@dataclass(frozen=True, slots=True)
class Joined:
    """A game as it stands: at its start, when it is taken up, and whenever we ask."""

    id: str
    """With the number of the board behind it in synchro matches: ``.3.0``."""
    game: GgfGame | None
    """None: not one that this program could read, such as one of another size."""


@dataclass(frozen=True, slots=True)
class Moved:
    """One move in one game; ours, too."""

    id: str
    move: GgfMove


@dataclass(frozen=True, slots=True)
class BoardShown:
    """A game or a move in it as a picture, for people: we ask for the other form."""

    id: str


@dataclass(frozen=True, slots=True)
class BoardEnded:
    """One of the two games of a match."""

    id: str
    names: tuple[str, str]
    result: float | None
    """Of the one named first, in discs; None: there is none."""


@dataclass(frozen=True, slots=True)
class RatingsChanged:
    id: str
    """Of the match."""
    changes: tuple[tuple[str, float, float], ...]
    """Name, change, new rating."""


@dataclass(frozen=True, slots=True)
class TimedOut:
    id: str
    name: str
    is_fatal: bool
    """The grace is over, too, and with it the game."""


@dataclass(frozen=True, slots=True)
class TrustViolated:
    """Somebody told a time that was too short; the server charges its own."""

    id: str
    name: str


@dataclass(frozen=True, slots=True)
class Offered:
    """Somebody would like to undo a move, to abort the game, or to agree on a result."""

    what: str
    """``undo``, ``abort`` or ``score``."""
    id: str
    name: str


@dataclass(frozen=True, slots=True)
class GgsGameError:
    """What we did in a game was not possible."""

    id: str
    text: str


@dataclass(frozen=True, slots=True)
class ServiceError:
    """What we asked the service for is not possible."""

    text: str

    @property
    def match_id(self) -> str:
        """Of a match that there is none of; empty: something else is wrong."""
        found = re.match(rf"match '({_GAME_ID})' not found", self.text)
        return found[1] if found else ""


@dataclass(frozen=True, slots=True)
class AdjournedMatch:
    """An adjourned match."""

    id: str
    names: tuple[str, str]
    type_text: str


@dataclass(frozen=True, slots=True)
class StoredList:
    name: str
    """Whose they are."""
    games: tuple[AdjournedMatch, ...]
    is_whole: bool = True
    """Every row could be read."""


@dataclass(frozen=True, slots=True)
class StoredOpponent:
    """Somebody is there with whom we have an adjourned game."""

    name: str
    is_here: bool


@dataclass(frozen=True, slots=True)
class MatchList:
    """The matches that go on, of everybody."""

    matches: tuple[MatchBegan, ...]
    is_whole: bool = True
    """Every row could be read."""


@dataclass(frozen=True, slots=True)
class GgsPlayer:
    """Somebody in a list of ``who``."""

    name: str
    is_open: bool
    """New games are welcome."""
    rating: float
    deviation: float


@dataclass(frozen=True, slots=True)
class PlayerList:
    players: tuple[GgsPlayer, ...]


@dataclass(frozen=True, slots=True)
class Said:
    """Somebody says something: to us, on a channel, or in a game."""

    name: str
    text: str
    channel: str = ""
    """``.chat``, ``_group``; empty: to us alone, or in a game."""
    id: str = ""
    """Of the game or match; empty: not in one."""
    to: str = ""
    """In a game: ``A`` everybody, ``P`` those who play, ``O`` those who watch."""


@dataclass(frozen=True, slots=True)
class Unknown:
    """A block that this grammar does not have."""

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
    | TrustViolated
    | Offered
    | GgsGameError
    | ServiceError
    | StoredList
    | StoredOpponent
    | MatchList
    | PlayerList
    | Said
    | Unknown
)


# --- Bytes to lines, lines to blocks --------------------------------------------------------------------


class Lines:
    """Cuts bytes into lines, wherever packets begin and end.

    Names and chat are anybody's: what cannot be printed would be an order to a terminal that shows the log.
    """

    def __init__(self) -> None:
        self._rest = b""

    def feed(self, data: bytes) -> Iterator[str]:
        """Every line that is whole now, without its end."""
        *lines, rest = data.split(b"\n")
        for line in lines:
            whole, self._rest = self._rest + line[:LINE_LIMIT], b""
            yield _clean(whole[:LINE_LIMIT].removesuffix(b"\r").decode(ENCODING))
        self._rest = (self._rest + rest[:LINE_LIMIT])[:LINE_LIMIT]


def _clean(line: str) -> str:
    """A line with a mark in place of every sign that cannot be printed; a tab is but a space."""
    line = line.replace("\t", " ")
    return line if line.isprintable() else "".join(sign if sign.isprintable() else "\ufffd" for sign in line)


@dataclass(frozen=True, slots=True)
class RawMessage:
    """One message of the server's, before it is understood."""

    sender: str
    """Empty: the central server."""
    lines: tuple[str, ...]
    """Without what marks them: sender, ``|``."""


@dataclass(slots=True)
class _Open:
    sender: str
    lines: list[str]
    is_help: bool = False
    """A text with empty lines in it, up to READY."""
    length: int = 0


_BEGIN = re.compile(rf"((?:[._]{_NAME} {_NAME})|(?:{_NAME})?): ?(.*)", re.DOTALL)
_PROMPTS: Mapping[str, LoginPrompt | PasswordPrompt] = {
    "Enter login": LoginPrompt(),
    "Enter your password": PasswordPrompt(),
}
_ENDS: Mapping[str, Ready | Alert] = {"READY": Ready(), "ALERT": Alert()}


@dataclass(slots=True)
class Blocks:
    """Gathers lines into blocks."""

    _open: _Open | None = field(default=None)
    _after_empty: bool = False

    def feed(self, line: str) -> Iterator[RawMessage | Ready | Alert | LoginPrompt | PasswordPrompt]:
        """What is complete with this line, in order."""
        opened, after_empty = self._open, self._after_empty
        self._after_empty = line == ""
        if line in _ENDS:
            yield from self._close()
            yield _ENDS[line]
        elif opened is not None and opened.is_help and len(opened.lines) < BLOCK_LIMIT:
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
        if self._open is not None and len(self._open.lines) < BLOCK_LIMIT:
            self._open.length += len(line)
            if self._open.length <= TEXT_LIMIT:
                self._open.lines.append(line)

    def _close(self) -> Iterator[RawMessage]:
        if self._open is not None:
            yield RawMessage(self._open.sender, tuple(self._open.lines))
            self._open = None


class Reader:
    """All layers: bytes in, messages out."""

    def __init__(self) -> None:
        self._lines = Lines()
        self._blocks = Blocks()

    def feed(self, data: bytes) -> Iterator[GgsMessage]:
        """Every message that is complete now.  What cannot be understood is an `Unknown`."""
        for line in self._lines.feed(data):
            for block in self._blocks.feed(line):
                if not isinstance(block, RawMessage):
                    yield block
                    continue
                try:
                    yield read(block)
                except ProtocolError:
                    yield Unknown(block.sender, block.lines)


# --- Blocks to messages ---------------------------------------------------------------------------------


def read(block: RawMessage) -> GgsMessage:
    """What a block means.

    Raises:
        ProtocolError: It begins like something that it is not.
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
    if found := re.fullmatch(rf"([-+]) ({_NAME})(?: (\d))?\s*", first):
        return Presence(found[2], found[1] == "+", int(found[3]) if found[3] else None)
    word = first.partition(" ")[0]
    if word in _CENTRAL_WORDS:
        return OtherMessage("", word, lines)
    return Unknown("", lines)


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
    )
)
_BARE_ERRORS = (
    "illegal board type",
    "random games must be komi or synchro",
    "no preferred color in komi or rand games",
    "synchro+komi not supported",
)


def _service(lines: tuple[str, ...]) -> GgsMessage:
    first, rest = lines[0], lines[1:]
    word, _, told = first.partition(" ")
    match word:
        case "+" | "-":
            return _news(word == "+", told)
        case "ERR":
            return ServiceError(told)
        case "error":
            id_, _, text = told.partition(" ")
            return GgsGameError(_checked(_GAME_ID, id_), text)
        case "join":
            return _joined(told, rest)
        case "update":
            return _moved(told, rest)
        case "end":
            return _board_ended(told)
        case "rating_update":
            return RatingsChanged(_checked(_ID, told.strip()), tuple(map(_change, rest)))
        case "timeout" | "fatal-timeout":
            found = _matched(rf"({_GAME_ID}) ({_NAME}) \([*O?]\)", told)
            return TimedOut(found[1], found[2], word == "fatal-timeout")
        case "trust-violation":
            found = _matched(rf"({_GAME_ID}) ({_NAME}) .*", told)
            return TrustViolated(found[1], found[2])
        case "undo" | "abort" | "score" if not told.startswith("ERR "):
            found = _matched(rf"({_GAME_ID}) ({_NAME}) is (?:asking|offering)", told)
            return Offered(word, found[1], found[2])
        case "stored":
            return _stored(told, rest)
        case "match" if re.match(r"\d+/\d+", told):
            matches = _rows(_match_row, rest)
            return MatchList(matches, len(matches) == len(rest))
        case "who":
            return PlayerList(_rows(_player_row, rest))
    chat = re.fullmatch(rf"({_GAME_ID}) ([APO]) +(-?\d+) ({_NAME}): ?(.*)", first)
    if chat is not None:
        return Said(chat[4], " ".join([chat[5], *rest]), id=chat[1], to=chat[2])
    if told.startswith(("ERR ", "+ ERR ", "- ERR ")) or first.startswith(_BARE_ERRORS):
        return ServiceError(first)
    if word in _ANSWERS:
        return OtherMessage(SERVICE, word, lines)
    return Unknown(SERVICE, lines)


def _news(is_new: bool, told: str) -> GgsMessage:
    words = told.split()
    if words[:1] == ["match"]:
        return _match(is_new, words[1:])
    if len(words) == 2 and words[1] == "stored":
        return StoredOpponent(words[0], is_new)
    if words and re.fullmatch(_ID, words[0]):
        return _request(is_new, words)
    if words and len(words) <= 3:  # who has come, gone, or watches
        return Presence(words[0], is_new)
    raise ProtocolError("news that are none", told)


def _match(is_new: bool, words: list[str]) -> MatchBegan | MatchEnded:
    if len(words) < 7:
        raise ProtocolError("a match without its players", words)
    id_, rating, one, other_rating, other, type_text, flag, *rest = words
    _checked(_ID, id_)
    for each in (rating, other_rating):
        _checked(_NUMBER, each)
    if is_new:
        return MatchBegan(id_, (one, other), type_text, _flag(flag))
    told = MatchEnded(id_, (one, other), type_text, _flag(flag), None)
    match rest:
        case []:
            return told
        case ["aborted", *_]:
            return told
        case [name, "left", *kept]:
            stored_id = _checked(_ID, kept[0]) if kept else ""
            return MatchEnded(id_, told.names, type_text, told.flag, None, name, stored_id)
        case [result, *kept]:
            stored_id = _checked(_ID, kept[0]) if kept else ""
            return MatchEnded(id_, told.names, type_text, told.flag, _number(result), "", stored_id)
    raise ProtocolError("a match that ends in no known way", rest)


def _request(is_new: bool, words: list[str]) -> Request:
    if len(words) < 8:
        raise ProtocolError("a request that lacks something", words)
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


def _joined(told: str, rest: tuple[str, ...]) -> Joined | BoardShown:
    id_, _, text = told.partition(" ")
    _checked(_GAME_ID, id_)
    if not text.startswith("(;"):
        return _shown(id_, text)
    try:
        return Joined(id_, parse("\n".join([text, *rest])))
    except BadGgf:
        if "GM[" not in text:
            raise ProtocolError("a game that is none", text[:100]) from None
        return Joined(id_, None)


def _moved(told: str, rest: tuple[str, ...]) -> Moved | BoardShown:
    id_, _, text = told.partition(" ")
    _checked(_GAME_ID, id_)
    if rest:
        return _shown(id_, text)
    try:
        return Moved(id_, parse_move(text))
    except BadGgf as error:
        raise ProtocolError(str(error), text) from error


def _shown(id_: str, text: str) -> BoardShown:
    """A board for people (GGS_PROTOCOL 6.2); the first line tells the type and the komi."""
    _matched(r"\S+ +K\S+ *", text)
    return BoardShown(id_)


def _board_ended(told: str) -> BoardEnded:
    found = _matched(rf"({_GAME_ID}) \( *({_NAME}) vs\. ({_NAME}) *\) +(.+)", told)
    result = _number(found[4]) if re.fullmatch(_NUMBER, found[4].strip()) else None
    return BoardEnded(found[1], (found[2], found[3]), result)


def _change(line: str) -> tuple[str, float, float]:
    number = rf"({_NUMBER})"
    found = _matched(rf"({_NAME}) +{number} @ +{number} +{number} -> +{number} @ +{number} *", line)
    return found[1], _number(found[4]), _number(found[5])


def _stored(told: str, rest: tuple[str, ...]) -> GgsMessage:
    found = re.fullmatch(rf"(\d+) ({_NAME}) *", told)
    if found is None:
        return (
            ServiceError(f"stored {told}")
            if told.startswith("ERR")
            else OtherMessage(SERVICE, "stored", (told,))
        )
    games = _rows(_stored_row, rest)
    return StoredList(found[2], games, len(games) == len(rest))


def _rows(read: Callable[[str], T], lines: Sequence[str]) -> tuple[T, ...]:
    """The rows of a list; one that cannot be read must not cost the others."""
    found = []
    for line in lines:
        with suppress(ProtocolError):
            found.append(read(line))
    return tuple(found)


def _stored_row(line: str) -> AdjournedMatch:
    words = line.split()
    if len(words) < 8:
        raise ProtocolError("an adjourned game that lacks something", line)
    return AdjournedMatch(_checked(_ID, words[0]), (words[5], words[6]), words[7].partition(":")[0])


def _match_row(line: str) -> MatchBegan:
    words = line.split()
    if len(words) < 7:
        raise ProtocolError("a match that lacks something", line)
    id_, _, one, _, other, type_text, flag, *_ = words
    return MatchBegan(_checked(_ID, id_), (one, other), type_text, _flag(flag))


def _player_row(line: str) -> GgsPlayer:
    found = _matched(rf"({_NAME}) +([-+x]) +({_NUMBER})@ *({_NUMBER}).*", line)
    return GgsPlayer(found[1], found[2] == "+", _number(found[3]), _number(found[4]))


def _flag(text: str) -> Flag:
    try:
        return Flag(text)
    except ValueError:
        raise ProtocolError(f"{text[:20]!r} is neither R, U, S nor T", text) from None


def _matched(pattern: str, text: str) -> re.Match[str]:
    found = re.fullmatch(pattern, text, re.DOTALL)
    if found is None:
        raise ProtocolError("a line that is not as expected", text)
    return found


def _checked(pattern: str, text: str) -> str:
    return _matched(pattern, text)[0]


def _number(text: str) -> float:
    return float(_checked(_NUMBER, text.strip()))


# --- Clocks and types -----------------------------------------------------------------------------------

DEFAULT_CLOCK = GgsClock()
"""15:00//02:00"""


def parse_clock(text: str) -> GgsClock:
    """A clock as requests and games tell it, also a running one.

    Raises:
        ProtocolError: It is none.
    """
    try:
        return GgsClock.parse(text)
    except BadClock as error:
        raise ProtocolError(str(error), text) from None


def parse_type(text: str) -> GameType:
    """What is played.

    Raises:
        ProtocolError: It is no type.
    """
    found = re.fullmatch(r"(s?)(\d{1,2})(k?)(?:r(\d{1,3}))?(a?)([bw]?)(?:\+.*|-.*)?", text)
    if found is None:
        raise ProtocolError(f"{text[:20]!r} is no type of game", text)
    discs = int(found[4]) if found[4] else None
    return GameType(int(found[2]), bool(found[1]), bool(found[3]), discs, bool(found[5]), found[6])


# --- What we say ----------------------------------------------------------------------------------------


def command(text: str) -> bytes:
    """A line for the server, in one piece; whatever would break it is replaced."""
    return _plain(text).encode(ENCODING, errors="replace") + b"\r\n"


def tell_service(*words: object) -> str:
    """A command for the Othello service."""
    return " ".join(["tell", SERVICE, *map(str, words)])


def write_move(move: str, evaluation: float | None, time_s: float | None) -> str:
    """A move as ``play`` takes it: ``F5/1.45/0.04``, ``PA``."""
    told = GgfMove(
        move,
        None if evaluation is None else max(-999.0, min(999.0, evaluation)),
        None if time_s is None else round(max(0.0, min(99_999.0, time_s)), 2),
    )
    return move_text(told)


def spoken(text: str) -> str:
    """What can be said to somebody: on one line, without the backslash, which would break it."""
    return _plain(text).replace("\\", "/").strip()[:SAY_LIMIT]


def _plain(text: str) -> str:
    return "".join(sign if sign.isprintable() else " " for sign in text)
