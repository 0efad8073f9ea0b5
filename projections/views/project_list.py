"""`projects.jsonl`: one line per project, with its directory and where it lies; none while each is just its path."""

from collections.abc import Iterable
from contextlib import suppress

import msgspec
from msgspec import Struct

from eventlog.projections.base import Document, Line, Projection
from eventlog.projections.state.conversations import Conversations
from eventlog.projections.state.identity import identities
from eventlog.settings.schema import Settings
from eventlog.text import project_name


class ListedProject(Struct, frozen=True):
    """A line of the list: the project, its name for people, its directory, and where it lies.

    `parts` are the names it would have if nobody had joined any; a place is a machine (None: not said) and a path.
    """

    project: str
    name: str
    slug: str
    parts: tuple[str, ...]
    places: tuple[tuple[str | None, str], ...]


_decoder = msgspec.json.Decoder(ListedProject)


def read_list(data: bytes) -> list[ListedProject]:
    """Read a rendered list; what is no line of one is passed over."""
    found = []
    for line in data.splitlines():
        with suppress(msgspec.MsgspecError, UnicodeDecodeError):
            found.append(_decoder.decode(line))
    return found


def render(state: Conversations, settings: Settings) -> Iterable[Document]:
    """Render one document, where any project is more or less than a path."""
    del settings
    known = state.once(identities)
    if known.is_plain:
        return
    lines = []
    for project in known.projects():
        name = project_name(project.name)
        listed = ListedProject(project.name, name, project.slug, project.parts, project.places)
        lines.append(Line(msgspec.json.encode(listed).decode(), project.sources))
    yield Document("projects.jsonl", tuple(lines))


PROJECTS = Projection(name="projects", state=Conversations, render=render, owns=("projects.jsonl",))
