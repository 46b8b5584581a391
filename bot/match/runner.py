"""Runs a match: hands out games, stores each result, and stops on request or when the SPRT has decided."""

import asyncio
import logging
from collections import deque
from collections.abc import Callable, Sequence
from concurrent.futures import CancelledError
from dataclasses import dataclass
from typing import Any

from bot.base.errors import DesdemonaError
from bot.match.conditions import Terms
from bot.match.game_storage import load, store_game
from bot.match.openings import Opening
from bot.match.play import Finished, GameTask, Played
from bot.match.player_specs import MatchError
from bot.match.score import Result, result_of
from bot.match.sprt import Sprt, SprtVerdict, Tested, judge
from bot.match.worker_pool import Workers
from storage.database import Database

logger = logging.getLogger(__name__)

MOST_DEATHS = 3
"""Consecutive worker deaths without a finished game that end the match, per worker."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Match:
    """A match as requested."""

    id: str
    terms: Terms
    games: int
    """An even number: each opening is played twice."""
    seed: int
    openings: Sequence[Opening] | None = None
    """One for each pair, repeated from the first when there are too few; None: generated from the seed."""
    sprt: Sprt | None = None
    """Test that may end the match early; None: no test."""

    def task(self, number: int) -> GameTask:
        """The task of a game, by its number."""
        opening = self.openings[number // 2 % len(self.openings)] if self.openings else None
        return GameTask(self.terms, number, self.seed, opening and opening.of_game(number))


@dataclass(frozen=True, slots=True, kw_only=True)
class MatchStanding:
    """A match's standing."""

    match: Match
    result: Result
    tested: Tested | None
    """None: the match has no test."""
    resumed: int
    """Games played before this start."""

    @property
    def is_decided(self) -> bool:
        """Whether the test has reached a verdict."""
        return self.tested is not None and self.tested.verdict is not SprtVerdict.OPEN

    @property
    def is_over(self) -> bool:
        """Whether no game is left to play."""
        return self.is_decided or self.result.games >= self.match.games


OnGame = Callable[[Finished | None, MatchStanding], None]
"""Called with each finished game and the standing after it; once at the start with None for the game."""


async def run_match(
    match: Match, database: Database, workers: Workers, on_game: OnGame, stop: asyncio.Event
) -> MatchStanding:
    """Play the remaining games of a match.

    Args:
        workers: Stay open.
        stop: Ends the match early; running games are dropped, and played again when it is resumed.

    Raises:
        MatchError: The match cannot continue.
        StorageError: A game cannot be stored.
    """
    kept = await load(database, match.id, match.terms)
    # The match may have had more games in an earlier run.
    games = {number: game for number, game in kept.items() if number < match.games}
    resumed = len(games)

    def standing(before: MatchStanding | None) -> MatchStanding:
        last = before.tested if before else None
        test = None if match.sprt is None else judge(match.sprt, games, last)
        return MatchStanding(match=match, result=result_of(games), tested=test, resumed=resumed)

    now = standing(None)
    on_game(None, now)
    todo = deque(number for number in range(match.games) if number not in games)
    running: dict[asyncio.Future[Any], int] = {}
    stopped = asyncio.ensure_future(stop.wait())
    deaths = 0
    try:
        while (todo or running) and not now.is_decided and not stop.is_set():
            capacity = await asyncio.to_thread(workers.capacity)  # a cluster may block
            while todo and len(running) < capacity:
                number = todo.popleft()
                running[asyncio.wrap_future(workers.submit(match.task(number)))] = number
            done, _ = await asyncio.wait({*running, stopped}, return_when=asyncio.FIRST_COMPLETED)
            # By number, so that of several simultaneous failures always the same one is reported.
            for future in sorted(done - {stopped}, key=lambda each: running[each]):
                played = _outcome(future, workers)
                number = running.pop(future)
                if played is None:
                    deaths += 1
                    if deaths >= MOST_DEATHS * capacity:
                        raise MatchError(
                            f"{deaths} workers died one after the other; last with game {number + 1}"
                        )
                    logger.warning("game %d: its worker died; playing it again", number + 1)
                    todo.appendleft(number)
                    continue
                deaths = 0
                await store_game(database, match.id, match.terms, played)
                games[number] = played.finished
                now = standing(now)
                on_game(played.finished, now)
    finally:
        stopped.cancel()
        for future in running:
            if not future.cancel() and not future.cancelled():
                future.exception()  # retrieved only to silence asyncio
    return now


def _outcome(future: asyncio.Future[Played], workers: Workers) -> Played | None:
    """Return the finished game; None: its worker died.

    Raises:
        MatchError: No worker can play it.
    """
    try:
        return future.result()
    except workers.deaths:
        return None
    except (asyncio.CancelledError, CancelledError):  # not cancelled here
        raise MatchError("the workers are gone; run the command again to resume") from None
    except DesdemonaError:
        raise
    except Exception as error:  # for instance, this program is not installed there
        logger.exception("a worker failed")
        raise MatchError(f"a worker cannot play: {type(error).__name__}: {error}") from error
