"""Every page is in the navigation, its links lead somewhere, its commands parse, its data are current."""

import re
import shlex
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

import click
import pytest
import typer
import yaml

from bot.cli.main import app
from tests.docs.generated import page_texts
from tests.docs.pages import DOCS, ROOT, anchors, commands, links, pages

MOST_WORDS = 60_000
ROOT_COMMAND = typer.main.get_command(app)


def in_navigation(entry: Any) -> list[str]:
    """The pages that a part of mkdocs.yml's `nav` names."""
    match entry:
        case str(page):
            return [page]
        case dict(parts):
            return [page for part in parts.values() for page in in_navigation(part)]
        case list(parts):
            return [page for part in parts for page in in_navigation(part)]
    raise TypeError(entry)


def test_each_page_is_in_the_navigation_once() -> None:
    class Loader(yaml.SafeLoader):
        """Reads mkdocs.yml, whose tags name functions of Python."""

    Loader.add_multi_constructor("tag:yaml.org,2002:python/", lambda _loader, suffix, _node: suffix)
    settings = yaml.load((ROOT / "mkdocs.yml").read_text(), Loader)
    there = sorted(page.relative_to(DOCS).as_posix() for page in DOCS.rglob("*.md"))
    assert sorted(in_navigation(settings["nav"])) == there


@pytest.mark.parametrize("page", pages(), ids=lambda page: page.relative_to(ROOT).as_posix())
def test_links_lead_to_pages_and_headings(page: Path) -> None:
    for link in links(page):
        parts = urlsplit(link)
        if parts.scheme:
            continue
        target = (page.parent / parts.path).resolve() if parts.path else page
        assert target.exists(), link
        if page != ROOT / "README.md":  # what lies outside of docs/ is not in the site
            assert target.is_relative_to(DOCS), link
        if parts.fragment:
            assert parts.fragment in anchors(target), link


def test_generated_parts_are_current() -> None:
    """After a change of what they are made of: make map."""
    for page, text in page_texts().items():
        assert page.read_text() == text, page


def test_the_documentation_is_not_too_long() -> None:
    """Counted as `cat docs/**/*.md README.md | wc -w` counts."""
    assert sum(len(page.read_text().split()) for page in pages()) <= MOST_WORDS


def parsed(words: list[str]) -> None:
    """Parses a command line as `desdemona` would, without running anything.

    Raises:
        click.UsageError: There is no such command or option, or an argument is missing.
    """
    command: click.Command = ROOT_COMMAND
    context = click.Context(command, info_name="desdemona", resilient_parsing=False)
    if words[:1] == ["--config"]:
        words = words[2:]
    while isinstance(command, click.Group):
        _, found, words = command.resolve_command(context, words)
        assert found is not None
        command, context = found, click.Context(found, info_name=found.name, parent=context)
    command.make_parser(context).parse_args(list(words))


COMMANDS = sorted({command for page in pages() for command in commands(page)})


@pytest.mark.parametrize("line", COMMANDS)
def test_commands_parse(line: str) -> None:
    """What pages call commands are commands, with options that exist."""
    line = re.split(r"\s+[|>#&]\s|\s{2,}| [<-]( |$)", line, maxsplit=1)[0].replace("...", "x")
    line = re.sub(r"\[[^\]]*\]", "", line)
    parsed(shlex.split(line))
