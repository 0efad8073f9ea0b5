"""The library as one object: what `import eventlog` gives a program of somebody else."""

import inspect
import subprocess
import sys
from importlib.metadata import version
from typing import ClassVar

import pytest
from msgspec import Struct

import eventlog
from eventlog import Document, Fact, InvalidEvent, Line, Memory, Projection, Store
from eventlog.format.errors import BadRequest
from tests.support.command_line import surroundings
from tests.support.synced import Memory as Synchronized
from tests.support.tree import ROOT


def run(*command):
    return subprocess.run(
        [sys.executable, *map(str, command)], env=surroundings(), cwd=ROOT, capture_output=True, text=True, check=False
    )


@pytest.mark.slow
def test_a_program_of_somebody_else_runs_as_it_is_type_checked(tmp_path):
    (tmp_path / "project").mkdir()
    ended = run("-m", "tests.typing.api", tmp_path / "store", tmp_path / "project")

    assert (0, "", "") == (ended.returncode, ended.stdout, ended.stderr)


@pytest.mark.slow
def test_importing_the_package_imports_no_library():
    ended = run("-c", "import sys; import eventlog; print(*{'msgspec', 'click', 'eventlog.log'} & set(sys.modules))")

    assert "" == ended.stdout.strip()


@pytest.mark.slow
def test_the_whole_library_comes_without_the_command_line():
    ended = run(
        "-c", "import sys; from eventlog import Memory; print(*{'click', 'rich', 'eventlog.cli'} & set(sys.modules))"
    )

    assert ("", "") == (ended.stdout.strip(), ended.stderr)


def test_the_version_is_that_of_the_package():
    assert version("agent-eventlog") == eventlog.__version__


def test_without_a_directory_it_is_the_store_of_this_machine(monkeypatch, tmp_path):
    monkeypatch.setenv("EVENTLOG_HOME", str(tmp_path / "mine"))

    assert Store(str(tmp_path / "mine")).root == Memory().log.store.root
    assert not (tmp_path / "mine").exists()


def test_settings_are_obeyed_from_the_next_call_on(tmp_path):
    memory = Memory(tmp_path / "store")
    memory.log.append(Fact(conversation_id="s", content="Likes tea", memory_type="O"))
    memory.replay()
    (tmp_path / "store" / "config.yaml").write_text("locale: zh\n")

    assert "MEMORY.md" in memory.replay().published.written


def test_only_a_real_start_leaves_a_receipt(tmp_path):
    memory = Memory(tmp_path / "store")
    memory.log.append(Fact(conversation_id="s", content="Likes tea", memory_type="O"))
    looked = memory.context()
    before = memory.query(types=["context_injected"])
    started = memory.context(session="new", agent="mine")

    assert "Likes tea" in looked.text
    assert [] == before
    assert "--session new" in started.text
    assert ["new"] == [event.conversation_id for event in memory.query(types=["context_injected"])]


def test_a_store_says_where_it_is(tmp_path):
    assert f"Memory('{tmp_path}')" == repr(Memory(tmp_path))
    assert f"EventLog('{tmp_path}')" == repr(Memory(tmp_path).log)


@pytest.mark.parametrize("given", ["x", 7, None, ["fact"]])
def test_what_is_no_event_is_refused_by_name(tmp_path, given):
    with pytest.raises(InvalidEvent, match=f"not {type(given).__name__}"):
        Memory(tmp_path).log.append(given)


def test_signatures_fit_a_hover():
    for name in ("replay", "query", "search", "why", "forget", "undo", "sessions"):
        assert len(str(inspect.signature(getattr(Memory, name)))) < 600, name


class _Count(Struct):
    """Which facts there are."""

    version: ClassVar[int] = 1

    facts: list[str] = []

    def fold(self, event):
        if isinstance(event, Fact):
            self.facts.append(event.id)

    def merge(self, other):
        self.facts += other.facts


def test_a_line_of_a_projection_of_ones_own_has_its_reasons(tmp_path):
    def render(state, settings):
        del settings
        yield Document("COUNT.md", (Line(f"{len(state.facts)} facts", tuple(sorted(state.facts))),))

    memory = Memory(tmp_path)
    said = memory.log.append(Fact(conversation_id="c", content="one"))
    memory.replay(projections=[Projection("count", _Count, render, ("COUNT.md",))])

    [line] = memory.why("COUNT.md", 1)

    assert [entry.event for entry in line.entries or ()] == [said]


@pytest.mark.slow
def test_a_program_edits_and_moves(tmp_path):
    memory = Memory(tmp_path)
    memory.log.append(Fact(conversation_id="c", project="/p/shop", content="Ports are odd"))

    memory.edit("Ports are odd", "Ports are even")
    memory.move("Ports are even", None)

    [page] = memory.known("/p/shop")
    assert page.lines[-1].endswith("Ports are even")
    memory.undo()
    memory.undo()
    assert any(line.endswith("Ports are odd") for line in memory.known("/p/shop")[0].lines)


def test_a_program_syncs(tmp_path):
    other = Synchronized(tmp_path, count=1)
    memory = Memory(other.machines[0].store, machine=other.machines[0].opened.machine)
    memory.log.append(Fact(conversation_id="c", content="The tea is green"))

    assert 1 == memory.sync().sent.total
    assert 0 == memory.sync(compact=True).sent.total
    assert ["The tea is green"] == other.another("m1").facts()
    with pytest.raises(BadRequest, match="does not sync"):
        Memory(tmp_path / "alone").sync()
