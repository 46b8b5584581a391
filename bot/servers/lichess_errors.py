"""Maps HTTP statuses to the exceptions of `bot.base.errors`."""

import json
import math
import re
from collections.abc import Mapping
from datetime import UTC, datetime
from email.utils import parsedate_to_datetime

from bot.base.errors import AuthError, RefusedError, ServerError, TransientError

RATE_LIMIT_WAIT_S = 60.0
"""After a 429 that names no time, as the API's introduction asks."""
LONGEST_WAIT_S = 900.0
"""No server makes us wait longer, whatever it says; asked again too early, it will say so again."""
_DAY_S = 86_400.0
_MESSAGE_LIMIT = 200
"""Characters of a server's own words that an error repeats."""
ERROR_BODY_LIMIT = 8192
"""More of an answer than this, in bytes or characters, is not looked at."""


class TooManyRequests(TransientError):
    """A 429.

    Args:
        message: What was asked, and the server's words.
        asked_s: How long the server wants us to wait, in seconds, a day at most; `retry_after_s` is the same
            with `LONGEST_WAIT_S` as its bound.
        limit: The server's name for the limit, which then is about one kind of request; empty: not told.
    """

    def __init__(self, message: str, asked_s: float, limit: str = "") -> None:
        super().__init__(message, min(asked_s, LONGEST_WAIT_S))
        self.asked_s = asked_s
        self.limit = limit

    @property
    def quiet_s(self) -> float:
        """For how long nothing else should be asked either, in seconds.

        A limit with a name concerns one kind of request only, and may last for a day (games between
        programs): people must get their answers all the same, after the minute that the API asks for.
        """
        wait_s = min(self.asked_s, LONGEST_WAIT_S)
        return min(wait_s, RATE_LIMIT_WAIT_S) if self.limit else wait_s


def read_error(
    status: int, headers: Mapping[str, str], body: str, what: str, secret: str = ""
) -> ServerError:
    """What an answer of 300 or more means for the caller.

    Args:
        headers: Looked up without regard to case when the mapping does that (those of both clients do).
        body: JSON, or whatever a proxy in between made of it.
        what: What was asked, for the message: ``POST /api/...``.
        secret: Blotted out where the server repeats it.
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
    text = f"{what}: HTTP {status}" + (f": {said[:_MESSAGE_LIMIT]}" if said else "")
    if secret:  # JSON can write it in other signs
        text = text.replace(secret, "***")
    if status == 429:
        limit = raw.get("ratelimit")
        asked = limit if isinstance(limit, dict) else {}
        return TooManyRequests(text, _wait_s(asked.get("seconds"), headers), str(asked.get("key") or ""))
    # Without its JSON it is not the site that speaks, but a proxy in between: that says nothing for good.
    # How long an outage lasts it does not know either: a Retry-After of hours would cost the running games.
    if status >= 500 or not words:
        return TransientError(text)
    if status == 401:
        return AuthError(text)
    return RefusedError(text, status)


def _wait_s(seconds: object, headers: Mapping[str, str]) -> float:
    if isinstance(seconds, int | float) and not isinstance(seconds, bool) and 0 < seconds < math.inf:
        return float(min(seconds, _DAY_S))
    return _retry_after_s(headers) or RATE_LIMIT_WAIT_S


def _retry_after_s(headers: Mapping[str, str]) -> float | None:
    """Seconds from a Retry-After header in either of its forms (RFC 9110, 10.2.3)."""
    value = headers.get("Retry-After", "").strip()
    if re.fullmatch(r"[0-9]{1,7}", value):
        return min(float(value), LONGEST_WAIT_S)
    try:
        until = parsedate_to_datetime(value)
        if until.tzinfo is None:
            until = until.replace(tzinfo=UTC)
        wait_s = (until - datetime.now(UTC)).total_seconds()
    except (ValueError, OverflowError):
        return None
    return max(0.0, min(wait_s, LONGEST_WAIT_S))


def one_line(error: BaseException) -> str:
    """An exception's text without line breaks; its name when it has none."""
    return " ".join(str(error).split()) or type(error).__name__
