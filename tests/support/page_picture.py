"""`make picture`: the picture of the page that README shows, of the page that the demo makes."""

import os
import subprocess
import sys
import tempfile
from pathlib import Path

from playwright.sync_api import sync_playwright

from tests.support.tree import ROOT

PICTURE = ROOT / "docs" / "page.png"
DAY, LINE = "2026-02-20", "Prices are integers in cents"


def main() -> None:
    """Run the demo in a place of its own, and take a picture of its page as of a day, with why a line is in it."""
    with tempfile.TemporaryDirectory(prefix="eventlog-") as scratch, sync_playwright() as playwright:
        place = Path(scratch)
        own = {"HOME": str(place / "home"), "EVENTLOG_HOME": str(place / "store"), "EVENTLOG_DEMO": scratch}
        environ = {**os.environ, **own, "PATH": f"{Path(sys.executable).parent}{os.pathsep}{os.environ['PATH']}"}
        report = ["eventlog", "report", "--project", "src/shop", "--out", str(place / "memory.html")]
        for command in (["sh", str(ROOT / "fixtures" / "demo" / "demo.sh")], report):
            subprocess.run(command, env=environ, check=True, stdout=subprocess.DEVNULL)
        browser = playwright.chromium.launch(executable_path="/usr/bin/chromium", args=["--no-sandbox"])
        page = browser.new_page(viewport={"width": 1100, "height": 560}, color_scheme="light")
        page.goto(f"{(place / 'memory.html').as_uri()}#d={DAY}")
        page.locator("#memory .item", has_text=LINE).click()
        page.mouse.move(0, 0)
        page.screenshot(path=PICTURE)
        browser.close()


if __name__ == "__main__":
    main()
