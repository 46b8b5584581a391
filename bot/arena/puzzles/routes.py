"""HTTP routes of the trainer: next position, answer, hint, solution and skip."""

from aiohttp import web

from bot.arena.arena_services import ArenaServices
from bot.arena.http import HttpError, as_text, fields
from bot.arena.puzzles.trainer import ReplyTrainer
from bot.arena.traffic.assets import assets
from bot.arena.variants import VARIANTS
from storage.arena.accounts import ArenaAccess

GAMES = tuple(dict.fromkeys(variant.game_name for variant in VARIANTS.values()))


class PuzzleRoutes:
    """Handlers for all visitors; only the answers of people with an account are rated."""

    def __init__(self, parts: ArenaServices, trainer: ReplyTrainer) -> None:
        self._gate = parts.gate
        self._referee = parts.referee
        self._trainer = trainer

    def table(self) -> list[web.AbstractRouteDef]:
        """All routes of this module."""
        return [
            web.get("/train", assets().page),
            web.get("/api/train/next", self.next),
            web.post("/api/train/answer", self.answer),
            web.post("/api/train/hint", self.hint),
            web.post("/api/train/show", self.show),
            web.post("/api/train/skip", self.skip),
        ]

    async def next(self, request: web.Request) -> web.Response:
        account_id = await self._trainee(request)
        seen = [each for each in request.query.get("seen", "").split(",") if each]
        if game_id := request.query.get("from"):
            game = await self._referee.find(game_id)
            if not game.is_over:
                raise HttpError(403, "Puzzles are available when the game is over")
            return web.json_response(await self._trainer.of_game(account_id, game.id, seen))
        game_name = request.query.get("game", GAMES[0])
        if game_name not in GAMES:
            raise HttpError(400, f"There is no game {game_name!r:.40}; there are {', '.join(GAMES)}")
        return web.json_response(await self._trainer.next(account_id, game_name, seen))

    async def answer(self, request: web.Request) -> web.Response:
        body = await fields(request)
        account_id, position = await self._trainee(request), as_text(body, "position")
        return web.json_response(await self._trainer.answer(account_id, position, as_text(body, "reply")))

    async def hint(self, request: web.Request) -> web.Response:
        account_id, position = await self._trainee(request), as_text(await fields(request), "position")
        return web.json_response(await self._trainer.hint(account_id, position))

    async def show(self, request: web.Request) -> web.Response:
        account_id, position = await self._trainee(request), as_text(await fields(request), "position")
        return web.json_response(await self._trainer.answer(account_id, position, None))

    async def skip(self, request: web.Request) -> web.Response:
        account_id, position = await self._trainee(request), as_text(await fields(request), "position")
        return web.json_response(await self._trainer.skip(account_id, position))

    async def _trainee(self, request: web.Request) -> str | None:
        """The account id of the visitor, or None if the visitor's answers are not rated."""
        account = await self._gate.optional_account(request)
        if account is None or account.is_bot or account.access is not ArenaAccess.ACTIVE:
            return None
        return account.id
