"""Hosts without a file of their own: every call is kept, under the names most hosts use for things.

Nothing is known of how they want to be answered, so they are not.
"""

from eventlog.hosts.call import HookCall, Payload, text

SILENT = b""


def read(payload: Payload, name: str, agent: str) -> HookCall:
    """Read the call a payload tells of."""
    session = text(payload, "session_id", "sessionId", "trajectory_id", "conversation_id", "conversationId")
    subagent, tool = text(payload, "agent_id", "agentId"), text(payload, "tool_use_id", "tool_call_id")
    call = HookCall(agent, name, payload, session=session, dedupe_key=tool, subagent=subagent)
    turn = text(payload, "turn_id", "execution_id")
    match name[:1].lower() + name[1:]:
        case "sessionStart" | "session_start" | "agentSpawn":
            transcript = text(payload, "transcript_path", "transcriptPath")
            return call.as_session_start(source=text(payload, "source"), transcript_path=transcript)
        case "stop" | "agentStop" | "afterAgent" | "post_cascade_response":
            return call.as_turn_end(turn_id=turn, status="completed", dedupe_key=turn)
        case "sessionEnd" | "session_end":
            return call.as_session_end(reason=text(payload, "reason"))
    return call


def start(*_: str) -> bytes:
    """Stay silent, whatever there is to say."""
    return SILENT


ask = flush = start
