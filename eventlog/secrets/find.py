"""Credentials in a text: where they stand and of which kind they are.

Nothing here backtracks: a credential is a beginning and a run of characters, so the time is linear in the text
whatever it holds. Loaded by hooks: no re.
"""

from eventlog.format import FIRST_HAN
from eventlog.secrets.assigned import WITH_VALUES, apart_at, value_at
from eventlog.secrets.in_sentences import in_sentences, may_be_password
from eventlog.secrets.patterns import (
    ALNUM,
    AROUND,
    BASE64,
    BLOCKS,
    COMMANDS,
    DIGITS,
    FORMS,
    HEADER,
    MAINTAINED,
    NAMES,
    PASSWORDS,
    QUOTES,
    SAMPLES,
    SCHEMES,
    STEMS,
    TOKEN,
    TOKENS,
    UPPER_ONLY,
)  # fmt: skip
from eventlog.secrets.plain import MIN_RANDOM, is_plain
from eventlog.secrets.scan import (
    LONGEST_VALUE,
    MIN_ASSIGNED,
    MIN_PART,
    OPENS,
    before_any,
    begins,
    end_of_line,
    entropy_of,
    is_random,
    is_word,
    places,
    printable,
    run,
    tail,
)  # fmt: skip

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from eventlog.secrets.scan import Found

    Rule = tuple[str, tuple[str, ...], str, int, int, float]  # as in `token_rules.py`

_TOKENS = [(*token, 0.0) for token in TOKENS]
_MIN_TOKEN = min(len(beginning) + min_length for _, beginnings, _, min_length, _ in TOKENS for beginning in beginnings)
_FLAGS = ("-u", "-U", "-b")  # that stand behind others, too: `curl -su`
_BEFORE_OPTIONS = (" -", '"-', "'-", "\n-")
_COMMANDS: "list[tuple[str, str, tuple[str, ...]]]" = [  # each with what stands in every text of it
    (how[1:] if how[0] in DIGITS else "-" if how[:2] in _FLAGS else how.rstrip(":…%= ") or how, how, programs)
    for how, programs in COMMANDS
]
_WITHOUT_OPTIONS = [command for command in _COMMANDS if command[0][0] != "-"]
_SPACES = " \t\r\n\x1b"
_MIN_OF_WORDS, _MIN_ANYWHERE, _WORDS_OF_NAMES = 10, 20, (2, 3)
_CLOSERS = ")]}>.,;"
_MIN_GENERATED = 10  # characters of a password with signs in it
_STOPS = " \t\r\n\x1b\"'`,;&|<>()[]{}\\，；。"  # what an assigned value ends before
_LINE_ENDS, _SETTING_SIGNS = ("", *"\r\n\\", *QUOTES), (":", "=")
_VALUE_ENDS = (";", *_LINE_ENDS)
_HOST_STOPS = "/ \t\r\n\"'`<>?#"
_TITLE = "ABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789 "
_BETWEEN_ITEMS = " \t\r\n\"'`\\,"
_LONGEST_LIST = 1024  # characters looked at
_KIND = "[secret:"  # how what stands for a secret begins
_MAX_WITHIN = 4  # names within the value of another
_MIN_PASSWORD = 6
_STEMS: "dict[str, list[tuple[str, str]]]" = {}  # of names, in their order: texts have few of them
for _named in (*((name, "password") for name in (*PASSWORDS, "identified by")), *NAMES):  # the last is of SQL
    _STEMS.setdefault(next((stem for stem in STEMS if stem in _named[0]), _named[0]), []).append(_named)
_ELSEWHERE = ("/", "~", ".", _KIND, "env:", "file:", "pass:")  # what says where a password is, or was
_MIN_ARGUMENT, _AWS_SECRET = 4, 40
_MIN_DIGITS = 5  # different ones
_ENDS = (*PASSWORDS, *(name for name, _ in NAMES))
_LOWER = {ord(char): ord(char.lower()) for char in ALNUM if char.isupper()}


def find(text: str) -> "Iterator[Found]":
    """Yield where credentials stand and of which kind they are, in no order, some within others."""
    words = {*text.split()}
    longest = max(map(len, words), default=0)
    if longest >= MIN_RANDOM:  # generated ones are long
        # a token is within a word; what tools print has few long ones, and those again and again
        long = " ".join([word for word in words if len(word) >= _MIN_TOKEN])
        yield from _tokens(text, long, _TOKENS)
        if any(longest >= min_length and beginning in long for beginning, min_length in MAINTAINED):
            from eventlog.secrets.token_rules import TOKEN_RULES  # few texts have one of the beginnings

            yield from _tokens(text, long, TOKEN_RULES)
        yield from _web_tokens(text)
        yield from _around(text)
        yield from _bearers(text)
    if longest >= _MIN_PASSWORD:
        yield from _basic(text)
        yield from _in_addresses(text)
        commands = _COMMANDS if any(map(text.__contains__, _BEFORE_OPTIONS)) else _WITHOUT_OPTIONS
        called = [
            (how, some)
            for mark, how, programs in commands
            if mark in text and (some := [*filter(text.__contains__, programs)])
        ]
        if called:
            from eventlog.secrets.in_commands import passwords_in_commands  # few texts have such a program

            yield from passwords_in_commands(text, called)
        if any(mark in text for mark, _ in FORMS):
            from eventlog.secrets.in_forms import secrets_in_forms  # as above

            yield from secrets_in_forms(text)
        yield from _assigned(text, long=longest >= MIN_ASSIGNED)
        yield from in_sentences(text)
    yield from _blocks(text)


def _tokens(text: str, long: str, rules: "Iterable[Rule]") -> "Iterator[Found]":
    for kind, beginnings, alphabet, min_length, max_length, entropy in rules:
        for beginning in beginnings:
            if beginning in long:
                yield from beginning_so(text, kind, beginning, alphabet, min_length, max_length, entropy)


def beginning_so(
    text: str, kind: str, beginning: str, alphabet: str, min_length: int, max_length: int, entropy: float = 0
) -> "Iterator[Found]":
    """Yield where a word begins so, and goes on with at least and (unless 0) at most so many of these characters."""
    at = text.find(beginning)
    while at >= 0:
        end = start = at + len(beginning)
        if begins(text, at):
            end = run(text, start, alphabet)
            size = end - start
            if (
                min_length <= size
                and (not max_length or size <= max_length)
                and (not entropy or entropy_of(text[at:end]) >= entropy)
            ):
                yield at, end, kind
        at = text.find(beginning, end)


def _web_tokens(text: str) -> "Iterator[Found]":
    """Find JSON Web Tokens: `eyJ…` and at least one more part."""
    at = text.find("eyJ")
    while at >= 0:
        end = at + 3
        if begins(text, at):
            end = run(text, at, TOKEN + ".=")
            head, _, rest = text[at:end].partition(".")
            if len(head) >= MIN_PART and len(rest) >= MIN_PART:
                yield at, end, "json-web-token"
        at = text.find("eyJ", end)


def _around(text: str) -> "Iterator[Found]":
    for kind, middle, before, fewest, max_length, after, min_length in AROUND:
        done = 0
        for at in places(text, middle):
            end = at + len(middle)
            if at < done or (min_length and text[end : end + 1] not in after) or text[at - 1 : at] not in before:
                continue
            start = at - tail(text[max(0, at - max_length) : at], before)
            behind = text[end : end + LONGEST_VALUE]
            size = len(behind) - len(behind.lstrip(after))
            if at - start >= fewest and size >= min_length and begins(text, start):
                done = end + size
                yield start, done, kind
    for at in places(text, "."):
        if text[at + 7 : at + 8] == "." and run(text, at + 1, TOKEN) == at + 7:
            yield from _discord_token(text, at)


def _discord_token(text: str, at: int) -> "Iterator[Found]":
    """Find a token of three parts, parted by the dot here and the next; the first is an account's number in base 64."""
    before = text[max(0, at - 26) : at]
    size = tail(before, TOKEN)
    end = run(text, at + 8, TOKEN)
    start = next((start for start in range(at - size, at - 23) if text[start] in "MNO"), -1)
    if start >= 0 and end - at - 8 >= 27:  # noqa: PLR2004
        yield start, end, "discord-token"


def _blocks(text: str) -> "Iterator[Found]":
    """Find keys of several lines; a key without an end goes on to the end of the text."""
    for kind, first, word, last in BLOCKS:
        at = text.find(first)
        while at >= 0:
            end = at + len(first)
            title = text[end : end + 60]
            if word in title[: run(title, 0, _TITLE)]:
                closing = text.find(last, end)
                end = len(text) if closing < 0 else end_of_line(text, closing + len(last))
                yield at, end, kind
            at = text.find(first, end)


def _bearers(text: str) -> "Iterator[Found]":
    for scheme in SCHEMES if _HEADER in text.lower() else SCHEMES[:1]:
        for start in _behind(text, scheme):
            end = run(text, start, HEADER)
            is_long = end - start >= MIN_RANDOM and any(map(text[start:end].__contains__, DIGITS))
            if is_long and (scheme == SCHEMES[0] or _is_in_header(text, start - len(scheme))):
                yield start, end, "bearer-token"


def _basic(text: str) -> "Iterator[Found]":
    """Find `user:password` in base 64; in a header, any value."""
    for start in _behind(text, "Basic "):
        in_header = _is_in_header(text, start - len("Basic "))
        end = run(text, start, HEADER if in_header else BASE64)
        if not _is_word(text[start:end]) if in_header else ":" in printable(text[start:end]):
            yield start, end, "basic-credentials"


def _behind(text: str, word: str) -> "Iterator[int]":
    """Find what follows a word in any of its spellings."""
    return (at + len(word) for spelled in (word, word.lower(), word.upper()) for at in places(text, spelled))


def _is_in_header(text: str, at: int) -> bool:
    before = text[max(0, at - 40) : at].rstrip(_AROUND_HEADER)  # however that is written in a program
    return before[-len(_HEADER) :].lower() == _HEADER


_HEADER, _AROUND_HEADER = "authorization", " \t\"'`\\:=>,[](){}"


def _is_word(value: str) -> bool:
    return len(value) < _MIN_ARGUMENT or (value.isalpha() and value[1:].islower())


def _in_addresses(text: str) -> "Iterator[Found]":
    """Find `user:password` of any scheme, and a token alone."""
    if "@" not in text:
        return
    for at in places(text, ":/"):  # one slash: an address that was taken for a path
        start = run(text, at + 1, "/")
        host = text[start : start + LONGEST_VALUE]
        if "@" not in host:
            continue
        host = before_any(host, _HOST_STOPS)
        login = host[: max(host.rfind("@"), 0)]
        user, _, password = login.partition(":")
        if (password or is_random(user)) and not login.startswith(_KIND) and not password.startswith(OPENS):
            yield start, start + len(login), "password" if password else "token"


def _assigned(text: str, *, long: bool) -> "Iterator[Found]":
    """Find the values assigned to names of credentials: a password as it stands, a long value where it looks random."""
    long = long and any(map(text.__contains__, WITH_VALUES))
    lower = text.lower()
    if len(lower) != len(text):  # as of İ: places would differ
        lower = text.translate(_LOWER)
    for stem, names in _STEMS.items():
        for name, kind in names if stem in lower else ():
            if name in lower and (long or kind == "password"):
                yield from _values(text, lower, name, kind)
    for name, kind in UPPER_ONLY if long else ():
        yield from _values(text, text, name, kind)


def _values(text: str, lower: str, name: str, kind: str) -> "Iterator[Found]":
    stop = seen = 0
    for at in places(lower, name):
        end = at + len(name)
        start = value_at(text, at, end) or _list_at(text, at, end)
        if text.startswith(_KIND, at - 1) or _is_public(lower, at, kind):
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
    for start in apart_at(text, at, end):
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
        if text.startswith(_KIND, at):
            at = run(text, at + len(_KIND), TOKEN) + 1
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
    start = value_at(text, at, end + 1) if text[end : end + 1] in ("s", "S") else 0
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
    if len(value) < _MIN_PASSWORD or "://" in value or value.startswith((*OPENS, *_ELSEWHERE)):
        return False
    if name.lower().endswith("_pass") and value.replace(".", "").isdigit():  # a figure of a pass
        return False
    return not is_word(value) or (name.isupper() and " " not in name and "." not in value)
