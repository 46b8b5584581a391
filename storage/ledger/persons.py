"""States of persons: what the program has learned of each person from their judged games.

A state is the fold of a person's judged games of one kind in the order of their ends (`GameToFold.key`), so
it does not depend on when they were judged. Each judged game waits in the table ``games_to_fold`` until it is
in its person's state; the same transaction stores the state and ends the wait. A game that is judged, or
judged again, after a later one was folded is *late*: the person's state is then built again from the first
game (`restart_state`). The state of the person's site changes in the same transactions
(`storage.ledger.sites`). The judge takes an old database's games latest first, so that nearly all are late.
Late games therefore wait until none of the person's games is left to judge, or the late ones are as many as
the games in the state; so no game is folded more than a few times.

What counts is a person's first reply to a move of ours that the server confirmed, whatever our strategy, if
the move's profile is whole, the reply is judged and there were others. Games of bots and matches do not
count, nor do positions that come again after a takeback.
"""

from collections import defaultdict
from collections.abc import Callable, Collection, Iterable, Mapping
from dataclasses import dataclass
from datetime import datetime
from typing import Any

from sqlalchemy import (
    ColumnElement,
    Select,
    and_,
    case,
    delete,
    exists,
    func,
    insert,
    or_,
    select,
    union,
    update,
)
from sqlalchemy.ext.asyncio import AsyncSession
from sqlalchemy.orm import aliased

from engine.decision import without_state
from engine.errors import RecordError
from engine.human.reply_forecast import without_person
from engine.judge import JUDGE_VERSION
from engine.strategies.registry import STRATEGIES
from storage.filters import standing_conditions
from storage.inserts import insert_all_new, insert_new
from storage.ledger.sites import SiteKey, add_evidence, remove_evidence, remove_outdated_sites
from storage.packing.records import unpack
from storage.records import MATCH_SITE, DecisionState, GameResult, from_row
from storage.tables.games import (
    DecisionRow,
    ForecastRow,
    GameRow,
    JudgedGameRow,
    JudgementRow,
    OpponentRow,
    OutcomeRow,
)
from storage.tables.persons import ForgottenPersonRow, GameToFoldRow, PersonStateRow
from storage.tables.quarantine import QuarantineRow
from storage.tables.types import as_stored, now_utc

_MIN_REPLIES = 2
"""A forced reply says nothing about the person."""

ERASED_PER_BATCH = 25
"""Number of decisions whose records `erase_records` should read at once; more would delay moves."""
_MODELLING = tuple(name for name, strategy in STRATEGIES.items() if strategy.models_opponent)

GameKey = tuple[datetime, int]
"""The end and the database key of a game; states fold games in this order."""


@dataclass(frozen=True, slots=True)
class PersonKey:
    """A person in one game."""

    opponent_id: int
    """Database key of the person's account."""
    game: str


@dataclass(frozen=True, slots=True)
class StoredState:
    """A stored state of a person."""

    version: str
    games: int
    """Number of games in the state."""
    replies: int
    """Number of replies in the state."""
    last: GameKey
    """The latest game in the state."""
    evidence: bytes
    """What the games tell about the site's people (`storage.ledger.sites`)."""
    state: bytes


@dataclass(frozen=True, slots=True)
class _Extent:
    """What a state contains."""

    games: int
    last: GameKey


@dataclass(frozen=True, slots=True)
class RecordedReply:
    """A reply that counts, with packed records (`storage.packing.records`)."""

    decision_id: int
    ply: int
    """Number of moves before our move."""
    record: bytes
    """Our decision."""
    reply: str
    cost: int
    """What the reply cost by the judge, in hundredths of a per cent of expected score."""
    forecast: bytes | None
    """The forecast of the reply; None if there is none."""


@dataclass(frozen=True, slots=True)
class GameToFold:
    """A judged game of a person, with the replies that count."""

    key: GameKey
    person: PersonKey
    result: GameResult | None
    """The result from our side."""
    opponent_rating: int | None
    """The person's rating when the game began."""
    our_rating: int | None
    clock_initial_s: int | None
    clock_increment_s: int | None
    initial_position: str | None
    """The starting position; None for the standard one."""
    moves: tuple[str, ...]
    replies: tuple[RecordedReply, ...]


@dataclass(frozen=True, slots=True)
class FoldStep:
    """The next change of a person's state."""

    state: StoredState | None
    """The stored state; None before the first game."""
    game: GameToFold
    is_late: bool
    """Whether the game precedes the latest one in the state, which is then built again."""


# --- The games to fold ----------------------------------------------------------------------------------


async def queue_game(session: AsyncSession, game_id: int) -> None:
    """Let a judged game wait until it is in its person's state; no change if it does not count."""
    if await session.scalar(_counted(GameRow.id == game_id)) is not None:
        await insert_new(session, GameToFoldRow, game_id=game_id)


async def queue_outdated(session: AsyncSession, versions: Mapping[str, str]) -> int:
    """Remove the states of other versions, and let their games wait again; return the number of states.

    Args:
        session: The transaction.
        versions: The present version of each game's states; states of other games stay.
    """
    outdated = [
        and_(PersonStateRow.game == game, PersonStateRow.version != version)
        for game, version in versions.items()
    ]
    rows = await session.execute(
        select(PersonStateRow.opponent_id, PersonStateRow.game).where(or_(False, *outdated))
    )
    persons = [PersonKey(*row) for row in rows]
    for person in persons:
        await session.execute(delete(PersonStateRow).where(*_of(person)))
        await _queue_all(session, person)
    await remove_outdated_sites(session, versions)
    return len(persons)


async def restart_state(session: AsyncSession, person: PersonKey) -> None:
    """Remove a person's state, and let all of their judged games wait."""
    await lock_person(session, person.opponent_id)
    await _queue_all(session, person)
    await _remove_state(session, person)


async def _queue_all(session: AsyncSession, person: PersonKey) -> None:
    judged = select(JudgedGameRow.game_id).where(JudgedGameRow.game_id == GameRow.id).exists()
    games = await session.scalars(_counted(*_games_of(person), judged))
    await insert_all_new(session, GameToFoldRow, [{"game_id": game} for game in games])


async def games_of_persons(session: AsyncSession) -> set[str]:
    """Names of the games that have states of persons, or games that wait."""
    waiting = select(GameRow.game).join(GameToFoldRow, GameToFoldRow.game_id == GameRow.id)
    return set(await session.scalars(union(select(PersonStateRow.game), waiting)))


async def programs_with_states(session: AsyncSession) -> list[PersonKey]:
    """The persons with a state who turned out to be programs, in the order of their keys."""
    rows = await session.execute(
        select(PersonStateRow.opponent_id, PersonStateRow.game)
        .join(OpponentRow, OpponentRow.id == PersonStateRow.opponent_id)
        .where(OpponentRow.is_bot.is_(True))
        .order_by(PersonStateRow.opponent_id, PersonStateRow.game)
    )
    return [PersonKey(*row) for row in rows]


async def persons_to_fold(session: AsyncSession, games: Collection[str]) -> list[PersonKey]:
    """The persons whose state can be brought forward now, in the order of their keys.

    Args:
        session: The transaction.
        games: Names of the games in which persons are learned.
    """
    waiting: dict[PersonKey, list[GameKey]] = defaultdict(list)
    states: dict[PersonKey, _Extent] = {}
    for row in await session.execute(_waiting().where(GameRow.game.in_(games))):
        person = PersonKey(row.opponent_id, row.game)
        waiting[person].append((row.ended_at, row.id))
        if row.games is not None:
            states[person] = _Extent(row.games, (row.last_ended_at, row.last_game_id))
    has_late = any(min(keys) <= states[person].last for person, keys in waiting.items() if person in states)
    rows = await session.execute(_unjudged().distinct()) if has_late else ()
    unjudged = {PersonKey(*row) for row in rows}
    return [
        person
        for person, keys in sorted(waiting.items(), key=lambda each: (each[0].opponent_id, each[0].game))
        if _next(keys, states.get(person), is_unjudged=person in unjudged) is not None
    ]


async def next_fold(session: AsyncSession, person: PersonKey) -> FoldStep | None:
    """The next change of a person's state; None if there is none for now.

    Raises:
        RecordError: A row cannot be read.
    """
    keys = [(row.ended_at, row.id) for row in await session.execute(_waiting().where(*_games_of(person)))]
    if not keys:
        return None
    state = await load_state(session, person)
    extent = None if state is None else _Extent(state.games, state.last)
    is_unjudged = await session.scalar(_unjudged().where(*_games_of(person)).limit(1)) is not None
    key = _next(keys, extent, is_unjudged=is_unjudged)
    if key is None:
        return None
    return FoldStep(state, await _game_to_fold(session, person, key), state is not None and key <= state.last)


async def store_state(session: AsyncSession, step: FoldStep, new: StoredState) -> bool:
    """Store a person's state with the step's game in it, and its share in the site's state.

    Args:
        session: The transaction.
        step: From `next_fold`.
        new: The state; its latest game is the step's.

    Returns:
        False, changing nothing, if the game or the state has changed since the step was read, or the person
        asked to be forgotten.
    """
    person, (ended_at, game_id) = step.game.person, new.last
    if not await _is_unchanged(session, step):
        return False
    await session.execute(delete(PersonStateRow).where(*_of(person)))
    await session.execute(
        insert(PersonStateRow).values(
            opponent_id=person.opponent_id,
            game=person.game,
            version=new.version,
            games=new.games,
            replies=new.replies,
            last_ended_at=ended_at,
            last_game_id=game_id,
            evidence=new.evidence,
            state=new.state,
        )
    )
    await session.execute(delete(GameToFoldRow).where(GameToFoldRow.game_id == game_id))
    before = None if step.state is None or step.state.version != new.version else step.state.evidence
    await add_evidence(session, await _site_of(session, person), new.version, before, new.evidence)
    return True


async def skip_game(session: AsyncSession, step: FoldStep) -> bool:
    """End the wait of a game without replies that count; return False as `store_state` does."""
    if not await _is_unchanged(session, step):
        return False
    await session.execute(delete(GameToFoldRow).where(GameToFoldRow.game_id == step.game.key[1]))
    return True


async def _is_unchanged(session: AsyncSession, step: FoldStep) -> bool:
    """Lock a step's person and game, and compare both with what the step read."""
    person = step.game.person
    await lock_person(session, person.opponent_id)
    if await session.get(ForgottenPersonRow, person.opponent_id) is not None:
        return False
    locked = select(GameRow.id).where(GameRow.id == step.game.key[1]).with_for_update()
    await session.execute(locked)
    if await load_state(session, person) != step.state:
        return False
    is_waiting = await session.get(GameToFoldRow, step.game.key[1]) is not None
    return is_waiting and await _game_to_fold(session, person, step.game.key) == step.game


async def _remove_state(session: AsyncSession, person: PersonKey) -> None:
    """Remove the state of a locked person, and its share in the site's state."""
    state = await load_state(session, person)
    if state is None:
        return
    await session.execute(delete(PersonStateRow).where(*_of(person)))
    await remove_evidence(session, await _site_of(session, person), state.version, state.evidence)


async def _site_of(session: AsyncSession, person: PersonKey) -> SiteKey:
    site = await session.scalar(select(OpponentRow.site).where(OpponentRow.id == person.opponent_id))
    return SiteKey(str(site), person.game)


# --- States ---------------------------------------------------------------------------------------------


async def load_state(session: AsyncSession, person: PersonKey) -> StoredState | None:
    """A person's state; None if there is none."""
    row = (await session.execute(select(PersonStateRow).where(*_of(person)))).scalar_one_or_none()
    return None if row is None else _stored(row)


async def states_of(session: AsyncSession, opponent_id: int) -> dict[str, StoredState]:
    """All states of a person, keyed by game."""
    of_person = select(PersonStateRow).where(PersonStateRow.opponent_id == opponent_id)
    rows = await session.scalars(of_person.order_by(PersonStateRow.game))
    return {row.game: _stored(row) for row in rows}


async def earlier_replies(session: AsyncSession, game_id: int, ply: int) -> list[tuple[bytes, str]]:
    """The packed forecasts of a game's decisions before a ply, and the first replies to these decisions."""
    rows = await session.execute(
        select(as_stored(ForecastRow.record).label("forecast"), OutcomeRow.reply)
        .join(DecisionRow, DecisionRow.id == ForecastRow.decision_id)
        .join(OutcomeRow, OutcomeRow.decision_id == DecisionRow.id)
        .where(
            DecisionRow.game_id == game_id,
            DecisionRow.ply < ply,
            *standing_conditions(),
            OutcomeRow.reply.is_not(None),
        )
        .order_by(DecisionRow.ply)
    )
    return [(row.forecast, str(row.reply)) for row in rows]


async def is_person_of_game_forgotten(session: AsyncSession, game_id: int) -> bool:
    """Whether the person whom we play in a game was forgotten."""
    statement = (
        select(ForgottenPersonRow.opponent_id)
        .join(GameRow, GameRow.opponent_id == ForgottenPersonRow.opponent_id)
        .where(GameRow.id == game_id)
    )
    return await session.scalar(statement) is not None


async def state_for_game(session: AsyncSession, game_id: int) -> StoredState | None:
    """The state of the person whom we play in a game; None if there is none."""
    row = (
        await session.execute(select(GameRow.opponent_id, GameRow.game).where(GameRow.id == game_id))
    ).one()
    return await load_state(session, PersonKey(row.opponent_id, row.game))


async def find_persons(session: AsyncSession, site: str, name: str) -> list[tuple[int, str, str]]:
    """Opponents of a site with this key, or else with this name, or else with either ignoring case: our keys,
    the site's keys, and the names."""
    # SQLite's lower() handles only ASCII; the exact spelling matches on every database.
    wanted = name.lower()
    rows = await session.execute(
        select(OpponentRow.id, OpponentRow.site_id, OpponentRow.name)
        .where(
            OpponentRow.site == site,
            or_(
                OpponentRow.site_id == name,
                OpponentRow.name == name,
                func.lower(OpponentRow.site_id) == wanted,
                func.lower(OpponentRow.name) == wanted,
            ),
        )
        .order_by(OpponentRow.id)
    )
    found = [(row.id, row.site_id, row.name) for row in rows]
    of_key, of_name = ([each for each in found if each[at] == name] for at in (1, 2))
    return of_key or of_name or found


async def name_of_person(session: AsyncSession, opponent_id: int) -> tuple[str, str]:
    """The site and the latest name of the person with this database key."""
    columns = select(OpponentRow.site, OpponentRow.name).where(OpponentRow.id == opponent_id)
    row = (await session.execute(columns)).one()
    return row.site, row.name


async def lock_person(session: AsyncSession, opponent_id: int) -> None:
    """Keep other transactions from changing what is known of a person until this one ends."""
    await session.execute(select(OpponentRow.id).where(OpponentRow.id == opponent_id).with_for_update())


# --- Forgetting -----------------------------------------------------------------------------------------


async def forget_person(session: AsyncSession, opponent_id: int) -> bool:
    """Remove a person's states, also from what is known of the site's people, and learn nothing of them any
    more; return False if that was done before.

    Call `erase_records` afterwards.
    """
    await lock_person(session, opponent_id)
    inserted = await insert_new(session, ForgottenPersonRow, opponent_id=opponent_id, forgotten_at=now_utc())
    games = select(GameRow.id).where(GameRow.opponent_id == opponent_id)
    await session.execute(delete(GameToFoldRow).where(GameToFoldRow.game_id.in_(games)))
    of_person = select(PersonStateRow.game).where(PersonStateRow.opponent_id == opponent_id)
    for game in (await session.scalars(of_person.order_by(PersonStateRow.game))).all():
        await _remove_state(session, PersonKey(opponent_id, game))
    return inserted is not None


async def erase_all_records(session: AsyncSession, opponent_id: int) -> None:
    """`erase_records`, all in one transaction."""
    after: int | None = 0
    while after is not None:
        after = await erase_records(session, opponent_id, after, ERASED_PER_BATCH)


async def forgotten_at(session: AsyncSession, opponent_id: int) -> datetime | None:
    """When a person was forgotten; None if they were not."""
    of_person = ForgottenPersonRow.opponent_id == opponent_id
    return await session.scalar(select(ForgottenPersonRow.forgotten_at).where(of_person))


async def erase_records(session: AsyncSession, opponent_id: int, after: int, limit: int) -> int | None:
    """Erase what the records of our next decisions against a person, and their forecasts, say of the person.

    Probabilities and costs remain, as statistics need them. Damaged forecasts in the quarantine are deleted:
    they can be made again.

    Args:
        session: The transaction.
        opponent_id: The person.
        after: Only decisions with greater keys.
        limit: Maximum number of decisions.

    Returns:
        The key of the last decision; None if there are no more.
    """
    is_modelled = GameRow.strategy.in_(_MODELLING)  # other records, which are long, need not be read
    rows = await session.execute(
        select(
            DecisionRow.id,
            case((is_modelled, as_stored(DecisionRow.record))).label("decision"),
            as_stored(ForecastRow.record).label("forecast"),
        )
        .join(GameRow, GameRow.id == DecisionRow.game_id)
        .outerjoin(ForecastRow, ForecastRow.decision_id == DecisionRow.id)
        .where(GameRow.opponent_id == opponent_id, DecisionRow.id > after)
        .order_by(DecisionRow.id)
        .limit(limit)
    )
    last, quarantined = None, []
    for row in rows.all():
        last = row.id
        quarantined += [str(row.id), f"'{row.id}'"]  # literals of SQLite and PostgreSQL
        if (left := _changed(row.decision, without_state)) is not None:
            of_decision = update(DecisionRow).where(DecisionRow.id == row.id)
            await session.execute(of_decision.values(record=left))
        if (left := _changed(row.forecast, without_person)) is not None:
            of_forecast = update(ForecastRow).where(ForecastRow.decision_id == row.id)
            await session.execute(of_forecast.values(record=left))
    await session.execute(
        delete(QuarantineRow).where(
            QuarantineRow.table_name == ForecastRow.__tablename__, QuarantineRow.row_key.in_(quarantined)
        )
    )
    return last


def _changed(
    packed: bytes | None, without: Callable[[dict[str, Any]], dict[str, Any]]
) -> dict[str, Any] | None:
    """A packed record without something; None if it is the same, or there is none that can be read."""
    try:
        record = {} if packed is None else unpack(packed)
    except RecordError:
        return None
    left = without(record)
    return None if left == record else left


async def is_person_of_decision_forgotten(session: AsyncSession, decision_id: int) -> bool:
    """Whether the person who replies to a decision was forgotten."""
    statement = (
        select(ForgottenPersonRow.opponent_id)
        .join(GameRow, GameRow.opponent_id == ForgottenPersonRow.opponent_id)
        .join(DecisionRow, DecisionRow.game_id == GameRow.id)
        .where(DecisionRow.id == decision_id)
    )
    return await session.scalar(statement) is not None


# --- SQL ------------------------------------------------------------------------------------------------


def _stored(row: PersonStateRow) -> StoredState:
    last = (row.last_ended_at, row.last_game_id)
    return StoredState(row.version, row.games, row.replies, last, row.evidence, row.state)


def _of(person: PersonKey) -> tuple[ColumnElement[bool], ...]:
    return PersonStateRow.opponent_id == person.opponent_id, PersonStateRow.game == person.game


def _games_of(person: PersonKey) -> tuple[ColumnElement[bool], ...]:
    return GameRow.opponent_id == person.opponent_id, GameRow.game == person.game


def _counts() -> tuple[ColumnElement[bool], ...]:
    """Conditions on `GameRow` and `OpponentRow`: the game is of a person who was not forgotten."""
    forgotten = exists().where(ForgottenPersonRow.opponent_id == GameRow.opponent_id)
    return GameRow.site != MATCH_SITE, OpponentRow.is_bot.is_(False), ~forgotten


def _counted(*which: ColumnElement[bool]) -> Select[int]:
    """Keys of the games that count."""
    return (
        select(GameRow.id).join(OpponentRow, OpponentRow.id == GameRow.opponent_id).where(*_counts(), *which)
    )


def _waiting() -> Select[int, int, str, datetime, int, datetime, int]:
    """The games that wait, with their persons, their ends, and the extents of the persons' states."""
    ended_at = func.coalesce(GameRow.ended_at, GameRow.started_at).label("ended_at")
    return (
        select(
            GameRow.id,
            GameRow.opponent_id,
            GameRow.game,
            ended_at,
            PersonStateRow.games,
            PersonStateRow.last_ended_at,
            PersonStateRow.last_game_id,
        )
        .join(GameToFoldRow, GameToFoldRow.game_id == GameRow.id)
        .join(OpponentRow, OpponentRow.id == GameRow.opponent_id)
        .outerjoin(
            PersonStateRow,
            and_(PersonStateRow.opponent_id == GameRow.opponent_id, PersonStateRow.game == GameRow.game),
        )
        .where(*_counts())
    )


def _unjudged() -> Select[int, str]:
    """The persons with a game that is over and that the present judge has yet to judge."""
    judged = exists().where(JudgedGameRow.game_id == GameRow.id, JudgedGameRow.version == JUDGE_VERSION)
    return select(GameRow.opponent_id, GameRow.game).where(GameRow.is_settled.is_(True), ~judged)


def _next(keys: Iterable[GameKey], state: _Extent | None, *, is_unjudged: bool) -> GameKey | None:
    """The game to fold next; None if all of them still wait.

    Args:
        keys: The person's games that wait.
        state: The extent of the person's state; None if there is none.
        is_unjudged: Whether some of the person's games are yet to be judged.
    """
    if state is None:
        return min(keys)
    late = [key for key in keys if key <= state.last]
    if late and (not is_unjudged or len(late) >= state.games):
        return min(late)
    return min((key for key in keys if key > state.last), default=None)


_PLAYED = select(
    GameRow.result,
    GameRow.opponent_rating,
    GameRow.our_rating,
    GameRow.clock_initial_s,
    GameRow.clock_increment_s,
    GameRow.initial_position,
    GameRow.moves,
)


async def _game_to_fold(session: AsyncSession, person: PersonKey, key: GameKey) -> GameToFold:
    row = (await session.execute(_PLAYED.where(GameRow.id == key[1]))).one()
    replies = [
        RecordedReply(decision, ply, record, str(reply), cost, forecast)
        for decision, ply, record, reply, cost, forecast in await session.execute(_replies(key[1]))
    ]
    return from_row(
        GameToFold, row, key=key, person=person, moves=tuple(row.moves.split()), replies=tuple(replies)
    )


def _replies(game_id: int) -> Select[int, int, bytes, str | None, int, bytes]:
    taken_back = aliased(DecisionRow)
    came_again = exists().where(
        taken_back.game_id == DecisionRow.game_id, taken_back.ply == DecisionRow.ply, taken_back.takeback > 0
    )
    return (
        select(
            DecisionRow.id,
            DecisionRow.ply,
            as_stored(DecisionRow.record).label("decision"),
            OutcomeRow.reply,
            JudgementRow.cost,
            as_stored(ForecastRow.record).label("forecast"),
        )
        .join(OutcomeRow, OutcomeRow.decision_id == DecisionRow.id)
        .join(JudgedGameRow, JudgedGameRow.game_id == DecisionRow.game_id)
        .join(
            JudgementRow,
            and_(JudgementRow.decision_id == DecisionRow.id, JudgementRow.version == JudgedGameRow.version),
        )
        .outerjoin(ForecastRow, ForecastRow.decision_id == DecisionRow.id)
        .where(
            DecisionRow.game_id == game_id,
            *standing_conditions(),
            DecisionRow.state == DecisionState.CONFIRMED,
            DecisionRow.is_complete.is_(True),
            DecisionRow.reply_count >= _MIN_REPLIES,
            OutcomeRow.reply.is_not(None),
            ~came_again,
        )
        .order_by(DecisionRow.ply)
    )
