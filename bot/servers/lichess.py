"""The Lichess adapter's I/O: two kinds of streams, and actions.

Streams and requests that change something (moves, answers, chat etc.) use aiohttp; read-only requests use
berserk (`bot.servers.lichess_calls`).
"""

import asyncio
import logging
import math
import re
import time
from collections.abc import AsyncGenerator, Callable, Mapping, Sequence
from contextlib import AsyncExitStack, aclosing, nullcontext, suppress
from datetime import datetime
from functools import partial
from typing import Any, TypeVar
from urllib.parse import quote, urlsplit

import aiohttp
import berserk

from bot.base.config import ChallengesConfig
from bot.base.dialects import Capability, Dialect
from bot.base.errors import (
    AuthError,
    ConfigError,
    NotTried,
    ProtocolError,
    RefusedError,
    ServerError,
    TransientError,
)
from bot.base.events import (
    MAX_CHAT_LENGTH,
    AccountEvent,
    Bot,
    DeclineReason,
    GameEvent,
    ListedGame,
    MoveInfo,
    Proposal,
    Reply,
    Room,
    Tournament,
)
from bot.base.game_server import Account, Check, is_game_running
from bot.base.network.failures import describe_failure, page_text
from bot.base.network.http_session import open_session, proxy_of
from bot.base.notation import MoveCodec
from bot.base.rate_limiter import Rate, RateLimiter
from bot.servers.lag import Lag
from bot.servers.lichess_calls import Calls, Lane, RequestThrottle, read_answer
from bot.servers.lichess_errors import MAX_ERROR_BYTES, TooManyRequests, read_beginning, read_error
from bot.servers.lichess_wire import (
    ChallengeMade,
    GameReader,
    is_ok,
    read_account,
    read_account_event,
    read_challenge_answer,
    read_line,
    read_listed_game,
    read_online_bot,
    read_playing,
    read_rating_diff,
    read_token_info,
    read_tournament,
    split_scopes,
)
from bot.servers.pychess import PychessGame
from engine import VERSION

logger = logging.getLogger(__name__)

T = TypeVar("T")

CALL_TIMEOUT_S = 10.0
"""Timeout of one request in seconds; after a timeout, we check whether the move arrived."""
CHAT_TIMEOUT_S = 4.0
"""Timeout for sending a chat message, in seconds; short, because messages queued behind it wait."""
CONNECT_TIMEOUT_S = 5.0
"""Timeout for connecting a stream, in seconds; short, because trying again is better than waiting."""
KEEP_ALIVE_SLACK_S = 5.0
"""A stream is considered dead this many seconds after a missed keep-alive."""
MOVE_RETRY_WAIT_S = 2.0
"""Wait in seconds before resending a move after a 429; short, because the clock is running."""
FULL_STATE_TIMEOUT_S = 30.0
"""Timeout in seconds for the full game state that begins every game stream."""
_MAX_LISTED_GAMES = 50
"""Number of games requested from ``/api/account/playing``; the site's default is 9."""
_MAX_FINISHED_GAMES = 1000
"""Number of games requested from ``/api/games/user``, the latest ones."""
_MAX_BOTS = 150
"""Number of programs requested from ``/api/bot/online``; the site's default is 100."""
ONLINE_TIMEOUT_S = 30.0
"""Timeout for the list of programs, in seconds; sites send this list slowly."""
PLAY_SCOPE = "bot:play"
"""Token scope needed to play."""
CHALLENGE_SCOPE = "challenge:write"
"""Token scope needed to challenge others."""
TOURNAMENT_SCOPE = "tournament:write"
"""Token scope needed to join tournaments."""
STREAM_OPENING_RATE = Rate("stream", burst=9, per_s=1 / 30)
"""Rate limit for opening the account's stream; lichess.org allows 30 in 10 minutes."""
_MAX_LINE_BYTES = 1 << 20
"""Maximum length of a line in a stream, in bytes; a longer line is an error."""
_LINES_PER_TURN = 8
"""Number of stream lines to read before letting other tasks run."""
_STATES = frozenset({"gameFull", "gameState"})
"""Types of messages that contain the state of a game."""


class RefusalCounter:
    """Decides whether a refusal of the account is final; during an outage, refusals may be temporary."""

    MIN_REFUSALS = 3
    MIN_REFUSAL_INTERVAL_S = 300.0
    """Minimum time between counted refusals, in seconds; refusals in between are ignored."""

    def __init__(self, clock: Callable[[], float]) -> None:
        self._clock = clock
        self._at: list[float] = []

    def refused(self) -> bool:
        """Record a refusal of the account; return whether it is final."""
        now = self._clock()
        if not self._at or now - self._at[-1] >= self.MIN_REFUSAL_INTERVAL_S:
            self._at.append(now)
        return len(self._at) >= self.MIN_REFUSALS

    def accepted(self) -> None:
        """Record that the site accepted the account."""
        self._at.clear()


class LichessServer:
    """A `bot.servers.Server` over HTTP; create it inside a running event loop.

    Args:
        dialect: Dialect of the site.
        url: Origin of the site, for instance ``http://127.0.0.1:8765``.
        token: Token of the bot's account; never shown in an error or log.
        is_direct: Whether to use no proxy, because the server is the embedded arena.
        call_timeout_s: Timeout of each request, in seconds.
        slack_s: Seconds by which a keep-alive may be late.
        clock: Monotonic clock, in seconds.
        on_answer: Called with the time until each answer begins, in seconds.
        wrap: Wraps the HTTP session, to record or to replay the traffic.

    Raises:
        ConfigError: The URL is not an origin, the token is malformed, or the environment's proxy is unusable.
    """

    def __init__(
        self,
        dialect: Dialect,
        url: str,
        token: str,
        *,
        is_direct: bool = False,
        call_timeout_s: float = CALL_TIMEOUT_S,
        slack_s: float = KEEP_ALIVE_SLACK_S,
        clock: Callable[[], float] = time.monotonic,
        on_answer: Callable[[float], None] = lambda _: None,
        wrap: Callable[[aiohttp.ClientSession], aiohttp.ClientSession] = lambda session: session,
    ) -> None:
        if not _is_origin(url):
            raise ConfigError(f"server.url: {url!r} is not of the form https://host[:port]")
        # The HTTP libraries would put a broken header into their error messages, token and all.
        if not re.fullmatch(r"[!-~]+", token):
            raise ConfigError("server.token: a token consists of ASCII characters without spaces")
        self._dialect = dialect
        self._url = url.rstrip("/")
        self._token = token
        self._call_timeout_s = call_timeout_s
        self._silence_s = dialect.keep_alive_s + slack_s
        self._clock = clock
        self._account: Account | None = None
        self._header_scopes: frozenset[str] | None = None
        """Scopes of the token according to the headers of an answer; None if none named them."""
        self._lag = Lag()
        self._openings = RateLimiter(STREAM_OPENING_RATE, clock)
        self._refusals = RefusalCounter(clock)
        self._scripts: dict[str, MoveCodec] = {}
        """Codecs of games that have a stream, each kept until its game ends."""
        if not is_direct:
            proxy_of(self._url)  # refuses a proxy that we cannot use
        self._http = open_session(
            is_direct=is_direct,
            headers={
                "Authorization": f"Bearer {token}",
                "User-Agent": _user_agent(),
            },
            # Streams hold connections for hours: with a limit they would starve the moves.
            connector=aiohttp.TCPConnector(limit=0),
            trace_configs=[_timing_trace(clock, on_answer)],
        )
        self._http = wrap(self._http)
        self._throttle = RequestThrottle(clock)
        self._calls = Calls(partial(self._request, "GET"), self._throttle, self._url, token)

    def set_challenge_rules(self, challenges: ChallengesConfig, has_room: Callable[[int], bool]) -> None:  # noqa: ARG002
        self._http.headers.update(self._dialect.headers(challenges.variants))

    login = ""
    """Always empty, because a second connection with the same token does not end the first one."""

    @property
    def site(self) -> str:
        return self._dialect.name

    def supports(self, capability: Capability) -> bool:
        return capability in self._dialect.capabilities

    def _require(self, capability: Capability) -> None:
        if not self.supports(capability):
            raise RefusedError(f"{self.site} does not offer this: {capability.name.lower()}", 404)

    async def close(self) -> None:
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
        self._refusals.accepted()
        self._http.headers["User-Agent"] = _user_agent(self._account.name)
        return self._account

    async def running_game_ids(self) -> list[str]:
        return await self._ask(
            "GET /api/account/playing", lambda api: read_playing(api.games.get_ongoing(_MAX_LISTED_GAMES))
        )

    async def accept(self, challenge_id: str) -> None:
        await self._act(f"/api/challenge/{_quote(challenge_id)}/accept")

    async def decline(self, challenge_id: str, reason: DeclineReason) -> None:
        # A form, as Lichess's OpenAPI has it; berserk sends JSON, in which PyChess finds no reason.
        await self._act(f"/api/challenge/{_quote(challenge_id)}/decline", {"reason": reason.value})

    async def export(self, game_id: str) -> dict[str, Any]:
        self._require(Capability.EXPORT)

        def ask(api: berserk.Client) -> dict[str, Any]:
            record = api.games.export(_quote(game_id), as_pgn=False)
            if not isinstance(record, dict):
                raise ProtocolError(f"export of game {game_id}: not a JSON object", record)
            return record

        return await self._ask(f"export game {game_id}", ask)

    async def finished_games(self, since: datetime) -> list[ListedGame]:
        self._require(Capability.GAME_LIST)
        account = self._account or await self.account()
        since_ms = math.floor(1000 * since.timestamp())
        path = f"/api/games/user/{_quote(account.id)}?since={since_ms}&max={_MAX_FINISHED_GAMES}&moves=false"
        self._throttle.raise_if_paused(f"GET {path}")
        games = []
        async with aclosing(
            self._stream_lines("GET", path, silence_s=None, answer_s=ONLINE_TIMEOUT_S, in_turn=True)
        ) as lines:
            async for line in lines:
                try:
                    message = read_line(line)
                    if message is not None and (game := read_listed_game(message, account)) is not None:
                        games.append(game)
                except ProtocolError as error:
                    logger.warning("%s: skipped a game in the list: %s: %.500r", self.site, error, error.raw)
        return games

    async def rating_diff(self, game_id: str, name: str) -> int | None:
        if not self.supports(Capability.EXPORT):
            return None
        return read_rating_diff(await self.export(game_id), name)

    async def _ask(self, what: str, call: Callable[[berserk.Client], T]) -> T:
        try:
            return await self._calls.ask(what, call)
        except AuthError as error:
            raise await self._confirm_refusal(error) from error

    async def _confirm_refusal(self, error: ServerError) -> ServerError:
        """Confirm an `AuthError` by requesting the account, because such an error ends every game.

        Return a `TransientError` instead unless refusals have persisted (see `RefusalCounter`).
        """
        if not isinstance(error, AuthError):
            return error
        try:
            await self.account()
        except AuthError as confirmed:
            return confirmed if self._refusals.refused() else TransientError(str(confirmed))
        except ServerError as unclear:
            return TransientError(f"{error}; then {unclear}")
        return TransientError(f"{error}; but the server accepts the account")

    # --- Actions in a game, by aiohttp ------------------------------------------------------------------

    @property
    def lag_s(self) -> float:
        return self._lag.seconds

    async def move(
        self,
        game_id: str,
        move: str,
        *,
        offer_draw: bool = False,
        info: MoveInfo | None = None,  # noqa: ARG002 - the API has no field for it
    ) -> None:
        written = self.written_move(game_id, move)
        offer = "?offeringDraw=true" if offer_draw and self.supports(Capability.DRAW) else ""
        began = self._clock()
        try:
            # Moves bypass the queue: nothing is as urgent.
            await self._post(f"{_game(game_id)}/move/{_quote(written)}{offer}")
        except TooManyRequests as error:
            raise TransientError(str(error), min(error.asked_s, MOVE_RETRY_WAIT_S)) from error
        except AuthError as error:
            raise await self._confirm_refusal(error) from error
        except RefusedError as error:
            if error.status == 404:  # only the stream shows whether the game exists
                raise TransientError(str(error)) from error
            if error.status == 400:  # the game itself has answered
                self._lag.add(self._clock() - began)
            raise
        self._lag.add(self._clock() - began)

    def written_move(self, game_id: str, move: str) -> str:
        """Our move in the site's notation."""
        script = self._scripts.get(game_id)
        return move if script is None else script.write(move)

    async def chat(self, game_id: str, text: str, room: Room = Room.PLAYER) -> None:
        form = {"room": room.value, "text": text[:MAX_CHAT_LENGTH]}
        await self._act(f"{_game(game_id)}/chat", form, lane=Lane.CHAT, timeout_s=CHAT_TIMEOUT_S)

    async def answer_draw(self, game_id: str, accept: bool) -> None:
        self._require(Capability.DRAW)
        await self._act(f"{_game(game_id)}/draw/{'yes' if accept else 'no'}")

    async def answer_takeback(self, game_id: str, accept: bool) -> None:
        self._require(Capability.TAKEBACK)
        await self._act(f"{_game(game_id)}/takeback/{'yes' if accept else 'no'}")

    async def abort(self, game_id: str) -> None:
        await self._act(f"{_game(game_id)}/abort")

    async def resign(self, game_id: str) -> None:
        await self._act(f"{_game(game_id)}/resign")

    async def claim_victory(self, game_id: str) -> None:
        self._require(Capability.CLAIM)
        await self._act(f"{_game(game_id)}/claim-victory")

    async def claim_draw(self, game_id: str) -> None:
        self._require(Capability.CLAIM)
        await self._act(f"{_game(game_id)}/claim-draw")

    def checks(self, *, may_challenge: bool) -> Sequence[Check]:
        return (("token", partial(self._check_token, may_challenge=may_challenge)),)

    async def _check_token(self, *, may_challenge: bool) -> str:
        """Report what the token permits.

        Raises:
            AuthError: A scope is missing.
            NotTried: The site does not say what the token permits.
        """
        scopes, about = self._header_scopes, ""
        try:
            answer = await self._request("POST", "/api/token/test", self._token)
            info = read_token_info(answer, self._token)
        except ServerError as error:  # some sites lack the request
            if scopes is None:
                raise NotTried(f"{self.site} does not say what the token permits: {error}") from error
        else:
            if info is None:
                raise AuthError(f"{self.site} does not know the token")
            scopes, about = info.scopes, info.expiry_text()
        page = f"; create one that has it: {page}" if (page := self._dialect.tokens_at) else ""
        if PLAY_SCOPE not in scopes:
            raise AuthError(f"the token lacks the scope {PLAY_SCOPE}{page}")
        if may_challenge and CHALLENGE_SCOPE not in scopes:
            raise AuthError(f"matchmaking.enabled: the token lacks the scope {CHALLENGE_SCOPE}{page}")
        return f"has the scopes {', '.join(sorted(scopes))}{about}"

    async def check_stream(self, challenges: ChallengesConfig) -> str:
        self.set_challenge_rules(challenges, lambda _: False)
        began, path = self._clock(), "/api/stream/event"
        async with aclosing(self._stream_lines("GET", path, silence_s=self._silence_s)) as lines:
            await anext(lines)  # only says that the site has answered
            async for line in lines:
                read_line(line)
                return f"opened, and answered after {self._clock() - began:.1f} s"
        raise TransientError(f"GET {path}: the stream ended at once")

    async def upgrade(self) -> None:
        await self._act("/api/bot/account/upgrade")

    async def _act(
        self,
        path: str,
        form: Mapping[str, str] | None = None,
        *,
        lane: Lane = Lane.ANSWERS,
        timeout_s: float | None = None,
    ) -> None:
        """Send a request as soon as its queue (lane) permits."""
        try:
            async with self._throttle.wait_for_lane(f"POST {path}", lane):
                await self._post(path, form, timeout_s)
        except AuthError as error:
            raise await self._confirm_refusal(error) from error

    async def _post(
        self, path: str, form: Mapping[str, str] | None = None, timeout_s: float | None = None
    ) -> None:
        answer = await self._request("POST", path, form, timeout_s)
        if not is_ok(answer):  # a proxy may have answered, so the site may not know of the request
            shown = answer[:MAX_ERROR_BYTES].decode(errors="replace").replace(self._token, "***")
            raise TransientError(f"POST {path}: the answer is {shown!r:.100} instead of ok")
        self._refusals.accepted()

    async def _request(
        self,
        method: str,
        path: str,
        form: Mapping[str, str] | str | None = None,
        timeout_s: float | None = None,
        accept: str = "application/json",
    ) -> bytes:
        """Send a request and read the whole answer, whose end shows that the server has finished."""
        what = f"{method} {path}"
        timeout_s = min(self._call_timeout_s, timeout_s or math.inf)
        try:
            async with self._http.request(
                method,
                self._url + path,
                data=form,
                headers={"Accept": accept},
                timeout=aiohttp.ClientTimeout(total=timeout_s),
                allow_redirects=False,
            ) as response:
                if response.status == 404 and accept == "text/html":
                    raise RefusedError(f"{what}: the site has no record of it", 404)
                if response.status >= 300:
                    raise await self._read_error(response, what)
                if (scopes := response.headers.get("X-OAuth-Scopes")) is not None:
                    self._header_scopes = split_scopes(scopes)
                return await read_answer(response)
        except TimeoutError:
            raise TransientError(f"{what}: no answer in {timeout_s:g} s") from None
        except (aiohttp.ClientError, OSError) as lost:
            raise TransientError(f"{what}: {describe_failure(lost)}") from lost

    async def _read_error(self, response: aiohttp.ClientResponse, what: str) -> ServerError:
        body = (await read_beginning(response, MAX_ERROR_BYTES)).decode(errors="replace")
        error = read_error(response.status, response.headers, body, what, self._token)
        self._throttle.record_error(error)
        return error

    # --- Other programs ---------------------------------------------------------------------------------

    async def challenge(self, opponent_id: str, proposal: Proposal) -> Reply:
        self._require(Capability.CHALLENGE)
        path = f"/api/challenge/{_quote(opponent_id)}"
        form = {
            "rated": "true" if proposal.rated else "false",
            "clock.limit": str(proposal.clock.initial_s),
            "clock.increment": str(proposal.clock.increment_s),
            "variant": proposal.variant,
            "color": self._colour(proposal),
            "keepAliveStream": "true",
        }
        if proposal.initial_position is not None:
            form["fen"] = proposal.initial_position
        challenge_id = ""
        try:
            async with aclosing(
                self._stream_lines("POST", path, form, silence_s=None, in_turn=True)
            ) as lines:
                async for line in lines:
                    message = read_line(line)
                    answer = None if message is None else read_challenge_answer(message)
                    if isinstance(answer, ChallengeMade):
                        challenge_id = challenge_id or answer.id
                    elif answer is not None and challenge_id:
                        return Reply(challenge_id, answer.accepted, answer.word)
        except TooManyRequests as error:
            raise TransientError(str(error), error.asked_s) from error
        except RefusedError as error:
            raise _with_scope_hint(CHALLENGE_SCOPE, error) from error
        except asyncio.CancelledError:
            if challenge_id:
                with suppress(ServerError):
                    await self._act(f"/api/challenge/{_quote(challenge_id)}/cancel")
            raise
        if not challenge_id:
            raise ProtocolError("a challenge without an id")
        return Reply(challenge_id, None, "no answer")

    def _colour(self, proposal: Proposal) -> str:
        variant = self._dialect.variants.get(proposal.variant)
        return "random" if variant is None or proposal.side is None else variant.sides[proposal.side].key

    async def online_bots(self) -> list[Bot]:
        self._require(Capability.CHALLENGE)
        path = f"/api/bot/online?nb={_MAX_BOTS}"
        self._throttle.raise_if_paused(f"GET {path}")
        bots: list[Bot] = []
        try:
            async with (
                asyncio.timeout(ONLINE_TIMEOUT_S),
                aclosing(self._stream_lines("GET", path, silence_s=None, answer_s=ONLINE_TIMEOUT_S)) as lines,
            ):
                async for line in lines:
                    try:
                        message = read_line(line)
                        if message is not None:
                            bots.append(read_online_bot(message))
                    except ProtocolError as error:
                        logger.debug("%s: skipped a bot: %s: %.500r", self.site, error, error.raw)
                    if len(bots) == _MAX_BOTS:
                        break
        except TimeoutError:
            raise TransientError(f"GET {path}: no answer in {ONLINE_TIMEOUT_S:g} s") from None
        return bots

    def rating_list(self, proposal: Proposal) -> str:
        return self._dialect.rating_list(proposal)

    # --- Tournaments ------------------------------------------------------------------------------------

    async def tournament(self, tournament_id: str) -> Tournament:
        self._require(Capability.TOURNAMENTS)
        key = _quote(tournament_id)
        return await self._ask(
            f"GET /api/tournament/{key}",
            lambda api: read_tournament(api.tournaments.get_tournament(key), self._dialect),
        )

    async def join_tournament(self, tournament_id: str, *, password: str = "", team: str = "") -> None:
        # `pairMeAsap` because we are not on the tournament's page, where the site looks for players.
        form = {"password": password, "team": team, "pairMeAsap": "true"}
        await self._act_in_tournament(
            f"{_quote(tournament_id)}/join", {key: value for key, value in form.items() if value}
        )

    async def leave_tournament(self, tournament_id: str) -> None:
        await self._act_in_tournament(f"{_quote(tournament_id)}/withdraw")

    async def _act_in_tournament(self, path: str, form: Mapping[str, str] | None = None) -> None:
        self._require(Capability.TOURNAMENTS)
        try:
            await self._act(f"/api/tournament/{path}", form)
        except RefusedError as error:
            raise _with_scope_hint(TOURNAMENT_SCOPE, error) from error

    # --- Streams, by aiohttp ----------------------------------------------------------------------------

    async def account_events(self) -> AsyncGenerator[AccountEvent | None, None]:
        account = self._account or await self.account()
        if self._dialect.limits_stream_opens and (wait_s := self._openings.wait_s(self.site)):
            raise TransientError("the account's stream was opened too often", wait_s)
        path, is_open = "/api/stream/event", False
        try:
            async with aclosing(self._stream_lines("GET", path, silence_s=self._silence_s)) as lines:
                async for line in lines:
                    is_open = True
                    try:
                        message = read_line(line)
                        yield (
                            None
                            if message is None
                            else read_account_event(message, self._dialect, account.id)
                        )
                    except ProtocolError as error:
                        # One broken challenge must not hide the others. Reopening the stream would not
                        # help: the server would send the same again.
                        logger.warning("%s: skipped a message: %s: %.500r", self.site, error, error.raw)
        except RefusedError as error:
            # The bot needs this stream, so keep trying; only a refusal of the account itself is final.
            raise TransientError(str(error)) from error
        finally:
            if not is_open:
                self._openings.refund(self.site)

    async def game_events(self, game_id: str) -> AsyncGenerator[GameEvent | None, None]:
        account = self._account or await self.account()
        reader = GameReader(self._dialect, account.id)
        events = self._game_stream(game_id, reader)
        if self._dialect.ends_on_page:
            page = partial(self._page, game_id)
            events = PychessGame(game_id, reader, page, self._clock).with_end_from_page(events)
        try:
            async with aclosing(events):
                async for event in events:
                    if reader.script is not None:
                        self._scripts[game_id] = reader.script
                    yield event
        except RefusedError:
            self._scripts.pop(game_id, None)
            raise
        finally:
            if reader.is_over:
                self._scripts.pop(game_id, None)

    async def _game_stream(self, game_id: str, reader: GameReader) -> AsyncGenerator[GameEvent | None, None]:
        path = f"/api/bot/game/stream/{_quote(game_id)}"
        opened_at = self._clock()
        async with aclosing(self._stream_lines("GET", path, silence_s=self._silence_s)) as lines:
            async for line in lines:
                event = self._read_game_event(line, reader, game_id)
                is_late = self._clock() - opened_at > FULL_STATE_TIMEOUT_S
                if event is None and not reader.started and is_late:
                    raise await self._no_state(game_id)
                yield event

    async def _page(self, game_id: str) -> str:
        """Request the web page of a game.

        Raises:
            RefusedError: The site has no such game, or has deleted it.
        """
        path = f"/{_quote(game_id)}"
        async with self._throttle.wait_for_lane(f"GET {path}", Lane.READS):
            return (await self._request("GET", path, accept="text/html")).decode(errors="replace")

    async def _no_state(self, game_id: str) -> ServerError:
        """Return the error for a stream that stays open but does not send its game's state."""
        what = f"game {game_id}: no state in {FULL_STATE_TIMEOUT_S:g} s"
        if await is_game_running(self, game_id) is False:
            return RefusedError(f"{what}, and the game is not running", 404)
        return TransientError(what)

    def _read_game_event(self, line: bytes, reader: GameReader, game_id: str) -> GameEvent | None:
        try:
            message = read_line(line)
        except ProtocolError as error:  # text from a proxy, or half a line
            raise TransientError(f"game {game_id}: cannot read a message: {error}") from error
        if message is None:
            return None
        try:
            return reader.read(message)
        except ProtocolError as error:
            if message.get("type") not in _STATES:  # a broken chat line must not cost the game
                logger.warning("game %s: skipped a message: %s: %.500r", game_id, error, error.raw)
                return None
            if not reader.started:
                raise
            # The next stream begins with the full state, so nothing is lost with this message.
            raise TransientError(f"game {game_id}: cannot read a message: {error}") from error

    async def _stream_lines(
        self,
        method: str,
        path: str,
        form: Mapping[str, str] | None = None,
        *,
        silence_s: float | None,
        answer_s: float | None = None,
        in_turn: bool = False,
    ) -> AsyncGenerator[bytes, None]:
        """Yield the lines of a streamed answer until the server closes it.

        Args:
            method: HTTP method.
            path: Path to request.
            form: Form fields to send.
            silence_s: None for a finite answer. For an endless stream, the longest time without a complete
                line, in seconds; an empty line is yielded at the start, and a partial last line is dropped.
            answer_s: Timeout until the answer begins, in seconds; None for the default.
            in_turn: Whether the request waits in the queue and blocks it until the answer begins.
        """
        what = f"{method} {path}"
        connect_s = min(self._call_timeout_s, CONNECT_TIMEOUT_S)
        answer_s = answer_s or silence_s or self._call_timeout_s
        loop = asyncio.get_running_loop()
        error: ServerError | None = None
        try:
            async with AsyncExitStack() as stack:
                async with (
                    self._throttle.wait_for_lane(what, Lane.READS) if in_turn else nullcontext(),
                    asyncio.timeout(answer_s),
                ):
                    response = await stack.enter_async_context(
                        self._http.request(
                            method,
                            self._url + path,
                            data=form,
                            headers={"Accept": "application/x-ndjson", "Accept-Encoding": "identity"},
                            timeout=aiohttp.ClientTimeout(total=None, connect=connect_s),
                            allow_redirects=False,
                        )
                    )
                    if response.status >= 300:
                        error = await self._read_error(response, what)
                    elif response.content_type == "text/html":
                        page = page_text(await read_beginning(response, MAX_ERROR_BYTES))
                        error = TransientError(f"{what}: {page or 'a web page instead of data'}")
                    elif (encoding := response.headers.get("Content-Encoding", "identity")) != "identity":
                        # A few compressed bytes could expand to endless lines.
                        error = TransientError(
                            f"{what}: answered in {encoding!r:.40}, which was not requested"
                        )
                if error is not None:
                    raise await self._confirm_refusal(error)
                if silence_s is not None:
                    self._refusals.accepted()
                    yield b""
                rest = b""
                deadline = None if silence_s is None else loop.time() + silence_s
                while True:
                    async with asyncio.timeout_at(deadline):
                        chunk = await _read_chunk(response)
                    if not chunk:
                        break
                    *lines, rest = (rest + chunk).split(b"\n")
                    for number, line in enumerate(lines):
                        yield line
                        if number % _LINES_PER_TURN == 0:
                            await asyncio.sleep(0)  # a busy stream must not delay other tasks
                    if lines and silence_s is not None:
                        deadline = loop.time() + silence_s
                    if len(rest) > _MAX_LINE_BYTES:
                        raise TransientError(f"{what}: a line of more than {_MAX_LINE_BYTES} bytes")
                if silence_s is None:
                    yield rest
        except aiohttp.ConnectionTimeoutError:
            raise TransientError(f"{what}: no connection in {connect_s:g} s") from None
        except TimeoutError:
            raise TransientError(f"{what}: silent for {answer_s:g} s") from None
        except (aiohttp.ClientError, OSError) as lost:
            raise TransientError(f"{what}: {describe_failure(lost)}") from lost


def _with_scope_hint(scope: str, error: RefusedError) -> RefusedError:
    """Return the refusal; if the token may lack a scope, the message names that scope."""
    if not error.is_forbidden:
        return error
    return RefusedError(f"{error}; the token may lack the scope {scope}", error.status, error.said)


def _game(game_id: str) -> str:
    return f"/api/bot/game/{_quote(game_id)}"


def _user_agent(account: str = "") -> str:
    """Return the User-Agent in the form that sites recommend; includes the account name once it is known."""
    program = f"desdemona/{VERSION}"
    return f"{program} user:{account}" if re.fullmatch(r"[A-Za-z0-9._-]+", account) else program


def _timing_trace(clock: Callable[[], float], on_answer: Callable[[float], None]) -> aiohttp.TraceConfig:
    """Return a trace configuration that measures the time from each request until its answer begins."""
    timing = aiohttp.TraceConfig()

    async def begin(_session: object, context: Any, _params: object) -> None:
        context.began_s = clock()

    async def end(_session: object, context: Any, _params: object) -> None:
        on_answer(clock() - context.began_s)

    timing.on_request_start.append(begin)
    timing.on_request_end.append(end)
    return timing


async def _read_chunk(response: aiohttp.ClientResponse) -> bytes:
    try:
        return await response.content.readany()
    except RuntimeError as error:
        # What aiohttp says of a connection that broke between two reads, for instance at a garbled chunk.
        raise aiohttp.ClientPayloadError(str(error)) from error


def _is_origin(url: str) -> bool:
    """Whether a URL is an origin without a path; berserk would drop a path."""
    try:
        parts = urlsplit(url)
        return (
            parts.scheme in ("http", "https")
            and parts.port != 0
            and bool(parts.hostname)
            and (parts.path.strip("/") + parts.query + parts.fragment == "")
        )
    except ValueError:  # the port is not a number
        return False


def _quote(part: str) -> str:
    return quote(part, safe="")
