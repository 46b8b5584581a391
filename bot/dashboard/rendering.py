"""Templates: how pages become HTML.  Every value is escaped unless it is `Markup`."""

from functools import cache
from pathlib import Path

from jinja2 import Environment, FileSystemLoader, StrictUndefined

from bot.base.rounding import counted, duration, percent
from bot.charts.boards import board_shapes
from bot.parts.html import board_of, html_of, pills_of, with_code
from bot.text.bait_text import probability_text, score_text
from bot.text.values_text import ago, moment, number, signed, title_of
from bot.views.addresses import opponent_path, query_text

TEMPLATES = Path(__file__).parent / "templates"


@cache
def environment() -> Environment:
    """The templates with their filters, compiled once; an unknown name is an error."""
    environment = Environment(
        loader=FileSystemLoader(TEMPLATES),
        autoescape=True,
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
    )
    environment.globals.update(board_shapes=board_shapes, query_text=query_text, opponent_path=opponent_path)
    environment.filters.update(
        percent=percent,
        signed=signed,
        number=number,
        counted=counted,
        moment=moment,
        ago=ago,
        duration=duration,
        title_of=title_of,
        score_text=score_text,
        probability_text=probability_text,
        with_code=with_code,
        html_of=html_of,
        pills_of=pills_of,
        board_of=board_of,
    )
    return environment
