"""The trainer: chooses positions, judges replies, and stores each person's rating and missed positions.

A person with an account has one current position per game, and only the first answer to that position can be
rated. Other visitors get signed positions. Answers to signed positions change no rating; such an answer by a
person with an account counts as a hint. The trainer cannot prevent a person from looking up a solution while
signed out or on a second device.
"""

import hmac
import re
import secrets
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from datetime import datetime
from functools import partial
from random import Random

from sqlalchemy.ext.asyncio import AsyncSession

from bot.arena.game import ArenaRefusal, StaleBoard
from bot.arena.puzzles import ratings, schedule
from bot.arena.puzzles.problem import Problem, bait_line, make_problem
from bot.arena.puzzles.puzzle_importer import PuzzleImporter
from bot.arena.referee import NotFound
from bot.arena.traffic.single_flight import SingleFlightCache
from bot.arena.wire import Json
from engine.errors import RecordError
from storage.arena.puzzles import positions, solvers
from storage.arena.puzzles.positions import PuzzleSource
from storage.arena.puzzles.solvers import ReviewRecord, SolverRecord
from storage.database import Database
from storage.ledger.decisions import get_decision
from storage.ledger.forecasts import get_forecast
from storage.ledger.games import load_game_by_id
from storage.ledger.judgements import load_judgements
from storage.tables.types import now_utc

MAX_CACHED_PROBLEMS = 200
"""Maximum number of problems in the cache."""
MAX_SEEN = 100
"""Maximum number of positions that a visitor without an account may report as seen."""
_PER_SIDE = 12  # positions to choose from, on each side of the rating
_ANONYMOUS_RATING_SPREAD = 250.0  # of the ratings that people without an account are shown
_MAX_PROBLEM_ATTEMPTS = 5  # positions that cannot be shown before we report that none is available
_NO_SUCH_POSITION = "This position is not available: ask for the next one"
_NEWCOMER = SolverRecord(ratings.START_RATING, None)
_POSITION = re.compile(r"([0-9]{1,18})(?:\.([0-9a-f]{32}))?")

UNRATED_OWN, UNRATED_AGAIN, UNRATED_HINT, UNRATED_FREE = "own", "again", "hint", "free"
"""Reasons why an answer changes no rating: the person took this bait and may have read the report, has
answered before, had a hint, has no account, or chose the game."""


@dataclass(frozen=True, slots=True)
class _Pending:
    """A parsed position key from a request."""

    position_id: int
    is_free: bool
    """Whether the key has a valid signature; anyone may use such a key to give an unrated answer."""


def _numbers(seen: Sequence[str]) -> set[int]:
    """The positions with the given keys; invalid keys are ignored.

    Signatures are not checked: the keys only exclude positions, and a restart invalidates signatures.
    """
    matches = map(_POSITION.fullmatch, seen[-MAX_SEEN:])
    return {int(each.group(1)) for each in matches if each is not None}


class ReplyTrainer:
    """The trainer, without its HTTP routes.

    Args:
        database: The arena's database.
        site: The arena's name in the records of our own accounts.
        importer: Imports a requested game.
        is_public: Whether everyone sees all games; otherwise people see only positions from their own games.
        now: Returns the current time.
        random: Breaks ties between equally suitable positions.
    """

    def __init__(
        self,
        database: Database,
        site: str,
        importer: PuzzleImporter,
        *,
        is_public: bool = True,
        now: Callable[[], datetime] = now_utc,
        random: Random | None = None,
    ) -> None:
        self._database = database
        self._site = site
        self._importer = importer
        self._is_public = is_public
        self._now = now
        self._random = random or Random()  # noqa: S311 - a choice of puzzles needs no secret
        self._secret = secrets.token_bytes(32)
        self._problems: SingleFlightCache[Problem] = SingleFlightCache(MAX_CACHED_PROBLEMS)
        self._lines: SingleFlightCache[str] = SingleFlightCache(MAX_CACHED_PROBLEMS)
        self._solutions: SingleFlightCache[Json] = SingleFlightCache(MAX_CACHED_PROBLEMS)

    # --- Choosing ---------------------------------------------------------------------------------------

    async def next(self, account_id: str | None, game: str, seen: Sequence[str] = ()) -> Json:
        """Choose a position that is due for review, or else one from the person's games or near their rating.

        Args:
            account_id: The person, or None for a visitor without an account.
            game: The game's name.
            seen: Keys of the positions that a visitor without an account has seen. Ignored for people with an
                account, because they must not choose which position is rated.
        """
        left_out = set() if account_id is not None else _numbers(seen)
        for _ in range(_MAX_PROBLEM_ATTEMPTS):
            async with self._database.read() as session:
                choice = await self._choose_source(session, account_id, game, left_out)
                source = None if choice is None else await self._source(session, choice, account_id)
            if choice is None:
                break
            try:
                if source is None:
                    raise RecordError(f"position {choice} has no visible game")
                problem = await self._problem(source)
            except RecordError:
                left_out.add(choice)
                continue
            return await self._shown(account_id, problem)
        you = None if account_id is None else await self._you(account_id, game)
        return {"game": game, "position": None, "you": you}

    async def _choose_source(
        self, session: AsyncSession, account_id: str | None, game: str, left_out: set[int]
    ) -> int | None:
        if account_id is None and not self._is_public:
            return None
        if account_id is None:
            rating = self._random.gauss(ratings.START_RATING.rating, _ANONYMOUS_RATING_SPREAD)
            near = await positions.list_near(session, game, rating, _PER_SIDE, without=left_out)
            return self._random.choice(near) if near else None
        solver = await solvers.get_solver(session, account_id, game) or _NEWCOMER
        if solver.position_id not in (None, *left_out):
            return solver.position_id
        due = await solvers.due_position(session, account_id, game, self._now(), left_out)
        if due is not None:
            return due
        own = await positions.next_untried_mistake(session, account_id, game, self._site, left_out)
        if own is not None or not self._is_public:
            return own
        near = await positions.list_near(
            session, game, solver.strength.rating, _PER_SIDE, account_id, left_out
        )
        return self._random.choice(near) if near else None

    async def _shown(self, account_id: str | None, problem: Problem) -> Json:
        position_id, game = problem.source.position_id, problem.rules.name
        if account_id is None:
            return self._question(problem, self._signed(position_id), why="new", you=None)
        async with self._database.write() as session:
            solver = await self._locked(session, account_id, game)
            await solvers.save_solver(session, account_id, game, replace(solver, position_id=position_id))
            review = await solvers.get_review(session, account_id, position_id)
            is_own = await self._erred_there(session, position_id, account_id)
        why = "again" if review is not None else "own" if is_own else "new"
        return self._question(problem, str(position_id), why=why, you=await self._you(account_id, game))

    async def of_game(self, account_id: str | None, game_id: str, seen: Sequence[str] = ()) -> Json:
        """Return the next position of a finished game in which the player took a bait, as an unrated puzzle.

        Args:
            account_id: The person, or None for a visitor without an account.
            game_id: The game's id in the arena.
            seen: Keys of the game's positions that the person has finished.

        Raises:
            NotFound: None of our accounts played that game.
            ArenaRefusal: The game is not judged yet.
        """
        async with self._database.read() as session:
            game = await positions.find_game(session, self._site, game_id)
        if game is None:
            raise NotFound("There are no puzzles in this game")
        key, is_judged = game
        if not is_judged:
            raise ArenaRefusal("This game is still being analysed; please try again in a moment")
        await self._importer.import_games([key])
        async with self._database.read() as session:
            listed = await positions.list_of_game(session, key)
            sources = [await self._source(session, each, account_id) for each in listed]
            is_own = bool(listed) and await self._erred_there(session, listed[0], account_id)
        visible = [each for each in sources if each is not None]
        done = _numbers(seen)
        for number, source in enumerate(visible, start=1):
            if source.position_id in done:
                continue
            try:
                problem = await self._problem(source)
            except RecordError:
                continue
            name = self._signed(source.position_id)
            question = self._question(problem, name, why="own" if is_own else "game", you=None)
            return question | {"number": number, "of": len(visible)}
        return {"game": None, "position": None, "you": None, "of": len(visible)}

    def _question(self, problem: Problem, name: str, *, why: str, you: Json | None) -> Json:
        shown = {"id": name, "why": why, **problem.question}
        return {"game": problem.rules.name, "position": shown, "you": you}

    async def _you(self, account_id: str, game: str) -> Json:
        """A person's rating, and their due positions."""
        now = self._now()
        async with self._database.read() as session:
            solver = await solvers.get_solver(session, account_id, game) or _NEWCOMER
            due = await solvers.count_due(session, account_id, game, now)
            next_at = await solvers.next_due_at(session, account_id, game)
        strength = solver.strength
        return {
            "rating": round(strength.rating),
            "provisional": ratings.is_provisional(strength),
            "answers": strength.answers,
            "solved": strength.solved,
            "due": due,
            "nextDueAt": None if next_at is None else next_at.isoformat(),
        }

    # --- Answers ----------------------------------------------------------------------------------------

    async def hint(self, account_id: str | None, name: str) -> Json:
        """Reveal the bait; the position then counts as missed, and a later correct answer is not rated."""
        asked, problem = await self._answerable_puzzle(account_id, name)
        if account_id is not None:
            await self._note(account_id, asked, problem, schedule.after_hint)
        return {"bait": problem.hint()}

    async def skip(self, account_id: str | None, name: str) -> Json:
        """Postpone a position until tomorrow."""
        asked, problem = await self._answerable_puzzle(account_id, name)
        if account_id is not None:
            await self._note(account_id, asked, problem, schedule.after_skip, is_done=True)
        return {"ok": True}

    async def answer(self, account_id: str | None, name: str, reply: str | None) -> Json:
        """Judge a reply; None means that the person gives up and sees the solution.

        Raises:
            ArenaRefusal: The reply is not legal.
            StaleBoard: The position is not, or is no longer, the person's current one.
        """
        asked, problem = await self._answerable_puzzle(account_id, name)
        if reply is not None and reply not in problem.judged:
            raise ArenaRefusal(f"{reply!r:.40} is not a legal reply here; legal: {', '.join(problem.judged)}")
        is_right = reply is not None and problem.is_good(reply)
        is_done = is_right or reply is None
        # Before anything is rated: the server may be too busy for it.
        solution = await self._solution(problem, reply if is_right else None) if is_done else {}
        async with self._database.read() as session:
            met = await positions.get_position_rating(session, asked.position_id)
        fields: Json = {"right": is_right, "done": is_done}
        if account_id is None:
            fields |= {"unrated": UNRATED_FREE, "you": None}
        else:
            fields |= await self._settle(account_id, asked, problem, is_right=is_right, is_done=is_done)
        if not is_done:
            assert reply is not None  # noqa: S101 - else it is done
            return fields | {"reply": problem.verdict(reply)}
        if met is not None:
            fields["met"] = {"answers": met.answers, "solved": met.solved}
        return fields | solution

    async def _settle(
        self, account_id: str, asked: _Pending, problem: Problem, *, is_right: bool, is_done: bool
    ) -> Json:
        """Store an answer and the resulting ratings in one transaction."""
        now, game, position_id = self._now(), problem.rules.name, asked.position_id
        async with self._database.write() as session:
            # Locked first: of two equal requests the later one sees what the earlier one has done.
            solver = await self._locked(session, account_id, game)
            self._require_open(solver, asked)
            review = await solvers.get_review(session, account_id, position_id) or ReviewRecord()
            unrated = await self._why_unrated(session, account_id, asked, review, is_right=is_right)
            before = after = solver.strength
            if unrated is None:
                difficulty = await positions.get_position_rating(session, position_id, is_locked=True)
                assert difficulty is not None  # noqa: S101 - its problem has just been made
                after, difficulty = ratings.rate_answer(before, difficulty, is_solved=is_right)
                await positions.save_position_rating(session, position_id, difficulty)
            review = schedule.after_answer(review, is_right=is_right, now=now, is_free=asked.is_free)
            await solvers.save_review(session, account_id, position_id, game, review)
            is_closed = is_done and solver.position_id == position_id
            left = None if is_closed else solver.position_id
            await solvers.save_solver(session, account_id, game, SolverRecord(after, left))
        again_at = None if review.due_at is None else review.due_at.isoformat()
        you = await self._you(account_id, game)
        diff = round(after.rating) - round(before.rating)
        return {"unrated": unrated, "you": you | {"diff": diff}, "againAt": again_at}

    async def _why_unrated(
        self, session: AsyncSession, account_id: str, asked: _Pending, review: ReviewRecord, *, is_right: bool
    ) -> str | None:
        if asked.is_free:
            return UNRATED_FREE
        if review.answers:
            return UNRATED_AGAIN
        if await self._erred_there(session, asked.position_id, account_id):
            return UNRATED_OWN
        return UNRATED_HINT if review.has_hint and is_right else None

    async def _note(
        self,
        account_id: str,
        asked: _Pending,
        problem: Problem,
        change: Callable[[ReviewRecord, datetime], ReviewRecord],
        *,
        is_done: bool = False,
    ) -> None:
        game = problem.rules.name
        async with self._database.write() as session:
            solver = await self._locked(session, account_id, game)
            self._require_open(solver, asked)
            review = await solvers.get_review(session, account_id, asked.position_id) or ReviewRecord()
            changed = change(review, self._now())
            await solvers.save_review(session, account_id, asked.position_id, game, changed)
            if is_done and solver.position_id == asked.position_id:
                await solvers.save_solver(session, account_id, game, replace(solver, position_id=None))

    async def _locked(self, session: AsyncSession, account_id: str, game: str) -> SolverRecord:
        return await solvers.lock_solver(session, account_id, game, ratings.START_RATING)

    @staticmethod
    def _require_open(solver: SolverRecord, asked: _Pending) -> None:
        if not asked.is_free and solver.position_id != asked.position_id:
            raise StaleBoard("This is not your current position: ask for the next one")

    # --- Positions --------------------------------------------------------------------------------------

    async def _answerable_puzzle(self, account_id: str | None, name: str) -> tuple[_Pending, Problem]:
        """Return the position with the given key, and its puzzle, if the person may answer it.

        Raises:
            NotFound: There is no such position, or this person may not see it.
            StaleBoard: The position is not, or is no longer, the person's current one.
        """
        asked = self._parsed(name)
        if account_id is None and not asked.is_free:
            raise NotFound(_NO_SUCH_POSITION)
        async with self._database.read() as session:
            game = await positions.get_game_name(session, asked.position_id)
            if game is not None and account_id is not None and not asked.is_free:
                solver = await solvers.get_solver(session, account_id, game) or _NEWCOMER
                self._require_open(solver, asked)
            source = await self._source(session, asked.position_id, account_id)
        if source is None:
            raise NotFound(_NO_SUCH_POSITION)
        try:
            return asked, await self._problem(source)
        except RecordError:
            raise NotFound(_NO_SUCH_POSITION) from None

    def _parsed(self, name: str) -> _Pending:
        match = _POSITION.fullmatch(name)
        if match is None:
            raise NotFound(_NO_SUCH_POSITION)
        number, signature = match.groups()
        if signature is None:
            return _Pending(int(number), is_free=False)
        if not hmac.compare_digest(signature, self._signature(int(number))):
            raise NotFound(_NO_SUCH_POSITION)
        return _Pending(int(number), is_free=True)

    def _signed(self, position_id: int) -> str:
        return f"{position_id}.{self._signature(position_id)}"

    def _signature(self, position_id: int) -> str:
        return hmac.new(self._secret, str(position_id).encode(), "sha256").hexdigest()[:32]

    async def _erred_there(self, session: AsyncSession, position_id: int, account_id: str | None) -> bool:
        if account_id is None:
            return False
        return await positions.took_bait_in_game(session, position_id, account_id, self._site)

    async def _source(
        self, session: AsyncSession, position_id: int, account_id: str | None
    ) -> PuzzleSource | None:
        return await positions.find_source(
            session, position_id, account_id, self._site, has_others=self._is_public
        )

    async def _problem(self, source: PuzzleSource) -> Problem:
        """Return the puzzle made from a decision.

        Raises:
            RecordError: The record lacks the data for a puzzle.
        """
        return await self._problems.get(source.decision_id, partial(self._stored_decision, source))

    async def _stored_decision(self, source: PuzzleSource) -> Problem:
        async with self._database.read() as session:
            stored = await load_game_by_id(session, source.game_id)
            decision = await get_decision(session, source.game_id, source.ply)
            forecast = await get_forecast(session, source.decision_id)
            costs = (await load_judgements(session, [source.decision_id])).get(source.decision_id)
        if stored is None or decision is None:
            raise RecordError(f"decision {source.decision_id} does not exist")
        return await self._problems.in_thread(make_problem, source, stored, decision, forecast, costs)

    async def _solution(self, problem: Problem, reply: str | None) -> Json:
        """The solution, shown at the end; `reply` is the good reply that the person found, or None."""

        async def make() -> Json:
            line = await self._line(problem)
            return await self._problems.in_thread(problem.solution, reply, line)

        return await self._solutions.get((problem.source.decision_id, reply), make)

    async def _line(self, problem: Problem) -> tuple[str, ...]:
        """The continuation after the bait; computed once, then stored."""
        stored = await self._lines.get(problem.source.position_id, partial(self._stored_line, problem))
        bait, *line = stored.split()
        # A position that several games reached may be shown with another bait than the one looked at.
        return tuple(line) if bait == problem.bait.reply else ()

    async def _stored_line(self, problem: Problem) -> str:
        position_id = problem.source.position_id
        async with self._database.read() as session:
            stored = await positions.get_bait_line(session, position_id)
        if stored is None:
            line = await self._problems.in_thread(bait_line, problem)
            stored = " ".join((problem.bait.reply, *line))
            async with self._database.write() as session:
                await positions.save_bait_line(session, position_id, stored)
        return stored
