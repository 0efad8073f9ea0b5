"""A string added to a list of a TOML file, and taken out, with every other byte as it was; pure.

The list is `key` of the table `[table]`. What was added is a whole table with a comment, a line with one, or an item:
each goes again as it came, also after others have changed the rest. A result that does not say exactly what it should
is refused: TOML can say the same thing in forms that are not looked for here.
"""

import json
import re
import tomllib
from typing import Any

from eventlog.app.install.toml_text import parsed, says
from eventlog.errors import BadRequest

_MARK = "# by `eventlog install --allow`"
_TOKEN = re.compile(r"\"(?:\\.|[^\"\\\n])*\"|'[^'\n]*'|#[^\n]*|[\[\]]")


def with_item(text: str, table: str, key: str, value: str) -> str:
    """The file with the value in the list; raises BadRequest."""
    document = parsed(text)
    if value in _list(document, table, key):
        return text
    after = _insert(text, table, key, json.dumps(value, ensure_ascii=False))
    wanted = {**document, table: {**_table(document, table), key: [*_list(document, table, key), value]}}
    return _checked(after, wanted, table, key, value)


def without_item(text: str, table: str, key: str, value: str) -> str:
    """The file without the value in the list; raises BadRequest. One that never says the value need not be TOML."""
    if value not in text and json.dumps(value, ensure_ascii=False) not in text:
        return text
    document = parsed(text)
    if value not in _list(document, table, key):
        return text
    for newline in ("\r\n", "\n"):
        block, line = _block(table, key, json.dumps(value, ensure_ascii=False), newline)
        for ours in (newline + block, block, line):
            if ours in text:
                return _without_list(text.replace(ours, "", 1), document, table, key, value)
    left = _remove(text, table, key, value)
    rest = [item for item in _list(document, table, key) if item != value]
    return _checked(left, {**document, table: {**_table(document, table), key: rest}}, table, key, value)


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
    """A table of our own, and a line of our own in one that is there."""
    entry = f"{key} = [{quoted}]"
    return f"{_MARK}{newline}[{table}]{newline}{entry}{newline}", f"{entry}  {_MARK}{newline}"


def _without_list(text: str, document: dict[str, Any], table: str, key: str, value: str) -> str:
    rest = {name: found for name, found in _table(document, table).items() if name != key}
    wanted = {**document, table: rest} if rest or _header(text, table) else {**document}
    if not rest and not _header(text, table):
        del wanted[table]
    return _checked(text, wanted, table, key, value)


def _remove(text: str, table: str, key: str, value: str) -> str:
    """Without the item, and the comma before it, or after it where it is the first."""
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
    """Where the list opens, and where each of its strings ends; None where it is not written in the table."""
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


def _checked(after: str, wanted: dict[str, Any], table: str, key: str, value: str) -> str:
    if says(after, wanted):
        return after
    raise BadRequest(
        f"[{table}] is written in a way this program does not change",
        hint=f"see to it by hand that {key} there holds {json.dumps(value, ensure_ascii=False)}, or no longer does",
    )


def _table(document: dict[str, Any], table: str) -> dict[str, Any]:
    found = document.get(table, {})
    return found if isinstance(found, dict) else {}


def _list(document: dict[str, Any], table: str, key: str) -> list[Any]:
    found = _table(document, table).get(key, [])
    return found if isinstance(found, list) else []
