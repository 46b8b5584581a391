"""What the program has learned of a person: sentences for their own page, and everything for download.

A sentence is said only from `MIN_REPLIES` judged replies on, and at most `MAX_SENTENCES` of one game: whether
the person errs more or less often than others of the same rating (if the 95 % interval excludes no
difference), the error that they repeated most, and how often they reply as before in a position that comes
again.
"""

from collections import defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, replace
from datetime import datetime
from typing import Any

from bot.text.bait_text import game_share
from bot.text.sentence import MoveText, Sentence
from engine.errors import RecordError
from engine.expected import WHOLE
from engine.figure_9 import MIN_ERROR_COST
from engine.game import BadPosition, IllegalMove, continued_position, positions, starting_position
from engine.games import get_rules
from engine.human.person_prior import card_path, read_card
from engine.human.reply_forecast import ReplyForecast
from engine.person.card import PersonModel, person_model
from engine.person.error_rate import ErrorRate, error_rate
from engine.person.known import among_people
from engine.person.site_state import SiteState
from engine.person.state import PersonState, shifted_base
from engine.person.symmetry import position_keys
from engine.person.tilt import dense, mean_tilt
from storage.evidence.queries.person_report import ReportedReply, repeated_errors
from storage.ledger.persons import StoredState
from storage.ledger.sites import SiteOfPerson
from storage.packing.records import unpack

MIN_REPLIES = 100
"""Minimum number of judged replies of which anything is said."""
MAX_SENTENCES = 3
MAX_FORECASTS = 1_000
"""Number of a person's latest replies that are compared with those of others."""
MAX_ERRORS = 10
"""Maximum number of repeated errors in a report."""


@dataclass(frozen=True, slots=True)
class RepeatedErrorReport:
    """An error that the person made more than once in the same position."""

    move: str
    """The reply's name."""
    times: int
    cost: int
    """What it cost the last time, in hundredths of a per cent of expected score."""
    game: str
    """The site's key of the latest game in which they made it."""
    ply: int
    """Number of moves in that game before our move, to which it was the reply."""


@dataclass(frozen=True, slots=True)
class Statement:
    """A sentence about the person, and the game that shows it."""

    text: Sentence
    error: RepeatedErrorReport | None = None
    """The error that it is about; None for another sentence."""


@dataclass(frozen=True, slots=True)
class PersonGameReport:
    """What is known of a person in one game."""

    game: str
    title: str
    games: int
    """Number of judged games."""
    replies: int
    """Number of judged replies."""
    errors: ErrorRate | None
    """None if there are too few replies, or the game has no model."""
    rating: int | None
    """The person's latest rating; None if unknown."""
    returns: int
    """Number of replies in positions that the person had met before."""
    same_replies: int
    """Number of those replies that were the same as the time before."""
    repeated: tuple[RepeatedErrorReport, ...]
    state: Mapping[str, Any]
    """The state's numbers, as plain JSON values."""

    @property
    def statements(self) -> tuple[Statement, ...]:
        """What the person's page says."""
        if self.replies < MIN_REPLIES:
            return ()
        found = [
            *(
                []
                if self.errors is None or not self.errors.differs
                else [Statement(_errors_text(self.errors, self.rating))]
            ),
            *(Statement(_repeated_text(each), each) for each in self.repeated[:1]),
        ]
        if self.returns:
            found.append(Statement(self._memory_text()))
        return tuple(found[:MAX_SENTENCES])

    def to_json(self) -> dict[str, Any]:
        """The report as plain JSON values, with the sentences for the arena's page."""
        statements = [
            {
                "text": each.text.to_json(),
                "english": str(each.text),
                "error": None if each.error is None else asdict(each.error),
            }
            for each in self.statements
        ]
        return {**asdict(self), "statements": statements, "min_replies": MIN_REPLIES}

    def _memory_text(self) -> Sentence:
        return Sentence(
            "Your replies in positions that you had met before: {n}. The same as the time before: {same}.",
            {"n": self.returns, "same": self.same_replies},
        )


def _errors_text(found: ErrorRate, rating: int | None) -> Sentence:
    own, low, high, others = (round(100 * x) for x in (found.own, found.low, found.high, found.others))
    arguments = {"own": own, "others": others, "low": low, "high": high, "n": found.replies}
    is_more = found.own > found.others
    if rating is None and is_more:
        return Sentence(
            "You err more often than others: about {own} in 100 replies, they {others} "
            "(95 %: {low} to {high}; {n} replies).",
            arguments,
        )
    if rating is None:
        return Sentence(
            "You err less often than others: about {own} in 100 replies, they {others} "
            "(95 %: {low} to {high}; {n} replies).",
            arguments,
        )
    arguments = {"rating": rating, **arguments}
    if is_more:
        return Sentence(
            "You err more often than others rated {rating}: about {own} in 100 replies, they {others} "
            "(95 %: {low} to {high}; {n} replies).",
            arguments,
        )
    return Sentence(
        "You err less often than others rated {rating}: about {own} in 100 replies, they {others} "
        "(95 %: {low} to {high}; {n} replies).",
        arguments,
    )


def _repeated_text(error: RepeatedErrorReport) -> Sentence:
    return Sentence(
        "{n} times you made the same error in the same position: {move}, which cost {share}.",
        {"n": error.times, "move": MoveText(error.move), "share": game_share(error.cost / WHOLE)},
    )


@dataclass(frozen=True, slots=True)
class PersonReport:
    """What is known of a person."""

    site: str
    name: str
    forgotten_at: datetime | None
    """When the person was forgotten; None if they were not."""
    games: tuple[PersonGameReport, ...]

    def to_json(self) -> dict[str, Any]:
        """The report as plain JSON values."""
        forgotten = None if self.forgotten_at is None else self.forgotten_at.isoformat()
        return {
            "site": self.site,
            "name": self.name,
            "forgotten_at": forgotten,
            "games": [each.to_json() for each in self.games],
        }


def person_game_report(
    game: str, stored: StoredState, replies: Sequence[ReportedReply], site: SiteOfPerson | None = None
) -> PersonGameReport:
    """Report on a person in one game.

    Args:
        game: The game's name.
        stored: The person's state.
        replies: The person's latest judged replies, the latest first.
        site: What is known of the site's people, with whom the person is compared; None for nothing.

    Raises:
        RecordError: The state or another record of the person is damaged.
    """
    try:
        return _report(game, stored, replies, site)
    except RecordError:
        raise
    except Exception as error:  # values that another program wrote may be anything
        what = f"{type(error).__name__}: {error}"
        raise RecordError(f"what is known of a person at {game} is damaged: {what}") from error


def _report(
    game: str, stored: StoredState, replies: Sequence[ReportedReply], site: SiteOfPerson | None
) -> PersonGameReport:
    state = PersonState.from_bytes(stored.state)
    faced = _faced(game, replies)
    known = [each for each in replies if each.decision_id in faced]
    keys = {each.decision_id: _key(game, faced[each.decision_id], each.reply) for each in known}
    returns, same = _returns([keys[each.decision_id] for each in reversed(known)])
    repeated = repeated_errors(known, lambda each: keys[each.decision_id], MIN_ERROR_COST)
    rating = replies[0].rating if replies else None
    model = model_of_version(game, state.version)
    return PersonGameReport(
        game,
        get_rules(game).title,
        stored.games,
        stored.replies,
        _error_rate(model, state, known, rating, None if site is None else site.others()),
        rating,
        returns,
        same,
        tuple(
            RepeatedErrorReport(
                _move_name(game, faced[each.latest.decision_id], each.latest.reply),
                each.times,
                each.latest.cost,
                each.latest.site_game_id,
                each.latest.ply,
            )
            for each in repeated[:MAX_ERRORS]
        ),
        _state_json(state, model),
    )


def model_of_version(game: str, version: str) -> PersonModel:
    """The model of persons by which a state was folded.

    Its base model is unknown if that has no prior of its own; such models share a prior.

    Raises:
        BadModel: A card is damaged.
    """
    path = card_path(game)
    prior = read_card(path) if path.exists() else None
    models = (person_model(game, prior, base) for base in (() if prior is None else prior.bases))
    without_base = replace(person_model(game, prior, ""), folded_as=version)
    return next((each for each in models if each.version == version), without_base)


def _error_rate(
    model: PersonModel,
    state: PersonState,
    replies: Sequence[ReportedReply],
    rating: int | None,
    others: SiteState | None,
) -> ErrorRate | None:
    faced = []
    for each in replies[:MAX_FORECASTS]:
        made = None if each.forecast is None else ReplyForecast.from_record(unpack(each.forecast))
        if made is not None and made.person is not None and made.person.version == state.version:
            shifted = shifted_base(model, made.base, made.person.shifts)
            faced.append((shifted, made.base, made.person.costs))
    if not state.tilts or len(faced) < MIN_REPLIES:
        return None
    tilts, prior = among_people(state, model, others, rating, None)
    if not tilts:  # no tilt of the person's is one of the site's
        tilts, prior = state.tilts, model.tilt_weights(rating, None)
    return error_rate(model.tilt, model.uniform, dense(tilts, len(prior)), prior, faced)


def _faced(game: str, replies: Sequence[ReportedReply]) -> dict[int, Any]:
    """The position of each reply, keyed by decision; replies of games that cannot be replayed are absent."""
    rules, found = get_rules(game), dict[int, Any]()
    by_game = defaultdict(list)
    for each in replies:
        by_game[each.game_id].append(each)
    for of_game in by_game.values():
        try:
            start = starting_position(rules, of_game[0].initial_position)
            known = tuple(positions(rules, of_game[0].moves.split(), start))
        except (BadPosition, IllegalMove):
            continue
        for each in of_game:
            if each.ply + 1 < len(known):
                found[each.decision_id] = continued_position(rules, known[each.ply + 1])
    return found


def _key(game: str, position: Any, reply: str) -> tuple[int, int]:
    """The position and the reply, equal if both are the same, up to symmetry."""
    found = position_keys(game, get_rules(game).position_text(position), (reply,))
    return found.position, found.replies[0]


def _move_name(game: str, position: Any, reply: str) -> str:
    rules = get_rules(game)
    return rules.move_name(position, rules.parse_move(position, reply))


def _returns(keys: Sequence[tuple[int, int]]) -> tuple[int, int]:
    """The numbers of replies in positions met before, and of those that repeat the reply before.

    Args:
        keys: Positions and replies, in the order of play.
    """
    latest: dict[int, int] = {}
    counts: dict[bool, int] = defaultdict(int)
    for position, reply in keys:
        if position in latest:
            counts[latest[position] == reply] += 1
        latest[position] = reply
    return sum(counts.values()), counts[True]


def _state_json(state: PersonState, model: PersonModel) -> dict[str, Any]:
    points = model.tilt.grid.points.tolist()
    mean = mean_tilt(model.tilt, state.tilts) if state.tilts else None
    vector = state.vector
    return {
        "version": state.version,
        "tilt": None if mean is None else dict(zip(("b", "k"), mean, strict=True)),
        "tilts": [
            {"x": points[at][0], "k": points[at][1], "millionths": weight} for at, weight in state.tilts
        ],
        "vector": None if vector is None else {"mean": vector.mean, "precision": vector.precision},
        "memory": [
            {
                "position": f"{position:016x}",
                "reply": f"{play.reply:08x}",
                "weight": play.weight_micro / 1e6,
                "game": play.game,
                "plays": play.plays,
            }
            for position, plays in sorted(state.memory.positions.items())
            for play in plays
        ],
    }
