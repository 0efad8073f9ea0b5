"""What a person forgets stays away, whoever says it again, until a person takes that back; and everything can be."""

import json
import os
import sys
from pathlib import Path
from unittest.mock import create_autospec

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from msgspec.structs import replace

from eventlog.app.ask.history import replay_at
from eventlog.app.ask.why_not import why_not
from eventlog.app.build import rebuild
from eventlog.app.build.apply import apply
from eventlog.app.build.rebuild import replay_store
from eventlog.app.open_store import Machine
from eventlog.app.serve.session_context import request_of, session_context
from eventlog.app.write.correct import correctable, edit
from eventlog.app.write.forget import forget, forgettable
from eventlog.app.write.plan import plan
from eventlog.app.write.project_events import join_projects
from eventlog.app.write.record_once import record_once
from eventlog.app.write.rejections import worded
from eventlog.app.write.resolve import decide, waiting
from eventlog.app.write.undo import restorable, undo, undoable
from eventlog.format import codec
from eventlog.format.errors import BadRequest
from eventlog.format.events import HUMAN, Fact, PlanEntry, Rejected, Restored, Retraction, StageSummary
from eventlog.format.text import statement_of
from eventlog.log.event_log import EventLog
from eventlog.projections.bases.ledger import REJECTED
from eventlog.projections.views.markdown import unstamped
from tests.support.bases import REVIEWED, planned, user_md, write_user
from tests.support.builders import fact, replay
from tests.support.command_line import call
from tests.support.effort import rounds
from tests.support.golden import tree
from tests.support.histories import a_log, histories, write
from tests.support.use_cases import DEFAULTS, by_path, opened

pytestmark = pytest.mark.slow

PROJECT = "/p/shop"


def files(log):
    """The knowledge files as they lie on disk, without their stamps, and USER.md; who was at work stays told."""
    unstamped = {path: data.rpartition(b"\n<!--")[0] or data for path, data in tree(log.store.knowledge).items()}
    del unstamped["sessions.jsonl"]
    return unstamped | {"USER.md": user_md().read_bytes() if user_md().exists() else None}


def says(log, text):
    """Tell which knowledge files say a text, as the log has them and as they lie on disk."""
    rendered = {path: document.data.decode() for path, document in by_path(replay_at(opened(log))).items()}
    on_disk = {path: data.decode() for path, data in tree(log.store.knowledge).items()}
    return {path for found in (rendered, on_disk) for path, data in found.items() if text in data}


def context(log):
    there = opened(log)._replace(machine=Machine.here()._replace(clock=log.now))
    request = request_of(there, PROJECT, session="new", source="startup", agent="", budget=None)
    return session_context(there, request).context.text


def said(log, content="Use HS256", **fields):
    return log.append(Fact(**{"conversation_id": "s1", "project": PROJECT, "content": content, **fields}))


def forgotten(log, what):
    return forget(opened(log), forgettable(opened(log), what))


def taken_back(log, name=""):
    return undo(opened(log), undoable(opened(log), name))


def test_a_deed_replays_twice_and_leaves_the_indexes_once(log, monkeypatch):
    said(log)
    left = []
    monkeypatch.setattr(rebuild, "leave_indexes", lambda *_: left.append(list(log.read())[-1].type))
    forgotten(log, "Use HS256")

    assert ["rejected"] == left
    assert (Path(log.store.cache) / "search.sqlite").exists()


@pytest.fixture
def log(tmp_path):
    ticks = iter(range(10**6))
    return EventLog(tmp_path / "store", fsync=False, clock=lambda: 1_771_588_800 * 10**9 + next(ticks) * 10**9)


def test_equal_statements_leave_every_file_and_context_and_whoever_says_one_again_is_told(log):
    for number in range(3):
        said(log, f"use hs256{'.' * number}", conversation_id=f"s{number}")
    log.append(
        StageSummary(
            conversation_id="s1", project=PROJECT, topic="Login", summary="Did it", scope="session",
            decisions=["Use HS256", "Ship it"], todos=["Use HS256!"],
        )
    )  # fmt: skip
    log.append(StageSummary(conversation_id="s4", project=PROJECT, topic="Use HS256", summary="Use HS256"))
    replay_store(opened(log))
    assert "hs256" in context(log).lower()

    [found] = forgettable(opened(log), "USE HS256")
    done = forget(opened(log), [found])

    assert len(found.behind) == 5
    assert says(log, "HS256") == says(log, "hs256") == set()
    assert "hs256" not in context(log).lower()
    assert says(log, "Ship it")
    again = record_once(log, Fact(conversation_id="s9", project=PROJECT, content="Use HS256"))
    assert (again.new, again.event.id) == (False, done.events[0].id)
    said(log, "Use  HS256.", conversation_id="s9")
    replay_store(opened(log))
    assert says(log, "HS256") == set()
    assert "HS256" not in context(log)


def test_a_context_forgets_what_was_rejected_long_ago_and_said_today(log):
    said(log)
    forgotten(log, "Use HS256")
    later = EventLog(log.store.root, fsync=False, clock=lambda: 1_781_588_800 * 10**9)
    said(later)
    said(later, "Something else")

    assert "Something else" in context(later)
    assert "HS256" not in context(later)


@pytest.mark.parametrize("how", ["line", "id", "part of the text"])
def test_a_statement_is_forgotten_by_its_line_its_id_and_its_text(log, how):
    event = said(log)
    said(log, "Something else")
    replay_store(opened(log))
    memory = next(path for path in sorted(Path(log.store.knowledge).rglob("MEMORY.md")) if "HS256" in path.read_text())
    number = next(n for n, line in enumerate(memory.read_text().split("\n"), 1) if "HS256" in line)

    done = forgotten(log, {"line": f"{memory}:{number}", "id": event.id, "part of the text": "HS256"}[how])

    assert [one.statement for one in worded(log, done.events)] == ["Use HS256"]
    assert all(one.statement is None and "HS256" not in codec.encode(one).decode() for one in done.events)
    assert "HS256" not in memory.read_text()
    assert "Something else" in memory.read_text()


def test_several_matches_are_listed_and_nothing_is_guessed(log):
    said(log, "Use HS256 here")
    said(log, "Use HS256 there")

    with pytest.raises(BadRequest, match="2 statements") as error:
        forgettable(opened(log), "hs256")
    assert error.value.hint.split("\n") == ["Use HS256 here", "Use HS256 there"]
    with pytest.raises(BadRequest, match="nothing says"):
        forgettable(opened(log), "nobody said this")


def test_a_line_that_says_nothing_and_a_persons_own_words_are_refused(log):
    said(log)
    planned(log, "Tea", "Green")
    replay_store(opened(log))
    write_user(user_md().read_text().replace("Green", "Black"))
    replay_store(opened(log))

    memory = next(Path(log.store.knowledge).rglob("projects/*/MEMORY.md"))
    with pytest.raises(BadRequest, match="shows no statement"):
        forgettable(opened(log), f"{memory}:1")
    with pytest.raises(BadRequest, match="your own words"):
        forgettable(opened(log), f"{user_md()}:3")


@pytest.mark.parametrize("name", ["sessions.jsonl", "projects/*/INDEX.md"])
def test_a_line_about_a_session_is_forgotten_for_what_it_says_not_for_what_the_session_planned(log, name):
    log.append(StageSummary(conversation_id="s1", project=PROJECT, scope="session", topic="Signing", summary="Signing"))
    planned(log, session="s1")
    replay_store(opened(log))
    [file] = Path(log.store.knowledge).glob(name)
    [number] = [row for row, line in enumerate(file.read_text().splitlines(), 1) if "Signing" in line]

    assert [item.text for item in forgettable(opened(log), f"{file}:{number}")] == ["Signing"]


def test_a_session_is_forgotten_whole_and_comes_back(log):
    said(log)
    said(log, "Something else", conversation_id="s2")
    replay_store(opened(log))
    before = files(log)

    forget(opened(log), forgettable(opened(log), session="s1"))
    assert "Something else" in str(files(log))
    assert "HS256" not in str(files(log))
    taken_back(log)

    assert files(log) == before


def test_an_entry_that_says_a_forgotten_line_waits_and_one_that_says_nothing_else_is_not_planned(log):
    said(log, "Prefers tea")
    forgotten(log, "Prefers tea")

    planned(log, "Drinks", "- prefers tea.\n- no sugar")
    assert plan(log, {"path": "user", "heading": "Tea", "content": "Prefers  tea."}, session="s") == []
    replay_store(opened(log))

    [held] = waiting(opened(log))
    assert held.reason.startswith(REJECTED)
    assert not user_md().exists()


def again_by(log, how, content="green  TEA.", heading="Tea", **entry):
    """The same entry planned once more: at the door, or past it, as an import or another machine's log brings it."""
    fields = {"path": "user", "heading": heading, "content": content, **entry}
    if how == "door":
        return plan(log, fields, session="tomorrow")
    key = {"path": "user", "heading": heading}
    return [log.append({"type": "plan_entry", "conversation_id": "tomorrow", "key": key, "content": content})]


@pytest.mark.parametrize("how", ["door", "log"])
@pytest.mark.parametrize("deed", ["forget the line", "forget the entry", "discard"])
def test_an_entry_that_a_person_does_not_want_stays_away_when_it_is_planned_again(log, deed, how):
    entry = planned(log, "Tea", "Green tea")
    settings = REVIEWED if deed == "discard" else DEFAULTS
    there = opened(log, settings)
    replay_store(there)
    if deed == "discard":
        [staged] = waiting(there)
        decide(there, staged, "discard")
    else:
        forgotten(log, entry.id if "entry" in deed else f"{user_md()}:3")

    again = again_by(log, how)
    replay_store(there)

    assert (again == []) == (how == "door")
    assert waiting(there) == []
    assert not user_md().exists() or "tea" not in user_md().read_text().lower()
    again_by(log, "door", heading="Colours", content="Green tea")
    replay_store(there)
    if deed != "discard":
        assert "## Colours" in user_md().read_text()
        taken_back(log, last_decision(log))
        assert "## tea\n\ngreen" in user_md().read_text().lower()


def last_decision(log):
    return [event.id for event in log.read() if event.type == "rejected"][-1]


def test_of_two_entries_that_plan_the_same_one_decision_is_enough(log):
    there = opened(log, REVIEWED)
    for _ in range(2):
        log.append(
            {"type": "plan_entry", "conversation_id": "s", "key": {"path": "user", "heading": "Tea"}, "content": "x"}
        )

    [staged] = waiting(there)
    decide(there, staged, "discard")

    assert waiting(there) == []
    replay_store(there)
    assert not user_md().exists()


def test_a_summary_that_was_forgotten_by_its_id_is_not_said_again_until_that_is_taken_back(log):
    summary = StageSummary(conversation_id="s1", project=PROJECT, topic="Login", summary="Moved to sessions")
    first = record_once(log, summary).event
    replay_store(opened(log))
    done = forgotten(log, first.id)

    again = record_once(log, replace(summary, conversation_id="s2", summary="moved  to sessions."))

    assert (again.new, again.event.id) == (False, done.events[0].id)
    taken_back(log)
    assert not record_once(log, summary).new
    assert record_once(log, replace(summary, conversation_id="s2")).new


def test_the_verb_tells_an_agent_that_its_entry_is_not_wanted_or_waits_for_what_a_person_forgot():
    log = EventLog(os.environ["EVENTLOG_HOME"], fsync=False)
    said(log, "Prefers tea")
    forgotten(log, "Prefers tea")
    plan_it = ("plan", "--path", "user", "--heading", "Tea", "--session", "s", "--content")

    refused, waits = call(*plan_it, "prefers TEA"), call(*plan_it, "- Prefers tea\n- hot")

    assert json.loads(refused.out) == {"status": "skipped", "reason": "rejected", "id": last_decision(log)}
    assert json.loads(waits.out)["status"] == "ok"
    assert json.loads(waits.out)["waits"] == f"{REJECTED}: Prefers tea"
    assert [event.content for event in log.read() if isinstance(event, PlanEntry)] == ["- Prefers tea\n- hot"]


def test_what_a_verb_took_back_from_a_knowledge_base_is_told_once_with_one_way_back():
    log = EventLog(os.environ["EVENTLOG_HOME"], fsync=False)
    planned(log, "Tea", "Green")
    replay_store(opened(log))

    for ran in (call("forget", f"{user_md()}:3", "--yes"), call("undo", "--yes"), call("undo", "--yes")):
        [way_back] = [line for line in ran.out.splitlines() if "eventlog undo" in line]
        assert way_back.startswith("undo: eventlog undo ")
        assert "1 file changed: ~/.config/agents/USER.md" in ran.out
    assert log.read()


def test_why_not_names_the_decision_about_an_entry_that_planned_the_same(log):
    planned(log, "Tea", "Green tea")
    replay_store(opened(log))
    forgotten(log, f"{user_md()}:3")
    again_by(log, "log")

    [found] = why_not(opened(log), "green tea")

    assert (found.cause, found.by and found.by.id) == ("rejected", last_decision(log))


def test_an_agent_cannot_take_back_what_a_person_decided(log):
    said(log)
    done = forgotten(log, "Use HS256")
    log.append(Retraction(conversation_id="s1", target=done.events[0].id))
    replay_store(opened(log))

    assert says(log, "HS256") == set()
    for kind in ("rejected", "restored"):
        assert call("append", kind, f"target={done.events[0].id}", "--session", "s").code == 2


def test_a_person_who_writes_it_by_hand_has_it_back(log):
    said(log)
    said(log, "Something else")
    forgotten(log, "Use HS256")
    memory = next(Path(log.store.knowledge).rglob("projects/*/MEMORY.md"))
    memory.write_text(memory.read_text().replace("- [", "- Use HS256\n- [", 1))

    replay_store(opened(log))

    assert "Use HS256" in memory.read_text()


@settings(max_examples=rounds(fixed=5, fuzz=150))
@given(histories(plans=True), histories(plans=True), st.data())
def test_what_is_forgotten_never_comes_back_by_itself(earlier, later, data):
    with a_log() as log:
        write(log, earlier)
        stated = sorted({event.content for event in log.read() if isinstance(event, Fact) and not event.subagent})
        if not stated:
            return
        text = data.draw(st.sampled_from(stated))
        log.put([Rejected(conversation_id="human", agent="human", statement=text)])
        write_later(log, [line for line in later if not isinstance(codec.decode(line), Restored)])

        for document in by_path(replay_at(opened(log))).values():
            for line in unstamped(document):
                assert not tells(line, text), (document.path, line)
        whole = replay(log, DEFAULTS)
        assert {one.path: one.data for one in whole.documents} == {
            one.path: one.data for one in replay(log, DEFAULTS, anew=True).documents
        }
        assert not any(tells(line, text) for line in context(log).split("\n"))


def write_later(log, lines):
    """Put lines of a later week beside what is there."""
    moved = [line.replace(b'"ts":"2026-02', b'"ts":"2026-03', 1) for line in lines]
    write(log, moved, [".later"] * len(moved))


def tells(line, text):
    """Tell whether a line is an item that says just this."""
    from eventlog.projections.views.markdown import unescaped

    item = unescaped(line.removeprefix("- ").removeprefix("[ ] "))
    parts = {item, item.partition("] ")[2], item[6:], item.rpartition(": ")[2]}
    return line.startswith("- ") and statement_of(text) in {statement_of(part) for part in parts if part}


# ------------------------------------------------------------------------------------------------ taking back


def forget_session(log):
    forget(opened(log), forgettable(opened(log), session="s1"))


def forget_several(log):
    forget(opened(log), [*forgettable(opened(log), "Something else"), *forgettable(opened(log), "Use HS256")])


def by_hand(log, event):
    log.append(replace(event, conversation_id=HUMAN, agent=HUMAN))


def withdraw(log, **aim):
    """An agent withdraws: not the last thing a person did, so it is named."""
    return log.append(Retraction(conversation_id="s2", agent="codex", **aim)).id


def restore(log):
    memory = next(Path(log.store.knowledge).rglob("projects/shop*/MEMORY.md"))
    return undo(opened(log), restorable(opened(log), str(memory), list(log.read())[-2].ts)).events[0].id


def resolve(log, choice):
    [staged] = waiting(opened(log))
    decide(opened(log), staged, choice)


def edit_base(log):
    write_user(user_md().read_text().replace("Green", "Black"))


def edit_memory(log, instead=""):
    memory = next(Path(log.store.knowledge).rglob("projects/shop*/MEMORY.md"))
    bullet = next(line for line in memory.read_text().split("\n") if "HS256" in line)
    memory.write_text(memory.read_text().replace(f"{bullet}\n", instead and f"{bullet}\n{instead}\n"))


TEA = StageSummary(conversation_id="-", summary="Made tea", decisions=["Tea it is"])
COFFEE = {"path": "user", "heading": "Coffee", "content": "None"}
DEEDS = {  # each returns the id to undo where the last thing a person did is another
    "forget": lambda log: forgotten(log, "Use HS256") and None,
    "forget a session": forget_session,
    "forget several": forget_several,
    "say a fact": lambda log: by_hand(log, Fact(conversation_id="-", content="I like tea")),
    "sum up": lambda log: by_hand(log, TEA),
    "plan by hand": lambda log: plan(log, COFFEE, session=HUMAN, agent=HUMAN) and None,
    "an agent withdraws": lambda log: withdraw(log, target=next(iter(log.read())).id),
    "an agent withdraws a session": lambda log: withdraw(log, conversation="s1"),
    "join projects": lambda log: join_projects(opened(log), PROJECT, "/p/notes") and None,
    "restore": restore,
    "take back": lambda log: taken_back(log).events[0].id,
    "entry": lambda log: planned(log, "Coffee", "None") and None,
    "second entry": lambda log: planned(log, "Tea", "Oolong") and None,
    "resolve": lambda log: resolve(log, "apply"),
    "discard": lambda log: resolve(log, "discard"),
    "edit a base": edit_base,
    "edit a base and apply": lambda log: edit_base(log) or (apply(opened(log)) and None),
    "add to a memory": lambda log: edit_memory(log, "- By hand"),
    "strike from a memory": edit_memory,
}


@pytest.mark.parametrize("deed", DEEDS)
def test_undo_gives_every_file_back_byte_for_byte_but_for_stamps(log, deed):
    said(log)
    said(log, "Something else")
    said(log, "Of another place", project="/p/notes")
    planned(log, "Tea", "Green")
    replay_store(opened(log))
    if deed in ("resolve", "discard"):
        write_user(user_md().read_text().replace("Green", "Black"))
        replay_store(opened(log))
        planned(log, "Tea", "White")
        replay_store(opened(log))
    if deed == "take back":
        forgotten(log, "Use HS256")
    if deed == "restore":
        log.append(Retraction(conversation_id="s1", target=next(iter(log.read())).id))
        replay_store(opened(log))
    before = files(log)

    done = DEEDS[deed](log)
    replay_store(opened(log))
    assert deed == "discard" or files(log) != before
    taken_back(log, done or "")

    assert files(log) == before
    again = replay_store(opened(log))
    assert (again.published.changes, again.applied.stored) == (0, 0)


def test_undo_given_again_goes_further_back_and_takes_back_a_taking_back_by_its_id(log):
    said(log)
    said(log, "Something else")
    replay_store(opened(log))
    first = files(log)
    forgotten(log, "Use HS256")
    second = files(log)
    forgotten(log, "Something else")
    third = files(log)

    last = taken_back(log)
    assert files(log) == second
    taken_back(log)
    assert files(log) == first
    taken_back(log, last.events[0].id)

    assert "Something else" not in str(files(log))
    assert "HS256" in str(files(log))
    assert files(log) != third
    with pytest.raises(BadRequest, match="taken back already"):
        undoable(opened(log), last.events[0].id)


def test_of_two_commands_that_decide_the_same_at_once_one_counts_and_one_undo_brings_it_back(log):
    said(log, "Rows are sorted"), said(log)
    forgotten(log, "Rows are sorted")
    first, second = (forgettable(opened(log), "Use HS256") for _ in range(2))
    forget(opened(log), first)
    with pytest.raises(BadRequest, match="it is withdrawn already"):
        forget(opened(log), second)
    one, other = (undoable(opened(log)) for _ in range(2))
    undo(opened(log), one)
    with pytest.raises(BadRequest, match="it is taken back already"):
        undo(opened(log), other)
    ours, theirs = (correctable(opened(log), "Use HS256") for _ in range(2))
    edit(opened(log), ours, "Use RS256")
    with pytest.raises(BadRequest, match="it is withdrawn already"):
        edit(opened(log), theirs, "Use ES256")

    assert says(log, "Use RS256")
    assert not says(log, "Use ES256")
    taken_back(log)
    assert says(log, "Use HS256")
    assert not says(log, "Rows are sorted")


def test_what_is_forgotten_brings_back_nothing_that_it_had_replaced_and_undo_gives_back_all(log):
    for day in ("fridays", "mondays"):
        said(log, f"Deploy on {day}", key="deploy")
    said(log, "Deploy on fridays", project="/p/barn", key="deploy")
    replay_store(opened(log))
    before = files(log)

    done = forgotten(log, "Deploy on mondays")

    assert ["rejected", "retraction"] == [event.type for event in done.events]
    assert {"projects/barn" in path for path in says(log, "Deploy on") if path.endswith("MEMORY.md")} == {True}
    assert undoable(opened(log)).what == "a forgetting"
    taken_back(log)
    assert before == files(log)


def test_a_memory_as_it_was_has_nothing_again_that_what_is_forgotten_had_replaced(log):
    for content in ("Deploy on fridays", "Deploy on mondays"):
        said(log, content, key="deploy")
    then = list(log.read())[-1].ts
    said(log, "Ports are odd")
    replay_store(opened(log))
    forgotten(log, "Deploy on mondays")
    [memory] = Path(log.store.knowledge).glob("projects/*/MEMORY.md")

    undo(opened(log), restorable(opened(log), str(memory), then))

    assert not says(log, "Ports are odd")
    assert not says(log, "Deploy on")


def test_undo_takes_back_what_a_person_has_just_written_and_nothing_older(log):
    said(log)
    replay_store(opened(log))
    [memory] = Path(log.store.knowledge).glob("projects/*/MEMORY.md")
    for note in ("Older", "Newer"):
        text = memory.read_text()
        memory.write_text(text.replace("Older", note) if "Older" in text else f"{text}\n## Notes\n\n{note}\n")
        if note == "Older":
            replay_store(opened(log))

    taken_back(log)

    assert "Older" in memory.read_text()
    assert "Newer" not in memory.read_text()


def test_undo_after_a_forget_that_found_an_entry_waiting_takes_back_the_forget(log):
    said(log)
    replay_store(opened(log))
    planned(log, "Tea", "Green")
    forgotten(log, "Use HS256")

    taken_back(log)

    assert says(log, "HS256")
    assert "Green" in user_md().read_text()
    taken_back(log)
    assert "Green" not in user_md().read_text()


def test_an_entry_that_a_decision_let_through_goes_when_that_is_taken_back(log):
    said(log, "Drink tea")
    done = forgotten(log, "Drink tea")
    planned(log, "Tea", "- Drink tea\n- often")
    replay_store(opened(log))
    before = files(log)
    again = taken_back(log, done.events[0].id)  # the entry is applied now
    assert "often" in user_md().read_text()

    taken_back(log, again.events[0].id)

    assert files(log) | {"USER.md": None} == before | {"USER.md": None}
    assert "often" not in user_md().read_text()


def test_what_was_named_to_be_taken_back_is_a_deed_and_the_last_thing_done_is_a_step(log):
    said(log)
    said(log, "Something else")
    replay_store(opened(log))
    first = forgotten(log, "Use HS256").events[0]
    forgotten(log, "Something else")
    both = files(log)

    taken_back(log, first.id)
    assert "HS256" in str(files(log))
    taken_back(log)

    assert files(log) == both


def test_an_accepted_entry_waits_again_after_undo(log):
    planned(log, "Tea", "Green")
    replay_store(opened(log))
    write_user(user_md().read_text().replace("Green", "Black"))
    planned(log, "Tea", "White")
    replay_store(opened(log))
    resolve(log, "apply")
    assert "White" in user_md().read_text()

    taken_back(log)

    assert "Black" in user_md().read_text()
    assert [one.entry.content for one in waiting(opened(log))] == ["White"]


def test_undo_of_nothing_and_of_what_an_agent_said_is_refused(log):
    event = said(log)

    with pytest.raises(BadRequest, match="nothing to take back"):
        undoable(opened(log))
    with pytest.raises(BadRequest, match="an agent said this"):
        undoable(opened(log), event.id)


def test_the_verbs_show_what_stands_behind_ask_and_say_how_to_undo():
    log = EventLog(os.environ["EVENTLOG_HOME"], fsync=False)
    log.append_many([codec.from_fields(one) for one in (fact(1, content="Wrong thing"), fact(2, content="Right"))])
    replay_store(opened(log))

    asked = call("forget", "Wrong thing")
    assert (asked.code, "--yes" in asked.err, "said by 1 event" in asked.out) == (2, True, True)
    done = call("forget", "Wrong thing", "--yes")
    assert "undo: eventlog undo " in done.out
    assert '"reason":"rejected"' in call("fact", "wrong thing", "--session", "s9").out
    assert "Wrong" not in Path(log.store.knowledge, "MEMORY.md").read_text()
    assert "forgotten\tWrong thing" in call("status").out
    assert call("undo", "--yes").code == 0
    assert "Wrong thing" in Path(log.store.knowledge, "MEMORY.md").read_text()
    assert "forgotten" not in call("status").out
    assert call("undo", "--yes").code == 2


def test_53_lines_are_forgotten_by_two_commands_and_come_back_by_one(log):
    log.append_many([fact(number, content=f"Ticket {number} waits for Ada") for number in range(53)])
    log.append(fact(60, content="Carts are green"))
    store = ("--store", log.store.root)
    shown = call("forget", "--matching", "ticket", "--all", *store)
    before = len(list(log.read()))
    done = call("forget", "--matching", "ticket", "--all", "--yes", *store)
    memory = call("memory", "--all-projects", *store).out

    assert before == 54
    assert shown.out.count("Ticket ") == 53
    assert done.code == 0
    assert "Ticket" not in memory
    assert "Carts are green" in memory

    call("undo", "--yes", *store)

    assert "Ticket 52" in call("memory", "--all-projects", *store).out


def steps_of(act):
    """Count the calls of functions while this runs: what an act costs on any machine."""
    made = 0

    def count(_frame, what, _about):
        nonlocal made
        made += what in ("call", "c_call")

    before = sys.getprofile()
    sys.setprofile(count)
    try:
        act()
    finally:
        sys.setprofile(before)
    return made


def test_to_find_what_was_forgotten_together_takes_no_more_for_each_of_many(log):
    took = []
    for many in (50, 400):
        log.append_many(
            [fact(number, day=f"2026-03-{many // 50:02}", content=f"{many}-{number} waits") for number in range(many)]
        )
        forget(opened(log), forgettable(opened(log), matching=f"{many}-"))
        took.append(steps_of(lambda: undoable(opened(log))))

    assert took[1] < 16 * took[0]  # of what 8 times as many take; each with each would be 64 times as many


def test_what_an_undo_shows_of_many_is_looked_up_at_once(log, monkeypatch):
    find = create_autospec(EventLog.find, side_effect=EventLog.find)
    monkeypatch.setattr(EventLog, "find", find)
    store, took = ("--store", log.store.root), []
    for many in (3, 9):
        log.append_many(
            [fact(number, day=f"2026-03-{many:02}", content=f"{many}-{number} waits") for number in range(many)]
        )
        call("forget", "--matching", f"{many}-", "--all", "--yes", *store)
        before = find.call_count
        assert call("undo", "--yes", *store).out.count(" waits") == many
        took.append(find.call_count - before)

    assert took[0] == took[1]


def test_what_a_query_shows_of_what_was_forgotten_together_is_looked_up_at_once(log, monkeypatch):
    find = create_autospec(EventLog.find, side_effect=EventLog.find)
    monkeypatch.setattr(EventLog, "find", find)
    store, took = ("--store", log.store.root), []
    for many in (3, 9):
        log.append_many([fact(number, content=f"{many}-{number} waits") for number in range(many)])
        call("forget", "--matching", f"{many}-", "--all", "--yes", *store)
        before = find.call_count
        assert (
            call("query", "--type", "rejected", "--reverse", "--limit", str(many), *store).out.count(" waits") == many
        )
        took.append(find.call_count - before)

    assert took[0] == took[1]
