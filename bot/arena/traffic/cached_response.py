"""Cached responses: a body with its ETag; clients that already have the body get a 304."""

import hashlib
import json
from dataclasses import dataclass
from typing import Any

from aiohttp import ETag, web


@dataclass(frozen=True, slots=True)
class CachedResponse:
    """A response without the headers common to all responses."""

    body: bytes
    tag: str
    content_type: str

    @classmethod
    def of(cls, body: bytes, content_type: str) -> "CachedResponse":
        """Create a response with the hash of its body as its ETag."""
        return cls(body, hashlib.sha256(body).hexdigest()[:16], content_type)

    @classmethod
    def of_json(cls, value: dict[str, Any]) -> "CachedResponse":
        """Create a JSON response."""
        return cls.of(json.dumps(value).encode(), "application/json; charset=utf-8")

    def send(self, request: web.Request, cache: str = "no-cache") -> web.Response:
        """Return the response to a request: a 304 if the client already has the body.

        Args:
            request: The request; may have an ``If-None-Match`` header.
            cache: Value of the ``Cache-Control`` header.
        """
        headers = {"Cache-Control": cache, "Content-Type": self.content_type}
        has_it = any(each.value in (self.tag, "*") for each in request.if_none_match or ())
        response = (
            web.Response(status=304, headers={"Cache-Control": cache})
            if has_it
            else web.Response(body=self.body, headers=headers)
        )
        response.etag = ETag(self.tag)
        return response
