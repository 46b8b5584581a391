"""How an alarm begins and ends, and what having no data does."""

from tests.bot.alarms.rig import WELL, Life

DOWN = {"lichess": "the stream ended", "arena": ""}


def changes(life: Life) -> list[tuple[float, str]]:
    return [(at_s, state) for at_s, _, state in life.states]


def test_a_link_that_stays_away_fires_after_a_minute_and_ends_after_five_well_ones() -> None:
    life = Life()
    life.live(30)
    life.live(120, links=DOWN)
    life.live(600, links=WELL.links)
    assert changes(life) == [(30, "pending"), (90, "firing"), (150, "recovering"), (450, "ok")]
    assert {name for _, name, _ in life.states} == {"link_down"}


def test_a_link_that_is_soon_back_never_fires() -> None:
    life = Life()
    life.live(60, links=DOWN)  # the last of these samples is at 45 s
    life.live(60, links=WELL.links)
    assert changes(life) == [(0, "pending"), (60, "ok")]
    assert life.notices == []


def test_what_fails_again_while_recovering_fires_at_once_and_keeps_its_beginning() -> None:
    life = Life()
    life.live(120, links=DOWN)
    (first,) = life.board.alarms
    life.live(60, links=WELL.links)
    life.live(60, links=DOWN)
    assert changes(life) == [(0, "pending"), (60, "firing"), (120, "recovering"), (180, "firing")]
    (again,) = life.board.alarms
    assert again.since == first.since


def test_no_data_for_five_minutes_counts_as_wrong() -> None:
    life = Life()
    life.live(60)
    life.live(600, losses=None)
    # The last data came at 45 s.
    assert [(at_s, name, state) for at_s, name, state in life.states] == [(345, "losing_streak", "firing")]
    assert life.board.alarms[0].text == "no data for 10 minutes"


def test_no_data_about_a_link_needs_no_further_minute() -> None:
    life = Life()
    life.live(345, links=None)
    assert changes(life) == [(300, "firing")]


def test_no_data_for_a_while_changes_nothing() -> None:
    life = Life()
    life.live(120, links=DOWN)
    life.live(240, links=None)
    assert changes(life) == [(0, "pending"), (60, "firing")]
    life.live(15, links=WELL.links)
    assert changes(life)[-1] == (360, "recovering")


def test_a_program_that_never_had_data() -> None:
    life = Life()
    life.live(315, ratings=None)
    assert life.firing() == ["rating_drop"]
    assert changes(life) == [(300, "firing")]
