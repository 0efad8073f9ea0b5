"""What a user may choose, with its defaults; the shape of `config.yaml`."""

from typing import Annotated, Literal

from msgspec import Meta, Struct

Locale = Literal["en", "zh"]
Count = Annotated[int, Meta(ge=0)]


class MemorySettings(Struct, frozen=True, forbid_unknown_fields=True):
    """How large a rendered MEMORY.md may grow: what Claude Code loads of such a file."""

    max_lines: Annotated[int, Meta(ge=10)] = 200
    max_bytes: Annotated[int, Meta(ge=1000)] = 25_000


class SummarySettings(Struct, frozen=True, forbid_unknown_fields=True):
    """How many session summaries are kept per project, and how long (characters) the body of one may be."""

    keep: Count = 20
    max_chars: Annotated[int, Meta(ge=50)] = 300


class Settings(Struct, frozen=True, forbid_unknown_fields=True):
    """Everything that has an influence on rendered files."""

    timezone: str = "UTC"  # of dates and times in rendered files
    locale: Locale = "en"  # of headings in rendered files
    memory: MemorySettings = MemorySettings()
    summaries: SummarySettings = SummarySettings()
