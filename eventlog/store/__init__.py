"""The files of a store: their paths, which never lead out of it, and how each is written, locked and found.

Loaded by hooks: paths are text, pathlib costs more than the hook.

Imported by: everybody.
"""

from eventlog.fast import os
from eventlog.format.ids import digest

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Mapping
    from typing import Literal

    LockName = Literal["declare", "hook", "install", "replay", "replica", "settle", "sync", "trust"]
    CacheName = Literal[
        "avoided.log",  # statements that were there already
        "copies.json",  # set-aside copies of edited files, as they were when they were read
        "context",  # last good copies of people's files
        "conversations",  # ids for hosts that give none
        "conversations.index",
        "conversations.looked",  # when all days that are over were last seen to be as they are indexed
        "dialogues.sqlite",  # what was said in conversations with a transcript
        "deleted",  # files of repositories that commits have deleted, with the days
        "heard",  # when hooks of each agent last called
        "hook-errors.log",
        "hook-errors.spare",  # room on the disk, for when it is full
        "hooks-lost",  # as many bytes as events that nothing could keep
        "checkpoints",  # of earlier releases, removed
        "knowledge.db",  # what replays keep of the log
        "meaning.sqlite",  # vectors of what can be found
        "late",  # contexts that are owed
        "live",  # the socket at which hooks are answered, and the program that asks there
        "locks",  # of files of knowledge bases
        "ready",  # of earlier releases, removed
        "open",  # sessions to finalize
        "copies",  # of memories that were made where a host keeps its own
        "swept",  # what was withdrawn when copies of edited files were last looked through
        "search.sqlite",  # what can be found, and by which words
        "redacted.seen",  # day files, as they were when they were last looked through for what was erased
        "reports.json",  # where people have had pages written
        "replicas.json",  # what day files of other machines were seen to hold
        "seals.json",  # what the next seal goes on from
        "serve",  # files that lead a browser to the page
        "sessions.log",
        "settings.json",
        "timezone.json",  # the offsets of the time zone
        "settle.starting",  # a process was started and has not taken the lock yet
    ]

_SAFE = frozenset("ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789._-")
_FILLERS = "\u115f\u1160\u3164\uffa0"  # letters by Unicode that show nothing
_LONGEST_NAME = 120
_LONGEST_REPLICA = 60
_ENDING = ".jsonl"
_MONTHS = (31, 28, 31, 30, 31, 30, 31, 31, 30, 31, 30, 31)
_CONFLICT = "conflict"  # in the names of copies that Syncthing, Nextcloud, Resilio, rclone and others make


class Store:
    """The paths of a store; nothing is created here."""

    def __init__(self, root: str) -> None:
        self.root = os.path.abspath(os.path.expanduser(root))
        self.config = f"{self.root}/config.yaml"
        self.trusted = f"{self.root}/trusted.json"
        self.log = f"{self.root}/log"
        self.spool = f"{self.root}/spool"
        self.staging = f"{self.root}/staging"
        self.knowledge = f"{self.root}/knowledge"
        self.sync = f"{self.root}/sync"
        self.cache = f"{self.root}/cache"
        self.replica = f"{self.root}/replica"
        self.redactions = f"{self.root}/redactions.jsonl"
        self.redaction_keys = f"{self.root}/redactions.keys"  # and the marks of erased texts
        self.redacting = f"{self.redactions}.pending"
        self.seals = f"{self.root}/seals.jsonl"
        self.rewritten = f"{self.root}/rewritten.jsonl"
        self.spare = self.cached("hook-errors.spare")

    def cached(self, name: "CacheName", *below: str) -> str:
        """Name a file or directory of the cache, or a path below that directory."""
        return "/".join((self.cache, name, *below))

    def lock(self, name: "LockName") -> str:
        """Name the file of a lock between processes; each guards what the verb of its name does."""
        return f"{self.cache}/{name}.lock"

    @property
    def entries_note(self) -> str:
        """Name the note that plan entries wait: the next session's start applies them, should no replay come before."""
        return self.cached("open", "entries.waiting")

    @property
    def lost(self) -> tuple[str, str]:
        """Name the files that count lost events: in the store, and beside a store that cannot be written."""
        return self.cached("hooks-lost"), f"{self.root}.lost"

    @property
    def live(self) -> tuple[str, str]:
        """Name the socket at which hooks are answered, and the program that asks there, of this kind of machine."""
        return self.cached("live", "socket"), self.cached("live", f"hook-{os.uname().machine}")

    @classmethod
    def locate(cls, explicit: str | None, environ: "Mapping[str, str]") -> "Store":
        """Take `--store`, else `$EVENTLOG_HOME`, else `~/.eventlog`.

        A relative `$EVENTLOG_HOME` starts at the home directory: hooks run in every directory there is.
        """
        home = os.path.expanduser(environ.get("EVENTLOG_HOME", "").strip() or ".eventlog")
        return cls(explicit or os.path.join("~", home))


def is_own(file: str) -> bool:
    """Return whether a day file is the log's own, and did not come from another machine."""
    return len(file.rpartition("/")[2]) == len("2026-02-20.jsonl")


def day_of(name: str) -> str:
    """Read the day a file of the log is named after, `YYYY-MM-DD`; "" for every other name.

    `2026-02-20.jsonl` is the log's own, `2026-02-20.laptop.jsonl` came from another machine. A conflict copy of a sync
    program is neither.
    """
    day, rest = name[:10], name[10:]
    if not rest.endswith(_ENDING) or not _is_date(day):
        return ""
    replica = rest[: -len(_ENDING)]
    return day if not replica or (replica[0] == "." and is_replica_name(replica[1:])) else ""


def is_replica_name(name: str) -> bool:
    """Return whether the name of another machine can stand between the dots of `2026-02-20.laptop.jsonl`."""
    return 1 <= len(name) <= _LONGEST_REPLICA and _SAFE.issuperset(name) and _CONFLICT not in name.lower()


def _is_date(text: str) -> bool:
    """Return whether the calendar has such a day; no calendar module, this runs inside agents' hooks."""
    digits = text[:4] + text[5:7] + text[8:]
    if text[4:5] + text[7:8] != "--" or not (digits.isascii() and digits.isdigit() and len(digits) == len("20260220")):
        return False
    year, month, day = int(text[:4]), int(text[5:7]), int(text[8:])
    if not (year and 1 <= month <= len(_MONTHS)):
        return False
    leap = month == 2 and year % 4 == 0 and (year % 100 != 0 or year % 400 == 0)  # noqa: PLR2004 - February
    return 1 <= day <= _MONTHS[month - 1] + leap


def conversation_name(conversation_id: str) -> str:
    """Name the file of a conversation, or of an event: its id where that is safe, else a safe prefix and a hash."""
    if 0 < len(conversation_id) <= _LONGEST_NAME and is_plain(conversation_id):
        return conversation_id
    prefix = "".join(char if char in _SAFE else "-" for char in conversation_id[:40]).strip(".-")
    return f"{prefix or 'conversation'}-{digest(conversation_id, 8).hex()}"


def project_slug(project: str) -> str:
    """Name the directory of a project: the last part of its path and 6 hex digits of a hash of all of it."""
    base = os.path.basename(project.rstrip("/\\")) or "root"
    shown = (char if (char.isalnum() and char not in _FILLERS) or char in _SAFE else "-" for char in base[:60])
    safe = "".join(shown).strip(".")
    return f"{safe or 'project'}-{digest(project, 3).hex()}"


def is_plain(name: str) -> bool:
    """Return whether every file system and every writer of JSON spells a name the same."""
    return _SAFE.issuperset(name) and name.strip(".") != ""
