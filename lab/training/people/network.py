"""The network in PyTorch: residual blocks of 3 x 3 convolutions, scaled and shifted by the person (FiLM).

FiLM: Perez et al. 2018, doi:10.1609/aaai.v32i1.11671. Each block computes ``relu(x + h * sigmoid(g) + t)``:
h is the output of two convolutions, g and t are linear in an embedding of what is known about the person.
"""

import torch
import torch.nn.functional as F  # noqa: N812 (as everybody calls it)
from torch import nn

from lab.training.people.shapes import EMBEDDING, KEY, POLICY, VALUE_HIDDEN, VALUE_PLANES, NetworkSize


class Block(nn.Module):  # type: ignore[misc, unused-ignore]  # untyped without PyTorch
    """One residual block."""

    def __init__(self, channels: int) -> None:
        super().__init__()
        self.first = _convolution(channels, channels)
        self.second = _convolution(channels, channels)
        self.film = nn.Linear(EMBEDDING, 2 * channels)

    def forward(self, x: torch.Tensor, person: torch.Tensor) -> torch.Tensor:
        h = self.second(F.relu(self.first(x)))
        scale, shift = self.film(person)[:, :, None, None].chunk(2, dim=1)
        return F.relu(x + h * torch.sigmoid(scale) + shift)


class ResidualNetwork(nn.Module):  # type: ignore[misc, unused-ignore]
    """Predicts a person's move and the result of the game."""

    def __init__(self, size: NetworkSize) -> None:
        super().__init__()
        shape, channels = size.shape, size.channels
        self.size = size
        self.person = nn.Sequential(
            nn.Linear(len(shape.who_columns), EMBEDDING),
            nn.ReLU(),
            nn.Linear(EMBEDDING, EMBEDDING),
            nn.ReLU(),
        )
        self.stem = _convolution(shape.planes, channels)
        self.blocks = nn.ModuleList(Block(channels) for _ in range(size.blocks))
        self.policy = nn.Conv2d(channels, POLICY, 1)
        outputs = 2 * KEY if shape.moves_have_origin else 1 + size.person_planes
        self.moves = nn.Conv2d(POLICY, outputs, 1)
        self.value_planes = nn.Conv2d(channels, VALUE_PLANES, 1)
        self.value_hidden = nn.Linear(VALUE_PLANES * shape.squares + EMBEDDING, VALUE_HIDDEN)
        self.value = nn.Linear(VALUE_HIDDEN, 1)

    def forward(self, board: torch.Tensor, who: torch.Tensor) -> tuple[torch.Tensor, torch.Tensor]:
        """The policy's output and the result's logit for the side to move, shape (n,).

        Args:
            board: Shape (n, planes, rows, columns).
            who: Shape (n, columns).

        Returns:
            The policy has shape (n, squares, squares), logits by origin and target, or (n, 1 + person planes,
            squares), logits by target and the planes to be weighed by a person's vector.
        """
        person = self.person(who)
        x = F.relu(self.stem(board))
        for block in self.blocks:
            x = block(x, person)
        policy, value = F.relu(self.policy(x)), F.relu(self.value_planes(x))
        # Logits need more than the eight bits of bfloat16.
        with torch.autocast(board.device.type, enabled=False):
            moves = self.moves(policy.float()).flatten(2)
            if self.size.shape.moves_have_origin:
                origin, target = moves.chunk(2, dim=1)
                moves = origin.transpose(1, 2) @ target / KEY**0.5
            hidden = torch.cat([value.flatten(1), person], dim=1).float()
            return moves, self.value(F.relu(self.value_hidden(hidden)))[:, 0]


def _convolution(inputs: int, outputs: int) -> nn.Sequential:
    return nn.Sequential(nn.Conv2d(inputs, outputs, 3, padding=1, bias=False), nn.BatchNorm2d(outputs))
