import logging
import random
from collections import Counter

import pytest

from bench.pgn_reader import damaged, difference, generated


def test_the_readers_find_the_same_games_or_there_is_a_reason(caplog: pytest.LogCaptureFixture) -> None:
    caplog.set_level(logging.CRITICAL, "chess.pgn")
    rng = random.Random(46)
    files = [generated(rng) for _ in range(60)]
    assert [difference(text) for text in files] == [""] * 60
    found = Counter(difference(damaged(text, rng)) for text in files * 3)
    assert found["not explained"] == 0
    assert found[""] >= 125
    assert len(found) >= 4
