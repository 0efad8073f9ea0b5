"""Values that a text assigns to a name: by a sign, a declaration, a call, an element, an option, or its layout.

Loaded by hooks: no re.
"""

from eventlog.format import FIRST_HAN
from eventlog.secrets.in_sentences import may_be_password
from eventlog.secrets.patterns import ALNUM, BASE64, NAMES, PASSWORDS, QUOTES, SAMPLES, SETTERS, TOKEN
from eventlog.secrets.plain import MIN_RANDOM, is_plain
from eventlog.secrets.scan import KIND, LONGEST_VALUE, MIN_PASSWORD, OPENS, before_any, is_random, is_word, places, run

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from eventlog.secrets.scan import Found

_SIGNS = ":=："
_BARS = ("|", "│", "┃")
# what texts assign by
_WITH_VALUES = (*_SIGNS, *_BARS, "--", ">", '",', "',", " '", "%3", "set", "login ", "ENV ", "ARG ", "\t")
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
_SPACES = " \t\r\n\x1b"
_STOPS = " \t\r\n\x1b\"'`,;&|<>()[]{}\\，；。"  # what an assigned value ends before
_LINE_ENDS, _SETTING_SIGNS = ("", *"\r\n\\", *QUOTES), (":", "=")
_VALUE_ENDS = (";", *_LINE_ENDS)
_CLOSERS = ")]}>.,;"
_BETWEEN_ITEMS = " \t\r\n\"'`\\,"
_LONGEST_LIST = 1024  # characters looked at
_MAX_WITHIN = 4  # names within the value of another
_MIN_OF_WORDS, _MIN_ANYWHERE, _WORDS_OF_NAMES = 10, 20, (2, 3)
_MIN_GENERATED = 10  # characters of a password with signs in it
_MIN_DIGITS = 5  # different ones
_ELSEWHERE = ("/", "~", ".", KIND, "env:", "file:", "pass:")  # what says where a password is, or was
_ENDS = (*PASSWORDS, *(name for name, _ in NAMES))
_AWS_SECRET = 40


def assigned(text: str, lower: str, names: "Iterable[tuple[str, str]]", *, long: bool) -> "Iterator[Found]":
    """Find the values assigned to these names: a password as it stands, a `long` value where it looks random."""
    long = long and any(map(text.__contains__, _WITH_VALUES))
    for name, kind in names:
        if long or kind == "password":
            yield from _values(text, text if name.isupper() else lower, name, kind)


def _values(text: str, lower: str, name: str, kind: str) -> "Iterator[Found]":
    stop = seen = 0
    for at in places(lower, name):
        end = at + len(name)
        start = _value_at(text, at, end) or _list_at(text, at, end)
        if text.startswith(KIND, at - 1) or _is_public(lower, at, kind):
            continue
        if not start or text[start : start + 3].lstrip("|+-*")[:1] in ("\r", "\n"):
            yield from _apart(text, at, end, kind)
            continue
        if start < stop and seen == _MAX_WITHIN:  # `token=token=token=…`: the same characters, again and again
            continue
        seen = seen + 1 if start < stop else 0
        values = _items(text, start) if text[start] == "[" else [(start, _end_of_value(text, start))]
        stop = values[-1][1]
        for first, last in values:
            whole = _end_of_whole(text, first, last, end)
            value = text[first:last]
            is_called = whole == last or value.replace(".", "").replace("::", "").isidentifier()
            calls = "{" if text[first - 1] in QUOTES else "([{"
            if text[last : last + 1] in (*calls,) and is_called:  # or looked up: not the thing itself
                continue
            if (
                _is_of_kind(kind, value, text[at:end])
                or _is_generated(kind, text[first:whole])
                or (
                    _is_of_words(kind, value)
                    and (last - first >= _MIN_ANYWHERE or text[last : last + 1] in _VALUE_ENDS)
                )
            ):
                yield first, whole, kind


def _is_public(lower: str, at: int, kind: str) -> bool:
    """Return whether a key is known to everyone, as the `PublicKeyToken` of .NET."""
    return kind != "password" and lower[max(0, at - 11) : at].lower().endswith(_PUBLIC)


_PUBLIC = ("public", "public_", "publickey", "public_key_")


def _apart(text: str, at: int, end: int, kind: str) -> "Iterator[Found]":
    """Find the values beside or below a name; more than a password may stand there, so only what no word is counts."""
    for start in _apart_at(text, at, end):
        last = _end_of_value(text, start)
        value = text[start:last]
        is_one = may_be_password(value) if kind == "password" else is_random(value)
        is_one = is_one and (text[at:end].lower() in _SPELLED or not is_plain(value))
        if is_one and text[last:].lstrip(_AFTER_CELL)[:1] in _CELL_ENDS:
            yield start, last, kind


_SPELLED = [name for name in PASSWORDS if name != "pwd" and not name.endswith("pass")]  # what no text is plain with
_AFTER_CELL, _CELL_ENDS = "*_`\"' \t,", ("", "\n", "\r", "|", "│", "┃", "<")


def _items(text: str, at: int) -> list[tuple[int, int]]:
    """Find the quoted items of a list, also of lists within it; last, where it was left."""
    found: list[tuple[int, int]] = []
    depth, last = 0, at + _LONGEST_LIST
    while at < last:
        if text.startswith(KIND, at):
            at = run(text, at + len(KIND), TOKEN) + 1
        elif text[at : at + 1] in ("[", "]"):
            depth += 1 if text[at] == "[" else -1
            at += 1
        elif depth and (end := run(text, at, _BETWEEN_ITEMS)) > at:
            at = end
        elif depth and text[at - 1] == "\\" and text[at : at + 1] in ("n", "r", "t"):
            at += 1
        elif depth and text[at - 1] in QUOTES and (end := _end_of_value(text, at)) > at:
            found.append((at, end))
            at = end
        else:
            break
    return [*found, (at, at)]


def _list_at(text: str, at: int, end: int) -> int:
    """Find where the list begins that is assigned to a name in the plural, as in `tokens = […]`; 0 for none."""
    start = _value_at(text, at, end + 1) if text[end : end + 1] in ("s", "S") else 0
    return start if start and text[start] == "[" else 0


def _end_of_value(text: str, start: int, stops: str = _STOPS) -> int:
    value = before_any(text[start : start + LONGEST_VALUE], stops)
    end = next((at for at, char in enumerate(value) if char >= FIRST_HAN), 0)  # of a sentence that goes on
    return start + (end or len(value))


def _end_of_whole(text: str, start: int, end: int, sign: int) -> int:
    """Find where a value ends that has signs in it: at its quote; in `NAME=`, or alone on its line, at white space."""
    quote = text[start - 1]
    stops = quote if quote in QUOTES else _SPACES + QUOTES + "\\"
    value = text[start : _end_of_value(text, start, stops)].rstrip("\\")
    whole = max(end, start + len(value))
    if quote not in QUOTES and not (text[sign] == "=" and start == sign + 1 and text[sign - 1].isupper()):
        is_line = text[whole : whole + 1] in _LINE_ENDS and text[sign:start].strip(" \t") in _SETTING_SIGNS
        rest = text[end:whole].rstrip(_CLOSERS)  # of what is around it, no part of it
        return end + len(rest) if is_line and "</" not in rest else end
    return end if any(map(value.__contains__, _SPACES)) else whole


def _is_generated(kind: str, value: str) -> bool:
    """Return whether a password with signs in it is none of a program: capitals and others, digits, no `a-z`."""
    tests = str.isdigit, str.isupper, str.islower
    is_mixed = len(value) >= _MIN_GENERATED and all(any(map(is_one, value)) for is_one in tests)
    return kind in ("password", "secret") and is_mixed and "-z" not in value and not value.startswith(OPENS)


def _is_of_words(kind: str, value: str) -> bool:
    """Return whether a password is of words put together, and no sample."""
    words = value.split("-")
    is_long = len(value) >= _MIN_OF_WORDS and len(words) not in _WORDS_OF_NAMES
    is_one = kind == "password" and is_long and value.isascii() and value.islower() and all(map(str.isalpha, words))
    return is_one and not any(map(value.__contains__, SAMPLES))


def kind_of(name: str, value: str) -> str:
    """Name the kind of credential a field of that name holds; "" for none."""
    lower = name.lower()
    if not lower.endswith(_ENDS) or any(map(value.__contains__, _SPACES)):
        return ""
    named = "password" if lower.endswith(PASSWORDS) else next(kind for end, kind in NAMES if lower.endswith(end))
    is_one = _end_of_value(value, 0) == len(value) and _is_of_kind(named, value, name)
    return named if is_one or _is_generated(named, value) or _is_of_words(named, value) else ""


def _is_of_kind(kind: str, value: str, name: str) -> bool:
    """Return whether a value is of the kind that its name promises."""
    if kind == "password":
        return _is_password(value, name)
    if kind in ("token", "secret") and value.isdigit():
        return len(value) >= MIN_RANDOM and len(set(value)) >= _MIN_DIGITS
    return is_random(value) or (kind == "aws-secret-key" and run(value, 0, BASE64) == len(value) == _AWS_SECRET)


def _is_password(value: str, name: str) -> bool:
    """Return whether a value is a password, not a word, a type or an expression of a program."""
    if len(value) < MIN_PASSWORD or "://" in value or value.startswith((*OPENS, *_ELSEWHERE)):
        return False
    if name.lower().endswith("_pass") and value.replace(".", "").isdigit():  # a figure of a pass
        return False
    return not is_word(value) or (name.isupper() and " " not in name and "." not in value)


def _value_at(text: str, at: int, end: int) -> int:
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


def _apart_at(text: str, at: int, end: int) -> "Iterator[int]":
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
