"""A past conversation, as its transcript tells it: start, end, and what is drawn at a session's end.

That is a summary, and the text by which the conversation is found.

A subagent's transcript becomes a summary under its conversation, marked as the subagent's: for audits only.
"""

from collections.abc import Iterable, Iterator
from itertools import chain
from pathlib import Path
from typing import Any

from eventlog import hosts
from eventlog.app.importing.source import BadPlace, Found, PastEvents, SourceEvent
from eventlog.format import SESSION_END, timestamps
from eventlog.format.errors import system_reason
from eventlog.hosts.transcripts.conversation_text import TextExtractor
from eventlog.hosts.transcripts.past_session import PastSession
from eventlog.hosts.transcripts.read import read_transcript
from eventlog.hosts.transcripts.steps import Step
from eventlog.hosts.transcripts.summarise import summarise
from eventlog.projects.root import project_root
from eventlog.settings.schema import Settings

_OPEN_NS = 3600 * 10**9  # a conversation without a word for so long is taken to be over
IMPORT = "import"


def found_in(agent: str, path: Path, settings: Settings, now: int, *, named: bool = False) -> Iterator[Found]:
    """Read one transcript, at a time in nanoseconds; one that is given by name is taken to be over."""
    damaged: list[int] = []
    try:
        about: PastSession | None = hosts.part(agent, "past").past_session(path, damaged)
        steps = list(read_transcript(agent, str(path))) if about else []
    except OSError as error:
        yield BadPlace(str(path), system_reason(error)[0])
        return
    yield from (BadPlace(f"{path}:{line}", "not a JSON object") for line in damaged)
    if about is None and named:
        yield BadPlace(str(path), f"no transcript of {agent}")
    if about is None or not any(step.kind == "prompt" for step in steps):
        return
    is_open = not named and now - timestamps.to_ns(about.ended) < _OPEN_NS
    yield PastEvents(tuple(_events(agent, about, path, steps, settings)), str(path), is_open)


def _events(agent: str, about: PastSession, path: Path, steps: list[Step], settings: Settings) -> Iterator[SourceEvent]:
    common = _common(agent, about)
    drawer = TextExtractor(common["project"] or "")
    drawn = [_summary(drawer.watch(steps), settings.locale)]
    if not about.subagent:
        drawn += [_end(about), _text(drawer) if settings.recall.transcripts else {}]
    start = [] if about.subagent else [(about.started, _start(about, path))]
    for ts, fields in chain(start, ((about.ended, fields) for fields in drawn if fields)):
        key = "\n".join((IMPORT, agent, about.conversation, about.subagent, str(fields["type"])))
        yield SourceEvent({"ts": ts, **common, **fields}, key, about.is_dated)


def _common(agent: str, about: PastSession) -> dict[str, Any]:
    project = (project_root(about.where) or None) if about.where.startswith("/") else None
    return {
        "conversation_id": about.conversation,
        "project": project,
        "agent": agent,
        **({"subagent": about.subagent} if about.subagent else {}),
    }


def _start(about: PastSession, path: Path) -> dict[str, Any]:
    return {
        "type": "session_start",
        "source": IMPORT,
        "model": about.model or None,
        "git_branch": about.branch or None,
        "git_commit": about.commit or None,
        "transcript_path": str(path),
    }


def _end(about: PastSession) -> dict[str, Any]:
    lasted = (timestamps.to_ns(about.ended) - timestamps.to_ns(about.started)) / 1_000_000
    return {"type": "session_end", "reason": IMPORT, "duration_ms": lasted if about.is_dated else None}


def _summary(steps: Iterable[Step], locale: str) -> dict[str, Any]:
    """The fields of an automatic summary; none where there is too little to keep."""
    drawn = summarise(steps, locale)
    if drawn is None:
        return {}
    return {"type": "stage_summary", "layer": SESSION_END, "scope": "session", **drawn._asdict()}


def _text(drawer: TextExtractor) -> dict[str, Any]:
    """The fields of the text to search by; none where nobody asked anything."""
    drawn = drawer.extracted()
    return {"type": "conversation_text", **drawn._asdict()} if drawn else {}
