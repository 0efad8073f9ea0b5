"""The files that hosts load by themselves, so that an agent does not read them twice.

A host's own memory file (named in its profile) may be a link to one of ours, or import it (`@path`).

Imported inside agents' hooks: standard library only, and `re` where a file may import others.
"""

from eventlog.fast import os
from eventlog.hosts import protocol
from eventlog.projections.context.context_files import Unreadable, read
from eventlog.projects.root import in_full

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator

_IMPORT = r"(?<!\S)@(?P<path>[^\s`]+)"
_CODE = r"(?s)```.*?```|`[^`\n]*`"


def loaded_by_host(agent: str, project: str, home: str) -> set[str]:
    """Find the real paths of the files the host gives its agent anyway."""
    in_project, in_home, has_imports = protocol(agent).memory
    found: list[str] = []
    groups = [[f"{project}/{name}" for name in group] for group in in_project]
    for group in (*groups, *([f"{home}/{name}" for name in group] for group in in_home)):
        file = next((path for path in group if os.path.isfile(path)), "")
        if file:
            found += [file, *(_imports(file, home) if has_imports else ())]
    return {os.path.realpath(path) for path in found if os.path.isfile(path)}


def _imports(file: str, home: str) -> "Iterator[str]":
    """List the files a file names with `@`, outside of code; one step deep."""
    try:
        text = read(file, "/" if file.startswith("/") else os.path.dirname(file))
    except (OSError, Unreadable):
        return
    if "@" not in text:
        return
    import re

    for match in re.finditer(_IMPORT, re.sub(_CODE, "", text)):
        yield os.path.join(os.path.dirname(file), in_full(match["path"], home))
