"""Charts and boards as SVG text, drawn on the server by pure functions of frozen values; no script is needed.

`line_chart`, `interval_rows`, `stacked_bars`, `sparkline` and `board_svg` return markup for a page with
static/charts.css; a page with boards also needs static/pieces.css and one copy of `board_shapes`. Two scripts
are optional: static/charts.js adds a crosshair to line charts, and static/boards.js adds letters to xiangqi
pieces if there is no Chinese font. The page defines the colours as variables, ``--ink --muted --line --card
--sunken --accent --slip --trap --shadow``, and the font as ``--sans``.
"""
