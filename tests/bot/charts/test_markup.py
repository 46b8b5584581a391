import math
from html import unescape

import pytest
from hypothesis import given
from hypothesis import strategies as st

from bot.charts.markup import cut_to_width, join_markup, path_of, short_number, tag, text_width
from tests.bot.charts.parsing import parsed, polylines

TENTHS = st.integers(-50_000, 50_000).map(lambda n: n / 10)
WRITTEN = st.text(st.characters(exclude_categories=["Cs", "Cc"], exclude_characters="\ufffe\uffff"))


@given(WRITTEN, WRITTEN)
def test_texts_and_attributes_are_escaped(text: str, attribute: str) -> None:
    (element,) = parsed(tag("text", text, class_=attribute))
    assert element.tag == "text"
    assert not list(element)
    assert element.text == (text or None)
    assert element.get("class") == attribute


def test_markup_is_not_escaped_again() -> None:
    inner = tag("b", "<")
    assert tag("p", inner, "<") == "<p><b>&lt;</b>&lt;</p>"
    assert join_markup(inner, "&") == "<b>&lt;</b>&amp;"
    assert unescape("&lt;") == "<"


def test_attributes_are_named_as_in_markup() -> None:
    assert (
        tag("path", class_="a", aria_hidden="true", d=None, x=1.0)
        == '<path class="a" aria-hidden="true" x="1"/>'
    )
    assert tag("output") == "<output></output>"
    assert tag("circle", tag("title", "t")) == "<circle><title>t</title></circle>"


@pytest.mark.parametrize(
    ("value", "text"),
    [(0, "0"), (-0.001, "0"), (1.5, "1.5"), (10, "10"), (100.0, "100"), (2 / 3, "0.67"), (-3, "-3")],
)
def test_coordinates_are_short(value: float, text: str) -> None:
    assert short_number(value) == text


@pytest.mark.parametrize("value", [math.nan, math.inf, -math.inf])
def test_coordinates_are_finite(value: float) -> None:
    with pytest.raises(ValueError, match="a coordinate is"):
        short_number(value)
    with pytest.raises(ValueError, match="a coordinate is"):
        path_of([(0.0, value)])
    with pytest.raises(ValueError, match="a coordinate is"):
        path_of([(value, 0.0)])


@given(st.lists(st.tuples(TENTHS, TENTHS), min_size=1))
def test_a_path_goes_through_its_points(points: list[tuple[float, float]]) -> None:
    (read,) = polylines(path_of(points))
    assert read == points


def test_a_path_does_not_add_errors_up() -> None:
    (read,) = polylines(path_of([(n * 0.34, n * 0.34) for n in range(1000)]))
    assert read[-1] == (339.7, 339.7)


@given(st.text(max_size=40), st.floats(20, 300))
def test_a_fitted_text_fits(text: str, width: float) -> None:
    shown = cut_to_width(text, 12, width)
    assert text_width(shown, 12) <= width
    assert shown == text or (shown.endswith("…") and text.startswith(shown[:-1]))
    assert (shown == text) == (text_width(text, 12) <= width)


def test_chinese_is_wider() -> None:
    assert text_width("帥", 10) == 10
    assert text_width("ab", 10) == pytest.approx(11.2)
