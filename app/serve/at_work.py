"""The work of a session that starts, as git's own files tell it: the branch, and what was changed lately.

A trunk says nothing of what somebody will do.
"""

from eventlog.projections.context.work_at_hand import WorkAtHand
from eventlog.projects.repository import branch_and_changes
from eventlog.store import Store


def work_at_hand(store: Store, project: str, where: str) -> WorkAtHand:
    """Find out what a session in a directory of the project will be about, and what bears on it; never raises."""
    branch, files = branch_and_changes(where)
    if not (branch or files):
        return WorkAtHand()
    from eventlog.app.search.bearing import with_bearings  # most starts need no search

    return with_bearings(store, project, branch, files)
