"""Builds URLs within the dashboard."""

from collections.abc import Mapping
from typing import Any
from urllib.parse import urlencode


def opponent_path(site: str, site_id: str) -> str:
    """URL of an opponent's page. The opponent's key is in the query, because a key ``..`` in a path would
    lead elsewhere."""
    return f"/dash/opponent?{urlencode({'site': site, 'id': site_id})}"


def query_text(query: Mapping[str, Any]) -> str:
    """A query string with sorted parameters, so that equal filters give equal URLs."""
    return urlencode(sorted((name, str(value)) for name, value in query.items() if str(value)))
