"""Gradient descent with PyTorch for `lab.training.networks`."""

import argparse
import math
import time
from collections.abc import Callable
from typing import Any

import numpy as np
import torch
import torch.nn.functional as F  # noqa: N812 (as everybody calls it)

from engine.games.networks import BUCKETS, OUTPUT_UNIT, SCORE_UNIT, WIDTH
from lab.training.network_samples import Samples, to_bytes
from lab.training.self_play import NetworkGame

_FINAL_LEARNING_RATE_SHARE = 0.003
"""Fraction of the learning rate that remains at the end."""
_WARM_STEPS = 100
_LIMIT = 127 / OUTPUT_UNIT
"""Maximum absolute value of the second layer's weights."""


class _Model(torch.nn.Module):  # type: ignore[misc, unused-ignore]
    """The network in floating point."""

    def __init__(self, inputs: int) -> None:
        super().__init__()
        self.inputs = torch.nn.Parameter(torch.empty(inputs + 1, WIDTH).uniform_(-1, 1) / math.sqrt(128))
        self.bias = torch.nn.Parameter(torch.full((WIDTH,), 0.1))
        self.outputs = torch.nn.Parameter(torch.zeros(BUCKETS, 2 * WIDTH))  # no correction at first
        self.output_bias = torch.nn.Parameter(torch.zeros(BUCKETS))
        self.padding = inputs

    def forward(self, inputs: torch.Tensor) -> torch.Tensor:
        """Return the network's outputs; the inputs are as in `Samples`, of shape (n, 2, 32)."""
        n = len(inputs)
        sums = F.embedding_bag(inputs.view(2 * n, 32), self.inputs, mode="sum", padding_idx=self.padding)
        hidden = torch.clamp(sums + self.bias, 0, 1).square().view(n, 2 * WIDTH)
        pieces = (inputs[:, 0] != self.padding).sum(1)
        bucket = torch.clamp((pieces - 1) // 4, 0, BUCKETS - 1)
        every = hidden @ self.outputs.t() + self.output_bias
        return every.gather(1, bucket[:, None]).squeeze(1)


def learn(
    game: NetworkGame, samples: Samples, options: argparse.Namespace, say: Callable[[str], None]
) -> tuple[bytes, dict[str, Any]]:
    """Train the network; return it in the C++ core's format, with its entry in the model card."""
    torch.manual_seed(options.seed)
    if options.threads:
        torch.set_num_threads(options.threads)
    device = torch.device(options.device or ("cuda" if torch.cuda.is_available() else "cpu"))
    scale = game.linear().scale_centi[1]  # in the middlegame
    inputs = torch.from_numpy(samples.inputs.view(np.int16)).to(device)
    scores = torch.from_numpy(samples.scores).to(device).float()
    results = torch.from_numpy(samples.results).to(device).float() / 2
    linear = torch.from_numpy(samples.linear).to(device).float() / scale
    targets = (1 - options.result_share) * torch.sigmoid(scores / scale) + options.result_share * results
    held_out = torch.from_numpy(samples.held_out).to(device)
    known = torch.nonzero(~held_out).squeeze(1)
    unknown = torch.nonzero(held_out).squeeze(1)
    model = _Model(game.inputs).to(device)
    optimiser = torch.optim.Adam(model.parameters(), lr=options.rate, betas=(0.9, 0.999))
    batches = max(1, len(known) // options.batch)
    steps = options.epochs * batches
    began = time.monotonic()
    step = 0

    def predicted_expectation(places: torch.Tensor) -> torch.Tensor:
        correction = model(inputs[places].int()) * SCORE_UNIT / scale
        return torch.sigmoid(linear[places] + correction)

    def error() -> float:
        """Root mean square error of the expected result on the held-out positions."""
        total = 0.0
        with torch.no_grad():
            for part in unknown.split(options.batch):
                total += float((predicted_expectation(part) - targets[part]).square().sum())
        return math.sqrt(total / max(1, len(unknown)))

    before = error()
    say(f"without a network: {before:.5f} on the held-out positions")
    for epoch in range(1, options.epochs + 1):
        order = known[torch.randperm(len(known), device=device)]
        total = 0.0
        for batch in order[: batches * options.batch].split(options.batch):
            rate = options.rate * min(1.0, (step + 1) / _WARM_STEPS)
            rate *= _FINAL_LEARNING_RATE_SHARE + (1 - _FINAL_LEARNING_RATE_SHARE) * 0.5 * (
                1 + math.cos(math.pi * step / steps)
            )
            optimiser.param_groups[0]["lr"] = rate
            step += 1
            loss = (predicted_expectation(batch) - targets[batch]).square().mean()
            optimiser.zero_grad(set_to_none=True)
            loss.backward()  # type: ignore[no-untyped-call, unused-ignore]
            optimiser.step()
            with torch.no_grad():
                model.outputs.clamp_(-_LIMIT, _LIMIT)
            total += float(loss.detach())
        after = error()
        say(
            f"round {epoch}: rms {math.sqrt(total / batches):.5f}, held out {after:.5f},"
            f" {time.monotonic() - began:.0f} s"
        )
    outputs = model.outputs.view(BUCKETS, 2, WIDTH)
    parts = [
        part.detach().float().cpu().numpy()
        for part in (model.inputs[: game.inputs], model.bias, outputs, model.output_bias)
    ]
    facts = {
        "rounds": options.epochs,
        "steps": step,
        "minutes": round((time.monotonic() - began) / 60, 1),
        "rms_error_held_out_before_after": [round(before, 5), round(after, 5)],
        "expected_scale_centi": scale,
        "torch": str(torch.__version__),
    }
    return to_bytes(parts[0], parts[1], parts[2], parts[3]), facts
