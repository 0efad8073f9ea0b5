"""What a required file starts as, where a workspace asks for it (`context.templates: true`)."""

from eventlog.settings import Locale

_EN = {
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
_ZH = {
    "AGENTS.md": """\
# AGENTS.md

代理在这里如何工作。

## 规则

## 命令
""",
    "SOUL.md": """\
# SOUL.md

代理的身份:性格、语气与边界。

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
    """The template of a file by its name; None where there is none."""
    return {"en": _EN, "zh": _ZH}[locale].get(_ALIASES.get(name, name))
