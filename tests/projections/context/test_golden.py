"""Whole contexts, compared with what they should be; fixtures/README.md says what each shows."""

from pathlib import Path
from tempfile import TemporaryDirectory

import pytest

from eventlog.format import codec, ids, timestamps
from eventlog.format.events import Fact
from eventlog.projections.views.keyword_index import KEYWORD_INDEX
from eventlog.projections.views.memory import MEMORY
from eventlog.projections.views.summaries import SUMMARIES
from eventlog.settings.schema import Settings
from tests.support.builders import write
from tests.support.context_scene import GOLDEN, HEAD, NOW, Scene, history


@pytest.fixture
def place():
    """A directory whose name is always of the same length: where a text is cut depends on the paths in it."""
    with TemporaryDirectory(prefix="scene-", dir="/tmp") as directory:
        yield Path(directory)


FLUSH = "[eventlog] The context is being compacted. Save what must not be lost.\n\n"
MANY = 10_000


def _new(path):
    return history(path).replay().text(source="startup")


def _in_chinese(path):
    return history(path, Settings(locale="zh")).replay().text(source="startup")


def _resumed(path):
    return history(path).replay().text(source="resume", session_id="yesterday")


def _compacted(path):
    """Nothing was replayed since the session's own summary."""
    return history(path).text(source="compact", session_id="today", instructions=FLUSH + HEAD)


def _shared(path):
    return history(path).replay().text(source="startup", session_type="shared")


def _empty(path):
    scene = Scene(path)
    for file in (*scene.home.rglob("*.md"),):
        file.unlink()
    return scene.text(source="startup")


def _many(path):
    """A year of facts, told over and over by the hundred in each of a hundred conversations."""
    scene = Scene(path)
    step = 365 * 86_400 / MANY
    end = timestamps.to_ms(NOW) / 1000
    lines: dict[str, list[bytes]] = {}
    for number in range(MANY):
        ts = timestamps.from_ns(int((end - (MANY - number) * step) * 1e9))
        fact = Fact(
            id=ids.derived(timestamps.to_ms(ts), str(number)),
            ts=ts,
            conversation_id=f"c{number // 100:04}",
            project=str(scene.project),
            content=f"Fact {number}, as long as facts usually are when agents write them down",
            importance=1 + number % 5,
            entities=[f"entity-{number % 700}"],
        )
        lines.setdefault(ts[:10], []).append(codec.encode(fact) + b"\n")
    for day, written in lines.items():
        write(scene.log.store.log, b"".join(written), f"{day}.jsonl")
    return scene.replay([MEMORY, SUMMARIES, KEYWORD_INDEX]).text(source="startup")


def _huge(path):
    scene = history(path).replay()
    lines = [f"- Rule {number}: do not break rule {number - 1}\n" for number in range(5400)]
    (scene.project / "AGENTS.md").write_text("".join(lines))
    assert (scene.project / "AGENTS.md").stat().st_size > 190_000
    return scene.text(source="startup")


def _unreadable(path):
    """One that was never read before, and one that was."""
    scene = history(path).replay()
    _spoil(scene.home / ".config/agents/TOOLS.md")
    scene.ask()
    _spoil(scene.home / ".config/agents/SOUL.md")
    return scene.text(source="startup") + _fared(scene)


def _spoil(file):
    file.unlink()
    file.mkdir()


def _escaping(path):
    """Links out of the workspace, and out of the project."""
    scene = history(path).replay()
    (scene.path / "secret.md").write_text("SECRET")
    for file in (scene.home / ".config/agents/user/profile.md", scene.project / "AGENTS.md"):
        file.unlink()
        file.symlink_to(scene.path / "secret.md")
    return scene.text(source="startup") + _fared(scene)


def _beside(path):
    """A workspace whose name only begins like that of the right one."""
    scene = history(path).replay()
    beside = scene.home / ".config/agents2"
    beside.mkdir()
    (beside / "TOOLS.md").write_text("SECRET")
    (scene.home / ".config/agents/TOOLS.md").unlink()
    (scene.home / ".config/agents/TOOLS.md").symlink_to("../agents2/TOOLS.md")
    return scene.text(source="startup") + _fared(scene)


def _fared(scene):
    results = scene.ask(source="startup").context.results
    return "\n" + scene.plain("".join(f"{one.file_path}: {one.error}\n" for one in results if one.error))


CASES = {
    "new": _new, "new-zh": _in_chinese, "resumed": _resumed, "compacted": _compacted, "shared": _shared,
    "empty": _empty, "many": _many, "huge": _huge, "unreadable": _unreadable, "escaping": _escaping, "beside": _beside,
}  # fmt: skip


@pytest.mark.slow
@pytest.mark.parametrize("case", CASES)
def test_a_context_is_exactly_what_it_should_be(place, case):
    assert (GOLDEN / "expected" / f"{case}.md").read_text() == CASES[case](place)


@pytest.mark.parametrize("case", [path.stem for path in (GOLDEN / "expected").iterdir()])
def test_no_expected_context_is_longer_than_the_budget(case):
    text = (GOLDEN / "expected" / f"{case}.md").read_text()

    assert len(text.partition("\n\n/home")[0]) <= 9000
    assert "SECRET" not in text
