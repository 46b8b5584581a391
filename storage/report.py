"""A game told move by move: what each of our moves was worth, which trap it set, and what became of it."""

from dataclasses import asdict, dataclass
from typing import Any

from sqlalchemy.ext.asyncio import AsyncSession

from engine.decision import Candidate, OutcomeKind, Pick, ReplyProfile
from engine.game import WIN_CENTI, Game
from engine.games import get_game
from engine.trappy import reply_quality
from storage.decisions import list_decisions
from storage.games import get_game as get_stored_game
from storage.records import StoredDecision, StoredGame


@dataclass(frozen=True, slots=True)
class CandidateReport:
    """One move that we could have played, as in the paper's Figure 8."""

    move: str
    squares: tuple[str, ...]
    raw_centi: int
    """What plain minimax says, our view."""
    raw_text: str
    raw_is_bound: bool
    """It is only proven to be at most that."""
    adjusted_centi: float
    """What trappy minimax says, our view."""
    adjusted_text: str
    quality_centi: float
    trap: str | None


@dataclass(frozen=True, slots=True)
class ReplyReport:
    """One reply to the move that we played."""

    reply: str
    squares: tuple[str, ...]
    scores_centi: tuple[int, ...]
    """After searches of 2 .. depth plies, our view; empty when only a bound is known."""
    final_centi: int
    """At full depth, our view."""
    our_text: str
    their_text: str
    """The same for the opponent."""
    quality_centi: float
    """Quality as a trap."""
    glance_text: str | None
    """How it looked to the opponent at its best before the full depth; None: no shallower score."""
    glance_plies: int | None
    """After a search of so many plies."""


@dataclass(frozen=True, slots=True)
class TrapReport:
    """The best trap of a move, however small; `DecisionReport.is_trap` says whether it counts."""

    reply: str
    quality_centi: float
    quality_text: str


@dataclass(frozen=True, slots=True)
class DecisionReport:
    """One of our moves."""

    ply: int
    number: int
    """Of the move, counted as in the game's notation: both sides' first moves are number 1."""
    move: str
    squares: tuple[str, ...]
    player: str
    search_mode: str
    pick: Pick | None
    depth: int
    time_s: float
    state: str
    position: str
    rows_before: tuple[str, ...]
    rows_after: tuple[str, ...]
    """The board that the opponent had to answer."""
    standard: CandidateReport
    """What plain minimax would have played."""
    chosen: CandidateReport
    candidates: tuple[CandidateReport, ...]
    is_complete: bool
    """All replies are known; until then nothing can be said about traps."""
    is_trap: bool | None
    trap: TrapReport | None
    replies: tuple[ReplyReport, ...]
    reply: str | None
    """What the opponent played; None when nothing (yet)."""
    outcome: OutcomeKind | None
    fell_for_best: bool | None
    cost_centi: int | None
    """What the reply cost the opponent; like the two above None until it is judged."""
    cost_text: str | None


@dataclass(frozen=True, slots=True)
class GameReport:
    """A game with all our decisions in it."""

    header: StoredGame
    sides: tuple[str, str]
    decisions: tuple[DecisionReport, ...]

    def to_json(self) -> dict[str, Any]:
        """Plain JSON values; the header's fields stand beside ``sides`` and ``decisions``."""
        header = asdict(self.header)
        for moment in ("started_at", "ended_at"):
            value = getattr(self.header, moment)
            header[moment] = None if value is None else value.isoformat()
        decisions = [asdict(decision) for decision in self.decisions]
        return {**header, "sides": self.sides, "decisions": decisions}


async def game_report(session: AsyncSession, site: str, site_game_id: str) -> GameReport | None:
    """The report of the game with a site's own key; None when there is no such game.

    Raises:
        KeyError: Of a game that this program no longer knows.
        ValueError: A recorded decision can't be read.
    """
    stored = await get_stored_game(session, site, site_game_id)
    if stored is None:
        return None
    game = get_game(stored.game)
    decisions = await list_decisions(session, stored.id)
    return GameReport(stored, game.sides, tuple(_decision(game, stored, d) for d in decisions))


def _decision(game: Game[Any], stored: StoredGame, made: StoredDecision) -> DecisionReport:
    decision = made.decision
    before = game.parse_position(decision.position)
    after = game.play(before, game.parse_move(before, decision.move))
    reports = {c.move: _candidate(game, before, c) for c in decision.candidates}
    chosen = decision.chosen
    outcome = made.outcome
    known = stored.moves[made.ply + 1] if len(stored.moves) > made.ply + 1 else None
    trap = None
    if chosen.trap is not None:
        text = _size_text(game, before, chosen.quality_centi)
        trap = TrapReport(chosen.trap, chosen.quality_centi, text)
    return DecisionReport(
        ply=made.ply,
        number=made.ply // 2 + 1,
        move=decision.move,
        squares=reports[decision.move].squares,
        player=decision.player,
        search_mode=decision.search_mode,
        pick=decision.pick,
        depth=decision.depth,
        time_s=decision.time_s,
        state=made.state,
        position=decision.position,
        rows_before=game.board_rows(before),
        rows_after=game.board_rows(after),
        # The first of the best, as the standard player chooses.
        standard=max((r for r in reports.values() if not r.raw_is_bound), key=lambda r: r.raw_centi),
        chosen=reports[decision.move],
        candidates=tuple(reports.values()),
        is_complete=made.is_complete,
        is_trap=made.is_trap,
        trap=trap,
        replies=tuple(_reply(game, after, made, reply) for reply in chosen.replies),
        reply=known if outcome is None else outcome.reply,
        outcome=None if outcome is None else outcome.kind,
        fell_for_best=None if outcome is None else outcome.fell_for_best,
        cost_centi=None if outcome is None else outcome.cost_centi,
        cost_text=None if outcome is None else _size_text(game, before, outcome.cost_centi),
    )


def _candidate(game: Game[Any], position: Any, candidate: Candidate) -> CandidateReport:
    return CandidateReport(
        move=candidate.move,
        squares=game.move_squares(game.parse_move(position, candidate.move)),
        raw_centi=candidate.raw_centi,
        raw_text=game.score_text(candidate.raw_centi, position),
        raw_is_bound=candidate.raw_is_bound,
        adjusted_centi=candidate.adjusted_centi,
        adjusted_text=game.score_text(candidate.adjusted_centi, position),
        quality_centi=candidate.quality_centi,
        trap=candidate.trap,
    )


def _reply(game: Game[Any], position: Any, made: StoredDecision, profile: ReplyProfile) -> ReplyReport:
    scores, quality = profile.scores_centi, 0.0
    glance_text = glance_plies = None
    if scores:
        quality = reply_quality(scores, made.decision.chosen.raw_centi, made.decision.params)
    if len(scores) > 1:
        # The least for us; of equal ones the deepest, which says the most.
        least, glance_plies = min((score, -plies) for plies, score in enumerate(scores[:-1], start=2))
        glance_text, glance_plies = game.score_text(-least, position), -glance_plies
    return ReplyReport(
        reply=profile.reply,
        squares=game.move_squares(game.parse_move(position, profile.reply)),
        scores_centi=scores,
        final_centi=profile.final_centi,
        our_text=game.score_text(profile.final_centi, position),
        their_text=game.score_text(-profile.final_centi, position),
        quality_centi=quality,
        glance_text=glance_text,
        glance_plies=glance_plies,
    )


def _size_text(game: Game[Any], position: Any, size_centi: float) -> str:
    """A difference of scores, which is no score: without its sign."""
    if abs(size_centi) >= WIN_CENTI / 2:
        return "the game"
    return game.score_text(size_centi, position).removeprefix("+")
