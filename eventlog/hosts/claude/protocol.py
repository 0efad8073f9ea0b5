"""Claude Code, and every host that kept its protocol.

Payload: `session_id`, `hook_event_name`, `prompt_id` (the turn, from 2.1.196 on); inside a subagent also `agent_id`,
under the root's session id. A turn may end while background tasks run, and again when they are done.
Before a compaction nothing can be said to the agent: that is made up for at the `SessionStart` that follows it.
Documentation: code.claude.com/docs/en/hooks.
"""

from eventlog.fast import fastjson
from eventlog.hosts.call import HookCall, Payload, text

AGENT = "claude-code"
SESSION_VARIABLE = "CLAUDE_CODE_SESSION_ID"  # of its agent's shell commands: the root session, also in subagents
MOST_AT_START = ("utf-16-le", 19_800)  # 10,000 characters of two bytes; of more it shows a file, and how that begins
SILENT = b""
PROMPT = "UserPromptSubmit"  # which event a prompt is, where its hook may tell something with it

_OPENS_FILES = ("read", "edit", "multiedit", "write", "notebookedit", "readfile", "writefile")


def read(payload: Payload, name: str, agent: str = AGENT) -> HookCall:
    """Read the call a payload tells of."""
    turn = text(payload, "turn_id", "prompt_id")
    session, subagent = text(payload, "session_id", "sessionId"), text(payload, "agent_id")
    call = HookCall(agent, name, payload, session=session, subagent=subagent, dedupe_key=text(payload, "tool_use_id"))
    match name:
        case "SessionStart":
            call.may_recur = True
            return call.as_session_start(
                source=text(payload, "source"),
                model=text(payload, "model"),
                transcript_path=text(payload, "transcript_path"),
            )
        case "Stop" if turn or not payload.get("stop_hook_active"):  # else the same turn, gone on for a hook
            return call.as_turn_end(turn_id=turn, status="completed", dedupe_key=turn, may_ask=is_settled(payload))
        case "PreCompact":
            return call.as_compaction()
        case "SessionEnd":
            call.may_recur = True
            return call.as_session_end(reason=text(payload, "reason"), dedupe_key=turn)
        case "SubagentStart" | "SubagentStop":
            call.dedupe_key = subagent
            if payload.get("agent_type") == "":  # who makes a compaction's summary is nobody's subagent
                call.subagent = ""
        case "UserPromptSubmit":
            call.dedupe_key, call.asked = turn, text(payload, "prompt")
        case "PreToolUse" if agent == AGENT:
            call.file = _file(payload)
    return call


def _file(payload: Payload) -> str:
    """The file a tool is about to read or change; "" for other tools."""
    arguments = payload.get("tool_input")
    is_of_file = text(payload, "tool_name").replace("_", "").lower() in _OPENS_FILES
    return (
        text(arguments, "file_path", "notebook_path", "absolute_path")
        if is_of_file and isinstance(arguments, dict)
        else ""
    )


def is_settled(payload: Payload) -> bool:
    """Neither the answer to a hook's own request, nor with anything still running."""
    return not payload.get("stop_hook_active") and not payload.get("background_tasks")


def start(context: str, event: str = "SessionStart") -> bytes:
    """Give a session its context, at its start or at another event whose answer reaches the agent."""
    return fastjson.dumps({"hookSpecificOutput": {"hookEventName": event, "additionalContext": context}})


def ask(request: str) -> bytes:
    """Continue the turn with a request, shown as what a hook says.

    A blocked stop is shown as a problem, and told twice.
    """
    return fastjson.dumps({"hookSpecificOutput": {"hookEventName": "Stop", "additionalContext": request}})


def ask_with_prompt(request: str) -> bytes:
    """Add a request to what the agent is given with a prompt, for hosts that show a stopped end of a turn as one."""
    return start(request, PROMPT)


def block(request: str) -> bytes:
    """Continue the turn with a request, as every host with this protocol understands it."""
    return fastjson.dumps({"decision": "block", "reason": request})


def flush(request: str) -> bytes:
    """Say nothing: what a hook says before a compaction is discarded."""
    del request
    return SILENT
