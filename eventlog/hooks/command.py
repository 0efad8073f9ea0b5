"""The command in a host's file: the fastest form of `eventlog hook`, with the same text as long as it works.

Codex trusts a hook by a hash of its definition, Claude Code and Gemini recognise copies by the text, and Cursor drops
a whole file for one URL in it: nothing that varies, and no URL.

The command cannot fail: Python ends with 2 for a missing script, which hosts take for "block this prompt", and the
shell with 127 for a missing Python, which Gemini takes for a denial. So an uninstalled program disturbs no host.

Where a process may answer the hooks of the store (`eventlog/hooks/live.py`), the shell looks for its socket first; no
other program starts where there is none. A client that is gone, or cannot run, is followed by the plain command.
"""

import re
import shlex
import sys
from pathlib import Path

import eventlog
from eventlog.hooks.prompts import interpreter
from eventlog.store import Store

_SHARED = ["--session-type", "shared"]
_ELSE = " 2>/dev/null || "  # read by the POSIX shell every host runs commands with
_CANNOT_FAIL = f"{_ELSE}true"
_INSTALLED = re.compile(r"""[/\\]eventlog[/\\]hook\.py["']? --agent (?P<agent>[a-z-]+) --event \w+""")
_PERMITS = re.compile(r"""/eventlog/hosts/\w+/permit\.py'? """)
_BY_HAND = re.compile(r"""(?:^|[/\\"'\s])eventlog["']?\s+hook(?:\s|$)""")
_PATHS = re.compile(r"""^(?P<python>.+?) -I -S (?P<script>.+?[/\\]hook\.py["']?) --agent """)


def command(agent: str, event: str, store: Store, home: str, *, shared: bool = False, live: bool = False) -> str:
    """Build the command the host runs at an event; `shared` where others than the user read its sessions.

    A `live` one asks at the socket of the store first.
    """
    words = [interpreter(), "-I", "-S", str(Path(eventlog.__file__).parent / "hook.py")]
    words += ["--agent", agent, "--event", event]
    if store.root != str(Path(home) / ".eventlog"):  # a host started from a desktop lacks the shell's environment
        words += ["--store", store.root]
    if shared:
        words += _SHARED
    if sys.platform == "win32":
        from subprocess import list2cmdline  # loaded on Windows only: it takes as long as all the rest

        return list2cmdline(words)
    plain = shlex.join(words)
    if live:
        socket, client = map(shlex.quote, store.live)
        plain = f"test -S {socket} && {client} {plain}{_ELSE}{plain}"
    return plain + _CANNOT_FAIL


def without_client(text: str) -> str:
    """Return the command that a host would run if no process answered hooks."""
    return text.removesuffix(_CANNOT_FAIL).rpartition(_ELSE)[2] + _CANNOT_FAIL if is_live(text) else text


def is_live(text: str) -> bool:
    """Return whether a command that `install` wrote asks at a socket first."""
    return text.startswith("test -S ") and is_ours(text)


def server_command(agent: str, store: Store, home: str, *, shared: bool = False) -> list[str]:
    """Build the command that starts our MCP server, as words: no shell reads it."""
    script = Path(eventlog.__file__).parent / "cli" / "mcp" / "start.py"
    words = [interpreter(), "-I", "-S", str(script), "--agent", agent]
    words += ["--store", store.root] if store.root != str(Path(home) / ".eventlog") else []
    return words + (_SHARED if shared else [])


def permit_command(script: str, program: str, store: str) -> str:
    """Build the command that answers a host's permission request for this program's saving commands into this store."""
    return shlex.join([interpreter(), "-I", "-S", script, program, store]) + _CANNOT_FAIL


def is_permit(text: object) -> bool:
    """Return whether `permit_command` of any version built a command."""
    return isinstance(text, str) and _PERMITS.search(text) is not None


def is_ours(text: object) -> bool:
    """Return whether `eventlog install` of any version wrote a command."""
    return isinstance(text, str) and _INSTALLED.search(text) is not None


def calls_us(text: object) -> bool:
    """Return whether a command calls our hook, also where written by hand."""
    return is_ours(text) or (isinstance(text, str) and _BY_HAND.search(text) is not None)


def is_shared(text: str) -> bool:
    """Return whether a command starts shared sessions."""
    return text.removesuffix(_CANNOT_FAIL).endswith(" ".join(["", *_SHARED]))


def missing_files(text: str) -> list[str]:
    """List the missing files of an installed command."""
    match = _PATHS.match(without_client(text))
    words = [match["python"], match["script"]] if match else []
    return [path for path in (word.strip("\"'") for word in words) if not Path(path).exists()]
