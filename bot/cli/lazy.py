"""Command groups that import a command's module only when it runs, not for the list of commands."""

from collections.abc import Mapping
from importlib import import_module
from typing import Any, NamedTuple

import typer
from typer.core import TyperGroup
from typer.main import get_command


class LazyCommand(NamedTuple):
    """A command's location, and its line in the group's help."""

    module: str
    function: str
    """Function of that module, as for `typer.Typer.command`."""
    help: str
    """The first paragraph of the function's docstring, in one line."""


def lazy_group(commands: Mapping[str, LazyCommand], **settings: Any) -> typer.Typer:
    """A group of these commands, listed in this order.

    Args:
        commands: The commands by name.
        settings: Arguments of `typer.Typer`.
    """

    class Group(TyperGroup):
        # Any: typer has no public names for its context and commands.
        def resolve_command(self, ctx: Any, args: list[str]) -> tuple[str | None, Any, list[str]]:
            name, found, rest = super().resolve_command(ctx, args)
            if name is not None and name in commands:
                found = _load(name, commands[name])
            return name, found, rest

        def invoke(self, ctx: Any) -> Any:
            try:
                return super().invoke(ctx)
            except typer.BadParameter as error:
                error.message = error.message.removeprefix("Value error, ")  # pydantic's words
                raise

    group = typer.Typer(cls=Group, no_args_is_help=True, rich_markup_mode=None, **settings)
    for name, command in commands.items():
        group.command(name, help=command.help)(_stand_in)
    return group


def _stand_in() -> None:
    """Placeholder for a command that is not imported yet; never called."""


def _load(name: str, command: LazyCommand) -> Any:
    alone = typer.Typer(add_completion=False, rich_markup_mode=None)
    alone.command(name)(getattr(import_module(command.module), command.function))
    return get_command(alone)
