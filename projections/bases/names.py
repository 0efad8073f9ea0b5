"""Which knowledge base a plan entry means, by name, path or address; pure: no file is looked at.

An entry may give a base's name (`user`), its path as configured (`~/.config/agents/USER.md`), the same path in full,
the name of its file where no other base has it (`USER.md`), or, for a base inside projects, the path relative to the
entry's project (`AGENTS.md`). Events carry the name: so a
replay on another machine, or after a base has moved, means the same file.
"""

import posixpath
from collections.abc import Mapping
from typing import NamedTuple

from eventlog.format.errors import BadRequest
from eventlog.format.events import SectionKey
from eventlog.projects.home import in_full
from eventlog.settings.schema import PROJECT, KnowledgeBase
from eventlog.store import project_slug

Bases = Mapping[str, KnowledgeBase]
_FILE = "file://"


class BaseFile(NamedTuple):
    """One file of a knowledge base; `project` is empty unless the base has a file in every project."""

    base: str
    project: str = ""

    @property
    def document(self) -> str:
        """Return the path replay renders it to, below the directory it is told."""
        return f"bases/{self.base}/{project_slug(self.project)}.md" if self.project else f"bases/{self.base}.md"

    def __str__(self) -> str:
        return f"{self.base} of {self.project}" if self.project else self.base


def base_file_of(key: SectionKey, project: str | None, bases: Bases, home: str = "") -> BaseFile | None:
    """Find the file meant by a key, None where it is no knowledge base; `home` makes full paths below it known."""
    name = _name(key, project, bases, home)
    if name is None or not is_in_projects(bases[name]):
        return BaseFile(name) if name else None
    rooted = project and project.startswith("/") and ".." not in project.split("/")
    return BaseFile(name, posixpath.normpath(project)) if project and rooted else None


def named(key: SectionKey, project: str | None, bases: Bases, home: str) -> SectionKey:
    """Rewrite a key as events carry it: a path becomes the name of its base, an address stays; raises BadRequest."""
    file = base_file_of(key, project, bases, home)
    if file is None:
        raise BadRequest(_refusal(key, project, bases, home), where="path" if key.path else "url", hint=_hint(bases))
    if key.url is not None:
        return key
    return SectionKey(heading=key.heading, path=file.base, level=key.level, under=key.under)


def _name(key: SectionKey, project: str | None, bases: Bases, home: str) -> str | None:
    if key.path in bases:
        return key.path
    wanted = _spelled(key, home)
    spelled = (name for name, base in bases.items() if wanted and wanted in _spellings(base, project, home))
    return next(spelled, None) or _by_file_name(key, bases)


def _by_file_name(key: SectionKey, bases: Bases) -> str | None:
    """Find the one base whose file is called that; several are not guessed between."""
    found = [name for name, base in bases.items() if key.path and posixpath.basename(base.path or "") == key.path]
    return found[0] if len(found) == 1 else None


def _spelled(key: SectionKey, home: str) -> str | None:
    """Spell a path without `.`, doubled slashes and, where home is known, `~`; None where it climbs with `..`."""
    text = key.path if key.path is not None else key.url or ""
    if key.url is not None and not key.url.startswith(_FILE):
        return key.url
    path = text.removeprefix(_FILE) if key.url is not None else text
    if not path or ".." in path.split("/") or "\\" in path or path.endswith("/"):
        return None
    return posixpath.normpath(in_full(path, home))


def _spellings(base: KnowledgeBase, project: str | None, home: str) -> list[str]:
    if base.url is not None:
        return [base.url, posixpath.normpath(base.url.removeprefix(_FILE))] if _is_file(base.url) else [base.url]
    path = base.path or ""
    if not path.startswith(PROJECT):
        return [posixpath.normpath(in_full(path, home))]
    inside = posixpath.normpath(path.removeprefix(PROJECT))
    return [path, inside, posixpath.join(project, inside)] if project else [path, inside]


def _is_file(url: str) -> bool:
    return url.startswith(_FILE)


def is_in_projects(base: KnowledgeBase) -> bool:
    """Tell whether a base has a file in every project."""
    return bool(base.path and base.path.startswith(PROJECT))


def _refusal(key: SectionKey, project: str | None, bases: Bases, home: str) -> str:
    said = key.path if key.path is not None else key.url
    name = _name(key, project, bases, home)
    if name:
        return f"{said!r} is a file of each project, and no project is given"
    return f"{said!r} is not a knowledge base: entries write nowhere else"


def _hint(bases: Bases) -> str:
    return f"configured are {', '.join(bases)}; see `eventlog config`"
