"""What games and replies are grouped by."""

from storage.evidence.statistics.groups import By, complete_keys, phase_name
from storage.filters import phase_of


def test_phases() -> None:
    assert [phase_name(phase_of(ply)) for ply in (0, 19, 20)] == [
        "plies 1 to 20",
        "plies 1 to 20",
        "plies 21 to 40",
    ]


def test_what_is_grouped_by_besides() -> None:
    assert complete_keys([By.RATING_BAND, By.RATING_BAND]) == (By.SITE, By.RATING_BAND, By.GAME)
    assert complete_keys([By.GAME, By.SITE]) == (By.GAME, By.SITE)
