"""Databases are shared by installations of one version, and by no other."""

from types import SimpleNamespace

import pytest

from eventlog.app.build import program

MODULES = [
    "eventlog/log/days.py",
    "eventlog/projections/base.py",
    "eventlog/app/search/words.py",
    "eventlog/app/undo.py",
]


@pytest.fixture
def installed(tmp_path, monkeypatch):
    """The key of a program installed at a place, of these modules; from a wheel, or as a checkout."""

    def key(place, contents, *, from_wheel):
        root = tmp_path / place
        for name, content in contents.items():
            file = root / name
            file.parent.mkdir(parents=True, exist_ok=True)
            file.write_text(content)
        if from_wheel:
            record = root / "agent_eventlog-1.dist-info" / "RECORD"
            record.parent.mkdir(exist_ok=True)
            record.write_text("".join(f"{name},sha256={content},1\n" for name, content in contents.items()))
        for package, name in (("eventlog", "log"), ("base", "projections/base"), ("search", "app/search/words")):
            module = root / "eventlog" / ("__init__.py" if package == "eventlog" else f"{name}.py")
            monkeypatch.setattr(program, package, SimpleNamespace(__file__=str(module)))
        return program.program_key.__wrapped__()

    return key


@pytest.mark.parametrize("from_wheel", [True, False])
@pytest.mark.parametrize(("changed", "is_shared"), [(None, True), *((name, name == MODULES[-1]) for name in MODULES)])
def test_two_installations_share_databases_where_what_makes_these_is_the_same(
    installed, changed, is_shared, from_wheel
):
    contents = dict.fromkeys(MODULES, "pass")
    first = installed("here", contents, from_wheel=from_wheel)
    second = installed("there", contents | ({changed: "pass  # no more"} if changed else {}), from_wheel=from_wheel)

    assert is_shared == (first == second)
