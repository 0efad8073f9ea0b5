"""The parts of an installation beside the hooks: permission to save, our MCP server, and rules; pure.

Each adds itself to the text of a host's file, replacing what an earlier release wrote, and removes itself.
"""

import re
from collections.abc import Callable, Iterable, Mapping
from pathlib import Path
from typing import Any, NamedTuple

from eventlog.app.setup.install.json_edit import JsonText
from eventlog.app.setup.install.toml_edit import TomlText
from eventlog.format.codec import dig
from eventlog.format.errors import BadRequest
from eventlog.hooks import prompts
from eventlog.hosts.profile import Grant, Permission, RuleFile, ServerFile, Verdict
from eventlog.settings.schema import Locale

_NAME = "eventlog"
_START_SCRIPT = re.compile(r"[/\\]eventlog[/\\]cli[/\\]mcp[/\\]start\.py")


class Saving(NamedTuple):
    """A host's verdict on its agent's saving unasked, and the fix, "" for none."""

    verdict: Verdict
    fix: str


class SavingRule(NamedTuple):
    """A host's narrowest rule for our saving commands; its room has the rule and the place for it."""

    rule: Permission
    grant: Grant

    def add(self, text: str) -> str:
        """Add the rule to the text of its file; raises BadRequest."""
        items = self.rule.items(self.grant)
        match self.rule.form:
            case "json":
                return self.without_outdated(text).with_items(self.rule.keys, items)
            case "toml":
                return TomlText(text).with_item(*self.rule.keys, *items)
            case "own":
                return items[0]

    def remove(self, text: str) -> str:
        """Remove the rule from the text of its file; raises BadRequest."""
        rule, grant = self
        match rule.form:
            case "json":
                return JsonText(text).without_items(rule.keys, lambda item: rule.is_own(item, grant))
            case "toml":
                return TomlText(text).without_item(*rule.keys, *rule.items(grant))
            case "own":
                return "" if rule.is_own(text, grant) else text

    def judge(self, texts: Iterable[str], *, by_tool: bool) -> Verdict:
        """Decide by the texts of all files of the host's rules; a refusal overrules a permission."""
        judged = self.rule.judge_tools if by_tool else self.rule.judge
        verdicts = [judged(parsed(text, self.rule.user_file), self.grant) for text in texts]
        return next((verdict for verdict in ("refused", "allowed") if verdict in verdicts), "asked")

    def without_outdated(self, text: str) -> JsonText:
        """Remove the rules of earlier releases; raises BadRequest."""
        rule, grant, items = self.rule, self.grant, self.rule.items(self.grant)
        return JsonText(text).without_items(rule.keys, lambda item: rule.is_own(item, grant) and item not in items)


def parsed(text: str, name: str) -> Any:
    """Parse the text of a host's file of that name; None for an invalid text."""
    try:
        return JsonText(text).value if name.endswith(".json") else TomlText(text).value
    except BadRequest:
        return None


class ServerEntry(NamedTuple):
    """The entry of our MCP server in a host's file, with the words of its command."""

    file: ServerFile
    words: list[str]

    @property
    def value(self) -> dict[str, Any]:
        """The entry."""
        command, *arguments = self.words
        split = {"command": command, "args": arguments}
        return {**self.file.entry, **({"command": self.words} if self.file.has_one_list else split)}

    def add(self, text: str) -> str:
        """Add the entry to the text of a file; raises BadRequest.

        Fields that a host or a person has added to an earlier entry of ours stay.
        """
        present = self.present(text)
        if present is not None and not starts_server(present):
            name = ".".join([*self.file.keys, _NAME])
            raise BadRequest(f"{name} is another server than ours", hint="give it another name, then do it again")
        merged = {**(present or {}), **self.value}
        return text if merged == present else self._edited(text).with_value([*self.file.keys, _NAME], merged)

    def remove(self, text: str) -> str:
        """Remove our entry from the text of a file; raises BadRequest."""
        if _NAME not in text or not starts_server(self.present(text)):
            return text
        return self._edited(text).without_value([*self.file.keys, _NAME])

    def present(self, text: str) -> Any:
        """Find the entry of a server with our name in a text; None for none. Raises BadRequest."""
        return dig(self._edited(text).value, *self.file.keys, _NAME)

    def _edited(self, text: str) -> JsonText | TomlText:
        return TomlText(text) if self.file.is_toml else JsonText(text)


def starts_server(entry: Any) -> bool:
    """Return whether an entry starts our server, of any version."""
    return any(map(_START_SCRIPT.search, _words(entry)))


def gone_files(entry: Any) -> list[str]:
    """List the missing files of an entry's command."""
    words = _words(entry)
    return [word for word in words if (word == words[0] or _START_SCRIPT.search(word)) and not Path(word).exists()]


def _words(entry: Any) -> list[str]:
    """Read the command of an entry with its arguments."""
    if not isinstance(entry, dict):
        return []
    command, arguments = entry.get("command"), entry.get("args", [])
    words = [command] if isinstance(command, str) else command
    lists = (words if isinstance(words, list) else [], arguments if isinstance(arguments, list) else [])
    return [word for part in lists for word in part if isinstance(word, str)]


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


class Rules(NamedTuple):
    """The first safety net for sessions whose start no hook can answer, in a host's file of rules.

    A file of our own (a rule, a skill), known by its head; or a marked block in a shared file (AGENTS.md).
    """

    file: RuleFile
    text: Callable[[], str]

    def add(self, present: str) -> str:
        """Add the rules to the text of their file."""
        if self.file.head:
            return self.file.head + self.text()
        newline = "\r\n" if "\r\n" in present else "\n"
        block = f"{_BEGIN}\n{self.text()}{_END}\n".replace("\n", newline)
        start, end = _block(present)
        if start >= 0:
            return present[:start] + block + present[end:]
        gap = "" if not present else newline if present.endswith("\n") else newline * 2
        return f"{present}{gap}{block}"

    def remove(self, present: str) -> str:
        """Remove the rules from the text of their file."""
        if self.file.head:
            return "" if present.startswith(self.file.head) else present
        start, end = _block(present)
        if start < 0:
            return present
        head = present[:start]
        blank = next((blank for blank in ("\r\n\r\n", "\n\n") if head.endswith(blank)), "")
        return head[: len(head) - len(blank) // 2] + present[end:]


def _block(text: str) -> tuple[int, int]:
    """Return the start and end of our block, with its line end; -1, -1 for none."""
    start = text.find(_BEGIN)
    end = text.find(_END, start)
    if start < 0 or end < 0:
        return -1, -1
    after = text.find("\n", end)
    return start, len(text) if after < 0 else after + 1
