"""The contract of a session hook, the context it is called with, and the registry that runs hooks in order."""

import threading
from abc import ABC, abstractmethod
from collections.abc import Callable
from enum import StrEnum
from functools import cached_property, partial
from typing import Any, Literal, NamedTuple

import msgspec
from msgspec import Struct
from msgspec.structs import replace

from eventlog.app.setup.session_hooks.git import Git, GitError
from eventlog.format.text import project_name
from eventlog.secrets import scrub_beginning

SessionMoment = Literal["start", "end"]
TIME_LIMIT = 30.0  # seconds
_NO_ANSWER = object()
_LONGEST = 20_000  # bytes of a result, which is printed and logged


class GitState(Struct, frozen=True):
    """The current state of the repository a session works in."""

    root: str  # of the working tree
    branch: str | None  # None where HEAD is detached
    dirty: bool  # uncommitted changes, files not under version control included; also where git cannot tell
    trunk: str | None  # the local `main`, else `master`; None for neither


class SessionUsage(Struct, frozen=True):
    """The size of a session, as far as its host reports it."""

    turns: int = 0
    context_usage_percent: float | None = None  # at the last compaction
    message_count: int | None = None  # at the last compaction
    duration_ms: float | None = None


class HookContext(Struct, frozen=True, dict=True):
    """The session, its repository, and the caller's own values (`extra`).

    `cwd` is where the session worked: `project`, or a linked worktree of it. `start_branch` was checked out when it
    started, `branch` is now; `issue` is the caller's, else the key in the name of such a branch.
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
    others: tuple[str, ...] = ()  # other sessions of the project that may be running
    extra: dict[str, Any] = {}

    @cached_property
    def git(self) -> GitState | None:
        """Read the repository at `cwd`, once; None outside a repository."""
        git = Git(self.cwd)
        root = git.root
        if root is None:
            return None
        try:
            dirty = bool(git.changes())
        except GitError:
            dirty = True
        return GitState(root, git.branch(), dirty, git.trunk())

    @property
    def name(self) -> str:
        """Return the project's name, for people."""
        return project_name(self.project or self.cwd)


class HookStatus(StrEnum):
    """The status of a result."""

    SUCCESS = "success"
    FAILURE = "failure"  # it raised, or took too long
    SKIPPED = "skipped"  # nothing to do
    WARNING = "warning"  # not safe: nothing was changed


class HookResult(Struct, frozen=True):
    """The outcome of a session hook: status, message for people, details for programs."""

    status: HookStatus
    message: str = ""
    details: dict[str, Any] = {}

    @classmethod
    def success(cls, message: str = "", **details: Any) -> "HookResult":
        """Report success."""
        return cls(HookStatus.SUCCESS, message, details)

    @classmethod
    def failure(cls, message: str, **details: Any) -> "HookResult":
        """Report a failure."""
        return cls(HookStatus.FAILURE, message, details)

    @classmethod
    def skipped(cls, message: str = "", **details: Any) -> "HookResult":
        """Report that nothing was to do."""
        return cls(HookStatus.SKIPPED, message, details)

    @classmethod
    def warning(cls, message: str, **details: Any) -> "HookResult":
        """Report why nothing was changed."""
        return cls(HookStatus.WARNING, message, details)


class SessionLifecycleHook(ABC):
    """An action at the start and the end of sessions; an exception of it stops no other hook."""

    @property
    def name(self) -> str:
        """Return the name in `session_hooks:` and in reports."""
        return type(self).__name__

    @abstractmethod
    def on_session_start(self, context: HookContext) -> HookResult:
        """Follow the start of a session, or its return."""

    @abstractmethod
    def on_session_end(self, context: HookContext) -> HookResult:
        """Follow the end of a session; it may return."""

    def issue_state(self, context: HookContext) -> str | None:
        """Return the state of `context.issue`, "open" or "closed", if this hook knows it; else None."""
        del context
        return None


class LazyHook(SessionLifecycleHook):
    """A hook of another package, loaded and constructed when it runs, within its time limit."""

    def __init__(self, make: Callable[[], SessionLifecycleHook]) -> None:
        self._make = make

    def on_session_start(self, context: HookContext) -> HookResult:
        """Create and run the hook."""
        return self._make().on_session_start(context)

    def on_session_end(self, context: HookContext) -> HookResult:
        """Create and run the hook."""
        return self._make().on_session_end(context)

    def issue_state(self, context: HookContext) -> str | None:
        """Create the hook and ask it."""
        return self._make().issue_state(context)


class HookOutcome(Struct, frozen=True):
    """The result of a hook."""

    hook: str
    result: HookResult


class _Registered(NamedTuple):
    """A hook, its time limit in seconds, and whether it runs."""

    hook: SessionLifecycleHook
    time_limit: float
    enabled: bool


class HookRegistry:
    """Hooks by name, run in the order of their registration."""

    def __init__(self) -> None:
        self._hooks: dict[str, _Registered] = {}

    def register(
        self, hook: SessionLifecycleHook, *, name: str = "", time_limit: float = TIME_LIMIT, enabled: bool = True
    ) -> None:
        """Add a hook, replacing another with that name; raises TypeError for anything else, a class included."""
        if not isinstance(hook, SessionLifecycleHook):
            called = hook.__name__ if isinstance(hook, type) else ""
            is_no_hook = f"{called} is a class; register an instance of it: register({called}())"
            other = f"{hook!r} is no session hook; register an instance of a subclass of SessionLifecycleHook"
            raise TypeError(is_no_hook if called else other)
        self._hooks[name or hook.name] = _Registered(hook, time_limit, enabled)

    def update(self, other: "HookRegistry") -> None:
        """Add the hooks of another registry whose names are new."""
        for name, hook in other._hooks.items():  # noqa: SLF001 - of its own kind
            self._hooks.setdefault(name, hook)

    def get(self, name: str) -> SessionLifecycleHook | None:
        """Return the hook of that name; None for none."""
        return self._hooks[name].hook if name in self._hooks else None

    def clear(self) -> None:
        """Remove all hooks."""
        self._hooks.clear()

    def names(self, *, enabled_only: bool = False) -> list[str]:
        """List the names of all hooks, or of those that run."""
        return [name for name, entry in self._hooks.items() if entry.enabled or not enabled_only]

    def run(self, moment: SessionMoment, context: HookContext) -> list[HookOutcome]:
        """Run every enabled hook in order; a hook that raises or hangs loses only its own result."""
        outcomes = []
        for name, (hook, limit, _) in [(name, entry) for name, entry in self._hooks.items() if entry.enabled]:
            call = hook.on_session_start if moment == "start" else hook.on_session_end
            outcomes.append(HookOutcome(name, _within(limit, partial(call, context))))
        return outcomes

    def issue_state(self, context: HookContext) -> str | None:
        """Ask the enabled hooks for the state of the session's issue, up to the first answer; None for none."""
        if context.issue is None:
            return None
        for hook, limit, _ in (entry for entry in self._hooks.values() if entry.enabled):
            state = _answer(limit, partial(hook.issue_state, context))
            if isinstance(state, str) and state:
                return state
        return None


_registry = HookRegistry()


def get_registry() -> HookRegistry:
    """Return the hooks that a program registers itself; they run after those of `config.yaml`, in this process."""
    return _registry


def _within(seconds: float, call: Callable[[], object]) -> HookResult:
    """Return the call's result, or a failure."""
    result = _answer(seconds, call)
    if isinstance(result, BaseException):
        return HookResult.failure(f"{type(result).__name__}: {result}")
    if result is _NO_ANSWER:
        return HookResult.failure(f"not done after {seconds:g} seconds; left alone")
    if isinstance(result, HookResult):
        return _bounded(result)
    return HookResult.failure(f"gave {type(result).__name__}, not a HookResult")


def _answer(seconds: float, call: Callable[[], object]) -> object:
    """Return the call's value or exception; _NO_ANSWER after so many seconds.

    A call that takes longer continues in a thread that does not keep the process alive.
    """
    answers: list[object] = []

    def answer() -> None:
        try:
            answers.append(call())
        except BaseException as error:  # noqa: BLE001 - SystemExit of a hook is its own failure, too
            answers.append(error)

    thread = threading.Thread(target=answer, daemon=True)
    thread.start()
    thread.join(seconds)
    return answers[0] if answers else _NO_ANSWER


def _bounded(result: HookResult) -> HookResult:
    """Limit a result to JSON values of a maximal length."""
    try:
        size = len(msgspec.json.encode(result))
    except (TypeError, ValueError, RecursionError) as error:
        return HookResult.failure(f"its result cannot be written down: {error}")
    return result if size <= _LONGEST else replace(result, message=scrub_beginning(result.message, 1000), details={})
