"""The interface of calibrated models: the probability of each reply, given all we know of a position.

A human-move model (`engine.human.model`) looks at the board alone.  What answers here has the replies'
profiles as well, the person's rating and clock, and the human-move model's word where there is one; so it can
say how often a reply that looks good at a glance and is bad in truth is played.
"""

import math
from collections.abc import Mapping
from pathlib import Path
from typing import Any, Protocol

from engine.decision import Candidate, ModelInfo, Person
from engine.errors import IncompleteProfile
from engine.game import Game
from engine.human.model import MASS_TOLERANCE, BadModel


class ReplyOdds(Protocol):
    """Says what a person will answer to one of our moves.  For one thread at a time."""

    @property
    def game(self) -> str:
        """Name of the game."""

    @property
    def info(self) -> ModelInfo:
        """Which model it is; its kind is ``calibrated``."""

    @property
    def learned_with(self) -> str:
        """Name of the human-move model whose word it was told when it was learned; empty: of none."""

    def odds(
        self,
        game: Game[Any],
        after: Any,
        candidate: Candidate,
        human: tuple[float, ...] | None,
        person: Person,
    ) -> dict[str, float]:
        """The probability of each reply, by its text; they add up to 1.

        Call it through `checked_odds`.

        Args:
            game: The rules.
            after: The position after our move, in which the person is to answer.
            candidate: Our move with its whole profile (`Candidate.complete`): every legal reply, in the
                game's order, with all its scores.  Its raw value is the least of the replies' last scores.
            human: What a human-move model says of each legal reply, in the same order; None: there is none.
            person: Who answers.

        Raises:
            BadModel: The model gives no answer.
        """


def default_path(game: str, folder: Path = Path(__file__).parent) -> Path:
    """Where the model that comes with the program is, if there is one for this game."""
    return folder / f"calibrated_{game}.onnx"


def checked_odds(
    model: ReplyOdds,
    game: Game[Any],
    after: Any,
    candidate: Candidate,
    human: tuple[float, ...] | None,
    person: Person,
) -> dict[str, float]:
    """What a model says, checked: a number from 0 to 1 for each reply, which add up to 1.

    A single reply is certain, and of a move that ends the game there is nothing to say.

    Raises:
        IncompleteProfile: The candidate's profile is not whole.
        ValueError: `human` is not of its replies.
        BadModel: The model answers with something that is no probability.
    """
    replies = [reply.reply for reply in candidate.replies]
    if not candidate.complete or any(not reply.scores_centi for reply in candidate.replies):
        raise IncompleteProfile(f"the profile of {candidate.move} is not whole: its replies have no odds")
    if human is not None and len(human) != len(replies):
        raise ValueError(f"{len(human)} probabilities for {len(replies)} replies to {candidate.move}")
    if len(replies) < 2:
        return dict.fromkeys(replies, 1.0)
    return _checked(model.odds(game, after, candidate, human, person), replies, model.info.name)


def _checked(answer: Mapping[str, float], replies: list[str], name: str) -> dict[str, float]:
    if set(answer) != set(replies):
        wrong = sorted(set(answer) ^ set(replies))
        raise BadModel(f"{name}: its answer and the replies differ: {', '.join(wrong[:8])}")
    odds = [float(answer[reply]) for reply in replies]
    if not all(math.isfinite(p) and 0 <= p <= 1 + MASS_TOLERANCE for p in odds):
        raise BadModel(f"{name}: not probabilities: {', '.join(f'{p:g}' for p in odds[:8])}")
    total = math.fsum(odds)
    if abs(total - 1) > MASS_TOLERANCE:
        raise BadModel(f"{name}: the probabilities of the replies add up to {total:.4f}, not to 1")
    return {reply: p / total for reply, p in zip(replies, odds, strict=True)}
