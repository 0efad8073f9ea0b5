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
    keywords: str
    look_there: str  # with {path}
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
        keywords="Index",
        look_there="Keywords of all that is known here: {path}; look there for what is not told above.",
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
        keywords="索引",
        look_there="已知内容的关键词索引：{path}；上文未提及的，请查阅。",
        phrases=CutPhrases(
            more="[… 还有 {count} 行：`{command}`]",
            dropped="[还有 {count} 部分因篇幅未列出：`{command}` 显示全部]",
        ),
    ),
}
