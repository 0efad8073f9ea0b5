"""Statements of Markdown files that people and agents use as memory: each bullet and each paragraph is a fact.

Code, tables, the front matter and bullets that only link to another file hold no statements. Statements have no times
of their own: the time is the file's.
"""

import re
from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

from eventlog.app.importing.source import BadPlace, Found, ImportRequest, PastEvents, SourceEvent
from eventlog.format import ids, timestamps
from eventlog.format.errors import system_reason
from eventlog.format.text import one_line, same_text
from eventlog.projects.root import find_repository, project_root
from eventlog.secrets import scrub_text

_BULLET = re.compile(r"(?P<indent> *)(?:[-*+]|\d{1,3}[.)])\s+(?:\[[ xX]\]\s+)?(?P<text>\S.*)")
_HEADING = re.compile(r"#{1,6}\s+(?P<text>.*?)\s*#*")
_FENCE = re.compile(r"\s*(```|~~~)")
_INDEX = re.compile(r"\[[^\]]*\]\([^)]*\.md\)(?:\s*[-–—:].*)?")
_COMMENT = re.compile(r"<!--.*?-->", re.DOTALL)
_FRONT = re.compile(r"---\n(?P<fields>.*?)\n---[ \t]*(?:\n|\Z)", re.DOTALL)
_FIELD = re.compile(r"^\s*(?P<name>type|description):[ \t]*(?P<value>.+?)[ \t]*$", re.MULTILINE)
_ABOUT_THE_USER = {"user": {"memory_type": "B"}, "feedback": {"category": "preference"}}  # types of an agent's notes
_LONGEST_FILE = 4 << 20  # bytes


class _Statement(NamedTuple):
    line: int
    text: str
    heading: str
    is_bullet: bool


def statements_of(path: Path, project: str | None, agent: str | None, *, bullets: bool = False) -> Iterator[Found]:
    """Read the statements of a file as facts; only its `bullets` where it holds instructions, not notes."""
    try:
        with path.open("rb") as opened:
            data = opened.read(_LONGEST_FILE)
        if len(data) == _LONGEST_FILE:  # of its last line the end may be missing
            data = data[: data.rfind(b"\n") + 1]
        text = scrub_text(data.decode("utf-8-sig").replace("\r\n", "\n"))  # whole: a key has several lines
        written = timestamps.from_ns(path.stat().st_mtime_ns)
    except OSError as error:
        yield BadPlace(str(path), system_reason(error)[0])
        return
    except UnicodeDecodeError as error:
        line = data.count(b"\n", 0, error.start) + 1
        yield BadPlace(f"{path}:{line}", "not UTF-8")
        return
    conversation = f"{path.name}-{ids.digest(str(path), 4).hex()}"
    about, body = _front_matter(text)
    common = {"ts": written, "conversation_id": conversation, "project": project, "agent": agent}
    statements = [found for found in _statements(body) if found.is_bullet or not bullets]
    description = one_line(about.get("description", ""))
    if not statements and description and not bullets:
        statements = [_Statement(1, description, "", is_bullet=False)]
    seen = set()
    for statement in statements:
        key = f"import\nstatement\n{path}\n{same_text(statement.text)}"
        if key not in seen:
            seen.add(key)
            kind = {"category": one_line(statement.heading).lower() or None}
            kind |= _ABOUT_THE_USER.get(about.get("type", ""), {})
            fields = {"type": "fact", **common, **kind, "content": statement.text}
            yield PastEvents((SourceEvent(fields, key, is_dated=False),), f"{path}:{statement.line}")


def read_bullets(request: ImportRequest) -> Iterator[Found]:
    """Read the bullets of a file as facts of the project that contains it, else about the user."""
    path = request.place()
    inside = find_repository(str(path.parent))
    yield from statements_of(path, project_root(str(path.parent)) if inside else None, None, bullets=True)


def _front_matter(text: str) -> tuple[dict[str, str], str]:
    """Split the type and description in a file's front matter from the rest, whose line numbers stay."""
    found = _FRONT.match(text)
    if not found:
        return {}, text
    fields = {field["name"]: field["value"].strip("\"'") for field in _FIELD.finditer(found["fields"])}
    return fields, "\n" * found[0].count("\n") + text[found.end() :]


def _statements(text: str) -> Iterator[_Statement]:
    """Yield bullets with the text indented below them, and paragraphs, each on a line, with the heading above."""
    plain = _COMMENT.sub(lambda found: "\n" * found[0].count("\n"), text)
    heading, fenced = "", False
    open_lines: list[str] = []
    begun, is_bullet = 0, False

    def close() -> Iterator[_Statement]:
        text = one_line(" ".join(open_lines))
        open_lines.clear()
        if text and not _INDEX.fullmatch(text):
            yield _Statement(begun, text, heading, is_bullet)

    for number, line in enumerate(plain.split("\n"), 1):
        if _FENCE.match(line):
            yield from close()
            fenced = not fenced
        elif fenced or line.lstrip().startswith("|"):
            continue
        elif found := _HEADING.fullmatch(line):
            yield from close()
            heading = found["text"]
        elif not line.strip():
            yield from close()
        elif (found := _BULLET.fullmatch(line)) and not (found["indent"] and is_bullet and open_lines):
            yield from close()
            begun, is_bullet = number, True
            open_lines.append(found["text"])
        elif open_lines:
            open_lines.append(found["text"] if found else line)
        else:
            begun, is_bullet = number, False
            open_lines.append(line)
    yield from close()
