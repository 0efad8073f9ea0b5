"""The profile of a host, beside its protocol: its files, what it reads by itself, whose hooks it also runs.

Each host's room has one such profile (`profile.py`), with the documentation or the observation it was taken from.
"""

from collections.abc import Callable, Iterator, Mapping
from pathlib import Path
from typing import Any, Literal, NamedTuple

from eventlog import hosts

Shape = Literal["nested", "flat", "script"]
Scope = Literal["user", "project"]

BOTH_SCOPES: tuple[Scope, ...] = ("user", "project")
_READ_AGENTS_MD = ("amp", "windsurf", "droid")  # hosts without a room
SECONDS, MILLISECONDS = 10, 10_000  # of a hook's timeout, in the unit its host counts in


class HookFile(NamedTuple):
    """The file a host keeps its hooks in.

    Only events named in the host's documentation: Cursor ignores the whole file for one name it does not know.
    """

    user_file: str  # below the host's directory
    project_file: str  # below the project's
    shape: Shape
    events: tuple[str, ...]
    handler: Mapping[str, Any]  # the command still empty
    own: Mapping[str, Mapping[str, Any]] = {}  # what differs from it for some events; for nested shapes also `matcher`
    command_key: str = "command"
    before_files: tuple[str, ...] = ()  # an event before a file is read or changed, for who wants recall there
    document: Mapping[str, Any] = {}  # what a new file needs beside `hooks`
    script: Path | None = None  # of shape "script": what the file holds, a line `const COMMANDS = {}` in it


class ServerFile(NamedTuple):
    """The file a host keeps its MCP servers in: an object, or a TOML table, of them by their names at `keys`."""

    user_file: str  # below the host's directory
    project_file: str = ""  # below the project's; "" where it reads none there
    keys: tuple[str, ...] = ("mcpServers",)
    entry: Mapping[str, Any] = {}  # what a server is told with beside its command
    is_in_home: bool = False  # the user's file lies beside the host's directory, where that is not moved
    has_one_list: bool = False  # the command is one list with its arguments


class RuleFile(NamedTuple):
    """The file a host reads rules from."""

    project_file: str
    user_file: str | None = None  # below the host's directory; None where it reads none there
    head: str = ""  # of a file of our own; "" for a block in a shared one


class MemoryFiles(NamedTuple):
    """The files a host gives its agent by itself: of each group, the first that is there.

    With `has_imports` they may name others by `@path`.
    """

    project: tuple[tuple[str, ...], ...] = ()  # below the project's directory
    home: tuple[tuple[str, ...], ...] = ()  # below the user's home
    has_imports: bool = False


class ForeignHooks(NamedTuple):
    """Hooks registered for another host that this one runs, too; `is_enough` where they miss nothing it can tell."""

    agent: str
    scopes: tuple[Scope, ...] = BOTH_SCOPES
    is_enough: bool = False


class Distrust(NamedTuple):
    """Hooks of ours a host may skip, and the remedy; `is_guess` where an arrival since proves the contrary."""

    what: str
    fix: str
    is_guess: bool = False


class TrustFile(NamedTuple):
    """The file a host notes in which hooks it was told to trust.

    `without` reads its text, our file of hooks and the value of that file, and gives the text without our hooks.
    """

    file: str  # below the host's directory
    without: Callable[[str, Path, Any], str]


class HostProfile(NamedTuple):
    """One host.

    `distrust` reads the host's own directory, our file in it, and the value of that file.
    """

    agent: str  # as commands call it
    name: str  # as its makers call it
    home: str  # its directory under the user's home
    hooks: HookFile
    rules: RuleFile
    memory: MemoryFiles
    home_variable: str = ""  # of the environment, moves that directory; "" where nothing does
    servers: ServerFile | None = None  # None where none is known
    programs: tuple[str, ...] = ()  # by which its presence is told; by default what commands call it
    runs: tuple[str, ...] = ()  # programs that run its agent's commands, and no person's
    marks: tuple[str, ...] = ()  # variables these find in their environment, whether or not there is an id of a session
    traces: tuple[str, ...] = ()  # directories of the user's home that tell it, too; by default its own
    also_runs: tuple[ForeignHooks, ...] = ()
    distrust: Callable[[Path, Path, Any], Iterator[Distrust]] | None = None
    trust: TrustFile | None = None
    after_install: str = ""  # to be done by the user, once, where the host distrusts our hooks


def profiles() -> dict[str, HostProfile]:
    """All hosts with a room, by their name on the command line, in the order of the table."""
    return {room: _load(agent) for agent, room in hosts.ROOMS.items()}


def directory_of(host: HostProfile, home: str, environ: Mapping[str, str]) -> Path:
    """Find the host's own directory, for a user with that home."""
    moved = environ.get(host.home_variable, "") if host.home_variable else ""
    return Path(moved) if moved else Path(home, host.home)


def where_moved(path: str, environ: Mapping[str, str]) -> str:
    """Lead a path below a host's directory (`~/.codex/memories`) to where the environment has moved that directory."""
    for host in profiles().values():
        inside = path.removeprefix(f"~/{host.home}/")
        if inside != path and (moved := environ.get(host.home_variable)):
            return f"{moved}/{inside}"
    return path


def memory_files(agent: str) -> MemoryFiles:
    """Name what the agent of that name in the log is given by its host; nothing where that is not known."""
    if agent in hosts.ROOMS:
        return _load(agent).memory
    return MemoryFiles(project=(("AGENTS.md",),)) if agent in _READ_AGENTS_MD else MemoryFiles()


def _load(agent: str) -> HostProfile:
    profile: HostProfile = hosts.part(agent, "profile").PROFILE
    return profile
