"""What hosts send to their hooks: written after their documentation, and captured ones where they are at hand."""

import json

from tests.support.tree import ROOT

CAPTURED = ROOT.parent / "shared" / "payloads"
NONE_CAPTURED = "no captured payloads are at hand"


def captured():
    """Every captured payload, by name; none where they are not at hand."""
    return sorted(CAPTURED.glob("*.json"))


def claude(name, **fields):
    common = {"session_id": "5f0c", "transcript_path": "/home/ada/.claude/5f0c.jsonl", "cwd": "/home/ada/shop"}
    return {**common, "hook_event_name": name, **fields}


def cursor(name, **fields):
    common = {
        "conversation_id": "c0de", "generation_id": "g-1", "model": "default", "hook_event_name": name, "cwd": "",
        "cursor_version": "3.18.25", "workspace_roots": ["/home/ada/shop"], "user_email": "ada@example.org",
        "transcript_path": None,
    }  # fmt: skip
    return {**common, **fields}


def codex(name, **fields):
    common = {"session_id": "0199", "transcript_path": "/home/ada/.codex/rollout-0199.jsonl", "cwd": "/home/ada/shop"}
    return {**common, "hook_event_name": name, "model": "gpt-5-codex", **fields}


def data(payload):
    return json.dumps(payload, ensure_ascii=False).encode()


# payload, type of the event it becomes, fields of that event
MOMENTS: dict[str, tuple[dict[str, object], str, dict[str, object]]] = {
    "claude starts": (claude("SessionStart", source="resume", model="opus"), "session_start", {"source": "resume", "model": "opus"}),
    "claude ends a turn": (claude("Stop", prompt_id="p-1", stop_hook_active=False), "turn_end", {"turn_id": "p-1", "status": "completed"}),
    "claude ends": (claude("SessionEnd", reason="logout"), "session_end", {"reason": "logout"}),
    "claude uses a tool": (claude("PreToolUse", tool_name="Bash", tool_use_id="t-1"), "host_event", {"name": "PreToolUse"}),
    "claude says something new": (claude("Sneezed", loud=True), "host_event", {"name": "Sneezed", "subagent": None}),
    "claude's helper starts": (claude("SubagentStart", agent_id="a-1", agent_type="explorer"), "host_event", {"subagent": "a-1"}),
    "claude's helper stops": (claude("SubagentStop", agent_id="a-1"), "host_event", {"subagent": "a-1", "name": "SubagentStop"}),
    "cursor starts": (cursor("sessionStart"), "session_start", {"model": None}),
    "cursor ends a turn": (cursor("stop", status="aborted", loop_count=0), "turn_end", {"turn_id": "g-1", "status": "aborted"}),
    "cursor ends": (
        cursor("sessionEnd", reason="error", final_status="error", duration_ms=1500, error_message="boom"),
        "session_end",
        {"reason": "error", "status": "error", "duration_ms": 1500.0, "error": "boom"},
    ),
    "cursor edits a file": (cursor("afterFileEdit", file_path="/home/ada/shop/a.py"), "host_event", {"name": "afterFileEdit"}),
    "cursor's helper starts": (cursor("subagentStart", subagent_id="s-1"), "host_event", {"subagent": "s-1"}),
    "codex starts": (codex("SessionStart", source="startup"), "session_start", {"source": "startup", "model": "gpt-5-codex"}),
    "codex ends a turn": (codex("Stop", turn_id="u-1"), "turn_end", {"turn_id": "u-1", "status": "completed"}),
    "codex ends": (codex("SessionEnd", reason="other"), "session_end", {"reason": "other"}),
    "codex is prompted": (codex("UserPromptSubmit", turn_id="u-1", prompt="hi"), "host_event", {"name": "UserPromptSubmit"}),
}  # fmt: skip
AGENTS = {"claude": "claude-code", "cursor": "cursor", "codex": "codex"}
SESSIONS = {"claude": "5f0c", "cursor": "c0de", "codex": "0199"}
