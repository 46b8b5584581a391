"""Records the traffic with a site, with names and secrets masked; reads recordings for `desdemona replay`.

A recording is a file of JSON lines.  The first one describes it; each other line has ``s``, seconds since the
first, ``n``, the number of its exchange, and one part of it:

- ``request``: our HTTP request, or ``connect`` for a connection to GGS; with ``form``, if it has one;
- ``status`` and ``headers``: the beginning of the answer to an HTTP request;
- ``sent``: a command that we send to GGS;
- ``received``: what we receive: a line of a stream, a whole answer, or text from GGS;
- ``end``: the end, with our reason; empty if the site ended it.

The same name is masked alike everywhere, so that a replayed recording still fits together.
"""

import asyncio
import dataclasses
import json
import logging
import os
import re
import time
from collections.abc import AsyncIterator, Callable, Iterable, Iterator, Mapping
from contextlib import asynccontextmanager
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from typing import IO, Any, Self

import aiohttp
from yarl import URL

from bot.base.errors import ConfigError
from engine import VERSION

logger = logging.getLogger(__name__)

FORMAT = 1
MAX_RECORDING_BYTES = 1 << 28
"""A recording ends at this size."""
MASK = "***"
UNMASKED_NAMES = ("anonymous", "lichess", "ggs")
"""Names that sites use for nobody or for themselves."""
_HEADERS = ("Content-Type", "Content-Encoding", "Retry-After")
"""The headers of answers that adapters read."""
_USER_KEYS = frozenset(
    {
        "user",
        "userId",
        "challenger",
        "destUser",
        "opponent",
        "white",
        "black",
        "p1",
        "p2",
        "createdBy",
        "sender",
    }
    | {"players", "podium", "p"}  # of tournaments
)
"""Keys of JSON objects, or of strings, that stand for an account."""
_PRIVATE_KEYS = frozenset(
    {"fullId", "secret", "email", "profile", "bio", "firstName", "lastName", "location", "realName"}
)
_NAME_PATHS = re.compile(r"^(?:/api/challenge|/api/games/user|/api/user|/@)/([^/?]+)(?=$|\?)")
_NAME_FIELDS = ("name", "names", "asker", "sender")
"""Fields of GGS messages that hold accounts' names."""


class NameMask:
    """Replaces names by ``user1``, ``user2`` and so on, and secrets by stars.

    Args:
        secret: The token or password.
        public: Names that are not masked, such as the one under which the site itself speaks.
    """

    def __init__(self, secret: str, public: Iterable[str] = ()) -> None:
        self._secret = secret
        self._public = {name.casefold() for name in public}
        self._aliases: dict[str, str] = {}
        self._pattern: re.Pattern[str] | None = None

    def name(self, name: str) -> str:
        """The alias of a name; begins with a capital letter if the name has one, as opposed to an id."""
        key = name.casefold()
        if not key or key in self._public:
            return name
        if key not in self._aliases:
            self._aliases[key] = f"user{len(self._aliases) + 1}"
            self._pattern = None
        alias = self._aliases[key]
        return alias if name == name.lower() else alias.capitalize()

    def text(self, text: str) -> str:
        """Text with the secret and all known names replaced, wherever they stand alone."""
        if self._secret:
            text = text.replace(self._secret, MASK)
        if not self._aliases:
            return text
        if self._pattern is None:
            names = sorted(self._aliases, key=len, reverse=True)
            alternatives = "|".join(map(re.escape, names))
            self._pattern = re.compile(rf"(?<![\w-])(?:{alternatives})(?![\w-])", re.IGNORECASE)
        return self._pattern.sub(lambda match: self.name(match[0]), text)

    def path(self, path: str) -> str:
        """A request's path; paths that contain a name make it known."""
        if match := _NAME_PATHS.match(path):
            self.name(match[1])
            return path[: match.start(1)] + self.name(match[1]) + self._without_secret(path[match.end(1) :])
        return self._without_secret(path)

    def data(self, data: str) -> str:
        """A JSON text with names masked by their keys; any other text by `text`."""
        try:
            value = json.loads(data)
        except (ValueError, RecursionError):
            return self.text(data)
        if not isinstance(value, dict | list):
            return self.text(data)
        self._value(value)  # makes the names known that occur elsewhere in the same text
        return json.dumps(self._value(value), ensure_ascii=False, separators=(",", ":"))

    def _without_secret(self, text: str) -> str:
        return text.replace(self._secret, MASK) if self._secret else text

    def _value(self, value: Any, key: str = "") -> Any:
        if isinstance(value, list):
            return [self._value(each, key) for each in value]
        if isinstance(value, str):
            if key in _USER_KEYS:
                return self.name(value)
            # Single words belong to the protocol: a player may be called white.
            return self._without_secret(value) if value.isidentifier() else self.text(value)
        if not isinstance(value, dict):
            return value
        is_user = "username" in value or (key in _USER_KEYS and bool({"name", "id", "n"} & value.keys()))
        return {
            self._without_secret(name): MASK
            if name in _PRIVATE_KEYS
            else self.name(each)
            if is_user and name in ("id", "name", "username", "n") and isinstance(each, str)
            else self._value(each, name)
            for name, each in value.items()
        }


class Recorder:
    """Writes one recording, whose file is created with its first line; a failure ends it and is logged.

    Args:
        folder: Where recordings are written; empty: nothing is recorded.
        site: The site's name.
        login: Our account's name; empty if it is not known yet.
        mask: Masks names and secrets.
        clock: Monotonic clock, in seconds.
    """

    def __init__(
        self, folder: str, site: str, login: str, mask: NameMask, clock: Callable[[], float] = time.monotonic
    ) -> None:
        self._folder = folder
        self._site = site
        self._login = mask.name(login) if folder else ""
        self.mask = mask
        self._clock = clock
        self._began = clock()
        self._file: IO[str] | None = None
        self._bytes = 0
        self._exchanges = 0

    def begin(self, request: str, form: Mapping[str, str] | str | None = None) -> "RecordedExchange":
        """Record a request (``GET /path``) or a connection, and return its exchange.

        Args:
            request: The method and the path.
            form: The request's form, or its body.
        """
        self._exchanges += 1
        exchange = RecordedExchange(self, self._exchanges)
        method, _, path = request.partition(" ")
        fields: dict[str, Any] = {"request": f"{method} {self.mask.path(path)}" if path else method}
        if isinstance(form, str):
            form = {"": form}
        if form:
            fields["form"] = {key: self.mask.text(value) for key, value in form.items()}
        exchange.write(**fields)
        return exchange

    def write(self, number: int, **fields: Any) -> None:
        """Write one line."""
        if not self._folder:
            return
        try:
            if self._file is None:
                self._file = self._open()
            line = json.dumps({"s": round(self._clock() - self._began, 3), "n": number, **fields}) + "\n"
            self._bytes += len(line)
            if self._bytes > MAX_RECORDING_BYTES:
                raise OSError(f"{self._file.name} has {MAX_RECORDING_BYTES >> 20} MiB")
            self._file.write(line)
        except (OSError, ValueError) as error:
            logger.error("servers.record: the recording ends: %s", error)
            self._folder = ""
            self.close()

    def _open(self) -> IO[str]:
        folder = Path(self._folder)
        folder.mkdir(parents=True, exist_ok=True)
        now = datetime.now(UTC)
        for number in range(1, 1000):
            more = f"-{number}" if number > 1 else ""
            path = folder / f"{self._site}-{now:%Y-%m-%dT%H%M%SZ}{more}.jsonl"
            try:
                handle = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600)
            except FileExistsError:
                continue
            file = os.fdopen(handle, "w", encoding="utf-8", buffering=1)
            head = {"recording": FORMAT, "site": self._site, "login": self._login, "program": VERSION}
            file.write(json.dumps(head | {"began": now.isoformat(timespec="seconds")}) + "\n")
            return file
        raise OSError(f"{folder} has too many recordings of {now:%H:%M:%S}")

    def close(self) -> None:
        """Close the file."""
        if self._file is not None:
            self._file.close()
            self._file = None
            self._folder = ""


class RecordedExchange:
    """A request with its answer, or a connection."""

    def __init__(self, recorder: Recorder, number: int) -> None:
        self._recorder = recorder
        self._number = number
        self._rest = ""

    def write(self, **fields: Any) -> None:
        """Write a part of the exchange, as it is."""
        self._recorder.write(self._number, **fields)

    def response(self, status: int, headers: Mapping[str, str]) -> None:
        """Record the beginning of an answer."""
        self.write(status=status, headers={name: headers[name] for name in _HEADERS if name in headers})

    def received(self, data: bytes) -> None:
        """Record a line or a whole answer."""
        text = data.decode("utf-8", "surrogateescape")
        self.write(received=self._recorder.mask.data(text) if text.strip() else "")

    def received_text(self, data: bytes, messages: Iterable[object]) -> None:
        """Record text from GGS in whole lines, except for prompts.

        Args:
            data: The text.
            messages: What was read from it; makes names known.
        """
        mask = self._recorder.mask
        for message in messages:
            for name in _names_in(message):
                mask.name(name)
        whole, newline, self._rest = (self._rest + data.decode("latin-1")).rpartition("\n")
        if self._rest.endswith(": "):
            whole, newline, self._rest = whole + newline, self._rest, ""
        if whole or newline:
            self.write(received=mask.text(whole + newline))

    def sent(self, command: str) -> None:
        """Record a command."""
        self.write(sent=self._recorder.mask.text(command))

    def ended(self, reason: str = "") -> None:
        """Record the end."""
        self.write(end=self._recorder.mask.text(reason))


def _names_in(message: object) -> Iterator[str]:
    if not dataclasses.is_dataclass(message):
        return
    for field in dataclasses.fields(message):
        value = getattr(message, field.name)
        for each in value if isinstance(value, tuple | list) else (value,):
            if isinstance(each, str):
                if field.name in _NAME_FIELDS and not each.startswith("/"):
                    yield each
            else:
                yield from _names_in(each)


class RecordedSession:
    """An HTTP session that records what an adapter sends and receives, with the part of
    `aiohttp.ClientSession` that adapters use."""

    def __init__(self, session: aiohttp.ClientSession, recorder: Recorder) -> None:
        self._http = session
        self._recorder = recorder
        self.headers = session.headers

    async def close(self) -> None:
        """Close the session and the recording."""
        await self._http.close()
        self._recorder.close()

    @asynccontextmanager
    async def request(
        self, method: str, url: str, *, data: Mapping[str, str] | str | None = None, **more: Any
    ) -> AsyncIterator["_RecordedResponse"]:
        """Send a request; see `aiohttp.ClientSession.request`."""
        exchange = self._recorder.begin(f"{method} {URL(url).raw_path_qs}", data)
        try:
            async with self._http.request(method, url, data=data, **more) as response:
                exchange.response(response.status, response.headers)
                yield _RecordedResponse(response, exchange)
        except BaseException as error:
            exchange.ended(f"{type(error).__name__}: {error}")
            raise
        exchange.ended()


class _RecordedResponse:
    """The part of `aiohttp.ClientResponse` that adapters use; also stands for its content."""

    def __init__(self, response: aiohttp.ClientResponse, exchange: RecordedExchange) -> None:
        self.status, self.headers = response.status, response.headers
        self.method, self.url, self.content_type = response.method, response.url, response.content_type
        self._content = response.content
        self._exchange = exchange
        self._rest = b""

    @property
    def content(self) -> Self:
        return self

    async def readany(self) -> bytes:
        chunk = await self._content.readany()
        *lines, self._rest = (self._rest + chunk).split(b"\n")
        for line in lines if chunk or not self._rest else [self._rest]:
            self._exchange.received(line)
        return chunk

    async def readexactly(self, count: int) -> bytes:
        try:
            data = await self._content.readexactly(count)
        except asyncio.IncompleteReadError as error:
            self._exchange.received(error.partial)
            raise
        self._exchange.received(data)
        return data


def no_recorder() -> Recorder:
    """A recorder that records nothing."""
    return Recorder("", "", "", NameMask(""))


@dataclass(slots=True)
class Exchange:
    """An exchange of a recording that was read."""

    index: int
    """Number of the line with the request."""
    at_s: float
    request: str
    form: dict[str, str]
    status: int = 0
    """HTTP status; 0 if there was no answer."""
    headers: dict[str, str] = dataclasses.field(default_factory=dict)
    parts: list[tuple[int, float, str, str]] = dataclasses.field(default_factory=list)
    """What follows: number of the line, time in seconds, kind (``sent``, ``received`` or ``end``), text."""

    @property
    def body(self) -> str:
        """The whole answer."""
        return "".join(text for _, _, kind, text in self.parts if kind == "received")


@dataclass(frozen=True, slots=True)
class Recording:
    """A recording that was read."""

    site: str
    login: str
    exchanges: tuple[Exchange, ...]

    @classmethod
    def read(cls, path: Path) -> Self:
        """Read a recording; a last line that is cut off is ignored.

        Raises:
            ConfigError: The file cannot be read, or is no recording; the message names the line.
        """
        try:
            lines = path.read_text("utf-8").split("\n")
        except (OSError, UnicodeError) as error:
            raise ConfigError(f"cannot read the recording {path}: {error}") from None
        exchanges: dict[int, Exchange] = {}
        head: dict[str, Any] = {}
        for number, line in enumerate(lines, start=1):
            if not line:
                continue
            try:
                fields = json.loads(line)
                if number == 1:
                    head = fields
                    if head["recording"] != FORMAT:
                        raise ValueError(f"its format is {head['recording']!r}, not {FORMAT}")
                    continue
                _add_line(exchanges, number, fields)
            except (ValueError, KeyError, TypeError, AttributeError) as error:
                if number == len(lines) > 1:
                    break  # the program was killed while it wrote this
                raise ConfigError(f"{path}, line {number}: not a line of a recording: {error!r}") from None
        if not exchanges:
            raise ConfigError(f"{path} is not a recording, or an empty one")
        return cls(str(head["site"]), str(head["login"]), tuple(exchanges.values()))


def _add_line(exchanges: dict[int, Exchange], number: int, fields: Mapping[str, Any]) -> None:
    key, at_s = fields["n"], float(fields["s"])
    if "request" in fields:
        exchanges[key] = Exchange(number, at_s, str(fields["request"]), dict(fields.get("form") or {}))
        return
    exchange = exchanges[key]
    if "status" in fields:
        exchange.status, exchange.headers = int(fields["status"]), dict(fields["headers"])
        return
    (kind,) = {"sent", "received", "end"} & fields.keys()
    exchange.parts.append((number, at_s, kind, str(fields[kind])))
