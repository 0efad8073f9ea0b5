import os
from datetime import UTC, datetime
from pathlib import Path

import pytest

from eventlog.app.serve.context_loader import Loader
from eventlog.projections.context import context_files
from eventlog.projections.context.agent_context import ContextFile
from eventlog.projections.context.request import ContextRequest
from eventlog.settings.schema import KnowledgeBase, Settings
from eventlog.store import Store

NOW = datetime(2026, 2, 21, tzinfo=UTC)


@pytest.fixture
def root(tmp_path):
    path = tmp_path / "workspace"
    path.mkdir()
    return path


def file(root, name="AGENTS.md", **fields):
    return ContextFile(name, str(root / name), str(root), **fields)


def load(root, name="AGENTS.md", **fields):
    return Loader(str(root.parent / "cache"), creates=True).load(file(root, name, **fields))


def test_a_file_is_loaded_as_it_is(root):
    (root / "AGENTS.md").write_bytes("# Règles\n".encode())
    result = load(root)

    assert (True, "# Règles\n", None) == (result.success, result.content, result.error)
    assert (result.from_cache, result.is_default) == (False, False)


@pytest.mark.parametrize(
    ("data", "text"),
    [
        (b"\xef\xbb\xbfmark", "mark"),
        (b"one\r\ntwo", "one\ntwo"),
        (b"", ""),
        (b"x" * (1 << 21), "x" * (1 << 20)),
    ],
    ids=["byte order mark", "CRLF", "empty", "two mebibytes"],
)
def test_bytes_of_every_kind_become_text(root, data, text):
    (root / "AGENTS.md").write_bytes(data)

    assert text == load(root).content


@pytest.mark.parametrize(
    ("data", "error"),
    [
        (b"good \xff good", "is not UTF-8: byte 5 cannot be read"),
        (b"a\0b", "is not text: it holds a NUL, at character 1"),
    ],
)
def test_what_is_no_text_never_reaches_a_prompt(root, data, error):
    (root / "AGENTS.md").write_bytes(data)
    result = load(root)

    assert (False, None, error) == (result.success, result.content, result.error)


def test_a_character_that_is_cut_at_the_limit_makes_no_file_unreadable(root):
    (root / "AGENTS.md").write_bytes(b"x" + "é".encode() * (1 << 20))

    assert load(root).success


@pytest.mark.parametrize(("required", "error"), [(True, "is missing"), (False, None)])
def test_a_missing_file_is_not_loaded_and_an_error_only_where_it_is_required(root, required, error):
    result = load(root, required=required)

    assert (None, error, False) == (result.content, result.error, result.success)


def test_a_missing_file_with_a_template_is_created(root):
    result = load(root, default_template="# Template\n")

    assert (result.success, result.is_default, result.content) == (True, True, "# Template\n")
    assert (root / "AGENTS.md").read_text() == "# Template\n"


def test_a_file_that_is_there_is_never_replaced_by_its_template(root):
    (root / "AGENTS.md").write_text("")

    assert load(root, default_template="# Template\n").content == ""


def test_a_file_that_cannot_be_created_is_reported(root):
    (root / "in the way").write_text("")
    result = load(root, "in the way/AGENTS.md", default_template="# Template\n")

    assert result.content is None
    assert "a file is where a directory should be" in result.error


# ---------------------------------------------------------------------------------------------------- where it leads


def _link(root, target):
    (root / "AGENTS.md").symlink_to(target)


@pytest.mark.parametrize("target", ["../secret.md", "../workspace2/AGENTS.md", "/etc/hostname"])
def test_a_link_that_leads_out_of_the_root_is_refused(root, target):
    (root.parent / "secret.md").write_text("secret")
    (root.parent / "workspace2").mkdir()
    (root.parent / "workspace2" / "AGENTS.md").write_text("secret")
    _link(root, target)
    result = load(root)

    assert (False, None) == (result.success, result.content)
    assert f"leads out of {root}" in result.error


def test_a_link_inside_of_the_root_is_followed(root):
    (root / "real.md").write_text("real")
    _link(root, "real.md")

    assert load(root).content == "real"


def test_a_root_may_itself_be_a_link(root):
    (root / "AGENTS.md").write_text("text")
    (root.parent / "link").symlink_to(root)

    assert load(root.parent / "link").content == "text"


def test_a_directory_that_leads_out_is_refused_too(root):
    (root.parent / "outside").mkdir()
    (root.parent / "outside" / "AGENTS.md").write_text("secret")
    (root / "sub").symlink_to("../outside")

    assert load(root, "sub/AGENTS.md").content is None


def test_a_link_in_a_circle_is_an_error_and_nothing_more(root):
    _link(root, "AGENTS.md")

    assert load(root).success is False


@pytest.mark.parametrize("kind", ["pipe", "device"])
def test_what_would_never_end_is_not_read(root, kind):
    if kind == "pipe":
        os.mkfifo(root / "AGENTS.md")
        result = load(root)
    else:
        result = Loader(str(root / "cache")).load(ContextFile("zero", "/dev/zero", "/"))

    assert result.error == "is not a regular file"


# ------------------------------------------------------------------------------------------------ the last good copy


def spoil(path):
    path.unlink()
    path.mkdir()


def test_where_a_file_cannot_be_read_its_last_good_copy_is_used(root):
    (root / "AGENTS.md").write_text("first")
    load(root)
    (root / "AGENTS.md").write_text("last good")
    load(root)
    spoil(root / "AGENTS.md")
    result = load(root)

    assert (True, "last good", True) == (result.success, result.content, result.from_cache)
    assert result.error == "cannot be read: a directory is where a file should be; this is its last good copy"


def test_without_one_the_reason_is_told(root):
    (root / "AGENTS.md").mkdir()
    result = load(root)

    assert (False, None, "cannot be read: a directory is where a file should be") == (
        result.success,
        result.content,
        result.error,
    )


def test_of_files_for_main_sessions_no_copy_is_kept(root):
    (root / "MEMORY.md").write_text("private")
    load(root, "MEMORY.md", main_session_only=True)
    copies = [path.read_text() for path in root.parent.glob("cache/*")]
    spoil(root / "MEMORY.md")

    assert not [text for text in copies if "private" in text]
    assert load(root, "MEMORY.md", main_session_only=True).content is None


def test_what_was_deleted_does_not_come_back(root):
    (root / "AGENTS.md").write_text("text")
    load(root)
    (root / "AGENTS.md").unlink()
    missing = load(root)
    (root / "AGENTS.md").mkdir()

    assert missing.content is None
    assert load(root).content is None


def test_what_leads_out_is_not_replaced_by_a_copy(root):
    (root / "AGENTS.md").write_text("text")
    load(root)
    (root / "AGENTS.md").unlink()
    _link(root, "/etc/hostname")

    assert load(root).content is None


@pytest.mark.parametrize("data", [b"", b"[]", b'{"path":"/another","text":"stolen"}', b"\xff"])
def test_a_damaged_copy_is_no_copy(root, data):
    (root / "AGENTS.md").write_text("text")
    load(root)
    (copy,) = (root.parent / "cache").iterdir()
    copy.write_bytes(data)
    spoil(root / "AGENTS.md")

    assert load(root).content is None


def test_an_unchanged_file_writes_no_copy_again(root):
    (root / "AGENTS.md").write_text("text")
    load(root)
    (copy,) = (root.parent / "cache").iterdir()
    before = copy.stat().st_ino
    load(root)

    assert before == copy.stat().st_ino


def test_copies_are_the_owners_only(root):
    (root / "AGENTS.md").write_text("text")
    load(root)

    assert {0o600} == {Path(path).stat().st_mode & 0o777 for path in (root.parent / "cache").iterdir()}


def test_knowledge_bases_are_told_in_the_order_that_was_chosen(tmp_path):
    bases = {name: KnowledgeBase(path=str(tmp_path / f"{name.upper()}.md")) for name in ("team", "user")}
    names = {}
    for order in (["team", "user"], ["user", "team"]):
        settings = Settings(knowledge_bases=bases, session_bootstrap=order)
        files = context_files.context_files(
            settings, Store(str(tmp_path / "store")), ContextRequest(now="", home=str(tmp_path))
        )
        names[order[0]] = [file.name for file in files][:2]

    assert {"team": ["TEAM.md", "USER.md"], "user": ["USER.md", "TEAM.md"]} == names
