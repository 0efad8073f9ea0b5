"""`git_cleanup`: after a session, back to the trunk, and its merged branch is gone. Only where nothing can be lost.

Everything is asked before anything is changed. One doubt, and nothing is touched: the result says which, and what to
do about it. A deleted branch is named with its commit, so that one command brings it back.
"""

from collections.abc import Iterator
from fnmatch import fnmatchcase

from msgspec import Struct

from eventlog.lifecycle.base import HookResult, SessionLifecycleHook
from eventlog.lifecycle.context import HookContext
from eventlog.lifecycle.git import Git, GitError


class Options(Struct, frozen=True, forbid_unknown_fields=True):
    """`session_hooks.git_cleanup` of `config.yaml`."""

    main_branch: str | None = None  # the trunk; None: `main`, else `master`
    auto_switch_to_main: bool = True
    auto_delete_merged_branches: bool = True
    require_clean_worktree: bool = True
    keep: tuple[str, ...] = ("develop", "dev", "staging", "production", "release*")  # branches that are never deleted


class GitCleanup(SessionLifecycleHook):
    """Switch back to the trunk and delete the session's merged branch."""

    def __init__(self, options: Options = Options()) -> None:  # noqa: B008 - it is frozen
        self._options = options

    @property
    def name(self) -> str:
        """As in `session_hooks:`."""
        return "git_cleanup"

    def on_session_start(self, context: HookContext) -> HookResult:
        """Nothing: the branch a session starts on is told by its first event."""
        del context
        return HookResult.skipped("nothing to clean up at a start")

    def on_session_end(self, context: HookContext) -> HookResult:
        """Clean up, or warn and touch nothing."""
        git = Git(context.cwd)
        try:
            if git.root() is None:
                return HookResult.skipped("not in a git repository")
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
        doubts = [*_others(context), *self._doubts(git, branch, trunk)]
        if doubts:
            return HookResult.warning(f"{branch} is left as it is: {'; '.join(doubts)}", branch=branch, doubts=doubts)
        try:
            return self._carry_out(git, current, branch, tip, trunk)
        except GitError as error:
            if (git.branch(), git.tip(branch)) == (current, tip):
                raise
            return HookResult.failure(
                f"switched from {current} to {git.branch()}, then git refuses: {error}", branch=branch
            )

    def _doubts(self, git: Git, branch: str, trunk: str) -> Iterator[str]:
        """Every reason to keep one's hands off."""
        if under_way := git.under_way():
            yield f"{under_way} is under way; finish it or abort it"
        if self._options.require_clean_worktree and (changes := git.changes()):
            noun = "change" if len(changes) == 1 else "changes"
            yield f"the working tree has {len(changes)} uncommitted {noun}; commit or stash"
        if git.hidden_changes():
            yield "some files are marked assume-unchanged, so git may not see all changes"
        if not git.is_merged(branch, trunk):
            yield f"it is not merged into {trunk}"
        if alias := git.alias(branch):
            yield f"{alias} is the same branch by another name"
        for name in (branch, trunk):
            if place := git.elsewhere(name):
                yield f"{name} is checked out in another working tree, {place}"
        if git.superproject():
            yield "the repository is a submodule; a switch would change what its superproject records"
        elif git.submodules_differ(branch, trunk):
            yield f"{trunk} has its submodules at other commits; switch with --recurse-submodules"

    def _carry_out(self, git: Git, current: str, branch: str, tip: str, trunk: str) -> HookResult:
        done = []
        if current == branch and self._options.auto_switch_to_main:
            git.switch(trunk)
            done.append(f"switched to {trunk}")
        kept = any(fnmatchcase(branch, pattern) for pattern in self._options.keep)
        if self._options.auto_delete_merged_branches and not kept and git.branch() != branch:
            git.delete(branch, tip)
            done.append(f"deleted {branch}; `git branch {branch} {tip[:12]}` brings it back")
        if not done:
            return HookResult.skipped(f"{branch} is kept by the settings", branch=branch)
        return HookResult.success("; ".join(done), branch=branch, commit=tip, trunk=trunk)


def _others(context: HookContext) -> Iterator[str]:
    if context.others:
        yield f"another session may be at work here: {', '.join(context.others)}"


def _no_way_back(current: str | None, wanted: str | None) -> str:
    if current is None:
        return "HEAD is detached; nothing is touched"
    return f"there is no branch {wanted or 'main or master'} to go back to; nothing is touched"
