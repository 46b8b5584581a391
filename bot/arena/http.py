"""Shared request handling: identifies callers, parses requests, and reports errors as one line of JSON."""

import asyncio
import errno
import json
import logging
import socket
from collections.abc import Awaitable, Callable, Hashable, Iterable, Mapping
from functools import partial
from typing import Any
from urllib.parse import parse_qsl

from aiohttp import web

from bot.arena.accounts import Accounts
from bot.arena.challenges import ServerBusy
from bot.arena.fairness.seen_addresses import SeenAddresses
from bot.arena.game import ArenaRefusal
from bot.arena.proxies import FORWARDED, Proxies
from bot.arena.public.rendering import render
from bot.arena.streams import Stream
from bot.arena.traffic.budgets import DAY_S, DEFAULT_COST, REQUEST_COSTS, Budgets, LimitReached, spend
from bot.arena.traffic.cross_site import FOREIGN_REQUEST, RESOURCE_POLICY, from_other_site
from bot.arena.traffic.nested_limits import NestedRateLimiter
from bot.arena.traffic.open_streams import OpenStreamEntry, OpenStreams, Priority
from bot.base.config import ArenaConfig
from bot.base.log import LogLineLimiter
from bot.base.rate_limiter import Rate, RateLimiter
from engine.errors import RecordError
from storage.arena.accounts import AccountRecord, ArenaAccess
from storage.errors import StorageError, UnreadableRow, damage_text

logger = logging.getLogger(__name__)

MAX_BODY_BYTES = 16 * 1024
BODY_TIMEOUT_S = 10.0
WRITE_TIMEOUT_S = 30.0
"""Seconds after which a connection is closed if its client reads nothing."""
OFFLINE_AFTER_S = 10.0
"""An account counts as offline after this many seconds without a TCP acknowledgement from the client that
reads its event stream."""
ID = "[A-Za-z0-9]{8}"
GAME = f"{{game:{ID}}}"
"""Pattern of a game id in a route; challenge ids have the same form."""
NOT_PUBLIC = "Games are not public here: only their players see them"
"""The error that everyone except a game's players receives if `arena.public_games` is off."""
STREAM_HEADERS: Mapping[str, str] = {
    "Content-Type": "application/x-ndjson",
    "Cache-Control": "no-store",
    "X-Accel-Buffering": "no",
}
"""Headers of every stream of lines; they tell proxies not to buffer it."""
_API = ("/api/", "/game/export/")
"""Paths of calls; all other paths are pages and files."""
_MAX_LOG_LINES_PER_MINUTE = 20
"""Limits the log lines about failed requests: while the database is down, every request fails."""
_DISCONNECT_POLL_INTERVAL_S = 1.0  # how often a quiet stream checks whether its client has gone

CHALLENGE_RATE = Rate("challenge.create", burst=300, per_s=5)
ADDRESS_CHALLENGE_RATE = Rate("challenge.address", burst=500, per_s=1)
"""Limit on challenges from all accounts at one address together (lila: 500 in ten minutes)."""
MOVE_CODE_RATE = Rate("account.code", burst=20, per_s=1 / 60)
CHAT_RATE = Rate("chat", burst=50, per_s=1)
REFUSAL_DELAY_S = 0.5
"""Delay before a 429, in seconds, to slow retries."""
PROMPT_REFUSAL_RATE = Rate("refusals", burst=20, per_s=1)
"""Limit on each address's refusals without that delay, which only clients in a game get."""
UNAVAILABLE_RETRY_AFTER_S = 5
"""Retry-After while the database is away, in seconds."""
STREAM_RETRY_AFTER_S = 15
"""Retry-After for a stream beyond the limit, in seconds."""

Handler = Callable[[web.Request], Awaitable[web.StreamResponse]]

# Load everything from this server, forbid framing, and send no referrer.
SECURITY_HEADERS = {
    "Content-Security-Policy": (
        "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' data:; connect-src 'self'; "
        "font-src 'self'; manifest-src 'self'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'"
    ),
    "X-Content-Type-Options": "nosniff",
    "Referrer-Policy": "no-referrer",
    RESOURCE_POLICY: "same-origin",
}


async def add_headers(request: web.Request, response: web.StreamResponse) -> None:
    """Add the headers that every response has."""
    # Browsers revalidate files, which change with an update of this program, and never cache API answers.
    response.headers.setdefault(
        "Cache-Control", "no-store" if request.path.startswith("/api/") else "no-cache"
    )
    for name, value in SECURITY_HEADERS.items():
        response.headers.setdefault(name, value)


class HttpError(Exception):
    """An error with its HTTP status."""

    def __init__(self, status: int, message: str) -> None:
        super().__init__(message)
        self.status = status


def ok() -> web.Response:
    return web.json_response({"ok": True})


def refusal(status: int, message: str) -> web.Response:
    return web.json_response({"error": message}, status=status)


def unavailable(request: web.Request) -> web.Response:
    """The response while the database is away: a page that reloads itself, or JSON for programs."""
    seconds = str(UNAVAILABLE_RETRY_AFTER_S)
    if request.method in ("GET", "HEAD") and "text/html" in request.headers.get("Accept", ""):
        headers = {"Content-Type": "text/html; charset=utf-8", "Refresh": seconds}
        response = web.Response(body=render("unavailable.html"), status=503, headers=headers)
    else:
        response = refusal(503, "The server cannot reach its database at the moment; try again later")
    response.headers["Retry-After"] = seconds
    return response


class RequestGate:
    """Admits requests: applies the limits and identifies the account."""

    def __init__(
        self,
        accounts: Accounts,
        proxies: Proxies,
        config: ArenaConfig,
        is_playing: Callable[[str], bool],
        clock: Callable[[], float],
        on_storage_error: Callable[[float], None],
        seen: SeenAddresses,
    ) -> None:
        """Admit requests.

        Args:
            accounts: The arena's accounts.
            proxies: The trusted proxies.
            config: The limits.
            is_playing: Returns whether the account with the given id is in a game.
            clock: Returns the current time in seconds.
            on_storage_error: Called with a request's time of arrival if the database fails while handling it.
            seen: Records the addresses that each account's requests come from.
        """
        self._clock = clock
        self._on_storage_error = on_storage_error
        self.seen = seen
        self._accounts = accounts
        self._proxies = proxies
        self._is_playing = is_playing
        self.embedded: tuple[str, ...] = ()
        """Ids of the accounts that this program plays, main account first; per-address limits do not apply to
        these accounts."""
        self._budgets = Budgets(config.work_per_address, config.work_per_s, clock)
        self._streams = OpenStreams(
            per_account=config.streams_per_account,
            per_address=config.streams_per_address,
            priority=self.priority,
        )
        self._holders: dict[web.RequestHandler, str] = {}
        """The account of each connection's latest request; may include closed connections."""
        self._most_holders = 0
        self._challenges = RateLimiter(CHALLENGE_RATE, clock)
        self._address_challenges = NestedRateLimiter(ADDRESS_CHALLENGE_RATE, clock)
        a_day = config.accounts_per_day
        self.new_accounts = NestedRateLimiter(Rate("account.create", a_day, a_day / DAY_S), clock)
        a_day = config.bots_per_address
        self.new_bots = NestedRateLimiter(Rate("bot.create", a_day, a_day / DAY_S), clock)
        self.move_codes = NestedRateLimiter(MOVE_CODE_RATE, clock)
        self.chat = RateLimiter(CHAT_RATE, clock)
        self._prompt_refusals = RateLimiter(PROMPT_REFUSAL_RATE, clock)
        self._lines = LogLineLimiter(_MAX_LOG_LINES_PER_MINUTE, clock)
        self.pause: Callable[[float], Awaitable[None]] = asyncio.sleep
        """Waits the given number of seconds."""
        self.busy: set[web.RequestHandler] = set()
        """Connections whose request has been received in full and is being handled."""

    @web.middleware
    async def guard(self, request: web.Request, handler: Handler) -> web.StreamResponse:
        """Middleware: apply the limits, and report every failure to the client without a traceback."""
        arrived = self._clock()
        try:
            if request.path.startswith(_API) and from_other_site(request):
                raise HttpError(403, FOREIGN_REQUEST)
            await self.charge(request, _cost(request))
            await _read_body(request)
            self.busy.add(request.protocol)  # not before: a body that trickles in may make room for others
            return await handler(request)
        except LimitReached as error:
            if self._is_refusal_delayed(request):
                await self.pause(REFUSAL_DELAY_S)
            return _limit_reached_error(str(error), error.key, error.wait_s)
        except ServerBusy as error:
            return _limit_reached_error(str(error), error.key, error.wait_s)
        except (HttpError, ArenaRefusal) as error:
            return refusal(error.status, str(error))
        except web.HTTPException as error:
            if error.status < 400 or not request.path.startswith(_API):
                raise
            return refusal(error.status, "Not found" if error.status == 404 else error.reason)
        except ConnectionError as error:
            # aiohttp ends the connection.  Mostly its other end was reset, which is nobody's fault.
            self._log(logging.INFO, request, f"the connection broke: {error}")
            raise
        except (RecordError, UnreadableRow) as error:  # damage of one row is no outage
            self._log(logging.ERROR, request, damage_text(error))
            return refusal(500, "The data stored for this request is damaged; the error has been logged")
        except StorageError as error:
            self._log(logging.ERROR, request, str(error))
            self._on_storage_error(arrived)
            return unavailable(request)
        except Exception as error:
            if isinstance(error, OSError) and error.errno == errno.ENAMETOOLONG:
                return refusal(404, "Not found")  # a static file
            # The edge of a request: one that fails must not stop the server.
            self._log(logging.ERROR, request, "failed", has_traceback=True)
            return refusal(500, "Something went wrong on the server; the error has been logged")
        finally:
            self.busy.discard(request.protocol)

    def _is_refusal_delayed(self, request: web.Request) -> bool:
        priority = self.priority_of(request.protocol)
        if priority is not Priority.PLAYER:
            return priority is Priority.ANONYMOUS
        return self._prompt_refusals.wait_s(self.address(request)) > 0

    def _log(self, level: int, request: web.Request, text: str, *, has_traceback: bool = False) -> None:
        if (dropped := self._lines.next()) is not None:
            text = f"{request.method:.20} {request.path:.100}: {text:.500}{dropped}"
            logger.log(level, "%s", text, exc_info=has_traceback or None)

    def priority(self, account_id: str) -> Priority:
        """Priority of an account; an empty id means an anonymous client."""
        if account_id in self.embedded:
            return Priority.OURS
        return Priority.PLAYER if self._is_playing(account_id) else Priority.ANONYMOUS

    async def charge(self, request: web.Request, cost: float) -> None:
        """Charge a request to its account, if its token is valid, and to its address.

        Args:
            request: The request; call `charge` again if the request turns out to need more work.
            cost: Points to charge.

        Raises:
            LimitReached: The cost exceeds the budget of the account, the address or the server.
        """
        token = _token(request)
        account = None
        if token and self._accounts.knows(token):
            account = await self._accounts.by_token(token)
        if account is None:
            self._holders.pop(request.protocol, None)
        else:
            self._hold(request.protocol, account.id)
            self._budgets.charge_account(account.id, cost, is_bot=account.is_bot)
        priority = Priority.ANONYMOUS if account is None else self.priority(account.id)
        if priority is not Priority.OURS:
            is_playing = priority is Priority.PLAYER
            self._budgets.charge_address(self.address(request), cost, is_playing=is_playing)

    def _hold(self, connection: web.RequestHandler, account_id: str) -> None:
        self._holders[connection] = account_id
        if len(self._holders) > self._most_holders:
            self._holders = {each: by for each, by in self._holders.items() if each.transport is not None}
            self._most_holders = 2 * len(self._holders) + 100

    def priority_of(self, connection: web.RequestHandler) -> Priority:
        """The priority of a connection's client, as determined by its latest request."""
        return self.priority(self._holders.get(connection, ""))

    def make_room(self, among: Iterable[web.RequestHandler]) -> bool:
        """End an anonymous stream or a player's surplus stream; return whether one was found."""
        return self._streams.make_room(among)

    def open_stream(
        self, request: web.Request, account: AccountRecord | None, stream: Stream, kind: Hashable
    ) -> Callable[[], None]:
        """Register an open stream.

        Args:
            request: The request that opens it.
            account: The stream's account, or None for a spectator, who always has the lowest priority.
            stream: The stream.
            kind: Identifies the content: streams of one account with the same kind carry the same messages.

        Returns:
            A function to call when the stream ends.

        Raises:
            LimitReached: The account or its address has too many streams.
        """
        address = self.address(request) if account is None else self.counted_address(request, account)
        account_id = "" if account is None else account.id
        if not self._streams.admit(OpenStreamEntry(stream, account_id, address, kind, request.protocol)):
            raise LimitReached("streams", STREAM_RETRY_AFTER_S)
        return partial(self._streams.release, stream)

    def count_challenge(self, request: web.Request, account: AccountRecord) -> str:
        """Count a challenge against the limits of its account and its address.

        Returns:
            The address; empty for an embedded bot, to which per-address limits do not apply.

        Raises:
            LimitReached: A limit has been reached.
        """
        spend(self._challenges, account.id)
        if address := self.counted_address(request, account):
            spend(self._address_challenges, address)
        return address

    def counted_address(self, request: web.Request, account: AccountRecord) -> str:
        """The address whose quota an account's games count against; empty for an embedded bot."""
        return "" if account.id in self.embedded else self.address(request)

    def address(self, request: web.Request) -> str:
        """The address that a request comes from, in the form that the limits use."""
        return self._proxies.client_address(
            request.remote or "unknown", request.headers.getall(FORWARDED, ())
        )

    async def optional_account(self, request: web.Request) -> AccountRecord | None:
        """The account to which the request's token belongs, or None if there is no token.

        Raises:
            HttpError: 401 if the token is unknown or its account is banned.
        """
        if not request.headers.get("Authorization"):
            return None
        token = _token(request)
        account = await self._accounts.by_token(token) if token else None
        if account is None:
            raise HttpError(401, "No such token")
        if account.access is ArenaAccess.BANNED:
            raise HttpError(401, "This account is banned")
        if account.id not in self.embedded:
            self.seen.note(account.id, self.address(request))
        return account

    async def account(self, request: web.Request) -> AccountRecord:
        """The account to which the request's token belongs.

        Raises:
            HttpError: 401 if the token is missing or unknown.
        """
        account = await self.optional_account(request)
        if account is None:
            raise HttpError(401, "Missing or invalid token: send the header 'Authorization: Bearer <token>'")
        return account


def require_approved(account: AccountRecord) -> None:
    """Refuse accounts that still need approval.

    Raises:
        HttpError: 403 if the arena's owner has not approved the account yet.
    """
    if account.access is ArenaAccess.PENDING:
        raise HttpError(403, "The owner of this server has yet to approve your account")


def _cost(request: web.Request) -> float:
    resource = request.match_info.route.resource
    # Patterns are no part of the path: {game:[A-Za-z0-9]{8}}.
    path = "" if resource is None else resource.canonical
    return REQUEST_COSTS.get(path, DEFAULT_COST)


def _limit_reached_error(message: str, key: str, wait_s: int) -> web.Response:
    body = {"error": message, "ratelimit": {"key": key, "seconds": wait_s}}
    return web.json_response(body, status=429, headers={"Retry-After": str(wait_s)})


def _token(request: web.Request) -> str:
    """The request's bearer token; empty if there is none."""
    scheme, _, token = request.headers.get("Authorization", "").partition(" ")
    return token.strip() if scheme.lower() == "bearer" else ""


async def _read_body(request: web.Request) -> None:
    """Read the whole body before any handler runs, within limits on size and time."""
    if not request.can_read_body:
        return
    if request.headers.get("Content-Encoding", "identity").lower() != "identity":
        raise HttpError(400, "Send the request body without Content-Encoding")
    too_large = HttpError(413, f"The request body is larger than {MAX_BODY_BYTES} bytes")
    if (request.content_length or 0) > MAX_BODY_BYTES:
        raise too_large
    try:
        async with asyncio.timeout(BODY_TIMEOUT_S):
            await request.read()
    except web.HTTPRequestEntityTooLarge:
        raise too_large from None
    except TimeoutError:
        raise HttpError(408, "The request body did not arrive in time") from None


async def fields(request: web.Request) -> Mapping[str, Any]:
    """Parse the body as a form or a JSON object, depending on its content type.

    Raises:
        HttpError: 400 if the body is malformed; 415 if it has another content type.
    """
    body = await request.read()
    if not body:
        return {}
    if request.content_type not in ("application/x-www-form-urlencoded", "application/json"):
        raise HttpError(415, "Send application/x-www-form-urlencoded or application/json")
    try:
        text = body.decode()
        if request.content_type == "application/json":
            data = json.loads(text)
        else:
            data = dict(parse_qsl(text, keep_blank_values=True, max_num_fields=50))
    except (ValueError, RecursionError):
        raise HttpError(400, f"The request body is not valid {request.content_type}") from None
    if not isinstance(data, dict):
        raise HttpError(400, "The request body is not a JSON object")
    return data


def as_text(data: Mapping[str, Any], key: str, default: str | None = None) -> str:
    """Return a text field; null counts as missing.

    Raises:
        HttpError: 400 if the field is missing or not text.
    """
    value = data.get(key)
    if value is None and default is not None:
        return default
    if not isinstance(value, str):
        raise HttpError(400, f"{key} is missing" if value is None else f"{key} is not text")
    return value


def as_int(data: Mapping[str, Any], key: str) -> int | None:
    """Return an integer field, or None if it is missing, null or empty.

    Raises:
        HttpError: 400 if the field is not an integer.
    """
    value = data.get(key)
    if value is None or value == "":
        return None
    try:
        if isinstance(value, bool) or not isinstance(value, (int, str)):
            raise ValueError
        number = int(value)
    except ValueError:
        raise HttpError(400, f"{key} is not a whole number") from None
    if abs(number) > 1_000_000:
        raise HttpError(400, f"{key} is out of range")
    return number


def as_bool(data: Mapping[str, Any], key: str) -> bool:
    """Return a boolean field; a missing field counts as false.

    Raises:
        HttpError: 400 if the field is not a boolean.
    """
    value = data.get(key)
    if isinstance(value, bool):
        return value
    text = "" if value is None else str(value).lower()
    if text in ("true", "1", "yes", "on"):
        return True
    if text in ("", "false", "0", "no", "off"):
        return False
    raise HttpError(400, f"{key} is neither true nor false")


def set_ack_timeout(request: web.Request) -> None:
    """Close a connection after `OFFLINE_AFTER_S` without acknowledgements, for instance when the network is
    lost.

    An account is online while its event stream is open. Without this limit, an account whose machine
    vanished would stay online for a quarter of an hour.
    """
    connection = request.get_extra_info("socket")
    if connection is not None and hasattr(socket, "TCP_USER_TIMEOUT"):
        connection.setsockopt(socket.IPPROTO_TCP, socket.TCP_USER_TIMEOUT, round(OFFLINE_AFTER_S * 1000))


async def send_stream(
    request: web.Request,
    stream: Stream,
    *,
    keep_alive_s: float,
) -> web.StreamResponse:
    """Send a stream's lines, with blank lines as keep-alives, until it ends or the client disconnects."""
    response = web.StreamResponse(headers=STREAM_HEADERS)
    time = asyncio.get_running_loop().time
    try:
        await response.prepare(request)
        written = time()
        while (lines := await stream.read(min(_DISCONNECT_POLL_INTERVAL_S, keep_alive_s))) is not None:
            if not lines and time() - written >= keep_alive_s * 0.9:
                lines = b"\n"
            if lines:
                async with asyncio.timeout(WRITE_TIMEOUT_S):
                    await response.write(lines)
                written = time()
            if request.transport is None or request.transport.is_closing():
                break
        async with asyncio.timeout(WRITE_TIMEOUT_S):
            await response.write_eof()
    except ConnectionError:
        pass  # the client has gone
    except TimeoutError:
        if request.transport is not None:
            request.transport.abort()
    return response
