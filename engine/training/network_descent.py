"""The gradient descent behind `engine.training.networks`, with PyTorch."""

import argparse
import math
import time
from collections.abc import Callable
from typing import Any

import numpy as np
import torch
import torch.nn.functional as F  # noqa: N812 (as everybody calls it)

from engine.games.networks import BUCKETS, OUTPUT_UNIT, SCORE_UNIT, WIDTH, to_bytes
from engine.training.networks import Samples
from engine.training.self_play import NetworkGame

_LAST_SHARE = 0.003
"""Share of the learning rate left at the end."""
_WARM_STEPS = 200
_LIMIT = 127 / OUTPUT_UNIT
"""Bound for the weights of the second layer."""


class _Model(torch.nn.Module):  # type: ignore[misc, unused-ignore]
    """The network in floating point."""

    def __init__(self, inputs: int) -> None:
        super().__init__()
        self.inputs = torch.nn.Parameter(torch.empty(inputs + 1, WIDTH).uniform_(-1, 1) / math.sqrt(32))
        self.bias = torch.nn.Parameter(torch.full((WIDTH,), 0.1))
        outputs = torch.empty(BUCKETS, 2 * WIDTH).uniform_(-1, 1) / math.sqrt(2 * WIDTH)
        self.outputs = torch.nn.Parameter(outputs)
        self.output_bias = torch.nn.Parameter(torch.zeros(BUCKETS))
        self.padding = inputs

    def forward(self, inputs: torch.Tensor) -> torch.Tensor:
        """Outputs for the inputs of `Samples`, shape (n, 2, 32)."""
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
    """The network in the core's form, and what the card says of it."""
    torch.manual_seed(options.seed)
    device = torch.device(options.device or ("cuda" if torch.cuda.is_available() else "cpu"))
    scale = game.scale_centi()
    inputs = torch.from_numpy(samples.inputs.view(np.int16)).to(device)
    scores = torch.from_numpy(samples.scores).to(device).float()
    results = torch.from_numpy(samples.results).to(device).float() / 2
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
    way = 0.0
    epoch = 0
    while way < 1:
        epoch += 1
        order = known[torch.randperm(len(known), device=device)]
        total = torch.zeros((), device=device)
        count = 0
        for batch in order[: batches * options.batch].split(options.batch):
            way = max(step / steps, (time.monotonic() - began) / options.seconds)
            if way >= 1:
                break
            step += 1
            count += 1
            rate = options.rate * min(1.0, step / _WARM_STEPS)
            rate *= _LAST_SHARE + (1 - _LAST_SHARE) * 0.5 * (1 + math.cos(math.pi * way))
            optimiser.param_groups[0]["lr"] = rate
            promised = torch.sigmoid(model(inputs[batch].int()) * SCORE_UNIT / scale)
            loss = (promised - targets[batch]).square().mean()
            optimiser.zero_grad(set_to_none=True)
            loss.backward()  # type: ignore[no-untyped-call, unused-ignore]
            optimiser.step()
            with torch.no_grad():
                model.outputs.clamp_(-_LIMIT, _LIMIT)
            total += loss.detach()
        error = _error(model, inputs, targets, unknown, scale, options.batch)
        say(
            f"round {epoch}: rms {math.sqrt(float(total) / max(1, count)):.5f}, held out {error:.5f},"
            f" {time.monotonic() - began:.0f} s"
        )
    outputs = model.outputs.view(BUCKETS, 2, WIDTH)
    parts = [
        part.detach().float().cpu().numpy()
        for part in (model.inputs[: game.inputs], model.bias, outputs, model.output_bias)
    ]
    facts = {
        "rounds": epoch,
        "steps": step,
        "seconds": round(time.monotonic() - began),
        "rms_error_held_out": round(error, 5),
        "expected_scale_centi": scale,
        "torch": str(torch.__version__),
    }
    return to_bytes(parts[0], parts[1], parts[2], parts[3]), facts


@torch.no_grad()  # type: ignore[untyped-decorator, unused-ignore]
def _error(
    model: _Model, inputs: torch.Tensor, targets: torch.Tensor, places: torch.Tensor, scale: float, batch: int
) -> float:
    """Root mean square error of the expected result."""
    total = 0.0
    for part in places.split(batch):
        promised = torch.sigmoid(model(inputs[part].int()) * SCORE_UNIT / scale)
        total += float((promised - targets[part]).square().sum())
    return math.sqrt(total / max(1, len(places)))
