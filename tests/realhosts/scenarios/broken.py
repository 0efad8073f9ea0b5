"""Hosts whose eventlog is broken, full or gone: they go on as if it had never been there."""

import re
import shutil
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

from tests.realhosts.model.script import Run
from tests.realhosts.outcome import Skipped, expect
from tests.realhosts.scene import PATIENCE, Scene, Turn

_SLACK = 4  # seconds: two of them the hooks' own limit, the rest the noise of a busy machine
_COMPLAINT = re.compile(
    r".*hook.*(?:fail|error)|.*hook\.py.*|.*No such file.*|.*Traceback.*|.*hook-errors.*", re.IGNORECASE
)
_HOLD = """
import fcntl, pathlib, sys, time
held = [open(path, "ab") for path in pathlib.Path(sys.argv[1]).rglob("*") if path.is_file()]
for file in held: fcntl.flock(file, fcntl.LOCK_EX)
print("held", flush=True)
time.sleep(600)
"""


def missing_package(scene: Scene) -> str:
    """Answer as without us where the package is gone, hooks and tools with it."""
    packages = scene.own_installation()
    scene.install("--mcp")
    shutil.rmtree(packages / "eventlog")
    return _goes_on(scene)


def missing_python(scene: Scene) -> str:
    """Answer as without us where the interpreter is gone, too."""
    packages = scene.own_installation()
    scene.install("--mcp")
    shutil.rmtree(packages.parents[2])
    return _goes_on(scene)


def read_only_store(scene: Scene) -> str:
    """Answer as without us where nothing can be written."""
    scene.install()
    quiet = scene.answered("Before.")
    with _read_only(scene.store):
        return _goes_on(scene, limit=2 * quiet.ended.seconds + _SLACK)


def full_store(scene: Scene) -> str:
    """Answer as without us where the disk is full."""
    scene.install()
    quiet = scene.answered("Before.")
    with _full(scene.store):
        return _goes_on(scene, limit=2 * quiet.ended.seconds + _SLACK)


def locked_store(scene: Scene) -> str:
    """Delay a turn by two seconds at most where another process holds the locks of the store."""
    scene.install()
    quiet = scene.answered("Before.")
    with _held(scene.store):
        return _goes_on(scene, limit=2 * quiet.ended.seconds + _SLACK)


def _goes_on(scene: Scene, limit: float = PATIENCE) -> str:
    """A turn with a tool call, as without us; `limit` in seconds."""
    scene.model.script.when("touch it", Run("echo done > touched.txt"))
    turn = scene.answered("Please touch it.", patience=limit)
    _expect_answered(scene, turn)
    return f"{turn.ended.seconds:.1f} s"


def _expect_answered(scene: Scene, turn: Turn) -> None:
    expect((scene.project / "touched.txt").exists(), f"the tool did not run: {turn.ended.err[-200:]!r}")
    expect("prices stay integers" in turn.ended.out, f"no answer was printed: {turn.ended.err[-200:]!r}")
    expect(turn.ended.code == 0, f"it ended with {turn.ended.code}")
    complaint = _COMPLAINT.search(turn.ended.err + turn.ended.out)
    expect(not complaint, f"it answered, and complained: {complaint[0].strip() if complaint else ''!r}")


@contextmanager
def _held(store: Path) -> Iterator[None]:
    """Another process holds a lock on every file of the store."""
    holder = subprocess.Popen([sys.executable, "-c", _HOLD, store], stdout=subprocess.PIPE)
    try:
        assert holder.stdout
        holder.stdout.readline()
        yield
    finally:
        holder.kill()
        holder.wait()


@contextmanager
def _full(store: Path) -> Iterator[None]:
    """A file system of its own with the store's files, and not a byte left."""
    files = shutil.copytree(store, store.with_name("files"), ignore=shutil.ignore_patterns("live"))  # has a socket
    if subprocess.run(
        ["mount", "-t", "tmpfs", "-o", "size=4m", "none", store], capture_output=True, check=False
    ).returncode:
        raise Skipped("this system lets us mount nothing")
    try:
        shutil.copytree(files, store, dirs_exist_ok=True)
        with suppress(OSError), (store / "rest").open("wb", buffering=0) as rest:
            while rest.write(bytes(4096)):
                pass
        yield
    finally:
        subprocess.run(["umount", "--lazy", store], check=True)


@contextmanager
def _read_only(store: Path) -> Iterator[None]:
    """A file system that takes no writes; it needs a mount namespace, for permissions do not bind an administrator."""
    mounts = (["--bind", str(store), str(store)], ["-o", "remount,bind,ro", str(store)])
    if any(subprocess.run(["mount", *mount], capture_output=True, check=False).returncode for mount in mounts):
        raise Skipped("this system lets us mount nothing")
    try:
        yield
    finally:
        subprocess.run(["umount", "--lazy", store], check=True)
