"""Facts about judged replies and games: plain rows from the database, for everything that is counted.

Only what today's rules judged is here (`engine.judgement`, `engine.bait_rule`): `count_outdated` says how
much is not.  A person is an opponent's account at a site.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime
from functools import lru_cache
from typing import Any

from sqlalchemy import ColumnElement, Select, Subquery, case, func, literal, or_, select, true
from sqlalchemy.ext.asyncio import AsyncSession

from engine.bait_rule import RULE as FORECAST_RULE
from engine.decision import OutcomeKind
from engine.expected import WHOLE
from engine.judgement import ERROR, RULE
from storage.damage import read_rows, require_number, require_texts
from storage.evidence.statistics.valid_summaries import is_valid, without_summary
from storage.filters import Filters, TrapSettings, in_phase, of_games, shown_games, standing
from storage.records import LEAST_RATING, MOST_RATING, GameResult, GameStatus
from storage.tables.games import (
    DecisionRow,
    EngineConfigRow,
    ForecastRow,
    GameRow,
    OpponentRow,
    OutcomeRow,
)
from storage.tables.summaries import GameSummaryRow

_BATCH = 500
"""Games in one statement."""
_DIGITS = 8
"""Shown of a SHA-256."""
_MOST = 2**31 - 1
"""The largest number that every database stores as an integer."""
_ROUNDED = 0.01
"""By so much rounding may take a sum of probabilities beyond 0 or 1."""
_TEXTS = ("site", "account", "game", "speed", "player", "engine_version")
"""Columns of a game that groups are formed by."""
_SHARES = (
    *("error_uniform", "error_expected", "fall_uniform", "fall_expected"),
    *("bait_uniform", "bait_expected"),
)


@dataclass(frozen=True, slots=True, kw_only=True)
class GameFact:
    """A game of ours."""

    id: int
    site: str
    account: str
    game: str
    speed: str
    rated: bool
    player: str
    version: str
    """The engine's version."""
    settings: str
    """The trap arithmetic's settings, in one line."""
    person: int
    """Key of the opponent's account."""
    is_bot: bool
    opponent_rating: int | None
    our_rating: int | None
    state: GameStatus
    is_settled: bool
    """As `storage.records.StoredGame.is_settled`."""
    result: GameResult | None
    end_reason: str | None
    our_side: int
    started_at: datetime
    ended_at: datetime | None
    plies: int
    games_before: int
    """Games that the same person began against any of our accounts before this one, at this game, without
    aborted ones."""

    @property
    def score(self) -> float | None:
        """Ours: 1, 1/2 or 0; None: no result."""
        if self.result is None:
            return None
        return {GameResult.WIN: 1.0, GameResult.DRAW: 0.5, GameResult.LOSS: 0.0}[self.result]


@dataclass(frozen=True, slots=True, kw_only=True)
class ReplyFact:
    """A judged reply to a move of ours; costs and probabilities from 0 to 1."""

    decision_id: int
    game_id: int
    ply: int
    """Of our move: the moves made before it."""
    reply_count: int
    is_decided: bool
    """Our move won or lost by force."""
    is_trap: bool
    """Our move set a trap in the paper's sense."""
    kind: OutcomeKind
    fell_for_best: bool
    cost: float
    erred: bool
    is_taken: bool
    """The reply took a bait."""
    has_bait: bool
    """Our move set a tempting trap: a confirmed bait."""
    model: str
    """Who made the forecast, as `model_text` writes it."""
    error_uniform: float
    error_expected: float
    cost_uniform: float
    cost_expected: float
    fall_uniform: float
    fall_expected: float
    bait_uniform: float
    bait_expected: float


@lru_cache(maxsize=1000)
def model_text(name: str, sha256: str, prior: str) -> str:
    """A model of people, or the replies' looks, in one line, for instance ``maia-1500 1f2e3d4c``.

    Args:
        name: Its name.
        sha256: Of its file, of which the first digits are shown; empty: it has none.
        prior: SHA-256 of the card by which it was tilted to the person; empty: it was not.
    """
    text = f"{name} {sha256[:_DIGITS]}".strip()
    return f"{text}, tilted by {prior[:_DIGITS]}" if prior else text


async def game_facts(
    session: AsyncSession,
    filters: Filters | None = None,
    *,
    aborted: bool = False,
    numbered: bool = True,
) -> list[GameFact]:
    """The games that pass the filters, in the order in which they began.

    Matches between programs count only if the filters name their site or one of them.

    Args:
        filters: Which games; None: all.
        aborted: Whether aborted games are there, too.  A trial needs them: a player was drawn for them.
        numbered: Whether `games_before` is wanted, for which all games are numbered; else it is 0.

    Raises:
        RecordError: A game's row is damaged; the message names it.
    """
    before, numbers = _games_before() if numbered else (literal(0), None)
    statement = (
        select(
            GameRow.id,
            GameRow.site,
            GameRow.account,
            GameRow.game,
            GameRow.speed,
            GameRow.rated,
            GameRow.player,
            GameRow.opponent_id,
            OpponentRow.is_bot,
            GameRow.opponent_rating,
            GameRow.our_rating,
            GameRow.state,
            GameRow.is_settled,
            GameRow.result,
            GameRow.end_reason,
            GameRow.our_side,
            GameRow.started_at,
            GameRow.ended_at,
            func.length(GameRow.moves).label("length"),
            func.length(func.replace(GameRow.moves, " ", "")).label("letters"),
            before.label("before"),
            EngineConfigRow.engine_version,
            EngineConfigRow.assessment,
            EngineConfigRow.scale,
            EngineConfigRow.margin_centi,
            EngineConfigRow.decided,
            EngineConfigRow.risk_percent,
            EngineConfigRow.risk_share_percent,
            EngineConfigRow.threshold_percent,
        )
        .join(OpponentRow, OpponentRow.id == GameRow.opponent_id)
        .join(EngineConfigRow, EngineConfigRow.id == GameRow.engine_config_id)
        .where(true() if aborted else GameRow.state != GameStatus.ABORTED, *shown_games(filters))
        .order_by(GameRow.started_at, GameRow.id)
    )
    if numbers is not None:
        statement = statement.join(numbers, numbers.c.id == GameRow.id)
    return read_rows("game", await session.execute(statement), _game_fact)


def _games_before() -> tuple[ColumnElement[int], Subquery]:
    """`GameFact.games_before`, and the table that it is a column of.

    It is computed before any filters apply.
    """
    is_counted = case((GameRow.state != GameStatus.ABORTED, 1), else_=0)
    numbers = select(
        GameRow.id,
        is_counted.label("own"),
        func.sum(is_counted)
        .over(
            partition_by=(GameRow.opponent_id, GameRow.game),
            order_by=(GameRow.started_at, GameRow.id),
        )
        .label("number"),
    ).subquery()
    return numbers.c.number - numbers.c.own, numbers


def require_ratings(row: Any) -> None:
    """Refuse a game's row with ratings that are none.

    Raises:
        RecordError: The message names the value.
    """
    for name in ("opponent_rating", "our_rating"):
        require_rating(name, getattr(row, name))


def require_rating(name: str, rating: object) -> None:
    """Refuse a rating that is none; None is no rating, and allowed.

    Raises:
        RecordError: The message names the value.
    """
    if rating is not None:
        require_number(name, rating, LEAST_RATING, MOST_RATING)


def _game_fact(row: Any) -> GameFact:
    require_ratings(row)
    require_texts(row, *_TEXTS)
    require_number("our_side", row.our_side, 0, 1)
    return GameFact(
        id=row.id,
        site=row.site,
        account=row.account,
        game=row.game,
        speed=row.speed,
        rated=row.rated,
        player=row.player,
        version=row.engine_version,
        settings=TrapSettings(
            row.assessment,
            row.scale,
            row.margin_centi,
            row.decided,
            row.risk_percent,
            row.risk_share_percent,
            row.threshold_percent,
        ).text,
        person=row.opponent_id,
        is_bot=row.is_bot,
        opponent_rating=row.opponent_rating,
        our_rating=row.our_rating,
        state=row.state,
        is_settled=row.is_settled,
        result=row.result,
        end_reason=row.end_reason,
        our_side=row.our_side,
        started_at=row.started_at,
        ended_at=row.ended_at,
        plies=0 if not row.length else row.length - row.letters + 1,
        games_before=row.before,
    )


async def reply_facts(session: AsyncSession, filters: Filters | None = None) -> list[ReplyFact]:
    """The judged replies in the same games, with two replies or more to choose from, in the order of play.

    Args:
        session: Of the transaction.
        filters: Which games, and which replies in them; None: all.

    Raises:
        RecordError: What is stored of one is damaged; the message names the decision.
    """
    filters = filters or Filters()
    which = GameRow.state != GameStatus.ABORTED, *shown_games(of_games(filters)), *in_phase(filters)
    statement = (
        _replies(*which)
        .join(GameRow, GameRow.id == DecisionRow.game_id)
        .order_by(GameRow.started_at, DecisionRow.game_id, DecisionRow.ply)
    )
    return read_rows("decision", await session.execute(statement), _reply_fact)


async def replies_of_games(session: AsyncSession, games: Sequence[int]) -> dict[int, list[ReplyFact]]:
    """The judged replies of some games, aborted ones too, by the game's key; errors as `reply_facts`."""
    found: dict[int, list[ReplyFact]] = {game: [] for game in games}
    for start in range(0, len(games), _BATCH):
        # By the games' keys, so that no database reads all decisions.
        statement = _replies(DecisionRow.game_id.in_(games[start : start + _BATCH]))
        ordered = statement.order_by(DecisionRow.game_id, DecisionRow.ply)
        for reply in read_rows("decision", await session.execute(ordered), _reply_fact):
            found[reply.game_id].append(reply)
    return found


def _replies(*which: ColumnElement[bool]) -> Select[*tuple[Any, ...]]:
    return (
        select(
            DecisionRow.id,
            DecisionRow.game_id,
            DecisionRow.ply,
            DecisionRow.reply_count,
            DecisionRow.is_decided,
            DecisionRow.is_trap,
            OutcomeRow.kind,
            OutcomeRow.fell_for_best,
            OutcomeRow.cost,
            ForecastRow.is_taken,
            ForecastRow.bait,
            ForecastRow.model_name,
            ForecastRow.model_sha256,
            ForecastRow.prior,
            ForecastRow.error_uniform,
            ForecastRow.error_expected,
            ForecastRow.cost_uniform,
            ForecastRow.cost_expected,
            ForecastRow.fall_uniform,
            ForecastRow.fall_expected,
            ForecastRow.bait_uniform,
            ForecastRow.bait_expected,
        )
        .join(OutcomeRow, OutcomeRow.decision_id == DecisionRow.id)
        .join(ForecastRow, ForecastRow.decision_id == DecisionRow.id)
        .where(*judged_replies(), *which)
    )


def judged_replies() -> tuple[ColumnElement[bool], ...]:
    """Conditions on decision, outcome and forecast: a reply that today's rules judged, among two or more."""
    return (
        *standing(),
        DecisionRow.rule == RULE,
        DecisionRow.reply_count >= 2,
        OutcomeRow.rule == RULE,
        OutcomeRow.reply.is_not(None),
        ForecastRow.rule == FORECAST_RULE,
    )


def require_forecast(row: Any) -> None:
    """Refuse a forecast's row with probabilities or costs that are none.

    Raises:
        RecordError: The message names the value.
    """
    for name in _SHARES:
        require_number(f"the forecast's {name}", getattr(row, name), -_ROUNDED, 1 + _ROUNDED)
    for name in ("cost_uniform", "cost_expected"):
        require_number(f"the forecast's {name}", getattr(row, name), -_ROUNDED, WHOLE + _ROUNDED)


def _reply_fact(row: Any) -> ReplyFact:
    # All at once: looking up each by its name takes longer than everything else.
    key, game, ply, count, decided, is_trap, kind, fell_for_best, cost, is_taken, bait, *forecast = row
    name, sha256, prior, *expected = forecast
    by_chance, by_model, cost_by_chance, cost_by_model, *others = expected
    fall_by_chance, fall_by_model, bait_by_chance, bait_by_model = others
    shares = (by_chance, by_model, *others)
    try:
        is_sound = (
            0 <= ply <= _MOST
            and 0 <= count <= _MOST
            and 0 <= cost <= WHOLE
            and all(-_ROUNDED <= share <= 1 + _ROUNDED for share in shares)
            and -_ROUNDED <= cost_by_chance <= WHOLE + _ROUNDED
            and -_ROUNDED <= cost_by_model <= WHOLE + _ROUNDED
            and type(name) is type(sha256) is type(prior) is str
        )
    except TypeError:  # something is no number
        is_sound = False
    if not is_sound:
        _require_reply(row)
    return ReplyFact(
        decision_id=key,
        game_id=game,
        ply=ply,
        reply_count=count,
        is_decided=decided,
        is_trap=is_trap,
        kind=kind,
        fell_for_best=fell_for_best,
        cost=cost / WHOLE,
        erred=cost >= ERROR,
        is_taken=bool(is_taken),
        has_bait=bait is not None,
        model=model_text(name, sha256, prior),
        error_uniform=by_chance,
        error_expected=by_model,
        cost_uniform=cost_by_chance / WHOLE,
        cost_expected=cost_by_model / WHOLE,
        fall_uniform=fall_by_chance,
        fall_expected=fall_by_model,
        bait_uniform=bait_by_chance,
        bait_expected=bait_by_model,
    )


def _require_reply(row: Any) -> None:
    """Refuse a row of `_replies` with values that cannot be.

    Raises:
        RecordError: The message names the value.
    """
    require_texts(row, "model_name", "model_sha256", "prior")
    for name in ("ply", "reply_count"):
        require_number(name, getattr(row, name), 0, _MOST)
    require_number("the cost of the reply", row.cost, 0, WHOLE)
    require_forecast(row)


async def count_outdated(session: AsyncSession, filters: Filters | None = None) -> int:
    """Decisions with a complete profile that are judged or forecast by earlier rules, or lack a forecast.

    ``desdemona db recheck`` judges them anew; until then they count nowhere.  Games that are not settled are
    left out, since their forecasts may be on the way.
    """
    which = GameRow.state == GameStatus.FINISHED, GameRow.is_settled.is_(True), *shown_games(filters)
    summed = select(func.sum(GameSummaryRow.outdated)).select_from(GameRow).join(GameSummaryRow, is_valid())
    others = list(await session.scalars(without_summary(*which)))
    return (await session.scalar(summed.where(*which)) or 0) + sum(
        (await outdated_of_games(session, others)).values()
    )


async def outdated_of_games(session: AsyncSession, games: Sequence[int]) -> dict[int, int]:
    """The same of some games, whatever their state, by the game's key; without any: absent."""
    found: dict[int, int] = {}
    for start in range(0, len(games), _BATCH):
        statement = select(DecisionRow.game_id, func.count().label("count")).select_from(DecisionRow)
        some = DecisionRow.game_id.in_(games[start : start + _BATCH])
        rows = await session.execute(_outdated(statement).where(some).group_by(DecisionRow.game_id))
        found |= {row[0]: row[1] for row in rows}
    return found


def _outdated(statement: Select[*tuple[Any, ...]]) -> Select[*tuple[Any, ...]]:
    return (
        statement.outerjoin(OutcomeRow, OutcomeRow.decision_id == DecisionRow.id)
        .outerjoin(ForecastRow, ForecastRow.decision_id == DecisionRow.id)
        .where(
            *standing(),
            DecisionRow.is_complete.is_(True),
            or_(
                DecisionRow.rule != RULE,
                OutcomeRow.rule != RULE,
                ForecastRow.decision_id.is_(None),
                ForecastRow.rule != FORECAST_RULE,
            ),
        )
    )
