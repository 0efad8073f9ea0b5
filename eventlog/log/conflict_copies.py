"""Copies of day files that sync programs make of two versions they cannot reconcile, told by their names.

None is ever read: an old copy would bring back what was redacted since.
"""

import re

from eventlog.store import day_of

_NAMES = (
    ("Syncthing", r"\.sync-conflict-"),
    ("Dropbox", r" \(.*'s conflicted copy.*\)"),
    ("Nextcloud", r" \((?:case )?conflict.*\)|_conflict-"),
    ("Seafile", r" \(SFConflict.*\)"),
    ("Resilio", r"\.conflict$"),
    ("rclone", r"\.conflict\d+$"),
    ("Synology Drive", r"_(?:upload)?conflict"),
    ("Google Drive", r" \(\d+\)$"),
    ("iCloud", r" \d+$"),
    ("OneDrive", r"^-[^.]+$"),
)
_BY_NAME = [(program, re.compile(pattern, re.IGNORECASE)) for program, pattern in _NAMES]
_DAY = len("2026-02-20")


def sync_program(name: str) -> str:
    """Name the program that calls its copy of a day file like this; "" where it is no such name."""
    if not day_of(f"{name[:_DAY]}.jsonl") or not name.endswith(".jsonl") or day_of(name):
        return ""
    rest = name[_DAY:].removesuffix(".jsonl")
    return next((program for program, pattern in _BY_NAME if pattern.search(rest)), "")
