"""Templates: how pages become HTML.  Every value is escaped unless it is `Markup`."""

from collections.abc import Mapping
from functools import cache
from pathlib import Path
from typing import Any
from urllib.parse import urlencode

from jinja2 import Environment, FileSystemLoader, StrictUndefined
from markupsafe import Markup, escape

from bot.base.rounding import counted, percent
from bot.charts.boards import board_shapes
from bot.charts.markup import tag
from bot.views.bait_text import probability_text, score_text
from bot.views.values_text import ago, moment, number, signed, span, title_of

TEMPLATES = Path(__file__).parent / "templates"


@cache
def environment() -> Environment:
    """The templates with their filters, compiled once; an unknown name is an error."""
    made = Environment(
        loader=FileSystemLoader(TEMPLATES),
        autoescape=True,
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
    )
    made.globals.update(board_shapes=board_shapes, query_text=query_text, opponent_path=opponent_path)
    made.filters.update(
        percent=percent,
        signed=signed,
        number=number,
        counted=counted,
        moment=moment,
        ago=ago,
        span=span,
        title_of=title_of,
        score_text=score_text,
        probability_text=probability_text,
        with_code=with_code,
    )
    return made


def with_code(text: str) -> Markup:
    """A text with code between backticks."""
    parts = enumerate(text.split("`"))
    return Markup().join(tag("code", part) if number % 2 else escape(part) for number, part in parts)


def opponent_path(site: str, site_id: str) -> str:
    """The page of an opponent.  Its key is in the query: as a part of a path ``..`` would lead elsewhere."""
    return f"/dash/opponent?{urlencode({'site': site, 'id': site_id})}"


def query_text(query: Mapping[str, Any]) -> str:
    """A query of an address, sorted, so that equal filters have equal addresses."""
    return urlencode(sorted((name, str(value)) for name, value in query.items() if str(value)))
