"""Charts and boards as SVG text, drawn on the server: pure functions of frozen values, no script needed.

`line_chart`, `interval_rows`, `stacked_bars`, `sparkline` and `board_svg` return markup for a page that has
static/charts.css; a page with boards has static/pieces.css and `board_shapes` once.  static/charts.js adds a
crosshair to line charts, static/boards.js letters to xiangqi's pieces where there is no font for Chinese; a
page may lack both. Colours are variables of the page: ``--ink --muted --line --card --sunken --accent --slip
--trap --shadow``, and its font is ``--sans``.
"""
