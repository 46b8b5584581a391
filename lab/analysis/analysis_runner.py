"""Runs analyses and judgements: hands moves to workers and stores each result, so that a stopped run can
resume."""

import asyncio
from collections import deque
from collections.abc import Callable, Iterator, Mapping, Sequence
from concurrent.futures import Future
from contextlib import aclosing
from dataclasses import dataclass, replace
from types import MappingProxyType

from bot.base.errors import DesdemonaError
from bot.workers.jobs import finished_jobs
from bot.workers.pools import Workers
from engine.decision import Person
from engine.formats.record import GameRecord, steps
from engine.games import get_rules
from engine.human.model import BadModel, HumanModel, PredictionQuery, predictions_of
from engine.judge import ReplyCosts
from engine.protocols.score_settings import EngineSettings
from lab.analysis.analysed_games import (
    AnalysedPosition,
    AnalysisSettings,
    add_costs,
    add_positions,
    add_predictions,
    get_or_add_analysis,
    keep_games,
    keep_model,
    list_analysed_plies,
    positions_without_prediction,
)
from lab.analysis.elo import Standings, settled_ratings
from lab.analysis.recorded_games import AnsweredMove, GivenGame
from lab.analysis.reply_profiles import (
    AnalysisError,
    JudgeTask,
    ProfiledMove,
    ProfileTask,
    judge_replies,
    profile,
)
from storage.database import Database
from storage.research.archive import content_key

_QUEUED_MOVES_PER_WORKER = 4
"""Number of moves queued for each worker."""
_MAX_INITIAL_FAILURES = 3
"""The run fails after this many failed moves without any success."""
_PREDICTED_AT_ONCE = 64

OnCount = Callable[[int], None]
"""Called with the number of items just completed."""


@dataclass(frozen=True, slots=True, kw_only=True)
class AnalysisTally:
    """Counts of the moves to analyse, by outcome."""

    known: int
    """Moves analysed before this run."""
    new: int
    failed: int
    """Moves on which the engine failed; a later run tries them again."""


async def run_analysis(
    analysis: AnalysisSettings,
    engine: EngineSettings | None,
    wanted: Sequence[AnsweredMove],
    database: Database,
    workers: Workers,
    on_count: OnCount,
    stop: asyncio.Event,
) -> tuple[int, AnalysisTally]:
    """Analyse the moves that have no stored result in this analysis.

    Args:
        engine: The engine to use; None means the native search.
        stop: Event that ends the run early; stored results are kept.

    Returns:
        The key of the analysis and the tally of the moves.

    Raises:
        AnalysisError: The analysis cannot continue.
        StorageError: A result cannot be stored.
        WorkersError: The workers keep crashing, or the cluster cannot be reached.
    """
    async with database.write() as session:
        analysis_id = await get_or_add_analysis(session, analysis)
        known = await list_analysed_plies(session, analysis_id)
    todo = [(at, each) for at, each in enumerate(wanted) if (each.game.key, each.ply) not in known]
    resumed = len(wanted) - len(todo)
    on_count(resumed)
    ids: dict[str, int] = {}
    new = failed = 0

    def start(job: tuple[int, AnsweredMove]) -> Future[ProfiledMove]:
        return workers.run(profile, _task(*job, analysis, engine))

    finished = finished_jobs(
        todo, start, lambda job: f"move {job[0] + 1}", workers, stop, ahead=_QUEUED_MOVES_PER_WORKER
    )
    async with aclosing(finished):
        async for batch in finished:
            moves: list[ProfiledMove] = []
            for _, future in batch:
                try:
                    moves.append(future.result())
                except AnalysisError as error:
                    failed += 1
                    if failed >= _MAX_INITIAL_FAILURES and not new:
                        raise AnalysisError(f"{failed} moves failed and none succeeded: {error}") from None
                except DesdemonaError:
                    raise
                except Exception as error:
                    raise AnalysisError(f"a worker failed: {type(error).__name__}: {error}") from error
            if moves:
                await _store(database, analysis_id, wanted, moves, ids)
                new += len(moves)
                on_count(len(moves))
    return analysis_id, AnalysisTally(known=resumed, new=new, failed=failed)


async def judge_positions(
    tasks: Sequence[JudgeTask],
    known: Mapping[int, ReplyCosts],
    database: Database | None,
    workers: Workers,
    on_count: OnCount,
    stop: asyncio.Event,
) -> dict[int, ReplyCosts]:
    """Judge the replies that have not been judged yet.

    Args:
        tasks: Their numbers are positions' keys.
        known: What replies cost, as far as it is known, keyed by position.
        database: Stores the new costs; None to store nothing.
        stop: Event that ends the run early; what was stored is kept.

    Returns:
        What the replies of each task cost, keyed by position; incomplete if the run was ended early.

    Raises:
        AnalysisError: A worker failed.
        StorageError: A result cannot be stored.
        WorkersError: The workers keep crashing, or the cluster cannot be reached.
    """
    todo = [
        replace(task, known=known.get(task.number))
        for task in tasks
        if not _is_known(task, known.get(task.number))
    ]
    on_count(len(tasks) - len(todo))
    found = dict(known)
    finished = finished_jobs(
        todo,
        lambda task: workers.run(judge_replies, task),
        lambda task: f"position {task.number}",
        workers,
        stop,
        ahead=_QUEUED_MOVES_PER_WORKER,
    )
    async with aclosing(finished):
        async for batch in finished:
            new = {}
            for task, future in batch:
                try:
                    new[task.number] = future.result()
                except Exception as error:
                    raise AnalysisError(f"a worker failed: {type(error).__name__}: {error}") from error
            if database is not None:
                async with database.write() as session:
                    await add_costs(session, new)
            found |= new
            on_count(len(batch))
    return {task.number: found[task.number] for task in tasks if _is_known(task, found.get(task.number))}


def _is_known(task: JudgeTask, costs: ReplyCosts | None) -> bool:
    return costs is not None and set(task.replies) <= {each.reply for each in costs.replies}


async def predict(
    analysis_id: int,
    model: HumanModel,
    database: Database,
    on_count: OnCount,
    stop: asyncio.Event,
    known: Standings = MappingProxyType({}),
) -> int:
    """Add a model's reply probabilities to positions that lack them, and return the number of positions.

    Args:
        known: Reconstructed ratings by game, used instead of recorded ones.

    Raises:
        BadModel: The model cannot predict the replies in a position.
    """
    async with database.write() as session:
        model_id = await keep_model(session, model.info)
    count = 0
    while not stop.is_set():
        async with database.read() as session:
            batch = await positions_without_prediction(session, analysis_id, model_id, _PREDICTED_AT_ONCE)
        if not batch:
            break
        # A batch of queries takes a while, and the event loop must still handle signals.
        probabilities = await asyncio.to_thread(
            _probabilities, model, [(found, record) for _, found, record in batch], known
        )
        predictions = [
            (position_id, each) for (position_id, _, _), each in zip(batch, probabilities, strict=True)
        ]
        async with database.write() as session:
            await add_predictions(session, model_id, predictions)
        count += len(batch)
        on_count(len(batch))
    return count


def query_of(
    model: HumanModel, found: AnalysedPosition, record: GameRecord, known: Standings = MappingProxyType({})
) -> PredictionQuery:
    """Return the model's query for a position, with as much of the game's history as the model uses."""
    latest: deque[object] = deque(maxlen=model.max_history_positions)
    for ply, (position, _) in enumerate(steps(record)):
        latest.append(position)
        if ply == found.ply:
            break
    own, other = found.rating, record.ratings[1 - found.side]
    if known:
        ratings = settled_ratings(known.get(content_key(record)))
        own, other = ratings[found.side], ratings[1 - found.side]
    person = Person(own, found.clock_s, None if other is None else round(other))
    return PredictionQuery(tuple(latest), person)


def _probabilities(
    model: HumanModel, batch: Sequence[tuple[AnalysedPosition, GameRecord]], known: Standings
) -> list[tuple[float, ...]]:
    game = get_rules(model.game)
    queries = [query_of(model, found, record, known) for found, record in batch]
    answers = []
    for (found, _), query, probabilities in zip(
        batch, queries, predictions_of(model, game, queries), strict=True
    ):
        moves = [game.move_text(move) for move in game.legal_moves(query.positions[-1])]
        if moves != [reply.reply for reply in found.replies]:
            raise BadModel(f"{model.info.name}: {found.position}: its legal moves differ from those analysed")
        answers.append(probabilities)
    return answers


def _task(
    at: int, each: AnsweredMove, analysis: AnalysisSettings, engine: EngineSettings | None
) -> ProfileTask:
    return ProfileTask(at, analysis.game, each.position, each.move, analysis.depth, engine)


async def _store(
    database: Database,
    analysis_id: int,
    wanted: Sequence[AnsweredMove],
    found: Sequence[ProfiledMove],
    ids: dict[str, int],
) -> None:
    """Store the results with their games, in one transaction."""
    new = {wanted[each.number].game.key: wanted[each.number].game for each in found}
    async with database.write() as session:
        for group in _by_source([game for key, game in new.items() if key not in ids]):
            records = [game.record for game in group]
            ids |= await keep_games(
                session, records, source=group[0].source, source_format=group[0].source_format
            )
        positions = [analysed(ids[wanted[each.number].game.key], wanted[each.number], each) for each in found]
        await add_positions(session, analysis_id, positions)


def _by_source(games: Sequence[GivenGame]) -> Iterator[list[GivenGame]]:
    sources = {(game.source, game.source_format) for game in games}
    for source in sorted(sources):
        yield [game for game in games if (game.source, game.source_format) == source]


def analysed(game_id: int, each: AnsweredMove, found: ProfiledMove) -> AnalysedPosition:
    """Convert a worker's result to a position to store under the given game key."""
    return AnalysedPosition(
        game_id=game_id,
        ply=each.ply,
        side=each.side,
        position=each.position,
        move=each.move,
        reply=each.reply,
        rating=each.rating,
        clock_s=each.clock_s,
        logistic_centi=each.logistic_centi,
        replies=found.replies,
        nodes=found.nodes,
        time_s=found.time_s,
    )
