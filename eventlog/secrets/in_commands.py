"""Passwords among the arguments of commands: `curl -u ada:…`, `mysql -p…`, `docker login -p …`, `htpasswd -b …`.

Loaded by hooks, where a text names such a program: no re.
"""

from eventlog.secrets.patterns import COMMANDS, PLACEHOLDERS, QUOTES, TOKEN
from eventlog.secrets.scan import LONGEST_VALUE, OPENS, before_any, begins, places, run, tail, words_at

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator

    from eventlog.secrets.scan import Found

_LONGEST_COMMAND = 1024  # characters looked at
_ARGUMENT_STOPS = " \t\r\n\"'`;&|<>()"
_NO_ARGUMENT = (*OPENS, *" ,.:;)]}")  # after a quote: it was the end of one
_COMMAND_ENDS = ("; ", " | ", " || ", " && ")
_LEAST_ARGUMENT, _LEAST_COOKIE = 4, 16


def passwords_in_commands(text: str) -> "Iterator[Found]":
    """Find the passwords among the arguments of a command, to the end of its line."""
    for word, option, is_apart in COMMANDS:
        done = 0
        for at in places(text, word):
            end = run(text, at + len(word), TOKEN)
            if at < done or not begins(text, at) or text[end : end + 1] not in (" ", "\t", "\\"):
                continue
            done = _end_of_command(text, end)
            if word == "curl":
                found = _user_and_password(text, end, done)
            elif word == "htpasswd":
                found = _last_of(text, end, done)
            else:
                found = _passwords(text, end, done, option, apart=is_apart)
            for start, stop in found:
                if _is_argument(text[start:stop]):
                    yield start, stop, "password"


def _end_of_command(text: str, at: int) -> int:
    """Find where the command ends that goes on there; a line that ends in a backslash goes on in the next."""
    rest = text[at : at + _LONGEST_COMMAND]
    size = min((place for stop in _COMMAND_ENDS if (place := rest.find(stop)) >= 0), default=len(rest))
    return at + next((place for place in places(rest[:size], "\n") if rest[:place].rstrip("\r")[-1:] != "\\"), size)


def _user_and_password(text: str, at: int, end: int) -> "Iterator[tuple[int, int]]":
    """Find the passwords of `-u user:password`, `-su`, `--user`, `--proxy-user`, in curl's spellings of them."""
    for place, after in words_at(text, at, end):
        word = text[place:after]
        if word.startswith("-u") and ":" in word:
            start, stop = _argument(text, place + 2, end)
        elif word.startswith(("--user=", "--proxy-user=")):
            start, stop = _argument(text, place + word.index("=") + 1, end)
        elif word == "-b":  # a cookie, where it is no file of them
            start, stop = _argument(text, run(text, after, " \t\r\n\\"), end)
            name = text[start:stop].find("=") + 1
            if name and stop - start - name >= _LEAST_COOKIE:
                yield start + name, stop
            continue
        elif word in ("--user", "--proxy-user") or (word[:1] == "-" and word[1:].isalpha() and word[-1] in "uU"):
            start, stop = _argument(text, run(text, after, " \t\r\n\\"), end)
        else:
            continue
        user, colon, password = text[start:stop].partition(":")
        if colon and not (user.isdigit() and password.isdigit()):  # of a user and a group, for other programs
            yield start + len(user) + 1, stop


def _last_of(text: str, at: int, end: int) -> "Iterator[tuple[int, int]]":
    """Find the last argument of `htpasswd -b file user password`; without that option the program asks for it."""
    spans = [*words_at(text, at, end)]
    options = [text[start:stop] if text[start] == "-" else "" for start, stop in spans]
    named = next((place for place, option in enumerate(options) if "b" in option), len(spans))
    arguments = [start for (start, _), option in zip(spans[named:], options[named:], strict=True) if not option]
    prints = any("n" in option for option in options)  # and names no file
    yield from (_argument(text, start, end) for start in arguments[1 if prints else 2 :][:1])


def _passwords(text: str, at: int, end: int, option: str, *, apart: bool) -> "Iterator[tuple[int, int]]":
    """Find the passwords of `-ppassword`, and `apart` those of `-p password`, which asks for a password elsewhere."""
    for start, after in words_at(text, at, end):
        if text.startswith(option, start):
            behind = start + len(option)
            is_next = apart and after == behind
            yield _argument(text, run(text, after, " \t\r\n\\") if is_next else behind, end)


def _argument(text: str, at: int, end: int) -> tuple[int, int]:
    """Find where an argument begins and ends, without its quotes."""
    start = run(text, at, "\\\"'")
    closing = text.find(text[start - 1], start, end) if start > at and text[start - 1] in QUOTES else -1
    if closing >= 0:
        return start, closing - tail(text[start:closing], "\\")
    return start, start + len(before_any(text[start : min(end, start + LONGEST_VALUE)], _ARGUMENT_STOPS))


def _is_argument(value: str) -> bool:
    """Return whether an argument is a password: not a placeholder, nor the port that `-p` means to other programs."""
    if len(value) < _LEAST_ARGUMENT or value.startswith(_NO_ARGUMENT):
        return False
    *_, last = words = value.lower().rstrip(",.:").replace("-", "_").split("_")
    if last in PLACEHOLDERS and "".join(words).isalpha():
        return False
    return ":" not in value or not value.replace(":", "").replace(".", "").isdigit()
