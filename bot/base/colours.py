"""The stylesheet of colours, fonts and box model that the arena's page and the dashboard share."""

from pathlib import Path

from aiohttp import web

COLOURS = Path(__file__).parent / "static" / "colours.css"


def file_route(folder: str, path: Path) -> web.RouteDef:
    """A file from elsewhere under its own name in a folder; to be added before the folder's own files.

    Args:
        folder: Path of the folder, without a slash at its end.
        path: The file.
    """

    async def send(_request: web.Request) -> web.FileResponse:
        return web.FileResponse(path)

    return web.get(f"{folder}/{path.name}", send)
