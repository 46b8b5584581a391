"""The tables of what may happen to a GGS request, attempt and game."""

import pytest

from bot.base.errors import ProtocolError
from bot.servers.ggs.lifecycle import (
    ATTEMPT_TRANSITIONS,
    GAME_TRANSITIONS,
    REQUEST_TRANSITIONS,
    AttemptEvent,
    AttemptState,
    GgsGameEvent,
    GgsStatus,
    RequestEvent,
    RequestState,
    next_state,
)


def test_attempts_may_see_anything_but_a_second_listing() -> None:
    every = {(state, event) for state in AttemptState for event in AttemptEvent}
    assert every - ATTEMPT_TRANSITIONS.keys() == {(AttemptState.LISTED, AttemptEvent.LISTED)}


def test_a_settled_attempt_stays_as_it_is() -> None:
    for state in (AttemptState.BEGAN, AttemptState.REFUSED, AttemptState.LOST):
        assert {next_state(ATTEMPT_TRANSITIONS, state, event) for event in AttemptEvent} == {state}


@pytest.mark.parametrize("event", GgsGameEvent)
def test_a_game_that_is_over_sees_nothing_more(event: GgsGameEvent) -> None:
    with pytest.raises(ProtocolError):
        next_state(GAME_TRANSITIONS, GgsStatus.OVER, event)


def test_a_game_that_is_away_ends_only_after_a_look() -> None:
    with pytest.raises(ProtocolError):
        next_state(GAME_TRANSITIONS, GgsStatus.AWAY, GgsGameEvent.ENDED)
    doubtful = next_state(GAME_TRANSITIONS, GgsStatus.AWAY, GgsGameEvent.UNLISTED)
    assert next_state(GAME_TRANSITIONS, doubtful, GgsGameEvent.ENDED) is GgsStatus.OVER
    assert next_state(GAME_TRANSITIONS, doubtful, GgsGameEvent.ADJOURNED) is GgsStatus.AWAY


@pytest.mark.parametrize("state", [RequestState.OURS, RequestState.RESUMPTION])
def test_our_own_request_and_a_resumption_never_become_challenges(state: RequestState) -> None:
    with pytest.raises(ProtocolError):
        next_state(REQUEST_TRANSITIONS, state, RequestEvent.CHALLENGES)


@pytest.mark.parametrize("state", [RequestState.LISTED, RequestState.UNCLEAR, RequestState.CHALLENGE])
def test_a_request_may_turn_out_to_be_a_resumption(state: RequestState) -> None:
    assert next_state(REQUEST_TRANSITIONS, state, RequestEvent.RESUMES) is RequestState.RESUMPTION
    with pytest.raises(ProtocolError):
        next_state(
            REQUEST_TRANSITIONS,
            next_state(REQUEST_TRANSITIONS, state, RequestEvent.RESUMES),
            RequestEvent.UNCLEAR,
        )
