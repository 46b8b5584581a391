"""One-shot calls through berserk, from asyncio.

berserk blocks and knows no time-outs, so it gets one thread of its own, a read timeout on its session, and a
deadline for each call.
"""

import asyncio
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from typing import Any, TypeVar

import berserk
import requests
from requests.adapters import HTTPAdapter

from bot.errors import ProtocolError, TransientError
from bot.servers.lichess_errors import ERROR_BODY_LIMIT, one_line, read_error

T = TypeVar("T")


class _TimeoutAdapter(HTTPAdapter):
    """The only place where a timeout can be given to every request that berserk makes."""

    def __init__(self, timeout_s: float) -> None:
        super().__init__()
        self._timeout_s = timeout_s

    def send(self, request: requests.PreparedRequest, *args: Any, **kwargs: Any) -> requests.Response:
        kwargs["timeout"] = self._timeout_s
        return super().send(request, *args, **kwargs)


class Calls:
    """One account's calls, one at a time.

    Args:
        url: The site's origin.
        token: The account's; never shown in an error or log.
        timeout_s: Deadline of each call, in seconds.
    """

    def __init__(self, url: str, token: str, user_agent: str, timeout_s: float) -> None:
        self._url = url
        self._token = token
        self._user_agent = user_agent
        self._timeout_s = timeout_s
        self._one_by_one = asyncio.Lock()
        self._berserk: tuple[ThreadPoolExecutor, requests.Session, berserk.Client] | None = None

    async def ask(self, what: str, call: Callable[[berserk.Client], T]) -> T:
        """The result of a function that makes one request with the client it is given.

        Args:
            what: What is asked, for messages.
            call: Runs in the thread.
        """
        # One request at a time is what the sites ask for, and berserk's session is not for several threads.
        async with self._one_by_one:
            executor, _, client = self._berserk or self._open()
            loop = asyncio.get_running_loop()
            try:
                async with asyncio.timeout(self._timeout_s):
                    return await loop.run_in_executor(executor, lambda: call(client))
            except TimeoutError:
                # The thread may go on reading a dribbling answer: the next call must not wait behind it.
                self.close()
                raise TransientError(f"{what}: no answer in {self._timeout_s:g} s") from None
            except berserk.exceptions.ResponseError as error:
                response = error.response
                body = response.text[:ERROR_BODY_LIMIT]
                raise read_error(response.status_code, response.headers, body, what, self._token) from None
            except (berserk.exceptions.ApiError, requests.RequestException) as error:
                if isinstance(error, ValueError):
                    raise ProtocolError(f"{what}: the answer is not JSON") from error
                raise TransientError(f"{what}: {_reason(error)}") from error
            except (ValueError, TypeError, KeyError, AttributeError, OverflowError) as error:
                # berserk converts some fields and takes their types for granted.
                raise ProtocolError(f"{what}: the answer makes no sense: {error!r}") from error

    def _open(self) -> tuple[ThreadPoolExecutor, requests.Session, berserk.Client]:
        session = berserk.TokenSession(self._token)
        session.headers["User-Agent"] = self._user_agent
        # As aiohttp does by default: no proxies and no .netrc, which would replace the token.
        session.trust_env = False
        for scheme in ("http://", "https://"):
            session.mount(scheme, _TimeoutAdapter(self._timeout_s))
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


def _reason(error: BaseException) -> str:
    """The innermost cause: "Connection refused" rather than three libraries' retellings of it."""
    while inner := error.__cause__ or error.__context__:
        error = inner
    return one_line(error)
