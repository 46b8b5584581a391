"""`Decision`: the complete, frozen record of one choice, with the same content in memory and in the database.

The record alone is enough to recompute the choice (`engine.verification.verify`) and to derive all later
results about a trap: whether it was set, whether the opponent took the bait, and what it cost.
"""

from dataclasses import asdict, dataclass, field, replace
from enum import StrEnum
from typing import Annotated, Any, Self

from engine.errors import IncompleteProfile, RecordError
from engine.params import ExploitParams, OpponentParams, RandomisedParams, Scale, TemptingParams, TrapParams
from engine.plain_values import OLD_NAMES, Range, reader

_SHALLOW = "glance_centi"
"""The name of `ReplyProfile.shallow_scores_centi` in records."""
_USE_STORED = "reckoning"
"""The name of `Decision.model_use` in records."""
_STATE = "state"
"""The name of `OpponentModelUse.state` in records."""
_STORED_NAMES = {"model_use": _USE_STORED, "strategy": "player"}
"""Stored names of renamed fields; they must not change, because old records contain them."""

Size = Annotated[int, Range(0, 2**31 - 1)]
Count = Annotated[int, Range(0, 2**63 - 1)]


class SearchMode(StrEnum):
    """The source of a choice.

    With any source but `ENGINE` and `ENGINE_MOVE`, the candidates' scores are exact at the decision's depth,
    so the reply can be judged.
    """

    EXACT = "exact"
    """Scores of the candidates from a full-width, fixed-depth search."""
    STRONG = "strong"
    """A selective search."""
    BOOK = "book"
    """An opening book."""
    TABLEBASE = "tablebase"
    """An endgame tablebase."""
    EXPLORER = "explorer"
    """A site's opening explorer, looked up for this move."""
    ONLINE_TABLEBASE = "online_tablebase"
    """A site's endgame tablebase, looked up for this move."""
    VARIETY_DRAW = "lot"
    """A random choice, ignoring traps, among the moves with nearly the best exact scores, to vary the opening
    (`Decision.variety_draw`)."""
    EXPLOIT = "exploit"
    """The errors that a person is expected to make, weighed by a selective search (`Decision.exploit`)."""
    STRONG_TRAPS = "strong_traps"
    """The paper's arithmetic on scores of a selective search (`Decision.strong_traps`)."""
    TRIAL = "trial"
    """A random choice between two moves, in a trial of single decisions (`Decision.trial_draw`)."""
    PERSON = "person"
    """A random choice among all moves, as people of a rating choose them (`Decision.person_draw`)."""
    ENGINE = "engine"
    """Another engine's scores (`Decision.source`), from selective searches of the candidates sent to it."""
    ENGINE_MOVE = "engine_move"
    """The best move from another engine's own search. The replies to it have the engine's scores, and its own
    score is an upper bound on all other moves' scores; if `Decision.profile_source` is not the engine, the
    candidates' scores are exact instead."""


@dataclass(frozen=True, slots=True)
class ReplyProfile:
    """One possible reply to a candidate move, with its scores or bounds."""

    reply: str
    scores_centi: tuple[int, ...]
    """s_2 .. s_D: exact scores of the line after searches of 2 .. D plies, from our side. Empty if the
    choice needed only bounds."""
    bound_centi: int | None = None
    """The search only proved that s_D is at most this, from our point of view; None if the scores are known.
    A bound at or beyond `engine.search.reference.INFINITY` means that the reply was not searched."""
    shallow_bound_centi: float | None = None
    """The search proved that the value computed from the shallow scores is at least this (from our point of
    view, in the unit of the params' scale). A bound at or beyond `engine.search.reference.INFINITY` carries
    no information; None: no bound, or the scores are known."""
    probability: float | None = None
    """Probability of this reply in the decision's model of the person; None: no model was queried."""
    shallow_scores_centi: tuple[int, int] | None = field(default=None, metadata={OLD_NAMES: (_SHALLOW,)})
    """s_2 and s_3 if the tempting player needed no other shallow score; None: not needed, or included
    in `scores_centi`."""
    least_centi: int | None = None
    """Set with `shallow_scores_centi`: a proven lower bound on s_D (from our point of view), equal to
    `bound_centi` if s_D is known; None: the only lower bound is the move's raw value."""

    @property
    def final_centi(self) -> int:
        """s_D if it is known, otherwise the upper bound on it."""
        return self.scores_centi[-1] if self.bound_centi is None else self.bound_centi


@dataclass(frozen=True, slots=True)
class Candidate:
    """One legal move of ours, analysed as far as the choice required."""

    move: str
    raw_centi: int
    """The plain minimax value: the minimum s_D over the replies, from our point of view."""
    raw_is_bound: bool
    """Whether the search only proved that the raw value is at most `raw_centi`; this bound and any scores and
    bounds in `replies` sufficed to reject the move. In the mode ``engine``: whether `raw_centi` is only the
    engine's score at the root, without further analysis of the move."""
    adjusted_centi: float
    """The raw value on the params' scale, plus the bonus for the best trap except with the standard strategy.
    Centi-units, or hundredths of a per cent on the expected scale. Unless the candidate is complete, a reply
    that was not searched may be a better trap."""
    quality_centi: float = 0.0
    """Quality of the best trap among the searched replies, in the same unit."""
    trap: str | None = None
    """The reply that is the best trap; None: no reply is a trap."""
    replies: tuple[ReplyProfile, ...] = ()
    """Profiles of the replies; empty if the choice needed none or the move ends the game."""
    complete: bool = False
    """Whether `replies` has every legal reply, with exact scores at every depth."""
    value: float | None = None
    """The move's expected value over a person's replies (`engine.human.opponent_value`), in the unit of the
    decision's `OpponentParams`; None: not computed, because the strategy does not use it or the move exceeds
    its budget."""

    @property
    def is_whole(self) -> bool:
        """Whether `complete` is set and every reply has scores instead of a bound."""
        return self.complete and all(
            reply.bound_centi is None and reply.scores_centi for reply in self.replies
        )

    def require_whole(self) -> None:
        """Check that no reply or score is missing.

        Raises:
            IncompleteProfile: A reply or a score is missing.
        """
        if not self.is_whole:
            raise IncompleteProfile(f"the profile of {self.move} is incomplete")


@dataclass(frozen=True, slots=True)
class DirectMove:
    """The result of a source that chose the move without exact scores: a selective search, another engine's
    own search, an opening book or a tablebase."""

    score_centi: int | None
    """Our score after the chosen move; a forced win or loss is beyond `WIN_CENTI`, or exactly `WIN_CENTI`
    if its distance is unknown. None: the book lists moves without scores, or the engine reported none."""
    depth: Size
    """Depth of the search that found the move, in plies; 0: no search."""
    confidence: int
    """Confidence level of the search's cuts, in per cent; 100: full width; 0: unknown (a book or another
    engine)."""
    solved: bool
    """Whether the score is the game's true result."""
    origin: str = ""
    """The source's name and how it chose the move, as text; empty: nothing to add."""


@dataclass(frozen=True, slots=True)
class RootSearch:
    """What the selective search found in the position before the move, whatever was played then."""

    line: tuple[str, ...]
    """Principal variation; it starts with the best move."""
    score_centi: int
    """Our score after the best move."""
    depth: Size
    """Depth in plies."""
    nodes: Count
    """Positions that the search visited."""


@dataclass(frozen=True, slots=True)
class SourceInfo:
    """The other engine that produced a choice's scores, and its search settings."""

    name: str
    """The name that the engine reports, with its version."""
    protocol: str
    """``uci`` or ``ucci``."""
    options: tuple[tuple[str, str], ...]
    """Names and values of the configured options."""
    window_centi: int
    """Moves were analysed if their root score was at most this far below the best known root score."""
    floor_centi: int
    """The lowest root score of an analysed move; every move with a higher root score was analysed."""
    nodes: Count
    """Number of positions visited, as reported by the engine."""


@dataclass(frozen=True, slots=True)
class VarietyDraw:
    """A random choice that determines the move, given the candidates (`engine.variety.draw_move`)."""

    within_centi: int
    """The random choice was among candidates whose raw values were at most this far below the best; these
    values are exact, and all other candidates' raw values are proven to be lower."""
    avoided: tuple[str, ...]
    """Moves excluded because they were played in this position before."""
    number: Count
    """The random number used, at least 0."""


@dataclass(frozen=True, slots=True)
class Proof:
    """A check of a move that the strategy preferred to the best one, by selective searches of the positions
    after both (`engine.strategies.proof`)."""

    preferred: str
    """The move that the strategy preferred."""
    best: str
    """The move with the best raw value; the first of them in order."""
    preferred_centi: int | None
    """Our score after `preferred`; None: the search was stopped before it had a result."""
    best_centi: int | None
    """Our score after `best`; None like `preferred_centi`."""
    preferred_depth: Size
    """Depth of the search after `preferred`, in plies counted from the position after it; 0: the game is over
    or there is no result."""
    best_depth: Size
    nodes: Count
    """Positions that both searches visited."""
    budget_share_percent: Annotated[int, Range(0, 100)]
    """The share of the strategy's budget that `preferred` may cost by these scores."""
    stood: bool
    """Whether `preferred` costs no more than that; otherwise `best` is played."""


@dataclass(frozen=True, slots=True)
class PairUse:
    """The ratings by which a position was valued for the two players (`engine.opponents.pair_value`)."""

    our_rating: int
    their_rating: int
    sha256: str
    """SHA-256 of the card with the coefficients, in hexadecimal."""


@dataclass(frozen=True, slots=True)
class TrialDraw:
    """A random choice between a move that sets a trap and a move that sets no trap.

    Together with the candidates, which include the complete profiles of both moves, this record holds all the
    information available before the random choice (`engine.randomised`).
    """

    params: RandomisedParams
    trap: str
    """The strategy's own choice, which sets a trap (T)."""
    control: str = field(metadata={OLD_NAMES: ("sound",)})
    """The best move that sets no trap (N)."""
    trap_value: Size
    """Our expected score after `trap` under best play, in hundredths of a per cent."""
    control_value: Size = field(metadata={OLD_NAMES: ("sound_value",)})
    """Our expected score after `control`, in the same unit."""
    seed: str
    """64 random bits as 16 hexadecimal digits, because many JSON parsers round integers of this size."""
    sha256: str
    """Checksum of all the information available before the random choice (`engine.randomised.checksum`)."""
    control_proof: Proof | None = None
    """The proof of `control`, which stood; None if `control` is the best move or moves are not proved."""
    pair: PairUse | None = None
    """How it was told that the game is undecided, if by the two ratings; None: by the game's own scale."""


@dataclass(frozen=True, slots=True)
class Person:
    """What is known about the person whose move is predicted."""

    rating: int | None = None
    """The person's rating on the site's own scale; None if unknown."""
    clock_s: float | None = None
    """Time left on the person's clock, in seconds; None if unknown or if there is no clock."""
    opponent_rating: int | None = None
    """The rating of the person's opponent on the same scale; None if unknown."""
    games: int | None = None
    """Number of the person's earlier games; None if unknown."""


UNKNOWN_PERSON = Person()
"""A person about whom nothing is known."""


@dataclass(frozen=True, slots=True)
class ModelInfo:
    """Identity of a model; stored with every decision that used it."""

    kind: str
    """``maia``, ``people``, ``shallow``, ``calibrated`` or ``none``; a mean over networks
    (`engine.human.rating_average`) has the same kind as its networks."""
    name: str
    """Readable name, such as ``maia-1500``."""
    sha256: str
    """SHA-256, in hexadecimal, of the file or, if there is none, of the parameters as text."""


@dataclass(frozen=True, slots=True)
class PersonDraw:
    """A random choice of a move as people of a rating choose it (`engine.person.draw`)."""

    person: Person
    """The person imitated: the rating on the model's scale, and the program's own clock."""
    model: ModelInfo
    """The model that predicted `probabilities`."""
    human: ModelInfo | None
    """The human-move model whose prediction `model` received; None: it received none, or is that model."""
    prior: str
    """SHA-256 of the people model's card (`engine.human.person_prior`) that tilted the prediction; empty: it
    was not tilted."""
    probabilities: tuple[float, ...]
    """The share of these people who play each candidate, in the candidates' order."""
    win_share: float
    """The least share of people who play a move that wins at once, if there is one."""
    min_probability: float
    """Moves less probable than this took no part, unless all are."""
    seed: str
    """64 random bits as 16 hexadecimal digits."""


@dataclass(frozen=True, slots=True)
class PersonUse:
    """What a prediction used of the person's state (`engine.person.prediction`), as of before the reply."""

    version: str
    """`engine.person.card.PersonModel.version`."""
    games: int
    """Number of the person's games in the state."""
    weights: tuple[tuple[int, int], ...]
    """The grid points with a weight, each with its weight in millionths (`engine.person.tilt`)."""
    shifts: tuple[float, ...]
    """What the person's vector added to the logit of each reply; empty for no vector."""
    costs: tuple[float, ...]
    """The cost of each reply, from 0 to 1."""
    recalled: tuple[float, ...]
    """The weight of the person's earlier replies in the same position, for each reply; empty for none."""
    own_weight: float
    """The weight of the prediction without memory."""
    sha256: str
    """Checksum of these numbers, the replies and the base model's probabilities."""


@dataclass(frozen=True, slots=True)
class AdaptedReplies:
    """How the predicted replies to one move were adapted to the person."""

    move: str
    base: tuple[float, ...]
    """The probability of each reply by the model of people alone, to six digits."""
    person: PersonUse
    """`ReplyProfile.probability` of the replies follows from this and `base`."""


@dataclass(frozen=True, slots=True)
class StateUse:
    """What a choice used of the person's state (`engine.person.choice`)."""

    version: str
    """`engine.person.card.PersonModel.version`."""
    games: int
    """Number of the person's games in the state."""
    moves: tuple[AdaptedReplies, ...]
    """For the preferred move and, if it is another one, the best: of the two, one is played. Without those to
    whose replies the state says nothing."""


@dataclass(frozen=True, slots=True)
class OpponentModelUse:
    """How a prediction of a person's replies was used to choose a move."""

    value: OpponentParams
    person: Person
    """The person expected to reply, as described to the models."""
    human: ModelInfo | None
    """The human-move model that was queried; None: no model was queried."""
    trouble: str = ""
    """Why the standard strategy chose the move without a model; empty: a model was used, or the move is a
    forced win and no model was queried."""
    state: StateUse | None = None
    """What was used of the person's state; None if nothing was."""
    is_forgotten: bool = False
    """Whether `state` was erased at the person's request (`without_state`): the replies' probabilities cannot
    be computed again."""


@dataclass(frozen=True, slots=True)
class WeighedReply:
    """A reply to a contender."""

    reply: str
    probability: float
    """Probability of the reply in the decision's model of the person."""
    score_centi: int
    """Our score after the reply, by a selective search."""
    stage: float = 0.0
    """The share of the game that is left after the reply, to four digits; 0 if the scale ignores it."""


@dataclass(frozen=True, slots=True)
class Playouts:
    """What playouts of a move found (`engine.strategies.full_strength.playouts`)."""

    number: Size
    mean: float
    """Mean worth of the last positions, in hundredths of a per cent of expected score."""
    variance: float
    """Variance of one playout about the mean; 0 of a single one."""


@dataclass(frozen=True, slots=True)
class Contender:
    """A move nearly as good as the best by the selective search."""

    move: str
    score_centi: int
    """Our score after the move, by a selective search."""
    replies: tuple[WeighedReply, ...]
    """The replies that count: the likely ones, and the best one. Empty if they were not weighed."""
    value: float
    """The move's value, in hundredths of a per cent of expected score (`engine.opponents.exploit_value`)."""
    playouts: Playouts | None = None
    """None without a human-move network, of a move that repeats a position, if no other move is compared, and
    in records of earlier versions."""


@dataclass(frozen=True, slots=True)
class ContenderCheck:
    """Scores of the preferred move and of the best one by a deeper search than the contenders'."""

    preferred: str
    preferred_centi: int
    """A lower bound if `stood`, else an upper bound; in a lost game either."""
    best_centi: int
    depth: Size
    """Depth of both scores in plies, counted from the position before the move."""
    stood: bool
    """Whether the preferred move gives up no more than the budget by these scores; otherwise the best move
    is played."""


@dataclass(frozen=True, slots=True)
class PairScale:
    """What scores are worth between two players of known ratings (`engine.opponents.pair_value`)::

        logit w = constant + stage e + (score + score_stage e) x

    x is the score over the game's scale, e the share of the game that is left.
    """

    constant: float
    stage: float
    score: float
    score_stage: float
    root_stage: float
    """e of the decision's position."""


@dataclass(frozen=True, slots=True)
class ExploitUse:
    """How the strategy exploit weighed the errors that it expects (`engine.opponents.exploit_value`)."""

    params: ExploitParams
    trust: float
    """How far the model of the person is believed, from 0 to 1."""
    spent: float
    """What earlier moves of the game gave up, in hundredths of a per cent of expected score."""
    scale_centi: float
    """Scale s of the game's own logistic function in this position."""
    root_centi: int
    """Our score by the search of the position."""
    contenders: tuple[Contender, ...] = ()
    """The best move first. Empty if the best move was played without weighing."""
    contender_depth: Size = 0
    """Depth of the contenders' scores in plies, counted from the position before the move."""
    reply_depth: Size = 0
    """Depth of the replies' scores in plies, counted from the positions after them."""
    check: ContenderCheck | None = None
    """The deeper search; None if the best move was preferred."""
    trouble: str = ""
    """Why the best move was played without weighing; empty if there was no reason but its value."""
    pair: PairScale | None = None
    """The scale for the two players; None in games without one, and in older records if a rating was unknown:
    the flat scale."""
    is_solved: bool = False
    """Whether the search solved the game: only moves of equal result are contenders."""
    counts_own_scale: bool = False
    """Whether losses on the game's own scale count, too: in values, as far as the model is not trusted, and
    as a limit. False in older records."""


@dataclass(frozen=True, slots=True)
class StrongTraps:
    """The paper's arithmetic on scores of selective searches (strategy trappy_strong)."""

    contenders: tuple[Candidate, ...] = ()
    """Moves nearly as good as the best, which comes first, with their scores by selective searches of `depth`
    plies. Their replies are those that look most like traps, each with its scores by searches of 1 ..
    `shallow_depth` plies after it, and by one as deep as the move's. Empty if the best move was played
    without looking for traps."""
    depth: Size = 0
    """In plies, counted from the position before the move."""
    shallow_depth: Size = 0
    check: ContenderCheck | None = None
    """The deeper search, with the same traps; None if the best move was preferred."""
    trouble: str = ""
    """Why the best move was played without looking for traps; empty if there was no reason but its score."""


@dataclass(frozen=True, slots=True)
class Decision:
    """One choice of a strategy."""

    game: str
    position: str
    """`Game.position_text` of the position before the move."""
    strategy: str = field(metadata={OLD_NAMES: ("player",)})
    """A name in `engine.strategies.registry.STRATEGIES`."""
    params: TrapParams
    """Parameters of the trap arithmetic. For strategies other than trappy they only define the traps that are
    counted afterwards."""
    move: str
    """The chosen move."""
    candidates: tuple[Candidate, ...]
    """Every legal move once, in the game's move order; after pruning, the chosen move and a few others."""
    depth: int
    """D: depth of the full search in plies, counted from `position`; at least 2."""
    principal_variation: tuple[str, ...]
    """Principal variation of plain minimax or, if `pick` is set, of its source; starts with the best move."""
    nodes: Count
    """Positions that the search visited."""
    time_s: float
    """Search time in seconds, on either side's clock; includes searches before a pause and pondering on a
    reply that was later played, but not time spent waiting for a thread."""
    profile_source: str
    """The search that produced the scores: ``reference``, ``native``, or another engine's name."""
    engine_version: str
    search_mode: SearchMode = SearchMode.EXACT
    """The source of the choice."""
    pick: DirectMove | None = None
    """The result that determined the move; None: the candidates' scores or a random choice determined it."""
    root: RootSearch | None = None
    """The selective search of the position; None if there was none, and in records of earlier versions."""
    source: SourceInfo | None = None
    """The other engine, if `search_mode` is ``engine`` or ``engine_move``."""
    variety_draw: VarietyDraw | None = field(default=None, metadata={OLD_NAMES: ("lot",)})
    """The random choice, if `search_mode` is `SearchMode.VARIETY_DRAW`."""
    model: ModelInfo | None = None
    """The model behind the replies' probabilities; None: the choice used no model."""
    model_use: OpponentModelUse | None = field(default=None, metadata={OLD_NAMES: (_USE_STORED,)})
    """How a strategy that models the opponent chose the move; None if the strategy has no such model or the
    move was chosen at random."""
    tempting: TemptingParams | None = None
    """Settings of the strategy ``tempting``; None for other strategies and for a move chosen at random."""
    trial_draw: TrialDraw | None = field(default=None, metadata={OLD_NAMES: ("draw",)})
    """The random choice, if `search_mode` is `SearchMode.TRIAL`."""
    person_draw: PersonDraw | None = None
    """The random choice, if `search_mode` is `SearchMode.PERSON`."""
    exploit: ExploitUse | None = None
    """How the errors of the person were weighed; None for other strategies than exploit."""
    strong_traps: StrongTraps | None = None
    """The contenders and their traps; None for other strategies than trappy_strong."""
    proof: Proof | None = None
    """The check of a move that the strategy preferred to the best one; None if it preferred none, or such
    moves are not checked."""
    is_pruned: bool = False
    """Whether most candidates that were not chosen have been removed (`engine.pruning`)."""

    @property
    def chosen(self) -> Candidate:
        """The candidate of the chosen move."""
        return next(c for c in self.candidates if c.move == self.move)

    @property
    def is_complete(self) -> bool:
        """Whether the record has the chosen move's complete profile, with which any reply can be judged."""
        return self.chosen.complete

    def with_chosen(self, candidate: Candidate) -> Self:
        """Return a copy with a more complete record of the chosen move."""
        if candidate.move != self.move:
            raise ValueError(f"{candidate.move} is not the chosen move {self.move}")
        return replace(
            self, candidates=tuple(candidate if c.move == self.move else c for c in self.candidates)
        )

    def to_record(self) -> dict[str, Any]:
        """Convert to a dictionary of plain JSON values; `from_record` restores an equal decision from it."""
        record = asdict(replace(self, candidates=()))
        record["search_mode"] = self.search_mode.value
        if self.pick is not None and not self.pick.origin:
            del record["pick"]["origin"]
        if self.model_use is not None:
            record["model_use"] = _without_defaults(record["model_use"])
        if self.root is None:  # what only some players use does not lengthen the records of the others
            del record["root"]
        if self.tempting is None:
            del record["tempting"]
        if self.trial_draw is None:
            del record["trial_draw"]
        else:
            for name in ("control_proof", "pair"):
                if record["trial_draw"][name] is None:
                    del record["trial_draw"][name]
        if self.person_draw is None:
            del record["person_draw"]
        if self.exploit is None:
            del record["exploit"]
        if self.strong_traps is None:
            del record["strong_traps"]
        else:
            record["strong_traps"]["contenders"] = [
                _candidate_record(contender) for contender in self.strong_traps.contenders
            ]
        if self.proof is None:
            del record["proof"]
        if not self.is_pruned:
            del record["is_pruned"]
        # Not by `asdict`, which copies every value: most of a record is replies, whose values never change.
        # What is not there takes no room.
        record["candidates"] = [_candidate_record(candidate) for candidate in self.candidates]
        return {_STORED_NAMES.get(name, name): value for name, value in record.items()}

    @classmethod
    def from_record(cls, record: dict[str, Any]) -> Self:
        """Restore a decision from a record written by `to_record`.

        Raises:
            RecordError: The record lacks a field, or has an unknown field or a value of the wrong type.
        """
        try:
            decision: Self = reader(Decision)(_with_defaults(record))
            if all(candidate.move != decision.move for candidate in decision.candidates):
                raise ValueError(f"{decision.move} is not among the candidates")
            for candidate in decision.candidates:
                if any(r.shallow_scores_centi and r.bound_centi is None for r in candidate.replies):
                    raise ValueError(f"{candidate.move}: a reply has shallow scores, but no bound")
        except (KeyError, TypeError, ValueError, AttributeError) as error:
            raise RecordError(f"not the record of a decision: {error}") from error
        return decision


def without_state(record: dict[str, Any]) -> dict[str, Any]:
    """A decision's record without what it used of the person's state.

    The replies' probabilities stay, since the choice follows from them; which of them the person's habits
    moved is no longer known.
    """
    use = record.get(_USE_STORED)
    if not isinstance(use, dict) or _STATE not in use:
        return record
    left = {name: value for name, value in use.items() if name != _STATE}
    return record | {_USE_STORED: left | {"is_forgotten": True}}


def _without_defaults(use: dict[str, Any]) -> dict[str, Any]:
    """The record of an `OpponentModelUse` without what most of them lack."""
    return {
        name: value
        for name, value in use.items()
        if not (name == _STATE and value is None) and not (name == "is_forgotten" and not value)
    }


def _with_defaults(record: dict[str, Any]) -> dict[str, Any]:
    """Update an old record: add missing fields and drop obsolete ones (`engine.figure_9`)."""
    params = {name: value for name, value in record["params"].items() if name != "threshold_centi"}
    if params.get("scale") == Scale.EXPECTED:
        params = {"risk_share_percent": 100.0, **params}
    record = {**record, "params": params}
    if use := record.get(_USE_STORED):
        record[_USE_STORED] = {**use, "value": {"share_percent": 100.0, **use["value"]}}
    return record


def _candidate_record(candidate: Candidate) -> dict[str, Any]:
    record = _without_none(candidate)
    return record | {"replies": [_without_none(reply) for reply in candidate.replies]}


def _without_none(value: Candidate | ReplyProfile) -> dict[str, Any]:
    """Return a dictionary of the fields that are not None."""
    return {
        _SHALLOW if name == "shallow_scores_centi" else name: value_of
        for name in value.__slots__
        if (value_of := getattr(value, name)) is not None
    }


class OutcomeKind(StrEnum):
    """Classes of the opponent's reply to our move (Gordon & Reda 2006, Figure 9)."""

    OPTIMAL = "optimal"
    """The reply is one of the best replies: its s_D equals the raw value of our move."""
    FELL_FOR_PAPER_TRAP = "fell"
    """The quality of the reply as a trap reaches the threshold (`engine.figure_9`)."""
    ERRED_ELSEWHERE = "erred_elsewhere"
    """Any other reply that is not optimal."""
    UNANSWERED = "unanswered"
    """The game ended before a reply. Not counted in Figure 9, but always recorded."""


@dataclass(frozen=True, slots=True)
class ProfileVerdict:
    """ReplyVerdicts of a chosen move from its complete profile, independent of the reply that was played."""

    rule: int
    """The version of the rules used (`engine.figure_9.FIGURE_9_RULE`)."""
    is_trap: bool
    """Whether the move sets a trap in the paper's sense."""
    trap_quality: float
    """Quality of the move's best trap, in hundredths of a per cent of expected score; 0: no trap."""
    reply_count: int
    """Number of legal replies."""
    is_decided: bool
    """Whether the move wins or loses by force."""


@dataclass(frozen=True, slots=True)
class Outcome:
    """The opponent's reply to our move, judged."""

    kind: OutcomeKind
    reply: str | None
    """The opponent's reply; None if the game ended before a reply."""
    fell_for_best: bool
    """Whether the reply is the move's best trap."""
    quality: float
    """Quality of the reply as a trap, in hundredths of a per cent of expected score."""
    cost_centi: int
    """What the reply cost the opponent, in centi-units: its s_D minus our move's raw value, at least 0."""
    cost: int
    """The cost in hundredths of a per cent of expected score."""
    rule: int
    """The version of the rules that classified the reply (`engine.figure_9.FIGURE_9_RULE`)."""
