"""Find the knowledge base that a plan entry means, by name, path or address; pure: reads no file.

An entry may give a base's name (`user`), its path as configured (`~/.config/agents/USER.md`), the same path in full,
the name of its file where no other base has it (`USER.md`), or, for a base inside projects, the path relative to the
entry's project (`AGENTS.md`). Events carry the name, so a replay on another machine, or after a base has moved, means
the same file.
"""

import posixpath
from collections.abc import Mapping
from typing import NamedTuple

from eventlog.format.errors import BadRequest
from eventlog.format.events import SectionKey
from eventlog.projects.root import in_full
from eventlog.settings.schema import PROJECT, KnowledgeBase
from eventlog.store import project_slug

Bases = Mapping[str, KnowledgeBase]
_FILE = "file://"


class BaseFile(NamedTuple):
    """A file of a knowledge base; `project` is empty unless the base has a file in every project."""

    base: str
    project: str = ""

    @classmethod
    def of(cls, key: SectionKey, project: str | None, bases: Bases, home: str = "") -> "BaseFile | None":
        """Find the file that a key means, None where it is no knowledge base; `home` resolves full paths below it."""
        name = _base_name(key, project, bases, home)
        if name is None or not (bases[name].path or "").startswith(PROJECT):
            return cls(name) if name else None
        rooted = project and project.startswith("/") and ".." not in project.split("/")
        return cls(name, posixpath.normpath(project)) if project and rooted else None

    @property
    def document(self) -> str:
        """Return the path to which a replay renders it, below the knowledge directory."""
        return f"bases/{self.base}/{project_slug(self.project)}.md" if self.project else f"bases/{self.base}.md"

    def __str__(self) -> str:
        return f"{self.base} of {self.project}" if self.project else self.base


def normalized(key: SectionKey, project: str | None, bases: Bases, home: str) -> SectionKey:
    """Replace the path of a key by the name of its base, as events carry it; an address stays. Raises BadRequest."""
    file = BaseFile.of(key, project, bases, home)
    if file is None:
        what = key.path if key.path is not None else key.url
        reason = "is not a knowledge base: entries write nowhere else"
        if _base_name(key, project, bases, home):
            reason = "is a file of each project, and no project is given"
        hint = f"configured are {', '.join(bases)}; see `eventlog config`"
        raise BadRequest(f"{what!r} {reason}", where="path" if key.path else "url", hint=hint)
    if key.url is not None:
        return key
    return SectionKey(heading=key.heading, path=file.base, level=key.level, under=key.under)


def _base_name(key: SectionKey, project: str | None, bases: Bases, home: str) -> str | None:
    if key.path in bases:
        return key.path
    wanted = _normalized_path(key, home)
    for name, base in bases.items():
        if wanted and wanted in _spellings(base, project, home):
            return name
    # the file's name alone means a base only where it means no other
    found = [name for name, base in bases.items() if key.path and posixpath.basename(base.path or "") == key.path]
    return found[0] if len(found) == 1 else None


def _normalized_path(key: SectionKey, home: str) -> str | None:
    """Normalize a path, `~` replaced where home is known; None where it climbs with `..`."""
    text = key.path if key.path is not None else key.url or ""
    if key.url is not None and not key.url.startswith(_FILE):
        return key.url
    path = text.removeprefix(_FILE) if key.url is not None else text
    if not path or ".." in path.split("/") or "\\" in path or path.endswith("/"):
        return None
    return posixpath.normpath(in_full(path, home))


def _spellings(base: KnowledgeBase, project: str | None, home: str) -> list[str]:
    """List the normalized paths and addresses that mean a base."""
    if base.url is not None:
        is_file = base.url.startswith(_FILE)
        return [base.url, posixpath.normpath(base.url.removeprefix(_FILE))] if is_file else [base.url]
    path = base.path or ""
    if not path.startswith(PROJECT):
        return [posixpath.normpath(in_full(path, home))]
    inside = posixpath.normpath(path.removeprefix(PROJECT))
    return [path, inside, posixpath.join(project, inside)] if project else [path, inside]
