"""imported games are told apart by place and round, too, and have the date of their tag UTCDate

Revision: 0029, after 0028
Date: 2026-11-29
"""

import hashlib
import json
from collections.abc import Callable, Iterator
from typing import Any

import sqlalchemy as sa
from alembic import op
from sqlalchemy.dialects import postgresql

revision = "0029"
down_revision = "0028"
branch_labels = None
depends_on = None

BATCH = 1000
GAMES = sa.table(
    "imported_games",
    *map(
        sa.column, ("id", "content_key", "game", "first_player", "second_player", "event", "place", "round")
    ),
    *map(sa.column, ("date", "start", "moves", "points", "margin")),
    sa.column("detail", sa.JSON().with_variant(postgresql.JSONB(), "postgresql")),
)
COLUMNS = GAMES.c


def upgrade() -> None:
    def changed(row: Any) -> dict[str, Any]:
        tags = dict(row.detail.get("tags", ()))
        date = row.date or tags.get("UTCDate", "")
        if date in ("?", "-", "????.??.??"):
            date = ""
        return {"content_key": _key(row, date, row.place, row.round), "date": date}

    _rewrite(changed)


def downgrade() -> None:
    """Of the games that then count as one, the first gets the key by which it is recognised."""
    _rewrite(lambda row: {"content_key": _key(row, row.date, "", ""), "date": row.date})


def _rewrite(changed: Callable[[Any], dict[str, Any]]) -> None:
    connection = op.get_bind()
    update = sa.update(GAMES).where(COLUMNS.id == sa.bindparam("of_id"))
    for rows in _batches():
        new = {row.id: changed(row) for row in rows}
        keys = [values["content_key"] for values in new.values()]
        taken = set(connection.scalars(sa.select(COLUMNS.content_key).where(COLUMNS.content_key.in_(keys))))
        for id_, values in new.items():
            if values["content_key"] not in taken:
                taken.add(values["content_key"])
                connection.execute(update.values(**values), {"of_id": id_})


def _batches() -> Iterator[list[Any]]:
    """The games whose key or date may change."""
    is_told_apart = sa.or_(COLUMNS.place != "", COLUMNS.round != "", COLUMNS.date == "")
    last = 0
    while True:
        statement = sa.select(GAMES).where(is_told_apart, COLUMNS.id > last).order_by(COLUMNS.id).limit(BATCH)
        rows = list(op.get_bind().execute(statement))
        if not rows:
            return
        yield rows
        last = rows[-1].id


def _key(row: Any, date: str, place: str, round_: str) -> str:
    results = [None if part is None else float(part) + 0.0 for part in (row.points, row.margin)]
    texts = [row.first_player, row.second_player, row.event, date]
    key = _hash([row.game, *texts, row.start, row.moves.split(), *results])
    return _hash([key, place, round_]) if place or round_ else key


def _hash(content: list[Any]) -> str:
    return hashlib.sha256(json.dumps(content).encode()).hexdigest()
