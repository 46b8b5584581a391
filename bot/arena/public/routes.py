"""HTTP routes of the public pages: games to watch and replay, players, rankings."""

import asyncio
import re
from collections.abc import Callable, Sequence
from contextlib import suppress
from datetime import datetime
from functools import cache, partial
from typing import Any

from aiohttp import web

from bot.arena.arena_services import ArenaServices
from bot.arena.fairness.names import LIKE_PREFIX
from bot.arena.game import ReplayedGame
from bot.arena.glicko import MIN_PROVISIONAL_DEVIATION
from bot.arena.http import (
    GAME,
    ID,
    NOT_PUBLIC,
    STREAM_HEADERS,
    HttpError,
    send_stream,
    set_ack_timeout,
)
from bot.arena.public.downloads import ENDINGS, as_file, formats_of
from bot.arena.public.people import (
    GAMES_PER_PAGE,
    MAX_DEVIATION,
    MAX_OTHERS,
    MAX_RANKED,
    GamePage,
    LeadersView,
    PlayerView,
    leader,
    trap_trends,
    variant_ratings,
)
from bot.arena.public.preview import preview
from bot.arena.public.rendering import game_page, render
from bot.arena.public.spectator_streams import SpectatorStreams
from bot.arena.public.spectator_view import spectator_view
from bot.arena.referee import NotFound
from bot.arena.streams import Stream, line_of
from bot.arena.traffic.assets import assets
from bot.arena.traffic.budgets import COST_PER_PLY
from bot.arena.traffic.cached_response import CachedResponse
from bot.arena.traffic.cross_site import RESOURCE_POLICY
from bot.arena.traffic.single_flight import SingleFlightCache
from bot.arena.variants import VARIANTS, ArenaVariant
from storage.arena.accounts import AccountRecord, ArenaAccess
from storage.evidence.queries.arena_people import (
    ArenaGameLine,
    arena_ratings,
    best_rated,
    list_arena_games,
    replies_to_us,
)
from storage.evidence.replies import ReplyTable
from storage.evidence.statistics.reply_progress import progress

_MAX_CACHE_BYTES = 16 * 1024 * 1024
_PAGE_CACHE_TTL_S = 10.0  # how long a page of a player, or of the best ones, is sent as it was made
_CACHE_FOR_A_DAY = "public, max-age=86400"  # what a new version of the program may draw differently
_HTML = "text/html; charset=utf-8"
_IS_ID = re.compile(ID)
_FORMATS = {ending: form for form, ending in ENDINGS.items()}


class PublicRoutes:
    """Handlers for visitors without an account."""

    def __init__(self, parts: ArenaServices) -> None:
        self._parts = parts
        self._gate = parts.gate
        self._accounts = parts.accounts
        self._referee = parts.referee
        self._is_public = parts.config.public_games
        self.spectators = SpectatorStreams(self._spectator_view)
        self._answers: SingleFlightCache[CachedResponse] = SingleFlightCache(
            _MAX_CACHE_BYTES, lambda answer: answer.size
        )

    def table(self) -> list[web.AbstractRouteDef]:
        """All routes of this module."""
        return [
            web.get("/game/{game}", self.game),
            web.get(f"/game/{GAME}/preview.png", self.preview),
            web.get(f"/game/{GAME}/{{form:pgn|ggf|txt}}", self.download),
            web.get("/preview/{variant}", self.start_preview),
            web.get("/@/{user}", self.player),
            web.get("/leaders", self.leaders),
            web.get("/history", assets().page),
            web.get(f"/api/arena/game/{GAME}/watch", self.watch, allow_head=False),
            web.get("/api/arena/games", self.own_games),
            web.get("/api/arena/user/{user}/games", self.games_of),
            web.get("/api/arena/leaders", self.leaders_json),
            # The last of all routes: whatever else somebody types.
            web.get("/{path:(?!api/|static/|bot/).*}", self.missing),
        ]

    # --- One game ---------------------------------------------------------------------------------------

    async def game(self, request: web.Request) -> web.StreamResponse:
        game = None
        if self._is_public and _IS_ID.fullmatch(request.match_info["game"]):
            with suppress(NotFound):  # the page says so, too; or it is a challenge that waits
                game = await self._referee.find(request.match_info["game"])
        if game is None:
            response = await assets().page(request)
            if self._is_public and response.status == 200:
                response.set_status(404)
            return response
        key = ("page", game.record.status, game.id, self._accounts.edition)
        make = partial(self._answers.in_thread, _page_answer, game, self._parts.base_url)
        return (await self._answers.get(key, make)).send(request)

    async def preview(self, request: web.Request) -> web.StreamResponse:
        game = await self._finished(request)
        make = partial(self._answers.in_thread, _drawn, game.variant, game.position, game.last_squares)
        answer = await self._answers.get(("preview", game.id), make)
        return _embeddable(answer.send(request, _CACHE_FOR_A_DAY))

    async def start_preview(self, request: web.Request) -> web.StreamResponse:
        variant = VARIANTS.get(request.match_info["variant"])
        if variant is None:
            raise web.HTTPNotFound
        make = partial(self._answers.in_thread, _drawn, variant, variant.start(None))
        answer = await self._answers.get(("start", variant.key), make)
        return _embeddable(answer.send(request, _CACHE_FOR_A_DAY))

    async def download(self, request: web.Request) -> web.StreamResponse:
        game = await self._finished(request)
        ending = request.match_info["form"]
        form = _FORMATS[ending]
        if form not in formats_of(game):
            raise NotFound(f"A game of {game.variant.rules.title} has no {form.value.upper()} here")
        await self._gate.charge(request, COST_PER_PLY * len(game.record.moves))
        response = web.Response(text=await self._answers.in_thread(as_file, game, form, self._parts.base_url))
        response.headers["Content-Disposition"] = f'attachment; filename="desdemona-{game.id}.{ending}"'
        return response

    async def watch(self, request: web.Request) -> web.StreamResponse:
        """Stream a running game; send a finished game once."""
        self._require_public()
        game = await self._referee.find(request.match_info["game"])
        if game.is_over:
            return web.Response(body=line_of(self._spectator_view(game)), headers=STREAM_HEADERS)
        set_ack_timeout(request)
        stream = Stream(backlog=1)
        leave = self._gate.open_stream(request, None, stream, "watch")
        try:
            self.spectators.join(game, stream)
            return await send_stream(request, stream, keep_alive_s=self._parts.config.keep_alive_s)
        finally:
            self.spectators.remove(game.id, stream)
            leave()

    def _spectator_view(self, game: ReplayedGame) -> dict[str, Any]:
        return spectator_view(
            game,
            self._referee.clock(),
            self._parts.config.first_move_s,
            self._parts.config.keep_alive_s,
            files=[ENDINGS[form] for form in formats_of(game)],
            are_clocks_stopped=self._parts.time.are_clocks_stopped,
        )

    def _require_public(self) -> None:
        if not self._is_public:
            raise HttpError(403, NOT_PUBLIC)

    async def _finished(self, request: web.Request) -> ReplayedGame:
        self._require_public()
        game = await self._referee.find(request.match_info["game"])
        if not game.is_over:
            raise HttpError(403, "This is available when the game is over")
        return game

    # --- Players ----------------------------------------------------------------------------------------

    async def player(self, request: web.Request) -> web.StreamResponse:
        account = await self._account(request)
        if account is None:
            return _missing(is_player=True)
        before = _before(request)
        key = ("player", account.id, before, self._span(), self._accounts.edition)

        async def make() -> CachedResponse:
            points: dict[str, list[tuple[datetime, int]]] = {}
            lines: list[ArenaGameLine] = []
            replies: ReplyTable | None = None
            async with self._parts.database.read() as session:
                if self._is_public:
                    lines = await list_arena_games(session, account.id, GAMES_PER_PAGE + 1, before)
                if not before:  # later pages have the list alone
                    points = await arena_ratings(session, account.id)
                if not before and self._is_public:
                    replies = await replies_to_us(session, self._parts.site, account.id)
            online = self._referee.is_online(account.id)
            running = self._referee.games_of(account.id) if self._is_public else []

            def drawn() -> CachedResponse:
                is_ours = account.id in self._gate.embedded
                view = PlayerView(
                    account=account,
                    ratings=variant_ratings(account, points),
                    traps=trap_trends(() if replies is None else progress(replies)),
                    page=GamePage.of(account.id, lines, GAMES_PER_PAGE) if self._is_public else None,
                    is_first=not before,
                    is_ours=is_ours,
                    sets_traps=is_ours and not account.name.startswith(LIKE_PREFIX),
                    is_online=online,
                    games_on=tuple(game.id for game in running),
                )
                page = render("player.html", view=view, base_url=self._parts.base_url)
                return CachedResponse.of(page, _HTML)

            return await self._answers.in_thread(drawn)

        return (await self._answers.get(key, make)).send(request)

    async def missing(self, _request: web.Request) -> web.Response:
        return _missing(is_player=False)

    async def _account(self, request: web.Request) -> AccountRecord | None:
        account = await self._accounts.get(request.match_info["user"])
        if account is None or account.access in (ArenaAccess.BANNED, ArenaAccess.DELETED):
            return None
        return account

    def _span(self) -> float:
        return asyncio.get_running_loop().time() // _PAGE_CACHE_TTL_S

    async def own_games(self, request: web.Request) -> web.StreamResponse:
        account = await self._gate.account(request)
        return web.json_response((await self._page(request, account)).to_json())

    async def games_of(self, request: web.Request) -> web.StreamResponse:
        self._require_public()
        account = await self._account(request)
        if account is None:
            raise NotFound("There is no player with that name")
        return web.json_response((await self._page(request, account)).to_json())

    async def _page(self, request: web.Request, account: AccountRecord) -> GamePage:
        before = _before(request)
        async with self._parts.database.read() as session:
            lines = await list_arena_games(session, account.id, GAMES_PER_PAGE + 1, before)
        return GamePage.of(account.id, lines, GAMES_PER_PAGE)

    # --- The best ---------------------------------------------------------------------------------------

    async def leaders(self, request: web.Request) -> web.StreamResponse:
        def html(view: LeadersView) -> CachedResponse:
            return CachedResponse.of(render("leaders.html", view=view), _HTML)

        return await self._leaders(request, html)

    async def leaders_json(self, request: web.Request) -> web.StreamResponse:
        def plain(view: LeadersView) -> CachedResponse:
            return CachedResponse.of_json(view.to_json())

        return await self._leaders(request, plain)

    async def _leaders(
        self, request: web.Request, form: Callable[[LeadersView], CachedResponse]
    ) -> web.StreamResponse:
        wanted = request.query.get("variant") or next(iter(VARIANTS))
        variant = next((each for each in LeadersView.variants if each.key == wanted), None)
        if variant is None:
            known = ", ".join(each.key for each in LeadersView.variants)
            raise HttpError(400, f"variant is {wanted!a:.40}; there are lists for {known}")

        async def make() -> CachedResponse:
            spans = ((-1.0, MIN_PROVISIONAL_DEVIATION), (MIN_PROVISIONAL_DEVIATION, MAX_DEVIATION))
            async with self._parts.database.read() as session:
                ranked = await best_rated(session, variant.key, MAX_RANKED, spans[0])
                others = await best_rated(session, variant.key, MAX_OTHERS, spans[1])
            lists = (tuple(leader(each, self._gate.embedded) for each in part) for part in (ranked, others))
            view = LeadersView(variant, *lists)
            return await self._answers.in_thread(form, view)

        key = ("leaders", form.__name__, variant.key, self._span(), self._accounts.edition)
        return (await self._answers.get(key, make)).send(request)


def _missing(*, is_player: bool) -> web.Response:
    return web.Response(body=_missing_body(is_player), status=404, headers={"Content-Type": _HTML})


@cache
def _missing_body(is_player: bool) -> bytes:
    return render("missing.html", is_player=is_player)


def _before(request: web.Request) -> str:
    """Return the id of the game just before the requested page of a list; empty for the first page."""
    wanted = request.query.get("before", "")
    return wanted if _IS_ID.fullmatch(wanted) else ""


def _page_answer(game: ReplayedGame, base_url: str) -> CachedResponse:
    return CachedResponse.of(game_page(game, base_url), _HTML)


def _embeddable(picture: web.Response) -> web.Response:
    """Let pages of other sites show a picture."""
    picture.headers[RESOURCE_POLICY] = "cross-origin"
    return picture


def _drawn(variant: ArenaVariant, position: Any, last_squares: Sequence[str] = ()) -> CachedResponse:
    rows = variant.rules.board_rows(position)
    return CachedResponse.of(preview(variant.game_name, rows, last_squares), "image/png")
