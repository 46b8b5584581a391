"""`engine.person.card`: the cards that come with the program, and what a version depends on."""

import json
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from engine.human.model import BadModel
from engine.person.card import PersonCard, person_model
from tests.code_map import ROOT
from tests.engine.person.samples import BASE, model


def test_the_cards_that_come_with_the_program() -> None:
    othello, chess = (person_model(game, None, BASE) for game in ("othello", "chess"))
    assert othello.card.vector is not None
    assert len(othello.card.vector.mean) == 16
    assert chess.card.vector is None
    assert othello.card.memory == chess.card.memory


def test_the_version_depends_on_all_that_moves_a_number() -> None:
    one = model()
    assert one.prior is not None
    others = [
        replace(one, base="9" * 64),
        replace(one, game="chess"),
        replace(one, card=replace(one.card, version="9" * 64)),
        replace(one, prior=replace(one.prior, version="9" * 64)),
        replace(one, prior=None),
    ]
    assert len({each.version for each in (one, *others)}) == 6


def test_a_base_without_a_prior_of_its_own_has_that_of_the_card() -> None:
    one = person_model("chess", model().prior, "9" * 64)
    assert one.tilt == next(iter(one.card.tilt.bases.values()))
    assert (one.uniform, one.forgetting) == (0.003, 0.05)
    weights = one.tilt_weights(None, None)
    assert weights @ one.tilt.grid.points == pytest.approx([0.0, 0.0], abs=1e-3)
    assert person_model("chess", model().prior, BASE).tilt != one.tilt


def content() -> dict[str, Any]:
    memory = {
        "decay": 0.98, "cost": 10.0, "lost": 0.57, "constant": 0.4, "ply": 0.06, "entropy": 1, "visits": 1,
    }  # fmt: skip
    vector = {"network": "1" * 64, "mean": [0.0], "covariance": [[1.0]], "forgetting": 0.05}
    tilt = json.loads((ROOT / "engine/person/games.json").read_text())["tilt"]
    return {"memory": memory, "vector": vector, "tilt": tilt}


def test_bad_cards_are_refused(tmp_path: Path) -> None:
    good = content()
    assert PersonCard.parse(json.dumps(good).encode(), "it").vector is not None
    bad: list[Any] = [
        good | {"vector": good["vector"] | {"covariance": [[1.0, 0.0]]}},
        good | {"vector": good["vector"] | {"covariance": [[-1.0]]}},
        good | {"vector": good["vector"] | {"mean": []}},
        good | {"memory": good["memory"] | {"decay": 1.5}},
        good | {"memory": {}},
        {"memory": good["memory"]},
        good | {"tilt": {}},
        [],
    ]
    for each in bad:
        with pytest.raises(BadModel, match="it: not a card"):
            PersonCard.parse(json.dumps(each).encode(), "it")
    with pytest.raises(BadModel):
        person_model("othello", None, BASE, tmp_path)
