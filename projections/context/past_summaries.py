"""Summaries of sessions: the own one of a session that came back, or the newest of the project for a new one.

What was said is summed up as it stands now, by the functions of the views. Where a rendered file says just that, it is
told from the file; and where what was said is not known, the file is told that nobody has touched since.

Imported inside agents' hooks: standard library only.
"""

from eventlog.fast.sha import sha256
from eventlog.projections.context.recent import by_conversation
from eventlog.projections.current.conclusions import NONE, conclusion_of
from eventlog.projections.line import Line
from eventlog.projections.views.labels import LABELS
from eventlog.projections.views.markdown import is_stamp, is_untouched, stamped_at
from eventlog.projections.views.summary_lines import body_lines, head_lines
from eventlog.store import conversation_name
from eventlog.store.files import read_regular

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from eventlog.projections.context.heard import CurrentSource, HeardEvent
    from eventlog.projections.context.request import ContextRequest
    from eventlog.settings.schema import Settings
    from eventlog.store import Store

_DAY = len("- [2026-02-20](")


class PastSummary:
    """The summary of a session; `file` where it was taken from a rendered one: its path, digest and time."""

    def __init__(self, name: str, lines: "tuple[Line, ...]", file: "tuple[str, str, str | None] | None" = None) -> None:
        self.name = name
        self.lines = lines
        self.file = file


class PastSummaries:
    """The summaries of earlier sessions, found when asked for."""

    def __init__(self, store: "Store", settings: "Settings", known: "CurrentSource") -> None:
        self._store = store
        self._settings = settings
        self._known = known

    def newest(self, request: "ContextRequest", *, shared: bool) -> "Iterator[PastSummary]":
        """Yield the summaries of other conversations, those last at work first.

        Files are for main sessions only: facts about the user may have gone into them; and for the project whose index
        names them: of a conversation that worked elsewhere, what it said of this one is all that is heard here.
        """
        indexed = dict.fromkeys(() if shared else self._indexed(request.folder))
        here = by_conversation(one for one in self._known.recent if one.subject == self._known.subject)
        lately = by_conversation(one for one in self._known.recent if one.conversation_id in here)
        lately.pop(request.session_id, None)
        told = {conversation_name(request.session_id)} if request.session_id else set()
        for name in sorted(lately, key=lambda name: (max(one.ts for one in lately[name]), name), reverse=True):
            told.add(conversation_name(name))
            yield self._summary(name, conversation_name(name) if conversation_name(name) in indexed else "")
        for name in indexed:
            if name not in told:
                yield self._summary(name, name)

    def own(self, conversation: str) -> "tuple[Line, ...]":
        """Sum a conversation up; nothing where it has not come to anything."""
        said = self._known.conversation(conversation)
        if said is None:
            found = self._rendered(conversation_name(conversation))
            return found.lines if found else ()
        return self._body(conversation, said)

    def _summary(self, name: str, file: str) -> PastSummary:
        """Sum up a conversation, in the lines of its file where these say the same."""
        rendered = self._rendered(file) if file else None
        said = self._known.conversation(name)
        if said is None:
            return rendered or PastSummary(name, ())
        if rendered and rendered.file and (rendered.file[2] or "") >= max((one.ts for one in said), default="~"):
            conclusion = [line.text for line in self._conclusion(name, said)]
            if [line.text for line in rendered.lines][-len(conclusion) :] == conclusion:
                return rendered
        return PastSummary(name, self._body(name, said))

    def _body(self, name: str, said: "Sequence[HeardEvent]") -> "tuple[Line, ...]":
        conclusion = self._conclusion(name, said)
        if not conclusion:
            return ()
        words, (begun, last_work) = LABELS[self._settings.locale], self._known.span(name)
        begun, last_work = begun or said[0].ts, last_work or said[-1].ts
        stages = any(one.type == "stage_summary" and one.scope == "stage" for one in said)
        project = next((one.project for one in said if one.project), "")
        head = head_lines(name, project, (begun, last_work), words, self._settings.timezone, stages=stages)
        return _inner([*head, *conclusion])

    def _conclusion(self, name: str, said: "Sequence[HeardEvent]") -> list[Line]:
        summaries = [one for one in said if one.type == "stage_summary"]
        facts = [(one.subject, one) for one in self._standing([one for one in said if one.type == "fact"])]
        came_to = conclusion_of(summaries, facts, self._known.rejections)  # type: ignore[arg-type]
        if came_to.source == NONE:
            return []
        return list(body_lines(name, came_to, LABELS[self._settings.locale], self._settings.summaries.max_chars))

    def _standing(self, facts: "list[HeardEvent]") -> "list[HeardEvent]":
        """Leave out facts in whose place another with the same key stands."""
        keyed: dict[str, list[HeardEvent]] = {}
        for one in facts:
            if one.key:
                keyed.setdefault(one.subject, []).append(one)
        gone: set[str] = set()
        for subject, some in keyed.items():
            stand = self._known.facts_that_stand(subject, [one.same for one in some])
            gone.update(one.id for one in some if stand is not None and one.same not in stand)
        return [one for one in facts if one.id not in gone]

    def _rendered(self, name: str) -> PastSummary | None:
        """Read a summary from its file; None where it is not there, or not as it was rendered."""
        path = f"{self._store.knowledge}/sessions/{name}.md"
        try:
            data = read_regular(path)
            lines = data.decode().splitlines()
        except (OSError, UnicodeDecodeError):
            return None
        if not is_untouched(data):
            return None
        return PastSummary(name, _inner(list(map(Line, lines))), (path, sha256(data), stamped_at(data)))

    def _indexed(self, folder: str) -> list[str]:
        try:
            text = read_regular(f"{self._store.knowledge}/{folder}INDEX.md").decode("utf-8", "replace")
        except OSError:
            return []
        linked = (line[_DAY:] for line in text.split("\n") if line.startswith("- [") and line[_DAY - 2 : _DAY] == "](")
        return [name for to in linked if (name := _session_in(to))]


def _session_in(link: str) -> str:
    """Read the session's name of a link of the index; "" of any other."""
    path = link.partition(")")[0]
    while path.startswith("../"):
        path = path[3:]
    name = path.removeprefix("sessions/").removesuffix(".md")
    return name if path == f"sessions/{name}.md" and conversation_name(name) == name else ""


def _inner(lines: "list[Line]") -> "tuple[Line, ...]":
    """Strip the title, the stamp and the empty lines around."""
    kept = [line for line in lines[1:] if not is_stamp(line.text)]
    while kept and not kept[0].text:
        del kept[0]
    while kept and not kept[-1].text:
        del kept[-1]
    return tuple(kept)
