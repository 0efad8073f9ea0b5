"""What killed runs left, days that are gone and words that were withdrawn do not stay in the cache."""

import gc
import os
import time
from pathlib import Path

import pytest

from eventlog.app.ask.history import replay_at
from eventlog.app.build import program
from eventlog.app.build.cache import open_cache
from eventlog.app.serve.session_context import session_context
from eventlog.fast.sha import sha256
from eventlog.format.events import Rejected
from eventlog.projections.context.request import ContextRequest
from eventlog.projections.engine.day_fold import StoredDays
from eventlog.settings.schema import Settings
from eventlog.store.locks import locked
from tests.support.builders import DAY, NEXT_DAY, fact, replay
from tests.support.command_line import call
from tests.support.use_cases import opened, rebuild

LATER = "2026-02-22"


@pytest.fixture
def cached(log):
    """All that is kept of the log, as bytes."""
    return lambda: b"".join(file.read_bytes() for file in sorted(Path(log.store.cache).glob("knowledge*")))


def _documents(log, **options):
    return replay(log, Settings(), **options).documents


def _withdraw(log, **about):
    return log.append({"type": "retraction", "conversation_id": "by-hand", **about})


@pytest.fixture
def said(log, clock):
    clock.now += 3 * 86_400 * 10**9
    secret = fact(0, content="sesame", entities=["sesamum"])
    log.append_many(
        [secret, fact(1), fact(2, day=NEXT_DAY, content="sesame too", conversation_id="d"), fact(3, day=LATER)]
    )
    replay(log, Settings())
    return secret


def test_withdrawn_words_leave_the_cache(log, said, cached):
    assert b"sesame" in cached()
    _withdraw(log, target=said["id"])
    _withdraw(log, conversation="d")
    replay(log, Settings())

    assert b"sesam" not in cached()
    assert b"fact 1" in cached()
    assert 0 == replay(log, Settings()).days_folded
    assert _documents(log, anew=True, save=False) == _documents(log)


def test_what_is_restored_has_its_words_again(log, said, cached):
    before = _documents(log)
    withdrawal = _withdraw(log, target=said["id"])
    replay(log, Settings())
    _withdraw(log, target=withdrawal.id)

    assert _documents(log, anew=True, save=False) == _documents(log)
    assert any(b"sesame" in document.data for document in _documents(log))
    assert b"sesame" in cached()
    assert before == _documents(log, until=f"{LATER}T23:59:59.999999Z")


def test_the_past_is_told_with_the_words_it_had(log, said):
    then = _documents(log, until=f"{LATER}T23:59:59.999999Z", anew=True)
    _withdraw(log, target=said["id"])
    replay(log, Settings())

    assert then == _documents(log, until=f"{LATER}T23:59:59.999999Z")


def test_a_context_never_tells_what_only_stands_in_for_withdrawn_words(log, said, tmp_path):
    withdrawal = _withdraw(log, target=said["id"])
    replay(log, Settings())
    _withdraw(log, target=withdrawal.id)
    request = ContextRequest(now=f"{LATER}T12:00:00.000000Z", home=str(tmp_path))
    told = session_context(opened(log, Settings()), request).context.recent_facts

    assert ["fact 1", "sesame"] == sorted(fact.content for fact in told if fact.content in ("fact 1", "sesame"))


def test_the_words_of_days_that_are_gone_leave_the_cache(log, said, cached):
    Path(log.store.log, f"{DAY}.jsonl").unlink()
    replay(log, Settings())

    assert b"sesame too" in cached()
    assert b"fact 1" not in cached()


def test_checkpoints_of_earlier_releases_are_removed(log, said):
    old = Path(log.store.cached("checkpoints"))
    old.mkdir()
    (old / f"{DAY}.msgpack").write_bytes(b"sesame")
    rebuild(log, Settings())

    assert not old.exists()


def test_what_killed_replays_left_is_swept_and_nothing_else(log, said):
    knowledge, cache = Path(log.store.knowledge), Path(log.store.cache)
    knowledge.mkdir(parents=True)
    left = [
        knowledge / "MEMORY.md.0a1b2c3d.tmp",
        cache / "late" / "x.json.0a1b2c3d.tmp",
        Path(log.store.log, f"{DAY}.jsonl.0a1b2c3d.tmp"),
    ]
    stay = [knowledge / "notes.tmp", knowledge / "a.0a1b2c3z.tmp", cache / "settings.json.0a1b2c3d.tmp"]
    (cache / "late").mkdir()
    for path in (*left, *stay):
        path.write_bytes(b"")
    for path in (*left, *stay[:2]):
        os.utime(path, (0, 0))
    rebuild(log, Settings(), check=True)
    assert all(path.exists() for path in left)
    rebuild(log, Settings())

    assert ([], stay) == ([one for one in left if one.exists()], [one for one in stay if one.exists()])


def test_what_a_killed_replay_left_while_the_clock_was_ahead_is_swept(log, said):
    rebuild(log, Settings())
    before = {path.name for path in Path(log.store.knowledge).iterdir()}
    for name in ("MEMORY.md.0a1b2c3d.tmp", f"INDEX.md.0a1b2c3d.{sha256(b'')[:16]}.{'0' * 16}.swap"):
        left = Path(log.store.knowledge, name)
        left.touch()
        os.utime(left, (time.time() + 86_400,) * 2)
    rebuild(log, Settings())

    assert before == {path.name for path in Path(log.store.knowledge).iterdir()}


def test_doctor_counts_the_copies_that_were_set_aside(home, log, said):
    knowledge = Path(log.store.knowledge)
    knowledge.mkdir(parents=True)
    for number in range(2):
        (knowledge / f"MEMORY.md.edited-20260221-08000{number}").write_bytes(b"x")

    assert "2 copies of edited files are kept" in call("doctor", "--store", log.store.root).out


def test_a_replay_that_nobody_holds_any_more_lets_go_of_the_cache_at_once(log):
    """Another one of the same program would wait for it in vain, and then read the whole log."""
    log.append(fact(0))
    gc.disable()
    try:
        _documents(log)
        again = open_cache(log.store, writes=True)
    finally:
        gc.enable()

    assert again is not None
    again.close()


def test_a_question_about_the_past_looks_for_what_was_forgotten_where_it_was_redacted(log, monkeypatch):
    days = [f"2026-02-{number:02}" for number in range(1, 9)]
    log.append_many(
        [fact(number, day=day, content="Sesame" if number % 4 else "Poppy") for number, day in enumerate(days)]
    )
    log.put([Rejected(conversation_id="by-hand", statement="Poppy", ts="2026-02-20T00:00:00.000000Z")])
    rebuild(log, Settings())
    looked, conversations = set(), StoredDays.conversations

    def looks(self, day):
        looked.add(day)
        return conversations(self, day)

    monkeypatch.setattr(StoredDays, "conversations", looks)
    told = {document.path: document.data for document in replay_at(opened(log), "2026-02-10").documents}

    assert b"Poppy" in told["MEMORY.md"]
    assert looked.isdisjoint(days[1:4])


@pytest.mark.parametrize("until", ["~", NEXT_DAY])
def test_the_first_question_after_an_update_makes_the_cache_that_the_next_one_reads(log, monkeypatch, until):
    log.append_many([fact(0), fact(1, day=NEXT_DAY), fact(2, day=LATER)])
    rebuild(log, Settings())
    told = [document.data for document in replay_at(opened(log), until).documents]
    monkeypatch.setattr(program, "program_key", lambda: "another")

    assert told == [document.data for document in replay_at(opened(log), until).documents]
    assert replay_at(opened(log)).days_folded == 0
    assert rebuild(log, Settings()).published.written == []


def test_a_question_beside_a_replay_reads_the_log_and_leaves_the_cache_to_that(log, monkeypatch):
    log.append(fact(0))
    rebuild(log, Settings())
    monkeypatch.setattr(program, "program_key", lambda: "another")
    with locked(log.store, log.store.lock("replay")):
        assert [replay_at(opened(log)).days_folded for _ in range(2)] == [1, 1]
    assert [replay_at(opened(log)).days_folded for _ in range(2)] == [0, 0]


def test_a_question_makes_no_cache_where_there_is_none(log):
    log.append(fact(0))
    before = sorted(Path(log.store.root).rglob("*"))

    assert replay_at(opened(log)).events == 1
    assert sorted(Path(log.store.root).rglob("*")) == before
