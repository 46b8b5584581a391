"""The status of the running program, as one typed value that all displays use.

All data comes from memory; the only query tests whether the database responds.
"""

import asyncio
import json
import os
from collections.abc import Mapping
from dataclasses import asdict, dataclass, field
from datetime import datetime
from enum import StrEnum

from bot.account.account_runner import AccountRunner
from bot.account.lobby import Lobby
from bot.alarms.evaluator import AlarmStatus
from bot.base.log import LoggedError
from bot.base.reconnect import RetryStatus
from bot.control.live_games import LiveGame, live_games
from bot.threads.fair_queue import ThreadWaits
from bot.threads.search_pool import PoolLoad
from engine import VERSION
from storage.database import Database
from storage.errors import StorageError
from storage.tables.types import now_utc

DATABASE_PING_TIMEOUT_S = 2.0
"""Timeout of the query, in seconds."""


class Admission(StrEnum):
    """Whether new games may start."""

    OPEN = "open"
    PAUSED = "paused"
    """Paused by the operator."""
    DRAINING = "draining"
    """Shutting down once the running games have ended."""


@dataclass(frozen=True, slots=True)
class AdmissionStatus:
    """Whether new games may start, and who made the latest change."""

    state: Admission
    since: datetime | None = None
    """Time of the latest change, or None if unchanged since the start."""
    until: datetime | None = None
    """When the pause ends by itself; None if the operator must end it, or if there is no pause."""
    by: str = ""
    """Who made the latest change: ``socket``, ``signal``, or a user of the dashboard."""


@dataclass(frozen=True, slots=True)
class LinkStatus:
    """An account's link to its site."""

    is_up: bool
    up_since: datetime | None
    heard_at: datetime | None
    """Time at which data, including keep-alives, last arrived."""
    event_at: datetime | None
    """Time of the last event."""
    lag_ms: int
    """Measured round-trip time of a move; 0 before the first measurement."""
    trouble: str
    """Why the link was last lost; empty if the link is up or has never been up."""


@dataclass(frozen=True, slots=True)
class AccountStatus:
    """An account and its link."""

    name: str
    """The account's name in the settings."""
    site: str
    """Name of the site; empty until the account has signed in."""
    login: str
    """The account's name at the site; empty until the account has signed in."""
    link: LinkStatus | None
    """The link to the site, or None if the account is not signed in."""
    trouble: str
    """Why the bot does not play on the account; empty if it plays or is signing in."""
    games: int
    """Number of running games."""
    waiting: int
    """Number of challenges waiting for a slot."""
    is_standby: bool = False
    """Whether we are a standby, because another program plays on the account."""
    closing: int = 0
    """Number of finished games whose records are being closed."""
    notice: str = ""
    """What the database lacks, as after the restore of an older backup; empty if nothing."""
    retry: RetryStatus | None = None
    """The failure to sign in or to open the link; None if there is none."""
    is_full: bool = False
    """Whether all slots for games with a real-time clock are taken."""
    thread_waits: ThreadWaits = field(default_factory=ThreadWaits)
    """How long the latest moves waited for a search thread."""

    @property
    def link_trouble(self) -> str:
        """Why the account has no link to its site; empty if the link is up."""
        if self.link is None:
            return self.trouble or "signing in"
        return "" if self.link.is_up else self.link.trouble or "not up yet"


@dataclass(frozen=True, slots=True)
class WaitingChallenge:
    """A challenge waiting for a slot."""

    key: str
    account: str
    challenger: str
    """Empty: anonymous."""
    is_bot: bool
    variant: str
    waited_s: float


@dataclass(frozen=True, slots=True)
class DatabaseStatus:
    """The database."""

    url: str
    """The database's URL without a password."""
    answer_ms: float | None
    """Response time of the database, or None if it did not respond."""
    trouble: str
    """Why the database did not respond; empty if it did."""


@dataclass(frozen=True, slots=True)
class ArenaStatus:
    """The embedded arena."""

    url: str
    games: int
    """Number of running games, including games between others."""


@dataclass(frozen=True, slots=True)
class Status:
    """The current status of the running program."""

    version: str
    process: int
    started_at: datetime
    at: datetime
    """When the status was gathered."""
    admission: AdmissionStatus
    accounts: tuple[AccountStatus, ...]
    games: tuple[LiveGame, ...]
    """The games by account and start time; includes finished games whose records are being closed."""
    queue: tuple[WaitingChallenge, ...]
    """The waiting challenges of each account, in the order in which they will get slots."""
    workers: PoolLoad
    database: DatabaseStatus
    arena: ArenaStatus | None
    """The embedded arena; None if this program runs none, or if the arena is not open."""
    log_level: str
    last_error: LoggedError | None
    alarms: tuple[AlarmStatus, ...] = ()
    """Alarms that are snoozed or not ok, with firing alarms first."""
    games_to_judge: int = 0
    """Number of finished games whose replies the judge has not judged yet."""

    @property
    def games_on(self) -> tuple[LiveGame, ...]:
        """The games that are not over."""
        return tuple(game for game in self.games if not game.is_over)

    @property
    def closing(self) -> int:
        """Number of finished games whose records are being closed."""
        return len(self.games) - len(self.games_on)

    @property
    def firing(self) -> tuple[AlarmStatus, ...]:
        """The firing alarms."""
        return tuple(alarm for alarm in self.alarms if alarm.is_active)

    def json_text(self) -> str:
        """The status as JSON, with times in ISO 8601 (UTC) and durations in the unit named by the field."""
        return json.dumps(asdict(self), default=lambda at: at.isoformat(timespec="milliseconds"))


def account_status(
    name: str, runner: AccountRunner, waits: Mapping[object, ThreadWaits] | None = None
) -> AccountStatus:
    """Return the status of an account and its link; `waits` is as in `gather_status`."""
    lobby = runner.lobby
    if lobby is None:
        retry = runner.retries.status
        return AccountStatus(name, "", "", None, runner.trouble, 0, 0, runner.is_waiting, retry=retry)
    link = lobby.link
    return AccountStatus(
        name,
        lobby.owner.site,
        lobby.owner.name,
        LinkStatus(
            link.up_since is not None,
            link.up_since,
            link.heard_at,
            link.event_at,
            round(1000 * lobby.lag_s),
            link.trouble,
        ),
        "",
        lobby.running - lobby.closing,
        len(lobby.queue),
        closing=lobby.closing,
        notice=runner.notice,
        retry=link.retries.status,
        is_full=lobby.is_full,
        thread_waits=(waits or {}).get(lobby.owner, ThreadWaits()),
    )


def waiting_challenges(name: str, lobby: Lobby) -> list[WaitingChallenge]:
    """Return an account's challenges that are waiting for a slot, in queue order."""
    return [
        WaitingChallenge(
            challenge.id,
            name,
            challenge.challenger.name if challenge.challenger else "",
            challenge.challenger is not None and challenge.challenger.is_bot,
            challenge.variant,
            waited_s,
        )
        for challenge, waited_s in lobby.queue
    ]


async def database_status(database: Database) -> DatabaseStatus:
    """Check whether and how fast the database responds."""
    try:
        async with asyncio.timeout(DATABASE_PING_TIMEOUT_S):
            answer_s = await database.ping()
    except TimeoutError:
        return DatabaseStatus(database.url, None, f"no answer in {DATABASE_PING_TIMEOUT_S:g} s")
    except StorageError as error:
        return DatabaseStatus(database.url, None, str(error))
    return DatabaseStatus(database.url, round(1000 * answer_s, 1), "")


async def gather_status(
    runners: Mapping[str, AccountRunner],
    database: Database,
    *,
    started_at: datetime,
    admission: AdmissionStatus,
    workers: PoolLoad,
    arena: ArenaStatus | None,
    log_level: str,
    last_error: LoggedError | None,
    alarms: tuple[AlarmStatus, ...] = (),
    waits: Mapping[object, ThreadWaits] | None = None,
    games_to_judge: int = 0,
) -> Status:
    """Gather the status.

    Args:
        runners: The accounts, keyed by name.
        database: The database, which is sent a test query.
        started_at: When the program started.
        admission: Whether new games may start.
        workers: The load returned by `bot.threads.search_pool.SearchPool.load`.
        arena: The embedded arena, or None if there is none.
        log_level: The minimum level of logged messages.
        last_error: The last error in the log.
        alarms: Alarms that are snoozed or not ok.
        waits: How long each account's latest moves waited for a search thread, by `AccountKey`.
        games_to_judge: See `Status`.
    """
    lobbies = [(name, runner.lobby) for name, runner in runners.items() if runner.lobby is not None]
    return Status(
        version=VERSION,
        process=os.getpid(),
        started_at=started_at,
        at=now_utc(),
        admission=admission,
        accounts=tuple(account_status(name, runner, waits) for name, runner in runners.items()),
        games=tuple(game for name, lobby in lobbies for game in live_games(name, lobby)),
        queue=tuple(each for name, lobby in lobbies for each in waiting_challenges(name, lobby)),
        workers=workers,
        database=await database_status(database),
        arena=arena,
        log_level=log_level,
        last_error=last_error,
        alarms=alarms,
        games_to_judge=games_to_judge,
    )
