"""The table of a game's life: complete, and sound in any order of events."""

from typing import Any

import pytest
from hypothesis.stateful import RuleBasedStateMachine, invariant, precondition, rule

from bot.account.game_lifecycle import (
    IGNORED_EVENTS,
    TRANSITIONS,
    WAITING_PHASES,
    Action,
    ImpossibleEvent,
    Phase,
    PhaseEvent,
    advance,
)

PLAYED = frozenset(
    {
        Phase.PLAYING,
        Phase.RESUMING,
        Phase.ENDING,
        Phase.ENDING_RESUMING,
        Phase.READING,
        Phase.READING_OVER,
    }
)
"""Phases of a game that has a player."""
FROM_PLAYER = (PhaseEvent.ENDED, PhaseEvent.ADJOURNED, PhaseEvent.FAILED)
"""What only a player reports."""


def test_every_pair_is_known_ignored_or_impossible() -> None:
    """Players report only while there is one; room is offered only to games that wait."""
    for phase in Phase:
        for event in PhaseEvent:
            pair = phase, event
            assert not (pair in TRANSITIONS and pair in IGNORED_EVENTS), pair
            is_possible = not (
                (event in FROM_PLAYER and phase not in PLAYED)
                or (event is PhaseEvent.ROOM and phase not in WAITING_PHASES)
            )
            assert (pair in TRANSITIONS or pair in IGNORED_EVENTS) == is_possible, pair


def test_what_is_impossible_is_a_bug() -> None:
    with pytest.raises(ImpossibleEvent, match="ENDED in phase UNKNOWN"):
        advance(Phase.UNKNOWN, PhaseEvent.ENDED)


def test_only_a_waiting_game_gets_a_player() -> None:
    for (before, event), (after, actions) in TRANSITIONS.items():
        assert (Action.BEGIN in actions) == (
            after in PLAYED and (before in WAITING_PHASES or event is PhaseEvent.ADJOURNED)
        )
        assert (Action.SEEK_ROOM in actions) == (after in WAITING_PHASES and before not in WAITING_PHASES)
        if event in FROM_PLAYER:
            assert after not in PLAYED or Action.BEGIN in actions


class Life(RuleBasedStateMachine):
    """A game, with the world around it: its player, its slot, and what the server knows."""

    def __init__(self) -> None:
        super().__init__()
        self.phase = Phase.UNKNOWN
        self.has_player = False
        self.has_slot = False
        self.is_polled = False
        self.begins = 0
        self.readings = 0

    def happen(self, event: PhaseEvent) -> None:
        before = self.phase
        self.phase, actions = advance(self.phase, event)
        if event in FROM_PLAYER:
            self.has_player = False
        for action in actions:
            match action:
                case Action.TAKE_SLOT:
                    self.has_slot = True
                case Action.FREE_SLOT:
                    self.has_slot = False
                case Action.BEGIN:
                    assert not self.has_player
                    self.has_player = True
                case Action.END_UNPLAYABLE:
                    self.is_polled = True
        if before is Phase.GIVEN_UP and self.phase is not Phase.GIVEN_UP:
            self.is_polled = False

    @rule()
    def starts(self) -> None:
        self.happen(PhaseEvent.STARTED)
        assert self.phase is not Phase.UNKNOWN

    @rule()
    def starts_elsewhere(self) -> None:
        self.happen(PhaseEvent.STARTED_ELSEWHERE)
        assert self.phase is not Phase.UNKNOWN

    @rule()
    def end_is_reported(self) -> None:
        self.happen(PhaseEvent.END_REPORTED)
        assert not self.has_slot
        assert self.phase not in (Phase.PLAYING, Phase.RESUMING, Phase.GIVEN_UP, Phase.UNREPORTED)

    @precondition(lambda self: self.phase in WAITING_PHASES)
    @rule()
    def room(self) -> None:
        self.happen(PhaseEvent.ROOM)
        assert self.has_player

    @precondition(lambda self: self.has_player)
    @rule()
    def player_ends(self) -> None:
        self.happen(PhaseEvent.ENDED)
        assert self.phase in (Phase.UNKNOWN, Phase.UNREPORTED)
        assert not self.has_slot

    @precondition(lambda self: self.has_player)
    @rule()
    def player_leaves(self) -> None:
        self.happen(PhaseEvent.ADJOURNED)
        assert self.has_player or not self.has_slot

    @precondition(lambda self: self.has_player)
    @rule()
    def player_fails(self) -> None:
        was_read = self.phase in (Phase.READING, Phase.READING_OVER)
        self.happen(PhaseEvent.FAILED)
        assert self.phase is (Phase.UNREADABLE if was_read else Phase.GIVEN_UP)
        assert not self.has_slot

    @rule()
    def is_not_listed(self) -> None:
        self.happen(PhaseEvent.NOT_RUNNING)

    @rule()
    def rating_is_known(self) -> None:
        self.happen(PhaseEvent.RATING_KNOWN)
        assert self.phase is not Phase.UNREPORTED

    @rule()
    def must_be_played(self) -> None:
        self.happen(PhaseEvent.MUST_PLAY)
        assert self.phase is not Phase.ABORTING

    @invariant()
    def player_and_phase_agree(self) -> None:
        assert self.has_player == (self.phase in PLAYED)
        assert self.is_polled == (self.phase is Phase.GIVEN_UP)
        if self.phase is Phase.UNKNOWN:
            assert not self.has_slot


TestLife: Any = Life.TestCase
