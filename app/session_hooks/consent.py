"""The consent of a person to code of a project: for one file, as it was when it was shown, until it changes.

Kept in the store, never in the project, and given on a terminal only (`eventlog lifecycle trust`).
"""

import hashlib
from enum import Enum
from pathlib import Path

from eventlog import fastjson
from eventlog.confined import NotConfined, read_below
from eventlog.errors import BadRequest
from eventlog.files import make_dirs, replace_file
from eventlog.plain_words import of_system
from eventlog.project import project_root
from eventlog.store import Store

PLACE = ".eventlog/session_hooks.py"  # in the root of a project
_LONGEST = 1 << 20  # bytes of source


class Consent(Enum):
    """The answer of the person to the file as it is now."""

    GIVEN = "trusted"
    NEVER_ASKED = "not trusted"
    OUTDATED = "changed since it was trusted"


def source_of(project: str) -> bytes:
    """Read the hooks of a project; raises OSError or NotConfined."""
    source = read_below(Path(project), Path(project, PLACE), _LONGEST + 1)
    if len(source) > _LONGEST:
        raise NotConfined(f"is longer than {_LONGEST:,} bytes")
    return source


def project_of(named: str) -> str:
    """Find the project whose hooks a path names: the file itself, or any directory of the project."""
    path = Path(named).absolute()
    return str(path.parent.parent) if path.parts[-2:] == Path(PLACE).parts else project_root(str(path)) or str(path)


def shown_source(project: str) -> bytes:
    """Read the hooks of a project for a person to agree to; raises BadRequest where that cannot be."""
    try:
        return source_of(project)
    except (OSError, NotConfined) as error:
        reason = of_system(error)[0] if isinstance(error, OSError) else str(error)
        hint = f"a project's own hooks are in {PLACE} of its root"
        raise BadRequest(f"cannot be read: {reason}", where=str(Path(project, PLACE)), hint=hint) from error


def consent(store: Store, project: str, source: bytes) -> Consent:
    """Tell what the person has said to this source as the hooks of this project."""
    known = _given(store).get(_key(project))
    if known is None:
        return Consent.NEVER_ASKED
    return Consent.GIVEN if known == _digest(source) else Consent.OUTDATED


def give(store: Store, project: str, source: bytes) -> None:
    """Note that the person has said yes to exactly this source; raises NotStored."""
    _keep(store, {**_given(store), _key(project): _digest(source)})


def withdraw(store: Store, project: str) -> bool:
    """Forget the consent; tells whether there was any. Raises NotStored."""
    given = _given(store)
    found = given.pop(_key(project), None) is not None
    if found:
        _keep(store, given)
    return found


def _key(project: str) -> str:
    return str(Path(project, PLACE).absolute())


def _digest(source: bytes) -> str:
    return hashlib.sha256(source).hexdigest()


def _given(store: Store) -> dict[str, object]:
    """Read all consents, digests by path; a file that cannot be read has none."""
    try:
        return fastjson.object_in(Path(store.trusted).read_bytes())
    except OSError:
        return {}


def _keep(store: Store, given: dict[str, object]) -> None:
    make_dirs(store.root)
    replace_file(store.trusted, fastjson.dumps(given) + b"\n")
