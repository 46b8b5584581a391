"""Fuzzes the arena with schemathesis from its OpenAPI description, and reports 5xx responses.

    python -m bench.arena_load.http_fuzz [--requests 50000] [--seed 1] [--schemathesis PATH]

Requests are sent as a person, as a program and without a token, for existing and random games and accounts.
Rate limits are lifted, so that all requests reach their handlers. Requires the package extra ``fuzz``.
"""

import argparse
import asyncio
import os
import shutil
import sys
import tempfile
from collections import Counter
from pathlib import Path
from typing import Any

import aiohttp
import yaml
from aiohttp import web

from bot.arena import http
from bot.arena.server import Arena
from bot.arena.traffic import budgets
from bot.base.config import ArenaConfig
from bot.base.rate_limiter import Rate
from storage.database import Database

DESCRIPTION = Path(__file__).parents[2] / "docs" / "arena-openapi.yaml"
REQUESTS_PER_CALL = 60
"""Number of requests per API call in one run of schemathesis."""
NO_LIMIT = Rate("fuzz", burst=1e9, per_s=1e9)
ENDLESS = (
    "/api/stream/event",
    "/api/board/game/stream/{game}",
    "/api/bot/game/stream/{game}",
    "/api/arena/game/{game}/watch",
)
"""API calls whose response never ends if the request has a token."""


class Fuzz:
    """One run.

    Args:
        folder: Folder for the database and the OpenAPI description with existing ids.
        wanted: Approximate number of requests.
        seed: Seed of the first run of schemathesis.
        program: Command that runs schemathesis.
    """

    def __init__(self, folder: Path, wanted: int, seed: int, program: str) -> None:
        self._folder = folder
        self._wanted = wanted
        self._seed = seed
        self._program = program
        self.statuses: Counter[int] = Counter()
        self.failures: Counter[str] = Counter()

    async def run(self) -> bool:
        """Fuzz the arena and print the responses; return True if no response had a 5xx status."""
        budgets.PERSON_RATE = budgets.BOT_RATE = NO_LIMIT
        http.CHALLENGE_RATE = http.ADDRESS_CHALLENGE_RATE = http.CHAT_RATE = NO_LIMIT
        config = ArenaConfig(
            port=0, accounts_per_day=100_000, games_per_account=10_000, games_per_address=10_000,
            games_per_opponent=10_000, streams_per_account=1000, streams_per_address=10_000,
            work_per_address=100_000, work_per_s=100_000, challenge_expiry_s=0.5, first_move_s=2,
        )  # fmt: skip
        database = await Database.open(f"sqlite:///{self._folder / 'arena.db'}")
        try:
            arena = Arena(config, database)
            arena._app.on_response_prepare.append(self._count)
            async with arena.running(["Desdemona"]) as url:
                seed = self._seed
                while self.statuses.total() < self._wanted:
                    for who in ("person", "bot", ""):
                        token = await self._describe(url, arena.bot_tokens["Desdemona"], seed, who)
                        await self._draw(url, token, seed)
                        print(
                            f"{self.statuses.total()} requests, {self.failures.total()} with 5xx", flush=True
                        )
                    seed += 1
        finally:
            await database.close()
        print(", ".join(f"{status}: {number}" for status, number in sorted(self.statuses.items())))
        for failure, number in self.failures.most_common():
            print(f"  {number} x {failure}")
        return not self.failures

    async def _count(self, request: web.Request, response: web.StreamResponse) -> None:
        self.statuses[response.status] += 1
        if response.status >= 500:
            self.failures[f"{response.status} {request.method} {request.path_qs[:200]}"] += 1

    async def _describe(self, url: str, bot_token: str, seed: int, who: str) -> str:
        """Start games, add their ids to the OpenAPI description, and return the token of one player."""
        async with aiohttp.ClientSession(url) as client:

            async def post(path: str, token: str, **data: Any) -> Any:
                headers = {"Authorization": f"Bearer {token}"}
                async with client.post(path, headers=headers, json=data) as answer:
                    return await answer.json()

            name = f"fuzz{seed}{who or 'nobody'}"
            token = (await post("/api/person", "", name=name))["token"]
            games = []
            for variant, move in (("othello", "f5"), ("standard", "e2e4")):
                terms = {"variant": variant, "color": "black" if variant == "othello" else "white"}
                game = (await post("/api/challenge/desdemona", token, **terms))["id"]
                await post(f"/api/challenge/{game}/accept", bot_token)
                await post(f"/api/board/game/{game}/move/{move}", token)
                games.append(game)
            waiting = (await post("/api/challenge/desdemona", token, variant="othello"))["id"]
        description = yaml.safe_load(DESCRIPTION.read_text(encoding="utf-8"))
        schemas, parameters = description["components"]["schemas"], description["components"]["parameters"]
        schemas["Id"] = {"anyOf": [{"enum": [*games, waiting]}, schemas["Id"]]}
        schemas["Name"] = {"anyOf": [{"enum": [name, "Desdemona"]}, schemas["Name"]]}
        schemas["Terms"]["properties"]["keepAliveStream"] = {"enum": [False]}  # also endless
        move = parameters["move"]["schema"]
        parameters["move"]["schema"] = {"anyOf": [{"enum": ["f5", "d6", "e7e5", "pass", "e2e4"]}, move]}
        (self._folder / "described.yaml").write_text(yaml.safe_dump(description), encoding="utf-8")
        return {"person": str(token), "bot": bot_token, "": ""}[who]

    async def _draw(self, url: str, token: str, seed: int) -> None:
        command = [
            self._program, "run", str(self._folder / "described.yaml"), "--url", url, "--no-color",
            "--phases", "fuzzing", "--mode", "all", "--checks", "not_a_server_error",
            "--max-examples", str(REQUESTS_PER_CALL), "--seed", str(seed), "--continue-on-failure",
            "--request-timeout", "10", "--warnings", "off", "--suppress-health-check", "all",
        ]  # fmt: skip
        if token:
            command += ["--header", f"Authorization: Bearer {token}"]
            command += [option for path in ENDLESS for option in ("--exclude-path", path)]
        said = self._folder / "said.txt"
        with said.open("wb") as out:
            process = await asyncio.create_subprocess_exec(
                *command, cwd=self._folder, stdout=out, stderr=out,
                env={**os.environ, "HOME": str(self._folder)},
            )  # fmt: skip
            status = await process.wait()
        if status not in (0, 1):  # 1: it found failures; we count them ourselves
            raise RuntimeError(said.read_text(encoding="utf-8", errors="replace")[-3000:])


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--requests", type=int, default=50_000)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--schemathesis", default=shutil.which("schemathesis") or "", metavar="PATH")
    options = parser.parse_args()
    if not options.schemathesis:
        sys.exit("schemathesis is not installed: pip install -e '.[fuzz]'")
    with tempfile.TemporaryDirectory() as folder:
        fuzz = Fuzz(Path(folder), options.requests, options.seed, options.schemathesis)
        sys.exit(0 if asyncio.run(fuzz.run()) else 1)


if __name__ == "__main__":
    main()
