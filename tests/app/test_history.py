"""What was, what changed and what if: each the same as a replay of a log that holds nothing else."""

import math
import os
import sys
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from eventlog import Memory
from eventlog.app.ask import history
from eventlog.app.ask.history import Omission, _turn, bisect, changes, diff, document_meant, replay_at
from eventlog.app.ask.sessions import story
from eventlog.app.build.rebuild import replay_store
from eventlog.app.build.replay import replay
from eventlog.format import codec
from eventlog.format.errors import BadRequest
from eventlog.format.events import Fact, Rejected, Restored, Retraction, SaveRequested, StageSummary
from eventlog.log.days import Day
from eventlog.log.event_log import EventLog
from eventlog.projections.edits import memory_edits
from eventlog.projections.engine.day_states import EVERYTHING
from eventlog.projections.engine.documents import DocumentIndex
from eventlog.projections.views.markdown import unstamped
from tests.support.bases import planned, user_md
from tests.support.builders import DAY, NEXT_DAY, at, fact
from tests.support.command_line import call
from tests.support.histories import DAYS, histories, log_of, ts_of
from tests.support.use_cases import apply, by_path, opened

EVENING = f"{DAY}T23:59:59.999999Z"
moments = st.sampled_from(DAYS).flatmap(
    lambda day: st.integers(0, 1439).map(lambda minute: f"{day}T{minute // 60:02d}:{minute % 60:02d}:00.000000Z")
)


def lost_without(opened, without):
    return changes(replay_at(opened), replay_at(opened, without=without))


def said(log, *facts):
    return log.append_many([codec.from_fields(fields) for fields in facts])


@pytest.mark.slow
def test_bisect_finds_its_event_also_while_a_replay_writes_beside(log, monkeypatch):
    born = [fact(number, content="The heron nests", project=f"/src/{number}") for number in range(8)]
    said(log, *born)
    memory = Memory(log.store.root)
    memory.replay()

    def meanwhile(asked, file, now):
        path = document_meant(asked, file, now)
        now.document(path)
        said(log, *(fact(10 + number, content="The otter swims", project=f"/src/{number}") for number in range(8)))
        memory.replay()
        return path

    monkeypatch.setattr(history, "document_meant", meanwhile)

    assert born[0]["id"] == bisect(opened(log), "INDEX.md", "/src/0").entry.event.id


@pytest.mark.slow
@given(histories(plans=True), moments, moments)
def test_what_was_and_what_changed_are_replays_of_the_log_cut_there(lines, one, other):
    with log_of(lines) as log:
        found = diff(opened(log), one, other)
        was = replay_at(opened(log), other).documents
    cut = []
    for until in (one, other):
        with log_of([line for line in lines if ts_of(line) <= until]) as log:
            cut.append(replay_at(opened(log)).documents)

    assert was == cut[1]
    assert found == _all_changes(*cut)


@pytest.mark.slow
@given(histories(plans=True), moments)
def test_what_changed_until_now_is_the_same_where_files_that_are_current_are_not_read(lines, since):
    with log_of(lines) as log:
        replay_store(opened(log))
        found = diff(opened(log), since)

        assert found == _all_changes(*(replay_at(opened(log), until).documents for until in (since, EVERYTHING)))


def _all_changes(*both):
    return history._changes(*({one.path: unstamped(one) for one in documents} for documents in both))


@pytest.mark.slow
@given(histories(plans=True), st.integers(0), st.integers(0, 7))
def test_what_is_left_out_of_some_days_costs_what_is_on_them_and_gives_the_same(lines, dates, mask):
    def concerns(date):
        return bool(dates >> int(date[-2:]) & 1)

    def keeps(event):
        return not concerns(event.ts[:10]) or bool(int(event.id[-1], 16) & mask)

    with log_of(lines) as log:
        replay_store(opened(log))
        found = [replay(log, opened(log).settings, keep=keeps, concerns=which).documents for which in (concerns, bool)]

    assert found[0] == found[1]


@pytest.mark.parametrize("of", ["sessions", "events", "agents"])
def test_what_is_left_out_reads_no_day_that_does_not_name_it(log, monkeypatch, of):
    who = {"conversation_id": "séance/3", "agent": "codex"}
    facts = [fact(number, day=f"2026-02-{number:02}", content=f"word {number}") for number in range(1, 9)]
    said(log, *(each | who if number in (2, 6) else each for number, each in enumerate(facts)))
    replay_store(opened(log))
    gone = [event for event in log.read() if event.agent == "codex"]
    names = {"sessions": who["conversation_id"], "events": gone[0].id, "agents": "codex"}
    read, load = set(), Day.load

    def loads(self):
        read.add(self.date)
        return load(self)

    monkeypatch.setattr(Day, "load", loads)
    found = replay_at(opened(log), without=Omission(**{of: frozenset([names[of]])}))
    memory = by_path(found)["MEMORY.md"].data

    assert [b"word 3" in memory, b"word 7" in memory, b"word 8" in memory] == [False, of == "events", True]
    assert {event.ts[:10] for event in gone[: 1 if of == "events" else 2]} == read


@pytest.fixture
def drawn(monkeypatch):
    """The units that are rendered from here on."""
    found, render = set(), DocumentIndex.render

    def renders(self, unit):
        found.add(unit)
        return render(self, unit)

    monkeypatch.setattr(DocumentIndex, "render", renders)
    return found


def test_a_diff_of_one_file_draws_no_other(log, drawn):
    said(log, *(fact(number, day=f"2026-02-{number:02}", content=f"word {number}") for number in range(1, 9)))
    replay_store(opened(log))
    drawn.clear()

    assert ["MEMORY.md"] == [change.path for change in diff(opened(log), "2026-02-04", file="MEMORY.md")]
    assert drawn == {("memory", "")}


def test_a_file_of_the_store_as_it_was_is_drawn_alone(log, drawn):
    said(log, *(fact(number, project=f"/src/{number % 4}", day=f"2026-02-0{1 + number // 4}") for number in range(8)))
    replay_store(opened(log))
    last = max(Path(log.store.knowledge, "projects").glob("*/MEMORY.md"), key=str)
    drawn.clear()
    then = replay_at(opened(log), "2026-02-01T23:59:59.999999Z")
    document = then.document(document_meant(opened(log), str(last), replay_at(opened(log)), then))

    assert document is not None
    assert b"fact 3" in document.data
    assert drawn == {("memory", "/src/3")}


def test_a_diff_of_all_files_draws_those_of_projects_that_were_at_work(log, drawn):
    said(log, *(fact(number, project=f"/src/{number}", conversation_id=f"c{number}") for number in range(4)))
    said(log, fact(9, project="/src/3", conversation_id="c9", day=NEXT_DAY))
    replay_store(opened(log))
    drawn.clear()

    assert any(change.path.startswith("projects/3-") for change in diff(opened(log), EVENING))
    assert {name for view, name in drawn if view == "memory"} == {"/src/3"}


def test_a_diff_has_both_sides_of_the_index_of_everything(log):
    said(log, *(fact(number, project=f"/src/{number}", conversation_id=f"c{number}") for number in range(2)))
    said(log, fact(9, project="/src/1", conversation_id="c9", day=NEXT_DAY))
    replay_store(opened(log))
    (index,) = (change for change in diff(opened(log), EVENING) if change.path == "INDEX.md")

    assert index.before is not None
    assert any("(facts: 2" in line for line in index.after or ())


sayings = st.tuples(
    st.sampled_from("abcdef"), st.sampled_from(["s1", "s2", "s3"]), st.sampled_from(["codex", "cursor"])
)
omissions = st.sampled_from(
    [
        Omission(sessions=frozenset({"s1"})),
        Omission(agents=frozenset({"codex"})),
        Omission(events=frozenset(fact(number)["id"] for number in (0, 2, 5))),
        Omission(sessions=frozenset({"s2"}), events=frozenset({fact(1)["id"]})),
    ]
)


@given(st.lists(sayings, min_size=1, max_size=12), omissions)
def test_without_something_exactly_the_lines_go_that_only_it_supports(said, without):
    facts = [
        Fact(id=fact(number)["id"], ts=at(number), content=f"say {text}", conversation_id=who, agent=agent)
        for number, (text, who, agent) in enumerate(said)
    ]
    with log_of([codec.encode(one) for one in facts]) as log:
        before = by_path(replay_at(opened(log)))["MEMORY.md"]
        after = by_path(replay_at(opened(log), without=without)).get("MEMORY.md")
    sessions = [one for one in facts if one.conversation_id not in without.sessions]
    others = {one.content for one in sessions if one.id not in without.events and one.agent not in without.agents}

    assert bullets(before.lines) == {one.content for one in facts}
    assert (bullets(after.lines) if after else set()) == others


def went(change):
    return [line[15:] for line in change.before or () if line not in (change.after or ())]


def bullets(lines):
    return {match["text"] for line in lines if (match := memory_edits._BULLET.fullmatch(line.text))}


@pytest.mark.parametrize(
    ("without", "gone"),
    [
        (Omission(sessions=frozenset({"s1"})), "one"),
        (Omission(agents=frozenset({"codex"})), "two"),
    ],
)
def test_sessions_and_agents_are_left_out_alone(log, without, gone):
    said(log, fact(1, content="one", conversation_id="s1"), fact(2, content="two", agent="codex"))

    [lost] = [change for change in lost_without(opened(log), without) if change.path == "MEMORY.md"]

    assert went(lost) == [gone]


def test_an_event_is_left_out_alone(log):
    first, _ = said(log, fact(1, content="one"), fact(2, content="two"))

    found = lost_without(opened(log), Omission(events=frozenset({first.id})))
    [lost] = [change for change in found if change.path == "MEMORY.md"]

    assert went(lost) == ["one"]


def test_a_file_is_found_by_its_path_its_end_its_base_and_the_file_of_that(log):
    said(log, fact(1, project="/p/shop", scope="project"))
    planned(log, "Tea", "Green")
    apply(log, opened(log).settings)
    now = replay_at(opened(log))
    project = next(path for path in by_path(now) if path.startswith("projects/") and path.endswith("MEMORY.md"))

    assert document_meant(opened(log), f"/elsewhere/{project}", now) == project
    assert {
        document_meant(opened(log), name, now) for name in ("user", "USER.md", str(user_md()), "bases/user.md")
    } == {"bases/user.md"}
    with pytest.raises(BadRequest, match="renders no file"):
        document_meant(opened(log), "nothing.md", now)


EVENTS, PLANTED = 600, 372


@pytest.fixture(scope="module")
def long_log(tmp_path_factory):
    """A long log, one event of which says what no other does."""
    log = EventLog(tmp_path_factory.mktemp("long") / "store", fsync=False)
    facts = [
        fact(number % 3600, day=f"2026-02-{10 + number // 3600}", content=f"word {number % 40}")
        for number in range(EVENTS)
    ]
    facts[PLANTED] |= {"content": "the planted one", "importance": 5}
    said(log, *facts)
    return log, facts[PLANTED]["id"]


@pytest.fixture
def counted(monkeypatch):
    """Counts the replays a bisection makes, whatever it says of itself."""
    module, made = sys.modules[bisect.__module__], []

    def counting(function):
        def counts(*args):
            made.append(args)
            return function(*args)

        return counts

    monkeypatch.setattr(module, "replay_at", counting(module.replay_at))
    return made


@pytest.mark.slow
def test_a_planted_event_is_found_in_hundreds_with_few_replays(long_log, counted):
    log, planted_id = long_log

    found = bisect(opened(log), "MEMORY.md", "PLANTED one.")

    assert (found.entry.event.id, found.came) == (planted_id, True)
    assert len(counted) == found.replays <= math.log2(EVENTS) + 1


@pytest.mark.slow
@pytest.mark.parametrize(("text", "position"), [("**lesson** (2)", 234), ("**lesson** (3)", 251)])
def test_what_several_events_lead_to_and_none_says_is_found_with_few_replays(log, counted, text, position):
    facts = [fact(number, content=f"word {number % 11}") for number in range(300)]
    for number in (100, 234, 251):
        facts[number] |= {"category": "lesson"}
    said(log, *(facts if "3" in text else facts[:251]))

    found = bisect(opened(log), "INDEX.md", text)

    assert (found.entry.event.id, found.came) == (facts[position]["id"], True)
    assert len(counted) == found.replays
    assert len(counted) - 1 <= 9  # halves of 300, beside the look at how it is now


def test_what_a_person_forgot_is_found_by_the_forgetting(log, counted):
    said(log, *(fact(number, content=f"word {number}") for number in range(60)))
    [gone] = log.put([Rejected(conversation_id="human", statement="WORD 20", ts=at(61))])
    said(log, *(fact(number, content=f"word {number}", day=NEXT_DAY) for number in range(60, 70)))

    found = bisect(opened(log), "MEMORY.md", "word 20")

    assert (found.entry.event.id, found.came) == (gone.event.id, False)
    assert len(counted) == found.replays <= 6


def test_of_several_events_that_took_a_text_out_the_last_is_found(log):
    said(log, fact(0, content="other"), fact(1, content="word"))
    [first] = log.put([Rejected(conversation_id="human", statement="word", ts=at(2))])
    log.put([Restored(conversation_id="human", target=first.event.id, ts=at(3))])
    [last] = log.put([Rejected(conversation_id="human", statement="word", ts=at(4))])

    assert bisect(opened(log), "MEMORY.md", "word").entry.event.id == last.event.id


@given(st.integers(1, 20_000), st.data())
def test_no_hint_however_wrong_makes_a_search_longer_than_halves(events, data):
    position = data.draw(st.integers(0, events - 1))
    hints = data.draw(st.lists(st.integers(0, events - 1) | st.just(position), max_size=2))
    looks = []

    def has_turned(count):
        looks.append(count)
        return count > position

    assert _turn(0, events, hints, has_turned) == position
    assert len(looks) <= math.ceil(math.log2(events))
    assert len(set(looks)) == len(looks)


def test_what_took_a_line_out_is_found(log, counted):
    facts = said(log, *(fact(number, content=f"word {number}") for number in range(60)))
    gone = log.append(Retraction(conversation_id="human", target=facts[20].id, ts=at(61)))
    said(log, *(fact(number, content=f"word {number}", day=NEXT_DAY) for number in range(60, 70)))

    found = bisect(opened(log), "MEMORY.md", "- [2026-02-20] word 20")

    assert (found.entry.event.id, found.came) == (gone.id, False)
    assert len(counted) == found.replays <= 8


def test_a_text_no_event_says_is_found_by_halves_and_one_that_never_was_is_refused(log):
    facts = said(log, *(fact(number, content=f"word {number}") for number in range(30)))
    said(log, fact(31, content="later", category="lesson"), fact(32, content="last"))

    [later] = [event.id for event in log.read() if getattr(event, "category", None)]

    assert bisect(opened(log), "MEMORY.md", "## Lessons").entry.event.id == later
    assert bisect(opened(log), "MEMORY.md", "# Memory").entry.event.id == facts[0].id
    with pytest.raises(BadRequest, match="no event put this text there"):
        bisect(opened(log), "MEMORY.md", "nobody said this")


def test_a_story_tells_each_thing_once_and_what_was_withdrawn(log):
    one = log.append(Fact(conversation_id="s", content="Use RS256", category="decision", agent="codex"))
    log.append(Fact(conversation_id="s", content="Other"))
    again = log.append(Fact(conversation_id="s", content="use RS256.", category="decision"))
    log.append(StageSummary(conversation_id="s", topic="Login", summary="Done", todos=["tell ops"]))
    other = log.append(Fact(conversation_id="s", content="Wrong"))
    log.append(SaveRequested(conversation_id="s", trigger="stop"))
    log.append(Retraction(conversation_id="human", target=other.id))

    told = story(opened(log), "s")

    assert [(line.text, line.again, line.gone) for line in told.lines] == [
        ("Use RS256", [again.id], False),
        ("Other", [], False),
        ("Login", [], False),
        ("Wrong", [], True),
    ]
    assert (told.agent, told.others, told.lines[0].id) == ("codex", 1, one.id)
    assert told.lines[2].details == ["Done", "to do: tell ops"]


def test_verbs_show_a_file_as_it_was_a_difference_a_session_and_an_event():

    log = EventLog(os.environ["EVENTLOG_HOME"], fsync=False)
    first, last = said(log, fact(1, content="early", conversation_id="s1"), fact(1, content="late", day=NEXT_DAY))

    was = call("show", "MEMORY.md", "--as-of", DAY)
    assert was.code == 0
    assert "early" in was.out
    assert "late" not in was.out
    changed = call("diff", "--from", DAY, "MEMORY.md")
    assert "+- [2026-02-21] late" in changed.out
    assert "early" not in changed.out.replace(" - [2026-02-20] early", "")
    assert "early" in call("show", "s1").out
    call("plan", "--path", "user", "--heading", "Tea", "--content", "Green")
    assert "Green" in call("show", "user").out
    assert f'"{last.id}"' in call("show", last.id).out
    assert "added by" in call("bisect", "MEMORY.md", "late").out
    without = call("replay", "--without", "session=s1", "--without", f"id={last.id}")
    assert "-- [2026-02-20] early" in without.out
    assert not Path(log.store.knowledge).exists()
    assert call("replay", "--without", "sessions=s1").code == 2
    assert call("show", "MEMORY.md", "--as-of", "2026-01-01").code == 2
    assert at(1) == first.ts


@pytest.mark.parametrize(("content", "text"), [("Die Straße", "STRASSE"), ("Éclair", "éclair"), ("the file", "ﬁle")])
def test_what_left_a_file_is_found_in_whatever_letters(log, content, text):
    said_it, _ = said(log, fact(1, content=content), fact(2, content="another"))
    gone = log.append(Retraction(conversation_id="human", target=said_it.id, ts=at(61)))

    assert bisect(opened(log), "MEMORY.md", text).entry.event.id == gone.id
