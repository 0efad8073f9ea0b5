"""Which files hosts load by themselves, so that nobody is told the same thing twice.

A host's own memory file (named in its profile) may be a link to one of ours, or import it (`@path`).
"""

import os
import re
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING

from eventlog.hosts import memory_files
from eventlog.projections.context.loader import Unreadable, read
from eventlog.projects.root import in_full

if TYPE_CHECKING:
    from eventlog.hosts import MemoryFiles

_IMPORT = re.compile(r"(?<!\S)@(?P<path>[^\s`]+)")
_CODE = re.compile(r"```.*?```|`[^`\n]*`", re.DOTALL)


def loaded_by_host(agent: str, project: str, home: str) -> set[str]:
    """Find the real paths of the files the host gives its agent anyway."""
    memory = memory_files(agent)
    return {os.path.realpath(path) for path in _own(memory, Path(project), Path(home)) if path.is_file()}


def looked_for(agent: str, project: str, home: str) -> Iterator[str]:
    """Yield every path whose state decides which files these are, whether or not anything is there."""
    memory = memory_files(agent)
    yield from (str(path) for group in _groups(memory, Path(project), Path(home)) for path in group)
    yield from map(str, _own(memory, Path(project), Path(home)))


def _own(memory: "MemoryFiles", project: Path, home: Path) -> Iterator[Path]:
    _, _, has_imports = memory
    for group in _groups(memory, project, home):
        file = next((path for path in group if path.is_file()), group[-1])
        yield file
        if has_imports:
            yield from _imports(file, home)


def _groups(memory: "MemoryFiles", project: Path, home: Path) -> Iterator[list[Path]]:
    below_project, below_home, _ = memory
    yield from ([project / name for name in group] for group in below_project)
    yield from ([home / name for name in group] for group in below_home)


def _imports(file: Path, home: Path) -> Iterator[Path]:
    """List the files a file names with `@`, outside of code; one step deep."""
    try:
        text = read(file, Path(file.anchor))
    except (OSError, Unreadable):
        return
    for match in _IMPORT.finditer(_CODE.sub("", text)):
        named = match["path"]
        yield file.parent / in_full(named, str(home))
