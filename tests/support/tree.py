"""Where the code under test lies: in the source tree beside these tests, or installed with the sources out of the way."""

import ast
import gc
from functools import cache
from pathlib import Path

import pytest

import eventlog

ROOT = Path(__file__).resolve().parents[2]
PACKAGE = Path(eventlog.__file__).resolve().parent
IMPORT_PATH = str(PACKAGE.parent)  # of a process that has to import the code under test without being installed


def needs_tree() -> None:
    """Skip the test, or the module, that calls this where the sources are not beside the tests."""
    if not (ROOT / "eventlog").is_dir():
        pytest.skip("needs the source tree", allow_module_level=True)


@cache
def files(folder):
    """The sources of a folder by name, without what the links for type checkers lead to."""
    links = [ROOT / "eventlog" / name for name in ("projections", "app", "cli")]
    paths = (path for path in (ROOT / folder).rglob("*.py") if not any(link in path.parents for link in links))
    return {path.relative_to(ROOT).as_posix(): path.read_text(encoding="utf-8") for path in paths}


@cache
def nodes(source):
    """Every node of a source; what asks it of the whole tree asks many times."""
    gc.disable()  # all of it stays: to look for garbage in it took a third of the time
    try:
        return list(ast.walk(ast.parse(source)))
    finally:
        gc.enable()
