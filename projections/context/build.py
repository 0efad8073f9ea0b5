"""A context, built: gathered, fitted into the budget, and ready to be shown.

Imported inside agents' hooks: standard library only.
"""

from eventlog.fast.copies import replace
from eventlog.format import fence
from eventlog.format.marks import line_marks, says_something
from eventlog.format.text import encodable
from eventlog.hosts import protocol
from eventlog.projections.context.budget import FitResult, fit
from eventlog.projections.context.context_sections import ContextParts, command_for_all, sections
from eventlog.projections.context.once import said_by_people

TYPE_CHECKING = False
if TYPE_CHECKING:
    from eventlog.format.payloads import ContextInjected, KnownFile
    from eventlog.projections.context.sources import ContextSources


_LAST_OF_TWO_BYTES = "\uffff"


class ContextText:
    """The text of a context, the titles of what was cut, and the receipt of its sources."""

    def __init__(self, text: str, cut: list[str], receipt: "ContextInjected") -> None:
        self.text = text
        self.cut = cut
        self.receipt = receipt


def build(parts: "ContextSources") -> ContextText:
    """Fit everything into the budget."""
    request = parts.request
    fitted = _fitted(parts, request.budget) if request.budget else _taken(parts, parts.settings.context.budget_chars)
    saying = (line for line in fitted.shown if says_something(line.text))
    files = [_known_file(*file) for file in parts.known()]
    text, cut = encodable(fitted.text), list(map(encodable, fitted.cut))
    receipt: ContextInjected = {
        "digest": "",  # of the text, and its length: whoever appends the receipt fills them in
        "chars": len(text),
        "sources": list(dict.fromkeys(event for line in saying for event in line.sources)),
        "cut": cut,
        "files": files,
        "lines": line_marks(text for line in fitted.shown for text in (line.text, *parts.quotes.get(line.text, ()))),
        "session_type": "shared" if parts.shared else "main",
    }
    return ContextText(text, cut, receipt)


def _known_file(path: str, digest: str, as_of: str | None) -> "KnownFile":
    return {"path": path, "digest": digest, "as_of": as_of} if as_of else {"path": path, "digest": digest}


def _taken(parts: "ContextSources", budget: int) -> FitResult:
    """Fit it all into the budget and, beyond that, into what the host takes: a cut of its own would be anywhere."""
    encoding, most = protocol(parts.request.agent).most_at_start
    fitted = _fitted(parts, budget)
    while most and (size := _bytes_of(encodable(fitted.text), encoding)) > most:
        budget = min(budget - 1, budget * most // size)
        fitted = _fitted(parts, budget)
    return fitted


def _bytes_of(text: str, encoding: str) -> int:
    """Count the bytes of a text; without the codec of UTF-16, which takes long to load."""
    is_plain = encoding == "utf-16-le" and (text.isascii() or max(text) <= _LAST_OF_TWO_BYTES)
    return 2 * len(text) if is_plain else len(text.encode(encoding))


def _fitted(parts: "ContextSources", budget: int) -> FitResult:
    """Fit it all into the budget; our sections leave out what people's own files have, where those are shown."""
    request, locale = parts.request, parts.settings.locale
    around = len(fence.fenced("start", "", locale, ""))

    def fit_in(whole_parts: ContextParts) -> FitResult:
        room = max(budget - around, min(budget, len(request.instructions)))  # these matter more than all else
        fitted = fit(request.instructions, whole_parts.told, room, parts.words.phrases, command_for_all(parts))
        return replace(fitted, text=fence.context(fitted.head, encodable(fitted.body), locale, request.session_id))

    whole = sections(parts)
    first = fitted = fit_in(whole)
    shown = set(fitted.shown)
    theirs = (line for section in whole.theirs for line in section.lines if line in shown)
    quoted = said_by_people(theirs, whole.ours, parts.request.project_name)
    while quoted := quoted.intersection(fitted.shown):
        fitted = fit_in(sections(parts, quoted))
        if quoted.issubset(fitted.shown):  # a shorter section of ours may leave less to theirs
            return fitted
    return first
