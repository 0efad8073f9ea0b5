"""Things to be found: each was said and still holds, and has the words it is found by; pure.

Imported inside agents' hooks: standard library only, and events as the lines of the log have them.
"""

from eventlog.format.text import statement_of
from eventlog.projections.search.words import spelled

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Collection, Mapping

    EventFields = Mapping[str, object]

_WINDOW, _STEP = 4, 2  # statements of a conversation that are found by themselves, too; where the next ones begin
MOST_PASSAGES = 60
_SHOWN_OF_CLOSING = 400  # characters


class Findable:
    """One thing to be found: its `words`, what is `shown` of it, and parts of a long one that may answer alone.

    A summary also has the decisions under its topic, a past conversation the files it changed.
    """

    def __init__(self, event: "EventFields") -> None:
        self.id = text_in(event, "id")
        self.ts = text_in(event, "ts")
        self.after = text_in(event, "after") or None  # the time whose place it takes
        self.type = text_in(event, "type")
        self.conversation = text_in(event, "conversation_id")
        self.project = text_in(event, "project")
        self.agent = text_in(event, "agent")
        self.words = self.shown = self.topic = ""
        self.passages: list[str] = []
        self.decisions: list[str] = []
        self.files: list[str] = []
        self._event = event
        _READ[self.type](self, event)

    @property
    def decided(self) -> str:
        """Its decisions under their topic; "" where nothing was decided."""
        return " · ".join(filter(None, (self.topic, *self.decisions))) if self.decisions else ""

    @property
    def rows(self) -> list[str]:
        """The tokens of all its words, then of each passage; joined by spaces."""
        return [spelled(text) for text in (self.words, *self.passages)]

    @property
    def statements(self) -> set[str]:
        """The statements it makes, as all wordings are compared: a fact itself, a summary what it decides."""
        return set(map(statement_of, [self.shown] if self.type == "fact" else self.decisions))

    @property
    def names(self) -> set[str]:
        """Name what is told by it: its statements, and the conversation that it tells of as a whole."""
        return self.statements | ({f"\n{self.conversation}"} if self.type in CONVERSATION else set())

    def leave_out(self, told: "Collection[str]") -> bool:
        """Take out of it what was told, in whichever wording; False where nothing is left."""
        if self.statements.isdisjoint(told):
            return True
        if self.type == "fact":
            return False
        left = [text for text in self.decisions if statement_of(text) not in told]
        _of_summary(self, {**self._event, "decisions": left})
        return bool(left or text_in(self._event, "summary"))


def text_in(event: "EventFields", name: str) -> str:
    """Return the text of a field, "" where it has none."""
    value = event.get(name)
    return value if isinstance(value, str) else ""


def texts_in(event: "EventFields", name: str) -> "list[str]":
    """Return the texts of a field that is a list."""
    value = event.get(name)
    return [text for text in value if isinstance(text, str)] if isinstance(value, list) else []


def _of_fact(found: Findable, event: "EventFields") -> None:
    found.shown = text_in(event, "content")
    found.words = "\n".join((found.shown, *texts_in(event, "entities"), text_in(event, "category")))


def _of_summary(found: Findable, event: "EventFields") -> None:
    topic, summary, decisions = text_in(event, "topic"), text_in(event, "summary"), texts_in(event, "decisions")
    found.words = "\n".join((topic, summary, *decisions, *texts_in(event, "todos")))
    found.topic, found.decisions = topic, decisions
    told = ": ".join(filter(None, (topic, summary)))
    found.shown = " · ".join(filter(None, (told, *decisions)))


def _of_conversation(found: Findable, event: "EventFields") -> None:
    title, files, closing = text_in(event, "title"), texts_in(event, "files"), text_in(event, "closing")
    said = [*texts_in(event, "prompts"), *filter(None, (closing,))]
    found.files = files
    found.words = "\n".join((title, *files, *said))
    found.shown = " · ".join(filter(None, (title, closing[:_SHOWN_OF_CLOSING], ", ".join(files))))
    if len(said) > _WINDOW:
        starts = range(0, len(said), _STEP)
        found.passages = ["\n".join(said[start : start + _WINDOW]) for start in starts][:MOST_PASSAGES]


_READ = {"fact": _of_fact, "stage_summary": _of_summary, "conversation_text": _of_conversation}
FINDABLE = tuple(_READ)
CONVERSATION = ("stage_summary", "conversation_text")  # tell of one as a whole
