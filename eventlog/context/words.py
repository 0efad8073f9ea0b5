"""The words of a context, in every language a user may choose; text from files and events is never translated."""

from typing import NamedTuple

from eventlog.context.budget import Phrases
from eventlog.settings import Locale


class Words(NamedTuple):
    """Titles and fixed phrases."""

    bootstrap: str
    notes: str  # with {day}
    facts: str
    user_memory: str
    project_memory: str
    own_summary: str
    last_summary: str  # with {session}
    phrases: Phrases


WORDS: dict[Locale, Words] = {
    "en": Words(
        bootstrap="First session here",
        notes="Notes of {day}",
        facts="Recent facts",
        user_memory="What is known about the user",
        project_memory="What is known about this project",
        own_summary="This session so far",
        last_summary="Last session: {session}",
        phrases=Phrases(
            more="[… {count} more lines: `{command}`]",
            dropped="[{count} parts have no room here: `eventlog context --budget 100000` shows all]",
        ),
    ),
    "zh": Words(
        bootstrap="首次会话",
        notes="{day} 的笔记",
        facts="近期事实",
        user_memory="关于用户",
        project_memory="关于本项目",
        own_summary="本会话至今",
        last_summary="上次会话:{session}",
        phrases=Phrases(
            more="[… 还有 {count} 行:`{command}`]",
            dropped="[还有 {count} 部分因篇幅未列出:`eventlog context --budget 100000` 显示全部]",
        ),
    ),
}
