"""The applier is killed at every step that changes anything on disk: no half file, nothing lost, the next run completes it."""

from pathlib import Path

import pytest

from eventlog import EventLog
from tests.support.bases import SETTINGS, apply_all, edits, planned, rendered, user_md, write_user
from tests.support.effort import stride
from tests.support.faults import KILLED, killed
from tests.support.use_cases import apply

DONE = 0
BEFORE = "# T\n\n## Old\n\nlong ago\n\n## A\n\nby hand\n\n## B\n\none\n"
AFTER = "# T\n\n## Old\n\nlong ago\nfrom an agent\n\n## A\n\nby hand\n\n## B\n\ntwo\n\n## C\n\nnew\n"


@pytest.fixture
def busy_store(log):
    """Everything at once: a section to take over, an edit by hand, a conflict, a revision, and a new section."""
    write_user("# T\n\n## Old\n\nlong ago\n")
    planned(log, "A", "agent's")
    planned(log, "B", "one")
    apply_all(log)
    write_user(BEFORE)
    planned(log, "Old", "long ago\nfrom an agent")
    planned(log, "A", "agent's again")
    planned(log, "B", "two")
    planned(log, "C", "new")
    return log


def killed_at(log, step):
    """Apply in a process of its own that dies just before its `step`-th call that writes; the exit code."""

    def applied():
        apply(log, SETTINGS)
        return DONE

    return killed(applied, step)


@pytest.mark.slow
@pytest.mark.fuzz
@pytest.mark.filterwarnings("ignore:This process:DeprecationWarning")  # fork beside xdist's thread; nothing is shared
def test_killed_anywhere_the_next_run_completes_it(busy_store, clock):
    log, step, code, root = busy_store, 0, KILLED, Path(busy_store.store.root)
    events = sum(1 for _ in log.read())
    logged = {path: path.read_bytes() for path in root.rglob("*.jsonl")}
    while code == KILLED:
        for path, data in logged.items():
            path.write_bytes(data)
        for staged in (root / "staging").glob("*"):
            staged.unlink()
        write_user(BEFORE)
        code = killed_at(log, step)
        clock.now += 10**9  # the time the child has used
        left = user_md().read_text()
        apply_all(log)

        assert left in (BEFORE, AFTER)
        assert user_md().read_text() == AFTER
        assert sorted(one.content for one in edits(log)) == ["by hand", "long ago"]
        assert [one.name[-9:] for one in (root / "staging").glob("*.yaml")] == [f"{waiting(log)[0].entry.id[-4:]}.yaml"]
        assert sum(1 for _ in log.read()) == events + 2 + 3
        step += stride(3)

    assert (DONE, True) == (code, step > 10)


def waiting(log):
    return apply(log, SETTINGS, dry_run=True).staged


def test_what_was_written_but_not_told_is_no_edit_of_a_person(log, monkeypatch):
    planned(log, content="one")
    apply_all(log)
    planned(log, content="two")
    with monkeypatch.context() as patch:
        patch.setattr(EventLog, "put", interrupt)
        with pytest.raises(KeyboardInterrupt):
            apply(log, SETTINGS)
    written = user_md().read_text()
    planned(log, content="three")
    apply_all(log)

    assert written == "## S\n\ntwo\n"
    assert user_md().read_text() == rendered(log) == "## S\n\nthree\n"
    assert edits(log) == []


def interrupt(*_args, **_options):
    raise KeyboardInterrupt
