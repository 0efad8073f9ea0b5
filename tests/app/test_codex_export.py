from pathlib import Path

import pytest
from click.testing import CliRunner

from eventlog.app.build.codex_export import export
from eventlog.cli.group import VerbGroup
from eventlog.settings.schema import CodexMemorySettings, Settings
from eventlog.store import project_slug
from tests.support.context_scene import history

ON = Settings(codex_memory=CodexMemorySettings(enabled=True))


@pytest.fixture
def scene(tmp_path):
    scene = history(tmp_path, ON).replay()
    (scene.home / ".codex").mkdir()
    return scene


def memories(scene):
    return scene.home / ".codex/memories"


def exported(scene, settings=ON):
    return export(scene.log.store, settings, str(scene.home), {})


def copy_of(scene):
    return memories(scene) / f"eventlog-{project_slug(str(scene.project))}.md"


def test_it_is_off_by_default(scene):
    exported(scene, Settings())

    assert not memories(scene).exists()


def test_what_is_known_about_each_project_is_copied(scene):
    done = exported(scene)

    assert sorted(path.name for path in memories(scene).iterdir()) == sorted(done.written)
    assert len(done.written) == 2
    assert "Tokens are signed with RS256" in copy_of(scene).read_text()


def test_what_is_known_about_the_user_is_not(scene):
    exported(scene)

    assert not [path for path in memories(scene).iterdir() if "Prefers pytest" in path.read_text()]


def test_again_without_news_writes_nothing(scene):
    exported(scene)
    done = exported(scene)

    assert ([], [], []) == (done.written, done.removed, done.left)


def test_what_is_no_longer_known_is_removed(scene):
    exported(scene)
    for session in ("old", "mid", "yesterday", "today"):
        scene.tell(("21 10:00", "f", "retraction", {"conversation": session}))
    scene.replay()

    assert [copy_of(scene).name] == exported(scene).removed


def test_files_of_others_are_never_touched(scene):
    memories(scene).mkdir()
    (memories(scene) / "MEMORY.md").write_text("Codex's own")
    (memories(scene) / "eventlog-notes.md").write_text("somebody's")
    done = exported(scene)

    assert (memories(scene) / "MEMORY.md").read_text() == "Codex's own"
    assert (memories(scene) / "eventlog-notes.md").read_text() == "somebody's"
    assert done.left == ["eventlog-notes.md"]


def test_a_copy_somebody_has_changed_is_left(scene):
    exported(scene)
    copy_of(scene).write_text("changed")
    done = exported(scene)

    assert copy_of(scene).read_text() == "changed"
    assert copy_of(scene).name in done.left


def test_where_it_was_turned_off_the_copies_go_but_for_what_somebody_has_changed(scene):
    exported(scene)
    [changed] = set(memories(scene).glob("eventlog-*.md")) - {copy_of(scene)}
    changed.write_text("changed")
    anothers = memories(scene) / "eventlog-of-another-store.md"
    anothers.write_bytes(copy_of(scene).read_bytes())
    done = exported(scene, Settings())

    assert ([], [copy_of(scene).name], []) == (done.written, done.removed, done.left)
    assert sorted(memories(scene).iterdir()) == sorted([changed, anothers])
    assert changed.read_text() == "changed"


def test_a_copy_goes_of_a_project_nothing_is_known_of_since_it_was_turned_off(scene):
    exported(scene)
    for session in ("old", "mid", "yesterday", "today"):
        scene.tell(("21 10:00", "f", "retraction", {"conversation": session}))
    scene.replay()
    exported(scene, Settings())

    assert [] == list(memories(scene).iterdir())


def test_a_copy_goes_that_lies_where_none_is_made_any_more(scene, tmp_path):
    exported(scene)
    (tmp_path / "moved").mkdir()
    export(scene.log.store, ON, str(scene.home), {"CODEX_HOME": str(tmp_path / "moved")})

    assert [] == list(memories(scene).iterdir())
    assert list(tmp_path.glob("moved/memories/eventlog-*.md"))


def test_nothing_is_read_back(scene):
    exported(scene)
    (memories(scene) / "memory.md").write_text("- From Codex")
    before = len(list(scene.log.read()))
    exported(scene)

    assert before == len(list(scene.log.read()))


def test_where_codex_lives_elsewhere_the_copies_go_there(scene, tmp_path):
    export(scene.log.store, ON, str(scene.home), {"CODEX_HOME": str(tmp_path / "moved")})
    before = list(tmp_path.glob("moved/**/*.md"))
    (tmp_path / "moved").mkdir()
    export(scene.log.store, ON, str(scene.home), {"CODEX_HOME": str(tmp_path / "moved")})

    assert [] == before
    assert copy_of(scene).name in [path.name for path in tmp_path.glob("moved/memories/*.md")]
    assert not memories(scene).exists()


def test_where_codex_has_never_been_nothing_is_created(scene):
    (scene.home / ".codex").rmdir()
    exported(scene)

    assert not (scene.home / ".codex").exists()


@pytest.mark.slow
@pytest.mark.parametrize("verb", ["replay", "settle"])
def test_it_follows_every_replay_into_the_store(scene, verb, monkeypatch):
    monkeypatch.setenv("HOME", str(scene.home))
    Path(scene.log.store.config).write_text("codex_memory: {enabled: true}\n")
    result = CliRunner().invoke(VerbGroup(), [verb, "--store", scene.log.store.root], standalone_mode=False)

    assert result.exception is None
    assert f"copied     codex_memory: {copy_of(scene).name}" in result.output
    assert copy_of(scene).exists()


@pytest.mark.parametrize("args", [["--check"], ["--out", "out"]])
def test_a_replay_elsewhere_or_a_check_copies_nothing(scene, args, monkeypatch, tmp_path):
    monkeypatch.setenv("HOME", str(scene.home))
    monkeypatch.chdir(tmp_path)
    Path(scene.log.store.config).write_text("codex_memory: {enabled: true}\n")
    CliRunner().invoke(VerbGroup(), ["replay", *args, "--store", scene.log.store.root], standalone_mode=False)

    assert not memories(scene).exists()
