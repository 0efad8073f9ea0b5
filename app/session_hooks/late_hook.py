"""Hooks of others, made when they run."""

from collections.abc import Callable

from eventlog.app.session_hooks.hook_base import HookResult, SessionLifecycleHook
from eventlog.app.session_hooks.hook_context import HookContext


class LateHook(SessionLifecycleHook):
    """A hook of somebody else, loaded and made when it runs: within its time limit, and at its own risk."""

    def __init__(self, make: Callable[[], SessionLifecycleHook]) -> None:
        self._make = make

    def on_session_start(self, context: HookContext) -> HookResult:
        """Make the hook, and let it run."""
        return self._make().on_session_start(context)

    def on_session_end(self, context: HookContext) -> HookResult:
        """Make the hook, and let it run."""
        return self._make().on_session_end(context)

    def issue_state(self, context: HookContext) -> str | None:
        """Make the hook, and ask it."""
        return self._make().issue_state(context)
