"""The table of hosts, which of them is calling, and how to read and answer it.

All code about a host lies in its room, a folder; `part` loads a module of it on demand. A room has `protocol` (loaded
by hooks), `profile` (for installers), and where the host keeps transcripts, `past`. Other packages bring rooms by entry
points (`packages`).

Imported by: eventlog/hooks, projections, app, cli.
"""

from eventlog.hosts.call import HookCall, HostProtocol, Payload, text

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Mapping
    from typing import Any


ROOMS = {  # the agent's name in the log -> its room, which is also its name on the command line
    "claude-code": "claude",
    "cursor": "cursor",
    "codex": "codex",
    "gemini": "gemini",
    "copilot": "copilot",
    "vscode": "vscode",
    "qwen-code": "qwen",
    "opencode": "opencode",
    "droid": "droid",
    "auggie": "auggie",
    "continue": "cn",
    "kilo": "kilo",
}
PAST_ONLY = {"cline": "cline"}  # hosts whose transcripts are read, and that have no hooks of ours
_ALIASES = {"codex-cli": "codex", "gemini-cli": "gemini", "copilot-cli": "copilot", "cursor-agent": "cursor"}
_RUN_FOREIGN_HOOKS_THEIR_WAY = ("copilot", "vscode")
_READ_AGENTS_MD = ("amp", "windsurf")  # hosts without a room
_NO_HOSTS = ("cli", "human")  # agents of events that no host sends
_protocols: "dict[str, HostProtocol]" = {}


# ------------------------------------------------------------------------------------------------ names and rooms


def agent_name(agent: str) -> str:
    """Translate any name of an agent into its name in the log; an unknown name stays."""
    agent = _ALIASES.get(agent, agent)
    return next((name for name, room in ROOMS.items() if room == agent), agent)


def room_name(agent: str) -> str:
    """Translate any name of an agent into its name on the command line; an unknown name stays."""
    return ROOMS.get(agent_name(agent), agent)


def part(agent: str, name: str) -> "Any":
    """Load a module of the agent's room; None where the agent has no room, or the room no such module."""
    room = ROOMS.get(agent) or PAST_ONLY.get(agent)
    if room is None:
        if not agent or agent in _NO_HOSTS:
            return None
        from eventlog.hosts import packages

        return packages.load(agent, name)
    module = f"eventlog.hosts.{room}.{name}"
    try:
        return __import__(module, fromlist=[name])
    except ModuleNotFoundError as error:
        if error.name != module:
            raise
        return None


def protocol(agent: str | None) -> HostProtocol:
    """Return the protocol of an agent's host; that of hosts without a room, where it has none."""
    found = _protocols.get(agent or "")
    if found is None:
        room = part(agent or "", "protocol")
        found = _protocols[agent or ""] = getattr(room, "PROTOCOL", None) or HostProtocol(agent or "")
        if agent in _READ_AGENTS_MD:
            found.memory = (("AGENTS.md",),), (), False
    return found


def rooms() -> dict[str, str]:
    """Map all agents to their rooms: those of this package, and those that others bring under the agent's own name."""
    from eventlog.hosts import packages

    taken = {*ROOMS, *ROOMS.values()}
    return ROOMS | {agent: agent for agent in packages.other_rooms() if agent not in taken}


# ------------------------------------------------------------------------------------------------ reading and answering

_GEMINI = frozenset(
    (
        "BeforeAgent", "AfterAgent", "BeforeTool", "AfterTool", "PreCompress",
        "BeforeModel", "AfterModel", "BeforeToolSelection",
    )
)  # fmt: skip
_GEMINI_TOO = frozenset(("SessionStart", "SessionEnd", "Notification"))


def read(payload: Payload, agent_hint: str = "", event_hint: str = "") -> HookCall:
    """Make a call of a payload, as the room of the host that sent it reads it.

    The hints come from the installed command, and decide only where the payload does not.
    """
    return protocol(agent_of(payload, agent_hint)).read(payload, event_name(payload, event_hint))


def agent_of(payload: Payload, hint: str = "") -> str:  # noqa: PLR0911 - a table, in the order hosts imitate each other
    """Name the agent that sent a payload; never by the environment, which hosts inherit from each other."""
    name = text(payload, "hook_event_name")
    if hint and hint not in ROOMS and part(hint, "protocol"):
        return hint  # another package's host, whose payloads may look like anybody's
    if text(payload, "cursor_version", "conversation_id"):
        return hint if hint == "auggie" and not text(payload, "cursor_version") else "cursor"
    if text(payload, "agent_action_name"):
        return "windsurf"
    if camel := text(payload, "hookEventName"):
        return "grok" if text(payload, "workspaceRoot") or camel == camel.lower() else "vscode"
    if name and ("########" in text(payload, "prompt_id") or (hint == "qwen-code" and name not in _GEMINI)):
        return "qwen-code"
    if text(payload, "sessionId") and not name:
        return "copilot"
    if name in _GEMINI:
        return "gemini"
    if name and text(payload, "timestamp"):
        return "gemini" if name in _GEMINI_TOO and hint in ("", "gemini") else "copilot"
    if text(payload, "turn_id") or "/rollout-" in text(payload, "transcript_path").replace("\\", "/"):
        return "codex"
    return "continue" if hint == "claude-code" and payload.get("transcript_path") == "" else hint or "claude-code"


def event_name(payload: Payload, hint: str = "") -> str:
    """Return the host's name of the event; Copilot's camel-case payloads have none, so their fields decide."""
    if name := text(payload, "hook_event_name", "hookEventName", "agent_action_name") or hint:
        return name
    if text(payload, "stopReason"):
        return "agentStop"
    return "sessionStart" if text(payload, "source") else "unknown"


def dialect(installed_for: str, agent: str) -> HostProtocol:
    """Choose the protocol in which the host that runs the hook is answered.

    Cursor translates the answers of the hooks in Claude Code's settings, as far as it understands them. VS Code and
    Copilot run these hooks too, but understand only their own answers.
    """
    caller = agent if agent in _RUN_FOREIGN_HOOKS_THEIR_WAY else installed_for or agent
    return protocol(caller) if caller == agent else protocol(caller).for_others()


# ------------------------------------------------------------------------------------------------ details of protocols


def named_conversations(environ: "Mapping[str, str]") -> dict[str, str]:
    """Map agents to the conversation ids in their variables; several where a host started another.

    Such a variable begins with the name of the host's room: only rooms it may be of are loaded.
    """
    named = [name for name in environ if name.endswith("_ID")]
    likely = (agent for agent, room in ROOMS.items() if any(name.startswith(f"{room.upper()}_") for name in named))
    ids = {agent: environ.get(protocol(agent).session_variable, "").strip() for agent in likely}
    return {agent: conversation_id for agent, conversation_id in ids.items() if conversation_id}
