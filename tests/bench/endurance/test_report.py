"""What `bench.endurance.run` says in the end."""

from collections import Counter
from dataclasses import replace
from typing import Any

import pytest

from bench.endurance.report import LEAST_FETCHES, LEAST_MS, LEAST_SAMPLES, Endured, Fetch
from bench.endurance.samples import Sample

GAMES = 1000
STEPS = 20 * LEAST_SAMPLES


def sample(games: int, life: int = 2, **changes: Any) -> Sample:
    base = Sample(games, life, 200.0, 180.0, 60, 30, 80, 10.0, 4.0)
    return replace(base, **changes)


def samples(last_tenth: dict[str, Any] | None = None) -> list[Sample]:
    """A first life that took more of everything, and a last one that took more at most in its last tenth."""
    life = [
        sample(step * GAMES // STEPS, **(last_tenth or {} if step >= 0.9 * STEPS else {}))
        for step in range(STEPS)
    ]
    return [sample(0, 1, rss_mb=900.0, descriptors=900, tasks=900), *life]


def fetches(page: str, first_ms: float, last_ms: float, number: int = LEAST_FETCHES) -> list[Fetch]:
    return [
        Fetch(page, ms, 200, games) for ms, games in ((first_ms, 0), (last_ms, GAMES)) for _ in range(number)
    ]


def endured(**found: object) -> Endured:
    """A run in which all went well, but for what is given."""
    base = {
        "games": GAMES,
        "seconds": 100.0,
        "samples": samples(),
        "fetches": fetches("now", LEAST_MS, LEAST_MS),
        "acts": Counter({"kill -9": 2}),
    }
    made = Endured(**base | found)  # type: ignore[arg-type]
    made.act_s["kill -9"] += [1.0, 2.0]
    return made


def test_all_claims_are_told() -> None:
    lines = list(endured().lines())
    told = lines[lines.index("verdict: passed") + 1 :]
    assert [line.split()[0] for line in told] == ["yes"] * 13
    assert any(line.startswith("rss_mb") and line.endswith("1.00") for line in lines)
    assert "kill -9: 2 times, median 1.5 s, longest 2.0 s" in lines


@pytest.mark.parametrize(
    ("found", "claim"),
    [
        ({"lost": ["abcdefgh"]}, "half recorded"),
        ({"hanging": ["abcdefgh"]}, "left open"),
        ({"lost_on_time": ["abcdefgh"]}, "on time"),
        ({"wrong": ["abcdefgh"]}, "recheck"),
        ({"logged": ["Traceback"]}, "traceback"),
        ({"failed": ["db backup"]}, "command"),
        ({"samples": samples({"rss_mb": 221.0})}, "RSS"),
        ({"samples": samples({"pss_mb": 199.0})}, "PSS"),
        ({"samples": samples({"descriptors": 69})}, "descriptors"),
        ({"samples": samples({"threads": 34})}, "threads"),
        ({"samples": samples({"tasks": 89})}, "tasks"),
        ({"fetches": [Fetch("now", 1.0, 500, 0)]}, "answers"),
        ({"fetches": fetches("works", 60.0, 121.0)}, "slower"),
    ],
)
def test_what_breaks_a_claim(found: dict[str, object], claim: str) -> None:
    (complaint,) = endured(**found).complaints
    assert claim in complaint


def test_noise_is_not_slowness() -> None:
    calm = [
        *fetches("short", LEAST_MS / 5, LEAST_MS),
        *fetches("steady", 300.0, 600.0),
        *fetches("rare", 60.0, 900.0, LEAST_FETCHES - 1),
        Fetch("readyz", 5.0, 503, 0),
        Fetch("now", 5.0, 0, 0),
    ]
    assert endured(fetches=calm).complaints == []
    assert endured(samples=samples({"rss_mb": 219.0, "descriptors": 68, "threads": 33})).complaints == []


def test_slow_answers_show_in_the_95th_percentile() -> None:
    times = [*fetches("works", 60.0, 60.0, 20), *(Fetch("works", 500.0, 200, GAMES) for _ in range(3))]
    (complaint,) = endured(fetches=times).complaints
    assert "works p95 60 -> 500 ms" in complaint


def test_a_short_run_cannot_tell_everything() -> None:
    short = endured(samples=samples()[:5], fetches=[Fetch("now", 9.0, 200, 0)])
    unknown = [claim.text for claim in short.claims if claim.holds is None]
    assert len(unknown) == 6
    assert short.complaints == []
    assert "verdict: passed, as far as a run this short can tell" in short.lines()
