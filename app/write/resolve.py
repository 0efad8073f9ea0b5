"""Resolve a staged entry: append a person's decision, then apply it."""

import shlex
from collections.abc import Sequence
from typing import Literal, NamedTuple

from eventlog.app.build.apply import UNMATCHED, apply
from eventlog.app.build.apply_result import ApplyResult
from eventlog.app.build.staging import StagedEntry
from eventlog.app.build.storage import storage_of
from eventlog.app.naming.references import LAST, is_part_of
from eventlog.app.open_store import OpenStore
from eventlog.format.errors import BadRequest, EventLogError
from eventlog.format.events import HUMAN, EntryResolved
from eventlog.format.timestamps import order
from eventlog.projections.bases.base_file import BaseFile
from eventlog.projections.bases.plan_file import change_of
from eventlog.projections.bases.section_edits import refused_content, refused_heading
from eventlog.projections.bases.sections import Ambiguous, Page, Section, canonical
from eventlog.store.files import remove

Choice = Literal["apply", "discard", "edited"]


class _ResolveResult(NamedTuple):
    """The stored decision, and the changes that followed from it."""

    event: EntryResolved
    applied: ApplyResult


def waiting(opened: OpenStore, name: str = "") -> list[StagedEntry]:
    """List the entries that wait, oldest first; `name`: a part of an id, `last`, or the name of a staged file."""
    found = sorted(apply(opened, dry_run=True).staged, key=lambda staged: order(staged.entry))
    if name == LAST:
        return found[-1:]
    file = name.rpartition("/")[2]
    return [staged for staged in found if not name or is_part_of(staged.entry.id, name) or staged.name == file]


def pick(found: Sequence[StagedEntry], name: str) -> StagedEntry:
    """Return the only entry found under a name; raises BadRequest for none or several."""
    if len(found) == 1:
        return found[0]
    if not found and name in ("", LAST):
        raise BadRequest("nothing waits")
    if not found:
        raise BadRequest(f"nothing staged is called {name!r}", hint="`eventlog resolve` lists what waits")
    names = "\n".join(f"{staged.entry.id}  {staged.section}" for staged in found)
    raise BadRequest(f"{len(found)} entries wait; say which one", hint=names)


def compare(opened: OpenStore, staged: StagedEntry) -> list[tuple[str, str]]:
    """Pair each section that the entry could mean, as its file has it now, with the text the entry would write.

    An absent section is "". Raises BadRequest, NotStored or Refused where a file cannot be read.
    """
    key, page = staged.entry.key, _page(opened, staged)
    operation, content = change_of(staged.read(opened.store))
    found = page.candidates(key.heading, key.level, key.under)
    if operation == "delete":
        sources = [
            _source(key.level, section.source, page.text(section), page.source_below(section)) for section in found
        ]
        return [(source, "") for source in sources or [""]]
    text = canonical(content)
    pairs = [(_source(key.level, at.source, page.text(at)), _source(key.level, at.source, text)) for at in found]
    return pairs or [("", _source(key.level, key.heading, text))]


def _source(level: int, heading: str, *texts: str) -> str:
    return "\n\n".join(filter(None, (f"{'#' * level} {heading}", *texts))) + "\n"


def ways_out(opened: OpenStore, staged: StagedEntry) -> list[str]:
    """List the options that choose among several sections the entry could mean; raises as `compare` does."""
    key = staged.entry.key
    return _ways(_page(opened, staged).candidates(key.heading, key.level, key.under))


def _ways(found: Sequence[Section]) -> list[str]:
    """List the options for each that no other has the same headings above."""
    paths = [section.key.under for section in found]
    single = [section.above for section, path in zip(found, paths, strict=True) if paths.count(path) == 1 < len(found)]
    return [" ".join(f"--under {shlex.quote(heading)}" for heading in above) or "--under ''" for above in single]


def decide(
    opened: OpenStore,
    staged: StagedEntry,
    choice: Choice,
    content: str | None = None,
    under: tuple[str, ...] | None = None,
) -> _ResolveResult:
    """Append the decision and apply it; raises BadRequest or NotStored, and Ambiguous before anything is stored.

    `under` names headings above the section that is meant, of several. `apply` takes the text of the staged file: if a
    person has edited it, the decision is `edited`. A `content` that cannot be applied is saved in the staged file.
    """
    typed = content
    if choice == "apply":
        edited = staged.read(opened.store)
        if change_of(edited) != change_of(staged.entry):
            choice, content = "edited", edited.content
    if choice != "discard":
        _refuse_ambiguous(opened, staged, under)
        if refusal := _refusal(staged, content):
            if typed is not None:
                staged.write(opened.store, typed)
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
    apply(opened)  # the log must have the text that the person decided against before it has the decision
    stored = opened.log.put([event])[0].event
    assert isinstance(stored, EntryResolved)
    remove(str(staged.path(opened.store)), must=True)
    return _ResolveResult(stored, apply(opened))


def _page(opened: OpenStore, staged: StagedEntry) -> Page:
    bases = opened.settings.knowledge_bases
    place = BaseFile.of(staged.entry.key, staged.entry.project, bases)
    target = storage_of(place, bases, opened.machine.home) if place else None
    return Page((target.read() if target else None) or b"")


def _refuse_ambiguous(opened: OpenStore, staged: StagedEntry, under: tuple[str, ...] | None) -> None:
    """Raise Ambiguous where the entry means several sections, BadRequest where it means none under those headings."""
    key = staged.entry.key
    try:
        page = _page(opened, staged)
    except EventLogError:  # a file that cannot be read now is changed when it can
        return
    found = page.candidates(key.heading, key.level, key.under if under is None else under)
    if len(found) > 1:
        ways = " or ".join(_ways(found))
        discard = "give one of them another heading in the file, or discard the entry"
        raise Ambiguous(found, hint=f"say which one: {ways}" if ways else discard)
    if under is not None and not found:
        others = page.candidates(key.heading, key.level, key.under)
        hint = Ambiguous(others).what if others else f"there is no section {key.heading!r}"
        raise BadRequest(f"none stands under {' > '.join(under)}", where=staged.section, hint=hint)


def _refusal(staged: StagedEntry, content: str | None) -> BadRequest | None:
    if UNMATCHED in staged.reason:
        return BadRequest(staged.reason, hint="discard it, or name the file in `knowledge_bases` first")
    key, text = staged.entry.key, staged.entry.content if content is None else content
    refused = refused_heading(key.heading, key.level) or refused_content(text or "")
    return BadRequest(refused, hint=f"correct it in {staged.name} or with --edit, or discard it") if refused else None
