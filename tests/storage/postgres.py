"""A throw-away PostgreSQL server for the tests: a Unix socket in a folder of its own, no network."""

import os
import pwd
import shutil
import subprocess
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import asyncpg  # type: ignore[import-untyped]


class NoPostgres(Exception):
    """There is no PostgreSQL on this machine that could be started; the message says what is missing."""


def _programs() -> Path:
    """The folder of ``initdb``, ``pg_ctl`` and ``postgres``, of the newest version."""
    installed = Path("/usr/lib/postgresql").glob("*/bin")
    folders = [*sorted(installed, key=lambda folder: float(folder.parent.name), reverse=True)]
    if found := shutil.which("initdb"):
        folders.append(Path(found).resolve().parent)
    for folder in folders:
        if all((folder / name).exists() for name in ("initdb", "pg_ctl", "postgres")):
            return folder
    raise NoPostgres("no initdb, pg_ctl and postgres in PATH or /usr/lib/postgresql/*/bin")


def _owner() -> pwd.struct_passwd:
    """Who the server runs as: ourselves, but it refuses to run as root."""
    if os.geteuid() != 0:
        return pwd.getpwuid(os.geteuid())
    for name in ("postgres", "nobody"):
        try:
            return pwd.getpwnam(name)
        except KeyError:
            continue
    raise NoPostgres("PostgreSQL does not run as root, and there is no user postgres or nobody")


@contextmanager
def running_postgres() -> Iterator[str]:
    """Start a server, give the folder of its socket (user and database: postgres), and remove it all."""
    programs, owner = _programs(), _owner()
    is_root = os.geteuid() == 0
    # Not one of pytest's folders: another user could not reach it, and a socket's path must be short.
    folder = Path(tempfile.mkdtemp(prefix="desdemona-pg-"))
    data, log = folder / "data", folder / "log"

    def call(program: str, *arguments: str) -> None:
        with log.open("ab") as output:
            done = subprocess.run(
                [programs / program, *arguments],
                cwd=folder,
                env={"PATH": os.environ.get("PATH", ""), "LC_ALL": "C"},
                stdin=subprocess.DEVNULL,
                stdout=output,
                stderr=subprocess.STDOUT,
                user=owner.pw_uid if is_root else None,
                group=owner.pw_gid if is_root else None,
                extra_groups=[] if is_root else None,
            )
        if done.returncode:
            raise RuntimeError(f"{program} failed:\n{log.read_text(errors='replace')}")

    try:
        os.chown(folder, owner.pw_uid, owner.pw_gid)
        call("initdb", "-D", str(data), "-U", "postgres", "-A", "trust", "-E", "UTF8", "--no-sync")
        options = f"-c listen_addresses='' -c fsync=off -c max_connections=50 -k {folder}"
        call("pg_ctl", "-D", str(data), "-w", "-t", "60", "-o", options, "start")
        try:
            yield str(folder)
        finally:
            call("pg_ctl", "-D", str(data), "-w", "-m", "immediate", "stop")
    finally:
        shutil.rmtree(folder, ignore_errors=True)


def postgres_url(folder: str, database: str) -> str:
    return f"postgresql://postgres@/{database}?host={folder}"


async def create_database(folder: str, name: str, template: str = "template1") -> str:
    """Make a database and return its URL."""
    connection = await asyncpg.connect(host=folder, user="postgres", database="postgres")
    try:
        await connection.execute(f"CREATE DATABASE {name} TEMPLATE {template}")
    finally:
        await connection.close()
    return postgres_url(folder, name)
