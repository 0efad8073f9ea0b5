"""Which hooks run, in which order, and what becomes of one that fails or hangs."""

import threading
from collections.abc import Callable
from functools import partial
from typing import Literal, NamedTuple

import msgspec
from msgspec import Struct
from msgspec.structs import replace

from eventlog.app.session_hooks.hook_base import HookResult, SessionLifecycleHook
from eventlog.app.session_hooks.hook_context import HookContext
from eventlog.secrets import beginning

SessionMoment = Literal["start", "end"]
TIME_LIMIT = 30.0  # seconds
_NO_ANSWER = object()
_LONGEST = 20_000  # bytes of a result; it is printed, and kept in the log


class HookOutcome(Struct, frozen=True):
    """The result of one hook."""

    hook: str
    result: HookResult


class _Registered(NamedTuple):
    """A hook, the seconds it gets, and whether it runs."""

    hook: SessionLifecycleHook
    time_limit: float
    enabled: bool


class HookRegistry:
    """Hooks by name, run in the order they were registered."""

    def __init__(self) -> None:
        self._hooks: dict[str, _Registered] = {}

    def register(
        self, hook: SessionLifecycleHook, *, name: str = "", time_limit: float = TIME_LIMIT, enabled: bool = True
    ) -> None:
        """Add a hook, in the place of another with that name; it gets so many seconds, and runs where enabled.

        Raises TypeError for what is no hook, a class of hooks among them.
        """
        if not isinstance(hook, SessionLifecycleHook):
            raise TypeError(_no_hook(hook))
        self._hooks[name or hook.name] = _Registered(hook, time_limit, enabled)

    def update(self, other: "HookRegistry") -> None:
        """Add all hooks of another registry; where two have a name, this one's stays."""
        for name, hook in other._hooks.items():  # noqa: SLF001 - of its own kind
            self._hooks.setdefault(name, hook)

    def unregister(self, name: str) -> bool:
        """Remove a hook; tells whether it was there."""
        return self._hooks.pop(name, None) is not None

    def get(self, name: str) -> SessionLifecycleHook | None:
        """The hook of that name."""
        return self._hooks[name].hook if name in self._hooks else None

    def clear(self) -> None:
        """Remove all hooks."""
        self._hooks.clear()

    def names(self, *, enabled_only: bool = False) -> list[str]:
        """List the names of all hooks, or of those that run."""
        return [name for name, entry in self._hooks.items() if entry.enabled or not enabled_only]

    def run(self, moment: SessionMoment, context: HookContext) -> list[HookOutcome]:
        """Run every enabled hook, one after the other; one that raises or hangs costs only its own result."""
        outcomes = []
        for name, (hook, limit, _) in [(name, entry) for name, entry in self._hooks.items() if entry.enabled]:
            call = hook.on_session_start if moment == "start" else hook.on_session_end
            outcomes.append(HookOutcome(name, _within(limit, partial(call, context))))
        return outcomes

    def issue_state(self, context: HookContext) -> str | None:
        """Ask every enabled hook for the state of the session's issue, until one answers; None where none does."""
        if context.issue is None:
            return None
        for hook, limit, _ in (entry for entry in self._hooks.values() if entry.enabled):
            state = _answer(limit, partial(hook.issue_state, context))
            if isinstance(state, str) and state:
                return state
        return None


_registry = HookRegistry()


def get_registry() -> HookRegistry:
    """The hooks a program registers for itself; they run after those of `config.yaml`, in this process."""
    return _registry


def _no_hook(given: object) -> str:
    if isinstance(given, type):
        return f"{given.__name__} is a class; register an instance of it: register({given.__name__}())"
    return f"{given!r} is no session hook; register an instance of a subclass of SessionLifecycleHook"


def _within(seconds: float, call: Callable[[], object]) -> HookResult:
    """Return the call's result, or why it has none."""
    result = _answer(seconds, call)
    if isinstance(result, BaseException):
        return HookResult.failure(f"{type(result).__name__}: {result}")
    if result is _NO_ANSWER:
        return HookResult.failure(f"not done after {seconds:g} seconds; left alone")
    if isinstance(result, HookResult):
        return _bounded(result)
    return HookResult.failure(f"gave {type(result).__name__}, not a HookResult")


def _answer(seconds: float, call: Callable[[], object]) -> object:
    """Return what the call returns or raises.

    One that takes longer is left to itself, and does not keep the process alive: _NO_ANSWER.
    """
    answers: list[object] = []
    thread = threading.Thread(target=lambda: answers.append(_safely(call)), daemon=True)
    thread.start()
    thread.join(seconds)
    return answers[0] if answers else _NO_ANSWER


def _safely(call: Callable[[], object]) -> object:
    try:
        return call()
    except BaseException as error:  # noqa: BLE001 - SystemExit of a hook is its own failure, too
        return error


def _bounded(result: HookResult) -> HookResult:
    """Reduce a result to what JSON can hold, and to a bounded length."""
    try:
        size = len(msgspec.json.encode(result))
    except (TypeError, ValueError, RecursionError) as error:
        return HookResult.failure(f"its result cannot be written down: {error}")
    return result if size <= _LONGEST else replace(result, message=beginning(result.message, 1000), details={})
