"""Runs a match: hands out games, stores each result, and stops on request or when the SPRT has a verdict."""

import asyncio
import logging
from collections.abc import Callable, Mapping, Sequence
from contextlib import aclosing
from dataclasses import dataclass

from bot.base.errors import DesdemonaError
from bot.match.conditions import Terms
from bot.match.game_storage import load, store_game
from bot.match.openings import Opening
from bot.match.play import FinishedGame, GameTask, MatchGameRecord, play
from bot.match.player_specs import MatchError
from bot.match.score import Result, result_of, without_forfeits
from bot.match.sprt import Sprt, SprtResult, SprtVerdict, judge
from bot.workers.jobs import finished_jobs
from bot.workers.pools import Workers
from storage.database import Database

logger = logging.getLogger(__name__)

MAX_FIRST_FAILURES = 4
"""A run of a match stops if this many of its games, from the first on, are all forfeited."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Match:
    """The match that was requested."""

    id: str
    terms: Terms
    games: int
    """Number of games; even, because each opening is played twice."""
    seed: int
    openings: Sequence[Opening] | None = None
    """One opening per pair, reused in order if there are too few; None to generate them from the seed."""
    sprt: Sprt | None = None
    """Test that may end the match early; None for no test."""

    def task(self, number: int) -> GameTask:
        """The task for the game with this number."""
        opening = self.openings[number // 2 % len(self.openings)] if self.openings else None
        return GameTask(self.terms, number, self.seed, opening and opening.of_game(number))


@dataclass(frozen=True, slots=True, kw_only=True)
class MatchStanding:
    """A match's standing."""

    match: Match
    result: Result
    tested: SprtResult | None
    """State of the test; None if the match has no test."""
    resumed: int
    """Number of games played before this run of the match."""
    forfeits: int
    """Number of games that a player lost by time, crash or illegal move."""
    result_without_forfeits: Result | None
    """The result of the pairs without such games; None if no game was forfeited."""
    tested_without_forfeits: SprtResult | None
    """State of the test on these pairs; None if no game was forfeited or the match has no test."""

    @property
    def is_decided(self) -> bool:
        """Whether the test has reached a verdict."""
        return self.tested is not None and self.tested.verdict is not SprtVerdict.OPEN

    @property
    def is_over(self) -> bool:
        """Whether no game is left to play."""
        return self.is_decided or self.result.games >= self.match.games


OnGame = Callable[[FinishedGame | None, MatchStanding], None]
"""Called with each finished game and the standing after it; at the start, the game is None."""


async def run_match(
    match: Match, database: Database, workers: Workers, on_game: OnGame, stop: asyncio.Event
) -> MatchStanding:
    """Play the remaining games of a match.

    Args:
        workers: The workers that play the games; they stay open afterwards.
        stop: Ends the match early; running games are discarded, and played again when the match resumes.

    Raises:
        MatchError: The match cannot continue.
        StorageError: A game cannot be stored.
        WorkersError: The workers have died or are unavailable.
    """
    stored = await load(database, match.id, match.terms)
    # The match may have had more games in an earlier run.
    games = {number: game for number, game in stored.items() if number < match.games}
    resumed = len(games)

    now = standing_of(match, games, resumed)
    on_game(None, now)
    failures: list[FinishedGame] | None = []
    """This run's games so far, if all were forfeited; otherwise None."""
    todo = [number for number in range(match.games) if number not in games and not now.is_decided]
    finished = finished_jobs(
        todo,
        lambda number: workers.run(play, match.task(number)),
        lambda number: f"game {number + 1}",
        workers,
        stop,
    )
    async with aclosing(finished):
        async for batch in finished:
            for _, future in batch:
                game = _outcome(future)
                await store_game(database, match.id, match.terms, game)
                games[game.finished.number] = game.finished
                now = standing_of(match, games, resumed, now.tested)
                on_game(game.finished, now)
                if failures is not None:
                    failures = [*failures, game.finished] if game.finished.is_forfeit else None
                if failures is not None and not now.is_over:
                    _stop_on_failures(failures)
            if now.is_decided:
                break
    return now


def standing_of(
    match: Match, games: Mapping[int, FinishedGame], resumed: int, tested: SprtResult | None = None
) -> MatchStanding:
    """Return a match's standing.

    Args:
        games: The finished games by number.
        resumed: See `MatchStanding.resumed`.
        tested: An earlier state of the match's test.
    """
    forfeits = sum(game.is_forfeit for game in games.values())
    fair = without_forfeits(games)
    return MatchStanding(
        match=match,
        result=result_of(games),
        tested=None if match.sprt is None else judge(match.sprt, games, tested),
        resumed=resumed,
        forfeits=forfeits,
        result_without_forfeits=result_of(fair) if forfeits else None,
        tested_without_forfeits=judge(match.sprt, fair) if forfeits and match.sprt else None,
    )


def _stop_on_failures(first: Sequence[FinishedGame]) -> None:
    """Stop a match that measures nothing.

    Args:
        first: This run's games so far, all forfeited.

    Raises:
        MatchError: There are `MAX_FIRST_FAILURES` of them.
    """
    if len(first) >= MAX_FIRST_FAILURES:
        causes = dict.fromkeys(f"{'BA'[game.loser == 0]} ({game.end}): {game.reason}" for game in first)
        raise MatchError(
            f"the first {len(first)} games all ended by failures, {'; '.join(causes)}; they are stored as "
            "losses, so fix the cause and choose another --id"
        )


def _outcome(future: asyncio.Future[MatchGameRecord]) -> MatchGameRecord:
    """Return the finished game of a completed future.

    Raises:
        MatchError: No worker can play the game.
    """
    try:
        return future.result()
    except DesdemonaError:
        raise
    except Exception as error:  # for instance, this program is not installed there
        logger.exception("a worker failed")
        raise MatchError(f"a worker cannot play: {type(error).__name__}: {error}") from error
