"""A person decides about a staged entry: the decision is an event, and the file follows it."""

import shlex
from collections.abc import Sequence
from typing import Literal, NamedTuple

from eventlog.app.build.apply import UNMATCHED, apply, read_knowledge
from eventlog.app.build.managed_file import ApplyResult
from eventlog.app.build.staging import StagedEntry, as_edited, keep, path_of, unstage
from eventlog.app.build.storage import storage_named
from eventlog.app.naming.references import LAST
from eventlog.app.naming.short_ids import is_part_of
from eventlog.app.open_store import OpenStore
from eventlog.format.errors import BadRequest, EventLogError
from eventlog.format.events import HUMAN, EntryResolved, order
from eventlog.projections.bases import section_edits, sections
from eventlog.projections.bases.plan_file import change_of

Choice = Literal["apply", "discard", "edited"]


class ResolveResult(NamedTuple):
    """The decision as it stands in the log, and what it led to."""

    event: EntryResolved
    applied: ApplyResult


def waiting(opened: OpenStore, name: str = "") -> list[StagedEntry]:
    """List what waits for a person, oldest first; `name`: a part of an id, `last`, or the name of a staged file."""
    found = sorted(apply(opened, dry_run=True).staged, key=lambda staged: order(staged.entry))
    if name == LAST:
        return found[-1:]
    file = name.rpartition("/")[2]
    return [staged for staged in found if not name or is_part_of(staged.entry.id, name) or staged.name == file]


def the_one(found: Sequence[StagedEntry], name: str) -> StagedEntry:
    """Pick the entry that is meant, of those that wait under a name; raises BadRequest where it is not one."""
    if len(found) == 1:
        return found[0]
    if not found and not name:
        raise BadRequest("nothing waits")
    if not found:
        raise BadRequest(f"nothing staged is called {name!r}", hint="`eventlog resolve` lists what waits")
    names = "\n".join(f"{staged.entry.id}  {staged.section}" for staged in found)
    raise BadRequest(f"{len(found)} entries wait; say which one", hint=names)


def compare(opened: OpenStore, staged: StagedEntry) -> list[tuple[str, str]]:
    """Pair each section the entry could mean, as its file has it now, with what the entry would make of it.

    "" for a section that is not there. Raises BadRequest, NotStored or Refused where a file cannot be read.
    """
    key = staged.entry.key
    declared = as_edited(path_of(opened.store, staged), staged.entry)
    page = _page(opened, staged)
    operation, content = change_of(declared)
    wanted = "" if operation == "delete" else f"{'#' * key.level} {key.heading}\n\n{sections.canonical(content)}\n"
    found = page.candidates(key.heading, key.level, key.under)
    return [(_as_it_is(page, there, whole=operation == "delete"), wanted) for there in found] or [("", wanted)]


def headings_above(opened: OpenStore, staged: StagedEntry) -> list[tuple[str, ...]]:
    """List the headings above each section the entry could mean, where there are several; raises as `compare`."""
    key = staged.entry.key
    found = _page(opened, staged).candidates(key.heading, key.level, key.under)
    return [section.above for section in found] if len(found) > 1 else []


def _page(opened: OpenStore, staged: StagedEntry) -> sections.Page:
    target = storage_named(staged.entry, opened.settings.knowledge_bases, opened.machine.home)
    return sections.Page((target.read() if target else None) or b"")


def _as_it_is(page: sections.Page, section: sections.Section, *, whole: bool) -> str:
    below = f"\n{page.source_below(section)}\n" if whole and section.end < section.last else ""
    return f"{'#' * section.level} {section.source}\n\n{page.text(section)}\n{below}"


def decide(
    opened: OpenStore,
    staged: StagedEntry,
    choice: Choice,
    content: str | None = None,
    under: tuple[str, ...] | None = None,
) -> ResolveResult:
    """Store the decision and carry it out; raises BadRequest or NotStored, and Ambiguous before anything is stored.

    `under` names headings above the section that is meant, of several. `apply` takes the text of the staged file: where
    a person has edited that, the decision is `edited`. A `content` that cannot be applied is kept in the staged file.
    """
    path, typed = path_of(opened.store, staged), content
    if choice == "apply":
        edited = as_edited(path, staged.entry)
        if change_of(edited) != change_of(staged.entry):
            choice, content = "edited", edited.content
    if choice != "discard":
        _refuse_ambiguous(opened, staged, under)
    if choice != "discard" and (refusal := _refusal(staged, content)):
        if typed is not None:
            keep(opened.store, staged, typed)
        raise refusal
    event = EntryResolved(
        conversation_id=HUMAN,
        agent=HUMAN,
        project=staged.entry.project,
        target=staged.entry.id,
        choice=choice,
        content=content if choice == "edited" else None,
        under=under,
    )
    apply(opened)  # what the person decided against must be in the log before the decision is
    stored = opened.log.put([event])[0].event
    assert isinstance(stored, EntryResolved)
    unstage(path)
    return ResolveResult(stored, apply(opened, state=read_knowledge(opened.log, opened.settings)))


def _refuse_ambiguous(opened: OpenStore, staged: StagedEntry, under: tuple[str, ...] | None) -> None:
    """Raise Ambiguous where several sections are meant, or BadRequest where none stands under those headings."""
    key = staged.entry.key
    try:
        page = _page(opened, staged)
    except EventLogError:  # what cannot be read now is applied when it can
        return
    found = page.candidates(key.heading, key.level, key.under if under is None else under)
    if len(found) > 1:
        raise sections.Ambiguous(sections.ambiguity(found), hint=_way_out(found))
    if under is not None and not found:
        there = page.candidates(key.heading, key.level, key.under)
        told = sections.ambiguity(there) if there else f"there is no section {key.heading!r}"
        raise BadRequest(f"none stands under {' > '.join(under)}", where=staged.section, hint=told)


def _way_out(found: Sequence[sections.Section]) -> str:
    """Tell how to name one of several sections; of two with the same headings above no option tells them apart."""
    paths = [section.above for section in found]
    single = [above for above in paths if paths.count(above) == 1]
    if not single:
        return "give one of them another heading in the file, or discard the entry"
    return "say which one: " + " or ".join(under_options(above) for above in single)


def under_options(above: Sequence[str]) -> str:
    """Spell the options that name the headings above a section, as a shell takes them."""
    return " ".join(f"--under {shlex.quote(heading)}" for heading in above) or "--under ''"


def _refusal(staged: StagedEntry, content: str | None) -> BadRequest | None:
    if UNMATCHED in staged.reason:
        return BadRequest(staged.reason, hint="discard it, or name the file in `knowledge_bases` first")
    key = staged.entry.key
    refused = section_edits.refusal(key.heading, key.level, staged.entry.content if content is None else content)
    return BadRequest(refused, hint=f"correct it in {staged.name} or with --edit, or discard it") if refused else None
