"""A small sweep from end to end: it learns, it repeats itself, and bad settings are refused."""

import json
import lzma
import struct
from pathlib import Path
from typing import Any

import pytest

from engine import _native
from lab import _training
from lab.training import othello_patterns, othello_probcut
from tests.engine.games import othello_mirror
from tests.engine.games.othello_mirror import MOBILITIES

TINY = ("--sweeps", "150", "--play-depth", "1", "--well-played", "0.2", "--exact-empties", "6",
        "--checks", "10", "--check-empties", "8", "--parity-games", "4", "--parity-depth", "3")  # fmt: skip


def trained(*more: str) -> tuple[bytes, dict[str, Any]]:
    """Weights of a tiny sweep, and the facts for the card."""
    return othello_patterns.train(othello_patterns.parser().parse_args([*TINY, *more]))


@pytest.fixture(scope="module")
def written(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The file of weights that the command writes; its card stands beside it."""
    out = tmp_path_factory.mktemp("tiny") / "weights.xz"
    quick = [{**othello_patterns.FILTERS[0], "preset": 0}]  # as small as can be would take seconds
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(othello_patterns, "FILTERS", quick)
        othello_patterns.main([*TINY, "--threads", "1", "--out", str(out)])
    return out


@pytest.fixture(scope="module")
def tiny(written: Path) -> bytes:
    return lzma.decompress(written.read_bytes())


def units_of(weights: bytes) -> tuple[int, ...]:
    return struct.unpack(f"<{len(weights) // 2}h", weights)


def error_discs(weights: bytes) -> float:
    """Mean absolute error close to the end of games, played by the weights themselves."""
    trainer = _training.OthelloTrainer(99, 1)
    trainer.set_weights(weights)
    pairs = trainer.check(6, 200)
    return sum(abs(evaluation - exact) for evaluation, exact in pairs) / len(pairs) / 100


def test_learns(tiny: bytes) -> None:
    """150 positions a stage are next to nothing, and yet better than rules of thumb."""
    assert error_discs(tiny) < 0.8 * error_discs(_training.OthelloTrainer(1, 1).weights)


def test_is_an_evaluation_for_searches(tiny: bytes) -> None:
    weights = tiny
    search = _native.OthelloSearch(1, _native.OthelloEvaluation(weights))
    corner_to_take, corner_to_lose = (1 << 9 | 1 << 18, 1 << 27), (1 << 27, 1 << 9 | 1 << 18)
    assert search.evaluate(corner_to_take) != search.evaluate(corner_to_lose)
    trainer = _training.OthelloTrainer(1, 1)
    trainer.set_weights(weights)
    assert trainer.weights == weights


def test_same_seed_same_weights_with_any_number_of_threads(tiny: bytes, written: Path) -> None:
    weights, facts = trained("--threads", "3")
    assert weights == tiny
    card = json.loads(written.with_suffix(".json").read_text())
    assert facts["sweeps"] == card["sweeps"]
    assert facts["against_exact_results"] == card["against_exact_results"]


def test_other_seeds_learn_other_things_and_a_sweep_may_start_from_weights(
    tiny: bytes, written: Path
) -> None:
    further, _ = trained("--start", str(written), "--seed", "2", "--sweeps", "40", "--checks", "0")
    other_seed, _ = trained("--seed", "2", "--sweeps", "40", "--checks", "0")
    assert other_seed != tiny
    assert error_discs(further) < error_discs(other_seed)


def test_writes_a_card_that_tells_how_the_weights_were_made(written: Path) -> None:
    card = json.loads(written.with_suffix(".json").read_text())
    assert card["command"].startswith("python -m lab.training.othello_patterns --sweeps 150")
    assert card["seed"] == 1
    assert set(card["sweeps"][0]) == {"games", "positions", "held_out", "rms_error_by_empties"}
    assert set(card["against_exact_results"]) == {"8"}
    assert card["matches"] == []
    assert card["settings"]["well_played"] == 0.2
    assert card["settings"]["result_share"] == 0.4
    assert card["settings"]["parity_games"] == 4
    assert len(card["parity_constants_by_empties"]) == 61
    assert any(card["parity_constants_by_empties"])


def test_a_parity_constant_is_added_for_every_number_of_moves(tiny: bytes) -> None:
    """And to nothing else: each position reads one entry of the table of its mover's moves."""
    trainer = _training.OthelloTrainer(3, 1)
    trainer.set_weights(tiny)
    constants = trainer.settle_parity(2, 3)
    shift = [after - before for before, after in zip(units_of(tiny), units_of(trainer.weights), strict=True)]
    for stage in range(othello_patterns.STAGES):
        start = stage * othello_mirror.STAGE_SIZE
        movers = slice(start + othello_mirror.PATTERN_WEIGHTS, start + othello_mirror.STAGE_SIZE - MOBILITIES)
        assert shift[movers] == pytest.approx([25 * constants[stage + 1]] * MOBILITIES, abs=0.51)
    assert sum(map(bool, shift)) <= othello_patterns.STAGES * MOBILITIES


def test_odd_and_even_depths_agree_on_average_in_the_end(tiny: bytes) -> None:
    """A constant changes no choice of a player: measured again, the same games leave nothing to add."""
    trainer = _training.OthelloTrainer(3, 1)
    biased = list(units_of(tiny))
    for stage in range(othello_patterns.STAGES):  # two discs against the side that is to move
        start = stage * othello_mirror.STAGE_SIZE + othello_mirror.PATTERN_WEIGHTS
        biased[start : start + MOBILITIES] = [unit - 50 for unit in biased[start : start + MOBILITIES]]
    trainer.set_weights(struct.pack(f"<{len(biased)}h", *biased))
    first = trainer.settle_parity(10, 3)
    again = trainer.settle_parity(10, 3)
    assert sum(first[10:45]) / 35 > 1.0
    assert max(map(abs, again[10:45])) < 0.35


def test_results_of_well_played_games_count() -> None:
    """Without a share in the labels, results make no difference; with one they do."""
    labels = {share: learned_error(share) for share in (0.0, 0.4)}
    assert labels[0.0] != labels[0.4]


def learned_error(result_share: float) -> float:
    """Error at 7 empty squares, the first labels that are not exact here."""
    trainer = _training.OthelloTrainer(1, 1)
    trainer.play(100, 1, 0.2)
    error = 0.0
    for stage in range(7):
        _, _, error, *_ = trainer.learn(stage, 4, 6, 1, 0.008, 0.008, 30.0, 0.5, result_share)
    return error


@pytest.mark.parametrize(
    ("arguments", "complaint"),
    [
        (["--sweeps", "10,0"], "must be 1 or more"),
        (["--sweeps", "many"], "invalid"),
        (["--label-depth", "2"], "label_depth must be 3 .. 12"),
        (["--well-played", "1.5"], "well_played must be 0 .. 1"),
        (["--result-share", "-1"], "result_share must be 0 .. 1"),
        (["--parity-depth", "4"], "--parity-depth: must be odd"),
        (["--out", "/nowhere/at/all.xz"], "not a folder"),
        (["--start", "/nowhere/at/all.xz"], "No such file"),
        (["--first-rate", "0.5"], "rates must be"),
    ],
)
def test_bad_settings_are_refused(
    arguments: list[str], complaint: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    with pytest.raises(SystemExit):
        othello_patterns.main(["--sweeps", "10", "--out", str(tmp_path / "w.xz"), *arguments])
    told = capsys.readouterr()
    assert complaint in told.err
    assert "games" not in told.out, "it has played before it complained"


def test_the_core_refuses_bad_settings_too() -> None:
    with pytest.raises(ValueError, match="depth must be odd"):
        _training.OthelloTrainer(1, 1).settle_parity(1, 4)


def test_weights_of_a_wrong_length_are_refused() -> None:
    with pytest.raises(ValueError, match="bytes, not 3"):
        _training.OthelloTrainer(1, 1).set_weights(b"abc")


def test_only_the_first_of_equal_entries_has_a_weight(tiny: bytes) -> None:
    """The rim of ten squares read from its other end is the same rim: about half its entries are spare."""
    weights = tiny
    size = len(weights) // 2 // othello_patterns.STAGES
    stage = struct.unpack_from(f"<{size}h", weights, 2 * size * 5)
    rim = stage[3**9 + 3**10 :][: 3**10]  # the third pattern; its digits 0 and 7 are the corners
    assert any(rim)
    assert rim[2 * 3**7] == 0  # h1 the waiter's, the same as a1 the waiter's


def test_the_header_of_probcut_is_where_the_core_reads_it() -> None:
    assert othello_probcut.HEADER.is_file()
