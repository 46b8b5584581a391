"""After the game the page shows the traps, and agrees with the report that it was given."""

from collections.abc import Iterator
from typing import Any

import pytest
from selenium.webdriver import Chrome
from selenium.webdriver.common.by import By

from tests.browser.host import Host
from tests.browser.page import Page

WIDTHS = (360, 820, 1280)


@pytest.fixture(scope="module")
def game(driver: Chrome, tmp_path_factory: pytest.TempPathFactory) -> Iterator[tuple[Page, str]]:
    """A tab and the address of a game against an opponent that set traps, played once for all tests here."""
    with Host(tmp_path_factory.mktemp("report")) as host:
        host.opponent.sets_traps = True
        page = Page(driver)
        page.forget_everything(host.url)
        page.begin(host.url, "anna", rated=False)
        page.play_to_end()
        yield page, f"{host.url}/game/{page.game_id}"
        driver.get("about:blank")


@pytest.fixture
def finished(game: tuple[Page, str]) -> Iterator[Page]:
    page, address = game
    page.driver.get(address)
    page.find(".moment")
    yield page
    assert not page.complaints()


def report_of(page: Page) -> Any:
    return page.driver.execute_async_script(
        "const [id, done] = arguments;"
        "fetch(`/api/arena/game/${id}/report`).then((response) => response.json()).then(done)",
        page.game_id,
    )


def test_the_report_counts_what_happened(finished: Page) -> None:
    decisions = report_of(finished)["decisions"]
    traps = [d for d in decisions if d["is_trap"]]
    answered = [d for d in traps if len(d["replies"]) > 1]
    assert traps, "the opponent set no trap at all"
    assert finished.text(".tile-trap strong") == str(len(traps))
    assert finished.text(".tile-fell strong") == str(sum(d["outcome"] == "fell" for d in answered))
    assert finished.text(".tile-saw strong") == str(sum(d["outcome"] == "optimal" for d in answered))
    assert finished.count(".chip") == len(decisions)
    finished.click(".filter input")
    assert finished.count(".chip") == len(traps)


def test_a_moment_shows_the_board_that_had_to_be_answered(finished: Page) -> None:
    decisions = report_of(finished)["decisions"]
    fell = [i for i, d in enumerate(decisions) if d["is_trap"] and d["outcome"] == "fell"]
    assert fell, "a random person fell into no trap at all"
    decision = decisions[fell[0]]
    finished.click(f".chip[data-index='{fell[0]}']")
    finished.until_text(".moment-number", f"Move {decision['number']} · Desdemona played {decision['move']}")
    finished.until_text(".moment-head h3", "You fell into")
    squares = finished.driver.find_elements(By.CSS_SELECTOR, ".moment .square")
    shown = finished.driver.execute_script(
        "return arguments[0].map((square) => square.querySelector('.piece')?.dataset.piece ?? '.').join('')",
        squares,
    )
    assert shown == "".join(decision["rows_after"])
    assert finished.count(f".moment .square[data-square='{decision['reply']}'] .mark-fell") == 1
    words = finished.text(".moment-words")
    assert decision["trap"]["reply"] in words
    assert f"You played {decision['reply']}" in words or "You played it." in words
    rows = finished.driver.find_elements(By.CSS_SELECTOR, ".table-box tbody tr")
    assert len(rows) == len(decision["replies"]) + len(decision["candidates"])
    finished.click("[data-phase=before]")
    assert finished.count(".moment .mark-chosen") == 1


def show_report(page: Page, report: Any) -> None:
    """Draw another report in place of the one that is shown."""
    page.driver.execute_async_script(
        "const [report, done] = arguments;"
        "const {game} = report;"
        "const real = window.fetch;"
        "const told = () => new Response(JSON.stringify(report));"
        "window.fetch = async (path, how) => path.endsWith('/report') ? told() : real(path, how);"
        "import('/static/report/report.js').then(({ReportSection}) => {"
        "  const box = document.querySelector('.report-box');"
        "  box.replaceChildren();"
        "  const onVerdicts = () => done();"
        "  const about = {id: 'other', game, opponent: 'Desdemona', isPlayer: true, onVerdicts};"
        "  new ReportSection(box, about).open();"
        "})",
        report,
    )


def test_plain_minimax_is_not_said_to_have_set_traps(finished: Page) -> None:
    report = report_of(finished)
    assert "Desdemona set " in finished.text(".summary-story")
    report |= {"player": "standard", "sets_traps": False}
    for decision in report["decisions"]:
        decision |= {"player": "standard", "sets_traps": False}
    show_report(finished, report)
    assert "looked for the best move only" in finished.text(".summary-story")
    assert "arose by accident" in finished.text(".summary-story")
    for i in (i for i, d in enumerate(report["decisions"]) if d["is_trap"]):
        finished.click(f".chip[data-index='{i}']")
        words = finished.text(".report-box")
        assert "hoped for" not in words
        assert "Desdemona set" not in words
        assert "trap's sake" not in words


def blinded(value: Any) -> Any:
    """A report without what `bot.arena.blind_report` leaves out."""
    left_out = {
        *(
            "player",
            "params",
            "selection",
            "sets_traps",
            "search_mode",
            "pick",
            "pick_text",
            "source",
            "model",
        ),
        *("trouble", "depth", "time_s", "standard", "chosen", "scores_centi", "glance_plies", "probability"),
        *("raw_centi", "raw_text", "raw_is_bound", "adjusted_centi", "adjusted_text", "value", "value_text"),
    }
    if isinstance(value, dict):
        return {key: blinded(each) for key, each in value.items() if key not in left_out}
    return [blinded(each) for each in value] if isinstance(value, list) else value


def test_a_blind_report_tells_of_traps_and_of_nobody_who_set_them(finished: Page) -> None:
    report = blinded(report_of(finished)) | {"blind": True}
    show_report(finished, report)
    traps = [i for i, d in enumerate(report["decisions"]) if d["is_trap"]]
    assert f"There were {len(traps)} traps in this game." in finished.text(".summary-story")
    assert finished.text(".tile-trap strong") == str(len(traps))
    for i in range(len(report["decisions"])):
        finished.click(f".chip[data-index='{i}']")
        finished.until_text(".moment-number", f"Move {report['decisions'][i]['number']} ")
        words = finished.text(".report-box")
        for telling in (
            "hoped for",
            "Desdemona set ",
            "trap's sake",
            "accident",
            " plies",
            "undefined",
            "NaN",
        ):
            assert telling not in words, (i, telling)
        assert finished.count(".chart") == 0
        assert finished.count(".table-box") == (1 if report["decisions"][i]["replies"] else 0)
        finished.click("[data-phase=before]")
        assert finished.count(".moment .mark-chosen") == 1
    fell = next(i for i in traps if report["decisions"][i]["outcome"] == "fell")
    finished.click(f".chip[data-index='{fell}']")
    finished.until_text(".moment-words", "looks better than it is")
    assert "In fact" in finished.text(".table-box thead")


def test_the_report_opens_at_the_costliest_fall_by_discs(finished: Page) -> None:
    report = report_of(finished)
    falls = [d for d in report["decisions"] if d["outcome"] == "fell" and len(d["replies"]) > 1]
    assert len(falls) > 1
    for fall in falls:
        for reply in fall["replies"]:
            reply["final_centi"] = 0
        played = next(r for r in fall["replies"] if r["reply"] == fall["reply"])
        played["final_centi"] = 100_200  # the game, by two discs
    next(r for r in falls[1]["replies"] if r["reply"] == falls[1]["reply"])["final_centi"] = 900
    show_report(finished, report)
    finished.until_text(".moment-number", f"Move {falls[1]['number']} ")


def test_decided_scores_are_drawn_at_their_margin(finished: Page) -> None:
    report = report_of(finished)
    fall = next(d for d in report["decisions"] if d["outcome"] == "fell" and len(d["replies"]) > 1)
    report["decisions"] = [{**fall, "is_trap": False}]
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
    report |= {"player": "strong", "sets_traps": False}
    for decision, mode in zip(report["decisions"], ("strong", "book", "tablebase"), strict=False):
        decision |= {"player": "strong", "sets_traps": False, "search_mode": mode, "pick_text": "+1.25"}
        decision["pick"] = {"score_centi": 125, "depth": 14, "confidence": 73, "solved": False}
    show_report(finished, report)
    for i, words in enumerate(
        ("best move of her strong search, 14 plies deep", "opening book", "endgame tablebase")
    ):
        finished.click(f".chip[data-index='{i}']")
        finished.until_text(".moment-words", words)
        assert "no trap was intended" in finished.text(".moment-words")
        assert "(+1.25)" in finished.text(".moment-words")
        assert "hoped for" not in finished.text(".moment-words")


def test_another_engine_is_named(finished: Page) -> None:
    report = report_of(finished)
    report["player"] = "trappy_uci"
    source = {"name": "Fake 1.0", "protocol": "uci", "options": [], "window_centi": 100, "floor_centi": 0}
    for decision in report["decisions"]:
        decision |= {"player": "trappy_uci", "search_mode": "engine", "source": source}
    show_report(finished, report)
    assert "Desdemona set " in finished.text(".summary-story")
    assert "scores are from Fake 1.0" in finished.text(".summary-story")
    finished.click(".chip[data-index='0']")
    assert "from another engine, Fake 1.0" in finished.text(".moment-words")
    assert "the score by Fake 1.0" in finished.text(".moment-tables")


def test_where_a_move_is_from_is_told(finished: Page) -> None:
    report = report_of(finished)
    report |= {"player": "standard_uci", "sets_traps": False}
    source = {"name": "Fake 1.0", "protocol": "uci", "options": [], "window_centi": 0, "floor_centi": 125}
    told = {
        "engine_move": "the best move of another engine, Fake 1.0, 14 plies deep",
        "explorer": "an online opening explorer (masters: 3 of 9 games)",
        "online_tablebase": "an online endgame tablebase (masters: 3 of 9 games)",
    }
    for decision, mode in zip(report["decisions"], told, strict=False):
        decision |= {"player": "standard_uci", "sets_traps": False, "search_mode": mode, "pick_text": "+1.25"}
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
    report["player"] = "opponent_model"
    for decision in report["decisions"]:
        decision["player"] = "opponent_model"
        decision["model"] = {"kind": "othello", "name": "club players", "sha256": "0"}
        for reply in decision["replies"]:
            reply["probability"] = 0.005 if reply["reply"] != decision["reply"] else 0.415
        for candidate in (*decision["candidates"], decision["chosen"]):
            candidate |= {"value": 6230.0, "value_text": "62.3 %"}
    show_report(finished, report)
    assert "Desdemona set " in finished.text(".summary-story")
    finished.click(".chip[data-index='0']")
    finished.until_text(".moment-words", "predicted what people reply here (club players)")
    tables = finished.text(".moment-tables")
    assert "Promise" in tables
    assert "62.3 %" in tables
    assert "under 1 %" in tables
    assert "42 %" in tables


def test_a_model_that_failed_is_told(finished: Page) -> None:
    report = report_of(finished)
    for decision in report["decisions"]:
        decision |= {"player": "opponent_model", "trouble": "it said nan"}
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


def test_nothing_sticks_out(finished: Page) -> None:
    for width in WIDTHS:
        with finished.wide(width):
            wide = finished.driver.execute_script(
                "return [document.documentElement.scrollWidth, document.documentElement.clientWidth]"
            )
            assert wide[0] <= wide[1], width
            for i in range(finished.count(".chip")):
                fits = finished.driver.execute_script(
                    "document.querySelectorAll('.chip')[arguments[0]].click();"
                    "return [...document.querySelectorAll('.table-scroll')]"
                    ".every((box) => box.scrollWidth <= box.clientWidth)",
                    i,
                )
                assert fits, width


def test_the_lobby_remembers_the_game(finished: Page) -> None:
    game_id = finished.game_id
    finished.click(".brand")
    finished.click(".recent a")
    finished.find(".moment")
    assert finished.game_id == game_id
