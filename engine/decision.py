"""`Decision`: the complete, frozen record of one choice, the same in memory and in the database.

Anyone can recompute the choice from the record alone (`engine.trappy.verify`), and everything that is later
said about a trap (set or not, fallen into or not, what it cost) is derived from it.
"""

from dataclasses import asdict, dataclass, replace
from enum import StrEnum
from typing import Any, Self

from engine.errors import RecordError
from engine.params import Assessment, Decided, Scale, TrapParams, ValueParams, ValueScale
from engine.player_kinds import PlayerKind, kind_named


@dataclass(frozen=True, slots=True)
class ReplyProfile:
    """One reply of the opponent to a candidate move."""

    reply: str
    scores_centi: tuple[int, ...]
    """s_2 .. s_D: exact scores of the line after searches of 2 .. D plies, our view.  Empty when bounds were
    enough."""
    bound_centi: int | None = None
    """The search only proved that s_D is at most this (our view); None when the scores are there.  A bound at
    or beyond `engine.search.reference.INFINITY`: nobody looked."""
    shallow_bound_centi: float | None = None
    """The search proved that the assessment of the shallow scores is at least this (our view, in the unit of
    the params' scale).  A bound at or beyond `engine.search.reference.INFINITY` says nothing; None: there is
    none, or the scores are there."""
    probability: float | None = None
    """How likely the person is to play it, by the decision's model; None: no model was asked about it."""

    @property
    def final_centi(self) -> int:
        """s_D, or what it is known not to exceed."""
        return self.scores_centi[-1] if self.bound_centi is None else self.bound_centi


@dataclass(frozen=True, slots=True)
class Candidate:
    """One legal move of ours, as far as it had to be looked into."""

    move: str
    raw_centi: int
    """What plain minimax says: the least s_D over the replies, our view."""
    raw_is_bound: bool
    """The search only proved that the raw value is at most `raw_centi`: the move could not be chosen.  In the
    mode ``engine``: what the engine said at the root of a move that was not looked into."""
    adjusted_centi: float
    """What the raw value is worth on the params' scale, plus the bonus for the best trap; for the standard
    player without it.  Centi-units, or hundredths of a per cent on the expected scale."""
    quality_centi: float = 0.0
    """Quality of the best trap among the replies that were looked into, in the same unit."""
    trap: str | None = None
    """The reply that is the best trap; None: there is none."""
    replies: tuple[ReplyProfile, ...] = ()
    """Profiles of the replies; empty when none was needed or the move ends the game."""
    complete: bool = False
    """Every legal reply is there with exact scores at every depth."""
    value: float | None = None
    """What the move is worth over the replies that a person may choose (`engine.human.value`), in the unit of
    the decision's `ValueParams`; None: not found, for the player does not go by it or the move is out of its
    budget."""


@dataclass(frozen=True, slots=True)
class Pick:
    """What a strong search or a book said of a move, whose choice does not follow from exact scores."""

    score_centi: int | None
    """Of the chosen move, our view; a forced win or loss is beyond `WIN_CENTI`, and just `WIN_CENTI` when
    nobody counted how far off the end is.  None: a book that says which moves are played, not what they are
    worth."""
    depth: int
    """Plies of the search that found it; 0: no search did."""
    confidence: int
    """Per cent: how sure each cut of the search was; 100: full width; 0: a book does not say."""
    solved: bool
    """The score is the game's true result."""


@dataclass(frozen=True, slots=True)
class SourceInfo:
    """Another engine that a choice's scores are from, and how it was asked."""

    name: str
    """As it calls itself, with its version."""
    protocol: str
    """``uci`` or ``ucci``."""
    options: tuple[tuple[str, str], ...]
    """Names and values of the options that were set, as configured."""
    window_centi: int
    """Moves were looked into when their score at the root was at most this below the best known."""
    floor_centi: int
    """The least such score of a move that was looked into: every move above it was."""
    nodes: int
    """Positions that the engine visited, as it counts them."""


@dataclass(frozen=True, slots=True)
class RandomDraw:
    """How a move was drawn; with the candidates it gives the move again (`engine.variety.drawn`)."""

    within_centi: int
    """Candidates whose raw value was at most this below the best took part; theirs are exact, and those of
    all others are known to be lower."""
    avoided: tuple[str, ...]
    """Moves that did not take part: they were played in this position before."""
    number: int
    """What was drawn, at least 0."""


@dataclass(frozen=True, slots=True)
class Person:
    """What is known of who is to move."""

    rating: int | None = None
    """On the site's own scale; None: unknown."""
    clock_s: float | None = None
    """Left to them, in seconds; None: unknown, or no clock."""


UNKNOWN_PERSON = Person()
"""Nothing is known of who is to move."""


@dataclass(frozen=True, slots=True)
class ModelInfo:
    """Which model it was; stored with every decision that counted on it."""

    kind: str
    """``maia``, ``othello``, ``shallow``, ``calibrated`` or ``none``; a mean over networks
    (`engine.human.rating_average`) has theirs."""
    name: str
    """For people: ``maia-1500``."""
    sha256: str
    """Of the file, in hexadecimal; of a model without one, of its parameters as text."""


@dataclass(frozen=True, slots=True)
class OpponentModelUse:
    """How a move was chosen by what a person is expected to reply."""

    value: ValueParams
    person: Person
    """Who was expected to reply, as far as the models were told."""
    human: ModelInfo | None
    """The human-move model that was asked; None: none was."""
    trouble: str = ""
    """Why the move was decided without a model, as by the standard player; empty: it was not, or it is a
    forced win and nobody was asked."""


@dataclass(frozen=True, slots=True)
class Decision:
    """One choice of a player."""

    game: str
    position: str
    """`Game.position_text` of the position that the move was chosen in."""
    player: str
    """Name of one of `engine.player_kinds.PLAYER_KINDS`."""
    params: TrapParams
    """Of the trap arithmetic.  For other players than trappy they only say what counts as a trap in
    hindsight."""
    move: str
    """The chosen move."""
    candidates: tuple[Candidate, ...]
    """Every legal move once, in the game's fixed order."""
    depth: int
    """D: plies of the full search, counted from `position`, at least 2."""
    principal_variation: tuple[str, ...]
    """The line that plain minimax expects, starting with its own best move; or the line of what picked the
    move."""
    nodes: int
    """Positions that the search visited."""
    time_s: float
    """Seconds of searching, on whoever's clock: also before a pause of the search, and on the opponent's time
    when the reply had been expected.  Waiting for a thread does not count."""
    profile_source: str
    """Which search the scores are from: ``reference``, ``native``, or another engine by its name."""
    engine_version: str
    search_mode: str = "exact"
    """``exact``: chosen by the candidates' scores, which are of full width and fixed depth.  ``strong``: by a
    selective search.  ``book``: by an opening book.  ``tablebase``: by a table of endings.  The candidates'
    scores are exact at `depth` in any case, so that the reply can be judged.  But ``engine``: chosen by the
    scores of another engine, which searches selectively (`source`), among the candidates that it was asked to
    look into.  ``lot``: drawn among the moves whose exact scores are nearly the best, traps left aside, so as
    not to play the same opening again (`lot`)."""
    pick: Pick | None = None
    """What chose the move when `search_mode` is ``strong``, ``book`` or ``tablebase``."""
    source: SourceInfo | None = None
    """The other engine, when `search_mode` is ``engine``."""
    lot: RandomDraw | None = None
    """The draw, when `search_mode` is ``lot``."""
    model: ModelInfo | None = None
    """Whose the replies' probabilities are; None: the choice counted on none."""
    reckoning: OpponentModelUse | None = None
    """How the move was chosen, of players that reckon with a person's replies (unless it was drawn); None: of
    all others."""

    @property
    def kind(self) -> PlayerKind:
        """The player's kind.

        Raises:
            ValueError: This version knows no player of that name.
        """
        return kind_named(self.player)

    @property
    def chosen(self) -> Candidate:
        """The candidate that was played."""
        return next(c for c in self.candidates if c.move == self.move)

    @property
    def is_complete(self) -> bool:
        """Whether the chosen move's whole profile is in the record, so that any reply can be judged."""
        return self.chosen.complete

    @property
    def is_trap(self) -> bool:
        """Whether the chosen move sets a trap: its best reaches the threshold.  Needs the whole profile."""
        return self.chosen.trap is not None and self.chosen.quality_centi >= self.params.threshold_centi

    def with_chosen(self, candidate: Candidate) -> Self:
        """The same decision with more known about the chosen move."""
        if candidate.move != self.move:
            raise ValueError(f"{candidate.move} was not chosen, {self.move} was")
        return replace(
            self, candidates=tuple(candidate if c.move == self.move else c for c in self.candidates)
        )

    def to_record(self) -> dict[str, Any]:
        """A dictionary of plain JSON values; `from_record` turns it back into an equal decision."""
        return asdict(self)

    @classmethod
    def from_record(cls, record: dict[str, Any]) -> Self:
        """The decision that `to_record` wrote.

        Raises:
            RecordError: The record lacks a field, has one too many, or a value of the wrong kind.
        """
        try:
            candidates = tuple(
                Candidate(
                    **{
                        **candidate,
                        "replies": tuple(
                            ReplyProfile(**{**reply, "scores_centi": tuple(reply["scores_centi"])})
                            for reply in candidate["replies"]
                        ),
                    }
                )
                for candidate in record["candidates"]
            )
            return cls(
                **{
                    **record,
                    "params": _params(record["params"]),
                    "candidates": candidates,
                    "principal_variation": tuple(record["principal_variation"]),
                    "pick": Pick(**record["pick"]) if record.get("pick") else None,
                    "source": _source(record["source"]) if record.get("source") else None,
                    "lot": _lot(record["lot"]) if record.get("lot") else None,
                    "model": ModelInfo(**record["model"]) if record.get("model") else None,
                    "reckoning": _reckoning(record["reckoning"]) if record.get("reckoning") else None,
                }
            )
        except (KeyError, TypeError, ValueError, AttributeError) as error:  # ValueError: no such choice, too
            raise RecordError(f"not the record of a decision: {error}") from error


def _params(record: dict[str, Any]) -> TrapParams:
    record = {**record}
    scale = Scale(record.get("scale", Scale.PAPER))  # old ones do not say, and know no share
    old = {"risk_share_percent": 100.0} if scale is Scale.EXPECTED else {}
    assessment, decided = Assessment(record["assessment"]), Decided(record["decided"])
    return TrapParams(**{**old, **record, "assessment": assessment, "decided": decided, "scale": scale})


def _source(record: dict[str, Any]) -> SourceInfo:
    options = tuple((str(name), str(value)) for name, value in record["options"])
    return SourceInfo(**{**record, "options": options})


def _lot(record: dict[str, Any]) -> RandomDraw:
    return RandomDraw(**{**record, "avoided": tuple(record["avoided"])})


def _reckoning(record: dict[str, Any]) -> OpponentModelUse:
    value = record["value"]
    return OpponentModelUse(
        # Old ones know no share.
        value=ValueParams(**{"share_percent": 100.0, **value, "scale": ValueScale(value["scale"])}),
        person=Person(**record["person"]),
        human=ModelInfo(**record["human"]) if record["human"] else None,
        trouble=str(record["trouble"]),
    )


class OutcomeKind(StrEnum):
    """What the opponent did with a move of ours (Gordon & Reda 2006, Figure 9)."""

    OPTIMAL = "optimal"
    """The reply is one of the best: its s_D equals the raw value of our move."""
    FELL = "fell"
    """Our move set a trap, and the reply is one: its quality is above 0 and it is not optimal."""
    ERRED_ELSEWHERE = "erred_elsewhere"
    """Any other reply."""
    UNANSWERED = "unanswered"
    """The game ended first.  Outside Figure 9's sum, but never dropped."""


@dataclass(frozen=True, slots=True)
class Outcome:
    """How a move of ours was answered."""

    kind: OutcomeKind
    reply: str | None
    """The opponent's move; None when unanswered."""
    fell_for_best: bool
    """The reply is the best trap itself."""
    quality_centi: float
    """Quality of the reply as a trap, in the unit of the params' scale."""
    cost_centi: int
    """What the reply cost the opponent: s_D of it less our raw value, at least 0; centi-units."""
