"""Entries write into the configured files and nowhere else."""

import os
from contextlib import suppress
from pathlib import Path

import pytest

from eventlog.app.build.storage import Refused, StorageBusy, storage_of
from eventlog.app.write.plan import plan
from eventlog.format.errors import BadRequest
from eventlog.projections.bases.base_file import BaseFile
from eventlog.settings.schema import KnowledgeBase, Settings
from tests.support.bases import SETTINGS, planned, user_md, write_user
from tests.support.use_cases import apply

BASES = SETTINGS.knowledge_bases


@pytest.mark.parametrize(
    "path",
    ["../USER.md", "~/../x", "/etc/passwd", "~/.ssh/authorized_keys", "USERS.md", "~/.config/agents/USER.md/../../x", "", ".", "~", "user/..",
     "C:\\x", "~root/x", "$HOME/x", "{project}/../x", "~/.config/agents"],
)  # fmt: skip
def test_a_path_that_is_no_knowledge_base_is_refused_when_it_is_declared(log, path):
    with pytest.raises(BadRequest, match=r"not a knowledge base|exactly one"):
        plan(log, {"path": path, "heading": "S", "content": "x"}, session="s", project="/p")
    assert list(log.read()) == []


@pytest.mark.parametrize(
    "url", ["https://example.com/x.md", "file:///etc/passwd", "ftp://x", "javascript:x", "file:///../x"]
)
def test_an_address_that_is_not_configured_is_refused(log, url):
    with pytest.raises(BadRequest, match="not a knowledge base"):
        plan(log, {"url": url, "heading": "S", "content": "x"}, session="s")


def test_a_file_address_of_a_base_is_that_base(log):
    plan(log, {"url": f"file://{user_md()}", "heading": "S", "content": "x"}, session="s")
    log_path_of_home = next(iter(log.read())).key

    assert log_path_of_home.url == f"file://{user_md()}"


def test_a_base_may_be_a_file_address(log, tmp_path):
    settings = Settings(knowledge_bases={"user": KnowledgeBase(url=f"file://{tmp_path}/U.md")})
    planned(log)
    apply(log, settings)

    assert (tmp_path / "U.md").read_text() == "## S\n\nnew\n"


def test_all_paths_of_a_base_become_its_name(log, tmp_path):
    (tmp_path / ".git").mkdir()
    ways = ["user", "~/.config/agents/USER.md", str(user_md())]
    inside = ["project", "AGENTS.md", "./AGENTS.md", f"{tmp_path}/AGENTS.md", "{project}/AGENTS.md"]
    stored = [
        plan(log, {"path": path, "heading": "S", "content": "x"}, session="s", project=str(tmp_path))[0]
        for path in ways + inside
    ]

    assert [one.key.path for one in stored] == ["user"] * 3 + ["project"] * 5


def test_a_file_of_projects_needs_one(log):
    with pytest.raises(BadRequest, match="no project is given"):
        plan(log, {"path": "project", "heading": "S", "content": "x"}, session="s")


def refused(log):
    done = apply(log, SETTINGS)
    assert done.applied == []
    return [one.reason for one in done.staged]


@pytest.mark.parametrize("link", ["file", "directory"])
def test_a_link_out_of_the_tree_is_refused_and_what_it_leads_to_stays(log, tmp_path, link):
    outside = tmp_path / "outside"
    outside.mkdir()
    (outside / "USER.md").write_text("theirs\n")
    user_md().parent.parent.mkdir(parents=True)
    if link == "directory":
        user_md().parent.symlink_to(outside)
    else:
        user_md().parent.mkdir()
        user_md().symlink_to(outside / "USER.md")
    planned(log)

    assert "a symbolic link leads out of" in refused(log)[0]
    assert (outside / "USER.md").read_text() == "theirs\n"


@pytest.mark.parametrize("moment", ["read", "write", "write of a new file"])
@pytest.mark.parametrize("what", ["file", "directory"])
def test_a_link_that_takes_a_place_after_it_was_looked_at_leads_nowhere(tmp_path, moment, what):
    """A sandboxed agent may write in the project, and plant it at any moment."""
    project, outside = tmp_path / "p", tmp_path / "outside"
    for directory in (project / "docs", outside):
        directory.mkdir(parents=True)
        if moment != "write of a new file":
            (directory / "NOTES.md").write_text("same\n")
    bases = {"notes": KnowledgeBase(path="{project}/docs/NOTES.md")}
    target = storage_of(BaseFile("notes", str(project)), bases, str(Path.home()))
    assert target
    if moment != "read":
        target.read()

    planted = project / "docs" / ("NOTES.md" if what == "file" else "")
    if planted.exists():
        planted.rename(tmp_path / "moved")
    planted.symlink_to(outside / "NOTES.md" if what == "file" else outside)
    before = {path: path.read_bytes() for path in outside.iterdir()}

    with suppress(Refused, StorageBusy):
        if moment == "read":
            assert target.read() is None
            pytest.fail("what is outside was read")
        target.write(b"taken over\n")

    assert before == {path: path.read_bytes() for path in outside.iterdir()}


def test_a_hard_link_to_a_file_outside_leaves_that_as_it_is(log, tmp_path):
    outside = tmp_path / "outside.md"
    outside.write_text("theirs\n")
    user_md().parent.mkdir(parents=True)
    user_md().hardlink_to(outside)
    planned(log)
    apply(log, SETTINGS)

    assert "theirs\n" == outside.read_text()
    assert "new" in user_md().read_text()


def test_a_link_in_a_project_may_not_lead_to_the_home(log, tmp_path):
    (tmp_path / "p").mkdir()
    (tmp_path / "p" / "AGENTS.md").symlink_to(Path.home() / ".bashrc")
    plan(log, {"path": "AGENTS.md", "heading": "S", "content": "x"}, session="s", project=str(tmp_path / "p"))

    assert "leads out of" in refused(log)[0]
    assert not (Path.home() / ".bashrc").exists()


def test_nothing_is_written_inside_git(log, tmp_path):
    (tmp_path / ".git").mkdir()
    (tmp_path / "AGENTS.md").symlink_to(tmp_path / ".git" / "config")
    plan(log, {"path": "AGENTS.md", "heading": "S", "content": "x"}, session="s", project=str(tmp_path))

    assert refused(log) == ["nothing is ever written inside .git"]


@pytest.mark.parametrize("make", [lambda path: path.mkdir(), os.mkfifo, lambda path: path.symlink_to(path)])
def test_directories_devices_and_circles_are_refused(log, make):
    user_md().parent.mkdir(parents=True)
    make(user_md())
    planned(log)

    assert len(refused(log)) == 1


def test_once_the_obstacle_is_gone_the_entry_arrives_and_its_staged_file_goes(log):
    user_md().mkdir(parents=True)
    planned(log)
    refused(log)
    there = list(Path(log.store.staging).iterdir())
    user_md().rmdir()
    apply(log, SETTINGS)

    assert (1, []) == (len(there), list(Path(log.store.staging).iterdir()))
    assert user_md().read_text() == "## S\n\nnew\n"


@pytest.mark.parametrize("data", [b"\xff\xfe#\x00", b"a\0b"])
def test_a_file_that_is_no_text_is_left_alone(log, data):
    write_user(data)
    planned(log)

    assert refused(log) == ["is not UTF-8 text"]
    assert data == user_md().read_bytes()


def test_a_file_that_changed_since_it_was_read_is_busy():
    write_user("one\n")
    target = storage_of(BaseFile("user"), BASES, str(Path.home()))
    assert target
    target.read()
    write_user("two\n")

    with pytest.raises(StorageBusy):
        target.write(b"three\n")
    assert user_md().read_text() == "two\n"


def test_an_interrupted_write_leaves_nothing_beside_the_file(log, monkeypatch):
    write_user("# T\n")
    planned(log)
    monkeypatch.setattr(os, "replace", lambda *_: interrupt())
    with pytest.raises(KeyboardInterrupt):
        apply(log, SETTINGS)

    assert [user_md()] == list(user_md().parent.iterdir())
    assert "# T\n" == user_md().read_text()


def interrupt():
    raise KeyboardInterrupt


def test_what_a_killed_writer_left_is_swept_up_and_nothing_else(log):
    write_user("# T\n")
    left, own = user_md().with_name("USER.md.0a1b2c3d.tmp"), user_md().with_name("USER.md.mine.tmp")
    left.write_text("half")
    own.write_text("mine")
    planned(log)
    apply(log, SETTINGS)

    assert {user_md(), own} == set(user_md().parent.iterdir())


def test_a_target_that_is_refused_says_where():
    user_md().mkdir(parents=True)

    with pytest.raises(Refused) as caught:
        storage_of(BaseFile("user"), BASES, str(Path.home()))
    assert caught.value.where == "~/.config/agents/USER.md"


@pytest.mark.parametrize("links", [{"USER.md": "USER.md"}, {"USER.md": "other", "other": "USER.md"}])
def test_links_in_a_circle_are_refused(tmp_path, links):
    for name, target in links.items():
        (tmp_path / name).symlink_to(tmp_path / target)
    base = {"user": KnowledgeBase(path=str(tmp_path / "USER.md"))}

    with pytest.raises(Refused, match="cannot be looked at"):
        storage_of(BaseFile("user"), base, str(tmp_path))
