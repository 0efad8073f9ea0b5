"""The saves and turns of a conversation so far, by its id and over all days, without reading the whole log.

The index names the lines in files that have not changed since; the rest is searched for the id as bytes, newest file
first, and only where those lines leave anything to ask. Only lines that carry words or end turns are parsed.
"""

from eventlog.fast import fastjson
from eventlog.store import Store, index_lookup
from eventlog.store.files import read_regular
from eventlog.store.index_lookup import lines_at, lines_with

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Collection, Iterator

    from eventlog.store.index_lookup import FileStamp, LookupResult

_SEARCH_AT_MOST = 256 << 20  # bytes not in the index; a host would not wait for more
_HEAD = 140  # bytes that hold the type of a line as the log writes it
_SAYS = ("fact", "stage_summary")


class TooMuch(Exception):
    """More of the log is unindexed than can be searched while a host waits."""


class History:
    """The history of one conversation: has it saved anything, was it asked to, how many turns has it had."""

    def __init__(self) -> None:
        self.saved = False
        self.asked = False
        self.turns = 0

    def take_in(self, event: "dict[str, object]") -> None:
        """Take in one event of the conversation."""
        kind = event.get("type")
        self.saved = self.saved or kind in _SAYS
        self.asked = self.asked or (kind == "save_requested" and event.get("trigger") == "stop")
        self.turns += kind == "turn_end"


def history(store: Store, conversation_id: str) -> History:
    """Read all of it, or as much as shows that there is nothing to ask for; raises TooMuch or OSError."""
    found = History()
    ids: set[object] = set()
    for line in _lines(store, conversation_id):
        event = _event(line)
        if event.get("conversation_id") != conversation_id or event.get("subagent") or event.get("id") in ids:
            continue
        ids.add(event.get("id"))
        found.take_in(event)
        if found.saved or found.asked:
            break
    return found


def events(store: Store, conversation_id: str, files: "list[FileStamp]") -> "Iterator[dict[str, object]]":
    """Yield what is in these files of the log of it but what hosts did; raises TooMuch or OSError."""
    for line in _lines(store, conversation_id, files):
        event = _event(line)
        if event.get("conversation_id") == conversation_id and not event.get("subagent"):
            yield event


def _lines(store: Store, conversation_id: str, files: "list[FileStamp] | None" = None) -> "Iterator[bytes]":
    """List the lines that can be the conversation's, of all files unless they were looked at."""
    index = index_lookup.look_up(store.cached("conversations.index"), conversation_id)
    offsets = index.offsets
    searched = 0
    for stamp in _likeliest_first(store.log, index, offsets) if files is None else reversed(files):
        name = index_lookup.name_in(stamp)
        if stamp in index.files:
            if name in offsets:
                yield from _at(f"{store.log}/{name}", offsets[name])
            continue
        searched += index_lookup.size_in(stamp)
        if searched > _SEARCH_AT_MOST:
            raise TooMuch(f"{searched:,} bytes of the log are not indexed")
        yield from _search(f"{store.log}/{name}", index_lookup.marks(conversation_id))


def _likeliest_first(log_dir: str, index: "LookupResult", told: "Collection[str]") -> "Iterator[FileStamp]":
    """Look at the files of which the index names lines of the conversation, then at all others, newest first."""
    for name in sorted(told, reverse=True):
        if stamp := index_lookup.stamp_of(log_dir, name):
            yield stamp
    for name in reversed(index_lookup.names_of(log_dir, index.files)):
        if name not in told and (stamp := index_lookup.stamp_of(log_dir, name)):
            yield stamp


def _at(path: str, offsets: "list[int]") -> "Iterator[bytes]":
    try:
        yield from lines_at(path, offsets)
    except OSError:  # a file that cannot be read says nothing
        return


def _search(path: str, marks: "list[bytes]") -> "Iterator[bytes]":
    """Yield every line that can be the conversation's; the caller looks closer."""
    try:
        data = read_regular(path)
    except OSError:
        return
    yield from (data[start:end] for start, end in lines_with(data, marks))


def _event(line: bytes) -> "dict[str, object]":
    """The event of a line; nothing where it is damaged, or only tells what a host did."""
    if b'"type":"host_event"' in line[:_HEAD]:
        return {}
    return fastjson.object_in(line)
