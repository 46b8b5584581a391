"""Faults between a real arena and a program: a proxy on loopback that spoils what goes through it.

The arena behind it stays as good as it is, so what the proxy does to a program is what bad networks and busy
servers do: requests and answers are lost, streams end, break or fall silent, lines come twice, late or not
at all.  A `Plan` says what happens where; the proxy keeps count, and a list of the times in which it kept the
program from playing.
"""

import asyncio
import json
import random
import re
import time
from collections import Counter, deque
from collections.abc import AsyncIterator, Callable, Iterable, Iterator
from contextlib import asynccontextmanager, contextmanager, suppress
from dataclasses import dataclass
from enum import StrEnum
from typing import Any, Protocol

import aiohttp
from aiohttp import web

from bot.arena.streams import MAX_QUEUED_LINES

Json = dict[str, Any]


class Fault(StrEnum):
    """What can go wrong."""

    # With a request.
    LOST_REQUEST = "request lost"
    """The connection breaks before the server sees the request."""
    LOST_ANSWER = "answer lost"
    """The server does what was asked, and the connection breaks."""
    SLOW_ANSWER = "answer slow"
    TOO_MANY_JSON = "429 as JSON"
    TOO_MANY_HTML = "429 as HTML"
    DOWN = "502 and 503"
    """Every stream breaks, and for a while every request is answered by a page of the site's front."""
    NOT_YOUR_TURN = "400 before playing"
    """The server refuses a move that was right."""
    PLAYED_AND_REFUSED = "400 after playing"
    """The server plays a move and says that it did not."""
    KILLED = "kill -9"
    """Of the program itself, by whoever runs the test."""
    # With a stream.
    END = "clean end"
    CUT = "broken chunk"
    HALF_LINE = "broken line"
    """The connection breaks in the middle of a line."""
    HALF_END = "half a line, then a clean end"
    SILENCE = "silence"
    """The connection stays open, and nothing comes any more."""
    STALL = "overflow"
    """Lines wait for a slow reader; those that do not fit the server's queue are lost, the oldest first."""
    GARBAGE = "garbage"
    REPEAT = "line repeated"
    """As `gameStart` is told again, or a state without a new move."""
    OFFERS = "offers"
    """States without a new move: a draw is offered and declined, a takeback asked for and withdrawn."""
    DOUBLE_END = "double end"
    """The last move comes in a state that says ``started``, before the one that says how the game ended."""
    GONE = "opponent gone"
    """The opponent is told to have left, and to be back."""
    UNKNOWN = "unknown message"


class Place(StrEnum):
    """Where a fault can strike."""

    MOVE = "move"
    CHAT = "chat"
    ANSWER = "answer to a challenge"
    STATUS = "status"
    """Questions about the account and its games."""
    OTHER = "other"
    EVENTS = "event stream"
    GAME = "game stream"


_PLACES = (
    (Place.EVENTS, "/api/stream/event"),
    (Place.GAME, "/api/bot/game/stream/(?P<game>[^/]+)"),
    (Place.MOVE, "/api/bot/game/(?P<game>[^/]+)/move/.*"),
    (Place.CHAT, "/api/bot/game/(?P<game>[^/]+)/chat"),
    (Place.ANSWER, "/api/challenge/(?P<game>[^/]+)/(accept|decline)"),
    (Place.STATUS, "/api/account(/playing)?"),
    (Place.OTHER, "/api/bot/game/(?P<game>[^/]+)/.*"),
)
STREAMS = (Place.EVENTS, Place.GAME)
REQUEST_FAULTS = (
    Fault.LOST_REQUEST, Fault.LOST_ANSWER, Fault.SLOW_ANSWER, Fault.TOO_MANY_JSON, Fault.TOO_MANY_HTML,
    Fault.DOWN,
)  # fmt: skip
MOVE_FAULTS = (*REQUEST_FAULTS, Fault.NOT_YOUR_TURN, Fault.PLAYED_AND_REFUSED)
EVENT_FAULTS = (
    Fault.END, Fault.CUT, Fault.HALF_LINE, Fault.HALF_END, Fault.SILENCE, Fault.STALL, Fault.GARBAGE,
    Fault.REPEAT, Fault.UNKNOWN,
)  # fmt: skip
GAME_FAULTS = (
    Fault.END, Fault.CUT, Fault.HALF_LINE, Fault.HALF_END, Fault.SILENCE, Fault.GARBAGE, Fault.REPEAT,
    Fault.UNKNOWN, Fault.OFFERS, Fault.GONE, Fault.DOUBLE_END,
)  # fmt: skip


@dataclass(frozen=True, slots=True)
class Call:
    """One request of the program."""

    place: Place
    game: str | None
    """Id of the game or challenge that it is about."""

    @classmethod
    def of(cls, path: str) -> "Call":
        for place, pattern in _PLACES:
            if found := re.fullmatch(pattern, path):
                return cls(place, found.groupdict().get("game"))
        return cls(Place.OTHER, None)


@dataclass(frozen=True, slots=True)
class Outage:
    """A time in which the proxy kept the program from playing, by the calendar's clock."""

    fault: Fault
    game: str | None
    """None: every game."""
    since_s: float
    until_s: float


class Plan(Protocol):
    """What goes wrong."""

    def on_request(self, call: Call) -> Fault | None:
        """Asked once for each request, the opening of streams included."""

    def on_line(self, call: Call, line: Json) -> Fault | None:
        """Asked once for each line of a stream but keep-alives."""


def fits(fault: Fault, line: Json) -> bool:
    """Whether a fault makes sense at a line of a stream."""
    kind, status = line["type"], line.get("status")
    if fault is Fault.DOUBLE_END:
        return kind == "gameState" and status in ("draw", "stalemate", "mate", "variantEnd")
    if fault in (Fault.OFFERS, Fault.GONE):
        return kind == "gameState" and status == "started"
    return True


@dataclass(slots=True)
class Strike:
    """One fault of a script."""

    fault: Fault
    at: Place
    after: int = 0
    """So many requests, or lines that the fault fits, are left alone first."""
    times: int = 1
    """Then so many are struck."""
    needs: Callable[[Json], bool] = lambda _line: True
    """Which lines count."""

    def falls(self) -> bool:
        """Count one occasion, and say whether it is struck."""
        if self.after:
            self.after -= 1
        elif self.times:
            self.times -= 1
            return True
        return False


class PlannedFaults:
    """Faults that are written down."""

    def __init__(self, *strikes: Strike) -> None:
        self.strikes = list(strikes)

    @property
    def is_done(self) -> bool:
        """Whether everything has struck."""
        return not any(strike.times for strike in self.strikes)

    def on_request(self, call: Call) -> Fault | None:
        return self._next(
            strike for strike in self.strikes if strike.at is call.place and strike.fault in MOVE_FAULTS
        )

    def on_line(self, call: Call, line: Json) -> Fault | None:
        return self._next(
            strike
            for strike in self.strikes
            if strike.at is call.place
            and strike.fault not in MOVE_FAULTS
            and fits(strike.fault, line)
            and strike.needs(line)
        )

    @staticmethod
    def _next(strikes: Iterable[Strike]) -> Fault | None:
        return next((strike.fault for strike in strikes if strike.falls()), None)


class Chance:
    """Faults at random: every kind in turn, each in its own random order, so that none is left out."""

    def __init__(self, rng: random.Random, *, of_requests: float, of_lines: float) -> None:
        """
        Args:
            rng: Decides.
            of_requests: Chance of a fault with each request.
            of_lines: Chance of a fault at each line of a stream.
        """
        self._rng = rng
        self._of_requests = of_requests
        self._of_lines = of_lines
        self._decks: dict[Place, list[Fault]] = {}

    def on_request(self, call: Call) -> Fault | None:
        if self._rng.random() >= self._of_requests:
            return None
        kinds = MOVE_FAULTS if call.place is Place.MOVE else REQUEST_FAULTS
        return self._deal(Place.MOVE if call.place is Place.MOVE else Place.OTHER, kinds, lambda _fault: True)

    def on_line(self, call: Call, line: Json) -> Fault | None:
        # Ends are rare, and have a fault of their own.
        if fits(Fault.DOUBLE_END, line):
            return Fault.DOUBLE_END if self._rng.random() < 0.5 else None
        if self._rng.random() >= self._of_lines:
            return None
        kinds = EVENT_FAULTS if call.place is Place.EVENTS else GAME_FAULTS
        return self._deal(call.place, kinds, lambda fault: fits(fault, line))

    def _deal(self, deck_of: Place, kinds: Iterable[Fault], may: Callable[[Fault], bool]) -> Fault | None:
        deck = self._decks.setdefault(deck_of, [])
        if not any(map(may, deck)):
            deck[:] = kinds
            self._rng.shuffle(deck)
        fault = next((each for each in deck if may(each)), None)
        if fault is not None:
            deck.remove(fault)
        return fault


NO_FAULTS = PlannedFaults()


class FaultProxy:
    """Stands in front of an arena; programs use its `url` as the server's."""

    def __init__(
        self,
        upstream: str,
        plan: Plan = NO_FAULTS,
        *,
        slow_s: float = 0.0,
        too_many_s: int = 1,
        down_requests: int = 3,
        stall_lines: int = MAX_QUEUED_LINES + 8,
        stall_s: float = 3.0,
    ) -> None:
        """
        Args:
            upstream: Address of the arena.
            plan: What goes wrong; may be replaced at any time.
            slow_s: How late a slow answer is.
            too_many_s: What a 429 tells to wait.
            down_requests: How many requests meet the site's front while it is down.
            stall_lines: Lines until a stalled stream goes on.
            stall_s: Longest time until then.
        """
        self.plan = plan
        self.url = ""
        self.faults: Counter[Fault] = Counter()
        """What has struck so far."""
        self.calls: Counter[Place] = Counter()
        """Requests so far."""
        self.strikes: list[tuple[float, Fault, Call]] = []
        """The same in order, with the time by the calendar's clock."""
        self.outages: list[Outage] = []
        self.deaf_s: list[float] = []
        """Seconds without the event stream, each time until it was opened again."""
        self.resent = 0
        """Moves that came again after the server had taken them."""
        self.dropped = 0
        """Lines that were lost because they did not fit a stalled stream's queue."""
        self.listens = asyncio.Event()
        """Set from the program's first event stream on, and cleared while a killed program is not back."""
        self._upstream = upstream
        self._slow_s = slow_s
        self._too_many_s = too_many_s
        self._down_requests = down_requests
        self._stall_lines = stall_lines
        self._stall_s = stall_s
        self._down = 0
        self._down_since = 0.0
        self._open: dict[int, web.Request] = {}
        self._deaf_since: float | None = None
        self._killed_at: float | None = None
        self._taken: dict[str, str] = {}
        self._http: aiohttp.ClientSession

    @asynccontextmanager
    async def running(self) -> AsyncIterator[str]:
        """Listen while the block runs, and give the address."""
        app = web.Application()
        app.router.add_route("*", "/{path:.*}", self._handle)
        runner = web.AppRunner(app, access_log=None, handler_cancellation=True, shutdown_timeout=0.01)
        await runner.setup()
        timeout = aiohttp.ClientTimeout(total=None)
        connector = aiohttp.TCPConnector(limit=0)
        async with aiohttp.ClientSession(timeout=timeout, connector=connector) as self._http:
            try:
                site = web.TCPSite(runner, "127.0.0.1", 0)
                await site.start()
                self.url = f"http://127.0.0.1:{runner.addresses[0][1]}"
                yield self.url
            finally:
                await runner.cleanup()

    def _count(self, fault: Fault, call: Call) -> None:
        self.faults[fault] += 1
        self.strikes.append((time.time(), fault, call))

    def program_killed(self) -> None:
        """The program itself went away, and is to be back: an outage until it listens again."""
        self._count(Fault.KILLED, Call(Place.EVENTS, None))
        self._killed_at = time.time()
        self.listens.clear()

    # --- Requests ---------------------------------------------------------------------------------------

    async def _handle(self, request: web.Request) -> web.StreamResponse:
        call = Call.of(request.path)
        self.calls[call.place] += 1
        if self._down:
            return self._front()
        fault = self.plan.on_request(call)
        if fault is not None:
            self._count(fault, call)
        match fault:
            case Fault.DOWN:
                self._down, self._down_since = self._down_requests, time.time()
                for each in tuple(self._open.values()):
                    _abort(each)
                return self._front()
            case Fault.LOST_REQUEST:
                return _hang_up(request)
            case Fault.TOO_MANY_JSON | Fault.TOO_MANY_HTML:
                return self._too_many(call, fault)
            case Fault.NOT_YOUR_TURN:
                return _not_your_turn()
        async with self._http.request(
            request.method,
            self._upstream + request.path_qs,
            data=await request.read(),
            headers=_end_to_end(request),
        ) as answer:
            if answer.content_type == "application/x-ndjson" and call.place in STREAMS:
                return await self._pipe(request, call, answer, fault)
            body = await answer.read()
        if call.place is Place.MOVE:
            self._count_move(request, call, answer.status)
        match fault:
            case Fault.LOST_ANSWER:
                return _hang_up(request)
            case Fault.SLOW_ANSWER:
                with self._outage(fault, call.game):
                    await asyncio.sleep(self._slow_s)
            case Fault.PLAYED_AND_REFUSED:
                return _not_your_turn()
        return web.Response(status=answer.status, body=body, headers={"Content-Type": answer.content_type})

    def _front(self) -> web.Response:
        """What stands before a server that is down."""
        self._down -= 1
        if not self._down:
            self.outages.append(Outage(Fault.DOWN, None, self._down_since, time.time()))
        status = 502 if self._down % 2 else 503
        return web.Response(
            status=status, text=f"<html><h1>{status}</h1>Back soon</html>", content_type="text/html"
        )

    def _too_many(self, call: Call, fault: Fault) -> web.Response:
        wait_s, now = self._too_many_s, time.time()
        self.outages.append(Outage(fault, call.game, now, now + wait_s))
        headers = {"Retry-After": str(wait_s)}
        if fault is Fault.TOO_MANY_HTML:
            page = "<html><h1>Too Many Requests</h1></html>"
            return web.Response(status=429, text=page, content_type="text/html", headers=headers)
        body = {"error": "Too many requests", "ratelimit": {"key": "test", "seconds": wait_s}}
        return web.json_response(body, status=429)

    def _count_move(self, request: web.Request, call: Call, status: int) -> None:
        assert call.game is not None
        if status == 200:
            self._taken[call.game] = request.path
        elif self._taken.get(call.game) == request.path:
            self.resent += 1

    # --- Streams ----------------------------------------------------------------------------------------

    async def _pipe(
        self, request: web.Request, call: Call, answer: aiohttp.ClientResponse, fault: Fault | None
    ) -> web.StreamResponse:
        response = web.StreamResponse(headers={"Content-Type": "application/x-ndjson"})
        if fault is Fault.LOST_ANSWER:
            return _hang_up(request)
        if fault is Fault.SLOW_ANSWER:
            with self._outage(fault, call.game):
                await asyncio.sleep(self._slow_s)
        await response.prepare(request)
        if call.place is Place.EVENTS:
            self._listens()
        self._open[id(request)] = request
        try:
            await self._lines(request, response, call, answer)
        except (ConnectionError, aiohttp.ClientError):
            _abort(request)
        finally:
            del self._open[id(request)]
            if call.place is Place.EVENTS and self._deaf_since is None:
                self._deaf_since = time.monotonic()
        return response

    def _listens(self) -> None:
        """The program has opened its event stream."""
        if self._killed_at is not None:
            self.outages.append(Outage(Fault.KILLED, None, self._killed_at, time.time()))
        elif self._deaf_since is not None:
            self.deaf_s.append(time.monotonic() - self._deaf_since)
        self._killed_at = self._deaf_since = None
        self.listens.set()

    async def _lines(
        self, request: web.Request, response: web.StreamResponse, call: Call, answer: aiohttp.ClientResponse
    ) -> None:
        source = answer.content
        async for line in source:
            message = json.loads(line) if line.strip() else None
            fault = None if message is None else self.plan.on_line(call, message)
            if message is None or fault is None:
                await response.write(line)
                continue
            self._count(fault, call)
            match fault:
                case Fault.END:
                    await response.write(line)
                    return
                case Fault.CUT:
                    await response.write(line)
                    _abort(request)
                    return
                case Fault.HALF_LINE:
                    await response.write(line[: len(line) // 2])
                    _abort(request)
                    return
                case Fault.HALF_END:
                    await response.write(line[: len(line) // 2])
                    return
                case Fault.SILENCE:
                    if call.place is Place.EVENTS:
                        self._deaf_since = time.monotonic()
                    with self._outage(fault, call.game):
                        await asyncio.Event().wait()
                case Fault.STALL:
                    for kept in await self._stalled(line, source):
                        await response.write(kept)
                case Fault.GARBAGE:
                    await response.write(b'{"type":"gameState","moves":\n' + line)
                case Fault.REPEAT:
                    await response.write(line + line)
                case Fault.UNKNOWN:
                    await response.write(b'{"type":"news","text":"of another version"}\n' + line)
                case _:
                    await response.write(b"".join(map(_encoded, ahead_of(message, fault))) + line)

    async def _stalled(self, first: bytes, source: aiohttp.StreamReader) -> Iterable[bytes]:
        """What is left of the lines that came while nobody read."""
        kept = deque([first], maxlen=MAX_QUEUED_LINES)
        count = 1
        with suppress(TimeoutError):
            async with asyncio.timeout(self._stall_s):
                while count < self._stall_lines and (line := await source.readline()):
                    if line.strip():
                        kept.append(line)
                        count += 1
        self.dropped += count - len(kept)
        return kept

    @contextmanager
    def _outage(self, fault: Fault, game: str | None) -> Iterator[None]:
        since = time.time()
        try:
            yield
        finally:
            self.outages.append(Outage(fault, game, since, time.time()))


def ahead_of(line: Json, fault: Fault) -> list[Json]:
    """The lines that a fault puts in front of one of a game's stream."""
    match fault:
        case Fault.OFFERS:
            offers: tuple[Json, ...] = (
                {"wdraw": True, "bdraw": True},
                {},
                {"wtakeback": True, "btakeback": True},
                {},
            )
            return [line | offer for offer in offers]
        case Fault.DOUBLE_END:
            return [{key: value for key, value in line.items() if key != "winner"} | {"status": "started"}]
        case Fault.GONE:
            back = {"type": "opponentGone", "gone": False}
            return [{"type": "opponentGone", "gone": True, "claimWinInSeconds": 1}, back]
        case _:
            return []


def _encoded(line: Json) -> bytes:
    return json.dumps(line).encode() + b"\n"


def _end_to_end(request: web.Request) -> dict[str, str]:
    """The headers that concern the server, not the connection."""
    wanted = ("Authorization", "Content-Type", "Accept", "User-Agent")
    return {name: request.headers[name] for name in wanted if name in request.headers}


def _abort(request: web.Request) -> None:
    if request.transport is not None:
        request.transport.abort()


def _hang_up(request: web.Request) -> web.Response:
    _abort(request)
    return web.Response()


def _not_your_turn() -> web.Response:
    return web.json_response({"error": "Not your turn, or game already over"}, status=400)
