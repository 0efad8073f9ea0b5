"""Things to be found, by which words; and texts about a file or a thing by its name; pure.

Imported inside agents' hooks: standard library only, and events as the lines of the log have them.
"""

from eventlog.format.marks import line_marks
from eventlog.format.text import statement_of
from eventlog.projections.search.words import JOINERS, spelled, tokens

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Collection, Iterable, Mapping

    EventFields = Mapping[str, object]

_WINDOW, _STEP = 4, 2  # statements of a conversation that are found by themselves, too; where the next ones begin
MAX_PASSAGES = 60
_SHOWN_OF_CLOSING = 400  # characters
_BEGINNING = 60  # characters of a question that begins a closing
_OF_CONSENT = "ok okay done sure fine erledigt fertig gern gerne klar passt 好 好的 完成 收到"
_CONSENTS = frozenset(_OF_CONSENT.split())
_AROUND = " .!。！"


class Findable:
    """A thing to be found: its `words`, what is `shown` of it, and parts of a long text that may answer alone.

    A summary also has the decisions under its topic, and what it `left` to be done, which a start is told by itself; a
    past conversation the files it changed.
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
        self.left: list[str] = []
        self.files: list[str] = []
        self.asked: list[str] = []  # what it was about, in whoever's words
        self.answers: list[str] = []  # what came of it
        self.fixes: dict[str, str] = {}  # by the signature of a failure, the command that passed after it
        self._event = event
        _READ[self.type](self, event)

    @property
    def decided(self) -> str:
        """The decisions under their topic; "" where nothing was decided."""
        return " · ".join(filter(None, (self.topic, *self.decisions))) if self.decisions else ""

    @property
    def telling(self) -> str:
        """The words for the gate of a prompt: of a conversation only the question it answers; "" without an answer.

        A closing that answers a later question begins with that; `OK.` answers none.
        """
        if self.type != "conversation_text":
            return self.words
        found = [*self.answers, *self.files, *self.fixes]
        later = (text[:_BEGINNING] for text in texts_in(self._event, "prompts")[1:])
        answered = [text for text in later if text and found[:1] and found[0].startswith(text)]
        return "\n".join((*answered, *found)) if answered or not found else self.words

    @property
    def rows(self) -> list[str]:
        """The tokens of all its words, then of each passage; joined by spaces."""
        return [spelled(text) for text in ("\n".join((self.words, *self.left)), *self.passages)]

    @property
    def statements(self) -> set[str]:
        """The statements it makes, as all wordings are compared: a fact itself, a summary what it decides."""
        return set(map(statement_of, [self.shown] if self.type == "fact" else self.decisions))

    @property
    def names(self) -> set[str]:
        """Name what it shows: its statements, and the conversation that it stands for as a whole."""
        return self.statements | ({f"\n{self.conversation}"} if self.type in CONVERSATION else set())

    def leave_out(self, texts: "Collection[str]") -> bool:
        """Remove what was shown before, in any wording; False where nothing is left."""
        if self.statements.isdisjoint(texts):
            return True
        if self.type == "fact":
            return False
        remaining = [text for text in self.decisions if statement_of(text) not in texts]
        _READ[self.type](self, {**self._event, "decisions": remaining})
        return bool(remaining or self.type == "conversation_text" or text_in(self._event, "summary"))


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
    key, category = text_in(event, "key"), text_in(event, "category")  # a text begins with what it is about: the key
    found.words = "\n".join((key, found.shown, *texts_in(event, "entities"), category))


def _of_summary(found: Findable, event: "EventFields") -> None:
    topic, summary, decisions = text_in(event, "topic"), text_in(event, "summary"), texts_in(event, "decisions")
    found.words = "\n".join((topic, summary, *decisions))
    found.topic, found.decisions, found.left = topic, decisions, texts_in(event, "todos")
    found.asked, found.answers = [topic] if topic else [], list(filter(None, (summary, *decisions)))
    text = ": ".join(filter(None, (topic, summary)))
    found.shown = " · ".join(filter(None, (text, *decisions)))


def _of_conversation(found: Findable, event: "EventFields") -> None:
    title, files, closing = text_in(event, "title"), texts_in(event, "files"), text_in(event, "closing")
    texts = [*texts_in(event, "prompts"), *filter(None, (closing,))]
    found.files = files
    found.decisions = texts_in(event, "decisions")
    found.asked = list(filter(None, (title, *texts_in(event, "prompts"))))
    answer = "" if closing.strip(_AROUND).lower() in _CONSENTS else closing
    found.answers = [*filter(None, (answer,)), *found.decisions]
    found.fixes = _fixes_in(event)
    found.words = "\n".join((title, *files, *texts, *found.fixes))
    found.shown = " · ".join(filter(None, (title, closing[:_SHOWN_OF_CLOSING], ", ".join(files))))
    if len(texts) > _WINDOW:
        starts = range(0, len(texts), _STEP)
        found.passages = ["\n".join(texts[start : start + _WINDOW]) for start in starts][:MAX_PASSAGES]


def _fixes_in(event: "EventFields") -> "dict[str, str]":
    fixes = event.get("fixes")
    return {
        text_in(fix, "failure"): text_in(fix, "passed")
        for fix in (fixes if isinstance(fixes, list) else ())
        if isinstance(fix, dict)
    }


_READ = {"fact": _of_fact, "stage_summary": _of_summary, "conversation_text": _of_conversation}
FINDABLE = tuple(_READ)
CONVERSATION = ("stage_summary", "conversation_text")  # tell of one as a whole


_LONGEST = 12  # parts of a path that are looked for
_ABBREVIATION = 3  # characters of `e.g`
# names of so many files that a name alone tells none of them
_OF_MANY = """
__init__.py __main__.py conftest.py main.py mod.rs lib.rs main.rs main.go doc.go index.ts index.tsx index.js index.html
readme.md changelog.md license makefile dockerfile package.json pyproject.toml cargo.toml go.mod pom.xml build.gradle
.gitignore .env
"""
_EVERYWHERE = frozenset(_OF_MANY.split())
_TEST_FOLDERS = frozenset(("test", "tests", "testing", "__tests__", "spec", "specs", "testdata", "fixtures"))
_TESTS = ("conftest", "test", "spec")  # a name, or an ending before the last
_SCRATCH_FOLDERS = frozenset(("output", "outputs", "tmp", "temp", "scratch", "build", "dist", "node_modules"))
_SCRATCH_ENDINGS = (".log", ".txt", ".patch", ".diff", ".out", ".tmp", ".bak")


def names_of(path: str) -> list[str]:
    """List what a file below the project's root may be called, the longest first: `a/b/c.py`, `b/c.py`, `c.py`.

    Of names that no word is, as those with spaces, there are none, nor of those that any word may be.
    """
    parts = path.casefold().split("/")[-_LONGEST:]
    names = ["/".join(parts[at:]).strip(JOINERS) for at in range(len(parts))]
    telling = names[:-1] if len(parts) > 1 and parts[-1] in _EVERYWHERE else names
    return [name for name in telling if name.isascii() and _is_word(name) and ("/" in name or "." in name)]


def _is_word(name: str) -> bool:
    return all(char.isalnum() or char in JOINERS for char in name)


def speaks_of(words: "Collection[str]", path: str) -> bool:
    """Return whether a text, by its words, names this file, and not a file of that name elsewhere."""
    names = names_of(path)
    if not names:
        return False
    whole, last = path.casefold().strip(JOINERS), path.casefold().rpartition("/")[2].strip(JOINERS)
    longer = [word for word in words if word.endswith(f"/{last}")]
    if any(word in names or word.endswith(f"/{whole}") for word in longer):
        return True
    return not longer and last in names and last in words


def unnamed(files: "Iterable[str]", *texts: str) -> "list[str]":
    """List the files that no text names by the whole path."""
    words = {*tokens(" ".join(texts))}
    return [file for file in files if file.lower() not in words]


def is_scratch(path: str) -> bool:
    """Return whether a file served the work only: it lies outside, where things are built, or ends like a log."""
    *folders, name = path.lower().split("/")
    return path.startswith("/") or name.endswith(_SCRATCH_ENDINGS) or not _SCRATCH_FOLDERS.isdisjoint(folders)


def is_test(path: str) -> bool:
    """Return whether a file belongs to tests, by its name or a folder above it."""
    *folders, name = path.lower().split("/")
    stem, *endings = name.split(".")
    is_inside = any(folder in _TEST_FOLDERS or folder.startswith("test_") for folder in folders)
    is_named = stem.startswith("test_") or stem.endswith(("_test", "_tests", "_spec"))
    return is_inside or is_named or not {stem, *endings}.isdisjoint(_TESTS)


def files_in(words: "Iterable[str]") -> "list[str]":
    """List the files among the words of a text, by their last names; not those that many have."""
    names = (word.rpartition("/")[2] for word in words)
    return [name for name in names if _is_file(name) and name not in _EVERYWHERE]


def _is_file(name: str) -> bool:
    """Return whether a word is a name with an ending: no number with a point, no `e.g`."""
    first, _, ending = name.rpartition(".")
    return len(name) > _ABBREVIATION and first != "" and ending.isalnum() and not ending.isdigit()


def things_named(entities: "Iterable[str]", key: str | None, text: str) -> str:
    """Mark each thing that is named, all marks in one text."""
    return line_marks([*entities, key or "", *files_in(tokens(text))])
