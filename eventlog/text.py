"""Text from events, made fit for one line of a file or a terminal; pure."""

import re
import unicodedata

# C0 and C1 controls, whole terminal sequences (ECMA-48 CSI) where one is, bidirectional overrides and isolates: they
# would act on the reader's terminal or hide text
_UNSAFE = re.compile("(?:\x1b\\[|\x9b)[0-?]*[ -/]*[@-~]|[\x00-\x1f\x7f-\x9f\u202a-\u202e\u2066-\u2069\ufeff]")


def one_line(text: str) -> str:
    """White space collapsed, control characters gone."""
    line = " ".join(text.split())
    return line if line.isprintable() else " ".join(harmless(line).split())


def harmless(text: str) -> str:
    """Without characters that would act on a terminal or hide what follows; line breaks are among them."""
    return _UNSAFE.sub("", text)


def cut(text: str, limit: int) -> str:
    """At most `limit` characters; a text that was cut ends in an ellipsis."""
    return text if len(text) <= limit else text[: limit - 1].rstrip() + "…"


def same_text(text: str) -> str:
    """What two statements of the same fact have in common.

    Unicode NFKC, case folding, white space collapsed, trailing punctuation gone.
    """
    collapsed = " ".join(_fold(text).split())
    end = len(collapsed)
    while end and not collapsed[end - 1].isalnum() and _closes(collapsed[end - 1]):
        end -= 1
    return collapsed[:end] or collapsed


def _fold(text: str) -> str:
    if text.isascii():
        return text.lower()
    return unicodedata.normalize("NFKC", unicodedata.normalize("NFKC", text).casefold())


def _closes(char: str) -> bool:
    return char == " " or unicodedata.category(char).startswith("P")
