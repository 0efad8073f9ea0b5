"""Who may import whom: the log knows nothing of its views, the views nothing of the use cases, those nothing of the shell."""

import ast

import pytest

from tests.support.builders import ROOT

# the answer to a session's start is a view; the hook asks for it when the event is safe
SEAM = "eventlog/hooks/safety_nets.py"
RULES = {
    "eventlog": ("eventlog.projections.", "eventlog.app.", "eventlog.cli."),
    "projections": ("eventlog.app.", "eventlog.cli."),
    "app": ("eventlog.cli.",),
}
DOORS = ("eventlog/__main__.py", "eventlog/__init__.py")  # the way in, lazily


def imported(file):
    for node in ast.walk(ast.parse(file.read_text(encoding="utf-8"))):
        if isinstance(node, ast.Import):
            yield from (alias.name for alias in node.names)
        elif isinstance(node, ast.ImportFrom) and node.module:
            yield from (f"{node.module}.{alias.name}" for alias in node.names)


def files(folder):
    links = [ROOT / "eventlog" / name for name in ("projections", "app", "cli")]
    return [path for path in (ROOT / folder).rglob("*.py") if not any(link in path.parents for link in links)]


@pytest.mark.parametrize("folder", RULES)
def test_imports_point_one_way(folder):
    found = {
        f"{path.relative_to(ROOT).as_posix()} imports {name}"
        for path in files(folder)
        for name in imported(path)
        if f"{name}.".startswith(RULES[folder]) and path.relative_to(ROOT).as_posix() not in (SEAM, *DOORS)
    }

    assert set() == found


def test_every_module_of_the_four_folders_is_looked_at():
    assert {"codec.py", "hook.py"} <= {path.name for path in files("eventlog")}
    assert {"replay.py", "sources.py"} <= {path.name for path in files("projections")}
    assert {"apply.py", "doctor.py"} <= {path.name for path in files("app")}
