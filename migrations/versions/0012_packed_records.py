"""packed records, and what queries want of them in columns of their own

Revision: 0012, after 0011
Date: 2026-11-25
"""

import base64
import json
from collections.abc import Callable
from typing import Any

import sqlalchemy as sa
from alembic import context, op
from sqlalchemy.dialects import postgresql

revision = "0012"
down_revision = "0011"
branch_labels = None
depends_on = None

BATCH = 200
KEYS = {"decisions": "id", "forecasts": "decision_id"}
PLAIN = sa.JSON().with_variant(postgresql.JSONB(), "postgresql")
QUERIED = {"search_mode": sa.String(), "replies": sa.JSON(none_as_null=True)}
DAMAGED = "packed"
"""Name in the object that stands for a damaged record where a column takes nothing but JSON."""


def upgrade() -> None:
    with op.batch_alter_table("decisions", schema=None) as batch_op:
        batch_op.add_column(sa.Column("search_mode", sa.String(length=64), nullable=True))
        batch_op.add_column(sa.Column("replies", sa.JSON(), nullable=True))
    for table in KEYS:
        with op.batch_alter_table(table, schema=None) as batch_op:
            batch_op.add_column(sa.Column("new_record", sa.LargeBinary(), nullable=True))
    _convert("decisions", {"new_record": sa.LargeBinary(), **QUERIED}, _packed_decision)
    _convert("forecasts", {"new_record": sa.LargeBinary()}, _packed)
    for table in KEYS:
        _replace_record(table, sa.LargeBinary())


def downgrade() -> None:
    for table in KEYS:
        with op.batch_alter_table(table, schema=None) as batch_op:
            batch_op.add_column(sa.Column("new_record", PLAIN, nullable=True))
        _convert(table, {"new_record": PLAIN}, _plain)
        _replace_record(table, PLAIN)
    with op.batch_alter_table("decisions", schema=None) as batch_op:
        batch_op.drop_column("replies")
        batch_op.drop_column("search_mode")


def _is_sqlite() -> bool:
    return op.get_bind().dialect.name == "sqlite"


def _replace_record(table: str, kind: Any) -> None:
    with op.batch_alter_table(table, schema=None) as batch_op:
        batch_op.drop_column("record")
        batch_op.alter_column("new_record", new_column_name="record", existing_type=kind, nullable=False)


def _convert(
    name: str,
    columns: dict[str, Any],
    values: Callable[[bytes, bool], dict[str, object]],
) -> None:
    """Fill columns from the records, some rows at a time: those of months do not fit in memory.

    Args:
        name: Of the table.
        columns: Their names and types.
        values: Their values, from what the record's column holds, as bytes, and whether that is a text.
    """
    connection, key = op.get_bind(), KEYS[name]
    new_columns = [sa.column(column, kind) for column, kind in columns.items()]
    table = sa.table(name, sa.column(key), sa.column("record"), *new_columns)
    record: sa.ColumnElement[Any] = table.c.record
    is_text: sa.ColumnElement[Any] = sa.false()
    if _is_sqlite():  # as bytes: a text that is not UTF-8 must not keep the others from being read
        is_text = sa.func.typeof(record) != "blob"
        record = sa.cast(record, sa.LargeBinary())
    elif columns["new_record"] is PLAIN:
        record = sa.type_coerce(record, sa.LargeBinary())
    else:
        record = sa.cast(record, sa.Text())
    rows_after = (
        sa.select(table.c[key].label("row_key"), record.label("found"), is_text.label("is_text"))
        .where(table.c[key] > sa.bindparam("after", type_=sa.BigInteger()))
        .order_by(table.c[key])
        .limit(BATCH)
    )
    update = (
        sa.update(table)
        .where(table.c[key] == sa.bindparam("row_key"))
        .values({column: _parameter(column, kind) for column, kind in columns.items()})
    )
    after = -(2**63)
    while rows := connection.execute(rows_after, {"after": after}).all():
        after = rows[-1].row_key
        new = []
        for row in rows:
            found = row.found.encode() if isinstance(row.found, str) else bytes(row.found)
            of_row = values(found, bool(row.is_text))
            new.append({"row_key": row.row_key, **{f"to_{each}": value for each, value in of_row.items()}})
        connection.execute(update, new)


def _parameter(column: str, kind: Any) -> Any:
    """The parameter of an UPDATE; on SQLite JSON is given as the bytes of any text."""
    if kind is PLAIN and _is_sqlite():
        return sa.cast(sa.bindparam(f"to_{column}", type_=sa.LargeBinary()), sa.Text())
    return sa.bindparam(f"to_{column}", type_=kind)


def _packed(found: bytes, _is_text: bool) -> dict[str, object]:
    """The column of a record that was JSON; what is none is kept as it is."""
    packing, record = context.config.attributes["packing"], _record(found)
    if record is not None:
        packed = packing["pack"](record)
        if packing["unpack"](packed) == record:
            return {"new_record": packed}
    return {"new_record": packing["keep"](found)}


def _record(found: bytes) -> dict[str, Any] | None:
    try:
        record = json.loads(found.decode())
    except (ValueError, RecursionError):
        return None
    return record if isinstance(record, dict) else None


def _packed_decision(found: bytes, is_text: bool) -> dict[str, object]:
    record = _record(found) or {"search_mode": None}
    mode = record.get("search_mode", "exact")
    known = isinstance(mode, str) and len(mode) <= 64
    return {"search_mode": mode if known else None, "replies": _replies(record), **_packed(found, is_text)}


def _replies(record: dict[str, Any]) -> list[list[Any]] | None:
    """``[reply, s_2, s_(D-1), s_D]`` for each reply to the move; None: its profile is incomplete."""
    try:
        chosen = next(each for each in record["candidates"] if each["move"] == record["move"])
        # Releases up to 0.2.0 wrote null for a bound that is not there.
        if not chosen["complete"] or any(each.get("bound_centi") is not None for each in chosen["replies"]):
            return None
        return [
            [each["reply"], scores[0], scores[-2:][0], scores[-1]]
            for each in chosen["replies"]
            for scores in (each["scores_centi"],)
        ]
    except (LookupError, TypeError, AttributeError, StopIteration):
        return None


def _plain(found: bytes, is_text: bool) -> dict[str, object]:
    """The column of a packed record, as JSON: a value on PostgreSQL, any text on SQLite."""
    if is_text:
        text = found
    elif found[:1] == b"\0":
        text = found[1:]
    else:
        try:
            text = json.dumps(context.config.attributes["packing"]["unpack"](found)).encode()
        except Exception:  # damaged
            text = _damaged(found)
    if _is_sqlite():
        return {"new_record": text}
    try:
        return {"new_record": json.loads(_for_postgresql(text))}
    except (ValueError, RecursionError):
        return {"new_record": json.loads(_damaged(found))}


def _for_postgresql(text: bytes) -> str:
    if b"\\u0000" in text or b"NaN" in text or b"Infinity" in text:
        raise ValueError("JSONB takes neither NUL nor what is not finite")
    return text.decode()


def _damaged(found: bytes) -> bytes:
    return json.dumps({DAMAGED: base64.b64encode(found).decode()}).encode()
