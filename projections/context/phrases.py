"""Phrases of a context in every language a user may choose; what others wrote is not translated."""

from eventlog.fast.copies import Values
from eventlog.projections.views.labels import LABELS, Phrase

TYPE_CHECKING = False
if TYPE_CHECKING:
    from eventlog.settings.schema import Locale


class ContextPhrases(Values):
    """Titles and fixed phrases."""

    locale: "Locale"

    bootstrap = Phrase("First session here", "首次会话")
    before = Phrase(  # the title of the next five lines
        "This conversation before it was compacted",
        "压缩之前的本会话",
    )
    asked = Phrase("Asked first: {text}", "最初的请求：{text}")
    rule = Phrase("The user said: {text}", "用户说过：{text}")
    failed = Phrase("Failed: `{command}`", "失败：`{command}`")
    passed = Phrase("Passed after that: `{command}`", "之后通过：`{command}`")
    changed = Phrase("Changed last: {files}", "最近改动：{files}")
    notes = Phrase("Notes of {day}", "{day} 的笔记")
    facts = Phrase("Recent facts", "近期事实")
    user_memory = Phrase("What is known about the user", "关于用户")
    project_memory = Phrase("What is known about this project", "关于本项目")
    own_summary = Phrase("This session so far", "本会话至今")
    last_session = Phrase("Last session", "上次会话")
    sessions = Phrase("Earlier sessions", "更早的会话")
    todos = Phrase("Open to-dos", "未完成的待办")
    on_branch = Phrase("What bears on the branch {branch}", "与分支 {branch} 相关")
    on_files = Phrase("What bears on the files changed lately", "与最近改动的文件相关")
    look_up = Phrase("Search", "查找")  # the title of the next three
    search = Phrase(
        "`{program} search{option} WORDS` finds what is known, `show ID` all of a session",
        "用 `{program} search{option} 关键词` 查找已知内容，用 `show ID` 查看整个会话",
    )
    search_by_tool = Phrase(
        "the tool `recall` finds what is known, `{program} show{option} ID` all of a session",
        "用工具 `recall` 查找已知内容，用 `{program} show{option} ID` 查看整个会话",
    )
    index = Phrase("; {path} lists which words lead to which facts", "；哪些词指向哪些事实，见 {path}")
    full_stop = Phrase(".", "。")
    more = Phrase(  # of lines that have no room
        "[… {count} more lines: `{command}`]",
        "[… 还有 {count} 行：`{command}`]",
    )
    dropped = Phrase(  # of sections
        "[{count} parts have no room here: `{command}` shows all]",
        "[还有 {count} 部分因篇幅未列出：`{command}` 显示全部]",
    )


PHRASES = {locale: ContextPhrases(locale) for locale in LABELS}
