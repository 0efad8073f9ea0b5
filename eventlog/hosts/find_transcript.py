"""Which reader a transcript needs.

Each text is scrubbed whole, before lines are taken out of it: a key of several lines is known by its first and last.
"""

from collections.abc import Callable, Iterator, Mapping
from pathlib import Path

from eventlog.hosts.claude import transcript as claude
from eventlog.hosts.codex import transcript as codex
from eventlog.hosts.cursor import transcript as cursor
from eventlog.hosts.gemini import transcript as gemini
from eventlog.hosts.steps import Step
from eventlog.secrets import without_secrets

_READERS: Mapping[str, Callable[[Path], Iterator[Step]]] = {
    "claude-code": claude.steps,
    "codex": codex.steps,
    "cursor": cursor.steps,
    "gemini": gemini.steps,
}


def read_transcript(agent: str, path: str) -> Iterator[Step]:
    """The steps of an agent's transcript; none where there is no file, or nobody can read it."""
    reader = _READERS.get(agent)
    if not reader or not path or not Path(path).is_file():  # a pipe or a device would never end
        return
    try:
        for step in reader(Path(path)):
            yield Step(step.kind, without_secrets(step.text))
    except OSError:
        return
