"""Bytes of stored states, with a checksum."""

import hashlib

from engine.errors import RecordError

_SIZE = hashlib.sha256().digest_size


def seal(magic: bytes, content: bytes) -> bytes:
    """Magic, content, and the SHA-256 of both."""
    return magic + content + hashlib.sha256(magic + content).digest()


def unseal(magic: bytes, data: bytes, what: str) -> bytes:
    """The content of the result of `seal`.

    Args:
        magic: The kind of data expected.
        data: The bytes.
        what: What the data are, in the message.

    Raises:
        RecordError: The data are damaged, or of another kind.
    """
    if not isinstance(data, bytes):  # in a database that another program has written to
        raise RecordError(f"{what} is damaged: it is not binary")
    content, checksum = data[:-_SIZE], data[-_SIZE:]
    if not content.startswith(magic) or hashlib.sha256(content).digest() != checksum:
        raise RecordError(f"{what} is damaged: its checksum is wrong")
    return content[len(magic) :]
