"""Lichess API calls that the arena does not implement; each returns an error in lichess.org's format."""

from collections.abc import Mapping
from functools import partial

from aiohttp import web

from bot.arena.http import GAME, refusal

NO_CORRESPONDENCE = "This server has no correspondence games: send clock.limit and clock.increment"

_MISSING: Mapping[str, str] = {
    "/api/challenge/ai": "This server has no games against the AI: challenge a bot from GET /api/bot/online",
    "/api/challenge/open": "This server has no open challenges: use POST /api/challenge/{username}",
    f"/api/challenge/{GAME}/start-clocks": "This server starts the clocks itself once both sides have moved",
    f"/api/round/{GAME}/add-time/{{seconds}}": "Players on this server cannot give time",
    "/api/token/admin-challenge": "This server creates no tokens for others: use POST /api/person",
    "/api/board/seek": "This server has no seeks: challenge someone with POST /api/challenge/{username}",
}
"""Error messages, keyed by the call's path."""


def unsupported_calls() -> list[web.AbstractRouteDef]:
    """Routes of unsupported calls; register them before routes with a placeholder in the same position."""
    return [web.post(path, partial(_refuse, text)) for path, text in _MISSING.items()]


async def _refuse(text: str, _request: web.Request) -> web.Response:
    return refusal(400, text)
