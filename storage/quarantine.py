"""Moves malformed rows to the table ``quarantine``, from which each can be restored, so that nothing is lost.

Moving a row also moves the rows that depend on it. If a dependent row's reference is nullable, the row stays
and its reference is set to null. Each change is stored as an SQL statement that undoes it; run in reverse
order, these statements restore everything.
"""

from collections.abc import Mapping
from datetime import UTC, datetime

from sqlalchemy import Connection, DateTime, String, bindparam, inspect, text

from storage.records import DERIVED

QUARANTINE = "quarantine"
"""Name of the table; `storage.tables.quarantine` has its columns."""


def move_to_quarantine(
    connection: Connection, table: str, where: str, reason: str, values: Mapping[str, object] | None = None
) -> int:
    """Move rows of a table, and the rows that depend on them.

    Args:
        connection: A connection in a transaction.
        table: The table's name.
        where: SQL condition on the table's columns.
        reason: Why the rows are moved, on one line.
        values: Values of the condition's parameters.

    Returns:
        The number of rows moved, including those of other tables.
    """
    parameters = dict(values or {})
    if not connection.execute(text(f'SELECT 1 FROM "{table}" WHERE {where} LIMIT 1'), parameters).first():
        return 0
    moved = 0
    rows_of = f'(SELECT "%s" FROM "{table}" WHERE {where})'
    for child, column, referred, is_nullable in _references(connection, table):
        is_child = f'"{child}"."{column}" IN {rows_of % referred}'
        if child in DERIVED:  # recomputed from the remaining rows
            connection.execute(text(f'DELETE FROM "{child}" WHERE {is_child}'), parameters)
            if child == "person_states" and inspect(connection).has_table("site_states"):
                connection.execute(text("DELETE FROM site_states"))  # sums over that table
            continue
        because = f"refers to a row of {table} that was moved: {reason}"
        if not is_nullable:
            moved += move_to_quarantine(connection, child, is_child, because, parameters)
            continue
        keys = inspect(connection).get_pk_constraint(child)["constrained_columns"]
        is_it = " || ' AND ' || ".join(f"'\"{key}\" = ' || {_literal(connection, key)}" for key in keys)
        reference = f'\'UPDATE "{child}" SET "{column}" = \' || {_literal(connection, column)}'
        _keep(connection, child, is_child, because, f"{reference} || ' WHERE ' || {is_it}", parameters)
        connection.execute(text(f'UPDATE "{child}" SET "{column}" = NULL WHERE {is_child}'), parameters)
    names = [str(column["name"]) for column in inspect(connection).get_columns(table)]
    listed = ", ".join(f'"{name}"' for name in names)
    literals = " || ', ' || ".join(_literal(connection, name) for name in names)
    insertion = f"'INSERT INTO \"{table}\" ({listed}) VALUES (' || {literals} || ')'"
    _keep(connection, table, where, reason, insertion, parameters)
    deleted = connection.execute(text(f'DELETE FROM "{table}" WHERE {where}'), parameters)
    return moved + int(deleted.rowcount)


def _references(connection: Connection, table: str) -> list[tuple[str, str, str, bool]]:
    """Foreign keys to a table, as (table, column, referenced column, whether the column may be null)."""
    known = inspect(connection)
    references = []
    for child in known.get_table_names():
        for key in known.get_foreign_keys(child):
            if key["referred_table"] != table:
                continue
            (column,), (referred,) = key["constrained_columns"], key["referred_columns"]
            nullable = {each["name"]: each["nullable"] for each in known.get_columns(child)}
            references.append((child, column, referred, nullable[column]))
    return references


def _keep(
    connection: Connection, table: str, where: str, reason: str, statement: str, values: dict[str, object]
) -> None:
    keys = inspect(connection).get_pk_constraint(table)["constrained_columns"]
    key = " || ', ' || ".join(_literal(connection, name) for name in keys)
    now = datetime.now(UTC)
    insertion = text(
        f'INSERT INTO "{QUARANTINE}" (at, table_name, row_key, reason, statement)'
        f' SELECT :moved_at, :moved_from, {key}, :because, {statement} FROM "{table}" WHERE {where}'
    ).bindparams(
        bindparam("moved_at", type_=DateTime(timezone=True)),
        bindparam("moved_from", type_=String),
        bindparam("because", type_=String),
    )
    is_sqlite = connection.dialect.name == "sqlite"
    moved_at = now.replace(tzinfo=None) if is_sqlite else now
    connection.execute(insertion, {**values, "moved_at": moved_at, "moved_from": table, "because": reason})


def _literal(connection: Connection, column: str) -> str:
    """Return an SQL expression that formats a column's value as an SQL literal (in ASCII on SQLite)."""
    name = f'"{column}"'
    if connection.dialect.name != "sqlite":
        return f"quote_nullable(CAST({name} AS text))"
    is_odd = f"{name} GLOB '*[^ -~]*' OR instr(CAST({name} AS BLOB), x'00')"
    as_bytes = f"'CAST(x''' || hex({name}) || ''' AS TEXT)'"
    return f"CASE WHEN typeof({name}) = 'text' AND ({is_odd}) THEN {as_bytes} ELSE quote({name}) END"
