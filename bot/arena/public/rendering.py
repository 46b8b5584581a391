"""Templates for the public pages and link previews; every value is escaped."""

import html
import re
from collections.abc import Mapping
from datetime import UTC, datetime
from functools import cache
from pathlib import Path
from typing import Any

from jinja2 import Environment, FileSystemLoader, StrictUndefined
from markupsafe import Markup, escape

from bot.arena.game import ReplayedGame
from bot.arena.public.people import title_of
from bot.arena.traffic.assets import HEADER, INDEX, assets
from bot.base.rounding import percent, plural
from bot.charts.markup import tag

TEMPLATES = Path(__file__).parent / "templates"
_TITLE = re.compile(rb"<title>.*?</title>")
_HEAD_END = b"</head>"
_KEYS = {"og": "property", "twitter": "name"}


@cache
def _environment() -> Environment:
    environment = Environment(
        loader=FileSystemLoader(TEMPLATES),
        autoescape=True,
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
    )
    environment.globals.update(asset=assets().address, say=say)
    # Elements of our own files.
    environment.globals.update(languages=Markup(assets().languages.decode()))  # noqa: S704
    environment.globals.update(header=Markup(assets().body(HEADER).decode()))  # noqa: S704
    environment.globals["named"] = say  # of a word that the server knows only when it runs
    environment.filters.update(day=_day, signed=_signed, percent=percent)
    return environment


def say(sentence: str, *, element: str = "span", **places: object) -> Markup:
    """Mark up a sentence so that the page's script can translate it.

    Args:
        sentence: The English sentence, with placeholders in braces.
        element: The name of the HTML element around the sentence.
        places: The values of the placeholders, whose names are in lower case. ``game`` is a game's title, and
            ``day`` is a time shown as a date.
    """
    shown = {name: _day(each) if isinstance(each, datetime) else each for name, each in places.items()}
    return tag(element, escape(sentence).format(**shown), data_say=sentence, **_data(shown))


def _data(places: Mapping[str, object]) -> dict[str, str]:
    return {f"data_{name}": str(each) for name, each in places.items() if not isinstance(each, Markup)}


def render(template: str, **values: Any) -> bytes:
    """A page."""
    return _environment().get_template(template).render(**values).encode()


def _day(at: datetime | int) -> Markup:
    """The date of a datetime or of a POSIX time in milliseconds; the page's script localises it."""
    value = at if isinstance(at, datetime) else datetime.fromtimestamp(at / 1000, UTC)
    return tag("time", f"{value.astimezone(UTC):%Y-%m-%d}", datetime=value.astimezone(UTC).isoformat())


def _signed(value: int) -> str:
    return f"{value:+d}".replace("-", "\N{MINUS SIGN}")


def game_page(game: ReplayedGame, base_url: str) -> bytes:
    """The arena's page for a game, with the metadata for link previews."""
    head = "".join(
        f'  <meta {_KEYS[name.partition(":")[0]]}="{name}" content="{html.escape(text)}">\n'
        for name, text in _tags(game, base_url).items()
    )
    body = assets().body(INDEX)
    title = f"<title>{html.escape(_names(game))} · Desdemona</title>".encode()
    body = _TITLE.sub(lambda _: title, body, count=1)
    return body.replace(_HEAD_END, head.encode() + _HEAD_END, 1)


def _names(game: ReplayedGame) -> str:
    first, second = game.players
    return f"{first.name} against {second.name}"


def _tags(game: ReplayedGame, base_url: str) -> dict[str, str]:
    address = f"{base_url}/game/{game.id}"
    title = f"{title_of(game.variant)}: {_names(game)}"
    # While it runs, the board would be out of date wherever the picture is kept.
    image = f"{address}/preview.png" if game.is_over else f"{base_url}/preview/{game.variant.key}"
    return {
        "og:type": "website",
        "og:site_name": "Desdemona",
        "og:title": title,
        "og:description": outcome(game),
        "og:url": address,
        "og:image": image,
        "og:image:type": "image/png",
        "og:image:width": "1200",
        "og:image:height": "630",
        "twitter:card": "summary_large_image",
    }


def outcome(game: ReplayedGame) -> str:
    """Describe the state of a game in a sentence; for a running game, do not say who is ahead."""
    if not game.is_over:
        return "The game is being played: watch it live."
    record = game.record
    if record.status == "aborted":
        return "The game was aborted."
    moves = plural(len(record.moves), "move")
    if record.winner is None:
        return f"A draw after {moves}. Step through the game, and see the traps."
    return f"{game.players[record.winner].name} won after {moves}. Step through the game, and see the traps."
