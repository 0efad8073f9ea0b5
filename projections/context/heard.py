"""Facts and summaries as a session that starts hears of them, and the lines of MEMORY.md that they still state; pure.

Imported inside agents' hooks: standard library only.
"""

from eventlog.format.text import key_of, one_line
from eventlog.format.timestamps import order
from eventlog.projections.current.standing import likeness, likenesses, stated_in
from eventlog.projections.search.findable import text_in, texts_in
from eventlog.projections.views.markdown import is_untouched, undated, unescaped

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Collection, Iterable, Mapping
    from typing import Protocol

    from eventlog.format.marks import RejectedStatements
    from eventlog.projections.context.phrases import ContextPhrases
    from eventlog.projections.context.request import ContextRequest
    from eventlog.projections.line import Line

    class CurrentSource(Protocol):
        """The facts and summaries that stand, for a session and those who listen to it.

        `recent` are the lines of the last days that may be heard, withdrawn ones left out; `rejections` what nobody
        wants said; `subject` names the project that is asked about.
        """

        recent: "list[HeardEvent]"
        rejections: "RejectedStatements"
        subject: str

        is_whole: bool  # it knows earlier statements than those of the last days, too

        def sessions(self, limit: int, /) -> "list[HeardEvent]":
            """List the summaries and the texts of so many conversations of the project, those last at work."""

        def before_compaction(self, request: "ContextRequest", words: "ContextPhrases", /) -> "list[Line]":
            """Draw from a transcript what its conversation was about before; nothing where it cannot be read."""

        def conversation(self, conversation_id: str, /) -> "list[HeardEvent] | None":
            """Return what of a conversation may be shown, oldest first; None where that is not known."""

        def stand(self, subject: str, texts: "Mapping[str, str]", /) -> "set[str] | None":
            """Choose of texts, with the last day of each, those that state what stands; None: not known."""

        def facts_that_stand(self, subject: str, sames: "Collection[bytes]", /) -> "set[bytes] | None":
            """Choose of the statements of facts those that stand; None: not known."""

        def called_done(self, since: str, /) -> "Mapping[bytes, str]":
            """Map the to-dos of the project that were called done since to when one last was."""

        def without_withdrawn(self, text: str, /) -> str:
            """Remove from a knowledge base the sections that a withdrawn plan entry put there."""

        def span(self, conversation_id: str, /) -> tuple[str, str]:
            """Return when a conversation began, and was last at work; "" where that is not known."""


_TYPES = ("W", "B", "O")
_NUMBERS = (int, float)


class HeardEvent:
    """A fact or a summary; `subject` is what it is about, `text` and `same` what a fact states."""

    after: str | None = None
    project: str | None = None
    layer: int | None = None
    id: str
    ts: str
    conversation_id: str

    def __init__(self, fields: "Mapping[str, object]", subject: str) -> None:
        vars(self).update(fields)
        self.type = str(fields["type"])
        self.subject = subject
        if self.type == "fact":
            self._state(fields)
        else:
            self.scope = fields.get("scope") if fields.get("scope") == "session" else "stage"
            self.files = texts_in(fields, "files")
            self.topic, self.summary = (text_in(fields, name) for name in ("topic", "summary"))
            self.decisions, self.todos, self.done = (texts_in(fields, name) for name in ("decisions", "todos", "done"))

    @property
    def unkeyed(self) -> "set[bytes]":
        """Collect the likeness of what is stated without a key: by a fact, or by a summary."""
        if self.type == "fact":
            return set() if self.key else {self.same}
        return stated_in(self.topic) | stated_in(self.summary) | set(map(likeness, self.decisions))

    def _state(self, fields: "Mapping[str, object]") -> None:
        kind, sure, weight = fields.get("memory_type"), fields.get("confidence"), fields.get("importance")
        self.content = text_in(fields, "content")
        self.text = one_line(self.content)
        self.same = likeness(self.text)
        self.instead_of = likenesses(texts_in(fields, "instead_of"))
        self.key = key_of(text_in(fields, "key")) or None
        self.category = one_line(text_in(fields, "category"))
        self.memory_type = kind if kind in _TYPES else _TYPES[0]
        self.confidence: float = sure if isinstance(sure, _NUMBERS) else 0.9
        self.importance: int = weight if isinstance(weight, int) else 3


def standing_lines(text: str, source: "CurrentSource", *, about_user: bool) -> str:
    """Drop the bullets that hold no more: withdrawn, replaced, or of a session that was of another project."""
    lines = text.split("\n")
    bullets = {line: undated(line[2:]) for line in lines if line.startswith("- [")}
    statements = {line: unescaped(words) for line, (day, words) in bullets.items() if day and words}
    if not statements:
        return text
    days = {words: bullets[line][0] for line, words in statements.items()}
    stand = source.stand("" if about_user else source.subject, days)
    is_own = is_untouched(text.encode("utf-8", "replace"))

    def is_shown(line: str) -> bool:
        words = statements.get(line)
        if words is None:
            return True
        return not source.rejections.rejects(words) and (stand is None or not is_own or words in stand)

    return "\n".join(filter(is_shown, lines))


def by_conversation(events: "Iterable[HeardEvent]") -> "dict[str, list[HeardEvent]]":
    """Group by conversation, each oldest first."""
    found: dict[str, list[HeardEvent]] = {}
    for event in sorted(events, key=order):
        found.setdefault(event.conversation_id, []).append(event)
    return found
