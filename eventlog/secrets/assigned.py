"""Places of values that a text assigns to a name: by a sign, a declaration, a call, an element, an option.

Loaded by hooks: no re.
"""

from eventlog.secrets.patterns import ALNUM, QUOTES, SETTERS, TOKEN
from eventlog.secrets.scan import before_any

_SIGNS = ":=："
WITH_VALUES = (*_SIGNS, "--", ">", '",', "',", " '", "%3", "set", "login ", "ENV ", "ARG ")  # what texts assign by
_BEFORE_EQUALS = "?.+|"
_LONGEST_INDENT, _LONGEST_ELEMENT = 80, 336  # characters between an element and its text, and to its end
_IN_TYPES, _LONGEST_TYPE = ALNUM + " _.:?|&*'<>[]", 60  # between a name and its sign in a declaration
_AROUND_SIGN = " \t\"'`\\"
_SIGN_WITHIN = 12  # characters between a name and its value


def value_at(text: str, at: int, end: int) -> int:
    """Find where the value begins that is assigned to the name at this place; 0 for none."""
    if start := _after_type(text, end) or _in_next_field(text, end):
        return start
    near = text[end : end + _SIGN_WITHIN]
    sign = near.removeprefix("**").lstrip(_AROUND_SIGN)
    if sign[1:2] == "=" and sign[0] in _BEFORE_EQUALS:  # of make, of PHP
        sign = sign[1:]
    if sign[:1] and sign[0] in _SIGNS:
        value = (sign[:1] + sign[1:].removeprefix("** ")).lstrip(_SIGNS + ">" + _AROUND_SIGN)
    elif sign[:1] == "," and near[:1] in QUOTES:
        value = sign[1:].lstrip(" \t")
        value = value.lstrip(QUOTES) if value[:1] in QUOTES and _is_argument_name(text, at) else ""
    elif near[:1] == ">" and _is_tag(text, at) and "</" in text[end : end + _LONGEST_ELEMENT]:
        near = text[end : end + _LONGEST_INDENT]
        value = near[1:].lstrip(" \t\r\n")
    elif near[:1] == " " and _is_followed(text, at):
        value = near.lstrip(_AROUND_SIGN)
    elif near[:2] == " '" and text[at:end].isupper():  # of SQL
        value = near[2:]
    elif near[:3].lower() == "%3d":
        value = near[3:]
    else:
        return 0
    return end + len(near) - len(value) if value else 0


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
    """Return whether the quoted name that ends here is the first argument of a call: `set("db.password", "…")`."""
    before = text[max(0, at - 40) : at].rstrip(TOKEN + ".")
    return before[-1:] in QUOTES and before[-2:-1] == "("


def _is_tag(text: str, at: int) -> bool:
    """Return whether the name that ends here is that of an element: `<dbPassword>`."""
    before = text[max(0, at - 40) : at].rstrip(TOKEN + ".:")
    return before[-1:] == "<" and (before == "<" or before[-2] not in ALNUM)  # no type in brackets


def _is_followed(text: str, at: int) -> bool:
    """Return whether a value follows a name without a sign: `--token …`, `ENV X_TOKEN …`, `login ada password …`."""
    before = text[max(0, at - 80) : at]
    name = before[len(before.rstrip(TOKEN)) :]
    words = before[: len(before) - len(name)].split()
    is_set = "_" in name and "".join(words[-1:]).endswith(SETTERS)
    return is_set or name.startswith("--") or (not name and words[-2:-1] == ["login"])
