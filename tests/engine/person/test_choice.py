"""`engine.person.choice`: moves are chosen for what this person plays, and the record says why."""

import json
import random
from collections.abc import Callable
from dataclasses import replace
from functools import lru_cache
from itertools import product
from typing import Any

import pytest

from engine.decision import (
    AdaptedReplies,
    Candidate,
    Decision,
    OpponentModelUse,
    Person,
    PersonUse,
    StateUse,
    without_state,
)
from engine.errors import PrunedRecord, RecordError
from engine.games import get_rules
from engine.human.opponent_model_search import Background, GameModels
from engine.human.shallow import ShallowModel
from engine.move_chooser import MoveChooser
from engine.params import TrapParams
from engine.person.card import PersonModel
from engine.person.choice import ReplyAdapter, verify_state_use
from engine.person.faced import person_model_of, reply_costs_of
from engine.person.prediction import checksum
from engine.person.state import FoldedGame, FoldedReply, KnownPerson, PersonState, fold_games
from engine.pruning import pruned
from engine.search.searchers import make_searcher
from engine.stop import StopFlag
from engine.strategies.registry import strategy_named
from engine.time_management import Limits
from engine.verification import verify
from tests.engine.human.fakes import FakeModel, FakeReplyModel
from tests.engine.human.test_engine_source import first_half
from tests.engine.person.test_faced import FakePlanes, network_of
from tests.engine.positions import random_position
from tests.engine.protocols.test_engine_source import Scripted, source
from tests.engine.protocols.test_uci_scores import MIDDLE_GAMES

OTHELLO = get_rules("othello")
PLIES = 24
DEPTH = Limits(5)
ME = Person(1900)


def models(planes: FakePlanes | None = None) -> GameModels:
    """People who play all replies alike."""
    return GameModels(FakeModel("othello"), FakeReplyModel("othello", pull=0.0), planes=planes)


def model_of(of: GameModels | None = None) -> PersonModel:
    found = person_model_of("othello", of or models())
    assert found is not None
    return found


@lru_cache(maxsize=64)
def position_of(seed: int) -> Any:
    return random_position(OTHELLO, random.Random(seed), PLIES)


def decide(
    seed: int,
    state: PersonState | None,
    kind: str = "calibrated",
    of: GameModels | None = None,
    earlier: tuple[FoldedReply, ...] = (),
    limits: Limits = DEPTH,
    stop: StopFlag | None = None,
) -> Decision:
    known = None if state is None else ReplyAdapter(KnownPerson(state, PLIES + 1, earlier), None)
    chooser = MoveChooser(
        strategy_named(kind), OTHELLO, TrapParams(), make_searcher("othello", 4), models=of or models()
    )
    background = Background((), ME, known)
    return chooser.choose(position_of(seed), limits, stop or StopFlag(), background=background)


def worst_of(candidate: Candidate) -> int:
    """Index of the reply that costs most."""
    return max(range(len(candidate.replies)), key=lambda at: candidate.replies[at].final_centi)


def played(seed: int, candidate: Candidate, index: int, model: PersonModel) -> FoldedReply:
    """The person's reply to one of our moves."""
    before = position_of(seed)
    after = OTHELLO.play(before, OTHELLO.parse_move(before, candidate.move))
    replies = tuple(map(OTHELLO.move_text, OTHELLO.legal_moves(after)))
    costs = reply_costs_of(OTHELLO, after, candidate, model)
    return FoldedReply(
        position=OTHELLO.position_text(after),
        ply=PLIES + 1,
        replies=replies,
        base=(1 / len(replies),) * len(replies),
        costs=costs,
        reply=replies[index],
        judged_cost=costs[index],
    )


def repeated(seed: int, candidate: Candidate, index: int, games: int = 4) -> PersonState:
    """The state of a person who has always replied so to this move."""
    model = model_of()
    game = FoldedGame(is_lost=True, replies=(played(seed, candidate, index, model),), rating=1900.0)
    return fold_games(PersonState(model.version), [game] * games, model)


def other_moves(decision: Decision) -> list[Candidate]:
    """Moves within the budget that are not the best, after which there is an error to make."""
    best = max(each.raw_centi for each in decision.candidates if not each.raw_is_bound)
    return [
        each
        for each in decision.candidates
        if each.value is not None
        and each.move != decision.move
        and each.raw_centi < best
        and abs(best) < 1000
        and len(each.replies) > 2
        and each.replies[worst_of(each)].final_centi - each.raw_centi > 500
    ]


@lru_cache(maxsize=1)
def example() -> tuple[int, Candidate]:
    """A position, and a move that is chosen only against a person who repeats their error after it."""
    for seed in range(60):
        for candidate in other_moves(decide(seed, None)):
            state = repeated(seed, candidate, worst_of(candidate))
            if decide(seed, state).move == candidate.move:
                return seed, candidate
    raise AssertionError


def of_move(decision: Decision, move: str) -> Candidate:
    return next(each for each in decision.candidates if each.move == move)


def probability(decision: Decision, move: str, index: int) -> float:
    found = of_move(decision, move).replies[index].probability
    assert found is not None
    return found


def state_use(decision: Decision) -> StateUse:
    assert decision.model_use is not None
    assert decision.model_use.state is not None
    return decision.model_use.state


def with_use(decision: Decision, use: StateUse | None) -> Decision:
    assert decision.model_use is not None
    return replace(decision, model_use=replace(decision.model_use, state=use))


def test_a_remembered_error_is_played_for() -> None:
    """Without the state, another move is played, and the error has the probability that people give it."""
    seed, candidate = example()
    worst = worst_of(candidate)
    without = decide(seed, None)
    known = decide(seed, repeated(seed, candidate, worst))
    assert without.move != candidate.move == known.move
    assert probability(without, candidate.move, worst) == pytest.approx(1 / len(candidate.replies))
    assert probability(known, candidate.move, worst) > probability(without, candidate.move, worst) + 0.1
    (first, *_) = state_use(known).moves
    assert (first.move, state_use(known).games) == (known.move, 4)
    assert first.person.recalled[worst] > 0
    for each in (without, known):
        verify(each)
        verify_state_use(each, model_of())
        assert Decision.from_record(json.loads(json.dumps(each.to_record()))) == each


def test_all_moves_are_predicted_as_forecasts_are() -> None:
    """Tilt, vector and memory, and the replies of this game so far."""
    seed, candidate = example()
    planes = FakePlanes(network_of(model_of()))
    of = models(planes)
    state = repeated(seed, candidate, worst_of(candidate))
    careless = played(seed, candidate, worst_of(candidate), model_of())
    plain, planed = decide(seed, state), decide(seed, state, of=of)
    later = decide(seed, state, of=of, earlier=(careless,) * 30)
    for each, model in ((plain, model_of()), (planed, model_of(of)), (later, model_of(of))):
        verify(each)
        verify_state_use(each, model)
        for use in state_use(each).moves:
            assert use.person.weights
            assert bool(use.person.shifts) is (each is not plain)
    assert state_use(later).moves[0].person.weights != state_use(planed).moves[0].person.weights


def test_the_best_move_is_in_the_record_beside_the_preferred_one() -> None:
    seed, candidate = example()
    known = decide(seed, repeated(seed, candidate, worst_of(candidate)))
    best = max((each for each in known.candidates if not each.raw_is_bound), key=lambda each: each.raw_centi)
    assert [each.move for each in state_use(known).moves] == [known.move, best.move]
    assert best.move != known.move


class StoppingModel(FakeReplyModel):
    """Stops the search at its n-th answer, in the middle of an iteration."""

    def __init__(self, stop: StopFlag, left: int) -> None:
        super().__init__("othello")
        self._stop = stop
        self._left = left

    def reply_probabilities(self, *about: Any) -> dict[str, float]:
        self._left -= 1
        if not self._left:
            self._stop.set()
        return super().reply_probabilities(*about)


def test_the_record_is_of_the_last_completed_iteration() -> None:
    """A deeper one, which was stopped, has predicted some of the moves again."""
    seed, candidate = example()
    state = repeated(seed, candidate, worst_of(candidate))
    depths = set()
    for at, left in product(range(6), range(3, 20)):
        stop = StopFlag()
        of = GameModels(FakeModel("othello"), StoppingModel(stop, left))
        known = decide(at, state, of=of, limits=Limits(5, nodes=10**8), stop=stop)
        verify_state_use(known, model_of())
        depths.add(known.depth)
    assert depths == {2, 3, 4, 5}


def test_only_the_memory_counts_where_only_likely_replies_are_searched() -> None:
    """A reply that people hardly ever play is searched if this person plays it."""
    seed, candidate = example()
    worst = worst_of(candidate)

    def hardly(index: int) -> FakeModel:
        def answer(game: Any, ask: Any) -> tuple[float, ...]:
            size = len(game.legal_moves(ask.positions[-1]))
            if size <= index or size < 2:
                return (1 / size,) * size
            return tuple(0.001 if at == index else 0.999 / (size - 1) for at in range(size))

        return FakeModel("othello", answer)

    of = GameModels(hardly(worst), FakeReplyModel("othello", pull=0.0))
    state = repeated(seed, candidate, worst)
    without, known = decide(seed, None, "opponent_model", of), decide(seed, state, "opponent_model", of)
    assert not of_move(without, candidate.move).replies[worst].scores_centi
    assert of_move(known, candidate.move).replies[worst].scores_centi
    assert probability(known, candidate.move, worst) > 0.2
    verify(known)
    verify_state_use(known, model_of(of))
    for each in known.candidates:
        if each.move != candidate.move:  # nothing is remembered there
            before = of_move(without, each.move)
            assert [r.probability for r in each.replies] == [r.probability for r in before.replies]
    for use in state_use(known).moves:
        person = use.person
        assert (person.weights, person.shifts, person.costs) == ((), (), ())
        assert any(person.recalled)


def test_a_person_without_memory_changes_nothing_where_only_memory_counts() -> None:
    seed, _ = example()
    state = PersonState(model_of().version, games=3)
    without, known = decide(seed, None, "opponent_model"), decide(seed, state, "opponent_model")
    assert replace(known, time_s=0.0) == replace(without, time_s=0.0)


def test_states_of_other_models_and_games_without_models_are_ignored(caplog: Any) -> None:
    seed, candidate = example()
    state = repeated(seed, candidate, worst_of(candidate))
    other = replace(state, version="e" * 64)
    for kind in ("calibrated", "opponent_model"):
        without = decide(seed, None, kind)
        assert replace(decide(seed, other, kind), time_s=0.0) == replace(without, time_s=0.0)
        guesses = GameModels(ShallowModel("othello"))
        plain, known = decide(seed, None, kind, guesses), decide(seed, state, kind, guesses)
        assert replace(known, time_s=0.0) == replace(plain, time_s=0.0)
    assert not caplog.records


def test_a_state_that_cannot_be_used_costs_no_move(caplog: pytest.LogCaptureFixture) -> None:
    """Here its vector has another size than the network's planes."""
    seed, candidate = example()
    of = models(FakePlanes(network_of(model_of())))
    state = repeated(seed, candidate, worst_of(candidate))
    assert state.vector is not None
    broken = replace(state, vector=replace(state.vector, mean=(0.5,)))
    without, known = decide(seed, None, of=of), decide(seed, broken, of=of)
    assert replace(known, time_s=0.0) == replace(without, time_s=0.0)
    assert len(caplog.records) == 1
    assert "cannot be used" in caplog.text


@pytest.mark.parametrize("kind", ["standard", "trappy", "tempting", "strong"])
def test_other_strategies_play_the_same_with_any_state(kind: str) -> None:
    seed, candidate = example()
    state = repeated(seed, candidate, worst_of(candidate))
    without, known = decide(seed, None, kind), decide(seed, state, kind)
    assert (known.move, known.candidates, known.model_use) == (without.move, without.candidates, None)


def test_records_without_a_person_do_not_grow() -> None:
    seed, _ = example()
    record = decide(seed, None).to_record()
    assert set(record["reckoning"]) == {"value", "person", "human", "trouble"}
    assert Decision.from_record(record).to_record() == record


def test_what_is_erased_is_not_checked_any_more() -> None:
    seed, candidate = example()
    known = decide(seed, repeated(seed, candidate, worst_of(candidate)))
    record = json.loads(json.dumps(known.to_record()))
    left = without_state(record)
    forgotten = Decision.from_record(left)
    assert forgotten.model_use is not None
    assert (forgotten.model_use.state, forgotten.model_use.is_forgotten) == (None, True)
    assert forgotten.candidates == known.candidates
    verify(forgotten)
    verify_state_use(forgotten, model_of())
    assert without_state(left) == left == json.loads(json.dumps(forgotten.to_record()))
    bare = decide(seed, None).to_record()
    assert without_state(bare) == bare
    standard = decide(seed, None, "standard").to_record()
    assert without_state(standard) == standard


def test_a_pruned_record_keeps_what_the_chosen_move_needs() -> None:
    seed, candidate = example()
    known = decide(seed, repeated(seed, candidate, worst_of(candidate)))
    short = pruned(known)
    with pytest.raises(PrunedRecord):
        verify(short)
    verify_state_use(short, model_of())
    first, *others = state_use(short).moves
    changed = replace(first, base=(first.base[0] + 1e-6, *first.base[1:]))
    with pytest.raises(RecordError):
        verify_state_use(with_use(short, replace(state_use(short), moves=(changed, *others))), model_of())


def changed_use(decision: Decision, change: Callable[[AdaptedReplies], AdaptedReplies]) -> Decision:
    """The record with a change of what was used for its move, and a new checksum."""
    use = state_use(decision)
    first, *others = use.moves
    first = change(first)
    replies = [each.reply for each in of_move(decision, first.move).replies]
    person = replace(first.person, sha256=checksum(replies, first.base, first.person))
    return with_use(decision, replace(use, moves=(replace(first, person=person), *others)))


def with_person(change: Callable[[PersonUse], PersonUse]) -> Callable[[AdaptedReplies], AdaptedReplies]:
    return lambda replies: replace(replies, person=change(replies.person))


@pytest.mark.parametrize("kind", ["calibrated", "opponent_model"])
def test_a_changed_record_is_refused(kind: str) -> None:
    """Each number, also if somebody writes a new checksum."""
    seed, candidate = example()
    worst = worst_of(candidate)
    known = decide(seed, repeated(seed, candidate, worst), kind)
    assert known.move == candidate.move
    model = model_of()
    verify_state_use(known, model)
    use = state_use(known)
    changes: dict[str, Callable[[AdaptedReplies], AdaptedReplies]] = {
        "base": lambda each: replace(each, base=(each.base[0] + 0.01, *each.base[1:])),
        "a base is missing": lambda each: replace(each, base=each.base[1:]),
        "recalled": with_person(
            lambda each: replace(each, recalled=(each.recalled[0] + 0.1, *each.recalled[1:]))
        ),
        "nothing recalled": with_person(lambda each: replace(each, recalled=())),
        "own weight": with_person(lambda each: replace(each, own_weight=each.own_weight * 1.1)),
        "games": with_person(lambda each: replace(each, games=each.games + 1)),
        "version": with_person(lambda each: replace(each, version="e" * 64)),
        "costs": with_person(lambda each: replace(each, costs=(0.5,) * len(candidate.replies))),
        "weights": with_person(lambda each: replace(each, weights=() if each.weights else ((3, 1_000_000),))),
    }
    for change in changes.values():
        with pytest.raises(RecordError, match=candidate.move):
            verify_state_use(changed_use(known, change), model)
    first, *others = use.moves
    likely = replace(
        candidate_with(known, worst, 0.9), value=of_move(known, known.move).value
    )  # a probability of the move that was played
    with pytest.raises(RecordError, match="do not follow"):
        verify_state_use(known.with_chosen(likely), model)
    for other in (
        replace(use, games=use.games + 1),
        replace(use, version="e" * 64),
        replace(use, moves=(replace(first, move="a9"), *others)),
    ):
        with pytest.raises(RecordError):
            verify_state_use(with_use(known, other), model)
    if kind == "calibrated":
        with pytest.raises(RecordError, match="does not say"):
            verify_state_use(with_use(known, replace(use, moves=tuple(others))), model)


def candidate_with(decision: Decision, index: int, p: float) -> Candidate:
    """The chosen move with another probability of one of its replies."""
    chosen = decision.chosen
    replies = list(chosen.replies)
    replies[index] = replace(replies[index], probability=p)
    return replace(chosen, replies=tuple(replies))


def test_old_records_read_and_verify() -> None:
    seed, _ = example()
    record = decide(seed, None).to_record()
    assert record["reckoning"].keys().isdisjoint({"state", "is_forgotten"})
    decision = Decision.from_record(record)
    assert decision.model_use is not None
    assert decision.model_use == OpponentModelUse(
        decision.model_use.value, ME, decision.model_use.human, "", None, False
    )
    verify(decision)
    verify_state_use(decision, model_of())


@pytest.mark.parametrize("kind", ["calibrated_uci", "opponent_model_uci"])
def test_on_another_engines_scores(kind: str) -> None:
    """What the person repeats is asked about, though hardly anybody plays it."""
    chess = get_rules("chess")
    position = chess.parse_position(MIDDLE_GAMES["chess"])
    of = GameModels(FakeModel("chess", first_half), FakeReplyModel("chess", pull=0.0))
    model = person_model_of("chess", of)
    assert model is not None

    def chosen(state: PersonState | None) -> Decision:
        known = None if state is None else ReplyAdapter(KnownPerson(state, 1), 300.0)
        chooser = MoveChooser(
            strategy_named(kind),
            chess,
            TrapParams(),
            make_searcher("chess", 1),
            source=source(Scripted(), depth=4, candidates=5),
            models=of,
        )
        background = Background((), ME, known)
        return chooser.choose(position, Limits(4), StopFlag(), background=background)

    without = chosen(None)
    replies = tuple(each.reply for each in without.chosen.replies)
    reply = FoldedReply(
        position=chess.position_text(chess.play(position, chess.parse_move(position, without.move))),
        ply=1,
        replies=replies,
        base=tuple(each.probability or 0.0 for each in without.chosen.replies),
        costs=(0.0,) * len(replies),
        reply=replies[-1],
        judged_cost=0.0,
    )
    known = chosen(
        fold_games(PersonState(model.version), [FoldedGame(is_lost=False, replies=(reply,))], model)
    )
    verify(known)
    verify_state_use(known, model)
    again = of_move(known, without.move)
    assert again.replies[-1].scores_centi
    assert (again.replies[-1].probability or 0) > (reply.base[-1]) + 0.2
    assert Decision.from_record(json.loads(json.dumps(known.to_record()))) == known
