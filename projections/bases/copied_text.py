"""Texts that came with a copy of a file, of a home or of a whole store: nobody here wrote them; pure.

A section says, word for word, what the log tells of it on another machine. It is told as an arrival that names what was
`found`, and has from then on the history it has there (`ledgers`).
"""

from collections import Counter
from collections.abc import Collection, Iterator

from msgspec.structs import replace

from eventlog.format.events import EntryApplied
from eventlog.projections.bases import sections
from eventlog.projections.bases.ledger import Ledger, Told, digest_of, key_of
from eventlog.projections.bases.sections import Page, Section, SectionId


def came_along(ledger: Ledger, path: str, page: Page, known: Collection[Section]) -> Iterator[EntryApplied]:
    """Yield what tells of sections the log knows nothing of here, and that are as they were on another machine.

    Of several machines it is the one whose file is most like this. What was removed there is missing here as well.
    """
    alike = Counter(section.key for section in page.sections)
    new = [one for one in page.sections if alike[one.key] == 1 and one not in known and not ledger.knows(one.key)]
    if not (new and ledger.record.elsewhere):
        return
    here = {section.key: sections.digest(page.text(section)) for section in new}
    told = {(one.replica, key_of(one), digest_of(one)): one for one in ledger.record.elsewhere}
    last = {(one.replica, key_of(one)): one for one in ledger.record.elsewhere}
    agree = Counter(machine for (machine, key), one in last.items() if here.get(key, "") == digest_of(one))
    nearest = sorted({machine for machine, _ in last}, key=lambda machine: (-agree[machine], machine or ""))
    used = set()
    for key, digest in here.items():
        same = [(machine, key, digest) for machine in nearest if (machine, key, digest) in told]
        same += [
            at
            for at in told
            if at[2] == digest and _has_moved(at[1], key) and not (alike[at[1]] or ledger.knows(at[1]))
        ]
        if same:
            used.add(same[0][0])
            yield _found(told[same[0]], path)
    for (machine, key), one in last.items():
        if machine == nearest[0] and machine in used and not (digest_of(one) or alike[key] or ledger.knows(key)):
            yield _found(one, path)


def _has_moved(from_: SectionId, to: SectionId) -> bool:
    """Tell whether one may be the other, below other headings: those may have gone since."""
    return from_[:2] == to[:2] and from_ != to


def new_here(ledger: Ledger, path: str, key: SectionId, body: str | None) -> EntryApplied | None:
    """Tell how a section that is managed here got this text: by an entry that has not come this way before, if so.

    A text that was here before is none: a person may go back to it.
    """
    for told in reversed(ledger.record.elsewhere) if body else ():
        is_text = isinstance(told, EntryApplied) and key_of(told) == key and told.digest == sections.digest(body)
        if is_text and isinstance(told, EntryApplied) and ledger.is_news(key, told.target):
            return _found(told, path)
    return None


def _found(told: Told, path: str) -> EntryApplied:
    """Build the event that says that a section was found as it is told of on another machine."""
    if isinstance(told, EntryApplied):
        return replace(told, id="", ts="", replica=None, path=path, found=told.id)
    at = told.key
    return EntryApplied(
        conversation_id=told.conversation_id,
        project=told.project,
        target=told.id,
        path=path,
        heading=at.heading,
        level=at.level,
        digest=digest_of(told),
        under=at.under,
        found=told.id,
    )
