"""The templates of the dashboard's pages."""

from functools import cache
from pathlib import Path

from jinja2 import Environment

from bot.parts.html import environment as environment_of
from bot.text.values_text import ago


@cache
def environment() -> Environment:
    """The templates with their filters, compiled once."""
    made = environment_of(Path(__file__).parent / "templates")
    made.filters.update(ago=ago)
    return made
