"""Credentials in a text: replaced by their kind, `[secret:aws-access-key]`.

The time is linear in the text. What a text says otherwise stays as it is, and a scrubbed text stays scrubbed.
Loaded by hooks: most texts are found clean by a look at their words, without a search.

Imported by: eventlog, app.
"""

from eventlog.fast import os
from eventlog.secrets.plain import HEX, changed_in, is_plain, may_name_one, own, spliced

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from eventlog.store import Store

_ID = HEX + "-"  # a text of nothing else is an id, a digest or a date
_OF_TIMES = "0123456789-:.TZ"
_HEADERS = ("authorization", "proxy-authorization", "cookie", "set-cookie")  # whose names tell how to read their texts
_MIN_MIXED = 6  # characters of a value with letters and digits
_LONGEST_TOKEN = 512  # characters; a part of a longer token is found as well
_MAX_CACHED, _LONGEST_CACHED = 256, 4096  # names recur, and an event is scrubbed twice: in its payload and as a whole
_clean: set[str] = set()  # texts without a secret
_own_texts: "list[str]" = []  # patterns of the user, as they are written


def use_own(written: "list[str]") -> None:
    """Replace what these patterns of the user find, too, from now on; what is no pattern is passed over."""
    if written == _own_texts:
        return
    from eventlog.secrets.own_patterns import parse

    _clean.clear()
    _own_texts[:] = written
    own.clear()
    for pattern in written:
        try:
            own.append(parse(pattern))
        except ValueError:  # the settings tell
            continue


def without_erased(store: "Store", fields: "Mapping[str, object]", tail: str = "") -> "Mapping[str, object] | None":
    """Replace erased texts in the fields of an event; None for an event that a person had erased."""
    if not os.path.exists(store.redactions):
        return fields
    from eventlog.secrets.redacted import Redactions

    found = Redactions.of(store)
    return found.without(fields, tail) if found else fields


def scrub_text(text: str) -> str:
    """Replace every credential in the text by its kind; the time is linear in the length."""
    if text in _clean or not text.strip(_ID):
        return text
    places = [] if is_plain(text) else _places(text)
    scrubbed = spliced(text, ((start, end, f"[secret:{kind}]") for start, end, kind in places))
    return _remembered(scrubbed)


def _remembered(scrubbed: str) -> str:
    if len(scrubbed) < _LONGEST_CACHED:
        if len(_clean) >= _MAX_CACHED:
            _clean.clear()
        _clean.add(scrubbed)
    return scrubbed


def looks_secret(text: str) -> bool:
    """Return whether a person may have meant to keep a text secret: it holds a credential, or names one and a value."""
    from eventlog.secrets.patterns import PASSWORDS

    words = text.lower().replace("_", " ").split()
    is_named = any(name in word for word in words for name in (*PASSWORDS, "secret", "token", "api key"))
    values = (word.strip(".,;:'\"") for word in words)
    return scrub_text(text) != text or "[secret:" in text or (is_named and any(map(_is_mixed, values)))


def _is_mixed(word: str) -> bool:
    return len(word) >= _MIN_MIXED and any(map(str.isdigit, word)) and any(map(str.isalpha, word))


def scrub_beginning(text: str, limit: int, rest: str = "") -> str:
    """Return so much of a text without its secrets, of which no half is left where it ends, and `rest` if it is longer.

    Twice as much is searched, so that what stands at the end is seen whole. Secrets before it may have taken up more
    room than their kinds do: then the last word that was searched may be half a word, and goes.
    """
    searched, last_word = scrub_text(text[: 2 * limit]), ""
    if len(text) > 2 * limit:
        last_word = searched[-min(_LONGEST_TOKEN, limit) :].split(" ")[-1].split("\n")[-1]
    start = searched[: min(limit, len(searched) - len(last_word))]
    return _remembered(f"{start}{rest}") if len(text) > limit else start


def _places(text: str) -> "list[tuple[int, int, str]]":
    """Find where secrets stand, in order; what overlaps is the kind of the first.

    A text is searched as it is, and as it will be read: without what colours a terminal, and what nobody sees.
    """
    places: list[tuple[int, int, str]] = []
    found = [*_found(text)]
    if not _is_seen_whole(text.replace("\t", " ").replace("\r", " ").replace("\n", " ")):
        at = _seen(text)
        seen = "".join(map(text.__getitem__, at))
        found += [(at[start], at[end - 1] + 1, kind) for start, end, kind in _found(seen)]
    for start, end, kind in sorted(found):
        if not places or start >= places[-1][1]:
            places.append((start, end, kind))
        else:
            places[-1] = places[-1][0], max(end, places[-1][1]), places[-1][2]
    return places


def _is_seen_whole(text: str) -> bool:
    if text.isascii():
        return text.isprintable()
    from eventlog.format.text import is_harmless  # most texts are of ASCII

    return is_harmless(text)


def _found(text: str) -> "Iterator[tuple[int, int, str]]":
    from eventlog.secrets.find import beginning_so, find  # most hooks have plain texts only

    yield from find(text)
    for pattern in own:
        yield from beginning_so(text, "own", *pattern)


def _seen(text: str) -> list[int]:
    """List where the characters stand that a reader sees; white space is among them."""
    import re  # few texts have others

    from eventlog.format.text import UNSAFE

    at, end = list[int](), 0
    for found in re.finditer(UNSAFE, text):
        at += range(end, found.start())
        if found[0].isspace():
            at += range(*found.span())
        end = found.end()
    return [*at, *range(end, len(text))]


def secrets_in(value: object, name: str = "") -> "Iterator[tuple[str, str]]":
    """Yield the kind and the text of every secret in a JSON value, names included.

    Texts that are plain together are so each by itself: most values are, and need a single look.
    """
    texts: list[tuple[str, str]] = []

    def collect(text: str, of: str) -> str:
        if own or text.strip(_OF_TIMES):  # a time has a colon, and is plain all the same
            texts.append((of, f"{_head(of)}{text}"))
        return text

    changed_in(value, collect, name)
    if not any(may_name_one(of) for of, _ in texts) and is_plain(" ".join([text for _, text in texts])):
        return
    for of, text in texts:
        places = [] if is_plain(text) else _places(text)
        kind = _kind_of(of, text) if of and not places else ""
        yield from ((kind, text[start:end]) for start, end, kind in places)
        yield from ((kind, text),) if kind else ()


def scrub_fields(fields: "Mapping[str, object]") -> dict[str, object]:
    """Replace the credentials in the fields of an event or of a note; names are those of a format and stay."""
    return {name: scrub(value, name) for name, value in fields.items()}


def _head(name: str) -> str:
    """Return what stands before the value of a header, which is read by its name; "" for any other field."""
    return f"{name}: " if name.lower() in _HEADERS else ""


def scrub(value: object, name: str = "") -> object:
    """Replace the credentials in every text of a JSON value, names included; the same object where there are none.

    Its name may tell that a text is one, and of a list that each item is.
    """
    return changed_in(value, _scrub_field, name)


def _scrub_field(text: str, name: str) -> str:
    scrubbed = scrub_text(text)
    if scrubbed is text and (head := _head(name)):
        scrubbed = scrub_text(f"{head}{text}").removeprefix(head)
    kind = _kind_of(name, text) if name and scrubbed is text else ""
    return f"[secret:{kind}]" if kind else scrubbed


def _kind_of(name: str, value: str) -> str:
    """Name the kind of credential a field of that name holds; "" for none."""
    if not may_name_one(name):
        return ""
    from eventlog.secrets.assigned import kind_of

    return kind_of(name, value)
