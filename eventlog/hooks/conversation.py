"""Facts about a conversation that its host's payload lacks: its id, its previous event, its saves and turns so far.

Rarely needed, so rarely loaded. Standard library only, and little of it.
"""

import time

from eventlog import hosts
from eventlog.fast import fastjson, os
from eventlog.format import ids, timestamps
from eventlog.hosts.call import HookCall
from eventlog.store import Store, index_lookup
from eventlog.store.append_once import SAME_CALL_MS
from eventlog.store.dayfile import path_of
from eventlog.store.files import file_stamp, read, replace_file, write_note

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Collection, Iterator, Mapping

    from eventlog.store.index_lookup import FileStamp

_UUID = 36  # characters
_RETRIED_NS = 2 * SAME_CALL_MS * 1_000_000  # nanoseconds: a file as young as that may be of the attempt before a retry

# events of hosts; summaries, receipts and requests of ours come from elsewhere, at any time
_CALLS = ("host_event", "turn_end", "save_requested", "session_start", "session_end")
_OUR_TRIGGER = "stop"  # of a request of ours; another trigger is a compaction of the host
_END = 1 << 20  # bytes of today's file that are searched

_SEARCH_AT_MOST = 256 << 20  # bytes outside the index; a host would not wait for more
_HEAD = 140  # bytes that hold the type of a line as the log writes it
_SAVES = ("fact", "stage_summary")


# ------------------------------------------------------------------------------------------------ its id


def conversation_id(store: Store, call: HookCall, environ: "Mapping[str, str]") -> str:
    """Find the id in the name of the host's newest transcript, else use an id of our own; raises NotStored or OSError.

    A host continues the file of a conversation it resumes, and starts a new file for a new conversation: the newest
    file of the project belongs to the current conversation, also after a resume or a rewind.
    """
    newest = _id_in(call.transcript) or _id_in(hosts.protocol(call.agent).newest_transcript(call.where, environ))
    return newest or _own_id(store, call)


def _id_in(transcript: str) -> str:
    """Return the name of the file, "" for none; of a Codex rollout the thread id at its end, as in its payloads."""
    name = os.path.basename(transcript.replace("\\", "/")).removesuffix(".jsonl").strip()
    return name[-_UUID:] if name.startswith("rollout-") and len(name) > _UUID else name


def _own_id(store: Store, call: HookCall) -> str:
    """Return an id of our own: new with each start that is no return, and cached until then."""
    path = store.cached("conversations", f"{ids.digest(f'{call.agent} {call.project}', 8).hex()}.json")
    returns = call.type != "session_start" or call.fields.get("source") in ("resume", "compact")
    returns = returns or (call.is_retry and time.time_ns() - file_stamp(path)[1] < _RETRIED_NS)
    cached = fastjson.object_in(read(path) or b"") if returns else {}
    if conversation := str(cached.get("conversation_id", "")).strip():
        return conversation
    fresh = ids.new(time.time_ns() // 1_000_000)
    replace_file(path, fastjson.dumps({"conversation_id": fresh}), durable=False)
    return fresh


# ------------------------------------------------------------------------------------------------ its previous event


def previous_event(store: Store, call: HookCall) -> str:
    """Find the id of the conversation's newest call of another type, recorded today; "" for none.

    Most hosts give a session's start and end no key, and a session may be short. Duplicates of a call follow the same
    event of the conversation; its next start or end follows another event.
    """
    for event in _todays(store, call.session):
        kind = event.get("type")
        if kind in _CALLS and kind != call.type and event.get("trigger") != _OUR_TRIGGER:
            return str(event.get("id"))
    return ""


def last_prompt(store: Store, session: str, agent: str, unless: str = "") -> "dict[str, object] | None":
    """Return the payload of the user's newest prompt in a conversation, recorded today; empty for none.

    None where it has an event of the type `unless`.
    """
    name = hosts.protocol(agent).prompt
    found: dict[str, object] = {}
    for event in _todays(store, session):
        if unless and event.get("type") == unless:
            return None
        if name and event.get("name") == name and isinstance(payload := event.get("payload"), dict):
            found = found or payload
            if not unless:
                break
    return found


def _todays(store: Store, session: str) -> "Iterator[dict[str, object]]":
    """Yield a conversation's events at the end of today's log, newest first, without those of helpers."""
    today = path_of(store.log, timestamps.from_ns(time.time_ns())[:10])
    for line in reversed([*_lines_in(today, index_lookup.marks(session), -_END)]):
        event = fastjson.object_in(line)
        if event.get("conversation_id") == session and not event.get("subagent"):
            yield event


# ------------------------------------------------------------------------------------------------ its saves and turns


class TooMuch(Exception):
    """The error that more of the log is unindexed than can be searched while a host waits."""


def turns_unsaved(store: Store, conversation_id: str) -> int | None:
    """Count the turns of a conversation over all days; None where it saved anything, or was asked to.

    The index names the lines in files that have not changed since. The other files are searched for the id as bytes,
    newest first, and only while the answer is open. Raises TooMuch or OSError.
    """
    turns, seen = 0, set[object]()
    for event in all_events(store, conversation_id):
        if event.get("subagent") or event.get("id") in seen:
            continue
        seen.add(event.get("id"))
        kind = event.get("type")
        names_only = kind == "stage_summary" and event.get("summary") == event.get("topic")  # drawn for want of one
        is_asked = kind == "save_requested" and event.get("trigger") == _OUR_TRIGGER
        if is_asked or (kind in _SAVES and not names_only):
            return None
        turns += kind == "turn_end"
    return turns


def all_events(
    store: Store, conversation_id: str, files: "list[FileStamp] | None" = None
) -> "Iterator[dict[str, object]]":
    """Yield the conversation's events in all files or in these, helpers' too, except host events.

    Raises TooMuch or OSError.
    """
    for line in _lines(store, conversation_id, files):
        event = {} if b'"type":"host_event"' in line[:_HEAD] else fastjson.object_in(line)
        if event.get("conversation_id") == conversation_id:
            yield event


def _lines(store: Store, conversation_id: str, files: "list[FileStamp] | None") -> "Iterator[bytes]":
    """Yield the lines that may be the conversation's; an unreadable file has none."""
    index = store.cached("conversations.index")
    stamp_of_index = file_stamp(index)  # before it is read
    indexed, offsets = index_lookup.look_up(index, conversation_id)
    searched, marks = 0, index_lookup.marks(conversation_id)
    for stamp in _likeliest_first(store, indexed, offsets, stamp_of_index) if files is None else reversed(files):
        path, size = f"{store.log}/{index_lookup.name_in(stamp)}", index_lookup.size_in(stamp)
        known, places = index_lookup.known_part(store.log, indexed, offsets, stamp)
        try:
            yield from index_lookup.lines_at(path, places)
        except OSError:
            continue
        if known < size:
            searched += size - known
            if searched > _SEARCH_AT_MOST:
                raise TooMuch(f"{searched:,} bytes of the log are not indexed")
            yield from _lines_in(path, marks, known)


def _lines_in(path: str, marks: "Collection[bytes]", start: int) -> "Iterator[bytes]":
    """Yield what `lines_having` reads; nothing of a file that is unreadable."""
    try:
        yield from index_lookup.lines_having(path, marks, start)
    except OSError:
        return


def _likeliest_first(
    store: Store, indexed: "set[FileStamp]", first: "Collection[str]", index: tuple[int, ...]
) -> "Iterator[FileStamp]":
    """Yield the files with indexed lines of the conversation, then all others, newest first.

    Of days that are over only the former, while each is known to be as it was indexed: the note of that look names the
    others, and ends with what must be whole.
    """
    note = store.cached("conversations.looked")
    last, _, rest = (read(note) or b"").decode(errors="replace").partition("\n")
    listed = rest.rpartition("\n")[0]
    since, look = index_lookup.looked_at(store.log, last if rest == f"{listed}\n{index}" else "")
    is_indexed = True
    for name in sorted(first, reverse=True):
        if stamp := index_lookup.stamp_of(store.log, name):
            is_indexed = is_indexed and (stamp in indexed or stamp > look)
            yield stamp
    names = listed.split() if since else index_lookup.names_of(store.log, indexed)
    for stamp in index_lookup.stamps_in(store.log, [name for name in reversed(names) if name not in first]):
        is_indexed = is_indexed and (stamp in indexed or stamp > look)
        yield stamp
    if look and is_indexed:
        recent = " ".join(name for name in names if name >= look[:10])
        write_note(note, f"{look}\n{recent}\n{index}".encode())
