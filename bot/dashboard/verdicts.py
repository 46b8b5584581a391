"""The verdict on one move of ours in words, as the arena's trap report gives it, for a third person."""

from collections.abc import Sequence
from dataclasses import dataclass
from enum import StrEnum

from bot.charts.boards import BoardMark, MarkKind
from bot.dashboard.trap_words import game_share, how_it_looks, looks_text, people_play, price, score_text
from engine.decision import OutcomeKind
from engine.expected import WHOLE
from engine.game import WIN_CENTI
from engine.judgement import ERROR
from storage.evidence.trap_report import BaitReport, DecisionReport, ReplyReport


class VerdictKind(StrEnum):
    """What a move of ours led to."""

    FELL = "fell"
    SAW = "saw"
    SLIPPED = "slipped"
    """The bait was left alone, and so was the best reply."""
    OPEN = "open"
    """A trap that nobody had to answer."""
    CALM = "calm"
    SLIP = "slip"
    LOOSE = "loose"
    """Not the best reply, but no slip."""
    DECIDED = "decided"
    FORCED = "forced"
    PENDING = "pending"
    REST = "rest"
    """No trap, and no reply."""

    @property
    def mood(self) -> str:
        """``trap``, ``good``, ``slip`` or empty: the colour."""
        return _MOODS.get(self, "")


_MOODS = {
    VerdictKind.FELL: "trap",
    VerdictKind.SAW: "good",
    VerdictKind.CALM: "good",
    VerdictKind.SLIPPED: "slip",
    VerdictKind.SLIP: "slip",
    VerdictKind.LOOSE: "slip",
}


@dataclass(frozen=True, slots=True)
class Fact:
    """One reply that matters."""

    kind: str
    """``trap``, ``fell``, ``slip``, ``good`` or ``best``."""
    term: str
    move: str
    text: str


@dataclass(frozen=True, slots=True)
class MomentVerdict:
    """What one move of ours led to."""

    kind: VerdictKind
    title: str
    story: tuple[str, ...]
    """Sentences, a paragraph each."""
    facts: tuple[Fact, ...]
    marks: tuple[BoardMark, ...]
    """On the board that the opponent faced."""


@dataclass(frozen=True, slots=True)
class _Moment:
    """A decision with its replies by their part in it."""

    decision: DecisionReport
    opponent: str
    unit: str
    baits: tuple[tuple[BaitReport, ReplyReport], ...]
    """Confirmed ones, the first is *the* bait; none in decided positions."""
    bests: tuple[ReplyReport, ...]
    best: ReplyReport | None
    """The best reply that is shown: the one that was played, if it is among them."""
    played: ReplyReport | None

    @property
    def cost(self) -> float:
        """Of the reply, as a share of the game."""
        return (self.decision.cost or 0) / WHOLE

    @property
    def missed(self) -> str:
        """What the reply cost, and which was better."""
        if self.played is None or self.best is None:
            return ""
        paid = price(self.cost, self.decision.cost_text, self.unit)
        return f"{self.played.name} cost {paid}; {self.best.name} was better."


def judge_moment(decision: DecisionReport, opponent: str, unit: str) -> MomentVerdict:
    """The verdict on a move.

    Args:
        decision: The move.
        opponent: Who answered it.
        unit: What scores count (`Game.score_unit`).
    """
    moment = _moment(decision, opponent, unit)
    kind = _kind(moment)
    title, line = _words(kind, moment)
    story = [_how_picked(decision), *_temptation(moment), line, _for_what(decision)]
    return MomentVerdict(
        kind, title, tuple(filter(None, story)), tuple(_facts(kind, moment)), tuple(_marks(moment))
    )


def _moment(decision: DecisionReport, opponent: str, unit: str) -> _Moment:
    by_reply = {each.reply: each for each in decision.replies}
    found = decision.forecast
    baits: Sequence[BaitReport] = ()
    if found is not None and found.is_confirmed and not decision.is_decided:
        baits = found.baits
    least = min((each.final_centi for each in decision.replies), default=0)
    bests = tuple(each for each in decision.replies if each.final_centi == least)
    played = by_reply.get(decision.reply or "")
    return _Moment(
        decision=decision,
        opponent=opponent,
        unit=unit,
        baits=tuple((bait, by_reply[bait.reply]) for bait in baits if bait.reply in by_reply),
        bests=bests,
        best=played if played in bests else next(iter(bests), None),
        played=played,
    )


def _kind(moment: _Moment) -> VerdictKind:
    decision = moment.decision
    if decision.outcome is None and (decision.reply is not None or not decision.is_complete):
        return VerdictKind.PENDING
    if decision.outcome in (None, OutcomeKind.UNANSWERED):
        return VerdictKind.OPEN if moment.baits else VerdictKind.REST
    if len(decision.replies) == 1:
        return VerdictKind.FORCED
    if moment.baits and decision.forecast is not None and decision.forecast.is_taken:
        return VerdictKind.FELL
    if decision.outcome is OutcomeKind.OPTIMAL:
        return VerdictKind.SAW if moment.baits else VerdictKind.CALM
    if moment.baits:
        return VerdictKind.SLIPPED
    if decision.is_decided:
        return VerdictKind.DECIDED
    return VerdictKind.SLIP if (decision.cost or 0) >= ERROR else VerdictKind.LOOSE


def _words(kind: VerdictKind, moment: _Moment) -> tuple[str, str]:
    """Title, and what became of the move."""
    who, played, best = moment.opponent, moment.played, moment.best
    reply = "" if played is None else played.name
    sound = "" if best is None else best.name
    trap = "the traps" if len(moment.baits) > 1 else "the trap"
    is_checked = moment.decision.forecast is not None and moment.decision.forecast.is_confirmed
    no_trap = "There was no bait here. " if is_checked else ""
    match kind:
        case VerdictKind.FELL:
            into = "a trap" if len(moment.baits) > 1 else "the trap"
            return f"{who} fell into {into}", f"{who} played {reply}; {sound} was the reply to find."
        case VerdictKind.SAW:
            return f"{who} saw through {trap}", f"{who} played {reply}, the best reply."
        case VerdictKind.SLIPPED:
            rest = "but a slip" if (moment.decision.cost or 0) >= ERROR else "best reply missed"
            return f"Trap avoided, {rest}", f"{who} left the bait alone, but {moment.missed}"
        case VerdictKind.OPEN:
            return "A trap that was never answered", "The game ended before the reply."
        case VerdictKind.CALM:
            title = f"{'No trap, and ' if is_checked else ''}{who} found the best reply"
            return title, f"{who} played {reply}, one of the best replies."
        case VerdictKind.SLIP:
            return "A slip", f"{no_trap}{moment.missed}"
        case VerdictKind.LOOSE:
            return "Not quite the best reply", f"{no_trap}{moment.missed}"
        case VerdictKind.DECIDED:
            is_lost = min((each.final_centi for each in moment.decision.replies), default=0) >= WIN_CENTI
            if is_lost:
                return "Already decided", "We win by force here, whatever the reply."
            return "Already decided", f"{who} could win by force here. {moment.missed}"
        case VerdictKind.FORCED:
            return f"{who} had only one reply", f"{reply} was forced, so nothing could go wrong."
        case VerdictKind.PENDING:
            return "Not judged yet", "What the replies were worth is not known yet."
        case VerdictKind.REST:
            return "The last move", "The game ended before our move was answered."


def _temptation(moment: _Moment) -> list[str]:
    lead = "A trap" if moment.decision.sets_traps else "A trap by accident"
    said = []
    for number, (bait, reply) in enumerate(moment.baits):
        who = people_play(bait.odds)
        first = f"Another: {who} {reply.name}." if number else f"{lead}: {who} {reply.name} here."
        looks = "" if moment.best is None else how_it_looks(reply, moment.best, moment.bests)
        said.append(" ".join(filter(None, (first, looks, f"It costs {game_share(bait.cost / WHOLE)}."))))
    return said


def _how_picked(decision: DecisionReport) -> str:
    """Where the move came from, if not from the player's own scores; empty: from those."""
    pick = decision.pick
    worth = f" ({score_text(decision.pick_text)})" if decision.pick_text else ""
    origin = f" ({pick.origin})" if pick is not None and pick.origin else ""
    depth = "" if pick is None else f", {pick.depth} plies deep"
    unmeant = "No trap was intended."
    source = "" if decision.source is None else decision.source.name
    if decision.search_mode == "strong":
        if pick is not None and pick.solved:
            return f"The game was solved to its end, and this is the best move{worth}. {unmeant}"
        return f"The best move of the strong search{depth}{worth}. {unmeant}"
    match decision.search_mode:
        case "book":
            return f"A move of the opening book{origin}{worth}. {unmeant}"
        case "tablebase":
            return f"A move of the endgame tablebase{worth}. {unmeant}"
        case "explorer":
            return f"A move of the online opening explorer{origin}. {unmeant}"
        case "online_tablebase":
            return f"A move of the online endgame tablebase{origin}{worth}. {unmeant}"
        case "engine_move":
            return f"The best move of another engine, {source}{depth}{worth}. {unmeant}"
        case "lot":
            return (
                "Drawn at random from the moves nearly as good as the best, so as not to repeat the last "
                f"games, or to play at a level. {unmeant}"
            )
        case "engine" if source:
            return f"The scores are from another engine, {source}, searching {decision.depth} plies deep."
        case _:
            pass
    if decision.trouble:
        return f"The model of people could not be used ({decision.trouble}); this is the best move."
    if decision.model is not None:
        return f"Chosen for what people are expected to reply ({decision.model.name})."
    return ""


def _for_what(decision: DecisionReport) -> str:
    standard, chosen = decision.standard, decision.chosen
    if not decision.sets_traps or standard.move == decision.move or not standard.raw_text:
        return ""
    by = "Plain minimax" if decision.source is None else decision.source.name
    return (
        f"{by} would have played {standard.name} ({score_text(standard.raw_text)}); "
        f"the {decision.player} player took {decision.name} ({score_text(chosen.raw_text)}) "
        "for what people reply to it."
    )


def _facts(kind: VerdictKind, moment: _Moment) -> list[Fact]:
    decision, played, best = moment.decision, moment.played, moment.best
    term = "A bait" if len(moment.baits) > 1 else "The bait"
    found = [
        Fact("trap", term, reply.name, looks_text(reply)) for _, reply in moment.baits if reply != played
    ]
    if played is not None:
        fell = kind is VerdictKind.FELL
        parts = [looks_text(played)] if fell else []
        if kind is VerdictKind.FORCED:
            parts.append("forced")
        elif decision.cost_centi:
            parts.append(f"cost {price(moment.cost, decision.cost_text, moment.unit)}")
        elif not fell:
            parts.append(looks_text(played))
        mood = "fell" if fell else "slip" if decision.cost_centi else "good"
        found.append(Fact(mood, "Bait taken" if fell else "Played", played.name, ", ".join(parts)))
    if best is not None and best != played and kind is not VerdictKind.FORCED:
        found.append(Fact("best", "Best was", best.name, looks_text(best)))
    return found


def _marks(moment: _Moment) -> list[BoardMark]:
    """Bait and sound reply, and what was played if it is neither; later ones lie on top."""
    baits = [reply for _, reply in moment.baits]
    found = []
    if moment.played is not None and moment.played not in (*baits, moment.best):
        found.append(BoardMark(MarkKind.PLAYED, moment.played.squares))
    if moment.best is not None:
        found.append(BoardMark(MarkKind.SOUND, moment.best.squares))
    found += [BoardMark(MarkKind.BAIT, reply.squares) for reply in baits]
    return [mark for mark in found if mark.squares]
