"""The page in a real browser: Debian's Chromium, driven by Playwright; skipped where either is missing."""

import shutil
import threading

import pytest

from eventlog.app.ask.history import by_path, replay_at
from eventlog.app.page.page_model import page_of
from eventlog.cli.page.html import html_of
from eventlog.cli.page.page_server import PageServer
from eventlog.log.event_log import EventLog
from tests.support.builders import fact
from tests.support.months import write_months
from tests.support.use_cases import opened

playwright = pytest.importorskip("playwright.sync_api", reason="playwright is not installed")
CHROMIUM = shutil.which("chromium") or ""
pytestmark = pytest.mark.skipif(not CHROMIUM, reason="chromium is not installed")
LINES = "list => list.map(one => [one.dataset.line, one.textContent, one.dataset.ids])"


@pytest.fixture(scope="module")
def browser():
    with playwright.sync_playwright() as running:
        started = running.chromium.launch(executable_path=CHROMIUM, args=["--no-sandbox"])
        yield started
        started.close()


@pytest.fixture(scope="module")
def store(tmp_path_factory):
    place = tmp_path_factory.mktemp("months")
    write_months(place / "log", sessions=60)
    return opened(EventLog(place))


@pytest.fixture(scope="module")
def address(store, tmp_path_factory):
    place = tmp_path_factory.mktemp("report") / "memory.html"
    place.write_text(html_of(page_of(store)))
    return place.as_uri()


@pytest.fixture
def tab(browser, address):
    """The report, open; at the end nothing was asked of anybody, and nothing went wrong or asked back."""
    context = browser.new_context(viewport={"width": 1280, "height": 900})
    page = context.new_page()
    asked, wrong = [], []
    page.on("request", lambda request: asked.append(request.url))
    page.on("pageerror", lambda error: wrong.append(str(error)))
    page.on("console", lambda message: wrong.append(message.text) if message.type == "error" else None)
    page.on("dialog", lambda dialog: wrong.append(dialog.message))
    page.goto(address)
    yield page
    context.close()
    assert {url.partition("#")[0] for url in asked} == {address}
    assert wrong == []


def shown(tab):
    """The lines of memories: place -> text and ids."""
    found = tab.eval_on_selector_all('[data-view="memory"] [data-line]', LINES)
    return {place: (text, sorted(ids.split())) for place, text, ids in found}


def slide(tab, position):
    tab.locator("[data-slider]").evaluate(
        "(slider, value) => { slider.value = value; slider.dispatchEvent(new Event('input', { bubbles: true })); }",
        str(position),
    )


@pytest.mark.parametrize("position", [89, 0, 30, 55, 56, 88])
def test_the_slider_shows_the_memories_of_that_day(tab, store, position):
    slide(tab, position)
    day = tab.locator("[data-slider]").get_attribute("aria-valuetext")
    files = by_path(replay_at(store, f"{day}T23:59:59.999999Z"))
    memories = {path: document for path, document in files.items() if path.endswith("MEMORY.md")}
    found = shown(tab)

    assert {place: text for place, (text, _) in found.items()} == {
        f"{path}:{number}": line.text
        for path, document in memories.items()
        for number, line in enumerate(document.lines, 1)
    }
    for path, document in memories.items():
        for number, line in enumerate(document.lines, 1):
            if line.text.startswith("- "):
                assert found[f"{path}:{number}"][1] == sorted(line.sources)


def test_a_line_leads_to_its_events_and_these_to_the_session(tab):
    line = tab.locator('[data-view="memory"] .item', has_text="Invoices are immutable")
    line.click()

    assert line.get_attribute("aria-current") == "true"
    assert set(line.get_attribute("data-ids").split()) == set(
        tab.eval_on_selector_all('[data-view="why"] [data-event]', "all => all.map(one => one.dataset.event)")
    )

    tab.locator('[data-view="why"] [data-open]').first.click()
    session = tab.locator("details[data-session][open]")

    assert "Invoices are immutable" in session.inner_text()


def test_keys_move_search_and_help(tab):
    first = tab.locator("[aria-current]").get_attribute("data-line")
    tab.keyboard.press("j")
    assert tab.locator("[aria-current]").get_attribute("data-line") != first
    tab.keyboard.press("k")
    assert tab.locator("[aria-current]").get_attribute("data-line") == first
    tab.keyboard.press("w")
    assert tab.evaluate("document.activeElement.id") == "why"
    tab.keyboard.press("?")
    assert tab.locator("dialog").is_visible()
    tab.keyboard.press("Escape")
    assert not tab.locator("dialog").is_visible()
    tab.keyboard.press("/")
    assert tab.evaluate("document.activeElement.hasAttribute('data-search')")


@pytest.mark.parametrize(
    ("words", "text"),
    [("stripe twice", "Stripe calls a webhook twice"), ("随机抖动", "重试间隔必须加随机抖动"), ("PORT 9443", "9443")],
)
def test_search_finds_words_of_both_languages_and_leads_there(tab, words, text):
    tab.locator("[data-search]").fill(words)
    hit = tab.locator("[data-hit]").first

    assert text in hit.inner_text()

    tab.keyboard.press("Enter")

    assert text in tab.locator("[aria-current]").inner_text()


def test_the_address_keeps_the_day_and_the_event(tab, browser):
    slide(tab, 40)
    tab.locator('[data-view="memory"] .item').nth(2).click()
    text, address = tab.locator("[aria-current]").inner_text(), tab.url
    other = browser.new_page()
    other.goto(address)

    assert f"#d={tab.locator('[data-slider]').get_attribute('aria-valuetext')}&e=" in address
    assert other.locator("[aria-current]").inner_text() == text
    assert other.locator("[data-slider]").input_value() == "40"
    other.close()


def test_what_went_on_a_day_is_struck_through(tab):
    slide(tab, 54)  # the day on which the cart's line was forgotten

    assert "The cart lives in Redis" in "".join(tab.locator("del").all_inner_texts())
    assert not any("The cart lives in Redis" in text for text, _ in shown(tab).values())


def test_a_session_shows_what_it_was_told(tab):
    tab.locator("details[data-session] summary").nth(3).click()
    view = tab.locator('[data-view="told"]')

    assert "start" in view.inner_text()
    assert view.locator(".receipt").count() >= 2


def test_forget_is_a_command_to_copy(tab):
    tab.locator('[data-view="memory"] .item', has_text="Invoices are immutable").click()
    tab.locator('[data-view="why"] [data-do="forget"]').click()

    assert "eventlog forget" in tab.locator('.ask:has([data-do="yes"])').inner_text()


@pytest.mark.parametrize("width", [400, 800, 1600])
def test_nothing_is_wider_than_the_window(tab, width):
    tab.set_viewport_size({"width": width, "height": 800})

    assert tab.evaluate("document.documentElement.scrollWidth") <= width


def test_without_a_script_memories_and_sessions_are_there(browser, address, store):
    context = browser.new_context(java_script_enabled=False)
    page = context.new_page()
    page.goto(address)

    assert page.locator("[data-line]").count() > 20
    assert page.locator("[data-session]").count() == 60
    context.close()


def test_what_is_forgotten_on_the_served_page_is_forgotten_and_events_arrive(browser, log):
    log.append_many([fact(1, content="Tea at five"), fact(2, content="Lunch is pemmican")])
    with PageServer(lambda: opened(log)) as server:
        thread = threading.Thread(target=server.serve_forever, args=(0.01,), daemon=True)
        thread.start()
        context = browser.new_context()
        page = context.new_page()
        page.goto(server.url)
        page.locator('[data-view="memory"] .item', has_text="Tea at five").first.click()
        page.locator('[data-do="forget"]').click()
        page.locator('[data-do="yes"]').click()
        playwright.expect(page.locator('[data-view="memory"] [data-line]', has_text="Tea at five")).to_have_count(0)
        log.append(fact(3, content="Biscuits at six"))
        playwright.expect(page.locator('[data-view="memory"]')).to_contain_text("Biscuits at six")
        context.close()
        server.shutdown()
        thread.join()

    assert b"Tea" not in by_path(replay_at(opened(log)))["MEMORY.md"].data
