"""The contract in short: when two texts say the same, and how a text is shown."""

import re
import unicodedata
from hashlib import blake2b

ANSI = re.compile("\x1b\\[[0-9;]*[A-Za-z]")
INVISIBLE = re.compile(
    "[\u00ad\u034f\u061c\u115f\u1160\u17b4\u17b5\u180b-\u180f\u200b-\u200f\u202a-\u202e\u2060-\u206f\u3164\ufe00-\ufe0f"
    "\ufeff\uffa0\ufff0-\ufff8\U000e0000-\U000e0fff]"
)
HAN = "\u2e80-\u2fdf\u3001-\u30ff\u31f0-\u31ff\u3400-\u4dbf\u4e00-\u9fff\uf900-\ufaff"
JOINER = "\u200d"  # shown within an emoji
STAGE = re.compile("^阶段摘要[:：] ?")
NOTHING = ("", "none", "nothing left", "tbd")


def one_line(text):
    """As it is shown: on one line, without what acts on a terminal or hides."""
    text = " ".join(ANSI.sub("", text).split())
    text = "".join(char for char in text if unicodedata.category(char) != "Cc")
    return " ".join(
        INVISIBLE.sub(lambda found: found[0] if _is_within_emoji(text, found.start()) else "", text).split()
    )


def _is_within_emoji(text, at):
    return text[at] == JOINER and all(
        unicodedata.category(char) == "So" for char in (text[at - 1], text[at + 1 : at + 2] or " ")
    )


def stage_line(text):
    return STAGE.sub("", one_line(text)).strip()


def folded(text):
    return unicodedata.normalize("NFKC", unicodedata.normalize("NFKC", INVISIBLE.sub("", text)).casefold())


def same(text):
    """What all wordings of a statement have in common."""
    line = STAGE.sub("", " ".join(folded(one_line(text)).split()))
    line = re.sub(f"(?<=[{HAN}]) | (?=[{HAN}])", "", line)
    end = len(line)
    while end and (unicodedata.category(line[end - 1])[0] == "P" or line[end - 1] == " "):
        end -= 1
    return line[:end] or line


def same_todo(text):
    """A to-do is the same in any order of its words."""
    return " ".join(sorted(re.findall(r"\w+", same(text)) or [same(text)]))


def states_nothing(text):
    return same(text).strip(" .") in NOTHING


def key_name(key):
    """`db_port`, `DB port` and `db-port` are one key."""
    return "-".join(folded(key).replace("_", " ").replace("-", " ").split())


def likeness(text):
    """How an event names the statement that it takes the place of (`instead_of`)."""
    return blake2b(same(text).encode(), digest_size=12).hexdigest()


def distinct(texts):
    """Each statement once, as first worded."""
    found: dict[str, str] = {}
    for text in texts:
        found.setdefault(same(text), stage_line(text))
    return list(found.values())


def cut(text, limit, end="…"):
    """At most so many characters; no word is halved, unless a third of the text would go with it."""
    if len(text) <= limit:
        return text
    room = limit - len(end)
    space = text.rfind(" ", room * 2 // 3, room + 1)
    halves = text[room - 1 : room + 1].isalnum() and text[room - 1 : room + 1].isascii()
    return text[: space if halves and space > 0 else room].rstrip() + end
