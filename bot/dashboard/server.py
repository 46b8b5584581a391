"""The dashboard's server: routes, error handling, and the address it listens on.

Failures of the dashboard do not affect play: if it cannot listen, the bot continues and logs the reason once.
"""

import asyncio
import logging
import mimetypes
import time
from collections.abc import AsyncIterator, Awaitable, Callable, Sequence
from contextlib import asynccontextmanager, suppress
from functools import cache
from pathlib import Path
from typing import Any

from aiohttp import web

from bot.arena.connection_limiter import IDLE_CONNECTION_TIMEOUT_S, ConnectionLimiter, max_connections
from bot.arena.proxies import Proxies
from bot.arena.traffic.cached_response import CachedResponse
from bot.arena.traffic.cross_site import RESOURCE_POLICY
from bot.base.colours import COLOURS
from bot.base.config import DashboardConfig, read_dashboard_token
from bot.base.errors import DesdemonaError
from bot.base.malformed_rows import MalformedRows
from bot.charts.files import CHART_FILES
from bot.control.operator_services import OperatorServices
from bot.dashboard.access import LOGIN, STATIC, Access, AccessDenied, Handler, read_form, safe_redirect_path
from bot.dashboard.controls import ActionResult, Controls, delete_outcome_cookie, last_action_result
from bot.dashboard.live import LiveStream
from bot.dashboard.monitoring import monitoring_routes
from bot.dashboard.page_cache import PageCache, PageTimeout
from bot.dashboard.page_renderer import OutputFormat, PageRenderer, PageRequest, RequestContext
from bot.dashboard.page_workers import PageWorkers
from bot.dashboard.rendering import environment
from bot.parts.html import PARTS_STYLE
from bot.views.page import BadQuery, Download, Page, PageNotFound, Query
from engine.errors import RecordError
from storage.database import Database
from storage.errors import FilterError, StorageError, UnreadableRow, damage_text

logger = logging.getLogger(__name__)

STATIC_FOLDER = Path(__file__).parent / "static"
MAX_BODY_BYTES = 16 * 1024
MAX_URL_BYTES = 1 << 16
"""Maximum length of a request's URL, in bytes."""
MAX_CONNECTIONS = 1024
LOOPBACK = ("127.0.0.0/8", "::1/128")
"""Networks in which a single address may use all connections."""
LISTEN_RETRY_INTERVAL_S = 30.0
"""Seconds between two attempts to listen."""
SHUTDOWN_TIMEOUT_S = 2.0
_SQL_PAGE = ("/dash/ask", "/dash/api/ask", "/dash/api/ask.csv")
"""Paths of a page that existed in earlier releases and has been removed."""
_TYPES = {OutputFormat.HTML: "text/html", OutputFormat.JSON: "application/json", OutputFormat.CSV: "text/csv"}

SECURITY_HEADERS = {
    "Content-Security-Policy": (
        "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' data:; connect-src 'self'; "
        "base-uri 'none'; form-action 'self'; frame-ancestors 'none'"
    ),
    "X-Content-Type-Options": "nosniff",
    # Not "no-referrer": with it browsers send the origin "null" with a form, which the controls refuse.
    "Referrer-Policy": "same-origin",
    "Cross-Origin-Opener-Policy": "same-origin",
    RESOURCE_POLICY: "same-origin",
}


class Dashboard:
    """The server of the operator's pages.

    Args:
        config: The address to listen on, and access control.
        database: The data to show.
        pages: All pages, in the order of the menu.
        operator: The running program, for controls, alarms, metrics and health; None if there is none.
        clock: A monotonic clock, in seconds.
        sleep: Waits the given number of seconds.
        workers: Render the pages; closed at the end. If None, this process renders the pages.

    Raises:
        ConfigError: Other machines could reach the dashboard, but no token is set.
    """

    def __init__(
        self,
        config: DashboardConfig,
        database: Database,
        pages: Sequence[Page],
        operator: OperatorServices | None = None,
        clock: Callable[[], float] = time.monotonic,
        sleep: Callable[[float], Awaitable[None]] = asyncio.sleep,
        workers: PageWorkers | None = None,
    ) -> None:
        self.listening = asyncio.Event()
        """Set as soon as the server listens."""
        self._config = config
        self._sleep = sleep
        self._access = Access(config, read_dashboard_token(config), clock)
        self._database = database
        self._workers = workers
        self._listener: asyncio.Server | None = None
        self._cache = PageCache(database, clock)
        self._maker = PageRenderer(pages, environment(), self._cache)
        self._live = LiveStream(self._cache.version)
        if config.ask:
            logger.warning("dashboard.ask is ignored: run `desdemona sql` for questions in SQL")
        self._busy: set[web.RequestHandler] = set()
        """Connections with a request in progress."""
        self._pages = pages
        self._operator = operator
        controls = None if operator is None else Controls(operator.actions, self._render)
        self._app = web.Application(
            middlewares=[self._answer, self._access.guard, MalformedRows(database, clock).guard],
            client_max_size=MAX_BODY_BYTES,
        )
        self._app.add_routes(
            [
                web.get("/", _to_first_page),
                web.get("/dash/", _to_first_page),
                *monitoring_routes(operator),
                web.get(LOGIN, self._login_page),
                web.post(LOGIN, self._sign_in),
                web.post("/dash/logout", self._sign_out),
                web.get("/dash/stream", self._live.serve),
                *(web.get(page.path, self._handler(page, OutputFormat.HTML)) for page in pages),
                *(
                    web.get(f"/dash/api/{page.name}{_parts(page)}{ending}", self._handler(page, form))
                    for page in pages
                    for ending, form in ((".csv", OutputFormat.CSV), ("", OutputFormat.JSON))
                ),
                *(
                    web.get(f"{page.path}/download", self._download(page.download, page))
                    for page in pages
                    if page.download is not None
                ),
                *(web.get(path, _sql_page_gone) for path in _SQL_PAGE),
                *(controls.routes() if controls is not None else ()),
                web.get(f"{STATIC}{{name}}", _send_file),
            ]
        )
        self._app.on_response_prepare.append(_add_headers)

    @asynccontextmanager
    async def running(self) -> AsyncIterator[str]:
        """Listen while the block runs; yields the local address, or an empty string if listening failed."""
        runner = web.AppRunner(
            self._app,
            access_log=None,
            shutdown_timeout=SHUTDOWN_TIMEOUT_S,
            max_line_size=MAX_URL_BYTES,
            keepalive_timeout=IDLE_CONNECTION_TIMEOUT_S,
            auto_decompress=False,
        )
        await runner.setup()
        trying: asyncio.Task[None] | None = None
        try:
            address = ""
            try:
                address = await self._listen(runner)
            except (OSError, UnicodeError) as error:  # the latter: no name of a host
                logger.warning("the dashboard cannot listen at %s: %s", self._where, _reason(error))
                trying = asyncio.create_task(self._retry_listening(runner))
            yield address
        finally:
            if trying is not None:
                trying.cancel()
                await asyncio.gather(trying, return_exceptions=True)
            if self._listener is not None:
                self._listener.close()
            self._live.close()
            await self._cache.close()
            await runner.cleanup()
            if self._workers is not None:  # after the requests, which would fail
                await self._workers.close()

    @property
    def _where(self) -> str:
        return f"{self._config.host}:{self._config.port} (setting dashboard.port)"

    async def _listen(self, runner: web.AppRunner) -> str:
        assert runner.server is not None  # noqa: S101 - created by setup()
        most = min(MAX_CONNECTIONS, max_connections())
        # Silent clients must not use up the descriptors that the bot needs for its links and its database.
        connections = ConnectionLimiter(runner.server, self._busy, most, Proxies(LOOPBACK))
        loop = asyncio.get_running_loop()
        self._listener = await loop.create_server(connections, self._config.host, self._config.port)
        self.listening.set()
        host, port = self._listener.sockets[0].getsockname()[:2]
        return f"http://{f'[{host}]' if ':' in host else host}:{port}/dash"

    async def _retry_listening(self, runner: web.AppRunner) -> None:
        while True:
            await self._sleep(LISTEN_RETRY_INTERVAL_S)
            with suppress(OSError, UnicodeError):
                logger.info("the dashboard is at %s", await self._listen(runner))
                return

    # --- Pages ------------------------------------------------------------------------------------------

    def _handler(self, page: Page, form: OutputFormat) -> Handler:
        answer = self._maker.answer if self._workers is None else self._workers.answer

        async def handle(request: web.Request) -> web.Response:
            given = dict(request.query)
            wanted = given.pop("table", "")
            asked = PageRequest(
                page.name,
                page.query(given, request.match_info),
                form,
                dict(request.match_info),
                wanted,
                self._context(last_action_result(request) if form is OutputFormat.HTML else None),
                None if page.live is None else await page.live(),
            )
            rendered = await answer(asked)
            # Half a character of UTF-16 cannot be sent; in JSON it becomes an escape.
            body = rendered.text.encode(errors="backslashreplace" if form is OutputFormat.JSON else "replace")
            response = web.Response(body=body, content_type=_TYPES[form], charset="utf-8")
            if form is OutputFormat.HTML:
                delete_outcome_cookie(request, response)
            if form is OutputFormat.CSV:
                name = f"{page.name}-{rendered.table}.csv"
                response.headers["Content-Disposition"] = f'attachment; filename="{name}"'
            return _set_private_headers(response)

        return handle

    def _download(self, make: Callable[[Database, Query], Awaitable[Download]], page: Page) -> Handler:
        async def handle(request: web.Request) -> web.Response:
            download = await make(self._database, page.query(dict(request.query), request.match_info))
            response = web.Response(text=download.text, content_type=download.media_type, charset="utf-8")
            response.headers["Content-Disposition"] = f'attachment; filename="{download.name}"'
            return _set_private_headers(response)

        return handle

    def _render(self, template: str, **values: Any) -> str:
        return self._maker.render(template, self._context(), **values)

    def _context(self, said: ActionResult | None = None) -> RequestContext:
        alarms = () if self._operator is None else self._operator.unacknowledged_alarms
        return RequestContext(self._access.needs_token, alarms, said)

    # --- Signing in -------------------------------------------------------------------------------------

    async def _login_page(self, request: web.Request) -> web.Response:
        return self._render_login(request.query.get("next", ""))

    async def _sign_in(self, request: web.Request) -> web.Response:
        form = await read_form(request)
        after = safe_redirect_path(form.get("next", ""))
        response = web.Response(status=303, headers={"Location": after})
        try:
            self._access.sign_in(request, form.get("token", ""), response)
        except AccessDenied as error:
            logger.warning("dashboard: a login from %s was refused: %s", request.remote, error)
            return self._render_login(after, str(error), error.status)
        return response

    async def _sign_out(self, request: web.Request) -> web.Response:
        response = web.Response(status=303, headers={"Location": LOGIN})
        self._access.sign_out(request, response)
        return response

    def _render_login(self, after: str, error: str = "", status: int = 200) -> web.Response:
        text = self._render("login.html", after=safe_redirect_path(after), error=error)
        return web.Response(text=text, content_type="text/html", status=status)

    # --- Errors -----------------------------------------------------------------------------------------

    @web.middleware
    async def _answer(self, request: web.Request, handler: Handler) -> web.StreamResponse:
        """Middleware: answer every failure with a page, or a line of JSON, that gives the reason."""
        self._busy.add(request.protocol)
        try:
            return await handler(request)
        except AccessDenied as error:
            return self._render_failure(request, error.status, str(error))
        except (BadQuery, FilterError) as error:
            return self._render_failure(request, 400, str(error))
        except PageNotFound as error:
            return self._render_failure(request, 404, str(error))
        except PageTimeout as error:
            return self._render_failure(request, 503, str(error))
        except web.HTTPException as error:
            if error.status < 400:
                raise
            said = "There is no such page." if error.status == 404 else error.reason
            return self._render_failure(request, error.status, said)
        except (RecordError, UnreadableRow) as error:
            logger.error("dashboard: %s %s: %s", request.method, request.path, damage_text(error))
            return self._render_failure(request, 500, f"On this page {damage_text(error)}.")
        except (StorageError, DesdemonaError) as error:
            logger.error("dashboard: %s %s: %s", request.method, request.path, error)
            return self._render_failure(request, 503, str(error))
        except ConnectionError:
            raise
        except Exception:
            # The edge of a request: one that fails must not stop the bot.
            logger.exception("dashboard: %s %s failed", request.method, request.path)
            return self._render_failure(request, 500, "Something went wrong; see the log.")
        finally:
            self._busy.discard(request.protocol)

    def _render_failure(self, request: web.Request, status: int, message: str) -> web.Response:
        if request.path.startswith("/dash") and "/api/" not in request.path and request.method == "GET":
            text = self._render("failure.html", message=message, status=status)
            return web.Response(text=text, content_type="text/html", status=status)
        return web.json_response({"error": message}, status=status)


def _reason(error: Exception) -> str:
    return (isinstance(error, OSError) and error.strerror) or str(error)


def _set_private_headers(response: web.Response) -> web.Response:
    """Forbid shared caches to store the response, and make browsers revalidate it each time."""
    response.headers["Cache-Control"] = "private, no-cache"
    response.enable_compression()
    return response


def _parts(page: Page) -> str:
    """Return the variable parts of a page's path, such as ``/{game}``, for the routes to the page's data."""
    return "".join(f"/{part}" for part in page.path.split("/") if part.startswith("{"))


async def _sql_page_gone(_request: web.Request) -> web.Response:
    raise web.HTTPGone(reason="The page for questions in SQL no longer exists. Run `desdemona sql` instead.")


@cache
def _files() -> dict[str, CachedResponse]:
    """The pages' static files by name, read and compressed once."""
    paths = (*STATIC_FOLDER.iterdir(), COLOURS, *CHART_FILES, PARTS_STYLE)
    types = {path: mimetypes.guess_type(path.name)[0] or "application/octet-stream" for path in paths}
    return {path.name: CachedResponse.of(path.read_bytes(), kind) for path, kind in types.items()}


async def _send_file(request: web.Request) -> web.StreamResponse:
    file = _files().get(request.match_info["name"])
    if file is None:
        raise web.HTTPNotFound
    return file.send(request, "public, max-age=300")


async def _to_first_page(_request: web.Request) -> web.Response:
    raise web.HTTPSeeOther("/dash")


async def _add_headers(_request: web.Request, response: web.StreamResponse) -> None:
    response.headers.update(SECURITY_HEADERS)
