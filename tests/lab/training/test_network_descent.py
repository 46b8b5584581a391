"""The gradient descent (extra: train); left out where PyTorch is not installed."""

from pathlib import Path
from typing import Any

import numpy as np
import pytest

from lab.training import networks
from lab.training.network_descent import learn
from lab.training.network_samples import Samples
from lab.training.self_play import GAMES
from tests.engine.games.network_mirror import Network
from tests.lab.training.test_self_play import records


@pytest.mark.parametrize("game", sorted(GAMES))
def test_the_learned_network_corrects_the_evaluation(tmp_path: Path, game: str) -> None:
    """Its bytes, in the core's arithmetic, promise the search's scores better than the evaluation alone."""
    path = tmp_path / "games.bin"
    path.write_bytes(records(game, games=6))
    samples = Samples(GAMES[game], [path])
    arguments = [game, str(path), "--out", "x", "--epochs", "30", "--batch", "64", "--threads", "1"]
    options = networks.parser().parse_args([*arguments, "--device", "cpu", "--result-share", "0"])
    said: list[str] = []

    def learned() -> tuple[bytes, dict[str, Any]]:
        return learn(GAMES[game], samples, options, said.append)

    weights, facts = learned()
    assert learned()[0] == weights
    assert facts["rounds"] == 30
    assert facts["steps"] == 30 * (int((~samples.held_out).sum()) // 64)
    assert said[0].startswith("without a network: ")
    assert said[30].startswith("round 30: rms ")

    network, scale = Network(game, weights), GAMES[game].linear().scale_centi[1]
    places = np.flatnonzero(~samples.held_out)[:200]
    padding = GAMES[game].inputs
    views = [[view[view != padding].tolist() for view in both] for both in samples.inputs[places]]
    corrections = np.array([network.correction_centi(mover, other) for mover, other in views])

    def error(centi: Any) -> float:
        promised, target = (1 / (1 + np.exp(-each / scale)) for each in (centi, samples.scores[places]))
        return float(np.sqrt(((promised - target) ** 2).mean()))

    linear = samples.linear[places].astype(float)
    assert error(linear + corrections) < 0.8 * error(linear)
