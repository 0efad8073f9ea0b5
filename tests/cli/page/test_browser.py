"""The page in a real browser: Debian's Chromium, driven by Playwright; skipped where either is missing."""

import shutil
import threading

import pytest

from eventlog.app.ask.history import replay_at
from eventlog.app.page.page_model import page_of
from eventlog.cli.page.html import html_of
from eventlog.cli.page.page_server import PageServer
from eventlog.log.event_log import EventLog
from tests.support.builders import NEXT_DAY, fact
from tests.support.months import PROJECTS, write_months
from tests.support.use_cases import by_path, opened

playwright = pytest.importorskip("playwright.sync_api", reason="playwright is not installed")
CHROMIUM = shutil.which("chromium") or ""
pytestmark = [pytest.mark.slow, pytest.mark.skipif(not CHROMIUM, reason="chromium is not installed")]
CONTRASTS = """() => {
  const numbers = (colour) => colour.match(/[\\d.]+/g).map(Number);
  const light = (colour) => colour.slice(0, 3).map((part) => part / 255)
    .map((part) => part <= 0.03928 ? part / 12.92 : ((part + 0.055) / 1.055) ** 2.4)
    .reduce((sum, part, at) => sum + part * [0.2126, 0.7152, 0.0722][at], 0);
  const ancestors = (one) => one ? [one, ...ancestors(one.parentElement)] : [];
  const styles = (one) => ancestors(one).map((each) => getComputedStyle(each));
  const isSolid = (colour) => colour.length < 4 || colour[3] === 1;
  const under = (one) => styles(one).map((style) => numbers(style.backgroundColor)).find(isSolid);
  return [...document.querySelectorAll("body *")]
    .filter((one) => one.checkVisibility() && !one.disabled && !one.closest("svg"))
    .filter((one) => [...one.childNodes].some((node) => node.nodeType === 3 && node.data.trim()))
    .map((one) => {
      const [opacity, ground] = [styles(one).reduce((all, style) => all * style.opacity, 1), under(one)];
      const seen = numbers(getComputedStyle(one).color).slice(0, 3).map((part, at) => part * opacity + ground[at] * (1 - opacity));
      const [low, high] = [light(seen), light(ground)].sort((a, b) => a - b);
      return [one.className || one.tagName, (high + 0.05) / (low + 0.05)];
    });
}"""
NEARLY = "Should Redis move to the Kubernetes cluster?"  # one word of what is known: not enough
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
    log = EventLog(place)
    log.append({"type": "host_event", "name": "UserPromptSubmit", "payload": {"prompt": NEARLY}, "agent": "codex",
                "conversation_id": "codex-0058", "project": PROJECTS[2], "ts": "2026-11-20T20:00:00.000000Z"})  # fmt: skip
    return opened(log)


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


def test_the_address_of_an_event_leads_to_its_line_wherever_that_is(tab, browser):
    line = tab.locator('[data-view="memory"] .item').last
    other = browser.new_page(viewport={"width": 900, "height": 500})
    other.goto(f"{tab.url}#e={line.get_attribute('data-ids').split()[-1]}")

    playwright.expect(other.locator("#memory [aria-current]")).to_be_in_viewport()
    assert other.locator("#memory [aria-current]").inner_text() == line.inner_text()
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
    assert tab.get_by_role("heading", level=1).inner_text() == "eventlog"  # for those who listen, at every width


def test_without_a_script_memories_and_sessions_are_there(browser, address, store):
    context = browser.new_context(java_script_enabled=False)
    page = context.new_page()
    page.goto(address)

    assert page.locator("[data-line]").count() > 20
    assert page.locator("[data-session]").count() == 60
    context.close()


# ------------------------------------------------------------- what somebody who sees it for the first time wants


def item(tab, text):
    return tab.locator('[data-view="memory"] .item', has_text=text).first


def why_of(tab, text):
    item(tab, text).click()
    return tab.locator('[data-view="why"]').inner_text()


def texts(tab, selector):
    return tab.locator(selector).all_inner_texts()


def visible_sessions(tab):
    return tab.locator("#sessions .day:visible details.session")


@pytest.mark.parametrize("path", ["INDEX.md", "sessions.jsonl", "memory/2026-09-19.md"])
def test_any_other_file_is_as_it_was_on_that_day(tab, store, path):
    day = "2026-09-20"
    tab.locator("[data-files]").select_option(path)
    slide(tab, page_of(store).days.index(day))
    lines = [line.text for line in by_path(replay_at(store, f"{day}T23:59:59.999999Z"))[path].lines]

    assert lines == [text for place, (text, _) in shown(tab).items() if place.startswith(f"{path}:")]


@pytest.mark.parametrize(
    ("text", "facts"),
    [
        ("Invoices are immutable", ("said ", "sessions", "first 2026-", "last 2026-", "told to ")),
        ("Ada prefers short answers", ("replaced under the same key:", "until 2026-")),
    ],
)
def test_a_line_says_how_often_when_to_whom_and_what_it_replaced(tab, text, facts):
    told = why_of(tab, text)

    assert [fact for fact in facts if fact not in told] == []


def test_a_line_has_dots_on_the_days_on_which_it_was_said(tab):
    why_of(tab, "Invoices are immutable")
    days = {text[:10] for text in texts(tab, '[data-view="why"] [data-event] .meta')}

    assert tab.locator("[data-dots] .dot").count() == len(days) > 1


def test_every_line_leads_to_its_sessions_words_in_two_clicks(tab):
    for number in range(tab.locator('[data-view="memory"] .item').count()):
        line = tab.locator('[data-view="memory"] .item').nth(number)
        words = line.evaluate("one => one.lastChild.textContent").replace("\\", "")
        line.click()
        tab.locator('[data-view="why"] [data-open]').first.click()
        found = tab.locator("details[data-session]:focus-within, details[data-session][open]").all_inner_texts()
        assert any(words in text for text in found), words
        tab.evaluate("document.querySelectorAll('details[open]').forEach((one) => { one.open = false; })")


def test_the_newest_session_is_first_and_says_what_it_came_to(tab, store):
    newest = page_of(store).sessions[0]

    assert newest.topic in visible_sessions(tab).first.inner_text()


def test_sessions_after_the_day_are_not_shown(tab, store):
    slide(tab, 40)
    day = page_of(store).days[40]
    days = tab.locator("#sessions .day:visible").evaluate_all("all => all.map((one) => one.dataset.day)")

    assert days
    assert max(days) <= day


def test_a_session_shows_what_it_was_asked(tab):
    prompts = []
    for number in range(4):
        visible_sessions(tab).nth(number).locator("summary").click()
        prompts += [text for text in texts(tab, "#sessions details[open] li") if text.startswith("What about ")]

    assert prompts


@pytest.mark.parametrize("by", ["bar", "button", "arrow", "key", "address"])
def test_a_day_is_reached_by(tab, store, by):
    days = page_of(store).days
    if by == "bar":
        tab.locator(f'.strip [data-day="{days[20]}"]').dispatch_event("click")
    elif by == "button":
        tab.locator('[data-step="-1"]').click()
    elif by == "arrow":
        tab.locator("[data-slider]").press("ArrowLeft")
    elif by == "key":
        tab.keyboard.press("[")
    else:
        tab.evaluate(f"location.hash = '#d={days[20]}'")
    wanted = days[20] if by in ("bar", "address") else days[-2]

    playwright.expect(tab.locator("[data-slider]")).to_have_attribute("aria-valuetext", wanted)
    assert wanted in tab.url


def test_a_line_is_marked_on_the_day_it_came(tab, store):
    day = next(file for file in page_of(store).files if file.path.endswith("MEMORY.md")).changes[1][0]
    slide(tab, day)

    assert tab.locator("#memory .new").count() > 0
    assert "new on this day" in tab.locator("[data-summary]").inner_text()


def test_lines_in_doubt_are_marked_and_listed(tab):
    assert texts(tab, "#memory .doubt")
    doubts = tab.locator("#open").inner_text()

    assert "port 8443" in doubts
    assert "port 9443" in doubts


def test_what_nobody_said_for_long_is_faded(tab):
    assert all("2026-09" in text or "2026-08" in text for text in texts(tab, "#memory .stale"))
    assert tab.locator("#memory .stale").count() > 0


def test_todos_and_what_waits_are_open(tab):
    assert "Tell ops about the new port" in tab.locator("#open").inner_text()
    tab.locator('#open [data-do="resolve"]').first.click()

    assert "eventlog resolve --apply" in tab.locator(".ask").inner_text()


def test_one_project_is_chosen_and_stays_in_the_address(tab, browser):
    tab.locator("[data-projects]").select_option(label="django")
    other = browser.new_page()
    other.goto(tab.url)

    for page in (tab, other):
        assert "FilePathField" in page.locator("#memory").inner_text()
        assert "Invoices" not in page.locator("#memory").inner_text()
        assert all("django" in who for who in page.locator("#sessions .who").all_text_contents())
    other.close()


def test_a_receipt_leads_to_the_line_it_showed(tab):
    tab.locator('[data-view="told"] .receipt li button').first.click()

    assert tab.locator("#memory [aria-current]").count() == 1


def test_a_prompt_that_got_nothing_says_why_by_what_is_known_now(tab):
    visible_sessions(tab).nth(1).locator("summary").click()
    silent = tab.locator('[data-view="told"] .receipt', has_text=NEARLY)

    assert "told nothing" in silent.inner_text()
    assert "by what is known now, best " in silent.inner_text()
    assert "代理池改用 Redis 存储" in silent.inner_text()


@pytest.mark.parametrize(
    ("do", "command"), [("edit", "eventlog edit "), ("share", "eventlog share "), ("forget", "eventlog forget ")]
)
def test_a_deed_is_a_command_to_copy(tab, do, command):
    item(tab, "Invoices are immutable").click()
    tab.locator(f'[data-view="why"] [data-do="{do}"]').click()
    if do != "forget":
        tab.locator(".ask textarea").fill("It's new")

    asked = tab.locator('.ask:has([data-do="yes"])').inner_text()
    assert command in asked
    assert do == "forget" or "'It'\\''s new'" in asked


def test_what_was_forgotten_is_found_and_can_be_had_back(tab):
    tab.locator("[data-search]").fill("cart lives in Redis")

    assert "withdrawn" in tab.locator("[data-hit]").first.inner_text()

    tab.keyboard.press("Enter")

    assert tab.locator('[data-view="why"] [data-do="undo"]').count() == 1
    assert tab.locator('[data-view="why"] [data-do="forget"]').count() == 0  # it is a day of the past


def test_a_search_that_finds_nothing_says_so_and_escape_leaves_it(tab):
    tab.locator("[data-search]").fill("pemmican")

    assert tab.locator("#hits h2").text_content() == "Nothing says “pemmican”"

    tab.keyboard.press("Escape")

    assert not tab.locator("#hits").is_visible()
    assert "q=" not in tab.url


def test_a_search_stays_in_the_address_and_its_hits_are_walked_by_keys(tab, browser):
    tab.locator("[data-search]").fill("retries")
    other = browser.new_page()
    other.goto(tab.url)

    assert other.locator("[data-hit]").count() == tab.locator("[data-hit]").count() > 1

    tab.locator("[data-search]").press("ArrowDown")
    tab.keyboard.press("ArrowDown")

    assert tab.evaluate("document.activeElement.closest('.hit') === document.querySelectorAll('#hits .hit')[1]")
    other.close()


def test_the_numbers_are_there_and_say_what_they_count(tab):
    numbers = tab.locator("#numbers").inner_text()

    assert [one for one in ("Sessions a week", "later used: ", "Lines known", "sessions") if one not in numbers] == []
    assert tab.locator("#numbers svg rect").count() > 10


def test_the_foot_says_from_what_it_is_made_and_what_it_holds_of_the_forgotten(tab):
    foot = tab.locator("footer").inner_text()

    assert "sha256:" in foot
    assert "--without-withdrawn" in foot


def test_light_and_dark_differ_and_can_be_chosen(tab):
    before = tab.evaluate("getComputedStyle(document.body).backgroundColor")
    tab.keyboard.press("t")

    assert tab.evaluate("getComputedStyle(document.body).backgroundColor") != before


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_every_text_is_legible(tab, scheme):
    """By the contrast that the guidelines of the web ask for."""
    tab.emulate_media(color_scheme=scheme)
    tab.locator("[data-search]").fill("port")
    tab.locator(".session summary").first.click()
    contrasts = tab.evaluate(CONTRASTS)

    assert len(contrasts) > 100
    assert {name: contrast for name, contrast in contrasts if contrast < 4.5} == {}


def test_print_leaves_out_what_is_for_hands(tab):
    tab.emulate_media(media="print")

    assert not tab.locator("[data-slider]").is_visible()
    assert not tab.locator('[data-view="why"]').is_visible()
    assert tab.locator('[data-view="memory"] .item').first.is_visible()


def test_hostile_texts_are_shown_as_they_are_and_do_nothing(tab):
    tab.locator("[data-search]").fill("hostile line")
    hit = tab.locator("[data-hit]").first

    assert '</script><img src=x onerror="alert(1)">' in hit.inner_text()

    tab.keyboard.press("Enter")

    assert tab.locator("img").count() == 0
    assert tab.locator("script").count() == 2


@pytest.fixture
def served(browser, log):
    """Opens the served page of a log, which has to have something to say by then."""
    with PageServer(lambda: opened(log)) as server:
        thread = threading.Thread(target=server.serve_forever, args=(0.01,), daemon=True)
        thread.start()
        context = browser.new_context()

        def open_page():
            page = context.new_page()
            page.goto(server.url)
            return page

        yield open_page
        context.close()
        server.shutdown()
        thread.join()


def test_what_is_forgotten_on_the_served_page_is_forgotten_and_events_arrive(served, log):
    log.append_many([fact(1, content="Tea at five"), fact(2, content="Lunch is pemmican")])
    page = served()
    page.locator('[data-view="memory"] .item', has_text="Tea at five").first.click()
    page.locator('[data-do="forget"]').click()
    page.locator('[data-do="yes"]').click()
    playwright.expect(page.locator('[data-view="memory"] [data-line]', has_text="Tea at five")).to_have_count(0)
    log.append(fact(3, content="Biscuits at six"))
    playwright.expect(page.locator('[data-view="memory"]')).to_contain_text("Biscuits at six")

    assert b"Tea" not in by_path(replay_at(opened(log)))["MEMORY.md"].data


def test_events_arrive_after_a_plan_entry_is_decided(served, log):
    """And the reasons of the chosen line are those of now."""
    entry = {"key": {"path": "soul", "heading": "Tone"}, "content": "Short answers"}
    log.append_many([fact(1, content="Tea at five"), {"type": "plan_entry", "conversation_id": "c", **entry}])
    page = served()
    page.locator('[data-waiting] [data-choice="discard"]').click()
    page.locator('[data-do="yes"]').click()
    playwright.expect(page.locator("[data-waiting]")).to_have_count(0)
    log.append(fact(3, content="Tea at five", conversation_id="later"))

    playwright.expect(page.locator('[data-view="why"]')).to_contain_text("said 2×")


def test_the_chosen_project_and_session_stay_when_others_arrive(served, log):
    log.append_many(
        fact(number, content=f"Tea at {number}", conversation_id=f"c{number}", project="/p/shop") for number in (1, 2)
    )
    page = served()
    page.locator("[data-projects]").select_option(label="shop")
    for session in ("c1", "c2"):
        page.locator(f'[data-session="{session}"] summary').click()
    chosen = page.locator('[data-view="told"] .link')
    playwright.expect(chosen).to_have_text("Tea at 2")
    log.append(fact(3, content="Bills are blue", project="/p/billing"))
    playwright.expect(page.locator("[data-projects] option", has_text="billing")).to_have_count(1)

    playwright.expect(page.locator("[data-projects] option:checked")).to_have_text("shop")
    playwright.expect(page.locator("#foot")).to_contain_text("From 3 events")
    playwright.expect(page.locator("details[open]")).to_have_count(2)
    assert chosen.inner_text() == "Tea at 2"


@pytest.mark.parametrize(
    "selector",
    [
        "[data-slider]",
        "[data-view=memory] [aria-current]",
        "[data-view=why] [data-do=edit]",
        "[data-view=sessions] [data-session=c1] > summary",
        "[data-view=sessions] [data-session=c1] [data-told]",
        "[data-hit=c1] button",
    ],
)
def test_what_has_the_focus_keeps_it_when_events_arrive(served, log, selector):
    summary = {"type": "stage_summary", "topic": "Coupons", "summary": "Coupons are checked before taxes"}
    log.append_many(
        [fact(1, content="Tea at five"), {**summary, "conversation_id": "c1", "ts": f"{NEXT_DAY}T10:00:00Z"}]
    )
    page = served()
    page.locator("[data-session=c1] > summary").click()
    page.locator("[data-search]").fill("coupons")
    page.locator("[data-view=memory] .item").first.click()
    page.locator(selector).first.focus()
    log.append(fact(3, day=NEXT_DAY, content="Biscuits", conversation_id="later"))
    playwright.expect(page.locator("#foot")).to_contain_text("From 3 events")

    playwright.expect(page.locator(selector).first).to_be_focused()


def test_after_a_decision_the_chosen_line_has_the_focus(served, log):
    log.append_many(fact(number, content=f"Tea at {word}") for number, word in enumerate(("five", "six"), 1))
    page = served()
    page.keyboard.press("j")
    page.keyboard.press("f")
    page.keyboard.press("Enter")
    playwright.expect(page.locator('[data-view="memory"] .item')).to_have_count(1)

    playwright.expect(page.locator('[data-view="memory"] [aria-current]')).to_be_focused()


def test_nothing_moves_while_the_pointer_is_down(served, log):
    log.append(fact(1, content="Tea at five"))
    page = served()
    slider = page.locator("[data-slider]").element_handle()
    page.locator("#foot").hover()
    page.mouse.down()
    log.append(fact(2, content="Biscuits"))
    with page.expect_response("**/state.json*"):
        pass
    with page.expect_response("**/state.json*"):
        pass

    assert slider.evaluate("one => one.isConnected")
    page.mouse.up()
    playwright.expect(page.locator('[data-view="memory"]')).to_contain_text("Biscuits")


@pytest.mark.parametrize("session", ["c\u202ertl", "c\r\nline", "c\0nul", "__proto__"])
def test_a_session_opens_whatever_its_id_is_made_of(served, log, session):
    log.append(fact(1, content="Tea at five", conversation_id=session))
    page = served()
    wrong = []
    page.on("pageerror", lambda error: wrong.append(str(error)))
    page.locator("details.session > summary").click()

    playwright.expect(page.locator("details.session [data-event]")).to_have_count(1)
    assert page.locator("details.session").evaluate("one => one.dataset.session") == session
    assert wrong == []


def test_what_is_said_while_the_page_loads_arrives(served, log):
    log.append(fact(1, content="Tea at five"))
    page = served()
    page.route(
        "**/state.json*", lambda route: (log.append(fact(2, content="Biscuits")), route.continue_())[-1], times=1
    )
    page.reload()

    playwright.expect(page.locator('[data-view="memory"]')).to_contain_text("Biscuits")


@pytest.mark.parametrize("content", ["#1 is the first", "<pre> keeps spaces", "-1 means never"])
def test_the_wording_to_edit_is_what_was_said(served, log, content):
    log.append(fact(1, content=content))
    page = served()
    page.locator('[data-do="edit"]').click()

    assert page.locator(".ask textarea").input_value() == content


def test_a_command_takes_a_statement_that_looks_like_an_option(browser, log, tmp_path):
    summary = {"type": "stage_summary", "conversation_id": "c", "topic": "Exports", "summary": "Directories"}
    log.append({**summary, "decisions": ["--out wants a directory"]})
    (tmp_path / "memory.html").write_text(html_of(page_of(opened(log))))
    page = browser.new_page()
    page.goto((tmp_path / "memory.html").as_uri())
    page.locator('[data-do="forget"]').click()

    assert page.locator(".ask code").inner_text() == "eventlog forget -- '--out wants a directory'"
    page.close()


def test_a_line_of_a_script_from_right_to_left_begins_at_the_right(browser, log, tmp_path):
    log.append(fact(1, content="الأسعار أعداد صحيحة"))
    (tmp_path / "memory.html").write_text(html_of(page_of(opened(log))))
    page = browser.new_page()
    page.goto((tmp_path / "memory.html").as_uri())
    line = page.locator("[data-line]", has_text="الأسعار").first
    day = line.evaluate("""one => {
      const texts = document.createTreeWalker(one, NodeFilter.SHOW_TEXT), range = document.createRange();
      range.selectNode(texts.nextNode());
      return range.getBoundingClientRect().left - one.getBoundingClientRect().left;
    }""")

    assert day > line.bounding_box()["width"] / 2
    page.close()
