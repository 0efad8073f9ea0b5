"""Modules of this package, loaded without searching: for a process that lives as long as its imports take.

Gain: a hook takes 0.19 of a bare start of Python less, and another 0.06 as they are loaded here, too.

The import system asks everyone who may know a module, lists directories and tries each ending. Ours lie where the
package lies, compiled beside the source: two system calls find one, four read it. Held to what `importlib` holds a
compiled file to (its version, the size and time of its source); whatever is not as expected is left to `importlib`,
which compiles it for the next time.

Those modules of Python's own in C that hooks load are found alike: `importlib` would list and look through each
directory on the path.

This module is the finder and the loader (PEP 451) that `sys.meta_path` takes: no class, as to make one costs as much
as to load a module.
"""

import _frozen_importlib as _importlib
import sys
from _frozen_importlib import ModuleSpec
from _frozen_importlib_external import EXTENSION_SUFFIXES, MAGIC_NUMBER, ExtensionFileLoader
from _frozen_importlib_external import _os as _system  # type: ignore[attr-defined]  # before anything is imported
from marshal import loads

TYPE_CHECKING = False
if TYPE_CHECKING:
    import os
    from collections.abc import Callable, Sequence
    from types import CodeType, ModuleType

_PACKAGE = "eventlog."
_COMPILED = f".{sys.implementation.cache_tag}.pyc"
_HEAD = MAGIC_NUMBER + bytes(4)  # the flags of a file that is valid for one size and time of its source
_SHA = "_sha2" if sys.version_info >= (3, 12) else "_sha256"
# where they are not built into Python
_IN_C = frozenset(("_blake2", "_json", _SHA, "_sqlite3", "_struct", "fcntl", "math"))
_READ = _system.O_RDONLY | getattr(_system, "O_CLOEXEC", 0) | getattr(_system, "O_BINARY", 0)
_LOW = 0xFFFFFFFF
_search: "Callable[..., ModuleType] | None" = getattr(_importlib, "_find_and_load", None)
_MAX = 1 << 16  # bytes; a larger file is left to importlib
_root = ""  # the directory that holds the package, where that is not imported yet


def install(root: str = "") -> None:
    """Find modules of this package before any other finder, and the package in `root`; for processes of our own.

    A process that names the root has one thread: its modules are loaded here, too (`_load`).
    """
    global _root  # noqa: PLW0603 - of this process
    _root = root
    finder = sys.modules[__name__]
    if not (sys.flags.optimize or sys.pycache_prefix or finder in sys.meta_path):
        sys.meta_path.insert(0, finder)
        if root and _search:
            _importlib._find_and_load = _load  # type: ignore[attr-defined]  # noqa: SLF001 - what `import` calls


def _load(name: str, *how: object) -> "ModuleType":
    """Load a module without the locks of `importlib`, which take longer than all else; leave other modules to it."""
    package, _, stem = name.rpartition(".")
    if name.startswith(_PACKAGE) and package not in sys.modules:
        __import__(package)
    above = sys.modules.get(package)
    spec = None if name in sys.modules else find_spec(name, getattr(above, "__path__", None))
    if not spec or not spec.loader:
        assert _search
        return _search(name, *how)
    module = sys.modules[name] = spec.loader.create_module(spec) or type(sys)(name)
    module.__spec__, module.__loader__, module.__package__ = spec, spec.loader, spec.parent
    module.__file__ = spec.origin
    if spec.cached:
        module.__cached__ = spec.cached  # type: ignore[attr-defined]
    if spec.submodule_search_locations:
        module.__path__ = spec.submodule_search_locations
    try:
        spec.loader.exec_module(module)
    except BaseException:
        del sys.modules[name]
        raise
    if above:
        setattr(above, stem, module)
    return module


def find_libraries() -> None:
    """Find libraries: hooks and servers are started without `site`, which knows where packages are."""
    try:
        import msgspec  # noqa: F401
    except ImportError:
        import site

        site.main()


def find_spec(name: str, path: "Sequence[str] | None" = None, target: object = None) -> ModuleSpec | None:
    """Find a module below the package; None leaves it to the others."""
    del target
    if name in _IN_C:
        return _in_c(name)
    folder = path[0] if path and name.startswith(_PACKAGE) else _root if f"{name}." == _PACKAGE else ""
    if not folder:
        return None
    stem, places = name.rpartition(".")[2], None
    try:
        try:
            source = f"{folder}/{stem}.py"
            found = _system.stat(source)
        except FileNotFoundError:
            places = [f"{folder}/{stem}"]
            folder, stem, source = places[0], "__init__", f"{places[0]}/__init__.py"
            found = _system.stat(source)
        compiled = f"{folder}/__pycache__/{stem}{_COMPILED}"
        code = _code(compiled, found)
    except OSError:
        return None
    if code is None:
        return None
    spec = ModuleSpec(name, sys.modules[__name__], origin=source, loader_state=code)  # type: ignore[arg-type]
    spec.submodule_search_locations = places
    spec.cached = compiled
    spec.has_location = True
    return spec


def create_module(spec: ModuleSpec) -> None:
    """Leave it to Python."""
    del spec


def exec_module(module: "ModuleType") -> None:
    """Run the module's code in it."""
    assert module.__spec__
    exec(module.__spec__.loader_state, module.__dict__)  # noqa: S102 - what importlib does


def _in_c(name: str) -> ModuleSpec | None:
    """Find a module of Python's own that is a file; None where it is built in, or lies elsewhere."""
    folder = next((place for place in sys.path if place.endswith("/lib-dynload")), "")
    file = f"{folder}/{name}{EXTENSION_SUFFIXES[0]}"
    try:
        _system.stat(file)
    except OSError:
        return None
    spec = ModuleSpec(name, ExtensionFileLoader(name, file), origin=file)
    spec.has_location = True
    return spec


def _code(compiled: str, source: "os.stat_result") -> "CodeType | None":
    """Read the code of a compiled file; None where it is not of this source. Raises OSError.

    A torn file, as Python leaves it where the disk is full, is removed: `importlib` would fail on it, each time.
    """
    fd = _system.open(compiled, _READ)
    try:
        data = _system.read(fd, _MAX)
    finally:
        _system.close(fd)
    stamp = (int(source.st_mtime) & _LOW) | (source.st_size & _LOW) << 32
    if data[:16] != _HEAD + stamp.to_bytes(8, "little") or len(data) == _MAX:
        return None
    try:
        code: CodeType = loads(memoryview(data)[16:])  # noqa: S302 - as trusted as the source
    except (EOFError, ValueError, TypeError):
        _system.unlink(compiled)
        return None
    return code
