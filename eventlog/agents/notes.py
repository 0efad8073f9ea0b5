"""`cache/open/`: one small file per conversation whose end has not been seen to yet.

Left by hooks at each turn's end and at the session's; taken away by `eventlog settle`. It carries what the log does
not: where the host keeps its transcript. A host that never tells of an end leaves a note that grows old.
"""

import os

from eventlog import wire
from eventlog.agents.moment import Moment, present
from eventlog.files import make_dirs
from eventlog.secrets import scrub_fields
from eventlog.store import Store, conversation_name

_WRITE = os.O_WRONLY | os.O_CREAT | os.O_TRUNC


def directory(store: Store) -> str:
    """Where the notes are."""
    return f"{store.cache}/open"


def leave(store: Store, moment: Moment) -> None:
    """Write the note of a conversation anew; not durable, and where it cannot be, there is none.

    A start has one of its own (`.started`), for session hooks; alone it is nothing to hurry for.
    """
    fields = scrub_fields(
        present(
            session=moment.session,
            agent=moment.agent,
            project=moment.project,
            cwd=moment.where,
            transcript=moment.transcript,
            ended=moment.type == "session_end",
        )
    )
    ending = "started" if moment.type == "session_start" else "json"
    path = f"{directory(store)}/{conversation_name(moment.session)}.{ending}"
    try:
        fd = _open(path)
    except OSError:
        return
    try:
        os.write(fd, wire.dumps(fields))
    finally:
        os.close(fd)


def are_waiting(store: Store) -> bool:
    """Whether there is any but of starts."""
    try:
        return any(name.endswith(".json") for name in os.listdir(directory(store)))
    except OSError:
        return False


def _open(path: str) -> int:
    try:
        return os.open(path, _WRITE, 0o600)
    except FileNotFoundError:
        make_dirs(os.path.dirname(path))
        return os.open(path, _WRITE, 0o600)
