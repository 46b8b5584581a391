"""Randomised decisions: who takes part, the draw itself, and that a record proves all of it."""

import json
import random
from collections.abc import Callable
from dataclasses import replace
from typing import Any

import pytest

from engine.completion import complete
from engine.decision import Decision, PairUse, SearchMode, TrialDraw
from engine.errors import BadSettings, RecordError
from engine.figure_9 import classify_by_figure_9, decision_verdicts
from engine.games import get_rules
from engine.move_chooser import MoveChooser
from engine.opponents.pair_value import PairRatings, pair_model
from engine.params import RandomisedParams, Scale, TrapParams
from engine.randomised import MIN_REPLIES, checksum, selects_trap
from engine.search.profiles import Profiler
from engine.search.reference import Searcher
from engine.search.searchers import NativeSearcher, make_searcher
from engine.stop import StopFlag
from engine.strategies.registry import strategy_named
from engine.time_management import Limits
from engine.variety import RepetitionAvoidance
from engine.verification import verify

TRAP_SEED, SOUND_SEED = 0, (1 << 64) - 1

PLAIN = "4w3/3w1wb1/2w1wb2/1wbbbb2/2wwbb2/2wwbw2/2wwb3/3wb3 w"
"""At depth 6 f7 sets a trap and is worth 62.36 %, d3 sets none and is worth 60.79 %."""
LADDER = "8/4w3/2ww4/1wwwwww1/w1bbb3/3b4/8/8 b"
"""At depth 5, with a threshold of 1 %: f3 and a3, worth more than g3, set traps like b3, trappy's choice."""
CHESS = "rnbqkbn1/ppp1pppr/3p3p/8/4P3/N5P1/PPPP1P1P/R1BQKBNR w KQq - 0 4 moves f1g2"


def decided(
    position: str = PLAIN,
    depth: int = 6,
    seed: int | None = TRAP_SEED,
    *,
    threshold: float = 5.0,
    params: RandomisedParams | None = None,
    strategy: str = "randomised",
    game: str = "othello",
    stop: StopFlag | None = None,
    limits: Limits | None = None,
    searcher: Searcher | None = None,
    ratings: PairRatings | None = None,
) -> Decision:
    rules, trap = get_rules(game), TrapParams(threshold_percent=threshold)
    searcher = searcher or make_searcher(game, 1)
    found = MoveChooser(strategy_named(strategy), rules, trap, searcher, randomised=params, ratings=ratings)
    limits = limits or Limits(depth)
    return found.choose(rules.parse_position(position), limits, stop or StopFlag(), seed=seed)


def draw_of(decision: Decision) -> TrialDraw:
    assert decision.trial_draw is not None
    return decision.trial_draw


# --- The draw -------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("seed", "chance", "is_trap"),
    [
        ("0000000000000000", 0.5, True),
        ("7fffffffffffffff", 0.4999, False),
        ("7ffffffffffff800", 0.5, True),
        ("8000000000000000", 0.5, False),
        ("ffffffffffffffff", 0.9, False),
        ("1999999999999000", 0.1, True),
        ("199999999999b000", 0.1, False),
        ("e666666666665000", 0.9, True),
        ("e666666666668000", 0.9, False),
    ],
)
def test_the_seed_alone_draws(seed: str, chance: float, is_trap: bool) -> None:
    assert selects_trap(seed, chance) is is_trap


@pytest.mark.parametrize("seed", ["", "0", "00000000000000000", "000000000000000G", "FFFFFFFFFFFFFFFF"])
def test_what_is_no_seed(seed: str) -> None:
    with pytest.raises(ValueError, match="not 16 hexadecimal digits"):
        selects_trap(seed, 0.5)


@pytest.mark.parametrize("chance", [0.1, 0.5, 0.7])
def test_its_share_over_two_thousand_seeds(chance: float) -> None:
    rng = random.Random(11)
    share = sum(selects_trap(f"{rng.getrandbits(64):016x}", chance) for _ in range(2000)) / 2000
    assert share == pytest.approx(chance, abs=3 * (chance * (1 - chance) / 2000) ** 0.5)


@pytest.mark.parametrize(("seed", "move"), [(TRAP_SEED, "f7"), (SOUND_SEED, "d3")])
def test_both_moves_are_recorded_whatever_is_drawn(seed: int, move: str) -> None:
    decision = decided(seed=seed)
    draw = draw_of(decision)
    assert (decision.move, decision.search_mode) == (move, SearchMode.TRIAL)
    assert (draw.trap, draw.control, draw.trap_value, draw.control_value) == ("f7", "d3", 6236, 6079)
    assert (draw.params, draw.seed) == (RandomisedParams(), f"{seed:016x}")
    verify(decision)
    read = Decision.from_record(json.loads(json.dumps(decision.to_record())))
    assert read == decision
    verify(read)
    own = decided(strategy="trappy")
    assert (own.move, own.trial_draw) == ("f7", None)
    assert "trial_draw" not in own.to_record()
    for each in (draw.trap, draw.control):
        as_played = replace(decision, move=each)
        assert as_played.is_complete
        assert decision_verdicts(as_played).is_trap is (each == draw.trap)
        found = complete(replace(own, move=each, candidates=decision.candidates), make_searcher("othello", 1),
                         StopFlag())  # fmt: skip
        assert found.chosen == as_played.chosen
    assert complete(decision, make_searcher("othello", 1), StopFlag()) == decision
    assert classify_by_figure_9(decision, decision.chosen.replies[0].reply).reply is not None


def test_the_profiles_are_those_of_a_fresh_search() -> None:
    decision = decided(seed=SOUND_SEED)
    own = replace(decided(strategy="trappy"), move="d3")
    sound = next(each for each in decision.candidates if each.move == "d3")
    own = own.with_chosen(replace(own.chosen, raw_centi=sound.raw_centi, raw_is_bound=False))
    assert complete(own, make_searcher("othello", 1), StopFlag()).chosen.replies == sound.replies


def test_other_games_and_searches() -> None:
    decision = decided(CHESS, 4, game="chess")
    draw = draw_of(decision)
    assert (draw.trap, draw.control, draw.trap_value, draw.control_value) == ("g8f6", "e7e5", 5038, 4924)
    verify(decision)


# --- Who takes part -------------------------------------------------------------------------------------


@pytest.mark.parametrize(("seed", "player"), [(None, "randomised"), (TRAP_SEED, "trappy")])
def test_nothing_is_drawn_against_programs_or_by_other_players(seed: int | None, player: str) -> None:
    decision = decided(seed=seed, strategy=player)
    assert (decision.move, decision.search_mode, decision.trial_draw) == ("f7", "exact", None)
    verify(decision)


@pytest.mark.parametrize(("percent", "takes_part"), [(1.57, True), (1.56, False)])
def test_the_values_are_within_the_budget(percent: float, takes_part: bool) -> None:
    decision = decided(params=RandomisedParams(budget_percent=percent))
    assert (decision.trial_draw is not None) is takes_part
    assert decision.move == "f7"
    verify(decision)


def test_the_two_ratings_tell_whether_the_game_is_undecided(monkeypatch: pytest.MonkeyPatch) -> None:
    by_pair, ratings = RandomisedParams(by_pair=True), PairRatings(1500, 1700)
    plain = decided(ratings=ratings)
    assert draw_of(plain).pair is None  # the params do not say so
    assert draw_of(decided(params=by_pair)).pair is None  # a rating is unknown
    decision = decided(params=by_pair, ratings=ratings)
    model = pair_model("othello")
    assert model is not None
    assert draw_of(decision).pair == PairUse(1500, 1700, model.sha256)
    assert draw_of(decision).sha256 != draw_of(plain).sha256
    read = Decision.from_record(json.loads(json.dumps(decision.to_record())))
    assert read == decision
    verify(read)
    other = replace(draw_of(decision), pair=PairUse(1500, 1900, model.sha256))
    with pytest.raises(RecordError, match="checksum"):
        verify(replace(decision, trial_draw=other))
    with pytest.raises(RecordError, match="its params do not allow that"):
        verify(replace(decision, trial_draw=replace(other, params=RandomisedParams())))
    monkeypatch.setattr("engine.randomised.is_decided", lambda *_: True)
    assert decided(params=by_pair, ratings=ratings).trial_draw is None
    with pytest.raises(RecordError, match="nearly decided"):
        verify(decision)
    # With other coefficients it cannot be recomputed.
    older = replace(draw_of(decision), pair=PairUse(1500, 1700, "0" * 64))
    older = replace(older, sha256=checksum(decision, older))
    verify(replace(decision, trial_draw=older))


@pytest.mark.parametrize(("most", "takes_part"), [(3, True), (2, False)])
def test_the_search_for_the_sound_move_gives_up(most: int, takes_part: bool) -> None:
    decision = decided(LADDER, 5, SOUND_SEED, threshold=1.0, params=RandomisedParams(most_profiles=most))
    assert (decision.trial_draw is not None) is takes_part
    assert decision.move == ("g3" if takes_part else "b3")
    verify(decision)


@pytest.mark.parametrize(
    ("position", "depth", "threshold"),
    [
        (PLAIN, 6, 60.0),  # no trap of such a quality
        ("8/8/5w2/3ww3/3wbb2/3b4/2b5/8 b", 5, 1.0),  # d3, the sound move, leaves one reply
        ("8/8/3w4/2wwb3/1w1wb3/2bwbw2/1b1bb3/4bw2 b", 5, 1.0),  # below 5 % after a4
        ("8/1w3w2/2wbw1b1/2bwwbww/2bwww2/1bwwbbbb/1w1w2b1/3w1bbb b", 5, 0.5),  # above 95 % after g5
        ("8/8/2bw4/3ww3/3wwww1/2bbb3/8/8 w", 5, 2.0),  # d7 is better by 2.18 %
    ],
)
def test_who_does_not_take_part(position: str, depth: int, threshold: float) -> None:
    decision = decided(position, depth, SOUND_SEED, threshold=threshold)
    own = decided(position, depth, strategy="trappy", threshold=threshold)
    assert (decision.move, decision.search_mode, decision.trial_draw) == (own.move, "exact", None)
    verify(decision)


def test_a_decided_game_is_left_alone() -> None:
    """A won ending, with any threshold."""
    rng, rules = random.Random(3), get_rules("othello")
    position = rules.initial()
    while rules.legal_moves(position) and rules.most_plies_left(position) > 6:
        position = rules.play(position, rng.choice(rules.legal_moves(position)))
    decision = decided(rules.position_text(position), 8, SOUND_SEED, threshold=0.01)
    assert decision.trial_draw is None
    verify(decision)


class StoppingSearcher(NativeSearcher):
    """Stops the search from a certain call for the scores of replies on."""

    def __init__(self, calls: int) -> None:
        inner: Any = make_searcher("othello", 1)
        super().__init__(inner._game, inner._core)
        self._left = calls

    def scores_after(self, position: Any, moves: Any, least: int, most: int, stop: StopFlag) -> Any:
        self._left -= 1
        if self._left < 0:
            stop.set()
        return super().scores_after(position, moves, least, most, stop)


@pytest.mark.parametrize(("calls", "is_whole"), [(0, False), (1, True), (2, True)])
def test_a_stop_leaves_the_players_own_choice(calls: int, is_whole: bool) -> None:
    searcher: Any = StoppingSearcher(calls)
    decision = decided(seed=SOUND_SEED, searcher=searcher)
    assert (decision.trial_draw is not None) is (calls == 2)
    assert decision.is_complete is is_whole
    assert decision.move == ("d3" if calls == 2 else "f7")
    verify(decision)


def test_a_stopped_search_draws_nothing() -> None:
    stop = StopFlag()
    stop.set()
    decision = decided(seed=SOUND_SEED, stop=stop)
    assert (decision.depth, decision.trial_draw) == (2, None)
    verify(decision)


def test_only_who_may_draw_keeps_time_for_it() -> None:
    """With six tenths of time or nodes spent, the search for T begins no deeper one."""

    def depths(share: int = 1, **more: Any) -> list[int]:
        found = (Limits(12, nodes=nodes * 10 // share) for nodes in range(600, 12_000, 300))
        return [decided(limits=limits, **more).depth for limits in found]

    own = depths(10, strategy="trappy", seed=None)
    assert depths(10, strategy="trappy") == depths(10, seed=None) == own
    assert all(mine >= its for mine, its in zip(depths(6), own, strict=True))
    assert depths(10) != own


def test_a_detour_from_a_line_played_before_goes_first() -> None:
    rules = get_rules("othello")
    player = MoveChooser(strategy_named("randomised"), rules, TrapParams(), make_searcher("othello", 1))
    avoidance = RepetitionAvoidance((), 500)
    made = player.choose(rules.parse_position(PLAIN), Limits(6), StopFlag(), avoidance, seed=0)
    assert (made.search_mode, made.trial_draw) == ("lot", None)
    verify(made)


def test_the_raw_value_from_a_floor_up() -> None:
    rules = get_rules("othello")
    position = rules.parse_position(PLAIN)
    profiler = Profiler(rules, make_searcher("othello", 1), position, TrapParams(), StopFlag())
    for move in profiler.moves:
        raw = profiler.raw_value(move, 5)
        assert profiler.raw_value_from(move, 5, raw - 1) == (raw, False)
        assert profiler.raw_value_from(move, 5, raw) == (raw, False)
        assert profiler.raw_value_from(move, 5, raw + 1) == (raw, True)
        assert profiler.raw_value_from(move, 5, raw + 9) == (raw + 8, True)


@pytest.mark.parametrize("nodes", [1_000, 5_000, 20_000, 80_000])
def test_nodes_limit_the_draw_as_well(nodes: int) -> None:
    decision = decided(seed=SOUND_SEED, limits=Limits(12, nodes=nodes))
    assert decision.nodes <= 1.3 * nodes + 2_048
    verify(decision)


@pytest.mark.parametrize(
    ("changes", "complaint"),
    [
        ({"chance": 0.09}, "chance is 0.09, must be 0.1 to 0.9"),
        ({"chance": 0.91}, "chance is 0.91"),
        ({"chance": float("nan")}, "chance is nan"),
        ({"budget_percent": 0.0}, "budget_percent is 0.0, must be above 0 and at most 5"),
        ({"budget_percent": 5.1}, "budget_percent is 5.1"),
        ({"most_profiles": 0}, "most_profiles is 0, must be 1 to 100"),
        ({"most_profiles": 101}, "most_profiles is 101"),
    ],
)
def test_settings_that_make_no_sense(changes: dict[str, Any], complaint: str) -> None:
    with pytest.raises(BadSettings, match=complaint):
        RandomisedParams(**changes)
    for sound in ({"chance": 0.1}, {"chance": 0.9}, {"budget_percent": 5}, {"most_profiles": 100}):
        RandomisedParams(**sound)


def test_random_games_verify() -> None:
    rng, rules, searcher = random.Random(2), get_rules("othello"), make_searcher("othello", 1)
    drawn = 0
    for _ in range(12):
        position: Any = rules.initial()
        for _ in range(rng.randrange(4, 20)):
            position = rules.play(position, rng.choice(rules.legal_moves(position)))
        for trap in (TrapParams(threshold_percent=1.0), TrapParams(scale=Scale.EXPECTED)):
            player = MoveChooser(strategy_named("randomised"), rules, trap, searcher)
            decision = player.choose(position, Limits(5), StopFlag(), seed=rng.getrandbits(64))
            verify(decision)
            drawn += decision.trial_draw is not None
            if decision.trial_draw is not None:
                assert len(decision.chosen.replies) >= MIN_REPLIES
                own = MoveChooser(strategy_named("trappy"), rules, trap, searcher).choose(
                    position, Limits(5), StopFlag()
                )
                assert own.move == decision.trial_draw.trap
    assert drawn >= 2


# --- Forgeries ------------------------------------------------------------------------------------------

Forgery = Callable[[dict[str, Any]], object]


def candidate(record: dict[str, Any], move: str) -> Any:
    return next(each for each in record["candidates"] if each["move"] == move)


def set_score(move: str, reply: int, at: int, score: int) -> Forgery:
    def forge(record: dict[str, Any]) -> None:
        candidate(record, move)["replies"][reply]["scores_centi"][at] = score

    return forge


FORGERIES: dict[str, Forgery] = {
    "chance": lambda r: r["trial_draw"]["params"].update(chance=0.6),
    "budget": lambda r: r["trial_draw"]["params"].update(budget_percent=2.5),
    "profiles": lambda r: r["trial_draw"]["params"].update(most_profiles=7),
    "seed": lambda r: r["trial_draw"].update(seed="0000000000000001"),
    "move": lambda r: r.update(move="d3"),
    "trap": lambda r: r["trial_draw"].update(trap="d3"),
    "sound": lambda r: r["trial_draw"].update(control="f7"),
    "trap's value": lambda r: r["trial_draw"].update(trap_value=6237),
    "sound's value": lambda r: r["trial_draw"].update(control_value=6078),
    "a score of the trap": set_score("f7", 0, 0, 777),
    "a score of the sound move": set_score("d3", 0, 0, 777),
    "a reply less": lambda r: candidate(r, "d3")["replies"].pop(),
    "checksum": lambda r: r["trial_draw"].update(sha256="0" * 64),
    "depth": lambda r: r.update(depth=7),
    "threshold": lambda r: r["params"].update(threshold_percent=5.5),
    "engine": lambda r: r.update(engine_version="0.0.1+5"),
}


@pytest.mark.parametrize("forge", FORGERIES.values(), ids=FORGERIES)
def test_what_was_changed_afterwards_is_refused(forge: Forgery) -> None:
    record = json.loads(json.dumps(decided().to_record()))
    forge(record)
    with pytest.raises(RecordError):
        verify(Decision.from_record(record))


def sealed(record: dict[str, Any]) -> Decision:
    """The forged decision with the right checksum."""
    decision = Decision.from_record(record)
    draw, known = draw_of(decision), {each.move for each in decision.candidates}
    if not {draw.trap, draw.control} <= known:
        return decision
    return replace(decision, trial_draw=replace(draw, sha256=checksum(decision, draw)))


def worse(move: str) -> Forgery:
    """As if a better move had never been looked into."""

    def forge(record: dict[str, Any]) -> None:
        candidate(record, move).update(complete=False)

    return forge


def bounded(record: dict[str, Any]) -> None:
    better = candidate(record, "f3")
    better.update(raw_is_bound=True, replies=[], complete=False, trap=None, quality_centi=0.0)
    better.update(raw_centi=1121, adjusted_centi=1121)


@pytest.mark.parametrize(
    ("forge", "complaint"),
    [
        (
            lambda r: r["trial_draw"].update(seed="0000000000000000"),
            "b3 follows|seed 0000000000000000 draws b3",
        ),
        (lambda r: r["trial_draw"].update(seed="f"), "the seed is 'f'"),
        (lambda r: r["trial_draw"].update(trap_value=1), "the draw's values are 1 and"),
        (lambda r: r["trial_draw"].update(control_value=1), "the draw's values are"),
        (lambda r: r["trial_draw"].update(trap="a3"), "a3 was played, but b3 follows"),
        (lambda r: r["trial_draw"].update(control="e3"), "the profile of e3 is incomplete"),
        (lambda r: r["trial_draw"].update(control="a3"), "a3 took part in the random draw, but g3 is the"),
        (lambda r: r["trial_draw"].update(control="h8"), "h8 took part in the random draw, but is not"),
        (
            lambda r: r["trial_draw"]["params"].update(budget_percent=0.1),
            "there was a random draw, but g3 and b3 differ",
        ),
        (lambda r: r["trial_draw"]["params"].update(most_profiles=2), "g3 is number 3 by value"),
        (lambda r: r["params"].update(threshold_percent=90.0), "b3 took part in the random draw, but sets"),
        (lambda r: r.update(strategy="trappy"), "there was a random draw, but g3 was chosen by 'trial'"),
        (lambda r: r.update(search_mode="exact"), "g3 was chosen by 'exact'"),
        (lambda r: r.update(move="a3"), "a3 was played, but seed f+ draws g3"),
        (worse("a3"), "but no move is the best"),
        (lambda r: candidate(r, "f3").update(raw_is_bound=True), "but no move is the best"),
        (bounded, "but no move is the best"),
    ],
)
def test_a_checksum_made_anew_does_not_help(forge: Forgery, complaint: str) -> None:
    record = json.loads(json.dumps(decided(LADDER, 5, SOUND_SEED, threshold=1.0).to_record()))
    verify(sealed(record))
    forge(record)
    with pytest.raises(RecordError, match=complaint):
        verify(sealed(record))


def test_a_profile_lacks_no_legal_reply() -> None:
    record = json.loads(json.dumps(decided(LADDER, 5, SOUND_SEED, threshold=1.0).to_record()))
    replies = candidate(record, "g3")["replies"]
    best = min(reply["scores_centi"][-1] for reply in replies)
    replies.remove(next(reply for reply in replies if reply["scores_centi"][-1] > best))
    with pytest.raises(RecordError, match="g3: its profile does not have the legal replies"):
        verify(sealed(record))


def test_a_draw_without_its_record() -> None:
    with pytest.raises(RecordError, match="the draw is not in the record"):
        verify(replace(decided(), trial_draw=None))
    for name, value in (("seed", 7), ("trap_value", "x"), ("params", {"chance": 2}), ("extra", 1)):
        record = decided().to_record()
        record["trial_draw"][name] = value
        with pytest.raises(RecordError, match="not the record of a decision"):
            Decision.from_record(record)
