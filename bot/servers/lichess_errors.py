"""Maps HTTP statuses to the exceptions of `bot.base.errors`."""

import asyncio
import json
import math
import re
from collections.abc import Mapping
from datetime import UTC, datetime
from email.utils import parsedate_to_datetime
from urllib.parse import urlsplit

import aiohttp

from bot.base.errors import AuthError, RefusedError, ServerError, TransientError
from bot.base.network.failures import page_text

RATE_LIMIT_WAIT_S = 60.0
"""Wait in seconds after a 429 without Retry-After, as the API's introduction prescribes."""
MAX_RETRY_AFTER_S = 900.0
"""Maximum wait in seconds after a 429; retrying too early merely causes another 429."""
_DAY_S = 86_400.0
_MAX_MESSAGE_LENGTH = 200
"""Maximum number of characters of the server's message quoted in an error."""
MAX_ERROR_BYTES = 8192
"""Maximum number of bytes or characters read from an error's body."""


class TooManyRequests(TransientError):
    """A 429.

    Args:
        message: Description of the request, followed by the server's message.
        asked_s: The wait in seconds that the server demands, at most a day; `retry_after_s` is capped at
            `MAX_RETRY_AFTER_S`.
        limit: The server's name for a limit on one kind of request; empty if not stated.
    """

    def __init__(self, message: str, asked_s: float, limit: str = "") -> None:
        super().__init__(message, min(asked_s, MAX_RETRY_AFTER_S))
        self.asked_s = asked_s
        self.limit = limit

    @property
    def quiet_s(self) -> float:
        """Seconds for which all other requests must also wait.

        A named limit, for instance on games between programs, applies to one kind of request and can last a
        day; other requests resume after the one-minute wait that the API prescribes.
        """
        wait_s = min(self.asked_s, MAX_RETRY_AFTER_S)
        return min(wait_s, RATE_LIMIT_WAIT_S) if self.limit else wait_s


def read_error(
    status: int, headers: Mapping[str, str], body: str, what: str, secret: str = ""
) -> ServerError:
    """Convert an answer with a status of 300 or higher to an exception.

    Args:
        status: HTTP status of the answer.
        headers: Headers of the answer, in the case-insensitive mapping of either HTTP client.
        body: Body of the answer; JSON from the site, any text from an intermediate proxy.
        what: Description of the request for the message, such as ``POST /api/...``.
        secret: Text to mask in case the server repeats it.
    """
    if secret:
        body = body.replace(secret, "***")
    try:
        message = json.loads(body)
    except (ValueError, RecursionError):
        message = None
    raw = message if isinstance(message, dict) else {}
    words = raw.get("error")
    said = " ".join((words if isinstance(words, str) else json.dumps(words)).split()) if words else ""
    shown = said[:_MAX_MESSAGE_LENGTH]
    if status < 500 and status != 429:  # a busy site's own front also answers with pages
        shown = shown or page_text(body)
    text = f"{what}: HTTP {status}{_redirect(headers)}{shown and f': {shown}'}"
    if secret:  # JSON may have escaped it
        text = text.replace(secret, "***")
    if status == 429:
        limit = raw.get("ratelimit")
        asked = limit if isinstance(limit, dict) else {}
        return TooManyRequests(text, _wait_s(asked.get("seconds"), headers), str(asked.get("key") or ""))
    # Without JSON the answer comes from a proxy, not the site, so it is never final. Ignore its Retry-After
    # too: it does not know how long an outage lasts, and hours would cost the running games.
    if status >= 500 or not words:
        return TransientError(text)
    if status == 401:
        return AuthError(text)
    return RefusedError(text, status, said[:_MAX_MESSAGE_LENGTH].replace(secret, "***") if secret else said)


def _redirect(headers: Mapping[str, str]) -> str:
    """The site to which an answer redirects; only the site, because a URL may hold secrets."""
    try:
        target = urlsplit(headers.get("Location", ""))
    except ValueError:
        return ""
    return f", a redirect to {target.scheme}://{target.hostname}" if target.hostname else ""


def _wait_s(seconds: object, headers: Mapping[str, str]) -> float:
    if isinstance(seconds, int | float) and not isinstance(seconds, bool) and 0 < seconds < math.inf:
        return float(min(seconds, _DAY_S))
    return _retry_after_s(headers) or RATE_LIMIT_WAIT_S


def _retry_after_s(headers: Mapping[str, str]) -> float | None:
    """The wait in seconds that a Retry-After header demands, in either form (RFC 9110, 10.2.3)."""
    value = headers.get("Retry-After", "").strip()
    if re.fullmatch(r"[0-9]{1,7}", value):
        return min(float(value), MAX_RETRY_AFTER_S)
    try:
        until = parsedate_to_datetime(value)
        if until.tzinfo is None:
            until = until.replace(tzinfo=UTC)
        wait_s = (until - datetime.now(UTC)).total_seconds()
    except (ValueError, OverflowError):
        return None
    return max(0.0, min(wait_s, MAX_RETRY_AFTER_S))


async def read_beginning(response: aiohttp.ClientResponse, limit: int) -> bytes:
    """Read an answer up to a maximum number of bytes."""
    try:
        return await response.content.readexactly(limit)
    except asyncio.IncompleteReadError as error:
        return error.partial
