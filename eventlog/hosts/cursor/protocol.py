"""Cursor, desktop and CLI.

Payload: `conversation_id` (older builds: or `session_id`), `generation_id` (the turn), `workspace_roots`; `cwd` is
often "". It also runs hooks it finds in Claude Code's settings, with its own payload, and translates the answers.
A subagent works under a conversation id of its own that nothing ties to its parent. Documentation:
cursor.com/docs/hooks.
"""

from eventlog.fast import fastjson
from eventlog.hosts.call import HookCall, HostProtocol, Payload, text

_NAMELESS_MODELS = ("default", "unknown")
_AS_CURSOR_SAYS = {"userPromptSubmit": "beforeSubmitPrompt"}  # in hooks taken from Claude Code's settings


class _CursorProtocol(HostProtocol):
    """The protocol of Cursor."""

    silent = b"{}"
    session_variable = "CURSOR_CONVERSATION_ID"  # its hooks have no such variable
    memory = (("AGENTS.md",),), (), False
    servers = "", ".cursor", "mcp.json", ".cursor/mcp.json"

    def read(self, payload: Payload, name: str) -> HookCall:
        """Make a call of a payload, with event names of both spellings."""
        camel = name[:1].lower() + name[1:]
        name = _AS_CURSOR_SAYS.get(camel, camel)
        turn, session = text(payload, "generation_id"), text(payload, "conversation_id", "session_id")
        call = HookCall(self.agent, name, payload, session=session, dedupe_key=text(payload, "tool_use_id"))
        match name:
            case "sessionStart":
                model = text(payload, "model")
                return call.as_session_start(model="" if model in _NAMELESS_MODELS else model)
            case "stop":
                key, status = _again(payload, turn), text(payload, "status")
                is_settled = status in ("", "completed") and not payload.get("loop_count")
                may_ask = is_settled and not payload.get("stop_hook_active")
                return call.as_turn_end(turn_id=turn, status=status, dedupe_key=key, may_ask=may_ask)
            case "preCompact":
                return call.as_compaction(
                    context_usage_percent=_number(payload, "context_usage_percent"),
                    message_count=_count(payload, "message_count"),
                    dedupe_key=_again(payload, turn),
                )
            case "sessionEnd":
                return call.as_session_end(
                    reason=text(payload, "reason"),
                    status=text(payload, "final_status"),
                    duration_ms=_number(payload, "duration_ms"),
                    error=text(payload, "error_message"),
                    dedupe_key=turn,
                )
            case "subagentStart" | "subagentStop":
                call.subagent = call.dedupe_key = text(payload, "subagent_id", "tool_call_id") or "subagent"
            case "beforeSubmitPrompt":
                call.dedupe_key = turn
        return call

    def start(self, context: str, event: str = "") -> bytes:
        """Give a session its context."""
        del event
        return fastjson.dumps({"additional_context": context})

    def ask(self, request: str) -> bytes:
        """Continue with a request, which Cursor sends as the user's next message."""
        return fastjson.dumps({"followup_message": request})

    def flush(self, request: str) -> bytes:
        """Show the request to the user, the only answer Cursor takes before a compaction."""
        return fastjson.dumps({"user_message": request})


def _number(payload: Payload, name: str) -> "float | None":
    value = payload.get(name)
    if not isinstance(value, (int, float)) or isinstance(value, bool) or fastjson.refusal(value):
        return None
    return value


def _count(payload: Payload, name: str) -> "int | None":
    value = _number(payload, name)
    return value if isinstance(value, int) else None


def _again(payload: Payload, turn: str) -> str:
    """Make the key of a stop or compaction: a generation may have several, as a hook's message continues it."""
    count = payload.get("loop_count", payload.get("message_count"))
    return f"{turn}#{count}" if turn and isinstance(count, int) else turn


PROTOCOL = _CursorProtocol("cursor")
