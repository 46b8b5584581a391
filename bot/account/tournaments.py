"""The tournaments that the operator has joined with an account at a site."""

import asyncio
import logging
from collections.abc import Callable
from dataclasses import dataclass
from http import HTTPStatus

from bot.base.errors import AuthError, RefusedError, ServerError
from bot.base.events import Tournament
from bot.base.game_server import Server

logger = logging.getLogger(__name__)


@dataclass(frozen=True, slots=True)
class _JoinedTournament:
    password: str
    team: str


class Tournaments:
    """Joins and leaves tournaments, and stays out of them while new games are paused.

    Knows only tournaments joined since sign-in, because the site does not list earlier ones.

    Args:
        server: The site.
        lacks_engine: Returns whether a game needs an external engine that is not configured.
    """

    def __init__(self, server: Server, lacks_engine: Callable[[str], bool]) -> None:
        self._server = server
        self._lacks_engine = lacks_engine
        self._joined: dict[str, _JoinedTournament] = {}
        self._left: dict[str, _JoinedTournament] = {}
        """Tournaments that we left because of a pause and will rejoin after it."""
        self._following = asyncio.Lock()

    async def join(self, tournament_id: str, *, password: str, team: str, closed_reason: str) -> Tournament:
        """Join a tournament; raises the errors of `bot.account.lobby.Lobby.join_tournament`.

        Args:
            tournament_id: The site's id.
            password: See `bot.servers.Server.join_tournament`.
            team: See `bot.servers.Server.join_tournament`.
            closed_reason: Why no game may start now; empty if games may start.
        """
        tournament = await self._server.tournament(tournament_id)
        obstacle = self._join_refusal(tournament, closed_reason)
        if obstacle:
            raise RefusedError(f"{tournament.name}: {obstacle}", HTTPStatus.CONFLICT)
        await self._server.join_tournament(tournament_id, password=password, team=team)
        self._joined[tournament_id] = _JoinedTournament(password, team)
        return tournament

    def _join_refusal(self, tournament: Tournament, closed_reason: str) -> str:
        """Return why we refuse to join a tournament; empty if we may join."""
        if closed_reason:
            return f"no game may start: {closed_reason}"
        if tournament.is_over:
            return "the tournament is over"
        if tournament.game is None:
            return f"the bot does not play {tournament.variant}"
        if self._lacks_engine(tournament.game):
            return missing_engine_error(tournament.variant)
        return ""

    async def leave(self, tournament_id: str) -> None:
        """Leave or pause a tournament; raises the errors of `Server.leave_tournament`."""
        await self._server.leave_tournament(tournament_id)
        self._joined.pop(tournament_id, None)
        self._left.pop(tournament_id, None)

    async def follow(self, is_paused: Callable[[], bool]) -> None:
        """Leave all tournaments while `is_paused`; afterwards rejoin the tournaments still running.

        Raises:
            AuthError: The server no longer accepts the token.
        """
        async with self._following:  # a pause may end before we have left
            for key in list(self._joined if is_paused() else self._left):
                if is_paused():
                    await self._leave_for_pause(key)
                else:
                    await self._rejoin_after_pause(key)

    async def _leave_for_pause(self, key: str) -> None:
        try:
            await self._server.leave_tournament(key)
        except AuthError:
            raise
        except ServerError as error:
            logger.warning("cannot leave tournament %s for the pause: %s", key, error)
        else:
            if (joined := self._joined.pop(key, None)) is not None:
                self._left[key] = joined

    async def _rejoin_after_pause(self, key: str) -> None:
        joined = self._left.pop(key, None)
        if joined is None:
            return
        try:
            if (await self._server.tournament(key)).is_over:
                return
            await self._server.join_tournament(key, password=joined.password, team=joined.team)
        except AuthError:
            raise
        except ServerError as error:
            logger.warning("cannot rejoin tournament %s after the pause: %s", key, error)
        else:
            self._joined[key] = joined


def missing_engine_error(variant: str) -> str:
    """Error message for a variant that needs an external engine."""
    return f"{variant} needs an external engine (setting uci.engines)"
