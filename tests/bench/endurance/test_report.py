"""What `bench.endurance.run` says in the end."""

from collections import Counter
from dataclasses import replace
from typing import Any

import pytest

from bench.endurance.report import MIN_FETCHES, MIN_MS, EnduranceReport, Fetch
from bench.endurance.samples import Sample

GAMES = 1000


def sample(games: int, life: int = 2, **changes: Any) -> Sample:
    base = Sample(games, life, 200.0, 180.0, 60, 30, 80, 10.0, 4.0)
    return replace(base, **changes)


def rests(**last: Any) -> list[Sample]:
    """One in a first life that took more of everything, and two in the last life."""
    first = sample(GAMES // 10, 1, rss_mb=900.0, pss_mb=900.0, descriptors=900, threads=90, tasks=900)
    return [first, sample(GAMES // 2), sample(GAMES, **last)]


def fetches(page: str, first_ms: float, last_ms: float, number: int = MIN_FETCHES) -> list[Fetch]:
    return [
        Fetch(page, ms, 200, games, rest)
        for ms, games, rest in ((first_ms, GAMES // 10, 0), (last_ms, GAMES, 2))
        for _ in range(number)
    ]


def endured(**found: object) -> EnduranceReport:
    """A run in which all went well, but for what is given."""
    base = {
        "games": GAMES,
        "seconds": 100.0,
        "samples": [sample(games) for games in range(0, GAMES, 50)],
        "rests": rests(),
        "fetches": fetches("now", MIN_MS, MIN_MS),
        "acts": Counter({"kill -9": 2}),
    }
    made = EnduranceReport(**base | found)  # type: ignore[arg-type]
    made.act_s["kill -9"] += [1.0, 2.0]
    return made


def test_all_claims_are_told() -> None:
    lines = list(endured().lines())
    told = lines[lines.index("verdict: passed") + 1 :]
    assert [line.split()[0] for line in told] == ["yes"] * 13
    assert any(line.startswith("rss_mb") and line.endswith("900.0     200.0     200.0") for line in lines)
    assert "kill -9: 2 times, median 1.5 s, longest 2.0 s" in lines


@pytest.mark.parametrize(
    ("found", "claim"),
    [
        ({"lost": ["abcdefgh"]}, "incompletely recorded"),
        ({"hanging": ["abcdefgh"]}, "left open"),
        ({"lost_on_time": ["abcdefgh"]}, "on time"),
        ({"wrong": ["abcdefgh"]}, "recheck"),
        ({"logged": ["Traceback"]}, "traceback"),
        ({"failed": ["db backup"]}, "command"),
        ({"rests": rests(rss_mb=221.0)}, "RSS"),
        ({"rests": rests(pss_mb=199.0)}, "PSS"),
        ({"rests": rests(descriptors=69)}, "descriptors"),
        ({"rests": rests(threads=35)}, "threads"),
        ({"rests": rests(tasks=89)}, "tasks"),
        ({"fetches": [Fetch("now", 1.0, 500, 0)]}, "answers"),
        ({"fetches": fetches("works", 60.0, 121.0)}, "slower"),
    ],
)
def test_what_breaks_a_claim(found: dict[str, object], claim: str) -> None:
    (complaint,) = endured(**found).complaints
    assert claim in complaint


def test_noise_is_not_slowness() -> None:
    calm = [
        *fetches("short", MIN_MS / 5, MIN_MS),
        *fetches("steady", 300.0, 600.0),
        *fetches("rare", 60.0, 900.0, MIN_FETCHES - 1),
        Fetch("readyz", 5.0, 503, 0),
        Fetch("now", 5.0, 0, 0),
    ]
    assert endured(fetches=calm).complaints == []
    assert endured(rests=rests(rss_mb=219.0, descriptors=68, threads=34)).complaints == []


def test_pages_under_load_are_told_and_not_judged() -> None:
    busy = [Fetch("works", ms, 200, games) for ms, games in ((100.0, 0), (900.0, GAMES)) for _ in range(9)]
    found = endured(fetches=[*fetches("works", 60.0, 60.0), *busy])
    assert found.complaints == []
    told = [line.split() for line in found.lines() if line.startswith("works ")]
    assert told[0][1:4] + told[0][-2:] == ["100.0", "100.0", "9", "9.00", "9.00"]
    assert told[1][1:4] + told[1][-2:] == ["60.0", "60.0", "4", "1.00", "1.00"]


def test_a_game_lost_on_a_clock_of_seconds_is_no_complaint() -> None:
    found = endured(excused=["abcdefgh"])
    assert found.complaints == []
    assert any(line.endswith("may use it up: 1") for line in found.lines())


def test_a_short_run_cannot_tell_everything() -> None:
    short = endured(rests=rests()[1:2], fetches=[Fetch("now", 9.0, 200, 0)])
    unknown = [claim.text for claim in short.claims if claim.holds is None]
    assert len(unknown) == 6
    assert short.complaints == []
    assert "verdict: passed, as far as a run this short can tell" in short.lines()
