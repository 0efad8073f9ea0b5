"""Where everything lives: one directory, four rooms, and names that can never lead out of them.

Imported inside agents' hooks: paths are text, pathlib costs more than the hook.
"""

import os

from eventlog.ids import digest

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Mapping

_SAFE = frozenset("ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789._-")
_LONGEST_NAME = 120


class Store:
    """The paths of a store; nothing is created here."""

    def __init__(self, root: str) -> None:
        self.root = os.path.abspath(os.path.expanduser(root))
        self.config = f"{self.root}/config.yaml"
        self.log = f"{self.root}/log"
        self.staging = f"{self.root}/staging"
        self.knowledge = f"{self.root}/knowledge"
        self.cache = f"{self.root}/cache"

    @classmethod
    def locate(cls, explicit: str | None, environ: "Mapping[str, str]") -> "Store":
        """`--store`, else `$EVENTLOG_HOME`, else `~/.eventlog`."""
        return cls(explicit or environ.get("EVENTLOG_HOME") or "~/.eventlog")


def conversation_name(conversation_id: str) -> str:
    """The file name of a conversation, or of an event: its id where that is safe, else a safe prefix and a hash."""
    if 0 < len(conversation_id) <= _LONGEST_NAME and is_plain(conversation_id):
        return conversation_id
    prefix = "".join(char if char in _SAFE else "-" for char in conversation_id[:40]).strip(".-")
    return f"{prefix or 'conversation'}-{digest(conversation_id, 8).hex()}"


def project_slug(project: str) -> str:
    """The directory name of a project: the last part of its path and 6 hex digits of a hash of all of it."""
    base = os.path.basename(project.rstrip("/\\")) or "root"
    safe = "".join(char if char.isalnum() or char in _SAFE else "-" for char in base[:60]).strip(".")
    return f"{safe or 'project'}-{digest(project, 3).hex()}"


def is_plain(name: str) -> bool:
    """Whether it is spelled the same everywhere: in a file name, and by every writer of JSON."""
    return _SAFE.issuperset(name) and name.strip(".") != ""
