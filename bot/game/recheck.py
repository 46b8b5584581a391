"""Rechecks all decisions in the database: verifies each record, and classifies and forecasts the replies that
the current rules have not classified yet. (What replies cost is judged later, by `bot.threads.reply_judge`.)

A decision lacks an outcome if a crash interrupted the completion of its profile or the classification of its
reply, or if rows were removed by hand. The database contains all data for the classification, so doing it
later gives the same result. Each decision has its own transaction, so an interrupted run loses nothing.

Games that are open, or over but not settled, are only verified; the program that plays the account judges
them.
"""

import logging
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from dataclasses import asdict, dataclass, field, fields
from types import MappingProxyType
from typing import Any

from bot.base.game_summaries import check_summaries
from bot.game.ledger import TAKEBACK_GRANTED
from bot.game.record_checks import RecordChecks
from bot.threads.fair_queue import JobRank
from bot.threads.search_pool import SearchPool
from engine.bait_rule import FORECAST_RULE
from engine.completion import MAX_COMPLETION_S, complete
from engine.decision import Decision, Person
from engine.errors import EngineMismatch, PrunedRecord, RecordError
from engine.figure_9 import FIGURE_9_RULE, classify_by_figure_9, profile_verdict
from engine.forecasts import decision_expectations, forecast_job
from engine.game import continued_position
from engine.games import get_rules
from engine.human.registry import ModelRegistry
from engine.human.reply_forecast import ReplyForecast
from engine.lookup.source import RootSource
from engine.search.reference import Searcher
from engine.stop import StopFlag, Stopped
from engine.verification import verify
from storage.database import Database
from storage.errors import StorageError
from storage.ledger.events import list_events
from storage.maintenance.decision_batches import (
    NextDecision,
    RecordedDecision,
    complete_decision,
    count_decisions,
    decisions_between,
    next_decision,
    restore_columns,
    wrong_columns,
)
from storage.maintenance.malformed import (
    MalformedRow,
    quarantine_malformed,
    whole_database,
)
from storage.packing.records import unpack
from storage.records import DecisionState, GameStatus

logger = logging.getLogger(__name__)

RECHECK_BATCH_DECISIONS = 100
"""Number of decisions held in memory at a time; they take a few MB."""

OnCount = Callable[[int], None]
"""Called with the number of decisions finished since the last call."""


@dataclass(frozen=True, slots=True)
class WrongRecord:
    """A decision whose record fails verification or contradicts the game."""

    site: str
    game: str
    """The game's key on the site."""
    ply: int
    """Number of moves made before the decision."""
    reason: str


@dataclass(slots=True)
class RecheckResults:
    """The results for all decisions."""

    verified: int = 0
    """Number of records that reproduce their choice."""
    pruned: int = 0
    """Number of pruned records: the remaining data is valid, but the choice cannot be verified."""
    judged: int = 0
    """Number of outcomes computed because they were missing or classified by earlier rules."""
    forecast: int = 0
    """Number of reply forecasts computed because they were missing or made by earlier rules."""
    completed: int = 0
    """Number of chosen moves whose profiles were completed."""
    restored: int = 0
    """Number of rows whose columns differed from the record and were recomputed."""
    wrong: list[WrongRecord] = field(default_factory=list)
    summaries: int = 0
    """Number of wrong game summaries that were recomputed (`storage.evidence.summaries`)."""
    games_judged: int = 0
    """Number of games whose replies the judge has judged now, because its version had not."""
    games_left: int = 0
    """Number of games that the running program has yet to judge."""
    games_learned: int = 0
    """Number of judged games from which the program learned about the person now."""
    forgotten: int = 0
    """Number of forecasts, and of choices by predicted replies, that cannot be recomputed, because the person
    asked to be forgotten."""
    quarantined: list[MalformedRow] = field(default_factory=list)
    """Rows with invalid values, which were moved to the quarantine."""
    left: Counter[str] = field(default_factory=Counter)
    """Decisions that still lack an outcome or a complete profile, counted by reason."""

    def to_json(self) -> dict[str, Any]:
        """Return the report as plain JSON values."""
        quarantined = [asdict(each) for each in self.quarantined]
        plain = {each.name: getattr(self, each.name) for each in fields(self)}
        return plain | {
            "wrong": [asdict(each) for each in self.wrong],
            "quarantined": quarantined,
            "damaged": quarantined,  # its name up to 0.2.0
            "left": dict(self.left),
        }


async def recheck(
    database: Database,
    table_mb: int = 16,
    counting: Callable[[int], OnCount] | None = None,
    models: ModelRegistry | None = None,
    sources: Mapping[str, Sequence[RootSource]] = MappingProxyType({}),
) -> RecheckResults:
    """Verify every decision, and classify those not yet classified or classified by earlier rules.

    Args:
        table_mb: Size of the single search thread's transposition table for each game, in MiB.
        counting: Takes the number of decisions and returns a progress callback; None to report no progress.
        models: Models of people for the forecasts; None for the built-in models.
        sources: The judge's tablebases of each game (`engine.judge.position_value`).
    """
    findings = RecheckResults()
    models = models or ModelRegistry()
    findings.quarantined = await quarantine_malformed(database, whole_database())
    async with database.read() as session:
        total, last_id = await count_decisions(session)
    checks = RecordChecks(models)
    on_count = None if counting is None else counting(total)
    async with SearchPool(1, table_mb) as pool:
        done_id = 0
        while True:
            async with database.read() as session:
                batch = await decisions_between(session, done_id, last_id, RECHECK_BATCH_DECISIONS)
            if not batch:
                findings.summaries = await check_summaries(database)
                findings.forgotten = checks.forgotten
                return findings
            for row in batch:
                await _Recheck(database, pool, models, sources, findings, checks, row).run()
                if on_count is not None:
                    on_count(1)
            done_id = batch[-1].id


class _Incomplete(Exception):
    """Error: a decision stays incomplete; the message says why."""


class _Recheck:
    """Rechecks one decision."""

    def __init__(
        self,
        database: Database,
        pool: SearchPool,
        models: ModelRegistry,
        sources: Mapping[str, Sequence[RootSource]],
        findings: RecheckResults,
        checks: RecordChecks,
        found: RecordedDecision,
    ) -> None:
        self._database = database
        self._pool = pool
        self._models = models
        self._sources = sources
        self._findings = findings
        self._checks = checks
        self._found = found

    async def run(self) -> None:
        is_pruned = False
        try:
            decision = Decision.from_record(unpack(self._found.record))
            self._verify(decision)
            is_pruned = decision.is_pruned
            await self._restore(decision)
            await self._check_reply(decision)
            if self._is_incomplete(decision):
                await self._settle(decision)
        except RecordError as error:
            self._note_wrong(str(error))
            return
        except _Incomplete as left:
            self._findings.left[str(left)] += 1
        except StorageError:
            raise
        except Exception as error:  # one damaged decision must not hide the others
            logger.debug("decision %d", self._found.id, exc_info=True)
            self._note_wrong(f"checking it crashed: {type(error).__name__}: {error}")
            return
        if is_pruned:
            self._findings.pruned += 1
        else:
            self._findings.verified += 1

    def _note_wrong(self, reason: str) -> None:
        row = self._found
        self._findings.wrong.append(WrongRecord(row.site, row.site_game_id, row.ply, reason))

    def _verify(self, decision: Decision) -> None:
        try:
            get_rules(decision.game).parse_position(decision.position)
            with suppress(PrunedRecord):
                verify(decision)
            self._checks.check(self._found, decision)
        except RecordError:
            raise
        except Exception as error:  # a damaged record may contain anything
            raise RecordError(f"it cannot be verified: {type(error).__name__}: {error}") from error

    async def _restore(self, decision: Decision) -> None:
        """Recompute the derived columns of a row that differ from its record."""
        judged = profile_verdict(decision) if decision.is_complete else None
        if right := wrong_columns(self._found, decision, judged):
            async with self._database.write() as session:
                self._findings.restored += await restore_columns(session, self._found, right)

    async def _check_reply(self, decision: Decision) -> None:
        """Check that the judged reply matches the game's moves.

        Raises:
            RecordError: The judged reply differs from the reply in the game.
        """
        row = self._found
        is_classified = row.outcome_rule is not None and row.state is DecisionState.CONFIRMED
        if row.game_state is GameStatus.OPEN or row.is_taken_back or not is_classified:
            return
        try:
            reply = await self._reply(decision)
        except _Incomplete:  # unknown
            return
        if row.outcome_reply != reply:
            raise RecordError(
                f"its outcome judges {row.outcome_reply or 'no reply'}, but the reply was {reply or 'none'}"
            )

    def _is_incomplete(self, decision: Decision) -> bool:
        """Whether a decision lacks an outcome or profile that it should have."""
        row = self._found
        if row.is_taken_back or row.state is DecisionState.DROPPED:  # these count nowhere
            return False
        is_classified = (
            row.outcome_rule == FIGURE_9_RULE and decision.is_complete and row.rule == FIGURE_9_RULE
        )
        return not is_classified or self._is_forecast_old()

    def _is_forecast_old(self) -> bool:
        """Whether there is no forecast by these rules or later ones, which a newer program has left."""
        return self._found.forecast_rule is None or self._found.forecast_rule < FORECAST_RULE

    async def _settle(self, decision: Decision) -> None:
        row = self._found
        if row.game_state is GameStatus.OPEN:
            raise _Incomplete("its game is still open")
        if not row.is_settled:
            raise _Incomplete("its game is over, and the program that played it is still judging it")
        if row.state is not DecisionState.CONFIRMED:
            raise _Incomplete("the server never showed its move")
        if row.ply >= len(row.moves) or row.moves[row.ply] != decision.move:
            raise _Incomplete("its move is not in the game's list of moves")
        trouble = ""
        full = decision
        try:
            full = await self._completed(decision)
        except _Incomplete as left:
            trouble = str(left)
        outcome = settled = None
        if row.outcome_rule != FIGURE_9_RULE:
            is_first = row.outcome_rule is None  # else the reply was judged before, by earlier rules
            reply = await self._reply(decision) if is_first else row.outcome_reply
            if reply is None or full.is_complete:
                outcome = classify_by_figure_9(full, reply)
        judged = profile_verdict(full) if full.is_complete else None
        if judged is not None and self._is_forecast_old():
            forecast = await self._forecast(full)
            settled = forecast, decision_expectations(full, forecast)
        is_old = judged is not None and row.rule != FIGURE_9_RULE
        if outcome is not None or settled is not None or is_old:
            async with self._database.write() as session:
                is_classified = await complete_decision(session, row, full, judged, outcome, settled)
            if is_classified is None:
                raise _Incomplete("it was changed meanwhile")
            self._findings.judged += is_classified
            self._findings.completed += full is not decision
            self._findings.forecast += settled is not None
        if trouble:
            raise _Incomplete(trouble)

    async def _completed(self, decision: Decision) -> Decision:
        """Return the decision with its chosen move's complete profile.

        Raises:
            RecordError: The repeated search contradicts the decision's record.
        """
        if decision.is_complete:
            return decision

        def search(searcher: Searcher, stop: StopFlag) -> Decision:
            stop.set_deadline(MAX_COMPLETION_S)
            return complete(decision, searcher, stop)

        try:
            full = await self._pool.run(search, decision.game, rank=JobRank.BACKGROUND)
            verify(full)
        except RecordError:
            raise
        except EngineMismatch as error:
            raise _Incomplete(str(error)) from None
        except Stopped:
            raise _Incomplete(f"completing its profile took more than {MAX_COMPLETION_S:g} s") from None
        except Exception as error:
            row = self._found
            logger.exception("game %s, ply %d: completing the profile crashed", row.site_game_id, row.ply)
            raise _Incomplete(f"completing its profile crashed: {type(error).__name__}: {error}") from error
        return full

    async def _forecast(self, full: Decision) -> ReplyForecast:
        """The forecast of people's replies, computed from the data that the record contains."""
        row = self._found
        job = forecast_job(
            self._models,
            full,
            (),
            person=Person(row.opponent_rating, opponent_rating=row.our_rating),
            initial_s=row.clock_initial_s,
            increment_s=row.clock_increment_s,
            sources=self._sources.get(full.game, ()),
        )
        return await self._pool.run(job, full.game, rank=JobRank.BACKGROUND)

    async def _reply(self, decision: Decision) -> str | None:
        """Return the reply to judge: the first one, even if it was taken back; None if there was none."""
        row = self._found
        async with self._database.read() as session:
            following = await next_decision(session, row.game_id, row.ply, row.id)
            granted = await list_events(session, kind=TAKEBACK_GRANTED, game_id=row.game_id)
        known_at = None if following is None else following.created_at
        for event in granted:
            is_before = known_at is None or event.at < known_at
            if event.detail.get("ply") == row.ply + 2 and event.at >= row.created_at and is_before:
                raise _Incomplete("its reply was taken back, and the ledger has no record of the reply")
        if following is not None and following.is_taken_back:
            return _reply_before(decision, following)
        return row.moves[row.ply + 1] if row.ply + 1 < len(row.moves) else None


def _reply_before(decision: Decision, following: NextDecision) -> str:
    """Return the reply that leads from a decision's move to the position of the next decision."""
    try:
        game = get_rules(decision.game)
        position = game.parse_position(decision.position)
        after = game.play(position, game.parse_move(position, decision.move))
        for reply in game.legal_moves(after):
            if game.position_text(continued_position(game, game.play(after, reply))) == following.position:
                return game.move_text(reply)
    except Exception as error:  # a damaged record may contain anything
        raise RecordError(f"its position cannot be read: {type(error).__name__}: {error}") from error
    raise _Incomplete("its reply was taken back, and the ledger does not identify the reply")
