"""Sends alarm notices to a webhook, a command, or both.

Each hook has a timeout, so no hook can block the program. Of consecutive failures, only the first is logged.
"""

import asyncio
import json
import logging
import os
import signal
from collections.abc import Awaitable, Callable, Mapping, Sequence
from dataclasses import asdict
from urllib.parse import urlsplit

import aiohttp

from bot.alarms.evaluator import AlarmNotice
from bot.base.config import ENV_PREFIX, AlarmsConfig
from bot.base.network.failures import describe_failure, page_text
from bot.base.network.http_session import open_session

logger = logging.getLogger(__name__)

WEBHOOK_TIMEOUT_S = 10.0
COMMAND_TIMEOUT_S = 30.0
"""Timeout of a hook command, in seconds."""
_MAX_ANSWER_BYTES = 4096

Post = Callable[[str, bytes], Awaitable[None]]
Execute = Callable[[Sequence[str], bytes, Mapping[str, str]], Awaitable[None]]


class HookFailure(Exception):
    """A hook failed; the message gives the reason but not the hook's address, which may be secret."""


async def post_json(url: str, body: bytes) -> None:
    """Send a POST request.

    Raises:
        HookFailure: There was no response, its status was not 2xx, or it is a web page, as of a proxy.
    """
    timeout = aiohttp.ClientTimeout(total=WEBHOOK_TIMEOUT_S)
    try:
        async with (
            open_session(timeout=timeout) as http,
            http.post(
                url, data=body, headers={"Content-Type": "application/json"}, allow_redirects=False
            ) as answer,
        ):
            if not 200 <= answer.status < 300:
                raise HookFailure(f"the answer was {answer.status}")
            is_html = answer.content_type == "text/html"
            if is_html and (page := page_text(await answer.content.read(_MAX_ANSWER_BYTES))):
                raise HookFailure(page)
    except TimeoutError:
        raise HookFailure(f"no answer in {WEBHOOK_TIMEOUT_S:g} s") from None
    except (aiohttp.ClientError, OSError, ValueError) as error:
        raise HookFailure(_reason_without_address(error, url)) from None


def _reason_without_address(error: Exception, url: str) -> str:
    """Why a request failed, without its address: even the host may be secret."""
    if not isinstance(error, aiohttp.ClientConnectorError | aiohttp.ClientHttpProxyError):
        return type(error).__name__  # its message may hold the address
    return describe_failure(error).replace(urlsplit(url).hostname or url, "the server")


async def run_hook_command(command: Sequence[str], body: bytes, variables: Mapping[str, str]) -> None:
    """Run a program with the given standard input, without a shell.

    Args:
        command: The program and its arguments.
        body: The program's standard input.
        variables: Added to the program's environment. Our own variables are removed from the environment,
            because they contain tokens.

    Raises:
        HookFailure: The program cannot be run, fails, or takes too long.
    """
    inherited = {name: text for name, text in os.environ.items() if not name.startswith(ENV_PREFIX)}
    try:
        process = await asyncio.create_subprocess_exec(
            *command,
            stdin=asyncio.subprocess.PIPE,
            stdout=asyncio.subprocess.DEVNULL,
            stderr=asyncio.subprocess.PIPE,
            env={**inherited, **variables},
            start_new_session=True,
        )
    except (OSError, ValueError) as error:
        raise HookFailure(str(error)) from None
    try:
        async with asyncio.timeout(COMMAND_TIMEOUT_S):
            _, said = await process.communicate(body)
    except TimeoutError:
        raise HookFailure(f"not finished in {COMMAND_TIMEOUT_S:g} s") from None
    finally:
        if process.returncode is None:
            await _kill_process_group(process)
    if process.returncode:
        last = said.decode(errors="replace").strip().splitlines()[-1:]
        raise HookFailure(f"exit status {process.returncode}" + "".join(f": {line[:200]}" for line in last))


async def _kill_process_group(process: asyncio.subprocess.Process) -> None:
    """Kill a program and everything it has started, except processes that now run as another user
    (`sudo`)."""
    try:
        os.killpg(process.pid, signal.SIGKILL)
    except PermissionError:
        return
    except ProcessLookupError:
        pass  # it has just ended
    await process.wait()


class AlarmHooks:
    """The operator's hooks.

    Args:
        config: The settings.
        page: Address of the alarm page, which notices link to; empty if there is none.
        post: Sends a webhook's request.
        run: Runs a command.
    """

    def __init__(
        self, config: AlarmsConfig, page: str = "", post: Post = post_json, run: Execute = run_hook_command
    ) -> None:
        self._config = config
        self._page = page
        self._post = post
        self._run = run
        self._failing: set[str] = set()

    async def notify(self, notice: AlarmNotice) -> None:
        """Send an alarm notice through all hooks; failures are logged."""
        since = notice.since.isoformat(timespec="seconds")
        said: dict[str, str] = asdict(notice) | {"since": since, "url": self._page}
        body = json.dumps(said).encode()
        if url := self._config.webhook:
            await self._run_hook("alarms.webhook", self._post(url, body))
        if command := self._config.command:
            variables = {f"ALARM_{key.upper()}": text for key, text in said.items()}
            await self._run_hook("alarms.command", self._run(command, body, variables))

    async def _run_hook(self, setting: str, work: Awaitable[None]) -> None:
        try:
            await work
        except Exception as error:  # no hook may stop the watch
            # Any other message may hold the webhook's address.
            why = str(error) if isinstance(error, HookFailure) else type(error).__name__
            level = logging.DEBUG if setting in self._failing else logging.ERROR
            self._failing.add(setting)
            logger.log(level, "%s: cannot send an alarm notice: %s", setting, why)
        else:
            if setting in self._failing:
                logger.info("%s: works again", setting)
            self._failing.discard(setting)
