"""Paths below the user's home, as people write them: `~/notes.md`; pure."""

import posixpath

HOME = "~/"


def in_full(path: str, home: str) -> str:
    """Write a path in full; one without `~/` stays as it is, and so does any where no home is known."""
    return posixpath.join(home, path[len(HOME) :]) if home and path.startswith(HOME) else path
