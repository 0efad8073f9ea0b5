"""Which host is calling: told by the payload, never by the environment (hosts inherit and imitate each other's)."""

from eventlog.hosts.call import Payload, text

_GEMINI = frozenset(
    (
        "BeforeAgent", "AfterAgent", "BeforeTool", "AfterTool", "PreCompress",
        "BeforeModel", "AfterModel", "BeforeToolSelection",
    )
)  # fmt: skip
_GEMINI_TOO = frozenset(("SessionStart", "SessionEnd", "Notification"))
_DEFAULT = "claude-code"


def classify(payload: Payload, hint: str = "") -> str:
    """The agent's name. `hint`, from the command that was installed, decides only where the payload says nothing."""
    name = text(payload, "hook_event_name")
    if text(payload, "cursor_version", "conversation_id"):
        return "cursor"
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
    return hint or _DEFAULT


def event_name(payload: Payload, hint: str = "") -> str:
    """The host's name of the event; Copilot's camel-case payloads carry none, so it is told by what they hold."""
    if named := text(payload, "hook_event_name", "hookEventName", "agent_action_name") or hint:
        return named
    if text(payload, "stopReason"):
        return "agentStop"
    return "sessionStart" if text(payload, "source") else "unknown"
