"""Credentials in a text: where they stand and of which kind they are.

Nothing here backtracks: a credential is a beginning and a run of characters, so the time is linear in the text
whatever it holds. Loaded by hooks: no re.
"""

from eventlog.format.text import FIRST_HAN
from eventlog.secrets.assigned import WITH_VALUES, value_at
from eventlog.secrets.patterns import (
    ALNUM,
    AROUND,
    BASE64,
    BLOCKS,
    COMMANDS,
    DIGITS,
    HEADER,
    MAINTAINED,
    NAMES,
    PASSWORDS,
    PLACEHOLDERS,
    QUOTES,
    SCHEMES,
    TOKEN,
    TOKENS,
    UPPER_ONLY,
)  # fmt: skip
from eventlog.secrets.plain import LEAST_RANDOM
from eventlog.secrets.said import before_any, passwords_said

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    Found = tuple[int, int, str]  # from, to, kind
    Rule = tuple[str, tuple[str, ...], str, int, int, float]  # as in `token_rules.py`

_CHUNK = 256  # characters looked at in one go
_TOKENS = [(*token, 0.0) for token in TOKENS]
_LEAST_TOKEN = min(len(beginning) + least for _, beginnings, _, least, _ in TOKENS for beginning in beginnings)
_SPACES = " \t\r\n\x1b"
_LEAST_GENERATED = 10  # characters of a password with signs in it
_LONGEST_ESCAPE = 16
_LONGEST_VALUE = 256  # characters of what is assigned to a name
_STOPS = " \t\r\n\x1b\"'`,;&|<>()[]{}\\，；。"  # what an assigned value ends before
_OPENS = tuple("$<{[(*%")  # what a placeholder begins with, or a call ends in
_HOST_STOPS = "/ \t\r\n\"'`<>?#"
_TITLE = "ABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789 "
_BETWEEN_ITEMS = " \t\r\n\"'`\\,"
_LONGEST_LIST, _LONGEST_COMMAND = 1024, 1024  # characters looked at
_ARGUMENT_STOPS = " \t\r\n\"'`;&|<>()"
_NO_ARGUMENT = (*_OPENS, *" ,.:;)]}")  # after a quote: it was the end of one
_COMMAND_ENDS = ("; ", " | ", " || ", " && ")
_KIND = "[secret:"  # how what stands for a secret begins
_MOST_WITHIN = 4  # names within the value of another
_LEAST_PASSWORD, _LEAST_PART = 6, 8
_LEAST_ASSIGNED = 14  # characters of a generated value that a name says is one
_LEAST_ARGUMENT, _AWS_SECRET = 4, 40
_LEAST_DIGITS = 5  # different ones
_RANDOM_BITS = 3.0  # of Shannon entropy per character; words of a language joined together seldom have digits as well
_ENDS = (*PASSWORDS, *(name for name, _ in NAMES))
_LOWER = {ord(char): ord(char.lower()) for char in ALNUM if char.isupper()}


def find(text: str) -> "Iterator[Found]":
    """Yield where credentials stand and of which kind they are, in no order, some within others."""
    words = {*text.split()}
    longest = max(map(len, words), default=0)
    if longest >= LEAST_RANDOM:  # generated ones are long
        # a token is within a word; what tools print has few long ones, and those again and again
        long = " ".join([word for word in words if len(word) >= _LEAST_TOKEN])
        yield from _tokens(text, long, _TOKENS)
        if any(longest >= least and beginning in long for beginning, least in MAINTAINED):
            from eventlog.secrets.token_rules import TOKEN_RULES  # few texts have one of the beginnings

            yield from _tokens(text, long, TOKEN_RULES)
        yield from _web_tokens(text)
        yield from _around(text)
        yield from _bearers(text)
    if longest >= _LEAST_PASSWORD:
        yield from _basic(text)
        yield from _in_addresses(text)
        yield from _in_commands(text)
        yield from _assigned(text, long=longest >= _LEAST_ASSIGNED)
        yield from passwords_said(text)
    yield from _blocks(text)


def _tokens(text: str, long: str, rules: "Iterable[Rule]") -> "Iterator[Found]":
    for kind, beginnings, alphabet, least, most, entropy in rules:
        for beginning in beginnings:
            if beginning in long:
                yield from beginning_so(text, kind, beginning, alphabet, least, most, entropy)


def beginning_so(
    text: str, kind: str, beginning: str, alphabet: str, least: int, most: int, entropy: float = 0
) -> "Iterator[Found]":
    """Yield where a word begins so, and goes on with at least and (unless 0) at most so many of these characters."""
    at = text.find(beginning)
    while at >= 0:
        end = start = at + len(beginning)
        if _begins(text, at):
            end = _run(text, start, alphabet)
            size = end - start
            if least <= size and (not most or size <= most) and (not entropy or _entropy(text[at:end]) >= entropy):
                yield at, end, kind
        at = text.find(beginning, end)


def _web_tokens(text: str) -> "Iterator[Found]":
    """Find JSON Web Tokens: `eyJ…` and at least one more part."""
    at = text.find("eyJ")
    while at >= 0:
        end = at + 3
        if _begins(text, at):
            end = _run(text, at, TOKEN + ".=")
            head, _, rest = text[at:end].partition(".")
            if len(head) >= _LEAST_PART and len(rest) >= _LEAST_PART:
                yield at, end, "json-web-token"
        at = text.find("eyJ", end)


def _around(text: str) -> "Iterator[Found]":
    for kind, middle, before, fewest, most, after, least in AROUND:
        done = 0
        for at in _places(text, middle):
            end = at + len(middle)
            if at < done or (least and text[end : end + 1] not in after) or text[at - 1 : at] not in before:
                continue
            start = at - _tail(text[max(0, at - most) : at], before)
            run = text[end : end + _CHUNK]
            size = len(run) - len(run.lstrip(after))
            if at - start >= fewest and size >= least and _begins(text, start):
                done = end + size
                yield start, done, kind
    for at in _places(text, "."):
        if text[at + 7 : at + 8] == "." and _run(text, at + 1, TOKEN) == at + 7:
            yield from _discord_token(text, at)


def _discord_token(text: str, at: int) -> "Iterator[Found]":
    """Find a token of three parts, parted by the dot here and the next; the first is an account's number in base 64."""
    before = text[max(0, at - 26) : at]
    size = _tail(before, TOKEN)
    end = _run(text, at + 8, TOKEN)
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
            if word in title[: _run(title, 0, _TITLE)]:
                closing = text.find(last, end)
                end = len(text) if closing < 0 else _end_of_line(text, closing + len(last))
                yield at, end, kind
            at = text.find(first, end)


def _bearers(text: str) -> "Iterator[Found]":
    for scheme in SCHEMES if _HEADER in text.lower() else SCHEMES[:1]:
        for start in _behind(text, scheme):
            end = _run(text, start, HEADER)
            is_long = end - start >= LEAST_RANDOM and any(map(text[start:end].__contains__, DIGITS))
            if is_long and (scheme == SCHEMES[0] or _is_in_header(text, start - len(scheme))):
                yield start, end, "bearer-token"


def _basic(text: str) -> "Iterator[Found]":
    """Find `user:password` in base 64; in a header, any value."""
    for start in _behind(text, "Basic "):
        in_header = _is_in_header(text, start - len("Basic "))
        end = _run(text, start, HEADER if in_header else BASE64)
        if not _is_word(text[start:end]) if in_header else _is_basic(text[start:end]):
            yield start, end, "basic-credentials"


def _behind(text: str, word: str) -> "Iterator[int]":
    """Find what follows a word in any of its spellings."""
    return (at + len(word) for spelled in (word, word.lower(), word.upper()) for at in _places(text, spelled))


def _is_in_header(text: str, at: int) -> bool:
    before = text[max(0, at - 40) : at].rstrip(_AROUND_HEADER)  # however that is written in a program
    return before[-len(_HEADER) :].lower() == _HEADER


_HEADER, _AROUND_HEADER = "authorization", " \t\"'`\\:=>,[](){}"


def _is_word(value: str) -> bool:
    return len(value) < _LEAST_ARGUMENT or (value.isalpha() and value[1:].islower())


def _in_addresses(text: str) -> "Iterator[Found]":
    """Find `user:password` of any scheme, and a token alone."""
    if "@" not in text:
        return
    for at in _places(text, ":/"):  # one slash: an address that was taken for a path
        start = _run(text, at + 1, "/")
        host = text[start : start + _CHUNK]
        if "@" not in host:
            continue
        host = before_any(host, _HOST_STOPS)
        login = host[: max(host.rfind("@"), 0)]
        user, _, password = login.partition(":")
        if (password or _is_random(user)) and not login.startswith(_KIND) and not password.startswith(_OPENS):
            yield start, start + len(login), "password" if password else "token"


def _in_commands(text: str) -> "Iterator[Found]":
    """Find the passwords among the arguments of a command, to the end of its line."""
    for word, option, is_apart in COMMANDS:
        done = 0
        for at in _places(text, word):
            end = _run(text, at + len(word), TOKEN)
            if at < done or not _begins(text, at) or text[end : end + 1] not in (" ", "\t", "\\"):
                continue
            done = _end_of_command(text, end)
            found = _passwords(text, end, done, option, apart=is_apart)
            for start, stop in _user_and_password(text, end, done) if word == "curl" else found:
                if _is_argument(text[start:stop]):
                    yield start, stop, "password"


def _end_of_command(text: str, at: int) -> int:
    """Find where the command ends that goes on there; a line that ends in a backslash goes on in the next."""
    rest = text[at : at + _LONGEST_COMMAND]
    size = min((place for stop in _COMMAND_ENDS if (place := rest.find(stop)) >= 0), default=len(rest))
    return at + next((place for place in _places(rest[:size], "\n") if rest[:place].rstrip("\r")[-1:] != "\\"), size)


def _user_and_password(text: str, at: int, end: int) -> "Iterator[tuple[int, int]]":
    """Find the passwords of `-u user:password`, `-su`, `--user`, `--proxy-user`, in curl's spellings of them."""
    for place, after in _words(text, at, end):
        word = text[place:after]
        if word.startswith("-u") and ":" in word:
            start, stop = _argument(text, place + 2, end)
        elif word.startswith(("--user=", "--proxy-user=")):
            start, stop = _argument(text, place + word.index("=") + 1, end)
        elif word in ("--user", "--proxy-user") or (word[:1] == "-" and word[1:].isalpha() and word[-1] in "uU"):
            start, stop = _argument(text, _run(text, after, " \t\r\n\\"), end)
        else:
            continue
        user, colon, password = text[start:stop].partition(":")
        if colon and not (user.isdigit() and password.isdigit()):  # of a user and a group, for other programs
            yield start + len(user) + 1, stop


def _passwords(text: str, at: int, end: int, option: str, *, apart: bool) -> "Iterator[tuple[int, int]]":
    """Find the passwords of `-ppassword`, and `apart` those of `-p password`, which asks for a password elsewhere."""
    for start, after in _words(text, at, end):
        if text.startswith(option, start):
            behind = start + len(option)
            is_next = apart and after == behind
            yield _argument(text, _run(text, after, " \t\r\n\\") if is_next else behind, end)


def _words(text: str, at: int, end: int) -> "Iterator[tuple[int, int]]":
    for word in text[at:end].split():
        at = text.index(word, at) + len(word)
        yield at - len(word), at


def _argument(text: str, at: int, end: int) -> tuple[int, int]:
    """Find where an argument begins and ends, without its quotes."""
    start = _run(text, at, "\\\"'")
    closing = text.find(text[start - 1], start, end) if start > at and text[start - 1] in QUOTES else -1
    if closing >= 0:
        return start, closing - _tail(text[start:closing], "\\")
    return start, start + len(before_any(text[start : min(end, start + _LONGEST_VALUE)], _ARGUMENT_STOPS))


def _is_argument(value: str) -> bool:
    """Return whether an argument is a password: not a placeholder, nor the port that `-p` means to other programs."""
    if len(value) < _LEAST_ARGUMENT or value.startswith(_NO_ARGUMENT):
        return False
    *_, last = words = value.lower().replace("-", "_").split("_")
    if last in PLACEHOLDERS and "".join(words).isalpha():
        return False
    return ":" not in value or not value.replace(":", "").replace(".", "").isdigit()


def _assigned(text: str, *, long: bool) -> "Iterator[Found]":
    """Find the values assigned to names of credentials: a password as it stands, a long value where it looks random."""
    if not any(sign in text for sign in WITH_VALUES):
        return
    lower = text.translate(_LOWER) if not text.isascii() else text.lower()
    for name in PASSWORDS:
        if name in lower:
            yield from _values(text, lower, name, "password")
    for name, kind in NAMES if long else ():
        if name in lower:
            yield from _values(text, lower, name, kind)
    for name, kind in UPPER_ONLY if long else ():
        yield from _values(text, text, name, kind)


def _values(text: str, lower: str, name: str, kind: str) -> "Iterator[Found]":
    stop = seen = 0
    for at in _places(lower, name):
        end = at + len(name)
        start = value_at(text, at, end) or _list_at(text, at, end)
        if not start:
            continue
        if start < stop and seen == _MOST_WITHIN:  # `token=token=token=…`: the same characters, again and again
            continue
        seen = seen + 1 if start < stop else 0
        values = _items(text, start) if text[start] == "[" else [(start, _end_of_value(text, start))]
        stop = values[-1][1]
        for first, last in values:
            whole = _end_of_whole(text, first, last, end)
            value = text[first:last]
            is_called = whole == last or value.replace(".", "").isidentifier()
            if text[last : last + 1] in ("(", "[", "{") and is_called:  # or looked up: not the thing itself
                continue
            if _is_of_kind(kind, value, text[at:end]) or _is_generated(kind, text[first:whole]):
                yield first, whole, kind


def _items(text: str, at: int) -> list[tuple[int, int]]:
    """Find the quoted items of a list, also of lists within it; last, where it was left."""
    found: list[tuple[int, int]] = []
    depth, last = 0, at + _LONGEST_LIST
    while at < last:
        if text.startswith(_KIND, at):
            at = _run(text, at + len(_KIND), TOKEN) + 1
        elif text[at : at + 1] in ("[", "]"):
            depth += 1 if text[at] == "[" else -1
            at += 1
        elif depth and (end := _run(text, at, _BETWEEN_ITEMS)) > at:
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
    value = before_any(text[start : start + _LONGEST_VALUE], stops)
    end = next((at for at, char in enumerate(value) if char >= FIRST_HAN), 0)  # of a sentence that goes on
    return start + (end or len(value))


def _end_of_whole(text: str, start: int, end: int, sign: int) -> int:
    """Find where a value ends that has signs in it: at its quote, or in `NAME=` at white space; else where it did."""
    quote = text[start - 1]
    if quote not in QUOTES and not (text[sign] == "=" and start == sign + 1 and text[sign - 1].isupper()):
        return end
    stops = quote if quote in QUOTES else _SPACES + QUOTES
    value = text[start : _end_of_value(text, start, stops)].rstrip("\\")
    return end if any(map(value.__contains__, _SPACES)) else max(end, start + len(value))


def _is_generated(kind: str, value: str) -> bool:
    """Return whether a password with signs in it is none of a program: capitals and others, digits, no `a-z`."""
    tests = str.isdigit, str.isupper, str.islower
    is_mixed = len(value) >= _LEAST_GENERATED and all(any(map(is_one, value)) for is_one in tests)
    return kind in ("password", "secret") and is_mixed and "-z" not in value and not value.startswith(_OPENS)


def kind_of(name: str, value: str) -> str:
    """Name the kind of credential a field of that name holds; "" for none."""
    lower = name.lower()
    if not lower.endswith(_ENDS) or any(map(value.__contains__, _SPACES)):
        return ""
    named = "password" if lower.endswith(PASSWORDS) else next(kind for end, kind in NAMES if lower.endswith(end))
    is_one = _end_of_value(value, 0) == len(value) and _is_of_kind(named, value, name)
    return named if is_one or _is_generated(named, value) else ""


def _is_of_kind(kind: str, value: str, name: str) -> bool:
    """Return whether a value is of the kind that its name promises."""
    if kind == "password":
        return _is_password(value, name)
    if kind in ("token", "secret") and value.isdigit():
        return len(value) >= LEAST_RANDOM and len(set(value)) >= _LEAST_DIGITS
    return _is_random(value) or (kind == "aws-secret-key" and _run(value, 0, BASE64) == len(value) == _AWS_SECRET)


def _is_password(value: str, name: str) -> bool:
    """Return whether a value is a password, not a word, a type or an expression of a program."""
    if len(value) < _LEAST_PASSWORD or value.startswith((*_OPENS, "/", "~", ".", _KIND)):
        return False
    if name.lower().endswith("_pass") and value.replace(".", "").isdigit():  # a figure of a pass
        return False
    if "." in value and all(part.isidentifier() for part in value.split(".")):
        return False
    return name.isupper() or not value.rstrip(".!?:").replace("_", "").replace("-", "").isalpha()


def _is_random(value: str) -> bool:
    """Return whether a value is generated: long, with letters and digits in one part, and of high entropy."""
    if len(value) < _LEAST_ASSIGNED or value.startswith(_OPENS) or value.count("/") > max(3, len(value) // 20):
        return False  # a path has many short parts; base 64 has few slashes
    parts = value.translate(_SEPARATED).split()
    mixed = any(len(part) >= _LEAST_PART and not part.isalpha() and not part.isdigit() for part in parts)
    return mixed and _run(value, 0, _RANDOM) == len(value) and _entropy(value) >= _RANDOM_BITS


_RANDOM = HEADER + "%!@#$^*:"
_SEPARATED = dict.fromkeys(map(ord, "_-./:="), " ")


def _entropy(value: str) -> float:
    """Compute Shannon's entropy, in bits per character."""
    from math import log2

    shares = [value.count(char) / len(value) for char in set(value)]
    return -sum(share * log2(share) for share in shares)


def _is_basic(value: str) -> bool:
    """Return whether it is `user:password` in base 64."""
    from binascii import Error, a2b_base64

    if len(value) < _LEAST_PART:
        return False
    try:
        decoded = a2b_base64(value)
        return b":" in decoded and decoded.decode().isprintable()
    except (Error, UnicodeDecodeError):
        return False


def _begins(text: str, at: int) -> bool:
    r"""Return whether a word can begin here; the end of an escape before it belongs to no word.

    Such are `\n`, `%20`, `\u0026`, and the colours of a terminal, `[0;32m`.
    """
    if not at or text[at - 1] not in ALNUM:
        return True
    before = text[max(0, at - _LONGEST_ESCAPE) : at]
    is_colour = before[-1] in "mK" and before[:-1].rstrip(DIGITS + ";").endswith("[")
    return before[-2:-1] == "\\" or before[-3:-2] == "%" or before[-6:-4] == "\\u" or is_colour


def _run(text: str, start: int, alphabet: str) -> int:
    """Find where the run of these characters ends that begins there."""
    while part := text[start : start + _CHUNK]:
        if rest := part.lstrip(alphabet):
            return start + len(part) - len(rest)
        start += len(part)
    return start


def _tail(text: str, alphabet: str) -> int:
    """Count the characters of this kind at the end of the text."""
    return len(text) - len(text.rstrip(alphabet))


def _places(text: str, word: str) -> "Iterator[int]":
    at = text.find(word)
    while at >= 0:
        yield at
        at = text.find(word, at + len(word))


def _end_of_line(text: str, at: int) -> int:
    """Find where the line ends, at a line break of any spelling."""
    line = text[at : at + 80]
    return at + min((place for stop in ("\n", "\\n", "\\r", '"') if (place := line.find(stop)) >= 0), default=len(line))
