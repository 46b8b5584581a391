"""The OpenAPI description of the arena: complete, and what it promises holds."""

from pathlib import Path
from typing import Any

import pytest
import yaml
from jsonschema import Draft202012Validator

from bot.arena.server import Arena
from bot.base.config import ArenaConfig
from storage.database import Database

FILE = Path(__file__).parents[3] / "docs" / "arena-openapi.yaml"
PAGE = {"/", "/train", "/game/{game}", "/@/{user}", "/leaders", "/history", "/static/{name}", "/{path}"}
"""For browsers, not part of the API."""


@pytest.fixture(scope="module")
def description() -> Any:
    return yaml.safe_load(FILE.read_text(encoding="utf-8"))


def test_it_names_every_call(database: Database, description: Any) -> None:
    routes = Arena(ArenaConfig(), database)._app.router.routes()
    served = {
        (route.resource.canonical.rstrip("/"), route.method.lower())
        for route in routes
        if route.resource is not None and route.resource.canonical not in PAGE and route.method != "HEAD"
    }
    assert {(path, method) for path, calls in description["paths"].items() for method in calls} == served


def test_its_references_and_schemas_are_sound(description: Any) -> None:
    def references(part: Any) -> Any:
        if isinstance(part, dict):
            yield from (value for key, value in part.items() if key == "$ref")
            for value in part.values():
                yield from references(value)
        elif isinstance(part, list):
            for value in part:
                yield from references(value)

    for reference in references(description):
        found = description
        for name in reference.removeprefix("#/").split("/"):
            found = found[name]
    for schema in description["components"]["schemas"].values():
        Draft202012Validator.check_schema(schema)
    for path, calls in description["paths"].items():
        for call in calls.values():
            told = {each["$ref"].rpartition("/")[2] for each in call.get("parameters", ())}
            assert {part[1:-1] for part in path.split("/") if part.startswith("{")} <= told, path
