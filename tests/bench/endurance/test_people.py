"""What people want in `bench.endurance.run`."""

import random

from bench.endurance.people import ENDS, FLAGGING, RESIGN_AT, VARIANTS, draw_wish

DRAWS = 4000


def test_everything_happens_as_often_as_it_should() -> None:
    rng = random.Random(1)
    wishes = [draw_wish(rng) for _ in range(DRAWS)]
    assert {wish.variant for wish in wishes} == set(VARIANTS)
    habits = [wish.habits for wish in wishes]
    flags = [wish for wish in wishes if wish.habits.flags_at is not None]
    counted = {
        "flags": len(flags),
        "leaves": sum(each.leaves_at is not None for each in habits),
        "blinks": sum(each.blinks_at is not None for each in habits),
        "aborts": sum(each.resign_at is not None and each.resign_at < RESIGN_AT[0] for each in habits),
        "plays on": sum(
            (each.resign_at, each.flags_at, each.leaves_at) == (None, None, None) for each in habits
        ),
    }
    for end, number in counted.items():
        assert abs(number / DRAWS - ENDS[end]) < 0.012, end
    assert all(wish.clock == FLAGGING and not wish.rated for wish in flags)
    assert all(wish.clock.initial_s >= 60 for wish in wishes if wish not in flags)
