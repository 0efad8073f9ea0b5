"""Installing and leaving: permission to save, and every byte of the host's files."""

from pathlib import Path

from tests.realhosts.model.script import SUMMARY, Save
from tests.realhosts.outcome import expect
from tests.realhosts.scene import Scene


def default_permissions(scene: Scene) -> str:
    """Let the agent save in the host's default permissions, after the user consented at `install --allow`."""
    scene.install("--allow")
    scene.model.script.when("save it", Save())
    turn = scene.answered("Fix the cart, then save it.", free=False)
    saved = scene.events("stage_summary", turn.session)
    said = turn.main[-1].talk.messages[-1].text.strip()
    expect([event["summary"] for event in saved] == [SUMMARY], f"not saved; the tool said: {said[-200:]!r}")
    return ""


def uninstall(scene: Scene) -> str:
    """Give back every file of the host, byte for byte, after a session; in those it writes itself, leave no word of ours."""
    first = _files(scene.home)
    scene.answered("Hello.")
    before = _files(scene.home)
    its_own = {path for path in first if before.get(path) != first[path]}
    scene.install()
    touched = [
        path for path, data in _files(scene.home).items() if before.get(path) != data and not _is_store(scene, path)
    ]
    expect(touched, "installing changed no file of the host")
    scene.answered("Hello.")
    scene.eventlog("uninstall", scene.host.name)
    after = _files(scene.home)
    differing = [
        path
        for path in touched
        if after.get(path) != before.get(path) and (path not in its_own or _names_us(after.get(path, b"")))
    ]
    expect(not differing, f"not as before: {', '.join(str(path.relative_to(scene.home)) for path in differing)}")
    return ""


def _names_us(data: bytes) -> bool:
    return any(ours in data for ours in (b'"eventlog"', b"eventlog/hook.py", b"mcp/start.py"))


def _files(home: Path) -> dict[Path, bytes]:
    return {path: path.read_bytes() for path in home.rglob("*") if path.is_file() and not path.is_symlink()}


def _is_store(scene: Scene, path: Path) -> bool:
    return scene.store in path.parents
