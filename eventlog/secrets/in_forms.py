"""Secrets in files, headers and addresses that have a form of their own: cookies, `.pgpass`, `.netrc`, Kubernetes.

Each form has a word that few texts have, and only these load this.
"""

from eventlog.secrets.patterns import BASE64, FORMS, HEADER, PLACEHOLDERS, TOKEN
from eventlog.secrets.plain import MIN_RANDOM
from eventlog.secrets.scan import OPENS, before_any, begins, is_random, places, printable, run, tail, words_at

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from eventlog.secrets.scan import Found

    # from, to, the kind, and whether the form alone tells; else the value has to look generated
    _Candidate = tuple[int, int, str, bool]

_SPACES_AND_QUOTES = " \t\r\n\"'`"
_LONGEST_HEADER, _LONGEST_LOGIN, _LONGEST_DOCUMENT = 4096, 400, 4096  # characters looked at
_BEFORE_COOKIES = "=\"'`"
_MIN = 4  # characters of a secret that the form alone tells
_ARE_NAMED = ("login", "account", "password")  # what follows the name of a machine
_BASE_32 = "ABCDEFGHIJKLMNOPQRSTUVWXYZ234567abcdefghijklmnopqrstuvwxyz="
_FIELDS = 5  # of a line of `.pgpass`


def secrets_in_forms(text: str) -> "Iterator[Found]":
    """Yield the secrets of all forms; the time is linear."""
    for mark, form in FORMS:
        for start, end, kind, is_one in _FINDERS[form](text, mark) if mark in text else ():
            if is_one or (end - start >= MIN_RANDOM and is_random(text[start:end])):
                yield start, end, kind


def _is_one(value: str) -> bool:
    return len(value) >= _MIN and not value.startswith(OPENS) and value.lower() not in PLACEHOLDERS


def _cookies(text: str, mark: str) -> "Iterator[_Candidate]":
    """Find what looks generated in the line of a header `Cookie: name=…; name=…`, or of a setting of it."""
    done = 0
    for at in places(text, mark):
        near = text[at + len(mark) : at + len(mark) + 12]
        sign = near.removeprefix("s").removeprefix("S").lstrip("\"'`]\\ \t")
        if at < done or not (sign[:1] in (":", "=") or text[max(0, at - 3) : at - 1] == "--"):
            continue
        start = at + len(mark) + len(near) - len(sign)
        line = before_any(text[start : start + _LONGEST_HEADER], "\r\n").split("\\n")[0].split("\\r")[0]
        done = start + len(line)
        for first, last in words_at(line.translate(_APART), 0, len(line)):
            if text[start + first - 1] in _BEFORE_COOKIES:
                yield start + first, start + last, "session-cookie", False


_APART = dict.fromkeys(map(ord, "=;,:{}[]()\"'`\\&<>"), " ")


def _in_queries(text: str, mark: str) -> "Iterator[_Candidate]":
    """Find what looks generated in an address, `?key=…&code=…`."""
    for at in places(text, mark):
        start = at + len(mark)
        if text[max(0, at - 1) : at] in ("?", "&") or text[max(0, at - 5) : at] == "&amp;":
            yield start, run(text, start, HEADER + "%"), "authorization-code" if mark == "code=" else "api-key", False


def _of_oracle(text: str, mark: str) -> "Iterator[_Candidate]":
    """Find the password of `jdbc:oracle:thin:user/password@host`."""
    for at in places(text, mark):
        start = run(text, at + len(mark), TOKEN) + 1
        login, sign, _ = before_any(text[start : start + _LONGEST_LOGIN], _SPACES_AND_QUOTES).rpartition("@")
        user, _, password = login.partition("/")
        if sign and user and _is_one(password):
            yield start + len(user) + 1, start + len(login), "password", True


def _of_postgres(text: str, mark: str) -> "Iterator[_Candidate]":
    """Find the password of `host:port:database:user:password`."""
    for at in places(text, mark):
        start = at - tail(text[max(0, at - _LONGEST_LOGIN) : at], TOKEN + ".*")
        line = before_any(text[start : start + _LONGEST_LOGIN], _SPACES_AND_QUOTES).split("\\n")[0]
        fields = line.split(":", _FIELDS - 1)
        if len(fields) == _FIELDS and all(fields) and (fields[1] == "*" or fields[1].isdigit()):
            user, password = fields[3:]
            if user[0].isalpha() and _is_one(password):
                yield start + len(line) - len(password), start + len(line), "password", True


def _of_netrc(text: str, mark: str) -> "Iterator[_Candidate]":
    """Find the password of `machine … login … password …`, on a line or on several."""
    for at in places(text, mark):
        spans = [*words_at(text, at, at + _LONGEST_LOGIN)][:9]
        spelled = [text[start:end] for start, end in spans]
        named = spelled[1:2] if mark.startswith("default") else spelled[2:3]
        if not begins(text, at) or not named or named[0] not in _ARE_NAMED or "password" not in spelled[:-1]:
            continue
        start, end = spans[spelled.index("password") + 1]
        value = before_any(text[start:end], "\"'`").split("\\n")[0]
        if _is_one(value) and (spelled[2:4:2] + spelled[1:2]).count("login"):
            yield start, start + len(value), "password", True


def _of_kubernetes(text: str, mark: str) -> "Iterator[_Candidate]":
    """Find the values in base 64 of a manifest of a Secret, in YAML or JSON."""
    done = 0
    for at in places(text, mark):
        if at < done:
            continue
        first = max(text.rfind("\n---", done, at), done, at - _LONGEST_DOCUMENT)
        last = text.find("\n---", at, at + _LONGEST_DOCUMENT)
        done = last if last >= 0 else min(len(text), at + _LONGEST_DOCUMENT)
        for sign in places(text[first:done], ":"):
            start = run(text, first + sign + 1, " \"'")
            end = run(text, start, BASE64)
            if start > first + sign + 1 and printable(text[start:end]):
                yield start, end, "kubernetes-secret", True


def _one_time(text: str, mark: str) -> "Iterator[_Candidate]":
    """Find the secret of `otpauth://totp/…?secret=…`."""
    for at in places(text, mark):
        address = before_any(text[at : at + _LONGEST_LOGIN], _SPACES_AND_QUOTES)
        name = address.find("secret=")
        start = at + name + len("secret=")
        end = run(address, name + len("secret="), _BASE_32) + at
        if name >= 0 and end - start >= _MIN:
            yield start, end, "totp-secret", True


def _of_streams(text: str, mark: str) -> "Iterator[_Candidate]":
    """Find the key of `rtmp://host/application/key`."""
    for at in places(text, mark):
        address = text[at : at + _LONGEST_LOGIN]
        address = address[: run(address, 0, TOKEN + ":/.")]
        end = at + len(address)
        key = address.rpartition("/")[2]
        is_grouped = {*map(len, key.split("-"))} == {4} and not key.replace("-", "").isalpha()
        if address.count("/") > _SLASHES_OF_STREAMS and len(key) >= MIN_RANDOM:
            yield end - len(key), end, "stream-key", is_grouped


_SLASHES_OF_STREAMS = 3
_FINDERS: "dict[str, Callable[[str, str], Iterator[_Candidate]]]" = {
    "cookie": _cookies,
    "query": _in_queries,
    "oracle": _of_oracle,
    "pgpass": _of_postgres,
    "netrc": _of_netrc,
    "kubernetes": _of_kubernetes,
    "otpauth": _one_time,
    "stream": _of_streams,
}
