"""Boards whose pieces move from square to square: chess and xiangqi at the real page."""

import re

import pytest
from selenium.webdriver.common.action_chains import ActionChains
from selenium.webdriver.common.by import By
from selenium.webdriver.common.keys import Keys

from engine.games import get_rules
from tests.browser.host import Host
from tests.browser.page import Page

NAMES = {"standard": "chess", "xiangqi": "xiangqi"}
UNDERPROMOTION = "e2e4 f7f5 e4f5 g7g6 f5g6 b8c6 g6h7 c6e5"
CASTLING = "e2e4 e7e5 g1f3 b8c6 f1c4 f8c5"
FACING = "e4e5 e7e6 e5e6 h8e8 e6d6"


def squares_of(move: str) -> tuple[str, str]:
    found = re.fullmatch(r"([a-i]\d+)([a-i]\d+)[nbrq]?", move)
    assert found is not None
    return found[1], found[2]


def open_game(page: Page, host: Host, variant: str, color: str, moves: str = "") -> None:
    """Begin a game and play these moves; the opponent answers as they say."""
    listed = moves.split()
    host.opponent.script = {" ".join(listed[:ply]): move for ply, move in enumerate(listed)}
    page.begin(host.url, "anna", color=color, variant=variant)
    for ply, move in enumerate(listed):
        if (ply % 2 == 0) == (color == "white"):
            page.until_moves(ply)
            page.play(*squares_of(move))
    page.until_moves(len(listed))


def drag(page: Page, start: str, goal: str) -> None:
    """Press on one square, go to another by way of the middle, let go."""
    first, last = (page.find(f".square[data-square='{square}']") for square in (start, goal))
    chain = ActionChains(page.driver, duration=20)
    chain.move_to_element(first).click_and_hold()
    chain.move_by_offset(7, 7).move_to_element(last).release().perform()


def drag_by_finger(page: Page, start: str, goal: str) -> None:
    """The same with a finger, and look at the board on the way."""
    x1, y1, x2, y2 = page.driver.execute_script(
        "return arguments[0].flatMap((name) => {"
        "  const box = document.querySelector(`.square[data-square='${name}']`).getBoundingClientRect();"
        "  return [box.left + box.width / 2, box.top + box.height / 2];"
        "})",
        [start, goal],
    )
    for kind, points in (
        ("touchStart", [{"x": x1, "y": y1}]),
        ("touchMove", [{"x": (x1 + x2) / 2, "y": (y1 + y2) / 2}]),
        ("touchMove", [{"x": x2, "y": y2}]),
        ("touchEnd", []),
    ):
        page.driver.execute_cdp_cmd("Input.dispatchTouchEvent", {"type": kind, "touchPoints": points})


def label(page: Page, square: str) -> str | None:
    return page.find(f".square[data-square='{square}']").get_attribute("aria-label")


@pytest.mark.parametrize("variant", NAMES)
@pytest.mark.parametrize("color", ["white", "black"])
def test_the_own_side_sits_below(page: Page, host: Host, variant: str, color: str) -> None:
    game = get_rules(NAMES[variant])
    opening = "" if color == "white" else {"standard": "e2e4", "xiangqi": "h3e3"}[variant]
    open_game(page, host, variant, color, opening)
    page.find(".square.movable")
    position = game.initial()
    for move in opening.split():
        position = game.play(position, game.parse_move(position, move))
    rows = "".join(game.board_rows(position))
    assert page.board == (rows if color == "white" else rows[::-1])
    first = page.driver.find_elements(By.CSS_SELECTOR, ".game .square")[0].get_attribute("data-square")
    far, near = {"standard": ("a8", "h1"), "xiangqi": ("a10", "i1")}[variant]
    assert first == (far if color == "white" else near)
    bars = [bar.get_attribute("data-colour") for bar in page.driver.find_elements(By.CSS_SELECTOR, ".bar")]
    assert bars[-1] == color


def test_a_piece_is_touched_and_then_its_goal(page: Page, host: Host) -> None:
    open_game(page, host, "standard", "white")
    page.find(".square.movable")
    assert sorted(page.legal) == sorted([*(f"{file}2" for file in "abcdefgh"), "b1", "g1"])
    assert page.goals == []
    page.click(".square[data-square=g1]")
    assert sorted(page.goals) == ["f3", "h3"]
    page.click(".square[data-square=e2]")  # another piece instead
    assert sorted(page.goals) == ["e3", "e4"]
    page.click(".square[data-square=e2]")  # and let go of it
    assert page.goals == []
    page.click(".square[data-square=e2]")
    page.click(".square[data-square=d4]")  # no goal of it: nothing happens
    assert page.goals == []
    page.play("g1", "f3")
    assert page.moves[0] == "Nf3"
    page.until_moves(2)


def test_a_redraw_keeps_the_choice_while_it_is_one(page: Page, host: Host) -> None:
    """As when the clocks come again while somebody has touched a piece."""
    open_game(page, host, "standard", "white")
    drawn = page.driver.execute_async_script(
        "const [done] = arguments;"
        "import('/static/board/board.js').then(({ Board }) => {"
        "  const board = new Board({ game: 'chess', label: 'a board', onMove: () => {} });"
        "  const rows = ['........', '........', '........', '........',"
        "                '........', '........', 'PP......', '........'];"
        "  const legal = [{ move: 'a2a3', squares: ['a2', 'a3'] }];"
        "  board.draw({ rows, legal, enabled: true });"
        "  board.element.querySelector('[data-square=a2]').click();"
        "  const goals = () => board.element.querySelectorAll('.goal').length;"
        "  const touched = goals();"
        "  board.draw({ rows, legal, enabled: true });"
        "  const kept = goals();"
        "  board.draw({ rows, legal: [{ move: 'b2b3', squares: ['b2', 'b3'] }], enabled: true });"
        "  done([touched, kept, goals()]);"
        "});"
    )
    assert drawn == [1, 1, 0]


def test_a_piece_slides_to_its_goal_and_is_there(page: Page, host: Host) -> None:
    """Where people have not asked for less motion; the browser here is told that they have."""
    still = {"name": "prefers-reduced-motion", "value": "no-preference"}
    page.driver.execute_cdp_cmd("Emulation.setEmulatedMedia", {"features": [still]})
    try:
        open_game(page, host, "standard", "white")
        page.driver.execute_script(
            "window.slid = [];"
            "const look = ([{target}]) => {"
            "  if (target.classList.contains('arriving')) window.slid.push(target.dataset.square);"
            "};"
            "const board = document.querySelector('.game .board');"
            "new MutationObserver(look).observe(board, {subtree: true, attributeFilter: ['class']});"
        )
        page.play("e2", "e4")
        page.until_moves(2)
        page.until_true("window.slid.length > 0 && document.querySelector('.arriving') === null")
    finally:
        page.driver.execute_cdp_cmd("Emulation.setEmulatedMedia", {"features": []})


def test_a_piece_is_dragged(page: Page, host: Host) -> None:
    open_game(page, host, "standard", "white")
    drag(page, "e2", "e5")  # not there
    assert page.goals == []
    assert page.moves == []
    drag(page, "e2", "e4")
    page.until_moves(2)
    assert page.moves[0] == "e4"
    drag(page, "g1", "g1")  # lifted and put back: a touch
    assert "f3" in page.goals


def test_a_piece_is_dragged_by_finger_on_a_phone(page: Page, host: Host) -> None:
    page.driver.execute_cdp_cmd(
        "Emulation.setDeviceMetricsOverride",
        {"width": 360, "height": 740, "deviceScaleFactor": 2, "mobile": True},
    )
    page.driver.execute_cdp_cmd("Emulation.setTouchEmulationEnabled", {"enabled": True})
    try:
        open_game(page, host, "xiangqi", "white")
        page.find(".square.movable")
        wide = page.driver.execute_script(
            "return [document.documentElement.scrollWidth, document.documentElement.clientWidth]"
        )
        assert wide[0] <= wide[1]
        before = page.driver.execute_script("return scrollY")
        drag_by_finger(page, "h3", "e3")
        page.until_moves(2)
        assert page.moves[0] == "C2=5"
        assert page.driver.execute_script("return scrollY") == before
    finally:
        page.driver.execute_cdp_cmd("Emulation.setTouchEmulationEnabled", {"enabled": False})
        page.driver.execute_cdp_cmd("Emulation.clearDeviceMetricsOverride", {})


def test_what_a_pawn_becomes_is_chosen(page: Page, host: Host) -> None:
    open_game(page, host, "standard", "white", UNDERPROMOTION)
    page.find(".square.movable[data-square=h7]").click()
    page.find(".square.goal[data-square=g8]").click()
    choices = page.driver.find_elements(By.CSS_SELECTOR, ".choice-button")
    assert [choice.get_attribute("aria-label") for choice in choices] == [
        "white queen, hxg8=Q",
        "white rook, hxg8=R",
        "white bishop, hxg8=B",
        "white knight, hxg8=N",
    ]
    assert page.count(".choice-button .shape") == 4
    page.driver.switch_to.active_element.send_keys(Keys.ESCAPE)
    page.until_gone("dialog")
    assert len(page.moves) == 8
    page.find(".square.movable[data-square=h7]").click()
    page.find(".square.goal[data-square=g8]").click()
    page.click("[data-choice=h7g8n]")
    page.until_moves(9)
    assert page.moves[8] == "hxg8=N"


def test_a_king_castles_by_its_own_move(page: Page, host: Host) -> None:
    open_game(page, host, "standard", "white", CASTLING)
    page.play("e1", "g1")
    assert page.moves[6] == "O-O"
    page.until_true(
        "document.querySelector('[data-square=f1] .piece')?.dataset.piece === 'R'"
        " && !document.querySelector('[data-square=h1] .piece')"
    )


def test_check_is_shown_and_said(page: Page, host: Host) -> None:
    open_game(page, host, "standard", "black", "e2e4 f7f6 d1h5")
    page.until_text(".status-detail", "check")
    assert page.find("[data-shows~=check]").get_attribute("data-square") == "e8"
    page.until_text("#announcer", "Desdemona played Qh5+, white queen from d1 to h5.")
    page.until_text("#announcer", "in check. Your move.")
    page.play("g7", "g6")
    page.until_gone("[data-shows~=check]")


@pytest.mark.parametrize(
    ("variant", "moves", "winner", "king"),
    [
        ("standard", "f2f3 e7e5 g2g4 d8h4", "Desdemona won", "e1"),
        ("xiangqi", "h3e3 a7a6 e3e7 a6a5 b3b5 i7i6 b5e5", "You won", "e10"),
    ],
)
def test_checkmate_ends_the_game(
    page: Page, host: Host, variant: str, moves: str, winner: str, king: str
) -> None:
    open_game(page, host, variant, "white", moves)
    page.until_text(".status-line", winner)
    assert page.text(".status-detail") == "Checkmate."
    assert page.find("[data-shows~=check]").get_attribute("data-square") == king
    page.click("[data-step=left]")
    assert page.count("[data-shows~=check]") == 0


def test_the_generals_must_not_face_each_other(page: Page, host: Host) -> None:
    open_game(page, host, "xiangqi", "black", FACING)
    page.until_text(".status-detail", "cannon on e8")
    shown = page.driver.find_elements(By.CSS_SELECTOR, "[data-shows~=facing]")
    assert {square.get_attribute("data-square") for square in shown} == {"e1", "e8", "e10"}
    assert page.count(".link-facing") == 1
    # It may go along the file only.
    page.find(".square.movable[data-square=e8]").click()
    assert page.goals
    assert {square[0] for square in page.goals} == {"e"}


def test_the_board_is_played_by_keyboard_alone(page: Page, host: Host) -> None:
    open_game(page, host, "xiangqi", "white")
    page.find(".square.movable")
    assert label(page, "h3") == "h3, red cannon, can move"
    assert label(page, "e10") == "e10, black general"
    page.driver.execute_script("document.querySelector('[data-square=h3]').focus()")

    def press(key: str) -> str:
        page.driver.switch_to.active_element.send_keys(key)
        return str(page.driver.switch_to.active_element.get_attribute("aria-label"))

    assert press(Keys.ENTER) == "h3, red cannon, chosen"
    page.until_text("#announcer", "h3 chosen")
    assert press("n").endswith("legal move")
    assert press(Keys.ESCAPE) is not None
    assert page.goals == []
    page.driver.execute_script("document.querySelector('[data-square=h3]').focus()")
    press(Keys.ENTER)
    for _ in range(3):
        press(Keys.ARROW_LEFT)
    assert label(page, "e3") == "e3, empty, legal move"
    press(Keys.ENTER)
    page.until_moves(1)
    assert page.moves[0] == "C2=5"


def test_what_has_been_taken_is_shown(page: Page, host: Host) -> None:
    open_game(page, host, "standard", "white", "e2e4 d7d5")
    assert page.count(".taken-piece") == 0
    host.hold()
    page.play("e4", "d5")
    assert page.find(".bar[data-colour=white] .taken").get_attribute("title") == "black pawn"
    assert page.count(".bar[data-colour=white] .taken-piece") == 1
    host.release()


def test_a_draw_is_offered_and_the_offer_stands(page: Page, host: Host) -> None:
    open_game(page, host, "standard", "white", "e2e4 e7e5")
    host.hold()
    page.play("g1", "f3")
    page.click("[data-test=draw]")
    page.until_text("[data-test=draw]", "Draw offered")
    assert not page.find("[data-test=draw]").is_enabled()
    host.release()


def test_pieces_can_be_read_without_chinese_letters(page: Page, host: Host) -> None:
    open_game(page, host, "xiangqi", "white")
    page.find(".square.movable")
    letters = page.driver.execute_script(
        "return [...document.querySelectorAll('.game .square .piece use')].slice(0, 9).map((each) => {"
        "  const letter = document.querySelector(`${each.getAttribute('href')} .latin`);"
        "  const style = getComputedStyle(each);"
        "  const isShown = (name) => style.getPropertyValue(name) === 'inline';"
        "  return isShown('--latin') !== isShown('--latin-only') && letter.textContent;"
        "})"
    )
    assert letters == [*"RHEAKAEHR"]


def test_the_lobby_shows_each_game(page: Page, host: Host) -> None:
    page.driver.get(host.url)
    page.find(".challenge")
    for variant, sides in (("standard", "White"), ("xiangqi", "Red"), ("othello", "Black")):
        page.choose("variant", variant)
        page.until_text(".segments-color", sides)
        assert page.text(".segments-color .segment-label") == sides
        page.until_text(".rules summary", "How")
    for variant in NAMES:
        page.choose("variant", variant)
        assert page.count(".showcase .arrow-trap") == page.count(".showcase .arrow-best") == 1
