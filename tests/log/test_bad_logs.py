"""No verb ends in a traceback, whatever lies in the log's directory; and what can be read is read."""

import builtins
import errno
import io
import json
import os
import socket
from contextlib import contextmanager
from pathlib import Path

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from eventlog import EventLog, Memory
from eventlog.app.build import program
from eventlog.cli.mcp.tools import ToolCalls
from eventlog.fast import fastjson
from eventlog.fast import os as fast_os
from eventlog.format import codec
from eventlog.format.errors import InvalidEvent, NotStored
from eventlog.hooks.conversation import turns_unsaved
from eventlog.log.verify import verify
from eventlog.settings.schema import Settings
from tests.support.builders import DAY, NEXT_DAY, contents, day_of, fact, line, lines, replay, write
from tests.support.command_line import call
from tests.support.effort import rounds
from tests.support.strategies import any_lines

BIG = 9999999999999999999999999
DEEP = b'{"a":' * 300 + b"1" + b"}" * 300


def host_event(number, payload):
    common = fastjson.dumps({name: value for name, value in fact(number).items() if name != "content"})
    return common.replace(b'"fact"', b'"host_event"')[:-1] + b',"name":"n","payload":' + payload + b"}"


def session_end(number, duration):
    return (
        host_event(number, b"{}")
        .replace(b'"host_event"', b'"session_end"')
        .replace(b',"name":"n","payload":{}', b',"duration_ms":' + duration)
    )


OUT_OF_RANGE = {
    "an integer nobody knows": line(1, score=BIG),
    "an integer within": line(1, a=[{"b": -(2**63) - 1}]),
    "an integer in a payload": host_event(1, b'{"n":9999999999999999999999999}'),
    "an integer for a float": session_end(1, b"9999999999999999999999999"),
    "an infinite number": host_event(1, b'{"n":1e999}'),
    "an infinite share": line(1, confidence=7777).replace(b"7777", b"1e999"),
    "a deep payload": host_event(1, DEEP),
    "a deep unknown field": line(1)[:-1] + b',"deep":' + DEEP + b"}",
    "the characters of a context": host_event(1, b"{}").replace(b'"host_event"', b'"context_injected"').replace(
        b',"name":"n","payload":{}', b',"digest":"d","chars":99999999999999999999'
    ),
}  # fmt: skip


@pytest.mark.parametrize("bad", OUT_OF_RANGE.values(), ids=OUT_OF_RANGE)
def test_what_no_cache_could_hold_is_damage_to_both_readers(log_dir, bad):
    day = day_of(write(log_dir, bad + b"\n" + lines(2)))
    (loaded, named), (found, damage) = day.load(), day.entries()

    assert ["fact 2"] == contents(loaded) == contents(entry.event for entry in found)
    assert named == damage
    assert [1] == [one.line for one in damage]


@pytest.mark.parametrize("field", [{"score": BIG}, {"score": float("inf")}, {"a": {"b": [-(2**63) - 1]}}])
def test_append_refuses_what_no_cache_could_hold_and_names_the_field(log, field):
    with pytest.raises(InvalidEvent):
        log.append({**fact(), **field})
    assert [] == list(log.read())


@example(2**64)
@example(2**64 - 1)
@example(-(2**63) - 1)
@example(-(2**63))
@given(st.integers(-(2**70), 2**70) | st.floats(allow_nan=False, allow_infinity=False) | st.integers(250, 258))
def test_the_hooks_and_the_readers_take_the_same_values(value):
    nested: object = value
    for _ in range(value if isinstance(value, int) and 250 <= value <= 258 else 3):
        nested = [nested]

    assert codec.is_plain(nested) == (not fastjson.refusal(nested))


def test_a_cache_that_cannot_be_written_is_not_fatal(log, monkeypatch):
    def fails(*_):
        raise OSError("a bad sector")

    log.append_many([fact(), fact(day=NEXT_DAY)])
    monkeypatch.setattr("eventlog.app.build.cache._checksum", fails)

    assert 2 == replay(log, Settings()).events


@pytest.fixture
def bad_sector(monkeypatch):
    """Opening a file of that name fails, as of a disk that goes bad."""

    def use(name, patch=monkeypatch):
        def failing(real):
            def call(path, *args, **options):
                if str(path).endswith(name):
                    raise OSError(errno.EIO, os.strerror(errno.EIO), str(path))
                return real(path, *args, **options)

            return call

        for module in (os, fast_os, io, builtins):
            patch.setattr(module, "open", failing(module.open))

    return use


def test_an_unreadable_day_costs_only_itself(log, log_dir, bad_sector):
    log.append_many([fact(day=DAY), fact(day=NEXT_DAY)])
    bad_sector(f"{DAY}.jsonl")
    found = verify(log)

    assert ["fact 0"] == contents(log.read())
    assert [(f"{log_dir}/{DAY}.jsonl", 0, "unreadable")] == [(one.file, one.line, one.kind) for one in found.damage]
    assert 1 == replay(log, Settings()).events
    assert [NEXT_DAY] == [event.ts[:10] for event in log.session("c")]


def test_an_unreadable_day_is_missing_in_searches_until_it_can_be_read(log, bad_sector, monkeypatch):
    log.append_many([fact(0, day=DAY, content="The heron nests"), fact(1, day=NEXT_DAY, content="The otter nests")])

    def found():
        return [hit.text for hit in Memory(log.store).search("nests", everywhere=True)]

    with monkeypatch.context() as patch:
        bad_sector(f"{DAY}.jsonl", patch)
        assert ["The otter nests"] == found() == found()
        log.append(fact(2, day=NEXT_DAY, content="The stork nests"))
        assert {"The otter nests", "The stork nests"} == {*found()}
    assert {"The heron nests", "The otter nests", "The stork nests"} == {*found()}


def test_an_unreadable_day_stops_no_replay_after_a_redaction(log, bad_sector):
    log.append_many([fact(day=DAY), fact(day=NEXT_DAY, content="The pin is 97531-24680")])
    assert 0 == call("redact", "97531-24680", "--yes", "--store", log.store.root).code
    day = Path(log.store.log, f"{DAY}.jsonl")
    os.utime(day, ns=(0, day.stat().st_mtime_ns + 1))
    bad_sector(f"{DAY}.jsonl")
    log.append(fact(day=NEXT_DAY, content="The otter nests"))

    assert 0 == call("replay", "--store", log.store.root).code
    assert 0 == call("seal", "--store", log.store.root).code


def test_what_can_be_erased_is_beside_an_unreadable_day_and_the_rest_when_it_can_be_read(
    log, log_dir, bad_sector, monkeypatch
):
    secret = "97531-24680"
    log.append_many([fact(day=day, content=f"The pin is {secret}") for day in (DAY, NEXT_DAY)])
    with monkeypatch.context() as patch:
        bad_sector(f"{DAY}.jsonl", patch)
        assert 3 == call("redact", secret, "--yes", "--store", log.store.root).code
        assert 0 == call("replay", "--store", log.store.root).code
    holding = [path for path in Path(log_dir).iterdir() if secret in path.read_text()]
    assert [f"{DAY}.jsonl"] == [path.name for path in holding]
    assert 0 == call("stats", "--store", log.store.root).code
    assert not any(secret in path.read_text() for path in Path(log_dir).iterdir())


@pytest.mark.slow
def test_a_backup_beside_an_unreadable_day_has_no_word_of_an_open_redaction(log, bad_sector, tmp_path):
    secret = "97531-24680"
    log.append_many([fact(day=day, content=f"The pin is {secret}") for day in (DAY, NEXT_DAY)])
    bad_sector(f"{DAY}.jsonl")
    here = ("--store", log.store.root)
    assert 3 == call("redact", secret, "--yes", *here).code
    said = call("backup", "create", tmp_path / "a.tar", *here)

    assert (4, True) == (said.code, f"log/{DAY}.jsonl" in said.out + said.err)
    assert secret.encode() not in (tmp_path / "a.tar").read_bytes()
    assert f"log/{NEXT_DAY}.jsonl".encode() in (tmp_path / "a.tar").read_bytes()
    assert 0 == call("seal", *here).code


@pytest.mark.slow
@pytest.mark.parametrize("how", ["closed", "directory", "link"])
def test_what_is_erased_is_also_gone_from_a_day_that_could_not_be_read(home, log, log_dir, hidden, how):
    secret = "97531-24680"
    log.append_many(
        [fact(number, day=day, content=f"The pin is {secret}") for number, day in enumerate((DAY, NEXT_DAY))]
    )
    here = ("--store", log.store.root)
    with hidden(how, Path(log_dir, f"{DAY}.jsonl")):
        assert 3 == call("redact", secret, "--yes", *here).code
    assert 0 == call("query", *here).code
    assert not [
        path for path in Path(log.store.root).rglob("*") if path.is_file() and secret.encode() in path.read_bytes()
    ]


def test_a_fact_is_stored_although_the_look_for_repetitions_fails(log, bad_sector):
    log.append(fact(day=DAY))
    bad_sector(f"{DAY}.jsonl")

    assert 0 == call("fact", "x", "--session", "c", "--store", log.store.root).code


def test_a_file_of_someone_else_is_damage(log, log_dir):
    if not os.geteuid():
        pytest.skip("root may read everything")
    os.chmod(write(log_dir, lines(0)), 0)  # noqa: PTH101

    assert ["unreadable"] == [one.kind for one in verify(log).damage]


def _link(target):
    return lambda path: Path(path).symlink_to(target)


def _socket(path):
    with socket.socket(socket.AF_UNIX) as bound:
        here = os.getcwd()  # noqa: PTH109
        os.chdir(os.path.dirname(path))  # noqa: PTH120 - a socket's path is short
        try:
            bound.bind(os.path.basename(path))  # noqa: PTH119
        finally:
            os.chdir(here)


IRREGULAR = {
    "fifo": os.mkfifo, "socket": _socket, "directory": os.mkdir, "dangling link": _link("nowhere"),
    "device": _link("/dev/zero"), "loop": _link(f"{DAY}.jsonl"),
}  # fmt: skip


@pytest.mark.slow
@pytest.mark.parametrize("make", IRREGULAR.values(), ids=IRREGULAR)
@pytest.mark.parametrize("fsync", [True, False])
def test_what_is_no_regular_file_is_named_never_read_and_never_written(tmp_path, log_dir, clock, make, fsync):
    make(f"{log_dir}/{DAY}.jsonl")
    write(log_dir, lines(0).replace(DAY.encode(), NEXT_DAY.encode()), f"{NEXT_DAY}.jsonl")
    log = EventLog(tmp_path / "store", fsync=fsync, clock=clock)

    assert ["unreadable"] == [one.kind for one in verify(log).damage]
    assert 1 == len(list(log.read()))
    with pytest.raises(NotStored):
        log.append({"type": "turn_end", "conversation_id": "c"})
    said = call("doctor", "--store", log.store.root)
    assert (1, True) == (said.code, f"{DAY}.jsonl cannot be read" in said.out)


VERBS = [
    ["query"], ["query", "--format", "json"], ["query", "--format", "jsonl"], ["query", "--format", "markdown"],
    ["query", "--session", "c"], ["verify"], ["verify", "--json"], ["replay", "--check"], ["replay"], ["replay"],
    ["replay", "--full", "--json"], ["sessions"], ["stats"], ["status"], ["doctor"], ["why", "MEMORY.md"], ["apply"],
    ["context", "--session", "c"], ["settle"], ["fact", "new", "--session", "c"],
    ["append", "turn_end", "--session", "c"], ["why", "--not", "fact"], ["bisect", "MEMORY.md", "fact 0"],
    ["restore", "MEMORY.md", "--as-of", "2026-02-20", "--yes"], ["search", "fact"], ["on", DAY], ["review"],
]  # fmt: skip


@pytest.mark.slow
def test_no_verb_ends_in_a_traceback_on_a_disk_that_goes_bad(home, log, bad_sector):
    log.append_many([fact(day=DAY), fact(day=NEXT_DAY)])
    bad_sector(f"{DAY}.jsonl")
    _ask_everything(log.store.root)

    assert 1 == call("doctor", "--store", log.store.root).code
    assert 4 == call("verify", "--store", log.store.root).code
    assert turns_unsaved(log.store, "c") is None


def _ask_everything(store):
    for verb in VERBS:
        said = call(*verb, "--store", store)
        assert said.code in (0, 1, 2, 3, 4), (verb, said)  # anything else came out of `call` as an exception
        assert said.code != 2 or said.err.startswith("eventlog: "), (verb, said)


@pytest.mark.slow
def test_no_verb_ends_in_a_traceback_on_a_log_with_everything_wrong_with_it(home, tmp_path):
    log_dir = tmp_path / "store" / "log"
    bad = b"\n".join([*OUT_OF_RANGE.values(), b"\xff\x00", b"[" * 5000, b"{}", b"", line(3)[:-9]])
    write(
        log_dir,
        b"\xef\xbb\xbf" + bad + b"\n" + lines(5) + b"\xef\xbb\xbf" + lines(6) + host_event(7, b"[" * 200 + b"]" * 200),
    )
    for day in ("0001-01-01", "1969-12-31", "1970-01-01", "9998-12-31", "9999-12-31"):
        write(log_dir, line(day=day, conversation_id=day) + b"\n", f"{day}.jsonl")
    for number, make in enumerate(IRREGULAR.values(), 1):
        make(f"{log_dir}/2026-03-0{number}.jsonl")
    for zone in ("Asia/Shanghai", "America/New_York"):
        write(tmp_path / "store", f"timezone: {zone}\n".encode(), "config.yaml")
        _ask_everything(tmp_path / "store")

    assert 4 == call("verify", "--store", tmp_path / "store").code


NEWER: list[dict[str, object]] = [
    {"type": "fact"}, {"type": "stage_summary", "summary": "fact", "decisions": ["fact"]}, {"type": "session_start"},
    {"type": "retraction", "target": fact()["id"]}, {"type": "rejected", "conversation": "c"}, {"type": "restored"},
    {"type": "plan_entry", "key": {"path": "user", "heading": "fact"}}, {"type": "entry_resolved"},
    {"type": "context_injected"}, {"type": "conversation_text", "title": "fact"}, {"type": "redacted"},
]  # fmt: skip


@pytest.mark.slow
def test_lines_of_a_newer_version_break_no_verb_and_neither_views_nor_search_interpret_them(home, log):
    newer = [fact(number, v=2, content=f"fact {number}", **fields) for number, fields in enumerate(NEWER, 1)]
    write(log.store.log, lines(0) + b"".join(fastjson.dumps(one) + b"\n" for one in newer))
    _ask_everything(log.store.root)

    assert f"- [{DAY}] fact 0" in call("memory", "", "--store", log.store.root).out
    hits = json.loads(call("search", "fact", "--all-projects", "--json", "--store", log.store.root).out)
    assert ["fact 0"] == [hit["text"] for hit in hits]


@pytest.mark.slow
def test_a_number_out_of_range_beside_the_day_of_another_machine_breaks_no_verb_and_is_not_found(home, log):
    write(log.store.log, lines(0) + line(1, content="fact 1", confidence=7777).replace(b"7777", b"1e999") + b"\n")
    write(log.store.log, lines(2), f"{DAY}.laptop.jsonl")
    _ask_everything(log.store.root)

    hits = json.loads(call("search", "fact", "--all-projects", "--json", "--store", log.store.root).out)
    assert {"fact 0", "fact 2"} == {hit["text"] for hit in hits}


@pytest.mark.slow
@settings(max_examples=rounds(fixed=2, fuzz=30))
@given(st.lists(any_lines | st.binary(max_size=200).map(lambda data: [data]), max_size=3))
def test_no_verb_ends_in_a_traceback_on_any_bytes(tmp_path_factory, some):
    store = tmp_path_factory.mktemp("store")
    for day, data in zip((DAY, NEXT_DAY, "2026-03-01"), some, strict=False):
        write(store / "log", b"\n".join(data) + b"\n", f"{day}.jsonl")
    _ask_everything(store)


def test_a_persons_edit_of_what_was_said_at_the_end_of_time_is_taken_in(tmp_path):
    log = EventLog(tmp_path, fsync=False)
    log.append({"type": "fact", "ts": "9998-12-31T23:59:59.999999Z", "conversation_id": "c", "content": "late"})
    assert 0 == call("replay", "--store", tmp_path).code
    memory = tmp_path / "knowledge" / "MEMORY.md"
    memory.write_text(memory.read_text().replace("- [", "- mine\n- [", 1))

    assert 0 == call("replay", "--store", tmp_path).code
    assert "mine" in memory.read_text()


def test_a_byte_order_mark_before_a_later_line_is_damage_to_every_reader(log_dir):
    day = day_of(write(log_dir, lines(0) + b"\xef\xbb\xbf" + lines(1)))

    assert ["fact 0"] == contents(day.load_mentioning([b'"fact"'])) == contents(day.load()[0])


def _as_directory(day, patch):
    day.rename(day.with_name("moved"))
    day.mkdir()


def _as_dangling_link(day, patch):
    day.rename(day.with_name("moved"))
    day.symlink_to("nowhere")


@pytest.fixture
def hidden(bad_sector):
    """A day of the log that cannot be read meanwhile: by its permissions, or with something else in its place."""

    def closed(day, patch):
        day.chmod(0)
        bad_sector(day.name, patch)

    @contextmanager
    def use(how, day):
        with pytest.MonkeyPatch.context() as patch:
            {"closed": closed, "directory": _as_directory, "link": _as_dangling_link}[how](day, patch)
            yield
            if (moved := day.with_name("moved")).exists():
                day.unlink() if day.is_symlink() else day.rmdir()
                moved.rename(day)

    return use


WAYS = ["closed", "directory", "link"]


@pytest.mark.slow
@pytest.mark.parametrize("how", WAYS)
def test_what_an_unreadable_day_has_forgotten_does_not_come_back(home, log, log_dir, hidden, how):
    log.append_many([fact(0, day=DAY, content="The heron nests"), fact(1, day=DAY, content="The otter nests")])
    here = ("--store", log.store.root)
    assert 0 == call("forget", "heron", "--yes", *here).code
    call("search", "nests", "--all-projects", *here)
    memory = Path(log.store.knowledge, "MEMORY.md")
    before = memory.read_bytes()

    def told():
        answers = [call("search", "nests", "--all-projects", *here), call("memory", "", *here), call("context", *here)]
        return [("heron" in said.out, "otter" in said.out) for said in answers]

    with hidden(how, max(Path(log_dir).glob("*.jsonl"))):
        assert [(False, True)] * 3 == told()
        log.append(fact(2, day=NEXT_DAY, content="The stork nests"))
        for flags in ([], [], ["--full"]):
            said = call("replay", *flags, *here)
            assert (0, True) == (said.code, ".jsonl unreadable: " in said.out)
            assert [(False, True)] * 3 == told()
        assert 2 == call("prune", "--yes", *here).code
        assert [(False, True)] * 3 == told()
    log.append(fact(3, day=NEXT_DAY, content="The crane nests"))
    assert ".jsonl unreadable: " not in call("replay", *here).out
    assert [(False, True)] * 3 == told()
    assert 0 == call("undo", "--yes", *here).code
    assert [(True, True)] * 3 == told()
    after = memory.read_bytes()
    assert after != before
    assert 0 == call("replay", "--full", *here).code
    assert after == memory.read_bytes()


@pytest.mark.slow
@pytest.mark.parametrize("how", WAYS)
def test_nor_does_it_where_another_program_comes_meanwhile(home, log, log_dir, hidden, monkeypatch, how):
    log.append_many([fact(0, day=DAY, content="The heron nests"), fact(1, day=DAY, content="The otter nests")])
    here = ("--store", log.store.root)
    assert 0 == call("forget", "heron", "--yes", *here).code
    today = max(Path(log_dir).glob("*.jsonl"))
    write(log_dir, line(2, day=today.stem, content="The crane nests") + b"\n", f"{today.stem}.laptop.jsonl")
    verbs = (["search", "nests", "--all-projects"], ["memory", ""], ["context"], ["replay"], ["replay", "--full"])
    with hidden(how, today):
        for number, verb in enumerate((*verbs, *verbs)):
            monkeypatch.setattr(program, "program_key", lambda number=number: f"another {number}")
            assert "heron" not in call(*verb, *here).out
            assert "heron" not in Path(log.store.knowledge, "MEMORY.md").read_text()
            assert "crane" in call("memory", "", *here).out
    assert 0 == call("replay", *here).code
    before = Path(log.store.knowledge, "MEMORY.md").read_bytes()
    assert 0 == call("replay", "--full", *here).code
    assert before == Path(log.store.knowledge, "MEMORY.md").read_bytes()
    assert 0 == call("undo", "--yes", *here).code
    assert "heron" in Path(log.store.knowledge, "MEMORY.md").read_text()


@pytest.mark.slow
@pytest.mark.parametrize("how", WAYS)
def test_nor_does_it_where_something_else_is_taken_back_meanwhile(home, log, log_dir, hidden, how):
    log.append_many(
        [fact(number, day=NEXT_DAY, content=f"The {bird} nests") for number, bird in enumerate(("heron", "otter"))]
    )
    log.put([{"type": "rejected", "conversation_id": "human", "agent": "human", "statement": "The heron nests"}])
    here = ("--store", log.store.root)
    assert 0 == call("replay", *here).code
    with hidden(how, Path(log_dir, f"{DAY}.jsonl")):
        for words in (["forget", "otter", "--yes"], ["undo", "--yes"]):
            assert 0 == call(*words, *here).code
        asked = ["search", "nests", "--all-projects", *here]
        said = [call(*words).out for words in (asked, ["memory", "", *here], ["context", *here])]
    assert (False, True) == (any("heron" in one for one in said), all("otter" in one for one in said))
    found = call(*asked).out
    assert (False, True) == ("heron" in found, "otter" in found)


@pytest.mark.slow
@pytest.mark.parametrize("how", WAYS)
def test_nor_does_a_search_find_it_where_another_file_is_replaced_meanwhile(home, log, log_dir, hidden, how):
    log.append_many(
        [fact(number, day=NEXT_DAY, content=f"The {bird} nests") for number, bird in enumerate(("heron", "stork"))]
    )
    log.append(fact(5, content="The otter nests"))
    log.put([{"type": "rejected", "conversation_id": "human", "agent": "human", "statement": "The heron nests"}])
    here, asked = ("--store", log.store.root), ["search", "nests", "--all-projects"]
    assert [0, 0] == [call(*verb, *here).code for verb in (["replay"], asked)]
    day, other = Path(log_dir, f"{DAY}.jsonl"), Path(log_dir, f"{NEXT_DAY}.jsonl")
    with hidden(how, day):
        for _ in range(2):
            other.with_name("new").write_bytes(other.read_bytes())
            other.with_name("new").replace(other)
            assert "heron" not in Memory(log.store.root).recall("Where does the heron nest?", conversation="d")
            said = call(*asked, *here).out
            assert (False, True, True) == tuple(bird in said for bird in ("heron", "otter", "stork"))
    said = call(*asked, *here).out
    assert (False, True, True) == tuple(bird in said for bird in ("heron", "otter", "stork"))


@pytest.mark.slow
@pytest.mark.parametrize("how", WAYS)
def test_a_day_that_could_not_be_read_is_whole_once_it_can(home, log, log_dir, hidden, how):
    log.append_many([fact(0, day=DAY, content="The heron nests"), fact(1, day=NEXT_DAY, content="The otter nests")])
    here = ("--store", log.store.root)
    with hidden(how, Path(log_dir, f"{DAY}.jsonl")):
        assert 0 == call("replay", *here).code  # it was never folded before
        assert "heron" not in call("memory", "", *here).out
    assert 0 == call("replay", *here).code
    assert "heron" in Path(log.store.knowledge, "MEMORY.md").read_text()


@pytest.mark.slow
@pytest.mark.parametrize("how", WAYS)
def test_beside_an_unreadable_file_of_a_day_its_other_files_go_on(home, log, log_dir, hidden, how):
    laptop = Path(write(log_dir, line(0, content="The heron nests") + b"\n", f"{DAY}.laptop.jsonl"))
    here = ("--store", log.store.root)
    for number, bird in ((1, "otter"), (2, "stork")):
        log.append(fact(number, content=f"The {bird} nests"))
        assert 0 == call("replay", *here).code
    with hidden(how, laptop):
        log.append(fact(3, content="The crane nests"))
        assert 0 == call("replay", *here).code
        said = call("memory", "", *here).out
    assert all(bird in said for bird in ("heron", "otter", "stork", "crane"))
    assert 0 == call("replay", *here).code
    before = Path(log.store.knowledge, "MEMORY.md").read_bytes()
    assert 0 == call("replay", "--full", *here).code
    assert before == Path(log.store.knowledge, "MEMORY.md").read_bytes()


SAID = [
    ["query"], ["query", "--session", "c"], ["query", "--session", "c", "--format", "jsonl"], ["search", "nests"],
    ["sessions"], ["memory", ""], ["today"], ["week"], ["on", DAY], ["show", "MEMORY.md"], ["show", "c"], ["stats"],
    ["why", "--not", "The heron nests"], ["export"], ["review"], ["status"], ["diff", "--from", "2d"], ["scan"],
    ["report", "--out", "report.html"], ["forget", "heron"],
]  # fmt: skip


@pytest.mark.slow
@pytest.mark.parametrize("how", WAYS)
def test_whoever_reads_the_log_names_a_day_that_cannot_be_read(home, log, log_dir, hidden, monkeypatch, how):
    monkeypatch.chdir(home)
    log.append_many([fact(0, day=DAY, content="The heron nests"), fact(1, day=NEXT_DAY, content="The otter nests")])
    here = ("--store", log.store.root)
    assert 0 == call("replay", *here).code
    call("query", "--session", "c", *here)
    with hidden(how, Path(log_dir, f"{DAY}.jsonl")):
        missing = f"part of the log cannot be read: {log_dir}/{DAY}.jsonl: "
        assert [] == [verb for verb in SAID if call(*verb, *here).err.count(missing) != 1]
        assert 1 == Path("report.html").read_text().count(f"Not all is here: {missing}")
        assert [1, 1] == [text.count(missing) for text in _told_by_tools(log.store)]
    assert not [verb for verb in SAID if "cannot be read" in call(*verb, *here).err]
    assert "cannot be read" not in Path("report.html").read_text()
    assert not any("cannot be read" in text for text in _told_by_tools(log.store))


def _told_by_tools(store):
    calls = ToolCalls(store, "claude-code")
    return [calls.call(tool, {word: "otter"}, {})[0] for tool, word in (("recall", "query"), ("why", "ref"))]


@pytest.mark.slow
def test_doctor_tells_of_the_damage_that_the_last_replay_has_seen(home, log, log_dir):
    file = write(log_dir, lines(0) + b"not a line\n" + lines(1))
    here = ("--store", log.store.root)
    assert 0 == call("replay", *here).code
    said = call("doctor", *here)
    assert (1, True) == (said.code, f"1 damaged line of the log, the first {file}:2" in said.out)
    assert 0 == call("verify", "--repair", *here).code
    assert "damaged line" not in call("doctor", *here).out
    assert 0 == call("replay", *here).code
    assert "damaged line" not in call("doctor", *here).out


TOLD_BY = [
    ["search", "nests", "--all-projects"], ["memory", ""], ["query", "--all-projects"], ["export"],
    ["query", "--session", "c", "--format", "jsonl"], ["show", "c"], ["on", DAY],
]  # fmt: skip
FORGED = {
    "out of range": line(1, content="A hawk nests", importance=7),
    "another day's": line(1, content="A hawk nests", day=NEXT_DAY),
    "no time": line(1, content="A hawk nests").replace(b"T12:00:01", b"T12:60:01"),
    "no conversation": line(1, content="A hawk nests", conversation_id=""),
    "a text for a list": line(1, content="A hawk nests", entities="hawk"),
    "the same id": line(0, content="hawks nest: of two lines, the smaller counts"),
    "half a character": line(1, content="A hawk nests X").replace(b"X", b"\\ud800"),
    "cut": line(1, content="A hawk nests")[:-1],
    "with garbage": line(1, content="A hawk nests") + b"\x00\xff",
    "behind NULs": b"\0" * 99 + line(1, content="A hawk nests"),
}


@pytest.mark.slow
@pytest.mark.parametrize("bad", FORGED.values(), ids=FORGED)
@pytest.mark.parametrize("is_late", [False, True])
def test_no_reader_tells_a_line_that_verify_calls_damaged(home, log, log_dir, monkeypatch, bad, is_late):
    monkeypatch.chdir(home)
    here = ("--store", log.store.root)
    file = Path(
        write(log_dir, lines(2).replace(b"fact 2", b"The otter nests") + line(0, content="The heron nests") + b"\n")
    )
    if is_late:
        assert 0 == call("replay", *here).code
        call("search", "nests", "--all-projects", *here)
    with file.open("ab") as opened:
        opened.write(bad + b"\n")
    assert 4 == call("verify", *here).code
    for _ in range(2):
        telling = [verb for verb in TOLD_BY if "hawk" in call(*verb, *here).out]
        assert [] == telling
        assert [] == [verb for verb in TOLD_BY if "heron" not in call(*verb, *here).out]
        assert 0 == call("replay", *here).code
