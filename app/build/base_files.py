"""Which files on this machine the knowledge bases of a log are."""

from contextlib import suppress
from pathlib import Path, PurePath
from typing import NamedTuple

from eventlog.app.build.storage import BaseStorage, LocalFile, Refused, storage_of
from eventlog.app.open_store import OpenStore
from eventlog.projections.bases.ledger import Ledger
from eventlog.projections.bases.ledgers import ledgers
from eventlog.projections.bases.names import BaseFile, is_in_projects
from eventlog.projections.current.knowledge_events import Knowledge


class BaseTarget(NamedTuple):
    """A file of a knowledge base: which it is, what the log says of it, and where it lies."""

    place: BaseFile
    ledger: Ledger
    target: BaseStorage


def base_files(opened: OpenStore, name: str) -> list[Path]:
    """Find the files on this machine of the knowledge base that is called so, or whose file is."""
    bases, found = opened.settings.knowledge_bases, []
    for base in bases:
        with suppress(Refused):
            target = storage_of(BaseFile(base), bases, opened.machine.home) if not is_in_projects(bases[base]) else None
            if isinstance(target, LocalFile) and name in (base, PurePath(target.shown).name):
                found.append(Path(target.identity))
    return found


def base_targets(opened: OpenStore, state: Knowledge) -> list[BaseTarget]:
    """List every knowledge base the log says anything of, and its file; those that may not be written are left out."""
    found = []
    for place, ledger in ledgers(state, opened.settings.knowledge_bases, opened.replica).items():
        try:
            target = storage_of(place, opened.settings.knowledge_bases, opened.machine.home)
        except Refused:
            continue
        found += [BaseTarget(place, ledger, target)] if target else []
    return found
