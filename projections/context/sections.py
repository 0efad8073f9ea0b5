"""The parts of a context as sections of a text: titles, priorities, and the commands that show the rest; pure."""

from collections.abc import Iterator
from pathlib import PurePath
from shlex import quote

from eventlog.projections.base import Line
from eventlog.projections.context import plan
from eventlog.projections.context.budget import Section
from eventlog.projections.context.gather import Gathered
from eventlog.projections.context.model import ContextFile, FileLoadResult
from eventlog.projections.context.plan import bootstrap_file, used_name
from eventlog.projections.daily_notes import Local
from eventlog.projections.markdown_file import is_stamp
from eventlog.projections.statements import Group

# what matters most when not all of it fits
_BY_VALUE = (
    "BOOTSTRAP", "summaries", "facts", "project AGENTS", "project MEMORY", "MEMORY", "OWNER", "user", "AGENTS",
    "SPIRIT", "TOOLS", "notes",
)  # fmt: skip
_KINDS = {plan.AGENTS: "AGENTS", plan.SPIRIT: "SPIRIT", plan.OWNER: "OWNER", plan.USER_FILES: "user"}


def sections(parts: Gathered) -> list[Section]:
    """All that has anything to say, in the order it is told."""
    before = [_of_file(file, result, parts) for file, result in parts.loaded if file.load_order < plan.MEMORY]
    memories = [_of_memory(file, result, parts) for file, result in parts.loaded if file.load_order == plan.MEMORY]
    first = Section(
        parts.words.bootstrap, _lines(parts.request.bootstrap.split("\n")), _BY_VALUE.index("BOOTSTRAP"), _used(parts)
    )
    found = [first, *before, *_of_notes(parts), _of_facts(parts), *memories, *_of_summaries(parts)]
    return [section for section in found if section.lines]


def look(parts: Gathered) -> str:
    """The command that shows the same context once more, as the same listener may see it."""
    request = parts.request
    options = {
        "--project": request.project,
        "--session-type": parts.session_type.value if parts.shared else "",
        "--agent": request.agent,
    }
    given = "".join(f" {name} {quote(value)}" for name, value in options.items() if value)
    return f"{request.program} context{given}{request.elsewhere}"


def _used(parts: Gathered) -> str:
    """Where it is once it has been told."""
    path = bootstrap_file(parts.settings, parts.request.home).path
    return f"cat {quote(used_name(path, parts.request.now))}"


def _of_file(file: ContextFile, result: FileLoadResult, parts: Gathered) -> Section:
    kind = _KINDS.get(file.load_order, "TOOLS")
    if kind == "AGENTS" and file.root == parts.request.project:
        kind = "project AGENTS"
    told = _lines((result.content or "").split("\n"))
    return Section(f"{file.name} ({file.path})", told, _BY_VALUE.index(kind), f"cat {quote(file.path)}")


def _of_memory(file: ContextFile, result: FileLoadResult, parts: Gathered) -> Section:
    """Without its title, which is said already, and its stamp."""
    in_project = "projects" in PurePath(file.path).relative_to(file.root).parts
    title = parts.words.project_memory if in_project else parts.words.user_memory
    kind = "project MEMORY" if in_project else "MEMORY"
    texts = (result.content or "").split("\n")
    told = _lines([line for line in texts if not line.startswith("# ") and not is_stamp(line)])
    return Section(title, told, _BY_VALUE.index(kind), f"cat {quote(file.path)}")


def _of_notes(parts: Gathered) -> Iterator[Section]:
    for day, told in parts.notes:
        body = tuple(line for line in told[1:] if line.text)
        yield Section(parts.words.notes.format(day=day), body, _BY_VALUE.index("notes"))


def _of_facts(parts: Gathered) -> Section:
    told = tuple(Line(_bullet(one, parts.local), one.events) for one in parts.facts)
    return Section(parts.words.facts, told, _BY_VALUE.index("facts"))


def _of_summaries(parts: Gathered) -> Iterator[Section]:
    request = parts.request
    own = f"{request.program} query --type stage_summary --session {quote(request.session_id)}{request.elsewhere}"
    for title, told in parts.summaries:
        more = own if title == parts.words.own_summary else ""
        yield Section(title, told, _BY_VALUE.index("summaries"), more)


def _bullet(one: Group, local: Local) -> str:
    newest = one.statements[-1]
    return f"- [{newest.memory_type}][{local(newest.ts)[:10]}] {newest.text}"


def _lines(texts: list[str]) -> tuple[Line, ...]:
    """Without empty lines at either end."""
    text = "\n".join(texts).strip("\n")
    return tuple(map(Line, text.split("\n"))) if text.strip() else ()
