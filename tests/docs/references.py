"""What pages say about the code: `path` and `path: name` in backticks, and links; found, and looked up."""

import ast
import re
from functools import cache
from pathlib import Path
from typing import NamedTuple

from tests.support.tree import ROOT

PAGES = [*sorted(ROOT.glob("*.md")), *sorted((ROOT / "docs").rglob("*.md")), ROOT / "fixtures" / "README.md"]
_FOLDERS = "eventlog|projections|app|cli|tests|docs|bench|fixtures"
_NAMED = re.compile(rf"`(?P<path>(?:{_FOLDERS})/[\w./-]*)(?:: (?P<name>[\w.]+))?`")
_LINKED = re.compile(r"\]\((?P<path>[^)#:\s]+)(?:#[^)]*)?\)")


class Reference(NamedTuple):
    """A file or folder of the repository, relative to its root, and a name in it; "" where none is told."""

    path: str
    name: str = ""

    @property
    def is_there(self) -> bool:
        """Whether there is such a file, and such a function, class, member or constant in it."""
        file = ROOT / self.path
        return file.exists() and (not self.name or _has(_names(file), self.name))


def references(text: str) -> list[Reference]:
    """What a text names in backticks."""
    return [Reference(found["path"], found["name"] or "") for found in _NAMED.finditer(text)]


def links(page: Path) -> list[Reference]:
    """The files a page links to."""
    found = _LINKED.findall(page.read_text(encoding="utf-8"))
    return [Reference((page.parent / path).resolve().relative_to(ROOT).as_posix()) for path in found]


def _has(names: dict[str, set[str]], wanted: str) -> bool:
    owner, _, member = wanted.partition(".")
    return owner in names and (not member or member in names[owner])


@cache
def _names(file: Path) -> dict[str, set[str]]:
    """Top-level names of a module, each with its members."""
    body = ast.parse(file.read_text(encoding="utf-8")).body
    return {name: set(_members(node)) for node in body for name in _bound(node)}


def _bound(node: ast.stmt) -> list[str]:
    match node:
        case ast.FunctionDef(name=name) | ast.AsyncFunctionDef(name=name) | ast.ClassDef(name=name):
            return [name]
        case ast.Assign(targets=targets):
            return [target.id for target in targets if isinstance(target, ast.Name)]
        case ast.AnnAssign(target=ast.Name(id=name)):
            return [name]
    return []


def _members(node: ast.stmt) -> list[str]:
    return [name for part in node.body for name in _bound(part)] if isinstance(node, ast.ClassDef) else []
