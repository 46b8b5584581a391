"""Runs of an analysis: what is stored, what is repeated, and what workers do."""

import asyncio
import sys
import threading
from collections.abc import Callable, Iterator
from concurrent.futures import Future, ThreadPoolExecutor
from dataclasses import replace
from pathlib import Path
from typing import Any, TypeVar

import pytest

from bot.workers.pools import WorkersError
from engine.formats.record import GameRecord
from engine.games import get_rules
from engine.human.model import BadModel
from engine.params import TrapParams
from engine.protocols.score_settings import EngineSettings
from engine.search.profiles import Profiler
from engine.search.reference import ReferenceSearcher
from engine.stop import StopFlag
from lab.analysis.analysed_games import (
    AnalysisSettings,
    StoredPosition,
    costs_of_analysis,
    iterate_positions,
    list_models,
)
from lab.analysis.analysis_runner import AnalysisTally, judge_positions, predict, run_analysis
from lab.analysis.recorded_games import AnsweredMove, GivenGame, MoveFilter, select_moves
from lab.analysis.reply_profiles import AnalysisError, JudgeTask, ProfiledMove, ProfileTask, profile
from lab.analysis.trap_counts import decision_of
from storage.database import Database
from storage.research.archive import content_key
from tests.engine.human.fakes import FakeModel, alike
from tests.engine.protocols import fake_uci
from tests.engine.protocols.fake_uci import fake_score

T = TypeVar("T")
R = TypeVar("R")

FAKE = (sys.executable, str(Path(fake_uci.__file__)))
RECORD = GameRecord(
    game="othello",
    players=("Anna", "Bert"),
    moves=("f5", "d6", "c3", "d3", "c4", "f4", "f6", "g5"),
    date="2016",
    ratings=(None, 1700),
)
WAY = AnalysisSettings("othello", "native", 4, "2", {})


class Died(Exception):
    pass


class Here:
    """Does work at once, unless a failure is due first."""

    deaths: tuple[type[BaseException], ...] = (Died,)

    def __init__(self, *failures: BaseException) -> None:
        self.failures = list(failures)
        self.done: list[Any] = []
        self.asked_in: list[threading.Thread] = []

    def capacity(self) -> int:
        self.asked_in.append(threading.current_thread())
        return 1

    def run(self, work: Callable[[T], R], task: T) -> "Future[R]":
        future: Future[R] = Future()
        future.set_running_or_notify_cancel()
        self.done.append(task)
        if self.failures:
            future.set_exception(self.failures.pop(0))
        else:
            future.set_result(work(task))
        return future


@pytest.fixture
def backend() -> str:
    return "sqlite"


@pytest.fixture
def wanted() -> list[AnsweredMove]:
    return select_moves([GivenGame(RECORD, content_key(RECORD), "a.wtb", "wthor")], MoveFilter())


async def run(
    database: Database, wanted: list[AnsweredMove], hands: Here, stop: asyncio.Event | None = None
) -> tuple[int, AnalysisTally]:
    return await run_analysis(WAY, None, wanted, database, hands, lambda _: None, stop or asyncio.Event())


async def kept(database: Database, analysis_id: int, model_id: int | None = None) -> list[StoredPosition]:
    async with database.read() as session:
        return [each async for each in iterate_positions(session, analysis_id, model_id)]


async def test_every_answer_with_its_profile(database: Database, wanted: list[AnsweredMove]) -> None:
    analysis_id, tally = await run(database, wanted, Here())
    assert tally == AnalysisTally(known=0, new=7, failed=0)
    found = await kept(database, analysis_id)
    assert sorted(each.found.ply for each in found) == list(range(1, 8))
    game = get_rules("othello")
    for each in found:
        position = game.parse_position(each.found.position)
        profiler = Profiler(game, ReferenceSearcher(game), position, TrapParams(), StopFlag())
        move = game.parse_move(position, each.found.move)
        assert each.found.replies == profiler.all_replies(move, 4)
        assert each.found.reply == RECORD.moves[each.found.ply]
        assert each.found.rating == (1700 if each.found.side else None)


async def test_the_loop_does_not_wait_for_a_cluster(database: Database, wanted: list[AnsweredMove]) -> None:
    hands = Here()
    await run(database, wanted, hands)
    assert len(hands.asked_in) == 2  # once in each of the two rounds: four moves, and three
    assert threading.current_thread() not in hands.asked_in


async def test_the_same_run_goes_on(database: Database, wanted: list[AnsweredMove]) -> None:
    analysis_id, _ = await run(database, wanted[:3], Here())
    hands = Here()
    again, tally = await run(database, wanted, hands)
    assert (again, tally) == (analysis_id, AnalysisTally(known=3, new=4, failed=0))
    assert len(hands.done) == 4
    assert (await run(database, wanted, hands))[1] == AnalysisTally(known=7, new=0, failed=0)


async def test_a_stopped_run_keeps_what_it_has(database: Database, wanted: list[AnsweredMove]) -> None:
    stop = asyncio.Event()
    stop.set()
    _, tally = await run(database, wanted, Here(), stop)
    assert tally.new == 0


async def test_work_of_workers_that_died_is_done_again(
    database: Database, wanted: list[AnsweredMove]
) -> None:
    _, tally = await run(database, wanted, Here(Died(), Died()))
    assert tally == AnalysisTally(known=0, new=7, failed=0)
    with pytest.raises(WorkersError, match="workers died in a row"):
        await run(database, [replace(each, ply=each.ply + 50) for each in wanted], Here(*[Died()] * 50))


async def test_moves_at_which_the_engine_fails_are_left_for_another_time(
    database: Database, wanted: list[AnsweredMove]
) -> None:
    _, tally = await run(database, wanted, Here(AnalysisError("it ended")))
    assert tally == AnalysisTally(known=0, new=6, failed=1)
    assert (await run(database, wanted, Here()))[1] == AnalysisTally(known=6, new=1, failed=0)


async def test_an_engine_that_never_works_ends_it(database: Database, wanted: list[AnsweredMove]) -> None:
    with pytest.raises(AnalysisError, match="none succeeded: it ended"):
        await run(database, wanted, Here(*[AnalysisError("it ended")] * 9))
    with pytest.raises(AnalysisError, match="a worker failed: ModuleNotFoundError: bot"):
        await run(database, wanted, Here(ModuleNotFoundError("bot")))


async def test_a_model_is_asked_once_with_the_game_before(
    database: Database, wanted: list[AnsweredMove]
) -> None:
    analysis_id, _ = await run(database, wanted, Here())
    model = FakeModel("othello", max_history_positions=3)
    assert await predict(analysis_id, model, database, lambda _: None, asyncio.Event()) == 7
    assert await predict(analysis_id, model, database, lambda _: None, asyncio.Event()) == 0
    assert [len(ask.positions) for ask in model.asked] == [2, 3, 3, 3, 3, 3, 3]
    game = get_rules("othello")
    last = model.asked[-1]
    assert last.person.rating == 1700
    assert game.play(last.positions[-2], game.parse_move(last.positions[-2], "f6")) == last.positions[-1]
    async with database.read() as session:
        ((model_id, info),) = await list_models(session, analysis_id)
    assert info == model.info
    assert all(
        sum(each.human or ()) == pytest.approx(1) for each in await kept(database, analysis_id, model_id)
    )


async def test_a_model_that_talks_nonsense_is_refused(database: Database, wanted: list[AnsweredMove]) -> None:
    analysis_id, _ = await run(database, wanted, Here())
    model = FakeModel("othello", lambda game, ask: tuple(2 * p for p in alike(game, ask)))
    with pytest.raises(BadModel):
        await predict(analysis_id, model, database, lambda _: None, asyncio.Event())


async def judge_tasks(database: Database, wanted: list[AnsweredMove]) -> tuple[int, list[JudgeTask]]:
    """The key of an analysis, and the task of judging each reply that was played."""
    analysis_id, _ = await run(database, wanted, Here())
    tasks = []
    for each in await kept(database, analysis_id):
        decision = decision_of("othello", each.found.position, each.found.candidate, TrapParams())
        tasks.append(JudgeTask(each.id, decision, (each.found.reply,)))
    return analysis_id, tasks


async def test_replies_are_judged_once(database: Database, wanted: list[AnsweredMove]) -> None:
    analysis_id, tasks = await judge_tasks(database, wanted[:3])
    done = list[int]()
    found = await judge_positions(tasks, {}, database, Here(), done.append, asyncio.Event())
    assert {key: [each.reply for each in costs.replies] for key, costs in found.items()} == {
        task.number: list(task.replies) for task in tasks
    }
    async with database.read() as session:
        known = await costs_of_analysis(session, analysis_id)
    assert {key: costs.best for key, costs in known.items()} == {
        key: costs.best for key, costs in found.items()
    }
    more = next(
        reply.reply for reply in tasks[0].decision.chosen.replies if reply.reply not in tasks[0].replies
    )
    tasks[0] = replace(tasks[0], replies=(*tasks[0].replies, more))
    hands, done = Here(), []
    again = await judge_positions(tasks, known, None, hands, done.append, asyncio.Event())
    assert [task.number for task in hands.done] == [tasks[0].number]
    assert hands.done[0].known == known[tasks[0].number]
    assert again[tasks[0].number].of(more).reply == more
    assert sum(done) == 3
    async with database.read() as session:
        assert await costs_of_analysis(session, analysis_id) == known, "not to be stored"


async def test_the_judge_can_be_stopped_and_fail(database: Database, wanted: list[AnsweredMove]) -> None:
    _, tasks = await judge_tasks(database, wanted[:2])
    stop = asyncio.Event()
    stop.set()
    assert await judge_positions(tasks, {}, database, Here(), lambda _: None, stop) == {}
    with pytest.raises(AnalysisError, match="a worker failed: OSError: gone"):
        await judge_positions(tasks, {}, database, Here(OSError("gone")), lambda _: None, asyncio.Event())


@pytest.fixture
def worker() -> Iterator[ThreadPoolExecutor]:
    """A separate thread: its engines end with it."""
    with ThreadPoolExecutor(1) as pool:
        yield pool


def test_profiles_of_another_engine(worker: ThreadPoolExecutor) -> None:
    game = get_rules("chess")
    start = game.position_text(game.initial())
    settings = EngineSettings(game="chess", command=(*FAKE, "chess", "uci"), depth=4)
    found = worker.submit(profile, ProfileTask(5, "chess", start, "e2e4", 4, settings)).result()
    assert isinstance(found, ProfiledMove)
    assert (found.number, len(found.replies)) == (5, 20)
    after = game.play(game.initial(), game.parse_move(game.initial(), "e2e4"))
    board = " ".join(game.board_text(after).split()[:2])
    first = found.replies[0]
    assert first.scores_centi == tuple(-fake_score(board, first.reply, depth) for depth in (1, 2, 3))


def test_an_engine_that_ends_is_told_of(tmp_path: Path, worker: ThreadPoolExecutor) -> None:
    game = get_rules("chess")
    start = game.position_text(game.initial())
    once = f"once={tmp_path / 'once'}"
    settings = EngineSettings(game="chess", command=(*FAKE, "chess", "uci", "crash=1", once), depth=4)
    task = ProfileTask(0, "chess", start, "e2e4", 4, settings)
    with pytest.raises(AnalysisError, match="ended by itself"):
        worker.submit(profile, task).result()
    assert len(worker.submit(profile, task).result().replies) == 20
