"""Command groups that list commands without importing them; running a command imports its module."""

import ast
import sys
from collections.abc import Mapping, Sequence
from importlib import import_module
from importlib.util import find_spec
from pathlib import Path
from typing import Any, NamedTuple

import typer
from typer.core import TyperGroup
from typer.main import get_command

OLD_OPTIONS = {"--opt": "--planned-n", "--player": "--strategy"}
"""Options of version 0.2, each with its current name; they work until 0.4.0 and print a notice."""


class LazyCommand(NamedTuple):
    """Location of a command, and its line in the group's help."""

    module: str
    function: str
    """Name of the function in `module`, which is written as a Typer command."""
    own_help: str = ""
    """Line in the group's help; empty to use the first paragraph of the function's docstring."""
    first: tuple[str, ...] = ()
    """Arguments inserted before the caller's arguments."""
    old_options: tuple[tuple[str, str], ...] = ()
    """Options of earlier releases, each with the group's command that replaces it."""

    @property
    def help(self) -> str:
        """The command's line in the group's help, read from the module's source without importing it."""
        if self.own_help:
            return self.own_help
        spec = find_spec(self.module)
        assert spec is not None  # noqa: S101 - a module of ours
        assert spec.origin is not None  # noqa: S101 - likewise
        definition = next(
            node
            for node in ast.parse(Path(spec.origin).read_text("utf-8")).body
            if isinstance(node, ast.FunctionDef) and node.name == self.function
        )
        return " ".join((ast.get_docstring(definition) or "").split("\n\n")[0].split())


def lazy_group(
    commands: Mapping[str, LazyCommand],
    panels: Mapping[str, Sequence[str]] | None = None,
    old_names: Mapping[str, str] | None = None,
    default: str = "",
    **settings: Any,
) -> typer.Typer:
    """Create a group of these commands, listed in this order.

    Args:
        commands: The commands, keyed by name.
        panels: Headings of the help, each with its commands; by default one heading for all commands.
        old_names: Names from earlier releases (one or two words), each with its current full name. They still
            work and print a notice on standard error, but are not listed.
        default: The command to run if none is named; empty to print the help.
        settings: Arguments of `typer.Typer`.
    """

    class Group(TyperGroup):
        # Any: typer has no public names for its context and commands.
        def parse_args(self, ctx: Any, args: list[str]) -> list[str]:
            args = _with_new_options(args)
            if default and (not args or args[0].startswith("-")) and args[:1] != ["--help"]:
                # Options may stand before the name, as in earlier releases.
                name = next((each for each in args if each in self.commands), default)
                args = [name, *(each for each in args if each != name)]
            return super().parse_args(ctx, args)

        def resolve_command(self, ctx: Any, args: list[str]) -> tuple[str | None, Any, list[str]]:
            for count in (2, 1):
                if (new := (old_names or {}).get(" ".join(args[:count]))) is not None:
                    _note_renamed(" ".join(args[:count]), new)
                    return _resolve_command(self, ctx, new.split(), args[count:])
            name, command, rest = super().resolve_command(ctx, args)
            if name is not None and name in commands:
                for option, new in commands[name].old_options:
                    if option in rest:
                        _note_renamed(f"{name} {option}", new)
                        return self.resolve_command(ctx, [new, *(each for each in rest if each != option)])
                command, rest = _load(name, commands[name]), [*commands[name].first, *rest]
            return name, command, rest

        def format_commands(self, ctx: Any, formatter: Any) -> None:  # noqa: ARG002 - typer's signature
            longest = max(map(len, self.commands))
            for title, names in (panels or {"Commands": tuple(self.commands)}).items():
                with formatter.section(title):
                    formatter.write_dl([(f"{n:<{longest}}", self._help_of(n)) for n in names])

        def _help_of(self, name: str) -> str:
            return commands[name].help if name in commands else self.commands[name].help or ""

        def invoke(self, ctx: Any) -> Any:
            try:
                return super().invoke(ctx)
            except typer.BadParameter as error:
                error.message = error.message.removeprefix("Value error, ")  # pydantic's words
                raise

    group = typer.Typer(cls=Group, no_args_is_help=not default, rich_markup_mode=None, **settings)
    for name in commands:
        group.command(name)(_placeholder_command)
    return group


def _with_new_options(args: list[str]) -> list[str]:
    options = []
    for each in args:
        option, equals, value = each.partition("=")
        if option in OLD_OPTIONS:
            _note_renamed(option, OLD_OPTIONS[option])
            each = OLD_OPTIONS[option] + equals + value
        options.append(each)
    return options


def _note_renamed(old: str, new: str) -> None:
    sys.stderr.write(f"desdemona: `{old}` is now `{new}`; the old name will be removed in the next release\n")


def _resolve_command(
    group: Any, ctx: Any, names: Sequence[str], rest: list[str]
) -> tuple[str | None, Any, list[str]]:
    """Find a command of a group by the words of its name; return the name, the command and its arguments."""
    command = group
    for name in names:
        _, command, rest = command.resolve_command(ctx, [name, *rest])
    return " ".join(names), command, rest


def _placeholder_command() -> None:
    """Placeholder for a command that is not imported yet; never called."""


def _load(name: str, command: LazyCommand) -> Any:
    alone = typer.Typer(add_completion=False, rich_markup_mode=None)
    alone.command(name)(getattr(import_module(command.module), command.function))
    return get_command(alone)
