"""Checks a decision's record against other stored data: its row, game, forecast and earlier random choices.

`engine.verification.verify` recomputes the decision from the record alone, so it cannot detect a record that
is in the wrong row or belongs to another game.
"""

from dataclasses import asdict

from engine.bait_rule import FORECAST_RULE
from engine.decision import Decision
from engine.errors import RecordError
from engine.figure_9 import decision_verdicts
from engine.forecasts import verify_forecast
from engine.game import IllegalMove, continued_position, positions, starting_position
from engine.games import get_rules
from engine.human.model import BadModel
from engine.human.registry import ModelRegistry
from engine.human.reply_forecast import ReplyForecast
from engine.person.card import PersonModel
from engine.person.choice import verify_state_use
from engine.person.faced import person_model_of
from engine.person.prediction import verify_person_use
from storage.maintenance.decision_batches import RecordedDecision
from storage.packing.records import unpack
from storage.records import DecisionState, GameStatus

_MAX_GAMES = 16
"""Number of games whose positions are cached; above 1, because decisions of concurrent games alternate."""


class RecordChecks:
    """Checks records against other rows; remembers the seeds of all random choices already checked.

    Args:
        models: Models of people, with which predictions for known persons are recomputed.
    """

    def __init__(self, models: ModelRegistry) -> None:
        self._models = models
        self._person_models: dict[str, PersonModel | None] = {}
        self.forgotten = 0
        """See `bot.game.recheck.RecheckResults`."""
        self._seeds: dict[str, tuple[int, int, str]] = {}
        self._positions: dict[int, list[str]] = {}

    def check(self, found: RecordedDecision, decision: Decision) -> None:
        """Compare a verified decision with its row, its game, its forecast, and the earlier random choices.

        Args:
            found: The row of the decision.
            decision: The record in the row.

        Raises:
            RecordError: The record contradicts other data; the message says where.
        """
        if found.move != decision.move:
            raise RecordError(f"move is {decision.move} in the record, but {found.move} in its row")
        if found.game != decision.game:
            raise RecordError(f"the record is of {decision.game}, but the game is {found.game}")
        self._check_position(found, decision)
        self._check_forecast(found, decision)
        self._check_state_use(decision)
        if decision.trial_draw is not None:
            self._check_draw(found, decision)

    def _check_position(self, found: RecordedDecision, decision: Decision) -> None:
        is_standing = not found.is_taken_back and found.state is not DecisionState.DROPPED
        if found.game_state is GameStatus.OPEN or not is_standing:  # the moves before it may have changed
            return
        known = self._positions_of(found)
        if found.ply >= len(known):
            raise RecordError(f"its game has {len(found.moves)} moves, too few for ply {found.ply}")
        if known[found.ply] != decision.position:
            raise RecordError(
                f"its game is at {known[found.ply]} at ply {found.ply}, not at {decision.position}"
            )

    def _positions_of(self, found: RecordedDecision) -> list[str]:
        """The positions of a game as text, indexed by the number of moves made."""
        if found.game_id not in self._positions:
            if len(self._positions) == _MAX_GAMES:
                del self._positions[next(iter(self._positions))]
            game = get_rules(found.game)
            start = starting_position(game, found.initial_position)
            try:
                self._positions[found.game_id] = [
                    game.position_text(continued_position(game, position))
                    for position in positions(game, found.moves, start)
                ]
            except IllegalMove as error:
                raise RecordError(f"its game's moves cannot be replayed: {error}") from error
        return self._positions[found.game_id]

    def _check_draw(self, found: RecordedDecision, decision: Decision) -> None:
        draw = decision.trial_draw
        assert draw is not None  # noqa: S101 - by the caller
        selection = found.selection if isinstance(found.selection, dict) else {}
        settings = selection.get("randomised")
        # A record of an older version has no `by_pair`, which it did not know.
        if settings is not None and {"by_pair": False, **settings} != asdict(draw.params):
            raise RecordError(f"it was randomised with {asdict(draw.params)}, but its game has {settings}")
        if "seed" in selection:  # for tests: seeds follow from it
            return
        decision_id, *earlier = self._seeds.setdefault(
            draw.seed, (found.id, found.game_id, decision.position)
        )
        # A move taken back is drawn by the same seed when the position comes again.
        if earlier != [found.game_id, decision.position]:
            raise RecordError(f"its seed {draw.seed} is also that of decision {decision_id}")

    def _check_forecast(self, found: RecordedDecision, decision: Decision) -> None:
        if found.forecast_rule != FORECAST_RULE or not decision.is_complete:
            return
        try:
            forecast = ReplyForecast.from_record(unpack(found.forecast))
        except RecordError as error:
            raise RecordError(f"its forecast: {error}") from error
        if forecast.replies != tuple(each.reply for each in decision_verdicts(decision).replies):
            raise RecordError(f"its forecast does not match the replies to {decision.move}")
        if (forecast.other is None) is not (decision.trial_draw is None):
            raise RecordError("only a randomised decision may have a forecast of the other move")
        self.forgotten += forecast.is_forgotten
        try:
            self._check_person(decision, forecast)
        except RecordError as error:
            raise RecordError(f"its forecast: {error}") from error

    def _check_state_use(self, decision: Decision) -> None:
        """Recompute the replies' probabilities from what the choice used of the person."""
        use = decision.model_use
        if use is None:
            return
        self.forgotten += use.is_forgotten
        model = None if use.state is None else self._person_model(decision.game, use.state.version)
        if model is not None:
            verify_state_use(decision, model)

    def _check_person(self, decision: Decision, forecast: ReplyForecast) -> None:
        """Recompute the probabilities from what the record says of the person."""
        used = forecast.person
        model = None if used is None else self._person_model(decision.game, used.version)
        if model is None:
            return
        verify_forecast(decision, forecast, model)
        other = forecast.other
        if other is not None and other.person is not None:
            verify_person_use(model, other.replies, other.base, other.probabilities, other.person)

    def _person_model(self, game: str, version: str) -> PersonModel | None:
        """How persons are learned in a game; None if the models cannot be used, or are of another version."""
        if game not in self._person_models:
            with self._models.lend(game) as models:
                try:
                    self._person_models[game] = person_model_of(game, models)
                except BadModel:
                    self._person_models[game] = None
        model = self._person_models[game]
        return model if model is not None and model.version == version else None
