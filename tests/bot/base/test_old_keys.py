"""Names of fields in 0.2."""

from bot.base.old_keys import OLD_KEYS, with_old_keys


def test_renamed_fields_have_both_names_wherever_they_are() -> None:
    told = with_old_keys({"rows": ({"strategy": "trappy", "n": 1},), "group": {"planned_n": 9}})
    assert told == {
        "rows": [{"strategy": "trappy", "n": 1, "player": "trappy"}],
        "group": {"planned_n": 9, "opt": 9},
    }
    assert list(told["rows"][0]) == ["strategy", "n", "player"]


def test_a_field_that_has_an_old_name_of_its_own_keeps_its_value() -> None:
    assert with_old_keys({"strategy": "trappy", "player": "anna"}) == {"strategy": "trappy", "player": "anna"}
    assert not set(OLD_KEYS) & set(OLD_KEYS.values())
