"""Codex CLI's history: `sessions/2026/02/21/rollout-<time>-<thread>.jsonl`, lines of `{timestamp, type, payload}`.

Archived rollouts lie in `archived_sessions`. The same words may stand twice, as `response_item` and as `event_msg`;
the items are the conversation. Turns that were rolled back stay in the file, and their changes on the disk. A subagent
has a rollout of its own, which names the thread it was started from (`source.subagent`), and with `session_id` the root
of all. Newer models call their tools from scripts in JavaScript, the input of a tool `exec`.
"""

import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from eventlog.format.codec import dig
from eventlog.hosts.transcripts.steps import (
    PastSession,
    SessionCalls,
    Span,
    Step,
    first_text,
    from_tool,
    records,
    texts,
)

FOLDERS = ("sessions", "archived_sessions")
NAMES = ("rollout-*.jsonl",)
_THREAD = len("019c32d0-ad7a-70b2-b378-c2b94a4ce4a3")


def past_session(path: Path, damaged: list[int]) -> PastSession | None:
    """Read the head of a rollout; None where it is none. Raises OSError."""
    span = Span()
    about: Any = None
    model = ""
    for record in records(path, damaged):
        span.see(record.get("timestamp"))
        if record.get("type") == "session_meta" and about is None:  # a fork repeats that of its origin below its own
            about = record.get("payload")
            span.see(dig(about, "timestamp"))
        elif record.get("type") == "turn_context":
            model = model or first_text(dig(record, "payload", "model"))
    if about is None:
        return None
    thread = first_text(dig(about, "id"), dig(about, "session_id"), path.stem[-_THREAD:])
    parent = first_text(dig(about, "source", "subagent", "thread_spawn", "parent_thread_id"))
    is_subagent = bool(dig(about, "source", "subagent"))
    root = first_text(dig(about, "session_id"), thread)
    return PastSession(
        (root if root != thread else parent or thread) if is_subagent else thread,
        *span.of(path),
        subagent=thread if is_subagent else "",
        where=first_text(dig(about, "cwd")),
        model=model,
        branch=first_text(dig(about, "git", "branch")),
        commit=first_text(dig(about, "git", "commit_hash")),
    )


_NOT_THE_USER = ("<environment_context>", "<user_instructions>", "<permissions", "<turn_aborted>", "<skill",
                 "# AGENTS.md", "<INSTRUCTIONS>", "<subagent_notification>", "<user_action>")  # fmt: skip
_IMAGE = re.compile(r"</?image(?: [^>]*)?>")  # a text by itself, before and after a picture
_WORDS = ("prompt", "reply", "todos")
_ROLLED_BACK = "thread_rolled_back"


def steps(path: Path) -> Iterator[Step]:
    """Yield the steps of a rollout. Raises OSError."""
    thread: Any = None
    calls, gone, turn = SessionCalls(), _rolled_back(path), 0
    for record in records(path):
        payload = record.get("payload")
        if record.get("type") == "response_item":
            for step in _item(payload, calls):
                turn += step.kind == "prompt"
                yield from [step] if turn not in gone or step.kind not in _WORDS else []
        elif record.get("type") == "session_meta":  # a fork repeats that of its origin below its own
            thread = thread or dig(payload, "id")
        elif record.get("type") == "event_msg" and dig(payload, "type") == "thread_name_updated":
            name = dig(payload, "thread_name")
            if isinstance(name, str) and dig(payload, "thread_id") in (None, thread):
                yield Step("title", name)


def _rolled_back(path: Path) -> set[int]:
    """Find the turns that were rolled back, by the number of their prompts."""
    standing: list[int] = []
    gone: set[int] = set()
    with path.open("rb") as opened:
        if not any(_ROLLED_BACK.encode() in line for line in opened):
            return gone
    for record in records(path):
        payload = record.get("payload")
        if record.get("type") == "response_item" and dig(payload, "type") == "message":
            asked = any(step.kind == "prompt" for step in _item(payload, SessionCalls()))
            standing += [len(standing) + len(gone) + 1] if asked else []
        elif dig(payload, "type") == _ROLLED_BACK and isinstance(count := dig(payload, "num_turns"), int):
            left = max(0, len(standing) - max(0, count))
            gone.update(standing[left:])
            del standing[left:]
    return gone


def _item(payload: Any, calls: SessionCalls) -> Iterator[Step]:
    match dig(payload, "type"):
        case "message":
            words = "\n".join(
                text for text in texts(dig(payload, "content")) if not _IMAGE.fullmatch(text.strip())
            ).strip()
            if dig(payload, "role") == "assistant" and words:
                yield Step("reply", words)
            elif dig(payload, "role") == "user" and words and not words.startswith(_NOT_THE_USER):
                yield Step("prompt", words)
        case "local_shell_call":
            yield from calls.called(dig(payload, "call_id"), from_tool("shell", dig(payload, "action")))
        case "custom_tool_call" if dig(payload, "name") == "exec":
            yield from _script(str(dig(payload, "input")), dig(payload, "call_id"), calls)
        case _:
            yield from calls.of_blocks([payload])


_LITERAL = re.compile(
    r"""(?:["']?\b(?P<name>\w+)["']?\s*[:=]\s*)?(?P<raw>String\.raw)?
    (?P<quote>["'`])(?P<text>(?:\\.|(?!(?P=quote))[^\\])*)(?P=quote)""",
    re.DOTALL | re.VERBOSE,
)
_ESCAPE = re.compile(r"\\(?:u(?P<u>[\da-fA-F]{4})|x(?P<x>[\da-fA-F]{2})|(?P<letter>.))", re.DOTALL)
_ESCAPED = {"n": "\n", "t": "\t", "r": "\r", "\n": ""}
_LOOKS_AT = re.compile(r"\bsession_id[\"']?\s*:\s*(\d+)")


def _script(script: str, call: Any, calls: SessionCalls) -> Iterator[Step]:
    """Yield the effects of a script's calls; its output does not show which of several commands passed."""
    texts_in = [(found["name"], _plain(found)) for found in _LITERAL.finditer(script)]
    commands = [text for name, text in texts_in if name == "cmd"]
    patches = [text for _, text in texts_in if text.startswith("*** Begin Patch")]
    steps = [step for text in commands for step in from_tool("shell", {"cmd": text})]
    steps += [step for text in patches for step in from_tool("apply_patch", text)]
    if "tools.update_plan(" in script:
        todos, states = ([text for name, text in texts_in if name == key] for key in ("step", "status"))
        plan = [{"step": text, "status": state} for text, state in zip(todos, states, strict=False)]
        steps += from_tool("update_plan", {"plan": plan})
    looks_at = _LOOKS_AT.search(script)
    if looks_at and not steps:
        yield from calls.of_blocks([{"name": "exec", "call_id": call, "arguments": {"session_id": looks_at[1]}}])
    else:
        yield from calls.called(None if len(commands) > 1 else call, steps)


def _plain(literal: re.Match[str]) -> str:
    return literal["text"] if literal["raw"] else _ESCAPE.sub(_unescaped, literal["text"])


def _unescaped(escape: re.Match[str]) -> str:
    code = escape["u"] or escape["x"]
    letter = chr(int(code, 16)) if code else _ESCAPED.get(escape["letter"], escape["letter"])
    return "" if "\ud800" <= letter <= "\udfff" else letter  # half of a character
