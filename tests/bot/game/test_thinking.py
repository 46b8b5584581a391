"""A game's searches: what the clock gives, games that can wait, and thinking on the opponent's time."""

import asyncio
import random
import threading
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager, suppress
from dataclasses import replace
from datetime import UTC, datetime
from typing import Any

import pytest

from bot.base.config import EngineConfig, TrapConfig, TrialConfig
from bot.base.dialects import Capability
from bot.game import thinking
from bot.game.game_runner import GameRunner
from bot.game.services import GameServices
from bot.game.thinking import GameThinker, MoveSearch, PositionToMove, Turn, expected_reply
from bot.threads import search_pool
from bot.threads.exploit_facts import ExploitMemory
from bot.threads.fair_queue import JobRank
from bot.threads.search_pool import JobStop, SearchPool
from engine.decision import Decision, DirectMove, Person, SearchMode
from engine.game import WIN_CENTI, positions
from engine.games import get_rules
from engine.lookup.source import LookupMove
from engine.move_chooser import MoveChooser
from engine.opponents.exploit_value import given_up
from engine.opponents.trust import ExploitFacts
from engine.person.pace import MAX_CLOCK_SHARE, thinking_time_s
from engine.protocols.score_settings import EngineSettings, MoveLimit
from engine.search.reference import ReferenceSearcher
from engine.search.searchers import NativeSearcher
from engine.stop import StopFlag, Stopped
from engine.strategies.registry import strategy_named
from engine.strategies.tempting import Tempting
from engine.time_management import (
    MAX_TIME_STRETCH,
    MAX_TIME_STRETCH_WITHOUT_CLOCK,
    Limits,
    limits_from_clock,
)
from engine.variety import LEVELS
from engine.verification import verify
from storage.database import Database
from storage.records import GameStatus, StoredGame
from tests.bot.fakes import GAME_ID, FakeServer, Killer, config, picker, services
from tests.bot.ledger_samples import check_books, stored_decisions
from tests.engine.human.fakes import FakeModel, OneModel
from tests.patience import PATIENCE_S
from tests.storage.ledger.test_exploit_facts import USE
from tests.storage.samples import NEW_GAME

GAME = get_rules("tictactoe")
START = GAME.initial()


def a_game(**changes: Any) -> StoredGame:
    fields = {name: getattr(NEW_GAME, name) for name in NEW_GAME.__dataclass_fields__}
    told = {"game": "tictactoe", "clock_initial_s": 60, "clock_increment_s": 0} | changes
    return StoredGame(
        **(fields | told),
        id=1,
        moves=(),
        state=GameStatus.OPEN,
        is_settled=False,
        result=None,
        end_reason=None,
        rating_diff=None,
        started_at=datetime(2026, 1, 1, tzinfo=UTC),
        ended_at=None,
    )


LIVE = a_game()
SLOW = a_game(clock_initial_s=None, clock_increment_s=None)


class Clock:
    """Seconds that a test sets."""

    def __init__(self) -> None:
        self.now = 1000.0

    def __call__(self) -> float:
        return self.now


class GatedSearcher:
    """The reference search, which waits at the gate before it goes deeper than a choice must."""

    source = "reference"

    def __init__(self) -> None:
        self.searcher = ReferenceSearcher(GAME)
        self.waits = threading.Semaphore(0)
        self.open = threading.Event()
        self.error: Exception | None = None

    @property
    def nodes(self) -> int:
        return self.searcher.nodes

    def search(self, position: Any, depth: int, alpha: int, beta: int, stop: StopFlag) -> int:
        if self.error is not None:
            error, self.error = self.error, None
            raise error
        if isinstance(stop, JobStop):  # not what is searched in any case
            if not self.open.is_set():
                self.waits.release()
            while not self.open.wait(0.001):
                if stop.is_set():
                    raise Stopped
        return self.searcher.search(position, depth, alpha, beta, stop)

    async def is_waiting(self) -> None:
        assert await asyncio.to_thread(self.waits.acquire, timeout=PATIENCE_S)


def at(stored: StoredGame, position: Any, moves: tuple[str, ...] = ()) -> PositionToMove:
    return PositionToMove(stored, GAME, position, moves)


class Scene:
    """Games that think on one thread."""

    def __init__(
        self, tasks: asyncio.TaskGroup, given: GameServices, searcher: GatedSearcher, clock: Clock
    ) -> None:
        self.tasks = tasks
        self.given = given
        self.searcher = searcher
        self.clock = clock
        self.mind = GameThinker(given, tasks)

    async def decide(
        self, position: Any = START, mind: GameThinker | None = None, **changes: Any
    ) -> Decision:
        """A turn of 60 s that has just begun."""
        stored = replace(LIVE, **changes)
        return await (mind or self.mind).decide(at(stored, position), 60.0, self.clock())

    def ponder(self, stored: StoredGame, first: Decision) -> Any:
        """Begin to think on the reply to the first move, and forget it; the position after that move."""
        after = GAME.play(START, GAME.parse_move(START, first.move))
        self.mind.start_pondering(at(stored, after, (first.move,)), first)
        self.mind.forget()
        return after

    async def first_move(self) -> tuple[Any, Any]:
        """Decide on the first move, and begin to think about the second.

        Returns:
            The position after the first move, and the one that is expected after the reply.
        """
        self.searcher.open.set()
        first = await self.decide()
        self.searcher.open.clear()
        after = GAME.play(START, GAME.parse_move(START, first.move))
        self.mind.start_pondering(at(LIVE, after), first)
        reply = expected_reply(first)
        assert reply is not None
        return after, GAME.play(after, GAME.parse_move(after, reply))


@asynccontextmanager
async def scene(**engine: Any) -> AsyncIterator[Scene]:
    searcher, clock = GatedSearcher(), Clock()
    make: Any = lambda *_: searcher  # noqa: E731
    settings = {"max_depth": 4, "max_time_s": 30, "workers": 1, "ponder": True, "variety_centi": 0} | engine
    async with SearchPool(1, 1, make) as pool, asyncio.timeout(PATIENCE_S), asyncio.TaskGroup() as tasks:
        given = GameServices(
            server=FakeServer(),
            database=None,  # type: ignore[arg-type]
            pool=pool,
            config=config(engine=EngineConfig(**settings)),
            bot_name="Desdemona",
            clock=clock,
        )
        yield Scene(tasks, given, searcher, clock)


def alone(position: Any, depth: int = 4) -> Decision:
    """The decision as anyone finds it."""
    player = MoveChooser(strategy_named("trappy"), GAME, LIVE.params, ReferenceSearcher(GAME))
    return player.choose(position, Limits(depth), StopFlag())


def same_choice(one: Decision, other: Decision) -> bool:
    return replace(one, nodes=0, time_s=0) == replace(other, nodes=0, time_s=0)


@pytest.mark.parametrize("strategy", ["standard", "trappy", "tempting", "opponent_model"])
async def test_a_search_that_fails_is_replaced_by_a_smaller_one(
    strategy: str, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    """It sees a win in one, can be verified, and is logged once."""
    monkeypatch.setattr(GatedSearcher, "search", lambda *_: 1 / 0)
    win_in_1 = START
    for move in ("a1", "a2", "b1", "b2"):
        win_in_1 = GAME.play(win_in_1, GAME.parse_move(win_in_1, move))
    async with scene() as found:
        for _ in range(2):
            decision = await found.decide(win_in_1, strategy=strategy)
            verify(decision)
            assert (decision.move, decision.strategy) == ("c1", "standard")
    (record,) = [each for each in caplog.records if "the search failed" in each.message]
    assert "ZeroDivisionError" in record.message


async def test_a_strategy_that_raises(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(Tempting, "search", lambda *_: 1 / 0)
    async with scene() as found:
        assert (await found.decide(strategy="tempting")).strategy == "standard"


async def test_a_model_of_people_that_raises() -> None:
    """Whatever its predictions raise; what the model refuses to do, the strategy handles itself."""
    async with scene() as found:
        given = replace(found.given, models=OneModel(FakeModel("tictactoe", lambda *_: (1 / 0,))))
        decision = await found.decide(mind=GameThinker(given, found.tasks), strategy="opponent_model")
    verify(decision)


def watched(name: str, monkeypatch: pytest.MonkeyPatch, kind: type[Any] = MoveChooser) -> list[Any]:
    """What each player, or search, is given under this name."""
    seen = []

    def make(*arguments: Any, **more: Any) -> Any:
        seen.append(more[name])
        return kind(*arguments, **more)

    monkeypatch.setattr(thinking, kind.__name__, make)
    return seen


@pytest.mark.parametrize("proof", [True, False])
async def test_preferred_moves_are_proved_unless_the_settings_say_otherwise(
    proof: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    seen = watched("proves", monkeypatch)
    async with scene() as found:
        found.searcher.open.set()
        settings = found.given.config.model_copy(update={"trap": TrapConfig(proof=proof)})
        mind = GameThinker(replace(found.given, config=settings), found.tasks)
        await found.decide(mind=mind)
    assert seen == [proof]


@pytest.mark.parametrize("rated", [True, False])
async def test_baits_count_in_casual_games(rated: bool, monkeypatch: pytest.MonkeyPatch) -> None:
    seen = watched("exploit", monkeypatch)
    async with scene() as found:
        found.searcher.open.set()
        await found.decide(rated=rated)
    [given] = seen
    assert given is None if rated else given.bait_percent > 0


# --- Limits ---------------------------------------------------------------------------------------------


class RecordedStop(JobStop):
    """Says what time a search was given."""

    def __init__(self, queue_per_thread: float = 0.0) -> None:
        super().__init__(queue_per_thread)
        self.given_s: list[float] = []
        self.stretches: list[float] = []

    def follow_thread(self, most_stretch: float) -> None:
        self.stretches.append(most_stretch)
        super().follow_thread(most_stretch)

    def set_most_stretch(self, most_stretch: float) -> None:
        self.stretches.append(most_stretch)
        super().set_most_stretch(most_stretch)

    def set_deadline(self, seconds: float) -> None:
        self.given_s.append(seconds)
        super().set_deadline(seconds)


async def time_given(found: Scene, stored: StoredGame, turn: Turn, queue_per_thread: float = 0.0) -> float:
    search = MoveSearch(found.given, at(stored, START))
    search.begin(turn)
    stop = RecordedStop(queue_per_thread)
    found.searcher.open.set()
    search(found.searcher, stop)
    [given_s] = stop.given_s
    return given_s


async def test_what_makes_a_search_shorter() -> None:
    async with scene() as found:
        turn = Turn(60.0, found.clock())
        usual = await time_given(found, LIVE, turn)
        assert usual < 60 / 5
        assert await time_given(found, LIVE, turn, queue_per_thread=2.0) == pytest.approx(usual / 3)
        found.given.server.lag_s = 1.0  # type: ignore[misc]
        assert await time_given(found, LIVE, turn) < usual
        found.given.server.lag_s = 0.0  # type: ignore[misc]
        found.clock.now += 30.0  # waiting for a thread
        assert await time_given(found, LIVE, turn) < usual / 2
        found.clock.now += 300.0
        assert await time_given(found, LIVE, turn) < 0.02


async def test_a_busy_machine_stretches_a_search_as_far_as_its_clock_allows() -> None:
    async with scene(max_time_s=60.0) as found:
        search = MoveSearch(found.given, at(LIVE, START))
        stop = RecordedStop()
        found.searcher.open.clear()
        thinking = asyncio.create_task(asyncio.to_thread(search, found.searcher, stop))
        await found.searcher.is_waiting()
        assert stop.stretches == [MAX_TIME_STRETCH_WITHOUT_CLOCK]  # on the opponent's time
        search.begin(Turn(600.0, found.clock()))
        found.searcher.open.set()
        await thinking
        [stretch] = stop.stretches[1:]
        assert 1 < stretch < MAX_TIME_STRETCH  # few moves are left at most


async def test_a_game_without_a_clock_has_time_of_its_own() -> None:
    async with scene(max_time_s=0.5, slow_time_s=7.0) as found:
        assert await time_given(found, LIVE, Turn(3600.0, found.clock())) == 0.5
        assert await time_given(found, SLOW, Turn(None, found.clock())) == 7.0
        assert await time_given(found, SLOW, Turn(86_400.0, found.clock())) == 7.0
        assert await time_given(found, SLOW, Turn(20.0, found.clock())) < 4.0
        found.given.server.cannot = {Capability.CORRESPONDENCE}  # type: ignore[attr-defined]
        assert await time_given(found, SLOW, Turn(None, found.clock())) == 0.5  # somebody waits for it


async def test_a_level_of_its_own_limits_the_search_and_gives_moves_away() -> None:
    weak = a_game(strategy="gentle", selection={"method": "fixed", "level": 1})
    async with scene(max_depth=8) as found:
        found.searcher.open.set()
        decision = await found.mind.decide(at(weak, START), 60.0, found.clock())
    assert (decision.depth, decision.search_mode) == (LEVELS[0].depth, "lot")
    assert decision.variety_draw is not None
    assert decision.variety_draw.within_centi == LEVELS[0].within_centi


async def test_who_imitates_people_takes_their_time() -> None:
    like = a_game(strategy="like", selection={"method": "fixed", "like_rating": 1300}, opponent_is_bot=True)
    async with scene() as found:
        model = FakeModel("tictactoe")
        found.given.models = OneModel(model)
        slept: list[float] = []

        async def sleep(seconds: float) -> None:
            slept.append(seconds)

        found.given.sleep = sleep
        found.searcher.open.set()
        decision = await found.mind.decide(at(like, START), 60.0, found.clock())
        await found.mind.hold_move()
        assert found.mind.max_move_time_s(at(like, START), 60.0) >= MAX_CLOCK_SHARE * 60.0
    assert decision.person_draw is not None
    assert decision.person_draw.person == Person(1300, 60.0)
    assert model.asked[-1].person == Person(1300, 60.0)
    [wait_s] = slept
    seed = int(decision.person_draw.seed, 16)
    assert wait_s == pytest.approx(thinking_time_s(seed, 60.0, 0.0, 0, 9))
    verify(decision)


# --- Games that can wait --------------------------------------------------------------------------------


async def test_a_slow_game_steps_back_and_keeps_what_it_had() -> None:
    async with scene() as found:
        slow = asyncio.create_task(found.mind.decide(at(SLOW, START), None, found.clock()))
        for _ in range(5):
            await found.searcher.is_waiting()
            assert await found.given.pool.run(lambda *_: "live", "tictactoe") == "live"
        await found.searcher.is_waiting()
        found.searcher.open.set()
        decision = await slow
        assert decision.depth == 4
        assert same_choice(decision, alone(START))


async def test_a_pause_costs_no_time_and_is_no_excuse_for_more() -> None:
    """The time of a move without a clock is what it is allowed in all, however often it is paused."""
    async with scene(slow_time_s=5.0) as found:
        search = MoveSearch(found.given, at(SLOW, START))
        search.begin(Turn(None, found.clock()))
        found.searcher.open.clear()
        spent_s = 0.0
        for _ in range(3):
            stop = RecordedStop()
            stop.is_paused = True
            stop.set()
            with pytest.raises(Stopped):
                search(found.searcher, stop)
            [given_s] = stop.given_s
            assert given_s == pytest.approx(5.0 - spent_s, abs=0.5)
            spent_s = 5.0 - given_s
        found.searcher.open.set()
        stop = RecordedStop()
        decision = search(found.searcher, stop)
        assert stop.given_s[0] < 5.0
        assert decision.depth == 4
        assert decision.time_s > 5.0 - stop.given_s[0]
        assert decision.nodes == found.searcher.nodes


async def test_a_position_has_one_seed_on_our_time_and_on_theirs(monkeypatch: pytest.MonkeyPatch) -> None:
    async def none_known(*_: object) -> dict[tuple[int, str], int]:
        return {}

    seeds = watched("seed", monkeypatch, MoveSearch)
    monkeypatch.setattr(GameThinker, "_known_seeds", none_known)
    async with scene() as found:
        found.searcher.open.set()
        stored = replace(LIVE, strategy="randomised")
        first = await found.mind.decide(at(stored, START), 60.0, found.clock())
        after = found.ponder(stored, first)
        reply = expected_reply(first)
        assert reply is not None
        here = GAME.play(after, GAME.parse_move(after, reply))
        await found.mind.decide(at(stored, here, (first.move, reply)), 60.0, found.clock())
    start, ahead, again = seeds
    assert None not in seeds
    assert ahead == again != start


async def test_pondering_knows_what_the_last_move_gave_up(monkeypatch: pytest.MonkeyPatch) -> None:
    async def known(*_: object) -> ExploitFacts:
        return ExploitFacts(0.8, 100.0)

    facts = watched("facts", monkeypatch, MoveSearch)
    monkeypatch.setattr(ExploitMemory, "facts", known)
    async with scene() as found:
        found.searcher.open.set()
        stored = replace(LIVE, strategy="exploit")
        first = await found.mind.decide(at(stored, START), 60.0, found.clock())
        best, other = USE.contenders
        assert USE.check is not None
        check = replace(USE.check, preferred=first.move)
        use = replace(USE, contenders=(best, replace(other, move=first.move)), check=check)
        found.ponder(stored, replace(first, exploit=use))
    now, ahead = facts
    assert now == ExploitFacts(0.8, 100.0)
    assert ahead == now._replace(spent=100.0 + given_up(use, first.move))
    assert ahead.spent > now.spent


async def test_a_slow_game_whose_time_is_spent_answers_with_its_best() -> None:
    async with scene(slow_time_s=1e-9) as found:
        search = MoveSearch(found.given, at(SLOW, START))
        search.begin(Turn(None, found.clock()))
        stop = JobStop(0)
        stop.is_paused = True
        first = search(found.searcher, stop)
        assert first.depth == 2
        assert search(found.searcher, JobStop(0)) == first


class RunByHand(MoveSearch):
    """Its runs take what a test says, by the game's clock and by the processor's."""

    takes_s = 0.0
    processor_share = 1.0

    def __init__(self, found: Scene, stored: StoredGame = LIVE) -> None:
        super().__init__(found.given, at(stored, START))
        self.clock = found.clock
        self.given: list[Limits] = []
        self.begin(Turn(60.0, found.clock()))

    def _choose(self, _: Any, limits: Limits, stop: JobStop) -> Decision:
        assert isinstance(stop, StopByHand)
        self.given.append(limits)
        self.clock.now += self.takes_s
        stop.now += self.processor_share * self.takes_s
        return replace(alone(START, 2), time_s=self.takes_s)

    def run(self, takes_s: float, queue_at_pause: float = 0.0) -> Decision | None:
        """Run and be paused; None: it wants to go on."""
        self.takes_s = takes_s
        stop = StopByHand(0.0)
        stop.is_paused, stop.queue_per_thread = True, queue_at_pause
        try:
            return self(GatedSearcher(), stop)
        except Stopped:
            return None


class StopByHand(JobStop):
    now = 0.0

    def now_s(self) -> float:
        return self.now


async def test_a_paused_search_goes_on_with_what_is_left() -> None:
    async with scene(max_time_s=3.0) as found:
        search = RunByHand(found)
        assert search.run(1.0) is None
        found.clock.now += 20.0  # in the queue; the clock still allows three seconds
        decision = search.run(1.6)
        assert decision is not None
        assert decision.time_s == 2.6
        assert [limits.time_s for limits in search.given] == [3.0, pytest.approx(2.0)]


@pytest.mark.parametrize(("queue", "is_enough"), [(0.0, False), (0.55, False), (0.65, True), (5.0, True)])
async def test_a_pause_asks_how_many_wait_now(queue: float, is_enough: bool) -> None:
    """The time is the plan by 1 + queue; where a fifth of it or less is left, what is known must do."""
    async with scene(max_time_s=3.0) as found:
        assert (RunByHand(found).run(1.5, queue) is not None) is is_enough


async def test_the_clock_runs_once_and_the_search_counts_processor_time() -> None:
    async with scene() as found:
        alone_s = RunByHand(found)
        alone_s.run(0.0)
        [first] = alone_s.given
        assert first.time_s is not None
        search = RunByHand(found)
        search.processor_share = 0.25
        for _ in range(2):
            assert search.run(2.0) is None
        # The clock of 60 s has lost two and two, which were no time in the queue.
        assert [limits.time_s for limits in search.given] == pytest.approx([first.time_s, first.time_s - 0.5])


async def test_the_plan_is_made_from_the_clock_as_it_is(monkeypatch: pytest.MonkeyPatch) -> None:
    plans: list[tuple[float, JobRank]] = []

    async def run(_: SearchPool, __: MoveSearch, ___: str, **more: Any) -> Decision:
        plans.append((more["plan_s"], more["rank"]))
        return alone(START, 2)

    monkeypatch.setattr(SearchPool, "run", run)
    async with scene(max_time_s=30.0) as found:
        for elapsed_s in (0.0, 30.0):
            await found.mind.decide(at(LIVE, START), 60.0, found.clock() - elapsed_s)
        await found.mind.decide(at(LIVE, START), 30.0, found.clock())
        await found.mind.decide(at(SLOW, START), None, found.clock())
    [(full_s, _), (late_s, live), (half_s, _), (slow_s, slow)] = plans
    assert full_s > late_s == half_s
    assert (live, slow, slow_s) == (JobRank.LIVE, JobRank.SLOW, 10.0)


async def test_an_engine_that_manages_its_clock_answers_at_a_pause_once_it_has_had_its_plan() -> None:
    own = a_game(strategy="standard_uci")
    async with scene(max_time_s=0.5) as found:
        settings = EngineSettings(game="chess", command=("engine",), limit=MoveLimit.CLOCK)
        engines: Any = found.given.engines
        engines.settings = lambda _: settings
        search = RunByHand(found, own)
        search.run(0.0)
        [limits] = search.given
        assert limits.engine_clock is not None
        assert limits.engine_clock.remaining_s == pytest.approx(60.0, abs=1.0)
        plan_s = limits_from_clock(60.0, 0, 9, 9, max_depth=4, max_time_s=99, overhead_s=0.5).time_s
        assert plan_s is not None
        assert plan_s > 5
        assert RunByHand(found, own).run(0.7 * plan_s) is None
        assert RunByHand(found, own).run(0.9 * plan_s) is not None
        assert RunByHand(found, own).run(0.3 * plan_s, queue_at_pause=1.0) is None
        assert RunByHand(found, own).run(0.45 * plan_s, queue_at_pause=1.0) is not None
        # After a pause it sees a part of its clock.
        search = RunByHand(found, own)
        search.run(plan_s / 2)
        search.run(0.0)
        clock = search.given[1].engine_clock
        assert clock is not None
        assert clock.remaining_s == pytest.approx(30.0, abs=1.0)


async def test_a_live_move_steps_back_for_a_shorter_plan() -> None:
    async with scene() as found:
        search = asyncio.create_task(found.mind.decide(at(LIVE, START), 60.0, found.clock() + 60))
        await found.searcher.is_waiting()
        urgent = found.given.pool.run(lambda *_: "urgent", "tictactoe", plan_s=0.0)
        assert await urgent == "urgent"
        await found.searcher.is_waiting()
        found.searcher.open.set()
        assert (await search).depth == 4


# --- Threads --------------------------------------------------------------------------------------------


class SelectiveSearcher(GatedSearcher, NativeSearcher):
    """Records the threads that the strong search is given."""

    def __init__(self) -> None:
        super().__init__()
        self.threads: list[int] = []

    def think(self, *_: Any, threads: int = 1, **__: Any) -> Any:
        self.threads.append(threads)
        raise Stopped


@pytest.mark.parametrize(
    ("player", "setting", "wanted", "threads"),
    [("strong", 0, [7], [3]), ("strong", 2, [], [2]), ("standard", 0, [], [1])],
)
async def test_a_strong_search_borrows_idle_cores_unless_told_how_many_threads_to_use(
    player: str, setting: int, wanted: list[int], threads: list[int]
) -> None:
    asked: list[int] = []

    def lend(most: int) -> int:
        asked.append(most)
        return 2

    async with scene(threads=setting) as found:
        strong = found.given.config.engine.strong_options()
        given, searcher = replace(found.given, strong=strong), SelectiveSearcher()
        searcher.open.set()
        search = MoveSearch(given, at(replace(LIVE, strategy=player), START))
        search.begin(Turn(60.0, found.clock()))
        search(searcher, JobStop(0.0, lend))
    assert (asked, searcher.threads) == (wanted, threads)


# --- On the opponent's time -----------------------------------------------------------------------------


def test_the_expected_reply() -> None:
    decision = alone(START)
    line = decision.principal_variation
    assert expected_reply(replace(decision, principal_variation=(decision.move, "c3"))) == "c3"
    others = replace(decision, principal_variation=("a9", *line[1:]))
    best = min(decision.chosen.replies, key=lambda reply: reply.final_centi)
    assert expected_reply(others) == best.reply
    bare = decision.with_chosen(replace(decision.chosen, replies=()))
    assert expected_reply(replace(bare, principal_variation=(decision.move,))) is None


def test_the_likeliest_reply_is_expected_where_a_model_was_asked() -> None:
    decision = alone(START)
    probabilities = dict(
        zip([reply.reply for reply in decision.chosen.replies], (0.1, 0.7, 0.2, *(0.0,) * 9), strict=False)
    )
    replies = tuple(
        replace(reply, probability=probabilities[reply.reply]) for reply in decision.chosen.replies
    )
    asked = replace(
        decision.with_chosen(replace(decision.chosen, replies=replies)),
        model=FakeModel("tictactoe").info,
        principal_variation=(decision.move, "c3"),
    )
    assert expected_reply(asked) == list(probabilities)[1]


async def test_players_that_reckon_with_a_person_are_told_the_game_and_the_clock() -> None:
    """A search that was begun ahead knows no clock of the opponent's, and all else that another one knows."""
    async with scene() as found:
        found.searcher.open.set()
        model = FakeModel("tictactoe", max_history_positions=3)
        mind = GameThinker(replace(found.given, models=OneModel(model)), found.tasks)
        stored = a_game(strategy="opponent_model", opponent_rating=1432)
        first = await mind.decide(at(stored, START), 60.0, found.clock(), 42.0)
        assert {ask.person for ask in model.asked} == {Person(1432, 42.0, 1500)}
        assert {len(ask.positions) for ask in model.asked} == {2}
        reply = expected_reply(first)
        assert reply is not None
        line = tuple(positions(GAME, (first.move, reply)))
        model.asked.clear()
        mind.start_pondering(at(stored, line[1], (first.move,)), first)
        second = await mind.decide(at(stored, line[2], (first.move, reply)), 60.0, found.clock(), 40.0)
        assert second.model_use is not None
        assert second.model_use.person == Person(1432, None, 1500)
        assert {ask.positions[:-1] for ask in model.asked} == {line[1:]}
        verify(second)


async def test_a_move_that_was_looked_up_replaces_the_search_ahead() -> None:
    """Also when the reply was expected and the search for it is done."""

    class Online:
        """Has a move for the second turn alone."""

        async def find(
            self, _game: str, position: Any, _remaining_s: float, _avoid: Any
        ) -> LookupMove | None:
            if position == START:
                return None
            return LookupMove(
                GAME.legal_moves(position)[-1],
                SearchMode.EXPLORER,
                DirectMove(None, 0, 0, False, "somewhere"),
            )

    async with scene() as found:
        found.searcher.open.set()
        online: Any = Online()
        mind = GameThinker(replace(found.given, online=online), found.tasks)
        stored = a_game(strategy="strong")
        first = await mind.decide(at(stored, START), 60.0, found.clock())
        reply = expected_reply(first)
        assert reply is not None
        line = tuple(positions(GAME, (first.move, reply)))
        mind.start_pondering(at(stored, line[1]), first)
        await found.given.pool.run(lambda *_: None, "tictactoe", rank=JobRank.SPARE)
        second = await mind.decide(at(stored, line[2]), 60.0, found.clock())
        assert (first.search_mode, second.search_mode) == ("exact", SearchMode.EXPLORER)
        assert second.pick is not None
        assert second.pick.origin == "somewhere"
        assert second.move == GAME.move_text(GAME.legal_moves(line[2])[-1])
        verify(second)


@pytest.mark.parametrize("strategy", ["trappy", "gentle"])
@pytest.mark.parametrize("score_centi", [WIN_CENTI, 0, None])
async def test_players_without_books_are_told_of_won_tables(strategy: str, score_centi: int | None) -> None:
    pick = DirectMove(score_centi, 0, 100, solved=True)
    known = LookupMove(GAME.legal_moves(START)[0], SearchMode.ONLINE_TABLEBASE, pick)

    class Online:
        async def find(self, *_: Any, tables_only: bool = False) -> LookupMove:
            assert tables_only
            return known

    async with scene() as found:
        online: Any = Online()
        mind = GameThinker(replace(found.given, online=online), found.tasks)
        told = await mind._look_up(at(a_game(strategy=strategy), START), 60.0, None)
    assert told == (known if strategy == "trappy" and score_centi else None)


async def test_a_reply_that_was_expected_finds_the_search_done() -> None:
    async with scene() as found:
        _, expected = await found.first_move()
        await found.searcher.is_waiting()
        found.searcher.open.set()
        await found.given.pool.run(lambda *_: None, "tictactoe", rank=JobRank.SPARE)  # after the other
        nodes = found.searcher.nodes
        decision = await found.decide(expected)
        assert found.searcher.nodes == nodes
        assert same_choice(decision, alone(expected))
        assert decision.time_s > 0
        assert decision.nodes > 0


async def test_a_reply_that_was_expected_finds_the_search_running() -> None:
    async with scene() as found:
        _, expected = await found.first_move()
        await found.searcher.is_waiting()
        decided = asyncio.create_task(found.decide(expected))
        await asyncio.sleep(0)
        # It is a live search now: nobody pauses it.
        other = asyncio.create_task(found.given.pool.run(lambda *_: "live", "tictactoe"))
        await asyncio.sleep(0)
        found.searcher.open.set()
        assert same_choice(await decided, alone(expected))
        assert await other == "live"


async def test_a_search_begun_ahead_ends_when_the_clock_says_so(monkeypatch: pytest.MonkeyPatch) -> None:
    """It has had more time already than the clock would give: what it has must do."""
    async with scene() as found:

        class Timed(JobStop):
            def now_s(self) -> float:
                return found.clock.now

        monkeypatch.setattr(search_pool, "JobStop", Timed)
        _, expected = await found.first_move()
        await found.searcher.is_waiting()
        found.clock.now += 100.0  # of the opponent's time
        decision = await found.decide(expected)  # the gate is still closed
        assert decision.depth == 2


async def test_another_reply() -> None:
    async with scene() as found:
        after, expected = await found.first_move()
        await found.searcher.is_waiting()
        other = next(p for m in GAME.legal_moves(after) if (p := GAME.play(after, m)) != expected)
        decided = asyncio.create_task(found.decide(other))
        await found.searcher.is_waiting()  # the search that was begun ahead has left the thread
        found.searcher.open.set()
        assert same_choice(await decided, alone(other))


async def test_it_can_be_forgotten() -> None:
    """A takeback, or the end of the game."""
    async with scene() as found:
        _, expected = await found.first_move()
        await found.searcher.is_waiting()
        found.mind.forget()
        found.mind.forget()
        assert await found.given.pool.run(lambda *_: "free", "tictactoe", rank=JobRank.SPARE) == "free"
        found.searcher.open.set()
        assert same_choice(await found.decide(expected), alone(expected))


async def test_live_games_never_wait_for_it() -> None:
    async with scene() as found:
        _, expected = await found.first_move()
        await found.searcher.is_waiting()
        another = asyncio.create_task(found.decide(mind=GameThinker(found.given, found.tasks)))
        await found.searcher.is_waiting()  # the thread is the other game's
        found.searcher.open.set()
        assert same_choice(await another, alone(START))
        assert same_choice(await found.decide(expected), alone(expected))


async def test_a_turn_that_ends_while_it_goes_on() -> None:
    async with scene() as found:
        _, expected = await found.first_move()
        await found.searcher.is_waiting()
        decided = asyncio.create_task(found.decide(expected))
        await asyncio.sleep(0)
        decided.cancel()
        with pytest.raises(asyncio.CancelledError):
            await decided
        assert await found.given.pool.run(lambda *_: "free", "tictactoe", rank=JobRank.SPARE) == "free"


async def test_nothing_is_left_at_the_end() -> None:
    before = asyncio.all_tasks()

    async def interrupted() -> None:
        async with scene() as found:
            await found.first_move()
            await found.searcher.is_waiting()
            raise RuntimeError("the game's tasks end")

    with pytest.raises(ExceptionGroup):
        await interrupted()
    assert asyncio.all_tasks() == before


async def test_an_error_ahead_of_the_turn_costs_nothing(caplog: pytest.LogCaptureFixture) -> None:
    async with scene() as found:
        found.searcher.open.set()
        first = await found.decide()
        found.searcher.error = RuntimeError("no")
        after = GAME.play(START, GAME.parse_move(START, first.move))
        found.mind.start_pondering(at(LIVE, after), first)
        async with asyncio.timeout(PATIENCE_S):
            while "pondering failed" not in caplog.text:  # noqa: ASYNC110
                await asyncio.sleep(0)
        reply = expected_reply(first)
        assert reply is not None
        expected = GAME.play(after, GAME.parse_move(after, reply))
        assert same_choice(await found.decide(expected), alone(expected))
    assert "pondering failed" in caplog.text


@pytest.mark.parametrize("engine", [{"ponder": False}, {}])
async def test_when_nothing_is_done_ahead(engine: dict[str, Any]) -> None:
    """It is switched off, the game has no clock, or none is known yet."""
    async with scene(**engine) as found:
        found.searcher.open.set()
        decision = alone(START)
        after = GAME.play(START, GAME.parse_move(START, decision.move))
        mind = GameThinker(found.given, found.tasks)
        mind.start_pondering(at(LIVE, after), decision)
        if not engine:
            await mind.decide(at(SLOW, START), None, found.clock())
            mind.start_pondering(at(SLOW, after), decision)
        else:
            await mind.decide(at(LIVE, START), 60.0, found.clock())
            mind.start_pondering(at(LIVE, after), decision)
        nodes = found.searcher.nodes
        await found.given.pool.run(lambda *_: None, "tictactoe", rank=JobRank.SPARE)
        assert found.searcher.nodes == nodes


@pytest.mark.parametrize(("our_side", "seed"), [(0, 1), (0, 2), (1, 3), (1, 4)])
async def test_a_whole_game_is_decided_the_same(database: Database, our_side: int, seed: int) -> None:
    """Whatever is done on the opponent's time, the books say the same; nothing is left running."""
    engine = EngineConfig(max_depth=4, workers=1, table_mb=1, ponder=True)
    server = FakeServer(our_side=our_side, pick=picker(seed))
    async with (
        services(server, database, settings=config(engine=engine)) as given,
        asyncio.timeout(PATIENCE_S),
    ):
        before = asyncio.all_tasks()
        await GameRunner(GAME_ID, given).run()
        assert asyncio.all_tasks() == before
    await check_books(database, server)
    for stored in await stored_decisions(database):
        again = alone(GAME.parse_position(stored.decision.position))
        assert stored.decision.move == again.move
        assert stored.decision.candidates[0].raw_centi == again.candidates[0].raw_centi


@pytest.mark.parametrize("seed", range(5))
async def test_killed_while_thinking_ahead(database: Database, seed: int) -> None:
    """Nothing is written down before the turn is ours: the next life knows only what was decided."""
    rng = random.Random(seed)
    server = FakeServer(our_side=seed % 2, pick=picker(seed))
    engine = EngineConfig(max_depth=4, workers=1, table_mb=1, ponder=True)

    async def live(killer: Killer) -> bool:
        """Whether this life came to the game's end."""
        async with services(server, database, settings=config(engine=engine)) as given:
            mortal = killer.wrap(given)
            running = asyncio.create_task(GameRunner(GAME_ID, mortal).run())
            dead = asyncio.create_task(killer.killed.wait())
            async with asyncio.timeout(PATIENCE_S):
                await asyncio.wait([running, dead], return_when=asyncio.FIRST_COMPLETED)
            finished = running.done()
            dead.cancel()
            running.cancel()
            with suppress(asyncio.CancelledError):
                await running
            return finished

    lives = 1
    while not await live(Killer(rng.randrange(40))):
        lives += 1
    assert lives > 1
    await check_books(database, server)


# --- Trials ---------------------------------------------------------------------------------------------


DRAWN = {"method": "balanced", "chances": {"standard": 0.4, "trappy": 0.6}}


DRAWN_GAME = replace(LIVE, trial_id=1, selection=DRAWN)


def held(found: Scene, **trial: Any) -> tuple[GameServices, list[float]]:
    """Services whose sleep moves the clock, and the times slept."""
    slept: list[float] = []

    async def sleep(seconds: float) -> None:
        slept.append(seconds)
        found.clock.now += seconds

    settings = found.given.config.model_copy(update={"trial": TrialConfig(**trial)})
    return replace(found.given, config=settings, sleep=sleep), slept


@pytest.mark.parametrize(
    ("changes", "trial", "held_s"),
    [
        ({}, {}, 1.0),
        ({"clock_initial_s": None}, {}, 1.0),
        ({}, {"hold_s": 0.25}, 0.25),
        ({}, {"hold_s": 0}, None),
        ({}, {"reveal": True}, None),
        ({"trial_id": None}, {}, None),
        ({"selection": {"method": "fixed"}}, {}, None),
    ],
)
async def test_in_a_blind_trial_a_move_waits_for_the_time_planned_for_it(
    changes: dict[str, Any], trial: dict[str, Any], held_s: float | None
) -> None:
    async with scene(max_time_s=1.0, slow_time_s=1.0) as found:
        found.searcher.open.set()
        given, slept = held(found, **trial)
        mind, began = GameThinker(given, found.tasks), found.clock.now
        stored = replace(DRAWN_GAME, **changes)
        remaining_s = None if stored.clock_initial_s is None else 60.0
        mind.begin_turn(at(stored, START), remaining_s, began)
        decided = await mind.decide(at(stored, START), remaining_s, began)
        assert same_choice(decided, alone(START))
        assert slept == []  # it is stored first
        await mind.hold_move()
        assert slept == ([] if held_s is None else [held_s])
        mind.begin_turn(at(stored, START), remaining_s, found.clock.now)  # the site refused the move
        await mind.hold_move()
        assert len(slept) <= 1


async def test_after_a_restart_a_stored_move_waits_like_one_that_is_yet_to_be_found() -> None:
    async with scene(max_time_s=1.0) as found:
        given, slept = held(found)
        mind = GameThinker(given, found.tasks)
        mind.begin_turn(at(DRAWN_GAME, START), 2.0, found.clock.now)
        await mind.hold_move()
        [wait_s] = slept
        assert 0 < wait_s < 0.2 * 2.0  # as much as the clock allows


async def time_held(found: Scene, given: GameServices, waited_s: float, remaining_s: float) -> RecordedStop:
    search = MoveSearch(given, at(DRAWN_GAME, START))
    search.begin(Turn(remaining_s, found.clock() - waited_s))
    stop = RecordedStop(queue_per_thread=3.0)
    found.searcher.open.set()
    search(found.searcher, stop)
    assert search.release_at is not None
    stop.given_s.append(search.release_at - found.clock() + waited_s)
    return stop


@pytest.mark.parametrize(
    ("waited_s", "search_s", "sent_s"),
    [(0.0, 1.9, 2.0), (0.9, 1.0, 2.0), (1.1, 1.8, 3.0), (2.1, 1.8, 4.0), (7.5, 1.4, 9.0)],
)
async def test_how_long_a_search_takes_does_not_tell_when_its_move_is_sent(
    waited_s: float, search_s: float, sent_s: float
) -> None:
    """A search that waited for a thread ends before the next half of its plan that leaves it another half."""
    async with scene(max_time_s=2.0) as found:
        given, _ = held(found)
        stop = await time_held(found, given, waited_s, 600.0)
        assert stop.given_s == pytest.approx([search_s, sent_s])
        assert stop.stretches == [1.0]


@pytest.mark.parametrize("remaining_s", [0.5, 2.0, 5.0, 20.0])
async def test_a_held_move_costs_no_more_clock_than_the_search_may(remaining_s: float) -> None:
    async with scene(max_time_s=2.0) as found:
        given, _ = held(found)
        for waited_s in (0.0, 0.1, 0.3):
            free_s = await time_given(found, LIVE, Turn(remaining_s, found.clock() - waited_s))
            _, sent_s = (await time_held(found, given, waited_s, remaining_s)).given_s
            assert sent_s <= waited_s + free_s + 1e-9


async def test_a_held_move_is_not_searched_again_when_its_thread_is_needed() -> None:
    async with scene(max_time_s=2.0) as found:
        given, _ = held(found)
        search = MoveSearch(given, at(DRAWN_GAME, START))
        stop = RecordedStop()
        stop.is_paused = True
        stop.set()
        with pytest.raises(Stopped):  # on the opponent's time
            search(found.searcher, stop)
        search.begin(Turn(60.0, found.clock()))
        assert search(found.searcher, stop).move


async def test_a_search_begun_on_the_opponents_time_ends_before_its_move_is_sent() -> None:
    async with scene(max_time_s=2.0) as found:
        given, _ = held(found)
        search, stop = MoveSearch(given, at(DRAWN_GAME, START)), RecordedStop()
        found.searcher.open.clear()
        thinking = asyncio.create_task(asyncio.to_thread(search, found.searcher, stop))
        await found.searcher.is_waiting()
        found.clock.now += 0.05
        search.begin(Turn(600.0, found.clock()))
        assert stop.given_s == pytest.approx([2.0, 1.9])
        assert search.release_at == found.clock() + 2.0
        found.searcher.open.set()
        await thinking
