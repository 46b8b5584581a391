"""The GGS adapter's I/O: one TCP connection for all traffic, interpreted by `bot.servers.ggs.account`."""

import asyncio
import logging
import re
import time
from collections.abc import AsyncGenerator, Awaitable, Callable, Collection, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from datetime import UTC, datetime
from urllib.parse import urlsplit

from bot.base.config import ChallengesConfig
from bot.base.dialects import Capability, Dialect
from bot.base.errors import AuthError, ConfigError, RefusedError, TransientError
from bot.base.events import (
    AccountEvent,
    Bot,
    DeclineReason,
    GameAdjourned,
    GameEvent,
    GameSnapshot,
    GameState,
    MoveInfo,
    Proposal,
    Reply,
    Room,
)
from bot.base.game_server import Account, Check, Server
from bot.base.network.http_session import names_proxies, proxy_of
from bot.servers.ggs import wire
from bot.servers.ggs.account import GgsAccount
from bot.servers.ggs.actions import Say, Tell, TellGame
from bot.servers.ggs.lifecycle import GgsStatus
from bot.servers.ggs.requests import Attempt
from bot.servers.lag import Lag
from bot.servers.recording import MASK, RecordedExchange, Recorder, no_recorder

logger = logging.getLogger(__name__)

PORT = 5000
CONNECT_TIMEOUT_S = 10.0
LOGIN_TIMEOUT_S = 30.0
"""Login timeout in seconds; the server's own limit is two minutes."""
ANSWER_S = 10.0
"""Timeout for an answer, in seconds; then the request is repeated or the answer is considered lost."""
SETTLE_TIMEOUT_S = 30.0
"""Time, in seconds, within which the server must list its stored games on a new connection."""
PROBE_INTERVAL_S = 20.0
"""Probe the server if it has sent nothing for this many seconds."""
MAX_UNANSWERED_PROBES = 3
"""The connection is considered dead after this many unanswered probes."""
MIN_HANG_UP_WAIT_S = 30.0
"""Initial back-off, in seconds, after the server hangs up: without one, we and another program that uses our
name would keep evicting each other. It doubles until a connection lasts (see `LASTING_FACTOR`)."""
MAX_HANG_UP_WAIT_S = 120.0
"""Maximum back-off, in seconds; adjourned games wait at most this long. Evictions at this rate do no harm."""
LASTING_FACTOR = 4.0
"""A connection counts as lasting if it stays open for at least this many times the last back-off."""
MESSAGES_PER_TURN = 8
"""Number of messages handled before other tasks may run."""
MAX_UNSENT_BYTES = 1 << 20
"""Number of unsent bytes beyond which the server is considered dead."""
EVERYBODY = "*"

Recall = Callable[[], Awaitable[Sequence[GameSnapshot]]]
"""Returns the games on this site that are still open in the database."""


Connect = Callable[[str, int], Awaitable[tuple[asyncio.StreamReader, asyncio.StreamWriter]]]


async def nothing_to_recall() -> Sequence[GameSnapshot]:
    """A `Recall` without open games, for a bot that has no database."""
    return ()


@dataclass(slots=True)
class _Link:
    """A logged-in connection."""

    reader: asyncio.StreamReader
    writer: asyncio.StreamWriter
    parser: wire.Reader
    exchange: RecordedExchange
    """Records the traffic."""
    heard: list[wire.GgsMessage] = field(default_factory=list)
    """Messages received before the event stream was opened."""

    def say(self, command: str) -> None:
        """Send a command line to the server."""
        # The password never gets here.
        logger.debug("GGS < %s", command)
        self.exchange.sent(command)
        self.writer.write(wire.command(command))
        if self.writer.transport.get_write_buffer_size() > MAX_UNSENT_BYTES:
            raise TransientError("the server has stopped reading")

    async def read(self) -> list[wire.GgsMessage]:
        """Read the next messages.

        Raises:
            TransientError: The server hung up, or the connection is lost.
        """
        if self.heard:
            heard, self.heard = self.heard, []
            return heard
        try:
            data = await self.reader.read(1 << 16)
        except OSError as error:
            self.exchange.ended(str(error))
            raise TransientError(f"the connection is lost: {error}") from error
        if not data:
            self.exchange.ended()
            raise ConnectionClosed("the server has hung up")
        messages = list(self.parser.feed(data))
        self.exchange.received_text(data, messages)
        return messages

    async def close(self) -> None:
        self.writer.close()
        with suppress(OSError, TimeoutError):
            async with asyncio.timeout(1.0):
                await self.writer.wait_closed()


class ConnectionClosed(TransientError):
    """The server closed the connection, perhaps because of another login under our name."""


class HangUpBackoff:
    """Computes the time in seconds to wait before reconnecting after the server has hung up."""

    def __init__(self) -> None:
        self._wait_s = 0.0

    def record_hang_up(self, lasted_s: float) -> float:
        """Record the end of a connection and return the wait before the next one.

        Args:
            lasted_s: Duration of the connection, in seconds.
        """
        has_held = lasted_s >= LASTING_FACTOR * max(self._wait_s, MIN_HANG_UP_WAIT_S)
        longer_s = min(max(MIN_HANG_UP_WAIT_S, 2 * self._wait_s), MAX_HANG_UP_WAIT_S)
        self._wait_s = MIN_HANG_UP_WAIT_S if has_held else longer_s
        return self._wait_s


class GgsServer(Server):
    """The GGS adapter; create it inside a running event loop.

    Args:
        dialect: The site's row in the table of dialects.
        url: ``ggs://host[:port]``.
        login: Name of the account.
        password: The account's password; never shown in an error or log.
        recall: Returns the open games; called before the first connection.
        programs: Names of opponents that are programs; we may challenge them.
        public: Whether to send an open request if none of the programs is available.
        extension_s: Grace time in games that we request, in seconds.
        clock: Monotonic clock, in seconds.
        now: Returns the time in UTC.
        on_answer: Called with the duration of each move's request, in seconds.
        recorder: Records the traffic; None: nothing is recorded.
        connect: Opens the connection to a host and port; another function replays a recording.

    Raises:
        ConfigError: The address, name or password is invalid, or the environment demands a proxy.
    """

    def __init__(
        self,
        dialect: Dialect,
        url: str,
        login: str,
        password: str,
        *,
        recall: Recall = nothing_to_recall,
        programs: Collection[str] = (),
        public: bool = False,
        extension_s: int = 120,
        clock: Callable[[], float] = time.monotonic,
        now: Callable[[], datetime] = lambda: datetime.now(UTC),
        on_answer: Callable[[float], None] = lambda _: None,
        recorder: Recorder | None = None,
        connect: Connect = asyncio.open_connection,
    ) -> None:
        self._on_answer = on_answer
        self._recorder = recorder or no_recorder()
        self._open_connection = connect
        self._host, self._port = read_address(url)
        proxy_of(url)  # refuses a proxy, which we cannot use
        if not re.fullmatch(r"[^._,\\\s:|][^,\\\s:|]{1,7}", login) or not login.isprintable():
            raise ConfigError(
                f"server.name: {login!r} is not a valid GGS name: 2 to 8 characters, the first neither . "
                "nor _, and no comma, backslash or colon"
            )
        if not re.fullmatch(r"[!-~]+", password):
            raise ConfigError("server.token: a password consists of ASCII characters without spaces")
        self._dialect = dialect
        self._password = password
        self._recall = recall
        self._programs = {program.casefold() for program in programs}
        self._public = public
        self._extension_s = extension_s
        self._clock = clock
        self._now = now
        self._state = GgsAccount(login, programs=programs)
        self._has_recalled = False
        self._link: _Link | None = None
        self._about = ""
        """What the service said about the account."""
        self._has_service = False
        """Whether the service has answered."""
        self._is_listening = False
        self._lag = Lag()
        self._hang_up_backoff = HangUpBackoff()
        self._events: list[AccountEvent] = []
        """Events not yet delivered."""
        self._streams: dict[str, list[asyncio.Queue[GameEvent]]] = {}
        self._changed = asyncio.Event()
        """Set whenever messages arrive, then replaced by a new event."""
        self._request_lock = asyncio.Lock()
        """Serialises requests, because the server's answers do not name the commands they answer."""
        self._players: list[wire.GgsPlayer] | None = None

    @property
    def site(self) -> str:
        return self._dialect.name

    @property
    def login(self) -> str:
        return self._state.name

    def supports(self, capability: Capability) -> bool:
        return capability in self._dialect.capabilities

    @property
    def lag_s(self) -> float:
        return self._lag.seconds

    def set_challenge_rules(self, challenges: ChallengesConfig, has_room: Callable[[int], bool]) -> None:
        self._state.follow(challenges.max_games, has_room)
        self._perform()

    # --- The connection ---------------------------------------------------------------------------------

    async def _connect(self) -> _Link:
        """Connect and log in.

        Raises:
            TransientError: The connection or login failed.
            AuthError: The server refused the name or password.
        """
        where = f"{self._host}:{self._port}"
        try:
            async with asyncio.timeout(CONNECT_TIMEOUT_S):
                reader, writer = await self._open_connection(self._host, self._port)
        except TimeoutError:
            raise TransientError(f"no connection to {where} in {CONNECT_TIMEOUT_S:g} s") from None
        except (OSError, UnicodeError) as error:
            unused = "; GGS is not HTTP, so the proxy in the environment is not used" * names_proxies()
            raise TransientError(f"no connection to {where}: {error}{unused}") from error
        link = _Link(reader, writer, wire.Reader(), self._recorder.begin("connect"))
        try:
            async with asyncio.timeout(LOGIN_TIMEOUT_S):
                await self._log_in(link)
        except TimeoutError:
            await link.close()
            raise TransientError(f"no login at {where} in {LOGIN_TIMEOUT_S:g} s") from None
        except BaseException:
            await link.close()
            raise
        return link

    async def _log_in(self, link: _Link) -> None:
        refusal, has_sent_password = "", False
        while True:
            messages = await link.read()
            for number, message in enumerate(messages):
                match message:
                    case wire.CentralError(text) if message.is_login:
                        refusal = text
                    case wire.LoginPrompt():
                        if refusal:
                            raise AuthError(refusal)
                        link.exchange.sent(self._state.name)
                        link.writer.write(wire.command(self._state.name))
                    case wire.PasswordPrompt():
                        link.exchange.sent(MASK)
                        link.writer.write(wire.command(self._password))
                        has_sent_password = True
                    case wire.Ready() | wire.Alert() if has_sent_password:
                        link.heard = messages[number + 1 :]
                        return
                    case _:
                        pass

    async def account(self) -> Account:
        if self._link is None:
            self._link = await self._connect()
        link, name = self._link, self._state.name
        about = ""
        if not self._is_listening:
            about, heard = "the service reports nothing about the account", list[wire.GgsMessage]()
            try:
                link.say(wire.tell_service("finger"))
                with suppress(TimeoutError):
                    async with asyncio.timeout(ANSWER_S):
                        about = await self._read_about(link, heard)
            except TransientError as error:
                self._link = None
                await link.close()
                raise TransientError(str(error), self._hang_up_backoff.record_hang_up(0.0)) from error
            link.heard = [*heard, *link.heard]
            self._about = about
        return Account(name, name, is_bot=True, about=about)

    def checks(self, *, may_challenge: bool) -> Sequence[Check]:  # noqa: ARG002 - everybody may
        return (("service", self._check_service),)

    async def _check_service(self) -> str:
        if not self._has_service:
            raise TransientError(f"{wire.SERVICE}: {self._about}")
        return f"{wire.SERVICE} answers: {self._about}"

    async def _read_about(self, link: _Link, heard: list[wire.GgsMessage]) -> str:
        """Return the service's report on the account; keep other messages in `heard` or on the link."""
        while True:
            messages = await link.read()
            for number, message in enumerate(messages):
                match message:
                    case wire.OtherMessage(wire.SERVICE, "finger", lines):
                        link.heard = messages[number + 1 :]
                        self._has_service = True
                        return read_about(lines)
                    case wire.CentralError() if message.is_service_away:
                        link.heard = messages[number + 1 :]
                        return "the Othello service is unavailable"
                    case _:
                        heard.append(message)

    async def account_events(self) -> AsyncGenerator[AccountEvent | None, None]:
        if not self._has_recalled:
            self._state.games.remember(await self._recall())
            self._has_recalled = True
        link = self._link = self._link or await self._connect()
        opened_at = self._clock()
        reason = "we closed the connection"
        self._is_listening = True
        try:
            self._state.connected(self._clock())
            self._perform()
            while True:
                yield None
                for event in self._take_events():
                    yield event
                messages = await self._listen(link)
                for number, message in enumerate(messages):
                    self._on_message(message)
                    if number % MESSAGES_PER_TURN == 0:
                        await asyncio.sleep(0)  # a burst of messages must not delay the games
                self._state.tick(self._clock())
                self._perform()
        except ConnectionClosed as error:
            reason = str(error)
            raise TransientError(
                reason, self._hang_up_backoff.record_hang_up(self._clock() - opened_at)
            ) from error
        except TransientError as error:
            reason = str(error)
            if self._clock() - opened_at < MIN_HANG_UP_WAIT_S:  # the server may have hung up all the same
                raise TransientError(reason, self._hang_up_backoff.record_hang_up(0.0)) from error
            raise
        finally:
            self._link, self._is_listening = None, False
            with suppress(TransientError):
                self._state.lost(reason)
                self._perform()
            self._wake()
            await link.close()

    async def _listen(self, link: _Link) -> list[wire.GgsMessage]:
        """Wait for the next messages, probing the server if it is silent.

        Raises:
            TransientError: The server remains silent, or the connection is lost.
        """
        for probe in range(MAX_UNANSWERED_PROBES + 1):
            try:
                async with asyncio.timeout(PROBE_INTERVAL_S):
                    return await link.read()
            except TimeoutError:
                if probe == MAX_UNANSWERED_PROBES:
                    break
            self._state.tick(self._clock())
            if not self._perform():
                link.say("")
        raise TransientError(f"silent for {PROBE_INTERVAL_S * (MAX_UNANSWERED_PROBES + 1):.0f} s")

    def _on_message(self, message: wire.GgsMessage) -> None:
        logger.debug("GGS > %r", message)
        if isinstance(message, wire.PlayerList):
            self._players = list(message.players)
        try:
            self._state.on_message(message, self._clock(), self._now())
        except Exception:  # one odd message must not cost the connection and every game on it
            logger.exception("%s: cannot handle %.500r", self.site, message)
            self._state.out.take()
        self._perform()
        self._wake()

    def _wake(self) -> None:
        """Wake all waiters so that they re-check their conditions."""
        changed, self._changed = self._changed, asyncio.Event()
        changed.set()

    def _take_events(self) -> list[AccountEvent]:
        events, self._events = self._events, []
        return events

    def _perform(self) -> bool:
        """Perform the pending actions and return whether there were any."""
        actions = self._state.out.take()
        for action in actions:
            match action:
                case Say(command):
                    if self._link is not None:
                        self._link.say(command)
                case Tell(event):
                    self._events.append(event)
                case TellGame(game_id, event):
                    for stream in self._streams.get(game_id, ()):
                        stream.put_nowait(event)
        return bool(actions)

    def _do(self) -> None:
        """Perform the pending actions, which require a connection.

        Raises:
            TransientError: There is no connection.
        """
        if self._link is None or not self._is_listening:
            self._state.out.take()
            raise TransientError("there is no connection")
        self._perform()

    async def _wait_for_answer(self, condition: Callable[[], bool], what: str) -> None:
        """Wait for the answer to the last command.

        Raises:
            TransientError: No answer arrived in time, or the connection is lost.
        """
        link = self._link
        await self._wait_until(lambda: self._link is not link or condition(), ANSWER_S, what)
        if self._link is not link:
            raise TransientError(f"{what}: the connection was lost")

    async def _wait_until(self, condition: Callable[[], bool], within_s: float, what: str) -> None:
        """Wait until messages make `condition` true, on this connection or a later one.

        Raises:
            TransientError: The condition is still false when the time runs out.
        """
        try:
            async with asyncio.timeout(within_s):
                while not condition():
                    await self._changed.wait()
        except TimeoutError:
            raise TransientError(f"{what}: no answer in {within_s:g} s") from None

    # --- Games ------------------------------------------------------------------------------------------

    async def game_events(self, game_id: str) -> AsyncGenerator[GameEvent | None, None]:
        state = self._state
        await self._wait_until(lambda: state.is_settled, SETTLE_TIMEOUT_S, f"game {game_id}")
        game = state.games.by_id.get(game_id)
        if game is None:
            raise RefusedError(f"game {game_id}: there is no such game", 404)
        await self._wait_until(lambda: not game.is_stale, ANSWER_S, f"game {game_id}")
        stream: asyncio.Queue[GameEvent] = asyncio.Queue()
        self._streams.setdefault(game_id, []).append(stream)
        stream.put_nowait(state.games.first_event(game_id, self._clock()))
        try:
            while True:
                event = await stream.get()
                yield event
                if isinstance(event, GameAdjourned):
                    return
                latest = event.state if isinstance(event, GameSnapshot) else event
                if isinstance(latest, GameState) and latest.end is not None:
                    return
        finally:
            streams = self._streams[game_id]
            streams.remove(stream)
            if not streams:
                del self._streams[game_id]

    async def running_game_ids(self) -> list[str]:
        before = self._state.lists
        self._state.matches.query()
        self._do()
        await self._wait_for_answer(lambda: self._state.lists > before, "the list of matches")
        return self._state.games.playing

    async def move(
        self,
        game_id: str,
        move: str,
        *,
        offer_draw: bool = False,  # noqa: ARG002 - the site has no draw offers
        info: MoveInfo | None = None,
    ) -> None:
        game = self._state.games.by_id.get(game_id)
        ply = 0 if game is None else len(game.moves)
        try:
            await self._wait_until(lambda: game is None or not game.is_stale, ANSWER_S, f"game {game_id}")
        except TransientError:
            self._resync(game_id)  # the answer may be lost
            raise
        if game is not None and len(game.moves) != ply:  # it was sent before, or is for another position
            if game.moves[ply : ply + 1] == (move,):
                return
            raise RefusedError(f"game {game_id}: not our turn", 400)
        self._state.actions.play(game_id, move, info)
        self._do()
        sent_at = self._clock()
        assert game is not None, "play() refuses unknown games"  # noqa: S101

        def is_answered() -> bool:
            return len(game.moves) != ply or bool(game.refusal) or game.status is not GgsStatus.LIVE

        try:
            await self._wait_for_answer(is_answered, f"game {game_id}: {move}")
        except TransientError:
            self._resync(game_id)
            await self._wait_for_answer(lambda: not game.is_stale, f"game {game_id}")
            if not is_answered():
                raise
        if game.refusal:
            raise RefusedError(f"game {game_id}: {game.refusal}", 400)
        took_s = self._clock() - sent_at
        self._lag.add(took_s)
        self._on_answer(took_s)

    def _resync(self, game_id: str) -> None:
        self._state.actions.resync(game_id)
        self._do()

    async def chat(self, game_id: str, text: str, room: Room = Room.PLAYER) -> None:
        self._state.actions.say(game_id, text, room)
        self._do()

    async def resign(self, game_id: str) -> None:
        self._state.actions.resign(game_id)
        self._do()
        game = self._state.games.by_id.get(game_id)
        over = f"game {game_id}: resigning"
        await self._wait_for_answer(lambda: game is None or game.status is not GgsStatus.LIVE, over)

    async def abort(self, game_id: str) -> None:
        self._state.actions.abort(game_id)
        self._do()

    # --- Requests ---------------------------------------------------------------------------------------

    async def accept(self, challenge_id: str) -> None:
        async with self._request_lock:
            attempt = self._state.requests.accept(challenge_id)
            self._do()
            await self._wait_for_answer(lambda: attempt.is_settled, f"challenge {challenge_id}")
        if attempt.began:
            return
        if attempt.is_lost:
            raise TransientError(f"challenge {challenge_id}: {attempt.refusal}")
        is_gone = "not found" in attempt.refusal or attempt.refusal == "it is gone"
        raise RefusedError(f"challenge {challenge_id}: {attempt.refusal}", 404 if is_gone else 400)

    async def decline(self, challenge_id: str, reason: DeclineReason) -> None:  # noqa: ARG002
        self._state.requests.decline(challenge_id)
        self._do()

    async def challenge(self, opponent_id: str, proposal: Proposal) -> Reply:
        self._recorder.mask.name(opponent_id)
        attempt = Attempt()
        clock = wire.GgsClock(proposal.clock.initial_s, proposal.clock.increment_s, self._extension_s)
        try:
            async with self._request_lock:
                # Pairs have both colours.
                colour = "bw"[proposal.side] if proposal.side is not None and proposal.variant == "8" else ""
                variant = proposal.variant + colour
                attempt = self._state.requests.ask(opponent_id, variant, clock, rated=proposal.rated)
                self._do()
                shown = f"asking {opponent_id}"
                await self._wait_for_answer(lambda: bool(attempt.key) or attempt.is_settled, shown)
            while not attempt.is_settled:
                await self._changed.wait()
        except (asyncio.CancelledError, TransientError):
            with suppress(TransientError):
                self._state.requests.cancel(attempt)
                self._do()
            raise
        if attempt.is_lost:
            raise TransientError(f"challenge to {opponent_id}: {attempt.refusal}")
        return Reply(attempt.key, attempt.began, attempt.refusal or "accepted")

    async def online_bots(self) -> list[Bot]:
        """The configured programs that accept games; if there are none and the settings allow open requests,
        a single entry for everybody."""
        ratings_of: dict[str, dict[str, int]] = {}
        for pool in ("8", "8r"):
            self._players = None
            self._state.out.ask("who", pool)
            self._do()
            await self._wait_for_answer(lambda: self._players is not None, "the list of players")
            keys = [key for key in self._dialect.variants if ("r" in key) == (pool == "8r")]
            players: list[wire.GgsPlayer] = self._players or []
            for player in players:
                if player.is_open and player.name.casefold() in self._programs:
                    ratings = (
                        {} if player.deviation >= PROVISIONAL else dict.fromkeys(keys, round(player.rating))
                    )
                    ratings_of.setdefault(player.name, {}).update(ratings)
        bots = [Bot(name, name, ratings) for name, ratings in ratings_of.items()]
        if not bots and self._public:
            bots.append(Bot(EVERYBODY, "everybody", {}))
        return bots

    def rating_list(self, proposal: Proposal) -> str:
        return self._dialect.rating_list(proposal)

    async def close(self) -> None:
        if self._link is not None:
            await self._link.close()
            self._link = None
        self._recorder.close()


PROVISIONAL = 300.0
"""Minimum deviation of a provisional rating; every newcomer's deviation starts at 350."""


def read_address(url: str) -> tuple[str, int]:
    """The host and port in ``ggs://host[:port]``.

    Raises:
        ConfigError: The URL does not have this form.
    """
    try:
        parts = urlsplit(url)
        port = parts.port
    except ValueError:  # the port is not a number
        parts, port = urlsplit(""), 0
    rest = parts.path.strip("/") + parts.query + parts.fragment
    if parts.scheme != "ggs" or not parts.hostname or port == 0 or rest or "@" in parts.netloc:
        raise ConfigError(f"server.url: {url!r} is not of the form ggs://host[:port]")
    return parts.hostname, port or PORT


def read_about(lines: Sequence[str]) -> str:
    """Summarise the service's ``finger`` answer for the operator."""
    fields = wire.fields_of(lines)
    is_registered = fields.get("level", "0") not in ("", "0")
    parts = ["registered" if is_registered else "not registered, so only unrated games can be played"]
    stored = next((value for key, value in fields.items() if key.startswith("stored")), "0")
    if stored.isdecimal() and int(stored):
        parts.append(f"adjourned games: {stored}")
    matches = [re.match(r"(\d+\w*) +(-?[\d.]+)@", line) for line in lines]
    shown = [f"{match[1]}: {match[2]}" for match in matches if match]
    if shown:
        parts.append(f"ratings {', '.join(shown)}")
    return "; ".join(parts)
