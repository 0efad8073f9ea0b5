"""The session hooks that come with this program: `logging`, `git_cleanup` and `project`.

`logging` writes a line per start and end of a session to `cache/sessions.log`.

`git_cleanup` goes back to the trunk after a session and deletes its merged branch, where nothing can be lost.
It checks everything before it changes anything. A doubt about the working tree leaves everything as it is; a doubt
about the branch keeps the branch. The result names the doubts and their remedies. It names a deleted branch with its
commit, so that `git branch` restores it.

`project` runs a project's own hooks in `.eventlog/session_hooks.py`, only with a person's approval. It is for exactly
the bytes that were shown, and exactly these bytes run. It is stored in the store, never in the project, and asked for
on a terminal only (`eventlog lifecycle trust`). Every class of the file that is a `SessionLifecycleHook` is constructed
without arguments, when it runs.
"""

import inspect
import os
import sys
from collections.abc import Iterator, Sequence
from fnmatch import fnmatchcase
from pathlib import Path
from types import ModuleType
from typing import TYPE_CHECKING, Literal, NamedTuple

from msgspec import Struct, to_builtins

from eventlog.app.setup.session_hooks.git import Git, GitError
from eventlog.app.setup.session_hooks.hooks import (
    HookContext,
    HookOutcome,
    HookRegistry,
    HookResult,
    HookStatus,
    LazyHook,
    SessionLifecycleHook,
    SessionMoment,
)
from eventlog.fast.sha import sha256
from eventlog.format.errors import BadRequest, BadSettings, system_reason
from eventlog.format.text import one_line
from eventlog.projects.approvals import Approvals
from eventlog.projects.root import find_repository, project_root
from eventlog.store import Store
from eventlog.store.files import append_bounded, make_dirs
from eventlog.store.shared_files import NotConfined, read_below

if TYPE_CHECKING:
    from eventlog.projects.approvals import Approval

PLACE = ".eventlog/session_hooks.py"  # in the root of a project
_LONGEST = 1 << 20  # bytes of source
_MODULE = "eventlog_project_hooks"
_WORST_FIRST = (HookStatus.FAILURE, HookStatus.WARNING, HookStatus.SUCCESS, HookStatus.SKIPPED)

_LARGEST = 1 << 20  # bytes; then a new file is started, and the old file becomes `.1`


class Logging(SessionLifecycleHook):
    """Logs starts and ends of sessions."""

    class LoggingOptions(Struct, frozen=True, forbid_unknown_fields=True):
        """`session_hooks.logging` of `config.yaml`."""

        log_level: Literal["DEBUG", "INFO", "WARNING", "ERROR"] = "INFO"  # what the lines are marked with
        log_start: bool = True
        log_end: bool = True

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


class GitCleanup(SessionLifecycleHook):
    """Switches back to the trunk and deletes the session's merged branch."""

    class CleanupOptions(Struct, frozen=True, forbid_unknown_fields=True):
        """`session_hooks.git_cleanup` of `config.yaml`."""

        main_branch: str | None = None  # the trunk; None: `main`, else `master`
        auto_switch_to_main: bool = True
        auto_delete_merged_branches: bool = True
        require_clean_worktree: bool = True
        # branches that are never deleted
        keep: tuple[str, ...] = ("develop", "dev", "staging", "production", "release*")

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
            lacks = f"there is no branch {self._options.main_branch or 'main or master'} to go back to"
            return HookResult.warning(f"{lacks if current else 'HEAD is detached'}; nothing is touched")
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
            return self._carry_out(git, current, branch, tip, trunk, reasons)
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
            several = "s" * (len(changes) != 1)
            yield f"the working tree has {len(changes):,} uncommitted change{several}; commit or stash them"
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

    def _carry_out(self, git: Git, current: str, branch: str, tip: str, trunk: str, reasons: list[str]) -> HookResult:
        """Check out the trunk instead of the current branch, and delete the session's branch at its tip."""
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


# ------------------------------------------------------------------------------------------------ a project's own


class ProjectHooks(SessionLifecycleHook):
    """Runs the project's own hooks, if a person has approved their source."""

    name = "project"

    def on_session_start(self, context: HookContext) -> HookResult:
        """Run the hooks for a start."""
        return self._run("start", context)

    def on_session_end(self, context: HookContext) -> HookResult:
        """Run the hooks for an end."""
        return self._run("end", context)

    def issue_state(self, context: HookContext) -> str | None:
        """Ask the hooks in order."""
        hooks = _approved_hooks(context)
        return hooks.issue_state(context) if isinstance(hooks, HookRegistry) else None

    def _run(self, moment: SessionMoment, context: HookContext) -> HookResult:
        hooks = _approved_hooks(context)
        return _joined(hooks.run(moment, context)) if isinstance(hooks, HookRegistry) else hooks


class OwnHooks(NamedTuple):
    """The file of a project's own hooks, and a person's approval of it."""

    project: str

    @classmethod
    def named(cls, named: str) -> "OwnHooks":
        """Find the file by a path: its own, or that of any directory of the project."""
        path = Path(named).absolute()
        is_file = path.parts[-2:] == Path(PLACE).parts
        return cls(str(path.parent.parent) if is_file else project_root(str(path)) or str(path))

    @property
    def path(self) -> Path:
        """The file."""
        return Path(self.project, PLACE)

    def read(self) -> bytes:
        """Read the source; raises OSError or NotConfined."""
        source = read_below(Path(self.project), self.path, _LONGEST + 1)
        if len(source) > _LONGEST:
            raise NotConfined(f"is longer than {_LONGEST:,} bytes")
        return source

    def shown(self) -> bytes:
        """Read the source to show it to a person; raises BadRequest."""
        try:
            return self.read()
        except (OSError, NotConfined) as error:
            reason = system_reason(error)[0] if isinstance(error, OSError) else str(error)
            hint = f"a project's own hooks are in {PLACE} of its root"
            raise BadRequest(f"cannot be read: {reason}", where=str(self.path), hint=hint) from error

    def approval(self, store: Store, source: bytes) -> "Approval":
        """Look up the approval of this source."""
        return Approvals(store).of(str(self.path.absolute()), source)

    def approve(self, store: Store, source: bytes) -> None:
        """Store the approval of exactly this source; raises NotStored."""
        Approvals(store).add({str(self.path.absolute()): sha256(source)})

    def revoke(self, store: Store) -> bool:
        """Remove the approval; return whether it existed. Raises NotStored."""
        return bool(Approvals(store).revoke([str(self.path.absolute())]))


def _approved_hooks(context: HookContext) -> HookRegistry | HookResult:
    """Load the approved hooks; without an approval, return the result with the reason."""
    if not context.project:
        return HookResult.skipped("in no project")
    own = OwnHooks(context.project)
    try:
        source = own.read()
    except (OSError, NotConfined) as error:
        return HookResult.skipped(f"{own.path} cannot be read: {error}")
    state = own.approval(Store(context.store), source)
    if state != "trusted":
        refused = HookResult.skipped if state == "not trusted" else HookResult.warning
        return refused(f"{own.path} is {state}; `eventlog lifecycle trust` shows it and asks")
    found = HookRegistry()
    for kind in _hooks(str(own.path), source):
        found.register(LazyHook(kind), name=kind.__name__)
    if not found.names():
        raise BadSettings("defines no hook", where=PLACE, hint="derive a class from SessionLifecycleHook")
    return found


def _hooks(path: str, source: bytes) -> list[type[SessionLifecycleHook]]:
    """Load the file, and list the hooks it defines; raises any exception of the file."""
    module = ModuleType(_MODULE)
    module.__file__ = path
    sys.modules[_MODULE] = module  # dataclasses look there for the module of a class
    exec(compile(source, path, "exec"), module.__dict__)  # noqa: S102 - a person has approved these bytes
    found = [value for value in vars(module).values() if isinstance(value, type) and value.__module__ == _MODULE]
    return [kind for kind in found if issubclass(kind, SessionLifecycleHook) and not inspect.isabstract(kind)]


def _joined(outcomes: Sequence[HookOutcome]) -> HookResult:
    """Join the results of all hooks of the file: the worst status, and all messages."""
    status = min((outcome.result.status for outcome in outcomes), key=_WORST_FIRST.index)
    messages = (": ".join(filter(None, (outcome.hook, outcome.result.message))) for outcome in outcomes)
    return HookResult(status, "; ".join(messages), {outcome.hook: to_builtins(outcome.result) for outcome in outcomes})
