"""Templates of the public pages, and what links to a game say of it: every value is escaped."""

import html
import re
from collections.abc import Mapping
from datetime import UTC, datetime
from functools import cache
from pathlib import Path
from typing import Any

from jinja2 import Environment, FileSystemLoader, StrictUndefined
from markupsafe import Markup

from bot.arena.game import ReplayedGame
from bot.arena.public.people import title_of
from bot.arena.traffic.assets import INDEX, assets
from bot.base.rounding import counted
from bot.charts.markup import tag

TEMPLATES = Path(__file__).parent / "templates"
_TITLE = re.compile(rb"<title>.*?</title>")
_HEAD_END = b"</head>"
_KEYS = {"og": "property", "twitter": "name"}


@cache
def _environment() -> Environment:
    made = Environment(
        loader=FileSystemLoader(TEMPLATES),
        autoescape=True,
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
    )
    made.globals.update(asset=assets().address, languages=Markup(assets().languages.decode()), say=say)  # noqa: S704
    made.globals["named"] = say  # of a word that the server knows only when it runs
    made.filters.update(day=_day, signed=_signed, percent=_percent)
    return made


def say(sentence: str, **places: object) -> Markup:
    """A sentence for people, which the page's script says in their language.

    Args:
        sentence: In English, with names in braces.
        places: What stands there, by names in lower case.
    """
    return tag("span", sentence.format(**places), data_say=sentence, **_data(places))


def _data(places: Mapping[str, object]) -> dict[str, str]:
    return {f"data_{name}": str(value) for name, value in places.items()}


def render(template: str, **values: Any) -> bytes:
    """A page."""
    return _environment().get_template(template).render(**values).encode()


def _day(value: datetime) -> str:
    return f"{value.astimezone(UTC):%Y-%m-%d}"


def _signed(value: int) -> str:
    return f"{value:+d}".replace("-", "\N{MINUS SIGN}")


def _percent(part: int, whole: int) -> str:
    return f"{100 * part / whole:.0f} %"


def game_page(match: ReplayedGame, base_url: str) -> bytes:
    """The arena's page for a game, with what other sites show beside a link to it."""
    head = "".join(
        f'  <meta {_KEYS[name.partition(":")[0]]}="{name}" content="{html.escape(text)}">\n'
        for name, text in _tags(match, base_url).items()
    )
    body = assets().body(INDEX)
    title = f"<title>{html.escape(_names(match))} · Desdemona</title>".encode()
    body = _TITLE.sub(lambda _: title, body, count=1)
    return body.replace(_HEAD_END, head.encode() + _HEAD_END, 1)


def _names(match: ReplayedGame) -> str:
    first, second = match.players
    return f"{first.name} against {second.name}"


def _tags(match: ReplayedGame, base_url: str) -> dict[str, str]:
    address = f"{base_url}/game/{match.id}"
    title = f"{title_of(match.variant)}: {_names(match)}"
    # While it runs, the board would be out of date wherever the picture is kept.
    image = f"{address}/preview.png" if match.is_over else f"{base_url}/preview/{match.variant.key}"
    return {
        "og:type": "website",
        "og:site_name": "Desdemona",
        "og:title": title,
        "og:description": outcome(match),
        "og:url": address,
        "og:image": image,
        "og:image:type": "image/png",
        "og:image:width": "1200",
        "og:image:height": "630",
        "twitter:card": "summary_large_image",
    }


def outcome(match: ReplayedGame) -> str:
    """How a game stands, in a sentence; while it runs, nothing of who stands better."""
    if not match.is_over:
        return "The game is being played: watch it live."
    record = match.record
    if record.status == "aborted":
        return "The game was aborted."
    moves = counted(len(record.moves), "move")
    if record.winner is None:
        return f"A draw after {moves}. Step through it, and see the traps."
    return f"{match.players[record.winner].name} won after {moves}. Step through it, and see the traps."
