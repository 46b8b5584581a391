"""Block lists: accounts that we refuse to play, from a file, from URLs, and from the command `block`."""

import asyncio
import json
import logging
import os
import stat
from collections.abc import Awaitable, Callable, Sequence
from pathlib import Path

import aiohttp

from bot.base.config import ChallengesConfig
from bot.base.network.failures import describe_failure, page_text
from bot.base.network.http_session import open_session
from storage.database import Database
from storage.errors import StorageError
from storage.ledger.blocks import list_blocks

logger = logging.getLogger(__name__)

MAX_LIST_BYTES = 1 << 20
"""Maximum size of a list, in bytes."""
FETCH_INTERVAL_S = 86_400.0
"""Seconds between fetches of the lists at URLs."""
FETCH_RETRY_INTERVAL_S = 3600.0
"""Seconds until the next fetch if any list could not be fetched."""
FETCH_TIMEOUT_S = 30.0


class BlockFile:
    """Names and ids from a file, one per line; ``#`` starts a comment.

    Args:
        path: The file; empty if there is no file.
    """

    def __init__(self, path: str) -> None:
        self.path = path
        self._seen: tuple[int, ...] | None = None
        """Modification time, size and inode of the file when it was last read."""
        self._names: frozenset[str] = frozenset()
        self._trouble = ""

    def names(self) -> frozenset[str]:
        """The names in the file, or the names last read if it cannot be read now."""
        if not self.path:
            return self._names
        try:
            status = os.stat(self.path)
            seen = (status.st_mtime_ns, status.st_size, status.st_ino)
            if (
                not stat.S_ISREG(status.st_mode) or status.st_size > MAX_LIST_BYTES
            ):  # reading a device might never end
                raise ValueError(f"not a file of at most {MAX_LIST_BYTES} bytes")
            if seen != self._seen:
                self._names = _names(Path(self.path).read_text(encoding="utf-8-sig"))
                self._seen = seen
                logger.info("challenges.block_file: %s names: %d", self.path, len(self._names))
            self._trouble = ""
        except (OSError, ValueError) as error:  # ValueError: also not UTF-8, or an impossible path
            if str(error) != self._trouble:
                self._trouble = str(error)
                logger.error("challenges.block_file: cannot read %s: %s", self.path, error)
        return self._names


class BlockUrls:
    """Names and ids from URLs; if a list cannot be fetched, its previous contents remain.

    Args:
        urls: The URLs; each list is text in the same format as the file, or JSON.
        sleep: Waits the given number of seconds.
    """

    def __init__(
        self, urls: Sequence[str], sleep: Callable[[float], Awaitable[None]] = asyncio.sleep
    ) -> None:
        self.urls = tuple(urls)
        self._sleep = sleep
        self._lists: dict[str, frozenset[str]] = {}
        self._trouble: dict[str, str] = {}

    def names(self) -> frozenset[str]:
        """The names on all lists fetched so far."""
        return frozenset().union(*self._lists.values())

    async def run(self) -> None:
        """Fetch the lists immediately, then daily (sooner after a failure), until cancelled."""
        while self.urls:
            async with open_session(timeout=aiohttp.ClientTimeout(FETCH_TIMEOUT_S)) as http:
                fetched = [await self._fetch(http, url) for url in self.urls]
            await self._sleep(FETCH_INTERVAL_S if all(fetched) else FETCH_RETRY_INTERVAL_S)

    async def _fetch(self, http: aiohttp.ClientSession, url: str) -> bool:
        try:
            async with http.get(url) as answer:
                if answer.status != 200:
                    raise ValueError(f"HTTP {answer.status}")
                body = bytearray()
                async for chunk in answer.content.iter_any():
                    body += chunk
                    if len(body) > MAX_LIST_BYTES:
                        raise ValueError(f"more than {MAX_LIST_BYTES} bytes")
            names = _parse_fetched_list(body.decode("utf-8-sig"))
        except (aiohttp.ClientError, OSError, ValueError) as error:  # ValueError: also not UTF-8
            text = "no answer" if isinstance(error, TimeoutError) else describe_failure(error)
            if text != self._trouble.get(url):
                logger.warning("challenges.block_urls: cannot fetch %s: %s", url, text)
            self._trouble[url] = text
            return False
        self._trouble.pop(url, None)
        if names != self._lists.get(url):
            logger.info("challenges.block_urls: %s names: %d", url, len(names))
        self._lists[url] = names
        return True


class BlockLists:
    """All block lists that apply to one account.

    Args:
        config: Contains the path of the file and the URLs.
        database: Holds the accounts that the operator has blocked by command.
        site: The site whose blocked accounts are read.
        sleep: Waits the given number of seconds.
    """

    def __init__(
        self,
        config: ChallengesConfig,
        database: Database,
        site: str,
        sleep: Callable[[float], Awaitable[None]] = asyncio.sleep,
    ) -> None:
        self._file, self._urls = BlockFile(config.block_file), BlockUrls(config.block_urls, sleep)
        self._database = database
        self._site = site
        self._sleep = sleep
        self._stored: frozenset[str] = frozenset()
        self._has_failed = False
        self._tasks: asyncio.TaskGroup | None = None
        self._fetching: asyncio.Task[None] | None = None

    def names(self) -> frozenset[str]:
        """The current names and ids; if a list cannot be read, its last known entries remain."""
        return self._file.names() | self._urls.names() | self._stored

    def start(self, tasks: asyncio.TaskGroup) -> None:
        """Start a task that fetches the lists at URLs."""
        self._file.names()  # logs at once if it cannot be read
        self._tasks, self._fetching = tasks, tasks.create_task(self._urls.run())

    def follow(self, config: ChallengesConfig) -> None:
        """Apply new settings."""
        if self._file.path != config.block_file:
            self._file = BlockFile(config.block_file)
            self._file.names()
        if self._urls.urls != config.block_urls:
            self._urls = BlockUrls(config.block_urls, self._sleep)
            if self._tasks is not None and self._fetching is not None:
                self._fetching.cancel()
                self._fetching = self._tasks.create_task(self._urls.run())

    async def read_blocked_accounts(self) -> None:
        """Re-read the accounts blocked by command."""
        try:
            async with self._database.read() as session:
                self._stored = frozenset(await list_blocks(session, self._site))
        except StorageError as error:
            if not self._has_failed:
                logger.error("cannot read the blocked accounts: %s", error)
            self._has_failed = True
        else:
            self._has_failed = False


def _names(text: str) -> frozenset[str]:
    return frozenset(line.partition("#")[0].strip() for line in text.splitlines()) - {""}


def _parse_fetched_list(text: str) -> frozenset[str]:
    """Parse a fetched list into names; raise ValueError if the text is JSON but not a list of names."""
    if page := page_text(text):
        raise ValueError(page)
    if not text.lstrip().startswith(("[", "{")):
        return _names(text)
    try:
        found = json.loads(text)
    except RecursionError:
        found = None
    if not isinstance(found, list) or not all(isinstance(name, str) for name in found):
        raise ValueError("not a list of names")
    return frozenset(name.strip() for name in found) - {""}
