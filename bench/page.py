"""`python -m bench.page`: what `report` takes, and a move of the slider in Chromium, until its frame is drawn.

It wants Playwright (`pip install playwright`) and a `chromium` on the PATH, as the tests of the page do.
"""

import random
import shutil
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from rich.console import Console
from rich.table import Table

from bench.generate import generate
from bench.measure import process
from tests.support.months import DAYS, SESSIONS, write_months

if TYPE_CHECKING:
    from playwright.sync_api import CDPSession, Page

_ROUNDS, _JUMPS = 3, 60
_GOALS = "goals: a report of three months ≤ 1 s, a move ≤ 100 ms"
_MOVES = """
async (days) => {
  const slider = document.querySelector("[data-slider]");
  const found = [];
  for (const day of days) {
    const begun = performance.now();
    slider.value = String(day);
    slider.dispatchEvent(new Event("input", { bubbles: true }));
    const computed = performance.now() - begun;
    await new Promise((drawn) => requestAnimationFrame(() => {
      const { port1, port2 } = new MessageChannel();
      port1.onmessage = drawn; // after this frame
      port2.postMessage("");
    }));
    found.push([computed, performance.now() - begun]);
  }
  return found;
}
"""


def main() -> int:
    """Measure and print; return the exit code."""
    chromium = shutil.which("chromium")
    try:
        from playwright.sync_api import sync_playwright
    except ImportError:
        chromium = None
    if not chromium:
        print("playwright or chromium is missing: pip install playwright; apt-get install chromium", file=sys.stderr)
        return 2
    table = Table(
        "store", "report", "file", "open", "a move: processor", "script, median / p95", "drawn, median / p95 / most"
    )
    with tempfile.TemporaryDirectory() as scratch, sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=chromium, args=["--no-sandbox"])
        for what, store in _stores(Path(scratch)):
            seconds, file = _report(store)
            page = browser.new_page(viewport={"width": 1280, "height": 900})
            begun = time.perf_counter()
            page.goto(file.as_uri())
            opened = time.perf_counter() - begun
            row = (f"{seconds:.1f} s", f"{file.stat().st_size // 1024:,} kB", f"{opened:.1f} s", *_moved(page))
            table.add_row(what, *row)
            page.close()
        browser.close()
    Console(width=None if sys.stdout.isatty() else 160).print(table, _GOALS)
    return 0


def _stores(scratch: Path) -> Iterator[tuple[str, Path]]:
    """Write stores as they are after a replay."""
    tools = 100_000 // (7 * SESSIONS) - 10
    for what, store in (
        (f"{SESSIONS} sessions of {DAYS} days", scratch / "months"),
        (f"100,000 events, {7 * SESSIONS:,} sessions", scratch / "long"),
        ("100,000 events, 1,000 projects", scratch / "wide"),
    ):
        match store.name:
            case "months":
                write_months(store / "log")
            case "long":
                write_months(store / "log", sessions=7 * SESSIONS, tools=tools // 2)
            case _:
                generate(store / "log", 100_000, days=DAYS, projects=1000)
        subprocess.run([sys.executable, "-m", "eventlog", "--store", store, "replay"], check=True, capture_output=True)
        yield what, store


def _report(store: Path) -> tuple[float, Path]:
    """Write the report some times; return the median of the seconds, and the file."""
    file = store / "report.html"
    run = process([sys.executable, "-m", "eventlog", "--store", str(store), "report", "--out", str(file)])
    seconds = []
    for _ in range(_ROUNDS):
        begun = time.perf_counter()
        run()
        seconds.append(time.perf_counter() - begun)
    return statistics.median(seconds), file


def _moved(page: "Page") -> tuple[str, str, str]:
    """Move the slider through all days, back, and to days by chance; return the times of a move.

    The processor time of the page, which a busy machine does not stretch, is a mean.
    """
    meter = page.context.new_cdp_session(page)
    meter.send("Performance.enable", {"timeDomain": "threadTicks"})
    last = int(page.locator("[data-slider]").get_attribute("max") or 0)
    days = [*range(last, -1, -1), *range(last + 1), *random.Random(7).choices(range(last + 1), k=_JUMPS)]
    begun = _worked(meter)
    found: list[Any] = page.evaluate(_MOVES, days)
    worked = (_worked(meter) - begun) / len(days)
    script, drawn = (sorted(float(pair[column]) for pair in found) for column in (0, 1))
    return f"{1000 * worked:.0f} ms", _spread(script), f"{_spread(drawn)} / {drawn[-1]:.0f} ms"


def _worked(meter: "CDPSession") -> float:
    """Return the seconds that the thread of the page has worked."""
    return next(
        float(one["value"]) for one in meter.send("Performance.getMetrics")["metrics"] if one["name"] == "TaskDuration"
    )


def _spread(times: Sequence[float]) -> str:
    return f"{statistics.median(times):.0f} / {times[len(times) * 95 // 100]:.0f}"


if __name__ == "__main__":
    raise SystemExit(main())
