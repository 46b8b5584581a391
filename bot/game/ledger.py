"""A game's ledger: the transactions that keep its record true, whenever the program dies.

A decision is committed before its move is sent, marked as sent when the server has taken it, and confirmed
when the server shows it.  Once its profile is complete and the reply is known, its outcome is recorded.  Each
step can be done twice without harm, and follows from what the server shows and what is stored already, so a
new start that goes through them again finishes whatever was left undone.  The game stays open until all its
decisions are settled, which is what the next start looks for.
"""

import asyncio
import logging
from collections.abc import AsyncIterator, Callable, Mapping
from contextlib import asynccontextmanager
from dataclasses import dataclass, replace
from typing import Any

from sqlalchemy.ext.asyncio import AsyncSession

from bot.base.event_log import log_event
from bot.base.events import EndReason, GameEnd, GameSnapshot
from bot.game.chat_texts import ResultForUs
from bot.game.offer_policy import score_centi
from bot.game.selection import Occasion, Selection
from bot.game.session import common_plies
from engine import ENGINE_VERSION
from engine.decision import Decision, OutcomeKind
from engine.games import get_game as get_rules
from engine.params import TrapParams
from engine.trappy import classify_reply
from storage.database import Database
from storage.decisions import (
    commit_decision,
    get_decision,
    list_decisions,
    mark_confirmed,
    mark_dropped,
    mark_sent,
    store_profile,
    void_after,
)
from storage.errors import DuplicateDecision
from storage.events import list_events
from storage.games import count_by_player, finish_game, get_game, open_game, reopen_game, set_moves
from storage.outcomes import record_outcome
from storage.records import (
    DecisionState,
    Filters,
    GameResult,
    GameStatus,
    NewGame,
    StoredDecision,
    StoredGame,
)
from storage.statistics import PlayerStatistics, player_statistics

logger = logging.getLogger(__name__)

TAKEBACK_GRANTED = "takeback_granted"
DECISION_UNJUDGED = "decision_unjudged"
"""A bug kept a decision from getting its outcome, and `desdemona db recheck` may find it."""

_VERDICTS = {
    GameResult.WIN: ResultForUs.WON,
    GameResult.LOSS: ResultForUs.LOST,
    GameResult.DRAW: ResultForUs.DRAWN,
    None: ResultForUs.UNKNOWN,
}


@dataclass(frozen=True, slots=True)
class Closed:
    """What came of a game."""

    verdict: ResultForUs
    traps: int
    """Traps that were set."""
    fell: int
    """Those of them that the opponent fell into."""


class GameLedger:
    """What storage knows of one game; `open` or `reopen` first."""

    def __init__(self, database: Database, site: str, site_game_id: str) -> None:
        self._database = database
        self._site = site
        self._site_game_id = site_game_id
        self._game: StoredGame | None = None
        self._turn = asyncio.Lock()
        # What the server showed last; set before the transaction that writes it, and read inside others, so
        # that of "the profile is complete" and "the reply is known" the later one records the outcome.
        self._moves: tuple[str, ...] = ()
        self._end: GameEnd | None = None
        self._strange: set[int] = set()
        # By ply: what the standing decisions think of their moves.
        self._scores: dict[int, int] = {}
        # By a decision's key: the first reply to it, which is the one to be judged even if it is taken back.
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
        """Whether the game is known, and not finished in the ledger."""
        return self._game is not None and self._game.state is GameStatus.OPEN

    @property
    def scores_centi(self) -> tuple[int, ...]:
        """Of the standing decisions, in the order of play, our view."""
        return tuple(score for _, score in sorted(self._scores.items()))

    async def open(
        self, snapshot: GameSnapshot, choose: Callable[[Occasion], Selection], params: TrapParams
    ) -> bool:
        """Look the game up, or write it down with the player that is to play it.

        Books that were closed too early, as when the server had lost the game for a while, are opened again.

        Args:
            choose: Picks the player of a new game; called inside the transaction, so that of two games that
                begin at once the second is counted after the first.

        Returns:
            Whether the game is new.
        """
        async with self._transaction() as session:
            known = await get_game(session, self._site, self._site_game_id)
            if known is None:
                selection = choose(await self._occasion(session, snapshot))
                new = self._new_game(snapshot, selection, params)
                self._game = await open_game(session, new)
                return True
            if known.state is not GameStatus.OPEN and snapshot.state.end is None:
                logger.warning("game %s: it goes on; reopening its ledger", self._site_game_id)
                await reopen_game(session, known.id)
                known = replace(known, state=GameStatus.OPEN, result=None, end_reason=None, ended_at=None)
            self._game = known
            if self.is_open:
                await self._take_up(session, known, snapshot.state.moves)
            return False

    async def reopen(self) -> bool:
        """Look the game up without the server's word; False: it is not known."""
        async with self._database.read() as session:
            self._game = await get_game(session, self._site, self._site_game_id)
        if self._game is not None:
            self._moves = self._game.moves
        return self._game is not None

    async def find(self, ply: int, position: str) -> StoredDecision | None:
        """The decision that stands for a ply, if it was made in this position."""
        async with self._database.read() as session:
            stored = await get_decision(session, self.game.id, ply)
        if stored is None:
            return None
        if stored.decision.position == position:
            self._keep_score(stored)
            return stored
        logger.warning("game %s: the decision at ply %d is for another position", self._site_game_id, ply)
        await self._void(ply)
        return None

    async def commit(self, moves: tuple[str, ...], decision: Decision) -> StoredDecision | None:
        """Write a decision down, ahead of sending its move; None: the server shows other moves by now.

        When one stands already, that one is returned: it may have been sent.
        """
        ply = len(moves)
        try:
            async with self._transaction() as session:
                if self._moves != moves or self._end is not None:
                    return None
                await commit_decision(session, self.game.id, ply, decision)
        except DuplicateDecision:
            logger.warning("game %s: ply %d was decided twice", self._site_game_id, ply)
        return await self.find(ply, decision.position)

    async def sent(self, stored: StoredDecision) -> None:
        """Note that the server has taken the move."""
        async with self._transaction() as session:
            await mark_sent(session, stored.id)

    async def take_back(self, ply: int) -> None:
        """Void the decisions from a ply on: their moves are not on the board any more.

        A reply that is taken back has shown what the opponent saw: its outcome stands.
        """
        self._moves = self._moves[:ply]
        await self._void(ply)

    async def record(
        self, moves: tuple[str, ...], since_ply: int, end: GameEnd | None = None
    ) -> list[StoredDecision]:
        """Write down what the server shows: confirm our moves, and judge the replies where that is possible.

        Args:
            moves: The whole list.
            since_ply: Moves before this one were recorded before.
            end: The game is over; None: it goes on.

        Returns:
            Decisions whose profile is to be completed.
        """
        self._moves, self._end = moves, end or self._end
        incomplete = []
        async with self._transaction() as session:
            await set_moves(session, self.game.id, moves)
            # The move before the first new one is ours when the new one is a reply.
            for ply in range(max(0, since_ply - 1), len(moves)):
                if not self._is_ours(ply):
                    continue
                stored = await get_decision(session, self.game.id, ply)
                if stored is None or stored.decision.move != moves[ply]:
                    await self._played_by_others(session, ply, stored)
                    continue
                if ply + 1 < len(moves):
                    self._replies.setdefault(stored.id, moves[ply + 1])
                if stored.state is not DecisionState.CONFIRMED:
                    await mark_confirmed(session, stored.id)
                await self._judge(session, stored, stored.decision)
                if not stored.is_complete:
                    incomplete.append(stored)
            if end is not None:
                await self._drop_after(session, len(moves))
        return incomplete

    async def complete(self, stored: StoredDecision, decision: Decision) -> None:
        """Store the chosen move's whole profile, and judge the reply if it is there."""
        async with self._transaction() as session:
            await store_profile(session, stored.id, decision)
            await self._judge(session, stored, decision)

    async def finish(self, end: GameEnd) -> Closed:
        """Close the ledger of a game whose decisions are settled."""
        result = _result(end, self.game.our_side)
        is_aborted = end.reason is EndReason.ABORTED
        async with self._transaction() as session:
            await finish_game(
                session,
                self.game.id,
                result=result,
                end_reason=end.reason.value,
                aborted=is_aborted,
                moves=self._moves,
            )
            traps = [d for d in await list_decisions(session, self.game.id) if d.is_trap]
        fell = sum(d.outcome is not None and d.outcome.kind is OutcomeKind.FELL for d in traps)
        return Closed(ResultForUs.ABORTED if is_aborted else _VERDICTS[result], len(traps), fell)

    async def latest(self, moves: tuple[str, ...]) -> StoredDecision | None:
        """The last decision whose move is on the board."""
        async with self._database.read() as session:
            for ply in range(len(moves) - 1, max(-1, len(moves) - 3), -1):
                stored = await get_decision(session, self.game.id, ply)
                if stored is not None and stored.decision.move == moves[ply]:
                    return stored
        return None

    async def figures(self) -> list[PlayerStatistics]:
        """What came of the games with this opponent before this one, by our player."""
        filters = Filters(site=self._site, opponent_id=self.game.opponent_id, until=self.game.started_at)
        async with self._database.read() as session:
            return await player_statistics(session, filters)

    async def grant_takeback(self, most: int) -> bool:
        """Write down that the opponent may take a move back; False: it has had so many already."""
        async with self._transaction() as session:
            granted = await list_events(session, kind=TAKEBACK_GRANTED, game_id=self.game.id, limit=most)
            if len(granted) >= most:
                return False
            detail = {"ply": len(self._moves), "site_game_id": self._site_game_id}
            await log_event(session, self._site, TAKEBACK_GRANTED, detail, self.game.id)
            return True

    async def record_event(self, kind: str, detail: Mapping[str, Any]) -> None:
        """Write an event of this game down."""
        async with self._transaction() as session:
            game_id = None if self._game is None else self._game.id
            detail = {**detail, "site_game_id": self._site_game_id}
            await log_event(session, self._site, kind, detail, game_id)

    async def _void(self, ply: int) -> None:
        self._scores = {known: score for known, score in self._scores.items() if known < ply}
        async with self._transaction() as session:
            await void_after(session, self.game.id, ply)

    # --- Inside a transaction ---------------------------------------------------------------------------

    @asynccontextmanager
    async def _transaction(self) -> AsyncIterator[AsyncSession]:
        """One at a time: of two that can't see each other's work, neither would record an outcome."""
        async with self._turn, self._database.write() as session:
            yield session

    def _keep_score(self, stored: StoredDecision) -> None:
        if stored.state is not DecisionState.DROPPED:
            self._scores[stored.ply] = score_centi(stored.decision)

    async def _judge(self, session: AsyncSession, stored: StoredDecision, decision: Decision) -> None:
        """Record the outcome of a move that the server shows, once its reply or the end is known."""
        ply = stored.ply
        if stored.outcome is not None or ply >= len(self._moves) or self._moves[ply] != decision.move:
            return
        reply = self._replies.get(stored.id, self._moves[ply + 1] if ply + 1 < len(self._moves) else None)
        if not (decision.is_complete if reply is not None else self._end is not None):
            return
        try:
            outcome = classify_reply(decision, reply)
        except Exception as error:  # what the server shows is written down all the same
            known = await list_events(session, kind=DECISION_UNJUDGED, game_id=self.game.id)
            if all(event.detail["ply"] != ply for event in known):
                logger.exception("game %s, ply %d: judging the reply crashed", self._site_game_id, ply)
                detail = {**crash_detail(ply, error), "site_game_id": self._site_game_id}
                await log_event(session, self._site, DECISION_UNJUDGED, detail, self.game.id)
            return
        await record_outcome(session, stored.id, outcome)

    async def _take_up(self, session: AsyncSession, known: StoredGame, moves: tuple[str, ...]) -> None:
        common = common_plies(known.moves, moves)
        if common < len(known.moves):  # taken back while we were away
            await void_after(session, known.id, common)
            answered = await get_decision(session, known.id, common - 1)
            if answered is not None:
                self._replies[answered.id] = known.moves[common]
        for stored in await list_decisions(session, known.id):
            self._keep_score(stored)

    async def _played_by_others(self, session: AsyncSession, ply: int, stored: StoredDecision | None) -> None:
        """A move of ours that was not decided here: somebody else uses the account, or the ledger is out of
        date."""
        if ply in self._strange:
            return
        self._strange.add(ply)
        logger.warning("game %s: ply %d was not decided here", self._site_game_id, ply)
        if stored is not None:
            await mark_dropped(session, stored.id)
        detail = {"ply": ply, "move": self._moves[ply], "decided": stored and stored.decision.move}
        await log_event(session, self._site, "undecided_move", detail, self.game.id)

    async def _drop_after(self, session: AsyncSession, ply: int) -> None:
        """Drop decisions that came too late: the game ended before the server took their moves."""
        for stored in await list_decisions(session, self.game.id):
            if stored.ply >= ply:
                await mark_dropped(session, stored.id)

    async def _occasion(self, session: AsyncSession, snapshot: GameSnapshot) -> Occasion:
        site, game = self._site, snapshot.game
        return Occasion(
            site=site,
            game=game,
            speed=snapshot.speed,
            opponent_rating=snapshot.opponent.rating,
            against_opponent=await count_by_player(session, site, game, snapshot.opponent.id),
            overall=await count_by_player(session, site, game),
        )

    def _new_game(self, snapshot: GameSnapshot, selection: Selection, params: TrapParams) -> NewGame:
        clock, opponent = snapshot.clock, snapshot.opponent
        return NewGame(
            site=self._site,
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
            player=selection.player,
            params=params,
            engine_version=ENGINE_VERSION,
            selection=selection.detail,
        )

    def _is_ours(self, ply: int) -> bool:
        # Sides alternate in every game, since a pass is a move.
        rules = get_rules(self.game.game)
        text = self.game.initial_position
        start = rules.initial() if text is None else rules.parse_position(text)
        return (rules.side_to_move(start) + ply) % 2 == self.game.our_side


def crash_detail(ply: int, error: Exception) -> dict[str, Any]:
    """What an event tells of an error that left one decision of a game without an outcome."""
    return {"ply": ply, "error": f"{type(error).__name__}: {error!s:.500}"}


def _result(end: GameEnd, our_side: int) -> GameResult | None:
    """Our result; None: there is none, or the server does not tell it."""
    if end.winner is not None:
        return GameResult.WIN if end.winner == our_side else GameResult.LOSS
    if end.reason in (EndReason.ABORTED, EndReason.OTHER, EndReason.UNTOLD):  # an unknown end is no draw
        return None
    return GameResult.DRAW
