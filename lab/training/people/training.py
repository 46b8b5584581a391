"""Trains a network, with checkpoints from which an interrupted run continues as if nothing had happened.

Each step's batch and masks depend only on the seed and the number of the step, so a checkpoint holds no
random state: only the weights, their average, the optimiser's state and the number of steps.
"""

import math
import os
import time
from collections.abc import Callable, Iterator
from concurrent.futures import Future, ThreadPoolExecutor
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import torch
import torch.nn.functional as F  # noqa: N812 (as everybody calls it)
from numpy.typing import NDArray
from torch import nn

from lab.training.people.network import ResidualNetwork
from lab.training.people.positions import HumanPositions, input_planes, input_who, padded_moves
from lab.training.people.shapes import NetworkSize

MASKED = 0.25
"""Probability that a feature of the person is hidden from the network, independently for each."""
_PERSON_HIDDEN = 0.5
"""Probability that a person's vector is left out."""
_HIGHEST_RATE, _FULL_RATE_BATCH = 2e-3, 1024
"""Peak learning rate, from this batch size on; it falls with the square root for smaller batches."""
_LAST_RATE_SHARE = 0.02
_WARM_STEPS = 300
"""Steps in which the learning rate rises; at most a tenth of a budget in steps."""
_WEIGHT_DECAY = 0.02
_VALUE_WEIGHT = 0.25
"""Weight of the result's log-loss beside the move's."""
_MAX_GRADIENT_NORM = 1.0
_MOST_KEPT = 0.999
"""Share of the average of the weights that a step leaves; less in the first steps."""
_NOT_LEGAL = -1e9
_PREPARED_BATCHES = 4
_REPORT_INTERVAL_S, _CHECKPOINT_INTERVAL_S = 30.0, 120.0


@dataclass(frozen=True)
class TrainingSettings:
    """What a run does; a checkpoint continues only with the same settings, except the budget's size."""

    size: NetworkSize
    seed: int
    batch: int
    """Number of positions per step."""
    steps: int | None
    """Budget in steps; None: the budget is `minutes`."""
    minutes: float | None
    """Budget in wall-clock minutes, added up over all runs; None: the budget is `steps`."""
    persons: int = 0
    """Largest number of a person with a vector."""


class BadCheckpoint(ValueError):
    """A file is not a checkpoint of this run; the message names it and says why."""


class Batch(NamedTuple):
    """Positions as the network's input, with what happened."""

    board: torch.Tensor
    who: torch.Tensor
    person: torch.Tensor
    moves: torch.Tensor
    """Legal moves, padded; shape (n, most)."""
    is_move: torch.Tensor
    played: torch.Tensor
    result: torch.Tensor


class TrainingBatches:
    """The batch of each step: positions in a random order, a new one in each pass over them."""

    def __init__(self, positions: HumanPositions, settings: TrainingSettings) -> None:
        self._positions, self._settings = positions, settings
        self._size = min(settings.batch, len(positions))
        self._per_pass = len(positions) // self._size
        self._pass, self._order = -1, np.empty(0, dtype=np.int64)

    def numbers(self, step: int) -> NDArray[np.int64]:
        """The positions of a step's batch."""
        number, at = divmod(step, self._per_pass)
        if number != self._pass:
            self._order = np.random.default_rng([self._settings.seed, 0, number]).permutation(
                len(self._positions)
            )
            self._pass = number
        return self._order[at * self._size : (at + 1) * self._size]

    def prepare(self, step: int, numbers: NDArray[np.int64]) -> Batch:
        """Encode a step's batch; its random masks depend on the seed and the step."""
        positions = self._positions
        rng = np.random.default_rng([self._settings.seed, 1, step])
        features = positions.features[numbers]
        person = positions.person[numbers].astype(np.int64)
        is_hidden = rng.random(len(numbers)) < _PERSON_HIDDEN
        moves, is_move = padded_moves(positions, numbers)
        return Batch(
            torch.from_numpy(input_planes(self._settings.size.shape, positions, numbers)),
            torch.from_numpy(input_who(features, rng.random(features.shape) < MASKED)),
            torch.from_numpy(np.where(is_hidden, 0, person)),
            torch.from_numpy(moves),
            torch.from_numpy(is_move),
            torch.from_numpy(positions.played[numbers].astype(np.int64)),
            torch.from_numpy(positions.result[numbers]),
        )

    def from_step(self, step: int) -> Iterator[Batch]:
        """The batches from a step on, prepared by another thread."""
        waiting: list[Future[Batch]] = []
        with ThreadPoolExecutor(1) as worker:
            while True:
                while len(waiting) < _PREPARED_BATCHES:
                    waiting.append(worker.submit(self.prepare, step, self.numbers(step)))
                    step += 1
                yield waiting.pop(0).result()


class Learner(nn.Module):  # type: ignore[misc, unused-ignore]
    """The network, and the vectors of the persons it learns from, which are not exported."""

    def __init__(self, settings: TrainingSettings) -> None:
        super().__init__()
        self.network = ResidualNetwork(settings.size)
        planes = settings.size.person_planes
        self.vectors = nn.Embedding(settings.persons + 1, planes, padding_idx=0) if planes else None
        if self.vectors is not None:
            nn.init.normal_(self.vectors.weight, std=0.1)
            with torch.no_grad():
                self.vectors.weight[0] = 0


class TrainingRun:
    """A network in training.

    Args:
        settings: What to train.
        device: Where: ``cpu`` or ``cuda``.
        precision: Type of the convolutions' arithmetic; weights stay in single precision.
    """

    def __init__(
        self, settings: TrainingSettings, device: str = "cpu", precision: torch.dtype = torch.float32
    ) -> None:
        torch.manual_seed(settings.seed)
        self.settings, self.device, self.precision = settings, device, precision
        learner: Any = Learner(settings)  # PyTorch's types lack the memory format
        self.learner: Learner = learner.to(device, memory_format=torch.channels_last)
        self.average = {name: value.clone() for name, value in self._values().items()}
        """Moving average of the weights and of the normalisation's statistics; the result of training."""
        vectors = [] if self.learner.vectors is None else [self.learner.vectors.weight]
        self.optimiser = torch.optim.AdamW(
            [
                {"params": list(self.learner.network.parameters()), "weight_decay": _WEIGHT_DECAY},
                *([{"params": vectors, "weight_decay": 0.0}] if vectors else []),
            ],
            fused=True,
        )
        self.steps = 0
        self.elapsed_s = 0.0
        self._replies = torch.ones(settings.persons + 1, device=device)
        self._compiled = torch.compile(self.learner.network) if device == "cuda" else self.learner.network

    def _values(self) -> dict[str, torch.Tensor]:
        """Everything of the learner that is averaged."""
        return {name: value for name, value in self.learner.state_dict().items() if value.is_floating_point()}

    @property
    def fraction(self) -> float:
        """Share of the budget that is spent."""
        if self.settings.steps is not None:
            return self.steps / self.settings.steps
        return self.elapsed_s / (60 * (self.settings.minutes or 1))

    def train(
        self,
        positions: HumanPositions,
        say: Callable[[str], None],
        checkpoint: Path | None = None,
        *,
        is_stopped: Callable[[], bool] = lambda: False,
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        """Train until the budget is spent or the caller stops it; the last state is in the checkpoint."""
        counts = np.bincount(positions.person, minlength=self.settings.persons + 1)
        self._replies = torch.from_numpy(np.maximum(counts, 1)).float().to(self.device)
        self.learner.train()
        last = shown = saved = clock()
        # Read only when shown: reading a GPU's numbers waits for it.
        loss = torch.zeros(2, device=self.device)
        since = self.steps
        batches = TrainingBatches(positions, self.settings).from_step(self.steps)
        while self.fraction < 1 and not is_stopped():
            loss += self._step(next(batches))
            now = clock()
            self.elapsed_s += now - last
            last = now
            if now - shown >= _REPORT_INTERVAL_S:
                nats, top1 = (loss / (self.steps - since)).tolist()
                speed = self.settings.batch * (self.steps - since) / (now - shown)
                progress = f"{self.fraction:6.1%} step {self.steps:,}"
                say(f"{progress}: {nats:.4f} nats, top-1 {top1:.4f}, {speed:,.0f} positions/s")
                loss, since, shown = torch.zeros_like(loss), self.steps, now
            if checkpoint is not None and now - saved >= _CHECKPOINT_INTERVAL_S:
                self.save(checkpoint)
                saved = now
        batches.close()  # type: ignore[attr-defined]
        if checkpoint is not None:
            self.save(checkpoint)

    def _step(self, batch: Batch) -> torch.Tensor:
        """Take one step of gradient descent; return the move's log-loss and top-1 accuracy before it."""
        batch = Batch(*(values.to(self.device, non_blocking=True) for values in batch))
        board = batch.board.float().to(memory_format=torch.channels_last)
        with torch.autocast(self.device, self.precision, enabled=self.precision != torch.float32):
            moves, value = self._compiled(board, batch.who)
        scores, prior = self._scores(moves, batch)
        nats = F.cross_entropy(scores, batch.played)
        loss: Any = nats + _VALUE_WEIGHT * _value_loss(value, batch.result) + prior
        for group in self.optimiser.param_groups:
            group["lr"] = self._rate()
        self.optimiser.zero_grad(set_to_none=True)
        loss.backward()
        nn.utils.clip_grad_norm_(self.learner.parameters(), _MAX_GRADIENT_NORM)
        self.optimiser.step()
        self.steps += 1
        self._update_average()
        return torch.stack([nats.detach(), (scores.argmax(1) == batch.played).float().mean()])

    def _scores(self, moves: torch.Tensor, batch: Batch) -> tuple[torch.Tensor, torch.Tensor]:
        """Logits of the legal moves, and the penalty of the persons' vectors: -ln of their prior."""
        prior = torch.zeros((), device=self.device)
        if not self.settings.size.shape.moves_have_origin:
            base = moves[:, 0]
            if self.learner.vectors is not None:
                vector = self.learner.vectors(batch.person)
                base = base + torch.einsum("nk,nks->ns", vector, moves[:, 1:])
                prior = (vector.square().sum(1) / 2 / self._replies[batch.person]).mean()
            moves = base
        scores = moves.flatten(1).gather(1, batch.moves)
        return scores.masked_fill(~batch.is_move, _NOT_LEGAL), prior

    def _rate(self) -> float:
        highest = _HIGHEST_RATE * math.sqrt(min(1.0, self.settings.batch / _FULL_RATE_BATCH))
        warm_steps = min(_WARM_STEPS, (self.settings.steps or math.inf) / 10)
        warm = min(1.0, (self.steps + 1) / warm_steps)
        cosine = 0.5 * (1 + math.cos(math.pi * min(1.0, self.fraction)))
        return highest * warm * (_LAST_RATE_SHARE + (1 - _LAST_RATE_SHARE) * cosine)

    def _update_average(self) -> None:
        kept = min(_MOST_KEPT, self.steps / (self.steps + 9))
        values = self._values()
        torch._foreach_lerp_([self.average[name] for name in values], list(values.values()), 1 - kept)

    def averaged(self) -> dict[str, NDArray[np.float32]]:
        """The averaged weights of the network, by their names in `ResidualNetwork`."""
        prefix = "network."
        return {
            name.removeprefix(prefix): value.cpu().contiguous().numpy()
            for name, value in self.average.items()
            if name.startswith(prefix)
        }

    def averaged_vectors(self) -> NDArray[np.float32]:
        """The persons' vectors, shape (persons, planes)."""
        vectors = self.average.get("vectors.weight")
        return np.empty((0, 0), np.float32) if vectors is None else vectors[1:].cpu().numpy()

    def save(self, path: Path) -> None:
        """Write a checkpoint; whatever happens meanwhile, the file is the old one or the new one."""
        content = {
            "settings": asdict(self.settings),
            "learner": self.learner.state_dict(),
            "average": self.average,
            "optimiser": self.optimiser.state_dict(),
            "steps": self.steps,
            "elapsed_s": self.elapsed_s,
        }
        part = path.with_name(path.name + ".part")
        with part.open("wb") as file:
            torch.save(content, file)
            file.flush()
            os.fsync(file.fileno())
        part.replace(path)

    def resume(self, path: Path) -> None:
        """Continue from a checkpoint.

        Raises:
            BadCheckpoint: The file is not a checkpoint, or is one of other settings.
        """
        try:
            content = torch.load(path, weights_only=True, map_location=self.device)
            _require_same(content["settings"], asdict(self.settings))
            self.learner.load_state_dict(content["learner"])
            for name, value in self.average.items():
                value.copy_(content["average"][name])
            self.optimiser.load_state_dict(content["optimiser"])
            self.steps, self.elapsed_s = int(content["steps"]), float(content["elapsed_s"])
        except OSError as error:
            raise BadCheckpoint(f"{path}: {error.strerror}") from None
        except Exception as error:  # torch raises whatever its parsers raise
            reason = str(error).strip().split("\n", 1)[0]
            raise BadCheckpoint(f"{path}: not a checkpoint of this run: {reason}") from None


def _require_same(saved: dict[str, Any], asked: dict[str, Any]) -> None:
    """Raises ValueError if a run with other settings would continue."""
    for name in sorted(asked.keys() - {"steps", "minutes"}):
        if saved[name] != asked[name]:
            raise ValueError(f"its {name} is {saved[name]}, not {asked[name]}")
    if (saved["steps"] is None) != (asked["steps"] is None):
        raise ValueError("its budget is in steps" if asked["steps"] is None else "its budget is in minutes")


def _value_loss(logits: torch.Tensor, result: torch.Tensor) -> torch.Tensor:
    """Mean log-loss of the results that are known."""
    is_known = ~result.isnan()
    losses = F.binary_cross_entropy_with_logits(logits, result.nan_to_num(0.5), reduction="none")
    return (losses * is_known).sum() / is_known.sum().clamp(min=1)


def choose_device(name: str) -> tuple[str, torch.dtype]:
    """The device for a name (``auto``, ``cpu`` or ``cuda``), and the precision it computes fastest in.

    Raises:
        ValueError: There is no such device.
    """
    if name == "auto":
        name = "cuda" if torch.cuda.is_available() else "cpu"
    if name == "cuda":
        if not torch.cuda.is_available():
            raise ValueError("PyTorch finds no GPU here")
        torch.set_float32_matmul_precision("high")
        return name, torch.bfloat16
    has_bf16 = bool(torch.cpu.get_capabilities().get("avx512_bf16", False))
    return name, torch.bfloat16 if has_bf16 else torch.float32
