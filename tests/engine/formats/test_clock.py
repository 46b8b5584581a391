"""Clocks as Othello's servers, files and programs write them."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from engine.formats.clock import BadClock, GgfClock, parse_time, time_text


@pytest.mark.parametrize(
    ("text", "seconds"),
    [
        ("05:00", 300),
        ("5", 300),
        ("0:30", 30),
        ("01:00:00", 3600),
        ("2.03:04:05", 183_845),
        ("-00:03", -3),
        ("00:30.999", 30),
        ("9999.99999:00:00", 1_000_000_000),
        ("-9999.99999:00:00", -1_000_000_000),
    ],
)
def test_times(text: str, seconds: int) -> None:
    assert parse_time(text) == seconds


@pytest.mark.parametrize("text", ["", ":", "x", "1:2:3:4", "05:", "1.5.3", "30.", "1:2.", "+3", "5 : 00"])
def test_no_times(text: str) -> None:
    with pytest.raises(BadClock, match="is not a time"):
        parse_time(text)


@pytest.mark.parametrize(
    ("text", "clock"),
    [
        ("", GgfClock(900, 0, 120)),
        ("15:00", GgfClock(900, 0, 120)),
        ("05:00//02:00", GgfClock(300, 0, 120)),
        ("05:00/00:12/02:00", GgfClock(300, 12, 120)),
        ("05:00 / 00:12 / 01:00", GgfClock(300, 12, 60)),
        ("5/12", GgfClock(300, 720, 120)),
        ("/00:05", GgfClock(900, 5, 120)),
        ("05:00//0", GgfClock(300, 0, 0)),
        ("04:59,0:0//02:00,0:0", GgfClock(299, 0, 120, is_plain=False)),
        ("05:00,N20/01:00,20/02:00", GgfClock(300, 60, 120, is_plain=False)),
        (",20", GgfClock(900, 0, 120, is_plain=False)),
    ],
)
def test_clocks(text: str, clock: GgfClock) -> None:
    assert GgfClock.parse(text) == clock


@pytest.mark.parametrize("text", ["x", "05:00///", "05:00,x", "05:00,", "05:00,1:2:3", "05:00/x", "05:00//:"])
def test_no_clocks(text: str) -> None:
    with pytest.raises(BadClock):
        GgfClock.parse(text)


def test_a_clock_is_never_written_in_bare_minutes() -> None:
    assert GgfClock(300, 12, 0).text() == "05:00/00:12/00:00"
    assert GgfClock(5400, 0, 120).text() == "01:30:00/00:00/02:00"
    assert GgfClock(59, 3, 120).text(with_extension=False) == "00:59/00:03"
    assert [time_text(seconds) for seconds in (0, 3599, 3600, 360_000, -3)] == [
        "00:00",
        "59:59",
        "01:00:00",
        "100:00:00",
        "-00:03",
    ]


SECONDS = st.integers(-359_999_999, 359_999_999)


@given(SECONDS, SECONDS, SECONDS)
def test_what_is_written_is_read_again(initial: int, increment: int, extension: int) -> None:
    clock = GgfClock(initial, increment, extension)
    assert GgfClock.parse(clock.text()) == clock
    assert GgfClock.parse(clock.text(with_extension=False)) == GgfClock(initial, increment)


@given(st.text(alphabet="0123456789:/,.-N x", max_size=30))
def test_anything_is_a_clock_or_none(text: str) -> None:
    try:
        clock = GgfClock.parse(text)
    except BadClock:
        return
    assert max(clock.initial_s, clock.increment_s, clock.extension_s) <= 1_000_000_000


def test_what_is_left() -> None:
    assert GgfClock(300, 12, 120).left_s(100, 3) == 236
    assert GgfClock(300, 0, 120).left_s(400.5, 3) == -100.5
