"""What the rest of the program requires of a site's row."""

import pytest

from bot.base.dialects import DIALECTS, rating_list_of
from bot.base.events import ChatLine, Clock, Proposal
from bot.servers.lichess_wire import GameReader


@pytest.mark.parametrize(
    ("site", "variant", "clock", "expected"),
    [
        ("lichess", "standard", Clock(180, 2), "blitz"),
        ("lichess", "standard", Clock(60, 0), "bullet"),
        ("lichess", "standard", Clock(1800, 30), "classical"),
        ("lichess", "chess960", Clock(180, 2), "chess960"),
        ("playstrategy", "flipello", Clock(180, 2), "flipello"),
        ("arena", "othello", Clock(60, 0), "othello"),
        ("arena", "standard", Clock(60, 0), "standard"),
        ("ggs", "s8r18", Clock(300, 0), "s8r18"),
    ],
)
def test_which_ratings_are_about_a_game(site: str, variant: str, clock: Clock, expected: str) -> None:
    assert variant in DIALECTS[site].variants
    assert DIALECTS[site].rating_list(Proposal(variant, True, clock)) == expected


@pytest.mark.parametrize(
    ("site", "name", "expected"),
    [
        ("arena", "chess", "standard"),
        ("arena", "standard", "standard"),
        ("arena", "from_position", "fromPosition"),
        ("lichess", "othello", None),
        ("playstrategy", "othello", "flipello"),
        ("pychess", "standard", "standard"),
        ("pychess", "chess", "chess"),
        ("ggs", "othello", "8"),
        ("ggs", "othello_random", None),  # one variant for each number of discs
        ("ggs", "s8r18", "s8r18"),
    ],
)
def test_a_variant_has_our_name_and_the_site_s(site: str, name: str, expected: str | None) -> None:
    assert DIALECTS[site].variant_of(name) == expected


@pytest.mark.parametrize(
    ("site", "variant", "expected"),
    [
        ("lichess", "standard", "blitz"),
        ("lichess", "chess960", "chess960"),
        ("lichess", "atomic", ""),
        ("playstrategy", "xiangqi", ""),
        ("pychess", "chess", ""),
        ("arena", "standard", ""),
        ("ggs", "s8", ""),
        ("ggs", "s8r18", "othello_random"),
        ("gone.example", "standard", "blitz"),
    ],
)
def test_which_of_its_ratings_a_site_changes(site: str, variant: str, expected: str) -> None:
    assert rating_list_of(site, variant, "blitz") == expected


@pytest.mark.parametrize(
    ("site", "name", "by_site"),
    [
        ("lichess", "lichess", True),
        ("lichess", "Lichess", True),
        ("lichess", "lichess2", False),
        ("playstrategy", "PlayStrategy", True),
        ("playstrategy", "lichess", False),
    ],
)
def test_under_which_name_a_site_speaks_itself(site: str, name: str, by_site: bool) -> None:
    said = {"type": "chatLine", "room": "player", "username": name, "text": "!eval"}
    line = GameReader(DIALECTS[site], "desdemona").read(said)
    assert isinstance(line, ChatLine)
    assert line.by_site is by_site
