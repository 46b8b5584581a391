"""The modules to mutate, the tests that guard them, and the mutants that are always tried."""

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class GuardedModule:
    """A module and the tests that guard it."""

    path: str
    tests: tuple[str, ...]
    """Arguments for pytest, the fastest test files first, because pytest stops at the first failure."""
    sample: int = 16
    """Number of mutants sampled in addition to the fixed ones."""
    fixed: tuple[tuple[str, str], ...] = ()
    """Mutants that are always tried: a source text that occurs exactly once, and its replacement."""

    @property
    def is_native(self) -> bool:
        return self.path.endswith(".hpp")


PROFILE_TESTS = (
    *("tests/engine/native/test_profile.py", "tests/engine/native/test_exact.py"),
    *("-k", "not chess and not xiangqi and not othello"),  # which have no mutant: see native_build.py
)

TEMPTING_TESTS = (
    "tests/engine/native/test_tempting_profile.py",
    *("-k", "not chess and not xiangqi and not othello"),
)

TABLE = (
    GuardedModule(
        "engine/trappy.py",
        ("tests/engine/test_trappy.py",),
        sample=24,
    ),
    GuardedModule(
        "engine/figure_9.py",
        ("tests/engine/test_figure_9.py",),
        fixed=(
            (
                "kind is OutcomeKind.FELL_FOR_PAPER_TRAP and verdicts.trap == judged",
                "verdicts.trap == judged",
            ),
            ("judged.quality >= self.threshold", "judged.quality > self.threshold"),
        ),
    ),
    GuardedModule(
        "engine/bait_rule.py",
        ("tests/engine/test_bait_rule.py",),
        sample=24,
        fixed=(("shallow_scores[reply] >= best_score", "shallow_scores[reply] > best_score"),),
    ),
    GuardedModule(
        "engine/human/reply_forecast.py",
        ("tests/engine/test_bait_rule.py",),
        fixed=(
            ("if p >= MIN_BAIT_P)", "if p > MIN_BAIT_P)"),
            ("ordered[:LIKELIEST]", "ordered"),
            ("self.constant - self.per_cost", "self.constant + self.per_cost"),
        ),
    ),
    GuardedModule(
        "engine/forecasts.py",
        ("tests/engine/test_forecasts.py",),
        fixed=(("replace(made, rule=FORECAST_RULE)", "replace(made, rule=made.rule)"),),
    ),
    GuardedModule(
        "engine/human/xiangqi.py",
        ("tests/engine/human/test_xiangqi.py",),
        fixed=(
            (
                "difference[np.arange(len(board)), first] > 0",
                "difference[np.arange(len(board)), first] < -99",
            ),
            ("if is_symmetric[row]:", "if False:"),
        ),
    ),
    GuardedModule(
        "lab/training/people/elo.py",
        ("tests/lab/training/people/test_elo.py",),
        fixed=(("games < NEW_GAMES", "games <= NEW_GAMES"),),
    ),
    GuardedModule(
        "lab/training/people/measure.py",
        ("tests/lab/training/people/test_measure.py",),
        sample=4,
        fixed=(("games / max(1, games - 1)", "1"), ("scores[rows, played]", "scores[rows, 0]")),
    ),
    GuardedModule(
        "lab/training/people/training.py",
        ("tests/lab/training/people/test_training.py",),
        sample=4,
        fixed=(
            ("self.steps, self.elapsed_s = int", "_, self.elapsed_s = int"),
            ("self._settings.seed, 1, step", "self._settings.seed, 1, 0"),
            ('self.optimiser.load_state_dict(content["optimiser"])', "pass"),
        ),
    ),
    GuardedModule(
        "engine/time_management.py",
        ("tests/engine/test_time_management.py",),
        sample=20,
        fixed=(
            ("long_game if cost_s > 0 else our_moves", "long_game"),
            ("LAG_SAFETY_FACTOR = 1.1", "LAG_SAFETY_FACTOR = 1.0"),
            ("(plies_left + 1)", "plies_left"),
            ("largest_s / 2", "largest_s"),
        ),
    ),
    GuardedModule(
        "engine/tempting.py",
        ("tests/engine/test_tempting.py",),
        sample=24,
        fixed=(("best > WHOLE - params.budget", "best >= WHOLE - params.budget"),),
    ),
    GuardedModule("engine/strategies/proof.py", ("tests/engine/strategies/test_proof.py",)),
    GuardedModule(
        "engine/strategies/records.py",
        (
            *("tests/engine/test_verification.py", "tests/engine/test_trappy.py"),
            *("tests/engine/test_tempting.py", "tests/engine/test_variety.py"),
        ),
    ),
    GuardedModule(
        "engine/human/opponent_value.py",
        ("tests/engine/human/test_opponent_value.py",),
        fixed=(("reply.probability >= params.min_reply_p", "reply.probability > params.min_reply_p"),),
    ),
    GuardedModule(
        "engine/native/search/trap_arithmetic.hpp",
        ("tests/engine/native/test_trap_arithmetic.py", *PROFILE_TESTS),
        sample=24,
    ),
    GuardedModule(
        "engine/native/search/profile.hpp",
        PROFILE_TESTS,
        sample=24,
        fixed=(("reply.scores[deepest] = score;", "reply.scores[deepest] = score + 1;"),),
    ),
    GuardedModule(
        "engine/native/search/tempting_profile.hpp",
        TEMPTING_TESTS,
        sample=24,
        fixed=(("score < certain", "score <= certain"),),
    ),
    GuardedModule(
        "storage/evidence/statistics/encounters.py",
        ("tests/storage/evidence/statistics/test_encounters.py", "-k", "not postgresql"),
    ),
    GuardedModule("storage/evidence/intervals.py", ("tests/storage/evidence/test_intervals.py",)),
    GuardedModule(
        "storage/evidence/inference/any_time.py",
        ("tests/storage/evidence/inference/test_any_time.py",),
        sample=12,
        fixed=(
            (
                "spread = np.maximum(np.bincount(groups, off**2, size), by_person)",
                "spread = np.bincount(groups, off**2, size)",
            ),
            ("np.maximum(self.spread, self.person_spread)", "self.spread"),
        ),
    ),
    GuardedModule(
        "storage/evidence/inference/fixed.py", ("tests/storage/evidence/inference/test_fixed.py",), sample=12
    ),
    GuardedModule(
        "storage/evidence/inference/trial.py", ("tests/storage/evidence/inference/test_trial.py",), sample=12
    ),
    GuardedModule(
        "storage/evidence/inference/games.py", ("tests/storage/evidence/inference/test_games.py",), sample=12
    ),
    GuardedModule(
        "storage/evidence/inference/decisions.py",
        ("tests/storage/evidence/inference/test_decisions.py",),
        sample=12,
    ),
    GuardedModule("bot/game/session.py", ("tests/bot/game/test_session.py",)),
    GuardedModule(
        "bot/game/assignment.py",
        ("tests/bot/game/test_assignment.py",),
        fixed=(("rating >= rule.min_rating", "rating > rule.min_rating"),),
    ),
    GuardedModule("bot/account/challenge_policy.py", ("tests/bot/account/test_challenge_policy.py",)),
    GuardedModule("bot/charts/thinning.py", ("tests/bot/charts/test_thinning.py",), sample=10),
    GuardedModule("bot/charts/numbers.py", ("tests/bot/charts/test_numbers.py",), sample=10),
    GuardedModule("bot/charts/lines.py", ("tests/bot/charts/test_lines.py",), sample=10),
    GuardedModule(
        "bot/match/score.py",
        ("tests/bot/match/test_score.py",),
        fixed=(("min(1.0, max(1 / n, ratio))", "max(1 / n, ratio)"),),
    ),
    GuardedModule(
        "bot/arena/glicko.py",
        ("tests/bot/arena/test_glicko.py",),
        fixed=(("_MAX_DEVIATION = 45.0, 350.0", "_MAX_DEVIATION = 30.0, 350.0"),),
    ),
    GuardedModule(
        "bot/servers/lichess_wire.py",
        ("tests/bot/servers/test_lichess_wire.py", "tests/bot/servers/test_lichess_wire_anything.py"),
        sample=20,
        fixed=(('clock.get("increment") is not None', '"increment" in clock'),),
    ),
    GuardedModule(
        "bot/servers/ggs/wire.py",
        ("tests/bot/servers/ggs/test_wire.py", "tests/bot/servers/ggs/test_transcripts.py"),
        sample=20,
        fixed=(("self._open.length <= MAX_BLOCK_CHARACTERS", "self._open.length < MAX_BLOCK_CHARACTERS"),),
    ),
)
