"""The context that was made for another session of the project and still holds: told without any library.

Where it lies, it says what it was made of: files by their stamps, the log, and what a session's directory tells. It is
told as it is while all that is as it was, and since then nothing was appended but by sessions that began since and have
said nothing. Whoever is not sure makes a context anew (`app/serve/session_context.py`).

Imported while a session waits to begin: standard library only, and little of it.
"""

import sys
import time

from eventlog.fast import fastjson, os
from eventlog.format import ids, timestamps
from eventlog.projects.repository import branch_and_changes
from eventlog.projects.root import git_config
from eventlog.store.dayfile import path_of
from eventlog.store.files import NO_FILE, read_regular, remove, stamp_from

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import TypedDict

    from eventlog.format.payloads import ContextInjected
    from eventlog.hosts.call import HookCall
    from eventlog.store import Store

    class Kept(TypedDict):
        """A context as it is kept: what it was made of, and what is told."""

        since: str  # it holds from then on
        until: str  # and no longer
        files: list[list[object]]  # each with its stamp
        log: str  # of all files but that of the day
        size: int  # of the file of the day
        said: str  # in it
        config: str  # of the project's repository
        work: list[object]  # of its directory
        heard: list[str]  # conversations that said something
        body: str  # what follows the instructions, in its fence
        receipt: ContextInjected


NEW = ("startup", "clear", "new")  # how a session starts that has said nothing yet
_SILENT = ("session_start", "context_injected", "turn_end", "session_end", "host_event")  # types that say nothing
_MOST_SAID = 4 << 20  # bytes of a day; of more than that, nothing is ready
_MOST_SINCE = 1 << 16


def find(store: "Store", call: "HookCall", source: str, instructions: str) -> "Kept | None":
    """Find a context that still holds for a session that starts; None where there is none. Never raises."""
    try:
        kept = fastjson.loads(read_regular(place(store, call, source, instructions)))
        return kept if _holds(store, call, kept) else None  # type: ignore[arg-type, return-value]
    except (OSError, ValueError, KeyError, TypeError, IndexError, AttributeError):
        return None


def place(store: "Store", call: "HookCall", source: str, instructions: str) -> str:
    """Name the file of what is ready for such a session; what is told depends on how long the instructions are."""
    from eventlog.hooks.prompts import program

    own = stamp_from(os.stat(__file__))  # of this installation
    listens = str(call.fields.get("session_type", "main"))
    home = os.environ.get("HOME", "")
    lengths = (len(instructions), len(instructions.encode("utf-8", "replace")))
    asked = (sys.version, own, store.root, home, program(), call.project, call.agent, source, listens, lengths)
    return store.cached("ready", f"{ids.digest(repr(asked), 16).hex()}.json")


def drop_all(store: "Store") -> None:
    """Remove whatever is ready: what it says may have been withdrawn."""
    try:
        for name in os.listdir(store.cached("ready")):
            remove(store.cached("ready", name))
    except OSError:
        return


def log_but(store: "Store", day: str) -> str:
    """Digest names and stamps of all files of the log but the own one of that day; raises OSError."""
    own = f"{day}.jsonl"
    with os.scandir(store.log) as found:
        files = sorted(f"{file.name} {stamp_from(file.stat())}" for file in found if file.name != own)
    return ids.digest("\n".join(files), 16).hex()


def said_on(store: "Store", day: str) -> bytes:
    """Read what was said on that day; raises OSError, and ValueError where it is too much."""
    try:
        data = read_regular(path_of(store.log, day), _MOST_SAID + 1)
    except FileNotFoundError:
        return b""
    if len(data) > _MOST_SAID:
        raise ValueError("more than is looked at")
    return data


def digest_of(data: bytes) -> str:
    """Digest bytes, as text that JSON takes."""
    return ids.digest_of(data, 16).hex()


def work_of(call: "HookCall") -> list[object]:
    """Read what the session's directory tells: branch, and changed files."""
    return list(branch_and_changes(call.where)) if call.project else ["", []]


def config_of(project: str) -> str:
    """Digest the settings of a project's repository."""
    return digest_of(git_config(project).encode("utf-8", "replace"))


def stamp_of(path: str) -> list[int]:
    """Make the stamp of a file or a directory, whatever becomes of it."""
    try:
        return list(stamp_from(os.stat(path)))
    except (OSError, ValueError):
        return list(NO_FILE)


def _holds(store: "Store", call: "HookCall", kept: "Kept") -> bool:
    now = timestamps.from_ns(time.time_ns())
    if not (kept["since"] <= now < kept["until"] and kept["since"][:10] == now[:10]):
        return False
    if any(stamp_of(str(path)) != stamp for path, stamp in kept["files"]):
        return False
    if kept["log"] != log_but(store, now[:10]):
        return False
    if kept["work"] != work_of(call) or kept["config"] != config_of(call.project):
        return False
    data, size = said_on(store, now[:10]), kept["size"]
    if len(data) - size > _MOST_SINCE or digest_of(data[:size]) != kept["said"]:
        return False
    return _is_silent(data[size:], set(kept["heard"]))


def _is_silent(since: bytes, heard: set[str]) -> bool:
    """Tell whether these lines are of conversations that began with them and have said nothing."""
    began: set[str] = set()
    for line in since.splitlines():
        event = fastjson.loads(line)
        if not isinstance(event, dict) or event["type"] not in _SILENT:
            return False
        conversation = event["conversation_id"]
        if event["type"] == "session_start" and event.get("source") in NEW:
            began.add(conversation)
        is_new = conversation in began or event["type"] == "context_injected"  # that of the first one it was made for
        if not is_new or conversation in heard:
            return False
    return True
