"""Phrases of a context in every language a user may choose; what others wrote is not translated."""

from typing import NamedTuple

from eventlog.projections.context.budget import CutPhrases
from eventlog.settings.schema import Locale


class ContextPhrases(NamedTuple):
    """Titles and fixed phrases."""

    bootstrap: str
    notes: str  # with {day}
    facts: str
    user_memory: str
    project_memory: str
    own_summary: str
    last_summary: str  # with {session}
    phrases: CutPhrases


PHRASES: dict[Locale, ContextPhrases] = {
    "en": ContextPhrases(
        bootstrap="First session here",
        notes="Notes of {day}",
        facts="Recent facts",
        user_memory="What is known about the user",
        project_memory="What is known about this project",
        own_summary="This session so far",
        last_summary="Last session: {session}",
        phrases=CutPhrases(
            more="[… {count} more lines: `{command}`]",
            dropped="[{count} parts have no room here: `{command}` shows all]",
        ),
    ),
    "zh": ContextPhrases(
        bootstrap="首次会话",
        notes="{day} 的笔记",
        facts="近期事实",
        user_memory="关于用户",
        project_memory="关于本项目",
        own_summary="本会话至今",
        last_summary="上次会话：{session}",
        phrases=CutPhrases(
            more="[… 还有 {count} 行：`{command}`]",
            dropped="[还有 {count} 部分因篇幅未列出：`{command}` 显示全部]",
        ),
    ),
}

# what a required file starts as, where a workspace asks for it (`context.templates: true`)
_TEMPLATES_EN = {
    "AGENTS.md": """\
# AGENTS.md

How agents work here.

## Rules

## Commands
""",
    "SOUL.md": """\
# SOUL.md

Who the agent is: its character, its tone, its limits.

## Character

## Limits
""",
    "USER.md": """\
# USER.md

Whom the agent works for.

## Preferences

## Background

## Communication
""",
}
_TEMPLATES_ZH = {
    "AGENTS.md": """\
# AGENTS.md

代理在这里如何工作。

## 规则

## 命令
""",
    "SOUL.md": """\
# SOUL.md

代理的身份：性格、语气与边界。

## 性格

## 边界
""",
    "USER.md": """\
# USER.md

用户信息。

## 偏好

## 技术背景

## 沟通风格
""",
}
_ALIASES = {"SPIRIT.md": "SOUL.md", "OWNER.md": "USER.md"}


def template(name: str, locale: Locale) -> str | None:
    """Return the template of a file by its name; None where there is none."""
    return {"en": _TEMPLATES_EN, "zh": _TEMPLATES_ZH}[locale].get(_ALIASES.get(name, name))
