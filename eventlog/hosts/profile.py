"""The profile of a host: its files, which programs it is found by, whose hooks it also runs, what it allows its agent.

Each room has a `profile.py` with `PROFILE`, and names the documentation or the observation it was taken from.
"""

import os
import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from pathlib import Path, PurePath
from typing import Any, Literal, NamedTuple

from eventlog import hosts
from eventlog.format.codec import dig
from eventlog.hosts.save_commands import SAVES, TOOLS, VERBS

Shape = Literal["nested", "flat", "script"]
Scope = Literal["user", "project"]
Verdict = Literal["allowed", "asked", "refused"]

BOTH_SCOPES: tuple[Scope, ...] = ("user", "project")
SECONDS, MILLISECONDS = 10, 10_000  # of a hook's timeout, in the unit its host counts in


_HANDLER = {"type": "command", "command": "", "timeout": SECONDS}


class HookFile(NamedTuple):
    """The file of a host's hooks.

    Only events named in the host's documentation: Cursor ignores the whole file for a single name it does not know.
    """

    user_file: str  # below the host's directory
    project_file: str  # below the project's
    events: tuple[str, ...]
    shape: Shape = "nested"
    handler: Mapping[str, Any] = _HANDLER  # the command still empty
    own: Mapping[str, Mapping[str, Any]] = {}  # what differs from it for some events; for nested shapes also `matcher`
    command_key: str = "command"
    before_files: tuple[str, ...] = ()  # an event before a file is read or changed, for users who want recall there
    after_failures: tuple[str, ...] = ()  # an event after a tool failed, for users who want what passed then
    document: Mapping[str, Any] = {}  # what a new file needs beside `hooks`
    refuses: tuple[str, ...] = ()  # as seen: what else than JSON makes it skip the whole file (`JsonText.beyond_json`)
    script: Path | None = None  # of shape "script": the file's text, with a line `const COMMANDS = {}`


class ServerFile(NamedTuple):
    """A host's list of MCP servers: an object, or a TOML table, of them by their names at `keys`.

    Its files are the `servers` of the host's protocol.
    """

    keys: tuple[str, ...] = ("mcpServers",)
    entry: Mapping[str, Any] = {}  # what an entry needs beside its command
    is_toml: bool = False
    has_one_list: bool = False  # the command is one list with its arguments


class RuleFile(NamedTuple):
    """The file a host reads rules from."""

    project_file: str
    user_file: str | None = None  # below the host's directory; None where it reads none there
    head: str = ""  # of a file of our own; "" for a block in a shared file


class PluginFormat(NamedTuple):
    """The format of a host's plugins: its manifest, its files, and how they name the directory of the plugin.

    The formats lie side by side, unless a `folder` keeps one apart from manifests or events that its host refuses.
    """

    install: str  # commands of the host; `{directory}` is the built one
    manifest: str  # this and all other files below the folder
    root: str  # the directory of an installed plugin, as its commands name it
    folder: str = ""
    hooks: str = "hooks/hooks.json"
    servers: str = ".mcp.json"  # "" where they stand in the manifest
    names_root_to_servers: bool = True
    fields: Mapping[str, Any] = {}  # of the manifest, beside name, version and description
    catalog: str = ""  # a marketplace of this plugin alone, at the root of the built directory
    listing: Mapping[str, Any] = {}  # its entry there, beside name, version and description


class ForeignHooks(NamedTuple):
    """Hooks of another host that this host runs too; `is_enough` where it lacks no event by running only these."""

    agent: str
    scopes: tuple[Scope, ...] = BOTH_SCOPES
    is_enough: bool = False


class Distrust(NamedTuple):
    """The hooks that a host may skip, and the remedy; `is_guess` if a later call proves the contrary."""

    what: str
    fix: str
    is_guess: bool = False


class Grant(NamedTuple):
    """The commands to allow: our saving verbs, of this program, writing into this store."""

    program: str  # as a shell reads it
    store: str  # absolute

    @property
    def prefixes(self) -> tuple[str, ...]:
        """The beginning of each command."""
        return tuple(f"{self.program} {verb}" for verb in VERBS)

    @property
    def saving(self) -> tuple[str, ...]:
        """The beginning of the commands without which an agent cannot save."""
        return self.prefixes[: len(SAVES)]


class Permission(NamedTuple):
    """The narrowest rule by which a host's agent may save unasked: where it stands, and its text.

    `json` and `toml` add `items` to the list at `keys` of a shared file; `own` is a file of ours with the text
    `items[0]`. `judge` reads the parsed file (None: no file); so does `judge_tools`, where our server is registered.
    `overruled` is the remedy where our rule is present and
    another rule overrules it. `unsafe` is the reason where rules for commands, which earlier releases wrote, allow
    more than saving.
    """

    form: Literal["json", "toml", "own"]
    user_file: str  # below the host's directory
    items: Callable[[Grant], tuple[str, ...]]
    judge: Callable[[Any, Grant], Verdict]
    judge_tools: Callable[[Any, Grant], Verdict]
    is_own: Callable[[str, Grant], bool]
    overruled: str = ""
    project_file: str = ""  # below the project's; "" where the user's file applies to all projects
    keys: tuple[str, ...] = ()
    unsafe: str = ""


class NoPermission(NamedTuple):
    """A host without a lasting rule for single commands: its verdict, and the options it takes instead."""

    verdict: Verdict
    remedy: Callable[[Grant], str]


class HostProfile(NamedTuple):
    """The facts about a host that an installer needs.

    `distrust` reads the host's directory, our hook file in it, and the value of that file. `without_trust` reads the
    text of `trust_file`, our hook file and its value, and returns the text without our hooks.
    """

    agent: str  # as commands name it
    name: str  # as its makers name it
    home: str  # its directory under the user's home
    hooks: HookFile
    rules: RuleFile
    permission: Permission | NoPermission | None = None  # None where none is documented
    home_variable: str = ""  # of the environment, moves that directory; "" where nothing does
    servers: ServerFile | None = None  # None where none is documented
    plugin: PluginFormat | None = None  # None where it has none, or reads that of another host
    programs: tuple[str, ...] = ()  # whose presence shows that it is installed; by default `agent`
    runs: tuple[str, ...] = ()  # programs that run its agent's commands, and no person's
    marks: tuple[str, ...] = ()  # variables these commands find in their environment, with or without a session's id
    traces: tuple[str, ...] = ()  # directories of the user's home that show it, too; by default its own
    also_runs: tuple[ForeignHooks, ...] = ()
    switches: Mapping[str, object] = {"disableAllHooks": True}  # the settings, with the value, that skip our hooks
    settings_files: tuple[str, ...] = ()  # that may hold these beside its own: below the project's, or absolute
    distrust: Callable[[Path, Path, Any], Iterator[Distrust]] | None = None
    trust_file: str = ""  # below the host's directory: its settings, and which hooks the user has trusted
    without_trust: Callable[[str, Path, Any], str] | None = None
    after_install: str = ""  # for the user to do, once, where the host distrusts our hooks

    def directory(self, home: str, environ: Mapping[str, str]) -> Path:
        """Find the host's own directory, for a user with that home."""
        moved = environ.get(self.home_variable, "") if self.home_variable else ""
        return Path(moved) if moved else Path(home, self.home)


def profiles() -> dict[str, HostProfile]:
    """Load the profiles of all rooms, by the host's name on the command line, in the order of the table.

    A room of another package whose profile cannot be loaded is left out.
    """
    loaded = {room: getattr(hosts.part(agent, "profile"), "PROFILE", None) for agent, room in hosts.rooms().items()}
    return {room: profile for room, profile in loaded.items() if isinstance(profile, HostProfile)}


def where_moved(path: str, environ: Mapping[str, str]) -> str:
    """Translate a path below a host's directory (`~/.codex/memories`) to where the environment has moved that."""
    for host in profiles().values():
        inside = path.removeprefix(f"~/{host.home}/")
        if inside != path and (moved := environ.get(host.home_variable)):
            return f"{moved}/{inside}"
    return path


_ALLOW = ("permissions", "allow")


def listed(
    shape: str, enough: tuple[str, ...], overrules: Mapping[str, Verdict], project_file: str, unsafe: str = ""
) -> Permission:
    """Make the rule of a host that lists what it allows in `settings.json`, under `permissions.allow`.

    `shape` is a rule with `{}` for how a command begins; each of `enough` allows all commands. A rule that also stands
    in a list of `overrules`, the stronger first, gets their verdict. Our MCP tools get rules too. Where it is `unsafe`
    to allow a command by how it begins, no rule for a command is written, and earlier ones are removed.
    """
    server = "mcp__eventlog"
    tools = tuple(f"{server}__{tool}" for tool in TOOLS)
    head, tail = map(re.escape, shape.split("{}"))
    pattern = re.compile(rf"{head}(?:.* -m |\S*/|'.*/)?eventlog'? (?:{'|'.join(VERBS)}){tail}")

    def verdict(settings: Any, needed: set[str], enough: Sequence[str], *, counts: bool = True) -> Verdict:
        for key, overruling in overrules.items():
            if {*needed, *enough}.intersection(strings(settings, ("permissions", key))):
                return overruling
        allowed = {*strings(settings, _ALLOW)}
        return "allowed" if (counts and needed <= allowed) or allowed.intersection(enough) else "asked"

    return Permission(
        form="json",
        user_file="settings.json",
        project_file=project_file,
        keys=_ALLOW,
        items=lambda grant: tools if unsafe else (*map(shape.format, grant.prefixes), *tools),
        judge=lambda settings, grant: verdict(settings, {*map(shape.format, grant.saving)}, enough, counts=not unsafe),
        judge_tools=lambda settings, _: verdict(settings, {*tools[:1]}, (server, f"{server}__*")),
        overruled=unsafe or f"take eventlog out of {' and '.join(f'permissions.{key}' for key in overrules)}",
        unsafe=unsafe,
        is_own=lambda item, _: item in tools or pattern.fullmatch(item) is not None,
    )


def strings(document: Any, keys: Sequence[str]) -> list[str]:
    """List the strings of the list at these keys; none where it is no list."""
    found = dig(document, *keys)
    return [item for item in found if isinstance(item, str)] if isinstance(found, list) else []


# ------------------------------------------------------------------------------------------------ who runs a command

_PS = ("ps", "-axo", "pid=,ppid=,command=")  # for systems without /proc


def is_run_by_agent(environ: Mapping[str, str]) -> bool:
    """Return whether an agent started this process, by its environment or a program above it.

    Not for hooks, whose payload names the host: hosts inherit each other's environment.
    """
    all_hosts = profiles().values()
    if hosts.named_conversations(environ) or any(environ.get(mark) for host in all_hosts for mark in host.marks):
        return True
    programs = {program for host in all_hosts for program in host.runs}
    # a command line runs one of them directly, or by an interpreter
    return any(PurePath(word).stem in programs for command in _above() for word in command.split("\0")[:2])


def _above() -> Iterator[str]:
    """Yield the command lines of the processes above, words separated by NUL, as far as they can be read."""
    listed = None if Path("/proc/self/stat").exists() else _listed()
    parent = os.getppid()
    while parent > 1:
        found = _process(parent) if listed is None else listed.get(parent)
        if found is None:
            return
        parent, command = found
        yield command


def _process(pid: int) -> tuple[int, str] | None:
    """Read the parent and the command line of a process of Linux."""
    try:
        stat = Path(f"/proc/{pid}/stat").read_text(encoding="utf-8", errors="replace")
        command = Path(f"/proc/{pid}/cmdline").read_text(encoding="utf-8", errors="replace")
        return int(stat.rpartition(")")[2].split()[1]), command
    except (OSError, ValueError, IndexError):
        return None


def _listed() -> dict[int, tuple[int, str]]:
    """List all processes by `ps`, for systems without /proc; none where it fails."""
    import subprocess  # costs a twentieth of a verb, which needs it nowhere else

    try:
        listing = subprocess.run(_PS, capture_output=True, check=True, timeout=2).stdout.decode("utf-8", "replace")
        lines = (line.split(None, 2) for line in listing.splitlines())
        return {int(pid): (int(parent), command.replace(" ", "\0")) for pid, parent, command in lines}
    except (OSError, ValueError, subprocess.SubprocessError):
        return {}
