"""Claude Code: `~/.claude/projects/<slug>/<session>.jsonl`, a line per block of a message and per piece of bookkeeping.

Subagents write to files of their own (`<session>/subagents/agent-*.jsonl`, lines with `isSidechain`): what they
changed counts, what they said does not. After a compaction the summary stands as a user's message; a rewind leaves
the abandoned branch in the file.
"""

from collections.abc import Iterator
from pathlib import Path

from eventlog.format.layers import MARK
from eventlog.hosts.steps import Step, TranscriptRecord, dig, records, text_of, texts, word
from eventlog.hosts.tools import from_blocks

HELPER = "agent-"  # what the names of subagents' files begin with
_TITLES = {"summary": "summary", "ai-title": "aiTitle", "custom-title": "customTitle"}
_NOT_THE_USER = ("<task-notification>", "<local-command", "<command-name>", "<command-message>", "<system-reminder>",
                 "Caveat: The messages below", "[Request interrupted", "Stop hook feedback:")  # fmt: skip


def steps(path: Path) -> Iterator[Step]:
    """The steps of a session, its subagents' changes before its own; of a subagent's file, its own. Raises OSError."""
    of_a_helper = path.name.startswith(HELPER)
    for helper in sorted((path.parent / path.stem / "subagents").glob("**/agent-*.jsonl")):
        for record in records(helper):
            yield from from_blocks(dig(record, "message", "content"))
    abandoned = _abandoned(path)
    for record in records(path):
        if (record.get("isSidechain") and not of_a_helper) or word(record, "uuid") in abandoned:
            continue
        yield from _title(record)
        yield from _request_of_ours(record)
        yield from _words(record)
        yield from from_blocks(dig(record, "message", "content"))


def _title(record: TranscriptRecord) -> Iterator[Step]:
    kind = word(record, "type")
    if kind in _TITLES and (title := word(record, _TITLES[kind]) or word(record, "title")):
        yield Step("title", title)


def _request_of_ours(record: TranscriptRecord) -> Iterator[Step]:
    """Find the request of our own hook at the end of a turn: given back as a feedback, or attached."""
    attached = dig(record, "attachment") if dig(record, "attachment", "hookEvent") == "Stop" else None
    said = text_of(dig(attached, "content") if attached else record.get("isMeta") and dig(record, "message", "content"))
    if MARK in said:
        yield Step("prompt", said[said.index(MARK) :])


def _words(record: TranscriptRecord) -> Iterator[Step]:
    if record.get("isMeta") or record.get("isCompactSummary") or record.get("isVisibleInTranscriptOnly"):
        return
    content = dig(record, "message", "content")
    if record.get("type") == "assistant" and (said := text_of(content)):
        yield Step("reply", said)
    if record.get("type") == "user":
        said = "\n".join(text for text in texts(content) if not text.lstrip().startswith(_NOT_THE_USER)).strip()
        if said:
            yield Step("prompt", said)


def _abandoned(path: Path) -> set[str]:
    """The messages of branches that were rewound.

    A rewind leaves two prompts with one parent, and the later one is the conversation. (Tools called in parallel fork
    the chain too, but not with prompts.)
    """
    children: dict[str, list[str]] = {}
    prompts: dict[str, list[str]] = {}
    for record in records(path):
        uuid, parent = word(record, "uuid"), word(record, "parentUuid")
        if uuid and parent:
            children.setdefault(parent, []).append(uuid)
            if any(step.kind == "prompt" for step in _words(record)):
                prompts.setdefault(parent, []).append(uuid)
    rewound = [uuid for siblings in prompts.values() for uuid in siblings[:-1]]
    return _below(rewound, children)


def _below(roots: list[str], children: dict[str, list[str]]) -> set[str]:
    found: set[str] = set()
    while roots:
        uuid = roots.pop()
        if uuid not in found:
            found.add(uuid)
            roots += children.get(uuid, [])
    return found
