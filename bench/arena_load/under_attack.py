"""Attacks the arena while honest people play there.

    python -m bench.arena_load.under_attack [--seconds 8] [--rounds 2]
        [--attacks game_slots sock_puppets ...]

Throughout, `desdemona run` plays a weak strategy against honest people, each at a separate address. The
attacks run one after the other, each for ``--seconds`` in its own process, and finally the benchmark kills
and restarts the program. For each attack, it prints the numbers of requests and successes, the latency of
honest people's moves (from request to response), and the program's processor time, memory and descriptors.
All traffic stays on the loopback interface.
"""

import argparse
import asyncio
import json
import os
import random
import sys
import tempfile
import time
from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path
from statistics import quantiles
from typing import Any

import aiohttp

from bench.arena_load.attacks import ATTACKS, AttackResult
from bench.arena_soak import rss_mb
from bench.claims import Claim, claim_lines
from bot.arena.accounts import Accounts
from bot.base.events import Clock
from engine.games import get_rules
from storage.arena import accounts as arena
from storage.arena.accounts import ArenaGameRecord
from storage.database import Database
from storage.tables.types import now_utc
from tests.system.daemon import Daemon
from tests.system.person import Habits, Person, Wish

HONEST = 3
VARIANTS = ("othello", "connect4", "standard")
WISH_CLOCK = Clock(180, 2)
MAX_P95_LATENCY_S = 0.2
"""Limit on the 95th-percentile latency of honest people's moves, in seconds."""
PLIES = 240
GAME = "longgame"
REST_S = 2.0
DOWN_S = 5.0
MB_MORE, DESCRIPTORS_MORE = 1.1, 32
LOG_BYTES = 100_000
"""Maximum size, in bytes, of the messages logged during one attack."""


class HonestPerson(Person):
    """A simulated person who measures the latency of every move they send."""

    def __init__(self, *args: Any, **options: Any) -> None:
        super().__init__(*args, **options)
        self.moves_s: list[tuple[float, float]] = []
        """For each move, the time at which it was sent and the latency of the response, in seconds."""
        self.refused: list[str] = []
        """Requests that hit a limit and were retried."""

    async def _once(self, method: str, path: str, *, may_fail: bool = False, **more: Any) -> Any:
        while True:
            began = time.monotonic()
            body = await super()._once(method, path, may_fail=True, **more)
            if "/move/" in path:
                self.moves_s.append((began, time.monotonic() - began))
            if "ratelimit" not in body:
                break
            self.refused.append(f"{path}: {body['error']}")
            await asyncio.sleep(body["ratelimit"]["seconds"])
        assert may_fail or "error" not in body, f"{method} {path}: {body}"
        return body


@dataclass(slots=True)
class AttackEffect:
    """The measured effect of one attack."""

    name: str
    result: AttackResult
    moves_s: list[float]
    most_descriptors: int
    descriptors: int
    """Number of descriptors after the attack."""
    mb: float
    log_bytes: int
    busy: float
    """Fraction of one core used by the program."""


@dataclass(slots=True)
class AttackRun:
    """Runs the benchmark once, in a separate folder."""

    folder: Path
    seconds: float
    rounds: int
    attacks: Sequence[str]
    rows: list[AttackEffect] = field(default_factory=list)
    games: list[str] = field(default_factory=list)
    people: list[HonestPerson] = field(default_factory=list)

    async def run(self) -> bool:
        """Print the table; return whether the arena withstood all attacks."""
        (self.folder / "data").mkdir()
        await self._prepare()
        daemon = Daemon(
            self.folder,
            engine__max_depth=3,
            engine__table_mb=1,
            challenges__min_initial_s=0,
            arena__games_per_opponent=3,
            arena__trusted_proxies='["127.0.0.1"]',
        )
        async with daemon:
            self.people = [
                HonestPerson(daemon, f"honest{number}", number, address=f"198.51.100.{number}")
                for number in range(HONEST)
            ]
            async with asyncio.TaskGroup() as group:
                playing = [group.create_task(self._play(person)) for person in self.people]
                await asyncio.sleep(2 * REST_S)
                start = _descriptors(daemon.pid)
                for _ in range(self.rounds):
                    for name in self.attacks:
                        self.rows.append(await self._attack(daemon, name))
                        _print(self.rows[-1])
                kill_s = await self._restart(daemon)
                for task in playing:
                    task.cancel()
            lost = await self._lost(daemon.url)
            for person in self.people:
                await person.close()
            await daemon.stop()
        return self._judge(start, lost, kill_s)

    async def _prepare(self) -> None:
        """Store a finished game with many moves."""
        game, rng = get_rules("chess"), random.Random(6)
        moves: list[str] = []
        while len(moves) != PLIES:
            position, moves = game.initial(), []
            while len(moves) < PLIES and (legal := game.legal_moves(position)):
                move = rng.choice(legal)
                moves.append(game.move_text(move))
                position = game.play(position, move)
        database = await Database.open(f"sqlite:///{self.folder / 'data' / 'desdemona.db'}")
        accounts = Accounts(database)
        for name in ("Elder", "Ancient"):
            await accounts.add_person(name)
        async with database.write() as session:
            await arena.add_game(
                session,
                ArenaGameRecord(
                    id=GAME, variant="standard", rated=False, initial_s=300, increment_s=3,
                    players=("elder", "ancient"), ratings=(1500, 1500), provisional=(True, True),
                    rematch_of=None, moves=tuple(moves), remaining_ms=(1000, 1000),
                    draw_offers=(False, False), takeback_offers=(False, False), status="resign", winner=0,
                    rating_diffs=None, created_at=now_utc(), last_move_at=now_utc(), ended_at=now_utc(),
                ),
            )  # fmt: skip
        await database.close()

    async def _play(self, person: HonestPerson) -> None:
        rng = random.Random(len(self.games))
        while True:
            wish = Wish(rng.choice(VARIANTS), WISH_CLOCK, habits=Habits(thinks_s=0.5, resign_at=60))
            try:
                self.games.append(await person.play(wish))
            except AssertionError as error:  # a stream before the game exceeded the limit
                if "ratelimit" not in str(error):
                    raise
                person.refused.append(str(error))
                await asyncio.sleep(1)

    async def _attack(self, daemon: Daemon, name: str) -> AttackEffect:
        """Run one attack, and measure its effect."""
        log = daemon.log.stat().st_size if daemon.log.exists() else 0
        began, busy_s = time.monotonic(), processor_s(daemon.pid)
        attacker = await asyncio.create_subprocess_exec(
            "nice", "-n", "5", sys.executable, "-m", "bench.arena_load.attacks", daemon.url, name,
            str(self.seconds), GAME, stdout=asyncio.subprocess.PIPE,
        )  # fmt: skip
        answer = asyncio.create_task(attacker.communicate())
        most = 0
        while not answer.done():
            most = max(most, _descriptors(daemon.pid))
            await asyncio.wait([answer], timeout=0.2)
        ended = time.monotonic()
        busy = (processor_s(daemon.pid) - busy_s) / (ended - began)
        out, _ = answer.result()
        if attacker.returncode:
            raise RuntimeError(f"the attack {name} failed")
        await asyncio.sleep(REST_S)
        result = AttackResult(**json.loads(out))
        log = (daemon.log.stat().st_size if daemon.log.exists() else 0) - log
        moves_s = [took for person in self.people for at, took in person.moves_s if began <= at <= ended]
        return AttackEffect(
            name, result, moves_s, most, _descriptors(daemon.pid), rss_mb(daemon.pid) or 0.0, log, busy
        )

    async def _restart(self, daemon: Daemon) -> float:
        await daemon.kill()
        await asyncio.sleep(DOWN_S)
        began = time.monotonic()
        await daemon.start()
        took_s = time.monotonic() - began
        await asyncio.sleep(self.seconds)
        return took_s

    async def _lost(self, url: str) -> list[str]:
        """Honest people's games that were aborted, or lost on time or by absence."""
        lost = []
        async with aiohttp.ClientSession(url, headers={"Accept": "application/json"}) as http:
            for game in self.games:
                async with http.get(f"/game/export/{game}") as answer:
                    fields = await answer.json()
                if fields["status"] in ("outoftime", "timeout", "aborted"):
                    lost.append(f"{game} ({fields['status']})")
        return lost

    def _judge(self, start: int, lost: list[str], kill_s: float) -> bool:
        took = [each for row in self.rows for each in row.moves_s]
        worst = max(self.rows, key=lambda row: p95(row.moves_s))
        refused = [each for person in self.people for each in person.refused]
        moves = [each for each in refused if "/move/" in each]
        half = self.rows[: len(self.attacks)]
        claims = [
            Claim(
                "the p95 latency of honest moves is below 200 ms",
                p95(took) < MAX_P95_LATENCY_S and p95(worst.moves_s) < MAX_P95_LATENCY_S,
                f"{1000 * p95(took):.0f} ms for {len(took)} moves; worst under {worst.name}: "
                f"{1000 * p95(worst.moves_s):.0f} ms; slowest {1000 * max(took):.0f} ms",
            ),
            Claim(
                "no honest move was refused by a limit",
                not moves,
                f"{len(moves)} moves and {len(refused) - len(moves)} other honest requests were refused",
            ),
            Claim(
                "no honest game was lost because of an attack",
                not lost and len(self.games) > 0,
                f"{len(self.games)} games, {len(lost)} lost {', '.join(lost)}",
            ),
            Claim(
                "no attack exceeded its limits",
                all(row.result.holds for row in self.rows),
                ", ".join(sorted({row.name for row in self.rows if not row.result.holds})) or "none",
            ),
            Claim(
                "descriptors are released",
                self.rows[-1].descriptors <= start + DESCRIPTORS_MORE,
                f"{start} before, {self.rows[-1].descriptors} after, at most "
                f"{max(row.most_descriptors for row in self.rows)}",
            ),
            Claim(
                "memory does not grow from round to round",
                None if self.rounds < 2 else self.rows[-1].mb <= half[-1].mb * MB_MORE,
                f"{half[0].mb:.0f} MB after the first attack, {half[-1].mb:.0f} MB after the first round, "
                f"{self.rows[-1].mb:.0f} MB after all",
            ),
            Claim(
                "no attack fills the log",
                all(row.log_bytes <= LOG_BYTES for row in self.rows),
                f"at most {max(row.log_bytes for row in self.rows)} bytes in one attack",
            ),
            Claim("back after kill -9", True, f"{kill_s:.1f} s from the start until the page is served"),
        ]
        for line in claim_lines(claims):
            print(line)
        return all(claim.holds is not False for claim in claims)


def _print(row: AttackEffect) -> None:
    statuses = " ".join(f"{status}:{number}" for status, number in row.result.statuses.items())
    mark = "" if row.result.holds else "TOO MUCH "
    print(
        f"{row.name:23} {mark}{row.result.asked}: {row.result.got} [{statuses}]\n"
        f"    honest moves {len(row.moves_s)}, p95 {1000 * p95(row.moves_s):.0f} ms, slowest "
        f"{1000 * max(row.moves_s, default=0):.0f} ms; descriptors {row.most_descriptors}, then "
        f"{row.descriptors}; {row.mb:.0f} MB; log {row.log_bytes} B; processor {row.busy:.0%}",
        flush=True,
    )


def p95(seconds: Sequence[float]) -> float:
    """The 95th percentile; 0 for fewer than two values."""
    return quantiles(seconds, n=20)[-1] if len(seconds) > 1 else 0.0


def _descriptors(pid: int) -> int:
    return len(os.listdir(f"/proc/{pid}/fd"))


def processor_s(pid: int) -> float:
    """Processor time that a running process has used, in seconds."""
    fields = Path(f"/proc/{pid}/stat").read_text(encoding="utf-8").rpartition(")")[2].split()
    return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--seconds", type=float, default=8.0, help="seconds per attack")
    parser.add_argument("--rounds", type=int, default=2)
    parser.add_argument("--attacks", nargs="+", choices=tuple(ATTACKS), default=tuple(ATTACKS))
    options = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        run = AttackRun(Path(folder), min(options.seconds, 60.0), min(options.rounds, 20), options.attacks)
        sys.exit(0 if asyncio.run(run.run()) else 1)


if __name__ == "__main__":
    main()
