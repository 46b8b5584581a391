"""Renders parts as one self-contained HTML page that needs no network and no scripts."""

from collections.abc import Iterable

from markupsafe import Markup

from bot.base.colours import COLOURS
from bot.charts.files import SHAPES_STYLE, STYLE
from bot.charts.markup import join_markup, tag
from bot.parts.html import PARTS_STYLE, html_of
from bot.parts.values import Part

_PRINT = """
@media print { @page { margin: 14mm; } body { background: none; font-size: 11px; print-color-adjust: exact;
    -webkit-print-color-adjust: exact; }
  #main { max-width: none; padding: 0; gap: 10px; } section { break-inside: avoid; }
  .two { grid-template-columns: repeat(2, minmax(0, 1fr)); }
  .gallery { grid-template-columns: repeat(4, minmax(0, 1fr)); } details { display: none; }
  .scroll { overflow: visible; } }
"""
_POLICY = "default-src 'none'; style-src 'unsafe-inline'; img-src data:"


def document(title: str, parts: Iterable[Part]) -> str:
    """Return the whole page."""
    style = "".join(path.read_text("utf-8") for path in (COLOURS, PARTS_STYLE, STYLE, SHAPES_STYLE)) + _PRINT
    head = join_markup(
        Markup('<meta charset="utf-8"><meta name="viewport" content="width=device-width">'),
        Markup(f'<meta http-equiv="Content-Security-Policy" content="{_POLICY}">'),  # noqa: S704 - our own
        tag("title", title),
        Markup(f"<style>{style}</style>"),  # noqa: S704 - our own files
    )
    main = tag("main", *(html_of(part, lambda _: "") for part in parts), id="main")
    return f'<!doctype html>\n<html lang="en"><head>{head}</head>{tag("body", main)}</html>\n'
