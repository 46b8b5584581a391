"""Loads, judges and describes one of our moves; a damaged record yields a reason instead of a failure."""

import asyncio
from collections.abc import Sequence
from dataclasses import dataclass

from sqlalchemy.ext.asyncio import AsyncSession

from bot.base.rounding import NO_VALUE, percent
from bot.charts.boards import BoardMark, MarkKind
from bot.charts.figure import ChartSize
from bot.charts.lines import ChartLine, LineChart
from bot.charts.numbers import NumberStyle
from bot.parts.values import Board, Column, Note, Story, TableCell, TablePart
from bot.text.bait_text import probability_text, score_text, short_name, with_depth
from bot.text.moment_text import MomentVerdict, judge_moment
from bot.text.trap_report import (
    BaitReport,
    CandidateReport,
    DecisionReport,
    JudgedReply,
    ReplyReport,
    decision_report,
)
from engine.decision import SearchMode
from engine.errors import IncompleteProfile, RecordError
from engine.expected import WHOLE, expected_score
from engine.figure_9 import expected_scale_centi
from engine.game import BadPosition, IllegalMove
from engine.games import GAMES, get_rules
from engine.human.reply_forecast import ReplyForecast
from engine.judge import ReplyCosts
from storage.errors import reason_of
from storage.ledger.decisions import get_decision, load_decisions_by_id
from storage.ledger.forecasts import get_forecast, load_forecasts
from storage.ledger.games import load_games_by_id
from storage.ledger.judgements import load_judgements
from storage.records import StoredDecision, StoredGame

_MARKS = {
    "trap": MarkKind.BAIT,
    "fell": MarkKind.BAIT,
    "best": MarkKind.GOOD,
    "good": MarkKind.GOOD,
    "played": MarkKind.PLAYED,
}
_ORDER = (MarkKind.PLAYED, MarkKind.GOOD, MarkKind.BAIT)
_SHARE = NumberStyle(unit=" %")


@dataclass(frozen=True, slots=True)
class Moment:
    """One of our moves with its verdict."""

    game: str
    """Name of the game."""
    our_side: int
    unit: str
    """The unit of scores; empty if there is none."""
    opponent: str
    decision: DecisionReport
    verdict: MomentVerdict
    values: tuple[tuple[float, ...], ...]
    """The opponent's expected score (0 to 1) after each reply, by depth from 2 plies; empty if unknown."""
    scale_centi: float
    """The scale of expected scores in this position (`engine.figure_9.expected_scale_centi`)."""

    @property
    def marks(self) -> tuple[BoardMark, ...]:
        """The replies to mark on the board; later marks cover earlier ones."""
        marks = [BoardMark(_MARKS[each.kind], each.squares) for each in self.verdict.marks]
        return tuple(sorted(marks, key=lambda mark: [*_ORDER].index(mark.kind)))

    @property
    def board(self) -> Board:
        """The board that the opponent faced, with the bait, the good reply and the reply played."""
        return Board(
            self.game,
            self.decision.rows_after,
            f"After {self.decision.name}",
            self.our_side,
            self.decision.squares,
            self.marks,
        )

    @property
    def best(self) -> ReplyReport | None:
        """The best reply by the judge; None if it is not known yet or has no scores of its own."""
        best = self.decision.best
        replies = (each for each in self.decision.replies if best is not None and each.reply == best.reply)
        return next(replies, None)

    @property
    def is_checked(self) -> bool:
        """Whether we know which replies tempt people."""
        return self.decision.forecast is not None and self.decision.forecast.is_judged

    @property
    def is_judged(self) -> bool:
        """Whether we know which replies are baits; a forced reply is never a bait."""
        return self.decision.is_complete and (self.is_checked or len(self.decision.replies) < 2)

    @property
    def is_dropped(self) -> bool:
        """Whether the game ended before the server accepted the move."""
        return self.decision.state == "dropped"

    @property
    def baits(self) -> tuple[BaitReport, ...]:
        """The baits; empty in decided positions and for moves that were never played."""
        found = self.decision.forecast
        if found is None or not found.is_judged or self.decision.is_decided or self.is_dropped:
            return ()
        return found.baits

    @property
    def replies(self) -> list[ReplyReport]:
        """The replies to the move: the judge's best one, then by the opponent's score at the full depth."""
        best = self.best
        return sorted(self.decision.replies, key=lambda each: (each is not best, each.final_centi))

    @property
    def candidates(self) -> list[CandidateReport]:
        """Our legal moves, sorted by the deciding score, best first."""
        is_by_value = self.decision.chosen.value_text is not None

        def rank(each: CandidateReport) -> tuple[float, int]:
            value = float("-inf") if each.value is None else each.value
            return (value if is_by_value else each.adjusted_centi), each.raw_centi

        return sorted(self.decision.candidates, key=rank, reverse=True)

    # --- Parts ------------------------------------------------------------------------------------------

    @property
    def story(self) -> Story:
        """Our verdict on the move, followed by the verdict in the paper's sense."""
        told, verdict = self.decision, self.verdict
        effort = f"{_search(told)}, {told.time_s:.2f} s"
        before = f"Move {told.number} · we played {told.name} · {effort}"
        if self.is_dropped:
            said = "The game ended before the server accepted the move."
            return Story(before, "Never played", "", (said,))
        return Story(
            before,
            str(verdict.title),
            verdict.kind.mood,
            (*map(str, verdict.story), *([_paper_trap(told)] if told.is_complete else [])),
            tuple((each.kind, str(each.term), each.move.name, str(each.text)) for each in verdict.facts),
            self._shallow_chart,
        )

    @property
    def _shallow_chart(self) -> LineChart | None:
        """The scores by depth of the best reply and of a bait or the reply played; None without these two."""
        decision, best = self.decision, self.best
        baits = {bait.reply for bait in self.baits}
        tempting = [each for each in decision.replies if each.reply in baits]
        wanted = [each for each in tempting if each.reply == decision.reply] + tempting
        wanted += [each for each in decision.replies if each.reply == decision.reply]
        other = next((each for each in wanted if each != best), None)
        if not self.values or best is None or other is None or len(best.scores_centi) < 2:
            return None
        names = {best.reply: "best", other.reply: "bait" if other.reply in baits else "played"}
        return LineChart(
            title="Scores of the replies by depth",
            description=f"Expected score after {best.name} and {other.name}, from the opponent's view; "
            f"beyond depth {decision.depth}, the judge's.",
            x_name="plies ahead",
            lines=tuple(self._line(reply, names[reply.reply]) for reply in (best, other)),
            y_style=_SHARE,
            size=ChartSize.HALF,
        )

    def _line(self, reply: ReplyReport, name: str) -> ChartLine:
        """A reply's scores by depth, followed by the judge's score at its greater depth."""
        values = list(self.values[self.decision.replies.index(reply)])
        depths, judged = list(range(2, 2 + len(values))), reply.judged
        depth = 0 if judged is None else judged.judge_depth or 0
        if judged is not None and depth > max(depths, default=1):
            depths.append(depth)
            values.append(expected_score(judged.score_centi, self.scale_centi) / WHOLE)
        return ChartLine(f"{reply.name}, {name}", tuple(depths), tuple(100 * each for each in values))

    @property
    def reply_table(self) -> TablePart:
        """A table of the replies: their values, and how likely people are to play them."""
        told, baits = self.decision, {bait.reply for bait in self.baits}
        by = ""
        if told.forecast is not None:
            by = f", by a model of people ({told.forecast.model.name})"
            if told.forecast.model.kind == "looks":
                by = ", judged by shallow scores"
        depths = sorted({2, 3, told.depth} - ({3} if told.depth < 3 else set()))
        rows: list[tuple[TableCell | str, ...]] = []
        for each in self.replies:
            judged = each.judged
            tags = [("best", "good")] if judged is not None and judged.is_best else []
            tags += [("bait", "trap")] if each.reply in baits else []
            tags += [("played", "")] if each.reply == told.reply else []
            scores = dict(enumerate(each.score_texts, start=2)) | {told.depth: each.their_text}
            rows.append(
                (
                    TableCell(each.name, tags=tuple(tags)),
                    *(score_text(scores.get(depth)) for depth in depths),
                    NO_VALUE if judged is None else percent(judged.cost / WHOLE, 1),
                    judge_depth_text(judged),
                    probability_text(each.probability),
                )
            )
        unit = f", in {self.unit}" if self.unit else ""
        columns = (*(f"At depth {depth}" for depth in depths), "Judge's cost", "Judge's depth", "Expected")
        return TablePart(
            "Values of the replies",
            (Column("Reply", is_text=True), *map(Column, columns)),
            tuple(rows),
            f"Their view{unit}. Depths count plies from our move on. Judge's cost: a share of the game, "
            "by a deep search of the reply played, the best one, the likeliest two, and in positions of the "
            "trainer every reply. "
            f"Expected: probability that people play it{by}.",
            nothing="No reply is recorded.",
            records="replies",
            style="long",
            key="replies",
        )

    @property
    def candidate_table(self) -> TablePart:
        """A table of our legal moves, like the paper's Figure 8."""
        told = self.decision
        is_by_value = told.chosen.value_text is not None
        rows = []
        for each in self.candidates:
            tags = [("played", "")] if each.move == told.move else []
            tags += [("best score", "good")] if each.move == told.standard.move else []
            if told.draw is not None and each.name == told.draw.other_name:
                tags.append(("drawn against", ""))
            decisive = each.value_text if is_by_value else None if each.raw_is_bound else each.adjusted_text
            rows.append(
                (
                    TableCell(each.name, tags=tuple(tags)),
                    f"{'≤ ' * each.raw_is_bound}{score_text(each.raw_text)}",
                    score_text(decisive),
                    each.trap_name or NO_VALUE,
                    "?" if each.sets_trap is None else each.set_trap_name or NO_VALUE,
                )
            )
        source = "plain minimax" if told.source is None else told.source.name
        way = "With bonus: trappy minimax, which adds a bonus for a deceptive reply"
        if is_by_value:
            way = "Promise: the average over the replies that people are expected to make"
        return TablePart(
            "Our legal moves",
            (
                Column("Move", is_text=True),
                Column("Score"),
                Column("Promise" if is_by_value else "With bonus"),
                Column("Bonus for", is_text=True),
                Column("Paper's trap", is_text=True),
            ),
            tuple(rows),
            f"Our view. Score: by {source}. {way}. ≤: proven too low to matter. Paper's trap: a reply whose "
            "quality (trappiness times cost) reaches the threshold, whether or not it tempts people "
            "(?: not all replies are known).",
            records="candidates",
            style="long",
            key="candidates",
        )

    @property
    def choice(self) -> tuple[Note | TablePart, ...]:
        """How the move was chosen, if at random or by the errors expected of the person."""
        return (*self._draw_note, *self._weighing)

    @property
    def _weighing(self) -> tuple[Note | TablePart, ...]:
        weighed = self.decision.weighed
        if weighed is None:
            return ()
        trust = f"trust {percent(weighed.trust)}"
        if len(weighed.contenders) < 2:
            return (Note(f"No other move was compared with the best one; {trust}.", "The choice"),)
        rows = []
        for number, each in enumerate(weighed.contenders):
            tags = [("best", "good")] if not number else []
            tags += [("played", "")] if each.move == self.decision.move else []
            tags += [("refused", "")] if each.name == weighed.refused_name else []
            worth = percent(each.value / WHOLE, 1)
            score = score_text(each.score_text)
            rows.append((TableCell(each.name, tags=tuple(tags)), score, worth, str(each.playouts)))
        names = ("Move", "Score", "Worth", "Playouts")
        return (
            TablePart(
                "Moves compared",
                tuple(Column(each, is_text=each == "Move") for each in names),
                tuple(rows),
                "Moves compared: the score is by the search, of one depth for all; the worth is our expected "
                "score against this person, by playouts against the model; few change little. Best: by the "
                "search alone. Refused: worth most, but a deeper search found that it gives up too much.",
                aside=trust,
                style="long",
                key="contenders",
            ),
        )

    @property
    def _draw_note(self) -> tuple[Note, ...]:
        """A note on the random choice that decided the move; empty if the move was not chosen at random."""
        draw = self.decision.draw
        if draw is None:
            return ()
        values = [percent(value / WHOLE, 1) for value in (draw.trap_value, draw.control_value)]
        return (
            Note(
                f"A random draw decided between {draw.trap_name}, which sets a trap and is worth "
                f"{values[0]}, and {draw.control_name}, which sets none and is worth {values[1]}. The trap "
                f"had a probability of {percent(draw.chance)}; drawn: {self.decision.name}. "
                f"Seed `{draw.seed}`. "
                "Shares are our expected score.",
                "The draw",
            ),
        )

    @property
    def forecast_table(self) -> TablePart:
        """A table of how people were expected to reply."""
        told = self.decision
        rows: list[tuple[str, str]] = []
        if told.forecast is not None:
            baits = [
                f"{bait.name}: {probability_text(bait.probability)} likely, costs "
                f"{with_depth(percent(bait.cost / WHOLE), bait)}"
                for bait in told.forecast.baits
            ]
            checked = "not yet, so no bait is named"
            if told.forecast.is_judged:
                checked = "by the judge"
            rows = [
                ("An error", probability_text(told.forecast.error_probability)),
                *(("A bait", text) for text in baits or ["none"]),
                ("Checked", checked),
                ("Model", told.forecast.model.name),
                ("Taken", {None: NO_VALUE, True: "yes", False: "no"}[told.forecast.is_taken]),
            ]
        why = "" if told.is_complete else ": not all replies were examined"
        return facts_table("What was expected", rows, f"There is no forecast of the reply{why}.")


def judge_depth_text(judged: JudgedReply | None) -> str:
    """The depth in plies to which a reply was judged, or ``solved``; a dash if it was not judged."""
    if judged is None:
        return NO_VALUE
    if judged.is_solved:
        return "solved"
    return NO_VALUE if judged.judge_depth is None else str(judged.judge_depth)


def facts_table(title: str, rows: Sequence[tuple[str, str]], nothing: str = "") -> TablePart:
    """A table of named facts."""
    columns = (Column("", is_text=True), Column("", is_text=True, is_long=True))
    return TablePart(title, columns, tuple(rows), nothing=nothing, style="facts")


def _search(decision: DecisionReport) -> str:
    """Describe the search that found the move."""
    pick, source = decision.pick, decision.source
    if source is not None and pick is None:
        return f"depth {decision.depth} by {source.name}"
    if decision.search_mode == SearchMode.VARIETY_DRAW:
        return f"chosen at random, depth {decision.depth}"
    if decision.search_mode == SearchMode.PERSON:
        return f"drawn from a model of people's moves, depth {decision.depth}"
    if pick is None:
        return f"depth {decision.depth}"
    if source is not None:
        found = f"depth {pick.depth} by {source.name}"
    elif decision.search_mode not in (
        SearchMode.STRONG,
        SearchMode.EXPLOIT,
        SearchMode.STRONG_TRAPS,
    ):  # an opening book or an endgame tablebase
        found = f"{decision.search_mode} ({pick.origin})" if pick.origin else decision.search_mode
    else:
        sure = f" at {pick.confidence} % confidence" if pick.confidence else ""
        found = "solved" if pick.solved else f"depth {pick.depth}{sure}"
    score = "" if decision.pick_text is None else f", {score_text(decision.pick_text)}"
    return f"{found}{score}, replies searched to depth {decision.depth}"


def _paper_trap(decision: DecisionReport) -> str:
    """Describe, in one sentence, the trap in the paper's sense."""
    if decision.trap is None:
        return f"No trap in the paper's sense at depth {decision.depth}."
    if not decision.is_trap:
        return f"No trap in the paper's sense at depth {decision.depth} that is large enough to count."
    accident = "" if decision.sets_traps else " by accident"
    quality = percent(decision.trap.quality / WHOLE, 1)
    trap = f"The paper's trap{accident} at depth {decision.depth}: {decision.trap.name}, quality {quality}."
    if decision.outcome is None or decision.reply is None:
        return trap
    best = " for the best trap" if decision.fell_for_best else ""
    return f"{trap} Figure 9 at that depth: {decision.outcome.replace('_', ' ')}{best}."


async def read_moments(session: AsyncSession, keys: Sequence[tuple[int, int]]) -> list[Moment | str]:
    """Load our moves with the given keys; a damaged record yields the reason as text instead.

    Args:
        session: Session of the transaction.
        keys: Game key and decision key of each move.

    Raises:
        StorageError: The database failed.
    """
    games = await load_games_by_id(session, [game for game, _ in keys])
    decision_ids = [decision for _, decision in keys]
    try:
        decisions = await load_decisions_by_id(session, decision_ids)
        forecasts = await load_forecasts(session, decision_ids)
        costs = await load_judgements(session, decision_ids)
    except RecordError as error:
        if len(keys) == 1:
            return [reason_of(error)]
        # One such record hides the others.
        return [moment for each in keys for moment in await read_moments(session, [each])]
    rows = [(games.get(game), decisions.get(key), forecasts.get(key), costs.get(key)) for game, key in keys]
    # Naming all replies is slow and must not block the event loop.
    return await asyncio.to_thread(lambda: [_moment(*row) for row in rows])


async def read_moment_of(session: AsyncSession, stored: StoredGame, ply: int) -> Moment | str:
    """Describe one move of a game already loaded; if its record is damaged, return the reason."""
    try:
        decision = await get_decision(session, stored.id, ply)
        forecast = None if decision is None else await get_forecast(session, decision.id)
        costs = {} if decision is None else await load_judgements(session, [decision.id])
    except RecordError as error:
        return reason_of(error)
    judged = None if decision is None else costs.get(decision.id)
    return await asyncio.to_thread(_moment, stored, decision, forecast, judged)


def _moment(
    stored: StoredGame | None,
    made: StoredDecision | None,
    forecast: ReplyForecast | None,
    costs: ReplyCosts | None,
) -> Moment | str:
    if stored is None or made is None:
        return "its game is gone" if stored is None else "it is gone"
    if stored.game not in GAMES:
        return f"this program does not know the rules of {stored.game!a:.40}"
    try:
        report = decision_report(get_rules(stored.game), stored, made, forecast, costs)
        scale = expected_scale_centi(made.decision)
        values = tuple(_values(reply.scores_centi, scale) for reply in report.replies)
        return moment_of(stored, report, values, scale)
    except (BadPosition, IllegalMove, IncompleteProfile, RecordError) as error:
        return reason_of(error)


def moment_of(
    stored: StoredGame,
    report: DecisionReport,
    values: tuple[tuple[float, ...], ...] = (),
    scale_centi: float = 0.0,
) -> Moment:
    """Describe a move that already has its report.

    Args:
        stored: The game in which the move was made.
        report: Report on the move.
        values: As in `Moment`; if empty, there is no chart.
        scale_centi: As in `Moment`; needed for a chart only.
    """
    unit, name = get_rules(stored.game).score_unit, short_name(stored.opponent_name)
    return Moment(
        game=stored.game,
        our_side=stored.our_side,
        unit=unit,
        opponent=stored.opponent_name,
        decision=report,
        verdict=judge_moment(report, name, stored.account or "the bot", unit),
        values=values,
        scale_centi=scale_centi,
    )


def _values(scores_centi: Sequence[int], scale_centi: float) -> tuple[float, ...]:
    return tuple(1 - expected_score(score, scale_centi) / WHOLE for score in scores_centi)
