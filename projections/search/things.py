"""The things a text is about by name: its entities, its key, the files it names; pure.

Imported inside agents' hooks: standard library only.
"""

from eventlog.format.marks import line_marks
from eventlog.projections.search.about_file import files_in
from eventlog.projections.search.words import tokens

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable


def things_named(entities: "Iterable[str]", key: str | None, text: str) -> str:
    """Mark each thing that is named, all marks in one text."""
    return line_marks([*entities, key or "", *files_in(tokens(text))])
