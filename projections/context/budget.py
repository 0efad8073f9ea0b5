"""The budget of a context: sections cut by priority, at line boundaries, each cut announced; pure.

In the order of their priority, each section may use what the later ones leave, and at least half of what is left:
none can starve those after it, and none gives up room that nobody else needs. So do the parts of a memory, under their
headings, in its own order. The first text, which tells the agent how to save, is never cut for a section.

Imported inside agents' hooks: standard library only.
"""

from eventlog.fast.copies import Values, replace
from eventlog.projections.line import Line

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Sequence

    from eventlog.projections.context.phrases import ContextPhrases

_FRAME = len("\n# \n\n")  # around a title
_SPARE = 10_000  # characters a look gets beyond what is there now


class ContextSection(Values):
    """A part of the context; the smaller `priority`, the more it matters.

    `more` is the command that shows it all; "" where only a look at the whole context does. An `urgent` one is short,
    and leaves to others only what it does not need. One `in_parts` is cut within each part that a heading begins.
    """

    title: str
    lines: tuple[Line, ...]
    priority: int
    more: str = ""
    urgent: bool = False
    in_parts: bool = False

    @property
    def size(self) -> int:
        """Count its characters, as rendered."""
        return _FRAME + len(self.title) + _length(self.lines)

    @property
    def text(self) -> str:
        """Render the section; the last newline separates it from what follows."""
        return f"\n# {self.title}\n\n" + "".join(f"{line.text}\n" for line in self.lines)


class FitResult(Values):
    """The text that fits into the budget."""

    text: str
    cut: list[str]  # the titles of sections that were cut
    shown: list[Line]
    head: str  # the two parts of the text: the first one, and the sections
    body: str


def fit(
    head: str, sections: "Sequence[ContextSection]", budget: int, phrases: "ContextPhrases", command_for_all: str = ""
) -> FitResult:
    """Fit all of it into `budget` characters, sections in the order given; `command_for_all` shows it all."""
    needed = sum(section.size for section in sections)
    everything = f"{command_for_all} --budget {(needed // _SPARE + 2) * _SPARE}"
    sections = [section if section.more else replace(section, more=everything) for section in sections]
    # only a budget smaller than the instructions cuts them, at a line
    opening = head if len(head) <= budget else head[: head.rfind("\n", 0, budget) + 1]
    remaining = budget - len(opening) if opening == head else 0
    is_short = opening == head and needed > remaining
    reserved = len(_dropped(len(sections), everything, phrases)) if is_short else 0  # but for what is urgent
    remaining -= reserved
    fitted: dict[int, ContextSection | None] = {}
    for position in sorted(range(len(sections)), key=lambda position: sections[position].priority):
        section = sections[position]
        needed -= section.size
        room = remaining + reserved if section.urgent else min(remaining, max(remaining - needed, remaining // 2))
        fitting = _cut(section, room, phrases)
        remaining -= fitting.size if fitting else 0
        fitted[position] = fitting
    shown = [section for _, section in sorted(fitted.items()) if section]
    body = "".join(section.text for section in shown)
    closing = _dropped(len(sections) - len(shown), everything, phrases) if len(shown) < len(sections) else ""
    body += closing if len(opening) + len(body) + len(closing) <= budget else ""
    cut = [section.title for position, section in enumerate(sections) if fitted[position] != section]
    text = opening + body if opening else body.removeprefix("\n")
    return FitResult(text, cut, [line for section in shown for line in section.lines], opening, body)


def _cut(section: ContextSection, room: int, phrases: "ContextPhrases") -> ContextSection | None:
    """Return the section as it is, its first lines and where the rest is, or nothing."""
    if section.size <= room:
        return section
    total = len(section.lines)
    remaining = room - _FRAME - len(section.title) - len(phrases.more.format(count=total, command=section.more)) - 1
    if remaining < 0:
        return None
    lines: list[Line] = []
    parts = _parts(section.lines) if section.in_parts else [section.lines]
    needed = sum(map(_length, parts))
    for part in parts:
        needed -= _length(part)
        fitting = _beginning(part, max(remaining - needed, remaining // 2))
        remaining -= _length(fitting)
        lines += fitting
    if not lines:
        return None
    note = phrases.more.format(count=total - len(lines), command=section.more)
    return replace(section, lines=(*lines, Line(note)))


def _length(lines: "Sequence[Line]") -> int:
    return sum(len(line.text) + 1 for line in lines)


def _parts(lines: "Sequence[Line]") -> "list[Sequence[Line]]":
    """Split lines before each heading, and before the empty line above it."""
    starts = [at - (at > 0 and not lines[at - 1].text) for at, line in enumerate(lines) if line.text.startswith("#")]
    return [lines[start:end] for start, end in zip([0, *starts], [*starts, len(lines)], strict=True) if start < end]


def _beginning(lines: "Sequence[Line]", room: int) -> "Sequence[Line]":
    """Take the first lines that fit, and no heading of nothing."""
    end = 0
    while end < len(lines) and len(lines[end].text) < room:
        room -= len(lines[end].text) + 1
        end += 1
    while end and end < len(lines) and (not lines[end - 1].text or lines[end - 1].text.startswith("#")):
        end -= 1
    return lines[:end]


def _dropped(count: int, command: str, phrases: "ContextPhrases") -> str:
    return "\n" + phrases.dropped.format(count=count, command=command) + "\n"
