"""Places of values that a text assigns to a name: by a sign, a declaration, a call, an element, an option.

Loaded by hooks: no re.
"""

from eventlog.secrets.patterns import ALNUM, QUOTES, SETTERS, TOKEN
from eventlog.secrets.scan import before_any

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator

_SIGNS = ":=："
_BARS = ("|", "│", "┃")
# what texts assign by
WITH_VALUES = (*_SIGNS, *_BARS, "--", ">", '",', "',", " '", "%3", "set", "login ", "ENV ", "ARG ", "\t")
_BEFORE_EQUALS = "?.+|"
_LONGEST_INDENT, _LONGEST_ELEMENT = 80, 336  # characters between an element and its text, and to its end
_IN_TYPES, _LONGEST_TYPE = ALNUM + " _.:?|&*'<>[]", 60  # between a name and its sign in a declaration
_AROUND_SIGN = " \t\"'`\\"
_SIGN_WITHIN, _LONGEST_GAP = 40, 12  # characters between a name and its value, with a sign and without
_SETTERS = ("", "set", "with", "set_", "with_", "--", "-")  # before a name, in a call with a password
_OPTIONS = ("password", "passwd", "passphrase", "storepass")  # behind a single dash
_MARKUP = "*_`\"' "
_IN_HEADINGS = TOKEN + " \t\r," + "".join(_BARS)
_MAX_ROWS, _LONGEST_ROW = 50, 400  # of a table, and characters


def value_at(text: str, at: int, end: int) -> int:
    """Find where the value begins that is assigned to the name at this place; 0 for none."""
    if start := _after_type(text, end) or _in_next_field(text, end):
        return start
    near = text[end : end + _SIGN_WITHIN]
    sign = near.removeprefix("**").lstrip(_AROUND_SIGN)
    if sign[1:2] == "=" and sign[0] in _BEFORE_EQUALS:  # of make, of PHP
        sign = sign[1:]
    elif sign[:1] == "]" and sign[1:].lstrip(" ")[:1] == "=":  # of an item
        sign = sign[1:].lstrip(" ")
    if sign[:1] and sign[0] in _SIGNS and len(near) - len(sign) <= _LONGEST_GAP:
        value = (sign[:1] + sign[1:].removeprefix("** ")).lstrip(_SIGNS + ">" + _AROUND_SIGN)
    elif sign[:1] == "," and near[:1] in QUOTES:
        value = sign[1:].lstrip(" \t\r\n")
        value = value.lstrip(QUOTES) if value[:1] in QUOTES and _is_argument_name(text, at) else ""
    elif near[:1] == ">" and _is_tag(text, at) and "</" in text[end : end + _LONGEST_ELEMENT]:
        near = text[end : end + _LONGEST_INDENT]
        value = near[1:].lstrip(" \t\r\n")
    else:
        value = _without_sign(text, at, end, near)
    return end + len(near) - len(value) if value else 0


def _without_sign(text: str, at: int, end: int, near: str) -> str:
    """Return what is near a name from its value on: of an option, of SQL, of a call that sets it."""
    value = ""
    if near[:1] in (" ", "\n") and _is_followed(text, at, end):
        value = near.lstrip(_AROUND_SIGN + "\n").removeprefix("- ").lstrip(_AROUND_SIGN)  # the next of a list of YAML
        value = value if len(near) - len(value) < _LONGEST_GAP or near[:1] == "\n" else ""
    elif near[:2] == " '" and (text[at:end].isupper() or text[at:end] == "identified by"):  # of SQL
        value = near[2:]
    elif near[:3].lower() == "%3d":
        value = near[3:]
    elif near[:2] in ("('", '("') and _is_set(text, at, end):
        value = near[2:]
    return value


def _in_next_field(text: str, end: int) -> int:
    """Find the value beside a name: `{"name": "DB_PASSWORD", "value": "…"}`, `<add key="…" value="…">`."""
    near = text[end : end + _LONGEST_INDENT]
    if near.startswith('" {'):
        return _default(text, end + len('" {'))
    name, value, rest = near.partition("value")
    sign = rest.lstrip(_AROUND_SIGN)
    if not value or not name or name.strip(_AROUND_SIGN + "\r\n,") or sign[:1] not in (":", "="):
        return 0
    return end + len(near) - len(sign[1:].lstrip(_AROUND_SIGN))


def _default(text: str, at: int) -> int:
    """Find the default of a variable of Terraform: `variable "db_password" { default = "…" }`; 0 for none."""
    before, word, rest = before_any(text[at : at + _LONGEST_ELEMENT], "}").partition("default")
    sign = rest.lstrip(" \t")
    value = sign[1:].lstrip(' \t"')
    return at + len(before) + len(word) + len(rest) - len(value) if sign[:1] == "=" and value else 0


def _after_type(text: str, end: int) -> int:
    """Find the value of a declaration: `token: str = "…"`, `var token string = "…"`, `char token[] = "…"`."""
    near = text[end : end + _LONGEST_TYPE]
    declared, _, value = near.partition("=")
    quoted = value.lstrip(" ")
    if len(quoted) <= 1 or quoted[0] not in QUOTES or declared.strip(_IN_TYPES):
        return 0
    is_type = declared.lstrip("? ")[:1] in (":", "[") or declared.strip(" *").lower() in ("string", "as string")
    return end + len(near) - len(quoted) + 1 if is_type else 0


def _is_argument_name(text: str, at: int) -> bool:
    """Return whether the quoted name that ends here is the first argument of a call, or an option in a list.

    As in `set("db.password", "…")` and `["--password", "…"]`.
    """
    before = text[max(0, at - 40) : at]
    name = before[len(before.rstrip(TOKEN + ".")) :]
    before = before[: len(before) - len(name)]
    is_first = before[:-1].rstrip(" ")[-1:] == "("
    return before[-1:] in (*QUOTES,) and (is_first or f"{name}{text[at : at + 2]}".startswith("--"))


def _is_set(text: str, at: int, end: int) -> bool:
    """Return whether a call sets what is named, to a text in quotes: `setPassword("…")`, `.password("…")`."""
    before = text[max(0, at - 40) : at]
    closing = text.find(text[end + 1], end + 2, end + _LONGEST_INDENT)
    return (
        text[at:end].lower() in _OPTIONS
        and before[len(before.rstrip(TOKEN)) :] in _SETTERS
        and closing >= 0
        and text[closing + 1 : closing + 2] == ")"
    )


def _is_tag(text: str, at: int) -> bool:
    """Return whether the name that ends here is that of an element: `<dbPassword>`."""
    before = text[max(0, at - 40) : at].rstrip(TOKEN + ".:")
    return before[-1:] == "<" and (before == "<" or before[-2] not in ALNUM)  # no type in brackets


def _is_followed(text: str, at: int, end: int) -> bool:
    """Return whether a value follows a name without a sign: `--token …`, `ENV X_TOKEN …`, `login ada password …`."""
    before = text[max(0, at - 80) : at]
    name = before[len(before.rstrip(TOKEN)) :]
    words = before[: len(before) - len(name)].split()
    if text[end] == "\n" and text[end:].lstrip()[:2] != "- ":
        return False
    is_set = "_" in name and "".join(words[-1:] if words[-1:] != ["/M"] else words[-2:-1]).endswith(SETTERS)
    is_option = f"{name}{text[at : at + 2]}".startswith("--") or (name[:1] == "-" and text[at:end].lower() in _OPTIONS)
    return is_set or is_option or (not name and words[-2:-1] == ["login"])


def apart_at(text: str, at: int, end: int) -> "Iterator[int]":
    """Find where values stand that the layout puts beside or below a name.

    In the next cell or column, on the next line, in the next element of HTML, or in the column below a heading.
    """
    line = text[max(0, at - 80) : at].rpartition("\n")[2]
    near = text[end : end + _LONGEST_INDENT]
    rest = near.lstrip(_MARKUP)
    value = ""
    if rest[:1] in _BARS and line.lstrip(_MARKUP + "".join(_BARS))[:1] in ("", *TOKEN):
        value = rest[1:].lstrip(_MARKUP) if not line.strip() or line.lstrip()[:1] in _BARS else ""
    elif rest[:1] in (*_SIGNS, "i"):
        below = rest.removeprefix("is")[1:].lstrip(_MARKUP + "\t|>-")
        value = below.lstrip("\r\n\t" + _MARKUP) if below[:1] in ("\r", "\n") and rest[:1] != "=" else ""
    elif (near[:1] == "\t" or near[:2] == "  ") and not line.strip(TOKEN + "."):
        value = near.lstrip(" \t")
    elif near[:2] == "</":
        value = _in_element(near)
    if value[:1].strip():
        yield end + len(near) - len(value)
    elif rest[:1] in ("", ",", "\n", "\t", *_BARS):
        yield from _below(text, at, end)


def _in_element(near: str) -> str:
    """Return what stands in the next element: `</td><td>…`, `</key>\n<string>…`; "" if that is a heading, too."""
    tag = ""
    while near[:1] == "<":
        tag, _, near = near.partition(">")
        near = near.lstrip()
    return "" if tag[:2] in ("</", "<t") and tag[:3] != "<td" else near


def _below(text: str, at: int, end: int) -> "Iterator[int]":
    """Find the cells below the heading there, in a table of a database or with commas."""
    first = text.rfind("\n", max(0, at - _LONGEST_ROW), at) + 1
    rows = text[first : first + _MAX_ROWS * _LONGEST_ROW].split("\n", _MAX_ROWS)
    sign = text[end : end + _LONGEST_ROW].lstrip(" ")[:1]
    sign = sign if sign in (*_BARS, ",", "\t") else text[first:at].rstrip(TOKEN + " ")[-1:]
    is_heading = sign in (*_BARS, ",", "\t") and not rows[0].strip(_IN_HEADINGS) and rows[0].rstrip()[-1:] != ","
    if not is_heading or len(rows[0]) > _LONGEST_ROW:
        return
    column, cells, start = text[first:at].count(sign), rows[0].count(sign), first + len(rows[0]) + 1
    for row in rows[1:]:
        values = row.split(sign)
        if row.strip("-+=|:─┼┃│├┤╪ "):
            if len(values) != cells + 1 or not values[column].strip():
                return
            before = sum(len(value) + 1 for value in values[:column])
            yield start + before + len(values[column]) - len(values[column].lstrip(_MARKUP))
        start += len(row) + 1
