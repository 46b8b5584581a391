"""HTTP routes of the site: accounts, exports, the lobby's lists, and the page itself."""

import asyncio
import json
from collections.abc import Awaitable, Callable, Collection
from dataclasses import dataclass
from functools import partial
from typing import Any

from aiohttp import web

from bot.arena import board_view as views
from bot.arena import export, wire
from bot.arena.accounts import NAME
from bot.arena.arena_services import ArenaServices
from bot.arena.fairness.move_codes import CODE_LIFETIME_S, MoveCodes
from bot.arena.fairness.names import imitated_name
from bot.arena.game import ReplayedGame
from bot.arena.http import GAME, NOT_PUBLIC, HttpError, as_int, as_text, fields, ok
from bot.arena.play.analysis import analyse, is_position_being_played
from bot.arena.referee import NotFound
from bot.arena.traffic.assets import assets
from bot.arena.traffic.budgets import COST_PER_PLY, spend
from bot.arena.traffic.cached_response import CachedResponse
from bot.arena.traffic.single_flight import SingleFlightCache
from storage.arena import accounts as arena
from storage.arena.accounts import AccountRecord, AccountTaken, ArenaAccess

_MAX_STATUS_IDS = 100
_MAX_TOKENS = 50  # all of them count as one request
_MAX_CACHE_BYTES = 16 * 1024 * 1024  # of answers that are costly to make
_MAX_CACHED_ANALYSES = 2000  # positions, of a kilobyte each
_REPORT_CACHE_TTL_S = 10.0  # how long a report is sent as it was made
_MAX_BOTS = 100
_HEALTH_CACHE_TTL_S = 5.0  # how long the database counts as writable after a test write

LoadReport = Callable[[str], Awaitable[dict[str, Any] | None]]
"""Loads the trap report of a finished game by the game's id; None: not ready yet.

Raises:
    NotFound: There is no record of the game, so there never will be a report.
"""


class _NotReady(Exception):
    """The report is not ready yet."""


@dataclass(frozen=True, slots=True)
class PlainGames:
    """The games in which our bot does not set traps on purpose."""

    share: float
    """Their share."""
    casual: bool
    """Whether that is the share of casual games, too, or of rated games only."""


class SiteRoutes:
    """Handlers for everyone, with or without an account."""

    def __init__(
        self,
        parts: ArenaServices,
        report: LoadReport | None,
        plain: PlainGames,
        no_takebacks: Collection[str],
        like_games: Collection[str],
    ) -> None:
        """
        Args:
            parts: The arena's parts.
            report: Loads trap reports; None if reports are not available.
            plain: The games in which our bot does not set traps on purpose.
            no_takebacks: Ids of our bots that never grant a takeback.
            like_games: The games that our bots that imitate people play.
        """
        self._parts = parts
        self._gate = parts.gate
        self._accounts = parts.accounts
        self._referee = parts.referee
        self._report = report
        self._plain = plain
        self._no_takebacks = no_takebacks
        self._likes = wire.LikeBots({f"like-{rating}": rating for rating in parts.config.like}, like_games)
        self._codes = MoveCodes(parts.clock)
        self._written = float("-inf")
        self._analyses: SingleFlightCache[CachedResponse] = SingleFlightCache(_MAX_CACHED_ANALYSES)
        self._answers: SingleFlightCache[CachedResponse] = SingleFlightCache(
            _MAX_CACHE_BYTES, lambda answer: answer.size
        )

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
            web.get(f"/api/arena/game/{GAME}/analysis", self.analysis),
            web.get("/healthz", self.health),
            web.get("/", assets().page),
            web.get("/static/{name:.*}", assets().file),
        ]

    # --- Accounts ---------------------------------------------------------------------------------------

    async def own_account(self, request: web.Request) -> web.Response:
        return web.json_response(wire.user(await self._gate.account(request), self._parts.base_url))

    async def one_account(self, request: web.Request) -> web.Response:
        account = await self._accounts.get(request.match_info["user"])
        if account is None:
            raise NotFound("There is no player with that name")
        return web.json_response(wire.user(account, self._parts.base_url))

    async def add_person(self, request: web.Request) -> web.Response:
        name = as_text(await fields(request), "name").strip()
        if not NAME.fullmatch(name):
            raise HttpError(400, "A name has 2 to 20 letters (a to z), digits, - or _")
        if whose := imitated_name(name, self._gate.embedded):
            if whose == name.lower():
                raise HttpError(409, f"The name {name} is reserved; choose another")
            raise HttpError(409, f"The name {name} looks like {whose}; choose another")
        address = self._gate.address(request)
        spend(self._gate.new_accounts, address)
        try:
            is_pending = self._parts.config.approve_accounts
            account, token = await self._accounts.add_person(name, is_pending=is_pending)
        except AccountTaken:
            self._gate.new_accounts.refund(address)
            raise HttpError(409, f"The name {name} is taken; choose another") from None
        return web.json_response({"id": account.id, "name": account.name, "token": token}, status=201)

    async def issue_code(self, request: web.Request) -> web.Response:
        account = await self._gate.account(request)
        if account.is_bot:
            raise HttpError(400, "This endpoint cannot be used with a Bot account")
        spend(self._gate.move_codes, account.id)
        return web.json_response({"code": self._codes.issue(account.id), "seconds": round(CODE_LIFETIME_S)})

    async def move_here(self, request: web.Request) -> web.Response:
        code = as_text(await fields(request), "code")
        spend(self._gate.move_codes, self._gate.address(request))
        account_id = self._codes.redeem(code)
        account = None if account_id is None else await self._accounts.get(account_id)
        if account is None or account.access is ArenaAccess.BANNED:
            raise HttpError(404, "This code is invalid or has expired: create a new one on the other device")
        token = await self._accounts.replace_token(account.id)
        self._referee.close_streams(account.id)
        return web.json_response({"id": account.id, "name": account.name, "token": token})

    async def upgrade(self, request: web.Request) -> web.Response:
        account = await self._gate.account(request)
        if account.is_bot:
            raise HttpError(400, "This account is already a bot")
        if not self._parts.config.open_bots:
            raise HttpError(403, "On this server only the owner creates bot accounts: ask for one")
        spend(self._gate.new_bots, self._gate.address(request))
        if not await self._accounts.upgrade(account):
            raise HttpError(400, "Only an account that has not played a game can become a bot")
        return ok()

    async def test_tokens(self, request: web.Request) -> web.Response:
        try:
            tokens = (await request.read()).decode().split(",")
        except UnicodeDecodeError:
            raise HttpError(400, "Send the tokens as text, separated by commas") from None
        if len(tokens) > _MAX_TOKENS:
            raise HttpError(400, f"At most {_MAX_TOKENS} tokens per request")
        accounts = await self._accounts.by_tokens(token for token in map(str.strip, tokens) if token)
        return web.json_response({token: _token_info(account) for token, account in accounts.items()})

    async def bots_online(self, request: web.Request) -> web.Response:
        wanted = as_int(request.query, "nb")
        limit = min(max(100 if wanted is None else wanted, 1), _MAX_BOTS)
        bots = [bot for bot, online in await self._bots() if online][:limit]
        lines = "".join(f"{json.dumps(wire.user(bot, self._parts.base_url))}\n" for bot in bots)
        return web.Response(text=lines, content_type="application/x-ndjson")

    async def users_status(self, request: web.Request) -> web.Response:
        ids = [each for each in request.query.get("ids", "").split(",") if each]
        if len(ids) > _MAX_STATUS_IDS:
            raise HttpError(400, f"At most {_MAX_STATUS_IDS} ids per request")
        accounts = await self._accounts.get_all(each.strip() for each in ids)
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
        """Our own bots, then other online bots (oldest connection first), and whether each is online."""
        online = self._referee.account_streams.keys()
        found = [await self._accounts.get(name) for name in dict.fromkeys((*self._gate.embedded, *online))]
        bots = [(bot, self._referee.is_online(bot.id)) for bot in found if bot is not None and bot.is_bot]
        return bots[:_MAX_BOTS]

    # --- Games ------------------------------------------------------------------------------------------

    async def export_game(self, request: web.Request) -> web.Response:
        is_json = "json" in request.headers.get("Accept", "")
        answer = await self._of_game(request, self._exported_json if is_json else self._exported_text)
        return answer.send(request)

    async def replay(self, request: web.Request) -> web.Response:
        answer = await self._of_game(
            request, lambda game: CachedResponse.of_json(views.replay_json(game)), COST_PER_PLY
        )
        return answer.send(request)

    async def _visible(self, request: web.Request) -> ReplayedGame:
        """Find the requested game; raise an error if the visitor may not see it.

        Raises:
            HttpError: Status 403: only the players may see the game, and the visitor is not one of them.
            NotFound: There is no such game.
        """
        game = await self._referee.find(request.match_info["game"])
        if not self._parts.config.public_games:
            you = await self._gate.optional_account(request)
            if you is None or game.side_of(you.id) is None:
                raise HttpError(403, NOT_PUBLIC)
        return game

    async def _of_game(
        self, request: web.Request, render: Callable[[ReplayedGame], CachedResponse], per_ply: float = 0.0
    ) -> CachedResponse:
        """Render a game that the visitor may see; the response is cached until the next move.

        Args:
            request: The request; its path contains the game's id.
            render: Renders the response.
            per_ply: Cost in points per ply of the game if the response is not cached.
        """
        game = await self._visible(request)
        key = (render.__name__, game.record, self._accounts.edition)
        if per_ply and self._answers.cached(key) is None:
            await self._gate.charge(request, per_ply * len(game.record.moves))
        return await self._answers.get(key, partial(self._answers.in_thread, render, game))

    def _exported_json(self, game: ReplayedGame) -> CachedResponse:
        return CachedResponse.of_json(export.export(game))

    def _exported_text(self, game: ReplayedGame) -> CachedResponse:
        text = export.export_text(game, self._parts.base_url)
        return CachedResponse.of(text.encode(), "application/x-chess-pgn; charset=utf-8")

    async def report(self, request: web.Request) -> web.StreamResponse:
        game = await self._visible(request)

        async def make() -> CachedResponse:
            if not game.is_over:
                raise HttpError(403, "The report is available when the game is over")
            if self._report is None:
                raise NotFound("There is no report on this game")
            report = await self._report(game.id)
            if report is None:
                raise _NotReady
            return await self._answers.in_thread(CachedResponse.of_json, report)

        # A deeper search may add to it for a while.
        key = ("report", game.id, self._referee.clock() // _REPORT_CACHE_TTL_S, self._accounts.edition)
        try:
            return (await self._answers.get(key, make)).send(request)
        except _NotReady:
            # No error: the page asks again until there is one, and browsers write errors into their console.
            return web.Response(status=204)

    async def analysis(self, request: web.Request) -> web.Response:
        game = await self._visible(request)
        if not game.is_over:
            raise HttpError(403, "This game is not over yet")
        ply = as_int(request.query, "ply")
        if ply is None or ply < 0:
            raise HttpError(400, "ply is missing: the number of moves after which to analyse")
        if ply > len(game.record.moves):
            raise HttpError(400, "This game has fewer moves")
        if await self._forbids_analysis(
            request, game.variant.game_name
        ):  # before all that is kept, as the next
            raise HttpError(
                403, "No analysis while you or someone at your address is playing a rated game of this kind"
            )
        if is_position_being_played(game, ply, self._referee.running()):
            raise HttpError(403, "A rated game is currently at this position; please try again later")

        async def make() -> CachedResponse:
            # In a thread of its own, one at a time: nothing else waits for it.
            return CachedResponse.of_json(await self._analyses.in_thread(analyse, game, ply))

        return (await self._analyses.get((game.id, ply), make)).send(request)

    async def _forbids_analysis(self, request: web.Request, game_name: str) -> bool:
        """Whether the caller or their address is playing a rated game of this kind.

        Analysis is refused during rated games, because mirrored or later positions would help a player.
        """
        you, address = await self._gate.optional_account(request), self._gate.address(request)
        return any(
            (you is not None and player.id == you.id) or self._gate.seen.was_at(player.id, address)
            for game in self._referee.running()
            if game.record.rated and game.variant.game_name == game_name
            for player in game.players
        )

    # --- The page ---------------------------------------------------------------------------------------

    async def lobby(self, request: web.Request) -> web.Response:
        you = await self._gate.optional_account(request)
        config = self._parts.config
        lobby = wire.lobby(await self._bots(), you, config.keep_alive_s, self._no_takebacks, self._likes)
        fields = {
            "plainShare": self._plain.share,
            "plainCasual": self._plain.casual,
            "firstMove": round(config.first_move_s),
            "public": config.public_games,
        }
        response = web.json_response(lobby | fields)
        response.enable_compression()  # it contains no secret
        return response

    async def health(self, _request: web.Request) -> web.Response:
        time = asyncio.get_running_loop().time()
        if time - self._written >= _HEALTH_CACHE_TTL_S:
            async with self._parts.database.write() as session:
                await arena.try_writing(session)
            self._written = time
        return web.json_response({"ok": True, "games": self._referee.open_count})


def _token_info(account: AccountRecord | None) -> dict[str, Any] | None:
    if account is None:
        return None
    scope = "bot:play" if account.is_bot else "board:play"
    return {"userId": account.id, "scopes": f"{scope},challenge:read,challenge:write", "expires": None}
