"""Open pages of a dashboard, as browsers keep them: in a process of its own, opened and closed by command.

    python -m bench.endurance.viewers URL [--number 10]

Each viewer does what `bot/dashboard/static/dash.js` does: it loads a page with its scripts and styles,
listens to the stream of changes, and fetches the page again when something has changed, at most as often as
the page says.  Viewers share out the pages.  The standard input takes lines, ``open`` and ``close``; its end
ends the process.  The answer to ``close`` is a line with the number of pages fetched.
"""

import argparse
import asyncio
import re
import sys
import time
from collections.abc import AsyncIterator

import aiohttp

PAGES = ("", "", "", "/works", "/traps", "/opponents", "/games", "/events", "/ratings", "/games")
"""The first page is the one that operators leave open."""
LEAST_S = 1.0
"""As in the script: a page is fetched at most so often."""
TICK_S = 0.5
"""As in the script: so often it looks whether it is time."""
_LIVE = re.compile(r'data-live="(\d+)"')
_FILES = re.compile(r'(?:src|href)="(/dash/static/[^"]+)"')


class Viewer:
    """One open page.

    Args:
        http: Its browser.
        path: Of the page, below ``/dash``.
    """

    def __init__(self, http: aiohttp.ClientSession, path: str) -> None:
        self._http = http
        self._path = f"/dash{path}"
        self._has_changed = False
        self.fetched = 0
        """Times that the page was fetched."""

    async def show(self) -> None:
        """Load the page and keep it fresh until cancelled."""
        text = await self._fetch()
        for name in sorted(set(_FILES.findall(text))):
            async with self._http.get(name) as answer:
                await answer.read()
        found = _LIVE.search(text)
        every_s = max(LEAST_S, float(found[1]) if found else LEAST_S)
        async with asyncio.TaskGroup() as tasks:
            tasks.create_task(self._listen())
            tasks.create_task(self._follow(every_s))

    async def _listen(self) -> None:
        async for line in self._lines():
            if line == b"event: changed\n":
                self._has_changed = True

    async def _lines(self) -> AsyncIterator[bytes]:
        async with self._http.get("/dash/stream", timeout=aiohttp.ClientTimeout(total=None)) as stream:
            async for line in stream.content:
                yield line

    async def _follow(self, every_s: float) -> None:
        last = time.monotonic()
        while True:
            await asyncio.sleep(TICK_S)
            if self._has_changed and time.monotonic() - last >= every_s:
                self._has_changed, last = False, time.monotonic()
                await self._fetch()

    async def _fetch(self) -> str:
        async with self._http.get(self._path, headers={"Accept": "text/html"}) as answer:
            text = await answer.text()
            assert answer.status == 200, f"{self._path}: {answer.status} {text[:200]}"
            self.fetched += 1
            return text


async def view(url: str, number: int) -> None:
    """Open and close the pages as the standard input says."""
    reader = asyncio.StreamReader()
    loop = asyncio.get_running_loop()
    await loop.connect_read_pipe(lambda: asyncio.StreamReaderProtocol(reader), sys.stdin)
    opened: list[asyncio.Task[None]] = []
    browsers: list[aiohttp.ClientSession] = []
    viewers: list[Viewer] = []
    while line := await reader.readline():
        if line == b"open\n":
            # Each browser has connections of its own.
            browsers = [aiohttp.ClientSession(url) for _ in range(number)]
            viewers = [Viewer(http, PAGES[at % len(PAGES)]) for at, http in enumerate(browsers)]
            opened = [asyncio.create_task(each.show()) for each in viewers]
        elif line == b"close\n":
            failed = [task for task in opened if task.done()]
            for task in opened:
                task.cancel()
            await asyncio.gather(*opened, return_exceptions=True)
            for http in browsers:
                await http.close()
            for task in failed:
                task.result()  # one that ended by itself has failed
            sys.stdout.write(f"{sum(each.fetched for each in viewers)}\n")
            sys.stdout.flush()


def main() -> None:
    """Read the arguments, and follow the standard input."""
    parser = argparse.ArgumentParser()
    parser.add_argument("url")
    parser.add_argument("--number", type=int, default=10)
    given = parser.parse_args()
    asyncio.run(view(given.url, given.number))


if __name__ == "__main__":
    main()
