"""Fetches all pages of a dashboard repeatedly, in a separate process, and records the response times.

    python -m bench.endurance.pages URL FILE [--pause 0.3]

Stops when standard input is closed. Writes one JSON object per response to FILE: ``at`` (seconds since 1970),
``page``, ``ms`` until the last byte, ``status`` (0: no response), and ``bytes``. The `COMPUTED` pages are
fetched twice: as a browser would, and with a new ``since=`` date each time, so that no cache applies.
"""

import argparse
import http.client
import json
import select
import sys
import time
from collections.abc import Iterator
from datetime import date, timedelta
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

COMPUTED = ("works", "traps", "opponents", "games", "ratings")
"""Pages that accept the ``since`` filter."""
PLAIN = {
    "now": "/dash",
    "events": "/dash/events",
    **{name: f"/dash/{name}" for name in COMPUTED},
    "api/now": "/dash/api/now",
    "api/games.csv": "/dash/api/games.csv",
    "metrics": "/metrics",
    "readyz": "/readyz",
    "healthz": "/healthz",
    "script": "/dash/static/dash.js",
}
START = date(2001, 1, 1)
"""A date before all games, so that the filter excludes nothing."""
DATES = 5000
TIMEOUT_S = 60.0
_PLY = 2


class Reader:
    """A simulated browser that sends its requests sequentially over one connection.

    Args:
        url: URL of the dashboard.
    """

    def __init__(self, url: str) -> None:
        self._where = urlsplit(url).netloc
        self._link: http.client.HTTPConnection | None = None
        self._round = 0

    def requests(self) -> Iterator[tuple[str, str]]:
        """Yield the name and address of every page to fetch in the next round."""
        self._round += 1
        day = START + timedelta(days=self._round % DATES)
        yield from PLAIN.items()
        yield from ((f"{name}, computed", f"/dash/{name}?since={day}") for name in COMPUTED)
        game = self._newest_game()
        if game is not None:
            yield "game", f"/dash/games/{game}"
            yield "game, a move", f"/dash/games/{game}?ply={_PLY}"

    def get(self, address: str) -> tuple[int, bytes]:
        """Status and body; status 0 if the program does not answer."""
        for _ in range(2):  # an idle connection may have been closed
            try:
                if self._link is None:
                    self._link = http.client.HTTPConnection(self._where, timeout=TIMEOUT_S)
                self._link.request("GET", address)
                answer = self._link.getresponse()
                return answer.status, answer.read()
            except (OSError, http.client.HTTPException):
                self.close()
        return 0, b""

    def close(self) -> None:
        """Hang up."""
        if self._link is not None:
            self._link.close()
        self._link = None

    def _newest_game(self) -> int | None:
        status, body = self.get("/dash/api/games")
        games: list[dict[str, Any]] = json.loads(body)["games"] if status == 200 else []
        return next((int(game["game_id"]) for game in games if game["plies"] > _PLY + 1), None)


def timed(reader: Reader, name: str, address: str) -> dict[str, Any]:
    """Request a page, and return the line that `main` writes."""
    began = time.perf_counter()
    status, body = reader.get(address)
    took_ms = 1000 * (time.perf_counter() - began)
    return {
        "at": round(time.time(), 3),
        "page": name,
        "ms": round(took_ms, 2),
        "status": status,
        "bytes": len(body),
    }


def main() -> None:
    """Fetch pages until standard input is closed."""
    parser = argparse.ArgumentParser()
    parser.add_argument("url")
    parser.add_argument("file", type=Path)
    parser.add_argument("--pause", type=float, default=0.3, help="seconds between two requests")
    given = parser.parse_args()
    reader = Reader(given.url)
    with given.file.open("a", encoding="utf-8") as out:
        while True:
            for name, address in reader.requests():
                out.write(json.dumps(timed(reader, name, address)) + "\n")
                out.flush()
                if select.select([sys.stdin], [], [], given.pause)[0]:
                    return


if __name__ == "__main__":
    main()
