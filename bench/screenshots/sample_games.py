"""Fills a database with several weeks of games that scripted people play against the real program.

    python -m bench.screenshots.sample_games FOLDER [--games 2000] [--people 120] [--at-once 12] [--weeks 9]
        [--seed 1]

`desdemona run` plays at its own arena on the loopback interface, with a shallow search and in a trial of
the paper's two strategies; people play over HTTP, each from a separate address. The people differ in
strength, prefer one of the four games and one speed, and some return far more often. Some resign, a few
lose on time, and a few send challenges whose clock the bot declines. The program is killed a few times.

The run takes several minutes. At the end, the games are spread evenly over the weeks before today
(`bench.screenshots.spread_over_weeks`): all times of a game are shifted equally, so durations do not change.
The seed determines the people and the requested games, but not the results, the ratings or the trial's random
assignments.
"""

import argparse
import asyncio
import os
import random
import sys
import time
from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import aiohttp

from bench.screenshots.spread_over_weeks import spread
from bot.base.events import Clock
from engine.game import Game
from engine.search.reference import Searcher
from engine.search.searchers import make_searcher
from engine.stop import StopFlag
from tests.system.daemon import Daemon
from tests.system.person import Habits, Person, Place, Wish

TRIAL = "sample"
VARIANTS = {"othello": 4, "standard": 3, "xiangqi": 1.5, "connect4": 1.5}
"""Weights for choosing people's favourite games, keyed by variant."""
CLOCKS = {Clock(60, 1): 2, Clock(180, 2): 5, Clock(600, 5): 2}
"""Weights of the clocks: bullet, blitz and rapid."""
DECLINED = Clock(15, 0)
"""A clock that is too short for the bot's settings."""
FAVOURITE = 0.8
"""Probability that a person plays their favourite kind of game."""
WALKS_AWAY, ASKS_TOO_MUCH = 0.01, 0.02
"""Probabilities, per game, of walking away and of sending a challenge that the bot declines."""
LOOK_AHEAD = {1: 3, 2: 3, 3: 2, 4: 1}
"""Weights of the search depths that people use for considered moves; their other moves are random."""
LOST_CENTI = 300
"""Once enough moves have been played, people resign at this deficit, in centi-units."""
MAX_PLIES = 70
"""Number of plies after which people always resign, to keep games short."""
SETTINGS: dict[str, Any] = {
    "engine__max_depth": 3,
    "engine__max_time_s": 0.5,
    "engine__table_mb": 1,
    "engine__ponder": "false",
    "engine__workers": 2,
    "trial__hold_s": 0,
    "trial__report_delay_s": 0,
    "manners__resign": "true",
    "manners__resign_score_centi": 300,
    "manners__resign_moves": 3,
    "manners__draw_score_centi": 60,
    "manners__draw_moves": 4,
    "manners__draw_ply": 40,
    "challenges__max_games": 64,
    "challenges__max_waiting": 64,
    "log__level": "WARNING",
}


@dataclass(frozen=True, slots=True)
class Character:
    """A person's playing style, and how often they play."""

    name: str
    variant: str
    clock: Clock
    considered: float
    """Probability that a move is considered rather than random."""
    look_ahead: int
    """Plies."""
    visits: float
    """Weight of this person among all visitors."""


class SamplePerson(Person):
    """A person who plays in their own style, from a separate loopback address."""

    def __init__(self, place: Place, who: Character, seed: int, address: str) -> None:
        super().__init__(place, who.name, seed)
        self._who = who
        self._local_address = address
        self._searchers: dict[str, Searcher] = {}
        self.walks_away_at: int | None = None
        """Number of plies after which the person stops moving; None if they never stop."""
        self.patience = 0
        """Number of plies before the person considers resigning."""
        self._has_lost = False

    async def sit_down(self) -> None:
        """Use a separate address, because the arena has limits per address."""
        await self._http.close()
        self._http = aiohttp.ClientSession(
            self._place.url,
            timeout=aiohttp.ClientTimeout(sock_read=60),
            connector=aiohttp.TCPConnector(local_addr=(self._local_address, 0)),
        )

    async def ask_too_much(self) -> None:
        """Send a challenge that the bot declines."""
        await self._join()
        offer = {
            "clock.limit": DECLINED.initial_s,
            "clock.increment": DECLINED.increment_s,
            "variant": self._who.variant,
        }
        await self._request("POST", f"/api/challenge/{self._bot}", data=offer, may_fail=True)

    async def _move(self, game_id: str, state: dict[str, Any], habits: Habits) -> None:
        plies = len(state["moves"].split())
        if plies < 2:
            self._has_lost = False
        if self.walks_away_at is not None and plies >= self.walks_away_at:
            return
        gives_up = plies >= MAX_PLIES or (self._has_lost and plies >= self.patience)
        await super()._move(game_id, state, replace(habits, resign_at=0) if gives_up else habits)

    def _choose(self, rules: Game[Any], position: Any, legal: Sequence[int]) -> int:
        if self._rng.random() >= self._who.considered:
            return self._rng.choice(legal)
        searcher = self._searchers.setdefault(rules.name, make_searcher(rules.name, 1))
        values = {
            move: searcher.search(
                rules.play(position, move), self._who.look_ahead - 1, -(10**6), 10**6, StopFlag()
            )
            for move in self._rng.sample(legal, len(legal))
        }
        best = min(values, key=values.__getitem__)
        self._has_lost = values[best] > LOST_CENTI
        return best


def characters(people: int, rng: random.Random) -> list[Character]:
    """Create the people, sorted by frequency of visits."""
    return [
        Character(
            name=f"{rng.choice(FIRST_NAMES)}{number}",
            variant=rng.choices(list(VARIANTS), list(VARIANTS.values()))[0],
            clock=rng.choices(list(CLOCKS), list(CLOCKS.values()))[0],
            considered=rng.betavariate(4, 1),
            look_ahead=rng.choices(list(LOOK_AHEAD), list(LOOK_AHEAD.values()))[0],
            visits=1 / (number + 40),
        )
        for number in range(1, people + 1)
    ]


FIRST_NAMES = ("Anna", "Ben", "Chen", "Dora", "Emil", "Fay", "Gao", "Hana", "Igor", "Jun", "Kaya", "Lea")


def wish(who: Character, rng: random.Random) -> Wish:
    """Randomly choose the next game to request."""
    is_favourite = rng.random() < FAVOURITE
    variant = who.variant if is_favourite else rng.choices(list(VARIANTS), list(VARIANTS.values()))[0]
    return Wish(
        variant=variant,
        clock=who.clock if is_favourite else rng.choice(list(CLOCKS)),
        rated=rng.random() < 0.8,
        habits=Habits(offers_draws=0.1),
    )


async def play(folder: Path, options: argparse.Namespace) -> None:
    """Play all games."""
    rng = random.Random(options.seed)
    who = characters(options.people, rng)
    order = rng.choices(range(len(who)), [each.visits for each in who], k=options.games)
    kill_at = {round(options.games * share) for share in (0.35, 0.8)}
    done, began = 0, time.monotonic()
    async with Daemon(folder, dashboard__port=options.port, **SETTINGS) as bot:
        status, _, said = await bot.ask("trial", "start", TRIAL)
        if status:
            raise SystemExit(f"desdemona trial start: {said}")
        people = [
            SamplePerson(bot, each, rng.getrandbits(32), f"127.0.{1 + number // 200}.{1 + number % 200}")
            for number, each in enumerate(who)
        ]
        busy: set[int] = set()

        async def visit() -> None:
            nonlocal done
            while order:
                at = next((at for at, number in enumerate(order) if number not in busy), None)
                if at is None:  # the other people are still playing
                    await asyncio.sleep(0.2)
                    continue
                number = order.pop(at)
                busy.add(number)
                person = people[number]
                if rng.random() < ASKS_TOO_MUCH:
                    await person.ask_too_much()
                person.walks_away_at = rng.randrange(6, 20) if rng.random() < WALKS_AWAY else None
                person.patience = rng.randrange(16, 40)
                await person.play(wish(who[number], rng))
                busy.discard(number)
                done += 1
                if done in kill_at:
                    await bot.kill()
                    await bot.start()
                if done % 50 == 0:
                    print(f"{time.monotonic() - began:.0f} s: {done} games", file=sys.stderr, flush=True)

        for person in people:
            await person.sit_down()
        async with asyncio.TaskGroup() as tasks:
            for _ in range(options.at_once):
                tasks.create_task(visit())
        for person in people:
            await person.close()
        status, said = await bot.stop()
        print(f"{done} games in {time.monotonic() - began:.0f} s; the program stopped with {status}")


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument(
        "folder", type=Path, help="folder for the database, created if needed; must not contain one already"
    )
    parser.add_argument("--games", type=int, default=2000)
    parser.add_argument("--people", type=int, default=120)
    parser.add_argument("--at-once", type=int, default=12)
    parser.add_argument("--weeks", type=float, default=9)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--port", type=int, default=0, help="port of the dashboard during the games")
    options = parser.parse_args()
    options.folder.mkdir(parents=True, exist_ok=True)
    database = options.folder / "data" / "desdemona.db"
    if database.exists():
        raise SystemExit(f"{database} already exists; use a new folder")
    os.environ["PYTHONDONTWRITEBYTECODE"] = "1"
    asyncio.run(play(options.folder, options))
    asyncio.run(spread(f"sqlite:///{database}", options.weeks))


if __name__ == "__main__":
    main()
