"""Trains the Othello network with PyTorch, within a time budget."""

import math
import signal
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import torch
import torch.nn.functional as F  # noqa: N812 (as everybody calls it)

from engine.human.othello import LEGAL, OTHER, OWN, PLANES, encode
from engine.human.othello_boards import SQUARES, TURNED, upright
from lab.training.human_othello_data import Positions, repeats, weight_of
from lab.training.human_othello_graph import (
    BASE,
    LINE,
    LINES,
    NEAR_POWERS,
    POWERS,
    SLOTS,
    TABLES,
    TRUNK,
    NetworkWeights,
    first_weights,
)

Tensors = dict[str, torch.Tensor]

_NOT_LEGAL = -1e9
_POWERS, _NEAR_POWERS = torch.from_numpy(POWERS), torch.from_numpy(NEAR_POWERS)
_BASE, _SLOTS = torch.from_numpy(BASE), torch.from_numpy(SLOTS.reshape(-1))

_LEARNING_RATE, _TABLE_RATE, _FINAL_LEARNING_RATE_SHARE = 3e-3, 6e-3, 0.01
"""Peak learning rates outside and inside the tables; the fraction of its peak to which each decays."""
_WARM_STEPS = 50
_WEIGHT_DECAY = 0.01
_MAX_GRADIENT_NORM = 1.0
_FORGOTTEN_HISTORY = 0.12
"""Proportion of positions shown without the last move, so that the network does not rely on it."""
_AVERAGED_EVERY, _AVERAGE_KEEPS = 8, 0.98
_SHOWN_KEEPS = 0.98
_REPORT_INTERVAL_S, _CHECKPOINT_INTERVAL_S = 30.0, 180.0


def logits(
    weights: Tensors, squares: torch.Tensor, position: torch.Tensor, square: torch.Tensor
) -> torch.Tensor:
    """The network of `lab.training.human_othello_graph.to_onnx`, for selected squares only.

    Args:
        weights: As in `lab.training.human_othello_graph.first_weights`.
        squares: Input of the network, shape (n, 64, planes).
        position: Index of the position of each legal move.
        square: Square of each legal move.

    Returns:
        Logits, shape (n, 64); squares that are not listed get a probability of almost zero.
    """
    n = len(squares)
    cells = squares[:, :, OWN] + 2 * squares[:, :, OTHER]
    index = (cells @ _POWERS).long() + _BASE
    said = F.embedding(index, weights["lines"]).view(n, 8 * LINES, LINE)
    said = torch.cat([said, said.new_zeros(n, 1, LINE)], 1).index_select(1, _SLOTS)
    seen = torch.cat([squares, said.view(n, SQUARES, 4 * LINE)], 2)
    board = seen.view(n, 8, 8, PLANES + 4 * LINE).permute(0, 3, 1, 2)
    trunk = F.relu(F.conv2d(board, weights["trunk"], padding=1) + weights["trunk_place"])
    trunk = F.relu(trunk + F.conv2d(trunk, weights["residual"], weights["residual_bias"], padding=1))
    trunk = trunk.permute(0, 2, 3, 1).reshape(n, SQUARES, TRUNK)
    whole = F.embedding_bag(index, weights["whole"], mode="sum")
    whole = torch.cat([whole, trunk.mean(1), trunk.amax(1)], 1) @ weights["join_whole"].t()
    row = position * SQUARES + square
    near = F.embedding((cells @ _NEAR_POWERS).view(-1)[row].long(), weights["near"])
    features = torch.cat([seen.view(n * SQUARES, -1)[row], near, trunk.reshape(n * SQUARES, TRUNK)[row]], 1)
    joined = F.relu(features @ weights["join"].t() + whole[position] + weights["join_place"][square])
    joined = F.relu(joined @ weights["second"].t() + weights["second_bias"])
    found = (joined @ weights["last"].t() + features @ weights["direct"].t()).squeeze(1) + weights["prior"][
        square
    ]
    return found.new_full((n * SQUARES,), _NOT_LEGAL).index_put((row,), found).view(n, SQUARES)


@dataclass(frozen=True)
class Budget:
    """Duration and settings of the training."""

    minutes: float
    """The learning rate decays to its final value over this time, regardless of the number of steps."""
    batch: int
    """Number of positions per step."""
    threads: int


@dataclass
class TrainingState:
    """The state of training, as stored in a checkpoint."""

    weights: Tensors
    average: Tensors
    """Moving average of the weights; the result of training."""
    optimiser: Any
    rng: np.random.Generator
    steps: int = 0
    seen: int = 0
    """Number of positions seen, counting repetitions."""
    elapsed_s: float = 0.0
    cpu_s: float = 0.0

    @classmethod
    def fresh(cls, seed: int) -> "TrainingState":
        weights = {
            name: torch.from_numpy(value).requires_grad_() for name, value in first_weights(seed).items()
        }
        tables = [value for name, value in weights.items() if name in TABLES]
        others = [value for name, value in weights.items() if name not in TABLES]
        optimiser = torch.optim.AdamW(
            [
                {
                    "params": others,
                    "lr": _LEARNING_RATE,
                    "highest": _LEARNING_RATE,
                    "weight_decay": _WEIGHT_DECAY,
                },
                {"params": tables, "lr": _TABLE_RATE, "highest": _TABLE_RATE, "weight_decay": 0.0},
            ],
            betas=(0.9, 0.99),
            fused=True,
        )
        average = {name: value.detach().clone() for name, value in weights.items()}
        return cls(weights, average, optimiser, np.random.default_rng(seed))

    def keep(self, path: Path) -> None:
        """Write a checkpoint atomically."""
        content = {
            "weights": {name: value.detach() for name, value in self.weights.items()},
            "average": self.average,
            "optimiser": self.optimiser.state_dict(),
            "rng": self.rng.bit_generator.state,
            "counts": [self.steps, self.seen, self.elapsed_s, self.cpu_s],
        }
        part = path.with_name(path.name + ".part")
        torch.save(content, part)
        part.replace(path)

    @classmethod
    def resume(cls, path: Path) -> "TrainingState":
        """Load a checkpoint.

        Raises:
            ValueError: The file is not a checkpoint of this network.
        """
        try:
            content = torch.load(path, weights_only=True)
            state = cls.fresh(0)
            with torch.no_grad():
                for name, value in state.weights.items():
                    value.copy_(content["weights"][name])
            state.average = content["average"]
            state.optimiser.load_state_dict(content["optimiser"])
            state.rng.bit_generator.state = content["rng"]
            state.steps, state.seen, state.elapsed_s, state.cpu_s = content["counts"]
        except Exception as error:  # torch raises whatever its parsers raise
            reason = str(error).strip().split("\n", 1)[0]
            raise ValueError(f"{path}: not a checkpoint of this network: {reason}") from None
        return state

    def averaged(self) -> NetworkWeights:
        return {name: value.numpy() for name, value in self.average.items()}


class Batches:
    """Draws random positions, in their original orientation.

    Openings that occurred thousands of times are in the table of openings, so the network can see them less
    often: the weight of each of a position's n copies is divided by sqrt(n).
    """

    def __init__(self, positions: Positions, rng: np.random.Generator) -> None:
        self._positions = positions
        self._rng = rng
        self._upto = np.cumsum(weight_of(positions) / np.sqrt(repeats(positions)))

    def draw(self, size: int) -> tuple[torch.Tensor, ...]:
        """Input, positions and squares of the legal moves (as for `logits`), and the squares played."""
        chosen = np.searchsorted(self._upto, self._rng.random(size) * self._upto[-1], side="right")
        part = self._positions.of(np.minimum(chosen, len(self._upto) - 1))
        turn = upright(part.sight.own, part.sight.other).argmax(axis=0)
        sight = part.sight.turned(turn)
        forgotten = self._rng.random(size) < _FORGOTTEN_HISTORY
        sight.placed[forgotten] = 0
        sight.flipped[forgotten] = 0
        squares = encode(sight)
        position, square = np.nonzero(squares[:, :, LEGAL])
        played = TURNED[turn, part.square]
        return tuple(torch.from_numpy(item) for item in (squares, position, square, played))


def rate_share(fraction: float, steps: int) -> float:
    """Learning rate as a fraction of its peak, after this fraction of the budget and this many steps."""
    warm = min(1.0, (steps + 1) / _WARM_STEPS)
    return warm * max(_FINAL_LEARNING_RATE_SHARE, 0.5 + 0.5 * math.cos(math.pi * min(1.0, fraction)))


def learn(
    state: TrainingState,
    positions: Positions,
    budget: Budget,
    checkpoint: Path | None,
    say: Callable[[str], None],
) -> bool:
    """Train until the budget is spent, including time spent before resuming.

    Args:
        state: Updated in place.
        positions: Positions with at least two legal moves.
        checkpoint: File in which to save the state every few minutes; None to save nothing.
        say: Called with each line of progress.

    Returns:
        Whether training ran to the end; False if it was interrupted from the keyboard.
    """
    torch.set_num_threads(budget.threads)
    batches = Batches(positions, state.rng)
    clock = _Clock(state)
    shown_s = saved_s = state.elapsed_s
    loss = right = weight = 0.0
    with _interrupted() as stopped:
        while not stopped() and (fraction := state.elapsed_s / (60 * budget.minutes)) < 1:
            batch = batches.draw(budget.batch)
            found = _step(state, batch, rate_share(fraction, state.steps))
            loss, right, weight = (
                _SHOWN_KEEPS * old + (1 - _SHOWN_KEEPS) * new
                for old, new in zip((loss, right, weight), (*found, 1.0), strict=True)
            )
            clock.note()
            if state.elapsed_s - shown_s >= _REPORT_INTERVAL_S:
                shown_s = state.elapsed_s
                say(
                    f"{state.elapsed_s / 60:6.1f} of {budget.minutes:g} min, {state.seen:9,} positions, "
                    f"{1e6 * state.cpu_s / state.seen:4.0f} us of processor time each: log-loss "
                    f"{loss / weight:.4f}, top-1 {right / weight:.4f}"
                )
            if checkpoint is not None and state.elapsed_s - saved_s >= _CHECKPOINT_INTERVAL_S:
                saved_s = state.elapsed_s
                state.keep(checkpoint)
        if checkpoint is not None:
            state.keep(checkpoint)
        return not stopped()


def _step(state: TrainingState, batch: tuple[torch.Tensor, ...], share: float) -> tuple[float, float]:
    """Take one step of gradient descent; return the log-loss and top-1 accuracy before the step."""
    squares, position, square, played = batch
    for group in state.optimiser.param_groups:
        group["lr"] = share * group["highest"]
    said = logits(state.weights, squares, position, square)
    loss = F.cross_entropy(said, played)
    state.optimiser.zero_grad(set_to_none=True)
    loss.backward()
    torch.nn.utils.clip_grad_norm_(state.optimiser.param_groups[0]["params"], _MAX_GRADIENT_NORM)
    state.optimiser.step()
    state.steps += 1
    state.seen += len(played)
    if state.steps % _AVERAGED_EVERY == 0:
        # At first the average covers the last few hundred steps, or all steps so far.
        keeps = min(_AVERAGE_KEEPS, state.steps / (state.steps + 100))
        for name, value in state.weights.items():
            state.average[name].lerp_(value.detach(), 1 - keeps)
    return loss.item(), (said.argmax(1) == played).float().mean().item()


class _Clock:
    """Adds the elapsed wall-clock and processor time to a training state."""

    def __init__(self, state: TrainingState) -> None:
        self._state = state
        self._last = time.monotonic(), time.process_time()

    def note(self) -> None:
        now = time.monotonic(), time.process_time()
        self._state.elapsed_s += now[0] - self._last[0]
        self._state.cpu_s += now[1] - self._last[1]
        self._last = now


@contextmanager
def _interrupted() -> Iterator[Callable[[], bool]]:
    """The first Ctrl-C (or SIGTERM) ends training after the current step; the second ends the program."""
    pressed = False

    def note(_signal: int, _frame: object) -> None:
        nonlocal pressed
        pressed = True
        for number, before in zip(signals, handlers, strict=True):
            signal.signal(number, before)

    signals = (signal.SIGINT, signal.SIGTERM)
    handlers = [signal.signal(number, note) for number in signals]
    try:
        yield lambda: pressed
    finally:
        for number, before in zip(signals, handlers, strict=True):
            signal.signal(number, before)
