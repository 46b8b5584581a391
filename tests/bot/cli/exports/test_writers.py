import csv
import io
import json
import sys
from pathlib import Path

import pytest
from pyarrow import parquet

from bot.base.errors import DesdemonaError
from bot.cli.exports import writers
from bot.cli.exports.writers import Rows, RowsFormat, rows_writer
from storage.evidence.exports.columns import ColumnKind, ExportColumn

COLUMNS = (
    ExportColumn("key", ColumnKind.WHOLE, "its key"),
    ExportColumn("share", ColumnKind.NUMBER, "a share"),
    ExportColumn("name", ColumnKind.TEXT, "a name"),
)
ROWS: list[Rows] = [[(1, 0.5, 'Ä, "B"\nC'), (2, None, None)], [(2**40, 1e-7, "")]]
FLAT = [row for some in ROWS for row in some]


def written(form: RowsFormat, batches: list[Rows]) -> bytes:
    file = io.BytesIO()
    with rows_writer(form, file, COLUMNS) as write:
        for rows in batches:
            write(rows)
    return file.getvalue()


def test_csv() -> None:
    found = written(RowsFormat.CSV, ROWS).decode()
    assert found == 'key,share,name\n1,0.5,"Ä, ""B""\nC"\n2,,\n1099511627776,1e-07,\n'
    assert [row[0] for row in csv.reader(io.StringIO(found, newline=""))] == ["key", "1", "2", str(2**40)]
    assert written(RowsFormat.CSV, []) == b"key,share,name\n"
    assert written(RowsFormat.CSV, [[(-1, -0.5, "=1+1")]]) == b"key,share,name\n-1,-0.5,'=1+1\n"


def test_jsonl() -> None:
    found = [json.loads(line) for line in written(RowsFormat.JSONL, ROWS).splitlines()]
    assert found == [dict(zip(("key", "share", "name"), row, strict=True)) for row in FLAT]
    assert "Ä" in written(RowsFormat.JSONL, ROWS).decode()
    assert written(RowsFormat.JSONL, []) == b""


def test_parquet(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = tmp_path / "rows.parquet"
    path.write_bytes(written(RowsFormat.PARQUET, ROWS))
    with path.open("rb") as file:
        found = parquet.ParquetFile(file)
        assert found.read().to_pylist() == [
            dict(zip(("key", "share", "name"), row, strict=True)) for row in FLAT
        ]
        assert [str(field.type) for field in found.schema_arrow] == ["int64", "double", "string"]
        assert found.schema_arrow.field("share").metadata[b"about"] == b"a share"
        assert found.num_row_groups == 1
    monkeypatch.setattr(writers, "ROWS_PER_BATCH", 2)
    path.write_bytes(written(RowsFormat.PARQUET, ROWS))
    with path.open("rb") as file:
        assert parquet.ParquetFile(file).num_row_groups == 2
    path.write_bytes(written(RowsFormat.PARQUET, []))
    with path.open("rb") as file:
        assert parquet.ParquetFile(file).read().num_rows == 0


def test_without_pyarrow_it_says_what_to_install(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "pyarrow", None)
    with pytest.raises(DesdemonaError, match=r"needs pyarrow, from the extra 'parquet'"):
        written(RowsFormat.PARQUET, ROWS)
