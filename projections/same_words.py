"""Words of two languages that mean one thing: what facts are mostly called, as data."""

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
_LANGUAGES = ("en", "zh")
_MEANING = {word: words[0] for words in _SAME for word in words}
_SPELLED = {words[0]: dict(zip(_LANGUAGES, words, strict=False)) for words in _SAME}


def meaning(word: str) -> str:
    """Return what stands for all words that mean the same, "" where the table has it not; it is in small letters."""
    return _MEANING.get(word, "")


def all_for(meant: str) -> tuple[str, ...]:
    """List the words that mean this, in every language."""
    return tuple(word for word, means in _MEANING.items() if means == meant)


def in_language(word: str, meant: str, locale: str) -> str:
    """Spell a word in the reader's language, where the table has what it means; as it is where it is in that."""
    spelled = _SPELLED.get(meant, {}).get(locale, word)
    return word if spelled.isascii() == word.isascii() else spelled
