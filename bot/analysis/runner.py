"""Runs an analysis: distributes moves to workers, stores each result, and resumes after a stop."""

import asyncio
from collections import deque
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import Future
from dataclasses import dataclass
from typing import Any, Protocol, TypeVar

from bot.analysis.games import Answered, GivenGame
from bot.analysis.reply_profiles import AnalysisError, ProfiledMove, ProfileTask, profile
from bot.base.errors import DesdemonaError
from engine.formats.record import GameRecord, steps
from engine.games import get_game
from engine.human.model import BadModel, HumanModel, PredictionQuery, predicted
from engine.uci.settings import EngineSettings
from storage.analysis import (
    AnalysedPosition,
    AnalysisSettings,
    add_positions,
    add_predictions,
    keep_analysis,
    keep_games,
    keep_model,
    known_plies,
    unpredicted,
)
from storage.database import Database

T = TypeVar("T")
R = TypeVar("R")

_AHEAD = 4
"""So many moves wait for each worker."""
_MOST_DEATHS = 3
"""So many workers may die one after the other, for each move that is handed out at a time."""
_MOST_FAILURES = 3
"""So many moves may fail before the first that goes well."""
_PREDICTED_AT_ONCE = 64

OnCount = Callable[[int], None]
"""Told of how many more."""


class Hands(Protocol):
    """Those who do the work: `bot.match.worker_pool`."""

    deaths: tuple[type[BaseException], ...]

    def capacity(self) -> int:
        """How much is done at a time."""

    def run(self, work: Callable[[T], R], task: T) -> "Future[R]":
        """Have something done."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Tally:
    """What became of the moves that were to be looked into."""

    known: int
    """Had been before."""
    new: int
    failed: int
    """The engine failed at them: they are tried again another time."""


async def run_analysis(
    analysis: AnalysisSettings,
    engine: EngineSettings | None,
    wanted: Sequence[Answered],
    database: Database,
    hands: Hands,
    on_count: OnCount,
    stop: asyncio.Event,
) -> tuple[int, Tally]:
    """Look into the moves that have not been looked into in this way; the analysis's key, and a tally.

    Args:
        engine: Which one is asked; None: the native search.
        stop: Ends it early; what has been found is kept.

    Raises:
        AnalysisError: It cannot go on.
        StorageError: What was found cannot be kept.
    """
    async with database.write() as session:
        analysis_id = await keep_analysis(session, analysis)
        known = await known_plies(session, analysis_id)
    todo = deque(at for at, each in enumerate(wanted) if (each.game.key, each.ply) not in known)
    resumed = len(wanted) - len(todo)
    on_count(resumed)
    ids: dict[str, int] = {}
    new = failed = deaths = 0
    running: dict[asyncio.Future[ProfiledMove], int] = {}
    stopped = asyncio.ensure_future(stop.wait())
    try:
        while (todo or running) and not stop.is_set():
            places = _AHEAD * await asyncio.to_thread(hands.capacity)  # a cluster may keep us waiting
            while todo and len(running) < places:
                at = todo.popleft()
                task = _task(at, wanted[at], analysis, engine)
                running[asyncio.wrap_future(hands.run(profile, task))] = at
            both: set[asyncio.Future[Any]] = {*running, stopped}
            done, _ = await asyncio.wait(both, return_when=asyncio.FIRST_COMPLETED)
            found: list[ProfiledMove] = []
            for future in [each for each in running if each in done]:
                at = running.pop(future)
                try:
                    found.append(future.result())
                    deaths = 0
                except hands.deaths:
                    deaths += 1
                    if deaths >= _MOST_DEATHS * places:
                        raise AnalysisError(f"{deaths} workers died one after the other") from None
                    todo.appendleft(at)
                except AnalysisError as error:
                    failed += 1
                    if failed >= _MOST_FAILURES and not new:
                        raise AnalysisError(f"{failed} moves failed and none went well: {error}") from None
                except DesdemonaError:
                    raise
                except Exception as error:
                    raise AnalysisError(f"a worker cannot work: {type(error).__name__}: {error}") from error
            if found:
                await _keep(database, analysis_id, wanted, found, ids)
                new += len(found)
                on_count(len(found))
    finally:
        stopped.cancel()
        for future in running:
            if not future.cancel() and not future.cancelled():
                future.exception()  # nobody wants to know any more
    return analysis_id, Tally(known=resumed, new=new, failed=failed)


async def predict(
    analysis_id: int, model: HumanModel, database: Database, on_count: OnCount, stop: asyncio.Event
) -> int:
    """Have a model say how likely each reply was, wherever it has not yet; of how many positions.

    Raises:
        BadModel: It gives no answer.
    """
    async with database.write() as session:
        model_id = await keep_model(session, model.info)
    count = 0
    while not stop.is_set():
        async with database.read() as session:
            batch = await unpredicted(session, analysis_id, model_id, _PREDICTED_AT_ONCE)
        if not batch:
            break
        # A batch of questions takes a while, and the loop has signals to hear.
        odds = await asyncio.to_thread(_odds, model, [(found, record) for _, found, record in batch])
        said = [(position_id, each) for (position_id, _, _), each in zip(batch, odds, strict=True)]
        async with database.write() as session:
            await add_predictions(session, model_id, said)
        count += len(batch)
        on_count(len(batch))
    return count


def ask_of(model: HumanModel, found: AnalysedPosition, record: GameRecord) -> PredictionQuery:
    """The question that a model is asked of a position, with as much of the game as it wants."""
    latest: deque[object] = deque(maxlen=model.plies_wanted)
    for ply, (position, _) in enumerate(steps(record)):
        latest.append(position)
        if ply == found.ply:
            break
    return PredictionQuery(tuple(latest), found.person)


def _odds(model: HumanModel, batch: Sequence[tuple[AnalysedPosition, GameRecord]]) -> list[tuple[float, ...]]:
    game = get_game(model.game)
    asks = [ask_of(model, found, record) for found, record in batch]
    told = []
    for (found, _), ask, odds in zip(batch, asks, predicted(model, game, asks), strict=True):
        moves = [game.move_text(move) for move in game.legal_moves(ask.positions[-1])]
        if moves != [reply.reply for reply in found.replies]:
            raise BadModel(f"{model.info.name}: {found.position}: its moves are not those that were analysed")
        told.append(odds)
    return told


def _task(at: int, each: Answered, analysis: AnalysisSettings, engine: EngineSettings | None) -> ProfileTask:
    return ProfileTask(at, analysis.game, each.position, each.move, analysis.depth, engine)


async def _keep(
    database: Database,
    analysis_id: int,
    wanted: Sequence[Answered],
    found: Sequence[ProfiledMove],
    ids: dict[str, int],
) -> None:
    """Write down what was found, with its games; all or nothing."""
    new = {wanted[each.number].game.key: wanted[each.number].game for each in found}
    async with database.write() as session:
        for group in _by_source([game for key, game in new.items() if key not in ids]):
            records = [game.record for game in group]
            ids |= await keep_games(
                session, records, source=group[0].source, source_format=group[0].source_format
            )
        positions = [_position(wanted[each.number], each, ids) for each in found]
        await add_positions(session, analysis_id, positions)


def _by_source(games: Sequence[GivenGame]) -> Iterator[list[GivenGame]]:
    sources = {(game.source, game.source_format) for game in games}
    for source in sorted(sources):
        yield [game for game in games if (game.source, game.source_format) == source]


def _position(each: Answered, found: ProfiledMove, ids: dict[str, int]) -> AnalysedPosition:
    return AnalysedPosition(
        game_id=ids[each.game.key],
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
