"""Everybody can use the arena's page: axe-core finds nothing on its screens, light or dark."""

from tests.browser.axe import Look, prefer
from tests.browser.host import Host
from tests.browser.page import Page
from tests.browser.test_report import answered, report_of, show_report, tempt, untempting


def test_axe_finds_nothing(page: Page, host: Host) -> None:
    look = Look(page, may_style=True)
    host.opponent.sets_traps = True
    try:
        page.driver.get(host.url)
        page.find(".challenge")
        look.at("the lobby of a stranger")
        page.begin(host.url, "anna", rated=False)
        page.until_our_turn()
        page.find(".chat-line")  # the greeting: not in the middle of a change of colours
        look.at("a running game")
        for _ in range(6):
            page.play_one()
        page.click("[data-test=resign]")
        page.click("dialog [data-test=confirm]")
        page.find(".moment")
        page.click("[data-test=analyse]")
        page.find(".analysis-lines ol")
        report = untempting(report_of(page))
        places = answered(report)
        tempt(report["decisions"][places[0]], taken=True)
        tempt(report["decisions"][places[1]])
        show_report(page, report)
        for index in places[:2]:
            page.click(f".chip[data-index='{index}']")
            look.at(f"a finished game, move {index} of its report with a fall and a trap seen through")
        page.driver.get(f"{host.url}/game/nogame00")
        page.find(".notice")
        look.at("a game that does not exist")
        page.driver.get(host.url)
        page.find("[data-test=history]")
        look.at("the lobby of somebody known")
        assert look.troubles == []
    finally:
        prefer(page, "")
