"""The verdict on a reply to one of our moves: its kind, and sentences that explain it.

What a reply is called, what it cost and which reply was best are the judge's verdict (`engine.judge`); until
it is there, nothing is said about them. A reply is judged by its cost first, so throwing away a won game is
a slip even if the game was decided.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from enum import StrEnum
from typing import Any

from bot.base.rounding import NO_VALUE
from bot.text.bait_text import (
    bait_comparison,
    bait_costs,
    game_share,
    judged_share,
    people_play,
    price,
    score_part,
    scores_part,
    with_depth,
)
from bot.text.sentence import (
    BracketText,
    JoinedText,
    MoveText,
    Sentence,
    ShareText,
    TextPart,
    WhoText,
    part_json,
)
from bot.text.trap_report import BaitReport, DecisionReport, JudgedReply, RefusalReport, ReplyReport
from engine.decision import OutcomeKind, SearchMode
from engine.expected import WHOLE
from engine.game import WIN_CENTI
from engine.judge import ReplyWord
from storage.evidence.slips import is_slip


class MomentKind(StrEnum):
    """Possible outcomes of our moves."""

    TOOK_BAIT = "fell"
    """The reply took the bait."""
    SAW = "saw"
    """The reply was the best one, although there was a bait."""
    AVOIDED = "avoided"
    """The reply avoided the bait; it was neither a best reply nor an error."""
    SLIPPED = "slipped"
    """The reply avoided the bait but was an error."""
    OPEN = "open"
    """Our move set a trap but was the last move of the game, so there was no reply."""
    CALM = "calm"
    """There was no bait, and the reply was the best one."""
    SLIP = "slip"
    """The reply was an error; no bait was taken."""
    LOOSE = "loose"
    """The reply was neither a best one nor an error."""
    DECIDED = "decided"
    """We win by force, or are winning by far, whatever the reply."""
    FORCED = "forced"
    """There was only one reply."""
    PENDING = "pending"
    """The move is still being analysed: its replies are not known yet."""
    JUDGING = "judging"
    """The reply has not been judged yet."""
    REST = "rest"
    """There was no trap and no reply."""

    @property
    def is_slip(self) -> bool:
        """Whether the reply was a slip."""
        return self in (MomentKind.SLIP, MomentKind.SLIPPED)

    @property
    def mood(self) -> str:
        """Colour of the outcome: ``trap``, ``good``, ``slip``, or empty."""
        return _MOODS.get(self, "")


_MOODS = {
    MomentKind.TOOK_BAIT: "trap",
    MomentKind.SAW: "good",
    MomentKind.CALM: "good",
    MomentKind.AVOIDED: "slip",
    MomentKind.SLIPPED: "slip",
    MomentKind.SLIP: "slip",
    MomentKind.LOOSE: "slip",
}
_LABELS: Mapping[MomentKind, Sentence] = {
    MomentKind.TOOK_BAIT: Sentence("bait taken", you="you took the bait"),
    MomentKind.SAW: Sentence("seen through", you="you saw through the trap"),
    MomentKind.AVOIDED: Sentence("avoided the trap, but not quite the best reply"),
    MomentKind.SLIPPED: Sentence("avoided the trap, but a slip"),
    MomentKind.OPEN: Sentence("trap not answered"),
    MomentKind.CALM: Sentence("good reply"),
    MomentKind.SLIP: Sentence("a slip"),
    MomentKind.LOOSE: Sentence("not quite the best reply"),
    MomentKind.DECIDED: Sentence("already decided"),
    MomentKind.FORCED: Sentence("only one reply"),
    MomentKind.PENDING: Sentence("still being analysed"),
    MomentKind.JUDGING: Sentence("not judged yet"),
    MomentKind.REST: Sentence("not answered"),
}
_MARKS: Mapping[str, Sentence] = {
    "trap": Sentence("the bait is {move}"),
    "best": Sentence("the best reply is {move}"),
    "played": Sentence("{move} was played", you="you played {move}"),
    "fell": Sentence("the bait {move} was taken", you="you took the bait {move}"),
    "good": Sentence("{move}, a good reply, was played", you="you played {move}, a good reply"),
}


@dataclass(frozen=True, slots=True)
class MomentFact:
    """A fact about one reply: a label, the move and a comment."""

    kind: str
    """``trap``, ``fell``, ``slip``, ``good``, ``played`` or ``best``."""
    term: Sentence
    move: MoveText
    text: TextPart


@dataclass(frozen=True, slots=True)
class MomentMark:
    """A reply that is marked on the board."""

    kind: str
    """``trap`` (a bait), ``best``, ``played``, ``fell`` (a bait that was played) or ``good``."""
    squares: tuple[str, ...]
    text: Sentence
    """The meaning of the mark, for people who cannot see the board."""


@dataclass(frozen=True, slots=True)
class MomentVerdict:
    """The verdict on one move of ours."""

    kind: MomentKind
    is_trap: bool
    """Whether there was a bait."""
    title: Sentence
    story: tuple[TextPart, ...]
    """All paragraphs of the verdict, including `baits` and `outcome`."""
    baits: tuple[TextPart, ...]
    """One entry per bait: its probability, appearance and cost."""
    outcome: TextPart | None
    """The opponent's reply, or None if unknown."""
    facts: tuple[MomentFact, ...]
    marks: tuple[MomentMark, ...]
    """Marks to show on the board that the opponent faced."""
    entry: Sentence | None
    """The trap in one sentence, for a list of all traps; None if there is no trap."""

    @property
    def label(self) -> Sentence:
        """The outcome of the move in a few words."""
        return _LABELS[self.kind]

    def texts(self) -> dict[str, Any]:
        """Return plain JSON values, with the texts in English."""
        return {
            "kind": self.kind,
            "title": str(self.title),
            "story": [str(each) for each in self.story],
            "facts": [
                {"kind": each.kind, "term": str(each.term), "move": each.move.name, "text": str(each.text)}
                for each in self.facts
            ],
            "marks": [{"kind": each.kind, "squares": each.squares} for each in self.marks],
        }

    def to_json(self) -> dict[str, Any]:
        """Return plain JSON values; each text has the form that `Sentence.to_json` returns."""
        return {
            "kind": self.kind,
            "is_trap": self.is_trap,
            "is_slip": self.kind.is_slip,
            "label": self.label.to_json(),
            "title": self.title.to_json(),
            "story": [part_json(each) for each in self.story],
            "facts": [
                {
                    "kind": each.kind,
                    "term": each.term.to_json(),
                    "move": part_json(each.move),
                    "text": part_json(each.text),
                }
                for each in self.facts
            ],
            "marks": [
                {"kind": each.kind, "squares": each.squares, "text": each.text.to_json()}
                for each in self.marks
            ],
            "entry": None if self.entry is None else self.entry.to_json(),
        }


@dataclass(frozen=True, slots=True)
class _Moment:
    """A decision, with its replies sorted by role."""

    decision: DecisionReport
    name: WhoText
    """The opponent."""
    bot: WhoText
    unit: str
    baits: tuple[tuple[BaitReport, ReplyReport], ...]
    """The baits, the first being *the* bait; empty in decided positions."""
    bests: tuple[JudgedReply, ...]
    """The replies that are known to be best; the first is named: the reply played, if it is one of them."""
    played: ReplyReport | None

    @property
    def best(self) -> JudgedReply | None:
        """The best reply to name; None until the reply is judged."""
        return self.bests[0] if self.bests and self.decision.judged is not None else None

    @property
    def is_best(self) -> bool:
        """Whether the reply is one of the best."""
        return self.decision.judged is not None and self.decision.judged.is_best

    @property
    def is_good(self) -> bool:
        """Whether the reply is good."""
        return self.decision.judged is not None and self.decision.judged.word is ReplyWord.GOOD

    @property
    def is_checked(self) -> bool:
        """Whether it is known which replies are baits."""
        return self.decision.forecast is not None and self.decision.forecast.is_judged

    @property
    def arguments(self) -> dict[str, TextPart]:
        """The values for the placeholders in sentences."""
        arguments: dict[str, TextPart] = {"name": self.name, "bot": self.bot}
        if self.played is not None:
            arguments["move"] = MoveText(self.played.name)
        if self.best is not None:
            arguments["best"] = MoveText(self.best.name)
        return arguments

    @property
    def missed(self) -> Sentence:
        """State the reply's cost, and name the better reply."""
        return Sentence(
            "{move} cost {price}; {best} was better.",
            {**self.arguments, "price": self.price},
            you="{move} cost you {price}; {best} was better.",
        )

    @property
    def price(self) -> TextPart:
        """The reply's cost, with the depth to which it holds."""
        judged = self.decision.judged
        if judged is None:
            return NO_VALUE
        paid = price(judged_share(judged), judged.cost_text, self.unit)
        return with_depth(paid, judged)


def judge_moment(
    decision: DecisionReport,
    name: str,
    bot: str,
    unit: str,
    *,
    is_blind: bool = False,
) -> MomentVerdict:
    """Judge one of our moves and the reply to it.

    Args:
        decision: The report on the move.
        name: The opponent's name.
        bot: The bot's name.
        unit: The unit of scores (`Game.score_unit`).
        is_blind: Whether to hide the strategy and its method.
    """
    moment = _moment(decision, name, bot, unit)
    kind = _kind(moment)
    title, line = _title_and_outcome(kind, moment)
    origin = [] if is_blind else [_pick_source(moment), _model_use(moment)]
    baits = _temptation(moment, is_blind=is_blind)
    story = (*origin, *baits, line)
    reason = None if is_blind else _plain_search_move(moment)
    return MomentVerdict(
        kind=kind,
        is_trap=bool(moment.baits),
        title=title,
        story=tuple(each for each in (*story, reason) if each is not None),
        baits=tuple(baits),
        outcome=line,
        facts=tuple(_facts(kind, moment, is_blind=is_blind)),
        marks=tuple(_marks(moment)),
        entry=_bait_probability_text(kind, moment),
    )


def _moment(decision: DecisionReport, name: str, bot: str, unit: str) -> _Moment:
    by_reply = {each.reply: each for each in decision.replies}
    forecast = decision.forecast
    baits: Sequence[BaitReport] = ()
    if forecast is not None and forecast.is_judged and not decision.is_decided:
        baits = sorted(forecast.baits, key=lambda each: -each.probability * each.cost)
    judged = (decision.judged, decision.best, *(each.judged for each in decision.replies))
    bests = {each.reply: each for each in judged if each is not None and each.is_best}
    return _Moment(
        decision=decision,
        name=WhoText("person", name),
        bot=WhoText("bot", bot),
        unit=unit,
        baits=tuple((bait, by_reply[bait.reply]) for bait in baits if bait.reply in by_reply),
        bests=tuple(bests.values()),
        played=by_reply.get(decision.reply or ""),
    )


def _kind(moment: _Moment) -> MomentKind:
    decision, has_bait = moment.decision, bool(moment.baits)
    if decision.outcome is None and (decision.reply is not None or not decision.is_complete):
        return MomentKind.PENDING
    if decision.outcome in (None, OutcomeKind.UNANSWERED):
        return MomentKind.OPEN if has_bait else MomentKind.REST
    if len(decision.replies) == 1:
        return MomentKind.FORCED
    if decision.judged is None:
        return MomentKind.JUDGING
    if has_bait and decision.forecast is not None and decision.forecast.is_taken:
        return MomentKind.TOOK_BAIT
    if is_slip(decision.judged.cost, is_taken=False, is_decided=decision.is_decided):
        return MomentKind.SLIPPED if has_bait else MomentKind.SLIP
    if decision.is_lost or _is_lost_by_force(moment):
        return MomentKind.DECIDED
    if decision.judged.word is ReplyWord.GOOD:
        return MomentKind.SAW if has_bait else MomentKind.CALM
    return MomentKind.AVOIDED if has_bait else MomentKind.LOOSE


def _title_and_outcome(kind: MomentKind, moment: _Moment) -> tuple[Sentence, TextPart | None]:
    """The title and the outcome of the move."""
    arguments, missed = moment.arguments, moment.missed
    are_many = len(moment.baits) > 1
    match kind:
        case MomentKind.TOOK_BAIT:
            return _took_bait(moment)
        case MomentKind.SAW if are_many:
            return Sentence(
                "{name} saw through the traps", arguments, you="You saw through the traps"
            ), _played_good(moment)
        case MomentKind.SAW:
            return Sentence(
                "{name} saw through the trap", arguments, you="You saw through the trap"
            ), _played_good(moment)
        case MomentKind.AVOIDED | MomentKind.SLIPPED:
            title = Sentence("Trap avoided, but a slip")
            if kind is MomentKind.AVOIDED:
                title = Sentence("Trap avoided, best reply missed")
            if are_many:
                return title, Sentence(
                    "{name} left the baits alone, but {missed}",
                    {**arguments, "missed": missed},
                    you="You left the baits alone, but {missed}",
                )
            return title, Sentence(
                "{name} left the bait alone, but {missed}",
                {**arguments, "missed": missed},
                you="You left the bait alone, but {missed}",
            )
        case MomentKind.OPEN:
            return Sentence("A trap that was never answered", you="A trap you never had to answer"), (
                None if moment.decision.outcome is None else _unanswered(moment)
            )
        case MomentKind.CALM:
            title = Sentence("{name} found a good reply", arguments, you="You found a good reply")
            if moment.is_checked:
                title = Sentence(
                    "No trap, and {name} found a good reply",
                    arguments,
                    you="No trap, and you found a good reply",
                )
            return title, _played_good(moment)
        case MomentKind.SLIP:
            return Sentence("A slip"), JoinedText([*_before_missed(moment), missed])
        case MomentKind.LOOSE:
            return Sentence("Not quite the best reply"), JoinedText([*_before_missed(moment), missed])
        case MomentKind.DECIDED if _is_lost_by_force(moment):
            return Sentence("Already decided"), Sentence(
                "{bot} wins by force here, whatever the reply.",
                arguments,
                you="{bot} wins by force here, whatever you reply.",
            )
        case MomentKind.DECIDED:
            return Sentence("Already decided"), Sentence(
                "{bot} is winning by far here, whatever the reply.",
                arguments,
                you="{bot} is winning by far here, whatever you reply.",
            )
        case MomentKind.FORCED:
            return _forced(moment)
        case MomentKind.PENDING:
            return Sentence("Still being analysed"), Sentence(
                "{bot} is still working out what the replies were worth.", arguments
            )
        case MomentKind.JUDGING:
            return Sentence("Not judged yet"), Sentence(
                "{name} played {move}. A deep search that judges the reply has not run yet.",
                arguments,
                you="You played {move}. A deep search that judges your reply has not run yet.",
            )
        case MomentKind.REST:
            return Sentence("The last move"), Sentence(
                "The game ended before {bot}'s move was answered.", arguments
            )


def _played_good(moment: _Moment) -> Sentence:
    if not moment.is_best:
        return moment.missed
    return Sentence(
        "{name} played {move}, one of the best replies.",
        moment.arguments,
        you="You played {move}, one of the best replies.",
    )


def _took_bait(moment: _Moment) -> tuple[Sentence, Sentence]:
    if len(moment.baits) > 1:
        return Sentence("{name} took a bait", moment.arguments, you="You took a bait"), Sentence(
            "{name} played {move}; {best} was the reply to find.",
            moment.arguments,
            you="You played {move}; {best} was the reply to find.",
        )
    return Sentence("{name} took the bait", moment.arguments, you="You took the bait"), Sentence(
        "{name} played {move}; {best} was the reply to find.",
        moment.arguments,
        you="You played it; {best} was the reply to find.",
    )


def _forced(moment: _Moment) -> tuple[Sentence, Sentence]:
    title = Sentence("{name} had only one reply", moment.arguments, you="You had only one reply")
    if moment.decision.reply == "pass":
        return title, Sentence(
            "{name} had to pass, so nothing could go wrong.",
            moment.arguments,
            you="You had to pass, so nothing could go wrong.",
        )
    return title, Sentence("{move} was forced, so nothing could go wrong.", moment.arguments)


def _unanswered(moment: _Moment) -> Sentence:
    return Sentence(
        "The game ended before {bot}'s move was answered.",
        moment.arguments,
        you="The game ended before your reply.",
    )


def _before_missed(moment: _Moment) -> list[Sentence]:
    """For a reply that took no bait, return the sentences that precede its cost."""
    if moment.best is not None and moment.best.score_centi >= WIN_CENTI:
        return [
            Sentence("{name} could win by force here.", moment.arguments, you="You could win by force here.")
        ]
    if moment.decision.is_decided or not moment.is_checked:
        return []
    return [Sentence("There was no bait here.")]


def _is_lost_by_force(moment: _Moment) -> bool:
    """Whether the opponent loses by force after every reply."""
    best, decision = moment.decision.best, moment.decision
    own = min((each.final_centi for each in decision.replies), default=0) if decision.is_complete else 0
    return own >= WIN_CENTI or (best is not None and best.score_centi <= -WIN_CENTI)


def _temptation(moment: _Moment, *, is_blind: bool) -> list[TextPart]:
    """Describe this move's baits in comparison with the best replies."""
    judged = moment.decision.best
    best = next((each for each in moment.decision.replies if judged and each.reply == judged.reply), None)
    said: list[TextPart] = []
    for number, (bait, reply) in enumerate(moment.baits):
        arguments: dict[str, TextPart] = {
            "people": people_play(bait.probability),
            "move": MoveText(reply.name),
        }
        first = Sentence("A trap by accident: {people} {move} here.", arguments)
        if number:
            first = Sentence("Another: {people} {move}.", arguments)
        elif is_blind or moment.decision.sets_traps:
            first = Sentence("A trap: {people} {move} here.", arguments)
        costs = bait_costs(bait)
        parts = (first, bait_comparison(reply, best), costs)
        said.append(JoinedText([each for each in parts if each is not None]))
    return said


def _bait_probability_text(kind: MomentKind, moment: _Moment) -> Sentence | None:
    if not moment.baits:
        return None
    taken = [each for each in moment.baits if each[1] == moment.played]
    bait, reply = (taken or moment.baits)[0]
    share = with_depth(game_share(bait.cost / WHOLE), bait)
    return Sentence(
        "{people} {move}, which costs {share}: {verdict}.",
        {
            "people": people_play(bait.probability),
            "move": MoveText(reply.name),
            "share": share,
            "verdict": _LABELS[kind],
        },
    )


def _pick_source(moment: _Moment) -> Sentence | None:
    """Describe the source of the move; return None if the move comes from the strategy's own scores."""
    decision = moment.decision
    pick, source = decision.pick, "" if decision.source is None else decision.source.name
    arguments: dict[str, TextPart] = {
        "bot": moment.bot,
        "score": "",
        "origin": BracketText(pick.origin) if pick is not None and pick.origin else "",
        "engine": source,
        "plies": decision.depth if pick is None or not pick.depth else pick.depth,
    }
    if decision.pick_text:
        arguments["score"] = BracketText(score_part(decision.pick_text))
    match decision.search_mode:
        case SearchMode.STRONG if pick is not None and pick.solved:
            return Sentence(
                "{bot} solved the game to its end and took the best move{score}; no trap was intended.",
                arguments,
            )
        case SearchMode.STRONG | SearchMode.EXPLOIT if not decision.has_rivals:
            return Sentence(
                "{bot} took the best move of her strong search, {plies} plies deep{score}; "
                "no trap was intended.",
                arguments,
            )
        case SearchMode.EXPLOIT:
            return Sentence(
                "{bot} compared the moves nearly as good as the best one of her strong search, {plies} plies "
                "deep{score}, by the errors that she expects.",
                arguments,
            )
        case SearchMode.STRONG_TRAPS:
            return Sentence(
                "{bot} compared the moves nearly as good as the best one of her strong search, {plies} plies "
                "deep{score}, by the traps that they set.",
                arguments,
            )
        case SearchMode.BOOK:
            return Sentence(
                "This move is from an opening book{origin}{score}; no trap was intended.", arguments
            )
        case SearchMode.TABLEBASE:
            return Sentence("This move is from an endgame tablebase{score}; no trap was intended.", arguments)
        case SearchMode.EXPLORER:
            return Sentence(
                "This move is from an online opening explorer{origin}; no trap was intended.", arguments
            )
        case SearchMode.ONLINE_TABLEBASE:
            return Sentence(
                "This move is from an online endgame tablebase{origin}{score}; no trap was intended.",
                arguments,
            )
        case SearchMode.ENGINE_MOVE:
            return Sentence(
                "This is the best move of another engine, {engine}, {plies} plies deep{score}; "
                "no trap was intended.",
                arguments,
            )
        case SearchMode.VARIETY_DRAW:
            return Sentence(
                "{bot} chose this move at random from those nearly as good as the best, so as not to repeat "
                "earlier games; no trap was intended.",
                arguments,
            )
        case SearchMode.PERSON:
            return Sentence(
                "{bot} drew this move from a model of people's moves; no trap was intended.", arguments
            )
        case SearchMode.TRIAL:
            other = "" if decision.draw is None else decision.draw.other_name
            return Sentence(
                "A random draw decided between this move and {other}: one of them sets a trap, "
                "the other does not.",
                {"other": MoveText(other)},
            )
        case SearchMode.ENGINE if source:
            return Sentence(
                "The scores are from another engine, {engine}, searching {plies} plies deep.",
                {**arguments, "plies": decision.depth},
            )
        case _:
            return None


def _model_use(moment: _Moment) -> Sentence | None:
    """Describe how the strategy used its model of people, if it has one."""
    decision = moment.decision
    if decision.trouble:
        return Sentence(
            "{bot} could not use her model of people here ({trouble}) and took the best move.",
            {"bot": moment.bot, "trouble": decision.trouble},
        )
    if decision.model is None or (decision.weighed is not None and not decision.has_rivals):
        return None
    return Sentence(
        "{bot} predicted people's replies here ({model}) and chose the most promising move.",
        {"bot": moment.bot, "model": decision.model.name},
    )


def _plain_search_move(moment: _Moment) -> Sentence | None:
    """Name the move that plain search would choose, if the strategy preferred another one for its traps."""
    decision = moment.decision
    if decision.refusal is not None:
        return _refusal(moment, decision.refusal)
    standard, chosen = decision.standard, decision.chosen
    is_by_scores = decision.sets_traps and decision.search_mode in (SearchMode.EXACT, SearchMode.ENGINE)
    if not is_by_scores or standard.move == decision.move or not standard.raw_text:
        return None
    return Sentence(
        "{other} would have played {best} ({bestScore}); {bot} preferred {move} ({score}) for the replies "
        "that it invites.",
        {
            "other": Sentence("Plain minimax") if decision.source is None else decision.source.name,
            "best": MoveText(standard.name),
            "bestScore": score_part(standard.raw_text),
            "bot": moment.bot,
            "move": MoveText(decision.name),
            "score": score_part(chosen.raw_text),
        },
    )


def _refusal(moment: _Moment, refusal: RefusalReport) -> Sentence:
    """Name the move that was preferred for its traps, and why it was not played."""
    arguments: dict[str, TextPart] = {
        "preferred": MoveText(refusal.name),
        "move": MoveText(moment.decision.name),
    }
    if refusal.cost is None:
        return Sentence(
            "{preferred} was preferred, but there was no time to confirm it; {move} was played instead.",
            arguments,
        )
    return Sentence(
        "{preferred} was preferred, but a second search showed that it gives up {share}; {move} was played "
        "instead.",
        {**arguments, "share": ShareText(refusal.cost / WHOLE)},
    )


def _facts(kind: MomentKind, moment: _Moment, *, is_blind: bool) -> list[MomentFact]:
    decision, played, best, judged = moment.decision, moment.played, moment.best, moment.decision.judged
    term = Sentence("A bait") if len(moment.baits) > 1 else Sentence("The bait")
    facts = [
        MomentFact("trap", term, MoveText(reply.name), scores_part(reply, reply.judged))
        for _, reply in moment.baits
        if reply != played
    ]
    if kind is MomentKind.FORCED:  # the title says all
        return facts
    if played is not None:
        took_bait = kind is MomentKind.TOOK_BAIT
        parts: list[TextPart] = []
        has_cost = judged is not None and not moment.is_best and kind is not MomentKind.DECIDED
        if took_bait or not has_cost:
            parts.append(scores_part(played, judged))
        if has_cost:
            parts.append(Sentence("cost {price}", {"price": moment.price}))
        # Without a forecast the probabilities are those of the player's own model.
        if played.probability is not None and not (is_blind and decision.forecast is None):
            parts.append(
                Sentence(
                    "expected of {probability} of people", {"probability": ShareText(played.probability)}
                )
            )
        said = Sentence("{name} played", moment.arguments, you="You played")
        if took_bait:
            said = Sentence("{name} took", moment.arguments, you="You took")
        facts.append(
            MomentFact(_mood(kind, moment), said, MoveText(played.name), JoinedText(parts, is_list=True))
        )
    if best is not None and not moment.is_best and kind is not MomentKind.DECIDED:
        reply = next((each for each in decision.replies if each.reply == best.reply), None)
        facts.append(MomentFact("best", Sentence("Best was"), MoveText(best.name), scores_part(reply, best)))
    return facts


def _mood(kind: MomentKind, moment: _Moment) -> str:
    """The colour of the fact about the reply played; empty if it is not judged."""
    if kind is MomentKind.TOOK_BAIT:
        return "fell"
    if moment.decision.judged is None:
        return "played"
    return "good" if moment.is_good else "slip"


def _marks(moment: _Moment) -> list[MomentMark]:
    """Return the marks for the baits, the best reply and the reply played; later marks cover earlier ones."""
    baits, played, best = [reply for _, reply in moment.baits], moment.played, moment.best
    marked: list[tuple[str, ReplyReport | JudgedReply]] = [
        ("trap", reply) for reply in baits if reply != played
    ]
    if best is not None and not moment.is_best:
        marked.append(("best", best))
    if played is not None:
        kind = "fell" if played in baits else "good" if moment.is_good else "played"
        marked.append((kind, played))
    return [
        MomentMark(kind, reply.squares, replace(_MARKS[kind], arguments={"move": MoveText(reply.name)}))
        for kind, reply in marked
        if reply.squares
    ]
