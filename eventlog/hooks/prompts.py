"""What agents are told, in every language a user may choose: how to save, and when asked, to do it now.

The commands are exact, with the conversation's own id: an agent should not have to look anything up.
"""

import os
import sys

from eventlog.hosts.call import HookCall
from eventlog.layers import MARK, PRE_COMPACTION, STOP_FALLBACK
from eventlog.store import Store

_PLAIN = frozenset("ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789._-/:=@+")

_COMMANDS = {
    "en": """\
    {command} summary {about} --topic "<a few words>" --summary "<what was done, 1-2 sentences>" \
[--decision "<…>"]… [--todo "<…>"]… [--done "<an earlier to-do>"]…
    {command} fact "<one thing worth knowing in a later session>" {about} [--type W|B|O] \
[--category decision|lesson|preference] [--key <slug>]

`--type`: W what is true of the project or the world, B what was experienced, O what the user prefers. A later fact \
with the same `--key` replaces the earlier one.""",
    "zh": """\
    {command} summary {about} --topic "<几个字>" --summary "<做了什么，一两句话>" \
[--decision "<…>"]… [--todo "<…>"]… [--done "<已完成的待办>"]…
    {command} fact "<以后的会话值得知道的一件事>" {about} [--type W|B|O] \
[--category decision|lesson|preference] [--key <slug>]

`--type`：W 项目或世界的事实，B 经历，O 用户的偏好。`--key` 相同的新事实会取代旧的。""",
}

_START = {
    "en": """\
# Memory (eventlog)

When you have completed what the user asked for, save it in the same turn, silently: one summary of the session, \
and each key fact. Do not mention it in your reply. Once per conversation is enough; saving again revises the summary. \
Skip it when the conversation is too short to matter.

{commands}
""",
    "zh": """\
# 记忆 (eventlog)

完成用户请求的任务后，在同一回合内静默保存：一条会话摘要，以及每条关键事实。不要在回复中提及。\
每个会话保存一次即可；再次保存会修订摘要。会话太短或无意义时跳过。

{commands}
""",
}

_FLUSH = {
    "en": """\
{mark} The context is being compacted. Save what must not be lost, silently: the key facts so far, and one summary of \
this stage (50-100 words).

{commands}
""",
    "zh": """\
{mark} 上下文即将压缩。请静默保存不能丢失的内容：目前的关键事实，以及一条本阶段的摘要（50-100 字）。

{commands}
""",
}

_ASK = {
    "en": """\
{mark} Nothing of this conversation has been saved yet. If it holds anything worth knowing later, save one summary and \
the key facts now, then stop; do not mention it and do nothing else. If it does not, just stop.

{commands}
""",
    "zh": """\
{mark} 本会话尚未保存任何内容。如有以后值得知道的内容，现在保存一条摘要和关键事实，然后结束；不要提及，也不要做别的事。\
如果没有，直接结束。

{commands}
""",
}


def start(store: Store, call: HookCall, locale: str) -> str:
    """The first net: how to save, told at the start of a session."""
    return _say(_START, _Save(store, call), locale)


def flush(store: Store, call: HookCall, locale: str) -> str:
    """The second net: asked before a compaction, or right after it."""
    save = _Save(store, call, PRE_COMPACTION)
    return _say(_FLUSH, save, locale).replace(" summary --session", " summary --stage --session")


def ask(store: Store, call: HookCall, locale: str) -> str:
    """The last net: asked at the end of a turn, once."""
    return _say(_ASK, _Save(store, call, STOP_FALLBACK), locale)


def program() -> str:
    """How the agent's shell calls us."""
    return quote(_executable())


def store_option(store: Store) -> str:
    """The option that leads to a store of another place than the agent's shell would find."""
    return "" if _is_default(store) else f" --store {quote(store.root)}"


class _Save:
    """The command an agent calls, and what every call of it says."""

    def __init__(self, store: Store, call: HookCall, layer: int = 0) -> None:
        layered = f" --layer {layer}" if layer else ""
        self.command = program()
        self.about = f"--session {quote(call.session)} --agent {call.agent}{layered}{store_option(store)}"


def _say(texts: "dict[str, str]", save: _Save, locale: str) -> str:
    language = locale if locale in texts else "en"
    commands = _COMMANDS[language].format(command=save.command, about=save.about)
    return texts[language].format(mark=MARK, commands=commands)


def quote(word: str) -> str:
    """The word as a POSIX shell reads it back; shlex costs too much here."""
    if word and _PLAIN.issuperset(word):
        return word
    return "'" + word.replace("'", "'\\''") + "'"


def _executable() -> str:
    """`eventlog` where the agent's shell will find it by name, else the one beside this Python."""
    beside = os.path.join(os.path.dirname(sys.executable or ""), "eventlog")
    places = os.environ.get("PATH", "").split(os.pathsep)
    found = next((path for place in places if os.path.exists(path := f"{place}/eventlog")), "")
    return beside if os.path.exists(beside) and not (found and os.path.samefile(found, beside)) else "eventlog"


def _is_default(store: Store) -> bool:
    return store.root == Store.locate(None, os.environ).root
