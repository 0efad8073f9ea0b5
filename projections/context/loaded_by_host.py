"""Which files hosts load by themselves, so that nobody is told the same thing twice.

A host's own memory file may be a link to one of ours, or import it (`@path`; Claude Code and Gemini CLI). Sources:
each host's documentation of its memory files.
"""

import os
import re
from collections.abc import Iterator
from pathlib import Path

from eventlog.projections.context.loader import Unreadable, read

_IMPORT = re.compile(r"(?<!\S)@(?P<path>[^\s`]+)")
_CODE = re.compile(r"```.*?```|`[^`\n]*`", re.DOTALL)
_IN_HOME = {"claude-code": ".claude/CLAUDE.md", "gemini": ".gemini/GEMINI.md", "copilot": ".copilot/AGENTS.md"}
_IN_PROJECT = {
    "claude-code": ("CLAUDE.md", ".claude/CLAUDE.md", "CLAUDE.local.md"),
    "gemini": ("GEMINI.md",),
    "copilot": ("AGENTS.md", ".github/copilot-instructions.md"),
    **dict.fromkeys(("cursor", "vscode", "opencode", "amp", "windsurf", "droid"), ("AGENTS.md",)),
}
_IMPORTING = ("claude-code", "gemini")


def loaded_by_host(agent: str, project: str, home: str) -> set[str]:
    """The real paths of the files the host gives its agent anyway."""
    return {os.path.realpath(path) for path in _own(agent, Path(project), Path(home)) if path.is_file()}


def _own(agent: str, project: Path, home: Path) -> Iterator[Path]:
    if agent == "codex":
        yield _first(home / ".codex")
        yield _first(project)
        return
    files = [project / name for name in _IN_PROJECT.get(agent, ())]
    if agent in _IN_HOME:
        files.append(home / _IN_HOME[agent])
    for file in files:
        yield file
        if agent in _IMPORTING:
            yield from _imports(file, home)


def _first(directory: Path) -> Path:
    """Codex reads the first of these that is there."""
    override = directory / "AGENTS.override.md"
    return override if override.is_file() else directory / "AGENTS.md"


def _imports(file: Path, home: Path) -> Iterator[Path]:
    """What the file names with `@`, outside of code; one step deep."""
    try:
        text = read(file, Path(file.anchor))
    except (OSError, Unreadable):
        return
    for match in _IMPORT.finditer(_CODE.sub("", text)):
        named = match["path"]
        yield home / named[2:] if named.startswith("~/") else file.parent / named
