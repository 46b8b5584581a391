from collections import Counter
from typing import Any, cast

import pytest

from bot.base.metrics import BaitOutcome
from bot.game.cache.bait_counter import BaitCounter
from engine.bait_rule import ReplyForecast


class Forecast:
    """With one bait."""

    def is_bait(self, reply: str) -> bool:
        return reply == "d6"


MADE = cast(ReplyForecast, cast(Any, Forecast()))


@pytest.mark.parametrize(
    "order", [("forecast", "again", "reply"), ("forecast", "reply", "again"), ("reply", "again")]
)
def test_each_bait_counts_once_in_whatever_order_it_is_stored(order: tuple[str, ...]) -> None:
    found: Counter[BaitOutcome] = Counter()
    counter = BaitCounter(lambda outcome: found.update([outcome]))
    for step in order:
        if step == "reply":
            counter.add_reply(1, "d6")
            counter.add_reply(2, "d6")  # a move without a bait
        else:
            counter.add_forecast(1, MADE)
    assert found == {BaitOutcome.SET: 1, BaitOutcome.TAKEN: 1}


def test_another_reply_holds() -> None:
    found: list[BaitOutcome] = []
    counter = BaitCounter(found.append)
    counter.add_forecast(1, MADE)
    assert found == [BaitOutcome.SET]
    counter.add_reply(1, "f4")
    assert found == [BaitOutcome.SET, BaitOutcome.HELD]
