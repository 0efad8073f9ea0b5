"""Passwords among the arguments of commands and calls: `curl -u ada:…`, `mysql -p…`, `["docker", "login", "-p", "…"]`.

Loaded by hooks, where a text names such a program: no re.
"""

from eventlog.secrets.patterns import ALNUM, DIGITS, PLACEHOLDERS, QUOTES, TOKEN
from eventlog.secrets.plain import MIN_RANDOM
from eventlog.secrets.scan import LONGEST_VALUE, OPENS, before_any, begins, is_word, places, run, tail

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator

    from eventlog.secrets.scan import Found

    _Spans = list[tuple[int, int]]

_LONGEST_COMMAND, _LONGEST_LINE = 1024, 200  # characters looked at
_ARGUMENT_STOPS = " \t\r\n\"'`;&|<>()"
_ITEM_STOPS = _ARGUMENT_STOPS + ",]"
_IN_PROGRAMS = ("'", '"')
_SPACES = " \t\r\n"
_BETWEEN = " \t\r\n\\\"',=("
_NO_ARGUMENT = (*OPENS, *" ,.:;)]}-")  # after a quote: it was the end of one; or another option
_COMMAND_ENDS = ("; ", " | ", " || ", " && ")
_MIN_ARGUMENT, _MIN_COOKIE, _MIN_ASSIGNED = 4, 16, 6


def passwords_in_commands(text: str, called: "list[tuple[str, list[str]]]") -> "Iterator[Found]":
    """Find the passwords among the arguments of these programs, each to the end of its line, or of its list."""
    for how, programs in called:
        for program in programs:
            done = 0
            for at in places(text, program):
                end = run(text, at + len(program), TOKEN + "." * (program[-1] in ".-"))
                if at < done or (program[0] in ALNUM and not begins(text, at)) or not _is_called(text, at, end, how):
                    continue
                arguments, done = _arguments(text, end) if how != "|" else (_piped(text, at), end)
                for start, stop in _passwords(text, arguments, how):
                    if _is_argument(text[start:stop]):
                        yield start, stop, "password"


def _is_called(text: str, at: int, end: int, how: str) -> bool:
    """Return whether arguments follow: in a command, in the list of a program, or behind a bracket."""
    behind, before = text[end : end + 1], text[at - 1 : at]
    if how == "|":
        return True
    if how[-1] == "(":
        return behind == "("
    if behind == before and behind in _IN_PROGRAMS:
        behind = text[end + 1 : end + 2]
    return behind in (" ", "\t", "\\", "=", ",")


def _arguments(text: str, end: int) -> "tuple[_Spans, int]":
    """Find where the arguments begin and end, without their quotes, and where the command does."""
    is_list = text[end : end + 1] == "(" or text[end + 1 : end + 2] == ","
    last = min(len(text), end + _LONGEST_COMMAND) if is_list else _end_of_command(text, end)
    found, at = [], end
    while (start := run(text, at, _BETWEEN)) < last:
        closing = text.find(text[start - 1], start, last) if start > at and text[start - 1] in QUOTES else -1
        if closing >= 0:
            stop = closing - tail(text[start:closing], "\\")
        else:
            stops = _ITEM_STOPS if is_list else _ARGUMENT_STOPS if text[start : start + 1] != "<" else _SPACES
            stop = start + len(before_any(text[start : min(last, start + LONGEST_VALUE)], stops))
        if stop == start and (is_list or text[start : start + 1] == "`"):  # of Markdown, around the command
            break
        found.append((start, stop))
        at = max(stop, start + 1)
    return found, last


def _piped(text: str, at: int) -> "_Spans":
    """Find what is sent to a program: the last argument of `echo … |` before it on its line."""
    line = text[max(0, at - _LONGEST_LINE) : at].rpartition("\n")[2]
    source = max(line.rfind("echo "), line.rfind("printf "))
    bar = at - len(line) + line.rfind("|")
    spans: _Spans = []
    if source >= 0 and at - len(line) + source < bar:
        spans = [span for span in _arguments(text, at - len(line) + line.index(" ", source))[0] if span[1] <= bar]
    return [_of_login(text, *span, ":") if text.startswith("chp", at) else span for span in spans[-1:]]


def _end_of_command(text: str, at: int) -> int:
    """Find where the command ends that goes on there; a line that ends in a backslash goes on in the next."""
    rest = text[at : at + _LONGEST_COMMAND]
    size = min((place for stop in _COMMAND_ENDS if (place := rest.find(stop)) >= 0), default=len(rest))
    return at + next((place for place in places(rest[:size], "\n") if rest[:place].rstrip("\r")[-1:] != "\\"), size)


def _passwords(text: str, spans: "_Spans", how: str) -> "Iterator[tuple[int, int]]":
    """Find the passwords among arguments, by the way to give them (see `patterns.py`)."""
    if how == "=":
        yield from _assigned(text, spans)
    elif how == "|":
        yield from spans
    elif how == "-b 3":
        yield from _last_of(text, spans)
    elif how == "@":
        yield from _behind_user(text, spans)
    elif how[0] in DIGITS:
        yield from _numbered(text, spans, int(how[0]) - 1, how[1:])
    else:
        sign = how[-1] if how[-1] in ":%,=… " else ""
        for start, stop in _behind(text, spans, how.removesuffix(sign), sign):
            yield _of_login(text, start, stop, sign) if sign in _OF_LOGINS else (start, stop)


def _numbered(text: str, spans: "_Spans", number: int, mark: str) -> "Iterator[tuple[int, int]]":
    """Find the password that is the argument of that number: in quotes in a call, in a command no word."""
    if mark == "(":
        yield from spans[number : number + 1] if _are_literal(text, spans[number - 1 : number + 1]) else ()
        return
    for start, stop in [span for span in spans if _is_operand(text, *span)][number : number + 1]:
        if mark == ":":
            yield _of_login(text, start, stop, ":")
        elif not is_word(text[start:stop]) and " " not in text[start:stop]:
            yield start, stop


def _behind(text: str, spans: "_Spans", option: str, sign: str) -> "Iterator[tuple[int, int]]":
    """Find what is given with an option: behind it, joined to it, or in quotes of its own there."""
    for (start, stop), following in zip(spans, [*spans[1:], (0, 0)], strict=False):
        word = text[start:stop]
        ends = word in (option, f"{option}=") or (sign in _OF_LOGINS and word[-1:] == option[-1] and _are_flags(word))
        if ends and (sign != "…" or text[stop : following[0]] in (*QUOTES,)):
            yield following
        elif word[:1] == "-" and text[start - 1] in QUOTES and text[stop + 1 : stop + 2] != ",":  # in a list alone
            continue
        elif not ends and sign != " " and (size := _joined(word, option, sign)):
            yield start + size, stop


_OF_LOGINS = (":", "%", ",", "=")  # between a user and a password, the name of a cookie and its value
_FLAGS = "fgikLNnOSsv"  # options of one letter that take nothing, before one that does: `curl -sSuada:…`


def _joined(word: str, option: str, sign: str) -> int:
    """Return where a value begins that is joined to its option, also behind flags; 0 where there is none."""
    if option.startswith("--"):
        return len(option) + 1 if word.startswith(f"{option}=") else 0
    flags = word[1 : len(word) - len(word[1:].lstrip(_FLAGS))] if sign in _OF_LOGINS else ""
    return len(flags) + len(option) if word.startswith(f"{option[0]}{flags}{option[1:]}") else 0


def _are_flags(word: str) -> bool:
    return word[:1] == "-" and word[1:].isalpha()


def _of_login(text: str, start: int, stop: int, sign: str) -> tuple[int, int]:
    """Find the password of a login; none of a user and a group, which have numbers, nor of an address or a file."""
    user, _, password = text[start:stop].partition(sign)
    is_none = password.startswith("//") or (user.isdigit() and password.isdigit())
    is_none |= sign == "=" and len(password) < _MIN_COOKIE
    return (stop, stop) if is_none else (min(start + len(user) + 1, stop), stop)


def _assigned(text: str, spans: "_Spans") -> "Iterator[tuple[int, int]]":
    """Find the values that a command puts into a store of secrets, `pin=…`; no words."""
    for (start, stop), following in zip(spans, [*spans[1:], (0, 0)], strict=False):
        word = text[start:stop].removeprefix("--from-literal=")
        name, sign, value = word.partition("=")
        first, last = (stop - len(value), stop) if value else following
        is_one = last - first >= _MIN_ASSIGNED and not is_word(text[first:last]) and " " not in text[first:last]
        is_named = name and name[0] != "-" and not name.lower().endswith(_NO_SECRETS) and text[first] != "@"
        if sign and is_one and is_named and (value or text[stop:first] in (*QUOTES,)):
            yield first, last


_NO_SECRETS = ("id", "name", "user", "host", "url", "endpoint", "email")  # ends of names of what stands beside secrets


def _behind_user(text: str, spans: "_Spans") -> "Iterator[tuple[int, int]]":
    """Find the password of `user/password@database`, a long word as others with such signs."""
    for start, stop in spans:
        user, slash, rest = text[start:stop].removeprefix("userid=").partition("/")
        password = rest[: max(rest.rfind("@"), 0)]
        if slash and user.isidentifier() and stop - start >= MIN_RANDOM:
            first = stop - len(rest)
            yield first, first + len(password)


def _last_of(text: str, spans: "_Spans") -> "_Spans":
    """Find the last argument of `htpasswd -b file user password`; without that option the program asks for it."""
    options = [text[start:stop] if text[start] == "-" else "" for start, stop in spans]
    named = next((place for place, option in enumerate(options) if "b" in option), len(spans))
    arguments = [span for span, option in zip(spans[named:], options[named:], strict=True) if not option]
    prints = any("n" in option for option in options)  # and names no file
    return arguments[1 if prints else 2 :][:1]


def _is_operand(text: str, start: int, stop: int) -> bool:
    r"""Return whether an argument is neither an option, nor the drive or the share of `net use Z: \\host\share`."""
    return text[start] not in "-/" and text[start - 1] != "\\" and text[stop - 1] != ":"


def _are_literal(text: str, spans: "_Spans") -> bool:
    """Return whether a call has a user and a password in quotes, and not the names of variables."""
    if len(spans) != 2 or not all(text[start - 1] in _IN_PROGRAMS for start, _ in spans):  # noqa: PLR2004
        return False
    start, stop = spans[1]
    return text[spans[0][1] + 1] == "," and stop - start >= _MIN_ASSIGNED and not is_word(text[start:stop])


def _is_argument(value: str) -> bool:
    """Return whether an argument is a password: not a placeholder, nor the port that `-p` means to other programs."""
    if len(value) < _MIN_ARGUMENT or value.startswith(_NO_ARGUMENT) or "://" in value:
        return False
    *_, last = words = value.lower().removeprefix("my").rstrip(",.:").replace("-", "_").split("_")
    if last in PLACEHOLDERS and "".join(words).isalpha():
        return False
    return ":" not in value or not value.replace(":", "").replace(".", "").isdigit()
