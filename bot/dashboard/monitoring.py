"""Monitoring endpoints: liveness, readiness and metrics."""

from aiohttp import web
from prometheus_client import CONTENT_TYPE_LATEST

from bot.control.operator_services import OperatorServices


def monitoring_routes(operator: OperatorServices | None) -> list[web.RouteDef]:
    """The routes ``/healthz``, ``/readyz`` and ``/metrics``.

    Args:
        operator: The running program; if None, only ``/healthz`` answers.
    """

    async def healthz(_request: web.Request) -> web.Response:
        """Return 200 while the program is alive, else 503 with the reason; no token is needed."""
        trouble = "" if operator is None else operator.health.trouble
        # Nothing of the reason, which may name files: it is in /readyz and in the log.
        said = {"ok": True} if not trouble else {"ok": False, "reason": "the database cannot be written"}
        return web.json_response(said, status=503 if trouble else 200)

    async def readyz(_request: web.Request) -> web.Response:
        """Return 200 if every part is ready, else 503; the body gives the state and reason for each part."""
        assert operator is not None  # noqa: S101 - the route is there with a desk only
        said = await operator.readiness()
        return web.json_response(said, status=200 if said["ok"] else 503)

    async def metrics(_request: web.Request) -> web.Response:
        """The metrics in Prometheus's text format."""
        assert operator is not None  # noqa: S101 - as above
        response = web.Response(body=await operator.exposition())
        response.headers["Content-Type"] = CONTENT_TYPE_LATEST
        return response

    routes = [web.get("/healthz", healthz)]
    if operator is not None:
        routes += [web.get("/readyz", readyz), web.get("/metrics", metrics)]
    return routes
