"""Stores and reads analyses of recorded games; positions can be added to an analysis at any time."""

import hashlib
import json
from collections.abc import AsyncIterator, Collection, Mapping, Sequence
from dataclasses import asdict, dataclass
from typing import Any

from sqlalchemy import and_, func, select
from sqlalchemy.ext.asyncio import AsyncSession

from engine.decision import Candidate, ModelInfo, Person, ReplyProfile
from engine.formats.record import GameRecord
from engine.judge import JUDGE_VERSION, ReplyCost, ReplyCosts
from storage.inserts import insert_all_new, insert_new
from storage.records import columns_of, from_row
from storage.research.archive import BATCH, add_imported_games, content_key, draw_key, record_of_row
from storage.tables.analysis import (
    AnalysedCostRow,
    AnalysedPositionRow,
    AnalysisRow,
    HumanModelRow,
    PredictionRow,
)
from storage.tables.archive import ImportedGameRow

_MAX_KEYS = 500  # per statement


@dataclass(frozen=True, slots=True)
class AnalysisSettings:
    """Settings of an analysis; results with the same settings are comparable."""

    game: str
    source: str
    """``native`` for our own engine, or the other engine's name."""
    depth: int
    """D: the profiles contain the scores of searches to depths 2 to D in plies, counting our move."""
    engine_version: str
    """Version of our engine's search."""
    settings: dict[str, Any]
    """The other engine's protocol and options, as plain JSON values; empty for our own engine."""


@dataclass(frozen=True, slots=True, kw_only=True)
class AnalysedPosition:
    """A move to which a person replied, with every legal reply and the reply played.

    *We* are the side that moved; the *person* is the side that replied.
    """

    game_id: int
    """Key of the imported game."""
    ply: int
    """Ply of the reply, that is, the number of moves before it."""
    side: int
    """The person's side."""
    position: str
    """The position before our move."""
    move: str
    reply: str
    rating: int | None
    clock_s: float | None
    """The person's remaining time before the reply, in seconds."""
    logistic_centi: float
    """The scale s of the logistic function that converts scores of `position` to expected scores."""
    replies: tuple[ReplyProfile, ...]
    """A complete profile of every legal reply, in the game's order."""
    nodes: int
    time_s: float

    @property
    def person(self) -> Person:
        """The person who replied, as input to the models."""
        return Person(self.rating, self.clock_s)

    @property
    def candidate(self) -> Candidate:
        """Our move with its complete profile, but without values from trap arithmetic."""
        raw = min(reply.final_centi for reply in self.replies)
        return Candidate(self.move, raw, False, raw, replies=self.replies, complete=True)


@dataclass(frozen=True, slots=True, kw_only=True)
class StoredPosition:
    """An analysed position as read from the database."""

    id: int
    game_key: str
    """The game's `storage.research.archive.content_key`, which does not depend on the database."""
    date: str
    """Date of the game, as written in the source."""
    found: AnalysedPosition
    human: tuple[float, ...] | None
    """The requested model's probability for each reply; None if the model has not predicted this position."""
    name: str = ""
    """Name of the person, as written in the source; empty if unknown."""
    draw_key: str = ""
    """The game's `storage.research.archive.draw_key`; empty: the same as `game_key`."""
    time_control: str = ""
    """The person's time control as written in the source, such as ``180+2``; empty if unknown."""


@dataclass(frozen=True, slots=True)
class AnalysisCount:
    """An analysis, with its number of positions and its number of games."""

    id: int
    analysis: AnalysisSettings
    positions: int
    games: int


async def get_or_add_analysis(session: AsyncSession, analysis: AnalysisSettings) -> int:
    """Return the key of an analysis; add the analysis to the database if it is new."""
    content = json.dumps(asdict(analysis), sort_keys=True)
    key = hashlib.sha256(content.encode()).hexdigest()
    key_of_row = await insert_new(session, AnalysisRow, content_key=key, **asdict(analysis))
    if key_of_row is not None:
        return key_of_row
    return (await session.execute(select(AnalysisRow.id).where(AnalysisRow.content_key == key))).scalar_one()


async def count_analyses(session: AsyncSession, game: str | None = None) -> list[AnalysisCount]:
    """All analyses; those with the most positions come first."""
    positions = func.count(AnalysedPositionRow.id)
    games = func.count(AnalysedPositionRow.imported_game_id.distinct())
    statement = (
        select(AnalysisRow, positions, games)
        .join(AnalysedPositionRow, AnalysedPositionRow.analysis_id == AnalysisRow.id, isouter=True)
        .group_by(AnalysisRow.id)
        .order_by(positions.desc(), AnalysisRow.id)
    )
    if game is not None:
        statement = statement.where(AnalysisRow.game == game)
    return [
        AnalysisCount(row.id, from_row(AnalysisSettings, row), some, of_games)
        for row, some, of_games in await session.execute(statement)
    ]


async def list_analysed_plies(session: AsyncSession, analysis_id: int) -> set[tuple[str, int]]:
    """The replies that have been analysed, each as a game's `content_key` and the ply of the reply."""
    statement = (
        select(ImportedGameRow.content_key, AnalysedPositionRow.ply)
        .join(ImportedGameRow, ImportedGameRow.id == AnalysedPositionRow.imported_game_id)
        .where(AnalysedPositionRow.analysis_id == analysis_id)
    )
    return {(key, ply) for key, ply in await session.execute(statement)}


async def keep_games(
    session: AsyncSession, records: Sequence[GameRecord], *, source: str, source_format: str
) -> dict[str, int]:
    """Store games with `add_imported_games`, and return the games' row keys, indexed by `content_key`."""
    await add_imported_games(session, records, source=source, source_format=source_format)
    games: dict[str, int] = {}
    keys = [content_key(record) for record in records]
    for start in range(0, len(keys), _MAX_KEYS):
        rows = await session.execute(
            select(ImportedGameRow.content_key, ImportedGameRow.id).where(
                ImportedGameRow.content_key.in_(keys[start : start + _MAX_KEYS])
            )
        )
        games |= {row.content_key: row.id for row in rows}
    return games


async def add_positions(
    session: AsyncSession, analysis_id: int, positions: Sequence[AnalysedPosition]
) -> None:
    """Store positions of an analysis; existing positions are left unchanged."""
    values = [
        {
            **columns_of(each, "game_id", "replies"),
            "analysis_id": analysis_id,
            "imported_game_id": each.game_id,
            "profile": [[reply.reply, *reply.scores_centi] for reply in each.replies],
        }
        for each in positions
    ]
    await insert_all_new(session, AnalysedPositionRow, values)


async def iterate_positions(
    session: AsyncSession, analysis_id: int, model_id: int | None = None
) -> AsyncIterator[StoredPosition]:
    """The positions of an analysis in the order in which they were stored, read in batches.

    Args:
        model_id: Include this model's predictions; positions without a prediction have None.
    """
    last = 0
    while True:
        statement = (
            select(AnalysedPositionRow, ImportedGameRow, PredictionRow.probabilities)
            .join(ImportedGameRow, ImportedGameRow.id == AnalysedPositionRow.imported_game_id)
            .join(PredictionRow, _is_prediction(model_id), isouter=True)
            .where(AnalysedPositionRow.analysis_id == analysis_id, AnalysedPositionRow.id > last)
            .order_by(AnalysedPositionRow.id)
            .limit(BATCH)
        )
        rows = (await session.execute(statement)).all()
        if not rows:
            return
        for row, game, probabilities in rows:
            yield StoredPosition(
                id=row.id,
                game_key=game.content_key,
                date=game.date,
                found=_position(row),
                human=None if probabilities is None else tuple(probabilities),
                name=(game.first_player, game.second_player)[row.side],
                draw_key=draw_key(record_of_row(game)) if game.place or game.round else game.content_key,
                time_control=game.detail["clocks"][row.side],
            )
        last = rows[-1][0].id
        session.expunge_all()


async def keep_model(session: AsyncSession, info: ModelInfo) -> int:
    """Return the key of a model; add the model to the database if it is new."""
    key_of_row = await insert_new(session, HumanModelRow, **columns_of(info))
    if key_of_row is not None:
        return key_of_row
    return (await session.execute(select(HumanModelRow.id).filter_by(**columns_of(info)))).scalar_one()


async def list_models(session: AsyncSession, analysis_id: int) -> list[tuple[int, ModelInfo]]:
    """The models that have predicted positions of an analysis, each with its key.

    The models most recently added to this database come first.
    """
    predicted = (
        select(PredictionRow.model_id)
        .join(AnalysedPositionRow, AnalysedPositionRow.id == PredictionRow.position_id)
        .where(AnalysedPositionRow.analysis_id == analysis_id)
    )
    statement = select(HumanModelRow).where(HumanModelRow.id.in_(predicted)).order_by(HumanModelRow.id.desc())
    return [(row.id, from_row(ModelInfo, row)) for row in await session.scalars(statement)]


async def predictions(session: AsyncSession, analysis_id: int, model_id: int) -> dict[int, tuple[float, ...]]:
    """A model's predictions for an analysis's positions, keyed by position key."""
    statement = (
        select(PredictionRow.position_id, PredictionRow.probabilities)
        .join(AnalysedPositionRow, AnalysedPositionRow.id == PredictionRow.position_id)
        .where(AnalysedPositionRow.analysis_id == analysis_id, PredictionRow.model_id == model_id)
    )
    return {number: tuple(probabilities) for number, probabilities in await session.execute(statement)}


async def positions_without_prediction(
    session: AsyncSession, analysis_id: int, model_id: int, most: int
) -> list[tuple[int, AnalysedPosition, GameRecord]]:
    """At most `most` positions that a model has not predicted yet, each with its key and its game."""
    statement = (
        select(AnalysedPositionRow, ImportedGameRow)
        .join(ImportedGameRow, ImportedGameRow.id == AnalysedPositionRow.imported_game_id)
        .join(PredictionRow, _is_prediction(model_id), isouter=True)
        .where(AnalysedPositionRow.analysis_id == analysis_id, PredictionRow.position_id.is_(None))
        .order_by(AnalysedPositionRow.id)
        .limit(most)
    )
    rows = await session.execute(statement)
    return [(row.id, _position(row), record_of_row(game)) for row, game in rows]


async def add_predictions(
    session: AsyncSession, model_id: int, predictions: Collection[tuple[int, Sequence[float]]]
) -> None:
    """Store a model's predictions, keyed by position key; existing predictions are left unchanged."""
    rows = [
        {"position_id": position_id, "model_id": model_id, "odds": list(probabilities)}
        for position_id, probabilities in predictions
    ]
    await insert_all_new(session, PredictionRow, rows)


async def add_costs(session: AsyncSession, judged: Mapping[int, ReplyCosts]) -> None:
    """Store what replies cost, keyed by position key; existing costs are left unchanged."""
    rows = [
        {
            "position_id": position_id,
            "version": costs.version,
            "is_best": each.reply == costs.best.reply,
            **asdict(each),
        }
        for position_id, costs in judged.items()
        for each in dict.fromkeys((costs.best, *costs.replies))
    ]
    await insert_all_new(session, AnalysedCostRow, rows)


async def costs_of_analysis(session: AsyncSession, analysis_id: int) -> dict[int, ReplyCosts]:
    """What replies cost by this version of the judge, as far as it is known, keyed by position key."""
    rows = await session.scalars(
        select(AnalysedCostRow)
        .join(AnalysedPositionRow, AnalysedPositionRow.id == AnalysedCostRow.position_id)
        .where(AnalysedPositionRow.analysis_id == analysis_id, AnalysedCostRow.version == JUDGE_VERSION)
    )
    found: dict[int, list[ReplyCost]] = {}
    best: dict[int, ReplyCost] = {}
    for row in rows:
        cost = from_row(ReplyCost, row)
        found.setdefault(row.position_id, []).append(cost)
        if row.is_best:
            best[row.position_id] = cost
    return {key: ReplyCosts(JUDGE_VERSION, best[key], tuple(costs)) for key, costs in found.items()}


def _is_prediction(model_id: int | None) -> Any:
    wanted = -1 if model_id is None else model_id
    return and_(PredictionRow.position_id == AnalysedPositionRow.id, PredictionRow.model_id == wanted)


def _position(row: AnalysedPositionRow) -> AnalysedPosition:
    replies = tuple(ReplyProfile(reply, tuple(scores)) for reply, *scores in row.profile)
    return from_row(AnalysedPosition, row, game_id=row.imported_game_id, replies=replies)
