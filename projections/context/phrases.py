"""Phrases of a context in every language a user may choose; what others wrote is not translated."""

from eventlog.projections.context.budget import CutPhrases

TYPE_CHECKING = False
if TYPE_CHECKING:
    from eventlog.settings.schema import Locale


class ContextPhrases:
    """Titles and fixed phrases."""

    bootstrap: str
    notes: str  # with {day}
    facts: str
    user_memory: str
    project_memory: str
    own_summary: str
    last_summary: str  # with {session}
    todos: str
    on_branch: str  # with {branch}
    on_files: str
    files: str  # with {files}
    look_up: str  # the title of the next two
    search: str  # with {command}
    keywords: str  # with {path}
    full_stop: str
    phrases: CutPhrases

    def __init__(self, phrases: CutPhrases, **titles: str) -> None:
        vars(self).update(titles)
        self.phrases = phrases


PHRASES: "dict[Locale, ContextPhrases]" = {
    "en": ContextPhrases(
        bootstrap="First session here",
        notes="Notes of {day}",
        facts="Recent facts",
        user_memory="What is known about the user",
        project_memory="What is known about this project",
        own_summary="This session so far",
        last_summary="Last session: {session}",
        todos="Open to-dos",
        on_branch="What bears on the branch {branch}",
        on_files="What bears on the files changed lately",
        files="Files: {files}",
        look_up="Search",
        search="`{command} WORDS` finds what is known",
        keywords="; its keywords are in {path}",
        full_stop=".",
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
        todos="未完成的待办",
        on_branch="与分支 {branch} 相关",
        on_files="与最近改动的文件相关",
        files="文件：{files}",
        look_up="查找",
        search="用 `{command} 关键词` 查找已知内容",
        keywords="；索引见 {path}",
        full_stop="。",
        phrases=CutPhrases(
            more="[… 还有 {count} 行：`{command}`]",
            dropped="[还有 {count} 部分因篇幅未列出：`{command}` 显示全部]",
        ),
    ),
}
