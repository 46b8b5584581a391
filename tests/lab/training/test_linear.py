"""Tiny trainings from end to end: they learn, they repeat themselves, and bad settings are refused."""

import json
from pathlib import Path
from typing import Any

import pytest

from engine.games.linear_weights import BadWeights, from_card, group_offsets
from lab.training import chess, linear, xiangqi
from lab.training.linear import Subject, card_text, neighbours, scaled, start_weights, to_groups

SUBJECTS = [chess.SUBJECT, xiangqi.SUBJECT]
TINY = (
    "--games", "20,16", "--depths", "2,2", "--epochs", "8", "--match-games", "2", "--match-nodes", "100",
    "--scale-games", "8", "--scale-depth", "2",
)  # fmt: skip


def trained(subject: Subject, *more: str) -> list[dict[str, Any]]:
    return list(linear.train(subject, linear.parser(subject).parse_args([*TINY, *more])))


@pytest.fixture(scope="module", params=SUBJECTS, ids=lambda subject: subject.program.rpartition(".")[2])
def subject(request: pytest.FixtureRequest) -> Subject:
    return request.param  # type: ignore[no-any-return]


@pytest.fixture(scope="module")
def tiny(subject: Subject) -> dict[str, Any]:
    return trained(subject, "--threads", "1")[-1]


def test_learns(tiny: dict[str, Any]) -> None:
    """A handful of games is next to nothing, and yet better than plain material."""
    first = tiny["generations"][0]
    assert first["log_loss_before_after"][1] < first["log_loss_before_after"][0]
    assert first["rms_before_after"][1] < first["rms_before_after"][0]


def test_same_seed_same_weights_with_any_number_of_threads(subject: Subject, tiny: dict[str, Any]) -> None:
    assert trained(subject, "--threads", "3")[-1] == tiny
    assert trained(subject, "--seed", "2")[-1]["weights"] != tiny["weights"]


def test_goes_on_from_weights_and_keeps_those_of_each_generation(
    subject: Subject, tiny: dict[str, Any], tmp_path: Path
) -> None:
    start = tmp_path / "start.json"
    start.write_text(card_text(tiny))
    cards = trained(subject, "--start", str(start), "--threads", "2")
    assert [len(card["weights"]) for card in cards] == [len(subject.groups)] * 3
    assert cards[0]["weights"] != cards[1]["weights"] != tiny["weights"]
    assert cards[1]["weights"] == cards[2]["weights"]


def test_writes_a_card_that_is_weights(subject: Subject, tiny: dict[str, Any], tmp_path: Path) -> None:
    out = tmp_path / "weights.json"
    linear.main(subject, [*TINY, "--out", str(out)])
    card = json.loads(out.read_text())
    assert card.pop("command").startswith(f"python -m {subject.program} --games 20,16")
    assert card == tiny
    weights = from_card(card, subject.groups)
    assert to_groups(weights.to_bytes(), subject.groups) == card["weights"]
    assert min(weights.scale_centi) >= 1


def test_the_unit_is_kept(subject: Subject, tiny: dict[str, Any]) -> None:
    name, places, worth = subject.anchor
    held = tiny["weights"][name]
    mean = sum(held[half][place] for half in held for place in places) / (2 * len(places))
    assert mean == pytest.approx(worth, rel=0.02)


def test_neighbours_are_near_each_other(subject: Subject) -> None:
    first = group_offsets(subject.groups)
    pairs = neighbours(subject)
    assert len(set(pairs)) == len(pairs)
    for name, (rows, columns) in subject.shapes.items():
        own = [p for p in pairs if first[name] <= p[0] < first[name] + subject.groups[name]]
        assert rows * columns == subject.groups[name]
        assert len(own) == rows * (columns - 1) + columns * (rows - 1)
        assert all(b < first[name] + subject.groups[name] for _, b in own)


@pytest.mark.parametrize(
    ("arguments", "complaint"),
    [
        (["--games", "10,0"], "must be 1 or more"),
        (["--depths", "2"], "--depths and --games must have the same length"),
        (["--depths", "2,99"], "depth must be 1 .. 20"),
        (["--random-plies", "5", "4"], "random_plies must be"),
        (["--trace", "2"], "trace must be 0 .. 1"),
        (["--first-rate", "0.01"], "rates must be"),
        (["--out", "/nowhere/at/all.json"], "not a folder"),
        (["--start", "/nowhere/at/all.json"], "No such file"),
    ],
)
def test_bad_settings_are_refused(
    arguments: list[str], complaint: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    with pytest.raises(SystemExit):
        linear.main(chess.SUBJECT, [*TINY, "--games", "1,1", "--out", str(tmp_path / "w.json"), *arguments])
    assert complaint in capsys.readouterr().err


def test_cards_that_hold_something_else_are_refused(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    groups = {"first": 2, "second": 1}
    card: dict[str, Any] = {
        "expected_scale_centi": {"end": 100.0, "middle": 200.0},
        "weights": to_groups(bytes(12), groups),
    }
    assert from_card(card, groups).expected_scale_centi(32) == 150.0
    with pytest.raises(BadWeights, match="the groups are first, second, not second, first"):
        from_card(card, {"second": 1, "first": 2})
    with pytest.raises(BadWeights, match="first has 2 weights, not 3"):
        from_card(card, {"first": 3, "second": 1})
    card["weights"]["second"]["end"] = [1 << 15]
    with pytest.raises(BadWeights, match="second has weights that are not 16-bit integers"):
        from_card(card, groups)
    with pytest.raises(ValueError, match="reshape"):
        to_groups(bytes(10), groups)
    start = tmp_path / "start.json"
    start.write_text(json.dumps(card))
    with pytest.raises(SystemExit):
        linear.main(chess.SUBJECT, [*TINY, "--start", str(start), "--out", str(tmp_path / "w.json")])
    assert "the groups are" in capsys.readouterr().err


def test_weights_of_a_wrong_length_are_refused(subject: Subject) -> None:
    trainer = subject.trainer(1, 1)
    with pytest.raises(ValueError, match="bytes, not 3"):
        trainer.set_start(b"abc")
    with pytest.raises(ValueError, match="bytes, not 3"):
        trainer.match(b"abc", 1, 1)


def test_weights_are_multiplied_to_the_unit(subject: Subject) -> None:
    start = start_weights(subject)
    assert scaled(start, 1.0) == start
    assert linear.unit_scale_factor(subject, scaled(start, 2.0)) == pytest.approx(0.5)
