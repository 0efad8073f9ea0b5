"""Knowledge files, read back as plain data: what `contract_files.py` says they hold."""

import json
import re
from typing import Any

_BULLET = re.compile(r"- \[(\S+?)(?: ×(\d+))?( \?)?\] (.*)")
_NOTE = {"events": "Events", "insights": "Insights", "todos": "To-dos"}


def read_back(documents):
    """Sort documents (path -> bytes) by what they are, and read each; indexes and lists of projects are left out."""
    found: dict[str, dict[str, Any]] = {"sessions": {}, "memories": {}, "notes": {}, "pages": {}, "bases": {}}
    for path, data in documents.items():
        lines = data.decode().split("\n")
        if path == "sessions.jsonl":
            found["sessions"] = {
                line["session_id"]: line for line in map(json.loads, filter(None, lines)) if line.pop("id")
            }
        elif path.endswith("MEMORY.md"):
            found["memories"][path] = _memory(lines)
        elif path.startswith("memory/"):
            sections = _sections(lines)
            found["notes"][path[7:-3]] = {name: sections.get(title, []) for name, title in _NOTE.items()}
        elif path.startswith("bases/"):
            pieces = data.decode().partition("\n<!-- eventlog ")[0].split("## ")[1:]
            found["bases"][path] = {
                heading: text.strip() for heading, _, text in (piece.partition("\n") for piece in pieces)
            }
        elif path.startswith("sessions/"):
            conversation = next(line for line in lines if line.startswith("**Session ID:** "))
            found["pages"][conversation[16:]] = [_plain(line) for line in lines[:-3]]
    return found


def _plain(text):
    """Take away what keeps the characters of a text from being Markdown."""
    return re.sub(r"\\([^\w\s])", r"\1", text)


def _sections(lines):
    sections: dict[str, list[str]] = {}
    title = ""
    for line in lines:
        title = _plain(line[3:]) if line.startswith("## ") else title
        if line.startswith("- "):
            sections.setdefault(title, []).append(_plain(line[2:]))
    return sections


def _memory(lines):
    found = []
    for title, bullets in _sections(lines).items():
        read = filter(None, (_BULLET.fullmatch(f"- {bullet}") for bullet in bullets))
        found.append(
            (
                title,
                [
                    (day, int(times or 1), bool(doubt), text)
                    for day, times, doubt, text in (bullet.groups() for bullet in read)
                ],
            )
        )
    return found
