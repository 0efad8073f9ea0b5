"""The lines of the log that can be found: each thing once, as last said, and nothing that was withdrawn.

The same rules as of the views (`projections/state/`), line by line, for those who have no time to fold: a prompt waits
for them. In order, any of them may come late; a late one never brings back what stands no more.

Imported inside agents' hooks: standard library only, and events as the lines of the log have them.
"""

from eventlog import ids
from eventlog.in_force import judged
from eventlog.layers import SESSION_END
from eventlog.projections.search.findable import text_in, texts_in
from eventlog.statement_marks import marks_of, rejected_mark, salts_in

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Collection, Iterable

    from eventlog.projections.search.findable import EventFields

AN_EVENT, ALL_OF, A_STATEMENT = "event ", "conversation ", "statement "  # what aims begin with
_STATES = ("content", "topic", "summary", "decisions", "todos", "title", "prompts", "closing")
_WHOLE = "session"  # the scope of a summary


def place_of(event: "EventFields", subject: str) -> int:
    """Number the place among what can be found where there is room for one: a later one there replaces an earlier."""
    return int.from_bytes(ids.digest(_place(event, subject), 8), "big") >> 1


def _place(event: "EventFields", subject: str) -> str:
    match event["type"]:
        case "fact" if key := text_in(event, "key"):
            return f"{subject}\nkey {key}"
        case "fact":
            return f"{subject}\ntext {' '.join(text_in(event, 'content').casefold().split())}"
        case "stage_summary" if event.get("scope") == _WHOLE:
            return f"session {text_in(event, 'conversation_id')}"
        case "conversation_text":
            return f"transcript {text_in(event, 'conversation_id')}"
    return f"event {text_in(event, 'id')}"


def is_drawn(event: "EventFields") -> bool:
    """Tell whether a program drew a summary from a transcript: it stands where no agent wrote one."""
    return event["type"] == "stage_summary" and event.get("layer") == SESSION_END


def is_said(event: "EventFields") -> bool:
    """Tell whether a line says anything."""
    return any(_says(event.get(name)) for name in _STATES)


def _says(value: object) -> bool:
    """Tell whether a field has a text that is not blank, or a list one of them."""
    if isinstance(value, list):
        return any(isinstance(text, str) and text.strip() for text in value)
    return isinstance(value, str) and bool(value.strip())


def withdrawn(events: "Iterable[EventFields]") -> set[str]:
    """Find what is withdrawn: the aims in force."""
    known = {text_in(event, "id"): event for event in events}
    made = ((*order_of(one), one["type"] != "retraction", text_in(one, "target")) for one in known.values())
    return {aim_of(known[name]) for name, is_in_force in judged(made) if is_in_force} - {""}


def aim_of(event: "EventFields") -> str:
    """Name what a withdrawal takes away: an event by its id, all of a conversation, or a statement by its mark."""
    if target := text_in(event, "target"):
        return AN_EVENT + target
    if event["type"] == "rejected":
        mark = rejected_mark(*(text_in(event, name) for name in ("salt", "digest", "statement")))
        if mark:
            return A_STATEMENT + mark
    conversation = text_in(event, "conversation")
    return ALL_OF + conversation if conversation else ""


def rejected_in(gone: "Iterable[str]") -> set[str]:
    """Pick the marks of the statements among what is withdrawn."""
    return {aim.removeprefix(A_STATEMENT) for aim in gone if aim.startswith(A_STATEMENT)}


def cleared(event: "EventFields", rejected: "Collection[str]") -> "EventFields":
    """Take out of a line what states the same as something rejected, known by its mark."""
    salts = salts_in(rejected)
    if not salts:
        return event
    kept: dict[str, object] = dict(event)
    for name in _STATES:
        said = event.get(name)
        if isinstance(said, str) and not _allows(rejected, said, salts):
            kept[name] = ""
        elif isinstance(said, list):
            kept[name] = [text for text in texts_in(event, name) if _allows(rejected, text, salts)]
    return kept


def _allows(rejected: "Collection[str]", text: str, salts: set[str]) -> bool:
    return not any(mark in rejected for mark in marks_of(text, salts))


def order_of(event: "EventFields") -> tuple[str, str]:
    """Give the key of the one total order of events."""
    return text_in(event, "after") or text_in(event, "ts"), text_in(event, "id")


def is_about_user(fact: "EventFields", project: str) -> bool:
    """Tell whether a fact of this project is about the user, as `eventlog.events.Fact.effective_scope` tells it."""
    by_type = "project" if fact.get("memory_type", "W") == "W" else "user"
    return not project or (fact.get("scope") or by_type) == "user"
