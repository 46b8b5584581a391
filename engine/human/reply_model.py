"""The interface of calibrated models: the probability of each reply, given all known facts.

A human-move model (`engine.human.model`) sees only the board. A calibrated model also sees the replies'
profiles, the person's rating and clock, and the human-move model's prediction if there is one, so it can
estimate how often people play a bad reply that looks good to a shallow search.
"""

from pathlib import Path
from typing import Any, Protocol

from engine.decision import Candidate, ModelInfo, Person
from engine.game import Game
from engine.human.model import BadModel, checked_distribution
from engine.human.reply_forecast import JudgeTilt


class ReplyModel(Protocol):
    """Predicts a person's reply to one of our moves.  Used by one thread at a time."""

    @property
    def game(self) -> str:
        """Name of the game."""

    @property
    def info(self) -> ModelInfo:
        """Identifies the model; its kind is ``calibrated``."""

    @property
    def trained_with_model(self) -> str:
        """Name of the human-move model whose predictions this model was trained with; empty if none."""

    @property
    def judge_tilt(self) -> JudgeTilt | None:
        """How the judge's costs of the likeliest replies change the probabilities; None if they do not."""

    def reply_probabilities(
        self,
        game: Game[Any],
        after: Any,
        candidate: Candidate,
        human: tuple[float, ...] | None,
        person: Person,
    ) -> dict[str, float]:
        """Estimate the probability of each reply, keyed by the reply's text; the probabilities add up to 1.

        Call `checked_probabilities` instead of calling this directly.

        Args:
            game: The rules.
            after: The position after our move, in which the person is to reply.
            candidate: Our move with its complete profile (`Candidate.complete`): every legal reply, in the
                game's order, with all its scores. Its raw value is the minimum of the replies' last scores.
            human: Each legal reply's probability according to a human-move model, in the same order; None
                without such a model.
            person: The person who replies.

        Raises:
            BadModel: The model fails to make a prediction.
        """


def default_path(game: str, folder: Path = Path(__file__).parent) -> Path:
    """Path of the program's own model for a game, whether or not the file exists."""
    return folder / f"calibrated_{game}.onnx"


def checked_probabilities(
    model: ReplyModel,
    game: Game[Any],
    after: Any,
    candidate: Candidate,
    human: tuple[float, ...] | None,
    person: Person,
) -> dict[str, float]:
    """A model's checked prediction: one number from 0 to 1 for each reply; the numbers add up to 1.

    A forced reply has probability 1; after a move that ends the game, the result is empty.

    Raises:
        IncompleteProfile: The candidate's profile is incomplete.
        ValueError: `human` does not match the candidate's replies.
        BadModel: The model's prediction is not a probability distribution.
    """
    replies = [reply.reply for reply in candidate.replies]
    candidate.require_whole()
    if human is not None and len(human) != len(replies):
        raise ValueError(f"{len(human)} probabilities for {len(replies)} replies to {candidate.move}")
    if len(replies) < 2:
        return dict.fromkeys(replies, 1.0)
    answer, name = model.reply_probabilities(game, after, candidate, human, person), model.info.name
    if set(answer) != set(replies):
        wrong = sorted(set(answer) ^ set(replies))
        raise BadModel(f"{name}: its answer and the replies differ: {', '.join(wrong[:8])}")
    checked = checked_distribution([float(answer[reply]) for reply in replies], name)
    return dict(zip(replies, checked, strict=True))
