"""Codex CLI's store of sessions: `sessions/2026/02/21/rollout-<time>-<thread>.jsonl`, by a conversation's first day.

Imported inside agents' hooks, where a payload names no conversation.
"""

import os

from eventlog.hosts.newest import newest_file

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Mapping


def newest_transcript(where: str, environ: "Mapping[str, str]") -> str:
    """Find the rollout written last, whatever the directory it tells of; "" where there is none."""
    del where
    home = environ.get("CODEX_HOME") or os.path.expanduser("~/.codex")
    days = [f"{home}/sessions"]
    for _ in ("year", "month", "day"):
        days = [f"{parent}/{name}" for parent in days for name in _numbered(parent)]
    found = [path for path in map(newest_file, days) if path]
    return max(found, key=lambda path: os.stat(path).st_mtime_ns, default="")


def _numbered(directory: str) -> "list[str]":
    try:
        return [name for name in os.listdir(directory) if name.isdigit()]
    except OSError:
        return []
