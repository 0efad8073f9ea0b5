"""What was erased is in no file, in no spelling; it cannot come back; and everything else is as it was."""

import base64
import errno
import json
import os
import re
from pathlib import Path

import pytest

from eventlog.app.build.rebuild import replay_store
from eventlog.app.write.erasing.redact import redact, redactable
from eventlog.format.errors import BadRequest
from eventlog.format.events import ConversationText, Fact, HostEvent, StageSummary
from eventlog.hooks.error_log import note
from eventlog.log.event_log import EventLog
from eventlog.log.verify import verify
from eventlog.store import spool
from tests.support.bases import REVIEWED, apply_all, planned, user_md, write_user
from tests.support.builders import replay
from tests.support.command_line import call
from tests.support.effort import rounds
from tests.support.hook_calls import tell
from tests.support.use_cases import DEFAULTS, opened

SECRET = 'Straße "7\\9" geheim-Ünlü 密室'
DRESSES = ("{}", 'it is "{}"', "a\n{}\nb", "码{}。", "\\{}")


def texts(number):
    """So many texts, as different as texts are."""
    odd = (
        "plain words of it",
        'quo"ted',
        "back\\slash",
        "two\nlines",
        "tab\tbed",
        "ünï-cødé",
        "秘密的句子",
        "🦊 fox",
        "<b>&amp;",
    )
    return [f"{odd[one % len(odd)]} {one:03d} {'x' * (one % 17)}end" for one in range(number)]


def spellings(text):
    """List how a text may stand in a file."""
    plain = json.dumps(text, ensure_ascii=False)[1:-1], json.dumps(text)[1:-1]
    twice = [json.dumps(one)[1:-1] for one in plain]
    coded = [base64.b64encode(b"\0" * before + text.encode()).decode() for before in range(3)]
    cores = [one[(before * 8 + 5) // 6 : -4] for before, one in enumerate(coded)]
    return {text, *plain, *twice, *cores, "".join(f"\\u{ord(char):04x}" for char in text if ord(char) < 0x10000)}


def holding(text, *roots):
    """Find the files that hold a text, in any case and spelling."""
    wanted = [one.casefold().encode() for one in spellings(text)]
    files = [path for root in roots for path in Path(root).rglob("*") if path.is_file()]
    return {str(path) for path in files if any(one in _folded(path) for one in wanted)}


def _folded(path):
    return path.read_bytes().decode("utf-8", "surrogateescape").casefold().encode("utf-8", "surrogateescape")


@pytest.fixture
def log(tmp_path):
    ticks = iter(range(10**6))
    return EventLog(tmp_path / "store", fsync=False, clock=lambda: 1_771_588_800 * 10**9 + next(ticks) * 10**9)


def said_everywhere(log, text, number=1):
    """Say a text in all the ways there are; only sometimes alone."""
    store = log.store
    log.append(Fact(conversation_id="s1", project="/p/shop", content=f"It is {text}, mind", entities=[text]))
    log.append(Fact(conversation_id=text, content=text.upper()))
    log.append(
        StageSummary(conversation_id="s1", topic=text, summary=f"Did {text}", decisions=[text, "Ship it"], todos=[text])
    )
    log.append(ConversationText(conversation_id="s1", title=text, prompts=["hi", text], closing=f"so {text}"))
    nested = json.dumps({"command": text, text: json.dumps([text])})
    coded = base64.b64encode(f"a {text} b".encode()).decode()
    log.append(
        HostEvent(conversation_id="s1", name="PostToolUse", payload={"input": nested, text: [text], "64": coded})
    )
    spool.leave(store, {"type": "fact", "conversation_id": "s1", "content": text}, f"key {text}", None, log.now())
    note(store, OSError(f"cannot read {text}"), {"type": "fact", "content": text})
    for path, content in {
        f"knowledge/MEMORY.md.edited-{number}": f"- {text}\n- mine\n",
        f"log/20{20 + number // 28:02d}-02-{1 + number % 28:02d}.damaged": f'{{"content": {json.dumps(text)}',
        f"log/2026-02-20.sync-conflict-{number}.jsonl": json.dumps({"content": text}),
        f"staging/20260221-x{number}.yaml": f"content: {json.dumps(text)}\n",
        f"backups/settings.json-{number}.json": json.dumps(
            {"path": "/h/settings.json", "before": base64.b64encode(f"a {text} b".encode()).decode(), "after": "0"}
        ),
    }.items():
        Path(store.root, path).parent.mkdir(parents=True, exist_ok=True)
        Path(store.root, path).write_text(content)


def erased(log, said=None, settings=DEFAULTS, **meant):
    there = opened(log, settings)
    return redact(there, redactable(there, said, **meant))


@pytest.mark.slow
@pytest.mark.parametrize("dress", DRESSES)
def test_what_is_erased_is_in_no_file_in_no_spelling(log, dress):
    text = dress.format(SECRET)
    said_everywhere(log, text)
    replay_store(opened(log))
    assert len(holding(text, log.store.root)) >= 10

    done = erased(log, text)

    assert set() == holding(text, log.store.root, Path.home())
    assert [] == verify(log).damage
    assert len(done.events) == 5
    [memory] = Path(log.store.knowledge).glob("projects/*/MEMORY.md")
    assert "Ship it" in memory.read_text()
    assert [] == [event.content for event in log.read() if event.type == "fact" and event.content == "[redacted:1]"]
    backup = json.loads(Path(log.store.root, "backups/settings.json-1.json").read_bytes())
    assert b"a [redacted:1] b" == base64.b64decode(backup["before"]).replace(b"\\", b"")


@pytest.mark.slow
def test_many_texts_are_erased_at_once(log):
    several = texts(60)
    for number, text in enumerate(several):
        log.append(Fact(conversation_id="s", content=f"{number} has {text} within", entities=["kept"]))
        log.append(HostEvent(conversation_id="s", name="x", payload={"json": json.dumps({"text": text})}))
    replay_store(opened(log))

    erased(log, pattern="(" + "|".join(map(re.escape, several)) + ")")

    data = b"".join(_folded(path) for path in Path(log.store.root).rglob("*") if path.is_file())
    assert [] == [text for text in several for one in spellings(text) if one.casefold().encode() in data]
    assert [f"{number} has [redacted:1] within" for number in range(60)] == [
        event.content for event in log.read() if event.type == "fact"
    ]
    assert [] == verify(log).damage


@pytest.mark.slow
@pytest.mark.fuzz
def test_texts_that_came_in_every_way_are_in_no_file_in_no_spelling(log):
    several = texts(rounds(fixed=4, fuzz=200))
    for number, text in enumerate(several, 1):
        said_everywhere(log, text, number)
    replay_store(opened(log))

    done = erased(log, pattern="(" + "|".join(map(re.escape, several)) + ")")

    files = {
        path: _folded(path)
        for root in (log.store.root, Path.home())
        for path in Path(root).rglob("*")
        if path.is_file()
    }
    wanted = {one.casefold().encode() for text in several for one in spellings(text)}
    assert [] == [(path.name, one) for path, data in files.items() for one in wanted if one in data]
    assert 5 * len(several) == len(done.events)
    assert [] == verify(log).damage


def test_all_other_lines_stay_to_the_byte_and_a_replay_of_the_rest_is_the_same(log):
    log.append(Fact(conversation_id="s1", content="The tea is green"))
    log.append(Fact(conversation_id="s1", content=f"It is {SECRET}"))
    log.append(Fact(conversation_id="s2", content="The sea is blue"))
    [file] = Path(log.store.log).iterdir()
    before = file.read_bytes().splitlines()

    erased(log, SECRET)

    now = file.read_bytes().splitlines()
    assert (before[0], before[2]) == (now[0], now[2])
    old, new = json.loads(before[1]), json.loads(now[1])
    assert {**old, "content": "It is [redacted:1]"} == {name: new[name] for name in new if name != "redacted"}
    documents = [document.data for document in replay(log, DEFAULTS, anew=True, save=False).documents]
    assert documents == [document.data for document in replay(log, DEFAULTS, save=False).documents]
    assert not replay_store(opened(log)).published.written


def test_an_event_that_said_nothing_else_keeps_id_time_and_conversation(log):
    event = log.append(Fact(conversation_id="s1", project="/p", content=SECRET))
    done = erased(log, event.id)
    [left] = log.read()
    assert ("redacted", "fact", event.id, event.ts, "s1") == (
        left.type,
        left.was,
        left.id,
        left.ts,
        left.conversation_id,
    )
    [line] = done.events
    assert (event.id, left.redacted) == (line.id, line.before)
    [noted] = map(json.loads, Path(log.store.redactions).read_bytes().splitlines())
    assert (1, "event", event.id) == (noted["n"], noted["what"], noted["events"][0]["id"])
    assert set() == holding(SECRET, log.store.root)


def test_a_session_is_erased_and_what_it_said_wherever_else_it_stands(log):
    log.append({"type": "session_start", "conversation_id": "s1", "source": "startup"})
    log.append(Fact(conversation_id="s1", content="The code of the door is 4711"))
    log.append(Fact(conversation_id="s1", content="no"))
    log.append(Fact(conversation_id="s2", content="He said: the code of the door is 4711!"))
    log.append(Fact(conversation_id="s2", content="no"))
    erased(log, session="s1")
    assert ["session_start", "redacted", "redacted", "fact", "fact"] == [event.type for event in log.read()]
    assert ["He said: [redacted:1]!", "no"] == [event.content for event in log.session("s2")]


def test_the_same_is_refused_whoever_says_it_again(log):
    fact = log.append({"type": "fact", "conversation_id": "s1", "content": SECRET, "ts": "2026-02-20T10:00:00Z"})
    erased(log, SECRET)
    store = log.store

    again = log.put([{"type": "fact", "conversation_id": "s1", "content": SECRET, "ts": "2026-02-20T10:00:00Z"}])
    assert [("redacted", fact.id, False)] == [(one.event.type, one.event.id, one.new) for one in again]
    said = call("fact", SECRET.upper(), "--session", "s9", "--store", store.root)
    assert {"status": "skipped", "reason": "redacted"} == json.loads(said.out)
    spool.leave(store, {"type": "fact", "conversation_id": "s1", "content": SECRET}, "key", None, log.now())
    assert [] == spool.waiting(store)
    call_of_hook = {
        "hook_event_name": "PostToolUse",
        "session_id": "s9",
        "tool_name": "Bash",
        "tool_input": {"command": SECRET},
    }
    tell(store.root, call_of_hook)
    assert set() == holding(SECRET, store.root)
    assert "[redacted:1]" in "".join(path.read_text() for path in Path(store.log).iterdir())


def test_an_older_copy_of_a_day_brings_nothing_back(log):
    log.append(Fact(conversation_id="s1", content=f"It is {SECRET}"))
    [file] = Path(log.store.log).iterdir()
    before = file.read_bytes()
    erased(log, SECRET)
    others = file.with_name(file.name.replace(".jsonl", ".laptop.jsonl"))
    others.write_bytes(before.replace(b'"s1"', b'"s2"').replace(b'"id":"0', b'"id":"1') + before)
    replay_store(opened(log))
    assert set() == holding(SECRET, log.store.root)

    file.write_bytes(before)
    replay_store(opened(log))
    assert set() == holding(SECRET, log.store.root)
    assert [] == [bad for bad in verify(log).damage if bad.kind != "conflict"]


def test_what_another_machine_has_erased_of_its_copy_costs_this_machine_nothing(log):
    log.append(Fact(conversation_id="s", content="The tea is green"))
    log.append(Fact(conversation_id="s", content=f"It is {SECRET}"))
    [file] = Path(log.store.log).iterdir()
    theirs, _ = file.read_bytes().splitlines(keepends=True)
    marked = theirs.replace(b"The tea is green", b"[redacted:1]").replace(b"}\n", b',"redacted":"%s"}\n' % (b"a" * 64))
    file.with_name(file.name.replace(".jsonl", ".laptop.jsonl")).write_bytes(marked)
    receipt = erased(log, SECRET)
    replay_store(opened(log))

    assert ["The tea is green", "It is [redacted:1]"] == [event.content for event in log.read()]
    assert 1 == len(receipt.events)


def test_what_an_older_copy_has_brought_back_is_not_there_to_be_erased(log):
    log.append(Fact(conversation_id="s1", content=f"It is {SECRET}"))
    [file] = Path(log.store.log).iterdir()
    before = file.read_bytes()
    erased(log, SECRET)
    file.with_name(file.name.replace(".jsonl", ".laptop.jsonl")).write_bytes(before)
    with pytest.raises(BadRequest, match="nothing of it"):
        redactable(opened(log), SECRET)
    assert set() == holding(SECRET, log.store.root)


def test_in_a_knowledge_base_goes_what_the_log_wrote_and_a_persons_own_line_is_named(log):
    planned(log, "Access", f"The door: {SECRET}\n\nRing twice")
    apply_all(log)
    edited = user_md().read_text().replace("Ring twice", f"Ring twice\n\nMine: {SECRET}")
    write_user(f"My own {SECRET}\n\n{edited}")
    done = erased(log, SECRET, DEFAULTS)
    text = user_md().read_text()
    assert "The door: [redacted:1]\n\nRing twice\n\nMine: [redacted:1]" in text
    assert [f"{user_md()}:1"] == done.left
    assert text.startswith(f"My own {SECRET}")
    before = [event.id for event in log.read()]
    apply_all(log)
    replay_store(opened(log))
    assert (text, before) == (user_md().read_text(), [event.id for event in log.read()])


def test_of_what_a_person_wrote_into_a_file_since_the_last_replay_the_rest_stays(log):
    log.append(Fact(conversation_id="s1", content="The port is 8443"))
    replay_store(opened(log))
    file = Path(log.store.knowledge, "MEMORY.md")
    file.write_text(f"{file.read_text()}\n## Agent's notes\n\n- mine\n- it is {SECRET}\n")
    erased(log, SECRET)
    assert "- [2026-02-20] mine\n" in file.read_text()
    assert "The port is 8443" in file.read_text()
    assert set() == holding(SECRET, log.store.root)


def test_an_entry_that_waits_is_erased_where_it_waits(log):
    planned(log, "S", f"It is {SECRET}")
    apply_all(log, REVIEWED)
    assert holding(SECRET, log.store.staging)
    erased(log, SECRET, REVIEWED)
    assert set() == holding(SECRET, log.store.root, Path.home())
    apply_all(log, REVIEWED)


def test_transcripts_of_hosts_are_named_and_left_alone(log, tmp_path):
    transcript = tmp_path / "host.jsonl"
    transcript.write_text(json.dumps({"text": SECRET}))
    log.append({"type": "session_start", "conversation_id": "s1", "transcript_path": str(transcript)})
    log.append(Fact(conversation_id="s1", content=SECRET))
    assert [str(transcript)] == erased(log, SECRET).left
    assert SECRET == json.loads(transcript.read_text())["text"]


def test_a_rejection_in_words_stays_in_force_without_them(log):
    log.put([{"type": "rejected", "conversation_id": "human", "statement": SECRET, "agent": "human"}])
    log.append(Fact(conversation_id="s1", content=f"{SECRET} it is"))
    erased(log, SECRET)
    [rejection] = [event for event in log.read() if event.type == "rejected"]
    assert (None, True) == (rejection.statement, bool(rejection.digest))


def test_what_the_format_fixes_is_never_erased(log):
    log.append(Fact(conversation_id="s1", content="an update of the session_start", entities=["project"]))
    log.append({"type": "session_start", "conversation_id": "s1", "source": "startup", "session_type": "shared"})
    for word in ("session_start", "project", "shared", "startup"):
        erased(log, word)
    assert [] == verify(log).damage
    assert ["fact", "session_start"] == [event.type for event in log.read()]


@pytest.mark.parametrize(
    ("meant", "why"),
    [({"said": "abc"}, "too short"), ({"said": "not there"}, "nothing of it"), ({"pattern": "("}, "not a regular"),
     ({"pattern": "t"}, "too short")],
)  # fmt: skip
def test_what_cannot_be_meant_is_refused_and_nothing_changes(log, meant, why):
    log.append(Fact(conversation_id="s1", content="The tea is green"))
    with pytest.raises(BadRequest, match=why):
        redactable(opened(log), meant.get("said"), pattern=meant.get("pattern"))
    assert not Path(log.store.redactions).exists()


def test_without_its_keys_the_events_are_refused_all_the_same(log):
    fact = log.append(Fact(conversation_id="s1", content=SECRET))
    erased(log, SECRET)
    Path(log.store.redaction_keys).unlink()
    again = log.put([{"type": "fact", "conversation_id": "s1", "content": "any", "id": fact.id, "ts": fact.ts}])
    assert [("redacted", False)] == [(one.event.type, one.new) for one in again]


def test_lines_of_redactions_that_nobody_understands_cost_only_themselves(log):
    log.append(Fact(conversation_id="s1", content=f"pin {SECRET}"))
    erased(log, SECRET)
    with Path(log.store.redactions).open("a") as receipts, Path(log.store.redaction_keys).open("a") as keys:
        receipts.write('{"n":7,"events":[{"file":""},3]}\n{"n":7,"events":{}}\n')
        keys.write('{"n":7,"marks":{"3c":["ab"],"2":"ab","1":[7]}}\n')
    assert "pin [redacted:1]" == log.append(Fact(conversation_id="s1", content=f"pin {SECRET}")).content


def test_twice_is_two_receipts_and_numbers_go_on(log):
    log.append(Fact(conversation_id="s1", content="The tea is green and the sea is blue"))
    erased(log, "the tea")
    erased(log, "the sea")
    [event] = log.read()
    assert "[redacted:1] is green and [redacted:2] is blue" == event.content
    assert [1, 2] == [json.loads(line)["n"] for line in Path(log.store.redactions).read_bytes().splitlines()]


def test_two_that_were_prepared_beside_each_other_are_two_redactions(log):
    for name in ("one", "two"):
        log.append(Fact(conversation_id=name, content=f"The secret {name}"))
    prepared = [redactable(opened(log), f"The secret {name}") for name in ("one", "two")]

    receipts = [redact(opened(log), each) for each in prepared]

    assert [1, 2] == [receipt.n for receipt in receipts]
    assert [1, 1] == [len(receipt.events) for receipt in receipts]
    for name in ("one", "two"):
        said = call("fact", f"The secret {name}", "--session", "s9", "--store", log.store.root)
        assert {"status": "skipped", "reason": "redacted"} == json.loads(said.out)


def test_what_cannot_be_removed_is_said_and_done_at_the_next_use(log, monkeypatch):
    log.append(Fact(conversation_id="s1", content=f"pin {SECRET}"))
    replay_store(opened(log))
    refused, unlink = [], os.unlink

    def refuse_once(path, **options):
        if str(path).endswith((".pending", ".sqlite", "MEMORY.md")) and path not in refused:
            refused.append(path)
            raise OSError(errno.EIO, "I/O error", path)
        unlink(path, **options)

    monkeypatch.setattr(os, "unlink", refuse_once)
    ran = call("redact", SECRET, "--yes", "--store", log.store.root)
    assert (3, False) == (ran.code, SECRET in ran.out + ran.err)
    assert "not erased everywhere" in ran.err
    for _ in range(9):
        assert 0 == call("stats", "--store", log.store.root).code
    assert any(path.endswith(".pending") for path in refused)
    assert set() == holding(SECRET, log.store.root)


def test_on_the_command_line_it_asks_says_where_and_never_the_text(log):
    log.append(Fact(conversation_id="s1", content=f"pin {SECRET}"))
    dry = call("redact", SECRET, "--dry-run", "--store", log.store.root)
    assert (0, True) == (dry.code, "1 event and" in dry.out)
    refused = call("redact", SECRET, "--store", log.store.root)
    assert (2, True) == (refused.code, "--yes" in refused.err)
    assert holding(SECRET, log.store.root)
    done = call("redact", SECRET, "--yes", "--store", log.store.root)
    assert (0, True) == (done.code, "receipt: redactions.jsonl, number 1" in done.out)
    assert not any(SECRET in one for one in (dry.out, refused.out, refused.err, done.out))
    assert set() == holding(SECRET, log.store.root)


def test_forgetting_a_secret_points_to_erasing_it(log):
    log.append(Fact(conversation_id="s1", content="Prod DB token is hunter2-Sommer2026"))
    log.append(Fact(conversation_id="s1", content="The tea is green"))
    assert "eventlog redact" in call("forget", "hunter2", "--store", log.store.root).out
    assert "eventlog redact" not in call("forget", "tea", "--store", log.store.root).out


def test_a_forgotten_statement_stays_forgotten_when_words_of_it_are_erased(log):
    for text in ("Stage is at x.example, word hunter2-Sommer", "stage is at  x.example, word HUNTER2-sommer."):
        log.append(Fact(conversation_id="s1", content=text))
    decisions = ["We log in as bob with hunter2-Sommer", "Round half even"]
    log.append(StageSummary(conversation_id="s1", topic="T", summary="S", decisions=decisions))
    for line in ("forget x.example", "forget bob", "redact hunter2-Sommer"):
        assert call(*line.split(), "--yes", "--store", log.store.root).code == 0
    assert holding("Round half even", log.store.knowledge)
    assert not holding("[redacted:1]", log.store.knowledge)

    assert call("undo", "--yes", "--store", log.store.root).code == 0
    assert holding("as bob with [redacted:1]", log.store.knowledge)
    assert not holding("x.example", log.store.knowledge)


def test_no_name_of_a_project_or_a_file_is_left_that_holds_the_text(log):
    log.append(Fact(conversation_id="c of ünï pass", project="/src/of ünï pass", content="tea"))
    Path(log.store.sync).mkdir(parents=True)
    state = Path(log.store.sync, "state.json")
    state.write_bytes(b'{"projects":["/src/of \xc3\xbcn\xc3\xaf pass"]}')
    replay_store(opened(log))
    redact(opened(log), redactable(opened(log), "of ünï pass"))

    assert {"projects": ["/src/[redacted:1]"]} == json.loads(state.read_bytes())
    assert "pass" not in Path(log.store.redactions).read_text()
    assert [] == [path.name for path in Path(log.store.root).rglob("*pass*")]
