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
from typing import Self

import eventlog
from eventlog.hooks.prompts import interpreter
from eventlog.store import Store

_SHARED = ["--session-type", "shared"]
_ELSE = " 2>/dev/null || "  # read by the POSIX shell every host runs commands with
CANNOT_FAIL = f"{_ELSE}true"
_INSTALLED = re.compile(r"""[/\\]eventlog[/\\]hook\.py["']? --agent (?P<agent>[a-z-]+) --event \w+""")
_BY_HAND = re.compile(r"""(?:^|[/\\"'\s])eventlog["']?\s+hook(?:\s|$)""")
_NAME = re.compile(r"""(?<=[/\\])python[\d.]*(?=["']? -I -S )""")
_PATHS = re.compile(r"""^(?P<python>.+?) -I -S (?P<script>.+?[/\\]hook\.py["']?) --agent """)


def command(agent: str, event: str, store: Store, home: str, *, shared: bool = False, live: bool = False) -> str:
    """Build the command the host runs at an event; `shared` where others than the user read its sessions.

    A `live` one asks at the socket of the store first.
    """
    words = _words("hook.py", ["--agent", agent, "--event", event], store, home, shared=shared)
    if sys.platform == "win32":
        from subprocess import list2cmdline  # loaded on Windows only: it takes as long as all the rest

        return list2cmdline(words)
    plain = shlex.join(words)
    if live:
        socket, client = map(shlex.quote, store.live)
        plain = f"test -S {socket} && {client} {plain}{_ELSE}{plain}"
    return plain + CANNOT_FAIL


def server_command(agent: str, store: Store, home: str, *, shared: bool = False) -> list[str]:
    """Build the command that starts our MCP server, as words: no shell reads it."""
    return _words("cli/mcp/start.py", ["--agent", agent], store, home, shared=shared)


def _words(script: str, hints: list[str], store: Store, home: str, *, shared: bool) -> list[str]:
    words = [interpreter(), "-I", "-S", str(Path(eventlog.__file__).parent / script), *hints]
    if store.root != str(Path(home) / ".eventlog"):  # a host started from a desktop lacks the shell's environment
        words += ["--store", store.root]
    return words + (_SHARED if shared else [])


class HookCommand(str):
    """A command in a host's file, as `install` of any version or a person wrote it; "" for what is no text."""

    __slots__ = ()

    def __new__(cls, found: object) -> Self:
        """Take what stands in the file."""
        return super().__new__(cls, found if isinstance(found, str) else "")

    @property
    def is_own(self) -> bool:
        """Return whether `eventlog install` of any version wrote it."""
        return _INSTALLED.search(self) is not None

    @property
    def calls_us(self) -> bool:
        """Return whether it calls our hook, also where written by hand."""
        return self.is_own or _BY_HAND.search(self) is not None

    @property
    def is_live(self) -> bool:
        """Return whether it asks at a socket first, and `install` wrote it."""
        return self.startswith("test -S ") and self.is_own

    @property
    def is_shared(self) -> bool:
        """Return whether it starts shared sessions."""
        return self.removesuffix(CANNOT_FAIL).endswith(" ".join(["", *_SHARED]))

    @property
    def without_client(self) -> str:
        """Return what a host would run if no process answered hooks."""
        return self.removesuffix(CANNOT_FAIL).rpartition(_ELSE)[2] + CANNOT_FAIL if self.is_live else self

    def is_as(self, wanted: str) -> bool:
        """Return whether a host runs that command without a client; a Python may have several names in a directory."""
        return _NAME.sub("", self.without_client) == _NAME.sub("", wanted)

    @property
    def missing_files(self) -> list[str]:
        """List its files that are gone."""
        match = _PATHS.match(self.without_client)
        words = [match["python"], match["script"]] if match else []
        return [path for path in (word.strip("\"'") for word in words) if not Path(path).exists()]
