"""Checks an account at its site; what is not contacted is reported as not tried."""

import asyncio
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import AsyncExitStack, asynccontextmanager
from dataclasses import dataclass
from http import HTTPStatus

import aiohttp

from bot.account.account_runner import require_playable, role_of
from bot.arena.accounts import NameTaken, bot_account
from bot.arena.server import local_url
from bot.base.config import Config, read_token
from bot.base.dialects import Capability, get_dialect
from bot.base.errors import AuthError, ConfigError, DesdemonaError, NotTried
from bot.base.events import FROM_POSITION
from bot.base.game_server import Server
from bot.base.network.failures import describe_failure
from bot.base.network.http_session import open_session
from bot.servers.adapters import make_server
from engine.errors import EngineFault
from engine.human.model import BadModel
from engine.protocols.process import EngineError
from storage.database import Database
from storage.errors import RoleTaken, StorageError

ARENA_TIMEOUT_S = 10.0
"""Timeout of a request to the embedded arena, in seconds."""


@dataclass(frozen=True, slots=True)
class Finding:
    """The result of one check."""

    what: str
    is_good: bool | None
    """Whether the check passed; None if it was not tried."""
    text: str
    """What the check found, the error, or why it was not tried, in one line."""

    @property
    def line(self) -> str:
        """The finding as a line for the operator."""
        label = {True: "ok", False: "FAIL", None: "--"}[self.is_good]
        return f"{label:<4}  {self.what}: {self.text}"


async def run_check(what: str, probe: Callable[[], Awaitable[str]]) -> Finding:
    """Run one check."""
    try:
        return Finding(what, True, await probe())
    except NotTried as reason:
        return Finding(what, None, f"not tried: {reason}")
    except (DesdemonaError, StorageError, EngineError, EngineFault, BadModel) as error:
        return Finding(what, False, str(error))
    except MemoryError:
        return Finding(what, False, "there is not enough memory: engine.table_mb is too large")


async def check_arena(config: Config) -> str:
    """Check that the embedded arena can be opened, or that it answers if the program is running.

    Raises:
        ConfigError: The arena cannot listen, or does not answer.
    """
    host, port, database = config.arena.host, config.arena.port, await Database.open(config.storage.url)
    try:
        async with database.hold_role("arena"):
            try:
                server = await asyncio.get_running_loop().create_server(asyncio.Protocol, host, port)
            except (OSError, OverflowError, UnicodeError) as error:
                raise ConfigError(f"arena.port: cannot listen on {host}:{port}: {error}") from error
            server.close()
            return f"{host}:{port} is free; `desdemona run` opens the arena there"
    except RoleTaken:
        url = local_url(host, port)
    finally:
        await database.close()
    timeout = aiohttp.ClientTimeout(ARENA_TIMEOUT_S)
    try:
        async with open_session(is_direct=True, timeout=timeout) as http:
            answer = await http.get(f"{url}/api/account")
            if answer.status == HTTPStatus.UNAUTHORIZED:
                return f"it is open and answers at {url}"
            raise ConfigError(f"another program seems to answer at {url}: HTTP {answer.status}")
    except (aiohttp.ClientError, OSError) as error:
        raise ConfigError(f"the arena is running, but not at {url}: {describe_failure(error)}") from error


async def check_account(config: Config) -> list[Finding]:
    """Check one account: its games, its sign-in, its rights and its event stream.

    Args:
        config: The account's settings.
    """
    findings = [await run_check("games", lambda: _games(config))]
    if config.uses_arena:
        findings.append(await run_check("account", lambda: _arena_account(config)))
        return findings
    try:
        dialect, setting = get_dialect(config.server.dialect), config.server.token_setting
        url = config.server.url or dialect.home
        server = make_server(config, dialect, url, read_token(config.server))
    except ConfigError as error:
        return [*findings, Finding("account", False, str(error))]
    try:
        async with AsyncExitStack() as roles:
            if server.login:  # signing in would disconnect a running bot
                await roles.enter_async_context(_hold_account_role(config, server.login, server.site))
            account = await server.account()
            require_playable(account, setting)
            about = f"; {account.about}" if account.about else ""
            findings.append(Finding("account", True, f"signed in as {account.name} at {url}{about}"))
            for what, probe in server.checks(may_challenge=config.matchmaking.enabled):
                findings.append(await run_check(what, probe))
            findings.append(Finding("others", None, "not tried: challenges, moves and chat"))
            if not server.login:
                stream = await _check_stream(config, server, account.name)
                findings.append(stream)
    except RoleTaken:
        who = f"{server.login} at {url}"
        running = f"not tried: the bot is running as {who}, and signing in would disconnect it"
        findings.append(Finding("account", None, running))
    except AuthError as error:
        findings.append(Finding("account", False, f"{setting}: {server.site} does not accept it: {error}"))
    except (DesdemonaError, StorageError) as error:
        findings.append(Finding("account", False, str(error)))
    finally:
        await server.close()
    return findings


async def _check_stream(config: Config, server: Server, name: str) -> Finding:
    async def probe() -> str:
        try:
            async with _hold_account_role(config, name, server.site):
                return await server.check_stream(config.challenges)
        except RoleTaken:
            raise NotTried(
                f"the bot is running as {name}, and a second stream would end or rob the first"
            ) from None

    return await run_check("event stream", probe)


async def _games(config: Config) -> str:
    """Report which of the configured games the site is known to have; asks nobody."""
    dialect, wanted = get_dialect(config.server.dialect), config.challenges.variants
    kinds = {variant.kind or variant.game for variant in dialect.variants.values()}
    if dialect.from_positions:
        kinds.add(FROM_POSITION)
    played = [name for name in wanted if name in kinds]
    if not set(played) - {FROM_POSITION}:
        raise ConfigError(
            f"challenges.variants: {dialect.name} has none of {', '.join(wanted)}, "
            f"only {', '.join(sorted(kinds - {FROM_POSITION}))}"
        )
    others = [name for name in wanted if name not in kinds]
    absent = f"; not there: {', '.join(others)}" if others else ""
    missing = [capability.value for capability in Capability if capability not in dialect.capabilities]
    without = f"; the site has no {', '.join(missing)}" if missing else ""
    return f"expected at {dialect.name} (it was not asked): {', '.join(played)}{absent}{without}"


async def _arena_account(config: Config) -> str:
    name, database = config.server.name, await Database.open(config.storage.url)
    try:
        async with database.read() as session:
            try:
                await bot_account(session, name)
            except NameTaken as error:
                if name not in config.partner_names:
                    raise
                return f"{name} cannot play: {error}"  # `run` goes on without it
    finally:
        await database.close()
    return f"no person at the arena has the name {name}"


@asynccontextmanager
async def _hold_account_role(config: Config, name: str, site: str) -> AsyncIterator[None]:
    """Hold an account's role, which a running bot holds.

    Raises:
        RoleTaken: The bot is running.
    """
    database = await Database.open(config.storage.url)
    try:
        async with database.hold_role(role_of(name, site)):
            yield
    finally:
        await database.close()
