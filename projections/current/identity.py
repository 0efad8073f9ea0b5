"""Projects by their paths: a repository is a single project, in every place and on every machine; pure.

A path of a machine whose repository has an address is that address; one without is the path itself, for the machine
first seen there, and `replica:path` for every other. An event that names no machine means the one of its
conversation, else the first seen at its path. What a person has joined is one: the address, else the first by name.

A project's files keep the directory that they had when its address came, changed or went (`home`).

Facts and conversations are given the name of their project in the place of a path (`conversation`), notes of people
the file they stand in by now (`notes`): views need not know of any of this.
"""

from collections.abc import Iterable
from functools import cached_property
from typing import NamedTuple

from msgspec.structs import replace

from eventlog.format.events import Fact, KnowledgeEdited
from eventlog.format.retractions import Retractions
from eventlog.format.timestamps import order
from eventlog.projections.current.conversations import Conversation, Conversations, Places
from eventlog.store import project_slug

_FOLDER = "knowledge/projects/"


class KnownProject(NamedTuple):
    """A project, the names it would have had by its parts, and its places: machine (None: unknown) and path.

    `home` is the name that its directory is called after.
    """

    name: str
    home: str
    parts: tuple[str, ...]
    places: tuple[tuple[str | None, str], ...]
    changed_at: str
    sources: tuple[str, ...]

    @property
    def slug(self) -> str:
        """Return the name of its directory."""
        return project_slug(self.home)

    @staticmethod
    def directories(names: Iterable[str], places: Iterable[tuple[str | None, str]]) -> set[str]:
        """Collect the directories that a project has, or had before more was known of it."""
        at_places = (path if replica is None else f"{replica}:{path}" for replica, path in places)
        return {project_slug(name) for name in (*names, *at_places)}


class Identities:
    """The projects of the log, as it has them now, by what is `withdrawn`."""

    def __init__(self, places: Places, withdrawn: Retractions) -> None:
        self.withdrawn = withdrawn
        in_force = [seen for seen in sorted(places.seen, key=order) if not withdrawn.hides(seen)]
        self._seen = {(seen.replica, seen.path): seen for seen in in_force}
        self._moves = [seen for seen in in_force if seen.known_as]
        self.stays = places.stays
        self._first = {path: min(at, key=lambda name: at[name].first) for path, at in places.stays.items()}
        self._joined = [join for join in sorted(places.joined, key=order) if not withdrawn.hides(join)]
        self._touched = {join.id: withdrawn.touched_at(join) for join in places.joined}
        self.roots = self._join()
        is_plain = (self._part(path, replica) == path for path, at in places.stays.items() for replica in at)
        self.is_plain = not (self.roots or self.homes) and all(is_plain)

    def of(self, path: str | None, replica: str | None = None) -> str:
        """Name the project of a path on a machine; "" where there is no path."""
        part = self._part(path, replica) if path else ""
        return self.roots.get(part, part)

    def renamed(self, other: "Identities") -> set[str]:
        """List the paths that are another project, on any machine, than by another log."""
        places = {
            (path, replica) for side in (self, other) for path, at in side.stays.items() for replica in (None, *at)
        }
        named = {root for side in (self, other) for root in side.roots}
        found = {place[0] for place in places if self.of(*place) != other.of(*place)}
        return found | {
            part[part.find("/") :] for part in named if self.roots.get(part, part) != other.roots.get(part, part)
        }

    def remote(self, path: str, replica: str) -> str | None:
        """Return the last recorded address of a path on a machine."""
        seen = self._seen.get((replica, path))
        return seen.remote if seen else None

    def named(self, name: str) -> str:
        """Name a project by an address, `replica:path`, or a path."""
        part = self._part_named(name)
        return self.roots.get(part, part)

    def slug(self, name: str) -> str:
        """Return the name of a project's directory."""
        return project_slug(self.homes.get(name, name))

    def document(self, project: str, name: str) -> str:
        """Return the path of a project's document of that name, or of the user's where no project is named."""
        return f"projects/{self.slug(project)}/{name}" if project else name

    @cached_property
    def homes(self) -> dict[str, str]:
        """Map projects to the names their directories are called after, where that is an earlier name.

        The first on record counts, unless another project is called so.
        """
        found: dict[str, str] = {}
        names = {self.of(path, replica) for path, at in self.stays.items() for replica in at} if self._moves else set()
        for seen in self._moves:
            name, home = self.of(seen.path, seen.replica), str(seen.known_as)
            if name not in found and home not in names - {name} and home not in found.values():
                found[name] = home
        return found

    def projects(self) -> list[KnownProject]:
        """List all projects."""
        found: dict[str, list[tuple[str | None, str]]] = {}
        for path, at in sorted(self.stays.items()):
            for replica in (None, *sorted(at)):
                found.setdefault(self.of(path, replica), []).append((replica, path))
        for part in self.roots:
            if part.startswith("/") and part not in self.stays:
                found.setdefault(self.of(part), []).append((None, part))
        return [self._known(name, places) for name, places in sorted(found.items())]

    def listed(self) -> list[KnownProject]:
        """List all projects where a project is more or less than a path, or where several machines have spoken."""
        machines = {replica for at in self.stays.values() for replica in at}
        return self.projects() if len(machines) > 1 or not self.is_plain else []

    def by_directory(self) -> dict[str, str]:
        """Map the directories that projects have, or had before more was known of them, to their names."""
        return {
            slug: project.name
            for project in self.projects()
            for slug in KnownProject.directories((project.name, project.home, *project.parts), project.places)
        }

    def changed_at(self, name: str) -> str:
        """Return when a record of this project's identity was last made or withdrawn."""
        return next((project.changed_at for project in self.projects() if project.name == name), "")

    def place(self, name: str | None, replica: str) -> tuple[str | None, str | None]:
        """Choose machine and path for a project named on that machine: there, where it is known there."""
        if not name:
            return None, None
        found = [place for project in self.projects() if project.name == name for place in project.places]
        own = [place for place in found if place[0] == replica]
        return next(iter([*own, *filter(lambda place: place[0], found), *found]), (None, name))

    def beside(self, name: str | None) -> list[str]:
        """List the other projects at the paths of a project, on any machine."""
        found = {path: {self.of(path, replica) for replica in at} for path, at in self.stays.items()}
        return sorted({other for names in found.values() if name in names for other in names} - {name})

    def conversation(self, raw: Conversation) -> Conversation:
        """Give a conversation, and its facts, the names of their projects; itself where nothing differs."""
        name = self.of(raw.project, raw.replica)
        if name == raw.project and all(fact.project == name and not fact.replica for fact in raw.facts):
            return raw  # as most are
        facts = [self._fact(fact, raw.replica) for fact in raw.facts]
        if name == (raw.project or "") and all(new is old for new, old in zip(facts, raw.facts, strict=True)):
            return raw
        ts, event, path = raw.first_project
        return replace(raw, first_project=(ts, event, name) if path else raw.first_project, place=path, facts=facts)

    def notes(self, raw: Iterable[KnowledgeEdited]) -> dict[str, KnowledgeEdited]:
        """Return the newest notes of people in each file of the store, by the file's key in events.

        They are in the file their project has by now; several of a project are joined.
        """
        valid = [note for note in raw if not self.withdrawn.hides(note)]
        newest = {str(note.key.path): note for note in sorted(valid, key=order)}
        if self.is_plain or not newest:
            return newest
        projects = {project.name: project for project in self.projects()}
        homes = {slug: projects[name] for slug, name in self.by_directory().items()}
        by_home: dict[str, list[KnowledgeEdited]] = {}
        for path, note in newest.items():
            slug, _, file = path.removeprefix(_FOLDER).partition("/")
            home = homes.get(slug) if path.startswith(_FOLDER) else None
            by_home.setdefault(f"{_FOLDER}{home.slug}/{file}" if home else path, []).append(note)
        changed = {f"{_FOLDER}{project.slug}/MEMORY.md": project.changed_at for project in projects.values()}
        return {path: _together(path, notes, changed.get(path, "")) for path, notes in by_home.items()}

    def resolved(self, raw: Conversations) -> Conversations:
        """Give all conversations and notes the names of their projects; the state itself where those are its paths."""
        if self.is_plain:
            return raw
        by_id = {name: self.conversation(conversation) for name, conversation in raw.by_id.items()}
        return Conversations(by_id, raw.retractions, [*self.notes(raw.notes).values()], raw.places)

    def _fact(self, fact: Fact, replica: str | None) -> Fact:
        name = self.of(fact.project, fact.replica or replica)
        return replace(fact, project=name) if name != (fact.project or "") else fact

    def _part(self, path: str, replica: str | None) -> str:
        """Name a project as if it was not joined."""
        first = self._first.get(path)
        seen = self._seen.get((replica or first, path))
        if seen and seen.remote:
            return seen.remote
        return path if replica in (None, first) or first is None else f"{replica}:{path}"

    def _part_named(self, name: str) -> str:
        if name.startswith("/"):
            return self._part(name, None)
        replica, colon, path = name.partition(":")
        return self._part(path, replica) if colon else name

    def _join(self) -> dict[str, str]:
        """Map every part of a joined project to its name."""
        together: dict[str, set[str]] = {}
        for join in self._joined:
            parts = [self._part_named(name) for name in join.projects]
            group = set[str]().union(parts, *(together.get(part, ()) for part in parts))
            together |= dict.fromkeys(group, group)
        # the address of a repository comes before a path, of a machine or of all
        return {part: min(group, key=lambda it: (it[:1] == "/" or ":" in it, it)) for part, group in together.items()}

    def _known(self, name: str, places: list[tuple[str | None, str]]) -> KnownProject:
        parts = {self._part(path, replica) for replica, path in places}
        parts |= {part for part, root in self.roots.items() if root == name}
        seen = [self._seen[place] for place in places if place in self._seen]
        joins = [join for join in self._joined if {self._part_named(name) for name in join.projects} & parts]
        times = [max(event.ts, self._touched.get(event.id, "")) for event in (*seen, *joins)]
        first = [self.stays[path][replica].first for replica, path in places if replica]
        sources = tuple(event for _, event in sorted({*first, *map(order, (*seen, *joins))}))
        home = self.homes.get(name, name)
        return KnownProject(name, home, tuple(sorted(parts)), tuple(places), max(times, default=""), sources)


def _together(path: str, notes: list[KnowledgeEdited], changed_at: str) -> KnowledgeEdited:
    """Join the notes of what is one project by now; those a person has seen together since are as they left them."""
    in_order = sorted(notes, key=order)
    last = in_order[-1]
    seen_together = last.key.path == path and last.ts > changed_at
    texts = dict.fromkeys(note.content for note in in_order if note.content is not None)
    content = last.content if seen_together or len(notes) == 1 else "\n\n".join(texts) or None
    return replace(last, key=replace(last.key, path=path), content=content)
