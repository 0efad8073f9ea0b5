"""Find secrets in a store, in any files, and in the transcripts of hosts: which kind, and where; never the value."""

from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import NamedTuple

from eventlog import hosts
from eventlog.app.build.storage import base_files
from eventlog.app.importing.transcripts import readable_hosts, transcripts_place
from eventlog.app.open_store import OpenStore
from eventlog.fast import fastjson
from eventlog.hosts.transcripts.read import find_transcripts
from eventlog.secrets import secrets_in
from eventlog.store.files import read

_SKIPPED = frozenset((".git", "node_modules", ".venv", "__pycache__"))
_LARGEST = 64 << 20  # bytes of a file that is not of lines


class FoundSecret(NamedTuple):
    """A secret: its file and line, its kind, the event that holds it, if any, and the text itself, to be erased."""

    file: str
    line: int
    kind: str
    event: str
    text: str


def scan(opened: OpenStore, paths: Sequence[Path] = (), *, transcripts: bool = False) -> tuple[list[FoundSecret], int]:
    """Find the secrets in files, below directories, and in `transcripts` of hosts; else in the store and its bases.

    Return them, and how many files there are. Of JSON lines every line is searched; other files are left out where they
    are not text, or very large. So is the cache, which is made of the log.
    """
    store, machine = opened.store, opened.machine
    files = [path for named in paths for path in (_below(named) if named.is_dir() else [named])]
    for host in readable_hosts() if transcripts else ():
        place = transcripts_place(host, machine)
        files += find_transcripts(hosts.agent_name(host), place) if place.is_dir() else []
    if not (paths or transcripts):
        files = [path for path in _below(Path(store.root)) if Path(store.cache) not in path.parents]
        files += [path for name in opened.settings.knowledge_bases for path in base_files(opened, name)]
    found: list[FoundSecret] = []
    for path in files:
        data = read(str(path))
        if data is not None and path.suffix == ".jsonl":
            found += _in_lines(str(path), data)
        elif data is not None and len(data) <= _LARGEST and b"\0" not in data[:8192]:
            found += _in_text(str(path), data)
    return found, len(files)


def _below(root: Path) -> list[Path]:
    found = (path for path in root.rglob("*") if _SKIPPED.isdisjoint(path.relative_to(root).parts))
    return sorted(path for path in found if path.is_file() and not path.is_symlink())


def _in_text(file: str, data: bytes) -> Iterator[FoundSecret]:
    text = data.decode("utf-8", "replace")
    for kind, secret in secrets_in(text):
        yield FoundSecret(file, text.count("\n", 0, text.index(secret)) + 1, kind, "", secret)


def _in_lines(file: str, data: bytes) -> Iterator[FoundSecret]:
    for number, line in enumerate(data.split(b"\n"), 1):
        try:
            value = fastjson.loads(line) if line.strip() else None
        except ValueError:
            value = line.decode("utf-8", "replace")
        event = str(value.get("id") or "") if isinstance(value, dict) else ""
        for kind, secret in secrets_in(value):
            yield FoundSecret(file, number, kind, event, secret)
