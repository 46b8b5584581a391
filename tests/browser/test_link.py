"""The page survives reloads, restarts of the server, and a second tab."""

from tests.browser.host import Host
from tests.browser.page import Page
from tests.browser.test_game import board_after

# The page's network with gates: lists of the chat stop before they are asked for and before they are handed
# on, the newest answer being let through first; lines of the chat stop on their way in the game's stream.
GATES = """
const gates = {asking: null, answering: null, telling: null};
const waiting = {asking: [], answering: [], telling: []};
window.waiting = (name) => waiting[name].length;
window.shut = (name) => { gates[name] = true; };
window.free = (name) => {
  gates[name] = null;
  while (waiting[name].length) waiting[name].pop()();
};
const pass = (name) => gates[name] && new Promise((resolve) => waiting[name].push(resolve));
const real = window.fetch;
window.fetch = async (path, options) => {
  const isChat = path.endsWith("/chat") && options.method === "GET";
  if (isChat) await pass("asking");
  const response = await real(path, options);
  if (isChat) await pass("answering");
  if (!path.includes("/game/stream/")) return response;
  const slowed = new TransformStream({
    async transform(chunk, out) {
      if (new TextDecoder().decode(chunk).includes("chatLine")) await pass("telling");
      out.enqueue(chunk);
    },
  });
  return new Response(response.body.pipeThrough(slowed), response);
};
"""


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
    clock = page.find(".bar[data-colour=black] .clock").rect
    host.stop()
    page.until_text("#link-state", "Reconnecting")
    page.until_text(".status-line", "Reconnecting")
    assert page.find(".bar[data-colour=black] .clock").rect == clock  # nothing is pushed away
    assert page.legal == []  # nothing can be played into the void
    host.start()
    page.until_gone("#link-state")
    assert page.moves[: len(before)] == before
    for _ in range(3):
        assert page.play_one()
    page.until_our_turn()
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


def test_another_database_asks_for_a_name_again(page: Page, host: Host) -> None:
    page.begin(host.url, "anna")
    page.click(".brand")
    page.until_text(".you-line", "Playing as anna")
    host.stop()
    host.forget()
    host.start()
    page.find("#nickname").send_keys("berta")
    page.until_text("[data-test=challenge]", "Challenge Desdemona")
    page.click("[data-test=challenge]")
    page.find(".game")
    page.until_text("#who", "berta")


def test_the_chat_shows_each_line_once_whatever_overtakes_what(page: Page, host: Host) -> None:
    page.begin(host.url, "anna")
    fun = "Have fun <b>!</b>"
    page.until_chat([fun])
    page.driver.execute_script(GATES)

    # The list that was asked for first arrives last, after a line that was said since.
    page.click(".brand")
    page.driver.execute_script("shut('answering')")
    page.click(".going-game")
    page.until_true("waiting('answering') > 0")
    page.say("gg")
    page.driver.execute_script("free('answering')")
    page.until_chat([fun, "gg"])

    # The list brings a line before the stream does, and the same words have been said before.
    page.click(".brand")
    page.driver.execute_script("shut('asking'); shut('telling')")
    page.click(".going-game")
    page.until_true("waiting('asking') > 0")
    page.say("gg")
    page.until_true("waiting('telling') > 0")
    page.driver.execute_script("free('asking')")
    page.until_chat([fun, "gg", "gg"])
    page.driver.execute_script("free('telling')")
    page.play_one()  # comes by the stream, behind the line
    page.say("bye")
    page.until_chat([fun, "gg", "gg", "bye"])


def test_a_name_moves_here_by_a_code(page: Page, host: Host) -> None:
    page.begin(host.url, "anna")
    page.click(".brand")
    page.until_text(".you-line", "Playing as anna")
    page.click("[data-test=give-code]")
    code = page.text("dialog h2")
    page.click("[data-test=confirm]")
    page.forget_everything(host.url)  # as if on another device
    page.driver.get(host.url)
    page.click(".have-code summary")
    page.find("#code").send_keys(code)
    page.click("[data-test=use-code]")
    page.until_text("#who", "anna")
    page.find(".going a")  # its game goes on here
