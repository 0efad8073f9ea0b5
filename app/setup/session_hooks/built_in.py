"""The session hooks that come with this program: `logging` and `git_cleanup`.

`logging` writes a line per start and end of a session to `cache/sessions.log`.

`git_cleanup` goes back to the trunk after a session and deletes its merged branch, where nothing can be lost.
It checks everything before it changes anything. A doubt about the working tree leaves everything as it is; a doubt
about the branch keeps the branch. The result names the doubts and their remedies. It names a deleted branch with its
commit, so that `git branch` restores it.
"""

import os
from collections.abc import Iterator
from fnmatch import fnmatchcase
from pathlib import Path
from typing import Literal, NamedTuple

from msgspec import Struct

from eventlog.app.setup.session_hooks.git import Git, GitError
from eventlog.app.setup.session_hooks.hooks import HookContext, HookResult, SessionLifecycleHook
from eventlog.format.text import one_line
from eventlog.projects.root import find_repository
from eventlog.store import Store
from eventlog.store.files import append_bounded, make_dirs

_LARGEST = 1 << 20  # bytes; then a new file is started, and the old file becomes `.1`


class LoggingOptions(Struct, frozen=True, forbid_unknown_fields=True):
    """`session_hooks.logging` of `config.yaml`."""

    log_level: Literal["DEBUG", "INFO", "WARNING", "ERROR"] = "INFO"  # what the lines are marked with
    log_start: bool = True
    log_end: bool = True


class Logging(SessionLifecycleHook):
    """Logs starts and ends of sessions."""

    name = "logging"

    def __init__(self, options: LoggingOptions = LoggingOptions()) -> None:  # noqa: B008 - it is frozen
        self._options = options

    def on_session_start(self, context: HookContext) -> HookResult:
        """Log a line, unless switched off."""
        return self._log("start", context) if self._options.log_start else HookResult.skipped("log_start is off")

    def on_session_end(self, context: HookContext) -> HookResult:
        """Log a line, unless switched off."""
        return self._log("end", context) if self._options.log_end else HookResult.skipped("log_end is off")

    def _log(self, moment: str, context: HookContext) -> HookResult:
        fields = {"session": context.session_id, "project": context.project, "agent": context.agent}
        words = [f"{name}={one_line(value)}" for name, value in {**fields, "reason": context.reason}.items() if value]
        path = Path(Store(context.store).cached("sessions.log"))
        line = " ".join([context.at, self._options.log_level, f"session {moment}", *words])
        make_dirs(str(path.parent))
        append_bounded(str(path), line.encode("utf-8", "replace"), _LARGEST)
        return HookResult.success(str(path))


class CleanupOptions(Struct, frozen=True, forbid_unknown_fields=True):
    """`session_hooks.git_cleanup` of `config.yaml`."""

    main_branch: str | None = None  # the trunk; None: `main`, else `master`
    auto_switch_to_main: bool = True
    auto_delete_merged_branches: bool = True
    require_clean_worktree: bool = True
    keep: tuple[str, ...] = ("develop", "dev", "staging", "production", "release*")  # branches that are never deleted


class GitCleanup(SessionLifecycleHook):
    """Switches back to the trunk and deletes the session's merged branch."""

    name = "git_cleanup"

    def __init__(self, options: CleanupOptions = CleanupOptions()) -> None:  # noqa: B008 - it is frozen
        self._options = options

    def on_session_start(self, context: HookContext) -> HookResult:
        """Skip: the first event of a session has its branch."""
        del context
        return HookResult.skipped("nothing to clean up at a start")

    def on_session_end(self, context: HookContext) -> HookResult:
        """Clean up, or warn and change nothing."""
        git = Git(context.cwd)
        try:
            root = git.root
            if root is None:
                return HookResult.skipped("not in a git repository")
            here = find_repository(context.cwd)
            if here is None or os.path.realpath(here[0]) != os.path.realpath(root):
                return HookResult.warning(f"the repository says its files are elsewhere, in {root}; nothing is touched")
            return self._clean_up(git, context)
        except GitError as error:
            return HookResult.warning(f"git refuses: {error}")

    def _clean_up(self, git: Git, context: HookContext) -> HookResult:
        current = git.branch()
        trunk = git.trunk(self._options.main_branch)
        if current is None or trunk is None:
            return HookResult.warning(_no_way_back(current, self._options.main_branch))
        branch = current if current != trunk else context.start_branch
        tip = git.tip(branch) if branch and branch != trunk else None
        if branch is None or tip is None:
            return HookResult.skipped(f"on {trunk}, and no branch of the session is left", branch=current)
        doubts = [*self._doubts(git, branch, trunk, context.others)]
        if doubts:
            return HookResult.warning(f"{branch} is left as it is: {'; '.join(doubts)}", branch=branch, doubts=doubts)
        reasons = [*self._reasons_to_keep(git, branch, trunk)]
        if context.issue_state == "open":
            reasons.append(f"issue {context.issue} is open")
        try:
            return self._carry_out(git, _Leaving(current, branch, tip, trunk), reasons)
        except GitError as error:
            if (git.branch(), git.tip(branch)) == (current, tip):
                raise
            return HookResult.failure(
                f"switched from {current} to {git.branch()}, then git refuses: {error}", branch=branch
            )

    def _doubts(self, git: Git, branch: str, trunk: str, others: tuple[str, ...]) -> Iterator[str]:
        """List the reasons to leave the working tree as it is."""
        if others:
            yield f"another session may be at work here: {', '.join(others)}"
        if under_way := git.under_way():
            yield f"{under_way} is under way; finish it or abort it"
        if filters := git.filters():
            yield f"{filters[0]} of this repository would run a program"
        elif self._options.require_clean_worktree and (changes := git.changes()):
            yield f"the working tree has {_counted(len(changes), 'uncommitted change')}; commit or stash them"
        if git.hidden_changes():
            yield "some files are marked assume-unchanged, so git may not see all changes"
        if place := git.elsewhere(trunk):
            yield f"{trunk} is checked out in another working tree, {place}"
        if git.superproject():
            yield "the repository is a submodule; a switch would change what its superproject records"
        elif git.submodules_differ(branch, trunk):
            yield f"{trunk} has its submodules at other commits; switch with --recurse-submodules"

    def _reasons_to_keep(self, git: Git, branch: str, trunk: str) -> Iterator[str]:
        """List the reasons not to delete the branch."""
        if not self._options.auto_delete_merged_branches or any(
            fnmatchcase(branch, pattern) for pattern in self._options.keep
        ):
            yield "by the settings"
        if git.is_merged(branch, trunk):
            if not git.has_own_commits(branch, trunk):
                yield "nothing was committed on it yet"
        elif not git.is_contained(branch, trunk):
            yield f"it is not merged into {trunk}"
        if alias := git.alias(branch):
            yield f"{alias} is the same branch by another name"
        if place := git.elsewhere(branch):
            yield f"it is checked out in another working tree, {place}"

    def _carry_out(self, git: Git, leaving: "_Leaving", reasons: list[str]) -> HookResult:
        current, branch, tip, trunk = leaving
        done = []
        if current == branch and self._options.auto_switch_to_main:
            git.switch(trunk)
            done.append(f"switched to {trunk}")
        if reasons:
            done += [f"{branch} is kept: {'; '.join(reasons)}"] if done else []
        elif git.branch() != branch:
            git.delete(branch, tip)
            done.append(f"deleted {branch}; `git branch {branch} {tip[:12]}` brings it back")
        if not done:
            return HookResult.skipped(f"{branch} is kept: {'; '.join(reasons) or 'by the settings'}", branch=branch)
        return HookResult.success("; ".join(done), branch=branch, commit=tip, trunk=trunk, kept=reasons)


class _Leaving(NamedTuple):
    """The branch checked out, the session's branch with its commit, and the trunk."""

    current: str
    branch: str
    tip: str
    trunk: str


def _counted(number: int, what: str) -> str:
    return f"{number:,} {what}{'s' if number != 1 else ''}"


def _no_way_back(current: str | None, wanted: str | None) -> str:
    if current is None:
        return "HEAD is detached; nothing is touched"
    return f"there is no branch {wanted or 'main or master'} to go back to; nothing is touched"
