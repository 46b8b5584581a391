"""HTTP routes of a person's own data: what was learned of them, and to have it forgotten."""

from aiohttp import web

from bot.arena.arena_services import ArenaServices
from bot.arena.http import HttpError
from bot.arena.wire import Json
from bot.text.person_data import forget_person_everywhere, load_person
from engine.errors import RecordError
from storage.ledger.persons import find_persons

_NOTHING: Json = {"forgotten_at": None, "games": []}


class PersonRoutes:
    """Handlers for people with an account; each sees only what was learned of them."""

    def __init__(self, parts: ArenaServices) -> None:
        self._parts = parts
        self._gate = parts.gate

    def table(self) -> list[web.AbstractRouteDef]:
        """All routes of this module."""
        return [
            web.get("/api/person/learned", self.learned),
            web.post("/api/person/forget", self.forget),
        ]

    async def learned(self, request: web.Request) -> web.Response:
        opponent_id = await self._opponent(request)
        if opponent_id is None:
            return web.json_response(_NOTHING)
        try:
            report = await load_person(self._parts.database, opponent_id)
        except RecordError:  # it is built again with the next game
            return web.json_response(_NOTHING)
        return web.json_response(report.to_json())

    async def forget(self, request: web.Request) -> web.Response:
        opponent_id = await self._opponent(request)
        if opponent_id is None:
            raise HttpError(404, "Nothing was learned about you yet: play a game first")
        await forget_person_everywhere(self._parts.database, opponent_id)
        return web.json_response({"ok": True})

    async def _opponent(self, request: web.Request) -> int | None:
        """Our database key of the visitor; None if none of our accounts has played them."""
        account = await self._gate.account(request)
        if account.is_bot:
            raise HttpError(403, "Nothing is learned about programs")
        async with self._parts.database.read() as session:
            found = await find_persons(session, self._parts.site, account.id)
        return next((each[0] for each in found if each[1] == account.id), None)
