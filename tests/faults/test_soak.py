"""`bench.arena_soak`, small: the real program, faults of many kinds at random, and ``kill -9``."""

from pathlib import Path

from bench.arena_soak import LINE_FAULT_PROBABILITY, REQUEST_FAULT_PROBABILITY, Soak
from bot.base.events import Clock

# Nothing that a busy machine could lose by.
CLOCKS = (Clock(180, 2), Clock(300, 0))
DENSE = 4
"""So much more often than in a long run something goes wrong, since few games have to do."""


async def test_games_with_everything_going_wrong(tmp_path: Path) -> None:
    soak = Soak(
        tmp_path,
        games=3,
        at_once=2,
        seed=4,
        kills=1,
        clocks=CLOCKS,
        thinks_s=0.0,
        of_requests=DENSE * REQUEST_FAULT_PROBABILITY,
        of_lines=DENSE * LINE_FAULT_PROBABILITY,
    )
    summary = await soak.run()
    assert summary.complaints == [], "\n".join(summary.lines())
    assert (summary.games, summary.kills) == (3, 1)
    # Of 18 kinds; how many turns there are for them to happen in depends on the machine.
    assert len(summary.faults) > 4
