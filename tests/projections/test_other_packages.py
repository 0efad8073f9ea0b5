"""A view of another package: found by its entry point, replayed beside ours, and harmless when it is broken."""

import importlib
import json
import sys
from pathlib import Path

import pytest

from eventlog import fold
from eventlog.format.errors import BadRequest
from eventlog.projections.catalog import ALL, chosen, installed
from eventlog.settings.schema import Settings
from tests.support.builders import fact, replay
from tests.support.command_line import call
from tests.support.use_cases import explain, rebuild

VIEW = '''
from collections.abc import Iterable
from typing import ClassVar

from msgspec import Struct

from eventlog.format.events import AnyEvent, Fact
from eventlog.projections.base import Document, Line, Projection
from eventlog.settings.schema import Settings


class Loud(Struct):
    """The facts that shout."""

    version: ClassVar[int] = 1

    said: dict[str, str] = {}

    def fold(self, event: AnyEvent) -> None:
        if isinstance(event, Fact) and event.content.isupper():
            self.said[event.id] = event.content

    def merge(self, other: "Loud") -> None:
        self.said |= other.said


def render(state: Loud, settings: Settings) -> Iterable[Document]:
    if state.said:
        yield Document("LOUD.txt", tuple(Line(text, (event,)) for event, text in sorted(state.said.items())))


LOUD = Projection(name="loud", state=Loud, render=render, owns=("LOUD.txt",))
'''


@pytest.fixture
def install(tmp_path, monkeypatch):
    """Install a package of one module, whose entry point `loud` is `NAME:LOUD`; each under a name of its own."""
    monkeypatch.syspath_prepend(str(tmp_path))
    installed.cache_clear()

    def install(source, name="loud_view", point="loud"):
        (tmp_path / f"{name}.py").write_text(source)
        metadata = tmp_path / f"{name}-1.0.dist-info"
        metadata.mkdir()
        (metadata / "METADATA").write_text(f"Metadata-Version: 2.1\nName: {name}\nVersion: 1.0\n")
        (metadata / "entry_points.txt").write_text(f"[eventlog.projections]\n{point} = {name}:LOUD\n")
        sys.modules.pop(name, None)
        importlib.invalidate_caches()
        installed.cache_clear()

    yield install
    installed.cache_clear()


@pytest.fixture
def told(log):
    log.append_many([fact(1, content="SHIP IT"), fact(2, content="quiet"), fact(3, content="LATER", day="2026-02-24")])
    return log


def _file(log):
    return Path(log.store.knowledge, "LOUD.txt")


def _ours(log):
    return {document.path: document.data for document in replay(log, Settings(), anew=True).documents}


def test_as_of_a_moment_it_says_what_was_said_until_then_though_the_whole_day_is_kept(install, log):
    install(VIEW)
    common = {"type": "fact", "conversation_id": "c"}
    log.append({**common, "content": "SHIP IT", "ts": "2026-02-20T10:00:00Z"})
    log.append({**common, "content": "LATER", "ts": "2026-02-20T12:00:00Z"})
    rebuild(log, Settings())
    then = replay(log, Settings(), projections=chosen(["loud"]), until="2026-02-20T11:00:00.000000Z", save=False)

    assert b"SHIP IT\nLATER\n" == _file(log).read_bytes()
    assert [b"SHIP IT\n"] == [document.data for document in then.documents if document.path == "LOUD.txt"]


def test_its_files_are_rebuilt_beside_ours(install, told):
    install(VIEW)
    ours = _ours(told)
    done = rebuild(told, Settings())

    assert "SHIP IT\nLATER\n" == _file(told).read_text()
    assert ours.keys() < {document.path for document in done.replayed.documents}
    assert ours.items() <= {document.path: document.data for document in done.replayed.documents}.items()


def test_its_state_is_kept_from_one_replay_to_the_next(install, told, monkeypatch):
    install(VIEW)
    rebuild(told, Settings())
    monkeypatch.setattr("eventlog.log.days.Day.load", lambda _: pytest.fail("a day is read again"))
    (document,) = replay(told, Settings(), projections=chosen(["loud"])).documents

    assert _file(told).read_bytes() == document.data


def _by_parts(log, wanted=None):
    """What a log says, folded day by day from bytes."""
    read = [
        fold.DayBytes("", day.date, tuple((file, Path(file).read_bytes()) for file in day.files)) for day in log.days()
    ]
    views = installed().projections
    return fold.replayed(
        fold.merge([fold.fold_day(day, projections=views) for day in read]), Settings(), wanted or views
    )


def test_its_state_travels_in_parts(install, told):
    install(VIEW)
    done = _by_parts(told)

    assert {**_ours(told), "LOUD.txt": b"SHIP IT\nLATER\n"} == {one.path: one.data for one in done.documents}
    assert _ours(told) == {one.path: one.data for one in _by_parts(told, ALL).documents}


def test_one_whose_fold_fails_is_told_of_by_whoever_renders_the_parts(install, told):
    install(VIEW.replace("self.said[event.id] =", "1 / 0  #"))
    done = _by_parts(told)

    assert _ours(told) == {one.path: one.data for one in done.documents}
    assert {"loud": "ZeroDivisionError: division by zero"} == done.broken


def test_one_whose_state_is_no_data_cannot_travel_and_is_told_of(install, told):
    said = "said: dict[str, object] = field(default_factory=lambda: {'': print})"
    source = VIEW.replace("said: dict[str, str] = {}", said).replace("import Struct", "import Struct, field")
    install(source)
    done = _by_parts(told)

    assert _ours(told) == {one.path: one.data for one in done.documents}
    assert "TypeError: " in done.broken["loud"]


def test_it_is_asked_for_by_name(install, told, tmp_path):
    install(VIEW)
    out = tmp_path / "out"
    call("replay", "--projection", "loud", "--out", out, "--store", told.store.root)

    assert ["LOUD.txt"] == [path.name for path in out.iterdir()]


def test_each_of_its_lines_has_a_reason(install, told):
    install(VIEW)
    rebuild(told, Settings())
    [first, _] = explain(told, Settings(), _file(told))

    assert ["SHIP IT"] == [entry.event.content for entry in first.entries]


BROKEN = {
    "does not import": ("import nothing_there", "ModuleNotFoundError: No module named 'nothing_there'"),
    "is no projection": ("LOUD = 1", "loud_view:LOUD is no Projection"),
    "renders nothing": (VIEW.replace("render=render", "render=None"), "it has no `render`"),
    "has another's name": (VIEW.replace('name="loud"', 'name="memory"'), "loud_view:LOUD calls itself 'memory'"),
    "owns our files": (
        VIEW.replace('owns=("LOUD', 'owns=("*.md", "LOUD'),
        "it owns '*.md', and memory owns 'MEMORY.md'",
    ),
    "owns what is elsewhere": (VIEW.replace('owns=("', 'owns=("../'), "it owns '../LOUD.txt', which is no pattern"),
    "cannot merge": (VIEW.replace("def merge", "def blend"), "its state lacks version, fold or merge"),
}


@pytest.mark.slow
@pytest.mark.parametrize("how", BROKEN)
def test_one_that_cannot_be_used_is_reported_and_the_rest_goes_on(install, told, how):
    source, reason = BROKEN[how]
    install(source)
    report = json.loads(call("replay", "--json", "--store", told.store.root).out)

    assert report["broken_projections"]["loud"].startswith(reason)
    assert ALL == installed().projections
    assert Path(told.store.knowledge, "sessions.jsonl").exists()
    with pytest.raises(BadRequest, match="cannot be used"):
        chosen(["loud"])


FAILING = {
    "folding": ("self.said[event.id]", "ZeroDivisionError"),
    "merging": ("self.said |= other.said", "ZeroDivisionError"),
    "rendering": ('yield Document("LOUD.txt"', "ZeroDivisionError"),
}


@pytest.mark.parametrize("step", FAILING)
def test_one_that_fails_is_reported_keeps_its_files_and_costs_the_others_nothing(install, told, step):
    line, error = FAILING[step]
    install(VIEW.replace(line, f"1 / 0; {line}"))
    _file(told).parent.mkdir(parents=True)
    _file(told).write_text("as it was\n")
    ours = _ours(told)
    done = rebuild(told, Settings())

    assert done.replayed.broken["loud"].startswith(error)
    assert ours == {document.path: document.data for document in done.replayed.documents}
    assert "as it was\n" == _file(told).read_text()


def test_it_renders_nothing_that_is_not_its_own(install, told):
    install(VIEW.replace('Document("LOUD.txt"', 'Document("../LOUD.txt"'))
    done = rebuild(told, Settings())

    assert "'../LOUD.txt', which it does not own" in done.replayed.broken["loud"]
    assert not Path(told.store.knowledge, "..", "LOUD.txt").exists()


def test_a_state_that_is_no_data_does_not_cost_the_others_what_is_kept(install, told):
    install(
        VIEW.replace("(Struct)", "").replace("    said: dict[str, str] = {}", "    def __init__(self): self.said = {}")
    )
    replay(told, Settings(), projections=chosen([]))

    assert 0 == replay(told, Settings()).days_folded


def test_two_packages_never_share_a_name_or_files(install, told):
    install(VIEW)
    install(VIEW.replace('name="loud"', 'name="louder"'), "louder_view", "louder")

    assert {"louder": "it owns 'LOUD.txt', and loud owns 'LOUD.txt'"} == installed().broken
