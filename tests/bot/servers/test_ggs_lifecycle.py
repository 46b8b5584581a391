"""The tables of what may happen to a GGS connection, an attempt at a match and a game."""

import pytest

from bot.base.errors import ProtocolError
from bot.servers.ggs_lifecycle import (
    ATTEMPT,
    GAME,
    LINK,
    AttemptEvent,
    AttemptState,
    LifeEvent,
    LinkEvent,
    LinkState,
    Status,
    after,
)


def test_the_connection_and_attempts_may_see_anything_but_a_second_listing() -> None:
    assert LINK.keys() == {(state, event) for state in LinkState for event in LinkEvent}
    every = {(state, event) for state in AttemptState for event in AttemptEvent}
    assert every - ATTEMPT.keys() == {(AttemptState.LISTED, AttemptEvent.LISTED)}


def test_a_settled_attempt_stays_as_it_is() -> None:
    for state in (AttemptState.BEGAN, AttemptState.REFUSED, AttemptState.LOST):
        assert {after(ATTEMPT, state, event) for event in AttemptEvent} == {state}


@pytest.mark.parametrize("event", LifeEvent)
def test_a_game_that_is_over_sees_nothing_more(event: LifeEvent) -> None:
    with pytest.raises(ProtocolError):
        after(GAME, Status.OVER, event)


def test_a_game_that_is_away_ends_only_after_a_look() -> None:
    with pytest.raises(ProtocolError):
        after(GAME, Status.AWAY, LifeEvent.ENDED)
    doubtful = after(GAME, Status.AWAY, LifeEvent.UNLISTED)
    assert after(GAME, doubtful, LifeEvent.ENDED) is Status.OVER
    assert after(GAME, doubtful, LifeEvent.ADJOURNED) is Status.AWAY
