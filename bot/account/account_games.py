"""Plays an account's games: starts, resumes, abandons and forgets them.

`bot.account.game_lifecycle` defines the phases of a game and the transitions between them; this module
carries out the actions.
"""

import asyncio
import logging
import math
from collections.abc import Awaitable, Callable, Mapping
from dataclasses import dataclass, field
from functools import partial
from http import HTTPStatus
from typing import Any

from bot.account.background_tasks import BackgroundTasks
from bot.account.challenge_policy import GameSlot
from bot.account.game_lifecycle import WAITING_PHASES, Action, Phase, PhaseEvent, advance
from bot.account.game_slots import GameSlots
from bot.base.config import REST_AFTER_S
from bot.base.errors import AuthError, ProtocolError, RefusedError, ServerError, TransientError
from bot.base.events import EndReason, GameEnd, GameSnapshot, GameStarted
from bot.base.game_server import UnplayableGame, is_game_running
from bot.base.reconnect import backoff_delays
from bot.game.game_runner import GameRunner
from bot.game.ledger import GameLedger
from bot.game.pending_actions import CONFIRMATION_S
from bot.game.services import GameServices
from engine.games import ENGINE_GAMES
from storage.errors import StorageError
from storage.ledger.games import list_unsettled_games, set_rating_diff
from storage.records import GameStatus, StoredGame

logger = logging.getLogger(__name__)

DEFAULT_MAX_RUNNERS = 50
"""Maximum number of concurrent games unless the settings allow more: lichess.org lists at most this many.
Further games wait until others end, except games whose challenge we accepted."""
MAX_CRASHES_PER_GAME = 5
"""Number of crashes in a game after which we abandon the game."""
GIVEN_UP_POLL_INTERVAL_S = 600.0
"""Maximum number of seconds between two attempts to end an abandoned game."""
ABORT_PATIENCE_S = 60.0
"""Seconds for which we try to abort a game that we do not play, before we resign it: at some sites the
opponent must agree to abort."""
CRASH_COUNT_RESET_S = 600.0
"""When a game has run for this many seconds after a crash, its crash count is reset."""


_UNKNOWN_END = GameEnd(EndReason.UNKNOWN, None, "unreadable")


@dataclass(slots=True, eq=False)
class _Game:
    """The state of a game in any phase except `Phase.UNKNOWN`."""

    phase: Phase = Phase.UNKNOWN
    player: GameRunner | None = None
    """The game's runner; None unless the game's ledger is open."""
    challenge_id: str = ""
    """The challenge's id, if it differs from the game's."""
    was_open: bool = False
    """Whether the game was unsettled when we connected; if so, the server may never report the game's end."""
    has_rules: bool = True
    """Whether we know the game's rules, even if the engine that the game needs is missing."""
    is_tournament: bool = False
    """As `bot.base.events.GameStarted.is_tournament`."""
    gave_slot: bool = False
    """Whether the game has given up its slot, because it does not begin."""
    trouble: Exception | None = None
    """The error for which we gave the game up."""
    snapshot: GameSnapshot | None = None
    """What is known of a game that we gave up."""
    end: GameEnd | None = None
    """How a game ended that we gave up; None if it is running, or we do not know."""
    over: asyncio.Event = field(default_factory=asyncio.Event)
    """An event that is set when we no longer play the game."""


class AccountGames:
    """The games of one account, each with a `GameRunner` while it is played.

    Args:
        services: The services that all games share.
        slots: The account's game slots, which are taken and freed as games start and end.
        background: Runs slow tasks in the background.
        changed: Called after every event of a game.
        played: Called with the id of each game whose end we observed, except tournament games.
    """

    def __init__(
        self,
        services: GameServices,
        slots: GameSlots,
        background: BackgroundTasks,
        changed: Callable[[], None],
        played: Callable[[str], None],
    ) -> None:
        self._services = services
        self._server = services.server
        self._slots = slots
        self._background = background
        self._changed = changed
        self._played = played
        self._games: dict[str, _Game] = {}
        """The games by id, in the order in which they started."""
        self._begun: dict[str, asyncio.Future[str]] = {}
        """A future for each challenge that a caller waits for, set to the game's id when the game starts."""

    def __contains__(self, game_id: str) -> bool:
        return game_id in self._games

    @property
    def playing(self) -> list[str]:
        """Ids of the games whose ledger is open."""
        return [game_id for game_id, game in self._games.items() if game.player is not None]

    def player(self, game_id: str) -> GameRunner | None:
        """The runner of a game, or None if the game's ledger is not open."""
        game = self._games.get(game_id)
        return None if game is None else game.player

    @property
    def _running_count(self) -> int:
        """Number of games with a runner that are not over, unlike those that are still being settled."""
        players = (game.player for game in self._games.values())
        return sum(player is not None and not player.is_over for player in players)

    @property
    def resting_count(self) -> int:
        """Number of games with a clock whose opponents have been thinking for `REST_AFTER_S`."""
        players = (game.player for game in self._games.values())
        return sum(player is not None and player.opponent_thinks_s >= REST_AFTER_S for player in players)

    # --- What happens -----------------------------------------------------------------------------------

    def start(
        self, game_id: str, *, slot: GameSlot | None = None, challenge_id: str = "", was_open: bool = False
    ) -> None:
        """Play a running game: immediately if there is room, otherwise when other games have ended.

        Args:
            game_id: The site's id.
            slot: The game's slot, if the game is already in the database.
            challenge_id: The challenge's id, if it differs from the game's.
            was_open: Whether the game is unsettled in the ledger.
        """
        self._apply_event(game_id, PhaseEvent.STARTED, slot=slot, challenge_id=challenge_id)
        if was_open:
            self._games[game_id].was_open = True

    def note_start(self, started: GameStarted) -> None:
        """Handle a game start reported by the account's stream."""
        game_id = started.game_id
        if started.is_played_here and not self.is_engine_missing(started.game):
            self.start(game_id, challenge_id=started.challenge_id)
        else:
            if game_id not in self._games:
                self._slots.leave(started.challenge_id)
            self._apply_event(game_id, PhaseEvent.STARTED_ELSEWHERE)
            self._games[game_id].has_rules = started.is_played_here
        self._games[game_id].is_tournament = started.is_tournament

    def is_engine_missing(self, game: str) -> bool:
        """Whether this kind of game needs an external engine and none is configured for it."""
        return game in ENGINE_GAMES and self._services.engines.settings(game) is None

    def note_end(self, game_id: str) -> None:
        """Handle a game end reported by the account's stream."""
        self._apply_event(game_id, PhaseEvent.END_REPORTED)

    async def resume_games(self, *, is_start: bool = False) -> None:
        """Resume the games that are unsettled in the ledger or still running on the server.

        Args:
            is_start: Log temporary errors only at debug level, because the stream will list the games.
        """
        async with self._services.database.read() as session:
            stored = await list_unsettled_games(session, self._services.owner)
        for game in sorted(stored, key=lambda each: each.state is not GameStatus.OPEN):
            self.start(game.site_game_id, slot=slot_for_stored_game(game), was_open=True)
        try:
            await self.resume_listed_games()
        except AuthError:
            raise
        except ServerError as error:  # the account's stream lists the same games
            # Where that stream is the only connection, no query is possible before it is open.
            is_unexpected = not (is_start and isinstance(error, TransientError))
            logger.log(
                logging.INFO if is_unexpected else logging.DEBUG, "cannot query running games: %s", error
            )

    async def resume_listed_games(self) -> None:
        """Resume the games that the server lists; raises the same errors as `Server.running_game_ids`."""
        for game_id in await self._server.running_game_ids():
            self.start(game_id)

    def free_slots(self) -> None:
        """Free the slots of games that need none, even if their runners have not finished.

        These are games that are over or adjourned, and games that do not begin and cannot be aborted, until
        they do begin.
        """
        for game_id, game in self._games.items():
            player = game.player
            if player is None:
                continue
            resumes = game.phase in (Phase.RESUMING, Phase.ENDING_RESUMING)
            if player.is_over:
                if not (player.is_adjourned and resumes):
                    self._slots.end(game_id)
            elif player.cannot_begin and not game.gave_slot:
                game.gave_slot = True
                self._slots.end(game_id)
            elif game.gave_slot and not player.cannot_begin:
                game.gave_slot = False
                self._slots.start(game_id)

    async def wait_until_over(self, challenge_id: str, expiry: asyncio.Task[bool]) -> str | None:
        """Wait for the game of an accepted challenge to start and to end.

        Args:
            challenge_id: The challenge.
            expiry: Completes when it is certain that no game will start.

        Returns:
            The game's id, or None if no game has started.
        """
        begun: asyncio.Future[str] = asyncio.get_running_loop().create_future()
        self._begun[challenge_id] = begun
        for game_id, game in self._games.items():
            if challenge_id in (game_id, game.challenge_id) and not begun.done():
                begun.set_result(game_id)
        if not begun.done() and self._slots.has_ended(challenge_id):  # it was over before the answer came
            begun.set_result(challenge_id)
        started: list[asyncio.Future[Any]] = [begun, expiry]
        try:
            await asyncio.wait(started, return_when=asyncio.FIRST_COMPLETED)
        finally:
            del self._begun[challenge_id]
        if not begun.done():
            return None
        if (found := self._games.get(begun.result())) is not None:
            await found.over.wait()
        return begun.result()

    # --- The table's actions ----------------------------------------------------------------------------

    def _apply_event(
        self, game_id: str, event: PhaseEvent, *, slot: GameSlot | None = None, challenge_id: str = ""
    ) -> None:
        game = self._games.get(game_id) or _Game(challenge_id=challenge_id)
        game.phase, actions = advance(game.phase, event)
        if game.phase is Phase.UNKNOWN:
            self._games.pop(game_id, None)
        else:
            self._games[game_id] = game
        for action in actions:
            self._perform_action(action, game_id, game, slot)
        if game.player is None and game.phase not in WAITING_PHASES:
            game.over.set()
        self._changed()

    def _perform_action(self, action: Action, game_id: str, game: _Game, slot: GameSlot | None) -> None:
        start = self._background.start
        match action:
            case Action.TAKE_SLOT:
                game.over.clear()
                # Accepted games are limited already, so they always begin at once.
                is_accepted = self._slots.has_unstarted_slot(game.challenge_id or game_id)
                self._slots.start(game_id, slot, game.challenge_id)
                begun = self._begun.get(game.challenge_id or game_id)
                if begun is not None and not begun.done():
                    begun.set_result(game_id)
                if is_accepted:
                    self._apply_event(game_id, PhaseEvent.ROOM)
            case Action.RETAKE_SLOT:
                if game.player is not None and game.player.is_adjourned:
                    self._slots.start(game_id)
            case Action.FREE_SLOT:
                self._slots.end(game_id)
            case Action.SEEK_ROOM:
                if game.phase in WAITING_PHASES and not self.start_waiting_game():
                    logger.warning(
                        "game %s: waiting for one of %d others to end", game_id, self._running_count
                    )
            case Action.BEGIN:
                game.player = self._runner(game_id)
                self._background.tasks.create_task(self._run_game(game_id, game, game.player))
            case Action.END_UNPLAYABLE:
                self._run_apart(f"game {game_id}: ending it", partial(self._end_unplayable, game_id, game))
            case Action.CLOSE:
                closing = partial(self._store_unplayable, game_id, game, is_last=True)
                start(f"game {game_id}: closing it", closing)
            case Action.ASK_RATING:
                if game.was_open:
                    start(f"game {game_id}: asking for the rating change", partial(self._ask_rating, game_id))
            case Action.ABORT:
                self._run_apart(f"game {game_id}: aborting", partial(self._abort_unplayable, game_id, game))

    def _runner(self, game_id: str) -> GameRunner:
        can_abort = self._slots.can_abort(game_id)
        return GameRunner(game_id, self._services, self._changed, can_abort=can_abort)

    def _run_apart(self, what: str, call: Callable[[], Awaitable[None]]) -> None:
        """Run a call that may take as long as a game, so nothing waits for it when the program stops."""
        self._background.tasks.create_task(self._background.attempt(what, call))

    def start_waiting_game(self) -> bool:
        """Start the first waiting game if there is room; return True if no other game is waiting."""
        held = [game_id for game_id, game in self._games.items() if game.phase in WAITING_PHASES]
        limits = self._services.config.challenges
        if held and self._running_count < max(DEFAULT_MAX_RUNNERS, limits.max_games + limits.max_slow_games):
            self._apply_event(held.pop(0), PhaseEvent.ROOM)
        return not held

    async def _run_game(self, game_id: str, game: _Game, player: GameRunner) -> None:
        try:
            outcome = await self._play_to_end(game_id, game, player)
        finally:
            player, game.player = game.player or player, None
        self._apply_event(game_id, outcome)
        if outcome is PhaseEvent.ENDED and not game.is_tournament and player.was_running:
            self._played(game_id)

    async def _play_to_end(self, game_id: str, game: _Game, player: GameRunner) -> PhaseEvent:
        """Play a game to its end and handle all errors in it except `AuthError`."""
        waits = backoff_delays(self._services.rng)
        crashes, crashed_at = 0, -math.inf
        while crashes < MAX_CRASHES_PER_GAME:
            try:
                await player.run()
            except AuthError:
                raise
            except (ProtocolError, RefusedError) as error:
                logger.error("game %s: given up: %.500s", game_id, error)
                await self._record_trouble(game_id, "game_given_up", error)
                game.trouble = error
                break
            except StorageError as error:  # the database will come back, and the game must not be forgotten
                logger.error("game %s: %s", game_id, error)
            except Exception as error:
                now = self._services.clock()
                if now - crashed_at >= CRASH_COUNT_RESET_S:
                    crashes, waits = 0, backoff_delays(self._services.rng)
                crashes, crashed_at = crashes + 1, now
                logger.exception("game %s: crashed", game_id)
                await self._record_trouble(game_id, "game_crashed", error)
                game.trouble = error
            else:
                return PhaseEvent.ADJOURNED if player.is_adjourned else PhaseEvent.ENDED
            await self._services.sleep(next(waits))
            player = game.player = self._runner(game_id)
        trouble = game.trouble
        game.snapshot = trouble.snapshot if isinstance(trouble, UnplayableGame) else player.snapshot
        return PhaseEvent.FAILED

    async def _end_unplayable(self, game_id: str, game: _Game) -> None:
        """Store a running game that we do not play, and abort it, else resign it: its opponent must not wait.

        Repeat this until the server no longer lists the game, because it may not report the end.
        """
        phase, began_s = game.phase, self._services.clock()
        await self._store_unplayable(game_id, game)
        waits = backoff_delays(self._services.rng, cap_s=GIVEN_UP_POLL_INTERVAL_S)
        while game.phase is phase:
            if not isinstance(game.trouble, RefusedError):  # in that case the server does not know the game
                is_patient = self._services.clock() - began_s < ABORT_PATIENCE_S
                is_abortable = is_patient and not game.is_tournament
                try:
                    game.end = await self._abort_or_resign(game_id, is_abortable=is_abortable) or game.end
                except TransientError as error:
                    logger.info("game %s: %s; trying again", game_id, error)
            if await is_game_running(self._server, game_id) is False and game.phase is phase:
                await self._store_unplayable(game_id, game)
                self._apply_event(game_id, PhaseEvent.NOT_RUNNING)
                return
            await self._services.sleep(max(next(waits), CONFIRMATION_S))

    async def _abort_or_resign(self, game_id: str, *, is_abortable: bool) -> GameEnd | None:
        """Ask the server to end a game; return the end, or None if the server refuses."""
        try:
            if is_abortable:
                await self._server.abort(game_id)
                return GameEnd(EndReason.ABORTED, None, "aborted")
        except RefusedError as error:
            logger.info("game %s: cannot be aborted: %s", game_id, error)
        try:
            await self._server.resign(game_id)
        except RefusedError as error:
            logger.warning("game %s: can neither be aborted nor resigned: %s", game_id, error)
            return None
        return GameEnd(EndReason.RESIGNATION, None, "resign")

    async def _store_unplayable(self, game_id: str, game: _Game, *, is_last: bool = False) -> None:
        services = self._services
        ledger = GameLedger(services.database, services.owner, services.role, game_id, services.metrics)
        end = _UNKNOWN_END if is_last and game.end is None else game.end
        reason = f"{game.trouble!s:.500}"
        store = partial(ledger.store_unplayable, game.snapshot, reason, end, is_last=is_last)
        await self._background.attempt(f"game {game_id}: storing that it was given up", store)

    async def _abort_unplayable(self, game_id: str, game: _Game) -> None:
        """Abort a game of a kind we do not play; otherwise the opponent would wait or face a weak player."""
        logger.warning("game %s: aborting it, because we do not play this kind of game", game_id)
        await self._background.record_event("game_not_played_here", {"site_game_id": game_id})
        if not game.has_rules:
            await self._end_unplayable(game_id, game)
            return
        waits, began_s = backoff_delays(self._services.rng), None
        while game.phase is Phase.ABORTING:
            try:
                if game.is_tournament:  # asking would only cost time on its clock
                    raise RefusedError("a tournament's game", HTTPStatus.BAD_REQUEST)
                await self._server.abort(game_id)
                began_s = self._services.clock() if began_s is None else began_s
                if self._services.clock() - began_s >= ABORT_PATIENCE_S:
                    raise RefusedError("the server goes on with it", HTTPStatus.BAD_REQUEST)
            except TransientError as error:
                logger.info("game %s: %s; trying again to abort it", game_id, error)
            except RefusedError as error:
                logger.warning(
                    "game %s: cannot be aborted (%s); playing it without its engine", game_id, error
                )
                self._apply_event(game_id, PhaseEvent.MUST_PLAY)
                return
            await self._services.sleep(max(next(waits), CONFIRMATION_S))
            if await is_game_running(self._server, game_id) is False:
                self._apply_event(game_id, PhaseEvent.NOT_RUNNING)

    async def _record_trouble(self, game_id: str, kind: str, error: Exception) -> None:
        raw = getattr(error, "raw", None)
        try:
            shown = None if raw is None else repr(raw)[:2000]
        except RecursionError:  # JSON may be nested nearly to Python's recursion limit
            shown = "too deeply nested"
        detail: Mapping[str, str | None] = {
            "site_game_id": game_id,
            "error": f"{error!s:.500}",
            "raw": shown,
        }
        await self._background.record_event(kind, detail)

    # --- Rating changes ---------------------------------------------------------------------------------

    async def store_rating(self, game_id: str, diff: int) -> None:
        """Record how a game changed our rating."""
        try:
            async with self._services.database.write() as session:
                await set_rating_diff(session, self._services.owner, game_id, diff)
        except StorageError as error:
            logger.error("game %s: cannot record the rating change of %+d: %s", game_id, diff, error)

    def games_without_end_report(self) -> list[str]:
        """Finished games whose end the account's stream has not reported; the report may have been lost."""
        return [game_id for game_id, game in self._games.items() if game.phase is Phase.UNREPORTED]

    async def ask_ratings(self, game_ids: list[str]) -> None:
        """Query missing rating changes, because servers do not resend missed events."""
        for game_id in game_ids:
            await self._ask_rating(game_id)

    async def _ask_rating(self, game_id: str) -> None:
        try:
            diff = await self._server.rating_diff(game_id, self._services.bot_name)
        except AuthError:
            raise
        except ServerError as error:
            if not isinstance(error, TransientError):
                self._apply_event(game_id, PhaseEvent.RATING_KNOWN)
            logger.info("game %s: cannot query the rating change: %s", game_id, error)
            return
        self._apply_event(game_id, PhaseEvent.RATING_KNOWN)
        if diff is not None:
            await self.store_rating(game_id, diff)


def slot_for_stored_game(game: StoredGame) -> GameSlot:
    """Return the slot that a stored game needs."""
    return GameSlot(game.opponent_id, game.opponent_is_bot, game.clock_initial_s is None)
