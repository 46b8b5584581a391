"""The page survives reloads, restarts of the server, and a second tab."""

from tests.browser.host import Host
from tests.browser.page import Page
from tests.browser.test_game import board_after


def test_a_reload_brings_the_game_back(page: Page, host: Host) -> None:
    page.begin(host.url, "anna")
    for _ in range(3):
        page.play_one()
    page.until_moves(6)
    before, board = page.moves, page.board
    page.driver.refresh()
    page.until_moves(6)
    assert page.moves == before
    assert page.board == board
    page.play_one()
    assert len(page.moves) >= 7


def test_the_lobby_leads_back_to_the_game(page: Page, host: Host) -> None:
    page.begin(host.url, "anna")
    page.play_one()
    page.driver.get(host.url)
    page.click(".going-game")
    page.until_moves(2)


def test_a_lost_link_is_shown_and_mends_itself(page: Page, host: Host) -> None:
    page.begin(host.url, "anna")
    page.play_one()
    page.until_moves(2)
    before = page.moves
    host.stop()
    page.until_text("#link-state", "Reconnecting")
    assert page.legal == []  # nothing can be played into the void
    host.start()
    page.until_gone("#link-state")
    assert page.moves[: len(before)] == before
    own = page.play_to_end()
    assert own
    assert page.board == board_after(page.moves)


def test_a_second_tab_shows_the_same_game(page: Page, host: Host) -> None:
    page.begin(host.url, "anna")
    host.hold()
    driver = page.driver
    first, address = driver.current_window_handle, driver.current_url
    driver.switch_to.new_window("tab")
    driver.get(address)
    page.find(".square.legal")
    page.play("f5")

    driver.switch_to.window(first)
    page.until_text(".status-line", "Desdemona is thinking")
    assert page.moves == ["f5"]
    assert page.legal == []
    host.release()
    page.until_moves(2)
    page.play_one()
    page.until_moves(4)
    made = page.moves
    driver.switch_to.window(driver.window_handles[-1])
    page.until_moves(4)
    assert page.moves == made


def test_a_move_made_on_an_old_board_changes_nothing(page: Page, host: Host) -> None:
    """The page of a tab that missed a move: the server refuses, the page shows why and catches up."""
    page.begin(host.url, "anna")
    page.play("f5")
    page.until_moves(2)
    answer = page.driver.execute_async_script(
        "const [id, done] = arguments;"
        "const person = JSON.parse(localStorage.getItem('desdemona.person'));"
        "fetch(`/api/board/game/${id}/move/d3?ply=0`,"
        " {method: 'POST', headers: {Authorization: `Bearer ${person.token}`}})"
        ".then(async (response) => done([response.status, (await response.json()).error]))",
        page.game_id,
    )
    assert answer[0] == 409
    assert len(page.moves) == 2
