import asyncio
from collections.abc import Callable
from concurrent.futures import Future
from dataclasses import replace
from typing import Any

import pytest

from bot.match.game_storage import load, store_game
from bot.match.match_runner import Match, MatchStanding, run_match
from bot.match.openings import Opening
from bot.match.play import End, FinishedGame, GameTask, MatchGameRecord
from bot.match.player_specs import MatchError
from bot.match.sprt import Sprt, SprtVerdict
from bot.workers.jobs import MAX_WORKER_DEATHS
from bot.workers.pools import WorkersError
from storage.database import Database
from tests.bot.match.samples import match, played, terms
from tests.patience import PATIENCE_S


@pytest.fixture
def backend() -> str:
    return "sqlite"


class Died(Exception):
    """A worker has died."""


class MadeUp:
    """Workers that know every result before the game, and end them in any order."""

    deaths: tuple[type[BaseException], ...] = (Died,)

    def __init__(self, points: Callable[[int], float], at_once: int = 1) -> None:
        self._points = points
        self._at_once = at_once
        self.tasks: list[GameTask] = []
        self.waiting: list[tuple[int, Future[MatchGameRecord]]] = []
        self.failures: list[BaseException] = []

    def capacity(self) -> int:
        return self._at_once

    def run(self, _: Callable[[Any], Any], task: Any) -> "Future[Any]":
        assert isinstance(task, GameTask)
        self.tasks.append(task)
        future: Future[MatchGameRecord] = Future()
        future.set_running_or_notify_cancel()
        self.waiting.append((task.number, future))
        if len(self.waiting) == self._at_once:  # the latest comes first
            while self.waiting:
                self._end(*self.waiting.pop())
        return future

    def flush(self) -> None:
        while self.waiting:
            self._end(*self.waiting.pop())

    def _end(self, number: int, future: "Future[MatchGameRecord]") -> None:
        if self.failures:
            future.set_exception(self.failures.pop(0))
        else:
            future.set_result(played(number, self._points(number)))


async def run(
    database: Database,
    given: Match,
    workers: MadeUp,
    stop_after: int | None = None,
    told: list[tuple[FinishedGame | None, MatchStanding]] | None = None,
) -> MatchStanding:
    stop = asyncio.Event()

    def on_game(game: FinishedGame | None, now: MatchStanding) -> None:
        if told is not None:
            told.append((game, now))
        if now.result.games == stop_after:
            stop.set()
        if now.match.games - now.result.games < workers.capacity():
            workers.flush()

    async with asyncio.timeout(PATIENCE_S):
        return await run_match(given, database, workers, on_game, stop)


async def test_a_match(database: Database) -> None:
    workers = MadeUp(lambda number: (number % 4) / 2 if number % 4 < 3 else 0.5)
    told: list[tuple[FinishedGame | None, MatchStanding]] = []
    end = await run(database, match(terms(), 8), workers, told=told)
    assert [task.number for task in workers.tasks] == list(range(8))
    assert end.is_over
    assert (end.result.wins, end.result.draws, end.result.losses) == (2, 4, 2)
    assert [now.result.games for _, now in told] == list(range(9))
    assert told[0][0] is None
    assert sorted(await load(database, "test", terms())) == list(range(8))


async def test_it_goes_on_where_it_was_stopped(database: Database) -> None:
    """Whichever games had ended; none is played again."""
    given = match(terms(), 12)
    first = MadeUp(lambda _: 1.0, at_once=3)
    stopped = await run(database, given, first, stop_after=4)
    assert stopped.result.games < 12
    assert not stopped.is_over
    done = set(await load(database, "test", terms()))
    second = MadeUp(lambda _: 0.0, at_once=2)
    end = await run(database, given, second)
    assert [task.number for task in second.tasks] == sorted(set(range(12)) - done)
    assert end.resumed == len(done)
    assert (end.result.wins, end.result.losses) == (len(done), 12 - len(done))
    third = MadeUp(lambda _: 0.0)
    assert (await run(database, given, third)).result == end.result
    assert third.tasks == []


async def test_a_longer_match_has_the_shorter_one_in_it(database: Database) -> None:
    await run(database, match(terms(), 4), MadeUp(lambda _: 1.0))
    workers = MadeUp(lambda _: 1.0)
    end = await run(database, match(terms(), 6), workers)
    assert [task.number for task in workers.tasks] == [4, 5]
    assert end.result.games == 6


class Failing(MadeUp):
    """Workers whose games end by failures, except for some."""

    def __init__(self, *played: int) -> None:
        super().__init__(lambda _: 1.0)
        self._played = played

    def _end(self, number: int, future: "Future[MatchGameRecord]") -> None:
        game = played(number, 1.0)
        if number not in self._played:
            lost = replace(game.finished, end=End.CRASH, loser=1, reason="no such file: engine.xz")
            game = replace(game, finished=lost)
        future.set_result(game)


async def test_a_match_of_failures_stops_and_names_the_cause(database: Database) -> None:
    given = match(terms(), 12)
    with pytest.raises(MatchError, match=r"first 4 games all ended .*B \(crash\): no such file: engine.xz; "):
        await run(database, given, Failing())
    assert len(await load(database, "test", terms())) == 4
    # Whoever has mended the cause can go on.
    assert (await run(database, given, Failing(4))).is_over


@pytest.mark.parametrize("game", range(4))
async def test_one_game_that_was_played_is_enough(database: Database, game: int) -> None:
    assert (await run(database, match(terms(), 12), Failing(game))).forfeits == 11


async def test_a_short_match_of_failures_has_a_result(database: Database) -> None:
    assert (await run(database, match(terms(), 4), Failing())).forfeits == 4


async def test_a_worker_that_dies(database: Database) -> None:
    workers = MadeUp(lambda _: 1.0, at_once=2)
    workers.failures = [Died(), Died()]
    end = await run(database, match(terms(), 6), workers)
    assert end.result.games == 6
    assert sorted(task.number for task in workers.tasks) == [0, 0, 1, 1, 2, 3, 4, 5]


async def test_workers_that_die_all_the_time(database: Database) -> None:
    workers = MadeUp(lambda _: 1.0)
    workers.failures = [Died() for _ in range(MAX_WORKER_DEATHS)]
    with pytest.raises(WorkersError, match="3 workers died in a row, the last one with game 1"):
        await run(database, match(terms(), 4), workers)
    assert (await run(database, match(terms(), 4), MadeUp(lambda _: 1.0))).result.games == 4


async def test_a_game_that_cannot_be_played(database: Database) -> None:
    workers = MadeUp(lambda _: 1.0)
    workers.failures = [MatchError("player 'x' cannot begin a game")]
    with pytest.raises(MatchError, match="cannot begin"):
        await run(database, match(terms(), 4), workers)


async def test_a_worker_without_this_program(database: Database) -> None:
    workers = MadeUp(lambda _: 1.0)
    workers.failures = [ModuleNotFoundError("No module named 'bot'")]
    with pytest.raises(MatchError, match="a worker cannot play: ModuleNotFoundError: No module named 'bot'"):
        await run(database, match(terms(), 4), workers)


async def test_the_test_ends_it(database: Database) -> None:
    given = match(terms(), 1000, sprt=Sprt(0, 100))
    workers = MadeUp(lambda _: 1.0)
    end = await run(database, given, workers)
    assert end.is_decided
    assert end.is_over
    assert end.tested is not None
    assert end.tested.verdict is SprtVerdict.H1
    assert end.result.games == 2 * end.tested.pairs == len(workers.tasks) < 200
    again = MadeUp(lambda _: 0.0)
    assert (await run(database, given, again)).tested == end.tested
    assert again.tasks == []


async def test_openings_are_played_with_both_colours_and_then_again(database: Database) -> None:
    openings = [Opening(None, ("f5",)), Opening(None, ("d3",))]
    given = Match(id="test", terms=terms(), games=6, seed=3, openings=openings)
    workers = MadeUp(lambda _: 1.0)
    await run(database, given, workers)
    first, second = openings
    assert [task.opening for task in workers.tasks] == [first, first, second, second, first, first]


async def test_a_match_that_runs_twice(database: Database) -> None:
    """Of two runs at once the one whose game comes second ends, and says why."""

    def other_run(number: int) -> float:
        if number == 2:
            asyncio.get_running_loop().create_task(store_game(database, "test", terms(), played(2, 0.0)))
        return 1.0

    with pytest.raises(MatchError, match="test-0003 is stored already: the match is running twice"):
        await run(database, match(terms()), MadeUp(other_run))
    assert sorted(await load(database, "test", terms())) == [0, 1, 2]


async def test_it_stops_before_the_first_game(database: Database) -> None:
    stop = asyncio.Event()
    stop.set()
    workers = MadeUp(lambda _: 1.0)
    end = await run_match(match(terms()), database, workers, lambda *_: None, stop)
    assert end.result.games == 0
    assert workers.tasks == []


async def test_fewer_games_than_were_played(database: Database) -> None:
    """The first ones count; the others stay where they are."""
    await run(database, match(terms(), 6), MadeUp(lambda number: float(number >= 2)))
    now = await run(database, match(terms(), 2), MadeUp(lambda _: 1.0))
    assert (now.result.games, now.resumed, now.result.wins, now.is_over) == (2, 2, 0, True)
    again = await run(database, match(terms(), 6), MadeUp(lambda _: 1.0))
    assert (again.result.games, again.resumed, again.result.wins) == (6, 6, 4)
