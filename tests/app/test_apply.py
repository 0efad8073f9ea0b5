"""Plan entries reach their files, people's edits are safe, and every run can be the last or the first."""

import itertools
import json
import os
from pathlib import Path

import pytest

from eventlog import BadRequest, EventLog, Retraction
from eventlog.projections.bases import drift, sections
from eventlog.projections.bases.section_history import Spelling
from eventlog.settings.schema import KnowledgeBase, Settings
from eventlog.store.replica import make_replica
from tests.support.bases import (
    LAST_WORD,
    REVIEWED,
    SETTINGS,
    apply_all,
    edits,
    planned,
    rendered,
    types,
    user_md,
    write_user,
)
from tests.support.use_cases import apply, decide, waiting

HOSTILE = b"\xef\xbb\xbf# T\r\n\r\n```\r\n## S\r\n```\r\n\r\n## S ##\r\n\r\nold\r\n\r\n### S.1\r\n\r\nchild\r\n\r\n# U\r\n\r\n## S\r\n\r\nsecond"


def test_the_addressed_section_alone_changes_byte_by_byte(log):
    write_user(HOSTILE)
    planned(log, content="old\nlines", under=["T"])
    apply_all(log)

    assert HOSTILE.replace(b"old", b"old\r\nlines") == user_md().read_bytes()


def test_a_missing_file_is_created_for_its_owner_only(log):
    planned(log)
    apply_all(log)

    assert user_md().read_text() == "## S\n\nnew\n"
    assert user_md().stat().st_mode & 0o777 == 0o600


def test_a_file_keeps_its_mode_and_its_link(log):
    real = Path.home() / "dotfiles.md"
    real.write_text("# T\n")
    real.chmod(0o644)
    user_md().parent.mkdir(parents=True)
    user_md().symlink_to(real)
    planned(log)
    apply_all(log)

    assert user_md().is_symlink()
    assert real.read_text() == "# T\n\n## S\n\nnew\n"
    assert real.stat().st_mode & 0o777 == 0o644


@pytest.mark.parametrize(
    ("entry", "after"),
    [
        ({"content": "x"}, "# T\n\n## S\n\nx\n\n### C\n\nc\n\n## E\n"),
        ({"content": ""}, "# T\n\n## S\n\n### C\n\nc\n\n## E\n"),
        ({"content": None, "operation": "delete"}, "# T\n\n## E\n"),
        ({"content": None}, "# T\n\n## S\n\nold\n\n### C\n\nc\n\n## E\n"),
    ],
)
def test_update_clear_delete_and_no_op(log, entry, after):
    write_user("# T\n\n## S\n\nold\n\n### C\n\nc\n\n## E\n")
    planned(log, **entry)
    apply_all(log, LAST_WORD)

    assert after == user_md().read_text()


def test_the_same_content_again_writes_nothing(log):
    planned(log)
    apply_all(log)
    before = user_md().stat()
    planned(log, session="another")
    done = apply_all(log)

    assert (before.st_ino, before.st_mtime_ns) == (user_md().stat().st_ino, user_md().stat().st_mtime_ns)
    assert ([], 1) == (done.applied, len(done.nothing))


def test_a_later_entry_revises_an_earlier_one(log):
    planned(log, content="one")
    planned(log, content="two")
    apply_all(log)

    assert user_md().read_text() == "## S\n\ntwo\n"


def test_an_edit_between_two_sessions_is_in_the_log_and_the_later_entry_waits(log):
    planned(log, content="agent's")
    apply_all(log)
    write_user("## S\n\nby hand\n")
    planned(log, content="agent's again", session="later")
    done = apply_all(log)

    assert user_md().read_text() == rendered(log) == "## S\n\nby hand\n"
    assert ["by hand"] == [one.content for one in edits(log)]
    assert [("human", "human")] == [(one.agent, one.conversation_id) for one in edits(log)]
    assert ["would remove 1 line you wrote: by hand"] == [one.reason for one in done.staged]


def test_an_entry_after_a_recorded_edit_waits_as_well(log):
    planned(log, content="agent's")
    apply_all(log)
    write_user("## S\n\nby hand\n")
    apply_all(log)
    planned(log, content="agent's again")

    assert len(apply_all(log).staged) == 1
    assert user_md().read_text() == "## S\n\nby hand\n"


def test_an_entry_that_says_what_the_person_wrote_is_no_conflict(log):
    planned(log, content="agent's")
    apply_all(log)
    write_user("## S\n\nby hand\n")
    planned(log, content="by hand")

    assert apply_all(log).staged == []


def test_an_edit_of_another_section_disturbs_nobody(log):
    write_user("# T\n\n## Mine\n\na\n")
    planned(log)
    apply_all(log)
    write_user(user_md().read_bytes().replace(b"\na\n", b"\nb\n"))
    planned(log, content="newer")

    assert apply_all(log).staged == []
    assert user_md().read_text() == "# T\n\n## Mine\n\nb\n\n## S\n\nnewer\n"


@pytest.mark.parametrize(("text", "operation"), [("# other\n", "delete"), ("## S\n", "clear")])
def test_a_section_removed_or_emptied_by_hand_stays_so(log, text, operation):
    planned(log)
    apply_all(log)
    write_user(text)
    planned(log, content="again")
    apply_all(log)

    assert text == user_md().read_text()
    assert [operation] == [one.operation for one in edits(log)]


def test_deleting_the_cache_changes_nothing(log):
    planned(log, content="agent's")
    apply_all(log)
    write_user("## S\n\nby hand\n")
    planned(log, content="later")
    apply_all(log)
    before = list(log.read())
    for path in sorted(Path(log.store.cache).rglob("*"), reverse=True):
        path.rmdir() if path.is_dir() else path.unlink()
    apply_all(log)

    assert before == list(log.read())
    assert user_md().read_text() == "## S\n\nby hand\n"


def test_a_deleted_file_is_rebuilt_with_what_a_person_wrote_in_it(log):
    planned(log, "A", "one")
    planned(log, "B", "two")
    apply_all(log)
    write_user("## A\n\nby hand\n\n## B\n\ntwo\n")
    apply_all(log)
    user_md().unlink()
    apply_all(log)

    assert user_md().read_text() == rendered(log) == "## A\n\nby hand\n\n## B\n\ntwo\n"


def test_what_was_there_before_comes_back_when_the_entry_is_withdrawn(log):
    write_user("## S\n\nwritten long ago\n")
    entry = planned(log)
    apply_all(log, LAST_WORD)
    replaced = user_md().read_text()
    log.append(Retraction(conversation_id="human", target=entry.id))
    apply_all(log)

    assert replaced == "## S\n\nnew\n"
    assert user_md().read_text() == rendered(log) == "## S\n\nwritten long ago\n"


def test_a_withdrawn_entry_gives_the_section_back_to_its_predecessor(log):
    planned(log, content="one")
    apply_all(log)
    entry = planned(log, content="two")
    apply_all(log)
    log.append(Retraction(conversation_id="human", target=entry.id))
    apply_all(log)

    assert user_md().read_text() == rendered(log) == "## S\n\none\n"


def test_the_section_of_a_quarantined_conversation_is_gone(log):
    write_user("# T\n")
    planned(log, session="bad")
    apply_all(log)
    log.append(Retraction(conversation_id="human", conversation="bad"))
    apply_all(log)

    assert user_md().read_text().strip() == "# T"


def test_a_withdrawn_edit_gives_the_section_back(log):
    planned(log, content="agent's")
    apply_all(log)
    write_user("## S\n\nby hand\n")
    apply_all(log)
    log.append(Retraction(conversation_id="human", target=edits(log)[0].id))
    apply_all(log)

    assert user_md().read_text() == "## S\n\nagent's\n"


def test_deleting_keeps_subsections_of_people_in_the_log(log):
    write_user("## S\n\nbody\n\n### Mine\n\nprecious\n")
    entry = planned(log, content=None, operation="delete")
    apply_all(log, LAST_WORD)
    gone = user_md().read_text()
    log.append(Retraction(conversation_id="human", target=entry.id))
    apply_all(log)

    assert gone == ""
    assert user_md().read_text() == "## S\n\nbody\n\n### Mine\n\nprecious\n"


def test_deleting_an_agents_section_with_its_subsections_is_nobodys_edit(log):
    planned(log, "S", "x")
    planned(log, "C", "agent's", level=3)
    apply_all(log)
    before = "## S\n\nx\n\n\n### C\nagent's\n\n# T\n\nby hand\n"
    write_user(before)
    entry = planned(log, "S", None, operation="delete")
    apply_all(log)
    gone = user_md().read_text()
    log.append(Retraction(conversation_id="human", target=entry.id))
    apply_all(log)

    assert gone == "# T\n\nby hand\n"
    assert [] == edits(log)
    assert ["S", "C", "T"] == [section.heading for section in sections.Page(user_md().read_bytes()).sections]


def test_a_section_whose_subsection_a_person_edited_is_not_deleted(log):
    planned(log, "S", "x")
    planned(log, "C", "agent's", level=3)
    apply_all(log)
    write_user("## S\n\nx\n\n### C\n\nby hand\n")
    planned(log, "S", None, operation="delete")

    assert ["would remove 1 line you wrote: by hand"] == [one.reason for one in apply_all(log).staged]
    assert user_md().read_text() == "## S\n\nx\n\n### C\n\nby hand\n"


def test_a_base_under_review_waits_for_a_person(log):
    planned(log)
    done = apply_all(log, REVIEWED)
    there = user_md().exists()
    [staged] = waiting(log, REVIEWED)
    decide(log, REVIEWED, staged, "apply")

    assert (1, False) == (len(done.staged), there)
    assert user_md().read_text() == "## S\n\nnew\n"
    assert waiting(log, REVIEWED) == []


def test_a_dry_run_creates_nothing_at_all(log, tmp_path):
    planned(log)
    before = sorted(Path.home().rglob("*")), sorted(tmp_path.rglob("*"))
    done = apply(log, SETTINGS, dry_run=True)

    assert before == (sorted(Path.home().rglob("*")), sorted(tmp_path.rglob("*")))
    assert len(done.applied) == 1


def test_only_the_named_file_is_written(log):
    planned(log)
    planned(log, path="global-agents")
    apply(log, SETTINGS, only="AGENTS.md")

    assert not user_md().exists()
    assert user_md().with_name("AGENTS.md").exists()


def test_a_name_that_is_no_knowledge_base_is_refused(log):
    with pytest.raises(BadRequest, match="no knowledge base 'nothing'"):
        apply(log, SETTINGS, only="nothing")


def test_a_project_has_its_own_file_and_one_that_is_gone_is_left_alone(log, tmp_path):
    for name in ("one", "two"):
        (tmp_path / name).mkdir()
        planned_in(log, tmp_path / name, name)
    (tmp_path / "two").rmdir()
    done = apply_all(log)

    assert (tmp_path / "one" / "AGENTS.md").read_text() == "## S\n\none\n"
    assert ([], False) == (done.pending, (tmp_path / "two").exists())


def planned_in(log, project, content):
    from eventlog import plan

    plan(log, {"path": "AGENTS.md", "heading": "S", "content": content}, session="s", project=str(project))


def test_a_subagent_changes_nothing(log):
    log.append(
        {
            "type": "plan_entry",
            "conversation_id": "s",
            "subagent": "helper",
            "content": "x",
            "key": {"path": "user", "heading": "S"},
        }
    )

    assert apply_all(log).applied == []
    assert not user_md().exists()


def test_an_entry_for_no_knowledge_base_is_staged(log):
    log.append(
        {"type": "plan_entry", "conversation_id": "s", "content": "x", "key": {"path": "/etc/passwd", "heading": "S"}}
    )
    done = apply_all(log)

    assert ["'/etc/passwd' is not a knowledge base: entries write nowhere else"] == [one.reason for one in done.staged]


@pytest.mark.slow
@pytest.mark.parametrize("event_id", ["x/../../../out", "../out", "/out", "a\nb", "..", "é" * 300, "\0"])
def test_an_event_id_names_no_file_outside_the_staging_directory(tmp_path, clock, event_id):
    log = EventLog(tmp_path / "two" / "up" / "store", fsync=False, clock=clock)
    fields = {"id": event_id, "ts": "2026-02-20T10:00:00.000000Z", "type": "plan_entry", "conversation_id": "c"}
    entry = {**fields, "key": {"path": "user", "heading": "S"}, "content": "x"}
    (Path(log.store.log) / "2026-02-20.jsonl").parent.mkdir(parents=True)
    (Path(log.store.log) / "2026-02-20.jsonl").write_text(json.dumps(entry) + "\n")
    make_replica(log.store)
    before = everything(log)
    [staged] = apply_all(log, REVIEWED).staged

    assert {Path(log.store.staging, staged.name)} == everything(log) - before
    assert waiting(log, REVIEWED, event_id) == waiting(log, REVIEWED, staged.name) == [staged]


def everything(log):
    """All that lies in the store and three directories around it, but what may be deleted."""
    found = (path for path in Path(log.store.root).parents[2].rglob("*") if path.is_file())
    return {path for path in found if not path.is_relative_to(log.store.cache)}


def test_content_that_no_file_could_take_is_staged(log):
    log.append(
        {"type": "plan_entry", "conversation_id": "s", "content": "```\nopen", "key": {"path": "user", "heading": "S"}}
    )

    assert "open" in apply_all(log).staged[0].reason
    assert not user_md().exists()


def test_a_file_that_ends_inside_a_fence_takes_no_new_section(log):
    write_user("# T\n\n```\nopen\n")
    planned(log)

    assert len(apply_all(log).staged) == 1
    assert user_md().read_text() == "# T\n\n```\nopen\n"


def test_a_moved_base_is_written_anew_at_its_new_place(log):
    planned(log)
    apply_all(log)
    moved = Settings(knowledge_bases={"user": KnowledgeBase(path="~/elsewhere/ME.md")})
    apply_all(log, moved)

    assert (Path.home() / "elsewhere" / "ME.md").read_text() == "## S\n\nnew\n"
    assert edits(log) == []


def test_a_busy_file_leaves_the_entry_pending_and_says_so(log, monkeypatch):
    from eventlog.app.build import apply as module
    from eventlog.format import ids
    from eventlog.store.locks import lock

    monkeypatch.setattr(module, "_FIRST_WAIT", 0.01)
    planned(log)
    with lock(f"{log.store.cache}/locks/{ids.digest(str(user_md()), 12).hex()}.lock"):
        done = apply(log, SETTINGS)

    assert [
        ("~/.config/agents/USER.md", "is being written by another process, 3 times; the entries stay pending")
    ] == done.pending
    assert ["plan_entry"] == types(log)
    assert len(apply_all(log).applied) == 1


def test_a_file_saved_by_a_person_at_that_very_moment_is_not_overwritten(log, monkeypatch):
    from eventlog.app.build import storage

    planned(log)
    apply_all(log)
    planned(log, content="newer")
    saved = iter([b"## S\n\nsaved meanwhile\n"])
    write = storage.LocalFile.write

    def late(target, data):
        for text in saved:
            write_user(text)
        write(target, data)

    monkeypatch.setattr(storage.LocalFile, "write", late)
    done = apply_all(log)

    assert user_md().read_text() == "## S\n\nsaved meanwhile\n"
    assert ["newer"] == [one.entry.content for one in done.staged]


def test_a_directory_that_may_not_be_written_leaves_the_entry_pending(log):
    if os.geteuid() == 0:
        pytest.skip("root may write everywhere")
    user_md().parent.mkdir(parents=True)
    user_md().parent.chmod(0o500)
    planned(log)

    assert "this user has no permission" in apply(log, SETTINGS).pending[0][1]


def test_a_clock_that_was_ahead_once_keeps_no_file_from_settling(log, clock):
    planned(log, content="one")
    clock.now += 10**18
    apply(EventLog(log.store, fsync=False, clock=clock), SETTINGS)
    clock.now -= 10**18
    write_user("## S\n\nby hand\n")

    assert len(apply_all(EventLog(log.store, fsync=False, clock=clock)).edited) == 1
    assert rendered(log) == user_md().read_text() == "## S\n\nby hand\n"


def test_a_file_that_does_not_come_to_rest_is_left_after_some_rounds_and_said_so(log, monkeypatch):
    planned(log)
    apply_all(log)
    texts = map(str, itertools.count())
    at = Spelling("S", 2, ())
    monkeypatch.setattr(drift, "find_edits", lambda _ledger, file, *_: [drift.edit_event(file, at, next(texts))])
    done = apply(log, SETTINGS)

    assert [("~/.config/agents/USER.md", "is another in every round; what it says is in the log")] == done.pending
    assert len(done.edited) == done.stored < 20
