"""Claude Code, and every host that adopted its protocol.

Payload: `session_id`, `hook_event_name`, `prompt_id` (the turn, from 2.1.196 on); inside a subagent also `agent_id`,
under the root's session id. A turn may end while background tasks run, and again when they are done.
Before a compaction no hook reaches the agent: the `SessionStart` that follows it makes up for that.
Documentation: code.claude.com/docs/en/hooks, /memory.
"""

from eventlog.fast import fastjson, os
from eventlog.hosts.call import HookCall, HostProtocol, Payload, text

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Mapping

_LONGEST_STAGE = 1500  # characters
_OPENS_FILES = ("read", "edit", "multiedit", "write", "notebookedit", "readfile", "writefile")


class ClaudeLike(HostProtocol):
    """The protocol as other hosts adopted it: they show a stop as an error, so the agent is asked with a prompt."""

    prompt: "str | None" = "UserPromptSubmit"

    def read(self, payload: Payload, name: str) -> HookCall:
        """Make a call of a payload."""
        turn = text(payload, "turn_id", "prompt_id")
        session, subagent = text(payload, "session_id", "sessionId"), text(payload, "agent_id")
        tool = text(payload, "tool_use_id")
        call = HookCall(self.agent, name, payload, session=session, subagent=subagent, dedupe_key=tool)
        match name:
            case "SessionStart":
                call.may_recur = True
                return call.as_session_start()
            case "Stop" if turn or not payload.get("stop_hook_active"):  # else the same turn, continued for a hook
                return call.as_turn_end(turn_id=turn, status="completed", dedupe_key=turn, may_ask=call.is_settled)
            case "StopFailure":  # instead of Stop, where a request of the model failed
                return call.as_turn_end(turn_id=turn, status="error", dedupe_key=turn, may_ask=False)
            case "PreCompact":
                return call.as_compaction()
            case "SessionEnd":
                call.may_recur = True
                return call.as_session_end(reason=text(payload, "reason"), dedupe_key=turn)
        return _within_turn(call, name, turn)

    def start(self, context: str, event: str = "SessionStart") -> bytes:
        """Give a session its context, at its start or at another event whose answer reaches the agent."""
        return fastjson.dumps({"hookSpecificOutput": {"hookEventName": event, "additionalContext": context}})

    def ask(self, request: str) -> bytes:
        """Add a request to the context of a prompt."""
        return self.start(request, self.prompt or "")


class Blocked(ClaudeLike):
    """The protocol of hosts that continue a turn only for a blocked stop; all that adopted it translate that."""

    def ask(self, request: str) -> bytes:
        """Continue the turn with a request."""
        return fastjson.dumps({"decision": "block", "reason": request})


class BlockedInside(ClaudeLike):
    """The protocol of hosts that look for the decision about a stop beside the name of the event."""

    prompt = None

    def ask(self, request: str) -> bytes:
        """Continue the turn with a request."""
        decision: dict[str, object] = {"decision": "block", "reason": request}
        return fastjson.dumps({"hookSpecificOutput": {"hookEventName": "Stop", **decision}})


class _ClaudeProtocol(ClaudeLike):
    """The protocol of Claude Code itself, which discards the answer before a compaction."""

    session_variable = "CLAUDE_CODE_SESSION_ID"  # the root session, also in subagents
    most_at_start = "utf-16-le", 19_800  # 10,000 characters of two bytes; of more it shows a file, and how that begins
    memory = (("CLAUDE.md",), (".claude/CLAUDE.md",), ("CLAUDE.local.md",)), ((".claude/CLAUDE.md",),), True
    servers = "CLAUDE_CONFIG_DIR", "", ".claude.json", ".mcp.json"
    runs_servers_of_plugins_too = True

    def read(self, payload: Payload, name: str) -> HookCall:
        """Make a call of a payload."""
        call = super().read(payload, name)
        if name == "PreToolUse":
            arguments = payload.get("tool_input")
            is_of_file = text(payload, "tool_name").replace("_", "").lower() in _OPENS_FILES
            paths = arguments if is_of_file and isinstance(arguments, dict) else {}
            call.file = text(paths, "file_path", "notebook_path", "absolute_path")
        return call

    def ask(self, request: str) -> bytes:
        """Continue the turn with a request, shown as a hook's text; a blocked stop is shown as a problem, and twice."""
        return self.start(request, "Stop")

    def for_others(self) -> HostProtocol:
        """Block the stop for hosts that run the hooks of Claude Code's settings."""
        return Blocked(self.agent)

    def newest_transcript(self, where: str, environ: "Mapping[str, str]") -> str:
        """Find the transcript written last, `projects/<slug of the directory>/<session>.jsonl`; "" for none."""
        home = environ.get("CLAUDE_CONFIG_DIR") or os.path.expanduser("~/.claude")
        return self.newest_file(f"{home}/projects/{slug(where)}")


def _within_turn(call: HookCall, name: str, turn: str) -> HookCall:
    payload = call.payload
    match name:
        case "PostCompact" if stage := _stage(text(payload, "compact_summary")):
            return call.as_stage(stage)
        case "SubagentStart" | "SubagentStop":
            call.dedupe_key, call.starts_helper = call.subagent, name == "SubagentStart" and call.subagent != ""
            if payload.get("agent_type") == "":  # the agent that writes a compaction's summary is no subagent
                call.subagent = ""
        case "UserPromptSubmit":
            return call.as_prompt(text(payload, "prompt"), source=text(payload, "source"), dedupe_key=turn)
        case "PostToolUseFailure" if not payload.get("is_interrupt"):
            return call.as_failure(text(payload, "error"))
    return call


def _stage(summary: str) -> str:
    """Return what a model wrote of a conversation to compact it, bounded and without the thoughts before."""
    after = summary.rpartition("</analysis>")[2].partition("<analysis>")[0]
    words = after.replace("<summary>", " ").replace("</summary>", " ").split()
    text = " ".join(words)
    beginning = text[:_LONGEST_STAGE]
    return text if text == beginning else f"{beginning.rpartition(' ')[0] or beginning} …"


def slug(path: str) -> str:
    """Convert a path to the name of Claude Code's directory of transcripts: `-` for all but letters and digits."""
    return "".join(char if char.isascii() and char.isalnum() else "-" for char in path)


PROTOCOL = _ClaudeProtocol("claude-code")
