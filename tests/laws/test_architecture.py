"""Who may import whom: the log knows nothing of its views, the views nothing of the use cases, those nothing of the shell."""

import ast

import pytest

from tests.support.builders import ROOT

FLOORS = {  # folder -> the floors above it
    "eventlog": ("eventlog.projections.", "eventlog.app.", "eventlog.cli."),
    "projections": ("eventlog.app.", "eventlog.cli."),
    "app": ("eventlog.cli.",),
}
# file -> what it may reach above its floor, always lazily
DOORS = {
    "eventlog/__main__.py": ("eventlog.cli.main.",),
    "eventlog/__init__.py": ("eventlog.app.", "eventlog.projections."),
    "eventlog/hook.py": ("eventlog.app.session_start.",),  # the seam: the answer to a session's start
}


def imported(source):
    """Every module and name that a source imports, at its top or later, with a dot at the end."""
    for node in ast.walk(ast.parse(source)):
        if isinstance(node, ast.Import):
            yield from (f"{alias.name}." for alias in node.names)
        elif isinstance(node, ast.ImportFrom) and node.module:
            yield from (f"{node.module}.{alias.name}." for alias in node.names)


def upward(folder, name, source):
    """The imports of a file that lead to a floor above, and through no door of its own."""
    allowed = DOORS.get(name, ())
    return {
        f"{name} imports {module}"
        for module in imported(source)
        if module.startswith(FLOORS[folder]) and not module.startswith(allowed or "\0")
    }


def files(folder):
    """The sources of a folder by name, without what the links for type checkers lead to."""
    links = [ROOT / "eventlog" / name for name in ("projections", "app", "cli")]
    paths = (path for path in (ROOT / folder).rglob("*.py") if not any(link in path.parents for link in links))
    return {path.relative_to(ROOT).as_posix(): path.read_text(encoding="utf-8") for path in paths}


@pytest.mark.parametrize("folder", FLOORS)
def test_imports_point_one_way(folder):
    assert set() == {found for name, source in files(folder).items() for found in upward(folder, name, source)}


@pytest.mark.parametrize(
    ("folder", "name", "source"),
    [
        ("eventlog", "eventlog/log.py", "from eventlog.projections import ALL"),
        ("eventlog", "eventlog/hooks/safety_nets.py", "def f():\n    from eventlog.app import session_start"),
        ("eventlog", "eventlog/hook.py", "from eventlog.app.apply import apply"),
        ("projections", "projections/base.py", "import eventlog.app.apply"),
        ("app", "app/apply.py", "from eventlog.cli.output import say"),
    ],
)
def test_an_arrow_that_points_up_is_found(folder, name, source):
    assert 1 == len(upward(folder, name, source))


def test_the_seam_is_one_import():
    source = files("eventlog")["eventlog/hook.py"]

    assert ["eventlog.app.session_start."] == [name for name in imported(source) if name.startswith("eventlog.app.")]


def test_every_module_of_the_four_folders_is_looked_at():
    assert {"eventlog/codec.py", "eventlog/hook.py"} <= files("eventlog").keys()
    assert {"projections/engine/replay.py", "projections/context/sources.py"} <= files("projections").keys()
    assert {"app/apply.py", "app/install/doctor.py"} <= files("app").keys()
