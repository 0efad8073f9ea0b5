"""The context a session hook is called with."""

from functools import cached_property
from typing import Any

from msgspec import Struct

from eventlog.app.session_hooks.git import Git, GitError
from eventlog.text import project_name


class GitState(Struct, frozen=True):
    """The repository a session works in, as it is now."""

    root: str  # of the working tree
    branch: str | None  # None where HEAD is detached
    dirty: bool  # uncommitted changes, files not under version control included; also where git cannot tell
    trunk: str | None  # the local `main`, else `master`; None where there is neither


class SessionUsage(Struct, frozen=True):
    """How much of a session there has been, as far as its host told."""

    turns: int = 0
    context_usage_percent: float | None = None  # at the last compaction
    message_count: int | None = None  # at the last compaction
    duration_ms: float | None = None


class HookContext(Struct, frozen=True, dict=True):
    """The session, its repository, and whatever else the caller knows (`extra`).

    `cwd` is where the session worked: `project`, or a linked worktree of it. `start_branch` is what was checked out
    when it started, `branch` what is now; `issue` is the one the caller names, else the one such a branch is named for.
    """

    session_id: str
    cwd: str
    project: str = ""
    agent: str = ""
    store: str = ""  # directory of the store
    at: str = ""  # timestamp of the log
    reason: str = ""  # why it started or ended, in the host's words
    start_branch: str | None = None
    branch: str | None = None
    issue: str | None = None
    issue_state: str | None = None  # "open" or "closed", where a hook of the user's knows it
    usage: SessionUsage = SessionUsage()
    others: tuple[str, ...] = ()  # other sessions of the project that may be at work right now
    extra: dict[str, Any] = {}

    @cached_property
    def git(self) -> GitState | None:
        """The repository at `cwd`, asked when first wanted; None where there is none."""
        git = Git(self.cwd)
        root = git.root
        if root is None:
            return None
        return GitState(root, git.branch(), _is_dirty(git), git.trunk())

    @property
    def name(self) -> str:
        """The project's name, for people."""
        return project_name(self.project or self.cwd)


def _is_dirty(git: Git) -> bool:
    try:
        return bool(git.changes())
    except GitError:
        return True
