"""quarantine of malformed rows, and constraints that refuse new ones

Revision: 0027, after 0026
Date: 2026-11-28
"""

from collections.abc import Callable
from functools import partial

import sqlalchemy as sa
from alembic import context, op

revision = "0027"
down_revision = "0026"
branch_labels = None
depends_on = None

DERIVED = ("alembic_version", "game_summaries", "game_baits")
"""Without constraints: what they hold is computed from the other tables."""
PACKED = ("decisions", "forecasts")
SHARES = (
    *("error_uniform", "error_expected", "fall_uniform", "fall_expected"),
    *("bait_uniform", "bait_expected", "optimal_uniform", "optimal_expected"),
)
RANGES = {
    "games": {
        "our_side": "our_side IN (0, 1)",
        "our_rating": "our_rating BETWEEN -10000 AND 100000",
        "opponent_rating": "opponent_rating BETWEEN -10000 AND 100000",
        "state": "\"state\" IN ('open', 'finished', 'aborted')",
        "result": "\"result\" IN ('win', 'draw', 'loss')",
    },
    "decisions": {
        "ply": "ply >= 0",
        "takeback": "takeback >= 0",
        "reply_count": "reply_count >= 0",
        "state": "\"state\" IN ('committed', 'sent', 'confirmed', 'dropped')",
    },
    "outcomes": {
        "cost": "cost BETWEEN 0 AND 10000",
        "cost_by_rule": "cost IS NOT NULL OR rule = 1",
        "kind": "\"kind\" IN ('optimal', 'fell', 'erred_elsewhere', 'unanswered')",
    },
    "forecasts": {
        **{name: f"{name} BETWEEN -0.01 AND 1.01" for name in SHARES},
        **{name: f"{name} BETWEEN -0.01 AND 10000.01" for name in ("cost_uniform", "cost_expected")},
    },
    "reply_times": {
        "time": "time_s >= 0",
        "source": "\"source\" IN ('server', 'measured')",
    },
    "trials": {"endpoint": "\"endpoint\" IN ('score', 'cost')"},
    "arena_accounts": {"access": "\"access\" IN ('active', 'pending', 'banned', 'deleted')"},
}
"""Of both databases, by table and name."""
STORED = {
    "BIGINT": ("integer",),
    "BLOB": ("blob",),
    "DOUBLE": ("real", "integer"),
    "FLOAT": ("real", "integer"),
    "INTEGER": ("integer",),
}
"""How SQLite stores values of a declared type, where that is not as text."""


def upgrade() -> None:
    op.create_table(
        "quarantine",
        sa.Column("id", sa.BigInteger().with_variant(sa.Integer(), "sqlite"), nullable=False),
        sa.Column("at", sa.DateTime(timezone=True), nullable=False),
        sa.Column("table_name", sa.String(length=64), nullable=False),
        *(sa.Column(name, sa.Text(), nullable=False) for name in ("row_key", "reason", "statement")),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_quarantine")),
    )
    connection, move = op.get_bind(), context.config.attributes["quarantine"]
    if _is_sqlite():  # a text there was read as JSON, which is what this byte says
        for table in PACKED:
            as_json = (
                f"UPDATE {table} SET record = CAST(x'00' || record AS BLOB) WHERE typeof(record) = 'text'"  # noqa: S608
            )
            connection.exec_driver_sql(as_json)
    wanted = _wanted()
    for table, checks in wanted.items():
        for name, condition in checks.items():
            move(connection, table, f"NOT ({condition})", f"{name}: not {condition:.200}")
    if _is_sqlite():
        for table, checks in wanted.items():
            _rewrite(table, partial(_with, _lines(table, checks)))
        return
    for table, checks in wanted.items():
        for name, condition in checks.items():
            op.create_check_constraint(op.f(f"ck_{table}_{name}"), table, condition)


def downgrade() -> None:
    connection, wanted = op.get_bind(), _wanted()
    wanted.pop("quarantine", None)
    for table, checks in wanted.items():
        if _is_sqlite():
            _rewrite(table, partial(_without, _lines(table, checks)))
            continue
        for name in checks:
            op.drop_constraint(op.f(f"ck_{table}_{name}"), table, type_="check")
    for (statement,) in connection.exec_driver_sql("SELECT statement FROM quarantine ORDER BY id DESC").all():
        connection.exec_driver_sql(statement)
    op.drop_table("quarantine")


def _is_sqlite() -> bool:
    return op.get_bind().dialect.name == "sqlite"


def _wanted() -> dict[str, dict[str, str]]:
    """The conditions of each table by name."""
    found = {}
    for table in sa.inspect(op.get_bind()).get_table_names():
        if table not in DERIVED:
            checks = RANGES.get(table, {})
            if _is_sqlite() and (types := _types(table)):
                checks = {**checks, "types": types}
            found[table] = checks
    return found


def _types(table: str) -> str:
    """SQL that is true if each value has its column's type."""
    rows = op.get_bind().exec_driver_sql(f'PRAGMA table_info("{table}")').mappings().all()
    keys = sum(row["pk"] > 0 for row in rows)
    conditions = []
    for row in rows:
        name, kind = f'"{row["name"]}"', row["type"]
        stored = STORED.get(kind, ("text",))
        if kind in ("BIGINT", "INTEGER") and row["pk"] and keys == 1:
            continue  # the number of the row
        if kind == "BOOLEAN":
            condition = f"{name} IN (0, 1)"
        elif len(stored) > 1:
            condition = f"typeof({name}) IN {stored}"
        else:
            condition = f"typeof({name}) = '{stored[0]}'"
        if kind == "JSON":
            condition += f" AND json_valid({name})"
        elif kind == "DATETIME":
            condition += f" AND julianday({name}) IS NOT NULL"
        conditions.append(f"({'' if row['notnull'] else f'{name} IS NULL OR '}{condition})")
    return " AND ".join(sorted(conditions))


def _lines(table: str, checks: dict[str, str]) -> str:
    """The constraints as they stand in the statement that makes a table."""
    return "".join(f", \n\tCONSTRAINT ck_{table}_{name} CHECK ({each})" for name, each in checks.items())


def _with(lines: str, sql: str) -> str:
    return f"{sql[: sql.rindex(')')].rstrip()}{lines}\n)"


def _without(lines: str, sql: str) -> str:
    return sql.replace(lines, "")


def _rewrite(table: str, change: Callable[[str], str]) -> None:
    """Make a table of SQLite again by a changed statement, with its rows and all else that belongs to it."""
    connection = op.get_bind()
    read = "SELECT type, name, tbl_name, sql FROM sqlite_master WHERE sql IS NOT NULL ORDER BY rowid"
    known = connection.exec_driver_sql(read).all()
    views = [each for each in known if each.type == "view"]
    for view in views:  # no table that they read can be renamed
        connection.exec_driver_sql(f'DROP VIEW "{view.name}"')
    (old,) = (each.sql for each in known if (each.type, each.name) == ("table", table))
    new = change(old).replace(table, f"new_{table}", 1)
    connection.exec_driver_sql(new)
    connection.exec_driver_sql(f'INSERT INTO "new_{table}" SELECT * FROM "{table}"')  # noqa: S608
    connection.exec_driver_sql(f'DROP TABLE "{table}"')
    connection.exec_driver_sql(f'ALTER TABLE "new_{table}" RENAME TO "{table}"')
    for each in known:
        if each.type == "index" and each.tbl_name == table:
            connection.exec_driver_sql(each.sql)
    for view in views:
        connection.exec_driver_sql(view.sql)
