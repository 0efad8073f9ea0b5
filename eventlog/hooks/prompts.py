"""Texts for agents in every language of the settings: how to save, and requests to save now.

Where the host starts our MCP server, its tools are named first: no shell reads what is saved, and no sandbox keeps it
from the store. Else commands are exact, with the absolute path (Codex's shell lacks the PATH of its hooks) and the
conversation's id: an agent need not look anything up. Texts stand in single quotes: between double quotes a shell runs
backticks. Hosts escape nothing in them, so they have no angle brackets: a here-document is named, not shown.
"""

import sys

from eventlog import hosts
from eventlog.fast import os
from eventlog.format import MARK, PRE_COMPACTION, STOP_FALLBACK
from eventlog.hosts.call import HookCall
from eventlog.hosts.save_commands import VERBS, shell_word
from eventlog.store import Store

_START = {
    "en": """\
# Memory (eventlog)

When you have completed what the user asked for, have committed, or are asked to remember, save it in the same turn, \
silently: one summary of the session, and each key fact. Do not mention it in your reply. Once per conversation is \
enough; saving again revises the summary. Skip it when the conversation is too short to matter.

{how}
""",
    "zh": """\
# 记忆（eventlog）

完成用户请求的任务、提交代码或用户要求记住时，在同一回合内静默保存：一条会话摘要，以及每条关键事实。不要在回复中提及。\
每个会话保存一次即可；再次保存会修订摘要。会话太短或无意义时跳过。

{how}
""",
}

_FLUSH = {
    "en": """\
{mark} The context is being compacted{state}. Save what must not be lost, silently: a summary of this stage in 50-100 \
words ({stage}) and each key fact ({fact}).{quoting}
""",
    "zh": """\
{mark} 上下文即将压缩{state}。请静默保存不能丢失的内容：本阶段的摘要，50-100 字（{stage}），\
以及每条关键事实（{fact}）。{quoting}
""",
}

_ASK = {
    "en": """\
{mark} Nothing of this conversation has been saved yet. If it holds something worth knowing later, save it now without \
mentioning it: a summary ({summary}) and each key fact ({fact}).{quoting} Then stop; if there is nothing, just stop.
""",
    "zh": """\
{mark} 本会话尚未保存任何内容。如有以后值得知道的内容，现在静默保存：\
一条摘要（{summary}），以及每条关键事实（{fact}）。{quoting}\
然后结束；如果没有，直接结束。
""",
}

_ASK_WITH_PROMPT = {
    "en": """\
{mark} Nothing of this conversation has been saved yet. When you have done what the user asks, and if the conversation \
holds something worth knowing later, save it in the same turn without mentioning it: a summary ({summary}) and each \
key fact ({fact}).{quoting}
""",
    "zh": """\
{mark} 本会话尚未保存任何内容。完成用户的请求后，如有以后值得知道的内容，在同一回合内静默保存：\
一条摘要（{summary}），以及每条关键事实（{fact}）。{quoting}
""",
}

_BY_TOOL = {  # how to save with the tools of our server; the shell only where a host has not connected it
    "en": {
        "how": """\
Save with the tool `remember` of the MCP server eventlog: a summary has kind summary, topic, content (what was done, \
1-2 sentences), decisions, todos, and done (earlier to-dos); a fact has content (one thing worth knowing in a later \
session), entities, category (decision, lesson, preference), about user where it is about the user, and key: a later \
fact with the same key replaces the earlier one. `recall` searches what earlier sessions saved. What is lastingly \
true of the user belongs in their USER.md: kind section, about user, heading (such as Communication), content (all \
its lines).

If these tools are missing, search for them; else, in a shell: `{fact} 'one thing'`, in single quotes.""",
        "summary": "the tool `remember` of eventlog, with kind summary, topic, content",
        "stage": "the tool `remember` of eventlog, with kind stage, topic, content",
        "fact": "`remember` with content, entities",
    },
    "zh": {
        "how": """\
用 MCP 服务器 eventlog 的工具 `remember` 保存：摘要用 kind summary、topic、content（做了什么，一两句话）、\
decisions、todos、done（已完成的待办）；事实用 content（以后的会话值得知道的一件事）、entities、\
category（decision、lesson、preference），关于用户的加 about user，以及 key：相同的新事实会取代旧的。\
`recall` 查找以前会话保存的内容。\
用户长期不变的情况写入 USER.md：kind section、about user、heading（如“沟通”）、content（该节全部内容）。

没有这些工具时先查找；仍没有时，在 shell 中用单引号：`{fact} '一件事'`。""",
        "summary": "eventlog 的工具 `remember`，kind summary、topic、content",
        "stage": "eventlog 的工具 `remember`，kind stage、topic、content",
        "fact": "`remember`，content、entities",
    },
}

_BY_SHELL = {
    "en": {
        "how": """\
    {summary} --topic 'a few words' --summary 'what was done, 1-2 sentences'
    {fact} 'one thing worth knowing in a later session' --entity 'what it is about'

{quoting}

`summary` also takes --decision '…', --todo '…' and --done 'an earlier to-do', each repeatable. `fact` also takes \
--category decision|lesson|preference, --type O (what the user prefers) or B (what was experienced), and --key slug: a \
later fact with the same key replaces the earlier one. What is lastingly true of the user goes into their USER.md by \
`plan`, called like `fact`: --path user --heading 'Communication' --content 'all lines of that section'.""",
        "summary": "`{summary} --topic 'a few words' --summary 'what was done'`",
        "stage": "`{summary} --stage --topic 'a few words' --summary 'what was done'`",
        "fact": "`{fact} 'one thing' --entity 'what it is about'`",
    },
    "zh": {
        "how": """\
    {summary} --topic '几个字' --summary '做了什么，一两句话'
    {fact} '以后的会话值得知道的一件事' --entity '关于什么'

{quoting}

`summary` 还可加 --decision '…'、--todo '…'、--done '已完成的待办'，均可重复。`fact` 还可加 \
--category decision|lesson|preference、--type O（用户的偏好）或 B（经历）、--key 短名：相同的新事实会取代旧的。\
用户长期不变的情况用 `plan` 写入 USER.md（调用同 `fact`）：\
--path user --heading '沟通' --content '该节全部内容'。""",
        "summary": "`{summary} --topic '几个字' --summary '做了什么'`",
        "stage": "`{summary} --stage --topic '几个字' --summary '做了什么'`",
        "fact": "`{fact} '一件事' --entity '关于什么'`",
    },
}

QUOTING = {
    "en": "Always single quotes: between double ones a shell runs backticks and $(…). For a text with a single quote "
    "in it write - and give it as a here-document whose delimiter is quoted ('EOF').",
    "zh": "一律用单引号：双引号中的反引号与 $(…) 会被 shell 执行。文本含单引号时写作 -，"
    "并用定界符带引号（'EOF'）的 here-document 给出。",
}

_USED = {"en": "{used:g}% full", "zh": "已用 {used:g}%"}
_MESSAGES = {"en": "{count} messages", "zh": "{count} 条消息"}
_TOGETHER = {"en": (" (", ", ", ")"), "zh": ("（", "，", "）")}


def start(store: Store, call: HookCall, locale: str, source: str = "") -> str:
    """Explain how to save, at the start of a session: the first safety net; after a compaction ask to save now."""
    first = flush(store, call, locale, tells_how=False) + "\n" if source == "compact" else ""
    return first + _fill(_START, store, call, locale)


def flush(store: Store, call: HookCall, locale: str, *, tells_how: bool = True) -> str:
    """Ask to save before a compaction, or right after it: the second safety net."""
    return _fill(_FLUSH, store, call, locale, PRE_COMPACTION, tells_how=tells_how)


def ask(store: Store, call: HookCall, locale: str) -> str:
    """Ask to save, once, at the end of a turn or with the prompt after it: the last safety net."""
    return _fill(_ASK if call.type == "turn_end" else _ASK_WITH_PROMPT, store, call, locale, STOP_FALLBACK)


def program() -> str:
    """Return the command by which an agent's shell calls this program; it does not need a PATH."""
    python = interpreter()
    places = filter(os.path.isabs, os.environ.get("PATH", "").split(os.pathsep))
    for place in (os.path.dirname(python), *map(os.path.abspath, places)):
        if os.path.exists(path := os.path.join(place, "eventlog")):
            return shell_word(path)
    return f"{shell_word(python)} -m eventlog" if python else "eventlog"


def interpreter() -> str:
    """Return the absolute path of the running Python, "" for none."""
    return os.path.abspath(sys.executable) if sys.executable else ""


def store_option(store: Store) -> str:
    """Return the option for a store that the agent's shell would not find by itself; else ""."""
    return "" if store.root == Store.locate(None, os.environ).root else f" --store {shell_word(store.root)}"


def _fill(
    texts: "dict[str, str]", store: Store, call: HookCall, locale: str, layer: int = 0, *, tells_how: bool = True
) -> str:
    """Complete a text with how to save: by tool where the host starts our server, else by commands of a shell."""
    language = locale if locale in _START else "en"
    layered = f" --layer {layer}" if layer else ""
    options = f"{_session_option(call)}{layered}{store_option(store)}"
    commands = {verb: f"{program()} {verb}{options}" for verb in VERBS} | {"quoting": QUOTING[language]}
    by_tool = hosts.protocol(call.agent).has_tools(call.project)
    ways = {name: way.format(**commands) for name, way in (_BY_TOOL if by_tool else _BY_SHELL)[language].items()}
    quoting = "" if by_tool or not tells_how else f"{' ' if language == 'en' else ''}{QUOTING[language]}"
    return texts[language].format(mark=MARK, state=_state(call, language), quoting=quoting, **ways)


def _session_option(call: HookCall) -> str:
    """Return the option for the conversation, unless the host passes its id in the environment."""
    variable = hosts.protocol(call.agent).session_variable
    is_passed = variable and os.environ.get(variable) == call.session
    return "" if is_passed else f" --session {shell_word(call.session)}"


def _state(call: HookCall, language: str) -> str:
    """Describe how full the context is, as far as the host reports it."""
    used, count = call.fields.get("context_usage_percent"), call.fields.get("message_count")
    parts = [_USED[language].format(used=used)] if isinstance(used, (int, float)) else []
    parts += [_MESSAGES[language].format(count=count)] if isinstance(count, int) else []
    opening, between, closing = _TOGETHER[language]
    return f"{opening}{between.join(parts)}{closing}" if parts else ""
