"""Rule files of hosts: the first safety net for sessions whose start no hook can answer.

A file of our own (a rule, a skill), or a marked block in a shared file (AGENTS.md).
"""

from collections.abc import Mapping

from eventlog.hooks import prompts
from eventlog.hosts.profile import HostProfile, RuleFile, Scope, profiles
from eventlog.settings.schema import Locale

_BEGIN, _END = "<!-- eventlog:begin -->", "<!-- eventlog:end -->"


_TEXT: Mapping[Locale, str] = {
    "en": """\
## Memory

When you have completed what the user asked for, have committed, or are asked to remember, save it in the same turn, \
silently. Skip it when the conversation is too short to matter. Do not mention it in your reply.

{by_tool}    {program} summary{store} --topic 'a few words' --summary 'what was done'
    {program} fact{store} 'one thing worth knowing in a later session' --entity 'what it is about'
    {program} plan{store} --path user --heading 'Communication' --content 'what is lastingly true of the user'

{quoting}

`plan` changes one section of USER.md, and keeps what a person wrote. What earlier sessions saved about something: \
`{program} search{store} 'a few words'`
""",
    "zh": """\
## 记忆

完成用户请求的任务、提交代码或用户要求记住时，在同一回合内静默保存。会话太短或无意义时跳过。不要在回复中提及。

{by_tool}    {program} summary{store} --topic '几个字' --summary '做了什么'
    {program} fact{store} '以后的会话值得知道的一件事' --entity '关于什么'
    {program} plan{store} --path user --heading '沟通' --content '用户长期不变的情况'

{quoting}

`plan` 修改 USER.md 的一节，保留人写的内容。以前的会话就某事保存的内容：`{program} search{store} '几个字'`
""",
}

_BY_TOOL: Mapping[Locale, str] = {
    "en": """\
With the tools of the MCP server eventlog: `remember` (kind summary with topic and content; else a fact: content, \
entities, category; for what is lastingly true of the user kind section: about user, heading, content, into USER.md), \
and `recall` to search what earlier sessions saved. Without them, in a shell:

""",
    "zh": """\
用 MCP 服务器 eventlog 的工具：`remember`（kind summary，topic、content；否则为事实：content、entities、category；\
用户长期不变的情况用 kind section：about user、heading、content，写入 USER.md），`recall` 查找以前会话保存的内容。\
没有这些工具时，用 shell：

""",
}


def rule_text(locale: Locale, program: str, *, store: str, has_tools: bool) -> str:
    """Explain how to save: with `program`, as a shell calls it, and the option for the `store`; by tool, if there."""
    quoting, by_tool = prompts.QUOTING[locale], _BY_TOOL[locale] if has_tools else ""
    return _TEXT[locale].format(program=program, quoting=quoting, store=store, by_tool=by_tool)


def shares_rules(host: HostProfile, scope: Scope) -> list[HostProfile]:
    """List the other hosts that read the same rule file."""
    if scope != "project":
        return []
    return [
        other
        for other in profiles().values()
        if other.rules.project_file == host.rules.project_file and other.agent != host.agent
    ]


def add(present: str, rule: RuleFile, text: str) -> str:
    """Add the rules to the text of their file, replacing our earlier rules."""
    return rule.head + text if rule.head else _with_block(present, text)


def remove(present: str, rule: RuleFile) -> str:
    """Remove the rules from the text of their file; a file of our own is recognised by its head."""
    if rule.head:
        return "" if present.startswith(rule.head) else present
    return _without_block(present)


def _with_block(present: str, text: str) -> str:
    newline = "\r\n" if "\r\n" in present else "\n"
    block = f"{_BEGIN}\n{text}{_END}\n".replace("\n", newline)
    start, end = _block(present)
    if start >= 0:
        return present[:start] + block + present[end:]
    gap = "" if not present else newline if present.endswith("\n") else newline * 2
    return f"{present}{gap}{block}"


def _without_block(present: str) -> str:
    start, end = _block(present)
    if start < 0:
        return present
    head = present[:start]
    for blank in ("\r\n\r\n", "\n\n"):
        if head.endswith(blank):
            head = head[: -len(blank) // 2]
            break
    return head + present[end:]


def _block(text: str) -> tuple[int, int]:
    """Return the start and end of our block, with its line end; -1, -1 for none."""
    start = text.find(_BEGIN)
    end = text.find(_END, start)
    if start < 0 or end < 0:
        return -1, -1
    after = text.find("\n", end)
    return start, len(text) if after < 0 else after + 1
