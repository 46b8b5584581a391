"""Plays the site of a recording (`bot.servers.recording`) for an adapter, without a network.

What the site sent is delivered in the recorded order: each part waits until the bot has sent the requests
that precede it, or has had time to. Each request of the bot that the recording lacks, and each recorded
request that the bot does not send, is a difference.
"""

import asyncio
import re
from collections.abc import AsyncIterator, Callable, Mapping
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from typing import Any, Self, cast
from urllib.parse import unquote

import aiohttp
from multidict import CIMultiDict
from yarl import URL

from bot.base.config import Config
from bot.base.dialects import get_dialect
from bot.base.events import Clock, Proposal
from bot.base.game_server import Server
from bot.servers.ggs.server import GgsServer
from bot.servers.lichess import LichessServer
from bot.servers.recording import MASK, Exchange, Recording

_KEEP_ALIVE_S = 2.0
_CHALLENGE = re.compile(r"POST /api/challenge/[^/]+")
_NOT_REPLAYED = re.compile(r"GET /api/(?:games/user|bot/online|tournament)\b")
"""Reads for what a replay leaves out: comparing the database, matchmaking, and tournaments."""
_HTTP_MOVE = re.compile(r"POST /api/bot/game/([^/]+)/move/([^/?]+)")
_GGS_MOVE = re.compile(r"send .*?/os play (\S+) ([A-Ha-h][1-8]|pa)", re.IGNORECASE)
_GGS_CHAT = re.compile(r"send tell (?:/os tell \S+ \S+|(?!/os )\S+)")


@dataclass(slots=True, eq=False)
class _Expected:
    """A request or command of the recording."""

    index: int
    at_s: float
    text: str
    form: Mapping[str, str]
    exchange: Exchange


@dataclass(frozen=True, slots=True)
class ReplayReport:
    """What the bot did."""

    requests: list[str] = field(default_factory=list)
    """Its requests that are not plain reads, in order."""
    differences: list[str] = field(default_factory=list)


class ReplayedSite:
    """The site of a recording.

    Args:
        recording: The recording.
        patience_s: Seconds that the bot has for a recorded request, beyond those in the recording.
    """

    def __init__(self, recording: Recording, patience_s: float) -> None:
        self.report = ReplayReport()
        self._patience_s = patience_s
        self._changed = asyncio.Event()
        self.on_challenge: Callable[[str, Mapping[str, str]], object] = lambda _name, _form: None
        """Called when the bot, or its operator, challenged somebody, with the name and the request's form."""
        self._challenges: list[_Expected] = []
        self._expected = [each for exchange in recording.exchanges for each in _expected(exchange)]
        self._expected = [each for each in self._expected if not _NOT_REPLAYED.match(each.text)]
        self._expected.sort(key=lambda each: each.index)
        self._seen: dict[str, Exchange] = {}
        """The last exchange of each read."""
        self._undelivered = {
            index
            for exchange in recording.exchanges
            if is_stream(exchange) and not _NOT_REPLAYED.match(exchange.request)
            for index, _, kind, _ in exchange.parts
            if kind != "sent"
        }
        self._delivered_s = 0.0

    def take(self, text: str, form: Mapping[str, str] | None = None) -> Exchange | None:
        """Match a request of the bot to a recorded one; None if there is none."""
        form, is_read = form or {}, text.startswith(("GET ", "connect"))
        same = [each for each in self._expected if compared_text(each.text) == compared_text(text)]
        found = next((each for each in same if each.form == form), same[0] if same else None)
        shown = f"{text} {dict(form)}" if form else text
        if not is_read:
            self.report.requests.append(shown)
        if found is None:
            if not (is_read and text in self._seen):
                self.report.differences.append(f"now, but not in the recording: {shown}")
            return self._seen.get(text)
        if found.form != form and not text.endswith("/chat"):  # what is said depends on the search
            self.report.differences.append(f"{text}: then {dict(found.form)}, now {dict(form)}")
        self._expected.remove(found)
        if is_read:
            self._seen[text] = found.exchange
        self._wake()
        return found.exchange

    async def until_due(self, index: int) -> None:
        """Wait until everything that precedes a part of a stream has happened, or has had time to."""
        while True:
            earlier = [each for each in self._expected if each.index < index]
            if earlier and _CHALLENGE.fullmatch(earlier[0].text) and earlier[0] not in self._challenges:
                self._challenges.append(earlier[0])
                self.on_challenge(unquote(earlier[0].text.rpartition("/")[2]), earlier[0].form)
            if not earlier and min(self._undelivered, default=index) >= index:
                return
            recorded_s = max((each.at_s for each in earlier), default=0.0) - self._delivered_s
            try:
                async with asyncio.timeout(self._patience_s + max(0.0, recorded_s)):
                    await self._changed.wait()
            except TimeoutError:
                if earlier:
                    self._give_up(earlier[0])
                else:  # nobody reads the stream that should be delivered first
                    self._undelivered -= {each for each in self._undelivered if each < index}
                self._wake()

    def delivered(self, index: int, at_s: float) -> None:
        """Record that a part of a stream was delivered."""
        self._undelivered.discard(index)
        self._delivered_s = max(self._delivered_s, at_s)
        self._wake()

    def left(self, exchange: Exchange) -> None:
        """Record that the bot no longer reads a stream."""
        self._undelivered -= {index for index, *_ in exchange.parts}
        self._wake()

    async def until_over(self) -> None:
        """Wait until the recording is over."""
        while self._undelivered or self._expected:
            await self.until_due(max([*self._undelivered, *(each.index for each in self._expected)]) + 1)

    def _give_up(self, expected: _Expected) -> None:
        self._expected.remove(expected)
        form = f" {dict(expected.form)}" if expected.form else ""
        self.report.differences.append(f"in the recording, but not now: {expected.text}{form}")
        self.left(expected.exchange)

    def _wake(self) -> None:
        changed, self._changed = self._changed, asyncio.Event()
        changed.set()


def compared_text(text: str) -> str:
    """The part of a request that a replay compares: neither chat nor evaluations, which depend on the search,
    nor times."""
    if match := _GGS_MOVE.match(text):
        return match[0].lower()
    if match := _GGS_CHAT.match(text):
        return match[0]
    return text


def is_stream(exchange: Exchange) -> bool:
    """Whether an answer is delivered line by line."""
    kind = exchange.headers.get("Content-Type", "")
    return exchange.request == "connect" or "ndjson" in kind or "/stream/" in exchange.request


def _expected(exchange: Exchange) -> list[_Expected]:
    sent = [
        _Expected(index, at_s, f"send {text}", {}, exchange)
        for index, at_s, kind, text in exchange.parts
        if kind == "sent" and text  # an empty command only probes the connection
    ]
    return [_Expected(exchange.index, exchange.at_s, exchange.request, exchange.form, exchange), *sent]


# --- HTTP -----------------------------------------------------------------------------------------------


class _ReplayedSession:
    """The part of `aiohttp.ClientSession` that adapters use, in place of a session that is never used."""

    def __init__(self, site: ReplayedSite, unused: aiohttp.ClientSession) -> None:
        self.headers: CIMultiDict[str] = CIMultiDict()
        self._site = site
        self.close = unused.close

    @asynccontextmanager
    async def request(
        self, method: str, url: str, *, data: Mapping[str, str] | None = None, **_: Any
    ) -> AsyncIterator["_ReplayedResponse"]:
        address = URL(url)
        exchange = self._site.take(f"{method} {address.raw_path_qs}", data)
        if exchange is None:
            status, text = (404, '{"error":"not recorded"}') if method == "GET" else (200, '{"ok":true}')
            exchange = Exchange(0, 0.0, "", {}, status, {}, [(0, 0.0, "received", text)])
        elif not exchange.status:
            raise aiohttp.ClientConnectionError(exchange.parts[-1][3] if exchange.parts else "no answer")
        try:
            yield _ReplayedResponse(self._site, exchange, method, address)
        finally:
            self._site.left(exchange)


class _ReplayedResponse:
    """The part of `aiohttp.ClientResponse` that adapters use; also stands for its content."""

    def __init__(self, site: ReplayedSite, exchange: Exchange, method: str, url: URL) -> None:
        self.status, self.headers = exchange.status, CIMultiDict(exchange.headers)
        self.method, self.url = method, url
        self.content_type = self.headers.get("Content-Type", "application/octet-stream").partition(";")[0]
        self._site = site
        self._exchange = exchange
        self._parts = iter(exchange.parts)
        self._next: tuple[int, float, str, str] | None = None

    @property
    def content(self) -> Self:
        return self

    async def readexactly(self, count: int) -> bytes:
        data = _encoded(self._exchange.body)
        if len(data) < count:
            raise asyncio.IncompleteReadError(data, count)
        return data[:count]

    async def readany(self) -> bytes:
        if self._next is None:
            self._next = next(self._parts, None)
        if self._next is None:
            return await _never()
        index, at_s, kind, text = self._next
        if is_stream(self._exchange):
            try:
                async with asyncio.timeout(_KEEP_ALIVE_S):
                    await self._site.until_due(index)
            except TimeoutError:
                return b"\n"
        self._site.delivered(index, at_s)
        self._next = None
        if kind == "received":
            return _encoded(text) + b"\n"
        if not text:
            return b""
        if text.startswith(("CancelledError", "GeneratorExit")):  # we closed it
            return await _never()
        raise aiohttp.ClientPayloadError(text)


async def _never() -> bytes:
    await asyncio.Event().wait()
    raise AssertionError


def _encoded(text: str) -> bytes:
    return text.encode("utf-8", "surrogateescape")


# --- GGS ------------------------------------------------------------------------------------------------


class _ReplayedWriter:
    """The part of `asyncio.StreamWriter` that the adapter uses."""

    def __init__(self, site: ReplayedSite, close: Callable[[], object]) -> None:
        self._site = site
        self.close = close
        self.transport = self

    def get_write_buffer_size(self) -> int:
        return 0

    def write(self, data: bytes) -> None:
        if command := data.decode("latin-1").strip():
            self._site.take(f"send {command}")

    async def wait_closed(self) -> None: ...


class _ReplayedConnections:
    """Opens connections to the GGS of a recording."""

    def __init__(self, site: ReplayedSite, tasks: asyncio.TaskGroup) -> None:
        self._site = site
        self._tasks = tasks

    async def connect(self, _host: str, _port: int) -> tuple[asyncio.StreamReader, asyncio.StreamWriter]:
        exchange = self._site.take("connect")
        if exchange is None:
            raise OSError("not recorded")
        reader = asyncio.StreamReader()
        feeding = self._tasks.create_task(self._feed(exchange, reader))
        writer = _ReplayedWriter(self._site, feeding.cancel)
        return reader, cast(asyncio.StreamWriter, writer)

    async def _feed(self, exchange: Exchange, reader: asyncio.StreamReader) -> None:
        try:
            for index, at_s, kind, text in exchange.parts:
                if kind == "sent":
                    continue
                await self._site.until_due(index)
                self._site.delivered(index, at_s)
                if kind == "end":
                    reader.feed_eof()
                else:
                    reader.feed_data(text.encode("latin-1", "replace"))
        finally:
            self._site.left(exchange)


def replayed_server(
    recording: Recording, config: Config, site: ReplayedSite, tasks: asyncio.TaskGroup
) -> Server:
    """Create the adapter for a recording; it talks to the replayed site.

    Args:
        recording: The recording.
        config: The account's settings.
        site: The site of the recording.
        tasks: Delivers what the site sends.

    Raises:
        ConfigError: The recording's site is unknown.
    """
    dialect = get_dialect(recording.site)
    if dialect.protocol == "ggs":
        return GgsServer(
            dialect,
            "ggs://localhost",
            recording.login,
            MASK,
            programs=config.ggs.bots,
            public=config.ggs.public,
            extension_s=config.ggs.extension_s,
            connect=_ReplayedConnections(site, tasks).connect,
        )

    def wrap(session: aiohttp.ClientSession) -> aiohttp.ClientSession:
        return cast(aiohttp.ClientSession, _ReplayedSession(site, session))

    return LichessServer(dialect, "http://localhost", MASK, is_direct=True, wrap=wrap)


def recorded_moves(recording: Recording) -> dict[str, list[str]]:
    """Our moves by game, as the site writes them; under an empty key if recordings do not name games."""
    moves: dict[str, list[str]] = {}
    for exchange in recording.exchanges:
        for each in _expected(exchange):
            if match := _HTTP_MOVE.match(each.text) or _GGS_MOVE.match(each.text):
                played = moves.setdefault("" if each.text.startswith("send ") else match[1], [])
                if played[-1:] != [move := unquote(match[2])]:  # else it was sent again
                    played.append(move)
    return moves


def proposal_of(site: str, form: Mapping[str, str]) -> Proposal:
    """The proposal that a recorded challenge of ours made."""
    colours = [side.key for side in get_dialect(site).variants[form["variant"]].sides]
    clock = Clock(int(form["clock.limit"]), int(form["clock.increment"]))
    side = colours.index(form["color"]) if form["color"] in colours else None
    return Proposal(form["variant"], form["rated"] == "true", clock, side, form.get("fen"))
