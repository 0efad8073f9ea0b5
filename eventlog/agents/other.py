"""Hosts without a file of their own: every call is kept, under the names most hosts use for things."""

from eventlog.agents.moment import Moment, Payload, present, text

SILENT = {"gemini": b"{}"}  # an empty answer makes Gemini CLI parse stderr


def read(payload: Payload, name: str, agent: str) -> Moment:
    """The moment a payload tells of."""
    session = text(payload, "session_id", "sessionId", "trajectory_id", "conversation_id")
    subagent = text(payload, "agent_id", "agentId")
    about = {"session": session, "subagent": subagent}
    match name[:1].lower() + name[1:]:
        case "sessionStart":
            source = text(payload, "source")
            fields = present(source=source, transcript_path=text(payload, "transcript_path", "transcriptPath"))
            return Moment(agent, name, payload, type="session_start", fields=fields, **about)
        case "stop" | "agentStop" | "afterAgent":
            fields = present(status="completed")
            return Moment(agent, name, payload, type="turn_end", fields=fields, **about)
        case "sessionEnd":
            fields = present(reason=text(payload, "reason"))
            return Moment(agent, name, payload, type="session_end", fields=fields, **about)
        case _:
            return Moment(agent, name, payload, turn=text(payload, "tool_use_id", "tool_call_id"), **about)
