"""Earlier sessions of a project, a line each: topic, files and outcome; and the summary of a session that came back.

What was said is summed up as it stands now, by the functions of the views. Where what was said is not known, files are
told that nobody has touched since they were rendered.

Imported inside agents' hooks: standard library only.
"""

from eventlog.fast import os
from eventlog.fast.copies import Values, replace
from eventlog.fast.sha import sha256
from eventlog.format.ids import short_id
from eventlog.format.text import cut, one_line, sentences_of, statement_line
from eventlog.format.timestamps import order
from eventlog.projections.context.heard import by_conversation
from eventlog.projections.current.conclusions import NONE, conclusion_of
from eventlog.projections.line import Line
from eventlog.projections.search.findable import is_scratch, is_test, unnamed
from eventlog.projections.search.words import tokens
from eventlog.projections.views.labels import LABELS
from eventlog.projections.views.markdown import as_text, is_stamp, is_untouched, stamped_at
from eventlog.projections.views.note_lines import summary_lines
from eventlog.store import conversation_name
from eventlog.store.files import read_regular

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Collection, Iterable, Iterator, Sequence

    from eventlog.format.local_time import Local
    from eventlog.projections.context.heard import CurrentSource, HeardEvent
    from eventlog.projections.context.request import ContextRequest
    from eventlog.projections.current.conclusions import Conclusion
    from eventlog.settings.schema import Settings
    from eventlog.store import Store

LINE_CHARS = 300
BRIEF_CHARS = 115
_TOPIC_CHARS, _BRIEF_TOPIC_CHARS, _PATH_CHARS = 90, 60, 70
_MAX_DECISIONS = 3
_MAX_COMPARED = 50  # statements, the newest: a start waits
_DAY = len("2026-02-20")
_CHANGED, _COMMANDS = ("Changed ", "修改了 "), ("Ran `", "运行了 `")
_LISTS = (*_CHANGED, "Committed ", "提交了")
_DATA = (".json", ".jsonl", ".txt", ".log", ".csv", ".patch", ".diff")


class EarlierSession(Values):
    """A session that came to something."""

    name: str
    at: str  # when it was last heard of
    topic: str
    outcome: str
    files: "Sequence[str]" = ()
    sources: tuple[str, ...] = ()
    decisions: "Sequence[Line]" = ()  # the newest first
    file: "tuple[str, str, str | None] | None" = None  # the rendered one it was taken from: path, digest, time
    quotes: "Sequence[str]" = ()  # the lines of that file

    @property
    def outcome_text(self) -> str:
        """The outcome without the lists of files and commands with which a program began it."""
        summary = self.outcome
        before, found, rest = next((parts for mark in _COMMANDS if (parts := summary.partition(mark))[1]), ("", "", ""))
        if not found or not (before == "" or before.startswith(_LISTS)):
            return summary
        ends = [at + len(end) for end in ("`. ", " more. ", "`。", "项。") if (at := rest.rfind(end)) >= 0]
        return rest[max(ends) :] if ends else ""

    def line(self, local: "Local", project: str, *, minute: bool = False, limit: int = LINE_CHARS) -> Line:
        """Write it in a line: topic, two files, outcome; a brief line has neither outcome nor sources."""
        is_brief = limit <= BRIEF_CHARS
        topic = cut(one_line(self.topic), _BRIEF_TOPIC_CHARS if is_brief else _TOPIC_CHARS)
        outcome = self.outcome_text
        for sentence in filter(self._lists, sentences_of(outcome)):
            outcome = outcome.replace(sentence, "")
        outcome = one_line(outcome)
        named = unnamed(_telling(self.files, project), topic, "" if is_brief else outcome)
        files = ", ".join(named[: 1 if is_brief else 2])
        if topic and outcome.startswith(topic.rstrip("…")):
            topic = ""
        parts = (topic or outcome, files) if is_brief else (topic, files, outcome)
        day = local(self.at).replace("T", " ")[: None if minute else _DAY]
        text = cut(" · ".join(filter(None, map(one_line, parts))), limit)
        line = f"- [{day} {one_line(short_id(self.name))}] {as_text(text)}"
        return Line(line, () if is_brief else self.sources, (self.name,))

    def _lists(self, sentence: str) -> bool:
        """Return whether a sentence lists, by their last names, the files that the line has by their paths."""
        mark = next(filter(sentence.startswith, _CHANGED), "")
        name, *_ = sentence.removeprefix(mark).replace("、", ", ").rstrip(".。").split(", ")
        return bool(mark) and any(file.endswith(name.partition(" ")[0]) for file in self.files)

    def in_full(self, local: "Local", project: str, *, minute: bool = True) -> list[Line]:
        """Write it in a line, with the decisions that are not in it below."""
        day, line = local(self.at)[:_DAY], self.line(local, project, minute=minute)
        remaining = [
            decision for decision in self.decisions if decision.text[2:].casefold() not in line.text.casefold()
        ]
        decided = [Line(f"- [{day}] {decision.text[2:]}", decision.events) for decision in remaining[:_MAX_DECISIONS]]
        return [line, *decided]


def with_successors(
    sessions: "Sequence[EarlierSession]", heard: "Iterable[HeardEvent]", elsewhere: str
) -> "list[EarlierSession]":
    """Put the newest decision or fact that opposes the outcome of a session before it, unless `elsewhere` has it."""
    from eventlog.projections.search.opposed import opposed  # a first session has none before it

    stated = [(each, text) for each in heard for text in ((each.text,) if each.type == "fact" else each.decisions)]
    newest = sorted(stated, key=lambda pair: order(pair[0]), reverse=True)[:_MAX_COMPARED]
    parts = {one.name: [part.rstrip(".!。！") for part in sentences_of(one.outcome)] for one in sessions}
    dated = [(event.ts, text) for event, text in newest]
    dated += [(one.at, text) for one in sessions for text in parts[one.name]]
    against = opposed([text for _, text in sorted(dated, key=lambda pair: pair[0], reverse=True)], ())
    opposing = [(event, text) for event, text in newest if text in against]

    def whole(one: EarlierSession) -> EarlierSession:
        later = ((event, text) for event, text in opposing if event.ts > one.at)
        event, text = next((pair for pair in later if not against[pair[1]].isdisjoint(parts[one.name])), (None, ""))
        if event is None or statement_line(text) in elsewhere:
            return one
        topic = "" if one.outcome.startswith(one.topic.rstrip("…")) else one.topic
        outcome = f"{statement_line(text)} ← {one.outcome_text}"
        return replace(one, topic=topic, outcome=outcome, sources=(*one.sources, event.id))

    return list(map(whole, sessions))


def _telling(files: "Sequence[str]", project: str) -> list[str]:
    """List the files from the project's root, data behind others; tests and scratch only where nothing else is."""
    inside = f"{project}/"
    paths = list(dict.fromkeys(file.removeprefix(inside) for file in files))
    chosen = sorted((path for path in paths if not is_test(path)), key=_is_data)
    # what lies beside the project, or at its root, is what is thrown away
    below = [path for path in chosen if "/" in path and not path.startswith(("/", "..")) and not is_scratch(path)]
    chosen = below or [path for path in chosen if not _is_data(path)] or paths
    return [path if len(path) <= _PATH_CHARS else f"…{path[-_PATH_CHARS:]}" for path in chosen]


def _is_data(path: str) -> bool:
    return path.lower().endswith(_DATA)


class EarlierSessions:
    """The earlier sessions of a project, found when asked for."""

    def __init__(self, store: "Store", settings: "Settings", source: "CurrentSource") -> None:
        self._store = store
        self._settings = settings
        self._known = source

    def newest(
        self, events: "Iterable[HeardEvent]", request: "ContextRequest", memory: str, *, shared: bool
    ) -> "Iterator[EarlierSession]":
        """Yield other conversations that came to something, those last at work first.

        The last may have a topic alone, but for small talk. Files are for main sessions only: facts about the user may
        have gone into them; and for the project whose index names them. One that says nothing but what stands in
        `memory` is of facts, which are told as facts.
        """
        lately = by_conversation(events)
        lately.pop(request.session_id, None)
        names = {conversation_name(request.session_id)} if request.session_id else set()
        is_last = True
        for name in sorted(lately, key=lambda name: order(lately[name][-1]), reverse=True):
            names.add(conversation_name(name))
            came_to = self._summed_up(name, lately[name])
            if came_to and (came_to.outcome or came_to.decisions or (is_last and _is_about_work(came_to.topic))):
                is_last = False
                yield came_to
        if not (shared or self._known.is_whole):
            for name, at, topic in self._indexed(request.folder):
                if name not in names and (rendered := self._rendered(name, at, topic, memory)):
                    yield rendered

    def own(self, conversation: str, memory: str) -> "tuple[Line, ...]":
        """Sum a conversation up; nothing where it has not come to anything."""
        events = self._known.conversation(conversation)
        if events is None:
            found = self._read(conversation_name(conversation), memory)
            return found[0] if found else ()
        conclusion = self._conclusion([event for event in events if event.type != "conversation_text"])
        if conclusion.source == NONE:
            return ()
        if conclusion.todos:
            conclusion = conclusion.without(self._known.called_done(events[0].ts))
        begun, last_work = self._known.span(conversation)
        at_work = begun or events[0].ts, last_work or events[-1].ts
        stages = any(event.type == "stage_summary" and event.scope == "stage" for event in events)
        project = next((event.project for event in events if event.project), "")
        return _inner([*summary_lines(conversation, conclusion, project, at_work, self._settings, stages=stages)])

    def _summed_up(self, name: str, events: "Sequence[HeardEvent]") -> EarlierSession | None:
        """Sum up the outcome of a conversation by its saves; facts are listed as facts."""
        saves = (event for event in events if event.type == "stage_summary")
        came_to = conclusion_of(saves, (), self._known.rejections)  # type: ignore[arg-type]
        texts = [event for event in events if event.type == "conversation_text"]
        if not (came_to.topic or came_to.decisions):
            return None
        decisions = [Line(f"- {as_text(decision.text)}", decision.sources) for decision in reversed(came_to.decisions)]
        sources = tuple(dict.fromkeys(event for part in came_to.parts for event in part.sources))
        files = [file for text in texts[-1:] for file in text.files]
        return EarlierSession(name, events[-1].ts, came_to.topic, came_to.summary, files, sources, decisions)

    def _conclusion(self, events: "Sequence[HeardEvent]") -> "Conclusion":
        summaries = [event for event in events if event.type == "stage_summary"]
        facts = [
            (event.subject, event) for event in self._standing([event for event in events if event.type == "fact"])
        ]
        return conclusion_of(summaries, facts, self._known.rejections)  # type: ignore[arg-type]

    def _standing(self, facts: "list[HeardEvent]") -> "list[HeardEvent]":
        """Leave out facts in whose place others stand."""
        subjects = {fact.subject for fact in facts}
        stand = {
            name: self._known.facts_that_stand(name, [fact.same for fact in facts if fact.subject == name])
            for name in subjects
        }
        return [fact for fact in facts if (some := stand[fact.subject]) is None or fact.same in some]

    def _rendered(self, name: str, at: str, topic: str, memory: str) -> EarlierSession | None:
        """Take a session from its file, where that is as it was rendered."""
        if not (found := self._read(name, memory)):
            return None
        lines, file = found
        words = LABELS[self._settings.locale]
        bullets = list(_bullets(lines, words.done))
        if all(text.rstrip("…") in memory or text.startswith("…") for text in bullets):
            return None
        done = statement_line(" ".join(bullets))
        decisions = [Line(f"- {text}") for text in _bullets(lines, words.key_decisions)]
        return EarlierSession(name, at, topic, done, decisions=decisions, file=file, quotes=bullets)

    def _read(self, name: str, memory: str) -> "tuple[tuple[Line, ...], tuple[str, str, str | None]] | None":
        """Read a rendered summary; None where it is not there, or not as it was rendered.

        Of its decisions those are told that memory has: what was replaced is in the file of the session.
        """
        path = f"{self._store.knowledge}/sessions/{name}.md"
        try:
            data = read_regular(path)
            lines = data.decode().splitlines()
        except (OSError, UnicodeDecodeError):
            return None
        if not is_untouched(data):
            return None
        standing = _without_others(lines, LABELS[self._settings.locale].key_decisions, memory)
        return _inner(list(map(Line, standing))), (path, sha256(data), stamped_at(data))

    def _indexed(self, folder: str) -> "Iterator[tuple[str, str, str]]":
        """Yield the sessions that the project's index names: name, day and topic."""
        try:
            text = read_regular(f"{self._store.knowledge}/{folder}INDEX.md").decode("utf-8", "replace")
            names = [name.removesuffix(".md") for name in os.listdir(f"{self._store.knowledge}/sessions")]
        except OSError:
            return
        rendered = {short_id(name): name for name in names}
        for line in text.split("\n"):
            day, _, rest = line.removeprefix("- ").partition(" ")
            short, _, topic = rest.partition(" ")
            if line.startswith("- ") and len(day) == _DAY and short in rendered:
                yield rendered[short], day, topic


def _is_about_work(topic: str) -> bool:
    from eventlog.projections.search.ranking import is_small_talk  # most last sessions came to something

    return not is_small_talk(tokens(topic))


def _bullets(lines: "Collection[Line]", heading: str) -> "Iterator[str]":
    """Yield the bullets below a heading."""
    below = ""
    for line in lines:
        if line.text.startswith("## "):
            below = line.text[3:]
        elif below == heading and line.text.startswith("- "):
            yield line.text[2:]


def _without_others(lines: "Collection[str]", heading: str, memory: str) -> "Iterator[str]":
    """Leave out the bullets below a heading that are not in memory; where none is, the heading too."""
    known = {text for text in _bullets(list(map(Line, lines)), heading) if text.rstrip("… ") in memory}
    below = ""
    for line in lines:
        below = line[3:] if line.startswith("## ") else below
        if below != heading or (known and (line[2:] in known or not line.startswith("- "))):
            yield line


def _inner(lines: "list[Line]") -> "tuple[Line, ...]":
    """Strip the title, the stamp and the empty lines around."""
    inner = [line for line in lines[1:] if not is_stamp(line.text)]
    while inner and not inner[0].text:
        del inner[0]
    while inner and not inner[-1].text:
        del inner[-1]
    return tuple(inner)
