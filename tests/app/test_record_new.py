"""What is certainly new, or plainly a repetition, takes no library, and leaves the bytes that a closer look leaves."""

import shutil
from pathlib import Path
from unittest import mock

import pytest
from hypothesis import given
from hypothesis import strategies as st

from eventlog.app.search.open_index import leave_index
from eventlog.app.write import record_new
from eventlog.cli import quick
from eventlog.format import ids, timestamps
from eventlog.format.events import TYPES
from eventlog.hooks.duplicate_log import duplicates_by_day
from eventlog.log.event_log import EventLog
from eventlog.store import Store
from tests.support.builders import line, write
from tests.support.command_line import call
from tests.support.credentials import sample
from tests.support.histories import a_log, histories
from tests.support.histories import write as write_lines

_NOW = timestamps.to_ns("2026-02-22T10:00:00.000000Z")
_texts = st.sampled_from(
    ["Use RS256", "use rs256", "写完。", "x" * 600, " ", "\u200b\x01", "new", sample("AWS key id")[0]]
)
_sessions = st.sampled_from(
    [[], ["--session", "c"], ["--session", "会话"], ["--session", "new"], ["--session", "abcdef"], ["--session", " "]]
)
_environs = st.sampled_from(
    [{}, {}, {"CODEX_SESSION_ID": "c"}, {"CODEX_SESSION_ID": "d", "CLAUDE_CODE_SESSION_ID": "c"}]
)
_options = st.fixed_dictionaries({}, optional={
    "--type": st.sampled_from("WBO"), "--key": st.sampled_from(["k", ""]), "--entity": st.just("cart"),
    "--scope": st.sampled_from(["user", "project"]), "--category": st.just("decision"),
})  # fmt: skip


@st.composite
def _saves(draw):
    """A command as an agent types it."""
    if draw(st.booleans()):
        options = [word for pair in draw(_options).items() for word in pair]
        return ["fact", draw(_texts), *options, *draw(_sessions)]
    lists = [
        word for name in ("--decision", "--todo", "--done") if draw(st.booleans()) for word in (name, draw(_texts))
    ]
    stage = ["--stage"] if draw(st.booleans()) else []
    topic = draw(st.sampled_from(["Login", ""]))
    return ["summary", "--topic", topic, "--summary", draw(_texts), *lists, *stage, *draw(_sessions)]


@pytest.fixture
def store(tmp_path):
    return tmp_path / "store"


@pytest.mark.slow
@given(histories(max_size=6), st.integers(0, 6), st.lists(_saves(), min_size=1, max_size=2), _environs)
def test_who_does_not_look_closer_writes_and_says_the_same(lines, indexed, saves, environ):
    with a_log() as log:
        write(log.store.root, b"here\n", "replica")
        if indexed:
            write_lines(log, lines[:indexed])
            leave_index(log.store, 1 << 20).close()
        write_lines(log, lines)
        closer = f"{log.store.root}-closer"
        shutil.copytree(log.store.root, closer)
        try:
            said = _saved(log.store.root, saves, environ)
            with mock.patch.object(quick, "_record", return_value=False):
                assert _saved(closer, saves, environ) == said
        finally:
            shutil.rmtree(closer)


def _saved(store, saves, environ):
    """What calls say a second after the other, where an id is its time; the log behind them, and what they avoided."""
    said = []
    for number, save in enumerate(saves):
        now = _NOW + number * 10**9
        with (
            mock.patch.object(timestamps, "system_clock", return_value=now),
            mock.patch.object(ids, "new", return_value=f"{ids.prefix(now // 1_000_000)}-7000-8000-000000000000"),
            mock.patch.dict("os.environ", environ),
        ):
            said.append(call(*save, "--store", store))
    return (
        said,
        {file.name: file.read_bytes() for file in Path(store, "log").iterdir()},
        duplicates_by_day(Store(store)),
    )


@pytest.fixture
def spied(monkeypatch):
    """Whether each call was answered without a closer look."""
    seen = []
    record = quick._record

    def spy(*asked):
        seen.append(record(*asked))
        return seen[-1]

    monkeypatch.setattr(quick, "_record", spy)
    return seen


@pytest.mark.parametrize("has_index", [True, False])
def test_only_what_is_certainly_new_or_plainly_a_repetition_is_seen_to_at_once(store, spied, has_index):
    log = EventLog(store)
    summary = ("--topic", "t", "--session", "c", "--store", store)
    write(log.store.log, line(1, content="said") + b"\n")
    if has_index:
        leave_index(log.store, 1 << 20).close()
    for text in ("new", "said", "New."):
        call("fact", text, "--session", "c", "--store", store)
    call("fact", "new", "--key", "k", "--session", "c", "--store", store)
    call("fact", "new", "--session", "c", "--store", store)
    for text in ("done", "done"):
        call("summary", "--summary", text, *summary)
    assert [True, False, True, False, False, True, False] == spied


@pytest.mark.parametrize(("about", "is_new"), [("done", False), ("something else", True)])
def test_what_a_person_rejected_by_its_id_takes_a_closer_look(store, spied, about, is_new):
    log = EventLog(store)
    said = log.append({"type": "stage_summary", "conversation_id": "c", "topic": "t", "summary": "done"})
    log.put([{"type": "rejected", "conversation_id": "human", "agent": "human", "target": said.id}])
    leave_index(log.store, 1 << 20).close()
    ran = call("summary", "--topic", "t", "--summary", about, "--session", "d", "--store", store)
    assert [is_new] == spied
    assert is_new == ('"status":"ok"' in ran.out)


def test_the_order_and_the_defaults_of_fields_are_those_of_the_events():
    for kind, order in record_new._ORDER.items():
        fields = [name for name in TYPES[kind].__struct_fields__ if name in order]
        assert [*order] == sorted(order, key=fields.index) == fields
