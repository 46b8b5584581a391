"""Tests of settings and fields under the names of the previous release."""

from pathlib import Path

import pytest

from bot.base.config import Config, load_config, sections
from bot.base.errors import ConfigError
from bot.base.old_names import (
    OLD_JSON_KEYS,
    RENAMED,
    RETIRED,
    add_old_keys,
    rename_settings,
    rename_variables,
)

VALUES = {
    "alarms.backup_h": ("9.5", 9.5),
    "assignment.players": ('["strong", "trappy"]', ("strong", "trappy")),
    "challenges.waiting": ("3", 3),
    "chat.watchers": ("true", True),
    "ggs.programs": ('["wzebra"]', ("wzebra",)),
    "human.least_percent": ("7.0", 7.0),
    "randomised.chance": ("0.25", 0.25),
    "randomised.most_profiles": ("3", 3),
    "selection.level": ("5", 5),
}
"""Other values than the defaults, as text and as read."""


def value_of(config: Config, old: str) -> object:
    section, key = old.split(".")
    new_section = RENAMED.get(section, section)
    new = RENAMED.get(old, f"{new_section}.{key}")
    return getattr(getattr(config, new_section), new.partition(".")[2])


def test_every_old_name_is_tested_and_every_new_one_exists() -> None:
    tested = {old.partition(".")[0] if old.startswith("selection") else old for old in VALUES}
    assert tested == set(RENAMED) - {"assignment.player", "assignment.rules.player"}
    for old, new in RENAMED.items():
        new = new.replace("assignment.rules.strategy", "assignment.rules")
        section, _, key = new.partition(".")
        assert section in sections(), old
        assert not key or key in sections()[section].model_fields, old


@pytest.mark.parametrize("old", VALUES)
def test_an_old_name_in_the_file_works_with_a_notice(old: str, tmp_path: Path) -> None:
    text, value = VALUES[old]
    section, key = old.split(".")
    (tmp_path / "config.toml").write_text(f"[{section}]\n{key} = {text}\n")
    config = load_config(tmp_path / "config.toml")
    assert value_of(config, old) == value
    renamed = old if old in RENAMED else section
    assert config.notices == (f"{renamed} is now {RENAMED[renamed]}",)


@pytest.mark.parametrize("old", VALUES)
def test_an_old_name_in_the_environment_works_with_a_notice(
    old: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    text, value = VALUES[old]
    section, key = old.split(".")
    monkeypatch.setenv(f"DESDEMONA_{section.upper()}__{key.upper()}", text)
    (tmp_path / "config.toml").write_text("")
    config = load_config(tmp_path / "config.toml")
    assert value_of(config, old) == value
    assert len(config.notices) == 1


def test_old_names_of_strategies(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = tmp_path / "config.toml"
    rules = 'method = "rules"\nplayer = "strong"\nrules = [{ player = "trappy", min_rating = 1600 }]\n'
    account = "[[accounts]]\nname = 'home'\ndialect = 'arena'\n"
    path.write_text(f"[assignment]\n{rules}{account}[accounts.selection]\n{rules}")
    config = load_config(path)
    for each in (config.assignment, config.by_account()["home"].assignment):
        assert each.strategy == "strong"
        assert [(rule.strategy, rule.min_rating) for rule in each.rules] == [("trappy", 1600)]
    assert config.notices == (
        "assignment.player is now assignment.strategy",
        "assignment.rules.player is now assignment.rules.strategy",
        "selection is now assignment",
    )
    path.write_text("")
    monkeypatch.setenv("DESDEMONA_ASSIGNMENT__RULES", '[{"player": "strong"}]')
    assert [rule.strategy for rule in load_config(path).assignment.rules] == ["strong"]


def test_a_whole_table_in_one_variable(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("DESDEMONA_RANDOMISED", '{"chance": 0.75}')
    (tmp_path / "config.toml").write_text("")
    assert load_config(tmp_path / "config.toml").randomised.probability == 0.75
    plain = {"DESDEMONA_RANDOMISED": "no JSON"}
    assert rename_variables(plain, "DESDEMONA_") == (plain, set())


def test_the_new_variable_takes_precedence() -> None:
    new, old = "desdemona_assignment__level", "desdemona_selection__level"
    for variables in ({new: "1", old: "2"}, {old: "2", new: "1"}):
        assert rename_variables(variables, "DESDEMONA_") == ({new: "1"}, {"selection"})


def test_tables_of_accounts(tmp_path: Path) -> None:
    (tmp_path / "config.toml").write_text(
        "[[accounts]]\nname = 'home'\ndialect = 'arena'\n[accounts.selection]\nlevel = 4\n"
        "[accounts.challenges]\nwaiting = 2\n"
    )
    config = load_config(tmp_path / "config.toml")
    home = config.by_account()["home"]
    assert (home.assignment.level, home.challenges.max_waiting) == (4, 2)
    assert config.notices == (
        "challenges.waiting is now challenges.max_waiting",
        "selection is now assignment",
    )


def test_both_names_at_once_are_an_error(tmp_path: Path) -> None:
    (tmp_path / "config.toml").write_text("[challenges]\nwaiting = 2\nmax_waiting = 3\n")
    with pytest.raises(ConfigError, match=r"challenges.waiting is the old name of challenges.max_waiting"):
        load_config(tmp_path / "config.toml")


def test_the_whole_configuration_of_0_2_0_works(monkeypatch: pytest.MonkeyPatch) -> None:
    """With a notice for each setting that has another name or is ignored."""
    path = Path(__file__).with_name("config_0_2_0.toml")
    monkeypatch.setenv("DESDEMONA_TRAP__THRESHOLD_CENTI", "50")
    config = load_config(path)
    ignored = [each for each in config.notices if " is ignored: " in each]
    assert [each.partition(" ")[0] for each in ignored] == list(RETIRED) == ["trap.threshold_centi"]
    assert len(config.notices) == 8
    assert config.challenges.max_waiting == 8
    assert config.trap.threshold_percent == Config().trap.threshold_percent


def test_new_names_need_no_notice() -> None:
    values = {"assignment": {"level": 2}, "challenges": {"max_waiting": 1}, "engine": 3}
    assert rename_settings(values) == (values, set())
    variables = {"DESDEMONA_ASSIGNMENT__LEVEL": "2"}
    assert rename_variables(variables, "DESDEMONA_") == (variables, set())


def test_renamed_fields_have_both_names_wherever_they_are() -> None:
    told = add_old_keys({"rows": ({"strategy": "trappy", "n": 1},), "group": {"planned_n": 9}})
    assert told == {
        "rows": [{"strategy": "trappy", "n": 1, "player": "trappy"}],
        "group": {"planned_n": 9, "opt": 9},
    }
    assert list(told["rows"][0]) == ["strategy", "n", "player"]


def test_a_field_that_has_an_old_name_of_its_own_keeps_its_value() -> None:
    assert add_old_keys({"strategy": "trappy", "player": "anna"}) == {
        "strategy": "trappy",
        "player": "anna",
    }
    assert not set(OLD_JSON_KEYS) & set(OLD_JSON_KEYS.values())
