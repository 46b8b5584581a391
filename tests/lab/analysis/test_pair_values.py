"""What a position is worth between two players, fitted to games of people."""

import gzip
import math
import random
from pathlib import Path

import pytest

from engine.opponents.pair_value import MAX_X, PairFeatures
from lab.analysis import pair_values
from lab.analysis.pair_values import (
    OWN_SCALE,
    PAIR,
    PairSample,
    fit,
    fit_text,
    is_tested,
    measure,
    rated_games,
    samples,
)
from lab.analysis.reply_profiles import AnalysisError

TRUE = (0.1, 0.5, 0.2, -0.3, 1.2, 0.4)
MOVES = "h3e3 h10g8 h1g3 i10h10 i1h1 b10c8 b1c3 g7g6"
PGN = """[White "ann"]
[Black "ben"]
[WhiteElo "1700"]
[BlackElo "1500"]
[Result "1-0"]

1. e4 e5 2. Nf3 Nc6 3. Bc4 Bc5 4. d3 d6 5. O-O Nf6 6. h3 h6 1-0

"""


def drawn(games: int, seed: int) -> list[PairSample]:
    rng, found = random.Random(seed), []
    for number in range(games):
        for _ in range(2):
            x, e, d = rng.uniform(-MAX_X, MAX_X), rng.uniform(0, 1), rng.gauss(0, 0.5)
            b = TRUE
            logit = b[0] + b[1] * x + b[2] * e + b[3] * x * e + b[4] * d + b[5] * d * e
            points = float(rng.random() < 1 / (1 + math.exp(-logit)))
            found.append(PairSample(f"{seed} {number}", PairFeatures(x, e, d), points))
    return found


def test_the_coefficients_are_found_again() -> None:
    learned, tested = drawn(20_000, 1), drawn(2_000, 2)
    found = fit(learned)
    names = ("constant", "score", "stage", "score_stage", "difference", "difference_stage")
    assert [getattr(found, name) for name in names] == pytest.approx(TRUE, abs=0.15)
    result = measure(found, learned, tested)
    assert (result.learned, result.tested) == ((40_000, 20_000), (4_000, 2_000))
    assert result.losses[PAIR].value < min(loss.value for name, loss in result.losses.items() if name != PAIR)
    assert result.gain.value == pytest.approx(result.losses[OWN_SCALE].value - result.losses[PAIR].value)
    assert result.gain.low is not None
    assert result.gain.low > 0
    assert result.decided[PAIR]["points"] == pytest.approx(result.decided[PAIR]["expected"], abs=0.03)
    assert result.decided[OWN_SCALE]["points"] < result.decided[OWN_SCALE]["expected"]
    assert "log-loss, the pair:" in fit_text(result)
    assert result.card({"game": "othello"})["coefficients"]["score"] == pytest.approx(found.score, abs=1e-6)


def test_positions_that_say_nothing_are_refused() -> None:
    backwards = [PairSample("g", PairFeatures(x, 0.5, 0.0), float(x < 0)) for x in (-2.0, -1.0, 1.0, 2.0)]
    with pytest.raises(AnalysisError, match="do not determine the coefficients"):
        fit(backwards)


def test_rated_games_of_chess(tmp_path: Path) -> None:
    (tmp_path / "games.pgn").write_text(PGN)
    (game,) = rated_games("chess", tmp_path)
    assert (game.ratings, game.points) == ((1700, 1500), 1)
    found = samples([game], 10, 1, nodes=200, per_game=4)
    assert 1 <= len(found) <= 4
    for each in found:
        assert each.points == (1 if each.features.difference > 0 else 0)
    assert samples([game], 10, 1, nodes=200, per_game=4) == found
    assert not is_tested(game, 2015, 1)  # its year is unknown


def test_masters_of_xiangqi_are_rated_by_their_results(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    lines = ["year\tred\tblack\tresult\trecord\tmoves"]
    lines += [
        f"{year}\tred\tblack\t1-0\twhole\t{MOVES} {last}" for year, last in ((1999, "a4a5"), (2004, "c4c5"))
    ]
    (tmp_path / "m.tsv.gz").write_bytes(gzip.compress("\n".join(lines).encode()))
    assert rated_games("xiangqi", tmp_path) == []  # too few results before
    monkeypatch.setattr(pair_values, "SETTLED_GAMES", 1)
    (game,) = rated_games("xiangqi", tmp_path)
    assert (game.year, is_tested(game, 2003, 1), is_tested(game, 2004, 1)) == (2004, True, False)
    assert game.ratings[0] > game.ratings[1]
    found = samples([game], 10, 1, nodes=200)
    assert [each.points for each in found] == [1 if each.features.difference > 0 else 0 for each in found]
    assert found


def test_a_folder_without_games(tmp_path: Path) -> None:
    with pytest.raises(AnalysisError, match="no games of chess"):
        rated_games("chess", tmp_path)
