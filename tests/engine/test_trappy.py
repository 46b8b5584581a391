"""The trap arithmetic: the papers' numbers, and properties that must hold for all numbers."""

from dataclasses import replace

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from engine.decision import Candidate, Decision, ReplyProfile
from engine.errors import RecordError
from engine.expected import WHOLE
from engine.game import WIN_CENTI
from engine.params import Assessment, DecidedScores, Scale, TrapParams
from engine.strategies.standard import STANDARD
from engine.strategies.trappy import TRAPPY
from engine.trappy import (
    assess_shallow_scores,
    bonus,
    bonus_cap,
    escape_trappiness,
    is_swindle,
    max_standing,
    quality_ceiling,
    reply_quality,
    reply_trappiness,
    scale,
    standing,
    trappiness,
    utility,
    with_trap,
)
from engine.verification import verify
from lab.experiments.gordon_reda.formulas import trappiness_minimising
from tests.engine.decisions import decision_with

PAPER = TrapParams(decided=DecidedScores.PAPER)
EXPECTED = TrapParams(scale=Scale.EXPECTED, risk_percent=5, logistic_centi=200)
scores = st.integers(-6400, 6400)
margins = st.sampled_from([0, 50, 400])


def candidate(move: str, raw: int, *replies: tuple[str, tuple[int, ...]]) -> Candidate:
    profiles = tuple(ReplyProfile(reply, row) for reply, row in replies)
    return with_trap(Candidate(move, raw, False, raw, replies=profiles, complete=True), PAPER)


def test_only_a_lost_game_is_a_swindle() -> None:
    lost, held = candidate("a", -WIN_CENTI), candidate("b", 1 - WIN_CENTI)
    swindle = replace(PAPER, decided=DecidedScores.SWINDLE)
    assert is_swindle([lost, lost], swindle)
    assert not is_swindle([lost, held], swindle)
    assert not is_swindle([lost, lost], PAPER)


# --- The papers' numbers --------------------------------------------------------------------------------


def test_figure_4() -> None:
    """Reply "$": scores o_3 .. o_9 with median 6, o_10 = -12; the move's raw value is 6."""
    opponents_view = (4, 5, 6, 6, 7, 8, 9, -12)
    ours = tuple(-score for score in opponents_view)
    assert assess_shallow_scores(opponents_view[:-1], Assessment.MEDIAN) == 6
    assert trappiness(6, -12) == pytest.approx(0.7917, abs=5e-5)
    assert reply_trappiness(ours, PAPER) == pytest.approx(0.75 + 0.25 * 6 / 36)
    assert ours[-1] - 6 == 6  # the profit
    assert reply_quality(ours, 6, PAPER) == pytest.approx(4.75)


def test_figure_8() -> None:
    """E6 (raw 400, a profit of 100 at trappiness 0.6) is adjusted to 448 and beats F5 (400, no trap)."""
    assert 400 + scale(0.6 * 100, 400) == pytest.approx(448)
    for quality in (100, 101, 5000):
        assert -50 + scale(quality, -50) == pytest.approx(-37.5)
    # M = -500 for the opponent, and a gap of 0.8 M makes trappiness 0.6.
    e6 = candidate("e6", 400, ("b4", (-400, -400)), ("f7", (100, 500)))
    f5 = candidate("f5", 400, ("b4", (-400, 400)))
    assert e6.trap == "f7"
    assert [e6.quality_centi, e6.adjusted_centi] == pytest.approx([60, 448])
    assert f5.trap is None
    assert TRAPPY.best_move([f5, e6], PAPER) == "e6"
    assert STANDARD.best_move([f5, e6], PAPER) == "f5"


@pytest.mark.parametrize("raw", [400, -400, 7, 1])
def test_figure_5_joints(raw: int) -> None:
    size = abs(raw)
    for joint, value in ((size / 4, 0.2 * size), (2 * size, 0.25 * size)):
        for near in (joint * (1 - 1e-9), joint, joint * (1 + 1e-9)):
            assert scale(near, raw) == pytest.approx(value, rel=1e-6)


@pytest.mark.parametrize(
    ("upper", "final", "value"),
    [
        (-1, 0, 0),
        (0, 0, 0),
        (1, 0, 1),
        (-12, -12, 0),
        (0, -12, 0.75),
        (36, -12, 1),
        (24, 12, 0.75),
        (60, 12, 1),
    ],
)
def test_figure_3_joints(upper: int, final: int, value: float) -> None:
    assert trappiness(upper, final) == value
    assert trappiness_minimising(-upper, -final) == value


def test_assessments() -> None:
    shallow = [3, 9, -4, 5]
    assert assess_shallow_scores(shallow, Assessment.MEDIAN) == 4
    assert assess_shallow_scores(shallow, Assessment.BEST) == 9
    assert assess_shallow_scores(shallow, Assessment.LAST) == 5
    with pytest.raises(ValueError, match="shallow"):
        assess_shallow_scores([], Assessment.BEST)


# --- Properties -----------------------------------------------------------------------------------------


@given(scores, scores, margins)
def test_trappiness_is_a_share(upper: int, final: int, margin: int) -> None:
    assert 0 <= trappiness(upper, final, margin) <= 1
    assert trappiness_minimising(upper, final, margin) == trappiness(-upper, -final, margin)


@given(scores, scores, scores, margins)
def test_trappiness_never_falls_as_the_reply_looks_better(a: int, b: int, final: int, margin: int) -> None:
    low, high = sorted((a, b))
    assert trappiness(low, final, margin) <= trappiness(high, final, margin)


@given(scores, scores)
def test_figure_3s_minimising_column(upper: int, final: int) -> None:
    """Written out as printed, it is the mirror of the maximising one."""
    size = abs(final)
    if upper >= final:
        printed = 0.0
    elif upper > final - size:
        printed = 0.75 * (final - upper) / size
    elif upper > final - 4 * size:
        printed = 0.75 + 0.25 * (final - upper - size) / (3 * size)
    else:
        printed = 1.0
    assert trappiness_minimising(upper, final) == pytest.approx(printed)


@given(st.lists(scores, min_size=1, max_size=12), scores, margins, st.sampled_from(Assessment))
def test_quality_never_exceeds_profit(row: list[int], raw: int, margin: int, assessment: Assessment) -> None:
    params = TrapParams(assessment, margin)
    quality = reply_quality(row, raw, params)
    assert 0 <= quality <= max(0, row[-1] - raw)


@given(st.floats(0, 1e6), scores, margins)
def test_the_cap(quality: float, raw: int, margin: int) -> None:
    found = scale(quality, raw, margin)
    assert 0 <= found <= 0.25 * max(abs(raw), margin)
    assert found <= bonus_cap(raw, TrapParams(margin_centi=margin))


@given(st.floats(0, 20_000), st.floats(0, 20_000), scores, margins)
def test_scale_never_falls_as_quality_rises(a: float, b: float, raw: int, margin: int) -> None:
    low, high = sorted((a, b))
    assert scale(low, raw, margin) <= scale(high, raw, margin) + 1e-9


@given(st.integers(-400, 400), st.integers(-300, 300), st.integers(-400, 400), st.sampled_from([0, 30, 200]))
@example(-10, -100, 6, 0)
def test_the_ceiling_of_a_quality(shallow: int, raw: int, final: int, margin: int) -> None:
    """No score up to the bound, and no assessment from the bound up, has a quality above the ceiling."""
    params = TrapParams(Assessment.LAST, margin)
    max_standing = quality_ceiling(shallow, final, raw, params)
    reached = max((reply_quality((shallow, s), raw, params) for s in range(raw + 1, final + 1)), default=0.0)
    assert reached <= max_standing
    assert max_standing <= max(reached * 1.05, reached + 3)  # and it is hardly above what scores reach
    assert quality_ceiling(shallow + 7, final, raw, params) <= max_standing
    assert quality_ceiling(shallow, final + 7, raw, params) >= max_standing


@given(scores, margins)
def test_the_largest_value_rises_with_raw(raw: int, margin: int) -> None:
    """What the pruning at the root rests on."""
    params = TrapParams(margin_centi=margin)
    assert raw + bonus_cap(raw, params) < raw + 1 + bonus_cap(raw + 1, params)


# --- Options --------------------------------------------------------------------------------------------


def test_margin_gives_even_positions_a_bonus() -> None:
    assert scale(100, 0) == 0
    assert scale(100, 0, margin=200) > 0
    assert trappiness(100, 0) == 1
    assert trappiness(100, 0, margin=200) == pytest.approx(0.375)


def test_a_forced_win_gets_no_bonus() -> None:
    raw = WIN_CENTI + 1200
    assert bonus(50_000, raw, TrapParams()) == 0
    assert bonus(50_000, raw, PAPER) == pytest.approx(0.25 * raw, rel=0.2)
    narrow_with_trap = candidate(
        "a1", WIN_CENTI + 200, ("b2", (0, WIN_CENTI + 200)), ("c3", (-900, WIN_CENTI + 6400))
    )
    wide = candidate("h8", WIN_CENTI + 1200, ("b2", (0, WIN_CENTI + 1200)))
    swindle = [with_trap(c, TrapParams()) for c in (narrow_with_trap, wide)]
    assert TRAPPY.best_move(swindle, TrapParams()) == "h8"


def test_a_swindle_sets_the_trap_that_is_hardest_to_see() -> None:
    lost = -WIN_CENTI - 200
    hopeless = candidate("a1", lost + 100, ("b2", (-100, -200, lost + 100)))
    plain_error = candidate("b1", lost, ("b2", (-300, -300, lost)), ("c3", (590, 590, 600)))
    deceptive = candidate("c1", lost - 100, ("b2", (-300, -300, lost - 100)), ("c3", (-900, -900, 600)))
    moves = [with_trap(c, TrapParams(), swindle=True) for c in (hopeless, plain_error, deceptive)]
    assert all(c.adjusted_centi == c.raw_centi for c in moves)
    assert TRAPPY.best_move(moves, TrapParams()) == "c1"
    assert STANDARD.best_move(moves, TrapParams()) == "a1"


@pytest.mark.parametrize(
    "bad",
    [
        {"margin_centi": -1},
        {"threshold_percent": 0},
        {"threshold_percent": 100.5},
        {"threshold_percent": float("nan")},
        {"risk_percent": 0.0},
        {"risk_percent": 100.5},
        {"risk_percent": float("nan")},
        {"risk_share_percent": 0.0},
        {"risk_share_percent": 100.5},
        {"risk_share_percent": float("nan")},
        {"logistic_centi": -1.0},
        {"logistic_centi": 0.5},
        {"logistic_centi": float("inf")},
        {"margin_centi": 100, "scale": Scale.EXPECTED},
    ],
)
def test_bad_parameters_are_refused(bad: dict[str, object]) -> None:
    with pytest.raises(ValueError, match=next(iter(bad))):
        TrapParams(**bad)  # type: ignore[arg-type]


# --- The expected scale ---------------------------------------------------------------------------------

expected_params = st.builds(
    TrapParams,
    assessment=st.sampled_from(Assessment),
    decided=st.sampled_from(DecidedScores),
    scale=st.just(Scale.EXPECTED),
    risk_percent=st.sampled_from([0.5, 5, 12.5, 100]),
    risk_share_percent=st.sampled_from([1, 25, 60, 99.9, 100]),
    logistic_centi=st.sampled_from([1, 150, 803.8, 50_000]),
)
decided_scores = st.integers(WIN_CENTI, WIN_CENTI + 6400)
any_score = scores | decided_scores | decided_scores.map(lambda score: -score)


def test_the_worked_example_of_the_engine_guide() -> None:
    """An even position: no bonus in the paper, a whole risk's worth of it on the expected scale."""
    rows = ("a6", (-60, -40, -80, 0)), ("b4", (-300, -250, -280, 300))
    paper = candidate("m", 0, *rows)
    assert [paper.quality_centi, paper.adjusted_centi] == pytest.approx([225 + 75 * 280 / 900, 0])

    assert [utility(score, EXPECTED) for score in (0, 300, -250, -280, -300)] == [
        5000,
        8176,
        2227,
        1978,
        1824,
    ]
    assert reply_trappiness(rows[1][1], EXPECTED) == pytest.approx(0.75 + 0.25 * (6198 - 2000) / 6000)
    trappy = with_trap(paper, EXPECTED)
    assert trappy.trap == "b4"
    assert trappy.quality_centi == pytest.approx(3176 * 0.924916667, abs=0.01)
    assert trappy.adjusted_centi == pytest.approx(5000 + 400 + 0.05 * (2937.535 - 500) / 1.75, abs=0.01)
    better = Candidate("n", 17, False, utility(17, EXPECTED), complete=True)  # 52.12 %: 0.17 more, no trap
    assert better.adjusted_centi == 5212
    assert TRAPPY.best_move([better, trappy], EXPECTED) == "m"
    assert TRAPPY.best_move([better, paper], PAPER) == "n"
    verify(decision_with([better, trappy], "m", params=EXPECTED))


def test_the_expected_scale_needs_a_logistic_function() -> None:
    open_params = TrapParams(scale=Scale.EXPECTED)
    with pytest.raises(ValueError, match="needs the game's own"):
        utility(0, open_params)
    assert open_params.for_position(150) == replace(open_params, logistic_centi=150)
    assert EXPECTED.for_position(150) == EXPECTED
    assert PAPER.for_position(150) == PAPER


@given(any_score, any_score, expected_params)
@settings(deadline=None)
def test_the_largest_expected_value_never_falls(a: int, b: int, params: TrapParams) -> None:
    """What the pruning at the root rests on: in floating point too, and ties fall to the higher raw value."""
    low, high = sorted((a, b))
    assert utility(low, params) + bonus_cap(low, params) <= utility(high, params) + bonus_cap(high, params)


def test_rounding_lifts_no_bonus_above_its_cap() -> None:
    """Figure 5 just below its last joint, as floating point has it, is above the quarter that follows it."""
    params = TrapParams(scale=Scale.EXPECTED, risk_share_percent=54, logistic_centi=150)
    raw = next(score for score in range(-2000, 0) if utility(score, params) == 23)
    assert 8 * params.risk_share * 23 > 216  # the joint
    assert bonus(216, raw, params) <= bonus_cap(raw, params)


@given(st.lists(any_score, min_size=1, max_size=7), any_score, expected_params)
@settings(deadline=None)
def test_a_bonus_is_never_above_the_risk_nor_lifts_a_move_to_a_forced_win(
    row: list[int], raw: int, params: TrapParams
) -> None:
    quality = reply_quality(row, raw, params)
    assert 0 <= quality <= max(0, utility(row[-1], params) - utility(raw, params))
    found = bonus(quality, raw, params)
    assert 0 <= found <= bonus_cap(raw, params) <= 100 * params.risk_percent
    assert utility(raw, params) + found <= WHOLE
    if utility(raw, params) < WHOLE:
        assert utility(raw, params) + found < WHOLE


@given(st.floats(0, WHOLE), any_score, any_score, any_score, expected_params)
@settings(deadline=None)
def test_the_ceiling_of_an_expected_quality(
    shallow: float, more: int, raw: int, final: int, params: TrapParams
) -> None:
    params = replace(params, assessment=Assessment.LAST)
    row = (more, final)
    bound = min(shallow, utility(more, params))
    reached = reply_quality(row, raw, params)
    for higher in (final, final + 1, final + 350, WIN_CENTI + 6400):
        assert reached <= quality_ceiling(bound, higher, raw, params)


@given(
    st.lists(st.tuples(any_score, st.lists(any_score, min_size=2, max_size=4)), min_size=2), expected_params
)
@settings(deadline=None)
def test_no_more_is_given_up_than_the_risk_and_the_share(
    moves: list[tuple[int, list[int]]], params: TrapParams
) -> None:
    candidates = [
        with_trap(
            Candidate(
                f"m{number}", raw, False, 0.0, replies=(ReplyProfile("r", (*row, raw + abs(row[-1]))),)
            ),
            params,
        )
        for number, (raw, row) in enumerate(moves)
    ]
    played = TRAPPY.best_move(candidates, params)
    raws = {c.move: c.raw_centi for c in candidates}
    best = utility(max(raws.values()), params)
    given_up = best - utility(raws[played], params)
    assert given_up <= 100 * params.risk_percent
    assert given_up <= best * params.risk_share_percent / 100 + 1e-9
    if params.decided is DecidedScores.SWINDLE:  # nor is a forced result ever risked
        assert (raws[played] >= WIN_CENTI) == (max(raws.values()) >= WIN_CENTI)
        assert (raws[played] <= -WIN_CENTI) == (max(raws.values()) <= -WIN_CENTI)


def test_who_has_little_left_risks_little() -> None:
    """Five points of expected score are everything that is left: they are not risked for a trap."""
    best = candidate("a1", -600)
    trap = candidate("b1", -900, ("b2", (-1500, -1500, 300)))  # as deceptive as can be, and worth much
    assert [utility(c.raw_centi, EXPECTED) for c in (best, trap)] == [474, 110]
    flat = replace(EXPECTED, risk_share_percent=100)
    assert TRAPPY.best_move([with_trap(c, flat) for c in (best, trap)], flat) == "b1"
    assert TRAPPY.best_move([with_trap(c, EXPECTED) for c in (best, trap)], EXPECTED) == "a1"
    assert with_trap(trap, EXPECTED).adjusted_centi == pytest.approx(110 * 4 / 3)
    near = candidate("c1", -640, ("b2", (-1500, -1500, 300)))
    assert TRAPPY.best_move([with_trap(c, EXPECTED) for c in (best, near)], EXPECTED) == "c1"


def test_what_is_worth_the_same_falls_to_the_higher_score() -> None:
    """Far ahead every score is worth 100 %, and no trap gains anything."""
    ahead = with_trap(Candidate("a1", 4000, False, 0.0, replies=(ReplyProfile("r", (0, 0, 9000)),)), EXPECTED)
    further = with_trap(Candidate("b1", 4100, False, 0.0), EXPECTED)
    won = with_trap(Candidate("c1", WIN_CENTI, False, 0.0), EXPECTED)
    assert {c.adjusted_centi for c in (ahead, further, won)} == {WHOLE}
    assert TRAPPY.best_move([ahead, further], EXPECTED) == "b1"
    assert TRAPPY.best_move([ahead, further, won], EXPECTED) == "c1"


def test_an_expected_record_comes_back_and_old_ones_are_of_the_paper() -> None:
    made = decision_with(
        [with_trap(Candidate("e6", 400, False, 0.0, complete=True), EXPECTED)], "e6", params=EXPECTED
    )
    verify(made)
    record = made.to_record()
    assert Decision.from_record(record) == made
    del record["params"]["risk_share_percent"]  # and know no share of what is left
    assert Decision.from_record(record).params == replace(EXPECTED, risk_share_percent=100)
    for key in ("scale", "risk_percent", "logistic_centi"):
        del record["params"][key]
    assert Decision.from_record(record).params == TrapParams()


# --- Ties -----------------------------------------------------------------------------------------------


def test_ties_go_to_the_higher_raw_value_then_to_the_first() -> None:
    tied = Candidate("a1", 400, False, 448.0)
    higher = Candidate("b1", 448, False, 448.0)
    assert TRAPPY.best_move([tied, higher], PAPER) == "b1"
    assert TRAPPY.best_move([higher, Candidate("c1", 448, False, 448.0)], PAPER) == "b1"


def test_what_a_lost_move_could_still_be_worth() -> None:
    """Any trap at all, where something was left open that might let us off; else the ones that are known."""
    lost, let_off = -WIN_CENTI - 9000, ReplyProfile("x", (50, 60, 100))
    bare = Candidate("a", lost, False, lost, complete=True)
    known = replace(bare, replies=(let_off,))
    assert 0 < escape_trappiness(known, PAPER) < 1
    for candidate_, best in (
        (bare, 0.0),
        (known, escape_trappiness(known, PAPER)),
        (replace(bare, raw_is_bound=True), 1.0),
        (replace(bare, complete=False), 1.0),
        (replace(known, complete=False, replies=(let_off, ReplyProfile("y", (), 1 - WIN_CENTI))), 1.0),
        (
            replace(known, complete=False, replies=(let_off, ReplyProfile("y", (), -WIN_CENTI))),
            escape_trappiness(known, PAPER),
        ),
    ):
        assert max_standing(candidate_, PAPER, True) == (best, lost)


# --- Verifying and classifying a record -----------------------------------------------------------------


def test_a_sound_record_verifies_and_a_forged_one_does_not() -> None:
    e6 = candidate("e6", 400, ("b4", (-400, 400)), ("f7", (100, 500)))
    f5 = candidate("f5", 400, ("b4", (-400, 400)))
    verify(decision_with([f5, e6], "e6", params=PAPER))
    with pytest.raises(RecordError, match="e6 follows"):
        verify(decision_with([f5, e6], "f5", params=PAPER))
    with pytest.raises(RecordError, match="twice"):
        verify(decision_with([e6, e6], "e6", params=PAPER))
    forged = Candidate("f5", 400, False, 449.0, 60.0, "b4", f5.replies, True)
    with pytest.raises(RecordError, match="recomputed"):
        verify(decision_with([forged, e6], "f5", params=PAPER))


def test_a_bound_that_proves_too_little_is_noticed() -> None:
    e6 = candidate("e6", 400, ("b4", (-400, 400)), ("f7", (100, 500)))
    low = Candidate("a1", 350, raw_is_bound=True, adjusted_centi=350)
    verify(decision_with([low, e6], "e6", params=PAPER))
    high = Candidate("a1", 390, raw_is_bound=True, adjusted_centi=390)
    with pytest.raises(RecordError, match="a1 could stand at"):
        verify(decision_with([high, e6], "e6", params=PAPER))
    open_reply = with_trap(
        Candidate("f5", 400, False, 400, replies=(ReplyProfile("b4", (), bound_centi=470),)), PAPER
    )
    with pytest.raises(RecordError, match="f5 could stand at"):
        verify(decision_with([open_reply, e6], "e6", params=PAPER))
    seen_through = with_trap(
        Candidate("f5", 400, False, 400, replies=(ReplyProfile("b4", (), 470, shallow_bound_centi=469),)),
        PAPER,
    )
    verify(decision_with([seen_through, e6], "e6", params=PAPER))


def test_replies_can_rule_out_a_move_of_bounded_raw_value() -> None:
    e6 = candidate("e6", 400, ("b4", (-400, 400)), ("f7", (100, 500)))
    for bound, is_sound in ((450, True), (470, False)):
        replies = (ReplyProfile("b4", (), bound), ReplyProfile("f7", (300, 380)))
        low = with_trap(Candidate("f5", 400, raw_is_bound=True, adjusted_centi=400, replies=replies), PAPER)
        if is_sound:
            verify(decision_with([low, e6], "e6", params=PAPER))
        else:
            with pytest.raises(RecordError, match="f5 could stand at"):
                verify(decision_with([low, e6], "e6", params=PAPER))


@given(
    st.lists(any_score, min_size=2, max_size=2),
    st.lists(st.lists(any_score, min_size=3, max_size=3), min_size=1, max_size=3),
    st.one_of(
        st.builds(TrapParams, margin_centi=margins, decided=st.sampled_from(DecidedScores)), expected_params
    ),
)
def test_a_move_is_not_worth_more_than_where_its_raw_value_is_bounded(
    raws: list[int], scores_of: list[list[int]], params: TrapParams
) -> None:
    replies = tuple(ReplyProfile(str(n), tuple(found)) for n, found in enumerate(scores_of))
    exact = with_trap(Candidate("a", min(raws), False, 0.0, replies=replies), params)
    bound = with_trap(Candidate("a", max(raws), True, 0.0, replies=replies), params)
    assert standing(exact, params, False) <= max_standing(bound, params, False)


def test_a_move_that_was_never_looked_into_is_noticed() -> None:
    f5 = candidate("f5", 400, ("b4", (-400, 400)))
    for raw, is_sound in ((315, True), (399, False)):
        unprofiled = Candidate("e6", raw, raw_is_bound=False, adjusted_centi=raw)
        decision = decision_with([f5, unprofiled], "f5", params=PAPER)
        if is_sound:
            verify(decision)
        else:
            with pytest.raises(RecordError, match="e6 could stand at"):
                verify(decision)


@pytest.mark.parametrize("player", ["standard", "trappy"])
def test_forged_numbers_are_noticed(player: str) -> None:
    sound = candidate("e6", 400, ("b4", (-400, 400)), ("f7", (100, 500)))
    if player == "standard":
        sound = replace(sound, adjusted_centi=400)
    verify(decision_with([sound], "e6", strategy=player, params=PAPER))
    forgeries = {
        "recomputed": replace(sound, quality_centi=9999.0),
        "scores, not": replace(sound, replies=(*sound.replies, ReplyProfile("h1", (400,)))),
        "below the raw": replace(sound, replies=(*sound.replies, ReplyProfile("h1", (0, 300)))),
        "not the least": replace(sound, replies=sound.replies[1:]),
    }
    for complaint, forged in forgeries.items():
        with pytest.raises(RecordError, match=complaint):
            verify(decision_with([forged], "e6", strategy=player, params=PAPER))
