"""`projects.jsonl`: one line per project, with its directory and places; no file while each project is just a path."""

from collections.abc import Iterable
from typing import TYPE_CHECKING

import msgspec
from msgspec import Struct

from eventlog.format.text import project_name
from eventlog.projections.base import Document, Line, Projection, View
from eventlog.projections.current.conversations import Conversations
from eventlog.projections.current.identity import KnownProject

if TYPE_CHECKING:
    from eventlog.projections.engine.documents import DocumentIndex


class ListedProject(Struct, frozen=True):
    """A line of the list: the project, its name for people, its directory, and where it lies.

    `parts` are its names before people joined projects; a place is a machine (None: unknown) and a path.
    """

    project: str
    name: str
    slug: str
    parts: tuple[str, ...]
    places: tuple[tuple[str | None, str], ...]

    @property
    def directories(self) -> set[str]:
        """The directories that it has, or had before more was known of it."""
        return {self.slug} | KnownProject.directories((self.project, *self.parts), self.places)


def _render(name: str, index: "DocumentIndex") -> Iterable[Document]:
    """Render the document, if any project is more or less than a path."""
    del name
    lines = []
    for project in index.identities.listed():
        name = project_name(project.name)
        listed = ListedProject(project.name, name, project.slug, project.parts, project.places)
        lines.append(Line(msgspec.json.encode(listed).decode(), project.sources))
    if lines:
        yield Document("projects.jsonl", lines)


_VIEW = View((), _render, top=True)
PROJECTS = Projection("projects", Conversations, None, ("projects.jsonl",), view=_VIEW)
