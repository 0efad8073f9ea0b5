"""Lines of the log, and what stands of each: the rules of the views, and of withdrawals, on lines as they are.

Imported inside agents' hooks: standard library only.
"""

from eventlog.app.naming.known_projects import NOWHERE
from eventlog.app.search.appended import WITHDRAWS, decode_line
from eventlog.format import effective_scope
from eventlog.format.marks import (
    A_STATEMENT,
    ALL_OF,
    AN_EVENT,
    AS_REJECTED,
    RejectedStatements,
    stand_in,
)
from eventlog.format.text import key_of, states_nothing
from eventlog.format.timestamps import order
from eventlog.projections.current.standing import (
    called_done,
    likeness,
    likenesses,
    not_replaced,
    replaced,
    standing,
    standing_saves,
    standing_text,
    stated_in,
)
from eventlog.projections.search.findable import FINDABLE, text_in, texts_in

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
    from collections.abc import Set as AbstractSet
    from sqlite3 import Connection
    from typing import Any

    from eventlog.app.naming.known_projects import KnownProjects
    from eventlog.app.search.appended import Appended, Lines
    from eventlog.app.search.word_tables import Row
    from eventlog.format.timestamps import Dated
    from eventlog.projections.search.findable import EventFields

    Homes = dict[tuple[str, str], tuple[str, tuple[str, str]]]  # conversation, what -> said, when
    Place = tuple[str, str] | None  # path and machine; None: of the conversation

_SHOWN = ("content", "topic", "summary", "decisions", "todos", "title", "prompts", "closing")
_STATES = (*_SHOWN, "done")
_OF_A_SAVE = ("topic", "summary", "decisions")
_AT_ONCE = 256  # statements
_KEYED = "SELECT {} FROM units WHERE type = 'fact' AND +key IS NOT NULL AND subject = ? AND same IN ({})"
_ANY_REPLACED = "SELECT 1 FROM units WHERE subject = ? AND key IS NOT NULL AND +id < 0 LIMIT 1"
_OF_KEY = "SELECT line FROM units WHERE subject = ? AND key = ?"
CORRECTING = "subject = ? AND instr(line, '\"instead_of\"') > 0"  # as the index `by_correction` has it
_CORRECTIONS = f"SELECT line FROM units WHERE {CORRECTING}"  # noqa: S608 - texts of this module
_CALLING_DONE = """SELECT line FROM units WHERE subject = ? AND ts >= ? AND type = 'stage_summary'
    AND instr(line, '"done":') > 0"""
_WHERE = ("project", "replica")
_PERSON = "human"  # `HUMAN` of events, which take a library


class FoundLine:
    """A line of the log, and what it is about; a fact has the `likeness` of its text and may have a key.

    Where the `line` is handed in that says no more than the event, it is kept in the place of that: it takes less.
    """

    __slots__ = (
        "_event", "after", "conversation", "id", "instead_of", "is_fact", "key", "line", "number", "order", "same",
        "subject", "ts", "type",
    )  # fmt: skip

    def __init__(self, event: "EventFields", subject: str, number: int = 0, line: bytes = b"") -> None:
        self._event = None if line else event
        self.line = line
        self.subject = subject
        self.number = number
        self.ts, self.after, self.id = str(event["ts"]), text_in(event, "after"), str(event["id"])
        self.order = order(self)
        self.conversation = text_in(event, "conversation_id")
        self.type = str(event["type"])
        self.is_fact = self.type == "fact"
        self.key = key_of(text_in(event, "key")) or None if self.is_fact else None
        self.same = likeness(text_in(event, "content")) if self.is_fact else b""
        self.instead_of = likenesses(texts_in(event, "instead_of")) if self.is_fact else ()

    @classmethod
    def of(cls, event: "EventFields", line: bytes = b"") -> "FoundLine | None":
        """Read a line, of no subject yet; None where it cannot be found: it has no text, or a helper wrote it."""
        is_found = event["type"] in FINDABLE and not event.get("subagent") and _counts(event)
        return cls(event, "", line=line) if is_found else None

    @property
    def event(self) -> "EventFields":
        """The fields of the line."""
        return decode_line(self.line) if self._event is None else self._event

    def without(self, withdrawn: "AbstractSet[str]", rejected: RejectedStatements) -> "FoundLine | None":
        """Return it with marks in the place of what is rejected; None where it is gone, or has no other text."""
        if not withdrawn.isdisjoint((AN_EVENT + self.id, ALL_OF + self.conversation)):
            return None
        if not rejected:
            return self
        event = self.event
        fields = marked(event, rejected)
        if fields is event:
            return self
        # the last save that names to-dos is so also where all of them are rejected: no earlier ones are open again
        counts = _counts(cleared(fields, rejected)) or _says(fields.get("todos"))
        return FoundLine(fields, self.subject) if counts else None


class Standing:
    """A line of which a part stands: the fields that `differ` from its own; and the last line with the same text."""

    __slots__ = ("differ", "last", "line")

    def __init__(self, line: FoundLine, differ: "EventFields", last: FoundLine) -> None:
        self.line = line
        self.differ = differ
        self.last = last

    @property
    def fields(self) -> "EventFields":
        """The fields that stand."""
        return {**self.line.event, **self.differ} if self.differ else self.line.event


class _Save:
    """A summary, as the rules read it."""

    def __init__(self, line: FoundLine, rejected: RejectedStatements) -> None:
        self.line = line
        self.ts, self.after, self.id = line.ts, line.after, line.id
        self.event = event = line.event
        self.layer = event.get("layer")
        self.scope = text_in(event, "scope")
        self.todos = texts_in(event, "todos")
        self.done = texts_in(event, "done")
        self.fields = cleared(event, rejected)
        self.topic = text_in(self.fields, "topic")
        self.summary = text_in(self.fields, "summary")


def homes_in(events: "Iterable[EventFields]") -> "Homes":
    """Find where conversations worked, project and machine, by the first event that names them."""
    found: Homes = {}
    for event in events:
        is_persons = event.get("agent") == _PERSON or event["type"] != "retraction"
        if event.get("subagent") or (is_persons and event["type"] in WITHDRAWS):  # that is no part of a conversation
            continue
        conversation, order = text_in(event, "conversation_id"), (text_in(event, "ts"), text_in(event, "id"))
        for what in _WHERE:
            value = text_in(event, what)
            if value and ((conversation, what) not in found or order < found[conversation, what][1]):
                found[conversation, what] = value, order
    return found


class WholeLog:
    """The events of a log, decoded once: where conversations worked, what withdraws, and lines without events."""

    def __init__(self, news: "Appended") -> None:
        self.withdrawing: Lines = []
        self._found: list[tuple[FoundLine, Place]] = []
        self.homes = homes_in(self._events(news))

    def _events(self, news: "Appended") -> "Iterator[EventFields]":
        names: dict[str, str] = {}  # of conversations and places, which come again and again, the first
        places: dict[Place, Place] = {}
        for line, event in news.each_once():
            if event["type"] in WITHDRAWS:
                self.withdrawing.append(event)
            elif compact := FoundLine.of(event, line):
                place = place_of(event)
                compact.conversation = names.setdefault(compact.conversation, compact.conversation)
                self._found.append((compact, places.setdefault(place, place)))
            yield event

    def ids(self, wanted: "AbstractSet[str]") -> set[str]:
        """Return those of the ids that lines have which can be found."""
        return {found.id for found, _ in self._found if found.id in wanted}

    def lines(self, names: "KnownProjects", withdrawn: "AbstractSet[str]") -> list[FoundLine]:
        """List the lines that can be found, each once, with their subjects."""
        homes: dict[str, dict[str, str]] = {}
        for (conversation, what), (home, _) in self.homes.items():
            homes.setdefault(conversation, {})[what] = home
        lines: dict[tuple[str, str], FoundLine] = {}
        rejected = rejected_in(withdrawn)
        for found, place in self._found:
            if line := found.without(withdrawn, rejected):
                line.subject = subject_of(names, place, homes.get(line.conversation, {}))
                lines[line.id, line.ts] = line
        return list(lines.values())


def place_of(event: "EventFields") -> "Place":
    """Return the place of a line. A fact names its own, ("", "") for the user."""
    if event["type"] != "fact":
        return None
    path = text_in(event, "project")
    scope = effective_scope(path, event.get("scope"), event.get("memory_type", "W"))
    return ("", "") if scope == "user" else (path, text_in(event, "replica"))


def subject_of(names: "KnownProjects", place: "Place", home: "Mapping[str, str]") -> str:
    """Name what a line is about: a fact its project, or "" for the user; all else the project of its conversation."""
    if place == ("", ""):
        return ""
    path, replica = place or (home.get("project", ""), "")
    return names.of(path, replica or home.get("replica", "")) or NOWHERE


def standing_in(lines: "Iterable[FoundLine]", rejected: RejectedStatements) -> "Iterator[Standing]":
    """Yield what stands of lines; all lines that can change it are among them."""
    in_order = sorted(lines, key=lambda line: line.order)
    for facts in _by(lambda line: line.subject, (line for line in in_order if line.is_fact)):
        yield from _facts(facts)
    for lines_of in _by(lambda line: line.conversation, (line for line in in_order if not line.is_fact)):
        yield from _texts([line for line in lines_of if line.type == "conversation_text"], rejected)
        yield from _saves([_Save(line, rejected) for line in lines_of if line.type == "stage_summary"])


def _by(key: "Callable[[FoundLine], str]", lines: "Iterable[FoundLine]") -> "Iterable[list[FoundLine]]":
    found: dict[str, list[FoundLine]] = {}
    for line in lines:
        found.setdefault(key(line), []).append(line)
    return found.values()


def _facts(in_order: "Sequence[FoundLine]") -> "Iterator[Standing]":
    """Yield each fact once, as it was first worded."""
    groups: dict[bytes, list[FoundLine]] = {}
    for line in standing(in_order):
        groups.setdefault(line.same, []).append(line)
    for lines in groups.values():
        yield Standing(lines[0], {}, lines[-1])


def _texts(in_order: "Sequence[FoundLine]", rejected: RejectedStatements) -> "Iterator[Standing]":
    """Yield the text of a conversation as last drawn."""
    for line in in_order[-1:]:
        yield Standing(line, _differing(line.event, cleared(line.event, rejected)) if rejected else {}, line)


def _saves(in_order: "Sequence[_Save]") -> "Iterator[Standing]":
    """Yield what stands of each summary; a topic alone does not count."""
    for save, topic, summary, todos in standing_saves(in_order):
        allowed = texts_in(save.fields, "todos")
        open_ends = [text for text in todos if text in allowed]
        fields = {**save.fields, "topic": "", "summary": summary, "todos": open_ends}
        if has_shown_text(fields):
            yield Standing(save.line, _differing(save.event, {**fields, "topic": topic}), save.line)


def _differing(event: "EventFields", stands: "EventFields") -> "EventFields":
    """Pick the fields that stand otherwise than a line has them. A field that it lacks has no text."""
    return {name: value for name, value in stands.items() if (value or name in event) and event.get(name) != value}


def has_shown_text(event: "EventFields") -> bool:
    """Return whether a line has any text that is shown."""
    return any(map(_says, map(event.get, _SHOWN)))


def _counts(event: "EventFields") -> bool:
    """Return whether a line has any text, shown or not: what it calls done decides what is open."""
    return any(map(_says, map(event.get, _STATES)))


def _says(value: object) -> bool:
    """Return whether a field has a text that is not blank, or a list with such a text."""
    if isinstance(value, list):
        return any(isinstance(text, str) and text.strip() for text in value)
    return isinstance(value, str) and bool(value.strip())


class _Withdrawal:
    """A line that withdraws something, with the fields `Retractions` reads."""

    def __init__(self, event: "EventFields") -> None:
        self.type, self.id, self.ts = event["type"], event["id"], event["ts"]
        names = ("after", "subagent", "target", "conversation", "salt", "digest", "statement")
        self.after, self.subagent, self.target, self.conversation, self.salt, self.digest, self.statement = (
            text_in(event, name) or None for name in names
        )


def aims_of(events: "Iterable[EventFields]", *, in_force: bool) -> set[str]:
    """Collect what these withdrawals take away: those `in_force`, or all; and what was ever rejected by its id."""
    from eventlog.format.retractions import Retractions  # most logs withdraw nothing

    withdrawals: list[Any] = [_Withdrawal(event) for event in events if not event.get("subagent")]
    rejected = [withdrawal.target for withdrawal in withdrawals if withdrawal.type == "rejected" and withdrawal.target]
    aims = Retractions(withdrawals).aims if in_force else {Retractions.aim_of(each) for each in withdrawals} - {""}
    return aims | {f"{AS_REJECTED}{target}" for target in rejected}


def rejected_in(withdrawn: "Iterable[str]") -> RejectedStatements:
    """Pick the statements among what is withdrawn."""
    return RejectedStatements({aim.removeprefix(A_STATEMENT) for aim in withdrawn if aim.startswith(A_STATEMENT)})


def replaced_in(database: "Connection", subject: str, sames: "Iterable[bytes]") -> "Mapping[bytes, FoundLine]":
    """Map those of these statements about a subject that keys had, or that were corrected, to what is in their place.

    `database` is that of the index; statements are asked for where anything of the subject was replaced.
    """
    home = "" if subject == NOWHERE else subject
    corrections = database.execute(_CORRECTIONS, (home,)).fetchall()
    some = list(sames) if corrections or database.execute(_ANY_REPLACED, (home,)).fetchone() else []
    keys: set[str] = set()
    while some:
        hidden = _KEYED.format("same", ",".join("?" * len(some[:_AT_ONCE]))) + " AND id < 0"
        keys_of = _KEYED.format("key", hidden)
        keys.update(key for (key,) in database.execute(keys_of, (home, home, *some[:_AT_ONCE])))
        del some[:_AT_ONCE]
    of_keys = (line for key in keys for (line,) in database.execute(_OF_KEY, (home, key)))
    lines = dict.fromkeys([*of_keys, *(line for (line,) in corrections)])
    return replaced(sorted((FoundLine(decode_line(line), home) for line in lines), key=order))


def done_in(database: "Connection", subject: str, since: str) -> dict[bytes, str]:
    """Map the to-dos of a project that were called done since to when one last was; `database` is that of the index."""
    lines = database.execute(_CALLING_DONE, (subject, since))
    return done_by(FoundLine(decode_line(line), subject) for (line,) in lines)


def done_by(saves: "Iterable[FoundLine]") -> dict[bytes, str]:
    """Map the to-dos that these summaries call done to when one last did."""
    return called_done(_Save(line, RejectedStatements(())) for line in saves)


def statements_in(event: "EventFields") -> "Iterator[bytes]":
    """Yield the likeness of what a summary states: its topic, its text, their sentences, and its decisions."""
    yield from stated_in(text_in(event, "topic"))
    yield from stated_in(text_in(event, "summary"))
    yield from map(likeness, texts_in(event, "decisions"))


def without_replaced(event: "EventFields", over: "Mapping[bytes, Dated]") -> "EventFields":
    """Leave out of a summary what it states `over` which a key has something else since."""
    if not over:
        return event
    line = FoundLine(event, "")
    remaining = _remaining(event, ("decisions",), lambda text: "".join(not_replaced([text], line, over)))
    return _remaining(remaining, ("topic", "summary"), lambda text: standing_text(text, line, over))


def standing_rows(
    database: "Connection", found: "Sequence[tuple[Row, EventFields]]", rejected: RejectedStatements
) -> "Iterator[tuple[Row, EventFields]]":
    """Yield rows with what is neither rejected nor replaced of their fields, without those that have no text left."""
    summaries = [(row[1], fields) for row, fields in found if row[2] == "stage_summary"]
    over = {}
    for subject in dict(summaries):
        sames = (same for about, fields in summaries if about == subject for same in statements_in(fields))
        over[subject] = replaced_in(database, subject, sames)
    for row, fields in found:
        remaining = cleared(without_replaced(fields, over.get(row[1], {})), rejected)
        if has_shown_text(remaining):
            yield row, remaining


def cleared(event: "EventFields", rejected: RejectedStatements) -> "EventFields":
    """Take out of a line what states the same as something rejected, known by its mark, or of a summary nothing."""
    if event.get("type") == "stage_summary":
        event = _remaining(event, _OF_A_SAVE, lambda text: "" if states_nothing(text) else text)
    return _remaining(event, _STATES, lambda text: "" if rejected.rejects(text) else text)


def marked(event: "EventFields", rejected: RejectedStatements) -> "EventFields":
    """Put what stands in for it into the place of all that is rejected: it has its marks, and no words."""
    return _remaining(event, _STATES, lambda text: stand_in(text, rejected.salts) if rejected.rejects(text) else text)


def _remaining(event: "EventFields", names: "Iterable[str]", remains: "Callable[[str], str]") -> "EventFields":
    """Put what remains of each text into the place of it; the event itself where that is all."""
    changed: dict[str, object] = {}
    for name in names:
        value, texts = event.get(name), texts_in(event, name)
        if isinstance(value, str) and (left := remains(value)) != value:
            changed[name] = left
        elif texts and (several := [*map(remains, texts)]) != texts:
            changed[name] = [*filter(None, several)]
    return {**event, **changed} if changed else event
