"""Nobody can fill the log from outside."""

from bot.base.line_limit import LineLimit


def test_so_many_lines_in_a_minute() -> None:
    now = 0.0
    lines = LineLimit(2, lambda: now)
    assert [lines.next() for _ in range(5)] == ["", "", None, None, None]
    now = 59.9
    assert lines.next() is None
    now = 60.0
    assert [lines.next() for _ in range(2)] == [" (4 such lines were left out before)", ""]
