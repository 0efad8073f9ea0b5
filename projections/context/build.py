"""A context, built: its parts as sections of a text, with titles, priorities and the commands that show the rest.

They are fitted into the budget, and ready to be shown. Imported inside agents' hooks: standard library only.
"""

from eventlog.fast.copies import Values, replace
from eventlog.format import fence
from eventlog.format.fence import without_tags
from eventlog.format.marks import line_marks, says_something
from eventlog.format.text import cut, encodable, harmless, one_line
from eventlog.hosts import protocol
from eventlog.hosts.save_commands import shell_word
from eventlog.projections.context import context_files
from eventlog.projections.context.budget import ContextSection, FitResult, fit
from eventlog.projections.context.context_files import bootstrap_file, is_template
from eventlog.projections.context.earlier_sessions import EarlierSession
from eventlog.projections.context.once import repeated_lines, without_repetitions
from eventlog.projections.line import Line
from eventlog.projections.views.markdown import ZEROS, as_text, is_stamp

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Collection, Iterator, Sequence

    from eventlog.format.local_time import Local
    from eventlog.format.payloads import ContextInjected, KnownFile
    from eventlog.projections.context.context_files import ContextFile, LoadResult
    from eventlog.projections.context.sources import ContextSources
    from eventlog.projections.current.distinct_facts import DistinctFact

# what matters most when not all of it fits
_BY_VALUE = (
    "before", "todos", "BOOTSTRAP", "last", "bearings", "look up", "own", "facts", "project AGENTS", "project MEMORY",
    "sessions", "MEMORY", "OWNER", "user", "AGENTS", "SPIRIT", "TOOLS", "notes",
)  # fmt: skip
_FACTS = _BY_VALUE.index("facts")
_FIRST = ("todos", "last", "bearings", "facts")  # where a thing that is said several times is told
_KINDS = {
    context_files.AGENTS: "AGENTS",
    context_files.SPIRIT: "SPIRIT",
    context_files.OWNER: "OWNER",
    context_files.USER_FILES: "user",
}

_TIME = " 0000-00-00 00:00"
_TIMED = "- 00:00 "  # a bullet of something that happened at a time
_BRANCH_CHARS = 60
_LAST_OF_TWO_BYTES = "\uffff"


def build(parts: "ContextSources") -> "tuple[str, ContextInjected]":
    """Fit everything into the budget; return the text and the receipt of its sources."""
    request = parts.request
    fitted = _fitted(parts, request.budget) if request.budget else _taken(parts, parts.settings.context.budget_chars)
    saying = (line for line in fitted.shown if says_something(line.text))
    text = encodable(fitted.text)
    files: list[KnownFile] = [
        {"path": path, "digest": digest, "as_of": as_of} if as_of else {"path": path, "digest": digest}
        for path, digest, as_of in parts.known()
    ]
    receipt: ContextInjected = {
        "digest": "",  # of the text, and its length: whoever appends the receipt fills them in
        "chars": len(text),
        "sources": list(dict.fromkeys(event for line in saying for event in line.sources)),
        "cut": list(map(encodable, fitted.cut)),
        "files": files,
        "lines": line_marks(text for line in fitted.shown for text in (line.text, *parts.quotes.get(line.text, ()))),
        "session_type": "shared" if parts.shared else "main",
    }
    return text, receipt


def _taken(parts: "ContextSources", budget: int) -> FitResult:
    """Fit it all into the budget and, beyond that, into what the host takes: a cut of its own would be anywhere."""
    encoding, limit = protocol(parts.request.agent).most_at_start
    fitted = _fitted(parts, budget)
    while limit and (size := _bytes_of(encodable(fitted.text), encoding)) > limit:
        budget = min(budget - 1, budget * limit // size)
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

    def fit_in(whole_parts: _ContextParts) -> FitResult:
        room = max(budget - around, min(budget, len(request.instructions)))  # these matter more than all else
        fitted = fit(request.instructions, whole_parts.shown, room, parts.words, _command_for_all(parts))
        recorded = encodable(fitted.body)
        quoted = fence.fenced("start", recorded, locale, request.session_id) if recorded else ""
        return replace(fitted, text=fitted.head + quoted if fitted.head else quoted.removeprefix("\n"))

    whole = _sections(parts)
    first = fitted = fit_in(whole)
    shown = set(fitted.shown)
    theirs = (line for section in whole.theirs for line in section.lines if line in shown)
    quoted = repeated_lines(theirs, whole.of_log, parts.request.project_name)
    while quoted := quoted.intersection(fitted.shown):
        fitted = fit_in(_sections(parts, quoted))
        if quoted.issubset(fitted.shown):  # a shorter section of ours may leave less to theirs
            return fitted
    return first


class _ContextParts(Values):
    """The sections of a context in reading order.

    First what the session is about, for hosts that take no more than a beginning; then what people wrote, then what
    else is known from the log.
    """

    first: list[ContextSection]
    theirs: list[ContextSection]
    rest: list[ContextSection]

    @property
    def of_log(self) -> list[ContextSection]:
        """List those from the log."""
        return [*self.first, *self.rest]

    @property
    def shown(self) -> list[ContextSection]:
        """List the sections that have any lines, as they are shown: a tag in them is text."""
        return [
            *(_as_plain_text(section) for section in self.first if section.lines),
            *(_as_plain_text(section, of_hosts=True) for section in self.theirs if section.lines),
            *(_as_plain_text(section) for section in self.rest if section.lines),
        ]


def _sections(parts: "ContextSources", quoted: "Collection[Line]" = ()) -> _ContextParts:
    """Make all sections; statements that are `quoted` from people's own files are not repeated."""
    files = [_of_file(file, result, parts) for file, result in parts.loaded if file.load_order < context_files.MEMORY]
    # another file, or the same by another path, may have exactly these lines
    before = [file for number, file in enumerate(files) if all(file.lines != other.lines for other in files[:number])]
    memories = [
        _of_memory(file, result, parts) for file, result in parts.loaded if file.load_order == context_files.MEMORY
    ]
    bootstrap = ContextSection(
        parts.words.bootstrap,
        _lines(parts.request.bootstrap.split("\n")),
        _BY_VALUE.index("BOOTSTRAP"),
        f"cat {shell_word(bootstrap_file(parts.settings, parts.request.home, parts.request.now)[1])}",
    )
    bullets = (Line(_bullet(fact, parts.local), fact.sources) for fact in parts.facts)
    facts = ContextSection(parts.words.facts, tuple(bullets), _FACTS)
    more = f"{parts.request.program} sessions{parts.request.store_option}"
    earlier = ContextSection(parts.words.sessions, tuple(parts.sessions), _BY_VALUE.index("sessions"), more)
    rest = [*_of_notes(parts), facts, *memories, _of_own(parts), earlier]  # as many sessions as fit
    branch = cut(one_line(parts.request.work.branch), _BRANCH_CHARS)
    on_what = parts.words.on_branch.format(branch=branch) if branch else parts.words.on_files
    first = [
        ContextSection(parts.words.before, tuple(parts.before), _BY_VALUE.index("before"), urgent=True),
        ContextSection(parts.words.last_session, tuple(parts.last), _BY_VALUE.index("last")),
        ContextSection(parts.words.todos, tuple(parts.todos), _BY_VALUE.index("todos"), urgent=True),
        ContextSection(on_what, tuple(_bearing_lines(parts)), _BY_VALUE.index("bearings")),
        ContextSection(parts.words.look_up, tuple(_look_up(parts, rest)), _BY_VALUE.index("look up")),
    ]
    theirs = [line for section in before for line in section.lines if line in quoted]
    theirs += (Line(line) for text in parts.loaded_by_host for line in text.splitlines())
    limit = parts.request.budget or parts.settings.context.budget_chars
    shown = without_repetitions(
        [*first, *rest], list(map(_rank, (*first, *rest))), parts.request.project_name, theirs, limit
    )
    return _ContextParts(shown[: len(first)], [bootstrap, *before], shown[len(first) :])


def _as_plain_text(section: ContextSection, *, of_hosts: bool = False) -> ContextSection:
    """Return the section with its text made harmless; a title may name a branch, a session or a file."""
    lines = section.lines
    if any("<" in line.text for line in lines):
        lines = tuple(replace(line, text=without_tags(line.text, of_hosts=of_hosts)) for line in lines)
    title, more = without_tags(harmless(section.title)), without_tags(harmless(section.more))
    return replace(section, title=title, lines=lines, more=more)


def _rank(section: ContextSection) -> int:
    """Rank the sections in which a repeated statement may stay: a fact as a fact, a to-do as a to-do."""
    kind = _BY_VALUE[section.priority]
    return _FIRST.index(kind) - len(_FIRST) if kind in _FIRST else section.priority


def _command_for_all(parts: "ContextSources") -> str:
    """Return the command that shows the same context once more, as the same listener may see it."""
    request = parts.request
    options = {
        "--project": request.project,
        "--session-type": parts.session_type if parts.shared else "",
        "--agent": request.agent,
    }
    options_given = "".join(f" {name} {shell_word(value)}" for name, value in options.items() if value)
    return without_tags(harmless(f"{request.program} context{options_given}{request.store_option}"))


def _of_file(file: "ContextFile", result: "LoadResult", parts: "ContextSources") -> ContextSection:
    kind = _KINDS.get(file.load_order, "TOOLS")
    if kind == "AGENTS" and file.root == parts.request.project:
        kind = "project AGENTS"
    content = result.content or ""
    lines = () if is_template(content) else _lines(content.split("\n"))
    return ContextSection(f"{file.name} ({file.path})", lines, _BY_VALUE.index(kind), f"cat {shell_word(file.path)}")


def _of_memory(file: "ContextFile", result: "LoadResult", parts: "ContextSources") -> ContextSection:
    """Build the section of a MEMORY.md, without its stamp, and without its title, which the heading repeats."""
    in_project = "projects" in file.path.removeprefix(file.root).split("/")
    title = parts.words.project_memory if in_project else parts.words.user_memory
    kind = "project MEMORY" if in_project else "MEMORY"
    texts = (result.content or "").split("\n")
    lines = _lines([line for line in texts if not line.startswith("# ") and not is_stamp(line)])
    return ContextSection(title, lines, _BY_VALUE.index(kind), f"cat {shell_word(file.path)}", in_parts=True)


def _of_notes(parts: "ContextSources") -> "Iterator[ContextSection]":
    """Make the sections of notes; finished work belongs to the lines of sessions, where these are shown."""
    tells_sessions = bool(parts.own or parts.last)
    for day, lines in parts.notes:
        shown = (line for line in lines[1:] if line.text)
        body = tuple(line for line in shown if not (tells_sessions and line.text[:8].translate(ZEROS) == _TIMED))
        yield ContextSection(parts.words.notes.format(day=day), body, _BY_VALUE.index("notes"))


def _of_own(parts: "ContextSources") -> ContextSection:
    request = parts.request
    options = f"--session {shell_word(request.session_id)}{request.store_option}"
    more = f"{request.program} query --type stage_summary {options}"
    lines = [line for line in parts.own if not _is_field(line.text) or _TIME in line.text.translate(ZEROS)]
    return ContextSection(parts.words.own_summary, tuple(lines), _BY_VALUE.index("own"), more)


def _is_field(line: str) -> bool:
    """Return whether a line names the session or its project: the title does so already."""
    name, ends, _ = line[2:].partition(":** ")
    return line.startswith("**") and bool(ends and name) and "*" not in name


def _bullet(fact: "DistinctFact", local: "Local") -> str:
    newest = fact.statements[-1]
    return f"- [{newest.memory_type}][{local(newest.ts)[:10]}] {newest.text}"


def _lines(texts: list[str]) -> tuple[Line, ...]:
    """Split into lines, without empty lines at either end."""
    text = "\n".join(texts).strip("\n")
    return tuple(map(Line, text.split("\n"))) if text.strip() else ()


def _bearing_lines(parts: "ContextSources") -> "Iterator[Line]":
    """List what bears on the work: facts, and sessions as all sessions are shown, with their decisions."""
    for bearing in parts.bearings:
        if bearing.memory_type:
            day = parts.local(bearing.ts)[:10]
            yield Line(f"- [{bearing.memory_type}][{day}] {_plain(bearing.text)}", bearing.sources)
        else:
            decisions = [Line(f"- {_plain(text)}", bearing.sources) for text in bearing.decisions]
            key = bearing.conversation_id, bearing.ts, bearing.topic, bearing.text
            session = EarlierSession(*key, bearing.files, bearing.sources, decisions)
            yield from session.in_full(parts.local, parts.request.project, minute=False)


def _look_up(parts: "ContextSources", rest: "Sequence[ContextSection]") -> "Iterator[Line]":
    """Write in one line how to find what was left out, if anything was; only for the user."""
    if parts.shared or not (parts.index or any(section.lines for section in rest)):
        return
    words, request = parts.words, parts.request
    search = words.search_by_tool if request.has_tools else words.search
    commands = search.format(program=request.program, option=request.store_option)
    index = words.index.format(path=parts.index) if parts.index else ""
    yield Line(f"{commands}{index}{words.full_stop}")


def _plain(text: str) -> str:
    return as_text(one_line(text))
