"""The log's destination and format."""

import json
import logging
from collections.abc import Iterator
from contextvars import copy_context
from pathlib import Path

import pytest

from bot.base import log
from bot.base.config import LogConfig
from bot.base.errors import ConfigError


@pytest.fixture(autouse=True)
def _root_logger_as_before() -> Iterator[None]:
    root = logging.getLogger()
    before, level = list(root.handlers), root.level
    yield
    for handler in root.handlers:
        if handler not in before:
            handler.close()
    root.handlers[:] = before
    root.setLevel(level)
    for name in log.OWN_PACKAGES:
        logging.getLogger(name).setLevel(logging.NOTSET)


def test_json_lines(tmp_path: Path) -> None:
    path = tmp_path / "logs" / "bot.log"
    log.configure_logging(LogConfig(format="json", file=str(path)))
    logger = logging.getLogger("bot.test")
    logger.info("game %s", "g1", extra={"game_id": "g1", "strategy": "strong"})
    logger.debug("not shown")
    try:
        raise ValueError("broken")
    except ValueError:
        logger.exception("trouble")
    first, second = (json.loads(line) for line in path.read_text(encoding="utf-8").splitlines())
    assert (first["level"], first["logger"], first["message"]) == ("INFO", "bot.test", "game g1")
    assert (first["game_id"], first["strategy"], first["player"]) == ("g1", "strong", "strong")
    assert first["time"].endswith("+00:00")
    assert "ValueError: broken" in second["exception"]


def test_text_lines(tmp_path: Path) -> None:
    path = tmp_path / "bot.log"
    log.configure_logging(LogConfig(level="WARNING", file=str(path)))
    logging.getLogger("bot.test").info("not shown")
    logging.getLogger("bot.test").warning("shown")
    (line,) = path.read_text(encoding="utf-8").splitlines()
    assert line.endswith("WARNING bot.test: shown")


def test_libraries_are_heard_only_when_something_is_wrong(tmp_path: Path) -> None:
    path = tmp_path / "bot.log"
    log.configure_logging(LogConfig(level="DEBUG", file=str(path)))
    for name in ("aiosqlite", "aiohttp.access", "alembic.runtime.migration", "sqlalchemy.engine.Engine"):
        logging.getLogger(name).debug("not shown")
        logging.getLogger(name).info("not shown")
    logging.getLogger("asyncio").warning("shown")
    for name in ("bot.game.game_runner", "engine.protocols.engine_source", "storage.database"):
        logging.getLogger(name).debug("shown")
    lines = path.read_text(encoding="utf-8").splitlines()
    assert len(lines) == 4
    assert all(line.endswith(": shown") for line in lines)


def test_libraries_say_no_more_than_we_do(tmp_path: Path) -> None:
    path = tmp_path / "bot.log"
    log.configure_logging(LogConfig(level="ERROR", file=str(path)))
    logging.getLogger("asyncio").warning("not shown")
    logging.getLogger("bot.game.game_runner").warning("not shown")
    assert path.read_text(encoding="utf-8") == ""


RUDE = "Anna\n2030-01-01 00:00:00 ERROR \x1b[31m\x9b\u2028\ud800 Zoë"


def test_a_name_cannot_write_a_line_of_its_own(tmp_path: Path) -> None:
    path = tmp_path / "bot.log"
    log.configure_logging(LogConfig(file=str(path)))
    try:
        raise ValueError(RUDE)
    except ValueError:
        logging.getLogger("bot.test").exception("against %s", RUDE)
    first, *more = path.read_text(encoding="utf-8").split("\n")
    assert first.endswith(r"against Anna\n2030-01-01 00:00:00 ERROR \x1b[31m\x9b\u2028\ud800 Zoë")
    assert more[0].strip() == "Traceback (most recent call last):"
    assert more[-1] == ""
    assert all(line.startswith("    ") and line.isprintable() for line in more[:-1])


def test_a_rude_name_in_json(tmp_path: Path) -> None:
    path = tmp_path / "bot.log"
    log.configure_logging(LogConfig(format="json", file=str(path)))
    logging.getLogger("bot.test").info("against %s", RUDE, extra={"opponent": RUDE})
    text = path.read_text(encoding="utf-8")
    assert text.removesuffix("\n").isprintable()
    assert json.loads(text)["opponent"] == RUDE


def test_standard_error(capsys: pytest.CaptureFixture[str]) -> None:
    log.configure_logging(LogConfig())
    logging.getLogger("bot.test").info("shown")
    assert capsys.readouterr().err.endswith("bot.test: shown\n")


def test_a_file_that_cannot_be_written(tmp_path: Path) -> None:
    with pytest.raises(ConfigError, match=r"log\.file: cannot write .*: Is a directory"):
        log.configure_logging(LogConfig(file=str(tmp_path)))


def test_the_level_changes_while_it_runs() -> None:
    log.set_level("ERROR")
    assert log.set_level("DEBUG") == "ERROR"
    assert log.current_level() == "DEBUG"
    assert logging.getLogger("storage.database").isEnabledFor(logging.DEBUG)
    for level in ("debug", "", "NOTSET", "1", "\x1b"):
        with pytest.raises(ConfigError, match="is not known; known: DEBUG, INFO, WARNING, ERROR"):
            log.set_level(level)


def test_the_last_error_is_remembered() -> None:
    with log.capture_errors() as memory:

        def latest() -> tuple[str, str] | None:
            return None if memory.latest is None else (memory.latest.account, memory.latest.message)

        logging.getLogger("bot.game").warning("not yet")
        logging.getLogger("elsewhere").error("not ours")
        assert latest() is None
        logging.getLogger("bot.game").error("game %s: \x1b[2J", "x")
        assert latest() == ("", "game x: \\x1b[2J")
        token = log.account.set("home")
        logging.getLogger("engine").error("later")
        log.account.reset(token)
        assert latest() == ("home", "later")
        logging.getLogger("storage").error("x" * 1000)
        assert latest() == ("", "x" * 500)
    logging.getLogger("bot").error("afterwards")
    assert latest() == ("", "x" * 500)


def test_json_lines_say_where_they_belong(tmp_path: Path) -> None:
    path = tmp_path / "bot.log"
    log.configure_logging(LogConfig(format="json", file=str(path)))

    def say() -> None:
        log.account.set("home")
        log.is_alone.set(True)
        log.site.set("lichess")
        log.game.set("abcd")
        logging.getLogger("bot.test").info("known")

    copy_context().run(say)
    logging.getLogger("bot.test").info("unknown")
    known, unknown = (json.loads(line) for line in path.read_text("utf-8").splitlines())
    assert (known["account"], known["site"], known["game"]) == ("home", "lichess", "abcd")
    assert not unknown.keys() & {"account", "site", "game"}


@pytest.mark.parametrize(("is_alone", "end"), [(True, "bot.test: hello"), (False, "bot.test: hello [home]")])
def test_text_lines_name_one_of_several_accounts(tmp_path: Path, is_alone: bool, end: str) -> None:
    path = tmp_path / "bot.log"
    log.configure_logging(LogConfig(file=str(path)))

    def say() -> None:
        log.account.set("home")
        log.is_alone.set(is_alone)
        logging.getLogger("bot.test").info("hello")

    copy_context().run(say)
    assert path.read_text("utf-8").rstrip().endswith(end)


def test_a_log_that_was_moved_away(tmp_path: Path) -> None:
    path = tmp_path / "bot.log"
    log.configure_logging(LogConfig(file=str(path)))
    logger = logging.getLogger("bot.test")
    logger.info("first")
    path.rename(tmp_path / "bot.log.1")
    logger.info("second")
    assert (tmp_path / "bot.log.1").read_text().endswith("first\n")
    assert path.read_text().endswith("second\n")
    assert path.stat().st_mode & 0o777 == 0o600


def test_so_many_lines_in_a_minute() -> None:
    now = 0.0
    lines = log.LogLineLimiter(2, lambda: now)
    assert [lines.next() for _ in range(5)] == ["", "", None, None, None]
    now = 59.9
    assert lines.next() is None
    now = 60.0
    assert [lines.next() for _ in range(2)] == [" (4 similar lines omitted before this one)", ""]
