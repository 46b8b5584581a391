"""Cached responses: a body with its ETag, compressed once; clients that already have the body get a 304."""

import gzip
import hashlib
import json
from dataclasses import dataclass
from typing import Any

from aiohttp import ETag, web

MIN_COMPRESSED_BYTES = 1000
"""Shorter bodies fit into one packet anyway."""
_COMPRESSIBLE = ("text/", "application/json", "application/x-chess-pgn", "image/svg+xml")
_GZIP = "-gzip"  # end of the compressed body's tag


@dataclass(frozen=True, slots=True)
class CachedResponse:
    """A response without the headers common to all responses.

    It is compressed, so it must not contain secrets: the length of a compressed body tells who chooses a part
    of it (a name, for instance) whether that part resembles the rest.
    """

    body: bytes
    tag: str
    content_type: str
    compressed: bytes | None = None
    """The body compressed with gzip; None if it is too short or of a compressed kind."""

    @classmethod
    def of(cls, body: bytes, content_type: str) -> "CachedResponse":
        """Create a response with the hash of its body as its ETag."""
        is_worth_it = len(body) >= MIN_COMPRESSED_BYTES and content_type.startswith(_COMPRESSIBLE)
        compressed = gzip.compress(body, mtime=0) if is_worth_it else None
        return cls(body, hashlib.sha256(body).hexdigest()[:16], content_type, compressed)

    @classmethod
    def of_json(cls, value: dict[str, Any]) -> "CachedResponse":
        """Create a JSON response."""
        return cls.of(json.dumps(value).encode(), "application/json; charset=utf-8")

    @property
    def size(self) -> int:
        """Memory that the body takes, in bytes."""
        return len(self.body) + len(self.compressed or b"")

    def send(self, request: web.Request, cache: str = "no-cache") -> web.Response:
        """Return the response to a request: a 304 if the client already has the body.

        Args:
            request: The request; may have ``If-None-Match`` and ``Accept-Encoding`` headers.
            cache: Value of the ``Cache-Control`` header.
        """
        headers = {"Cache-Control": cache}
        body, tag = self.body, self.tag
        if self.compressed is not None:
            headers["Vary"] = "Accept-Encoding"
            if _accepts_gzip(request.headers.get("Accept-Encoding", "")):
                body, tag = self.compressed, self.tag + _GZIP
        if any(each.value in (tag, "*") for each in request.if_none_match or ()):
            response = web.Response(status=304, headers=headers)
        else:
            headers["Content-Type"] = self.content_type
            if body is not self.body:
                headers["Content-Encoding"] = "gzip"
            response = web.Response(body=body, headers=headers)
        response.etag = ETag(tag)
        return response


def _accepts_gzip(header: str) -> bool:
    for part in header.lower().split(","):
        name, _, quality = part.replace(" ", "").partition(";q=")
        if name == "gzip":
            return quality.strip("0.") != "" or not quality
    return False
