"""The facts and summaries that stand, for a session that starts: rows of the search, with what was appended since.

Without an index the log itself is read, by the same rules: a small log whole; of a large log the last days, and of the
days before them what was withdrawn. Then earlier statements are taken from files that nobody has edited since they were
rendered. Where the log is too large to look for old withdrawals, nothing but those files is certain.

Imported while a session waits to begin: standard library only, and the database only where it exists.
"""

from eventlog.app.naming.known_projects import NOWHERE, KnownProjects
from eventlog.app.search import standing_lines
from eventlog.app.search.appended import WITHDRAWS, Appended, NotAppended
from eventlog.app.search.standing_lines import FoundLine, WholeLog, without_replaced
from eventlog.fast import fastjson, os
from eventlog.fast.modules import find_libraries
from eventlog.format import timestamps
from eventlog.format.ids import day_in_id
from eventlog.format.local_time import local_time
from eventlog.format.text import cut, one_line, statement_line
from eventlog.format.timestamps import order
from eventlog.hooks.conversation import TooMuch, all_events
from eventlog.projections.context.heard import HeardEvent
from eventlog.projections.context.sources import DAY_MS
from eventlog.projections.current.standing import is_replaced, likeness, not_replaced, replaced, standing_text
from eventlog.projections.search.findable import text_in, texts_in
from eventlog.store import day_of, index_lookup
from eventlog.store.index_lookup import lines_at, lines_having

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Collection, Iterable, Iterator, Mapping
    from sqlite3 import Connection

    from eventlog.format.events import Event, Withdrawal
    from eventlog.log.event_log import EventLog
    from eventlog.projections.context.phrases import ContextPhrases
    from eventlog.projections.context.request import ContextRequest
    from eventlog.projections.line import Line
    from eventlog.projections.search.findable import EventFields
    from eventlog.store import Store
    from eventlog.store.index_lookup import FileStamp, Offsets

_PATIENCE = 0.2  # seconds another writer of the index is waited for
_MAX = 4 << 20  # bytes of the log that are taken in while a session waits
_SMALL_LOG = 4 << 20  # bytes that are read whole without an index
_MAX_SEARCHED = 48 << 20  # bytes of earlier days in which withdrawals are looked for
_LAST_LINES = 1500  # of a project, among which sessions are looked for
_MAX_TEXTS, _TEXT_CHARS = 3, 160
_STATING = ("fact", "stage_summary")
_TS = b'"ts":"'
_TS_LENGTH = len("2026-02-20T08:35:44.123456Z")


class CurrentLines:
    """The facts and summaries that stand, of a project and of the user: a `CurrentSource` of contexts."""

    def __init__(
        self,
        store: "Store",
        request: "ContextRequest",
        within: tuple[str, str],
        timezone: str,
        *,
        shared: bool,
        certain: bool = False,
    ) -> None:
        """Open the rows; where only what is `certain` is wanted, nothing is read but files that certify themselves."""
        self._store = store
        self._names = KnownProjects(store)
        self._shared = shared
        home = request.known_as
        self.subject = home.subject if home else self._names.subjects_at(request.project)[1]
        self._heard = (self.subject,) if shared else ("", self.subject)
        self._rows: _Rows | _Lines = _Lines() if certain else _open(store, self._names, within[0])
        self.is_whole = self._rows.is_whole
        self.rejections = standing_lines.rejected_in(self._rows.gone)
        self._within = within
        self._local = local_time(timezone, request.offsets)
        self._yesterday = timestamps.from_ns((timestamps.to_ms(request.now) - DAY_MS) * 1_000_000)[:10]
        self._withdraws: bool | None = False if certain else None
        found = self._rows.since(self._heard, within[0])
        self.recent = [event for event in self._heard_events(found) if within[0] <= event.ts <= within[1]]

    def sessions(self, limit: int, /) -> "list[HeardEvent]":
        """List the summaries and the texts of so many conversations of the project, those last at work."""
        return list(self._heard_events(self._rows.sessions(self.subject, limit)))

    def before_compaction(self, request: "ContextRequest", words: "ContextPhrases", /) -> "list[Line]":
        """Draw from a transcript what its conversation was about before; nothing where it cannot be read."""
        find_libraries()
        try:
            from eventlog.app.serve.before_compaction import before_compaction

            return before_compaction(request.transcript, request.project, words, self._recent_texts(request.session_id))
        except (OSError, ImportError):
            return []

    def _recent_texts(self, conversation_id: str) -> "list[str]":
        """List the statements that a conversation was given with its prompts and that still stand, the newest last."""
        try:
            events = list(all_events(self._store, conversation_id))
        except (OSError, TooMuch):
            return []
        receipts = (event for event in events if event.get("type") == "context_injected" and event.get("trigger"))
        ids = list(dict.fromkeys(source for event in receipts for source in texts_in(event, "sources")))
        lines = {text_in(event, "id"): HeardEvent(event, subject) for event, subject in self._rows.events(ids)}
        heard = [lines[event_id] for event_id in ids if event_id in lines]
        texts = [(event, event.content if event.type == "fact" else event.summary) for event in heard[-_MAX_TEXTS:]]
        return [
            f"[{self._local(event.ts)[:10]}] {cut(one_line(text), _TEXT_CHARS)}"
            for event, text in texts
            if text and not self.rejections.rejects(text)
        ]

    def conversation(self, conversation_id: str, /) -> "list[HeardEvent] | None":
        """Return what of a conversation may be shown, oldest first; None where that is not known."""
        lines = self._rows.conversation(conversation_id)
        if not lines and not self._rows.is_whole:
            return None
        events = self._heard_events(line for line in lines if line[1] in self._heard)
        return sorted(events, key=order)

    def stand(self, subject: str, texts: "Mapping[str, str]", /) -> "set[str] | None":
        """Choose of texts, with the last day of each, those that state what stands; None: not known."""
        sames = {likeness(text): text for text in texts}
        facts = self.facts_that_stand(subject, sames)
        if facts is None:
            return None
        remaining = {text: texts[text] for same, text in sames.items() if same not in facts}
        subjects = {subject or self._names.subjects_at("")[1], self.subject}  # of the user's, some have moved here
        over = {name: self._rows.replaced(name, sames.keys() - facts) for name in subjects} if remaining else {}
        of_those_days = self._decided(over, self._utc_days(set(remaining.values()))) if remaining else set()
        if unknown := remaining.keys() - of_those_days:
            decided = set(map(likeness, self._decided(over, None)))
            unknown = {text for text in unknown if likeness(text) not in decided}
        return texts.keys() - unknown

    def _utc_days(self, days: set[str]) -> set[str]:
        """List the days of UTC in which days of the user lie: with the one before where clocks are ahead, or behind."""
        seasons = [f"{self._yesterday[:4]}-{day}" for day in ("01-02", "07-02")]
        later = any(self._local(f"{day}T00:00:00.000000Z")[:10] < day for day in seasons)
        earlier = any(self._local(f"{day}T23:59:59.999999Z")[:10] > day for day in seasons)
        noons = [timestamps.to_ms(f"{day}T12:00:00.000000Z") for day in days] if earlier or later else ()
        near = (noon + shift * DAY_MS for noon in noons for shift in (-earlier, later) if shift)
        return days.union(timestamps.from_ns(noon * 1_000_000)[:10] for noon in near)

    def _decided(self, over: "Mapping[str, Mapping[bytes, FoundLine]]", days: "Collection[str] | None") -> set[str]:
        """Collect the decisions about these subjects, without those `over` which keys have something else since."""
        found = ((event, newer) for subject, newer in over.items() for event in self._rows.summaries(subject, days))
        saves = (without_replaced(event, newer) for event, newer in found)
        return {statement_line(text) for save in saves for text in texts_in(save, "decisions")}

    def facts_that_stand(self, subject: str, sames: "Collection[bytes]", /) -> "set[bytes] | None":
        """Choose of the statements of facts those that stand; None: not known."""
        return self._rows.facts(subject, sames) if self._rows.is_whole else None

    def called_done(self, since: str, /) -> "Mapping[bytes, str]":
        """Map the to-dos of the project that were called done since to when one last was."""
        return self._rows.called_done(self.subject, since)

    def span(self, conversation_id: str, /) -> tuple[str, str]:
        """Return when a conversation began, and was last at work; "" where that is not known."""
        index = index_lookup.look_up(self._store.cached("conversations.index"), conversation_id)
        indexed = {index_lookup.name_in(stamp) for stamp in index[0]}
        times: list[str] = []
        for name in index_lookup.names_of(self._store.log):
            if name in index[1] or name not in indexed or name >= self._yesterday:  # else it had no line of it
                try:
                    times += filter(None, self._times_in(name, conversation_id, *index))
                except OSError:
                    continue
        return min(times, default=""), max(times, default="")

    def _times_in(
        self, name: str, conversation_id: str, indexed: "Collection[FileStamp]", offsets: "Offsets"
    ) -> "Iterator[str]":
        """Read times of a conversation in a file: of the first and the last line that is indexed, and of all later."""
        path, stamp = f"{self._store.log}/{name}", index_lookup.stamp_of(self._store.log, name)
        known, places = index_lookup.known_part(self._store.log, indexed, offsets, stamp) if stamp else (0, [])
        yield from map(_ts_of, lines_at(path, sorted({*places[:1], *places[-1:]})))
        if stamp and known < index_lookup.size_in(stamp):
            yield from map(_ts_of, lines_having(path, index_lookup.marks(conversation_id)[:1], known))

    def without_withdrawn(self, text: str, /) -> str:
        """Remove from a knowledge base the sections that a withdrawn plan entry put into it.

        The next replay does: it is looked for what was withdrawn since yesterday.
        """
        if self._withdraws is None:
            last = self._rows.withdrew
            may = last is None or last >= self._yesterday
            self._withdraws = may and _withdraws_entry(self._store, self._yesterday)
        if not self._withdraws:
            return text
        find_libraries()
        return _without_withdrawn_sections(text, self._store, *self._within)

    def close(self) -> None:
        """Let go of the index."""
        self._rows.close()

    def _heard_events(self, lines: "Iterable[tuple[EventFields, str]]") -> "Iterator[HeardEvent]":
        """Yield what is not rejected, without what keys have replaced: facts that have none, and of sessions."""
        every = (HeardEvent(event, subject) for event, subject in lines)
        rejects = self.rejections.rejects
        heard = [one for one in every if one.type != "fact" or (one.text and not rejects(one.content))]
        over = {
            subject: self._rows.replaced(
                subject, (same for event in heard if event.subject == subject for same in event.unkeyed)
            )
            for subject in {event.subject for event in heard}
        }
        for event in heard:
            if event.type != "fact":
                newer = over[event.subject]
                event.topic, event.summary = (
                    standing_text(text, event, newer) for text in (event.topic, event.summary)
                )
                event.decisions = not_replaced(event.decisions, event, newer)
                yield event
            elif event.key or not is_replaced(event.same, event, over[event.subject]):
                yield event


class _Rows:
    """The rows of the search's index; `withdrew`: when last a plan entry may have been withdrawn, None for unknown."""

    is_whole = True

    def __init__(self, database: "Connection") -> None:
        self._db = database
        self.gone = {str(aim) for (aim,) in database.execute("SELECT aim FROM gone WHERE aim >= 'statement '")}
        (self.withdrew,) = database.execute("SELECT max(value) FROM meta WHERE name = 'withdrew'").fetchone()

    def since(self, subjects: "Collection[str]", ts: str) -> "list[tuple[EventFields, str]]":
        """List the facts and summaries about these subjects that were recorded since."""
        marks = ",".join("?" * len(subjects))
        sql = f"SELECT line, subject FROM units WHERE subject IN ({marks}) AND ts >= ?"  # noqa: S608
        return self._read(f"{sql} AND type IN ('fact', 'stage_summary')", *subjects, ts)

    def sessions(self, subject: str, limit: int) -> "list[tuple[EventFields, str]]":
        """List the summaries and texts of so many conversations about a project, of those that have its last lines."""
        last = "SELECT conversation, type FROM units WHERE subject = ? ORDER BY ts DESC LIMIT ?"
        chosen = f"SELECT DISTINCT conversation FROM ({last}) WHERE type != 'fact' LIMIT ?"  # noqa: S608
        sql = f"SELECT line, subject FROM units WHERE conversation IN ({chosen}) AND +subject = ? AND type != 'fact'"  # noqa: S608
        return self._read(sql, subject, _LAST_LINES, limit, subject)  # `+`: found by the conversation

    def events(self, ids: "Collection[str]") -> "list[tuple[EventFields, str]]":
        """List those of these events that stand."""
        marks = ",".join("?" * len(ids))
        return self._read(f"SELECT line, subject FROM units WHERE id > 0 AND event IN ({marks})", *ids)  # noqa: S608

    def conversation(self, conversation: str) -> "list[tuple[EventFields, str]]":
        """List the facts and summaries of a conversation."""
        return self._read(
            "SELECT line, subject FROM units WHERE conversation = ? AND type IN ('fact', 'stage_summary')", conversation
        )

    def facts(self, subject: str, sames: "Collection[bytes]") -> set[bytes]:
        """Choose of texts those that a fact states which stands."""
        marks = ",".join("?" * len(sames))
        sql = f"SELECT same FROM units WHERE subject = ? AND type = 'fact' AND id > 0 AND same IN ({marks})"  # noqa: S608
        return {bytes(same) for (same,) in self._db.execute(sql, (subject, *sames))}

    def replaced(self, subject: str, sames: "Iterable[bytes]") -> "Mapping[bytes, FoundLine]":
        """Map those of these statements that keys had, and have no more, to what is in their place."""
        return standing_lines.replaced_in(self._db, subject, sames)

    def called_done(self, subject: str, since: str) -> dict[bytes, str]:
        """Map the to-dos of a project that were called done since to when one last was."""
        return standing_lines.done_in(self._db, subject, since)

    def summaries(self, subject: str, days: "Collection[str] | None") -> "Iterator[EventFields]":
        """Yield the summaries about a project, of these days or of all."""
        sql = "SELECT line FROM units WHERE subject = ? AND type = 'stage_summary' AND ts >= ?"
        marks = ",".join("?" * len(days or ()))
        sql += f" AND substr(ts, 1, 10) IN ({marks})" if days is not None else ""
        found = self._db.execute(sql, (subject, min(days or ("",)), *(days or ())))
        return (fastjson.object_in(line) for (line,) in found)

    def close(self) -> None:
        """Let go of the file."""
        self._db.close()

    def _read(self, sql: str, *values: object) -> "list[tuple[EventFields, str]]":
        return [(fastjson.object_in(line), str(subject)) for line, subject in self._db.execute(sql, values)]


class _Lines:
    """The lines of the log that were read: all, or those of the last days; at first none."""

    def __init__(self) -> None:
        self.is_whole = False
        self.gone: set[str] = set()
        self.withdrew: str | None = None
        self._found: list[FoundLine] = []

    def read(self, store: "Store", names: KnownProjects, since: str) -> "_Lines":
        """Read a small log whole, of a large log the days from then on and earlier withdrawals: those still hold."""
        files = _stamps(store)
        self.is_whole = _is_small(files)
        before = set() if self.is_whole else {file for file in files if day_of(index_lookup.name_in(file)) < since[:10]}
        try:
            withdrawals = Appended.since(store, set(files) - before, _MAX_SEARCHED, WITHDRAWS).events if before else []
            log = WholeLog(Appended.since(store, before, 1 << 62))
        except (OSError, ValueError, NotAppended):
            return self
        withdrawals += log.withdrawing
        self.gone = standing_lines.aims_of(withdrawals, in_force=True) if withdrawals else set()
        self.withdrew = max((text_in(event, "ts") for event in withdrawals), default="")
        self._found = log.lines(names, self.gone)
        return self

    # what `_Rows` lists, by the same rules

    def since(self, subjects: "Collection[str]", ts: str) -> "list[tuple[EventFields, str]]":
        return _shown(
            line for line in self._found if line.subject in subjects and line.ts >= ts and line.type in _STATING
        )

    def sessions(self, subject: str, limit: int) -> "list[tuple[EventFields, str]]":
        found = [line for line in self._found if line.subject == subject and not line.is_fact]
        last_first = sorted(found, key=lambda line: line.ts, reverse=True)
        chosen = list(dict.fromkeys(line.conversation for line in last_first))[:limit]
        return _shown(line for line in last_first if line.conversation in chosen)

    def events(self, ids: "Collection[str]") -> "list[tuple[EventFields, str]]":
        return _shown(line for line in self._standing() if line.id in ids)

    def conversation(self, conversation: str) -> "list[tuple[EventFields, str]]":
        return _shown(line for line in self._found if line.conversation == conversation and line.type in _STATING)

    def facts(self, subject: str, sames: "Collection[bytes]") -> set[bytes]:
        return {line.same for line in self._standing() if line.is_fact and line.subject == subject} & set(sames)

    def replaced(self, subject: str, _sames: "Iterable[bytes]") -> "Mapping[bytes, FoundLine]":
        home = "" if subject == NOWHERE else subject
        replacing = (line for line in self._found if (line.key or line.instead_of) and line.subject == home)
        return replaced(sorted(replacing, key=order))

    def called_done(self, subject: str, since: str) -> dict[bytes, str]:
        saves = (line for line in self._found if line.type == "stage_summary" and line.subject == subject)
        return standing_lines.done_by(line for line in saves if line.ts >= since)

    def summaries(self, subject: str, days: "Collection[str] | None") -> "Iterator[EventFields]":
        for line in self._found:
            if not line.is_fact and line.subject == subject and (days is None or line.ts[:10] in days):
                yield line.event

    def close(self) -> None:
        """Close nothing: no file is open."""

    def _standing(self) -> "Iterator[FoundLine]":
        stands = standing_lines.standing_in(self._found, standing_lines.rejected_in(self.gone))
        return (found.line for found in stands)


def _shown(lines: "Iterable[FoundLine]") -> "list[tuple[EventFields, str]]":
    return [(line.event, line.subject) for line in lines]


def _open(store: "Store", names: KnownProjects, since: str) -> _Rows | _Lines:
    """Open the index, current with the log; without an index in order, the log."""
    path = store.cached("search.sqlite")
    if os.path.exists(path):
        from eventlog.app.search.database import DatabaseError
        from eventlog.app.search.search_index import SearchIndex

        try:
            index = SearchIndex(path, names, _PATIENCE)
            rows = None
            try:
                if index.is_current():
                    index.catch_up(store, _MAX)
                    if not (index.is_behind() and _is_small(_stamps(store))):
                        rows = _Rows(index.database)
            finally:
                if rows is None:
                    index.close()
            if rows is not None:
                return rows
        except (DatabaseError, OSError, ValueError, NotAppended):
            pass  # somebody else writes, or an index is to be made anew, for which no session waits
    return _Lines().read(store, names, since)


def _stamps(store: "Store") -> list[str]:
    try:
        return index_lookup.stamps_of(store.log)
    except OSError:
        return []


def _is_small(files: list[str]) -> bool:
    return sum(map(index_lookup.size_in, files)) <= _SMALL_LOG


def _withdraws_entry(store: "Store", since: str) -> bool:
    """Return whether anything since that day withdraws a plan entry, or may have brought it back."""
    marks = [f'"{kind}"'.encode() for kind in WITHDRAWS]
    remaining = [event for name in _day_files(store, since) for event in _events_with(store, name, marks)]
    seen: set[str] = set()
    while remaining:
        event = remaining.pop()
        target, conversation = text_in(event, "target"), text_in(event, "conversation")
        if event.get("type") == "plan_entry":
            return True
        if event.get("type") in WITHDRAWS and conversation:
            try:
                remaining += (entry for entry in all_events(store, conversation) if entry.get("type") == "plan_entry")
            except (OSError, TooMuch):
                return True
        elif event.get("type") in WITHDRAWS and target and target not in seen:
            seen.add(target)
            day = day_in_id(target)
            names = (name for name in _day_files(store, day) if name.startswith(day))
            found = (event for name in names for event in _events_with(store, name, [target.encode()]))
            remaining += (event for event in found if event.get("id") == target)
    return False


def _without_withdrawn_sections(text: str, store: "Store", since: str, until: str) -> str:
    """Drop from a knowledge base the sections of entries that were withdrawn in that time."""
    from eventlog.app.build.cache import open_for_reading  # few starts need the log with its types, and Markdown
    from eventlog.format.events import PlanEntry
    from eventlog.format.retractions import Retractions
    from eventlog.log.event_log import EventLog
    from eventlog.projections.bases.sections import Page, canonical
    from eventlog.projections.current.withdrawals import withdrawals_until

    log = EventLog(store)
    by_id = {withdrawal.id: withdrawal for withdrawal in withdrawals_until(log, open_for_reading(store), until)}
    withdrawn = Retractions(by_id.values())
    recent = [withdrawal for withdrawal in by_id.values() if withdrawal.ts >= since]
    for withdrawal in recent:  # what one takes back counts again, or no more
        if (before := by_id.get(withdrawal.target or "")) and before not in recent:
            recent.append(before)
    for entry in _withdrawn_events(log, recent):
        if isinstance(entry, PlanEntry) and entry.content and withdrawn.hides(entry):
            page = Page(text.encode())
            section = page.find(entry.key.heading, entry.key.level)
            if section and page.text(section) == canonical(entry.content):
                text = b"".join([*page.lines[: section.start], *page.lines[section.end :]]).decode()
    return text


def _withdrawn_events(log: "EventLog", withdrawals: "Iterable[Withdrawal]") -> "Iterator[Event]":
    """Yield the withdrawn events, reading only the days the ids name, and of those the lines that mention an id."""
    from contextlib import suppress

    from eventlog.format.events import Restored

    by_day: dict[str, list[bytes]] = {}
    for withdrawal in withdrawals:
        conversation = None if isinstance(withdrawal, Restored) else withdrawal.conversation
        if conversation:
            with suppress(OSError):
                yield from log.session(conversation)
        elif withdrawal.target:
            by_day.setdefault(day_in_id(withdrawal.target), []).append(withdrawal.target.encode())
    for date, targets in by_day.items():
        with suppress(OSError):
            yield from (event for day in log.days(date, date) for event in day.load_mentioning(targets))


def _day_files(store: "Store", since: str) -> "list[str]":
    try:
        return index_lookup.names_of(store.log, since=since)
    except OSError:
        return []


def _events_with(store: "Store", name: str, words: "list[bytes]") -> "Iterator[dict[str, object]]":
    """Read the lines of a file that hold any of the words."""
    try:
        yield from map(fastjson.object_in, lines_having(f"{store.log}/{name}", words))
    except OSError:
        return


def _ts_of(line: bytes) -> str:
    at = line.find(_TS) + len(_TS)
    return line[at : at + _TS_LENGTH].decode("ascii", "replace") if at >= len(_TS) else ""
