"""Charts and boards as SVG text, drawn on the server: pure functions of frozen values, no script needed.

Colours and type come from static/charts.css; static/charts.js adds a crosshair to line charts.
"""
