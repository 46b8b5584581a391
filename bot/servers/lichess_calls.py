"""One-shot calls through berserk: one at a time, none while the server asks us to wait.

berserk knows the requests and how to read the answers, but it blocks, without a deadline or a limit on what
comes back.  So it gets one thread of its own, and beneath it aiohttp carries the requests: there a server
that hangs, dribbles or never ends is cut off for good.
"""

import asyncio
import math
import time
from collections.abc import AsyncIterator, Callable
from concurrent.futures import ThreadPoolExecutor
from contextlib import asynccontextmanager
from io import BytesIO
from typing import Any, TypeVar

import aiohttp
import berserk
import requests
from requests.adapters import HTTPAdapter
from urllib3 import HTTPResponse
from yarl import URL

from bot.base.errors import ProtocolError, TransientError
from bot.servers.lichess_errors import ERROR_BODY_LIMIT, TooManyRequests, one_line, read_error

T = TypeVar("T")


ANSWER_LIMIT = 1 << 20
"""Longest answer to a call, in bytes."""
_OF_THE_TRANSFER = frozenset({"content-encoding", "content-length", "transfer-encoding"})


class Queue:
    """One request at a time is what the sites ask for, and quiet after too many.

    What keeps a running game alive (moves, streams) passes by; its 429s count all the same.
    """

    def __init__(self, clock: Callable[[], float] = time.monotonic) -> None:
        self._clock = clock
        self._one_by_one = asyncio.Lock()
        self._quiet_until = -math.inf

    @asynccontextmanager
    async def turn(self, what: str) -> AsyncIterator[None]:
        """Wait for the requests in front.

        Args:
            what: What is to be asked, for messages.

        Raises:
            TransientError: The server wants quiet; `retry_after_s` says how long.
        """
        async with self._one_by_one:
            self.check_quiet(what)
            yield

    def check_quiet(self, what: str) -> None:
        """For a request that is not urgent but takes too long for the others to wait behind it.

        Raises:
            TransientError: As in `turn`.
        """
        left_s = self._quiet_until - self._clock()
        if left_s > 0:
            raise TransientError(f"{what}: not asked, the server wants {left_s:.0f} s of quiet", left_s)

    def heard(self, error: Exception) -> None:
        """Take note of what a request came to."""
        if isinstance(error, TooManyRequests):
            self._quiet_until = max(self._quiet_until, self._clock() + error.quiet_s)


async def read_answer(response: aiohttp.ClientResponse) -> bytes:
    """A whole answer.

    Raises:
        TransientError: It is too long.
    """
    try:
        await response.content.readexactly(ANSWER_LIMIT + 1)
    except asyncio.IncompleteReadError as error:
        return error.partial
    raise TransientError(f"{response.method} {response.url.path}: more than {ANSWER_LIMIT} bytes")


class _Adapter(HTTPAdapter):
    """The place where requests, which berserk uses, can be given another way to the server."""

    def __init__(self, transfer: Callable[[requests.PreparedRequest], HTTPResponse]) -> None:
        super().__init__()
        self._transfer = transfer

    def send(self, request: requests.PreparedRequest, *_args: Any, **_kwargs: Any) -> requests.Response:
        return self.build_response(request, self._transfer(request))


class Calls:
    """One account's calls.

    Args:
        http: Carries the requests, with its own User-Agent; closing it is for the caller, after these calls.
        queue: Says when.
        url: The site's origin.
        token: The account's; never shown in an error or log.
        timeout_s: Deadline of each call, in seconds.
    """

    def __init__(
        self, http: aiohttp.ClientSession, queue: Queue, url: str, token: str, timeout_s: float
    ) -> None:
        self._http = http
        self._queue = queue
        self._url = url
        self._token = token
        self._timeout_s = timeout_s
        self._going: asyncio.Task[Any] | None = None
        self._berserk: tuple[ThreadPoolExecutor, requests.Session, berserk.Client] | None = None

    async def ask(self, what: str, call: Callable[[berserk.Client], T]) -> T:
        """The result of a function that makes one request with the client it is given.

        Args:
            what: What is asked, for messages.
            call: Runs in the thread.
        """
        # berserk's session is not for several threads either.
        async with self._queue.turn(what):
            executor, _, client = self._berserk or self._open()
            loop = asyncio.get_running_loop()
            try:
                async with asyncio.timeout(self._timeout_s):
                    return await loop.run_in_executor(executor, lambda: call(client))
            except TimeoutError:
                # The thread may be following redirects still: the next call must not wait behind it.
                self.close()
                raise TransientError(f"{what}: no answer in {self._timeout_s:g} s") from None
            except berserk.exceptions.ResponseError as error:
                response = error.response
                body = response.text[:ERROR_BODY_LIMIT]
                refused = read_error(response.status_code, response.headers, body, what, self._token)
                self._queue.heard(refused)
                raise refused from None
            except (berserk.exceptions.ApiError, aiohttp.ClientError, OSError) as error:
                if isinstance(error, ValueError):
                    raise ProtocolError(f"{what}: the answer is not JSON") from error
                raise TransientError(f"{what}: {one_line(error)}") from error
            except (ValueError, TypeError, KeyError, AttributeError, OverflowError, RecursionError) as error:
                # berserk converts some fields and takes their types for granted.
                raise ProtocolError(f"{what}: the answer makes no sense: {error!r}") from error
            finally:
                if self._going is not None:  # when we leave in the middle, the thread must not stay behind
                    self._going.cancel()

    async def _transfer(self, request: requests.PreparedRequest) -> HTTPResponse:
        self._going = asyncio.current_task()
        async with self._http.request(
            request.method or "GET",
            URL(request.url or "", encoded=True),
            headers={
                key: str(value) for key, value in request.headers.items() if key.lower() != "user-agent"
            },
            data=request.body,
            timeout=aiohttp.ClientTimeout(total=self._timeout_s),
            allow_redirects=False,
        ) as response:
            body = await read_answer(response)
            if 300 <= response.status < 400:
                # The layer above would follow it, with the token, to wherever it leads.
                text = body[:ERROR_BODY_LIMIT].decode(errors="replace")
                what = f"{response.method} {response.url.path}"
                raise read_error(response.status, response.headers, text, what, self._token)
            # The body is decoded already, so it must not look as if it still had to be.
            headers = {
                key: value for key, value in response.headers.items() if key.lower() not in _OF_THE_TRANSFER
            }
            return HTTPResponse(BytesIO(body), headers, response.status, preload_content=False)

    def _open(self) -> tuple[ThreadPoolExecutor, requests.Session, berserk.Client]:
        session = berserk.TokenSession(self._token)
        # As aiohttp does by default: no proxies and no .netrc, which would replace the token.
        session.trust_env = False
        loop = asyncio.get_running_loop()

        def transfer(request: requests.PreparedRequest) -> HTTPResponse:
            # A deadline here too: a loop that has been stopped meanwhile would never answer.
            return asyncio.run_coroutine_threadsafe(self._transfer(request), loop).result(self._timeout_s)

        for scheme in ("http://", "https://"):
            session.mount(scheme, _Adapter(transfer))
        executor = ThreadPoolExecutor(1, thread_name_prefix="calls")
        self._berserk = executor, session, berserk.Client(session, self._url)
        return self._berserk

    def close(self) -> None:
        """Let go of the thread; it ends with what it is doing.  A later call opens another."""
        if self._berserk is None:
            return
        executor, session, _ = self._berserk
        self._berserk = None
        executor.submit(session.close)
        executor.shutdown(wait=False)
