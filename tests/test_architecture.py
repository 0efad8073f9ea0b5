"""Who may import whom: the log knows nothing of its views, the views nothing of the shell."""

import ast

import pytest

from tests.builders import ROOT

# the answer to a session's start is a view; the hook asks for it when the event is safe
SEAM = "eventlog/agents/start.py"
RULES = {"eventlog": ("eventlog.projections", "eventlog.cli"), "projections": ("eventlog.cli",)}
ENTRY = "eventlog/__main__.py"


def imported(file):
    for node in ast.walk(ast.parse(file.read_text(encoding="utf-8"))):
        if isinstance(node, ast.Import):
            yield from (alias.name for alias in node.names)
        elif isinstance(node, ast.ImportFrom) and node.module:
            yield from (f"{node.module}.{alias.name}" for alias in node.names)


def files(folder):
    links = (ROOT / "eventlog" / "projections", ROOT / "eventlog" / "cli")
    return [path for path in (ROOT / folder).rglob("*.py") if not any(link in path.parents for link in links)]


@pytest.mark.parametrize("folder", RULES)
def test_imports_point_one_way(folder):
    found = {
        f"{path.relative_to(ROOT).as_posix()} imports {name}"
        for path in files(folder)
        for name in imported(path)
        if name.startswith(RULES[folder]) and path.relative_to(ROOT).as_posix() not in (SEAM, ENTRY)
    }

    assert set() == found


def test_every_module_of_the_three_folders_is_looked_at():
    assert {"codec.py", "hook.py"} <= {path.name for path in files("eventlog")}
    assert {"replay.py", "gather.py"} <= {path.name for path in files("projections")}
