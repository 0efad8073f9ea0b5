"""Removing a section of a file, as a person with an editor does."""

from eventlog.projections.bases.section_edits import without
from eventlog.projections.bases.sections import Ambiguous, Page


def delete(data, heading, level, under=None, *, subsections=True):
    page = Page(data)
    found = page.candidates(heading, level, under)
    if len(found) > 1:
        raise Ambiguous(found)
    return without(page, found[0], subsections=subsections) if found else data
