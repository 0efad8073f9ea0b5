"""Cursor, desktop and CLI.

Payload: `conversation_id` (older builds: or `session_id`), `generation_id` (the turn), `workspace_roots`; `cwd` is
often "". It also runs hooks it finds in Claude Code's settings, with its own payload. Documentation:
cursor.com/docs/hooks.
"""

from eventlog.agents.moment import Moment, Payload, present, text

AGENT = "cursor"
SILENT = b"{}"

_NAMELESS_MODELS = ("default", "unknown")


def read(payload: Payload, name: str) -> Moment:
    """The moment a payload tells of; event names of both spellings."""
    turn = text(payload, "generation_id")
    about = {
        "session": text(payload, "conversation_id", "session_id"),
        "subagent": text(payload, "subagent_id") if name.startswith("subagent") else "",
    }
    match name[:1].lower() + name[1:]:
        case "sessionStart":
            return Moment(AGENT, name, payload, type="session_start", fields=_start(payload), **about)
        case "stop":
            fields = present(turn_id=turn, status=text(payload, "status"))
            return Moment(AGENT, name, payload, turn=_again(payload, turn), type="turn_end", fields=fields, **about)
        case "sessionEnd":
            return Moment(AGENT, name, payload, turn=turn, type="session_end", fields=_end(payload), **about)
        case "subagentStart" | "subagentStop":
            return Moment(AGENT, name, payload, turn=about["subagent"], **about)
        case "beforeSubmitPrompt":
            return Moment(AGENT, name, payload, turn=turn, **about)
        case _:
            return Moment(AGENT, name, payload, turn=text(payload, "tool_use_id"), **about)


def _start(payload: Payload) -> dict[str, object]:
    model = text(payload, "model")
    return present(
        model="" if model in _NAMELESS_MODELS else model,
        transcript_path=text(payload, "transcript_path"),
    )


def _end(payload: Payload) -> dict[str, object]:
    duration = payload.get("duration_ms")
    return present(
        reason=text(payload, "reason"),
        status=text(payload, "final_status"),
        duration_ms=duration if isinstance(duration, (int, float)) and not isinstance(duration, bool) else None,
        error=text(payload, "error_message"),
    )


def _again(payload: Payload, turn: str) -> str:
    """A follow-up message of a hook continues the generation; its stops are counted."""
    loops = payload.get("loop_count")
    return f"{turn}#{loops}" if turn and isinstance(loops, int) else turn
