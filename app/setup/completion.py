"""The shell's completion: where its script belongs, and installing it there."""

from pathlib import Path
from typing import NamedTuple

from eventlog.app.machine import Machine
from eventlog.store.files import replace_file

_READABLE = 0o644


class CompletionFile(NamedTuple):
    """Where a shell looks for the script, and what else it needs to be told; "" for nothing."""

    path: Path
    remark: str = ""


def completion_file(shell: str, machine: Machine) -> CompletionFile:
    """Name the user's own place for the completions of that shell."""
    data = Path(machine.environ.get("XDG_DATA_HOME") or f"{machine.home}/.local/share")
    config = Path(machine.environ.get("XDG_CONFIG_HOME") or f"{machine.home}/.config")
    if shell == "fish":
        return CompletionFile(config / "fish/completions/eventlog.fish")
    if shell == "bash":
        return CompletionFile(data / "bash-completion/completions/eventlog", "needs the package bash-completion")
    functions = data / "zsh/site-functions"
    return CompletionFile(
        functions / "_eventlog", f"put before `compinit` in ~/.zshrc, once: fpath=({functions} $fpath)"
    )


def install_completion(shell: str, script: str, machine: Machine) -> CompletionFile:
    """Put the script where the shell finds it, and nothing else; raises NotStored."""
    place = completion_file(shell, machine)
    replace_file(str(place.path), script.encode(), mode=_READABLE)
    return place
