"""Reads Protocol Buffers without a schema: a message's fields by number."""

from collections.abc import Collection

from engine.human.model import BadModel

ProtobufFields = dict[int, list[int | bytes]]
"""The values of each field, by field number: unsigned numbers, or the bytes of strings and messages."""


def message(data: bytes, where: str, wanted: Collection[int] | None = None) -> ProtobufFields:
    """Parse the fields of a message.

    Args:
        data: The complete message.
        where: Name of the message, for error messages.
        wanted: Numbers of the fields to parse; other fields are skipped.  None to parse all.

    Raises:
        BadModel: The message is malformed.
    """
    fields: ProtobufFields = {}
    at = 0
    while at < len(data):
        key, at = _varint(data, at, where)
        if key >> 32:  # other parsers might use only its lower bits, and see another field
            raise BadModel(f"{where}: not a Protocol Buffer (field {key >> 3} before byte {at})")
        is_wanted = wanted is None or key >> 3 in wanted
        value: int | bytes
        match key & 7:
            case 0:
                value, at = _varint(data, at, where)
            case 1 | 5 as wire:
                size = 8 if wire == 1 else 4
                _check_size(data, at, size, where)
                value = int.from_bytes(data[at : at + size], "little") if is_wanted else 0
                at += size
            case 2:
                size, at = _varint(data, at, where)
                _check_size(data, at, size, where)
                value = data[at : at + size] if is_wanted else b""
                at += size
            case wire:
                raise BadModel(f"{where}: not a Protocol Buffer (wire type {wire} at byte {at})")
        if is_wanted:
            fields.setdefault(key >> 3, []).append(value)
    return fields


def _varint(data: bytes, at: int, where: str) -> tuple[int, int]:
    value = 0
    for shift in range(0, 70, 7):
        if at >= len(data):
            raise BadModel(f"{where}: cut off at byte {at}")
        byte = data[at]
        at += 1
        value |= (byte & 0x7F) << shift
        if byte < 0x80:
            return value, at
    raise BadModel(f"{where}: not a Protocol Buffer (a number of more than ten bytes before byte {at})")


def _check_size(data: bytes, at: int, size: int, where: str) -> None:
    if size > len(data) - at:
        raise BadModel(f"{where}: cut off: {size} bytes should follow byte {at}, there are {len(data) - at}")
