"""Credentials in a text: where they stand and of which kind they are.

Nothing here backtracks: a credential is a beginning and a run of characters, so the time is linear in the text
whatever it holds. Loaded by hooks: no re.
"""

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
    SCHEMES,
    SPOKEN_PASSWORDS,
    STEMS,
    TOKEN,
    TOKENS,
    UPPER_ONLY,
)  # fmt: skip
from eventlog.secrets.plain import MIN_RANDOM
from eventlog.secrets.scan import (
    KIND,
    LONGEST_VALUE,
    MIN_ASSIGNED,
    MIN_PART,
    MIN_PASSWORD,
    OPENS,
    before_any,
    begins,
    end_of_line,
    entropy_of,
    is_random,
    places,
    printable,
    run,
    tail,
)  # fmt: skip

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from eventlog.secrets.scan import Found

    Token = tuple[str, tuple[str, ...], str, int, int]  # as in `patterns.py`
    Rule = tuple[str, tuple[str, ...], str, int, int, float]  # as in `token_rules.py`

_MIN_TOKEN = 13  # characters of the shortest of `TOKENS`, with its beginning
_FLAGS = ("-u", "-U", "-b")  # that stand behind others, too: `curl -su`
_BEFORE_OPTIONS = (" -", '"-', "'-", "\n-")
_HOST_STOPS = "/ \t\r\n\"'`<>?#"
_TITLE = "ABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789 "
_MIN_ARGUMENT = 4
_LOWER = {ord(char): ord(char.lower()) for char in ALNUM if char.isupper()}


def find(text: str) -> "Iterator[Found]":
    """Yield where credentials stand and of which kind they are, in no order, some within others."""
    words = {*text.split()}
    longest = max(map(len, words), default=0)
    if longest >= MIN_RANDOM:  # generated ones are long
        # a token is within a word; what tools print has few long ones, and those again and again
        long = " ".join([word for word in words if len(word) >= _MIN_TOKEN])
        yield from _tokens(text, long, TOKENS)
        if any(longest >= min_length and beginning in long for beginning, min_length in MAINTAINED):
            from eventlog.secrets.token_rules import TOKEN_RULES  # few texts have one of the beginnings

            yield from _tokens(text, long, TOKEN_RULES)
        yield from _web_tokens(text)
        yield from _around(text)
        yield from _bearers(text)
    if longest >= MIN_PASSWORD:
        yield from _basic(text)
        yield from _in_addresses(text)
        has_options = any(map(text.__contains__, _BEFORE_OPTIONS))
        called = [
            (how, some)
            for how, programs in COMMANDS
            if (has_options or how[0] != "-")
            and _mark_of(how) in text
            and (some := [*filter(text.__contains__, programs)])
        ]
        if called:
            from eventlog.secrets.in_commands import passwords_in_commands  # few texts have such a program

            yield from passwords_in_commands(text, called)
        if any(mark in text for mark, _ in FORMS):
            from eventlog.secrets.in_forms import secrets_in_forms  # as above

            yield from secrets_in_forms(text)
        lower = text.lower()
        if len(lower) != len(text):  # İ has two letters then: every letter is to stay where it was
            lower = text.translate(_LOWER)
        if named := _named_in(text, lower):
            from eventlog.secrets.assigned import assigned  # as above

            yield from assigned(text, lower, named, long=longest >= MIN_ASSIGNED)
        if any(map(lower.__contains__, SPOKEN_PASSWORDS)):
            from eventlog.secrets.in_sentences import in_sentences  # as above

            yield from in_sentences(text)
    yield from _blocks(text)


def _tokens(text: str, long: str, rules: "Iterable[Token | Rule]") -> "Iterator[Found]":
    for rule in rules:
        for beginning in rule[1]:
            if beginning in long:
                yield from beginning_so(text, rule[0], beginning, *rule[2:])


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
        if (password or is_random(user)) and not login.startswith(KIND) and not password.startswith(OPENS):
            yield start, start + len(login), "password" if password else "token"


def _named_in(text: str, lower: str) -> "list[tuple[str, str]]":
    """List the names of credentials that a text has, and their kinds."""
    found = [named for named in UPPER_ONLY if named[0] in text]
    if not any(map(lower.__contains__, STEMS)):
        return found
    passwords = ((name, "password") for name in (*PASSWORDS, "identified by"))  # the last is of SQL
    return found + [named for named in (*passwords, *NAMES) if named[0] in lower]


def _mark_of(how: str) -> str:
    """Return what stands in every text in which a program is given a password in this way."""
    if how[0] in DIGITS:
        return how[1:]
    return "-" if how[:2] in _FLAGS else how.rstrip(":…%= ") or how
