"""Set up what is the user's own: settings, files from templates (AGENTS.md, SOUL.md …), shell completion."""

from pathlib import Path
from typing import Any, NamedTuple

from eventlog.app.open_store import Machine
from eventlog.app.setup.session_hooks.run import mistakes_in
from eventlog.format.errors import BadSettings
from eventlog.projections.context.agent_context import ContextFile
from eventlog.projections.context.context_files import templated
from eventlog.projects.root import in_full
from eventlog.settings import load
from eventlog.settings.schema import Settings
from eventlog.store import Store
from eventlog.store.files import replace_file


def missing(settings: Settings, home: str) -> list[ContextFile]:
    """List the missing files that have a template."""
    return [file for file in templated(settings, home) if not Path(file.path).exists()]


_READABLE = 0o644


class _CompletionFile(NamedTuple):
    """The place where a shell finds the script, and a remaining step for the user or ""."""

    path: Path
    remark: str = ""


def install_completion(shell: str, script: str, machine: Machine) -> _CompletionFile:
    """Write the script to where the user's shell finds it; raises NotStored."""
    data = Path(machine.environ.get("XDG_DATA_HOME") or f"{machine.home}/.local/share")
    config = Path(machine.environ.get("XDG_CONFIG_HOME") or f"{machine.home}/.config")
    functions = data / "zsh/site-functions"
    once = f"put before `compinit` in ~/.zshrc, once: fpath=({functions} $fpath)"
    places = {
        "fish": _CompletionFile(config / "fish/completions/eventlog.fish"),
        "bash": _CompletionFile(data / "bash-completion/completions/eventlog", "needs the package bash-completion"),
    }
    place = places.get(shell) or _CompletionFile(functions / "_eventlog", once)
    replace_file(str(place.path), script.encode(), mode=_READABLE)
    return place


class SettingInForce(NamedTuple):
    """A setting: its dotted key, its value, and `config.yaml:LINE`, `default`, or the setting it follows from."""

    key: str
    value: Any
    origin: str


def config(store: Store, home: str) -> list[SettingInForce]:
    """List all settings in the order of the documentation, and the place of the user's files; raises BadSettings.

    Session hooks are checked here and by `doctor` alone: elsewhere, one that fails must stop nothing else.
    """
    configured = load.load(store)
    for mistake in mistakes_in(configured.settings):
        lines = [configured.lines[key] for key in (mistake.where, "session_hooks") if key in configured.lines]
        raise BadSettings(str(mistake), where=f"{store.config}:{lines[0]}", hint=mistake.hint or "correct it")
    found = [
        SettingInForce(setting.key, setting.value, f"{store.config}:{setting.line}" if setting.line else "default")
        for setting in load.effective(configured)
    ]
    workspace = in_full(configured.settings.context.workspace, home)
    return [*found, SettingInForce("user_files", f"{workspace}/user/*.md", "context.workspace")]
