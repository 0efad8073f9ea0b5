"""What is exported comes back as it was, decisions of people included; other programs' formats are what they say."""

import errno
import json
import os
import re
from collections import Counter
from itertools import count
from pathlib import Path

import pytest

from eventlog.app.build.rebuild import replay_store
from eventlog.app.importing import import_past
from eventlog.app.write.correct import correctable, edit
from eventlog.app.write.forget import forget, forgettable
from eventlog.app.write.undo import undo, undoable
from eventlog.format.errors import NotStored
from eventlog.format.events import Event, Fact, SessionStart, StageSummary
from eventlog.log.event_log import EventLog
from eventlog.store import index_lookup
from eventlog.store.dayfile import DayFile
from tests.support.builders import fact
from tests.support.command_line import call
from tests.support.golden import tree
from tests.support.published_rules import ATIF, CLOUDEVENT, OTLP_LOGS, violations
from tests.support.use_cases import opened

SHOP = "/p/shop"
BLANK = '{"v":1,"id":"019c7b12-8f00-7000-8000-000000000000","ts":"2026-02-20T10:00:00Z","type":"fact","content":"x","conversation_id":" "}'
_TICKS = count(1_771_588_800 * 10**9, 3600 * 10**9)  # a copy of a log begins when that has ended

DONE = {"status": "ok", "revised": 0, "still_open": 0, "switched_off": 0, "damaged": 0}


@pytest.fixture
def log(tmp_path, made_once):
    """A log in which a person has forgotten, corrected and undone."""
    clock = iter(range(next(_TICKS), 1_800_000_000 * 10**9, 10**9))
    return made_once(_with_decisions, EventLog(tmp_path / "store", fsync=False, clock=lambda: next(clock)))


def _with_decisions(log):
    log.append(SessionStart(conversation_id="s1", project=SHOP, agent="codex", model="m-1"))
    for text in ("Use HS256", "Ports are odd", "Carts are blue"):
        log.append(Fact(conversation_id="s1", project=SHOP, agent="codex", content=text))
    log.append(
        StageSummary(
            conversation_id="s1", project=SHOP, agent="codex", topic="Login", summary="Did it", decisions=["Ship it"]
        )
    )
    for said in ("Use HS256", "Ports are odd"):
        forget(opened(log), forgettable(opened(log), said))
    undo(opened(log), undoable(opened(log)))
    edit(opened(log), correctable(opened(log), "Carts are blue"), "Carts are green")
    replay_store(opened(log))


def exported(log, *options):
    ran = call("export", *options, "--store", log.store.root)
    assert ran.code == 0, ran
    return ran.out


def imported(text, place, *options):
    file = place / "log.jsonl"
    place.mkdir()
    file.write_text(text)
    ran = call("import", "eventlog", file, "--store", place / "store", *options)
    return ran, EventLog(place / "store", fsync=False)


@pytest.mark.slow
def test_a_round_trip_gives_the_same_log_and_the_same_files(log, tmp_path):
    ran, other = imported(exported(log), tmp_path / "other")

    assert json.loads(ran.out) == {**DONE, "new": len(list(log.read())), "known": 0}
    assert list(log.read()) == list(other.read())
    assert exported(log) == exported(other)
    replay_store(opened(other))
    assert tree(log.store.knowledge) == tree(other.store.knowledge)
    assert b"Use HS256" not in b"".join(tree(other.store.knowledge).values())


def test_a_second_import_adds_nothing(log, tmp_path):
    text = exported(log)
    _, other = imported(text, tmp_path / "other")

    again = call("import", "eventlog", tmp_path / "other" / "log.jsonl", "--store", other.store.root)

    assert json.loads(again.out)["new"] == 0
    assert exported(other) == text


@pytest.mark.parametrize(
    "line", ['{"type":"fact","conversation_id":"c","content":"x"}', "{broken", '{"id":"x"}', BLANK]
)
def test_what_no_log_had_is_named_and_everything_else_is_read(log, tmp_path, line):
    first, *others = exported(log).splitlines(keepends=True)
    ran, other = imported("".join([first, line + "\n", *others]), tmp_path / "other")

    assert (ran.code, json.loads(ran.out)) == (4, {**DONE, "new": 1 + len(others), "known": 0, "damaged": 1})
    assert "log.jsonl:2: " in ran.err
    assert exported(other) == exported(log)


def test_a_dry_run_counts_the_events_that_are_new_and_stores_none(log, tmp_path):
    ran, other = imported(exported(log), tmp_path / "other", "--dry-run")
    days = Counter(event.ts[:10] for event in log.read())

    assert [line.split("\t") for line in ran.out.splitlines()] == [
        ["eventlog", day, str(new), "0"] for day, new in sorted(days.items())
    ]
    assert list(other.read()) == []


@pytest.mark.parametrize("option", [("--since", "2d"), ("--project", "shop")])
def test_a_file_of_export_is_read_whole_and_an_option_that_would_choose_is_refused(log, tmp_path, option):
    ran, other = imported(exported(log), tmp_path / "other", *option)

    assert ran.code == 2
    assert "read whole" in ran.err
    assert list(other.read()) == []


def test_an_import_that_breaks_off_is_finished_by_the_next(log, tmp_path, monkeypatch):
    """A kill between two batches leaves whole days; a long file is never in memory whole."""
    facts = [
        fact(number, day=f"2026-03-{1 + number % 20:02}", content=f"{number} " + "x" * 500) for number in range(60)
    ]
    EventLog(log.store, fsync=False).append_many(facts)
    text, put = exported(log), EventLog.put
    batches: list[list[Event]] = []
    monkeypatch.setattr(import_past, "_ENOUGH", 2000)

    def some(self, events, **options):
        if len(batches) == 5:
            raise KeyboardInterrupt
        batches.append(list(events))
        return put(self, batches[-1], **options)

    with monkeypatch.context() as patched:
        patched.setattr(EventLog, "put", some)
        ran, other = imported(text, tmp_path / "other")
    stored = list(other.read())

    assert ran.code != 0
    assert stored == list(log.read())[: len(stored)]
    assert 0 < len(stored) < len(text.splitlines())
    assert max(map(len, batches)) < len(text.splitlines()) / 4
    again = call("import", "eventlog", tmp_path / "other" / "log.jsonl", "--store", other.store.root)
    assert json.loads(again.out) == {**DONE, "new": len(text.splitlines()) - len(stored), "known": len(stored)}
    assert exported(other) == text


def test_a_full_disk_in_the_middle_is_an_error_that_tells_how_much_is_stored(log, tmp_path, monkeypatch):
    facts = [
        fact(number, day=f"2026-03-{1 + number % 20:02}", content=f"{number} " + "x" * 500) for number in range(60)
    ]
    EventLog(log.store, fsync=False).append_many(facts)
    append = DayFile.append

    def on_a_full_disk(self, lines):
        if self.day == "2026-03-10":
            raise NotStored("not stored: the disk is full", where=self.path)
        append(self, lines)

    monkeypatch.setattr(import_past, "_ENOUGH", 2000)
    with monkeypatch.context() as full:
        full.setattr(DayFile, "append", on_a_full_disk)
        ran, other = imported(exported(log), tmp_path / "other")

    stored = list(other.read())
    assert ran.code == 3
    [(some, before)] = re.findall(
        r"full; (\d+) of \d+ events are stored; (\d+) events before these are stored", ran.err
    )
    assert int(some) + int(before) == len(stored)
    assert stored == [event for event in log.read() if event.ts < "2026-03-10"]


def test_only_people_decide_through_a_stream(log):
    """`append --stdin` refuses what `import eventlog` takes."""
    ran = call("append", "--stdin", "--store", log.store.root, stdin=exported(log).encode())

    assert ran.code == 2
    assert "eventlog forget" in ran.err


def test_since_cuts_the_log(log):
    events = list(log.read())

    assert len(exported(log, "--since", events[3].ts).splitlines()) == len(events) - 3


def test_an_empty_export_says_why(log):
    ran = call("export", "--since", "2031-01-01", "--store", log.store.root)

    assert (0, "") == (ran.code, ran.out)
    assert ran.err == "eventlog: no event fits --since 2031-01-01\n"


def test_markdown_says_what_holds_and_nothing_that_was_forgotten(log):
    text = exported(log, "--format", "markdown")

    assert "Carts are green" in text
    assert "**Login** (shop, codex)" in text
    assert "Ship it" in text
    assert not [gone for gone in ("Use HS256", "Carts are blue") if gone in text]


def test_markdown_has_the_days_and_the_language_of_the_settings(log):
    (Path(log.store.root) / "config.yaml").write_text("locale: zh\ntimezone: Pacific/Auckland\n")

    assert "# 会话\n\n## 2026-02-21\n" in exported(log, "--format", "markdown")


def test_markdown_since_a_time_has_what_was_said_since_that_day_and_no_empty_page(log):
    log.append(fact(1, day="2026-02-25", content="Invoices are blue"))

    text = exported(log, "--format", "markdown", "--since", "2026-02-24")

    assert "Invoices are blue" in text
    assert not [older for older in ("Carts are green", "Ship it", "**Login**") if older in text]
    assert "" == exported(log, "--format", "markdown", "--since", "2027-01-01")


def test_cloudevents_have_their_four_required_attributes_and_all_fields(log):
    lines = [json.loads(line) for line in exported(log, "--format", "cloudevents").splitlines()]

    assert [line["id"] for line in lines] == [event.id for event in log.read()]
    assert {line["specversion"] for line in lines} == {"1.0"}
    assert all(line["source"].startswith("urn:eventlog:") and line["type"].startswith("eventlog.") for line in lines)
    assert lines[1]["data"]["content"] == "Use HS256"


def test_the_name_of_the_store_is_looked_up_once_for_all_cloudevents(log, monkeypatch):
    names = iter(["laptop-0123ab"])
    monkeypatch.setattr("eventlog.app.open_store.own_replica_of", lambda _: next(names))

    lines = [json.loads(line) for line in exported(log, "--format", "cloudevents").splitlines()]

    assert "urn:eventlog:laptop-0123ab" in [line["source"] for line in lines]


def test_otlp_is_log_records_with_times_and_whole_numbers_as_texts(log):
    lines = [json.loads(line) for line in exported(log, "--format", "otlp").splitlines()]
    records = [
        one for line in lines for of in line["resourceLogs"] for scope in of["scopeLogs"] for one in scope["logRecords"]
    ]

    assert [one["eventName"] for one in records] == [f"eventlog.{event.type}" for event in log.read()]
    assert all(one["timeUnixNano"].isdecimal() for one in records)
    named = {one["key"]: one["value"] for one in records[1]["attributes"]}
    assert (named["eventlog.content"], named["eventlog.v"]) == ({"stringValue": "Use HS256"}, {"intValue": "1"})


def test_atif_is_a_trajectory_with_steps_in_order(log):
    [first, *_] = [json.loads(line) for line in exported(log, "--format", "atif").splitlines() if '"s1"' in line[:80]]

    assert (first["schema_version"], first["agent"]["name"], first["agent"]["model_name"]) == (
        "ATIF-v1.4",
        "codex",
        "m-1",
    )
    assert [step["step_id"] for step in first["steps"]] == list(range(1, len(first["steps"]) + 1))
    assert {step["source"] for step in first["steps"]} <= {"user", "agent", "system"}
    assert "Use HS256" in [step["message"] for step in first["steps"]]


def test_atif_looks_at_the_day_files_once_for_all_conversations(log, monkeypatch):
    def looks():
        seen = []
        stamps_of = index_lookup.stamps_of

        def counted(*given):
            seen.append(given)
            return stamps_of(*given)

        with monkeypatch.context() as patched:
            patched.setattr(index_lookup, "stamps_of", counted)
            exported(log, "--format", "atif")
        return len(seen)

    before = looks()
    log.append_many(Fact(conversation_id=f"more-{number}", content="Another") for number in range(9))

    assert before == looks()


def test_atif_since_has_the_whole_of_each_conversation_that_went_on(log):
    log.append(Fact(conversation_id="old", content="Long ago", ts="2026-01-01T00:00:00.000000Z"))
    log.append(Fact(conversation_id="long", content="Begun", ts="2026-01-01T00:00:00.000000Z"))
    log.append(Fact(conversation_id="long", content="Gone on", ts="2026-02-01T00:00:00.000000Z"))

    lines = [json.loads(line) for line in exported(log, "--format", "atif", "--since", "2026-01-15").splitlines()]

    names = [line["session_id"] for line in lines]
    assert "old" not in names
    assert "s1" in names
    assert ["Begun", "Gone on"] == [step["message"] for step in lines[names.index("long")]["steps"]]


FORMS = {"cloudevents": CLOUDEVENT, "otlp": OTLP_LOGS, "atif": ATIF}


@pytest.mark.parametrize("form", FORMS)
def test_every_line_keeps_the_published_rules_of_its_format(log, form):
    lines = [json.loads(line) for line in exported(log, "--format", form).splitlines()]

    assert lines
    assert [broken for line in lines for broken in violations(FORMS[form], line)] == []


@pytest.mark.parametrize(
    ("form", "place"),
    [("cloudevents", ("source",)), ("otlp", ("resourceLogs", 0, "scopeLogs", 0, "logRecords", 0, "timeUnixNano")),
     ("atif", ("steps", 0, "source"))],
)  # fmt: skip
def test_a_line_that_breaks_them_is_found(log, form, place):
    line = json.loads(exported(log, "--format", form).splitlines()[0])
    *above, name = place
    inside = line
    for step in above:
        inside = inside[step]
    inside[name] = 7

    assert [*violations(FORMS[form], line)]


def test_prune_frees_what_is_made_again_and_nothing_else(log):
    replay_store(opened(log))
    call("search", "carts", "--store", log.store.root)
    before, events = tree(log.store.knowledge), exported(log)
    notes = Path(log.store.cache, "heard")
    notes.mkdir(exist_ok=True)
    (notes / "codex").touch()

    asked = call("prune", "--store", log.store.root)
    assert asked.code == 2
    assert Path(log.store.cached("knowledge.db")).exists()
    ran = call("prune", "--yes", "--store", log.store.root)

    assert "knowledge.db" in ran.out
    assert not list(Path(log.store.cache).glob("*.db*")) + list(Path(log.store.cache).glob("search*"))
    assert (notes / "codex").exists()
    assert (before, events) == (tree(log.store.knowledge), exported(log))
    assert replay_store(opened(log)).published.changes == 0
    assert "Carts are green" in call("search", "carts", "--all-projects", "--store", log.store.root).out


def test_prune_says_so_where_nothing_can_be_deleted(log, monkeypatch):
    def refuses(_):
        raise OSError(errno.EROFS, os.strerror(errno.EROFS))

    log.append({"type": "fact", "conversation_id": "c", "content": "x"})
    assert 0 == call("replay", "--store", log.store.root).code
    monkeypatch.setattr("eventlog.fast.os.unlink", refuses)

    assert (3, "") == call("prune", "--yes", "--json", "--store", log.store.root)[:2]
