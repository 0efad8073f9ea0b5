"""A table added to a TOML file, and taken out with all below it, with every other byte as it was; pure.

A result that does not say exactly what it should is refused: TOML can say the same thing in forms that are not looked
for here.
"""

import json
import re
from collections.abc import Mapping, Sequence
from typing import Any

from eventlog.app.install.toml_text import parsed, says
from eventlog.errors import BadRequest

_MARK = "# by `eventlog install --mcp`"
_HEADER = re.compile(r"^[ \t]*\[\[?[^\n]*$", re.MULTILINE)


def with_table(text: str, keys: Sequence[str], value: Mapping[str, Any]) -> str:
    """The file with that table, in the place of one that is there; raises BadRequest."""
    document = parsed(text)
    if table_at(document, keys) == value:
        return text
    text = without_table(text, keys)
    newline = "\r\n" if "\r\n" in text else "\n"
    lines = [_MARK, f"[{'.'.join(keys)}]", *(f"{key} = {_written(item)}" for key, item in value.items())]
    gap = "" if not text else newline if text.endswith("\n") else newline * 2
    after = text + gap + "".join(line + newline for line in lines)
    return _checked(after, _replaced(document, keys, dict(value)), keys)


def without_table(text: str, keys: Sequence[str]) -> str:
    """The file without that table and those below it; raises BadRequest. One without it need not be TOML."""
    if keys[-1] not in text:
        return text
    document = parsed(text)
    if table_at(document, keys) is None:
        return text
    named = re.compile(rf"[ \t]*\[[ \t]*{re.escape('.'.join(keys))}[ \t]*[.\]]")
    headers = [found.start() for found in _HEADER.finditer(text)]
    left = text
    for start, end in reversed(list(zip(headers, [*headers[1:], len(text)], strict=True))):
        if named.match(text, start):
            left = _head(left[:start]) + _kept(text[start:end]) + left[end:]
    return _checked(left, _replaced(document, keys, None), keys)


def table_at(document: Any, keys: Sequence[str]) -> Any:
    """Find what stands at these keys; None where nothing does."""
    for key in keys:
        document = document.get(key) if isinstance(document, dict) else None
    return document


def _head(text: str) -> str:
    """Keep what stands before the table, without our mark above it and the empty line before that."""
    for newline in ("\r\n", "\n"):
        marked = f"{_MARK}{newline}"
        if text.endswith(marked):
            text = text[: -len(marked)]
            return text[: -len(newline)] if text.endswith(newline * 2) else text
    return text


def _kept(section: str) -> str:
    """Keep what stands at the end of a table's text and is of the one that follows: empty lines and comments."""
    lines = section.splitlines(keepends=True)
    used = next(
        (at for at in range(len(lines), 0, -1) if lines[at - 1].strip() and lines[at - 1].lstrip()[0] != "#"), 0
    )
    return "".join(lines[used:])


def _written(value: object) -> str:
    return json.dumps(value, ensure_ascii=False)


def _replaced(document: Mapping[str, Any], keys: Sequence[str], value: Any) -> dict[str, Any]:
    """The document with another value there; a table that this leaves empty goes too."""
    rest = {key: item for key, item in document.items() if key != keys[0]}
    if len(keys) > 1:
        inner = document.get(keys[0], {})
        value = _replaced(inner if isinstance(inner, dict) else {}, keys[1:], value) or None
    return rest if value is None else {**rest, keys[0]: value}


def _checked(after: str, wanted: dict[str, Any], keys: Sequence[str]) -> str:
    if says(after, wanted):
        return after
    name = ".".join(keys)
    raise BadRequest(f"{name} is written in a way this program does not change", hint=f"see to [{name}] by hand")
