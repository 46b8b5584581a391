"""What the account hears: challenges answered, games started or taken up again."""

import asyncio
import logging
from dataclasses import dataclass

from bot.challenges import Accept, Load, answer
from bot.errors import AuthError, ProtocolError, RefusedError, ServerError, TransientError
from bot.events import AccountEvent, Challenge, ChallengeGone, ChallengeReceived, GameFinished, GameStarted
from bot.player import GamePlayer, Services
from bot.reconnect import delays, stay_connected
from storage.errors import StorageError
from storage.events import record_event
from storage.games import list_open_games, set_rating_diff

logger = logging.getLogger(__name__)

ACCEPTED_S = 30.0
"""An accepted challenge holds its place this long, in seconds; by then its game has started or never will."""
MAX_CRASHES = 5
"""So often a game is taken up again after an error of this program."""


@dataclass(frozen=True, slots=True)
class _Accepted:
    opponent_id: str
    until: float


class Lobby:
    """Owns the account's stream and a `GamePlayer` for each game; `listen` runs them all."""

    def __init__(self, services: Services) -> None:
        self.accepting = True
        self._services = services
        self._server = services.server
        self._accepted: dict[str, _Accepted] = {}
        """By challenge, which is the game's id too."""
        self._players: dict[str, GamePlayer] = {}
        self._given_up: set[str] = set()
        self._resumed: set[str] = set()
        """Games that were open while we were away: their end may not be told."""
        self._empty = asyncio.Event()
        self._empty.set()
        self._games: asyncio.TaskGroup

    async def listen(self) -> None:
        """Answer challenges and play until cancelled; games that go on then are left to the next start.

        Raises:
            AuthError: The server does not accept us any more.
        """
        async with asyncio.TaskGroup() as self._games:
            await self._take_up_games()
            await stay_connected(
                self._server.account_events,
                self._handle,
                name=f"{self._server.site} account",
                on_change=self._link_changed,
                sleep=self._services.sleep,
                clock=self._services.clock,
                rng=self._services.rng,
            )

    async def drained(self) -> None:
        """Return when no game is going on."""
        await self._empty.wait()

    @property
    def running(self) -> int:
        """Games whose books are open."""
        return len(self._players)

    # --- Events -----------------------------------------------------------------------------------------

    async def _handle(self, event: AccountEvent) -> None:
        """One event; whatever goes wrong with it must not end the games."""
        try:
            await self._take(event)
        except (AuthError, TransientError):
            raise
        except Exception as error:
            logger.exception("%s account: cannot deal with %.500r", self._server.site, event)
            await self._note("event_failed", {"event": f"{event!r:.500}", "error": f"{error!r:.500}"})

    async def _take(self, event: AccountEvent) -> None:
        match event:
            case ChallengeReceived(challenge):
                await self._answer(challenge)
            case ChallengeGone(challenge_id):
                self._accepted.pop(challenge_id, None)
            case GameStarted(game_id, is_played_here):
                self._accepted.pop(game_id, None)
                if not is_played_here:
                    logger.warning("game %s: not a game that is played here", game_id)
                else:
                    self._play(game_id)
            case GameFinished(game_id, rating_diff):
                if rating_diff is not None:
                    await self._store_rating(game_id, rating_diff)

    async def _answer(self, challenge: Challenge) -> None:
        # Servers repeat standing challenges whenever the stream is opened.
        if challenge.is_ours or challenge.id in self._accepted or challenge.id in self._players:
            return
        decision = answer(challenge, self._load(), self._services.config.challenges)
        who = challenge.challenger
        name = "somebody" if who is None else who.name
        try:
            if isinstance(decision, Accept):
                self._accepted[challenge.id] = _Accepted(
                    "" if who is None else who.id, self._services.clock() + ACCEPTED_S
                )
                await self._server.accept(challenge.id)
                logger.info("challenge %s of %s: accepted", challenge.id, name)
                return
            await self._server.decline(challenge.id, decision.reason)
        except AuthError:
            raise
        except ServerError as error:
            # A refusal says that the challenge is gone.  After a lost answer it may have been accepted all
            # the same: then the game starts, and the place is held until it does.
            if not isinstance(error, TransientError):
                self._accepted.pop(challenge.id, None)
            logger.info("challenge %s of %s: %s", challenge.id, name, error)
            return
        logger.info("challenge %s of %s: declined: %s", challenge.id, name, decision.why)
        await self._note(
            "challenge_declined",
            {
                "challenge": challenge.id,
                "challenger": None if who is None else who.id,
                "reason": decision.reason.value,
                "why": decision.why,
            },
        )

    def _load(self) -> Load:
        now = self._services.clock()
        self._accepted = {key: each for key, each in self._accepted.items() if each.until > now}
        return Load(
            opponents=(
                *(each.opponent_id for each in self._accepted.values()),
                *(player.opponent_id for player in self._players.values() if not player.is_over),
            ),
            is_open=self.accepting,
        )

    async def _link_changed(self, reason: str | None) -> None:
        if reason is not None:
            await self._note("account_link_lost", {"reason": reason})
            return
        await self._note("account_link_back", {})
        try:
            await self._take_up_games()  # what started meanwhile may have dropped out of the server's queue
        except StorageError as error:
            logger.error("cannot look for open games: %s", error)

    async def _note(self, kind: str, detail: dict[str, str | None]) -> None:
        try:
            async with self._services.database.write() as session:
                await record_event(session, self._server.site, kind, detail)
        except StorageError as error:
            logger.error("cannot note %s %s: %s", kind, detail, error)

    async def _store_rating(self, game_id: str, diff: int) -> None:
        try:
            async with self._services.database.write() as session:
                await set_rating_diff(session, self._server.site, game_id, diff)
        except StorageError as error:
            logger.error("game %s: cannot note the rating's change of %+d: %s", game_id, diff, error)

    async def _ask_rating(self, game_id: str) -> None:
        """A game that was taken up again may have ended unseen, and its end is not told twice."""
        self._resumed.discard(game_id)
        try:
            diff = await self._server.rating_diff(game_id, self._services.bot_name)
        except AuthError:
            raise
        except ServerError as error:
            logger.info("game %s: cannot ask for the rating's change: %s", game_id, error)
            return
        if diff is not None:
            await self._store_rating(game_id, diff)

    # --- Games ------------------------------------------------------------------------------------------

    async def _take_up_games(self) -> None:
        """Go on with what is open in the books or on the server."""
        async with self._services.database.read() as session:
            stored = await list_open_games(session, self._server.site)
        for game in stored:
            self._resumed.add(game.site_game_id)
            self._play(game.site_game_id)
        try:
            for game_id in await self._server.playing():
                self._play(game_id)
        except AuthError:
            raise
        except ServerError as error:  # the account's stream tells the same
            logger.info("cannot ask for running games: %s", error)

    def _play(self, game_id: str) -> None:
        if game_id not in self._players and game_id not in self._given_up:
            self._players[game_id] = GamePlayer(game_id, self._services)
            self._empty.clear()
            self._games.create_task(self._look_after(game_id))

    async def _look_after(self, game_id: str) -> None:
        try:
            await self._play_through(game_id)
        finally:
            del self._players[game_id]
            if not self._players:
                self._empty.set()

    async def _play_through(self, game_id: str) -> None:
        """The edge of a game: whatever goes wrong inside ends here, except that the account is refused."""
        waits = delays(self._services.rng)
        crashes = 0
        while crashes < MAX_CRASHES:
            try:
                await self._players[game_id].run()
                if game_id in self._resumed:
                    await self._ask_rating(game_id)
                return
            except AuthError:
                raise
            except (ProtocolError, RefusedError) as error:
                logger.error("game %s: given up: %s", game_id, error)
                await self._note_trouble(game_id, "game_given_up", error)
                break
            except StorageError as error:  # it will be there again, and the game must not be forgotten
                logger.error("game %s: %s", game_id, error)
            except Exception as error:
                crashes += 1
                logger.exception("game %s: crashed", game_id)
                await self._note_trouble(game_id, "game_crashed", error)
            await self._services.sleep(next(waits))
            self._players[game_id] = GamePlayer(game_id, self._services)
        self._given_up.add(game_id)

    async def _note_trouble(self, game_id: str, kind: str, error: Exception) -> None:
        raw = getattr(error, "raw", None)
        try:
            shown = None if raw is None else repr(raw)[:2000]
        except RecursionError:  # JSON may be nested nearly as deep as Python can go
            shown = "too deeply nested"
        await self._note(kind, {"site_game_id": game_id, "error": str(error), "raw": shown})
