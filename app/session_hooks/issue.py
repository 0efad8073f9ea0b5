"""The issue a branch is named for: `feature/123-login` -> `123`, `PROJ-7-login` -> `PROJ-7`; pure."""

import re

_KEY = re.compile(r"(?:^|[/_-])(?P<issue>[A-Z][A-Z0-9]{1,9}-\d+)(?=$|[/_-])")
_NUMBER = re.compile(
    r"(?:^|/)(?:(?:issue|bug|gh)s?[-_/]?)?#?(?P<issue>\d{1,7})(?=$|[/_-])(?!-\d\d(?:$|-))", re.IGNORECASE
)
_VERSIONED = re.compile(r"(?:^|/)(?:releases?|versions?|hotfix|v)/", re.IGNORECASE)  # numbers of these are versions


def issue_of(branch: str | None) -> str | None:
    """Find the issue: a tracker's key, else a number that a part of the branch's name begins with."""
    if not branch:
        return None
    found = _KEY.search(branch) or (None if _VERSIONED.search(branch) else _NUMBER.search(branch))
    return found["issue"] if found else None
