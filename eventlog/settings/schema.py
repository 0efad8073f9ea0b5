"""The settings of a user with their defaults: the shape of `config.yaml`.

A mistake that concerns one key is told as `key: what is wrong`, so that whoever reads the file can name its line.
"""

import posixpath
from typing import Annotated, Any, Literal

from msgspec import Meta, Struct, field

from eventlog.projects.root import HOME
from eventlog.secrets.own_patterns import parse

Locale = Literal["en", "zh"]
_MOST = 1_000_000_000  # what a program counts with, in any format
Count = Annotated[int, Meta(ge=0, le=_MOST)]
Fraction = Annotated[float, Meta(ge=0, le=1)]
BaseName = Annotated[str, Meta(pattern=r"^[A-Za-z0-9_][A-Za-z0-9_-]{0,63}$")]

PROJECT = "{project}/"  # what a path starts with that is a different file in every project


class KnowledgeBase(Struct, frozen=True, forbid_unknown_fields=True, omit_defaults=True):
    """A file people and agents share; plan entries may change its sections.

    `path` is absolute, or starts with `~/` or `{project}/`. With `review` every entry waits for a person. An entry that
    would change or remove a line a person wrote waits (`keep`), or has the last word (`replace`).
    """

    path: str | None = None
    url: str | None = None
    review: bool = False
    on_people_text: Literal["keep", "replace"] = "keep"

    def __post_init__(self) -> None:
        if (self.path is None) == (self.url is None):
            raise ValueError("exactly one of path and url must be given")
        if self.path is not None and not self.path.startswith(("/", HOME, PROJECT)):
            raise ValueError(f"path: must start with /, ~/ or {PROJECT}")
        if self.path is not None and (".." in self.path.split("/") or self.path.endswith("/")):
            raise ValueError("path: must name a file, without any ..")
        if self.url is not None and not _is_address(self.url):
            raise ValueError("url: must start with https:// or file:/// (http:// only on this machine)")

    @property
    def place(self) -> str:
        """The file or address, in any spelling of it."""
        return posixpath.normpath(self.path) if self.path is not None else self.url or ""


class MemorySettings(Struct, frozen=True, forbid_unknown_fields=True):
    """The limits of a rendered MEMORY.md: what Claude Code loads of such a file."""

    max_lines: Annotated[int, Meta(ge=10, le=_MOST)] = 200
    max_bytes: Annotated[int, Meta(ge=1000, le=_MOST)] = 25_000


class SummarySettings(Struct, frozen=True, forbid_unknown_fields=True):
    """The number of session summaries per project, and the length (characters) of a body."""

    keep: Count = 20
    max_chars: Annotated[int, Meta(ge=50, le=_MOST)] = 300


class ContextSettings(Struct, frozen=True, forbid_unknown_fields=True):
    """The context of a session's start: a budget in characters, and how facts decay with their age in days.

    `workspace` is the directory of the user's own files (TOOLS.md, BOOTSTRAP.md, user/*.md); with `templates`,
    a session's start creates AGENTS.md, SOUL.md, USER.md and user/profile.md there, each once.
    """

    budget_chars: Annotated[int, Meta(ge=200, le=_MOST)] = 9000
    days_full: Count = 2  # younger facts: all of them
    days_partial: Count = 5  # younger facts: the newest of each day
    days_max: Count = 7  # younger facts: only those of high confidence
    partial_per_day: Count = 3
    min_confidence: Fraction = 0.9
    facts: Count = 15
    summaries: Count = 60  # of the project's last sessions, for a new one, a line each
    workspace: Annotated[str, Meta(pattern=r"^(/|~/)")] = "~/.config/agents"
    templates: bool = True


class CodexMemorySettings(Struct, frozen=True, forbid_unknown_fields=True):
    """The copies of each project's MEMORY.md to where Codex keeps its memories; never the other way."""

    enabled: bool = False
    path: Annotated[str, Meta(pattern=r"^(/|~/)")] = "~/.codex/memories"


class SaveSettings(Struct, frozen=True, forbid_unknown_fields=True):
    """The request to save, for an agent that saved nothing when it stops: if ever, and after how many turns."""

    stop_fallback: Literal["once", "never"] = "once"
    min_turns: Count = 3


class SecretSettings(Struct, frozen=True, forbid_unknown_fields=True):
    """Patterns of secrets beside the maintained rules: a beginning, then `[characters]{how many}`."""

    patterns: list[str] = []

    def __post_init__(self) -> None:
        for pattern in self.patterns:
            parse(pattern)


class RecallSettings(Struct, frozen=True, forbid_unknown_fields=True):
    """The recall of what is known: with a `prompt`, before a `file` is read or changed, so many `lines` at most.

    After a `failure` of a command: the command that passed after the same one in an earlier session. `file` and
    `failure` are for hosts that let a hook speak there; after a change of one, install again. `transcripts`: past
    conversations, too.
    """

    prompt: bool = True
    file: bool = False
    failure: bool = False
    lines: Annotated[int, Meta(ge=1, le=3)] = 3
    transcripts: bool = True


class SyncSettings(Struct, frozen=True, forbid_unknown_fields=True):
    """The behaviour of `eventlog sync`, and what stays on this machine.

    `auto`: exchange in the background when a session ends. `exclude`: projects by path, name or address, of which
    nothing leaves. `texts`: the words of conversations leave, too.
    """

    auto: bool = False
    exclude: list[str] = []
    texts: bool = False


_BASES = {
    "user": KnowledgeBase(path="~/.config/agents/USER.md"),
    "soul": KnowledgeBase(path="~/.config/agents/SOUL.md", review=True),
    "global-agents": KnowledgeBase(path="~/.config/agents/AGENTS.md"),
    "project": KnowledgeBase(path="{project}/AGENTS.md"),
}
_BOOTSTRAP = ["global-agents", "soul", "user", "project"]
_HOOKS: dict[str, bool | dict[str, Any]] = {"logging": True, "git_cleanup": {"enabled": False}}


class Settings(Struct, frozen=True, forbid_unknown_fields=True):
    """The settings a user may choose. Mappings of names (`knowledge_bases`, `session_hooks`) replace the defaults."""

    version: Literal[1] = 1
    timezone: str = "UTC"  # of dates and times in rendered files
    locale: Locale = "en"  # of headings in rendered files
    fsync: Literal["always", "never"] = "always"
    knowledge_bases: dict[BaseName, KnowledgeBase] = field(default_factory=lambda: dict(_BASES))
    session_bootstrap: list[str] = field(default_factory=lambda: list(_BOOTSTRAP))  # bases a session starts with
    memory: MemorySettings = MemorySettings()
    summaries: SummarySettings = SummarySettings()
    context: ContextSettings = ContextSettings()
    save: SaveSettings = SaveSettings()
    recall: RecallSettings = RecallSettings()
    secrets: SecretSettings = SecretSettings()
    sync: SyncSettings = SyncSettings()
    codex_memory: CodexMemorySettings = CodexMemorySettings()
    session_hooks: dict[str, bool | dict[str, Any]] = field(default_factory=lambda: dict(_HOOKS))

    def __post_init__(self) -> None:
        if not _is_timezone(self.timezone):
            raise ValueError(f"timezone: there is no time zone {self.timezone!r}; write it like Europe/Berlin")
        files: dict[str, str] = {}
        for name, base in self.knowledge_bases.items():
            other = files.setdefault(base.place, name)
            if other != name:
                raise ValueError(f"knowledge_bases: {other!r} and {name!r} are the same file")
        unknown = [name for name in self.session_bootstrap if name not in self.knowledge_bases]
        if unknown and self.session_bootstrap != _BOOTSTRAP:
            raise ValueError(f"session_bootstrap: there is no knowledge base {unknown[0]!r}")

    @property
    def orders_bases(self) -> bool:
        """The user chose the order of knowledge bases for a session."""
        return self.session_bootstrap != _BOOTSTRAP

    @property
    def bootstrap(self) -> list[str]:
        """The bases a session starts with, those that are configured."""
        return [name for name in self.session_bootstrap if name in self.knowledge_bases]


def _is_address(url: str) -> bool:
    from urllib.parse import urlsplit

    parts = urlsplit(url)
    if parts.scheme == "file":
        return not parts.netloc and ".." not in parts.path.split("/") and not parts.path.endswith("/")
    return parts.scheme == "https" or (parts.scheme == "http" and parts.hostname in ("127.0.0.1", "::1", "localhost"))


def _is_timezone(name: str) -> bool:
    if name == "UTC":  # for which no session waits until time zones are imported
        return True
    from zoneinfo import ZoneInfo

    try:
        ZoneInfo(name)
    except (LookupError, ValueError, OSError):
        return False
    return True
