"""Groups of commands whose modules are imported when a command is chosen, not to list them all."""

from collections.abc import Mapping
from importlib import import_module
from typing import Any, NamedTuple

import typer
from typer.core import TyperGroup
from typer.main import get_command


class LazyCommand(NamedTuple):
    """Where a command is, and what its group's help says of it."""

    module: str
    function: str
    """Of that module: what `typer.Typer.command` would be given."""
    help: str
    """The first paragraph of the function's docstring, in one line."""


def lazy_group(commands: Mapping[str, LazyCommand], **settings: Any) -> typer.Typer:
    """A group of these commands, listed in this order.

    Args:
        commands: By name.
        settings: Of the `typer.Typer`.
    """

    class Group(TyperGroup):
        # Any: typer has no public names for its context and commands.
        def resolve_command(self, ctx: Any, args: list[str]) -> tuple[str | None, Any, list[str]]:
            name, found, rest = super().resolve_command(ctx, args)
            if name is not None and name in commands:
                found = _load(name, commands[name])
            return name, found, rest

    group = typer.Typer(cls=Group, no_args_is_help=True, rich_markup_mode=None, **settings)
    for name, command in commands.items():
        group.command(name, help=command.help)(_stand_in)
    return group


def _stand_in() -> None:
    """In the group's list in place of a command that is not imported yet; never called."""


def _load(name: str, command: LazyCommand) -> Any:
    alone = typer.Typer(add_completion=False, rich_markup_mode=None)
    alone.command(name)(getattr(import_module(command.module), command.function))
    return get_command(alone)
