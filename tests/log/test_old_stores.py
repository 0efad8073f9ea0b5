"""A store that an earlier program left goes on: nothing of it is lost, doubled, or taken for a person's words."""

import json
import re
import shutil
import tarfile
from pathlib import Path

import pytest

from eventlog import EventLog
from eventlog.log.verify import verify
from tests.support.command_line import call
from tests.support.tree import ROOT

pytestmark = pytest.mark.slow

STORES = ROOT / "fixtures" / "stores"
NAMES = sorted(path.name for path in STORES.iterdir())
KNOWN = ("The heron index lives in storks.db", "The deploy port is 9090", "Newts are a person's words")
GONE = ("The otter is a secret beast", "The deploy port is 8080")


@pytest.fixture(params=NAMES)
def old(request, home, tmp_path):
    """A store of an earlier program, in the home of its person."""
    shutil.copytree(STORES / request.param / "home", home, dirs_exist_ok=True)
    shutil.copytree(STORES / request.param / "store", tmp_path / "store")
    return EventLog(tmp_path / "store", fsync=False)


def memory(log):
    [path] = Path(log.store.knowledge).glob("projects/*/MEMORY.md")
    return path


def bullets(path):
    """The lines of a memory, without how often each was said: the first program did not tell that everywhere."""
    lines = path.read_text().splitlines()
    return [re.sub(r"^(- \[[0-9-]+) ×[0-9]+\]", r"\1]", line) for line in lines if line.startswith("- ")]


def test_it_says_what_it_said_and_nothing_is_appended(old, home):
    events, before, here = list(old.read()), bullets(memory(old)), ("--store", old.store.root)
    base = (home / ".config/agents/USER.md").read_bytes()
    for verb in (["search", "heron"], ["memory", "shop"], ["replay"], ["replay", "--check"], ["apply"]):
        assert 0 == call(*verb, *here).code
    after = bullets(memory(old))

    assert events == list(old.read())
    assert (before, len(after)) == (after, len(set(after)))
    assert [True] * len(KNOWN) == [any(text in line for line in after) for text in KNOWN]
    assert not any(text in call("search", text, *here).out for text in GONE)
    assert base == (home / ".config/agents/USER.md").read_bytes()
    assert not [*Path(old.store.knowledge).rglob("*.edited-*")]
    assert [] == verify(old).damage


def test_a_line_a_person_added_to_it_is_one_fact_and_one_they_took_out_is_retracted_or_set_aside(old):
    path, events = memory(old), {event.id for event in old.read()}
    lines = [line for line in path.read_text().splitlines(keepends=True) if KNOWN[0] not in line]
    lines.insert(-1, "- Toads come back in March\n\n")
    path.write_text("".join(lines))
    assert 0 == call("replay", "--store", old.store.root).code

    new = [event for event in old.read() if event.id not in events]
    added, others = [event for event in new if event.type == "fact"], [event for event in new if event.type != "fact"]
    copies = [*Path(old.store.knowledge).rglob("*.edited-*")]  # where today's program renders what it was otherwise
    assert (["Toads come back in March"], 1) == ([event.content for event in added], len(others) + len(copies))
    assert all(event.type == "retraction" for event in others)


def test_a_backup_of_it_is_restored(old, tmp_path, request):
    backup = STORES / request.node.callspec.params["old"] / "backup"
    if not backup.is_dir():
        pytest.skip("it had no backups")
    with tarfile.open(tmp_path / "a.tar", "w") as tar:
        for name in [*json.loads((backup / "manifest.json").read_text())["files"], "manifest.json"]:
            tar.add(backup / name, name)
    other = EventLog(tmp_path / "other", fsync=False)
    assert 0 == call("backup", "restore", tmp_path / "a.tar", "--store", other.store.root).code
    assert {event.id for event in old.read()} <= {event.id for event in other.read()}
    assert bullets(memory(old)) == bullets(memory(other))
