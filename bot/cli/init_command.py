"""`desdemona init`: writes a short settings file for one site, keeps the token apart, and checks both."""

import asyncio
import json
import os
import re
import sys
from pathlib import Path
from typing import Annotated

import typer

from bot.cli.common import UsageError, print_note


def init_command(
    context: typer.Context,
    site: Annotated[str, typer.Option(help="The site's name, for instance arena.")] = "",
    url: Annotated[str, typer.Option(help="Address of the server, if it is not the site's usual one.")] = "",
    name: Annotated[str, typer.Option(help="Account name, where the site needs one to sign in.")] = "",
    token_file: Annotated[
        Path | None, typer.Option(help="File that contains the token; otherwise it is asked for.")
    ] = None,
    force: Annotated[bool, typer.Option("--force", help="Replace existing files; copies are kept.")] = False,
) -> None:
    """Write a short config.toml and check it.

    Asks for what the options omit. The token is not shown and not stored in config.toml, but in a file that
    only you can read. Without a terminal, the token is read from standard input.
    """
    from bot.base.config import config_source, load_config
    from bot.base.dialects import DIALECTS
    from bot.cli.check import check

    path = context.obj or Path("config.toml")
    is_asking = sys.stdin.isatty()
    _may_replace(path, is_forced=force, is_asking=is_asking)
    if not site and is_asking:
        site = typer.prompt(f"Site ({', '.join(DIALECTS)})", default="arena", err=True)
    if site not in DIALECTS:
        raise UsageError(f"--site: {site!r} is not known; known: {', '.join(DIALECTS)}")
    dialect = DIALECTS[site]
    is_outside = bool(url or dialect.home)
    if dialect.needs_login and not name:
        if not is_asking:
            raise UsageError(f"--name: {site} needs the account's name")
        name = typer.prompt(f"Account name at {site}", err=True)
    server = {"dialect": site, **({"url": url} if url else {}), **({"name": name} if name else {})}
    own_file = path.with_name(f"{site}.token")
    token = ""
    if is_outside and not os.environ.get("DESDEMONA_SERVER__TOKEN"):
        if token_file is None:
            token = _ask_token(site, "" if url else dialect.tokens_at, is_asking=is_asking)
            _may_replace(own_file, is_forced=force, is_asking=is_asking)
        # A relative path would depend on the folder in which the program is started.
        file = token_file or own_file
        server["token_file"] = str(file.absolute() if context.obj else file)
    text = _config_text(site, server, is_outside=is_outside)
    draft = path.with_name(f".{path.name}.{os.getpid()}")
    try:
        _write(draft, text)
        try:
            load_config(draft)
        except Exception as error:
            raise UsageError(str(error).replace(str(draft), str(path))) from None
        if token:
            _keep_copy(own_file)
            _write(own_file, f"{token}\n")
            print_note(f"wrote {own_file}, which only you can read")
        _keep_copy(path)
        draft.rename(path)
    except OSError as error:
        raise UsageError(f"cannot write {error.filename}: {error.strerror}") from None
    finally:
        draft.unlink(missing_ok=True)
    print_note(f"wrote {path}")
    findings = asyncio.run(check(load_config(path), config_source(path)))
    for finding in findings:
        print(finding.line)
    command = f"desdemona --config {path}" if context.obj else "desdemona"
    is_good = all(finding.is_good is not False for finding in findings)
    print(f"Next: {command} run" if is_good else f"Next: mend what failed, then {command} check")
    raise typer.Exit(0 if is_good else 1)


def _may_replace(path: Path, *, is_forced: bool, is_asking: bool) -> None:
    """Ask before a file is replaced.

    Raises:
        UsageError: Nobody can be asked.
    """
    if not path.exists() or is_forced:
        return
    if not is_asking:
        raise UsageError(f"{path} exists; --force replaces it and keeps a copy")
    typer.confirm(f"{path} exists. Replace it? A copy is kept.", abort=True, err=True)


def _ask_token(site: str, page: str, *, is_asking: bool) -> str:
    """Read the account's token, without showing it.

    Raises:
        UsageError: There is none, or it is malformed.
    """
    if is_asking:
        if page:
            print_note(f"Create a token here: {page}")
        token = typer.prompt(f"Token or password for {site} (not shown)", hide_input=True, err=True)
    else:
        token = sys.stdin.readline()
    token = str(token).strip()
    if not token:
        raise UsageError("no token: use --token-file, standard input or DESDEMONA_SERVER__TOKEN")
    if not re.fullmatch(r"[!-~]+", token):
        raise UsageError("a token consists of ASCII characters without spaces")
    return token


def _config_text(site: str, server: dict[str, str], *, is_outside: bool) -> str:
    from bot.base.config import ChallengesConfig
    from bot.base.dialects import DIALECTS
    from bot.base.events import FROM_POSITION

    dialect = DIALECTS[site]
    lines = ["# Written by `desdemona init`. Every other setting has its default; see the guide *Configure*."]
    if is_outside:
        lines += ["", "[arena]", "enabled = false          # true: people can also play here in a browser"]
    lines += ["", "[server]", *(f"{key} = {json.dumps(value)}" for key, value in server.items())]
    if is_outside:
        kinds = {each.kind or each.game for each in dialect.variants.values()}
        kinds |= {FROM_POSITION} if dialect.from_positions else set()
        variants = [each for each in ChallengesConfig().variants if each in kinds]
        lines += ["", "[challenges]", f"variants = {json.dumps(variants)}"]
        lines += ["rated = false"] if dialect.rated is False else []
    return "\n".join([*lines, ""])


def _write(path: Path, text: str) -> None:
    """Write a file that only its owner can read."""
    handle = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_TRUNC, 0o600)
    with os.fdopen(handle, "w", encoding="utf-8") as file:
        os.fchmod(file.fileno(), 0o600)
        file.write(text)


def _keep_copy(path: Path) -> None:
    """Rename an existing file to the first free name of the form ``NAME.old``, ``NAME.old2``, ..."""
    if not path.exists():
        return
    number = 1
    while (copy := path.with_name(f"{path.name}.old{number if number > 1 else ''}")).exists():
        number += 1
    path.rename(copy)
    print_note(f"kept the previous file as {copy}")
