"""Templates of the user's own files, in every language a user may choose; an unfilled template has no content."""

TYPE_CHECKING = False
if TYPE_CHECKING:
    from eventlog.settings.schema import Locale

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
    "profile.md": """\
# About the user

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
    "profile.md": """\
# 用户记忆

## 偏好

## 技术背景

## 沟通风格
""",
}
_ALIASES = {"SPIRIT.md": "SOUL.md", "OWNER.md": "USER.md"}


_TEMPLATES: "dict[Locale, dict[str, str]]" = {"en": _TEMPLATES_EN, "zh": _TEMPLATES_ZH}


def template(name: str, locale: "Locale") -> str | None:
    """Return the template of a file by its name, or None."""
    return _TEMPLATES[locale].get(_ALIASES.get(name, name))


def is_template(text: str) -> bool:
    """Return whether a text is a template that was never filled in."""
    return any(text == default for texts in _TEMPLATES.values() for default in texts.values())
