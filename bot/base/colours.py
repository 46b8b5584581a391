"""The stylesheet of colours, fonts and box model that the arena's page and the dashboard share."""

from pathlib import Path

COLOURS = Path(__file__).parent / "static" / "colours.css"
