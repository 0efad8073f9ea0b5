"""Texts that a person erased: they stay out, also when they are recorded again.

`redactions.jsonl`  a line per redaction: which events, in which files, never the text. These events are refused.
`redactions.keys`   a key, and under it the digests of the erased texts, by the number of their words. Without it nobody
                    can check a guess at a text; then only the events are refused. What another machine had erased comes
                    with a key of its own, and the `marker` it has there.

Imported inside agents' hooks, where `redactions.jsonl` exists: standard library only.
"""

from eventlog.fast import fastjson
from eventlog.fast.sha import keyed
from eventlog.format.ids import STAMP
from eventlog.secrets.plain import changed_in, spliced
from eventlog.store.files import NO_FILE, file_stamp, read

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from eventlog.fast.sha import Keyed
    from eventlog.store import Store
    from eventlog.store.files import FileStamp

# what an event is nothing without
_MAIN_FIELDS = {"fact": "content", "stage_summary": "summary", "plan_entry": "content"}
_NO_TEXT = frozenset(("v", "id", "ts", "after", "type", "replica", "redacted"))
_MAX_WORDS = 64  # of an erased text, by which it is known again
_cached: "dict[str, tuple[tuple[FileStamp, FileStamp], Redactions]]" = {}  # by store


class Redactions:
    """The erased ids of events of a store, and the marks of its erased texts."""

    def __init__(self, lines: bytes, keys: bytes) -> None:
        self.ids: set[str] = set()
        self.last = 0
        # by key, then by the number of words: a digest, and which redaction it was
        self._marks: dict[str, dict[int, dict[str, int]]] = {}
        for line in map(fastjson.object_in, lines.splitlines()):
            self.last = max(self.last, _number(line.get("n")))
            events = line.get("events")
            for event in events if isinstance(events, list) else ():
                self.ids |= {str(event["id"])} if isinstance(event, dict) and event.get("id") else set()
        own = ""
        for line in map(fastjson.object_in, keys.splitlines()):
            number, key, marks = _number(line.get("n")), str(line.get("key", own)), line.get("marks")
            self.last = max(self.last, number)
            own = own if isinstance(marks, dict) else key
            number = _number(line.get("marker")) or number
            for words, digests in marks.items() if isinstance(marks, dict) and key else ():
                if words.isdecimal() and isinstance(digests, list):  # else of a newer release, on another machine
                    known = self._marks.setdefault(key, {}).setdefault(int(words), {})
                    known.update((str(digest), number) for digest in digests)
        self._tails = {event_id[STAMP:] for event_id in self.ids}

    @classmethod
    def of(cls, store: "Store") -> "Redactions | None":
        """Read what a store had erased; None where that is nothing, which costs one system call."""
        stamps = file_stamp(store.redactions), file_stamp(store.redaction_keys)
        if stamps[0] == NO_FILE:
            return None
        cached = _cached.get(store.root)
        if cached is None or cached[0] != stamps:
            cached = _cached[store.root] = stamps, cls(read(store.redactions) or b"", read(store.redaction_keys) or b"")
        return cached[1]

    def names(self, event_id: str) -> bool:
        """Return whether an event was erased, by its id or by the end of it that a retry shares."""
        return event_id in self.ids or event_id in self._tails

    def without(self, fields: "Mapping[str, object]", tail: str = "") -> "Mapping[str, object] | None":
        """Replace erased texts in the fields of an event; None for an erased event, by its id, its end or its text."""
        event_id = str(fields.get("id") or tail)
        if event_id and self.names(event_id):
            return None
        is_persons = fields.get("type") == "knowledge_edited"  # their file would be changed back, again and again
        exempt = {*_NO_TEXT, "content", "below"} if is_persons else _NO_TEXT
        cleaned = {name: value if name in exempt else self.clean(value) for name, value in fields.items()}
        main_field = _MAIN_FIELDS.get(str(fields.get("type")), "")
        if main_field and is_only_markers(str(cleaned.get(main_field) or "")):
            return None
        return cleaned

    def clean(self, value: object) -> object:
        """Replace the erased texts in every text of a JSON value; the same object where there are none."""
        return changed_in(value, self._clean_text) if self._marks else value

    def _clean_text(self, text: str, _name: str) -> str:
        words = list(words_of(text))
        found = [place for key, marks in self._marks.items() for place in _places(words, keyed(key.encode()), marks)]
        longest_first = sorted(found, key=lambda place: (place[0], -place[1], place[2]))
        return spliced(text, ((start, end, marker(number)) for start, end, number in longest_first))


def _places(
    words: "list[tuple[str, int, int]]", digest: "Keyed", marks: "dict[int, dict[str, int]]"
) -> "Iterator[tuple[int, int, int]]":
    """Yield where the words are those of an erased text: from, to, and which redaction it was."""
    for size, numbers in marks.items():
        for first in range(len(words) - size + 1):
            phrase = " ".join(word for word, _, _ in words[first : first + size])
            if number := numbers.get(digest(phrase.encode("utf-8", "replace"))):
                yield words[first][1], words[first + size - 1][2], number


def marker(number: int) -> str:
    """Make what stands where the texts of a redaction stood."""
    return f"[redacted:{number}]"


def mark_of(text: str, key: str) -> "tuple[int, str] | None":
    """Count the words of a text and digest them; None for a text that is too long, or has none."""
    words = [word for word, _, _ in words_of(text)]
    if not 0 < len(words) <= _MAX_WORDS:
        return None
    return len(words), keyed(key.encode())(" ".join(words).encode("utf-8", "replace"))


def words_of(text: str) -> "Iterator[tuple[str, int, int]]":
    """Yield the words of a text, folded, each with where it begins and ends."""
    import re  # for who had something erased

    for found in re.finditer(r"\w+", text):
        yield found[0].casefold(), found.start(), found.end()


def is_only_markers(text: str) -> bool:
    """Return whether nothing is left of a text but markers of erased texts."""
    import re  # as above

    return re.fullmatch(r"[ .!]*(?:\[redacted:\d+\][ .!]*)+", text) is not None


def _number(value: object) -> int:
    return value if isinstance(value, int) else 0
