"""`cache/open/`: one small file per conversation whose end has not been seen to yet.

Left by hooks at each turn's end and at the session's; taken away by `eventlog settle`. It carries what the log does
not: where the host keeps its transcript. A host that never tells of an end leaves a note that grows old.
"""

from eventlog.fast import fastjson, os
from eventlog.hosts.call import HookCall, present
from eventlog.secrets import scrub_fields
from eventlog.store import Store, conversation_name
from eventlog.store.files import read_regular, remove, write_note

_ENTRIES = "entries.waiting"


def directory(store: Store) -> str:
    """Where the notes are."""
    return store.cached("open")


def mark_open(store: Store, call: HookCall) -> None:
    """Write the note of a conversation anew; not durable, and where it cannot be, there is none.

    A start has one of its own (`.started`), for session hooks; alone it is nothing to hurry for.
    """
    ending = "started" if call.type == "session_start" else "json"
    path = f"{directory(store)}/{conversation_name(call.session)}.{ending}"
    fields = scrub_fields(
        present(
            {
                "session": call.session,
                "agent": call.agent,
                "project": call.project,
                "cwd": call.where,
                "transcript": call.transcript or _transcript_of(path),
                "ended": call.type == "session_end",
            }
        )
    )
    write_note(path, fastjson.dumps(fields))


def mark_entries(store: Store) -> None:
    """Note that plan entries wait to be applied: the next session's start has it done, should no replay come before."""
    write_note(f"{directory(store)}/{_ENTRIES}", b"")


def unmark_entries(store: Store) -> None:
    """Remove the note of plan entries that wait."""
    remove(f"{directory(store)}/{_ENTRIES}")


def _transcript_of(path: str) -> object:
    """The transcript an earlier call named: Copilot tells of it at a turn's end and not at the session's."""
    try:
        return fastjson.object_in(read_regular(path)).get("transcript", "")
    except OSError:
        return ""


def any_open(store: Store) -> bool:
    """Tell whether a conversation waits to be finalized, or an entry to be applied; notes of starts do not count."""
    try:
        return any(name.endswith((".json", _ENTRIES)) for name in os.listdir(directory(store)))
    except OSError:
        return False
