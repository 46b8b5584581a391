"""A game's ledger: the transactions that keep its record correct if the program dies at any point.

A decision is committed before its move is sent, marked as sent once the server accepts the move, and
confirmed once the server shows it. Its outcome is recorded once its profile and the opponent's reply are
known. Each step is idempotent and depends only on what the server shows and what is stored, so a restart
repeats the steps and completes missing ones. A game is finished as soon as the server has reported its end;
the ledger stays open until all decisions are settled, and the next start resumes open ledgers.
"""

import asyncio
import logging
import time
from collections.abc import AsyncIterator, Callable, Mapping, Sequence
from contextlib import asynccontextmanager, suppress
from dataclasses import dataclass, replace
from datetime import datetime
from typing import Any

from sqlalchemy.ext.asyncio import AsyncSession

from bot.base.event_log import log_event
from bot.base.events import EndReason, GameEnd, GameSnapshot
from bot.base.metrics import Metrics
from bot.game.assignment import Assignment, AssignmentContext
from bot.game.chat_text import ResultForUs
from bot.game.current_decisions import CurrentDecisions
from bot.game.offer_policy import score_centi
from bot.game.session import common_plies
from engine import ENGINE_VERSION
from engine.bait_rule import FORECAST_RULE
from engine.decision import Decision
from engine.errors import RecordError
from engine.figure_9 import classify_by_figure_9, decision_verdicts, profile_verdict
from engine.forecasts import decision_expectations
from engine.game import BadPosition, continued_position, replay
from engine.games import first_side, get_rules
from engine.human.model import BadModel
from engine.human.registry import ModelRegistry
from engine.human.reply_forecast import ReplyForecast
from engine.opponents.pair_value import PairRatings, decides
from engine.params import TrapParams
from engine.person.faced import person_model_of
from engine.person.site_state import SiteState
from engine.person.state import FoldedReply, KnownPerson, PersonState
from storage.database import Database, Role
from storage.errors import DuplicateDecision, RoleLost, StorageError
from storage.evidence.statistics.encounters import BaitCounts, Encounters, bait_counts, encounters
from storage.evidence.summaries import summarise
from storage.evidence.trials import eligible_trial_id, is_by_pair
from storage.filters import Filters
from storage.ledger.decisions import (
    commit_decision,
    get_decision,
    list_decisions,
    mark_confirmed,
    mark_dropped,
    mark_sent,
    mark_taken_back,
    restore_decision,
    store_profile,
)
from storage.ledger.events import list_events
from storage.ledger.forecasts import get_forecast, list_unforecast, store_forecast
from storage.ledger.games import (
    count_drawn,
    finish_game,
    load_game,
    open_game,
    reopen_game,
    set_moves,
    settle_game,
)
from storage.ledger.outcomes import record_outcome, record_reply_time
from storage.ledger.persons import StoredState, earlier_replies, is_person_of_game_forgotten, state_for_game
from storage.ledger.sites import site_of_game
from storage.packing.records import unpack
from storage.records import (
    MATCH_SITE,
    AccountKey,
    DecisionState,
    GameResult,
    GameStatus,
    NewGame,
    ReplyTime,
    StoredDecision,
    StoredGame,
)
from storage.tables.types import now_utc

logger = logging.getLogger(__name__)

TAKEBACK_GRANTED = "takeback_granted"
DECISION_UNJUDGED = "decision_unjudged"
"""Event: a bug left a decision without an outcome; `desdemona db recheck` may supply the outcome."""

UNPLAYABLE = "unplayable"
"""Key in `StoredGame.selection`: why we cannot read or play the game."""

_RESULTS_FOR_US = {
    GameResult.WIN: ResultForUs.WON,
    GameResult.LOSS: ResultForUs.LOST,
    GameResult.DRAW: ResultForUs.DRAWN,
    None: ResultForUs.UNKNOWN,
}


@dataclass(frozen=True, slots=True)
class ClosedGame:
    """The summary of a closed game."""

    verdict: ResultForUs
    counts: BaitCounts
    """The game's bait counts, as shown on its page."""


class GameLedger:
    """The database record of one game; call `open` or `reopen` first."""

    def __init__(
        self,
        database: Database,
        owner: AccountKey,
        role: Role,
        site_game_id: str,
        metrics: Metrics | None = None,
    ) -> None:
        self._database = database
        self._metrics = metrics or Metrics()
        self._role = role
        self._owner = owner
        self._site_game_id = site_game_id
        self._game: StoredGame | None = None
        self._turn = asyncio.Lock()
        # As committed, and as the transaction under way leaves it.
        self._current_decisions = self._draft = CurrentDecisions()
        self._first_side: int | None = None
        # The moves that the server showed last.  Set before the transaction that writes them and read inside
        # others, so that the later of "the profile is complete" and "the reply is known" records the outcome.
        self._moves: tuple[str, ...] = ()
        self._end: GameEnd | None = None
        self._strange: set[int] = set()
        # The current decisions' evaluations of their moves, keyed by ply, and whether they decide the game.
        self._scores: dict[int, tuple[int, bool | None]] = {}
        # Whether the game is over in the database, so that it has a summary.
        self._is_closed = False
        self._has_asked_models = False
        # Of persons' states by the present models; None without a model of people.
        self._person_version: str | None = None
        # The person's state before the game, once it has been read.
        self._state: PersonState | None = None
        # What was known of the other people of the site then.
        self._others_at_site: SiteState | None = None
        # What was known of the person when that was last read; and for which ply, -1 before that.
        self._latest_person: KnownPerson | None = None
        self._person_read_at = -1
        # By a decision's key: the first reply to it, which is the one judged even if it is taken back.
        self._replies: dict[int, str] = {}

    @property
    def game(self) -> StoredGame:
        """The game as it was when the ledger was opened."""
        assert self._game is not None, "the ledger is not open yet"  # noqa: S101
        return self._game

    @property
    def is_known(self) -> bool:
        """Whether the ledger has been opened."""
        return self._game is not None

    @property
    def is_open(self) -> bool:
        """Whether the game is stored and may still have decisions to make, judge or forecast."""
        return self._game is not None and not self._game.is_settled

    @property
    def scores_centi(self) -> tuple[int, ...]:
        """The scores of the current decisions from our point of view, in the order of play."""
        return tuple(score for _, (score, _) in sorted(self._scores.items()))

    @property
    def is_decided(self) -> bool | None:
        """Whether the latest score decides the game between the two players (`engine.opponents.pair_value`);
        None if that is unknown."""
        return self._scores[max(self._scores)][1] if self._scores else None

    async def open(
        self, snapshot: GameSnapshot, choose: Callable[[AssignmentContext], Assignment], params: TrapParams
    ) -> bool:
        """Look the game up, or record it with the strategy that will play it.

        A ledger that was closed too early, for instance while the server did not list the game, is reopened.

        Args:
            choose: Assigns the strategy of a new game; called inside the transaction, so if two games begin
                simultaneously, the second assignment takes the first into account.

        Returns:
            Whether the game is new.
        """
        async with self._transaction() as session:
            known = await load_game(session, self._owner, self._site_game_id)
            if known is None:
                assignment = choose(await self._assignment_context(session, snapshot))
                new = self._new_game(snapshot, assignment, params)
                new = replace(new, trial_id=await eligible_trial_id(session, new))
                new = await _as_planned(session, new)
                self._game = await open_game(session, new)
                self._draft.remember_all(await list_decisions(session, self._game.id))
                return True
            if known.state is not GameStatus.OPEN and snapshot.state.end is None:
                logger.warning("game %s: still running; reopening its ledger", self._site_game_id)
                await reopen_game(session, known.id)
                await summarise(session, [known.id])
                known = replace(
                    known,
                    state=GameStatus.OPEN,
                    is_settled=False,
                    result=None,
                    end_reason=None,
                    ended_at=None,
                )
            self._game, self._is_closed = known, known.is_settled
            if self.is_open:
                await self._load_standing(session, known, snapshot.state.moves)
            return False

    async def reopen(self) -> bool:
        """Look the game up without data from the server; False if it is not in the database."""
        async with self._database.read() as session:
            self._game = await load_game(session, self._owner, self._site_game_id)
        if self._game is not None:
            self._moves, self._is_closed = self._game.moves, self._game.is_settled
        return self._game is not None

    async def find_unsettled_end(self) -> GameEnd | None:
        """Look up a game that is over but not settled, without data from the server.

        Returns:
            The game's end; None if there is no such game, or if the server may still report the end.
        """
        async with self._database.read() as session:
            known = await load_game(session, self._owner, self._site_game_id)
        if known is None or known.is_settled or known.state is GameStatus.OPEN:
            return None
        reason = EndReason(known.end_reason or EndReason.OTHER)
        if reason is EndReason.UNKNOWN:
            return None
        self._game, self._moves = known, known.moves
        winners = {GameResult.WIN: known.our_side, GameResult.LOSS: 1 - known.our_side}
        return GameEnd(reason, None if known.result is None else winners.get(known.result), reason.value)

    async def find_committed_decision(self, ply: int, position: str) -> StoredDecision | None:
        """Return the current decision at a ply; if it is for another position, void it and return None."""
        if self._current_decisions.knows_ply(ply):
            stored = self._current_decisions.latest.get(ply)
        else:
            async with self._database.read() as session:
                stored = await get_decision(session, self.game.id, ply)
        if stored is None:
            return None
        if stored.decision.position == position:
            self._cache_score(stored)
            return stored
        logger.warning("game %s: the decision at ply %d is for another position", self._site_game_id, ply)
        await self._void(ply)
        return None

    async def commit_decision(self, moves: tuple[str, ...], decision: Decision) -> StoredDecision | None:
        """Commit a decision before its move is sent; return None if the server now shows other moves.

        If there is already a decision, return it instead, because its move may have been sent.
        """
        ply, judged = len(moves), profile_verdict(decision) if decision.is_complete else None
        try:
            async with self._transaction() as session:
                if self._moves != moves or self._end is not None:
                    return None
                stored = await commit_decision(session, self.game.id, ply, decision, judged)
                self._draft.add(stored)
        except DuplicateDecision:
            logger.warning("game %s: two decisions for ply %d", self._site_game_id, ply)
            return await self.find_committed_decision(ply, decision.position)
        self._cache_score(stored)
        return stored

    async def mark_sent(self, stored: StoredDecision) -> None:
        """Record that the server has accepted the move."""
        async with self._transaction() as session:
            now = now_utc()
            await mark_sent(session, stored.id, now)
            known = self._draft.current(stored)
            if known.state is DecisionState.COMMITTED:
                self._draft.update(replace(known, state=DecisionState.SENT, sent_at=now))

    async def take_back(self, ply: int) -> None:
        """Void the decisions from a ply on, because their moves are no longer on the board.

        The outcome of a reply survives a takeback, because the reply has shown what the opponent saw.
        """
        self._moves = self._moves[:ply]
        await self._void(ply)

    async def record_moves(
        self,
        moves: tuple[str, ...],
        since_ply: int,
        end: GameEnd | None = None,
        times: Mapping[int, ReplyTime] | None = None,
    ) -> list[StoredDecision]:
        """Record the moves that the server shows: confirm ours, and judge the replies where possible.

        Args:
            moves: The game's complete list of moves.
            since_ply: The first ply not yet recorded.
            end: The end of the game; None while it is running.
            times: Measured times of replies, keyed by ply.

        Returns:
            Decisions that lack a complete profile or may lack a forecast. Missing forecasts are noticed for
            moves shown for the first time; at the game's start and end, for all moves.
        """
        self._moves, self._end = moves, end or self._end
        incomplete = []
        async with self._transaction() as session:
            await set_moves(session, self.game.id, moves)
            is_first_or_last = since_ply == 0 or end is not None
            unforeseen = (
                await list_unforecast(session, self.game.id, FORECAST_RULE) if is_first_or_last else set()
            )
            # If the first new move is a reply, the one before it is ours.
            for ply in range(max(0, since_ply - 1), len(moves)):
                if not self._is_ours(ply):
                    continue
                stored = await self._current_at(session, ply)
                if stored is None or stored.decision.move != moves[ply]:
                    stored = await self._restored(session, ply) or stored
                if stored is None or stored.decision.move != moves[ply]:
                    await self._foreign_move(session, ply, stored)
                    continue
                if ply + 1 < len(moves):
                    self._replies.setdefault(stored.id, moves[ply + 1])
                is_new = stored.state is not DecisionState.CONFIRMED
                if is_new:
                    now = now_utc()
                    await mark_confirmed(session, stored.id, now)
                    self._draft.update(replace(stored, state=DecisionState.CONFIRMED, confirmed_at=now))
                if times and (took := times.get(ply + 1)) is not None:
                    await record_reply_time(session, stored.id, took)
                await self._classify(session, stored, stored.decision)
                is_unforeseen = stored.id in unforeseen if is_first_or_last else is_new
                if not stored.is_complete or is_unforeseen:
                    incomplete.append(stored)
            if end is not None:
                await self._drop_late_decisions(session, len(moves))
        return incomplete

    async def store_profile(self, stored: StoredDecision, decision: Decision) -> None:
        """Store the chosen move's complete profile, and judge the reply if there is one."""
        judged = profile_verdict(decision)
        async with self._transaction() as session:
            await store_profile(session, stored.id, decision, judged)
            known = self._draft.current(stored)
            self._draft.update(replace(known, decision=decision, is_complete=True, is_trap=judged.is_trap))
            await self._classify(session, stored, decision)

    async def store_forecast(self, stored: StoredDecision, decision: Decision, made: ReplyForecast) -> None:
        """Store the forecast of people's replies to a move with a complete profile."""
        expected = decision_expectations(decision, made)
        async with self._transaction() as session:
            if await store_forecast(session, stored.id, made, expected):
                self._draft.add_forecast(stored, made)

    async def known_person(self, ply: int, registry: ModelRegistry) -> KnownPerson | None:
        """What is known of the person who replies to our move at a ply.

        None for programs, for people who asked to be forgotten, and in games without a model of people.
        """
        known = await self._read_person(ply, registry)
        self._latest_person, self._person_read_at = known, ply
        return known

    async def latest_person(self, moves: Sequence[str], registry: ModelRegistry) -> KnownPerson | None:
        """`known_person` as of its latest call, with the replies since then that were forecast.

        Moves do not wait for the database: only the first call reads it, at the start of the game or after a
        restart. If that fails, nothing is known.

        Args:
            moves: The game's moves so far.
            registry: See `known_person`.
        """
        if self._person_read_at < 0:
            try:
                await self.known_person(len(moves), registry)
            except Exception:  # the game matters more; a forecast reads it again
                logger.exception("game %s: what is known of the person cannot be read", self._site_game_id)
                self._person_read_at = len(moves)
        known, current = self._latest_person, self._current_decisions
        if known is None:
            return None
        later = [
            _folded_reply(current.forecasts[each.id], moves[ply + 1], known.state.version)
            for ply, each in sorted(current.latest.items())
            if self._person_read_at <= ply < len(moves) - 1 and each.decision.move == moves[ply]
            if each.id in current.forecasts
        ]
        earlier = (*known.earlier, *(each for each in later if each is not None))
        return replace(known, earlier=earlier)

    async def _read_person(self, ply: int, registry: ModelRegistry) -> KnownPerson | None:
        if self.game.opponent_is_bot or self.game.site == MATCH_SITE:
            return None
        if not self._has_asked_models:
            self._person_version = await asyncio.to_thread(_version_of, self.game.game, registry)
            self._has_asked_models = True
        if self._person_version is None:
            return None
        async with self._database.read() as session:
            if await is_person_of_game_forgotten(session, self.game.id):
                return None
            is_first = self._state is None
            known = await state_for_game(session, self.game.id) if is_first else None
            site = await site_of_game(session, self.game.id) if is_first else None
            earlier = await earlier_replies(session, self.game.id, ply)
        if self._state is None:
            self._others_at_site = None if site is None else await asyncio.to_thread(site.others)
            self._state = await asyncio.to_thread(_usable_state, known, self._person_version)
        replies = await asyncio.to_thread(_earlier, earlier, self._state.version)
        return KnownPerson(self._state, ply + 1, replies, self._others_at_site)

    async def forecast_of(self, stored: StoredDecision) -> ReplyForecast | None:
        """The forecast of people's replies to a decision's move; None if there is no forecast yet."""
        async with self._database.read() as session:
            return await get_forecast(session, stored.id)

    async def accepted_move(self, ply: int) -> str | None:
        """Our move at a ply if the server has accepted but not yet shown it; otherwise None."""
        async with self._database.read() as session:
            stored = await get_decision(session, self.game.id, ply)
        return stored.decision.move if stored and stored.state is DecisionState.SENT else None

    async def finish_game(self, end: GameEnd, ended_at: datetime | None = None) -> GameResult | None:
        """Record the end of the game unless recorded already; its ledger stays open.

        Args:
            ended_at: When the game ended, timezone-aware; None means now.

        Returns:
            Our result; None if the game has none or the server does not report it.
        """
        result = _our_result(end, self.game.our_side)
        is_aborted = end.reason is EndReason.ABORTED
        async with self._transaction() as session:
            await finish_game(
                session,
                self.game.id,
                result=result,
                end_reason=end.reason.value,
                aborted=is_aborted,
                settled=False,
                moves=self._moves,
                at=ended_at,
            )
        self._metrics.count_game(
            self._owner.site,
            self.game.game,
            self.game.strategy,
            "aborted" if is_aborted else result.value if result else "unknown",
            is_lost_on_time=end.reason is EndReason.TIME and result is GameResult.LOSS,
        )
        return result

    async def store_unplayable(
        self, snapshot: GameSnapshot | None, reason: str, end: GameEnd | None, *, is_last: bool = False
    ) -> None:
        """Store a game that we cannot read or play.

        Args:
            snapshot: What is known of the game; None if nothing is, so that a new game cannot be stored.
            reason: Why we cannot play it.
            end: How it ended; None while it is running.
            is_last: Whether to end a game that we have played, too, because no runner can read its end.
        """
        async with self._transaction() as session:
            self._game = await load_game(session, self._owner, self._site_game_id)
            if self._game is None and snapshot is not None:
                assignment = Assignment("standard", {"method": "none", UNPLAYABLE: reason})
                new = self._new_game(_without_bad_start(snapshot), assignment, TrapParams())
                self._game = await open_game(session, new)
            if self._game is None or end is None or not (is_last or UNPLAYABLE in self._game.selection):
                return
            ended = await finish_game(
                session,
                self._game.id,
                result=GameResult.LOSS if end.reason is EndReason.RESIGNATION else None,
                end_reason=end.reason.value,
                aborted=end.reason is EndReason.ABORTED,
            )
            if ended:
                await self._drop_late_decisions(session, len(self._game.moves))
                await summarise(session, [self._game.id])
                detail = {"reason": reason, "end": end.reason.value, "site_game_id": self._site_game_id}
                await self._log_event(session, "game_unplayable", detail)

    async def close(self, end: GameEnd) -> ClosedGame:
        """Close the ledger of a finished game whose decisions are settled."""
        async with self._transaction() as session:
            await settle_game(session, self.game.id)
            self._is_closed = True
            counts = await bait_counts(session, self.game.id)
        self._metrics.count_baits(self.game.game, self.game.strategy, counts.baits_set, counts.baits_taken)
        is_aborted = end.reason is EndReason.ABORTED
        verdict = ResultForUs.ABORTED if is_aborted else _RESULTS_FOR_US[_our_result(end, self.game.our_side)]
        return ClosedGame(verdict, counts)

    async def latest_decision(self, moves: tuple[str, ...]) -> StoredDecision | None:
        """The last decision whose move is on the board."""
        async with self._database.read() as session:
            for ply in range(len(moves) - 1, max(-1, len(moves) - 3), -1):
                stored = await get_decision(session, self.game.id, ply)
                if stored is not None and stored.decision.move == moves[ply]:
                    return stored
        return None

    async def earlier_games(self) -> Encounters:
        """Totals of the earlier games with this opponent, over all our strategies.

        Counts only games that ended before this one began: the totals must not reveal baits in a running
        game.
        """
        filters = Filters(
            site=self._owner.site,
            account=self._owner.name,
            opponent_id=self.game.opponent_id,
            ended_before=self.game.started_at,
        )
        async with self._database.read() as session:
            return await encounters(session, filters)

    async def grant_takeback(self, most: int) -> bool:
        """Record a takeback for the opponent; return False if all allowed takebacks are used."""
        async with self._transaction() as session:
            granted = await list_events(session, kind=TAKEBACK_GRANTED, game_id=self.game.id, limit=most)
            if len(granted) >= most:
                return False
            detail = {"ply": len(self._moves), "site_game_id": self._site_game_id}
            await self._log_event(session, TAKEBACK_GRANTED, detail)
            return True

    async def record_event(self, kind: str, detail: Mapping[str, Any]) -> None:
        """Record an event of this game."""
        async with self._transaction() as session:
            await self._log_event(session, kind, {**detail, "site_game_id": self._site_game_id})

    async def _void(self, ply: int) -> None:
        self._scores = {known: score for known, score in self._scores.items() if known < ply}
        async with self._transaction() as session:
            await mark_taken_back(session, self.game.id, ply)
            self._draft.forget_from(ply)

    # --- Inside a transaction ---------------------------------------------------------------------------

    @asynccontextmanager
    async def _transaction(self) -> AsyncIterator[AsyncSession]:
        """Run one transaction at a time: if two ran without seeing each other's writes, neither would record
        an outcome."""
        async with self._turn:
            self._draft = self._current_decisions.copy()
            began = time.perf_counter()
            try:
                async with self._database.write() as session:
                    await self._role.verify(session)
                    yield session
                    if self._is_closed:  # what is written later, a last forecast for instance, counts, too
                        await summarise(session, [self.game.id])
            except BaseException as error:  # also when cancelled: the commit may or may not have happened
                self._current_decisions = CurrentDecisions()
                # Without the role another program goes on, and the database is well.
                if isinstance(error, StorageError) and not isinstance(error, RoleLost):
                    self._metrics.count_failed_commit()
                raise
            self._current_decisions = self._draft
            self._metrics.count_commit(time.perf_counter() - began)

    async def _current_at(self, session: AsyncSession, ply: int) -> StoredDecision | None:
        if self._draft.knows_ply(ply):
            return self._draft.latest.get(ply)
        return await get_decision(session, self.game.id, ply)

    async def _log_event(self, session: AsyncSession, kind: str, detail: Mapping[str, Any]) -> None:
        game_id = None if self._game is None else self._game.id
        await log_event(session, self._owner, kind, detail, game_id, metrics=self._metrics)

    def _cache_score(self, stored: StoredDecision) -> None:
        if stored.state is not DecisionState.DROPPED:
            score, ratings = score_centi(stored.decision), self._ratings
            self._scores[stored.ply] = score, decides(stored.decision, score, ratings)

    @property
    def _ratings(self) -> PairRatings | None:
        return PairRatings.of(self.game.our_rating, self.game.opponent_rating)

    async def _classify(self, session: AsyncSession, stored: StoredDecision, decision: Decision) -> None:
        """Record the outcome of a move shown by the server, once the reply or the game's end is known."""
        ply = stored.ply
        if stored.outcome is not None or ply >= len(self._moves) or self._moves[ply] != decision.move:
            return
        reply = self._replies.get(stored.id)
        if reply is None:
            current = await self._current_at(session, ply)
            if current is None or current.id != stored.id:
                return  # taken back before the reply; what is on the board answers another decision
            reply = self._moves[ply + 1] if ply + 1 < len(self._moves) else None
        if not (decision.is_complete if reply is not None else self._end is not None):
            return
        try:
            outcome = classify_by_figure_9(decision, reply)
        except Exception as error:  # what the server shows is recorded regardless
            known = await list_events(session, kind=DECISION_UNJUDGED, game_id=self.game.id)
            if all(event.detail["ply"] != ply for event in known):
                logger.exception("game %s, ply %d: judging the reply crashed", self._site_game_id, ply)
                detail = {**crash_detail(ply, error), "site_game_id": self._site_game_id}
                await self._log_event(session, DECISION_UNJUDGED, detail)
            return
        if await record_outcome(session, stored.id, outcome, self._draft.forecasts.get(stored.id)):
            self._draft.update(replace(self._draft.current(stored), outcome=outcome))
        else:  # there is another one
            self._draft = CurrentDecisions()

    async def _load_standing(self, session: AsyncSession, known: StoredGame, moves: tuple[str, ...]) -> None:
        common = common_plies(known.moves, moves)
        if common < len(known.moves):  # taken back while we were away
            await mark_taken_back(session, known.id, common)
            answered = await get_decision(session, known.id, common - 1)
            if answered is not None:
                self._replies[answered.id] = known.moves[common]
        standing = await list_decisions(session, known.id)
        self._draft.remember_all(standing)
        for stored in standing:
            self._cache_score(stored)

    async def _restored(self, session: AsyncSession, ply: int) -> StoredDecision | None:
        """Our decision for the move at a ply, if it counted as taken back because the server had shown an
        older state of the game."""
        if ply in self._strange:
            return None
        rules, text = get_rules(self.game.game), self.game.initial_position
        start = None if text is None else rules.parse_position(text)
        position = continued_position(rules, replay(rules, self._moves[:ply], start))
        move, position_text = self._moves[ply], rules.position_text(position)
        restored = await restore_decision(session, self.game.id, ply, move, position_text)
        if restored is not None:
            self._draft = CurrentDecisions()
            self._cache_score(restored)
        return restored

    async def _foreign_move(self, session: AsyncSession, ply: int, stored: StoredDecision | None) -> None:
        """Handle a move of ours that was not decided here: another program uses the account, or the ledger is
        out of date."""
        if ply in self._strange:
            return
        self._strange.add(ply)
        logger.warning("game %s: no decision of ours for ply %d", self._site_game_id, ply)
        if stored is not None:
            await mark_dropped(session, stored.id)
            self._draft = CurrentDecisions()
        detail = {"ply": ply, "move": self._moves[ply], "decided": stored and stored.decision.move}
        await self._log_event(session, "undecided_move", detail)

    async def _drop_late_decisions(self, session: AsyncSession, ply: int) -> None:
        """Drop decisions that came too late: the game ended before the server accepted their moves."""
        for stored in await list_decisions(session, self.game.id):
            if stored.ply >= ply:
                await mark_dropped(session, stored.id)
                self._draft = CurrentDecisions()

    async def _assignment_context(self, session: AsyncSession, snapshot: GameSnapshot) -> AssignmentContext:
        owner, game = self._owner, snapshot.game
        return AssignmentContext(
            site=owner.site,
            game=game,
            speed=snapshot.speed,
            rated=snapshot.rated,
            opponent_rating=snapshot.opponent.rating,
            opponent_is_bot=snapshot.opponent.is_bot,
            against_opponent=await count_drawn(session, owner, game, snapshot.opponent.id),
            overall=await count_drawn(session, owner, game),
        )

    def _new_game(self, snapshot: GameSnapshot, assignment: Assignment, params: TrapParams) -> NewGame:
        clock, opponent = snapshot.clock, snapshot.opponent
        return NewGame(
            site=self._owner.site,
            account=self._owner.name,
            site_game_id=self._site_game_id,
            game=snapshot.game,
            variant=snapshot.variant,
            initial_position=snapshot.initial_position,
            our_side=snapshot.our_side,
            rated=snapshot.rated,
            speed=snapshot.speed.value,
            clock_initial_s=None if clock is None else clock.initial_s,
            clock_increment_s=None if clock is None else clock.increment_s,
            opponent_id=opponent.id,
            opponent_name=opponent.name,
            opponent_is_bot=opponent.is_bot,
            our_rating=snapshot.our_rating,
            opponent_rating=opponent.rating,
            strategy=assignment.strategy,
            params=params,
            engine_version=ENGINE_VERSION,
            selection=assignment.detail,
        )

    def _is_ours(self, ply: int) -> bool:
        # Sides alternate in every game, because a pass is a move.
        if self._first_side is None:
            self._first_side = first_side(self.game.game, self.game.initial_position)
        return (self._first_side + ply) % 2 == self.game.our_side


async def _as_planned(session: AsyncSession, new: NewGame) -> NewGame:
    """The game with the trial's own rule of when a game is undecided, which must not change in mid-trial."""
    settings = new.selection.get("randomised")
    if new.trial_id is None or settings is None:
        return new
    by_pair = await is_by_pair(session, new.trial_id, new.strategy)
    return replace(new, selection={**new.selection, "randomised": {**settings, "by_pair": by_pair}})


def _without_bad_start(snapshot: GameSnapshot) -> GameSnapshot:
    """Return the snapshot without its starting position if our rules refuse that position."""
    try:
        get_rules(snapshot.game).parse_position(snapshot.initial_position or "")
    except BadPosition:
        return replace(snapshot, initial_position=None)
    return snapshot


def _version_of(game: str, registry: ModelRegistry) -> str | None:
    """The version of persons' states by the present models of a game; None without a model of people."""
    try:
        with registry.lend(game) as models:
            model = person_model_of(game, models)
    except BadModel:
        return None
    return None if model is None else model.version


def _usable_state(known: StoredState | None, version: str) -> PersonState:
    """A person's state by the present models, with nothing in it if there is none."""
    try:
        state = None if known is None else PersonState.from_bytes(known.state)
    except RecordError as error:  # it will be built again (`bot.threads.person_fold`)
        logger.warning("%s", error)
        state = None
    return state if state is not None and state.version == version else PersonState(version)


def _earlier(recorded: Sequence[tuple[bytes, str]], version: str) -> tuple[FoldedReply, ...]:
    """The earlier replies, as far as the weights of the tilts depend on them.

    Args:
        recorded: Packed forecasts and the replies; those that cannot be used are left out.
        version: Of the person's state.
    """
    found = []
    for packed, reply in recorded:
        with suppress(RecordError):
            found.append(_folded_reply(ReplyForecast.from_record(unpack(packed)), reply, version))
    return tuple(each for each in found if each is not None)


def _folded_reply(made: ReplyForecast, reply: str, version: str) -> FoldedReply | None:
    """A reply, as far as the weights of the tilts depend on it; None if its forecast cannot be used."""
    if made.person is None or made.person.version != version or reply not in made.replies:
        return None
    return FoldedReply(
        position="",
        ply=0,
        replies=made.replies,
        base=made.base,
        costs=made.person.costs,
        reply=reply,
        judged_cost=0.0,
    )


def sets_bait(decision: Decision, made: ReplyForecast) -> bool:
    """Whether a decision's move counts as a bait: the forecast confirms it, and the game was undecided."""
    return made.bait is not None and not decision_verdicts(decision).is_decided


def crash_detail(ply: int, error: Exception) -> dict[str, Any]:
    """Details of the event for an error that left a decision without an outcome."""
    return {"ply": ply, "error": f"{type(error).__name__}: {error!s:.500}"}


def _our_result(end: GameEnd, our_side: int) -> GameResult | None:
    """Our result; None if the game has none or the server does not report it."""
    if end.winner is not None:
        return GameResult.WIN if end.winner == our_side else GameResult.LOSS
    if end.reason in (EndReason.ABORTED, EndReason.OTHER, EndReason.UNKNOWN):  # an unknown end is no draw
        return None
    return GameResult.DRAW
