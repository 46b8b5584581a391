"""Talking to a server of the Lichess family: two kinds of streams, and one request at a time.

Streams and what is urgent in a game (moves, chat, ...) go through aiohttp, the rest through berserk
(`bot.servers.lichess_calls`).
"""

import asyncio
import logging
import re
from collections.abc import AsyncGenerator, Callable, Mapping
from contextlib import aclosing
from importlib.metadata import version
from typing import Any, TypeVar
from urllib.parse import quote, urlsplit

import aiohttp
import berserk

from bot.errors import AuthError, ConfigError, ProtocolError, RefusedError, ServerError, TransientError
from bot.events import CHAT_LIMIT, AccountEvent, Bot, DeclineReason, GameEvent, Proposal, Reply, Room
from bot.servers import Ability, Account
from bot.servers.dialects import Dialect
from bot.servers.lichess_calls import Calls, read_answer
from bot.servers.lichess_errors import ERROR_BODY_LIMIT, one_line, read_error
from bot.servers.lichess_wire import (
    GameReader,
    read_account,
    read_account_event,
    read_line,
    read_playing,
    read_rating_diff,
)

logger = logging.getLogger(__name__)

T = TypeVar("T")

CALL_TIMEOUT_S = 10.0
"""For any single request; a move that takes longer is better asked about than waited for."""
KEEP_ALIVE_SLACK_S = 5.0
"""A stream is dead after the site's keep-alive time and this."""
_MAX_PLAYING = 50
"""Most games that ``/api/account/playing`` tells; its own default is 9."""
_LINE_LIMIT = 1 << 20
"""A longer line of a stream is taken for garbage, in bytes."""


class LichessServer:
    """A `bot.servers.Server` over HTTP; make it inside a running event loop.

    Args:
        dialect: Which site.
        url: Its origin, for instance ``http://127.0.0.1:8765``.
        token: Of the bot's account.  Never shown in an error or log.
        call_timeout_s: Deadline of each request, in seconds.
        slack_s: How much later than promised a keep-alive may be, in seconds.

    Raises:
        ConfigError: The address is no origin, or the token cannot be one.
    """

    def __init__(
        self,
        dialect: Dialect,
        url: str,
        token: str,
        *,
        call_timeout_s: float = CALL_TIMEOUT_S,
        slack_s: float = KEEP_ALIVE_SLACK_S,
    ) -> None:
        if not _is_origin(url):
            raise ConfigError(f"server.url: {url!r} is not of the form https://host[:port]")
        # The HTTP libraries would put a broken header into their error messages, token and all.
        if not re.fullmatch(r"[!-~]+", token):
            raise ConfigError("server.token: a token is one word of plain characters")
        self._dialect = dialect
        self._url = url.rstrip("/")
        self._token = token
        self._call_timeout_s = call_timeout_s
        self._silence_s = dialect.keep_alive_s + slack_s
        self._account: Account | None = None
        user_agent = f"desdemona/{version('desdemona')}"
        self._http = aiohttp.ClientSession(
            headers={"Authorization": f"Bearer {token}", "User-Agent": user_agent},
            # Streams hold connections for hours: a limit would let them starve the moves.
            connector=aiohttp.TCPConnector(limit=0),
        )
        self._calls = Calls(self._http, self._url, token, user_agent, call_timeout_s)

    @property
    def site(self) -> str:
        return self._dialect.name

    async def close(self) -> None:
        self._calls.close()
        await self._http.close()

    # --- One-shot calls, by berserk ---------------------------------------------------------------------

    async def account(self) -> Account:
        try:
            self._account = await self._calls.ask(
                "GET /api/account", lambda api: read_account(api.account.get())
            )
        except RefusedError as error:
            if error.status == 403:
                raise AuthError(str(error)) from error
            raise
        return self._account

    async def playing(self) -> list[str]:
        return await self._ask(
            "GET /api/account/playing", lambda api: read_playing(api.games.get_ongoing(_MAX_PLAYING))
        )

    async def accept(self, challenge_id: str) -> None:
        await self._ask(
            f"accept challenge {challenge_id}", lambda api: api.challenges.accept(_quote(challenge_id))
        )

    async def decline(self, challenge_id: str, reason: DeclineReason) -> None:
        await self._ask(
            f"decline challenge {challenge_id}",
            lambda api: api.challenges.decline(_quote(challenge_id), reason.value),
        )

    async def export(self, game_id: str) -> dict[str, Any]:
        def ask(api: berserk.Client) -> dict[str, Any]:
            record = api.games.export(_quote(game_id), as_pgn=False)
            if not isinstance(record, dict):
                raise ProtocolError(f"export of game {game_id}: not a JSON object", record)
            return record

        return await self._ask(f"export game {game_id}", ask)

    async def rating_diff(self, game_id: str, name: str) -> int | None:
        return read_rating_diff(await self.export(game_id), name)

    async def _ask(self, what: str, call: Callable[[berserk.Client], T]) -> T:
        try:
            return await self._calls.ask(what, call)
        except AuthError as error:
            raise await self._second_opinion(error) from error

    async def _second_opinion(self, error: ServerError) -> ServerError:
        """What an error means: an `AuthError` would end every game, so only the account itself can say it."""
        if not isinstance(error, AuthError):
            return error
        try:
            await self.account()
        except AuthError as confirmed:
            return confirmed
        except ServerError as unclear:
            return TransientError(f"{error}; then {unclear}")
        return TransientError(f"{error}; yet the account is accepted")

    # --- Actions in a game, by aiohttp ------------------------------------------------------------------

    @property
    def lag_s(self) -> float:
        return 0.0

    def can(self, ability: Ability) -> bool:
        return ability in Ability

    async def move(self, game_id: str, move: str, *, offer_draw: bool = False) -> None:
        await self._post(game_id, f"move/{_quote(move)}" + ("?offeringDraw=true" if offer_draw else ""))

    async def chat(self, game_id: str, text: str, room: Room = Room.PLAYER) -> None:
        await self._post(game_id, "chat", {"room": room.value, "text": text[:CHAT_LIMIT]})

    async def answer_draw(self, game_id: str, accept: bool) -> None:
        await self._post(game_id, f"draw/{'yes' if accept else 'no'}")

    async def answer_takeback(self, game_id: str, accept: bool) -> None:
        await self._post(game_id, f"takeback/{'yes' if accept else 'no'}")

    async def abort(self, game_id: str) -> None:
        await self._post(game_id, "abort")

    async def resign(self, game_id: str) -> None:
        await self._post(game_id, "resign")

    async def claim_victory(self, game_id: str) -> None:
        await self._post(game_id, "claim-victory")

    async def claim_draw(self, game_id: str) -> None:
        await self._post(game_id, "claim-draw")

    async def challenge(self, opponent_id: str, proposal: Proposal) -> Reply:
        raise NotImplementedError

    async def online_bots(self) -> list[Bot]:
        raise NotImplementedError

    async def upgrade(self) -> None:
        raise NotImplementedError

    async def _post(self, game_id: str, action: str, form: Mapping[str, str] | None = None) -> None:
        path = f"/api/bot/game/{_quote(game_id)}/{action}"
        timeout = aiohttp.ClientTimeout(total=self._call_timeout_s)
        try:
            async with self._http.post(
                self._url + path, data=form, timeout=timeout, allow_redirects=False
            ) as response:
                if response.status >= 300:
                    body = await _error_body(response)
                    error = read_error(response.status, response.headers, body, f"POST {path}", self._token)
                    raise await self._second_opinion(error)
                # Only a whole answer says that the server is done.
                await read_answer(response)
        except TimeoutError:
            raise TransientError(f"POST {path}: no answer in {self._call_timeout_s:g} s") from None
        except (aiohttp.ClientError, OSError) as lost:
            raise TransientError(f"POST {path}: {one_line(lost)}") from lost

    # --- Streams, by aiohttp ----------------------------------------------------------------------------

    async def account_events(self) -> AsyncGenerator[AccountEvent | None, None]:
        account = self._account or await self.account()
        path = "/api/stream/event"
        async with aclosing(self._lines(path)) as lines:
            async for line in lines:
                try:
                    message = read_line(line)
                    event = None
                    if message is not None:
                        event = read_account_event(message, self._dialect, account.id)
                except ProtocolError as error:
                    # One broken challenge must not hide the others.  Opening the stream anew would not help:
                    # the server would tell the same again.
                    logger.warning("%s: skipped a message: %s: %.500r", self.site, error, error.raw)
                    continue
                yield event

    async def game_events(self, game_id: str) -> AsyncGenerator[GameEvent | None, None]:
        account = self._account or await self.account()
        reader = GameReader(self._dialect, account.id)
        async with aclosing(self._lines(f"/api/bot/game/stream/{_quote(game_id)}")) as lines:
            async for line in lines:
                try:
                    message = read_line(line)
                    event = None if message is None else reader.read(message)
                except ProtocolError as error:
                    if not reader.started:
                        raise
                    # The next stream begins with the whole story, so nothing is lost with this message.
                    raise TransientError(f"game {game_id}: cannot read a message: {error}") from error
                yield event

    async def _lines(self, path: str) -> AsyncGenerator[bytes, None]:
        """Lines of a stream, an empty one as soon as it is open; ends when the server ends it.

        A last line without an end is cut off, so it is not given.
        """
        what = f"GET {path}"
        timeout = aiohttp.ClientTimeout(total=None, connect=self._call_timeout_s, sock_read=self._silence_s)
        headers = {"Accept": "application/x-ndjson"}
        try:
            async with self._http.get(
                self._url + path, headers=headers, timeout=timeout, allow_redirects=False
            ) as response:
                if response.status >= 300:
                    body = await _error_body(response)
                    error = read_error(response.status, response.headers, body, what, self._token)
                    raise await self._second_opinion(error)
                yield b""
                rest = b""
                async for chunk in response.content.iter_any():
                    *lines, rest = (rest + chunk).split(b"\n")
                    for line in lines:
                        yield line
                    if len(rest) > _LINE_LIMIT:
                        raise TransientError(f"{what}: a line of more than {_LINE_LIMIT} bytes")
        except aiohttp.ConnectionTimeoutError:
            raise TransientError(f"{what}: no connection in {self._call_timeout_s:g} s") from None
        except TimeoutError:
            raise TransientError(f"{what}: silent for {self._silence_s:g} s") from None
        except (aiohttp.ClientError, OSError) as lost:
            raise TransientError(f"{what}: {one_line(lost)}") from lost


async def _error_body(response: aiohttp.ClientResponse) -> str:
    try:
        body = await response.content.readexactly(ERROR_BODY_LIMIT)
    except asyncio.IncompleteReadError as error:
        body = error.partial
    return body.decode(errors="replace")


def _is_origin(url: str) -> bool:
    """No path either: berserk would drop it."""
    try:
        parts = urlsplit(url)
        return (
            parts.scheme in ("http", "https")
            and parts.port != 0
            and bool(parts.hostname)
            and (parts.path.strip("/") + parts.query + parts.fragment == "")
        )
    except ValueError:  # a port that is no number
        return False


def _quote(part: str) -> str:
    return quote(part, safe="")
