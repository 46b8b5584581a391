"""Every page is in the navigation, its links lead somewhere, its commands parse, its data are current."""

import re
import shlex
import tomllib
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

import pytest
import typer
import yaml
from typer.core import TyperGroup

from bot.base.config import load_config
from bot.base.old_names import RENAMED, rename_settings
from bot.cli.main import OLD_NAMES, app
from tests.docs.generated import page_texts
from tests.docs.pages import DOCS, ROOT, anchors, commands, links, mentioned_files, pages, settings

MAX_WORDS = 61_500


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


@pytest.mark.parametrize(
    "page", [*pages(), ROOT / "CHANGELOG.md"], ids=lambda page: page.relative_to(ROOT).as_posix()
)
def test_links_lead_to_pages_and_headings(page: Path) -> None:
    for link in links(page):
        parts = urlsplit(link)
        if parts.scheme:
            continue
        target = (page.parent / parts.path).resolve() if parts.path else page
        assert target.exists(), link
        if page.parent != ROOT:  # what lies outside of docs/ is not in the site
            assert target.is_relative_to(DOCS), link
        if parts.fragment:
            assert parts.fragment in anchors(target), link


@pytest.mark.parametrize("page", pages(), ids=lambda page: page.relative_to(ROOT).as_posix())
def test_files_that_pages_name_are_there(page: Path) -> None:
    for name in mentioned_files(page):
        at = re.sub(r"\b[A-Z]{3,}\b|(?<=_)[A-Z]{3,}", "*", name.rstrip("/"))  # GAME stands for any game
        assert any(ROOT.glob(at)) or (ROOT / f"{at}.py").is_file(), name


def test_generated_parts_are_current() -> None:
    """After a change of what they are made of: make map."""
    for page, text in page_texts().items():
        assert page.read_text() == text, page


def test_the_documentation_is_not_too_long() -> None:
    """Counted as `cat docs/**/*.md README.md | wc -w` counts."""
    assert sum(len(page.read_text().split()) for page in pages()) <= MAX_WORDS


SETTINGS = sorted({(page.stem, block) for page in pages() for block in settings(page)})


def test_settings_are_found() -> None:
    assert {page for page, _ in SETTINGS} >= {"accounts", "configure", "ggs", "install", "lichess", "trials"}


@pytest.mark.parametrize(("page", "block"), SETTINGS)
def test_settings_are_valid(page: str, block: str, tmp_path: Path) -> None:
    """Examples of settings have known keys and values, all under their present names."""
    assert rename_settings(tomllib.loads(block))[1] == set()
    path = tmp_path / f"{page}.toml"
    site = "" if page != "ggs" or "[server]" in block else '[server]\ndialect = "ggs"\nname = "MYBOT"\n'
    path.write_text(site + block)
    load_config(path)


def test_settings_have_their_present_names() -> None:
    old = "|".join(rf"`{re.escape(name)}\b" if "." in name else rf"\[{name}\]|`{name}\." for name in RENAMED)
    for page in pages():
        now = page.read_text().partition("## Upgrading from")[0]  # the last section tells the old names
        assert re.findall(old, now) == [], page


def parsed(words: list[str]) -> None:
    """Parses a command line as `desdemona` would, without running anything.

    Raises:
        typer's UsageError: There is no such command or option.
    """
    command: Any = typer.main.get_command(app)  # Any: typer has no public names for contexts and parsers
    context = command.context_class(command, info_name="desdemona")
    words = words[2:] if words[0] == "--config" else [] if words[0] in ("--help", "--version") else words
    while isinstance(command, TyperGroup) and words:
        name, command, words = command.resolve_command(context, words)
        context = command.context_class(command, info_name=name, parent=context)
    if words:
        command.make_parser(context).parse_args(list(words))


COMMANDS = sorted({command for page in pages() for command in commands(page)})


def test_parsing_finds_mistakes() -> None:
    parsed(["--config", "x.toml", "games", "--limit", "3"])
    for line in ("nothing", "games --nothing", "trial nothing"):
        with pytest.raises(Exception, match="No such"):
            parsed(line.split())


@pytest.mark.parametrize("line", COMMANDS)
def test_commands_parse(line: str) -> None:
    """What pages call commands are commands by their present names, with options that exist."""
    assert not any(line == old or line.startswith(f"{old} ") for old in OLD_NAMES), line
    line = re.split(r"\s+[|>#&]\s|\s{2,}| [<-]( |$)", line, maxsplit=1)[0].replace("...", "x")
    line = re.sub(r"\[[^\]]*\]", "", line)
    parsed(shlex.split(line))
