"""Edit TOML texts that belong to someone else: add and remove an item of a list, or a table; pure.

tomlkit edits a list that somebody else wrote. A table or a line of our own has a comment and comes and goes as text, so
that the comments of others stay beside what they are about. A result that does not parse to exactly the wanted
document is refused.
"""

import json
import re
import tomllib
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from typing import Any

import tomlkit

from eventlog.app.setup.install.json_edit import has_content
from eventlog.format.codec import dig
from eventlog.format.errors import BadRequest

_PERMISSION_MARK = "# by `eventlog install --allow`"
_SERVER_MARK = "# by `eventlog install --mcp`"
_BYTE_ORDER_MARK = "\ufeff"  # Codex reads it, too
_HEADER = re.compile(  # but no line of a string of several lines
    r"""^[ \t]*(?P<header>\[)[^\n]*$|#[^\n]*|\"{3}(?:\\.|[^\\])*?\"{3}|'{3}.*?'{3}""", re.MULTILINE | re.DOTALL
)


class TomlText(str):
    """The text of a file; each edit makes another text. All raise BadRequest."""

    __slots__ = ()

    @property
    def value(self) -> Any:
        """The parsed document; None without any content."""
        return self._parsed() if has_content(self) else None

    def _parsed(self) -> dict[str, Any]:
        try:
            return tomllib.loads(self.removeprefix(_BYTE_ORDER_MARK))
        except tomllib.TOMLDecodeError as error:
            raise BadRequest(f"not TOML: {error}") from error

    @property
    def newline(self) -> str:
        """The end of its lines."""
        return "\r\n" if "\r\n" in self else "\n"

    def append(self, table: str) -> str:
        """Append a table, behind an empty line."""
        gap = "" if not self else self.newline if self.endswith("\n") else self.newline * 2
        return f"{self}{gap}{table}"

    def with_item(self, table: str, key: str, value: str) -> "TomlText":
        """Add the value to the list at `key` of `[table]`."""
        document = self._parsed()
        items = _list(document, table, key)
        if value in items:
            return self
        return _checked_item(self._with_item(table, key, value), document, table, key, value, [*items, value])

    def without_item(self, table: str, key: str, value: str) -> "TomlText":
        """Remove the value from the list, unless the text never mentions it."""
        if value not in self and _quoted(value) not in self:
            return self
        document = self._parsed()
        items = _list(document, table, key)
        if value not in items:
            return self
        for newline in ("\r\n", "\n"):
            block, line = _block(table, key, _quoted(value), newline)
            for variant in (newline + block, block, line):
                if variant in self:
                    return _checked_item(self.replace(variant, "", 1), document, table, key, value, None)
        rest = [item for item in items if item != value]
        after = self._edit_list(table, key, lambda items: items.remove(value))
        return _checked_item(after, document, table, key, value, rest)

    def with_value(self, keys: Sequence[str], value: Mapping[str, Any]) -> "TomlText":
        """Set the table, replacing a present table; tables below it go, as they belong to the former command."""
        flat = {key: item for key, item in value.items() if not isinstance(item, dict)}
        document = self._parsed()
        if dig(document, *keys) == flat:
            return self
        text = self.without_value(keys)
        lines = [_SERVER_MARK, f"[{'.'.join(keys)}]", *(f"{key} = {_quoted(item)}" for key, item in flat.items())]
        after = text.append("".join(line + text.newline for line in lines))
        return _checked_table(after, document, keys, flat)

    def without_value(self, keys: Sequence[str]) -> "TomlText":
        """Remove the table and those below it, unless the text never mentions it."""
        if keys[-1] not in self:
            return self
        document = self._parsed()
        if dig(document, *keys) is None:
            return self
        named = re.compile(rf"[ \t]*\[[ \t]*{re.escape('.'.join(keys))}[ \t]*[.\]]")
        headers = [found.start() for found in _HEADER.finditer(self) if found["header"]]
        remaining: str = self
        for start, end in reversed(list(zip(headers, [*headers[1:], len(self)], strict=True))):
            if named.match(self, start):
                remaining = _head(remaining[:start]) + _trailing(self[start:end]) + remaining[end:]
        return _checked_table(remaining, document, keys, None)

    def _with_item(self, table: str, key: str, value: str) -> str:
        block, line = _block(table, key, _quoted(value), self.newline)
        document = self._parsed()
        header = re.compile(rf"^\ufeff?[ \t]*\[[ \t]*{re.escape(table)}[ \t]*\][^\n]*\n?", re.MULTILINE).search(self)
        if table not in document:
            return self.append(block)
        if header and dig(document, table, key) is None:
            gap = "" if header[0].endswith("\n") else self.newline
            return f"{self[: header.end()]}{gap}{line}{self[header.end() :]}"
        return self._edit_list(table, key, lambda items: items.append(value))

    def _edit_list(self, table: str, key: str, edit: Callable[[list[Any]], object]) -> str:
        """Edit a list; return the text as it is where nothing of the kind is at `key` of `[table]`."""
        document = tomlkit.parse(self.removeprefix(_BYTE_ORDER_MARK))
        items = dig(document, table, key)
        if isinstance(items, list):
            edit(items)
        return self[: self.startswith(_BYTE_ORDER_MARK)] + document.as_string()


def _block(table: str, key: str, quoted: str, newline: str) -> tuple[str, str]:
    """Write a table of our own, and a line of our own for a present table."""
    entry = f"{key} = [{quoted}]"
    return f"{_PERMISSION_MARK}{newline}[{table}]{newline}{entry}{newline}", f"{entry}  {_PERMISSION_MARK}{newline}"


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
) -> TomlText:
    hint = f"see to it by hand that {key} there holds {_quoted(value)}, or no longer does"
    return _checked(after, document, [table, key], wanted, f"[{table}]", hint)


def _checked_table(
    after: str, document: dict[str, Any], keys: Sequence[str], wanted: dict[str, Any] | None
) -> TomlText:
    name = ".".join(keys)
    return _checked(after, document, keys, wanted, name, f"see to [{name}] by hand")


def _checked(after: str, document: dict[str, Any], keys: Sequence[str], wanted: Any, name: str, hint: str) -> TomlText:
    """Return the text if it parses to the document with the wanted value; raises BadRequest. Empty tables are none."""
    with suppress(BadRequest):
        found = TomlText(after)._parsed()  # noqa: SLF001 - of this module
        if _replaced(found, keys, dig(found, *keys)) == _replaced(document, keys, wanted):
            return TomlText(after)
    raise BadRequest(f"{name} is written in a way this program does not change", hint=hint)
