"""Measures whether newcomers are served while others attack the arena.

    python -m bench.siege [--seconds 8] [--attacks slow_games_three_addresses ...]

`desdemona run` plays a weak strategy. Newcomers, each from a network of its own, load the page, take a name,
challenge the bot and make a first move; first in peace, then under each attack of `bench.arena_load.attacks`.
A newcomer is served if the bot answers the move. For each attack the benchmark prints how many were served,
the 95th percentile of their time (from the page's request to the response to the move, without the bot's
thinking), its ratio to that in peace, the slowest step, and the program's processor time. All traffic stays
on the loopback interface.
"""

import argparse
import asyncio
import json
import sys
import tempfile
import time
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from itertools import count
from pathlib import Path
from typing import Any

import aiohttp

from bench.arena_load.attacks import ATTACKS, BOT, FORWARDED, AttackResult
from bench.arena_load.under_attack import GAME, p95, processor_s
from bench.claims import Claim, claim_lines
from tests.system.daemon import Daemon
from tests.system.person import lines

PEACE = "baseline"
MIN_SERVED, MAX_P95_S = 0.95, 1.0
"""The share of newcomers to be served, and the limit on the 95th percentile of their time, in seconds."""
ARRIVAL_INTERVAL_S = 0.4
"""Seconds between two newcomers."""
PATIENCE_S = 10.0
"""Seconds after which a newcomer gives up."""
WARM_UP_S = 2.0
"""Seconds between the beginning of an attack and the first newcomer."""
OFFER = {"variant": "othello", "color": "black", "clock.limit": 180, "clock.increment": 2}


@dataclass(slots=True)
class Visit:
    """What happened to one newcomer."""

    steps_s: dict[str, float] = field(default_factory=dict)
    """Seconds taken by each step."""
    failure: str = "no answer"
    """Why the newcomer was not served; empty if they were."""


@dataclass(slots=True)
class SiegeRow:
    """The newcomers during one attack."""

    name: str
    visits: list[Visit]
    result: AttackResult
    busy: float
    """Fraction of one core used by the program."""

    @property
    def served(self) -> float:
        """Fraction of newcomers that were served."""
        return sum(not visit.failure for visit in self.visits) / len(self.visits)

    @property
    def p95_s(self) -> float:
        """The 95th percentile of the time of the served newcomers, in seconds."""
        return p95([sum(visit.steps_s.values()) for visit in self.visits if not visit.failure])


class Newcomer:
    """A person who has never been here.

    Args:
        url: URL of the arena.
        number: Determines the name and the address.
    """

    def __init__(self, url: str, number: int) -> None:
        self._name = f"new{number}"
        self._headers = {FORWARDED: f"100.{64 + number // 200 % 60}.{number % 200}.7"}
        self._url = url
        self._visit = Visit()

    async def visit(self) -> Visit:
        """Load the page, take a name, challenge the bot, make a move, and leave after the bot's answer."""
        try:
            async with asyncio.timeout(PATIENCE_S), aiohttp.ClientSession(self._url) as self._http:
                await self._play()
        except (TimeoutError, aiohttp.ClientError, OSError) as error:
            self._visit.failure = f"{type(error).__name__} after {list(self._visit.steps_s)}"
        except _RefusedError as error:
            self._visit.failure = str(error)
        return self._visit

    async def _play(self) -> None:
        for path in ("/", "/static/app.js", "/static/style.css", "/api/arena"):
            await self._step("page", "GET", path)
        account = await self._step("account", "POST", "/api/person", json={"name": self._name})
        self._headers["Authorization"] = f"Bearer {account['token']}"
        began = time.monotonic()
        async with self._http.get("/api/stream/event", headers=self._headers) as events:
            if events.status != 200:
                raise _RefusedError(f"the stream: {events.status}")
            challenge = await self._step("challenge", "POST", f"/api/challenge/{BOT}", data=OFFER)
            async for event in lines(events):
                if event["type"] in ("challengeDeclined", "challengeCanceled"):
                    raise _RefusedError(event["type"])
                if event["type"] == "gameStart":
                    break
        self._visit.steps_s["challenge"] = time.monotonic() - began
        game = f"/api/board/game/{challenge['id']}"
        async with self._http.get(game.replace("game/", "game/stream/"), headers=self._headers) as stream:
            await self._step("move", "POST", f"{game}/move/f5")
            async for state in lines(stream):
                if len(state.get("moves", "").split()) >= 2:
                    self._visit.failure = ""
                    break
        await self._http.post(f"{game}/resign", headers=self._headers)

    async def _step(self, name: str, method: str, path: str, **more: Any) -> Any:
        began = time.monotonic()
        async with self._http.request(method, path, headers=self._headers, **more) as answer:
            body = await answer.read()
        self._visit.steps_s[name] = self._visit.steps_s.get(name, 0.0) + time.monotonic() - began
        if answer.status >= 400:
            raise _RefusedError(f"{path}: {answer.status} {body[:80]!r}")
        return json.loads(body) if answer.content_type == "application/json" else None


class _RefusedError(Exception):
    """The arena refused a request, or the bot a challenge."""


async def siege(daemon: Daemon, name: str, seconds: float, numbers: Iterator[int]) -> SiegeRow:
    """Run one attack, with newcomers at regular intervals."""
    began, busy_s = time.monotonic(), processor_s(daemon.pid)
    attacker = await asyncio.create_subprocess_exec(
        "nice", "-n", "5", sys.executable, "-m", "bench.arena_load.attacks", daemon.url, name,
        str(seconds + WARM_UP_S), GAME, stdout=asyncio.subprocess.PIPE,
    )  # fmt: skip
    await asyncio.sleep(WARM_UP_S)
    until = time.monotonic() + seconds
    async with asyncio.TaskGroup() as group:
        visits = []
        while time.monotonic() < until:
            visits.append(group.create_task(Newcomer(daemon.url, next(numbers)).visit()))
            await asyncio.sleep(ARRIVAL_INTERVAL_S)
    busy = (processor_s(daemon.pid) - busy_s) / (time.monotonic() - began)
    out, _ = await attacker.communicate()
    if attacker.returncode:
        raise RuntimeError(f"the attack {name} failed")
    return SiegeRow(name, [visit.result() for visit in visits], AttackResult(**json.loads(out)), busy)


def _print(row: SiegeRow, peace: SiegeRow) -> None:
    steps = {
        step: p95([visit.steps_s[step] for visit in row.visits if step in visit.steps_s])
        for step in ("page", "account", "challenge", "move")
    }
    slowest = max(steps, key=lambda step: steps[step])
    failures = sorted({visit.failure for visit in row.visits if visit.failure})
    print(
        f"{row.name:27} {row.result.asked}: {row.result.got}\n"
        f"    newcomers served {row.served:.0%} of {len(row.visits)}, p95 {1000 * row.p95_s:.0f} ms, "
        f"{row.p95_s / max(peace.p95_s, 1e-9):.1f} times peace; slowest step {slowest} "
        f"{1000 * steps[slowest]:.0f} ms; processor {row.busy:.0%}",
        *(f"    not served: {failure}" for failure in failures[:3]),
        sep="\n" if failures else "",
        flush=True,
    )


async def run(folder: Path, seconds: float, attacks: Sequence[str]) -> bool:
    """Print the table; return whether newcomers were served under all attacks."""
    (folder / "data").mkdir()
    daemon = Daemon(
        folder,
        engine__max_depth=3,
        engine__table_mb=1,
        challenges__min_initial_s=0,
        arena__games_per_opponent=3,
        arena__trusted_proxies='["127.0.0.1"]',
    )
    numbers, rows = count(), list[SiegeRow]()
    async with daemon:
        for _ in range(3):  # the first ones wait for the program's caches
            await Newcomer(daemon.url, next(numbers)).visit()
        for name in (PEACE, *attacks):
            rows.append(await siege(daemon, name, seconds, numbers))
            _print(rows[-1], rows[0])
        await daemon.stop()
    worst = min(rows, key=lambda row: row.served)
    slowest = max(rows, key=lambda row: row.p95_s)
    claims = [
        Claim(
            f"at least {MIN_SERVED:.0%} of newcomers are served under every attack",
            worst.served >= MIN_SERVED,
            f"{worst.served:.0%} of {len(worst.visits)} under {worst.name}, {rows[0].served:.0%} in peace",
        ),
        Claim(
            f"the p95 of their time is at most {MAX_P95_S:.0f} s under every attack",
            slowest.p95_s <= MAX_P95_S,
            f"{1000 * slowest.p95_s:.0f} ms under {slowest.name}, {1000 * rows[0].p95_s:.0f} ms in peace",
        ),
        Claim(
            "no attack exceeded its limits",
            all(row.result.holds for row in rows),
            ", ".join(row.name for row in rows if not row.result.holds) or "none",
        ),
    ]
    for line in claim_lines(claims):
        print(line)
    return all(claim.holds is not False for claim in claims)


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    usual = tuple(name for name in ATTACKS if name not in (PEACE, "finished_game"))
    parser.add_argument("--seconds", type=float, default=8.0, help="seconds per attack")
    parser.add_argument("--attacks", nargs="+", choices=usual, default=usual)
    options = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        sys.exit(0 if asyncio.run(run(Path(folder), min(options.seconds, 60.0), options.attacks)) else 1)


if __name__ == "__main__":
    main()
