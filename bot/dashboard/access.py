"""Access control for the operator's page and its controls.

A browser on this machine lets any web page send requests to the loopback address. So the ``Host`` of every
request must be ours (against DNS rebinding, where a foreign name resolves to this machine), another site's
page may link to ours but not load them (``Sec-Fetch-Site``), and a request that changes something must come
from one of our pages (``Origin``). If there is a token, requests also need a session: a cookie with an expiry
time, signed with a key derived from the token, so that it survives a restart and becomes invalid when the
token changes. Signing out ends the session until the next restart and deletes the cookie. Wrong tokens are
rate-limited at the login but not in headers: a 16-character token cannot be guessed, and behind a proxy, a
limit would let a stranger lock out the program that reads the metrics.
"""

import asyncio
import hashlib
import hmac
import re
import secrets
import time
from collections.abc import Awaitable, Callable
from urllib.parse import parse_qsl, quote, urlsplit

from aiohttp import web

from bot.arena.traffic.cross_site import FOREIGN_REQUEST, from_other_site
from bot.base.config import DashboardConfig
from bot.base.rate_limiter import Rate, RateLimiter

COOKIE = "desdemona"
SESSION_TTL_S = 30 * 86_400
"""A session's length in seconds."""
LOGIN_RATE = Rate("dashboard.login", burst=10, per_s=0.1)
"""Limit on login attempts per address."""
TOTAL_LOGIN_RATE = Rate("dashboard.login.all", burst=100, per_s=1)
"""Limit on login attempts, over all addresses."""
BODY_TIMEOUT_S = 10.0
"""Maximum wait for the rest of a request, in seconds."""
MAX_FORM_FIELDS = 50
LOGIN, STATIC = "/dash/login", "/dash/static/"
PUBLIC_PATHS = ("/healthz",)
"""The paths that need no token, for supervisors; they reveal only whether the program is alive."""

_LOCAL_HOSTS = ("localhost", "127.0.0.1", "::1")

Handler = Callable[[web.Request], Awaitable[web.StreamResponse]]


class AccessDenied(Exception):
    """Error: a request is not allowed.

    Args:
        status: HTTP status.
        message: The message to the sender of the request.
    """

    def __init__(self, status: int, message: str) -> None:
        super().__init__(message)
        self.status = status


class Access:
    """Admits requests.

    Args:
        config: The dashboard's settings, which contain its local and public addresses.
        token: The token; may be empty only if the address is a loopback address.
        clock: Returns the time of a monotonic clock in seconds, for rate limits.
    """

    def __init__(
        self,
        config: DashboardConfig,
        token: str,
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        self._token = token.encode()
        self._key = hashlib.sha256(b"desdemona session " + self._token).digest()
        public = urlsplit(config.public_url)
        self._hosts = {*_LOCAL_HOSTS, config.host.lower(), *([public.hostname] if public.hostname else [])}
        self._origin = f"{public.scheme}://{public.netloc}".lower() if public.netloc else ""
        self._is_secure = public.scheme == "https"
        self._attempts = RateLimiter(LOGIN_RATE, clock)
        self._all_attempts = RateLimiter(TOTAL_LOGIN_RATE, clock)
        self._ended: dict[str, int] = {}
        """Sessions that were signed out, each with its expiry."""

    @property
    def needs_token(self) -> bool:
        """Whether visitors have to sign in."""
        return bool(self._token)

    @web.middleware
    async def guard(self, request: web.Request, handler: Handler) -> web.StreamResponse:
        """Middleware: let a request pass, redirect a page's visitor to the login, or raise `AccessDenied`."""
        self._require_host(request)
        if from_other_site(request):
            raise AccessDenied(403, FOREIGN_REQUEST)
        if request.method not in ("GET", "HEAD"):
            self._require_origin(request)
        if self._is_open(request.path) or self._is_known(request):
            return await handler(request)
        if request.method == "GET" and request.path.startswith("/dash") and "/api/" not in request.path:
            raise web.HTTPSeeOther(f"{LOGIN}?next={quote(request.rel_url.raw_path_qs, safe='/?=')}")
        raise AccessDenied(401, "Sign in first, or send the header 'Authorization: Bearer <token>'")

    def sign_in(self, request: web.Request, token: str, response: web.Response) -> None:
        """Check a token; if it is correct, set a session cookie in the response.

        Raises:
            AccessDenied: 403 if the token is wrong; 429 after too many attempts.
        """
        if wait := self._attempts.wait_s(request.remote or "") or self._all_attempts.wait_s(""):
            raise AccessDenied(429, f"Too many attempts. Please try again in {wait} s.")
        if not hmac.compare_digest(token.strip().encode(errors="replace"), self._token):
            raise AccessDenied(403, "Wrong token.")
        ends = int(self._now()) + SESSION_TTL_S
        said = f"{ends}.{secrets.token_hex(8)}"
        response.set_cookie(
            COOKIE,
            f"{said}.{self._signed(said)}",
            max_age=SESSION_TTL_S,
            path="/",
            httponly=True,
            samesite="Strict",
            secure=self._is_secure,
        )

    def sign_out(self, request: web.Request, response: web.Response) -> None:
        """Delete the cookie, and end the request's session so that copies of the cookie become invalid."""
        now = self._now()
        self._ended = {said: ends for said, ends in self._ended.items() if ends > now}
        said, ends = self._session(request)
        if ends > now:
            self._ended[said] = ends
        response.del_cookie(COOKIE, path="/")

    def _now(self) -> float:
        """The current POSIX time in seconds, for the expiry of sessions."""
        return time.time()

    def _is_known(self, request: web.Request) -> bool:
        if not self._token or self._has_bearer(request):
            return True
        said, ends = self._session(request)
        return ends > self._now() and said not in self._ended

    def _session(self, request: web.Request) -> tuple[str, int]:
        """The cookie's content, and its expiry in seconds since 1970 (0 if the cookie is not ours)."""
        said, _, signature = request.cookies.get(COOKIE, "").rpartition(".")
        ends = said.partition(".")[0]
        is_ours = hmac.compare_digest(signature.encode(errors="replace"), self._signed(said).encode())
        return said, int(ends) if is_ours and ends.isdecimal() else 0

    def _has_bearer(self, request: web.Request) -> bool:
        """Whether the request has a header with the token; browsers never add this header on their own."""
        scheme, _, token = request.headers.get("Authorization", "").partition(" ")
        is_it = hmac.compare_digest(token.strip().encode(errors="replace"), self._token)
        return bool(self._token) and scheme.lower() == "bearer" and is_it

    def _signed(self, text: str) -> str:
        return hmac.digest(self._key, text.encode(errors="replace"), "sha256").hex()

    @staticmethod
    def _is_open(path: str) -> bool:
        return path == LOGIN or path.startswith(STATIC) or path in PUBLIC_PATHS

    def _require_host(self, request: web.Request) -> None:
        if _host_of(request.host) not in self._hosts:
            raise AccessDenied(403, "Unknown host name; see dashboard.public_url")

    def _require_origin(self, request: web.Request) -> None:
        if self._has_bearer(request):
            return
        origin = request.headers.get("Origin", "").lower()
        own = {f"{request.scheme}://{request.host}".lower(), *([self._origin] if self._origin else [])}
        if origin not in own:
            raise AccessDenied(403, "This request does not come from a page of the dashboard")


def _host_of(text: str) -> str:
    """A ``Host`` header without its port."""
    try:
        return (urlsplit(f"//{text}").hostname or "").lower()
    except ValueError:
        return ""


def safe_redirect_path(text: str) -> str:
    """The redirect after the login, always to an address on this dashboard."""
    return text if re.fullmatch(r"/dash([/?][!-~]*)?", text) else "/dash"


async def read_form(request: web.Request) -> dict[str, str]:
    """Read the fields of a form, with limits on its size and on the time to receive it.

    Raises:
        AccessDenied: The body is not a form, or does not arrive.
    """
    if request.content_type != "application/x-www-form-urlencoded":
        raise AccessDenied(415, "Send application/x-www-form-urlencoded")
    try:
        async with asyncio.timeout(BODY_TIMEOUT_S):
            body = await request.read()
        return dict(parse_qsl(body.decode(), keep_blank_values=True, max_num_fields=MAX_FORM_FIELDS))
    except TimeoutError:
        raise AccessDenied(408, "The form did not arrive in time") from None
    except ValueError:
        raise AccessDenied(400, "This is no form") from None
