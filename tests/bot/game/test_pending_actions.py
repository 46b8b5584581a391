"""Actions are repeated until the server shows their effect, whatever it answers."""

import asyncio
import random
from dataclasses import dataclass, field
from itertools import pairwise
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from bot.base.errors import AuthError, RefusedError, ServerError, TransientError
from bot.game.pending_actions import (
    CONFIRMATION_S,
    MAX_ACTION_WAIT_S,
    QUICK_ATTEMPTS_S,
    SLOW_WAIT_S,
    TRANSITIONS,
    ActionEvent,
    ActionState,
    PendingAction,
    PendingActions,
    next_state,
)
from tests.bot import virtual_time

LOST, REFUSED = TransientError("no answer"), RefusedError("not now", 400)
PAUSE = TransientError("wait", 30.0)


@dataclass
class World:
    """A server that does as it is told, and what it was asked, with the times."""

    answers: list[ServerError | str] = field(default_factory=list)
    """For each request: an error, "ok", or "done", which alone has an effect; at last always "done"."""
    readings: list[ServerError | None] = field(default_factory=list)
    """For each reading: an error, or None; at last always None."""
    is_done: bool = False
    shows: bool = True
    """Whether the effect is shown when it comes; if not, a reading shows it."""
    asked: list[tuple[str, float]] = field(default_factory=list)
    actions: Any = None

    @property
    def calls(self) -> list[str]:
        return [what for what, _ in self.asked]

    def at(self, what: str) -> list[float]:
        return [when for each, when in self.asked if each == what]

    def note(self, what: str) -> None:
        self.asked.append((what, asyncio.get_running_loop().time() - 1000.0))

    async def send(self) -> None:
        self.note("send")
        answer = self.answers.pop(0) if self.answers else "done"
        if isinstance(answer, ServerError):
            raise answer
        if answer == "done":
            self._has_effect = True
            if self.shows:
                self.show()

    def show(self) -> None:
        self.is_done = True
        self.actions.on_change()

    async def read(self) -> None:
        self.note("read")
        error = self.readings.pop(0) if self.readings else None
        if error is not None:
            raise error
        self.is_done = self.is_done or getattr(self, "_has_effect", False)

    def perform(
        self, state: ActionState = ActionState.SENDING, most: float = float("inf"), **more: Any
    ) -> ActionEvent | None:
        """Perform an action to its end, in virtual time."""

        async def run() -> ActionEvent | None:
            services: Any = _Services()
            self.actions = PendingActions("game", services, self.read)
            action = PendingAction(name="acting", send=self.send, is_wanted=lambda: not self.is_done, **more)
            ending: ActionEvent | None = await self.actions.perform(action, state, most)
            return ending

        return virtual_time.run(run())


class _Services:
    def __init__(self) -> None:
        self.rng = random.Random(1)

    @staticmethod
    def clock() -> float:
        return asyncio.get_running_loop().time()

    @staticmethod
    async def sleep(seconds: float) -> None:
        await asyncio.sleep(seconds)


def test_one_request_is_enough_if_it_has_an_effect() -> None:
    world = World()
    assert world.perform() is None
    assert world.asked == [("send", 0.0)]


def test_an_ok_without_effect_is_read_after_and_sent_again() -> None:
    """As after a proxy's page, or a site that answers "ok" and does nothing."""
    world = World(["ok", "ok"])
    assert world.perform() is None
    assert world.calls == ["send", "read", "send", "read", "send"]
    assert world.at("send") == pytest.approx([0.0, CONFIRMATION_S, 2 * CONFIRMATION_S])


def test_an_effect_that_only_a_reading_shows_is_enough() -> None:
    world = World(shows=False)
    assert world.perform() is None
    assert world.asked == [("send", 0.0), ("read", CONFIRMATION_S)]


def test_a_refusal_is_not_final() -> None:
    """The claim came a moment too early."""
    world = World([REFUSED])
    assert world.perform(is_safe_to_repeat=True) is None
    assert world.calls == ["send", "read", "send"]
    assert 0 < world.at("send")[1] <= 0.5


@pytest.mark.parametrize(("is_safe", "calls"), [(True, ["send", "send"]), (False, ["send", "read", "send"])])
def test_after_a_lost_answer_only_what_can_do_no_harm_is_sent_without_reading(
    is_safe: bool, calls: list[str]
) -> None:
    world = World([LOST])
    assert world.perform(is_safe_to_repeat=is_safe) is None
    assert world.calls == calls


def test_what_may_do_harm_waits_until_the_game_can_be_read() -> None:
    world = World([LOST], readings=[LOST, REFUSED, LOST])
    assert world.perform() is None
    assert world.calls == ["send", *["read"] * 4, "send"]


def test_what_can_do_no_harm_is_sent_although_the_game_cannot_be_read() -> None:
    world = World(["ok"], readings=[LOST] * 9)
    assert world.perform(is_safe_to_repeat=True) is None
    assert world.calls == ["send", "read", "send"]


def test_the_server_names_the_pause() -> None:
    world = World([PAUSE, LOST])
    world.perform(is_safe_to_repeat=True)
    first, second, third = world.at("send")
    assert (second - first, third - second < 30) == (30.0, True)


@pytest.mark.parametrize("is_urgent", [False, True])
def test_attempts_become_rare_unless_they_are_urgent(is_urgent: bool) -> None:
    world = World([REFUSED] * 100)
    world.perform(is_urgent=is_urgent)
    sent = world.at("send")
    waits = [after - before for before, after in pairwise(sent)]
    assert waits[0] <= 0.5
    quick = [wait for wait, at in zip(waits, sent, strict=False) if at < QUICK_ATTEMPTS_S]
    assert max(quick) <= MAX_ACTION_WAIT_S
    assert max(waits) <= (MAX_ACTION_WAIT_S if is_urgent else SLOW_WAIT_S)
    assert (min(waits[-10:]) >= SLOW_WAIT_S / 2) == (not is_urgent)


def test_a_game_that_cannot_be_read_is_read_ever_less_often() -> None:
    world = World(["ok"], readings=[LOST] * 100)
    world.perform()
    waits = [after - before for before, after in pairwise(world.at("read"))]
    assert waits[0] <= 1.0
    assert min(waits[-10:]) >= SLOW_WAIT_S / 2


def test_the_server_names_the_pause_before_the_next_reading() -> None:
    world = World(["ok"], readings=[PAUSE] * 3)
    world.perform()
    assert all(after - before >= 30.0 for before, after in pairwise(world.at("read")))


def test_our_clock_does_not_wait_for_a_pause_of_readings() -> None:
    world = World([REFUSED], readings=[PAUSE])
    world.perform(is_safe_to_repeat=True, is_urgent=True)
    assert world.at("send")[1] <= MAX_ACTION_WAIT_S


def test_a_request_is_held_back_while_it_cannot_count() -> None:
    """A claim on our own turn is answered "ok" and does nothing."""
    world = World()
    is_their_turn = False

    async def run() -> None:
        nonlocal is_their_turn
        services: Any = _Services()
        world.actions = PendingActions("game", services, world.read)
        action = PendingAction(
            name="claiming",
            send=world.send,
            is_wanted=lambda: not world.is_done,
            can_count=lambda: is_their_turn,
        )
        claiming = asyncio.create_task(world.actions.perform(action))
        await asyncio.sleep(60)
        assert world.asked == []
        is_their_turn = True
        world.actions.on_change()
        await claiming

    virtual_time.run(run())
    assert world.asked == [("send", 60.0)]


@pytest.mark.parametrize(
    ("move_answer", "granted_at"),
    [
        ("ok", CONFIRMATION_S + 8.0),
        (LOST, 5.0),
        (REFUSED, 5.0),
        ("shown", 2.0),
    ],
)
@pytest.mark.parametrize("changes_moves", [True, False])
def test_requests_that_change_the_moves_wait_for_one_another(
    move_answer: ServerError | str, granted_at: float, changes_moves: bool
) -> None:
    """A takeback must not overtake our move, whose answer comes after five seconds."""
    sent_at: list[float] = []
    is_shown = False

    async def run() -> None:
        nonlocal is_shown
        clock = asyncio.get_running_loop().time
        began = clock()
        services: Any = _Services()

        async def read() -> None:
            await asyncio.sleep(3)

        actions = PendingActions("game", services, read)

        async def move() -> None:
            nonlocal is_shown
            if move_answer == "shown":
                await asyncio.sleep(2)
                is_shown = True
                actions.on_change()
            await asyncio.sleep(5)
            if isinstance(move_answer, ServerError):
                raise move_answer

        async def grant() -> None:
            sent_at.append(clock() - began)

        moving = PendingAction(name="playing", send=move, is_wanted=lambda: not is_shown, changes_moves=True)
        granting = PendingAction(
            name="granting", send=grant, is_wanted=lambda: not sent_at, changes_moves=changes_moves
        )
        async with asyncio.TaskGroup() as tasks:
            playing = tasks.create_task(actions.perform(moving, most_attempts=1))
            await asyncio.sleep(0)
            await actions.perform(granting)
            await playing

    virtual_time.run(run())
    assert sent_at == [granted_at if changes_moves else 0.0]


def test_what_is_no_longer_wanted_ends_at_once() -> None:
    world = World(["ok"] * 9)

    async def run() -> None:
        services: Any = _Services()
        world.actions = PendingActions("game", services, world.read)
        action = PendingAction(name="acting", send=world.send, is_wanted=lambda: not world.is_done)
        acting = asyncio.create_task(world.actions.perform(action))
        await asyncio.sleep(1)
        world.show()
        await acting

    virtual_time.run(run())
    assert world.asked == [("send", 0.0)]


@pytest.mark.parametrize(
    ("answer", "reading", "ending", "calls"),
    [
        (LOST, None, ActionEvent.LOST, ["send"]),
        (REFUSED, None, ActionEvent.REFUSED, ["send"]),
        ("ok", None, ActionEvent.READ, ["send", "read"]),
        ("ok", LOST, ActionEvent.UNREADABLE, ["send", "read"]),
        ("done", None, None, ["send"]),
    ],
)
def test_a_single_attempt(
    answer: ServerError | str, reading: ServerError | None, ending: ActionEvent | None, calls: list[str]
) -> None:
    world = World([answer], readings=[reading])
    assert world.perform(most=1) is ending
    assert world.calls == calls


def test_a_request_that_was_accepted_elsewhere_is_confirmed() -> None:
    world = World()
    assert world.perform(ActionState.CONFIRMING, most=1) is ActionEvent.READ
    assert world.asked == [("read", CONFIRMATION_S)]


def test_refusals_are_counted() -> None:
    world, seen = World([REFUSED, LOST, REFUSED]), []

    async def on_refused(error: RefusedError, refusals: int) -> None:
        seen.append((error, refusals))

    world.perform(on_refused=on_refused)
    assert seen == [(REFUSED, 1), (REFUSED, 2)]


@pytest.mark.parametrize("where", ["answers", "readings"])
def test_a_refused_account_ends_everything(where: str) -> None:
    error = AuthError("no such token")
    world = World(answers=[error]) if where == "answers" else World(["ok"], readings=[error])
    with pytest.raises(AuthError):
        world.perform()


# --- Whatever happens -----------------------------------------------------------------------------------

_ANSWERS = st.lists(st.sampled_from([LOST, REFUSED, PAUSE, "ok"]), max_size=30)
_READINGS = st.lists(st.sampled_from([LOST, REFUSED, None]), max_size=30)


@given(
    answers=_ANSWERS, readings=_READINGS, shows=st.booleans(), is_safe=st.booleans(), is_urgent=st.booleans()
)
def test_every_action_has_its_effect_soon_after_the_server_is_well(
    answers: list[ServerError | str],
    readings: list[ServerError | None],
    shows: bool,
    is_safe: bool,
    is_urgent: bool,
) -> None:
    world = World(list(answers), list(readings), shows=shows)
    assert world.perform(is_safe_to_repeat=is_safe, is_urgent=is_urgent) is None
    assert world.is_done
    # Each request that may do harm follows a reading that showed no effect, except the first one.
    if not is_safe:
        assert all(before == "read" for before, what in pairwise(world.calls) if what == "send")
    # Nothing is hurried, and nothing is put off beyond what the server or the rule requires.
    longest_s = SLOW_WAIT_S if not is_urgent else MAX_ACTION_WAIT_S
    times = [when for _, when in world.asked]
    gaps = [after - before for before, after in pairwise(times)]
    assert all(gap <= max(longest_s, 30.0) + 1e-6 for gap in gaps)
    sends = world.at("send")
    assert all(after - before >= 0.25 - 1e-6 for before, after in pairwise(sends))


def test_the_table_is_complete() -> None:
    """Each state that waits for something has a next state, and every state is reached."""
    waits_for = {
        ActionState.SENDING: {ActionEvent.ACCEPTED, ActionEvent.LOST, ActionEvent.REFUSED},
        ActionState.CONFIRMING: {ActionEvent.WAITED},
        ActionState.PAUSING: {ActionEvent.WAITED},
        ActionState.REPEATING: {ActionEvent.WAITED},
        ActionState.READING: {ActionEvent.READ, ActionEvent.UNREADABLE},
    }
    assert set(TRANSITIONS) == {(s, event) for s, events in waits_for.items() for event in events}
    reached = {next_state(*key, is_safe_to_repeat=safe) for key in TRANSITIONS for safe in (False, True)}
    assert reached == set(ActionState)
