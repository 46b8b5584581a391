"""Makes read-only calls through berserk, one at a time; makes no calls while the server demands a pause.

berserk builds requests and parses answers, but its calls block and do not limit an answer's time or size.
Therefore aiohttp sends berserk's requests, with a timeout that also ends slow or endless answers.
"""

import asyncio
import math
import time
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager
from enum import Enum, auto
from io import BytesIO
from typing import Any, TypeVar

import aiohttp
import berserk
import requests
from requests.adapters import HTTPAdapter
from urllib3 import HTTPResponse

from bot.base.errors import PausedError, ProtocolError, TransientError
from bot.base.network.failures import page_text
from bot.servers.lichess_errors import TooManyRequests, read_beginning

T = TypeVar("T")


MAX_ANSWER_BYTES = 1 << 20
"""Maximum size of an answer, in bytes."""


class Lane(Enum):
    """Kinds of requests; a request waits only for other requests of the same kind."""

    ANSWERS = auto()
    """Answers to challenges, draw offers and takebacks; resignations and claims."""
    READS = auto()
    CHAT = auto()


class RequestThrottle:
    """Sends one request per lane at a time, and pauses after a 429, as the sites demand.

    Requests that keep a running game alive (moves, streams) bypass the queue, but a 429 still starts a pause.
    """

    def __init__(self, clock: Callable[[], float] = time.monotonic) -> None:
        self._clock = clock
        self._locks = {lane: asyncio.Lock() for lane in Lane}
        self._quiet_until = -math.inf

    @asynccontextmanager
    async def wait_for_lane(self, what: str, lane: Lane) -> AsyncIterator[None]:
        """Context manager: waits for the earlier requests in the lane, then occupies the lane.

        Args:
            what: Description of the request for messages.
            lane: Kind of the request.

        Raises:
            PausedError: The server demands a pause.
        """
        async with self._locks[lane]:
            self.raise_if_paused(what)
            yield

    def raise_if_paused(self, what: str) -> None:
        """Check only for a pause; use this for non-urgent requests that would block the queue for too long.

        Raises:
            PausedError: As in `wait_for_lane`.
        """
        left_s = self._quiet_until - self._clock()
        if left_s > 0:
            raise PausedError(f"{what}: not sent: the server demands a pause of {left_s:.0f} s", left_s)

    def record_error(self, error: Exception) -> None:
        """Start or extend the pause if the error is a 429."""
        if isinstance(error, TooManyRequests):
            self._quiet_until = max(self._quiet_until, self._clock() + error.quiet_s)


async def read_answer(response: aiohttp.ClientResponse) -> bytes:
    """Read a complete answer.

    Raises:
        TransientError: The answer is longer than `MAX_ANSWER_BYTES`.
    """
    answer = await read_beginning(response, MAX_ANSWER_BYTES + 1)
    if len(answer) > MAX_ANSWER_BYTES:
        raise TransientError(f"{response.method} {response.url.path}: more than {MAX_ANSWER_BYTES} bytes")
    return answer


class _LichessCall(Exception):
    """The request that berserk wants to send, raised instead of returning an answer."""

    def __init__(self, request: requests.PreparedRequest) -> None:
        super().__init__()
        self.request = request


class _Adapter(HTTPAdapter):
    """Replaces the transport of requests (the HTTP library under berserk), so that berserk never blocks."""

    answer: bytes | None = None
    """The answer to the next request; None to raise the request instead."""

    def send(self, request: requests.PreparedRequest, *_args: Any, **_kwargs: Any) -> requests.Response:
        if self.answer is None:
            raise _LichessCall(request)
        answer = HTTPResponse(BytesIO(self.answer), status=200, preload_content=False)
        return self.build_response(request, answer)


class Calls:
    """The read-only calls of one account.

    Args:
        carry: Fetches the answer for a path, which may include a query; raises `ServerError`.
        throttle: Schedules the requests.
        url: The site's origin.
        token: The account's token; never shown in an error or log.
    """

    def __init__(
        self, carry: Callable[[str], Awaitable[bytes]], throttle: RequestThrottle, url: str, token: str
    ) -> None:
        self._carry = carry
        self._throttle = throttle
        self._adapter = _Adapter()
        session = berserk.TokenSession(token)
        # A .netrc would replace the token, and `bot.base.network` chooses the proxy.
        session.trust_env = False
        for scheme in ("http://", "https://"):
            session.mount(scheme, self._adapter)
        self._client = berserk.Client(session, url)

    async def ask(self, what: str, call: Callable[[berserk.Client], T]) -> T:
        """Run a function that makes exactly one request with the client, and return its result.

        Args:
            what: Description of the request for messages.
            call: The function; called twice, because the first call only discloses the request.
        """
        async with self._throttle.wait_for_lane(what, Lane.READS):
            self._adapter.answer = await self._carry(self._path_of(call))
            try:
                return call(self._client)
            except requests.JSONDecodeError as error:
                if page := page_text(self._adapter.answer):
                    raise TransientError(f"{what}: {page}") from error
                raise ProtocolError(f"{what}: the answer is not JSON") from error
            except (ValueError, TypeError, KeyError, AttributeError, OverflowError, RecursionError) as error:
                # berserk converts some fields and takes their types for granted.
                raise ProtocolError(f"{what}: the answer is malformed: {error!r}") from error

    def _path_of(self, call: Callable[[berserk.Client], object]) -> str:
        self._adapter.answer = None
        try:
            call(self._client)
        except _LichessCall as asked:
            return asked.request.path_url
        raise AssertionError("the call made no request")
