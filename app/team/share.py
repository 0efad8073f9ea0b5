"""Share decisions with a team, take them back, and list what a checkout has; reading needs no store."""

import os
from collections.abc import Iterable, Iterator, Sequence
from itertools import groupby
from operator import attrgetter
from pathlib import Path
from typing import NamedTuple

from eventlog.app.ask.why import reasons_behind
from eventlog.app.naming.known_projects import KnownProjects
from eventlog.app.naming.names import is_file_line
from eventlog.app.naming.references import event_named, is_part_of
from eventlog.app.open_store import OpenStore
from eventlog.app.setup.session_hooks.git import Git
from eventlog.app.team.decisions import PLACE, Decision, TeamFile, agree, read_files, settle
from eventlog.format.errors import BadRequest, NotStored, system_reason
from eventlog.format.events import Event, Fact, StageSummary
from eventlog.format.text import one_line, statement_of
from eventlog.projects.approvals import Approvals
from eventlog.projects.repository import remote_of
from eventlog.projects.root import find_repository, project_root
from eventlog.store import Store
from eventlog.store.files import not_stored
from eventlog.store.shared_files import NotConfined, real_path

_MODE, _MODE_DIRS = 0o644, 0o755  # as git writes files of a checkout


class SharedFile(NamedTuple):
    """A file that was written, found as it was to be, or removed; git `ignored` it, or not."""

    path: str
    decision: Decision
    new: bool
    ignored: bool = False


class TeamRow(NamedTuple):
    """A file of a checkout, now or before, and its state in this store."""

    state: str  # yours, trusted, not trusted, changed since it was trusted, withdrawn, refused
    file: TeamFile

    @property
    def is_new(self) -> bool:
        """A person has not agreed to these bytes yet."""
        return self.state in ("not trusted", "changed since it was trusted")


def checkout_of(cwd: str) -> str:
    """Find the root of the working tree that a directory is in; raises BadRequest outside a repository."""
    found = find_repository(place := str(Path(cwd).absolute()))
    if not found:
        raise BadRequest("is in no git repository", where=place, hint=f"a team's decisions are in {PLACE} of one")
    return found[0]


def share(opened: OpenStore, named: Sequence[str], why: str, cwd: str = "") -> list[SharedFile]:
    """Write a file for each decision that is named, all or none; raises BadRequest or NotStored.

    The checkout is that of a directory, or without one that of the project of the first decision.
    """
    stated = [found for name in named for found in _stated(opened, name)]
    root = checkout_of(cwd or stated[0][0].project or ".")
    git = Git(root)
    who = git.user_name()
    if not who:
        raise BadRequest("git does not know your name", hint="git config user.name 'Ada Lovelace'")
    files = [file for file in read_files(root, opened.machine.now()) if file.decision]
    wanted: dict[str, Decision] = {}
    for event, texts in stated:
        if isinstance(event, Fact) and event.effective_scope == "user":
            raise BadRequest("this is about you, not about a project", where=event.id)
        if not _is_of(opened, root, event):
            hint = f"run it in {event.project}" if event.project else "only decisions of a project are shared"
            raise BadRequest(f"{one_line(texts[0])!r} is of another project than {root}", hint=hint)
        wanted |= {decision.file_name: decision for decision in _decisions(event, texts, who, why, files)}
    folder = Path(root, PLACE)
    try:
        Path(real_path(folder, root)).mkdir(_MODE_DIRS, parents=True, exist_ok=True)
    except NotConfined as error:
        raise BadRequest(str(error), where=str(folder)) from error
    except OSError as error:
        raise not_stored(error, str(folder)) from error
    done = [_write(folder, decision, git) for decision in wanted.values()]
    subjects = {_subject(decision) for decision in wanted.values()}
    for file in files:  # shared before, for another reason
        if file.decision and Path(file.path).name not in wanted and _subject(file.decision) in subjects:
            _remove(file.path)
    agree(opened.log, [TeamFile(file.path, file.decision.data, file.decision) for file in done])
    return done


def withdraw(opened: OpenStore, named: Sequence[str], cwd: str) -> list[SharedFile]:
    """Remove the files of decisions, known here or not, and withdraw what the log has of them; raises BadRequest."""
    root = checkout_of(cwd)
    events = {path: entry["event"] for path, entry in Approvals(opened.store).of_teams().items()}
    files = [file for file in read_files(root, opened.machine.now()) if file.decision]
    found = {file.path: file for name in named for file in _meant(name, files, events)}
    agree(opened.log, list(found.values()), only_own=True)  # what was shared on another machine is withdrawn here, too
    for path in found:
        _remove(path)
    settle(opened.log)
    return [SharedFile(file.path, file.decision, new=False) for file in found.values() if file.decision]


def team_rows(store: Store, root: str, now: str) -> list[TeamRow]:
    """List the files of a checkout, and what was withdrawn from it, with what a person agreed to."""
    agreed = Approvals(store).of_teams()
    found = []
    for file in read_files(root, now):
        entry = agreed.get(file.path)
        state = Approvals.compared(entry, file.data)
        is_own = state == "trusted" and entry is not None and "branch" in entry
        found.append(TeamRow("refused" if file.refused else "yours" if is_own else state, file))
    paths = {row.file.path for row in found}
    events = {agreed[path]["event"] for path in paths & agreed.keys()}  # a decision shared again has another file
    remaining = [path for path, entry in sorted(agreed.items()) if path not in paths and entry["event"] not in events]
    removed = [path for path in remaining if Path(path).parent == Path(root, PLACE)]
    return [*found, *(TeamRow("withdrawn", TeamFile(path)) for path in removed)]


def differing(rows: Iterable[TeamRow]) -> Iterator[list[Decision]]:
    """Yield the decisions that people state differently under one key."""
    key_of = attrgetter("key")
    keyed = sorted((row.file.decision for row in rows if row.file.decision and row.file.decision.key), key=key_of)
    for _, same_key in groupby(keyed, key_of):
        newest = {decision.who: decision for decision in sorted(same_key, key=attrgetter("when"))}
        if len({decision.statement for decision in newest.values()}) > 1:
            yield list(newest.values())


def _subject(decision: Decision) -> tuple[str, str, str]:
    """Return what two files have in common that share one decision of one person."""
    return decision.id, decision.who, decision.statement


def _is_of(opened: OpenStore, root: str, event: Event) -> bool:
    """Return whether an event is of the project of a checkout, wherever it was cloned to."""
    here = project_root(root)
    if KnownProjects(opened.store).about(here)(event.project, event.replica):
        return True
    remote = remote_of(here)
    return bool(remote and event.project) and remote == remote_of(str(event.project))


def _stated(opened: OpenStore, name: str) -> Iterator[tuple[Event, list[str]]]:
    """Yield the events that are named, by id or `FILE:LINE`, each with what of it is meant; raises BadRequest."""
    if is_file_line(name):
        line = reasons_behind(opened, name)[0]
        shown = set(line.shown_statements())
        meant = [(event, text) for event in line.events for text in _texts(event) if statement_of(text) in shown]
        if not meant:
            raise BadRequest("the line shows no decision", where=name)
        yield meant[0][0], [meant[0][1]]
        return
    named = event_named(opened.log, name, opened.machine.project)
    if not named:
        hint = "`eventlog query --type fact,stage_summary` lists them"
        raise BadRequest("no event has this id", where=name, hint=hint)
    event = opened.log.find([named])[named].event
    texts = _texts(event)
    if not texts:
        raise BadRequest(f"{event.type} states no decision", where=event.id)
    yield event, texts


def _texts(event: Event) -> list[str]:
    """List what an event decides: the text of a fact, the decisions of a summary."""
    if isinstance(event, Fact):
        return [event.content]
    return [*event.decisions] if isinstance(event, StageSummary) else []


def _decisions(event: Event, texts: Sequence[str], who: str, why: str, files: Sequence[TeamFile]) -> Iterator[Decision]:
    """Make the decisions of an event; without a reason, those that are there already."""
    for text in texts:
        shared = [file.decision for file in files if file.decision and file.decision.id == event.id]
        same = [decision for decision in shared if decision.statement == statement_of(text)]
        if same and not why:
            yield same[0]
            continue
        kind = (event.category or "fact") if isinstance(event, Fact) else "decision"
        key = event.key or "" if isinstance(event, Fact) else ""
        try:
            yield Decision.of(id=event.id, who=who, when=event.ts, text=text, why=why, kind=kind, key=key)
        except ValueError as error:
            raise BadRequest(f"cannot be shared: its file {error}", where=event.id) from error


def _meant(reference: str, files: Sequence[TeamFile], events: dict[str, str]) -> list[TeamFile]:
    """Find the files of a decision by its id, that of its event here, or the name of the file; raises BadRequest."""
    name = Path(reference).name
    found = [
        file
        for file in files
        if Path(file.path).name == name
        or (file.decision and is_part_of(file.decision.id, reference))
        or is_part_of(events.get(file.path) or "-", reference)
    ]
    if not found:
        raise BadRequest("no shared decision has this id", where=reference, hint="eventlog team lists those there are")
    if len({file.decision.id for file in found if file.decision}) > 1:
        raise BadRequest(
            "several decisions have this id", where=reference, hint="\n".join(file.path for file in found[:8])
        )
    return found


def _write(folder: Path, decision: Decision, git: Git) -> SharedFile:
    path = f"{folder}/{decision.file_name}"
    new = not os.path.lexists(path)
    try:
        if new:
            fd = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_NOFOLLOW, _MODE)
            with os.fdopen(fd, "wb") as opened:
                opened.write(decision.data)
    except OSError as error:
        raise not_stored(error, path) from error
    return SharedFile(path, decision, new, git.ignores(path))


def _remove(path: str) -> None:
    try:
        Path(path).unlink(missing_ok=True)
    except OSError as error:
        raise NotStored(f"cannot be removed: {system_reason(error)[0]}", where=path) from error
