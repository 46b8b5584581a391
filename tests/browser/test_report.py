"""After the game the page shows the traps, and agrees with the report that it was given."""

import json
import re
from collections.abc import Iterator
from typing import Any

import pytest
from selenium.webdriver import Chrome
from selenium.webdriver.common.by import By
from selenium.webdriver.common.keys import Keys

from tests.browser import axe
from tests.browser.host import Host
from tests.browser.page import Page
from tests.browser.rejudged import rejudged

WIDTHS = (360, 820, 1280)
MOVES = 12
"""Of the person, who then resigns: later ones would be reported like these."""
TOO_WIDE = """
    const isWide = (box) => box.scrollWidth > box.clientWidth;
    return [...document.querySelectorAll('.chip').keys()].filter((i) => {
        document.querySelectorAll('.chip')[i].click();
        return [document.documentElement, ...document.querySelectorAll('.table-scroll')].some(isWide);
    });
"""
"""The moments that are wider than the page, or have a table that is wider than its place."""
IS_TOO_WIDE = "return document.documentElement.scrollWidth > document.documentElement.clientWidth"

NAMES_BELOW = """
    const edge = document.querySelector('.chart-place').getBoundingClientRect();
    return [...document.querySelectorAll('.chart .depth')].map((name) => {
        const box = name.getBoundingClientRect();
        const isWhole = box.left >= edge.left && box.right <= edge.right && box.bottom <= edge.bottom;
        return isWhole && [...name.children].map((line) => line.textContent).join(' ');
    });
"""
"""The names of the depths below a chart; false: one is cut."""
MOMENTS = """
    const done = arguments[0], seen = [];
    const count = (selector) => document.querySelectorAll(selector).length;
    const text = (selector) => document.querySelector(selector).innerText;
    const drawn = () => new Promise(requestAnimationFrame);
    const line = (name) => [...name.children].map((each) => each.textContent).join(' ');
    (async () => {
        for (const i of document.querySelectorAll('.chip').keys()) {
            document.querySelector(`.chip[data-index='${i}']`).click();
            while (count('.chart') && !count('.chart .depth')) await drawn();
            const told = [text('.moment-number'), text('.report-box'), count('.table-box')];
            const depths = [...document.querySelectorAll('.chart .depth')].map(line);
            document.querySelector('[data-phase=before]').click();
            seen.push([...told, count('.chart') ? depths : null, count('.moment .mark-chosen')]);
        }
        done(seen);
    })();
"""
"""What each moment shows: its number, all words, how many tables, the depths of a chart, chosen squares."""


@pytest.fixture(scope="module")
def game(driver: Chrome, tmp_path_factory: pytest.TempPathFactory) -> Iterator[tuple[Page, str, Any]]:
    """A tab; the address of a game against an opponent that set traps, played once for all tests here; its
    blind report.
    """
    with Host(tmp_path_factory.mktemp("report")) as host:
        host.opponent.sets_traps = True
        page = Page(driver)
        page.forget_everything(host.url)
        page.begin(host.url, "anna", rated=False)
        for _ in range(MOVES):
            assert page.play_one()
        page.resign()
        page.find(".moment")
        yield page, f"{host.url}/game/{page.game_id}", host.blind_report(page.game_id)
        driver.get("about:blank")


@pytest.fixture
def finished(game: tuple[Page, str, Any]) -> Iterator[Page]:
    page, address, _ = game
    page.driver.get(address)
    page.find(".moment")
    yield page
    assert not page.complaints()


def test_the_report_in_german_fits_a_phone(finished: Page, game: tuple[Page, str, Any]) -> None:
    finished.driver.execute_script("localStorage.setItem('desdemona.language', 'de')")
    try:
        with finished.wide(390):
            finished.driver.refresh()
            finished.find(".moment")
            assert finished.text(".report-title") == "Fallenbericht"
            # Whatever the numbers: they are written as Germans do.
            assert "," in finished.text("tbody td")
            assert "." not in finished.text("tbody td")
            assert not finished.driver.execute_script(IS_TOO_WIDE)
            axe.enter(finished.driver)
            assert axe.violations(finished.driver) == []
            # A game without a trap is nothing unusual, which not even a blind report keeps back.
            show_report(finished, untempting(copied(game[2])) | {"plain_share": 0.5})
            story = finished.text(".summary-story")
            assert "In dieser Partie gab es keine Falle." in story
            assert "Etwa 50 % der Partien von Desdemona, durch Los bestimmt, spielt ein" in story
            finished.find(".chart .depth")
            names = finished.driver.execute_script(NAMES_BELOW)
            assert names == ["in Tiefe 2", "in Tiefe 3", "tief", "laut Schiedsrichter"]
    finally:
        finished.driver.execute_script("localStorage.removeItem('desdemona.language')")


def report_of(page: Page) -> Any:
    return page.driver.execute_async_script(
        "const [id, done] = arguments;"
        "fetch(`/api/arena/game/${id}/report`).then((response) => response.json()).then(done)",
        page.game_id,
    )


def answered(report: Any) -> list[int]:
    """Places of the decisions that left a choice and were answered."""
    return [
        i
        for i, d in enumerate(report["decisions"])
        if len(d["replies"]) > 2
        and d["reply"]
        and d["outcome"]
        and all(r["score_texts"] for r in d["replies"])
    ]


def judge(reply: Any, cost: int, score_centi: int) -> Any:
    """The judge's verdict on a reply of a report."""
    word = "good" if cost < 500 else "small" if cost < 1000 else "error"
    score = f"{score_centi / 100:+.2f}"
    size = "" if cost < 200 else f"{(-100 - score_centi) / 100:.2f}"
    reply["judged"] = {
        **{name: reply[name] for name in ("reply", "name", "squares")},
        "word": word,
        "is_best": cost < 200,
        "cost": cost,
        "shown_cost": min(cost, {"good": 449, "small": 949}.get(word, cost)),
        "cost_text": size,
        "score_centi": score_centi,
        "score_text": score,
        "judge_depth": 14,
        "is_solved": False,
    }
    return reply["judged"]


def play(decision: Any, reply: Any) -> None:
    """Make a judged reply the one that was played."""
    judged = reply["judged"]
    decision |= {"reply": reply["reply"], "reply_name": reply["name"], "judged": judged}
    decision |= {"cost": judged["cost"], "cost_text": judged["cost_text"]}
    decision["outcome"] = "optimal" if judged["word"] == "good" else "erred_elsewhere"


def tempt(decision: Any, *, reply: str | None = None, taken: bool = False, probability: float = 0.31) -> Any:
    """Make a decision's worst reply, or this one, a bait by 40 % of the game, and the best reply the answer.

    Returns:
        The bait; it looks better than the best reply two and three plies ahead, and worse at every other
        depth.
    """
    best = min(decision["replies"], key=lambda each: each["final_centi"])
    others = [each for each in decision["replies"] if each is not best]
    bait = next(each for each in others if reply is None or each["reply"] == reply)
    key = "scores_centi" if "scores_centi" in best else "shown_centi"
    depths = len(best[key])
    for each in decision["replies"]:
        each |= {"final_centi": 500, "probability": 0.01, "their_text": "-5.00"}
        each |= {key: [500] * depths, "score_texts": ["-5.00"] * depths}
        judge(each, 2000, -500)
    best |= {"final_centi": 100, "probability": 0.5, "their_text": "-1.00"}
    best |= {key: [100] * depths, "score_texts": ["-1.00"] * depths}
    bait |= {"final_centi": 900, "probability": probability, "their_text": "-9.00"}
    bait |= {
        key: [-300, -200, *[900] * (depths - 2)],
        "score_texts": ["+3.00", "+2.00", *["-9.00"] * (depths - 2)],
    }
    decision["best"] = judge(best, 0, -100)
    judge(bait, 4000, -900)
    found = {"reply": bait["reply"], "name": bait["name"], "probability": probability, "cost": 4000}
    found |= {"judge_depth": 14, "is_solved": False}
    model = {"kind": "maia", "name": "club players", "sha256": "0"}
    decision["forecast"] = {"is_judged": True, "baits": [found], "is_taken": taken, "model": model}
    decision |= {"is_decided": False, "is_lost": False}
    play(decision, bait if taken else best)
    return bait


def copied(report: Any) -> Any:
    return json.loads(json.dumps(report))


def untempting(report: Any) -> Any:
    """The report without its baits."""
    for decision in report["decisions"]:
        if decision["forecast"] is not None:
            decision["forecast"] |= {"is_judged": True, "baits": [], "is_taken": None}
    return report


def points(page: Page, kind: str) -> list[float]:
    """Heights of the dots of the chart's line of this kind, from left to right; the higher the better."""
    page.find(".chart svg")
    heights: list[float] = page.driver.execute_script(
        "return [...document.querySelectorAll(`.dot-${arguments[0]}`)].map((dot) => -dot.getAttribute('cy'))",
        kind,
    )
    return heights


def test_the_report_counts_the_tempting_traps(finished: Page) -> None:
    report = untempting(report_of(finished))
    places = answered(report)[:4]
    for i in places:
        tempt(report["decisions"][i], taken=i == places[0])
    avoided = report["decisions"][places[3]]  # by another costly reply
    play(avoided, next(each for each in avoided["replies"] if each["final_centi"] == 500))
    avoided["forecast"]["is_taken"] = False
    report["decisions"][answered(report)[4]]["is_trap"] = True  # by the paper's arithmetic only
    show_report(finished, report)
    assert finished.text(".tile-trap strong") == "4"
    assert finished.text(".tile-fell strong") == "1"
    assert finished.text(".tile-saw strong") == "2"
    assert "You took 1 of the baits, which cost 40 % of a game." in finished.text(".summary-story")
    assert finished.count(".chip") == len(report["decisions"])
    assert finished.count(".trap-list li") == 4
    finished.click(".filter input")
    assert finished.count(".chip") == 4
    finished.click(f".chip[data-index='{places[3]}']")
    assert finished.text(".moment-head h3") == "Trap avoided, but a slip"
    show_report(finished, report, person="anna")  # the same to somebody else
    assert "anna took 1 of the baits, which cost 40 % of a game." in finished.text(".summary-story")
    told = finished.driver.execute_script(
        "const box = document.querySelector('.report-box');"
        "return [...box.querySelectorAll('.chip').keys()].map((i) => {"
        "  box.querySelectorAll('.chip')[i].click();"
        "  return box.innerHTML;"
        "})"
    )
    assert not [found for each in told if (found := re.search(r"\b[Yy]our?\b", each))]


def test_a_moment_shows_the_board_that_had_to_be_answered(finished: Page) -> None:
    report = untempting(report_of(finished))
    index = answered(report)[1]
    decision = report["decisions"][index]
    bait = tempt(decision, taken=True)
    show_report(finished, report)
    finished.click(f".chip[data-index='{index}']")
    finished.until_text(".moment-number", f"Move {decision['number']} · Desdemona played {decision['move']}")
    finished.until_text(".moment-head h3", "You took the bait")
    squares = finished.driver.find_elements(By.CSS_SELECTOR, ".moment .square")
    shown = finished.driver.execute_script(
        "return arguments[0].map((square) => square.querySelector('.piece')?.dataset.piece ?? '.').join('')",
        squares,
    )
    assert shown == "".join(decision["rows_after"])
    assert finished.count(f".moment .square[data-square='{bait['reply']}'] .mark-fell") == 1
    rows = finished.driver.find_elements(By.CSS_SELECTOR, ".table-box tbody tr")
    assert len(rows) == len(decision["replies"]) + len(decision["candidates"])
    finished.click("[data-phase=before]")
    assert finished.count(".moment .mark-chosen") == 1


def test_a_bait_is_told_as_the_chart_shows_it(finished: Page) -> None:
    report = untempting(report_of(finished))
    report["decisions"] = [report["decisions"][answered(report)[0]]]
    decision = report["decisions"][0]
    bait = tempt(decision, taken=True)
    best = next(each["name"] for each in decision["replies"] if each["final_centi"] == 100)
    show_report(finished, report)
    words = finished.text(".moment-words")
    assert f"A trap: one player in three plays {bait['name']} here." in words
    assert (
        f"Looking 2 and 3 plies ahead it looks better than {best}. It costs 40 % of the game to depth 14."
        in words
    )
    assert f"You played it; {best} was the reply to find." in words
    assert "+3.00 at depth 2, \N{MINUS SIGN}9.00 to depth 14, cost 40 % of the game (8.00 discs)" in words
    assert "\N{MINUS SIGN}1.00 at depth 2, \N{MINUS SIGN}1.00 to depth 14" in words
    mine, drawn = points(finished, "trap"), points(finished, "best")
    assert [here > there for here, there in zip(mine, drawn, strict=True)] == [True, True, False, False]
    assert "by a model of people (club players)" in finished.text(".moment-tables")
    assert "Desdemona set 1 trap. You took the bait, which cost 40 % of a game." in finished.text(
        ".summary-story"
    )
    assert "one player in three plays" in finished.text(".trap-list")
    # As good as the best reply where it was better; then no longer better than it is anywhere.
    for reply in decision["replies"]:
        if reply["reply"] == bait["reply"]:
            reply["scores_centi"][:2] = [100, 100]
    show_report(finished, report)
    finished.until_text(".moment-words", f"it looks as good as {best}.")


def test_a_reply_that_looks_worse_at_every_depth_is_a_slip(finished: Page) -> None:
    """The paper counts it as a fall: it looks better than it is."""
    report = untempting(report_of(finished))
    report["decisions"] = [report["decisions"][answered(report)[0]]]
    decision = report["decisions"][0]
    bait = tempt(decision, taken=True)
    bait |= {"scores_centi": [200, 800, 900], "is_paper_trap": True}
    decision["is_trap"] = True
    decision["trap"] = {"reply": bait["reply"], "name": bait["name"], "quality": 4000, "quality_text": "40 %"}
    decision["forecast"] |= {"baits": [], "is_taken": None}
    show_report(finished, report)
    assert finished.text(".moment-head h3") == "A slip"
    finished.until_text(".moment-words", f"There was no bait here. {bait['name']} cost you 40 % of the game")
    assert finished.text(".tile-slipped strong") == "1"
    assert [finished.text(f".tile-{kind} strong") for kind in ("trap", "fell", "saw")] == ["0", "0", "0"]
    assert finished.count(".note-trap, .line-trap, .mark-trap, .mark-fell, .trap-list, .fact-trap") == 0
    assert "fell" not in finished.text(".report-box")
    assert all(
        here < there for here, there in zip(points(finished, "played"), points(finished, "best"), strict=True)
    )


@pytest.mark.parametrize("has_bait", [False, True])
@pytest.mark.parametrize(
    ("cost", "icon", "meaning"),
    [
        (999, "loose", "not quite the best reply: it costs less than a tenth of the game"),
        (1000, "slip", "a slip: it costs a tenth of the game or more"),
    ],
)
def test_a_slip_has_another_mark_than_a_reply_that_costs_little(
    finished: Page, has_bait: bool, cost: int, icon: str, meaning: str
) -> None:
    """By its shape, not by its colour alone."""
    report = untempting(report_of(finished))
    report["decisions"] = [report["decisions"][answered(report)[0]]]
    decision = report["decisions"][0]
    tempt(decision)
    other = next(each for each in decision["replies"] if each["final_centi"] == 500)
    judge(other, cost, -500)
    play(decision, other)
    decision["forecast"] |= {"is_taken": False if has_bait else None}
    if not has_bait:
        decision["forecast"]["baits"] = []
    show_report(finished, report)
    assert finished.count(f".chip-answer .icon-{icon}") == finished.count(".chip-answer .icon") == 1
    # The trap itself has a sign, too, which the key explains.
    signs = [finished.count(f"{place} .icon-trap") for place in (".chip-move", ".chip-keys")]
    assert signs == [int(has_bait)] * 2
    assert finished.count(f".moment-head h3 .icon-{icon}") == 1
    assert finished.text(".tile-slipped strong") == ("1" if icon == "slip" else "0")
    finished.click(".legend summary")
    assert finished.text(f".icon-meanings li:has(.icon-{icon})") == meaning
    shapes = finished.driver.execute_script(
        "return [...document.querySelectorAll('.icon-meanings .icon')].map((icon) => icon.innerHTML)"
    )
    drawn = finished.driver.execute_script("return document.querySelector('.chip-answer .icon').innerHTML")
    assert len(shapes) == len(set(shapes)) == 7
    assert shapes.count(drawn) == 1


@pytest.mark.parametrize("is_made", [False, True])
def test_before_the_judge_no_bait_and_no_cost_is_named(finished: Page, is_made: bool) -> None:
    report = untempting(report_of(finished))
    report["decisions"] = [report["decisions"][answered(report)[0]]]
    decision = report["decisions"][0]
    tempt(decision, taken=True)
    decision["forecast"] = decision["forecast"] | {"is_judged": False} if is_made else None
    decision |= {"best": None, "judged": None, "cost": None, "cost_text": None}
    for reply in decision["replies"]:
        reply["judged"] = None
        if reply["reply"] == decision["reply"]:
            reply["scores_centi"] = [900] * len(reply["scores_centi"])
    show_report(finished, report)
    assert finished.text(".moment-head h3") == "Not judged yet"
    words = finished.text(".report-box")
    assert "For one move it is not known whether people are tempted. One reply is not judged yet." in words
    assert "There was no bait here" not in words
    assert finished.count(".note-trap, .line-trap, .mark-trap, .mark-fell, .trap-list") == 0
    notes = "return [...document.querySelectorAll('.note-best')].map((note) => note.textContent)"
    assert "best" not in finished.driver.execute_script(notes)
    # The reply played is the worst one, and the better ones are in sight.
    assert lines_in_sight(finished) == len(decision["replies"])


def lines_in_sight(page: Page) -> int:
    """Number of the chart's lines that are drawn and not cut."""
    page.find(".chart svg")
    seen: int = page.driver.execute_script(
        "const height = Number(document.querySelector('.chart .clip').getAttribute('height'));"
        "const isSeen = ({y}) => y >= 0 && y <= height;"
        "const lines = [...document.querySelectorAll('.chart .line')];"
        "return lines.filter(({points}) => points.length && [...points].every(isSeen)).length"
    )
    return seen


def test_a_move_that_nobody_answered_has_a_chart_of_all_replies(finished: Page) -> None:
    report = report_of(finished)
    decision = report["decisions"][answered(report)[0]]
    decision |= {"reply": None, "reply_name": None, "outcome": None, "state": "confirmed"}
    decision |= {"best": None, "judged": None, "forecast": None}
    for reply in decision["replies"]:
        reply["judged"] = None
    report["decisions"] = [decision]
    show_report(finished, report)
    assert lines_in_sight(finished) == len(decision["replies"])
    caption = finished.text(".chart figcaption")
    assert finished.find(".chart svg").get_attribute("aria-label") == caption


def test_traps_are_listed_by_probability_and_cost(finished: Page) -> None:
    report = untempting(report_of(finished))
    first, second, third = answered(report)[:3]
    tempt(report["decisions"][first], probability=0.15)
    tempt(report["decisions"][second], probability=0.66)
    tempt(report["decisions"][third], probability=0.96)
    report["decisions"][third]["forecast"]["baits"][0]["cost"] = 1500
    show_report(finished, report)
    listed = finished.driver.execute_script(
        "return [...document.querySelectorAll('.trap-list .button')].map((each) => Number(each.dataset.trap))"
    )
    assert listed == [second, third, first]
    lines = finished.text(".trap-list").splitlines()
    assert [
        part in "".join(lines) for part in ("two players in three play ", "nearly every player plays ")
    ] == [True, True]
    assert "one player in seven plays" in "".join(lines)
    finished.click(f"[data-trap='{third}']")
    finished.until_text(".moment-number", f"Move {report['decisions'][third]['number']} ")
    assert finished.text(".moment-head h3") == "You saw through the trap"
    assert "You took none of the baits." in finished.text(".summary-story")


def test_two_baits_of_one_move_are_told_the_likelier_and_costlier_first(finished: Page) -> None:
    report = untempting(report_of(finished))
    report["decisions"] = [
        next(report["decisions"][i] for i in answered(report) if len(report["decisions"][i]["replies"]) > 3)
    ]
    decision = report["decisions"][0]
    bait = tempt(decision, taken=True, probability=0.2)
    other = next(r for r in decision["replies"] if r["final_centi"] == 500)
    other |= {"scores_centi": [50, 60, 500], "probability": 0.5}
    found = {"reply": other["reply"], "name": other["name"], "probability": 0.5, "cost": 2000}
    found |= {"judge_depth": 14, "is_solved": True}
    decision["forecast"]["baits"].append(found)
    show_report(finished, report)
    words = finished.text(".moment-words")
    assert f"A trap: one player in two plays {other['name']} here. Looking 2 and 3 plies ahead" in words
    assert f"Another: one player in five plays {bait['name']}. Looking 2 and 3 plies ahead" in words
    assert finished.text(".moment-head h3") == "You took a bait"
    assert finished.count(".chart .line-trap") == 2


def test_in_a_lost_game_nothing_is_a_slip(finished: Page) -> None:
    report = untempting(report_of(finished))
    report["decisions"] = [report["decisions"][answered(report)[0]]]
    decision = report["decisions"][0]
    tempt(decision, taken=True)
    decision["forecast"] |= {"baits": [], "is_taken": None}
    for i, reply in enumerate(sorted(decision["replies"], key=lambda each: each["final_centi"])):
        reply |= {"final_centi": 100_000 + 400 * i}
        judge(reply, 0, -100_000 - 400 * i)
        if reply["reply"] == decision["reply"]:
            play(decision, reply)
    decision |= {"is_decided": True, "is_trap": True}
    show_report(finished, report)
    assert finished.text(".moment-head h3") == "Already decided"
    assert "wins by force here, whatever you reply" in finished.text(".moment-words")
    assert [finished.text(f".tile-{kind} strong") for kind in ("trap", "fell", "slipped")] == ["0", "0", "0"]


def test_a_reply_that_throws_away_a_won_game_is_a_slip(finished: Page) -> None:
    """The person wins by force, and lets the win slip by taking what would be a bait elsewhere."""
    report = untempting(report_of(finished))
    report["decisions"] = [report["decisions"][answered(report)[0]]]
    decision = report["decisions"][0]
    tempt(decision, taken=True)
    best = min(decision["replies"], key=lambda each: each["final_centi"])
    best |= {"final_centi": -100_400}
    decision |= {"is_decided": True, "best": judge(best, 0, 100_400)}
    show_report(finished, report)
    assert finished.text(".moment-head h3") == "A slip"
    assert "You could win by force here." in finished.text(".moment-words")
    assert [finished.text(f".tile-{kind} strong") for kind in ("trap", "fell", "slipped")] == ["0", "0", "1"]
    decision["forecast"]["is_judged"] = False
    show_report(finished, report)
    assert "not known" not in finished.text(".summary")


def show_report(page: Page, report: Any, *, is_turned: bool = False, person: str | None = None) -> None:
    """Draw another report in place of the one that is shown."""
    page.driver.execute_async_script(
        "const [report, isTurned, person, done] = arguments;"
        "const {game} = report;"
        "const real = window.fetch;"
        "const told = () => new Response(JSON.stringify(report));"
        "window.fetch = async (path, how) => path.endsWith('/report') ? told() : real(path, how);"
        "import('/static/report/report.js').then(({ReportSection}) => {"
        "  const box = document.querySelector('.report-box');"
        "  box.replaceChildren();"
        "  const onVerdicts = () => done();"
        "  const about = {id: 'other', game, opponent: 'Desdemona', person, isTurned, onVerdicts};"
        "  new ReportSection(box, about).open();"
        "})",
        rejudged(report),
        is_turned,
        person,
    )


def test_plain_minimax_is_not_said_to_have_set_traps(finished: Page) -> None:
    report = untempting(report_of(finished))
    places = answered(report)[:2]
    for i in places:
        tempt(report["decisions"][i])
    show_report(finished, report)
    assert "Desdemona set 2 traps." in finished.text(".summary-story")
    report |= {"strategy": "standard", "sets_traps": False}
    for decision in report["decisions"]:
        decision |= {"strategy": "standard", "sets_traps": False}
    show_report(finished, report)
    assert "did not mean to set traps" in finished.text(".summary-story")
    assert "arose by accident" in finished.text(".summary-story")
    for i in places:
        finished.click(f".chip[data-index='{i}']")
        words = finished.text(".report-box")
        assert "A trap by accident: one player in three" in words
        assert "Desdemona set" not in words
        assert "because of how people reply" not in words


def test_a_blind_report_tells_of_traps_and_of_nobody_who_set_them(
    finished: Page, game: tuple[Page, str, Any]
) -> None:
    report = untempting(copied(game[2]))
    assert report["blind"]
    first, second = answered(report)[:2]
    tempt(report["decisions"][first], taken=True)
    bait = tempt(report["decisions"][second])
    for each in (report["decisions"][first], report["decisions"][second]):
        del each["forecast"]["model"]
    bait["shown_centi"] = [-300, -200, 900]
    show_report(finished, report)
    assert "There were 2 traps in this game. You took 1 of the baits" in finished.text(".summary-story")
    telling = ("Desdemona set ", "because of how", "accident", "undefined", "NaN", "model")
    seen = finished.driver.execute_async_script(MOMENTS)
    for decision, (number, words, tables, depths, chosen) in zip(report["decisions"], seen, strict=True):
        assert number.startswith(f"Move {decision['number']} ")
        assert [each for each in telling if each in words] == [], number
        assert tables == (1 if decision["replies"] else 0)
        assert depths in (None, ["at depth 2", "at depth 3", "deep", "by the judge"])
        assert chosen == 1
    finished.click(f".chip[data-index='{first}']")
    finished.until_text(".moment-words", "Looking 2 and 3 plies ahead it looks better than")
    assert "Deep" in finished.text(".table-box thead")
    assert finished.text(".chart figcaption").endswith(", at depth 2, at depth 3, deep and by the judge")
    wide = "return ['.moment-tables', '.table-box'].map((name) => document.querySelector(name).clientWidth)"
    assert len(set(finished.driver.execute_script(wide))) == 1  # the only table has all the room
    finished.click(f".chip[data-index='{second}']")
    finished.until_text(".moment-words", "Looking 2 and 3 plies ahead it looks better than")
    mine, drawn = points(finished, "trap"), points(finished, "best")
    assert [here > there for here, there in zip(mine, drawn, strict=True)] == [True, True, False, False]


def test_the_report_opens_at_the_costliest_fall(finished: Page) -> None:
    report = untempting(report_of(finished))
    places = answered(report)[:3]
    for i in places:
        tempt(report["decisions"][i], taken=True)
    report["decisions"][places[1]]["cost"] = 4100
    show_report(finished, report)
    finished.until_text(".moment-number", f"Move {report['decisions'][places[1]]['number']} ")


def test_decided_scores_are_drawn_at_their_margin(finished: Page) -> None:
    report = report_of(finished)
    fall = report["decisions"][answered(report)[0]]
    tempt(fall, taken=True)
    fall["forecast"] |= {"baits": [], "is_taken": None}
    report["decisions"] = [fall]
    for reply in fall["replies"]:
        margin = 4600 if reply["reply"] == fall["reply"] else 4200
        reply["final_centi"] = 100_000 + margin
        reply["scores_centi"] = [0, 100_000 + margin]
    show_report(finished, report)
    finished.find(".chart svg")
    heights = finished.driver.execute_script(
        "return ['best', 'played'].map((kind) => Number([...document.querySelectorAll(`.dot-${kind}`)].at(-1)"
        ".getAttribute('cy')))"
    )
    assert 10 < heights[1] - heights[0] < 30  # four discs of some fifty
    ticks = [tick.text for tick in finished.driver.find_elements(By.CSS_SELECTOR, ".chart .tick")]
    assert "\N{MINUS SIGN}40" in ticks


def test_a_strong_move_is_said_to_be_meant_as_no_trap(finished: Page) -> None:
    report = report_of(finished)
    report |= {"strategy": "strong", "sets_traps": False}
    for decision, mode in zip(report["decisions"], ("strong", "book", "tablebase"), strict=False):
        decision |= {"strategy": "strong", "sets_traps": False, "search_mode": mode, "pick_text": "+1.25"}
        decision["pick"] = {"score_centi": 125, "depth": 14, "confidence": 73, "solved": False}
    show_report(finished, report)
    for i, words in enumerate(
        ("best move of her strong search, 14 plies deep", "opening book", "endgame tablebase")
    ):
        finished.click(f".chip[data-index='{i}']")
        finished.until_text(".moment-words", words)
        assert "no trap was intended" in finished.text(".moment-words")
        assert "(+1.25)" in finished.text(".moment-words")


def test_another_engine_is_named(finished: Page) -> None:
    report = report_of(finished)
    report["strategy"] = "trappy_uci"
    source = {"name": "Fake 1.0", "protocol": "uci", "options": [], "window_centi": 100, "floor_centi": 0}
    for decision in report["decisions"]:
        decision |= {"strategy": "trappy_uci", "search_mode": "engine", "source": source}
    show_report(finished, report)
    assert "Desdemona set " in finished.text(".summary-story")
    assert "scores are from Fake 1.0" in finished.text(".summary-story")
    finished.click(".chip[data-index='0']")
    assert "from another engine, Fake 1.0" in finished.text(".moment-words")
    assert "the score by Fake 1.0" in finished.text(".moment-tables")


def test_where_a_move_is_from_is_told(finished: Page) -> None:
    report = report_of(finished)
    report |= {"strategy": "standard_uci", "sets_traps": False}
    source = {"name": "Fake 1.0", "protocol": "uci", "options": [], "window_centi": 0, "floor_centi": 125}
    told = {
        "engine_move": "the best move of another engine, Fake 1.0, 14 plies deep",
        "explorer": "an online opening explorer (masters: 3 of 9 games)",
        "online_tablebase": "an online endgame tablebase (masters: 3 of 9 games)",
    }
    for decision, mode in zip(report["decisions"], told, strict=False):
        decision |= {
            "strategy": "standard_uci",
            "sets_traps": False,
            "search_mode": mode,
            "pick_text": "+1.25",
        }
        pick = {"score_centi": 125, "depth": 14, "confidence": 0, "solved": False}
        decision["pick"] = pick | {"origin": "masters: 3 of 9 games"}
        decision["source"] = source if mode == "engine_move" else None
    show_report(finished, report)
    for i, words in enumerate(told.values()):
        finished.click(f".chip[data-index='{i}']")
        finished.until_text(".moment-words", words)
        assert "no trap was intended" in finished.text(".moment-words")


def test_what_was_expected_of_the_person_is_told(finished: Page) -> None:
    report = report_of(finished)
    report["strategy"] = "opponent_model"
    for decision in report["decisions"]:
        decision["strategy"] = "opponent_model"
        decision["model"] = {"kind": "othello", "name": "club players", "sha256": "0"}
        decision["forecast"] = None
        for reply in decision["replies"]:
            reply["probability"] = 0.005 if reply["reply"] != decision["reply"] else 0.415
        for candidate in (*decision["candidates"], decision["chosen"]):
            candidate |= {"value": 6230.0, "value_text": "62.3 %"}
    show_report(finished, report)
    assert "Desdemona set " in finished.text(".summary-story")
    finished.click(".chip[data-index='0']")
    finished.until_text(".moment-words", "predicted people's replies here (club players)")
    tables = finished.text(".moment-tables")
    assert "Promise" in tables
    assert "62.3 %" in tables
    assert "under 1 %" in tables
    assert "42 %" in tables


def test_a_model_that_failed_is_told(finished: Page) -> None:
    report = report_of(finished)
    for decision in report["decisions"]:
        decision |= {"strategy": "opponent_model", "trouble": "it said nan"}
    show_report(finished, report)
    finished.click(".chip[data-index='0']")
    finished.until_text(".moment-words", "could not use her model of people here (it said nan)")


def test_values_on_the_expected_scale_are_shares(finished: Page) -> None:
    report = report_of(finished)
    for decision in report["decisions"]:
        for candidate in decision["candidates"]:
            candidate |= {"adjusted_centi": 5340, "adjusted_text": "53.4 %"}
    show_report(finished, report)
    assert "53.4 %" in finished.text(".moment-tables")
    assert "per cent" in finished.text(".moment-tables")


def test_the_game_can_be_stepped_through(finished: Page) -> None:
    finished.click("[data-step=first]")
    assert finished.board.count(".") == 60
    finished.click("[data-step=right]")
    assert finished.board.count(".") == 59
    finished.click("[data-step=last]")
    assert finished.text(".bar[data-colour=black] .count") == str(finished.board.count("b"))


def test_keys_step_through_the_game_wherever_the_focus_is(finished: Page) -> None:
    finished.click("[data-step=first]")
    finished.driver.switch_to.active_element.send_keys(Keys.ARROW_RIGHT)
    assert finished.board.count(".") == 59
    finished.driver.execute_script("document.activeElement.blur()")
    finished.driver.switch_to.active_element.send_keys(Keys.ARROW_RIGHT)
    assert finished.board.count(".") == 58
    finished.find(".chat-form input").send_keys("x" + Keys.ARROW_LEFT)  # which moves within the text
    assert finished.board.count(".") == 58


def stick_out(page: Page) -> list[list[Any]]:
    """Where the page, or a table of one of the moments, is too wide: the window's width and the moment."""
    found: list[list[Any]] = []
    for width in WIDTHS:
        with page.wide(width):
            found += ([width, index] for index in page.driver.execute_script(TOO_WIDE))
    return found


def test_nothing_sticks_out(finished: Page) -> None:
    assert stick_out(finished) == []


def test_a_cost_and_its_depth_stand_in_one_line(finished: Page) -> None:
    report = untempting(report_of(finished))
    report["decisions"] = [report["decisions"][answered(report)[0]]]
    tempt(report["decisions"][0], taken=True)
    show_report(finished, report)
    for width, lines in ((360, 2), (1280, 1)):
        with finished.wide(width):
            most = finished.driver.execute_script(
                "const lines = (cell) => new Set([...cell.getClientRects()].map(({top}) => top)).size;"
                "return Math.max(...[...document.querySelectorAll('td .nobreak')].map(lines))"
            )
            assert most == lines


def test_the_lobby_leads_to_the_game(finished: Page) -> None:
    game_id = finished.game_id
    finished.click(".brand")
    finished.click("[data-test=history]")
    finished.click(f"main a[href='/game/{game_id}']")
    finished.find(".moment")
    assert finished.game_id == game_id
