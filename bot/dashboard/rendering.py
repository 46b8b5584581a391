"""Templates: how pages become HTML.  Every value is escaped unless it is `Markup`."""

import math
from collections.abc import Mapping
from datetime import UTC, datetime
from pathlib import Path
from typing import Any
from urllib.parse import urlencode

from jinja2 import Environment, FileSystemLoader, StrictUndefined
from markupsafe import Markup, escape

from bot.base.rounding import counted, half_up
from bot.charts.boards import board_shapes
from bot.charts.markup import tag
from bot.dashboard.trap_words import odds_text, score_text
from engine.games import GAMES

TEMPLATES = Path(__file__).parent / "templates"
NO_VALUE = "\N{EN DASH}"
"""Shown where there is no number."""


def environment() -> Environment:
    """The templates with their filters; an unknown name is an error."""
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
        odds_text=odds_text,
        with_code=with_code,
    )
    return made


def number(value: float | None, digits: int = 0) -> str:
    """A number with separators of thousands."""
    return NO_VALUE if value is None or not math.isfinite(value) else f"{half_up(value, digits):,.{digits}f}"


def percent(value: float | None, digits: int = 0) -> str:
    """A share from 0 to 1."""
    return NO_VALUE if value is None else f"{half_up(100 * value, digits):.{digits}f} %"


def signed(value: float | None, digits: int = 1) -> str:
    """A number with its sign, unless it is rounded to 0, and a true minus."""
    if value is None:
        return NO_VALUE
    text = f"{half_up(value, digits):+.{digits}f}"
    return text.replace("-", "\N{MINUS SIGN}") if float(text) else text[1:]


def moment(value: datetime | None, form: str = "%Y-%m-%d %H:%M") -> str:
    """A time in UTC."""
    return NO_VALUE if value is None else value.astimezone(UTC).strftime(form)


def span(seconds: float | None) -> str:
    """A length of time, for instance ``3 min``, by its largest unit."""
    if seconds is None:
        return NO_VALUE
    for unit, name in ((86_400, "d"), (3600, "h"), (60, "min")):
        if seconds >= 2 * unit:
            return f"{seconds / unit:.0f} {name}"
    return f"{seconds:.0f} s" if seconds >= 10 else f"{seconds:.1f} s"


def ago(value: datetime | None, now: datetime | None = None) -> str:
    """How long ago something was."""
    if value is None:
        return NO_VALUE
    elapsed_s = ((now or datetime.now(UTC)) - value).total_seconds()
    return "just now" if elapsed_s < 1 else f"{span(elapsed_s)} ago"


def title_of(game: str) -> str:
    """A game's name for people."""
    known = GAMES.get(game)
    return game if known is None else known.title


def with_code(text: str) -> Markup:
    """A text in which what stands between backticks is code."""
    parts = enumerate(text.split("`"))
    return Markup().join(tag("code", part) if number % 2 else escape(part) for number, part in parts)


def opponent_path(site: str, site_id: str) -> str:
    """The page of an opponent.  Its key is in the query: as a part of a path ``..`` would lead elsewhere."""
    return f"/dash/opponent?{urlencode({'site': site, 'id': site_id})}"


def query_text(query: Mapping[str, Any]) -> str:
    """A query of an address, sorted, so that equal filters have equal addresses."""
    return urlencode(sorted((name, str(value)) for name, value in query.items() if str(value)))
