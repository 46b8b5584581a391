"""From scores to results: what must hold for any score, and that the fit finds what made the data."""

import math
import random
import struct
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from engine.game import WIN_CENTI
from engine.games.othello_result import expected_result, scale_centi
from lab.training import othello_result
from lab.training.othello_result import Fit, Sample, fitted, log_loss, reliability

SCORES = st.one_of(
    st.integers(-7_000, 7_000), st.floats(-7_000, 7_000), st.integers(-WIN_CENTI - 6_400, WIN_CENTI + 6_400)
)
EMPTIES = st.integers(0, 60)


@given(SCORES, EMPTIES)
def test_the_other_side_gets_the_rest(score: float, empties: int) -> None:
    result = expected_result(score, empties)
    assert 0.0 <= result <= 1.0
    assert expected_result(-score, empties) == pytest.approx(1.0 - result, abs=1e-15)


@given(SCORES, SCORES, EMPTIES)
def test_better_scores_promise_no_less(one: float, other: float, empties: int) -> None:
    low, high = sorted((one, other))
    assert expected_result(low, empties) <= expected_result(high, empties)
    if high - low >= 1 and abs(low) < 3_000 and abs(high) < 3_000:
        assert expected_result(low, empties) < expected_result(high, empties)


@given(EMPTIES)
def test_even_and_decided_games(empties: int) -> None:
    assert expected_result(0, empties) == 0.5
    for margin in (0, 200, 6_400):
        assert expected_result(WIN_CENTI + margin, empties) == 1.0
        assert expected_result(-WIN_CENTI - margin, empties) == 0.0


@given(st.integers(1, 5_000), st.integers(1, 60))
def test_a_lead_is_worth_more_near_the_end(score: int, empties: int) -> None:
    assert expected_result(score, empties - 1) >= expected_result(score, empties)
    assert scale_centi(empties - 1) <= scale_centi(empties)


def test_numbers_of_squares_beyond_the_board_do_no_harm() -> None:
    assert expected_result(300, 64) == expected_result(300, 60)
    assert expected_result(300, -1) == expected_result(300, 0)


def invented(count: int, a: float, b: float) -> list[Sample]:
    """Samples whose results were drawn from a known law."""
    rng, samples = random.Random(1), list[Sample]()
    for _ in range(count):
        score, empties = round(rng.gauss(0, 800)), rng.randint(10, 56)
        p = 1 / (1 + math.exp(-score / (a + b * empties)))
        samples.append(Sample(score, empties, float(rng.random() < p)))
    return samples


def test_the_fit_finds_the_law_behind_the_data() -> None:
    samples = invented(20_000, 250.0, 8.0)
    fit = fitted(samples)
    for empties in (15, 30, 50):
        assert fit.a + fit.b * empties == pytest.approx(250 + 8 * empties, rel=0.08)
    assert log_loss(fit, samples) <= log_loss(Fit(250.0, 8.0), samples)
    assert log_loss(fit, samples) < log_loss(fitted(samples, linear=False), samples)
    for expected, observed, count in reliability(fit, samples):
        assert observed == pytest.approx(expected, abs=4 * 0.5 / math.sqrt(count))


def test_a_small_fit_from_end_to_end(capsys: pytest.CaptureFixture[str]) -> None:
    for _ in range(2):
        othello_result.main(["--games", "20", "--depth", "3", "--solved-empties", "8"])
    told = capsys.readouterr().out
    assert "s = " in told
    assert "log-loss on held-out games" in told
    first, again = told[: len(told) // 2], told[len(told) // 2 :]
    assert first == again


def test_a_fit_to_given_games(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """Short games, with the result that the file tells."""
    placed = bytes([56, 64, 33, 34, 43, 46, 53, 32]).ljust(60, b"\0")  # f5 d6 c3 d3 c4 f4 c5 b3
    records = b"".join(struct.pack("<3H2B", 0, 1, 2, score, score) + placed for score in (40, 24, 50, 33, 31))
    path = tmp_path / "games.wtb"
    path.write_bytes(struct.pack("<4BIHH4B", 19, 84, 1, 1, 5, 0, 1984, 8, 0, 22, 0) + records)
    othello_result.main(["--from-games", str(path), "--depth", "2"])
    assert "5 games, 32 positions to fit, 8 held out" in capsys.readouterr().out
    path.write_bytes(path.read_bytes()[:-1])
    with pytest.raises(SystemExit):
        othello_result.main(["--from-games", str(path), "--depth", "2"])


def test_data_that_tell_nothing_do_no_harm() -> None:
    assert fitted([Sample(0, 20, 0.5)] * 3) == Fit(500.0, 0.0)
    assert fitted([Sample(100, 20, 1.0), Sample(100, 20, 0.0)]) == Fit(500.0, 0.0)


@pytest.mark.parametrize(
    "arguments",
    [["--games", "1", "--depth", "2"], ["--random-plies", "9", "8"], ["--solved-empties", "25"]],
)
def test_bad_settings_are_refused(arguments: list[str]) -> None:
    with pytest.raises(SystemExit):
        othello_result.main(arguments)
