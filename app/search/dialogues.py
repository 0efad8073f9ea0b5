"""`cache/dialogues.sqlite`: the sentences of conversations, drawn from hosts' transcripts, so that a search finds them.

Content      of every conversation with a searchable text and a transcript of this machine: what the user asked and the
             agent answered, free of credentials, at most 32,000 characters; and its words, as a whole and by passages.
             No event has them, and no prompt waits for them: only who has time asks.
Currency     who asks takes in what the log says of transcripts, and draws some; a replay draws the others. A transcript
             is drawn again when its conversation ends again. Of one that is deleted, the words stay until this file is.
Withdrawn    a withdrawn conversation has no dialogue; a sentence that states what was withdrawn is taken out, and no
             byte of it stays. What comes back is drawn again, where the transcript is still there.
"""

import os
import re
from collections.abc import Iterator, Sequence
from contextlib import ExitStack, closing, contextmanager, suppress
from pathlib import Path
from typing import TYPE_CHECKING, Self

import msgspec

from eventlog.app.build.program import program_key
from eventlog.app.search.appended import Appended, NotAppended, seen_in
from eventlog.app.search.database import DatabaseError, connect, create_private, delete, delete_damaged
from eventlog.app.search.open_index import ALL
from eventlog.app.search.search_index import NOT_WORTH_NOTING, SearchIndex
from eventlog.app.search.standing_lines import rejected_in
from eventlog.app.search.word_tables import PARTS, PASSAGE, FullText, best_passages, score_of
from eventlog.fast.sha import sha256
from eventlog.format.events import ConversationText, Fact
from eventlog.format.marks import A_STATEMENT, ALL_OF, AN_EVENT, mark_of
from eventlog.format.text import cut
from eventlog.log.event_log import EventLog
from eventlog.projections.search.findable import text_in
from eventlog.projections.search.words import spelled
from eventlog.secrets.redacted import Redactions
from eventlog.store import Store, files
from eventlog.store.index_lookup import name_in
from eventlog.store.replica import own_replica_of

if TYPE_CHECKING:
    from eventlog.app.search.word_tables import Answer

_AT_ONCE, _AT_REPLAY = 8 << 20, 64 << 20  # bytes of transcripts that are drawn while somebody waits, and by a replay
_VERSION = "1"
_PATIENCE = 1.0  # seconds another writer is waited for
_TELLS = ("session_start", "conversation_text")
_MAX, _LONGEST, _SHORTEST = 32_000, 4000, 3  # characters: of a dialogue, of a statement in it
_WINDOW, _STEP = 4, 2  # statements of a passage, and where the next one begins
_ANSWERS = 2000  # dialogues that are looked at
_SENTENCE = r"(?<=[.!?])\s+|(?<=[。！？])|\s*\n\s*"
_SCHEMA = (
    "CREATE TABLE meta (name TEXT PRIMARY KEY, value TEXT) WITHOUT ROWID",
    "CREATE TABLE seen (name TEXT PRIMARY KEY, stamp TEXT) WITHOUT ROWID",
    "CREATE TABLE withdrawn (aim TEXT PRIMARY KEY) WITHOUT ROWID",
    """CREATE TABLE dialogues (id INTEGER PRIMARY KEY, conversation TEXT UNIQUE, ts TEXT, path TEXT, agent TEXT,
        stamp TEXT, is_due INTEGER, is_cut INTEGER, said BLOB, has_words INTEGER)""",
    "CREATE INDEX due ON dialogues (ts) WHERE is_due",
)
_PLACED = """INSERT INTO dialogues (conversation, ts, path, agent, stamp, is_due, is_cut, has_words)
    VALUES (?, ?, ?, ?, '', 0, 0, 0)
    ON CONFLICT DO UPDATE SET path = excluded.path, agent = excluded.agent"""
_ENDED = "UPDATE dialogues SET is_due = 1, ts = ? WHERE conversation = ?"
_DUE = "SELECT id, conversation, path, agent, stamp, said FROM dialogues WHERE is_due ORDER BY ts DESC LIMIT 1024"
_STATED = "SELECT id, conversation, stamp, said FROM dialogues WHERE said IS NOT NULL"
_WORDS_OF = "SELECT said FROM dialogues WHERE id = ? AND has_words"
_DRAWN = "UPDATE dialogues SET stamp = ?, is_due = 0, is_cut = ?, said = ?, has_words = 1 WHERE id = ?"
_WORDLESS = "UPDATE dialogues SET is_due = 1, stamp = '', has_words = 0 WHERE is_due OR stamp != ''"
_NAMES = "SELECT id, conversation FROM dialogues WHERE id IN (SELECT value FROM json_each(?))"


class Dialogues:
    """The dialogues of a store, open; every method raises DatabaseError where the file cannot be used."""

    @classmethod
    @contextmanager
    def of(
        cls, log: EventLog, index: SearchIndex, *, at_replay: bool = False, limit: int = ALL
    ) -> Iterator[Self | None]:
        """Open those of a store, current with the log but for transcripts still due; None where there can be none.

        Raises ValueError where more than `limit` bytes of the log had to be read.
        """
        path = log.store.cached("dialogues.sqlite")
        with ExitStack() as opened:
            found = None
            try:
                Path(log.store.root).stat()  # where there is no store, none is begun
                files.make_dirs(log.store.cache, durable=False)
                create_private(path)
                there = opened.enter_context(closing(cls(log, path)))
                if there.is_current():
                    there.catch_up(index, _AT_REPLAY if at_replay else _AT_ONCE, limit)
                    found = there
                else:
                    delete(path)
            except (OSError, DatabaseError) as error:
                delete_damaged(path, error)
            yield found

    @classmethod
    def leave(cls, log: EventLog, index: SearchIndex, limit: int, *, wanted: bool) -> None:
        """Draw most of what is due, beside an index that is current, and leave no byte of what is withdrawn.

        Where nobody wants transcripts to be searched, there are none. Raises OSError, DatabaseError, or ValueError
        where more than `limit` bytes of the log had to be read.
        """
        if not wanted:
            delete(log.store.cached("dialogues.sqlite"))
            return
        with cls.of(log, index, at_replay=True, limit=limit):
            pass

    def __init__(self, log: EventLog, path: str) -> None:
        self._log = log
        self._db = connect(path, timeout=_PATIENCE, isolation_level=None)
        self._words = FullText(self._db)
        try:
            self._prepare()
        except BaseException:
            self._db.close()
            raise

    def _prepare(self) -> None:
        self._db.execute("PRAGMA secure_delete = ON")
        self._db.execute("PRAGMA synchronous = OFF")
        if not self._db.execute("SELECT 1 FROM sqlite_master LIMIT 1").fetchone():
            with self._written():
                self._words.create()
                for statement in _SCHEMA:
                    self._db.execute(statement)
                meta = [("version", _VERSION), ("salt", os.urandom(16).hex()), ("program", program_key())]
                self._db.executemany("INSERT INTO meta VALUES (?, ?)", meta)

    def close(self) -> None:
        """Let go of the file."""
        self._db.close()

    def is_current(self) -> bool:
        """Return whether it has our tables."""
        return self._meta("version") == _VERSION

    def catch_up(self, index: SearchIndex, drawn: int, limit: int) -> None:
        """Take in what an index knows that is current with the log, and draw so many bytes of transcripts, or more.

        Raises ValueError where more than `limit` bytes of the log had to be read.
        """
        if self._meta("program") != program_key():  # words may be other words by now
            with self._written():
                for table in ("vocabulary", "words", "common"):
                    self._db.execute(f"DROP TABLE IF EXISTS {table}")
                self._words.create()
                self._db.execute(_WORDLESS)
                self._db.execute("UPDATE meta SET value = ? WHERE name = 'program'", (program_key(),))
        if not index.state or self._meta("index") != index.state:
            seen = seen_in(self._db)
            files = index.log_files()
            if not seen.issuperset(files):
                self._take_in(seen, limit, files)
            self._withdraw(index.gone())
            if index.state:
                self._db.execute("INSERT OR REPLACE INTO meta VALUES ('index', ?)", (index.state,))
        self._draw(drawn)

    def answering(self, terms: Sequence[str]) -> "dict[str, Answer]":
        """Find the conversations in which any of these tokens occurs, and how well their dialogues answer."""
        (rows,) = self._db.execute("SELECT ifnull(max(id), 0) FROM dialogues").fetchone()
        if not rows:
            return {}
        having = dict.fromkeys(terms, 0) | self._words.having(terms)
        chosen, _ = self._words.chosen(having, rows)
        found = best_passages(self._words.scores, having, chosen, "") if chosen else {}
        best = sorted(found, key=lambda number: score_of(found[number]), reverse=True)[:_ANSWERS]
        names = self._db.execute(_NAMES, (msgspec.json.encode(list(best)).decode(),))
        return {str(conversation): found[number] for number, conversation in names}

    def passage(self, conversation: str, place: int) -> list[str]:
        """List the statements of a passage of a conversation; none where nothing of it is there by now."""
        row = self._db.execute("SELECT said FROM dialogues WHERE conversation = ?", (conversation,)).fetchone()
        statements = _read(row[0]) if row else []
        passages = [statements, *_passages(statements)]
        return list(passages[min(place, len(passages) - 1)])

    def _take_in(self, seen: "set[str]", limit: int, files: "list[str]") -> None:
        """Take in where transcripts are, and whose conversations ended, since so much of the log's files was seen."""
        try:
            news = Appended.since(self._log.store, seen, limit, _TELLS, files=files)
        except NotAppended:
            seen = set()
            news = Appended.since(self._log.store, seen, limit, _TELLS, files=files)
        if seen and not news.events and news.read < NOT_WORTH_NOTING:
            return
        here = own_replica_of(self._log.store)
        with self._written():
            for event in sorted(news.events, key=lambda event: str(event["ts"])):
                conversation = text_in(event, "conversation_id")
                if event["type"] == "conversation_text":
                    self._db.execute(_ENDED, (event["ts"], conversation))
                elif text_in(event, "transcript_path") and text_in(event, "replica") in ("", here):
                    path, agent = text_in(event, "transcript_path"), text_in(event, "agent")
                    self._db.execute(_PLACED, (conversation, event["ts"], path, agent))
            if not seen:
                self._db.execute("DELETE FROM seen")
            stamps = {name_in(stamp): stamp for stamp in (*news.files, *news.seen)}
            changed = [(name, stamp) for name, stamp in stamps.items() if stamp not in seen]
            self._db.executemany("INSERT OR REPLACE INTO seen VALUES (?, ?)", changed)

    def _withdraw(self, withdrawn: set[str]) -> None:
        """Leave no byte of what is withdrawn by now; what came back is due, and all that was cut for anything else."""
        digest = sha256("\n".join(sorted(withdrawn)).encode())
        if self._meta("gone") == digest or not self._db.execute("SELECT 1 FROM dialogues LIMIT 1").fetchone():
            return
        known = {str(aim) for (aim,) in self._db.execute("SELECT aim FROM withdrawn")}
        if len(withdrawn) != int(self._meta("aims") or -1) + len(withdrawn - known):  # something came back
            known = set()
        aims = known | withdrawn
        targets = self._log.find([aim.removeprefix(AN_EVENT) for aim in withdrawn - known if aim.startswith(AN_EVENT)])
        for line in targets.values():
            if isinstance(line.event, Fact):
                aims.add(A_STATEMENT + mark_of(line.event.content, str(self._meta("salt"))))
            elif isinstance(line.event, ConversationText):
                aims.add(ALL_OF + line.event.conversation_id)
        with self._written():
            self._db.execute("DELETE FROM withdrawn")
            self._db.executemany("INSERT INTO withdrawn VALUES (?)", [(aim,) for aim in aims])
            self._db.execute("UPDATE dialogues SET is_due = 1, stamp = '' WHERE is_cut")
            for number, conversation, stamp, stored in self._db.execute(_STATED).fetchall() if aims else ():
                statements = _read(stored)
                remaining = _allowed(conversation, statements, aims)
                if remaining != statements:
                    self._put(number, stamp, remaining, is_cut=True)
            self._words.erase()
            meta = [("gone", digest), ("aims", str(len(withdrawn)))]
            self._db.executemany("INSERT OR REPLACE INTO meta VALUES (?, ?)", meta)

    def _draw(self, limit: int) -> None:
        """Draw what is due, the newest first; of a transcript that is gone, what was drawn before."""
        due = self._db.execute(_DUE).fetchall()
        if not due:
            return
        drawn = []
        for number, conversation, path, agent, before, stored in due:
            if limit <= 0:
                break
            size, stamp = _stamp(path)
            is_new = stamp not in ("", before)
            limit -= size if is_new else 0
            statements = _drawn(self._log.store, agent, path) if is_new else _read(stored)
            drawn.append((number, conversation, stamp or before, statements))
        with self._written():
            aims = {str(aim) for (aim,) in self._db.execute("SELECT aim FROM withdrawn")}
            for number, conversation, stamp, statements in drawn:
                remaining = _allowed(conversation, statements, aims)
                self._put(number, stamp, remaining, is_cut=remaining != statements)

    def _put(self, number: int, stamp: str, statements: Sequence[str], *, is_cut: bool) -> None:
        """Put a dialogue in the place of what was there before."""
        for (stored,) in self._db.execute(_WORDS_OF, (number,)).fetchall():
            self._words.take_out(_rows(number, _read(stored)))
        stored = msgspec.json.encode(statements) if statements else None
        self._db.execute(_DRAWN, (stamp, is_cut, stored, number))
        self._words.put(_rows(number, statements))

    def _meta(self, name: str) -> str | None:
        row = self._db.execute("SELECT value FROM meta WHERE name = ?", (name,)).fetchone()
        return str(row[0]) if row else None

    @contextmanager
    def _written(self) -> Iterator[None]:
        with self._db:
            self._db.execute("BEGIN IMMEDIATE")
            yield


def _stamp(path: str) -> tuple[int, str]:
    """Return the size of a file, and what changes with its content; 0 and "" where it is gone."""
    try:
        found = Path(path).stat()
    except (OSError, ValueError):
        return 0, ""
    return found.st_size, f"{found.st_size} {found.st_mtime_ns}"


def _drawn(store: Store, agent: str, path: str) -> list[str]:
    """List what was asked and answered in a transcript, within bounds; nothing where it cannot be read.

    Texts that were erased from the store are erased here, too.
    """
    from eventlog.hosts.transcripts import read, steps  # most searches have nothing to draw

    room, found, redacted = _MAX, [], Redactions.of(store)
    with suppress(Exception):  # a transcript that its host's reader does not understand costs nobody else
        for step in read.read_transcript(agent, path):
            text = step.text.strip() if step.kind in (*steps.REQUESTS, "reply") else ""
            text = cut(str(redacted.clean(text)) if redacted else text, _LONGEST)
            if len(text) >= _SHORTEST and room > 0:
                found.append(text[:room])
                room -= len(text)
    return found


def _allowed(conversation: str, statements: Sequence[str], aims: set[str]) -> list[str]:
    """List the statements without the sentences that state what is withdrawn; none of a withdrawn conversation."""
    rejected = rejected_in(aims)
    if ALL_OF + conversation in aims:
        return []
    if not rejected:
        return list(statements)
    states, allowed = rejected.rejects, []
    for statement in statements:
        lines = [] if states(statement) else [line for line in statement.split("\n") if not states(line)]
        split = ((text for text in re.split(_SENTENCE, line) if text.strip()) for line in lines)
        remaining = [" ".join(sentence for sentence in sentences if not states(sentence)) for sentences in split]
        allowed.append(statement if remaining == statement.split("\n") else "\n".join(filter(None, remaining)))
    return [statement for statement in allowed if statement]


def _passages(statements: Sequence[str]) -> list[Sequence[str]]:
    """Cut a dialogue that is longer than a passage into passages that overlap."""
    if len(statements) <= _WINDOW:
        return []
    step = max(_STEP, -(-len(statements) // PASSAGE))
    return [statements[start : start + _WINDOW // _STEP * step] for start in range(0, len(statements), step)]


def _rows(number: int, statements: Sequence[str]) -> list[tuple[int, str]]:
    passages = [statements, *_passages(statements)] if statements else []
    return [(number << PARTS | part, spelled("\n".join(texts))) for part, texts in enumerate(passages)]


def _read(stored: bytes | None) -> list[str]:
    return msgspec.json.decode(stored, type=list[str]) if stored else []
