"""Reading calls through berserk: one at a time, none while the server asks us to wait.

berserk builds the requests and parses the answers, but it blocks, without a deadline or a limit on the size
of an answer.  So aiohttp carries its requests: there the deadline cuts off a server that hangs, dribbles or
never ends.
"""

import asyncio
import math
import time
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from enum import Enum, auto
from io import BytesIO
from typing import Any, TypeVar

import aiohttp
import berserk
import requests
from requests.adapters import HTTPAdapter
from urllib3 import HTTPResponse
from yarl import URL

from bot.base.errors import PausedError, ProtocolError, TransientError
from bot.servers.lichess_errors import ERROR_BODY_LIMIT, TooManyRequests, one_line, read_error

T = TypeVar("T")


ANSWER_LIMIT = 1 << 20
"""Longest answer to a call, in bytes."""
_TRANSFER_HEADERS = frozenset({"content-encoding", "content-length", "transfer-encoding"})


class Lane(Enum):
    """Requests that wait for each other: an unanswered one delays none of another kind."""

    ANSWERS = auto()
    """To challenges, draw offers and takebacks; also resigning and claims."""
    READS = auto()
    CHAT = auto()


class RequestThrottle:
    """Sends one request of a lane at a time and none after a 429, as the sites demand.

    Requests that keep a running game alive (moves, streams) bypass it; their 429s count all the same.
    """

    def __init__(self, clock: Callable[[], float] = time.monotonic) -> None:
        self._clock = clock
        self._locks = {lane: asyncio.Lock() for lane in Lane}
        self._quiet_until = -math.inf

    @asynccontextmanager
    async def turn(self, what: str, lane: Lane) -> AsyncIterator[None]:
        """Wait for the lane's earlier requests.

        Args:
            what: The request, for messages.
            lane: Its kind.

        Raises:
            PausedError: The server wants no requests for a while.
        """
        async with self._locks[lane]:
            self.check_quiet(what)
            yield

    def check_quiet(self, what: str) -> None:
        """Check for quiet only: for a request that is not urgent but too slow to block the queue.

        Raises:
            PausedError: As in `turn`.
        """
        left_s = self._quiet_until - self._clock()
        if left_s > 0:
            raise PausedError(f"{what}: not sent: the server demands a pause of {left_s:.0f} s", left_s)

    def heard(self, error: Exception) -> None:
        """Record the error of a request."""
        if isinstance(error, TooManyRequests):
            self._quiet_until = max(self._quiet_until, self._clock() + error.quiet_s)


async def read_answer(response: aiohttp.ClientResponse) -> bytes:
    """Read a complete answer.

    Raises:
        TransientError: It is longer than `ANSWER_LIMIT`.
    """
    try:
        await response.content.readexactly(ANSWER_LIMIT + 1)
    except asyncio.IncompleteReadError as error:
        return error.partial
    raise TransientError(f"{response.method} {response.url.path}: more than {ANSWER_LIMIT} bytes")


class _LichessCall(Exception):
    """A request of berserk's, in place of an answer."""

    def __init__(self, request: requests.PreparedRequest) -> None:
        super().__init__()
        self.request = request


class _Adapter(HTTPAdapter):
    """Replaces the transport of requests, the HTTP library under berserk, which therefore never blocks."""

    answer: HTTPResponse | None = None
    """To the next request; None: raise it."""

    def send(self, request: requests.PreparedRequest, *_args: Any, **_kwargs: Any) -> requests.Response:
        if self.answer is None:
            raise _LichessCall(request)
        return self.build_response(request, self.answer)


class Calls:
    """One account's calls.

    Args:
        http: Carries the requests, with its own User-Agent; the caller closes it after these calls.
        throttle: Schedules the requests.
        url: The site's origin.
        token: The account's; never shown in an error or log.
        timeout_s: Deadline of each call, in seconds.
    """

    def __init__(
        self, http: aiohttp.ClientSession, throttle: RequestThrottle, url: str, token: str, timeout_s: float
    ) -> None:
        self._http = http
        self._throttle = throttle
        self._token = token
        self._timeout_s = timeout_s
        self._adapter = _Adapter()
        session = berserk.TokenSession(token)
        # As aiohttp does by default: no proxies and no .netrc, which would replace the token.
        session.trust_env = False
        for scheme in ("http://", "https://"):
            session.mount(scheme, self._adapter)
        self._client = berserk.Client(session, url)

    async def ask(self, what: str, call: Callable[[berserk.Client], T]) -> T:
        """Run a function that makes one request with the client; return its result.

        Args:
            what: The request, for messages.
            call: Called twice: its first call only shows the request.
        """
        async with self._throttle.turn(what, Lane.READS):
            try:
                async with asyncio.timeout(self._timeout_s):
                    self._adapter.answer = await self._transfer(self._asked(call))
                return call(self._client)
            except TimeoutError:
                raise TransientError(f"{what}: no answer in {self._timeout_s:g} s") from None
            except berserk.exceptions.ResponseError as error:
                response = error.response
                body = response.text[:ERROR_BODY_LIMIT]
                refused = read_error(response.status_code, response.headers, body, what, self._token)
                self._throttle.heard(refused)
                raise refused from None
            except (berserk.exceptions.ApiError, aiohttp.ClientError, OSError) as error:
                if isinstance(error, ValueError):
                    raise ProtocolError(f"{what}: the answer is not JSON") from error
                raise TransientError(f"{what}: {one_line(error)}") from error
            except (ValueError, TypeError, KeyError, AttributeError, OverflowError, RecursionError) as error:
                # berserk converts some fields and takes their types for granted.
                raise ProtocolError(f"{what}: the answer is malformed: {error!r}") from error

    def _asked(self, call: Callable[[berserk.Client], object]) -> requests.PreparedRequest:
        self._adapter.answer = None
        try:
            call(self._client)
        except _LichessCall as asked:
            return asked.request
        raise AssertionError("a call makes a request")

    async def _transfer(self, request: requests.PreparedRequest) -> HTTPResponse:
        async with self._http.request(
            request.method or "GET",
            URL(request.url or "", encoded=True),
            headers={
                key: str(value) for key, value in request.headers.items() if key.lower() != "user-agent"
            },
            data=request.body,
            allow_redirects=False,
        ) as response:
            body = await read_answer(response)
            if 300 <= response.status < 400:
                # The layer above would follow it, with the token, to any host.
                text = body[:ERROR_BODY_LIMIT].decode(errors="replace")
                what = f"{response.method} {response.url.path}"
                raise read_error(response.status, response.headers, text, what, self._token)
            # The body is decoded already, so drop the headers that describe its encoding.
            headers = {
                key: value for key, value in response.headers.items() if key.lower() not in _TRANSFER_HEADERS
            }
            return HTTPResponse(BytesIO(body), headers, response.status, preload_content=False)
