"""The words of rendered files, in every language a user may choose; text from events is never translated.

Imported inside agents' hooks: standard library only.
"""

from eventlog.fast.copies import Values

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

    from eventlog.settings.schema import Locale

_LANGUAGES: "tuple[Locale, Locale]" = ("en", "zh")


class Phrase:
    """A text in English and in Chinese; `Values` with a `locale` have it in their language."""

    def __init__(self, *texts: str) -> None:
        self._texts = dict(zip(_LANGUAGES, texts, strict=True))

    def __get__(self, of: "Any", _: object) -> str:
        return self._texts[of.locale]


class Labels(Values):
    """Headings and fixed phrases."""

    locale: "Locale"

    session = Phrase("Session summary", "会话摘要")
    topic = Phrase("Topic", "主题")
    session_id = Phrase("Session ID", "Session ID")
    time = Phrase("Time", "时间")
    project = Phrase("Project", "项目")
    mode = Phrase("Mode", "模式")
    workflow = Phrase("workflow", "工作流")
    free = Phrase("free", "自由")
    done = Phrase("What was done", "做了什么")
    key_decisions = Phrase("Key decisions", "关键决策")
    open_ends = Phrase("Open", "未完成")
    memory = Phrase("Memory", "长期记忆")
    decisions = Phrase("Key decisions", "重要决策")
    preferences = Phrase("User preferences", "用户偏好")
    lessons = Phrase("Lessons", "经验教训")
    knowledge = Phrase("Project knowledge", "项目知识")
    general = Phrase("General knowledge", "通用知识")  # what is true whatever the project
    experience = Phrase("Experience", "经历")
    agents_notes = Phrase("Notes of agents", "智能体笔记")  # in the place of a title that is a person's own
    more = Phrase(
        "{count} more did not fit; see them with `{command}`.",
        "还有 {count} 条放不下，用 `{command}` 查看。",
    )
    events = Phrase("Events", "今日事件")
    insights = Phrase("Insights", "重要洞察")
    todos = Phrase("To-dos", "待办事项")
    index_title = Phrase("Index", "索引")
    index_key = Phrase(  # how a line of the index is read
        "Keyword (how many facts): ids of the first → sessions; `eventlog show ID` shows each.",
        "关键词（事实数）：最重要几条的 id → 相关会话；用 `eventlog show ID` 查看。",
    )
    keywords = Phrase("Keywords", "关键词")
    sessions = Phrase("Sessions", "会话")
    projects = Phrase("Projects", "项目")
    counts = Phrase("facts: {facts}, sessions: {sessions}", "事实 {facts}，会话 {sessions}")


LABELS = {locale: Labels(locale) for locale in _LANGUAGES}


# in English, in Chinese, and what else is said for it
_SAME = (
    ("decision", "决策", "decisions", "关键决策", "重要决策", "决定"),
    ("preference", "偏好", "preferences", "用户偏好"),
    ("lesson", "教训", "lessons", "经验教训", "经验"),
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
