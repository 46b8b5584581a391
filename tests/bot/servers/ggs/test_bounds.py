"""What an account on GGS remembers has bounds, and ends with what it is about: ids are used again."""

import pytest

from bot.base.events import (
    ChallengeGone,
    ChallengeReceived,
    GameFinished,
    GameSnapshot,
    GameStarted,
    GameState,
)
from bot.servers.ggs.challenges import MAX_REQUESTS
from bot.servers.ggs.ggs_games import MAX_REMEMBERED_GAMES
from bot.servers.ggs.requests import MAX_UNANSWERED
from tests.bot.servers.ggs.test_account import (
    FIVE,
    GAME,
    STORED,
    WIPE_OUT,
    Story,
    begun,
    join,
    known,
    request,
)

NO_MATCH = "match 0/0"


def listed(*ids: str, type_: str = "8", flag: str = "R") -> str:
    """The matches that go on, all of ours with bob."""
    rows = [f"\r\n|  {id_} 1720 bob    1800 desdemon             {type_}  {flag} 1" for id_ in ids]
    return f"match {len(ids)}/{len(ids)}" + "".join(rows)


def started(story: Story) -> list[GameStarted]:
    return [event for event in story.told() if isinstance(event, GameStarted)]


# --- So much, and no more -------------------------------------------------------------------------------


def test_so_many_requests_are_on_the_table_and_no_more() -> None:
    story = Story()
    for number in range(MAX_REQUESTS):
        story.on_message(request(f".{number}"))
    received = story.told()
    assert len(received) == MAX_REQUESTS
    assert all(isinstance(event, ChallengeReceived) for event in received)
    one_more = request(f".{MAX_REQUESTS}")
    assert story.on_message(one_more).told() == []
    # One of those that is told anew takes its own place, and what goes leaves one.
    assert [type(event) for event in story.on_message(request(".7")).told()] == [
        ChallengeGone,
        ChallengeReceived,
    ]
    assert story.on_message(one_more).told() == []
    assert [type(event) for event in story.on_message(request(".7", sign="-")).told()] == [ChallengeGone]
    assert [type(event) for event in story.on_message(one_more).told()] == [ChallengeReceived]
    assert story.on_message(request(".7"), request(".7", sign="-")).told() == []


def test_of_too_many_requests_ours_is_not_looked_at_either() -> None:
    story = Story()
    for number in range(MAX_REQUESTS):
        story.on_message(request(f".{number}"))
    story.take()
    attempt, _ = story.ask("bob", "8", FIVE, rated=True)
    assert story.on_message("+   .999 1800.4 desdemon 05:00//02:00  8 R 1720.0 bob").take() == []
    assert not attempt.key


def test_so_many_commands_wait_for_an_answer_and_no_more() -> None:
    story = Story()
    attempts = [story.ask("bob", "8", FIVE, rated=True)[0] for _ in range(MAX_UNANSWERED + 2)]
    story.on_message("ERR rated variable mismatch.")
    assert [attempt.is_settled for attempt in attempts[:4]] == [False, False, True, False]


def test_so_many_games_that_are_over_can_be_asked_for_the_latest_ones() -> None:
    story = Story(known("f5"))
    story.on_message("+ match .2 1720 bob 1800 desdemon 8 R", join(".2"))
    live = started(story)[0].game_id
    over = []
    for _ in range(MAX_REMEMBERED_GAMES + 3):
        story.on_message("+ match .1 1720 bob 1800 desdemon 8 R", join())
        story.on_message("- match .1 1720 bob 1800 desdemon 8 R aborted")
        over += [event.game_id for event in started(story)]
    kept = [game_id for game_id in over if story.account.games.by_id.get(game_id) is not None]
    # The latest of them was the last to make place for itself.
    assert kept == over[-MAX_REMEMBERED_GAMES - 1 :]
    assert story.account.games.by_id.get("old") is not None
    assert story.account.games.playing == [live]


# --- A match's end is the end of what is known of it ----------------------------------------------------

PAIR = "+ match .1 1720 bob 1800 desdemon s8 R"
BOARDS = (join(".1.0", kind="s8"), join(".1.1", kind="s8", black="desdemon"))
CHANGE = "rating_update .1\r\n|desdemon 1800.00 @ 350.00  -12.60 -> 1787.40 @ 290.23"


def half_a_pair() -> Story:
    """Two games of a match, the first of which was given up."""
    story = Story().on_message("stored 0 desdemon", PAIR, *BOARDS, "end .1.0 ( bob vs. desdemon ) +64.00")
    assert story.account.games.playing == [f"{GAME}.1"]
    story.take()
    return story


def test_a_board_that_is_over_is_neither_asked_for_nor_played() -> None:
    story = half_a_pair().on_message(listed(".1", type_="s8"), BOARDS[0])
    assert story.take() == []


def test_a_match_with_the_id_of_another_has_boards_of_its_own() -> None:
    story = half_a_pair().on_message(
        "end .1.1 ( bob vs. desdemon ) +64.00", "- match .1 1720 bob 1800 desdemon s8 R +0.00  .0"
    )
    story.take()
    # Its beginning was lost, and the list tells it.
    assert story.on_message(listed(".1", type_="s8")).said() == ["moves .1"]
    assert len(started(story.on_message(*BOARDS))) == 2
    # Now both are told, and there is nothing more to ask for.
    assert story.on_message(listed(".1", type_="s8")).said() == []


def test_a_match_may_begin_where_the_end_of_another_was_lost() -> None:
    assert len(started(half_a_pair().on_message(PAIR, *BOARDS))) == 2


def test_boards_that_are_over_are_not_known_on_the_next_connection() -> None:
    story = half_a_pair()
    story.lost("gone")
    story.connected(0)
    assert story.on_message(listed(".1", type_="s8")).said() == ["moves .1"]
    assert story.on_message(BOARDS[0]).account.games.playing != []


def rating_changes(story: Story) -> list[int | None]:
    """Of a game that begins, and is won by its only move."""
    story.take()
    story.on_message(join(start=WIPE_OUT), "update .1 C4", "- match .1 1720 bob 1800 desdemon 8 R +64.00  .0")
    return [event.rating_diff for event in story.told() if isinstance(event, GameFinished)]


def test_a_change_of_the_rating_is_that_of_its_match() -> None:
    wiped = Story().on_message("stored 0 desdemon", "+ match .1 1720 bob 1800 desdemon 8 R", CHANGE)
    assert rating_changes(wiped) == [-13], "as the others would be, if they were mixed up"
    ended = begun().on_message(CHANGE, "- match .1 1720 bob 1800 desdemon 8 R aborted", listed(".1"))
    assert rating_changes(ended) == [None]
    unheard = begun().on_message(CHANGE, "+ match .1 1720 bob 1800 desdemon 8 R")
    assert rating_changes(unheard) == [None]
    cut = begun().on_message(CHANGE)
    cut.lost("gone")
    cut.connected(0)
    assert rating_changes(cut.on_message(listed(".1"), "stored 0 desdemon")) == [None]


def test_a_match_comes_from_its_own_request() -> None:
    ended = begun().on_message("- match .1 1720 bob 1800 desdemon 8 R aborted", listed(".1"), join())
    unheard = begun().on_message("+ match .1 1720 bob 1800 desdemon 8 R", join())
    for story in (ended, unheard):
        [again] = started(story)
        assert (again.game_id, again.challenge_id) == (f"{GAME}-2", "")
    cut = begun()
    cut.lost("gone")
    cut.connected(0)
    [again] = started(cut.on_message(listed(".1"), join()))
    assert again.challenge_id == ""


def test_a_match_that_is_over_takes_no_place() -> None:
    full = listed(".0", ".1", ".2", ".3")
    over = "- match .2 1720 bob 1800 desdemon 8 R aborted"
    assert "ask .4" not in Story(known("f5", "d6")).on_message(full, STORED).said()
    assert "ask .4" in Story(known("f5", "d6")).on_message(full, over, STORED).said()


def test_what_went_on_before_a_lost_connection_takes_no_place() -> None:
    story = Story(known("f5", "d6")).on_message(listed(".0", ".1", ".2", ".3"))
    story.lost("gone")
    story.connected(0)
    story.take()
    assert "ask .4" in story.on_message(STORED).said()
    assert story.on_message(join(".2")).said() == ["match"], "what it counts as, we have not heard here"


# --- A connection's end is the end of what was said on it -----------------------------------------------


def test_adjourned_games_are_asked_for_on_every_connection() -> None:
    story = Story(known("f5", "d6"))
    for _ in range(2):
        assert story.on_message(STORED).said() == ["notify + bob", "rated +", "ask .4"]
        assert story.on_message(STORED).said() == []
        story.lost("gone")
        story.connected(0)
        story.on_message(NO_MATCH)


def test_an_answer_is_about_what_was_asked_on_its_connection() -> None:
    story = Story()
    before, _ = story.ask("bob", "8", FIVE, rated=True)
    story.lost("gone")
    story.connected(0)
    after, _ = story.ask("bob", "8", FIVE, rated=True)
    story.on_message("ERR rated variable mismatch.")
    assert (before.refusal, after.refusal) == ("gone", "rated variable mismatch.")


@pytest.mark.parametrize("end", ["- match .1 1720 bob 1800 desdemon 8 R aborted", NO_MATCH])
def test_a_game_that_is_over_is_not_played(end: str) -> None:
    story = begun().on_message(end)
    assert story.account.games.playing == []
    story.take()
    story.on_message("update .1 f5")
    assert [event for event in story.told() if isinstance(event, GameState | GameSnapshot)] == []


def test_requests_are_told_anew_on_every_connection() -> None:
    story = Story().on_message(request())
    [received] = story.told()
    story.out += story.lost("gone")
    assert story.told() == [ChallengeGone(received.challenge.id)]
    story.connected(0)
    assert story.decline(received.challenge.id) == []
    assert [type(event) for event in story.on_message(request()).told()] == [ChallengeReceived]
