"""The page's static files, held in memory and compressed, with versioned URLs.

The files refer to each other as ``/static/...``. Served files use ``/static/TAG/...`` instead, with the same
tag in all files, so that browsers can cache them forever and never mix two versions.
"""

import hashlib
import html
import json
import mimetypes
import re
from functools import cache
from pathlib import Path

from aiohttp import web

from bot.arena.traffic.cached_response import CachedResponse
from bot.arena.variants import VARIANTS
from bot.base.colours import COLOURS
from bot.charts.boards import board_shapes
from bot.charts.files import CHART_FILES

STATIC = Path(__file__).parents[1] / "static"
PREFIX = "/static/"
INDEX = "index.html"
HEADER = "header.html"
"""The header that every page includes."""
STYLES = "styles.css"
"""All style sheets of the page in one file, which the page requests instead of them."""
CACHE_FOREVER = "public, max-age=31536000, immutable"
_WITH_NAMES = {".html", ".js", ".css"}  # files that name others
_DRAWN = tuple(dict.fromkeys(variant.game_name for variant in VARIANTS.values()))
"""The games whose pieces and boards the page draws."""
_LANGUAGES = "languages/"
_HEADER_PLACE = b"<!-- header.html -->"
_SHAPES_PLACE = b"<!-- shapes -->"
_STYLE_LINK = re.compile(rb' *<link rel="stylesheet" href="/static/([^"]+)">\n')
_NO_LANGUAGES = b'<meta name="languages" content="">'


class Assets:
    """The files, keyed by name, and their common tag."""

    def __init__(self, files: dict[str, bytes]) -> None:
        files = _with_one_style_sheet(files)
        everything = b"\0".join(
            part for name, data in sorted(files.items()) for part in (name.encode(), data)
        )
        self.tag = hashlib.sha256(everything).hexdigest()[:12]
        self.languages = _languages(files)
        """The element in a page's head that lists the available languages."""
        self._header = files.get(HEADER, b"")
        self._answers = {name: self._answer(name, data) for name, data in files.items()}

    def _answer(self, name: str, data: bytes) -> CachedResponse:
        if name == INDEX:
            data = data.replace(_NO_LANGUAGES, self.languages)
            data = data.replace(_HEADER_PLACE, self._header.strip())
            data = data.replace(_SHAPES_PLACE, board_shapes(_DRAWN).encode())
        content_type = mimetypes.guess_type(name)[0] or "application/octet-stream"
        if Path(name).suffix in _WITH_NAMES:
            data = data.replace(f'"{PREFIX}'.encode(), f'"{PREFIX}{self.tag}/'.encode())
            content_type += "; charset=utf-8"
        return CachedResponse.of(data, content_type)

    def address(self, name: str) -> str:
        """The URL of a file, for use in a page."""
        return f"{PREFIX}{self.tag}/{name}"

    def body(self, name: str) -> bytes:
        """The content of a file as served."""
        return self._answers[name].body

    async def page(self, request: web.Request) -> web.StreamResponse:
        """Serve the page itself; its URL never changes."""
        return self._answers[INDEX].send(request)

    async def file(self, request: web.Request) -> web.StreamResponse:
        """Serve the file at the requested URL, tagged or plain.

        A request with an old tag comes from a page older than the file; it gets the current file without
        caching.
        """
        name = request.match_info["name"]
        tag, _, rest = name.partition("/")
        answer, is_current = self._answers.get(name), False
        if answer is None and rest:
            answer, is_current = self._answers.get(rest), tag == self.tag
        if answer is None:
            raise web.HTTPNotFound
        return answer.send(request, CACHE_FOREVER if is_current else "no-cache")


def _with_one_style_sheet(files: dict[str, bytes]) -> dict[str, bytes]:
    """The files, with the page's style sheets joined into one."""
    page = files.get(INDEX, b"")
    names = [name.decode() for name in _STYLE_LINK.findall(page)]
    if not names:
        return files
    first, rest = _STYLE_LINK.split(page, maxsplit=1)[0], _STYLE_LINK.sub(b"", page)
    link = f'  <link rel="stylesheet" href="{PREFIX}{STYLES}">\n'.encode()
    page = first + link + rest.removeprefix(first)
    return files | {INDEX: page, STYLES: b"\n".join(files[name] for name in names)}


def _languages(files: dict[str, bytes]) -> bytes:
    """A meta element that lists the available translations, such as "de Deutsch, ja 日本語".

    Raises:
        ValueError: A translation file is not valid JSON or has no `name`; the message names the file.
    """
    found = []
    for name, data in sorted(files.items()):
        if name.startswith(_LANGUAGES):
            try:
                found.append(f"{Path(name).stem} {json.loads(data)['name']}")
            except (ValueError, KeyError, TypeError) as error:
                raise ValueError(f"{name} is not a translation file: {error!r}") from error
    return f'<meta name="languages" content="{html.escape(", ".join(found))}">'.encode()


@cache
def assets() -> Assets:
    """The page's assets, read once."""
    files = {path.relative_to(STATIC).as_posix(): path for path in STATIC.rglob("*") if path.is_file()}
    shared = {path.name: path for path in (COLOURS, *CHART_FILES)}
    return Assets({name: path.read_bytes() for name, path in (files | shared).items()})
