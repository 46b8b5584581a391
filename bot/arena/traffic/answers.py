"""Answers that are kept: a body with its tag, and 304 for whoever has it already."""

import hashlib
import json
from dataclasses import dataclass
from typing import Any

from aiohttp import ETag, web


@dataclass(frozen=True, slots=True)
class KeptAnswer:
    """What is sent, but for the headers that all answers have."""

    body: bytes
    tag: str
    content_type: str

    @classmethod
    def of(cls, body: bytes, content_type: str) -> "KeptAnswer":
        """An answer with the tag of its body."""
        return cls(body, hashlib.sha256(body).hexdigest()[:16], content_type)

    @classmethod
    def of_json(cls, value: dict[str, Any]) -> "KeptAnswer":
        """An answer in JSON."""
        return cls.of(json.dumps(value).encode(), "application/json; charset=utf-8")

    def send(self, request: web.Request, cache: str = "no-cache") -> web.Response:
        """The response to a request.

        Args:
            request: Perhaps of somebody who has the answer.
            cache: Its ``Cache-Control``.
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
