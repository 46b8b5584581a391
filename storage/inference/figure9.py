"""Figure 9 of Gordon & Reda 2006 beside chance and the people model: falls into traps, and errors.

The paper counts how many traps worked, and gives no number to compare the count with.  For each trap that was
answered, O is 1 if the person fell, E_u the share of the replies that are falls (a person who moves at random
falls so often), and E_m their probability by the people model, as stored with the decision.  The means of
O - E_u and O - E_m have intervals that are right at any time (`any_time`) and, for a look planned beforehand,
fixed ones by person (`fixed`).  The same is told of errors in all judged replies.  Positions already decided
have rows of their own: there a bad reply changes nothing.
"""

from collections.abc import Callable, Iterable, Sequence
from dataclasses import asdict, dataclass
from typing import Any, Literal

import numpy as np

from storage.inference.any_time import AnyTimeEstimate, Opt, SequenceDesign, estimate
from storage.inference.fixed import FixedInterval, fixed_mean
from storage.inference.persons import Floats, PersonId

CAP_GAMES = 50
"""So many games of a person count, the first ones."""


@dataclass(frozen=True, slots=True, kw_only=True)
class JudgedReply:
    """A person's reply to a move of ours, judged by the move's stored profile."""

    decision_id: int | str
    game_id: int | str
    person: PersonId
    player: str
    """Which of our players made the move: trappy, standard."""
    game: str
    """What was played: othello, chess, xiangqi."""
    model: str | None
    """Name and version of the people model whose probabilities were stored; None: there was none."""
    rating: int | None
    """The person's rating before the game; None: unrated."""
    ply: int
    """Plies of the game before the reply."""
    games_before: int
    """Games that the person began against us before this one."""
    decided: bool
    """The game was decided before our move: won or lost whatever the reply."""
    is_trap: bool
    """Our move set a trap: some reply is a fall."""
    fell: bool
    """The reply is a fall: of at least the threshold's quality.  Only after a trap."""
    fall_chance: float | None
    """E_u: share of the replies that are falls; None: no trap."""
    fall_model: float | None
    """E_m: probability of a fall by the people model; None: no trap or no model."""
    erred: bool
    """The reply is an error."""
    error_chance: float
    """Share of the replies that are errors."""
    error_model: float | None
    """Probability of an error by the people model; None: no model."""

    def __post_init__(self) -> None:
        what = f"reply to decision {self.decision_id}"
        if self.is_trap != (self.fall_chance is not None):
            raise ValueError(f"{what}: fall_chance is {self.fall_chance}, is_trap {self.is_trap}")
        if not self.is_trap and (self.fell or self.fall_model is not None):
            raise ValueError(f"{what}: no trap, but a fall or its probability")
        for name in ("fall_chance", "fall_model", "error_chance", "error_model"):
            value = getattr(self, name)
            if value is not None and not 0 <= value <= 1:
                raise ValueError(f"{what}: {name} is {value}, not from 0 to 1")
        if (self.error_model is None) != (self.model is None):
            raise ValueError(f"{what}: error_model is {self.error_model}, the model {self.model}")
        for name in ("ply", "games_before"):
            if getattr(self, name) < 0:
                raise ValueError(f"{what}: {name} is {getattr(self, name)}, less than 0")


@dataclass(frozen=True, slots=True)
class Beyond:
    """How much more often something happened than expected."""

    expected: float | None
    """Mean expectation of these replies, from 0 to 1; None without replies."""
    any_time: AnyTimeEstimate
    """Mean of happened less expected, right at any time."""
    fixed: FixedInterval
    """The same, for a look planned beforehand."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Figure9Row:
    """One line of the table."""

    player: str
    what: Literal["falls", "errors"]
    """Falls of answered traps, or errors of all judged replies."""
    decided: bool
    """Whether the positions were decided before."""
    n: int
    """Answered traps, or judged replies."""
    count: int
    """How many fell, or erred."""
    happened: FixedInterval
    """Their share, from 0 to 1."""
    chance: Beyond
    """Compared with random replies."""
    model: Beyond
    """Compared with the people model, where there was one."""


@dataclass(frozen=True, slots=True)
class Figure9Table:
    """The table."""

    rows: tuple[Figure9Row, ...]
    """By player; falls before errors; decided positions last."""
    over_cap: int
    """Replies left out because their person's first games were enough."""

    def to_json(self) -> dict[str, Any]:
        """Plain JSON values."""
        return asdict(self)


def figure9(
    replies: Iterable[JudgedReply],
    opt_traps: int = Opt.TRAPS,
    opt_replies: int = Opt.REPLIES,
    cap_games: int = CAP_GAMES,
) -> Figure9Table:
    """The table of all judged replies, in any order.

    Args:
        replies: One for each judged reply.
        opt_traps: Where the intervals of falls are tightest.
        opt_replies: Where the intervals of errors are tightest.
        cap_games: So many games of a person count.

    Raises:
        ValueError: `cap_games` is less than 1, or an opt is.
    """
    if cap_games < 1:
        raise ValueError(f"cap_games is {cap_games}, not 1 or more")
    traps, errors = SequenceDesign(opt_traps), SequenceDesign(opt_replies)
    everything = list(replies)
    counted = [reply for reply in everything if reply.games_before < cap_games]
    rows = []
    for player in sorted({reply.player for reply in counted}):
        for decided in (False, True):
            here = [reply for reply in counted if reply.player == player and reply.decided is decided]
            if not here:
                continue
            answered = [reply for reply in here if reply.is_trap]
            rows.append(_row(player, "falls", decided, answered, traps, _fell, _fall_chance, _fall_model))
            rows.append(_row(player, "errors", decided, here, errors, _erred, _error_chance, _error_model))
    rows.sort(key=lambda row: row.decided)
    return Figure9Table(tuple(rows), len(everything) - len(counted))


def _fell(reply: JudgedReply) -> bool:
    return reply.fell


def _fall_chance(reply: JudgedReply) -> float | None:
    return reply.fall_chance


def _fall_model(reply: JudgedReply) -> float | None:
    return reply.fall_model


def _erred(reply: JudgedReply) -> bool:
    return reply.erred


def _error_chance(reply: JudgedReply) -> float | None:
    return reply.error_chance


def _error_model(reply: JudgedReply) -> float | None:
    return reply.error_model


def _row(
    player: str,
    what: Literal["falls", "errors"],
    decided: bool,
    replies: Sequence[JudgedReply],
    design: SequenceDesign,
    happened: Callable[[JudgedReply], bool],
    chance: Callable[[JudgedReply], float | None],
    model: Callable[[JudgedReply], float | None],
) -> Figure9Row:
    seen = _floats(float(happened(reply)) for reply in replies)
    return Figure9Row(
        player=player,
        what=what,
        decided=decided,
        n=len(replies),
        count=int(seen.sum()),
        happened=fixed_mean(seen, [reply.person for reply in replies]),
        chance=_beyond(replies, happened, chance, design),
        model=_beyond(replies, happened, model, design),
    )


def _beyond(
    replies: Sequence[JudgedReply],
    happened: Callable[[JudgedReply], bool],
    expectation: Callable[[JudgedReply], float | None],
    design: SequenceDesign,
) -> Beyond:
    pairs = [(reply, value) for reply in replies if (value := expectation(reply)) is not None]
    expected = _floats(value for _, value in pairs)
    beyond = _floats(float(happened(reply)) for reply, _ in pairs) - expected
    persons = [reply.person for reply, _ in pairs]
    mean = float(expected.mean()) if len(expected) else None
    return Beyond(mean, estimate(beyond, persons, design), fixed_mean(beyond, persons))


def _floats(values: Iterable[float]) -> Floats:
    return np.fromiter(values, np.float64)
