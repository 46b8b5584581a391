from lab.experiments.experiment_report import ClaimVerdict
from lab.experiments.gordon_reda.figure_8 import FIGURE_7, STANDARD, Figure8, readings


def test_figure_7_has_one_reading_with_one_misprint() -> None:
    mended = FIGURE_7.split()
    mended[7] = "d2"
    assert list(readings(FIGURE_7.split(), set(STANDARD))) == [mended]
    assert list(readings(mended, set(STANDARD))) == [mended]
    assert list(readings(mended[:-1], set(STANDARD))) == []


def test_only_the_paper_s_own_choices_hold() -> None:
    def value(raw: int, trap: str | None = None, adjusted: int | None = None) -> dict[str, object]:
        return {"raw": raw, "adjusted": adjusted or raw, "quality": 6000, "trap": trap, "best": ["b4"]}

    values = {move: value(round(100 * score)) for move, score in STANDARD.items()}
    values["e6"] = value(40_000, "f7", 44_800)

    def verdicts() -> list[ClaimVerdict]:
        report = Figure8().report({"values at depth 8": values}, None)  # type: ignore[arg-type]
        return [claim.verdict for claim in report.claims]

    assert verdicts() == [ClaimVerdict.HOLDS] * 3
    values["f1"] = value(50_000)
    values["e6"]["best"] = ["b4", "f7"]
    assert verdicts() == [ClaimVerdict.INCONCLUSIVE] * 3
