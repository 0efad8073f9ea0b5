"""What hosts keep of past conversations: homes laid out as theirs, and conversations of any length."""

import json
import os
import shutil
from pathlib import Path

from eventlog.app.importing.import_past import import_past
from eventlog.app.importing.source import ImportRequest
from eventlog.app.open_store import Machine
from eventlog.format import timestamps
from eventlog.settings.schema import Settings
from tests.support.tree import ROOT

FIXTURES = ROOT / "fixtures" / "transcripts"
REAL = ROOT.parent / "shared" / "real-hosts" / "transcripts"
NONE_AT_HAND = "no real transcripts are at hand"
LATER = timestamps.to_ns("2026-03-01T00:00:00.000000Z")
WRITTEN = timestamps.to_ns("2026-02-20T11:00:00.000000Z")
PLACES = {  # host -> fixture -> where its host keeps it
    "claude": {"claude/5f0c.jsonl": ".claude/projects/-home-ada-shop/5f0c.jsonl",
               "claude/5f0c/subagents/agent-ab3df.jsonl": ".claude/projects/-home-ada-shop/5f0c/subagents/agent-ab3df.jsonl"},
    "codex": {"codex/rollout-2026-02-20T10-00-00-019c32d0-ad7a-70b2-b378-c2b94a4ce4a3.jsonl":
              ".codex/sessions/2026/02/20/rollout-2026-02-20T10-00-00-019c32d0-ad7a-70b2-b378-c2b94a4ce4a3.jsonl"},
    "cursor": {"cursor/c0de.jsonl": ".cursor/projects/home-ada-shop/agent-transcripts/c0de/c0de.jsonl"},
    "gemini": {"gemini/session-2026-02-20T10-00-b2e9ca8f.jsonl": ".gemini/tmp/shop/chats/session-2026-02-20T10-00-b2e9ca8f.jsonl"},
    "copilot": {"copilot/b1ade/events.jsonl": ".copilot/session-state/b1ade/events.jsonl"},
    "qwen": {"qwen/7c0de.jsonl": ".qwen/projects/-home-ada-shop/chats/7c0de.jsonl"},
    "droid": {"droid/d401d.jsonl": ".factory/sessions/-home-ada-shop/d401d.jsonl"},
}  # fmt: skip


def lay_out(home, *hosts):
    """A home in which these hosts, or all, have a past; all files were written in the morning of 20 February."""
    for host in hosts or PLACES:
        for fixture, place in PLACES[host].items():
            put(home / place, (FIXTURES / fixture).read_bytes())
    put(home / ".gemini" / "projects.json", json.dumps({"projects": {"/home/ada/shop": "shop"}}).encode())


def put(path, data, written=WRITTEN):
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(data)
    os.utime(path, ns=(written, written))
    return path


def conversation(home, name, start, *, minutes=30, cwd="/home/ada/shop", words="Fix the rounding of prices"):
    """A conversation of Claude Code, with a change and a decision in it, as a file of that host."""
    begun = timestamps.to_ns(start)
    said = [
        ("user", words),
        ("assistant", [{"type": "tool_use", "name": "Edit", "input": {"file_path": f"{cwd}/{name}.py"}}]),
        ("assistant", [{"type": "text", "text": f"Done. Decision: {name} is rounded once."}]),
    ]
    lines = [
        {
            "type": role, "sessionId": name, "cwd": cwd, "gitBranch": "main", "uuid": f"{name}-{number}",
            "timestamp": timestamps.from_ns(begun + number * minutes * 30 * 10**9)[:23] + "Z",
            "message": {"role": role, "content": content},
        }
        for number, (role, content) in enumerate(said)
    ]  # fmt: skip
    place = home / ".claude" / "projects" / cwd.replace("/", "-") / f"{name}.jsonl"
    return put(place, b"".join(json.dumps(line).encode() + b"\n" for line in lines), begun + minutes * 60 * 10**9)


def bring_in(log, source, home, path=None, *, now=LATER, since="", project=None, dry_run=False, environ=None):
    """Import a source for someone with that home, as of a day in March."""
    machine = Machine(str(home), environ or {}, lambda: now, "eventlog")
    request = ImportRequest(path and Path(path), Path(home), machine, log.store, Settings(), since, project)
    return import_past(log, source, request, dry_run=dry_run)


def told(log):
    """All that a log says, as a set: an event that is there twice would be there once too often."""
    events = list(log.read())
    found = {(event.id, event.ts, event.type, event.conversation_id) for event in events}
    assert len(found) == len(events)
    return found


def forget(log):
    """A log with nothing in it."""
    shutil.rmtree(log.store.log, ignore_errors=True)
