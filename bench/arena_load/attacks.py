"""The attacks, run in a separate process so that they do not disturb the measurements.

    python -m bench.arena_load.attacks URL NAME SECONDS GAME

All traffic stays on the loopback interface, and each attack ends after a fixed time or number of requests.
The attacks pose as the documented proxy and forward made-up client addresses.
"""

import asyncio
import json
import resource
import sys
import time
from collections import Counter
from collections.abc import AsyncIterator, Awaitable, Callable, Iterable, Iterator
from contextlib import asynccontextmanager, suppress
from dataclasses import asdict, dataclass, field
from itertools import count, islice
from typing import Any
from urllib.parse import urlsplit

import aiohttp

FORWARDED = "X-Forwarded-For"
BOT = "desdemona"
WORKERS = 30
MAX_REQUESTS = 20_000
"""Maximum number of requests per attack."""
CLOCK = {"clock.limit": 300, "clock.increment": 3}


@dataclass(slots=True)
class AttackResult:
    """Summary of one attack: what it requested, and what it achieved."""

    asked: str
    got: str = ""
    holds: bool = True
    """Whether the arena enforced its limits."""
    statuses: dict[str, int] = field(default_factory=dict)


class Attacker:
    """An attacker with any number of addresses, names and connections.

    Args:
        url: URL of the arena.
        seconds: Duration of the attack, in seconds.
        game: Id of a long finished game.
    """

    def __init__(self, url: str, seconds: float, game: str) -> None:
        self.url = url
        self.game = game
        self.seconds = seconds
        self.until = time.monotonic() + seconds
        self.statuses: Counter[str] = Counter()
        self._sent = 0
        self._numbers = count(int(time.time() * 1000) % 10_000_000 * 1000)
        self.http = aiohttp.ClientSession(
            url, connector=aiohttp.TCPConnector(limit=0), timeout=aiohttp.ClientTimeout(total=30)
        )

    @property
    def is_over(self) -> bool:
        """Whether the time is up or the maximum number of requests has been sent."""
        return time.monotonic() >= self.until or self._sent >= MAX_REQUESTS

    async def ask(
        self, address: str, method: str, path: str, token: str = "", **more: Any
    ) -> tuple[int, Any]:
        """Send one request; a status of 0 means that the connection was cut."""
        headers = {FORWARDED: address} | ({"Authorization": f"Bearer {token}"} if token else {})
        self._sent += 1
        try:
            async with self.http.request(method, path, headers=headers, **more) as answer:
                self.statuses[str(answer.status)] += 1
                body = await answer.read()
                is_json = "json" in answer.content_type and "nd" not in answer.content_type
                return answer.status, json.loads(body) if is_json else body
        except (aiohttp.ClientError, TimeoutError, OSError):
            self.statuses["cut"] += 1
            return 0, None

    async def join(self, address: str, name: str = "") -> str:
        """Create an account and return its token, or an empty string if the server refused or time is up."""
        if self.is_over:
            return ""
        name = name or f"m{next(self._numbers)}"
        status, body = await self.ask(address, "POST", "/api/person", json={"name": name})
        return str(body["token"]) if status == 201 else ""

    async def challenge(self, address: str, token: str, whom: str, **terms: Any) -> str:
        """Send a challenge and return its id, or an empty string if the server refused."""
        data = {**CLOCK, **terms}
        status, body = await self.ask(address, "POST", f"/api/challenge/{whom}", token, data=data)
        return str(body["id"]) if status == 200 else ""

    async def together(self, work: Callable[[int], Awaitable[object]], workers: int = WORKERS) -> None:
        """Repeat the given work in several tasks until the attack ends."""

        async def hand(number: int) -> None:
            while not self.is_over:
                await work(number)

        async with asyncio.TaskGroup() as group:
            for number in range(workers):
                group.create_task(hand(number))

    @asynccontextmanager
    async def streams(
        self, accounts: Iterable[tuple[str, str]], each: int
    ) -> AsyncIterator[list[aiohttp.ClientResponse]]:
        """Hold `each` streams open for every account; an account is given as an address and a token."""
        opened: list[aiohttp.ClientResponse] = []
        for address, token in accounts:
            for _ in range(0 if self.is_over else each):
                headers = {FORWARDED: address, "Authorization": f"Bearer {token}"}
                with suppress(aiohttp.ClientError, TimeoutError, OSError):
                    answer = await self.http.get("/api/stream/event", headers=headers)
                    self.statuses[str(answer.status)] += 1
                    opened.append(answer)
        try:
            yield opened
        finally:
            for answer in opened:
                answer.close()


def addresses(prefix: str) -> Iterator[str]:
    """Return an endless iterator over different addresses with the given prefix."""
    return (f"{prefix}.{number >> 8 & 255}.{number & 255}" for number in count(1))


ONE = "203.0.113.66"


async def baseline(attacker: Attacker) -> AttackResult:
    """No attack: the baseline."""
    await asyncio.sleep(attacker.seconds)
    return AttackResult("nothing")


async def game_slots(attacker: Attacker) -> AttackResult:
    """Four names at one address try to occupy all of the bot's game slots."""
    found = AttackResult("4 names at one address request all 8 game slots of the bot, and its queue")
    tokens = [token for _ in range(4) if (token := await attacker.join(ONE))]
    held: dict[int, list[str]] = {}
    most = 0

    async def take(number: int) -> None:
        nonlocal most
        await attacker.challenge(ONE, tokens[number], BOT)
        status, body = await attacker.ask(ONE, "GET", "/api/account/playing", tokens[number])
        if status == 200:
            held[number] = [game["gameId"] for game in body["nowPlaying"]]
        most = max(most, sum(map(len, held.values())))
        await asyncio.sleep(0.1)

    await attacker.together(take, len(tokens))
    for number, games in held.items():
        for game in games:
            await attacker.ask(ONE, "POST", f"/api/board/game/{game}/resign", tokens[number])
    found.got, found.holds = f"{most} games at once", most <= 3
    return found


async def streams_many_addresses(attacker: Attacker) -> AttackResult:
    """135 accounts, each from its own address behind the proxy, open eight streams each."""
    result = AttackResult("135 accounts with 8 streams each behind the proxy")
    wheres = list(islice(addresses("10.66"), 135))
    tokens = [(where, token) for where in wheres if (token := await attacker.join(where))]
    async with attacker.streams(tokens, 8) as opened:
        await asyncio.sleep(max(1.0, attacker.until - time.monotonic()))
        live = sum(answer.connection is not None for answer in opened)
    result.got = f"{len(tokens)} accounts, {live} streams held"
    return result


async def streams_one_address(attacker: Attacker) -> AttackResult:
    """One address opens as many streams as it can."""
    result = AttackResult("20 accounts at one address with 8 streams each")
    tokens = [(ONE, token) for _ in range(20) if (token := await attacker.join(ONE))]
    async with attacker.streams(tokens, 8) as opened:
        got = sum(answer.status == 200 for answer in opened)
    result.got, result.holds = f"{got} streams", got <= 64
    return result


async def idle_connections(attacker: Attacker) -> AttackResult:
    """Open silent connections from many loopback addresses."""
    result = AttackResult("3000 connections without a request, from 200 addresses")
    host, port = urlsplit(attacker.url).hostname, urlsplit(attacker.url).port
    writers = []
    for number in range(3000):
        if attacker.is_over:
            break
        source = f"127.0.{7 + number % 200}.1"
        with suppress(OSError):
            _, writer = await asyncio.open_connection(host, port, local_addr=(source, 0))
            writers.append(writer)
    await asyncio.sleep(max(1.0, attacker.until - time.monotonic()))
    live = sum(not writer.transport.is_closing() for writer in writers)
    for writer in writers:
        writer.close()
    result.got = f"{len(writers)} opened, {live} held"
    return result


async def accounts_one_address(attacker: Attacker) -> AttackResult:
    """One address creates accounts."""
    result = AttackResult("as many accounts as possible from one address")
    await attacker.together(lambda _: attacker.join("203.0.113.77"))
    return _accounts(attacker, result)


def _accounts(attacker: Attacker, found: AttackResult) -> AttackResult:
    created = attacker.statuses["201"]
    found.got, found.holds = f"{created} accounts", created <= 50
    return found


async def accounts_one_network(attacker: Attacker) -> AttackResult:
    """The addresses of one /64 network create accounts."""
    result = AttackResult("as many accounts as possible from one /64 network")
    numbers = count(1)
    await attacker.together(lambda _: attacker.join(f"2001:db8:0:66::{next(numbers):x}"))
    return _accounts(attacker, result)


async def _flood(attacker: Attacker, found: AttackResult, path: str, sources: list[str]) -> AttackResult:
    began = time.monotonic()
    await attacker.together(lambda number: attacker.ask(sources[number % len(sources)], "GET", path))
    took_s = time.monotonic() - began
    answered, asked = attacker.statuses["200"] / took_s, attacker.statuses.total() / took_s
    found.got = f"{answered:.0f} of {asked:.0f} per second"
    return found


async def requests_one_address(attacker: Attacker) -> AttackResult:
    """One address requests the lobby as fast as it can."""
    return await _flood(attacker, AttackResult("the lobby's list, from one address"), "/api/arena", [ONE])


async def requests_many_addresses(attacker: Attacker) -> AttackResult:
    """Thirty addresses request the lobby as fast as they can."""
    sources = list(islice(addresses("10.67"), WORKERS))
    return await _flood(attacker, AttackResult("the same, from 30 addresses"), "/api/arena", sources)


async def finished_game(attacker: Attacker) -> AttackResult:
    """Thirty addresses request a long finished game."""
    sources = list(islice(addresses("10.68"), WORKERS))
    result = AttackResult("a finished game of 240 plies, from 30 addresses")
    return await _flood(attacker, result, f"/api/arena/game/{attacker.game}", sources)


async def unknown_names(attacker: Attacker) -> AttackResult:
    """Thirty addresses request the status of a hundred unknown names."""
    sources = list(islice(addresses("10.69"), WORKERS))
    path = "/api/users/status?ids=" + ",".join(f"nobody{number}" for number in range(100))
    return await _flood(
        attacker, AttackResult("status of 100 unknown names, from 30 addresses"), path, sources
    )


async def illegal_moves(attacker: Attacker) -> AttackResult:
    """The players of five games send illegal moves as fast as they can."""
    result = AttackResult("illegal moves in 5 games between 10 addresses")
    sources = list(islice(addresses("10.70"), 10))
    tokens = [await attacker.join(where) for where in sources]
    games: list[tuple[str, str, str]] = []
    for first in range(0, 10, 2):
        if not (tokens[first] and tokens[first + 1]):
            continue
        _, body = await attacker.ask(sources[first + 1], "GET", "/api/account", tokens[first + 1])
        if not isinstance(body, dict) or "id" not in body:
            continue
        game = await attacker.challenge(sources[first], tokens[first], body["id"], color="white")
        path = f"/api/challenge/{game}/accept"
        if game and (await attacker.ask(sources[first + 1], "POST", path, tokens[first + 1]))[0] == 200:
            games += [(sources[each], tokens[each], game) for each in (first, first + 1)]

    async def send(number: int) -> None:
        where, token, game = games[number % len(games)]
        await attacker.ask(where, "POST", f"/api/board/game/{game}/move/a1", token)

    if games:
        await attacker.together(send)
    result.got = f"{attacker.statuses['400']} refused as illegal, {attacker.statuses['429']} with status 429"
    return result


async def bot_accounts(attacker: Attacker) -> AttackResult:
    """Strangers create bot accounts to push our bots off the list."""
    result = AttackResult("600 bot accounts, each from its own address")
    wheres, accounts = addresses("10.71"), []

    async def make(_: int) -> None:
        where = next(wheres)
        if token := await attacker.join(where, f"a{next(attacker._numbers)}"):
            status, _ = await attacker.ask(where, "POST", "/api/bot/account/upgrade", token)
            accounts.extend([where] * (status == 200))
        if len(accounts) >= 600:
            attacker.until = 0.0

    await attacker.together(make)
    listed: list[str] = []
    for _ in range(20):
        status, body = await attacker.ask("10.72.0.1", "GET", "/api/arena")
        if status == 200:
            listed = [each["name"].lower() for each in body["bots"]]
            break
        await asyncio.sleep(0.5)
    place = f"number {listed.index(BOT) + 1}" if BOT in listed else "missing"
    result.got = f"{len(accounts)} bots; ours is {place} of {len(listed)} in the list"
    result.holds = listed[:1] == [BOT]
    return result


async def sock_puppets(attacker: Attacker) -> AttackResult:
    """Sock puppets, each from its own address, lose rated games to one account after two plies."""
    result = AttackResult("30 sock puppets resign rated games after two plies")
    master = await attacker.join(ONE)
    _, account = await attacker.ask(ONE, "GET", "/api/account", master)
    won = 0
    for number in range(30):
        where = f"10.73.0.{number + 1}"
        token = await attacker.join(where)
        if not (master and token and isinstance(account, dict) and "id" in account):
            continue
        game = await attacker.challenge(
            where, token, account["id"], rated="true", color="black", variant="othello"
        )
        if not game:
            continue
        for by, at, path in (
            (master, ONE, f"/api/challenge/{game}/accept"),
            (token, where, f"/api/board/game/{game}/move/f5"),
            (master, ONE, f"/api/board/game/{game}/move/d6"),
            (token, where, f"/api/board/game/{game}/resign"),
        ):
            status, _ = await attacker.ask(at, "POST", path, by)
        won += status == 200
    _, account = await attacker.ask("10.74.0.1", "GET", "/api/account", master)
    rating = account["perfs"]["othello"]["rating"] if isinstance(account, dict) and "perfs" in account else 0
    result.got, result.holds = f"{won} games won, rating {rating}", rating <= 1700
    return result


async def lookalike_names(attacker: Attacker) -> AttackResult:
    """Create names that imitate our bots or administrators."""
    wanted = ("Desdem0na", "Desdemona_", "Moderator", "support", "Iichess")
    result = AttackResult("lookalike names: " + ", ".join(wanted))
    taken = [name for name in wanted if await attacker.join("10.75.0.1", name)]
    result.got, result.holds = f"got {', '.join(taken) or 'none'}", not taken
    return result


async def malformed_requests(attacker: Attacker) -> AttackResult:
    """Send malformed HTTP as fast as possible; the caller checks the log."""
    found = AttackResult("malformed requests of 18 bytes")
    host, port = urlsplit(attacker.url).hostname, urlsplit(attacker.url).port
    sent = 0

    async def send(_: int) -> None:
        nonlocal sent
        with suppress(OSError, asyncio.IncompleteReadError):
            reader, writer = await asyncio.open_connection(host, port)
            writer.write(b"GET / HTTP/9.9\r\n\r\n")
            await reader.read()
            writer.close()
        sent += 1
        if sent >= MAX_REQUESTS:
            attacker.until = 0.0

    await attacker.together(send)
    found.got = f"{sent} sent"
    return found


async def _slow_games(attacker: Attacker, found: AttackResult, sources: list[str]) -> AttackResult:
    """Two accounts at each address begin as many long games as they get, and make one move in each."""
    players = [(where, token) for where in sources * 2 if (token := await attacker.join(where))]
    held: dict[str, tuple[str, str]] = {}

    async def take(number: int) -> None:
        where, token = players[number]
        terms = {"variant": "othello", "color": "black", "clock.limit": 3600, "clock.increment": 0}
        if game := await attacker.challenge(where, token, BOT, **terms):
            status, _ = await attacker.ask(where, "POST", f"/api/board/game/{game}/move/f5", token)
            for _ in range(20):
                if status == 200:
                    held[game] = where, token
                    break
                await asyncio.sleep(0.1)
                status, _ = await attacker.ask(where, "POST", f"/api/board/game/{game}/move/f5", token)
        await asyncio.sleep(0.1)

    await attacker.together(take, len(players))
    for game, (where, token) in held.items():
        await attacker.ask(where, "POST", f"/api/board/game/{game}/resign", token)
    found.got = f"{len(held)} games with one move each"
    return found


async def slow_games_three_addresses(attacker: Attacker) -> AttackResult:
    """Six accounts at three addresses hold the bot's slots with games of an hour."""
    sources = ["203.0.113.66", "192.0.2.66", "198.18.0.66"]
    return await _slow_games(attacker, AttackResult("games of an hour, from 3 addresses"), sources)


async def slow_games_ipv4_network(attacker: Attacker) -> AttackResult:
    """The same from ten addresses of one /24."""
    sources = [f"203.0.113.{number}" for number in range(10, 20)]
    return await _slow_games(attacker, AttackResult("games of an hour, from 10 addresses of a /24"), sources)


async def slow_games_ipv6_network(attacker: Attacker) -> AttackResult:
    """The same from ten /64s of one /48."""
    sources = [f"2001:db8:9:{number}00::1" for number in range(10)]
    return await _slow_games(attacker, AttackResult("games of an hour, from 10 /64s of a /48"), sources)


async def requests_ipv6_network(attacker: Attacker) -> AttackResult:
    """Every request comes from a fresh /64 of one /48."""
    numbers = count()
    began = time.monotonic()
    await attacker.together(
        lambda _: attacker.ask(f"2001:db8:8:{next(numbers) % 65_536:x}::1", "GET", "/api/arena")
    )
    answered = attacker.statuses["200"] / (time.monotonic() - began)
    return AttackResult("the lobby's list, each time from a fresh /64 of a /48", f"{answered:.0f} per second")


async def accounts_ipv6_network(attacker: Attacker) -> AttackResult:
    """Every account comes from a fresh /64 of one /48."""
    result, numbers = AttackResult("accounts, each from a fresh /64 of a /48"), count()
    await attacker.together(lambda _: attacker.join(f"2001:db8:7:{next(numbers) % 65_536:x}::1"))
    _accounts(attacker, result)
    result.holds = attacker.statuses["201"] <= 200
    return result


async def forged_addresses(attacker: Attacker) -> AttackResult:
    """One address sends a made-up X-Forwarded-For, to which the proxy appends the true address."""
    result, numbers = AttackResult("accounts of one address with forged X-Forwarded-For"), count()
    await attacker.together(lambda _: attacker.join(f"100.127.{next(numbers) % 250}.1, 203.0.113.88"))
    return _accounts(attacker, result)


async def unstarted_challenges(attacker: Attacker) -> AttackResult:
    """Thirty addresses challenge the bot and withdraw, or never make the first move."""
    players = []
    for number in range(30):
        where = f"10.{80 + number}.0.1"
        if token := await attacker.join(where):
            players.append((where, token))

    async def ask(number: int) -> None:
        where, token = players[number]
        if game := await attacker.challenge(where, token, BOT, variant="othello", color="black"):
            await asyncio.sleep(0.5 * (number % 3))
            await attacker.ask(where, "POST", f"/api/challenge/{game}/cancel", token)
        await asyncio.sleep(0.2)

    await attacker.together(ask, len(players))
    return AttackResult("challenges that are withdrawn, from 30 addresses")


async def reconnects(attacker: Attacker) -> AttackResult:
    """Thirty addresses open event streams and close them at once."""
    players = []
    for number in range(30):
        where = f"10.{120 + number}.0.1"
        if token := await attacker.join(where):
            players.append((where, token))

    async def reopen(number: int) -> None:
        async with attacker.streams([players[number]], 1):
            await asyncio.sleep(0)

    await attacker.together(reopen, len(players))
    return AttackResult("streams that are opened and closed, from 30 addresses")


ATTACKS: dict[str, Callable[[Attacker], Awaitable[AttackResult]]] = {
    "baseline": baseline,
    "game_slots": game_slots,
    "streams_many_addresses": streams_many_addresses,
    "streams_one_address": streams_one_address,
    "idle_connections": idle_connections,
    "accounts_one_address": accounts_one_address,
    "accounts_one_network": accounts_one_network,
    "requests_one_address": requests_one_address,
    "requests_many_addresses": requests_many_addresses,
    "finished_game": finished_game,
    "unknown_names": unknown_names,
    "illegal_moves": illegal_moves,
    "bot_accounts": bot_accounts,
    "sock_puppets": sock_puppets,
    "lookalike_names": lookalike_names,
    "malformed_requests": malformed_requests,
    "slow_games_three_addresses": slow_games_three_addresses,
    "slow_games_ipv4_network": slow_games_ipv4_network,
    "slow_games_ipv6_network": slow_games_ipv6_network,
    "requests_ipv6_network": requests_ipv6_network,
    "accounts_ipv6_network": accounts_ipv6_network,
    "forged_addresses": forged_addresses,
    "unstarted_challenges": unstarted_challenges,
    "reconnects": reconnects,
}


async def attack(url: str, name: str, seconds: float, game: str) -> AttackResult:
    """Run one attack."""
    attacker = Attacker(url, seconds, game)
    try:
        result = await ATTACKS[name](attacker)
    finally:
        await attacker.http.close()
    result.statuses = dict(sorted(attacker.statuses.items()))
    return result


def main() -> None:
    url, name, seconds, game = sys.argv[1:]
    if urlsplit(url).hostname != "127.0.0.1":
        sys.exit(f"{url} is not a loopback address")
    _, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    resource.setrlimit(resource.RLIMIT_NOFILE, (hard, hard))
    print(json.dumps(asdict(asyncio.run(attack(url, name, float(seconds), game)))))


if __name__ == "__main__":
    main()
