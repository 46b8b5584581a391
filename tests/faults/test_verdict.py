"""What `bench.arena_soak` says in the end."""

from collections import Counter

import pytest

from bench.arena_soak import COVERING_GAMES, MIN_STEADY_S, Summary
from tests.faults.proxy import Fault

EVERY_KIND = Counter(dict.fromkeys(Fault, 2))


def summary(rss_mb: list[float] | None = None, **found: object) -> Summary:
    """A run in which all went well, but for what is given."""
    life = [200.0] * MIN_STEADY_S if rss_mb is None else rss_mb
    base = {"games": COVERING_GAMES, "faults": EVERY_KIND, "status": 0, "plies": 1, "seconds": 1.0}
    return Summary(**base | found, rss_mb=[(1, 900.0), *((2, mb) for mb in life)])  # type: ignore[arg-type]


def test_all_claims_are_told() -> None:
    lines = list(summary().lines())
    told = lines[lines.index("verdict: passed") + 1 :]
    assert [line.split()[0] for line in told] == ["yes"] * 10
    assert [claim.text for claim in summary().claims[:6]] == [
        "no game lost on time because of the bot",
        "no game left hanging",
        "no game left without the bot's first move",
        "no duplicate move",
        "no decision missing, duplicated or wrong",
        "memory flat",
    ]
    assert f"      2 {Fault.STALL.value}" in lines


@pytest.mark.parametrize(
    ("found", "claim"),
    [
        ({"lost_on_time": ["abcdefgh"]}, "lost on time"),
        ({"hanging": ["abcdefgh"]}, "hanging"),
        ({"not_begun": ["abcdefgh"]}, "first move"),
        ({"broken": ["ERROR something"]}, "no crash"),
        ({"deaf_s": [16.0]}, "event stream"),
        ({"duplicates": 1}, "duplicate"),
        ({"troubles": ["abcdefgh"]}, "missing, duplicated"),
        ({"rss_mb": [200.0] * MIN_STEADY_S + [230.0] * MIN_STEADY_S}, "memory"),
        ({"faults": EVERY_KIND - Counter({Fault.STALL: 2})}, "every kind"),
        ({"status": 1}, "stopped"),
    ],
)
def test_what_breaks_a_claim(found: dict[str, object], claim: str) -> None:
    (complaint,) = summary(**found).complaints  # type: ignore[arg-type]
    assert claim in complaint


def test_a_short_run_cannot_tell_everything() -> None:
    short = summary(rss_mb=[200.0, 900.0], games=16, faults=Counter({Fault.END: 1}))
    unknown = [claim.text for claim in short.claims if claim.holds is None]
    assert (unknown, short.complaints) == (["memory flat", "every kind of fault"], [])
    assert "verdict: passed, as far as a run this short can tell" in short.lines()
