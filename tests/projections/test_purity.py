"""Views are pure: nothing in `projections/` writes a file, asks the clock or the environment, or throws dice."""

import ast

import pytest

from tests.support.tree import ROOT, needs_tree, nodes

needs_tree()
FILES = sorted((ROOT / "projections").rglob("*.py"))
# modules that exist to do what a view must not
MODULES = {"time", "random", "secrets", "uuid", "subprocess", "socket", "tempfile", "shutil", "threading", "filelock"}
WRITERS = {
    "replace_file",
    "exchange_file",
    "remove_file",
    "make_dirs",
    "sweep",
    "sweep_tree",
    "sync_file",
    "sync_dir",
    "lock",
}
METHODS = {
    *("write_text", "write_bytes", "mkdir", "makedirs", "unlink", "rename", "rmdir", "touch", "symlink_to"),
    *("hardlink_to", "chmod", "truncate", "fsync", "append_many", "put"),
    *("environ", "getenv", "expanduser", "getcwd", "utcnow", "today", "urandom"),
}
IN_OS = {"remove", "replace", "link", "symlink", "write", "getpid", "getlogin", "uname", "cpu_count"}


def impurities(source):
    """Whatever in a module could write a file, or could give another answer to the same question."""
    for node in nodes(source):
        match node:
            case ast.Import(names=names):
                yield from (f"import {one.name}" for one in names if one.name.partition(".")[0] in MODULES)
            case ast.ImportFrom(module=str(module), names=names):
                yield from (f"from {module} import {one.name}" for one in names if _is_impure(module, one.name))
            case ast.Attribute(attr=name) if name in METHODS:
                yield f".{name}"
            case ast.Attribute(value=ast.Name(id="os"), attr=name) if name in IN_OS or name.startswith("O_"):
                yield from [] if name in {"O_RDONLY", "O_NONBLOCK", "O_BINARY"} else [f"os.{name}"]
            case ast.Attribute(value=ast.Name(id="Path"), attr="home" | "cwd" as name):
                yield f"Path.{name}"
            case ast.Attribute(value=ast.Name(id="datetime" | "date" | "log"), attr="now"):
                yield ".now"
            case ast.Call(func=ast.Name(id="open") | ast.Attribute(attr="open" | "fdopen")) if _writes(node):
                yield "open for writing"


def _is_impure(module, name):
    return module in MODULES or name in WRITERS or (module == "os" and name in METHODS | IN_OS)


def _writes(call):
    given = [*call.args, *(keyword.value for keyword in call.keywords if keyword.arg == "mode")]
    modes = [one.value for one in given if isinstance(one, ast.Constant) and isinstance(one.value, str)]
    return any(set(mode) <= set("rwaxbt+") and set(mode) & set("wax+") for mode in modes)


@pytest.mark.slow
@pytest.mark.parametrize("file", FILES, ids=lambda file: file.relative_to(ROOT).as_posix())
def test_a_view_touches_nothing(file):
    assert [] == list(impurities(file.read_text(encoding="utf-8")))


@pytest.mark.parametrize(
    "source",
    [
        "import time",
        "from time import perf_counter",
        "import os\nos.environ['HOME']",
        "from os import environ",
        "import os\nos.open('x', os.O_WRONLY)",
        "open('x', 'w')",
        "path.open('xb')",
        "path.open(mode='a')",
        "path.write_bytes(b'')",
        "Path.home()",
        "datetime.now()",
        "from eventlog.store.files import replace_file",
        "path.rename(other)",
    ],
)
def test_whatever_is_impure_is_seen(source):
    assert list(impurities(source))
