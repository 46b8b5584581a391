"""`desdemona check`: every part is tried, and what is wrong is named."""

from pathlib import Path

import numpy as np
import pytest
from pydantic import SecretStr
from sqlalchemy import text

from bot.arena.server import Arena
from bot.base.config import ArenaConfig, Config, EngineConfig, ServerConfig, StorageConfig
from bot.cli.check import check
from engine.human.calibrated import FEATURES
from lab.training.calibrated import Part, to_onnx
from storage.database import Database
from tests.bot.base.network.sites import clean_environment
from tests.ggs.server import FakeGgs

__all__ = ["clean_environment"]  # a fixture, used by name


def settings(folder: Path, **changes: object) -> Config:
    known: dict[str, object] = {
        "storage": StorageConfig(url=f"sqlite:///{folder / 'desdemona.db'}"),
        "engine": EngineConfig(table_mb=1),
        "arena": ArenaConfig(port=0),
    }
    return Config.model_validate(known | changes)


async def test_all_is_well(tmp_path: Path) -> None:
    findings = await check(settings(tmp_path))
    assert [finding.what for finding in findings] == [
        "configuration",
        "database",
        "engine",
        "human",
        "arena",
        "games",
        "account",
    ]
    assert all(finding.is_good for finding in findings), findings


@pytest.mark.usefixtures("shallow_check")
async def test_what_is_wrong_is_named(tmp_path: Path) -> None:
    (tmp_path / "desdemona.db").write_text("not a database, but long enough to be read as one" * 100)
    config = settings(tmp_path, server=ServerConfig(url="http://127.0.0.1:1"))
    database, engine, human, site, account = (await check(config))[1:]
    assert not database.is_good
    assert "not a database" in database.text
    assert engine.is_good
    assert human.is_good
    assert site.is_good
    assert (account.is_good, "needs a token" in account.text) == (False, True)


async def test_models_of_people_are_tried(tmp_path: Path) -> None:
    games = {"variants": ("othello", "connect4")}
    good = (await check(settings(tmp_path, challenges=games)))[3]
    assert good.is_good
    assert good.text.startswith("replies expected: othello by ")
    assert "connect4 by shallow-2" in good.text
    human = {"models": (str(tmp_path / "gone.onnx"),)}
    bad = (await check(settings(tmp_path, challenges=games, human=human)))[3]
    assert not bad.is_good
    assert "gone.onnx: No such file or directory" in bad.text


@pytest.mark.parametrize(
    ("trained_with_model", "told"),
    [
        (
            "another",
            "probabilities by mine (which was trained with another, not with othello-people-128x10); ",
        ),
        ("othello-people-128x10", "probabilities by mine; connect4 by"),
        ("", "probabilities by mine; connect4 by"),
    ],
)
async def test_which_model_probabilities_were_learned_with(
    tmp_path: Path, trained_with_model: str, told: str
) -> None:
    part = Part(np.zeros(len(FEATURES)))
    metadata = {"game": "othello", "name": "mine", "licence": "none", "human": trained_with_model}
    (tmp_path / "mine.onnx").write_bytes(to_onnx(part, part, metadata))
    config = settings(
        tmp_path,
        challenges={"variants": ("othello", "connect4")},
        human={"calibrated": (str(tmp_path / "mine.onnx"),)},
    )
    found = (await check(config))[3]
    assert found.is_good
    assert told in found.text


async def test_a_guess_is_no_other_model(tmp_path: Path) -> None:
    """The calibrated model of chess was learned with Maia's, but is not told what short searches guess."""
    found = (await check(settings(tmp_path, challenges={"variants": ("chess",)})))[3]
    assert found.text == "replies expected: chess by shallow-2, probabilities by calibrated-chess"


@pytest.mark.usefixtures("shallow_check")
@pytest.mark.parametrize(
    ("dialect", "variants", "is_good", "text"),
    [
        (
            "lichess",
            ("othello", "chess", "chess960", "from_position", "xiangqi"),
            True,
            "lichess (it was not asked): chess, chess960, from_position; not there: othello, xiangqi",
        ),
        (
            "playstrategy",
            ("othello", "chess"),
            True,
            "playstrategy (it was not asked): othello; not there: chess; the site has no takeback, claim",
        ),
        (
            "pychess",
            ("othello", "from_position"),
            False,
            "pychess has none of othello, from_position, only chess, xiangqi",
        ),
    ],
)
async def test_what_a_site_plays(
    tmp_path: Path, dialect: str, variants: tuple[str, ...], is_good: bool, text: str
) -> None:
    config = settings(
        tmp_path,
        server={"dialect": dialect},
        challenges={"variants": variants},
    )
    found = {each.what: each for each in await check(config)}
    site, account = found["games"], found["account"]
    assert (site.is_good, text in site.text) == (is_good, True), site
    assert f"{dialect} needs a token" in account.text


@pytest.mark.usefixtures("shallow_check")
async def test_another_server(database: Database, tmp_path: Path) -> None:
    arena = Arena(ArenaConfig(port=0), database)
    async with arena.running() as url:
        for token, is_good, text in (
            (await arena.accounts.ensure_bot("Desdemona"), True, f"Desdemona at {url}"),
            ("wrong", False, "401"),
        ):
            config = settings(tmp_path, server=ServerConfig(url=url, token=SecretStr(token)))
            account = next(each for each in await check(config) if each.what == "account")
            assert account.is_good is is_good
            assert text in account.text
            assert "wrong" not in account.text


@pytest.mark.usefixtures("shallow_check")
async def test_ggs(tmp_path: Path) -> None:
    site = FakeGgs()
    site.central.register("desde", "secret")
    async with site.running() as port:
        server = ServerConfig(
            dialect="ggs", url=f"ggs://127.0.0.1:{port}", name="desde", token=SecretStr("secret")
        )
        found = {each.what: each for each in await check(settings(tmp_path, server=server))}
        assert found["games"].text.startswith(
            "expected at ggs (it was not asked): othello, othello_random; not there: chess, chess960, "
            "from_position, xiangqi, connect4"
        )
        assert found["account"].text == f"signed in as desde at ggs://127.0.0.1:{port}; registered"
        database = await Database.open(f"sqlite:///{tmp_path / 'desdemona.db'}")
        async with database.hold_role("account desde at ggs"):
            account = (await check(settings(tmp_path, server=server)))[-1]
        await database.close()
        assert account.is_good is None, "there is nothing to put right"
        assert account.text == (
            f"not tried: the bot is running as desde at ggs://127.0.0.1:{port}, "
            "and signing in would disconnect it"
        )


@pytest.mark.usefixtures("shallow_check")
async def test_malformed_rows_are_moved_and_named(tmp_path: Path) -> None:
    config = settings(tmp_path)
    database = await Database.open(config.storage.url)
    async with database.write() as session:
        await session.execute(text("PRAGMA ignore_check_constraints = ON"))
        await session.execute(text("INSERT INTO arena_elapsed VALUES (1, 'x', '2026-01-01')"))
    await database.close()
    found = (await check(config))[1]
    assert (found.is_good, "row 1 of arena_elapsed: elapsed_ms is 'x'" in found.text) == (False, True)
    assert (await check(config))[1].is_good


@pytest.mark.usefixtures("shallow_check")
@pytest.mark.parametrize(
    ("changes", "what", "told"),
    [
        ({"server": ServerConfig(name="lichess")}, "account", "'lichess' cannot be a bot's name"),
        ({"dashboard": {"host": "0.0.0.0"}}, "configuration", "so the page needs a token"),
    ],
)
async def test_what_run_refuses_is_a_failure(
    tmp_path: Path, changes: dict[str, object], what: str, told: str
) -> None:
    (failed,) = [each for each in await check(settings(tmp_path, **changes)) if not each.is_good]
    assert failed.what == what
    assert told in failed.text
