"""What matches store: names that a database of an older release has, and that must not change."""

from dataclasses import fields

from bot.match.play import ResourceUse


def test_what_a_player_used_has_the_names_that_databases_have() -> None:
    names = ("moves", "time_s", "longest_s", "late", "depths", "told_depths")
    later = ("cpu_s", "told_cpu", "nodes", "told_nodes")
    assert tuple(field.name for field in fields(ResourceUse)) == (*names, *later)
    assert ResourceUse(**dict.fromkeys(names, 0)).told_cpu == 0  # of an older release
