"""Damage of the log: every way in which a line, or a whole file, is not what the format asks for."""

from typing import Literal

import msgspec

DamageKind = Literal[
    "bom",
    "blank",
    "not-utf8",
    "not-json",
    "not-object",
    "invalid",  # JSON, but not an event of this format
    "wrong-day",
    "too-long",
    "conflict",  # with another line of the same id
    "unreadable",  # the whole file
    "pending",  # unfinished, perhaps being written at this moment
    "torn",  # unfinished for good
]


class Damage(msgspec.Struct, frozen=True):
    """One thing wrong with one line: where it is (line from 1, offset in bytes from 0), what kind, and why.

    Line 0 is the whole file.
    """

    file: str
    line: int
    offset: int
    kind: DamageKind
    reason: str

    @property
    def place(self) -> str:
        """Where it is, for people."""
        return f"{self.file}:{self.line} (byte {self.offset})" if self.line else self.file


def reason_of(error: OSError) -> str:
    """Tell in plain words why a file cannot be read."""
    from eventlog.format.errors import system_reason  # a hook that reads well needs no words

    return system_reason(error)[0]


def unreadable_file(file: str, reason: str | None) -> Damage:
    """Make the damage of a whole file."""
    return Damage(file, 0, 0, "unreadable", reason or "cannot be read")
