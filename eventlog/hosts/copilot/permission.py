"""Copilot CLI asks before each command (`copilot -p` refuses it), and keeps approvals only for one place at a time.

A command whose program lies outside of the project and the temporary directory is refused for its path, too.
Documentation: `copilot help permissions`.
"""

from pathlib import PurePath

from eventlog.hosts.permission import Grant, NoPermission


def _remedy(grant: Grant) -> str:
    """Name the options that let it save, for each call of it."""
    place = PurePath(grant.program.strip("'")).parent
    return f'copilot --allow-tool "shell({grant.program}:*)" --add-dir {place}, each time: it keeps no such rule'


PERMISSION = NoPermission("asked", _remedy)
