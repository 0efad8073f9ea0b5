"""Hosts without a file of their own: every call is kept, under the names most hosts use for things.

Nothing is known of how they want to be answered, so they are not.
"""

from eventlog.agents.moment import Moment, Payload, present, text

SILENT = b""


def read(payload: Payload, name: str, agent: str) -> Moment:
    """The moment a payload tells of."""
    session = text(payload, "session_id", "sessionId", "trajectory_id", "conversation_id", "conversationId")
    subagent, tool = text(payload, "agent_id", "agentId"), text(payload, "tool_use_id", "tool_call_id")
    moment = Moment(agent, name, payload, session=session, turn=tool, subagent=subagent)
    turn = text(payload, "turn_id", "execution_id")
    match name[:1].lower() + name[1:]:
        case "sessionStart" | "session_start" | "agentSpawn":
            transcript = text(payload, "transcript_path", "transcriptPath")
            fields = present(source=text(payload, "source"), transcript_path=transcript)
            return moment.becomes("session_start", fields)
        case "stop" | "agentStop" | "afterAgent" | "post_cascade_response":
            return moment.becomes("turn_end", present(turn_id=turn, status="completed"), turn=turn)
        case "sessionEnd" | "session_end":
            return moment.becomes("session_end", present(reason=text(payload, "reason")))
    return moment


def start(context: str) -> bytes:
    """Nothing."""
    del context
    return SILENT


ask = flush = start
