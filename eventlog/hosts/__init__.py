"""The table of hosts: which room belongs to which agent; a module of a room is loaded when it is asked for.

A room has `protocol` (loaded by hooks), `profile`, and where there is something to read, `transcript`, `sessions` and
`past`.
"""

from eventlog.hosts.call import HookCall, Payload

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Mapping
    from typing import Any, Protocol

    class Dialect(Protocol):
        """How a host is answered; every answer is the whole of stdout."""

        SILENT: bytes  # asks for nothing

        def start(self, context: str, event: str = ..., /) -> bytes:
            """Give a session its context, at its start or at another event whose answer reaches the agent."""

        def ask(self, request: str, /) -> bytes:
            """Make the agent go on with a request at the end of a turn, or give it one with the next prompt."""

        def flush(self, request: str, /) -> bytes:
            """Say something before a compaction; SILENT where nobody listens."""


ROOMS = {  # the agent's name in the log -> its room, which is also its name on the command line
    "claude-code": "claude",
    "cursor": "cursor",
    "codex": "codex",
    "gemini": "gemini",
    "copilot": "copilot",
    "vscode": "vscode",
    "qwen-code": "qwen",
    "opencode": "opencode",
}
_ALSO_CALLED = {"codex-cli": "codex", "gemini-cli": "gemini", "copilot-cli": "copilot", "cursor-agent": "cursor"}
_RUN_FOREIGN_HOOKS_THEIR_WAY = ("copilot", "vscode")


def read(agent: str, payload: Payload, name: str) -> HookCall:
    """The call a payload of that agent tells of."""
    if agent in ROOMS:
        call: HookCall = part(agent, "protocol").read(payload, name)
        return call
    from eventlog.hosts.other import protocol as other

    return other.read(payload, name, agent)


def dialect(installed_for: str, agent: str) -> "Dialect":
    """How to answer: in the words of whoever runs the hook.

    Cursor translates what the hooks of Claude Code's settings answer, as far as it knows it. VS Code and Copilot run
    them too, but understand only themselves.
    """
    caller = agent if agent in _RUN_FOREIGN_HOOKS_THEIR_WAY else installed_for or agent
    translated = part(caller, "foreign") if caller != agent else None
    spoken: Dialect = translated or part(caller, "protocol")
    return spoken


def session_variable(agent: str) -> str:
    """Name the variable in which the agent's shell commands find their conversation's id; "" where there is none."""
    return str(getattr(part(agent, "protocol"), "SESSION_VARIABLE", ""))


def most_at_start(agent: str) -> tuple[str, int]:
    """Name the most a host takes of the text a session starts with, as so many bytes in that encoding; 0: any."""
    encoding, most = getattr(part(agent, "protocol"), "MOST_AT_START", ("utf-8", 0))
    return str(encoding), int(most)


def conversation_of_call(agent: str, meta: "Mapping[str, Any]") -> str:
    """Find the conversation a host names with a call of a tool of ours, in its `_meta`; "" where it names none."""
    found = getattr(part(agent, "protocol"), "conversation_of_call", None)
    return str(found(meta)) if found else ""


def named(agent: str) -> str:
    """Translate any name of an agent into its name in the log; a stranger's stays as it is."""
    agent = _ALSO_CALLED.get(agent, agent)
    return next((known for known, room in ROOMS.items() if room == agent), agent)


def room_named(agent: str) -> str:
    """Translate any name of an agent into its name on the command line; a stranger's stays as it is."""
    return ROOMS.get(named(agent), agent)


def newest_transcript(agent: str, where: str, environ: "Mapping[str, str]") -> str:
    """Find what the host wrote last of its sessions in a directory; "" where it keeps none, or nobody knows where."""
    sessions = part(agent, "sessions")
    return str(sessions.newest_transcript(where, environ)) if sessions else ""


def part(agent: str, name: str) -> "Any":
    """Load a module of the agent's room, of the common one for agents without; None where the room lacks it."""
    module = f"eventlog.hosts.{ROOMS.get(agent, 'other')}.{name}"
    try:
        return __import__(module, fromlist=[name])
    except ModuleNotFoundError as error:
        if error.name != module:
            raise
        return None
