"""Markdown that people and agents keep as memory, taken apart: each bullet, and each paragraph, is a fact.

What stands in code, in tables and in the front matter is no statement; a bullet that only links to another file is
an index. Nothing tells when each was written: the file's own time is theirs.
"""

import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any, NamedTuple

from eventlog.app.importing.source import BadPlace, Found, ImportRequest, PastEvents, SourceEvent
from eventlog.format import ids, timestamps
from eventlog.format.errors import system_reason
from eventlog.format.text import one_line, same_text
from eventlog.projects.root import find_repository, project_root
from eventlog.secrets import without_secrets

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
    """Read the statements of a file as facts; only its `bullets` where it is instructions, not notes."""
    try:
        with path.open("rb") as opened:
            data = opened.read(_LONGEST_FILE)
        if len(data) == _LONGEST_FILE:  # of its last line the end may be missing
            data = data[: data.rfind(b"\n") + 1]
        text = without_secrets(data.decode("utf-8-sig").replace("\r\n", "\n"))  # whole: a key has several lines
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
    told = [one for one in _statements(body) if one.is_bullet or not bullets] or _described(about, bullets=bullets)
    seen = set()
    for one in told:
        key = f"import\nstatement\n{path}\n{same_text(one.text)}"
        if key not in seen:
            seen.add(key)
            fields = {"type": "fact", **common, **_kind(about, one), "content": one.text}
            yield PastEvents((SourceEvent(fields, key, is_dated=False),), f"{path}:{one.line}")


def read_bullets(request: ImportRequest) -> Iterator[Found]:
    """Read the bullets of one file: of the project it lies in, else about the user."""
    path = request.place()
    inside = find_repository(str(path.parent))
    yield from statements_of(path, project_root(str(path.parent)) if inside else None, None, bullets=True)


def _front_matter(text: str) -> tuple[dict[str, str], str]:
    """The type and description a file's front matter tells, and the rest, its lines where they were."""
    found = _FRONT.match(text)
    if not found:
        return {}, text
    told = {field["name"]: field["value"].strip("\"'") for field in _FIELD.finditer(found["fields"])}
    return told, "\n" * found[0].count("\n") + text[found.end() :]


def _described(about: dict[str, str], *, bullets: bool) -> list[_Statement]:
    said = one_line(about.get("description", ""))
    return [_Statement(1, said, "", is_bullet=False)] if said and not bullets else []


def _kind(about: dict[str, str], one: _Statement) -> dict[str, Any]:
    fields: dict[str, Any] = {"category": one_line(one.heading).lower() or None}
    return {**fields, **_ABOUT_THE_USER.get(about.get("type", ""), {})}


def _statements(text: str) -> Iterator[_Statement]:
    """Bullets with what is indented below them, and paragraphs, each on one line, under the heading above."""
    plain = _COMMENT.sub(lambda found: "\n" * found[0].count("\n"), text)
    heading, fenced = "", False
    open_lines: list[str] = []
    begun, is_bullet = 0, False

    def close() -> Iterator[_Statement]:
        said = one_line(" ".join(open_lines))
        open_lines.clear()
        if said and not _INDEX.fullmatch(said):
            yield _Statement(begun, said, heading, is_bullet)

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
