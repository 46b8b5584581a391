"""The colours, fonts and box model that the arena's page and the dashboard share: a file that both serve."""

from pathlib import Path

from aiohttp import web

COLOURS = Path(__file__).parent / "static" / "colours.css"


def colours_route(folder: str) -> web.RouteDef:
    """The file as ``colours.css`` in a folder; to be added before the folder's own files.

    Args:
        folder: Path of the folder, without a slash at its end.
    """

    async def send(_request: web.Request) -> web.FileResponse:
        return web.FileResponse(COLOURS)

    return web.get(f"{folder}/colours.css", send)
