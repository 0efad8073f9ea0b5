"""The contract of a session hook."""

from abc import ABC, abstractmethod
from enum import StrEnum
from typing import Any

from msgspec import Struct

from eventlog.app.session_hooks.hook_context import HookContext


class HookStatus(StrEnum):
    """How it went."""

    SUCCESS = "success"
    FAILURE = "failure"  # it broke, or took too long
    SKIPPED = "skipped"  # nothing for it to do here
    WARNING = "warning"  # it would not be safe; nothing was touched


class HookResult(Struct, frozen=True):
    """The outcome of a session hook: status, message for people, details for programs."""

    status: HookStatus
    message: str = ""
    details: dict[str, Any] = {}

    @classmethod
    def success(cls, message: str = "", **details: Any) -> "HookResult":
        """It did what it is there for."""
        return cls(HookStatus.SUCCESS, message, details)

    @classmethod
    def failure(cls, message: str, **details: Any) -> "HookResult":
        """It could not."""
        return cls(HookStatus.FAILURE, message, details)

    @classmethod
    def skipped(cls, message: str = "", **details: Any) -> "HookResult":
        """There was nothing to do."""
        return cls(HookStatus.SKIPPED, message, details)

    @classmethod
    def warning(cls, message: str, **details: Any) -> "HookResult":
        """It kept its hands off, and this is why."""
        return cls(HookStatus.WARNING, message, details)


class SessionLifecycleHook(ABC):
    """Something that happens when a session starts and when it ends.

    What it raises is a failure of its own and stops nobody else.
    """

    @property
    def name(self) -> str:
        """Name it as in `session_hooks:` and in reports."""
        return type(self).__name__

    @abstractmethod
    def on_session_start(self, context: HookContext) -> HookResult:
        """Do what is to happen when a session has started, or came back."""

    @abstractmethod
    def on_session_end(self, context: HookContext) -> HookResult:
        """Do what is to happen when a session has ended; it may come back."""

    def issue_state(self, context: HookContext) -> str | None:
        """Return the state of `context.issue`, "open" or "closed", where this hook can ask for it; else None."""
        del context
        return None
