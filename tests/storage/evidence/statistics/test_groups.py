"""What games and replies are grouped by."""

from storage.evidence.statistics.groups import GroupKey, complete_keys, phase_name
from storage.filters import phase_of


def test_phases() -> None:
    assert [phase_name(phase_of(ply)) for ply in (0, 19, 20)] == [
        "plies 1 to 20",
        "plies 1 to 20",
        "plies 21 to 40",
    ]


def test_what_is_grouped_by_besides() -> None:
    assert complete_keys([GroupKey.RATING_BAND, GroupKey.RATING_BAND]) == (
        GroupKey.SITE,
        GroupKey.RATING_BAND,
        GroupKey.GAME,
    )
    assert complete_keys([GroupKey.GAME, GroupKey.SITE]) == (GroupKey.GAME, GroupKey.SITE)
