"""What a person does on the page and sees there."""

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

from selenium.common.exceptions import (
    NoSuchElementException,
    StaleElementReferenceException,
    TimeoutException,
)
from selenium.webdriver import Chrome
from selenium.webdriver.common.by import By
from selenium.webdriver.common.keys import Keys
from selenium.webdriver.remote.webelement import WebElement
from selenium.webdriver.support.ui import WebDriverWait

from tests.browser.opponent import chosen_at_random
from tests.patience import PATIENCE_S

_TURN = """(() => {
    const named = (selector) => [...document.querySelectorAll(selector)].map((each) => each.dataset.square);
    const moves = [...document.querySelectorAll('.move')].map((move) => move.textContent);
    const legal = named('.square.legal'), goals = named('.square.goal');
    const isOver = document.querySelector('[data-test=new-game]') !== null;
    const isToPass = document.querySelector('[data-test=pass]') !== null;
    return (legal.length || isToPass || isOver) && {moves, legal, goals, isOver};
})()"""
_SHOWN = """return [...document.querySelectorAll(arguments[0])].filter((element) => {
    const box = element.getBoundingClientRect();
    return box.width > 0 && box.height > 0
        && element.checkVisibility({opacityProperty: true, visibilityProperty: true});
})"""
_CENTRE = """
    const [element, done] = arguments;
    const centre = () => {
        const box = element.getBoundingClientRect();
        return {x: box.x + box.width / 2, y: box.y + box.height / 2};
    };
    addEventListener('pagehide', () => done(null));  // else it waits for a frame that never comes
    element.scrollIntoView({block: 'center'});
    let last = centre();
    const look = () => {
        const now = centre();
        const isStill = now.x === last.x && now.y === last.y;
        last = now;
        if (!element.isConnected || isStill && element.contains(document.elementFromPoint(now.x, now.y))) {
            window.isPressed = false;
            const arrives = () => { window.isPressed = true; };
            element.addEventListener('click', arrives, {capture: true, once: true});
            done(element.isConnected ? now : null);
        } else {
            requestAnimationFrame(look);
        }
    };
    requestAnimationFrame(look);
"""
"""Where to click an element, once it stands still and nothing covers it; null: it has left the page."""
_PRESSED = "return window.isPressed !== false"
"""Whether the click has reached its element, or has led to another page."""
_IGNORED = (StaleElementReferenceException, NoSuchElementException)


class Page:
    """One tab of a browser."""

    def __init__(self, driver: Chrome) -> None:
        self.driver = driver
        driver.set_script_timeout(PATIENCE_S)
        self._wait = WebDriverWait(driver, PATIENCE_S, poll_frequency=0.05, ignored_exceptions=_IGNORED)

    # --- Seeing -----------------------------------------------------------------------------------------

    def find(self, selector: str) -> WebElement:
        """The first element of the selector, as soon as it is there and shown."""
        shown: list[WebElement] = self._wait.until(
            lambda _: self._shown(selector), f"{selector} is not shown"
        )
        return shown[0]

    def _shown(self, selector: str) -> list[WebElement]:
        # One question for all elements: `WebElement.is_displayed` sends 40 kB of JavaScript for each.
        found: list[WebElement] = self.driver.execute_script(_SHOWN, selector)
        return found

    def count(self, selector: str) -> int:
        return len(self.driver.find_elements(By.CSS_SELECTOR, selector))

    def text(self, selector: str) -> str:
        return self.find(selector).text

    def until_text(self, selector: str, part: str) -> None:
        """Wait until an element says something."""
        self._wait.until(
            lambda driver: part in driver.find_element(By.CSS_SELECTOR, selector).text,
            f"{selector} never says {part!r}",
        )

    def until_gone(self, selector: str) -> None:
        self._wait.until(lambda _: not self._shown(selector), f"{selector} is still shown")

    def until_moves(self, count: int) -> None:
        """Wait until the list of moves is at least so long."""
        self.until_true(f"document.querySelectorAll('.move').length >= {count}")

    def until_other_game(self, game_id: str) -> None:
        """Wait until the page has gone from this game to another one."""
        self._wait.until(lambda _: self.game_id != game_id, "the page stays in the old game")

    @property
    def status(self) -> str:
        return self.text(".status-line")

    @property
    def game_id(self) -> str:
        return self.driver.current_url.rpartition("/")[2]

    @property
    def moves(self) -> list[str]:
        """The list of moves."""
        texts: list[str] = self.driver.execute_script(
            "return [...document.querySelectorAll('.move')].map((move) => move.textContent)"
        )
        return texts

    @property
    def board(self) -> str:
        """All squares in reading order: b, w or a dot."""
        letters: str = self.driver.execute_script(
            "return [...document.querySelectorAll('.game .square')]"
            ".map((square) => square.querySelector('.piece')?.dataset.piece ?? '.').join('')"
        )
        return letters

    @property
    def legal(self) -> list[str]:
        """Squares that may be touched now: those to play on, or pieces that can move."""
        return self._squares(".square.legal")

    @property
    def goals(self) -> list[str]:
        """Squares whose touch makes a whole move, all things considered that have been touched already."""
        return self._squares(".square.goal")

    def _squares(self, selector: str) -> list[str]:
        names: list[str] = self.driver.execute_script(
            "return [...document.querySelectorAll(arguments[0])].map((square) => square.dataset.square)",
            selector,
        )
        return names

    @property
    def chat(self) -> list[str]:
        """What is shown to have been said."""
        texts: list[str] = self.driver.execute_script(
            "return [...document.querySelectorAll('.chat-line span')].map((line) => line.textContent)"
        )
        return texts

    def until_chat(self, lines: list[str]) -> None:
        """Wait until these lines, and no others, are shown."""
        self._wait.until(lambda _: self.chat == lines, f"the chat is never {lines}")

    def until_true(self, script: str) -> Any:
        """What an expression of JavaScript gives, once that is true.

        It is the page that asks itself until then, and must stay: each question from without costs it as much
        as a move.
        """
        try:
            return self.driver.execute_async_script(
                f"const [done] = arguments, look = () => ({script});"
                "const ask = () => { const found = look(); found ? done(found) : setTimeout(ask, 20); };"
                "ask();"
            )
        except TimeoutException as error:
            raise TimeoutException(f"never {script}") from error

    # --- Doing ------------------------------------------------------------------------------------------

    def forget_everything(self, url: str) -> None:
        """Leave no name of an earlier test in the browser, and no old complaint."""
        self.driver.get(f"{url}/static/icon.svg")
        self.driver.execute_script("localStorage.clear()")
        self.complaints()

    def click(self, selector: str) -> None:
        self._press(lambda: self.find(selector))

    def choose(self, name: str, value: str) -> None:
        """Pick one of the form's options."""
        self.driver.find_element(By.CSS_SELECTOR, f"input[name={name}][value='{value}']").click()

    def begin(
        self,
        url: str,
        name: str | None,
        *,
        color: str = "black",
        rated: bool = True,
        variant: str = "othello",
    ) -> None:
        """Open the page, take a name and challenge the bot; returns when the game is on the screen."""
        self.driver.get(url)
        self.find(".challenge")
        self.choose("variant", variant)
        if name is not None:
            self.find("#nickname").send_keys(name)
        self.choose("color", color)
        self.choose("rated", "true" if rated else "false")
        self.click("[data-test=challenge]")
        self.find(".game")

    def say(self, text: str) -> None:
        """Say something beside the board; returns when the server has taken it."""
        self.find(".chat-form input").send_keys(text + Keys.ENTER)
        self.until_true("document.querySelector('.chat-form input').value === ''")

    def play(self, *squares: str) -> None:
        """Touch a move's squares and wait until the server has taken it."""
        made = len(self.moves)
        for square in squares:
            self.find(f".square.legal[data-square='{square}']").click()
        self.until_moves(made + 1)

    def play_one(self, seed: str = "") -> str:
        """Make a move, or pass, as soon as it is this side's turn. Empty: the game is over."""
        turn = self.until_our_turn()
        moves, legal = turn["moves"], turn["legal"]
        made = f"document.querySelectorAll('.move').length > {len(moves)}"
        if turn["isOver"]:
            return ""
        if not legal:
            self.click("[data-test=pass]")
            self.until_true(made)
            return "pass"
        square = chosen_at_random(moves, legal, seed)
        self._touch(square)
        if square in turn["goals"]:
            self.until_true(made)
            return square
        goal = chosen_at_random([*moves, square], self.goals, seed)
        self._touch(goal)
        then = self.until_true(f"{made} ? 'made' : document.querySelector('.choice-button') && 'asked'")
        if then == "asked":
            self.click(".choice-button")  # whatever it is to become: the first that is offered
            self.until_true(made)
        return square + goal

    def _touch(self, square: str) -> None:
        selector = f".game .square[data-square='{square}']"
        self._press(lambda: self.driver.find_element(By.CSS_SELECTOR, selector))

    def _press(self, find: Callable[[], WebElement]) -> None:
        """Click where a person would; half the driver's price, whose own click asks many things around it.

        An element that moves or is replaced under the pointer gets no click, and is clicked again.
        """
        self._wait.until(lambda _: self._is_pressed(find), "no click reaches the element")

    def _is_pressed(self, find: Callable[[], WebElement]) -> bool:
        at = self._wait.until(lambda _: self.driver.execute_async_script(_CENTRE, find()))
        for kind in ("mousePressed", "mouseReleased"):
            mouse = {"type": kind, "button": "left", "clickCount": 1, **at}
            self.driver.execute_cdp_cmd("Input.dispatchMouseEvent", mouse)
        return bool(self.driver.execute_script(_PRESSED))

    def until_our_turn(self) -> dict[str, Any]:
        """Wait until there is a move to make, or a pass, or the game is over; what there is."""
        turn: dict[str, Any] = self.until_true(_TURN)
        return turn

    @property
    def is_over(self) -> bool:
        return self.count("[data-test=new-game]") > 0

    def play_to_end(self) -> list[str]:
        """Play until the game is over; the person's own moves."""
        own = []
        while move := self.play_one():
            own.append(move)
        return own

    def resign(self) -> None:
        """Give the game up on the person's turn; else the opponent's move may be lost on its way.

        Returns when the page shows the end: one that is left before takes its request back.
        """
        self.until_our_turn()
        self.click("[data-test=resign]")
        self.click("dialog [data-test=confirm]")
        self.find("[data-test=new-game]")

    @contextmanager
    def wide(self, width: int) -> Iterator[None]:
        """A window of so many pixels, a phone's if it is narrow."""
        size = {"width": width, "height": 800, "deviceScaleFactor": 1, "mobile": width < 600}
        self.driver.execute_cdp_cmd("Emulation.setDeviceMetricsOverride", size)
        try:
            yield
        finally:
            self.driver.execute_cdp_cmd("Emulation.clearDeviceMetricsOverride", {})

    # --- Judging ----------------------------------------------------------------------------------------

    def complaints(self) -> list[str]:
        """What the browser's console says about scripts and the content security policy."""
        entries = self.driver.get_log("browser")  # type: ignore[no-untyped-call]
        return [e["message"] for e in entries if e["level"] == "SEVERE" and e["source"] != "network"]
