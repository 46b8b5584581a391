"""The stylesheet of colours, fonts and box model that the arena's page and the dashboard share."""

from pathlib import Path

from aiohttp import web

COLOURS = Path(__file__).parent / "static" / "colours.css"


def file_route(folder: str, path: Path) -> web.RouteDef:
    """Serve a file from another folder under the URL `folder`/NAME; add this route before the folder's own.

    Args:
        folder: URL path of the folder, without a trailing slash.
        path: Path of the file on disk.
    """

    async def send(_request: web.Request) -> web.FileResponse:
        return web.FileResponse(path)

    return web.get(f"{folder}/{path.name}", send)
