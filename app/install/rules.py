"""Rule files for hosts that read them: the first net again, for sessions whose start no hook could speak at.

A file of our own (Cursor's `.mdc`, a Claude skill), or a marked block in a file others share (AGENTS.md, GEMINI.md).
"""

from collections.abc import Callable, Mapping
from pathlib import Path
from typing import NamedTuple

from eventlog.app.install.host_configs import HOST_CONFIGS, HostConfig, Scope
from eventlog.app.install.install import FileChange, InstallTarget, change, restore
from eventlog.settings.schema import Locale

_BEGIN, _END = "<!-- eventlog:begin -->", "<!-- eventlog:end -->"


class Rule(NamedTuple):
    """Where one host looks for rules; no user file where it has none."""

    project_file: str
    user_file: str | None  # below the host's directory
    session: str  # how a shell command of the agent finds its conversation's id
    head: str = ""  # of a file of our own; "" for a block in a shared one


_GIVEN = "<the session id given at the start>"
_MDC = "---\ndescription: Save what is worth knowing later (eventlog)\nalwaysApply: true\n---\n\n"
_SKILL = (
    "---\nname: eventlog\ndescription: Save a summary of the session and its key facts when a task is done, or look up "
    "what earlier sessions saved. Use at the end of every task.\n---\n\n"
)

_RULES: Mapping[str, Rule] = {
    "claude": Rule(".claude/skills/eventlog/SKILL.md", "skills/eventlog/SKILL.md", '"$CLAUDE_CODE_SESSION_ID"', _SKILL),
    "cursor": Rule(".cursor/rules/eventlog.mdc", None, '"$CURSOR_CONVERSATION_ID"', _MDC),
    "codex": Rule("AGENTS.md", "AGENTS.md", _GIVEN),
    "gemini": Rule("GEMINI.md", "GEMINI.md", _GIVEN),
    "copilot": Rule("AGENTS.md", None, _GIVEN),
    "vscode": Rule("AGENTS.md", None, _GIVEN),
}

_TEXT: Mapping[Locale, str] = {
    "en": """\
## Memory

When you have completed what the user asked for, save it in the same turn, silently, once per conversation. Skip it \
when the conversation is too short to matter. Do not mention it in your reply.

    eventlog summary --session {session} --topic "<a few words>" --summary "<what was done>"
    eventlog fact "<one thing worth knowing in a later session>" --session {session}

What earlier sessions saved: `eventlog query --type fact --project .`
""",
    "zh": """\
## 记忆

完成用户请求的任务后,在同一回合内静默保存,每个会话一次。会话太短或无意义时跳过。不要在回复中提及。

    eventlog summary --session {session} --topic "<几个字>" --summary "<做了什么>"
    eventlog fact "<以后的会话值得知道的一件事>" --session {session}

以前的会话保存的内容:`eventlog query --type fact --project .`
""",
}


def path_of(target: InstallTarget, host: HostConfig, scope: Scope) -> Path | None:
    """The host's rule file; None where it has none there."""
    rule = _RULES[host.agent]
    if scope == "project":
        return target.project / rule.project_file
    return target.directory(host) / rule.user_file if rule.user_file else None


def install_rules(target: InstallTarget, host: HostConfig, scope: Scope, locale: Locale) -> FileChange | None:
    """Write the rules; None where the host has no such file. Raises BadRequest or NotStored."""
    path, rule = path_of(target, host, scope), _RULES[host.agent]
    if path is None:
        return None
    text = _TEXT[locale].format(session=rule.session)
    return change(target.store, path, _edit(rule, text), _strip(rule))


def uninstall_rules(target: InstallTarget, host: HostConfig, scope: Scope) -> FileChange | None:
    """Take the rules away; None where there can be none. A block in a shared file goes whoever asked for it."""
    path = path_of(target, host, scope)
    if path is None:
        return None
    return restore(target.store, path, _strip(_RULES[host.agent]), lambda text: not text.strip())


def shares_rules(host: HostConfig, scope: Scope) -> list[HostConfig]:
    """Other hosts that read the same rule file."""
    ours = _RULES[host.agent]
    same = (name for name, rule in _RULES.items() if rule.project_file == ours.project_file and name != host.agent)
    return [HOST_CONFIGS[name] for name in same] if scope == "project" else []


def _edit(rule: Rule, text: str) -> Callable[[str], str]:
    if rule.head:
        return lambda _: rule.head + text
    return lambda there: _with_block(there, text)


def _strip(rule: Rule) -> Callable[[str], str]:
    """A file of our own is ours as long as it begins as we began it."""
    if rule.head:
        return lambda there: "" if there.startswith(rule.head) else there
    return _without_block


def _with_block(there: str, text: str) -> str:
    newline = "\r\n" if "\r\n" in there else "\n"
    block = f"{_BEGIN}\n{text}{_END}\n".replace("\n", newline)
    start, end = _block(there)
    if start >= 0:
        return there[:start] + block + there[end:]
    gap = "" if not there else newline if there.endswith("\n") else newline * 2
    return f"{there}{gap}{block}"


def _without_block(there: str) -> str:
    start, end = _block(there)
    if start < 0:
        return there
    head = there[:start]
    for blank in ("\r\n\r\n", "\n\n"):
        if head.endswith(blank):
            head = head[: -len(blank) // 2]
            break
    return head + there[end:]


def _block(text: str) -> tuple[int, int]:
    """Where our block starts and ends, its line end included; -1 where there is none."""
    start = text.find(_BEGIN)
    end = text.find(_END, start)
    if start < 0 or end < 0:
        return -1, -1
    after = text.find("\n", end)
    return start, len(text) if after < 0 else after + 1
