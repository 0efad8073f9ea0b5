"""The words of rendered files, in every language a user may choose; text from events is never translated.

Imported inside agents' hooks: standard library only.
"""

from eventlog.fast.copies import Values

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable
    from typing import TypeVar

    from eventlog.settings.schema import Locale

    _Words = TypeVar("_Words", bound=Values)

_LANGUAGES: "tuple[Locale, Locale]" = ("en", "zh")


class Labels(Values):
    """Headings and fixed phrases."""

    session: str
    topic: str
    session_id: str
    time: str
    project: str
    mode: str
    workflow: str
    free: str
    done: str
    key_decisions: str
    open_ends: str
    memory: str
    decisions: str
    preferences: str
    lessons: str
    knowledge: str
    general: str  # what is true whatever the project
    experience: str
    agents_notes: str  # in the place of a title that is a person's own
    more: str  # with {count} and {command}
    events: str
    insights: str
    todos: str
    index_title: str
    index_key: str  # how a line of the index is read
    keywords: str
    sessions: str
    projects: str
    counts: str  # with {facts} and {sessions}


_WORDS = (  # by name, in each language
    ("session", "Session summary", "会话摘要"),
    ("topic", "Topic", "主题"),
    ("session_id", "Session ID", "Session ID"),
    ("time", "Time", "时间"),
    ("project", "Project", "项目"),
    ("mode", "Mode", "模式"),
    ("workflow", "workflow", "工作流"),
    ("free", "free", "自由"),
    ("done", "What was done", "做了什么"),
    ("key_decisions", "Key decisions", "关键决策"),
    ("open_ends", "Open", "未完成"),
    ("memory", "Memory", "长期记忆"),
    ("decisions", "Key decisions", "重要决策"),
    ("preferences", "User preferences", "用户偏好"),
    ("lessons", "Lessons", "经验教训"),
    ("knowledge", "Project knowledge", "项目知识"),
    ("general", "General knowledge", "通用知识"),
    ("experience", "Experience", "经历"),
    ("agents_notes", "Notes of agents", "智能体笔记"),
    ("more", "{count} more did not fit; see them with `{command}`.", "还有 {count} 条放不下，用 `{command}` 查看。"),
    ("events", "Events", "今日事件"),
    ("insights", "Insights", "重要洞察"),
    ("todos", "To-dos", "待办事项"),
    ("index_title", "Index", "索引"),
    (
        "index_key",
        "Keyword (how many facts): ids of the first → sessions; `eventlog show ID` shows each.",
        "关键词（事实数）：最重要几条的 id → 相关会话；用 `eventlog show ID` 查看。",
    ),
    ("keywords", "Keywords", "关键词"),
    ("sessions", "Sessions", "会话"),
    ("projects", "Projects", "项目"),
    ("counts", "facts: {facts}, sessions: {sessions}", "事实 {facts}，会话 {sessions}"),
)


def by_language(kind: "type[_Words]", words: "Iterable[tuple[str, ...]]") -> "dict[Locale, _Words]":
    """Make the words of each language: rows have a name, and the text in English and in Chinese."""
    return {language: kind(**{name: texts[at] for name, *texts in words}) for at, language in enumerate(_LANGUAGES)}


LABELS = by_language(Labels, _WORDS)


# in English, in Chinese, and what else is said for it
_SAME = (
    ("decision", "决策", "decisions", "关键决策", "重要决策", "决定"),
    ("preference", "偏好", "preferences", "用户偏好"),
    ("lesson", "教训", "lessons", "经验教训"),
    ("insight", "洞察", "insights", "重要洞察"),
    ("convention", "约定", "conventions", "规范"),
    ("architecture", "架构"),
    ("bug", "缺陷", "bugs"),
    ("command", "命令", "commands"),
    ("configuration", "配置", "config"),
    ("database", "数据库", "databases"),
    ("deployment", "部署", "deployments"),
    ("error", "错误", "errors"),
    ("file", "文件", "files"),
    ("security", "安全"),
    ("test", "测试", "tests"),
    ("tool", "工具", "tools"),
    ("workflow", "工作流", "workflows"),
)
MEANING = {word: words[0] for words in _SAME for word in words}  # in small letters
_SPELLED: dict[str, dict[str, str]] = {words[0]: dict(zip(_LANGUAGES, words, strict=False)) for words in _SAME}


def all_for(meant: str) -> tuple[str, ...]:
    """List the words that mean this, in every language."""
    return tuple(word for word, means in MEANING.items() if means == meant)


def in_language(word: str, meant: str, locale: str) -> str:
    """Translate a word to the reader's language, where the table has its meaning and it is not in that language."""
    spelled = _SPELLED.get(meant, {}).get(locale, word)
    return word if spelled.isascii() == word.isascii() else spelled
