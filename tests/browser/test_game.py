"""A person and a program play through the real page and the real arena."""

from selenium.webdriver import ActionChains
from selenium.webdriver.common.by import By
from selenium.webdriver.common.keys import Keys

from engine.game import replay
from engine.games.othello import Othello
from tests.browser.host import Host
from tests.browser.opponent import chosen_at_random
from tests.browser.page import Page


def board_after(moves: list[str]) -> str:
    game = Othello()
    return "".join(game.board_rows(replay(game, moves)))


def test_a_game_is_played_to_its_end(page: Page, host: Host) -> None:
    page.begin(host.url, "anna")
    own = page.play_to_end()

    moves = page.moves
    assert moves[0::2] == own
    position = replay(Othello(), moves)
    assert not Othello().legal_moves(position)
    assert page.board == board_after(moves)
    black, white = page.board.count("b"), page.board.count("w")
    title = "You won!" if black > white else "Desdemona won" if white > black else "Draw"
    assert page.status == title
    assert page.text(".status-detail") == f"{black} : {white}"
    assert page.text(".bar[data-colour=black] .count") == str(black)
    assert int(page.text(".bar[data-colour=black] .diff").replace("\N{MINUS SIGN}", "-")) != 0


def test_a_person_without_a_move_passes_by_button(page: Page, host: Host) -> None:
    # Both sides' moves follow from the game so far; with this seed white has no 24th move.
    page.begin(host.url, "anna", color="white")
    while page.play_one(seed="405") != "pass":
        assert not page.is_over
    assert page.moves[23] == "pass"
    assert "pass" not in page.moves[:23]
    assert page.board == board_after(page.moves)


def test_an_illegal_square_does_nothing(page: Page, host: Host) -> None:
    page.begin(host.url, "anna")
    assert sorted(page.legal) == ["c4", "d3", "e6", "f5"]
    page.click(".square[data-square=a1]")
    page.play("f5")
    assert page.moves[0] == "f5"


def test_the_board_is_played_by_keyboard_alone(page: Page, host: Host) -> None:
    page.begin(host.url, "anna")
    page.find(".square.legal")
    square = page.driver.find_element(By.CSS_SELECTOR, ".square[data-square=a1]")
    page.driver.execute_script("arguments[0].focus()", square)
    square.send_keys("n")
    active = page.driver.switch_to.active_element
    assert active.get_attribute("aria-label") == "d3, empty, legal move"
    for key in (Keys.ARROW_DOWN, Keys.ARROW_DOWN, Keys.ARROW_RIGHT, Keys.ARROW_RIGHT):
        page.driver.switch_to.active_element.send_keys(key)
    page.driver.switch_to.active_element.send_keys(Keys.ENTER)
    page.until_moves(1)
    assert page.moves[0] == "f5"
    page.until_text("#announcer", "Desdemona played")


def test_resigning_asks_first(page: Page, host: Host) -> None:
    page.begin(host.url, "anna")
    page.play_one()
    page.click("[data-test=resign]")
    page.click("dialog .button:not(.danger)")
    assert not page.is_over
    page.click("[data-test=resign]")
    page.click("dialog [data-test=confirm]")
    page.until_text(".status-line", "Desdemona won")
    assert page.text(".status-detail") == "You resigned."


def test_a_game_that_has_hardly_begun_is_aborted(page: Page, host: Host) -> None:
    page.begin(host.url, "anna")
    page.click("[data-test=abort]")
    page.until_text(".status-line", "Game aborted")


def test_an_aborted_game_has_no_traps_to_see(page: Page, host: Host) -> None:
    host.opponent.sets_traps = True
    page.begin(host.url, "anna", color="white")
    page.until_our_turn()
    page.click("[data-test=abort]")
    page.until_text(".status-line", "Game aborted")
    page.find("[data-test=new-game]")
    assert page.count(".move") == 1
    assert page.count("[data-test=to-report], .report-wait, .moment") == 0


def test_a_rematch_swaps_the_colours(page: Page, host: Host) -> None:
    page.begin(host.url, "anna")
    first = page.game_id
    page.play_one()
    page.click("[data-test=resign]")
    page.click("dialog [data-test=confirm]")
    page.click("[data-test=rematch]")
    page.until_other_game(first)
    page.find(".square.legal")
    assert len(page.moves) == 1  # black is the program now, and began
    assert page.find(".bar[data-colour=white] .bar-name strong").text == "anna"


def test_what_is_said_is_shown_as_text(page: Page, host: Host) -> None:
    page.begin(host.url, "anna")
    page.until_text(".chat-lines", "Have fun <b>!</b>")
    page.find(".chat-form input").send_keys("<img src=x> hello" + Keys.ENTER)
    page.until_text(".chat-lines", "<img src=x> hello")
    assert page.count(".chat-lines img, .chat-lines b") == 0


def test_a_challenge_that_is_declined_says_why(page: Page, host: Host) -> None:
    host.opponent.decline_reason = "tooFast"
    page.driver.get(host.url)
    page.find("#nickname").send_keys("anna")
    page.click("[data-test=challenge]")
    page.until_text(".form-status", "This time control is too fast for me")
    assert "Playing as anna" in page.text(".you-line")


def test_a_name_that_breaks_the_rule_is_told_the_rule(page: Page, host: Host) -> None:
    page.driver.get(host.url)
    name = page.find("#nickname")
    name.send_keys("anna!")
    page.click("[data-test=challenge]")
    assert name.get_property("validationMessage") == "A name has 2 to 20 letters (a to z), digits, - or _."
    name.send_keys(Keys.BACKSPACE)
    page.click("[data-test=challenge]")
    page.find(".game")


def test_the_way_into_a_game_is_on_the_first_screen(page: Page, host: Host) -> None:
    page.driver.get(host.url)
    bottom = page.find("[data-test=challenge]").rect["y"] + page.find("[data-test=challenge]").rect["height"]
    assert bottom < 657


def test_a_bot_that_is_away_is_not_offered(page: Page, host: Host) -> None:
    host.add_bot("Rival")
    page.driver.get(host.url)
    page.until_text(".bots", "Desdemona")
    assert page.count(".bot") == 1


def test_a_name_of_the_bot_is_refused(page: Page, host: Host) -> None:
    page.driver.get(host.url)
    page.find("#nickname").send_keys("desdemona")
    page.click("[data-test=challenge]")
    page.until_text(".form-status", "The name desdemona is reserved; choose another")
    page.find("#nickname")


def test_a_game_that_does_not_exist_says_so(page: Page, host: Host) -> None:
    page.begin(host.url, "anna")
    page.driver.get(f"{host.url}/game/nogame00")
    page.until_text(".notice h1", "There is no such game.")


def test_a_game_asked_for_without_a_name_says_so_too(page: Page, host: Host) -> None:
    page.driver.get(f"{host.url}/game/nogame00")
    page.until_text(".notice h1", "There is no such game.")


def test_another_game_leaves_the_name_and_the_focus(page: Page, host: Host) -> None:
    page.driver.get(host.url)
    page.find("#nickname").send_keys("anna")
    page.choose("variant", "othello")
    for key, sides in ((Keys.ARROW_RIGHT, "White"), (Keys.ARROW_RIGHT, "Red")):
        page.driver.switch_to.active_element.send_keys(key)
        assert page.text(".segments-color .segment-label") == sides
    assert page.driver.switch_to.active_element.get_attribute("value") == "xiangqi"
    assert page.find("#nickname").get_property("value") == "anna"
    page.click("[data-test=challenge]")
    page.until_text(".terms", "Xiangqi \N{MIDDLE DOT} 5+3")


def test_whoever_keeps_a_place_that_others_want_is_told(page: Page, host: Host) -> None:
    page.begin(host.url, "anna")
    page.play("f5")
    page.until_moves(2)
    host.notify_idle()
    page.until_text(".status-detail", "Others are waiting for a game. Move within ")
    page.play_one()
    page.until_our_turn()
    assert "Others" not in page.text(".status-detail")


def test_a_game_without_a_clock_with_a_premove_a_look_back_and_a_takeback(page: Page, host: Host) -> None:
    page.driver.get(host.url)
    page.find("#nickname").send_keys("anna")
    page.choose("clock", "none")
    stakes = (
        "return [...document.querySelectorAll('[name=rated]')].map((each) => [each.checked, each.disabled])"
    )
    assert page.driver.execute_script(stakes) == [[False, True], [True, False]]
    assert "only your first move has a limit: 3600 s" in page.text(".no-clock-hint")
    page.choose("clock", "300+3")
    assert page.driver.execute_script(stakes) == [[True, False], [False, False]], "as before"
    assert page.driver.execute_script("return document.querySelector('.no-clock-hint').hidden")
    page.choose("clock", "none")
    page.choose("color", "black")
    page.choose("variant", "othello")
    page.click("[data-test=challenge]")
    page.until_text(".terms", "Othello \N{MIDDLE DOT} no clock \N{MIDDLE DOT} casual")
    host.hold()
    page.click(".square[data-square=f5]")
    page.until_moves(1)
    page.click("[data-test=flip]")
    assert page.board == board_after(["f5"])[::-1]
    page.click("[data-test=flip]")

    page.click(".move [type=button]")  # no effect: it is the latest
    page.driver.switch_to.active_element.send_keys(Keys.ARROW_LEFT)
    page.until_text(".status-detail", "The board shows an earlier position.")
    assert page.board == board_after([])
    page.driver.switch_to.active_element.send_keys(Keys.ARROW_RIGHT)
    assert page.board == board_after(["f5"])

    reply = chosen_at_random(["f5"], ["d6", "f6", "f4"])
    ahead = {"d6": "c5", "f6": "e6", "f4": "c3"}[reply]
    page.click(f".square[data-square={ahead}]")
    page.until_text(".status-detail", "Your next move is set.")
    host.release()
    page.until_moves(4)
    assert page.moves[:3] == ["f5", reply, ahead]

    host.hold()
    page.click("[data-test=takeback]")
    page.until_text("[data-test=takeback]", "Takeback asked for")


def test_a_finished_game_is_analysed_at_the_cursor(page: Page, host: Host) -> None:
    page.begin(host.url, "anna", rated=False)
    page.play("f5")
    page.until_our_turn()
    page.click("[data-test=resign]")
    page.click("dialog [data-test=confirm]")
    page.click("[data-test=analyse]")
    page.until_text(".analysis-lines", "Black to move")
    page.click("[data-step=first]")
    page.until_text(".analysis-lines", "Black to move")
    page.find(".game .mark-best")
    page.click("[data-step=right]")
    page.until_text(".analysis-lines", "White to move")
    page.driver.execute_script("document.activeElement.blur()")
    ActionChains(page.driver).send_keys(Keys.END).perform()
    page.until_text(".analysis-lines", "Black to move")
    page.click("[data-test=analyse]")
    assert page.count(".game .mark-best, .analysis-lines li") == 0


def test_a_piece_is_moved_ahead_and_what_is_illegal_then_is_forgotten(page: Page, host: Host) -> None:
    host.opponent.script = {"e2e4": "e7e5", "e2e4 e7e5 g1f3": "b8c6"}
    page.begin(host.url, "anna", variant="standard", color="white")
    host.hold()
    page.play("e2", "e4")
    for square in ("d2", "g1", "f3"):  # the second own piece is chosen instead of the first
        page.click(f".game .square[data-square={square}]")
    assert page.count(".square.premove") == 2
    host.release()
    page.until_moves(4)
    assert page.moves[2] == "Nf3"
    host.hold()
    page.until_our_turn()
    page.play("d2", "d3")
    for square in ("a1", "a5"):
        page.click(f".game .square[data-square={square}]")
    page.until_text(".status-detail", "Your next move is set.")
    host.release()
    page.until_our_turn()
    assert page.count(".square.premove") == 0
    assert len(page.moves) == 6
