"""The operator's control actions, for both the control socket and the dashboard.

Each action that changes something is recorded as an event in the database (`bot.control.audit`).
"""

import asyncio
import math
import random
from collections.abc import Awaitable, Callable, Mapping
from dataclasses import dataclass, field, replace
from datetime import datetime, timedelta
from typing import Any

from bot.account.account_runner import AccountRunner
from bot.account.lobby import Lobby
from bot.account.odds import with_odds
from bot.account.pause import Pause
from bot.alarms.evaluator import AlarmEvaluator, AlarmStatus
from bot.base import log
from bot.base.dialects import DIALECTS, Dialect
from bot.base.errors import RefusedError
from bot.base.events import MAX_CHAT_LENGTH, Clock, Proposal
from bot.base.metrics import Metrics
from bot.control.arguments import find_account, word
from bot.control.audit import Audit, AuditEntry
from bot.control.blocks import change_block
from bot.control.control_socket import ControlError
from bot.control.status import (
    Admission,
    AdmissionStatus,
    ArenaStatus,
    Status,
    gather_status,
)
from bot.control.status_text import admission_text
from bot.game.game_runner import GameRunner
from bot.threads.search_pool import SearchPool
from engine.opponents.odds import ODDS, odds_named
from storage.database import Database
from storage.ledger.events import PROGRAM
from storage.ledger.games import load_game
from storage.tables.types import now_utc

MAX_PAUSE_MIN = 7 * 24 * 60.0
"""Maximum length of a pause, in minutes."""
PAUSE_POLL_INTERVAL_S = 1.0
"""Seconds between checks for expired pauses."""
CHALLENGE_REFUSAL_TIMEOUT_S = 5.0
"""Seconds for which `OperatorActions.begin_challenge` waits for a refusal."""

Tell = Callable[[str], None]


@dataclass(frozen=True, slots=True)
class _FoundGame:
    """The game that an action applies to."""

    lobby: Lobby
    key: str
    player: GameRunner

    async def request_site(self, call: Awaitable[None], trouble: str) -> None:
        """Send a request to the site, which may refuse it."""
        try:
            await call
        except RefusedError as error:
            raise ControlError(f"game {self.key}: {trouble}: {error}") from error


@dataclass(frozen=True)
class Runtime:
    """The parts of the running program that the actions use."""

    runners: Mapping[str, AccountRunner]
    """The accounts, keyed by name."""
    database: Database
    pool: SearchPool
    pause: Pause
    stop: asyncio.Event
    """Set this to finish the running games and stop."""
    reload: Callable[[], str]
    """Reloads the settings; returns what has changed, or raises `ConfigError`."""
    arena: Callable[[], ArenaStatus | None] = lambda: None
    """Returns the embedded arena's state, or None if there is no arena."""
    errors: log.ErrorMemory = field(default_factory=log.ErrorMemory)
    """The last error that was logged."""
    alarms: AlarmEvaluator = field(default_factory=AlarmEvaluator)
    metrics: Metrics = field(default_factory=Metrics)
    """Counters of events."""
    games_to_judge: Callable[[], int] = lambda: 0
    """Returns the number of finished games whose replies are yet to be judged."""


class OperatorActions:
    """Carries out the operator's actions.

    All actions raise `ControlError` or another `DesdemonaError` when they cannot be carried out, and
    `StorageError` when the database fails; the message is for the operator. `by` names the caller:
    ``socket``, or ``dashboard`` with the user's name.

    Args:
        program: The running program.
        now: Returns the current time with its time zone.
    """

    def __init__(self, program: Runtime, now: Callable[[], datetime] = now_utc) -> None:
        self._program = program
        self._now = now
        self._audit = Audit(program.database, program.metrics)
        self._started_at = now()
        self._admission = AdmissionStatus(Admission.OPEN)
        self._challenges: set[asyncio.Task[str]] = set()
        """Tasks started by `begin_challenge`; each runs until its game is over."""

    async def run(self, sleep: Callable[[float], Any] = asyncio.sleep) -> None:
        """End expired pauses until cancelled; when cancelled, withdraw unanswered challenges.

        Args:
            sleep: Waits the given number of seconds.
        """
        try:
            await self._end_pauses(sleep)
        finally:
            for task in self._challenges:
                task.cancel()
            await asyncio.gather(*self._challenges, return_exceptions=True)

    async def _end_pauses(self, sleep: Callable[[float], Any]) -> None:
        while True:
            await sleep(PAUSE_POLL_INTERVAL_S)
            if self._program.pause.has_expired:
                self._program.pause.end()
                self._admission = AdmissionStatus(Admission.OPEN, self._now(), None, "timer")
                await self._audit.record(
                    AuditEntry(PROGRAM, {"action": "resume", "by": "timer"}, "the pause is over")
                )

    # --- The whole program ------------------------------------------------------------------------------

    async def status(self) -> Status:
        """The program's current status; records no event."""
        return await gather_status(
            self._program.runners,
            self._program.database,
            started_at=self._started_at,
            admission=self.admission,
            workers=self._program.pool.load,
            arena=self._program.arena(),
            log_level=log.current_level(),
            last_error=self._program.errors.latest,
            alarms=self._program.alarms.alarms,
            waits=self._program.pool.waits,
            games_to_judge=self._program.games_to_judge(),
        )

    @property
    def alarms(self) -> tuple[AlarmStatus, ...]:
        """As `bot.alarms.evaluator.AlarmEvaluator.alarms`."""
        return self._program.alarms.alarms

    @property
    def admission(self) -> AdmissionStatus:
        """Whether new games may start."""
        if self._program.stop.is_set() and self._admission.state is not Admission.DRAINING:
            return AdmissionStatus(Admission.DRAINING, None, None, "signal")
        return self._admission

    async def pause(self, minutes: float | None = None, *, by: str) -> str:
        """Start no new games; running games continue, and challenges are declined as "later".

        A new pause replaces the current one, including its end.

        Args:
            minutes: Length of the pause, more than 0 and at most `MAX_PAUSE_MIN`; None pauses until `resume`
                or until the program ends.
            by: See the class.
        """
        async with self._audit.recording("pause", by, minutes=minutes) as note:
            if minutes is not None and not (math.isfinite(minutes) and 0 < minutes <= MAX_PAUSE_MIN):
                raise ControlError(f"minutes must be more than 0 and at most {MAX_PAUSE_MIN:g}")
            self._require_not_stopping()
            duration_s = None if minutes is None else 60 * minutes
            until = None if duration_s is None else self._now() + timedelta(seconds=duration_s)
            self._admission = AdmissionStatus(Admission.PAUSED, self._now(), until, by)
            self._program.pause.begin(duration_s)
            how_long = "until `resume`" if minutes is None else f"for {minutes:g} minutes"
            note.result = f"paused {how_long}; {self._running_games_text()}"
        return note.result

    async def resume(self, *, by: str) -> str:
        """Allow new games to start again."""
        async with self._audit.recording("resume", by) as note:
            self._require_not_stopping()
            if not self._program.pause.holds_back_games:
                raise ControlError("the program is not paused")
            self._program.pause.end()
            self._admission = AdmissionStatus(Admission.OPEN, self._now(), None, by)
            note.result = admission_text(await self.status())
        return note.result

    async def drain(self, *, by: str) -> str:
        """Wait up to `shutdown.drain_s` seconds for the running games to end, then stop the program."""
        async with self._audit.recording("drain", by) as note:
            self._require_not_stopping()
            self._admission = AdmissionStatus(Admission.DRAINING, self._now(), None, by)
            self._program.stop.set()
            note.result = f"the program will stop after its games; {self._running_games_text()}"
        return note.result

    async def reload(self, *, by: str) -> str:
        """Reload the settings, as SIGHUP does; either all changes apply or none."""
        async with self._audit.recording("reload", by) as note:
            note.result = f"settings reloaded; changed: {self._program.reload()}"
        return note.result

    async def set_log_level(self, level: str, *, by: str) -> str:
        """Set the minimum level of log messages until the program ends."""
        async with self._audit.recording("log", by, level=level) as note:
            before = log.set_level(level.upper())
            note.result = f"log level set to {level.upper()}; it was {before}"
        return note.result

    async def acknowledge(self, alarm: str, *, by: str) -> str:
        """Send no more notices of a firing alarm until it clears."""
        async with self._audit.recording("ack", by, alarm=alarm) as note:
            note.result = self._program.alarms.acknowledge(alarm, by)
        return note.result

    async def snooze(self, alarm: str, minutes: float, *, by: str) -> str:
        """Send no notices of an alarm for a number of minutes: more than 0 and at most a week."""
        async with self._audit.recording("snooze", by, alarm=alarm, minutes=minutes) as note:
            note.result = self._program.alarms.snooze(alarm, minutes)
        return note.result

    def _require_not_stopping(self) -> None:
        if self._program.stop.is_set():
            raise ControlError("the program is already stopping")

    def _running_games_text(self) -> str:
        lobbies = [runner.lobby for runner in self._program.runners.values() if runner.lobby]
        closing = sum(lobby.closing for lobby in lobbies)
        more = f"; being closed: {closing}" if closing else ""
        return f"running games: {sum(lobby.running for lobby in lobbies) - closing}{more}"

    # --- Games ------------------------------------------------------------------------------------------

    async def abort(self, game: str, *, account: str | None = None, by: str) -> str:
        """Ask the site to abort a game; some sites allow this only before both sides have moved.

        Args:
            game: The game's key on the site, or a prefix that is unique among the running games.
            account: One of our accounts, or None for any.
            by: See the class.
        """
        async with self._audit.recording("abort", by, game=game) as note:
            game_found = self._find_game(game, account, note)
            await game_found.request_site(game_found.player.abort(), "the site refuses to abort the game")
            note.result = f"game {game_found.key}: aborted"
        return note.result

    async def resign(self, game: str, *, account: str | None = None, by: str) -> str:
        """Resign a game; takes the arguments of `abort`."""
        async with self._audit.recording("resign", by, game=game) as note:
            game_found = self._find_game(game, account, note)
            await game_found.request_site(game_found.player.resign(), "cannot be resigned")
            note.result = f"game {game_found.key}: resigned"
        return note.result

    async def say(self, game: str, text: str, *, account: str | None = None, by: str) -> str:
        """Send a message to the opponent in a game.

        Args:
            game: See `abort`.
            text: 1 to 140 printable characters.
            account: See `abort`.
            by: See the class.
        """
        async with self._audit.recording("say", by, game=game, text=text[:MAX_CHAT_LENGTH]) as note:
            if not text.strip() or len(text) > MAX_CHAT_LENGTH or not text.isprintable():
                raise ControlError(f"a message must have 1 to {MAX_CHAT_LENGTH} printable characters")
            game_found = self._find_game(game, account, note)
            await game_found.request_site(game_found.player.say(text), "the message was refused")
            note.result = f"game {game_found.key}: said"
        return note.result

    def _find_game(self, game: str, account: str | None, note: AuditEntry) -> _FoundGame:
        """The only running game whose key has this prefix.

        Raises:
            ControlError: No game or more than one game matches.
        """
        beginning = word(game, "key of a game")
        names = list(self._program.runners) if account is None else [self._find_account(account)]
        games = []
        for name in names:
            lobby = self._program.runners[name].lobby
            for key in lobby.playing if lobby is not None else ():
                player = lobby.player(key) if lobby is not None else None
                if lobby is not None and player is not None and key.startswith(beginning):
                    games.append(_FoundGame(lobby, key, player))
        exact = [found for found in games if found.key == beginning]
        games = exact or games
        if not games:
            raise ControlError(f"no running game has a key that starts with {beginning!r}")
        if len(games) > 1:
            keys = ", ".join(f"{found.key} ({found.lobby.owner.site})" for found in games[:10])
            raise ControlError(f"several keys start with {beginning!r}: {keys}")
        note.owner = games[0].lobby.owner
        note.detail["game"] = games[0].key
        return games[0]

    # --- People -----------------------------------------------------------------------------------------

    async def block(self, name: str, *, account: str | None = None, by: str) -> str:
        """Block an account on a site for all our accounts there. The block survives restarts.

        The account's waiting challenges are declined; running games continue.

        Args:
            name: Name or id of the account to block.
            account: One of our accounts; may be None if there is only one.
            by: See the class.
        """
        return await self._change_block("block", name, account, by)

    async def unblock(self, name: str, *, account: str | None = None, by: str) -> str:
        """Undo `block`; the block lists in the settings still apply."""
        return await self._change_block("unblock", name, account, by)

    async def _change_block(self, action: str, name: str, account: str | None, by: str) -> str:
        async with self._audit.recording(action, by, name=name) as note:
            runner = self._program.runners[self._find_account(account)]
            if runner.lobby is not None:
                note.owner = runner.lobby.owner
            is_blocked = action == "block"
            note.result = await change_block(
                self._program.database, runner.site, word(name), is_blocked=is_blocked
            )
            await self._refresh_blocks(runner.site)
        return note.result

    async def _refresh_blocks(self, site: str) -> None:
        for runner in self._program.runners.values():
            if runner.lobby is not None and runner.lobby.owner.site == site:
                await runner.lobby.refresh_blocks()

    async def challenge(
        self,
        name: str,
        proposal: Proposal,
        *,
        account: str | None = None,
        odds: str = "",
        by: str,
        tell: Tell = lambda _: None,
    ) -> str:
        """Challenge a player and wait for the end of the game; cancelling withdraws the challenge.

        Args:
            name: The player's name on the site.
            proposal: The terms.
            account: One of our accounts, or None for the only one.
            odds: Name of the odds that we give; empty for none.
            by: See the class.
            tell: Called with a line of text just before the challenge is sent.

        Returns:
            A line with the game's key and result.
        """
        terms = {"variant": proposal.variant, "rated": proposal.rated}
        async with self._audit.recording("challenge", by, name=name, **terms) as note:
            name, lobby = word(name), self._require_lobby(account, note)
            dialect = DIALECTS[lobby.owner.site]
            if (variant := dialect.variant_of(proposal.variant)) is None:
                known = ", ".join(dialect.variants)
                raise ControlError(f"{dialect.name} has no variant {proposal.variant!r}; known: {known}")
            proposal = _at_odds(replace(proposal, variant=variant), dialect, odds)
            tell(f"challenging {name} to {proposal.variant} {_minutes(proposal.clock)}")
            try:
                game_id = await lobby.challenge(name, proposal)
            except RefusedError as error:
                if not error.said:
                    raise
                raise ControlError(
                    f"{lobby.owner.site} refused the challenge to {name}: {error.said}"
                ) from error
            note.detail["game"] = game_id
            note.result = f"game {game_id}: {await self._result(lobby, game_id)}"
        return note.result

    async def begin_challenge(
        self,
        name: str,
        proposal: Proposal,
        *,
        account: str | None = None,
        by: str,
        timeout_s: float = CHALLENGE_REFUSAL_TIMEOUT_S,
    ) -> str:
        """Challenge a player without waiting for the end of the game; takes the arguments of `challenge`.

        The audit trail records the outcome when it is known.

        Args:
            timeout_s: Seconds to wait for a refusal, which raises the same errors as in `challenge`.
        """
        task = asyncio.create_task(self.challenge(name, proposal, account=account, by=by))
        self._challenges.add(task)
        task.add_done_callback(self._end_challenge)
        done, _ = await asyncio.wait({task}, timeout=timeout_s)
        if done:
            return task.result()
        terms = f"{proposal.variant} {_minutes(proposal.clock)}"
        return f"challenged {name} to {terms}; no answer yet, or the game is running"

    def _end_challenge(self, task: asyncio.Task[str]) -> None:
        self._challenges.discard(task)
        if not task.cancelled():
            task.exception()  # the audit trail has it

    async def _result(self, lobby: Lobby, game_id: str) -> str:
        async with self._program.database.read() as session:
            game = await load_game(session, lobby.owner, game_id)
        if game is None or game.end_reason is None:
            return "no result is known"
        return f"{game.result.value if game.result else game.state.value} ({game.end_reason})"

    async def join_tournament(
        self, key: str, *, password: str = "", team: str = "", account: str | None = None, by: str
    ) -> str:
        """Join a tournament; takes the arguments of `bot.servers.Server.join_tournament`."""
        async with self._audit.recording("join tournament", by, tournament=key) as note:
            key, lobby = word(key), self._require_lobby(account, note)
            if not password.isprintable():
                raise ControlError("the password contains characters that cannot be sent")
            joined = await lobby.join_tournament(key, password=password, team=team)
            note.result = (
                f"joined {joined.name} ({joined.variant}); from now on {lobby.owner.site} pairs the bot"
            )
        return note.result

    async def leave_tournament(self, key: str, *, account: str | None = None, by: str) -> str:
        """Withdraw from a tournament; a game that has started continues."""
        async with self._audit.recording("leave tournament", by, tournament=key) as note:
            key, lobby = word(key), self._require_lobby(account, note)
            await lobby.leave_tournament(key)
            note.result = f"left tournament {key}; a game that has started continues"
        return note.result

    # --- Accounts ---------------------------------------------------------------------------------------

    def _find_account(self, account: str | None) -> str:
        return find_account(account, self._program.runners)

    def _require_lobby(self, account: str | None, note: AuditEntry) -> Lobby:
        name = self._find_account(account)
        lobby = self._program.runners[name].lobby
        if lobby is None:
            raise ControlError(f"account {name} is not signed in at the moment")
        note.owner = lobby.owner
        return lobby


def _at_odds(proposal: Proposal, dialect: Dialect, name: str) -> Proposal:
    """The proposal with the odds of this name; unchanged if the name is empty.

    Raises:
        ControlError: The site or the terms do not allow them.
    """
    if not name:
        return proposal
    game = dialect.variants[proposal.variant].game
    if (odds := odds_named(game, name)) is None:
        known = ", ".join(each.name for each in ODDS.get(game, ())) or "none"
        raise ControlError(f"{game} has no odds {name!r}; known: {known}")
    if proposal.variant not in dialect.set_positions:
        raise ControlError(f"{dialect.name} does not let us set the position of {proposal.variant}")
    if proposal.rated:
        raise ControlError("games at odds are not rated: challenge with --casual")
    return with_odds(proposal, odds, random.SystemRandom())


def _minutes(clock: Clock) -> str:
    return f"{clock.initial_s / 60:g}+{clock.increment_s}"
