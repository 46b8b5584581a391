"""Scripted people who write down everything that they receive, and a classifier that guesses their player.

For tests/bot/test_blind_trial.py and `bench.sites.blind_trial`.
"""

import asyncio
import json
import math
import random
import re
import statistics
import time
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from typing import Any

import aiohttp

from bot.arena.variants import VARIANTS
from engine.game import replay

BOT = "desdemona"
QUESTIONS = ("!help", "!engine", "!eval", "!trap", "!stats")
FAREWELL = "Good game"
TELLING = 20
"""Tokens by which the classifier decides."""
_HEADERS = {"date", "content-length", "etag", "last-modified"}
"""Headers that differ from answer to answer, whatever the player."""

PLAY = frozenset(
    [
        # Moves, positions and clocks of the streams, the exports and the replay.
        *("moves", "lastMove", "lastSquares", "lastMoveAt", "legal", "rows", "names", "counts", "highlights"),
        *("toMove", "fen", "steps", "isMyTurn", "hasMoved", "wtime", "btime", "secondsLeft", "expiration"),
        *("createdAt", "remaining"),
        # Moves, positions and scores of the report, and which of the moves set a trap.
        *(
            "move",
            "name",
            "squares",
            "position",
            "rows_before",
            "rows_after",
            "reply",
            "reply_name",
            "number",
        ),
        *(
            "ply",
            "final_centi",
            "their_text",
            "quality",
            "cost",
            "cost_text",
            "best",
            "judged",
            "word",
            "score_centi",
            "score_text",
            "judge_depth",
            "is_solved",
            "score_texts",
            "shown_centi",
            "looks",
            "looks_centi",
        ),
        *(
            "is_trap",
            "is_paper_trap",
            "is_fall",
            "is_decided",
            "trap",
            "outcome",
            "fell_for_best",
            "forecast",
            "probability",
        ),
    ]
)
"""Keys whose values follow from the play, which differs because the players do."""


@dataclass(frozen=True, slots=True)
class Experience:
    """One game, as the person met it."""

    game_id: str
    tokens: frozenset[str]
    """All that was received but the play: keys, values and words, without ids, times and numbers in texts."""
    waits_s: tuple[float, ...]
    """Seconds from each move of the person until its next turn."""


@dataclass(slots=True)
class _Notes:
    """What a person has received in one game."""

    names: dict[str, str]
    """What to write instead of names and ids."""
    tokens: set[str] = field(default_factory=set)

    def add(self, source: str, value: Any) -> None:
        self.tokens.update(_tokens(source, value, self.names))


class ScriptedPerson:
    """Plays short casual games of Othello at random, asks the bot everything, and resigns.

    Args:
        url: The arena.
        name: The person's.
        seed: Of its moves.
    """

    def __init__(self, url: str, name: str, seed: int) -> None:
        self._name = name
        self._rng = random.Random(seed)
        self._http = aiohttp.ClientSession(url, timeout=aiohttp.ClientTimeout(sock_read=60))
        self._token = ""

    async def close(self) -> None:
        await self._http.close()

    async def play(self, plies: int) -> Experience:
        """One game, which the person resigns when so many moves have been made."""
        notes = _Notes({self._name: "PERSON"})
        await self._sign_in(notes)
        for path in ("/", f"/api/user/{BOT}", "/api/arena", "/api/account", "/api/bot/online"):
            await self._call(notes, "GET", path)
        async with self._http.get("/api/stream/event", headers=self._headers) as events:
            game_id = await self._begin(notes, events)
            waits_s = await self._play(notes, game_id, plies)
            async for event in _lines(events):
                notes.add("event", event)
                if event["type"] == "gameFinish":
                    break
        await self._look_back(notes, game_id)
        return Experience(game_id, frozenset(notes.tokens), tuple(waits_s))

    async def told_beside(self, plies: int) -> tuple[str, str]:
        """A game like that of `play`, while a second one is open in which nobody moves.

        Returns:
            The answers to ``!stats`` in the second game: before the first one's moves, and after its end.
        """
        notes = _Notes({})
        await self._sign_in(notes)
        async with self._http.get("/api/stream/event", headers=self._headers) as events:
            first = await self._begin(notes, events)
            second = await self._begin(notes, events)
            before = await self._ask_for_stats(second, "player")
            await self._heard(first, "player", "Good luck")
            await self._play(notes, first, plies, answers=1)
            await self._until_written(f"/api/board/game/{first}/chat", f"/api/arena/game/{first}/report")
            after = await self._ask_for_stats(second, "spectator")  # the first question there
            await self._call(None, "POST", f"/api/board/game/{second}/abort")
        return before, after

    async def _ask_for_stats(self, game_id: str, room: str) -> str:
        question = {"room": room, "text": "!stats"}
        await self._call(None, "POST", f"/api/board/game/{game_id}/chat", data=question)
        return await self._heard(game_id, room, "first game|against me before")

    async def _heard(self, game_id: str, room: str, pattern: str) -> str:
        """Wait for a line of the bot's; nothing announces it when no stream is open."""
        while True:
            lines = await self._call(None, "GET", f"/api/board/game/{game_id}/chat", params={"room": room})
            for line in lines:
                if line["user"].lower() == BOT and re.search(pattern, line["text"]):
                    return str(line["text"])
            await asyncio.sleep(0.01)

    async def _sign_in(self, notes: _Notes) -> None:
        if not self._token:
            self._token = (await self._call(notes, "POST", "/api/person", json={"name": self._name}))["token"]

    async def _begin(self, notes: _Notes, events: aiohttp.ClientResponse) -> str:
        offer = {"variant": "othello", "clock.limit": 300, "clock.increment": 3, "color": "black"}
        made = await self._call(notes, "POST", f"/api/challenge/{BOT}", data=offer)
        notes.names[made["id"]] = "GAME"
        notes.add("challenge", made)
        async for event in _lines(events):
            notes.add("event", event)
            if event["type"] == "gameStart":
                break
        return str(made["id"])

    async def _play(self, notes: _Notes, game_id: str, plies: int, answers: int = 0) -> list[float]:
        """Play on; `answers` lines of the bot's were heard before."""
        game, moved_at = VARIANTS["othello"].rules, 0.0
        waits_s: list[float] = []
        path = f"/api/board/game/{game_id}"
        async with self._http.get(
            f"/api/board/game/stream/{game_id}", params={"view": "1"}, headers=self._headers
        ) as stream:
            state: dict[str, Any] = {}
            async for line in _lines(stream):
                notes.add("game", line)
                answers += line["type"] == "chatLine" and line["username"].lower() == BOT
                if line["type"] in ("gameFull", "gameState"):
                    state = line.get("state", line)
                if state.get("status", "started") != "started":
                    return waits_s
                moves = state["moves"].split()
                position = replay(game, moves)
                is_turn = game.side_to_move(position) == 0 and len(moves) % 2 == 0
                # Before it goes on it waits for the greeting and every answer.
                if not is_turn or (len(moves) >= 2 and answers <= len(QUESTIONS)):
                    continue
                if moved_at:
                    waits_s.append(time.monotonic() - moved_at)
                    moved_at = 0.0
                if len(moves) >= plies:
                    await self._call(notes, "POST", f"{path}/resign")
                    continue
                if not moves:
                    for question in QUESTIONS:
                        await self._call(
                            notes, "POST", f"{path}/chat", data={"room": "player", "text": question}
                        )
                move = game.move_text(self._rng.choice(game.legal_moves(position)))
                state = state | {"moves": " ".join([*moves, move])}  # until the stream shows it
                await self._call(notes, "POST", f"{path}/move/{move}")
                moved_at = time.monotonic()
        return waits_s

    async def _look_back(self, notes: _Notes, game_id: str) -> None:
        """Read all that there is after a game, once the bot has done with it."""
        path = f"/api/board/game/{game_id}/chat"
        await self._until_written(path, f"/api/arena/game/{game_id}/report")
        for each in (
            path,
            f"/api/arena/game/{game_id}/report",
            f"/api/arena/game/{game_id}",
            f"/game/export/{game_id}",
            f"/game/{game_id}",
            f"/@/{BOT}",
            f"/api/user/{BOT}",
            f"/api/users/status?ids={BOT}",
            "/api/arena",
            "/api/account/playing",
        ):
            await self._call(notes, "GET", each)
        await self._call(notes, "GET", f"/game/export/{game_id}", headers={"Accept": "application/json"})

    async def _until_written(self, chat: str, report: str) -> None:
        """Wait for the farewell and for the report; nothing announces them."""
        while not any(line["text"].startswith(FAREWELL) for line in await self._call(None, "GET", chat)):  # noqa: ASYNC110
            await asyncio.sleep(0.01)
        while await self._status(report) != 200:  # noqa: ASYNC110
            await asyncio.sleep(0.01)

    @property
    def _headers(self) -> dict[str, str]:
        return {"Authorization": f"Bearer {self._token}"} if self._token else {}

    async def _status(self, path: str) -> int:
        async with self._http.get(path, headers=self._headers) as answer:
            return answer.status

    async def _call(self, notes: _Notes | None, method: str, path: str, **options: Any) -> Any:
        headers = self._headers | options.pop("headers", {})
        async with self._http.request(method, path, headers=headers, **options) as answer:
            text = await answer.text()
            assert answer.status < 400, f"{method} {path}: {answer.status} {text}"
            value = (
                json.loads(text)
                if "json" in answer.content_type and "nd" not in answer.content_type
                else text
            )
            if notes is not None:
                source = f"{method} {path}"
                notes.add(source, {"status": answer.status, "body": value})
                notes.add(source, {"headers": sorted({name.lower() for name in answer.headers} - _HEADERS)})
            return value


async def _lines(answer: aiohttp.ClientResponse) -> Any:
    assert answer.status == 200, await answer.text()
    async for line in answer.content:
        if line.strip():
            yield json.loads(line)


# --- From what was received to tokens -------------------------------------------------------------------


def _tokens(path: str, value: Any, names: dict[str, str]) -> Iterator[str]:
    match value:
        case dict():
            for key, each in value.items():
                yield _neutral(f"{path}.{key}", names)
                if key not in PLAY:
                    yield from _tokens(f"{path}.{key}", each, names)
        case list():
            for each in value:
                yield from _tokens(path, each, names)
        case str() if "body" in path and "\n" in value:
            yield from (
                _neutral(f"{path} {line}", names) for line in value.splitlines() if not _is_moves(line)
            )
        case str():
            yield _neutral(f"{path}={value}", names)
            yield from (_neutral(word, names) for word in re.findall(r"[A-Za-z_!']+", value))
        case _:
            yield _neutral(path, names) + f"={value}"


def _is_moves(line: str) -> bool:
    """Whether a line of an export is the game itself."""
    return line.startswith(("1. ", "[UTCTime", "[Date"))


def _neutral(text: str, names: dict[str, str]) -> str:
    for name, other in names.items():
        text = text.replace(name, other)
    # Ids of games and times; numbers in texts, such as those of the traps.
    return re.sub(r"\d+", "#", re.sub(r"\b\d{4}-\d\d-\d\dT[\d:.]+\S*", "TIME", text))


# --- The classifier -------------------------------------------------------------------------------------


def guessed_right(
    bags: Sequence[frozenset[str]], labels: Sequence[str], *, folds: int = 5, seed: int = 1
) -> int:
    """How many labels a naive Bayes classifier on the presence of tokens guesses right, cross-validated.

    Args:
        bags: The tokens of each sample.
        labels: The true labels.
        folds: Parts; each is guessed from the others.
        seed: Of the partition.
    """
    order = list(range(len(bags)))
    random.Random(seed).shuffle(order)
    right = 0
    for fold in range(folds):
        held = set(order[fold::folds])
        train = [i for i in order if i not in held]
        guess = _learned([bags[i] for i in train], [labels[i] for i in train])
        right += sum(guess(bags[i]) == labels[i] for i in held)
    return right


def _learned(bags: Sequence[frozenset[str]], labels: Sequence[str]) -> Any:
    sizes = Counter(labels)
    counts: dict[str, Counter[str]] = {label: Counter() for label in sizes}
    for bag, label in zip(bags, labels, strict=True):
        counts[label].update(bag)

    def share(label: str, token: str) -> float:
        return (counts[label][token] + 1) / (sizes[label] + 2)

    def difference(token: str) -> tuple[float, str]:
        shares = [share(label, token) for label in sizes]
        return max(shares) - min(shares), token

    # Only the tokens that tell most: hundreds that each occurred once would outvote them.
    telling = sorted(set().union(*bags), key=difference, reverse=True)[:TELLING]

    def score(bag: frozenset[str], label: str) -> float:
        odds = [share(label, token) if token in bag else 1 - share(label, token) for token in telling]
        return math.log(sizes[label]) + sum(map(math.log, odds))

    return lambda bag: max(sorted(sizes), key=lambda label: score(bag, label))


def most_by_chance(labels: Sequence[str], error: float = 0.001) -> int:
    """The most labels that are guessed right by always guessing the commoner one, but for that probability.

    Args:
        labels: The true labels.
        error: Probability of more, in samples like these.
    """
    n = len(labels)
    p = max(Counter(labels).values()) / n
    tail = 0.0
    for right in range(n, 0, -1):
        tail += math.comb(n, right) * p**right * (1 - p) ** (n - right)
        if tail > error:
            return right
    return 0


def auc(first: Sequence[float], second: Sequence[float]) -> float:
    """The probability that a value of the second sample is above one of the first; ties count half."""
    above = sum((b > a) + (a == b) / 2 for a in first for b in second)
    return above / (len(first) * len(second))


def usual_wait_s(experience: Experience) -> float:
    """The median time of the bot's moves in a game, in seconds."""
    return statistics.median(experience.waits_s)


async def play_games(url: str, games: int, plies: int, people: int = 4) -> list[Experience]:
    """Games of several people at once, each one after another."""

    async def one(number: int) -> list[Experience]:
        person = ScriptedPerson(url, f"person{'abcdefghij'[number]}", number)
        try:
            return [await person.play(plies) for _ in range(number, games, people)]
        finally:
            await person.close()

    return [each for found in await asyncio.gather(*map(one, range(people))) for each in found]
