"""Phrases of a context in every language a user may choose; what others wrote is not translated."""

from eventlog.fast.copies import Values
from eventlog.projections.views.labels import by_language


class ContextPhrases(Values):
    """Titles and fixed phrases."""

    bootstrap: str
    before: str  # the title of what a conversation was about before it was compacted, in these lines
    asked: str  # with {text}
    rule: str  # with {text}
    failed: str  # with {command}
    passed: str  # with {command}
    changed: str  # with {files}
    notes: str  # with {day}
    facts: str
    user_memory: str
    project_memory: str
    own_summary: str
    last_session: str
    sessions: str
    todos: str
    on_branch: str  # with {branch}
    on_files: str
    look_up: str  # the title of the next three
    search: str  # with {program} and {option}
    search_by_tool: str  # with the same
    index: str  # with {path}
    full_stop: str
    more: str  # of lines that have no room, with {count} and {command}
    dropped: str  # of sections, with the same


_WORDS = (  # by name, in each language
    ("bootstrap", "First session here", "首次会话"),
    ("before", "This conversation before it was compacted", "压缩之前的本会话"),
    ("asked", "Asked first: {text}", "最初的请求：{text}"),
    ("rule", "The user said: {text}", "用户说过：{text}"),
    ("failed", "Failed: `{command}`", "失败：`{command}`"),
    ("passed", "Passed after that: `{command}`", "之后通过：`{command}`"),
    ("changed", "Changed last: {files}", "最近改动：{files}"),
    ("notes", "Notes of {day}", "{day} 的笔记"),
    ("facts", "Recent facts", "近期事实"),
    ("user_memory", "What is known about the user", "关于用户"),
    ("project_memory", "What is known about this project", "关于本项目"),
    ("own_summary", "This session so far", "本会话至今"),
    ("last_session", "Last session", "上次会话"),
    ("sessions", "Earlier sessions", "更早的会话"),
    ("todos", "Open to-dos", "未完成的待办"),
    ("on_branch", "What bears on the branch {branch}", "与分支 {branch} 相关"),
    ("on_files", "What bears on the files changed lately", "与最近改动的文件相关"),
    ("look_up", "Search", "查找"),
    (
        "search",
        "`{program} search{option} WORDS` finds what is known, `show ID` all of a session",
        "用 `{program} search{option} 关键词` 查找已知内容，用 `show ID` 查看整个会话",
    ),
    (
        "search_by_tool",
        "the tool `recall` finds what is known, `{program} show{option} ID` all of a session",
        "用工具 `recall` 查找已知内容，用 `{program} show{option} ID` 查看整个会话",
    ),
    ("index", "; {path} lists which words lead to which facts", "；哪些词指向哪些事实，见 {path}"),
    ("full_stop", ".", "。"),
    ("more", "[… {count} more lines: `{command}`]", "[… 还有 {count} 行：`{command}`]"),
    (
        "dropped",
        "[{count} parts have no room here: `{command}` shows all]",
        "[还有 {count} 部分因篇幅未列出：`{command}` 显示全部]",
    ),
)
PHRASES = by_language(ContextPhrases, _WORDS)
