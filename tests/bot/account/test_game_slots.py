"""Slots: never more games than allowed, in whatever order events arrive; people first, then by arrival."""

from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Any, TypeVar

from hypothesis import settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, invariant, precondition, rule

from bot.account.challenge_policy import (
    Accept,
    ChallengeAnswer,
    Decline,
    GameSlot,
    WaitForSlot,
    permanent_refusal,
    required_slot,
)
from bot.account.game_slots import MAX_CHALLENGE_WAIT_S, GameSlots
from bot.base.config import ChallengesConfig
from bot.base.events import Challenge, Clock, DeclineReason, Opponent, Speed

CONFIG = ChallengesConfig(
    max_games=3,
    max_games_per_opponent=2,
    reserved_for_humans=1,
    max_slow_games=2,
    max_waiting=2,
    max_bot_games_per_day=3,
    max_games_per_bot_per_day=2,
    unlimited=True,
)


def offer(key: str, who: str = "anna", *, is_bot: bool = False, is_slow: bool = False) -> Challenge:
    return Challenge(
        id=key,
        challenger=Opponent(id=who, name=who.title(), rating=1600, is_bot=is_bot),
        game="othello",
        variant="othello",
        kind="othello",
        rated=True,
        speed=Speed.CORRESPONDENCE if is_slow else Speed.BLITZ,
        clock=None if is_slow else Clock(180, 2),
        days_per_turn=None,
        initial_position=None,
        is_ours=False,
    )


def answered(slots: GameSlots, *offers: Challenge, now_s: float = 0.0) -> dict[str, ChallengeAnswer]:
    for each in offers:
        slots.enqueue(each, now_s)
    return {challenge.id: told for challenge, told in slots.decide_waiting({}, now_s)}


def test_people_come_first_then_who_came_first() -> None:
    slots = GameSlots(ChallengesConfig(max_games=1))
    assert answered(slots, offer("on", "eve")) == {"on": Accept()}
    robot = offer("r", "robot", is_bot=True)
    told = answered(slots, robot, offer("a", "anna"), offer("b", "ben"))
    assert [(key, type(each)) for key, each in told.items()] == [
        ("a", WaitForSlot),
        ("b", WaitForSlot),
        ("r", WaitForSlot),
    ]
    order: list[str] = []
    for _ in range(3):
        slots.end("on")
        slots.end(order[-1] if order else "on")
        order += answered(slots)
    assert order == ["a", "b", "r"]


def test_waiting_is_told_once() -> None:
    slots = GameSlots(ChallengesConfig(max_games=1))
    answered(slots, offer("on", "eve"))
    assert len(answered(slots, offer("a"))) == 1
    assert answered(slots, offer("a")) == {}


def test_a_person_takes_the_place_of_a_program_in_the_queue() -> None:
    slots = GameSlots(ChallengesConfig(max_games=1, max_waiting=1))
    answered(slots, offer("on", "eve"), offer("r", "robot", is_bot=True))
    told = answered(slots, offer("a"))
    assert isinstance(told["a"], WaitForSlot)
    assert isinstance(told["r"], Decline)


def test_who_cannot_have_a_place_holds_nobody_up() -> None:
    slots = GameSlots(ChallengesConfig(max_games=2, max_games_per_opponent=1, unlimited=True))
    told = answered(slots, offer("one"), offer("two"), offer("b", "ben"))
    assert [type(each) for each in told.values()] == [Accept, WaitForSlot, Accept]
    assert answered(slots, offer("s", "carl", is_slow=True)) == {"s": Accept()}


def test_who_withdraws_waits_no_more() -> None:
    slots = GameSlots(ChallengesConfig(max_games=1))
    answered(slots, offer("on", "eve"), offer("a"), offer("b", "ben"))
    slots.leave("a")
    slots.end("on")
    assert answered(slots) == {"b": Accept()}
    slots.leave("b")  # accepted, and withdrawn before it could start
    assert slots.is_idle


def test_a_game_that_goes_on_is_not_withdrawn() -> None:
    slots = GameSlots(ChallengesConfig(max_games=1))
    answered(slots, offer("on", "eve"))
    slots.start("on")
    slots.leave("on")
    assert isinstance(answered(slots, offer("a"))["a"], WaitForSlot)


def test_those_who_wait_are_declined_when_shutting_down() -> None:
    slots = GameSlots(ChallengesConfig(max_games=1))
    answered(slots, offer("on", "eve"), offer("a"), offer("b", "ben"))
    slots.is_stopping = True
    told = answered(slots, offer("c", "carl"))
    assert list(told) == ["a", "b", "c"]
    for each in told.values():
        assert isinstance(each, Decline)
        assert each.reason is DeclineReason.LATER


def test_games_with_programs_count_from_their_start() -> None:
    """A game that is not in the database yet is counted by its slot."""
    slots = GameSlots(ChallengesConfig(max_bot_games_per_day=1))
    robot = offer("r", "robot", is_bot=True)
    assert answered(slots, robot) == {"r": Accept()}
    again = replace(robot, id="r2")
    assert isinstance(answered(slots, again)["r2"], Decline)
    slots.start("r")
    assert slots.games_not_stored == ["r"]
    assert isinstance(answered(slots, again)["r2"], Decline)
    slots.start("r", required_slot(robot))
    assert slots.games_not_stored == []
    slots.enqueue(again, 0.0)
    ((_, told),) = slots.decide_waiting({"robot": 1}, 0.0)
    assert isinstance(told, Decline)


def test_games_that_began_elsewhere_count() -> None:
    slots = GameSlots(ChallengesConfig(max_games=2, max_games_per_opponent=1))
    slots.start("x")
    assert slots.games_not_stored == ["x"]
    assert answered(slots, offer("a")) == {"a": Accept()}
    assert isinstance(answered(slots, offer("b", "ben"))["b"], WaitForSlot)
    slots.end("a")
    slots.start("x", GameSlot("ben"))
    assert answered(slots) == {}  # ben plays already


def test_quiet_and_slow() -> None:
    slots = GameSlots(ChallengesConfig(max_games=1, unlimited=True))
    assert slots.is_idle
    answered(slots, offer("s", "carl", is_slow=True))
    assert slots.is_idle  # a game that lasts weeks takes up no time
    assert slots.has_no_clock("s")
    answered(slots, offer("a"))
    assert not slots.is_idle
    assert not slots.has_no_clock("a")
    slots.end("a")
    slots.end("s")
    assert slots.is_idle
    assert not slots.has_no_clock("s")


def test_how_long_those_who_wait_are_left_to_wait() -> None:
    slots = GameSlots(ChallengesConfig(max_games=1, max_slow_games=1, unlimited=True))
    answered(slots, offer("on"), offer("slow", is_slow=True))
    assert slots.next_wait_timeout_s(0.0) is None
    answered(slots, offer("still", is_slow=True))
    assert slots.next_wait_timeout_s(0.0) is None  # it may wait forever
    answered(slots, offer("a", "anna"), now_s=10.0)
    answered(slots, offer("b", "ben"), now_s=30.0)
    assert slots.next_wait_timeout_s(40.0) == MAX_CHALLENGE_WAIT_S - 30.0
    slots.leave("a")
    assert slots.next_wait_timeout_s(40.0) == MAX_CHALLENGE_WAIT_S - 10.0
    assert slots.next_wait_timeout_s(1000.0) == 0.0


def test_nobody_waits_for_long() -> None:
    """Except for a game without a clock: its challenge may stand for weeks."""
    slots = GameSlots(ChallengesConfig(max_games=1, max_slow_games=1, unlimited=True))
    answered(slots, offer("on", "eve"), offer("slow", "carl", is_slow=True))
    told = answered(slots, offer("a"), offer("s", "dora", is_slow=True), now_s=100.0)
    assert {type(each) for each in told.values()} == {WaitForSlot}
    assert answered(slots, offer("a"), now_s=99.9 + MAX_CHALLENGE_WAIT_S) == {}
    told = answered(slots, now_s=100.0 + MAX_CHALLENGE_WAIT_S)
    assert told == {"a": Decline(DeclineReason.LATER, "no free slot in 60 s")}
    slots.end("slow")
    assert answered(slots, now_s=1000.0) == {"s": Accept()}


def test_each_board_of_a_challenge_becomes_a_game() -> None:
    slots = GameSlots(ChallengesConfig(max_games=2))
    assert answered(slots, replace(offer("pair"), boards=2)) == {"pair": Accept()}
    assert isinstance(answered(slots, offer("b", "ben"))["b"], WaitForSlot)
    slots.start("one", challenge_id="pair")
    assert slots.has_unstarted_slot("pair")  # the other game's
    assert slots.current_load({}).games == [GameSlot("anna"), GameSlot("anna")]
    slots.start("one", challenge_id="pair")  # reported again
    assert slots.current_load({}).games == [GameSlot("anna"), GameSlot("anna")]
    slots.start("two", challenge_id="pair")
    assert not slots.has_unstarted_slot("pair")
    assert slots.current_load({}).games == [GameSlot("anna"), GameSlot("anna")]
    slots.end("one")
    assert answered(slots) == {"b": Accept()}
    slots.end("two")
    slots.leave("b")
    assert slots.is_idle


def test_a_challenge_that_becomes_fewer_games_than_it_has_boards() -> None:
    slots = GameSlots(ChallengesConfig(max_games=2))
    answered(slots, replace(offer("pair"), boards=2))
    slots.start("one", challenge_id="pair")
    slots.leave("pair")
    assert slots.current_load({}).games == [GameSlot("anna")]


def test_a_game_may_begin_before_its_challenge_is_known_to_be_accepted() -> None:
    """When it answers a challenge of ours, it takes one slot, not two."""
    slots = GameSlots(ChallengesConfig(max_games=2))
    slots.start("game", challenge_id="ours")
    slots.accept("ours", GameSlot("robot", is_bot=True))
    assert slots.current_load({}).games == [GameSlot("robot", is_bot=True)]
    assert not slots.has_unstarted_slot("ours")
    slots.end("game")
    assert slots.is_idle
    slots.accept("ours", GameSlot("robot", is_bot=True))  # the ended game has been forgotten
    assert slots.has_unstarted_slot("ours")


def test_several_boards_need_so_many_places() -> None:
    slots = GameSlots(ChallengesConfig(max_games=2, max_games_per_opponent=2))
    told = answered(slots, offer("a"), replace(offer("pair", "ben"), boards=2), offer("c", "carl"))
    assert [type(each) for each in told.values()] == [Accept, WaitForSlot, Accept]
    slots.end("a")
    assert answered(slots) == {}
    slots.end("c")
    assert answered(slots) == {"pair": Accept()}


def test_a_challenge_that_waits_may_become_a_game_by_itself() -> None:
    slots = GameSlots(ChallengesConfig(max_games=1))
    answered(slots, offer("on", "eve"), offer("asked"))
    slots.start("game", challenge_id="asked")
    assert slots.waiting_slots == []


def test_more_games_at_once_than_places_are_never_played() -> None:
    pair = replace(offer("pair"), boards=2)
    assert permanent_refusal(pair, ChallengesConfig()) is None
    for config in (ChallengesConfig(max_games=1), ChallengesConfig(max_games_per_opponent=1)):
        told = permanent_refusal(pair, config)
        assert told is not None
        assert told.reason is DeclineReason.VARIANT


# --- Events in any order --------------------------------------------------------------------------------


@dataclass
class Offered:
    """A challenge as the server knows it."""

    challenge: Challenge
    stands: bool = True
    """Not yet accepted, declined or withdrawn."""
    accepts: int = 0
    """Requests to accept it that are in flight."""
    answer_lost: bool = False
    plays: bool = False
    start_told: bool = False
    end_told: bool = True
    answers: int = 0


def stands(each: Offered) -> bool:
    return each.stands


def plays(each: Offered) -> bool:
    return each.plays


def is_on_its_way(each: Offered) -> bool:
    return each.accepts > 0


def starts(each: Offered) -> bool:
    return each.plays and not each.start_told


def has_started(each: Offered) -> bool:
    return each.start_told


def has_ended(each: Offered) -> bool:
    return not each.plays and not each.end_told


R = TypeVar("R", bound=Callable[..., Any])


def there_is(wanted: Callable[[Offered], bool]) -> Callable[[R], R]:
    """A rule whose precondition is at least one such challenge."""
    return precondition(lambda self: any(map(wanted, self.offers.values())))


class AnyOrder(RuleBasedStateMachine):
    """A server with delays, lost answers and lost events, and a lobby with its `GameSlots`."""

    def __init__(self) -> None:
        super().__init__()
        self.slots = GameSlots(CONFIG)
        self.offers: dict[str, Offered] = {}
        self.bot_games: Counter[str] = Counter()
        """In the database."""
        self.stored: set[str] = set()

    def settle(self) -> None:
        before = {key for key in self.offers if self.slots.has_unstarted_slot(key)}
        for challenge, told in self.slots.decide_waiting(self.bot_games, 0.0):
            each = self.offers[challenge.id]
            match told:
                case Accept():
                    assert challenge.id not in before
                    each.answers += 1
                    each.accepts += 1
                case Decline():
                    each.answers += 1
                    each.stands = False

    def one(self, data: st.DataObject, wanted: Callable[[Offered], bool]) -> Offered:
        return data.draw(st.sampled_from([each for each in self.offers.values() if wanted(each)]))

    def start(self, each: Offered) -> None:
        each.start_told = True
        each.accepts = 0  # no need to retry
        self.slots.start(each.challenge.id)

    @rule(who=st.integers(0, 5), is_slow=st.booleans(), copies=st.integers(1, 2))
    def challenged(self, who: int, is_slow: bool, copies: int) -> None:
        key = f"c{len(self.offers)}"
        challenge = offer(key, f"w{who}", is_bot=who >= 3, is_slow=is_slow)
        self.offers[key] = Offered(challenge)
        for _ in range(copies):
            self.slots.enqueue(challenge, 0.0)
        self.settle()

    @there_is(lambda each: each.stands or each.plays)
    @rule(data=st.data())
    def told_again(self, data: st.DataObject) -> None:
        each = self.one(data, lambda each: each.stands or each.plays)
        if each.plays:
            self.start(each)
        else:
            if not each.accepts:
                each.answers = 0  # it is queued, or our answer never arrived
            self.slots.enqueue(each.challenge, 0.0)
        self.settle()

    @there_is(stands)
    @rule(data=st.data())
    def withdrawn(self, data: st.DataObject) -> None:
        each = self.one(data, stands)
        each.stands = False
        self.slots.leave(each.challenge.id)
        self.settle()

    @there_is(has_started)
    @rule(data=st.data())
    def withdrawn_too_late(self, data: st.DataObject) -> None:
        self.slots.leave(self.one(data, has_started).challenge.id)
        self.settle()

    @there_is(stands)
    @rule(data=st.data())
    def runs_out_unheard(self, data: st.DataObject) -> None:
        self.one(data, stands).stands = False

    @there_is(is_on_its_way)
    @rule(data=st.data(), answer_is_lost=st.booleans())
    def accept_arrives(self, data: st.DataObject, answer_is_lost: bool) -> None:
        each = self.one(data, is_on_its_way)
        found = each.stands
        if found:
            each.stands, each.plays, each.end_told = False, True, False
        if answer_is_lost:
            each.answer_lost = True  # and it is sent again
            return
        each.accepts -= 1
        if not found and not each.answer_lost:  # the challenge does not exist
            self.slots.leave(each.challenge.id)
            self.settle()

    @there_is(starts)
    @rule(data=st.data())
    def start_is_told(self, data: st.DataObject) -> None:
        self.start(self.one(data, starts))
        self.settle()

    @precondition(lambda self: self.slots.games_not_stored)
    @rule(data=st.data())
    def books_are_opened(self, data: st.DataObject) -> None:
        key = data.draw(st.sampled_from(self.slots.games_not_stored))
        slot = required_slot(self.offers[key].challenge)
        self.bot_games[slot.opponent_id] += slot.is_bot and key not in self.stored
        self.stored.add(key)
        self.slots.start(key, slot)

    @there_is(plays)
    @rule(data=st.data())
    def ends(self, data: st.DataObject) -> None:
        self.one(data, plays).plays = False

    @there_is(has_ended)
    @rule(data=st.data())
    def end_is_told(self, data: st.DataObject) -> None:
        each = self.one(data, has_ended)
        each.end_told = True
        self.slots.end(each.challenge.id)
        self.settle()

    @precondition(lambda self: any(map(self.slots.has_unstarted_slot, self.offers)))
    @rule(data=st.data())
    def time_runs_out(self, data: st.DataObject) -> None:
        each = self.one(data, lambda each: self.slots.has_unstarted_slot(each.challenge.id))
        each.accepts = 0  # requests time out too, and sooner
        if each.plays:
            self.start(each)
        else:
            self.slots.leave(each.challenge.id)
        self.settle()

    @invariant()
    def never_more_than_allowed(self) -> None:
        """Including games that may still begin because we requested them."""
        taken = {
            key: required_slot(each.challenge)
            for key, each in self.offers.items()
            if each.plays or (each.accepts and each.stands)
        }
        today = self.bot_games + Counter(
            slot.opponent_id for key, slot in taken.items() if slot.is_bot and key not in self.stored
        )
        assert today.total() <= CONFIG.max_bot_games_per_day
        assert max(today.values(), default=0) <= CONFIG.max_games_per_bot_per_day
        fast = [slot for slot in taken.values() if not slot.has_no_clock]
        assert len(fast) <= CONFIG.max_games
        assert sum(slot.is_bot for slot in fast) <= CONFIG.max_games - CONFIG.reserved_for_humans
        assert len(taken) - len(fast) <= CONFIG.max_slow_games
        opponents = Counter(slot.opponent_id for slot in taken.values())
        assert max(opponents.values(), default=0) <= CONFIG.max_games_per_opponent

    @invariant()
    def everybody_gets_one_answer(self) -> None:
        assert len(self.slots.waiting_slots) <= CONFIG.max_waiting
        assert all(each.answers <= 1 for each in self.offers.values())
        unanswered = [each for each in self.offers.values() if each.stands and not each.answers]
        assert len(unanswered) <= len(self.slots.waiting_slots)

    @invariant()
    def nobody_waits_for_nothing(self) -> None:
        if not self.slots.waiting_slots:
            return
        assert not self.slots.is_idle
        if all(each.end_told and not each.accepts for each in self.offers.values()):
            assert any(self.slots.has_unstarted_slot(key) for key in self.offers)


TestAnyOrder = AnyOrder.TestCase
TestAnyOrder.settings = settings(max_examples=40, stateful_step_count=60, deadline=None)
