"""One place that knows which module speaks for which host; a module is loaded when its host calls."""

from eventlog.hosts.call import HookCall, Payload

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any, Protocol

    class Dialect(Protocol):
        """How a host is answered; every answer is the whole of stdout."""

        SILENT: bytes  # asks for nothing

        def start(self, context: str, /) -> bytes:
            """Give a session its context."""

        def ask(self, request: str, /) -> bytes:
            """Make the agent go on, with a request."""

        def flush(self, request: str, /) -> bytes:
            """Say something before a compaction; SILENT where nobody listens."""


_MODULES = {
    "claude-code": "claude",
    "cursor": "cursor",
    "codex": "codex",
    "gemini": "gemini",
    "copilot": "copilot",
    "vscode": "vscode",
}
_RUN_FOREIGN_HOOKS_THEIR_WAY = ("copilot", "vscode")


def read(agent: str, payload: Payload, name: str) -> HookCall:
    """The call a payload of that agent tells of."""
    if agent in _MODULES:
        call: HookCall = _load(_MODULES[agent]).read(payload, name)
        return call
    from eventlog.hosts.other import protocol as other

    return other.read(payload, name, agent)


def dialect(installed_for: str, agent: str) -> "Dialect":
    """How to answer: in the words of whoever runs the hook.

    Cursor translates what the hooks of Claude Code's settings answer. VS Code and Copilot run them too, but
    understand only themselves.
    """
    caller = agent if agent in _RUN_FOREIGN_HOOKS_THEIR_WAY else installed_for or agent
    spoken: Dialect = _load(_MODULES.get(caller, "other"))
    return spoken


def named(agent: str) -> str:
    """The agent's name in the log, for what a command calls it."""
    return "claude-code" if agent == "claude" else agent


def _load(module: str) -> "Any":
    return __import__(f"eventlog.hosts.{module}.protocol", fromlist=["read"])
