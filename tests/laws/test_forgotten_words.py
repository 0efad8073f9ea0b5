"""What a person has forgotten stands in no file of ours but the log, once a replay has run: not one byte of it."""

import errno
import json
import os
from pathlib import Path

import pytest

from eventlog.app.write import set_aside
from eventlog.cli import EXIT_NOT_WRITTEN
from eventlog.format.errors import NotStored
from eventlog.format.events import Rejected
from eventlog.format.marks import digest_of
from eventlog.log.event_log import EventLog
from tests.support.bases import user_md
from tests.support.command_line import call
from tests.support.effort import stride

ENGLISH, CHINESE = "OKAPINAME is the password", "密钥是霍加狓的名字"
NOISE = {ENGLISH: "The port is 8443", CHINESE: "端口是八千"}
WORDS = {ENGLISH: ["okapiname"], CHINESE: ["霍加狓", "霍加", "加狓"]}


def eventlog(*args, code=0):
    ran = call(*args)
    assert ran.code == code, (args, ran)
    return ran.out


def a_fact(text, *options):
    return json.loads(eventlog("fact", text, "--session", "s1", *options))["id"]


def by_id(text):
    return [a_fact(text)]


def by_text(text):
    a_fact(text)
    return [text]


def by_line(text):
    a_fact(text)
    eventlog("replay")
    for path in sorted(store().glob("knowledge/**/MEMORY.md")):
        for number, line in enumerate(path.read_text().split("\n"), 1):
            if text in line:
                return [f"{path}:{number}"]
    raise AssertionError("it is in no memory")


def by_session(text):
    a_fact(text, "--category", text)
    eventlog("plan", "--path", "user", "--heading", "Work", "--content", f"- {text}", "--session", "s1")
    eventlog("summary", "--session", "s1", "--topic", text, "--summary", f"{text}!", "--decision", text, "--todo", text)
    return ["--session", "s1"]


def by_key(text):
    return [a_fact(text, "--key", "the-key")]


def by_plan(text):
    out = eventlog("plan", "--path", "user", "--heading", "Work", "--content", f"- {text}", "--session", "s1")
    return [json.loads(out)["id"]]


def by_decision(text):
    eventlog("summary", "--session", "s1", "--topic", "T", "--summary", "Did it", "--decision", text)
    return [text]


def by_done(text):
    eventlog("summary", "--session", "s1", "--topic", "T", "--summary", "Did it", "--todo", text)
    eventlog("summary", "--session", "s2", "--topic", "U", "--summary", "Did more", "--done", text)
    return [text]


def store():
    return Path(os.environ["EVENTLOG_HOME"])


def files():
    """All files of ours, and knowledge bases, but those of the log."""
    found = (path for root in (store(), Path.home()) for path in root.rglob("*") if path.is_file())
    return {path: path.read_bytes() for path in found if path.parent != store() / "log"}


def saying(words):
    """The files that have any of the words: in any case, as JSON escapes them, too."""
    spelled = {form.encode().lower() for word in words for form in (word, json.dumps(word).strip('"'))}
    return sorted(str(path) for path, data in files().items() if any(form in data.lower() for form in spelled))


def looked_at(text):
    eventlog("search", text)
    eventlog("replay")
    eventlog("context", "--session", "s2")
    eventlog("search", text[:5])
    eventlog("replay")


def told():
    """The knowledge files and knowledge bases, without stamps and lists of sessions."""
    paths = [*(store() / "knowledge").rglob("MEMORY.md"), user_md()]
    return {path: path.read_bytes().rpartition(b"\n<!--")[0] or path.read_bytes() for path in paths if path.exists()}


@pytest.fixture(autouse=True)
def a_store(tmp_path, monkeypatch):
    monkeypatch.setenv("EVENTLOG_HOME", str(tmp_path / "store"))
    monkeypatch.chdir(tmp_path)


WAYS = [by_id, by_text, by_line, by_session, by_key, by_plan, by_decision, by_done]


@pytest.mark.slow
@pytest.mark.fuzz
@pytest.mark.parametrize(
    ("way", "text"), [*((way, ENGLISH) for way in WAYS), *((way, CHINESE) for way in WAYS[1 :: stride(3)])]
)
def test_forgotten_words_stand_nowhere_but_in_the_log(way, text):
    eventlog("fact", NOISE[text], "--session", "s3")
    what = way(text)
    looked_at(text)
    before = told()
    assert saying(WORDS[text])

    eventlog("forget", *what, "--yes")
    assert [] == saying(WORDS[text])
    looked_at(text)
    assert [] == saying(WORDS[text])
    eventlog("replay", "--full")
    assert [] == saying(WORDS[text])
    assert not [line for line in log_lines() if '"rejected"' in line and text in line]

    eventlog("undo", "--yes")
    looked_at(text)
    assert before == told()


def log_lines():
    return [line for path in (store() / "log").iterdir() for line in path.read_text().split("\n")]


def memory():
    [path] = (path for path in store().glob("knowledge/**/MEMORY.md"))
    return path


def copies():
    return sorted(store().glob("knowledge/**/*.edited-*"))


def edited(change):
    """Edit the memory in a way that no event can tell of, and replay: what was there is set aside."""
    memory().write_text(change(memory().read_text()))
    os.utime(memory(), (1_790_000_000 + len(copies()),) * 2)
    eventlog("replay")


@pytest.mark.slow
@pytest.mark.parametrize("text", [ENGLISH, CHINESE], ids=["english", "chinese"])
@pytest.mark.parametrize("way", [by_id, by_text, by_session, by_key, by_decision])
def test_forgotten_words_leave_the_copies_of_edited_files_and_the_persons_own_stay(way, text):
    eventlog("fact", NOISE[text], "--session", "s3")
    what = way(text)
    eventlog("replay")
    edited(lambda there: there.replace("# Memory", "# My own heading", 1) + "\nMy own paragraph.\n")
    assert [path for path in copies() if text in path.read_text()]

    eventlog("forget", *what, "--yes")

    assert [] == saying(WORDS[text])
    [copy] = copies()
    assert "# My own heading" in copy.read_text()
    assert "My own paragraph." in copy.read_text()
    assert NOISE[text] in copy.read_text()


def test_what_is_set_aside_after_it_was_forgotten_says_it_no_more():
    eventlog("fact", NOISE[ENGLISH], "--session", "s3")
    what = by_text(ENGLISH)
    eventlog("replay")
    before = memory().read_text()
    eventlog("forget", *what, "--yes")
    edited(lambda _: before.replace("# Memory", "# My own heading", 1))

    assert [] == saying(WORDS[ENGLISH])
    assert "# My own heading" in copies()[0].read_text()


def no_room(*_):
    raise NotStored("no space left on device", where="MEMORY.md")


def test_what_is_set_aside_by_a_replay_that_ends_before_it_sweeps_is_swept_by_the_next(monkeypatch):
    eventlog("fact", NOISE[ENGLISH], "--session", "s3")
    what = by_text(ENGLISH)
    eventlog("replay")
    before = memory().read_text()
    eventlog("forget", *what, "--yes")
    memory().write_text(before.replace("# Memory", "# My own heading", 1))
    with monkeypatch.context() as ended:
        ended.setattr(set_aside, "sweep_copies", no_room)
        eventlog("replay", code=EXIT_NOT_WRITTEN)
    assert [path for path in copies() if ENGLISH in path.read_text()]
    eventlog("replay")

    assert [] == saying(WORDS[ENGLISH])


@pytest.mark.slow
def test_a_copy_goes_that_has_nothing_else_and_one_that_a_newer_has_all_of():
    by_text(ENGLISH)
    eventlog("replay")
    edited(lambda there: there.replace("# Memory", "# Mine", 1))
    [first] = copies()
    edited(lambda there: there.replace("# Memory", "# Mine", 1) + "\nMy own paragraph.\n")
    [whole] = copies()
    assert first != whole

    eventlog("forget", ENGLISH, "--yes")
    assert [whole] == copies()

    whole.write_text(f"- {ENGLISH}\n")
    eventlog("undo", "--yes")
    eventlog("forget", ENGLISH, "--yes")
    assert [] == copies()


def test_a_copy_that_cannot_be_removed_is_told_and_goes_when_it_can(monkeypatch):
    by_text(ENGLISH)
    eventlog("replay")
    memory().with_name("MEMORY.md.edited-20260220-083000").write_text(f"- {ENGLISH}\n")
    unlink = os.unlink

    def refuse(path, **options):
        if ".edited-" in str(path):
            raise PermissionError(errno.EACCES, "Permission denied", path)
        unlink(path, **options)

    with monkeypatch.context() as refused:
        refused.setattr(os, "unlink", refuse)
        eventlog("forget", ENGLISH, "--yes", code=EXIT_NOT_WRITTEN)
    assert copies()
    eventlog("replay")

    assert [] == copies()


@pytest.mark.slow
@pytest.mark.parametrize("text", [ENGLISH, CHINESE], ids=["english", "chinese"])
@pytest.mark.parametrize("way", ["entry", "session", "text"])
def test_forgotten_words_of_an_entry_that_waits_leave_the_staging_directory(way, text):
    store().mkdir()
    (store() / "config.yaml").write_text("knowledge_bases: {user: {path: ~/.config/agents/USER.md, review: true}}\n")
    [entry] = by_plan(text)
    eventlog("replay")
    [staged] = store().glob("staging/*.yaml")

    eventlog("forget", *{"entry": [entry], "session": ["--session", "s1"], "text": [text]}[way], "--yes")
    assert [] == saying(WORDS[text])

    eventlog("undo", "--yes")
    eventlog("replay")
    assert text in staged.read_text()


def test_a_rejection_of_an_earlier_release_leaves_no_words_but_in_the_log():
    by_text(ENGLISH)
    eventlog("fact", f"{ENGLISH}!", "--session", "s2")
    looked_at(ENGLISH)
    EventLog(store()).put([Rejected(conversation_id="human", agent="human", statement=ENGLISH)])
    looked_at(ENGLISH)

    assert [] == saying(WORDS[ENGLISH])
    assert ENGLISH in eventlog("status")
    assert "rejected" in eventlog("fact", f"{ENGLISH}.", "--session", "s3")


@pytest.mark.slow
def test_words_are_forgotten_by_rejections_of_several_machines_until_the_last_is_taken_back():
    by_text(ENGLISH)
    looked_at(ENGLISH)
    eventlog("forget", ENGLISH, "--yes")
    theirs = Rejected(conversation_id="human", agent="human", salt="5a17", digest=digest_of(ENGLISH, "5a17"))
    EventLog(store()).put([theirs])
    looked_at(ENGLISH)
    assert [] == saying(WORDS[ENGLISH])

    first, second = (event["id"] for event in events("rejected"))
    eventlog("undo", first, "--yes")
    looked_at(ENGLISH)
    assert [] == saying(WORDS[ENGLISH])

    eventlog("undo", second, "--yes")
    looked_at(ENGLISH)
    assert saying(WORDS[ENGLISH])


def events(kind):
    return [json.loads(line) for line in eventlog("query", "--type", kind, "--format", "jsonl").splitlines()]


def test_all_rejections_of_a_store_share_a_salt():
    by_text(ENGLISH)
    a_fact(NOISE[ENGLISH])
    eventlog("forget", ENGLISH, "--yes")
    eventlog("forget", NOISE[ENGLISH], "--yes")

    [salt] = {event["salt"] for event in events("rejected")}
    assert 32 == len(salt)
    assert [digest_of(text, salt) for text in (ENGLISH, NOISE[ENGLISH])] == [
        one["digest"] for one in events("rejected")
    ]
