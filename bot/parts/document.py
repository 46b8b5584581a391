"""Renders parts as one page of HTML that needs nothing else: no network, no script."""

from collections.abc import Iterable

from markupsafe import Markup

from bot.charts.files import STYLE
from bot.charts.markup import joined, tag
from bot.parts.html import html_of
from bot.parts.values import Part

_STYLE = """
:root { color-scheme: light; --page: #f6f3ec; --card: #fffdf8; --sunken: #efeae0; --ink: #1c2320;
  --muted: #5b665f; --line: #ddd6c8; --accent: #17694a; --trap: #b02a45; --slip: #97620a;
  --shadow: none; --sans: system-ui, "Segoe UI", Roboto, "Noto Sans", "Liberation Sans", sans-serif; }
* { box-sizing: border-box; }
body { margin: 0; background: var(--page); color: var(--ink); font: 16px/1.5 var(--sans); }
main { max-width: 1100px; margin: 0 auto; padding: 20px; display: grid; gap: 20px;
  grid-template-columns: minmax(0, 1fr); }
h1 { margin: 0; } h2 { margin: 0; font-size: 1.05rem; } p { margin: 0; }
section { background: var(--card); border: 1px solid var(--line); border-radius: 10px; padding: 14px 18px;
  display: grid; gap: 12px; align-content: start; min-width: 0; }
.two, .boards { display: grid; gap: 20px; grid-template-columns: minmax(0, 1fr); }
.note { color: var(--muted); font-size: 0.9rem; }
table.stacked { border-collapse: collapse; width: 100%; font-variant-numeric: tabular-nums; }
.stacked th, .stacked td { text-align: right; padding: 3px 8px; border-bottom: 1px solid var(--line); }
.stacked th:first-child { text-align: left; padding-left: 0; }
.stacked [scope="row"] { font-weight: 400; }
.scroll { overflow-x: auto; }
@media (min-width: 800px) { .two { grid-template-columns: repeat(2, minmax(0, 1fr)); }
  .boards { grid-template-columns: repeat(4, minmax(0, 1fr)); } }
@media print { @page { margin: 14mm; } body { background: none; font-size: 11px; print-color-adjust: exact;
    -webkit-print-color-adjust: exact; }
  main { max-width: none; padding: 0; gap: 10px; } section { break-inside: avoid; }
  .two { grid-template-columns: repeat(2, minmax(0, 1fr)); }
  .boards { grid-template-columns: repeat(4, minmax(0, 1fr)); } details { display: none; }
  .scroll { overflow: visible; } }
"""
_POLICY = "default-src 'none'; style-src 'unsafe-inline'; img-src data:"


def document(title: str, parts: Iterable[Part]) -> str:
    """The whole page."""
    style = _STYLE + STYLE.read_text("utf-8")
    head = joined(
        Markup('<meta charset="utf-8"><meta name="viewport" content="width=device-width">'),
        Markup(f'<meta http-equiv="Content-Security-Policy" content="{_POLICY}">'),  # noqa: S704 - our own
        tag("title", title),
        Markup(f"<style>{style}</style>"),  # noqa: S704 - our own files
    )
    main = tag("main", *(html_of(part, lambda _: "") for part in parts))
    return f'<!doctype html>\n<html lang="en"><head>{head}</head>{tag("body", main)}</html>\n'
