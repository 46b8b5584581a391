"""HTTP routes for the site: accounts, exports, the lobby's lists, and the page itself."""

import asyncio
from collections.abc import Awaitable, Callable
from pathlib import Path
from typing import Any

from aiohttp import web

from bot.arena import board_view as views
from bot.arena import export, wire
from bot.arena.accounts import NAME, Accounts
from bot.arena.fairness.move_codes import LIFETIME_S, MoveCodes
from bot.arena.fairness.names import imitated
from bot.arena.http import GAME, HttpError, RequestGate, as_int, as_text, count, fields, ok
from bot.arena.referee import NotFound, Referee
from bot.base.colours import colours_route
from bot.base.rate_limiter import RateLimiter
from storage import arena
from storage.arena import AccountRecord, AccountTaken, ArenaAccess
from storage.database import Database

STATIC = Path(__file__).parent / "static"
_MAX_IDS = 100
_MAX_TOKENS = 50  # all of them count as one request
_MAX_BOTS = 100
_HEALTH_S = 5.0  # how long the database counts as writable after a test write

LoadReport = Callable[[str], Awaitable[dict[str, Any] | None]]
"""The trap report of a finished game, by the game's id; None: there is none."""


class SiteRoutes:
    """Handlers for everybody, with or without an account."""

    def __init__(
        self,
        *,
        database: Database,
        door: RequestGate,
        accounts: Accounts,
        referee: Referee,
        report: LoadReport | None,
        base_url: Callable[[], str],
        keep_alive_s: float,
        needs_approval: bool = False,
        codes: MoveCodes,
        new_bots: RateLimiter | None = None,
    ) -> None:
        """
        Args:
            database: The arena's.
            door: Admits requests.
            accounts: The arena's accounts.
            referee: Its games.
            report: Loads trap reports; None: there are none.
            base_url: The arena's address for people.
            keep_alive_s: Seconds between the keep-alive lines of a stream.
            needs_approval: Whether the owner has to approve new accounts.
            codes: Take nicknames to other devices.
            new_bots: Limits by address how many accounts become bots; None: only the owner makes bots.
        """
        self._database = database
        self._door = door
        self._accounts = accounts
        self._referee = referee
        self._report = report
        self._base_url = base_url
        self._keep_alive_s = keep_alive_s
        self._needs_approval = needs_approval
        self._codes = codes
        self._new_bots = new_bots
        self._written = float("-inf")

    def table(self) -> list[web.AbstractRouteDef]:
        """All routes of this module."""
        return [
            web.get("/api/account", self.own_account),
            web.post("/api/bot/account/upgrade", self.upgrade),
            web.get("/api/bot/online", self.bots_online),
            web.post("/api/token/test", self.test_tokens),
            web.get("/api/users/status", self.users_status),
            web.get("/api/user/{user}", self.one_account),
            web.get(f"/game/export/{GAME}", self.export_game),
            web.post("/api/person", self.add_person),
            web.post("/api/person/code", self.issue_code),
            web.post("/api/person/move", self.move_here),
            web.get("/api/arena", self.lobby),
            web.get(f"/api/arena/game/{GAME}", self.replay),
            web.get(f"/api/arena/game/{GAME}/report", self.report),
            web.get("/healthz", self.health),
            web.get("/", self.page),
            web.get("/game/{game}", self.page),
            web.get("/@/{user}", self.page),
            colours_route("/static"),
            web.static("/static", STATIC),
        ]

    # --- Accounts ---------------------------------------------------------------------------------------

    async def own_account(self, request: web.Request) -> web.Response:
        return web.json_response(wire.user(await self._door.account(request), self._base_url()))

    async def one_account(self, request: web.Request) -> web.Response:
        account = await self._accounts.get(request.match_info["user"])
        if account is None:
            raise NotFound("There is no player with that name")
        return web.json_response(wire.user(account, self._base_url()))

    async def add_person(self, request: web.Request) -> web.Response:
        name = as_text(await fields(request), "name").strip()
        if not NAME.fullmatch(name):
            raise HttpError(400, "A name has 2 to 20 letters (a to z), digits, - or _")
        if whose := imitated(name, self._door.embedded):
            raise HttpError(409, f"The name {name} looks like {whose}; choose another")
        count(self._door.new_accounts, self._door.address(request))
        try:
            account, token = await self._accounts.add_person(name, is_pending=self._needs_approval)
        except AccountTaken:
            raise HttpError(409, f"The name {name} is taken; choose another") from None
        return web.json_response({"id": account.id, "name": account.name, "token": token}, status=201)

    async def issue_code(self, request: web.Request) -> web.Response:
        account = await self._door.account(request)
        if account.is_bot:
            raise HttpError(400, "This endpoint cannot be used with a Bot account")
        count(self._door.move_codes, account.id)
        return web.json_response({"code": self._codes.issue(account.id), "seconds": round(LIFETIME_S)})

    async def move_here(self, request: web.Request) -> web.Response:
        code = as_text(await fields(request), "code")
        count(self._door.move_codes, self._door.address(request))
        account_id = self._codes.redeem(code)
        account = None if account_id is None else await self._accounts.get(account_id)
        if account is None or account.access is ArenaAccess.BANNED:
            raise HttpError(404, "This code is not valid, or no longer: make a new one on the other device")
        token = await self._accounts.replace_token(account.id)
        self._referee.close_streams(account.id)
        return web.json_response({"id": account.id, "name": account.name, "token": token})

    async def upgrade(self, request: web.Request) -> web.Response:
        account = await self._door.account(request)
        if account.is_bot:
            raise HttpError(400, "This account is a bot already")
        if self._new_bots is None:
            raise HttpError(403, "The owner of this server makes the accounts of bots: ask for one")
        count(self._new_bots, self._door.address(request))
        if not await self._accounts.upgrade(account):
            raise HttpError(400, "Only an account that has not played a game can become a bot")
        return ok()

    async def test_tokens(self, request: web.Request) -> web.Response:
        try:
            tokens = (await request.read()).decode().split(",")
        except UnicodeDecodeError:
            raise HttpError(400, "Send tokens as text, separated by commas") from None
        if len(tokens) > _MAX_TOKENS:
            raise HttpError(400, f"At most {_MAX_TOKENS} tokens at once")
        found = await self._accounts.by_tokens(token for token in map(str.strip, tokens) if token)
        return web.json_response({token: _scopes(account) for token, account in found.items()})

    async def bots_online(self, request: web.Request) -> web.Response:
        wanted = as_int(request.query, "nb")
        limit = min(max(100 if wanted is None else wanted, 1), _MAX_BOTS)
        bots = [bot for bot, online in await self._bots() if online][:limit]
        base_url = self._base_url()
        lines = "".join(_json_line(wire.user(bot, base_url)) for bot in bots)
        return web.Response(text=lines, content_type="application/x-ndjson")

    async def users_status(self, request: web.Request) -> web.Response:
        ids = [each for each in request.query.get("ids", "").split(",") if each]
        if len(ids) > _MAX_IDS:
            raise HttpError(400, f"At most {_MAX_IDS} ids at once")
        accounts = [await self._accounts.get(each.strip()) for each in ids]
        return web.json_response(
            [
                wire.status(
                    each, self._referee.is_online(each.id), is_playing=bool(self._referee.games_of(each.id))
                )
                for each in accounts
                if each is not None
            ]
        )

    async def _bots(self) -> list[tuple[AccountRecord, bool]]:
        """Our own bots with whether each is online, then the others that are, those that came first first."""
        online = self._referee.account_streams.keys()
        found = [await self._accounts.get(name) for name in dict.fromkeys((*self._door.embedded, *online))]
        bots = [(bot, self._referee.is_online(bot.id)) for bot in found if bot is not None and bot.is_bot]
        return bots[:_MAX_BOTS]

    # --- Games ------------------------------------------------------------------------------------------

    async def export_game(self, request: web.Request) -> web.Response:
        match = await self._referee.find(request.match_info["game"])
        if "json" in request.headers.get("Accept", ""):
            return web.json_response(export.export(match))
        return web.Response(
            text=export.export_text(match, self._base_url()), content_type="application/x-chess-pgn"
        )

    async def replay(self, request: web.Request) -> web.Response:
        return web.json_response(views.replay_json(await self._referee.find(request.match_info["game"])))

    async def report(self, request: web.Request) -> web.Response:
        match = await self._referee.find(request.match_info["game"])
        if not match.is_over:
            raise HttpError(403, "The report is available when the game is over")
        report = None if self._report is None else await self._report(match.id)
        if report is None:
            raise NotFound("There is no report for this game, or none yet: analysing it takes a while")
        return web.json_response(report)

    # --- The page ---------------------------------------------------------------------------------------

    async def lobby(self, request: web.Request) -> web.Response:
        you = await self._door.visitor(request)
        return web.json_response(wire.lobby(await self._bots(), you, self._keep_alive_s))

    async def health(self, _request: web.Request) -> web.Response:
        time = asyncio.get_running_loop().time()
        if time - self._written >= _HEALTH_S:
            async with self._database.write() as session:
                await arena.try_writing(session)
            self._written = time
        return web.json_response({"ok": True, "games": self._referee.open_count})

    async def page(self, _request: web.Request) -> web.StreamResponse:
        return web.FileResponse(STATIC / "index.html", headers={"Cache-Control": "no-cache"})


def _scopes(account: AccountRecord | None) -> dict[str, Any] | None:
    if account is None:
        return None
    scope = "bot:play" if account.is_bot else "board:play"
    return {"userId": account.id, "scopes": f"{scope},challenge:read,challenge:write", "expires": None}


def _json_line(value: dict[str, Any]) -> str:
    return web.json_response(value).text + "\n"  # type: ignore[operator]
