"""Queries lichess.org's opening explorer and tablebase when it is our turn.

Both services are optional. A look-up may use only a limited share of the clock; if no usable answer arrives
in that time, the bot chooses the move without it. A service that fails several times in a row, or rate-limits
us, is skipped for a while; the skip is logged once.
"""

import asyncio
import json
import logging
import random
import time
from collections.abc import Callable, Collection, Mapping
from contextlib import suppress
from typing import Any
from urllib.parse import urlsplit

import aiohttp
import chess

from bot.base.config import Config, OnlineConfig, read_token
from bot.base.errors import AuthError, RefusedError, ServerError, TransientError
from bot.base.network.failures import describe_failure, page_text
from bot.base.network.http_session import open_session
from bot.servers.lichess_errors import MAX_ERROR_BYTES, read_beginning, read_error
from engine.decision import DirectMove, SearchMode
from engine.game import WIN_CENTI
from engine.games.standard_chess import ChessPosition, StandardChess
from engine.lookup.source import LookupMove

logger = logging.getLogger(__name__)

MAX_CLOCK_SHARE = 0.05
"""Maximum share of the remaining clock for one look-up."""
MAX_FAILURES = 3
"""Number of consecutive failures after which a service is skipped for a while."""
FAILURE_PAUSE_S = 300.0
"""Length of the pause after repeated failures, in seconds; after a 429, the service decides the length."""
REFUSED_PAUSE_S = 3600.0
"""Length of the pause after a service demands a token or turns out not to exist, in seconds."""
MAX_PIECES = 7
"""Maximum number of pieces in the tablebase, including the kings."""

CHECK_TIMEOUT_S = 10.0
"""Timeout of a check outside a game, in seconds."""

_CHECK_POSITION = "8/8/8/3k4/8/8/1Q6/K7 w - - 0 1"
_MAX_BODY_BYTES = 1 << 18
_GAME = StandardChess()
_OUTCOMES = {"win": WIN_CENTI, "loss": -WIN_CENTI, "draw": 0, "cursed-win": 0, "blessed-loss": 0}
"""Score of each tablebase category for the side to move; the outcome of any other category is uncertain."""


class InvalidResponse(TransientError):
    """A service gave an invalid answer."""


class CircuitBreaker:
    """Decides whether to query a service, which is skipped while it fails or demands a pause."""

    def __init__(self, name: str, clock: Callable[[], float]) -> None:
        self._name = name
        self._clock = clock
        self._failures = 0
        self._not_before = 0.0
        self._is_told = False

    @property
    def is_available(self) -> bool:
        """Whether the service may be queried now."""
        return self._clock() >= self._not_before

    def record_success(self) -> None:
        """Record that the service gave a usable answer."""
        self._failures = 0
        if self._is_told:
            logger.info("online.%s: works again", self._name)
        self._is_told = False

    def record_failure(self, error: ServerError) -> None:
        """Record that the service gave no usable answer."""
        self._failures += 1
        pause_s = 0.0
        if isinstance(error, TransientError) and error.retry_after_s is not None:
            pause_s = error.retry_after_s
        elif isinstance(error, AuthError | RefusedError):
            pause_s = REFUSED_PAUSE_S
        elif self._failures >= MAX_FAILURES:
            pause_s = FAILURE_PAUSE_S
        if not pause_s:
            logger.debug("online.%s: %s", self._name, error)
            return
        self._not_before = self._clock() + pause_s
        level = logging.DEBUG if self._is_told else logging.WARNING
        self._is_told = True
        text = "online.%s: %s; moves are decided without it, next try in %.0f s"
        logger.log(level, text, self._name, error, pause_s)


class OnlineLookup:
    """The explorer and the tablebase; create this object inside a running event loop.

    Args:
        config: The enabled services and their limits.
        token: Token of a lichess.org account, sent only to the explorer; empty for none.
        clock: A monotonic clock, in seconds.
        rng: Source of randomness for choosing among the explorer's moves.
    """

    def __init__(
        self,
        config: OnlineConfig,
        token: str = "",
        clock: Callable[[], float] = time.monotonic,
        rng: random.Random | None = None,
    ) -> None:
        self._config = config
        self._token = token
        self._rng = rng or random.Random()  # noqa: S311 - which opening is played is no secret
        self._explorer = CircuitBreaker("explorer", clock)
        self._tablebase = CircuitBreaker("tablebase", clock)
        self._http = open_session(headers={"User-Agent": "desdemona"})

    async def close(self) -> None:
        """Close all connections."""
        await self._http.close()

    async def check_services(self) -> str:
        """Query each service once and return the answers as one line.

        Raises:
            ServerError: A service did not answer.
        """
        config, shown = self._config, []
        if config.explorer:
            url = f"{config.explorer_url}/{config.explorer}"
            answer = await self._fetch_json(url, {"fen": chess.STARTING_FEN}, self._token, CHECK_TIMEOUT_S)
            explorer_move(answer, _GAME.initial(), 1, self._rng)
            shown.append(url)
        if config.tablebase:
            url = f"{config.tablebase_url}/standard"
            answer = await self._fetch_json(url, {"fen": _CHECK_POSITION}, "", CHECK_TIMEOUT_S)
            tablebase_move(answer, _GAME.parse_position(_CHECK_POSITION))
            shown.append(url)
        return f"{' and '.join(shown)} answer{'s' * (len(shown) == 1)}"

    async def find(
        self,
        game_name: str,
        position: Any,
        remaining_s: float | None,
        avoid: Collection[str] = (),
        *,
        tables_only: bool = False,
    ) -> LookupMove | None:
        """A move in an unfinished game; None if neither service provides one in time.

        Args:
            game_name: Name in `engine.games`; only chess is looked up.
            position: A position of that game.
            remaining_s: Time left on our clock, in seconds; None without a clock.
            avoid: Moves that the explorer should avoid, because they would repeat earlier games.
            tables_only: Whether to ask only the tablebase.
        """
        if game_name != _GAME.name:
            return None
        config, board = self._config, position.board
        if config.tablebase and not board.castling_rights and chess.popcount(board.occupied) <= MAX_PIECES:
            url, params = f"{config.tablebase_url}/standard", {"fen": board.fen()}
            return await self._query_service(
                self._tablebase, url, params, remaining_s, lambda answer: tablebase_move(answer, position)
            )
        if (
            config.explorer
            and not tables_only
            and not board.chess960
            and board.ply() < config.explorer_max_ply
        ):
            url = f"{config.explorer_url}/{config.explorer}"
            params = {"fen": board.fen(), "moves": "20", "topGames": "0", "recentGames": "0"}

            def choose(answer: Any) -> LookupMove | None:
                least, rng = config.explorer_min_games, self._rng
                return explorer_move(answer, position, least, rng, avoid, config.explorer)

            return await self._query_service(self._explorer, url, params, remaining_s, choose)
        return None

    async def _query_service(
        self,
        breaker: CircuitBreaker,
        url: str,
        params: Mapping[str, str],
        remaining_s: float | None,
        choose: Callable[[Any], LookupMove | None],
    ) -> LookupMove | None:
        if not breaker.is_available:
            return None
        timeout_s = self._config.timeout_s
        if remaining_s is not None:
            timeout_s = min(timeout_s, MAX_CLOCK_SHARE * remaining_s)
        token = self._token if breaker is self._explorer else ""
        try:
            move = choose(await self._fetch_json(url, params, token, timeout_s))
        except ServerError as error:
            breaker.record_failure(error)
            return None
        breaker.record_success()
        return move

    async def _fetch_json(self, url: str, params: Mapping[str, str], token: str, timeout_s: float) -> Any:
        """The JSON answer; None if the service does not have the position.

        Raises:
            ServerError: The service does not answer in time, or the answer is invalid.
        """
        try:
            async with asyncio.timeout(timeout_s):
                return await self._read(url, params, token)
        except TimeoutError:
            raise TransientError(f"no answer within {timeout_s:.2g} s") from None
        except (aiohttp.ClientError, OSError) as error:
            raise TransientError(describe_failure(error)) from error

    async def _read(self, url: str, params: Mapping[str, str], token: str) -> Any:
        headers = {"Authorization": f"Bearer {token}"} if token else {}
        async with self._http.get(url, params=params, headers=headers, allow_redirects=False) as response:
            if response.status == 404:
                return None
            limit = _MAX_BODY_BYTES if response.status == 200 else MAX_ERROR_BYTES
            body = await read_beginning(response, limit)
            text = body.decode("utf-8", "replace")
            if response.status == 401:  # also when a proxy says it
                raise AuthError("the service demands the token of a lichess.org account (HTTP 401)")
            if response.status != 200:
                raise read_error(response.status, response.headers, text, f"GET {url}", token)
        with suppress(ValueError, RecursionError):
            return json.loads(text)
        raise InvalidResponse(page_text(text) or "the answer is not JSON")


def open_lookup(config: Config) -> OnlineLookup | None:
    """The services enabled in the settings; None if there are none.

    The lichess.org token is never sent to another site's explorer.

    Raises:
        ConfigError: The token cannot be read.
    """
    online = config.online
    if not online.is_used:
        return None
    address = urlsplit(online.explorer_url)
    is_theirs = address.scheme == "https" and f".{address.hostname}".endswith(".lichess.org")
    is_ours = config.server.dialect == "lichess" and not config.server.url
    return OnlineLookup(online, read_token(config.server) if is_theirs and is_ours else "")


def explorer_move(
    answer: Any,
    position: ChessPosition,
    min_games: int,
    rng: random.Random,
    avoid: Collection[str] = (),
    name: str = "explorer",
) -> LookupMove | None:
    """A random move from the explorer's answer, weighted by number of games; None without a usable move.

    Args:
        answer: The JSON answer; None if the position is unknown.
        position: The position that was looked up.
        min_games: Minimum number of games with the move.
        rng: Source of randomness for the choice.
        avoid: Moves to exclude unless no other move is left.
        name: Name of the explorer's database.

    Raises:
        InvalidResponse: The answer is malformed or contains an illegal move.
    """
    if answer is None:
        return None
    games: dict[int, int] = {}
    for row in _rows(answer):
        counts = [row.get(key) for key in ("white", "draws", "black")]
        whole = [count for count in counts if type(count) is int and count >= 0]
        if len(whole) < len(counts):
            raise _invalid_response(row)
        games[_legal_move(row, position)] = sum(whole)
    known = {move: number for move, number in games.items() if number >= max(1, min_games)}
    others = {move: number for move, number in known.items() if _GAME.move_text(move) not in avoid}
    known = others or known
    if not known:
        return None
    move = rng.choices(list(known), list(known.values()))[0]
    origin = f"{name}: {known[move]} of {sum(games.values())} games"
    return LookupMove(move, SearchMode.EXPLORER, DirectMove(None, 0, 0, False, origin))


def tablebase_move(answer: Any, position: ChessPosition) -> LookupMove | None:
    """The best move in the tablebase's answer; None if the move's outcome is uncertain.

    Args:
        answer: The JSON answer; None if the position is unknown.
        position: The position that was looked up.

    Raises:
        InvalidResponse: The answer is malformed or its best move is illegal.
    """
    if answer is None:
        return None
    rows = _rows(answer)  # best first
    category = answer.get("category")
    if not isinstance(category, str) or not rows:
        raise _invalid_response(answer)
    score_centi = _OUTCOMES.get(category)
    if score_centi is None:
        return None
    origin = f"lichess.org: {category}"
    return LookupMove(
        _legal_move(rows[0], position),
        SearchMode.ONLINE_TABLEBASE,
        DirectMove(score_centi, 0, 100, True, origin),
    )


def _rows(answer: Any) -> list[dict[str, Any]]:
    match answer:
        case {"moves": [*rows]} if all(isinstance(row, dict) for row in rows):
            return rows
    raise _invalid_response(answer)


def _legal_move(row: Mapping[str, Any], position: ChessPosition) -> int:
    text = row.get("uci")
    if isinstance(text, str):
        with suppress(ValueError):
            # The explorer writes castling as the king taking its rook.
            return _GAME.parse_move(position, position.board.parse_uci(text).uci())
    raise _invalid_response(row)


def _invalid_response(what: Any) -> InvalidResponse:
    return InvalidResponse(f"the answer makes no sense: {str(what)[:80]!r}")
