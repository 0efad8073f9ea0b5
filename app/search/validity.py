"""The lines of the log that are withdrawn, or state what a person does not want said.

Imported inside agents' hooks: standard library only, and events as the lines of the log have them.
"""

from eventlog.format.marks import effective_withdrawals, marks_of, rejected_mark, salts_in, stand_in
from eventlog.projections.search.findable import text_in, texts_in

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Collection, Iterable

    from eventlog.projections.search.findable import EventFields

AN_EVENT, ALL_OF, A_STATEMENT = "event ", "conversation ", "statement "  # what aims begin with
_STATES = ("content", "topic", "summary", "decisions", "todos", "title", "prompts", "closing")


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
    return {aim_of(known[name]) for name, is_in_force in effective_withdrawals(made) if is_in_force} - {""}


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
    return _without(event, rejected, lambda _text, _salts: "")


def marked(event: "EventFields", rejected: "Collection[str]") -> "EventFields":
    """Put what stands in for it into the place of all that `cleared` takes out: it has its marks, and no words."""
    return _without(event, rejected, stand_in)


def _without(
    event: "EventFields", rejected: "Collection[str]", instead: "Callable[[str, set[str]], str]"
) -> "EventFields":
    salts = salts_in(rejected)
    if not salts:
        return event
    kept: dict[str, object] = dict(event)
    for name in _STATES:
        said = event.get(name)
        if isinstance(said, str) and not _allows(rejected, said, salts):
            kept[name] = instead(said, salts)
        elif isinstance(said, list):
            texts = ((text, _allows(rejected, text, salts)) for text in texts_in(event, name))
            kept[name] = [left for text, allowed in texts if (left := text if allowed else instead(text, salts))]
    return kept


def _allows(rejected: "Collection[str]", text: str, salts: set[str]) -> bool:
    return not any(mark in rejected for mark in marks_of(text, salts))


def order_of(event: "EventFields") -> tuple[str, str]:
    """Give the key of the one total order of events."""
    return text_in(event, "after") or text_in(event, "ts"), text_in(event, "id")


def is_about_user(fact: "EventFields", project: str) -> bool:
    """Tell whether a fact of this project is about the user, as `Fact.effective_scope` tells it."""
    by_type = "project" if fact.get("memory_type", "W") == "W" else "user"
    return not project or (fact.get("scope") or by_type) == "user"
