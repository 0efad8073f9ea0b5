"""The page as a file: what is in it, what is not, and that no text of a log is more than text."""

import base64
import hashlib
import json
import re
from html.parser import HTMLParser

import pytest

from eventlog.app.ask.history import replay_at
from eventlog.app.page.page_model import page_of
from eventlog.cli.page.html import html_of
from eventlog.log.event_log import EventLog
from tests.support.builders import fact
from tests.support.months import HOSTILE, write_months
from tests.support.use_cases import by_path, opened

VOID = {"meta", "input", "img", "br", "link", "rect", "line", "circle"}


class Elements(HTMLParser):
    """The elements of a page in order: tag, attributes, text."""

    def __init__(self, text):
        super().__init__(convert_charrefs=True)
        self.found, self._open = [], []
        self.feed(text)
        self.close()

    def handle_starttag(self, tag, attrs):
        self.found.append((tag, dict(attrs), []))
        if tag not in VOID:
            self._open.append(self.found[-1])

    def handle_startendtag(self, tag, attrs):
        self.found.append((tag, dict(attrs), []))

    def handle_endtag(self, tag):
        while self._open and self._open.pop()[0] != tag:
            pass

    def handle_data(self, data):
        for _, _, texts in self._open[-1:]:
            texts.append(data)

    def having(self, name, value=None):
        return [
            (tag, attrs, "".join(texts))
            for tag, attrs, texts in self.found
            if name in attrs and value in (None, attrs[name])
        ]


@pytest.fixture(scope="module")
def store(tmp_path_factory):
    place = tmp_path_factory.mktemp("months")
    write_months(place / "log", sessions=40)
    return opened(EventLog(place))


@pytest.fixture(scope="module")
def page(store):
    return page_of(store)


@pytest.fixture(scope="module")
def text(page):
    return html_of(page)


@pytest.fixture(scope="module")
def elements(text):
    return Elements(text)


@pytest.mark.slow
def test_it_has_the_views_and_controls_by_name(page, elements):
    assert {"memory", "why", "sessions", "told"} == {attrs["data-view"] for _, attrs, _ in elements.having("data-view")}
    [(tag, slider, _)] = elements.having("data-slider")
    assert (tag, slider["type"], slider["max"], slider["aria-valuetext"]) == (
        "input",
        "range",
        "87",
        page.days[-1],
    )
    assert len(elements.having("data-search")) == 1


@pytest.mark.slow
def test_every_line_of_every_memory_is_there_without_a_script(store, elements):
    lines = {attrs["data-line"]: (text, attrs["data-ids"].split()) for _, attrs, text in elements.having("data-line")}
    files = {path: document for path, document in by_path(replay_at(store)).items() if path.endswith("MEMORY.md")}

    assert len(files) == 4
    assert {place: text for place, (text, _) in lines.items()} == {
        f"{path}:{number}": line.text
        for path, document in files.items()
        for number, line in enumerate(document.lines, 1)
    }
    for path, document in files.items():
        for number, line in enumerate(document.lines, 1):
            if line.text.startswith("- "):
                assert sorted(line.sources) == sorted(lines[f"{path}:{number}"][1])


def test_sessions_are_there_newest_first(page, elements):
    started = [session.id for session in page.sessions]

    assert len(started) == 40
    assert started == [attrs["data-session"] for _, attrs, _ in elements.having("data-session")]


def test_nothing_is_loaded_and_only_its_own_script_and_style_run(text, elements):
    tags = [tag for tag, _, _ in elements.found]
    policy_at = next(at for at, (_, attrs, _) in enumerate(elements.found) if attrs.get("http-equiv"))
    policy = elements.found[policy_at][1]["content"]

    assert policy_at < tags.index("script")
    assert policy_at < tags.index("style")
    assert policy.startswith("default-src 'none'; ")
    assert "base-uri 'none'; form-action 'none'" in policy
    assert "unsafe" not in policy
    for tag, directive in (("style", "style-src"), ("script", "script-src")):
        inside = re.findall(rf"<{tag}>(.*?)</{tag}>", text, re.DOTALL)
        [digest] = [base64.b64encode(hashlib.sha256(one.encode()).digest()).decode() for one in inside]
        assert f"{directive} 'sha256-{digest}'" in policy
    for _, attrs, _ in elements.found:
        assert not [name for name in attrs if name.startswith("on") or name in ("src", "href", "style", "action")]


def test_hostile_texts_are_texts(log):
    log.append_many([
        fact(1, content=HOSTILE, conversation_id='"><script>alert(2)</script>', agent="<b>", project="/p/<i>"),
        {"type": "stage_summary", "conversation_id": "c", "topic": HOSTILE, "summary": f"{HOSTILE} {HOSTILE}", "decisions": [HOSTILE]},
    ])  # fmt: skip
    text = html_of(page_of(opened(log)))
    tags = {tag for tag, _, _ in Elements(text).found}

    assert tags.isdisjoint({"img", "b", "i"})
    assert text.count("<script") == 2
    assert text.count("</script") == 2
    assert not set(text) & {"\u202e", "\x07", "\u2028"}
    assert "onerror" in text  # as text


def test_the_data_is_whole_json(page, text):
    [data] = re.findall(r'<script type="application/json" id="data">(.*?)</script>', text, re.DOTALL)

    assert "<" not in data
    assert json.loads(data)["days"] == page.days


@pytest.mark.slow
def test_equal_logs_make_equal_bytes(tmp_path, text):
    write_months(tmp_path / "log", sessions=40)

    assert html_of(page_of(opened(EventLog(tmp_path)))) == text


def test_without_data_it_is_small(log):
    assert len(html_of(page_of(opened(log))).encode()) < 300_000


def test_an_empty_log_says_what_to_do(log):
    text = html_of(page_of(opened(log)))

    assert "eventlog install" in text
    assert "From 0 events; times" in text
    assert "<figure>" not in text
    assert Elements(text).having("data-slider")[0][1]["max"] == "0"


def test_of_one_event_the_page_counts_one(log):
    log.append(fact(1, project="/src/shop"))
    text = html_of(page_of(opened(log)))

    assert [one for one in ("From 1 event up to", ": 1 session<") if one not in text] == []


def test_a_page_of_a_server_may_ask_it_and_nothing_else(page):
    text = html_of(page, live="0a1b")

    assert "connect-src &#x27;self&#x27;" in text
    assert 'data-live="0a1b"' in text
