"""Writes rows of plain columns as CSV, JSON Lines or Parquet, in batches."""

import csv
import io
import json
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from enum import StrEnum
from typing import IO, Any

from bot.base.errors import DesdemonaError
from storage.evidence.exports.columns import ColumnKind, ExportColumn, Value
from storage.evidence.exports.csv_cells import cells

ROWS_PER_BATCH = 20_000
"""Number of rows per group of a Parquet file; a whole group is held in memory."""

Rows = Sequence[tuple[Value, ...]]
WriteRows = Callable[[Rows], None]


class RowsFormat(StrEnum):
    """The file formats for rows."""

    CSV = "csv"
    JSONL = "jsonl"
    PARQUET = "parquet"


@contextmanager
def rows_writer(form: RowsFormat, file: IO[bytes], columns: Sequence[ExportColumn]) -> Iterator[WriteRows]:
    """Writes rows to a file; the file is complete when the `with` block ends.

    Raises:
        DesdemonaError: The format is Parquet, and pyarrow is not installed.
    """
    match form:
        case RowsFormat.CSV:
            text = io.TextIOWrapper(file, encoding="utf-8", newline="", write_through=True)
            writer = csv.writer(text, lineterminator="\n")
            writer.writerow([column.name for column in columns])
            yield lambda rows: writer.writerows(map(cells, rows))
            text.flush()
            text.detach()
        case RowsFormat.JSONL:
            names = [column.name for column in columns]

            def write(rows: Rows) -> None:
                for row in rows:
                    line = json.dumps(dict(zip(names, row, strict=True)), ensure_ascii=False, allow_nan=False)
                    file.write(line.encode() + b"\n")

            yield write
        case RowsFormat.PARQUET:
            with _parquet(file, columns) as write_rows:
                yield write_rows


@contextmanager
def _parquet(file: IO[bytes], columns: Sequence[ExportColumn]) -> Iterator[WriteRows]:
    try:
        import pyarrow
        from pyarrow import parquet
    except ImportError as error:
        raise DesdemonaError(
            "--format parquet needs pyarrow, from the extra 'parquet': in a clone, run "
            "`.venv/bin/pip install -e '.[parquet]'`"
        ) from error
    kinds = {
        ColumnKind.WHOLE: pyarrow.int64(),
        ColumnKind.NUMBER: pyarrow.float64(),
        ColumnKind.TEXT: pyarrow.string(),
    }
    schema = pyarrow.schema(
        [
            pyarrow.field(column.name, kinds[column.kind], metadata={"about": column.about})
            for column in columns
        ]
    )
    waiting: list[tuple[Value, ...]] = []
    with parquet.ParquetWriter(file, schema) as writer:

        def flush() -> None:
            values: list[list[Any]] = [list(each) for each in zip(*waiting, strict=True)]
            arrays = [pyarrow.array(each, field.type) for each, field in zip(values, schema, strict=True)]
            writer.write_table(pyarrow.Table.from_arrays(arrays, schema=schema))
            waiting.clear()

        def write(rows: Rows) -> None:
            waiting.extend(rows)
            if len(waiting) >= ROWS_PER_BATCH:
                flush()

        yield write
        if waiting:
            flush()
