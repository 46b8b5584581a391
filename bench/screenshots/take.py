"""Takes the operator guide's screenshots from a running dashboard, one for each of the ten questions.

    python -m bench.screenshots.take http://127.0.0.1:8766 FOLDER [--only now] [--narrow]

Writes `question-NAME.png`, 1280 pixels wide, in light colours; with ``--narrow``, 390 pixels and dark.  Needs
chromium and chromedriver, and Pillow, which reduces the colours so that each file is small.
"""

import argparse
import io
import shutil
from datetime import datetime
from pathlib import Path

from PIL import Image
from selenium.webdriver import Chrome, ChromeOptions
from selenium.webdriver.chrome.service import Service

from bot.views.questions import questions

HEIGHTS = {"/dash/events": 1250}
HEIGHT = 900
COLOURS = 32


def names() -> dict[str, str]:
    """Return the address of the first page that answers each question, keyed by picture name."""
    names: dict[str, str] = {}
    for question in questions(datetime.now().astimezone()):
        path = question.link.partition("?")[0].partition("#")[0]
        names.setdefault(path.removeprefix("/dash").strip("/") or "now", question.link)
    return names


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("address")
    parser.add_argument("folder", type=Path)
    parser.add_argument("--only", choices=list(names()))
    parser.add_argument("--narrow", action="store_true")
    options = parser.parse_args()
    chosen = ChromeOptions()
    for argument in ("--headless=new", "--no-sandbox", "--disable-gpu", "--hide-scrollbars"):
        chosen.add_argument(argument)
    chosen.binary_location = shutil.which("chromium") or ""
    browser = Chrome(options=chosen, service=Service(shutil.which("chromedriver")))
    width = 390 if options.narrow else 1280
    scheme = "dark" if options.narrow else "light"
    features = [{"name": "prefers-color-scheme", "value": scheme}]
    browser.execute_cdp_cmd("Emulation.setEmulatedMedia", {"features": features})
    for name, link in names().items():
        if options.only not in (None, name):
            continue
        height = HEIGHTS.get(link.partition("#")[0], HEIGHT)
        size = {"width": width, "height": height, "deviceScaleFactor": 1, "mobile": False}
        browser.execute_cdp_cmd("Emulation.setDeviceMetricsOverride", size)
        browser.get(options.address + link.partition("#")[0])
        wide = browser.execute_script("return document.documentElement.scrollWidth")
        picture = Image.open(io.BytesIO(browser.get_screenshot_as_png())).convert("RGB")
        target = options.folder / f"question-{name}.png"
        picture.quantize(COLOURS, dither=Image.Dither.NONE).save(target, optimize=True)
        print(f"{target}: {target.stat().st_size} bytes; the page is {wide} pixels wide")
    browser.quit()


if __name__ == "__main__":
    main()
