"""A headless Chromium and the arena that it looks at."""

import os
import shutil
from collections.abc import Iterator
from pathlib import Path

import pytest
from selenium.webdriver import Chrome, ChromeOptions
from selenium.webdriver.chrome.service import Service

from tests.browser.host import Host
from tests.browser.page import Page
from tests.patience import PATIENCE_S

ARGUMENTS = (
    "--no-sandbox",
    "--disable-gpu",
    "--force-prefers-reduced-motion",
    "--disable-quic",
    "--no-first-run",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
    "--disable-dev-shm-usage",
)
WIDTH, HEIGHT = 1280, 900
"""The page's size.  A whole browser's window is higher than its page, the headless shell's is not."""


@pytest.fixture(scope="module", autouse=True)
def _patient() -> Iterator[None]:
    """No page is given up because the machine is busy."""
    with pytest.MonkeyPatch.context() as patch:
        for limit in ("page_cache.PAGE_TIMEOUT_S", "page_workers.WORKER_TIMEOUT_S"):
            patch.setattr(f"bot.dashboard.{limit}", PATIENCE_S)
        yield


@pytest.fixture(scope="session")
def driver(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Chrome]:
    """One browser for the whole run; `page` gives each test a clean profile of its own in it."""
    folder = tmp_path_factory.mktemp("chromium")
    browser = _shell(folder) or shutil.which("chromium") or shutil.which("chromium-browser")
    service = shutil.which("chromedriver")
    if browser is None or service is None:
        reason = "needs chromium and chromedriver in PATH"
        if os.environ.get("CI") == "true":
            pytest.fail(reason)
        pytest.skip(reason)
    options = ChromeOptions()
    options.binary_location = browser
    for argument in (*ARGUMENTS, "--headless=new", f"--user-data-dir={folder}/profile"):
        options.add_argument(argument)
    options.set_capability("goog:loggingPrefs", {"browser": "ALL"})
    opened = Chrome(options=options, service=Service(service))
    opened.set_window_size(WIDTH, HEIGHT)
    shown = opened.execute_script("return [innerWidth, innerHeight]")
    opened.set_window_size(2 * WIDTH - shown[0], 2 * HEIGHT - shown[1])
    yield opened
    opened.quit()


def _shell(folder: Path) -> str | None:
    """A program that starts Chromium without the browser around the page, which is a third cheaper.

    It opens no page unless it is given one, and the driver needs one.
    """
    shell = shutil.which("chromium-headless-shell")
    if shell is None:
        return None
    program = folder / "shell"
    program.write_text(f'#!/bin/sh\nexec {shell} "$@" data:,\n')
    program.chmod(0o700)
    return str(program)


@pytest.fixture
def host(tmp_path: Path) -> Iterator[Host]:
    with Host(tmp_path) as opened:
        yield opened


@pytest.fixture
def tab(driver: Chrome) -> Iterator[Page]:
    """A tab; scripts must not have complained when the test is over."""
    first = driver.current_window_handle
    opened = Page(driver)
    yield opened
    complaints = opened.complaints()
    for handle in driver.window_handles:
        if handle != first:
            driver.switch_to.window(handle)
            driver.close()
    driver.switch_to.window(first)
    # Leave before the arena closes: a page without its server keeps asking for it.
    driver.get("about:blank")
    assert not complaints


@pytest.fixture
def page(tab: Page, host: Host) -> Page:
    """A tab on which nobody has a name yet."""
    tab.forget_everything(host.url)
    return tab
