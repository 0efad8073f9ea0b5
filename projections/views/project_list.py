"""`projects.jsonl`: one line per project, with its directory and where it lies; none while each is just its path."""

from collections.abc import Iterable

import orjson

from eventlog.projections.base import Document, Line, Projection
from eventlog.projections.state.conversations import Conversations
from eventlog.projections.state.identity import identities
from eventlog.settings.schema import Settings
from eventlog.text import project_name


def render(state: Conversations, settings: Settings) -> Iterable[Document]:
    """Render one document, where any project is more or less than a path."""
    del settings
    known = state.once(identities)
    if known.is_plain:
        return
    lines = []
    for project in known.projects():
        fields = {
            "project": project.name,
            "name": project_name(project.name),
            "slug": project.slug,
            "parts": project.parts,
            "places": project.places,
        }
        lines.append(Line(orjson.dumps(fields).decode(), project.sources))
    yield Document("projects.jsonl", tuple(lines))


PROJECTS = Projection(name="projects", state=Conversations, render=render, owns=("projects.jsonl",))
