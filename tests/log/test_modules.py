"""Our modules are found without searching, and held to what `importlib` holds a compiled file to."""

import _frozen_importlib
import importlib.util
import os
import py_compile
import sys
from importlib.machinery import PathFinder
from pathlib import Path

import pytest

from eventlog.fast import modules


@pytest.fixture
def package(tmp_path):
    (tmp_path / "inner").mkdir()
    for name in ("word.py", "inner/__init__.py"):
        (tmp_path / name).write_text("said = __name__\n")
        py_compile.compile(str(tmp_path / name), doraise=True)
    return tmp_path


def compiled(package):
    return Path(importlib.util.cache_from_source(str(package / "word.py")))


def found(package, name="word"):
    return modules.find_spec(f"eventlog.{name}", [str(package)])


def made(spec):
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


@pytest.mark.parametrize("name", ["word", "inner"])
def test_a_module_is_what_importlib_makes_of_it(package, name):
    ours, theirs = map(made, (found(package, name), PathFinder.find_spec(f"eventlog.{name}", [str(package)])))
    names = ("__name__", "__package__", "__file__", "__cached__", "__path__", "said")

    assert [getattr(theirs, each, None) for each in names] == [getattr(ours, each, None) for each in names]


@pytest.fixture
def loading(package, monkeypatch):
    """What `import` calls in a hook, for modules of a package `eventlog` that lies elsewhere."""
    parent = type(sys)("eventlog")
    parent.__path__ = [str(package)]
    for name in [name for name in sys.modules if name.partition(".")[0] == "eventlog"]:
        monkeypatch.delitem(sys.modules, name)
    monkeypatch.setitem(sys.modules, "eventlog", parent)
    monkeypatch.setattr(sys, "meta_path", [*sys.meta_path])
    monkeypatch.setattr(modules, "_root", "")
    monkeypatch.setattr(_frozen_importlib, "_find_and_load", modules._search)
    monkeypatch.setitem(sys.modules, modules.__name__, modules)
    modules.install(str(package))
    return package


@pytest.mark.parametrize("name", ["word", "inner", "inner.word"])
def test_a_module_that_a_hook_loads_is_what_importlib_makes_of_it(loading, name):
    (loading / "inner" / "word.py").write_text("said = __name__\n")
    py_compile.compile(str(loading / "inner" / "word.py"), doraise=True)
    ours = importlib.import_module(f"eventlog.{name}")
    directory = loading / "inner" if "." in name else loading
    theirs = made(PathFinder.find_spec(f"eventlog.{name}", [str(directory)]))
    names = ("__name__", "__package__", "__file__", "__cached__", "__path__", "said")

    assert [getattr(theirs, each, None) for each in names] == [getattr(ours, each, None) for each in names]
    assert ours is sys.modules[f"eventlog.{name}"]
    assert [modules] * 2 == [ours.__loader__, getattr(ours.__spec__, "loader", None)]
    assert ours is getattr(sys.modules[ours.__name__.rpartition(".")[0]], ours.__name__.rpartition(".")[2])


def test_a_module_that_fails_is_not_loaded(loading):
    for text in ("raise OSError", "said = 1\n"):
        (loading / "word.py").write_text(text)
        py_compile.compile(str(loading / "word.py"), doraise=True)
        if text == "raise OSError":
            with pytest.raises(OSError):
                importlib.import_module("eventlog.word")
            assert "eventlog.word" not in sys.modules
            assert not hasattr(sys.modules["eventlog"], "word")
    assert 1 == importlib.import_module("eventlog.word").said


def test_what_a_hook_cannot_load_is_left_to_importlib(loading):
    compiled(loading).unlink()

    assert "eventlog.word" == importlib.import_module("eventlog.word").said
    with pytest.raises(ModuleNotFoundError, match="nowhere"):
        importlib.import_module("eventlog.nowhere")
    with pytest.raises(ModuleNotFoundError, match="is not a package"):
        importlib.import_module("eventlog.word.inner")


def test_a_process_with_threads_leaves_loading_to_importlib(monkeypatch):
    monkeypatch.setattr(sys, "meta_path", [])
    monkeypatch.setattr(_frozen_importlib, "_find_and_load", modules._search)
    modules.install()

    assert modules._search is vars(_frozen_importlib)["_find_and_load"]


def _overwritten(at, data):
    def change(package):
        with compiled(package).open("r+b") as opened:
            opened.seek(at)
            opened.write(data)

    return change


@pytest.mark.parametrize("root", ["/elsewhere", str(Path(modules.__file__).parents[2])])
def test_the_package_is_found_in_the_directory_that_is_named(monkeypatch, root):
    monkeypatch.setattr(sys, "meta_path", [])
    monkeypatch.setattr(modules, "_root", "")
    monkeypatch.setattr(_frozen_importlib, "_find_and_load", modules._search)

    assert modules.find_spec("eventlog") is None
    modules.install(root)
    ours, theirs = modules.find_spec("eventlog"), PathFinder.find_spec("eventlog", [root])
    assert (theirs and (theirs.origin, theirs.cached)) == (ours and (ours.origin, ours.cached))
    assert [] == [name for name in ("event", "eventlogs", "word") if modules.find_spec(name)]


UNEXPECTED = {
    "another version": _overwritten(0, b"\0\0"),
    "checked in another way": _overwritten(4, b"\1"),
    "of another time": lambda package: os.utime(package / "word.py", (1, 1)),
    "of another size": _overwritten(12, b"\0\0"),
    "torn": lambda package: os.truncate(compiled(package), 12),
    "not there": lambda package: compiled(package).unlink(),
    "of no source": lambda package: (package / "word.py").unlink(),
}


@pytest.mark.parametrize("change", UNEXPECTED.values(), ids=UNEXPECTED)
def test_a_compiled_file_that_is_not_as_expected_is_left_to_importlib(package, change):
    assert found(package)
    change(package)

    assert found(package) is None


@pytest.mark.parametrize("size", [16, 17, 40, -1])
def test_a_torn_compiled_file_is_made_again(package, size):
    torn = compiled(package)
    os.truncate(torn, size % torn.stat().st_size)

    assert found(package) is None
    left = PathFinder.find_spec("eventlog.word", [str(package)])
    assert made(left).said == "eventlog.word"


def test_other_packages_are_left_to_importlib(package):
    assert modules.find_spec("word", [str(package)]) is None
    assert modules.find_spec("eventlogs.word", [str(package)]) is None
    assert modules.find_spec("eventlog", None) is None


@pytest.mark.parametrize("name", sorted(modules._IN_C))
def test_a_module_in_c_is_the_one_of_the_standard_library(name):
    theirs = importlib.util.find_spec(name)
    ours = modules.find_spec(name)

    assert theirs
    if theirs.origin == "built-in":
        assert ours is None
    else:
        assert ours
        assert (theirs.origin, theirs.has_location) == (ours.origin, ours.has_location)
        assert type(theirs.loader) is type(ours.loader)


@pytest.mark.parametrize("path", [[], ["/elsewhere", "/elsewhere/lib-dynload"]])
def test_a_module_in_c_that_is_not_where_it_is_expected_is_left_to_importlib(monkeypatch, path):
    monkeypatch.setattr(sys, "path", path)

    assert modules.find_spec("_json") is None


def test_whoever_wants_other_compiled_files_gets_them_from_importlib(monkeypatch):
    monkeypatch.setattr(sys, "meta_path", [])
    monkeypatch.setattr(sys, "pycache_prefix", "/elsewhere")
    modules.install()

    assert [] == sys.meta_path
