"""A session's context, with the shell it needs: people's files, the store's rows, the clock.

`build` only looks; `begin` is the real start of a session: what is used once is used up.
Imported while a session waits to begin: standard library only; what programs are given is made when it is asked for.
"""

from time import monotonic

from eventlog.app.build.user_files import take_bootstrap
from eventlog.app.serve.context_loader import Loader
from eventlog.app.serve.current_lines import CurrentLines
from eventlog.fast.copies import replace
from eventlog.hooks import conversation
from eventlog.projections.context.build import build as fit_parts
from eventlog.projections.context.request import MAIN, SHARED
from eventlog.projections.context.sources import gather, window

TYPE_CHECKING = False
if TYPE_CHECKING:
    from eventlog.format.payloads import ContextInjected
    from eventlog.projections.context.agent_context import AgentContext
    from eventlog.projections.context.request import ContextRequest
    from eventlog.projections.context.sources import ContextSources
    from eventlog.settings.schema import Settings
    from eventlog.store import Store


class ContextResult:
    """A context: its text, the receipt of its sources, and the parts it was made of."""

    def __init__(self, parts: "ContextSources", text: str, receipt: "ContextInjected", took_ms: int) -> None:
        self.parts = parts
        self.text = text
        self.cut = receipt["cut"]
        self.receipt = receipt
        self.took_ms = took_ms

    @property
    def context(self) -> "AgentContext":
        """Return it in the shape that programs are given."""
        from eventlog.projections.context.agent_context import as_given

        return as_given(self.parts, self.text, self.cut, self.took_ms)


def build(
    store: "Store", settings: "Settings", request: "ContextRequest", *, creates: bool = False, certain: bool = False
) -> ContextResult:
    """Build the context; no file and no line of the log makes it fail.

    With `creates`, missing files of the user are made from their templates. Where only what is `certain` is wanted,
    neither rows nor the log are read.
    """
    begun = monotonic()
    parts = gathered(store, settings, request, creates=creates, certain=certain)
    text, receipt = fit_parts(parts)
    return ContextResult(parts, text, receipt, took_ms=round((monotonic() - begun) * 1000))


def gathered(
    store: "Store", settings: "Settings", request: "ContextRequest", *, creates: bool = False, certain: bool = False
) -> "ContextSources":
    """Load what a context is made of."""
    listens = _session_type_of(store, request)
    within = window(settings.context, request.now)
    source = CurrentLines(store, request, within, shared=listens == SHARED, certain=certain)
    try:
        loader = Loader(store.cached("context"), request.now, creates=creates)
        return gather(store, settings, request, listens, loader.load, source)
    finally:
        source.close()


def begin(store: "Store", settings: "Settings", request: "ContextRequest", *, certain: bool = False) -> ContextResult:
    """Build the context of a session that starts now; the receipt is the caller's, once the text has been given.

    What only the user is told once waits for a session to which nobody else listens.
    """
    listens = _session_type_of(store, request)
    first = take_bootstrap(settings, request.home, request.now) if listens == MAIN else ""
    request_now = replace(request, session_type=listens, bootstrap=first)
    return build(store, settings, request_now, creates=settings.context.templates, certain=certain)


def _session_type_of(store: "Store", request: "ContextRequest") -> str:
    """Find who listens: as asked for, else by the log; shared once is shared for good."""
    if request.session_type:
        return str(request.session_type)
    if not request.session_id:
        return MAIN
    try:
        types = [event.get("session_type") for event in conversation.all_events(store, request.session_id)]
    except (OSError, conversation.TooMuch):
        return MAIN
    return SHARED if SHARED in types else MAIN
