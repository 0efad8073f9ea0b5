"""What the page holds: of which projects, since when, and of what was withdrawn."""

import msgspec
import pytest

from eventlog.app.page.page_model import page_of
from eventlog.app.write.forget import forget, forgettable
from eventlog.log.event_log import EventLog
from eventlog.projections.engine.replay import ReplayResult
from eventlog.settings.schema import KnowledgeBase, Settings
from tests.support.builders import DAY, NEXT_DAY, fact
from tests.support.months import PROJECTS, write_months
from tests.support.use_cases import opened

KEY = {"path": "soul", "heading": "Tone"}


def text_of(page):
    return msgspec.json.encode(page).decode()


def current(page, path="MEMORY.md"):
    day = len(page.days)
    return [line.text_at(day) for file in page.files if file.path == path for line in file.at(day)]


@pytest.mark.slow
def test_equal_logs_make_equal_pages(tmp_path):
    pages = []
    for name in ("one", "other"):
        write_months(tmp_path / name / "log", sessions=20)
        pages.append(text_of(page_of(opened(EventLog(tmp_path / name)))))

    assert pages[0] == pages[1]


def test_no_name_turns_the_words_beside_it_round(log):
    name, clean = "ev\u202ename", "evname"
    log.append_many([
        {"type": "session_start", "conversation_id": "c", "agent": name, "model": name, "git_branch": name},
        {"type": "plan_entry", "conversation_id": "c", "key": {"path": "soul", "heading": name}, "content": "Short"},
        {"type": "context_injected", "conversation_id": "c", "trigger": "file", "file": name, "chars": 1, "cut": [name],
         "digest": "sha256:0", "files": [{"path": name, "digest": "sha256:0"}]},
    ])  # fmt: skip
    page = page_of(opened(log))
    [session], [entry], [receipt] = page.sessions, page.events, page.receipts

    assert {session.agent, session.model, session.branch, receipt.file, *receipt.files, *receipt.cut} == {clean}
    assert entry.text == f"soul ## {clean}"


def test_an_empty_log_has_an_empty_page(log):
    page = page_of(opened(log))

    assert (page.days, page.files, page.events, page.sessions, page.receipts) == ([], [], [], [], [])


def test_a_line_leads_to_its_events_and_these_to_their_sessions(log):
    log.append_many([fact(1, conversation_id="s1", agent="codex"), fact(2, content="fact 1", conversation_id="s2")])
    page = page_of(opened(log))
    [file] = [file for file in page.files if file.path == "MEMORY.md"]
    [line] = [line for line in file.at(0) if line.text_at(0).startswith("- ")]
    events = [page.events[event] for event in line.events_at(0)]

    assert [event.text for event in events] == ["fact 1", "fact 1"]
    assert [page.sessions[event.session].id for event in events] == ["s1", "s2"]
    assert page.sessions[events[0].session].agent == "codex"


def test_sessions_are_listed_newest_first_with_their_words(log):
    log.append_many([
        {"type": "session_start", "conversation_id": "a", "ts": f"{DAY}T10:00:00.000000Z", "model": "m", "git_branch": "b"},
        {**fact(1, conversation_id="a"), "project": "/p/shop"},
        fact(1, day=NEXT_DAY, conversation_id="b"),
        fact(2, day=NEXT_DAY, conversation_id="b", subagent="helper"),
    ])  # fmt: skip
    page = page_of(opened(log))

    assert [session.id for session in page.sessions] == ["b", "a"]
    assert (page.sessions[1].model, page.sessions[1].branch) == ("m", "b")
    assert page.projects[page.sessions[1].project].name == "shop"
    assert len(page.events) == 2  # a helper's are for audits


def test_what_waits_and_what_contradicts_is_listed(log):
    log.append_many([
        fact(1, content="It listens on port 8443"),
        fact(2, content="It listens on port 9443"),
        {"type": "plan_entry", "conversation_id": "c", "ts": f"{DAY}T13:00:00.000000Z", "key": KEY, "content": "Be brief."},
    ])  # fmt: skip
    bases = {"soul": KnowledgeBase(path="~/SOUL.md", review=True)}
    page = page_of(opened(log, Settings(knowledge_bases=bases)))

    assert [(entry.heading, entry.content) for entry in page.waiting] == [("## Tone", "Be brief.")]
    [(path, lines)] = page.doubts
    assert path == "MEMORY.md"
    assert len(lines) == 2


class TestWhatWasForgotten:
    WORDS = "The harbour has 4711 boats"

    @pytest.fixture
    def store(self, log):
        day = {"conversation_id": "c"}
        log.append_many([
            fact(1, day="2026-02-18", content=self.WORDS, **day),
            fact(2, day="2026-02-18", content="Tea is fine", **day),
            {"type": "stage_summary", "ts": "2026-02-18T14:00:00.000000Z", "summary": "Talked", "decisions": [self.WORDS, "Drink tea"], **day},
        ])  # fmt: skip
        store = opened(log)
        forget(store, forgettable(store, self.WORDS))
        return store

    def test_is_on_the_days_before(self, store):
        page = page_of(store)

        assert self.WORDS not in "\n".join(current(page))
        assert any(self.WORDS in line.texts[0][1] for file in page.files for line in file.lines)
        assert page.withdrawn == 1
        [decision] = [event for event in page.events if event.type == "rejected"]
        assert page.events[[event.id for event in page.events].index(decision.about)].gone

    def test_is_left_out_on_request_wherever_it_stood(self, store):
        page = page_of(store, with_withdrawn=False)

        assert "4711" not in text_of(page)
        assert "Tea is fine" in text_of(page)
        assert "Drink tea" in text_of(page)
        assert page.withdrawn == 0


@pytest.fixture(scope="module")
def months(tmp_path_factory):
    place = tmp_path_factory.mktemp("months")
    write_months(place / "log", sessions=30)
    return opened(EventLog(place))


class TestAPartOfTheLog:
    @pytest.mark.slow
    def test_one_project_is_without_the_others_and_without_the_user(self, months):
        page = page_of(months, projects=(PROJECTS[1],))
        words = text_of(page)

        assert "FilePathField" in words
        assert "Postgres" not in words
        assert "代理池改用" not in words
        assert "Ada prefers" not in words
        assert {session.project for session in page.sessions} == {0}
        assert page.files

    def test_for_one_project_no_file_of_others_is_rendered(self, months, monkeypatch):
        rendered, render = [], ReplayResult.render

        def noted(replayed, unit):
            rendered.append(unit)
            return render(replayed, unit)

        monkeypatch.setattr(ReplayResult, "render", noted)
        page_of(months, projects=(PROJECTS[1],))
        others = {(view, name) for view, name in rendered if name != PROJECTS[1] and view != "summaries"}

        assert ("memory", PROJECTS[1]) in rendered
        assert others == set()

    @pytest.mark.slow
    def test_since_a_day_the_slider_begins_there(self, months):
        page = page_of(months, since="2026-10-01T00:00:00.000000Z")

        assert page.days[0] == "2026-10-01"
        assert min(session.started for session in page.sessions) >= "2026-10-01"
        assert page.files[0].at(0)  # what was known by then
