"""Edit TOML texts that belong to someone else: add and remove an item of a list, or a table; pure.

An addition is a whole table with a comment, a line with a comment, or an item: each is removed exactly, also after
others have changed the rest. A result that does not parse to exactly the wanted document is refused: TOML has more
forms for a value than this module edits.
"""

import json
import re
import tomllib
from collections.abc import Mapping, Sequence
from contextlib import suppress
from typing import Any

from eventlog.format.codec import dig
from eventlog.format.errors import BadRequest

_PERMISSION_MARK = "# by `eventlog install --allow`"
_SERVER_MARK = "# by `eventlog install --mcp`"
_TOKEN = re.compile(r"\"(?:\\.|[^\"\\\n])*\"|'[^'\n]*'|#[^\n]*|[\[\]]")
_HEADER = re.compile(r"^[ \t]*\[\[?[^\n]*$", re.MULTILINE)


def parsed(text: str) -> dict[str, Any]:
    """Parse the document; raises BadRequest."""
    try:
        return tomllib.loads(text)
    except tomllib.TOMLDecodeError as error:
        raise BadRequest(f"not TOML: {error}", hint="correct the file by hand, then do it again") from error


def with_item(text: str, table: str, key: str, value: str) -> str:
    """Add the value to the list at `key` of `[table]`; raises BadRequest."""
    document = parsed(text)
    items = _list(document, table, key)
    if value in items:
        return text
    return _checked_item(_insert(text, table, key, _quoted(value)), document, table, key, value, [*items, value])


def without_item(text: str, table: str, key: str, value: str) -> str:
    """Remove the value from the list; raises BadRequest, unless the text never mentions the value."""
    if value not in text and _quoted(value) not in text:
        return text
    document = parsed(text)
    items = _list(document, table, key)
    if value not in items:
        return text
    for newline in ("\r\n", "\n"):
        block, line = _block(table, key, _quoted(value), newline)
        for variant in (newline + block, block, line):
            if variant in text:
                return _checked_item(text.replace(variant, "", 1), document, table, key, value, None)
    rest = [item for item in items if item != value]
    return _checked_item(_remove(text, table, key, value), document, table, key, value, rest)


def with_table(text: str, keys: Sequence[str], value: Mapping[str, Any]) -> str:
    """Set the table, replacing a present table; raises BadRequest."""
    document = parsed(text)
    if dig(document, *keys) == value:
        return text
    text = without_table(text, keys)
    newline = "\r\n" if "\r\n" in text else "\n"
    lines = [_SERVER_MARK, f"[{'.'.join(keys)}]", *(f"{key} = {_quoted(item)}" for key, item in value.items())]
    gap = "" if not text else newline if text.endswith("\n") else newline * 2
    after = text + gap + "".join(line + newline for line in lines)
    return _checked_table(after, document, keys, dict(value))


def without_table(text: str, keys: Sequence[str]) -> str:
    """Remove the table and those below it; raises BadRequest, unless the text never mentions it."""
    if keys[-1] not in text:
        return text
    document = parsed(text)
    if dig(document, *keys) is None:
        return text
    named = re.compile(rf"[ \t]*\[[ \t]*{re.escape('.'.join(keys))}[ \t]*[.\]]")
    headers = [found.start() for found in _HEADER.finditer(text)]
    left = text
    for start, end in reversed(list(zip(headers, [*headers[1:], len(text)], strict=True))):
        if named.match(text, start):
            left = _head(left[:start]) + _trailing(text[start:end]) + left[end:]
    return _checked_table(left, document, keys, None)


def _insert(text: str, table: str, key: str, quoted: str) -> str:
    newline = "\r\n" if "\r\n" in text else "\n"
    block, line = _block(table, key, quoted, newline)
    if items := _items(text, table, key):
        opening, ends = items
        return (
            f"{text[: ends[-1]]}, {quoted}{text[ends[-1] :]}" if ends else f"{text[:opening]}{quoted}{text[opening:]}"
        )
    if header := _header(text, table):
        at = text.find("\n", header.end()) + 1 or len(text)
        gap = "" if text[:at].endswith("\n") else newline
        return f"{text[:at]}{gap}{line}{text[at:]}"
    gap = newline if text.endswith("\n") else newline * 2
    return f"{text}{gap}{block}" if text else block


def _block(table: str, key: str, quoted: str, newline: str) -> tuple[str, str]:
    """Write a table of our own, and a line of our own for a present table."""
    entry = f"{key} = [{quoted}]"
    return f"{_PERMISSION_MARK}{newline}[{table}]{newline}{entry}{newline}", f"{entry}  {_PERMISSION_MARK}{newline}"


def _remove(text: str, table: str, key: str, value: str) -> str:
    """Remove the item, and the comma before it, or after the first item."""
    items = _items(text, table, key)
    for end in items[1] if items else ():
        start = next(found.start() for found in _TOKEN.finditer(text, items[0] if items else 0) if found.end() == end)
        if tomllib.loads(f"v = {text[start:end]}")["v"] != value:
            continue
        if before := re.search(r",\s*\Z", text[:start]):
            return text[: before.start()] + text[end:]
        after = re.match(r"\s*,\s*", text[end:])
        return text[:start] + text[end + (after.end() if after else 0) :]
    return text


def _items(text: str, table: str, key: str) -> tuple[int, list[int]] | None:
    """Find where the list opens, and where each of its strings ends; None where the table does not contain it."""
    header = _header(text, table)
    if not header:
        return None
    following = re.compile(r"^[ \t]*\[[^\n]*\][ \t]*(?:#[^\n]*)?\r?$", re.MULTILINE).search(text, header.end())
    limit = following.start() if following else len(text)
    opened = re.compile(rf"^[ \t]*{re.escape(key)}[ \t]*=[ \t]*\[", re.MULTILINE).search(text, header.end(), limit)
    if not opened:
        return None
    ends: list[int] = []
    for token in _TOKEN.finditer(text, opened.end()):
        if token[0] == "]":
            return opened.end(), ends
        if not token[0].startswith("#"):
            ends.append(token.end())
    return None


def _header(text: str, table: str) -> re.Match[str] | None:
    return re.compile(rf"^[ \t]*\[[ \t]*{re.escape(table)}[ \t]*\][^\n]*$", re.MULTILINE).search(text)


def _list(document: dict[str, Any], table: str, key: str) -> list[Any]:
    found = dig(document, table, key)
    return found if isinstance(found, list) else []


def _head(text: str) -> str:
    """Remove our mark at the end of the text before a table, and the empty line before the mark."""
    for newline in ("\r\n", "\n"):
        marked = f"{_SERVER_MARK}{newline}"
        if text.endswith(marked):
            text = text[: -len(marked)]
            return text[: -len(newline)] if text.endswith(newline * 2) else text
    return text


def _trailing(section: str) -> str:
    """Return the empty lines and comments at the end of a table's text: they belong to the next table."""
    lines = section.splitlines(keepends=True)
    used = next(
        (at for at in range(len(lines), 0, -1) if lines[at - 1].strip() and lines[at - 1].lstrip()[0] != "#"), 0
    )
    return "".join(lines[used:])


def _quoted(value: object) -> str:
    return json.dumps(value, ensure_ascii=False)


def _replaced(document: Mapping[str, Any], keys: Sequence[str], value: Any) -> dict[str, Any]:
    """Replace a value in the document, and remove tables that become empty."""
    rest = {key: item for key, item in document.items() if key != keys[0]}
    if len(keys) > 1:
        inner = document.get(keys[0], {})
        value = _replaced(inner if isinstance(inner, dict) else {}, keys[1:], value) or None
    return rest if value is None else {**rest, keys[0]: value}


def _checked_item(
    after: str, document: dict[str, Any], table: str, key: str, value: str, wanted: list[Any] | None
) -> str:
    hint = f"see to it by hand that {key} there holds {_quoted(value)}, or no longer does"
    return _checked(after, document, [table, key], wanted, f"[{table}]", hint)


def _checked_table(after: str, document: dict[str, Any], keys: Sequence[str], wanted: dict[str, Any] | None) -> str:
    name = ".".join(keys)
    return _checked(after, document, keys, wanted, name, f"see to [{name}] by hand")


def _checked(after: str, document: dict[str, Any], keys: Sequence[str], wanted: Any, name: str, hint: str) -> str:
    """Return the text if it parses to the document with the wanted value; raises BadRequest. Empty tables are none."""
    with suppress(tomllib.TOMLDecodeError):
        found = tomllib.loads(after)
        if _replaced(found, keys, dig(found, *keys)) == _replaced(document, keys, wanted):
            return after
    raise BadRequest(f"{name} is written in a way this program does not change", hint=hint)
