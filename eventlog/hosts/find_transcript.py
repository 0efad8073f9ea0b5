"""Which reader a transcript needs.

Each text is scrubbed whole, before lines are taken out of it: a key of several lines is known by its first and last.
"""

from collections.abc import Iterator
from pathlib import Path

from eventlog import hosts
from eventlog.hosts.our_words import without_ours
from eventlog.hosts.steps import Step
from eventlog.secrets import without_secrets


def read_transcript(agent: str, path: str) -> Iterator[Step]:
    """The steps of an agent's transcript; none where there is no file, or nobody can read it."""
    reader = hosts.part(agent, "transcript")
    if not reader or not path or not Path(path).is_file():  # a pipe or a device would never end
        return
    try:
        for step in without_ours(reader.steps(Path(path))):
            yield Step(step.kind, without_secrets(step.text))
    except OSError:
        return
