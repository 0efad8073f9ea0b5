"""Codex CLI's history: `sessions/2026/02/21/rollout-<time>-<thread>.jsonl`, lines of `{timestamp, type, payload}`.

Archived rollouts lie in `archived_sessions`. The same words may stand twice, as `response_item` and as `event_msg`;
the items are the conversation. Turns that were rolled back stay in the file, and their changes on the disk. A subagent
has a rollout of its own, which names the thread it was started from (`source.subagent`), and with `session_id` the root
of all; where it was given its parent's conversation, a copy of that comes before its own first turn. Newer models call
their tools from scripts in JavaScript, the input of a tool `exec`.

What the host puts in the place of a prompt begins with a tag mostly, and no event `user_message` repeats it.
"""

import re
import sys
from collections.abc import Iterator
from itertools import islice
from pathlib import Path
from typing import Any

from eventlog.format.codec import dig
from eventlog.hosts.transcripts.steps import (
    PastSession,
    SessionCalls,
    Span,
    Step,
    StepKind,
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
    meta: Any = None
    model = ""
    for record in records(path, damaged):
        span.see(record.get("timestamp"))
        if record.get("type") == "session_meta" and meta is None:  # a fork repeats that of its origin below its own
            meta = record.get("payload")
            span.see(dig(meta, "timestamp"))
        elif record.get("type") == "turn_context":
            model = model or first_text(dig(record, "payload", "model"))
    if meta is None:
        return None
    thread = first_text(dig(meta, "id"), dig(meta, "session_id"), path.stem[-_THREAD:])
    spawned = dig(meta, "source", "subagent", "thread_spawn", "parent_thread_id")
    parent = first_text(dig(meta, "parent_thread_id"), spawned)
    is_subagent = bool(dig(meta, "source", "subagent"))
    root = first_text(dig(meta, "session_id"), thread)
    return PastSession(
        (root if root != thread else parent or thread) if is_subagent else thread,
        *span.of(path),
        subagent=thread if is_subagent else "",
        where=first_text(dig(meta, "cwd")),
        model=model,
        branch=first_text(dig(meta, "git", "branch")),
        commit=first_text(dig(meta, "git", "commit_hash")),
    )


_NOT_THE_USER = ("<environment_context>", "<user_instructions>", "<permissions", "<turn_aborted>", "<skill",
                 "# AGENTS.md", "<INSTRUCTIONS>", "<subagent_notification>", "<user_action>")  # fmt: skip
_TAG, _ASKS_AGAIN = "<", "<hook_prompt"
_IMAGE = re.compile(r"</?image(?: [^>]*)?>")  # a text by itself, before and after a picture
_TASK = re.compile(r"Message Type: NEW_TASK\nTask name: \S*?(?P<name>[^/\s]+)\n(?:.*\n)*?Payload:\n(?P<text>[\s\S]*)")
_PLAN = re.compile(r"^<proposed_plan>\n(.*?)^</proposed_plan>$", re.DOTALL | re.MULTILINE)
_FOR_THE_HOST = re.compile(  # which notes it used, what an editor's buttons offer
    r"<oai-mem-citation>.*?(?:</oai-mem-citation>|\Z)|^::[a-z-]+\{[^\n]*\}[ \t]*$", re.DOTALL | re.MULTILINE
)
_WORDS = ("prompt", "task", "reply", "proposal", "todos", "chosen")
_PLAN_LASTS = 3  # finished turns: a plan is made for one, and often left as it is when its work is done


def steps(path: Path) -> Iterator[Step]:
    """Yield the steps of a rollout. Raises OSError."""
    meta, typed, begins = _of_all(path)
    asks: StepKind = "task" if _is_of_program(meta) else "prompt"
    calls, finished, stale_at = SessionCalls(), 0, sys.maxsize
    turns: list[list[Step]] = [[]]  # before the first prompt, then of each that stands
    for record in islice(records(path), begins, None):
        match record.get("type"), record.get("payload"):
            case "response_item", payload:
                for step in _item(payload, calls, typed):
                    if step.kind == "prompt":
                        turns.append([Step(asks, step.text), *([Step("todos", "")] if finished >= stale_at else [])])
                    else:
                        turns[-1].append(step)
                    stale_at = finished + _PLAN_LASTS if step.kind == "todos" else stale_at
            case "event_msg", {"type": "task_complete"}:
                finished += 1
            case "event_msg", {"type": "thread_rolled_back", "num_turns": int(count)}:
                remaining = max(1, len(turns) - max(0, count))
                turns[remaining - 1] += (step for turn in turns[remaining:] for step in turn if step.kind not in _WORDS)
                del turns[remaining:]
            case "event_msg", {"type": "thread_name_updated", "thread_name": str(name), **others}:
                is_own = others.get("thread_id") in (None, dig(meta, "id"))
                turns[-1] += [Step("title", name)] if is_own else []
    for turn in turns:
        yield from turn


def _is_of_program(meta: Any) -> bool:
    return bool(dig(meta, "source", "subagent")) or dig(meta, "source") == "exec"


def _of_all(path: Path) -> tuple[Any, set[str] | None, int]:
    """Read the head, what was typed, and how many records of its parent's a subagent's rollout begins with.

    Typed are the prompts that begin with a tag and that an event repeats; None where no event repeats any prompt. A
    helper may be asked by its parent only, which no event repeats.
    """
    meta: Any = None
    messages: list[str] = []
    begins = 0
    for number, record in enumerate(records(path)):
        payload = record.get("payload")
        if record.get("type") == "session_meta" and meta is None:
            meta = payload
        elif dig(payload, "type") == "user_message":
            messages.append(str(dig(payload, "message")).strip())
        if not begins and str(dig(payload, "turn_id") or "") > str(dig(meta, "id")):  # ids are in the order of time
            begins = number
    has_copy = dig(meta, "source", "subagent") and dig(meta, "forked_from_id")
    typed = {text for text in messages if text.startswith(_TAG)} if messages or _is_of_program(meta) else None
    return meta, typed, begins if has_copy else 0


def _is_of_host(text: str, typed: set[str] | None) -> bool:
    """Check whether the host wrote a part of a prompt; our own texts are recognised elsewhere."""
    text = text.strip()
    is_unsaid = typed is not None and text not in typed and not text.startswith(_ASKS_AGAIN)
    return text.startswith(_NOT_THE_USER) or (is_unsaid and text.startswith(_TAG))


def _item(payload: Any, calls: SessionCalls, typed: set[str] | None) -> Iterator[Step]:
    match dig(payload, "type"):
        case "message":
            parts = [text for text in texts(dig(payload, "content")) if not _IMAGE.fullmatch(text.strip())]
            words = "\n".join(parts).strip()
            if dig(payload, "role") == "assistant":
                reply = _FOR_THE_HOST.sub("", _PLAN.sub("", words)).strip()
                yield from [Step("reply", reply)] if reply else []
                yield from (Step("proposal", plan) for plan in _PLAN.findall(words))
            elif dig(payload, "role") == "user":
                is_whole = words in (typed or ())
                prompt = (
                    words if is_whole else "\n".join(text for text in parts if not _is_of_host(text, typed)).strip()
                )
                yield from [Step("prompt", prompt)] if prompt else []
        case "agent_message":
            if task := _TASK.match("\n".join(texts(dig(payload, "content")))):
                yield Step("task", task["text"].strip() or task["name"].replace("_", " "))
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
