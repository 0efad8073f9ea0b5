"""A told line whose file is gone says so, with the day git knows; of what git never knew nothing is said."""

import os
import subprocess

import pytest

from eventlog import Memory
from eventlog.app.search.gone_files import worded
from eventlog.format.events import ConversationText, Fact

pytestmark = pytest.mark.slow

WHO = {
    "GIT_AUTHOR_NAME": "Ada",
    "GIT_AUTHOR_EMAIL": "a@b.c",
    "GIT_COMMITTER_NAME": "Ada",
    "GIT_COMMITTER_EMAIL": "a@b.c",
}
PROMPT = "How does pay.py round half even?"


@pytest.fixture
def shop(tmp_path):
    """A repository with a committed file, and a store that knows a fact about it."""
    root = tmp_path / "shop"
    root.mkdir()
    git(root, "init", "-q")
    (root / "pay.py").write_text("round")
    commit(root)
    memory = Memory(tmp_path / "store")
    memory.log.append(Fact(conversation_id="c", project=str(root), content="pay.py rounds half even"))
    return root


def git(root, *args, **environ):
    subprocess.run(["git", *args], cwd=root, check=True, env={**os.environ, **WHO, **environ}, capture_output=True)


def commit(root, day="2026-11-03"):
    git(root, "add", "-A")
    git(root, "commit", "-qm", "x", GIT_COMMITTER_DATE=f"{day}T10:00:00Z")


def told(root):
    memory = Memory(root.parent / "store")
    [line] = memory.recall(PROMPT, project=root).splitlines()[1:-1]
    [hit] = memory.search("pay.py rounds", project=root)
    assert hit.text == line.partition("] ")[2]
    return hit.text.removeprefix("pay.py rounds half even").strip()


def test_of_a_file_that_is_there_nothing_is_said(shop):
    assert told(shop) == ""


def test_a_file_that_was_just_removed_is_gone(shop):
    (shop / "pay.py").unlink()

    assert told(shop) == "(`pay.py` is gone)"


def test_a_file_that_a_commit_deleted_is_gone_since_then_once_a_replay_has_seen_it(shop):
    (shop / "pay.py").unlink()
    commit(shop)
    assert told(shop) == ""
    Memory(shop.parent / "store").replay()

    assert told(shop).startswith("(`pay.py` is gone since 3 Nov")


def test_a_file_that_came_back_or_moved_is_not_gone(shop):
    (shop / "pay.py").unlink()
    commit(shop)
    Memory(shop.parent / "store").replay()
    (shop / "src").mkdir()
    (shop / "src" / "pay.py").write_text("round")
    git(shop, "add", "-A")
    assert told(shop) == ""
    git(shop, "rm", "-qf", "--cached", "src/pay.py")
    (shop / "pay.py").write_text("round")
    assert told(shop) == ""


@pytest.mark.parametrize("how", ["never known", "no repository", "of another name", "another machine"])
def test_where_git_never_knew_it_nothing_is_said(shop, how):
    (shop / "pay.py").rename(shop / "repay.py")
    if how == "no repository":
        (shop / ".git").rename(shop / "git")
    git_knows = {"never known": "prepay.py", "of another name": "x/prepay.py"}
    if name := git_knows.get(how):
        git(shop, "rm", "-q", "--cached", "pay.py")
        (shop / name).parent.mkdir(exist_ok=True)
        (shop / name).write_text("round")
        git(shop, "add", name)
        (shop / name).unlink()
    if how == "another machine":
        shop.rename(shop.parent / "moved")

    assert told(shop) == ""


def test_the_file_of_a_session_that_is_gone_is_told_too_within_the_bounds_of_a_line(shop):
    memory = Memory(shop.parent / "store")
    memory.log.append(
        ConversationText(
            conversation_id="s", project=str(shop), title="Rounding",
            prompts=["Refunds are rounded down"], files=["pay.py"],
            closing=f"Refunds were cut because {'int() was used, and ' * 16} that rounds down.",
        )
    )  # fmt: skip
    (shop / "pay.py").unlink()

    [line] = memory.recall("Why are refunds rounded down?", project=shop).splitlines()[1:-1]
    shown = line.partition("] ")[2]
    assert shown.startswith("Refunds are rounded down · pay.py · ")
    assert shown.endswith("… (`pay.py` is gone)")
    assert len(shown) <= 300


@pytest.mark.parametrize(
    ("files", "locale", "words"),
    [
        ([("a.py", "2026-11-03"), ("b.py", "")], "en", " (`a.py` is gone since 3 Nov; `b.py` is gone)"),
        ([("a.py", "2025-01-31")], "en", " (`a.py` is gone since 31 Jan 2025)"),
        ([("a.py", "2026-11-03")], "zh", " (`a.py` 自 2026-11-03 起已不存在)"),
        ([], "en", ""),
    ],
)
def test_it_is_worded_with_the_day_and_the_year_where_that_is_another(files, locale, words):
    assert worded(files, locale, "2026") == words
