"""A game's move-by-move report: the value of each of our moves, its trap, and the outcome.

What a reply cost is the judge's verdict (`engine.judge`), and unknown until the reply is judged. The
paper's trap and the outcome of Figure 9 come from the decision's own scores.

Moves appear in two forms: as recorded (``move``, ``reply``, ``trap``) and in human notation (``name``,
``..._name``).
"""

import asyncio
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass
from typing import Any

from sqlalchemy.ext.asyncio import AsyncSession

from bot.base.rounding import percent
from engine.bait_rule import expectations
from engine.decision import (
    Candidate,
    Decision,
    DirectMove,
    ModelInfo,
    Outcome,
    OutcomeKind,
    ReplyProfile,
    SourceInfo,
)
from engine.errors import IncompleteProfile, RecordError
from engine.expected import PER_PERCENT, WHOLE, expected_score
from engine.figure_9 import (
    MIN_ERROR_COST,
    ReplyVerdicts,
    decision_verdicts,
    expected_scale_centi,
    reply_verdicts,
)
from engine.forecasts import depth_from_move
from engine.game import (
    WIN_CENTI,
    BadPosition,
    Game,
    IllegalMove,
    Move,
    continued_position,
    move_count,
    move_number,
    starting_position,
)
from engine.games import get_rules
from engine.human.opponent_value import UNSEARCHED
from engine.human.reply_forecast import ReplyForecast
from engine.judge import EQUAL_COST, JUDGE_VERSION, MIN_SMALL_COST, ReplyCost, ReplyCosts, ReplyWord
from engine.params import OpponentScale, Scale
from engine.strategies.proof import cost as proof_cost
from engine.strategies.registry import STRATEGIES
from storage.errors import decoding, reason_of
from storage.ledger.decisions import list_decisions
from storage.ledger.forecasts import forecasts_of_game
from storage.ledger.judgements import judgements_of_game
from storage.records import StoredDecision, StoredGame


@dataclass(frozen=True, slots=True)
class CandidateReport:
    """One of our legal moves, with the values that the paper's Figure 8 shows."""

    move: str
    name: str
    squares: tuple[str, ...]
    raw_centi: int
    """Plain minimax's score, from our point of view."""
    raw_text: str
    raw_is_bound: bool
    """Whether the score is only an upper bound, or another engine was used and did not search the move."""
    adjusted_centi: float
    """Trappy minimax's score, from our point of view, in the unit of the parameters' scale."""
    adjusted_text: str
    """The value as a score, or on the expected scale as a share of a point, such as ``63.4 %``."""
    quality_centi: float
    trap: str | None
    trap_name: str | None
    sets_trap: bool | None
    """Whether the move sets a trap by Figure 9's rule (`engine.figure_9`); None if any reply is unknown."""
    set_trap_name: str | None
    """The best trap by Figure 9's rule; None if the move sets no trap."""
    value: float | None
    """The move's expected value over the predicted replies, in the unit of the decision's `OpponentParams`;
    None if the strategy does not use it or the move gives up too much."""
    value_text: str | None
    """The value as a share of a point, or as a score."""


@dataclass(frozen=True, slots=True)
class JudgedReply:
    """What a reply costs, by the judge."""

    reply: str
    name: str
    squares: tuple[str, ...]
    word: ReplyWord
    """What the reply is called."""
    is_best: bool
    """Whether it is the best reply, or as good."""
    cost: int
    """Cost in hundredths of a per cent of expected score."""
    shown_cost: int
    """The cost for display, which is never rounded up to the costs of the next worse word."""
    cost_text: str
    """The difference between its score and the best reply's, as text; empty for a best reply."""
    score_centi: int
    """Score after the reply, from the opponent's point of view."""
    score_text: str
    judge_depth: int | None
    """The cost holds to this depth in plies, counted from our move like the depths of `ReplyReport`. None in
    games that need another engine, where the judge's costs are the decision's own."""
    is_solved: bool
    """Whether the cost is the true cost, whatever the depth."""


@dataclass(frozen=True, slots=True)
class ReplyReport:
    """One reply to the move that we played."""

    reply: str
    name: str
    squares: tuple[str, ...]
    scores_centi: tuple[int, ...]
    """Our scores from searches of 2 plies, counted from our move, up to the decision's depth; empty if only a
    bound is known."""
    final_centi: int
    """Score at the decision's depth, from our point of view."""
    our_text: str
    their_text: str
    """The final score from the opponent's point of view, as text."""
    score_texts: tuple[str, ...]
    """`scores_centi` as text, from the opponent's point of view: how good the reply looks at each depth."""
    quality: float
    """Quality as a trap, in hundredths of a per cent of expected score (`engine.figure_9`)."""
    is_paper_trap: bool
    """Whether the quality reaches the threshold of a trap."""
    judged: JudgedReply | None
    """The judge's verdict; None if the reply was not judged."""
    probability: float | None
    """Probability of the reply, from the decision's forecast or the model that chose the move."""


@dataclass(frozen=True, slots=True)
class TrapReport:
    """A move's best trap, even if it is too small to count (`DecisionReport.is_trap`)."""

    reply: str
    name: str
    quality: float
    """Quality in hundredths of a per cent of expected score."""
    quality_text: str


@dataclass(frozen=True, slots=True)
class BaitReport:
    """A bait (`engine.bait_rule`)."""

    reply: str
    name: str
    probability: float
    """Probability that people play the bait."""
    cost: int
    """Cost by the judge, in hundredths of a per cent of expected score."""
    judge_depth: int | None
    """See `JudgedReply`."""
    is_solved: bool


@dataclass(frozen=True, slots=True)
class ForecastReport:
    """How people are expected to reply to the move that we played."""

    model: ModelInfo
    is_judged: bool
    """Whether it is known which replies are baits."""
    baits: tuple[BaitReport, ...]
    """Baits by decreasing expected loss (probability times cost); the first is the move's bait."""
    error_probability: float
    """Probability of an error: a reply that costs at least a tenth of a point."""
    is_taken: bool | None
    """Whether the reply takes a bait; None if there was no reply or it is not judged yet."""


@dataclass(frozen=True, slots=True)
class DrawReport:
    """A random choice between a move that sets a trap and one that sets none (`engine.randomised`)."""

    trap: str
    trap_name: str
    control: str
    control_name: str
    other_name: str
    """The other move of the pair, which was not played."""
    trap_value: int
    """Our expected score after the move `trap`, in hundredths of a per cent."""
    control_value: int
    chance: float
    """Probability of choosing `trap`."""
    seed: str


@dataclass(frozen=True, slots=True)
class RefusalReport:
    """A move that the strategy preferred to the one played, and whose proof failed."""

    move: str
    name: str
    cost: int | None
    """Its cost by the proof in hundredths of a per cent of expected score; None: the search had no result."""


@dataclass(frozen=True, slots=True)
class ContenderReport:
    """A move that the strategy exploit compared with others."""

    move: str
    name: str
    score_text: str
    value: int
    """What the move is worth against the person, in hundredths of a per cent of expected score."""
    playouts: int


@dataclass(frozen=True, slots=True)
class WeighedReport:
    """How the strategy exploit chose a move."""

    trust: float
    """The trust in the model of the opponent, from 0 to 1."""
    contenders: tuple[ContenderReport, ...]
    """The best move of the search comes first."""
    refused_name: str
    """The move that was preferred, but did not stand the deeper search; empty if there is none."""


@dataclass(frozen=True, slots=True)
class DecisionReport:
    """The report on one of our decisions."""

    ply: int
    number: int
    """The move's number in the game's notation (`engine.game.move_number`)."""
    count: int
    """The move's number where each side's moves are counted (`engine.game.move_count`)."""
    move: str
    name: str
    squares: tuple[str, ...]
    strategy: str
    sets_traps: bool
    """Whether the strategy sets traps on purpose; otherwise, a trap is accidental."""
    search_mode: str
    pick: DirectMove | None
    pick_text: str | None
    """Score from the source that chose the move without exact scores; None without such a source or score."""
    source: SourceInfo | None
    """The other engine that gave the scores; None for our own search."""
    draw: DrawReport | None
    """The random choice that decided the move; None if the move was not randomised."""
    weighed: WeighedReport | None
    """The moves that were compared by the errors expected of the person; None if none was."""
    refusal: RefusalReport | None
    """The move that was preferred but refused; None if there is none."""
    model: ModelInfo | None
    """The model that gave the replies' probabilities; None if none was used."""
    trouble: str
    """Why the strategy could not use its opponent model; empty if it could."""
    depth: int
    time_s: float
    state: str
    position: str
    rows_before: tuple[str, ...]
    rows_after: tuple[str, ...]
    """The board that the opponent faced."""
    standard: CandidateReport
    """The move that plain minimax would choose."""
    chosen: CandidateReport
    candidates: tuple[CandidateReport, ...]
    is_complete: bool
    """Whether all replies are known; only then is it known whether the move sets a trap."""
    is_trap: bool | None
    trap: TrapReport | None
    is_decided: bool | None
    """Whether our move is a forced win or a forced loss; None if the profile is incomplete."""
    is_lost: bool | None
    """Whether the opponent was lost before the reply: by the judge even the best reply leaves less than
    `MIN_SMALL_COST` of the game, so no reply can cost more. None until a reply has been judged."""
    forecast: ForecastReport | None
    """The forecast of replies; None if not made yet."""
    replies: tuple[ReplyReport, ...]
    reply: str | None
    """The opponent's reply; None if the opponent has not replied."""
    reply_name: str | None
    outcome: OutcomeKind | None
    """The outcome by Figure 9, from the decision's own scores; None until the profile is complete."""
    fell_for_best: bool | None
    best: JudgedReply | None
    """The best reply by the judge; None until a reply has been judged."""
    judged: JudgedReply | None
    """The judge's verdict on the reply; None if there is none yet."""
    cost: int | None
    """Its cost, in hundredths of a per cent of expected score; None if there is none yet."""
    cost_text: str | None
    """See `JudgedReply`; None if there is no verdict yet."""

    @property
    def has_rivals(self) -> bool:
        """Whether the strategy exploit compared the best move of its search with others."""
        return self.weighed is not None and len(self.weighed.contenders) > 1


@dataclass(frozen=True, slots=True)
class GameReport:
    """The report on a game, with all of our decisions."""

    header: StoredGame
    sets_traps: bool
    """Whether our strategy sets traps on purpose; otherwise, its traps are accidental."""
    sides: tuple[str, str]
    names: tuple[str, ...]
    """Every move of the game in human notation."""
    decisions: tuple[DecisionReport, ...]

    def to_json(self) -> dict[str, Any]:
        """Return plain JSON values; the header's fields are at the top level."""
        header = asdict(self.header)
        for name in ("started_at", "ended_at"):
            value = getattr(self.header, name)
            header[name] = None if value is None else value.isoformat()
        return {
            **header,
            "sets_traps": self.sets_traps,
            "sides": self.sides,
            "names": self.names,
            "decisions": [asdict(decision) for decision in self.decisions],
        }


async def game_report(session: AsyncSession, stored: StoredGame) -> GameReport:
    """Report on a game.

    Raises:
        RecordError: A record is unreadable, contradicts the rules, or belongs to a game that is no longer
            supported.
    """
    decisions = await list_decisions(session, stored.id)
    forecasts = await forecasts_of_game(session, stored.id)
    costs = await judgements_of_game(session, stored.id)
    # Naming thousands of moves is slow and must not block the event loop.
    try:
        return await asyncio.to_thread(
            _build_report, _rules(stored.game), stored, decisions, forecasts, costs
        )
    except (BadPosition, IllegalMove, IncompleteProfile) as error:
        raise RecordError(reason_of(error)) from error


def _rules(name: str) -> Game[Any]:
    with decoding():
        return get_rules(name)


def _build_report(
    game: Game[Any],
    stored: StoredGame,
    decisions: Sequence[StoredDecision],
    forecasts: Mapping[int, ReplyForecast],
    costs: Mapping[int, ReplyCosts],
) -> GameReport:
    names = []
    position = starting_position(game, stored.initial_position)
    for text in stored.moves:
        position = continued_position(game, position)
        move = game.parse_move(position, text)
        names.append(game.move_name(position, move))
        position = game.play(position, move)
    return GameReport(
        stored,
        _sets_traps(stored.strategy),
        game.sides,
        tuple(names),
        tuple(
            decision_report(game, stored, each, forecasts.get(each.id), costs.get(each.id))
            for each in decisions
        ),
    )


def _trouble(decision: Decision) -> str:
    """Why the strategy could not use its model of the opponent; empty if it could, or has none."""
    if decision.exploit is not None and decision.exploit.trouble:
        return decision.exploit.trouble
    if decision.strong_traps is not None and decision.strong_traps.trouble:
        return decision.strong_traps.trouble
    return "" if decision.model_use is None else decision.model_use.trouble


def _sets_traps(strategy: str) -> bool:
    """Whether a recorded strategy sets traps on purpose; False if unknown (strategies of other engines)."""
    kind = STRATEGIES.get(strategy)
    return kind is not None and kind.sets_traps


class _Board:
    """A position with its legal moves, keyed by their text."""

    def __init__(self, game: Game[Any], position: Any) -> None:
        self.game = game
        self.position = continued_position(game, position)
        self._moves = {game.move_text(move): move for move in game.legal_moves(self.position)}

    def move(self, text: str) -> Move:
        """Find a legal move by its text; the game's parser also reads earlier notations."""
        move_found = self._moves.get(text)
        return self.game.parse_move(self.position, text) if move_found is None else move_found

    def name(self, text: str) -> str:
        return self.game.move_name(self.position, self.move(text))

    def squares(self, text: str) -> tuple[str, ...]:
        return self.game.move_squares(self.move(text))

    def after(self, text: str) -> "_Board":
        return _Board(self.game, self.game.play(self.position, self.move(text)))

    def score(self, score_centi: float) -> str:
        return self.game.score_text(score_centi, self.position)


def decision_report(
    game: Game[Any],
    stored: StoredGame,
    made: StoredDecision,
    forecast: ReplyForecast | None,
    costs: ReplyCosts | None,
) -> DecisionReport:
    """Report on one decision.

    Args:
        game: The rules of the game.
        stored: The game in which the decision was made.
        made: The decision.
        forecast: How people are expected to reply; None if not known yet.
        costs: What the reply and others cost, by the judge; None if not known yet.

    Raises:
        ValueError: The record contradicts the rules or is inconsistent.
        EngineFault: The decision cannot be judged.
    """
    decision = made.decision
    before = _Board(game, game.for_search(game.parse_position(decision.position)))
    after = before.after(decision.move)
    reports = {c.move: _candidate(before, c, decision) for c in decision.candidates}
    exact = [report for report in reports.values() if not report.raw_is_bound]
    if not exact:
        raise RecordError(f"decision {made.id}: no candidate has an exact score")
    chosen = decision.chosen
    outcome = made.outcome
    if outcome is not None and (outcome.reply is None) is not (outcome.kind is OutcomeKind.UNANSWERED):
        raise RecordError(f"decision {made.id}: its outcome is {outcome.kind}, its reply {outcome.reply}")
    known = stored.moves[made.ply + 1] if len(stored.moves) > made.ply + 1 else None
    reply = known if outcome is None else outcome.reply
    verdicts = decision_verdicts(decision) if made.is_complete else None
    best = None if verdicts is None else verdicts.trap
    trap = None
    if best is not None:
        trap = TrapReport(best.reply, after.name(best.reply), best.quality, percent(best.quality / WHOLE, 1))
    searched = [profile for profile in chosen.replies if profile.bound_centi != UNSEARCHED]
    judged = _judged_replies(after, forecast, costs)
    best_reply = next(iter(judged.values()), None)
    replies = tuple(_reply(after, profile, verdicts, forecast, judged) for profile in searched)
    of_reply = None if outcome is None or outcome.reply is None else judged.get(outcome.reply)
    return DecisionReport(
        ply=made.ply,
        number=move_number(game, stored.moves, made.ply),
        count=move_count(stored.moves, made.ply),
        move=decision.move,
        name=reports[decision.move].name,
        squares=reports[decision.move].squares,
        strategy=decision.strategy,
        sets_traps=_sets_traps(decision.strategy),
        search_mode=decision.search_mode,
        pick=decision.pick,
        pick_text=_pick_text(before, decision.pick, reports[decision.move]),
        source=decision.source,
        draw=_draw(before, decision),
        weighed=_weighed(before, decision),
        refusal=_refusal(before, decision),
        model=decision.model,
        trouble=_trouble(decision),
        depth=decision.depth,
        time_s=decision.time_s,
        state=made.state,
        position=decision.position,
        rows_before=game.board_rows(before.position),
        rows_after=game.board_rows(after.position),
        # The standard player might play another one, equally good, whose raw value is not recorded.
        standard=max(exact, key=lambda report: report.raw_centi),
        chosen=reports[decision.move],
        candidates=tuple(reports.values()),
        is_complete=made.is_complete,
        is_trap=None if verdicts is None else verdicts.is_trap,
        trap=trap,
        is_decided=None if verdicts is None else verdicts.is_decided,
        is_lost=None if best_reply is None else _is_lost(after, best_reply.score_centi),
        forecast=_forecast(after, forecast, verdicts, outcome),
        replies=replies,
        reply=reply,
        reply_name=None if reply is None else after.name(reply),
        outcome=None if outcome is None else outcome.kind,
        fell_for_best=None if outcome is None else outcome.fell_for_best,
        best=best_reply,
        judged=of_reply,
        cost=None if of_reply is None else of_reply.cost,
        cost_text=None if of_reply is None else of_reply.cost_text,
    )


def _judged_replies(
    board: _Board, forecast: ReplyForecast | None, costs: ReplyCosts | None
) -> dict[str, JudgedReply]:
    """All replies that have been judged, the best one first."""
    known = [each for each in (costs, None if forecast is None else forecast.costs) if each is not None]
    known = [each for each in known if each.version == JUDGE_VERSION]
    if not known:
        return {}
    found: dict[str, ReplyCost] = {}
    # Where two judgements differ, as with and without tablebases, that of the reply played counts.
    for made in (known[0].best, *(reply for each in known for reply in each.replies)):
        found.setdefault(made.reply, made)
    # A reply searched by itself can prove better than the one that the search of all replies found.
    best = max((each for each in found.values() if each.is_best), key=lambda each: each.score_centi)
    found = {best.reply: best, **found}
    is_lost = best.score_centi > -WIN_CENTI and _is_lost(board, best.score_centi)
    return {reply: _judged_reply(board, best, each, is_lost=is_lost) for reply, each in found.items()}


def _judged_reply(board: _Board, best: ReplyCost, made: ReplyCost, *, is_lost: bool) -> JudgedReply:
    # In a lost position every reply costs little, even one that is mated.
    is_best = made.score_centi == best.score_centi if is_lost else made.is_best
    size = "" if is_best else _size_text(board, best.score_centi - made.score_centi)
    return JudgedReply(
        reply=made.reply,
        name=board.name(made.reply),
        squares=board.squares(made.reply),
        word=made.word,
        is_best=is_best,
        cost=made.cost,
        shown_cost=shown_cost(made),
        cost_text=size,
        score_centi=made.score_centi,
        score_text=board.score(made.score_centi),
        judge_depth=depth_from_move(board.game.name, made),
        is_solved=made.is_solved,
    )


def _is_lost(board: _Board, best_centi: int) -> bool:
    return expected_score(best_centi, board.game.expected_scale_centi(board.position)) < MIN_SMALL_COST


def shown_cost(made: ReplyCost) -> int:
    """See `JudgedReply.shown_cost`."""
    most = {ReplyWord.GOOD: MIN_SMALL_COST, ReplyWord.SMALL: MIN_ERROR_COST}.get(made.word, 2 * WHOLE)
    most = EQUAL_COST if made.is_best else most
    return min(made.cost, most - PER_PERCENT // 2 - 1)


def _draw(board: "_Board", decision: Decision) -> DrawReport | None:
    draw = decision.trial_draw
    if draw is None:
        return None
    trap_name, control_name = board.name(draw.trap), board.name(draw.control)
    return DrawReport(
        trap=draw.trap,
        trap_name=trap_name,
        control=draw.control,
        control_name=control_name,
        other_name=control_name if decision.move == draw.trap else trap_name,
        trap_value=draw.trap_value,
        control_value=draw.control_value,
        chance=draw.params.chance,
        seed=draw.seed,
    )


def _weighed(board: "_Board", decision: Decision) -> WeighedReport | None:
    use = decision.exploit
    if use is None or not use.contenders:
        return None
    contenders = tuple(
        ContenderReport(
            each.move,
            board.name(each.move),
            board.score(each.score_centi),
            round(each.value),
            0 if each.playouts is None else each.playouts.number,
        )
        for each in use.contenders
    )
    check = use.check
    refused = "" if check is None or check.stood else board.name(check.preferred)
    return WeighedReport(use.trust, contenders, refused)


def _refusal(board: "_Board", decision: Decision) -> RefusalReport | None:
    proof = decision.proof
    if proof is None or proof.stood:
        return None
    return RefusalReport(proof.preferred, board.name(proof.preferred), proof_cost(decision, proof))


def _forecast(
    board: "_Board", made: ReplyForecast | None, verdicts: ReplyVerdicts | None, outcome: Outcome | None
) -> ForecastReport | None:
    if made is None or verdicts is None:
        return None
    baits = sorted(made.baits, key=lambda each: -each.expected_loss)
    reply = None if outcome is None else outcome.reply
    return ForecastReport(
        model=made.model,
        is_judged=made.is_judged,
        baits=tuple(
            BaitReport(
                each.reply,
                board.name(each.reply),
                each.p_reply,
                each.cost.cost,
                depth_from_move(board.game.name, each.cost),
                each.cost.is_solved,
            )
            for each in baits
        ),
        error_probability=expectations(made, verdicts).error_expected,
        is_taken=None if reply is None or not baits else made.takes_bait(reply),
    )


def _candidate(board: _Board, candidate: Candidate, decision: Decision) -> CandidateReport:
    trap, use = candidate.trap, decision.model_use
    judged = _judged(candidate, decision)
    best = None if judged is None or not judged.is_trap else judged.trap
    return CandidateReport(
        move=candidate.move,
        name=board.name(candidate.move),
        squares=board.squares(candidate.move),
        raw_centi=candidate.raw_centi,
        raw_text=board.score(candidate.raw_centi),
        raw_is_bound=candidate.raw_is_bound,
        adjusted_centi=candidate.adjusted_centi,
        adjusted_text=_value_text(board, candidate.adjusted_centi, decision.params.scale),
        quality_centi=candidate.quality_centi,
        trap=trap,
        trap_name=None if trap is None else board.after(candidate.move).name(trap),
        sets_trap=None if judged is None else judged.is_trap,
        set_trap_name=None if best is None else board.after(candidate.move).name(best.reply),
        value=candidate.value,
        value_text=None
        if candidate.value is None or use is None
        else _value_text(board, candidate.value, use.value.scale),
    )


def _judged(candidate: Candidate, decision: Decision) -> ReplyVerdicts | None:
    """Judge a move; return None if not all of its replies are known."""
    try:
        return reply_verdicts(candidate, decision.params, expected_scale_centi(decision))
    except IncompleteProfile:
        return None


def _reply(
    board: _Board,
    profile: ReplyProfile,
    verdicts: ReplyVerdicts | None,
    forecast: ReplyForecast | None,
    judged_replies: Mapping[str, JudgedReply],
) -> ReplyReport:
    scores, final = profile.scores_centi, profile.final_centi
    judged = None if verdicts is None else verdicts.of(profile.reply)
    return ReplyReport(
        reply=profile.reply,
        name=board.name(profile.reply),
        squares=board.squares(profile.reply),
        scores_centi=scores,
        final_centi=final,
        our_text=board.score(final),
        their_text=board.score(-final),
        score_texts=tuple(board.score(-score) for score in scores),
        quality=0.0 if judged is None else judged.quality,
        is_paper_trap=judged is not None and verdicts is not None and verdicts.is_paper_trap(judged),
        judged=judged_replies.get(profile.reply),
        probability=profile.probability if forecast is None else forecast.probability_of(profile.reply),
    )


def _pick_text(board: _Board, pick: DirectMove | None, chosen: CandidateReport) -> str | None:
    if pick is None or pick.score_centi is None:
        return None
    is_mate = chosen.raw_centi >= WIN_CENTI and not chosen.raw_is_bound
    # The exact search may have found a shorter mate than the search that chose the move.
    return board.score(max(pick.score_centi, chosen.raw_centi) if is_mate else pick.score_centi)


def _value_text(board: _Board, value: float, scale: Scale | OpponentScale) -> str:
    """Format a value in its scale's unit: a share of a point, or a score."""
    return percent(value / WHOLE, 1) if scale == Scale.EXPECTED else board.score(value)


def _size_text(board: _Board, size_centi: float) -> str:
    """Format a difference between scores; unlike a score, it is shown without a sign."""
    if abs(size_centi) >= WIN_CENTI / 2:
        return "the game"
    return board.score(size_centi).removeprefix("+")
