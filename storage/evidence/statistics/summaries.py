"""Summaries of games: what each game that is over adds to statistics, which then read none of its decisions.

A summary (`storage.tables.summaries`) is made when a game is closed, and made again by whatever changes a
decision, an outcome or a forecast of a closed game: both call `summarise` in the same transaction.  It locks
the games, so that of two transactions the later one sees what the earlier one wrote.  A summary is *valid* if
its game is not open and it was made by today's layout and rules
(`storage.evidence.statistics.valid_summaries`).  Games without a valid one are
counted from their decisions instead, so statistics are exact at any time: summaries only make them fast.

`desdemona db recheck` compares each summary with its game (`remake`).
"""

import json
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass
from functools import lru_cache
from math import isclose
from secrets import randbits
from typing import Any

from sqlalchemy import String, delete, insert, select, type_coerce
from sqlalchemy.ext.asyncio import AsyncSession

from engine.bait_rule import RULE as FORECAST_RULE
from engine.judgement import RULE
from storage.damage import require_damage
from storage.evidence.statistics.encounters import BaitCounts, counts_of_games
from storage.evidence.statistics.facts import ReplyFact, outdated_of_games, replies_of_games
from storage.evidence.statistics.lots import LotCounts, lots_of_games
from storage.evidence.statistics.packed_games import GameColumns, ReplyCounts, game_records, split_expected
from storage.evidence.statistics.reply_sums import packed, packed_forecasts, reply_sums
from storage.evidence.statistics.set_baits import SetBait, packed_phases, set_baits
from storage.evidence.statistics.suspect_rows import reply_counts_of_games
from storage.evidence.statistics.valid_summaries import LAYOUT, is_valid, without_summary
from storage.records import GameStatus
from storage.tables.games import GameRow
from storage.tables.summaries import GameBaitRow, GameSummaryRow

BATCH = 50
"""Games that are summarised in one transaction: a tenth of a second, in which SQLite stores no move."""
_STAMP_BITS = 48
"""So few that the stamps of thousands of summaries can be added up."""
SMALL_BATCH = 5
"""The same while games are played: a hundredth of a second."""


async def games_to_summarise(session: AsyncSession, after: int, limit: int) -> list[int]:
    """Keys above `after` of games that are over and have no valid summary, ascending."""
    statement = without_summary(GameRow.id > after, GameRow.is_settled.is_(True))
    return list(await session.scalars(statement.limit(limit)))


async def games_over(session: AsyncSession, after: int, limit: int) -> list[int]:
    """Keys above `after` of games that are over, ascending."""
    statement = select(GameRow.id).where(GameRow.id > after, GameRow.is_settled.is_(True))
    return list(await session.scalars(statement.order_by(GameRow.id).limit(limit)))


async def summarise(session: AsyncSession, games: Sequence[int]) -> int:
    """Make the summaries of some games anew; those of open games are removed.

    A game of which something is damaged gets none: whoever asks for statistics with it hears of the damage.

    Returns:
        How many summaries there are now.
    """
    closed = await _locked(session, games)
    made = await _summaries(session, closed)
    await _replace(session, games, made)
    return len(made)


async def remake(session: AsyncSession, games: Sequence[int]) -> list[int]:
    """Make the summaries of some games anew where they are not what they should be.

    Returns:
        Keys of the games whose valid summary was wrong.
    """
    closed = await _locked(session, games)
    made = {summary.game_id: summary for summary in await _summaries(session, closed)}
    known = await _known(session, games)
    changed = [game for game in games if not _are_same(known.get(game), made.get(game))]
    if changed:
        await _replace(session, changed, [made[game] for game in changed if game in made])
    return [game for game in changed if game in known]


def models_text(names: Sequence[str]) -> str:
    """What the column `models` has for these."""
    return json.dumps(names)


@lru_cache(maxsize=1000)
def model_names(text: str) -> tuple[str, ...]:
    """The column `models` as it was before it was written."""
    return tuple(json.loads(text))


@dataclass(frozen=True, slots=True)
class _Summary:
    """A game's rows in both tables, by column."""

    row: Mapping[str, Any]
    baits: Sequence[Mapping[str, Any]]

    @property
    def game_id(self) -> int:
        return int(self.row["game_id"])


def _are_same(one: _Summary | None, other: _Summary | None) -> bool:
    """Whether two summaries are; a database adds floating-point numbers up in any order."""
    if one is None or other is None:
        return one is other
    if not one.row:
        return False
    expected, facts = zip(*(split_expected(each.row["facts"]) for each in (one, other)), strict=True)
    rows = [{**each.row, "stamp": 0, "facts": part} for each, part in zip((one, other), facts, strict=True)]
    return isclose(*expected, rel_tol=1e-9) and rows[0] == rows[1] and list(one.baits) == list(other.baits)


async def _replace(session: AsyncSession, games: Sequence[int], made: Sequence[_Summary]) -> None:
    """Exchange the rows of some games for others."""
    for table in (GameSummaryRow, GameBaitRow):
        await session.execute(delete(table).where(table.game_id.in_(games)))
    if made:
        await session.execute(insert(GameSummaryRow), [each.row for each in made])
    if baits := [bait for each in made for bait in each.baits]:
        await session.execute(insert(GameBaitRow), baits)


async def _known(session: AsyncSession, games: Sequence[int]) -> dict[int, _Summary]:
    """The valid summaries of some games; of one that cannot be read only its key."""
    statement = select(GameSummaryRow.__table__).join(GameRow, is_valid())
    listed = select(GameBaitRow.__table__).order_by(GameBaitRow.decision_id)
    try:
        rows = await session.execute(statement.where(GameSummaryRow.game_id.in_(games)))
        found = {row.game_id: dict(row._mapping) for row in rows}
        baits: dict[int, list[Mapping[str, Any]]] = {game: [] for game in games}
        for bait in await session.execute(listed.where(GameBaitRow.game_id.in_(games))):
            baits[bait.game_id].append(dict(bait._mapping))
        return {game: _Summary(row, baits[game]) for game, row in found.items()}
    except Exception as error:
        require_damage(error)
    if len(games) == 1:
        return {games[0]: _Summary({}, ())}
    return {game: row for one in games for game, row in (await _known(session, [one])).items()}


async def _locked(session: AsyncSession, games: Sequence[int]) -> list[int]:
    """Those of the games that are over; nobody else can change or summarise them until we commit."""
    # The state as text: a damaged one must not hide the other games.
    statement = select(GameRow.id, type_coerce(GameRow.state, String).label("state"))
    chosen = statement.where(GameRow.id.in_(games)).order_by(GameRow.id)
    rows = await session.execute(chosen.with_for_update())
    return [row.id for row in rows if row.state in (GameStatus.FINISHED, GameStatus.ABORTED)]


async def _summaries(session: AsyncSession, games: Sequence[int]) -> list[_Summary]:
    if not games:
        return []
    try:
        replies = await replies_of_games(session, games)
        outdated = await outdated_of_games(session, games)
        baits = await counts_of_games(session, games)
        counts = await reply_counts_of_games(session, games)
        listed = await set_baits(session, games)
        records = await game_records(session, games)
        lots = await lots_of_games(session, games)
        nobody, nothing, none = BaitCounts(), ReplyCounts(), LotCounts()
        return [
            _Summary(
                {
                    "stamp": randbits(_STAMP_BITS),
                    **_sums(game, replies[game]),
                    **asdict(baits.get(game, nobody)),
                    **_game(records[game], counts.get(game, nothing), outdated.get(game, 0)),
                    **asdict(lots.get(game, none)),
                    "bait_phases": packed_phases(listed.get(game, ())),
                },
                [_bait(bait) for bait in listed.get(game, ())],
            )
            for game in games
        ]
    except Exception as error:
        require_damage(error)
    if len(games) == 1:
        return []
    # One damaged row hides its whole batch, so read this batch game by game.
    return [row for game in games for row in await _summaries(session, [game])]


def _sums(game: int, replies: Sequence[ReplyFact]) -> dict[str, Any]:
    sums = reply_sums(replies)
    return {
        "game_id": game,
        "layout": LAYOUT,
        "rule": RULE,
        "forecast_rule": FORECAST_RULE,
        "models": models_text(sums.models),
        "sums": packed(sums.rows),
        "phase_sums": packed(sums.phase_rows),
        "forecasts": packed_forecasts(replies, sums.models),
    }


def _game(record: GameColumns, counts: ReplyCounts, outdated: int) -> dict[str, Any]:
    return {"outdated": outdated, "labels": record.labels_text, "facts": record.packed(counts, outdated)}


def _bait(bait: SetBait) -> dict[str, Any]:
    return {
        "decision_id": bait.decision_id,
        "game_id": bait.game_id,
        "line": bait.line,
        "surprise": bait.surprise,
        "cost": bait.cost,
        "is_taken": bait.is_taken,
        "phase": bait.phase,
    }
