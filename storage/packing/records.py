"""Packs the record of a decision or a forecast into a few hundred bytes, and unpacks it.

The first byte of the stored value identifies the format of the rest:

==== =========================================================================================
byte what follows
==== =========================================================================================
0    the record as JSON text, or the bytes found in its place
1    the CRC-32 of the contents (4 bytes, little-endian), and the contents, compressed by raw deflate
     (RFC 1951) with `DICTIONARY` as the preset dictionary
==== =========================================================================================

The contents begin with the record as JSON text, with null in place of each non-empty list. The names of
these lists follow, then each list's length and its values as a column (`storage.packing.columns`).

A released format never changes, because databases contain records in it.
"""

import json
import zlib
from typing import Any

from engine.errors import RecordError
from storage.packing.columns import ColumnReader, from_json, to_json, write_column, write_count, write_text
from storage.packing.dictionary import DICTIONARY

PLAIN, COLUMNS = 0, 1
"""The first byte of each format."""

MAX_COMPRESSED_RECORD_BYTES = 1 << 20
"""Maximum size of the contents, ten times that of real records; larger records are stored as plain JSON."""

_LEVEL = 7
_RAW_DEFLATE = -15
_CHECKSUM_BYTES = 4


def pack(record: object) -> bytes:
    """Pack a record for the database.

    Args:
        record: Plain JSON values, from `Decision.to_record` or `ReplyForecast.to_record`.  Any other JSON
            value is stored as plain JSON.

    Raises:
        TypeError: JSON cannot express the value.
    """
    if isinstance(record, dict):
        try:
            contents = _contents(record)
        except (TypeError, ValueError):  # not finite, not valid Unicode, or nested too deeply
            contents = b""
        if 0 < len(contents) <= MAX_COMPRESSED_RECORD_BYTES:
            compressor = zlib.compressobj(_LEVEL, wbits=_RAW_DEFLATE, zdict=DICTIONARY)
            packed = compressor.compress(contents) + compressor.flush()
            return bytes((COLUMNS,)) + zlib.crc32(contents).to_bytes(_CHECKSUM_BYTES, "little") + packed
    return pack_unreadable(json.dumps(record).encode())


def pack_unreadable(found: bytes) -> bytes:
    """Pack bytes that are not a record, without loss."""
    return bytes((PLAIN,)) + found


def unpack(stored: object) -> dict[str, Any]:
    """Unpack a record packed by `pack`.

    Args:
        stored: The stored value.

    Raises:
        RecordError: The value is damaged, or in a format that this version does not know.
    """
    if not isinstance(stored, bytes) or not stored:
        raise RecordError(f"not a packed record: {stored!r:.60}")
    if stored[0] == PLAIN:
        return _json(stored[1:])
    if stored[0] != COLUMNS:
        raise RecordError(f"packed in format {stored[0]}, which this version does not know")
    try:
        contents = _decompressed(stored[1 + _CHECKSUM_BYTES :])
        if zlib.crc32(contents).to_bytes(_CHECKSUM_BYTES, "little") != stored[1 : 1 + _CHECKSUM_BYTES]:
            raise ValueError("its checksum does not match")
        return _record(ColumnReader(contents))
    except (ValueError, LookupError, TypeError, RecursionError, zlib.error) as error:
        raise RecordError(f"not a packed record: {error}") from error


def _json(text: bytes) -> dict[str, Any]:
    try:
        fields = json.loads(text)
    except (ValueError, RecursionError) as error:
        raise RecordError(f"not JSON: {error}") from error
    if not isinstance(fields, dict):
        raise RecordError(f"not a JSON object, but {type(fields).__name__}")
    return fields


def _contents(record: dict[str, Any]) -> bytes:
    columns = {name: value for name, value in record.items() if value and isinstance(value, list | tuple)}
    out = bytearray()
    write_text(out, to_json({**record, **dict.fromkeys(columns)}))
    write_text(out, to_json(list(columns)))
    for values in columns.values():
        write_count(out, len(values))
        write_column(out, values)
    return bytes(out)


def _decompressed(packed: bytes) -> bytes:
    decompressor = zlib.decompressobj(wbits=_RAW_DEFLATE, zdict=DICTIONARY)
    contents = decompressor.decompress(packed, MAX_COMPRESSED_RECORD_BYTES + 1)
    if len(contents) > MAX_COMPRESSED_RECORD_BYTES:
        raise ValueError(f"its contents have more than {MAX_COMPRESSED_RECORD_BYTES} bytes")
    if not decompressor.eof or decompressor.unused_data:
        raise ValueError("its compressed contents are incomplete, or followed by other data")
    return contents


def _record(reader: ColumnReader) -> dict[str, Any]:
    record, names = from_json(reader.text()), from_json(reader.text())
    if not isinstance(record, dict):
        raise TypeError("it has no names")
    for name in names:
        if record[name] is not None:
            raise ValueError("a value occurs twice")
        record[name] = reader.column(reader.count())
    reader.end()
    return record
